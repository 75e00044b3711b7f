//! What is observed: evaluated into arrays whose values nobody needs between two steps, then
//! reduced there.

use std::sync::Arc;

use cudarc::driver::CudaStream;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::emit::{Patches, Source};
use stencil_compiler::kernel::{Buffer, Kernel};
use stencil_compiler::model::Reduction;
use stencil_compiler::plan::{self, BufferRole, Place, Plan};
use stencil_compiler::schedule::presets;

use super::Machine;
use super::tasks::{Task, When};
use crate::backend::cpu::actions::Action;
use crate::backend::cpu::ghosts::Job;
use crate::backend::cuda::CudaError;
use crate::backend::cuda::launches::{Ready, Text, load, texts_changed};
use crate::backend::cuda::patches::over;
use crate::{Error, Number};

/// The blocking of what is observed.
pub(super) const SCHEDULE: &str = "direct";

/// Quantities, ready to be evaluated.
#[derive(Debug)]
pub(crate) struct Reducer {
    fill: Task,
    pub(super) rounds: Vec<Round>,
}

/// Quantities that one launch evaluates.
#[derive(Debug)]
pub(super) struct Round {
    launch: Ready,
    pub(super) algorithm: Algorithm,
    /// For each buffer of the launch's plan the one of the machine.
    buffers: Vec<usize>,
    /// The buffer of each quantity.
    pub(super) quantities: Vec<(usize, Reduction)>,
}

impl Reducer {
    /// Replaces the uniforms, given in the order of the algorithm.
    pub(super) fn set_uniforms<T: Number>(
        &self,
        stream: &Arc<CudaStream>,
        uniforms: &[f64],
    ) -> Result<(), CudaError> {
        let uniforms: Vec<T> = uniforms.iter().map(|v| T::from_f64(*v)).collect();
        let mut rounds = self.rounds.iter();
        rounds.try_for_each(|round| round.launch.set_uniforms(stream, &uniforms))
    }
}

/// What one launch evaluates, as a problem of its own.
struct Part {
    algorithm: Algorithm,
    plan: Plan,
    texts: Vec<Text>,
}

impl Part {
    fn new<T: Number>(
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
        (patches, like): (Patches, Place),
    ) -> Result<Self, Error> {
        let mut part = algorithm.clone();
        let substep = part.substeps.first_mut();
        let all = substep.ok_or_else(|| bug("without a substep"))?;
        let chosen = updates.iter().filter_map(|(at, _)| all.updates.get(*at));
        all.updates = chosen.copied().collect();
        let schedule = presets::find(SCHEDULE).ok_or_else(|| bug("without a schedule"))?;
        let schedule = (schedule.make)(&part, T::PRECISION);
        let plan = plan::plan(&part, &schedule).map_err(|e| Error::Bug(e.message))?;
        // It reads fields and writes to the arrays of their new values.
        let place = |buffer: &mut Buffer| match plan.buffer(&buffer.name).map(|b| b.role) {
            Some(BufferRole::Given) | None => {}
            Some(_) => {
                buffer.beside = (like.of > 1).then_some(Place {
                    of: like.of,
                    ..Place::alone(0)
                });
                buffer.surface = like.surface;
            }
        };
        let placed = |mut kernel: Kernel| {
            kernel.buffers.iter_mut().for_each(place);
            kernel
        };
        Ok(Part {
            texts: texts_changed::<T>(&part, &plan, patches, placed)?,
            algorithm: part,
            plan,
        })
    }
}

/// Updates that are evaluated at once, where there is room for the values of so many.
fn rounds(
    updates: &[(usize, Reduction)],
    room: usize,
) -> impl Iterator<Item = &[(usize, Reduction)]> {
    updates.chunks(room.max(1))
}

/// The kernels that evaluate some updates, where there is room for the values of so many. Fields, and that room,
/// lie like this place.
pub(crate) fn sources<T: Number>(
    algorithm: &Algorithm,
    updates: &[(usize, Reduction)],
    room: usize,
    like: (Patches, Place),
) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    for updates in rounds(updates, room) {
        let texts = Part::new::<T>(algorithm, updates, like)?.texts;
        sources.extend(texts.into_iter().map(|text| text.source));
    }
    Ok(sources)
}

fn bug(what: &str) -> Error {
    Error::Bug(format!("an observation on a card {what}"))
}

impl<T: Number> Machine<T> {
    /// Makes ready some updates of an algorithm with one substep and the same states, which reads
    /// the ghost cells of the jobs.
    pub(crate) fn reducer(
        &self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
        jobs: &[Option<Job>],
    ) -> Result<Reducer, Error> {
        let room = self.patch.new_fields_at();
        let rounds = rounds(updates, room.len());
        let rounds = rounds.map(|updates| self.round(algorithm, updates, &room));
        Ok(Reducer {
            rounds: rounds.collect::<Result<_, _>>()?,
            fill: self.task(Action::Fill(jobs.to_vec()), 0)?,
        })
    }

    fn round(
        &self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
        room: &[usize],
    ) -> Result<Round, Error> {
        let like = self.place_of(room.first());
        let Part {
            algorithm: part,
            plan,
            texts,
        } = Part::new::<T>(algorithm, updates, (over(&self.cut.patches), like))?;
        let outputs: Vec<&str> = part.substeps[0]
            .updates
            .iter()
            .map(|(state, _)| part.state(*state).name.as_str())
            .collect();
        let buffer = |name: &str, role: BufferRole| {
            let output = outputs.iter().position(|output| *output == name);
            let at = match role {
                BufferRole::Field => self.patch.field(name),
                BufferRole::Given => self.patch.given(name),
                // What this round does not evaluate is not accessed in it, wherever it is.
                BufferRole::Accumulator
                | BufferRole::Count
                | BufferRole::NewField
                | BufferRole::Derived => room.get(output.unwrap_or(0)).copied(),
            };
            at.ok_or_else(|| bug(&format!("reads `{name}`")))
        };
        let buffers = plan.buffers.iter().map(|b| buffer(&b.name, b.role));
        let buffers: Vec<usize> = buffers.collect::<Result<_, _>>()?;
        let cache = self.cache.as_ref();
        let in_memory = (&self.shape, &self.memory);
        let launches = load(&self.card, cache, &part, &plan, &texts, in_memory)?;
        let launch = launches.into_iter().next();
        Ok(Round {
            launch: launch.ok_or_else(|| bug("without a kernel"))?,
            algorithm: part,
            buffers,
            quantities: room
                .iter()
                .zip(updates)
                .map(|(at, (_, reduction))| (*at, *reduction))
                .collect(),
        })
    }

    /// The numbers that the quantities become at the time `t`, with the uniforms of their algorithm.
    pub(crate) fn reduce(
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
        self.start(&reducer.fill, When { t, time })?;
        reducer.set_uniforms::<T>(&stream, uniforms)?;
        let mut numbers = Vec::new();
        for round in &reducer.rounds {
            let Round {
                launch, buffers, ..
            } = round;
            let slots: Vec<usize> = buffers.iter().map(|at| self.slots[*at]).collect();
            launch.launch(&stream, &self.memory, &slots)?;
            for (buffer, reduction) in &round.quantities {
                let first = self.memory.address(&stream, self.slots[*buffer]);
                let shape = self.shape_of(*buffer);
                let number = self.tree.reduce(&stream, first, &shape, *reduction);
                numbers.push(number?);
            }
        }
        Ok(numbers)
    }

    /// Starts what evaluates the speeds that limit the next step, and writes them to the state of the
    /// card, which knows the time; the host thinks that it is `t`.
    pub(super) fn enqueue_speeds(&mut self, reducer: &Reducer, t: f64) -> Result<(), Error> {
        let stream = self.card.stream.clone();
        let time = self.clock.between();
        let mut written = 0;
        self.start(&reducer.fill, When { t, time })?;
        for round in &reducer.rounds {
            let slots: Vec<usize> = round.buffers.iter().map(|at| self.slots[*at]).collect();
            round.launch.launch(&stream, &self.memory, &slots)?;
            for (buffer, reduction) in &round.quantities {
                let first = self.memory.address(&stream, self.slots[*buffer]);
                let (to, shape) = (self.clock.speed(&stream, written), self.shape_of(*buffer));
                self.tree.start(&stream, first, &shape, *reduction, to)?;
                written += 1;
            }
        }
        Ok(())
    }
}
