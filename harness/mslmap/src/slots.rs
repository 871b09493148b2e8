//! One bind group: which table each entry takes a slot in, and which slot, counted from the group's first.

use std::borrow::Cow;
use std::fmt;

use naga::ShaderStage;
use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

/// The Metal argument table that a binding takes a slot in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// No single table: an external texture, which takes slots in two.
    None,
    /// Buffers: uniform and storage buffers, acceleration structures, and every binding array.
    Buffer,
    /// Textures: sampled and storage textures.
    Texture,
    /// Samplers, comparison samplers among them.
    Sampler,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::None => "none",
            Kind::Buffer => "buffer",
            Kind::Texture => "texture",
            Kind::Sampler => "sampler",
        })
    }
}

/// A number of slots in each argument table; as a base, the first free slot of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Slots of the buffer table.
    pub buffers: u32,
    /// Slots of the texture table.
    pub textures: u32,
    /// Slots of the sampler table.
    pub samplers: u32,
}

impl Counts {
    /// The count of one table; none for [`Kind::None`].
    pub fn in_table(self, table: Kind) -> Option<u32> {
        match table {
            Kind::None => None,
            Kind::Buffer => Some(self.buffers),
            Kind::Texture => Some(self.textures),
            Kind::Sampler => Some(self.samplers),
        }
    }

    /// The sum, table by table. It saturates: a count that high is far over what any layout may hold, and is refused.
    pub(crate) fn plus(self, more: Counts) -> Counts {
        Counts {
            buffers: self.buffers.saturating_add(more.buffers),
            textures: self.textures.saturating_add(more.textures),
            samplers: self.samplers.saturating_add(more.samplers),
        }
    }
}

/// The argument table of a bind group layout entry, whatever its visibility.
///
/// An external texture is [`Kind::None`]: it takes slots in two tables and so has no single one. A binding array (`count`
/// is some, also 1) is [`Kind::Buffer`] whatever its elements are, external textures too, since Metal is given it as one
/// argument buffer.
///
/// Source: the table of section 1 of the spec, and section 2's row for binding arrays (`create_pipeline_layout`, "Bindless
/// path").
pub fn entry_kind(entry: &BindGroupLayoutEntry) -> Kind {
    if entry.count.is_some() {
        return Kind::Buffer;
    }
    match entry.ty {
        BindingType::Buffer { .. } | BindingType::AccelerationStructure { .. } => Kind::Buffer,
        BindingType::Texture { .. } | BindingType::StorageTexture { .. } => Kind::Texture,
        BindingType::Sampler(_) => Kind::Sampler,
        BindingType::ExternalTexture => Kind::None,
    }
}

/// Whether an entry is a storage buffer, read-only or not, or a binding array of them.
///
/// Only those can hold a runtime-sized array, whose length naga reads from `_buffer_sizes`. Source: section 1 of the spec
/// (`need_sizes_buffer` in `create_pipeline_layout`).
pub fn is_storage_buffer(entry: &BindGroupLayoutEntry) -> bool {
    matches!(
        entry.ty,
        BindingType::Buffer {
            ty: BufferBindingType::Storage { .. },
            ..
        }
    )
}

/// A copy of the entries sorted by binding number; entries of one number keep their order.
///
/// Slots and dynamic offsets are given in binding order, so that they never depend on the order in which the caller listed
/// the entries. wgpu-core hands wgpu-hal its entries sorted.
pub fn sort_entries(entries: &[BindGroupLayoutEntry]) -> Vec<BindGroupLayoutEntry> {
    in_binding_order(entries).into_owned()
}

/// The entries as [`sort_entries`] has them, copied only when they are listed in another order.
pub(crate) fn in_binding_order(entries: &[BindGroupLayoutEntry]) -> Cow<'_, [BindGroupLayoutEntry]> {
    if is_sorted(entries) {
        return Cow::Borrowed(entries);
    }
    let mut sorted = entries.to_vec();
    sorted.sort_by_key(|entry| entry.binding);
    Cow::Owned(sorted)
}

/// The first slot that an entry takes in each table, counted from the group's first slot of that table; none in every table
/// when the stage does not see the entry.
///
/// An external texture alone takes slots in two tables: its planes stand at `texture` and the two slots after it, its
/// parameters at `buffer`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EntrySlots {
    /// The slot in the buffer table.
    pub buffer: Option<u32>,
    /// The slot in the texture table.
    pub texture: Option<u32>,
    /// The slot in the sampler table.
    pub sampler: Option<u32>,
}

/// The slots that the entries of one bind group layout take in a stage.
///
/// The first part of the answer has one item for each entry, in the order passed. The second part is the number of slots
/// that the group takes in each table.
///
/// Slots are numbered in binding order even when the entries are passed in another, so that the base of the group
/// ([`StageLayout::group_base`](crate::StageLayout::group_base)) plus the slot is always the slot of
/// [`StageLayout::resources`](crate::StageLayout::resources). An encoder binds the i-th slot that the group takes in a table at
/// the base plus i.
///
/// Nothing is refused: duplicate numbers are placed one after the other, counts may exceed what a table holds, and a ray
/// tracing stage is treated as any other. Time is n log n, or linear for sorted entries.
///
/// Source: sections 1 and 2 of the spec (`create_bind_group`'s per-stage counters).
pub fn group_slots(entries: &[BindGroupLayoutEntry], stage: ShaderStage) -> (Vec<EntrySlots>, Counts) {
    let seen = stage_bit(stage);
    let mut slots = vec![EntrySlots::default(); entries.len()];
    let mut next = Counts::default();
    for_each_in_binding_order(entries, |index, entry| {
        if entry.visibility.contains(seen) {
            let taken = slots_taken(entry);
            slots[index] = EntrySlots {
                buffer: (taken.buffers > 0).then_some(next.buffers),
                texture: (taken.textures > 0).then_some(next.textures),
                sampler: (taken.samplers > 0).then_some(next.samplers),
            };
            next = next.plus(taken);
        }
    });
    (slots, next)
}

/// For each entry of one bind group layout, in the order passed: its index in the list of dynamic offsets that comes with
/// the bind group, or none when it takes no offset.
///
/// Offsets are listed in binding order over every buffer of the group with a dynamic offset, visible to a stage or not;
/// a binding array takes none. Nothing is refused. Source: section 2 of the spec (`create_bind_group`'s `dynamic_index`).
pub fn dynamic_offsets(entries: &[BindGroupLayoutEntry]) -> Vec<Option<u32>> {
    let mut offsets = vec![None; entries.len()];
    let mut next = 0;
    for_each_in_binding_order(entries, |index, entry| {
        if entry.count.is_none() && entry.ty.has_dynamic_offset() {
            offsets[index] = Some(next);
            next += 1;
        }
    });
    offsets
}

/// The stage's bit of a visibility (upstream's `map_naga_stage`).
pub(crate) fn stage_bit(stage: ShaderStage) -> ShaderStages {
    match stage {
        ShaderStage::Vertex => ShaderStages::VERTEX,
        ShaderStage::Fragment => ShaderStages::FRAGMENT,
        ShaderStage::Compute => ShaderStages::COMPUTE,
        ShaderStage::Task => ShaderStages::TASK,
        ShaderStage::Mesh => ShaderStages::MESH,
        ShaderStage::RayGeneration => ShaderStages::RAY_GENERATION,
        ShaderStage::AnyHit => ShaderStages::ANY_HIT,
        ShaderStage::ClosestHit => ShaderStages::CLOSEST_HIT,
        ShaderStage::Miss => ShaderStages::MISS,
    }
}

fn is_sorted(entries: &[BindGroupLayoutEntry]) -> bool {
    entries.is_sorted_by_key(|entry| entry.binding)
}

/// Visits the entries in binding order, each with its place in the list.
fn for_each_in_binding_order(entries: &[BindGroupLayoutEntry], mut visit: impl FnMut(usize, &BindGroupLayoutEntry)) {
    if is_sorted(entries) {
        entries
            .iter()
            .enumerate()
            .for_each(|(index, entry)| visit(index, entry));
        return;
    }
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|&index| entries[index].binding);
    order.into_iter().for_each(|index| visit(index, &entries[index]));
}

/// The slots that a visible entry takes.
pub(crate) fn slots_taken(entry: &BindGroupLayoutEntry) -> Counts {
    let none = Counts::default();
    match entry_kind(entry) {
        Kind::Buffer => Counts { buffers: 1, ..none },
        Kind::Texture => Counts { textures: 1, ..none },
        Kind::Sampler => Counts { samplers: 1, ..none },
        // An external texture: three planes, and the parameters of their conversion.
        Kind::None => Counts {
            buffers: 1,
            textures: 3,
            ..none
        },
    }
}
