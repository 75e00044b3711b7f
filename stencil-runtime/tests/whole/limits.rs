//! Laws without declared or explicit speeds of waves: their limit is that of the fluxes about the state.

use stencil_runtime::compiler::model::check::integrators;
use stencil_runtime::{Engine, Error, Simulation, SystemDef, Unstable};

fn system(text: &str) -> SystemDef {
    let system = SystemDef::from_text("test.pde", text).unwrap_or_else(|e| panic!("{e}"));
    assert!(!system.has_speeds(), "{text}");
    system
}

fn refused(error: Error) -> Unstable {
    match error {
        Error::Unstable(error) => *error,
        other => panic!("{other}"),
    }
}

/// Returns water with friction, without a declared speed.
fn water(dimension: usize, friction: f64, riemann: &str) -> SystemDef {
    system(&format!(
        "pub system Water in {dimension}d {{
            conserved h: scalar; conserved m: vector; let u = m/h;
            flux h -> m; flux m -> outer(m, u) + h^2/2*I; ddt(m) = {friction}*lap(m); }}
         scheme s for Water {{ space: central<order = 2>; reconstruct: constant; riemann: {riemann}; time: euler; }}"
    ))
}

/// Makes a lake with a wind of 2 and 1 along the axes and waves of speed one.
fn lake(
    system: &SystemDef,
    set: impl Fn(stencil_runtime::Builder<f64>) -> stencil_runtime::Builder<f64>,
) -> Simulation<f64> {
    let plane = system.model().dimension > 1;
    let builder = Simulation::<f64>::builder(system).cells([20, if plane { 10 } else { 1 }, 1]);
    let mut simulation = set(builder).build().unwrap_or_else(|e| panic!("{e}"));
    let noise = |x: f64, y: f64, _| 1.0 + 1e-6 * (997.0 * x + 771.0 * y).sin();
    simulation.set("h", noise).unwrap();
    simulation.set("m_x", |_, _, _| 2.0).unwrap();
    if plane {
        simulation.set("m_y", |_, _, _| 1.0).unwrap();
    }
    simulation
}

fn highest(simulation: &Simulation<f64>) -> f64 {
    let values = simulation.field("h").unwrap();
    values.iter().fold(0.0, |most, v| v.max(most))
}

#[test]
fn a_law_with_friction_is_held_to_its_fluxes_and_its_friction() {
    // 3 * 20 through faces, and 4 * 20^2 / 2 of the friction.
    for (friction, term) in [
        (1e-3, "the fastest wave of the fluxes along x"),
        (1.0, "the right-hand side beside the fluxes"),
    ] {
        let limit = 1.0 / (60.0 + 800.0 * friction);
        let water = water(1, friction, "rusanov");
        let error = lake(&water, |b| b.dt(1.02 * limit)).step().unwrap_err();
        assert_eq!(error.code().map(|code| code.text()), Some("R0401"));
        let error = refused(error);
        assert!((error.limit / limit - 1.0).abs() < 1e-3, "{error}");
        assert_eq!(error.term, term);
        let written: f64 = error.write.parse().unwrap();
        assert!(written < limit && written > 0.98 * limit, "{error}");
        let mut within = lake(&water, |b| b.dt(written));
        assert_eq!(within.check_length().unwrap(), None);
        within.run(200, |_, _| ()).unwrap();
        assert!(highest(&within) < 1.001);
        let mut automatic = lake(&water, |b| b.auto_step());
        automatic.step().unwrap();
        assert!((automatic.dt() / (0.8 * limit) - 1.0).abs() < 1e-3);
    }
}

#[test]
fn axes_of_a_law_add_up() {
    let water = water(2, 1e-3, "rusanov");
    let limit = 1.0 / (3.0 * 20.0 + 2.0 * 10.0 + 1e-3 * 2.0 * (400.0 + 100.0));
    let error = refused(lake(&water, |b| b.dt(1.02 * limit)).step().unwrap_err());
    assert!((error.limit / limit - 1.0).abs() < 1e-3, "{error}");
    let mut within = lake(&water, |b| b.dt(0.99 * limit));
    within.run(200, |_, _| ()).unwrap();
    assert!(highest(&within) < 1.001);
    let mut automatic = lake(&water, |b| b.auto_step());
    automatic.run(40, |_, _| ()).unwrap();
    assert!((automatic.dt() / (0.8 * limit) - 1.0).abs() < 1e-2);
}

/// FORCE along two axes is the mean of steps along one that are twice as long, and smears by half of the stability
/// limit: 2 * 60 of waves and 2 * 1 of friction.
#[test]
fn solvers_that_smear_by_the_step_are_held_to_the_strictest_axis() {
    let (water, limit) = (water(2, 1e-3, "force"), 1.0 / (120.0 + 2.0));
    let mut beyond = lake(&water, |b| b.dt(1.02 * limit));
    let error = refused(beyond.step().unwrap_err());
    assert!((error.limit / limit - 1.0).abs() < 1e-3, "{error}");
    let mut within = lake(&water, |b| b.dt(0.99 * limit));
    within.run(400, |_, _| ()).unwrap();
    assert!(highest(&within) < 1.001);
    // Rusanov's flux has no limit of its own for both axes together.
    let mut grown = lake(&water, |b| b.dt(0.99 / 81.0).unchecked_step(true));
    assert!(grown.run(400, |_, _| ()).is_err() || highest(&grown) > 2.0);
}

/// Parabolas of Euler steps are stable for no step.
#[test]
fn a_law_that_is_stable_for_no_step_is_refused() {
    let text =
        "pub system Carried in 1d { conserved q: scalar; flux q -> [2*q]; ddt(q) = 0.01*lap(q); }
        scheme s for Carried { reconstruct: weno5; riemann: force; time: euler; }";
    let carried = system(text);
    let new = || Simulation::<f64>::builder(&carried).cells([20, 1, 1]);
    let error = new().dt(1e-6).build().unwrap().step().unwrap_err();
    assert_eq!(error.code().map(|code| code.text()), Some("R0402"));
    let Error::NoStableStep { term, stable, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(term, "the fastest wave of the fluxes along x");
    assert_eq!(*stable, integrators()[1..].join(", "));
    let error = new().auto_step().build().unwrap().step().unwrap_err();
    assert!(matches!(error, Error::NoStableStep { .. }), "{error}");
}

/// No limit is known about values without finite derivatives; growth is stopped.
#[test]
fn a_step_that_cannot_be_checked_is_told_of() {
    let text =
        "pub system Stiff in 1d { conserved q: scalar; flux q -> [sqrt(q)]; ddt(q) = 1e6*lap(q); }
        scheme s for Stiff { reconstruct: constant; riemann: force; time: euler; }";
    let stiff = system(text);
    let new = |value: f64| {
        let builder = Simulation::<f64>::builder(&stiff).cells([8, 1, 1]);
        let mut simulation = builder.dt(1.0).engine(Engine::Rows).build().unwrap();
        simulation.set("q", |_, _, _| value).unwrap();
        simulation
    };
    let mut unknown = new(0.0);
    let why = unknown.check_length().unwrap().unwrap();
    assert!(why.contains("not checked") && why.contains("stopped"), "{why}");
    refused(new(1.0).check_length().unwrap_err());
    let set = unknown.set("q", |x, _, _| if x < 0.5 { 0.0 } else { 1e-9 });
    set.unwrap();
    let ended = unknown.run(100, |_, _| ());
    assert!(matches!(ended, Err(Error::NotFinite(_))));
}
