//! Values that the ranks of a run send to each other.

use std::borrow::Cow;

use super::ghosts::{GhostValues, Job};
use super::{Array, Fields, Filling, Planes};
use crate::transport::{Exchange, Message};
use crate::{Error, Number};

/// Values of ghost cells that are not written yet: found here, or on their way from other ranks.
#[derive(Debug)]
pub(crate) struct Sent<T> {
    found: GhostValues<T>,
    coming: Option<Coming>,
}

/// Values on their way from other ranks, and their places.
#[derive(Debug)]
struct Coming {
    exchange: Box<dyn Exchange>,
    jobs: Vec<Vec<Job>>,
}

impl<T: Number> Fields<T> {
    /// Fills ghost cells with their values at the time `t`; all are found before the first one is written.
    pub(crate) fn fill(&mut self, filling: &Filling, t: f64) {
        let sent = self.post(filling, t);
        self.wait(sent);
    }

    /// Finds the values of ghost cells at the time `t`, and begins to send those that belong to other ranks.
    pub(crate) fn post(&self, filling: &Filling, t: f64) -> Sent<T> {
        let values = |jobs: &[Job]| {
            let at = (&self.domain, t);
            filling.values(&self.cut.patch, &self.neighbours, at, &self.arrays, jobs)
        };
        let Some(ranks) = self.ranks() else {
            return Sent { found: values(filling.jobs()), coming: None };
        };
        let own = ranks.rank();
        let between = |from: usize, to: usize| filling.between(&self.neighbours, [from, to]);
        let (mut messages, mut jobs) = (Vec::new(), Vec::new());
        for peer in (0..ranks.count()).filter(|peer| *peer != own) {
            let (theirs, ours) = (between(own, peer), between(peer, own));
            if !(theirs.is_empty() && ours.is_empty()) {
                messages.push(Message {
                    peer,
                    bytes: values(&theirs).to_bytes(),
                    coming: GhostValues::<T>::bytes_of(&ours),
                });
                jobs.push(ours);
            }
        }
        let is_sent = !messages.is_empty();
        let coming = is_sent.then(|| Coming { exchange: ranks.post(messages), jobs });
        Sent { found: values(&between(own, own)), coming }
    }

    /// Fills ghost cells with the values that were found, and with those that have come.
    pub(crate) fn wait(&mut self, sent: Sent<T>) {
        self.store(sent.found);
        if let Some(Coming { exchange, jobs }) = sent.coming {
            for (bytes, jobs) in exchange.wait().into_iter().zip(jobs) {
                self.store(GhostValues::from_bytes(jobs, &bytes));
            }
        }
    }

    /// Puts the arrays of all patches of a buffer together. Every rank has the whole array then, and while it is made the
    /// arrays of all patches besides.
    pub(super) fn whole(&self, buffer: usize) -> Result<Array<T>, Error> {
        let mut whole = super::fields::array_of(&self.cut.mesh, super::shape::ALIGNMENT)?;
        let Some(ranks) = self.ranks() else {
            for (patch, arrays) in self.arrays.iter().enumerate() {
                self.cut.put(patch, &arrays[buffer], &mut whole);
            }
            return Ok(whole);
        };
        let (mut own, mut of_patch) = (Vec::new(), Vec::new());
        for (_, arrays) in self.own_patches() {
            T::put(arrays[buffer].values(), &mut of_patch);
            own.extend_from_slice(&of_patch);
        }
        let mut array = self.array()?;
        for (rank, bytes) in ranks.gather(&own).into_iter().enumerate() {
            let patches = self.domain.patches.owned(rank);
            for (patch, bytes) in patches.zip(bytes.chunks(array.values().len() * T::BYTES)) {
                T::take(array.values_mut(), bytes);
                self.cut.put(patch, &array, &mut whole);
            }
        }
        Ok(whole)
    }

    /// Returns the planes of a buffer in the order of a file, if several patches have them.
    pub(crate) fn planes(&self, buffer: usize) -> Option<Planes<'_, T>> {
        if self.arrays.len() == 1 {
            return None;
        }
        let arrays = self.own_patches().map(|(_, arrays)| Cow::Borrowed(&arrays[buffer]));
        let of = (&self.domain.ranks, self.domain.patches);
        Some(Planes::new(of, (*self.shape(), arrays.collect())))
    }

    /// Returns the value that the rank has which owns a patch.
    pub(super) fn of_owner(&self, patch: usize, value: Option<T>) -> Option<T> {
        let Some(ranks) = self.ranks() else {
            return value;
        };
        let mut bytes = Vec::new();
        T::put(value.as_slice(), &mut bytes);
        let all = ranks.gather(&bytes);
        let mut value = [T::ZERO];
        let bytes = &all[self.neighbours.patches[patch].owner];
        T::take(&mut value, bytes);
        (!bytes.is_empty()).then_some(value[0])
    }

    /// Returns the first of the cells that ranks have found, in the order of the mesh.
    pub(super) fn first_of_all(&self, cell: Option<[usize; 3]>) -> Option<[usize; 3]> {
        let Some(ranks) = self.ranks() else {
            return cell;
        };
        let bytes = cell.iter().flatten().flat_map(|at| (*at as u64).to_le_bytes());
        let all = ranks.gather(&bytes.collect::<Vec<u8>>());
        let read = |bytes: &Vec<u8>| {
            let at = bytes.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes) as usize);
            at.collect::<Vec<usize>>().try_into().ok()
        };
        let found = all.iter().filter_map(read);
        found.min_by_key(|[x, y, z]: &[usize; 3]| [*z, *y, *x])
    }
}
