//! The turns of a loop over steps that is watched, and the change of a parameter between two of them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use stencil_report::run::Changed;
use stencil_runtime::problem::{Problem, branched};
use stencil_runtime::transport::Ranks;
use stencil_runtime::{Number, Schedule, Simulation};

use super::super::RunArgs;
use super::super::drive::{Drive, steps_left};
use super::{Ended, Renew, Turn, Watching};

/// A loop's side of watching.
#[derive(Debug)]
pub(in crate::run) struct Watched<'a, T> {
    pub(in crate::run) watching: Watching,
    renew: Renew<'a, T>,
}

impl<'a, T: Number> Watched<'a, T> {
    /// Begins to show a run of a problem with its folder and its steps settled; `None` if that is not asked for.
    ///
    /// # Errors
    /// If the page cannot be served, or the terminal cannot be had.
    pub(in crate::run) fn begin(
        args: &'a RunArgs,
        (problem, simulation): (&'a Problem, &Simulation<T>),
        on: (&'a Ranks, Option<Schedule>),
    ) -> Result<Option<Self>, Ended> {
        if !args.watch.is_on() {
            return Ok(None);
        }
        let renew = Renew::new(args, problem, on)?;
        let watching = Watching::begin(&args.watch, problem, simulation)?;
        Ok(watching.map(|watching| Watched { watching, renew }))
    }

    /// Returns the flag by which a viewer ends the run.
    pub(in crate::run) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.watching.stop)
    }
}

impl<T: Number> Drive<'_, T> {
    /// Looks at what viewers want, if there may be some; returns how many steps may be done at once, none if the run is paused.
    pub(in crate::run) fn look(&mut self) -> Result<u64, Ended> {
        let Some(watched) = &mut self.watched else {
            return Ok(u64::MAX);
        };
        let last = self
            .simulation
            .step_count()
            .saturating_add(steps_left(&self.problem, &self.simulation));
        Ok(match watched.watching.look(&self.simulation, last)? {
            Turn::Go => u64::MAX,
            Turn::One => 1,
            Turn::Wait => 0,
            Turn::Set { name, value, answer } => {
                let result = self.change(&name, value);
                let step = self.simulation.step_count();
                // Whoever has left misses nothing.
                let _ = answer.send(result.map(|()| step).map_err(|ended| ended.message));
                0
            }
        })
    }

    /// Goes on with another value of a parameter, as a run that is restarted from here by it would; or as before, if that is
    /// refused.
    fn change(&mut self, name: &str, value: f64) -> Result<(), Ended> {
        let Some(watched) = &self.watched else {
            return Ok(());
        };
        let found = self.simulation.params().find(|(known, _)| *known == name);
        let Some((_, from)) = found.filter(|(_, from)| *from != value) else {
            return Ok(());
        };
        let mut values: Vec<(String, f64)> =
            self.changed.iter().map(|change| (change.param.clone(), change.to)).collect();
        values.push((name.to_string(), value));
        let (problem, mut simulation) = watched.renew.with(&values)?;
        simulation.go_on_from(&mut self.simulation)?;
        simulation.check_length()?;
        let step = simulation.step_count();
        let own = problem.run_id()?;
        simulation.set_run_id(branched(&own, self.simulation.run_id(), step));
        let change = Changed { step, t: simulation.t(), param: name.to_string(), from, to: value };
        self.files.remark(&change.line())?;
        self.changed.push(change);
        (self.problem, self.simulation) = (problem, simulation);
        if let Some(watched) = &self.watched {
            watched.watching.changed(&self.simulation, &self.changed);
        }
        Ok(())
    }
}
