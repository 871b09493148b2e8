//! Faults that were reported in public against programs of this kind, with the right answers. The numbers are those of the
//! project's list of known traps.

use litemap::LiteMap;
use mslmap::{Extension, StageLayout, dynamic_offsets, group_slots, runtime_array_bindings, sort_entries};
use naga::ShaderStage;
use naga::back::msl::{EntryPointError, write_string};
use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

use crate::shorthand::*;

/// gogpu/wgpu #305.
#[test]
fn trap_1_the_sizes_have_a_slot_of_their_own() {
    let (module, info) = shader(
        "@group(0) @binding(0) var<storage, read_write> cells: array<u32>;
         @compute @workgroup_size(1) fn count() { cells[0] = arrayLength(&cells); }",
    );
    let layout = StageLayout::new(&[Some(&[entry(0, STORAGE)])], ShaderStage::Compute).expect("a layout");
    assert_eq!(layout.sizes_slot, Some(1));
    let (options, pipeline) = layout.options("count");
    let (msl, _) = write_string(&module, &info, &options, &pipeline).expect("MSL");
    assert!(msl.contains("cells [[buffer(0)]]"), "{msl}");
    assert!(msl.contains("_buffer_sizes [[buffer(1)]]"), "{msl}");
}

/// gfx-rs/wgpu #2622 and #3047.
#[test]
fn trap_2_an_unused_array_keeps_its_size() {
    let (module, _) = shader(
        "@group(0) @binding(0) var<storage, read_write> a: array<u32>;
         @group(0) @binding(1) var<storage, read_write> b: array<u32>;
         @compute @workgroup_size(1) fn main() { b[0] = arrayLength(&b); }",
    );
    assert_eq!(runtime_array_bindings(&module), Ok(vec![at(0, 0), at(0, 1)]));
}

/// WebKit #39120.
#[test]
fn trap_3_one_slot_is_another_binding_in_each_stage() {
    let entries = [
        seen_by(ShaderStages::VERTEX, 0, READ_ONLY),
        seen_by(ShaderStages::FRAGMENT, 1, READ_ONLY),
    ];
    for (stage, binding) in [(ShaderStage::Vertex, 0), (ShaderStage::Fragment, 1)] {
        let layout = StageLayout::new(&[Some(&entries)], stage).expect("a layout");
        let expected = [(at(0, binding), buffer_slot(0, false))];
        assert_eq!(layout.resources, LiteMap::from_iter(expected));
        assert_eq!(layout.sizes_slot, Some(1));
    }
}

/// gogpu/wgpu #113.
#[test]
fn trap_4_tables_are_numbered_apart() {
    let group = [
        entry(0, UNIFORM),
        entry(1, TEXTURE),
        entry(2, SAMPLER),
        entry(3, STORAGE),
    ];
    let layout = StageLayout::new(&[Some(&group)], ShaderStage::Fragment).expect("a layout");
    let expected = [
        (at(0, 0), buffer_slot(0, false)),
        (at(0, 1), texture_slot(0, false)),
        (at(0, 2), sampler_slot(0)),
        (at(0, 3), buffer_slot(1, true)),
    ];
    assert_eq!(layout.resources, LiteMap::from_iter(expected));
}

/// gogpu/gogpu #170.
#[test]
fn trap_5_the_second_group_is_bound_where_the_shader_reads_it() {
    let first = [entry(0, UNIFORM), entry(1, UNIFORM), entry(2, TEXTURE)];
    let second = [entry(0, STORAGE), entry(1, TEXTURE)];
    let layout = StageLayout::new(&[Some(&first), Some(&second)], ShaderStage::Compute).expect("a layout");
    assert_eq!(layout.resources[&at(1, 0)], buffer_slot(2, true));
    assert_eq!(layout.resources[&at(1, 1)], texture_slot(1, false));
    // At the bind: the base and the slots inside the group.
    assert_eq!(layout.group_base[1], Some(counts(2, 1, 0)));
    assert_eq!(
        group_slots(&second, ShaderStage::Compute),
        (vec![in_buffers(0), in_textures(0)], counts(1, 1, 0))
    );
    // In the MSL.
    let (module, info) = shader(
        "@group(1) @binding(0) var<storage, read_write> out: vec4f;
         @group(1) @binding(1) var image: texture_2d<f32>;
         @compute @workgroup_size(1) fn main() { out = textureLoad(image, vec2(0), 0); }",
    );
    let (options, pipeline) = layout.options("main");
    let (msl, _) = write_string(&module, &info, &options, &pipeline).expect("MSL");
    assert!(
        msl.contains("out [[buffer(2)]]") || msl.contains("out_ [[buffer(2)]]"),
        "{msl}"
    );
    assert!(msl.contains("image [[texture(1)]]"), "{msl}");
}

/// gfx-rs/wgpu #10043.
#[test]
fn trap_6_a_stage_does_not_count_another_ones_bindings() {
    let first = [
        seen_by(ShaderStages::MESH, 0, UNIFORM),
        seen_by(ShaderStages::FRAGMENT, 1, TEXTURE),
    ];
    let second = [seen_by(ShaderStages::FRAGMENT, 0, UNIFORM)];
    let layout = StageLayout::new(&[Some(&first), Some(&second)], ShaderStage::Fragment).expect("a layout");
    let expected = [(at(0, 1), texture_slot(0, false)), (at(1, 0), buffer_slot(0, false))];
    assert_eq!(layout.resources, LiteMap::from_iter(expected));
    assert_eq!(layout.group_base, [Some(counts(0, 0, 0)), Some(counts(0, 1, 0))]);
}

/// gfx-rs/wgpu #5421.
#[test]
fn trap_7_the_order_of_the_list_changes_nothing() {
    let [a, b, c] = [entry(0, UNIFORM), entry(1, TEXTURE), entry(2, READ_ONLY)];
    let orders: [[BindGroupLayoutEntry; 3]; 6] = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]];
    for order in orders {
        let layout = StageLayout::new(&[Some(&order)], ShaderStage::Vertex).expect("a layout");
        let expected = [
            (at(0, 0), buffer_slot(0, false)),
            (at(0, 1), texture_slot(0, false)),
            (at(0, 2), buffer_slot(1, false)),
        ];
        assert_eq!(layout.resources, LiteMap::from_iter(expected));
        assert_eq!(layout.sizes_slot, Some(2));
        let sorted = sort_entries(&order);
        let expected = [in_buffers(0), in_textures(0), in_buffers(1)];
        assert_eq!(group_slots(&sorted, ShaderStage::Vertex).0, expected);
        // And unsorted, entry by entry.
        let (slots, _) = group_slots(&order, ShaderStage::Vertex);
        for (entry, slot) in order.iter().zip(slots) {
            assert_eq!(slot, expected[entry.binding as usize]);
        }
    }
}

/// gfx-rs/wgpu #7985 and #9034.
#[test]
fn trap_8_a_group_follows_a_hole() {
    let first = [entry(0, UNIFORM), entry(1, TEXTURE)];
    let third = [entry(0, UNIFORM), entry(1, TEXTURE), entry(2, SAMPLER)];
    for (hole, base) in [(None, None), (Some(&[][..]), Some(counts(1, 1, 0)))] {
        let layout = StageLayout::new(&[Some(&first), hole, Some(&third)], ShaderStage::Fragment).expect("a layout");
        assert_eq!(layout.group_base, [Some(counts(0, 0, 0)), base, Some(counts(1, 1, 0))]);
        assert_eq!(layout.resources[&at(2, 0)], buffer_slot(1, false));
        assert_eq!(layout.resources[&at(2, 1)], texture_slot(1, false));
        assert_eq!(layout.resources[&at(2, 2)], sampler_slot(0));
    }
}

/// gfx-rs/gfx #2913.
#[test]
fn trap_9_immediates_and_the_first_uniform_buffer_are_two_buffers() {
    let (module, info) = shader(
        "var<immediate> tint: vec4f;
         @group(0) @binding(0) var<uniform> scale: vec4f;
         @fragment fn shade() -> @location(0) vec4f { return tint * scale; }",
    );
    let extension = Extension {
        immediate_size: 16,
        vertex_pulling: false,
    };
    let layout = StageLayout::extended(&[Some(&[entry(0, UNIFORM)])], ShaderStage::Fragment, extension);
    let (options, pipeline) = layout.expect("a layout").options("shade");
    let (msl, _) = write_string(&module, &info, &options, &pipeline).expect("MSL");
    assert!(msl.contains("tint [[buffer(0)]]"), "{msl}");
    assert!(msl.contains("scale [[buffer(1)]]"), "{msl}");
}

/// gfx-rs/naga #2175 and #2237.
#[test]
fn trap_10_only_the_entry_point_that_uses_the_unlisted_resource_is_refused() {
    let (module, info) = shader(
        "@group(0) @binding(0) var<storage, read_write> listed: u32;
         @group(0) @binding(1) var<storage, read_write> unlisted: u32;
         @compute @workgroup_size(1) fn both() { listed = unlisted; }
         @compute @workgroup_size(1) fn one() { listed = 1u; }",
    );
    let layout = StageLayout::new(&[Some(&[entry(0, STORAGE)])], ShaderStage::Compute).expect("a layout");

    let (options, pipeline) = layout.options("both");
    let (msl, translation) = write_string(&module, &info, &options, &pipeline).expect("a translation");
    assert_eq!(
        translation.entry_point_names,
        [Err(EntryPointError::MissingBindTarget(at(0, 1)))]
    );
    assert!(!msl.contains("kernel"), "{msl}");

    let (options, pipeline) = layout.options("one");
    let (msl, translation) = write_string(&module, &info, &options, &pipeline).expect("a translation");
    assert_eq!(translation.entry_point_names, [Ok("one".to_owned())]);
    assert!(msl.contains("listed [[buffer(0)]]"), "{msl}");
}

/// WebKit #27202 and #37935.
#[test]
fn trap_24_each_group_counts_its_own_dynamic_offsets() {
    let dynamic = |binding| {
        entry(
            binding,
            BindingType::Buffer {
                ty: BufferBindingType::Uniform,
                has_dynamic_offset: true,
                min_binding_size: None,
            },
        )
    };
    let first = [dynamic(7), entry(3, UNIFORM), dynamic(2)];
    let second = [entry(4, UNIFORM), dynamic(1)];
    let third = [dynamic(5)];
    assert_eq!(dynamic_offsets(&first), [Some(1), None, Some(0)]);
    assert_eq!(dynamic_offsets(&second), [None, Some(0)]);
    assert_eq!(dynamic_offsets(&third), [Some(0)]);
}
