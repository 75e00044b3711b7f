//! The time of each part of a step by itself: it is captured some times one behind the other, and replayed between two
//! events.

use stencil_compiler::compile::{self, Target};
use stencil_compiler::cost::{self, KernelCost};
use stencil_compiler::plan::Region;

use super::observables::Problem;
use super::tasks::{CapturedPart, Task, When, nothing};
use super::{Machine, Reducer};
use crate::backend::cuda::calibration::timed;
use crate::backend::cuda::kernels::ghosts::Boxes;
use crate::backend::cuda::{CudaError, Opened};
use crate::backend::{self, Device};
use crate::step::Asked;
use crate::{Error, Number};

/// Copies of a part in one capture: so many that the host's time to replay it does not count.
const CAPTURED: u32 = 8;

/// Seconds for the timings of a part, and their number at most.
const TIMINGS: (f64, f64) = (0.01, 5.0);

/// The task of a part of a step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepPart {
    /// Finds the speeds of all cells and the length of the step, and begins it.
    TimeStep {
        /// The cost of the evaluation of the speeds.
        costs: Vec<KernelCost>,
        /// Values of a cell that are reduced to one number of all cells each.
        reduced: f64,
        /// Values of a cell that the evaluation has and does not write, since a warp writes one for all of its cells.
        unwritten: f64,
    },
    /// Evaluates given fields.
    Sources,
    /// Fills ghost cells.
    Fill {
        /// Values that are filled.
        values: usize,
    },
    /// Launches the kernel of this number, of those that [`launched`](crate::Simulation::launched) names.
    Kernel(usize),
}

/// A part of a step, or of steps that are done at once, and its time on a card.
#[derive(Clone, Debug, PartialEq)]
pub struct PartTime {
    /// Its task.
    pub part: StepPart,
    /// Seconds, with the gap to the next launch.
    pub seconds: f64,
}

impl<T: Number> Machine<T> {
    /// Returns the parts of a step in their order. There are none if the host has a part in it, if the substeps that
    /// are fused are done one by one, or if fields are not kept, so that they can be put back afterwards. If the step
    /// adapts to speeds, the arguments are the speeds and the request.
    pub(crate) fn part_times(
        &mut self,
        speeds: Option<(&backend::Reducer, Asked)>,
    ) -> Result<Vec<PartTime>, Error> {
        if self.courier.is_some() || !self.has_parts(speeds.is_some()) {
            return Ok(Vec::new());
        }
        self.keep()?;
        let slots = self.slots.clone();
        let mut times = Vec::new();
        let mut done = match speeds {
            Some((of, asked)) => {
                self.with_reducer(of, |machine, of| machine.time_step_time((of, asked), &mut times))
            }
            None => Ok(()),
        };
        if done.is_ok() {
            done = self.all_task_times(&mut times);
        }
        self.slots = slots;
        self.put_back()?;
        done?;
        Ok(times)
    }

    /// Can parts of a step, which may adapt to speeds, be timed by themselves?
    pub(super) fn has_parts(&self, adapts: bool) -> bool {
        let is_fused = self.fused.is_some();
        let follows = !is_fused || (!adapts && self.steps_at_once().is_some());
        follows && !self.needs_host() && !self.kept.is_empty()
    }

    /// Times the search for the length of a step.
    fn time_step_time(
        &mut self,
        (of, asked): (&Reducer, Asked),
        times: &mut Vec<PartTime>,
    ) -> Result<(), Error> {
        let stream = self.card.stream.clone();
        self.clock.tell_asked(&stream, asked)?;
        let part = CapturedPart::Speeds { of, t: asked.t };
        let seconds = self.seconds(|machine| machine.enqueue_part(part))?;
        // The time of the card has gone on; the next step sets it anew.
        self.clock.read(&stream)?;
        let target = Target::new(T::BYTES).on(self.card.card.device());
        times.push(PartTime { part: of.part(&target)?, seconds });
        Ok(())
    }

    /// Times the tasks of all substeps, of the steps that are done at once if there are any.
    fn all_task_times(&mut self, times: &mut Vec<PartTime>) -> Result<(), Error> {
        let (tasks, first) = match &mut self.fused {
            Some(fused) => (std::mem::take(&mut fused.tasks), fused.first),
            None => (std::mem::take(&mut self.substeps), 0),
        };
        let done = self.task_times(&tasks, first, times);
        match &mut self.fused {
            Some(fused) => fused.tasks = tasks,
            None => self.substeps = tasks,
        }
        done
    }

    /// Times the tasks of each substep. After a kernel was done many times, accumulators hold other values than in a
    /// step. So each substep begins with a step that is done up to it.
    fn task_times(
        &mut self,
        substeps: &[Vec<Task>],
        first: usize,
        times: &mut Vec<PartTime>,
    ) -> Result<(), Error> {
        let slots = self.slots.clone();
        for (substep, tasks) in substeps.iter().enumerate() {
            self.slots.clone_from(&slots);
            self.put_back()?;
            let when = |time: usize| When { t: 0.0, time };
            for (time, before) in substeps[..substep].iter().enumerate() {
                let mut before = before.iter();
                self.together(|machine| {
                    before.try_for_each(|task| machine.start(task, when(time)))
                })?;
            }
            for task in tasks {
                let part = match task {
                    Task::OnHost(_) => return Err(nothing()),
                    Task::Sample => StepPart::Sources,
                    // The rim is timed with the interior before it.
                    Task::Launch { region: Region::Interior, .. } => continue,
                    Task::Launch { launch, .. } | Task::Rim(launch) => {
                        StepPart::Kernel(launch - first)
                    }
                    fill => {
                        if fill.count(&self.launches) == 0 {
                            continue;
                        }
                        let boxes = fill.boxes().iter().flatten();
                        StepPart::Fill { values: boxes.map(Boxes::cells).sum() }
                    }
                };
                let interior = |launch| Task::Launch { launch, region: Region::Interior };
                let (before, after) = match *task {
                    // A fill with values of other cards ends with the wait for them.
                    Task::Post(_) => (vec![], vec![Task::Wait]),
                    Task::Rim(at) => (vec![Task::Post(Vec::new()), interior(at)], vec![Task::Wait]),
                    Task::Launch { launch, region: Region::Rim } => {
                        (vec![interior(launch)], vec![])
                    }
                    _ => (vec![], vec![]),
                };
                let seconds = self.seconds(|machine| {
                    let mut all = before.iter().chain([task]).chain(&after);
                    all.try_for_each(|task| machine.start(task, when(substep)))
                })?;
                times.push(PartTime { part, seconds });
            }
        }
        Ok(())
    }

    /// Returns the seconds of some work, one of several that follow each other. A capture that is disturbed is no
    /// failure, as in a step: the work is started each time then.
    fn seconds(
        &mut self,
        mut start: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        let mut all = |machine: &mut Self| {
            machine.together(|machine| (0..CAPTURED).try_for_each(|_| start(machine)))
        };
        let graph = self.captured(&mut all).ok();
        let opened: Opened = self.card.clone();
        let failed = CudaError::driver("replaying a part of a step");
        let mut replay = || match &graph {
            Some(graph) => Ok(graph.launch().map_err(&failed)?),
            None => all(self),
        };
        replay()?;
        let mut best = timed(&opened, &mut replay)?;
        let (seconds, most) = TIMINGS;
        let more = (seconds / best).clamp(1.0, most) as usize;
        for _ in 0..more {
            best = best.min(timed(&opened, &mut replay)?);
        }
        Ok(best / f64::from(CAPTURED))
    }
}

impl Reducer {
    /// Returns it as a part of a step.
    fn part(&self, target: &Target) -> Result<StepPart, Error> {
        let bug = |what: String| Error::Bug(format!("the speeds of a step: {what}"));
        let mut costs = Vec::new();
        for round in &self.rounds {
            let Problem { algorithm, schedule, plan } = &round.problem;
            let compiled = compile::lower(algorithm, schedule, plan.clone(), target);
            let compiled = compiled.map_err(|error| bug(error.to_string()))?;
            costs.extend(cost::kernels(&compiled).map_err(bug)?);
        }
        let quantities = self.rounds.iter().flat_map(|round| &round.quantities);
        let written = quantities.map(|(_, rule)| 1.0 / f64::from(rule.every));
        let unwritten = written.clone().map(|share| 1.0 - share).sum();
        Ok(StepPart::TimeStep { costs, reduced: written.sum(), unwritten })
    }
}
