//! The state of one thread that executes a program: registers, and instructions with their numbers and addresses.

use super::code::{Address, Argument, Loaded, Place, Placed, Source, Step};
use super::execute::{OWN_SLOTS, slot_cells};
use super::tape::ScalarId;
use super::{Read, RowProgram};
use crate::expr::Real;

/// Buffers of one thread, and uniforms, which are the same on every row.
#[derive(Clone, Debug)]
pub struct RowScratch<T> {
    scalars: Vec<T>,
    /// Instructions with their numbers and addresses.
    pub(super) steps: Vec<Step<Loaded<T>>>,
    pub(super) registers: Vec<T>,
    /// Index of the first slot; some are the executor's own.
    pub(super) slots: usize,
    /// Index in the first row of the first cell of a chunk, and distance of rows.
    rows: (usize, usize),
    pub(super) chunk: usize,
}

impl RowProgram {
    /// Buffers for one thread; `uniforms` are rounded to `T` already, in the algorithm's order.
    ///
    /// # Panics
    /// If there are not as many uniforms as the algorithm has.
    pub fn scratch<T: Real>(&self, uniforms: &[T]) -> RowScratch<T> {
        let block = slot_cells::<T>();
        let line = LINE / T::BYTES;
        let chunk = self.chunk(T::BYTES);
        let pad = (self.margin.0 as usize).next_multiple_of(line);
        // An odd number of lines, so that rows do not compete for the same sets of the cache.
        let lines = (pad + chunk + self.margin.1 as usize + block).div_ceil(line) | 1;
        let pitch = lines * line;
        let registers = vec![T::ZERO; line + (OWN_SLOTS + self.slots) * block + self.rows * pitch];
        let slots = registers.as_ptr().align_offset(LINE).min(line);
        let mut scratch = RowScratch {
            scalars: Vec::new(),
            steps: Vec::new(),
            registers,
            slots,
            rows: (slots + (OWN_SLOTS + self.slots) * block + pad, pitch),
            chunk,
        };
        self.set_uniforms(&mut scratch, uniforms);
        scratch
    }

    /// Replaces the uniforms, as a new time step may.
    ///
    /// # Panics
    /// If there are not as many uniforms as the algorithm has.
    pub fn set_uniforms<T: Real>(&self, scratch: &mut RowScratch<T>, uniforms: &[T]) {
        assert_eq!(uniforms.len(), self.uniforms, "as many uniforms as the algorithm has");
        scratch.scalars.clear();
        for scalar in &self.scalars {
            let value = scalar.value(uniforms, &scratch.scalars);
            scratch.scalars.push(value);
        }
        scratch.load(self);
    }

    /// Cells of a chunk: few enough that all rows stay in the second-level cache, enough that margins
    /// weigh little.
    fn chunk(&self, bytes: usize) -> usize {
        const CACHE: usize = 128 * 1024;
        let fits = CACHE / (bytes * self.rows.max(1));
        (fits / 64 * 64).clamp(128, 1024)
    }
}

/// Bytes of a line of the cache.
const LINE: usize = 64;

impl<T: Real> RowScratch<T> {
    /// Writes numbers and addresses into the instructions.
    fn load(&mut self, program: &RowProgram) {
        let row = |source: Source| Argument::Row(self.address(source, program));
        let load = |i: &Placed| i.map(row, |scalar: ScalarId| self.scalars[scalar.0]);
        let step = |step: &Step<Placed>| Step {
            start: step.start,
            end: step.end,
            code: step.code.iter().map(load).collect(),
        };
        self.steps = program.steps.iter().map(step).collect();
    }

    fn address(&self, source: Source, program: &RowProgram) -> Address {
        let x = source.x as isize;
        match source.place {
            Place::Input { input, y, z } => {
                let is_it = |read: &Read| (read.input, read.dy, read.dz) == (input, y, z);
                // Every row that instructions read is in the list.
                let row = program.reads.iter().position(is_it);
                let row = row.unwrap_or_default();
                Address::Input { row: row as u32, at: program.reads[row].x_lo as isize + x }
            }
            Place::Slot(slot) => Address::Register {
                at: (self.slots + (OWN_SLOTS + slot) * slot_cells::<T>()) as isize,
                moves: false,
            },
            Place::Row(row) => Address::Register {
                at: (self.rows.0 + row * self.rows.1) as isize + x,
                moves: true,
            },
            Place::Own(output) => Address::Own(output as u32),
        }
    }
}
