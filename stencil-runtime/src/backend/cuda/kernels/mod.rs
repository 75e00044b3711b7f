//! Kernels on a card: the kernels of a plan, and the kernels that are the same for all systems.

pub(crate) mod builtin;
pub(crate) mod clock;
pub(crate) mod formulas;
pub(crate) mod ghosts;
pub(crate) mod grids;
pub(crate) mod info;
pub(crate) mod launch;
pub(crate) mod layers;
pub(crate) mod reduce;
pub(crate) mod sends;
