//! `tile3d`: boxes of cells with their rim in shared memory, rolling along the slowest axis.

use super::{BLOCKS, LaunchKind, Layout, Param, Strategy, Tried};

/// The strategy.
pub const STRATEGY: Strategy = Strategy {
    name: "tile3d",
    summary: "boxes of cells with their rim in shared memory, rolling along the slowest axis",
    params: &[
        Param {
            name: "x",
            summary: "cells of the box along x, a thread each",
            default: 32,
            values: &[16, 32, 64],
            flat: None,
            tried: Tried::First,
        },
        Param {
            name: "y",
            summary: "cells of the box along y",
            default: 4,
            values: &[2, 4, 8],
            flat: None,
            tried: Tried::First,
        },
        Param {
            name: "z",
            summary: "cells of the box along z",
            default: 4,
            values: &[1, 2, 4, 8],
            flat: None,
            tried: Tried::First,
        },
        Param {
            name: "rolls",
            summary: "boxes that a block computes one after the other",
            default: 8,
            values: &[1, 4, 8, 16],
            flat: None,
            tried: Tried::Beside,
        },
        BLOCKS,
    ],
    marches: false,
    stages: false,
    layouts: &[Layout::Soa],
    wraps: |_| true,
    across: None,
    kind: LaunchKind::Blocks,
    least_dimension: 1,
};
