//! Derivative operators as stencils: one file each, listed in [`all`].

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::functions::Row;
use crate::expr::Rational;

pub mod bidiagonal;
pub mod first;
pub mod higher;
pub mod second;
pub mod staggered;
pub mod upwind;

/// Every operator that approximates a derivative to its order.
pub fn all() -> impl Iterator<Item = &'static Operator> {
    let few = [&first::OPERATOR, &second::OPERATOR, &bidiagonal::OPERATOR];
    few.into_iter().chain(higher::OPERATORS)
}

/// The functions of the language that have an operator of their own, which approximates no derivative by itself.
pub(crate) const FUNCTIONS: &[&Row] = &[&upwind::FUNCTION];

/// Every operator that leads from cells to faces, or from faces to cells.
pub fn halfway() -> [&'static Operator; 4] {
    [&staggered::VALUE, &staggered::SLOPE, &staggered::ACROSS, &staggered::CENTRE]
}

/// A linear approximation of one derivative.
#[derive(Debug)]
pub struct Operator {
    /// Its name, with which names of grid functions begin that it makes by itself.
    pub name: &'static str,
    /// Its publication.
    pub source: &'static str,
    /// The number of derivatives along each of its axes: `[1]`, `[2]`, `[1, 1]`.
    pub times: &'static [u32],
    /// The stencil of an even order of accuracy along these axes, as many as `times` has.
    pub stencil: fn(order: u32, axes: &[usize]) -> Stencil,
}

/// Operators have different names.
impl Ord for Operator {
    fn cmp(&self, other: &Self) -> Ordering {
        self.name.cmp(other.name)
    }
}

impl PartialOrd for Operator {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Operator {}

impl PartialEq for Operator {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

/// Weights on unit spacing; divided by the spacing of an axis as often as it is differentiated.
pub type Stencil = BTreeMap<[i32; 3], Rational>;

/// The stencil with these weights at offsets -r..=r along one axis.
fn along(axis: usize, weights: Vec<Rational>) -> Stencil {
    let radius = (weights.len() / 2) as i32;
    let place = |(i, weight): (usize, Rational)| {
        let mut at = [0; 3];
        at[axis] = i as i32 - radius;
        (at, weight)
    };
    weights.into_iter().enumerate().map(place).filter(|(_, w)| *w.numer() != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_rational::Ratio;
    use num_traits::Zero;

    /// The derivative of x^p y^q at the origin on unit spacing.
    fn exact(times: &[u32], powers: &[u32]) -> Rational {
        let hit = times.iter().zip(powers).all(|(t, p)| t == p);
        if hit {
            times.iter().map(|t| Ratio::from((1..=i128::from(*t)).product::<i128>())).product()
        } else {
            Ratio::zero()
        }
    }

    #[test]
    fn every_operator_is_exact_on_polynomials_up_to_its_order_and_not_beyond() {
        for operator in all() {
            for order in [2, 4, 6, 8, 10] {
                let axes: Vec<usize> = (0..operator.times.len()).collect();
                let stencil = (operator.stencil)(order, &axes);
                let apply = |powers: &[u32]| -> Rational {
                    let term = |(at, w): (&[i32; 3], &Rational)| {
                        let powers = powers
                            .iter()
                            .enumerate()
                            .map(|(a, p)| Ratio::from(i128::from(at[a]).pow(*p)));
                        powers.product::<Rational>() * w
                    };
                    stencil.iter().map(term).sum()
                };
                let degree: u32 = operator.times.iter().sum();
                let highest = order + degree - 1;
                let mut inexact_above = false;
                for p in 0..=highest + 1 {
                    for q in 0..=(if axes.len() > 1 { highest + 1 - p } else { 0 }) {
                        let powers = [p, q];
                        let wrong = apply(&powers[..axes.len()])
                            != exact(operator.times, &powers[..axes.len()]);
                        let above = p + q > highest;
                        assert!(
                            !wrong || above,
                            "{} of order {order} is wrong on x^{p} y^{q}",
                            operator.name
                        );
                        inexact_above |= wrong;
                    }
                }
                let next = [highest + 1, if axes.len() > 1 { 1 } else { 0 }];
                inexact_above |=
                    apply(&next[..axes.len()]) != exact(operator.times, &next[..axes.len()]);
                assert!(inexact_above, "{} of order {order} is better than it says", operator.name);
            }
        }
    }

    /// `u > 0` takes no point ahead of the flow, and the formula is exact up to order - 1.
    #[test]
    fn upwinding_drops_the_point_furthest_downwind() {
        for order in [2, 4, 6, 8, 10] {
            let central = (first::OPERATOR.stencil)(order, &[0]);
            let upwind = (upwind::OPERATOR.stencil)(order, &[0]);
            let biased = |at: i32| {
                let of = |s: &Stencil| s.get(&[at, 0, 0]).copied().unwrap_or_else(Ratio::zero);
                of(&central) - of(&upwind)
            };
            let radius = order as i32 / 2;
            assert!(biased(radius).is_zero(), "order {order}");
            assert!(!biased(-radius).is_zero(), "order {order}");
            for p in 0..order {
                let applied: Rational = (-radius..=radius)
                    .map(|at| biased(at) * Ratio::from(i128::from(at).pow(p)))
                    .sum();
                let exact = if p == 1 { 1 } else { 0 };
                assert_eq!(applied, Ratio::from(exact), "order {order}, x^{p}");
            }
        }
    }

    /// Pekkilä et al. 2017, Eq. 8.
    #[test]
    fn bidiagonal_of_order_six() {
        let stencil = (bidiagonal::OPERATOR.stencil)(6, &[0, 1]);
        assert_eq!(stencil.len(), 12);
        for (k, w) in [(1, 270), (2, -27), (3, 2)] {
            assert_eq!(stencil[&[k, k, 0]], Ratio::new(w, 720));
            assert_eq!(stencil[&[-k, k, 0]], Ratio::new(-w, 720));
            assert_eq!(stencil[&[-k, -k, 0]], Ratio::new(w, 720));
            assert_eq!(stencil[&[k, -k, 0]], Ratio::new(-w, 720));
        }
    }
}
