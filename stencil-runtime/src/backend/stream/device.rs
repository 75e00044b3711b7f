//! A mesh that passes through a device as a device.

use ndarray::ArrayView3;
use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;

use super::{Speeds, Streamed, Window};
use crate::backend::device::OnHost;
use crate::backend::{Device, Reducer, Renew};
use crate::field::{BadValue, Fields};
use crate::step::{Asked, Failure, Length, Moment};
use crate::{Error, MemoryUse, Number};

impl<T: Number, W: Window<T>> Device<T> for Streamed<T, W> {
    fn fields(&self) -> &Fields<T> {
        &self.host
    }

    fn interior(&self, buffer: usize) -> Result<ArrayView3<'_, T>, Error> {
        self.wait()?;
        self.host.interior(buffer)
    }

    fn set(
        &mut self,
        buffer: usize,
        value: &(dyn Fn([isize; 3]) -> T + Sync),
    ) -> Result<(), Error> {
        self.wait()?;
        self.pool.install(|| self.host.set(buffer, value));
        if let Some(speeds) = &mut self.speeds {
            speeds.rows.iter_mut().for_each(Vec::clear);
        }
        Ok(())
    }

    fn on_host(&mut self, evaluate: OnHost<'_, T>) -> Result<(), Error> {
        self.wait()?;
        self.pool.install(|| evaluate(&mut self.host));
        Ok(())
    }

    fn on_host_amid(&mut self, _evaluate: OnHost<'_, T>) -> Result<(), Error> {
        Err(no_return())
    }

    fn add_reducer(
        &mut self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
    ) -> Result<usize, Error> {
        let windows = self.windows.iter_mut();
        let numbers = windows.map(|window| window.prepare_reducer(algorithm, updates));
        numbers.collect::<Result<Vec<_>, _>>().map(|numbers| numbers.first().copied().unwrap_or(0))
    }

    fn reduce(&mut self, reducer: &Reducer, uniforms: &[f64], t: f64) -> Result<Vec<f64>, Error> {
        self.wait()?;
        let Reducer { evaluation, reductions, .. } = reducer;
        let fields = &mut self.host;
        Ok(self.pool.install(|| evaluation.reduce(fields, reductions, uniforms, t)))
    }

    fn bound(&mut self, most: f64) {
        self.host.bound(most);
        self.windows.iter_mut().for_each(|window| window.bound(most));
    }

    fn first_not_finite(&mut self) -> Result<Option<BadValue>, Error> {
        self.wait()?;
        Ok(self.pool.install(|| self.host.first_not_finite()))
    }

    fn begin(
        &mut self,
        speeds: &Reducer,
        uniforms: &[f64],
        asked: Asked,
    ) -> Result<Option<(Vec<f64>, Length)>, Error> {
        if let Err(failure) = self.settle() {
            self.failed = Some(failure);
            return Err(Error::Bug("a pass has failed, and its steps were not checked".into()));
        }
        let known = self.speeds.as_ref().filter(|own| own.rows.iter().all(|row| !row.is_empty()));
        let numbers = match known {
            Some(own) => own.reducer.total(&own.rows, self.host.domain.mesh.cells),
            None => self.reduce(speeds, uniforms, asked.t)?,
        };
        if self.speeds.is_none() && speeds.is_local() {
            let [_, ny, nz] = self.host.domain.mesh.cells;
            let (reducer, uniforms) = (speeds.clone(), uniforms.to_vec());
            self.speeds = Some(Speeds { reducer, uniforms, rows: vec![Vec::new(); ny * nz] });
        }
        let length = self.rules.step(asked, &numbers);
        Ok(Some((numbers, length)))
    }

    fn memory_use(&self) -> MemoryUse {
        let windows = self.windows.iter().map(Window::memory_use);
        windows.reduce(MemoryUse::and).unwrap_or_default()
    }

    fn step(
        &mut self,
        moment: Moment,
        _begun: bool,
        renew: Option<Renew<'_, T>>,
    ) -> Result<(), Failure> {
        match renew {
            None => self.pass(&[moment]),
            Some(_) => Err(Error::Bug("a source that changes amid a pass".into()).into()),
        }
    }

    fn steps_at_once(&self) -> Option<usize> {
        Some(self.slabs.steps).filter(|steps| *steps > 1)
    }

    fn steps(&mut self, moments: &[Moment]) -> Result<(), Failure> {
        self.pass(moments)
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.settle()
    }

    fn undo(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    fn begin_again(&mut self, _moment: Moment) -> Result<(), Error> {
        Err(no_return())
    }

    fn substep_again(&mut self, _moment: Moment, _substep: usize) -> Result<(), Error> {
        Err(no_return())
    }

    fn wait(&self) -> Result<(), Error> {
        self.windows.iter().try_for_each(Window::wait)
    }
}

/// Returns the error for a step that was to be undone.
fn no_return() -> Error {
    Error::Bug("the fields before a pass are not kept".into())
}
