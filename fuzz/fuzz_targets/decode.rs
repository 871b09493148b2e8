//! Any bytes as a blob, through Decode and Remap.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match lockstep::oracles::fuzz::decode::check(bytes) {
        true => Corpus::Keep,
        false => Corpus::Reject,
    }
});
