//! The kernels that the placements and passes of a schedule make of an algorithm.

use std::collections::{BTreeMap, BTreeSet};

use super::Schedule;
use crate::algorithm::footprint::{Bounds, bounds_by_root};
use crate::algorithm::{Algorithm, FnId};

/// Number of kernels of a substep that the placements and passes of a schedule make, where none is shared.
pub fn kernel_count(algorithm: &Algorithm, schedule: &Schedule) -> usize {
    stored_together(algorithm, schedule).len() + 1 + schedule.more_passes()
}

/// The same, if the kernels of its stored functions are known.
pub(crate) fn kernels_of(levels: &BTreeMap<FnId, usize>, schedule: &Schedule) -> usize {
    levels.values().max().map_or(0, |last| last + 1) + 1 + schedule.more_passes()
}

/// The stored functions that a schedule computes together, in order of execution.
pub fn stored_together(algorithm: &Algorithm, schedule: &Schedule) -> Vec<Vec<FnId>> {
    let names = algorithm.by_name();
    let placed = schedule.placements.keys();
    let stored = placed
        .filter(|name| schedule.stores(name))
        .filter_map(|name| names.get(name.as_str()).copied())
        .collect();
    let levels = levels(algorithm, &stored, &schedule.passes);
    let mut kernels = vec![Vec::new(); levels.values().max().map_or(0, |last| last + 1)];
    for (id, kernel) in levels {
        kernels[kernel].push(id);
    }
    kernels
}

/// The kernel in which each stored function is computed: with those that it reads in its own cell only, one after those
/// that it reads at other cells. Passes split functions that could be computed together.
pub(crate) fn levels(
    algorithm: &Algorithm,
    stored: &BTreeSet<FnId>,
    passes: &BTreeMap<String, u32>,
) -> BTreeMap<FnId, usize> {
    let mut levels: BTreeMap<FnId, (usize, u32)> = BTreeMap::new();
    let roots: Vec<FnId> = stored.iter().copied().collect();
    for (id, read) in stored.iter().zip(bounds_by_root(algorithm, &roots, stored)) {
        let after = |(below, points): (&FnId, &Bounds)| {
            let (level, pass) = *levels.get(below)?;
            Some(match points.is_here() {
                true => (level, pass),
                false => (level + 1, 0),
            })
        };
        let (level, least) = read.iter().filter_map(after).max().unwrap_or_default();
        let own = passes.get(&algorithm.function(*id).name).copied();
        levels.insert(*id, (level, own.unwrap_or(0).max(least)));
    }
    let kernels: BTreeSet<(usize, u32)> = levels.values().copied().collect();
    let kernel = |(id, own)| (id, kernels.range(..own).count());
    levels.into_iter().map(kernel).collect()
}
