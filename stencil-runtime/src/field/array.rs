//! Arrays with ghost cells.

use std::collections::TryReserveError;
use std::ops::Range;

use ndarray::{ArrayView3, ShapeBuilder};
use rayon::prelude::*;
use stencil_compiler::expr::Real;

use super::shape::{ALIGNMENT, Shape};

/// Bytes of a page of memory, or of several on most machines.
pub(crate) const PAGE: usize = 1 << 16;

/// Values that a thread copies at once.
const COPIED: usize = 1 << 16;

/// One component on a patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Array<T> {
    data: Vec<T>,
    /// Index of the first aligned value.
    base: usize,
    length: usize,
    /// Number of ghost cells at both ends of all interior rows along x that are up to date with the cells.
    pub(crate) ends: usize,
}

impl<T: Real> Array<T> {
    /// Allocates zeros, each plane first touched by a thread of the current pool: memory is near the core that touches
    /// it first.
    pub(crate) fn new(shape: &Shape) -> Result<Self, TryReserveError> {
        Self::aligned(shape, ALIGNMENT)
    }

    /// Does the same, with memory that begins and ends at multiples of so many bytes.
    pub(crate) fn aligned(shape: &Shape, alignment: usize) -> Result<Self, TryReserveError> {
        let unit = alignment / T::BYTES;
        let size = shape.len().next_multiple_of(unit) + unit;
        let mut data = Vec::new();
        data.try_reserve_exact(size)?;
        let zeros = (0..size).into_par_iter().map(|_| T::ZERO);
        zeros.with_min_len(shape.layout.plane.max(1)).collect_into_vec(&mut data);
        // Correct at any address; fast at an aligned one.
        let base = data.as_ptr().align_offset(alignment);
        let base = if base < unit { base } else { 0 };
        Ok(Array { data, base, length: shape.len(), ends: 0 })
    }

    /// Returns all cells and ghost cells.
    pub(crate) fn values(&self) -> &[T] {
        &self.data[self.base..][..self.length]
    }

    /// Returns the address of the first value, and the bytes of all of them and of what follows them to the end of a page, if
    /// it was [aligned](Self::aligned) to [`PAGE`].
    pub(crate) fn pages(&mut self) -> (*mut T, usize) {
        let bytes = (self.length * T::BYTES).next_multiple_of(PAGE);
        (self.data[self.base..].as_mut_ptr(), bytes)
    }

    /// Returns all cells and ghost cells, to be changed.
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        &mut self.data[self.base..][..self.length]
    }

    /// Copies all values of an array of the same shape, on all threads.
    pub(crate) fn copy_from(&mut self, from: &Array<T>) {
        self.ends = from.ends;
        let to = self.values_mut().par_chunks_mut(COPIED);
        let parts = to.zip(from.values().par_chunks(COPIED));
        parts.for_each(|(to, from)| to.copy_from_slice(from));
    }

    /// Copies some values of another array, on all threads.
    pub(crate) fn copy_part(&mut self, to: Range<usize>, from: &Array<T>, of: Range<usize>) {
        self.ends = 0;
        let to = self.values_mut()[to].par_chunks_mut(COPIED);
        let parts = to.zip(from.values()[of].par_chunks(COPIED));
        parts.for_each(|(to, from)| to.copy_from_slice(from));
    }

    /// Returns all values from the first ghost cell on: planes of rows, each row of the layout's pitch.
    pub(super) fn rows_mut(&mut self, shape: &Shape) -> &mut [T] {
        &mut self.values_mut()[shape.lead..]
    }

    /// Returns the interior as `[z, y, x]`.
    pub(crate) fn interior(&self, shape: &Shape) -> Option<ArrayView3<'_, T>> {
        let [nx, ny, nz] = shape.cells;
        let strides = (shape.layout.plane, shape.layout.pitch, 1);
        let values = &self.values()[shape.layout.origin..];
        ArrayView3::from_shape((nz, ny, nx).strides(strides), values).ok()
    }

    /// Sets the interior and `depth` ghost cells on each side, cell by cell.
    pub(crate) fn set(
        &mut self,
        shape: &Shape,
        depth: [usize; 3],
        value: impl Fn([isize; 3]) -> T + Sync,
    ) {
        self.ends = 0;
        let ([nx, ny, nz], layout) = (shape.cells, shape.layout);
        let [dx, dy, dz] = depth.map(|d| d as isize);
        let skipped: [usize; 3] = std::array::from_fn(|axis| shape.halo[axis] - depth[axis]);
        let inside = skipped[1] * layout.pitch + skipped[0];
        let planes = self.rows_mut(shape).par_chunks_mut(layout.plane);
        let planes = planes.skip(skipped[2]).take(nz + 2 * depth[2]);
        planes.enumerate().for_each(|(z, plane)| {
            for y in 0..ny + 2 * depth[1] {
                let row = &mut plane[inside + y * layout.pitch..][..nx + 2 * depth[0]];
                for (x, cell) in row.iter_mut().enumerate() {
                    *cell = value([x as isize - dx, y as isize - dy, z as isize - dz]);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_set_where_they_are() {
        let shape = Shape::new([7, 5, 4], [3, 2, 1], 8).unwrap();
        let mut array = Array::<f64>::new(&shape).unwrap();
        let value = |[x, y, z]: [isize; 3]| (x + 100 * y + 10_000 * z) as f64;
        array.set(&shape, [3, 1, 0], value);
        for at in [[0, 0, 0], [6, 4, 3], [-3, -1, 0], [9, 5, 3]] {
            assert_eq!(array.values()[shape.index(at)], value(at), "{at:?}");
        }
        for outside in [[0, -2, 0], [0, 6, 3], [0, 0, -1], [0, 0, 4]] {
            assert_eq!(array.values()[shape.index(outside)], 0.0, "{outside:?}");
        }
    }

    #[test]
    fn rows_are_aligned() {
        let shape = Shape::new([37, 22, 19], [3; 3], 4).unwrap();
        let array = Array::<f32>::new(&shape).unwrap();
        for at in [[0, 0, 0], [0, 3, 2], [0, -3, 18]] {
            let address = array.values()[shape.index(at)..].as_ptr() as usize;
            assert_eq!(address % ALIGNMENT, 0);
        }
    }
}
