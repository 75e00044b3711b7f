//! A line with a limited slope: second order (van Leer, J. Comput. Phys. 32, 101, 1979).

use super::{Cell, Reconstruction};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RECONSTRUCTION: Reconstruction = Reconstruction {
    name: "plm",
    source: "a line with a limited slope, second order (van Leer 1979)",
    limited: true,
    faces,
};

fn faces(cell: &mut Cell<'_, '_, '_>) -> Result<[Poly; 2]> {
    let (mean, next) = (cell.mean(0), cell.mean(1));
    let (axis, name, of) = (cell.axis, cell.name, &mut cell.algebra);
    let above = of.minus(&next, &mean)?;
    let above = of.named(&format!("{name}_step"), above);
    let below = of.expander.atoms.at(&above, axis, -1);
    let slope = cell.limiter.slope(of, [&below, &above], cell.theta)?;
    let slope = of.named(&format!("{name}_slope"), slope);
    let half = of.halved(&slope)?;
    Ok([of.minus(&mean, &half)?, of.plus(&mean, &half)?])
}
