//! Layers of ghost cells that follow each other in memory: the copy engine moves them, and multiprocessors go on with their
//! blocks beside it.

use std::sync::Arc;

use cudarc::driver::{CudaStream, result};

use crate::backend::cuda::CudaError;
use crate::backend::cuda::memory::Addresses;
use crate::backend::cuda::memory::patches::MeshShape;
use crate::mesh::CopyBox;

/// Values of an array of a patch that follow each other, copied from the same array of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    array: usize,
    /// The patch that has them, and the one that they come from, with the first value of each, counted from its first
    /// interior cell.
    to: (usize, i64),
    from: (usize, i64),
    values: usize,
}

impl Layer {
    /// Returns the layer of a box that has all lines of a patch. Its rows begin with whole sectors of so many values.
    pub(crate) fn new(array: usize, of: &CopyBox, shape: &MeshShape, sector: usize) -> Self {
        let (pitch, plane) = (i64::from(shape.pitch), i64::from(shape.plane));
        let before = of.lo[0].unsigned_abs().next_multiple_of(sector) as i64;
        let at = |[y, z]: [isize; 2]| z as i64 * plane + y as i64 * pitch - before;
        let [_, rows, planes] = of.size.map(|n| n as i64 - 1);
        let row = of.size[0] as i64 + of.lo[0] as i64 + before;
        Layer {
            array,
            to: (of.to, at([of.lo[1], of.lo[2]])),
            from: (of.from, at([of.lo[1] + of.shift[1], of.lo[2] + of.shift[2]])),
            values: (planes * plane + rows * pitch + row) as usize,
        }
    }

    /// Starts the copy. Values have so many bytes.
    pub(crate) fn copy(
        &self,
        stream: &Arc<CudaStream>,
        arrays: &Addresses,
        (stride, bytes): (i64, usize),
    ) -> Result<(), CudaError> {
        let failed = CudaError::driver("copying ghost cells from another card");
        let address = |(patch, value): (usize, i64)| {
            let values = patch as i64 * stride + value;
            arrays.of(self.array).wrapping_add_signed(values * bytes as i64)
        };
        stream.context().bind_to_thread().map_err(&failed)?;
        // SAFETY: both ends lie in the arrays of their patches, ghost cells included.
        let started = unsafe {
            let (to, from) = (address(self.to), address(self.from));
            result::memcpy_dtod_async(to, from, self.values * bytes, stream.cu_stream())
        };
        started.map_err(failed)
    }
}
