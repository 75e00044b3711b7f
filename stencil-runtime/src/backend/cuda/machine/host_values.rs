//! Values of the card for others: for the host, and for other libraries where they lie.

use std::sync::OnceLock;

use super::Machine;
use crate::backend::cuda::CudaError;
use crate::backend::device::OnHost;
use crate::field::{Array, Shared};
use crate::{Error, Number};

impl<T: Number> Machine<T> {
    /// Returns the values of a buffer, copied to the host if they are not there.
    pub(super) fn value(&self, buffer: usize) -> Result<&Array<T>, Error> {
        let known = &self.known[buffer];
        if let Some(values) = known.get() {
            return Ok(values);
        }
        let values = self.whole(self.slots[buffer])?;
        Ok(known.get_or_init(|| values))
    }

    /// Calls a function on the threads of the host with these buffers, which are on the card again when next needed there.
    pub(super) fn on_host_with(
        &mut self,
        buffers: Vec<usize>,
        evaluate: OnHost<'_, T>,
    ) -> Result<(), Error> {
        for buffer in &buffers {
            self.value(*buffer)?;
        }
        for buffer in &buffers {
            if let Some(values) = self.known[*buffer].take() {
                *self.fields.array_mut(*buffer) = values;
            }
        }
        self.pool.install(|| evaluate(&mut self.fields));
        for buffer in buffers {
            let values = std::mem::take(self.fields.array_mut(buffer));
            self.known[buffer] = OnceLock::from(values);
        }
        Ok(())
    }

    /// Returns the place of a buffer in the memory of the card, after all work on it.
    pub(super) fn share_values(&mut self, buffer: usize) -> Result<Shared, Error> {
        let not = |reason: &str| Err(Error::NotShared { reason: reason.into() });
        if self.courier.is_some() || !self.peers.is_empty() {
            return not("several devices have them");
        }
        if self.cut.patches.count() != 1 {
            return not("the mesh has several patches");
        }
        let slot = self.slots[buffer];
        let place = self.memory.place(slot);
        if place.surface {
            return not("they are in a surface of the card");
        }
        self.lanes.settle()?;
        self.card.synchronize()?;
        let address = self.memory.address(&self.card.stream, slot);
        let address = usize::try_from(address).map_err(|error| Error::Bug(error.to_string()))?;
        let card = Some(self.card.card.ordinal);
        Ok(Shared { card, ..Shared::new::<T>(&self.cut.patch, address, place.of) })
    }

    /// Waits for all work on the card, also that of other libraries, and forgets what was known of these buffers.
    pub(super) fn values_changed(&mut self, buffers: &[usize]) -> Result<(), CudaError> {
        let waited = self.card.stream.context().synchronize();
        waited.map_err(CudaError::driver("work of another library on the card"))?;
        self.forget(buffers);
        (self.holds, self.has_sent) = (false, false);
        Ok(())
    }
}
