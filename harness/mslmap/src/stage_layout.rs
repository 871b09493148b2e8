//! One stage of a whole pipeline layout.

use std::collections::BTreeMap;

use naga::back::msl::{BindSamplerTarget, BindTarget, Slot};
use naga::{ResourceBinding, ShaderStage};
use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, StorageTextureAccess};

use crate::slots::{Counts, Kind, entry_kind, group_slots, is_storage_buffer, is_visible, sort_entries};

/// The most bind groups that a pipeline layout may have, absent ones counted: wgpu-hal's `MAX_BIND_GROUPS`.
pub const MAX_GROUPS: usize = 8;

/// Where one shader stage finds its resources under one pipeline layout. Made by [`StageLayout::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StageLayout {
    /// The stage that the layout is for.
    pub stage: ShaderStage,
    /// The slot of each binding that the stage sees, and whether the shader may write to it.
    pub resources: BTreeMap<ResourceBinding, BindTarget>,
    /// For each group, the first slot of the group in each table; none for an absent group. A group without entries has the
    /// base of the next one.
    pub group_base: Vec<Option<Counts>>,
    /// The buffer slot of naga's `_buffer_sizes` argument: the first after the bindings. None when the stage sees no storage
    /// buffer.
    pub sizes_slot: Option<u8>,
}

impl StageLayout {
    /// Lays out the bindings of a pipeline layout for one stage.
    ///
    /// `groups` holds the entries of each bind group layout, in any order; `None` is an absent group. Each table is numbered
    /// from 0 over the bindings that the stage sees, group after group, in binding order. Time is n log n in the number of
    /// entries.
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
        if !is_supported(stage) {
            return Err(LayoutError::UnsupportedStage(stage));
        }
        if groups.len() > MAX_GROUPS {
            return Err(LayoutError::TooManyGroups { count: groups.len() });
        }
        let groups: Vec<Option<Vec<BindGroupLayoutEntry>>> =
            groups.iter().map(|entries| entries.map(sort_entries)).collect();
        // All of step 3 comes before any slot, so that what a layout may hold does not depend on the stage.
        for (group, entries) in (0u32..).zip(&groups) {
            check_entries(group, entries.as_deref().unwrap_or_default())?;
        }
        let mut layout = StageLayout {
            stage,
            resources: BTreeMap::new(),
            group_base: Vec::new(),
            sizes_slot: None,
        };
        let mut next = Counts::default();
        for (group, entries) in (0u32..).zip(&groups) {
            layout.group_base.push(entries.as_ref().map(|_| next));
            next = next.plus(layout.place_group(group, entries.as_deref().unwrap_or_default(), next)?);
        }
        if groups
            .iter()
            .flatten()
            .flatten()
            .any(|entry| is_storage_buffer(entry) && is_visible(entry, stage))
        {
            let slot = Slot::try_from(next.buffers).map_err(|_| LayoutError::SizesSlotTooHigh { stage })?;
            layout.sizes_slot = Some(slot);
        }
        Ok(layout)
    }

    /// Adds the resources of one group, whose entries are sorted, from `base` on, and returns the slots that they take.
    fn place_group(
        &mut self,
        group: u32,
        entries: &[BindGroupLayoutEntry],
        base: Counts,
    ) -> Result<Counts, LayoutError> {
        let (slots, taken) = group_slots(entries, self.stage);
        for (entry, slot) in entries.iter().zip(slots) {
            let table = entry_kind(entry);
            let (Some(first), Some(offset)) = (base.in_table(table), slot) else {
                continue;
            };
            let slot = Slot::try_from(first.saturating_add(offset)).map_err(|_| LayoutError::SlotTooHigh {
                stage: self.stage,
                table,
                group,
                binding: entry.binding,
            })?;
            self.resources.insert(
                ResourceBinding {
                    group,
                    binding: entry.binding,
                },
                target(entry, slot),
            );
        }
        Ok(taken)
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

/// Whether wgpu-hal's Metal backend lays out the stage (its `NAGA_STAGES`).
fn is_supported(stage: ShaderStage) -> bool {
    match stage {
        ShaderStage::Vertex | ShaderStage::Fragment | ShaderStage::Compute | ShaderStage::Task | ShaderStage::Mesh => {
            true
        }
        ShaderStage::RayGeneration | ShaderStage::AnyHit | ShaderStage::ClosestHit | ShaderStage::Miss => false,
    }
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

/// Refuses what a group may not hold, the first in binding order; `entries` are sorted.
fn check_entries(group: u32, entries: &[BindGroupLayoutEntry]) -> Result<(), LayoutError> {
    for (index, entry) in entries.iter().enumerate() {
        let binding = entry.binding;
        if entries.get(index + 1).is_some_and(|next| next.binding == binding) {
            return Err(LayoutError::DuplicateBinding { group, binding });
        }
        if entry.count.is_some() {
            return Err(LayoutError::BindingArray { group, binding });
        }
        if matches!(entry.ty, BindingType::ExternalTexture) {
            return Err(LayoutError::ExternalTexture { group, binding });
        }
    }
    Ok(())
}

/// What naga is told of an entry at a slot of its table.
fn target(entry: &BindGroupLayoutEntry, slot: Slot) -> BindTarget {
    let kind = entry_kind(entry);
    BindTarget {
        buffer: (kind == Kind::Buffer).then_some(slot),
        texture: (kind == Kind::Texture).then_some(slot),
        sampler: (kind == Kind::Sampler).then_some(BindSamplerTarget::Resource(slot)),
        external_texture: None,
        mutable: is_mutable(entry),
    }
}

/// Whether a shader may write to the resource (the third column of the table in section 1 of the spec).
fn is_mutable(entry: &BindGroupLayoutEntry) -> bool {
    match entry.ty {
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only },
            ..
        } => !read_only,
        BindingType::StorageTexture { access, .. } => access != StorageTextureAccess::ReadOnly,
        _ => false,
    }
}
