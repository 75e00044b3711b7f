//! Sectors of memory in which values of several arrays lie side by side.
//!
//! A kernel that reads one of five values of a cell has most sectors moved with all five (Kim et al. 2022, section
//! 3.3). Values of other arrays in a sector that it reads at about the same time come along.

use std::collections::BTreeSet;

use super::memory::SECTOR;
use crate::kernel::Kernel;

/// Values that memory moves for each value of an array, if the arrays in `accessed` are accessed.
pub(super) fn moved(kernel: &Kernel, name: &str, accessed: &dyn Fn(&str) -> bool) -> f64 {
    let place = |name: &str| {
        let buffer = kernel.buffers.iter().find(|b| b.name == name);
        buffer.and_then(|buffer| buffer.beside)
    };
    let Some(own) = place(name) else {
        return 1.0;
    };
    let buffers = kernel.buffers.iter().filter(|b| accessed(&b.name));
    let beside = buffers.filter_map(|buffer| buffer.beside);
    let beside = beside.filter(|place| place.before == own.before);
    let used: BTreeSet<usize> = beside.map(|place| place.at).collect();
    if used.is_empty() {
        return 1.0;
    }
    // As many cells as a sector has bytes fill whole sectors.
    let sectors = |at: &usize| {
        let first = move |cell: usize| (cell * own.of + at) * kernel.value_bytes / SECTOR;
        (0..SECTOR).map(first).collect::<Vec<_>>()
    };
    let touched: BTreeSet<usize> = used.iter().flat_map(sectors).collect();
    let values = touched.len() * SECTOR / kernel.value_bytes;
    values as f64 / (SECTOR * used.len()) as f64
}
