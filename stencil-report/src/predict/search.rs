//! The best schedule of each method, of those that a search begins with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::thread;

use stencil_compiler::algorithm::footprint::needed;
use stencil_compiler::algorithm::{Algorithm, FnId, Substep};
use stencil_compiler::compile::{self, Target};
use stencil_compiler::cost::{self, Fills, KernelCost, Model, StepTime};
use stencil_compiler::kernel::Multiprocessor;
use stencil_compiler::plan::Plan;
use stencil_compiler::schedule::{Schedule, strategies};
use stencil_compiler::search;
use stencil_runtime::backend::cuda::BOXES;

use super::Method;
use crate::plan::{kind, spread};

/// Of more schedules than this, some of each kind are looked at, and then all of the kinds that are best.
const MOST: usize = 3_000;

/// The number that is looked at first if there are more.
const FIRST: usize = 1_000;

/// The best of each method on a card, with its seconds.
type Found = BTreeMap<Method, (f64, Schedule)>;

/// The best of each method on each card.
pub(super) fn best(algorithm: &Algorithm, value_bytes: usize, mesh: Mesh<'_>) -> Vec<Found> {
    let mut short = algorithm.clone();
    short.substeps = ends(algorithm);
    let all: Vec<Schedule> = search::first(&short)
        .into_iter()
        // Fusing is another question.
        .filter(|schedule| schedule.fuse == 1 && is_usual(schedule))
        .collect();
    let mut best = vec![Found::new(); mesh.1.len()];
    let mut look = |schedules: &[Schedule]| {
        for (schedule, costs) in costed(&short, schedules, value_bytes, mesh) {
            for ((card, costs), best) in mesh.1.iter().zip(&costs).zip(&mut best) {
                let Some(step) = costs.as_ref().and_then(|c| c.step(mesh.0, card)) else {
                    continue;
                };
                let known = best.get(&Method::of(&schedule));
                if known.is_none_or(|(known, _)| step.total < *known) {
                    best.insert(Method::of(&schedule), (step.total, schedule.clone()));
                }
            }
        }
        best.iter()
            .flat_map(BTreeMap::values)
            .map(|(_, schedule)| kind(schedule))
            .collect::<BTreeSet<_>>()
    };
    if all.len() <= MOST {
        look(&all);
        return best;
    }
    let kinds = look(&spread(all.clone(), FIRST));
    let like = |schedule: &Schedule| kinds.contains(&kind(schedule));
    look(&all.into_iter().filter(like).collect::<Vec<_>>());
    best
}

/// The first and the last of all substeps that are made of the same functions: they differ in their constants, and the first in
/// what it reads.
fn ends(algorithm: &Algorithm) -> Vec<Substep> {
    let made_of = |substep: &Substep| -> BTreeSet<FnId> {
        let updates: Vec<FnId> = substep.updates.iter().map(|(_, id)| *id).collect();
        let mut all = needed(algorithm, &updates, &BTreeSet::new());
        all.retain(|id| !updates.contains(id));
        all
    };
    let mut of: Vec<BTreeSet<FnId>> = algorithm.substeps.iter().map(made_of).collect();
    // A function of one substep alone has constants of that substep.
    let mut used: BTreeMap<FnId, usize> = BTreeMap::new();
    for id in of.iter().flatten() {
        *used.entry(*id).or_default() += 1;
    }
    for functions in &mut of {
        if functions.iter().any(|id| used[id] > 1) {
            functions.retain(|id| used[id] > 1);
        }
    }
    let is_end = |at: usize| !of[..at].contains(&of[at]) || !of[at + 1..].contains(&of[at]);
    let substeps = algorithm.substeps.iter().enumerate();
    let ends = substeps.filter(|(at, _)| is_end(*at));
    ends.map(|(_, substep)| substep.clone()).collect()
}

/// Blocks of a usual number of threads, and no more of a ring than must be: what a search varies
/// beside these changes little.
fn is_usual(schedule: &Schedule) -> bool {
    schedule.kernels.iter().all(|kernel| {
        let Ok(strategy) = strategies::find(&kernel.strategy) else {
            return false;
        };
        let usual = |name: &str| {
            let known = strategy.params.iter().find(|p| p.name == name);
            known.is_none_or(|p| kernel.params.get(name).is_none_or(|v| *v == p.default))
        };
        usual("ring") && usual("buffers") && usual("rolls")
    })
}

/// All with what they cost on each card; on all cores, as each is lowered.
fn costed(
    algorithm: &Algorithm,
    all: &[Schedule],
    value_bytes: usize,
    mesh: Mesh<'_>,
) -> Vec<(Schedule, Vec<Option<Arc<Costs>>>)> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let some = |core: usize| {
        let own = all.iter().enumerate().skip(core).step_by(cores);
        let costed = own.map(|(at, s)| {
            let costs = Costs::of(algorithm, s, value_bytes, mesh);
            (at, s.clone(), costs)
        });
        costed.collect::<Vec<_>>()
    };
    thread::scope(|scope| {
        let some = &some;
        let cores: Vec<_> = (0..cores).map(|core| scope.spawn(move || some(core))).collect();
        let found = cores.into_iter().flat_map(|core| core.join().unwrap_or_default());
        // Of equals the first is taken, however many cores there are.
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(at, ..)| *at);
        found.into_iter().map(|(_, s, costs)| (s, costs)).collect()
    })
}

/// So many cells, and cards.
pub(super) type Mesh<'a> = ([usize; 3], &'a [&'a Model]);

/// The cost of a step on a periodic mesh.
pub(super) struct Costs {
    pub(super) kernels: Vec<KernelCost>,
    fills: Fills,
}

impl Costs {
    /// Of a schedule, as each card runs it: like cards for which the same chunks are fitted share them. `None`
    /// for those on which it is illegal.
    pub(super) fn of(
        algorithm: &Algorithm,
        schedule: &Schedule,
        value_bytes: usize,
        (cells, cards): Mesh<'_>,
    ) -> Vec<Option<Arc<Self>>> {
        let mut known: Vec<(Plan, Multiprocessor, Arc<Self>)> = Vec::new();
        let on = |card: &&Model| {
            let target = Target::periodic(value_bytes, cells, card.rates.device());
            let plan = compile::plan(algorithm, schedule, &target).ok()?;
            let unit = card.rates.multiprocessor;
            let same = |(other, on, _): &&(Plan, _, _)| *other == plan && *on == unit;
            if let Some((_, _, costs)) = known.iter().find(same) {
                return Some(Arc::clone(costs));
            }
            let lowered = compile::lower(algorithm, schedule, plan.clone(), &target);
            let costs = Arc::new(Costs {
                kernels: cost::kernels(&lowered.ok()?).ok()?,
                fills: Fills::of(&plan, cells, value_bytes),
            });
            known.push((plan, unit, Arc::clone(&costs)));
            Some(costs)
        };
        cards.iter().map(on).collect()
    }

    /// The predicted time of the step; `None` if the card cannot run a kernel, or has no room for it.
    pub(super) fn step(&self, cells: [usize; 3], card: &Model) -> Option<StepTime> {
        let has_boxes = self.kernels.iter().any(|kernel| kernel.work.boxes > 0);
        if has_boxes && card.capability < BOXES {
            return None;
        }
        StepTime::likely(&self.kernels, &self.fills, cells, &card.rates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stencil_runtime::SystemDef;

    #[test]
    fn sweeps_along_all_axes_are_looked_at() {
        let count = |sweep: &str| {
            let source = format!(
                "pub system Sound in 3d {{ conserved p: scalar; conserved u: vector; param c: real = 1 where c > 0;
                    flux p -> c^2*u; flux u -> p*I; waves {{ sound: c; }} }}
                scheme s for Sound {{ reconstruct: plm<limiter = mc>; riemann: rusanov; time: ssprk3; {sweep} }}"
            );
            let system = SystemDef::from_text("sound.pde", &source).unwrap();
            (system.algorithm().substeps.len(), ends(system.algorithm()).len())
        };
        let (all, kept) = count("");
        assert!(all == 3 && kept <= 3, "{kept} of {all}");
        let (all, kept) = count("sweep: strang;");
        assert!(6 <= kept && kept < all, "{kept} of {all}");
    }
}
