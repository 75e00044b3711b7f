//! `lexicographic`: threads take cells in the order of x, y, z, a block a run of consecutive ones.

use super::{BLOCKS, LaunchKind, Layout, Param, Strategy, Tried};

/// The strategy.
pub const STRATEGY: Strategy = Strategy {
    name: "lexicographic",
    summary: "one thread a cell, a block covers cells that follow each other in the order of x, y, z",
    params: &[
        Param {
            name: "threads",
            summary: "threads of a block",
            default: 256,
            values: &[64, 128, 256, 512, 1024],
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
