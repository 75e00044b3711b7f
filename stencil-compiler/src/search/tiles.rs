//! Tiles by rule: the largest with which a schedule is legal and a thread has registers enough.

use std::collections::BTreeMap;

use super::Case;
use super::heuristic::{carry, fit, stored};
use crate::algorithm::Algorithm;
use crate::cost::KernelCost;
use crate::expr::real::Precision;
use crate::schedule::{Blocking, Halo, Placement, Schedule, kernel_count, strategies};

/// Boxes to try, along x, y, z, and the number of them on a multiprocessor: measured best for four fields in `f32`,
/// four in `f64` or eight in `f32`, and eight in `f64`; the others take less.
const BOXES: [[u32; 4]; 5] =
    [[32, 8, 1, 3], [32, 4, 2, 2], [32, 4, 2, 1], [16, 4, 2, 1], [16, 2, 1, 1]];

/// Boxes that a block computes one after the other.
const ROLLS: u32 = 32;

/// Boxes in shared memory, each cell computed at once; the largest that fits.
pub(super) fn boxes(case: &Case<'_>, placements: BTreeMap<String, Placement>) -> Schedule {
    let boxes = BOXES.map(|[x, y, z, blocks]| {
        let params = [("x", x), ("y", y), ("z", z), ("rolls", ROLLS), ("blocks", blocks)];
        Schedule::placing(placements.clone())
            .blocked(case.algorithm, Blocking::new(strategies::tile3d::STRATEGY.name, &params))
    });
    let found = boxes.into_iter().find(|schedule| case.costs(schedule).is_some());
    found.unwrap_or_else(|| direct(case, placements))
}

/// Tiles to try, (cells along x, along y, cells a thread): the first is the one that hand-tuned
/// kernels found best for four fields, the others take less and less shared memory.
const TILES: [(u32, u32, u32); 6] =
    [(64, 12, 2), (32, 12, 1), (32, 8, 1), (32, 4, 1), (16, 8, 1), (16, 4, 1)];

/// A blocking that marches over a tile of (cells along x, along y, cells a thread); in two
/// dimensions half as many cells lie in a row.
fn marching(algorithm: &Algorithm, strategy: &str, (x, y, points): (u32, u32, u32)) -> Blocking {
    let (x, y) = if algorithm.dimension == 2 { (x * y / 2 / points * points, 1) } else { (x, y) };
    let params = [("tile_x", x), ("tile_y", y), ("points", points)];
    Blocking::new(strategy, &params)
}

/// Marches over the largest tile whose planes fit into shared memory, with several cells a thread if it has the
/// registers; if no tile fits, one thread a cell, with carried sums recomputed.
pub(super) fn march(case: &Case<'_>, placements: BTreeMap<String, Placement>) -> Schedule {
    if let Some((schedule, _)) = largest_march(case, &placements) {
        return schedule;
    }
    let mut placements = placements;
    placements.retain(|_, p| matches!(p, Placement::Global(_)));
    direct(case, placements)
}

/// The same marches, and their costs.
pub(super) fn largest_march(
    case: &Case<'_>,
    placements: &BTreeMap<String, Placement>,
) -> Option<(Schedule, Vec<KernelCost>)> {
    let base = Schedule::placing(placements.clone());
    let kernels = kernel_count(case.algorithm, &base);
    tiled(case, &base, kernels)
}

/// The schedule with this many marches over the largest tile with which it is legal.
pub(super) fn tiled(
    case: &Case<'_>,
    base: &Schedule,
    kernels: usize,
) -> Option<(Schedule, Vec<KernelCost>)> {
    tiles(case, base, kernels).next()
}

/// The schedules with this many marches over each tile with which they are legal, the largest first.
pub(super) fn tiles(
    case: &Case<'_>,
    base: &Schedule,
    kernels: usize,
) -> impl Iterator<Item = (Schedule, Vec<KernelCost>)> {
    let is_narrow = case.on.precision == Precision::F32;
    let in_precision = move |tile: &(u32, u32, u32)| is_narrow || tile.2 == 1;
    let tiled = move |tile: (u32, u32, u32)| {
        let march = marching(case.algorithm, strategies::march::STRATEGY.name, tile);
        let schedule = Schedule { kernels: vec![march; kernels], ..base.clone() };
        let costs = case.costs(&schedule)?;
        let is_legal = tile.2 == 1 || fit(&costs);
        is_legal.then(|| split(case, &schedule).unwrap_or((schedule, costs)))
    };
    TILES.into_iter().filter(in_precision).filter_map(tiled)
}

/// The schedule with the barriers around shared functions split, if there are any. It gains 3 to 14 %, measured for
/// planes of four systems; along rows, in two dimensions, it may lose as much.
fn split(case: &Case<'_>, schedule: &Schedule) -> Option<(Schedule, Vec<KernelCost>)> {
    if case.algorithm.dimension < 3 {
        return None;
    }
    let mut split = schedule.clone();
    for kernel in &mut split.kernels {
        kernel.params.insert("barrier".into(), 1);
    }
    let costs = case.costs(&split)?;
    Some((split, costs))
}

/// Tiles of planes to try, as those of marches, with blocks on a multiprocessor: the smaller and fewer
/// they are, the more registers a thread may have.
const PLANES: [((u32, u32, u32), u32); 4] =
    [((32, 8, 1), 2), ((32, 8, 1), 1), ((32, 4, 1), 1), ((16, 4, 1), 1)];

/// Planes in shared memory and columns in registers; sums that read other planes ride along if a thread has the
/// registers, else those planes are kept too.
pub(super) fn plane(case: &Case<'_>) -> Schedule {
    let algorithm = case.algorithm;
    let stored = stored(algorithm, Halo::Exchange);
    if algorithm.dimension == 1 {
        return direct(case, stored);
    }
    let mut carried = stored.clone();
    carry(algorithm, &mut carried);
    for placements in [carried, stored.clone()] {
        for (tile, blocks) in PLANES {
            let mut blocking = marching(algorithm, strategies::plane::STRATEGY.name, tile);
            blocking.params.insert("blocks".into(), blocks);
            let schedule = Schedule::placing(placements.clone()).blocked(algorithm, blocking);
            let room = |cost: &KernelCost| match blocks {
                1 => cost.register_limit(),
                _ => ROOM_FOR_TWO,
            };
            let fits = |cost: &KernelCost| cost.registers <= room(cost);
            if case.costs(&schedule).is_some_and(|all| all.iter().all(fits)) {
                return schedule;
            }
        }
    }
    boxes(case, stored)
}

/// Registers that a thread of two blocks may need by the estimate, which is on the high side, and
/// still not spill.
const ROOM_FOR_TWO: u32 = 150;

/// One thread a cell, two blocks on a multiprocessor if registers allow that.
pub(super) fn direct(case: &Case<'_>, placements: BTreeMap<String, Placement>) -> Schedule {
    let schedule = |params: &[(&str, u32)]| {
        Schedule::placing(placements.clone())
            .blocked(case.algorithm, Blocking::new(strategies::direct::STRATEGY.name, params))
    };
    let one = schedule(&[]);
    match case.costs(&one) {
        Some(costs) if costs.iter().all(|c| c.registers <= ROOM_FOR_TWO) => {
            schedule(&[("blocks", 2)])
        }
        _ => one,
    }
}
