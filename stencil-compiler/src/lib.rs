//! The compiler: declared PDEs in, schedules, plans and kernels out.
//!
//! ```text
//! text ─ model::parse ─▶ Model ─ discretize ─▶ Algorithm ─┐
//!                                    Schedule ────────────┴─ plan ─▶ Plan ─ kernel::lower ─▶ Kernel ─ emit ─▶ Source
//! ```
//!
//! Every stage is a value with a `check` and a text. The crate is pure: it does no IO, reads no
//! clock and no environment, and knows no vendor outside [`emit`].
#![forbid(unsafe_code)]

pub mod algorithm;
pub mod catalogue;
pub mod compile;
pub mod cost;
pub mod diag;
pub mod discretize;
pub mod emit;
pub mod expr;
pub mod hash;
pub mod kernel;
mod matrix;
pub mod model;
pub mod plan;
pub mod pointwise;
pub mod schedule;
pub mod search;
pub mod stability;
pub mod syntax;
