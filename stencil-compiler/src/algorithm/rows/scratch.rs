//! What one thread needs to execute a program: registers, and instructions with their numbers and
//! addresses.

use super::code::{Address, Argument, Loaded, Place, Placed, Source, Step};
use super::execute::{OWN_SLOTS, slot_cells};
use super::tape::ScalarId;
use super::{Layout, RowProgram};
use crate::expr::Real;

/// Buffers of one thread, and the values that are the same on every row.
#[derive(Clone, Debug)]
pub struct RowScratch<T> {
    scalars: Vec<T>,
    /// Instructions for arrays of `layout`, and how far from a row's cells they read inputs.
    pub(super) steps: Vec<Step<Loaded<T>>>,
    layout: Option<Layout>,
    reach: (isize, isize),
    pub(super) registers: Vec<T>,
    /// Index of the first slot; some are the executor's own.
    pub(super) slots: usize,
    /// Index in the first row of the first cell of a chunk, and distance of rows.
    rows: (usize, usize),
    pub(super) chunk: usize,
}

/// A row that is computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Index of its first cell in inputs.
    pub(super) origin: isize,
    pub(super) length: usize,
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
            layout: None,
            reach: (0, 0),
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
        assert_eq!(
            uniforms.len(),
            self.uniforms,
            "as many uniforms as the algorithm has"
        );
        scratch.layout = None;
        scratch.scalars.clear();
        for scalar in &self.scalars {
            let value = scalar.value(uniforms, &scratch.scalars);
            scratch.scalars.push(value);
        }
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
    /// Gets ready for a row, and checks that what it reads and writes is there.
    pub(super) fn row(
        &mut self,
        program: &RowProgram,
        inputs: &[&[T]],
        layout: Layout,
        first: [isize; 3],
        outputs: &[&mut [T]],
    ) -> Row {
        assert_eq!(
            inputs.len(),
            program.inputs.len(),
            "as many inputs as the program reads"
        );
        assert_eq!(
            outputs.len(),
            program.outputs.len(),
            "as many outputs as the program writes"
        );
        let length = outputs.first().map_or(0, |row| row.len());
        assert!(
            outputs.iter().all(|row| row.len() == length),
            "output rows are equally long"
        );
        if self.layout != Some(layout) {
            self.load(program, layout);
        }
        let (pitch, plane) = (layout.pitch as isize, layout.plane as isize);
        let origin = layout.origin as isize + first[2] * plane + first[1] * pitch + first[0];
        let (before, after) = (
            origin + self.reach.0,
            origin + length as isize + self.reach.1,
        );
        let lies_in = |values: &&[T]| before >= 0 && after <= values.len() as isize;
        assert!(
            inputs.iter().all(lies_in),
            "a row and what it reads lie in the arrays"
        );
        Row { origin, length }
    }

    /// Writes numbers and addresses into the instructions.
    fn load(&mut self, program: &RowProgram, layout: Layout) {
        let mut reach = (0, 0);
        let mut steps = Vec::with_capacity(program.steps.len());
        for step in &program.steps {
            let mut row = |source: Source| {
                let address = self.address(source, layout);
                if let Address::Input { at, .. } = address {
                    reach.0 = reach.0.min(at + step.start as isize);
                    reach.1 = reach.1.max(at + step.end as isize);
                }
                Argument::Row(address)
            };
            let load = |i: &Placed| i.map(&mut row, |scalar: ScalarId| self.scalars[scalar.0]);
            let code = step.code.iter().map(load).collect();
            steps.push(Step {
                start: step.start,
                end: step.end,
                code,
            });
        }
        (self.steps, self.reach, self.layout) = (steps, reach, Some(layout));
    }

    fn address(&self, source: Source, layout: Layout) -> Address {
        let x = source.x as isize;
        let (pitch, plane) = (layout.pitch as isize, layout.plane as isize);
        match source.place {
            Place::Input { input, y, z } => Address::Input {
                input: input as u32,
                at: z as isize * plane + y as isize * pitch + x,
            },
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
