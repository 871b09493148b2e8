//! Section 1's errors, and which one is named where several apply.

mod common;

use common::*;
use naga::ShaderStage as Stage;
use rstest::rstest;
use slot_model::{Refused, Table, stage};
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

fn refusal(groups: &[&[BindGroupLayoutEntry]]) -> Option<Refused> {
    let groups: Vec<_> = groups.iter().copied().map(Some).collect();
    stage(&groups, Stage::Fragment).err()
}

fn duplicate(group: u32, binding: u32) -> Option<Refused> {
    Some(Refused::DuplicateBinding { group, binding })
}

fn too_high(table: Table, group: u32, binding: u32) -> Option<Refused> {
    Some(Refused::SlotTooHigh { table, group, binding })
}

#[rstest]
#[case(8, None)]
#[case(9, Some(Refused::TooManyGroups))]
fn groups_are_counted_absent_ones_too(#[case] number: usize, #[case] expected: Option<Refused>) {
    assert_eq!(stage(&vec![None; number], Stage::Fragment).err(), expected);
}

#[test]
fn too_many_groups_goes_before_the_stage() {
    let refused = stage(&[None; 9], Stage::Miss).err();
    assert_eq!(refused, Some(Refused::TooManyGroups));
}

#[test]
fn the_stage_goes_before_the_bindings() {
    let twice = [entry(0, UNIFORM, ALL), entry(0, UNIFORM, ALL)];
    let refused = stage(&[Some(&twice)], Stage::Miss).err();
    assert_eq!(refused, Some(Refused::UnsupportedStage));
}

#[test]
fn a_number_twice_in_a_group_is_refused_also_unseen() {
    let once = entries(&[UNIFORM, TEXTURE]);
    let twice = [
        entry(9, UNIFORM, ShaderStages::COMPUTE),
        entry(4, UNIFORM, ALL),
        entry(9, TEXTURE, ShaderStages::NONE),
    ];
    assert_eq!(refusal(&[&once, &once]), None);
    assert_eq!(refusal(&[&once, &twice]), duplicate(1, 9));
}

#[test]
fn the_least_binding_with_a_refusal_is_named() {
    let twice = [5, 3, 5, 3, 3].map(|binding| entry(binding, UNIFORM, ALL));
    assert_eq!(refusal(&[&twice]), duplicate(0, 3));
    let array_first = [array(2, UNIFORM, ALL), twice[0], twice[2]];
    let array_at_2 = Some(Refused::BindingArray { group: 0, binding: 2 });
    assert_eq!(refusal(&[&array_first, &twice]), array_at_2);
    let both = [array(2, UNIFORM, ALL), array(2, UNIFORM, ALL)];
    assert_eq!(refusal(&[&both]), duplicate(0, 2));
}

#[rstest]
#[case(UNIFORM)]
#[case(TEXTURE)]
#[case(SAMPLER)]
#[case::this_row_wins_over_every_other(EXTERNAL)]
fn a_binding_array_is_refused_also_of_one_and_unseen(#[case] ty: BindingType) {
    let listed = [array(6, ty, ShaderStages::COMPUTE)];
    let expected = Refused::BindingArray { group: 1, binding: 6 };
    assert_eq!(refusal(&[&[], &listed]), Some(expected));
}

#[test]
fn an_external_texture_is_refused_also_unseen() {
    let listed = [entry(6, EXTERNAL, ShaderStages::NONE)];
    let expected = Refused::ExternalTexture { group: 1, binding: 6 };
    assert_eq!(refusal(&[&[], &listed]), Some(expected));
}

#[rstest]
#[case::buffer(UNIFORM, Table::Buffer)]
#[case::texture(TEXTURE, Table::Texture)]
#[case::sampler(SAMPLER, Table::Sampler)]
fn slot_256_is_refused(#[case] ty: BindingType, #[case] table: Table) {
    let first = entries(&[ty; 250]);
    assert_eq!(refusal(&[&first, &entries(&[ty; 6])]), None);
    let refused = refusal(&[&first, &entries(&[ty; 9])]);
    assert_eq!(refused, too_high(table, 1, 6));
}

#[test]
fn the_first_slot_over_255_is_named_whatever_its_table() {
    let first = entries(&[[UNIFORM; 256], [TEXTURE; 256]].concat());
    let second = entries(&[SAMPLER, TEXTURE, UNIFORM]);
    let refused = refusal(&[&first, &second]);
    assert_eq!(refused, too_high(Table::Texture, 1, 1));
}

#[test]
fn unseen_bindings_use_up_no_slots() {
    let unseen = |binding| entry(binding, UNIFORM, ShaderStages::COMPUTE);
    let listed: Vec<_> = (0..300).map(unseen).collect();
    assert_eq!(refusal(&[&listed]), None);
}

#[rstest]
#[case(254, None)]
#[case::the_bindings_fit(255, Some(Refused::SizesSlotTooHigh))]
#[case::the_bindings_go_first(256, too_high(Table::Buffer, 0, 256))]
fn the_sizes_slot_is_refused_last(#[case] uniforms: usize, #[case] expected: Option<Refused>) {
    let types = [vec![STORAGE], vec![UNIFORM; uniforms]].concat();
    assert_eq!(refusal(&[&entries(&types)]), expected);
}

#[test]
fn two_hundred_and_fifty_six_uniforms_need_no_sizes_slot() {
    assert_eq!(refusal(&[&entries(&[UNIFORM; 256])]), None);
}
