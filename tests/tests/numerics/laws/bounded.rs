//! Every solver in every number of dimensions, of every order, unsplit and split, stays bounded near the end of its time step, and has
//! no favourite axis. The tables are whole; a run takes the part whose turn it is, and `STENCIL_TURN=all` takes all.

use physics::systems::{IdealGas, IdealMhd, RelativisticGas, TwoLayers};
use stencil_compiler::model::check;
use stencil_runtime::{Definition, Error, Simulation, System, SystemDef};
use stencil_tests::{OrPanic, Runs, takes_in_turn, takes_seldom};

use super::{EULER, SOLVERS, WATER, choices, started, with_solver};

fn declared(text: &str, dimension: usize, riemann: &str, settings: &str) -> SystemDef {
    let name = text.split_whitespace().nth(1).unwrap_or_default();
    let scheme = format!("scheme s for {name} {{ riemann: {riemann}; {settings} }}");
    let text = format!("{}\n{scheme}", with_solver(text, riemann));
    SystemDef::from_text_in(name, &text, Some(dimension)).or_panic()
}

/// A law at rest: values of components that are not zero, of which the first one is disturbed.
type Rest = &'static [(&'static str, f64)];

const STILL_WATER: Rest = &[("h", 1.0)];
/// The field is oblique, and has two fifths of the pressure of the gas.
const STILL_PLASMA: Rest = &[("E", 1.85), ("rho", 1.0), ("b_x", 0.6), ("b_y", 0.5), ("b_z", 0.3)];
const STILL_RADIATION: Rest = &[("E", 3.0), ("R", 1.0)];

/// Returns the largest distance from rest after 200 steps of 0.9 of the stated limit, over the initial one.
fn grown(system: &SystemDef, rest: Rest) -> f64 {
    let dimension = system.model().dimension;
    let cells = [[16, 1, 1], [8, 5, 1], [4, 3, 4]][dimension - 1];
    let builder = Simulation::<f64>::builder(system).cells(cells).centered(true);
    let mut simulation = builder.cfl(0.9).threads(1).build().or_panic();
    for (name, value) in rest {
        simulation.fill(name, |_, _, _| *value);
    }
    let (name, mean) = rest[0];
    let off = 0.01 * mean;
    // A column, whose edges have waves of all lengths.
    let high = |x: [f64; 3]| x[..dimension].iter().all(|x| (x - 0.5).abs() < 0.25);
    simulation.fill(name, |x, y, z| if high([x, y, z]) { mean + off } else { mean });
    if simulation.run(200, |_, _| ()).is_err() {
        return f64::INFINITY;
    }
    let distances = simulation.flat(name).into_iter().map(|value| (value - mean).abs());
    distances
        .fold(0.0, |most: f64, value| if most.is_nan() || value <= most { most } else { value })
        / off
}

/// Numbers of dimensions, and ways through their axes: a line has one sweep.
const SHAPES: [(usize, &str); 5] =
    [(1, "unsplit"), (2, "unsplit"), (2, "strang"), (3, "unsplit"), (3, "strang")];

const FIRST: &str = "reconstruct: constant; time: euler;";

/// A solver, and a scheme without it and without a sweep.
type Row = (String, String);

/// Returns each of these schemes with every solver.
fn rows<R: ToString>(solvers: impl IntoIterator<Item = R>, schemes: &[&str]) -> Vec<Row> {
    let solvers: Vec<String> = solvers.into_iter().map(|solver| solver.to_string()).collect();
    let with = |scheme: &&str| {
        let scheme = scheme.to_string();
        solvers.iter().map(move |solver| (solver.clone(), scheme.clone()))
    };
    schemes.iter().flat_map(with).collect()
}

/// Tries those rows in these shapes that `takes` picks, by the number of the row plus that of the shape, and seldom in space, where a case
/// takes up to seconds; tells of all that grow.
fn check(
    (rest, takes): (Rest, fn(usize) -> bool),
    rows: &[Row],
    shapes: &[(usize, &str)],
    make: impl Fn(usize, &Row, &str) -> SystemDef,
) {
    let mut wrong = String::new();
    let places = (0..rows.len()).flat_map(|row| (0..shapes.len()).map(move |shape| (row, shape)));
    let is_taken = |(row, shape): &(usize, usize)| match shapes[*shape].0 {
        3 => takes_seldom(row + shape),
        _ => takes(row + shape),
    };
    for (row, shape) in places.filter(is_taken) {
        let (row, (dimension, sweep)) = (&rows[row], shapes[shape]);
        let grown = grown(&make(dimension, row, sweep), rest);
        let name = format!("{dimension}d {}; {} sweep: {sweep}", row.0, row.1);
        println!("{name}: {grown:.3}");
        // NaN fails this comparison.
        let is_bounded = grown < 1.1;
        if !is_bounded {
            wrong += &format!("{name}: {grown:e}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

fn water(dimension: usize, (riemann, scheme): &Row, sweep: &str) -> SystemDef {
    declared(WATER, dimension, riemann, &format!("{scheme} sweep: {sweep};"))
}

#[test]
fn every_solver_is_bounded_in_every_dimension_and_order() {
    let orders = [
        FIRST,
        "reconstruct: plm<limiter = mc>; time: ssprk2;",
        "reconstruct: weno5; time: ssprk3;",
    ];
    check((STILL_WATER, takes_in_turn::<f64>), &rows(SOLVERS, &orders), &SHAPES, water);
}

#[test]
fn every_predictor_is_bounded_in_every_dimension() {
    let others = [
        ("hll", "plm<limiter = koren>"),
        ("rusanov", "ppm"),
        ("roe", "constant"),
        ("force", "plm<limiter = mc>"),
        ("hllc", "ppm in primitive"),
        ("hllc", "ppm<follow = characteristics> in primitive"),
    ];
    let made = SOLVERS.map(|riemann| (riemann, "plm<limiter = mc> in primitive"));
    let made = made.into_iter().chain(others);
    let by = |time: &str| {
        // Van Leer's forecast follows no characteristics.
        let fits = |made: &str| time != "van_leer" || !made.contains("follow");
        let scheme = |made: &str| format!("reconstruct: {made}; time: {time};");
        let made = made.clone().filter(|(_, made)| fits(made));
        made.map(|(riemann, made)| (riemann.to_string(), scheme(made))).collect::<Vec<Row>>()
    };
    let rows: Vec<Row> = check::predictors().into_iter().flat_map(by).collect();
    check((STILL_WATER, takes_seldom), &rows, &SHAPES, water);
}

/// Fluxes of waves, and fluxes taken apart.
#[test]
fn corrected_waves_and_split_fluxes_are_bounded() {
    let waves = rows(["roe", "hlle"], &["reconstruct: waves<limiter = mc>; time: euler;"]);
    let apart = [
        "reconstruct: constant in fluxes; time: euler;",
        "reconstruct: plm<limiter = van_leer> in fluxes; time: ssprk2;",
        "reconstruct: plm<limiter = van_leer> in fluxes; time: van_leer;",
    ];
    check(
        (STILL_WATER, takes_in_turn::<f64>),
        &[waves, rows(["rtvd"], &apart)].concat(),
        &SHAPES,
        water,
    );
    let swept = rows(
        ["roe", "hllc", "hlle"],
        &[
            "reconstruct: waf<limiter = mc>; time: euler;",
            "reconstruct: waf<limiter = van_leer>; time: euler;",
        ],
    );
    let sweeps = ["dimensional", "strang", "alternating"];
    let shapes = [1, 2, 3].map(|dimension| sweeps.map(|sweep| (dimension, sweep))).concat();
    check((STILL_WATER, takes_in_turn::<f64>), &swept, &shapes, water);
}

/// Returns a law of the library with a scheme, or the error that refuses it.
fn of_library(definition: &Definition, riemann: &str, settings: &str) -> Result<SystemDef, Error> {
    let scheme = format!("scheme s for {} {{ riemann: {riemann}; {settings} }}", definition.name);
    let text = format!("{}\n{scheme}", definition.model);
    SystemDef::from_text(definition.name, &text).and_then(|system| system.with_scheme("s"))
}

/// Returns the solvers that a law of the library goes with: those of the language that it has properties for, and its own.
fn solvers_of(definition: &Definition, settings: &str) -> Vec<String> {
    let own = definition.model.lines().filter_map(|line| {
        Some(line.trim().strip_prefix("riemann ")?.strip_suffix(" {")?.to_string())
    });
    let all = choices("riemann", "none").into_iter().chain(own);
    all.filter(|riemann| of_library(definition, riemann, settings).is_ok()).collect()
}

#[test]
fn solvers_of_a_magnetized_gas_are_bounded() {
    let plasmas =
        [&IdealMhd::<1>::DEFINITION, &IdealMhd::<2>::DEFINITION, &IdealMhd::<3>::DEFINITION];
    let settings = |scheme: &str, sweep: &str| {
        format!("space: central<order = 2>; {scheme} sweep: {sweep}; repair: none;")
    };
    let solvers = solvers_of(plasmas[0], &settings(FIRST, "unsplit"));
    let others = ["ssprk2", "van_leer", "muscl_hancock", "corner_transport"]
        .map(|time| format!("reconstruct: plm<limiter = mc> in primitive; time: {time};"));
    let orders = [FIRST, &others[0], &others[1], &others[2], &others[3]];
    assert!(solvers.len() > 6, "{solvers:?}");
    let all = rows(&solvers, &orders);
    let shapes = SHAPES.into_iter().partition(|(_, sweep)| *sweep == "unsplit");
    let (unsplit, split): (Vec<_>, Vec<_>) = shapes;
    let make = |dimension: usize, (riemann, scheme): &Row, sweep: &str| {
        of_library(plasmas[dimension - 1], riemann, &settings(scheme, sweep))
    };
    check((STILL_PLASMA, takes_seldom), &all, &unsplit, |dimension, row, sweep| {
        make(dimension, row, sweep).or_panic()
    });
    // The flux of a field on faces needs all axes at once.
    for (dimension, sweep) in split {
        let error = make(dimension, &all[0], sweep).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("does not go with a step that is split by axes"), "{error}");
    }
}

/// Tries rows of a law of the library, with the definition in each number of dimensions, in all shapes.
fn check_law(definitions: [&Definition; 3], rest: Rest, rows: &[Row]) {
    check((rest, takes_seldom), rows, &SHAPES, |dimension, (riemann, scheme), sweep| {
        let settings = format!("{scheme} sweep: {sweep}; repair: none;");
        of_library(definitions[dimension - 1], riemann, &settings).or_panic()
    });
}

/// The pressure of each state is the root of an equation, so some cases take seconds.
#[test]
fn solvers_of_a_relativistic_gas_are_bounded() {
    let gases = [
        &RelativisticGas::<1>::DEFINITION,
        &RelativisticGas::<2>::DEFINITION,
        &RelativisticGas::<3>::DEFINITION,
    ];
    let mut solvers = solvers_of(gases[0], &format!("{FIRST} repair: none;"));
    assert!(solvers.len() > 6, "{solvers:?}");
    solvers.push("musta<stages = 2>".to_string());
    let orders = [
        FIRST,
        "reconstruct: plm<limiter = van_albada> in primitive; time: ssprk2;",
        "reconstruct: plm<limiter = van_albada> in primitive; time: muscl_hancock;",
    ];
    check_law(gases, STILL_RADIATION, &rows(&solvers, &orders));
}

#[test]
fn solvers_of_a_gas_and_of_layers_of_water_are_bounded() {
    let orders = [
        "reconstruct: constant in primitive; time: euler;",
        "reconstruct: plm<limiter = mc> in primitive; time: ssprk2;",
        "reconstruct: weno5 in primitive; time: ssprk3;",
    ];
    let gases =
        [&IdealGas::<1>::DEFINITION, &IdealGas::<2>::DEFINITION, &IdealGas::<3>::DEFINITION];
    check_law(gases, &[("E", 2.5), ("rho", 1.0)], &rows(["exact"], &orders));
    let layers =
        [&TwoLayers::<1>::DEFINITION, &TwoLayers::<2>::DEFINITION, &TwoLayers::<3>::DEFINITION];
    check_law(layers, &[("h_1", 1.0), ("h_2", 1.0)], &rows(["modes"], &orders));
}

/// Returns the difference between a blast in the plane and itself with the axes exchanged, relative to its motion.
fn skewed(riemann: &str) -> f64 {
    let n = 24;
    let settings = "reconstruct: plm<limiter = mc>; time: ssprk2; sweep: strang;";
    let system = declared(EULER, 2, riemann, settings);
    let mut simulation: Simulation<f64> = started(&system, [n, n, 1], false, Some(0.3 / n as f64));
    simulation.fill("rho", |_, _, _| 1.0);
    simulation.fill("e", |x, y, _| {
        let near = (x - 0.5).hypot(y - 0.5) < 0.2;
        if near { 10.0 } else { 2.5 }
    });
    simulation.run(10, |_, _| ()).unwrap_or_else(|e| panic!("{riemann}: {e}"));
    let rho = simulation.values("rho");
    let most = |of: &dyn Fn(usize, usize) -> f64| {
        let cells = (0..n).flat_map(|j| (0..n).map(move |i| (i, j)));
        cells.map(|(i, j)| of(i, j).abs()).fold(0.0, f64::max)
    };
    let (skew, moved) =
        (most(&|i, j| rho[[0, j, i]] - rho[[0, i, j]]), most(&|i, j| rho[[0, j, i]] - 1.0));
    skew / moved
}

/// A sweep in halves does not have half a step's diffusion along one axis and a whole step's along the other.
#[test]
fn no_axis_is_smeared_more_than_another() {
    let others = skewed("hll");
    for riemann in ["force", "musta"] {
        let own = skewed(riemann);
        println!("{riemann}: {own:.2e}, hll {others:.2e}");
        assert!(own < 1.5 * others, "{riemann}: {own} {others}");
    }
}
