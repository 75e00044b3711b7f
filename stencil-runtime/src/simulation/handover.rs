//! A run that goes on from the state of another one.

use super::reschedule::take_fields;
use super::values::check_shape;
use super::{Pace, Simulation};
use crate::{Error, Number};

impl<T: Number> Simulation<T> {
    /// Goes on from the state of another run of the same system on the same mesh: its fields, its counts, its time, its steps and
    /// its name. Settings are those of this simulation, such as other parameters: all further steps have the bits of a run that
    /// was [restored](Self::restore) from that state.
    ///
    /// ```
    /// # use stencil_runtime::{Simulation, SystemDef};
    /// let heat = SystemDef::from_text("heat.pde", "
    ///     pub system Heat in 1d { field q: scalar; param k: real = 1; ddt(q) = k * lap(q); }
    /// ")?;
    /// let with = |k| Simulation::<f64>::builder(&heat).cells([16, 1, 1]).dt(1e-4).param("k", k).build();
    /// let mut slow = with(1.0)?;
    /// slow.set("q", |x, _, _| x * x)?;
    /// slow.run(5, |_, _| ())?;
    /// let mut fast = with(2.0)?;
    /// fast.go_on_from(&mut slow)?;
    /// assert_eq!((fast.step_count(), fast.t()), (5, slow.t()));
    /// assert_eq!(fast.field("q")?, slow.field("q")?);
    /// # Ok::<(), stencil_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// If components or cells differ, or the other run has failed.
    pub fn go_on_from(&mut self, other: &mut Self) -> Result<(), Error> {
        other.settle()?;
        if other.lost {
            return Err(Error::Lost);
        }
        let [nx, ny, nz] = other.cells();
        for name in other.components() {
            self.component(name)?;
            check_shape(name, self.cells(), (nz, ny, nx))?;
        }
        take_fields(self.device.as_mut(), other.device.as_ref())?;
        (self.t, self.steps, self.lost, self.is_set) = (other.t, other.steps, false, true);
        (self.rejected, self.run) = (other.rejected, other.run.clone());
        self.last_rejected.clone_from(&other.last_rejected);
        self.timings.steps += other.timings.steps;
        self.timings.time_step += other.timings.time_step;
        self.timings.sources += other.timings.sources;
        if !matches!(self.pace, Pace::Fixed(_)) {
            self.last_dt = other.dt();
        }
        // Steps that adapt keep the last length until the next one is found.
        if matches!(self.pace, Pace::Auto { .. }) && self.steps > 0 {
            self.go_on_with(self.last_dt);
        }
        Ok(())
    }
}
