//! Memory that all cards of a run read and write: one range of addresses, whose pages lie in the memories of several
//! cards (CUDA driver API, virtual memory management).

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut, Range};
use std::slice;
use std::sync::Arc;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{CudaSlice, CudaStream, DeviceRepr, DriverError, ValidAsZeroBits, result};

use crate::backend::cuda::CudaError;
use crate::backend::cuda::card::Opened;

/// An array on the card of a run, or on all of its cards.
#[derive(Debug)]
pub(crate) struct Allocation<T> {
    /// The array. It owns its memory unless that is mapped.
    values: ManuallyDrop<CudaSlice<T>>,
    mapped: Option<Mapped>,
}

impl<T: DeviceRepr + ValidAsZeroBits> Allocation<T> {
    /// Allocates zeros, one value at least: so many in the memory of each card, one part behind the other. A page that
    /// two cards share lies in the memory of the first of them.
    pub(crate) fn zeros(cards: &[Opened], parts: &[usize]) -> Result<Self, CudaError> {
        let length = parts.iter().sum::<usize>().max(1);
        let [card] = cards else {
            let bytes: Vec<usize> = parts.iter().map(|part| part * size_of::<T>()).collect();
            let mapped = Mapped::zeros(cards, &bytes)?;
            // SAFETY: the range is mapped for all cards, has so many values, all zero, and lives as long as this.
            let values = unsafe { cards[0].stream.upgrade_device_ptr(mapped.base, length) };
            return Ok(Allocation { values: ManuallyDrop::new(values), mapped: Some(mapped) });
        };
        let values = card.stream.alloc_zeros(length);
        let values = values.map_err(CudaError::driver("taking memory on the card"))?;
        Ok(Allocation { values: ManuallyDrop::new(values), mapped: None })
    }
}

impl<T: DeviceRepr + ValidAsZeroBits> Allocation<T> {
    /// Allocates zeros in the memory of a card, which has the part of this number of so many values in each: the addresses
    /// of the other parts are reserved, and those parts lie in the memories of other processes.
    pub(crate) fn part(card: &Opened, number: usize, parts: &[usize]) -> Result<Self, CudaError> {
        let bytes: Vec<usize> = parts.iter().map(|part| part * size_of::<T>()).collect();
        let mapped = Mapped::part(card, number, &bytes)?;
        let length = parts.iter().sum::<usize>().max(1);
        // SAFETY: the range is reserved as long as this lives. It has so many values, of which those of this part are mapped
        // and zero; nothing uses the others.
        let values = unsafe { card.stream.upgrade_device_ptr(mapped.base, length) };
        Ok(Allocation { values: ManuallyDrop::new(values), mapped: Some(mapped) })
    }
}

impl<T> Deref for Allocation<T> {
    type Target = CudaSlice<T>;

    fn deref(&self) -> &CudaSlice<T> {
        &self.values
    }
}

impl<T> DerefMut for Allocation<T> {
    fn deref_mut(&mut self) -> &mut CudaSlice<T> {
        &mut self.values
    }
}

impl<T> Drop for Allocation<T> {
    fn drop(&mut self) {
        // SAFETY: the array is taken once, here.
        let values = unsafe { ManuallyDrop::take(&mut self.values) };
        if self.mapped.is_some() {
            // The mapping is dropped after this, and frees the memory.
            values.leak();
        }
    }
}

/// A range of addresses, and the pages behind it.
#[derive(Debug)]
struct Mapped {
    base: u64,
    bytes: usize,
    /// Parts of the range behind which there are pages, each with the number of their card.
    parts: Vec<(usize, Range<usize>)>,
    /// The streams of all cards.
    streams: Vec<Arc<CudaStream>>,
}

impl Mapped {
    /// Maps so many bytes of each card, one part behind the other, and fills them with zeros.
    fn zeros(cards: &[Opened], parts: &[usize]) -> Result<Self, CudaError> {
        Self::new(cards, |page| pages(parts, page))
    }

    /// Maps the part of this number, and fills it with zeros; it may share its first page and its last one with others.
    fn part(card: &Opened, number: usize, parts: &[usize]) -> Result<Self, CudaError> {
        let begin = parts[..number].iter().sum::<usize>();
        let end = begin + parts[number];
        Self::new(slice::from_ref(card), |page| {
            let pages = begin / page * page..end.next_multiple_of(page);
            let end = parts.iter().sum::<usize>().max(pages.end).next_multiple_of(page);
            vec![pages, end..end]
        })
    }

    /// Reserves addresses up to the end of the last range, and maps the ranges, one of each card: `pages` gives them for pages of
    /// so many bytes.
    fn new(
        cards: &[Opened],
        pages: impl FnOnce(usize) -> Vec<Range<usize>>,
    ) -> Result<Self, CudaError> {
        let failed = CudaError::driver("mapping memory of several cards");
        check(cards)?;
        cards[0].context.bind_to_thread().map_err(&failed)?;
        let page = cards.iter().map(page_of).collect::<Result<Vec<_>, _>>().map_err(&failed)?;
        let pages = pages(page.into_iter().max().unwrap_or(1));
        let streams = cards.iter().map(|card| card.stream.clone()).collect();
        let bytes = pages.last().map_or(0, |last| last.end);
        let mut mapped = Mapped { base: 0, bytes, parts: Vec::new(), streams };
        // SAFETY: writes one address, of a range that nothing else uses.
        let reserved =
            unsafe { sys::cuMemAddressReserve(&raw mut mapped.base, mapped.bytes, 0, 0, 0) };
        reserved.result().map_err(&failed)?;
        for (at, part) in pages.into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let bytes = part.len();
            mapped.map((at, &cards[at]), part).map_err(|error| match error.0 {
                sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                    CudaError::PartOfMemory { card: cards[at].card.ordinal, bytes }
                }
                _ => failed(error),
            })?;
        }
        let access = |card: &Opened| sys::CUmemAccessDesc {
            location: location(card),
            flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // A card may stand there several times.
        let each: BTreeMap<usize, &Opened> = cards.iter().map(|c| (c.card.ordinal, c)).collect();
        let all: Vec<sys::CUmemAccessDesc> = each.into_values().map(access).collect();
        for (_, part) in &mapped.parts {
            let at = mapped.base + part.start as u64;
            // SAFETY: reads so many descriptions; the part has pages.
            let open = unsafe { sys::cuMemSetAccess(at, part.len(), all.as_ptr(), all.len()) };
            open.result().map_err(&failed)?;
        }
        mapped.clear().map_err(&failed)?;
        Ok(mapped)
    }

    /// Puts new pages of a card behind a part of the range.
    fn map(&mut self, (at, card): (usize, &Opened), part: Range<usize>) -> Result<(), DriverError> {
        let (mut pages, of) = (0, properties(card));
        // SAFETY: reads one description and writes one handle.
        unsafe { sys::cuMemCreate(&raw mut pages, part.len(), &raw const of, 0) }.result()?;
        let to = self.base + part.start as u64;
        // SAFETY: the range is reserved, and nothing is mapped there yet.
        let mapped = unsafe { sys::cuMemMap(to, part.len(), 0, pages, 0) };
        // SAFETY: made above and released once. Pages that are mapped live until they are unmapped.
        let released = unsafe { sys::cuMemRelease(pages) };
        mapped.result()?;
        self.parts.push((at, part));
        released.result()
    }

    /// Fills the range with zeros, and waits for them.
    fn clear(&self) -> Result<(), DriverError> {
        for (card, part) in &self.parts {
            let (stream, to) = (&self.streams[*card], self.base + part.start as u64);
            stream.context().bind_to_thread()?;
            // SAFETY: the part is mapped, and this card may write there.
            unsafe { result::memset_d8_async(to, 0, part.len(), stream.cu_stream()) }?;
        }
        self.streams.iter().try_for_each(|stream| stream.synchronize())
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // An error here has no receiver. Waiting for whole contexts would spoil captures of other simulations.
        for stream in &self.streams {
            let _ = stream.synchronize();
        }
        for (_, part) in &self.parts {
            // SAFETY: mapped by `map` and unmapped once; no work uses it any more.
            let _ = unsafe { sys::cuMemUnmap(self.base + part.start as u64, part.len()) };
        }
        if self.base != 0 {
            // SAFETY: reserved by `zeros` and freed once; nothing is mapped there any more.
            let _ = unsafe { sys::cuMemAddressFree(self.base, self.bytes) };
        }
    }
}

/// Returns the range of whole pages of each card, one behind the other, for parts of so many bytes.
fn pages(parts: &[usize], page: usize) -> Vec<Range<usize>> {
    let whole = parts.iter().sum::<usize>().max(1).next_multiple_of(page);
    let (mut end, mut begin) = (0, 0);
    let mut ranges: Vec<Range<usize>> = parts
        .iter()
        .map(|part| {
            end += part;
            let pages = begin..end.next_multiple_of(page);
            begin = pages.end;
            pages
        })
        .collect();
    if let Some(last) = ranges.last_mut() {
        last.end = whole;
    }
    ranges
}

/// Checks that each card may read and write the memory of all others.
fn check(cards: &[Opened]) -> Result<(), CudaError> {
    let failed = CudaError::driver("asking whether cards may read the memory of each other");
    for card in cards {
        let ordinal = card.card.ordinal;
        let maps = Attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED;
        if card.context.attribute(maps).map_err(&failed)? == 0 {
            return Err(CudaError::NoMapping { card: ordinal });
        }
        for other in cards.iter().filter(|other| other.card.ordinal != ordinal) {
            let mut can = 0;
            let devices = (card.context.cu_device(), other.context.cu_device());
            // SAFETY: writes one integer.
            let asked = unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, devices.0, devices.1) };
            asked.result().map_err(&failed)?;
            if can == 0 {
                return Err(CudaError::NoAccess { card: ordinal, other: other.card.ordinal });
            }
        }
    }
    Ok(())
}

fn location(card: &Opened) -> sys::CUmemLocation {
    sys::CUmemLocation {
        type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
        id: card.context.cu_device(),
    }
}

fn properties(card: &Opened) -> sys::CUmemAllocationProp {
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: location(card),
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: sys::CUmemAllocationProp_st__bindgen_ty_1 {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}

/// Returns the bytes of a page of a card.
fn page_of(card: &Opened) -> Result<usize, DriverError> {
    let (mut bytes, of) = (0, properties(card));
    let flags = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_RECOMMENDED;
    // SAFETY: reads one description and writes one number.
    let asked = unsafe { sys::cuMemGetAllocationGranularity(&raw mut bytes, &raw const of, flags) };
    asked.result().map(|()| bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_follow_each_other_and_hold_all_parts() {
        assert_eq!(pages(&[10, 10, 5], 8), [0..16, 16..24, 24..32]);
        assert_eq!(pages(&[16, 8], 8), [0..16, 16..24]);
        // A card whose values lie in the page of another one, and cards without values.
        assert_eq!(pages(&[3, 4, 9], 8), [0..8, 8..8, 8..16]);
        assert_eq!(pages(&[3, 0], 8), [0..8, 8..8]);
        assert_eq!(pages(&[0, 0], 8), [0..0, 0..8]);
    }
}
