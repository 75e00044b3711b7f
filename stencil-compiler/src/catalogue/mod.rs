//! The names that the language offers, as data: one row each for functions, derivative operators, limiters, reconstructions,
//! Riemann solvers and time integrators. A model is checked against the rows; `discretize` evaluates them.

pub(crate) mod functions;
pub mod integrators;
pub(crate) mod limiters;
pub mod operators;
pub(crate) mod reconstructions;
pub(crate) mod riemann;
pub mod weights;

pub use functions::{Function, Rank};
