//! Section 1: one stage of a pipeline layout, and one bind group.

use crate::points::{Counts, Points, Table, is_storage_buffer, mutable, point, table, visibility};
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

/// The most groups that a layout may have (section 1, errors). Absent groups count.
pub const MAX_GROUPS: usize = 8;

/// The highest slot that `naga::back::msl::Slot` holds (section 1, errors).
pub const MAX_SLOT: u32 = 255;

/// The place of one binding that the stage sees: a line of section 1's `Resources`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The binding's group.
    pub group: u32,
    /// The binding's number in its group.
    pub binding: u32,
    /// The table that it takes a slot in.
    pub table: Table,
    /// The slot: the number of visible bindings of that table before this one.
    pub slot: u32,
    /// Whether the shader may write it (section 1, last column of the table).
    pub mutable: bool,
}

/// What section 1 says of one stage of a pipeline layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// `Resources`: every binding visible to the stage and no other, sorted by group, then binding.
    pub slots: Vec<Slot>,
    /// `GroupBase`, one for each group passed; `None` for an absent group.
    pub bases: Vec<Option<Counts>>,
    /// `SizesSlot`; `None` where the seed has -1.
    pub sizes_slot: Option<u32>,
}

/// Why a layout has no slots (section 1, errors).
///
/// The page gives no order among them. [`stage`] says which one it picks where several apply.
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
    /// The stage is none of vertex, fragment, compute, task and mesh.
    UnsupportedStage,
    /// A slot over [`MAX_SLOT`]: the first in binding order, whatever its table.
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
    /// A binding array, of whatever type and whoever sees it: the seed's rule has no place for it.
    BindingArray {
        /// The group of the array.
        group: u32,
        /// Its binding.
        binding: u32,
    },
    /// An external texture, whoever sees it: the seed's rule has no place for it.
    ExternalTexture {
        /// The group of the texture.
        group: u32,
        /// Its binding.
        binding: u32,
    },
}

/// An entry with the point that it stands at.
struct Placed<'a> {
    group: u32,
    point: u64,
    entry: &'a BindGroupLayoutEntry,
}

/// The slots of a pipeline layout for one stage: section 1's rule, as the seed's constructor has it.
///
/// # Errors
///
/// Where several refusals apply, the first of these:
///
/// 1. [`Refused::TooManyGroups`];
/// 2. [`Refused::UnsupportedStage`];
/// 3. at the least `(group, binding)` where one applies: [`Refused::DuplicateBinding`], else
///    [`Refused::BindingArray`] (also for an array of external textures), else [`Refused::ExternalTexture`];
/// 4. [`Refused::SlotTooHigh`] at the least `(group, binding)`;
/// 5. [`Refused::SizesSlotTooHigh`].
pub fn stage(groups: &[Option<&[BindGroupLayoutEntry]>], stage: naga::ShaderStage) -> Result<Model, Refused> {
    if groups.len() > MAX_GROUPS {
        return Err(Refused::TooManyGroups);
    }
    let seen_by = visibility(stage).ok_or(Refused::UnsupportedStage)?;
    let placed = placed(groups);
    refused_binding(&placed).map_or(Ok(()), Err)?;
    let points = points_of(&placed, seen_by);
    let model = Model {
        slots: slots(&placed, &points, seen_by),
        bases: bases(groups, &points),
        sizes_slot: sizes_slot(&placed, &points, seen_by),
    };
    refused_slot(&model).map_or(Ok(model), Err)
}

/// Section 1's `GroupSlots`: for each entry, in the order passed, its place among the group's visible bindings of its
/// table in binding order, `None` where the stage does not see it; and the number of slots that the group takes.
///
/// It refuses nothing. Outside the rule it answers so: a stage that the rule does not have sees nothing; a binding
/// array or an external texture has no place and takes no slot; entries of one number share a place and each count.
/// Compare it on layouts that [`stage`] takes.
pub fn group(entries: &[BindGroupLayoutEntry], stage: naga::ShaderStage) -> (Vec<Option<u32>>, Counts) {
    let seen_by = visibility(stage).unwrap_or(ShaderStages::NONE);
    let placed: Vec<_> = placed_in(0, entries).collect();
    let points = points_of(&placed, seen_by);
    let places = placed
        .iter()
        .map(|at| Some(points.before(table_seen(at.entry, seen_by)?, at.point)));
    (places.collect(), points.totals())
}

/// The table of an entry if the stage sees it and the rule has a place for it.
fn table_seen(entry: &BindGroupLayoutEntry, seen_by: ShaderStages) -> Option<Table> {
    table(entry).filter(|_| entry.visibility.intersects(seen_by))
}

fn placed_in(group: u32, entries: &[BindGroupLayoutEntry]) -> impl Iterator<Item = Placed<'_>> {
    entries.iter().map(move |entry| Placed {
        group,
        point: point(group, entry.binding),
        entry,
    })
}

/// Every entry of every group, in ascending order.
fn placed<'a>(groups: &[Option<&'a [BindGroupLayoutEntry]>]) -> Vec<Placed<'a>> {
    let numbered = (0u32..).zip(groups);
    let mut placed: Vec<_> = numbered
        .flat_map(|(group, entries)| placed_in(group, entries.unwrap_or_default()))
        .collect();
    placed.sort_by_key(|at| at.point);
    placed
}

fn points_of(placed: &[Placed<'_>], seen_by: ShaderStages) -> Points {
    Points::new(
        placed
            .iter()
            .filter_map(|at| Some((table_seen(at.entry, seen_by)?, at.point))),
    )
}

fn slots(placed: &[Placed<'_>], points: &Points, seen_by: ShaderStages) -> Vec<Slot> {
    let slot = |at: &Placed<'_>| {
        let table = table_seen(at.entry, seen_by)?;
        Some(Slot {
            group: at.group,
            binding: at.entry.binding,
            table,
            slot: points.before(table, at.point),
            mutable: mutable(at.entry),
        })
    };
    placed.iter().filter_map(slot).collect()
}

fn bases(groups: &[Option<&[BindGroupLayoutEntry]>], points: &Points) -> Vec<Option<Counts>> {
    (0u32..)
        .zip(groups)
        .map(|(group, entries)| entries.map(|_| points.counts_before(point(group, 0))))
        .collect()
}

fn sizes_slot(placed: &[Placed<'_>], points: &Points, seen_by: ShaderStages) -> Option<u32> {
    placed
        .iter()
        .any(|at| at.entry.visibility.intersects(seen_by) && is_storage_buffer(at.entry))
        .then(|| points.totals().buffers)
}

/// The refusal at the least point that has one; `placed` is in ascending order.
fn refused_binding(placed: &[Placed<'_>]) -> Option<Refused> {
    placed
        .chunk_by(|one, next| one.point == next.point)
        .find_map(refused_at)
}

/// The refusal of the entries that stand at one point.
fn refused_at(same: &[Placed<'_>]) -> Option<Refused> {
    let group = same[0].group;
    let binding = same[0].entry.binding;
    if same.len() > 1 {
        Some(Refused::DuplicateBinding { group, binding })
    } else if same[0].entry.count.is_some() {
        Some(Refused::BindingArray { group, binding })
    } else if same[0].entry.ty == BindingType::ExternalTexture {
        Some(Refused::ExternalTexture { group, binding })
    } else {
        None
    }
}

/// The refusal of slots that naga's `Slot` does not hold.
fn refused_slot(model: &Model) -> Option<Refused> {
    let high = model.slots.iter().find(|slot| slot.slot > MAX_SLOT);
    let sizes_high = model.sizes_slot.is_some_and(|slot| slot > MAX_SLOT);
    high.map(|slot| Refused::SlotTooHigh {
        table: slot.table,
        group: slot.group,
        binding: slot.binding,
    })
    .or(sizes_high.then_some(Refused::SizesSlotTooHigh))
}
