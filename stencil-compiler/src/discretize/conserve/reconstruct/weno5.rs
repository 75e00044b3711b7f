//! WENO of fifth order with the weights of Jiang and Shu (J. Comput. Phys. 126, 202, 1996), and with the
//! small number of HyPar, 10⁻⁶ (Eqs. 12 to 20, there of fluxes).

use super::weno::{self, Weights};
use super::{Rule, rows};

pub(super) const RULE: Rule = Rule { row: &rows::WENO5, faces: |cell| weno::faces(cell, &WEIGHTS) };

/// `d / (β + ε)²`, times all three `(β + ε)²`.
const WEIGHTS: Weights =
    Weights { floor: &rows::WENO5_EPS, weight: |_, others, _, _| Ok(others.clone()) };
