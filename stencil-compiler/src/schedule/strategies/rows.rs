//! `rows`: one row after the other, all its cells in a vector loop. The blocking of CPUs.

use super::{LaunchKind, Layout, Strategy};

/// The strategy.
pub const STRATEGY: Strategy = Strategy {
    name: "rows",
    summary: "each row of cells as one vector loop, rows in parallel (the CPU's blocking)",
    params: &[],
    marches: false,
    stages: false,
    layouts: &[Layout::Soa],
    wraps: |_| false,
    across: None,
    kind: LaunchKind::Rows,
    least_dimension: 1,
};
