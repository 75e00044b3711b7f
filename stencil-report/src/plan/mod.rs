//! A whole step as one tree, with what each kernel costs and why its schedule was chosen over others.

mod alternatives;
mod analyze;
mod candidates;
mod cuts;
mod declared;
mod devices;
mod diff;
mod json;
mod pictures;
mod report;
mod scaling;
mod streamed;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod ways;

pub use analyze::card;
pub use candidates::Problem;
pub(crate) use candidates::{kind, spread};
pub(crate) use declared::{derived, ends};
pub use devices::Cluster;
pub use report::{Report, Wanted};
pub use scaling::{Asked, Forecast};
pub use streamed::Streaming;

/// Returns the cells of a report for which none are given: more than caches hold.
pub fn usual_cells(dimension: usize) -> [usize; 3] {
    match dimension {
        1 => [1 << 24, 1, 1],
        2 => [4096, 4096, 1],
        _ => [256; 3],
    }
}
