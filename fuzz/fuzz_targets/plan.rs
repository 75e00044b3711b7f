//! Feeds the inputs of a fuzzer to `stencil_tests::fuzz::plan`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stencil_tests::fuzz::plan(bytes));
