//! Schedules with names: one function each, listed in [`ALL`].

use std::collections::BTreeMap;

use super::heuristic::{self, carry, carry_ahead, cpu, gpu_of, stored};
use super::sums;
use super::tiles::{self, march};
use super::{Case, On};
use crate::algorithm::Algorithm;
use crate::schedule::{Blocking, Halo, Placement, Schedule, strategies};

/// A named way to schedule any algorithm.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its effect, in a sentence.
    pub summary: &'static str,
    /// The schedule.
    make: fn(&Case<'_>) -> Schedule,
}

impl Preset {
    /// Its schedule for a card, the newest that is modelled where a precision alone is given.
    pub fn schedule(&self, algorithm: &Algorithm, on: impl Into<On>) -> Schedule {
        self.schedule_for(&Case::new(algorithm, on))
    }

    /// The same for a case: presets for the same one have costs in common.
    pub fn schedule_for(&self, case: &Case<'_>) -> Schedule {
        (self.make)(case)
    }
}

/// Every preset.
pub const ALL: &[Preset] = &[
    Preset {
        name: "cpu",
        summary: "rows; what is expensive is stored (the CPU program)",
        make: |case| cpu(case.algorithm),
    },
    Preset {
        name: "rows",
        summary: "one pass over rows, everything recomputed",
        make: |_| Schedule {
            placements: BTreeMap::new(),
            kernels: vec![Blocking::new(strategies::rows::STRATEGY.name, &[])],
            ..Schedule::default()
        },
    },
    Preset {
        name: "direct",
        summary: "one pass, one thread a cell (the 55-point form)",
        make: |case| tiles::direct(case, BTreeMap::new()),
    },
    Preset {
        name: "single_pass",
        summary: "one pass over boxes of cells in shared memory (the 55-point form)",
        make: |case| tiles::boxes(case, BTreeMap::new()),
    },
    Preset {
        name: "decomposed",
        summary: "derived grid functions stored by kernels of their own (the 19-point form)",
        make: decomposed,
    },
    Preset {
        name: "decomposed_sums",
        summary: "the same, and all that reads no neighbour of them is added up by those kernels",
        make: decomposed_sums,
    },
    Preset {
        name: "gathered",
        summary: "one march that gathers all planes it needs",
        make: gathered,
    },
    Preset { name: "carried", summary: "one march with sums that ride along", make: carried },
    Preset {
        name: "ahead",
        summary: "one march; sums that ride along complete ahead where they are factors",
        make: ahead,
    },
    Preset {
        name: "shared",
        summary: "one march; derived grid functions in shared memory, sums ride along",
        make: shared,
    },
    Preset {
        name: "fused",
        summary: "one march for two substeps at once, of one time step or of two",
        make: fused,
    },
    Preset {
        name: "plane",
        summary: "marches with a plane in shared memory and columns in registers",
        make: tiles::plane,
    },
    Preset {
        name: "gpu",
        summary: "marches; what is expensive is stored, sums ride along; two substeps at once if that is faster",
        make: gpu_of,
    },
];

/// The preset of this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|p| p.name == name)
}

fn decomposed(case: &Case<'_>) -> Schedule {
    marched(case, stored(case.algorithm, Halo::Exchange))
}

/// If nothing is stored, or nothing can be added up before, this is `decomposed`.
fn decomposed_sums(case: &Case<'_>) -> Schedule {
    let mut placements = stored(case.algorithm, Halo::Exchange);
    sums::store_parts(case.algorithm, &mut placements);
    marched(case, placements)
}

fn gathered(case: &Case<'_>) -> Schedule {
    marched(case, BTreeMap::new())
}

fn carried(case: &Case<'_>) -> Schedule {
    let mut placements = BTreeMap::new();
    if case.algorithm.dimension > 1 {
        carry(case.algorithm, &mut placements);
    }
    marched(case, placements)
}

/// If no sum that rides along is a factor, this is `carried`.
fn ahead(case: &Case<'_>) -> Schedule {
    let mut placements = BTreeMap::new();
    if case.algorithm.dimension > 1 {
        carry_ahead(case.algorithm, &mut placements);
    }
    marched(case, placements)
}

/// If nothing is worth sharing, this is `carried`.
fn shared(case: &Case<'_>) -> Schedule {
    let mut placements = BTreeMap::new();
    if case.algorithm.dimension > 1 {
        placements = heuristic::shared(case.algorithm);
        carry(case.algorithm, &mut placements);
    }
    marched(case, placements)
}

/// If substeps cannot be fused, or no thread has registers for it, this is `shared`.
fn fused(case: &Case<'_>) -> Schedule {
    let fused = heuristic::fused_march(case, heuristic::AT_ONCE);
    fused.unwrap_or_else(|| shared(case))
}

/// A march for each kernel; on a line, a thread a cell.
fn marched(case: &Case<'_>, placements: BTreeMap<String, Placement>) -> Schedule {
    if case.algorithm.dimension == 1 {
        return tiles::direct(case, placements);
    }
    march(case, placements)
}
