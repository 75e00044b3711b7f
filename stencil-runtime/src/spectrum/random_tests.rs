//! Random fields: their spectra, directions and seeds.

use std::f64::consts::PI;

use super::*;
use ndarray::{Array3, s};
use rustfft::num_complex::Complex64;

const ALL: [Waves; 4] = [Waves::Scalar, Waves::Solenoidal, Waves::Compressive, Waves::Mixed];

fn views(fields: &[Array3<f64>]) -> Vec<ArrayView3<'_, f64>> {
    fields.iter().map(|f| f.view()).collect()
}

/// A spectrum with energy in all shells.
fn falling(k: f64) -> f64 {
    (-0.3 * k).exp()
}

/// Calls `with` with the wavevector and the amplitudes of each mode of fields on a cube of n³ cells and sides 2π.
fn modes_of(fields: &[Array3<f64>], n: usize, mut with: impl FnMut([f64; 3], Vec<Complex64>)) {
    let modes: Vec<_> = fields.iter().map(|f| transform::modes(&f.view())).collect();
    let wave = |i: usize| {
        if i <= n / 2 { i as f64 } else { i as f64 - n as f64 }
    };
    let half = n / 2 + 1;
    for at in 0..modes[0].len() {
        // [y][kx][z]
        let k = [at / n % half, at / (n * half), at % n].map(wave);
        with(k, modes.iter().map(|modes| modes[at]).collect());
    }
}

#[test]
fn whole_shells_have_the_energy_that_is_asked_for() {
    // Even and odd numbers of cells, in planes and in space; sides that differ.
    let meshes = [([16, 12, 1], 2), ([9, 14, 1], 3), ([12, 12, 12], 3), ([10, 7, 9], 3)];
    for ((cells, dimension), waves) in meshes.iter().flat_map(|m| ALL.map(|w| (*m, w))) {
        let spacing = [0.2, 0.3, 0.25];
        let fields = random(cells, spacing, dimension, waves, 5, falling);
        assert_eq!(fields.len(), waves.components(dimension));
        let spectrum = kinetic_energy(&views(&fields), spacing).unwrap();
        let width = spectrum.k[1];
        let whole = whole_shells(cells, spacing);
        assert!(whole.len() > 2 && *whole.last().unwrap() < PI / 0.3);
        for (shell, (k, energy)) in spectrum.k.iter().zip(&spectrum.energy).enumerate() {
            match (1..=whole.len()).contains(&shell) {
                true => {
                    let error = energy / (falling(*k) * width) - 1.0;
                    assert!(error.abs() < 1e-12, "{cells:?}, k = {k}: {error:e}");
                }
                false => assert!(*energy < 1e-28, "{cells:?}, k = {k}: {energy:e}"),
            }
        }
    }
    // A line has waves, but none without divergence.
    let line = |waves| random([32, 1, 1], [0.1; 3], 1, waves, 5, falling);
    assert!(line(Waves::Compressive)[0].iter().all(|v| v.abs() > 0.0));
    assert!(line(Waves::Solenoidal)[0].iter().all(|v| *v == 0.0));
    assert!(whole_shells([2, 1, 1], [1.0; 3]).is_empty());
    assert!(whole_shells([1, 1, 1], [1.0; 3]).is_empty());
}

#[test]
fn random_modes_are_normal_to_their_wavevectors_or_along_them() {
    let (n, h) = (12, TAU / 12.0);
    for waves in [Waves::Solenoidal, Waves::Compressive, Waves::Mixed] {
        let fields = random([n; 3], [h; 3], 3, waves, 2, falling);
        let mut energies = [0.0_f64; 2];
        modes_of(&fields, n, |k, a| {
            let along: Complex64 = k.iter().zip(&a).map(|(k, a)| a * *k).sum();
            let square: f64 = k.iter().map(|k| k * k).sum();
            let all: f64 = a.iter().map(|a| a.norm_sqr()).sum();
            if square > 0.0 {
                energies[0] += along.norm_sqr() / square;
                energies[1] += all;
            }
        });
        let share = energies[0] / energies[1];
        let fits = match waves {
            Waves::Solenoidal => share < 1e-26,
            Waves::Compressive => (share - 1.0).abs() < 1e-12,
            _ => (share - 1.0 / 3.0).abs() < 0.05,
        };
        assert!(energies[1] > 0.01 && fits, "{waves:?}: {share:e}");
    }
}

#[test]
fn no_direction_is_preferred() {
    let n = 24;
    let band = |k: f64| if (3.0..=10.0).contains(&k) { k * k } else { 0.0 };
    for waves in ALL {
        let fields = random([n; 3], [TAU / n as f64; 3], 3, waves, 11, band);
        let (mut squares, mut mixed, mut diagonal, mut all) = ([0.0; 3], [0.0; 3], 0.0, 0.0);
        modes_of(&fields, n, |k, a| {
            let square: f64 = k.iter().map(|k| k * k).sum();
            // A mode with kx > 0 stands for its opposite, too.
            let twice = if k[0] == 0.0 { 1.0 } else { 2.0 };
            let energy = twice * a.iter().map(|a| a.norm_sqr()).sum::<f64>();
            if square > 0.0 {
                for axis in 0..3 {
                    squares[axis] += energy * k[axis] * k[axis] / square;
                    mixed[axis] += energy * k[axis] * k[(axis + 1) % 3] / square;
                }
                diagonal += energy * k.iter().map(|k| k.powi(4)).sum::<f64>() / (square * square);
                all += energy;
            }
        });
        for (square, mixed) in squares.iter().zip(mixed) {
            assert!((square / all - 1.0 / 3.0).abs() < 0.02, "{waves:?}: {}", square / all);
            assert!((mixed / all).abs() < 0.02, "{waves:?}: {}", mixed / all);
        }
        // The mean of x⁴ + y⁴ + z⁴ on a sphere; on the axes it is 1, on the diagonals 1/3.
        assert!((diagonal / all - 0.6).abs() < 0.02, "{waves:?}: {}", diagonal / all);
    }
}

#[test]
fn a_finer_mesh_has_the_same_field() {
    for waves in ALL {
        let long = |k: f64| if k < 4.5 { k * k } else { 0.0 };
        let [coarse, fine] =
            [10, 20].map(|n| random([n; 3], [TAU / n as f64; 3], 3, waves, 7, long));
        for (coarse, fine) in coarse.iter().zip(&fine) {
            let shared = fine.slice(s![..;2, ..;2, ..;2]);
            let differ = (coarse - &shared).mapv(f64::abs).fold(0.0, |a: f64, b| a.max(*b));
            assert!(differ < 1e-13, "{waves:?}: {differ:e}");
        }
        let other = random([10; 3], [TAU / 10.0; 3], 3, waves, 8, long);
        assert!((&other[0] - &coarse[0]).mapv(f64::abs).sum() > 1.0);
    }
}

/// Returns the mean of a product.
fn mean(a: &ArrayView3<'_, f64>, b: &ArrayView3<'_, f64>) -> f64 {
    (a.to_owned() * b).sum() / a.len() as f64
}

#[test]
fn white_noise_belongs_to_cells() {
    let n = 40;
    let noise = white_noise([n, n, n], 3);
    // Errors of means over 64,000 cells are 1/250.
    let all = noise.view();
    assert!((noise.sum() / noise.len() as f64).abs() < 0.012);
    assert!((mean(&all, &all) - 1.0).abs() < 0.02);
    // Neither neighbours nor fields of other seeds follow each other.
    let pairs = [
        (s![.., .., 1..], s![.., .., ..-1]),
        (s![.., 1.., ..], s![.., ..-1, ..]),
        (s![1.., .., ..], s![..-1, .., ..]),
    ];
    for (ahead, behind) in pairs {
        assert!(mean(&noise.slice(ahead), &noise.slice(behind)).abs() < 0.02);
    }
    let other = white_noise([n, n, n], 2);
    for shift in 0..3 {
        let (a, b) = (noise.slice(s![.., .., shift..]), other.slice(s![.., .., ..n - shift]));
        assert!(
            mean(&a, &b).abs() < 0.02
                && mean(&other.slice(s![.., .., shift..]), &noise.slice(s![.., .., ..n - shift]))
                    .abs()
                    < 0.02
        );
    }
    // The mesh around a cell changes nothing.
    let small = white_noise([7, 5, 3], 3);
    assert_eq!(small, noise.slice(s![..3, ..5, ..7]));
}
