//! Steps are at the stability limit, or refused.

use stencil_runtime::compiler::model::check::integrators;
use stencil_runtime::{Axes, Builder, Engine, Error, Simulation, SystemDef, Unstable};

fn system(text: &str) -> SystemDef {
    SystemDef::from_text("test.pde", text).unwrap_or_else(|e| panic!("{e}"))
}

fn heat() -> SystemDef {
    system(
        "pub system Heat in 2d { field q: scalar; param k: real = 2; ddt(q) = k*lap(q) + 0.5*q; }
         scheme s for Heat { space: central<order = 2>; time: euler; }",
    )
}

const GAS: &str = "pub system Gas in 1d {
    conserved rho: scalar where rho > 0;
    conserved m: vector;
    conserved E: scalar;
    let u = m/rho;
    let p = 0.4*(E - dot(m, u)/2) where p > 0;
    flux rho -> m;
    flux m -> outer(m, u) + p*I;
    flux E -> (E + p)*u;
    primitive { rho; u; p; m = rho*u; E = p/0.4 + rho*dot(u, u)/2; }
}
scheme s for Gas { reconstruct: plm; riemann: hll; time: ssprk2; }";

/// Returns a tube with a jump; the sound of its left half has the speed sqrt(1.4).
fn tube(set: impl Fn(Builder<f64>) -> Builder<f64>) -> Simulation<f64> {
    tube_of("repair: none;", set)
}

/// Returns the same, with its ranges kept or not.
fn tube_of(repair: &str, set: impl Fn(Builder<f64>) -> Builder<f64>) -> Simulation<f64> {
    let gas = system(&GAS.replace("time: ssprk2;", &format!("time: ssprk2; {repair}")));
    let builder = Simulation::<f64>::builder(&gas).cells([100, 1, 1]);
    let mut simulation = set(builder).build().unwrap_or_else(|e| panic!("{e}"));
    let left = |x: f64| x < 0.5;
    let rho = |x: f64, _, _| if left(x) { 1.0 } else { 0.125 };
    simulation.set("rho", rho).unwrap();
    let energy = |x: f64, _, _| if left(x) { 2.5 } else { 0.25 };
    simulation.set("E", energy).unwrap();
    simulation
}

fn noisy(simulation: &mut Simulation<f64>, name: &str) {
    let noise = |x: f64, y: f64, _| 1.0 + 1e-3 * (997.0 * x + 771.0 * y).sin();
    simulation.set(name, noise).unwrap();
}

fn largest(simulation: &Simulation<f64>, name: &str) -> f64 {
    let values = simulation.field(name).unwrap();
    values.iter().fold(0.0, |most, v| v.abs().max(most))
}

fn refused(error: Error) -> Unstable {
    match error {
        Error::Unstable(error) => *error,
        other => panic!("{other}"),
    }
}

#[test]
fn a_fixed_step_beyond_the_limit_is_refused_with_the_term_and_a_number_that_runs() {
    let new = |dt: f64| {
        let builder = Simulation::<f64>::builder(&heat()).cells([16, 10, 1]);
        let mut simulation = builder.dt(dt).build().unwrap();
        noisy(&mut simulation, "q");
        simulation
    };
    // h^2 / (2 k) of both axes together.
    let limit = 1.0 / (2.0 * 2.0 * (16.0 * 16.0 + 10.0 * 10.0));
    let mut beyond = new(1.01 * limit);
    let error = refused(beyond.step().unwrap_err());
    assert!((error.limit / limit - 1.0).abs() < 1e-3, "{error}");
    assert_eq!(error.term, "`k * lap(q)` of `ddt(q)`");
    assert_eq!(beyond.step_count(), 0);
    let written: f64 = error.write.parse().unwrap();
    assert!(written < limit && written > 0.95 * limit, "{error}");
    let mut within = new(written);
    within.run(200, |_, _| ()).unwrap();
    // The source makes the mean grow by exp(t/2).
    let grown = (0.5 * within.t()).exp();
    assert!(largest(&within, "q") < 1.01 * grown);
    let mut insisted = Simulation::<f64>::builder(&heat()).cells([16, 10, 1]);
    insisted = insisted.dt(1.1 * limit).unchecked_step(true);
    let mut insisted = insisted.build().unwrap();
    noisy(&mut insisted, "q");
    insisted.run(200, |_, _| ()).unwrap();
    assert!(largest(&insisted, "q") > 1e6);
}

#[test]
fn laws_are_held_to_the_speeds_of_their_waves() {
    let limit = 0.01 / 1.4_f64.sqrt();
    for (repair, limit, term) in [
        ("repair: none;", limit, "the advective speed"),
        // A wave crosses half of a cell.
        ("", 0.5 * limit, "the advective speed, keeping rho > 0 and p > 0,"),
    ] {
        let tube = |set: &dyn Fn(Builder<f64>) -> Builder<f64>| tube_of(repair, set);
        let error = refused(tube(&|b| b.dt(0.1)).step().unwrap_err());
        assert!((error.limit / limit - 1.0).abs() < 1e-2, "{error}");
        assert_eq!(error.term, term);
        tube(&|b| b.dt(0.9 * limit)).step().unwrap();
        let error = refused(tube(&|b| b.cfl(1.3)).step().unwrap_err());
        assert!(error.number.contains("cfl(0.99)"), "{error}");
        tube(&|b| b.cfl(1.0)).step().unwrap();
    }
    let mut automatic = tube_of("", |b| b.auto_step());
    automatic.step().unwrap();
    assert!((automatic.dt() / (0.4 * limit) - 1.0).abs() < 1e-2);
}

#[test]
fn growth_without_bound_stops_on_every_engine_in_the_same_step() {
    let heat = system(
        "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
         scheme s for Heat { space: central<order = 2>; time: euler; }",
    );
    let end = |engine| {
        let builder = Simulation::<f64>::builder(&heat).cells([16, 1, 1]);
        let builder = builder.dt(0.1).unchecked_step(true).engine(engine);
        let mut simulation = builder.build().unwrap();
        noisy(&mut simulation, "q");
        match simulation.run(1000, |_, _| ()).unwrap_err() {
            Error::NotFinite(error) => *error,
            other => panic!("{other}"),
        }
    };
    let found = end(Engine::Rows);
    assert!(found.most > 0.9e30 && found.most < 1.1e30, "{found}");
    assert!(found.step < 40, "{found}");
    assert_eq!(found, end(Engine::Cpu));
}

#[test]
fn what_is_stable_for_no_step_is_refused_and_integrators_that_are_named() {
    let text = |time: &str, more: &str| {
        system(&format!(
            "pub system Wind in 1d {{ field q: scalar; ddt(q) = -3*d[x](q); {more} }}
             scheme s for Wind {{ space: central<order = 4>; time: {time}; }}"
        ))
    };
    let unstable = ["euler", "ssprk2"];
    for time in unstable {
        let builder = Simulation::<f64>::builder(&text(time, "")).cells([20, 1, 1]);
        let error = builder.dt(1e-3).build().unwrap().step().unwrap_err();
        let Error::NoStableStep { term, stable, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(term, "`-3 * d[x](q)` of `ddt(q)`");
        let all = integrators().into_iter().filter(|name| !unstable.contains(name));
        assert_eq!(*stable, all.collect::<Vec<_>>().join(", "));
        let declared = text(time, "cfl { advective: 3 }");
        let builder = Simulation::<f64>::builder(&declared).cells([20, 1, 1]);
        let error = builder.cfl(0.5).build().unwrap_err();
        assert!(matches!(error, Error::NoStableStep { .. }), "{error}");
    }
    let stable = integrators().into_iter();
    for time in stable.filter(|name| !unstable.contains(name)) {
        let builder = Simulation::<f64>::builder(&text(time, "")).cells([20, 1, 1]);
        builder.dt(0.01).build().unwrap().step().unwrap();
    }
}

/// Hyperdiffusion of a declared speed runs at its limit, and grows beyond it.
#[test]
fn one_is_the_limit_for_every_declared_power() {
    let systems = [
        ("field q: scalar; ddt(q) = -lap(lap(q)); cfl { hyperdiffusive: 1 }", 2, "euler"),
        ("field q: scalar; ddt(q) = -lap(lap(q)); cfl { hyperdiffusive: 1 }", 1, "rk4"),
        ("field q: scalar; ddt(q) = lap(q); cfl { diffusive: 1 }", 2, "ssprk3"),
        ("field q: scalar; ddt(q) = -d[x](q); cfl { advective: 1 }", 1, "rk3_williamson"),
        ("field q: scalar; ddt(q) = -d3[x](q); cfl { dispersive: 1 }", 1, "rk4"),
    ];
    for (body, dimension, time) in systems {
        let text = format!(
            "pub system S in {dimension}d {{ {body} }}
             scheme s for S {{ space: central<order = 4>; time: {time}; }}"
        );
        let cells = [16, if dimension == 2 { 12 } else { 1 }, 1];
        let new = |number: f64| {
            let builder = Simulation::<f64>::builder(&system(&text)).cells(cells);
            let builder = builder.cfl(number).unchecked_step(true);
            let mut simulation = builder.build().unwrap();
            noisy(&mut simulation, "q");
            simulation
        };
        let mut within = new(0.99);
        within.run(300, |_, _| ()).unwrap();
        assert!(largest(&within, "q") < 1.1, "{text}: {}", largest(&within, "q"));
        let mut beyond = new(1.3);
        let ended = beyond.run(600, |_, _| ());
        let grown = ended.is_err() || largest(&beyond, "q") > 10.0;
        assert!(grown, "{text}: {}", largest(&beyond, "q"));
    }
}

#[test]
fn the_strictest_axis_may_be_taken_alone() {
    let heat = system(
        "pub system Heat in 2d { field q: scalar; ddt(q) = lap(q); cfl { diffusive: 1 } }
         scheme s for Heat { space: central<order = 2>; time: euler; }",
    );
    let dt = |axes: Axes| {
        let builder = Simulation::<f64>::builder(&heat).cells([20, 10, 1]);
        let mut simulation = builder.cfl(0.5).cfl_axes(axes).build().unwrap();
        simulation.step().unwrap();
        simulation.dt()
    };
    let (sum, max) = (dt(Axes::Sum), dt(Axes::Max));
    assert!((sum / (0.25 / 500.0) - 1.0).abs() < 1e-6, "{sum}");
    assert!((max / (0.25 / 400.0) - 1.0).abs() < 1e-6, "{max}");
}

/// Noise that a wind along x carries runs at h/u on a mesh of the plane, for any spacing along y, and grows beyond it.
#[test]
fn a_wind_along_an_axis_is_held_to_that_axis() {
    let wind = |cfl: &str| {
        system(&format!(
            "pub system Wind in 2d {{ conserved q: scalar; flux q -> [3*q, 0*q]; {cfl} }}
             scheme s for Wind {{ reconstruct: constant; riemann: rusanov; time: euler; }}"
        ))
    };
    let after = |cfl: &str, number: f64| {
        let builder = Simulation::<f64>::builder(&wind(cfl)).cells([16, 32, 1]);
        let builder = builder.cfl(number).unchecked_step(true);
        let mut simulation = builder.build().unwrap();
        noisy(&mut simulation, "q");
        let ended = simulation.run(600, |_, _| ());
        let grown = ended.is_err() || largest(&simulation, "q") > 10.0;
        (simulation.dt(), grown)
    };
    let limit = 1.0 / (3.0 * 16.0);
    for cfl in ["", "cfl { advective: [3, 0] }"] {
        let (dt, grown) = after(cfl, 1.0);
        assert!((dt / limit - 1.0).abs() < 1e-3 && !grown, "{cfl}: {dt}");
        assert!(after(cfl, 1.2).1, "{cfl}");
    }
    // A number counts for every direction.
    let (dt, _) = after("cfl { advective: 3 }", 1.0);
    assert!((dt / limit - 1.0 / 3.0).abs() < 1e-3, "{dt}");
    let builder = Simulation::<f64>::builder(&wind("")).cells([16, 32, 1]);
    let error = refused(builder.dt(0.1).build().unwrap().step().unwrap_err());
    assert_eq!(error.term, "the advective speed along x");
}

/// Burgers' equation steepens, so its limit falls; without a `cfl` block it is found in time.
#[test]
fn automatic_steps_need_no_speeds_and_follow_the_state() {
    let burgers = system(
        "pub system Burgers in 1d { field u: scalar; ddt(u) = -u*d[x](u) + 0.01*lap(u) + 2*u; }
         scheme s for Burgers { space: central<order = 2>; time: rk3_williamson; }",
    );
    let run = |engine| {
        let builder = Simulation::<f64>::builder(&burgers).cells([64, 1, 1]);
        let mut simulation = builder.auto_step().engine(engine).build().unwrap();
        let wave = |x: f64, _, _| 0.1 * (std::f64::consts::TAU * x).sin();
        simulation.set("u", wave).unwrap();
        simulation.step().unwrap();
        let first = simulation.dt();
        simulation.run_until(2.0, |_, _| ()).unwrap();
        (first, simulation)
    };
    let (first, simulation) = run(Engine::Rows);
    let fastest = largest(&simulation, "u");
    assert!(fastest > 0.5 && fastest < 10.0, "{fastest}");
    assert!(simulation.dt() < first && simulation.dt() > 0.1 * first);
    let (_, other) = run(Engine::Cpu);
    assert_eq!(simulation.field("u").unwrap(), other.field("u").unwrap());
    // Automatic steps of a law follow the speeds of its waves.
    let mut tube = tube(|b| b.auto_step());
    tube.step().unwrap();
    assert!((tube.dt() / (0.8 * 0.01 / 1.4_f64.sqrt()) - 1.0).abs() < 1e-2);
}
