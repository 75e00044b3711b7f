//! Runs that go on by other schedules.

use stencil_runtime::compiler::schedule::{Schedule, text as of};
use stencil_runtime::compiler::search::presets;
use stencil_runtime::{
    Axis, Boundary, Builder, Engine, Error, Number, Real, Simulation, Source, SystemDef,
};

use crate::runs::{text, there_is_a_card};

/// A flow whose divergence and symmetric gradient schedules place in many ways.
fn flow(time: &str) -> SystemDef {
    text(&format!(
        "pub system Flow in 2d {{
            field q: scalar; field u: vector;
            param nu: real = 0.02;
            source f: scalar;
            ddt(q) = -dot(u, grad(q)) - div(u) + f;
            ddt(u) = nu*lap(u) + grad(div(u))/50 - dot(u, grad(u)) - q*grad(q);
            cfl {{ advective: norm(u) + abs(q); diffusive: nu }}
            observe energy = sum(dot(u, u)); observe driven = mean(f*q);
        }}
        scheme s for Flow {{ space: central<order = 4>; mixed: composed; time: {time}; }}"
    ))
}

/// Water that leaves its range in each step: fluxes are repaired, and counted.
fn water() -> Builder<f64> {
    let system = text(
        "pub system Water in 1d { conserved h: scalar where h > 0; conserved m: vector;
            flux h -> m; flux m -> outer(m, m/h) + 5*h^2*I; }
        scheme s for Water { reconstruct: weno5; riemann: hll; time: ssprk2; }",
    );
    Simulation::builder(&system).cells([200, 1, 1]).cfl(0.4)
}

fn run<T: Number>(system: &SystemDef) -> Builder<T> {
    Simulation::builder(system).cells([24, 18, 1]).extent([2.0, 1.5, 1.0])
}

/// Adds walls, one of which moves, and a source that the host evaluates.
fn with_walls<T: Number>(run: Builder<T>) -> Builder<T> {
    let moving = Boundary::dirichlet_with(|x, _, _, t| 0.1 * (x + t).sin());
    run.boundary(Axis::Y, Boundary::wall())
        .boundary_of("u_x", Axis::Y, moving)
        .source("f", Source::unsteady(|x, y, _, t| (x * y - 3.0 * t).cos()))
}

fn started<T: Number>(run: Builder<T>) -> Simulation<T> {
    let mut simulation = run.build().unwrap_or_else(|e| panic!("{e}"));
    let components: Vec<String> = simulation.components().map(str::to_string).collect();
    for (at, name) in components.iter().enumerate() {
        let flat = if at == 0 { 1.0 } else { 0.1 };
        let value = |x: f64, y: f64, _: f64| match name.as_str() {
            "h" if (0.3..0.5).contains(&x) => 1.0,
            "h" => 1e-6,
            "m_x" if (0.3..0.5).contains(&x) => 100.0,
            "m_x" => 1e-4,
            _ => flat + 0.3 * (3.0 * x + y - at as f64).sin(),
        };
        simulation.set(name, value).unwrap();
    }
    simulation
}

/// Returns all presets for a system.
fn schedules(system: &SystemDef) -> Vec<Schedule> {
    let presets = presets::ALL.iter();
    let all = presets.map(|preset| preset.schedule(system.algorithm(), f64::PRECISION));
    all.collect()
}

/// Returns all that a run has shown: its bits, its time and the lengths of its steps.
fn shown<T: Number>(simulation: &mut Simulation<T>) -> (Vec<u64>, [u64; 4]) {
    let repairs = simulation.repairs().unwrap().map_or(0, |repairs| repairs.sum());
    let numbers =
        [simulation.t().to_bits(), simulation.dt().to_bits(), simulation.rejected_steps(), repairs];
    (simulation.bits().unwrap(), numbers)
}

/// Switches before each few steps, and compares with a run that never does.
fn no_bit_changes<T: Number>(what: &str, new: impl Fn() -> Builder<T>) -> Simulation<T> {
    let presets = schedules(started(new()).system());
    none_changes_with(what, &presets, new)
}

fn none_changes_with<T: Number>(
    what: &str,
    schedules: &[Schedule],
    new: impl Fn() -> Builder<T>,
) -> Simulation<T> {
    let (mut one, mut other) = (started(new()), started(new()));
    let mut switched = 0;
    for (at, schedule) in schedules.iter().enumerate() {
        let before = shown(&mut other);
        match other.reschedule(schedule) {
            Ok(()) => switched += 1,
            // The preset is for other meshes, and the run is as it was.
            Err(error) => assert!(shown(&mut other) == before, "{what}: {error}"),
        }
        let steps = 1 + at as u64 % 3;
        for simulation in [&mut one, &mut other] {
            simulation.run(steps, |_, _| ()).unwrap_or_else(|e| panic!("{what}: {e}"));
        }
        assert!(shown(&mut one) == shown(&mut other), "{what}, by schedule {at}");
    }
    assert!(2 * switched > schedules.len(), "{what}: {switched} switches");
    assert_eq!(one.step_count(), other.step_count());
    other
}

#[test]
fn steps_of_one_length_go_on() {
    for time in ["rk3_williamson", "rk3_williamson<storage = accumulator>", "ssprk3"] {
        let system = flow(time);
        let periodic = || run::<f32>(&system).source("f", 0.1).dt(2e-3);
        no_bit_changes(time, periodic);
        no_bit_changes(time, || periodic().patches([2, 3, 1]));
    }
}

#[test]
fn steps_that_adapt_between_walls_go_on() {
    let system = flow("rk3_williamson");
    let walls = || with_walls(run::<f64>(&system));
    no_bit_changes("cfl", || walls().cfl(0.5));
    no_bit_changes("patches", || walls().cfl(0.5).patches([4, 1, 1]));
    let retaken = no_bit_changes("retakes", || walls().cfl(0.5).cfl_limit(0.5001));
    assert!(retaken.rejected_steps() > 0);
    no_bit_changes("devices", || walls().cfl(0.5).patches([2, 1, 1]).devices(2));
    no_bit_changes("automatic", || walls().auto_step());
    no_bit_changes("unkept", || walls().dt(1e-3).keep_last(false));
}

#[test]
fn counts_of_repairs_go_on() {
    for cut in [1, 2] {
        let water = no_bit_changes("water", || water().patches([cut, 1, 1]));
        assert!(water.repairs().unwrap().is_some_and(|repairs| repairs.sum() > 0));
    }
}

/// Schedules that fuse steps, which a card does at once and the processor one by one.
#[test]
fn fused_steps_go_on() {
    let heat = text(
        "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q)/100; }
         scheme s for Heat { space: central<order = 2>; time: euler; }",
    );
    let fused = [2, 1, 3, 4, 2].map(|steps| format!("schedule fuse {steps} kernel direct"));
    let fused = fused.map(|schedule| of::parse(&schedule).unwrap());
    none_changes_with("rows", &fused, || run::<f64>(&heat).dt(1e-3));
    if there_is_a_card() {
        none_changes_with("card", &fused, || run::<f64>(&heat).dt(1e-3).engine(Engine::Cuda));
    }
}

#[test]
fn a_card_goes_on() {
    if !there_is_a_card() {
        return;
    }
    for time in ["rk3_williamson", "rk3_williamson<storage = accumulator>"] {
        let system = flow(time);
        let on_card = || run::<f64>(&system).engine(Engine::Cuda);
        no_bit_changes(time, || on_card().source("f", 0.1).dt(2e-3));
        no_bit_changes(time, || with_walls(on_card()).cfl(0.5).patches([2, 1, 1]));
    }
    no_bit_changes("water", || water().engine(Engine::Cuda));
}

#[test]
fn an_illegal_schedule_leaves_the_run_as_it_was() {
    let system = flow("rk3_williamson");
    let mut simulation = started(run::<f64>(&system).source("f", 0.1).dt(2e-3));
    simulation.run(2, |_, _| ()).unwrap();
    let (before, schedule) = (shown(&mut simulation), simulation.schedule().clone());
    let wrong = of::parse("schedule place nothing register kernel direct").unwrap();
    let error = simulation.reschedule(&wrong).unwrap_err();
    assert!(matches!(error, Error::Schedule(_)), "{error}");
    assert!(shown(&mut simulation) == before && *simulation.schedule() == schedule);
    simulation.run(1, |_, _| ()).unwrap();
}

/// Values that grow without bound are found in the same step, with the same cause.
#[test]
fn failures_are_those_of_a_run_that_never_switches() {
    let system = text(
        "pub system Grows in 1d { field q: scalar; let g = d[x](q); ddt(q) = q + 0*d[x](g); }
         scheme s for Grows { space: central<order = 2>; mixed: composed; time: rk3_williamson; }",
    );
    let message = |switches: bool| {
        let run = Simulation::<f64>::builder(&system).cells([8, 1, 1]);
        let mut simulation = started(run.dt(2.0).unchecked_step(true));
        let schedules = schedules(&system);
        let error = (0..1000).find_map(|step| {
            if switches {
                let _ = simulation.reschedule(&schedules[step % schedules.len()]);
            }
            simulation.step().err()
        });
        (error.unwrap().to_string(), shown(&mut simulation))
    };
    assert!(message(true) == message(false));
}
