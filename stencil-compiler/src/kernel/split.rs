//! Parts of a patch that a launch covers: boxes of the blocks of its kernel.

use super::Kernel;

/// A box of the blocks of a kernel. Each block computes its cells wherever others are computed, so that parts of
/// a launch have the bits of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockBox {
    /// The first block along x, y, z.
    pub first: [usize; 3],
    /// The number of blocks along x, y, z.
    pub blocks: [usize; 3],
}

impl BlockBox {
    /// The number of its blocks.
    pub fn count(&self) -> usize {
        self.blocks.iter().product()
    }
}

/// A patch in two parts: the cells that do not depend on ghost cells, and the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Blocks that compute no cell of the rim, if there are any.
    pub interior: Option<BlockBox>,
    /// Boxes of all other blocks, which have none in common.
    pub rim: Vec<BlockBox>,
}

impl Kernel {
    /// All blocks for a patch of this many cells.
    ///
    /// ```
    /// # use stencil_compiler::kernel::text::parse;
    /// let kernel = parse("kernel k { dimension 2 value_bytes 8
    ///     launch blocks threads [32, 4, 1] tile [32, 4, 1] extend [0, 0, 0] blocks_per_unit 1
    ///     code { } }")?;
    /// let all = kernel.whole([100, 40, 1]);
    /// assert_eq!((all.first, all.blocks), ([0, 0, 0], [4, 10, 1]));
    /// # Ok::<(), stencil_compiler::syntax::TextError>(())
    /// ```
    pub fn whole(&self, cells: [usize; 3]) -> BlockBox {
        BlockBox { first: [0; 3], blocks: self.blocks(cells) }
    }

    /// The blocks that compute cells nearer to an end of a patch than `rim`, and all others. Ghost cells of patches that have
    /// a cell less than `cells` begin a cell earlier: `rim` is one more then. A kernel whose blocks cover
    /// runs of cells, or that computes ghost cells, has a rim alone.
    ///
    /// ```
    /// # use stencil_compiler::kernel::text::parse;
    /// let kernel = parse("kernel k { dimension 2 value_bytes 8
    ///     launch blocks threads [32, 4, 1] tile [32, 4, 1] extend [0, 0, 0] blocks_per_unit 1
    ///     code { } }")?;
    /// let parts = kernel.split([100, 40, 1], [3, 3, 0]);
    /// let interior = parts.interior.unwrap();
    /// // The last block along x has four cells, three of them in the rim.
    /// assert_eq!((interior.first, interior.blocks), ([1, 1, 0], [2, 8, 1]));
    /// let rim: usize = parts.rim.iter().map(|part| part.count()).sum();
    /// assert_eq!(rim + interior.count(), 4 * 10);
    /// # Ok::<(), stencil_compiler::syntax::TextError>(())
    /// ```
    pub fn split(&self, cells: [usize; 3], rim: [usize; 3]) -> Split {
        let whole = self.whole(cells);
        if self.launch.runs || self.launch.extend != [0; 3] {
            return Split { interior: None, rim: vec![whole] };
        }
        // Blocks of the rim at the lower and the upper end of each axis.
        let ends = [0, 1, 2].map(|axis| {
            let (all, rim) = (whole.blocks[axis], rim[axis].min(cells[axis]));
            match self.launch.tile[axis] as usize {
                _ if rim == 0 => [0, 0],
                0 => [all, 0],
                tile => {
                    let low = rim.div_ceil(tile).min(all);
                    let high = all - (cells[axis] - rim) / tile;
                    [low, high.min(all - low)]
                }
            }
        });
        let mut rest = whole;
        let mut parts = Vec::new();
        // The slowest axis first: its slabs are whole.
        for axis in [2, 1, 0] {
            let [low, high] = ends[axis];
            let last = rest.first[axis] + rest.blocks[axis] - high;
            for (first, count) in [(rest.first[axis], low), (last, high)] {
                let mut slab = rest;
                (slab.first[axis], slab.blocks[axis]) = (first, count);
                parts.extend((slab.count() > 0).then_some(slab));
            }
            rest.first[axis] += low;
            rest.blocks[axis] -= low + high;
        }
        Split { interior: (rest.count() > 0).then_some(rest), rim: parts }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::kernel::text::parse;

    /// Each block once, and no block of the interior with a cell of the rim.
    #[test]
    fn parts_are_all_blocks_once_and_the_interior_keeps_away_from_the_rim() {
        for tile in [[32, 4, 2], [16, 8, 0], [8, 0, 0], [7, 3, 1]] {
            let [x, y, z] = tile;
            let kernel = parse(&format!(
                "kernel k {{ dimension 3 value_bytes 4
                    launch blocks threads [8, 1, 1] tile [{x}, {y}, {z}] extend [0, 0, 0] blocks_per_unit 1
                    code {{ }} }}"
            ));
            let kernel = kernel.unwrap_or_else(|e| panic!("{e}"));
            for cells in [[64, 32, 16], [65, 13, 9], [5, 4, 3], [1, 1, 1]] {
                for rim in [[3, 3, 3], [1, 0, 2], [0, 0, 0], [70, 5, 1]] {
                    let Split { interior, rim: parts } = kernel.split(cells, rim);
                    let mut seen = BTreeSet::new();
                    for part in interior.iter().chain(&parts) {
                        for i in 0..part.count() {
                            let [nx, ny, _] = part.blocks;
                            let at = [i % nx, i / nx % ny, i / (nx * ny)];
                            let block: [usize; 3] =
                                std::array::from_fn(|axis| part.first[axis] + at[axis]);
                            assert!(seen.insert(block), "{block:?} twice");
                        }
                    }
                    assert_eq!(seen.len(), kernel.whole(cells).count());
                    for axis in 0..3 {
                        let Some(part) = &interior else { continue };
                        let tile = match tile[axis] {
                            0 => cells[axis],
                            tile => tile,
                        };
                        let end = ((part.first[axis] + part.blocks[axis]) * tile).min(cells[axis]);
                        assert!(part.first[axis] * tile >= rim[axis]);
                        assert!(end + rim[axis] <= cells[axis], "{cells:?} {rim:?} {part:?}");
                    }
                }
            }
        }
    }
}
