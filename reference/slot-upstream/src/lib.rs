//! wgpu-hal's own Metal functions, as a reference for slots: their text is taken at build time from the wgpu-hal
//! package that Cargo.lock names, compiled around small stand-ins that record, and called (reference/slots.md,
//! section 5). No upstream code is committed.
//!
//! It catches whatever differs from what wgpu-hal does: slots, bases, the sizes slot, versions, and what stands in the
//! argument tables at a draw. It does not know whether wgpu-hal is right.
//!
//! Each major version is a cargo feature: `wgpu-hal-30`, on by default, and `wgpu-hal-29`.

pub mod bind;
pub mod drift;
#[cfg(feature = "wgpu-hal-29")]
mod major29;
#[cfg(feature = "wgpu-hal-30")]
mod major30;
mod objc;

use naga::back::msl::{BindTarget, Slot};
use naga::{ResourceBinding, ShaderStage};
use std::collections::BTreeMap;
use wgpu_types::BindGroupLayoutEntry;

/// The stages, in the order in which everything here lists them.
pub const STAGES: [ShaderStage; 5] = [
    ShaderStage::Vertex,
    ShaderStage::Fragment,
    ShaderStage::Compute,
    ShaderStage::Task,
    ShaderStage::Mesh,
];

/// The groups that wgpu-hal's pipeline layouts hold.
pub const MAX_BIND_GROUPS: usize = 8;

/// A pipeline layout as `create_pipeline_layout` makes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// By stage, in the order of [`STAGES`].
    pub stages: [Stage; 5],
    /// Lengths of arrays of storage buffers.
    pub binding_array_lengths: BTreeMap<ResourceBinding, u32>,
}

/// One stage of a pipeline layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// Every visible binding. Slots are truncated to 8 bits, as upstream does it.
    pub resources: BTreeMap<ResourceBinding, BindTarget>,
    /// Buffer slot of `_buffer_sizes`, truncated too.
    pub sizes_slot: Option<Slot>,
    /// Buffer slot of the immediates.
    pub immediates_slot: Option<Slot>,
    /// Where each group starts; none of an absent group.
    pub bases: [Option<Counts>; MAX_BIND_GROUPS],
}

/// A number for each table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counts {
    pub buffers: u32,
    pub textures: u32,
    pub samplers: u32,
}

/// Why upstream makes no layout: its name for the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceError {
    /// wgpu-hal 29 answers so when a stage has more resources than Metal's tables.
    OutOfMemory,
}

/// A system that Metal runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct System {
    /// Which.
    pub platform: Platform,
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
}

/// A platform that Metal runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Platform {
    MacOs,
    Ios,
    TvOs,
    VisionOs,
}

/// The layouts of a pipeline layout's groups, each sorted by binding as wgpu-core gives them.
pub type Groups<'a> = &'a [Option<&'a [BindGroupLayoutEntry]>];

/// One release's functions.
#[derive(Clone, Copy, Debug)]
pub struct Upstream {
    /// Version of the wgpu-hal package.
    pub version: &'static str,
    /// See [`v30::layout`].
    pub layout: fn(Groups<'_>, u32) -> Result<Layout, DeviceError>,
    /// See [`v30::language_version`].
    pub language_version: fn(System) -> (u8, u8),
    /// See [`v30::preserve_invariance`].
    pub preserve_invariance: fn(System) -> bool,
    /// See [`v30::play`].
    pub play: fn(&bind::Scene) -> Vec<bind::Bound>,
}

/// A shader as `load_shader` makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shader {
    /// The MSL that is given to Metal's compiler.
    pub source: String,
    /// The version of the language that it is written in, (major, minor).
    pub language_version: (u8, u8),
    /// Whether the compiler is told to preserve invariance.
    pub preserve_invariance: bool,
    /// The fields of `_buffer_sizes` before the vertex buffers', as in [`bind::PipelineStage::runtime_arrays`].
    pub runtime_arrays: Vec<(ResourceBinding, u32)>,
    /// The buffer slots that Metal is told are not written.
    pub immutable_buffer_mask: usize,
}

/// What a shader is loaded from, beside its module.
#[derive(Clone, Copy, Debug)]
pub struct ShaderRequest<'a> {
    /// The stage.
    pub stage: ShaderStage,
    /// The name of the entry point.
    pub entry_point: &'a str,
    /// Values of overrides.
    pub constants: &'a naga::back::PipelineConstants,
    /// The vertex buffers to pull from.
    pub vertex_buffers: &'a [naga::back::msl::VertexBufferMapping],
    /// Groups of the pipeline layout.
    pub groups: Groups<'a>,
    /// Bytes of immediates.
    pub immediate_size: u32,
    /// Where it is to run.
    pub system: System,
}

/// A module with one copy of wgpu-hal's functions: its file in `OUT_DIR`, the types of its major version, and more
/// files of this crate that are to call it.
macro_rules! upstream {
    ($module:ident, $file:literal, $major:ident $(, $more:literal)?) => {
        /// The functions of one release of wgpu-hal.
        pub mod $module {
            use crate::$major as externs;

            #[allow(warnings, clippy::all)]
            mod hal {
                include!(concat!(env!("OUT_DIR"), "/", $file));
            }

            include!("version.rs");
            $(include!($more);)?
        }
    };
}

#[cfg(feature = "wgpu-hal-30")]
upstream!(v30, "v30.rs", major30, "shader.rs");
#[cfg(feature = "wgpu-hal-30")]
pub use v30::{language_version, layout, load_shader, play, preserve_invariance, VERSION};

#[cfg(feature = "wgpu-hal-29")]
upstream!(v29, "v29.rs", major29);

/// Copies of wgpu-hal 30 with one rule changed each: what a test must tell from the right one.
#[cfg(feature = "planted")]
pub mod planted {
    upstream!(samplers_with_textures, "samplers_with_textures.rs", major30);
    upstream!(groups_in_reverse, "groups_in_reverse.rs", major30);
    upstream!(sizes_slot_first, "sizes_slot_first.rs", major30);

    /// Each by the name of its change.
    pub const RULES: [(&str, crate::Upstream); 3] = [
        ("samplers counted with textures", samplers_with_textures::UPSTREAM),
        ("groups in reverse", groups_in_reverse::UPSTREAM),
        ("sizes slot first", sizes_slot_first::UPSTREAM),
    ];
}

/// Every release that is built in, newest first.
pub const UPSTREAMS: &[Upstream] = &[
    #[cfg(feature = "wgpu-hal-30")]
    v30::UPSTREAM,
    #[cfg(feature = "wgpu-hal-29")]
    v29::UPSTREAM,
];
