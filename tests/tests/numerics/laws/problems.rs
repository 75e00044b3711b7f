//! Problems of the library without an exact solution: what is known of them.

use stencil_runtime::{Number, Simulation};

use crate::solutions::support::solved;

fn density<T: Number>(simulation: &Simulation<T>) -> ndarray::Array3<f64> {
    simulation.to_f64("rho").unwrap_or_else(|e| panic!("{e}"))
}

/// Reconstructions of higher order keep the short waves behind the shock: their error against a run with a finer mesh is
/// the smaller. The waves are longer than in the file, so that few cells do.
#[test]
fn short_waves_behind_a_shock_are_kept_by_higher_order() {
    let (n, finer) = (200, 2);
    let density = |n: usize, scheme: &str| {
        let cells = format!("mesh.cells={n}");
        let scheme = format!("scheme='{scheme}'");
        let longer = "let.ahead='1 + 0.2*sin(3*x)'";
        density(&solved::<f64>("shu_osher", &[&cells, &scheme, longer]).1)
    };
    let reference = density(finer * n, "weno_z_hllc");
    let reference: Vec<f64> = reference.iter().copied().collect();
    let means: Vec<f64> = reference
        .chunks(finer)
        .map(|part| part.iter().sum::<f64>() / finer as f64)
        .collect();
    let error = |scheme: &str| {
        let found = density(n, scheme);
        let errors = found.iter().zip(&means).map(|(a, b)| (a - b).abs());
        errors.sum::<f64>() * 10.0 / n as f64
    };
    let [plm, ppm, weno] = ["plm_hllc", "ppm_hllc", "weno_z_hllc"].map(error);
    println!("plm {plm:.3}, ppm {ppm:.3}, weno {weno:.3}");
    assert!(weno < 0.6 * plm && ppm < 0.9 * plm, "{plm} {ppm} {weno}");
    assert!(plm < 0.8, "{plm}");
}

/// What is symmetric at the start stays so to the bit, and density stays positive beside the shock.
#[test]
fn a_blast_is_its_own_mirror_image() {
    for scheme in ["plm_hllc", "ppm_hllc"] {
        let scheme = format!("scheme='{scheme}'");
        let changes = ["mesh.cells=16", "time.end=0.04", &scheme];
        let (_, simulation) = solved::<f32>("blast", &changes);
        let rho = density(&simulation);
        for axis in 0..3 {
            let mut mirrored = rho.view();
            mirrored.invert_axis(ndarray::Axis(axis));
            assert_eq!(mirrored, rho.view(), "{scheme}: axis {axis}");
        }
        let [least, most] = [f64::min, f64::max].map(|of| rho.iter().copied().fold(1.0, of));
        assert!(
            least > 0.0 && least < 0.6 && most > 1.1,
            "{scheme}: {least} {most}"
        );
    }
}
