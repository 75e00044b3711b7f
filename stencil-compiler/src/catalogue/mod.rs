//! The choices of the language by name, as data: one row each for functions, limiters, reconstructions, Riemann solvers,
//! time integrators and predictors. A model is checked against the rows; `discretize` has the code of each row.

pub mod centering;
pub(crate) mod functions;
pub mod integrators;
pub(crate) mod limiters;
pub mod operators;
pub mod predictors;
pub(crate) mod reconstructions;
pub(crate) mod riemann;
pub mod weights;

pub use centering::{Centering, Halves};
pub use functions::{Function, Rank};
