//! The slots of `reference/slots.md` (sections 1 to 3 and 5) as closed formulas: the reference that `mslmap` is compared
//! against. It was written from that page alone, without a look at `mslmap` or at wgpu-hal.
//!
//! # Shape
//!
//! Nothing here walks a layout with running counters. Every binding is the point `(group, binding)`, the immediates are
//! one before them all, and each argument table is the set of the visible slots' points: an external texture's point
//! stands three times among the textures and once among the buffers. One function, *how many slots of a table lie
//! before this point*, answers sections 1 and 2:
//!
//! | wanted | formula |
//! | --- | --- |
//! | slot of a binding | `before(table, (group, binding))` |
//! | planes of an external texture | the same in the texture table, and the two after it |
//! | base of group g | `before(each table, (g, 0))` |
//! | place within a group | the same, over that group's points alone |
//! | sizes slot | the number of buffer slots, if a storage buffer is among them or the vertex stage pulls |
//! | index of a dynamic offset | the number of lesser dynamic bindings, over the group's whatever their visibility |
//!
//! # What a comparison with it catches
//!
//! - a wrong number, table or mutability of a binding, a wrong base, a wrong place within a group, a wrong sizes slot;
//! - the same of what section 2 adds: immediates, vertex pulling, binding arrays and their lengths, external textures,
//!   and a wrong index of a dynamic offset;
//! - a dependence on the order in which entries are listed, since a set has none;
//! - a layout that is refused but should not be, or the other way round, and a refusal that names the wrong binding;
//! - a wrong row of the version tables, and options that are not those of section 3.
//!
//! # What it does not catch
//!
//! - a mistake of the page itself, or a reading of it that both crates share;
//! - the bind calls of section 2: it knows where a slot is, not what is bound there, nor the values of offsets;
//! - `RuntimeArrayBindings`, and whatever naga writes (section 4);
//! - the conversion to naga's own map, which the caller makes, and any text of an error message;
//! - whether a layout is valid WebGPU: features, limits and Metal's own slot counts are not looked at.
#![forbid(unsafe_code)]

mod layout;
mod options;
mod points;
mod system;

pub use layout::{
    Extension, MAX_GROUPS, MAX_SLOT, Model, Refused, Resource, STAGES, dynamic_offsets, extended_stage, group, stage,
    stages,
};
pub use options::{ExpectedOptions, expected_options};
pub use points::{Counts, Slots, Table};
pub use system::{language_version, preserve_invariance};
