//! Steps that turn out too long for the speeds at their end: they are undone, and done again, shorter
//! (Ohannessian et al., CUDACLAW, section 4.1).

use super::{Pace, Simulation};
use crate::backend::Machine;
use crate::clock::Asked;
use crate::{Error, Number};

impl<T: Number> Simulation<T> {
    /// After a step of this length: the one that the speeds at its end allow, if it was too long.
    pub(super) fn shorter(&mut self, dt: f64) -> Result<Option<f64>, Error> {
        let Pace::Adaptive {
            number,
            limit: Some(limit),
            ..
        } = self.pace
        else {
            return Ok(None);
        };
        // What is no number is told of before its speed.
        self.settle()?;
        let at = |number: f64| Asked {
            t: self.t,
            end: f64::INFINITY,
            most: f64::INFINITY,
            number,
        };
        let (wanted, longest) = (at(number), at(limit));
        let (speeds, allowed, _) = self.found(wanted)?;
        let longest = self.rules.step(longest, &speeds).dt;
        Ok((dt > longest).then_some(allowed.dt))
    }

    /// Undoes the step that was just done.
    pub(super) fn undo(&mut self) -> Result<(), Error> {
        let undone = match &mut self.machine {
            Machine::Cpu(machine) => machine.restore_last(),
            Machine::Cuda(machine) => machine.undo()?,
        };
        match undone {
            true => Ok(()),
            false => Err(Error::Bug("the fields before a step were not kept".into())),
        }
    }
}
