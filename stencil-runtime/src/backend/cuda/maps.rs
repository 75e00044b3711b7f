//! Arrays as the copy engine of a card sees them: what it copies boxes of cells from.

use std::ffi::c_void;
use std::mem::size_of;

use cudarc::driver::{DeviceRepr, sys};
use stencil_compiler::expr::Real;
use stencil_compiler::kernel::COPY_BYTES;

use super::CudaError;
use crate::backend::cpu::array::Shape;

/// An array described to the copy engine, as a parameter of a kernel.
#[repr(C, align(128))]
#[derive(Clone, Copy, Debug)]
pub(super) struct TensorMap([u64; 16]);

const _: () = assert!(size_of::<TensorMap>() == size_of::<sys::CUtensorMap>());

// SAFETY: plain integers in the layout of C, which only the card reads.
unsafe impl DeviceRepr for TensorMap {}

/// How the rows of arrays of a shape lie in memory, from the first ghost cell on that a copy may
/// begin at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// Bytes of an array before its first row.
    start: usize,
    /// Values of a row, rows of a plane, planes.
    counts: [usize; 3],
    /// Where cell 0 is.
    first: [i32; 3],
    value_bytes: usize,
}

impl Rows {
    pub(super) fn new<T: Real>(shape: &Shape) -> Self {
        // Copies begin on multiples of their length, as counted from cell 0.
        let before = shape.halo[0].next_multiple_of(COPY_BYTES / T::BYTES);
        let first = [before, shape.halo[1], shape.halo[2]];
        let back = first[2] * shape.layout.plane + first[1] * shape.layout.pitch + first[0];
        Rows {
            start: (shape.layout.origin - back) * T::BYTES,
            counts: [
                shape.layout.pitch,
                shape.cells[1] + 2 * shape.halo[1],
                shape.cells[2] + 2 * shape.halo[2],
            ],
            first: first.map(|n| n as i32),
            value_bytes: T::BYTES,
        }
    }

    /// Bytes of an array before its first row.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Values of a row, rows of a plane, planes.
    pub(super) fn counts(&self) -> [usize; 3] {
        self.counts
    }

    /// Bytes of a value.
    pub(super) fn value_bytes(&self) -> usize {
        self.value_bytes
    }

    /// Where cell 0 of an array is in its map, or in a surface.
    pub(super) fn first(&self) -> [i32; 3] {
        self.first
    }

    /// Describes an array that begins at an address, for boxes of this extent; those of all patches,
    /// if there are some and these many bytes apart, as one array with the patch as its slowest axis.
    pub(super) fn map(
        &self,
        address: u64,
        extent: [u32; 3],
        (patches, apart): (usize, usize),
    ) -> Result<TensorMap, CudaError> {
        let [x, y, z] = self.counts.map(|n| n as u64);
        let row = x * self.value_bytes as u64;
        let counts = [x, y, z, patches as u64];
        let strides = [row, row * y, apart as u64];
        let boxed = [extent[0], extent[1], extent[2], 1];
        let rank = if patches > 1 { 4 } else { 3 };
        let values = match self.value_bytes {
            4 => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            _ => sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        };
        // SAFETY: the card in use opened the driver's library; only the presence of the function
        // is asked for.
        let known =
            unsafe { sys::culib().get::<unsafe extern "C" fn()>(b"cuTensorMapEncodeTiled\0") };
        if known.is_err() {
            return Err(CudaError::NoMaps);
        }
        let mut map = TensorMap([0; 16]);
        // SAFETY: writes one map, which has the size and at least the alignment that it asks for; the
        // lists have an entry for each axis. The memory is not touched before a kernel copies from
        // it.
        let described = unsafe {
            sys::cuTensorMapEncodeTiled(
                (&raw mut map).cast(),
                values,
                rank,
                (address + self.start as u64) as *mut c_void,
                counts.as_ptr(),
                strides.as_ptr(),
                boxed.as_ptr(),
                [1; 4].as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        let failed = CudaError::driver("describing an array to the copy engine");
        described.result().map_err(failed)?;
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::array::Array;

    /// What the driver asks for, and that each cell is where a map has it: the engine counts from the
    /// first row on, value by value.
    fn fits<T: Real>(cells: [usize; 3], halo: [usize; 3]) {
        let shape = Shape::new(cells, halo, T::BYTES).unwrap();
        let rows = Rows::new::<T>(&shape);
        let [x, y, z] = rows.counts;
        assert_eq!(rows.start % COPY_BYTES, 0);
        assert_eq!(x * T::BYTES % COPY_BYTES, 0);
        assert!(rows.start + x * y * z * T::BYTES <= shape.len() * T::BYTES);
        let first = rows.first.map(|n| n as usize);
        assert!(first[0].is_multiple_of(COPY_BYTES / T::BYTES));
        // A row holds all its ghost cells.
        assert!(first[0] + cells[0] + halo[0] <= x, "{cells:?} {halo:?}");
        let value = |[x, y, z]: [isize; 3]| T::from_f64((x + 100 * y + 10_000 * z) as f64);
        let mut array = Array::<T>::new(&shape).unwrap();
        array.set(&shape, halo, value);
        let corners = |axis: usize| {
            [
                -(halo[axis] as isize),
                (cells[axis] + halo[axis]) as isize - 1,
            ]
        };
        for at_z in corners(2) {
            for at_y in corners(1) {
                for at_x in corners(0) {
                    let at = [at_x, at_y, at_z];
                    let [i, j, k] = [0, 1, 2].map(|a| (at[a] + first[a] as isize) as usize);
                    assert!(i < x && j < y && k < z);
                    let place = rows.start / T::BYTES + (k * y + j) * x + i;
                    assert_eq!(
                        array.values()[place],
                        value(at),
                        "{cells:?} {halo:?} {at:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn cells_are_where_maps_say() {
        for n in 20..64 {
            for halo in 0..6 {
                fits::<f32>([n, 5, 4], [halo, 2, 1]);
                fits::<f64>([n, 3, 1], [halo, halo, 0]);
            }
        }
    }
}
