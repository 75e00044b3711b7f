//! The space of legal schedules: random members of it, by seed.

use std::collections::BTreeMap;

use super::check::{check, legal_placements};
use super::cuts::cuts;
use super::{Blocking, Layout, Placement, Schedule, passes, search};
use crate::algorithm::{Algorithm, Def, MOST_FUSED};
use crate::kernel::blocking::{self, Strategy};
use crate::plan::kernel_count;

/// Draws in which a function is placed at random, of which this many in a hundred are stored.
const STORED: u64 = 6;

/// Draws in a hundred whose fields get their new values in several passes.
const SPLIT: u64 = 15;

/// Draws in a hundred of those with one pass that part what one kernel stores, if it is enough.
const PARTED: u64 = 30;

/// Draws in a hundred whose substeps are fused.
const FUSED: u64 = 8;

/// Draws in a hundred whose fields lie side by side.
const BESIDE: u64 = 20;

/// Draws of marches in a hundred that place as a search begins.
const SEARCHED: u64 = 10;

/// Draws in a hundred whose fields are surfaces.
const SURFACE: u64 = 10;

/// Draws until a legal schedule must have been found.
const MOST_DRAWS: usize = 2000;

/// A sequence of numbers from a seed (splitmix64; Steele, Lea and Flood, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Draws(seed)
    }

    /// A number below `end`, which is not zero.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    /// One of several.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }
}

/// A legal schedule drawn from the sequence, or `None` if a long search finds none.
pub fn sample(algorithm: &Algorithm, value_bytes: usize, draws: &mut Draws) -> Option<Schedule> {
    (0..MOST_DRAWS)
        .map(|_| {
            let mut schedule = match draws.below(100) {
                0..FUSED => draw_fused(algorithm, draws),
                _ => draw(algorithm, draws),
            };
            schedule.layout = match draws.below(100) {
                drawn if drawn < BESIDE => Layout::Aos,
                drawn if drawn < BESIDE + SURFACE => Layout::Surface,
                _ => Layout::Soa,
            };
            schedule
        })
        .find(|schedule| check(algorithm, schedule, value_bytes).is_ok())
}

/// A draw for two substeps at once or up to a whole step, where that is a problem.
fn draw_fused(algorithm: &Algorithm, draws: &mut Draws) -> Schedule {
    let most = algorithm.substeps.len().clamp(2, MOST_FUSED);
    let fuse = 2 + draws.below(most as u64 - 1) as usize;
    let Ok(problem) = algorithm.fused(fuse) else {
        return draw(algorithm, draws);
    };
    let mut schedule = Schedule {
        fuse,
        ..draw(&problem, draws)
    };
    if draws.below(2) == 0 {
        schedule.placements = super::heuristic::fused(&problem);
    }
    schedule
        .placements
        .retain(|_, p| !matches!(p, Placement::Global(_)));
    schedule.resize(&problem);
    schedule
}

fn draw(algorithm: &Algorithm, draws: &mut Draws) -> Schedule {
    let strategies: Vec<&Strategy> = blocking::ALL
        .iter()
        .copied()
        .filter(|s| s.least_dimension <= algorithm.dimension)
        .collect();
    let base = *draws.pick(&strategies);
    let mut placements = BTreeMap::new();
    // Half of the marches carry by the rule, changed here and there; the rest are free draws.
    if base.marches && draws.below(2) == 0 {
        super::heuristic::carry(algorithm, &mut placements);
    }
    for (id, function) in algorithm.ids() {
        if matches!(function.def, Def::State(_)) || draws.below(100) >= 12 {
            continue;
        }
        let legal: Vec<Placement> = legal_placements(algorithm, id)
            .into_iter()
            .filter(|p| match p {
                Placement::Global(_) => draws.below(100) < STORED * 4,
                _ => base.serves(*p),
            })
            .collect();
        if !legal.is_empty() {
            placements.insert(function.name.clone(), *draws.pick(&legal));
        }
    }
    placements.retain(|_, p| *p != Placement::Inline);
    if base.marches && draws.below(100) < SEARCHED {
        placements = draws.pick(&search::placements(algorithm)).clone();
    }
    let (parts, is_cut) = match draws.below(100) {
        0..SPLIT => (2 + draws.below(2) as usize, draws.below(2) == 0),
        _ => (1, false),
    };
    let mut passes = passes::balanced(algorithm, parts).unwrap_or_default();
    let cuts = if is_cut { cuts(algorithm) } else { Vec::new() };
    if !cuts.is_empty() {
        let cut = draws.pick(&cuts).clone();
        placements.extend(cut.placements);
        passes = cut.passes;
    }
    let mut schedule = Schedule {
        placements,
        passes,
        ..Schedule::default()
    };
    if cuts.is_empty() && schedule.passes.is_empty() && draws.below(100) < PARTED {
        let parts = 2 + draws.below(2) as usize;
        let parted = passes::of_stored(algorithm, &schedule.placements, parts);
        schedule.passes = parted.unwrap_or_default();
    }
    let mut kernels = kernel_count(algorithm, &schedule);
    if !cuts.is_empty() && !schedule.passes.is_empty() {
        // The first pass is done by the kernel that stores.
        kernels -= 1;
    }
    schedule.kernels = (0..kernels)
        .map(|_| blocking(base, algorithm.dimension, draws))
        .collect();
    schedule
}

fn blocking(strategy: &Strategy, dimension: usize, draws: &mut Draws) -> Blocking {
    let params = strategy
        .params
        .iter()
        .map(|p| (p.name.to_string(), *draws.pick(p.values(dimension))));
    Blocking {
        strategy: strategy.name.to_string(),
        params: params.collect(),
    }
}
