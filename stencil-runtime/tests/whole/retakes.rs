//! Steps that turn out too long.

use stencil_runtime::{Simulation, SystemDef};

use crate::runs::{bits, text};

/// Grows ever faster, and is as fast as it is large.
fn burst() -> SystemDef {
    text(
        "pub system Burst in 1d { field q: scalar;
            ddt(q) = q^3 - q * d[x](q);
            cfl { advective: abs(q) } }
        scheme s for Burst { space: central<order = 2>; time: rk3_williamson; }",
    )
}

#[test]
fn a_step_that_turns_out_too_long_is_done_again_shorter() {
    let system = burst();
    let new = || Simulation::<f64>::builder(&system).cells([8, 1, 1]);
    let start = |simulation: &mut Simulation<f64>| {
        let q = |x: f64, _: f64, _: f64| 1.0 + 0.1 * (std::f64::consts::TAU * x).sin();
        simulation.set("q", q).unwrap();
    };
    let mut limited = new().cfl(0.8).cfl_limit(0.85).build().unwrap();
    start(&mut limited);
    limited.step().unwrap();
    let (dt, retaken) = (limited.dt(), limited.retaken());
    assert!(retaken > 0 && limited.step_count() == 1, "{retaken} times");
    // It is a step of that length, from the same values, and fits the speeds at its end.
    let mut given = new().dt(dt).build().unwrap();
    start(&mut given);
    given.step().unwrap();
    assert_eq!(bits(&limited), bits(&given));
    assert_eq!(limited.t(), given.t());
    let fastest = given
        .field("q")
        .unwrap()
        .iter()
        .copied()
        .fold(0.0, f64::max);
    assert!(dt * fastest * 8.0 <= 0.85, "{}", dt * fastest * 8.0);
    // Without the limit it is longer.
    let mut free = new().cfl(0.8).build().unwrap();
    start(&mut free);
    free.step().unwrap();
    assert!(free.dt() > dt && free.retaken() == 0);
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
        (
            new().cfl(0.5).cfl_limit(0.4),
            "no smaller than that of `.cfl(..)`",
        ),
        (
            new().cfl(0.5).cfl_limit(0.9).keep_last(false),
            "leave out `.keep_last(false)`",
        ),
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
    assert!(
        error.to_string().contains("a step was done 8 times"),
        "{error}"
    );
    // The fields are those before the step.
    assert_eq!((hopeless.t(), hopeless.step_count()), (0.0, 0));
    assert!(hopeless.field("q").unwrap().iter().all(|q| *q == 6.0));
}
