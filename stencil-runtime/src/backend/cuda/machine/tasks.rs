//! What is done in a substep, started one after the other or replayed as a whole step.

use cudarc::driver::CudaGraph;
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};

use super::Machine;
use crate::backend::cpu::actions::Action;
use crate::backend::cpu::ghosts::Job;
use crate::backend::cuda::CudaError;
use crate::backend::cuda::ghosts::{Boxes, has_tables};
use crate::{Error, Number};

/// What is done in a substep.
#[derive(Debug)]
pub(super) enum Task {
    /// Ghost cells by the kernel.
    Fill(Option<Boxes>),
    /// Ghost cells of fields by the host.
    OnHost(Vec<Option<Job>>),
    /// Given fields that are formulas.
    Sample,
    /// A launch of the plan.
    Launch(usize),
    /// Fields and their new values change places.
    Swap(Vec<(usize, usize)>),
}

/// When something is done: the time, and where the card knows it from.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    pub(super) t: f64,
    pub(super) time: usize,
}

/// A captured step.
pub(super) struct Graph(CudaGraph);

// SAFETY: a graph may be used by any thread, but by one at a time: it is used through `&mut`.
unsafe impl Send for Graph {}
// SAFETY: nothing is done with it through a shared reference.
unsafe impl Sync for Graph {}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Graph")
    }
}

impl<T: Number> Machine<T> {
    /// Makes an action ready for the card.
    pub(super) fn task(&self, action: Action) -> Result<Task, CudaError> {
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

    /// A whole step, captured the first time that the buffers are where they are. What disturbs a
    /// capture, such as a tool that watches all launches, is no failure: the step is started then
    /// as it is.
    pub(super) fn replay(&mut self) -> Result<(), Error> {
        let begin = self.slots.clone();
        if self.graphs.contains_key(&begin) {
            for substep in 0..self.substeps.len() {
                self.swap(substep);
            }
        } else if let Ok(graph) = self.capture() {
            self.graphs.insert(begin.clone(), graph);
        } else {
            self.slots = begin;
            return self.enqueue_all();
        }
        let graph = self.graphs.get_mut(&begin);
        let launch = graph.ok_or_else(nothing)?.0.launch();
        Ok(launch.map_err(CudaError::driver("replaying a step"))?)
    }

    fn capture(&mut self) -> Result<Graph, Error> {
        let failed = CudaError::driver("capturing a step");
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        self.card.stream.begin_capture(mode).map_err(&failed)?;
        let done = self.enqueue_all();
        let graph = self.card.stream.end_capture(CUgraphInstantiate_flags(0));
        done?;
        let graph = graph.map_err(&failed)?.ok_or_else(nothing)?;
        graph.upload().map_err(&failed)?;
        Ok(Graph(graph))
    }

    /// Starts a whole step in which the host has no part.
    fn enqueue_all(&mut self) -> Result<(), Error> {
        // No task of such a step asks the host for the time.
        (0..self.substeps.len()).try_for_each(|substep| self.enqueue_tasks(substep, 0.0))
    }

    /// What a replayed substep leaves behind, in our own books.
    fn swap(&mut self, substep: usize) {
        for task in &self.substeps[substep] {
            if let Task::Swap(pairs) = task {
                pairs.iter().for_each(|(a, b)| self.slots.swap(*a, *b));
            }
        }
    }

    /// Starts all that is done in a substep at the time `t`.
    pub(super) fn enqueue(&mut self, substep: usize, t: f64) -> Result<(), Error> {
        self.tell(substep, t)?;
        self.enqueue_tasks(substep, t)
    }

    fn enqueue_tasks(&mut self, substep: usize, t: f64) -> Result<(), Error> {
        let when = When { t, time: substep };
        let tasks = std::mem::take(&mut self.substeps[substep]);
        let done = tasks.iter().try_for_each(|task| self.start(task, when));
        self.substeps[substep] = tasks;
        done
    }

    /// Tells the card the time of a substep, if it evaluates anything then.
    pub(super) fn tell(&mut self, substep: usize, t: f64) -> Result<(), CudaError> {
        match &mut self.formulas {
            Some(formulas) => formulas.tell(&self.card.stream, substep, t),
            None => Ok(()),
        }
    }

    pub(super) fn start(&mut self, task: &Task, when: When) -> Result<(), Error> {
        let stream = self.card.stream.clone();
        match task {
            Task::Fill(None) => {}
            Task::Fill(Some(boxes)) => {
                let domain = self.patch.domain();
                match &self.formulas {
                    Some(formulas) if !formulas.faces().is_empty() => {
                        self.ghosts.evaluate(&stream, formulas, when.time)?;
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
            Task::OnHost(jobs) => self.fill_on_host(jobs, when.t)?,
            Task::Sample => {
                let Some(formulas) = &self.formulas else {
                    return Err(nothing());
                };
                for (which, buffer) in self.sampled.iter().enumerate() {
                    let first = self.memory.address(&stream, self.slots[*buffer]);
                    formulas.source(&stream, which, first, when.time)?;
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

    /// Ghost cells by functions of the user, which only the host can call.
    fn fill_on_host(&mut self, jobs: &[Option<Job>], t: f64) -> Result<(), Error> {
        self.on_host(|patch| patch.fill(jobs, t))?;
        for buffer in self.patch.fields_at() {
            let slot = self.slots[buffer];
            if let Some(values) = self.known[buffer].get() {
                let stream = &self.card.stream;
                self.cut.upload(&mut self.memory, stream, slot, values)?;
            }
        }
        Ok(())
    }
}

/// A graph or a step that should be there is not.
pub(super) fn nothing() -> Error {
    Error::Bug("a step on a card that is not there".into())
}
