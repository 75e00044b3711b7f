//! `direct`: one thread a cell, every point read from global memory through the caches.

use super::{BLOCKS, LaunchKind, Layout, Param, Strategy, Tried};

/// The strategy.
pub const STRATEGY: Strategy = Strategy {
    name: "direct",
    summary: "one thread a cell, every point read through the caches",
    params: &[
        Param {
            name: "x",
            summary: "threads along x",
            default: 32,
            values: &[32, 64, 128],
            flat: None,
            tried: Tried::First,
        },
        Param {
            name: "y",
            summary: "threads along y",
            default: 4,
            values: &[1, 2, 4, 8],
            flat: None,
            tried: Tried::First,
        },
        Param {
            name: "z",
            summary: "threads along z",
            default: 2,
            values: &[1, 2, 4],
            flat: None,
            tried: Tried::First,
        },
        BLOCKS,
    ],
    marches: false,
    stages: false,
    layouts: &Layout::ALL,
    wraps: |_| false,
    across: None,
    kind: LaunchKind::Blocks,
    least_dimension: 1,
};
