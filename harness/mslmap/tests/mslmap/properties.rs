//! What holds of every layout.

use mslmap::{Kind, StageLayout, entry_kind, group_slots, is_storage_buffer, sort_entries};
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
const STAGES: [(ShaderStage, ShaderStages); 5] = [
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
    ])
}

/// Entries with different numbers, near and far, in any order.
fn any_group() -> impl Strategy<Value = Vec<BindGroupLayoutEntry>> {
    let number = prop_oneof![0..24u32, any::<u32>()];
    let rest = ((0..512u32).prop_map(ShaderStages::from_bits_truncate), any_type());
    btree_map(number, rest, 0..12)
        .prop_map(|entries| {
            entries
                .into_iter()
                .map(|(number, (sees, ty))| seen_by(sees, number, ty))
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

fn laid_out(groups: &Groups, stage: ShaderStage) -> StageLayout {
    let groups: Vec<_> = groups.iter().map(Option::as_deref).collect();
    StageLayout::new(&groups, stage).expect("a layout")
}

/// The one table and slot that a target has.
fn table_and_slot(target: &BindTarget) -> (Kind, u32) {
    match target {
        BindTarget {
            buffer: Some(slot),
            texture: None,
            sampler: None,
            external_texture: None,
            ..
        } => (Kind::Buffer, u32::from(*slot)),
        BindTarget {
            buffer: None,
            texture: Some(slot),
            sampler: None,
            external_texture: None,
            ..
        } => (Kind::Texture, u32::from(*slot)),
        BindTarget {
            buffer: None,
            texture: None,
            sampler: Some(BindSamplerTarget::Resource(slot)),
            external_texture: None,
            ..
        } => (Kind::Sampler, u32::from(*slot)),
        _ => panic!("{target:?} is not in one table"),
    }
}

proptest! {
    #[test]
    fn the_order_of_entries_changes_nothing((groups, permuted) in permuted(), stage in select(&STAGES[..])) {
        prop_assert_eq!(laid_out(&groups, stage.0), laid_out(&permuted, stage.0));
    }

    #[test]
    fn an_invisible_binding_changes_nothing(
        groups in any_groups(),
        numbers in vec(any::<u32>(), 8),
        ty in any_type(),
        stage in select(&STAGES[..]),
    ) {
        let mut more = groups.clone();
        for (group, number) in more.iter_mut().zip(numbers) {
            if let Some(entries) = group
                && entries.iter().all(|entry| entry.binding != number)
            {
                entries.push(seen_by(ShaderStages::all() - stage.1, number, ty));
            }
        }
        prop_assert_eq!(laid_out(&groups, stage.0), laid_out(&more, stage.0));
    }

    /// In binding order each table's slots are 0, 1, 2, ..., and just the visible bindings have one. With the kind of each
    /// this says the whole of the rule.
    #[test]
    fn slots_are_dense_in_binding_order(groups in any_groups(), stage in select(&STAGES[..])) {
        let layout = laid_out(&groups, stage.0);
        let mut next = [0u32; 3];
        let mut visible = 0;
        for (group, entries) in (0u32..).zip(&groups) {
            for entry in sort_entries(entries.as_deref().unwrap_or_default()) {
                let target = layout.resources.get(&at(group, entry.binding));
                prop_assert_eq!(target.is_some(), entry.visibility.contains(stage.1));
                let Some(target) = target else { continue };
                visible += 1;
                let (table, slot) = table_and_slot(target);
                prop_assert_eq!(table, entry_kind(&entry));
                let index = [Kind::Buffer, Kind::Texture, Kind::Sampler].iter().position(|&k| k == table).expect("a table");
                prop_assert_eq!(slot, next[index]);
                next[index] += 1;
            }
        }
        prop_assert_eq!(layout.resources.len(), visible);
        let storage = groups.iter().flatten().flatten().any(|e| is_storage_buffer(e) && e.visibility.contains(stage.1));
        prop_assert_eq!(layout.sizes_slot.map(u32::from), storage.then_some(next[0]));
    }

    /// What an encoder binds is what the shader reads, however the entries are listed.
    #[test]
    fn base_plus_group_slot_is_the_slot(groups in any_groups(), stage in select(&STAGES[..])) {
        let layout = laid_out(&groups, stage.0);
        let mut end = counts(0, 0, 0);
        for (group, entries) in groups.iter().enumerate() {
            let base = layout.group_base[group];
            prop_assert_eq!(base.is_some(), entries.is_some());
            let (Some(base), Some(entries)) = (base, entries) else { continue };
            prop_assert_eq!(base, end);
            let (slots, taken) = group_slots(entries, stage.0);
            for (entry, slot) in entries.iter().zip(slots) {
                let there = layout.resources.get(&at(group as u32, entry.binding)).map(table_and_slot);
                let table = entry_kind(entry);
                let here = slot.map(|slot| (table, base.in_table(table).expect("a table") + slot));
                prop_assert_eq!(here, there);
            }
            end = counts(base.buffers + taken.buffers, base.textures + taken.textures, base.samplers + taken.samplers);
        }
    }
}
