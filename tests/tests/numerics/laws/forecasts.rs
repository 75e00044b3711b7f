//! FORCE and the forecasts of MUSTA against the formulas in print (Toro and Titarev 2006, Eqs. 7 to 9 and 17 to 19), for transport at
//! speed one.

use stencil_runtime::{Simulation, SystemDef};
use stencil_tests::{OrPanic, Runs};

use super::{ADVECTION, started};

/// Returns the flux of FORCE between two values, in steps of `nu` cells.
fn force([below, above]: [f64; 2], nu: f64) -> f64 {
    let lax = (below + above) / 2.0 - (above - below) / (2.0 * nu);
    let richtmyer = (below + above) / 2.0 - nu * (above - below) / 2.0;
    (lax + richtmyer) / 2.0
}

/// Returns the same after some stages, in each of which both sides are stepped forward.
fn musta(stages: usize, [mut below, mut above]: [f64; 2], nu: f64) -> f64 {
    for _ in 0..stages {
        let between = force([below, above], nu);
        (below, above) = (below - nu * (between - below), above - nu * (above - between));
    }
    force([below, above], nu)
}

#[test]
fn forecasts_are_those_in_print_stage_by_stage() {
    let (n, nu) = (24, 0.4);
    let mut errors = Vec::new();
    for (riemann, stages) in
        [("force", 0), ("musta<stages = 1>", 1), ("musta<stages = 2>", 2), ("musta<stages = 4>", 4)]
    {
        let text = format!(
            "{ADVECTION} scheme s for Advection {{ reconstruct: constant; riemann: {riemann}; time: euler; }}"
        );
        let system = SystemDef::from_text("Advection", &text).or_panic();
        let mut simulation = started::<f64>(&system, [n, 1, 1], false, Some(nu / n as f64));
        simulation.fill("q", |x, _, _| if x < 0.4 { 1.0 } else { (9.0 * x).sin() });
        let read =
            |simulation: &Simulation<f64>| simulation.values("q").into_raw_vec_and_offset().0;
        let before = read(&simulation);
        simulation.step().or_panic();
        let (after, mut lost) = (read(&simulation), 0.0);
        for i in 0..n {
            let flux = |i: usize| musta(stages, [before[i % n], before[(i + 1) % n]], nu);
            let expected = before[i] - nu * (flux(i) - flux(i + n - 1));
            assert!((after[i] - expected).abs() < 1e-14, "{riemann}, {i}: {} {expected}", after[i]);
            let upwind = before[i] - nu * (before[i] - before[(i + n - 1) % n]);
            lost += (after[i] - upwind).abs();
        }
        errors.push(lost);
    }
    // Forecasts come nearer to the flux from upwind than FORCE.
    assert!(errors[1..].iter().all(|error| *error < errors[0]), "{errors:?}");
}
