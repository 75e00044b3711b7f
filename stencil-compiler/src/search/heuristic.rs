//! Schedules chosen by rule, without measurements: functions that are expensive to recompute at many places are stored,
//! or those of a narrow cut; on a march, sums that read other planes are carried.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

use super::cuts::cuts;
use super::factors::factors;
use super::in_turn::{in_turn, sums_of_stored};
use super::narrow::{WORDS, narrow};
use super::passes::{self, WAYS};
use super::tiles::{boxes, direct, largest_march, tiled, tiles};
use super::{Case, On};
use crate::algorithm::footprint::needed;
use crate::algorithm::{Access, Algorithm, Def, FnId, Offset};
use crate::cost::{KernelCost, Limit, MOST_REGISTERS};
use crate::schedule::{
    Blocking, Carry, Halo, Placement, Schedule, kernel_count, stored_together, strategies,
};

/// Operations a cell may spend on recomputing one grid function before it is stored.
const WORTH_STORING: u32 = 100;

/// Operations before it is kept in shared memory, which costs no traffic.
const WORTH_SHARING: u32 = 50;

/// Operations before a row engine keeps it, for which operations take longer than loads.
const WORTH_KEEPING: u32 = 20;

/// The schedule of the CPU program: rows, and few enough recomputations.
pub fn cpu(algorithm: &Algorithm) -> Schedule {
    // Recomputed halos need no exchange, which only periodic seams could give.
    over_rows(algorithm, stored(algorithm, Halo::Recompute))
}

/// The schedule of the row engine, which computes a function that is read along a row once anyway.
pub fn row_engine(algorithm: &Algorithm) -> Schedule {
    let placement = Placement::Global(Halo::Recompute);
    let kept = kept(algorithm, WORTH_KEEPING, placement, |[_, y, z]| [0, y, z]);
    over_rows(algorithm, kept)
}

/// The schedule of the row engine that stores nothing.
pub fn recomputing(algorithm: &Algorithm) -> Schedule {
    over_rows(algorithm, BTreeMap::new())
}

fn over_rows(algorithm: &Algorithm, placements: BTreeMap<String, Placement>) -> Schedule {
    Schedule::placing(placements)
        .blocked(algorithm, Blocking::new(strategies::rows::STRATEGY.name, &[]))
}

/// The schedule of a GPU: a march that carries what it can; one that carries less of it behind, or gathers all, if
/// registers do not suffice; for two substeps at once if that is predicted to take less time. If the estimate of
/// registers is more than a thread can have, boxes, or two marches of a cut step, whichever is predicted to take less
/// time: marches that spill are far slower.
pub fn gpu(algorithm: &Algorithm, on: impl Into<On>) -> Schedule {
    gpu_of(&Case::new(algorithm, on))
}

/// The same for a case.
pub fn gpu_of(case: &Case<'_>) -> Schedule {
    let single = one_by_one_of(case);
    let Some(one) = case.step_time(&single) else {
        return single;
    };
    // Only a kernel that waits for memory gains by moving less.
    if one.limit != Limit::Memory {
        return single;
    }
    let at_once = fused_march(case, AT_ONCE);
    let at_once = at_once.filter(|fused| {
        let two = case.step_time(fused);
        let is_faster = two.is_some_and(|two| two.total < WORTH_FUSING * one.total);
        is_faster && overlaps(case, fused)
    });
    at_once.unwrap_or(single)
}

/// Are two blocks of each kernel on a multiprocessor, so that one works while the other waits?
fn overlaps(case: &Case<'_>, schedule: &Schedule) -> bool {
    let Some(costs) = case.costs(schedule) else {
        return false;
    };
    let unit = &case.on.multiprocessor;
    let blocks = |cost: &KernelCost| {
        let registers = cost.likely_registers().0;
        let occupancy = unit.occupancy(cost.threads, registers, cost.shared_bytes);
        occupancy.blocks
    };
    costs.iter().all(|cost| blocks(cost) > 1)
}

/// Substeps that are done at once without a search.
pub(super) const AT_ONCE: usize = 2;

/// The part of the time that fused substeps may take at most: the model errs by as much, and they keep a
/// run from looking at each step.
const WORTH_FUSING: f64 = 0.85;

/// The largest march over a problem with this many substeps at once, fields in between in shared memory, with which
/// substeps can be done one by one, too; `None` if none has registers enough.
pub(super) fn fused_march(case: &Case<'_>, fuse: usize) -> Option<Schedule> {
    let problem = case.algorithm.fused(fuse).ok()?;
    if problem.dimension == 1 {
        return None;
    }
    let mut placements = fused(&problem);
    carry(&problem, &mut placements);
    let base = Schedule::placing(placements);
    let kernels = kernel_count(&problem, &base);
    let one_by_one = |schedule: &Schedule| {
        let fused = Schedule { fuse, ..schedule.clone() };
        case.costs(&fused.unfused(case.algorithm)).is_some()
    };
    let of_problem = Case::new(&problem, case.on);
    let mut tiles = tiles(&of_problem, &base, kernels);
    let (schedule, costs) = tiles.find(|(schedule, _)| one_by_one(schedule))?;
    let schedule = two_blocks(&of_problem, &schedule).unwrap_or(schedule);
    fit(&costs).then_some(Schedule { fuse, ..schedule })
}

/// The same with two blocks on a multiprocessor, one of which works while the other waits, if registers
/// are enough for both.
fn two_blocks(case: &Case<'_>, schedule: &Schedule) -> Option<Schedule> {
    let mut two = schedule.clone();
    for kernel in &mut two.kernels {
        kernel.params.insert("blocks".into(), 2);
    }
    let costs = case.costs(&two)?;
    let fits = |cost: &KernelCost| cost.likely_registers().1 == 0;
    costs.iter().all(fits).then_some(two)
}

/// The schedule of a GPU for substeps one by one: for runs whose steps are not alike, and meshes with
/// walls. If half as many arrays or fewer can do, or no more of them with much less work, and are predicted to take less time, it
/// stores these.
pub fn one_by_one(algorithm: &Algorithm, on: impl Into<On>) -> Schedule {
    one_by_one_of(&Case::new(algorithm, on))
}

/// The same for a case.
fn one_by_one_of(case: &Case<'_>) -> Schedule {
    let stored = stored(case.algorithm, Halo::Exchange);
    let all = stored.len();
    let narrow = WORDS.map(|word| narrow(case.algorithm, word)).into_iter();
    let work_of_all = work(case.algorithm, &stored);
    let narrow = narrow.filter(|few| {
        let has_less_work =
            || LESS_WORK * f64::from(work(case.algorithm, few)) <= f64::from(work_of_all);
        !few.is_empty() && (2 * few.len() <= all || few.len() <= all && has_less_work())
    });
    let mut narrow: Vec<_> = narrow.map(|few| sums_of_stored(case.algorithm, few)).collect();
    narrow.dedup();
    // Each takes a second for the largest problems.
    let others = thread::scope(|scope| {
        let others = narrow.into_iter().map(|few| scope.spawn(|| storing(case, few)));
        let others: Vec<_> = others.collect();
        let done = |other: ScopedJoinHandle<'_, Schedule>| {
            other.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        others.into_iter().map(done).collect::<Vec<_>>()
    });
    let few = case.smallest(others.iter().cloned());
    let is_slower = |time: f64| case.seconds_of_arrays(all) > time;
    match few {
        Some((few, time)) if is_slower(time) => few,
        Some((few, _)) => {
            let usual = storing(case, stored);
            case.fastest([usual, few.clone()].into_iter()).unwrap_or(few)
        }
        None => storing(case, stored),
    }
}

/// The share of the work of all stored functions and new values below which others are worth a look.
const LESS_WORK: f64 = 1.25;

/// Operations of all kernels for a cell, if each evaluates in its own cell alone.
fn work(algorithm: &Algorithm, stored: &BTreeMap<String, Placement>) -> u32 {
    let mut kernels = stored_together(algorithm, &Schedule::placing(stored.clone()));
    let all: BTreeSet<FnId> = kernels.iter().flatten().copied().collect();
    let updates = algorithm.substeps.iter().flat_map(|s| s.updates.iter());
    kernels.push(updates.map(|(_, id)| *id).collect());
    let of = |roots: &Vec<FnId>| -> u32 {
        let others = all.iter().filter(|id| !roots.contains(id)).copied().collect();
        let own = needed(algorithm, roots, &others).into_iter();
        own.filter(|id| !others.contains(id)).map(|id| algorithm.cost(id)).sum()
    };
    kernels.iter().map(of).sum()
}

/// The same with these functions stored.
fn storing(case: &Case<'_>, stored: BTreeMap<String, Placement>) -> Schedule {
    let algorithm = case.algorithm;
    if algorithm.dimension == 1 {
        let blocking = Blocking::new(strategies::direct::STRATEGY.name, &[("x", 128)]);
        return Schedule::placing(stored).blocked(algorithm, blocking);
    }
    let carried = |carry: fn(&Algorithm, &mut BTreeMap<String, Placement>)| {
        let mut carried = stored.clone();
        carry(algorithm, &mut carried);
        carried
    };
    let marched = largest_march(case, &carried(carry));
    if let Some((schedule, _)) = marched.filter(|(_, costs)| fit(costs)) {
        return parted(case, schedule);
    }
    let others = [stored.clone(), carried(carry_ahead)].map(Schedule::placing);
    let others = others.iter().flat_map(|base| {
        let kernels = kernel_count(algorithm, base);
        tiles(case, base, kernels).filter(|(_, costs)| fit(costs))
    });
    let others = others.map(|(schedule, _)| schedule);
    if let Some(schedule) = case.fastest(others) {
        return parted(case, schedule);
    }
    let cut = cuts(algorithm).into_iter().flat_map(|cut| {
        let later = cut.only_later(&cut.carried(algorithm, carry));
        let ahead = cut.carried(algorithm, carry_ahead);
        let bases = [later, ahead].map(|placements| Schedule {
            placements,
            passes: cut.passes.clone(),
            ..Schedule::default()
        });
        bases.map(|base| Some(tiled(case, &base, 2)?.0))
    });
    let boxes = boxes(case, stored.clone());
    let placed = [stored.clone(), carried(carry)];
    let split = placed.iter().flat_map(|placed| in_parts(case, placed));
    let all = cut.flatten().chain([boxes]).chain(split);
    case.fastest(all).unwrap_or_else(|| direct(case, stored))
}

/// The schedule, or one that splits the stored functions of one kernel among several, which leave each other more
/// threads: the one that is predicted to take less time.
fn parted(case: &Case<'_>, schedule: Schedule) -> Schedule {
    let others: Vec<Schedule> = in_parts(case, &schedule.placements).collect();
    if others.is_empty() {
        return schedule;
    }
    let all = [schedule.clone()].into_iter().chain(others);
    case.fastest(all).unwrap_or(schedule)
}

/// Schedules that split the stored functions of one kernel among several, one for each way.
fn in_parts(
    case: &Case<'_>,
    placements: &BTreeMap<String, Placement>,
) -> impl Iterator<Item = Schedule> {
    let parted = WAYS.into_iter().filter_map(|parts| {
        let passes = passes::of_stored(case.algorithm, placements, parts)?;
        Some(Schedule { passes, ..Schedule::placing(placements.clone()) })
    });
    let all = parted.chain(in_turn(case.algorithm, placements));
    all.filter_map(|base| {
        let kernels = kernel_count(case.algorithm, &base);
        Some(tiled(case, &base, kernels)?.0)
    })
}

/// Has a thread as many registers as all kernels need, by the estimate?
pub(super) fn fit(costs: &[KernelCost]) -> bool {
    costs.iter().all(|cost| cost.registers <= MOST_REGISTERS)
}

/// Placements of a problem with fused substeps: fields in between, and all other functions that are recomputed, in
/// shared memory.
pub fn fused(problem: &Algorithm) -> BTreeMap<String, Placement> {
    match problem.dimension {
        1 => BTreeMap::new(),
        _ => kept(problem, 0, Placement::Shared, everywhere),
    }
}

/// Grid functions that would be recomputed too often: the last of them first, since storing it leaves its operands with
/// fewer uses. `halo` is the way in which their ghost cells are filled.
pub fn stored(algorithm: &Algorithm, halo: Halo) -> BTreeMap<String, Placement> {
    kept(algorithm, WORTH_STORING, Placement::Global(halo), everywhere)
}

/// Each place is one of its own.
fn everywhere(at: Offset) -> Offset {
    at
}

/// Functions whose recomputation would take more than `least` operations; `place` maps offsets to the same value if a
/// function is computed once for them anyway.
fn kept(
    algorithm: &Algorithm,
    least: u32,
    placement: Placement,
    place: fn(Offset) -> Offset,
) -> BTreeMap<String, Placement> {
    let mut chosen = BTreeMap::new();
    let storing = match placement {
        Placement::Global(_) => Kernel::Storing,
        Placement::Inline | Placement::Register | Placement::Carried(_) | Placement::Shared => {
            Kernel::Last
        }
    };
    recomputations(algorithm, place, storing, |id, again| {
        let operations = again * whole_cost(algorithm, id);
        let is_worth_it = operations > least && !is_light(algorithm, id, again);
        if is_worth_it {
            let name = algorithm.function(id).name.clone();
            chosen.insert(name, placement);
        }
        is_worth_it
    });
    chosen
}

/// Operations for which nothing is kept: fewer than a quotient takes.
const LIGHT: u32 = 8;

/// Is recomputation cheap if the one function that it reads is kept instead? There may be one such function along each
/// axis, such as the differences of neighbours of a pressure.
fn is_light(algorithm: &Algorithm, id: FnId, again: u32) -> bool {
    let accesses = algorithm.function(id).def.accesses();
    let of: BTreeSet<FnId> = accesses.iter().map(|access| access.of).collect();
    let is_state = |of: &FnId| matches!(algorithm.function(*of).def, Def::State(_));
    of.len() == 1 && !of.iter().any(is_state) && again * algorithm.cost(id) < LIGHT
}

/// Grid functions that are evaluated at several places around a cell if all is recomputed, with the operations that
/// storing each would save; those that save most first.
pub fn recomputed(algorithm: &Algorithm) -> Vec<(String, u32)> {
    let mut all = Vec::new();
    recomputations(algorithm, everywhere, Kernel::Last, |id, again| {
        let operations = again * whole_cost(algorithm, id);
        all.push((algorithm.function(id).name.clone(), operations));
        false
    });
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}

/// The kernel that evaluates a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kernel {
    /// The one that computes the new values of fields.
    Last,
    /// The one that computes stored functions, before.
    Storing,
}

/// Visits the functions that may be stored and are evaluated at several places, from the updates down; `store` gets the
/// number of further evaluations, and tells whether the kernel `storing` stores the function.
fn recomputations(
    algorithm: &Algorithm,
    place: fn(Offset) -> Offset,
    storing: Kernel,
    mut store: impl FnMut(FnId, u32) -> bool,
) {
    let roots: BTreeSet<FnId> =
        algorithm.substeps.iter().flat_map(|s| s.updates.iter().map(|(_, id)| *id)).collect();
    let of_accumulators = algorithm.made_of_accumulators();
    // The places around a cell at which the last kernel, or one that stores, evaluates each function for it. All
    // readers of a function come after it.
    let mut places: BTreeMap<FnId, BTreeSet<(Kernel, Offset)>> = BTreeMap::new();
    for root in &roots {
        places.insert(*root, BTreeSet::from([(Kernel::Last, [0; 3])]));
    }
    for (id, function) in algorithm.ids().collect::<Vec<_>>().into_iter().rev() {
        let Some(mut own) = places.remove(&id) else {
            continue;
        };
        let is_state = matches!(function.def, Def::State(_));
        let free = !is_state && !roots.contains(&id) && !of_accumulators.contains(&id);
        if free && own.len() > 1 && store(id, own.len() as u32 - 1) {
            own = BTreeSet::from([(storing, [0; 3])]);
        }
        for access in function.def.accesses() {
            let shifted = own.iter().map(|(kernel, at)| {
                let at = std::array::from_fn(|axis| at[axis] + access.at[axis]);
                (*kernel, place(at))
            });
            places.entry(access.of).or_default().extend(shifted);
        }
    }
}

/// Operations to compute a grid function from the fields.
fn whole_cost(algorithm: &Algorithm, root: FnId) -> u32 {
    let mut found = vec![false; root.0 as usize + 1];
    found[root.0 as usize] = true;
    // Functions read those defined before them.
    let cost = |at: u32| {
        if !found[at as usize] {
            return 0;
        }
        for read in algorithm.function(FnId(at)).def.reads() {
            found[read.of.0 as usize] = true;
        }
        algorithm.cost(FnId(at))
    };
    (0..=root.0).rev().map(cost).sum()
}

/// The same, but kept in shared memory while a march passes.
pub fn shared(algorithm: &Algorithm) -> BTreeMap<String, Placement> {
    kept(algorithm, WORTH_SHARING, Placement::Shared, everywhere)
}

/// Functions that shared ones are made of: they are evaluated around the tile, too, and so cannot ride along in a
/// column.
fn below_shared(algorithm: &Algorithm, placements: &BTreeMap<String, Placement>) -> BTreeSet<FnId> {
    let by_name = algorithm.by_name();
    let of = |wanted: fn(&Placement) -> bool| -> BTreeSet<FnId> {
        let names = placements.iter().filter(|(_, p)| wanted(p));
        names.filter_map(|(name, _)| by_name.get(name.as_str()).copied()).collect()
    };
    let shared = of(|p| *p == Placement::Shared);
    let roots: Vec<FnId> = shared.iter().copied().collect();
    let inside = needed(algorithm, &roots, &of(|p| matches!(p, Placement::Global(_))));
    inside.into_iter().filter(|id| !shared.contains(id)).collect()
}

/// Carries every sum that reads several planes, and keeps the functions that are added to one in registers.
pub fn carry(algorithm: &Algorithm, placements: &mut BTreeMap<String, Placement>) {
    ride(algorithm, placements, &BTreeSet::new(), BTreeSet::new());
}

/// The same, except that sums with varying factors are carried ahead if that brings them to the plane of their factors,
/// so that these need not wait.
pub fn carry_ahead(algorithm: &Algorithm, placements: &mut BTreeMap<String, Placement>) {
    let shared = placements.iter().filter(|(_, p)| **p == Placement::Shared);
    let shared = shared.filter_map(|(name, _)| algorithm.find(name)).collect();
    ride(algorithm, placements, &factors(algorithm), shared);
}

/// Carries every sum that reads several planes. Those of `ahead` complete on the plane of the iteration, if they are
/// made of no `bound` function, which is on this plane no sooner.
fn ride(
    algorithm: &Algorithm,
    placements: &mut BTreeMap<String, Placement>,
    ahead: &BTreeSet<FnId>,
    mut bound: BTreeSet<FnId>,
) {
    let axis = algorithm.slowest_axis();
    let around = below_shared(algorithm, placements);
    // Arrays that a cell has to itself are read on the plane that completes.
    let of_accumulators = algorithm.made_of_accumulators();
    let mut late: BTreeSet<FnId> = BTreeSet::new();
    for (id, function) in algorithm.ids().filter(|(id, _)| !around.contains(id)) {
        let accesses = function.def.accesses();
        let planes: BTreeSet<i32> = accesses.iter().map(|a| a.at[axis]).collect();
        let is_free = |placement: Option<&Placement>| placement.is_none();
        if matches!(function.def, Def::Sum(_))
            && planes.len() > 1
            && is_free(placements.get(&function.name))
        {
            let is_bound = |of: &FnId| late.contains(of) || bound.contains(of);
            let is_ahead = ahead.contains(&id) && !accesses.iter().any(|a| is_bound(&a.of));
            let carry = if is_ahead { Carry::Ahead } else { Carry::Behind };
            placements.insert(function.name.clone(), Placement::Carried(carry));
            match carry {
                Carry::Ahead => bound.insert(id),
                Carry::Behind => late.insert(id),
            };
            continue;
        }
        let is_late =
            |a: &Access| late.contains(&a.of) || (a.at[axis] > 0 && bound.contains(&a.of));
        if !accesses.iter().any(is_late) {
            // A stored function is read from memory, on any plane.
            let is_stored = matches!(placements.get(&function.name), Some(Placement::Global(_)));
            if !is_stored && accesses.iter().any(|a| bound.contains(&a.of)) {
                bound.insert(id);
            }
            continue;
        }
        late.insert(id);
        for access in accesses {
            let other = algorithm.function(access.of);
            let ready = !matches!(other.def, Def::State(_))
                && !late.contains(&access.of)
                && !around.contains(&access.of)
                && !of_accumulators.contains(&access.of);
            if ready && is_free(placements.get(&other.name)) {
                placements.insert(other.name.clone(), Placement::Register);
            }
        }
    }
}
