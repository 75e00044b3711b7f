//! The costs of many schedules of one problem, whose launches are lowered once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{KernelCost, kernel};
use crate::algorithm::Algorithm;
use crate::compile::{self, ScheduleError, Target, lower_launch};
use crate::hash::fnv1a;
use crate::kernel::text;
use crate::plan::{Buffer, Launch, Plan};
use crate::schedule::{Layout, Refusal, Schedule};

/// The costs of schedules of one problem for one target. Substeps, and schedules that differ in one kernel, have
/// launches in common, each of which is lowered once.
///
/// ```
/// use stencil_compiler::compile::Target;
/// use stencil_compiler::cost::Costs;
/// use stencil_compiler::discretize::discretize;
/// use stencil_compiler::model::parse::parse_str;
/// use stencil_compiler::schedule::text::parse;
///
/// let model = parse_str("pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
///     scheme s for Heat { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }")?;
/// let algorithm = discretize(&model)?;
/// let costs = Costs::new(&algorithm, Target::new(8));
/// let of = costs.of(&parse("schedule kernel march")?)?;
/// assert_eq!(of.kernels.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Costs<'a> {
    algorithm: &'a Algorithm,
    target: Target,
    /// Are kernels to be told apart?
    identifies: bool,
    plans: Known<Schedule, Planned>,
    kernels: Known<Lowering, Lowered>,
}

/// Results by all that decides them.
type Known<K, V> = Mutex<BTreeMap<K, Arc<V>>>;

/// The plan of a schedule without its blockings, checked, or the reason why there is none.
type Planned = Result<Plan, ScheduleError>;

/// The plan of a schedule, and the costs of its kernels.
#[derive(Clone, Debug)]
pub struct ScheduleCost {
    /// The plan.
    pub plan: Plan,
    /// The costs, in the order of the plan's launches.
    pub kernels: Vec<KernelCost>,
    /// A hash of the kernels: schedules with the same one do the same.
    pub identity: u64,
}

/// All that decides the kernel of a launch, for one problem and target.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lowering {
    fuse: usize,
    layout: Layout,
    /// Without its name and the number of its substep.
    launch: Launch,
    buffers: Arc<Vec<Buffer>>,
}

/// The cost of a kernel and the hash of its text, or the reason why there is none.
type Lowered = Result<(KernelCost, u64), ScheduleError>;

impl<'a> Costs<'a> {
    /// Knows no costs yet.
    pub fn new(algorithm: &'a Algorithm, target: Target) -> Self {
        let (plans, kernels) = Default::default();
        Costs { algorithm, target, identifies: true, plans, kernels }
    }

    /// The same, but all schedules have one identity: the text of a large kernel takes a while.
    pub(crate) fn unidentified(algorithm: &'a Algorithm, target: Target) -> Self {
        Costs { identifies: false, ..Costs::new(algorithm, target) }
    }

    /// Returns the problem.
    pub fn algorithm(&self) -> &'a Algorithm {
        self.algorithm
    }

    /// Returns the costs of a schedule.
    ///
    /// # Errors
    /// If the schedule is illegal, without the legal choices.
    pub fn of(&self, schedule: &Schedule) -> Result<ScheduleCost, ScheduleError> {
        let plan = self.plan(schedule)?;
        let problem = schedule.problem(self.algorithm)?;
        let buffers = Arc::new(plan.buffers.clone());
        let (mut kernels, mut identity) = (Vec::new(), Vec::new());
        for (at, launch) in plan.launches.iter().enumerate() {
            let lowering = Lowering {
                fuse: schedule.fuse,
                layout: plan.layout,
                buffers: buffers.clone(),
                launch: Launch { name: String::new(), substep: 0, ..launch.clone() },
            };
            let lower = || self.lower(&problem, &plan, at);
            let lowered = known(&self.kernels, lowering, lower);
            let (cost, hash) = lowered.as_ref().as_ref().map_err(Clone::clone)?;
            let (name, substep) = (launch.name.clone(), launch.substep);
            kernels.push(KernelCost { name, substep, ..cost.clone() });
            identity.extend(hash.to_le_bytes());
        }
        let identity = fnv1a(&identity);
        Ok(ScheduleCost { plan, kernels, identity })
    }

    /// Returns the plan of a schedule, checked. Schedules that differ in their blockings have it in common.
    fn plan(&self, schedule: &Schedule) -> Result<Plan, ScheduleError> {
        let outline = schedule.outlined();
        let planned = known(&self.plans, outline.clone(), || {
            let plan = compile::outline(self.algorithm, &outline, &self.target)?;
            plan.check().map_err(Refusal::from)?;
            Ok(plan)
        });
        let mut plan = planned.as_ref().as_ref().map_err(Clone::clone)?.clone();
        for launch in &mut plan.launches {
            launch.blocking = schedule.kernels[launch.kernel].clone();
        }
        Ok(compile::fitted(plan, self.algorithm, &self.target))
    }

    fn lower(&self, problem: &Algorithm, plan: &Plan, at: usize) -> Lowered {
        let lowered = lower_launch(problem, plan, at, &self.target)?;
        let cost = kernel(problem, plan, &plan.launches[at], &lowered);
        let cost = cost.map_err(Refusal::from)?;
        let hash = self.identifies.then(|| fnv1a(text::print(&lowered).as_bytes()));
        Ok((cost, hash.unwrap_or_default()))
    }
}

/// Returns a result that is known, or makes it known. Two threads may both make it.
fn known<K: Ord, V>(all: &Known<K, V>, key: K, make: impl FnOnce() -> V) -> Arc<V> {
    let all = || all.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(result) = all().get(&key) {
        return result.clone();
    }
    let result = Arc::new(make());
    all().entry(key).or_insert(result).clone()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::discretize::discretize;
    use crate::model::parse::parse_str;
    use crate::schedule::text::parse;
    use crate::search;

    #[test]
    fn costs_are_those_of_each_schedule_by_itself() {
        let text = "pub system Flow in 2d { field h: scalar; field u: vector;
                ddt(h) = -div(h*u); ddt(u) = -dot(u, grad(u)) - grad(h); }
             scheme s for Flow { space: central<order = 2>; mixed: composed; time: rk3_williamson; }";
        let algorithm = discretize(&parse_str(text).unwrap()).unwrap();
        let target = Target::new(8);
        let costs = Costs::new(&algorithm, target);
        let mut legal = 0;
        for schedule in search::first(&algorithm).iter().step_by(7) {
            let (ours, alone) = (costs.of(schedule), compile(&algorithm, schedule, &target));
            match (ours, alone) {
                (Ok(ours), Ok(alone)) => {
                    assert_eq!(ours.plan, alone.plan);
                    assert_eq!(Ok(ours.kernels), super::super::kernels(&alone));
                    legal += 1;
                }
                (Err(ours), Err(alone)) => assert_eq!(ours, alone),
                (ours, alone) => panic!("{schedule:?}: {ours:?}, {alone:?}"),
            }
        }
        assert!(legal > 50, "{legal} legal");
        // The kernel that stores is the same in all substeps, and the one that does not is so in both schedules.
        let costs = Costs::new(&algorithm, target);
        let known = |schedule: &str| {
            let schedule = format!("schedule place dx_u_x global exchange {schedule}");
            let launches = costs.of(&parse(&schedule).unwrap()).unwrap().kernels.len();
            (launches, costs.kernels.lock().unwrap().len())
        };
        assert_eq!(known("kernel direct kernel march"), (6, 4));
        assert_eq!(known("kernel march kernel march"), (6, 5));
    }
}
