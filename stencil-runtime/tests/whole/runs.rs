//! Runs: adaptive steps, sources, observables, failures, interruption.

use std::ops::ControlFlow;

use ndarray::Array3;
use stencil_runtime::backend::cuda::{Card, nvrtc::Nvrtc};
use stencil_runtime::compiler::expr::real::Precision;
use stencil_runtime::{
    Axis, Boundary, Builder, Engine, Error, Outcome, Simulation, Source, SystemDef,
};

pub(crate) fn text(system: &str) -> SystemDef {
    SystemDef::from_text("test.pde", system).unwrap_or_else(|e| panic!("{e}"))
}

/// Is there a card for runs?
pub(crate) fn there_is_a_card() -> bool {
    let usable =
        |card: &Card| card.is_supported() && Nvrtc::open_up_to(card.driver.0 as i32).is_ok();
    Card::all().is_ok_and(|cards| cards.first().is_some_and(usable))
}

/// A wave that steepens, with everything that a run can watch.
const BURGERS: &str = "pub system Burgers in 2d {
    field u: vector;
    param nu: real = 0.02;
    ddt(u) = nu * lap(u) - dot(u, grad(u));
    cfl { advective: norm(u); diffusive: nu }
    observe energy = mean(dot(u, u) / 2);
    observe momentum = sum(u.x);
    observe fastest = max(norm(u));
    observe slowest = min(u.y);
    observe steepest = max(abs(div(u)));
}
scheme s for Burgers { space: central<order = 4>; mixed: bidiagonal; time: rk3_williamson; }";

fn burgers(system: &SystemDef) -> Builder<f64> {
    Simulation::builder(system).cells([23, 17, 1]).extent([2.0, 1.5, 1.0])
}

fn start(simulation: &mut Simulation<f64>) {
    let u = |x: f64, y: f64, _: f64| [(3.0 * x + y).sin() + 0.2, (x - 4.0 * y).cos(), 0.0];
    simulation.set_vector("u", u).unwrap();
}

pub(crate) fn bits(simulation: &Simulation<f64>) -> Vec<u64> {
    let names: Vec<&str> = simulation.components().collect();
    let of = |name: &&str| simulation.to_f64(name).unwrap();
    names.iter().flat_map(of).map(f64::to_bits).collect()
}

#[test]
fn steps_adapt_to_the_speeds() {
    let system = text(BURGERS);
    let mut simulation = burgers(&system).cfl(0.6).build().unwrap();
    start(&mut simulation);
    let speed = |simulation: &Simulation<f64>| {
        let [x, y] = ["u_x", "u_y"].map(|name| simulation.to_f64(name).unwrap());
        let norms = x.iter().zip(&y).map(|(x, y)| (x * x + y * y).sqrt());
        norms.fold(0.0, f64::max)
    };
    for _ in 0..3 {
        // Symbols of fourth order are 1.3722 and 16/3 at most; three substeps reach to 3^(1/2) and 2.5127.
        let [x, y] = [2.0 / 23.0, 1.5 / 17.0].map(|h: f64| 1.0 / (h * h));
        let advective = speed(&simulation) * 1.372_22 * (x + y).sqrt() / 3.0_f64.sqrt();
        let expected = 0.6 / (advective + 0.02 * 16.0 / 3.0 * (x + y) / 2.512_745_3);
        simulation.step().unwrap();
        assert!((simulation.dt() / expected - 1.0).abs() < 1e-4, "{} {expected}", simulation.dt());
    }
    assert!(simulation.timings().time_step > std::time::Duration::ZERO);
    // The largest step that is allowed.
    let mut simulation = burgers(&system).cfl(0.6).dt(1e-3).build().unwrap();
    start(&mut simulation);
    simulation.step().unwrap();
    assert_eq!(simulation.dt(), 1e-3);
}

#[test]
fn the_last_step_ends_where_it_should() {
    let system = text(BURGERS);
    for builder in [burgers(&system).cfl(0.6), burgers(&system).dt(0.01)] {
        let mut simulation = builder.build().unwrap();
        start(&mut simulation);
        let mut times = Vec::new();
        assert_eq!(simulation.run_until(0.1, |_, t| times.push(t)).unwrap(), Outcome::Finished);
        assert_eq!(simulation.t(), 0.1);
        let steps = times.windows(2).map(|t| t[1] - t[0]);
        assert!(steps.fold(f64::INFINITY, f64::min) > 1e-4, "no sliver: {times:?}");
        let count = simulation.step_count();
        simulation.run_until(0.05, |_, _| ()).unwrap();
        assert_eq!((simulation.t(), simulation.step_count()), (0.1, count));
    }
    // Ten steps of a tenth: rounding makes no eleventh.
    let mut simulation = burgers(&system).dt(0.001).build().unwrap();
    simulation.run_until(0.01, |_, _| ()).unwrap();
    assert_eq!(simulation.step_count(), 10);
}

#[test]
fn what_is_observed_does_not_depend_on_threads() {
    let system = text(BURGERS);
    let observe = |threads: usize, engine: Engine| {
        let builder = burgers(&system).cfl(0.6).threads(threads).engine(engine);
        let mut simulation = builder.boundary(Axis::Y, Boundary::wall()).build().unwrap();
        start(&mut simulation);
        simulation.run(5, |_, _| ()).unwrap();
        let values = simulation.observe().unwrap();
        let values: Vec<(String, u64)> =
            values.into_iter().map(|(n, v)| (n, v.to_bits())).collect();
        (values, bits(&simulation), simulation.t().to_bits())
    };
    let one = observe(1, Engine::Rows);
    assert_eq!(
        one.0.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(),
        ["energy", "fastest", "momentum", "slowest", "steepest"]
    );
    for threads in [2, 3, 7] {
        assert_eq!(observe(threads, Engine::Cpu), one);
    }
    // On a card or not: the same bits.
    assert_eq!(observe(2, Engine::Auto), one);
}

#[test]
fn a_card_is_taken_where_there_is_one_and_the_schedule_is_for_it() {
    let system = text(BURGERS);
    let engine = |preset: Option<&str>| {
        let mut builder = burgers(&system).dt(1e-3).engine(Engine::Auto);
        if let Some(name) = preset {
            builder = builder.schedule(system.preset(name, Precision::F64).unwrap());
        }
        builder.build().unwrap().engine()
    };
    assert_eq!(engine(Some("rows")), Engine::Rows);
    let expected = if there_is_a_card() { Engine::Cuda } else { Engine::Rows };
    assert_eq!(engine(None), expected);
    assert_eq!(engine(Some("direct")), expected);
}

#[test]
fn observables_are_what_they_say() {
    let system = text(BURGERS);
    let mut simulation =
        burgers(&system).dt(1e-3).boundary(Axis::X, Boundary::wall()).build().unwrap();
    simulation.set("u_x", |x, y, _| x * x + y).unwrap();
    simulation.set("u_y", |x, _, _| -x).unwrap();
    let (x, y) = (simulation.to_f64("u_x").unwrap(), simulation.to_f64("u_y").unwrap());
    let observed = simulation.observe().unwrap();
    let energy: f64 = x.iter().zip(&y).map(|(x, y)| (x * x + y * y) / 2.0).sum();
    assert!((observed["energy"] - energy / (23.0 * 17.0)).abs() < 1e-12);
    assert!((observed["momentum"] - x.sum()).abs() < 1e-10);
    assert_eq!(observed["slowest"], y.iter().copied().fold(0.0, f64::min));
    // At the wall of x, where u.x is odd, the mirror image of the last cells makes the largest
    // divergence: weights of order 4 are (8, -1)/12.
    let h = 2.0 / 23.0;
    let row: Vec<f64> = (0..23).map(|i| x[[0, 16, i]]).collect();
    let steepest = (8.0 * (-row[22] - row[21]) - (-row[21] - row[20])) / (12.0 * h);
    assert!((observed["steepest"] - steepest.abs()).abs() < 1e-9, "{observed:?} {steepest}");
}

const DRIVEN: &str = "pub system Driven in 1d {
    field q: scalar;
    source f: scalar;
    source g: vector = [sin(2*x) + k, ];
    param k: real = 0.5;
    ddt(q) = f + d[x](g.x) + cos(t);
}
scheme s for Driven { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }";

#[test]
fn sources_are_sampled_at_the_time_of_the_substep() {
    let system = text(&DRIVEN.replace(", ]", "]"));
    let error = |steps: u64| {
        let tau = std::f64::consts::TAU;
        let mut simulation = Simulation::<f64>::builder(&system)
            .cells([64, 1, 1])
            .extent([tau, 1.0, 1.0])
            .source("f", Source::unsteady(|x, _, _, t| (t + x).exp() - t))
            .dt(1.0 / steps as f64)
            .build()
            .unwrap();
        simulation.run(steps, |_, _| ()).unwrap();
        assert!(simulation.timings().sources > std::time::Duration::ZERO);
        let h = tau / 64.0;
        let exact = |x: f64| (1.0 + x).exp() - x.exp() - 0.5 + 1_f64.sin();
        // d[x](g.x) = 2 cos(2 x), to the sixth order; its error does not change with the time step.
        let gradient = |x: f64| {
            let difference = |k: f64| ((2.0 * (x + k * h)).sin() - (2.0 * (x - k * h)).sin()) / h;
            0.75 * difference(1.0) - 0.15 * difference(2.0) + difference(3.0) / 60.0
        };
        let q = simulation.field("q").unwrap();
        let error = |(i, q): (usize, &f64)| {
            let x = i as f64 * h;
            (q - exact(x) - gradient(x)).abs()
        };
        q.iter().enumerate().map(error).fold(0.0, f64::max)
    };
    let order = (error(10) / error(20)).log2();
    assert!((2.8..3.3).contains(&order), "order {order}");
}

#[test]
fn sources_may_be_arrays_constants_and_texts() {
    let system = text(
        "pub system Driven in 2d { field q: scalar; source f: vector; param a: real = 2;
             ddt(q) = d[x](f.x) + f.y; }
         scheme s for Driven { space: central<order = 2>; mixed: bidiagonal; time: euler; }",
    );
    let array = Array3::from_shape_fn((1, 5, 4), |(_, y, x)| (x * x + 10 * y) as f64);
    let mut simulation = Simulation::<f64>::builder(&system)
        .cells([4, 5, 1])
        .extent([4.0, 5.0, 1.0])
        .centered(false)
        .boundary(Axis::X, Boundary::outflow())
        .source("f_x", Source::array(array))
        .source("f_y", Source::text("a * y"))
        .dt(1.0)
        .build()
        .unwrap();
    simulation.step().unwrap();
    let q = simulation.field("q").unwrap();
    // Beyond the faces of x the nearest value counts: derivatives of 0 0 1 4 9 9.
    for (x, derivative) in [0.5, 2.0, 4.0, 2.5].into_iter().enumerate() {
        assert_eq!(q[[0, 3, x]], derivative + 6.0);
    }
    let missing = Simulation::<f64>::builder(&system).cells([4, 5, 1]).dt(1.0);
    let error = missing.source("f_x", 1.0).build().unwrap_err().to_string();
    assert!(
        error.contains("the source `f_y` is not set") && error.contains(".source(\"f_y\", ..)"),
        "{error}"
    );
}

/// Blows up in one known cell.
const UNSTABLE: &str = "pub system Unstable in 2d {
    field p: scalar;
    field q: scalar;
    ddt(p) = 0;
    ddt(q) = q * q * q
           + lap(p);
}
scheme s for Unstable { space: central<order = 2>; mixed: bidiagonal; time: rk3_williamson; }";

fn unstable(keep: bool) -> (Simulation<f64>, Vec<u64>) {
    let system = text(UNSTABLE);
    let builder = Simulation::<f64>::builder(&system).cells([6, 5, 1]).extent([3.0, 2.5, 1.0]);
    let mut simulation = builder.keep_last(keep).dt(1.0).build().unwrap();
    simulation.set("q", |x, y, _| if (x, y) == (1.5, 1.0) { 30.0 } else { 0.1 }).unwrap();
    let mut before = bits(&simulation);
    loop {
        match simulation.step() {
            Ok(()) => before = bits(&simulation),
            Err(error) => {
                let Error::NotFinite(found) = &error else { panic!("{error}") };
                let stencil_runtime::NotFinite { field, cell, at, step, substep, kept, .. } =
                    &**found;
                assert_eq!((field.as_str(), *cell), ("q", [3, 2, 0]));
                assert_eq!(*at, [1.5, 1.0]);
                assert_eq!(*step, simulation.step_count() + 1);
                assert!((2..=3).contains(substep), "the fields have changed since the step began");
                assert_eq!(*kept, keep.then_some(simulation.step_count()));
                let text = error.to_string();
                assert!(text.contains("by `ddt(q) = q * q * q + lap(p)` (test.pde:5:5)"), "{text}");
                assert!(text.contains("smaller time step"), "{text}");
                return (simulation, before);
            }
        }
    }
}

#[test]
fn a_failed_step_leaves_the_state_before_it() {
    let (mut simulation, before) = unstable(true);
    assert_eq!(bits(&simulation), before);
    assert_eq!(simulation.t(), simulation.step_count() as f64);
    let path = std::env::temp_dir().join(format!("stencil-kept-{}.npz", std::process::id()));
    simulation.save_npz(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    // It fails again, and may go on with smaller steps.
    assert!(simulation.step().is_err());
    assert_eq!(bits(&simulation), before);
    simulation.set("q", |_, _, _| 0.1).unwrap();
    simulation.set_dt(1e-3).unwrap();
    simulation.step().unwrap();
}

#[test]
fn a_state_that_was_not_kept_is_not_written() {
    let (mut simulation, _) = unstable(false);
    let error = simulation.save_npz("/nonexistent/lost.npz").unwrap_err();
    assert!(matches!(error, Error::Lost), "{error}");
    assert!(error.to_string().contains(".keep_last(true)"));
    assert!(matches!(simulation.step(), Err(Error::Lost)));
}

#[test]
fn initial_values_that_are_no_numbers_are_found_before_they_spread() {
    let mut simulation =
        Simulation::<f64>::builder(&text(UNSTABLE)).cells([6, 5, 1]).dt(0.1).build().unwrap();
    simulation.set("p", |x, y, _| if x == 0.5 && y > 0.7 { f64::NAN } else { 0.0 }).unwrap();
    let text = simulation.step().unwrap_err().to_string();
    assert!(text.contains("`p` is set to a value that is not finite in cell [3, 4, 0]"), "{text}");
    assert_eq!(simulation.step_count(), 0);
}

#[test]
fn speeds_that_give_no_step() {
    let system = text(BURGERS);
    let mut still = burgers(&system).param("nu", 0.0).cfl(0.5).build().unwrap();
    let error = still.step().unwrap_err();
    assert!(error.to_string().contains("if all speeds are zero, limit it by `.dt(..)`"), "{error}");
    let bad = BURGERS.replace("diffusive: nu", "diffusive: nu - 1");
    let mut negative = burgers(&text(&bad)).cfl(0.5).build().unwrap();
    let error = negative.step().unwrap_err();
    let told = [
        "the diffusive speed is -0.98",
        "`nu - 1` in cell [0, 0, 0], at [",
        "where u_x = ",
        "take `abs(..)`",
    ];
    for part in told {
        assert!(error.to_string().contains(part), "no {part}: {error}");
    }
    let error =
        Simulation::<f64>::builder(&text(UNSTABLE)).cells([6, 5, 1]).cfl(0.5).build().unwrap_err();
    assert!(error.to_string().contains("declare `cfl { advective: ..; }`"), "{error}");
}

#[test]
fn a_run_ends_when_it_is_told() {
    let system = text(BURGERS);
    let mut simulation = burgers(&system).dt(1e-3).build().unwrap();
    start(&mut simulation);
    let stop = |step: u64, _: f64| {
        if step == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert_eq!(simulation.run_until(1.0, stop).unwrap(), Outcome::Stopped);
    assert_eq!(simulation.step_count(), 3);
    assert_eq!(simulation.run(2, |_, _| ()).unwrap(), Outcome::Finished);
    assert_eq!(simulation.step_count(), 5);
}

/// Returns a field after three steps, and the number of arrays and buffers for them.
fn chained(system: &SystemDef, schedule: Option<&str>, periodic: bool) -> (Vec<u64>, [usize; 2]) {
    let mut builder = Simulation::<f64>::builder(system).cells([21, 17, 1]).dt(1e-3);
    if !periodic {
        builder = builder.boundary(Axis::X, Boundary::outflow());
    }
    if let Some(text) = schedule {
        let text = stencil_runtime::compiler::schedule::text::parse(text);
        builder = builder.schedule(text.unwrap_or_else(|e| panic!("{e}")));
    }
    let mut simulation = builder.build().unwrap_or_else(|e| panic!("{e}"));
    let q = |x: f64, y: f64, _: f64| (6.0 * x).sin() + (5.0 * y).cos();
    simulation.set("q", q).unwrap();
    (0..3).for_each(|_| simulation.step().unwrap());
    let plan = simulation.plan();
    (bits(&simulation), [plan.memories(), plan.buffers.len()])
}

/// Stored functions, some of which share memory; accumulators do not.
#[test]
fn schedules_that_share_memory_have_the_same_bits() {
    use stencil_runtime::compiler::schedule;
    let system = text(
        "pub system Chain in 2d { field q: scalar;
            ddt(q) = 1e-6 * d[x](d[y](d[x](d[y](d[x](q))))) - 0.1 * q * d[x](q); }
        scheme s for Chain { space: central<order = 2>; mixed: composed; time: rk3_williamson<storage = accumulator>; }",
    );
    let functions = system.algorithm().functions.iter();
    let names = functions.map(|f| f.name.as_str());
    let derived = names.filter(|name| name.starts_with("dx_d") || name.starts_with("dy_d"));
    let derived: Vec<&str> = derived.collect();
    for (halo, periodic) in [("exchange", true), ("recompute", true), ("recompute", false)] {
        let placed = derived.iter();
        let placed = placed.map(|name| format!("place {name} global {halo} "));
        let placed = format!("schedule {}", placed.collect::<String>());
        let schedule = schedule::text::parse(&placed).unwrap();
        let kernels = schedule::kernel_count(system.algorithm(), &schedule);
        assert!(kernels > 3, "{kernels} kernels");
        let placed = placed + &"kernel rows ".repeat(kernels);
        let (reference, inline) = chained(&system, None, periodic);
        let (found, stored) = chained(&system, Some(&placed), periodic);
        assert!(found == reference, "{halo}");
        assert_eq!(inline[0], inline[1]);
        assert!(stored[0] < stored[1], "{stored:?}: nothing shares memory");
    }
}
