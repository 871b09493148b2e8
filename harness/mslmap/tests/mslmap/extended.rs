//! Section 2 of the spec: what wgpu-hal lays out beyond section 1.

use std::collections::BTreeMap;

use litemap::LiteMap;
use mslmap::{Extension, Kind, LayoutError, STAGES, StageLayout};
use naga::ShaderStage;
use naga::back::msl::{BindTarget, write_string};
use rstest::rstest;
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages, StorageTextureAccess};

use crate::shorthand::*;

const NOTHING: Extension = extension(0, false);

const fn extension(immediate_size: u32, vertex_pulling: bool) -> Extension {
    Extension {
        immediate_size,
        vertex_pulling,
    }
}

fn laid_out(groups: &[Option<&[BindGroupLayoutEntry]>], stage: ShaderStage, extension: Extension) -> StageLayout {
    StageLayout::extended(groups, stage, extension).expect("a layout")
}

fn refused(groups: &[Option<&[BindGroupLayoutEntry]>], stage: ShaderStage, extension: Extension) -> LayoutError {
    StageLayout::extended(groups, stage, extension).expect_err("a refusal")
}

fn slot_too_high(stage: ShaderStage, table: Kind, group: u32, binding: u32) -> LayoutError {
    LayoutError::SlotTooHigh {
        stage,
        table,
        group,
        binding,
    }
}

#[rstest]
fn immediates_are_buffer_0_of_every_stage(#[values(1, 4, u32::MAX)] size: u32) {
    for stage in STAGES {
        let entries = [entry(0, UNIFORM), entry(1, TEXTURE), entry(2, STORAGE)];
        let layout = laid_out(&[None, Some(&entries), Some(&[])], stage, extension(size, false));
        assert_eq!(layout.immediates_slot, Some(0));
        assert_eq!(layout.group_base, [None, Some(counts(1, 0, 0)), Some(counts(3, 1, 0))]);
        assert_eq!(layout.resources[&at(1, 0)], buffer_slot(1, false));
        assert_eq!(layout.resources[&at(1, 1)], texture_slot(0, false));
        assert_eq!(layout.resources[&at(1, 2)], buffer_slot(2, true));
        assert_eq!(layout.sizes_slot, Some(3));
    }
}

#[test]
fn immediates_need_no_group() {
    for stage in STAGES {
        let layout = laid_out(&[], stage, extension(16, false));
        assert_eq!(layout.immediates_slot, Some(0));
        assert_eq!(layout.resources, LiteMap::new_vec());
        assert_eq!(layout.group_base, []);
        assert_eq!(layout.sizes_slot, None);
        assert_eq!(laid_out(&[], stage, NOTHING).immediates_slot, None);
    }
}

#[rstest]
#[case::uniform(UNIFORM, None)]
#[case::storage(STORAGE, Some(2))]
#[case::read_only_storage(READ_ONLY, Some(2))]
#[case::acceleration_structure(ACCELERATION, None)]
#[case::sampler(SAMPLER, None)]
#[case::texture(TEXTURE, None)]
#[case::storage_texture(storage_texture(StorageTextureAccess::ReadWrite), None)]
#[case::external_texture(EXTERNAL, None)]
fn a_binding_array_is_one_buffer_that_is_not_mutable(
    #[case] ty: BindingType,
    #[case] sizes_slot: Option<u8>,
    #[values(1, 500)] count: u32,
) {
    for stage in STAGES {
        let entries = [array(4, ty, count), entry(5, UNIFORM), entry(6, TEXTURE)];
        let layout = laid_out(&[Some(&entries)], stage, NOTHING);
        let expected = [
            (at(0, 4), buffer_slot(0, false)),
            (at(0, 5), buffer_slot(1, false)),
            (at(0, 6), texture_slot(0, false)),
        ];
        assert_eq!(layout.resources, LiteMap::from_iter(expected));
        assert_eq!(layout.sizes_slot, sizes_slot);
    }
}

#[test]
fn an_external_texture_is_three_textures_and_a_buffer() {
    for stage in STAGES {
        let entries = [
            entry(0, TEXTURE),
            entry(1, EXTERNAL),
            entry(2, TEXTURE),
            entry(3, UNIFORM),
            entry(4, EXTERNAL),
        ];
        let layout = laid_out(&[Some(&entries), Some(&[])], stage, NOTHING);
        let expected = [
            (at(0, 0), texture_slot(0, false)),
            (at(0, 1), external_texture_slots([1, 2, 3], 0)),
            (at(0, 2), texture_slot(4, false)),
            (at(0, 3), buffer_slot(1, false)),
            (at(0, 4), external_texture_slots([5, 6, 7], 2)),
        ];
        assert_eq!(layout.resources, LiteMap::from_iter(expected));
        assert_eq!(layout.group_base[1], Some(counts(3, 8, 0)));
        assert_eq!(layout.sizes_slot, None);
    }
}

#[rstest]
#[case::vertex(ShaderStage::Vertex, Some(2))]
#[case::fragment(ShaderStage::Fragment, None)]
#[case::compute(ShaderStage::Compute, None)]
#[case::task(ShaderStage::Task, None)]
#[case::mesh(ShaderStage::Mesh, None)]
fn only_the_vertex_stage_that_pulls_needs_no_storage_buffer_for_a_sizes_slot(
    #[case] stage: ShaderStage,
    #[case] sizes_slot: Option<u8>,
) {
    let entries = [entry(0, UNIFORM), entry(1, TEXTURE)];
    assert_eq!(
        laid_out(&[Some(&entries)], stage, extension(4, true)).sizes_slot,
        sizes_slot
    );
    assert_eq!(laid_out(&[Some(&entries)], stage, extension(4, false)).sizes_slot, None);
    let no_groups = sizes_slot.map(|_| 0);
    assert_eq!(laid_out(&[], stage, extension(0, true)).sizes_slot, no_groups);
    // One slot, not two, where a storage buffer needs it as well.
    let storage = [entry(0, STORAGE)];
    assert_eq!(
        laid_out(&[Some(&storage)], stage, extension(0, true)).sizes_slot,
        Some(1)
    );
}

#[test]
fn lengths_are_those_of_arrays_of_storage_buffers_seen_or_not() {
    let unseen = BindGroupLayoutEntry {
        visibility: ShaderStages::NONE,
        ..array(u32::MAX, READ_ONLY, 7)
    };
    let first = [unseen, array(3, STORAGE, 1), array(4, UNIFORM, 2), entry(5, STORAGE)];
    let second = [array(0, TEXTURE, 3), array(1, STORAGE, u32::MAX), array(2, EXTERNAL, 4)];
    for stage in STAGES {
        let layout = laid_out(&[Some(&first), None, Some(&second)], stage, NOTHING);
        let expected = [(at(0, 3), 1), (at(0, u32::MAX), 7), (at(2, 1), u32::MAX)];
        assert_eq!(layout.binding_array_lengths, BTreeMap::from(expected));
    }
}

/// Everything at once, and every stage as every other.
#[rstest]
#[case::vertex(ShaderStage::Vertex)]
#[case::fragment(ShaderStage::Fragment)]
#[case::compute(ShaderStage::Compute)]
#[case::task(ShaderStage::Task)]
#[case::mesh(ShaderStage::Mesh)]
fn a_layout_of_it_all(#[case] stage: ShaderStage) {
    let first = [
        entry(9, EXTERNAL),
        array(2, SAMPLER, 8),
        entry(5, STORAGE),
        entry(0, TEXTURE),
        seen_by(ShaderStages::NONE, 1, EXTERNAL),
    ];
    let third = [
        entry(1, SAMPLER),
        array(0, STORAGE, 2),
        entry(7, TEXTURE),
        entry(3, UNIFORM),
    ];
    let layout = laid_out(
        &[Some(&first), None, Some(&third), Some(&[])],
        stage,
        extension(12, true),
    );
    let expected = [
        (at(0, 0), texture_slot(0, false)),
        (at(0, 2), buffer_slot(1, false)),
        (at(0, 5), buffer_slot(2, true)),
        (at(0, 9), external_texture_slots([1, 2, 3], 3)),
        (at(2, 0), buffer_slot(4, false)),
        (at(2, 1), sampler_slot(0)),
        (at(2, 3), buffer_slot(5, false)),
        (at(2, 7), texture_slot(4, false)),
    ];
    assert_eq!(layout.stage, stage);
    assert_eq!(layout.resources, LiteMap::from_iter(expected));
    assert_eq!(
        layout.group_base,
        [
            Some(counts(1, 0, 0)),
            None,
            Some(counts(4, 4, 0)),
            Some(counts(6, 5, 1))
        ]
    );
    assert_eq!(layout.immediates_slot, Some(0));
    assert_eq!(layout.sizes_slot, Some(6));
    assert_eq!(layout.binding_array_lengths, BTreeMap::from([(at(2, 0), 2)]));
    assert!(layout.vertex_pulling);
}

#[test]
fn immediates_push_the_last_buffer_over_255() {
    let entries = many(256, UNIFORM);
    let layout = laid_out(&[Some(&entries)], ShaderStage::Fragment, extension(0, true));
    assert_eq!(layout.resources[&at(0, 255)], buffer_slot(255, false));
    assert_eq!(
        refused(&[Some(&entries)], ShaderStage::Fragment, extension(1, true)),
        slot_too_high(ShaderStage::Fragment, Kind::Buffer, 0, 255)
    );
}

#[test]
fn an_array_s_slot_over_255() {
    let entries: Vec<_> = (0..300).map(|binding| array(binding, TEXTURE, 9)).collect();
    assert_eq!(
        refused(&[None, Some(&entries)], ShaderStage::Mesh, NOTHING),
        slot_too_high(ShaderStage::Mesh, Kind::Buffer, 1, 256)
    );
}

#[rstest]
#[case::last_plane(254)]
#[case::second_plane(255)]
#[case::first_plane(256)]
fn a_plane_over_255(#[case] textures: u32) {
    let mut entries = many(textures, TEXTURE);
    entries.push(entry(999, EXTERNAL));
    assert_eq!(
        refused(&[Some(&entries)], ShaderStage::Compute, NOTHING),
        slot_too_high(ShaderStage::Compute, Kind::Texture, 0, 999)
    );
}

#[test]
fn the_last_plane_is_255_and_so_are_the_last_parameters() {
    let mut entries = many(253, TEXTURE);
    entries.extend((253..508).map(|binding| entry(binding, UNIFORM)));
    entries.push(entry(999, EXTERNAL));
    let layout = laid_out(&[Some(&entries)], ShaderStage::Task, NOTHING);
    assert_eq!(
        layout.resources[&at(0, 999)],
        external_texture_slots([253, 254, 255], 255)
    );
}

#[test]
fn an_external_texture_s_parameters_over_255() {
    let buffers = many(256, UNIFORM);
    let error = refused(
        &[Some(&buffers), Some(&[entry(8, EXTERNAL)])],
        ShaderStage::Vertex,
        NOTHING,
    );
    assert_eq!(error, slot_too_high(ShaderStage::Vertex, Kind::Buffer, 1, 8));
    // The planes come before the parameters.
    let textures: Vec<_> = (256..510).map(|binding| entry(binding, TEXTURE)).collect();
    let error = refused(
        &[Some(&[buffers, textures].concat()), Some(&[entry(8, EXTERNAL)])],
        ShaderStage::Vertex,
        NOTHING,
    );
    assert_eq!(error, slot_too_high(ShaderStage::Vertex, Kind::Texture, 1, 8));
}

#[test]
fn the_sizes_slot_that_pulling_reserves_over_255() {
    let entries = many(256, UNIFORM);
    let error = refused(&[Some(&entries)], ShaderStage::Vertex, extension(0, true));
    let expected = LayoutError::SizesSlotTooHigh {
        stage: ShaderStage::Vertex,
    };
    assert_eq!(error, expected);
    assert_eq!(
        laid_out(&[Some(&entries)], ShaderStage::Mesh, extension(0, true)).sizes_slot,
        None
    );
}

/// Each layout has a fault and every one that comes after it.
#[test]
fn the_first_reason_is_given() {
    let mut last = many(256, UNIFORM);
    last.push(entry(256, EXTERNAL));
    let everything = extension(4, true);
    assert_eq!(
        refused(&[Some(&last)], ShaderStage::Vertex, everything),
        slot_too_high(ShaderStage::Vertex, Kind::Buffer, 0, 255)
    );
    let twice: &[_] = &[entry(3, EXTERNAL), array(1, EXTERNAL, 2), entry(1, UNIFORM)];
    assert_eq!(
        refused(&[Some(&last), Some(twice)], ShaderStage::Vertex, everything),
        LayoutError::DuplicateBinding { group: 1, binding: 1 }
    );
    let groups = [Some(twice); 9];
    assert_eq!(
        refused(&groups, ShaderStage::Vertex, everything),
        LayoutError::TooManyGroups { count: 9 }
    );
    assert_eq!(
        refused(&groups, ShaderStage::AnyHit, everything),
        LayoutError::UnsupportedStage(ShaderStage::AnyHit)
    );
}

#[test]
fn all_stages_have_the_errors_of_each() {
    let mut entries: Vec<_> = (0..300)
        .map(|binding| seen_by(ShaderStages::TASK, binding, SAMPLER))
        .collect();
    entries.extend((300..556).map(|binding| seen_by(ShaderStages::VERTEX_FRAGMENT, binding, UNIFORM)));
    let [vertex, fragment, compute, task, mesh] = StageLayout::all_stages(&[Some(&entries)], extension(0, true));
    assert_eq!(
        vertex,
        Err(LayoutError::SizesSlotTooHigh {
            stage: ShaderStage::Vertex
        })
    );
    assert_eq!(fragment.expect("a layout").resources.len(), 256);
    assert_eq!(compute.expect("a layout").stage, ShaderStage::Compute);
    assert_eq!(task, Err(slot_too_high(ShaderStage::Task, Kind::Sampler, 0, 256)));
    assert_eq!(mesh.expect("a layout").stage, ShaderStage::Mesh);

    entries.push(entry(0, UNIFORM));
    for answer in StageLayout::all_stages(&[None, Some(&entries)], NOTHING) {
        assert_eq!(answer, Err(LayoutError::DuplicateBinding { group: 1, binding: 0 }));
    }
    for answer in StageLayout::all_stages(&[None; 9], NOTHING) {
        assert_eq!(answer, Err(LayoutError::TooManyGroups { count: 9 }));
    }
}

#[test]
fn a_hundred_thousand_arrays_and_external_textures() {
    let listed = |visibility, kind: fn(u32) -> BindGroupLayoutEntry| -> Vec<_> {
        (0..100_000)
            .map(|index| BindGroupLayoutEntry {
                visibility,
                ..kind(u32::MAX - index)
            })
            .collect()
    };
    let externals = listed(ShaderStages::all(), |binding| entry(binding, EXTERNAL));
    // The first 85 take textures 0 to 254.
    assert_eq!(
        refused(&[Some(&externals)], ShaderStage::Fragment, extension(u32::MAX, true)),
        slot_too_high(ShaderStage::Fragment, Kind::Texture, 0, u32::MAX - 99_999 + 85)
    );
    let arrays = listed(ShaderStages::NONE, |binding| array(binding, STORAGE, u32::MAX));
    let layout = laid_out(&[Some(&arrays[..]); 8], ShaderStage::Vertex, extension(u32::MAX, true));
    assert_eq!(layout.binding_array_lengths.len(), 800_000);
    assert_eq!(layout.resources, LiteMap::new_vec());
    assert_eq!(layout.sizes_slot, Some(1));
}

#[test]
fn options_carry_it_to_naga() {
    let entries = [array(0, STORAGE, 5), entry(1, EXTERNAL)];
    let layout = laid_out(&[Some(&entries)], ShaderStage::Vertex, extension(16, true));
    let (options, pipeline) = layout.options("main");
    let resources = &options.per_entry_point_map["main"];
    let expected: [(_, BindTarget); 2] = [
        (at(0, 0), buffer_slot(1, false)),
        (at(0, 1), external_texture_slots([0, 1, 2], 2)),
    ];
    assert_eq!(resources.resources, BTreeMap::from(expected));
    assert_eq!(resources.immediates_buffer, Some(0));
    assert_eq!(resources.sizes_buffer, Some(3));
    assert!(pipeline.vertex_pulling_transform);
    assert!(pipeline.vertex_buffer_mappings.is_empty());
    let lengths: BTreeMap<_, _> = pipeline.binding_array_length_map.into_iter().collect();
    assert_eq!(lengths, BTreeMap::from([(at(0, 0), 5)]));

    let (_, pipeline) = laid_out(&[], ShaderStage::Vertex, extension(16, false)).options("main");
    assert!(!pipeline.vertex_pulling_transform);
}

#[test]
fn naga_writes_the_arguments_at_their_slots() {
    let (module, info) = shader(
        "enable wgpu_binding_array;
         struct Lights { at: array<vec4f> }
         var<immediate> tint: vec4f;
         @group(0) @binding(0) var<storage> lights: binding_array<Lights, 5>;
         @group(0) @binding(1) var video: texture_external;
         @group(0) @binding(2) var image: texture_2d<f32>;
         @fragment fn main() -> @location(0) vec4f {
             return tint + lights[1].at[0] + textureLoad(video, vec2(0, 0)) + textureLoad(image, vec2(0, 0), 0);
         }",
    );
    let entries = [array(0, READ_ONLY, 5), entry(1, EXTERNAL), entry(2, TEXTURE)];
    let layout = laid_out(&[Some(&entries)], ShaderStage::Fragment, extension(16, true));
    let (mut options, pipeline) = layout.options("main");
    options.lang_version = (3, 1);
    let (msl, translation) = write_string(&module, &info, &options, &pipeline).expect("MSL");
    assert_eq!(translation.entry_point_names, [Ok("main_".to_owned())]);
    for argument in [
        "tint [[buffer(0)]]",
        "lights [[buffer(1)]]",
        "[[texture(0)]]",
        "[[texture(1)]]",
        "[[texture(2)]]",
        "[[buffer(2)]]",
        "image [[texture(3)]]",
        "_buffer_sizes [[buffer(3)]]",
    ] {
        assert_eq!(msl.matches(argument).count(), 1, "{argument} in\n{msl}");
    }
}
