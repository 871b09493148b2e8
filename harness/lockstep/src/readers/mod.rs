//! Readers: whatever answers a case.

pub mod native;
pub mod replay_js;
pub mod slot_model;
