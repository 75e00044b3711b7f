//! The launches of a substep as one march: how far each goes before the next, and how many rows of its stored
//! functions are kept.
//!
//! Functions that a launch stores for later ones need not be stored for the whole patch. In iteration p of a march
//! along the slowest axis the last launch computes plane p (in a plane: row p). Each launch before it is ahead by its
//! lag, and computes the plane that is needed soonest. Its stored functions stay in a ring of planes until no launch
//! reads them any more: in the cache. Only fields go to memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use stencil_compiler::algorithm::footprint::{Bounds, bounds};
use stencil_compiler::algorithm::{Algorithm, FnId};
use stencil_compiler::plan::{BufferRole, Launch, Plan, Step};

use crate::Error;

/// Launches that one march computes together.
#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    /// The links in their order. The last one computes new values of fields.
    pub(super) links: Vec<Link>,
    /// The axis of the march.
    pub(super) axis: usize,
}

/// One launch of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Index of the launch in the plan.
    pub(super) launch: usize,
    /// Cells that the link computes before the first and behind the last one of a part along each axis, negative ones
    /// before. Behind along the march: its lag.
    pub(super) low: [isize; 3],
    pub(super) high: [isize; 3],
    /// Planes of each of its stored functions that its ring keeps.
    pub(super) windows: BTreeMap<String, usize>,
    /// Planes of each field that it reads.
    pub(super) reads: BTreeMap<String, usize>,
}

impl Link {
    /// Returns the cells along x that the link computes for the cells of a part.
    pub(super) fn cells(&self, part: &Range<isize>) -> Range<isize> {
        part.start + self.low[0]..part.end + self.high[0]
    }
}

/// Can all stored functions of a plan be kept in rings? They can if launches before the last of a substep give no
/// field new values, and no ghost cells are exchanged in between.
pub(super) fn has_rings(plan: &Plan) -> bool {
    let is_derived = |name: &String| {
        let buffer = plan.buffer(name);
        buffer.is_some_and(|b| b.role == BufferRole::Derived)
    };
    let updates_last = |launches: Vec<usize>| {
        let last = launches.len().saturating_sub(1);
        let fits = |(i, at): (usize, &usize)| {
            let mut outputs = plan.launches[*at].outputs.iter();
            outputs.all(|(name, _)| is_derived(name) == (i < last))
        };
        launches.iter().enumerate().all(fits)
    };
    let mut fills = plan.fills();
    substeps(plan).all(updates_last) && !fills.any(|(buffers, _)| buffers.iter().any(is_derived))
}

/// Returns the launches of each substep of a plan.
pub(super) fn substeps(plan: &Plan) -> impl Iterator<Item = Vec<usize>> {
    let substeps = plan.substeps();
    substeps.map(|steps| steps.iter().filter_map(Step::launch).collect())
}

impl Pipeline {
    /// Makes a pipeline of some launches of a plan, whose stored functions are kept in rings.
    pub(super) fn new(
        algorithm: &Algorithm,
        plan: &Plan,
        launches: &[usize],
    ) -> Result<Self, Error> {
        let mut pipeline = Pipeline { links: Vec::new(), axis: algorithm.slowest_axis().max(1) };
        let mut needs = Needs::default();
        for at in launches.iter().rev() {
            let link = pipeline.link(algorithm, plan, *at, &mut needs)?;
            pipeline.links.insert(0, link);
        }
        Ok(pipeline)
    }

    fn link(
        &self,
        algorithm: &Algorithm,
        plan: &Plan,
        at: usize,
        needs: &mut Needs,
    ) -> Result<Link, Error> {
        let launch = &plan.launches[at];
        let outputs = outputs(algorithm, launch)?;
        let own: BTreeSet<FnId> = outputs.iter().copied().collect();
        let stored = plan.buffers.iter();
        let stored = stored.filter(|b| b.role == BufferRole::Derived);
        let stored = stored.filter_map(|b| algorithm.find(&b.name));
        let stored: BTreeSet<FnId> = stored.filter(|id| !own.contains(id)).collect();
        let wanted = outputs.iter().filter_map(|id| needs.cells.get(id));
        let here = [[0; 3]; 2];
        // The cell itself is included: rings begin there or before.
        let [low, high] = wanted.copied().fold(here, join);
        let lag = high[self.axis];
        let window = |id: &FnId| {
            let oldest = needs.oldest.get(id)?;
            let planes = (lag - oldest + 1).max(1) as usize;
            let name = algorithm.function(*id).name.clone();
            Some((name, planes.next_power_of_two()))
        };
        let windows = outputs.iter().filter_map(window).collect();
        let mut reads = BTreeMap::new();
        for (id, Bounds { low: l, high: h }) in bounds(algorithm, &outputs, &stored) {
            let add = |a: [isize; 3], b: [i32; 3]| std::array::from_fn(|i| a[i] + b[i] as isize);
            let cells = [add(low, l), add(high, h)];
            if stored.contains(&id) {
                let known = needs.cells.get(&id).copied();
                needs.cells.insert(id, known.map_or(cells, |k| join(k, cells)));
                let first = lag + l[self.axis] as isize;
                let oldest = needs.oldest.entry(id).or_insert(first);
                *oldest = first.min(*oldest);
            } else {
                let planes = (h[self.axis] - l[self.axis] + 1) as usize;
                reads.insert(algorithm.function(id).name.clone(), planes);
            }
        }
        Ok(Link { launch: at, low, high, windows, reads })
    }
}

/// Cells and planes of stored functions that later launches read.
#[derive(Debug, Default)]
struct Needs {
    /// Cells before the first and behind the last one of a part.
    cells: BTreeMap<FnId, [[isize; 3]; 2]>,
    /// The first plane that is read in an iteration, from that of the last launch.
    oldest: BTreeMap<FnId, isize>,
}

fn join(a: [[isize; 3]; 2], b: [[isize; 3]; 2]) -> [[isize; 3]; 2] {
    [std::array::from_fn(|i| a[0][i].min(b[0][i])), std::array::from_fn(|i| a[1][i].max(b[1][i]))]
}

fn outputs(algorithm: &Algorithm, launch: &Launch) -> Result<Vec<FnId>, Error> {
    let find = |(_, name): &(String, String)| {
        let bug = || Error::Bug(format!("no grid function `{name}`"));
        algorithm.find(name).ok_or_else(bug)
    };
    launch.outputs.iter().map(find).collect()
}
