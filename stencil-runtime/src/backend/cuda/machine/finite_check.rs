//! Checks that values are finite and have not grown without bound, for several steps at once. If a value is bad, the
//! steps are done again one by one, from the last fields that were good.

use cudarc::driver::PushKernelArg;
use stencil_compiler::plan::BufferRole;

use super::Machine;
use super::tasks::nothing;
use crate::backend::cuda::CudaError;
use crate::field::BadValue;
use crate::step::{After, Failure, Moment};
use crate::{Error, Number};

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
        let failed = CudaError::driver("looking for values that are no numbers");
        let fields = self.fields.buffers.of_role(BufferRole::Field);
        let stream = &self.card.stream;
        let slots = fields.iter().map(|buffer| self.slots[*buffer]);
        let arrays = self.memory.addresses(stream, slots);
        // All fields have the same layout.
        let shape = fields.first().map_or(self.shape, |at| self.shape_of(*at));
        let none = u64::MAX;
        stream.memcpy_htod(&[none], &mut self.first_bad).map_err(&failed)?;
        let config = self.shape.through(fields.len());
        let mut launch = stream.launch_builder(&self.find_bad);
        let most = self.fields.most().to_f64();
        launch.arg(&arrays).arg(&shape).arg(&most);
        launch.arg(&mut self.first_bad);
        // SAFETY: the arguments are those of the kernel, which reads interior cells.
        unsafe { launch.launch(config) }.map_err(&failed)?;
        let mut first = [none];
        let copy = stream.memcpy_dtoh(&self.first_bad, &mut first);
        copy.and_then(|()| stream.synchronize()).map_err(&failed)?;
        if first[0] == none {
            return Ok(None);
        }
        let [nx, ny, nz] = self.fields.shape().cells;
        let at = first[0] as usize;
        let name = self.fields.buffers.fields().nth(at / (nx * ny * nz));
        Ok(Some(BadValue {
            component: name.unwrap_or_default().to_string(),
            cell: [at % nx, at / nx % ny, at / (nx * ny) % nz],
        }))
    }
}
