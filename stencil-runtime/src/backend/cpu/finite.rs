//! Looking for values that are no numbers, while they are in the cache.

use super::array::Shape;
use super::instructions::{self, Checked, Vectorized};
use super::parts::Part;
use crate::Number;

/// Rows of a part, and whether all their values are finite.
struct Look<'a, T> {
    shape: &'a Shape,
    length: usize,
    /// From the first cell of the first row on.
    rows: &'a [T],
    finite: &'a mut bool,
}

impl<T: Number> Vectorized for Look<'_, T> {
    #[inline(always)]
    fn run(self) {
        let rows = self.rows.chunks(self.shape.layout.pitch);
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

/// Are the values of these outputs of a part finite?
pub(super) fn finite<T: Number>(
    instructions: Checked,
    part: &Part<'_, T>,
    outputs: &[usize],
) -> bool {
    outputs
        .iter()
        .filter_map(|o| part.outputs.get(*o))
        .all(|rows| {
            let mut finite = true;
            let look = Look {
                shape: part.shape,
                length: part.length,
                rows: &rows[part.margin..],
                finite: &mut finite,
            };
            instructions::run(instructions, look);
            finite
        })
}
