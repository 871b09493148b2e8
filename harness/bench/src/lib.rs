//! What the benches measure, and what they measure it beside.

pub mod hot;
pub mod objects;
pub mod peers;
pub mod streams;
