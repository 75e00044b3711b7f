//! A gas near the speed of light: against exact solutions, and what holds for any.

mod exact;

use physics::systems::RelativisticGas;
use stencil_compiler::compile::{Target, compile};
use stencil_compiler::emit::{self, Places};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::Kernel;
use stencil_compiler::search::heuristic;
use stencil_runtime::{Simulation, System, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::started;
use crate::solutions::support::begun;
use exact::{Fluid, solution};

/// A problem of the library with two states.
struct Tube {
    name: &'static str,
    gamma: f64,
    /// Density, velocity and pressure on both sides.
    sides: [[f64; 3]; 2],
    membrane: f64,
    /// The largest mean errors of charge, momentum and energy on 200 cells, over the means of the solution.
    bounds: [f64; 3],
    /// The least orders, from 50 cells on. On these the shell is narrower than a cell.
    orders: [f64; 3],
}

/// The velocity whose Lorentz factor is five.
const FAST: f64 = 0.979_795_897_113_271_2;

const TUBES: [Tube; 3] = [
    Tube {
        name: "relativistic_blast",
        gamma: 5.0 / 3.0,
        sides: [[10.0, 0.0, 40.0 / 3.0], [1.0, 0.0, 1e-6]],
        membrane: 0.5,
        bounds: [0.027, 0.038, 0.019],
        orders: [0.6; 3],
    },
    Tube {
        name: "relativistic_shell",
        gamma: 5.0 / 3.0,
        sides: [[1.0, 0.0, 1000.0], [1.0, 0.0, 0.01]],
        membrane: 0.5,
        bounds: [0.6, 0.032, 0.017],
        orders: [-0.1, 0.7, 0.7],
    },
    Tube {
        name: "relativistic_streams",
        gamma: 4.0 / 3.0,
        sides: [[1.0, FAST, 1e-3], [1.0, -FAST, 1e-3]],
        membrane: 0.0,
        bounds: [0.025, 0.028, 0.014],
        orders: [1.0, 0.65, 0.9],
    },
];

impl Tube {
    /// Returns the mean errors of the conserved fields, over the means of the solution.
    fn errors(&self, scheme: &str, n: usize) -> [f64; 3] {
        let changes = [format!("mesh.cells={n}"), format!("scheme={scheme}")];
        let changes = changes.each_ref().map(String::as_str);
        let (problem, mut simulation) = begun::<f64>(self.name, &changes);
        let end = problem.time.end.expect("an end");
        simulation.run_until(end, |_, _| ()).unwrap_or_else(|e| panic!("{scheme}: {e}"));
        let [charge, momentum, energy] = ["R", "M_x", "E"].map(|name| simulation.flat(name));
        let cells = charge.iter().zip(&momentum).zip(&energy);
        let [left, right] = self.sides.map(|[n, v, p]| Fluid { n, v, p, gamma: self.gamma });
        let (mut errors, mut means) = ([0.0; 3], [0.0; 3]);
        for (i, ((charge, momentum), energy)) in cells.enumerate() {
            let s = (simulation.mesh().coordinate(0, i as isize) - self.membrane) / end;
            let exact = solution(left, right, s).conserved();
            let found = [charge, momentum, energy].into_iter().zip(exact);
            for (k, (found, exact)) in found.enumerate() {
                errors[k] += (found - exact).abs();
                means[k] += exact.abs();
            }
        }
        std::array::from_fn(|k| errors[k] / means[k])
    }
}

/// Returns the schemes of the library.
fn schemes() -> Vec<String> {
    let system = SystemDef::new(&RelativisticGas::<1>::DEFINITION).or_panic();
    system.model().schemes().map(|scheme| scheme.name.clone()).collect()
}

#[test]
fn tubes_meet_their_exact_solutions() {
    let mut wrong = String::new();
    for tube in &TUBES {
        for scheme in schemes() {
            let [coarse, fine] = [50, 200].map(|n| tube.errors(&scheme, n));
            let orders: Vec<f64> = coarse
                .iter()
                .zip(fine)
                .map(|(coarse, fine)| (coarse / fine).log2() / 2.0)
                .collect();
            println!("{}, {scheme}: {coarse:.4?} {fine:.4?}, orders {orders:.2?}", tube.name);
            // NaN fails these comparisons.
            let met = (0..3).all(|k| fine[k] < tube.bounds[k] && orders[k] > tube.orders[k]);
            if !met {
                wrong += &format!("{}, {scheme}: {fine:.4?}, orders {orders:.2?}\n", tube.name);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Waves are as fast as theory says along the flow, slower than light beside it, and so are the states.
#[test]
fn nothing_is_faster_than_light() {
    let system = SystemDef::new(&RelativisticGas::<2>::DEFINITION).or_panic();
    // Radiation, whose sound has the square of the speed 1/3.
    for (lorentz, direction) in [(1.0_f64, [0.0, 0.0]), (7.0, [1.0, 0.0]), (1e3, [0.6, 0.8])] {
        let mut simulation: Simulation<f64> = started(&system, [4, 4, 1], false, None);
        let v = (1.0 - lorentz.powi(-2)).sqrt();
        let inertia = 4.0 * lorentz * lorentz;
        simulation.fill("R", |_, _, _| lorentz);
        simulation.fill("E", |_, _, _| inertia - 1.0);
        simulation.fill("M_x", |_, _, _| inertia * v * direction[0]);
        simulation.fill("M_y", |_, _, _| inertia * v * direction[1]);
        let fastest = simulation.observe().or_panic()["fastest"];
        assert!((fastest / lorentz - 1.0).abs() < 1e-6, "{fastest} {lorentz}");
        simulation.run(1, |_, _| ()).or_panic();
        // A step is 0.4 of a cell by the sum of the speeds along both axes.
        let speeds = 0.4 * 0.25 / simulation.dt();
        let sound = 1.0 / 3.0_f64.sqrt();
        match direction {
            [0.0, 0.0] => assert!((speeds / (2.0 * sound) - 1.0).abs() < 1e-6, "{speeds}"),
            _ => assert!(speeds > 0.99 && speeds <= 2.0, "{lorentz}: {speeds}"),
        }
    }
}

/// Layers of one pressure at rest: the solver with a contact keeps them, and the other one does not.
#[test]
fn a_contact_at_rest_stays() {
    let moved = |scheme: &str| {
        let system = SystemDef::new(&RelativisticGas::<1>::DEFINITION).or_panic();
        let system = system.with_scheme(scheme).or_panic();
        let builder = Simulation::<f64>::builder(&system).cells([16, 1, 1]).centered(true);
        let mut simulation = builder.cfl(0.4).param("mass", 1.0).build().or_panic();
        let n = |x: f64| if (x - 0.5).abs() < 0.25 { 4.0 } else { 1.0 };
        simulation.fill("R", |x, _, _| n(x));
        simulation.fill("E", |x, _, _| n(x) + 3.0);
        simulation.run(20, |_, _| ()).or_panic();
        simulation.error("R", |x, _, _| n(x))
    };
    let [with, without] = ["plm_hllc", "plm_hll"].map(moved);
    println!("{with:e} {without:e}");
    assert!(with < 1e-13 && without > 0.01, "{with} {without}");
}

/// A pressure by the energy and the charge in the frame of the gas.
type Pressure = fn(f64, f64) -> f64;

/// Gases in place of that of the library: the pressure of each as it is declared, and as a function of energy and charge. One is 5/3
/// where it is cold and 4/3 where it is hot, and one has a constant pressure of the vacuum against it.
const GASES: [(&str, Pressure); 2] = [
    ("q*(q + 2*mass*n)/(3*(q + mass*n))", |e, n| (e - n * n / e) / 3.0),
    ("(q + mass*n - 4*0.1)/3", |e, _| (e - 0.4) / 3.0),
];

/// Returns the declaration of the library with another pressure, and nothing else of the gas.
fn of_pressure(pressure: &str) -> String {
    let library = include_str!("../../../../../physics/src/systems/relativistic_gas.rs");
    let text = library.replace("(gamma - 1)*q", pressure);
    assert!(!text.contains("(gamma - 1)"));
    let text = text.replace("mass: real [J] = 0", "mass: real [J] = 1");
    let from = text.find("pub system").expect("a system");
    text[from..].trim_end().trim_end_matches('}').to_string()
}

/// Sound goes once through the mesh with the speed of its equation of state, and comes back as it was, to second order.
#[test]
fn another_equation_of_state_has_its_own_sound() {
    for ((pressure, p), (e, n)) in
        GASES.iter().flat_map(|gas| [(1.5_f64, 1.0_f64), (30.0, 1.0)].map(|state| (*gas, state)))
    {
        let system = SystemDef::from_text_in("gas", &of_pressure(pressure), Some(1)).or_panic();
        let h = e + p(e, n);
        // From the definition, by differences.
        let d = 1e-4;
        let c2 = (p(e + d, n) - p(e - d, n) + n / h * (p(e, n + d) - p(e, n - d))) / (2.0 * d);
        let c = c2.sqrt();
        let error = |cells: usize| {
            let mut simulation: Simulation<f64> = started(&system, [cells, 1, 1], false, None);
            let size = 1e-5;
            let wave = |x: f64| size * (std::f64::consts::TAU * x).cos();
            // A wave ahead: both densities rise alike, and v = c times the share.
            let state = |x: f64| (e + h * wave(x), n * (1.0 + wave(x)), c * wave(x));
            simulation.fill("R", |x, _, _| state(x).1);
            simulation.fill("E", |x, _, _| state(x).0);
            simulation.fill("M_x", |x, _, _| h * state(x).2);
            simulation.run_until(1.0 / c, |_, _| ()).or_panic();
            simulation.error("E", |x, _, _| state(x).0) / (h * size)
        };
        let [coarse, fine] = [32, 64].map(error);
        println!("{pressure}, {e}: {coarse:.3e} {fine:.3e}");
        assert!(fine < 0.02 && coarse / fine > 3.0, "{pressure}, {e}: {coarse} {fine}");
    }
}

/// A state without a pressure stops the run, and the message names the loop.
#[test]
fn a_state_without_a_pressure_stops_the_run() {
    let system = SystemDef::new(&RelativisticGas::<1>::DEFINITION).or_panic();
    let builder = Simulation::<f64>::builder(&system).cells([8, 1, 1]);
    let mut simulation = builder.dt(1e-3).unchecked_step(true).build().or_panic();
    simulation.fill("R", |_, _, _| 1.0);
    simulation.fill("E", |_, _, _| 2.0);
    // More momentum than energy.
    simulation.fill("M_x", |x, _, _| if x > 0.8 { 3.0 } else { 0.0 });
    let message = simulation.run(3, |_, _| ()).unwrap_err().to_string();
    assert!(message.contains("recovered") && message.contains("30 iterations"), "{message}");
}

/// An almond expands fastest along its short axes: momentum squared along x exceeds that along y.
#[test]
fn a_fireball_flows_along_its_short_axes() {
    let (_, mut simulation) = begun::<f64>("fireball", &["mesh.cells=[12, 12, 12]"]);
    let energy = simulation.values("E").sum();
    simulation.run_until(2.0, |_, _| ()).or_panic();
    let square = |name: &str| simulation.values(name).mapv(|m| m * m).sum();
    let [x, y, z] = ["M_x", "M_y", "M_z"].map(square);
    println!("{x:.3} {y:.3} {z:.3}");
    assert!(z > 1.1 * x && x > 1.1 * y, "{x} {y} {z}");
    assert!((simulation.values("E").sum() / energy - 1.0).abs() < 0.01);
}

/// The text of all kernels of MUSTA in space, with marks, is short: its fluxes are functions of the state, and compilers of cards take
/// time with it.
#[test]
fn the_text_of_forecasts_in_space_stays_short() {
    let definition = &RelativisticGas::<3>::DEFINITION;
    let scheme = "scheme s for RelativisticGas {
        reconstruct: plm<limiter = mc> in primitive; riemann: musta<stages = 2>; time: ssprk2; repair: none; }";
    let text = format!("{}\n{scheme}", definition.model);
    let system = SystemDef::from_text("gas.pde", &text).and_then(|system| system.with_scheme("s"));
    let algorithm = system.or_panic().algorithm().clone();
    let schedule = heuristic::gpu(&algorithm, Precision::F32);
    let compiled = compile(&algorithm, &schedule, &Target::new(Precision::F32.bytes()));
    let kernels = compiled.unwrap_or_else(|e| panic!("{e}")).kernels;
    let places = Places::of(&algorithm);
    let length = |kernel: &Kernel| {
        let source = emit::cuda(kernel, Precision::F32).or_panic();
        source.marked(&places, "kernel.cu").text.len()
    };
    let lengths: Vec<usize> = kernels.iter().map(length).collect();
    let sum = lengths.iter().sum::<usize>();
    println!("{lengths:?}, {sum} in all");
    assert!(sum < 300_000 && sum > 100_000, "{lengths:?}, {sum} in all");
}
