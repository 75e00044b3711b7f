//! A run set up again with other values of parameters.

use std::fmt;

use stencil_runtime::problem::{Change, Problem};
use stencil_runtime::transport::Ranks;
use stencil_runtime::{Number, Schedule, Simulation};

use super::super::{RunArgs, changes, set_up, target};
use super::Ended;
use crate::USAGE;

/// Sets a run up again with other values of parameters.
type SetUp<'a, T> = dyn Fn(&[(String, f64)]) -> Result<(Problem, Simulation<T>), Ended> + 'a;

/// The way to set a run up again, without its state.
pub(in crate::run) struct Renew<'a, T>(Box<SetUp<'a, T>>);

impl<T> fmt::Debug for Renew<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Renew")
    }
}

impl<'a, T: Number> Renew<'a, T> {
    /// Remembers how a run is set up: `problem` is that of the arguments, with its steps and its folder settled.
    ///
    /// # Errors
    /// If the problem can no longer be read.
    pub(in crate::run) fn new(
        args: &'a RunArgs,
        problem: &'a Problem,
        (ranks, timed): (&'a Ranks, Option<Schedule>),
    ) -> Result<Self, Ended> {
        let declared = target::open(&args.problem, &changes::of(args))?.to_toml(None);
        Ok(Renew(Box::new(move |values| {
            let now = target::open(&args.problem, &changes::of(args))?.to_toml(None);
            if now != declared {
                let file = &args.problem;
                let message = format!(
                    "error: `{file}` is another problem than when the run began, so no parameter can be changed\n  \
                     help: stop the run, and go on by --restart with the new file"
                );
                return Err(Ended { code: USAGE, message });
            }
            let mut own = args.clone();
            let change = |(name, value): &(String, f64)| {
                Change::option("--watch", &format!("params.{name}"), &format!("{value:?}"))
            };
            own.over.extend(values.iter().map(change));
            let mut changed = target::open(&own.problem, &changes::of(&own))?;
            if changed.mesh != problem.mesh {
                let message =
                    "error: the mesh follows from this parameter, and a run keeps its mesh".into();
                return Err(Ended { code: USAGE, message });
            }
            changed.system = problem.system.clone();
            changed.time.steps = problem.time.steps;
            changed.output.dir.clone_from(&problem.output.dir);
            let simulation = set_up(&own, &changed, (ranks, timed.clone()))?;
            Ok((changed, simulation))
        })))
    }

    /// Sets the run up with these values, one after the other.
    ///
    /// # Errors
    /// If a value is out of the range of its parameter, or the problem has another text than when the run began.
    pub(super) fn with(&self, values: &[(String, f64)]) -> Result<(Problem, Simulation<T>), Ended> {
        self.0(values)
    }
}
