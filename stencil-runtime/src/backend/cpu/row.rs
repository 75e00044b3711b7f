//! One row of each buffer that a compiled kernel reads and writes.

use stencil_compiler::emit::RowInput;
use stencil_compiler::expr::Real;

use super::program::Work;
use super::row_blocks::RowBlock;
use super::view::{Target, View};

/// The first cell of a row in each buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<T, const I: usize, const O: usize> {
    pub(super) inputs: [*const T; I],
    pub(super) outputs: [*mut T; O],
    /// Distance from a row to the next, in values.
    pitches: ([usize; I], [usize; O]),
}

/// Returns the first cell of a row that a part reads, and the distance to the next one. Checks that all such rows lie in
/// their array.
///
/// # Panics
/// If they do not.
#[inline(always)]
pub(super) fn first_read<T: Real>(
    row: &RowInput,
    view: &View<'_, T>,
    part: &RowBlock<'_, T>,
) -> (*const T, usize) {
    let RowBlock { first: [x, y, z], rows, length, .. } = *part;
    let RowInput { dy, dz, x_lo, x_hi, .. } = *row;
    let at = [x - x_lo as isize, y + dy as isize, z + dz as isize];
    let cells = &view.from(at)[..x_lo + (rows - 1) * view.pitch() + length + x_hi];
    (cells[x_lo..].as_ptr(), view.pitch())
}

/// Returns the first cell of a row that a part of so many rows and cells writes, and the distance to the next one. Checks
/// that all such rows lie in their array.
///
/// # Panics
/// If they do not.
#[inline(always)]
pub(super) fn first_written<T: Real>(
    target: &mut Target<'_, T>,
    [rows, length]: [usize; 2],
) -> (*mut T, usize) {
    let pitch = target.pitch;
    (target.values[..(rows - 1) * pitch + length].as_mut_ptr(), pitch)
}

impl<T: Real, const I: usize, const O: usize> Rows<T, I, O> {
    /// Returns the first rows of a part. Checks that all rows of the part lie in their arrays.
    ///
    /// # Panics
    /// If they do not.
    #[inline(always)]
    pub(super) fn of(tables: &[RowInput], work: Work<'_>, mut part: RowBlock<'_, T>) -> Self {
        let size = [part.rows, part.length];
        let inputs: [_; I] =
            std::array::from_fn(|i| first_read(&tables[i], &part.inputs[work.arrays[i]], &part));
        let outputs: [_; O] = std::array::from_fn(|o| first_written(&mut part.outputs[o], size));
        Rows {
            inputs: std::array::from_fn(|i| inputs[i].0),
            outputs: std::array::from_fn(|o| outputs[o].0),
            pitches: (std::array::from_fn(|i| inputs[i].1), std::array::from_fn(|o| outputs[o].1)),
        }
    }

    /// The rows of a stage, each of which has it to itself.
    pub(super) fn on(stage: &mut Stage<T>) -> Self {
        let (inputs, outputs) = stage.rows();
        let mut rows = Rows {
            inputs: [std::ptr::null(); I],
            outputs: [std::ptr::null_mut(); O],
            pitches: ([0; I], [0; O]),
        };
        rows.inputs.iter_mut().zip(inputs).for_each(|(row, first)| *row = first);
        rows.outputs.iter_mut().zip(outputs).for_each(|(row, first)| *row = first);
        rows
    }

    /// Goes on to the next rows.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        // Loops, as methods of arrays need not be inlined.
        for (row, pitch) in self.inputs.iter_mut().zip(self.pitches.0) {
            *row = row.wrapping_add(pitch);
        }
        for (row, pitch) in self.outputs.iter_mut().zip(self.pitches.1) {
            *row = row.wrapping_add(pitch);
        }
    }
}

/// A copy of rows that are shorter than a register, with room for one.
#[derive(Debug)]
pub(super) struct Stage<T> {
    length: usize,
    tables: &'static [RowInput],
    inputs: Vec<Vec<T>>,
    outputs: Vec<Vec<T>>,
}

impl<T: Real> Stage<T> {
    /// Allocates room for rows of `length` cells, as long as registers with so many lanes.
    pub(super) fn new(
        tables: &'static [RowInput],
        outputs: usize,
        length: usize,
        lanes: usize,
    ) -> Self {
        let input = |row: &RowInput| vec![T::ZERO; row.x_lo + lanes + row.x_hi];
        Stage {
            length,
            tables,
            inputs: tables.iter().map(input).collect(),
            outputs: vec![vec![T::ZERO; lanes]; outputs],
        }
    }

    /// Copies rows of a part to the stage.
    pub(super) fn fill(&mut self, inputs: &[*const T], outputs: &[*mut T]) {
        for ((stage, row), from) in self.inputs.iter_mut().zip(self.tables).zip(inputs) {
            let length = row.x_lo + self.length + row.x_hi;
            // SAFETY: `first_read` checked that the row reaches from `x_lo` before its first cell to `x_hi` behind its
            // last one.
            let from = unsafe { std::slice::from_raw_parts(from.sub(row.x_lo), length) };
            stage[..length].copy_from_slice(from);
        }
        for (stage, from) in self.outputs.iter_mut().zip(outputs) {
            // SAFETY: `first_written` checked that the row has all cells, and nothing else refers to them.
            let from = unsafe { std::slice::from_raw_parts(*from, self.length) };
            stage[..self.length].copy_from_slice(from);
        }
    }

    /// Returns the first cells of its rows.
    pub(super) fn rows(
        &mut self,
    ) -> (impl Iterator<Item = *const T>, impl Iterator<Item = *mut T>) {
        let inputs = self.inputs.iter().zip(self.tables);
        let inputs = inputs.map(|(stage, row)| stage[row.x_lo..].as_ptr());
        (inputs, self.outputs.iter_mut().map(|stage| stage.as_mut_ptr()))
    }

    /// Copies the results on the stage to the rows of the part.
    pub(super) fn give_back(&self, outputs: &[*mut T]) {
        for (stage, to) in self.outputs.iter().zip(outputs) {
            // SAFETY: `first_written` checked that the row has all cells, and nothing else refers to them.
            let to = unsafe { std::slice::from_raw_parts_mut(*to, self.length) };
            to.copy_from_slice(&stage[..self.length]);
        }
    }
}
