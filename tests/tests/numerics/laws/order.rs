//! Smooth solutions: each reconstruction has its order.

use std::f64::consts::TAU;

use super::{ADVECTION, EULER, RECONSTRUCTIONS, law, started};

/// The mean of `1 + cos(2πx)/2` over a cell.
fn mean(x: f64, h: f64) -> f64 {
    let sine = |x: f64| (TAU * x).sin() / TAU;
    1.0 + 0.5 * (sine(x + h / 2.0) - sine(x - h / 2.0)) / h
}

/// The mean error after a wave went around once.
fn error(reconstruct: &str, n: usize) -> f64 {
    let system = law(ADVECTION, 1, reconstruct, "hll");
    let h = 1.0 / n as f64;
    // The integrator is of third order.
    let steps = (0.5 * (n as f64).powf(5.0 / 3.0))
        .round()
        .max(2.0 * n as f64);
    let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(1.0 / steps));
    let set = simulation.set("q", |x, _, _| mean(x, h));
    set.unwrap_or_else(|e| panic!("{e}"));
    let before = simulation.to_f64("q").unwrap_or_else(|e| panic!("{e}"));
    for _ in 0..steps as u64 {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
    }
    let after = simulation.to_f64("q").unwrap_or_else(|e| panic!("{e}"));
    (&after - &before).mapv(f64::abs).sum() * h
}

#[test]
fn each_reconstruction_has_its_order() {
    let mut wrong = String::new();
    let of_fluxes = ["weno5 in fluxes", "weno_z in fluxes"];
    for reconstruct in RECONSTRUCTIONS.into_iter().chain(of_fluxes) {
        let [coarse, fine] = [40, 80].map(|n| error(reconstruct, n));
        let order = (coarse / fine).log2();
        println!("{reconstruct}: {coarse:.3e}, {fine:.3e}, order {order:.2}");
        let least = match reconstruct {
            "constant" => 0.8,
            // What is clipped at extrema counts for more, or what is steepened.
            "plm<limiter = mc>" | "plm<limiter = minmod>" => 1.7,
            "plm<limiter = superbee>" => 1.2,
            made if made.starts_with("weno") => 4.9,
            _ => 1.9,
        };
        // A comparison that a NaN fails.
        let right = order > least;
        if !right {
            wrong += &format!("{reconstruct}: {order}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
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
            s.set(name, |x, y, _| f(x, y))
                .unwrap_or_else(|e| panic!("{e}"));
        };
        set(&mut simulation, "rho", &|x, y| 1.0 + wave(x, y, 0.0));
        set(&mut simulation, "m_x", &|x, y| {
            sign * c * k[0] / size * wave(x, y, 0.0)
        });
        set(&mut simulation, "m_y", &|x, y| {
            sign * c * k[1] / size * wave(x, y, 0.0)
        });
        set(&mut simulation, "e", &|x, y| 2.5 + 3.5 * wave(x, y, 0.0));
        let steps = 2 * n;
        for _ in 0..steps {
            simulation.step().unwrap_or_else(|e| panic!("{e}"));
        }
        let t = dt * steps as f64;
        let rho = simulation.to_f64("rho").unwrap_or_else(|e| panic!("{e}"));
        let h = 1.0 / n as f64;
        let errors = rho.indexed_iter().map(|((_, j, i), value)| {
            let (x, y) = ((i as f64 + 0.5) * h, (j as f64 + 0.5) * h);
            (value - 1.0 - wave(x, y, t)).abs()
        });
        errors.sum::<f64>() / small * h * h
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

/// Where a wave rises or falls, parabolas are of fourth order; their limit at extrema stays there for a while.
#[test]
fn parabolas_are_of_fourth_order_away_from_extrema() {
    let error = |n: usize| {
        let system = law(ADVECTION, 1, "ppm", "hll");
        let (h, end, steps) = (1.0 / n as f64, 0.02, n);
        let dt = end / steps as f64;
        let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(dt));
        let set = simulation.set("q", |x, _, _| mean(x, h));
        set.unwrap_or_else(|e| panic!("{e}"));
        for _ in 0..steps {
            simulation.step().unwrap_or_else(|e| panic!("{e}"));
        }
        let after = simulation.to_f64("q").unwrap_or_else(|e| panic!("{e}"));
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

/// The isentropic vortex (Shu, ICASE Report 97-65, 1997, section 5.1), a tenth as large, which drifts along the diagonal
/// and stays as it is: density, momentum along x and y, and energy.
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

/// The mean error of its density after it went a tenth of the box.
pub(super) fn vortex_error(reconstruct: &str, riemann: &str, n: usize) -> f64 {
    let system = law(EULER, 2, reconstruct, riemann);
    let mut simulation = started::<f64>(&system, [n, n, 1], false, None);
    for (at, name) in ["rho", "m_x", "m_y", "e"].iter().enumerate() {
        let set = simulation.set(name, move |x, y, _| vortex(x, y)[at]);
        set.unwrap_or_else(|e| panic!("{e}"));
    }
    let end = 0.1;
    while simulation.t() < end {
        simulation.step_until(end).unwrap_or_else(|e| panic!("{e}"));
    }
    let rho = simulation.to_f64("rho").unwrap_or_else(|e| panic!("{e}"));
    let h = 1.0 / n as f64;
    let errors = rho.indexed_iter().map(|((_, j, i), value)| {
        let (x, y) = ((i as f64 + 0.5) * h - end, (j as f64 + 0.5) * h - end);
        (value - vortex(x, y)[0]).abs()
    });
    errors.sum::<f64>() * h * h
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
