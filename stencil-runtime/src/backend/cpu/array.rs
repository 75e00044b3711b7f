//! Arrays with ghost cells, and the filling of these across periodic seams.

use std::collections::TryReserveError;

use ndarray::{ArrayView3, ShapeBuilder};
use rayon::prelude::*;
use stencil_compiler::algorithm::rows::Layout;
use stencil_compiler::expr::Real;

/// Rows begin on multiples of this, so that vectors do not straddle cache lines.
const ALIGNMENT: usize = 128;

/// Size and layout that all arrays of a patch share: `[z][y][x]`, the first interior cell of each
/// row aligned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) cells: [usize; 3],
    pub(super) layout: Layout,
    length: usize,
}

impl Shape {
    /// `None` where the number of cells overflows.
    pub(super) fn new(cells: [usize; 3], halo: [usize; 3], bytes: usize) -> Option<Self> {
        let unit = ALIGNMENT / bytes;
        let left = halo[0].next_multiple_of(unit);
        let pitch = left
            .checked_add(cells[0])?
            .checked_add(halo[0])?
            .checked_next_multiple_of(unit)?;
        let rows = cells[1].checked_add(2 * halo[1])?;
        let plane = pitch.checked_mul(rows)?;
        let length = plane.checked_mul(cells[2].checked_add(2 * halo[2])?)?;
        length
            .checked_mul(bytes)
            .filter(|all| isize::try_from(*all).is_ok())?;
        let origin = halo[2] * plane + halo[1] * pitch + left;
        Some(Shape {
            cells,
            layout: Layout {
                origin,
                pitch,
                plane,
            },
            length,
        })
    }

    /// Index of a cell or ghost cell.
    pub(super) fn index(&self, [x, y, z]: [isize; 3]) -> usize {
        let (pitch, plane) = (self.layout.pitch as isize, self.layout.plane as isize);
        (self.layout.origin as isize + z * plane + y * pitch + x) as usize
    }
}

/// One component on a patch.
#[derive(Clone, Debug, Default)]
pub(super) struct Array<T> {
    data: Vec<T>,
    /// Where the aligned part begins.
    base: usize,
    length: usize,
}

impl<T: Real> Array<T> {
    /// Zeros.
    pub(super) fn new(shape: &Shape) -> Result<Self, TryReserveError> {
        let unit = ALIGNMENT / T::BYTES;
        let mut data = Vec::new();
        data.try_reserve_exact(shape.length + unit)?;
        data.resize(shape.length + unit, T::ZERO);
        // Correct wherever it is; fast where it is aligned.
        let base = data.as_ptr().align_offset(ALIGNMENT);
        let base = if base < unit { base } else { 0 };
        Ok(Array {
            data,
            base,
            length: shape.length,
        })
    }

    /// All cells and ghost cells.
    pub(super) fn values(&self) -> &[T] {
        &self.data[self.base..][..self.length]
    }

    /// All cells and ghost cells.
    pub(super) fn values_mut(&mut self) -> &mut [T] {
        &mut self.data[self.base..][..self.length]
    }

    /// The interior as `[z, y, x]`.
    pub(super) fn interior(&self, shape: &Shape) -> Option<ArrayView3<'_, T>> {
        let [nx, ny, nz] = shape.cells;
        let strides = (shape.layout.plane, shape.layout.pitch, 1);
        let values = &self.values()[shape.layout.origin..];
        ArrayView3::from_shape((nz, ny, nx).strides(strides), values).ok()
    }

    /// Sets the interior, cell by cell.
    pub(super) fn set(&mut self, shape: &Shape, value: impl Fn([usize; 3]) -> T + Sync) {
        let ([nx, ny, nz], layout) = (shape.cells, shape.layout);
        let first = shape.index([0, 0, 0]) / layout.plane;
        let inside = layout.origin % layout.plane;
        let planes = self
            .values_mut()
            .par_chunks_mut(layout.plane)
            .skip(first)
            .take(nz);
        planes.enumerate().for_each(|(z, plane)| {
            for y in 0..ny {
                let row = &mut plane[inside + y * layout.pitch..][..nx];
                for (x, cell) in row.iter_mut().enumerate() {
                    *cell = value([x, y, z]);
                }
            }
        });
    }

    /// Fills ghost cells from the opposite side. A halo may be deeper than the patch: it then goes
    /// round more than once.
    pub(super) fn fill_periodic(&mut self, shape: &Shape, depth: [usize; 3]) {
        let ([nx, ny, nz], layout) = (shape.cells, shape.layout);
        let first = layout.origin / layout.plane;
        let inside = layout.origin % layout.plane;
        let values = self.values_mut();
        let planes = values.par_chunks_mut(layout.plane).skip(first).take(nz);
        planes.for_each(|plane| {
            for row in plane[inside - depth[0]..].chunks_mut(layout.pitch).take(ny) {
                for (ghost, from) in seam(nx, depth[0]) {
                    row[ghost] = row[from];
                }
            }
            let row = |y: usize| inside + y * layout.pitch - depth[1] * layout.pitch - depth[0];
            for (ghost, from) in seam(ny, depth[1]) {
                let (from, to) = (row(from), row(ghost));
                plane.copy_within(from..from + nx + 2 * depth[0], to);
            }
        });
        let start = layout.origin - depth[2] * layout.plane - depth[1] * layout.pitch - depth[0];
        let length = (ny + 2 * depth[1] - 1) * layout.pitch + nx + 2 * depth[0];
        for (ghost, from) in seam(nz, depth[2]) {
            let from = start + from * layout.plane;
            values.copy_within(from..from + length, start + ghost * layout.plane);
        }
    }
}

/// Ghost cells along an axis of `n` cells and the cells they repeat, both counted from the first
/// ghost cell.
fn seam(n: usize, depth: usize) -> impl Iterator<Item = (usize, usize)> {
    let wrap =
        move |at: usize| (at as isize - depth as isize).rem_euclid(n as isize) as usize + depth;
    let ghosts = (0..depth).chain(depth + n..n + 2 * depth);
    ghosts.map(move |ghost| (ghost, wrap(ghost)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wraps(cells: [usize; 3], halo: [usize; 3]) {
        let shape = Shape::new(cells, halo, 8).unwrap();
        let mut array = Array::<f64>::new(&shape).unwrap();
        let value = |[x, y, z]: [usize; 3]| (x + 100 * y + 10_000 * z) as f64;
        array.set(&shape, value);
        array.fill_periodic(&shape, halo);
        let [hx, hy, hz] = halo.map(|h| h as isize);
        let [nx, ny, nz] = cells.map(|n| n as isize);
        for z in -hz..nz + hz {
            for y in -hy..ny + hy {
                for x in -hx..nx + hx {
                    let from = [x.rem_euclid(nx), y.rem_euclid(ny), z.rem_euclid(nz)];
                    let expected = value(from.map(|i| i as usize));
                    assert_eq!(
                        array.values()[shape.index([x, y, z])],
                        expected,
                        "{:?}",
                        [x, y, z]
                    );
                }
            }
        }
    }

    #[test]
    fn ghost_cells_repeat_the_interior() {
        wraps([7, 5, 4], [3, 2, 1]);
        wraps([2, 1, 3], [5, 3, 7]);
        wraps([9, 6, 1], [3, 3, 0]);
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
