//! Programs that a user would write, one file each in `examples/`; all but `laws`, which measures, are tests, too.
//!
//! `cargo run --release --package stencil-examples --example heat` runs the first.
