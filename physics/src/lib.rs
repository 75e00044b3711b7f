//! The standard library: [`systems`] written in the language itself, [`problems`] that run them, and [`functions`] of
//! cell values that systems link.

pub mod functions;
pub mod problems;
pub mod systems;
