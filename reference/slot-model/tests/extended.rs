//! Section 2 on written-out layouts.

mod common;

use common::*;
use naga::{ResourceBinding, ShaderStage as Stage};
use rstest::rstest;
use slot_model::Table::{Buffer, Sampler, Texture};
use slot_model::{Counts, Extension, Model, Resource, STAGES, Slots};
use slot_model::{dynamic_offsets, extended_stage, group, stage, stages};
use wgpu_types::StorageTextureAccess::{Atomic, ReadWrite, WriteOnly};
use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

const DYNAMIC_UNIFORM: BindingType = dynamic(BufferBindingType::Uniform);
const DYNAMIC_STORAGE: BindingType = dynamic(BufferBindingType::Storage { read_only: false });
const DYNAMIC_READ_ONLY: BindingType = dynamic(BufferBindingType::Storage { read_only: true });

/// The fragment stage with no immediates, of one group.
fn model(entries: &[BindGroupLayoutEntry]) -> Model {
    extended_stage(&[Some(entries)], Stage::Fragment, Extension::default()).expect("a layout within the rule")
}

fn resource(group: u32, binding: u32, slots: Slots, mutable: bool) -> Resource {
    Resource {
        group,
        binding,
        slots,
        mutable,
    }
}

fn length(group: u32, binding: u32, length: u32) -> (ResourceBinding, u32) {
    (ResourceBinding { group, binding }, length)
}

#[rstest]
#[case(0, None, 0)]
#[case(1, Some(0), 1)]
#[case(64, Some(0), 1)]
fn immediates_take_the_first_buffer_slot_of_every_stage(
    #[case] immediate_size: u32,
    #[case] immediates_slot: Option<u32>,
    #[case] sizes_slot: u32,
) {
    for of in STAGES {
        let model = extended_stage(&[], of, extension(immediate_size, false));
        let expected = Model {
            immediates_slot,
            ..Model::default()
        };
        assert_eq!(model, Ok(expected), "{of:?}");
    }
    let pulling = extended_stage(&[], Stage::Vertex, extension(immediate_size, true)).expect("no groups");
    assert_eq!(pulling.sizes_slot, Some(sizes_slot));
}

#[test]
fn immediates_come_before_group_0() {
    let listed = entries(&[UNIFORM, TEXTURE, STORAGE]);
    let groups = [None, Some(&listed[..]), Some(&[])];
    let model = extended_stage(&groups, Stage::Compute, extension(4, false)).expect("within the rule");
    let expected = [(1, 0, Buffer, 1), (1, 1, Texture, 0), (1, 2, Buffer, 2)];
    assert_eq!(places(&model.resources), expected);
    assert_eq!(model.bases, [None, Some(counts(1, 0, 0)), Some(counts(3, 1, 0))]);
    assert_eq!(model.sizes_slot, Some(3));
    let alone = vec![Some(one(Buffer, 0)), Some(one(Texture, 0)), Some(one(Buffer, 1))];
    assert_eq!(group(&listed, Stage::Compute), (alone, counts(2, 1, 0)));
}

#[rstest]
#[case(Stage::Vertex, Some(2))]
#[case(Stage::Fragment, None)]
#[case(Stage::Compute, None)]
#[case(Stage::Task, None)]
#[case(Stage::Mesh, None)]
fn vertex_pulling_reserves_the_vertex_stages_sizes_slot(#[case] of: Stage, #[case] expected: Option<u32>) {
    let listed = entries(&[UNIFORM, TEXTURE, UNIFORM]);
    let sizes_slot = |extension| extended_stage(&[Some(&listed)], of, extension).map(|model| model.sizes_slot);
    assert_eq!(sizes_slot(extension(0, true)), Ok(expected));
    assert_eq!(sizes_slot(extension(0, false)), Ok(None));
}

#[rstest]
#[case(UNIFORM)]
#[case(STORAGE)]
#[case(ACCELERATION)]
#[case(SAMPLER)]
#[case(COMPARISON)]
#[case(TEXTURE)]
#[case::read_write_storage_texture(storage_texture(ReadWrite))]
#[case::atomic_storage_texture(storage_texture(Atomic))]
#[case(EXTERNAL)]
fn an_array_of_any_type_is_one_buffer_and_not_mutable(#[case] ty: BindingType) {
    for length in [1, 9] {
        let listed = [
            entry(0, UNIFORM, ALL),
            array_of(length, entry(3, ty, ALL)),
            entry(5, UNIFORM, ALL),
            entry(6, TEXTURE, ALL),
            entry(7, SAMPLER, ALL),
        ];
        let resources = model(&listed).resources;
        assert_eq!(resources[1], resource(0, 3, one(Buffer, 1), false));
        let after = [(0, 5, Buffer, 2), (0, 6, Texture, 0), (0, 7, Sampler, 0)];
        assert_eq!(places(&resources[2..]), after);
        let (places, taken) = group(&listed, Stage::Fragment);
        assert_eq!((places[1], taken), (Some(one(Buffer, 1)), counts(3, 1, 1)));
    }
}

#[rstest]
#[case::storage(STORAGE, Some(1), Some(6))]
#[case::read_only_storage(READ_ONLY, Some(1), Some(6))]
#[case::uniform(UNIFORM, None, None)]
#[case::acceleration_structure(ACCELERATION, None, None)]
#[case::storage_texture(storage_texture(ReadWrite), None, None)]
#[case::external_texture(EXTERNAL, None, None)]
fn an_array_of_storage_buffers_has_sizes_and_a_length(
    #[case] ty: BindingType,
    #[case] sizes_slot: Option<u32>,
    #[case] listed_length: Option<u32>,
) {
    let model = model(&[array_of(6, entry(2, ty, ALL))]);
    let lengths: Vec<_> = listed_length.map(|listed| length(0, 2, listed)).into_iter().collect();
    assert_eq!((model.sizes_slot, model.array_lengths), (sizes_slot, lengths));
}

#[test]
fn an_unseen_array_has_a_length_and_no_slot() {
    let model = model(&[
        array_of(3, entry(9, STORAGE, ShaderStages::NONE)),
        array_of(5, entry(4, READ_ONLY, ShaderStages::COMPUTE)),
        entry(6, STORAGE, ShaderStages::COMPUTE),
    ]);
    assert_eq!(model.array_lengths, [length(0, 4, 5), length(0, 9, 3)]);
    assert_eq!((model.resources, model.sizes_slot), (vec![], None));
}

#[test]
fn an_external_texture_is_three_textures_and_a_buffer() {
    let listed = [
        entry(0, TEXTURE, ALL),
        entry(1, UNIFORM, ALL),
        entry(2, UNIFORM, ALL),
        entry(3, EXTERNAL, ALL),
        entry(4, EXTERNAL, ALL),
        entry(5, TEXTURE, ALL),
        entry(6, UNIFORM, ALL),
        entry(7, SAMPLER, ALL),
    ];
    let model = model(&listed);
    let first = external([1, 2, 3], 2);
    let second = external([4, 5, 6], 3);
    let externals = [resource(0, 3, first, false), resource(0, 4, second, false)];
    assert_eq!(model.resources[3..5], externals);
    let after = [(0, 5, Texture, 7), (0, 6, Buffer, 4), (0, 7, Sampler, 0)];
    assert_eq!(places(&model.resources[5..]), after);
    assert_eq!(model.sizes_slot, None);
    let (places, taken) = group(&listed, Stage::Fragment);
    assert_eq!((places[4], taken), (Some(second), counts(5, 8, 1)));
}

#[test]
fn the_first_place_in_each_table() {
    let first = |slots: Slots| [Buffer, Texture, Sampler].map(|table| slots.first(table));
    assert_eq!(first(external([4, 5, 6], 3)), [Some(3), Some(4), None]);
    assert_eq!(first(one(Buffer, 7)), [Some(7), None, None]);
    assert_eq!(first(one(Texture, 7)), [None, Some(7), None]);
    assert_eq!(first(one(Sampler, 7)), [None, None, Some(7)]);
}

#[test]
fn dynamic_offsets_go_by_binding_whoever_sees_them() {
    let listed = [
        entry(9, DYNAMIC_READ_ONLY, ShaderStages::NONE),
        entry(0, UNIFORM, ALL),
        entry(7, DYNAMIC_UNIFORM, ALL),
        array(2, DYNAMIC_UNIFORM, ALL),
        entry(4, STORAGE, ALL),
        entry(1, DYNAMIC_STORAGE, ShaderStages::COMPUTE),
        entry(5, TEXTURE, ALL),
    ];
    let expected = [Some(2), None, Some(1), None, None, Some(0), None];
    assert_eq!(dynamic_offsets(&listed), expected);
    assert_eq!(dynamic_offsets(&[]), []);
}

/// Everything of section 2 at once, listed out of order: immediates and vertex pulling, groups 1 absent and 2 empty.
fn everything() -> (Vec<BindGroupLayoutEntry>, Vec<BindGroupLayoutEntry>) {
    let group_0 = vec![
        entry(6, DYNAMIC_READ_ONLY, ShaderStages::FRAGMENT),
        array_of(5, entry(4, DYNAMIC_STORAGE, ShaderStages::COMPUTE)),
        entry(0, DYNAMIC_UNIFORM, ShaderStages::VERTEX_FRAGMENT),
        entry(2, SAMPLER, ALL),
        entry(1, EXTERNAL, ShaderStages::FRAGMENT),
    ];
    let group_3 = vec![
        array_of(7, entry(8, READ_ONLY, ShaderStages::NONE)),
        array_of(2, entry(7, SAMPLER, ALL)),
        entry(3, EXTERNAL, ALL),
        entry(0, TEXTURE, ALL),
        array_of(3, entry(1, EXTERNAL, ShaderStages::VERTEX_FRAGMENT)),
        entry(10, DYNAMIC_UNIFORM, ShaderStages::NONE),
        entry(
            5,
            storage_texture(WriteOnly),
            ShaderStages::FRAGMENT | ShaderStages::COMPUTE,
        ),
    ];
    (group_0, group_3)
}

/// The model of [`everything`] with what differs from stage to stage.
fn everything_at(of: Stage) -> Model {
    let (resources, base_2, sizes_slot): (Vec<_>, Counts, _) = match of {
        Stage::Vertex => (
            vec![
                resource(0, 0, one(Buffer, 1), false),
                resource(0, 2, one(Sampler, 0), false),
                resource(3, 0, one(Texture, 0), false),
                resource(3, 1, one(Buffer, 2), false),
                resource(3, 3, external([1, 2, 3], 3), false),
                resource(3, 7, one(Buffer, 4), false),
            ],
            counts(2, 0, 1),
            Some(5),
        ),
        Stage::Fragment => (
            vec![
                resource(0, 0, one(Buffer, 1), false),
                resource(0, 1, external([0, 1, 2], 2), false),
                resource(0, 2, one(Sampler, 0), false),
                resource(0, 6, one(Buffer, 3), false),
                resource(3, 0, one(Texture, 3), false),
                resource(3, 1, one(Buffer, 4), false),
                resource(3, 3, external([4, 5, 6], 5), false),
                resource(3, 5, one(Texture, 7), true),
                resource(3, 7, one(Buffer, 6), false),
            ],
            counts(4, 3, 1),
            Some(7),
        ),
        Stage::Compute => (
            vec![
                resource(0, 2, one(Sampler, 0), false),
                resource(0, 4, one(Buffer, 1), false),
                resource(3, 0, one(Texture, 0), false),
                resource(3, 3, external([1, 2, 3], 2), false),
                resource(3, 5, one(Texture, 4), true),
                resource(3, 7, one(Buffer, 3), false),
            ],
            counts(2, 0, 1),
            Some(4),
        ),
        _ => (
            vec![
                resource(0, 2, one(Sampler, 0), false),
                resource(3, 0, one(Texture, 0), false),
                resource(3, 3, external([1, 2, 3], 1), false),
                resource(3, 7, one(Buffer, 2), false),
            ],
            counts(1, 0, 1),
            None,
        ),
    };
    Model {
        resources,
        bases: vec![Some(counts(1, 0, 0)), None, Some(base_2), Some(base_2)],
        sizes_slot,
        immediates_slot: Some(0),
        array_lengths: vec![length(0, 4, 5), length(3, 8, 7)],
    }
}

#[test]
fn everything_by_hand() {
    let (group_0, group_3) = everything();
    let groups = [Some(&group_0[..]), None, Some(&[]), Some(&group_3[..])];
    let extension = extension(16, true);
    for (of, answer) in STAGES.into_iter().zip(stages(&groups, extension)) {
        assert_eq!(answer, Ok(everything_at(of)), "{of:?}");
        assert_eq!(answer, extended_stage(&groups, of, extension));
    }
}

#[test]
fn everything_by_hand_at_the_bind() {
    let (group_0, group_3) = everything();
    let expected = vec![
        Some(one(Buffer, 2)),
        None,
        Some(one(Buffer, 0)),
        Some(one(Sampler, 0)),
        Some(external([0, 1, 2], 1)),
    ];
    assert_eq!(group(&group_0, Stage::Fragment), (expected, counts(3, 3, 1)));
    let expected = vec![
        None,
        Some(one(Buffer, 2)),
        Some(external([1, 2, 3], 1)),
        Some(one(Texture, 0)),
        Some(one(Buffer, 0)),
        None,
        Some(one(Texture, 4)),
    ];
    assert_eq!(group(&group_3, Stage::Fragment), (expected, counts(3, 5, 0)));
    assert_eq!(dynamic_offsets(&group_0), [Some(1), None, Some(0), None, None]);
    let of_3 = [None, None, None, None, None, Some(0), None];
    assert_eq!(dynamic_offsets(&group_3), of_3);
}

#[test]
fn with_nothing_of_section_2_it_is_section_1s() {
    let first = entries(&[STORAGE, TEXTURE, SAMPLER, storage_texture(Atomic), ACCELERATION]);
    let second = [
        entry(3, READ_ONLY, ShaderStages::VERTEX),
        entry(1, DYNAMIC_UNIFORM, ShaderStages::COMPUTE),
    ];
    let groups = [Some(&first[..]), None, Some(&second[..])];
    for (of, answer) in STAGES.into_iter().zip(stages(&groups, extension(0, false))) {
        assert_eq!(answer, stage(&groups, of));
        assert_eq!(answer.map(|model| model.bases[2]), Ok(Some(counts(2, 2, 1))));
    }
}
