//! The places of the rows that kernels read and write: in whole arrays, or in rings of a few rows and planes.

use stencil_compiler::algorithm::rows::Layout;
use stencil_compiler::expr::Real;

/// Rows begin on multiples of this many bytes.
const LINE: usize = 64;

/// The index of each cell among values.
#[derive(Clone, Copy, Debug)]
struct Map {
    /// Index of cell (0, 0, 0).
    origin: isize,
    pitch: isize,
    plane: isize,
    /// Masks of the indices y and z: all bits except along the axis of a ring.
    masks: [isize; 2],
}

impl Map {
    #[inline]
    fn index(&self, [x, y, z]: [isize; 3]) -> usize {
        let (y, z) = (y & self.masks[0], z & self.masks[1]);
        (self.origin + x + y * self.pitch + z * self.plane) as usize
    }
}

/// Values of cells, as a kernel reads them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a, T> {
    values: &'a [T],
    map: Map,
}

impl<'a, T> View<'a, T> {
    /// A whole array.
    pub(super) fn whole(values: &'a [T], layout: Layout) -> Self {
        let map = Map {
            origin: layout.origin as isize,
            pitch: layout.pitch as isize,
            plane: layout.plane as isize,
            masks: [-1; 2],
        };
        View { values, map }
    }

    /// Returns the values from a cell on. The rows of a plane follow each other at the distance of
    /// [`pitch`](Self::pitch).
    #[inline]
    pub(super) fn from(&self, cell: [isize; 3]) -> &'a [T] {
        &self.values[self.map.index(cell)..]
    }

    /// Returns the distance of rows.
    pub(super) fn pitch(&self) -> usize {
        self.map.pitch as usize
    }

    /// Returns the address that a cell would have; the cell need not exist.
    pub(super) fn address(&self, cell: [isize; 3]) -> *const T {
        self.values.as_ptr().wrapping_add(self.map.index(cell))
    }
}

/// Rows that a kernel writes.
#[derive(Debug)]
pub(crate) struct Target<'a, T> {
    /// Values from the first cell of the first row on.
    pub(super) values: &'a mut [T],
    /// Distances of rows and of planes.
    pub(super) pitch: usize,
    pub(super) plane: usize,
}

/// The extent of a ring: cells and rows around those of a part, and its number of rows or planes along the march.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// Cells along x and rows along y before the part, and in all.
    pub(super) before: [usize; 2],
    pub(super) size: [usize; 2],
    /// Rows or planes along the march: a power of two.
    pub(super) window: usize,
    /// Does the march follow the rows of a plane, not planes?
    pub(super) along_y: bool,
}

/// A ring of the rows of a grid function. New rows take the place of rows that are not needed any more.
#[derive(Debug)]
pub(super) struct Ring<T> {
    data: Vec<T>,
    /// Index of the first cell of a part, where a line of the cache begins.
    first: usize,
    map: Map,
}

impl<T: Real> Ring<T> {
    pub(super) fn new(extent: Extent) -> Self {
        let Extent { before, size, window, along_y } = extent;
        let line = LINE / T::BYTES;
        let lead = before[0].next_multiple_of(line);
        // An odd number of lines, so that rows do not compete for the same sets of the cache.
        let pitch = ((lead + size[0]).div_ceil(line) | 1) * line;
        let rows = if along_y { 1 } else { size[1] };
        let plane = pitch * rows;
        // Blocks of cells may be read beyond the last row.
        let data = vec![T::ZERO; line + plane * window + 4 * line];
        let aligned = data.as_ptr().align_offset(LINE).min(line);
        let inside = if along_y { 0 } else { before[1] * pitch };
        let last = window as isize - 1;
        let (plane, masks) = match along_y {
            true => (0, [last, -1]),
            false => (plane as isize, [-1, last]),
        };
        let first = aligned + lead + inside;
        Ring {
            data,
            first,
            map: Map { origin: first as isize, pitch: pitch as isize, plane, masks },
        }
    }

    /// Makes it a ring around a part whose first cell is at `x`, `y`.
    pub(super) fn begin(&mut self, x: isize, y: isize) {
        let y = if self.map.masks[0] == -1 { y } else { 0 };
        self.map.origin = self.first as isize - x - y * self.map.pitch;
    }

    pub(super) fn view(&self) -> View<'_, T> {
        View { values: &self.data, map: self.map }
    }

    /// Returns the rows from a cell on.
    pub(super) fn target(&mut self, cell: [isize; 3]) -> Target<'_, T> {
        Target {
            values: &mut self.data[self.map.index(cell)..],
            pitch: self.map.pitch as usize,
            plane: self.map.plane as usize,
        }
    }
}
