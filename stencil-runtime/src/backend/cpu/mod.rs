//! The host's processor: walks a plan over rows, in parallel, with the widest instructions it has.
//!
//! Results do not depend on the number of threads, on the instructions or on the engine: every
//! cell is computed by the operations of the algorithm, in their order.

mod evaluate;
mod finite;
mod formula;
mod instructions;
pub(crate) mod interpreted;
mod lanes;
mod loaded;
pub(crate) mod machine;
mod march;
pub(crate) mod native;
mod pipeline;
mod prefetch;
mod prepare;
pub mod program;
mod row;
pub(crate) mod row_blocks;
mod shared_rows;
mod tree;
mod view;
mod window;

pub(crate) use evaluate::{Evaluation, total};

pub(crate) use formula::AlongX;
pub(crate) use instructions::{Checked, OnLanes, run_on_lanes};
pub use instructions::{Instructions, UnknownInstructions};
pub(crate) use lanes::{Lanes, Registers};
pub(crate) use machine::Machine;
pub(crate) use prepare::Choice;
