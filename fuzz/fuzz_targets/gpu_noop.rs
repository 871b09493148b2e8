//! The file of a stream case, replayed on wgpu's noop backend.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target, fuzzer_mutate};
use lockstep::case::Case;
use lockstep::generators::streams;
use lockstep::oracles::fuzz::mutate;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match lockstep::oracles::fuzz::gpu_noop::check(bytes) {
        true => Corpus::Keep,
        false => Corpus::Reject,
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::case(data, size, max_size, seed, fuzzer_mutate, |u| {
        Ok(streams::replay_case(u)?.map(Case::Stream).case)
    })
});
