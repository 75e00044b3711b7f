//! The mean of the cell at both faces: first order (Godunov, Mat. Sb. 47, 271, 1959).

use super::{Cell, Rule, rows};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RULE: Rule = Rule { row: &rows::CONSTANT, faces };

fn faces(_: &mut Cell<'_, '_, '_>) -> Result<[Poly; 2]> {
    Ok([Poly::default(), Poly::default()])
}
