//! Exact, manufactured and linearized solutions of the built-in systems.

mod conservation;
mod derivatives;
mod driven;
mod exact;
mod explosion;
mod integrators;
mod jets;
mod linear;
mod manufactured;
mod modes;
mod shear;
mod sound;
mod staggered;
pub(crate) mod support;
mod symbols;
