//! Programs that a user would write, one file each in `examples/`. All but `laws`, which measures, are also tests.
//!
//! `cargo run --release --package stencil-examples --example heat` runs the first.
