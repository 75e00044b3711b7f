//! The planes that stand for a box in pictures, and their colours.

use stencil_runtime::Axis;
use stencil_runtime::plot::ColorMap;

/// Fields of a box that are shown by three planes each; of more, one plane is shown of each.
const FEW: usize = 3;

/// Returns the axes to which planes through the middle of a box are normal that stand for it in a picture of so many
/// fields. The plane of x and y comes first.
pub(crate) fn through_middle(fields: usize) -> &'static [Axis] {
    const ALL: [Axis; 3] = [Axis::Z, Axis::Y, Axis::X];
    if fields <= FEW { &ALL } else { &ALL[..1] }
}

/// Returns the ends of the colours of values between these: symmetric around zero if colours are diverging. A constant has no
/// range of its own.
pub(crate) fn color_ends((low, high): (f64, f64), colors: ColorMap) -> Option<(f64, f64)> {
    let end = low.abs().max(high.abs());
    let ends = if colors == ColorMap::Diverging { (-end, end) } else { (low, high) };
    is_range(ends).then_some(ends)
}

/// Is it a range, not a constant and its rounding?
pub(crate) fn is_range((low, high): (f64, f64)) -> bool {
    high - low > 1e-9 * low.abs().max(high.abs())
}
