//! Observed functions: evaluated into arrays that are free between two steps, then reduced there.

use std::ops::Range;

use cudarc::driver::CudaSlice;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;
use stencil_compiler::plan::{BufferRole, Depth, Region};

use super::Machine;
use super::observables::{ObservedUpdates, Problem, bug, deepest};
use super::tasks::{Task, When};
use crate::backend;
use crate::backend::cuda::CudaError;
use crate::backend::cuda::kernels::launch::{Ready, load};
use crate::backend::cuda::kernels::reduce::{AT_ONCE, Batch, Rule};
use crate::{Error, Number};

/// Quantities, ready to be evaluated.
#[derive(Debug)]
pub(crate) struct Reducer {
    fills: Vec<Task>,
    pub(super) rounds: Vec<Round>,
}

/// Quantities that one launch evaluates.
#[derive(Debug)]
pub(super) struct Round {
    /// The launch on each card.
    launches: Vec<Ready>,
    pub(super) problem: Problem,
    /// For each buffer of the launch's plan the buffer of the machine.
    buffers: Vec<usize>,
    /// The buffer of each quantity, and its rule.
    pub(super) quantities: Vec<(usize, Rule)>,
}

impl<T: Number> Machine<T> {
    /// Prepares some updates of an algorithm with one substep and the same states.
    pub(super) fn reducer(
        &self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
    ) -> Result<Reducer, Error> {
        let room = self.fields.buffers.of_role(BufferRole::NewField);
        let parts = self.on.rounds(updates);
        let parts = parts
            .map(|updates| Ok((updates, ObservedUpdates::new::<T>(algorithm, updates, &self.on)?)));
        let parts: Vec<_> = parts.collect::<Result<_, Error>>()?;
        let ghosts = self.fields.ghosts(|field| {
            let reads = parts.iter().map(|(_, part)| part.depth(field));
            Some(deepest(reads)).filter(|depth| *depth != [0; 3]).map(Depth::from)
        });
        let rounds = parts.into_iter();
        let rounds = rounds.map(|(updates, part)| self.round(part, updates, &room));
        Ok(Reducer { rounds: rounds.collect::<Result<_, _>>()?, fills: self.fills(ghosts)? })
    }

    fn round(
        &self,
        part: ObservedUpdates,
        updates: &[(usize, Reduction)],
        room: &[usize],
    ) -> Result<Round, Error> {
        let ObservedUpdates { problem, texts, every } = part;
        let Problem { algorithm, plan, .. } = &problem;
        let outputs: Vec<&str> = algorithm.substeps[0]
            .updates
            .iter()
            .map(|(state, _)| algorithm.state(*state).name.as_str())
            .collect();
        let buffer = |name: &str, role: BufferRole| {
            let output = outputs.iter().position(|output| *output == name);
            let at = match role {
                BufferRole::Field => self.fields.buffers.field(name),
                BufferRole::Given => self.fields.buffers.given(name),
                // Buffers that this round does not evaluate are not accessed in it, wherever they are.
                BufferRole::Accumulator
                | BufferRole::Kept
                | BufferRole::Count
                | BufferRole::NewField
                | BufferRole::Derived => room.get(output.unwrap_or(0)).copied(),
            };
            at.ok_or_else(|| bug(&format!("reads `{name}`")))
        };
        let buffers = plan.buffers.iter().map(|b| buffer(&b.name, b.role));
        let buffers: Vec<usize> = buffers.collect::<Result<_, _>>()?;
        let cache = self.cache.as_ref();
        let in_memory = (&self.shape, &self.memory, None);
        let launches = (self.first..).zip(self.cards()).map(|(owner, (card, ..))| {
            let launches = load((owner, card), cache, (algorithm, plan), &texts, in_memory)?;
            launches.into_iter().next().ok_or_else(|| bug("without a kernel"))
        });
        Ok(Round {
            launches: launches.collect::<Result<_, _>>()?,
            problem,
            buffers,
            quantities: room
                .iter()
                .zip(updates)
                .zip(every)
                .map(|((buffer, (_, reduction)), every)| {
                    (*buffer, Rule { reduction: *reduction, every })
                })
                .collect(),
        })
    }

    /// Calls a function with a reducer and the reducer of the machine that belongs to it.
    pub(super) fn with_reducer<R>(
        &mut self,
        reducer: &backend::Reducer,
        run: impl FnOnce(&mut Self, &Reducer) -> Result<R, Error>,
    ) -> Result<R, Error> {
        // The list leaves the machine meanwhile, so that the rest can change.
        let reducers = std::mem::take(&mut self.reducers);
        let own = reducers.get(reducer.number);
        let missing = || bug("that was not made ready");
        let done = own.ok_or_else(missing).and_then(|own| run(self, own));
        self.reducers = reducers;
        done
    }

    /// Replaces the uniforms of a reducer on all cards, given in the order of the algorithm.
    pub(super) fn set_uniforms(&self, of: &Reducer, uniforms: &[f64]) -> Result<(), CudaError> {
        let uniforms: Vec<T> = uniforms.iter().map(|v| T::from_f64(*v)).collect();
        for round in &of.rounds {
            for ((card, ..), launch) in self.cards().zip(&round.launches) {
                launch.set_uniforms(&card.stream, &uniforms)?;
            }
        }
        Ok(())
    }

    /// Starts the evaluation of a round on all cards, amid a part.
    fn evaluate(&self, round: &Round) -> Result<(), CudaError> {
        let slots: Vec<usize> = round.buffers.iter().map(|at| self.slots[*at]).collect();
        for ((card, ..), launch) in self.cards().zip(&round.launches) {
            launch.launch(&card.stream, Region::Whole, &self.memory, &slots)?;
        }
        if self.tree.reads_across() {
            self.lanes.join()?;
            self.lanes.fork()?;
        }
        Ok(())
    }

    /// Returns quantities that are reduced at once, as many as may be, in their order.
    fn batches(&self, round: &Round) -> Vec<Batch> {
        let stream = &self.card.stream;
        let at =
            |buffer: usize| (self.place_of(Some(&buffer)).of, self.place_of(Some(&buffer)).surface);
        let alike = |a: &(usize, Rule), b: &(usize, Rule)| a.1 == b.1 && at(a.0) == at(b.0);
        let alike = round.quantities.chunk_by(alike).flat_map(|alike| alike.chunks(AT_ONCE));
        let batch = |quantities: &[(usize, Rule)]| {
            let address =
                |(buffer, _): &(usize, Rule)| self.memory.address(stream, self.slots[*buffer]);
            let first: Vec<u64> = quantities.iter().map(address).collect();
            let (buffer, rule) = quantities.first()?;
            Some(Batch::new(*rule, self.shape_of(*buffer), &first))
        };
        alike.filter_map(batch).collect()
    }

    /// Starts the reduction of arrays to numbers from an address in the memory of the first card on, amid a part.
    fn start_batch(&mut self, batch: &Batch, to: u64) -> Result<(), CudaError> {
        let stream = self.card.stream.clone();
        if self.courier.is_some() {
            self.tree.clear(&stream, batch)?;
        }
        for (owner, (card, ..)) in (self.first..).zip(self.cards()) {
            self.tree.start_rows((owner, &card.stream), batch)?;
        }
        self.lanes.join()?;
        if let Some(courier) = &self.courier {
            let (numbers, count) = self.tree.numbers(&stream, batch);
            courier.join(&stream, numbers, count)?;
        }
        self.tree.start_total(&stream, batch, to)?;
        // The next arrays take the same room, and the next round the same arrays.
        self.lanes.fork()
    }

    /// Starts the reduction of some rows of the only card, by quantities that read no neighbours, and copies their numbers
    /// quantity by quantity.
    pub(super) fn start_row_numbers(
        &mut self,
        reducer: &Reducer,
        uniforms: &[f64],
        rows: Range<usize>,
        to: &mut CudaSlice<f64>,
    ) -> Result<(), Error> {
        let stream = self.card.stream.clone();
        self.set_speeds(reducer, uniforms)?;
        let mut first = 0;
        for round in &reducer.rounds {
            self.evaluate(round)?;
            for batch in self.batches(round) {
                self.tree.start_rows((0, &stream), &batch)?;
                let end = first + batch.count() * rows.len();
                self.tree.copy_rows(
                    &stream,
                    &batch,
                    rows.clone(),
                    &mut to.slice_mut(first..end),
                )?;
                first = end;
            }
        }
        Ok(())
    }

    /// Reduces the quantities to numbers at the time `t`, with the uniforms of their algorithm.
    pub(super) fn reduce_with(
        &mut self,
        reducer: &Reducer,
        uniforms: &[f64],
        t: f64,
    ) -> Result<Vec<f64>, Error> {
        let stream = self.card.stream.clone();
        let time = self.clock.between();
        if self.formulas.is_some() {
            self.clock.tell_between(&stream, t)?;
        }
        self.together(|machine| {
            let mut fills = reducer.fills.iter();
            fills.try_for_each(|fill| machine.start(fill, When { t, time }))?;
            machine.set_uniforms(reducer, uniforms)?;
            let (to, mut numbers) = (machine.tree.total(&stream), Vec::new());
            for round in &reducer.rounds {
                machine.evaluate(round)?;
                for batch in machine.batches(round) {
                    machine.start_batch(&batch, to)?;
                    numbers.extend(machine.tree.read(&stream, &batch)?);
                }
            }
            Ok(numbers)
        })
    }

    /// Starts the evaluation of the speeds that limit the next step, amid a part, and writes them to the state of the
    /// first card, which knows the time; the host takes it to be `t`.
    pub(super) fn enqueue_speeds(&mut self, reducer: &Reducer, t: f64) -> Result<(), Error> {
        let stream = self.card.stream.clone();
        let time = self.clock.between();
        let mut written = 0;
        reducer.fills.iter().try_for_each(|fill| self.start(fill, When { t, time }))?;
        for round in &reducer.rounds {
            self.evaluate(round)?;
            for batch in self.batches(round) {
                self.start_batch(&batch, self.clock.speed(&stream, written))?;
                written += batch.count();
            }
        }
        Ok(())
    }
}
