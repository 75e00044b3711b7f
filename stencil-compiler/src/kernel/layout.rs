//! Buffers whose values lie side by side with those of others, or in surfaces: which statements may access them, and
//! at what cost.

use std::collections::BTreeSet;

use super::count::Counts;
use super::{Buffer, BufferId, Kernel, Stmt, WARP};
use crate::plan::Place;
use crate::schedule::LaunchKind;

/// Bytes of a line of the cache.
const LINE: usize = 128;

impl Buffer {
    /// Values from one cell to the next.
    pub fn cell_stride(&self) -> usize {
        self.beside.map_or(1, |place| place.of)
    }

    /// Do its values follow each other in memory along x?
    fn in_rows(&self) -> bool {
        self.cell_stride() == 1 && !self.surface
    }
}

impl Kernel {
    /// Checks that rows are accessed only of buffers that have rows.
    pub(super) fn check_layout(&self) -> Result<(), String> {
        let wrong = |place: &Place| place.of < 2 || place.at >= place.of;
        let mut beside = self.buffers.iter().filter(|b| b.beside.is_some());
        if let Some(buffer) = beside.find(|b| b.surface || b.beside.as_ref().is_some_and(wrong)) {
            return Err(format!("{} is beside nothing", buffer.name));
        }
        let mut in_rows = BTreeSet::new();
        rows(&self.body, &mut in_rows);
        for (at, buffer) in (0..).zip(&self.buffers) {
            let is_row = self.launch.kind == LaunchKind::Rows || in_rows.contains(&BufferId(at));
            if is_row && !buffer.in_rows() {
                return Err(format!("rows of {}, whose values lie apart", buffer.name));
            }
        }
        Ok(())
    }

    /// Counts more of so many accesses of a buffer by each thread than in an array by itself: lines of the cache that a
    /// warp touches, of which one is looked up in a round, and values that pass through texture units.
    pub(super) fn count_layout(&self, buffer: BufferId, times: u64, counts: &mut Counts) {
        let Some(buffer) = self.buffers.get(buffer.0 as usize) else {
            return;
        };
        let lines = |apart: usize| {
            let bytes = WARP as usize * apart * self.value_bytes;
            bytes.div_ceil(LINE).min(WARP as usize) as u64
        };
        counts.rounds += times * (lines(buffer.cell_stride()) - lines(1));
        counts.texels += times * u64::from(buffer.surface);
    }
}

/// Finds the buffers of which statements copy, or write several values at once.
fn rows(body: &[Stmt], found: &mut BTreeSet<BufferId>) {
    for stmt in body {
        match stmt {
            Stmt::Copy { buffer, .. } => {
                found.insert(*buffer);
            }
            Stmt::Store { buffer, values, .. } if values.len() > 1 => {
                found.insert(*buffer);
            }
            Stmt::CopyBox { buffers, .. } => found.extend(buffers),
            Stmt::For { body, .. } | Stmt::If { body, .. } => rows(body, found),
            _ => {}
        }
    }
}
