//! The traffic of a kernel between memory and the cache that all multiprocessors share.
//!
//! `as tiled` counts what blocks read; neighbours read the same rims, and where one of them finds
//! a rim in the shared cache it costs memory nothing. Blocks start in the order of x, then y, then
//! z, as many as fit at once (a *wave*). A rim is found if what the card moves between its two
//! readings fits into the cache:
//!
//! - along x the next block is the neighbour: found;
//! - along another axis the neighbour is a row or a layer of blocks later. Blocks that are at
//!   work at once keep step, so a neighbour in the same wave finds the rim; between others lies
//!   what a wave, or all blocks between the two, read and write;
//! - where a block passes from plane to plane its neighbour along that axis begins where it ends,
//!   so between the two readings lies at least what a wave moves in its whole life;
//! - blocks that do not pass take so little time that waves do not show: between the two readings
//!   lie the blocks between the two.

use super::KernelCost;

/// Bytes that the memory of a card moves at least.
pub(super) const SECTOR: usize = 32;

/// The facts about a card that decide how much must be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Card {
    /// Multiprocessors.
    pub units: u32,
    /// Bytes of the shared cache that hold distinct data.
    pub cache: usize,
    /// Bytes that memory moves at least.
    pub sector: usize,
}

impl Default for Card {
    /// A card with 132 multiprocessors and a cache of 50 MB. Its two halves each keep a copy of some of the data that
    /// the multiprocessors beside them read. By measurement, 29 MB stay in it and 42 do not.
    fn default() -> Self {
        Card { units: 132, cache: 33_000_000, sector: SECTOR }
    }
}

impl KernelCost {
    /// Predicted bytes that memory moves for each interior cell of a patch of `cells`: each input
    /// with its ghost cells once, rims that the cache has lost again, each output once. `None` for
    /// kernels over rows, which no card runs.
    pub fn memory_bytes(&self, cells: [usize; 3], card: &Card) -> Option<f64> {
        if self.threads <= 1 || cells.contains(&0) {
            return None;
        }
        let again = [0, 1, 2].map(|axis| self.read_again(axis, cells, card));
        let sector = (card.sector / self.value_bytes).max(1) as u32;
        let read = self.inputs.iter().map(|input| {
            let ghosts = [0, 1, 2].map(|axis: usize| {
                let sides = match axis {
                    0 if input.rim[0] > 0 => 2 * input.rim[0].div_ceil(2).next_multiple_of(sector),
                    _ => input.rim[axis],
                };
                1.0 + f64::from(sides) / cells[axis] as f64
            });
            let rims = [0, 1, 2].map(|axis: usize| match self.blocks_along(axis, cells) {
                1 => 0.0,
                _ => again[axis] * f64::from(input.rim[axis]) / self.extent(axis, cells),
            });
            (ghosts.iter().product::<f64>() + rims.iter().sum::<f64>()) * input.moved
        });
        let values = read.sum::<f64>() + self.written;
        Some(values * self.value_bytes as f64)
    }

    /// Cells of a tile along an axis; all, if it has no end. A run over several rows or planes has this many on
    /// average.
    pub(super) fn along(&self, axis: usize, cells: [usize; 3]) -> f64 {
        if self.runs {
            let faster: usize = cells[..axis].iter().product();
            let left = f64::from(self.tile[0]) / faster as f64;
            return left.clamp(1.0, cells[axis] as f64);
        }
        match self.tile[axis] {
            0 => cells[axis] as f64,
            tile => f64::from(tile),
        }
    }

    /// The cells of the tile that lie in the patch.
    fn extent(&self, axis: usize, cells: [usize; 3]) -> f64 {
        self.along(axis, cells).min(cells[axis] as f64)
    }

    /// Tiles in a row along an axis.
    pub(super) fn blocks_along(&self, axis: usize, cells: [usize; 3]) -> usize {
        if self.runs {
            return (cells[axis] as f64 / self.along(axis, cells)).ceil() as usize;
        }
        match self.tile[axis] as usize {
            0 => 1,
            tile => cells[axis].div_ceil(tile),
        }
    }

    /// The part of the rims along an axis that the cache has lost when the neighbour reads them.
    fn read_again(&self, axis: usize, cells: [usize; 3], card: &Card) -> f64 {
        if axis == 0 {
            return 0.0;
        }
        let between: usize = (0..axis).map(|a| self.blocks_along(a, cells)).product();
        let resident = (card.units * self.blocks.max(1)) as usize;
        let fits =
            |blocks: usize| blocks as f64 * self.block_bytes(axis, cells) <= card.cache as f64;
        let lost = |blocks: usize| if fits(blocks) { 0.0 } else { 1.0 };
        match self.passes {
            Some(passes) if passes == axis => lost(between.max(resident)),
            Some(_) if between < resident => lost(resident) * between as f64 / resident as f64,
            Some(_) | None => lost(between),
        }
    }

    /// Bytes that a block adds to the content of the cache until its neighbour along this axis comes. Rims along faster
    /// axes belong to blocks that are present, too.
    fn block_bytes(&self, axis: usize, cells: [usize; 3]) -> f64 {
        let tile = [0, 1, 2].map(|a| self.extent(a, cells));
        let inputs = self.inputs.iter().map(|input| {
            let slower = (axis..3).map(|a| 1.0 + f64::from(input.rim[a]) / tile[a]);
            slower.product::<f64>() * input.moved
        });
        let values = inputs.sum::<f64>() + self.written;
        values * tile.iter().product::<f64>() * self.value_bytes as f64
    }
}
