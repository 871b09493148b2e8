//! Sections 1 and 2: the stages of a pipeline layout, and one bind group.

use crate::points::{self, Counts, Points, Slots, Table, point, visibility};
use naga::ShaderStage;
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

/// The most groups that a layout may have (section 1, errors). Absent groups count.
pub const MAX_GROUPS: usize = 8;

/// The highest slot that `naga::back::msl::Slot` holds (section 1, errors).
pub const MAX_SLOT: u32 = 255;

/// The stages that a layout has slots for (section 1, errors), in the order of [`stages`]' answers.
pub const STAGES: [ShaderStage; 5] = [
    ShaderStage::Vertex,
    ShaderStage::Fragment,
    ShaderStage::Compute,
    ShaderStage::Task,
    ShaderStage::Mesh,
];

/// What section 2's extended constructor is told beside the groups; by default nothing, as for section 1's rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Extension {
    /// The size of the immediates in bytes. Any but 0 takes the first buffer slot of every stage.
    pub immediate_size: u32,
    /// Whether the vertex stage reserves a sizes slot also with no storage buffer.
    pub vertex_pulling: bool,
}

/// One binding that the stage sees: a line of section 1's `Resources`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resource {
    /// The binding's group.
    pub group: u32,
    /// The binding's number in its group.
    pub binding: u32,
    /// Its slots: each the number of earlier slots of its table.
    pub slots: Slots,
    /// Whether the shader may write it (section 1, last column of the table; section 2).
    pub mutable: bool,
}

/// What sections 1 and 2 say of one stage of a pipeline layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// `Resources`: every binding visible to the stage and no other, sorted by group, then binding.
    pub resources: Vec<Resource>,
    /// `GroupBase`, one for each group passed; `None` for an absent group.
    pub bases: Vec<Option<Counts>>,
    /// `SizesSlot`; `None` where there is none.
    pub sizes_slot: Option<u32>,
    /// The buffer slot of the immediates, `None` where there are none.
    pub immediates_slot: Option<u32>,
    /// Section 2's `binding_array_length_map`: the length of every array of storage buffers, also of one that the
    /// stage does not see, sorted by group, then binding.
    pub array_lengths: Vec<(naga::ResourceBinding, u32)>,
}

/// Why a layout has no slots (section 1, errors).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// A binding number stands twice in a group, whoever sees the two entries.
    DuplicateBinding {
        /// The group that has it twice.
        group: u32,
        /// The number.
        binding: u32,
    },
    /// More than [`MAX_GROUPS`] groups.
    TooManyGroups,
    /// The stage is none of [`STAGES`].
    UnsupportedStage,
    /// A slot over [`MAX_SLOT`]: the first in binding order, whatever its table; of an external texture, the planes'
    /// before the parameters'.
    SlotTooHigh {
        /// The table whose slots ran out.
        table: Table,
        /// The group of the binding.
        group: u32,
        /// The binding.
        binding: u32,
    },
    /// The slot of `_buffer_sizes` is over [`MAX_SLOT`], though every binding's is not.
    SizesSlotTooHigh,
    /// [`stage`] alone: a binding array, of whatever type and whoever sees it. Section 1's rule has no place for it.
    BindingArray {
        /// The group of the array.
        group: u32,
        /// Its binding.
        binding: u32,
    },
    /// [`stage`] alone: an external texture, whoever sees it. Section 1's rule has no place for it.
    ExternalTexture {
        /// The group of the texture.
        group: u32,
        /// Its binding.
        binding: u32,
    },
}

/// An entry with the point that it stands at.
#[derive(Clone, Copy)]
struct Placed<'a> {
    group: u32,
    point: u64,
    entry: &'a BindGroupLayoutEntry,
}

/// The slots of a pipeline layout for one stage: section 1's rule.
///
/// # Errors
///
/// Where several refusals apply, the first of these (section 1):
///
/// 1. [`Refused::UnsupportedStage`];
/// 2. [`Refused::TooManyGroups`];
/// 3. at the least `(group, binding)` where one applies: [`Refused::DuplicateBinding`], else
///    [`Refused::BindingArray`] (also for an array of external textures), else [`Refused::ExternalTexture`];
/// 4. [`Refused::SlotTooHigh`] at the least `(group, binding)`;
/// 5. [`Refused::SizesSlotTooHigh`].
pub fn stage(groups: &[Option<&[BindGroupLayoutEntry]>], stage: ShaderStage) -> Result<Model, Refused> {
    let seen_by = visibility(stage).ok_or(Refused::UnsupportedStage)?;
    let placed = placed(groups, |same| duplicate(same).or_else(|| beyond_section_1(same)))?;
    model(groups, &placed, seen_by, Extension::default())
}

/// The slots of a pipeline layout for one stage: the rule with all of section 2.
///
/// # Errors
///
/// In the order of [`stage`], without [`Refused::BindingArray`] and [`Refused::ExternalTexture`].
pub fn extended_stage(
    groups: &[Option<&[BindGroupLayoutEntry]>],
    stage: ShaderStage,
    extension: Extension,
) -> Result<Model, Refused> {
    let seen_by = visibility(stage).ok_or(Refused::UnsupportedStage)?;
    model(groups, &placed(groups, duplicate)?, seen_by, extension)
}

/// [`extended_stage`] for each of [`STAGES`], sorting the entries once.
pub fn stages(groups: &[Option<&[BindGroupLayoutEntry]>], extension: Extension) -> [Result<Model, Refused>; 5] {
    let placed = placed(groups, duplicate);
    STAGES.map(|stage| {
        let seen_by = visibility(stage).ok_or(Refused::UnsupportedStage)?;
        let placed = placed.as_ref().map_err(|refused| *refused)?;
        model(groups, placed, seen_by, extension)
    })
}

/// Section 1's `GroupSlots`: for each entry, in the order passed, its places among the slots of the group's visible
/// bindings in binding order, `None` where the stage does not see it; and the number of slots that the group takes.
/// [`Slots::first`] is the page's "first place in each" table.
///
/// It refuses nothing. Outside the rule it answers so: a stage that the rule does not have sees nothing; entries of
/// one number share a place and each count. Compare it on layouts that [`extended_stage`] takes.
pub fn group(entries: &[BindGroupLayoutEntry], stage: ShaderStage) -> (Vec<Option<Slots>>, Counts) {
    let seen_by = visibility(stage).unwrap_or(ShaderStages::NONE);
    let points = points_of(placed_in(0, entries), seen_by, false);
    let places = placed_in(0, entries).map(|at| at.seen(seen_by).then(|| points.slots(at.point, at.entry)));
    (places.collect(), points.totals())
}

/// Section 2's `DynamicOffsets`: for each entry, in the order passed, the number of dynamic offsets of the group's
/// lesser bindings, whoever sees them; `None` where the entry takes no dynamic offset.
///
/// It refuses nothing; entries of one number share an index and each count.
pub fn dynamic_offsets(entries: &[BindGroupLayoutEntry]) -> Vec<Option<u32>> {
    let dynamic = |entry: &&BindGroupLayoutEntry| points::takes_dynamic_offset(entry);
    let mut bindings: Vec<_> = entries.iter().filter(dynamic).map(|entry| entry.binding).collect();
    bindings.sort_unstable();
    entries
        .iter()
        .map(|entry| dynamic(&entry).then(|| points::before(&bindings, entry.binding)))
        .collect()
}

impl Placed<'_> {
    fn seen(&self, seen_by: ShaderStages) -> bool {
        self.entry.visibility.intersects(seen_by)
    }
}

fn placed_in(group: u32, entries: &[BindGroupLayoutEntry]) -> impl Iterator<Item = Placed<'_>> {
    entries.iter().map(move |entry| Placed {
        group,
        point: point(group, entry.binding),
        entry,
    })
}

/// Every entry of every group, in ascending order, unless there are too many groups or `refused` refuses the entries
/// of one point.
fn placed<'a>(
    groups: &[Option<&'a [BindGroupLayoutEntry]>],
    refused: impl Fn(&[Placed<'_>]) -> Option<Refused>,
) -> Result<Vec<Placed<'a>>, Refused> {
    if groups.len() > MAX_GROUPS {
        return Err(Refused::TooManyGroups);
    }
    let mut placed: Vec<_> = (0u32..)
        .zip(groups)
        .flat_map(|(group, entries)| placed_in(group, entries.unwrap_or_default()))
        .collect();
    placed.sort_by_key(|at| at.point);
    let mut same_point = placed.chunk_by(|one, next| one.point == next.point);
    same_point.find_map(refused).map_or(Ok(placed), Err)
}

/// The refusal of the entries of one point if they are more than one.
fn duplicate(same: &[Placed<'_>]) -> Option<Refused> {
    let group = same[0].group;
    let binding = same[0].entry.binding;
    (same.len() > 1).then_some(Refused::DuplicateBinding { group, binding })
}

/// The refusal of an entry that section 1 has no place for.
fn beyond_section_1(same: &[Placed<'_>]) -> Option<Refused> {
    let group = same[0].group;
    let binding = same[0].entry.binding;
    if same[0].entry.count.is_some() {
        Some(Refused::BindingArray { group, binding })
    } else if same[0].entry.ty == BindingType::ExternalTexture {
        Some(Refused::ExternalTexture { group, binding })
    } else {
        None
    }
}

fn model(
    groups: &[Option<&[BindGroupLayoutEntry]>],
    placed: &[Placed<'_>],
    seen_by: ShaderStages,
    extension: Extension,
) -> Result<Model, Refused> {
    let immediates = extension.immediate_size > 0;
    let pulls = extension.vertex_pulling && seen_by == ShaderStages::VERTEX;
    let points = points_of(placed.iter().copied(), seen_by, immediates);
    let sizes = pulls
        || placed
            .iter()
            .any(|at| at.seen(seen_by) && points::is_storage_buffer(at.entry));
    let model = Model {
        resources: resources(placed, &points, seen_by),
        bases: bases(groups, &points),
        sizes_slot: sizes.then(|| points.totals().buffers),
        immediates_slot: immediates.then(|| points.before(Table::Buffer, points::IMMEDIATES)),
        array_lengths: placed.iter().filter_map(array_length).collect(),
    };
    refused_slot(&model).map_or(Ok(model), Err)
}

fn points_of<'a>(placed: impl Iterator<Item = Placed<'a>>, seen_by: ShaderStages, immediates: bool) -> Points {
    let visible = placed.filter(|at| at.seen(seen_by));
    Points::new(immediates, visible.map(|at| (at.point, at.entry)))
}

fn resources(placed: &[Placed<'_>], points: &Points, seen_by: ShaderStages) -> Vec<Resource> {
    let visible = placed.iter().filter(|at| at.seen(seen_by));
    visible
        .map(|at| Resource {
            group: at.group,
            binding: at.entry.binding,
            slots: points.slots(at.point, at.entry),
            mutable: points::mutable(at.entry),
        })
        .collect()
}

fn bases(groups: &[Option<&[BindGroupLayoutEntry]>], points: &Points) -> Vec<Option<Counts>> {
    (0u32..)
        .zip(groups)
        .map(|(group, entries)| entries.map(|_| points.counts_before(point(group, 0))))
        .collect()
}

/// The length of an array of storage buffers.
fn array_length(at: &Placed<'_>) -> Option<(naga::ResourceBinding, u32)> {
    let length = at.entry.count.filter(|_| points::is_storage_buffer(at.entry))?;
    let binding = naga::ResourceBinding {
        group: at.group,
        binding: at.entry.binding,
    };
    Some((binding, length.get()))
}

/// The refusal of slots that naga's `Slot` does not hold.
fn refused_slot(model: &Model) -> Option<Refused> {
    let sizes_high = model.sizes_slot.is_some_and(|slot| slot > MAX_SLOT);
    let high = model.resources.iter().find_map(|resource| {
        Some(Refused::SlotTooHigh {
            table: table_too_high(resource.slots)?,
            group: resource.group,
            binding: resource.binding,
        })
    });
    high.or(sizes_high.then_some(Refused::SizesSlotTooHigh))
}

/// The table of the first of a binding's slots that naga's `Slot` does not hold.
fn table_too_high(slots: Slots) -> Option<Table> {
    match slots {
        Slots::One { table, slot } => (slot > MAX_SLOT).then_some(table),
        Slots::External { planes, .. } if planes[2] > MAX_SLOT => Some(Table::Texture),
        Slots::External { parameters, .. } => (parameters > MAX_SLOT).then_some(Table::Buffer),
    }
}
