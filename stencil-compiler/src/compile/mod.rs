//! Compilation of schedules: each is planned, lowered and checked for one [`Target`]. A schedule is legal if this
//! succeeds for every kernel of every substep.

use std::fmt;

use crate::algorithm::Algorithm;
use crate::kernel::{self, Kernel};
use crate::plan::{self, FitTo, Plan, crossable};
#[cfg(doc)]
use crate::schedule::strategies::Strategy;
use crate::schedule::{Blame, Refusal, Schedule};

mod target;

pub use target::{Device, Target};

/// The reason why a schedule is illegal, with legal choices in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// The part of the schedule that is to blame.
    pub blame: Blame,
    /// The kernel whose blocking or placements are to blame: index into [`Schedule::kernels`].
    pub kernel: Option<usize>,
    /// One line, without a full stop.
    pub message: String,
    /// Ways out, one a line.
    pub help: Vec<String>,
}

impl From<Refusal> for ScheduleError {
    fn from(refusal: Refusal) -> Self {
        ScheduleError {
            blame: refusal.blame,
            kernel: None,
            message: refusal.message,
            help: Vec::new(),
        }
    }
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for line in &self.help {
            write!(f, "\n  help: {line}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ScheduleError {}

/// A compiled schedule: its plan and its kernels, one for each launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The problem that is planned: the given one, or the one with fused substeps.
    pub problem: Algorithm,
    /// The steps of the plan.
    pub plan: Plan,
    /// Kernels in the order of [`Plan::launches`].
    pub kernels: Vec<Kernel>,
}

/// Plans and lowers a schedule for a target; checks every stage on the way.
///
/// # Errors
/// If the schedule is illegal. The error lists no legal choices, since finding them is a long search:
/// [`advised`](crate::search::advice::advised) makes it.
pub fn compile(
    algorithm: &Algorithm,
    schedule: &Schedule,
    target: &Target,
) -> Result<Compiled, ScheduleError> {
    let plan = plan(algorithm, schedule, target)?;
    lower(algorithm, schedule, plan, target)
}

/// Plans a schedule for a target: the first half of [`compile`].
///
/// # Errors
/// If the schedule cannot be planned.
pub fn plan(
    algorithm: &Algorithm,
    schedule: &Schedule,
    target: &Target,
) -> Result<Plan, ScheduleError> {
    Ok(fitted(outline(algorithm, schedule, target)?, algorithm, target))
}

/// Plans a schedule, its chunks not fitted to a mesh yet: of its blockings, only whether they [wrap](Strategy::wraps)
/// decides more than the blockings of the launches.
pub(crate) fn outline(
    algorithm: &Algorithm,
    schedule: &Schedule,
    target: &Target,
) -> Result<Plan, ScheduleError> {
    let mut wrapped = target.periodic;
    if let Some((cells, _)) = target.patches.filter(|_| wrapped.contains(&true)) {
        let halo = plan::plan(algorithm, schedule, [false; 3])?.halo();
        let crossable = crossable(halo, cells, target.value_bytes);
        wrapped = std::array::from_fn(|axis| wrapped[axis] && crossable[axis]);
    }
    let mut plan = plan::plan(algorithm, schedule, wrapped)?;
    if target.keeps_fields {
        plan = plan.with_fields_before(schedule.problem(algorithm)?.as_ref());
    }
    let plan = plan.deepened(schedule.ghosts, target.cut).map_err(Refusal::from)?;
    Ok(if target.cut.contains(&true) { plan.settled(target.layers) } else { plan })
}

/// Returns a plan with its chunks fitted to the mesh of a target, if it has one.
pub(crate) fn fitted(plan: Plan, algorithm: &Algorithm, target: &Target) -> Plan {
    match (target.patches, target.device.units) {
        (Some((cells, patches)), Some(units)) => {
            let cut = target.cut;
            plan.fitted(FitTo { dimension: algorithm.dimension, cells, patches, cut, units })
        }
        _ => plan,
    }
}

/// Lowers a plan of a schedule for a target, the second half of [`compile`].
///
/// # Errors
/// If a kernel of the schedule is illegal.
pub fn lower(
    algorithm: &Algorithm,
    schedule: &Schedule,
    plan: Plan,
    target: &Target,
) -> Result<Compiled, ScheduleError> {
    plan.check().map_err(Refusal::from)?;
    let problem = schedule.problem(algorithm)?.into_owned();
    let mut kernels: Vec<Kernel> = Vec::new();
    for (at, launch) in plan.launches.iter().enumerate() {
        kernels.push(match plan.like(at) {
            Some(before) => Kernel { name: launch.name.clone(), ..kernels[before].clone() },
            None => lower_launch(&problem, &plan, at, target)?,
        });
    }
    Ok(Compiled { problem, plan, kernels })
}

/// Lowers one launch of a plan of this problem, fused substeps and all, and checks its kernel.
pub(crate) fn lower_launch(
    problem: &Algorithm,
    plan: &Plan,
    at: usize,
    target: &Target,
) -> Result<Kernel, ScheduleError> {
    let in_kernel = |refusal: Refusal| in_kernel(plan, at, refusal);
    let on = (target.value_bytes, &target.device.multiprocessor);
    let kernel = kernel::lower::lower(problem, plan, at, on).map_err(in_kernel)?;
    kernel.check().map_err(Refusal::from).map_err(in_kernel)?;
    Ok(kernel)
}

/// The error of a schedule whose kernel for a launch is refused.
fn in_kernel(plan: &Plan, launch: usize, refusal: Refusal) -> ScheduleError {
    let error = ScheduleError::from(refusal);
    let kernel = plan.launches[launch].kernel;
    let message = match plan.launches.iter().any(|launch| launch.kernel > 0) {
        true => format!("kernel {}: {}", kernel + 1, error.message),
        false => error.message,
    };
    ScheduleError { kernel: Some(kernel), message, ..error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::MODELS;
    use crate::discretize::discretize;
    use crate::model::parse::parse_str;
    use crate::schedule::text;

    #[test]
    fn each_card_has_its_own_shared_memory() {
        let source = "system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
            scheme s for Heat { space: central<order = 2>; time: euler; }";
        let algorithm = discretize(&parse_str(source).unwrap()).unwrap();
        let most = |name: &str, ring: u32| {
            let card = MODELS.iter().find(|card| card.name == name).unwrap();
            let target = Target::new(8).on(card.rates.device());
            let march = format!("schedule kernel march tile_x=64 tile_y=16 ring={ring}");
            compile(&algorithm, &text::parse(&march).unwrap(), &target)
        };
        assert!(most("H200", 20).is_ok() && most("A100", 10).is_ok());
        let message = most("A100", 20).unwrap_err().message;
        assert!(message.contains("and a block has 166912"), "{message}");
        let message = most("K40", 10).unwrap_err().message;
        assert!(message.contains("and a block has 49152"), "{message}");
    }
}
