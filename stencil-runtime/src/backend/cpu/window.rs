//! A part of a mesh at a time, on the processor: it stands for a card.

use std::ops::Range;

use super::Machine;
use crate::backend::Device;
use crate::backend::stream::{Layers, Own, Window};
use crate::field::{Array, BadValue, Shape};
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

    fn finish(&mut self) -> Result<Option<BadValue>, Error> {
        Ok(None)
    }
}
