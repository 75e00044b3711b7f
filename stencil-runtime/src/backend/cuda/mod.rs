//! NVIDIA GPUs. The only folder of the runtime in which the vendor's name occurs.
//!
//! Kernels come from the compiler as text, become machine code by NVRTC or from the cache, and are
//! launched through the driver. Both libraries are opened when they are first needed.

mod ahead;
mod apart;
mod cache;
mod calibration;
mod card;
mod clock;
mod compile;
mod driver;
mod error;
mod formulas;
mod ghosts;
mod launched;
mod launches;
mod machine;
mod maps;
mod memory;
pub mod nvrtc;
mod opening;
mod own;
mod patches;
mod reduce;
mod sensors;
mod surfaces;
mod units;

pub use cache::{Cache, DIR_VARIABLE as CACHE_VARIABLE};
pub use calibration::{Calibration, Doubt, Measured};
pub use card::{BOXES, Card, OLDEST, capability};
pub use compile::{check_needs, resources};
pub use error::CudaError;
pub use launched::Launched;
pub use machine::{PartTime, StepPart};
pub use sensors::{Load, Sensors};
pub use units::usual_units;

pub(crate) use ahead::{Ahead, Piece, ahead};
pub(crate) use card::Opened;
pub(crate) use formulas::Unsteady;
pub(crate) use machine::Machine;
pub(crate) use opening::Opening;
