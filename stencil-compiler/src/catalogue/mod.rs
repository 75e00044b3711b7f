//! The choices of the language by name, as data: one row each for functions, limiters, reconstructions, Riemann solvers
//! and time integrators. A model is checked against the rows; `discretize` has the code of each row.

pub(crate) mod functions;
pub mod integrators;
pub(crate) mod limiters;
pub mod operators;
pub(crate) mod reconstructions;
pub(crate) mod riemann;
pub mod weights;

pub use functions::{Function, Rank};
