//! How a mesh passes through a device, for those who ask.

use stencil_compiler::plan::BufferRole;

use super::{PassTime, Slabs, Streamed, Window};
use crate::Number;

/// How a mesh passes through a device, slab by slab.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Passes {
    /// The number of slabs.
    pub slabs: usize,
    /// The layers along the last axis that the device holds of each, those of its neighbours included.
    pub layers: usize,
    /// The layers that a slab needs of each neighbour.
    pub overlap: usize,
    /// The steps of a pass.
    pub steps: usize,
    /// The bytes that a pass copies to the device.
    pub up: usize,
    /// The bytes that it copies back.
    pub down: usize,
    /// The bytes of all arrays on the host.
    pub host: usize,
    /// The time that a pass takes by the model, if the rates of the device are known.
    pub time: Option<PassTime>,
}

/// A mesh that passes through a device.
pub(crate) trait Passing {
    /// Returns how it does.
    fn passes(&self) -> Passes;
}

impl<T: Number, W: Window<T>> Passing for Streamed<T, W> {
    fn passes(&self) -> Passes {
        let Slabs { axis, window, overlap, steps, .. } = self.slabs;
        let buffers = &self.host.buffers;
        let layer = self.host.shape().layers(axis, 0..1).len() * T::BYTES;
        let changed = buffers.changed().len();
        let given = buffers.of_role(BufferRole::Given).len();
        let [up, down] = self.slabs.moved();
        let all = (0..buffers.count()).map(|at| self.host.array_ref(at)).chain(&self.aside);
        Passes {
            slabs: self.slabs.all.len(),
            layers: window,
            overlap,
            steps,
            up: up * layer * (changed + given),
            down: down * layer * changed,
            time: self.slabs.time,
            host: all.map(|array| array.values().len() * T::BYTES).sum(),
        }
    }
}
