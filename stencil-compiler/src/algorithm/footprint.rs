//! Footprints: the points that a grid function reads. They follow from the algorithm and the stored functions, before
//! any schedule exists.

use std::collections::{BTreeMap, BTreeSet};

use super::{Algorithm, Def, FnId, Offset};

/// The points read of each grid function, relative to the computed cell.
pub type Footprint = BTreeMap<FnId, BTreeSet<Offset>>;

/// The box around the points that are read of a grid function, relative to the computed cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Least offset along each axis.
    pub low: Offset,
    /// Greatest offset along each axis.
    pub high: Offset,
}

impl Bounds {
    /// Is only the cell itself read?
    pub fn is_here(&self) -> bool {
        *self == Bounds::here()
    }

    /// Cells to the farthest point along each axis.
    pub fn radius(&self) -> [u32; 3] {
        [0, 1, 2].map(|a: usize| self.low[a].unsigned_abs().max(self.high[a].unsigned_abs()))
    }
}

/// Returns the points of state functions and of `stored` functions that are read to compute `roots` at one cell, with
/// everything else recomputed in place. A root that is stored is computed, not read.
pub fn footprint(alg: &Algorithm, roots: &[FnId], stored: &BTreeSet<FnId>) -> Footprint {
    let read = read_by::<Vec<Offset>>(alg, roots, stored).into_iter();
    read.map(|(id, points)| (id, points.into_iter().collect())).collect()
}

/// The boxes around the [`footprint`], without its points: fast for any number of them.
pub fn bounds(alg: &Algorithm, roots: &[FnId], stored: &BTreeSet<FnId>) -> BTreeMap<FnId, Bounds> {
    read_by(alg, roots, stored).into_iter().collect()
}

/// The [`bounds`] of each root by itself, in the order of the roots: much faster than one after the other.
pub fn bounds_by_root(
    alg: &Algorithm,
    roots: &[FnId],
    stored: &BTreeSet<FnId>,
) -> Vec<BTreeMap<FnId, Bounds>> {
    let known = known_by(alg, &is_needed(alg, roots, stored), stored);
    let each = roots.iter().map(|root| read_by_root(alg, *root, &known));
    each.map(|read| read.into_iter().collect()).collect()
}

/// The [`bounds`] of each of these functions by itself, with nothing stored.
pub fn bounds_of_each(alg: &Algorithm, roots: &[FnId]) -> BTreeMap<FnId, BTreeMap<FnId, Bounds>> {
    let all = is_needed(alg, roots, &BTreeSet::new());
    let known = known_by(alg, &all, &BTreeSet::new());
    ids(&all).map(|id| (id, known[id.0 as usize].iter().copied().collect())).collect()
}

/// The points that are read of each function, in the order of the functions.
type Reads<P> = Vec<(FnId, P)>;

/// A set of points, or a summary of one.
trait Points: Clone {
    fn here() -> Self;
    /// The same points seen from a reader at `shift`.
    fn moved(&self, shift: Offset) -> Self;
    fn join(&mut self, other: Self);
}

/// Sorted by their components, without duplicates.
impl Points for Vec<Offset> {
    fn here() -> Self {
        vec![[0; 3]]
    }

    fn moved(&self, shift: Offset) -> Self {
        self.iter().map(|at| moved(*at, shift)).collect()
    }

    fn join(&mut self, other: Self) {
        // Two sorted runs: sorting merges them.
        self.extend(other);
        self.sort();
        self.dedup();
    }
}

impl Points for Bounds {
    fn here() -> Self {
        Bounds { low: [0; 3], high: [0; 3] }
    }

    fn moved(&self, shift: Offset) -> Self {
        Bounds { low: moved(self.low, shift), high: moved(self.high, shift) }
    }

    fn join(&mut self, other: Self) {
        self.low = [0, 1, 2].map(|a: usize| self.low[a].min(other.low[a]));
        self.high = [0, 1, 2].map(|a: usize| self.high[a].max(other.high[a]));
    }
}

fn moved(at: Offset, shift: Offset) -> Offset {
    [at[0] + shift[0], at[1] + shift[1], at[2] + shift[2]]
}

/// The points that each of the marked functions reads; those that they read are marked, too.
fn known_by<P: Points>(alg: &Algorithm, marked: &[bool], stored: &BTreeSet<FnId>) -> Vec<Reads<P>> {
    let mut known: Vec<Reads<P>> = vec![Vec::new(); alg.functions.len()];
    let is_read = |id: FnId| stored.contains(&id) || matches!(alg.function(id).def, Def::State(_));
    for id in ids(marked) {
        let points =
            if is_read(id) { vec![(id, P::here())] } else { expand(&alg.function(id).def, &known) };
        known[id.0 as usize] = points;
    }
    known
}

fn read_by<P: Points>(alg: &Algorithm, roots: &[FnId], stored: &BTreeSet<FnId>) -> Reads<P> {
    let known = known_by::<P>(alg, &is_needed(alg, roots, stored), stored);
    let mut out = Vec::new();
    for root in roots {
        add(&mut out, &read_by_root(alg, *root, &known), [0; 3]);
    }
    out
}

/// The points read to compute a root, which is computed even if it is stored.
fn read_by_root<P: Points>(alg: &Algorithm, root: FnId, known: &[Reads<P>]) -> Reads<P> {
    match &alg.function(root).def {
        Def::State(_) => known[root.0 as usize].clone(),
        def @ (Def::Point(_) | Def::Sum(_)) => expand(def, known),
    }
}

/// The functions that must be known to compute `roots`, in order of definition: the roots, the functions that they
/// read, and so on down to state functions and `stored` ones.
pub fn needed(alg: &Algorithm, roots: &[FnId], stored: &BTreeSet<FnId>) -> BTreeSet<FnId> {
    ids(&is_needed(alg, roots, stored)).collect()
}

/// Is each function one of those [needed]? It is faster where only some are asked for.
pub fn is_needed(alg: &Algorithm, roots: &[FnId], stored: &BTreeSet<FnId>) -> Vec<bool> {
    let mut found = vec![false; alg.functions.len()];
    for root in roots {
        for read in alg.function(*root).def.reads() {
            found[read.of.0 as usize] = true;
        }
    }
    // Functions read those defined before them.
    for at in (0..found.len()).rev() {
        let id = FnId(at as u32);
        if found[at] && !stored.contains(&id) && !roots.contains(&id) {
            for read in alg.function(id).def.reads() {
                found[read.of.0 as usize] = true;
            }
        }
    }
    for root in roots {
        found[root.0 as usize] = true;
    }
    found
}

/// The functions that are marked.
fn ids(marked: &[bool]) -> impl Iterator<Item = FnId> {
    let all = (0..).map(FnId).zip(marked);
    all.filter_map(|(id, marked)| marked.then_some(id))
}

/// Minkowski sums of the accesses' offsets and the points that the accessed functions read.
fn expand<P: Points>(def: &Def, known: &[Reads<P>]) -> Reads<P> {
    let mut out = Vec::new();
    for access in def.reads() {
        add(&mut out, &known[access.of.0 as usize], access.at);
    }
    out
}

/// Adds points that are seen at `shift`.
fn add<P: Points>(out: &mut Reads<P>, read: &Reads<P>, shift: Offset) {
    let mut from = 0;
    for (id, points) in read {
        let points = points.moved(shift);
        from += out[from..].partition_point(|(known, _)| known < id);
        match out.get_mut(from).filter(|(known, _)| known == id) {
            Some((_, known)) => known.join(points),
            None => out.insert(from, (*id, points)),
        }
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
