//! Section 1 on written-out layouts, known traps 4 to 8 among them.

mod common;

use common::*;
use naga::ShaderStage as Stage;
use rstest::rstest;
use slot_model::Table::{Buffer, Sampler, Texture};
use slot_model::{Model, Refused, Table, group, stage};
use wgpu_types::StorageTextureAccess::{Atomic, ReadOnly, ReadWrite, WriteOnly};
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

fn model(groups: &[Option<&[BindGroupLayoutEntry]>]) -> Model {
    stage(groups, Stage::Fragment).expect("a layout within the rule")
}

#[rstest]
#[case::uniform(UNIFORM, Buffer, false)]
#[case::storage(STORAGE, Buffer, true)]
#[case::read_only_storage(READ_ONLY, Buffer, false)]
#[case::acceleration_structure(ACCELERATION, Buffer, false)]
#[case::sampler(SAMPLER, Sampler, false)]
#[case::comparison_sampler(COMPARISON, Sampler, false)]
#[case::texture(TEXTURE, Texture, false)]
#[case::read_only_storage_texture(storage_texture(ReadOnly), Texture, false)]
#[case::write_only_storage_texture(storage_texture(WriteOnly), Texture, true)]
#[case::read_write_storage_texture(storage_texture(ReadWrite), Texture, true)]
#[case::atomic_storage_texture(storage_texture(Atomic), Texture, true)]
fn table_and_mutability(#[case] ty: BindingType, #[case] table: Table, #[case] mutable: bool) {
    let listed = [entry(7, ty, ALL)];
    let resources = model(&[Some(&listed)]).resources;
    assert_eq!(places(&resources), [(0, 7, table, 0)]);
    assert_eq!(resources[0].mutable, mutable);
}

#[rstest]
#[case::storage(STORAGE, Some(2))]
#[case::read_only_storage(READ_ONLY, Some(2))]
#[case::uniform(UNIFORM, None)]
#[case::acceleration_structure(ACCELERATION, None)]
#[case::storage_texture(storage_texture(ReadWrite), None)]
fn sizes_slot(#[case] ty: BindingType, #[case] expected: Option<u32>) {
    let listed = entries(&[ty, UNIFORM]);
    assert_eq!(model(&[Some(&listed)]).sizes_slot, expected);
}

#[rstest]
#[case(ShaderStages::FRAGMENT, Some(1))]
#[case(ShaderStages::COMPUTE, None)]
#[case(ShaderStages::NONE, None)]
fn sizes_slot_needs_a_visible_storage_buffer(#[case] seen_by: ShaderStages, #[case] expected: Option<u32>) {
    let listed = [entry(0, STORAGE, seen_by)];
    assert_eq!(model(&[Some(&listed)]).sizes_slot, expected);
}

#[test]
fn no_groups() {
    assert_eq!(model(&[]), Model::default());
}

#[rstest]
#[case(Stage::Vertex, ShaderStages::VERTEX)]
#[case(Stage::Fragment, ShaderStages::FRAGMENT)]
#[case(Stage::Compute, ShaderStages::COMPUTE)]
#[case(Stage::Task, ShaderStages::TASK)]
#[case(Stage::Mesh, ShaderStages::MESH)]
fn a_stage_sees_its_own_bindings(#[case] of: Stage, #[case] seen_by: ShaderStages) {
    let listed = [
        entry(0, UNIFORM, ALL - seen_by),
        entry(1, UNIFORM, seen_by),
        entry(2, UNIFORM, ALL),
    ];
    let seen = stage(&[Some(&listed)], of).expect("within the rule");
    assert_eq!(places(&seen.resources), [(0, 1, Buffer, 0), (0, 2, Buffer, 1)]);
    assert_eq!(
        group(&listed, of),
        (vec![None, Some(one(Buffer, 0)), Some(one(Buffer, 1))], counts(2, 0, 0))
    );
}

#[rstest]
#[case(Stage::RayGeneration)]
#[case(Stage::AnyHit)]
#[case(Stage::ClosestHit)]
#[case(Stage::Miss)]
fn other_stages_are_refused(#[case] of: Stage) {
    assert_eq!(stage(&[], of), Err(Refused::UnsupportedStage));
    let listed = entries(&[UNIFORM]);
    assert_eq!(group(&listed, of), (vec![None], counts(0, 0, 0)));
}

#[test]
fn trap_4_each_table_counts_for_itself() {
    let listed = entries(&[UNIFORM, TEXTURE, SAMPLER, STORAGE]);
    let model = model(&[Some(&listed)]);
    assert_eq!(
        places(&model.resources),
        [
            (0, 0, Buffer, 0),
            (0, 1, Texture, 0),
            (0, 2, Sampler, 0),
            (0, 3, Buffer, 1)
        ]
    );
    assert_eq!(model.sizes_slot, Some(2));
}

#[test]
fn trap_5_a_later_group_goes_on_counting() {
    let first = entries(&[UNIFORM, UNIFORM, TEXTURE]);
    let second = entries(&[STORAGE, TEXTURE]);
    let model = model(&[Some(&first), Some(&second)]);
    assert_eq!(places(&model.resources[3..]), [(1, 0, Buffer, 2), (1, 1, Texture, 1)]);
    assert_eq!(model.bases, [Some(counts(0, 0, 0)), Some(counts(2, 1, 0))]);
    assert_eq!(model.sizes_slot, Some(3));
    let at_the_bind = (vec![Some(one(Buffer, 0)), Some(one(Texture, 0))], counts(1, 1, 0));
    assert_eq!(group(&second, Stage::Fragment), at_the_bind);
}

#[test]
fn trap_6_what_another_stage_sees_takes_no_slot() {
    let first = [
        entry(0, UNIFORM, ShaderStages::MESH),
        entry(1, TEXTURE, ShaderStages::FRAGMENT),
    ];
    let second = [entry(0, UNIFORM, ShaderStages::FRAGMENT)];
    let groups = [Some(&first[..]), Some(&second[..])];
    let fragment = model(&groups);
    assert_eq!(places(&fragment.resources), [(0, 1, Texture, 0), (1, 0, Buffer, 0)]);
    let mesh = stage(&groups, Stage::Mesh).expect("within the rule");
    assert_eq!(places(&mesh.resources), [(0, 0, Buffer, 0)]);
}

/// Every order of `items`.
fn permutations<T: Copy>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![vec![]];
    }
    let starting_at = |at: usize| {
        let rest = [&items[..at], &items[at + 1..]].concat();
        let longer = move |tail: Vec<T>| [vec![items[at]], tail].concat();
        permutations(&rest).into_iter().map(longer)
    };
    (0..items.len()).flat_map(starting_at).collect()
}

#[test]
fn trap_7_the_order_of_the_list_changes_nothing() {
    let sorted = entries(&[UNIFORM, TEXTURE, STORAGE, UNIFORM, SAMPLER]);
    let expected = model(&[Some(&sorted)]);
    let by_binding = [
        one(Buffer, 0),
        one(Texture, 0),
        one(Buffer, 1),
        one(Buffer, 2),
        one(Sampler, 0),
    ];
    let orders = permutations(&sorted);
    assert_eq!(orders.len(), 120);
    for listed in orders {
        assert_eq!(model(&[Some(&listed)]), expected);
        let places = listed.iter().map(|entry| Some(by_binding[entry.binding as usize]));
        let expected = (places.collect(), counts(3, 1, 1));
        assert_eq!(group(&listed, Stage::Fragment), expected);
    }
}

#[test]
fn trap_8_an_absent_group_and_an_empty_one() {
    let a = entries(&[UNIFORM, TEXTURE]);
    let c = entries(&[UNIFORM, SAMPLER, TEXTURE]);
    let absent = model(&[Some(&a), None, Some(&c)]);
    let empty = model(&[Some(&a), Some(&[]), Some(&c)]);
    let of_c = [(2, 0, Buffer, 1), (2, 1, Sampler, 0), (2, 2, Texture, 1)];
    assert_eq!(places(&absent.resources[2..]), of_c);
    assert_eq!(absent.resources, empty.resources);
    let after_a = Some(counts(1, 1, 0));
    assert_eq!(absent.bases, [Some(counts(0, 0, 0)), None, after_a]);
    assert_eq!(empty.bases, [Some(counts(0, 0, 0)), after_a, after_a]);
}

#[test]
fn the_highest_binding_number_stays_in_its_group() {
    let first = [entry(u32::MAX, UNIFORM, ALL), entry(0, UNIFORM, ALL)];
    let second = entries(&[UNIFORM]);
    let model = model(&[Some(&first), Some(&second)]);
    let expected = [(0, 0, Buffer, 0), (0, u32::MAX, Buffer, 1), (1, 0, Buffer, 2)];
    assert_eq!(places(&model.resources), expected);
    assert_eq!(model.bases[1], Some(counts(2, 0, 0)));
}
