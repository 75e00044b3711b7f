//! The row engine: evaluates everything that some grid functions need, row by row, where a row is
//! all cells of one (y, z). Nothing is stored but a few rows that stay in cache.
//!
//! A [`RowProgram`] is a straight list of steps on whole rows, made once from an algorithm. An
//! intermediate grid function is computed once for each (y, z) offset at which it is used; an offset
//! along x is only a shift of a slice. Operations and their order are those of the oracle, so all
//! bits agree. The engine owns no arrays: the caller lends them row by row.

use std::collections::BTreeSet;

use super::{Algorithm, FnId, StateId};
use crate::expr::{Op, Real};

mod loops;
mod lower;
mod tape;

use lower::{Place, Read, Source, Step, Work};
use tape::{Scalar, TERMS};

/// Where interior cells lie in arrays: cell (x, y, z) is at `origin + z*plane + y*pitch + x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Index of the first interior cell.
    pub origin: usize,
    /// Distance of rows.
    pub pitch: usize,
    /// Distance of planes.
    pub plane: usize,
}

/// A list of steps on rows that computes some grid functions on one row.
#[derive(Clone, Debug)]
pub struct RowProgram {
    steps: Vec<Step>,
    results: Vec<Read>,
    scalars: Vec<Scalar>,
    uniforms: usize,
    registers: usize,
    /// Values before the first and after the last cell of a chunk that registers have room for.
    margin: (i32, i32),
    halo: [i32; 3],
    inputs: Vec<FnId>,
    outputs: Vec<Output>,
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

/// Buffers of one thread, and the values that are the same on every row.
#[derive(Clone, Debug)]
pub struct RowScratch<T> {
    scalars: Vec<T>,
    registers: Vec<Vec<T>>,
    chunk: usize,
}

impl RowProgram {
    /// The program of a substep. Outputs are its updates in order; accumulators among them are
    /// updated in place, fields are written to other arrays than the inputs.
    ///
    /// # Errors
    /// Where the algorithm is not well-formed or has no such substep.
    pub fn new(alg: &Algorithm, substep: usize) -> Result<Self, String> {
        alg.check()?;
        let Some(substep) = alg.substeps.get(substep) else {
            return Err(format!("`{}` has no substep {substep}", alg.name));
        };
        let updates = substep
            .updates
            .iter()
            .map(|(state, value)| (*value, Some(*state)));
        Ok(lower::lower(
            alg,
            &updates.collect::<Vec<_>>(),
            &BTreeSet::new(),
        ))
    }

    /// The program of some functions, where `stored` functions are read from arrays that the caller
    /// keeps, as states are. A root that is stored is computed, not read.
    ///
    /// # Errors
    /// Where the algorithm is not well-formed or has no such functions.
    pub fn of_functions(
        alg: &Algorithm,
        roots: &[FnId],
        stored: &BTreeSet<FnId>,
    ) -> Result<Self, String> {
        alg.check()?;
        if let Some(id) = roots
            .iter()
            .chain(stored)
            .find(|id| id.0 as usize >= alg.functions.len())
        {
            return Err(format!("`{}` has no function {}", alg.name, id.0));
        }
        let roots: Vec<_> = roots.iter().map(|root| (*root, None)).collect();
        Ok(lower::lower(alg, &roots, stored))
    }

    /// The program of one launch of a plan: each output with the state variable that it updates, if
    /// it is one, where `stored` functions are read from arrays.
    ///
    /// # Errors
    /// Where the algorithm is not well-formed or has no such functions.
    pub fn of_launch(
        alg: &Algorithm,
        outputs: &[(FnId, Option<StateId>)],
        stored: &BTreeSet<FnId>,
    ) -> Result<Self, String> {
        alg.check()?;
        let functions = outputs.iter().map(|(id, _)| id).chain(stored);
        if let Some(id) = functions
            .into_iter()
            .find(|id| id.0 as usize >= alg.functions.len())
        {
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

    /// Ghost cells that inputs need on both sides along each axis.
    pub fn halo(&self) -> [i32; 3] {
        self.halo
    }

    /// Number of steps; each is one pass over a row.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Number of rows that are kept at a time.
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Buffers for one thread; `uniforms` are rounded to `T` already, in the algorithm's order.
    ///
    /// # Panics
    /// If there are not as many uniforms as the algorithm has.
    pub fn scratch<T: Real>(&self, uniforms: &[T]) -> RowScratch<T> {
        let chunk = self.chunk(T::BYTES);
        let width = chunk + (self.margin.0 + self.margin.1) as usize;
        let mut scratch = RowScratch {
            scalars: Vec::new(),
            registers: vec![vec![T::ZERO; width]; self.registers],
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
        scratch.scalars.clear();
        for scalar in &self.scalars {
            let value = scalar.value(uniforms, &scratch.scalars);
            scratch.scalars.push(value);
        }
    }

    /// Cells of a chunk: few enough that all registers stay in the second-level cache, enough that
    /// margins and dispatch weigh little.
    fn chunk(&self, bytes: usize) -> usize {
        const CACHE: usize = 256 * 1024;
        let fits = CACHE / (bytes * self.registers.max(1));
        (fits / 64 * 64).clamp(128, 1024)
    }

    /// Computes one row of every output from whole `inputs`, all of one `layout`. The row begins at
    /// interior cell `first`, which may be a ghost cell, and is as long as the output slices.
    ///
    /// Always inlined, with everything hot beneath it, so that a caller compiled for a processor
    /// with fused multiply-adds specializes it.
    ///
    /// # Panics
    /// If inputs and outputs are not those of the program, or lie outside of the arrays.
    #[inline(always)]
    pub fn run<T: Real>(
        &self,
        scratch: &mut RowScratch<T>,
        inputs: &[&[T]],
        layout: Layout,
        first: [isize; 3],
        outputs: &mut [&mut [T]],
    ) {
        assert_eq!(
            inputs.len(),
            self.inputs.len(),
            "as many inputs as the program reads"
        );
        assert_eq!(
            outputs.len(),
            self.outputs.len(),
            "as many outputs as the program writes"
        );
        let length = outputs.first().map_or(0, |row| row.len());
        assert!(
            outputs.iter().all(|row| row.len() == length),
            "output rows are equally long"
        );
        let (pitch, plane) = (layout.pitch as isize, layout.plane as isize);
        let origin = layout.origin as isize + first[2] * plane + first[1] * pitch + first[0];
        let pad = self.margin.0 as isize;
        let RowScratch {
            scalars,
            registers,
            chunk,
        } = scratch;
        let mut begin = 0;
        while begin < length {
            let cells = (*chunk).min(length - begin);
            let at = Chunk {
                origin: origin + begin as isize,
                pitch,
                plane,
                begin,
                pad,
            };
            for step in &self.steps {
                // The target leaves the registers, so that they can be read while it is written.
                let mut target = std::mem::take(&mut registers[step.to]);
                let from = (pad + step.start as isize) as usize;
                let to = (pad + step.end as isize) as usize + cells;
                at.step(
                    step,
                    &mut target[from..to],
                    scalars,
                    Rows {
                        inputs,
                        registers,
                        outputs,
                    },
                );
                registers[step.to] = target;
            }
            self.write(at, cells, scalars, inputs, registers, outputs);
            begin += cells;
        }
    }

    #[inline(always)]
    fn write<T: Real>(
        &self,
        at: Chunk,
        cells: usize,
        scalars: &[T],
        inputs: &[&[T]],
        registers: &[Vec<T>],
        outputs: &mut [&mut [T]],
    ) {
        for (out, result) in outputs.iter_mut().zip(&self.results) {
            let out = &mut out[at.begin..at.begin + cells];
            match result {
                Read::Scalar(scalar) => out.fill(scalars[scalar.0]),
                // The old values stay; those of other outputs were copied to registers.
                Read::Row(Source {
                    place: Place::Own(_),
                    ..
                }) => {}
                Read::Row(source) => out.copy_from_slice(at.row(
                    *source,
                    0,
                    cells,
                    Rows {
                        inputs,
                        registers,
                        outputs: &[],
                    },
                )),
            }
        }
    }
}

/// Rows that steps read.
#[derive(Clone, Copy)]
struct Rows<'a, 'b, T> {
    inputs: &'a [&'b [T]],
    registers: &'a [Vec<T>],
    outputs: &'a [&'b mut [T]],
}

/// Some cells of a row: where they are in arrays, in output rows and in registers.
#[derive(Clone, Copy)]
struct Chunk {
    origin: isize,
    pitch: isize,
    plane: isize,
    begin: usize,
    pad: isize,
}

impl Chunk {
    /// The `n` values of a row from `start` on, counted from the first cell of the chunk.
    #[inline(always)]
    fn row<'a, T>(self, source: Source, start: i32, n: usize, rows: Rows<'a, '_, T>) -> &'a [T] {
        let x = (start + source.x) as isize;
        let (values, from): (&'a [T], isize) = match source.place {
            Place::Register(register) => (&rows.registers[register], self.pad + x),
            Place::Input { input, y, z } => (
                rows.inputs[input],
                self.origin + z as isize * self.plane + y as isize * self.pitch + x,
            ),
            Place::Own(output) => (&*rows.outputs[output], self.begin as isize + x),
        };
        // A negative index becomes a huge one, and is caught as out of bounds.
        let from = from as usize;
        &values[from..][..n]
    }

    #[inline(always)]
    fn step<T: Real>(self, step: &Step, out: &mut [T], scalars: &[T], rows: Rows<'_, '_, T>) {
        let n = out.len();
        let row = |source: Source| self.row(source, step.start, n, rows);
        match &step.work {
            Work::Fill(scalar) => out.fill(scalars[scalar.0]),
            Work::Op(op, from) => {
                let mut args = [loops::Input::Scalar(T::ZERO); Op::MOST_ARGUMENTS];
                for (arg, from) in args.iter_mut().zip(from) {
                    *arg = match from {
                        Read::Row(source) => loops::Input::Row(row(*source)),
                        Read::Scalar(scalar) => loops::Input::Scalar(scalars[scalar.0]),
                    };
                }
                loops::operation(*op, out, args);
            }
            Work::Sum { before, terms } => {
                let mut factors = [T::ZERO; TERMS];
                let mut values: [&[T]; TERMS] = [&[]; TERMS];
                for (k, (factor, source)) in terms.iter().enumerate() {
                    factors[k] = scalars[factor.0];
                    values[k] = row(*source);
                }
                let before = before.map(row);
                macro_rules! sum {
                    ($($count:literal)*) => { match terms.len() {
                        $($count => {
                            let factors: [T; $count] = std::array::from_fn(|k| factors[k]);
                            let values: [&[T]; $count] = std::array::from_fn(|k| values[k]);
                            loops::sum(out, before, factors, values);
                        })*
                        count => unreachable!("{count} terms of one pass"),
                    } };
                }
                sum!(1 2 3 4 5 6);
            }
        }
    }
}
