//! Which schedules are legal: those that plan and lower, every kernel of every substep.

use std::fmt;

use super::advice::advice;
use super::{Blame, Placement, Refusal, Schedule};
use crate::algorithm::{Algorithm, Constants, Def, FnId};
use crate::kernel::Kernel;
use crate::kernel::lower::lower;
use crate::plan::{Plan, Room, crossable, plan, plan_wrapped};

/// Why a schedule is illegal, with what would be legal in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// What of the schedule is to blame.
    pub blame: Blame,
    /// The kernel whose blocking or placements are to blame: index into [`Schedule::kernels`].
    pub kernel: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// The way out.
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

/// A schedule carried through: its plan and its kernels, one for each launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The problem that is planned: the one that was given, or that with fused substeps.
    pub problem: Algorithm,
    /// What happens in a step.
    pub plan: Plan,
    /// Kernels in the order of [`Plan::launches`].
    pub kernels: Vec<Kernel>,
}

impl Compiled {
    /// As a run with these constants has it: see [`Kernel::of_run`].
    pub fn of_run(mut self, constants: &Constants) -> Self {
        let coefficients = self.plan.coefficients;
        let kernels = self.kernels.into_iter();
        let of_run = kernels.map(|kernel| kernel.of_run(coefficients, constants));
        self.kernels = of_run.collect();
        self
    }
}

/// Plans and lowers a schedule for values of this many bytes; checks every stage on the way.
///
/// # Errors
/// Where the schedule is illegal. What would be legal is a long search: [`advised`] makes it.
pub fn check(
    algorithm: &Algorithm,
    schedule: &Schedule,
    value_bytes: usize,
) -> Result<Compiled, ScheduleError> {
    check_wrapped(algorithm, schedule, value_bytes, [false; 3])
}

/// As [`check`], of a patch that covers some periodic axes from end to end (see
/// [`plan_wrapped`]).
///
/// # Errors
/// As [`check`].
pub fn check_wrapped(
    algorithm: &Algorithm,
    schedule: &Schedule,
    value_bytes: usize,
    wrapped: [bool; 3],
) -> Result<Compiled, ScheduleError> {
    let plan = plan_wrapped(algorithm, schedule, wrapped)?;
    check_plan(algorithm, schedule, value_bytes, plan)
}

/// The plan of a schedule for values of this many bytes, as a run makes it on a periodic mesh of so many
/// cells in one patch, on a card with so many multiprocessors.
///
/// # Errors
/// Where the schedule is illegal.
pub fn plan_periodic(
    algorithm: &Algorithm,
    schedule: &Schedule,
    value_bytes: usize,
    (cells, units): ([usize; 3], u32),
) -> Result<Plan, ScheduleError> {
    let halo = plan(algorithm, schedule)?.halo();
    let wrapped = crossable(halo, cells, value_bytes);
    let room = Room {
        dimension: algorithm.dimension,
        cells,
        patches: 1,
        units,
    };
    Ok(plan_wrapped(algorithm, schedule, wrapped)?.fitted(room))
}

/// As [`check`], with such a plan.
///
/// # Errors
/// As [`check`].
pub fn check_periodic(
    algorithm: &Algorithm,
    schedule: &Schedule,
    value_bytes: usize,
    mesh: ([usize; 3], u32),
) -> Result<Compiled, ScheduleError> {
    let plan = plan_periodic(algorithm, schedule, value_bytes, mesh)?;
    check_plan(algorithm, schedule, value_bytes, plan)
}

/// As [`check`], of a plan of the schedule, such as one that is [fitted](Plan::fitted).
///
/// # Errors
/// As [`check`].
pub fn check_plan(
    algorithm: &Algorithm,
    schedule: &Schedule,
    value_bytes: usize,
    plan: Plan,
) -> Result<Compiled, ScheduleError> {
    plan.check().map_err(Refusal::from)?;
    let problem = schedule.problem(algorithm)?.into_owned();
    let mut kernels = Vec::new();
    for (at, launch) in plan.launches.iter().enumerate() {
        let in_kernel = |refusal: Refusal| in_kernel(schedule, launch.kernel, refusal);
        let kernel = lower(&problem, &plan, at, value_bytes).map_err(in_kernel)?;
        kernel.check().map_err(Refusal::from).map_err(in_kernel)?;
        kernels.push(kernel);
    }
    Ok(Compiled {
        problem,
        plan,
        kernels,
    })
}

/// What is wrong with one kernel of a schedule.
fn in_kernel(schedule: &Schedule, kernel: usize, refusal: Refusal) -> ScheduleError {
    let error = ScheduleError::from(refusal);
    let message = match schedule.kernels.len() {
        0 | 1 => error.message,
        _ => format!("kernel {}: {}", kernel + 1, error.message),
    };
    ScheduleError {
        kernel: Some(kernel),
        message,
        ..error
    }
}

/// The same as [`check`] for those who write schedules: errors say what would be legal.
///
/// # Errors
/// Where the schedule is illegal; the help lists placements, blockings and parameters with which
/// it passes.
pub fn advised(
    algorithm: &Algorithm,
    schedule: &Schedule,
    value_bytes: usize,
) -> Result<Compiled, ScheduleError> {
    advised_on(algorithm, schedule, value_bytes, None)
}

/// As [`advised`]; where a mesh and the multiprocessors of a card are known, as [`check_periodic`] has it.
///
/// # Errors
/// As [`advised`].
pub fn advised_on(
    algorithm: &Algorithm,
    schedule: &Schedule,
    value_bytes: usize,
    mesh: Option<([usize; 3], u32)>,
) -> Result<Compiled, ScheduleError> {
    let checked = match mesh {
        None => check(algorithm, schedule, value_bytes),
        Some(mesh) => check_periodic(algorithm, schedule, value_bytes, mesh),
    };
    checked.map_err(|error| ScheduleError {
        help: advice(algorithm, schedule, value_bytes, &error),
        ..error
    })
}

/// Placements that a grid function may have in some schedule.
pub fn legal_placements(algorithm: &Algorithm, id: FnId) -> Vec<Placement> {
    use super::{Carry, Halo};
    let any = [
        Placement::Inline,
        Placement::Register,
        Placement::Shared,
        Placement::Global(Halo::Exchange),
        Placement::Global(Halo::Recompute),
    ];
    match algorithm.function(id).def {
        Def::State(_) => Vec::new(),
        Def::Point(_) => any.to_vec(),
        Def::Sum(_) => {
            let carried = [Carry::Behind, Carry::Ahead].map(Placement::Carried);
            [&any[..], &carried].concat()
        }
    }
}
