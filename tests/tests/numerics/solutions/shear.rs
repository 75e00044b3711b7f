//! The decay of a shear wave (Pekkilä et al. 2017, Eq. 22, Fig. 5): its amplitude is that of the
//! discrete operator, and its error against the exact decay falls with the sixth power of the
//! spacing.

use std::f64::consts::TAU;

use physics::systems::IsothermalNs;
use stencil_compiler::model::Mixed;
use stencil_runtime::{Number, Simulation, System, SystemDef};
use stencil_tests::OrPanic;

use super::support::{changed, observed, settle};
use super::symbols;

const NU: f64 = 5e-3;
const END: f64 = 1.5;

/// Returns the steps on a mesh of n cells: a stable time step, its error of the third order far below that of the
/// differences.
fn steps(n: usize) -> u64 {
    let h = TAU / n as f64;
    (END / (0.08 * h * h / NU).min(0.3 * h)).ceil() as u64
}

/// Returns the velocity after a run of the wave `sin(k x)` along a thin box.
fn run<T: Number>(system: &SystemDef, n: usize, k: f64) -> Vec<f64> {
    let mut simulation = Simulation::<T>::builder(system)
        .cells([n, 1, 1])
        .extent([TAU, 1.0, 1.0])
        .param("nu", NU)
        .dt(END / steps(n) as f64)
        .build()
        .or_panic();
    settle(&mut simulation, "u_y", |at| (k * at[0]).sin());
    simulation.run(steps(n), |_, _| ()).or_panic();
    let values = simulation.to_f64("u_y").expect("a component");
    values.iter().copied().collect()
}

/// Returns the amplitude that the differences and the integrator leave.
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
        let system = changed(&IsothermalNs::DEFINITION, |model| model.scheme.mixed = mixed);
        for (n, k) in [(32, 1.0), (32, 5.0), (64, 13.0), (128, 13.0), (256, 13.0)] {
            let amplitude = amplitude(n, k);
            let largest = run::<f64>(&system, n, k)
                .iter()
                .zip(wave(n, k, amplitude))
                .map(|(a, b)| (a - b).abs() / amplitude)
                .fold(0.0, f64::max);
            assert!(largest < 1e-12, "{mixed:?}, {n} cells, k = {k}: {largest:e}");
        }
    }
}

const WAVENUMBERS: [f64; 3] = [5.0, 8.0, 13.0];
const MESHES: [usize; 5] = [32, 64, 128, 256, 512];

/// Returns the root mean square errors on all meshes: of a run, and of the discrete operator.
fn errors<T: Number>(system: &SystemDef, k: f64) -> [[f64; 2]; 5] {
    let exact = (-NU * k * k * END).exp();
    MESHES.map(|n| {
        let measured = root_mean_square(&run::<T>(system, n, k), wave(n, k, exact));
        let predicted = (amplitude(n, k) - exact).abs() * std::f64::consts::FRAC_1_SQRT_2;
        [measured, predicted]
    })
}

/// Returns the rounding error: half a unit in the last place a step, added up as by a random walk.
fn rounding(n: usize) -> f64 {
    f64::from(f32::EPSILON) * (steps(n) as f64).sqrt()
}

#[test]
fn the_error_against_the_exact_decay_falls_as_the_discrete_operator_says() {
    let system = SystemDef::new(&IsothermalNs::DEFINITION).or_panic();
    for k in WAVENUMBERS {
        let mut orders = 0;
        for (meshes, pair) in MESHES.windows(2).zip(errors::<f64>(&system, k).windows(2)) {
            let [found, predicted] = [0, 1].map(|i| observed(pair[0][i], pair[1][i], 2.0));
            assert!(
                (found - predicted).abs() < 0.01,
                "k = {k}, {meshes:?}: {found:.3}, predicted {predicted:.3}"
            );
            // At least 18 cells to a wave: the leading term is alone.
            if meshes[0] as f64 >= 18.0 * k {
                orders += 1;
                assert!((found - 6.0).abs() < 0.1, "k = {k}, {meshes:?}: {found:.3}");
            }
        }
        assert!(orders > 0, "k = {k}: no mesh is fine enough");
    }
}

#[test]
fn single_precision_follows_until_it_is_rounding() {
    let system = SystemDef::new(&IsothermalNs::DEFINITION).or_panic();
    for k in WAVENUMBERS {
        let errors = errors::<f32>(&system, k);
        for (n, [measured, predicted]) in MESHES.into_iter().zip(errors) {
            let bound = rounding(n);
            assert!(
                (measured - predicted).abs() < bound,
                "{n} cells, k = {k}: {measured:e}, {predicted:e} without rounding"
            );
        }
        for (i, pair) in errors.windows(2).enumerate() {
            let [found, predicted] = [0, 1].map(|i| observed(pair[0][i], pair[1][i], 2.0));
            if pair[1][1] > 30.0 * rounding(MESHES[i + 1]) {
                assert!(
                    (found - predicted).abs() < 0.1,
                    "k = {k}, from {} cells: {found:.3}, predicted {predicted:.3}",
                    MESHES[i]
                );
            }
        }
        // The finest mesh has rounding errors alone.
        let [measured, predicted] = errors[4];
        assert!(predicted < rounding(512) && measured < 2.0 * rounding(512), "k = {k}");
    }
}
