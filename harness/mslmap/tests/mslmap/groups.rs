//! One bind group: tables, slots, dynamic offsets.

use mslmap::{Counts, EntrySlots, Kind, dynamic_offsets, entry_kind, group_slots, is_storage_buffer, sort_entries};
use naga::ShaderStage;
use rstest::rstest;
use wgpu_types::{BindingType, BufferBindingType, ShaderStages, StorageTextureAccess};

use crate::shorthand::*;

#[rstest]
#[case::uniform(UNIFORM, Kind::Buffer, false)]
#[case::storage(STORAGE, Kind::Buffer, true)]
#[case::read_only_storage(READ_ONLY, Kind::Buffer, true)]
#[case::acceleration_structure(ACCELERATION, Kind::Buffer, false)]
#[case::sampler(SAMPLER, Kind::Sampler, false)]
#[case::comparison_sampler(COMPARISON, Kind::Sampler, false)]
#[case::texture(TEXTURE, Kind::Texture, false)]
#[case::storage_texture(storage_texture(StorageTextureAccess::WriteOnly), Kind::Texture, false)]
#[case::external_texture(EXTERNAL, Kind::None, false)]
fn table_of_a_binding(#[case] ty: BindingType, #[case] table: Kind, #[case] storage: bool) {
    assert_eq!(entry_kind(&entry(0, ty)), table);
    assert_eq!(is_storage_buffer(&entry(0, ty)), storage);
}

#[rstest]
#[case::storage(STORAGE, true)]
#[case::read_only_storage(READ_ONLY, true)]
#[case::uniform(UNIFORM, false)]
#[case::texture(TEXTURE, false)]
#[case::sampler(SAMPLER, false)]
#[case::external_texture(EXTERNAL, false)]
fn an_array_is_one_argument_buffer(#[case] ty: BindingType, #[case] storage: bool, #[values(1, 500)] count: u32) {
    let array = array(0, ty, count);
    assert_eq!(entry_kind(&array), Kind::Buffer);
    assert_eq!(is_storage_buffer(&array), storage);
    assert_eq!(
        group_slots(&[array], ShaderStage::Vertex),
        (vec![in_buffers(0)], counts(1, 0, 0))
    );
}

#[test]
fn entries_sort_by_number_and_stay_as_they_were() {
    let listed = [entry(u32::MAX, TEXTURE), entry(0, UNIFORM), entry(7, SAMPLER)];
    assert_eq!(
        sort_entries(&listed),
        [entry(0, UNIFORM), entry(7, SAMPLER), entry(u32::MAX, TEXTURE)]
    );
    assert_eq!(listed[0].binding, u32::MAX);
    assert_eq!(sort_entries(&[]), []);
}

#[test]
fn each_table_counts_by_itself() {
    let entries = [
        entry(0, UNIFORM),
        entry(1, TEXTURE),
        entry(2, SAMPLER),
        entry(3, STORAGE),
        entry(4, TEXTURE),
    ];
    let slots = vec![
        in_buffers(0),
        in_textures(0),
        in_samplers(0),
        in_buffers(1),
        in_textures(1),
    ];
    assert_eq!(group_slots(&entries, ShaderStage::Fragment), (slots, counts(2, 2, 1)));
}

#[test]
fn slots_follow_numbers_and_the_answer_follows_the_list() {
    let entries = [
        entry(9, UNIFORM),
        entry(2, TEXTURE),
        entry(4, STORAGE),
        entry(0, ACCELERATION),
    ];
    let slots = vec![in_buffers(2), in_textures(0), in_buffers(1), in_buffers(0)];
    assert_eq!(group_slots(&entries, ShaderStage::Compute), (slots, counts(3, 1, 0)));
}

#[rstest]
#[case(ShaderStage::Vertex, vec![Some(0), None, Some(1), None, None, None])]
#[case(ShaderStage::Fragment, vec![None, Some(0), Some(1), None, None, None])]
#[case(ShaderStage::Compute, vec![None, None, None, Some(0), None, None])]
#[case(ShaderStage::Task, vec![None, None, None, None, Some(0), None])]
#[case(ShaderStage::Mesh, vec![None, None, None, None, None, Some(0)])]
fn a_stage_counts_what_it_sees(#[case] stage: ShaderStage, #[case] buffers: Vec<Option<u32>>) {
    let entries = [
        seen_by(ShaderStages::VERTEX, 0, UNIFORM),
        seen_by(ShaderStages::FRAGMENT, 1, UNIFORM),
        seen_by(ShaderStages::VERTEX_FRAGMENT, 2, UNIFORM),
        seen_by(ShaderStages::COMPUTE, 3, UNIFORM),
        seen_by(ShaderStages::TASK, 4, UNIFORM),
        seen_by(ShaderStages::MESH, 5, UNIFORM),
    ];
    let taken = buffers.iter().flatten().count() as u32;
    let slots = buffers
        .into_iter()
        .map(|buffer| EntrySlots { buffer, ..UNSEEN })
        .collect();
    assert_eq!(group_slots(&entries, stage), (slots, counts(taken, 0, 0)));
}

#[test]
fn an_entry_that_no_stage_sees_takes_nothing() {
    let entries = [seen_by(ShaderStages::NONE, 0, UNIFORM), entry(1, UNIFORM)];
    assert_eq!(
        group_slots(&entries, ShaderStage::Vertex),
        (vec![UNSEEN, in_buffers(0)], counts(1, 0, 0))
    );
}

#[test]
fn an_external_texture_takes_three_textures_and_a_buffer() {
    let entries = [
        entry(3, UNIFORM),
        entry(0, TEXTURE),
        entry(1, EXTERNAL),
        entry(2, TEXTURE),
        seen_by(ShaderStages::COMPUTE, 4, EXTERNAL),
    ];
    let external = EntrySlots {
        buffer: Some(0),
        texture: Some(1),
        sampler: None,
    };
    let slots = vec![in_buffers(1), in_textures(0), external, in_textures(4), UNSEEN];
    assert_eq!(group_slots(&entries, ShaderStage::Fragment), (slots, counts(2, 5, 0)));
}

#[test]
fn an_empty_group_takes_nothing() {
    assert_eq!(group_slots(&[], ShaderStage::Vertex), (vec![], Counts::default()));
}

#[test]
fn a_hundred_thousand_entries_have_their_slots() {
    let entries: Vec<_> = (0..100_000).map(|index| entry(u32::MAX - index, UNIFORM)).collect();
    let (slots, taken) = group_slots(&entries, ShaderStage::Vertex);
    assert_eq!(
        (slots[0], slots[99_999], taken),
        (in_buffers(99_999), in_buffers(0), counts(100_000, 0, 0))
    );
}

#[test]
fn a_count_is_read_by_table() {
    let counts = counts(3, 2, 1);
    assert_eq!(counts.in_table(Kind::Buffer), Some(3));
    assert_eq!(counts.in_table(Kind::Texture), Some(2));
    assert_eq!(counts.in_table(Kind::Sampler), Some(1));
    assert_eq!(counts.in_table(Kind::None), None);
}

#[test]
fn dynamic_offsets_go_by_number_visible_or_not() {
    let dynamic = |ty| BindingType::Buffer {
        ty,
        has_dynamic_offset: true,
        min_binding_size: None,
    };
    let entries = [
        entry(8, dynamic(BufferBindingType::Storage { read_only: true })),
        entry(3, UNIFORM),
        seen_by(ShaderStages::NONE, 5, dynamic(BufferBindingType::Uniform)),
        array(1, dynamic(BufferBindingType::Uniform), 2),
        entry(2, TEXTURE),
        entry(0, dynamic(BufferBindingType::Uniform)),
    ];
    assert_eq!(dynamic_offsets(&entries), [Some(2), None, Some(1), None, None, Some(0)]);
    assert_eq!(dynamic_offsets(&[]), []);
}
