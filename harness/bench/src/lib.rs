//! What the benches measure, and what they measure it beside.
#![forbid(unsafe_code)]

pub mod streams;
