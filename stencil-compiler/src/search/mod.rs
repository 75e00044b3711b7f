//! Searches among schedules: the heuristic and presets, where a search begins and the neighbours it goes to, samples of
//! all legal schedules, advice where one is illegal, and files of those that were found fast.

pub mod advice;
mod aligned;
pub mod cuts;
mod factors;
pub mod heuristic;
mod neighbours;
mod on;
pub mod passes;
pub mod plans;
pub mod presets;
mod refined;
pub mod space;
mod sums;
#[cfg(test)]
mod tests;
mod tiles;

pub use neighbours::{first, neighbours, placements, reblocked};
pub use on::On;
