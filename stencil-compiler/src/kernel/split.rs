//! Parts of a patch that a launch covers: boxes of the blocks of its kernel.

use super::{Kernel, Launch};
use crate::plan::blocks_of_rim;

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

    /// Is this block one of them?
    pub(crate) fn contains(&self, block: [usize; 3]) -> bool {
        let along = |axis: usize| self.first[axis]..self.first[axis] + self.blocks[axis];
        (0..3).all(|axis| along(axis).contains(&block[axis]))
    }
}

/// The blocks of a launch in two parts: those that compute no cell of the rim, and the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Blocks that compute no cell of the rim, if there are any.
    pub interior: Option<BlockBox>,
    /// Boxes of all other blocks, which have none in common. There are six at most.
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

    /// The block that computes a cell of the region of a patch of this many cells.
    pub(crate) fn block_of(&self, cell: [i64; 3], cells: [usize; 3]) -> [usize; 3] {
        let Launch { runs, extend, tile, .. } = self.launch;
        let at = [0, 1, 2].map(|axis| (cell[axis] + i64::from(extend[axis])) as usize);
        let number = |at: usize, tile: u32| if tile == 0 { 0 } else { at / tile as usize };
        if runs {
            let [x, y, _] = [0, 1, 2].map(|axis| cells[axis] + 2 * extend[axis] as usize);
            return [number(at[0] + x * (at[1] + y * at[2]), tile[0]), 0, 0];
        }
        [0, 1, 2].map(|axis| number(at[axis], tile[axis]))
    }

    /// The blocks that compute cells nearer to an end of their region than `rim`, and all others. Blocks that cover runs of
    /// cells have a rim alone. `cells` are those of the largest patch.
    ///
    /// With the rim that a plan has for the blocks of this launch ([`Plan::rim_of_blocks`](crate::plan::Plan::rim_of_blocks)),
    /// no block of the interior uses a value that another device sends. Some copy such values beside others, and use none
    /// of them.
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
        let Launch { runs, extend, tile, .. } = self.launch;
        if runs {
            return Split { interior: None, rim: vec![whole] };
        }
        let ends = [0, 1, 2].map(|axis| {
            let computed = cells[axis] + 2 * extend[axis] as usize;
            blocks_of_rim(computed, tile[axis] as usize, rim[axis])
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
    use crate::compile::{Target, compile};
    use crate::discretize::discretize;
    use crate::kernel::text::parse;
    use crate::model::parse::parse_str;
    use crate::schedule::strategies;

    /// Returns the blocks of boxes, each once.
    fn blocks<'a>(parts: impl IntoIterator<Item = &'a BlockBox>) -> BTreeSet<[usize; 3]> {
        let mut seen = BTreeSet::new();
        for part in parts {
            for i in 0..part.count() {
                let [nx, ny, _] = part.blocks;
                let at = [i % nx, i / nx % ny, i / (nx * ny)];
                let block: [usize; 3] = std::array::from_fn(|axis| part.first[axis] + at[axis]);
                assert!(seen.insert(block), "{block:?} twice");
            }
        }
        seen
    }

    /// Checks that the parts of a split are all blocks once, and that no block of the interior has a cell of the rim.
    fn check(kernel: &Kernel, cells: [usize; 3], rim: [usize; 3]) -> Split {
        let split = kernel.split(cells, rim);
        let all = blocks(split.interior.iter().chain(&split.rim));
        assert_eq!(all, blocks([&kernel.whole(cells)]));
        assert!(split.rim.len() <= 6);
        let inner = blocks(&split.interior);
        for block in &all {
            let touches = |axis: usize| {
                let computed = cells[axis] + 2 * kernel.launch.extend[axis] as usize;
                let tile = match kernel.launch.tile[axis] as usize {
                    0 => computed,
                    tile => tile,
                };
                let end = ((block[axis] + 1) * tile).min(computed);
                rim[axis] > 0 && (block[axis] * tile < rim[axis] || end + rim[axis] > computed)
            };
            let is_rim = (0..3).any(touches);
            let fits = inner.contains(block) != is_rim || kernel.launch.runs;
            assert!(fits, "{block:?} of {split:?} for {rim:?} of {cells:?}");
        }
        split
    }

    #[test]
    fn parts_are_all_blocks_once_and_the_interior_keeps_away_from_the_rim() {
        for (tile, extend) in [
            ([32, 4, 2], [0; 3]),
            ([16, 8, 0], [4, 2, 2]),
            ([8, 0, 0], [0; 3]),
            ([7, 3, 1], [0, 3, 1]),
        ] {
            let kernel = parse(&format!(
                "kernel k {{ dimension 3 value_bytes 4
                    launch blocks threads [8, 1, 1] tile {tile:?} extend {extend:?} blocks_per_unit 1
                    code {{ }} }}"
            ));
            let kernel = kernel.unwrap_or_else(|e| panic!("{e}"));
            for cells in [[64, 32, 16], [65, 13, 9], [5, 4, 3], [1, 1, 1]] {
                for rim in [[3, 3, 3], [1, 0, 2], [0, 0, 0], [70, 5, 1]] {
                    check(&kernel, cells, rim);
                }
            }
        }
    }

    /// Fluxes in stored functions, which are recomputed in ghost cells.
    #[test]
    fn every_blocking_has_an_interior_but_for_runs_of_cells() {
        let source = "system Wave in 3d { field q: scalar; field u: vector; let div_u = div(u);
                ddt(q) = -div_u; ddt(u) = -grad(q) + grad(div_u); }
            scheme s for Wave { space: central<order = 4>; mixed: composed; time: euler; }";
        let algorithm = discretize(&parse_str(source).unwrap()).unwrap();
        for strategy in strategies::ALL {
            for stored in ["", "place div_u global exchange", "place div_u global recompute"] {
                let kernel = match strategy.across {
                    Some(_) => format!("kernel {} chunk=8", strategy.name),
                    None => format!("kernel {}", strategy.name),
                };
                let kernels = vec![kernel; if stored.is_empty() { 1 } else { 2 }].join("\n");
                let text = format!("schedule\n{stored}\n{kernels}");
                let schedule = crate::schedule::text::parse(&text).unwrap();
                let compiled = compile(&algorithm, &schedule, &Target::new(8)).unwrap();
                for (at, kernel) in compiled.kernels.iter().enumerate() {
                    for cut in [[true; 3], [false, false, true], [false, true, true]] {
                        let rim = compiled.plan.rim(at, cut);
                        let split = check(kernel, [256, 64, 96], rim);
                        let rows = strategy.kind == crate::schedule::LaunchKind::Rows && cut[0];
                        // The second launch of a recomputed function reads no ghost cells that are sent.
                        let has_none = (kernel.launch.runs || rows) && rim != [0; 3];
                        assert!(
                            split.interior.is_none() == (has_none || kernel.launch.runs),
                            "{text}"
                        );
                    }
                }
            }
        }
    }
}
