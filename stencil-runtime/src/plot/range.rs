//! The values at the ends of colours.

use super::axes;
use super::color::ColorMap;

/// Returns the values at the ends of the colours of a map, and whether there are finite values at all; powers of ten on
/// a logarithmic scale.
pub(super) fn of_colors(
    values: impl Iterator<Item = f64>,
    given: Option<(f64, f64)>,
    log: bool,
    map: ColorMap,
) -> ((f64, f64), bool) {
    if log {
        return logarithmic(values, given);
    }
    let found = axes::finite_range(values);
    let range = match (given, found, map) {
        (Some(range), _, _) => range,
        (None, Some((low, high)), ColorMap::Diverging) => {
            let (_, end) = axes::widened(0.0, low.abs().max(high.abs()));
            (-end, end)
        }
        (None, Some((low, high)), _) => axes::widened(low, high),
        (None, None, ColorMap::Diverging) => (-1.0, 1.0),
        (None, None, _) => (0.0, 1.0),
    };
    (range, found.is_some())
}

fn logarithmic(values: impl Iterator<Item = f64>, given: Option<(f64, f64)>) -> ((f64, f64), bool) {
    let found = axes::finite_range(values.filter(|v| *v > 0.0));
    let (low, high) = given.or(found).unwrap_or((1.0, 10.0));
    let (low, high) = (low.log10(), high.log10());
    let range = if high - low > 1e-9 { (low, high) } else { (low - 0.5, high + 0.5) };
    (range, found.is_some())
}

/// Is it a range that colours can have: finite and increasing, and positive on a logarithmic scale?
pub(super) fn is_good((low, high): (f64, f64), log: bool) -> bool {
    (high - low).is_finite() && low < high && (!log || low > 0.0)
}
