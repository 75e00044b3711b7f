//! Stored functions by their traffic: an array that is written and read again takes the time of many operations, and so
//! may be worth less than all that is evaluated again at several places without it. Of all that a kernel could store,
//! the cut between the new values and the fields that costs least is narrow: sums of many products in place of these.

use std::collections::{BTreeMap, BTreeSet};

use super::least_cut::{Graph, NEVER};
use crate::algorithm::{Algorithm, Def, FnId, Offset};
use crate::schedule::{Halo, Placement};

/// Operations that an array is taken for, one choice after the other. Writing and reading a value takes a recent card the
/// time of 60 to 90 instructions. With less, kernels are shorter and need fewer registers; with more, there are fewer of them.
pub(super) const WORDS: [u32; 3] = [50, 100, 200];

/// The placements that store the functions of least cost, if an array costs `word` operations: the last kernel reads
/// those of one cut, the kernel that computes these reads those of the next, and so on. Each cut spares all kernels behind it,
/// so that states which several of them need are stored, too.
pub(super) fn narrow(algorithm: &Algorithm, word: u32) -> BTreeMap<String, Placement> {
    let updates = algorithm.substeps.iter().flat_map(|s| s.updates.iter());
    let mut kernels: Vec<BTreeSet<FnId>> = vec![updates.map(|(_, id)| *id).collect()];
    let of_accumulators = algorithm.made_of_accumulators();
    let mut nearer = BTreeSet::new();
    let mut stored = BTreeSet::new();
    loop {
        let cut = cut(algorithm, &kernels, (&stored, &of_accumulators), word);
        if cut.is_empty() {
            let name = |id: &FnId| algorithm.function(*id).name.clone();
            let placed = stored.iter().map(|id| (name(id), Placement::Global(Halo::Exchange)));
            return placed.collect();
        }
        stored.extend(&cut);
        nearer.extend(cut);
        let next = farthest(algorithm, &nearer);
        nearer.retain(|id| !next.contains(id));
        kernels.push(next);
    }
}

/// The functions that cost least to store for kernels that evaluate these roots and read `stored` functions; none of `fixed` is
/// stored.
fn cut(
    algorithm: &Algorithm,
    kernels: &[BTreeSet<FnId>],
    (stored, fixed): (&BTreeSet<FnId>, &BTreeSet<FnId>),
    word: u32,
) -> BTreeSet<FnId> {
    let mut evaluations: BTreeMap<FnId, u32> = BTreeMap::new();
    for roots in kernels {
        let others = stored.difference(roots).copied().collect();
        for (id, places) in places(algorithm, roots, &others) {
            if !others.contains(&id) {
                *evaluations.entry(id).or_default() += places.len() as u32;
            }
        }
    }
    let is_root = |id: &FnId| kernels.iter().any(|roots| roots.contains(id));
    let mut graph = Graph::default();
    for (id, number) in evaluations {
        let evaluating = (number - 1) * algorithm.cost(id);
        if is_root(&id) {
            graph.add_root(algorithm, id, evaluating);
        } else if !matches!(algorithm.function(id).def, Def::State(_)) {
            let is_free = number > 1 && !fixed.contains(&id);
            let storing = if is_free { word } else { NEVER };
            graph.add(algorithm, id, [storing, evaluating]);
        }
    }
    graph.cut()
}

/// Those of the functions that evaluate at least half as many operations again as one of them does. The kernels before
/// may compute the others.
fn farthest(algorithm: &Algorithm, functions: &BTreeSet<FnId>) -> BTreeSet<FnId> {
    let again = |root: &FnId| {
        let places = places(algorithm, &BTreeSet::from([*root]), &BTreeSet::new()).into_iter();
        let again = places.map(|(id, places)| (places.len() as u32 - 1) * algorithm.cost(id));
        (*root, again.sum::<u32>())
    };
    let all: Vec<(FnId, u32)> = functions.iter().map(again).collect();
    let most = all.iter().map(|(_, again)| *again).max().unwrap_or(0);
    all.into_iter().filter(|(_, again)| 2 * again >= most).map(|(root, _)| root).collect()
}

/// The places around a cell at which each function is evaluated for roots in the cell, or read if it is `stored`.
pub(super) fn places(
    algorithm: &Algorithm,
    roots: &BTreeSet<FnId>,
    stored: &BTreeSet<FnId>,
) -> BTreeMap<FnId, BTreeSet<Offset>> {
    let mut all: BTreeMap<FnId, BTreeSet<Offset>> = BTreeMap::new();
    all.extend(roots.iter().map(|root| (*root, BTreeSet::from([[0; 3]]))));
    for (id, function) in algorithm.ids().collect::<Vec<_>>().into_iter().rev() {
        let Some(own) = all.get(&id).filter(|_| !stored.contains(&id)).cloned() else {
            continue;
        };
        for access in function.def.accesses() {
            let from = |at: &Offset| std::array::from_fn(|axis| at[axis] + access.at[axis]);
            all.entry(access.of).or_default().extend(own.iter().map(from));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Target, compile};
    use crate::discretize::discretize;
    use crate::model::parse;
    use crate::schedule::{Blocking, Schedule};
    use crate::search::heuristic;

    fn algorithm(text: &str) -> Algorithm {
        discretize(&parse::parse_str(text).unwrap()).unwrap()
    }

    #[test]
    fn the_narrowest_of_a_chain_is_stored() {
        // `b` takes one array, what it is made of two; what follows it is cheap.
        let algorithm = algorithm(
            "system Chain in 1d { field q: scalar; field r: scalar; let p = exp(d[x](q)); let w = exp(d[x](r));
                let b = exp(p*w); ddt(q) = d[x](b); ddt(r) = d[x](b)*q; }
             scheme s for Chain { space: central<order = 2>; mixed: composed; time: euler; }",
        );
        let stored = narrow(&algorithm, WORDS[0]);
        assert_eq!(stored.keys().collect::<Vec<_>>(), ["b"]);
        assert!(narrow(&algorithm, 10_000).is_empty());
    }

    /// Solvers of first and of last fluxes both need the states that are moved to the middle of the step.
    #[test]
    fn states_that_several_kernels_need_are_stored() {
        let algorithm = algorithm(
            "system Water in 2d { conserved h: scalar; conserved m: vector; let u = m/h; let c = sqrt(h);
                let p = h^2/2; flux h -> m; flux m -> outer(m, u) + p*I; primitive { h; u; m = h*u; }
                average { h; u by sqrt(h); m = h*u; } waves { flow: u; sound: c; density: h; pressure: p; } }
             scheme s for Water { reconstruct: ppm in characteristic; riemann: roe; time: corner_transport; }",
        );
        let few = narrow(&algorithm, WORDS[0]);
        for name in ["h_x_lower_forecast", "h_x_upper_forecast", "m_y_y_upper_forecast"] {
            assert!(few.contains_key(name), "{few:?}");
        }
    }

    #[test]
    fn transverse_waves_are_made_of_few_arrays() {
        let algorithm = algorithm(
            "system Water in 2d { conserved h: scalar; conserved m: vector; let u = m/h; let c = sqrt(h);
                let p = h^2/2; flux h -> m; flux m -> outer(m, u) + p*I; primitive { h; u; m = h*u; }
                average { h; u by sqrt(h); m = h*u; } waves { flow: u; sound: c; density: h; pressure: p; } }
             scheme s for Water { reconstruct: waves<limiter = mc>; riemann: roe; time: euler; }",
        );
        let [all, few] =
            [heuristic::stored(&algorithm, Halo::Exchange), narrow(&algorithm, WORDS[2])];
        // For each axis the fluxes, the fluctuations, and those that leave sideways.
        assert_eq!(few.len(), 18, "{few:?}");
        assert!(3 * few.len() < all.len(), "{all:?}");
        let schedule = Schedule::placing(few);
        let schedule = schedule.blocked(&algorithm, Blocking::new("direct", &[]));
        let compiled = compile(&algorithm, &schedule, &Target::new(8)).unwrap();
        let read: Vec<usize> = compiled.plan.launches.iter().map(|l| l.inputs.len()).collect();
        assert_eq!(read, [3, 9, 15]);
    }
}
