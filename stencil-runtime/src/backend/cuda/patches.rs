//! Patches on a card and the mesh on the host: what kernels know of them, and copies between both.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DeviceRepr, LaunchConfig};
use rayon::prelude::*;
use stencil_compiler::emit;
use stencil_compiler::expr::Real;

use super::CudaError;
use super::memory::Memory;
use crate::backend::cpu::array::{Array, Shape};
use crate::mesh::{Mesh, Patches};
use crate::{Error, room};

/// What kernels of this backend know of a mesh.
pub(super) const TEXT: &str = include_str!("patches.cu");

/// The kind of text for a mesh.
pub(super) fn over(patches: &Patches) -> emit::Patches {
    if patches.is_one() {
        emit::Patches::One
    } else {
        emit::Patches::Many
    }
}

/// Blocks that keep all multiprocessors busy.
pub(super) const BLOCKS: u32 = 2048;

/// Threads of each, as in the text of the kernels that they are for.
const THREADS: u32 = 256;

/// Rows that a core copies at once.
const ROWS: usize = 256;

/// As in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshShape {
    /// Interior cells of a patch.
    pub(super) n: [i32; 3],
    pub(super) halo: [i32; 3],
    /// Cells of the mesh.
    pub(super) all: [i32; 3],
    count: [i32; 3],
    pub(super) pitch: i32,
    pub(super) plane: i32,
    /// Values from one cell to the next.
    apart: i32,
    /// Values of a row of a surface before cell 0.
    before: i32,
    step: [i64; 3],
    h: [f64; 3],
}

// SAFETY: plain numbers in the layout of C, without padding between them.
unsafe impl DeviceRepr for MeshShape {}

impl MeshShape {
    /// Of a mesh whose patches are `stride` values apart.
    pub(super) fn new(cut: &Cut, mesh: &Mesh, stride: usize) -> Self {
        let [p, q, _] = cut.patches.counts;
        MeshShape {
            n: cut.patch.cells.map(|n| n as i32),
            halo: cut.patch.halo.map(|n| n as i32),
            all: cut.mesh.cells.map(|n| n as i32),
            count: cut.patches.counts.map(|n| n as i32),
            pitch: cut.patch.layout.pitch as i32,
            plane: cut.patch.layout.plane as i32,
            apart: 1,
            before: 0,
            step: [stride, p * stride, p * q * stride].map(|n| n as i64),
            h: mesh.spacing(),
        }
    }

    /// The same for arrays whose values are so far apart.
    pub(super) fn apart(self, apart: usize) -> Self {
        let times = |values: i32| values * apart as i32;
        MeshShape {
            pitch: times(self.pitch),
            plane: times(self.plane),
            apart: times(self.apart),
            ..self
        }
    }

    /// The same for surfaces, of which these are the places of the first cell.
    pub(super) fn in_surface(self, [before, ..]: [i32; 3]) -> Self {
        MeshShape { before, ..self }
    }

    /// How patches stand in surfaces: patches along x and y, and rows and planes from one to the next.
    pub(super) fn in_surfaces(&self) -> [i32; 4] {
        let [rows, planes] = [1, 2].map(|axis| self.n[axis] + 2 * self.halo[axis]);
        [self.count[0], self.count[1], rows, planes]
    }

    /// Rows of interior cells of the mesh.
    pub(super) fn rows(&self) -> u32 {
        (self.all[1] * self.all[2]).unsigned_abs()
    }

    /// A launch of blocks that go through all cells for each of so many arrays: blocks share rows, and where there are few
    /// of them, each row.
    pub(super) fn through(&self, arrays: usize) -> LaunchConfig {
        let rows = self.rows().clamp(1, BLOCKS);
        let of_row = self.all[0].unsigned_abs().div_ceil(THREADS);
        LaunchConfig {
            grid_dim: (rows, arrays as u32, (BLOCKS / rows).clamp(1, of_row.max(1))),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        }
    }

    /// Is it one patch?
    pub(super) fn is_one(&self) -> bool {
        self.count == [1; 3]
    }

    /// How many there are.
    pub(super) fn patches(&self) -> usize {
        let counts = self.count.iter().map(|n| n.unsigned_abs() as usize);
        counts.product()
    }

    /// Values from one patch to the next.
    pub(super) fn stride(&self) -> i64 {
        self.step[0]
    }

    /// The blocks of all patches for a kernel with so many a patch: they follow each other along
    /// one axis.
    pub(super) fn blocks(&self, kernel: &str, of_a_patch: u64) -> Result<u32, CudaError> {
        let patches: u64 = self.count.iter().map(|n| n.unsigned_abs() as u64).product();
        let all = patches.checked_mul(of_a_patch);
        let all = all.filter(|all| *all <= i32::MAX as u64);
        all.map(|all| all as u32).ok_or_else(|| CudaError::Kernel {
            kernel: kernel.to_string(),
            reason: format!(
                "{patches} patches of {of_a_patch} blocks are more than 2^31; use fewer or larger patches"
            ),
        })
    }
}

/// How arrays of the host, which have all cells of a mesh, are cut into those of patches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Of an array of the host.
    mesh: Shape,
    /// Of an array of a patch, whose halo is no deeper.
    pub(super) patch: Shape,
    pub(super) patches: Patches,
}

impl Cut {
    /// Patches with so many ghost cells; the host has these, too, and may have more.
    pub(super) fn new(
        mesh: Shape,
        patches: Patches,
        halo: [usize; 3],
        value_bytes: usize,
    ) -> Result<Self, Error> {
        if (0..3).any(|axis| halo[axis] > mesh.halo[axis]) {
            return Err(Error::Bug(
                "patches have more ghost cells than the mesh".into(),
            ));
        }
        let bug = || Error::Bug("a mesh has a shape and its patches have none".into());
        Ok(Cut {
            mesh,
            patch: Shape::new(patches.cells, halo, value_bytes).ok_or_else(bug)?,
            patches,
        })
    }

    /// Do arrays on both sides of the bus lie alike?
    fn is_alike(&self) -> bool {
        self.patches.is_one() && self.patch.halo == self.mesh.halo
    }

    /// Copies an array of the mesh to the card, with the ghost cells that there are.
    pub(super) fn upload<T: Real>(
        &self,
        memory: &mut Memory,
        stream: &Arc<CudaStream>,
        slot: usize,
        values: &Array<T>,
    ) -> Result<(), Error> {
        if self.is_alike() {
            return Ok(memory.write(stream, 0, slot, values)?);
        }
        let mut of_patch = self.array()?;
        for patch in 0..self.patches.count() {
            self.take(patch, values, &mut of_patch);
            memory.write(stream, patch, slot, &of_patch)?;
        }
        Ok(())
    }

    /// Copies an array of the card to one of the mesh and waits for it; ghost cells beyond the faces
    /// of the mesh come with it.
    pub(super) fn download<T: Real>(
        &self,
        memory: &Memory,
        stream: &Arc<CudaStream>,
        slot: usize,
        values: &mut Array<T>,
    ) -> Result<(), Error> {
        if self.is_alike() {
            return Ok(memory.read(stream, 0, slot, values)?);
        }
        let mut of_patch = self.array()?;
        for patch in 0..self.patches.count() {
            memory.read(stream, patch, slot, &mut of_patch)?;
            self.put(patch, &of_patch, values);
        }
        Ok(())
    }

    /// An array of a patch, all zero.
    fn array<T: Real>(&self) -> Result<Array<T>, Error> {
        Array::new(&self.patch).map_err(|_| room::of_array(&self.patch, T::BYTES).into())
    }

    /// Copies what an array of the mesh has of a patch and its ghost cells: those between patches
    /// are cells of the mesh.
    pub(super) fn take<T: Real>(&self, patch: usize, from: &Array<T>, to: &mut Array<T>) {
        let rows = self.rows(patch, [[true; 3]; 2]);
        let rows = rows.map(|(in_mesh, in_patch, length)| (in_patch, in_mesh, length));
        copy_rows(rows.collect(), to.values_mut(), from.values());
    }

    /// Copies a patch to its place in an array of the mesh, with the ghost cells beyond the faces of
    /// the mesh: those between patches may be old.
    pub(super) fn put<T: Real>(&self, patch: usize, from: &Array<T>, to: &mut Array<T>) {
        let (at, counts) = (self.patches.at(patch), self.patches.counts);
        let first = at.map(|at| at == 0);
        let last = std::array::from_fn(|axis| at[axis] + 1 == counts[axis]);
        let rows = self.rows(patch, [first, last]);
        copy_rows(rows.collect(), to.values_mut(), from.values());
    }

    /// The rows of a patch, with the ghost cells below and above it along the axes that `ghosts`
    /// says: where they begin in an array of the mesh and in one of the patch, and their length.
    fn rows(
        &self,
        patch: usize,
        ghosts: [[bool; 3]; 2],
    ) -> impl Iterator<Item = (usize, usize, usize)> {
        let (at, shape) = (self.patches.at(patch), &self.patch);
        let depth = |side: usize, axis: usize| match ghosts[side][axis] {
            true => shape.halo[axis] as isize,
            false => 0,
        };
        let range = |axis: usize| -depth(0, axis)..shape.cells[axis] as isize + depth(1, axis);
        let [xs, ys, zs] = [0, 1, 2].map(range);
        let cells = zs.flat_map(move |z| ys.clone().map(move |y| [xs.start, y, z]));
        cells.map(move |cell| {
            let corner = |axis: usize| (at[axis] * shape.cells[axis]) as isize;
            let in_mesh = std::array::from_fn(|axis| corner(axis) + cell[axis]);
            (self.mesh.index(in_mesh), shape.index(cell), xs.len())
        })
    }
}

/// Copies rows on all cores: where each goes, where it comes from, and its length; in the order in which they go.
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

    /// Ghost cells of the host and of the card.
    fn cut(counts: [usize; 3], [mesh_halo, halo]: [[usize; 3]; 2]) -> Cut {
        let mesh = Mesh {
            cells: [8, 6, 3],
            extent: [1.0; 3],
            origin: [0.0; 3],
            centered: false,
        };
        let patches = Patches::new(&mesh, counts).unwrap();
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

    /// Taken apart and put together, the mesh is the same, whatever stands between patches.
    #[test]
    fn patches_make_up_the_mesh() {
        for (counts, halo) in [
            ([2, 1, 3], [[3, 2, 1]; 2]),
            ([4, 6, 1], [[3, 2, 0]; 2]),
            ([1; 3], [[0; 3]; 2]),
            ([1; 3], [[3, 2, 1], [0, 1, 0]]),
            ([2, 1, 3], [[3; 3], [1, 0, 2]]),
        ] {
            let cut = cut(counts, halo);
            assert_eq!(cut.is_alike(), counts == [1; 3] && halo == [[0; 3]; 2]);
            // Ghost cells that patches do not have do not cross the bus.
            let halo = halo[1];
            let mut mesh = Array::new(&cut.mesh).unwrap();
            mesh.set(&cut.mesh, halo, value);
            let mut again = Array::new(&cut.mesh).unwrap();
            for at in 0..cut.patches.count() {
                let mut patch = Array::new(&cut.patch).unwrap();
                cut.take(at, &mesh, &mut patch);
                let (place, counts) = (cut.patches.at(at), cut.patches.counts);
                if place[0] > 0 {
                    patch.values_mut()[cut.patch.index([-1, 0, 0])] = f64::NAN;
                }
                if place[1] + 1 < counts[1] {
                    let above = [0, cut.patch.cells[1] as isize, 0];
                    patch.values_mut()[cut.patch.index(above)] = f64::NAN;
                }
                cut.put(at, &patch, &mut again);
            }
            assert_eq!(again.values(), mesh.values(), "{counts:?}");
        }
    }
}
