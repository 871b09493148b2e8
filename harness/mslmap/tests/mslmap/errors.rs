//! Layouts that are refused, and which of several reasons is given.

use mslmap::{Kind, LayoutError, StageLayout};
use naga::ShaderStage;
use rstest::rstest;
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

use crate::shorthand::*;

fn refused(groups: &[Option<&[BindGroupLayoutEntry]>], stage: ShaderStage) -> LayoutError {
    StageLayout::new(groups, stage).expect_err("a refusal")
}

#[rstest]
#[case(ShaderStage::RayGeneration, "ray generation")]
#[case(ShaderStage::AnyHit, "any hit")]
#[case(ShaderStage::ClosestHit, "closest hit")]
#[case(ShaderStage::Miss, "miss")]
fn a_ray_tracing_stage(#[case] stage: ShaderStage, #[case] name: &str) {
    let error = refused(&[], stage);
    assert_eq!(error, LayoutError::UnsupportedStage(stage));
    assert_eq!(
        error.to_string(),
        format!("the {name} stage has no argument tables: only vertex, fragment, compute, task and mesh do")
    );
}

#[test]
fn nine_groups() {
    let error = refused(&[None; 9], ShaderStage::Vertex);
    assert_eq!(error, LayoutError::TooManyGroups { count: 9 });
    assert_eq!(
        error.to_string(),
        "the pipeline layout has 9 bind groups, but at most 8 are allowed"
    );
}

#[rstest]
#[case::side_by_side(vec![entry(4, UNIFORM), entry(4, UNIFORM)])]
#[case::apart(vec![entry(4, UNIFORM), entry(1, SAMPLER), entry(7, UNIFORM), entry(4, TEXTURE)])]
#[case::thrice(vec![entry(4, UNIFORM), entry(4, SAMPLER), entry(4, TEXTURE)])]
#[case::lowest_of_two(vec![entry(9, UNIFORM), entry(9, UNIFORM), entry(4, UNIFORM), entry(4, UNIFORM)])]
#[case::unseen(vec![seen_by(ShaderStages::NONE, 4, UNIFORM), seen_by(ShaderStages::COMPUTE, 4, UNIFORM)])]
#[case::arrays(vec![array(4, UNIFORM, 2), entry(4, UNIFORM)])]
fn a_number_twice(#[case] entries: Vec<BindGroupLayoutEntry>) {
    let error = refused(&[Some(&[entry(4, UNIFORM)]), Some(&entries)], ShaderStage::Vertex);
    assert_eq!(error, LayoutError::DuplicateBinding { group: 1, binding: 4 });
    assert_eq!(error.to_string(), "group 1 has more than one entry for binding 4");
}

#[rstest]
fn a_binding_array(#[values(UNIFORM, TEXTURE, SAMPLER, EXTERNAL)] ty: BindingType, #[values(1, 8)] count: u32) {
    let error = refused(
        &[Some(&[entry(0, UNIFORM), array(2, ty, count)])],
        ShaderStage::Fragment,
    );
    assert_eq!(error, LayoutError::BindingArray { group: 0, binding: 2 });
    assert_eq!(
        error.to_string(),
        "group 0 binding 2 is a binding array, which this layout has no place for"
    );
}

#[rstest]
fn an_external_texture(#[values(ShaderStages::all(), ShaderStages::VERTEX)] visibility: ShaderStages) {
    let error = refused(
        &[None, Some(&[seen_by(visibility, 6, EXTERNAL)])],
        ShaderStage::Fragment,
    );
    assert_eq!(error, LayoutError::ExternalTexture { group: 1, binding: 6 });
    assert_eq!(
        error.to_string(),
        "group 1 binding 6 is an external texture, which this layout has no place for"
    );
}

#[rstest]
#[case(UNIFORM, Kind::Buffer, "buffer")]
#[case(STORAGE, Kind::Buffer, "buffer")]
#[case(TEXTURE, Kind::Texture, "texture")]
#[case(SAMPLER, Kind::Sampler, "sampler")]
fn a_slot_over_255(#[case] ty: BindingType, #[case] table: Kind, #[case] name: &str) {
    let error = refused(&[Some(&many(300, ty))], ShaderStage::Task);
    assert_eq!(
        error,
        LayoutError::SlotTooHigh {
            stage: ShaderStage::Task,
            table,
            group: 0,
            binding: 256
        }
    );
    assert_eq!(
        error.to_string(),
        format!("the task stage's {name} slot for group 0 binding 256 is over 255")
    );
}

#[test]
fn a_slot_over_255_in_a_later_group() {
    let full = many(256, TEXTURE);
    let later = [entry(3, UNIFORM), entry(9, TEXTURE), entry(5, TEXTURE)];
    let error = refused(&[Some(&full), Some(&[]), Some(&later)], ShaderStage::Vertex);
    let expected = LayoutError::SlotTooHigh {
        stage: ShaderStage::Vertex,
        table: Kind::Texture,
        group: 2,
        binding: 5,
    };
    assert_eq!(error, expected);
}

#[test]
fn the_first_slot_over_255_is_so_in_binding_order_not_table_order() {
    let mut entries = many(256, SAMPLER);
    entries.extend((256..512).map(|binding| entry(binding, UNIFORM)));
    entries.extend([entry(601, UNIFORM), entry(600, SAMPLER)]);
    let expected = LayoutError::SlotTooHigh {
        stage: ShaderStage::Mesh,
        table: Kind::Sampler,
        group: 0,
        binding: 600,
    };
    assert_eq!(refused(&[Some(&entries)], ShaderStage::Mesh), expected);
}

#[test]
fn the_sizes_slot_over_255() {
    let mut entries = many(255, UNIFORM);
    entries.push(entry(255, STORAGE));
    let error = refused(&[Some(&entries)], ShaderStage::Compute);
    assert_eq!(
        error,
        LayoutError::SizesSlotTooHigh {
            stage: ShaderStage::Compute
        }
    );
    assert_eq!(
        error.to_string(),
        "the compute stage's buffer slot for _buffer_sizes is over 255"
    );
}

#[test]
fn a_hundred_thousand_entries() {
    let entries: Vec<_> = (0..100_000).map(|index| entry(u32::MAX - index, STORAGE)).collect();
    let binding = u32::MAX - 99_999 + 256;
    let expected = LayoutError::SlotTooHigh {
        stage: ShaderStage::Vertex,
        table: Kind::Buffer,
        group: 0,
        binding,
    };
    assert_eq!(refused(&[Some(&entries)], ShaderStage::Vertex), expected);
}

/// Each layout has a fault and every one that comes after it.
#[test]
fn the_first_reason_is_given() {
    let mut last = many(256, UNIFORM);
    last.push(entry(256, STORAGE));
    let slot = LayoutError::SlotTooHigh {
        stage: ShaderStage::Vertex,
        table: Kind::Buffer,
        group: 0,
        binding: 256,
    };
    assert_eq!(refused(&[Some(&last)], ShaderStage::Vertex), slot);

    let external: &[_] = &[
        entry(3, EXTERNAL),
        array(5, UNIFORM, 2),
        entry(7, UNIFORM),
        entry(7, UNIFORM),
    ];
    let expected = LayoutError::ExternalTexture { group: 1, binding: 3 };
    assert_eq!(refused(&[Some(&last), Some(external)], ShaderStage::Vertex), expected);

    let array_first: &[_] = &[
        entry(7, UNIFORM),
        entry(7, UNIFORM),
        entry(3, EXTERNAL),
        array(2, EXTERNAL, 2),
    ];
    let expected = LayoutError::BindingArray { group: 1, binding: 2 };
    assert_eq!(
        refused(&[Some(&last), Some(array_first), Some(external)], ShaderStage::Vertex),
        expected
    );

    let twice: &[_] = &[entry(3, EXTERNAL), array(1, EXTERNAL, 2), entry(1, EXTERNAL)];
    let expected = LayoutError::DuplicateBinding { group: 1, binding: 1 };
    assert_eq!(
        refused(&[Some(&last), Some(twice), Some(external)], ShaderStage::Vertex),
        expected
    );

    let groups = [Some(twice); 9];
    assert_eq!(
        refused(&groups, ShaderStage::Vertex),
        LayoutError::TooManyGroups { count: 9 }
    );
    assert_eq!(
        refused(&groups, ShaderStage::Miss),
        LayoutError::UnsupportedStage(ShaderStage::Miss)
    );
}
