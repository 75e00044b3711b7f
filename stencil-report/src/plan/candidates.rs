//! Candidates: schedules that are planned and lowered without a card, and their predicted times.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::compile::{Compiled, ScheduleError, Target, compile};
use stencil_compiler::cost::{self, Fills, KernelCost, Model as Card, StepTime, Time};
use stencil_compiler::expr::real::Precision;
use stencil_compiler::kernel::{Kernel, Multiprocessor};
use stencil_compiler::model::Model;
use stencil_compiler::plan::{self, Plan};
use stencil_compiler::schedule::text::{layout_line, placement_words, print_blocking};
use stencil_compiler::schedule::{Carry, LaunchKind, Placement, Schedule};
use stencil_compiler::search::{self, presets};
use stencil_runtime::backend::cuda::BOXES;

use crate::ByPlan;

/// A problem to plan, and the card and the mesh to plan it for.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The equations.
    pub model: &'a Model,
    /// The discrete problem.
    pub algorithm: &'a Algorithm,
    /// Its formulation, if a plan file chose it.
    pub chosen: Option<&'a ByPlan>,
    /// Of the values.
    pub precision: Precision,
    /// Cells of the mesh, which is periodic and one patch.
    pub cells: [usize; 3],
    /// The card that times are predicted for.
    pub on: &'static Card,
}

/// A schedule that may be chosen.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The preset's name, or what it does in a few words.
    pub(super) name: String,
    /// Is it a preset?
    pub(super) is_preset: bool,
    /// Presets that come to the same plan.
    pub(super) twins: Vec<String>,
    /// The schedule.
    pub(super) schedule: Schedule,
    /// Its prediction, or the reason why it cannot run.
    pub(super) outcome: Result<Predicted, Rejection>,
}

/// Why a candidate cannot run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rejection {
    /// The schedule is illegal.
    Illegal(String),
    /// The card cannot run it.
    Card(String),
}

impl Candidate {
    /// Its name, and those of presets that come to the same plan.
    pub(super) fn names(&self) -> String {
        let names = std::iter::once(&self.name).chain(&self.twins);
        names.cloned().collect::<Vec<_>>().join(" = ")
    }
}

impl Rejection {
    /// The reason in words.
    pub(super) fn words(&self) -> &str {
        match self {
            Rejection::Illegal(words) | Rejection::Card(words) => words,
        }
    }
}

/// A schedule carried through.
#[derive(Clone, Debug)]
pub(super) struct Predicted {
    /// Launches, fills and swaps of a step.
    pub(super) plan: Plan,
    /// The cost of each launch.
    pub(super) costs: Vec<KernelCost>,
    /// The time of each launch.
    pub(super) times: Vec<Time>,
    /// Seconds of a step in a burst, with fills and gaps between launches.
    pub(super) seconds: f64,
    /// The same without rests.
    pub(super) sustained: f64,
    /// The share of its clock that the card holds then.
    pub(super) held: f64,
}

impl Predicted {
    /// Sum over the launches of a step, or an equal part of several that are done at once.
    pub(super) fn sum(&self, of: impl Fn(&KernelCost) -> f64) -> f64 {
        self.costs.iter().map(of).sum::<f64>() / self.plan.time_steps as f64
    }

    /// Bytes a point that memory moves in a step.
    pub(super) fn moved(&self, problem: &Problem<'_>) -> f64 {
        let card = &problem.on.rates.card;
        self.sum(|c| c.memory_bytes(problem.cells, card).unwrap_or(0.0))
    }

    /// Most bytes that a thread is likely to spill.
    pub(super) fn spilled(&self) -> u32 {
        let of = |cost: &KernelCost| cost.likely_registers().1;
        self.costs.iter().map(of).max().unwrap_or(0)
    }
}

impl Problem<'_> {
    /// Points of the mesh.
    pub(super) fn points(&self) -> f64 {
        self.cells.iter().map(|n| *n as f64).product()
    }

    /// Seconds to copy so many bytes a point.
    pub(super) fn copying(&self, bytes: f64) -> f64 {
        bytes * self.points() / self.on.rates.copy_bytes
    }

    /// Bytes a point that no step can avoid to move.
    pub(super) fn floor(&self) -> f64 {
        let bytes = self.precision.bytes();
        let substeps = 0..self.algorithm.substeps.len();
        substeps.map(|at| cost::floor_bytes(self.algorithm, at, bytes)).sum()
    }

    /// The precision and the multiprocessors that schedules are chosen for.
    pub(crate) fn chosen_for(&self) -> (Precision, Multiprocessor) {
        (self.precision, self.on.rates.multiprocessor)
    }

    /// A run on a periodic mesh on the card.
    pub(crate) fn target(&self) -> Target {
        Target::periodic(self.precision.bytes(), self.cells, self.on.rates.device())
    }

    /// Plans and lowers a schedule as a run on a periodic mesh does.
    ///
    /// # Errors
    /// If it is illegal.
    pub(super) fn compile(&self, schedule: &Schedule) -> Result<Compiled, ScheduleError> {
        compile(self.algorithm, schedule, &self.target())
    }

    /// Predicts a compiled schedule.
    ///
    /// # Errors
    /// If the card cannot run it.
    pub(super) fn predict(&self, compiled: &Compiled) -> Result<Predicted, Rejection> {
        let costs = cost::kernels(compiled).map_err(Rejection::Illegal)?;
        let rates = &self.on.rates;
        let mut times = Vec::new();
        for (cost, kernel) in costs.iter().zip(&compiled.kernels) {
            self.can_run(cost, kernel)?;
            let time = cost.time(self.cells, rates, cost.likely_registers());
            times.push(time.ok_or_else(|| {
                Rejection::Card(format!(
                    "no block fits on a multiprocessor of {}: {} KiB of shared memory, {} threads",
                    self.on.name,
                    cost.shared_bytes.div_ceil(1024),
                    cost.threads
                ))
            })?);
        }
        let fills = Fills::of(&compiled.plan, self.cells, self.precision.bytes());
        let step = StepTime::new(&times, &fills, rates);
        Ok(Predicted {
            seconds: step.total,
            sustained: step.sustained,
            held: step.held,
            plan: compiled.plan.clone(),
            costs,
            times,
        })
    }

    fn can_run(&self, cost: &KernelCost, kernel: &Kernel) -> Result<(), Rejection> {
        if kernel.launch.kind == LaunchKind::Rows {
            return Err(Rejection::Card("its rows are for a processor".into()));
        }
        if cost.work.boxes > 0 && self.on.capability < BOXES {
            return Err(Rejection::Card(format!(
                "boxes (loader=1, loader=2) need compute capability {}.{}, and {} has {}.{}",
                BOXES.0, BOXES.1, self.on.name, self.on.capability.0, self.on.capability.1
            )));
        }
        Ok(())
    }

    /// A candidate of a schedule.
    pub(super) fn candidate(&self, name: &str, is_preset: bool, schedule: Schedule) -> Candidate {
        let compiled = self.compile(&schedule);
        let compiled = compiled.map_err(|error| Rejection::Illegal(error.message));
        Candidate {
            name: name.to_string(),
            is_preset,
            twins: Vec::new(),
            outcome: compiled.and_then(|compiled| self.predict(&compiled)),
            schedule,
        }
    }

    /// All presets, so many schedules of those that a search begins with, spread over their kinds, and
    /// some neighbours of the fastest; the fastest first, then those that cannot run. Of those that come
    /// to the same plan the first is kept.
    pub(super) fn candidates(&self, most: usize) -> Vec<Candidate> {
        let presets = presets::ALL.iter().map(|preset| {
            let schedule = preset.schedule(self.algorithm, self.chosen_for());
            (preset.name.to_string(), true, schedule)
        });
        let first = search::first(self.algorithm);
        // The report says of fused substeps what they would cost.
        let fused = first.iter().find(|schedule| schedule.fuse > 1).cloned();
        let first = spread(first, most).into_iter().chain(fused);
        let named = |schedule: Schedule| (words(&schedule), false, schedule);
        let mut all = self.evaluated(presets.chain(first.map(named)).collect());
        sort(&mut all);
        if let Some(best) = all.first().filter(|best| best.outcome.is_ok()) {
            let around = search::neighbours(self.algorithm, &best.schedule);
            let around = spread(around, most.div_ceil(NEAR)).into_iter();
            all.extend(self.evaluated(around.map(named).collect()));
        }
        let mut distinct: Vec<Candidate> = Vec::new();
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for candidate in all {
            let text = candidate.outcome.as_ref().ok();
            let text = text.map(|found| plan::text::print(&found.plan));
            let twin = text.as_ref().and_then(|text| seen.get(text));
            match twin.and_then(|at| distinct.get_mut(*at)) {
                Some(twin) if candidate.is_preset => twin.twins.push(candidate.name),
                Some(_) => {}
                None => {
                    seen.extend(text.map(|text| (text, distinct.len())));
                    distinct.push(candidate);
                }
            }
        }
        sort(&mut distinct);
        distinct
    }

    fn evaluated(&self, all: Vec<(String, bool, Schedule)>) -> Vec<Candidate> {
        all.into_par_iter()
            .map(|(name, is_preset, schedule)| self.candidate(&name, is_preset, schedule))
            .collect()
    }
}

/// The fastest first, presets before others of the same time.
fn sort(all: &mut [Candidate]) {
    let seconds = |c: &Candidate| c.outcome.as_ref().map_or(f64::INFINITY, |p| p.seconds);
    all.sort_by(|a, b| {
        let first = seconds(a).total_cmp(&seconds(b));
        first.then(b.is_preset.cmp(&a.is_preset))
    });
}

/// Of so many candidates from where a search begins there is one neighbour of the fastest.
const NEAR: usize = 2;

/// The kind of a schedule: its blockings by name, how many functions live where, its passes, and what it fuses.
pub(crate) fn kind(schedule: &Schedule) -> Vec<String> {
    let kernels = schedule.kernels.iter().map(|k| k.strategy.clone());
    let placed = |is: fn(&Placement) -> bool| {
        let own = schedule.placements.values().filter(|p| is(p));
        own.count().to_string()
    };
    let counts = [
        placed(|p| matches!(p, Placement::Global(_))),
        placed(|p| *p == Placement::Carried(Carry::Behind)),
        placed(|p| *p == Placement::Carried(Carry::Ahead)),
        schedule.more_passes().to_string(),
        schedule.parted().count().to_string(),
        schedule.fuse.to_string(),
    ];
    kernels.chain(counts).collect()
}

/// So many of all schedules: as many of each kind, spread over its parameters. To lower all of them
/// would take minutes.
pub(crate) fn spread(all: Vec<Schedule>, most: usize) -> Vec<Schedule> {
    let mut kinds: BTreeMap<Vec<String>, Vec<Schedule>> = BTreeMap::new();
    for schedule in all {
        kinds.entry(kind(&schedule)).or_default().push(schedule);
    }
    let mut sizes: Vec<usize> = kinds.values().map(Vec::len).collect();
    sizes.sort_unstable();
    // Kinds with few members leave their share to the others.
    let (mut left, mut share) = (most, 0);
    for (at, size) in sizes.iter().enumerate() {
        share = left / (sizes.len() - at);
        left -= share.min(*size);
    }
    let chosen = kinds.into_values().flat_map(|of| {
        let (size, count) = (of.len(), share.max(1).min(of.len()));
        let places: BTreeSet<usize> =
            (0..count).map(|k| (2 * k + 1) * size / (2 * count)).collect();
        let of = of.into_iter().enumerate();
        of.filter(move |(at, _)| places.contains(at)).map(|(_, schedule)| schedule)
    });
    chosen.take(most).collect()
}

/// A schedule in a few words: its blockings, and what it places and splits; what it stores by name, where
/// that is little.
pub(super) fn words(schedule: &Schedule) -> String {
    let mut kernels: Vec<String> = schedule.kernels.iter().map(print_blocking).collect();
    kernels.dedup();
    let mut words = vec![kernels.join("; ")];
    let placed = |is: fn(&Placement) -> bool| -> Vec<&str> {
        let own = schedule.placements.iter().filter(|(_, p)| is(p));
        own.map(|(name, _)| name.as_str()).collect()
    };
    let stored = placed(|p| matches!(p, Placement::Global(_)));
    words.extend(match stored.len() {
        0 => None,
        1..=2 => Some(format!("{} stored", stored.join(" and "))),
        n => Some(format!("{n} stored")),
    });
    for carry in [Carry::Behind, Carry::Ahead].map(Placement::Carried) {
        let of = schedule.placements.values().filter(|p| **p == carry);
        let carried = of.count();
        words.extend((carried > 0).then(|| format!("{carried} {}", placement_words(carry))));
    }
    let steps = schedule.fuse;
    words.extend((steps > 1).then(|| format!("{steps} substeps fused")));
    let more = schedule.more_passes();
    words.extend((more > 0).then(|| format!("{} passes", more + 1)));
    let parted = schedule.parted().count();
    words.extend((parted > 0).then(|| format!("{parted} stored apart")));
    words.extend(layout_line(schedule.layout));
    words.join(", ")
}
