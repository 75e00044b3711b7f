//! Roe's solver of ideal magnetohydrodynamics: single waves at rest, and faces where another solver takes its place.

use std::f64::consts::TAU;

use physics::systems::IdealMhd;
use stencil_runtime::{Axis, Boundary, Simulation, System, SystemDef};
use stencil_tests::{OrPanic, Runs};

use crate::solutions::support::changed;

/// Returns the system along a line by seven waves.
fn seven_waves(fallback: Option<&str>, limiter: &str) -> SystemDef {
    changed(&IdealMhd::<1>::DEFINITION, |model| {
        model.scheme.riemann = "seven_waves".into();
        model.scheme.limiter = limiter.into();
        model.scheme.fallback = fallback.map(str::to_string);
    })
}

/// Returns the largest change of any value after some steps of a run that begins with these densities, velocities, pressures and fields
/// on both sides of the middle.
fn change(sides: [[f64; 8]; 2]) -> f64 {
    let system = seven_waves(None, "mc");
    let builder = Simulation::<f64>::builder(&system).cells([24, 1, 1]).centered(true).cfl(0.5);
    let builder = builder.boundary(Axis::X, Boundary::outflow());
    let mut simulation = builder.build().or_panic();
    let names = ["rho", "m_x", "m_y", "m_z", "E", "b_x", "b_y", "b_z"];
    for (at, name) in names.into_iter().enumerate() {
        let values = sides.map(|[rho, u, v, w, p, b, c, d]| {
            let energy = p / (2.0 / 3.0)
                + rho * (u * u + v * v + w * w) / 2.0
                + (b * b + c * c + d * d) / 2.0;
            [rho, rho * u, rho * v, rho * w, energy, b, c, d][at]
        });
        simulation.fill(name, |x, _, _| if x < 0.5 { values[0] } else { values[1] });
    }
    let before: Vec<Vec<f64>> = names.iter().map(|name| simulation.flat(name)).collect();
    simulation.steps(20);
    let pairs = names.iter().zip(&before);
    let changes = pairs.flat_map(|(name, before)| {
        let after = simulation.flat(name);
        after.into_iter().zip(before).map(|(a, b)| (a - b).abs()).collect::<Vec<_>>()
    });
    changes.fold(0.0, f64::max)
}

/// A contact at rest, with fields of all directions, and a wave that turns the field and stands in the flow.
#[test]
fn contacts_and_turns_stand_still() {
    let contact = |rho| [rho, 0.0, 0.0, 0.0, 0.7, 0.8, -0.4, 0.6];
    assert!(change([contact(1.0), contact(0.2)]) < 1e-13);
    let (along, across, density) = (0.9, 1.1, 2.25_f64);
    let turned = |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        let (c, d) = (across * cos, across * sin);
        let root = density.sqrt();
        [density, along / root, c / root, d / root, 0.5, along, c, d]
    };
    let found = change([turned(0.3), turned(1.7)]);
    println!("a turn changes by {found:.1e}");
    assert!(found < 1e-12, "{found}");
}

/// Returns the error of a small wave of this shape after it went around a box, in units of its size: the changes of density, momentum,
/// field across and energy (T. A. Gardiner and J. M. Stone, J. Comput. Phys. 205, 509, 2005, section 4.2).
fn travels(shape: [f64; 7], (flow, speed): (f64, f64), n: usize) -> f64 {
    let system = seven_waves(None, "central");
    let builder = Simulation::<f64>::builder(&system).cells([n, 1, 1]).centered(true);
    let mut simulation = builder.cfl(0.4).build().or_panic();
    let (by, bz) = (2_f64.sqrt(), 0.5);
    let energy = 0.6 / (2.0 / 3.0) + flow * flow / 2.0 + (1.0 + by * by + bz * bz) / 2.0;
    let means = [1.0, flow, 0.0, 0.0, by, bz, energy];
    let names = ["rho", "m_x", "m_y", "m_z", "b_y", "b_z", "E"];
    simulation.fill("b_x", |_, _, _| 1.0);
    for ((name, mean), part) in names.into_iter().zip(means).zip(shape) {
        simulation.fill(name, |x, _, _| mean + 1e-6 * part * (TAU * x).sin());
    }
    let before: Vec<Vec<f64>> = names.iter().map(|name| simulation.flat(name)).collect();
    simulation.run_until(1.0 / speed, |_, _| ()).or_panic();
    let changes = names.iter().zip(&before).map(|(name, before)| {
        let after = simulation.flat(name);
        after.into_iter().zip(before).map(|(a, b)| (a - b).abs()).sum::<f64>() / n as f64
    });
    changes.sum::<f64>() / 1e-6
}

/// Fast, Alfven and slow waves, and a contact that flows.
#[test]
fn small_waves_travel_at_second_order() {
    let (a, b) = (2_f64.sqrt(), 1.0 / (6.0 * 5_f64.sqrt()));
    for (name, shape, speeds) in [
        ("fast", [6.0, 12.0, -4.0 * a, -2.0, 8.0 * a, 4.0, 27.0].map(|e| e * b), (0.0, 2.0)),
        ("Alfven", [0.0, 0.0, 1.0, -2.0 * a, -1.0, 2.0 * a, 0.0].map(|e| e / 3.0), (0.0, 1.0)),
        ("slow", [12.0, 6.0, 8.0 * a, 4.0, -4.0 * a, -2.0, 9.0].map(|e| e * b), (0.0, 0.5)),
        ("contact", [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.5], (1.0, 1.0)),
    ] {
        let [coarse, fine] = [16, 32].map(|n| travels(shape, speeds, n));
        let order = (coarse / fine).log2();
        println!("{name}: {coarse:.3e} {fine:.3e}, order {order:.2}");
        assert!(order > 1.9 && fine < 0.1, "{name}: {coarse} {fine}");
    }
}

/// Streams part so fast that the law made linear empties the state between them: another solver gives the flux there, and they are counted.
#[test]
fn another_solver_helps_where_waves_leave_the_ranges() {
    let run = |fallback: Option<&str>| {
        let system = seven_waves(fallback, "mc");
        let builder = Simulation::<f64>::builder(&system).cells([40, 1, 1]).centered(true).cfl(0.4);
        let builder = builder.boundary(Axis::X, Boundary::outflow());
        let mut simulation = builder.build().or_panic();
        let (rho, u, p, b) = (1.0, 2.0, 0.4, [0.3, 0.4, 0.0]);
        let energy = p / (2.0 / 3.0) + rho * u * u / 2.0 + (b[0] * b[0] + b[1] * b[1]) / 2.0;
        simulation.fill("rho", |_, _, _| rho);
        simulation.fill("m_x", |x, _, _| if x < 0.5 { -rho * u } else { rho * u });
        simulation.fill("E", |_, _, _| energy);
        simulation.fill("b_x", |_, _, _| b[0]);
        simulation.fill("b_y", |_, _, _| b[1]);
        let done = simulation.run_until(0.05, |_, _| ());
        let counted = simulation.repairs().or_panic().map(|counts| counts.sum());
        (done.is_ok(), simulation.flat("rho").into_iter().fold(f64::INFINITY, f64::min), counted)
    };
    let (done, _, counted) = run(None);
    assert!(!done && counted.is_none());
    let (done, least, counted) = run(Some("hll"));
    assert!(done && least > 0.0 && counted > Some(0), "{done} {least} {counted:?}");
}
