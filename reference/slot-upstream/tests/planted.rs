//! A wgpu-hal with one rule changed is another reader: layouts of a few bindings tell it from the right one.

mod common;

use common::*;
use slot_upstream::planted::RULES;
use wgpu_types::{BindGroupLayoutEntry, ShaderStages};

/// Two groups with a binding of every table, and a storage buffer.
fn groups() -> [Vec<BindGroupLayoutEntry>; 2] {
    let stages = ShaderStages::COMPUTE;
    [
        vec![
            entry(0, stages, uniform(false)),
            entry(1, stages, SAMPLED),
            entry(2, stages, SAMPLER),
        ],
        vec![entry(0, stages, storage(false)), entry(1, stages, SAMPLER)],
    ]
}

#[test]
fn each_changed_rule_gives_other_slots() {
    let groups = groups();
    let groups = groups.each_ref().map(|entries| Some(&entries[..]));
    let of = |upstream: &slot_upstream::Upstream| {
        let compute = &(upstream.layout)(&groups, 0).unwrap().stages[2];
        let slots = |group: u32, number: u32| {
            let target = &compute.resources[&binding(group, number)];
            target
                .buffer
                .or(target.texture)
                .unwrap_or_else(|| match target.sampler {
                    Some(naga::back::msl::BindSamplerTarget::Resource(slot)) => slot,
                    _ => panic!("a binding has a slot"),
                })
        };
        let slots = [slots(0, 0), slots(0, 1), slots(0, 2), slots(1, 0), slots(1, 1)];
        (slots, compute.sizes_slot)
    };
    assert_eq!(of(&slot_upstream::v30::UPSTREAM), ([0, 0, 0, 1, 1], Some(2)));
    let changed: Vec<_> = RULES.iter().map(|(name, upstream)| (*name, of(upstream))).collect();
    assert_eq!(
        changed,
        [
            ("samplers counted with textures", ([0, 0, 1, 1, 2], Some(2))),
            ("groups in reverse", ([1, 0, 1, 0, 0], Some(2))),
            ("sizes slot first", ([1, 0, 0, 2, 1], Some(0))),
        ]
    );
}
