//! The fuzzer's bytes as the choices of the stream generator, then through every function of `wire`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lockstep::oracles::fuzz::stream(bytes));
