//! Runs whose integrator keeps states in place of accumulators.

use stencil_runtime::compiler::catalogue::integrators;
use stencil_runtime::compiler::search::presets;
use stencil_runtime::{Axis, Boundary, Builder, Number, Real, Simulation, Source, SystemDef};

use crate::runs::text;

const FLOW: &str = "pub system Flow in 2d {
    field q: scalar; field u: vector;
    param nu: real = 0.02;
    source f: scalar;
    ddt(q) = -dot(u, grad(q)) - div(u) + f;
    ddt(u) = nu*lap(u) + grad(div(u))/50 - dot(u, grad(u)) - q*grad(q);
    cfl { advective: norm(u) + abs(q); diffusive: nu }
}
scheme s for Flow { space: central<order = 4>; mixed: composed; time: rk3_williamson; }";

const ACCUMULATORS: &str = "rk3_williamson<storage = accumulator>";

fn accumulators() -> SystemDef {
    text(&FLOW.replace("rk3_williamson", ACCUMULATORS))
}

fn with_walls<T: Number>(system: &SystemDef) -> Builder<T> {
    let moving = Boundary::dirichlet_with(|x, _, _, t| 0.1 * (x + t).sin());
    Simulation::builder(system)
        .cells([24, 18, 1])
        .extent([2.0, 1.5, 1.0])
        .boundary(Axis::Y, Boundary::wall())
        .boundary_of("u_x", Axis::Y, moving)
        .source("f", Source::unsteady(|x, y, _, t| (x * y - 3.0 * t).cos()))
}

fn started<T: Number>(run: Builder<T>) -> Simulation<T> {
    let mut simulation = run.build().unwrap_or_else(|e| panic!("{e}"));
    let u = |x: f64, y: f64, _: f64| [(3.0 * x + y).sin() + 0.2, (x - 4.0 * y).cos(), 0.0];
    simulation.set_vector("u", u).unwrap();
    simulation.set("q", |x, y, _| 1.0 + 0.1 * (2.0 * x - y).sin()).unwrap();
    simulation
}

fn after<T: Number>(run: Builder<T>, steps: u64) -> Simulation<T> {
    let mut simulation = started(run);
    simulation.run(steps, |_, _| ()).unwrap_or_else(|e| panic!("{e}"));
    simulation
}

/// Steps of lengths that change, on patches, by all presets.
#[test]
fn schedules_and_patches_change_no_bit() {
    let system = text(FLOW);
    let whole = after::<f64>(with_walls(&system).cfl(0.5), 5).bits().unwrap();
    for cut in [[2, 1, 1], [1, 3, 1], [4, 3, 1]] {
        let run = with_walls::<f64>(&system).cfl(0.5).patches(cut);
        assert!(after(run, 5).bits().unwrap() == whole, "{cut:?}");
    }
    let periodic =
        || Simulation::<f32>::builder(&system).cells([24, 18, 1]).source("f", 0.1).dt(1e-3);
    let whole = after(periodic(), 4).bits().unwrap();
    for preset in presets::ALL {
        let schedule = preset.schedule(system.algorithm(), f32::PRECISION);
        let run = periodic().schedule(schedule).patches([2, 2, 1]);
        assert!(after(run, 4).bits().unwrap() == whole, "{}", preset.name);
    }
}

/// Values differ by rounding only, in either direction of time steps.
#[test]
fn values_are_those_with_accumulators_but_for_rounding() {
    let (states, others) = (text(FLOW), accumulators());
    let values =
        |system: &SystemDef| after::<f64>(with_walls(system).cfl(0.5), 40).to_f64("u_x").unwrap();
    let pairs = values(&states).into_iter().zip(values(&others));
    let largest = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(largest > 0.0 && largest < 1e-13, "{largest}");
}

/// A later substep fails, and the fields are those before the step again: with arrays of their own, copies, or in an accumulator.
#[test]
fn every_method_goes_back_to_the_fields_before_the_step() {
    for integrator in integrators::ALL.iter().filter(|i| i.name != "euler") {
        let system = text(&format!(
            "pub system Driven in 1d {{ field q: scalar; source f: scalar; ddt(q) = 1/f - q + 0*lap(q); }}
             scheme s for Driven {{ space: central<order = 2>; time: {}; }}",
            integrator.name
        ));
        for patches in [1, 2] {
            let end = Source::unsteady(|x, _, _, t| if t > 2.7 { 0.0 } else { 1.0 + x + t });
            let run = Simulation::<f64>::builder(&system).cells([8, 1, 1]).source("f", end);
            let mut simulation = run.dt(1.0).patches([patches, 1, 1]).build().unwrap();
            simulation.run(2, |_, _| ()).unwrap();
            let before = simulation.bits().unwrap();
            let error = simulation.step().unwrap_err().to_string();
            assert_eq!(simulation.bits().unwrap(), before, "{}: {error}", integrator.name);
        }
    }
}

/// Two arrays a field in place of three.
#[test]
fn runs_take_the_memory_of_two_arrays() {
    let used = |system: &SystemDef| {
        let run = with_walls::<f64>(system).dt(1e-3).keep_last(false);
        let values = run.build().unwrap().memory_use().values;
        values / (24 * 18 * 8)
    };
    // The source is one more.
    assert_eq!([used(&text(FLOW)), used(&accumulators())], [7, 10]);
}

/// The step goes back to kept fields, which are arrays of their own.
#[test]
fn values_that_are_not_finite_are_traced_and_undone() {
    let grows = |time: &str| {
        text(&format!(
            "pub system Grows in 1d {{ field q: scalar; ddt(q) = 1/(q - 1) + 0*lap(q); }}
             scheme s for Grows {{ space: central<order = 2>; time: {time}; }}"
        ))
    };
    let message = |time: &str| {
        let system = grows(time);
        let run = Simulation::<f64>::builder(&system).cells([8, 1, 1]).dt(1e-3);
        let mut simulation = run.build().unwrap();
        simulation.set("q", |x, _, _| if x > 0.5 { 3.0 } else { 2.0 }).unwrap();
        simulation.run(2, |_, _| ()).unwrap();
        let before = simulation.to_f64("q").unwrap();
        simulation.set("q", |x, _, _| if x > 0.5 { 1.0 } else { 2.0 }).unwrap();
        let error = simulation.step().unwrap_err().to_string();
        assert!(before.iter().all(|q| q.is_finite()));
        assert!(simulation.to_f64("q").unwrap().iter().all(|q| *q == 1.0 || *q == 2.0), "{error}");
        error
    };
    assert_eq!(message("rk3_williamson"), message(ACCUMULATORS));
}
