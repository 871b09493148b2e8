//! Any bytes as a creation descriptor.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match lockstep::oracles::fuzz::descriptor::check(bytes) {
        true => Corpus::Keep,
        false => Corpus::Reject,
    }
});
