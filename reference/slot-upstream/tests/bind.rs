//! The bind by wgpu-hal's own functions: what stands in the argument tables at each draw and dispatch, written out.

mod common;

use common::*;
use naga::ShaderStage;
use slot_upstream::bind::{
    BindGroup, Bound, BufferBinding, BufferSlot, Command, Element, Pipeline, PipelineLayout, PipelineStage, Resource,
    Scene, Tables,
};
use slot_upstream::play;
use std::collections::BTreeMap;
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

const VERTEX: usize = 0;
const FRAGMENT: usize = 1;
const COMPUTE: usize = 2;
const TASK: usize = 3;
const MESH: usize = 4;

fn whole(id: u32, buffer_size: u64) -> Resource {
    Resource::Buffer(BufferBinding {
        id,
        buffer_size,
        offset: 0,
        size: None,
    })
}

fn part(id: u32, buffer_size: u64, offset: u64, size: u64) -> Resource {
    Resource::Buffer(BufferBinding {
        id,
        buffer_size,
        offset,
        size: Some(size),
    })
}

fn buffer(id: u32, offset: u64) -> BufferSlot {
    BufferSlot::Buffer { id, offset }
}

fn words(words: &[u32]) -> BufferSlot {
    BufferSlot::Bytes(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

fn stage(stage: ShaderStage, runtime_arrays: &[(u32, u32)]) -> PipelineStage {
    let runtime_arrays = runtime_arrays
        .iter()
        .map(|(group, number)| (binding(*group, *number), 0))
        .collect();
    PipelineStage {
        stage,
        runtime_arrays,
        vertex_buffers: vec![],
    }
}

fn set_group(index: u32, group: usize, dynamic_offsets: &[u32]) -> Command {
    Command::SetBindGroup {
        layout: 0,
        index,
        group,
        dynamic_offsets: dynamic_offsets.to_vec(),
    }
}

/// A scene of one pipeline layout, whose groups are the layouts of the bind groups.
fn scene(groups: Vec<BindGroup>, pipelines: Vec<Pipeline>, commands: Vec<Command>) -> Scene {
    let layouts = groups.iter().map(|group| Some(group.layout.clone())).collect();
    Scene {
        layouts: vec![PipelineLayout {
            groups: layouts,
            immediate_size: 0,
        }],
        groups,
        pipelines,
        commands,
    }
}

fn group(entries: Vec<(BindGroupLayoutEntry, Vec<Resource>)>) -> BindGroup {
    let (layout, resources) = entries.into_iter().unzip();
    BindGroup { layout, resources }
}

fn buffers(bound: &Bound, stage: usize) -> &BTreeMap<u32, BufferSlot> {
    &bound.stages[stage].buffers
}

#[test]
fn a_dispatch_finds_its_resources_at_base_and_place() {
    let stages = ShaderStages::COMPUTE;
    let first = group(vec![
        (entry(0, ShaderStages::FRAGMENT, uniform(false)), vec![whole(90, 16)]),
        (entry(1, stages, uniform(false)), vec![part(10, 512, 256, 64)]),
        (entry(2, stages, SAMPLED), vec![Resource::Texture(11)]),
        (entry(3, stages, SAMPLER), vec![Resource::Sampler(12)]),
    ]);
    let second = group(vec![
        (entry(5, stages, storage(false)), vec![part(20, 4096, 1024, 12)]),
        (entry(7, stages, storage(true)), vec![whole(21, 100)]),
        (entry(8, stages, SAMPLED), vec![Resource::Texture(22)]),
    ]);
    let pipeline = Pipeline {
        layout: 0,
        stages: vec![stage(ShaderStage::Compute, &[(1, 7), (1, 5)])],
    };
    // The later group first, before the pipeline.
    let commands = vec![
        Command::BeginComputePass,
        set_group(1, 1, &[]),
        Command::SetPipeline(0),
        set_group(0, 0, &[]),
        Command::Dispatch,
    ];
    let bound = play(&scene(vec![first, second], vec![pipeline], commands));
    let mut stages: [Tables; 5] = Default::default();
    stages[COMPUTE] = Tables {
        buffers: BTreeMap::from([
            (0, buffer(10, 256)),
            (1, buffer(20, 1024)),
            (2, buffer(21, 0)),
            // The sizes slot: in the order of declaration.
            (3, words(&[100, 12])),
        ]),
        textures: BTreeMap::from([(0, 11), (1, 22)]),
        samplers: BTreeMap::from([(0, 12)]),
    };
    assert_eq!(bound, [Bound { command: 4, stages }]);
}

#[test]
fn dynamic_offsets_go_by_binding_order_whether_visible_or_not() {
    let all = ShaderStages::VERTEX_FRAGMENT;
    let only = group(vec![
        (
            entry(0, ShaderStages::FRAGMENT, uniform(true)),
            vec![part(1, 1024, 256, 16)],
        ),
        (entry(1, all, uniform(false)), vec![whole(2, 16)]),
        (entry(2, ShaderStages::NONE, uniform(true)), vec![whole(3, 1024)]),
        (entry(3, all, uniform(true)), vec![whole(4, 1024)]),
    ]);
    let stages = vec![stage(ShaderStage::Vertex, &[]), stage(ShaderStage::Fragment, &[])];
    let commands = vec![
        Command::BeginRenderPass,
        Command::SetPipeline(0),
        set_group(0, 0, &[256, 512, 768]),
        Command::Draw,
        set_group(0, 0, &[0, 0, 256]),
        Command::Draw,
    ];
    let bound = play(&scene(vec![only], vec![Pipeline { layout: 0, stages }], commands));
    let vertex = |offset| BTreeMap::from([(0, buffer(2, 0)), (1, buffer(4, offset))]);
    let fragment = |first, last| BTreeMap::from([(0, buffer(1, first)), (1, buffer(2, 0)), (2, buffer(4, last))]);
    assert_eq!(buffers(&bound[0], VERTEX), &vertex(768));
    assert_eq!(buffers(&bound[0], FRAGMENT), &fragment(512, 768));
    assert_eq!(buffers(&bound[1], VERTEX), &vertex(256));
    assert_eq!(buffers(&bound[1], FRAGMENT), &fragment(256, 256));
    assert_eq!((bound[0].command, bound[1].command), (3, 5));
}

#[test]
fn another_pipeline_finds_the_groups_left_standing_and_its_own_sizes() {
    let stages = ShaderStages::COMPUTE;
    let only = group(vec![
        (entry(0, stages, storage(false)), vec![whole(1, 40)]),
        (entry(1, stages, storage(false)), vec![whole(2, 80)]),
    ]);
    let pipeline = |arrays: &[(u32, u32)]| Pipeline {
        layout: 0,
        stages: vec![stage(ShaderStage::Compute, arrays)],
    };
    let pipelines = vec![pipeline(&[]), pipeline(&[(0, 1)]), pipeline(&[(0, 1), (0, 0)])];
    let commands = vec![
        Command::BeginComputePass,
        Command::SetPipeline(0),
        set_group(0, 0, &[]),
        Command::Dispatch,
        Command::SetPipeline(1),
        Command::Dispatch,
        Command::SetPipeline(2),
        Command::Dispatch,
        // A new pass: nothing is bound, and the sizes are 0.
        Command::BeginComputePass,
        Command::SetPipeline(1),
        Command::Dispatch,
    ];
    let bound = play(&scene(vec![only], pipelines, commands));
    let standing = [(0, buffer(1, 0)), (1, buffer(2, 0))];
    let with_sizes = |sizes: &[u32]| BTreeMap::from_iter(standing.clone().into_iter().chain([(2, words(sizes))]));
    assert_eq!(buffers(&bound[0], COMPUTE), &BTreeMap::from(standing.clone()));
    assert_eq!(buffers(&bound[1], COMPUTE), &with_sizes(&[80]));
    assert_eq!(buffers(&bound[2], COMPUTE), &with_sizes(&[80, 40]));
    assert_eq!(buffers(&bound[3], COMPUTE), &BTreeMap::from([(2, words(&[0]))]));
}

#[test]
fn vertex_buffers_count_down_from_30_and_end_the_sizes_of_the_vertex_stage() {
    let only = group(vec![(
        entry(0, ShaderStages::VERTEX, storage(true)),
        vec![whole(1, 12)],
    )]);
    let vertex = PipelineStage {
        vertex_buffers: vec![0, 2],
        ..stage(ShaderStage::Vertex, &[(0, 0)])
    };
    let vertex_buffer = |slot, id, offset, size| Command::SetVertexBuffer {
        slot,
        buffer: BufferBinding {
            id,
            buffer_size: 1000,
            offset,
            size,
        },
    };
    let commands = vec![
        Command::BeginRenderPass,
        vertex_buffer(2, 7, 100, None),
        Command::SetPipeline(0),
        set_group(0, 0, &[]),
        vertex_buffer(0, 6, 8, Some(64)),
        vertex_buffer(1, 5, 0, Some(32)),
        Command::Draw,
    ];
    let pipeline = Pipeline {
        layout: 0,
        stages: vec![vertex],
    };
    let bound = play(&scene(vec![only], vec![pipeline], commands));
    assert_eq!(
        buffers(&bound[0], VERTEX),
        &BTreeMap::from([
            (0, buffer(1, 0)),
            (1, words(&[12, 64, 900])),
            (28, buffer(7, 100)),
            (29, buffer(5, 0)),
            (30, buffer(6, 8)),
        ])
    );
}

#[test]
fn an_array_is_one_argument_buffer_and_each_of_its_buffers_has_a_size() {
    let stages = ShaderStages::FRAGMENT;
    let elements = vec![part(1, 100, 16, 20), whole(2, 60)];
    let only = group(vec![
        (array(0, stages, storage(true), 2), elements),
        (
            array(1, stages, SAMPLED, 3),
            vec![Resource::Texture(7), Resource::Texture(8), Resource::Texture(9)],
        ),
        (entry(2, stages, SAMPLED), vec![Resource::Texture(3)]),
    ]);
    let runtime_arrays = vec![(binding(0, 0), 0), (binding(0, 0), 1)];
    let fragment = PipelineStage {
        runtime_arrays,
        ..stage(ShaderStage::Fragment, &[])
    };
    let pipeline = Pipeline {
        layout: 0,
        stages: vec![stage(ShaderStage::Vertex, &[]), fragment],
    };
    let commands = vec![
        Command::BeginRenderPass,
        Command::SetPipeline(0),
        set_group(0, 0, &[]),
        Command::Draw,
    ];
    let bound = play(&scene(vec![only], vec![pipeline], commands));
    let element = |id, offset| Element { id, offset };
    assert_eq!(
        bound[0].stages[FRAGMENT],
        Tables {
            buffers: BTreeMap::from([
                (0, BufferSlot::Array(vec![element(1, 16), element(2, 0)])),
                (1, BufferSlot::Array(vec![element(7, 0), element(8, 0), element(9, 0)])),
                (2, words(&[20, 60])),
            ]),
            textures: BTreeMap::from([(0, 3)]),
            samplers: BTreeMap::new(),
        }
    );
    assert_eq!(bound[0].stages[VERTEX], Tables::default());
}

#[test]
fn an_external_texture_takes_three_textures_and_a_buffer() {
    let parameters = BufferBinding {
        id: 4,
        buffer_size: 256,
        offset: 64,
        size: Some(96),
    };
    let only = group(vec![
        (entry(0, ShaderStages::COMPUTE, SAMPLED), vec![Resource::Texture(9)]),
        (
            entry(1, ShaderStages::COMPUTE, BindingType::ExternalTexture),
            vec![Resource::ExternalTexture {
                planes: [1, 2, 3],
                parameters,
            }],
        ),
        (
            entry(
                2,
                ShaderStages::COMPUTE,
                BindingType::AccelerationStructure { vertex_return: false },
            ),
            vec![Resource::AccelerationStructure(5)],
        ),
    ]);
    let pipeline = Pipeline {
        layout: 0,
        stages: vec![stage(ShaderStage::Compute, &[])],
    };
    let commands = vec![
        Command::BeginComputePass,
        Command::SetPipeline(0),
        set_group(0, 0, &[]),
        Command::Dispatch,
    ];
    let bound = play(&scene(vec![only], vec![pipeline], commands));
    assert_eq!(
        bound[0].stages[COMPUTE],
        Tables {
            buffers: BTreeMap::from([(0, buffer(4, 64)), (1, BufferSlot::AccelerationStructure(5))]),
            textures: BTreeMap::from([(0, 9), (1, 1), (2, 2), (3, 3)]),
            samplers: BTreeMap::new(),
        }
    );
}

/// wgpu-hal counts immediates in bytes and passes as many words: the tail is 0.
#[test]
fn immediates_stand_at_slot_0_of_every_stage() {
    let only = group(vec![(
        entry(0, ShaderStages::VERTEX, uniform(false)),
        vec![whole(1, 16)],
    )]);
    let pipeline = Pipeline {
        layout: 0,
        stages: vec![stage(ShaderStage::Vertex, &[])],
    };
    let commands = vec![
        Command::BeginRenderPass,
        Command::SetPipeline(0),
        set_group(0, 0, &[]),
        Command::SetImmediates {
            layout: 0,
            offset: 4,
            data: vec![7],
        },
        Command::Draw,
    ];
    let mut scene = scene(vec![only], vec![pipeline], commands);
    scene.layouts[0].immediate_size = 8;
    let bound = play(&scene);
    let immediates = words(&[0, 7, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        buffers(&bound[0], VERTEX),
        &BTreeMap::from([(0, immediates.clone()), (1, buffer(1, 0))])
    );
    for stage in [FRAGMENT, TASK, MESH] {
        assert_eq!(buffers(&bound[0], stage), &BTreeMap::from([(0, immediates.clone())]));
    }
    assert_eq!(buffers(&bound[0], COMPUTE), &BTreeMap::new());
}

/// The ledger's line on task and mesh stages: resources lie in the order vertex, fragment, compute, task, mesh, and are
/// read as if the task stage's came first. So the task stage here has the fragment stage's buffer.
#[test]
fn task_and_mesh_resources_are_bound_wrongly_by_this_release() {
    let only = group(vec![
        (entry(0, ShaderStages::TASK, uniform(false)), vec![whole(1, 16)]),
        (entry(1, ShaderStages::FRAGMENT, uniform(false)), vec![whole(2, 16)]),
    ]);
    let stages = vec![
        stage(ShaderStage::Task, &[]),
        stage(ShaderStage::Mesh, &[]),
        stage(ShaderStage::Fragment, &[]),
    ];
    let commands = vec![
        Command::BeginRenderPass,
        Command::SetPipeline(0),
        set_group(0, 0, &[]),
        Command::Draw,
    ];
    let bound = play(&scene(vec![only], vec![Pipeline { layout: 0, stages }], commands));
    assert_eq!(buffers(&bound[0], TASK), &BTreeMap::from([(0, buffer(2, 0))]));
    assert_eq!(buffers(&bound[0], FRAGMENT), &BTreeMap::from([(0, buffer(1, 0))]));
}
