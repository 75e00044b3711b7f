//! The parts of the time on the wall of a command.

use std::time::{Duration, Instant};

/// Parts of a time, one after the other.
#[derive(Debug)]
pub(super) struct Laps {
    /// The end of the last part.
    last: Instant,
    parts: Vec<(&'static str, f64)>,
}

impl Laps {
    /// Begins the first part.
    pub(super) fn since(begun: Instant) -> Self {
        Laps { last: begun, parts: Vec::new() }
    }

    /// Ends a part of this name.
    pub(super) fn end(&mut self, name: &'static str) {
        let took = self.took();
        self.parts.push((name, took.as_secs_f64()));
    }

    /// Ends two parts: so much of the time were steps, and the rest output.
    pub(super) fn end_of_steps(&mut self, steps: Duration) {
        let took = self.took();
        self.parts.push(("steps", steps.as_secs_f64()));
        self.parts
            .push(("files, observables and pictures", took.saturating_sub(steps).as_secs_f64()));
    }

    /// Returns the parts in seconds, with their names.
    pub(super) fn list(&self) -> &[(&'static str, f64)] {
        &self.parts
    }

    fn took(&mut self) -> Duration {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.last, now))
    }
}
