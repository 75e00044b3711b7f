//! Smooth solutions: each reconstruction has its order.

use std::f64::consts::TAU;

use physics::systems::{BurgersLaw, Transport};
use stencil_runtime::{Simulation, System, SystemDef};
use stencil_tests::{OrPanic, Runs, larger};

use super::{ADVECTION, EULER, RECONSTRUCTIONS, law, of_library, started};

/// Returns the mean of `1 + cos(2πx)/2` over a cell.
fn mean(x: f64, h: f64) -> f64 {
    let sine = |x: f64| (TAU * x).sin() / TAU;
    1.0 + 0.5 * (sine(x + h / 2.0) - sine(x - h / 2.0)) / h
}

/// Returns the mean error after a wave went around once.
fn error(reconstruct: &str, n: usize) -> f64 {
    let system = of_library(&Transport::<1>::DEFINITION, reconstruct, "hll");
    let h = 1.0 / n as f64;
    // The integrator is of third order.
    let steps = (0.5 * (n as f64).powf(5.0 / 3.0)).round().max(2.0 * n as f64);
    let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(1.0 / steps));
    simulation.fill("u_x", |_, _, _| 1.0);
    simulation.fill("q", |x, _, _| mean(x, h));
    let before = simulation.values("q");
    simulation.steps(steps as usize);
    let after = simulation.values("q");
    (&after - &before).mapv(f64::abs).sum() * h
}

#[test]
fn each_reconstruction_has_its_order() {
    let mut wrong = String::new();
    let of_fluxes = ["weno5 in fluxes", "weno_z in fluxes"];
    for reconstruct in RECONSTRUCTIONS.iter().copied().chain(of_fluxes) {
        let [coarse, fine] = [40, 80].map(|n| error(reconstruct, n));
        let order = (coarse / fine).log2();
        println!("{reconstruct}: {coarse:.3e}, {fine:.3e}, order {order:.2}");
        let least = match reconstruct {
            "constant" => 0.8,
            // Clipped extrema, or steepened slopes, lower the order.
            "plm<limiter = mc>" | "plm<limiter = minmod>" => 1.7,
            "plm<limiter = superbee>" => 1.2,
            made if made.starts_with("weno") => 4.9,
            _ => 1.9,
        };
        // NaN fails this comparison.
        let right = order > least;
        if !right {
            wrong += &format!("{reconstruct}: {order}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// A spot is carried around in the plane, by the library's schemes: after half a turn it is across, and none of it is lost.
#[test]
fn a_spot_is_carried_around() {
    let error = |scheme: &str, n: usize| {
        let system =
            SystemDef::new(&Transport::<2>::DEFINITION).and_then(|s| s.with_scheme(scheme));
        let system = system.or_panic();
        let steps = 5 * n;
        let dt = 0.5 / steps as f64;
        let mut simulation = started::<f64>(&system, [n, n, 1], false, Some(dt));
        let spot = |x: f64, y: f64, at: f64| (-((x - 0.5).powi(2) + (y - at).powi(2)) / 0.01).exp();
        simulation.fill("u_x", |_, y, _| -TAU * (y - 0.5));
        simulation.fill("u_y", |x, _, _| TAU * (x - 0.5));
        simulation.fill("q", |x, y, _| 1.0 + spot(x, y, 0.7));
        let sum = |s: &Simulation<f64>| s.values("q").sum();
        let before = sum(&simulation);
        let run = simulation.run(steps as u64, |_, _| ());
        run.unwrap_or_else(|e| panic!("{scheme}: {e}"));
        assert!((sum(&simulation) / before - 1.0).abs() < 1e-12, "{scheme}");
        let q = simulation.values("q");
        let at = |i: usize| (i as f64 + 0.5) / n as f64;
        // The flow is not periodic at the ends of the box.
        let near = |i: usize, j: usize| (at(i) - 0.5).hypot(at(j) - 0.5) < 0.35;
        let errors = q.indexed_iter().filter(|((_, j, i), _)| near(*i, *j));
        let errors = errors.map(|((_, j, i), q)| (q - 1.0 - spot(at(i), at(j), 0.3)).abs());
        errors.sum::<f64>() / (n * n) as f64
    };
    for (scheme, least) in [
        ("plm_roe", 1.6),
        ("ppm_roe", 1.5),
        ("weno5_roe", 1.9),
        ("weno_z_fluxes", 2.8),
        ("waves_roe", 1.5),
    ] {
        let [coarse, fine] = [32, 64].map(|n| error(scheme, larger(n)));
        let order = (coarse / fine).log2();
        println!("{scheme}: {coarse:.3e}, {fine:.3e}, order {order:.2}");
        assert!(order > least, "{scheme}: {order}");
    }
}

/// Waves of sound to the left and to the right, in a gas at rest, along each axis and the diagonal: of second order
/// in each direction, with equal errors to the left and to the right.
#[test]
fn sound_travels_alike_in_all_directions() {
    let error = |axes: [f64; 3], n: usize, sign: f64| {
        let system = law(EULER, 2, "plm<limiter = central>", "hll");
        let k = axes.map(|a| TAU * a);
        let size = (k[0].powi(2) + k[1].powi(2)).sqrt();
        let dt = 0.2 / n as f64;
        let mut simulation = started::<f64>(&system, [n, n, 1], false, Some(dt));
        let (small, c) = (1e-6, GAMMA_SOUND);
        let wave =
            move |x: f64, y: f64, t: f64| small * (k[0] * x + k[1] * y - sign * c * size * t).cos();
        let set = |s: &mut stencil_runtime::Simulation<f64>,
                   name: &str,
                   f: &(dyn Fn(f64, f64) -> f64 + Sync)| {
            s.set(name, |x, y, _| f(x, y)).or_panic();
        };
        set(&mut simulation, "rho", &|x, y| 1.0 + wave(x, y, 0.0));
        set(&mut simulation, "m_x", &|x, y| sign * c * k[0] / size * wave(x, y, 0.0));
        set(&mut simulation, "m_y", &|x, y| sign * c * k[1] / size * wave(x, y, 0.0));
        set(&mut simulation, "e", &|x, y| 2.5 + 3.5 * wave(x, y, 0.0));
        let steps = 2 * n;
        simulation.steps(steps);
        let t = dt * steps as f64;
        simulation.error("rho", |x, y, _| 1.0 + wave(x, y, t)) / small
    };
    for axes in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]] {
        let [coarse, fine] = [24, 48].map(|n| error(axes, n, 1.0));
        let back = error(axes, 48, -1.0);
        let order = (coarse / fine).log2();
        println!("{axes:?}: {coarse:.3e}, {fine:.3e}, order {order:.2}; back {back:.3e}");
        assert!(order > 1.9, "{axes:?}: {order}");
        assert!((back / fine - 1.0).abs() < 1e-4, "{axes:?}: {fine} {back}");
    }
}

/// The speed of sound where density and pressure are one.
const GAMMA_SOUND: f64 = 1.183_215_956_619_923_2;

/// On rising and falling waves, parabolas are of fourth order; their limit at extrema stays there for a while.
#[test]
fn parabolas_are_of_fourth_order_away_from_extrema() {
    let error = |n: usize| {
        let system = law(ADVECTION, 1, "ppm", "hll");
        let (h, end, steps) = (1.0 / n as f64, 0.02, n);
        let dt = end / steps as f64;
        let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(dt));
        simulation.fill("q", |x, _, _| mean(x, h));
        simulation.steps(steps);
        let after = simulation.values("q");
        let errors = after.iter().enumerate().map(|(i, value)| {
            let x = (i as f64 + 0.5) * h - end;
            let is_near = (x - 0.25).abs() < 0.05 || (x - 0.75).abs() < 0.05;
            f64::from(u8::from(is_near)) * (value - mean(x, h)).abs()
        });
        errors.sum::<f64>() * h
    };
    let [coarse, fine] = [40, 80].map(error);
    let order = (coarse / fine).log2();
    println!("{coarse:.3e}, {fine:.3e}, order {order:.2}");
    assert!(order > 3.8, "{order}");
}

/// Returns the isentropic vortex (Shu, ICASE Report 97-65, 1997, section 5.1), a tenth as large, which drifts along the
/// diagonal and keeps its shape: density, momentum along x and y, and energy.
fn vortex(x: f64, y: f64) -> [f64; 4] {
    let (beta, gamma) = (5.0, 1.4);
    // The nearest of the periodic images.
    let [x, y] = [x, y].map(|a| 10.0 * (a - 0.5 - (a - 0.5).round()));
    let swirl = beta / TAU * (0.5 * (1.0 - x * x - y * y)).exp();
    let rho = (1.0 - (gamma - 1.0) / (2.0 * gamma) * swirl * swirl).powf(1.0 / (gamma - 1.0));
    let (u, v) = (1.0 - swirl * y, 1.0 + swirl * x);
    let e = rho.powf(gamma) / (gamma - 1.0) + 0.5 * rho * (u * u + v * v);
    [rho, rho * u, rho * v, e]
}

/// Returns the mean error of its density after it went a tenth of the box.
pub(super) fn vortex_error(reconstruct: &str, riemann: &str, n: usize) -> f64 {
    let system = law(EULER, 2, reconstruct, riemann);
    let mut simulation = started::<f64>(&system, [n, n, 1], false, None);
    for (at, name) in ["rho", "m_x", "m_y", "e"].iter().enumerate() {
        simulation.fill(name, move |x, y, _| vortex(x, y)[at]);
    }
    let end = 0.1;
    simulation.run_until(end, |_, _| ()).or_panic();
    simulation.error("rho", |x, y, _| vortex(x - end, y - end)[0])
}

#[test]
fn a_vortex_drifts_with_the_flow() {
    let error = |reconstruct: &str, n: usize| vortex_error(reconstruct, "hllc", n);
    let cases = [
        ("plm<limiter = mc> in primitive", 2.0),
        // Parabolas are cut at extrema.
        ("ppm in primitive", 1.6),
        ("weno_z in primitive", 1.8),
        ("weno_z in characteristic", 1.8),
    ];
    for (reconstruct, least) in cases {
        let [coarse, fine] = [32, 64].map(|n| error(reconstruct, n));
        let order = (coarse / fine).log2();
        println!("{reconstruct}: {coarse:.3e}, {fine:.3e}, order {order:.2}");
        assert!(order > least, "{reconstruct}: {order}");
    }
}

/// Returns Jiang and Shu's fifth-order value at the upper face of a cell (Kim et al. 2023, Eqs. 12 to 20).
fn upper_face(f: [f64; 5]) -> f64 {
    let parabolas = [
        f[0] / 3.0 - 7.0 / 6.0 * f[1] + 11.0 / 6.0 * f[2],
        -f[1] / 6.0 + 5.0 / 6.0 * f[2] + f[3] / 3.0,
        f[2] / 3.0 + 5.0 / 6.0 * f[3] - f[4] / 6.0,
    ];
    let smoothness = [
        13.0 / 12.0 * (f[0] - 2.0 * f[1] + f[2]).powi(2)
            + 0.25 * (f[0] - 4.0 * f[1] + 3.0 * f[2]).powi(2),
        13.0 / 12.0 * (f[1] - 2.0 * f[2] + f[3]).powi(2) + 0.25 * (f[1] - f[3]).powi(2),
        13.0 / 12.0 * (f[2] - 2.0 * f[3] + f[4]).powi(2)
            + 0.25 * (3.0 * f[2] - 4.0 * f[3] + f[4]).powi(2),
    ];
    let weight = |k: usize| [0.1, 0.6, 0.3][k] / (smoothness[k] + 1e-6).powi(2);
    let sum: f64 = (0..3).map(weight).sum();
    (0..3).map(|k| weight(k) / sum * parabolas[k]).sum()
}

/// One step of transport to the right and to the left, of values without order, of waves, and of jumps of all sizes.
#[test]
fn weno5_is_that_of_the_equations_in_print() {
    let n = 48;
    let shapes: [fn(usize) -> f64; 3] = [
        |i| (i as f64 * 0.618_033_988_749_895).fract() - 0.3,
        |i| 1e-2 * (TAU * i as f64 / 48.0).sin(),
        |i| f64::powi(10.0, -((i / 3) as i32) / 2),
    ];
    for reconstruct in ["weno5", "weno5 in fluxes"] {
        for (sign, shape) in [1.0, -1.0].into_iter().flat_map(|sign| shapes.map(|s| (sign, s))) {
            let text = format!(
                "{ADVECTION} scheme s for Advection {{ reconstruct: {reconstruct}; riemann: rusanov; time: euler; }}"
            );
            let system = SystemDef::from_text("Advection", &text).or_panic();
            let share = 0.25;
            let builder = Simulation::<f64>::builder(&system).cells([n, 1, 1]);
            let builder = builder.extent([n as f64, 1.0, 1.0]).param("a", sign);
            let builder = builder.dt(share).unchecked_step(true);
            let mut simulation = builder.build().or_panic();
            simulation.fill("q", |x, _, _| shape(x as usize));
            simulation.step().or_panic();
            let q = simulation.values("q");
            // The value that leaves a cell, on the side that the flow goes to.
            let leaves = |i: usize| {
                let ahead = |k: isize| (i as isize + sign as isize * k).rem_euclid(n as isize);
                upper_face([-2, -1, 0, 1, 2].map(|k| shape(ahead(k) as usize)))
            };
            for i in 0..n {
                let before = if sign > 0.0 { i + n - 1 } else { i + 1 } % n;
                let expected = shape(i) - share * (leaves(i) - leaves(before));
                let found = q[[0, 0, i]];
                assert!(
                    (found - expected).abs() < 1e-10,
                    "{reconstruct}, {sign}, cell {i}: {found} {expected}"
                );
            }
        }
    }
}

/// On smooth waves, the remaining error with the same cells is that of the integrator.
#[test]
fn laws_are_integrated_at_the_order_of_the_integrator() {
    for (time, order) in [("ssprk2", 2.0), ("ssprk3", 3.0), ("rk4", 4.0)] {
        let after = |steps: u32| {
            let text = format!(
                "{}\nscheme s for BurgersLaw {{ reconstruct: weno5; riemann: roe; time: {time}; }}",
                BurgersLaw::<1>::DEFINITION.model
            );
            let system = SystemDef::from_text("BurgersLaw", &text)
                .and_then(|s| s.with_scheme("s"))
                .or_panic();
            let dt = 0.1 / f64::from(steps);
            let mut simulation = started::<f64>(&system, [40, 1, 1], false, Some(dt));
            simulation.fill("q", |x, _, _| 1.0 + 0.3 * (TAU * x).sin());
            let run = simulation.run(u64::from(steps), |_, _| ());
            run.unwrap_or_else(|e| panic!("{time}: {e}"));
            simulation.values("q")
        };
        let exact = after(256);
        let [coarse, fine] = [8, 16].map(|steps| (after(steps) - &exact).mapv(f64::abs).sum());
        let found = (coarse / fine).log2();
        println!("{time}: {coarse:.3e}, {fine:.3e}, order {found:.2}");
        assert!((found - order).abs() < 0.2, "{time}: {found}");
    }
}
