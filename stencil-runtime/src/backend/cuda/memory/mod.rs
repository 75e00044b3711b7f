//! The arrays of all patches in the memory of a card: one allocation, arrays of equal shape. The arrays of a patch lie
//! one behind the other or, if a plan says so, the values of a cell side by side, or in surfaces. Several cards share the
//! allocation: each has the memory of its own patches.

pub(crate) mod patches;
pub(crate) mod shared;
pub(crate) mod strided;
pub(crate) mod surfaces;
pub(crate) mod tensor_maps;

use std::ops::Range;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use cudarc::driver::sys::{CUDA_MEMCPY2D, CUmemorytype, cuMemcpy2DAsync_v2};
use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, CudaView, DevicePtr, DeviceRepr, DriverError, result,
};
use stencil_compiler::emit;
use stencil_compiler::expr::Real;
use stencil_compiler::plan::Place;

use crate::backend::cuda::CudaError;
use crate::backend::cuda::card::Opened;
use crate::backend::cuda::memory::patches::launched_over;
use crate::backend::cuda::memory::shared::Allocation;
use crate::backend::cuda::memory::strided::{Mover, Values};
use crate::backend::cuda::memory::surfaces::{End, Surfaces};
use crate::backend::cuda::memory::tensor_maps::{Arrays, Rows, TensorMap};
use crate::field::{Array, Shape};
use crate::mesh::Patches;

/// Arrays begin on multiples of this, so that each has the same alignment.
const ALIGNMENT: usize = 256;

/// The largest distance of rows, in bytes, that a copy of rows may have, on any card.
const MOST_APART: usize = i32::MAX as usize;

/// The number of arrays that the kernels of this backend take.
pub(crate) const ARRAYS: usize = 256;

/// Addresses of the first interior cells of arrays of the first patch, as a parameter of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Addresses([u64; ARRAYS]);

// SAFETY: plain integers in the layout of C.
unsafe impl DeviceRepr for Addresses {}

#[cfg(test)]
impl Addresses {
    /// Returns these addresses.
    pub(crate) fn all(all: [u64; ARRAYS]) -> Self {
        Addresses(all)
    }
}

impl Addresses {
    /// Returns the address of one of the arrays.
    pub(crate) fn of(&self, array: usize) -> u64 {
        self.0[array]
    }

    /// Returns the addresses so many bytes behind these.
    pub(crate) fn behind(self, bytes: u64) -> Self {
        Addresses(self.0.map(|address| address + bytes))
    }
}

/// Returns the address of an array on a card.
pub(crate) fn start<T>(array: &CudaSlice<T>, stream: &Arc<CudaStream>) -> u64 {
    array.device_ptr(stream).0
}

/// Arrays of one shape: `count` of them for each patch.
#[derive(Debug)]
pub(crate) struct Memory {
    all: Allocation<u8>,
    /// Bytes of an array.
    array: usize,
    /// Bytes from one array to the next.
    stride: usize,
    /// Values from the beginning of an array to its first interior cell.
    origin: usize,
    /// The place of each array of a patch.
    places: Vec<Place>,
    value_bytes: usize,
    /// Moves values of arrays whose values lie apart.
    mover: Option<Mover>,
    patches: Patches,
    /// The number of the first card among those of the run.
    first: usize,
    /// The numbers of the patches of each card, which its launches go through.
    listed: Vec<CudaSlice<i32>>,
    rows: Rows,
    surfaces: Surfaces,
}

/// Returns the bytes from one array of a shape to the next.
pub(crate) fn stride<T: Real>(shape: &Shape) -> usize {
    (shape.len() * T::BYTES).next_multiple_of(ALIGNMENT)
}

impl Memory {
    /// Allocates arrays of zeros at these places for each of some patches, which the cards share. The first card has this
    /// number among those of the run: it is the only one of this process, or the first one of all.
    pub(crate) fn new<T: Real>(
        (first, cards): (usize, &[Opened]),
        shape: &Shape,
        places: Vec<Place>,
        patches: Patches,
    ) -> Result<Self, CudaError> {
        let stride = stride::<T>(shape);
        let surfaces = places.iter().filter(|place| place.surface).count();
        if surfaces > 0 && patches.devices > 1 {
            return Err(CudaError::SharedSurface);
        }
        let step = stride.saturating_mul(places.len() - surfaces);
        let owned = (0..patches.devices).map(|owner| patches.owned(owner));
        let parts: Vec<usize> = owned.map(|own| step.saturating_mul(own.len())).collect();
        let all = match cards {
            [card] if patches.devices > 1 => Allocation::part(card, first, &parts)?,
            cards => Allocation::zeros(cards, &parts)?,
        };
        let listed = (first..).zip(cards).map(|(owner, card)| {
            let numbers: Vec<i32> = patches.owned(owner).map(|patch| patch as i32).collect();
            card.stream.clone_htod(&numbers)
        });
        let listed = listed.collect::<Result<_, _>>();
        Ok(Memory {
            all,
            array: shape.len() * T::BYTES,
            stride,
            origin: shape.layout.origin,
            places,
            value_bytes: T::BYTES,
            mover: None,
            patches,
            first,
            listed: listed.map_err(CudaError::driver("copying a list of patches to the card"))?,
            rows: Rows::new::<T>(shape),
            surfaces: Surfaces::new::<T>(&cards[0], (shape, patches), surfaces)?,
        })
    }

    /// Moves arrays whose values lie apart by this kernel.
    pub(crate) fn move_by<T: Real>(
        &mut self,
        card: &Opened,
        kernel: CudaFunction,
    ) -> Result<(), CudaError> {
        self.mover = Some(Mover::new::<T>(card, kernel, self.length())?);
        Ok(())
    }

    /// Returns the number of arrays of a patch, and surfaces.
    pub(crate) fn count(&self) -> usize {
        self.places.len()
    }

    /// Returns the place of an array of a patch.
    pub(crate) fn place(&self, slot: usize) -> Place {
        self.places[slot]
    }

    /// Returns the values of an array from one cell to the next.
    fn apart(&self, slot: usize) -> usize {
        self.places[slot].of
    }

    /// Returns the number of the surface, if it is one.
    fn surface(&self, slot: usize) -> Option<usize> {
        let place = self.places[slot];
        place.surface.then_some(place.before)
    }

    /// Returns the number of values of an array.
    fn length(&self) -> usize {
        self.array / self.value_bytes
    }

    /// Returns the number of arrays of a patch, without surfaces.
    pub(crate) fn arrays(&self) -> usize {
        self.places.iter().filter(|place| !place.surface).count()
    }

    /// Returns the bytes from one patch to the next.
    fn step(&self) -> usize {
        self.arrays() * self.stride
    }

    /// Returns the bytes of a patch before an array's value in the `cell`-th cell from the beginning.
    fn bytes_before(&self, slot: usize, cell: usize) -> usize {
        let room = self.stride / self.value_bytes;
        self.places[slot].value(cell, room) * self.value_bytes
    }

    /// Returns the numbers of the patches of a card, in its memory.
    pub(crate) fn listed(&self, owner: usize) -> &CudaSlice<i32> {
        &self.listed[owner - self.first]
    }

    /// Returns the patches of all cards of this process.
    pub(crate) fn held(&self) -> Range<usize> {
        let last = self.first + self.listed.len() - 1;
        self.patches.owned(self.first).start..self.patches.owned(last).end
    }

    /// Returns the axes along which neighbours are on different cards.
    pub(crate) fn cut(&self) -> [bool; 3] {
        self.patches.cut()
    }

    /// Returns the axes along which some patches have a cell less than others.
    pub(crate) fn uneven(&self) -> [bool; 3] {
        self.patches.uneven()
    }

    /// Returns the kind of text for launches on its arrays.
    pub(crate) fn launched_over(&self) -> emit::Patches {
        launched_over(&self.patches)
    }

    /// Returns the first patch of a card.
    pub(crate) fn first_of(&self, owner: usize) -> usize {
        self.patches.owned(owner).start
    }

    /// Returns the number of patches of a card.
    pub(crate) fn patches_of(&self, owner: usize) -> usize {
        self.patches.owned(owner).len()
    }

    /// Returns the layout of the rows of an array.
    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Returns arrays of one patch, or of all, as the copy engine sees them, for boxes of this extent: so many of a patch, each
    /// so many arrays behind the one before, behind the `first` arrays. Arrays whose values lie apart have no boxes.
    pub(crate) fn map(
        &self,
        stream: &Arc<CudaStream>,
        (patch, first): (Option<usize>, usize),
        (count, between): (usize, usize),
        extent: [u32; 3],
    ) -> Result<TensorMap, CudaError> {
        let bound = stream.context().bind_to_thread();
        bound.map_err(CudaError::driver("taking the card into use"))?;
        let (base, _) = self.all.device_ptr(stream);
        let of = Arrays {
            arrays: (count, between * self.stride),
            patches: (patch.map_or(self.patches.count(), |_| 1), self.step()),
            extent,
        };
        let before = patch.unwrap_or_default() * self.step() + first * self.stride;
        self.rows.map(base + before as u64, of)
    }

    /// Returns the bytes of all arrays of the first card, which has as many patches as any other.
    pub(crate) fn bytes(&self) -> usize {
        self.step() * self.patches.of_a_device() + self.surfaces.bytes()
    }

    /// Returns the bytes of the room in which arrays are packed.
    pub(crate) fn packing(&self) -> usize {
        self.mover.as_ref().map_or(0, Mover::bytes)
    }

    /// Returns the address of the first interior cell of an array of the first patch. For a surface it returns the
    /// object that kernels take in its place.
    pub(crate) fn address(&self, stream: &Arc<CudaStream>, slot: usize) -> u64 {
        if let Some(surface) = self.surface(slot) {
            return self.surfaces.object(surface);
        }
        start(&self.all, stream) + self.bytes_before(slot, self.origin) as u64
    }

    /// Returns the same of a patch. Surfaces have all patches.
    pub(crate) fn address_in(&self, stream: &Arc<CudaStream>, patch: usize, slot: usize) -> u64 {
        self.address(stream, slot) + (patch * self.step()) as u64
    }

    /// Returns the addresses of some arrays of the first patch.
    pub(crate) fn addresses(
        &self,
        stream: &Arc<CudaStream>,
        slots: impl IntoIterator<Item = usize>,
    ) -> Addresses {
        let mut all = Addresses([0; ARRAYS]);
        for (address, slot) in all.0.iter_mut().zip(slots) {
            *address = self.address(stream, slot);
        }
        all
    }

    /// Returns the range of an array of a patch whose values follow each other.
    fn range(&self, patch: usize, slot: usize) -> Range<usize> {
        let start = patch * self.step() + self.bytes_before(slot, 0);
        start..start + self.array
    }

    /// Returns the bytes of an array of the only patch, if they lie together.
    pub(crate) fn together(&self, slot: usize) -> Option<CudaView<'_, u8>> {
        let lies_together = self.surface(slot).is_none() && self.apart(slot) == 1;
        lies_together.then(|| self.all.slice(self.range(0, slot)))
    }

    /// Returns all values of an array of a patch.
    fn values(&self, stream: &Arc<CudaStream>, patch: usize, slot: usize) -> Values {
        let before = patch * self.step() + self.bytes_before(slot, 0);
        Values {
            first: start(&self.all, stream) + before as u64,
            apart: self.apart(slot),
            step: self.step() / self.value_bytes,
        }
    }

    /// Returns an array of a patch as an end of a copy to or from a surface.
    fn end(&self, stream: &Arc<CudaStream>, patch: usize, slot: usize) -> End {
        match self.surface(slot) {
            Some(surface) => End::Surface(surface, patch),
            None => {
                let start = start(&self.all, stream);
                End::Card(start + self.range(patch, slot).start as u64)
            }
        }
    }

    /// Returns the mover for the values of some arrays, if the values of one lie apart.
    fn mover(&self, slots: &[usize]) -> Result<Option<&Mover>, CudaError> {
        if slots.iter().all(|slot| self.apart(*slot) == 1) {
            return Ok(None);
        }
        let missing = || CudaError::Driver {
            call: "moving the values of an array",
            reason: "there is no kernel for it".into(),
        };
        self.mover.as_ref().ok_or_else(missing).map(Some)
    }

    /// Returns the stream that moves an array of a patch from or to the host, of those of the cards: that of the card with
    /// its memory, or of the first card if values lie apart.
    fn carrier<'a>(
        &self,
        streams: &'a [Arc<CudaStream>],
        patch: usize,
        slot: usize,
    ) -> &'a Arc<CudaStream> {
        let owner = self.patches.patch(patch).owner - self.first;
        &streams[if self.apart(slot) == 1 { owner } else { 0 }]
    }

    /// Copies an array of the host, ghost cells and all, to a patch, by one of the streams of the cards of this process.
    pub(crate) fn write<T: Real>(
        &mut self,
        streams: &[Arc<CudaStream>],
        patch: usize,
        slot: usize,
        from: &Array<T>,
    ) -> Result<(), CudaError> {
        let stream = self.carrier(streams, patch, slot);
        let failed = CudaError::driver("copying an array to the card");
        if self.surface(slot).is_some() {
            // The driver only reads it.
            let from = End::Host(bytes(from.values()).as_ptr().cast_mut().cast());
            let ends = [from, self.end(stream, patch, slot)];
            self.surfaces.copy(stream, ends)?;
            return stream.synchronize().map_err(failed);
        }
        if let Some(mover) = self.mover(&[slot])? {
            let to = (self.values(stream, patch, slot), self.length());
            return mover.write(stream, bytes(from.values()), to);
        }
        let range = self.range(patch, slot);
        let copy = stream.memcpy_htod(bytes(from.values()), &mut self.all.slice_mut(range));
        copy.map_err(failed)
    }

    /// Copies an array of a patch to the host, by one of the streams of the cards of this process, and waits for it.
    pub(crate) fn read<T: Real>(
        &self,
        streams: &[Arc<CudaStream>],
        patch: usize,
        slot: usize,
        to: &mut Array<T>,
    ) -> Result<(), CudaError> {
        let stream = self.carrier(streams, patch, slot);
        let failed = CudaError::driver("copying an array from the card");
        if self.surface(slot).is_some() {
            let to = End::Host(bytes_mut(to.values_mut()).as_mut_ptr().cast());
            let ends = [self.end(stream, patch, slot), to];
            self.surfaces.copy(stream, ends)?;
            return stream.synchronize().map_err(failed);
        }
        if let Some(mover) = self.mover(&[slot])? {
            let from = (self.values(stream, patch, slot), self.length());
            return mover.read(stream, from, bytes_mut(to.values_mut()));
        }
        let from = self.all.slice(self.range(patch, slot));
        let copy = stream.memcpy_dtoh(&from, bytes_mut(to.values_mut()));
        copy.and_then(|()| stream.synchronize()).map_err(failed)
    }

    /// Copies an array of each patch of a card to another. The first card moves values that lie apart, on all patches of this
    /// process.
    pub(crate) fn copy(
        &self,
        (owner, stream): (usize, &Arc<CudaStream>),
        from: usize,
        to: usize,
    ) -> Result<(), CudaError> {
        let failed = CudaError::driver("copying an array on the card");
        let mut own = self.patches.owned(owner);
        if [from, to].iter().any(|slot| self.surface(*slot).is_some()) {
            let ends = |patch| [from, to].map(|slot| self.end(stream, patch, slot));
            return own.try_for_each(|patch| self.surfaces.copy(stream, ends(patch)));
        }
        if let Some(mover) = self.mover(&[from, to])? {
            let held = self.held();
            let ends = [from, to].map(|slot| self.values(stream, held.start, slot));
            return match owner == self.first {
                true => mover.move_values(stream, ends, (self.length(), held.len())),
                false => Ok(()),
            };
        }
        stream.context().bind_to_thread().map_err(&failed)?;
        // Rows of a matrix may not lie in the memories of several cards.
        let is_alone = self.patches.devices == 1;
        if own.len() > 1 && is_alone && self.step() <= MOST_APART {
            return self.copy_rows(stream, from, to).map_err(failed);
        }
        own.try_for_each(|patch| self.copy_of(stream, patch, [from, to])).map_err(failed)
    }

    fn copy_of(
        &self,
        stream: &Arc<CudaStream>,
        patch: usize,
        slots: [usize; 2],
    ) -> Result<(), DriverError> {
        let base = start(&self.all, stream);
        let [from, to] = slots.map(|slot| base + self.range(patch, slot).start as u64);
        // SAFETY: both arrays lie in the allocation, and they do not overlap.
        unsafe { result::memcpy_dtod_async(to, from, self.array, stream.cu_stream()) }
    }

    /// Copies all patches at once, as a matrix with a row for each: there may be thousands.
    fn copy_rows(
        &self,
        stream: &Arc<CudaStream>,
        from: usize,
        to: usize,
    ) -> Result<(), DriverError> {
        let [first, second] = [from, to].map(|slot| self.bytes_before(slot, 0) as u64);
        let (base, apart) = (start(&self.all, stream), self.step());
        let rows = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: null(),
            srcDevice: base + first,
            srcArray: null_mut(),
            srcPitch: apart,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: null_mut(),
            dstDevice: base + second,
            dstArray: null_mut(),
            dstPitch: apart,
            WidthInBytes: self.array,
            Height: self.patches.count(),
        };
        // SAFETY: both arrays of each patch lie in the allocation, and they do not overlap.
        unsafe { cuMemcpy2DAsync_v2(&raw const rows, stream.cu_stream()) }.result()
    }
}

/// Values as bytes.
pub(crate) fn bytes<T: Real>(values: &[T]) -> &[u8] {
    // SAFETY: `Real` is `f32` or `f64`, which have no padding; the bytes are those of `values`.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn bytes_mut<T: Real>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: as above, and each pattern of bits is an `f32` or `f64`.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}
