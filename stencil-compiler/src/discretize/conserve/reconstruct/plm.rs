//! A line with a limited slope: second order (van Leer, J. Comput. Phys. 32, 101, 1979).

use super::{Cell, Rule, rows};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RULE: Rule = Rule { row: &rows::PLM, faces };

fn faces(cell: &mut Cell<'_, '_, '_>) -> Result<[Poly; 2]> {
    let upper = cell.around(0, "slope", |cell, ahead| cell.slope(ahead, false))?;
    let lower = match cell.limiter.row.is_sided {
        false => upper.clone(),
        true => cell.around(0, "lower_slope", |cell, ahead| cell.slope(ahead, true))?,
    };
    let lower = cell.algebra.halved(&lower)?;
    Ok([lower.negated(), cell.algebra.halved(&upper)?])
}

impl Cell<'_, '_, '_> {
    /// The limited slope of the cell so many ahead, toward its upper face or its lower one.
    fn slope(&mut self, ahead: i32, lower: bool) -> Result<Poly> {
        let (below, above) = (self.step(ahead - 1)?, self.step(ahead)?);
        let steps = match lower {
            true => [&above, &below],
            false => [&below, &above],
        };
        self.limiter.slope(&mut self.algebra, steps, self.theta)
    }
}
