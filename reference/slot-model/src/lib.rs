//! The slots of `reference/slots.md` (sections 1, 3 and 5) as closed formulas: the reference that `mslmap` is compared
//! against. It was written from that page alone, without a look at `mslmap` or at wgpu-hal.
//!
//! # Shape
//!
//! Nothing here walks a layout with running counters. Every binding is the point `(group, binding)`, and each argument
//! table is the set of the visible points that it holds. One function, *how many points of a table lie before this
//! point*, answers all of section 1:
//!
//! | wanted | formula |
//! | --- | --- |
//! | slot of a binding | `before(table, (group, binding))` |
//! | base of group g | `before(each table, (g, 0))` |
//! | place within a group | the same, over that group's points alone |
//! | sizes slot | the number of buffer points, if a storage buffer is among them |
//!
//! # What a comparison with it catches
//!
//! - a wrong number, table or mutability of a binding, a wrong base, a wrong place within a group, a wrong sizes slot;
//! - a dependence on the order in which entries are listed, since a set has none;
//! - a layout that is refused but should not be, or the other way round, and a refusal that names the wrong binding;
//! - a wrong row of the version tables, and options that are not those of section 3.
//!
//! # What it does not catch
//!
//! - a mistake of the page itself, or a reading of it that both crates share;
//! - anything of section 2: immediates, vertex pulling, slots of binding arrays and external textures, dynamic offsets;
//! - `RuntimeArrayBindings`, and whatever naga writes (section 4);
//! - the conversion to naga's own map, which the caller makes, and any text of an error message;
//! - whether a layout is valid WebGPU: features, limits and Metal's own slot counts are not looked at.
#![forbid(unsafe_code)]

mod layout;
mod options;
mod points;
mod system;

pub use layout::{MAX_GROUPS, MAX_SLOT, Model, Refused, Slot, group, stage};
pub use options::{ExpectedOptions, expected_options};
pub use points::{Counts, Table};
pub use system::{language_version, preserve_invariance};
