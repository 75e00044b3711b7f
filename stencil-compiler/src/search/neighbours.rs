//! The space of schedules of a card as a search explores it: its start, spread over all ways to place and to block, and
//! the neighbours of a good schedule.

use std::collections::{BTreeMap, BTreeSet};

use super::cuts::cuts;
use super::evaluate_once::{evaluate_once, in_own_column};
use super::heuristic::{carry, carry_ahead, fused, recomputed, shared, stored};
use super::narrow::{WORDS, narrow};
use super::passes::{self, PARTS, WAYS};
use super::sums;
use crate::algorithm::footprint::footprint;
use crate::algorithm::{Algorithm, Def, FnId, Offset};
use crate::schedule::strategies::{self, Param, Strategy, Tried};
use crate::schedule::{
    Blocking, Carry, Halo, LaunchKind, Placement, Schedule, kernel_count, stored_together,
};

type Placements = BTreeMap<String, Placement>;

/// Ways to place grid functions that differ in kind: all recomputed, expensive ones kept in shared memory, or stored,
/// early sums stored with them, and placements with which these evaluate costly functions once; few stored that cost
/// little traffic; each with and without sums that ride along, those that are factors also ahead. Not all of them are
/// legal with every blocking.
pub fn placements(algorithm: &Algorithm) -> Vec<Placements> {
    let derived = stored(algorithm, Halo::Exchange);
    let mut parts = derived.clone();
    sums::store_parts(algorithm, &mut parts);
    let mut bases = vec![Placements::new()];
    bases.extend(WORDS.map(|word| narrow(algorithm, word)));
    if algorithm.dimension > 1 {
        bases.push(shared(algorithm));
        let marched = lightened(algorithm, &derived);
        bases.extend(marched.iter().map(|base| evaluate_once(algorithm, base)));
    }
    bases.extend([derived, parts]);
    let mut all = Vec::new();
    for base in bases {
        let (mut carried, mut ahead) = (base.clone(), base.clone());
        if algorithm.dimension > 1 {
            carry(algorithm, &mut carried);
            carry_ahead(algorithm, &mut ahead);
        }
        for placements in [base, carried, ahead] {
            if !all.contains(&placements) {
                all.push(placements);
            }
        }
    }
    all
}

/// The stored functions, and three lighter sets: without those that the last kernel could keep in registers while it
/// marches, without those of the last of the kernels that store, and none.
fn lightened(algorithm: &Algorithm, stored: &Placements) -> [Placements; 4] {
    let kernels = stored_together(algorithm, &Schedule::placing(stored.clone()));
    let last: BTreeSet<FnId> = kernels.last().into_iter().flatten().copied().collect();
    let updates = algorithm.substeps.iter().flat_map(|s| s.updates.iter());
    let updates: Vec<FnId> = updates.map(|(_, id)| *id).collect();
    let read = footprint(algorithm, &updates, &kernels.into_iter().flatten().collect());
    let along = |at: &Offset| in_own_column(algorithm, *at);
    let in_column = |id: &FnId| {
        let points = read.get(id).into_iter().flatten();
        points.clone().count() > 1 && points.clone().all(along)
    };
    let without = |dropped: &dyn Fn(&FnId) -> bool| -> Placements {
        let kept = stored.iter().filter(|(name, _)| {
            let id = algorithm.find(name);
            id.is_none_or(|id| !(last.contains(&id) && dropped(&id)))
        });
        kept.map(|(name, placement)| (name.clone(), *placement)).collect()
    };
    let nothing = Placements::new();
    [stored.clone(), without(&in_column), without(&|_| true), nothing]
}

/// The start of a search: each of the [`placements`], all fields in one pass or in two or three, the stored functions
/// of one kernel in one or in two or three, and each of the [`cuts`](super::cuts), with each blocking of a card, and
/// each of its parameters that a search varies from the start; all kernels are blocked alike. Some may be illegal,
/// which [`compile`](crate::compile::compile) tells.
///
/// ```
/// use stencil_compiler::discretize::discretize;
/// use stencil_compiler::model::parse;
/// use stencil_compiler::search;
///
/// let model = parse::parse_str("pub system Heat in 3d { field q: scalar; ddt(q) = lap(q); }
///     scheme s for Heat { space: central<order = 6>; mixed: bidiagonal; time: euler; }")?;
/// let algorithm = discretize(&model)?;
/// let first = search::first(&algorithm);
/// assert!(first.iter().any(|s| s.kernels[0].strategy == "march"));
/// let around = search::neighbours(&algorithm, &first[0]);
/// assert!(around.iter().all(|s| *s != first[0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn first(algorithm: &Algorithm) -> Vec<Schedule> {
    let mut all = Vec::new();
    let ways = ways(algorithm).into_iter().map(|way| (1, way));
    for (fuse, (placements, passes, kernels)) in ways.chain(fused_ways(algorithm)) {
        for strategy in on_card(algorithm).filter(|s| placements.values().all(|p| s.serves(*p))) {
            let blockings =
                combinations(strategy, algorithm.dimension, |p| p.tried == Tried::First)
                    .into_iter();
            all.extend(blockings.map(|blocking| Schedule {
                fuse,
                placements: placements.clone(),
                passes: passes.clone(),
                kernels: vec![blocking; kernels],
                ..Schedule::default()
            }));
        }
    }
    all
}

/// Substeps that a search fuses.
const FUSED: [usize; 3] = [2, 3, 4];

/// Ways to place with fused substeps: fields in between in shared memory, with and without sums that ride
/// along.
fn fused_ways(algorithm: &Algorithm) -> Vec<(usize, Way)> {
    let mut all = Vec::new();
    for fuse in FUSED {
        let Ok(problem) = algorithm.fused(fuse) else {
            continue;
        };
        let placements = fused(&problem);
        let mut carried = placements.clone();
        if problem.dimension > 1 {
            carry(&problem, &mut carried);
        }
        let mut placed = vec![placements, carried];
        placed.dedup();
        all.extend(placed.into_iter().map(|p| (fuse, (p, Passes::new(), 1))));
    }
    all
}

/// Ways to place and to part the fields, and the number of kernels that make them.
type Way = (Placements, Passes, usize);

type Passes = BTreeMap<String, u32>;

/// Ways to place, each with ways to split the fields or the stored functions, and the number of kernels that result.
fn ways(algorithm: &Algorithm) -> Vec<Way> {
    let split = PARTS.map(|parts| passes::balanced(algorithm, parts));
    let split: Vec<Passes> = [Some(Passes::new())].into_iter().chain(split).flatten().collect();
    let mut all = Vec::new();
    for placements in placements(algorithm) {
        let mut parted = WAYS.map(|parts| passes::of_stored(algorithm, &placements, parts));
        if parted[..2].contains(&parted[2]) {
            parted[2] = None;
        }
        for passes in split.iter().cloned().chain(parted.into_iter().flatten()) {
            let schedule = Schedule { passes, ..Schedule::placing(placements.clone()) };
            let kernels = kernel_count(algorithm, &schedule);
            all.push((schedule.placements, schedule.passes, kernels));
        }
    }
    for cut in cuts(algorithm) {
        let carried = cut.carried(algorithm, carry);
        let ahead = cut.carried(algorithm, carry_ahead);
        let later = cut.only_later(&carried);
        let mut placed = vec![cut.placements.clone(), later, carried, ahead];
        placed.dedup();
        all.extend(placed.into_iter().map(|placements| (placements, cut.passes.clone(), 2)));
    }
    all
}

/// Blockings that cards run.
fn on_card(algorithm: &Algorithm) -> impl Iterator<Item = &'static Strategy> {
    let dimension = algorithm.dimension;
    let all = strategies::ALL.iter().copied();
    all.filter(move |s| s.kind == LaunchKind::Blocks && s.least_dimension <= dimension)
}

/// A strategy with all values of some of its parameters.
fn combinations(
    strategy: &Strategy,
    dimension: usize,
    varied: impl Fn(&Param) -> bool,
) -> Vec<Blocking> {
    let mut all = vec![Blocking::new(strategy.name, &[])];
    for param in strategy.params.iter().filter(|p| varied(p)) {
        let with = |blocking: &Blocking, value: u32| {
            let mut blocking = blocking.clone();
            blocking.params.insert(param.name.into(), value);
            blocking
        };
        let each = |blocking: Blocking| {
            let values = param.values(dimension).iter();
            values.map(move |value| with(&blocking, *value)).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(each).collect();
    }
    all
}

/// The number of grid functions whose storing is tried: those that save most operations.
const MOST_STORED: usize = 6;

/// Schedules that differ from one in a single choice: the layout of arrays, a parameter of a kernel, or of all kernels (the
/// next smaller or larger value of those that a search varies from the start, any value of the others),
/// whether a function that is evaluated at several places is stored, or shared, or whether a sum that rides along
/// completes behind or ahead.
pub fn neighbours(algorithm: &Algorithm, schedule: &Schedule) -> Vec<Schedule> {
    let Ok(problem) = schedule.problem(algorithm) else {
        return Vec::new();
    };
    let mut all: BTreeSet<Schedule> = recomputed(&problem)
        .into_iter()
        .take(MOST_STORED)
        .flat_map(|(name, _)| otherwise_placed(&problem, schedule, &name))
        .collect();
    all.extend(carried_otherwise(&problem, schedule));
    all.extend(reblocked(algorithm.dimension, schedule));
    for (at, name, value) in blockings_beside(algorithm.dimension, schedule) {
        let mut one = schedule.clone();
        one.kernels[at].params.insert(name.into(), value);
        all.insert(one);
    }
    all.remove(schedule);
    all.into_iter().collect()
}

/// Schedules that differ from one in a parameter of all kernels of a blocking.
pub fn reblocked(dimension: usize, schedule: &Schedule) -> Vec<Schedule> {
    let all = blockings_beside(dimension, schedule).into_iter();
    let with = all.map(|(at, name, value)| {
        let mut each = schedule.clone();
        let strategy = &schedule.kernels[at].strategy;
        let alike = each.kernels.iter_mut().filter(|k| k.strategy == *strategy);
        for kernel in alike {
            kernel.params.insert(name.into(), value);
        }
        each
    });
    let all: BTreeSet<Schedule> = with.collect();
    all.into_iter().filter(|other| other != schedule).collect()
}

/// Parameters of kernels, by their numbers, with values next to the present ones.
fn blockings_beside(dimension: usize, schedule: &Schedule) -> Vec<(usize, &'static str, u32)> {
    let mut all = Vec::new();
    for (at, kernel) in schedule.kernels.iter().enumerate() {
        let Ok(strategy) = strategies::find(&kernel.strategy) else {
            continue;
        };
        for param in strategy.params {
            let now = strategy.param(kernel, param.name);
            let values = next(param, now, dimension).into_iter();
            all.extend(values.map(|value| (at, param.name, value)));
        }
    }
    all
}

/// The schedule with a function recomputed, shared or stored, as it is not.
fn otherwise_placed(problem: &Algorithm, schedule: &Schedule, name: &str) -> Vec<Schedule> {
    let choices = [Placement::Inline, Placement::Shared, Placement::Global(Halo::Exchange)];
    let now = schedule.placement(name);
    // Fused passes store new fields only.
    let choices = choices.into_iter();
    let choices = choices.filter(|c| schedule.fuse == 1 || !matches!(c, Placement::Global(_)));
    let shared = schedule.shared_kernels(problem);
    let others = choices.filter(|choice| *choice != now);
    let placed = others.map(|choice| {
        let mut other = schedule.clone();
        other.place(name, choice);
        if !other.placements.values().any(|p| *p == Placement::Shared) {
            other.unsplit();
        }
        other.resize_sharing(problem, shared);
        other
    });
    placed.collect()
}

/// The schedule with one sum that rides along completed behind in place of ahead, or the other way round. If it reads
/// no plane ahead, both are the same.
fn carried_otherwise(problem: &Algorithm, schedule: &Schedule) -> Vec<Schedule> {
    let axis = problem.slowest_axis();
    let reads_ahead = |name: &str| {
        let def = problem.find(name).map(|id| &problem.function(id).def);
        matches!(def, Some(Def::Sum(terms)) if terms.iter().any(|term| term.value.at[axis] > 0))
    };
    let placed = schedule.placements.iter();
    let others = placed.filter(|(name, _)| reads_ahead(name)).filter_map(|(name, now)| {
        let other = match now {
            Placement::Carried(Carry::Behind) => Carry::Ahead,
            Placement::Carried(Carry::Ahead) => Carry::Behind,
            _ => return None,
        };
        let mut otherwise = schedule.clone();
        otherwise.place(name, Placement::Carried(other));
        Some(otherwise)
    });
    others.collect()
}

/// Values of a parameter to try in place of one.
fn next(param: &Param, value: u32, dimension: usize) -> Vec<u32> {
    let values = param.values(dimension).iter();
    let others = || values.clone().copied().filter(|v| *v != value);
    match param.tried {
        Tried::First => {}
        Tried::Beside => return others().collect(),
        Tried::Last => return Vec::new(),
    }
    let below = others().filter(|v| *v < value).max();
    let above = others().filter(|v| *v > value).min();
    below.into_iter().chain(above).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::{Target, compile};
    use crate::discretize::discretize;
    use crate::model::parse;

    fn flow(dimension: usize) -> Algorithm {
        let text = format!(
            "pub system Flow in {dimension}d {{ field u: vector; param nu: real = 1;
                ddt(u) = -dot(u, grad(u)) + nu * (lap(u) + grad(div(u))/3); }}
             scheme s for Flow {{ space: central<order = 4>; mixed: composed; time: ssprk2; }}"
        );
        discretize(&parse::parse_str(&text).unwrap()).unwrap()
    }

    #[test]
    fn a_search_begins_with_every_blocking_of_a_card_and_every_way_to_place() {
        for dimension in 1..=3 {
            let algorithm = flow(dimension);
            let usual = |s: &Schedule| {
                let kernel = &s.kernels[0];
                let strategy = strategies::find(&kernel.strategy).unwrap();
                let is_usual = |p: &Param| {
                    let values = p.values(dimension);
                    let own = values.iter().find(|v| **v == p.default).or(values.first());
                    kernel.params.get(p.name).is_none_or(|v| Some(v) == own)
                };
                strategy.params.iter().all(is_usual)
            };
            let all = first(&algorithm).into_iter().filter(usual);
            let legal: Vec<Schedule> =
                all.filter(|s| compile(&algorithm, s, &Target::new(8)).is_ok()).collect();
            for strategy in on_card(&algorithm) {
                let of = |s: &Schedule| s.kernels.iter().all(|k| k.strategy == strategy.name);
                assert!(legal.iter().any(of), "{dimension}d: no {}", strategy.name);
            }
            let placed: BTreeSet<&Placements> = legal.iter().map(|s| &s.placements).collect();
            let wanted = [1, 2, 4][dimension - 1];
            assert!(placed.len() >= wanted, "{dimension}d: {}", placed.len());
        }
    }

    #[test]
    fn neighbours_differ_in_one_parameter() {
        let march = |params: &[(&str, u32)]| Blocking::new("march", params);
        let tile = [("tile_x", 32), ("tile_y", 12)];
        let schedule = Schedule {
            placements: Placements::new(),
            kernels: vec![march(&tile), Blocking::new("direct", &[])],
            ..Schedule::default()
        };
        let algorithm = flow(3);
        let mut all = neighbours(&algorithm, &schedule);
        all.retain(|s| s.placements.is_empty());
        assert!(!all.contains(&schedule));
        // Other layouts are there for comparisons.
        assert!(all.iter().all(|s| s.layout == schedule.layout));
        let has = |kernel: Blocking| all.iter().any(|s| s.kernels[0] == kernel);
        let with = |name, value| march(&[&tile[..], &[(name, value)]].concat());
        assert!(has(with("tile_y", 16)) && has(with("tile_y", 8)) && !has(with("tile_y", 24)));
        assert!(has(with("loader", 1)) && has(with("blocks", 3)));
        let changed = |s: &Schedule| {
            let pairs = s.kernels.iter().zip(&schedule.kernels);
            pairs.filter(|(a, b)| a != b).count()
        };
        assert!(all.iter().all(|s| changed(s) == 1));
        let alike = Schedule { kernels: vec![march(&tile); 2], ..schedule.clone() };
        assert!(
            neighbours(&algorithm, &alike)
                .iter()
                .any(|s| { s.kernels[0] == s.kernels[1] && s.kernels[0] == with("loader", 1) })
        );
    }

    #[test]
    fn a_neighbour_stores_what_is_recomputed_or_recomputes_what_is_stored() {
        let algorithm = flow(3);
        let march = Blocking::new("march", &[("tile_x", 32), ("tile_y", 4)]);
        let schedule = Schedule { kernels: vec![march.clone()], ..Schedule::default() };
        let all = neighbours(&algorithm, &schedule);
        let with = |placement| {
            let mut found = all.iter();
            found.find(|s| s.placements.get("div_u") == Some(&placement)).unwrap()
        };
        let shared = with(Placement::Shared);
        assert_eq!(shared.kernels, schedule.kernels);
        assert!(compile(&algorithm, shared, &Target::new(4)).is_ok());
        let stored = with(Placement::Global(Halo::Exchange));
        assert_eq!(stored.kernels, vec![march; 2]);
        assert!(compile(&algorithm, stored, &Target::new(4)).is_ok());
        assert!(neighbours(&algorithm, stored).contains(&schedule));
        let mut split = shared.clone();
        split.kernels[0].params.insert("barrier".into(), 1);
        assert!(neighbours(&algorithm, shared).contains(&split));
        assert!(neighbours(&algorithm, &split).contains(&schedule));
    }

    /// The other factor of such a sum need not wait for it, in one kernel or in two.
    #[test]
    fn a_search_begins_with_factors_ahead_and_tries_sums_on_both_sides() {
        let text = "pub system Two in 3d { field q: scalar; field w: scalar;
            ddt(q) = lap(q) + q*d[x](q)*(d[x](d[z](w)) + d[y](d[z](q)));
            ddt(w) = d[y](d[z](w)) + lap(q)*d[x](w); }
         scheme s for Two { space: central<order = 6>; mixed: bidiagonal; time: euler; }";
        let algorithm = discretize(&parse::parse_str(text).unwrap()).unwrap();
        let on =
            |s: &Schedule, carry| s.placements.values().any(|p| *p == Placement::Carried(carry));
        let (first, march) = (first(&algorithm), |s: &&Schedule| s.kernels[0].strategy == "march");
        let mut mixed = first.iter().filter(march);
        let mixed = mixed.find(|s| on(s, Carry::Ahead) && on(s, Carry::Behind));
        let mixed = mixed.expect("a march with sums of both kinds");
        assert!(!mixed.placements.values().any(|p| *p == Placement::Register));
        for (name, placement) in &mixed.placements {
            let other = match placement {
                Placement::Carried(Carry::Ahead) => Carry::Behind,
                _ => Carry::Ahead,
            };
            let mut otherwise = mixed.clone();
            otherwise.place(name, Placement::Carried(other));
            assert!(neighbours(&algorithm, mixed).contains(&otherwise), "{name}");
            assert!(neighbours(&algorithm, &otherwise).contains(mixed), "{name}");
        }
    }
}
