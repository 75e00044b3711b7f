//! The tasks of a substep, started one after the other or replayed as a whole step.

use std::iter;
use std::sync::{Arc, OnceLock};

use cudarc::driver::CudaGraph;
use cudarc::driver::sys::CUstreamCaptureMode;
use stencil_compiler::cost;
use stencil_compiler::plan::{BufferRole, Depth, Plan, Region};

use super::order::{begin_rims, meet_before_stores};
use super::{Machine, Reducer};
use crate::backend::Device;
use crate::backend::cuda::CudaError;
use crate::backend::cuda::kernels::ghosts::{Boxes, Origin, Parcels, Share, has_tables};
use crate::backend::cuda::kernels::launch::Ready;
use crate::field::{Filling, GhostDepth};
use crate::step::{Action, Ghosts, actions};
use crate::{Error, Number};

/// One task of a substep.
#[derive(Debug)]
pub(super) enum Task {
    /// Fills ghost cells by the kernel: on each card those of its patches, from its patches.
    Fill(Vec<Option<Boxes>>),
    /// Begins to fill ghost cells of each card from patches of other cards.
    Post(Vec<Option<Boxes>>),
    /// Begins to send values for ghost cells to other processes, and to receive those from them.
    Send(Arc<Parcels>),
    /// Waits for all such fills.
    Wait,
    /// The launches of each card wait for those of all, which store values in the memory of others.
    Meet,
    /// Fills ghost cells of fields by the host.
    OnHost(Filling),
    /// Evaluates given fields that are formulas.
    Sample,
    /// A launch of the plan, in some of the cells.
    Launch { launch: usize, region: Region },
    /// The rim of a launch of the plan, on each card behind the fills that were begun last and beside the interior: the wait
    /// for them is also one for this.
    Rim(usize),
    /// Buffers change places, pair by pair.
    Swap(Vec<(usize, usize)>),
}

impl Task {
    /// Returns how many kernels a card launches in it, of those of a plan and of fills.
    pub(super) fn count(&self, launches: &[Ready]) -> usize {
        match self {
            Task::Fill(boxes) | Task::Post(boxes) => {
                boxes.iter().flatten().map(Boxes::kernels).max().unwrap_or_default()
            }
            Task::Launch { launch, region } => launches[*launch].count(*region),
            Task::Rim(launch) => launches[*launch].count(Region::Rim),
            Task::Send(_) => 2,
            Task::Wait | Task::Meet | Task::OnHost(_) | Task::Sample | Task::Swap(_) => 0,
        }
    }

    /// Returns the bytes of its lists, and of the room for values of other processes, on the first card.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Task::Send(parcels) => parcels.bytes(),
            _ => self.boxes().first().and_then(Option::as_ref).map_or(0, Boxes::bytes),
        }
    }

    /// Returns the boxes of ghost cells that it fills, of each card.
    pub(super) fn boxes(&self) -> &[Option<Boxes>] {
        match self {
            Task::Fill(boxes) | Task::Post(boxes) => boxes,
            _ => &[],
        }
    }
}

/// Ghost cells of a buffer: the component whose rules they follow, if they cross faces, and their depth.
pub(super) type Job = (usize, Option<GhostDepth>, Depth);

/// The time of a task, and its index in the memory of the card.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    pub(super) t: f64,
    pub(super) time: usize,
}

/// A part of a step that is captured at once.
#[derive(Clone, Copy, Debug)]
pub(super) enum CapturedPart<'a> {
    /// The speeds that limit the next step, and its beginning; the host takes the time to be `t`.
    Speeds { of: &'a Reducer, t: f64 },
    /// One of several steps whole: the speeds that limit it, the end of the step before, its beginning, all substeps.
    Next { of: &'a Reducer },
    /// All substeps of a step, which also `begins` it if that was not done.
    Step { begins: bool },
    /// All fused substeps, the same.
    Fused { begins: bool },
}

/// The kind of a [`CapturedPart`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Speeds,
    Next,
    Step,
    StepThatBegins,
    Fused,
    FusedThatBegin,
}

impl CapturedPart<'_> {
    fn kind(self) -> Kind {
        match self {
            CapturedPart::Speeds { .. } => Kind::Speeds,
            CapturedPart::Next { .. } => Kind::Next,
            CapturedPart::Step { begins: false } => Kind::Step,
            CapturedPart::Step { begins: true } => Kind::StepThatBegins,
            CapturedPart::Fused { begins: false } => Kind::Fused,
            CapturedPart::Fused { begins: true } => Kind::FusedThatBegin,
        }
    }
}

/// A captured part of a step.
pub(super) struct Graph(CudaGraph);

// SAFETY: a graph may be used by any thread, but by one at a time: it is used through `&mut`.
unsafe impl Send for Graph {}
// SAFETY: nothing happens to it through a shared reference.
unsafe impl Sync for Graph {}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Graph")
    }
}

impl<T: Number> Machine<T> {
    /// Returns the tasks of each substep of a plan, whose launches begin at this number.
    pub(super) fn tasks(&self, plan: &Plan, first: usize) -> Result<Vec<Vec<Task>>, Error> {
        let mut substeps = Vec::new();
        let all_alike = self.fields.domain.boundaries.reads_others();
        for actions in actions(&self.fields.buffers, plan, all_alike)? {
            let mut tasks = Vec::new();
            if !self.sampled.is_empty() {
                tasks.push(Task::Sample);
                tasks.extend(self.beyond_sampled()?);
            }
            for action in actions {
                match action {
                    Action::Post(ghosts) if self.stores => {
                        tasks.push(Task::Meet);
                        tasks.push(Task::Fill(self.boxes(&jobs(ghosts), Origin::Corners)?));
                    }
                    Action::Wait if self.stores => {}
                    action => tasks.push(self.task(action, first)?),
                }
            }
            begin_rims(&mut tasks);
            meet_before_stores(&mut tasks, |launch| self.launches[launch].sends());
            substeps.push(tasks);
        }
        Ok(substeps)
    }

    /// Prepares an action for the cards, of a plan whose launches begin at this number.
    fn task(&self, action: Action, first: usize) -> Result<Task, Error> {
        let custom = self.fields.domain.boundaries.has_custom();
        Ok(match action {
            Action::Fill(Ghosts::OfFields(jobs)) if custom => {
                Task::OnHost(self.fields.filling(&jobs))
            }
            // The host fills ghost cells of all cards.
            Action::Post(Ghosts::OfFields(_)) if custom => Task::Post(Vec::new()),
            Action::Fill(ghosts) => Task::Fill(self.boxes(&jobs(ghosts), Origin::Own)?),
            Action::Post(ghosts) => self.post(&jobs(ghosts))?,
            Action::Wait => Task::Wait,
            Action::Launch { launch, region } => Task::Launch { launch: first + launch, region },
            Action::Swap(pairs) => Task::Swap(pairs),
        })
    }

    /// Returns the tasks that fill all these ghost cells of fields.
    pub(super) fn fills(&self, ghosts: Vec<Option<GhostDepth>>) -> Result<Vec<Task>, CudaError> {
        match self.fields.domain.boundaries.has_custom() {
            true => Ok(vec![Task::OnHost(self.fields.filling(&ghosts))]),
            false => self.fills_of(&jobs(Ghosts::OfFields(ghosts))),
        }
    }

    /// Returns the tasks that fill all ghost cells of arrays of the same layout.
    fn fills_of(&self, jobs: &[Job]) -> Result<Vec<Task>, CudaError> {
        let mut tasks = vec![Task::Fill(self.boxes(jobs, Origin::Own)?)];
        if self.cut.patches.devices > 1 {
            tasks.extend([self.post(jobs)?, Task::Wait]);
        }
        Ok(tasks)
    }

    /// Returns the task that begins to fill ghost cells from patches of other cards.
    fn post(&self, jobs: &[Job]) -> Result<Task, CudaError> {
        match self.courier {
            Some(_) => self.parcels(jobs).map(Arc::new).map(Task::Send),
            None => self.boxes(jobs, Origin::Others).map(Task::Post),
        }
    }

    /// Returns, for each card, the boxes of ghost cells of arrays of the same layout: fields, or stored functions, as far as
    /// their values are of this origin.
    fn boxes(&self, jobs: &[Job], values: Origin) -> Result<Vec<Option<Boxes>>, CudaError> {
        let on = self.layout_of(jobs);
        let cards = (self.first..).zip(self.cards()).map(|(owner, (card, ghosts, _))| {
            let share = Share { owner, values };
            ghosts.boxes(&card.stream, on, jobs.iter().copied(), share)
        });
        cards.collect()
    }

    /// Returns the fills of ghost cells of given fields that are formulas, unless all axes are periodic.
    pub(super) fn beyond_sampled(&self) -> Result<Vec<Task>, CudaError> {
        if self.fields.domain.boundaries.periodic == [true; 3] {
            return Ok(Vec::new());
        }
        let depth = Depth::from(self.shape.halo.map(|n| n as usize));
        let mut tasks = Vec::new();
        for buffer in &self.sampled {
            if let Some(component) = self.fields.rules_of_given(*buffer) {
                let job = GhostDepth { component, depth };
                tasks.extend(self.fills_of(&[(*buffer, Some(job), depth)])?);
            }
        }
        Ok(tasks)
    }

    /// Replays a part of a step, captured the first time that the buffers are in these slots. A capture that is
    /// disturbed, for example by a tool that watches all launches, is no failure: the part is started without it then.
    pub(super) fn replay(&mut self, part: CapturedPart<'_>) -> Result<(), Error> {
        if self.host_carries() {
            return self.enqueue_part(part);
        }
        self.send_all()?;
        let slots = self.slots.clone();
        let key = (part.kind(), slots.clone());
        if self.graphs.contains_key(&key) {
            self.pass(part);
        } else if let Ok(graph) = self.capture(part) {
            self.graphs.insert(key.clone(), graph);
        } else {
            self.slots = slots;
            return self.enqueue_part(part);
        }
        let graph = self.graphs.get_mut(&key);
        let launch = graph.ok_or_else(nothing)?.0.launch();
        Ok(launch.map_err(CudaError::driver("replaying a step"))?)
    }

    fn capture(&mut self, part: CapturedPart<'_>) -> Result<Graph, Error> {
        self.captured(|machine| machine.enqueue_part(part)).map(Graph)
    }

    /// Captures the work that is started, to be replayed. Captures that fail are counted.
    pub(super) fn captured(
        &mut self,
        start: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<CudaGraph, Error> {
        let captured = self.try_capture(start);
        self.uncaptured += u64::from(captured.is_err());
        captured
    }

    fn try_capture(
        &mut self,
        start: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<CudaGraph, Error> {
        let failed = CudaError::driver("capturing a step");
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.card.stream.begin_capture(mode).map_err(&failed)?;
        let done = start(self);
        let graph = self.card.stream.end_capture(self.lanes.graph_flags());
        done?;
        let graph = graph.map_err(&failed)?.ok_or_else(nothing)?;
        graph.upload().map_err(&failed)?;
        Ok(graph)
    }

    /// Starts a part of a step in which the host has no part.
    pub(super) fn enqueue_part(&mut self, part: CapturedPart<'_>) -> Result<(), Error> {
        self.send_all()?;
        self.together(|machine| machine.start_part(part))
    }

    fn start_part(&mut self, part: CapturedPart<'_>) -> Result<(), Error> {
        match part {
            CapturedPart::Speeds { of, t } => {
                let reduce = Some(cost::Task::Reduce);
                self.marked_on_all(reduce, |machine| machine.enqueue_speeds(of, t))?;
                self.begin_on_all(false)?;
            }
            CapturedPart::Next { of } => {
                // No task of such a step asks the host for the time.
                self.enqueue_speeds(of, 0.0)?;
                self.begin_on_all(true)?;
                self.start_substeps()?;
            }
            CapturedPart::Step { begins } => {
                if begins {
                    self.begin_on_all(false)?;
                }
                self.start_substeps()?;
            }
            CapturedPart::Fused { begins } => {
                if begins {
                    self.begin_on_all(false)?;
                }
                let fused = self.fused.take().ok_or_else(nothing)?;
                // Nothing in them depends on the time.
                let when = When { t: 0.0, time: 0 };
                let mut tasks = fused.tasks.iter().flatten();
                let done = tasks.try_for_each(|task| self.start(task, when));
                self.fused = Some(fused);
                done?;
            }
        }
        Ok(())
    }

    /// Starts all substeps of a step in which no task asks the host for the time.
    fn start_substeps(&mut self) -> Result<(), Error> {
        (0..self.substeps.len()).try_for_each(|substep| self.start_substep(substep, 0.0))
    }

    /// Notes the effects of a replayed part on the host's state.
    fn pass(&mut self, part: CapturedPart<'_>) {
        let tasks = match part {
            CapturedPart::Speeds { .. } => &[],
            CapturedPart::Step { .. } | CapturedPart::Next { .. } => self.substeps.as_slice(),
            CapturedPart::Fused { .. } => self.fused.as_ref().map_or(&[][..], |fused| &fused.tasks),
        };
        for task in tasks.iter().flatten() {
            if let Task::Swap(pairs) = task {
                pairs.iter().for_each(|(a, b)| self.slots.swap(*a, *b));
            }
        }
    }

    /// Starts a substep by itself. The card knows its time; the host takes it to be `t`.
    pub(super) fn enqueue(&mut self, substep: usize, t: f64) -> Result<(), Error> {
        self.send_all()?;
        self.together(|machine| machine.start_substep(substep, t))
    }

    /// Exchanges ghost cells of fields between cards whose launches will store them, if others than these have changed fields.
    fn send_all(&mut self) -> Result<(), Error> {
        if !self.stores || std::mem::replace(&mut self.has_sent, true) {
            return Ok(());
        }
        let depth = self.shape.halo.map(|n| n as usize);
        let buffers = &self.fields.buffers;
        let fields = buffers.of_role(BufferRole::Field);
        let jobs: Vec<Job> = fields.into_iter().map(|at| (at, None, Depth::from(depth))).collect();
        let tasks = [Task::Post(self.boxes(&jobs, Origin::Others)?), Task::Wait];
        let when = When { t: 0.0, time: 0 };
        self.together(|machine| tasks.iter().try_for_each(|task| machine.start(task, when)))
    }

    fn start_substep(&mut self, substep: usize, t: f64) -> Result<(), Error> {
        let when = When { t, time: substep };
        let tasks = std::mem::take(&mut self.substeps[substep]);
        let done = tasks.iter().try_for_each(|task| self.start(task, when));
        self.substeps[substep] = tasks;
        done
    }

    /// Starts a task on all cards, amid a part of the run.
    pub(super) fn start(&mut self, task: &Task, when: When) -> Result<(), Error> {
        let mark = self.mark_of(task);
        self.marked_on_all(mark, |machine| machine.start_unmarked(task, when))
    }

    fn start_unmarked(&mut self, task: &Task, when: When) -> Result<(), Error> {
        match task {
            Task::Fill(boxes) => self.fill(boxes, when)?,
            Task::Post(boxes) => {
                let arrays = self.memory.addresses(&self.card.stream, self.slots.iter().copied());
                let ghosts: Vec<_> = self.cards().map(|(_, ghosts, _)| ghosts).collect();
                self.lanes.exchange(|card, stream| match boxes.get(card) {
                    Some(Some(boxes)) => {
                        let fill = || ghosts[card].fill(stream, boxes, &arrays);
                        self.marked((card, cost::Task::Exchange), stream, fill)
                    }
                    Some(None) | None => Ok(()),
                })?;
            }
            Task::Send(parcels) => self.send(parcels)?,
            Task::Wait => {
                self.receive()?;
                self.lanes.end_exchange()?;
            }
            Task::Meet => self.lanes.meet()?,
            Task::OnHost(filling) => self.alone(|machine| machine.fill_on_host(filling, when.t))?,
            Task::Sample => self.evaluate_sources(when)?,
            Task::Launch { launch, region } => {
                for (card, _, launches) in self.cards() {
                    let launch = &launches[*launch];
                    launch.launch(&card.stream, *region, &self.memory, &self.slots)?;
                }
            }
            Task::Rim(launch) => {
                self.receive()?;
                let all: Vec<_> = self.cards().map(|(.., launches)| &launches[*launch]).collect();
                let rim = cost::Task::Launch(*launch, Region::Rim);
                self.lanes.behind_exchange(|card, stream| {
                    let launch =
                        || all[card].launch(stream, Region::Rim, &self.memory, &self.slots);
                    self.marked((card, rim), stream, launch)
                })?;
            }
            Task::Swap(pairs) => pairs.iter().for_each(|(a, b)| self.slots.swap(*a, *b)),
        }
        Ok(())
    }

    /// Fills ghost cells, on each card its own. The numbers on faces that they need are evaluated before.
    fn fill(&mut self, boxes: &[Option<Boxes>], when: When) -> Result<(), CudaError> {
        if matches!(boxes, [None]) {
            return Ok(());
        }
        let domain = &self.fields.domain;
        let arrays = self.memory.addresses(&self.card.stream, self.slots.iter().copied());
        let time = self.clock.at(when.time);
        let first = (&self.card.stream, &mut self.ghosts, &self.formulas);
        let peers = self.peers.iter_mut();
        let peers = peers.map(|peer| (&peer.card.stream, &mut peer.ghosts, &peer.formulas));
        for ((stream, ghosts, formulas), boxes) in iter::once(first).chain(peers).zip(boxes) {
            match formulas {
                Some(formulas) if formulas.has_faces() => {
                    ghosts.evaluate(stream, formulas, &time)?;
                }
                _ if has_tables(&domain.boundaries) => {
                    ghosts.sample(stream, &domain.boundaries, &domain.mesh, when.t)?;
                }
                _ => {}
            }
            if let Some(boxes) = boxes {
                ghosts.fill(stream, boxes, &arrays)?;
            }
        }
        Ok(())
    }

    /// Evaluates given fields that are formulas, on each card in its patches.
    fn evaluate_sources(&self, when: When) -> Result<(), Error> {
        let time = self.clock.at(when.time);
        let peers = self.peers.iter().map(|peer| (&peer.card.stream, &peer.formulas));
        for (stream, formulas) in iter::once((&self.card.stream, &self.formulas)).chain(peers) {
            let formulas = formulas.as_ref().ok_or_else(nothing)?;
            for (which, buffer) in self.sampled.iter().enumerate() {
                let first = self.memory.address(stream, self.slots[*buffer]);
                formulas.source(stream, which, first, &time)?;
            }
        }
        Ok(())
    }

    /// Fills ghost cells by functions of the user, which only the host can call.
    fn fill_on_host(&mut self, filling: &Filling, t: f64) -> Result<(), Error> {
        self.on_host(&mut |fields| fields.fill(filling, t))?;
        for buffer in self.fields.buffers.of_role(BufferRole::Field) {
            if let Some(values) = self.known[buffer].take() {
                self.upload(self.slots[buffer], &values)?;
                self.known[buffer] = OnceLock::from(values);
            }
        }
        Ok(())
    }
}

/// Returns the ghost cells of arrays, by their buffers.
fn jobs(ghosts: Ghosts) -> Vec<Job> {
    match ghosts {
        Ghosts::OfFields(jobs) => {
            let jobs = jobs.into_iter().enumerate();
            jobs.filter_map(|(i, job)| job.map(|job| (i, Some(job), job.depth))).collect()
        }
        Ghosts::OfStored { buffers, depth } => {
            buffers.into_iter().map(|array| (array, None, depth)).collect()
        }
    }
}

/// Returns the error for a graph or a step that is missing.
pub(super) fn nothing() -> Error {
    Error::Bug("a step on a card that is not there".into())
}
