//! Devices: each backend owns its memory, its launches and its vendor's words.

pub mod cpu;
pub mod cuda;
