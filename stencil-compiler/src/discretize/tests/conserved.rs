//! Conserved quantities stay constant over many steps, up to the random walk of rounding.

use super::*;
use crate::algorithm::StateId;
use crate::algorithm::interp::Oracle;
use crate::catalogue::integrators;
use crate::expr::real::{Arithmetic, Real};

const CELLS: usize = 8;

/// The relative change of the sum over all cells.
fn drift<T: Real>(algorithm: &Algorithm, steps: usize) -> f64 {
    let oracle = Oracle::<T>::new(algorithm, [CELLS, 1, 1], &[], [1.0; 3], 0.02);
    let mut oracle = oracle.unwrap_or_else(|e| panic!("{e}"));
    let start: Vec<T> =
        (0..CELLS).map(|i| T::from_f64(1.0 + 0.1 * (3 * i % CELLS) as f64)).collect();
    oracle.set(StateId(0), &start);
    for _ in 0..steps {
        oracle.step();
    }
    let end = oracle.get(StateId(0));
    let sum = |values: &[T]| values.iter().map(|v| v.to_f64()).sum::<f64>();
    (sum(&end) / sum(&start) - 1.0).abs()
}

/// Rounded weights that do not sum to one would multiply it by the same factor each step: 3e-4 in all with those of
/// `ssprk3`.
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

/// The weights of a second derivative do not sum to zero once they are rounded, so that a mean drifts by 1e-4; differences of
/// neighbours do.
#[test]
fn differences_of_neighbours_keep_the_mean() {
    let diffusion = |arith: &str, order: u32| {
        algorithm(&format!(
            "pub system S in 1d {{ field q: scalar; ddt(q) = 6*lap(q) - 0.01*d4[x](q); }}
             scheme s for S {{ space: central<order = {order}>; arith: {arith}; time: euler; }}"
        ))
    };
    for order in [2, 6] {
        let drift = drift::<f32>(&diffusion("differences", order), 10_000);
        assert!(drift <= 0.5 * f64::from(f32::EPSILON) * 100.0, "order {order}: {drift}");
    }
}

/// Cells that hardly differ from their neighbours: a sum loses the digits of their common value, and differences do not
/// contain it.
#[test]
fn differences_of_neighbours_keep_the_digits_of_second_derivatives() {
    let wave = |i: usize| Arithmetic::sin(std::f64::consts::TAU * i as f64 / 512.0) as f32;
    let wave: Vec<f32> = (0..512).map(wave).collect();
    let error = |arith: &str| {
        let observation = observe(&model(&format!(
            "pub system S in 1d {{ field q: scalar; ddt(q) = 0*q; observe value = max(lap(q)); }}
             scheme s for S {{ space: central<order = 6>; arith: {arith}; time: euler; }}"
        )));
        let algorithm = observation.unwrap().expect("an observable").algorithm;
        let (exact, got) = (observed::<f64>(&algorithm, &wave), observed::<f32>(&algorithm, &wave));
        let largest = exact.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let errors = exact.iter().zip(&got).map(|(a, b)| (a - b).abs() / largest);
        errors.fold(0.0, f64::max)
    };
    let (collected, differences) = (error("collected"), error("differences"));
    assert!(differences < 2e-6 && collected > 1e-4, "{differences} {collected}");
}

/// The observable of a field.
fn observed<T: Real>(algorithm: &Algorithm, field: &[f32]) -> Vec<f64> {
    let oracle = Oracle::<T>::new(algorithm, [field.len(), 1, 1], &[], [1.0; 3], 1.0);
    let mut oracle = oracle.unwrap_or_else(|e| panic!("{e}"));
    let values: Vec<T> = field.iter().map(|v| T::from_f64(f64::from(*v))).collect();
    oracle.set(StateId(0), &values);
    oracle.step();
    let value = oracle.get(algorithm.find_state("value").expect("the observable"));
    value.iter().map(|v| v.to_f64()).collect()
}
