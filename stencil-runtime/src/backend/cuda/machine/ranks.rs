//! A machine of one of several processes: it has the patches of one card, and the other processes have the others.

use std::borrow::Cow;
use std::sync::Arc;

use stencil_compiler::schedule::Layout;

use super::Machine;
use super::tasks::Job;
use crate::backend::cuda::card::Opened;
use crate::backend::cuda::exchange::Courier;
use crate::backend::cuda::kernels::builtin::packing;
use crate::backend::cuda::kernels::ghosts::Parcels;
use crate::backend::cuda::{Cache, CudaError};
use crate::field::{Array, Domain, Planes};
use crate::transport::Carrier;
use crate::{Error, Number};

/// Returns the carrier of values between the processes of a run, if there are several.
pub(super) fn courier<T: Number>(
    card: &Opened,
    cache: Option<&Cache>,
    domain: &Domain,
    layout: Layout,
) -> Result<Option<Courier>, Error> {
    if domain.ranks.count() == 1 {
        return Ok(None);
    }
    if domain.patches.shares_rows() {
        return Err(Error::RowsOfRanks);
    }
    let kernels = packing::<T>(card, cache, (layout, domain.boundaries.reads_others()))?;
    Ok(Some(Courier::new(card, &domain.ranks, kernels, domain.carrier)?))
}

impl<T: Number> Machine<T> {
    /// Returns the library that carries values between processes.
    pub(crate) fn carrier(&self) -> Option<Carrier> {
        self.courier.as_ref().map(Courier::carrier)
    }

    /// Does the host take part in exchanges?
    pub(super) fn host_carries(&self) -> bool {
        self.courier.as_ref().is_some_and(|courier| !courier.is_on_card())
    }

    /// Returns the ghost cells of arrays of the same layout that this process and its neighbours send to each other.
    pub(super) fn parcels(&self, jobs: &[Job]) -> Result<Parcels, CudaError> {
        let devices = (self.first, self.cut.patches.devices);
        let (shape, _) = self.layout_of(jobs);
        self.ghosts.parcels(&self.card.stream, shape, jobs, (devices, T::BYTES))
    }

    /// Begins to send values to other processes, and to receive values from them.
    pub(super) fn send(&mut self, parcels: &Arc<Parcels>) -> Result<(), CudaError> {
        let Some(courier) = &mut self.courier else {
            return Ok(());
        };
        let arrays = self.memory.addresses(&self.card.stream, self.slots.iter().copied());
        self.lanes.exchange(|_, stream| courier.post(stream, &self.ghosts, parcels, &arrays))
    }

    /// Carries the values that are packed, if the host does that: launches that were started before run meanwhile.
    pub(super) fn receive(&mut self) -> Result<(), CudaError> {
        match &mut self.courier {
            Some(courier) if courier.has_work() => {
                self.lanes.behind_exchange(|_, stream| courier.finish(stream))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the least number of all processes.
    pub(super) fn least(&self, own: u64) -> u64 {
        self.courier.as_ref().map_or(own, |courier| courier.ranks().least(own))
    }

    /// Returns the array of a slot on the whole mesh, on the host of each process.
    pub(super) fn whole(&self, slot: usize) -> Result<Array<T>, Error> {
        let mut values = self.fields.array()?;
        let Some(courier) = &self.courier else {
            self.download(slot, &mut values)?;
            return Ok(values);
        };
        let (mut array, mut own, mut bytes) = (self.cut.array()?, Vec::new(), Vec::new());
        for array in self.own(slot)? {
            T::put(array.values(), &mut bytes);
            own.extend_from_slice(&bytes);
        }
        for (rank, bytes) in courier.ranks().gather(&own).into_iter().enumerate() {
            let patches = self.cut.patches.owned(rank);
            for (patch, bytes) in patches.zip(bytes.chunks(array.values().len() * T::BYTES)) {
                T::take(array.values_mut(), bytes);
                self.cut.put(patch, &array, &mut values);
            }
        }
        Ok(values)
    }

    /// Returns the arrays of a slot on the patches of this process, on the host.
    fn own(&self, slot: usize) -> Result<Vec<Array<T>>, Error> {
        let streams = self.streams();
        let read = |patch| {
            let mut array = self.cut.array()?;
            self.memory.read(&streams, patch, slot, &mut array)?;
            Ok(array)
        };
        self.memory.held().map(read).collect()
    }

    /// Returns the planes of the array of a slot in the order of a file, if several processes have them.
    pub(super) fn planes_of(&self, slot: usize) -> Result<Option<Planes<'_, T>>, Error> {
        let Some(courier) = &self.courier else {
            return Ok(None);
        };
        let arrays = self.own(slot)?.into_iter().map(Cow::Owned).collect();
        let of = (courier.ranks(), self.cut.patches);
        Ok(Some(Planes::new(of, (self.cut.patch, arrays))))
    }
}
