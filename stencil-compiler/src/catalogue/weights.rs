//! Finite-difference weights from their Taylor conditions, in exact rationals.

use num_rational::Ratio;
use num_traits::{One, Zero};

use crate::expr::Rational;

/// Weights at offsets -r..=r for the derivative `times` on unit spacing: the solution of
/// `sum_j w_j j^m = m!` for m = times and 0 for every other m up to 2r.
pub fn central(times: u32, radius: i32) -> Vec<Rational> {
    let n = (2 * radius + 1) as usize;
    let mut rows: Vec<Vec<Rational>> = Vec::with_capacity(n);
    for m in 0..n as u32 {
        let mut row: Vec<Rational> =
            (-radius..=radius).map(|j| Ratio::from(i128::from(j).pow(m))).collect();
        row.push(if m == times {
            Ratio::from((1..=i128::from(m)).product::<i128>())
        } else {
            Ratio::zero()
        });
        rows.push(row);
    }
    solve(rows)
}

/// The known datum on a face, half a cell beyond the first cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OnFace {
    /// No datum: cells alone decide the values beyond.
    Nothing,
    /// The value.
    Value,
    /// The slope along the outward normal.
    Slope,
}

/// A value beyond a face as a combination of the datum on the face and of the nearest cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeyondFace {
    /// The weight of the value on the face, or of its slope times the spacing; zero for [`OnFace::Nothing`].
    pub face: Rational,
    /// The weights of the cells, the one next to the face first.
    pub cells: Vec<Rational>,
}

/// The value of the polynomial through the datum on a face and the nearest `cells`, at the ghost cell `beyond` (0 is
/// next to the face): of degree `cells` with a datum on the face, else of one less. Exact for polynomials up to that
/// degree.
///
/// ```
/// use stencil_compiler::catalogue::weights::{OnFace, beyond_face};
/// use stencil_compiler::expr::Rational;
/// let number = Rational::from;
/// // The line through the value on the face and the first cell.
/// let ghost = beyond_face(OnFace::Value, 1, 0);
/// assert_eq!((ghost.face, ghost.cells), (number(2), vec![number(-1)]));
/// // The parabola with a slope on the face is the mirror image and a rise.
/// let ghost = beyond_face(OnFace::Slope, 2, 1);
/// assert_eq!((ghost.face, ghost.cells), (number(3), vec![number(0), number(1)]));
/// ```
pub fn beyond_face(on_face: OnFace, cells: usize, beyond: usize) -> BeyondFace {
    // In half cells from the face, inwards: cells lie at 1, 3, 5, .., ghost cells at -1, -3, ..
    let ghost = -(2 * beyond as i128 + 1);
    let conditions = cells + usize::from(on_face != OnFace::Nothing);
    let rows = (0..conditions as u32).map(|power| {
        let of_face = match (on_face, power) {
            (OnFace::Nothing, _) => None,
            (OnFace::Value, 0) => Some(Rational::one()),
            // Outwards, and over a whole cell.
            (OnFace::Slope, 1) => Some(Ratio::from(-2)),
            (OnFace::Value | OnFace::Slope, _) => Some(Rational::zero()),
        };
        let at = |place: i128| Ratio::from(place.pow(power));
        let of_cells = (0..cells as i128).map(|cell| at(2 * cell + 1));
        let row = of_face.into_iter().chain(of_cells);
        row.chain([at(ghost)]).collect()
    });
    let mut weights = solve(rows.collect());
    let face = match on_face {
        OnFace::Nothing => Rational::zero(),
        OnFace::Value | OnFace::Slope => weights.remove(0),
    };
    BeyondFace { face, cells: weights }
}

/// Weights of the values at offsets 1 - r..=r, in cells from the one below a face, for the derivative `times` (0 or 1) at
/// the face, on unit spacing: exact up to degree 2r - 1, and odd or even about the face.
pub fn at_face(times: u32, radius: i32) -> Vec<Rational> {
    // In half cells from the face; the unit of length is a cell.
    let places: Vec<i128> = (1 - radius..=radius).map(|at| 2 * i128::from(at) - 1).collect();
    let rows = (0..places.len() as u32).map(|power| {
        let at = places.iter().map(|place| Ratio::from(place.pow(power)));
        let wanted = match power == times {
            true => Ratio::from(1 + i128::from(times)),
            false => Ratio::zero(),
        };
        at.chain([wanted]).collect()
    });
    solve(rows.collect())
}

/// Gauss-Jordan elimination of a regular system; each row ends with its right-hand side.
fn solve(mut rows: Vec<Vec<Rational>>) -> Vec<Rational> {
    let n = rows.len();
    for column in 0..n {
        let pivot = (column..n).find(|&r| !rows[r][column].is_zero()).unwrap_or(column);
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
        numerators.iter().map(|n| Ratio::new(*n, denominator)).collect()
    }

    /// Pekkilä et al. 2017, Eq. 6.
    #[test]
    fn first_derivative_of_order_six() {
        assert_eq!(central(1, 3), ratios(&[-1, 9, -45, 0, 45, -9, 1], 60));
    }

    /// Pekkilä et al. 2017, Eq. 7.
    #[test]
    fn second_derivative_of_order_six() {
        assert_eq!(central(2, 3), ratios(&[2, -27, 270, -490, 270, -27, 2], 180));
    }

    /// B. Fornberg, SIAM Rev. 40, 685 (1998), Table 2: centred at halfway points.
    #[test]
    fn weights_halfway_between_cells() {
        assert_eq!(at_face(0, 1), ratios(&[1, 1], 2));
        assert_eq!(at_face(1, 1), ratios(&[-1, 1], 1));
        assert_eq!(at_face(0, 2), ratios(&[-1, 9, 9, -1], 16));
        assert_eq!(at_face(1, 2), ratios(&[1, -27, 27, -1], 24));
        assert_eq!(at_face(0, 3), ratios(&[3, -25, 150, 150, -25, 3], 256));
        assert_eq!(at_face(1, 3), ratios(&[-9, 125, -2250, 2250, -125, 9], 1920));
    }

    /// Ghost values are exact for the polynomials that they are made of, and not beyond.
    #[test]
    fn ghost_values_are_exact_up_to_their_degree() {
        let outward = |power: i32| match power {
            1 => Ratio::from(-1),
            _ => Ratio::zero(),
        };
        for (on_face, more) in [(OnFace::Nothing, 0), (OnFace::Value, 1), (OnFace::Slope, 1)] {
            for cells in 1..=6 {
                for beyond in 0..8 {
                    let ghost = beyond_face(on_face, cells, beyond);
                    let half = Ratio::new(1, 2);
                    let error = |power: i32| {
                        let known = match on_face {
                            OnFace::Nothing => Ratio::zero(),
                            OnFace::Value if power == 0 => Ratio::one(),
                            OnFace::Value => Ratio::zero(),
                            OnFace::Slope => outward(power),
                        };
                        let at = |cell: i128| (Ratio::from(cell) + half).pow(power);
                        let own = ghost.cells.iter().zip(0..).map(|(w, cell)| w * at(cell));
                        ghost.face * known + own.sum::<Rational>() - at(-1 - beyond as i128)
                    };
                    let exact = cells as i32 + more;
                    assert!((0..exact).all(|power| error(power).is_zero()));
                    // A parabola with a slope on the face may be exact for a cubic at some point, but no other one is.
                    assert!((exact..exact + 2).any(|power| !error(power).is_zero()));
                }
            }
        }
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
