//! Cuts of a step: if one kernel lacks registers or shared memory, another one goes first. It reads neighbours of some
//! fields only, gives these their new values if it can, and stores the values that the last kernel needs of their
//! neighbours, which it then reads in its own cell.

use std::collections::{BTreeMap, BTreeSet};

use super::heuristic::shared;
use crate::algorithm::footprint::{Bounds, bounds, bounds_of_each, needed};
use crate::algorithm::{Algorithm, Def, FnId, Role, StateId};
use crate::schedule::{Halo, Placement};

/// The number of cuts that are tried: those that leave the larger kernel the least work.
const MOST_CUTS: usize = 2;

/// Components beyond which only the first or the last ones are cut off: ranges between grow as the square of their number.
const MOST_INNER: usize = 24;

/// Operations that an array written and read again is taken for.
const STORING: u32 = 8;

/// A cut of a step into two kernels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cut {
    /// The functions that the first kernel stores.
    pub placements: BTreeMap<String, Placement>,
    /// The fields whose new values the last one computes, if the first computes any.
    pub passes: BTreeMap<String, u32>,
    /// All functions that the first kernel computes.
    pub first: BTreeSet<String>,
}

impl Cut {
    /// The placements of a march that also shares and carries as much of the rest as a rule allows.
    pub fn carried(
        &self,
        algorithm: &Algorithm,
        carry: fn(&Algorithm, &mut BTreeMap<String, Placement>),
    ) -> BTreeMap<String, Placement> {
        let mut placements = BTreeMap::new();
        if algorithm.dimension > 1 {
            placements = shared(algorithm);
            placements.retain(|name, _| !self.first.contains(name));
        }
        placements.extend(self.placements.clone());
        if algorithm.dimension > 1 {
            carry(algorithm, &mut placements);
        }
        placements
    }

    /// The placements of the last kernel among these, and those that the first kernel stores.
    pub fn only_later(
        &self,
        placements: &BTreeMap<String, Placement>,
    ) -> BTreeMap<String, Placement> {
        let mut later = placements.clone();
        later.retain(|name, _| self.placements.contains_key(name) || !self.first.contains(name));
        later
    }
}

/// The best cuts, which part fields that are declared one after the other from the others. None if the larger kernel
/// would have nearly all of the work.
pub fn cuts(algorithm: &Algorithm) -> Vec<Cut> {
    let Some(step) = Step::new(algorithm) else {
        return Vec::new();
    };
    let number = step.fields.len();
    let ranges = (0..number).flat_map(|begin| (begin + 1..=number).map(move |end| begin..end));
    let is_tried = |range: &std::ops::Range<usize>| {
        let at_end = range.start == 0 || range.end == number;
        range.len() < number && (at_end || number <= MOST_INNER)
    };
    let parts = ranges.filter(is_tried);
    let mut found: Vec<(u32, Cut)> = parts.filter_map(|range| step.cut(range)).collect();
    found.sort();
    found.dedup();
    found.truncate(MOST_CUTS);
    found.into_iter().map(|(_, cut)| cut).collect()
}

/// The last substep, which is like all others.
struct Step<'a> {
    algorithm: &'a Algorithm,
    /// Components of fields: the state, its old value, and the new values of it and of its accumulator.
    fields: Vec<(StateId, FnId, Vec<FnId>)>,
    /// Fields that each function needs at other cells.
    beside: BTreeMap<FnId, BTreeSet<FnId>>,
    /// Functions that only the last kernel can compute.
    of_accumulators: BTreeSet<FnId>,
}

impl<'a> Step<'a> {
    fn new(algorithm: &'a Algorithm) -> Option<Self> {
        let substep = algorithm.substeps.len().checked_sub(1)?;
        let updates = &algorithm.substeps[substep].updates;
        let components: Vec<StateId> = algorithm.states_of(Role::Field).map(|(id, _)| id).collect();
        let pass = |state: &StateId| algorithm.state(*state).name.clone();
        let apart = components.iter().map(pass).zip(0..).collect();
        let groups = crate::schedule::passes::of_updates(algorithm, substep, &apart);
        let mut fields = Vec::new();
        for (at, state) in components.iter().enumerate() {
            let is_old = |def: &Def| matches!(def, Def::State(of) if of == state);
            let (old, _) = algorithm.ids().find(|(_, f)| is_old(&f.def))?;
            let own = updates.iter().zip(&groups).filter(|(_, group)| **group == at);
            fields.push((*state, old, own.map(|((_, id), _)| *id).collect()));
        }
        let roots: Vec<FnId> = updates.iter().map(|(_, id)| *id).collect();
        let elsewhere = |(id, read): (FnId, BTreeMap<FnId, Bounds>)| {
            let elsewhere = read.into_iter().filter(|(_, points)| !points.is_here());
            (id, elsewhere.map(|(of, _)| of).collect())
        };
        let each = bounds_of_each(algorithm, &roots).into_iter();
        let beside = each.map(elsewhere).collect();
        Some(Step { algorithm, fields, beside, of_accumulators: algorithm.made_of_accumulators() })
    }

    /// The cut that parts some fields from the others, and how good it is: less is better.
    fn cut(&self, range: std::ops::Range<usize>) -> Option<(u32, Cut)> {
        let inside: BTreeSet<FnId> = self.fields[range.clone()].iter().map(|f| f.1).collect();
        let updates = |own: bool| -> Vec<FnId> {
            let fields = self.fields.iter().enumerate();
            let chosen = fields.filter(|(at, _)| range.contains(at) == own);
            chosen.flat_map(|(_, f)| f.2.iter().copied()).collect()
        };
        let (mut first, mut last) = (updates(true), updates(false));
        let mut stored = self.frontier(&last, &inside);
        // Ghost cells of stored functions may have to be computed; those of new values may not.
        let is_closed = first.iter().all(|id| self.beside[id].is_subset(&inside))
            && !self.reads_elsewhere(&last, &stored);
        if !is_closed {
            last.append(&mut first);
            stored = self.frontier(&last, &inside);
        }
        // More would cost more traffic than reading the fields twice.
        if !(1..=self.fields.len()).contains(&stored.len()) {
            return None;
        }
        let none = BTreeSet::new();
        first.extend(&stored);
        let works = [self.work(&first, &none), self.work(&last, &stored)];
        let whole = self.work(&[first.clone(), last.clone()].concat(), &none);
        let larger = works[0].max(works[1]);
        if larger * 5 > whole * 4 {
            return None;
        }
        let name = |id: &FnId| self.algorithm.function(*id).name.clone();
        let placed = stored.iter().map(|id| (name(id), Placement::Global(Halo::Exchange)));
        let later = self.fields.iter().filter(|f| is_closed && !inside.contains(&f.1));
        let later = later.map(|(state, ..)| (self.algorithm.state(*state).name.clone(), 1));
        let early = needed(self.algorithm, &first, &none);
        let cut = Cut {
            placements: placed.collect(),
            passes: later.collect(),
            first: early.iter().map(name).collect(),
        };
        Some((larger + STORING * stored.len() as u32, cut))
    }

    /// The last functions on the way to `roots` that need neighbours of no other fields.
    fn frontier(&self, roots: &[FnId], inside: &BTreeSet<FnId>) -> BTreeSet<FnId> {
        let mut frontier = BTreeSet::new();
        let mut open = roots.to_vec();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            let beside = &self.beside[&id];
            let stays = !beside.is_empty() && beside.is_subset(inside);
            if stays && !self.of_accumulators.contains(&id) {
                frontier.insert(id);
            } else if !beside.is_empty() {
                let accesses = self.algorithm.function(id).def.accesses();
                open.extend(accesses.into_iter().map(|access| access.of));
            }
        }
        frontier
    }

    /// Is any of these stored functions read at other cells on the way to `roots`?
    fn reads_elsewhere(&self, roots: &[FnId], stored: &BTreeSet<FnId>) -> bool {
        let read = bounds(self.algorithm, roots, stored);
        let mut of = read.iter().filter(|(id, _)| stored.contains(id));
        of.any(|(_, points)| !points.is_here())
    }

    fn work(&self, roots: &[FnId], stored: &BTreeSet<FnId>) -> u32 {
        let all = needed(self.algorithm, roots, stored).into_iter();
        let own = all.filter(|id| !stored.contains(id));
        own.map(|id| self.algorithm.cost(id)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discretize::discretize;
    use crate::model::parse;

    fn algorithm(text: &str) -> Algorithm {
        discretize(&parse::parse_str(text).unwrap()).unwrap()
    }

    #[test]
    fn what_neighbours_of_few_fields_give_is_stored_and_their_values_are_renewed_with_it() {
        // `w` is cut off: `q` needs its neighbours only in a product with its own value.
        let algorithm = algorithm(
            "pub system Two in 2d { field q: scalar; field w: scalar;
                ddt(q) = lap(q) + q*d[x](q)*d[y](q) + q*exp(lap(w) + d[x](w)*d[y](w));
                ddt(w) = lap(w)*(1 + q); }
             scheme s for Two { space: central<order = 6>; mixed: bidiagonal; time: rk3_williamson; }",
        );
        let cuts = cuts(&algorithm);
        let cut = cuts.first().expect("there is a cut");
        assert_eq!(cut.passes, BTreeMap::from([("q".to_string(), 1)]));
        let stored: Vec<&String> = cut.placements.keys().collect();
        assert_eq!(stored.len(), 1, "{stored:?}");
        let reads = bounds(&algorithm, &[algorithm.find(stored[0]).unwrap()], &BTreeSet::new());
        let names: Vec<&str> = reads.keys().map(|id| &algorithm.function(*id).name[..]).collect();
        assert!(names.contains(&"w"), "{names:?}");
    }

    #[test]
    fn one_field_is_not_cut() {
        let algorithm = algorithm(
            "pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
             scheme s for Heat { space: central<order = 6>; mixed: bidiagonal; time: euler; }",
        );
        assert!(cuts(&algorithm).is_empty());
    }
}
