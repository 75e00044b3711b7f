//! Evaluating grid functions on the state of a patch, row by row, without storing them.

use std::collections::BTreeSet;

use rayon::prelude::*;
use stencil_compiler::algorithm::rows::RowProgram;
use stencil_compiler::algorithm::{Algorithm, Role};
use stencil_compiler::model::Reduction;
use stencil_compiler::plan::BufferRole;

use super::ghosts::Job;
use super::parts::Part;
use super::patch::Patch;
use super::program::Steps;
use super::tree;
use super::view::{Target, View};
use crate::{Error, Number};

/// Grid functions to evaluate, with names looked up.
#[derive(Debug)]
pub(crate) struct Evaluation {
    program: RowProgram,
    inputs: Vec<usize>,
    /// Ghost cells that it reads.
    pub(crate) jobs: Vec<Option<Job>>,
    /// Does it read given fields?
    pub(crate) reads_given: bool,
}

impl Evaluation {
    /// Some updates of an algorithm's only substep, on a patch with the same states.
    pub(crate) fn new<T: Number>(
        algorithm: &Algorithm,
        updates: &[usize],
        patch: &Patch<T>,
    ) -> Result<Self, Error> {
        let all = algorithm.substeps.first().map_or(&[][..], |s| &s.updates);
        let chosen: Vec<_> = updates.iter().filter_map(|i| all.get(*i)).collect();
        let outputs: Vec<_> = chosen
            .iter()
            .map(|(state, id)| (*id, Some(*state)))
            .collect();
        let program = RowProgram::of_launch(algorithm, &outputs, &BTreeSet::new());
        let program = program.map_err(Error::Bug)?;
        let names = program.inputs().iter();
        let names = names.map(|id| algorithm.function(*id).name.as_str());
        let inputs = patch.indices(names)?;
        let depth = program.halo().map(|h| h as usize);
        let jobs = patch.jobs(|name| {
            let field = algorithm.find_state(name)?;
            (algorithm.state(field).role == Role::Field).then_some(depth)
        });
        let given = |i: &usize| patch.names[*i].1 == BufferRole::Given;
        Ok(Evaluation {
            reads_given: inputs.iter().any(given),
            program,
            inputs,
            jobs,
        })
    }
}

impl<T: Number> Patch<T> {
    /// Are there as many ghost cells as the evaluation of `what` reads?
    pub(crate) fn check_halo(&self, what: &str, wanted: [usize; 3]) -> Result<(), Error> {
        let there = self.shape.halo;
        if (0..3).all(|axis| wanted[axis] <= there[axis]) {
            return Ok(());
        }
        Err(Error::Value {
            what: format!("the number of ghost cells that `{what}` reads"),
            value: wanted.into_iter().max().unwrap_or(0) as f64,
            help: format!("this run has {there:?}: take fewer derivatives of derivatives"),
        })
    }

    /// The number that each function becomes at the time `t`.
    pub(crate) fn reduce(
        &mut self,
        evaluation: &Evaluation,
        reductions: &[Reduction],
        uniforms: &[f64],
        t: f64,
    ) -> Vec<f64> {
        let shares = self.reduce_rows(evaluation, uniforms, t, |rows| -> Vec<f64> {
            let rows = reductions.iter().zip(rows);
            rows.map(|(reduction, values)| tree::row(*reduction, values))
                .collect()
        });
        let of = |(i, reduction): (usize, &Reduction)| {
            let shares: Vec<f64> = shares.iter().map(|row| row[i]).collect();
            tree::rows(*reduction, &shares, self.shape.cells)
        };
        reductions.iter().enumerate().map(of).collect()
    }

    /// The cell with the largest value of one of the functions at the time `t`, the first one in order: along x, y, z.
    pub(crate) fn first_largest(
        &mut self,
        (evaluation, which): (&Evaluation, usize),
        uniforms: &[f64],
        t: f64,
    ) -> [usize; 3] {
        let rows = self.reduce_rows(evaluation, uniforms, t, |rows| {
            first_largest(rows[which].iter().map(|value| value.to_f64()))
        });
        let (row, _) = first_largest(rows.iter().map(|(_, value)| *value));
        let [_, ny, _] = self.shape.cells;
        [rows[row].0, row % ny, row / ny]
    }

    /// Reduces each row of all functions at the time `t`; the rows of a plane stand together.
    pub(crate) fn reduce_rows<R: Send>(
        &mut self,
        evaluation: &Evaluation,
        uniforms: &[f64],
        t: f64,
        reduce: impl Fn(&[&[T]]) -> R + Sync,
    ) -> Vec<R> {
        self.fill(&evaluation.jobs, t);
        let Evaluation {
            program, inputs, ..
        } = evaluation;
        let uniforms: Vec<T> = uniforms.iter().map(|v| T::from_f64(*v)).collect();
        let layout = self.shape.layout;
        let view = |i: &usize| View::whole(self.arrays[*i].values(), layout);
        let inputs: Vec<View<'_, T>> = inputs.iter().map(view).collect();
        let [nx, ny, nz] = self.shape.cells;
        let scratch = || {
            let rows = vec![vec![T::ZERO; nx]; program.outputs().len()];
            (program.scratch(&uniforms), rows)
        };
        let steps = Steps::new::<T>(self.instructions, nx, 0);
        let row = |(scratch, rows): &mut (_, Vec<Vec<T>>), i: usize| {
            let target = |row| Target {
                values: row,
                pitch: nx,
                plane: nx,
            };
            let part = Part {
                first: [0, (i % ny) as isize, (i / ny) as isize],
                rows: 1,
                length: nx,
                inputs: &inputs,
                outputs: rows.iter_mut().map(Vec::as_mut_slice).map(target).collect(),
                uniforms: &uniforms,
                steps: &steps,
                looks_ahead: false,
            };
            T::rows(self.instructions, program, scratch, part);
            let rows: Vec<&[T]> = rows.iter().map(Vec::as_slice).collect();
            reduce(&rows)
        };
        let all = (0..ny * nz).into_par_iter().with_min_len(4);
        all.map_init(scratch, row).collect()
    }
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
