//! The standard library: [`systems`] written in the language itself, and [`problems`] that run them.

pub mod problems;
pub mod systems;
