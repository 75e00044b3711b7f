//! A line with a limited slope: second order (van Leer, J. Comput. Phys. 32, 101, 1979).

use super::{Cell, Rule, rows};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RULE: Rule = Rule {
    row: &rows::PLM,
    faces,
};

fn faces(cell: &mut Cell<'_, '_, '_>) -> Result<[Poly; 2]> {
    let slope = cell.around(0, "slope", Cell::slope)?;
    let half = cell.algebra.halved(&slope)?;
    Ok([half.negated(), half])
}

impl Cell<'_, '_, '_> {
    /// The limited slope across the cell at this offset.
    fn slope(&mut self, ahead: i32) -> Result<Poly> {
        let (below, above) = (self.step(ahead - 1)?, self.step(ahead)?);
        self.limiter
            .slope(&mut self.algebra, [&below, &above], self.theta)
    }
}
