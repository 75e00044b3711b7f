//! Which schedules are legal: those that plan and lower, every kernel of every substep.

use std::fmt;

use super::{Placement, Schedule, text};
use crate::algorithm::{Algorithm, Def, FnId};
use crate::kernel::lower::lower;
use crate::kernel::{Kernel, blocking};
use crate::plan::{Plan, plan_wrapped};

/// Why a schedule is illegal, with what would be legal in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleError {
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub help: Vec<String>,
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
    /// What happens in a step.
    pub plan: Plan,
    /// Kernels in the order of [`Plan::launches`].
    pub kernels: Vec<Kernel>,
}

/// Plans and lowers a schedule for values of this many bytes; checks every stage on the way.
///
/// # Errors
/// Where the schedule is illegal; the help lists legal placements and blockings.
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
    let fail = |message: String| ScheduleError {
        help: help(algorithm, schedule, &message),
        message,
    };
    let plan = plan_wrapped(algorithm, schedule, wrapped).map_err(fail)?;
    plan.check().map_err(fail)?;
    let mut kernels = Vec::new();
    for at in 0..plan.launches.len() {
        let kernel = lower(algorithm, &plan, at, value_bytes).map_err(fail)?;
        kernel.check().map_err(fail)?;
        kernels.push(kernel);
    }
    Ok(Compiled { plan, kernels })
}

/// Placements that a grid function may have in some schedule.
pub fn legal_placements(algorithm: &Algorithm, id: FnId) -> Vec<Placement> {
    use super::Halo;
    let stored = [
        Placement::Global(Halo::Exchange),
        Placement::Global(Halo::Recompute),
    ];
    match algorithm.function(id).def {
        Def::State(_) => Vec::new(),
        Def::Point(_) => [&[Placement::Inline, Placement::Register], stored.as_slice()].concat(),
        Def::Sum(_) => [
            &[Placement::Inline, Placement::Register, Placement::Carried],
            stored.as_slice(),
        ]
        .concat(),
    }
}

fn help(algorithm: &Algorithm, schedule: &Schedule, message: &str) -> Vec<String> {
    let mut help = Vec::new();
    for name in schedule
        .placements
        .keys()
        .filter(|name| message.contains(&format!("`{name}")))
    {
        match algorithm.find(name) {
            Some(id) => {
                let legal: Vec<&str> = legal_placements(algorithm, id)
                    .into_iter()
                    .map(text::placement_words)
                    .collect();
                if !legal.is_empty() {
                    help.push(format!("`{name}` may be placed {}", legal.join(", ")));
                }
            }
            None => {
                let names = algorithm.functions.iter().map(|f| f.name.as_str());
                if let Some(near) = crate::diag::nearest(name, names) {
                    help.push(format!("did you mean `{near}`?"));
                }
            }
        }
    }
    if message.contains("blocking") || message.contains("parameter") {
        for strategy in blocking::ALL {
            let params: Vec<String> = strategy
                .params
                .iter()
                .map(|p| format!("{}={}", p.name, p.default))
                .collect();
            help.push(format!("kernel {} {}", strategy.name, params.join(" ")));
        }
    }
    help
}
