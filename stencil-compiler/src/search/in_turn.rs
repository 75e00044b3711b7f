//! Schedules of schemes with many stored functions, such as waves that go on sideways: kernels of few results, one after
//! the other, so that each has registers enough, and later ones store into arrays that no kernel reads any more.

use std::collections::{BTreeMap, BTreeSet};

use super::joining::{Group, joined};
use super::narrow::places;
use super::passes::{by_need, work};
use crate::algorithm::{Algorithm, Def, FnId};
use crate::schedule::{Halo, Placement, Schedule, stored_together};

type Placements = BTreeMap<String, Placement>;

/// Returns the placements that store, in place of functions, the sums and products of them that all of their readers are,
/// if there are no more of these: the flux of a face with half of a correction and with the whole, in place of flux and correction.
/// A kernel then reads those that it needs.
pub(super) fn sums_of_stored(algorithm: &Algorithm, stored: Placements) -> Placements {
    let of: BTreeSet<FnId> = stored.keys().filter_map(|name| algorithm.find(name)).collect();
    let readers = readers(algorithm, &of);
    let fixed = fixed(algorithm);
    let is_result = |reader: &FnId| {
        let accesses = algorithm.function(*reader).def.accesses();
        !fixed.contains(reader) && accesses.iter().all(|a| a.at == [0; 3] && of.contains(&a.of))
    };
    let is_read_by_results = |id: &FnId| readers[id].iter().all(is_result);
    let mut placements = stored;
    let mut open: BTreeSet<FnId> = of.iter().copied().filter(is_read_by_results).collect();
    while let Some(first) = open.pop_first() {
        let (mut operands, mut results) = (BTreeSet::from([first]), BTreeSet::new());
        let mut next = vec![first];
        while let Some(id) = next.pop() {
            // An operand that is not stored has no readers here, and is not open.
            let own = readers.get(&id).into_iter().flatten();
            for reader in own.filter(|reader| results.insert(**reader)) {
                let read = algorithm.function(*reader).def.accesses().into_iter().map(|a| a.of);
                next.extend(read.filter(|of| operands.insert(*of)));
            }
        }
        let are_open = operands.iter().all(|id| *id == first || open.remove(id));
        if are_open && operands.len() > 1 && results.len() <= operands.len() {
            let name = |id: &FnId| algorithm.function(*id).name.clone();
            placements.retain(|placed, _| operands.iter().all(|id| name(id) != *placed));
            let global = Placement::Global(Halo::Exchange);
            placements.extend(results.iter().map(|id| (name(id), global)));
        }
    }
    placements
}

/// The functions that read each of these, of those that new values are made of.
fn readers(algorithm: &Algorithm, of: &BTreeSet<FnId>) -> BTreeMap<FnId, BTreeSet<FnId>> {
    let mut readers: BTreeMap<FnId, BTreeSet<FnId>> =
        of.iter().map(|id| (*id, BTreeSet::new())).collect();
    let updates = algorithm.substeps.iter().flat_map(|s| s.updates.iter().map(|(_, id)| *id));
    for id in places(algorithm, &updates.collect(), &BTreeSet::new()).into_keys() {
        for access in algorithm.function(id).def.accesses() {
            if let Some(readers) = readers.get_mut(&access.of) {
                readers.insert(id);
            }
        }
    }
    readers
}

/// Functions that cannot be stored: new values, and those made of accumulators.
fn fixed(algorithm: &Algorithm) -> BTreeSet<FnId> {
    let mut fixed = algorithm.made_of_accumulators();
    fixed.extend(algorithm.substeps.iter().flat_map(|s| s.updates.iter().map(|(_, id)| *id)));
    fixed
}

/// Returns the schedule, without blockings, that splits all kernels of stored functions by [need](by_need), and stores parts of
/// results with much work of their own by kernels before. `None` if there are no such parts.
pub(super) fn in_turn(algorithm: &Algorithm, placements: &Placements) -> Option<Schedule> {
    let mut schedule = Schedule::placing(placements.clone());
    let kernels = stored_together(algorithm, &schedule);
    let all: BTreeSet<FnId> = kernels.iter().flatten().copied().collect();
    let costs: Vec<u32> = algorithm.ids().map(|(id, _)| algorithm.cost(id)).collect();
    let mut has_parts = false;
    let works = kernels.iter().map(|kernel| work(algorithm, kernel, &all, &costs));
    let works: Vec<Vec<Group>> = works.collect();
    let most = works.iter().flatten().map(|group| group.cost).max()?;
    let is_large = |groups: &[Group]| groups.iter().any(|group| LEAST * group.cost >= most);
    for groups in works {
        let groups = if is_large(&groups) {
            by_need(groups, &costs)
        } else {
            joined(groups, 1, 0.0, &costs)
        };
        let mut passes = Vec::new();
        for group in groups {
            let parts = parts(algorithm, &group, &all, &costs);
            has_parts |= !parts.is_empty();
            passes.extend(parts.into_iter().chain([group]).map(|group| group.functions));
        }
        for (pass, functions) in passes.iter().enumerate() {
            for id in functions {
                let name = &algorithm.function(*id).name;
                schedule
                    .placements
                    .entry(name.clone())
                    .or_insert(Placement::Global(Halo::Exchange));
                if pass > 0 {
                    schedule.passes.insert(name.clone(), pass as u32);
                }
            }
        }
    }
    has_parts.then_some(schedule)
}

/// Functions that results of a kernel need in their own cell alone, each made of much that is evaluated elsewhere, too. They are
/// grouped by need: groups with a fifth to two thirds of the kernel's work, and no more functions than there are results. All
/// groups but the last: the kernel computes that one.
fn parts(algorithm: &Algorithm, of: &Group, stored: &BTreeSet<FnId>, costs: &[u32]) -> Vec<Group> {
    let roots: BTreeSet<FnId> = of.functions.iter().copied().collect();
    let others: BTreeSet<FnId> = stored.difference(&roots).copied().collect();
    let places = places(algorithm, &roots, &others);
    let is_here = |id: &FnId| places.get(id).is_some_and(|places| places.iter().eq([&[0; 3]]));
    let is_inner =
        |id: &FnId| !stored.contains(id) && !matches!(algorithm.function(*id).def, Def::State(_));
    let gathered = |id: FnId| {
        let accesses = algorithm.function(id).def.accesses().into_iter();
        let gathered = accesses.filter(|a| a.at != [0; 3] || !is_here(&a.of));
        gathered.map(|access| access.of).filter(is_inner)
    };
    let heavy = |functions: BTreeSet<FnId>| {
        let functions: Vec<FnId> = functions.into_iter().collect();
        let mut heavy = work(algorithm, &functions, stored, costs);
        heavy.retain(|group| LEAST * group.cost >= of.cost);
        heavy
    };
    let here: Vec<FnId> = places.keys().copied().filter(|id| is_inner(id) && is_here(id)).collect();
    let of_heavy = heavy(here.iter().flat_map(|id| gathered(*id)).collect());
    let of_heavy: BTreeSet<FnId> = of_heavy.iter().map(|group| group.functions[0]).collect();
    let gathers = |id: &FnId| gathered(*id).any(|of| of_heavy.contains(&of));
    let all = heavy(here.into_iter().filter(gathers).collect());
    let is_read = |id: FnId| all.iter().any(|g| g.functions[0] != id && g.needs(id));
    let read: BTreeSet<FnId> =
        all.iter().map(|g| g.functions[0]).filter(|id| is_read(*id)).collect();
    let last = all.into_iter().filter(|group| !read.contains(&group.functions[0]));
    let mut groups = by_need(last.collect(), costs);
    groups.retain(|group| {
        let has_share = 5 * group.cost >= of.cost && 3 * group.cost <= 2 * of.cost;
        has_share && group.functions.len() <= roots.len()
    });
    groups.pop();
    groups
}

/// The part of the work of a kernel below which a function is not worth an array.
const LEAST: u32 = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::text;

    fn algorithm(functions: &str) -> Algorithm {
        let source = format!(
            "algorithm Parts 2d scheme \"parts\" uniform c = 0.5 state q field fn q = state q
            {functions} substep {{ q = q_1 }}"
        );
        text::parse(&source).unwrap_or_else(|e| panic!("{e}"))
    }

    fn stored(names: &[&str]) -> Placements {
        let global = Placement::Global(Halo::Exchange);
        names.iter().map(|name| (name.to_string(), global)).collect()
    }

    #[test]
    fn sums_are_stored_in_place_of_as_many_operands() {
        let algorithm = algorithm(
            "fn flux = sum { + c * q[1,0,0], + q }
            fn correction = sum { + q[1,0,0], - q[-1,0,0] }
            fn half = sum { + flux, + correction }
            fn whole = sum { + flux, + c * correction }
            fn q_1 = sum { + q, + half, - half[-1,0,0], + whole[1,0,0] }",
        );
        let sums = sums_of_stored(&algorithm, stored(&["correction", "flux"]));
        assert_eq!(sums, stored(&["half", "whole"]));
        let one = stored(&["flux"]);
        assert_eq!(sums_of_stored(&algorithm, one.clone()), one);
    }

    #[test]
    fn a_part_with_work_of_its_own_goes_before() {
        let algorithm = algorithm(
            "fn a = sqrt(q) fn left = sum { + a[1,0,0], - a }
            fn b = sqrt(q + 1.0) fn right = sum { + b[0,1,0], - b }
            fn result = left * right
            fn q_1 = sum { + q, + result, - result[-1,0,0] }",
        );
        let schedule = in_turn(&algorithm, &stored(&["result"])).unwrap();
        assert_eq!(schedule.placements, stored(&["left", "result"]));
        assert_eq!(schedule.passes, BTreeMap::from([("result".to_string(), 1)]));
        assert_eq!(in_turn(&algorithm, &stored(&["a", "b"])), None);
    }
}
