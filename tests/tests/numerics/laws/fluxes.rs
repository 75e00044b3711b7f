//! Fluxes that are reconstructed themselves: values in the middle of cells, of the order of the reconstruction along all axes
//! at once.

use stencil_tests::{OrPanic, Runs};

use super::order::vortex_error;
use super::{ADVECTION, EULER, WATER, law, started};

#[test]
fn a_vortex_drifts_at_the_order_of_the_reconstruction() {
    let cases = [
        ("weno_z", "hlle", [1.5, 3.0]),
        ("weno_z in fluxes", "hlle", [4.3, 6.0]),
        ("weno5 in fluxes", "roe", [4.3, 6.0]),
    ];
    let mut wrong = String::new();
    for (reconstruct, riemann, [least, most]) in cases {
        let [coarse, fine] = [48, 96].map(|n| vortex_error(reconstruct, riemann, n));
        let order = (coarse / fine).log2();
        println!("{reconstruct}, {riemann}: {coarse:.3e}, {fine:.3e}, order {order:.2}");
        // NaN fails these comparisons.
        let met = order > least && order < most;
        if !met {
            wrong += &format!("{reconstruct}, {riemann}: {order}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Sod's tube: the rise and fall of the density, relative to its fall in all. The fan is sonic where the membrane was.
/// No wave of `roe` moves there, and the first steps leave a dent in the middle that spreads slowly, which all other
/// cells are free of.
#[test]
fn a_tube_has_no_more_new_extrema_than_with_states() {
    let falls = |reconstruct: &str, riemann: &str| {
        let system = law(EULER, 1, reconstruct, riemann);
        let mut simulation = started::<f64>(&system, [100, 1, 1], true, None);
        simulation.fill("rho", |x, _, _| if x < 0.5 { 1.0 } else { 0.125 });
        simulation.fill("e", |x, _, _| if x < 0.5 { 2.5 } else { 0.25 });
        simulation.run_until(0.2, |_, _| ()).or_panic();
        let rho = simulation.flat("rho");
        let falls = |from: usize, to: usize| {
            let steps = rho[from..to].windows(2);
            steps.map(|pair| (pair[1] - pair[0]).abs()).sum::<f64>() / 0.875
        };
        [falls(0, 100), falls(0, 47) + falls(53, 100)]
    };
    for made in ["weno5", "weno_z"] {
        for riemann in ["rusanov", "roe"] {
            let of_states = falls(made, riemann);
            let of_fluxes = falls(&format!("{made} in fluxes"), riemann);
            println!("{made}, {riemann}: {of_states:.4?} {of_fluxes:.4?}");
            // NaN fails these comparisons.
            let beside = of_fluxes[1] < of_states[1] + 0.03;
            let all = of_fluxes[0] < of_states[0] + if riemann == "roe" { 0.2 } else { 0.02 };
            assert!(beside && all, "{made}, {riemann}: {of_states:?} {of_fluxes:?}");
        }
    }
}

/// If fluxes are linear, or nothing is reconstructed, both ways agree but for rounding.
#[test]
fn fluxes_are_those_of_states_where_there_is_no_difference() {
    let after = |text: &str, set: &str, reconstruct: &str, riemann: &str| {
        let system = law(text, 1, reconstruct, riemann);
        let mut simulation = started::<f64>(&system, [40, 1, 1], false, Some(0.005));
        simulation.fill(set, |x, _, _| 1.0 + (6.0 * x).sin().exp());
        simulation.steps(20);
        simulation.flat(set)
    };
    for made in ["plm<limiter = mc>", "ppm", "weno5", "weno_z"] {
        let [states, fluxes] = ["", " in fluxes"]
            .map(|variables| after(ADVECTION, "q", &format!("{made}{variables}"), "rusanov"));
        let apart = states.iter().zip(&fluxes).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-13, "{made}");
    }
    for riemann in ["rusanov", "hll", "hlle", "roe"] {
        let apart = ["constant", "weno5"].map(|made| {
            let [states, fluxes] = ["", " in fluxes"]
                .map(|variables| after(WATER, "h", &format!("{made}{variables}"), riemann));
            let apart = states.iter().zip(&fluxes).map(|(a, b)| (a - b).abs());
            apart.fold(0.0, f64::max)
        });
        assert!(apart[0] < 1e-13 && apart[1] > 1e-6, "{riemann}: {apart:?}");
    }
}

/// The speed between two states of Burgers' law is their mean: of the values at the face, or of both cells.
#[test]
fn the_law_is_linear_between_the_states_that_are_chosen() {
    let (n, dt) = (16, 1e-3);
    let text = "system Burgers in 1d { conserved q: scalar; flux q -> [q^2/2]; }";
    let start = |i: usize| (0.9 * i as f64).sin() + if i < 6 { 1.0 } else { 0.0 };
    let q: Vec<f64> = (0..n).map(start).collect();
    let flux: Vec<f64> = q.iter().map(|q| q * q / 2.0).collect();
    // Lines without a limit, at the upper and at the lower face.
    let lines = |a: &[f64]| -> Vec<[f64; 2]> {
        let slope = |i: usize| (a[(i + 1) % n] - a[(i + n - 1) % n]) / 2.0;
        (0..n).map(|i| [a[i] + slope(i) / 2.0, a[i] - slope(i) / 2.0]).collect()
    };
    let (states, fluxes) = (lines(&q), lines(&flux));
    for (setting, of_cells) in [("average = cells", true), ("average = faces", false)] {
        let through: Vec<f64> = (0..n)
            .map(|i| {
                let above = (i + 1) % n;
                let (low, high) = (states[i][0], states[above][1]);
                let speed = match of_cells {
                    true => (q[i] + q[above]) / 2.0,
                    false => (low + high) / 2.0,
                };
                (fluxes[i][0] + fluxes[above][1] - speed.abs() * (high - low)) / 2.0
            })
            .collect();
        let text = format!(
            "{text} scheme s for Burgers {{ reconstruct: plm<limiter = central> in fluxes; riemann: roe<fix = 0, {setting}>; time: euler; }}"
        );
        let system = stencil_runtime::SystemDef::from_text("Burgers", &text).or_panic();
        let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(dt));
        let set = simulation.set("q", |x, _, _| q[(x * n as f64) as usize]);
        set.and_then(|()| simulation.step()).or_panic();
        for (i, found) in simulation.flat("q").into_iter().enumerate() {
            let exact = q[i] - dt * n as f64 * (through[i] - through[(i + n - 1) % n]);
            assert!((found - exact).abs() < 1e-14, "{setting}, {i}: {found} {exact}");
        }
    }
}
