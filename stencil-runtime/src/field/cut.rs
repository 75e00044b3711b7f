//! Copies between arrays of a whole mesh and arrays of its patches.

use rayon::prelude::*;
use stencil_compiler::expr::Real;

use super::{Array, Shape, memory_use};
use crate::Error;
use crate::mesh::{Patch, Patches};

/// Rows that a core copies at once.
const ROWS: usize = 256;

/// The shapes of arrays of all cells of a mesh, and of those of its patches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// The shape of an array of the mesh.
    pub(crate) mesh: Shape,
    /// The shape of an array of the largest patch, whose halo is no deeper.
    pub(crate) patch: Shape,
    pub(crate) patches: Patches,
}

impl Cut {
    /// Cuts a mesh into patches with so many ghost cells; the host has these, too, and may have more.
    pub(crate) fn new(
        mesh: Shape,
        patches: Patches,
        halo: [usize; 3],
        value_bytes: usize,
    ) -> Result<Self, Error> {
        if (0..3).any(|axis| halo[axis] > mesh.halo[axis]) {
            return Err(Error::Bug("patches have more ghost cells than the mesh".into()));
        }
        let bug = || Error::Bug("a mesh has a shape and its patches have none".into());
        Ok(Cut {
            mesh,
            patch: Shape::new(patches.largest(), halo, value_bytes).ok_or_else(bug)?,
            patches,
        })
    }

    /// Do arrays on both sides of the bus have the same layout?
    pub(crate) fn is_alike(&self) -> bool {
        self.patches.is_one() && self.patch.halo == self.mesh.halo
    }

    /// Allocates an array of a patch, all zero.
    pub(crate) fn array<T: Real>(&self) -> Result<Array<T>, Error> {
        Array::new(&self.patch).map_err(|_| memory_use::of_array(&self.patch, T::BYTES).into())
    }

    /// Copies a patch with its ghost cells from an array of the mesh: ghost cells between patches are cells of the
    /// mesh.
    pub(crate) fn take<T: Real>(&self, patch: usize, from: &Array<T>, to: &mut Array<T>) {
        let rows = self.rows(patch, [[true; 3]; 2]);
        let rows = rows.map(|(in_mesh, in_patch, length)| (in_patch, in_mesh, length));
        copy_rows(rows.collect(), to.values_mut(), from.values());
    }

    /// Copies a patch to its place in an array of the mesh, with the ghost cells beyond the faces of the mesh: ghost
    /// cells between patches may be old.
    pub(crate) fn put<T: Real>(&self, patch: usize, from: &Array<T>, to: &mut Array<T>) {
        let (at, counts) = (self.patches.at(patch), self.patches.counts);
        let first = at.map(|at| at == 0);
        let last = std::array::from_fn(|axis| at[axis] + 1 == counts[axis]);
        let rows = self.rows(patch, [first, last]);
        copy_rows(rows.collect(), to.values_mut(), from.values());
    }

    /// Returns the rows of a patch, with the ghost cells below and above it along the axes in `ghosts`: the beginning
    /// of each in an array of the mesh and in one of the patch, and its length.
    fn rows(
        &self,
        patch: usize,
        ghosts: [[bool; 3]; 2],
    ) -> impl Iterator<Item = (usize, usize, usize)> {
        let (shape, Patch { lo, cells, .. }) = (&self.patch, self.patches.patch(patch));
        let depth = |side: usize, axis: usize| match ghosts[side][axis] {
            true => shape.halo[axis] as isize,
            false => 0,
        };
        let range = |axis: usize| -depth(0, axis)..cells[axis] as isize + depth(1, axis);
        let [xs, ys, zs] = [0, 1, 2].map(range);
        let rows = zs.flat_map(move |z| ys.clone().map(move |y| [xs.start, y, z]));
        rows.map(move |cell| {
            let in_mesh = std::array::from_fn(|axis| lo[axis] as isize + cell[axis]);
            (self.mesh.index(in_mesh), shape.index(cell), xs.len())
        })
    }
}

/// Copies rows on all cores. Each row has a destination, a source and a length; rows are in the order of destinations.
fn copy_rows<T: Real>(rows: Vec<(usize, usize, usize)>, to: &mut [T], from: &[T]) {
    let (mut parts, mut rest, mut begun) = (Vec::new(), to, 0);
    for part in rows.chunks(ROWS) {
        let begin = part.first().map_or(begun, |(to, ..)| *to);
        let end = part.last().map_or(begin, |(to, _, length)| to + length);
        let (before, behind) = rest.split_at_mut(end - begun);
        parts.push((part, begin, &mut before[begin - begun..]));
        (rest, begun) = (behind, end);
    }
    parts.into_par_iter().for_each(|(part, begin, values)| {
        for (to, at, length) in part {
            values[to - begin..][..*length].copy_from_slice(&from[*at..][..*length]);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;

    /// Cuts a mesh with these ghost cells of the host and of the card.
    fn cut(counts: [usize; 3], [mesh_halo, halo]: [[usize; 3]; 2]) -> Cut {
        let mesh = Mesh { cells: [8, 6, 3], extent: [1.0; 3], origin: [0.0; 3], centered: false };
        let patches = Patches::new(&mesh, counts, 1).unwrap();
        let shape = Shape::new(mesh.cells, mesh_halo, 8).unwrap();
        Cut::new(shape, patches, halo, 8).unwrap()
    }

    fn value([x, y, z]: [isize; 3]) -> f64 {
        (x + 100 * y + 10_000 * z) as f64
    }

    /// Every cell of every patch, ghost cells too, is that cell of the mesh.
    #[test]
    fn patches_have_the_cells_of_the_mesh() {
        let cut = cut([2, 1, 3], [[3, 3, 2], [3, 2, 2]]);
        let mut mesh = Array::new(&cut.mesh).unwrap();
        mesh.set(&cut.mesh, cut.mesh.halo, value);
        let mut patch = Array::new(&cut.patch).unwrap();
        cut.take(5, &mesh, &mut patch);
        for z in -2..3 {
            for y in -2..8 {
                for x in -3..7 {
                    let found = patch.values()[cut.patch.index([x, y, z])];
                    assert_eq!(found, value([x + 4, y, z + 2]));
                }
            }
        }
    }

    /// More rows than one core copies, with room between them.
    #[test]
    fn rows_that_cores_share_are_all_copied() {
        let rows: usize = 3 * ROWS + 7;
        let from: Vec<f64> = (0..4 * rows).map(|at| at as f64).collect();
        let mut to = vec![-1.0; 5 * rows + 2];
        let turned = (0..rows).map(|row| (5 * row + 2, 4 * (rows - 1 - row), 3));
        copy_rows(turned.collect(), &mut to, &from);
        for (at, value) in to.iter().enumerate() {
            let (row, x) = ((at + 3) / 5, (at + 3) % 5);
            let wanted = match (row, x) {
                (0, _) | (_, 3..) => -1.0,
                _ => from[4 * (rows - row) + x],
            };
            assert_eq!(*value, wanted, "{at}");
        }
        copy_rows::<f64>(Vec::new(), &mut to, &from);
    }

    /// Taken apart and put together, the mesh is the same.
    #[test]
    fn patches_make_up_the_mesh() {
        for (counts, halo) in [
            ([2, 1, 3], [[3, 2, 1]; 2]),
            ([4, 6, 1], [[3, 2, 0]; 2]),
            // Patches that differ.
            ([3, 4, 2], [[3, 2, 1]; 2]),
            ([1; 3], [[0; 3]; 2]),
            ([1; 3], [[3, 2, 1], [0, 1, 0]]),
            ([2, 1, 3], [[3; 3], [1, 0, 2]]),
        ] {
            let cut = cut(counts, halo);
            assert_eq!(cut.is_alike(), counts == [1; 3] && halo == [[0; 3]; 2]);
            // Ghost cells beyond those of patches do not cross the bus.
            let halo = halo[1];
            let mut mesh = Array::new(&cut.mesh).unwrap();
            mesh.set(&cut.mesh, halo, value);
            let mut again = Array::new(&cut.mesh).unwrap();
            for at in 0..cut.patches.count() {
                let mut patch = Array::new(&cut.patch).unwrap();
                cut.take(at, &mesh, &mut patch);
                let (place, counts) = (cut.patches.at(at), cut.patches.counts);
                let cells = cut.patches.patch(at).cells;
                if place[0] > 0 {
                    patch.values_mut()[cut.patch.index([-1, 0, 0])] = f64::NAN;
                }
                if place[1] + 1 < counts[1] {
                    let above = [0, cells[1] as isize, 0];
                    patch.values_mut()[cut.patch.index(above)] = f64::NAN;
                }
                cut.put(at, &patch, &mut again);
            }
            assert_eq!(again.values(), mesh.values(), "{counts:?}");
        }
    }
}
