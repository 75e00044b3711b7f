//! How long a step may be: the limit follows from the discrete problem and the integrator.
//!
//! | part | what it tells |
//! | --- | --- |
//! | [`Region`] | which rates an integrator follows without growth, from its tableau |
//! | [`Symbol`] | the rates of all waves on a mesh about a state, from the Algorithm, and the longest step that is stable for them |
//! | [`Apart`] | a conservation law as systems of differences, which tell how fast its waves are where nothing else does |
//! | [`speeds`] | how much of a step each declared speed takes, so that a step is an expression of speeds |
//!
//! Both limits are those of von Neumann: of problems with constant coefficients on a mesh without ends.

mod eigen;
mod faces;
mod law;
mod linear;
mod operators;
mod region;
mod speeds;
mod symbol;
#[cfg(test)]
mod tests;

pub use law::Apart;
pub use linear::State;
pub use region::Region;
pub use speeds::{Axes, Share, along_axes, beside_fluxes, integrators_for, keeps_ranges, speeds};
pub use symbol::{About, Linear, Longest, Symbol};
