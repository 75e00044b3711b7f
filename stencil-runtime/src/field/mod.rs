//! Values of cells in the memory of the host: arrays with ghost cells, and the table that names them. Devices keep their own.

mod array;
mod buffers;
mod cut;
mod ends;
mod exchange;
mod fields;
mod ghosts;
pub(crate) mod memory_use;
mod planes;
mod shape;
mod shared;

pub(crate) use array::{Array, PAGE};
pub(crate) use buffers::{Buffers, GhostDepth};
pub(crate) use cut::Cut;
pub(crate) use ends::Ends;
pub(crate) use exchange::Sent;
pub(crate) use fields::{BadValue, Domain, Fields, array_of};
pub(crate) use ghosts::Filling;
pub use memory_use::{MemoryUse, Shortage};
pub(crate) use planes::{Gathered, InOrder, Planes};
pub(crate) use shape::{ALIGNMENT, Shape};
pub use shared::Shared;
