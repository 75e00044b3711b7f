//! A run that goes on from another one in memory, as from its file.

use stencil_runtime::{
    Axis, Boundary, Builder, Engine, Error, Number, Simulation, Source, SystemDef,
};

fn builder<T: Number>(text: &str, engine: Engine) -> Builder<T> {
    let system = SystemDef::from_text("spread.pde", text).unwrap();
    Simulation::builder(&system).cells([19, 12, 1]).engine(engine)
}

const SPREAD: &str = "pub system Spread in 2d {
    field q: scalar; field v: vector; param k: real = 0.02; source f: scalar;
    ddt(q) = k * lap(q) - div(v) + f;
    ddt(v) = -grad(q) - k*v;
    cfl { advective: 1; diffusive: k }
}";

/// Fixed and adaptive steps, sources that change with time, walls: with another parameter, on another engine and
/// on two patches the bits are those of a restart.
#[test]
fn a_run_that_is_taken_over_has_the_bits_of_a_restart() {
    let paces: [fn(Builder<f64>) -> Builder<f64>; 2] = [|run| run.dt(2e-3), |run| run.cfl(0.4)];
    for (at, pace) in paces.into_iter().enumerate() {
        let build = |k: f64, engine| {
            let run = builder(SPREAD, engine).boundary(Axis::Y, Boundary::wall()).param("k", k);
            pace(run.source("f", Source::unsteady(|x, _, _, t| (x - 3.0 * t).cos())))
        };
        let mut first = build(0.02, Engine::Rows).build().unwrap();
        first.set("q", |x, y, _| (7.0 * x + y).sin()).unwrap();
        first.run(5, |_, _| ()).unwrap();
        let path = std::env::temp_dir().join(format!("handover-{}-{at}.npz", std::process::id()));
        first.save_npz(&path).unwrap();
        let mut restored = build(0.03, Engine::Rows).build().unwrap();
        restored.restore(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let mut taken = build(0.03, Engine::Cpu).patches([2, 1, 1]).build().unwrap();
        taken.go_on_from(&mut first).unwrap();
        for run in [&mut restored, &mut taken] {
            run.run(4, |_, _| ()).unwrap();
        }
        assert_eq!(taken.step_count(), 9);
        assert_eq!((taken.t(), taken.dt()), (restored.t(), restored.dt()));
        assert!(taken.bits().unwrap() == restored.bits().unwrap(), "pace {at}");
    }
}

#[test]
fn other_cells_and_other_systems_are_refused() {
    let mut first = builder::<f64>(SPREAD, Engine::Cpu).source("f", 0.0).dt(1e-3).build().unwrap();
    let other = builder::<f64>(SPREAD, Engine::Cpu).source("f", 0.0).dt(1e-3).cells([12, 19, 1]);
    let error = other.build().unwrap().go_on_from(&mut first).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
    let heat = "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); }";
    let mut heat = builder::<f64>(heat, Engine::Cpu).dt(1e-5).build().unwrap();
    let error = heat.go_on_from(&mut first).unwrap_err().to_string();
    assert!(error.contains("`v_x`"), "{error}");
}
