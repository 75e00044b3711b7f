//! Several steps whose lengths follow from speeds, done by a device without the host in between.

use std::time::Instant;

use super::values::{by_host, samples};
use super::{Pace, Simulation};
use crate::step::{Asked, Several};
use crate::{Error, Number};

/// Steps that a device is asked for at once: in the beginning, and at least. It is asked for twice as many after
/// all of them were accepted, and for half as many after it stopped earlier, because it then does steps again.
pub(super) const FIRST: u64 = 8;
const LEAST: u64 = 4;

impl<T: Number> Simulation<T> {
    /// Does several adaptive steps, no more than `most` and up to the time `end`, if the device can. Returns whether it
    /// has done any: one that it has not done, the host does.
    pub(super) fn advance_adapting(&mut self, most: u64, end: f64) -> Result<bool, Error> {
        let Pace::Adaptive { number, most: longest, limit } = self.pace else {
            return Ok(false);
        };
        let checked = self.device.fields().domain.look_every as u64;
        let count = most.min(self.at_once).min(self.steps_before(end));
        let count = count.min(checked);
        let samples = |name: &str| samples(self.device.as_ref(), name);
        let has_source = by_host(&self.sources, samples).next().is_some();
        if count < LEAST || has_source {
            return Ok(false);
        }
        let start = Instant::now();
        self.check_ready()?;
        let asked = Asked { t: self.t, end, most: longest.unwrap_or(f64::INFINITY), number };
        let request = Several {
            asked,
            limit: limit.unwrap_or(f64::INFINITY),
            first: self.steps + 1,
            count: usize::try_from(count).unwrap_or(usize::MAX),
        };
        let mesh = &self.setup.mesh;
        let speeds = self.watch.as_ref().and_then(|w| w.steady_speeds::<T>(mesh));
        let Some((speeds, uniforms)) = speeds else {
            return Ok(false);
        };
        let done = self.device.adaptive_steps(speeds, &uniforms, &request);
        let Some((moments, after)) = done.map_err(|failure| self.fail(failure))? else {
            return Ok(false);
        };
        self.at_once = if moments.len() < request.count {
            (self.at_once / 2).max(LEAST)
        } else {
            (self.at_once * 2).min(checked.max(FIRST))
        };
        if let Some(last) = moments.last() {
            (self.steps, self.t, self.last_dt) = (last.step, after, last.dt);
        }
        self.timings.steps += start.elapsed();
        Ok(!moments.is_empty())
    }

    /// Returns the number of steps as long as the last one before the time `end`: none if no step was done yet.
    fn steps_before(&self, end: f64) -> u64 {
        match self.last_dt {
            dt if self.steps == 0 || dt <= 0.0 => 0,
            dt => ((end - self.t) / dt) as u64,
        }
    }
}
