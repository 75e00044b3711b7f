//! Predicted traffic of memory and times on a card for a patch of given size, kernel by kernel, for comparison with a
//! profiler.

use stencil_compiler::cost::{KernelCost, Model};

use crate::table::Table;

/// A table of the kernels of a substep.
pub(super) fn table(costs: &[KernelCost], substep: usize, cells: [usize; 3], on: &Model) -> String {
    let number: f64 = cells.iter().map(|n| *n as f64).product();
    let mut table = Table::new(
        4,
        &[
            "kernel",
            "at least#",
            "as tiled#",
            "memory#",
            "MB a launch#",
            "us a launch#",
            "of copy#",
            "bound by",
        ],
    );
    let mut sums = [0.0; 4];
    let mut limit = "";
    let mut longest = 0.0;
    for cost in costs.iter().filter(|cost| cost.substep == substep) {
        let Some(time) = cost.time(cells, &on.rates, cost.likely_registers()) else {
            return String::new();
        };
        let moved = cost.memory_bytes(cells, &on.rates.card).unwrap_or(0.0);
        let columns = [cost.least_bytes(), cost.fetched_bytes(), moved, time.total];
        let own = time.limit().0.name();
        if time.total > longest {
            (longest, limit) = (time.total, own);
        }
        table.row(row(&cost.name, columns, number, on, own));
        sums = [0, 1, 2, 3].map(|i: usize| sums[i] + columns[i]);
    }
    table.row(row("all kernels", sums, number, on, limit));
    let [x, y, z] = cells;
    let what = format!("bytes a cell of {x} x {y} x {z}, and times on {}", on.name);
    format!("    {what}\n{table}")
}

fn row(
    name: &str,
    [least, tiled, bytes, seconds]: [f64; 4],
    cells: f64,
    on: &Model,
    limit: &str,
) -> [String; 8] {
    let moved = bytes * cells;
    let copy = least * cells / on.rates.copy_bytes;
    [
        name.to_string(),
        format!("{least:.0}"),
        format!("{tiled:.1}"),
        format!("{bytes:.1}"),
        format!("{:.1}", moved / 1e6),
        format!("{:.1}", 1e6 * seconds),
        format!("{:.0} %", 100.0 * copy / seconds),
        limit.to_string(),
    ]
}
