//! Feeds `npz` of `stencil_tests::fuzz` what a fuzzer makes up.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| stencil_tests::fuzz::npz(bytes));
