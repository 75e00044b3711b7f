//! `plane`: tiles march along the slowest axis, one plane in shared memory, columns in registers.

use super::{BLOCKS, CHUNK, LaunchKind, Layout, Param, Strategy, Tried};

/// The strategy.
pub const STRATEGY: Strategy = Strategy {
    name: "plane",
    summary: "tiles march along the slowest axis, a plane in shared memory, columns in registers",
    params: &[
        Param {
            name: "tile_x",
            summary: "cells of the tile along x",
            default: 32,
            values: &[16, 32, 64],
            flat: Some(&[64, 128, 256, 512, 1024]),
            tried: Tried::First,
        },
        Param {
            name: "tile_y",
            summary: "cells of the tile along y; in two dimensions they too lie along x",
            default: 8,
            values: &[4, 8, 12, 16],
            flat: Some(&[1]),
            tried: Tried::First,
        },
        Param {
            name: "points",
            summary: "cells of a thread along x",
            default: 1,
            values: &[1, 2],
            flat: None,
            tried: Tried::First,
        },
        CHUNK,
        Param {
            name: "buffers",
            summary: "2: the next plane has room of its own, which saves a barrier; 1: it has not",
            default: 2,
            values: &[1, 2],
            flat: None,
            tried: Tried::Beside,
        },
        BLOCKS,
    ],
    marches: true,
    stages: false,
    layouts: &[Layout::Soa],
    wraps: |_| false,
    across: Some(across),
    kind: LaunchKind::Blocks,
    least_dimension: 2,
};

/// Cells of the tile along x and y. In two dimensions it is a row: the cells along y go along x, too.
pub(crate) fn across(param: &dyn Fn(&str) -> u32, dimension: usize) -> [u32; 2] {
    let [x, y] = ["tile_x", "tile_y"].map(param);
    match dimension {
        2 => [x.saturating_mul(y), 1],
        _ => [x, y],
    }
}
