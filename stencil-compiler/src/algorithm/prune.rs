//! Drops grid functions that no substep needs.

use super::{Access, Algorithm, Atom, Def, FnId};

/// The algorithm without unused functions; states stay.
pub(crate) fn prune(mut algorithm: Algorithm) -> Algorithm {
    let mut needed = vec![false; algorithm.functions.len()];
    for (i, f) in algorithm.functions.iter().enumerate() {
        needed[i] = matches!(f.def, Def::State(_));
    }
    for substep in &algorithm.substeps {
        for (_, id) in &substep.updates {
            needed[id.0 as usize] = true;
        }
    }
    for i in (0..needed.len()).rev() {
        if needed[i] {
            for access in algorithm.functions[i].def.accesses() {
                needed[access.of.0 as usize] = true;
            }
        }
    }
    let mut moved = vec![FnId(0); needed.len()];
    let mut next = 0;
    for (i, needed) in needed.iter().enumerate() {
        if *needed {
            moved[i] = FnId(next);
            next += 1;
        }
    }
    let mut keep = needed.iter();
    algorithm.functions.retain(|_| *keep.next().unwrap_or(&true));
    for f in &mut algorithm.functions {
        f.def = map_reads(&f.def, |access| Access { of: moved[access.of.0 as usize], ..access });
    }
    for substep in &mut algorithm.substeps {
        for (_, id) in &mut substep.updates {
            *id = moved[id.0 as usize];
        }
    }
    algorithm
}

/// The definition with each access replaced.
pub(crate) fn map_reads(def: &Def, mut access: impl FnMut(Access) -> Access) -> Def {
    match def {
        Def::State(id) => Def::State(*id),
        Def::Point(expr) => Def::Point(expr.map_atoms(|atom| match atom {
            Atom::Access(a) => Atom::Access(access(*a)),
            Atom::Uniform(id) => Atom::Uniform(*id),
        })),
        Def::Sum(terms) => {
            let mut terms = terms.clone();
            for term in &mut terms {
                term.value = access(term.value);
            }
            Def::Sum(terms)
        }
    }
}
