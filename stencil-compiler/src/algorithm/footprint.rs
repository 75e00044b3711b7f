//! Footprints: which points a grid function reads, as a matter of the algorithm and of what is
//! stored, before any schedule exists.

use std::collections::{BTreeMap, BTreeSet};

use super::{Access, Algorithm, Def, FnId, Offset};

/// The points read of each grid function, from the cell that is computed.
pub type Footprint = BTreeMap<FnId, BTreeSet<Offset>>;

/// The points of state functions and of `stored` functions that are read to compute `roots` at one
/// cell, where everything else is recomputed in place. A root that is stored is computed, not read.
pub fn footprint(alg: &Algorithm, roots: &[FnId], stored: &BTreeSet<FnId>) -> Footprint {
    let mut known: BTreeMap<FnId, Footprint> = BTreeMap::new();
    let mut out = Footprint::new();
    let is_read = |id: FnId| stored.contains(&id) || matches!(alg.function(id).def, Def::State(_));
    for id in needed(alg, roots, stored) {
        if !is_read(id) {
            let points = expand(&alg.function(id).def.accesses(), &known);
            known.insert(id, points);
        } else {
            known.insert(id, Footprint::from([(id, BTreeSet::from([[0; 3]]))]));
        }
    }
    for root in roots {
        match &alg.function(*root).def {
            Def::State(_) => add(&mut out, &known[root], [0; 3]),
            def @ (Def::Point(_) | Def::Sum(_)) => {
                add(&mut out, &expand(&def.accesses(), &known), [0; 3])
            }
        }
    }
    out
}

/// The functions that must be known to compute `roots`, in order of definition: the roots, what
/// they read, and so on down to state functions and `stored` ones.
pub fn needed(alg: &Algorithm, roots: &[FnId], stored: &BTreeSet<FnId>) -> BTreeSet<FnId> {
    let mut out = BTreeSet::new();
    let mut open: BTreeSet<FnId> = BTreeSet::new();
    for root in roots {
        out.insert(*root);
        open.extend(alg.function(*root).def.accesses().iter().map(|a| a.of));
    }
    while let Some(id) = open.pop_last() {
        let expanded = !stored.contains(&id) && !roots.contains(&id);
        if out.insert(id) && expanded {
            open.extend(alg.function(id).def.accesses().iter().map(|a| a.of));
        }
    }
    out
}

/// Minkowski sums of what each access reads with where it reads it.
fn expand(accesses: &[Access], known: &BTreeMap<FnId, Footprint>) -> Footprint {
    let mut out = Footprint::new();
    for access in accesses {
        add(&mut out, &known[&access.of], access.at);
    }
    out
}

fn add(out: &mut Footprint, points: &Footprint, shift: Offset) {
    for (id, offsets) in points {
        let moved = offsets
            .iter()
            .map(|o| [o[0] + shift[0], o[1] + shift[1], o[2] + shift[2]]);
        out.entry(*id).or_default().extend(moved);
    }
}

/// The largest component of any point, along each axis.
pub fn radius(footprint: &Footprint) -> [i32; 3] {
    let mut out = [0; 3];
    for offset in footprint.values().flatten() {
        for (largest, component) in out.iter_mut().zip(offset) {
            *largest = (*largest).max(component.abs());
        }
    }
    out
}

/// Number of points in the union over all functions.
pub fn points(footprint: &Footprint) -> usize {
    footprint.values().flatten().collect::<BTreeSet<_>>().len()
}
