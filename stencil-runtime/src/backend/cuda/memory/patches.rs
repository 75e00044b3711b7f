//! Patches on a card and the mesh on the host: the shape that kernels get, and copies between both.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DeviceRepr, LaunchConfig};
use stencil_compiler::emit;
use stencil_compiler::expr::Real;

use crate::Error;
use crate::backend::cuda::CudaError;
use crate::backend::cuda::memory::Memory;
use crate::field::{Array, Cut};
use crate::mesh::{Mesh, Patches};

/// The part of kernels' texts that describes a mesh.
pub(crate) const TEXT: &str = include_str!("patches.cu");

/// The kind of text for a mesh.
pub(crate) fn over(patches: &Patches) -> emit::Patches {
    if patches.is_one() { emit::Patches::One } else { emit::Patches::Many }
}

/// The kind of text for launches on a mesh: a card with one patch of several takes its blocks in parts.
pub(crate) fn launched_over(patches: &Patches) -> emit::Patches {
    match over(patches) {
        emit::Patches::Many if patches.count() == patches.devices => emit::Patches::Part,
        form => form,
    }
}

/// Blocks that keep all multiprocessors busy.
pub(crate) const BLOCKS: u32 = 2048;

/// Threads of each, as in the texts of the kernels.
const THREADS: u32 = 256;

/// The same struct as in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeshShape {
    /// Interior cells of the largest patch.
    pub(crate) n: [i32; 3],
    pub(crate) halo: [i32; 3],
    /// Cells of the mesh.
    pub(crate) all: [i32; 3],
    count: [i32; 3],
    pub(crate) pitch: i32,
    pub(crate) plane: i32,
    /// Values from one cell to the next.
    apart: i32,
    /// Values of a row of a surface before cell 0.
    before: i32,
    step: [i64; 3],
    by_all: [u64; 3],
    by_count: [u64; 3],
    h: [f64; 3],
}

// SAFETY: plain numbers in the layout of C, without padding between them.
unsafe impl DeviceRepr for MeshShape {}

/// The patches of a card: the same struct as in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owned {
    first: i32,
    end: i32,
}

// SAFETY: plain numbers in the layout of C.
unsafe impl DeviceRepr for Owned {}

impl Owned {
    /// Returns the patches of the card of this number among those of a run.
    pub(crate) fn new(patches: &Patches, card: usize) -> Self {
        let own = patches.owned(card);
        Owned { first: own.start as i32, end: own.end as i32 }
    }

    /// Returns their number.
    pub(crate) fn count(&self) -> usize {
        (self.end - self.first).unsigned_abs() as usize
    }
}

impl MeshShape {
    /// Returns the shape of a mesh whose patches are `stride` values apart.
    pub(crate) fn new(cut: &Cut, mesh: &Mesh, stride: usize) -> Self {
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
            by_all: cut.mesh.cells.map(reciprocal),
            by_count: cut.patches.counts.map(reciprocal),
            h: mesh.spacing(),
        }
    }

    /// Returns the same for arrays whose values are so far apart.
    pub(crate) fn apart(self, apart: usize) -> Self {
        let times = |values: i32| values * apart as i32;
        MeshShape {
            pitch: times(self.pitch),
            plane: times(self.plane),
            apart: times(self.apart),
            ..self
        }
    }

    /// Returns the shape of so many layers along an axis of a mesh that is one patch.
    pub(crate) fn with_layers(mut self, axis: usize, layers: usize) -> Self {
        self.n[axis] = layers as i32;
        self.all[axis] = layers as i32;
        self.by_all[axis] = reciprocal(layers);
        self
    }

    /// Returns the same for surfaces, with the place of the first cell in them.
    pub(crate) fn in_surface(self, [before, ..]: [i32; 3]) -> Self {
        MeshShape { before, ..self }
    }

    /// Returns the arrangement in surfaces: patches along x and y, rows and planes from one to the next.
    pub(crate) fn in_surfaces(&self) -> [i32; 4] {
        let [rows, planes] = [1, 2].map(|axis| self.n[axis] + 2 * self.halo[axis]);
        [self.count[0], self.count[1], rows, planes]
    }

    /// Returns the number of rows of interior cells of the mesh.
    pub(crate) fn rows(&self) -> u32 {
        (self.all[1] * self.all[2]).unsigned_abs()
    }

    /// Returns the number of rows of interior cells of so many rows of patches along x, as many of each as of the largest.
    pub(crate) fn rows_of(&self, patches: usize) -> u32 {
        (self.n[1] * self.n[2]).unsigned_abs() * patches as u32
    }

    /// Returns the number of rows of the mesh in which a card has cells.
    pub(crate) fn rows_with(&self, own: &Owned) -> u32 {
        let across = self.count[0];
        self.rows_of(((own.end - 1) / across + 1 - own.first / across).unsigned_abs() as usize)
    }

    /// Returns a launch of blocks that go through so many rows for each of so many arrays. Blocks share the rows, and if
    /// there are few of them, each row.
    pub(crate) fn through(&self, rows: u32, arrays: usize) -> LaunchConfig {
        let rows = rows.clamp(1, BLOCKS);
        let of_row = self.all[0].unsigned_abs().div_ceil(THREADS);
        LaunchConfig {
            grid_dim: (rows, arrays as u32, (BLOCKS / rows).clamp(1, of_row.max(1))),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        }
    }

    /// Do the values of an array follow each other?
    pub(crate) fn is_dense(&self) -> bool {
        self.apart == 1
    }

    /// Is the mesh one patch?
    pub(crate) fn is_one(&self) -> bool {
        self.count == [1; 3]
    }

    /// Returns the values from one patch to the next.
    pub(crate) fn stride(&self) -> i64 {
        self.step[0]
    }

    /// Returns the blocks of so many patches for a kernel with so many a patch: they follow each other along one axis.
    pub(crate) fn blocks(kernel: &str, patches: usize, of_a_patch: u64) -> Result<u32, CudaError> {
        let all = (patches as u64).checked_mul(of_a_patch);
        let all = all.filter(|all| *all <= i32::MAX as u64);
        all.map(|all| all as u32).ok_or_else(|| CudaError::Kernel {
            kernel: kernel.to_string(),
            reason: format!(
                "{patches} patches of {of_a_patch} blocks are more than 2^31; use fewer or larger patches"
            ),
        })
    }
}

/// Returns the factor with which kernels divide by a number.
fn reciprocal(divisor: usize) -> u64 {
    u64::MAX / divisor.max(1) as u64
}

impl Cut {
    /// Copies an array of the mesh to the cards of this process, with its ghost cells, by their streams.
    pub(crate) fn upload<T: Real>(
        &self,
        memory: &mut Memory,
        streams: &[Arc<CudaStream>],
        slot: usize,
        values: &Array<T>,
    ) -> Result<(), Error> {
        if self.is_alike() {
            return Ok(memory.write(streams, 0, slot, values)?);
        }
        let mut of_patch = self.array()?;
        for patch in memory.held() {
            self.take(patch, values, &mut of_patch);
            memory.write(streams, patch, slot, &of_patch)?;
        }
        Ok(())
    }

    /// Copies an array of the cards of this process to one of the mesh, by their streams, and waits for it; ghost cells beyond
    /// the faces of the mesh come with it.
    pub(crate) fn download<T: Real>(
        &self,
        memory: &Memory,
        streams: &[Arc<CudaStream>],
        slot: usize,
        values: &mut Array<T>,
    ) -> Result<(), Error> {
        if self.is_alike() {
            return Ok(memory.read(streams, 0, slot, values)?);
        }
        let mut of_patch = self.array()?;
        for patch in memory.held() {
            memory.read(streams, patch, slot, &mut of_patch)?;
            self.put(patch, &of_patch, values);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The division of the text.
    fn divide(number: u64, divisor: u64, by: u64) -> [u64; 2] {
        let whole = ((u128::from(number) * u128::from(by)) >> 64) as u64;
        let rest = (number - whole * divisor) as u32;
        match u64::from(rest) < divisor {
            true => [whole, rest.into()],
            false => [whole + 1, u64::from(rest) - divisor],
        }
    }

    #[test]
    fn kernels_divide_exactly() {
        let most = i32::MAX as u64;
        let numbers = [1, 2, 3, 7, 64, 100, 1 << 16, (1 << 20) - 1, 1 << 30, most - 1, most];
        for all in numbers {
            for count in numbers.into_iter().filter(|count| *count <= all) {
                let [by_all, by_count] = [all, count].map(|n| reciprocal(n as usize));
                for i in [0, 1, all / 3, all / 2, all - 1].into_iter().filter(|i| *i < all) {
                    let at = (i + 1) * count - 1;
                    let [patch, rest] = divide(at, all, by_all);
                    assert_eq!([patch, rest], [at / all, at % all], "{i} of {all} in {count}");
                    let [cell, _] = divide(rest, count, by_count);
                    assert_eq!(patch * all / count + cell, i, "{i} of {all} in {count}");
                }
            }
        }
    }
}
