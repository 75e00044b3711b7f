//! Exchanged axes: no solver and no reconstruction prefers one, to the bit.

use ndarray::Array3;
use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::predictors::predicted;
use super::{EULER, SOLVERS, WATER, law, pairs_in_turn, started};

/// Returns the component that replaces another if x and y are exchanged.
fn exchanged_name(name: &str) -> String {
    match name.rsplit_once('_') {
        Some((field, "x")) => format!("{field}_y"),
        Some((field, "y")) => format!("{field}_x"),
        _ => name.to_string(),
    }
}

/// Returns an array with x and y exchanged.
fn exchanged(array: &Array3<f64>) -> Array3<f64> {
    array.view().permuted_axes([0, 2, 1]).as_standard_layout().to_owned()
}

/// A gas or water in waves and a jump, without any symmetry.
fn start(system: &SystemDef, cells: [usize; 3]) -> Simulation<f64> {
    let mut simulation = started::<f64>(system, cells, false, Some(2e-3));
    let wave = |x: f64, y: f64, k: f64| (5.0 * x + k).sin() + (7.0 * y - k).cos();
    let dense =
        |x: f64, y: f64| f64::from(u8::from((x - 0.4).abs() < 0.2 && (y - 0.6).abs() < 0.25));
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for name in &names {
        simulation.fill(name, |x, y, _| match name.as_str() {
            "rho" | "h" => 1.0 + dense(x, y),
            "e" => 4.5 + dense(x, y) + 0.1 * wave(x, y, 1.0),
            "m_x" => 0.4 * wave(x, y, 2.0),
            _ => 0.3 * wave(x, y, 3.0),
        });
    }
    simulation
}

/// Returns the components whose bits differ between a run and the one with x and y exchanged, as text.
fn differences(system: &SystemDef) -> String {
    let [nx, ny] = [18, 14];
    let mut straight = start(system, [nx, ny, 1]);
    let names: Vec<String> = straight.components().map(str::to_string).collect();
    let mut other = started::<f64>(system, [ny, nx, 1], false, Some(2e-3));
    for name in &names {
        let values = exchanged(&straight.values(name));
        other.set_array(&exchanged_name(name), values.view()).or_panic();
    }
    for simulation in [&mut straight, &mut other] {
        simulation.run(5, |_, _| ()).or_panic();
    }
    let mut wrong = String::new();
    for name in &names {
        let (expected, found) =
            (exchanged(&straight.values(name)), other.values(&exchanged_name(name)));
        let most = (&expected - &found).mapv(f64::abs).into_iter().fold(0.0, f64::max);
        if expected != found {
            wrong += &format!("{name} differs by {most:e}; ");
        }
    }
    wrong
}

#[test]
fn exchanged_axes_have_exchanged_bits() {
    let mut wrong = String::new();
    // Steps of one axis after the other have an order.
    for (reconstruct, riemann) in pairs_in_turn().filter(|(made, _)| !made.starts_with("waf")) {
        let found = differences(&law(EULER, 2, &reconstruct, riemann));
        if !found.is_empty() {
            wrong += &format!("{reconstruct}, {riemann}: {found}\n");
        }
    }
    for (settings, system) in predicted(EULER, 2) {
        // Sweeps begin with one of the axes.
        let found = if settings.contains("sweep") { String::new() } else { differences(&system) };
        if !found.is_empty() {
            wrong += &format!("{settings}: {found}\n");
        }
    }
    for riemann in SOLVERS {
        let found = differences(&law(WATER, 2, "plm<limiter = mc>", riemann));
        if !found.is_empty() {
            wrong += &format!("water, {riemann}: {found}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A blast in the middle of a square stays the same along both diagonals: 150 steps with 150 cells along each axis.
#[test]
fn a_square_blast_keeps_its_symmetries() {
    let n = 150;
    let system = law(EULER, 2, "plm<limiter = mc> in primitive", "hllc");
    let builder = Simulation::<f64>::builder(&system).cells([n, n, 1]).centered(true);
    // Coordinates that are exact have images that are exact.
    let builder = builder.extent([150.0, 150.0, 1.0]).origin([-75.0, -75.0, 0.0]).cfl(0.4);
    let mut simulation = builder.build().or_panic();
    let set = simulation.set("rho", |_, _, _| 1.0);
    let set = set.and_then(|()| {
        simulation.set("e", |x, y, _| if x * x + y * y < 225.0 { 25.0 } else { 0.25 })
    });
    set.and_then(|()| simulation.run(150, |_, _| ()).map(|_| ())).or_panic();
    let [rho, m_x, m_y] = ["rho", "m_x", "m_y"].map(|name| simulation.values(name));
    assert!(rho.iter().any(|rho| *rho > 2.0), "a shock");
    for j in 0..n {
        for i in 0..n {
            assert_eq!(rho[[0, j, i]], rho[[0, i, j]], "density at {i}, {j}");
            assert_eq!(m_x[[0, j, i]], m_y[[0, i, j]], "momentum at {i}, {j}");
            assert_eq!(m_x[[0, j, i]], -m_x[[0, j, n - 1 - i]], "mirrored momentum at {i}, {j}");
        }
    }
}
