//! Section 1's errors, also of section 2's layouts, and which one is named where several apply.

mod common;

use common::*;
use naga::ShaderStage as Stage;
use rstest::rstest;
use slot_model::{Extension, Refused, Table, extended_stage, stage, stages};
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

fn refusal(groups: &[&[BindGroupLayoutEntry]]) -> Option<Refused> {
    let groups: Vec<_> = groups.iter().copied().map(Some).collect();
    stage(&groups, Stage::Fragment).err()
}

fn extended_refusal(groups: &[&[BindGroupLayoutEntry]], extension: Extension) -> Option<Refused> {
    let groups: Vec<_> = groups.iter().copied().map(Some).collect();
    extended_stage(&groups, Stage::Fragment, extension).err()
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
fn the_stage_goes_before_the_groups() {
    let refused = stage(&[None; 9], Stage::Miss).err();
    assert_eq!(refused, Some(Refused::UnsupportedStage));
}

#[test]
fn the_groups_go_before_the_bindings() {
    let twice = [entry(0, UNIFORM, ALL), entry(0, UNIFORM, ALL)];
    let refused = stage(&[Some(&twice[..]); 9], Stage::Fragment).err();
    assert_eq!(refused, Some(Refused::TooManyGroups));
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

#[test]
fn the_extended_stage_refuses_no_array_and_no_external_texture() {
    let listed = [
        array(0, EXTERNAL, ALL),
        array(1, TEXTURE, ShaderStages::NONE),
        entry(2, EXTERNAL, ALL),
        entry(3, EXTERNAL, ShaderStages::NONE),
    ];
    assert_eq!(extended_refusal(&[&listed], Extension::default()), None);
}

#[test]
fn the_extended_stage_refuses_a_number_twice() {
    let twice = [array(4, STORAGE, ShaderStages::NONE), entry(2, EXTERNAL, ALL)].repeat(2);
    assert_eq!(extended_refusal(&[&[], &twice], extension(4, true)), duplicate(1, 2));
}

#[test]
fn the_order_of_the_extended_refusals() {
    let bad = [entries(&[UNIFORM; 257]), entries(&[UNIFORM])].concat();
    let refused = |of, groups| extended_stage(&vec![Some(&bad[..]); groups], of, extension(4, true)).err();
    assert_eq!(refused(Stage::Miss, 9), Some(Refused::UnsupportedStage));
    assert_eq!(refused(Stage::Vertex, 9), Some(Refused::TooManyGroups));
    assert_eq!(refused(Stage::Vertex, 8), duplicate(0, 0));
}

#[test]
fn all_five_stages_are_refused_alike_before_any_slot() {
    let too_many = stages(&[None; 9], Extension::default());
    assert_eq!(too_many.map(Result::err), [Some(Refused::TooManyGroups); 5]);
    let twice = [entry(5, UNIFORM, ShaderStages::VERTEX); 2];
    let duplicated = stages(&[Some(&twice)], Extension::default());
    assert_eq!(duplicated.map(Result::err), [duplicate(0, 5); 5]);
}

#[test]
fn immediates_push_the_last_buffer_out() {
    let listed = entries(&[UNIFORM; 256]);
    let refused = |size| extended_refusal(&[&listed], extension(size, false));
    assert_eq!(refused(0), None);
    assert_eq!(refused(4), too_high(Table::Buffer, 0, 255));
}

#[test]
fn vertex_pulling_needs_a_sizes_slot_of_the_vertex_stage_alone() {
    let listed = entries(&[UNIFORM; 256]);
    let refused = stages(&[Some(&listed)], extension(0, true)).map(Result::err);
    assert_eq!(refused, [Some(Refused::SizesSlotTooHigh), None, None, None, None]);
}

#[rstest]
#[case::both_fit(253, 255, None)]
#[case::the_parameters_do_not(253, 256, Some(Table::Buffer))]
#[case::the_last_plane_does_not(254, 255, Some(Table::Texture))]
#[case::the_planes_go_first(254, 256, Some(Table::Texture))]
#[case::no_plane_does(256, 255, Some(Table::Texture))]
fn an_external_texture_too_high(#[case] textures: usize, #[case] buffers: usize, #[case] expected: Option<Table>) {
    let first = entries(&[vec![TEXTURE; textures], vec![UNIFORM; buffers]].concat());
    let second = [entry(3, EXTERNAL, ALL), entry(8, TEXTURE, ShaderStages::NONE)];
    let expected = expected.and_then(|table| too_high(table, 1, 3));
    assert_eq!(extended_refusal(&[&first, &second], Extension::default()), expected);
}

#[test]
fn an_array_of_samplers_too_high_is_named_a_buffer() {
    let first = entries(&[UNIFORM; 256]);
    let second = [array(2, SAMPLER, ALL), entry(0, SAMPLER, ALL)];
    let refused = extended_refusal(&[&first, &second], Extension::default());
    assert_eq!(refused, too_high(Table::Buffer, 1, 2));
}
