//! What readers of layouts are asked and say. naga's own types carry the slots, so that nothing is converted, and nothing lost, on the
//! way from the subject and from wgpu-hal's function.

use std::collections::BTreeMap;
use std::fmt;

use litemap::LiteMap;
use mslmap::{Counts, EntrySlots, Kind};
use naga::ResourceBinding;
use naga::back::msl::{BindSamplerTarget, BindTarget};
use naga::proc::BoundsCheckPolicies;

use crate::case::{LayoutCase, Stage};

/// Whether a case goes past section 1 of slots.md.
pub fn is_extended(case: &LayoutCase) -> bool {
    case.immediate_size > 0 || case.vertex_pulling
}

/// A reader's whole answer to a layout case. What a reader does not answer is left out and not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutAnswer {
    /// In the order of [`Stage::ALL`]: the stage's slots, or the refusal.
    pub stages: [Result<StageSlots, Refusal>; Stage::ALL.len()],
    /// GroupSlots of each present group, stage by stage, for the stages that the reader answers it for.
    pub group_slots: [Option<Vec<GroupSlots>>; Stage::ALL.len()],
    /// The index of each entry's dynamic offset, group by group, in the order in which the entries are listed.
    pub dynamic_offsets: Option<Vec<Vec<Option<u32>>>>,
    /// What the case's system has.
    pub system: SystemFacts,
    /// The options that every shader starts from.
    pub options: Option<OptionFacts>,
    /// Of a case with a shader, what is asked for it.
    pub shader: Option<ShaderFacts>,
}

impl LayoutAnswer {
    /// One that refuses every stage, and says nothing else.
    pub fn refused(why: Refusal) -> LayoutAnswer {
        LayoutAnswer {
            stages: [const { None }; Stage::ALL.len()].map(|none| none.ok_or(why)),
            group_slots: [const { None }; Stage::ALL.len()],
            dynamic_offsets: None,
            system: SystemFacts::default(),
            options: None,
            shader: None,
        }
    }
}

/// What is asked for a shader that uses the layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShaderFacts {
    /// The binding numbers of each present group, sorted.
    pub order: Vec<Vec<u32>>,
    /// Why a ray generation stage, which Metal has no argument tables for, is not laid out; none where it is.
    pub ray_generation: Option<Refusal>,
    /// RuntimeArrayBindings of the shader as it is written; none where naga does not read it, or a variable has no binding.
    pub runtime_arrays: Option<Vec<ResourceBinding>>,
    /// By stage, the options for an entry point of the name [`ENTRY_POINT`]; none where the layout is refused.
    pub options: [Option<EntryOptions>; Stage::ALL.len()],
}

/// The name for which [`ShaderFacts::options`] is asked.
pub const ENTRY_POINT: &str = "main";

/// The options for one entry point, where they are not naga's default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryOptions {
    /// The slots; of these the options say no bases.
    pub stage: StageSlots,
    /// Whether vertices are pulled.
    pub vertex_pulling: bool,
    /// Whether the map is that of the entry point alone, and that one is selected, by stage and name.
    pub selects: bool,
    /// The rest.
    pub facts: OptionFacts,
}

/// What a reader says about one stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StageSlots {
    /// Where each binding that the stage sees stands, and whether the shader may write to it.
    pub slots: LiteMap<ResourceBinding, BindTarget>,
    /// The first buffer, texture and sampler slot of each group; `None` for an absent one.
    pub bases: Vec<Option<Counts>>,
    /// The slot of `_buffer_sizes`.
    pub sizes_slot: Option<u8>,
    /// The slot of the immediates.
    pub immediates_slot: Option<u8>,
    /// The lengths of the layout's arrays of storage buffers, whoever sees them.
    pub array_lengths: BTreeMap<ResourceBinding, u32>,
}

/// What GroupSlots gives for one group and stage: for each entry its first place in the buffer, texture and sampler table, and the
/// counts.
pub type GroupSlots = (Vec<EntrySlots>, Counts);

/// Section 3 of slots.md, of one system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemFacts {
    /// The newest MSL version.
    pub language_version: (u8, u8),
    /// Its number for Metal's compiler.
    pub compile_language_version: u64,
    /// Whether `preserveInvariance` is there.
    pub preserve_invariance: bool,
}

/// `BaseOptions` of section 3 of slots.md, where they are not naga's default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionFacts {
    /// Bounds checks.
    pub bounds_checks: BoundsCheckPolicies,
    /// `fake_missing_bindings`.
    pub fake_missing_bindings: bool,
    /// Workgroup memory starts as zeros.
    pub zero_initialize_workgroup_memory: bool,
    /// Loops are bounded.
    pub force_loop_bounding: bool,
    /// Entry points with bindings of their own.
    pub entry_points: usize,
}

/// Why a layout has no slots, in words that every reader shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Refusal {
    /// A stage without argument tables.
    #[error("unsupported stage")]
    Stage,
    /// More than 8 groups.
    #[error("too many groups")]
    TooManyGroups,
    /// A binding number twice.
    #[error("duplicate binding g{0}b{1}")]
    Duplicate(u32, u32),
    /// A binding array, which the plain constructor has no place for.
    #[error("binding array g{0}b{1}")]
    BindingArray(u32, u32),
    /// An external texture, likewise.
    #[error("external texture g{0}b{1}")]
    ExternalTexture(u32, u32),
    /// A slot over 255, of the table named.
    #[error("{0} slot of g{1}b{2} past 255")]
    Slot(Kind, u32, u32),
    /// The sizes slot is over 255.
    #[error("_buffer_sizes past slot 255")]
    SizesSlot,
    /// wgpu-hal 29's word for a stage with more resources than Metal's tables.
    #[error("out of memory")]
    OutOfMemory,
    /// The reader panicked, as wgpu-hal does over too many groups, or failed.
    #[error("a panic")]
    Panic,
}

impl Refusal {
    /// What is refused, without the numbers, so that every case of a kind reads alike.
    pub fn kind(self) -> &'static str {
        match self {
            Refusal::Stage => "unsupported stage",
            Refusal::TooManyGroups => "too many groups",
            Refusal::Duplicate(..) => "duplicate binding",
            Refusal::BindingArray(..) => "binding array",
            Refusal::ExternalTexture(..) => "external texture",
            Refusal::Slot(..) => "slot past 255",
            Refusal::SizesSlot => "_buffer_sizes past slot 255",
            Refusal::OutOfMemory => "out of memory",
            Refusal::Panic => "a panic",
        }
    }
}

/// A place in words, such as `buffer 3, mutable` or `textures 0 1 2, buffer 1`.
pub struct Words<'a>(pub &'a BindTarget);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = self.0;
        let mut parts = Vec::new();
        parts.extend(target.buffer.map(|slot| format!("buffer {slot}")));
        parts.extend(target.texture.map(|slot| format!("texture {slot}")));
        match target.sampler {
            Some(BindSamplerTarget::Resource(slot)) => parts.push(format!("sampler {slot}")),
            Some(BindSamplerTarget::Inline(handle)) => parts.push(format!("inline sampler {handle}")),
            None => {}
        }
        if let Some(external) = &target.external_texture {
            let [a, b, c] = external.planes;
            parts.push(format!("textures {a} {b} {c}, buffer {}", external.params));
        }
        if target.mutable {
            parts.push("mutable".into());
        }
        f.pad(&parts.join(", "))
    }
}
