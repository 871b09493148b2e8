//! What changed between two releases of wgpu-hal: a fixed set of layouts, systems and binds, asked of both.
//!
//! It shows what the set can show. A change that no case of it meets is for the campaign to find.

use crate::bind::{
    BindGroup, BufferBinding, Command, Pipeline, PipelineLayout, PipelineStage, Resource, Scene, Tables,
};
use crate::{Layout, Platform, System, Upstream, STAGES};
use naga::{ResourceBinding, ShaderStage};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::num::NonZeroU32;
use std::panic::{catch_unwind, AssertUnwindSafe};
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages, StorageTextureAccess,
    TextureFormat, TextureSampleType, TextureViewDimension,
};

/// One thing that two releases answer differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drift {
    /// What was asked.
    pub what: String,
    /// The older release's answer.
    pub older: String,
    /// The newer release's answer.
    pub newer: String,
}

/// Everything of the fixed set that the two releases answer differently. A panic is an answer too; while this runs,
/// panics of other threads are not reported.
pub fn drift(older: &Upstream, newer: &Upstream) -> Vec<Drift> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let found = answers(older).into_iter().zip(answers(newer));
    let found = found
        .flat_map(|((what, older), (_, newer))| compare(&what, older, newer))
        .collect();
    std::panic::set_hook(hook);
    found
}

/// The parts of an answer by name, or what came instead of one.
type Answer = Result<BTreeMap<String, String>, String>;

fn compare(what: &str, older: Answer, newer: Answer) -> Vec<Drift> {
    let row = |what: String, older: &str, newer: &str| Drift {
        what,
        older: older.to_string(),
        newer: newer.to_string(),
    };
    let (older, newer) = match (older, newer) {
        (Ok(older), Ok(newer)) => (older, newer),
        (older, newer) if older == newer => return vec![],
        (older, newer) => {
            let [older, newer] = [older, newer].map(|answer| answer.map_or_else(|why| why, |_| "takes it".to_string()));
            return vec![row(what.to_string(), &older, &newer)];
        }
    };
    let parts: BTreeSet<&String> = older.keys().chain(newer.keys()).collect();
    let text =
        |answer: &BTreeMap<String, String>, part: &str| answer.get(part).map_or("none", String::as_str).to_string();
    let changed = parts.into_iter().filter(|part| older.get(*part) != newer.get(*part));
    changed
        .map(|part| row(format!("{what}: {part}"), &text(&older, part), &text(&newer, part)))
        .collect()
}

/// One release's answers to the fixed set.
fn answers(upstream: &Upstream) -> Vec<(String, Answer)> {
    let versions = systems().into_iter().map(|system| {
        let parts = BTreeMap::from([
            (
                "language version".to_string(),
                format!("{:?}", (upstream.language_version)(system)),
            ),
            (
                "preserves invariance".to_string(),
                format!("{:?}", (upstream.preserve_invariance)(system)),
            ),
        ]);
        (
            format!("{:?} {}.{}", system.platform, system.major, system.minor),
            Ok(parts),
        )
    });
    let layouts = layouts().into_iter().map(|(name, layout)| {
        let groups: Vec<_> = layout.groups.iter().map(Option::as_deref).collect();
        let made = attempt(|| (upstream.layout)(&groups, layout.immediate_size));
        let made = made.and_then(|made| made.map_err(|error| format!("refuses it: {error:?}")));
        (format!("layout of {name}"), made.map(layout_parts))
    });
    let binds = scenes().into_iter().map(|(name, scene)| {
        let bound = attempt(|| (upstream.play)(&scene));
        let parts =
            |bound: Vec<crate::bind::Bound>| bound.iter().flat_map(|bound| bound_parts(&bound.stages)).collect();
        (format!("bind of {name}"), bound.map(parts))
    });
    versions.chain(layouts).chain(binds).collect()
}

fn attempt<T>(ask: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(ask)).map_err(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or(panic.downcast_ref::<&str>().copied());
        format!("panics: {}", text.unwrap_or("without words"))
    })
}

fn layout_parts(layout: Layout) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    for (stage, found) in STAGES.iter().zip(layout.stages) {
        let mut add =
            |part: String, value: &dyn Debug| parts.insert(format!("{stage:?}, {part}"), format!("{value:?}"));
        add("sizes slot".to_string(), &found.sizes_slot);
        add("immediates slot".to_string(), &found.immediates_slot);
        add("bases".to_string(), &found.bases);
        for (binding, target) in &found.resources {
            add(format!("group {} binding {}", binding.group, binding.binding), target);
        }
    }
    for (binding, length) in layout.binding_array_lengths {
        parts.insert(
            format!("length of group {} binding {}", binding.group, binding.binding),
            length.to_string(),
        );
    }
    parts
}

fn bound_parts(stages: &[Tables; 5]) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::new();
    for (stage, tables) in STAGES.iter().zip(stages) {
        let mut add =
            |part: String, value: &dyn Debug| parts.insert(format!("{stage:?}, {part}"), format!("{value:?}"));
        tables
            .buffers
            .iter()
            .for_each(|(slot, what)| drop(add(format!("buffer {slot}"), what)));
        tables
            .textures
            .iter()
            .for_each(|(slot, what)| drop(add(format!("texture {slot}"), what)));
        tables
            .samplers
            .iter()
            .for_each(|(slot, what)| drop(add(format!("sampler {slot}"), what)));
    }
    parts
}

/// Every version at which one of the releases known today chooses anew, and the one before all.
fn systems() -> Vec<System> {
    let macos = [
        (10, 10),
        (10, 11),
        (10, 12),
        (10, 13),
        (10, 14),
        (10, 15),
        (11, 0),
        (12, 0),
        (13, 0),
        (14, 0),
        (15, 0),
    ];
    let macos = macos
        .into_iter()
        .chain([(26, 0), (27, 0)])
        .map(|version| (Platform::MacOs, version));
    let mobile = |platform| (8..=18).chain([26, 27]).map(move |major| (platform, (major, 0)));
    let vision = [1, 2, 26, 27].map(|major| (Platform::VisionOs, (major, 0)));
    let all = macos
        .chain(mobile(Platform::Ios))
        .chain(mobile(Platform::TvOs))
        .chain(vision);
    all.map(|(platform, (major, minor))| System { platform, major, minor })
        .collect()
}

const SAMPLER: BindingType = BindingType::Sampler(SamplerBindingType::Filtering);
const TEXTURE: BindingType = BindingType::Texture {
    sample_type: TextureSampleType::Float { filterable: true },
    view_dimension: TextureViewDimension::D2,
    multisampled: false,
};
const UNIFORM: BindingType = buffer(BufferBindingType::Uniform);
const STORAGE: BindingType = buffer(BufferBindingType::Storage { read_only: false });
const READ_ONLY: BindingType = buffer(BufferBindingType::Storage { read_only: true });
const ALL: ShaderStages = ShaderStages::VERTEX_FRAGMENT.union(ShaderStages::COMPUTE);

const fn buffer(ty: BufferBindingType) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

/// Entries of these types, numbered from 0; a count makes an array.
fn entries(visibility: ShaderStages, types: &[(BindingType, u32)]) -> Vec<BindGroupLayoutEntry> {
    let entry = |(number, (ty, count)): (usize, &(BindingType, u32))| BindGroupLayoutEntry {
        binding: number as u32,
        visibility,
        ty: *ty,
        count: NonZeroU32::new(*count),
    };
    types.iter().enumerate().map(entry).collect()
}

/// Layouts by name: each kind of binding, and each limit.
fn layouts() -> Vec<(&'static str, PipelineLayout)> {
    let storage_texture = |access| {
        (
            BindingType::StorageTexture {
                access,
                format: TextureFormat::R32Uint,
                view_dimension: TextureViewDimension::D2,
            },
            0,
        )
    };
    let one = |types: &[(BindingType, u32)]| vec![Some(entries(ALL, types))];
    let all_kinds = [(UNIFORM, 0), (TEXTURE, 0), (SAMPLER, 0), (STORAGE, 0), (READ_ONLY, 0)];
    let storage_textures = [
        storage_texture(StorageTextureAccess::ReadOnly),
        storage_texture(StorageTextureAccess::WriteOnly),
        storage_texture(StorageTextureAccess::ReadWrite),
        storage_texture(StorageTextureAccess::Atomic),
    ];
    let acceleration_structure = (BindingType::AccelerationStructure { vertex_return: false }, 0);
    let mesh = ShaderStages::TASK | ShaderStages::MESH;
    let twice = || [entries(ALL, &[(UNIFORM, 0)]), entries(ALL, &[(UNIFORM, 0)])].concat();
    let layout = |groups| PipelineLayout {
        groups,
        immediate_size: 0,
    };
    vec![
        ("nothing", layout(vec![])),
        (
            "nothing but immediates",
            PipelineLayout {
                groups: vec![],
                immediate_size: 16,
            },
        ),
        (
            "immediates and a buffer",
            PipelineLayout {
                groups: one(&[(STORAGE, 0)]),
                immediate_size: 4,
            },
        ),
        ("every plain kind", layout(one(&all_kinds))),
        (
            "every plain kind in task and mesh stages",
            layout(vec![Some(entries(mesh, &all_kinds))]),
        ),
        ("storage textures", layout(one(&storage_textures))),
        ("an acceleration structure", layout(one(&[acceleration_structure]))),
        (
            "an external texture",
            layout(one(&[(TEXTURE, 0), (BindingType::ExternalTexture, 0), (TEXTURE, 0)])),
        ),
        ("an array of textures", layout(one(&[(TEXTURE, 3), (TEXTURE, 0)]))),
        ("an array of samplers", layout(one(&[(SAMPLER, 1), (SAMPLER, 0)]))),
        (
            "an array of uniform buffers",
            layout(one(&[(UNIFORM, 2), (UNIFORM, 0)])),
        ),
        (
            "an array of storage buffers",
            layout(one(&[(STORAGE, 2), (STORAGE, 0)])),
        ),
        (
            "an absent group and an empty one",
            layout([one(&all_kinds), vec![None, Some(vec![])], one(&all_kinds)].concat()),
        ),
        (
            "what no stage sees",
            layout(vec![Some(entries(ShaderStages::NONE, &all_kinds))]),
        ),
        ("a binding twice", layout(vec![Some(twice())])),
        ("32 buffers", layout(one(&[(UNIFORM, 0); 32]))),
        ("129 textures", layout(one(&[(TEXTURE, 0); 129]))),
        ("17 samplers", layout(one(&[(SAMPLER, 0); 17]))),
        ("9 groups", layout(vec![Some(vec![]); 9])),
    ]
}

fn bound_buffer(id: u32) -> Resource {
    Resource::Buffer(BufferBinding {
        id,
        buffer_size: 64,
        offset: 16,
        size: None,
    })
}

/// One group, one pipeline of these stages, then a draw or dispatch.
fn scene(
    visibility: ShaderStages,
    bindings: Vec<(BindingType, Vec<Resource>)>,
    stages: &[(ShaderStage, &[(u32, u32)])],
) -> Scene {
    let types: Vec<_> = bindings
        .iter()
        .map(|(ty, of)| (*ty, if of.len() > 1 { of.len() as u32 } else { 0 }))
        .collect();
    let layout = entries(visibility, &types);
    let stage = |(stage, runtime_arrays): &(ShaderStage, &[(u32, u32)])| PipelineStage {
        stage: *stage,
        runtime_arrays: runtime_arrays
            .iter()
            .map(|(number, i)| {
                (
                    ResourceBinding {
                        group: 0,
                        binding: *number,
                    },
                    *i,
                )
            })
            .collect(),
        vertex_buffers: if *stage == ShaderStage::Vertex {
            vec![0, 1]
        } else {
            vec![]
        },
    };
    let vertex_buffer = |slot| Command::SetVertexBuffer {
        slot,
        buffer: BufferBinding {
            id: 90 + slot,
            buffer_size: 100,
            offset: 4,
            size: None,
        },
    };
    let is_compute = stages.iter().any(|(stage, _)| *stage == ShaderStage::Compute);
    let set = [
        Command::SetPipeline(0),
        Command::SetBindGroup {
            layout: 0,
            index: 0,
            group: 0,
            dynamic_offsets: vec![],
        },
        Command::SetImmediates {
            layout: 0,
            offset: 0,
            data: vec![5],
        },
    ];
    let (begin, end) = match is_compute {
        true => (Command::BeginComputePass, Command::Dispatch),
        false => (Command::BeginRenderPass, Command::Draw),
    };
    let vertex_buffers = stages
        .iter()
        .filter(|(stage, _)| *stage == ShaderStage::Vertex)
        .flat_map(|_| [0, 1]);
    let bound = vertex_buffers.map(vertex_buffer);
    let commands = [begin].into_iter().chain(bound).chain(set).chain([end]).collect();
    Scene {
        layouts: vec![PipelineLayout {
            groups: vec![Some(layout.clone())],
            immediate_size: 4,
        }],
        groups: vec![BindGroup {
            layout,
            resources: bindings.into_iter().map(|(_, of)| of).collect(),
        }],
        pipelines: vec![Pipeline {
            layout: 0,
            stages: stages.iter().map(stage).collect(),
        }],
        commands,
    }
}

/// Binds by name.
fn scenes() -> Vec<(&'static str, Scene)> {
    let compute: &[(ShaderStage, &[(u32, u32)])] = &[(ShaderStage::Compute, &[])];
    let render: &[(ShaderStage, &[(u32, u32)])] =
        &[(ShaderStage::Vertex, &[(0, 0)]), (ShaderStage::Fragment, &[(1, 0)])];
    let mesh: &[(ShaderStage, &[(u32, u32)])] = &[
        (ShaderStage::Task, &[]),
        (ShaderStage::Mesh, &[]),
        (ShaderStage::Fragment, &[]),
    ];
    let plain = || {
        vec![
            (STORAGE, vec![bound_buffer(1)]),
            (READ_ONLY, vec![bound_buffer(2)]),
            (TEXTURE, vec![Resource::Texture(3)]),
            (SAMPLER, vec![Resource::Sampler(4)]),
        ]
    };
    let parameters = BufferBinding {
        id: 4,
        buffer_size: 64,
        offset: 0,
        size: None,
    };
    let external = Resource::ExternalTexture {
        planes: [1, 2, 3],
        parameters,
    };
    let textures = vec![Resource::Texture(1), Resource::Texture(2)];
    let mesh_stages = ShaderStages::TASK | ShaderStages::MESH | ShaderStages::FRAGMENT;
    vec![
        ("plain resources for a draw", scene(ALL, plain(), render)),
        (
            "plain resources for a dispatch",
            scene(ALL, plain(), &[(ShaderStage::Compute, &[(1, 0), (0, 0)])]),
        ),
        (
            "plain resources for task and mesh stages",
            scene(mesh_stages, plain(), mesh),
        ),
        (
            "an external texture",
            scene(ALL, vec![(BindingType::ExternalTexture, vec![external])], compute),
        ),
        ("an array of textures", scene(ALL, vec![(TEXTURE, textures)], compute)),
        (
            "an array of storage buffers",
            scene(
                ALL,
                vec![(STORAGE, vec![bound_buffer(1), bound_buffer(2)])],
                &[(ShaderStage::Compute, &[(0, 0), (0, 1)])],
            ),
        ),
    ]
}
