//! Contacts and shear: a solver that knows the middle wave keeps them, the others smear them.

use stencil_runtime::Simulation;

use super::{EULER, SOLVERS, law, started};

const N: usize = 24;

/// The solvers that know the middle wave.
const KNOWING: [&str; 3] = ["exact", "hllc", "roe"];

/// A run of a gas of one pressure with a dense middle, which slides along the layers.
fn layered(reconstruct: &str, riemann: &str, slide: f64) -> Simulation<f64> {
    let system = law(EULER, 2, reconstruct, riemann);
    let mut simulation = started::<f64>(&system, [N, 4, 1], false, None);
    let rho = |x: f64| if (x - 0.5).abs() < 0.25 { 3.0 } else { 1.0 };
    let along = move |x: f64| slide * (rho(x) - 2.0);
    let set = [
        simulation.set("rho", |x, _, _| rho(x)),
        simulation.set("m_y", |x, _, _| rho(x) * along(x)),
        simulation.set("e", |x, _, _| 1.0 / 0.4 + 0.5 * rho(x) * along(x).powi(2)),
    ];
    set.into_iter()
        .for_each(|set| set.unwrap_or_else(|e| panic!("{e}")));
    simulation
}

/// The largest change of density and of momentum along the layers in some steps.
fn change(reconstruct: &str, riemann: &str, slide: f64) -> f64 {
    let mut simulation = layered(reconstruct, riemann, slide);
    let values = |s: &Simulation<f64>| {
        ["rho", "m_y"].map(|name| s.to_f64(name).unwrap_or_else(|e| panic!("{e}")))
    };
    let before = values(&simulation);
    for _ in 0..20 {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
    }
    let after = values(&simulation);
    let changes = before.iter().zip(&after);
    let changes = changes.flat_map(|(a, b)| (a - b).into_iter().map(f64::abs));
    changes.fold(0.0, f64::max)
}

#[test]
fn contacts_at_rest_stay_as_they_are() {
    for reconstruct in ["constant", "plm<limiter = mc>", "ppm", "weno_z"] {
        for variables in ["", " in primitive"] {
            let reconstruct = format!("{reconstruct}{variables}");
            for riemann in KNOWING {
                let moved = change(&reconstruct, riemann, 0.0);
                assert!(moved < 1e-13, "{riemann}, {reconstruct}: {moved}");
            }
        }
    }
    for riemann in SOLVERS
        .into_iter()
        .filter(|riemann| !KNOWING.contains(riemann))
    {
        let moved = change("plm<limiter = mc> in primitive", riemann, 0.0);
        assert!(moved > 0.1, "{riemann}: {moved}");
    }
}

/// Pressure is no linear function of what is conserved, so that primitives have to be reconstructed, or nothing.
#[test]
fn layers_that_slide_along_each_other_stay_as_they_are() {
    for reconstruct in [
        "constant",
        "plm<limiter = mc> in primitive",
        "ppm in primitive",
    ] {
        for riemann in KNOWING {
            let moved = change(reconstruct, riemann, 0.3);
            assert!(moved < 1e-13, "{riemann}, {reconstruct}: {moved}");
        }
        let moved = change(reconstruct, "hll", 0.3);
        assert!(moved > 0.1, "{reconstruct}: {moved}");
    }
}
