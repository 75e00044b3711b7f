//! The arrays of a mesh on a card, in patches, and the steps of a plan on them.

mod look;
mod observe;
mod parts;
mod room;
mod steps;
mod take;
mod tasks;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cudarc::driver::{CudaFunction, CudaSlice};
use ndarray::ArrayView3;
use rayon::ThreadPool;
use stencil_compiler::plan::{BufferRole, Layout, Place, Plan};

use super::card::{Card, Opened};
use super::clock::Clock;
use super::formulas::{Formulas, Unsteady};
use super::ghosts::{Ghosts, has_tables};
use super::launches::{Ready, fitted, function, halo, load, texts, usual_units};
use super::memory::{Memory, stride};
use super::own::own;
use super::patches::{Cut, MeshShape, over};
use super::reduce::Tree;
use super::{Cache, CudaError, Launched};
use crate::backend::cpu::array::Array;
use crate::backend::cpu::{BadValue, Checked, Domain, Patch};
use crate::builder::Plans;
use crate::clock::Rules;
use crate::{Error, Number};
pub(crate) use observe::{Reducer, sources as observed_sources};
pub use parts::{PartTime, StepPart};
use room::fits;
use tasks::{Graph, Kind, Task, When, nothing};

/// Steps between two looks for values that are no numbers.
const PERIOD: usize = 32;

/// Bytes of the card that are left to others: the driver's own, and lists of ghost cells.
const RESERVE: usize = 64 << 20;

/// A step, so that it can be done again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Its number, from 1.
    pub(crate) step: u64,
    /// The time at its beginning.
    pub(crate) t: f64,
    /// Its length.
    pub(crate) dt: f64,
}

/// Why a step could not be done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A value is no number.
    NotFinite {
        /// Which.
        bad: BadValue,
        /// The step that made it.
        moment: Moment,
        /// Its substep, from 0.
        substep: usize,
        /// Are the fields those before that step?
        kept: bool,
    },
    /// Something else.
    Other(Error),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Other(error.into())
    }
}

/// Arrays on a card and what is done with them in a step.
#[derive(Debug)]
pub(crate) struct Machine<T> {
    card: Opened,
    /// Where compiled kernels are kept.
    cache: Option<Cache>,
    /// Names and shape of the whole mesh; its arrays are empty but while the host evaluates
    /// something.
    patch: Patch<T>,
    /// Values of buffers as the host knows them, until they change on the card.
    known: Vec<OnceLock<Array<T>>>,
    memory: Memory,
    /// How the mesh is in that memory.
    cut: Cut,
    /// Where in the memory each buffer is.
    slots: Vec<usize>,
    /// Where the fields are kept as they were when they were last looked at, by their buffers.
    kept: BTreeMap<usize, usize>,
    ghosts: Ghosts,
    launches: Vec<Ready>,
    find_bad: CudaFunction,
    take_cells: CudaFunction,
    tree: Tree,
    clock: Clock,
    formulas: Option<Formulas>,
    /// Given fields that are formulas, by their numbers.
    sampled: Vec<usize>,
    shape: MeshShape,
    substeps: Vec<Vec<Task>>,
    fused: Option<Fused>,
    /// Captured parts of steps, by where the buffers are when one begins.
    graphs: BTreeMap<(Kind, Vec<usize>), Graph>,
    first_bad: CudaSlice<u64>,
    /// Steps since the fields were last kept.
    since: Vec<Moment>,
    /// Are the kept fields those before the first of these steps?
    holds: bool,
    /// Does the kernel of the speeds have its uniforms?
    has_speeds: bool,
}

/// Steps that are done several at once.
#[derive(Debug)]
struct Fused {
    /// How many.
    steps: usize,
    /// The number of its first launch; those of single steps come before.
    first: usize,
    /// What is done in each fused substep.
    tasks: Vec<Vec<Task>>,
}

/// Where in the memory each buffer is; some are where another one is.
pub(super) fn slots(plan: &Plan) -> Vec<usize> {
    let mut next = 0;
    let mut slots: Vec<usize> = Vec::with_capacity(plan.buffers.len());
    for at in 0..plan.buffers.len() {
        let shared = slots.get(plan.memory_of(at)).copied();
        slots.push(shared.unwrap_or(next));
        next += usize::from(shared.is_none());
    }
    slots
}

/// Where the arrays of a plan are in the memory, by their slots, and so many more behind them.
pub(super) fn places(plan: &Plan, more: usize) -> Vec<Place> {
    let (slots, of_buffers) = (slots(plan), plan.places());
    let home = |slot: usize| slots.iter().position(|own| *own == slot);
    // No surface stands in front of those behind.
    let surfaces = (0..plan.memories()).filter_map(home);
    let surfaces = surfaces
        .filter(|buffer| of_buffers[*buffer].surface)
        .count();
    let behind = |slot: usize| Place::alone(slot - surfaces);
    let place = |slot| home(slot).map_or_else(|| behind(slot), |buffer| of_buffers[buffer]);
    (0..plan.memories() + more).map(place).collect()
}

/// Where in the memory fields are kept, by their buffers: behind what the plan needs.
fn kept(plan: &Plan) -> BTreeMap<usize, usize> {
    let fields = plan.buffers.iter().enumerate();
    let fields = fields.filter(|(_, buffer)| buffer.role == BufferRole::Field);
    fields.map(|(at, _)| at).zip(plan.memories()..).collect()
}

/// Multiprocessors that chunks are fitted to: what was compiled ahead did not know the card.
fn units(card: &Opened, cache: Option<&Cache>) -> u32 {
    match cache.and_then(Cache::sealed_by) {
        None => card.card.multiprocessors,
        Some(_) => usual_units(&card.card.architecture()),
    }
}

impl<T: Number> Machine<T> {
    /// Compiles the kernels of a plan and takes memory on the card for its buffers.
    pub(crate) fn new(
        card: Opened,
        cache: Option<Cache>,
        plans: Plans<'_>,
        (domain, unsteady, rules): (Domain, &Unsteady, Rules),
        instructions: Checked,
    ) -> Result<Self, Error> {
        let over = over(&domain.patches);
        let units = units(&card, cache.as_ref());
        let mut programs = Vec::new();
        for (problem, plan) in plans.all() {
            let plan = fitted(plan, problem.dimension, &domain.patches, units);
            let texts = texts::<T>((problem, &rules.constants), &plan, over)?;
            programs.push((problem, plan, texts));
        }
        let halo = programs
            .iter()
            .fold(domain.halo, |deepest, (_, plan, texts)| {
                let (of_plan, of_kernels) = (plan.halo(), halo(texts));
                std::array::from_fn(|axis| {
                    deepest[axis]
                        .max(of_plan[axis] as usize)
                        .max(of_kernels[axis])
                })
            });
        let plan = &programs.first().ok_or_else(nothing)?.1;
        let (mesh, patches) = (domain.mesh, domain.patches);
        let boundaries = domain.boundaries.clone();
        let keep_last = domain.keep_last;
        let patch = Patch::<T>::without_arrays(plan, domain, halo, instructions)?;
        let buffers = plan.buffers.len();
        let kept = match keep_last {
            true => kept(plan),
            false => BTreeMap::new(),
        };
        let cut = Cut::new(patch.shape, patches, T::BYTES)?;
        fits::<T>(&card, plan, &cut, kept.len())?;
        let places = places(plan, kept.len());
        let arrays = places.iter().filter(|place| !place.surface).count();
        let shape = MeshShape::new(&cut, &mesh, arrays * stride::<T>(&cut.patch) / T::BYTES);
        let kept_in = cache.as_ref();
        let own = own::<T>(&card, kept_in, (over, plan.layout))?;
        let mut memory = Memory::new::<T>(&card, &cut.patch, places, patches)?;
        if plan.layout == Layout::Aos {
            memory.move_by::<T>(&card, function(&own.fields, "move_values")?)?;
        }
        let in_memory = (&shape, &memory);
        let mut launches = Vec::new();
        for (problem, plan, texts) in &programs {
            launches.extend(load(&card, kept_in, problem, plan, texts, in_memory)?);
        }
        let of_trees = (
            function(&own.fields, "reduce_values")?,
            function(&own.fields, "reduce_numbers")?,
        );
        let stream = &card.stream;
        let formulas = Formulas::new::<T>(
            &card,
            kept_in,
            (over, shape),
            (&mesh, boundaries.periodic),
            unsteady,
        )?;
        let sampled = unsteady.sources.iter().map(|(name, _)| {
            let bug = || Error::Bug(format!("the source `{name}` has no array"));
            patch.given(name).ok_or_else(bug)
        });
        let mut machine = Machine {
            sampled: sampled.collect::<Result<_, _>>()?,
            clock: Clock::new::<T>(&card, kept_in, rules, &launches)?,
            formulas,
            memory,
            cut,
            slots: slots(plan),
            kept,
            ghosts: Ghosts::new(
                stream,
                (
                    function(&own.arrays, "fill_ghosts")?,
                    function(&own.fields, "fill_ghosts")?,
                ),
                shape,
                &boundaries,
                T::BYTES,
            )?,
            tree: Tree::new(stream, of_trees, &shape)?,
            known: (0..buffers).map(|_| OnceLock::new()).collect(),
            first_bad: stream
                .alloc_zeros(1)
                .map_err(CudaError::driver("taking memory on the card"))?,
            card,
            cache,
            patch,
            launches,
            find_bad: function(&own.fields, "find_bad")?,
            take_cells: function(&own.fields, "take_cells")?,
            shape,
            substeps: Vec::new(),
            fused: None,
            graphs: BTreeMap::new(),
            since: Vec::new(),
            holds: false,
            has_speeds: false,
        };
        machine.substeps = machine.tasks(plan, 0)?;
        if let Some((_, fused, _)) = programs.get(1) {
            let first = plan.launches.len();
            machine.fused = Some(Fused {
                steps: fused.time_steps,
                first,
                tasks: machine.tasks(fused, first)?,
            });
        }
        Ok(machine)
    }

    /// What is done in each substep of a plan, whose launches begin at this number.
    fn tasks(&self, plan: &Plan, first: usize) -> Result<Vec<Vec<Task>>, Error> {
        let mut substeps = Vec::new();
        for actions in self.patch.actions(plan)? {
            let mut tasks = Vec::new();
            if !self.sampled.is_empty() {
                tasks.push(Task::Sample);
            }
            for action in actions {
                tasks.push(self.task(action, first)?);
            }
            substeps.push(tasks);
        }
        Ok(substeps)
    }

    /// The card.
    pub(crate) fn card(&self) -> &Card {
        &self.card.card
    }

    /// The kernels of a step, in their order; those of fused substeps where there are any.
    pub(crate) fn launched(&self) -> Vec<Launched> {
        let first = self.fused.as_ref().map_or(0, |fused| fused.first);
        let all = self.launches[first..].iter();
        all.map(|launch| launch.launched.clone()).collect()
    }

    /// How many kernels a step launches, those that fill ghost cells among them.
    pub(crate) fn launches_a_step(&self) -> usize {
        let is_launch = |task: &&Task| matches!(task, Task::Launch(_) | Task::Fill(Some(_)));
        let (tasks, steps) = match &self.fused {
            Some(fused) => (&fused.tasks, fused.steps),
            None => (&self.substeps, 1),
        };
        tasks
            .iter()
            .flatten()
            .filter(is_launch)
            .count()
            .div_ceil(steps)
    }

    /// Names and shape of the arrays, without values.
    pub(crate) fn patch(&self) -> &Patch<T> {
        &self.patch
    }

    /// Where a buffer is; without one, an array alone.
    fn place_of(&self, buffer: Option<&usize>) -> Place {
        let place = |buffer: &usize| self.memory.place(self.slots[*buffer]);
        buffer.map_or(Place::alone(0), place)
    }

    /// What kernels know of the mesh and the arrays that a buffer may be in.
    fn shape_of(&self, buffer: usize) -> MeshShape {
        let place = self.place_of(Some(&buffer));
        match place.surface {
            true => self.shape.in_surface(self.memory.rows().first()),
            false => self.shape.apart(place.of),
        }
    }

    /// Must the host do something within a step?
    fn needs_host(&self) -> bool {
        let boundaries = &self.patch.domain().boundaries;
        boundaries.has_custom() || (has_tables(boundaries) && !self.has_formulas_on_faces())
    }

    /// Are all numbers on faces that are functions formulas?
    fn has_formulas_on_faces(&self) -> bool {
        let formulas = self.formulas.as_ref();
        formulas.is_some_and(|formulas| !formulas.faces().is_empty())
    }

    /// Does the card evaluate this given field itself, in each substep?
    pub(crate) fn samples(&self, buffer: usize) -> bool {
        self.sampled.contains(&buffer)
    }

    /// Evaluates given fields that are formulas, between steps.
    pub(crate) fn sample(&mut self, t: f64) -> Result<(), Error> {
        if self.formulas.is_none() {
            return Ok(());
        }
        let time = self.clock.between();
        self.clock.tell_between(&self.card.stream, t)?;
        self.start(&Task::Sample, When { t, time })?;
        self.forget(&self.sampled.clone());
        Ok(())
    }

    /// The values of a buffer.
    pub(crate) fn interior(&self, buffer: usize) -> Result<ArrayView3<'_, T>, Error> {
        let values = self.value(buffer)?;
        let bug = || Error::Bug(format!("buffer {buffer} has no shape"));
        values.interior(&self.patch.shape).ok_or_else(bug)
    }

    fn value(&self, buffer: usize) -> Result<&Array<T>, Error> {
        let known = &self.known[buffer];
        if let Some(values) = known.get() {
            return Ok(values);
        }
        let mut values = self.patch.array()?;
        let stream = &self.card.stream;
        let slot = self.slots[buffer];
        self.cut.download(&self.memory, stream, slot, &mut values)?;
        Ok(known.get_or_init(|| values))
    }

    /// Evaluates something on the host, which gets the values of fields and given fields.
    pub(crate) fn on_host<R>(
        &mut self,
        evaluate: impl FnOnce(&mut Patch<T>) -> R,
    ) -> Result<R, Error> {
        let states = self.patch.states();
        for buffer in &states {
            self.value(*buffer)?;
        }
        for buffer in &states {
            if let Some(values) = self.known[*buffer].take() {
                *self.patch.array_mut(*buffer) = values;
            }
        }
        let result = evaluate(&mut self.patch);
        for buffer in states {
            let values = std::mem::take(self.patch.array_mut(buffer));
            self.known[buffer] = OnceLock::from(values);
        }
        Ok(result)
    }

    /// Sets a buffer and some ghost cells around it.
    pub(crate) fn set(
        &mut self,
        pool: &ThreadPool,
        buffer: usize,
        depth: [usize; 3],
        value: impl Fn([isize; 3]) -> T + Sync,
    ) -> Result<(), Error> {
        let mut values = self.patch.array()?;
        pool.install(|| values.set(&self.patch.shape, depth, &value));
        let slot = self.slots[buffer];
        let stream = &self.card.stream;
        self.cut.upload(&mut self.memory, stream, slot, &values)?;
        self.known[buffer] = OnceLock::from(values);
        self.holds = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use stencil_compiler::schedule::text;

    use super::*;
    use crate::SystemDef;

    /// No two values are in one place, whatever is kept, and what changes places lies alike.
    #[test]
    fn each_value_has_a_place_of_its_own() {
        let source = "pub system Waves in 2d { field h: scalar; field v: vector;
            ddt(h) = -div(v); ddt(v) = -grad(h); }
            scheme s for Waves { space: central<order = 2>; time: rk3_williamson; }";
        let system = SystemDef::from_text("waves.pde", source).unwrap();
        for (layout, apart, surface) in [("soa", 1, false), ("aos", 3, false), ("surface", 1, true)]
        {
            let schedule = text::parse(&format!("schedule layout {layout} kernel direct"));
            let plan = stencil_compiler::plan::plan(system.algorithm(), &schedule.unwrap());
            let plan = plan.unwrap();
            let (kept, slots) = (kept(&plan), slots(&plan));
            let places = places(&plan, kept.len());
            assert_eq!(places.len(), plan.memories() + kept.len());
            let room = 7;
            let cells = |place: &Place| (0..room).map(|cell| place.value(cell, room)).collect();
            for surface in [false, true] {
                let alike = places.iter().filter(|place| place.surface == surface);
                let all: Vec<Vec<usize>> = alike.map(cells).collect();
                let count = all.len() * room;
                let all: BTreeSet<usize> = all.into_iter().flatten().collect();
                assert!(all.into_iter().eq(0..count));
            }
            for (field, slot) in &kept {
                let (of_field, of_kept) = (places[slots[*field]], places[*slot]);
                assert_eq!((of_field.of, of_field.surface), (apart, surface));
                assert_eq!((of_kept.of, of_kept.surface), (1, false));
            }
            for buffer in &plan.buffers {
                let at = |name: &str| plan.buffers.iter().position(|b| b.name == name);
                let new = at(&format!("{}_new", buffer.name));
                if let (Some(old), Some(new)) = (at(&buffer.name), new) {
                    let lies = |buffer: usize| {
                        let place = places[slots[buffer]];
                        (place.of, place.surface)
                    };
                    assert_eq!(lies(old), lies(new));
                }
            }
        }
    }
}
