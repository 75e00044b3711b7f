//! The decay of a shear wave by the oracle.

use stencil_compiler::algorithm::interp::Oracle;
use stencil_tests::{ISOTHERMAL_NS, OrPanic, algorithm_of, with_mixed};

/// Pekkilä et al. 2017, Eq. 22, in its discrete form: each step multiplies a transverse wave by
/// the stability polynomial of the integrator at the symbol of Eq. 7.
#[test]
fn a_shear_wave_decays_with_its_discrete_amplitude() {
    let (n, k, nu, dt, steps) = (32, 3, 5e-3, 0.05, 20);
    let h = std::f64::consts::TAU / n as f64;
    let weights = [-490.0 / 180.0, 270.0 / 180.0, -27.0 / 180.0, 2.0 / 180.0];
    let angle = f64::from(k) * h;
    let symbol: f64 =
        weights[0] + (1..4).map(|j| 2.0 * weights[j] * (angle * j as f64).cos()).sum::<f64>();
    let z = nu * symbol / (h * h) * dt;
    let growth = 1.0 + z + z * z / 2.0 + z * z * z / 6.0;
    for mixed in ["bidiagonal", "product", "composed"] {
        let algorithm = algorithm_of(&with_mixed(ISOTHERMAL_NS, mixed));
        let mut oracle =
            Oracle::<f64>::new(&algorithm, [n, 5, 4], &[1.0, nu], [h; 3], dt).or_panic();
        let state = algorithm.find_state("u_y").expect("a velocity");
        let wave: Vec<f64> =
            (0..n * 20).map(|i| (f64::from(k) * h * (i % n) as f64).sin()).collect();
        oracle.set(state, &wave);
        for _ in 0..steps {
            oracle.step();
        }
        let amplitude = growth.powi(steps);
        for (got, wave) in oracle.get(state).iter().zip(&wave) {
            assert!(
                (got - amplitude * wave).abs() < 1e-12,
                "{mixed}: {got} against {}",
                amplitude * wave
            );
        }
    }
}
