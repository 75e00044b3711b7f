//! Prefetches the rows that the next part reads first, while this part is computed.
//!
//! A kernel reads dozens of rows at a time, more than the processor follows by itself.

use stencil_compiler::emit::RowInput;
use stencil_compiler::expr::Real;

use super::row_blocks::RowBlock;

/// Bytes of a line of the cache.
pub(super) const LINE: usize = 64;

/// Rows of the plane that comes into reach with the next part.
#[derive(Debug)]
pub(super) struct Prefetch<T> {
    /// For each array the row nearest to the part's first row, its pitch, and rows before and behind it.
    arrays: Vec<(*const T, usize, [usize; 2])>,
    rows: usize,
    /// Rows to prefetch with one row of the part.
    now: Vec<*const T>,
}

impl<T: Real> Prefetch<T> {
    /// Returns the rows ahead of a block of rows, if it prefetches.
    pub(super) fn new(part: &RowBlock<'_, T>, tables: &[RowInput], arrays: &[usize]) -> Self {
        let mut list = Vec::new();
        if part.looks_ahead {
            let mut reach = vec![(0, 0, 0); part.inputs.len()];
            for (row, array) in tables.iter().zip(arrays) {
                let (before, behind, up) = reach[*array];
                reach[*array] = (row.dy.min(before), row.dy.max(behind), row.dz.max(up));
            }
            let [x, y, z] = part.first;
            list.extend(part.inputs.iter().zip(reach).map(|(view, (before, behind, up))| {
                let row = view.address([x, y, z + up as isize + 1]);
                let rows = [before.unsigned_abs() as usize, behind as usize];
                (row, view.pitch(), rows)
            }));
            list.extend(part.outputs.iter().map(|target| {
                let next = target.values.as_ptr().wrapping_add(target.plane);
                (next, target.pitch, [0, 0])
            }));
        }
        Prefetch { now: Vec::with_capacity(2 * list.len()), arrays: list, rows: part.rows }
    }

    /// Rows to prefetch with a row of the part: all of them, by its last row.
    pub(super) fn of_row(&mut self, row: usize) -> &[*const T] {
        self.now.clear();
        for (first, pitch, [before, behind]) in &self.arrays {
            let all = before + self.rows + behind;
            for at in row * all / self.rows..(row + 1) * all / self.rows {
                let shift = at as isize - *before as isize;
                self.now.push(first.wrapping_offset(shift * *pitch as isize));
            }
        }
        &self.now
    }
}

/// Asks for a cell of each row; it need not be there.
#[inline(always)]
pub(super) fn prefetch<T: Real>(rows: &[*const T], x: usize) {
    for row in rows {
        line(row.wrapping_add(x));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn line<T>(at: *const T) {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
    // SAFETY: a hint that reads nothing; every processor has the instruction.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(at.cast()) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn line<T>(_: *const T) {}
