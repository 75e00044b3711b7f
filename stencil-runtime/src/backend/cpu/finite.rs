//! Looking for values that are no numbers, while they are in the cache.

use super::instructions::{self, Checked, Vectorized};
use crate::Number;

/// Rows of a block, and whether all their values are finite.
struct Look<'a, T> {
    pitch: usize,
    length: usize,
    /// From the first cell of the first row on.
    rows: &'a [T],
    finite: &'a mut bool,
}

impl<T: Number> Vectorized for Look<'_, T> {
    #[inline(always)]
    fn run(self) {
        let rows = self.rows.chunks(self.pitch);
        // Without an early exit a row is vector code.
        *self.finite = rows.fold(true, |finite, row| {
            row[..self.length]
                .iter()
                .fold(finite, |finite, v| finite & is_finite(*v))
        });
    }
}

#[inline(always)]
fn is_finite<T: Number>(value: T) -> bool {
    // Infinities and NaN make NaN of zero, and NaN equals nothing.
    value * T::ZERO == T::ZERO
}

/// Are all values of rows finite? The first row begins with the first of the values.
pub(super) fn finite<T: Number>(
    instructions: Checked,
    rows: &[T],
    length: usize,
    pitch: usize,
) -> bool {
    let mut finite = true;
    let look = Look {
        pitch,
        length,
        rows,
        finite: &mut finite,
    };
    instructions::run(instructions, look);
    finite
}
