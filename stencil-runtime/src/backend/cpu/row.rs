//! One row of each buffer that a compiled kernel reads and writes.

use stencil_compiler::emit::RowInput;
use stencil_compiler::expr::Real;

use super::program::Work;
use super::row_blocks::RowBlock;

/// The first cell of a row in each buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<T, const I: usize, const O: usize> {
    pub(super) inputs: [*const T; I],
    pub(super) outputs: [*mut T; O],
    /// Distance from a row to the next, in values.
    pitches: ([usize; I], [usize; O]),
}

impl<T: Real, const I: usize, const O: usize> Rows<T, I, O> {
    /// Returns the first rows of a part. Checks that all rows of the part lie in their arrays.
    ///
    /// # Panics
    /// If they do not.
    #[inline(always)]
    pub(super) fn of(tables: &[RowInput], work: Work<'_>, part: RowBlock<'_, T>) -> Self {
        let RowBlock { first: [x, y, z], rows, length, inputs: views, mut outputs, .. } = part;
        let cells = |pitch: usize| (rows - 1) * pitch + length;
        let inputs = std::array::from_fn(|i| {
            let RowInput { dy, dz, x_lo, x_hi, .. } = tables[i];
            let view = &views[work.arrays[i]];
            let at = [x - x_lo as isize, y + dy as isize, z + dz as isize];
            let cells = &view.from(at)[..x_lo + cells(view.pitch()) + x_hi];
            cells[x_lo..].as_ptr()
        });
        let pitches = (
            std::array::from_fn(|i| views[work.arrays[i]].pitch()),
            std::array::from_fn(|o| outputs[o].pitch),
        );
        let outputs = std::array::from_fn(|o| {
            let target = &mut outputs[o];
            target.values[..cells(target.pitch)].as_mut_ptr()
        });
        Rows { inputs, outputs, pitches }
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
    pub(super) fn fill<const I: usize, const O: usize>(
        &mut self,
        rows: &Rows<T, I, O>,
    ) -> Rows<T, I, O> {
        for ((stage, row), from) in self.inputs.iter_mut().zip(self.tables).zip(rows.inputs) {
            let length = row.x_lo + self.length + row.x_hi;
            // SAFETY: `Rows::of` checked that the row reaches from `x_lo` before its first cell to `x_hi` behind its
            // last one.
            let from = unsafe { std::slice::from_raw_parts(from.sub(row.x_lo), length) };
            stage[..length].copy_from_slice(from);
        }
        for (stage, from) in self.outputs.iter_mut().zip(rows.outputs) {
            // SAFETY: `Rows::of` checked that the row has all cells, and nothing else refers to them.
            let from = unsafe { std::slice::from_raw_parts(from, self.length) };
            stage[..self.length].copy_from_slice(from);
        }
        Rows {
            inputs: std::array::from_fn(|i| self.inputs[i][self.tables[i].x_lo..].as_ptr()),
            outputs: std::array::from_fn(|o| self.outputs[o].as_mut_ptr()),
            // Each row has the stage to itself.
            pitches: ([0; I], [0; O]),
        }
    }

    /// Copies the results on the stage to the rows of the part.
    pub(super) fn give_back<const I: usize, const O: usize>(&self, rows: &Rows<T, I, O>) {
        for (stage, to) in self.outputs.iter().zip(rows.outputs) {
            // SAFETY: `Rows::of` checked that the row has all cells, and nothing else refers to them.
            let to = unsafe { std::slice::from_raw_parts_mut(to, self.length) };
            to.copy_from_slice(&stage[..self.length]);
        }
    }
}
