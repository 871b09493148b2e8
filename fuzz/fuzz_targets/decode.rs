//! Any bytes as a stream blob, through every function of `wire`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lockstep::oracles::fuzz::blob(bytes));
