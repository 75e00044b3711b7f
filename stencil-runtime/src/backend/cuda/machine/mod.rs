//! The arrays of a mesh on a card, in patches, and the steps of a plan on them.

pub(crate) mod aot;
pub(super) mod buffer_places;
mod copies;
mod copy_fields;
mod finite_check;
mod host_values;
mod memory_use;
mod observables;
pub(crate) mod opening;
mod order;
mod part_times;
mod peers;
mod programs;
mod ranks;
mod reducers;
mod steps;
mod tasks;
mod timeline;
pub(crate) mod window;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaFunction;
use ndarray::ArrayView3;
use rayon::ThreadPool;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;
use stencil_compiler::plan::{BufferRole, Place};

use crate::backend::cuda::card::{Card, Opened};
use crate::backend::cuda::exchange::Courier;
use crate::backend::cuda::kernels::builtin::Own;
use crate::backend::cuda::kernels::clock::Clock;
use crate::backend::cuda::kernels::formulas::{Formulas, Unsteady};
use crate::backend::cuda::kernels::ghosts::{Ghosts, has_tables};
use crate::backend::cuda::kernels::launch::Ready;
use crate::backend::cuda::kernels::reduce::Tree;
use crate::backend::cuda::memory::Memory;
use crate::backend::cuda::memory::patches::MeshShape;
use crate::backend::cuda::{Cache, Launched};
use crate::backend::device::OnHost;
use crate::backend::{self, Device, Renew};
use crate::field::{Array, BadValue, Cut, Domain, Fields, InOrder, Planes, Shared};
use crate::step::{Asked, Failure, Length, Moment, Plans, Rules, Several};
use crate::{Error, MemoryUse, Number};
use buffer_places::slots;
use finite_check::Look;
use observables::deepest;
pub(crate) use observables::{On, sources as watched_sources};
use opening::Opening;
pub use part_times::{PartTime, StepPart};
use peers::{Lanes, Peer};
use programs::{Arrays, Programs, facts, sampled};
use reducers::Reducer;
use tasks::{Graph, Job, Kind, Task, When, nothing};
pub use timeline::CardSpan;
use timeline::Marks;

/// Bytes of the card that are left to others: the driver, and lists of ghost cells.
const RESERVE: usize = 64 << 20;

/// Arrays on one card or several, and the tasks that a step does with them.
#[derive(Debug)]
pub(crate) struct Machine<T> {
    /// The card that does all the work. Among several, that of its own patches, and what belongs to none.
    card: Opened,
    /// The other cards that share the patches.
    peers: Vec<Peer>,
    lanes: Lanes,
    /// The number of the first card among the devices of the run.
    first: usize,
    /// The carrier of values between processes, if several have the run.
    courier: Option<Courier>,
    /// The cache of compiled kernels.
    cache: Option<Cache>,
    /// The whole mesh as one patch of the host; its arrays are empty except while the host evaluates something.
    fields: Fields<T>,
    /// Copies of buffers on the host, until they change on the card.
    known: Vec<OnceLock<Array<T>>>,
    memory: Memory,
    /// The patches of the mesh in the memory of the card.
    cut: Cut,
    /// The arrays and the card that kernels of observed functions are made for.
    on: On,
    /// The slot of each buffer in memory.
    slots: Vec<usize>,
    /// The slots of the copies of fields from the last check, by their buffers.
    kept: BTreeMap<usize, usize>,
    ghosts: Ghosts,
    launches: Vec<Ready>,
    /// The search for bad values on each card.
    looks: Vec<Look>,
    take_cells: CudaFunction,
    tree: Tree,
    clock: Clock,
    formulas: Option<Formulas>,
    /// Given fields that are formulas, by their numbers.
    sampled: Vec<usize>,
    shape: MeshShape,
    /// Do launches store the values that other cards read in the memory of these?
    stores: bool,
    /// Are they there? Nothing else has changed fields since.
    has_sent: bool,
    substeps: Vec<Vec<Task>>,
    fused: Option<Fused>,
    /// Do speeds decide the length of a step, and whether the step before is accepted?
    adapts: [bool; 2],
    /// Captured parts of steps, by the slots of the buffers at their beginning.
    graphs: BTreeMap<(Kind, Vec<usize>), Graph>,
    /// The number of captures that failed.
    pub(crate) uncaptured: u64,
    /// Steps since the fields were last kept.
    since: Vec<Moment>,
    /// Are the kept fields those from before the first of these steps?
    holds: bool,
    /// Does the kernel of the speeds have its uniforms?
    has_speeds: bool,
    /// The reducers of observed functions, by number.
    reducers: Vec<Reducer>,
    /// Events around the tasks of a step, while one is timed.
    marks: Option<Marks>,
    pool: Arc<ThreadPool>,
}

impl<T> Drop for Machine<T> {
    /// Graphs are dropped before their kernels and memory, and no work is in progress then.
    fn drop(&mut self) {
        // A failure of a card was reported before.
        let _ = (self.lanes.settle(), self.card.synchronize());
        self.graphs.clear();
    }
}

/// Several steps that are done at once.
#[derive(Debug)]
struct Fused {
    /// The number of steps.
    steps: usize,
    /// The number of its first launch; the launches of single steps come before.
    first: usize,
    /// The tasks of each fused substep.
    tasks: Vec<Vec<Task>>,
}

impl<T: Number> Machine<T> {
    /// Compiles the kernels of plans and takes memory on the cards for their buffers: on one card, or on several that
    /// share the patches.
    pub(crate) fn new(
        cards: Vec<Opened>,
        cache: Option<Cache>,
        plans: Plans<'_>,
        (domain, unsteady, rules): (Domain, &Unsteady, Rules),
        pool: Arc<ThreadPool>,
    ) -> Result<Self, Error> {
        let kept_in = cache.as_ref();
        let card = cards.first().ok_or_else(nothing)?.clone();
        aot::prepare::<T>((&card.card, kept_in), plans, (&domain, unsteady, &rules));
        let programs = Programs::new::<T>(plans, (&domain, unsteady), facts(&card, kept_in))?;
        let plan = programs.single()?;
        let of_host = deepest([programs.halo, programs.reach, domain.halo]);
        let halos = [programs.halo, of_host];
        let arrays = Arrays::<T>::new((&cards, kept_in), plan, domain, halos)?;
        let first = arrays.fields.domain.first_device();
        let made = cards.iter().enumerate().map(|(at, card)| ([at, first + at], card));
        let made = made.map(|on| Peer::new(on, kept_in, &arrays, (&programs, unsteady)));
        let mut peers: Vec<Peer> = made.collect::<Result<_, _>>()?;
        let launches: Vec<&[Ready]> = peers.iter().map(|peer| &peer.launches[..]).collect();
        let courier = ranks::courier::<T>(&card, kept_in, &arrays.fields.domain, plan.layout)?;
        let timing = (rules, arrays.fields.domain.look_every);
        let clock = Clock::new::<T>(&cards, kept_in, timing, &launches)?;
        let Peer { ghosts, formulas, launches, .. } = peers.remove(0);
        let stores = arrays.sends(0, &programs).is_some();
        let Arrays { fields, cut, memory, shape, kept, own } = arrays;
        let trees = own.iter().map(Own::reduce).collect::<Result<_, _>>()?;
        let looks = cards.iter().zip(&own).map(|(card, own)| Look::new(card, own));
        let mut machine = Machine {
            sampled: sampled(&fields, unsteady)?,
            clock,
            formulas,
            memory,
            on: programs.on,
            slots: slots(plan),
            kept,
            ghosts,
            tree: Tree::new(&cards, trees, (&shape, cut.patches, first))?,
            cut,
            known: plan.buffers.iter().map(|_| OnceLock::new()).collect(),
            looks: looks.collect::<Result<_, _>>()?,
            take_cells: own[0].of_fields("take_cells")?,
            lanes: Lanes::new(&cards, cut.patches.devices)?,
            first,
            courier,
            card,
            peers,
            cache,
            fields,
            launches,
            shape,
            stores,
            has_sent: false,
            substeps: Vec::new(),
            fused: None,
            adapts: plan.adapts(),
            graphs: BTreeMap::new(),
            uncaptured: 0,
            since: Vec::new(),
            holds: false,
            has_speeds: false,
            reducers: Vec::new(),
            marks: None,
            pool,
        };
        machine.substeps = machine.tasks(plan, 0)?;
        if let Some(fused) = programs.fused() {
            let first = plan.launches.len();
            machine.fused =
                Some(Fused { steps: fused.time_steps, first, tasks: machine.tasks(fused, first)? });
        }
        machine.lanes.settle()?;
        Ok(machine)
    }

    /// Returns the card, the first one of several.
    pub(crate) fn card(&self) -> &Card {
        &self.card.card
    }

    /// Returns the cards as they are in use, for another machine on them.
    pub(crate) fn opened(&self) -> Opening {
        Opening::of(self.cards().map(|(card, ..)| card.clone()).collect())
    }

    /// Returns the cache of compiled kernels.
    pub(crate) fn cache(&self) -> Option<Cache> {
        self.cache.clone()
    }

    /// Returns the kernels of a step, in their order; the kernels of fused substeps if there are any.
    pub(crate) fn launched(&self) -> Vec<Launched> {
        let first = self.fused.as_ref().map_or(0, |fused| fused.first);
        let all = self.launches[first..].iter();
        all.map(|launch| launch.launched.clone()).collect()
    }

    /// Returns the number of kernels that a step launches on a card, fills of ghost cells included.
    pub(crate) fn launches_a_step(&self) -> usize {
        let (tasks, steps) = match &self.fused {
            Some(fused) => (&fused.tasks, fused.steps),
            None => (&self.substeps, 1),
        };
        let launches = tasks.iter().flatten().map(|task| task.count(&self.launches));
        launches.sum::<usize>().div_ceil(steps)
    }

    /// Returns the place of a buffer; without one, that of an array alone.
    fn place_of(&self, buffer: Option<&usize>) -> Place {
        let place = |buffer: &usize| self.memory.place(self.slots[*buffer]);
        buffer.map_or(Place::alone(0), place)
    }

    /// Returns the mesh as kernels see it, for the arrays that a buffer may be in.
    fn shape_of(&self, buffer: usize) -> MeshShape {
        let place = self.place_of(Some(&buffer));
        match place.surface {
            true => self.shape.in_surface(self.memory.rows().first()),
            false => self.shape.apart(place.of),
        }
    }

    /// Returns the shape of arrays of the same layout, and whether they are surfaces.
    pub(super) fn layout_of(&self, jobs: &[Job]) -> (MeshShape, bool) {
        let of = |array: &usize| {
            let place = self.place_of(Some(array));
            (place.of, place.surface)
        };
        let on = match jobs.first() {
            Some((array, ..)) => (self.shape_of(*array), of(array).1),
            None => (self.shape, false),
        };
        debug_assert!(jobs.iter().all(|(array, ..)| of(array) == of(&jobs[0].0)));
        on
    }

    /// Does a step need the host?
    fn needs_host(&self) -> bool {
        let boundaries = &self.fields.domain.boundaries;
        boundaries.has_custom() || (has_tables(boundaries) && !self.has_formulas_on_faces())
    }

    /// Are all numbers on faces that are functions formulas?
    fn has_formulas_on_faces(&self) -> bool {
        let formulas = self.formulas.as_ref();
        formulas.is_some_and(Formulas::has_faces)
    }
}

impl<T: Number> Device<T> for Machine<T> {
    fn fields(&self) -> &Fields<T> {
        &self.fields
    }

    fn interior(&self, buffer: usize) -> Result<ArrayView3<'_, T>, Error> {
        let values = self.value(buffer)?;
        let bug = || Error::Bug(format!("buffer {buffer} has no shape"));
        values.interior(self.fields.shape()).ok_or_else(bug)
    }

    fn share(&mut self, buffer: usize) -> Result<Shared, Error> {
        self.share_values(buffer)
    }

    fn changed(&mut self, buffers: &[usize]) -> Result<(), Error> {
        Ok(self.values_changed(buffers)?)
    }

    fn planes(&self, buffer: usize) -> Result<Option<Planes<'_, T>>, Error> {
        self.planes_of(self.slots[buffer])
    }

    fn copied(&self, buffer: usize) -> Result<Option<Box<dyn InOrder<T> + Send>>, Error> {
        self.copy_of(buffer)
    }

    fn set(
        &mut self,
        buffer: usize,
        value: &(dyn Fn([isize; 3]) -> T + Sync),
    ) -> Result<(), Error> {
        *self.fields.array_mut(buffer) = self.fields.array()?;
        self.pool.install(|| self.fields.set(buffer, value));
        let values = std::mem::take(self.fields.array_mut(buffer));
        self.upload(self.slots[buffer], &values)?;
        self.known[buffer] = OnceLock::from(values);
        (self.holds, self.has_sent) = (false, false);
        Ok(())
    }

    fn on_host(&mut self, evaluate: OnHost<'_, T>) -> Result<(), Error> {
        self.on_host_with(self.fields.buffers.states(), evaluate)
    }

    fn on_host_amid(&mut self, evaluate: OnHost<'_, T>) -> Result<(), Error> {
        let buffers = &self.fields.buffers;
        let accumulators = [BufferRole::Accumulator, BufferRole::Kept];
        let accumulators = accumulators.map(|role| buffers.memory_of_role(role)).concat();
        let all = [buffers.states(), accumulators.clone()].concat();
        let result = self.on_host_with(all, evaluate);
        self.forget(&accumulators);
        result
    }

    fn add_reducer(
        &mut self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
    ) -> Result<usize, Error> {
        let reducer = self.reducer(algorithm, updates)?;
        self.lanes.settle()?;
        self.reducers.push(reducer);
        Ok(self.reducers.len() - 1)
    }

    fn reduce(
        &mut self,
        reducer: &backend::Reducer,
        uniforms: &[f64],
        t: f64,
    ) -> Result<Vec<f64>, Error> {
        self.with_reducer(reducer, |machine, own| machine.reduce_with(own, uniforms, t))
    }

    fn bound(&mut self, most: f64) {
        self.fields.bound(most);
    }

    fn first_not_finite(&mut self) -> Result<Option<BadValue>, Error> {
        Ok(self.find_bad()?)
    }

    fn memory_use(&self) -> MemoryUse {
        self.memory_used()
    }

    fn samples(&self, buffer: usize) -> bool {
        self.sampled.contains(&buffer)
    }

    fn sample(&mut self, t: f64) -> Result<(), Error> {
        if self.formulas.is_none() {
            return Ok(());
        }
        let time = self.clock.between();
        self.clock.tell_between(&self.card.stream, t)?;
        let mut tasks = vec![Task::Sample];
        tasks.extend(self.beyond_sampled()?);
        self.together(|machine| {
            tasks.iter().try_for_each(|task| machine.start(task, When { t, time }))
        })?;
        self.forget(&self.sampled.clone());
        Ok(())
    }

    fn begin(
        &mut self,
        speeds: &backend::Reducer,
        uniforms: &[f64],
        asked: Asked,
    ) -> Result<Option<(Vec<f64>, Length)>, Error> {
        self.with_reducer(speeds, |machine, own| machine.begin_with(own, uniforms, asked)).map(Some)
    }

    fn step(
        &mut self,
        moment: Moment,
        begun: bool,
        renew: Option<Renew<'_, T>>,
    ) -> Result<(), Failure> {
        self.one_step(moment, begun, renew)
    }

    fn adaptive_steps(
        &mut self,
        speeds: &backend::Reducer,
        uniforms: &[f64],
        request: &Several,
    ) -> Result<Option<(Vec<Moment>, f64)>, Failure> {
        if !self.adapts[0] || self.needs_host() || self.kept.is_empty() {
            return Ok(None);
        }
        let done = self.with_reducer(speeds, |machine, own| {
            Ok(machine.adaptive_steps_with(own, uniforms, request))
        })?;
        done.map(Some)
    }

    /// Several steps at once need no time and no part of the host. They are checked together.
    fn steps_at_once(&self) -> Option<usize> {
        let fused = self.fused.as_ref()?;
        let is_seen = fused.steps <= self.look_every();
        (is_seen && !self.needs_host() && !self.depends_on_time()).then_some(fused.steps)
    }

    fn steps(&mut self, moments: &[Moment]) -> Result<(), Failure> {
        self.fused_steps(moments)
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.check_steps()
    }

    fn undo(&mut self) -> Result<bool, Error> {
        // Counts are those of all tries, as on the host.
        let fields = self.fields.buffers.of_role(BufferRole::Field);
        if self.since.len() > 1 || !self.put_back_of(&fields)? {
            return Ok(false);
        }
        self.since.clear();
        self.holds = fields.len() == self.kept.len();
        Ok(true)
    }

    fn begin_again(&mut self, moment: Moment) -> Result<(), Error> {
        self.since.clear();
        self.holds = false;
        self.keep()?;
        Ok(self.begin_given(moment.t, moment.dt)?)
    }

    fn substep_again(&mut self, moment: Moment, substep: usize) -> Result<(), Error> {
        self.enqueue(substep, self.clock.time(substep, moment.t, moment.dt))?;
        self.forget_changed();
        Ok(())
    }

    fn keep_ahead(&mut self) -> Result<Option<usize>, Error> {
        self.keep()?;
        self.card.synchronize()?;
        Ok(Some(self.look_every()))
    }

    fn wait(&self) -> Result<(), Error> {
        Ok(self.card.synchronize()?)
    }
}
