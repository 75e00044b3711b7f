//! Quantities of all cells on the card, and the numbers that they become there.

use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, CudaViewMut, DeviceRepr, DriverError, LaunchConfig,
    PushKernelArg,
};
use stencil_compiler::model::Reduction;

use crate::backend::cuda::memory::patches::{BLOCKS, MeshShape};
use crate::backend::cuda::memory::shared::Allocation;
use crate::backend::cuda::memory::start;
use crate::backend::cuda::{CudaError, Opened};
use crate::mesh::Patches;

/// The kernels, for values of the type `real`.
pub(crate) const TEXT: &str = include_str!("reduce.cu");

/// Threads of a block, as in the text.
const THREADS: u32 = 256;

/// Values that are taken in order, as in the text.
const LEAF: u32 = 16;

/// The most arrays that one launch reduces, as in the text.
pub(crate) const AT_ONCE: usize = 4;

/// The way in which the values of an array become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) reduction: Reduction,
    /// Cells of a row from one that has a value to the next.
    pub(crate) every: i32,
}

/// Arrays of one shape that become a number each, by one rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    rule: Rule,
    shape: MeshShape,
    count: u32,
    first: Together,
}

impl Batch {
    /// Takes the addresses of the first interior cells of the first patch of each array, of which there are [`AT_ONCE`] at most.
    pub(crate) fn new(rule: Rule, shape: MeshShape, first: &[u64]) -> Self {
        let mut at = [0; AT_ONCE];
        at.iter_mut().zip(first).for_each(|(at, first)| *at = *first);
        Batch { rule, shape, count: first.len().min(AT_ONCE) as u32, first: Together { at } }
    }

    /// Returns the number of its arrays.
    pub(crate) fn count(&self) -> usize {
        self.count as usize
    }

    /// Returns the runs of values that rows are.
    fn rows(&self) -> Runs {
        rows_of(&self.shape, self.rule.every)
    }

    /// Returns how many numbers the rows of all arrays become at first.
    fn numbers(&self) -> usize {
        (self.shape.rows() * self.rows().shared_by() * self.count) as usize
    }
}

/// The same struct as in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Together {
    at: [u64; AT_ONCE],
}

// SAFETY: plain numbers in the layout of C, without padding between them.
unsafe impl DeviceRepr for Together {}

/// The same struct as in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Runs {
    length: i32,
    count: i32,
}

// SAFETY: plain numbers in the layout of C, without padding between them.
unsafe impl DeviceRepr for Runs {}

impl Runs {
    /// Returns the blocks that share a run: a power of two, more than one for few runs with work for many.
    fn shared_by(&self) -> u32 {
        let of_run = self.length.unsigned_abs() / (THREADS * LEAF);
        let blocks = (BLOCKS / self.count.unsigned_abs().max(1)).min(of_run);
        1 << blocks.clamp(1, THREADS).ilog2()
    }

    /// Threads for the parts of a run, and runs for a block; blocks for all of them.
    fn config(&self) -> LaunchConfig {
        let leaves = self.length.unsigned_abs().div_ceil(LEAF);
        let parts = leaves.next_power_of_two().min(THREADS);
        let together = THREADS / parts;
        LaunchConfig {
            grid_dim: (self.count.unsigned_abs().div_ceil(together), 1, 1),
            block_dim: (parts, together, 1),
            shared_mem_bytes: 0,
        }
    }
}

/// The kernels: for values, for the sums of parts of rows, and for the numbers of rows and planes.
#[derive(Debug)]
pub(crate) struct Kernels {
    pub(crate) values: CudaFunction,
    pub(crate) parts: CudaFunction,
    pub(crate) numbers: CudaFunction,
}

/// The kernels of each card, and room for the numbers of parts of rows, of rows and of planes.
///
/// Each card reduces rows, and the first one the numbers of all rows. Rows are those of the mesh, so patches and cards
/// change no bit.
#[derive(Debug)]
pub(crate) struct Tree {
    kernels: Vec<Kernels>,
    patches: Patches,
    /// The number of the first card among those of the run.
    first: usize,
    /// `None` if each row has one block.
    parts: Option<Allocation<f64>>,
    rows: Allocation<f64>,
    planes: CudaSlice<f64>,
    total: CudaSlice<f64>,
}

impl Tree {
    /// Takes room for the reduction of meshes of this shape by these kernels of each card.
    pub(crate) fn new(
        cards: &[Opened],
        kernels: Vec<Kernels>,
        (shape, patches, first): (&MeshShape, Patches, usize),
    ) -> Result<Self, CudaError> {
        let room = |count: i32| {
            let room = cards[0].stream.alloc_zeros(AT_ONCE * count.unsigned_abs() as usize);
            room.map_err(CudaError::driver("taking memory on the card"))
        };
        let of_all = |count: u32| Allocation::zeros(cards, &[AT_ONCE * count as usize]);
        let shared_by = rows_of(shape, 1).shared_by();
        let parts = (shared_by > 1).then(|| of_all(shape.rows() * shared_by));
        Ok(Tree {
            kernels,
            patches,
            first,
            parts: parts.transpose()?,
            rows: of_all(shape.rows())?,
            planes: room(shape.all[2])?,
            total: room(1)?,
        })
    }

    /// Returns the bytes of its sums.
    pub(crate) fn bytes(&self) -> usize {
        let parts = self.parts.as_ref().map_or(0, |parts| parts.num_bytes());
        parts + self.rows.num_bytes() + self.planes.num_bytes() + self.total.num_bytes()
    }

    /// Do cards read values of each other?
    pub(crate) fn reads_across(&self) -> bool {
        self.patches.shares_rows()
    }

    /// Returns the address of the number that [`read`](Self::read) reads.
    pub(crate) fn total(&self, stream: &Arc<CudaStream>) -> u64 {
        start(&self.total, stream)
    }

    /// Returns the room for the numbers that rows become at first: that of their parts, if they have several.
    fn room(&self, batch: &Batch) -> &Allocation<f64> {
        let parts = self.parts.as_ref().filter(|_| batch.rows().shared_by() > 1);
        parts.unwrap_or(&self.rows)
    }

    /// Starts the reduction of the rows of arrays whose first cells lie in patches of a card, on that card.
    pub(crate) fn start_rows(
        &self,
        (owner, stream): (usize, &Arc<CudaStream>),
        batch: &Batch,
    ) -> Result<(), CudaError> {
        let of_patches = self.patches.rows_owned(owner);
        if of_patches.is_empty() {
            return Ok(());
        }
        let Batch { shape, first, rule, .. } = batch;
        let all = batch.rows();
        let own = Runs { count: shape.rows_of(of_patches.len()) as i32, ..all };
        let mut config = own.config();
        (config.grid_dim.1, config.grid_dim.2) = (all.shared_by(), batch.count);
        let (number, from) = (rule_number(rule.reduction), of_patches.start as i32);
        let to = start(self.room(batch), stream);
        let mut launch = stream.launch_builder(&self.kernels[owner - self.first].values);
        launch.arg(first).arg(shape).arg(&own).arg(&from).arg(&rule.every).arg(&number).arg(&to);
        // SAFETY: the arguments are those of the kernel, which reads interior cells and writes a number for each part
        // of a row, or for each row without parts, where all cards may write.
        let launched = unsafe { launch.launch(config) };
        launched.map(|_| ()).map_err(failed)
    }

    /// Joins the numbers of the parts of rows, if rows have parts, to those of rows.
    fn join_parts(&mut self, stream: &Arc<CudaStream>, batch: &Batch) -> Result<(), CudaError> {
        let shared_by = batch.rows().shared_by();
        let Some(parts) = self.parts.as_ref().filter(|_| shared_by > 1) else {
            return Ok(());
        };
        let config = LaunchConfig {
            grid_dim: (batch.shape.rows() * batch.count, 1, 1),
            block_dim: (shared_by, 1, 1),
            shared_mem_bytes: 0,
        };
        let rule = rule_number(batch.rule.reduction);
        let mut launch = stream.launch_builder(&self.kernels[0].parts);
        launch.arg(&**parts).arg(&rule).arg(&mut *self.rows);
        // SAFETY: as above, a number for each row from those of its parts.
        unsafe { launch.launch(config) }.map_err(failed)?;
        Ok(())
    }

    /// Copies the numbers of some rows to a place in the memory of the only card, array by array, once they are reduced.
    pub(crate) fn copy_rows(
        &mut self,
        stream: &Arc<CudaStream>,
        batch: &Batch,
        rows: Range<usize>,
        to: &mut CudaViewMut<'_, f64>,
    ) -> Result<(), CudaError> {
        self.join_parts(stream, batch)?;
        for array in 0..batch.count() {
            let before = array * batch.shape.rows() as usize;
            let from = self.rows.slice(before + rows.start..before + rows.end);
            let mut to = to.slice_mut(array * rows.len()..(array + 1) * rows.len());
            stream.memcpy_dtod(&from, &mut to).map_err(failed)?;
        }
        Ok(())
    }

    /// Returns the address and the count of the numbers that [`start_rows`](Self::start_rows) writes, of all cards.
    pub(crate) fn numbers(&self, stream: &Arc<CudaStream>, batch: &Batch) -> (u64, usize) {
        (start(self.room(batch), stream), batch.numbers())
    }

    /// Sets these numbers to zero.
    pub(crate) fn clear(
        &mut self,
        stream: &Arc<CudaStream>,
        batch: &Batch,
    ) -> Result<(), CudaError> {
        let has_parts = batch.rows().shared_by() > 1;
        let parts = self.parts.as_mut().filter(|_| has_parts);
        let numbers = parts.unwrap_or(&mut self.rows);
        stream.memset_zeros(&mut **numbers).map_err(failed)
    }

    /// Starts the reduction of the numbers of all rows to one for each array, which are written one behind the other from the
    /// address `to` on, on the first card; a mean is reduced to its sum.
    pub(crate) fn start_total(
        &mut self,
        stream: &Arc<CudaStream>,
        batch: &Batch,
        to: u64,
    ) -> Result<(), CudaError> {
        self.join_parts(stream, batch)?;
        let [_, ny, nz] = batch.shape.all;
        let (rows, planes) = (start(&*self.rows, stream), start(&self.planes, stream));
        // The one plane of a mesh becomes the number of the mesh.
        let of_planes = if nz == 1 { to } else { planes };
        self.start_numbers(stream, batch, (rows, of_planes), Runs { length: ny, count: nz })?;
        match nz {
            1 => Ok(()),
            _ => self.start_numbers(stream, batch, (planes, to), Runs { length: nz, count: 1 }),
        }
    }

    /// Starts the reduction of runs of numbers for each array, from one address to another.
    fn start_numbers(
        &self,
        stream: &Arc<CudaStream>,
        batch: &Batch,
        (from, to): (u64, u64),
        runs: Runs,
    ) -> Result<(), CudaError> {
        let rule = rule_number(batch.rule.reduction);
        let mut config = runs.config();
        config.grid_dim.2 = batch.count;
        let mut launch = stream.launch_builder(&self.kernels[0].numbers);
        launch.arg(&from).arg(&runs).arg(&rule).arg(&to);
        // SAFETY: as above, a number for each run, where the caller has room for it.
        unsafe { launch.launch(config) }.map_err(failed)?;
        Ok(())
    }

    /// Waits for the numbers at [`total`](Self::total), and returns them as those of a reduction.
    pub(crate) fn read(
        &self,
        stream: &Arc<CudaStream>,
        batch: &Batch,
    ) -> Result<Vec<f64>, CudaError> {
        let mut numbers = vec![0.0; batch.count()];
        let copy = stream.memcpy_dtoh(&self.total.slice(..batch.count()), &mut numbers);
        copy.and_then(|()| stream.synchronize()).map_err(failed)?;
        let cells = batch.shape.all.map(|n| n as usize).iter().product::<usize>();
        if batch.rule.reduction == Reduction::Mean {
            numbers.iter_mut().for_each(|sum| *sum /= cells as f64);
        }
        Ok(numbers)
    }
}

/// Returns the error for an array that could not be reduced.
fn failed(error: DriverError) -> CudaError {
    CudaError::driver("reducing an array to a number")(error)
}

/// Returns the number of a rule, as in the text.
fn rule_number(reduction: Reduction) -> i32 {
    match reduction {
        Reduction::Sum | Reduction::Mean => 0,
        Reduction::Max => 1,
        Reduction::Min => 2,
    }
}

/// Returns the values of the rows of a mesh, of which every so manyth cell has one.
fn rows_of(shape: &MeshShape, every: i32) -> Runs {
    let [length, ny, nz] = shape.all;
    Runs { length: (length - 1) / every + 1, count: ny * nz }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_long_runs_are_shared_by_blocks() {
        let shared_by = |length, count| Runs { length, count }.shared_by();
        // Each of 256 threads has a leaf at least, and a thread joins the parts of each block.
        assert_eq!(shared_by(1 << 24, 1), 256);
        assert_eq!(shared_by(1 << 16, 1), 16);
        assert_eq!(shared_by(100_000, 1), 16);
        assert_eq!(shared_by(100_000, 300), 4);
        for (length, count) in [(4_096, 4_096), (8_191, 1), (1 << 20, 2_000), (1, 1), (5, 0)] {
            assert_eq!(shared_by(length, count), 1);
        }
    }
}
