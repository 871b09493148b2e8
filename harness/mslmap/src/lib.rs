//! Places the bindings of a WebGPU pipeline layout in Metal's argument tables, exactly as Rust wgpu-hal's Metal backend
//! does.
//!
//! Metal binds resources by slot in three tables a stage: buffers, textures and samplers. The slots come from the
//! pipeline layout alone: every stage numbers the bindings that it can see in binding order, group after group
//! ([`StageLayout`]), and an encoder binds a bind group at the same slots ([`group_slots`]). They never depend on which
//! bindings a shader declares, so one shader module serves layouts that place its bindings differently.
//!
//! naga turns WGSL's `arrayLength()` and the bounds checks of runtime-sized arrays into arithmetic on an extra argument
//! of the entry point, `_buffer_sizes`. It goes to the buffer slot after the layout's buffers
//! ([`StageLayout::sizes_slot`]), and [`runtime_array_bindings`] says which bindings' byte sizes it holds.
//!
//! The crate computes; it calls no Metal and behaves alike on every system. The rules are those of `reference/slots.md`
//! ("the spec" below), sections 1 to 3, read from wgpu-hal 30.0.2: `metal/device.rs` (`create_pipeline_layout`,
//! `create_bind_group`, `load_shader`) and `metal/adapter.rs` (`PrivateCapabilities::new`).
#![forbid(unsafe_code)]

mod options;
mod runtime_arrays;
mod slots;
mod stage_layout;
mod version;

pub use options::base_options;
pub use runtime_arrays::{RuntimeArrayError, runtime_array_bindings};
pub use slots::{Counts, EntrySlots, Kind, dynamic_offsets, entry_kind, group_slots, is_storage_buffer, sort_entries};
pub use stage_layout::{Extension, LayoutError, MAX_GROUPS, STAGES, StageLayout};
pub use version::{OsVersion, Platform, compile_language_version, language_version, preserve_invariance};
