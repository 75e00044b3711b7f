//! Steps: one, or several at once.

use super::tasks::{CapturedPart, nothing};
use super::{Machine, Reducer};
use crate::backend::Renew;
use crate::backend::cuda::CudaError;
use crate::step::{After, Asked, Failure, Length, Moment, Several};
use crate::{Error, Number};

impl<T: Number> Machine<T> {
    /// Does the card need to know the time in each step?
    pub(super) fn depends_on_time(&self) -> bool {
        self.clock.depends_on_time() || self.formulas.is_some()
    }

    /// Finds the speeds that limit the next step, and with them its length, and begins it. The uniforms of the speeds
    /// never change.
    pub(super) fn begin_with(
        &mut self,
        speeds: &Reducer,
        uniforms: &[f64],
        asked: Asked,
    ) -> Result<(Vec<f64>, Length), Error> {
        let stream = self.card.stream.clone();
        self.set_speeds(speeds, uniforms)?;
        self.clock.tell_asked(&stream, asked)?;
        let part = CapturedPart::Speeds { of: speeds, t: asked.t };
        match self.needs_host() {
            true => self.enqueue_part(part)?,
            false => self.replay(part)?,
        }
        Ok(self.clock.read(&stream)?)
    }

    /// Gives the kernels of the speeds their uniforms, once.
    pub(super) fn set_speeds(
        &mut self,
        speeds: &Reducer,
        uniforms: &[f64],
    ) -> Result<(), CudaError> {
        if !self.has_speeds {
            self.together(|machine| machine.set_uniforms(speeds, uniforms))?;
            self.has_speeds = true;
        }
        Ok(())
    }

    /// Begins a step of a given length.
    pub(super) fn begin_given(&mut self, t: f64, dt: f64) -> Result<(), CudaError> {
        let stream = self.card.stream.clone();
        self.clock.tell_given(&stream, t, dt)?;
        self.together(|machine| machine.begin_on_all(false))?;
        self.clock.begun(t, dt);
        Ok(())
    }

    /// Does several steps whose lengths follow from these speeds, one behind the other: the card finds each length, and
    /// accepts each step. Returns the steps that it accepted before one that the host has to do, and the time after
    /// them. The fields are then those after the accepted steps.
    pub(super) fn adaptive_steps_with(
        &mut self,
        speeds: &Reducer,
        uniforms: &[f64],
        request: &Several,
    ) -> Result<(Vec<Moment>, f64), Failure> {
        self.check_steps()?;
        self.keep()?;
        let stream = self.card.stream.clone();
        let Several { asked, limit, first, count } = *request;
        self.set_speeds(speeds, uniforms)?;
        self.clock.tell_several(&stream, asked, limit)?;
        let count = count.min(self.look_every());
        for _ in 0..count {
            self.replay(CapturedPart::Next { of: speeds })?;
        }
        if self.adapts[1] {
            self.together(|machine| machine.enqueue_speeds(speeds, asked.t))?;
        }
        let (moments, end) = self.clock.read_several(&stream, first)?;
        self.forget_changed();
        if moments.len() < count {
            self.put_back()?;
            for moment in &moments {
                self.repeat(moment, false)?;
            }
        }
        self.since.extend(&moments);
        self.check_steps()?;
        Ok((moments, end))
    }

    /// Does as many steps as fit at once, of the same length.
    pub(super) fn fused_steps(&mut self, moments: &[Moment]) -> Result<(), Failure> {
        self.keep()?;
        let Moment { t, dt, .. } = *moments.first().ok_or_else(nothing)?;
        let begins = !self.clock.has_taken(dt);
        if begins {
            self.clock.tell_given(&self.card.stream, t, dt)?;
        }
        self.replay(CapturedPart::Fused { begins })?;
        if begins {
            self.clock.begun(t, dt);
        }
        self.forget_changed();
        self.since.extend(moments);
        self.look_in_time()
    }

    /// Checks that values are finite, once there are some steps to check.
    fn look_in_time(&mut self) -> Result<(), Failure> {
        if self.since.len() >= self.look_every() {
            self.check_steps()?;
        }
        Ok(())
    }

    /// Does one step, which was `begun` if the card has found its length. `renew` sets given fields anew for the time
    /// of a substep, if any change with it.
    ///
    /// The step is started. Its values are checked later, with those of other steps, or at once if the host takes part
    /// in it.
    pub(super) fn one_step(
        &mut self,
        moment: Moment,
        begun: bool,
        mut renew: Option<Renew<'_, T>>,
    ) -> Result<(), Failure> {
        self.keep()?;
        let Moment { t, dt, .. } = moment;
        let at_once = renew.is_some() || self.needs_host();
        let begins = !begun && (self.depends_on_time() || !self.clock.has_taken(dt));
        if at_once {
            if begins {
                self.begin_given(t, dt)?;
            }
            for substep in 0..self.clock.substeps() {
                let t = self.clock.time(substep, t, dt);
                if let Some(renew) = &mut renew {
                    renew(self, t)?;
                }
                self.enqueue(substep, t)?;
                self.forget_changed();
                if let Some(bad) = self.find_bad()? {
                    let fields = match self.put_back()? {
                        true => After::Step,
                        false => After::Lost,
                    };
                    return Err(Failure::NotFinite { bad, moment, substep, fields, unseen: 0 });
                }
            }
            self.holds = false;
            return Ok(());
        }
        if begins {
            self.clock.tell_given(&self.card.stream, t, dt)?;
        }
        self.replay(CapturedPart::Step { begins })?;
        if begins {
            self.clock.begun(t, dt);
        }
        self.forget_changed();
        self.since.push(moment);
        self.look_in_time()
    }
}
