//! How long each part of a step takes by itself: it is captured some times one behind the other, and replayed
//! between two events.

use std::sync::OnceLock;

use stencil_compiler::cost::{self, KernelCost};
use stencil_compiler::plan::BufferRole;
use stencil_compiler::schedule::check;

use super::observed::Problem;
use super::tasks::{Part, Task, When, nothing};
use super::{Machine, Reducer};
use crate::backend::cuda::calibration::timed;
use crate::backend::cuda::{CudaError, Opened};
use crate::backend::{self, Device};
use crate::field::Array;
use crate::step::Asked;
use crate::{Error, Number};

/// How often a part is captured: what the host does to replay it does not show.
const CAPTURED: u32 = 8;

/// Seconds for the timings of a part, and how many there are at most.
const TIMINGS: (f64, f64) = (0.01, 5.0);

/// What a part of a step does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepPart {
    /// Finds the speeds of all cells and the length of the step, and begins it.
    TimeStep {
        /// What it costs to evaluate the speeds.
        costs: Vec<KernelCost>,
        /// Values of a cell that become one number of all cells.
        reduced: usize,
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

/// A part of a step, or of steps that are done at once, and how long it takes on a card.
#[derive(Clone, Debug, PartialEq)]
pub struct PartTime {
    /// What it does.
    pub part: StepPart,
    /// Seconds, with the gap to the next launch.
    pub seconds: f64,
}

impl<T: Number> Machine<T> {
    /// The parts of a step in their order; none where the host has a part in it, where the substeps that are fused
    /// are done one by one, or where fields are not kept, which are put back afterwards. If the step adapts to speeds, these
    /// are the speeds and what it is asked for.
    pub(crate) fn part_times(
        &mut self,
        speeds: Option<(&backend::Reducer, Asked)>,
    ) -> Result<Vec<PartTime>, Error> {
        let is_fused = self.fused.is_some();
        let follows = !is_fused || (speeds.is_none() && self.steps_at_once().is_some());
        if self.needs_host() || !follows || self.kept.is_empty() {
            return Ok(Vec::new());
        }
        self.keep()?;
        let counts = self.counts()?;
        let slots = self.slots.clone();
        let mut times = Vec::new();
        let mut done = match speeds {
            Some((of, asked)) => self.with_reducer(of, |machine, of| {
                machine.time_step_time((of, asked), &mut times)
            }),
            None => Ok(()),
        };
        if done.is_ok() {
            done = self.all_task_times(&mut times);
        }
        self.slots = slots;
        self.put_back()?;
        self.set_counts(counts)?;
        done?;
        Ok(times)
    }

    /// What launches have counted: they count each time that they are done.
    fn counts(&mut self) -> Result<Vec<(usize, Array<T>)>, Error> {
        let mut counts = Vec::new();
        for buffer in self.fields.buffers.of_role(BufferRole::Count) {
            self.value(buffer)?;
            let values = self.known[buffer].take();
            counts.push((buffer, values.ok_or_else(nothing)?));
        }
        Ok(counts)
    }

    fn set_counts(&mut self, counts: Vec<(usize, Array<T>)>) -> Result<(), Error> {
        for (buffer, values) in counts {
            let (stream, slot) = (&self.card.stream, self.slots[buffer]);
            self.cut.upload(&mut self.memory, stream, slot, &values)?;
            self.known[buffer] = OnceLock::from(values);
        }
        Ok(())
    }

    /// The search for the length of a step.
    fn time_step_time(
        &mut self,
        (of, asked): (&Reducer, Asked),
        times: &mut Vec<PartTime>,
    ) -> Result<(), Error> {
        let stream = self.card.stream.clone();
        self.clock.tell_asked(&stream, asked)?;
        let part = Part::Speeds { of, t: asked.t };
        let seconds = self.seconds(|machine| machine.enqueue_part(part))?;
        // The time of the card has gone on, and is told anew by the next step.
        self.clock.read(&stream)?;
        times.push(PartTime {
            part: of.part::<T>()?,
            seconds,
        });
        Ok(())
    }

    /// What is done in all substeps, of the steps that are done at once if there are any.
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

    /// What is done in each substep. What stands in accumulators after a kernel was done many times is not
    /// what a step finds there, so each substep begins with a step that is done up to it.
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
                before
                    .iter()
                    .try_for_each(|task| self.start(task, when(time)))?;
            }
            for task in tasks {
                let part = match task {
                    Task::Swap(_) | Task::Fill(None) => continue,
                    Task::OnHost(_) => return Err(nothing()),
                    Task::Sample => StepPart::Sources,
                    Task::Fill(Some(boxes)) => StepPart::Fill {
                        values: boxes.cells(),
                    },
                    Task::Launch(at) => StepPart::Kernel(at - first),
                };
                let seconds = self.seconds(|machine| machine.start(task, when(substep)))?;
                times.push(PartTime { part, seconds });
            }
        }
        Ok(())
    }

    /// Seconds of what is started, one of several that follow each other. What disturbs a capture is no failure, as it is none
    /// in a step: it is started each time then.
    fn seconds(
        &mut self,
        mut start: impl FnMut(&mut Self) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        let mut all = |machine: &mut Self| (0..CAPTURED).try_for_each(|_| start(machine));
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
    /// What it does, as a part of a step.
    fn part<T: Number>(&self) -> Result<StepPart, Error> {
        let bug = |what: String| Error::Bug(format!("the speeds of a step: {what}"));
        let mut costs = Vec::new();
        for round in &self.rounds {
            let Problem {
                algorithm,
                schedule,
                plan,
            } = &round.problem;
            let compiled = check::check_plan(algorithm, schedule, T::BYTES, plan.clone());
            let compiled = compiled.map_err(|error| bug(error.to_string()))?;
            costs.extend(cost::kernels(&compiled).map_err(bug)?);
        }
        Ok(StepPart::TimeStep {
            costs,
            reduced: self.rounds.iter().map(|r| r.quantities.len()).sum(),
        })
    }
}
