//! `march`: tiles march along the slowest axis over a ring of planes in shared memory.

use super::{BLOCKS, CHUNK, COLUMN, LaunchKind, Layout, Param, Strategy, Tried};

/// The strategy.
pub const STRATEGY: Strategy = Strategy {
    name: "march",
    summary: "tiles march along the slowest axis over a ring of planes in shared memory",
    params: &[
        Param {
            name: "tile_x",
            summary: "cells of the tile along x",
            default: 32,
            values: &[16, 32, 64, 128],
            flat: Some(&[64, 128, 256, 512, 1024]),
            tried: Tried::First,
        },
        Param {
            name: "tile_y",
            summary: "cells of the tile along y (3d)",
            default: 8,
            values: &[4, 8, 12, 16, 24],
            flat: Some(&[1]),
            tried: Tried::First,
        },
        Param {
            name: "points",
            summary: "cells of a thread along x",
            default: 1,
            values: &[1, 2, 4],
            flat: None,
            tried: Tried::First,
        },
        Param {
            name: "ring",
            summary: "planes of the ring; 0 is two more than are read",
            default: 0,
            values: &[0, 6, 7, 8, 9],
            flat: None,
            tried: Tried::First,
        },
        CHUNK,
        COLUMN,
        BLOCKS,
        LOADER,
        BARRIER,
        PREFETCH_POINT,
        PROLOGUE,
    ],
    marches: true,
    stages: true,
    layouts: &[Layout::Soa],
    // Boxes are as the array lies.
    wraps: |blocking| STRATEGY.param(blocking, LOADER.name) != BOXES,
    across: Some(across),
    kind: LaunchKind::Blocks,
    least_dimension: 2,
};

/// The means by which planes are copied into the ring.
pub(crate) const LOADER: Param = Param {
    name: "loader",
    summary: "0: each thread copies 16 bytes at a time; 1: one thread has whole boxes copied, where a device can; 2: boxes, but copies where a block reads around an end",
    default: 0,
    values: &[0, BOXES, BOTH],
    flat: None,
    tried: Tried::Beside,
};

/// The loader that copies boxes.
pub(crate) const BOXES: u32 = 1;

/// The loader that copies boxes except in blocks that read around an end.
pub(crate) const BOTH: u32 = 2;

/// The kind of wait for shared functions that others computed.
pub(crate) const BARRIER: Param = Param {
    name: "barrier",
    summary: "1: split, a warp waits for the others when it first reads what they shared; 0: all wait for each other once a plane",
    default: 0,
    values: &[0, 1],
    flat: None,
    tried: Tried::Beside,
};

/// The point of an iteration at which it requests the planes of a coming one.
pub(crate) const PREFETCH_POINT: Param = Param {
    name: "prefetch_point",
    summary: "when an iteration requests the planes of a coming one: 0: before its work, or amid it with split barriers; 1: after it, so that warps wait less for each other",
    default: 0,
    values: &[0, 1],
    flat: None,
    tried: Tried::Last,
};

/// Code for the planes before a chunk and after it.
pub(crate) const PROLOGUE: Param = Param {
    name: "prologue",
    summary: "1: planes before and after a chunk get only the work that its outputs need of them, in code of their own; 0: all of it",
    default: 0,
    values: &[0, 1],
    flat: None,
    tried: Tried::Last,
};

/// Cells of the tile along x and y.
pub(crate) fn across(param: &dyn Fn(&str) -> u32, dimension: usize) -> [u32; 2] {
    match dimension {
        3 => [param("tile_x"), param("tile_y")],
        _ => [param("tile_x"), 1],
    }
}
