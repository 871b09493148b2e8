//! Makes cases out of bytes: of a campaign's seed and index, or of a fuzzer.

pub mod layout;
pub mod streams;
pub mod wgsl;
