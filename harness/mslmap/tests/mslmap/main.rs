//! The crate against `reference/slots.md`. Expected values are written out from that page; `properties` holds what is true of all layouts.

mod errors;
mod extended;
mod groups;
mod layouts;
mod options;
mod properties;
mod runtime_arrays;
mod shorthand;
mod traps;
mod version;
