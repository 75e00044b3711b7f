//! What the next part reads first, brought into the cache while this part is computed.
//!
//! A kernel reads dozens of rows at a time, more than the processor follows by itself.

use stencil_compiler::emit::RowInput;
use stencil_compiler::expr::Real;

use super::parts::Part;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Rows of the plane that comes into reach with the next part.
#[derive(Debug)]
pub(super) struct Ahead<T> {
    /// For each array the row nearest to the part's first row, and rows before and behind it.
    arrays: Vec<(*const T, usize, usize)>,
    pitch: usize,
    rows: usize,
    /// Rows to prefetch with one row of the part.
    now: Vec<*const T>,
}

impl<T: Real> Ahead<T> {
    /// Rows ahead of a part; none where the patch has one plane.
    pub(super) fn new(part: &Part<'_, T>, tables: &[RowInput], arrays: &[usize]) -> Self {
        let (pitch, plane) = (part.shape.layout.pitch, part.shape.layout.plane);
        let mut list = Vec::new();
        if part.shape.cells[2] > 1 {
            let first = part.shape.index(part.first);
            let mut reach = vec![(0, 0, 0); part.inputs.len()];
            for (row, array) in tables.iter().zip(arrays) {
                let (before, behind, up) = reach[*array];
                reach[*array] = (row.dy.min(before), row.dy.max(behind), row.dz.max(up));
            }
            list.extend(
                part.inputs
                    .iter()
                    .zip(reach)
                    .map(|(values, (before, behind, up))| {
                        let next = first + (up as usize + 1) * plane;
                        let row = values.as_ptr().wrapping_add(next);
                        (row, before.unsigned_abs() as usize, behind as usize)
                    }),
            );
            let outputs = part.outputs.iter();
            let next = part.margin + plane;
            list.extend(outputs.map(|values| (values.as_ptr().wrapping_add(next), 0, 0)));
        }
        Ahead {
            now: Vec::with_capacity(2 * list.len()),
            arrays: list,
            pitch,
            rows: part.rows,
        }
    }

    /// Rows to prefetch with a row of the part: all of them, by its last row.
    pub(super) fn of_row(&mut self, row: usize) -> &[*const T] {
        self.now.clear();
        for (first, before, behind) in &self.arrays {
            let all = before + self.rows + behind;
            for at in row * all / self.rows..(row + 1) * all / self.rows {
                let shift = at as isize - *before as isize;
                self.now
                    .push(first.wrapping_offset(shift * self.pitch as isize));
            }
        }
        &self.now
    }
}

/// Asks for a cell of each row; it need not be there.
#[inline(always)]
pub(super) fn prefetch<T: Real>(rows: &[*const T], x: usize) {
    if (x * T::BYTES).is_multiple_of(LINE) {
        for row in rows {
            line(row.wrapping_add(x));
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn line<T>(at: *const T) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: a hint, of which every processor has the instruction, and which reads nothing.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn line<T>(_: *const T) {}
