//! The mixed derivative on the two diagonals of a plane.

use num_rational::Ratio;

use super::{Operator, Stencil};
use crate::catalogue::weights;

/// The difference of the second derivatives along both diagonals is four times the mixed one.
pub const OPERATOR: Operator = Operator {
    name: "bidiagonal",
    source: "Pekkilä et al. 2017, Eq. 8 (order 6)",
    times: &[1, 1],
    stencil: |order, axes| {
        let radius = order as i32 / 2;
        let second = weights::central(2, radius);
        let mut stencil = Stencil::new();
        for k in 1..=radius {
            let weight = second[(radius + k) as usize] / Ratio::from(4);
            for (a, b) in [(k, k), (-k, k), (-k, -k), (k, -k)] {
                let mut at = [0; 3];
                at[axes[0]] = a;
                at[axes[1]] = b;
                stencil.insert(at, if a == b { weight } else { -weight });
            }
        }
        stencil
    },
};
