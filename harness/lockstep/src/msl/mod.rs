//! Reads naga's MSL as Metal's own reflection would.
//!
//! [`arguments`] gives the arguments of each entry point; [`safety`] the accesses and loops without a guard.

pub mod arguments;
mod items;
pub mod safety;
mod tokens;

pub use items::ReadError;
