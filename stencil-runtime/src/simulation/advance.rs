//! Time steps: their length, their substeps, and the end of a run.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::values::{by_host, sample, samples};
use super::{Pace, Sampled, Simulation};
use crate::backend::{Device, Renew};
use crate::step::{After, Asked, Failure, Length, Moment, Rules};
use crate::{Error, NotFinite, Number};

/// Tries of a step before it is given up.
const MOST_TRIES: u32 = 8;

/// The way a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All steps were done.
    Finished,
    /// The callback ended it.
    Stopped,
}

/// The result of a run's callback: nothing, or whether to go on.
pub trait Flow: sealed::Sealed {
    /// Does the run end here?
    fn ends(self) -> bool;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for std::ops::ControlFlow<()> {}
}

impl Flow for () {
    fn ends(self) -> bool {
        false
    }
}

impl Flow for ControlFlow<()> {
    fn ends(self) -> bool {
        self.is_break()
    }
}

/// The parts of the time of a run, by the clock on the wall.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// All steps, the following parts included.
    pub steps: Duration,
    /// Finding the length of adaptive time steps.
    pub time_step: Duration,
    /// Sampling of sources that change with time.
    pub sources: Duration,
    /// Looking for a [pick](crate::Pick) before the first step, which is no part of the steps.
    pub pick: Duration,
}

impl<T: Number> Simulation<T> {
    /// Does one time step.
    ///
    /// On a card values are checked after some steps, after [`run`](Self::run), and before observing or setting
    /// values: an error may come from a later call than the step that it names.
    ///
    /// # Errors
    /// If a new value is not finite; the fields are then those before the step, unless the
    /// simulation was built with `.keep_last(false)`. If the speeds give no time step.
    pub fn step(&mut self) -> Result<(), Error> {
        self.advance(f64::INFINITY)
    }

    /// Does one time step, which is shortened if it would go beyond the time `end`. Does nothing at that time or
    /// later.
    ///
    /// # Errors
    /// See [`step`](Self::step).
    pub fn step_until(&mut self, end: f64) -> Result<(), Error> {
        if self.t < end {
            self.advance(end)?;
        }
        Ok(())
    }

    /// Does as many time steps as the schedule does at once ([`fuse`](stencil_compiler::schedule::Schedule::fuse)), if
    /// that is no more than `most` and none of them has to be shortened because of the time `end`; or several steps whose
    /// length a card finds by itself; one step otherwise. Does nothing at that time or later. Returns the number of steps.
    ///
    /// # Errors
    /// See [`step`](Self::step).
    pub fn step_some(&mut self, most: u64, end: f64) -> Result<u64, Error> {
        self.use_pick()?;
        self.use_program()?;
        let before = self.steps;
        if most > 0 && self.t < end {
            match self.moments(most, end) {
                Some((moments, after)) => self.advance_at_once(&moments, after)?,
                None if self.advance_adapting(most, end)? => {}
                None => self.advance(end)?,
            }
        }
        Ok(self.steps - before)
    }

    /// Does some time steps; `progress` gets the step and the time after each, or after as many as are [done at
    /// once](Self::step_some). It may return a [`ControlFlow`] to end the run between two steps, for example after a
    /// signal.
    ///
    /// ```
    /// # use stencil_runtime::{Outcome, Simulation, SystemDef};
    /// use std::ops::ControlFlow;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// # let heat = SystemDef::from_text("heat.pde", "
    /// #     pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
    /// #     scheme s for Heat { space: central<order = 2>; mixed: bidiagonal; time: euler; }")?;
    /// # let mut simulation = Simulation::<f64>::builder(&heat).cells([8, 1, 1]).dt(1e-3).build()?;
    /// static STOP: AtomicBool = AtomicBool::new(false);
    /// let outcome = simulation.run(1000, |step, _| {
    ///     STOP.store(step == 10, Ordering::Relaxed); // as a signal handler would
    ///     if STOP.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    /// })?;
    /// assert_eq!((outcome, simulation.step_count()), (Outcome::Stopped, 10));
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// See [`step`](Self::step).
    pub fn run<F: Flow>(
        &mut self,
        steps: u64,
        mut progress: impl FnMut(u64, f64) -> F,
    ) -> Result<Outcome, Error> {
        let end = self.steps.saturating_add(steps);
        while self.steps < end {
            self.step_some(end - self.steps, f64::INFINITY)?;
            if progress(self.steps, self.t).ends() {
                self.settle()?;
                return Ok(Outcome::Stopped);
            }
        }
        self.settle()?;
        Ok(Outcome::Finished)
    }

    /// Does time steps up to the time `end`, at which the last one ends exactly: it is shortened, or longer by a
    /// billionth if less than that would be left.
    ///
    /// # Errors
    /// See [`step`](Self::step); if `end` is not a number.
    pub fn run_until<F: Flow>(
        &mut self,
        end: f64,
        mut progress: impl FnMut(u64, f64) -> F,
    ) -> Result<Outcome, Error> {
        let help = "give a time to end at".to_string();
        crate::simulation::builder::number("the end of the run".into(), end, |_| true, help)?;
        while self.t < end {
            self.step_some(u64::MAX, end)?;
            if progress(self.steps, self.t).ends() {
                self.settle()?;
                return Ok(Outcome::Stopped);
            }
        }
        self.settle()?;
        Ok(Outcome::Finished)
    }

    /// Returns the next steps that are done at once, if they can be, and the time after them.
    fn moments(&self, most: u64, end: f64) -> Option<(Vec<Moment>, f64)> {
        let Pace::Fixed(dt) = self.pace else {
            return None;
        };
        let count = self.device.steps_at_once()?;
        let asked = Asked { end, ..Asked::given(self.t, dt) };
        let fits = count as u64 <= most;
        fits.then(|| alike(&self.rules, asked, self.steps, count)).flatten()
    }

    /// Does steps that a device does at once.
    fn advance_at_once(&mut self, moments: &[Moment], after: f64) -> Result<(), Error> {
        let start = Instant::now();
        self.check_ready()?;
        let done = self.device.steps(moments);
        done.map_err(|failure| self.fail(failure))?;
        if let Some(Moment { step, dt, .. }) = moments.last() {
            (self.steps, self.t, self.last_dt) = (*step, after, *dt);
        }
        self.timings.steps += start.elapsed();
        Ok(())
    }

    fn advance(&mut self, end: f64) -> Result<(), Error> {
        let start = Instant::now();
        self.check_ready()?;
        let mut most = f64::INFINITY;
        for _ in 0..MOST_TRIES {
            let (length, begun) = self.next_step(end, most)?;
            let Length { dt, end: after } = length;
            if !dt.is_finite() || self.t + dt == self.t {
                return Err(Error::NoTimeStep { t: self.t, dt });
            }
            let moment = self.moment(dt);
            if let Err(failure) = self.do_step(dt, begun) {
                return Err(self.fail(failure));
            }
            self.steps += 1;
            let before = std::mem::replace(&mut self.t, after);
            let Some(shorter) = self.shorter(moment)? else {
                if !matches!(self.pace, Pace::Auto { .. }) {
                    self.last_dt = dt;
                }
                self.timings.steps += start.elapsed();
                return Ok(());
            };
            self.undo()?;
            (self.t, most) = (before, shorter);
            self.steps -= 1;
            self.rejected += 1;
        }
        Err(self.given_up(MOST_TRIES, most))
    }

    /// Checks the values that the user has set since the last step.
    pub(super) fn check_ready(&mut self) -> Result<(), Error> {
        if self.lost {
            return Err(Error::Lost);
        }
        if self.is_set {
            if let Some(bad) = self.device.first_not_finite()? {
                return Err(Error::Initial {
                    at: self.setup.mesh.point(bad.cell.map(|i| i as isize)),
                    field: bad.component,
                    cell: bad.cell,
                });
            }
            self.is_set = false;
            self.bound_values()?;
        }
        self.check_step()
    }

    /// Returns the length of the next step, no more than `cap`, and whether the device has found it and begun the
    /// step.
    fn next_step(&mut self, end: f64, cap: f64) -> Result<(Length, bool), Error> {
        let (number, most) = match self.pace {
            Pace::Fixed(dt) => return Ok((self.given(dt, end), false)),
            Pace::Auto { most } => {
                let dt = self.automatic(most)?.min(cap);
                return Ok((self.given(dt, end), false));
            }
            Pace::Adaptive { number, most, .. } => (number, most.unwrap_or(f64::INFINITY).min(cap)),
        };
        let start = Instant::now();
        let t = self.t;
        let asked = Asked { t, end, most, number };
        let found = self.found(asked);
        self.timings.time_step += start.elapsed();
        if found.is_err() {
            // A bad value that a card has made explains more than its speed.
            self.settle()?;
        }
        found.map(|(_, length, begun)| (length, begun))
    }

    /// Returns a step of this length, cut at the end.
    fn given(&self, dt: f64, end: f64) -> Length {
        let asked = Asked { end, ..Asked::given(self.t, dt) };
        self.rules.step(asked, &[])
    }

    /// Does the substeps of a step of this length, which the device may have begun.
    fn do_step(&mut self, dt: f64, begun: bool) -> Result<(), Failure> {
        let moment = self.moment(dt);
        let (device, mesh) = (self.device.as_mut(), &self.setup.mesh);
        let by_host = by_host(&self.sources, |name| samples(device, name));
        let by_host = by_host.filter_map(|(name, source)| {
            Some((name, device.fields().buffers.given(name)?, source))
        });
        let by_host: Vec<(&str, usize, &Sampled)> = by_host.collect();
        let took = &mut self.timings.sources;
        let mut renew = |device: &mut dyn Device<T>, t: f64| -> Result<(), Error> {
            let start = Instant::now();
            for (name, buffer, source) in &by_host {
                sample(device, (name, *buffer), source, (mesh, t))?;
            }
            *took += start.elapsed();
            Ok(())
        };
        let renew: Option<Renew<'_, T>> = match by_host.is_empty() {
            true => None,
            false => Some(&mut renew),
        };
        device.step(moment, begun, renew)
    }

    /// Returns a step that begins now.
    fn moment(&self, dt: f64) -> Moment {
        Moment { step: self.steps + 1, t: self.t, dt }
    }

    /// Waits for steps that a card has begun, and checks their values: what is saved then is good.
    ///
    /// # Errors
    /// If a value is not finite; the fields are then those before the step, as for [`step`](Self::step).
    pub fn settle(&mut self) -> Result<(), Error> {
        let checked = self.device.check();
        checked.map_err(|failure| self.fail(failure))
    }

    /// Returns the coordinates of a cell along the axes of the system.
    pub(super) fn point(&self, cell: [usize; 3]) -> Vec<f64> {
        let point = self.setup.mesh.point(cell.map(|i| i as isize));
        point[..self.system().model().dimension].to_vec()
    }

    /// Makes the error of a failure; time and step are those of the fields, if they were kept.
    pub(super) fn fail(&mut self, failure: Failure) -> Error {
        let (bad, moment, substep, fields, unseen) = match failure {
            Failure::Other(error) => return error,
            Failure::NotFinite { bad, moment, substep, fields, unseen } => {
                (bad, moment, substep, fields, unseen)
            }
        };
        let cause = self.cause(&bad, (moment, substep), fields);
        let kept = match fields {
            After::Step => true,
            After::Substep => self.device.undo().unwrap_or(false),
            After::Lost => false,
        };
        self.lost = !kept;
        (self.t, self.steps) = (moment.t, moment.step - 1);
        let system = self.system();
        let model = system.model();
        let ranges = model.ranges_text();
        let iterations = Some(model.iterations_text()).filter(|text| !text.is_empty());
        let remarks = Some(self.remarks().join("; ")).filter(|text| !text.is_empty());
        Error::NotFinite(Box::new(NotFinite {
            ranges: model.repairs().then_some(ranges),
            iterations,
            remarks,
            cause,
            equation: system.equation_of(&bad.component),
            at: self.point(bad.cell),
            cell: bad.cell,
            field: bad.component,
            most: self.device.fields().most().to_f64(),
            step: moment.step,
            substep: substep + 1,
            t: self.rules.time(substep, moment.t, moment.dt),
            kept: kept.then_some(self.steps),
            unseen,
        }))
    }
}

/// Returns so many steps after one of this number, if all of them have the same length: none is shortened or
/// lengthened because of the end. With them the time at which the last one ends.
fn alike(rules: &Rules, first: Asked, before: u64, count: usize) -> Option<(Vec<Moment>, f64)> {
    let mut moments: Vec<Moment> = Vec::with_capacity(count);
    let mut asked = first;
    for step in before + 1..=before + count as u64 {
        let t = asked.t;
        let Length { dt, end } = rules.step(asked, &[]);
        let is_alike = moments.first().is_none_or(|first| first.dt == dt);
        if t >= asked.end || !is_alike || !dt.is_finite() || t + dt == t {
            return None;
        }
        moments.push(Moment { step, t, dt });
        asked.t = end;
    }
    Some((moments, asked.t))
}

#[cfg(test)]
mod tests {
    use stencil_compiler::expr::Real;

    use super::*;
    use crate::SystemDef;

    fn rules() -> Rules {
        let heat = "pub system Heat in 1d { field q: scalar; ddt(q) = lap(q); }
            scheme s for Heat { space: central<order = 2>; time: euler; }";
        let heat = SystemDef::from_text("heat.pde", heat).unwrap();
        Rules::new(heat.algorithm(), &[], [1.0; 3], (f64::PRECISION, Vec::new()))
    }

    #[test]
    fn steps_are_done_at_once_where_all_have_one_length() {
        let rules = rules();
        let asked = |t: f64, end: f64| Asked { end, ..Asked::given(t, 0.25) };
        let (moments, after) = alike(&rules, asked(1.0, f64::INFINITY), 7, 3).unwrap();
        let steps: Vec<(u64, f64, f64)> = moments.iter().map(|m| (m.step, m.t, m.dt)).collect();
        assert_eq!(steps, [(8, 1.0, 0.25), (9, 1.25, 0.25), (10, 1.5, 0.25)]);
        assert_eq!(after, 1.75);
        // They equal steps that are done one by one.
        let one = |t: f64| rules.step(asked(t, 2.0), &[]);
        let (both, after) = alike(&rules, asked(1.5, 2.0), 0, 2).unwrap();
        assert_eq!((both[1].t, after), (one(1.5).end, one(1.75).end));
        // The second one is shortened, begins at the end, or ends beyond it by less than a billionth.
        for end in [1.9, 1.75, 2.0 + 1e-12] {
            assert!(alike(&rules, asked(1.5, end), 0, 2).is_none(), "{end}");
        }
        assert!(alike(&rules, asked(1e20, f64::INFINITY), 0, 2).is_none());
    }
}
