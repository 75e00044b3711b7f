//! The layout of the values of an array in memory.

use std::cmp::Ordering;
use std::ops::Range;

use stencil_compiler::algorithm::rows::Layout;
use stencil_compiler::schedule::COPY_BYTES;

/// Rows begin on multiples of this, so that vectors do not straddle cache lines.
pub(crate) const ALIGNMENT: usize = 128;

/// Size and layout that all arrays of a patch share: `[z][y][x]`, the first interior cell of each
/// row aligned, the ghost cells before it behind those of the row before. All patches have the layout of the largest; the
/// ghost cells behind a row follow its own last cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) cells: [usize; 3],
    /// Ghost cells on both sides along x, y, z.
    pub(crate) halo: [usize; 3],
    pub(crate) layout: Layout,
    /// Values before the first ghost cell.
    pub(super) lead: usize,
    length: usize,
}

impl Shape {
    /// Returns `None` if the number of cells overflows.
    pub(crate) fn new(cells: [usize; 3], halo: [usize; 3], bytes: usize) -> Option<Self> {
        let unit = ALIGNMENT / bytes;
        let lead = halo[0].next_multiple_of(unit) - halo[0];
        // The ghost cells before a row may be read in whole copies.
        let before = halo[0].next_multiple_of(COPY_BYTES / bytes);
        let row = cells[0].checked_add(before + halo[0])?;
        let pitch = row.checked_next_multiple_of(unit)?;
        let rows = cells[1].checked_add(2 * halo[1])?;
        let plane = pitch.checked_mul(rows)?;
        let planes = cells[2].checked_add(2 * halo[2])?;
        // The ghost cells before the first interior cell leave room for those behind the last one.
        let length = plane.checked_mul(planes)?.checked_add(lead + halo[0])?;
        length.checked_mul(bytes).filter(|all| isize::try_from(*all).is_ok())?;
        let origin = lead + halo[2] * plane + halo[1] * pitch + halo[0];
        Some(Shape { cells, halo, layout: Layout { origin, pitch, plane }, lead, length })
    }

    /// Returns the shape of a patch of fewer cells in arrays of the same layout.
    pub(crate) fn of(&self, cells: [usize; 3]) -> Self {
        Shape { cells, ..*self }
    }

    /// Returns the number of values of an array, with the padding of its rows.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Returns the bytes that an array takes, with its alignment.
    pub(crate) fn array_bytes(&self, value_bytes: usize) -> usize {
        (self.length + ALIGNMENT / value_bytes) * value_bytes
    }

    /// Returns the values of layers along an axis behind which the mesh has one cell, their ghost cells included: they follow
    /// each other.
    pub(crate) fn layers(&self, axis: usize, layers: Range<isize>) -> Range<usize> {
        let halo = self.halo.map(|n| n as isize);
        let first = |layer: isize| {
            self.index(std::array::from_fn(|a| match a.cmp(&axis) {
                Ordering::Less => -halo[a],
                Ordering::Equal => layer,
                Ordering::Greater => 0,
            }))
        };
        first(layers.start)..first(layers.end)
    }

    /// Returns the index of a cell or ghost cell.
    pub(crate) fn index(&self, [x, y, z]: [isize; 3]) -> usize {
        let (pitch, plane) = (self.layout.pitch as isize, self.layout.plane as isize);
        (self.layout.origin as isize + z * plane + y * pitch + x) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_overflow_are_refused() {
        assert!(Shape::new([1 << 40, 1 << 40, 1], [3; 3], 8).is_none());
    }
}
