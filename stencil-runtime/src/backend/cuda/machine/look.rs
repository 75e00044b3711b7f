//! Values that are no numbers or have grown without bound: steps are looked at some at a time, and done again one by one where
//! such a value came up, from the fields as they were when they were last good.

use cudarc::driver::PushKernelArg;

use super::tasks::nothing;
use super::{Failure, Machine, Moment};
use crate::backend::cpu::BadValue;
use crate::backend::cuda::CudaError;
use crate::{Error, Number};

impl<T: Number> Machine<T> {
    /// Looks at all steps that were not looked at yet.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
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
                cause: None,
                bad,
                moment: *since.last().ok_or_else(nothing)?,
                substep: self.clock.substeps().saturating_sub(1),
                kept: false,
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
                cause: None,
                bad,
                moment: *moment,
                substep,
                kept: true,
                unseen: 0,
            });
        }
        Err(nothing().into())
    }

    /// Does a step again, and looks at the values of each substep if asked to, up to the first
    /// that is no number.
    fn repeat(&mut self, moment: &Moment, look: bool) -> Result<Option<(usize, BadValue)>, Error> {
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

    /// Keeps the fields as they are, which are those before a step, and begins it; [`undo`](Self::undo) puts them back.
    pub(crate) fn begin_again(&mut self, moment: Moment) -> Result<(), CudaError> {
        self.since.clear();
        self.holds = false;
        self.keep()?;
        self.begin_given(moment.t, moment.dt)
    }

    /// Does a substep of a step that was begun again.
    pub(crate) fn substep_again(&mut self, substep: usize, t: f64) -> Result<(), Error> {
        self.enqueue(substep, t)?;
        self.forget_changed();
        Ok(())
    }

    /// Keeps the fields as they are, if they are not kept already.
    pub(super) fn keep(&mut self) -> Result<(), CudaError> {
        if self.holds || !self.since.is_empty() {
            return Ok(());
        }
        for (buffer, slot) in &self.kept {
            let from = self.slots[*buffer];
            self.memory.copy(&self.card.stream, from, *slot)?;
        }
        self.holds = true;
        Ok(())
    }

    /// Keeps the fields before the next step does, and waits for it; returns for how many steps.
    pub(crate) fn keep_ahead(&mut self) -> Result<usize, CudaError> {
        self.keep()?;
        self.wait()?;
        Ok(self.look_every())
    }

    /// Steps between two looks.
    pub(super) fn look_every(&self) -> usize {
        self.patch.domain().look_every
    }

    /// Waits for all that was begun.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        self.card.synchronize()
    }

    /// Puts the kept fields back; `false` if there are none.
    pub(super) fn put_back(&mut self) -> Result<bool, CudaError> {
        if self.kept.is_empty() {
            return Ok(false);
        }
        for (buffer, slot) in &self.kept {
            let to = self.slots[*buffer];
            self.memory.copy(&self.card.stream, *slot, to)?;
        }
        // What is counted is not put back, but was counted since.
        self.forget_changed();
        Ok(true)
    }

    /// Undoes the last step, before which the fields were kept; `false` if they were not.
    pub(crate) fn undo(&mut self) -> Result<bool, CudaError> {
        if self.since.len() > 1 || !self.put_back()? {
            return Ok(false);
        }
        self.since.clear();
        self.holds = true;
        Ok(true)
    }

    pub(super) fn forget(&mut self, buffers: &[usize]) {
        for buffer in buffers {
            self.known[*buffer].take();
        }
    }

    /// Forgets all that steps change.
    pub(super) fn forget_changed(&mut self) {
        self.forget(&self.patch.changed_at());
        self.forget(&self.sampled.clone());
    }

    /// Takes values that are larger than this to have grown without bound.
    pub(crate) fn bound(&mut self, most: f64) {
        self.patch.bound(most);
    }

    /// The first value of a field that is no number or beyond the bound.
    pub(crate) fn find_bad(&mut self) -> Result<Option<BadValue>, CudaError> {
        let failed = CudaError::driver("looking for values that are no numbers");
        let fields = self.patch.fields_at();
        let stream = &self.card.stream;
        let slots = fields.iter().map(|buffer| self.slots[*buffer]);
        let arrays = self.memory.addresses(stream, slots);
        // Fields lie alike.
        let shape = fields.first().map_or(self.shape, |at| self.shape_of(*at));
        let none = u64::MAX;
        stream
            .memcpy_htod(&[none], &mut self.first_bad)
            .map_err(&failed)?;
        let config = self.shape.through(fields.len());
        let mut launch = stream.launch_builder(&self.find_bad);
        let most = self.patch.most.to_f64();
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
        let [nx, ny, nz] = self.patch.shape.cells;
        let at = first[0] as usize;
        let name = self.patch.fields().nth(at / (nx * ny * nz));
        Ok(Some(BadValue {
            component: name.unwrap_or_default().to_string(),
            cell: [at % nx, at / nx % ny, at / (nx * ny) % nz],
        }))
    }
}
