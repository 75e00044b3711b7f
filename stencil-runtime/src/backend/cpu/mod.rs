//! The host's processor: walks a plan over rows, in parallel, with the widest instructions it has.
//!
//! Results do not depend on the number of threads, on the instructions or on the engine: every
//! cell is computed by the operations of the algorithm, in their order.

mod array;
mod instructions;
pub(crate) mod machine;
pub(crate) mod parts;
pub mod program;

pub(crate) use instructions::Checked;
pub use instructions::{Instructions, UnknownInstructions};
pub(crate) use machine::{Choice, Machine};
