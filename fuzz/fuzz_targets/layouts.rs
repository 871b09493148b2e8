//! The file of a layout case: `mslmap`, the slot model, wgpu-hal's own function.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use lockstep::oracles::fuzz::mutate;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match lockstep::oracles::fuzz::layouts::check(bytes) {
        true => Corpus::Keep,
        false => Corpus::Reject,
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::layout(data, size, max_size, seed, fuzzer_mutate)
});
