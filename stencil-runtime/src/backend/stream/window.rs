//! The part of a mesh that a device holds at a time.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use stencil_compiler::algorithm::Algorithm;
use stencil_compiler::model::Reduction;

use crate::backend::Reducer;
use crate::field::{Array, BadValue, Shape};
use crate::step::{Failure, Moment};
use crate::{Error, MemoryUse, Number};

/// Layers of an array that follow each other in memory, and its shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layers<A> {
    pub(crate) array: A,
    pub(crate) shape: Shape,
    /// The first of them, counted from the first cell.
    pub(crate) first: isize,
}

/// The results of a window beside the values of its cells.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// The first value that is not finite.
    pub(crate) bad: Option<BadValue>,
    /// The numbers of each row, of those that were to be reduced.
    pub(crate) rows: Vec<Vec<f64>>,
}

/// Layers of a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Own {
    /// The axis along which layers follow each other.
    pub(crate) axis: usize,
    pub(crate) count: usize,
    /// The first of them, counted from the first cell of the window.
    pub(crate) first: isize,
}

impl Own {
    /// Returns the values of these layers in arrays of a shape, if the first one is this.
    pub(crate) fn values(&self, shape: &Shape, first: isize) -> Range<usize> {
        shape.layers(self.axis, first..first + self.count as isize)
    }
}

/// A device with the arrays of some layers of a mesh. Work that it is given is done in its order, and may go on while the
/// caller gives work to other windows.
pub(crate) trait Window<T: Number>: Any + Debug + Send + Sync + Sized {
    /// Returns the shape of its arrays.
    fn shape(&self) -> Shape;

    /// Returns the bytes that it takes, part by part.
    fn memory_use(&self) -> MemoryUse;

    /// Sets the size beyond which a value has grown without bound.
    fn bound(&mut self, most: f64);

    /// Lets this window and others copy an array of the host, which lies in pages of its own, without the host in between. The
    /// array lives longer than the window.
    fn share(&mut self, _array: &mut Array<T>) -> Result<(), Error> {
        Ok(())
    }

    /// Begins to copy layers of the host to its own layers of a buffer.
    fn upload(&mut self, buffer: usize, from: Layers<&Array<T>>, to: Own) -> Result<(), Error>;

    /// Begins to do steps, and to look for values that are not finite in these layers along an axis.
    fn begin_steps(
        &mut self,
        moments: &[Moment],
        looked: (usize, Range<usize>),
    ) -> Result<(), Failure>;

    /// Prepares some updates of an algorithm with one substep and the same states; returns its number.
    fn prepare_reducer(
        &mut self,
        algorithm: &Algorithm,
        updates: &[(usize, Reduction)],
    ) -> Result<usize, Error>;

    /// Begins to reduce the rows of some layers along an axis, by quantities that read no neighbours.
    fn begin_rows(
        &mut self,
        by: (&Reducer, &[f64]),
        layers: (usize, Range<usize>),
    ) -> Result<(), Error>;

    /// Begins to copy its own layers of a buffer to the host.
    fn download(
        &mut self,
        buffer: usize,
        from: Own,
        to: Layers<&mut Array<T>>,
    ) -> Result<(), Error>;

    /// Lets work that is given from now on wait for all that another window was given to copy from the host.
    fn wait_for(&mut self, _other: &Self) -> Result<(), Error> {
        Ok(())
    }

    /// Waits for all that it was given to copy from the host.
    fn wait_for_copies(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Waits for all work.
    fn wait(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Waits for all work.
    fn finish(&mut self) -> Result<Finished, Error>;
}
