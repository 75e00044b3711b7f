//! Quantities of all cells on the card, and the numbers that they become there.

use std::sync::Arc;

use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, DeviceRepr, LaunchConfig, PushKernelArg,
};
use stencil_compiler::model::Reduction;

use super::CudaError;
use super::patches::MeshShape;

/// The kernels, for values of the type `real`.
pub(super) const TEXT: &str = include_str!("reduce.cu");

/// Threads of a block, as in the text.
const THREADS: u32 = 256;

/// Values that are taken in order, as in the text.
const LEAF: u32 = 16;

/// As in the text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Runs {
    length: i32,
    count: i32,
}

// SAFETY: plain numbers in the layout of C, without padding between them.
unsafe impl DeviceRepr for Runs {}

impl Runs {
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

/// The kernels, and room for the numbers that rows and planes become.
#[derive(Debug)]
pub(super) struct Tree {
    values: CudaFunction,
    numbers: CudaFunction,
    rows: CudaSlice<f64>,
    planes: CudaSlice<f64>,
    total: CudaSlice<f64>,
}

impl Tree {
    pub(super) fn new(
        stream: &Arc<CudaStream>,
        (values, numbers): (CudaFunction, CudaFunction),
        shape: &MeshShape,
    ) -> Result<Self, CudaError> {
        let room = |count: u32| {
            let room = stream.alloc_zeros(count as usize);
            room.map_err(CudaError::driver("taking memory on the card"))
        };
        Ok(Tree {
            values,
            numbers,
            rows: room(shape.rows())?,
            planes: room(shape.all[2].unsigned_abs())?,
            total: room(1)?,
        })
    }

    /// Bytes of its sums.
    pub(super) fn bytes(&self) -> usize {
        [&self.rows, &self.planes, &self.total]
            .map(CudaSlice::num_bytes)
            .iter()
            .sum()
    }

    /// Starts the reduction of an array to a number, which is written to the address `to`; of a
    /// mean it is the sum. `first` is the address of the first interior cell of the first patch. Rows
    /// are those of the mesh, so patches change no bit.
    pub(super) fn start(
        &mut self,
        stream: &Arc<CudaStream>,
        first: u64,
        shape: &MeshShape,
        reduction: Reduction,
        to: u64,
    ) -> Result<(), CudaError> {
        let failed = CudaError::driver("reducing an array to a number");
        let [nx, ny, nz] = shape.all;
        let rule: i32 = match reduction {
            Reduction::Sum | Reduction::Mean => 0,
            Reduction::Max => 1,
            Reduction::Min => 2,
        };
        let runs = |length, count| Runs { length, count };
        let (rows, planes, total) = (runs(nx, ny * nz), runs(ny, nz), runs(nz, 1));
        let mut launch = stream.launch_builder(&self.values);
        launch.arg(&first).arg(shape).arg(&rows).arg(&rule);
        launch.arg(&mut self.rows);
        // SAFETY: the arguments are those of the kernel, which reads interior cells and writes a
        // number for each row.
        unsafe { launch.launch(rows.config()) }.map_err(&failed)?;
        let mut launch = stream.launch_builder(&self.numbers);
        launch.arg(&self.rows).arg(&planes).arg(&rule);
        launch.arg(&mut self.planes);
        // SAFETY: as above, a number for each plane from those of its rows.
        unsafe { launch.launch(planes.config()) }.map_err(&failed)?;
        let mut launch = stream.launch_builder(&self.numbers);
        launch.arg(&self.planes).arg(&total).arg(&rule).arg(&to);
        // SAFETY: as above, one number from those of all planes; the caller has room for it.
        unsafe { launch.launch(total.config()) }.map_err(&failed)?;
        Ok(())
    }

    /// The number that an array becomes.
    pub(super) fn reduce(
        &mut self,
        stream: &Arc<CudaStream>,
        first: u64,
        shape: &MeshShape,
        reduction: Reduction,
    ) -> Result<f64, CudaError> {
        let failed = CudaError::driver("reducing an array to a number");
        let to = super::memory::start(&self.total, stream);
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
