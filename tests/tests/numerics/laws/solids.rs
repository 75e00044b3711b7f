//! Solids: fluxes of tensors, and several sounds that are taken apart.

use std::f64::consts::TAU;

use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::law;

/// An isotropic solid: waves of pressure and of shear go 2 and 1 in a unit of time.
const SOLID: &str = "system Solid in nd {
    conserved v: vector; conserved s: symmetric;
    param l: real = 2; param m: real = 1;
    flux v -> -s;
    flux s -> -l*dot(v, normal)*I - 2*m*sym(outer(normal, v));
}";

/// The same, component by component in the plane.
const BY_COMPONENTS: &str = "system Solid in 2d {
    conserved v: vector; conserved s_xx: scalar; conserved s_xy: scalar; conserved s_yy: scalar;
    param l: real = 2; param m: real = 1;
    flux v -> -[[s_xx, s_xy], [s_xy, s_yy]]; flux s_xx -> -[(l + 2*m)*v.x, l*v.y];
    flux s_xy -> -m*[v.y, v.x]; flux s_yy -> -[l*v.x, (l + 2*m)*v.y];
}";

/// A value at a place and a time, of waves along x.
type Exact = fn(f64, f64) -> f64;

/// A wave of pressure ahead, and one of shear back.
const WAVES: [(&str, Exact); 5] = [
    ("v_x", |x, t| (TAU * (x - 2.0 * t)).sin()),
    ("s_xx", |x, t| -2.0 * (TAU * (x - 2.0 * t)).sin()),
    ("s_yy", |x, t| -(TAU * (x - 2.0 * t)).sin()),
    ("v_y", |x, t| (TAU * (x + t)).cos()),
    ("s_xy", |x, t| (TAU * (x + t)).cos()),
];

fn started(system: &SystemDef, n: usize) -> Simulation<f64> {
    let builder = Simulation::<f64>::builder(system).cells([n, 4, 1]).dt(0.2 / n as f64);
    let mut simulation =
        builder.extent([1.0, 4.0 / n as f64, 1.0]).centered(true).build().or_panic();
    for (name, value) in WAVES {
        simulation.fill(name, |x, _, _| value(x, 0.0));
    }
    simulation
}

#[test]
fn both_sounds_of_a_solid_are_taken_apart() {
    for reconstruct in [
        "plm<limiter = van_leer>",
        "plm<limiter = van_leer> in characteristic",
        "waves<limiter = central>",
    ] {
        let error = |n: usize, name: &str, exact: Exact| {
            let mut simulation = started(&law(SOLID, 2, reconstruct, "roe"), n);
            simulation.steps(n);
            let end = simulation.t();
            simulation.error(name, |x, _, _| exact(x, end))
        };
        for (name, exact) in [WAVES[0], WAVES[3]] {
            let [coarse, fine] = [24, 48].map(|n| error(n, name, exact));
            let order = (coarse / fine).log2();
            println!("{reconstruct} {name}: {coarse:.3e} {fine:.3e}, order {order:.2}");
            assert!(order > 1.5, "{reconstruct} {name}: {coarse} {fine}");
        }
    }
}

#[test]
fn a_tensor_flows_as_its_components_do() {
    let values = |text: &str| {
        let mut simulation = started(&law(text, 2, "plm<limiter = mc>", "roe"), 20);
        simulation.fill("v_x", |x, y, _| (TAU * x).sin() + y);
        simulation.steps(6);
        let names = WAVES.map(|(name, _)| name).into_iter();
        names.flat_map(|name| simulation.flat(name)).collect::<Vec<f64>>()
    };
    let [tensor, components] = [SOLID, BY_COMPONENTS].map(values);
    assert!(tensor.iter().zip(&components).all(|(a, b)| (a - b).abs() < 1e-13));
}

/// A jump along x makes four waves; HLL with the fastest speed smears those of shear, and Roe's solver does not.
#[test]
fn waves_of_shear_are_sharper_than_with_bounds() {
    let error = |riemann: &str| {
        let n = 60;
        let system = law(SOLID, 2, "constant", riemann);
        let mut simulation = started(&system, n);
        let step = |x: f64| if (x - 0.5).abs() < 0.25 { 1.0 } else { 0.0 };
        for (name, _) in WAVES {
            simulation.fill(name, |_, _, _| 0.0);
        }
        simulation.fill("v_y", |x, _, _| step(x));
        simulation.fill("s_xy", |x, _, _| step(x));
        simulation.steps(n / 2);
        let t = simulation.t();
        simulation.error("v_y", |x, _, _| step((x + t).rem_euclid(1.0)))
    };
    let [roe, hll] = ["roe", "hll"].map(error);
    println!("{roe:.3e} {hll:.3e}");
    assert!(roe < 0.8 * hll, "{roe} {hll}");
}
