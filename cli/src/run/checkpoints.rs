//! States that a run writes on its way, the last few of which stay.

use std::fs;
use std::time::{Duration, Instant};

use stencil_runtime::problem::{Checkpoint, Problem};
use stencil_runtime::{Number, Simulation};

use super::Ended;
use super::files::Files;
use super::folder::{checkpoint_name, checkpoints};

/// The times of states.
#[derive(Debug)]
pub(super) struct Checkpoints {
    rule: Checkpoint,
    /// The time of the last step that was looked at.
    before: f64,
    /// The step of the last state.
    last: u64,
    /// When the next one is due by the clock.
    next: Option<Instant>,
}

impl Checkpoints {
    /// Begins at the state of a simulation, which needs no copy.
    pub(super) fn start<T: Number>(rule: Checkpoint, simulation: &Simulation<T>) -> Self {
        let (before, last) = (simulation.t(), simulation.step_count());
        Checkpoints { rule, before, last, next: next(&rule) }
    }

    /// Returns the number of steps between states.
    pub(super) fn every_steps(&self) -> Option<u64> {
        self.rule.every_steps
    }

    /// Is a state due by the clock of this process?
    pub(super) fn is_late(&self) -> bool {
        self.next.is_some_and(|next| Instant::now() >= next)
    }

    /// Is a state due after the steps up to this one?
    pub(super) fn is_due(&mut self, step: u64, t: f64) -> bool {
        let before = std::mem::replace(&mut self.before, t);
        self.rule.is_due(step, (before, t))
    }

    /// Writes the state, unless there is one of this step, and removes all but the last few.
    pub(super) fn write<T: Number>(
        &mut self,
        problem: &Problem,
        simulation: &Simulation<T>,
        files: &mut Files,
    ) -> Result<(), Ended> {
        let step = simulation.step_count();
        if step != self.last {
            let path = files.path(&checkpoint_name(step));
            problem.save_npz(simulation, &path)?;
            files.add(path);
            self.last = step;
            self.remove_early(files)?;
        }
        self.next = next(&self.rule);
        Ok(())
    }

    /// Removes early states: the new one is safe on the disk.
    fn remove_early(&self, files: &mut Files) -> Result<(), Ended> {
        let Some(folder) = files.folder() else {
            return Ok(());
        };
        let mut all = checkpoints(folder)?;
        all.sort_unstable();
        let keep = usize::try_from(self.rule.keep).unwrap_or(usize::MAX);
        let early = all.len().saturating_sub(keep);
        for (_, path) in all.drain(..early) {
            fs::remove_file(&path).map_err(|error| Ended::unwritten(&path, &error))?;
            files.forget(&path);
        }
        Ok(())
    }
}

fn next(rule: &Checkpoint) -> Option<Instant> {
    let after = Duration::try_from_secs_f64(60.0 * rule.every_minutes?).ok()?;
    Instant::now().checked_add(after)
}
