//! WENO of fifth order with the weights of Borges, Carmona, Costa and Don (J. Comput. Phys. 227, 3191, 2008,
//! Eq. 28), which come nearer to the ideal ones where the flow is smooth.

use super::weno::{self, Weights};
use super::{Rule, rows};

pub(super) const RULE: Rule =
    Rule { row: &rows::WENO_Z, faces: |cell| weno::faces(cell, &WEIGHTS) };

/// `d (1 + (|β₀ - β₂| / (β + ε))²)`, times all three `(β + ε)²`.
const WEIGHTS: Weights = Weights {
    floor: &rows::WENO_Z_EPS,
    weight: |of, others, [low, middle, high], difference| {
        let outer = of.times(low, high)?;
        let all = of.times(middle, &outer)?;
        let all = of.named("product", all);
        let square = of.times(difference, difference)?;
        let square = of.named("square", square);
        let part = of.times(others, &square)?;
        of.plus(&all, &part)
    },
};
