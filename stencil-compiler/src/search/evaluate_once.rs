//! Functions that are evaluated in their own cell, so that their costly parts are evaluated once.
//!
//! A flux reads the state on the lower side of its face in one cell, and that on the upper side in the next. Both are
//! made of the same quotients, which are then evaluated twice for each cell. If they are kept such that the next cell,
//! or the next plane, can read them, both states are evaluated in one cell. The functions to keep are a cut: the
//! smallest set through which all costly functions with several places of evaluation are used, and none of which is
//! itself such a use.

use std::collections::{BTreeMap, BTreeSet};

use super::least_cut::{Graph, NEVER};
use crate::algorithm::{Algorithm, Def, FnId, Offset};
use crate::expr::{Node, Op};
use crate::schedule::Placement;

/// Operations from which on a function is costly: those of a quotient.
const COSTLY: u32 = 8;

type Placements = BTreeMap<String, Placement>;

/// Returns the placements with those of functions between costly ones and their uses: in registers if only the own
/// column reads them, else in shared memory. The functions below them are evaluated once, so their readers may follow,
/// and so on.
pub(super) fn evaluate_once(algorithm: &Algorithm, placements: &Placements) -> Placements {
    let mut all = placements.clone();
    loop {
        let more = Uses::of(algorithm, &all).kept();
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

/// The places at which functions are evaluated, with kept and stored ones in their own cells.
struct Uses<'a> {
    algorithm: &'a Algorithm,
    /// Functions that are evaluated in their own cells: new values, and kept or stored functions.
    roots: BTreeSet<FnId>,
    /// The places around a cell at which each function is evaluated for it.
    places: BTreeMap<FnId, BTreeSet<Offset>>,
    /// The readers of each function.
    readers: BTreeMap<FnId, BTreeSet<FnId>>,
    /// Functions that take a quotient or normalize, and those made of one in their own cell alone: if one serves many
    /// of them, these are much work, too.
    costly: BTreeSet<FnId>,
    /// Functions that are made of an accumulator, which every cell has to itself.
    of_accumulators: BTreeSet<FnId>,
}

/// Costly functions that a function is made of, down to kept or stored ones, and the places at which one evaluation
/// needs them.
type Inside = BTreeMap<FnId, BTreeSet<Offset>>;

impl<'a> Uses<'a> {
    fn of(algorithm: &'a Algorithm, placements: &Placements) -> Self {
        let updates = algorithm.substeps.iter().flat_map(|s| s.updates.iter());
        let placed = placements.iter().filter(|(_, p)| **p != Placement::Inline);
        let placed = placed.filter_map(|(name, _)| algorithm.find(name));
        let roots = updates.map(|(_, id)| *id).chain(placed).collect();
        let mut uses = Uses {
            algorithm,
            roots,
            places: BTreeMap::new(),
            readers: BTreeMap::new(),
            costly: BTreeSet::new(),
            of_accumulators: algorithm.made_of_accumulators(),
        };
        let ids: Vec<FnId> = algorithm.ids().map(|(id, _)| id).collect();
        for id in &ids {
            if uses.is_costly(*id) {
                uses.costly.insert(*id);
            }
        }
        for id in ids.into_iter().rev() {
            if uses.roots.contains(&id) {
                uses.places.insert(id, BTreeSet::from([[0; 3]]));
            }
            uses.read(id);
        }
        uses
    }

    /// Adds the places and readers of the functions that this one reads.
    fn read(&mut self, id: FnId) {
        let Some(own) = self.places.get(&id).cloned() else {
            return;
        };
        for access in self.algorithm.function(id).def.accesses() {
            self.readers.entry(access.of).or_default().insert(id);
            let places = self.places.entry(access.of).or_default();
            places.extend(own.iter().map(|at| shifted(*at, access.at)));
        }
    }

    /// Is a function costly, given those before it?
    fn is_costly(&self, id: FnId) -> bool {
        let mut reads = self.algorithm.function(id).def.reads();
        let of_costly = reads.clone().any(|read| self.costly.contains(&read.of));
        let is_pointwise = of_costly && reads.all(|read| read.at == [0; 3]);
        let is_costly = || self.algorithm.cost(id) >= COSTLY || self.normalizes(id);
        !self.roots.contains(&id) && (is_pointwise || is_costly())
    }

    /// Does a function take the exponent of a value? It brings values of any size into a range, as a quotient does.
    fn normalizes(&self, id: FnId) -> bool {
        let Def::Point(expr) = &self.algorithm.function(id).def else {
            return false;
        };
        expr.nodes.iter().any(|node| matches!(node, Node::Op(Op::Exponent, _)))
    }

    /// The costly functions inside of each function that is evaluated.
    fn inside(&self) -> BTreeMap<FnId, Inside> {
        let mut all: BTreeMap<FnId, Inside> = BTreeMap::new();
        // Functions stand behind all that they read.
        for id in self.places.keys() {
            let mut inside = Inside::new();
            if self.costly.contains(id) {
                inside.insert(*id, BTreeSet::from([[0; 3]]));
            }
            for access in self.algorithm.function(*id).def.accesses() {
                let is_inside = !self.roots.contains(&access.of);
                let read = all.get(&access.of).filter(|_| is_inside);
                for (costly, places) in read.into_iter().flatten() {
                    let places = places.iter().map(|at| shifted(*at, access.at));
                    inside.entry(*costly).or_default().extend(places);
                }
            }
            all.insert(*id, inside);
        }
        all
    }

    /// The repeated functions inside of those that read no function with repetitions. Others follow when these are
    /// kept.
    fn lowest_repeated(&self, inside: &BTreeMap<FnId, Inside>) -> BTreeSet<FnId> {
        let repeats = |id: &FnId| inside.get(id).is_some_and(|i| repeated(i).next().is_some());
        let is_lowest = |id: &FnId| {
            let accesses = self.algorithm.function(*id).def.accesses();
            let mut read = accesses.iter().map(|access| access.of);
            !read.any(|of| !self.roots.contains(&of) && repeats(&of))
        };
        let all = inside.iter().filter(|(id, _)| is_lowest(id));
        all.flat_map(|(_, inside)| repeated(inside)).collect()
    }

    /// May it be kept?
    fn is_free(&self, id: FnId) -> bool {
        let is_state = matches!(self.algorithm.function(id).def, Def::State(_));
        !is_state && !self.roots.contains(&id) && !self.of_accumulators.contains(&id)
    }

    /// Does a root use it through nothing that may be kept?
    fn is_open(&self, id: FnId, may_be_kept: &BTreeSet<FnId>) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = vec![id];
        while let Some(id) = next.pop() {
            if self.roots.contains(&id) {
                return true;
            }
            if !may_be_kept.contains(&id) && seen.insert(id) {
                next.extend(self.readers.get(&id).into_iter().flatten());
            }
        }
        false
    }

    /// The smallest set of functions that all uses of the repeated ones pass through.
    fn cut(&self, may_be_kept: &BTreeSet<FnId>, repeated: &BTreeSet<FnId>) -> BTreeSet<FnId> {
        let mut graph = Graph::default();
        for id in self.places.keys() {
            let evaluating = if repeated.contains(id) { NEVER } else { 0 };
            if self.roots.contains(id) {
                graph.add_root(self.algorithm, *id, evaluating);
            } else {
                let keeping = if may_be_kept.contains(id) { 1 } else { NEVER };
                graph.add(self.algorithm, *id, [keeping, evaluating]);
            }
        }
        graph.cut()
    }

    /// The functions to keep, with their placements.
    fn kept(&self) -> Placements {
        let inside = self.inside();
        let may_be_kept = inside.iter().filter(|(id, inside)| {
            let is_once = repeated(inside).next().is_none();
            is_once && self.is_free(**id)
        });
        let may_be_kept: BTreeSet<FnId> = may_be_kept.map(|(id, _)| *id).collect();
        let lowest = self.lowest_repeated(&inside).into_iter();
        let lowest = lowest.filter(|id| !self.is_open(*id, &may_be_kept));
        let cut = self.cut(&may_be_kept, &lowest.collect());
        let mut kept = Placements::new();
        for group in groups(cut, &inside) {
            let own = |at: &Offset| in_own_column(self.algorithm, *at);
            let in_column = group.iter().all(|id| self.places[id].iter().all(own));
            let placement = match in_column {
                true => Placement::Register,
                false => Placement::Shared,
            };
            let name = |id: &FnId| self.algorithm.function(*id).name.clone();
            kept.extend(group.iter().map(|id| (name(id), placement)));
        }
        kept
    }
}

/// Does a march keep a value at this offset in the cell's own column?
pub(super) fn in_own_column(algorithm: &Algorithm, at: Offset) -> bool {
    let axis = algorithm.slowest_axis();
    (0..3).all(|other| other == axis || at[other] == 0)
}

/// Costly functions of which one evaluation needs several.
fn repeated(inside: &Inside) -> impl Iterator<Item = FnId> {
    let several = inside.iter().filter(|(_, places)| places.len() > 1);
    several.map(|(id, _)| *id)
}

fn shifted(at: Offset, by: Offset) -> Offset {
    std::array::from_fn(|axis| at[axis] + by[axis])
}

/// Groups functions such that those made of a common costly one are together: it is evaluated once if they are
/// evaluated at the same time.
fn groups(functions: BTreeSet<FnId>, inside: &BTreeMap<FnId, Inside>) -> Vec<BTreeSet<FnId>> {
    let mut groups: Vec<(BTreeSet<FnId>, BTreeSet<FnId>)> = Vec::new();
    for id in functions {
        let costly: BTreeSet<FnId> = inside[&id].keys().copied().collect();
        let mut group = (BTreeSet::from([id]), costly);
        let (with, others) =
            groups.into_iter().partition(|(_, costly)| !costly.is_disjoint(&group.1));
        groups = others;
        let with: Vec<_> = with;
        for (ids, costly) in with {
            group.0.extend(ids);
            group.1.extend(costly);
        }
        groups.push(group);
    }
    groups.into_iter().map(|(ids, _)| ids).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Target, compile};
    use crate::discretize::discretize;
    use crate::model::parse;
    use crate::schedule::{Blocking, Halo, Schedule};
    use crate::{cost, search::heuristic};

    fn flow(scheme: &str) -> Algorithm {
        let items = "conserved q: scalar; conserved r: scalar; param a: real = 1;
            flux q -> a*r*[1, 1, 1]; flux r -> a*q*[1, 1, 1];";
        let source = format!("system Flow in 3d {{ {items} }} scheme s for Flow {{ {scheme} }}");
        discretize(&parse::parse_str(&source).unwrap()).unwrap()
    }

    fn of(placements: &Placements, wanted: Placement) -> Vec<&str> {
        let own = placements.iter().filter(|(_, p)| **p == wanted);
        own.map(|(name, _)| name.as_str()).collect()
    }

    const WEIGHTED: &str = "reconstruct: weno_z; riemann: rusanov; time: ssprk3;";

    #[test]
    fn states_of_both_faces_are_evaluated_in_one_cell() {
        let algorithm = flow(WEIGHTED);
        let stored = heuristic::stored(&algorithm, Halo::Exchange);
        let aligned = evaluate_once(&algorithm, &stored);
        let shared = of(&aligned, Placement::Shared);
        let of_x = ["q_x_lower", "q_x_upper", "r_x_lower", "r_x_upper"];
        let of_y = ["q_y_lower", "q_y_upper", "r_y_lower", "r_y_upper"];
        assert_eq!(shared, [&of_x[..2], &of_y[..2], &of_x[2..], &of_y[2..]].concat());
        let in_column = of(&aligned, Placement::Register);
        assert_eq!(in_column, ["q_z_lower", "q_z_upper", "r_z_lower", "r_z_upper"]);
    }

    #[test]
    fn fluxes_of_quotients_are_kept_next() {
        let items = "conserved q: scalar; conserved r: scalar; param a: real = 1;
            flux q -> r*r/(1 + q*q)*[1, 1, 1]; flux r -> a*q/(2 + r*r)*[1, 1, 1];
            cfl { advective: 1; }";
        let source = format!("system Flow in 3d {{ {items} }} scheme s for Flow {{ {WEIGHTED} }}");
        let source = source.replace("rusanov", "force");
        let algorithm = discretize(&parse::parse_str(&source).unwrap()).unwrap();
        let aligned = evaluate_once(&algorithm, &Placements::new());
        for kept in ["q_x_lower", "q_x_upper", "q_x_flux", "r_x_flux"] {
            assert_eq!(aligned.get(kept), Some(&Placement::Shared), "{kept}: {aligned:?}");
        }
        for kept in ["q_z_lower", "q_z_flux"] {
            assert_eq!(aligned.get(kept), Some(&Placement::Register), "{kept}: {aligned:?}");
        }
    }

    #[test]
    fn it_saves_quotients() {
        let algorithm = flow(WEIGHTED);
        let operations = |placements: Placements| {
            let march = Blocking::new("march", &[("tile_x", 32), ("tile_y", 8)]);
            let schedule = Schedule::placing(placements).blocked(&algorithm, march);
            let compiled = compile(&algorithm, &schedule, &Target::new(8)).unwrap();
            let costs = cost::kernels(&compiled).unwrap();
            costs.iter().map(|cost| cost.operations).sum::<f64>()
        };
        let stored = heuristic::stored(&algorithm, Halo::Exchange);
        let kept = evaluate_once(&algorithm, &stored);
        let (before, after) = (operations(stored), operations(kept));
        assert!(after < 0.8 * before, "{before} operations, then {after}");
    }

    #[test]
    fn nothing_is_kept_where_nothing_costly_is_repeated() {
        let source = "system Flow in 2d { field q: scalar; ddt(q) = lap(q); }
            scheme s for Flow { space: central<order = 2>; time: euler; }";
        let algorithm = discretize(&parse::parse_str(source).unwrap()).unwrap();
        assert_eq!(evaluate_once(&algorithm, &Placements::new()), Placements::new());
    }
}
