//! Searches among schedules: the heuristic and presets, the start of a search and its neighbours, samples of all legal
//! schedules, advice in place of an illegal one, and files of schedules that were found fast.

pub mod advice;
mod among;
mod case;
pub mod cuts;
mod evaluate_once;
mod factors;
pub mod heuristic;
mod in_turn;
mod joining;
mod least_cut;
mod narrow;
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

pub use among::among_devices;
pub use case::Case;
pub use neighbours::{first, neighbours, placements, reblocked};
pub use on::On;
