//! Values in the memory of a run, for other libraries of the same process.

use stencil_compiler::expr::Real;

use super::Shape;

/// The place of the values of a component in the memory of a run: `shape` values `[z, y, x]`, `strides` bytes apart.
///
/// It holds until the run does a step, is set, restored or rescheduled, or is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// The address of the first value. On a card it is one of the card's memory, in the primary context.
    pub address: usize,
    /// Cells along z, y and x.
    pub shape: [usize; 3],
    /// Bytes from one value to the next along z, y and x.
    pub strides: [usize; 3],
    /// Bytes of a value: 4 or 8.
    pub bytes: usize,
    /// The number of the card that has the values; `None` if they are in the memory of the host.
    pub card: Option<usize>,
}

impl Shared {
    /// Describes an array of a shape whose first interior cell has this address, with values so many values apart.
    pub(crate) fn new<T: Real>(shape: &Shape, address: usize, apart: usize) -> Self {
        let [nx, ny, nz] = shape.cells;
        let strides = [shape.layout.plane, shape.layout.pitch, 1];
        Shared {
            address,
            shape: [nz, ny, nx],
            strides: strides.map(|values| values * apart * T::BYTES),
            bytes: T::BYTES,
            card: None,
        }
    }
}
