//! The frames of a run: their times, and their way into files.

use std::path::Path;

use stencil_runtime::problem::{Output, Problem, TimeStep};
use stencil_runtime::{Frames, Number, Simulation};

use super::Ended;
use super::files::Files;

/// Part of a step by which a time may be missed through rounding.
const ROUNDING: f64 = 1e-6;

/// Decides which steps are frames: each one of a number, or the first that ends at or after each multiple of a time.
#[derive(Clone, Copy, Debug)]
struct Due {
    every: Option<u64>,
    every_time: Option<f64>,
    /// Multiples of the time that have passed.
    passed: u64,
}

impl Due {
    /// Begins after a step that ends at a time; multiples up to it have their frames, or had them in an earlier run.
    fn after(output: &Output, t: f64, dt: f64) -> Self {
        let due = Due { every: output.every, every_time: output.every_time, passed: 0 };
        Due { passed: due.passed_at(t, dt), ..due }
    }

    fn passed_at(&self, t: f64, dt: f64) -> u64 {
        // Before the first step its length may be unknown.
        let rounding = if dt.is_finite() { ROUNDING * dt } else { 0.0 };
        self.every_time.map_or(0, |time| ((t + rounding) / time).max(0.0) as u64)
    }

    /// Is the step that has ended at this time a frame?
    fn is_due(&mut self, step: u64, t: f64, dt: f64) -> bool {
        let passed = self.passed_at(t, dt);
        let is_next = passed > self.passed;
        self.passed = self.passed.max(passed);
        is_next || self.every.is_some_and(|every| step.is_multiple_of(every))
    }

    /// Returns a number of steps from here of which none but the last may be a frame. Lengths are known if they are fixed.
    fn steps_until(&self, step: u64, t: f64, fixed: Option<f64>) -> u64 {
        let by_time = self.every_time.map(|time| {
            let next = self.passed.saturating_add(1) as f64 * time;
            let steps = fixed.map_or(0.0, |dt| (next - t) / dt - 1.0);
            (steps.max(1.0)) as u64
        });
        let by_step = self.every.map(|every| every - step % every);
        by_time.into_iter().chain(by_step).min().unwrap_or(u64::MAX)
    }
}

/// The frames of a run that has some.
#[derive(Debug)]
pub(super) struct RunFrames {
    frames: Frames,
    due: Due,
}

impl RunFrames {
    /// Begins the frames of a run from the state of a simulation on, if the problem has frames; the state itself is one if
    /// the run is new.
    pub(super) fn begin<T: Number>(
        problem: &Problem,
        simulation: &Simulation<T>,
        files: &mut Files,
        is_new: bool,
    ) -> Result<Option<Self>, Ended> {
        if !problem.output.has_frames() {
            return Ok(None);
        }
        let folder = files.folder().unwrap_or(Path::new("")).to_path_buf();
        let frames = simulation.frames(&problem.output.choice(), &folder, &[], files.go_on())?;
        let due = Due::after(&problem.output, simulation.t(), simulation.dt());
        let mut begun = RunFrames { frames, due };
        if is_new {
            begun.write(problem, simulation, files)?;
        }
        Ok(Some(begun))
    }

    /// Returns a number of steps from here of which none but the last may be a frame.
    pub(super) fn steps_until<T: Number>(
        &self,
        problem: &Problem,
        simulation: &Simulation<T>,
    ) -> u64 {
        let fixed = match problem.time.dt {
            TimeStep::Fixed(dt) => Some(dt),
            TimeStep::Cfl(_) | TimeStep::Auto => None,
        };
        self.due.steps_until(simulation.step_count(), simulation.t(), fixed)
    }

    /// Hands the state of a step over, if it is a frame; tells whether an earlier frame has failed.
    pub(super) fn after_step<T: Number>(
        &mut self,
        problem: &Problem,
        simulation: &Simulation<T>,
        files: &mut Files,
    ) -> Result<(), Ended> {
        self.frames.check()?;
        if self.due.is_due(simulation.step_count(), simulation.t(), simulation.dt()) {
            self.write(problem, simulation, files)?;
        }
        Ok(())
    }

    fn write<T: Number>(
        &mut self,
        problem: &Problem,
        simulation: &Simulation<T>,
        files: &mut Files,
    ) -> Result<(), Ended> {
        for path in problem.write_frame(simulation, &mut self.frames)? {
            files.add(path);
        }
        Ok(())
    }

    /// Waits until all frames are in files.
    pub(super) fn finish(self) -> Result<(), Ended> {
        Ok(self.frames.finish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::Due;

    fn due(every_time: f64) -> Due {
        Due { every: None, every_time: Some(every_time), passed: 0 }
    }

    /// Ten steps of 0.01 end a little before 0.1.
    #[test]
    fn rounding_of_the_time_misses_no_frame() {
        let (mut due, mut t, mut found) = (due(0.1), 0.0, Vec::new());
        for step in 1..=100 {
            t += 0.01;
            if due.is_due(step, t, 0.01) {
                found.push(step);
            }
        }
        assert_eq!(found, [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]);
    }

    #[test]
    fn several_steps_at_once_never_pass_a_frame() {
        for (dt, every_time) in [(0.01, 0.1), (0.003, 0.1), (0.7, 0.1), (0.1, 0.35)] {
            let (mut one, mut some) = (due(every_time), due(every_time));
            let (mut t, mut step, mut wanted, mut found) = (0.0, 0, Vec::new(), Vec::new());
            let mut left = 0;
            while step < 200 {
                if left == 0 {
                    left = some.steps_until(step, t, Some(dt));
                }
                (step, t, left) = (step + 1, t + dt, left - 1);
                if one.is_due(step, t, dt) {
                    wanted.push(step);
                }
                if left == 0 && some.is_due(step, t, dt) {
                    found.push(step);
                }
            }
            assert_eq!(found, wanted, "{dt} {every_time}");
            assert!(!found.is_empty());
        }
    }

    #[test]
    fn a_time_between_frames_that_is_too_short_makes_each_step_a_frame() {
        let mut due = due(1e-300);
        assert!(due.is_due(1, 0.1, 0.1));
        assert_eq!(due.steps_until(1, 0.1, Some(0.1)), 1);
    }

    #[test]
    fn a_run_that_goes_on_has_the_frames_of_one_that_did_not_end() {
        let mut whole = due(0.25);
        let steps: Vec<u64> =
            (1..=50).filter(|step| whole.is_due(*step, *step as f64 * 0.1, 0.1)).collect();
        for end in 1..50 {
            let mut again = Due { passed: due(0.25).passed_at(end as f64 * 0.1, 0.1), ..due(0.25) };
            let rest = (end + 1..=50).filter(|step| again.is_due(*step, *step as f64 * 0.1, 0.1));
            let wanted: Vec<u64> = steps.iter().copied().filter(|step| *step > end).collect();
            assert_eq!(rest.collect::<Vec<u64>>(), wanted, "{end}");
        }
    }
}
