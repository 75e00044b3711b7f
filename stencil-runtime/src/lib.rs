//! The crate that users import: declare equations with [`pde!`], run them with [`Simulation`], look at the results
//! with [`plot`], [`io`] and [`report`].
//!
//! ```
//! use stencil_runtime::{Simulation, pde};
//!
//! pde! {
//!     /// Diffusion in a plane.
//!     #[interpreted]
//!     pub system Heat in 2d {
//!         field temperature: scalar [K];
//!         param kappa: real [m^2/s] = 1 where kappa >= 0;
//!         ddt(temperature) = kappa * lap(temperature);
//!     }
//!     scheme central4 for Heat { space: central<order = 4>; mixed: bidiagonal; time: rk3_williamson; }
//! }
//!
//! let mut simulation = Simulation::<f64>::builder(&Heat).cells([32, 32, 1]).extent([1.0; 3]).dt(1e-4).build()?;
//! simulation.set("temperature", |x, y, _| (-50.0 * ((x - 0.5).powi(2) + (y - 0.5).powi(2))).exp())?;
//! simulation.run(100, |_, _| ())?;
//! let hottest = simulation.field("temperature")?.iter().copied().fold(0.0, f64::max);
//! assert!(hottest > 0.2 && hottest < 0.7);
//! # Ok::<(), stencil_runtime::Error>(())
//! ```
//!
//! Functions of cell values may be items by themselves, which Rust calls and systems link:
//!
//! ```
//! use stencil_runtime::{pde, pointwise};
//!
//! /// Twice the harmonic mean of slopes of one sign.
//! #[pointwise]
//! pub fn van_leer(a: scalar, b: scalar) -> scalar {
//!     if a*b > 0 { 2*a*b/(a + b) } else { 0 }
//! }
//!
//! pde! {
//!     use van_leer;
//!     #[interpreted]
//!     pub system Advection in 1d {
//!         field q: scalar;
//!         ddt(q) = -van_leer(d[x](q), d[x](q^2)/2);
//!     }
//! }
//!
//! assert_eq!(van_leer(1.0, 3.0), 1.5);
//! ```

// The macro's output names this crate from outside, in our own tests too.
extern crate self as stencil_runtime;

pub mod backend;
pub mod bench;
mod error;
mod field;
pub mod io;
mod mesh;
mod number;
pub mod plot;
pub mod problem;
pub mod report;
mod simulation;
#[cfg(feature = "spectrum")]
pub mod spectrum;
mod step;
mod system;
pub mod transport;
pub mod tune;

pub use backend::cpu::program;
pub use backend::cpu::{Instructions, UnknownInstructions};
pub use backend::stream::{Bus, PassTime, Passes, Transit};
pub use error::{BadSpeed, Error, NotFinite, Unstable};
pub use field::{MemoryUse, Shared, Shortage};
pub use mesh::{Axis, Boundary, BoundaryPoint, Face, Faces, Mesh, Side, Source, device_boxes};
pub use number::Number;
pub use simulation::{
    Builder, Devices, Engine, Flow, FrameChoice, Frames, Outcome, Pick, Picked, Program, Quantity,
    RejectedStep, Restored, Simulation, Stream, Timings,
};
pub use stencil_compiler as compiler;
pub use stencil_compiler::emit::RowInput;
pub use stencil_compiler::expr::Real;
pub use stencil_compiler::schedule::Schedule;
pub use stencil_compiler::stability::Axes;
pub use stencil_macros::{pde, pointwise, pointwise_behind};
pub use system::{Definition, System, SystemDef, ToSystem};
pub use transport::Ranks;
pub(crate) use tune::pick;
