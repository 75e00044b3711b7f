//! Finite-difference weights from their Taylor conditions, in exact rationals.

use num_rational::Ratio;
use num_traits::{One, Zero};

use crate::model::Rational;

/// Weights at offsets -r..=r for the derivative `times` on unit spacing: the solution of
/// `sum_j w_j j^m = m!` for m = times and 0 for every other m up to 2r.
pub fn central(times: u32, radius: i32) -> Vec<Rational> {
    let n = (2 * radius + 1) as usize;
    let mut rows: Vec<Vec<Rational>> = Vec::with_capacity(n);
    for m in 0..n as u32 {
        let mut row: Vec<Rational> = (-radius..=radius)
            .map(|j| Ratio::from(i128::from(j).pow(m)))
            .collect();
        row.push(if m == times {
            Ratio::from((1..=i128::from(m)).product::<i128>())
        } else {
            Ratio::zero()
        });
        rows.push(row);
    }
    solve(rows)
}

/// Gauss-Jordan elimination of a regular system; each row ends with its right-hand side.
fn solve(mut rows: Vec<Vec<Rational>>) -> Vec<Rational> {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n)
            .find(|&r| !rows[r][column].is_zero())
            .unwrap_or(column);
        rows.swap(column, pivot);
        let scale = Rational::one() / rows[column][column];
        for value in &mut rows[column] {
            *value *= scale;
        }
        let pivot_row = rows[column].clone();
        for (r, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if r != column && !factor.is_zero() {
                for (value, pivot) in row.iter_mut().zip(&pivot_row) {
                    *value -= factor * pivot;
                }
            }
        }
    }
    rows.iter().map(|row| row[n]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratios(numerators: &[i128], denominator: i128) -> Vec<Rational> {
        numerators
            .iter()
            .map(|n| Ratio::new(*n, denominator))
            .collect()
    }

    /// Pekkilä et al. 2017, Eq. 6.
    #[test]
    fn first_derivative_of_order_six() {
        assert_eq!(central(1, 3), ratios(&[-1, 9, -45, 0, 45, -9, 1], 60));
    }

    /// Pekkilä et al. 2017, Eq. 7.
    #[test]
    fn second_derivative_of_order_six() {
        assert_eq!(
            central(2, 3),
            ratios(&[2, -27, 270, -490, 270, -27, 2], 180)
        );
    }

    #[test]
    fn textbook_weights_of_other_orders() {
        assert_eq!(central(1, 1), ratios(&[-1, 0, 1], 2));
        assert_eq!(central(2, 1), ratios(&[1, -2, 1], 1));
        assert_eq!(central(1, 2), ratios(&[1, -8, 0, 8, -1], 12));
        assert_eq!(
            central(2, 4),
            ratios(&[-9, 128, -1008, 8064, -14350, 8064, -1008, 128, -9], 5040)
        );
    }
}
