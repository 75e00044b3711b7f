//! Placeholder.

pub mod backend;
pub mod io;
pub mod plot;
pub mod report;
