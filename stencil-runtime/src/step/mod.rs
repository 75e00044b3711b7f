//! A step as data: the actions of its substeps, its rules, and its failures.

mod actions;
mod clock;
mod observation;
mod plans;

pub(crate) use actions::{Action, Ghosts, actions};
#[cfg(test)]
pub(crate) use clock::tests;
pub(crate) use clock::{Asked, Length, Rules, Several, place};

pub(crate) use observation::{groups, halo_of, kind};
pub(crate) use plans::{Fused, Plans};

use crate::Error;
use crate::field::BadValue;

/// A step, so that it can be done again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Its number, from 1.
    pub(crate) step: u64,
    /// The time at its beginning.
    pub(crate) t: f64,
    /// Its length.
    pub(crate) dt: f64,
}

/// The reason why a step could not be done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A value is not finite.
    NotFinite {
        /// The value.
        bad: BadValue,
        /// The step that made it.
        moment: Moment,
        /// Its substep, from 0.
        substep: usize,
        /// The fields that the device has now.
        fields: After,
        /// Number of earlier steps that may have made it, too.
        unseen: u64,
    },
    /// Something else.
    Other(Error),
}

/// The fields that a device has after a step that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// The fields before the step.
    Step,
    /// The fields before the substep.
    Substep,
    /// Fields that the step has spoilt.
    Lost,
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Other(error.into())
    }
}
