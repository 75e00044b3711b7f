//! Copies of arrays in the memory of a card: another thread brings them to the host while the run goes on.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream};
use ndarray::{ArrayView2, ShapeBuilder};

use super::Machine;
use crate::backend::cuda::CudaError;
use crate::backend::cuda::exchange::Pinned;
use crate::field::{InOrder, Shape};
use crate::{Error, Number};

/// The share of free memory that a copy may take: one part of so many.
const SHARE: usize = 4;
/// Bytes that the host has of an array at once, unless a row has more.
const AT_ONCE: usize = 1 << 23;

/// A copy of an array.
struct Copy<T> {
    shape: Shape,
    values: CudaSlice<u8>,
    /// The stream of the copy and of its way to the host; no other work is on it.
    stream: Arc<CudaStream>,
    /// Rows on the host, as they lie on the card.
    room: Pinned,
    /// The plane of these rows, and the rows.
    at_hand: (usize, Range<usize>),
    of: PhantomData<fn() -> T>,
}

impl<T: Number> Machine<T> {
    /// Copies a buffer on the card behind all work that was started, for another thread to read. `None` if the host has other
    /// values, several devices have it, its values lie apart, or a copy takes too much of the memory that is free.
    pub(super) fn copy_of(
        &self,
        buffer: usize,
    ) -> Result<Option<Box<dyn InOrder<T> + Send>>, Error> {
        let is_alone = self.courier.is_none() && self.peers.is_empty();
        let may = is_alone && self.fields.domain.copies;
        if !may || self.cut.patches.count() != 1 || self.known[buffer].get().is_some() {
            return Ok(None);
        }
        let Some(from) = self.memory.together(self.slots[buffer]) else {
            return Ok(None);
        };
        let failed = CudaError::driver("copying an array on the card");
        let context = &self.card.context;
        let (free, _) = context.mem_get_info().map_err(&failed)?;
        if from.len() > free / SHARE {
            return Ok(None);
        }
        let stream = context.new_stream().map_err(&failed)?;
        // SAFETY: all bytes are written below before any is read.
        let Ok(mut values) = (unsafe { stream.alloc::<u8>(from.len()) }) else {
            return Ok(None);
        };
        let copied = stream.join(&self.card.stream).and_then(|()| {
            stream.memcpy_dtod(&from, &mut values)?;
            self.card.stream.join(&stream)
        });
        copied.map_err(failed)?;
        let shape = self.cut.patch;
        let row = shape.layout.pitch * T::BYTES;
        let room = Pinned::new(context, AT_ONCE.min(row * shape.cells[1]).max(row))?;
        let at_hand = (0, 0..0);
        Ok(Some(Box::new(Copy { shape, values, stream, room, at_hand, of: PhantomData })))
    }
}

impl<T: Number> Copy<T> {
    /// Brings rows of a plane to the host, from one on, as many as there is room for.
    fn fetch(&mut self, z: usize, y: usize) -> Result<(), CudaError> {
        let row = self.shape.layout.pitch * T::BYTES;
        let rows = (self.room.bytes().len() / row).min(self.shape.cells[1] - y);
        let first = self.shape.index([0, y as isize, z as isize]) * T::BYTES;
        // The array ends behind the last cell of its last row.
        let bytes = (rows * row).min(self.values.len() - first);
        let from = self.values.slice(first..first + bytes);
        let to = &mut self.room.bytes_mut()[..bytes];
        let copy = self.stream.memcpy_dtoh(&from, to).and_then(|()| self.stream.synchronize());
        copy.map_err(CudaError::driver("copying an array from the card"))?;
        self.at_hand = (z, y..y + rows);
        Ok(())
    }
}

impl<T: Number> InOrder<T> for Copy<T> {
    fn rows(&mut self, z: usize, y: usize) -> Result<Option<ArrayView2<'_, T>>, Error> {
        if self.at_hand.0 != z || !self.at_hand.1.contains(&y) {
            self.fetch(z, y)?;
        }
        let (pitch, rows) = (self.shape.layout.pitch, &self.at_hand.1);
        let values = &self.room.values::<T>()[(y - rows.start) * pitch..];
        let view =
            ArrayView2::from_shape((rows.end - y, self.shape.cells[0]).strides((pitch, 1)), values);
        view.map(Some).map_err(|error| Error::Bug(format!("rows of a copy: {error}")))
    }
}
