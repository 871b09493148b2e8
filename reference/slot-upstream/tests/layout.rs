//! Layouts by wgpu-hal's own function: the values are slots.md's, section 2, written out.

mod common;

use common::*;
use naga::back::msl::{BindExternalTextureTarget, BindSamplerTarget, BindTarget};
use slot_upstream::{Counts, Layout, Stage};
use std::collections::BTreeMap;
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages, StorageTextureAccess};

fn layout(groups: &[Option<&[BindGroupLayoutEntry]>], immediate_size: u32) -> Layout {
    slot_upstream::layout(groups, immediate_size).expect("wgpu-hal 30 refuses no layout")
}

fn buffer(slot: u8, mutable: bool) -> BindTarget {
    BindTarget {
        buffer: Some(slot),
        mutable,
        ..BindTarget::default()
    }
}

fn texture(slot: u8, mutable: bool) -> BindTarget {
    BindTarget {
        texture: Some(slot),
        mutable,
        ..BindTarget::default()
    }
}

fn sampler(slot: u8) -> BindTarget {
    BindTarget {
        sampler: Some(BindSamplerTarget::Resource(slot)),
        ..BindTarget::default()
    }
}

fn counts(buffers: u32, textures: u32, samplers: u32) -> Option<Counts> {
    Some(Counts {
        buffers,
        textures,
        samplers,
    })
}

#[test]
fn the_version_is_the_locked_one() {
    assert_eq!(slot_upstream::VERSION, "30.0.2");
}

#[test]
fn each_table_counts_on_from_group_to_group_by_stage() {
    let all = ShaderStages::VERTEX | ShaderStages::FRAGMENT | ShaderStages::COMPUTE;
    let first = [
        entry(0, all, uniform(false)),
        entry(1, ShaderStages::FRAGMENT, SAMPLED),
        entry(2, ShaderStages::FRAGMENT, SAMPLER),
        entry(9, ShaderStages::COMPUTE, storage(false)),
    ];
    let third = [
        entry(
            0,
            ShaderStages::FRAGMENT,
            storage_texture(StorageTextureAccess::ReadOnly),
        ),
        entry(
            1,
            ShaderStages::FRAGMENT,
            storage_texture(StorageTextureAccess::WriteOnly),
        ),
        entry(4_294_967_295, all, storage(true)),
    ];
    let layout = layout(&[Some(&first), None, Some(&third), Some(&[])], 0);
    let [vertex, fragment, compute, task, mesh] = layout.stages;
    assert_eq!(
        vertex,
        Stage {
            resources: BTreeMap::from([
                (binding(0, 0), buffer(0, false)),
                (binding(2, 4_294_967_295), buffer(1, false)),
            ]),
            sizes_slot: Some(2),
            immediates_slot: None,
            bases: [
                counts(0, 0, 0),
                None,
                counts(1, 0, 0),
                counts(2, 0, 0),
                None,
                None,
                None,
                None
            ],
        }
    );
    assert_eq!(
        fragment,
        Stage {
            resources: BTreeMap::from([
                (binding(0, 0), buffer(0, false)),
                (binding(0, 1), texture(0, false)),
                (binding(0, 2), sampler(0)),
                (binding(2, 0), texture(1, false)),
                (binding(2, 1), texture(2, true)),
                (binding(2, 4_294_967_295), buffer(1, false)),
            ]),
            sizes_slot: Some(2),
            immediates_slot: None,
            bases: [
                counts(0, 0, 0),
                None,
                counts(1, 1, 1),
                counts(2, 3, 1),
                None,
                None,
                None,
                None
            ],
        }
    );
    assert_eq!(
        compute.resources,
        BTreeMap::from([
            (binding(0, 0), buffer(0, false)),
            (binding(0, 9), buffer(1, true)),
            (binding(2, 4_294_967_295), buffer(2, false)),
        ])
    );
    assert_eq!(compute.sizes_slot, Some(3));
    for stage in [task, mesh] {
        assert_eq!((stage.resources, stage.sizes_slot), (BTreeMap::new(), None));
    }
}

#[test]
fn immediates_take_buffer_0_of_every_stage_and_the_vertex_stage_always_has_a_sizes_slot() {
    let layout = layout(&[Some(&[])], 4);
    for (index, stage) in layout.stages.into_iter().enumerate() {
        assert_eq!(stage.immediates_slot, Some(0));
        assert_eq!(stage.bases[0], counts(1, 0, 0));
        assert_eq!(stage.sizes_slot, (index == 0).then_some(1));
    }
}

#[test]
fn arrays_take_one_buffer_slot_and_an_external_texture_four() {
    let stages = ShaderStages::FRAGMENT | ShaderStages::MESH;
    let entries = [
        array(0, stages, SAMPLED, 3),
        array(1, stages, storage(false), 5),
        entry(2, stages, SAMPLED),
        entry(3, stages, BindingType::ExternalTexture),
        entry(4, stages, SAMPLED),
        array(5, ShaderStages::NONE, storage(true), 1),
        array(6, stages, uniform(false), 2),
    ];
    let external = BindExternalTextureTarget {
        planes: [1, 2, 3],
        params: 2,
    };
    let layout = layout(&[Some(&entries)], 0);
    for stage in [&layout.stages[1], &layout.stages[4]] {
        assert_eq!(
            stage.resources,
            BTreeMap::from([
                (binding(0, 0), buffer(0, false)),
                (binding(0, 1), buffer(1, false)),
                (binding(0, 2), texture(0, false)),
                (
                    binding(0, 3),
                    BindTarget {
                        external_texture: Some(external.clone()),
                        ..BindTarget::default()
                    }
                ),
                (binding(0, 4), texture(4, false)),
                (binding(0, 6), buffer(3, false)),
            ])
        );
        assert_eq!(stage.sizes_slot, Some(4));
    }
    assert_eq!(
        layout.binding_array_lengths,
        BTreeMap::from([(binding(0, 1), 5), (binding(0, 5), 1)])
    );
}

/// The first line of the ledger: where mslmap refuses, upstream goes on from 0.
#[test]
fn slots_are_truncated_to_8_bits_and_bases_are_not() {
    let entries: Vec<_> = (0..257)
        .map(|number| entry(number, ShaderStages::COMPUTE, storage(false)))
        .collect();
    let layout = layout(&[Some(&entries), Some(&[])], 0);
    let compute = &layout.stages[2];
    assert_eq!(compute.resources[&binding(0, 255)], buffer(255, true));
    assert_eq!(compute.resources[&binding(0, 256)], buffer(0, true));
    assert_eq!(compute.sizes_slot, Some(1));
    assert_eq!(compute.bases[1], counts(257, 0, 0));
}

/// Another line of it: the last entry of a binding wins, and both take a slot.
#[test]
fn a_binding_listed_twice_has_its_last_slot() {
    let entries = [
        entry(3, ShaderStages::COMPUTE, uniform(false)),
        entry(3, ShaderStages::COMPUTE, uniform(false)),
    ];
    let compute = &layout(&[Some(&entries)], 0).stages[2];
    assert_eq!(compute.resources, BTreeMap::from([(binding(0, 3), buffer(1, false))]));
}

#[test]
#[should_panic(expected = "index out of bounds: the len is 8 but the index is 8")]
fn a_ninth_group_panics() {
    let empty: &[BindGroupLayoutEntry] = &[];
    let _ = layout(&[Some(empty); 9], 0);
}
