//! Schedules with names: one function each, listed in [`ALL`].

use std::collections::BTreeMap;

use super::On;
use super::heuristic::{self, carry, carry_ahead, cpu, gpu, stored};
use super::sums;
use super::tiles::{self, march};
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
    make: fn(&Algorithm, On) -> Schedule,
}

impl Preset {
    /// Its schedule for a card, the newest that is modelled where a precision alone is given.
    pub fn schedule(&self, algorithm: &Algorithm, on: impl Into<On>) -> Schedule {
        (self.make)(algorithm, on.into())
    }
}

/// Every preset.
pub const ALL: &[Preset] = &[
    Preset {
        name: "cpu",
        summary: "rows; what is expensive is stored (the CPU program)",
        make: |a, _| cpu(a),
    },
    Preset {
        name: "rows",
        summary: "one pass over rows, everything recomputed",
        make: |_, _| Schedule {
            placements: BTreeMap::new(),
            kernels: vec![Blocking::new(strategies::rows::STRATEGY.name, &[])],
            ..Schedule::default()
        },
    },
    Preset {
        name: "direct",
        summary: "one pass, one thread a cell (the 55-point form)",
        make: |a, p| tiles::direct(a, BTreeMap::new(), p),
    },
    Preset {
        name: "single_pass",
        summary: "one pass over boxes of cells in shared memory (the 55-point form)",
        make: |a, p| tiles::boxes(a, BTreeMap::new(), p),
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
        make: |a, on| gpu(a, on),
    },
];

/// The preset of this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|p| p.name == name)
}

fn decomposed(algorithm: &Algorithm, on: On) -> Schedule {
    marched(algorithm, stored(algorithm, Halo::Exchange), on)
}

/// If nothing is stored, or nothing can be added up before, this is `decomposed`.
fn decomposed_sums(algorithm: &Algorithm, on: On) -> Schedule {
    let mut placements = stored(algorithm, Halo::Exchange);
    sums::store_parts(algorithm, &mut placements);
    marched(algorithm, placements, on)
}

fn gathered(algorithm: &Algorithm, on: On) -> Schedule {
    marched(algorithm, BTreeMap::new(), on)
}

fn carried(algorithm: &Algorithm, on: On) -> Schedule {
    let mut placements = BTreeMap::new();
    if algorithm.dimension > 1 {
        carry(algorithm, &mut placements);
    }
    marched(algorithm, placements, on)
}

/// If no sum that rides along is a factor, this is `carried`.
fn ahead(algorithm: &Algorithm, on: On) -> Schedule {
    let mut placements = BTreeMap::new();
    if algorithm.dimension > 1 {
        carry_ahead(algorithm, &mut placements);
    }
    marched(algorithm, placements, on)
}

/// If nothing is worth sharing, this is `carried`.
fn shared(algorithm: &Algorithm, on: On) -> Schedule {
    let mut placements = BTreeMap::new();
    if algorithm.dimension > 1 {
        placements = heuristic::shared(algorithm);
        carry(algorithm, &mut placements);
    }
    marched(algorithm, placements, on)
}

/// If substeps cannot be fused, or no thread has registers for it, this is `shared`.
fn fused(algorithm: &Algorithm, on: On) -> Schedule {
    let fused = heuristic::fused_march(algorithm, heuristic::AT_ONCE, on);
    fused.unwrap_or_else(|| shared(algorithm, on))
}

/// A march for each kernel; on a line, a thread a cell.
fn marched(algorithm: &Algorithm, placements: BTreeMap<String, Placement>, on: On) -> Schedule {
    if algorithm.dimension == 1 {
        return tiles::direct(algorithm, placements, on);
    }
    march(algorithm, placements, on)
}
