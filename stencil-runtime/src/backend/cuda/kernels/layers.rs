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
    /// Returns the layer of a box that has all lines of a patch. It begins with a whole sector of so many values if the values
    /// before its first row are no ghost cells of another one.
    pub(crate) fn new(array: usize, of: &CopyBox, shape: &MeshShape, sector: usize) -> Self {
        let (pitch, plane) = (i64::from(shape.pitch), i64::from(shape.plane));
        let depth = of.lo[0].unsigned_abs();
        let sectors = depth.next_multiple_of(sector) as i64;
        let of_others = of.size[0] as i64 - 2 * depth as i64 + i64::from(shape.halo[0]);
        let before = if of_others + sectors <= pitch { sectors } else { depth as i64 };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::{Cut, Shape};
    use crate::mesh::{self, Mesh};

    fn on(cells: [usize; 3], halo: [usize; 3], bytes: usize) -> MeshShape {
        let mesh = Mesh { cells, extent: [1.0; 3], origin: [0.0; 3], centered: false };
        let patches = mesh::Patches::new(&mesh, [1; 3], 1).unwrap();
        let shape = Shape::new(cells, halo, bytes).unwrap();
        MeshShape::new(&Cut::new(shape, patches, halo, bytes).unwrap(), &mesh, 0)
    }

    /// Rows of all lengths, with ghost cells of all depths: a layer begins behind the ghost cells of the row before.
    #[test]
    fn a_layer_has_no_ghost_cells_of_the_row_before() {
        let (mut whole, mut part) = (0, 0);
        for bytes in [4, 8] {
            for (halo, n) in (0..9).flat_map(|halo| (1..80).map(move |n| (halo, n))) {
                let shape = on([n, 20, 1], [halo, 3, 0], bytes);
                for depth in 0..=halo {
                    let lo = [-(depth as isize), 20, 0];
                    let size = [n + 2 * depth, 3, 1];
                    let (shift, faces) = ([0, -20, 0], [None; 3]);
                    let of = CopyBox { to: 0, from: 0, lo, size, shift, faces };
                    let layer = Layer::new(0, &of, &shape, 32 / bytes);
                    let first = 20 * i64::from(shape.pitch) - depth as i64;
                    let end_before = 19 * i64::from(shape.pitch) + (n + halo) as i64;
                    assert!((end_before..=first).contains(&layer.to.1), "{n} {halo} {depth}");
                    let end = layer.to.1 + layer.values as i64;
                    assert_eq!(end, 22 * i64::from(shape.pitch) + (n + depth) as i64);
                    match layer.to.1 + depth as i64 == 20 * i64::from(shape.pitch) {
                        true => part += 1,
                        false => whole += 1,
                    }
                }
            }
        }
        assert!(whole > 0 && part > 0);
    }
}
