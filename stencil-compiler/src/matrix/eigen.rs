//! Eigenvalues of small complex matrices: balancing, Hessenberg form, and the QR iteration with Wilkinson's shifts
//! (Golub and Van Loan, Matrix Computations, 4th ed., sections 7.3 to 7.5).

#![expect(
    clippy::needless_range_loop,
    reason = "indices of a matrix are those of its rows and of its columns"
)]

use num_complex::Complex64;

use super::balance::units;
use super::size;

/// Iterations for one eigenvalue before the search gives up.
const MOST: usize = 60;

/// The eigenvalues of a square matrix, row by row; `None` if an entry is not finite or the iteration does not end.
pub(crate) fn eigenvalues(mut a: Vec<Vec<Complex64>>) -> Option<Vec<Complex64>> {
    let finite = |z: &Complex64| z.re.is_finite() && z.im.is_finite();
    if !a.iter().flatten().all(finite) {
        return None;
    }
    balance(&mut a);
    to_hessenberg(&mut a);
    let mut found = Vec::new();
    let (mut end, mut tries) = (a.len(), 0);
    while end > 0 {
        let start = block_start(&mut a, end);
        if start + 1 == end {
            found.push(a[end - 1][end - 1]);
            (end, tries) = (end - 1, 0);
            continue;
        }
        tries += 1;
        if tries > MOST {
            return None;
        }
        let mut shift = wilkinson(&a, end);
        if tries % 10 == 0 {
            // A cycle is left by any other shift.
            shift += size(a[end - 1][end - 2]);
        }
        sweep(&mut a, (start, end), shift);
    }
    Some(found)
}

/// Scales rows and columns to similar size, by powers of two: units of fields differ, eigenvalues do not.
fn balance(a: &mut [Vec<Complex64>]) {
    let units = units(a.len(), |i, j| size(a[i][j]));
    for (row, own) in a.iter_mut().zip(&units) {
        for (value, other) in row.iter_mut().zip(&units) {
            *value *= other / own;
        }
    }
}

/// Eliminates the entries below the first subdiagonal, by similarity with row exchanges.
fn to_hessenberg(a: &mut [Vec<Complex64>]) {
    let n = a.len();
    for column in 0..n.saturating_sub(2) {
        let at = column + 1;
        let larger = |p: &usize, q: &usize| {
            let (p, q) = (size(a[*p][column]), size(a[*q][column]));
            p.total_cmp(&q)
        };
        let Some(pivot) = (at..n).max_by(larger) else {
            continue;
        };
        if size(a[pivot][column]) == 0.0 {
            continue;
        }
        a.swap(pivot, at);
        for row in a.iter_mut() {
            row.swap(pivot, at);
        }
        for i in at + 1..n {
            let factor = a[i][column] / a[at][column];
            if factor == Complex64::ZERO {
                continue;
            }
            let above = a[at].clone();
            for (to, value) in a[i].iter_mut().zip(above) {
                *to -= factor * value;
            }
            for row in a.iter_mut() {
                let value = row[i];
                row[at] += factor * value;
            }
        }
    }
}

/// Returns the first row of the last coupled block. Subdiagonal entries that are negligible beside their neighbours
/// become zero.
fn block_start(a: &mut [Vec<Complex64>], end: usize) -> usize {
    let mut start = end - 1;
    while start > 0 {
        let beside = size(a[start][start]) + size(a[start - 1][start - 1]);
        if size(a[start][start - 1]) <= f64::EPSILON * beside {
            a[start][start - 1] = Complex64::ZERO;
            break;
        }
        start -= 1;
    }
    start
}

/// The eigenvalue of the last two rows that is nearer to the last entry.
fn wilkinson(a: &[Vec<Complex64>], end: usize) -> Complex64 {
    let (p, q) = (a[end - 2][end - 2], a[end - 1][end - 1]);
    let half = (p - q) * 0.5;
    let root = root(half * half + a[end - 2][end - 1] * a[end - 1][end - 2]);
    let mean = (p + q) * 0.5;
    let (one, other) = (mean + root, mean - root);
    if size(one - q) < size(other - q) { one } else { other }
}

/// The square root with a real part that is not negative.
fn root(z: Complex64) -> Complex64 {
    let length = size(z);
    if length == 0.0 {
        return Complex64::ZERO;
    }
    let re = ((length + z.re.abs()) * 0.5).sqrt();
    let im = z.im.abs() / (2.0 * re);
    let (re, im) = if z.re >= 0.0 { (re, im) } else { (im, re) };
    Complex64::new(re, if z.im < 0.0 { -im } else { im })
}

/// One QR step of a block: rotations from the left, then from the right.
fn sweep(a: &mut [Vec<Complex64>], (start, end): (usize, usize), shift: Complex64) {
    for i in start..end {
        a[i][i] -= shift;
    }
    let mut rotations = Vec::new();
    for k in start..end - 1 {
        let (x, y) = (a[k][k], a[k + 1][k]);
        let length = (x.norm_sqr() + y.norm_sqr()).sqrt();
        let (c, s) = if length == 0.0 {
            (Complex64::ONE, Complex64::ZERO)
        } else {
            (x / length, y / length)
        };
        rotations.push((c, s));
        for j in k..end {
            let (u, v) = (a[k][j], a[k + 1][j]);
            a[k][j] = c.conj() * u + s.conj() * v;
            a[k + 1][j] = c * v - s * u;
        }
    }
    for (k, (c, s)) in (start..).zip(rotations) {
        for row in &mut a[start..(k + 3).min(end)] {
            let (u, v) = (row[k], row[k + 1]);
            row[k] = u * c + v * s;
            row[k + 1] = v * c.conj() - u * s.conj();
        }
    }
    for i in start..end {
        a[i][i] += shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sums of powers of eigenvalues are traces of powers: Newton's identities fix the spectrum by them.
    #[test]
    fn powers_of_eigenvalues_add_up_to_traces_of_powers() {
        let mut seed = 7_u64;
        let mut number = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        for n in 1..=9 {
            for _ in 0..20 {
                let entry = |_| (0..n).map(|_| Complex64::new(number(), number())).collect();
                let a: Vec<Vec<Complex64>> = (0..n).map(entry).collect();
                let found = eigenvalues(a.clone()).unwrap();
                assert_eq!(found.len(), n);
                let mut power = a.clone();
                for exponent in 1..=n {
                    let trace: Complex64 = (0..n).map(|i| power[i][i]).sum();
                    let to = |z: &Complex64| (0..exponent).fold(Complex64::ONE, |p, _| p * z);
                    let sum: Complex64 = found.iter().map(to).sum();
                    let scale = 1.0 + size(trace) + found.iter().map(|z| size(to(z))).sum::<f64>();
                    assert!(size(sum - trace) < 1e-9 * scale, "{n}, power {exponent}");
                    power = product(&power, &a);
                }
            }
        }
    }

    fn product(a: &[Vec<Complex64>], b: &[Vec<Complex64>]) -> Vec<Vec<Complex64>> {
        let n = a.len();
        let entry = |i: usize, j: usize| (0..n).map(|k| a[i][k] * b[k][j]).sum();
        (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
    }

    /// Sound in air: entries of 1e5 beside ones of 1e-5 take no digits from the speed.
    #[test]
    fn units_do_not_matter() {
        let of = |a: f64, b: f64| {
            let entry = |x| Complex64::new(0.0, x);
            let a = vec![vec![entry(0.0), entry(a)], vec![entry(b), entry(0.0)]];
            eigenvalues(a).unwrap()
        };
        for z in of(1e10, 1e-10) {
            assert!(z.re.abs() < 1e-14 && (z.im.abs() - 1.0).abs() < 1e-14, "{z}");
        }
        assert!(eigenvalues(vec![vec![Complex64::new(f64::NAN, 0.0)]]).is_none());
    }
}
