// Included by each module of `upstream!`, which holds `hal`: what calls wgpu-hal's functions and stands in for what
// they need of a device.

use crate::bind::{self, Bound, Command, Resource, Scene, Tables};
use crate::objc::objc2::rc::Retained;
use crate::objc::objc2::runtime::{Protocol, ProtocolObject};
use crate::objc::objc2::with_system;
use crate::objc::{objc2_metal, BufferState, RenderState};
use crate::{Counts, DeviceError, Groups, Layout, Stage, System, Upstream, STAGES};
use externs::naga::back::msl::{VertexBufferMapping, VertexBufferStepMode};
use hal::metal;
use stand_ins::metal::{CommandEncoder, Device};
use std::num::NonZeroU64;

/// Version of the wgpu-hal package.
pub const VERSION: &str = externs::VERSION;

/// These functions as data.
pub const UPSTREAM: Upstream = Upstream {
    version: VERSION,
    layout,
    language_version,
    preserve_invariance,
    play,
};

mod stand_ins {
    use super::externs::wgt;

    /// For items of wgpu-hal's root.
    pub mod root {
        use super::super::externs::{naga, wgt};
        pub use crate::DeviceError;

        /// A type's bound in wgpu-hal's descriptors: here anything keeps it.
        macro_rules! bounds {
            ($($name:ident),*) => {
                $(pub trait $name {}
                impl<T: ?Sized> $name for T {})*
            };
        }

        bounds!(
            DynAccelerationStructure,
            DynBindGroupLayout,
            DynBuffer,
            DynSampler,
            DynShaderModule,
            DynTextureView
        );

        /// Why `load_shader` gives no shader.
        #[derive(Clone, Debug)]
        #[allow(dead_code)]
        pub enum PipelineError {
            Linkage(wgt::ShaderStages, String),
            EntryPoint(naga::ShaderStage),
            PipelineConstants(wgt::ShaderStages, String),
        }

        #[derive(Clone, Copy, Debug)]
        pub struct FormatAspects;

        #[derive(Clone, Copy, Debug)]
        pub struct PipelineLayoutFlags;
    }

    /// For items of wgpu-hal's module `metal`.
    pub mod metal {
        use super::super::hal::metal::{CommandState, Temp};
        use super::wgt;
        use crate::objc::objc2::rc::Retained;
        use crate::objc::objc2::runtime::ProtocolObject;
        use crate::objc::objc2_metal::{MTLDevice, MTLLanguageVersion};
        use std::sync::Arc;

        #[allow(dead_code)]
        pub struct PrivateCapabilities {
            pub msl_version: MTLLanguageVersion,
            pub mesh_shaders: bool,
            // Asked for by wgpu-hal 29 alone.
            pub max_buffers_per_stage: u32,
            pub max_textures_per_stage: u32,
            pub max_samplers_per_stage: u32,
            pub max_vertex_buffers: u32,
        }

        pub struct AdapterShared {
            pub device: Retained<ProtocolObject<dyn MTLDevice>>,
            pub private_caps: PrivateCapabilities,
        }

        pub struct Device {
            pub shared: Arc<AdapterShared>,
            pub counters: Arc<wgt::HalCounters>,
            // Asked for by wgpu-hal 30 alone.
            #[allow(dead_code)]
            pub limits: wgt::Limits,
        }

        pub struct CommandEncoder {
            pub shared: Arc<AdapterShared>,
            pub state: CommandState,
            pub temp: Temp,
        }
    }
}

thread_local! {
    static DEVICE: Device = device(objc2_metal::MTLLanguageVersion::Version1_0);
}

/// A device like Apple's of today: mesh shaders, and the argument tables' full lengths.
fn device(msl_version: objc2_metal::MTLLanguageVersion) -> Device {
    let private_caps = stand_ins::metal::PrivateCapabilities {
        msl_version,
        mesh_shaders: true,
        max_buffers_per_stage: 31,
        max_textures_per_stage: 128,
        max_samplers_per_stage: 16,
        max_vertex_buffers: 16,
    };
    let shared = stand_ins::metal::AdapterShared {
        device: Retained::new(ProtocolObject(())),
        private_caps,
    };
    Device {
        shared: shared.into(),
        counters: Default::default(),
        limits: Default::default(),
    }
}

/// What `create_pipeline_layout` makes of the layouts of groups and a number of bytes of immediates.
///
/// # Errors
///
/// wgpu-hal 29 refuses a layout with more resources in a stage than 31 buffers, 128 textures or 16 samplers; 30 refuses
/// nothing.
///
/// # Panics
///
/// As upstream does: over [`crate::MAX_BIND_GROUPS`] groups, when the ninth or a later one is there.
pub fn layout(groups: Groups<'_>, immediate_size: u32) -> Result<Layout, DeviceError> {
    let groups: Vec<_> = groups.iter().map(|group| group.map(bind_group_layout)).collect();
    pipeline_layout(&groups, immediate_size).map(plain_layout)
}

fn bind_group_layout(entries: &[wgpu_types::BindGroupLayoutEntry]) -> metal::BindGroupLayout {
    metal::BindGroupLayout {
        entries: externs::entries(entries),
    }
}

fn pipeline_layout(
    groups: &[Option<metal::BindGroupLayout>],
    immediate_size: u32,
) -> Result<metal::PipelineLayout, DeviceError> {
    let groups: Vec<Option<&metal::BindGroupLayout>> = groups.iter().map(Option::as_ref).collect();
    let descriptor = hal::PipelineLayoutDescriptor {
        label: None,
        flags: stand_ins::root::PipelineLayoutFlags,
        bind_group_layouts: &groups,
        immediate_size,
    };
    // SAFETY: upstream asks that the layouts be of this device; the stand-ins have no other needs.
    DEVICE.with(|device| unsafe { device.create_pipeline_layout(&descriptor) })
}

fn plain_layout(mut layout: metal::PipelineLayout) -> Layout {
    let mut stages = STAGES.map(|stage| {
        let stage = externs::stage(stage);
        let counts = |info: &metal::BindGroupLayoutInfo| {
            let base = &info.base_resource_indices[stage];
            Counts {
                buffers: base.buffers,
                textures: base.textures,
                samplers: base.samplers,
            }
        };
        let found = &layout.per_stage_map[stage];
        Stage {
            resources: Default::default(),
            sizes_slot: found.sizes_buffer,
            immediates_slot: found.immediates_buffer,
            bases: std::array::from_fn(|group| layout.bind_group_infos[group].as_ref().map(counts)),
        }
    });
    // The order of `STAGES`.
    let map = &mut layout.per_stage_map;
    let found = [&mut map.vs, &mut map.fs, &mut map.cs, &mut map.ts, &mut map.ms];
    for (stage, found) in stages.iter_mut().zip(found) {
        stage.resources = externs::resources(std::mem::take(&mut found.resources));
    }
    Layout {
        stages,
        binding_array_lengths: externs::binding_array_lengths!(layout),
    }
}

/// The version of Metal's language, (major, minor), that wgpu-hal chooses on a system and asks of naga.
pub fn language_version(system: System) -> (u8, u8) {
    device(with_system(system, Device::msl_version)).lang_version()
}

/// Whether wgpu-hal asks Metal's compiler to preserve invariance on a system.
pub fn preserve_invariance(system: System) -> bool {
    with_system(system, Device::preserve_invariance)
}

/// Plays a scene's commands through wgpu-hal's `create_bind_group`, `set_bind_group`, `set_immediates`,
/// `set_render_pipeline`, `set_compute_pipeline` and `set_vertex_buffer`, and answers what stands in the argument
/// tables at each draw and dispatch.
///
/// # Panics
///
/// On a scene that is no sequence of WebGPU's: a number that the scene does not have, a pipeline of the other kind of
/// pass, a binding past its buffer's end, too few dynamic offsets, immediates of a layout that has none; and where
/// upstream does: on arrays of acceleration structures and of external textures, in wgpu-hal 29 of buffers too, on
/// acceleration structures in task and mesh stages, and where [`layout`] does or answers with an error.
pub fn play(scene: &Scene) -> Vec<Bound> {
    let mut player = Player::new(scene);
    scene
        .commands
        .iter()
        .enumerate()
        .for_each(|(index, command)| player.play(index, command));
    player.bound
}

struct Player<'a> {
    scene: &'a Scene,
    layouts: Vec<metal::PipelineLayout>,
    groups: Vec<BoundGroup>,
    encoder: CommandEncoder,
    bound: Vec<Bound>,
}

/// A bind group, which refers to its resources by address.
struct BoundGroup {
    group: metal::BindGroup,
    _resources: Resources,
}

impl<'a> Player<'a> {
    fn new(scene: &'a Scene) -> Player<'a> {
        let layout = |layout: &bind::PipelineLayout| {
            let groups = layout
                .groups
                .iter()
                .map(|group| group.as_deref().map(bind_group_layout));
            pipeline_layout(&groups.collect::<Vec<_>>(), layout.immediate_size).expect("a layout that upstream takes")
        };
        let shared = DEVICE.with(|device| device.shared.clone());
        Player {
            scene,
            layouts: scene.layouts.iter().map(layout).collect(),
            groups: scene.groups.iter().map(bound_group).collect(),
            encoder: CommandEncoder {
                shared,
                state: Default::default(),
                temp: Default::default(),
            },
            bound: Vec::new(),
        }
    }

    fn play(&mut self, index: usize, command: &Command) {
        let encoder = &mut self.encoder;
        match command {
            Command::BeginRenderPass => {
                begin(encoder);
                encoder.state.render = Some(Retained::new(ProtocolObject(RenderState::default())));
            }
            Command::BeginComputePass => {
                begin(encoder);
                encoder.state.compute = Some(Retained::new(ProtocolObject(Default::default())));
            }
            Command::SetPipeline(pipeline) => {
                let pipeline = &self.scene.pipelines[*pipeline];
                set_pipeline(encoder, pipeline, &self.layouts[pipeline.layout]);
            }
            Command::SetBindGroup {
                layout,
                index,
                group,
                dynamic_offsets,
            } => {
                let group = &self.groups[*group].group;
                // SAFETY: the group's resources live as long as the group.
                unsafe { encoder.set_bind_group(&self.layouts[*layout], *index, group, dynamic_offsets) }
            }
            Command::SetImmediates { layout, offset, data } => {
                // SAFETY: upstream checks the range against its own copy.
                unsafe { encoder.set_immediates(&self.layouts[*layout], *offset, data) }
            }
            Command::SetVertexBuffer { slot, buffer } => {
                let bound = hal_buffer(buffer);
                // SAFETY: the recorded tables keep the buffer's number, not its address.
                unsafe { encoder.set_vertex_buffer(*slot, hal_binding(&bound)) }
            }
            Command::Draw | Command::Dispatch => self.bound.push(Bound {
                command: index,
                stages: tables(encoder),
            }),
        }
    }
}

/// What `begin_pass` does to the state, and the end of the pass before.
fn begin(encoder: &mut CommandEncoder) {
    encoder.state.reset();
    encoder.state.render = None;
    encoder.state.compute = None;
}

/// What stands in the tables, in the order of `STAGES`.
fn tables(encoder: &CommandEncoder) -> [Tables; 5] {
    let mut tables: [Tables; 5] = Default::default();
    if let Some(render) = &encoder.state.render {
        let RenderState {
            vertex,
            fragment,
            object,
            mesh,
        } = &render.0;
        for (index, stage) in [(0, vertex), (1, fragment), (3, object), (4, mesh)] {
            tables[index] = stage.borrow().clone();
        }
    }
    if let Some(compute) = &encoder.state.compute {
        tables[2] = compute.0.borrow().clone();
    }
    tables
}

fn set_pipeline(encoder: &mut CommandEncoder, pipeline: &bind::Pipeline, layout: &metal::PipelineLayout) {
    let info = |stage| {
        let found = pipeline.stages.iter().find(|found| found.stage == stage);
        found.map(|found| stage_info(found, layout))
    };
    if let Some(cs_info) = info(naga::ShaderStage::Compute) {
        let pipeline = metal::ComputePipeline { raw: object(), cs_info };
        // SAFETY: the stand-ins have no needs.
        unsafe { encoder.set_compute_pipeline(&pipeline) }
        return;
    }
    let pipeline = metal::RenderPipeline {
        raw: object(),
        vs_info: info(naga::ShaderStage::Vertex),
        fs_info: info(naga::ShaderStage::Fragment),
        ts_info: info(naga::ShaderStage::Task),
        ms_info: info(naga::ShaderStage::Mesh),
        raw_primitive_type: objc2_metal::MTLPrimitiveType::Point,
        raw_triangle_fill_mode: Default::default(),
        raw_front_winding: Default::default(),
        raw_cull_mode: Default::default(),
        raw_depth_clip_mode: None,
        depth_stencil: None,
    };
    // SAFETY: the stand-ins have no needs.
    unsafe { encoder.set_render_pipeline(&pipeline) }
}

/// An object of which only that it is there matters.
fn object<P: Protocol<State: Default> + ?Sized>() -> Retained<ProtocolObject<P>> {
    Retained::new(ProtocolObject(Default::default()))
}

/// What `create_render_pipeline` and `create_compute_pipeline` keep of a stage.
fn stage_info(stage: &bind::PipelineStage, layout: &metal::PipelineLayout) -> metal::PipelineStageInfo {
    let mapping = |slot: &u32| VertexBufferMapping {
        id: DEVICE.with(|device| device.vertex_buffer_id(*slot as usize)),
        stride: 0,
        step_mode: VertexBufferStepMode::ByVertex,
        attributes: Vec::new(),
    };
    let hal_stage = externs::stage(stage.stage);
    metal::PipelineStageInfo {
        immediates: layout.immediates_infos[hal_stage],
        sizes_slot: layout.per_stage_map[hal_stage].sizes_buffer,
        sized_bindings: stage
            .runtime_arrays
            .iter()
            .map(|(binding, i)| externs::sized_binding(*binding, *i))
            .collect(),
        vertex_buffer_mappings: stage.vertex_buffers.iter().map(mapping).collect(),
        library: Some(object()),
        ..Default::default()
    }
}

/// A group's resources by kind, as wgpu-hal's descriptors list them.
#[derive(Default)]
struct Resources {
    buffers: Vec<BoundBuffer>,
    samplers: Vec<metal::Sampler>,
    textures: Vec<metal::TextureView>,
    acceleration_structures: Vec<metal::AccelerationStructure>,
    external_textures: Vec<ExternalTexture>,
}

/// Planes and parameters.
type ExternalTexture = ([metal::TextureView; 3], BoundBuffer);

impl Resources {
    /// Adds a resource, and answers its index among its kind.
    fn add(&mut self, resource: &Resource) -> usize {
        let texture = |id: u32| metal::TextureView {
            raw: Retained::new(ProtocolObject(id)),
            aspects: stand_ins::root::FormatAspects,
        };
        fn push<T>(list: &mut Vec<T>, what: T) -> usize {
            list.push(what);
            list.len() - 1
        }
        match resource {
            Resource::Buffer(binding) => push(&mut self.buffers, hal_buffer(binding)),
            Resource::Sampler(id) => push(
                &mut self.samplers,
                metal::Sampler {
                    raw: Retained::new(ProtocolObject(*id)),
                },
            ),
            Resource::Texture(id) => push(&mut self.textures, texture(*id)),
            Resource::AccelerationStructure(id) => {
                let raw = Retained::new(ProtocolObject(*id));
                push(&mut self.acceleration_structures, metal::AccelerationStructure { raw })
            }
            Resource::ExternalTexture { planes, parameters } => push(
                &mut self.external_textures,
                (planes.map(texture), hal_buffer(parameters)),
            ),
        }
    }
}

/// A buffer, and which part of it is bound.
type BoundBuffer = (metal::Buffer, bind::BufferBinding);

fn hal_buffer(binding: &bind::BufferBinding) -> BoundBuffer {
    let raw = Retained::new(ProtocolObject(BufferState::of(binding.id)));
    (
        metal::Buffer {
            raw,
            size: binding.buffer_size,
        },
        *binding,
    )
}

fn hal_binding((buffer, binding): &BoundBuffer) -> hal::BufferBinding<'_, metal::Buffer> {
    hal::BufferBinding {
        buffer,
        offset: binding.offset,
        size: binding.size.and_then(NonZeroU64::new),
    }
}

fn hal_external_texture(
    (planes, parameters): &ExternalTexture,
) -> hal::ExternalTextureBinding<'_, metal::Buffer, metal::TextureView> {
    hal::ExternalTextureBinding {
        planes: planes.each_ref().map(hal_view),
        params: hal_binding(parameters),
    }
}

fn hal_view(view: &metal::TextureView) -> hal::TextureBinding<'_, metal::TextureView> {
    hal::TextureBinding {
        view,
        usage: externs::wgt::TextureUses::empty(),
    }
}

fn bound_group(group: &bind::BindGroup) -> BoundGroup {
    let mut resources = Resources::default();
    let mut entries = Vec::new();
    for (entry, bound) in group.layout.iter().zip(&group.resources) {
        let indices: Vec<usize> = bound.iter().map(|resource| resources.add(resource)).collect();
        let resource_index = indices[0] as u32;
        entries.push(hal::BindGroupEntry {
            binding: entry.binding,
            resource_index,
            count: bound.len() as u32,
        });
    }
    let descriptor = hal::BindGroupDescriptor {
        label: None,
        layout: &bind_group_layout(&group.layout),
        buffers: &resources.buffers.iter().map(hal_binding).collect::<Vec<_>>(),
        samplers: &resources.samplers.iter().collect::<Vec<_>>(),
        textures: &resources.textures.iter().map(hal_view).collect::<Vec<_>>(),
        entries: &entries,
        acceleration_structures: &resources.acceleration_structures.iter().collect::<Vec<_>>(),
        external_textures: &resources
            .external_textures
            .iter()
            .map(hal_external_texture)
            .collect::<Vec<_>>(),
    };
    // SAFETY: the stand-ins have no needs.
    let group = DEVICE.with(|device| unsafe { device.create_bind_group(&descriptor) });
    BoundGroup {
        group: group.expect("upstream refuses no bind group"),
        _resources: resources,
    }
}
