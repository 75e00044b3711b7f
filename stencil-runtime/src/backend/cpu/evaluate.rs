//! Evaluates grid functions on the fields of a mesh, row by row, without storing them.

use std::collections::BTreeSet;

use rayon::prelude::*;
use stencil_compiler::algorithm::rows::RowProgram;
use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::model::Reduction;
use stencil_compiler::plan::BufferRole;

use super::instructions::Checked;
use super::program::Steps;
use super::row_blocks::RowBlock;
use super::shared_rows::SharedRows;
use super::tree;
use super::view::{Target, View};
use crate::field::{Fields, Filling};
use crate::mesh::Patch;
use crate::{Error, Number};

/// Grid functions to evaluate, with names looked up.
#[derive(Debug)]
pub(crate) struct Evaluation {
    program: RowProgram,
    inputs: Vec<usize>,
    /// Ghost cells that the functions read.
    filling: Filling,
    instructions: Checked,
    /// Do the functions read given fields?
    pub(crate) reads_given: bool,
    /// Do they read other cells than their own?
    pub(crate) reads_neighbours: bool,
}

impl Evaluation {
    /// Some updates of an algorithm's only substep, on fields of the same states.
    pub(crate) fn new<T: Number>(
        algorithm: &Algorithm,
        updates: &[usize],
        fields: &Fields<T>,
        instructions: Checked,
    ) -> Result<Self, Error> {
        let all = algorithm.substeps.first().map_or(&[][..], |s| &s.updates);
        let chosen: Vec<_> = updates.iter().filter_map(|i| all.get(*i)).collect();
        let outputs: Vec<_> = chosen.iter().map(|(state, id)| (*id, Some(*state))).collect();
        let program = RowProgram::of_launch(algorithm, &outputs, &BTreeSet::new());
        let program = program.map_err(Error::Bug)?;
        let names = program.inputs().iter();
        let names = names.map(|id| algorithm.function(*id).name.as_str());
        let buffers = &fields.buffers;
        let inputs = buffers.indices(names)?;
        let depth = program.halo().map(|h| h as usize);
        let ghosts = fields.ghosts(|name| {
            let field = algorithm.find_state(name)?;
            (algorithm.state(field).role == Role::Field).then_some(depth.into())
        });
        let given = |i: &usize| buffers.role(*i) == BufferRole::Given;
        Ok(Evaluation {
            reads_given: inputs.iter().any(given),
            reads_neighbours: depth != [0; 3],
            program,
            inputs,
            filling: fields.filling(&ghosts),
            instructions,
        })
    }

    /// Reduces each function to its number at the time `t`.
    pub(crate) fn reduce<T: Number>(
        &self,
        fields: &mut Fields<T>,
        reductions: &[Reduction],
        uniforms: &[f64],
        t: f64,
    ) -> Vec<f64> {
        let cells = fields.domain.mesh.cells;
        let shares = self.rows(fields, uniforms, t, |rows| row_numbers(reductions, rows));
        total(reductions, &shares, cells)
    }

    /// Reduces some rows of a patch that is the whole mesh, or all that there is of it, if no function reads neighbours.
    pub(crate) fn reduce_rows<T: Number>(
        &self,
        fields: &Fields<T>,
        (reductions, uniforms): (&[Reduction], &[f64]),
        wanted: &[usize],
    ) -> Vec<Vec<f64>> {
        self.own_rows(fields, uniforms, wanted, |_, rows| row_numbers(reductions, rows))
    }

    /// Returns the first cell, in order along x, y, z, with the largest value of one of the functions at the time `t`.
    pub(crate) fn first_largest<T: Number>(
        &self,
        fields: &mut Fields<T>,
        which: usize,
        uniforms: &[f64],
        t: f64,
    ) -> [usize; 3] {
        let [_, ny, _] = fields.domain.mesh.cells;
        let rows = self.rows(fields, uniforms, t, |rows| {
            let (x, value) = first_largest(rows[which].iter().map(|value| value.to_f64()));
            vec![x as f64, value]
        });
        let (row, _) = first_largest(rows.iter().map(|row| row[1]));
        [rows[row][0] as usize, row % ny, row / ny]
    }

    /// Reduces each row of the mesh of all functions to as many numbers at the time `t`; the rows of a plane stand together.
    /// All ranks ask together, and each has the numbers of all rows then.
    pub(crate) fn rows<T: Number>(
        &self,
        fields: &mut Fields<T>,
        uniforms: &[f64],
        t: f64,
        reduce: impl Fn(&[&[T]]) -> Vec<f64> + Sync,
    ) -> Vec<Vec<f64>> {
        self.rows_of(fields, (uniforms, t), |_| true, reduce)
    }

    /// Does the same with the rows that are wanted, by their place along y, then z.
    pub(crate) fn rows_of<T: Number>(
        &self,
        fields: &mut Fields<T>,
        (uniforms, t): (&[f64], f64),
        is_wanted: impl Fn(usize) -> bool,
        reduce: impl Fn(&[&[T]]) -> Vec<f64> + Sync,
    ) -> Vec<Vec<f64>> {
        fields.fill(&self.filling, t);
        let rows = SharedRows::new(fields, is_wanted);
        if !rows.are_cut() {
            let own = self.own_rows(fields, uniforms, rows.own(), |_, values| reduce(values));
            return rows.gather(own);
        }
        let parts =
            self.own_rows(fields, uniforms, rows.own(), |row, values| rows.own_part(row, values));
        let whole = rows.put_together(parts, self.program.outputs().len());
        rows.gather(
            whole
                .par_iter()
                .map(|row| reduce(&row.iter().map(Vec::as_slice).collect::<Vec<_>>()))
                .collect(),
        )
    }

    /// Evaluates some rows of the mesh in the patches of this process, and reduces each.
    fn own_rows<T: Number, R: Send>(
        &self,
        fields: &Fields<T>,
        uniforms: &[f64],
        wanted: &[usize],
        reduce: impl Fn(usize, &[&[T]]) -> R + Sync,
    ) -> Vec<R> {
        let program = &self.program;
        let uniforms: Vec<T> = uniforms.iter().map(|v| T::from_f64(*v)).collect();
        let shape = fields.shape();
        let patches = fields.own_patches().map(|(patch, arrays)| {
            let inputs = self.inputs.iter();
            let view = |i: &usize| View::whole(arrays[*i].values(), shape.layout);
            let steps = Steps::new::<T>(self.instructions, patch.cells[0], 0);
            (patch, inputs.map(view).collect(), steps)
        });
        let patches: Vec<(&Patch, Vec<View<'_, T>>, Steps)> = patches.collect();
        let [nx, ny, _] = fields.domain.mesh.cells;
        let scratch = || {
            let rows = vec![vec![T::ZERO; nx]; program.outputs().len()];
            (program.scratch(&uniforms), rows)
        };
        let row = |(scratch, rows): &mut (_, Vec<Vec<T>>), i: &usize| {
            let [y, z] = [i % ny, i / ny];
            let holds = |patch: &Patch| {
                let is_in = |axis: usize, at: usize| {
                    (patch.lo[axis]..patch.lo[axis] + patch.cells[axis]).contains(&at)
                };
                is_in(1, y) && is_in(2, z)
            };
            for (patch, inputs, steps) in patches.iter().filter(|(patch, ..)| holds(patch)) {
                let target = |row| Target { values: row, pitch: nx, plane: nx };
                let cells = patch.lo[0]..patch.lo[0] + patch.cells[0];
                let outputs = rows.iter_mut().map(|row| target(&mut row[cells.clone()]));
                let part = RowBlock {
                    first: [0, (y - patch.lo[1]) as isize, (z - patch.lo[2]) as isize],
                    rows: 1,
                    length: cells.len(),
                    inputs,
                    outputs: outputs.collect(),
                    uniforms: &uniforms,
                    steps,
                    looks_ahead: false,
                };
                T::rows(self.instructions, program, scratch, part);
            }
            let rows: Vec<&[T]> = rows.iter().map(Vec::as_slice).collect();
            reduce(*i, &rows)
        };
        let wanted = wanted.par_iter().with_min_len(4);
        wanted.map_init(scratch, row).collect()
    }
}

/// Reduces a row of each function to its number.
fn row_numbers<T: Number>(reductions: &[Reduction], rows: &[&[T]]) -> Vec<f64> {
    let rows = reductions.iter().zip(rows);
    rows.map(|(reduction, values)| tree::row(*reduction, values)).collect()
}

/// Reduces the numbers of all rows of a mesh to those of the functions.
pub(crate) fn total(reductions: &[Reduction], rows: &[Vec<f64>], cells: [usize; 3]) -> Vec<f64> {
    let of = |(i, reduction): (usize, &Reduction)| {
        let rows: Vec<f64> = rows.iter().map(|row| row[i]).collect();
        tree::rows(*reduction, &rows, cells)
    };
    reductions.iter().enumerate().map(of).collect()
}

/// Returns the place of the first of the largest values, and that value. A NaN counts as larger than all numbers.
fn first_largest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    let larger = |most: (usize, f64), next: (usize, f64)| {
        let is_larger = next.1 > most.1 || next.1.is_nan() && !most.1.is_nan();
        if is_larger { next } else { most }
    };
    let first = values.enumerate().reduce(larger);
    first.unwrap_or((0, f64::NEG_INFINITY))
}
