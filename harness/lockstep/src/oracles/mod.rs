//! Oracles: each says what it catches and what it does not.

pub mod fuzz;
pub mod gpu;
pub mod msl;
pub mod slots;
pub mod streams;
