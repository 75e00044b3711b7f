//! A run that is stopped, written and restored continues with the same bits.

use std::path::PathBuf;

use stencil_runtime::io::NpzWriter;
use stencil_runtime::{Axis, Boundary, Builder, Number, Simulation, Source, SystemDef};

const SYSTEM: &str = "pub system Burgers in 2d {
    field u: vector;
    field step: scalar;
    param nu: real = 0.02;
    source f: scalar;
    ddt(u) = nu * lap(u) - dot(u, grad(u));
    ddt(step) = f + nu * lap(step) + sin(t);
    cfl { advective: norm(u) + abs(f); diffusive: nu }
}
scheme s for Burgers { space: central<order = 4>; mixed: bidiagonal; time: rk3_williamson; }
scheme other for Burgers { space: central<order = 2>; mixed: bidiagonal; time: rk3_williamson; }
scheme accumulators for Burgers { space: central<order = 4>; time: rk3_williamson<storage = accumulator>; }";

struct Temp(PathBuf);

impl Temp {
    fn new(name: &str) -> Self {
        Temp(
            std::env::temp_dir().join(format!("stencil-restart-{}-{name}.npz", std::process::id())),
        )
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn system() -> SystemDef {
    SystemDef::from_text("burgers.pde", SYSTEM).unwrap()
}

fn builder<T: Number>(system: &SystemDef) -> Builder<T> {
    Simulation::builder(system)
        .cells([19, 12, 1])
        .extent([2.0, 1.5, 1.0])
        .boundary(Axis::Y, Boundary::wall())
        .boundary_of("u_x", Axis::Y, Boundary::dirichlet_with(|x, _, _, t| 0.1 * (x + t).sin()))
        .source("f", Source::unsteady(|x, y, _, t| (x * y - 3.0 * t).cos()))
}

fn start<T: Number>(simulation: &mut Simulation<T>) {
    let u = |x: f64, y: f64, _: f64| [(3.0 * x + y).sin() + 0.2, (x - 4.0 * y).cos(), 0.0];
    simulation.set_vector("u", u).unwrap();
}

fn bits<T: Number>(simulation: &Simulation<T>) -> Vec<u64> {
    let names: Vec<String> = simulation.components().map(str::to_string).collect();
    let of = |name: &String| -> Vec<u64> {
        simulation.field(name).unwrap().iter().map(|v| v.canonical_bits()).collect()
    };
    let mut all: Vec<u64> = names.iter().flat_map(of).collect();
    all.extend([simulation.t().to_bits(), simulation.dt().to_bits(), simulation.step_count()]);
    all
}

fn goes_on<T: Number>(adaptive: bool, scheme: &str) {
    let temp = Temp::new(&format!("{}-{adaptive}-{scheme}", T::NAME));
    let system = system().with_scheme(scheme).unwrap();
    let build = || {
        let builder = builder::<T>(&system);
        let builder = if adaptive { builder.cfl(0.4) } else { builder.dt(0.004) };
        builder.build().unwrap()
    };
    let mut whole = build();
    start(&mut whole);
    whole.run(7, |_, _| ()).unwrap();
    whole.save_npz(&temp.0).unwrap();
    whole.run(6, |_, _| ()).unwrap();

    let mut second = build();
    let found = second.restore(&temp.0).unwrap();
    assert_eq!((found.step, found.changed.len()), (7, 0), "{found:?}");
    second.run(6, |_, _| ()).unwrap();
    assert_eq!(bits(&second), bits(&whole));
}

#[test]
fn restored_runs_have_the_bits_of_uninterrupted_ones() {
    goes_on::<f64>(true, "s");
    goes_on::<f64>(true, "accumulators");
    goes_on::<f64>(false, "s");
    goes_on::<f32>(true, "s");
}

#[test]
fn what_differs_is_said() {
    let temp = Temp::new("changed");
    let system = system();
    let mut first = builder::<f64>(&system).dt(1e-3).build().unwrap();
    start(&mut first);
    first.save_npz(&temp.0).unwrap();
    let mut second = builder::<f64>(&system)
        .param("nu", 0.5)
        .boundary(Axis::X, Boundary::outflow())
        .source("f", 2.0)
        .cfl(0.2)
        .build()
        .unwrap();
    let changed = second.restore(&temp.0).unwrap().changed;
    for expected in [
        "cfl: 0.2 now",
        "nu: 0.02 in the file, 0.5 now",
        "boundary of x: x: periodic in the file, x: outflow now",
        "f: a function of space and time in the file, 2 now",
    ] {
        assert!(changed.iter().any(|line| line == expected), "{changed:?} has no {expected}");
    }
    // And the last time step, which the other run does not have.
    assert_eq!(changed.len(), 4, "{changed:?}");
    let mut third = builder::<f64>(&system).dt(2e-3).build().unwrap();
    assert_eq!(third.restore(&temp.0).unwrap().changed, ["dt: 0.001 in the file, 0.002 now"]);
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let temp = Temp::new("refused");
    let system = system();
    let mut first = builder::<f64>(&system).dt(1e-3).build().unwrap();
    start(&mut first);
    first.save_npz(&temp.0).unwrap();

    let refused = |error: stencil_runtime::Error, expected: &str| {
        let text = error.to_string();
        assert!(text.contains(expected), "{text:?} has no {expected:?}");
    };
    let mut single = builder::<f32>(&system).dt(1e-3).build().unwrap();
    refused(
        single.restore(&temp.0).unwrap_err(),
        "`u_x` is f64 array of shape [1, 12, 19], and this run computes in f32; run in the precision of the file",
    );
    let mut larger = builder::<f64>(&system).cells([20, 12, 1]).dt(1e-3).build().unwrap();
    start(&mut larger);
    let before = bits(&larger);
    refused(
        larger.restore(&temp.0).unwrap_err(),
        "`u_x` has (1, 12, 20) values [z, y, x], not (1, 12, 19)",
    );
    assert_eq!(bits(&larger), before, "nothing was changed");

    let heat = SystemDef::from_text(
        "heat.pde",
        "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }
        scheme s for Heat { space: central<order = 4>; mixed: bidiagonal; time: rk3_williamson; }",
    )
    .unwrap();
    let mut other = Simulation::<f64>::builder(&heat).cells([19, 12, 1]).dt(1e-3).build().unwrap();
    refused(
        other.restore(&temp.0).unwrap_err(),
        "it is a state of `pub system Burgers in 2d`, and this is a run of `pub system Heat in 2d`",
    );

    let words = SYSTEM.replace("= 0.02", "= 0.03");
    let words = SystemDef::from_text("burgers.pde", &words).unwrap();
    let mut other = builder::<f64>(&words).dt(1e-3).build().unwrap();
    refused(
        other.restore(&temp.0).unwrap_err(),
        "it declares `pub system Burgers in 2d` in other words",
    );

    let low = SYSTEM.replace("order = 4", "order = 2");
    let low = SystemDef::from_text("burgers.pde", &low).unwrap();
    let mut other = builder::<f64>(&low).dt(1e-3).build().unwrap();
    refused(other.restore(&temp.0).unwrap_err(), "its scheme is `s: central order 4");
}

#[test]
fn files_that_are_no_states_are_refused() {
    let temp = Temp::new("foreign");
    let mut simulation = builder::<f64>(&system()).dt(1e-3).build().unwrap();
    let mut message = || simulation.restore(&temp.0).unwrap_err().to_string();
    assert!(message().contains("cannot read"), "{}", message());
    std::fs::write(&temp.0, "no archive").unwrap();
    assert!(message().contains("not a ZIP archive, or cut off"), "{}", message());
    let mut file = NpzWriter::create(&temp.0).unwrap();
    file.f64("t", 1.0).unwrap();
    file.finish().unwrap();
    assert!(
        message().contains("it has no entry `system`; give a file that `save_npz` wrote"),
        "{}",
        message()
    );
}

/// A file that was cut off, or has a wrong byte, is never taken for a state.
#[test]
fn damaged_files_are_refused() {
    let temp = Temp::new("damaged");
    let system = system();
    let mut first = builder::<f64>(&system).dt(1e-3).build().unwrap();
    start(&mut first);
    first.save_npz(&temp.0).unwrap();
    let good = std::fs::read(&temp.0).unwrap();
    let mut second = builder::<f64>(&system).dt(1e-3).build().unwrap();
    let zero = bits(&second);
    for end in [0, 100, good.len() / 2, good.len() - 1] {
        std::fs::write(&temp.0, &good[..end]).unwrap();
        assert!(second.restore(&temp.0).is_err(), "cut at {end}");
    }
    // In each place: in values, in numbers and texts beside them, in headers, in the directory.
    let mut bad = good.clone();
    for at in (0..good.len()).step_by(5).chain(good.len() - 60..good.len()) {
        bad[at] ^= 1 << (at % 8);
        std::fs::write(&temp.0, &bad).unwrap();
        assert!(second.restore(&temp.0).is_err(), "byte {at}");
        bad[at] = good[at];
    }
    // The arrays are whole, but without a seal: another program may have written it again.
    bad.extend(b"end");
    std::fs::write(&temp.0, &bad).unwrap();
    let text = second.restore(&temp.0).unwrap_err().to_string();
    assert!(text.contains("its end is no checksum of its bytes"), "{text}");
    assert_eq!(bits(&second), zero);
    std::fs::write(&temp.0, &good).unwrap();
    second.restore(&temp.0).unwrap();
}

/// The last length of adaptive steps belongs to the state: a run that is already at its end has made none.
#[test]
fn a_state_knows_its_last_time_step() {
    let temp = Temp::new("last");
    let system = system();
    let build = || builder::<f64>(&system).cfl(0.4).build().unwrap();
    let mut first = build();
    start(&mut first);
    first.run(3, |_, _| ()).unwrap();
    first.save_npz(&temp.0).unwrap();
    let saved = std::fs::read(&temp.0).unwrap();
    let mut second = build();
    second.restore(&temp.0).unwrap();
    assert_eq!(second.dt().to_bits(), first.dt().to_bits());
    second.save_npz(&temp.0).unwrap();
    assert_eq!(std::fs::read(&temp.0).unwrap(), saved);
}

/// Automatic steps find their length anew every 32 steps: a state of such a step has the length of the one before.
#[test]
fn automatic_steps_go_on_where_their_length_is_found_anew() {
    // With speeds each step would have a length of its own.
    let text = SYSTEM.replace("cfl { advective: norm(u) + abs(f); diffusive: nu }", "");
    let system = SystemDef::from_text("burgers.pde", &text).unwrap();
    let build = || builder::<f64>(&system).param("nu", 0.2).auto_step().build().unwrap();
    for step in [31, 32, 33] {
        let temp = Temp::new(&format!("automatic-{step}"));
        let mut whole = build();
        start(&mut whole);
        whole.run(step, |_, _| ()).unwrap();
        whole.save_npz(&temp.0).unwrap();
        let before = whole.dt();
        whole.run(3, |_, _| ()).unwrap();
        assert_ne!(whole.dt() == before, step < 33, "{step}");
        let mut second = build();
        second.restore(&temp.0).unwrap();
        second.run(3, |_, _| ()).unwrap();
        assert_eq!(bits(&second), bits(&whole), "{step}");
    }
}

#[test]
fn a_state_of_a_later_version_is_refused() {
    let temp = Temp::new("version");
    let system = system();
    let mut first = builder::<f64>(&system).dt(1e-3).build().unwrap();
    start(&mut first);
    first.set_run_id("a name");
    first.save_npz(&temp.0).unwrap();
    let mut second = builder::<f64>(&system).dt(1e-3).build().unwrap();
    second.restore(&temp.0).unwrap();
    assert_eq!(second.run_id(), Some("a name"));
    // A version that is not known, whatever else the file holds.
    let mut file = NpzWriter::create(&temp.0).unwrap();
    file.u64("state_version", 2).unwrap();
    file.finish().unwrap();
    let error = second.restore(&temp.0).unwrap_err().to_string();
    assert!(error.contains("of version 2") && error.contains("up to 1"), "{error}");
    assert!(error.contains("the version of stencil that wrote it"), "{error}");
}
