//! The space of legal schedules: random members of it, by seed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::cuts::{Cut, cuts};
use super::{heuristic, neighbours, passes};
use crate::algorithm::{Algorithm, Def, FnId, MOST_FUSED};
use crate::compile::{Target, compile};
use crate::schedule::strategies::{self, Strategy};
use crate::schedule::{Blocking, Carry, Halo, Layout, Placement, Schedule, kernel_count};

/// Draws in which a function is placed at random, of which this many in a hundred are stored.
const STORED: u64 = 6;

/// Draws in a hundred whose fields get their new values in several passes.
const SPLIT: u64 = 15;

/// Draws in a hundred of those with one pass that split the stored functions of one kernel, if there are enough.
const PARTED: u64 = 30;

/// Draws in a hundred whose substeps are fused.
const FUSED: u64 = 8;

/// Draws in a hundred whose fields lie side by side.
const BESIDE: u64 = 20;

/// Draws of marches in a hundred that place as a search begins.
const SEARCHED: u64 = 10;

/// Draws in a hundred whose fields are surfaces.
const SURFACE: u64 = 10;

/// Blockings that are drawn until a legal schedule must have been found.
const MOST_BLOCKINGS: usize = 20;

/// Draws of each.
const DRAWS_OF_EACH: usize = 100;

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

/// All schedules of an algorithm, to draw from. Results that draws share are computed once.
#[derive(Debug)]
pub struct Space<'a> {
    algorithm: Cow<'a, Algorithm>,
    value_bytes: usize,
    placements: OnceLock<Vec<BTreeMap<String, Placement>>>,
    cuts: OnceLock<Vec<Cut>>,
    /// The spaces of the problems with this many fused substeps; `None` for numbers that cannot be fused.
    fused: [OnceLock<Option<Box<Space<'static>>>>; MOST_FUSED + 1],
}

impl<'a> Space<'a> {
    /// The space of an algorithm, for values of this many bytes.
    pub fn new(algorithm: &'a Algorithm, value_bytes: usize) -> Self {
        Space::of(Cow::Borrowed(algorithm), value_bytes)
    }

    fn of(algorithm: Cow<'a, Algorithm>, value_bytes: usize) -> Self {
        Space {
            algorithm,
            value_bytes,
            placements: OnceLock::new(),
            cuts: OnceLock::new(),
            fused: Default::default(),
        }
    }

    /// A legal schedule drawn from the sequence, or `None` if a long search finds none.
    ///
    /// The blocking is drawn first and kept until a draw is legal. Otherwise blockings with many parameters that
    /// exclude each other would hardly ever occur.
    pub fn sample(&self, draws: &mut Draws) -> Option<Schedule> {
        let strategies: Vec<&Strategy> = strategies::ALL
            .iter()
            .copied()
            .filter(|s| s.least_dimension <= self.algorithm.dimension)
            .collect();
        (0..MOST_BLOCKINGS).find_map(|_| {
            let base = *draws.pick(&strategies);
            (0..DRAWS_OF_EACH).map(|_| self.draw_any(base, draws)).find(|schedule| {
                compile(&self.algorithm, schedule, &Target::new(self.value_bytes)).is_ok()
            })
        })
    }

    /// A draw with substeps fused or not, in any layout that the strategy serves.
    fn draw_any(&self, base: &Strategy, draws: &mut Draws) -> Schedule {
        let mut schedule = match draws.below(100) {
            0..FUSED => self.draw_fused(base, draws),
            _ => self.draw(base, draws),
        };
        let layout = match draws.below(100) {
            drawn if drawn < BESIDE => Layout::Aos,
            drawn if drawn < BESIDE + SURFACE => Layout::Surface,
            _ => Layout::Soa,
        };
        if base.layouts.contains(&layout) {
            schedule.layout = layout;
        }
        schedule
    }

    /// The space of the problem with this many fused substeps, if they can be fused.
    fn fused(&self, fuse: usize) -> Option<&Space<'static>> {
        let make = || {
            let problem = self.algorithm.fused(fuse).ok()?;
            Some(Box::new(Space::of(Cow::Owned(problem), self.value_bytes)))
        };
        self.fused.get(fuse)?.get_or_init(make).as_deref()
    }

    /// A draw for two substeps at once or up to a whole step, if they can be fused.
    fn draw_fused(&self, base: &Strategy, draws: &mut Draws) -> Schedule {
        let most = self.algorithm.substeps.len().clamp(2, MOST_FUSED);
        let fuse = 2 + draws.below(most as u64 - 1) as usize;
        let Some(space) = self.fused(fuse) else {
            return self.draw(base, draws);
        };
        let problem = &space.algorithm;
        let mut schedule = Schedule { fuse, ..space.draw(base, draws) };
        if draws.below(2) == 0 {
            schedule.placements = heuristic::fused(problem);
        }
        schedule.placements.retain(|_, p| !matches!(p, Placement::Global(_)));
        schedule.resize(problem);
        schedule
    }

    fn draw(&self, base: &Strategy, draws: &mut Draws) -> Schedule {
        let algorithm = &*self.algorithm;
        let mut placements = self.draw_placements(base, draws);
        let (parts, is_cut) = match draws.below(100) {
            0..SPLIT => (2 + draws.below(2) as usize, draws.below(2) == 0),
            _ => (1, false),
        };
        let mut passes = passes::balanced(algorithm, parts).unwrap_or_default();
        let cuts: &[Cut] = if is_cut { self.cuts() } else { &[] };
        if !cuts.is_empty() {
            let cut = draws.pick(cuts).clone();
            placements.extend(cut.placements);
            passes = cut.passes;
        }
        let mut schedule = Schedule { placements, passes, ..Schedule::default() };
        if cuts.is_empty() && schedule.passes.is_empty() && draws.below(100) < PARTED {
            let parts = *draws.pick(&passes::WAYS);
            let parted = passes::of_stored(algorithm, &schedule.placements, parts);
            schedule.passes = parted.unwrap_or_default();
        }
        let mut kernels = kernel_count(algorithm, &schedule);
        if !cuts.is_empty() && !schedule.passes.is_empty() {
            // The kernel that stores does the first pass.
            kernels -= 1;
        }
        schedule.kernels =
            (0..kernels).map(|_| blocking(base, algorithm.dimension, draws)).collect();
        schedule
    }

    fn draw_placements(&self, base: &Strategy, draws: &mut Draws) -> BTreeMap<String, Placement> {
        let algorithm = &*self.algorithm;
        let mut placements = BTreeMap::new();
        // Half of the marches carry by the rule, with some changes; the rest are free draws.
        match draws.below(4) {
            0 if base.marches => heuristic::carry(algorithm, &mut placements),
            1 if base.marches => heuristic::carry_ahead(algorithm, &mut placements),
            _ => {}
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
            placements = draws.pick(self.placements()).clone();
        }
        placements
    }

    /// The placements at the start of searches.
    fn placements(&self) -> &[BTreeMap<String, Placement>] {
        self.placements.get_or_init(|| neighbours::placements(&self.algorithm))
    }

    fn cuts(&self) -> &[Cut] {
        self.cuts.get_or_init(|| cuts(&self.algorithm))
    }
}

fn blocking(strategy: &Strategy, dimension: usize, draws: &mut Draws) -> Blocking {
    let params =
        strategy.params.iter().map(|p| (p.name.to_string(), *draws.pick(p.values(dimension))));
    Blocking { strategy: strategy.name.to_string(), params: params.collect() }
}

/// Placements that a grid function may have in some schedule.
fn legal_placements(algorithm: &Algorithm, id: FnId) -> Vec<Placement> {
    let any = [
        Placement::Inline,
        Placement::Register,
        Placement::Shared,
        Placement::Global(Halo::Exchange),
        Placement::Global(Halo::Recompute),
    ];
    match algorithm.function(id).def {
        Def::State(_) => Vec::new(),
        Def::Point(_) => any.to_vec(),
        Def::Sum(_) => {
            let carried = [Carry::Behind, Carry::Ahead].map(Placement::Carried);
            [&any[..], &carried].concat()
        }
    }
}
