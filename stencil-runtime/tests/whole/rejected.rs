//! Steps that turn out too long.

use stencil_runtime::compiler::stability::{Axes, speeds};
use stencil_runtime::{Engine, Error, Number, RejectedStep, Simulation, SystemDef};

use crate::runs::{bits, text, there_is_a_card};

/// Returns a system that grows ever faster, with a speed as large as its value.
fn burst() -> SystemDef {
    burst_by("rk3_williamson")
}

fn burst_by(time: &str) -> SystemDef {
    text(&format!(
        "pub system Burst in 1d {{ field q: scalar;
            ddt(q) = q^3 - q * d[x](q);
            cfl {{ advective: abs(q) }} }}
        scheme s for Burst {{ space: central<order = 2>; time: {time}; }}"
    ))
}

/// Returns the same as a conservation law, with its growth beside the flux.
fn burst_through_faces() -> SystemDef {
    text(
        "pub system Burst in 1d { conserved q: scalar;
            flux q -> [q^2/2];
            ddt(q) = q^3; }
        scheme s for Burst { reconstruct: plm<limiter = mc>; riemann: hll; time: ssprk3; }",
    )
}

#[test]
fn a_step_that_turns_out_too_long_is_done_again_shorter() {
    done_again_as_a_shorter_one(&burst());
    done_again_as_a_shorter_one(&burst_by("rk3_williamson<storage = accumulator>"));
    done_again_as_a_shorter_one(&burst_through_faces());
}

fn done_again_as_a_shorter_one(system: &SystemDef) {
    let new = || Simulation::<f64>::builder(system).cells([8, 1, 1]);
    let start = |simulation: &mut Simulation<f64>| {
        let q = |x: f64, _: f64, _: f64| 1.0 + 0.1 * (std::f64::consts::TAU * x).sin();
        simulation.set("q", q).unwrap();
    };
    let mut limited = new().cfl(0.8).cfl_limit(0.85).build().unwrap();
    start(&mut limited);
    limited.step().unwrap();
    let (dt, rejected) = (limited.dt(), limited.rejected_steps());
    assert!(rejected > 0 && limited.step_count() == 1, "{rejected} times");
    // It is a step of that length, from the same values, and fits the speeds at its end.
    let mut given = new().dt(dt).build().unwrap();
    start(&mut given);
    given.step().unwrap();
    assert_eq!(bits(&limited), bits(&given));
    assert_eq!(limited.t(), given.t());
    let fastest = given.field("q").unwrap().iter().copied().fold(0.0, f64::max);
    let rate = speeds(system.model(), given.spacing(), Axes::Sum)[0].rate;
    let number = dt * fastest * rate;
    assert!(number <= 0.85, "{number}");
    // Without the limit it is longer.
    let mut free = new().cfl(0.8).build().unwrap();
    start(&mut free);
    free.step().unwrap();
    assert!(free.dt() > dt && free.rejected_steps() == 0);
    // A run still ends where it is to end.
    limited.run_until(0.2, |_, _| ()).unwrap();
    assert_eq!(limited.t(), 0.2);
}

#[test]
fn limits_that_no_step_can_keep_are_told() {
    let system = burst();
    let new = || Simulation::<f64>::builder(&system).cells([8, 1, 1]);
    for (builder, message) in [
        (new().dt(0.1).cfl_limit(0.9), "add `.cfl(..)`"),
        (new().cfl(0.5).cfl_limit(0.4), "no smaller than that of `.cfl(..)`"),
        (new().cfl(0.5).cfl_limit(0.9).keep_last(false), "leave out `.keep_last(false)`"),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    // The shorter a step, the faster it is at its end.
    let system = text(
        "pub system Hasty in 1d { field q: scalar;
            ddt(q) = q;
            cfl { advective: if t > 0 { 1/t } else { 1 } } }",
    );
    let hopeless = Simulation::<f64>::builder(&system).cells([8, 1, 1]);
    let mut hopeless = hopeless.cfl(0.5).cfl_limit(0.5).build().unwrap();
    hopeless.set("q", |_, _, _| 6.0).unwrap();
    let error = hopeless.step().unwrap_err();
    assert!(error.to_string().contains("a step was done 8 times"), "{error}");
    let why = hopeless.last_rejected().unwrap().clone();
    assert_eq!((why.step, why.t, why.cell), (1, 0.0, [0; 3]));
    let told = format!("as the advective speed was {} in cell [0, 0, 0], at [0.0]", why.value);
    assert!(error.to_string().contains(&told), "{error}");
    assert!(matches!(error, Error::StepRejected { last, .. } if *last == why));
    // The fields are those before the step.
    assert_eq!((hopeless.t(), hopeless.step_count()), (0.0, 0));
    assert!(hopeless.field("q").unwrap().iter().all(|q| *q == 6.0));
}

/// Does a step again from values that are 1, but 2 in one cell or more. Returns it, and the fields after it.
fn after_a_step<T: Number>(
    system: &SystemDef,
    cells: [usize; 3],
    fast: &[[usize; 3]],
) -> (RejectedStep, ndarray::Array3<f64>) {
    let new = || Simulation::<T>::builder(system).cells(cells).extent([2.0, 3.0, 1.0]);
    let start = |mut simulation: Simulation<T>| {
        let mut q = ndarray::Array3::from_elem([cells[2], cells[1], cells[0]], T::from_f64(1.0));
        for [x, y, z] in fast {
            q[[*z, *y, *x]] = T::from_f64(2.0);
        }
        simulation.set_array("q", q.view()).unwrap();
        simulation.step().unwrap();
        simulation
    };
    let limited = start(new().cfl(0.2).cfl_limit(0.2).build().unwrap());
    let last = limited.last_rejected().unwrap().clone();
    assert!(limited.rejected_steps() > 0 && limited.dt() < last.dt);
    let first = start(new().dt(last.dt).build().unwrap());
    (last, first.to_f64("q").unwrap())
}

#[test]
fn the_cell_and_the_speed_that_made_a_step_too_long_are_told() {
    let declared = text(
        "pub system Burst in 2d { field q: scalar; param k: real = 1e-6;
            ddt(q) = q^3;
            cfl { advective: abs(q); diffusive: k } }",
    );
    let (last, q) = after_a_step::<f64>(&declared, [16, 12, 1], &[[12, 7, 0]]);
    assert_eq!((last.step, last.t, last.speed), (1, 0.0, "advective"));
    assert_eq!((last.cell, last.at), ([12, 7, 0], vec![1.5, 1.75]));
    assert_eq!(last.value, q[[0, 7, 12]]);
    // The first of equals, along x before y.
    let (last, _) = after_a_step::<f32>(&declared, [16, 12, 1], &[[2, 9, 0], [9, 5, 0], [4, 9, 0]]);
    assert_eq!(last.cell, [9, 5, 0]);
    // The speed that shortens steps most need not be the larger number.
    let viscous = text(
        "pub system Viscous in 3d { field q: scalar;
            ddt(q) = 10 * q^3;
            cfl { advective: 3 * abs(q); diffusive: q^2 } }",
    );
    let (last, q) = after_a_step::<f64>(&viscous, [6, 9, 5], &[[4, 8, 3]]);
    assert_eq!((last.speed, last.cell), ("diffusive", [4, 8, 3]));
    assert_eq!(last.value, q[[3, 8, 4]].powi(2));
    // A law that declares no speeds.
    let law = text(
        "pub system Kindled in 1d { conserved q: scalar;
            flux q -> [q^2/2];
            ddt(q) = 20 * q^3; }
        scheme s for Kindled { reconstruct: plm<limiter = hybrid, theta = 1.5>; riemann: hll; time: ssprk2; }",
    );
    let (last, q) = after_a_step::<f64>(&law, [20, 1, 1], &[[11, 0, 0]]);
    assert_eq!((last.speed, last.cell), ("advective", [11, 0, 0]));
    assert_eq!(last.value, q[[0, 0, 11]]);
}

#[test]
fn a_card_tells_the_cell_that_the_processor_tells() {
    let system = burst();
    let run = |engine: Engine| {
        let new = Simulation::<f64>::builder(&system).cells([64, 1, 1]);
        let mut simulation = new.cfl(0.8).cfl_limit(0.8).engine(engine).build().unwrap();
        let q = |x: f64, _: f64, _: f64| 1.0 + 0.1 * (std::f64::consts::TAU * x).sin();
        simulation.set("q", q).unwrap();
        simulation.run(5, |_, _| ()).unwrap();
        (bits(&simulation), simulation.last_rejected().unwrap().clone())
    };
    let processor = run(Engine::Rows);
    assert!(processor.1.step > 1);
    if there_is_a_card() {
        assert_eq!(run(Engine::Cuda), processor);
    }
}
