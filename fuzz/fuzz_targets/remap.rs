//! A blob through Remap under several id maps.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use lockstep::oracles::fuzz::mutate;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match lockstep::oracles::fuzz::remap::check(bytes) {
        true => Corpus::Keep,
        false => Corpus::Reject,
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::blob(data, size, max_size, seed, fuzzer_mutate)
});

fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| { mutate::splice(first, second, out, seed) });
