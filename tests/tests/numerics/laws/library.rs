//! Conservation laws of the library against exact solutions.

use std::f64::consts::TAU;

use physics::systems::{ALL, Acoustics, LayeredAcoustics, Traffic};
use stencil_runtime::{Simulation, System, SystemDef};
use stencil_tests::{OrPanic, Runs, takes_in_turn};

use super::{error_of_fan, of_library, started};

fn system<S: System>() -> SystemDef {
    SystemDef::new(&S::DEFINITION).or_panic()
}

/// Returns the mean error of the pressure after a plane wave went a fifth of its length to the right or the left, by
/// lines and waves without limit, as a limit cuts the crests of waves.
fn sound(solver: [&str; 2], k: [f64; 3], n: usize, sign: f64) -> f64 {
    let system = of_library(&Acoustics::<3>::DEFINITION, solver[0], solver[1]);
    let size = k.iter().map(|k| k * k).sum::<f64>().sqrt();
    let dt = 0.2 / n as f64 / size;
    let mut simulation = started::<f64>(&system, [n; 3], false, Some(dt));
    let wave = move |x: [f64; 3], t: f64| {
        let phase: f64 = x.iter().zip(k).map(|(x, k)| k * x).sum();
        (TAU * (phase - sign * size * t)).cos()
    };
    simulation.fill("p", |x, y, z| wave([x, y, z], 0.0));
    for (axis, name) in ["u_x", "u_y", "u_z"].into_iter().enumerate() {
        simulation.fill(name, |x, y, z| sign * k[axis] / size * wave([x, y, z], 0.0));
    }
    simulation.steps(n);
    let t = dt * n as f64;
    simulation.error("p", |x, y, z| wave([x, y, z], t))
}

#[test]
fn sound_travels_alike_in_space() {
    for solver in [["plm<limiter = central>", "hll"], ["waves<limiter = central>", "roe"]] {
        sound_travels_at_second_order(solver);
    }
}

fn sound_travels_at_second_order(solver: [&str; 2]) {
    let along = |k: [f64; 3]| {
        let [coarse, fine] = [12, 24].map(|n| sound(solver, k, n, 1.0));
        let back = sound(solver, k, 24, -1.0);
        let order = (coarse / fine).log2();
        println!("{solver:?}, {k:?}: {coarse:.3e}, {fine:.3e}, order {order:.2}; back {back:.3e}");
        // At crests waves vanish, and the limiter divides their rounding errors.
        assert!((back / fine - 1.0).abs() < 1e-5, "{k:?}: {fine} {back}");
        assert!(order > 1.9, "{solver:?}, {k:?}: {order}");
        fine
    };
    let x = along([1.0, 0.0, 0.0]);
    for k in [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
        let other = sound(solver, k, 24, 1.0);
        assert!((other / x - 1.0).abs() < 1e-9, "{k:?}: {x} {other}");
    }
    along([1.0, 1.0, 1.0]);
    along([1.0, -1.0, 0.0]);
}

/// Shear, which has no pressure, stays in place.
#[test]
fn shear_stays() {
    for solver in [["plm<limiter = mc>", "hll"], ["waves<limiter = mc>", "roe"]] {
        let system = of_library(&Acoustics::<3>::DEFINITION, solver[0], solver[1]);
        let error = |along: usize, across: usize| {
            let n = 12;
            let mut simulation = started::<f64>(&system, [n; 3], false, Some(0.4 / n as f64));
            let wave = |x: [f64; 3]| (TAU * x[along]).sin();
            let name = ["u_x", "u_y", "u_z"][across];
            simulation.fill(name, |x, y, z| wave([x, y, z]));
            let before = simulation.values(name);
            simulation.run(n as u64, |_, _| ()).or_panic();
            let after = simulation.values(name);
            (after - before).mapv(f64::abs).sum() / (n * n * n) as f64
        };
        for (along, across) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
            let changed = error(along, across);
            println!("{solver:?}, {across} along {along}: {changed:.2e}");
            // HLL has no wave between both, and smears contacts at rest.
            let most = if solver[1] == "roe" { 1e-14 } else { 0.05 };
            assert!(changed < most, "{solver:?}, {across} along {along}: {changed}");
        }
    }
}

/// Returns the density of cars at `x/t` after a jump at 0: characteristics of slope `1 - 2q` part or meet (LeVeque
/// 2002, Eqs. 11.16 and 11.21).
fn cars(left: f64, right: f64, slope: f64) -> f64 {
    if left < right {
        let shock = 1.0 - left - right;
        return if slope < shock { left } else { right };
    }
    ((1.0 - slope) / 2.0).clamp(right, left)
}

#[test]
fn cars_stop_and_start() {
    // Before a red light; after a green one; a jam that travels along, and one that dissolves.
    for (left, right) in [(0.4, 1.0), (1.0, 0.0), (0.2, 0.6), (0.7, 0.3)] {
        let end = 0.3;
        let error = |n: usize| {
            let system = system::<Traffic>();
            let mut simulation = started::<f64>(&system, [n, 1, 1], true, None);
            simulation.fill("q", |x, _, _| if x < 0.5 { left } else { right });
            let error = error_of_fan(&mut simulation, "q", end, |s| cars(left, right, s));
            error.or_panic()
        };
        let [coarse, fine] = [50, 200].map(error);
        println!("{left} {right}: {coarse:.2e} {fine:.2e}");
        assert!((coarse / fine).log2() / 2.0 > 0.8, "{left} {right}: {coarse} {fine}");
        assert!(fine < 3e-3, "{left} {right}: {fine}");
    }
}

/// Returns the pressure of a pulse that came from the left, where impedance and speed are one, and met a medium of four
/// times the density in the middle: impedance two, speed a half (LeVeque 2002, Eq. 9.36).
fn reflected(x: f64, t: f64) -> f64 {
    let pulse = |x: f64| (-(x - 0.3).powi(2) / 0.003).exp();
    let (reflection, transmission) = (1.0 / 3.0, 4.0 / 3.0);
    if x < 0.5 {
        return pulse(x - t) + reflection * pulse(1.0 - x - t);
    }
    transmission * pulse(0.5 + 2.0 * (x - 0.5) - t)
}

#[test]
fn an_interface_reflects_a_part_of_a_pulse() {
    let end = 0.45;
    let error = |scheme: &str, n: usize| {
        let system = system::<LayeredAcoustics<1>>();
        let system = system.with_scheme(scheme).or_panic();
        let mut simulation = started::<f64>(&system, [n, 1, 1], true, None);
        let rho = |x: f64| if x < 0.5 { 1.0 } else { 4.0 };
        simulation.fill("K", |_, _, _| 1.0);
        simulation.fill("rho", |x, _, _| rho(x));
        simulation.fill("e", |x, _, _| -reflected(x, 0.0));
        simulation.fill("m_x", |x, _, _| reflected(x, 0.0));
        simulation.run_until(end, |_, _| ()).or_panic();
        simulation.error("e", |x, _, _| -reflected(x, end))
    };
    for scheme in ["waves_roe", "plm_hll"] {
        let [coarse, fine] = [100, 400].map(|n| error(scheme, n));
        let order = (coarse / fine).log2() / 2.0;
        println!("{scheme}: {coarse:.3e} {fine:.3e}, order {order:.2}");
        assert!(order > 0.9, "{scheme}: {coarse} {fine}");
        assert!(fine < 4e-3, "{scheme}: {fine}");
    }
}

/// Returns a run of a system of the library from waves in all its fields, over a flat bed.
fn in_motion(system: &SystemDef) -> Simulation<f64> {
    let dimension = system.model().dimension;
    let cells =
        std::array::from_fn(|axis| [[32, 1, 1], [13, 11, 1], [8, 7, 6]][dimension - 1][axis]);
    let mut simulation = started::<f64>(system, cells, false, Some(2e-3));
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    for (c, name) in names.iter().enumerate() {
        let (mean, size) = match name.as_str() {
            "rho" | "R" | "h" | "h_1" | "h_2" | "K" => (1.0, 0.2),
            "E" => (2.5, 0.3),
            "q" => (0.5, 0.3),
            "bed" => (0.0, 0.0),
            _ => (0.0, 0.2),
        };
        let shift = 0.13 * c as f64;
        let wave = move |x: f64, y: f64, z: f64| {
            (TAU * (x + shift)).sin() * (TAU * (y + z - 2.0 * shift)).cos()
        };
        simulation.fill(name, |x, y, z| mean + size * wave(x, y, z));
    }
    simulation
}

/// By every scheme of every law of the library, in each of its dimensions and in turn, conserved sums stay.
#[test]
fn every_law_conserves_by_every_scheme() {
    let mut laws = 0;
    for definition in ALL {
        let system = SystemDef::new(definition).or_panic();
        let model = system.model();
        for scheme in model.schemes().filter(|_| !model.fluxes.is_empty()) {
            laws += 1;
            if !takes_in_turn::<f64>(laws) {
                continue;
            }
            let name = format!("{} in {}d, {}", model.name, model.dimension, scheme.name);
            let system = system.with_scheme(&scheme.name).or_panic();
            let mut simulation = in_motion(&system);
            // A product with slopes changes the sum.
            let fields = model.fluxes.iter().map(|flux| flux.field);
            let fields = fields.filter(|field| model.product_of(*field).is_none());
            let fields = fields.map(|field| &model.fields[field].name);
            let fields: Vec<&String> = fields.collect();
            let names: Vec<String> = simulation.components().map(str::to_string).collect();
            let of =
                |name: &str, field: &str| name == field || name.starts_with(&format!("{field}_"));
            let conserved = names.iter().filter(|name| fields.iter().any(|field| of(name, field)));
            // A component on faces along the only axis has no flux.
            let states = &system.algorithm().states;
            let stays = |name: &str| {
                let own = states.iter().find(|state| state.name == name);
                model.dimension == 1 && own.is_some_and(|state| state.halves[0])
            };
            let conserved: Vec<&String> = conserved.filter(|name| !stays(name)).collect();
            let values = |simulation: &Simulation<f64>| -> Vec<ndarray::Array3<f64>> {
                let all = conserved.iter().map(|name| simulation.to_f64(name));
                all.map(|found| found.unwrap_or_else(|e| panic!("{name}: {e}"))).collect()
            };
            let before = values(&simulation);
            let run = simulation.run(10, |_, _| ());
            run.unwrap_or_else(|e| panic!("{name}: {e}"));
            for ((before, after), component) in
                before.iter().zip(values(&simulation)).zip(&conserved)
            {
                let change = (after.sum() - before.sum()).abs();
                let moved = (&after - before).mapv(f64::abs).sum();
                assert!(
                    change < 1e-12 && moved > 1e-3,
                    "{name}: {component} {change:e} of {moved:e}"
                );
            }
        }
    }
    assert!(laws > 40, "{laws}");
}
