//! Searches for values that are not finite or have grown without bound, while they are in the cache.

use super::instructions::{self, Checked, Vectorized};
use crate::Number;

/// A search through the rows of a block for values beyond a bound.
struct Look<'a, T> {
    pitch: usize,
    length: usize,
    /// Values from the first cell of the first row on.
    rows: &'a [T],
    /// The largest size of a value.
    most: T,
    finite: &'a mut bool,
}

impl<T: Number> Vectorized for Look<'_, T> {
    #[inline(always)]
    fn run(self) {
        let (rows, most) = (self.rows.chunks(self.pitch), self.most);
        // Without an early exit a row is vector code.
        *self.finite = rows.fold(true, |finite, row| {
            row[..self.length].iter().fold(finite, |finite, v| finite & (v.abs() <= most))
        });
    }
}

/// Are all values of rows finite, and no larger than `most`? The first row begins with the first of the values.
pub(super) fn finite<T: Number>(
    instructions: Checked,
    (rows, most): (&[T], T),
    length: usize,
    pitch: usize,
) -> bool {
    let mut finite = true;
    let look = Look { pitch, length, rows, most, finite: &mut finite };
    instructions::run(instructions, look);
    finite
}
