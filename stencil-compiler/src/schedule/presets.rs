//! Schedules with names: one function each, listed in [`ALL`].

use std::collections::BTreeMap;

use super::check::check;
use super::heuristic::{carry, cpu, gpu, march, stored};
use super::{Blocking, Halo, Schedule};
use crate::algorithm::Algorithm;
use crate::expr::real::Precision;
use crate::plan::kernel_count;

/// A named way to schedule any algorithm.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// The schedule.
    pub make: fn(&Algorithm, Precision) -> Schedule,
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
        make: |_, _| inline("rows"),
    },
    Preset {
        name: "direct",
        summary: "one pass, one thread a cell (the 55-point form)",
        make: |_, _| inline("direct"),
    },
    Preset {
        name: "single_pass",
        summary: "one pass over boxes of cells in shared memory (the 55-point form)",
        make: single_pass,
    },
    Preset {
        name: "decomposed",
        summary: "derived grid functions stored by kernels of their own (the 19-point form)",
        make: |a, _| decomposed(a),
    },
    Preset {
        name: "gathered",
        summary: "one march that gathers all planes it needs",
        make: gathered,
    },
    Preset {
        name: "carried",
        summary: "one march with sums that ride along",
        make: carried,
    },
    Preset {
        name: "gpu",
        summary: "marches; what is expensive is stored, sums ride along",
        make: gpu,
    },
];

/// The preset of this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    ALL.iter().find(|p| p.name == name)
}

fn inline(strategy: &str) -> Schedule {
    Schedule {
        placements: BTreeMap::new(),
        kernels: vec![Blocking::new(strategy, &[])],
    }
}

/// Boxes to try, along x, y, z: the first is the usual one, the others take less and less shared
/// memory.
const BOXES: [[u32; 3]; 4] = [[32, 4, 4], [32, 4, 2], [16, 4, 2], [16, 2, 1]];

fn single_pass(algorithm: &Algorithm, precision: Precision) -> Schedule {
    let boxes = BOXES.map(|[x, y, z]| Schedule {
        placements: BTreeMap::new(),
        kernels: vec![Blocking::new("tile3d", &[("x", x), ("y", y), ("z", z)])],
    });
    let fits = |schedule: &Schedule| check(algorithm, schedule, precision.bytes()).is_ok();
    let found = boxes.into_iter().find(fits);
    found.unwrap_or_else(|| inline("direct"))
}

fn decomposed(algorithm: &Algorithm) -> Schedule {
    let placements = stored(algorithm, Halo::Exchange);
    let kernels = vec![Blocking::new("direct", &[]); kernel_count(algorithm, &placements)];
    Schedule {
        placements,
        kernels,
    }
}

fn gathered(algorithm: &Algorithm, precision: Precision) -> Schedule {
    if algorithm.dimension == 1 {
        return inline("direct");
    }
    march(algorithm, BTreeMap::new(), 1, precision)
}

fn carried(algorithm: &Algorithm, precision: Precision) -> Schedule {
    if algorithm.dimension == 1 {
        return inline("direct");
    }
    let mut placements = BTreeMap::new();
    carry(algorithm, &mut placements);
    march(algorithm, placements, 1, precision)
}
