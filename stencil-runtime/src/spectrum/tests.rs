//! Parseval's theorem, single modes, and errors.

use super::*;
use ndarray::{Array3, Zip};

/// Returns numbers without a pattern, the same on every machine.
fn noise(shape: (usize, usize, usize), seed: u64) -> Array3<f64> {
    let mut state = seed;
    Array3::from_shape_simple_fn(shape, || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    })
}

/// Returns half the mean square, straight from the values.
fn mean_energy(fields: &[Array3<f64>]) -> f64 {
    let squares = fields.iter().map(|f| f.iter().map(|v| v * v).sum::<f64>() / f.len() as f64);
    0.5 * squares.sum::<f64>()
}

fn views(fields: &[Array3<f64>]) -> Vec<ArrayView3<'_, f64>> {
    fields.iter().map(|f| f.view()).collect()
}

#[test]
fn the_shells_hold_the_mean_kinetic_energy() {
    // Even, odd and prime numbers of cells, in one to three dimensions.
    for (shape, components) in [
        ((1, 1, 16), 1),
        ((1, 1, 15), 1),
        ((1, 9, 14), 2),
        ((1, 16, 1), 2),
        ((12, 7, 11), 3),
        ((8, 8, 8), 3),
        ((5, 1, 6), 3),
    ] {
        let fields: Vec<_> = (0..components).map(|c| noise(shape, c)).collect();
        let spectrum = kinetic_energy(&views(&fields), [0.1, 0.3, 0.2]).unwrap();
        let expected = mean_energy(&fields);
        let error = spectrum.total() / expected - 1.0;
        assert!(error.abs() < 1e-13, "{shape:?}: {error:e}");
        assert_eq!(spectrum.k.len(), spectrum.energy.len());
    }
}

#[test]
fn a_single_mode_lies_in_its_shell() {
    // |k| = sqrt(4 + 9 + 1) = 3.74 belongs to shell 4; one of its components is negative.
    let n = 16;
    let h = TAU / n as f64;
    let phase = |(z, y, x): (usize, usize, usize)| h * (2.0 * x as f64 - 3.0 * y as f64 + z as f64);
    let u = Array3::from_shape_fn((n, n, n), |at| 2.0 * phase(at).cos());
    let spectrum = kinetic_energy(&[u.view()], [h; 3]).unwrap();
    for (shell, energy) in spectrum.energy.iter().enumerate() {
        let expected = if shell == 4 { 1.0 } else { 0.0 };
        assert!((energy - expected).abs() < 1e-14, "shell {shell}: {energy}");
    }
    assert_eq!(spectrum.k[4], 4.0);
}

#[test]
fn shells_have_the_width_of_the_longest_side() {
    // A box of 4π x π: the second mode along y has k = 4, eight times Δk = 1/2.
    let (nx, ny) = (32, 8);
    let h = [2.0 * TAU / nx as f64, 0.5 * TAU / ny as f64, 1.0];
    let v = Array3::from_shape_fn((1, ny, nx), |(_, y, _)| (4.0 * h[1] * y as f64).sin());
    let spectrum = kinetic_energy(&[v.view()], h).unwrap();
    assert_eq!(spectrum.k[1], 0.5);
    let largest =
        (0..spectrum.k.len()).max_by(|a, b| spectrum.energy[*a].total_cmp(&spectrum.energy[*b]));
    assert_eq!(largest, Some(8));
    assert_eq!(spectrum.k[8], 4.0);
}

#[test]
fn the_mean_flow_is_shell_zero() {
    let u = Array3::from_elem((4, 4, 4), 3.0);
    let spectrum = kinetic_energy(&[u.view()], [0.25; 3]).unwrap();
    assert_eq!(spectrum.energy[0], 4.5);
    assert!(spectrum.energy[1..].iter().all(|e| e.abs() < 1e-28));
}

#[test]
fn threads_change_no_bit() {
    let fields = [noise((24, 20, 18), 1), noise((24, 20, 18), 2)];
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| kinetic_energy(&views(&fields), [0.1; 3]).unwrap())
    };
    let (one, three) = (on(1), on(3));
    let bits = |s: &Spectrum| s.energy.iter().map(|e| e.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&one), bits(&three));
}

#[test]
fn a_view_that_is_not_contiguous_counts_the_same() {
    let field = noise((6, 8, 10), 3);
    let mut turned = Array3::zeros((10, 8, 6));
    Zip::from(turned.view_mut().reversed_axes()).and(&field).for_each(|to, from| *to = *from);
    let (a, b) = (
        kinetic_energy(&[field.view()], [1.0; 3]).unwrap(),
        kinetic_energy(&[turned.view().reversed_axes()], [1.0; 3]).unwrap(),
    );
    assert_eq!(a, b);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let (a, b) = (Array3::<f64>::zeros((2, 3, 4)), Array3::<f64>::zeros((2, 3, 5)));
    let error =
        |fields: &[ArrayView3<'_, f64>], h| kinetic_energy(fields, h).unwrap_err().to_string();
    assert!(error(&[], [1.0; 3]).contains("one to three components, not 0"));
    assert!(error(&[a.view(), b.view()], [1.0; 3]).contains("component 1 has the shape [2, 3, 5]"));
    assert!(error(&[a.view()], [1.0, 0.0, 1.0]).contains("axis 1 is 0"));
    assert!(error(&[Array3::zeros((1, 1, 1)).view()], [1.0; 3]).contains("one cell"));
    let mut c = a.clone();
    c[[1, 2, 3]] = f64::NAN;
    assert!(
        error(&[a.view(), c.view()], [1.0; 3])
            .contains("component 1 is not finite in cell [3, 2, 1]")
    );
}

#[test]
fn a_file_reads_back() {
    let path = std::env::temp_dir().join(format!("spectrum-{}.csv", std::process::id()));
    let spectrum = Spectrum { k: vec![0.0, 0.5, 1.0], energy: vec![1e-30, 0.1 + 0.2, 3.0] };
    spectrum.save_csv(&path).unwrap();
    assert_eq!(Spectrum::read_csv(&path).unwrap(), spectrum);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn the_guide_lies_above_the_spectrum_with_its_slope() {
    let shown: Vec<(f64, f64)> = (1..=100)
        .map(|k| (f64::from(k), (-0.1 * f64::from(k)).exp() * f64::from(k).powf(-5.0 / 3.0)))
        .collect();
    let [(k0, e0), (k1, e1)] = guide_line(&shown, -5.0 / 3.0).unwrap();
    assert_eq!((k0, k1), (1.0, 10.0));
    assert!(((e1 / e0).log10() + 5.0 / 3.0).abs() < 1e-12);
    assert!(e0 > shown[0].1 && e1 > shown[9].1);
    assert_eq!(slope_name(-5.0 / 3.0), "k^(−5/3)");
    assert_eq!(slope_name(-2.0), "k^−2");
    assert!(guide_line(&[], -2.0).is_none());
    assert!(guide_line(&shown[..1], -2.0).is_none());
}
