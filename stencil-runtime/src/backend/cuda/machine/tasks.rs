//! The tasks of a substep, started one after the other or replayed as a whole step.

use cudarc::driver::CudaGraph;
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use stencil_compiler::plan::BufferRole;

use super::{Machine, Reducer};
use crate::backend::Device;
use crate::backend::cuda::CudaError;
use crate::backend::cuda::kernels::ghosts::{Boxes, has_tables};
use crate::field::{Filling, GhostDepth};
use crate::step::{Action, Ghosts};
use crate::{Error, Number};

/// One task of a substep.
#[derive(Debug)]
pub(super) enum Task {
    /// Fills ghost cells by the kernel.
    Fill(Option<Boxes>),
    /// Fills ghost cells of fields by the host.
    OnHost(Filling),
    /// Evaluates given fields that are formulas.
    Sample,
    /// A launch of the plan.
    Launch(usize),
    /// Buffers change places, pair by pair.
    Swap(Vec<(usize, usize)>),
}

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
    /// Prepares an action for the card, of a plan whose launches begin at this number.
    pub(super) fn task(&self, action: Action, first: usize) -> Result<Task, Error> {
        Ok(match action {
            Action::Fill(Ghosts::OfFields(jobs)) if self.fields.domain.boundaries.has_custom() => {
                Task::OnHost(self.fields.filling(&jobs))
            }
            Action::Fill(Ghosts::OfFields(jobs)) => {
                let jobs = jobs.into_iter().enumerate();
                let jobs = jobs.filter_map(|(i, job)| job.map(|job| (i, Some(job), job.depth)));
                self.fill_of(jobs.collect())?
            }
            Action::Fill(Ghosts::OfStored { buffers, depth }) => {
                let jobs = buffers.into_iter().map(|array| (array, None, depth));
                self.fill_of(jobs.collect())?
            }
            Action::Launch { launch, .. } => Task::Launch(first + launch),
            Action::Post(_) | Action::Wait => return Err(nothing()),
            Action::Swap(pairs) => Task::Swap(pairs),
        })
    }

    /// Returns the fill of ghost cells of arrays of the same layout: fields, or stored functions.
    fn fill_of(
        &self,
        jobs: Vec<(usize, Option<GhostDepth>, [usize; 3])>,
    ) -> Result<Task, CudaError> {
        let of = |array: &usize| {
            let place = self.place_of(Some(array));
            (place.of, place.surface)
        };
        let (first, surfaces) = match jobs.first() {
            Some((array, ..)) => (self.shape_of(*array), of(array).1),
            None => (self.shape, false),
        };
        debug_assert!(jobs.iter().all(|(array, ..)| of(array) == of(&jobs[0].0)));
        let boxes = self.ghosts.boxes(&self.card.stream, (first, surfaces), jobs)?;
        Ok(Task::Fill(boxes))
    }

    /// Returns the fills of ghost cells of given fields that are formulas, unless all axes are periodic.
    pub(super) fn beyond_sampled(&self) -> Result<Vec<Task>, CudaError> {
        if self.fields.domain.boundaries.periodic == [true; 3] {
            return Ok(Vec::new());
        }
        let depth = self.shape.halo.map(|n| n as usize);
        let fill = |buffer: &usize| {
            let component = self.fields.rules_of_given(*buffer)?;
            let job = GhostDepth { component, depth };
            Some(self.fill_of(vec![(*buffer, Some(job), depth)]))
        };
        self.sampled.iter().filter_map(fill).collect()
    }

    /// Replays a part of a step, captured the first time that the buffers are in these slots. A capture that is
    /// disturbed, for example by a tool that watches all launches, is no failure: the part is started without it then.
    pub(super) fn replay(&mut self, part: CapturedPart<'_>) -> Result<(), Error> {
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

    /// Captures the work that is started, to be replayed.
    pub(super) fn captured(
        &mut self,
        start: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<CudaGraph, Error> {
        let failed = CudaError::driver("capturing a step");
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.card.stream.begin_capture(mode).map_err(&failed)?;
        let done = start(self);
        let graph = self.card.stream.end_capture(CUgraphInstantiate_flags(0));
        done?;
        let graph = graph.map_err(&failed)?.ok_or_else(nothing)?;
        graph.upload().map_err(&failed)?;
        Ok(graph)
    }

    /// Starts a part of a step in which the host has no part.
    pub(super) fn enqueue_part(&mut self, part: CapturedPart<'_>) -> Result<(), Error> {
        let stream = self.card.stream.clone();
        match part {
            CapturedPart::Speeds { of, t } => {
                self.enqueue_speeds(of, t)?;
                self.clock.begin(&stream)?;
            }
            CapturedPart::Next { of } => {
                // No task of such a step asks the host for the time.
                self.enqueue_speeds(of, 0.0)?;
                self.clock.begin_next(&stream)?;
                self.enqueue_substeps()?;
            }
            CapturedPart::Step { begins } => {
                if begins {
                    self.clock.begin(&stream)?;
                }
                self.enqueue_substeps()?;
            }
            CapturedPart::Fused { begins } => {
                if begins {
                    self.clock.begin(&stream)?;
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
    fn enqueue_substeps(&mut self) -> Result<(), Error> {
        (0..self.substeps.len()).try_for_each(|substep| self.enqueue(substep, 0.0))
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

    /// Starts all tasks of a substep. The card knows its time; the host takes it to be `t`.
    pub(super) fn enqueue(&mut self, substep: usize, t: f64) -> Result<(), Error> {
        let when = When { t, time: substep };
        let tasks = std::mem::take(&mut self.substeps[substep]);
        let done = tasks.iter().try_for_each(|task| self.start(task, when));
        self.substeps[substep] = tasks;
        done
    }

    pub(super) fn start(&mut self, task: &Task, when: When) -> Result<(), Error> {
        let stream = self.card.stream.clone();
        match task {
            Task::Fill(None) => {}
            Task::Fill(Some(boxes)) => {
                let domain = &self.fields.domain;
                match &self.formulas {
                    Some(formulas) if !formulas.faces().is_empty() => {
                        let time = self.clock.at(when.time);
                        self.ghosts.evaluate(&stream, formulas, &time)?;
                    }
                    _ if has_tables(&domain.boundaries) => {
                        let (boundaries, mesh) = (&domain.boundaries, &domain.mesh);
                        self.ghosts.sample(&stream, boundaries, mesh, when.t)?;
                    }
                    _ => {}
                }
                let arrays = self.memory.addresses(&stream, self.slots.iter().copied());
                self.ghosts.fill(&stream, boxes, &arrays)?;
            }
            Task::OnHost(filling) => self.fill_on_host(filling, when.t)?,
            Task::Sample => {
                let Some(formulas) = &self.formulas else {
                    return Err(nothing());
                };
                for (which, buffer) in self.sampled.iter().enumerate() {
                    let first = self.memory.address(&stream, self.slots[*buffer]);
                    let time = self.clock.at(when.time);
                    formulas.source(&stream, which, first, &time)?;
                }
            }
            Task::Launch(at) => {
                let launch = &self.launches[*at];
                launch.launch(&stream, &self.memory, &self.slots)?;
            }
            Task::Swap(pairs) => pairs.iter().for_each(|(a, b)| self.slots.swap(*a, *b)),
        }
        Ok(())
    }

    /// Fills ghost cells by functions of the user, which only the host can call.
    fn fill_on_host(&mut self, filling: &Filling, t: f64) -> Result<(), Error> {
        self.on_host(&mut |fields| fields.fill(filling, t))?;
        for buffer in self.fields.buffers.of_role(BufferRole::Field) {
            let slot = self.slots[buffer];
            if let Some(values) = self.known[buffer].get() {
                let stream = &self.card.stream;
                self.cut.upload(&mut self.memory, stream, slot, values)?;
            }
        }
        Ok(())
    }
}

/// Returns the error for a graph or a step that is missing.
pub(super) fn nothing() -> Error {
    Error::Bug("a step on a card that is not there".into())
}
