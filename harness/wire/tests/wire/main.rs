//! The crate against wire.md. Expected values are written out from the page, never computed by the crate.

mod blob;
mod descriptor;
mod fields;
mod order;
mod properties;
mod ranges;
mod reads;
mod remap;
mod samples;
mod strict;
mod strict_properties;
mod table;
