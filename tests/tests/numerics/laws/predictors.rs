//! Methods that forecast half a step: second order in space and time at once, equal in all directions, bounded up to their limits, and
//! as sharp as others at shocks.

use std::f64::consts::TAU;

use stencil_compiler::model::check;
use stencil_runtime::{Axis, Boundary, Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::exact::{GAMMA, Gas, gas};
use super::{ADVECTION, EULER, WATER, error_of_fan, started, with_solver};

/// Returns a law with a scheme.
fn declared(text: &str, dimension: usize, settings: &str) -> SystemDef {
    let name = text.split_whitespace().nth(1).unwrap_or_default();
    let text = format!("{text}\nscheme s for {name} {{ {settings} }}");
    SystemDef::from_text_in(name, &text, Some(dimension)).or_panic()
}

/// Returns a law with every predictor, each with some reconstructions and solvers, with their names.
pub(super) fn predicted(text: &str, dimension: usize) -> Vec<(String, SystemDef)> {
    let made = [
        "plm<limiter = mc> in primitive; riemann: hllc",
        "plm<limiter = koren>; riemann: rusanov",
        "plm<limiter = mc> in characteristic; riemann: roe",
        "plm<limiter = mc> in primitive; riemann: hlle; sweep: strang",
    ];
    let others = [
        "ppm<follow = characteristics> in primitive; riemann: hllc; time: corner_transport;",
        "plm<limiter = van_leer> in fluxes; riemann: rtvd; sweep: alternating; time: van_leer;",
        "waf<limiter = mc>; riemann: hllc; sweep: alternating; time: euler;",
    ];
    let settings = check::predictors()
        .into_iter()
        .flat_map(|time| made.map(|made| format!("reconstruct: {made}; time: {time};")))
        .chain(others.map(|made| format!("reconstruct: {made}")));
    settings.map(|all| (all.clone(), declared(text, dimension, &all))).collect()
}

/// Returns the mean error of the density after sound went a part of its length, along a direction of whole wave numbers, in steps near
/// the limit: the method has no better integrator to hide behind.
fn sound(settings: &str, k: &[f64], n: usize, sign: f64) -> f64 {
    let d = k.len();
    let system = declared(EULER, d, settings);
    let size = k.iter().map(|k| k * k).sum::<f64>().sqrt();
    let c = GAMMA.sqrt();
    let cells = std::array::from_fn(|axis| if axis < d { n } else { 1 });
    let dt = 0.4 / (d as f64 * c * n as f64);
    let mut simulation = started::<f64>(&system, cells, false, Some(dt));
    let small = 1e-6;
    let wave = move |x: [f64; 3], t: f64| {
        let phase: f64 = k.iter().zip(x).map(|(k, x)| k * x).sum();
        small * (TAU * (phase - sign * c * size * t)).cos()
    };
    simulation.fill("rho", |x, y, z| 1.0 + wave([x, y, z], 0.0));
    for (axis, name) in ["m_x", "m_y", "m_z"].into_iter().take(d).enumerate() {
        simulation.fill(name, |x, y, z| sign * c * k[axis] / size * wave([x, y, z], 0.0));
    }
    simulation
        .fill("e", |x, y, z| 1.0 / (GAMMA - 1.0) + GAMMA / (GAMMA - 1.0) * wave([x, y, z], 0.0));
    simulation.steps(n);
    let t = dt * n as f64;
    simulation.error("rho", |x, y, z| 1.0 + wave([x, y, z], t)) / small
}

#[test]
fn sound_is_of_second_order_in_all_directions() {
    for time in check::predictors() {
        let settings = format!(
            "reconstruct: plm<limiter = central> in primitive; riemann: hllc; time: {time};"
        );
        for k in [&[1.0][..], &[1.0, 0.0], &[0.0, 1.0], &[1.0, 1.0], &[1.0, 2.0], &[1.0, 1.0, 0.0]]
        {
            let (few, many) = if k.len() == 3 { (8, 16) } else { (24, 48) };
            let [coarse, fine] = [few, many].map(|n| sound(&settings, k, n, 1.0));
            let back = sound(&settings, k, many, -1.0);
            let order = (coarse / fine).log2();
            println!("{time} {k:?}: {coarse:.3e} {fine:.3e}, order {order:.2}");
            assert!(order > 1.9, "{time} {k:?}: {order}");
            assert!((back / fine - 1.0).abs() < 1e-4, "{time} {k:?}: {fine} {back}");
        }
    }
}

/// Split schemes: sweeps in one order and back, and fluxes that know their own axis alone.
#[test]
fn sweeps_forth_and_back_are_of_second_order() {
    for settings in [
        "reconstruct: waf<limiter = none>; riemann: hllc; time: euler;",
        "reconstruct: waf<limiter = none>; riemann: roe; time: euler;",
        "reconstruct: plm<limiter = central> in primitive; riemann: hllc; sweep: alternating; time: muscl_hancock;",
    ] {
        for k in [&[1.0][..], &[1.0, 2.0]] {
            let [coarse, fine] = [24, 48].map(|n| sound(settings, k, n, 1.0));
            let back = sound(settings, k, 48, -1.0);
            let order = (coarse / fine).log2();
            println!("{settings} {k:?}: {coarse:.3e} {fine:.3e}, order {order:.2}");
            assert!(order > 1.9, "{settings} {k:?}: {order}");
            assert!((back / fine - 1.0).abs() < 1e-4, "{settings} {k:?}: {fine} {back}");
        }
    }
}

/// Parabolas that are traced leave less than a third of the error of transport, and sound keeps its order.
#[test]
fn tracing_bends_what_goes_through_a_face() {
    let made = ["ppm", "ppm<follow = characteristics>"];
    let [plain, traced] = made.map(|made| {
        let settings = format!("reconstruct: {made}; riemann: hll; time: muscl_hancock;");
        let system = declared(ADVECTION, 1, &settings);
        let n = 64;
        let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(0.4 / n as f64));
        let wave = |x: f64| (-(x - 0.5).powi(2) / 0.01).exp();
        simulation.fill("q", |x, _, _| wave(x));
        simulation.steps(5 * n / 2);
        simulation.error("q", |x, _, _| wave(x))
    });
    println!("{plain:.3e} {traced:.3e}");
    assert!(traced < plain / 3.0, "{plain} {traced}");
    for time in ["muscl_hancock", "corner_transport"] {
        let settings = format!(
            "reconstruct: ppm<follow = characteristics> in primitive; riemann: hllc; time: {time};"
        );
        for k in [&[1.0][..], &[1.0, 2.0]] {
            let [coarse, fine] = [24, 48].map(|n| sound(&settings, k, n, 1.0));
            let back = sound(&settings, k, 48, -1.0);
            let order = (coarse / fine).log2();
            println!("{time} {k:?}: {coarse:.3e} {fine:.3e}, order {order:.2}");
            assert!(order > 1.8, "{time} {k:?}: {order}");
            assert!((back / fine - 1.0).abs() < 1e-4, "{time} {k:?}: {fine} {back}");
        }
    }
}

/// Sound with friction and a force that swings: terms without flux are of second order, too.
#[test]
fn terms_without_flux_are_of_second_order() {
    let text = "system Damped in 1d {
        conserved p: scalar; conserved v: scalar; field w: scalar;
        flux p -> [v]; flux v -> [p + w];
        ddt(p) = 2*cos(9*t) - p;
        ddt(v) = -3*v + 0.002*lap(v);
        ddt(w) = p - w;
        waves { sound: 1; }
    }";
    for time in check::predictors() {
        let at = |n: usize| {
            let settings = format!(
                "space: central<order = 2>; reconstruct: plm<limiter = central>; riemann: hll; time: {time};"
            );
            let system = declared(text, 1, &settings);
            let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(0.4 / n as f64));
            simulation.fill("p", |x, _, _| (TAU * x).sin());
            simulation.fill("w", |x, _, _| (TAU * x).cos());
            simulation.steps(n);
            simulation.flat("v")
        };
        let reference = at(256);
        let error = |n: usize| {
            let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
            let means = reference.chunks(256 / n).map(mean);
            at(n).iter().zip(means).map(|(a, b)| (a - b).abs()).sum::<f64>() / n as f64
        };
        let [coarse, fine] = [32, 64].map(error);
        let order = (coarse / fine).log2();
        println!("{time}: {coarse:.3e} {fine:.3e}, order {order:.2}");
        assert!(order > 1.85, "{time}: {order}");
    }
}

/// A law with friction and without speeds has steps of automatic length: of its waves by the method, and of the friction by its
/// substeps without flux.
#[test]
fn steps_have_an_automatic_length() {
    let text = "system Rubbing in 2d {
        conserved p: scalar; conserved v: vector;
        flux p -> v; flux v -> p*I;
        ddt(v) = 0.01*lap(v);
    }";
    for time in check::predictors() {
        let settings = format!(
            "space: central<order = 2>; reconstruct: plm<limiter = mc>; riemann: roe; time: {time};"
        );
        let system = declared(text, 2, &settings);
        let mut simulation =
            Simulation::<f64>::builder(&system).cells([20, 16, 1]).auto_step().build().or_panic();
        simulation.fill("p", |x, y, _| if x + y < 0.7 { 1.0 } else { 0.0 });
        simulation.steps(40);
        let (dt, largest) = (simulation.dt(), simulation.flat("p").into_iter().fold(0.0, f64::max));
        println!("{time}: {dt:.4}, {largest:.3}");
        assert!(dt > 0.005 && dt < 0.05 && largest < 1.1, "{time}: {dt} {largest}");
    }
}

/// One step of transport against the formulas in print: a cell of van Leer's forecast, and Hancock's faces (Toro 2009, Eqs. 14.42 and
/// 14.43).
#[test]
fn steps_of_transport_are_those_in_print() {
    let (n, nu) = (16, 0.6);
    let q: Vec<f64> = (0..n).map(|i| (i as f64 * 0.618_033_988_749_895).fract()).collect();
    let of = |q: &[f64], i: usize| q[i % n];
    let slope = |q: &[f64], i: usize| (of(q, i + 1) - of(q, i + n - 1)) / 2.0;
    let half: Vec<f64> = (0..n).map(|i| q[i] - nu / 2.0 * (q[i] - of(&q, i + n - 1))).collect();
    let van_leer = |i: usize| of(&half, i) + slope(&half, i % n) / 2.0;
    let hancock = |i: usize| of(&q, i) + (1.0 - nu) * slope(&q, i % n) / 2.0;
    // Lax and Wendroff's flux.
    let waf = |i: usize| of(&q, i) + (1.0 - nu) * (of(&q, i + 1) - of(&q, i)) / 2.0;
    let cases: [(&str, &dyn Fn(usize) -> f64); 4] = [
        ("plm<limiter = central>; riemann: rusanov; time: van_leer", &van_leer),
        ("plm<limiter = central> in fluxes; riemann: rtvd; time: van_leer", &van_leer),
        ("plm<limiter = central>; riemann: rusanov; time: muscl_hancock", &hancock),
        ("waf<limiter = none>; riemann: roe; time: euler; sweep: dimensional", &waf),
    ];
    for (made, flux) in cases {
        let (time, settings) = (made, format!("reconstruct: {made};"));
        let system = declared(ADVECTION, 1, &settings);
        let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(nu / n as f64));
        simulation.fill("q", |x, _, _| q[(x * n as f64) as usize]);
        simulation.step().or_panic();
        for (i, found) in simulation.flat("q").into_iter().enumerate() {
            let expected = q[i] - nu * (flux(i) - flux(i + n - 1));
            assert!((found - expected).abs() < 1e-14, "{time}, {i}: {found} {expected}");
        }
    }
}

/// Sod's tube, by reconstructions of each kind of variables.
#[test]
fn tubes_are_met() {
    let (left, right) = (state(1.0, 1.0), state(0.125, 0.1));
    let error = |settings: &str, n: usize| {
        let system = declared(&with_solver(EULER, "exact"), 1, settings);
        let mut simulation = started::<f64>(&system, [n, 1, 1], true, None);
        let at = |x: f64| if x < 0.5 { left } else { right };
        simulation.fill("rho", |x, _, _| at(x).rho);
        simulation.fill("e", |x, _, _| at(x).p / (GAMMA - 1.0));
        error_of_fan(&mut simulation, "rho", 0.2, |s| gas(left, right, s).rho).or_panic()
    };
    for time in check::predictors() {
        for (made, riemann) in [
            ("plm<limiter = van_leer> in primitive", "hllc"),
            ("plm<limiter = mc> in characteristic", "roe"),
            ("ppm in primitive", "exact"),
        ] {
            let settings = format!("reconstruct: {made}; riemann: {riemann}; time: {time};");
            let [coarse, fine] = [50, 150].map(|n| error(&settings, n));
            println!("{time}, {made}, {riemann}: {coarse:.4} {fine:.4}");
            assert!(fine < 0.007 && fine < 0.5 * coarse, "{settings} {coarse} {fine}");
        }
    }
    for settings in [
        "reconstruct: waf<limiter = van_leer>; riemann: hllc; time: euler;",
        "reconstruct: plm<limiter = van_leer> in fluxes; riemann: rtvd; time: van_leer;",
        "reconstruct: ppm<follow = characteristics> in characteristic; riemann: roe; time: corner_transport;",
    ] {
        let [coarse, fine] = [50, 150].map(|n| error(settings, n));
        println!("{settings} {coarse:.4} {fine:.4}");
        assert!(fine < 0.009 && fine < 0.5 * coarse, "{settings} {coarse} {fine}");
    }
}

/// Limited lines and parabolas carry a box in steps of the limit, and leave no value that was not between those before.
#[test]
fn transport_stays_between_its_values_up_to_the_limit() {
    for time in check::predictors() {
        for made in ["constant", "plm<limiter = mc>", "plm<limiter = superbee>", "ppm"] {
            for number in [0.3, 1.0] {
                let settings = format!("reconstruct: {made}; riemann: hll; time: {time};");
                let system = declared(ADVECTION, 1, &settings);
                let builder = Simulation::<f64>::builder(&system).cells([40, 1, 1]);
                let mut simulation = builder.cfl(number).build().or_panic();
                simulation.fill("q", |x, _, _| f64::from(u8::from((x - 0.4).abs() < 0.2)));
                simulation.steps(100);
                let q = simulation.flat("q");
                let beyond = q.iter().map(|q| (-q).max(q - 1.0)).fold(0.0, f64::max);
                assert!(beyond < 1e-13, "{settings} {number}: {beyond}");
            }
        }
    }
}

const fn state(rho: f64, p: f64) -> Gas {
    Gas { rho, u: 0.0, p, gamma: GAMMA }
}

/// Two substeps, or one that reads far: patches between boundaries of several kinds have the bits of one.
#[test]
fn patches_have_the_bits_of_one() {
    let all = predicted(WATER, 2).into_iter();
    for (settings, system) in all.filter(|(settings, _)| settings.contains("hllc")) {
        let run = |patches: [usize; 3]| {
            let builder = Simulation::<f64>::builder(&system).cells([54, 40, 1]).patches(patches);
            let builder = builder.boundary(Axis::X, Boundary::wall()).cfl(0.7);
            let mut simulation = builder.boundary(Axis::Y, Boundary::outflow()).build().or_panic();
            simulation.fill("h", |x, y, _| if x + y < 0.8 { 2.0 } else { 1.0 });
            simulation.fill("m_y", |x, _, _| 0.3 * (TAU * x).sin());
            simulation.steps(8);
            ["h", "m_x", "m_y"].map(|name| simulation.flat(name))
        };
        let whole = run([1, 1, 1]);
        assert!(whole[1].iter().any(|m| *m != 0.0), "{settings}");
        assert_eq!(run([2, 2, 1]), whole, "{settings}");
    }
}
