//! Cutting the region of a launch into parts that threads compute independently.

use super::array::Shape;

/// A block of rows in one plane: what a thread computes at a time.
#[derive(Debug)]
pub(crate) struct Part<'a, T> {
    pub(super) shape: &'a Shape,
    /// The first cell of the first row.
    pub(super) first: [isize; 3],
    /// Number of rows.
    pub(super) rows: usize,
    /// Cells of each row.
    pub(super) length: usize,
    /// Whole arrays that are read.
    pub(super) inputs: &'a [&'a [T]],
    /// Values of an output before the first cell of each row and behind the last one.
    pub(super) margin: usize,
    /// For each output what lies between the first and the last cell of the part, and the margins.
    pub(super) outputs: Vec<&'a mut [T]>,
    /// Numbers that are the same in every cell.
    pub(super) uniforms: &'a [T],
}

/// The region that a launch covers: the interior and some cells beyond it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region<'a> {
    pub(super) shape: &'a Shape,
    pub(super) extend: [usize; 3],
    /// Rows of a part. Parts that follow each other in z are neighbours in the list, so a thread
    /// finds most of the planes that it reads in its cache.
    pub(super) rows: usize,
}

/// Cuts the arrays that are written along the parts of a region.
pub(super) fn cut<'a, T>(
    region: Region<'a>,
    inputs: &'a [&'a [T]],
    uniforms: &'a [T],
    outputs: Vec<&'a mut [T]>,
) -> Vec<Part<'a, T>> {
    let Region {
        shape,
        extend,
        rows,
    } = region;
    let [ex, ey, ez] = extend.map(|e| e as isize);
    let margin = shape.halo[0] - extend[0];
    let size = |axis: usize| shape.cells[axis] + 2 * extend[axis];
    let (length, height) = (size(0), size(1));
    let mut columns: Vec<Vec<Part<'a, T>>> =
        (0..height.div_ceil(rows)).map(|_| Vec::new()).collect();
    // What is left of each output, and the index at which it begins.
    let mut rest: Vec<(&'a mut [T], usize)> =
        outputs.into_iter().map(|values| (values, 0)).collect();
    for z in 0..size(2) as isize {
        for (block, column) in columns.iter_mut().enumerate() {
            let first = [-ex, (block * rows) as isize - ey, z - ez];
            let rows = rows.min(height - block * rows);
            let start = shape.index(first) - margin;
            let end = start + (rows - 1) * shape.layout.pitch + length + 2 * margin;
            let outputs = rest.iter_mut().map(|(values, at)| {
                let (before, after) = std::mem::take(values).split_at_mut(end - *at);
                let part = before.split_at_mut(start - *at).1;
                (*values, *at) = (after, end);
                part
            });
            column.push(Part {
                shape,
                first,
                rows,
                length,
                inputs,
                margin,
                outputs: outputs.collect(),
                uniforms,
            });
        }
    }
    columns.into_iter().flatten().collect()
}
