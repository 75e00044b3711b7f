//! Programs that a user would write, one file each in `examples/`; each is a test, too.
//!
//! `cargo run --release --package stencil-examples --example heat` runs the first.
