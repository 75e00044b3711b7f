//! Steps taken apart: their parts are timed, and nothing changes.

use stencil_runtime::{Engine, Simulation, Source};

use crate::runs::{bits, text, there_is_a_card};

/// Returns water that leaves its range in each step: fluxes are repaired, and counted.
fn water(engine: Engine) -> Simulation<f64> {
    let system = text(
        "pub system Water in 1d { conserved h: scalar where h > 0; conserved m: vector;
            flux h -> m; flux m -> outer(m, m/h) + 5*h^2*I; }
        scheme s for Water { reconstruct: weno5; riemann: hll; time: ssprk2; }",
    );
    let new = Simulation::<f64>::builder(&system).cells([200, 1, 1]);
    let new = new.extent([1.0; 3]).cfl(0.4).engine(engine);
    let mut simulation = new.build().unwrap();
    let is_wet = |x: f64| (0.3..0.5).contains(&x);
    simulation.set("h", |x, _, _| if is_wet(x) { 1.0 } else { 1e-6 }).unwrap();
    simulation.set("m_x", |x, _, _| if is_wet(x) { 100.0 } else { 1e-4 }).unwrap();
    simulation
}

/// A source that only the host can evaluate, in each substep; and a step whose length the host finds.
#[test]
fn steps_with_the_host_have_no_parts() {
    let system = text(
        "pub system Heated in 1d { field q: scalar; source f: scalar; ddt(q) = lap(q) + f;
            cfl { diffusive: 1 + f } }
        scheme s for Heated { space: central<order = 2>; time: rk3_williamson; }",
    );
    let engine = if there_is_a_card() { Engine::Cuda } else { Engine::Rows };
    let new = || Simulation::<f64>::builder(&system).cells([32, 1, 1]).engine(engine);
    let function = Source::unsteady(|_, _, _, t| 0.1 * t);
    for new in
        [new().dt(1e-4).source("f", function), new().cfl(0.1).source("f", Source::text("0.1 * t"))]
    {
        let mut simulation = new.build().unwrap();
        simulation.set("q", |x, _, _| x.sin()).unwrap();
        simulation.run(2, |_, _| ()).unwrap();
        assert!(simulation.part_times().unwrap().is_empty());
    }
}

#[test]
fn what_is_repaired_is_that_of_now_and_not_of_timings() {
    let processor = repaired(Engine::Rows);
    if there_is_a_card() {
        assert_eq!(repaired(Engine::Cuda), processor);
    }
}

/// Returns the bits and the repairs after some steps, amid which parts are timed.
fn repaired(engine: Engine) -> (Vec<u64>, u64) {
    let state = |run: &Simulation<f64>| (bits(run), run.repairs().unwrap().unwrap().sum());
    let (mut timed, mut plain) = (water(engine), water(engine));
    for run in [&mut timed, &mut plain] {
        run.run(5, |_, _| ()).unwrap();
    }
    let before = state(&timed);
    assert!(before.1 > 0, "nothing was repaired");
    let times = timed.part_times().unwrap();
    assert_eq!(times.is_empty(), timed.card().is_none());
    assert_eq!(state(&timed), before);
    for run in [&mut timed, &mut plain] {
        run.run(5, |_, _| ()).unwrap();
    }
    let after = state(&timed);
    // Counting goes on from where it was.
    assert!(after.1 > before.1);
    assert_eq!(after, state(&plain));
    after
}
