//! What a law conserves stays over many steps, but for the random walk of rounding.

use super::*;
use crate::algorithm::StateId;
use crate::algorithm::interp::Oracle;
use crate::discretize::integrators;
use crate::expr::real::Real;

const CELLS: usize = 8;

/// By how much of itself the sum over all cells has changed.
fn drift<T: Real>(algorithm: &Algorithm, steps: usize) -> f64 {
    let oracle = Oracle::<T>::new(algorithm, [CELLS, 1, 1], &[], [1.0; 3], 0.02);
    let mut oracle = oracle.unwrap_or_else(|e| panic!("{e}"));
    let start: Vec<T> = (0..CELLS)
        .map(|i| T::from_f64(1.0 + 0.1 * (3 * i % CELLS) as f64))
        .collect();
    oracle.set(StateId(0), &start);
    for _ in 0..steps {
        oracle.step();
    }
    let end = oracle.get(StateId(0));
    let sum = |values: &[T]| values.iter().map(|v| v.to_f64()).sum::<f64>();
    (sum(&end) / sum(&start) - 1.0).abs()
}

/// Weights that are rounded and do not sum to one would multiply it by the same factor each step: 3e-4 in all with those of `ssprk3`.
#[test]
fn every_integrator_keeps_what_is_conserved_in_every_precision() {
    for integrator in integrators::ALL {
        let algorithm = algorithm(&format!(
            "pub system S in 1d {{ field q: scalar; ddt(q) = -d[x](q); }}
             scheme s for S {{ space: central<order = 2>; time: {}; }}",
            integrator.name
        ));
        let walk = |steps: usize| ((steps * algorithm.substeps.len()) as f64).sqrt();
        let single = drift::<f32>(&algorithm, 10_000);
        let bound = 0.5 * f64::from(f32::EPSILON) * walk(10_000);
        assert!(single <= bound, "{}: {single} in f32", integrator.name);
        let double = drift::<f64>(&algorithm, 4_000);
        let bound = 0.5 * f64::EPSILON * walk(4_000);
        assert!(double <= bound, "{}: {double} in f64", integrator.name);
    }
}
