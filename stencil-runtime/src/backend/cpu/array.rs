//! Arrays with ghost cells.

use std::collections::TryReserveError;
use std::mem::MaybeUninit;

use ndarray::{ArrayView3, ShapeBuilder};
use rayon::prelude::*;
use stencil_compiler::algorithm::rows::Layout;
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::COPY_BYTES;

/// Rows begin on multiples of this, so that vectors do not straddle cache lines.
const ALIGNMENT: usize = 128;

/// Size and layout that all arrays of a patch share: `[z][y][x]`, the first interior cell of each
/// row aligned, the ghost cells before it behind those of the row before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) cells: [usize; 3],
    /// Ghost cells on both sides along x, y, z.
    pub(crate) halo: [usize; 3],
    pub(crate) layout: Layout,
    /// Values before the first ghost cell.
    lead: usize,
    length: usize,
}

impl Shape {
    /// `None` where the number of cells overflows.
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
        // The ghost cells before the first interior cell are room for those behind the last one.
        let length = plane.checked_mul(planes)?.checked_add(lead + halo[0])?;
        length
            .checked_mul(bytes)
            .filter(|all| isize::try_from(*all).is_ok())?;
        let origin = lead + halo[2] * plane + halo[1] * pitch + halo[0];
        Some(Shape {
            cells,
            halo,
            layout: Layout {
                origin,
                pitch,
                plane,
            },
            lead,
            length,
        })
    }

    /// Values of an array, with what fills up its rows.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Bytes that an array takes, with what aligns it.
    pub(crate) fn array_bytes(&self, value_bytes: usize) -> usize {
        (self.length + ALIGNMENT / value_bytes) * value_bytes
    }

    /// Index of a cell or ghost cell.
    pub(crate) fn index(&self, [x, y, z]: [isize; 3]) -> usize {
        let (pitch, plane) = (self.layout.pitch as isize, self.layout.plane as isize);
        (self.layout.origin as isize + z * plane + y * pitch + x) as usize
    }
}

/// One component on a patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Array<T> {
    data: Vec<T>,
    /// Where the aligned part begins.
    base: usize,
    length: usize,
    /// How many ghost cells at both ends of all interior rows along x follow from the cells.
    pub(super) ends: usize,
}

impl<T: Real> Array<T> {
    /// Zeros, each plane first touched by a thread of the current pool: memory is near the core
    /// that touches it first.
    pub(crate) fn new(shape: &Shape) -> Result<Self, TryReserveError> {
        let unit = ALIGNMENT / T::BYTES;
        let size = shape.length + unit;
        let mut data = Vec::new();
        data.try_reserve_exact(size)?;
        let spare: &mut [MaybeUninit<T>] = &mut data.spare_capacity_mut()[..size];
        let planes = spare.par_chunks_mut(shape.layout.plane.max(1));
        planes.for_each(|plane| {
            plane.fill(MaybeUninit::new(T::ZERO));
        });
        // SAFETY: there is room for `size` values, and the loop above wrote each of them.
        unsafe { data.set_len(size) };
        // Correct wherever it is; fast where it is aligned.
        let base = data.as_ptr().align_offset(ALIGNMENT);
        let base = if base < unit { base } else { 0 };
        Ok(Array {
            data,
            base,
            length: shape.length,
            ends: 0,
        })
    }

    /// All cells and ghost cells.
    pub(crate) fn values(&self) -> &[T] {
        &self.data[self.base..][..self.length]
    }

    /// All cells and ghost cells.
    pub(crate) fn values_mut(&mut self) -> &mut [T] {
        &mut self.data[self.base..][..self.length]
    }

    /// All from the first ghost cell on: planes of rows, each row of the layout's pitch.
    pub(super) fn rows_mut(&mut self, shape: &Shape) -> &mut [T] {
        &mut self.values_mut()[shape.lead..]
    }

    /// The interior as `[z, y, x]`.
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

    #[test]
    fn sizes_that_overflow_are_refused() {
        assert!(Shape::new([1 << 40, 1 << 40, 1], [3; 3], 8).is_none());
    }
}
