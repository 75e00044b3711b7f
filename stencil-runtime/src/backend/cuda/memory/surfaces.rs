//! Fields in surfaces: memory with a layout that the texture units choose, so that it has no addresses. Kernels take
//! objects in their place (CUDA driver API, surface object management).

use std::ffi::c_void;
use std::mem::zeroed;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUmemorytype};
use cudarc::driver::{CudaStream, DriverError};
use stencil_compiler::expr::Real;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::card::Opened;
use crate::backend::cuda::memory::tensor_maps::Rows;
use crate::field::Shape;
use crate::mesh::Patches;

/// Returns the most values along each axis of a surface of a card.
fn limits(card: &Opened) -> Result<[usize; 3], CudaError> {
    let mut limits = [0; 3];
    let attributes = [
        Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH,
        Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT,
        Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH,
    ];
    for (limit, attribute) in limits.iter_mut().zip(attributes) {
        let most = card.context.attribute(attribute);
        let most = most.map_err(CudaError::driver("asking for the largest surface"))?;
        *limit = usize::try_from(most).unwrap_or(0);
    }
    Ok(limits)
}

/// A surface of a card.
#[derive(Debug)]
struct Surface {
    array: sys::CUarray,
    object: sys::CUsurfObject,
    /// The stream of all work on it.
    stream: Arc<CudaStream>,
}

// SAFETY: the driver's objects belong to a context, not to a thread.
unsafe impl Send for Surface {}
// SAFETY: all changes through a shared reference are ordered by a stream.
unsafe impl Sync for Surface {}

impl Surface {
    /// Makes a surface of so many values along each axis. Texture units take eight bytes as two of four.
    fn new(
        stream: &Arc<CudaStream>,
        extents: [usize; 3],
        value_bytes: usize,
    ) -> Result<Self, DriverError> {
        stream.context().bind_to_thread()?;
        let description = sys::CUDA_ARRAY3D_DESCRIPTOR {
            Width: extents[0],
            Height: extents[1],
            Depth: extents[2],
            Format: sys::CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
            NumChannels: (value_bytes / 4) as u32,
            Flags: sys::CUDA_ARRAY3D_SURFACE_LDST,
        };
        let mut surface =
            Surface { array: std::ptr::null_mut(), object: 0, stream: stream.clone() };
        // SAFETY: reads one description and writes one handle.
        unsafe { sys::cuArray3DCreate_v2(&raw mut surface.array, &raw const description) }
            .result()?;
        // SAFETY: a plain structure of the driver, in which all zeros are an array without a handle.
        let mut resource: sys::CUDA_RESOURCE_DESC = unsafe { zeroed() };
        resource.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = surface.array;
        // SAFETY: reads one description, of an array that lives as long as the object, and writes one object.
        unsafe { sys::cuSurfObjectCreate(&raw mut surface.object, &raw const resource) }
            .result()?;
        Ok(surface)
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // An error here has no receiver, and the context frees everything with it.
        let _ = self.stream.context().bind_to_thread();
        // Waiting for the whole context would spoil captures of other simulations.
        let _ = self.stream.synchronize();
        if self.object != 0 {
            // SAFETY: made by `new` and destroyed once; no kernel uses it any more.
            let _ = unsafe { sys::cuSurfObjectDestroy(self.object) };
        }
        if !self.array.is_null() {
            // SAFETY: as above.
            let _ = unsafe { sys::cuArrayDestroy(self.array) };
        }
    }
}

/// The source or the destination of the values of an array of a patch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// An array of the host.
    Host(*mut c_void),
    /// The address of an array on the card.
    Card(u64),
    /// A patch in a surface: the number of the surface, and the number of the patch.
    Surface(usize, usize),
}

/// Surfaces of one shape, each with all patches, arranged as in the mesh.
#[derive(Debug)]
pub(crate) struct Surfaces {
    all: Vec<Surface>,
    rows: Rows,
    patches: Patches,
}

impl Surfaces {
    /// Allocates so many surfaces for arrays of a shape, all zero.
    pub(crate) fn new<T: Real>(
        card: &Opened,
        (shape, patches): (&Shape, Patches),
        count: usize,
    ) -> Result<Self, CudaError> {
        let mut surfaces = Surfaces { all: Vec::new(), rows: Rows::new::<T>(shape), patches };
        if count == 0 {
            return Ok(surfaces);
        }
        let extents = surfaces.extents();
        fit(extents, limits(card)?)?;
        let failed = CudaError::driver("taking surfaces on the card");
        for _ in 0..count {
            let surface = Surface::new(&card.stream, extents, T::BYTES);
            surfaces.all.push(surface.map_err(&failed)?);
        }
        let zeros = card.stream.alloc_zeros::<u8>(shape.len() * T::BYTES);
        let zeros = zeros.map_err(CudaError::driver("taking memory on the card"))?;
        let zeros = End::Card(crate::backend::cuda::memory::start(&zeros, &card.stream));
        for surface in 0..count {
            for patch in 0..patches.count() {
                surfaces.copy(&card.stream, [zeros, End::Surface(surface, patch)])?;
            }
        }
        card.synchronize()?;
        Ok(surfaces)
    }

    /// Returns the values along each axis.
    fn extents(&self) -> [usize; 3] {
        let counts = self.rows.counts();
        std::array::from_fn(|axis| self.patches.counts[axis] * counts[axis])
    }

    /// Returns the place of the first value of a patch.
    fn corner(&self, patch: usize) -> [usize; 3] {
        let (at, counts) = (self.patches.at(patch), self.rows.counts());
        std::array::from_fn(|axis| at[axis] * counts[axis])
    }

    /// Returns the object that a kernel takes in the place of an address.
    pub(crate) fn object(&self, surface: usize) -> u64 {
        self.all[surface].object
    }

    /// Returns the bytes of all of them.
    pub(crate) fn bytes(&self) -> usize {
        let values: usize = self.extents().iter().product();
        self.all.len() * values * self.rows.value_bytes()
    }

    /// Copies an array of a patch, ghost cells and all, from one end to the other.
    pub(crate) fn copy(
        &self,
        stream: &Arc<CudaStream>,
        [from, to]: [End; 2],
    ) -> Result<(), CudaError> {
        let failed = CudaError::driver("copying an array to or from a surface");
        stream.context().bind_to_thread().map_err(&failed)?;
        let [width, height, depth] = self.rows.counts();
        let row = width * self.rows.value_bytes();
        let (from, to) = (self.found(from), self.found(to));
        let copy = sys::CUDA_MEMCPY3D {
            srcXInBytes: from.first[0],
            srcY: from.first[1],
            srcZ: from.first[2],
            srcLOD: 0,
            srcMemoryType: from.kind,
            srcHost: from.host,
            srcDevice: from.address,
            srcArray: from.array,
            reserved0: std::ptr::null_mut(),
            srcPitch: row,
            srcHeight: height,
            dstXInBytes: to.first[0],
            dstY: to.first[1],
            dstZ: to.first[2],
            dstLOD: 0,
            dstMemoryType: to.kind,
            dstHost: to.host,
            dstDevice: to.address,
            dstArray: to.array,
            reserved1: std::ptr::null_mut(),
            dstPitch: row,
            dstHeight: height,
            WidthInBytes: row,
            Height: height,
            Depth: depth,
        };
        // SAFETY: both ends have so many rows so far apart from there on; one that is memory of the host is not let
        // go before the caller has waited.
        unsafe { sys::cuMemcpy3DAsync_v2(&raw const copy, stream.cu_stream()) }
            .result()
            .map_err(failed)
    }

    /// Returns an end as the driver takes it.
    fn found(&self, end: End) -> Found {
        let none = Found {
            kind: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            host: std::ptr::null_mut(),
            address: 0,
            array: std::ptr::null_mut(),
            first: [0; 3],
        };
        let start = self.rows.start();
        match end {
            End::Host(values) => Found {
                kind: CUmemorytype::CU_MEMORYTYPE_HOST,
                host: values.cast::<u8>().wrapping_add(start).cast(),
                ..none
            },
            End::Card(address) => Found { address: address + start as u64, ..none },
            End::Surface(surface, patch) => {
                let [x, y, z] = self.corner(patch);
                Found {
                    kind: CUmemorytype::CU_MEMORYTYPE_ARRAY,
                    array: self.all[surface].array,
                    first: [x * self.rows.value_bytes(), y, z],
                    ..none
                }
            }
        }
    }
}

/// One end of a copy; `first` is its beginning in an array of the driver, along x in bytes.
struct Found {
    kind: CUmemorytype,
    host: *mut c_void,
    address: u64,
    array: sys::CUarray,
    first: [usize; 3],
}

/// Are surfaces of so many values along each axis small enough?
fn fit(extents: [usize; 3], most: [usize; 3]) -> Result<(), CudaError> {
    if (0..3).all(|axis| extents[axis] <= most[axis]) {
        return Ok(());
    }
    Err(CudaError::Surface { extents, most })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn patches_fill_a_surface_once() {
        let patches = Patches { counts: [3, 2, 2], mesh: [26, 14, 9], devices: 1 };
        let shape = Shape::new(patches.largest(), [3, 2, 1], 8).unwrap();
        let surfaces = Surfaces { all: Vec::new(), rows: Rows::new::<f64>(&shape), patches };
        let counts = surfaces.rows.counts();
        assert_eq!(counts, [16, 11, 7]);
        assert_eq!(surfaces.extents(), [48, 22, 14]);
        let corners = (0..12).map(|patch| surfaces.corner(patch));
        let corners: BTreeSet<[usize; 3]> = corners.collect();
        assert_eq!(corners.len(), 12);
        for corner in corners {
            assert!((0..3).all(|a| corner[a].is_multiple_of(counts[a])));
            assert!((0..3).all(|a| corner[a] + counts[a] <= surfaces.extents()[a]));
        }
        assert_eq!(surfaces.corner(4), [16, 11, 0]);
    }

    #[test]
    fn what_no_surface_holds_has_a_way_out() {
        let most = [16384; 3];
        assert!(fit([16384, 1, 20], most).is_ok());
        let message = fit([40, 16390, 1], most).unwrap_err().to_string();
        assert!(
            message.contains("40 x 16390 x 1") && message.ends_with("use `layout soa`"),
            "{message}"
        );
    }
}
