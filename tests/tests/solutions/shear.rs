//! The decay of a shear wave (Pekkilä et al. 2017, Eq. 22, Fig. 5): its amplitude is that of the
//! discrete operator, and its error against the exact decay falls with the sixth power of the
//! spacing.

use std::f64::consts::TAU;

use physics::systems::IsothermalNs;
use stencil_compiler::model::Mixed;
use stencil_runtime::{Number, Simulation, System, SystemDef};

use crate::support::{changed, observed, settle};
use crate::symbols;

const NU: f64 = 5e-3;
const END: f64 = 1.5;

/// Steps on a mesh of n cells: a stable time step, its error of the third order far below that of
/// the differences.
fn steps(n: usize) -> u64 {
    let h = TAU / n as f64;
    (END / (0.08 * h * h / NU).min(0.3 * h)).ceil() as u64
}

/// The velocity after a run of the wave `sin(k x)` along a thin box.
fn run<T: Number>(system: &SystemDef, n: usize, k: f64) -> Vec<f64> {
    let mut simulation = Simulation::<T>::builder(system)
        .cells([n, 1, 1])
        .extent([TAU, 1.0, 1.0])
        .param("nu", NU)
        .dt(END / steps(n) as f64)
        .build()
        .unwrap_or_else(|e| panic!("{e}"));
    settle(&mut simulation, "u_y", |at| (k * at[0]).sin());
    simulation
        .run(steps(n), |_, _| ())
        .unwrap_or_else(|e| panic!("{e}"));
    let values = simulation.to_f64("u_y").expect("a component");
    values.iter().copied().collect()
}

/// The amplitude that the differences and the integrator leave.
fn amplitude(n: usize, k: f64) -> f64 {
    let (h, steps) = (TAU / n as f64, steps(n));
    let z = NU * symbols::even(6, k * h) / (h * h) * END / steps as f64;
    symbols::third_order_growth(z).powi(steps as i32)
}

fn wave(n: usize, k: f64, amplitude: f64) -> impl Iterator<Item = f64> {
    (0..n).map(move |i| amplitude * (k * i as f64 * TAU / n as f64).sin())
}

fn root_mean_square(values: &[f64], exact: impl Iterator<Item = f64>) -> f64 {
    let squares = values.iter().zip(exact).map(|(a, b)| (a - b).powi(2));
    (squares.sum::<f64>() / values.len() as f64).sqrt()
}

#[test]
fn a_shear_wave_has_the_amplitude_of_the_discrete_operator() {
    for mixed in [Mixed::Bidiagonal, Mixed::Product, Mixed::Composed] {
        let system = changed(&IsothermalNs::DEFINITION, |model| {
            model.scheme.mixed = mixed
        });
        for (n, k) in [(32, 1.0), (32, 5.0), (64, 13.0), (128, 13.0), (256, 13.0)] {
            let amplitude = amplitude(n, k);
            let largest = run::<f64>(&system, n, k)
                .iter()
                .zip(wave(n, k, amplitude))
                .map(|(a, b)| (a - b).abs() / amplitude)
                .fold(0.0, f64::max);
            assert!(
                largest < 1e-12,
                "{mixed:?}, {n} cells, k = {k}: {largest:e}"
            );
        }
    }
}

#[test]
fn the_error_against_the_exact_decay_falls_as_the_discrete_operator_says() {
    let system = SystemDef::new(&IsothermalNs::DEFINITION).unwrap_or_else(|e| panic!("{e}"));
    let k = 13.0;
    let exact = (-NU * k * k * END).exp();
    let meshes = [32, 64, 128, 256, 512];
    let measured: Vec<f64> = meshes
        .iter()
        .map(|n| root_mean_square(&run::<f64>(&system, *n, k), wave(*n, k, exact)))
        .collect();
    for (pair, errors) in meshes.windows(2).zip(measured.windows(2)) {
        let predicted = observed(
            (amplitude(pair[0], k) - exact).abs(),
            (amplitude(pair[1], k) - exact).abs(),
            2.0,
        );
        let found = observed(errors[0], errors[1], 2.0);
        assert!(
            (found - predicted).abs() < 0.01,
            "{pair:?}: {found:.3}, predicted {predicted:.3}"
        );
        if pair[0] >= 128 {
            assert!((found - 6.0).abs() < 0.2, "{pair:?}: {found:.3}");
        }
    }
}

#[test]
fn single_precision_follows_until_it_is_rounding() {
    let system = SystemDef::new(&IsothermalNs::DEFINITION).unwrap_or_else(|e| panic!("{e}"));
    for (n, k) in [(32, 5.0), (64, 13.0), (128, 13.0)] {
        let amplitude = amplitude(n, k);
        let error = root_mean_square(&run::<f32>(&system, n, k), wave(n, k, amplitude));
        // Each step rounds once, to half a unit in the last place; errors add up as a random walk does.
        let bound = f64::from(f32::EPSILON) * (steps(n) as f64).sqrt();
        assert!(error < bound, "{n} cells, k = {k}: {error:e} of {bound:e}");
    }
}
