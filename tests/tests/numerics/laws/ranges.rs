//! Fluxes are repaired if a cell would leave its range, there alone, and conserve.

use stencil_runtime::{Engine, Error, Number, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::EULER;

/// Returns a gas whose density and pressure stay positive.
fn gas(dimension: usize, scheme: &str) -> SystemDef {
    let kept = EULER
        .replace("rho: scalar;", "rho: scalar where rho > 0;")
        .replace("dot(m, u)/2);\n    let c", "dot(m, u)/2) where p > 0;\n    let c");
    let text = format!("{kept} scheme s for Euler {{ {scheme} time: ssprk3; }}");
    let system = SystemDef::from_text_in("Euler", &text, Some(dimension)).or_panic();
    assert_eq!(system.model().ranges_text(), "rho > 0 and p > 0");
    system
}

/// Makes a dense blob in a stream of Mach number 845 in the direction of `sign`; a millionth of its energy is heat.
fn stream(system: &SystemDef, sign: f64) -> Simulation<f64> {
    let n = 200;
    let density = |x: f64| {
        let cell = (x * n as f64) as usize;
        let along = if sign > 0.0 { cell } else { n - 1 - cell };
        if (60..100).contains(&along) { 10.0 } else { 1.0 }
    };
    let mut simulation = Simulation::<f64>::builder(system).cells([n, 1, 1]).centered(true);
    // Rusanov's fluxes keep ranges while a wave crosses no more than half of a cell: then it is the limit.
    let number = if system.model().repairs() { 1.0 } else { 0.3 };
    simulation = simulation.extent([1.0; 3]).cfl(number);
    let mut simulation = simulation.build().or_panic();
    let set = |s: &mut Simulation<f64>, name, of: &(dyn Fn(f64) -> f64 + Sync)| {
        s.set(name, |x, _, _| of(x)).or_panic();
    };
    set(&mut simulation, "rho", &density);
    set(&mut simulation, "m_x", &|x| sign * 100.0 * density(x));
    set(&mut simulation, "e", &|x| 0.01 / 0.4 + density(x) * 5000.0);
    simulation
}

#[test]
fn a_cold_stream_stays_positive_and_conserves() {
    let scheme = "reconstruct: weno5; riemann: hll;";
    let mut bare = stream(&gas(1, &format!("{scheme} repair: none;")), 1.0);
    let failed = bare.run(200, |_, _| ()).unwrap_err();
    assert!(matches!(failed, Error::NotFinite(bad) if bad.ranges.is_none()));
    assert_eq!(bare.repairs().unwrap(), None);
    let system = gas(1, scheme);
    let [mut right, mut left] = [1.0, -1.0].map(|sign| stream(&system, sign));
    let sums = |s: &Simulation<f64>| ["rho", "e"].map(|name| s.flat(name).iter().sum::<f64>());
    let before = sums(&right);
    for simulation in [&mut right, &mut left] {
        simulation.run(200, |_, _| ()).or_panic();
    }
    for (after, before) in sums(&right).into_iter().zip(before) {
        assert!((after / before - 1.0).abs() < 1e-13, "{after} {before}");
    }
    let [rho, m, e] = ["rho", "m_x", "e"].map(|name| right.flat(name));
    let states = rho.iter().zip(m.iter().zip(&e));
    assert!(states.clone().all(|(rho, (m, e))| *rho > 0.0 && e - m * m / (2.0 * rho) > 0.0));
    let repaired = right.repairs().unwrap().unwrap().sum();
    assert!(repaired > 0 && repaired < 200 * 3 * 200 / 2, "{repaired}");
    // The mirror image has the same bits.
    for (name, sign) in [("rho", 1.0), ("m_x", -1.0), ("e", 1.0)] {
        let mirrored: Vec<f64> = left.flat(name).iter().rev().map(|v| sign * v).collect();
        assert!(right.flat(name) == mirrored, "{name}");
    }
}

#[test]
fn nothing_is_repaired_where_nothing_leaves_its_range() {
    let run = |repair: &str, dimension: usize| {
        let system =
            gas(dimension, &format!("reconstruct: weno_z in primitive; riemann: hllc; {repair}"));
        let mut simulation =
            Simulation::<f64>::builder(&system).cells([16, 12, 1]).dt(2e-3).build().unwrap();
        simulation.set("rho", |x, y, _| 1.0 + 0.3 * (x + y).sin()).unwrap();
        simulation.set("m_x", |x, _, _| 0.2 * x.cos()).unwrap();
        simulation.set("e", |_, y, _| 2.5 + 0.2 * y.sin()).unwrap();
        simulation.run(5, |_, _| ()).unwrap();
        let repairs = simulation.repairs().unwrap().map(|repairs| repairs.sum());
        (simulation.bits().unwrap(), repairs)
    };
    let ((kept, repairs), (bare, none)) = (run("", 2), run("repair: none;", 2));
    assert!(kept == bare);
    assert_eq!((repairs, none), (Some(0), None));
}

/// A run stops if no flux keeps a range, and the message names the cell, the value and the range.
#[test]
fn a_range_that_is_left_all_the_same_stops_the_run() {
    let system = gas(1, "reconstruct: weno5; riemann: hll;");
    let mut simulation = Simulation::<f64>::builder(&system)
        .cells([32, 1, 1])
        .dt(0.5)
        .unchecked_step(true)
        .build()
        .unwrap();
    simulation.set("rho", |x, _, _| 1.0 + 0.9 * x.sin()).unwrap();
    simulation.set("m_x", |x, _, _| 3.0 * x.cos()).unwrap();
    simulation.set("e", |_, _, _| 60.0).unwrap();
    let failed = simulation.run(3, |_, _| ()).unwrap_err();
    let text = failed.to_string();
    assert!(matches!(failed, Error::NotFinite(_)), "{text}");
    let told = text.contains("The step makes ") && text.contains(", which is kept > 0");
    assert!(told && text.contains("even with repaired fluxes"), "{text}");
    assert!(!text.contains("square root"), "{text}");
}

/// Of two ranges the message names the one that is left, with its value.
#[test]
fn a_range_is_told_by_its_own_name() {
    for (drain, told, kept) in [
        ("ddt(rho) = -3;", "makes rho = -0.5, which is kept > 0", "p ="),
        ("ddt(e) = -30;", "makes p = -", "rho ="),
    ] {
        let text = EULER
            .replace("rho: scalar;", "rho: scalar where rho > 0;")
            .replace("/2);\n    let c", "/2) where p > 0;\n    let c")
            .replace("    primitive", &format!("    {drain}\n    primitive"));
        let text = format!("{text} scheme s for Euler {{ riemann: hll; time: ssprk3; }}");
        let system = SystemDef::from_text_in("Euler", &text, Some(1)).or_panic();
        assert_eq!(system.model().ranges_text(), "rho > 0 and p > 0");
        let builder = Simulation::<f64>::builder(&system).cells([8, 1, 1]);
        let mut simulation = builder.dt(0.5).unchecked_step(true).build().unwrap();
        simulation.set("rho", |_, _, _| 1.0).unwrap();
        simulation.set("e", |_, _, _| 2.5).unwrap();
        let text = simulation.step().unwrap_err().to_string();
        assert!(text.contains(told) && !text.contains(kept), "{text}");
    }
}

#[test]
fn stages_that_are_no_means_of_euler_steps_keep_no_range() {
    let text = EULER.replace("rho: scalar;", "rho: scalar where rho > 0;");
    for (time, keeps) in [
        ("euler", true),
        ("ssprk2", true),
        ("ssprk3", true),
        ("rk4", false),
        ("rk3_williamson", false),
        ("rk3_williamson<storage = accumulator>", false),
    ] {
        let text = format!("{text} scheme s for Euler {{ time: {time}; }}");
        let system = SystemDef::from_text_in("Euler", &text, Some(1));
        let refused = system.err().map(|e| e.to_string());
        assert_eq!(refused.is_none(), keeps, "{time}: {refused:?}");
        assert!(refused.is_none_or(|text| text.contains("P0318")), "{time}");
    }
}

/// Terms beside the flux are checked even if axes are swept, and a parameter may have the name of the count.
#[test]
fn a_rate_that_leaves_a_range_stops_the_run() {
    for sweep in ["unsplit", "dimensional"] {
        let text = format!(
            "system Drain in 2d {{
                conserved h: scalar where h > 0.5; conserved m: vector; param repairs: real = 1;
                flux h -> m; flux m -> outer(m, m/h) + h^2/2*I; ddt(h) = -repairs;
                waves {{ flow: m/h; sound: sqrt(h); }}
            }}
            scheme s for Drain {{ reconstruct: plm; riemann: hll; time: euler; sweep: {sweep}; }}"
        );
        let system = SystemDef::from_text("Drain", &text).or_panic();
        let builder = Simulation::<f64>::builder(&system).cells([8, 6, 1]);
        let mut simulation = builder.dt(0.125).unchecked_step(true).build().unwrap();
        simulation.set("h", |_, _, _| 1.0).unwrap();
        let failed = simulation.run(9, |_, _| ()).unwrap_err();
        assert!(matches!(failed, Error::NotFinite(_)), "{failed}");
        let text = failed.to_string();
        assert!(text.contains("makes h = 0.5, which is kept > 0.5"), "{text}");
        assert_eq!(simulation.step_count(), 3, "{sweep}");
        assert!(simulation.flat("h").iter().all(|h| *h == 0.625), "{sweep}");
    }
}

/// Returns a quantity that flows with one speed and is never negative; `more` is added to the system.
fn emptied(more: &str, repair: &str) -> SystemDef {
    let text = format!(
        "system Emptied in 1d {{
            conserved q: scalar where q >= 0; param a: real = 1;
            flux q -> [a*q]; waves {{ flow: [a]; }} {more}
        }}
        scheme s for Emptied {{ reconstruct: constant; riemann: rusanov; time: euler; {repair} }}"
    );
    SystemDef::from_text("emptied.pde", &text).or_panic()
}

/// Returns the values after one step in which each cell lets out all that it holds.
fn after_a_cell<T: Number>(
    system: &SystemDef,
    engine: Engine,
    (n, speed): (usize, f64),
) -> Result<Vec<f64>, Error> {
    let dt = 1.0 / n as f64 / speed;
    let builder = Simulation::<T>::builder(system).cells([n, 1, 1]).engine(engine);
    let builder = builder.dt(dt).unchecked_step(true).param("a", speed);
    let mut simulation = builder.build()?;
    let value = |x: f64| 1.0 + (37.0 * x).sin() / 3.0;
    // Every other cell is empty.
    let filled = |x: f64| ((x * n as f64).round() as usize).is_multiple_of(2);
    simulation.set("q", |x, _, _| if filled(x) { value(x) } else { 0.0 })?;
    simulation.step()?;
    Ok(simulation.flat("q"))
}

fn rounding_is_no_violation<T: Number>() {
    let (kept, bare) = (emptied("", ""), emptied("", "repair: none;"));
    let mut below = 0;
    for case in (3..40).flat_map(|n| [0.3, 0.7, 1.1].map(|speed| (2 * n, speed))) {
        let bare = after_a_cell::<T>(&bare, Engine::Rows, case).unwrap();
        let values = after_a_cell::<T>(&kept, Engine::Rows, case);
        let values = values.unwrap_or_else(|e| panic!("{case:?}: {e}"));
        assert_eq!(after_a_cell::<T>(&kept, Engine::Cpu, case).unwrap(), values);
        for (bare, value) in bare.iter().zip(values) {
            // Rounding errors alone, which are put onto the bound.
            assert!(*bare > -1e-6, "{bare}");
            assert_eq!(value, bare.max(0.0), "{case:?}");
            below += usize::from(*bare < 0.0);
        }
    }
    assert!(below > 10, "only {below} values are below zero by rounding");
}

#[test]
fn what_rounding_takes_from_an_emptied_cell_is_no_violation() {
    rounding_is_no_violation::<f64>();
    rounding_is_no_violation::<f32>();
}

/// The terms of a value count, not its size.
#[test]
fn what_is_taken_from_an_empty_cell_is_a_violation() {
    for sink in ["1e-25", "1e-3"] {
        let system = emptied(&format!("ddt(q) = -{sink};"), "");
        for engine in [Engine::Rows, Engine::Cpu] {
            let builder = Simulation::<f64>::builder(&system).cells([8, 1, 1]);
            let mut simulation = builder.engine(engine).dt(0.01).build().unwrap();
            simulation.set("q", |_, _, _| 0.0).unwrap();
            let failed = simulation.step().unwrap_err().to_string();
            let told = failed.contains("The step makes q = -");
            assert!(told && failed.contains("which is kept >= 0"), "{failed}");
        }
    }
}

/// Both ends of a range hold their bounds; a bound that a range does not hold stays one.
#[test]
fn bounds_that_are_not_held_are_left_by_rounding() {
    let full = emptied("", "").model().ranges_text();
    assert_eq!(full, "q >= 0");
    let text = "system Shares in 1d {
        conserved q: scalar where q >= 0 and q <= 1; flux q -> [q]; waves { flow: [1]; } ddt(q) = RATE; }
        scheme s for Shares { reconstruct: constant; riemann: rusanov; time: ssprk2; }";
    for (rate, fails) in [("0*q", false), ("1e-9", true), ("-1e-9", true)] {
        let system = SystemDef::from_text("shares.pde", &text.replace("RATE", rate)).unwrap();
        let builder = Simulation::<f64>::builder(&system).cells([10, 1, 1]);
        let mut simulation = builder.dt(0.03).build().unwrap();
        let full = |x: f64| if x < 0.5 { 1.0 } else { 0.0 };
        simulation.set("q", |x, _, _| full(x)).unwrap();
        let run = simulation.run(40, |_, _| ());
        assert_eq!(run.is_err(), fails, "{rate}");
        let values = simulation.flat("q");
        assert!(values.iter().all(|q| (0.0..=1.0).contains(q)), "{rate}");
    }
}

/// A cell that both of its faces empty at once: each face may take half of its content in one dimension, not all of it. A parabola
/// through full neighbours promises more at both faces than a thin cell has.
#[test]
fn both_faces_of_a_cell_together_take_no_more_than_it_holds() {
    let text = "system Thin in 1d {
            conserved h: scalar where h > 0; conserved m: vector; param g: real = 1e-3;
            let u = m/h;
            flux h -> m; flux m -> outer(m, u) + g*h^2/2*I;
            waves { flow: u; sound: sqrt(g*h); }
        }
        scheme s for Thin { reconstruct: weno5; riemann: hll; time: euler; }";
    let system = SystemDef::from_text("Thin", text).or_panic();
    let n = 16;
    let builder = Simulation::<f64>::builder(&system).cells([n, 1, 1]).centered(true);
    let dt = 0.18 / n as f64;
    let mut simulation = builder.dt(dt).unchecked_step(true).build().unwrap();
    let middle = (n / 2) as f64 + 0.5;
    let side = move |x: f64| (x * n as f64 - middle).round();
    simulation.fill("h", move |x, _, _| if side(x) == 0.0 { 0.15 } else { 1.0 });
    simulation.fill("m_x", move |x, _, _| side(x).clamp(-1.0, 1.0));
    simulation.step().or_panic();
    let h = simulation.flat("h");
    assert!(h.iter().all(|h| *h > 0.0), "{h:?}");
    // Without repair the cell would hold less than nothing.
    let bare =
        SystemDef::from_text("Thin", &text.replace("euler;", "euler; repair: none;")).or_panic();
    let builder = Simulation::<f64>::builder(&bare).cells([n, 1, 1]).centered(true);
    let mut simulation = builder.dt(dt).unchecked_step(true).build().unwrap();
    simulation.fill("h", move |x, _, _| if side(x) == 0.0 { 0.15 } else { 1.0 });
    simulation.fill("m_x", move |x, _, _| side(x).clamp(-1.0, 1.0));
    simulation.step().or_panic();
    let least = simulation.flat("h").into_iter().fold(f64::INFINITY, f64::min);
    println!("{least}");
    assert!((-0.15..0.0).contains(&least), "{least}");
}
