//! The interface of a device: memory for the fields of a run, and steps on them.

use std::any::Any;
use std::fmt::Debug;

use ndarray::ArrayView3;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;

use super::Reducer;
use crate::field::{BadValue, Fields, InOrder, Planes, Shared};
use crate::step::{Asked, Failure, Length, Moment, Several};
use crate::{Error, MemoryUse, Number};

/// Sets given fields anew for the time of a substep.
pub(crate) type Renew<'a, T> = &'a mut dyn FnMut(&mut dyn Device<T>, f64) -> Result<(), Error>;

/// An evaluation on the host, which has the values of fields.
pub(crate) type OnHost<'a, T> = &'a mut (dyn FnMut(&mut Fields<T>) + Send);

/// A device: memory for the fields of a run, and steps on them. All devices give the same bits.
pub(crate) trait Device<T: Number>: Any + Debug + Send + Sync {
    /// Returns the table of buffers, with the boundaries of the mesh. Values may be elsewhere.
    fn fields(&self) -> &Fields<T>;

    /// Returns the values of a buffer.
    fn interior(&self, buffer: usize) -> Result<ArrayView3<'_, T>, Error>;

    /// Returns the place of a buffer's values, which others may change there until the next call that changes fields.
    fn share(&mut self, _buffer: usize) -> Result<Shared, Error> {
        Err(Error::NotShared { reason: "the mesh passes through its device in slabs".into() })
    }

    /// Waits for others that may have changed these buffers where they lie, and takes note of it.
    fn changed(&mut self, _buffers: &[usize]) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the planes of a buffer in the order of a file, if several processes have them.
    fn planes(&self, _buffer: usize) -> Result<Option<Planes<'_, T>>, Error> {
        Ok(None)
    }

    /// Returns a copy of a buffer as it is now, which another thread reads while the run goes on; `None` if the values are on the
    /// host or on several devices, or the device has no room for a copy.
    fn copied(&self, _buffer: usize) -> Result<Option<Box<dyn InOrder<T> + Send>>, Error> {
        Ok(None)
    }

    /// Returns the first cell with a value of a buffer that is not finite.
    fn first_infinite(&self, buffer: usize) -> Result<Option<[usize; 3]>, Error> {
        let values = self.interior(buffer)?;
        let found = values.indexed_iter().find(|(_, value)| !value.to_f64().is_finite());
        Ok(found.map(|((z, y, x), _)| [x, y, z]))
    }

    /// Sets a field, or a source and its ghost cells.
    fn set(&mut self, buffer: usize, value: &(dyn Fn([isize; 3]) -> T + Sync))
    -> Result<(), Error>;

    /// Calls a function on the threads of the host, with all fields and sources.
    fn on_host(&mut self, evaluate: OnHost<'_, T>) -> Result<(), Error>;

    /// Does the same amid a step: accumulators are given, too.
    fn on_host_amid(&mut self, evaluate: OnHost<'_, T>) -> Result<(), Error>;

    /// Prepares some updates of an algorithm with one substep and the same states; returns its number.
    fn add_reducer(
        &mut self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
    ) -> Result<usize, Error>;

    /// Reduces quantities to numbers at the time `t`, with the uniforms of their algorithm.
    fn reduce(&mut self, reducer: &Reducer, uniforms: &[f64], t: f64) -> Result<Vec<f64>, Error>;

    /// Sets the size beyond which a value has grown without bound.
    fn bound(&mut self, most: f64);

    /// Returns the first value of a field that is not finite, or beyond the bound.
    fn first_not_finite(&mut self) -> Result<Option<BadValue>, Error>;

    /// Returns the bytes that it takes, part by part.
    fn memory_use(&self) -> MemoryUse;

    /// Does it evaluate this given field itself, in each substep?
    fn samples(&self, _buffer: usize) -> bool {
        false
    }

    /// Evaluates the given fields that it [samples](Self::samples), between steps.
    fn sample(&mut self, _t: f64) -> Result<(), Error> {
        Ok(())
    }

    /// Finds the speeds that limit the next step, and with them its length, and begins it; `None` if the host does.
    /// The uniforms are those of the speeds, and never change.
    fn begin(
        &mut self,
        _speeds: &Reducer,
        _uniforms: &[f64],
        _asked: Asked,
    ) -> Result<Option<(Vec<f64>, Length)>, Error> {
        Ok(None)
    }

    /// Does one step, which was `begun` if the device has found its length. `renew` is called in each substep.
    ///
    /// A device may check values some steps later.
    fn step(
        &mut self,
        moment: Moment,
        begun: bool,
        renew: Option<Renew<'_, T>>,
    ) -> Result<(), Failure>;

    /// Returns the number of steps of equal length that it does at once, if it can.
    fn steps_at_once(&self) -> Option<usize> {
        None
    }

    /// Does as many steps as fit at once, of the same length.
    fn steps(&mut self, moments: &[Moment]) -> Result<(), Failure> {
        let mut all = moments.iter();
        all.try_for_each(|moment| self.step(*moment, false, None))
    }

    /// Does several steps whose lengths follow from these speeds, without the host in between. Returns the accepted
    /// steps before the first one that the host has to do itself (the run has ended, it was too long, or it has no length),
    /// and the time after them; `None` if the host does all steps. The uniforms are those of the speeds, and never
    /// change.
    fn adaptive_steps(
        &mut self,
        _speeds: &Reducer,
        _uniforms: &[f64],
        _request: &Several,
    ) -> Result<Option<(Vec<Moment>, f64)>, Failure> {
        Ok(None)
    }

    /// Checks all steps that were not checked yet.
    fn check(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Undoes the last step, or its beginning; returns `false` if the fields before it were not kept.
    fn undo(&mut self) -> Result<bool, Error>;

    /// Begins a step again that failed, from the fields before it; [`undo`](Self::undo) puts them back.
    fn begin_again(&mut self, moment: Moment) -> Result<(), Error>;

    /// Does a substep of a step that was begun again.
    fn substep_again(&mut self, moment: Moment, substep: usize) -> Result<(), Error>;

    /// Keeps the fields before the next step does. Returns for how many steps, if that takes time of its own.
    fn keep_ahead(&mut self) -> Result<Option<usize>, Error> {
        Ok(None)
    }

    /// Waits for all work that was begun.
    fn wait(&self) -> Result<(), Error> {
        Ok(())
    }
}
