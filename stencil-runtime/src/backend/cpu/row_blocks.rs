//! Cutting the region of a launch into blocks that threads compute independently.

use super::program::Steps;
use super::view::{Target, View};
use crate::field::Shape;

/// Rows of one plane that a kernel computes at a time.
#[derive(Debug)]
pub(crate) struct RowBlock<'a, T> {
    /// The first cell of the first row.
    pub(super) first: [isize; 3],
    /// Number of rows.
    pub(super) rows: usize,
    /// Cells of each row.
    pub(super) length: usize,
    /// Arrays and rings that are read.
    pub(super) inputs: &'a [View<'a, T>],
    /// Rows that are written, from the first cell on.
    pub(super) outputs: Vec<Target<'a, T>>,
    /// Numbers that are the same in every cell.
    pub(super) uniforms: &'a [T],
    /// How registers cover a row.
    pub(super) steps: &'a Steps,
    /// Is the plane that the next part reads first to be prefetched?
    pub(super) looks_ahead: bool,
}

/// A block of rows in one plane that a launch gives new values.
#[derive(Debug)]
pub(super) struct Block<'a, T> {
    /// The first cell of the first row.
    pub(super) first: [isize; 3],
    /// Number of rows.
    pub(super) rows: usize,
    /// The values of each output between the first and the last cell of the block, with the margins.
    pub(super) outputs: Vec<&'a mut [T]>,
}

/// The region that a launch covers: the interior and some cells beyond it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region<'a> {
    pub(super) shape: &'a Shape,
    pub(super) extend: [usize; 3],
    /// Rows of a block. Blocks that follow each other in z are neighbours in the list, so a thread
    /// finds most of the planes that it reads in its cache.
    pub(super) rows: usize,
}

impl Region<'_> {
    /// Returns the number of values of an output before the first cell of each row and behind the last one.
    pub(super) fn margin(&self) -> usize {
        self.shape.halo[0] - self.extend[0]
    }

    /// Returns the number of cells along an axis.
    pub(super) fn size(&self, axis: usize) -> usize {
        self.shape.cells[axis] + 2 * self.extend[axis]
    }

    /// Does a block have cells nearer to an end of the region than `rim`?
    pub(super) fn is_rim<T>(&self, block: &Block<'_, T>, rim: [usize; 3]) -> bool {
        let near = |axis: usize, cells: usize| {
            let before = (block.first[axis] + self.extend[axis] as isize).unsigned_abs();
            rim[axis] > 0 && (before < rim[axis] || before + cells + rim[axis] > self.size(axis))
        };
        near(0, self.size(0)) || near(1, block.rows) || near(2, 1)
    }

    /// Returns the first row of a block that is the patch's own, and how many there are; `None` if all lie beyond the patch.
    pub(super) fn own_rows<T>(&self, block: &Block<'_, T>) -> Option<[usize; 2]> {
        let [_, y, z] = block.first;
        let [rows, planes] = [1, 2].map(|axis| self.shape.cells[axis] as isize);
        let (first, end) = (y.max(0), (y + block.rows as isize).min(rows));
        let is_own = (0..planes).contains(&z) && first < end;
        is_own.then(|| [first.abs_diff(y), end.abs_diff(first)])
    }

    /// Cuts the arrays that are written along the blocks of the region.
    pub(super) fn cut<'o, T>(&self, outputs: Vec<&'o mut [T]>) -> Vec<Block<'o, T>> {
        let [ex, ey, ez] = self.extend.map(|e| e as isize);
        let margin = self.margin();
        let (length, height) = (self.size(0), self.size(1));
        let mut columns: Vec<Vec<Block<'o, T>>> =
            (0..height.div_ceil(self.rows)).map(|_| Vec::new()).collect();
        // The remainder of each output, and the index at which it begins.
        let mut rest: Vec<(&'o mut [T], usize)> =
            outputs.into_iter().map(|values| (values, 0)).collect();
        for z in 0..self.size(2) as isize {
            for (block, column) in columns.iter_mut().enumerate() {
                let first = [-ex, (block * self.rows) as isize - ey, z - ez];
                let rows = self.rows.min(height - block * self.rows);
                let start = self.shape.index(first) - margin;
                let end = start + (rows - 1) * self.shape.layout.pitch + length + 2 * margin;
                let outputs = rest.iter_mut().map(|(values, at)| {
                    let (before, after) = std::mem::take(values).split_at_mut(end - *at);
                    let part = before.split_at_mut(start - *at).1;
                    (*values, *at) = (after, end);
                    part
                });
                column.push(Block { first, rows, outputs: outputs.collect() });
            }
        }
        columns.into_iter().flatten().collect()
    }
}
