//! Checks that values are finite and have not grown without bound, for several steps at once. If a value is bad, the
//! steps are done again one by one, from the last fields that were good.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, DriverError, PushKernelArg, result};
use stencil_compiler::plan::BufferRole;

use super::Machine;
use super::tasks::nothing;
use crate::backend::cuda::kernels::builtin::Own;
use crate::backend::cuda::memory::patches::{MeshShape, Owned};
use crate::backend::cuda::memory::{self, Addresses};
use crate::backend::cuda::{CudaError, Opened};
use crate::field::BadValue;
use crate::mesh::Patches;
use crate::step::{After, Failure, Moment};
use crate::{Error, Number};

/// The search for bad values in the patches of a card.
#[derive(Debug)]
pub(super) struct Look {
    kernel: CudaFunction,
    /// The number of the first one.
    first: CudaSlice<u64>,
}

/// The number of no value.
pub(super) const NONE: u64 = u64::MAX;

/// Returns the error for a search that failed.
fn failed(error: DriverError) -> CudaError {
    CudaError::driver("looking for values that are no numbers")(error)
}

impl Look {
    /// Takes the kernel of a card, and memory there.
    pub(super) fn new(card: &Opened, own: &Own) -> Result<Self, CudaError> {
        Ok(Look {
            kernel: own.of_fields("find_bad")?,
            first: card.stream.alloc_zeros(1).map_err(failed)?,
        })
    }

    /// Returns the bytes of the number.
    pub(super) fn bytes(&self) -> usize {
        self.first.num_bytes()
    }

    /// Starts the search in the patches that a card owns, in arrays of this shape for values beyond `most`.
    pub(super) fn start(
        &mut self,
        stream: &Arc<CudaStream>,
        (arrays, count): (&Addresses, usize),
        (shape, patches, owner): (&MeshShape, &Patches, usize),
        most: f64,
    ) -> Result<(), CudaError> {
        // `NONE`, byte by byte: a copy from the host might wait for what is in progress.
        let first = memory::start(&self.first, stream);
        stream.context().bind_to_thread().map_err(failed)?;
        // SAFETY: the number lies at this address.
        let reset = unsafe {
            result::memset_d8_async(first, u8::MAX, size_of::<u64>(), stream.cu_stream())
        };
        reset.map_err(failed)?;
        let own = Owned::new(patches, owner);
        let mut launch = stream.launch_builder(&self.kernel);
        launch.arg(arrays).arg(shape).arg(&own).arg(&most);
        launch.arg(&mut self.first);
        let config = shape.through(shape.rows_with(&own), count);
        // SAFETY: the arguments are those of the kernel, which reads interior cells.
        unsafe { launch.launch(config) }.map_err(failed)?;
        Ok(())
    }

    /// Waits for the number of the first value.
    pub(super) fn read(&self, stream: &Arc<CudaStream>) -> Result<u64, CudaError> {
        let mut first = [NONE];
        let copy = stream.memcpy_dtoh(&self.first, &mut first);
        copy.and_then(|()| stream.synchronize()).map_err(failed)?;
        Ok(first[0])
    }
}

impl<T: Number> Machine<T> {
    /// Checks all steps that were not checked yet.
    pub(super) fn check_steps(&mut self) -> Result<(), Failure> {
        if self.since.is_empty() {
            return Ok(());
        }
        let Some(bad) = self.find_bad()? else {
            self.since.clear();
            self.holds = false;
            return Ok(());
        };
        let since = std::mem::take(&mut self.since);
        if !self.put_back()? {
            return Err(Failure::NotFinite {
                bad,
                moment: *since.last().ok_or_else(nothing)?,
                substep: self.clock.substeps().saturating_sub(1),
                fields: After::Lost,
                unseen: since.len() as u64 - 1,
            });
        }
        for (good, moment) in since.iter().enumerate() {
            let Some((substep, bad)) = self.repeat(moment, true)? else {
                continue;
            };
            self.put_back()?;
            for moment in &since[..good] {
                self.repeat(moment, false)?;
            }
            self.holds = false;
            return Err(Failure::NotFinite {
                bad,
                moment: *moment,
                substep,
                fields: After::Step,
                unseen: 0,
            });
        }
        Err(nothing().into())
    }

    /// Does a step again, and checks the values of each substep if asked to, up to the first bad one.
    pub(super) fn repeat(
        &mut self,
        moment: &Moment,
        look: bool,
    ) -> Result<Option<(usize, BadValue)>, Error> {
        let Moment { t, dt, .. } = *moment;
        self.begin_given(t, dt)?;
        for substep in 0..self.clock.substeps() {
            self.enqueue(substep, self.clock.time(substep, t, dt))?;
            self.forget_changed();
            if look && let Some(bad) = self.find_bad()? {
                return Ok(Some((substep, bad)));
            }
        }
        Ok(None)
    }

    /// Keeps the fields as they are, if they are not kept already.
    pub(super) fn keep(&mut self) -> Result<(), CudaError> {
        if self.holds || !self.since.is_empty() {
            return Ok(());
        }
        for (buffer, slot) in self.kept.clone() {
            self.copy(self.slots[buffer], slot)?;
        }
        self.holds = true;
        Ok(())
    }

    /// Returns the number of steps between two checks.
    pub(super) fn look_every(&self) -> usize {
        self.fields.domain.look_every
    }

    /// Puts the kept fields and counts back; returns `false` if there are none.
    pub(super) fn put_back(&mut self) -> Result<bool, CudaError> {
        let buffers: Vec<usize> = self.kept.keys().copied().collect();
        self.put_back_of(&buffers)
    }

    /// Puts back what was kept of these buffers; returns `false` if that is nothing.
    pub(super) fn put_back_of(&mut self, buffers: &[usize]) -> Result<bool, CudaError> {
        for buffer in buffers {
            let Some(slot) = self.kept.get(buffer) else {
                return Ok(false);
            };
            self.copy(*slot, self.slots[*buffer])?;
        }
        self.has_sent = false;
        self.forget_changed();
        Ok(!self.kept.is_empty())
    }

    pub(super) fn forget(&mut self, buffers: &[usize]) {
        for buffer in buffers {
            self.known[*buffer].take();
        }
    }

    /// Forgets the host's copies of all that steps change.
    pub(super) fn forget_changed(&mut self) {
        self.forget(&self.fields.buffers.changed());
        self.forget(&self.sampled.clone());
    }

    /// Returns the first value of a field that is not finite or beyond the bound.
    pub(crate) fn find_bad(&mut self) -> Result<Option<BadValue>, CudaError> {
        let mut looks = std::mem::take(&mut self.looks);
        let found = self.together(|machine| machine.look(&mut looks));
        self.looks = looks;
        let first = self.least(found?);
        if first == NONE {
            return Ok(None);
        }
        Ok(Some(self.bad_value(first, self.fields.shape().cells)))
    }

    /// Returns the bad value of a number, among the fields in so many cells.
    pub(super) fn bad_value(&self, number: u64, [nx, ny, nz]: [usize; 3]) -> BadValue {
        let at = number as usize;
        let name = self.fields.buffers.fields().nth(at / (nx * ny * nz));
        BadValue {
            component: name.unwrap_or_default().to_string(),
            cell: [at % nx, at / nx % ny, at / (nx * ny) % nz],
        }
    }

    /// Returns the number of the first bad value on all cards.
    fn look(&self, looks: &mut [Look]) -> Result<u64, CudaError> {
        let fields = self.fields.buffers.of_role(BufferRole::Field);
        let slots = fields.iter().map(|buffer| self.slots[*buffer]);
        let arrays = self.memory.addresses(&self.card.stream, slots);
        // All fields have the same layout.
        let shape = fields.first().map_or(self.shape, |at| self.shape_of(*at));
        let most = self.fields.most().to_f64();
        for ((owner, (card, ..)), look) in (self.first..).zip(self.cards()).zip(&mut *looks) {
            let of = (&shape, &self.cut.patches, owner);
            look.start(&card.stream, (&arrays, fields.len()), of, most)?;
        }
        let mut firsts = self.cards().zip(looks).map(|((card, ..), look)| look.read(&card.stream));
        firsts.try_fold(NONE, |least, first| Ok(least.min(first?)))
    }
}
