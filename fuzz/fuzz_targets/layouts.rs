//! The fuzzer's bytes as the choices of the layout generator: `mslmap` against the slot model.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lockstep::oracles::fuzz::layout(bytes));
