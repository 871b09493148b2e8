//! Whole pipeline layouts that are accepted.

use litemap::LiteMap;
use mslmap::{MAX_GROUPS, STAGES, StageLayout};
use naga::ShaderStage;
use naga::back::msl::BindTarget;
use rstest::rstest;
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages, StorageTextureAccess};

use crate::shorthand::*;

fn laid_out(groups: &[Option<&[BindGroupLayoutEntry]>], stage: ShaderStage) -> StageLayout {
    StageLayout::new(groups, stage).expect("a layout")
}

#[rstest]
#[case::uniform(UNIFORM, buffer_slot(0, false))]
#[case::storage(STORAGE, buffer_slot(0, true))]
#[case::read_only_storage(READ_ONLY, buffer_slot(0, false))]
#[case::acceleration_structure(ACCELERATION, buffer_slot(0, false))]
#[case::acceleration_structure_vertices(BindingType::AccelerationStructure { vertex_return: true }, buffer_slot(0, false))]
#[case::sampler(SAMPLER, sampler_slot(0))]
#[case::comparison_sampler(COMPARISON, sampler_slot(0))]
#[case::texture(TEXTURE, texture_slot(0, false))]
#[case::read_texture(storage_texture(StorageTextureAccess::ReadOnly), texture_slot(0, false))]
#[case::write_texture(storage_texture(StorageTextureAccess::WriteOnly), texture_slot(0, true))]
#[case::read_write_texture(storage_texture(StorageTextureAccess::ReadWrite), texture_slot(0, true))]
#[case::atomic_texture(storage_texture(StorageTextureAccess::Atomic), texture_slot(0, true))]
fn each_binding_goes_to_its_table(#[case] ty: BindingType, #[case] target: BindTarget) {
    for stage in STAGES {
        let layout = laid_out(&[Some(&[entry(3, ty)])], stage);
        assert_eq!(layout.resources, LiteMap::from_iter([(at(0, 3), target.clone())]));
        assert_eq!(layout.stage, stage);
    }
}

#[rstest]
#[case::after_every_buffer(vec![entry(0, STORAGE), entry(1, TEXTURE), entry(2, UNIFORM)], Some(2))]
#[case::read_only(vec![entry(0, READ_ONLY)], Some(1))]
#[case::no_storage(vec![entry(0, UNIFORM), entry(1, ACCELERATION)], None)]
#[case::storage_texture(vec![entry(0, storage_texture(StorageTextureAccess::ReadWrite))], None)]
#[case::storage_for_another_stage(vec![entry(0, UNIFORM), seen_by(ShaderStages::COMPUTE, 1, STORAGE)], None)]
#[case::empty(vec![], None)]
fn sizes_slot(
    #[case] entries: Vec<BindGroupLayoutEntry>,
    #[case] slot: Option<u8>,
    // The vertex stage too: reserving a slot for vertex pulling is not section 1's rule.
    #[values(ShaderStage::Vertex, ShaderStage::Fragment, ShaderStage::Mesh)] stage: ShaderStage,
) {
    assert_eq!(laid_out(&[Some(&entries)], stage).sizes_slot, slot);
}

#[test]
fn sizes_slot_comes_after_the_last_group() {
    let layout = laid_out(
        &[Some(&[entry(0, STORAGE)]), Some(&[entry(0, UNIFORM)])],
        ShaderStage::Compute,
    );
    assert_eq!(layout.resources[&at(1, 0)], buffer_slot(1, false));
    assert_eq!(layout.sizes_slot, Some(2));
}

#[test]
fn groups_follow_one_another_in_each_table() {
    let first = [entry(0, UNIFORM), entry(1, TEXTURE), entry(2, SAMPLER)];
    let second = [entry(0, TEXTURE), entry(1, READ_ONLY), entry(2, TEXTURE)];
    let third = [entry(5, COMPARISON), entry(6, TEXTURE)];
    let layout = laid_out(&[Some(&first), Some(&second), Some(&third)], ShaderStage::Fragment);
    assert_eq!(
        layout.group_base,
        [Some(counts(0, 0, 0)), Some(counts(1, 1, 1)), Some(counts(2, 3, 1))]
    );
    let expected = [
        (at(0, 0), buffer_slot(0, false)),
        (at(0, 1), texture_slot(0, false)),
        (at(0, 2), sampler_slot(0)),
        (at(1, 0), texture_slot(1, false)),
        (at(1, 1), buffer_slot(1, false)),
        (at(1, 2), texture_slot(2, false)),
        (at(2, 5), sampler_slot(1)),
        (at(2, 6), texture_slot(3, false)),
    ];
    assert_eq!(layout.resources, LiteMap::from_iter(expected));
    assert_eq!(layout.sizes_slot, Some(2));
}

#[test]
fn each_stage_counts_only_what_it_sees() {
    let first = [
        seen_by(ShaderStages::VERTEX, 0, UNIFORM),
        seen_by(ShaderStages::FRAGMENT, 1, READ_ONLY),
        seen_by(ShaderStages::VERTEX_FRAGMENT, 2, UNIFORM),
    ];
    let second = [
        seen_by(ShaderStages::FRAGMENT, 0, UNIFORM),
        seen_by(ShaderStages::COMPUTE, 1, STORAGE),
    ];
    let groups: [Option<&[_]>; 2] = [Some(&first), Some(&second)];

    let vertex = laid_out(&groups, ShaderStage::Vertex);
    let expected = [(at(0, 0), buffer_slot(0, false)), (at(0, 2), buffer_slot(1, false))];
    assert_eq!(vertex.resources, LiteMap::from_iter(expected));
    assert_eq!(vertex.group_base, [Some(counts(0, 0, 0)), Some(counts(2, 0, 0))]);
    assert_eq!(vertex.sizes_slot, None);

    let fragment = laid_out(&groups, ShaderStage::Fragment);
    let expected = [
        (at(0, 1), buffer_slot(0, false)),
        (at(0, 2), buffer_slot(1, false)),
        (at(1, 0), buffer_slot(2, false)),
    ];
    assert_eq!(fragment.resources, LiteMap::from_iter(expected));
    assert_eq!(fragment.group_base, [Some(counts(0, 0, 0)), Some(counts(2, 0, 0))]);
    assert_eq!(fragment.sizes_slot, Some(3));

    let compute = laid_out(&groups, ShaderStage::Compute);
    assert_eq!(
        compute.resources,
        LiteMap::from_iter([(at(1, 1), buffer_slot(0, true))])
    );
    assert_eq!(compute.sizes_slot, Some(1));
}

#[test]
fn an_absent_group_has_no_base_and_an_empty_one_has_the_next() {
    let groups: [Option<&[_]>; 5] = [
        None,
        Some(&[entry(0, UNIFORM)]),
        Some(&[]),
        None,
        Some(&[entry(0, UNIFORM), entry(1, SAMPLER)]),
    ];
    let layout = laid_out(&groups, ShaderStage::Vertex);
    let base = [
        None,
        Some(counts(0, 0, 0)),
        Some(counts(1, 0, 0)),
        None,
        Some(counts(1, 0, 0)),
    ];
    assert_eq!(layout.group_base, base);
    assert_eq!(layout.resources[&at(4, 0)], buffer_slot(1, false));
    assert_eq!(layout.resources.len(), 3);
}

#[test]
fn no_groups_is_a_layout() {
    let layout = laid_out(&[], ShaderStage::Vertex);
    assert_eq!(layout.resources, LiteMap::new_vec());
    assert_eq!(layout.group_base, []);
    assert_eq!(layout.sizes_slot, None);
}

#[test]
fn eight_groups_are_a_layout() {
    assert_eq!(MAX_GROUPS, 8);
    let group = [entry(0, UNIFORM)];
    let layout = laid_out(&[Some(&group[..]); 8], ShaderStage::Compute);
    assert_eq!(layout.resources[&at(7, 0)], buffer_slot(7, false));
}

#[test]
fn the_last_slot_is_255() {
    for (ty, target) in [
        (UNIFORM, buffer_slot(255, false)),
        (TEXTURE, texture_slot(255, false)),
        (SAMPLER, sampler_slot(255)),
    ] {
        let entries = many(256, ty);
        // The base of what follows is 256: a base is no u8.
        let layout = laid_out(&[Some(&entries), Some(&[])], ShaderStage::Vertex);
        assert_eq!(layout.resources[&at(0, 255)], target);
        let base = layout.group_base[1].expect("a base");
        assert_eq!(base.buffers + base.textures + base.samplers, 256);
    }
}

#[test]
fn the_last_sizes_slot_is_255() {
    let layout = laid_out(&[Some(&many(255, STORAGE))], ShaderStage::Vertex);
    assert_eq!(layout.sizes_slot, Some(255));
}

#[test]
fn a_hundred_thousand_entries_for_other_stages_are_a_layout() {
    let mut entries: Vec<_> = (0..100_000)
        .map(|index| seen_by(ShaderStages::FRAGMENT, u32::MAX - 1 - index, STORAGE))
        .collect();
    entries.push(entry(u32::MAX, UNIFORM));
    entries.push(entry(0, UNIFORM));
    let layout = laid_out(&[Some(&entries[..]); 8], ShaderStage::Vertex);
    assert_eq!(layout.resources.len(), 16);
    assert_eq!(layout.resources[&at(0, u32::MAX)], buffer_slot(1, false));
    assert_eq!(layout.resources[&at(7, u32::MAX)], buffer_slot(15, false));
    assert_eq!(layout.sizes_slot, None);
}
