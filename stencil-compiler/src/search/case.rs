//! A problem and a card that schedules are chosen for by rule.

use super::On;
use crate::algorithm::Algorithm;
use crate::compile::Target;
use crate::cost::{Costs, Fills, KernelCost, StepTime};
use crate::schedule::Schedule;

/// Cells along each axis of the mesh that the time of schedules is compared on.
const USUAL: [usize; 3] = [1 << 20, 4096, 256];

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
            any: Costs::new(algorithm, on.target()),
            usual: Costs::new(algorithm, usual),
            cells,
        }
    }

    /// The costs of the kernels of a schedule; `None` if it is illegal.
    pub(super) fn costs(&self, schedule: &Schedule) -> Option<Vec<KernelCost>> {
        Some(self.any.of(schedule).ok()?.kernels)
    }

    /// The predicted time of a step; `None` if the schedule is illegal, or a kernel cannot run.
    pub(super) fn step_time(&self, schedule: &Schedule) -> Option<StepTime> {
        let costs = self.usual.of(schedule).ok()?;
        let fills = Fills::of(&costs.plan, self.cells, self.on.precision.bytes());
        StepTime::likely(&costs.kernels, &fills, self.cells, &self.on.rates())
    }

    /// The schedule that is predicted to take least time, the first of equals.
    pub(super) fn fastest(&self, schedules: impl Iterator<Item = Schedule>) -> Option<Schedule> {
        let timed = schedules.filter_map(|s| Some((self.step_time(&s)?.total, s)));
        let best = timed.min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, schedule)| schedule)
    }
}
