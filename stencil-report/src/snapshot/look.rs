//! The range, the scale and the colours of pictures.

use stencil_runtime::plot::ColorMap;

use super::{Field, Picture, short, wrong};
use crate::Failure;
use crate::planes::{color_ends, is_range};

/// The values seen of one field.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The least and the greatest finite value; positive ones alone on a logarithmic scale.
    range: Option<(f64, f64)>,
    /// The least value that has no logarithm.
    bad: Option<f64>,
}

/// The colours, scale and range of values, the same for all pictures of a film.
#[derive(Clone, Debug)]
pub struct Look {
    pub(super) given: Option<(f64, f64)>,
    pub(super) log: bool,
    map: Option<ColorMap>,
    seen: Vec<Seen>,
}

impl Look {
    /// Shows so many fields in a given range, on a logarithmic scale and in some colours; without a range and colours as their
    /// values ask for.
    pub fn new(given: Option<(f64, f64)>, log: bool, map: Option<ColorMap>, fields: usize) -> Self {
        Look { given, log, map, seen: vec![Seen::default(); fields] }
    }

    /// Widens the range to the values of a picture.
    pub fn see(&mut self, picture: &Picture<'_>) {
        for at in 0..self.seen.len() {
            self.see_values(at, picture.values(at));
        }
    }

    /// Widens the range of one field.
    pub(super) fn see_values(&mut self, at: usize, values: impl Iterator<Item = f64>) {
        let (log, seen) = (self.log, &mut self.seen[at]);
        for v in values.filter(|v| v.is_finite()) {
            if log && v <= 0.0 {
                seen.bad = Some(seen.bad.map_or(v, |least: f64| least.min(v)));
            } else {
                let (low, high) = seen.range.unwrap_or((v, v));
                seen.range = Some((low.min(v), high.max(v)));
            }
        }
    }

    /// Refuses a logarithmic scale for values without a logarithm, unless a range says that they are to be left out.
    ///
    /// # Errors
    /// If there is such a value.
    pub(super) fn check(&self, fields: &[Field]) -> Result<(), Failure> {
        let bad = fields.iter().zip(&self.seen).find_map(|(f, seen)| Some((f, seen.bad?)));
        match bad {
            Some((field, value)) if self.given.is_none() => Err(wrong(format_args!(
                "`{}` has the value {}, which has no logarithm; leave --log out, or give the positive range to be shown, as in --range 1e-3,1",
                field.label,
                short(value)
            ))),
            _ => Ok(()),
        }
    }

    /// The values seen of one field.
    pub(super) fn seen(&self, at: usize) -> Option<(f64, f64)> {
        self.seen.get(at).and_then(|seen| seen.range)
    }

    /// The range of one field.
    fn range(&self, at: usize) -> Option<(f64, f64)> {
        self.given.or_else(|| self.seen(at))
    }

    /// The range of all fields together.
    fn together(&self) -> Option<(f64, f64)> {
        let seen = self.seen.iter().filter_map(|seen| seen.range);
        let union = seen.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.given.or(union)
    }

    /// The colours of a field: as asked for, or by its sign.
    pub(super) fn colors(&self, field: &Field, at: usize) -> ColorMap {
        match (self.map, self.range(at)) {
            (Some(map), _) => map,
            (None, _) if field.is_length() => ColorMap::Magma,
            (None, Some((low, high))) if !self.log => ColorMap::fitting(low, high),
            _ => ColorMap::Sequential,
        }
    }

    /// The ends of the colours. Without a given range diverging colours are symmetric around zero.
    pub(super) fn map_range(&self, at: usize, colors: ColorMap) -> Option<(f64, f64)> {
        // A constant field gets its range from the heat map.
        match self.given {
            Some(given) => is_range(given).then_some(given),
            None => color_ends(self.range(at)?, colors),
        }
    }

    /// The y axis of curves: all values, with some room above and below.
    pub(super) fn with_room(&self) -> Option<(f64, f64)> {
        let (low, high) = self.together()?;
        if self.log {
            let room = (high / low).powf(0.06);
            return (high > low).then_some((low / room, high * room));
        }
        let room = 0.06 * (high - low);
        is_range((low, high)).then_some((low - room, high + room))
    }
}
