//! Steps that turn out too long for the speeds at their end: they are undone, and done again, shorter
//! (Ohannessian et al., CUDACLAW, section 4.1).

use super::{Pace, Simulation};
use crate::step::{Asked, Moment};
use crate::{Error, Number};

/// A step that turned out too long, and the speed at its end that was too high; see [`Simulation::last_rejected`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RejectedStep {
    /// The step, from 1.
    pub step: u64,
    /// The time at which it began.
    pub t: f64,
    /// Its length, which was too long.
    pub dt: f64,
    /// `advective`, `diffusive`, `dispersive` or `hyperdiffusive`: the speed that allowed the least length.
    pub speed: &'static str,
    /// The largest value of that speed at the end of the step, in the units of the run: a length to the power of 1, 2, 3 or
    /// 4, in the order above, by a time.
    pub value: f64,
    /// The cell with this value, the first one in order if several have it: x, y, z.
    pub cell: [usize; 3],
    /// Its coordinates, one for each axis of the system.
    pub at: Vec<f64>,
}

impl<T: Number> Simulation<T> {
    /// Returns the number of steps that turned out too long, and were undone and done again (see
    /// [`cfl_limit`](crate::Builder::cfl_limit)).
    pub fn rejected_steps(&self) -> u64 {
        self.rejected
    }

    /// Returns the last step that was undone, with the cell that was too fast at its end; `None` if none was. Each of
    /// several tries of one step counts. It is the same on the processor and on a card.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// let burst = SystemDef::from_text("burst.pde", "
    ///     pub system Burst in 1d {
    ///         field q: scalar;
    ///         ddt(q) = q^3;
    ///         cfl { advective: abs(q) }
    ///     }
    /// ")?;
    /// let run = Simulation::<f64>::builder(&burst).cells([8, 1, 1]).cfl(0.8).cfl_limit(0.9);
    /// let mut simulation = run.build()?;
    /// simulation.set("q", |x, _, _| if x == 0.625 { 2.0 } else { 1.0 })?;
    /// simulation.step()?;
    /// let last = simulation.last_rejected().unwrap();
    /// assert_eq!((last.step, last.speed, last.cell), (1, "advective", [5, 0, 0]));
    /// assert!(last.value > 2.0 && last.at == [0.625]);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    pub fn last_rejected(&self) -> Option<&RejectedStep> {
        self.last_rejected.as_ref()
    }

    /// Returns, after a step, the length that the speeds at its end allow, if it was too long; notes the step then.
    pub(super) fn shorter(&mut self, done: Moment) -> Result<Option<f64>, Error> {
        let Pace::Adaptive { number, limit: Some(limit), .. } = self.pace else {
            return Ok(None);
        };
        // A value that is not finite is reported before its speed.
        self.settle()?;
        let at = |number: f64| Asked { t: self.t, end: f64::INFINITY, most: f64::INFINITY, number };
        let (wanted, longest) = (at(number), at(limit));
        let (speeds, allowed, _) = self.found(wanted)?;
        let longest = self.rules.step(longest, &speeds).dt;
        if done.dt <= longest {
            return Ok(None);
        }
        self.last_rejected = Some(self.too_long(done, &speeds)?);
        Ok(Some(allowed.dt))
    }

    /// Returns a step that was too long for these speeds, which are those of the fields.
    fn too_long(&mut self, done: Moment, speeds: &[f64]) -> Result<RejectedStep, Error> {
        let Moment { step, t, dt } = done;
        let Some(watch) = &self.watch else {
            return Err(Error::Bug("a step was too long without speeds".into()));
        };
        let strictest = self.rules.strictest(speeds);
        let device = self.device.as_mut();
        let (speed, cell) = watch.fastest(strictest, device, &self.setup.mesh, self.t)?;
        Ok(RejectedStep {
            value: speeds[strictest],
            at: self.point(cell),
            step,
            t,
            dt,
            speed,
            cell,
        })
    }

    /// Returns the error of a step that was given up after so many tries; the last one allowed this length.
    pub(super) fn given_up(&self, times: u32, dt: f64) -> Error {
        let bug = || Error::Bug("a step was given up that was not too long".into());
        let last = self.last_rejected.clone();
        last.map_or_else(bug, |last| Error::StepRejected { times, dt, last: Box::new(last) })
    }

    /// Undoes the step that was just done.
    pub(super) fn undo(&mut self) -> Result<(), Error> {
        match self.device.undo()? {
            true => Ok(()),
            false => Err(Error::Bug("the fields before a step were not kept".into())),
        }
    }
}
