//! What holds of every layout.

use std::num::NonZeroU32;

use mslmap::{
    Counts, EntrySlots, Extension, Kind, STAGES, StageLayout, entry_kind, group_slots, is_storage_buffer, sort_entries,
};
use naga::ShaderStage;
use naga::back::msl::{BindSamplerTarget, BindTarget};
use proptest::collection::{btree_map, vec};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages, StorageTextureAccess};

use crate::shorthand::*;

type Groups = Vec<Option<Vec<BindGroupLayoutEntry>>>;

/// The five stages, each with its bit.
const STAGE_BITS: [(ShaderStage, ShaderStages); 5] = [
    (ShaderStage::Vertex, ShaderStages::VERTEX),
    (ShaderStage::Fragment, ShaderStages::FRAGMENT),
    (ShaderStage::Compute, ShaderStages::COMPUTE),
    (ShaderStage::Task, ShaderStages::TASK),
    (ShaderStage::Mesh, ShaderStages::MESH),
];

fn any_type() -> impl Strategy<Value = BindingType> {
    select(vec![
        UNIFORM,
        STORAGE,
        READ_ONLY,
        ACCELERATION,
        SAMPLER,
        COMPARISON,
        TEXTURE,
        storage_texture(StorageTextureAccess::ReadOnly),
        storage_texture(StorageTextureAccess::Atomic),
        EXTERNAL,
    ])
}

/// The `count` of an entry: mostly none.
fn any_count() -> impl Strategy<Value = Option<NonZeroU32>> {
    weighted(
        0.2,
        (1..=u32::MAX).prop_map(|count| NonZeroU32::new(count).expect("not 0")),
    )
}

fn any_extension() -> impl Strategy<Value = Extension> {
    (select(vec![0, 4, u32::MAX]), any::<bool>()).prop_map(|(immediate_size, vertex_pulling)| Extension {
        immediate_size,
        vertex_pulling,
    })
}

/// Entries with different numbers, near and far, in any order.
fn any_group() -> impl Strategy<Value = Vec<BindGroupLayoutEntry>> {
    let number = prop_oneof![0..24u32, any::<u32>()];
    let rest = (
        (0..512u32).prop_map(ShaderStages::from_bits_truncate),
        any_type(),
        any_count(),
    );
    btree_map(number, rest, 0..12)
        .prop_map(|entries| {
            entries
                .into_iter()
                .map(|(number, (sees, ty, count))| BindGroupLayoutEntry {
                    count,
                    ..seen_by(sees, number, ty)
                })
                .collect::<Vec<_>>()
        })
        .prop_shuffle()
}

fn any_groups() -> impl Strategy<Value = Groups> {
    vec(weighted(0.8, any_group()), 0..=8)
}

/// A layout's groups, and the same with each group's entries in another order.
fn permuted() -> impl Strategy<Value = (Groups, Groups)> {
    any_groups().prop_flat_map(|groups| {
        let shuffled: Vec<_> = groups
            .iter()
            .map(|group| Just(group.clone().unwrap_or_default()).prop_shuffle())
            .collect();
        (Just(groups), shuffled).prop_map(|(groups, shuffled)| {
            let same = groups
                .iter()
                .zip(shuffled)
                .map(|(group, shuffled)| group.as_ref().map(|_| shuffled))
                .collect();
            (groups, same)
        })
    })
}

/// The same without what only section 2 of the spec has.
fn without_extension(mut groups: Groups) -> Groups {
    for entry in groups.iter_mut().flatten().flatten() {
        entry.count = None;
        if entry.ty == EXTERNAL {
            entry.ty = TEXTURE;
        }
    }
    groups
}

fn laid_out(groups: &Groups, stage: ShaderStage, extension: Extension) -> StageLayout {
    StageLayout::extended(&borrowed(groups), stage, extension).expect("a layout")
}

fn borrowed(groups: &Groups) -> Vec<Option<&[BindGroupLayoutEntry]>> {
    groups.iter().map(Option::as_deref).collect()
}

/// The first slot of a target in each table.
fn first_slots(target: &BindTarget) -> EntrySlots {
    let (buffer, texture) = match &target.external_texture {
        Some(external) => {
            let [first, second, third] = external.planes.map(u32::from);
            assert_eq!([second, third], [first + 1, first + 2]);
            assert_eq!((target.buffer, target.texture), (None, None));
            (Some(u32::from(external.params)), Some(first))
        }
        None => (target.buffer.map(u32::from), target.texture.map(u32::from)),
    };
    let sampler = target.sampler.as_ref().map(|sampler| match sampler {
        BindSamplerTarget::Resource(slot) => u32::from(*slot),
        BindSamplerTarget::Inline(_) => panic!("{sampler:?} is no slot"),
    });
    EntrySlots {
        buffer,
        texture,
        sampler,
    }
}

/// The slots that a visible entry takes at the first free ones, which move on.
fn take(entry: &BindGroupLayoutEntry, next: &mut Counts) -> EntrySlots {
    let before = *next;
    match entry_kind(entry) {
        Kind::Buffer => {
            next.buffers += 1;
            in_buffers(before.buffers)
        }
        Kind::Texture => {
            next.textures += 1;
            in_textures(before.textures)
        }
        Kind::Sampler => {
            next.samplers += 1;
            in_samplers(before.samplers)
        }
        Kind::None => {
            next.textures += 3;
            next.buffers += 1;
            EntrySlots {
                buffer: Some(before.buffers),
                texture: Some(before.textures),
                sampler: None,
            }
        }
    }
}

proptest! {
    #[test]
    fn with_nothing_of_section_2_it_is_new(groups in any_groups(), stage in select(&STAGE_BITS[..])) {
        let groups = without_extension(groups);
        prop_assert_eq!(
            StageLayout::extended(&borrowed(&groups), stage.0, Extension::default()),
            StageLayout::new(&borrowed(&groups), stage.0)
        );
    }

    #[test]
    fn all_stages_are_each_of_them(groups in any_groups(), extension in any_extension()) {
        let each = STAGES.map(|stage| StageLayout::extended(&borrowed(&groups), stage, extension));
        prop_assert_eq!(StageLayout::all_stages(&borrowed(&groups), extension), each);
    }

    #[test]
    fn the_order_of_entries_changes_nothing(
        (groups, permuted) in permuted(),
        stage in select(&STAGE_BITS[..]),
        extension in any_extension(),
    ) {
        prop_assert_eq!(laid_out(&groups, stage.0, extension), laid_out(&permuted, stage.0, extension));
    }

    #[test]
    fn an_invisible_binding_changes_nothing(
        groups in any_groups(),
        numbers in vec(any::<u32>(), 8),
        ty in any_type(),
        stage in select(&STAGE_BITS[..]),
        extension in any_extension(),
    ) {
        let mut more = groups.clone();
        for (group, number) in more.iter_mut().zip(numbers) {
            if let Some(entries) = group
                && entries.iter().all(|entry| entry.binding != number)
            {
                entries.push(seen_by(ShaderStages::all() - stage.1, number, ty));
            }
        }
        prop_assert_eq!(laid_out(&groups, stage.0, extension), laid_out(&more, stage.0, extension));
    }

    /// In binding order each table's slots follow one another without a gap, and just the visible bindings have one. With the
    /// kind of each this says the whole of the rule.
    #[test]
    fn slots_are_dense_in_binding_order(
        groups in any_groups(),
        stage in select(&STAGE_BITS[..]),
        extension in any_extension(),
    ) {
        let layout = laid_out(&groups, stage.0, extension);
        let has_immediates = extension.immediate_size != 0;
        prop_assert_eq!(layout.immediates_slot, has_immediates.then_some(0));
        let mut next = counts(u32::from(has_immediates), 0, 0);
        let mut visible = 0;
        for (group, entries) in (0u32..).zip(&groups) {
            for entry in sort_entries(entries.as_deref().unwrap_or_default()) {
                let target = layout.resources.get(&at(group, entry.binding));
                prop_assert_eq!(target.is_some(), entry.visibility.contains(stage.1));
                let Some(target) = target else { continue };
                visible += 1;
                prop_assert_eq!(first_slots(target), take(&entry, &mut next));
            }
        }
        prop_assert_eq!(layout.resources.len(), visible);
        let storage = groups.iter().flatten().flatten().any(|e| is_storage_buffer(e) && e.visibility.contains(stage.1));
        let pulls = extension.vertex_pulling && stage.0 == ShaderStage::Vertex;
        prop_assert_eq!(layout.sizes_slot.map(u32::from), (storage || pulls).then_some(next.buffers));
    }

    /// What an encoder binds is what the shader reads, however the entries are listed.
    #[test]
    fn base_plus_group_slot_is_the_slot(
        groups in any_groups(),
        stage in select(&STAGE_BITS[..]),
        extension in any_extension(),
    ) {
        let layout = laid_out(&groups, stage.0, extension);
        let mut end = counts(u32::from(extension.immediate_size != 0), 0, 0);
        for (group, entries) in groups.iter().enumerate() {
            let base = layout.group_base[group];
            prop_assert_eq!(base.is_some(), entries.is_some());
            let (Some(base), Some(entries)) = (base, entries) else { continue };
            prop_assert_eq!(base, end);
            let (slots, taken) = group_slots(entries, stage.0);
            for (entry, slots) in entries.iter().zip(slots) {
                let there = layout.resources.get(&at(group as u32, entry.binding)).map_or(UNSEEN, first_slots);
                let here = EntrySlots {
                    buffer: slots.buffer.map(|slot| base.buffers + slot),
                    texture: slots.texture.map(|slot| base.textures + slot),
                    sampler: slots.sampler.map(|slot| base.samplers + slot),
                };
                prop_assert_eq!(here, there);
            }
            end = counts(base.buffers + taken.buffers, base.textures + taken.textures, base.samplers + taken.samplers);
        }
    }
}
