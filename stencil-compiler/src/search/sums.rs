//! Partial sums in kernels of their own: the decomposed method in its second form (Pekkilä et al.
//! 2017, Eqs. 14 to 18). The kernel that computes a stored function, such as the divergence, also
//! adds up all that needs no neighbour of it; the last kernel completes the sums.

use std::collections::{BTreeMap, BTreeSet};

use crate::algorithm::footprint::{bounds, needed};
use crate::algorithm::{Access, Algorithm, Atom, Def, FnId};
use crate::expr::{Node, Op};
use crate::schedule::{Halo, Placement};

const HERE: [i32; 3] = [0; 3];

/// Stores functions that are added to one that reads neighbours of a stored function, if they read no such neighbours
/// themselves, but neighbours of fields: the last kernel then reads one value in place of these.
pub(super) fn store_parts(algorithm: &Algorithm, placements: &mut BTreeMap<String, Placement>) {
    let is_stored = |p: &Placement| matches!(p, Placement::Global(_));
    let stored = placements.iter().filter(|(_, p)| is_stored(p));
    let stored: BTreeSet<FnId> = stored.filter_map(|(name, _)| algorithm.find(name)).collect();
    let sums = Sums::new(algorithm, stored);
    for part in sums.parts() {
        let name = algorithm.function(part).name.clone();
        placements.insert(name, Placement::Global(Halo::Exchange));
    }
}

struct Sums<'a> {
    algorithm: &'a Algorithm,
    stored: BTreeSet<FnId>,
    /// New values, which the last kernel always computes.
    roots: Vec<FnId>,
    /// Functions that the last kernel computes.
    last: BTreeSet<FnId>,
    /// Functions that earlier kernels compute.
    early: BTreeSet<FnId>,
    /// Functions that no earlier kernel can compute.
    of_accumulators: BTreeSet<FnId>,
}

impl<'a> Sums<'a> {
    fn new(algorithm: &'a Algorithm, stored: BTreeSet<FnId>) -> Self {
        let substeps = algorithm.substeps.iter();
        let updates = substeps.flat_map(|s| s.updates.iter().map(|(_, id)| *id));
        let roots: Vec<FnId> = updates.collect();
        let early: Vec<FnId> = stored.iter().copied().collect();
        Sums {
            algorithm,
            last: needed(algorithm, &roots, &stored),
            early: needed(algorithm, &early, &stored),
            roots,
            stored,
            of_accumulators: algorithm.made_of_accumulators(),
        }
    }

    fn parts(&self) -> BTreeSet<FnId> {
        let mut parts = BTreeSet::new();
        for id in self.last.iter().filter(|id| !self.stored.contains(id)) {
            let added = added(&self.algorithm.function(*id).def);
            if added.iter().any(|a| self.reaches_stored(a.of)) {
                parts.extend(added.iter().map(|a| a.of).filter(|of| self.is_part(*of)));
            }
        }
        parts
    }

    /// Does it read a stored function at other cells than its own?
    fn reaches_stored(&self, of: FnId) -> bool {
        let read = bounds(self.algorithm, &[of], &self.stored);
        let mut stored = read.iter().filter(|(id, _)| self.stored.contains(id));
        stored.any(|(_, points)| !points.is_here())
    }

    /// Can and should it be computed by an earlier kernel?
    fn is_part(&self, of: FnId) -> bool {
        let is_state = matches!(self.algorithm.function(of).def, Def::State(_));
        let taken = self.stored.contains(&of) || self.early.contains(&of);
        if is_state || taken || self.roots.contains(&of) || self.of_accumulators.contains(&of) {
            return false;
        }
        let mut readers = self.last.iter().filter(|id| !self.stored.contains(id));
        let read_here = readers.all(|reader| {
            let accesses = self.algorithm.function(*reader).def.accesses();
            accesses.iter().all(|a| a.of != of || a.at == HERE)
        });
        let read = bounds(self.algorithm, &[of], &self.stored);
        let gathers = read.values().any(|points| !points.is_here());
        read_here && gathers && !self.reaches_stored(of)
    }
}

/// The functions that a definition adds up unchanged in its own cell; empty if it has other operations.
fn added(def: &Def) -> Vec<Access> {
    let here = |access: &Access| access.at == HERE;
    match def {
        Def::State(_) => Vec::new(),
        Def::Sum(terms) => {
            let whole = terms.iter().filter(|t| t.factor.is_none());
            whole.map(|t| t.value).filter(here).collect()
        }
        Def::Point(expr) => {
            let access = |node: &Node<Atom>| match node {
                Node::Atom(Atom::Access(access)) => Some(Some(*access)),
                Node::Op(Op::Add, _) => Some(None),
                Node::Op(..) | Node::Lit(_) | Node::Atom(Atom::Uniform(_)) => None,
            };
            let nodes: Option<Vec<Option<Access>>> = expr.nodes.iter().map(access).collect();
            let accesses = nodes.unwrap_or_default().into_iter().flatten();
            accesses.filter(here).collect()
        }
    }
}
