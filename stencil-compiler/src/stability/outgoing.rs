//! The part of a disturbance that leaves through a face: its projection on the waves of a linear law that move outwards.
//!
//! With the sign function of the Jacobian `A` along the normal, the projection is `(1 + sign A)/2`, and Newton's iteration
//! `X = (X + 1/X)/2` finds the sign without eigenvectors (Higham, Functions of Matrices, 2008, section 5.3).

use crate::matrix::{fastest, units};

pub use crate::matrix::Matrix;

/// Waves slower than this share of the fastest one are at rest.
const AT_REST: f64 = 1e-8;

/// Iterations before the search gives up. Each one halves the distance of a slow wave from those at full speed.
const MOST: usize = 100;

/// The projection of disturbances on waves whose speeds have the sign of `outwards`, 1 or -1, by the Jacobian of the fluxes
/// along the normal. Waves at rest count as outgoing: nothing is brought in by them. `None` if an entry is not finite, or
/// some speeds are not real.
pub fn outgoing(jacobian: &Matrix, outwards: f64) -> Option<Matrix> {
    let n = jacobian.len();
    let (fastest, is_complex) = fastest(jacobian)?;
    if is_complex {
        return None;
    }
    let one = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    if fastest == 0.0 {
        return Some((0..n).map(|i| (0..n).map(|j| one(i, j)).collect()).collect());
    }
    let units = units(n, |i, j| jacobian[i][j].abs());
    let entry = |i: usize, j: usize| {
        let own = outwards * jacobian[i][j] * units[j] / (units[i] * fastest);
        own + AT_REST * one(i, j)
    };
    let mut sign: Matrix = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
    for _ in 0..MOST {
        let inverse = inverse(&sign)?;
        let mut change = 0.0_f64;
        for (row, other) in sign.iter_mut().zip(inverse) {
            for (value, other) in row.iter_mut().zip(other) {
                let next = (*value + other) / 2.0;
                change = change.max((next - *value).abs());
                *value = next;
            }
        }
        if change < 1e-14 {
            break;
        }
    }
    let projected = |i: usize, j: usize| (one(i, j) + sign[i][j]) / 2.0 * units[i] / units[j];
    let all: Matrix = (0..n).map(|i| (0..n).map(|j| projected(i, j)).collect()).collect();
    all.iter().flatten().all(|value| value.is_finite()).then_some(all)
}

/// Does a Jacobian of the fluxes have speeds that are not real? A law has no waves about such a state. A matrix that is not finite has
/// none that are known.
pub fn is_complex(jacobian: &Matrix) -> bool {
    fastest(jacobian).is_some_and(|(_, is_complex)| is_complex)
}

/// The inverse, by elimination with the largest pivot of each column.
fn inverse(a: &Matrix) -> Option<Matrix> {
    let n = a.len();
    let with_one = |(i, row): (usize, &Vec<f64>)| {
        let one = (0..n).map(|j| if i == j { 1.0 } else { 0.0 });
        row.iter().copied().chain(one).collect::<Vec<f64>>()
    };
    let mut both: Matrix = a.iter().enumerate().map(with_one).collect();
    for column in 0..n {
        let larger =
            |p: &usize, q: &usize| both[*p][column].abs().total_cmp(&both[*q][column].abs());
        let pivot = (column..n).max_by(larger)?;
        both.swap(column, pivot);
        let by = both[column][column];
        if !by.is_finite() || by == 0.0 {
            return None;
        }
        for value in &mut both[column] {
            *value /= by;
        }
        let row = both[column].clone();
        for (_, other) in both.iter_mut().enumerate().filter(|(i, _)| *i != column) {
            let factor = other[column];
            for (value, own) in other.iter_mut().zip(&row) {
                *value -= factor * own;
            }
        }
    }
    Some(both.into_iter().map(|row| row[n..].to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &Matrix, expected: &[&[f64]], scale: f64) {
        for (found, expected) in found.iter().flatten().zip(expected.iter().copied().flatten()) {
            assert!((found - expected).abs() < 1e-12 * scale, "{found} {expected}");
        }
    }

    /// Sound in units that differ by ten powers of ten, and a wave at rest.
    #[test]
    fn sound_leaves_by_its_invariant() {
        let (stiffness, density) = (1e10, 1.0);
        let a = vec![vec![0.0, stiffness, 0.0], vec![1.0 / density, 0.0, 0.0], vec![0.0, 0.0, 0.0]];
        let impedance = 1e5;
        let out = outgoing(&a, 1.0).unwrap();
        near(
            &out,
            &[&[0.5, impedance / 2.0, 0.0], &[0.5 / impedance, 0.5, 0.0], &[0.0, 0.0, 1.0]],
            impedance,
        );
        assert!((out[1][0] * impedance - 0.5).abs() < 1e-7);
        let back = outgoing(&a, -1.0).unwrap();
        assert!((back[0][1] + impedance / 2.0).abs() < 1e-2);
    }

    #[test]
    fn all_leaves_or_nothing_where_all_waves_go_one_way() {
        let a = vec![vec![3.0, 1.0], vec![1.0, 3.0]];
        near(&outgoing(&a, 1.0).unwrap(), &[&[1.0, 0.0], &[0.0, 1.0]], 1.0);
        near(&outgoing(&a, -1.0).unwrap(), &[&[0.0, 0.0], &[0.0, 0.0]], 1.0);
        near(&outgoing(&vec![vec![0.0]], 1.0).unwrap(), &[&[1.0]], 1.0);
    }

    #[test]
    fn rotations_are_no_waves() {
        assert!(outgoing(&vec![vec![0.0, 1.0], vec![-1.0, 0.0]], 1.0).is_none());
        assert!(outgoing(&vec![vec![f64::NAN]], 1.0).is_none());
    }
}
