//! A problem and a card that schedules are chosen for by rule.

use super::On;
use crate::algorithm::Algorithm;
use crate::compile::Target;
use crate::cost::{Costs, Fills, KernelCost, StepTime};
use crate::schedule::Schedule;

/// Cells along each axis of the mesh that the time of schedules is compared on.
const USUAL: [usize; 3] = [1 << 20, 4096, 256];

/// The factor of the least time within which far fewer arrays count for more: the model errs by as much.
const LITTLE_MORE: f64 = 1.05;

/// The share of the arrays of the fastest schedule that count as far fewer.
const FAR_FEWER: f64 = 0.9;

/// A problem, a card and a precision, with the costs of schedules that were looked at.
#[derive(Debug)]
pub struct Case<'a> {
    /// The problem.
    pub algorithm: &'a Algorithm,
    /// The card and the precision.
    pub on: On,
    /// On any mesh.
    any: Costs<'a>,
    /// On the mesh that times are compared on.
    usual: Costs<'a>,
    cells: [usize; 3],
}

impl<'a> Case<'a> {
    /// Nothing was looked at yet.
    pub fn new(algorithm: &'a Algorithm, on: impl Into<On>) -> Self {
        let on = on.into();
        let side = USUAL[algorithm.dimension.clamp(1, 3) - 1];
        let cells = std::array::from_fn(|axis| if axis < algorithm.dimension { side } else { 1 });
        let usual = Target::periodic(on.precision.bytes(), cells, on.rates().device());
        Case {
            algorithm,
            on,
            any: Costs::unidentified(algorithm, on.target()),
            usual: Costs::unidentified(algorithm, usual),
            cells,
        }
    }

    /// The costs of the kernels of a schedule; `None` if it is illegal.
    pub(super) fn costs(&self, schedule: &Schedule) -> Option<Vec<KernelCost>> {
        Some(self.any.of(schedule).ok()?.kernels)
    }

    /// The predicted time of a step; `None` if the schedule is illegal, or a kernel cannot run.
    pub(super) fn step_time(&self, schedule: &Schedule) -> Option<StepTime> {
        Some(self.timed(schedule)?.0)
    }

    /// The same, and the number of arrays.
    fn timed(&self, schedule: &Schedule) -> Option<(StepTime, usize)> {
        let costs = self.usual.of(schedule).ok()?;
        let fills = Fills::of(&costs.plan, self.cells, self.on.precision.bytes());
        let time = StepTime::likely(&costs.kernels, &fills, self.cells, &self.on.rates())?;
        Some((time, costs.plan.memories()))
    }

    /// The seconds in which as many arrays are written and read once in each substep.
    pub(super) fn seconds_of_arrays(&self, arrays: usize) -> f64 {
        let values =
            2 * arrays * self.algorithm.substeps.len() * self.cells.iter().product::<usize>();
        (values * self.on.precision.bytes()) as f64 / self.on.rates().copy_bytes
    }

    /// The schedule that is predicted to take least time, or one with far fewer arrays that takes little more, and its time.
    pub(super) fn smallest(
        &self,
        schedules: impl Iterator<Item = Schedule>,
    ) -> Option<(Schedule, f64)> {
        let timed =
            schedules.filter_map(|s| self.timed(&s).map(|(t, arrays)| (s, t.total, arrays)));
        let timed: Vec<(Schedule, f64, usize)> = timed.collect();
        let fastest = timed.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_smaller = |(_, time, arrays): &&(Schedule, f64, usize)| {
            *time <= LITTLE_MORE * fastest.1 && *arrays as f64 <= FAR_FEWER * fastest.2 as f64
        };
        let smaller = timed.iter().filter(is_smaller).min_by_key(|(.., arrays)| *arrays);
        let (schedule, time, _) = smaller.unwrap_or(fastest);
        Some((schedule.clone(), *time))
    }

    /// The schedule that is predicted to take least time, the first of equals.
    pub(super) fn fastest(&self, schedules: impl Iterator<Item = Schedule>) -> Option<Schedule> {
        let timed = schedules.filter_map(|s| Some((self.step_time(&s)?.total, s)));
        let best = timed.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, schedule)| schedule)
    }
}
