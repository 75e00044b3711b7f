//! The longest stable step, which follows from the discrete problem and the integrator.
//!
//! | part | content |
//! | --- | --- |
//! | [`Region`] | the rates that an integrator follows without growth, from its tableau |
//! | [`Symbol`] | the rates of all waves on a mesh about a state, from the Algorithm, and the longest step that is stable for them |
//! | [`SplitLaw`] | a conservation law as systems of differences, from which the speeds of its waves follow if nothing else tells them |
//! | [`outgoing`] | the part of a disturbance that leaves through a face, by the Jacobian of a law |
//! | [`speeds`] | the share of a step that each declared speed takes, so that a step is an expression of speeds |
//!
//! Both limits are those of von Neumann: of problems with constant coefficients on a mesh without ends.

mod courant;
mod faces;
mod law;
mod linear;
mod operators;
mod outgoing;
mod region;
mod speeds;
mod symbol;
#[cfg(test)]
mod tests;

pub use law::SplitLaw;
pub use linear::State;
pub use outgoing::{Matrix, is_complex, outgoing};
pub use region::Region;
pub use speeds::{Axes, Share, along_axes, beside_fluxes, integrators_for, keeps_ranges, speeds};
pub use symbol::{About, Linear, Longest, Symbol};
