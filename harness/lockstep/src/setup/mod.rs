//! Brings what is missing.

pub mod deno;
pub mod vulkan;
