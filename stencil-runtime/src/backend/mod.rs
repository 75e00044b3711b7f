//! Devices: each backend owns its memory, its launches and its vendor's words.

pub mod cpu;
pub mod cuda;

use ndarray::ArrayView3;
use rayon::ThreadPool;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;

use crate::{Error, Number, Room};
use cpu::{BadValue, Evaluation, Patch};

/// Quantities of all cells, made ready for what evaluates them and reduces each to a number.
#[derive(Debug)]
pub(crate) struct Reducer {
    evaluation: Evaluation,
    reductions: Vec<Reduction>,
    /// `None` on the host's processor.
    on_card: Option<cuda::Reducer>,
}

impl Reducer {
    /// Are sources read?
    pub(crate) fn reads_sources(&self) -> bool {
        self.evaluation.reads_given
    }

    /// What evaluates and reduces them on a card.
    pub(crate) fn on_card(&self) -> Option<&cuda::Reducer> {
        self.on_card.as_ref()
    }
}

/// What does the steps of a run.
#[derive(Debug)]
pub(crate) enum Machine<T> {
    /// The host's processor.
    Cpu(Box<cpu::Machine<T>>),
    /// A card.
    Cuda(Box<cuda::Machine<T>>),
}

impl<T: Number> Machine<T> {
    /// Names and shape of the arrays; their values may be elsewhere.
    pub(crate) fn patch(&self) -> &Patch<T> {
        match self {
            Machine::Cpu(machine) => &machine.patch,
            Machine::Cuda(machine) => machine.patch(),
        }
    }

    /// The values of a buffer.
    pub(crate) fn interior(&self, buffer: usize) -> Result<ArrayView3<'_, T>, Error> {
        match self {
            Machine::Cpu(machine) => {
                let bug = || Error::Bug(format!("buffer {buffer} has no shape"));
                machine.patch.interior(buffer).ok_or_else(bug)
            }
            Machine::Cuda(machine) => machine.interior(buffer),
        }
    }

    /// Evaluates something on the threads of the host, which sees all fields and sources.
    pub(crate) fn on_host<R: Send>(
        &mut self,
        pool: &ThreadPool,
        evaluate: impl FnOnce(&mut Patch<T>) -> R + Send,
    ) -> Result<R, Error> {
        match self {
            Machine::Cpu(machine) => Ok(pool.install(|| evaluate(&mut machine.patch))),
            Machine::Cuda(machine) => machine.on_host(|patch| pool.install(|| evaluate(patch))),
        }
    }

    /// Makes ready some updates of an algorithm with one substep and the same states.
    pub(crate) fn reducer(
        &self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
    ) -> Result<Reducer, Error> {
        let which: Vec<usize> = updates.iter().map(|(update, _)| *update).collect();
        let evaluation = Evaluation::new(algorithm, &which, self.patch())?;
        let on_card = match self {
            Machine::Cpu(_) => None,
            Machine::Cuda(machine) => Some(machine.reducer(algorithm, updates)?),
        };
        Ok(Reducer {
            evaluation,
            reductions: updates.iter().map(|(_, reduction)| *reduction).collect(),
            on_card,
        })
    }

    /// The numbers that the quantities become at the time `t`, with the uniforms of their
    /// algorithm; the same on each machine.
    pub(crate) fn reduce(
        &mut self,
        pool: &ThreadPool,
        reducer: &Reducer,
        uniforms: &[f64],
        t: f64,
    ) -> Result<Vec<f64>, Error> {
        let Reducer {
            evaluation,
            reductions,
            on_card,
        } = reducer;
        match (self, on_card) {
            (Machine::Cuda(machine), Some(on_card)) => machine.reduce(on_card, uniforms, t),
            (machine, _) => machine.on_host(pool, |patch| {
                patch.reduce(evaluation, reductions, uniforms, t)
            }),
        }
    }

    /// The cell with the largest value of one of the quantities, the first one in order; it is looked for on the host.
    pub(crate) fn first_largest(
        &mut self,
        pool: &ThreadPool,
        (reducer, which): (&Reducer, usize),
        uniforms: &[f64],
        t: f64,
    ) -> Result<[usize; 3], Error> {
        let evaluation = &reducer.evaluation;
        self.on_host(pool, |patch| {
            patch.first_largest((evaluation, which), uniforms, t)
        })
    }

    /// Takes values that are larger than this to have grown without bound.
    pub(crate) fn bound(&mut self, most: f64) {
        match self {
            Machine::Cpu(machine) => machine.patch.bound(most),
            Machine::Cuda(machine) => machine.bound(most),
        }
    }

    /// The first value of a field that is infinite or not a number, or beyond the bound.
    pub(crate) fn first_not_finite(
        &mut self,
        pool: &ThreadPool,
    ) -> Result<Option<BadValue>, Error> {
        match self {
            Machine::Cpu(machine) => Ok(pool.install(|| machine.patch.first_not_finite())),
            Machine::Cuda(machine) => Ok(machine.find_bad()?),
        }
    }

    /// Sets a field, or a source and its ghost cells.
    pub(crate) fn set(
        &mut self,
        pool: &ThreadPool,
        buffer: usize,
        value: impl Fn([isize; 3]) -> T + Sync,
    ) -> Result<(), Error> {
        match self {
            Machine::Cpu(machine) => {
                pool.install(|| machine.patch.set(buffer, &value));
                Ok(())
            }
            Machine::Cuda(machine) => machine.set(pool, buffer, value),
        }
    }

    /// What it takes, part by part.
    pub(crate) fn room(&self) -> Room {
        match self {
            Machine::Cpu(machine) => machine.room(),
            Machine::Cuda(machine) => machine.room(),
        }
    }
}
