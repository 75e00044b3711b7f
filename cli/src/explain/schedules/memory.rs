//! What memory moves for a patch of given size, kernel by kernel, to be held against a profiler.

use stencil_compiler::cost::{Card, KernelCost};

use crate::explain::table::Table;

/// A table of the kernels of a substep.
pub(super) fn table(costs: &[KernelCost], substep: usize, cells: [usize; 3]) -> String {
    let card = Card::default();
    let number: usize = cells.iter().product();
    let mut table = Table::new(
        4,
        &[
            "memory",
            "at least#",
            "as tiled#",
            "predicted#",
            "MB a launch#",
        ],
    );
    let mut sums = [0.0; 3];
    for cost in costs.iter().filter(|cost| cost.substep == substep) {
        let Some(bytes) = cost.memory_bytes(cells, &card) else {
            return String::new();
        };
        let columns = [cost.least_bytes(), cost.fetched_bytes(), bytes];
        table.row(row(&cost.name, columns, number));
        sums = [0, 1, 2].map(|i: usize| sums[i] + columns[i]);
    }
    table.row(row("all kernels", sums, number));
    let [x, y, z] = cells;
    format!("    bytes a cell of {x} x {y} x {z} that memory moves\n{table}")
}

fn row(name: &str, [least, tiled, bytes]: [f64; 3], cells: usize) -> [String; 5] {
    [
        name.to_string(),
        format!("{least:.0}"),
        format!("{tiled:.1}"),
        format!("{bytes:.1}"),
        format!("{:.1}", bytes * cells as f64 / 1e6),
    ]
}
