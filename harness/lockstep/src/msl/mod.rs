//! Reads naga's MSL as Metal's own reflection would.

pub mod arguments;
