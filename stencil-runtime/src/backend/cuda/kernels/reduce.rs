//! Quantities of all cells on the card, and the numbers that they become there.

use std::sync::Arc;

use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, DeviceRepr, LaunchConfig, PushKernelArg,
};
use stencil_compiler::model::Reduction;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::memory::patches::{BLOCKS, MeshShape};

/// The kernels, for values of the type `real`.
pub(crate) const TEXT: &str = include_str!("reduce.cu");

/// Threads of a block, as in the text.
const THREADS: u32 = 256;

/// Values that are taken in order, as in the text.
const LEAF: u32 = 16;

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

/// The kernels, and room for the numbers of parts of rows, of rows and of planes.
#[derive(Debug)]
pub(crate) struct Tree {
    kernels: Kernels,
    /// `None` if each row has one block.
    parts: Option<CudaSlice<f64>>,
    rows: CudaSlice<f64>,
    planes: CudaSlice<f64>,
    total: CudaSlice<f64>,
}

impl Tree {
    pub(crate) fn new(
        stream: &Arc<CudaStream>,
        kernels: Kernels,
        shape: &MeshShape,
    ) -> Result<Self, CudaError> {
        let room = |count: u32| {
            let room = stream.alloc_zeros(count as usize);
            room.map_err(CudaError::driver("taking memory on the card"))
        };
        let shared_by = rows_of(shape).shared_by();
        let parts = (shared_by > 1).then(|| room(shape.rows() * shared_by));
        Ok(Tree {
            kernels,
            parts: parts.transpose()?,
            rows: room(shape.rows())?,
            planes: room(shape.all[2].unsigned_abs())?,
            total: room(1)?,
        })
    }

    /// Returns the bytes of its sums.
    pub(crate) fn bytes(&self) -> usize {
        let each = [&self.rows, &self.planes, &self.total].into_iter();
        each.chain(&self.parts).map(CudaSlice::num_bytes).sum()
    }

    /// Starts the reduction of an array to a number, which is written to the address `to`; a mean is reduced to its
    /// sum. `first` is the address of the first interior cell of the first patch. Rows are rows of the mesh, so
    /// patches change no bit.
    pub(crate) fn start(
        &mut self,
        stream: &Arc<CudaStream>,
        first: u64,
        shape: &MeshShape,
        reduction: Reduction,
        to: u64,
    ) -> Result<(), CudaError> {
        let failed = CudaError::driver("reducing an array to a number");
        let [_, ny, nz] = shape.all;
        let rule: i32 = match reduction {
            Reduction::Sum | Reduction::Mean => 0,
            Reduction::Max => 1,
            Reduction::Min => 2,
        };
        let runs = |length, count| Runs { length, count };
        let (rows, planes, total) = (rows_of(shape), runs(ny, nz), runs(nz, 1));
        let mut config = rows.config();
        config.grid_dim.1 = rows.shared_by();
        let mut launch = stream.launch_builder(&self.kernels.values);
        launch.arg(&first).arg(shape).arg(&rows).arg(&rule);
        launch.arg(self.parts.as_mut().unwrap_or(&mut self.rows));
        // SAFETY: the arguments are those of the kernel, which reads interior cells and writes a number for each part
        // of a row, or for each row without parts.
        unsafe { launch.launch(config) }.map_err(&failed)?;
        if let Some(parts) = &self.parts {
            let config = LaunchConfig {
                grid_dim: (shape.rows(), 1, 1),
                block_dim: (rows.shared_by(), 1, 1),
                shared_mem_bytes: 0,
            };
            let mut launch = stream.launch_builder(&self.kernels.parts);
            launch.arg(parts).arg(&rule).arg(&mut self.rows);
            // SAFETY: as above, a number for each row from those of its parts.
            unsafe { launch.launch(config) }.map_err(&failed)?;
        }
        let mut launch = stream.launch_builder(&self.kernels.numbers);
        launch.arg(&self.rows).arg(&planes).arg(&rule);
        launch.arg(&mut self.planes);
        // SAFETY: as above, a number for each plane from those of its rows.
        unsafe { launch.launch(planes.config()) }.map_err(&failed)?;
        let mut launch = stream.launch_builder(&self.kernels.numbers);
        launch.arg(&self.planes).arg(&total).arg(&rule).arg(&to);
        // SAFETY: as above, one number from those of all planes; the caller has room for it.
        unsafe { launch.launch(total.config()) }.map_err(&failed)?;
        Ok(())
    }

    /// Reduces an array to a number.
    pub(crate) fn reduce(
        &mut self,
        stream: &Arc<CudaStream>,
        first: u64,
        shape: &MeshShape,
        reduction: Reduction,
    ) -> Result<f64, CudaError> {
        let failed = CudaError::driver("reducing an array to a number");
        let to = crate::backend::cuda::memory::start(&self.total, stream);
        self.start(stream, first, shape, reduction, to)?;
        let mut number = [0.0];
        let copy = stream.memcpy_dtoh(&self.total, &mut number);
        copy.and_then(|()| stream.synchronize()).map_err(&failed)?;
        let cells = shape.all.map(|n| n as usize).iter().product::<usize>();
        Ok(match reduction {
            Reduction::Mean => number[0] / cells as f64,
            Reduction::Sum | Reduction::Max | Reduction::Min => number[0],
        })
    }
}

/// Returns the rows of a mesh.
fn rows_of(shape: &MeshShape) -> Runs {
    let [length, ny, nz] = shape.all;
    Runs { length, count: ny * nz }
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
