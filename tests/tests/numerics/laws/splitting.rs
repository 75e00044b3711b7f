//! Fluxes and other terms in one step, or one after the other: of the order in time that theory gives.

use std::f64::consts::TAU;

use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

/// Something is carried along and decays, faster at some places than at others, and pulsates (LeVeque 2002, section 17.2).
const DECAY: &str = "system Decay in 1d {
    conserved q: scalar;
    source rate: scalar = 2 + 2*sin(2*pi*x);
    flux q -> [q];
    ddt(q) = -rate*cos(t)*q;
    primitive { q; }
    waves { flow: [1]; }
    cfl { advective: 1; }
}";

fn system(source: &str, time: &str, more: &str) -> SystemDef {
    let scheme = format!(
        "scheme s for Decay {{ reconstruct: weno5; riemann: hll; time: {time}; {more} {source} }}"
    );
    let text = format!("{DECAY} {scheme}");
    SystemDef::from_text("Decay", &text).or_panic()
}

/// Returns the decay on the way to `x`: the integral of the rate along it, by Simpson's rule.
fn exact(x: f64, end: f64) -> f64 {
    let n = 2000;
    let rate = |t: f64| (2.0 + 2.0 * (TAU * (x - end + t)).sin()) * t.cos();
    let weight = |i: usize| match i {
        0 => 1.0,
        i if i == n => 1.0,
        i if i % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=n).map(|i| weight(i) * rate(end * i as f64 / n as f64)).sum();
    let start = 2.0 + (TAU * (x - end)).cos();
    start * (-sum * end / (3.0 * n as f64)).exp()
}

/// Returns the means of cells at the end, after so many steps.
fn solved(system: &SystemDef, steps: u32) -> Vec<f64> {
    let mut simulation = Simulation::<f64>::builder(system)
        .cells([CELLS, 1, 1])
        .centered(true)
        .dt(END / f64::from(steps))
        .unchecked_step(true)
        .build()
        .or_panic();
    simulation.fill("q", |x, _, _| mean(0.0, x));
    simulation.steps(steps as usize);
    simulation.flat("q")
}

const CELLS: usize = 64;
const END: f64 = 0.5;

/// Returns the mean of the solution over a cell.
fn mean(end: f64, x: f64) -> f64 {
    let h = 1.0 / CELLS as f64;
    let [below, here, above] = [x - h / 2.0, x, x + h / 2.0].map(|x| exact(x, end));
    (below + 4.0 * here + above) / 6.0
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    let all = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    all.sum::<f64>() / a.len() as f64
}

/// Against the same mesh with short steps, and that against the solution: means of products are no products of means.
#[test]
fn each_splitting_has_its_order_in_time() {
    let reference = solved(&system("", "ssprk3", ""), 1280);
    let at = |i: usize| (i as f64 + 0.5) / CELLS as f64;
    let means: Vec<f64> = (0..CELLS).map(|i| mean(END, at(i))).collect();
    let error = apart(&reference, &means);
    assert!(error < 3e-4, "{error}");
    let mut errors = Vec::new();
    for (source, least, most) in [("godunov", 0.9, 1.1), ("strang", 1.9, 2.1)] {
        let system = system(&format!("source: {source};"), "ssprk3", "");
        let [coarse, fine] = [40, 80].map(|steps| apart(&solved(&system, steps), &reference));
        let order = (coarse / fine).log2();
        println!("{source}: {coarse:.2e}, {fine:.2e}, order {order:.2}");
        assert!(order > least && order < most, "{source}: {order}");
        errors.push(fine);
    }
    assert!(errors[1] < errors[0] / 10.0, "{errors:?}");
}

/// Returns a system that a growing flow stirs, and that decays: no sweep commutes with another, nor with the decay.
fn stirred(dimension: usize, settings: &str) -> SystemDef {
    let text = format!(
        "system Stirred in {dimension}d {{
            conserved q: scalar;
            field u: vector;
            source rate: scalar = 2 + 2*sin(2*pi*x);
            flux q -> (1 + t)*q*u;
            ddt(u) = 0*u;
            ddt(q) = -(1 + t)*rate*q;
        }}
        scheme s for Stirred {{ reconstruct: plm<limiter = central>; riemann: rusanov; time: ssprk3; {settings} }}"
    );
    SystemDef::from_text("Stirred", &text).or_panic()
}

/// All sweeps forth and back are of second order in time, in one direction of first (LeVeque 2002, section 19.5); and so with the decay,
/// in every combination.
#[test]
fn sweeps_in_strangs_order_are_of_second_order_in_time() {
    let solved = |dimension: usize, settings: &str, steps: u32| {
        let n = [0, 0, 16, 10][dimension];
        let cells = std::array::from_fn(|axis| if axis < dimension { n } else { 1 });
        let builder = Simulation::<f64>::builder(&stirred(dimension, settings)).cells(cells);
        let builder = builder.centered(true).dt(0.2 / f64::from(steps));
        let mut simulation = builder.build().or_panic();
        let wave = |at: f64| (TAU * at).sin();
        simulation.fill("q", |x, y, z| 2.0 + wave(x + 0.25) * wave(y - z));
        simulation.fill("u_x", |_, y, _| wave(y));
        simulation.fill("u_y", |x, _, z| wave(x + z));
        if dimension > 2 {
            simulation.fill("u_z", |x, _, _| wave(x + 0.3));
        }
        simulation.steps(steps as usize);
        simulation.flat("q")
    };
    for dimension in [2, 3] {
        let reference = solved(dimension, "", 640);
        for (sweep, source, expected) in [
            ("dimensional", "unsplit", 1.0),
            ("dimensional", "strang", 1.0),
            ("strang", "godunov", 1.0),
            ("strang", "unsplit", 2.0),
            ("strang", "strang", 2.0),
        ] {
            let settings = format!("sweep: {sweep}; source: {source};");
            let error = |steps: u32| apart(&solved(dimension, &settings, steps), &reference);
            let [coarse, fine] = [20, 40].map(error);
            let order = (coarse / fine).log2();
            println!("{dimension}d {sweep}, {source}: {coarse:.2e} {fine:.2e}, order {order:.2}");
            assert!((order - expected).abs() < 0.15, "{settings}: {order}");
        }
    }
}

/// The defaults: unsplit, and along one axis by itself as Godunov does.
#[test]
fn unsplit_goes_without_saying() {
    let text = |source: &str, more: &str| {
        let system = system(source, "ssprk2", more);
        let algorithm = stencil_compiler::discretize::discretize(system.model()).or_panic();
        (algorithm.substeps.len(), stencil_compiler::algorithm::text::print(&algorithm))
    };
    assert_eq!(text("", ""), text("source: unsplit;", ""));
    assert_eq!(text("", "").0, 2);
    assert_eq!(text("source: godunov;", "").0, 4);
    assert_eq!(text("source: strang;", "").0, 6);
    let swept = "sweep: dimensional;";
    assert_eq!(text("", swept).0, 4);
    let plain = |(_, text): (usize, String)| text.replace(", source godunov", "");
    assert_eq!(plain(text("source: godunov;", swept)), plain(text("", swept)));
}
