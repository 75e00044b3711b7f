//! The lowering of each blocking strategy: one file each, listed in [`LOWERINGS`].

use super::Kernel;
use super::lower::Context;
use crate::schedule::Refusal;
use crate::schedule::strategies::{self, CHUNK, MOST_PLANES, Strategy};

mod direct;
mod lexicographic;
mod march;
mod plane;
mod rows;
mod tile3d;

/// Lowers a launch, or says why it cannot.
type Lower = fn(&Context<'_>) -> Result<Kernel, Refusal>;

/// Every strategy with its lowering.
const LOWERINGS: &[(&Strategy, Lower)] = &[
    (&strategies::rows::STRATEGY, rows::lower),
    (&strategies::direct::STRATEGY, direct::lower),
    (&strategies::lexicographic::STRATEGY, lexicographic::lower),
    (&strategies::tile3d::STRATEGY, tile3d::lower),
    (&strategies::march::STRATEGY, march::lower),
    (&strategies::plane::STRATEGY, plane::lower),
];

/// The chunk where the grid and the card are not known.
const ANY_CHUNK: u32 = 64;

/// Most threads of a block.
const MOST_THREADS: u32 = 1024;

/// Lowers a launch by a strategy.
///
/// # Errors
/// If the strategy cannot serve the launch.
pub(super) fn lower(strategy: &Strategy, context: &Context<'_>) -> Result<Kernel, Refusal> {
    let found = LOWERINGS.iter().find(|(of, _)| of.name == strategy.name);
    let (_, lower) = found.ok_or_else(|| format!("`{}` has no lowering", strategy.name))?;
    lower(context)
}

/// The planes of a chunk, where a schedule says this.
///
/// # Errors
/// If they are too many.
fn chunk(given: u32) -> Result<u32, Refusal> {
    match given {
        0 => Ok(ANY_CHUNK),
        1..=MOST_PLANES => Ok(given),
        _ => Err(Refusal::params(
            &[CHUNK.name],
            format!("`chunk={given}`: a block covers {MOST_PLANES} planes at most"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_has_a_lowering() {
        let names = |strategies: Vec<&'static Strategy>| strategies.into_iter().map(|s| s.name);
        let lowered = LOWERINGS.iter().map(|(strategy, _)| *strategy).collect();
        assert!(names(strategies::ALL.to_vec()).eq(names(lowered)));
    }
}
