//! Kernels on a card: those of a plan, and those that are the same for all systems.

pub(crate) mod builtin;
pub(crate) mod clock;
pub(crate) mod formulas;
pub(crate) mod ghosts;
pub(crate) mod info;
pub(crate) mod launch;
pub(crate) mod reduce;
