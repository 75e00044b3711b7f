//! Bytes and operations of kernels over all cells of a run.

use stencil_compiler::cost::{self, KernelCost};

use crate::pictures::roofline::Roofs;

/// The cost of a division or a square root, in other operations.
const DIVISION: f64 = 8.0;

/// Cells of a run, and the card that they are on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid<'a> {
    pub(super) cells: [usize; 3],
    pub(super) patches: [usize; 3],
    pub(super) dimension: usize,
    pub(super) value_bytes: usize,
    /// None is a processor.
    pub(super) card: Option<&'a cost::Card>,
}

impl Grid<'_> {
    pub(super) fn points(&self) -> f64 {
        self.cells.iter().map(|n| *n as f64).product()
    }

    /// Bytes that memory moves for a kernel; on a processor those that must move.
    fn moved(&self, cost: &KernelCost) -> f64 {
        let patch =
            std::array::from_fn(|axis| self.cells[axis].div_ceil(self.patches[axis].max(1)));
        let by_card = self.card.and_then(|card| cost.memory_bytes(patch, card));
        self.points() * by_card.unwrap_or_else(|| cost.least_bytes())
    }
}

/// Counts of a part of a step, over all cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Work {
    /// Bytes that memory is predicted to move.
    pub(super) bytes: f64,
    /// A multiply-add is two.
    pub(super) flops: f64,
    /// Arithmetic instructions: a multiply-add is one, a division or a square root eight.
    pub(super) operations: f64,
    /// Divisions and square roots.
    pub(super) divisions: f64,
}

impl Work {
    pub(super) fn of(cost: &KernelCost, grid: &Grid<'_>) -> Self {
        let points = grid.points();
        Work {
            bytes: grid.moved(cost),
            flops: points * cost.flops,
            operations: points * cost.operations,
            divisions: points * cost.work.divisions as f64 / f64::from(cost.cells.max(1)),
        }
    }

    pub(super) fn add(&mut self, other: &Work) {
        self.bytes += other.bytes;
        self.flops += other.flops;
        self.operations += other.operations;
        self.divisions += other.divisions;
    }

    /// Flops for each byte.
    pub(super) fn intensity(&self) -> f64 {
        self.flops / self.bytes
    }

    /// The share of divisions and square roots in its instructions.
    pub(super) fn dividing(&self) -> f64 {
        match self.operations > 0.0 {
            true => DIVISION * self.divisions / self.operations,
            false => 0.0,
        }
    }

    /// Billion flops a second if instructions were all that takes time: the peak is of multiply-adds alone.
    pub(super) fn most(&self, roofs: &Roofs) -> f64 {
        roofs.peak / 2.0 * self.flops / self.operations
    }

    /// The time of a copy of its bytes, or of its instructions, over its time: 1 is at the roof.
    pub(super) fn of_roof(&self, seconds: f64, roofs: &Roofs) -> f64 {
        let copying = self.bytes / (1e9 * roofs.copy);
        let computing = self.operations / (1e9 * roofs.peak / 2.0);
        copying.max(computing) / seconds
    }
}
