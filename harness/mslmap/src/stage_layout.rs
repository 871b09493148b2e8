//! One stage of a whole pipeline layout.

use std::borrow::Cow;
use std::collections::BTreeMap;

use arrayvec::ArrayVec;
use litemap::LiteMap;
use naga::back::msl::{BindExternalTextureTarget, BindSamplerTarget, BindTarget, Slot};
use naga::{ResourceBinding, ShaderStage};
use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, StorageTextureAccess};

use crate::slots::{Counts, Kind, entry_kind, in_binding_order, is_storage_buffer, stage_bit};

/// The most bind groups that a pipeline layout may have, absent ones counted: wgpu-hal's `MAX_BIND_GROUPS`.
pub const MAX_GROUPS: usize = 8;

/// The stages that have a layout (wgpu-hal's `NAGA_STAGES`).
pub const STAGES: [ShaderStage; 5] = [
    ShaderStage::Vertex,
    ShaderStage::Fragment,
    ShaderStage::Compute,
    ShaderStage::Task,
    ShaderStage::Mesh,
];

/// What a pipeline layout has beyond its bind groups. The default has none of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extension {
    /// The byte size of the immediates, as in the pipeline layout's descriptor; 0 for none. More bytes take no more slots.
    pub immediate_size: u32,
    /// Whether vertex shaders fetch their vertices from buffers themselves, as wgpu-hal always has it.
    pub vertex_pulling: bool,
}

/// Where one shader stage finds its resources under one pipeline layout. Made by [`StageLayout::new`],
/// [`StageLayout::extended`] or [`StageLayout::all_stages`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageLayout {
    /// The stage that the layout is for.
    pub stage: ShaderStage,
    /// The slot of each binding that the stage sees, and whether the shader may write to it.
    pub resources: LiteMap<ResourceBinding, BindTarget>,
    /// For each group, the first slot of the group in each table; none for an absent group. A group without entries has the
    /// base of the next one.
    pub group_base: Vec<Option<Counts>>,
    /// The buffer slot of the immediates: 0, before the first group. None when the layout has no immediates.
    pub immediates_slot: Option<u8>,
    /// The buffer slot of naga's `_buffer_sizes` argument: the first after the bindings. None when the stage sees no storage
    /// buffer, unless it is a vertex stage that pulls its vertices.
    pub sizes_slot: Option<u8>,
    /// The `count` of each binding array of storage buffers, whether the stage sees it or not.
    pub binding_array_lengths: BTreeMap<ResourceBinding, u32>,
    /// [`Extension::vertex_pulling`], for every stage.
    pub vertex_pulling: bool,
}

impl StageLayout {
    /// Lays out the bindings of a pipeline layout for one stage.
    ///
    /// `groups` holds the entries of each bind group layout, in any order; `None` is an absent group. Each table is numbered
    /// from 0 over the bindings that the stage sees, group after group, in binding order. Time is n log n in the number of
    /// entries, or linear when they are listed in binding order.
    ///
    /// # Errors
    ///
    /// The first of these, so that one input always gives one error, in whatever order its entries are listed:
    ///
    /// 1. [`LayoutError::UnsupportedStage`], for a stage that is none of vertex, fragment, compute, task and mesh;
    /// 2. [`LayoutError::TooManyGroups`], for more than [`MAX_GROUPS`] groups;
    /// 3. at the first binding (group after group, in binding order) where one holds, whether the stage sees the binding or
    ///    not: [`LayoutError::DuplicateBinding`], else [`LayoutError::BindingArray`] (an array of external textures too),
    ///    else [`LayoutError::ExternalTexture`];
    /// 4. [`LayoutError::SlotTooHigh`], for the first binding in the same order whose slot naga's u8 does not hold;
    /// 5. [`LayoutError::SizesSlotTooHigh`], when that holds of the sizes slot alone.
    ///
    /// Source: section 1 of the spec (`create_pipeline_layout`, which truncates slots and takes a duplicate's last entry
    /// where this refuses).
    pub fn new(groups: &[Option<&[BindGroupLayoutEntry]>], stage: ShaderStage) -> Result<StageLayout, LayoutError> {
        check_stage(stage)?;
        let groups = checked(groups, without_arrays_and_external_textures)?;
        lay_out(&groups, stage, Extension::default())
    }

    /// As [`StageLayout::new`], with binding arrays, external textures, immediates and vertex pulling as well: all that
    /// wgpu-hal lays out, which always has `vertex_pulling`.
    ///
    /// Immediates take buffer slot 0, before the first group. A binding array takes one buffer slot, whatever its elements
    /// are, and is not mutable. An external texture takes three texture slots in a row and one buffer slot. A vertex stage
    /// that pulls its vertices always has a sizes slot.
    ///
    /// # Errors
    ///
    /// Those of [`StageLayout::new`] in the same order, but for the two that refuse arrays and external textures. Of an
    /// external texture whose slots are too high in both tables, the texture table is named.
    ///
    /// Source: sections 1 and 2 of the spec (`create_pipeline_layout`).
    pub fn extended(
        groups: &[Option<&[BindGroupLayoutEntry]>],
        stage: ShaderStage,
        extension: Extension,
    ) -> Result<StageLayout, LayoutError> {
        check_stage(stage)?;
        let groups = checked(groups, |_, _| Ok(()))?;
        lay_out(&groups, stage, extension)
    }

    /// [`StageLayout::extended`] for each of [`STAGES`], in that order: the same answers and errors, sorted and checked once.
    pub fn all_stages(
        groups: &[Option<&[BindGroupLayoutEntry]>],
        extension: Extension,
    ) -> [Result<StageLayout, LayoutError>; STAGES.len()] {
        match checked(groups, |_, _| Ok(())) {
            Ok(groups) => STAGES.map(|stage| lay_out(&groups, stage, extension)),
            Err(error) => STAGES.map(|_| Err(error.clone())),
        }
    }
}

/// Why a pipeline layout has no [`StageLayout`]. [`StageLayout::new`] says which error comes first.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Metal's backend has no such stage.
    #[error("the {} stage has no argument tables: only vertex, fragment, compute, task and mesh do", stage_name(*.0))]
    UnsupportedStage(ShaderStage),
    /// More groups than [`MAX_GROUPS`].
    #[error("the pipeline layout has {count} bind groups, but at most {MAX_GROUPS} are allowed")]
    TooManyGroups {
        /// The number of groups, absent ones counted.
        count: usize,
    },
    /// Two entries of one group have the same binding number.
    #[error("group {group} has more than one entry for binding {binding}")]
    DuplicateBinding {
        /// The group's index.
        group: u32,
        /// The lowest number that is there more than once.
        binding: u32,
    },
    /// The entry has a `count`.
    #[error("group {group} binding {binding} is a binding array, which this layout has no place for")]
    BindingArray {
        /// The group's index.
        group: u32,
        /// The entry's binding number.
        binding: u32,
    },
    /// The entry is an external texture.
    #[error("group {group} binding {binding} is an external texture, which this layout has no place for")]
    ExternalTexture {
        /// The group's index.
        group: u32,
        /// The entry's binding number.
        binding: u32,
    },
    /// The binding's slot is over 255, the highest that naga can name.
    #[error("the {} stage's {table} slot for group {group} binding {binding} is over 255", stage_name(*stage))]
    SlotTooHigh {
        /// The stage laid out.
        stage: ShaderStage,
        /// The table of the slot.
        table: Kind,
        /// The group's index.
        group: u32,
        /// The entry's binding number.
        binding: u32,
    },
    /// The slot of `_buffer_sizes` is over 255, although every binding's slot is not.
    #[error("the {} stage's buffer slot for _buffer_sizes is over 255", stage_name(*stage))]
    SizesSlotTooHigh {
        /// The stage laid out.
        stage: ShaderStage,
    },
}

/// The groups of a layout, their entries in binding order. They are few: their list is not allocated.
type Groups<'a> = ArrayVec<Option<Cow<'a, [BindGroupLayoutEntry]>>, MAX_GROUPS>;

fn check_stage(stage: ShaderStage) -> Result<(), LayoutError> {
    if STAGES.contains(&stage) {
        Ok(())
    } else {
        Err(LayoutError::UnsupportedStage(stage))
    }
}

/// The groups in binding order, refused for their number, else for the first binding that is there more than once or that
/// `check` refuses. All bindings are looked at before any gets a slot, so that what a layout may hold does not depend on the
/// stage.
fn checked<'a>(
    groups: &[Option<&'a [BindGroupLayoutEntry]>],
    check: impl Fn(ResourceBinding, &BindGroupLayoutEntry) -> Result<(), LayoutError>,
) -> Result<Groups<'a>, LayoutError> {
    if groups.len() > MAX_GROUPS {
        return Err(LayoutError::TooManyGroups { count: groups.len() });
    }
    let groups: Groups<'a> = groups.iter().map(|entries| entries.map(in_binding_order)).collect();
    for (group, entries) in (0u32..).zip(&groups) {
        let entries = entries.as_deref().unwrap_or_default();
        for (index, entry) in entries.iter().enumerate() {
            let binding = entry.binding;
            if entries.get(index + 1).is_some_and(|next| next.binding == binding) {
                return Err(LayoutError::DuplicateBinding { group, binding });
            }
            check(ResourceBinding { group, binding }, entry)?;
        }
    }
    Ok(groups)
}

/// Refuses what the rule of section 1 of the spec has no place for.
fn without_arrays_and_external_textures(
    ResourceBinding { group, binding }: ResourceBinding,
    entry: &BindGroupLayoutEntry,
) -> Result<(), LayoutError> {
    if entry.count.is_some() {
        return Err(LayoutError::BindingArray { group, binding });
    }
    if entry.ty == BindingType::ExternalTexture {
        return Err(LayoutError::ExternalTexture { group, binding });
    }
    Ok(())
}

/// The stage in words.
fn stage_name(stage: ShaderStage) -> &'static str {
    match stage {
        ShaderStage::Vertex => "vertex",
        ShaderStage::Fragment => "fragment",
        ShaderStage::Compute => "compute",
        ShaderStage::Task => "task",
        ShaderStage::Mesh => "mesh",
        ShaderStage::RayGeneration => "ray generation",
        ShaderStage::AnyHit => "any hit",
        ShaderStage::ClosestHit => "closest hit",
        ShaderStage::Miss => "miss",
    }
}

/// Gives every binding its slots; the groups are checked.
fn lay_out(
    groups: &[Option<Cow<'_, [BindGroupLayoutEntry]>>],
    stage: ShaderStage,
    extension: Extension,
) -> Result<StageLayout, LayoutError> {
    let has_immediates = extension.immediate_size > 0;
    let mut layout = StageLayout {
        stage,
        resources: LiteMap::new_vec(),
        group_base: Vec::with_capacity(groups.len()),
        immediates_slot: has_immediates.then_some(0),
        sizes_slot: None,
        binding_array_lengths: BTreeMap::new(),
        vertex_pulling: extension.vertex_pulling,
    };
    let mut needs_sizes = extension.vertex_pulling && stage == ShaderStage::Vertex;
    let mut next = Counts {
        buffers: u32::from(has_immediates),
        ..Counts::default()
    };
    let seen = stage_bit(stage);
    let entries = groups.iter().flatten().flat_map(|entries| entries.iter());
    let visible = entries.filter(|entry| entry.visibility.contains(seen)).count();
    // Sorted, since groups and their entries are.
    let mut resources = Vec::with_capacity(visible);
    for (group, entries) in (0u32..).zip(groups) {
        layout.group_base.push(entries.as_ref().map(|_| next));
        for entry in entries.as_deref().unwrap_or_default() {
            let at = ResourceBinding {
                group,
                binding: entry.binding,
            };
            if let Some(count) = entry.count
                && is_storage_buffer(entry)
            {
                layout.binding_array_lengths.insert(at, count.get());
            }
            if entry.visibility.contains(seen) {
                needs_sizes |= is_storage_buffer(entry);
                let (_, target) = resources.push_mut((at, BindTarget::default()));
                place(entry, &mut next, target).map_err(|table| LayoutError::SlotTooHigh {
                    stage,
                    table,
                    group,
                    binding: entry.binding,
                })?;
            }
        }
    }
    layout.resources = LiteMap::from_sorted_store_unchecked(resources);
    if needs_sizes {
        let slot = Slot::try_from(next.buffers).map_err(|_| LayoutError::SizesSlotTooHigh { stage })?;
        layout.sizes_slot = Some(slot);
    }
    Ok(layout)
}

/// Gives a visible entry, whose target is empty yet, the next slots of its tables.
///
/// The error is the table whose slot naga's u8 does not hold.
fn place(entry: &BindGroupLayoutEntry, next: &mut Counts, target: &mut BindTarget) -> Result<(), Kind> {
    match entry_kind(entry) {
        Kind::Buffer => target.buffer = Some(take(Kind::Buffer, &mut next.buffers)?),
        Kind::Texture => target.texture = Some(take(Kind::Texture, &mut next.textures)?),
        Kind::Sampler => {
            target.sampler = Some(BindSamplerTarget::Resource(take(Kind::Sampler, &mut next.samplers)?));
        }
        // An external texture.
        Kind::None => {
            let mut plane = || take(Kind::Texture, &mut next.textures);
            target.external_texture = Some(BindExternalTextureTarget {
                planes: [plane()?, plane()?, plane()?],
                params: take(Kind::Buffer, &mut next.buffers)?,
            });
        }
    }
    target.mutable = is_mutable(entry);
    Ok(())
}

/// The next slot of a table; the table as the error.
fn take(table: Kind, next: &mut u32) -> Result<Slot, Kind> {
    let slot = Slot::try_from(*next).map_err(|_| table)?;
    *next += 1;
    Ok(slot)
}

/// Whether a shader may write to the resource: the third column of the table in section 1 of the spec; never for a binding
/// array.
fn is_mutable(entry: &BindGroupLayoutEntry) -> bool {
    if entry.count.is_some() {
        return false;
    }
    match entry.ty {
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only },
            ..
        } => !read_only,
        BindingType::StorageTexture { access, .. } => access != StorageTextureAccess::ReadOnly,
        _ => false,
    }
}
