//! The arrays of a patch on a card, and the steps of a plan on them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaGraph, CudaSlice, LaunchConfig, PushKernelArg};
use ndarray::ArrayView3;
use rayon::ThreadPool;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::plan::{BufferRole, Plan};

use super::card::{Card, Opened};
use super::ghosts::{Boxes, Ghosts, PatchShape, has_tables};
use super::launches::{Kernels, halo, load, texts};
use super::memory::{ARRAYS, Memory, stride};
use super::{Cache, CudaError};
use crate::backend::cpu::actions::Action;
use crate::backend::cpu::array::{Array, Shape};
use crate::backend::cpu::ghosts::Job;
use crate::backend::cpu::{BadValue, Checked, Domain, Patch};
use crate::{Error, Number};

/// Steps between two looks for values that are no numbers.
const PERIOD: usize = 32;

/// Bytes of the card that are left to others: the driver's own, and lists of ghost cells.
const RESERVE: usize = 64 << 20;

/// A step, so that it can be done again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Its number, from 1.
    pub(crate) step: u64,
    /// The time at its beginning.
    pub(crate) t: f64,
    /// Its length.
    pub(crate) dt: f64,
    /// The time of each substep, and its uniforms in the algorithm's order.
    pub(crate) substeps: Vec<(f64, Vec<f64>)>,
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

/// A captured step.
struct Graph(CudaGraph);

// SAFETY: a graph may be used by any thread, but by one at a time: it is used through `&mut`.
unsafe impl Send for Graph {}
// SAFETY: nothing is done with it through a shared reference.
unsafe impl Sync for Graph {}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Graph")
    }
}

/// Arrays on a card and what is done with them in a step.
#[derive(Debug)]
pub(crate) struct Machine<T> {
    card: Opened,
    /// Names and shape; its arrays are empty but while the host evaluates something.
    patch: Patch<T>,
    /// Values of buffers as the host knows them, until they change on the card.
    known: Vec<OnceLock<Array<T>>>,
    memory: Memory,
    /// Where in the memory each buffer is.
    slots: Vec<usize>,
    /// Where the fields are kept as they were when they were last looked at, by their buffers.
    kept: BTreeMap<usize, usize>,
    ghosts: Ghosts,
    kernels: Kernels,
    shape: PatchShape,
    substeps: Vec<Vec<Task>>,
    /// Captured steps, by where the buffers are when one begins.
    graphs: BTreeMap<Vec<usize>, Graph>,
    first_bad: CudaSlice<u64>,
    /// Steps since the fields were last kept.
    since: Vec<Moment>,
    /// Are the kept fields those before the first of these steps?
    holds: bool,
}

/// What is done in a substep.
#[derive(Debug)]
enum Task {
    /// Ghost cells by the kernel.
    Fill(Option<Boxes>),
    /// Ghost cells of fields by the host.
    OnHost(Vec<Option<Job>>),
    Launch(usize),
    Swap(Vec<(usize, usize)>),
}

impl<T: Number> Machine<T> {
    /// Compiles the kernels of a plan and takes memory on the card for its buffers.
    pub(crate) fn new(
        card: Opened,
        cache: Option<&Cache>,
        algorithm: &Algorithm,
        plan: &Plan,
        domain: Domain,
        instructions: Checked,
    ) -> Result<Self, Error> {
        let texts = texts::<T>(algorithm, plan)?;
        let (of_plan, of_kernels) = (plan.halo(), halo(&texts));
        let halo = std::array::from_fn(|axis| {
            let deepest = domain.halo[axis].max(of_plan[axis] as usize);
            deepest.max(of_kernels[axis])
        });
        let (mesh, boundaries) = (domain.mesh, domain.boundaries.clone());
        let keep_last = domain.keep_last;
        let patch = Patch::<T>::without_arrays(plan, domain, halo, instructions)?;
        let buffers = plan.buffers.len();
        let fields = plan.buffers.iter().enumerate();
        let fields = fields.filter(|(_, b)| keep_last && b.role == BufferRole::Field);
        let kept: BTreeMap<usize, usize> = fields.map(|(i, _)| i).zip(buffers..).collect();
        fits::<T>(&card, plan, &patch.shape, kept.len())?;
        let kernels = load::<T>(&card, cache, algorithm, plan, &texts, &patch.shape)?;
        let shape = PatchShape::new(&patch.shape, &mesh);
        let stream = &card.stream;
        let mut machine = Machine {
            memory: Memory::new::<T>(&card, &patch.shape, buffers + kept.len())?,
            slots: (0..buffers).collect(),
            kept,
            ghosts: Ghosts::new(stream, kernels.fill.clone(), shape, &boundaries)?,
            known: (0..buffers).map(|_| OnceLock::new()).collect(),
            first_bad: stream
                .alloc_zeros(1)
                .map_err(CudaError::driver("taking memory on the card"))?,
            card,
            patch,
            kernels,
            shape,
            substeps: Vec::new(),
            graphs: BTreeMap::new(),
            since: Vec::new(),
            holds: false,
        };
        for actions in machine.patch.actions(plan)? {
            let tasks = actions.into_iter().map(|action| machine.task(action));
            machine.substeps.push(tasks.collect::<Result<_, _>>()?);
        }
        Ok(machine)
    }

    fn task(&self, action: Action) -> Result<Task, CudaError> {
        Ok(match action {
            Action::Fill(jobs) if self.patch.domain().boundaries.has_custom() => Task::OnHost(jobs),
            Action::Fill(jobs) => {
                let jobs = jobs.into_iter().enumerate();
                let jobs = jobs.filter_map(|(i, job)| job.map(|job| (i, Some(job), job.depth)));
                Task::Fill(self.ghosts.boxes(&self.card.stream, jobs)?)
            }
            Action::Exchange { arrays, depth } => {
                let jobs = arrays.into_iter().map(|array| (array, None, depth));
                Task::Fill(self.ghosts.boxes(&self.card.stream, jobs)?)
            }
            Action::Launch(at) => Task::Launch(at),
            Action::Swap(pairs) => Task::Swap(pairs),
        })
    }

    /// The card.
    pub(crate) fn card(&self) -> &Card {
        &self.card.card
    }

    /// Names and shape of the arrays, without values.
    pub(crate) fn patch(&self) -> &Patch<T> {
        &self.patch
    }

    /// Bytes on the card.
    pub(crate) fn bytes(&self) -> usize {
        self.memory.bytes()
    }

    /// Must the host do something within a step?
    fn needs_host(&self) -> bool {
        let boundaries = &self.patch.domain().boundaries;
        boundaries.has_custom() || has_tables(boundaries)
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
        self.memory.read(stream, self.slots[buffer], &mut values)?;
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
        self.memory.write(&self.card.stream, slot, &values)?;
        self.known[buffer] = OnceLock::from(values);
        self.holds = false;
        Ok(())
    }

    /// Replaces the uniforms of a substep, given in the algorithm's order.
    pub(crate) fn set_uniforms(&mut self, substep: usize, values: &[f64]) -> Result<(), CudaError> {
        let all: Vec<T> = values.iter().map(|v| T::from_f64(*v)).collect();
        let launches = self.kernels.launches.iter();
        for launch in launches.filter(|l| l.substep == substep) {
            launch.set_uniforms(&self.card.stream, &all)?;
        }
        Ok(())
    }

    /// One step. `sources` renews given fields for the time of a substep, if any change with it.
    ///
    /// The step is started, and looked at for values that are no numbers with some others later,
    /// or at once where the host takes part in it.
    pub(crate) fn step(
        &mut self,
        moment: Moment,
        mut sources: Option<impl FnMut(&mut Self, f64) -> Result<(), Error>>,
    ) -> Result<(), Failure> {
        self.keep()?;
        let at_once = sources.is_some() || self.needs_host();
        for (substep, (_, uniforms)) in moment.substeps.iter().enumerate() {
            self.set_uniforms(substep, uniforms)?;
        }
        let known = self.patch.fields_at();
        if at_once {
            for (substep, (t, _)) in moment.substeps.iter().enumerate() {
                if let Some(sources) = &mut sources {
                    sources(self, *t)?;
                }
                self.enqueue(substep, *t)?;
                self.forget(&known);
                if let Some(bad) = self.find_bad()? {
                    let kept = self.put_back()?;
                    return Err(Failure::NotFinite {
                        bad,
                        moment,
                        substep,
                        kept,
                    });
                }
            }
            self.holds = false;
            return Ok(());
        }
        self.replay()?;
        self.forget(&known);
        self.since.push(moment);
        if self.since.len() >= PERIOD || self.kept.is_empty() {
            self.check()?;
        }
        Ok(())
    }

    /// Looks at all steps that were not looked at yet.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        if self.since.is_empty() {
            return Ok(());
        }
        let Some(bad) = self.find_bad()? else {
            self.since.clear();
            self.holds = false;
            return Ok(());
        };
        let since = std::mem::take(&mut self.since);
        if !self.put_back()? {
            // Nothing was kept, so each step was looked at.
            return Err(Failure::NotFinite {
                bad,
                moment: since.into_iter().next_back().ok_or_else(nothing)?,
                substep: self.substeps.len().saturating_sub(1),
                kept: false,
            });
        }
        for (good, moment) in since.iter().enumerate() {
            for (substep, (t, uniforms)) in moment.substeps.iter().enumerate() {
                self.set_uniforms(substep, uniforms)?;
                self.enqueue(substep, *t)?;
                let Some(bad) = self.find_bad()? else {
                    continue;
                };
                self.put_back()?;
                for moment in &since[..good] {
                    for (substep, (t, uniforms)) in moment.substeps.iter().enumerate() {
                        self.set_uniforms(substep, uniforms)?;
                        self.enqueue(substep, *t)?;
                    }
                }
                self.holds = false;
                return Err(Failure::NotFinite {
                    bad,
                    moment: moment.clone(),
                    substep,
                    kept: true,
                });
            }
        }
        Err(nothing().into())
    }

    /// Keeps the fields as they are, if they are not kept already.
    fn keep(&mut self) -> Result<(), CudaError> {
        if self.holds || !self.since.is_empty() {
            return Ok(());
        }
        for (buffer, slot) in &self.kept {
            let from = self.slots[*buffer];
            self.memory.copy(&self.card.stream, from, *slot)?;
        }
        self.holds = true;
        Ok(())
    }

    /// Puts the kept fields back; `false` if there are none.
    fn put_back(&mut self) -> Result<bool, CudaError> {
        if self.kept.is_empty() {
            return Ok(false);
        }
        for (buffer, slot) in &self.kept {
            let to = self.slots[*buffer];
            self.memory.copy(&self.card.stream, *slot, to)?;
        }
        let fields = self.patch.fields_at();
        self.forget(&fields);
        Ok(true)
    }

    fn forget(&mut self, buffers: &[usize]) {
        for buffer in buffers {
            self.known[*buffer].take();
        }
    }

    /// The first value of a field that is no number.
    pub(crate) fn find_bad(&mut self) -> Result<Option<BadValue>, CudaError> {
        let failed = CudaError::driver("looking for values that are no numbers");
        let fields = self.patch.fields_at();
        let stream = &self.card.stream;
        let slots = fields.iter().map(|buffer| self.slots[*buffer]);
        let arrays = self.memory.addresses(stream, slots);
        let none = u64::MAX;
        stream
            .memcpy_htod(&[none], &mut self.first_bad)
            .map_err(&failed)?;
        let config = LaunchConfig {
            grid_dim: (self.shape.rows().clamp(1, 2048), fields.len() as u32, 1),
            block_dim: (256, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut launch = stream.launch_builder(&self.kernels.find_bad);
        launch
            .arg(&arrays)
            .arg(&self.shape)
            .arg(&mut self.first_bad);
        // SAFETY: the arguments are those of the kernel, which reads interior cells.
        unsafe { launch.launch(config) }.map_err(&failed)?;
        let mut first = [none];
        let copy = stream.memcpy_dtoh(&self.first_bad, &mut first);
        copy.and_then(|()| stream.synchronize()).map_err(&failed)?;
        if first[0] == none {
            return Ok(None);
        }
        let [nx, ny, nz] = self.patch.shape.cells;
        let at = first[0] as usize;
        let name = self.patch.fields().nth(at / (nx * ny * nz));
        Ok(Some(BadValue {
            component: name.unwrap_or_default().to_string(),
            cell: [at % nx, at / nx % ny, at / (nx * ny) % nz],
        }))
    }

    /// A whole step, captured the first time that the buffers are where they are.
    fn replay(&mut self) -> Result<(), CudaError> {
        let begin = self.slots.clone();
        if !self.graphs.contains_key(&begin) {
            let failed = CudaError::driver("capturing a step");
            let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
            self.card.stream.begin_capture(mode).map_err(&failed)?;
            let mut done = Ok(());
            for substep in 0..self.substeps.len() {
                done = done.and_then(|()| self.enqueue(substep, 0.0));
            }
            let graph = self.card.stream.end_capture(CUgraphInstantiate_flags(0));
            done?;
            let graph = graph.map_err(&failed)?.ok_or_else(nothing)?;
            graph.upload().map_err(&failed)?;
            self.graphs.insert(begin.clone(), Graph(graph));
        } else {
            for substep in 0..self.substeps.len() {
                self.swap(substep);
            }
        }
        match self.graphs.get_mut(&begin) {
            Some(graph) => graph
                .0
                .launch()
                .map_err(CudaError::driver("replaying a step")),
            None => Err(nothing()),
        }
    }

    fn swap(&mut self, substep: usize) {
        for task in &self.substeps[substep] {
            if let Task::Swap(pairs) = task {
                for (field, new) in pairs {
                    self.slots.swap(*field, *new);
                }
            }
        }
    }

    /// Starts all that is done in a substep at the time `t`.
    fn enqueue(&mut self, substep: usize, t: f64) -> Result<(), CudaError> {
        let tasks = std::mem::take(&mut self.substeps[substep]);
        let done = tasks.iter().try_for_each(|task| self.start(task, t));
        self.substeps[substep] = tasks;
        done
    }

    fn start(&mut self, task: &Task, t: f64) -> Result<(), CudaError> {
        let stream = self.card.stream.clone();
        match task {
            Task::Fill(None) => {}
            Task::Fill(Some(boxes)) => {
                let domain = self.patch.domain();
                if has_tables(&domain.boundaries) {
                    let (boundaries, mesh) = (&domain.boundaries, &domain.mesh);
                    self.ghosts.sample(&stream, boundaries, mesh, t)?;
                }
                let arrays = self.memory.addresses(&stream, self.slots.iter().copied());
                self.ghosts.fill(&stream, boxes, &arrays)?;
            }
            Task::OnHost(jobs) => self.fill_on_host(jobs, t)?,
            Task::Launch(at) => {
                let launch = &self.kernels.launches[*at];
                launch.launch(&stream, &self.memory, &self.slots)?;
            }
            Task::Swap(pairs) => {
                for (field, new) in pairs {
                    self.slots.swap(*field, *new);
                }
            }
        }
        Ok(())
    }

    /// Ghost cells by functions of the user, which only the host can call.
    fn fill_on_host(&mut self, jobs: &[Option<Job>], t: f64) -> Result<(), CudaError> {
        let wrong = |error: Error| match error {
            Error::Cuda(error) => error,
            other => CudaError::Kernel {
                kernel: "boundary".into(),
                reason: other.to_string(),
            },
        };
        self.on_host(|patch| patch.fill(jobs, t)).map_err(wrong)?;
        for buffer in self.patch.fields_at() {
            let slot = self.slots[buffer];
            if let Some(values) = self.known[buffer].get() {
                self.memory.write(&self.card.stream, slot, values)?;
            }
        }
        Ok(())
    }
}

fn nothing() -> CudaError {
    CudaError::Driver {
        call: "replaying a step",
        reason: "there is none".into(),
    }
}

/// Is there room on the card, and are there few enough arrays and cells?
fn fits<T: Number>(card: &Opened, plan: &Plan, shape: &Shape, kept: usize) -> Result<(), Error> {
    if plan.buffers.len() > ARRAYS {
        return Err(Error::Bug(format!(
            "a plan with {} buffers; kernels of ghost cells take {ARRAYS}",
            plan.buffers.len()
        )));
    }
    if shape.len() > i32::MAX as usize {
        return Err(Error::Cuda(CudaError::TooLarge {
            cells: shape.cells,
            values: shape.len(),
        }));
    }
    card.synchronize()?;
    let (free, total) = card
        .context
        .mem_get_info()
        .map_err(CudaError::driver("asking for free memory"))?;
    let count = plan.buffers.len() + kept;
    let needed = |shape: &Shape| count * stride::<T>(shape) + RESERVE;
    if needed(shape) <= free {
        return Ok(());
    }
    let mut arrays: Vec<(String, usize)> = Vec::new();
    let of_role = |role| plan.buffers.iter().filter(move |b| b.role == role).count();
    for (role, what) in [
        (BufferRole::Field, "fields"),
        (BufferRole::NewField, "new values of fields"),
        (BufferRole::Accumulator, "accumulators"),
        (BufferRole::Derived, "stored grid functions"),
        (BufferRole::Given, "sources"),
    ] {
        arrays.push((
            format!("{} {what}", of_role(role)),
            of_role(role) * stride::<T>(shape),
        ));
    }
    arrays.push((
        format!("{kept} fields as they were, for `keep_last`"),
        kept * stride::<T>(shape),
    ));
    arrays.retain(|(_, bytes)| *bytes > 0);
    Err(Error::Cuda(CudaError::Memory {
        needed: needed(shape),
        free,
        total,
        arrays,
        fits: largest(shape, T::BYTES, |shape| needed(shape) <= free),
    }))
}

/// The largest grid of the same shape that fits.
fn largest(shape: &Shape, bytes: usize, fits: impl Fn(&Shape) -> bool) -> [usize; 3] {
    let scaled = |part: f64| -> [usize; 3] {
        shape.cells.map(|n| {
            if n == 1 {
                1
            } else {
                ((n as f64 * part) as usize).max(1)
            }
        })
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        let there = Shape::new(scaled(middle), shape.halo, bytes);
        if there.is_some_and(|shape| fits(&shape)) {
            low = middle;
        } else {
            high = middle;
        }
    }
    scaled(low)
}
