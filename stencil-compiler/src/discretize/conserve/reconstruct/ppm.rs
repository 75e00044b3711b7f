//! A parabola through the mean of the cell and limited values at its faces: fourth order where the solution is smooth
//! and has no extremum (Colella and Woodward, J. Comput. Phys. 54, 174, 1984, Eqs. 1.6 to 1.10).

use super::{Cell, Rule, rows};
use crate::discretize::conserve::limiters::{mc, twice_least};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RULE: Rule = Rule { row: &rows::PPM, faces };

/// With slopes of monotonized central differences (Eqs. 1.7 and 1.8), a face is half a step and a sixth of the change
/// of slopes away from the means beside it (Eq. 1.6). The parabola is monotone where neither face is more than twice as
/// far from the mean as the other, on the other side of it: this is Eq. 1.10, in differences. Twelve times these are
/// sums of whole numbers, exact up to their last rounding, in whatever order.
fn faces(cell: &mut Cell<'_, '_, '_>) -> Result<[Poly; 2]> {
    let (below, above) = (cell.step(-1)?, cell.step(0)?);
    let change_below = cell.around(-1, "slope_step", change_of_slope)?;
    let change_above = cell.around(0, "slope_step", change_of_slope)?;
    let (name, of) = (cell.name, &mut cell.algebra);
    let rise = of.minus(&of.scaled(&above, 3, 1)?, &change_above)?;
    let rise = of.named(format!("{name}_to_upper"), rise);
    let fall = of.plus(&of.scaled(&below, 3, 1)?, &change_below)?;
    let fall = of.named(format!("{name}_to_lower"), fall);
    let (twice_rise, twice_fall) = (of.scaled(&rise, 2, 1)?, of.scaled(&fall, 2, 1)?);
    let upper = twice_least(of, &rise, &twice_fall)?;
    let upper = of.named(format!("{name}_above"), upper);
    let lower = twice_least(of, &fall, &twice_rise)?;
    let lower = of.named(format!("{name}_below"), lower);
    Ok([of.scaled(&lower, -1, 12)?, of.scaled(&upper, 1, 12)?])
}

/// The difference of slopes between the cell at this offset and the next one.
fn change_of_slope(cell: &mut Cell<'_, '_, '_>, ahead: i32) -> Result<Poly> {
    let slope = |cell: &mut Cell<'_, '_, '_>, ahead: i32| {
        let (below, above) = (cell.step(ahead - 1)?, cell.step(ahead)?);
        mc(&mut cell.algebra, &below, &above)
    };
    let own = cell.around(ahead, "slope", slope)?;
    let next = cell.around(ahead + 1, "slope", slope)?;
    cell.algebra.minus(&next, &own)
}
