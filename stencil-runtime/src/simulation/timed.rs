//! Times of steps as in a long run, measured in a short one.

use std::time::Instant;

use super::Simulation;
use crate::{Error, Number};

impl<T: Number> Simulation<T> {
    /// Returns the seconds of so many steps. Work that a card does once in some steps (keeping the fields, and
    /// checking that values are finite) counts by the share of these steps: a batch of large meshes has few.
    pub(crate) fn timed(&mut self, steps: u64) -> Result<f64, Error> {
        self.check_ready()?;
        self.settle()?;
        let begun = Instant::now();
        let period = self.device.keep_ahead()?;
        let kept = begun.elapsed();
        let begun = Instant::now();
        let end = self.steps.saturating_add(steps);
        while self.steps < end {
            self.step_some(end - self.steps, f64::INFINITY)?;
        }
        self.device.wait()?;
        let stepped = begun.elapsed();
        let begun = Instant::now();
        self.settle()?;
        let watched = kept + begun.elapsed();
        // Whole periods within the steps have done that work.
        let share = period.map_or(0.0, |period| match steps % period as u64 {
            0 => 1.0,
            left => left as f64 / period as f64,
        });
        Ok(stepped.as_secs_f64() + share * watched.as_secs_f64())
    }
}
