//! The row engine: evaluates everything that some grid functions need, row by row, where a row is
//! all cells of one (y, z). Nothing is stored but a few rows that stay in cache.
//!
//! A [`RowProgram`] is a straight list of instructions, made once from an algorithm. Each computes a block of
//! neighbouring cells in vector registers from the result before it, from arrays, and from blocks that were kept; the
//! list is executed for one block of a row after the other. An intermediate grid function is computed once for each (y,
//! z) offset at which it is used. If it is read at offsets along x, it is kept as a row, and the list is cut into steps
//! there. Operations and their order are those of the oracle, so all bits agree. The engine owns no arrays: the caller
//! lends them row by row.

use std::collections::BTreeSet;

use super::{Algorithm, FnId, StateId};
use crate::expr::Real;

mod cells;
mod code;
mod execute;
mod lower;
mod place;
mod scratch;
mod select;
mod tape;

pub use cells::Cells;
use cells::Single;
use code::{Placed, Step};
use execute::{Arrays, At};
pub use scratch::RowScratch;
use tape::Scalar;

/// The layout of interior cells in arrays: cell (x, y, z) is at `origin + z*plane + y*pitch + x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Index of the first interior cell.
    pub origin: usize,
    /// Distance of rows.
    pub pitch: usize,
    /// Distance of planes.
    pub plane: usize,
}

/// A list of instructions that computes some grid functions on one row.
#[derive(Clone, Debug)]
pub struct RowProgram {
    steps: Vec<Step<Placed>>,
    scalars: Vec<Scalar>,
    uniforms: usize,
    slots: usize,
    rows: usize,
    /// Cells before the first and after the last of a chunk that rows have room for.
    margin: (i32, i32),
    reads: Vec<Read>,
    inputs: Vec<FnId>,
    outputs: Vec<Output>,
}

/// One row that a program reads: the part from `x = -x_lo` to `n + x_hi` of the row `dy`, `dz` away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Index into [`RowProgram::inputs`].
    pub input: usize,
    /// Rows away along y.
    pub dy: i32,
    /// Rows away along z.
    pub dz: i32,
    /// Cells before the first one of the row.
    pub x_lo: usize,
    /// Cells behind the last one of the row.
    pub x_hi: usize,
}

/// One row that a program computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The grid function whose values it holds.
    pub function: FnId,
    /// The state variable that it updates, if it is one.
    pub state: Option<StateId>,
    /// Must the row hold the state's old values on entry? True for an accumulator that is read: it
    /// is updated in place and not among the inputs.
    pub in_place: bool,
}

impl RowProgram {
    /// The program of a substep. Outputs are its updates in order; accumulators among them are
    /// updated in place, fields are written to other arrays than the inputs.
    ///
    /// # Errors
    /// If the algorithm is not well-formed or has no such substep.
    pub fn new(alg: &Algorithm, substep: usize) -> Result<Self, String> {
        alg.check()?;
        let Some(substep) = alg.substeps.get(substep) else {
            return Err(format!("`{}` has no substep {substep}", alg.name));
        };
        let updates = substep.updates.iter().map(|(state, value)| (*value, Some(*state)));
        Ok(lower::lower(alg, &updates.collect::<Vec<_>>(), &BTreeSet::new()))
    }

    /// The program of some functions, with `stored` functions read from arrays that the caller keeps, as states are. A
    /// root that is stored is computed, not read.
    ///
    /// # Errors
    /// If the algorithm is not well-formed or has no such functions.
    pub fn of_functions(
        alg: &Algorithm,
        roots: &[FnId],
        stored: &BTreeSet<FnId>,
    ) -> Result<Self, String> {
        alg.check()?;
        if let Some(id) = roots.iter().chain(stored).find(|id| id.0 as usize >= alg.functions.len())
        {
            return Err(format!("`{}` has no function {}", alg.name, id.0));
        }
        let roots: Vec<_> = roots.iter().map(|root| (*root, None)).collect();
        Ok(lower::lower(alg, &roots, stored))
    }

    /// The program of one launch of a plan: each output with the state variable that it updates, if it is one, with
    /// `stored` functions read from arrays.
    ///
    /// # Errors
    /// If the algorithm is not well-formed or has no such functions.
    pub fn of_launch(
        alg: &Algorithm,
        outputs: &[(FnId, Option<StateId>)],
        stored: &BTreeSet<FnId>,
    ) -> Result<Self, String> {
        alg.check()?;
        let functions = outputs.iter().map(|(id, _)| id).chain(stored);
        if let Some(id) = functions.into_iter().find(|id| id.0 as usize >= alg.functions.len()) {
            return Err(format!("`{}` has no function {}", alg.name, id.0));
        }
        Ok(lower::lower(alg, outputs, stored))
    }

    /// The functions, mostly of states, that are read from whole arrays, in the order in which
    /// [`run`](Self::run) takes them.
    pub fn inputs(&self) -> &[FnId] {
        &self.inputs
    }

    /// The rows that are computed, in the order in which [`run`](Self::run) takes them.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The rows of inputs that are read, in the order in which [`run_in`](Self::run_in) takes them.
    pub fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// Ghost cells that inputs need on both sides along each axis.
    pub fn halo(&self) -> [i32; 3] {
        self.reads.iter().fold([0; 3], |halo, read| {
            let x = read.x_lo.max(read.x_hi) as i32;
            [x.max(halo[0]), read.dy.abs().max(halo[1]), read.dz.abs().max(halo[2])]
        })
    }

    /// Number of passes over a row.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Number of instructions of all passes.
    pub fn instructions(&self) -> usize {
        self.steps.iter().map(|step| step.code.len()).sum()
    }

    /// Number of blocks and of rows that are kept at a time.
    pub fn kept(&self) -> [usize; 2] {
        [self.slots, self.rows]
    }

    /// Computes one row of every output from whole `inputs`, all of one `layout`. The row begins at
    /// interior cell `first`, which may be a ghost cell, and is as long as the output slices.
    ///
    /// # Panics
    /// If inputs and outputs are not those of the program, or lie outside of the arrays.
    pub fn run<T: Real>(
        &self,
        scratch: &mut RowScratch<T>,
        inputs: &[&[T]],
        layout: Layout,
        first: [isize; 3],
        outputs: &mut [&mut [T]],
    ) {
        assert_eq!(inputs.len(), self.inputs.len(), "as many inputs as the program reads");
        let row = |read: &Read| {
            let (y, z) = (first[1] + read.dy as isize, first[2] + read.dz as isize);
            let at = layout.origin as isize
                + z * layout.plane as isize
                + y * layout.pitch as isize
                + first[0]
                - read.x_lo as isize;
            &inputs[read.input][at as usize..]
        };
        let rows: Vec<&[T]> = self.reads.iter().map(row).collect();
        self.run_rows(scratch, &rows, outputs);
    }

    /// The same from the rows that it [reads](Self::reads): each begins `x_lo` cells before the first cell of the
    /// outputs, and may be longer than needed.
    ///
    /// # Panics
    /// If the number of rows is not that of the program, or rows are too short.
    pub fn run_rows<T: Real>(
        &self,
        scratch: &mut RowScratch<T>,
        rows: &[&[T]],
        outputs: &mut [&mut [T]],
    ) {
        self.run_in::<Single<T>>(scratch, rows, outputs);
    }

    /// The same in the registers of a processor: always inlined, with everything hot beneath it,
    /// into a caller that is compiled for them.
    ///
    /// # Panics
    /// As [`run_rows`](Self::run_rows).
    #[inline(always)]
    pub fn run_in<C: Cells>(
        &self,
        scratch: &mut RowScratch<C::Value>,
        rows: &[&[C::Value]],
        outputs: &mut [&mut [C::Value]],
    ) {
        let length = self.check_rows(rows, outputs);
        let mut arrays = Arrays {
            inputs: rows,
            registers: &mut scratch.registers,
            result: scratch.slots,
            outputs,
        };
        let mut begin = 0;
        while begin < length {
            let cells = scratch.chunk.min(length - begin);
            for step in &scratch.steps {
                let mut cell = step.start as isize;
                let end = cells as isize + step.end as isize;
                while cell < end {
                    let at = At {
                        input: begin as isize + cell,
                        register: cell,
                        output: begin as isize + cell,
                        left: (end - cell) as usize,
                    };
                    execute::block::<C>(&step.code, at, &mut arrays);
                    cell += execute::cells::<C>() as isize;
                }
            }
            begin += cells;
        }
    }

    /// Looks whether there are all rows, and returns the number of cells of the outputs.
    fn check_rows<T>(&self, rows: &[&[T]], outputs: &[&mut [T]]) -> usize {
        assert_eq!(
            (rows.len(), outputs.len()),
            (self.reads.len(), self.outputs.len()),
            "as many rows as the program reads and writes"
        );
        let length = outputs.first().map_or(0, |row| row.len());
        assert!(outputs.iter().all(|row| row.len() == length), "output rows are equally long");
        let mut reads = self.reads.iter().zip(rows);
        assert!(
            reads.all(|(read, row)| row.len() >= read.x_lo + length + read.x_hi),
            "rows are as long as they are read"
        );
        length
    }
}
