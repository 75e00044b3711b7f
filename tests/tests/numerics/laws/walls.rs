//! Walls are mirrors, to the bit and in corners too.

use stencil_runtime::{Axis, Boundary, Face, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::exact::{GAMMA, Gas, gas};
use super::predictors::predicted;
use super::{EULER, law};

/// Does some steps of a gas in a box from 0 to 1 between walls along all axes; or in a box that is twice as wide, with
/// the images beyond the walls below.
fn run(system: &SystemDef, n: usize, with_images: bool) -> Vec<ndarray::Array3<f64>> {
    let dimension = system.model().dimension;
    let per_axis =
        |value: f64| std::array::from_fn(|axis| if axis < dimension { value } else { 1.0 });
    let (times, below) = if with_images { (2, -1.0) } else { (1, 0.0) };
    let mut builder = Simulation::<f64>::builder(system)
        .cells(per_axis((times * n) as f64).map(|n: f64| n as usize))
        .centered(true)
        .extent(per_axis(f64::from(times as u32)))
        .origin(per_axis(below))
        .dt(0.1 / n as f64);
    for axis in [Axis::X, Axis::Y, Axis::Z].into_iter().take(dimension) {
        builder = builder.boundary(axis, Boundary::wall());
    }
    let mut simulation = builder.build().or_panic();
    // Towards the corner at zero.
    let is_dense = |x: f64, y: f64| x.abs() < 0.5 && y.abs() < 0.6;
    let dense = |x: f64, y: f64| if is_dense(x, y) { 2.0 } else { 1.0 };
    let towards = |x: f64| if x < 0.0 { 0.5 } else { -0.5 };
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for name in &names {
        simulation.fill(name, |x, y, z| match name.as_str() {
            "rho" => dense(x, y),
            "e" => 2.5 + dense(x, y),
            "m_x" => dense(x, y) * towards(x),
            "m_y" => dense(x, y) * towards(y),
            _ => dense(x, y) * towards(z),
        });
    }
    simulation.run(12, |_, _| ()).or_panic();
    let found = names.iter().map(|name| simulation.to_f64(name));
    found.map(|found| found.or_panic()).collect()
}

#[test]
fn a_gas_between_walls_is_one_with_its_images() {
    let mut wrong = String::new();
    let mut all = Vec::new();
    for (dimension, n, reconstruct, riemann) in [
        (1, 24, "ppm in primitive", "hllc"),
        (2, 12, "plm<limiter = mc> in primitive", "exact"),
        (2, 12, "waves<limiter = mc>", "roe"),
        (2, 12, "weno_z", "hll; sweep: strang"),
        (2, 12, "plm<limiter = van_leer> in characteristic", "roe"),
        (2, 12, "weno5 in fluxes", "roe"),
        (3, 8, "ppm in primitive", "hllc"),
        (3, 8, "weno_z in fluxes", "rusanov"),
        (3, 8, "waves<limiter = minmod>", "roe"),
    ] {
        let system = law(EULER, dimension, reconstruct, riemann);
        all.push((n, format!("{dimension}d {riemann}, {reconstruct}"), system));
    }
    let predicted = predicted(EULER, 2).into_iter();
    all.extend(predicted.map(|(settings, system)| (12, settings, system)));
    for (n, name, system) in all {
        let (own, images) = (run(&system, n, false), run(&system, n, true));
        for (c, (own, images)) in own.iter().zip(images).enumerate() {
            let from = |axis: usize| images.shape()[axis] - own.shape()[axis];
            let inside = images.slice(ndarray::s![from(0).., from(1).., from(2)..]);
            let moved = own.iter().any(|v| *v != own[[0, 0, 0]]);
            if !moved || inside != own.view() {
                wrong += &format!("{name}: component {c}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// The inflow is less than half of the gas inside: beyond the face lies that state as it is, positive, and the face has
/// the exact solution between it and the gas.
#[test]
fn what_flows_in_is_the_state_that_is_given() {
    let (n, end) = (100, 0.1);
    let kept = EULER.replace("rho: scalar;", "rho: scalar where rho > 0;");
    for reconstruct in ["constant", "plm<limiter = mc> in primitive", "weno_z"] {
        let system = law(&kept, 1, reconstruct, "hllc");
        let given = [("rho", 0.1), ("m", 0.3), ("e", 2.5 + 0.45)];
        let mut builder = Simulation::<f64>::builder(&system).cells([n, 1, 1]);
        builder = builder.centered(true).dt(0.09 / n as f64).unchecked_step(true);
        builder = builder.boundary(Axis::X, Boundary::outflow());
        for (name, value) in given {
            builder = builder.boundary_of(name, Face::X_LO, Boundary::dirichlet(value));
        }
        let mut simulation = builder.build().or_panic();
        simulation.fill("rho", |_, _, _| 1.0);
        simulation.fill("e", |_, _, _| 2.5);
        let run = simulation.run_until(end, |_, _| ());
        run.unwrap_or_else(|e| panic!("{reconstruct}: {e}"));
        let state = |rho, u, p| Gas { rho, u, p, gamma: GAMMA };
        let exact = gas(state(0.1, 3.0, 1.0), state(1.0, 0.0, 1.0), 0.0);
        let values = ["rho", "m_x", "e"].map(|name| {
            let found = simulation.values(name);
            found[[0, 0, 2]]
        });
        // Flow and pressure, which do not change at the contact.
        let [rho, m, e] = values;
        let values = [m / rho, 0.4 * (e - 0.5 * m * m / rho)];
        let wanted = [exact.u, exact.p];
        println!("{reconstruct}: {values:.4?} {wanted:.4?}");
        for (found, wanted) in values.iter().zip(wanted) {
            let met = (found / wanted - 1.0).abs() < 0.02;
            assert!(met, "{reconstruct}: {found} {wanted}");
        }
    }
}
