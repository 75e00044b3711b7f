//! NVIDIA GPUs. The only folder of the runtime in which the vendor's name occurs.
//!
//! Kernels come from the compiler as text, become machine code by NVRTC or from the cache, and are
//! launched through the driver. Both libraries are opened when they are first needed.

mod calibration;
mod card;
mod compile;
mod error;
mod exchange;
mod kernels;
mod machine;
mod memory;

pub use crate::io::CACHE_VARIABLE;
pub use calibration::{Calibration, Doubt, Measured};
pub use card::limits::usual_device;
pub use card::sensors::{Load, Sensors};
pub use card::{BOXES, Card, CardLink, OLDEST, capability};
pub use compile::cache::Cache;
pub use compile::{check_needs, nvrtc, resources};
pub use error::CudaError;
pub use kernels::info::Launched;
pub use machine::{CardSpan, PartTime, StepPart};

pub(crate) use card::Opened;
pub(crate) use kernels::formulas::Unsteady;
pub(crate) use machine::Machine;
pub(crate) use machine::aot::{Ahead, Cards, Piece, ahead};
pub(crate) use machine::opening::Opening;
pub(crate) use machine::window::CardWindow;
pub(crate) use memory::patches::launched_over;
