//! A parabola through the mean of the cell and limited values at its faces: fourth order where the solution is smooth
//! and has no extremum (Colella and Woodward, J. Comput. Phys. 54, 174, 1984, Eqs. 1.6 to 1.10).

use super::{Cell, Reconstruction};
use crate::discretize::conserve::limiters::{least, mc};
use crate::discretize::expand::Result;
use crate::discretize::poly::Poly;

pub(super) const RECONSTRUCTION: Reconstruction = Reconstruction {
    name: "ppm",
    source: "a monotone parabola, up to fourth order (Colella and Woodward 1984)",
    limited: false,
    faces,
};

/// With slopes of monotonized central differences (Eqs. 1.7 and 1.8), a face is half a step and a sixth of the change of
/// slopes away from the means beside it (Eq. 1.6). The parabola is monotone where neither face is more than twice as far from the
/// mean as the other, on the other side of it: this is Eq. 1.10, in differences. Six times these are sums of whole
/// numbers, exact but for their last rounding, in whatever order.
fn faces(cell: &mut Cell<'_, '_, '_>) -> Result<[Poly; 2]> {
    let (mean, next) = (cell.mean(0), cell.mean(1));
    let (axis, name, of) = (cell.axis, cell.name, &mut cell.algebra);
    let above = of.minus(&next, &mean)?;
    let above = of.named(&format!("{name}_step"), above);
    let below = of.expander.atoms.at(&above, axis, -1);
    let slope = mc(of, &below, &above)?;
    let slope = of.named(&format!("{name}_slope"), slope);
    let slope_next = of.expander.atoms.at(&slope, axis, 1);
    let change_above = of.minus(&slope_next, &slope)?;
    let change_above = of.named(&format!("{name}_slope_step"), change_above);
    let change_below = of.expander.atoms.at(&change_above, axis, -1);
    let rise = of.minus(&of.scaled(&above, 3, 1)?, &change_above)?;
    let rise = of.named(&format!("{name}_to_upper"), rise);
    let fall = of.plus(&of.scaled(&below, 3, 1)?, &change_below)?;
    let fall = of.named(&format!("{name}_to_lower"), fall);
    let (twice_rise, twice_fall) = (of.scaled(&rise, 2, 1)?, of.scaled(&fall, 2, 1)?);
    let upper = least(of, &[&rise, &twice_fall])?;
    let upper = of.named(&format!("{name}_above"), upper);
    let lower = least(of, &[&fall, &twice_rise])?;
    let lower = of.named(&format!("{name}_below"), lower);
    Ok([
        of.minus(&mean, &of.scaled(&lower, 1, 6)?)?,
        of.plus(&mean, &of.scaled(&upper, 1, 6)?)?,
    ])
}
