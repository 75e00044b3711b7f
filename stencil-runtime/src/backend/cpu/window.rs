//! A part of a mesh at a time, on the processor: it stands for a card.

use std::ops::Range;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;

use super::Machine;
use crate::backend::Device;
use crate::backend::Reducer;
use crate::backend::stream::{Finished, Layers, Own, Window, rows};
use crate::field::{Array, Shape};
use crate::step::{Failure, Moment};
use crate::{Error, MemoryUse, Number};

/// All work is done at once.
impl<T: Number> Window<T> for Machine<T> {
    fn shape(&self) -> Shape {
        *self.fields.shape()
    }

    fn memory_use(&self) -> MemoryUse {
        Device::memory_use(self)
    }

    fn bound(&mut self, most: f64) {
        self.fields.bound(most);
    }

    fn upload(&mut self, buffer: usize, from: Layers<&Array<T>>, to: Own) -> Result<(), Error> {
        let of = to.values(&from.shape, from.first);
        let to = to.values(self.fields.shape(), to.first);
        let array = self.fields.array_mut(buffer);
        self.pool.install(|| array.copy_part(to, from.array, of));
        Ok(())
    }

    fn begin_steps(
        &mut self,
        moments: &[Moment],
        (axis, looked): (usize, Range<usize>),
    ) -> Result<(), Failure> {
        self.fields.look_at(axis, looked);
        moments.iter().try_for_each(|moment| self.step(*moment, false, None))
    }

    fn download(
        &mut self,
        buffer: usize,
        from: Own,
        to: Layers<&mut Array<T>>,
    ) -> Result<(), Error> {
        let range = from.values(&to.shape, to.first);
        let of = from.values(self.fields.shape(), from.first);
        let array = self.fields.array_ref(buffer);
        self.pool.install(|| to.array.copy_part(range, array, of));
        Ok(())
    }

    fn prepare_reducer(
        &mut self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
    ) -> Result<usize, Error> {
        self.add_reducer(algorithm, updates)
    }

    fn begin_rows(
        &mut self,
        (reducer, uniforms): (&Reducer, &[f64]),
        (axis, layers): (usize, Range<usize>),
    ) -> Result<(), Error> {
        let rows: Vec<usize> = rows(axis, self.fields.shape().cells, layers).collect();
        let fields = &self.fields;
        let reduced = || reducer.rows(fields, uniforms, &rows);
        self.reduced = self.pool.install(reduced);
        Ok(())
    }

    fn finish(&mut self) -> Result<Finished, Error> {
        Ok(Finished { bad: None, rows: std::mem::take(&mut self.reduced) })
    }
}
