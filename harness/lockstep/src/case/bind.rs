//! Bind cases.

use std::collections::BTreeSet;
use std::fmt;

use mslmap::{Extension, StageLayout};
use serde::{Deserialize, Serialize};
use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

use super::Stage;

/// The passes of a WebGPU program as far as they say what is bound: layouts, bind groups and pipelines, and the commands that use them.
/// All are referred to by index, resources by numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindCase {
    /// Bind group layouts, in the order in which the caller listed their entries. A group fits a pipeline layout's place when both name
    /// the same one; two of equal contents are two.
    pub group_layouts: Vec<Vec<BindGroupLayoutEntry>>,
    /// Pipeline layouts.
    pub layouts: Vec<PipelineLayout>,
    /// Bind groups.
    pub groups: Vec<BindGroup>,
    /// Pipelines.
    pub pipelines: Vec<Pipeline>,
    /// What is recorded, in order.
    pub commands: Vec<BindCommand>,
}

/// A pipeline layout. Vertices are pulled, as wgpu-hal's Metal backend always does it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineLayout {
    /// Bind group layouts; `null` is an absent group.
    pub groups: Vec<Option<usize>>,
    /// Bytes of immediates, a multiple of 4.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub immediate_size: u32,
}

fn is_zero(size: &u32) -> bool {
    *size == 0
}

/// A bind group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindGroup {
    /// Its bind group layout.
    pub layout: usize,
    /// What is bound at each entry of the layout, in the layout's order: one resource, or as many as an array has.
    pub resources: Vec<Vec<Resource>>,
}

/// A resource, by a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Resource {
    /// Part of a buffer.
    Buffer(BufferBinding),
    /// A sampler.
    Sampler(u32),
    /// A view of a texture.
    Texture(u32),
    /// An acceleration structure.
    AccelerationStructure(u32),
    /// An external texture.
    ExternalTexture {
        /// The views of its planes.
        planes: [u32; 3],
        /// The buffer of its parameters.
        parameters: BufferBinding,
    },
}

/// Part of a buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferBinding {
    /// The buffer.
    pub id: u32,
    /// Size of the whole buffer.
    pub buffer_size: u64,
    /// Where the binding starts.
    #[serde(default)]
    pub offset: u64,
    /// How long it is; left out: to the end of the buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

impl BufferBinding {
    /// How many bytes are bound. Dynamic offsets move them and change nothing of their number.
    pub fn bound(&self) -> u64 {
        self.size.unwrap_or(self.buffer_size.saturating_sub(self.offset))
    }
}

/// A pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Its pipeline layout.
    pub layout: usize,
    /// Its stages: compute alone, or others.
    pub stages: Vec<PipelineStage>,
}

impl Pipeline {
    /// Whether it is a compute pipeline.
    pub fn is_compute(&self) -> bool {
        self.stages.iter().any(|stage| stage.stage == Stage::Compute)
    }
}

/// What a bind depends on of a pipeline's stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineStage {
    /// Which.
    pub stage: Stage,
    /// The (group, binding) of each global of the shader module with a runtime-sized array, in the order of their declaration:
    /// `RuntimeArrayBindings` of slots.md. One that the layout lacks is another entry point's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtime_arrays: Vec<(u32, u32)>,
    /// Of the vertex stage: WebGPU's slots of the vertex buffers, in the order of the pipeline's vertex state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vertex_buffers: Vec<u32>,
}

/// A command of a pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum BindCommand {
    /// Starts a render pass: nothing is set.
    BeginRenderPass,
    /// Starts a compute pass: nothing is set.
    BeginComputePass,
    /// Sets a pipeline of the pass's kind. One of another layout sets the immediates to 0.
    SetPipeline(usize),
    /// Sets a bind group, or none.
    SetBindGroup {
        /// Its place in the pipeline layout.
        index: u32,
        /// The group.
        group: Option<usize>,
        /// One for each buffer of the group with a dynamic offset, in binding order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dynamic_offsets: Vec<u32>,
    },
    /// Sets immediates of the current pipeline's layout.
    SetImmediates {
        /// In bytes, a multiple of 4.
        offset: u32,
        /// The words.
        data: Vec<u32>,
    },
    /// Sets a vertex buffer.
    SetVertexBuffer {
        /// WebGPU's slot.
        slot: u32,
        /// What is bound.
        buffer: BufferBinding,
    },
    /// A draw of any kind.
    Draw,
    /// A dispatch of any kind.
    Dispatch,
}

/// As the text of streams has commands (`reference/TEXT.md`), with the case's indices for ids.
impl fmt::Display for BindCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindCommand::BeginRenderPass => write!(f, "BeginRenderPass"),
            BindCommand::BeginComputePass => write!(f, "BeginComputePass"),
            BindCommand::SetPipeline(pipeline) => write!(f, "SetPipeline #{pipeline}"),
            BindCommand::SetBindGroup { index, group: None, .. } => write!(f, "SetBindGroup {index} none"),
            BindCommand::SetBindGroup {
                index,
                group: Some(group),
                dynamic_offsets,
            } => {
                write!(f, "SetBindGroup {index} #{group}")?;
                match dynamic_offsets.is_empty() {
                    true => Ok(()),
                    false => write!(f, " {dynamic_offsets:?}"),
                }
            }
            BindCommand::SetImmediates { offset, data } => write!(f, "SetImmediates offset={offset} {data:?}"),
            BindCommand::SetVertexBuffer { slot, buffer } => {
                write!(f, "SetVertexBuffer {slot} #{} offset={}", buffer.id, buffer.offset)?;
                buffer.size.map_or(Ok(()), |size| write!(f, " size={size}"))
            }
            BindCommand::Draw => write!(f, "Draw"),
            BindCommand::Dispatch => write!(f, "Dispatch"),
        }
    }
}

/// The most vertex buffers that a pipeline has.
pub const MAX_VERTEX_BUFFERS: u32 = 8;

impl BindCase {
    /// Refuses what WebGPU would, as far as players rely on it: an index of nothing, a group that does not fit its layout, a draw without what
    /// its pipeline needs. The error names the place.
    pub fn check(&self) -> Result<(), String> {
        for (at, entries) in self.group_layouts.iter().enumerate() {
            let numbers: BTreeSet<u32> = entries.iter().map(|entry| entry.binding).collect();
            ensure(numbers.len() == entries.len(), || {
                format!("group layout {at}: a binding number twice")
            })?;
            ensure(!entries.iter().any(is_bound_nowhere), || {
                format!("group layout {at}: wgpu-hal binds no acceleration structure to a task or mesh stage")
            })?;
        }
        for (at, layout) in self.layouts.iter().enumerate() {
            let there = layout
                .groups
                .iter()
                .flatten()
                .all(|&group| group < self.group_layouts.len());
            ensure(there, || format!("layout {at}: a group layout that there is not"))?;
            let size = layout.immediate_size;
            ensure(size.is_multiple_of(4) && size <= MAX_IMMEDIATES, || {
                format!("layout {at}: immediates of {size} bytes; a multiple of 4 up to {MAX_IMMEDIATES} may be")
            })?;
            self.check_slots(layout).map_err(|why| format!("layout {at}: {why}"))?;
        }
        for (at, group) in self.groups.iter().enumerate() {
            let layout = self.group_layouts.get(group.layout);
            let fits = |entries: &Vec<BindGroupLayoutEntry>| {
                let each = entries.iter().zip(&group.resources);
                entries.len() == group.resources.len()
                    && each.into_iter().all(|(entry, resources)| fits(entry, resources))
            };
            ensure(layout.is_some_and(fits), || {
                format!("group {at}: its resources are not those of its layout")
            })?;
        }
        for (at, pipeline) in self.pipelines.iter().enumerate() {
            self.check_pipeline(pipeline)
                .map_err(|why| format!("pipeline {at}: {why}"))?;
        }
        self.check_commands()
    }

    /// Refuses a layout that has no slots: what wgpu-hal binds then is the ledger's, as of layouts.
    fn check_slots(&self, layout: &PipelineLayout) -> Result<(), String> {
        let groups = layout
            .groups
            .iter()
            .map(|group| group.map(|group| self.group_layouts[group].as_slice()));
        let extension = Extension {
            immediate_size: layout.immediate_size,
            vertex_pulling: true,
        };
        let stages = StageLayout::all_stages(&groups.collect::<Vec<_>>(), extension);
        let refused = stages.into_iter().find_map(Result::err);
        refused.map_or(Ok(()), |error| Err(error.to_string()))
    }

    fn check_pipeline(&self, pipeline: &Pipeline) -> Result<(), String> {
        let layout = self.layouts.get(pipeline.layout).ok_or("a layout that there is not")?;
        let stages: BTreeSet<Stage> = pipeline.stages.iter().map(|stage| stage.stage).collect();
        let alone = !pipeline.is_compute() || stages.len() == 1;
        ensure(stages.len() == pipeline.stages.len() && alone, || {
            "a stage twice, or one beside compute".into()
        })?;
        for stage in &pipeline.stages {
            for at in &stage.runtime_arrays {
                ensure(self.entry(layout, *at).is_none_or(mslmap::is_storage_buffer), || {
                    format!("a runtime-sized array in {at:?}, which is no storage buffer")
                })?;
            }
            let pulled = stage.vertex_buffers.iter().all(|slot| *slot < MAX_VERTEX_BUFFERS);
            ensure(
                pulled && (stage.stage == Stage::Vertex || stage.vertex_buffers.is_empty()),
                || "vertex buffers past the eighth or of another stage".into(),
            )?;
        }
        Ok(())
    }

    /// The entry of a layout at (group, binding).
    pub fn entry(&self, layout: &PipelineLayout, (group, binding): (u32, u32)) -> Option<&BindGroupLayoutEntry> {
        let group = *layout.groups.get(group as usize)?;
        let entries = &self.group_layouts[group?];
        entries.iter().find(|entry| entry.binding == binding)
    }

    fn check_commands(&self) -> Result<(), String> {
        let mut pass = None;
        for (at, command) in self.commands.iter().enumerate() {
            self.check_command(command, &mut pass)
                .map_err(|why| format!("command {at}: {why}"))?;
        }
        Ok(())
    }

    fn check_command(&self, command: &BindCommand, pass: &mut Option<Pass>) -> Result<(), String> {
        match command {
            BindCommand::BeginRenderPass => *pass = Some(Pass::new(false)),
            BindCommand::BeginComputePass => *pass = Some(Pass::new(true)),
            _ => {}
        }
        let pass = pass.as_mut().ok_or("not in a pass")?;
        let layout = pass
            .pipeline
            .map(|pipeline| &self.layouts[self.pipelines[pipeline].layout]);
        match command {
            BindCommand::BeginRenderPass | BindCommand::BeginComputePass => {}
            BindCommand::SetPipeline(pipeline) => {
                let known = self.pipelines.get(*pipeline);
                ensure(known.is_some_and(|known| known.is_compute() == pass.compute), || {
                    "no pipeline of the pass's kind".into()
                })?;
                pass.pipeline = Some(*pipeline);
            }
            BindCommand::SetBindGroup {
                index,
                group,
                dynamic_offsets,
            } => {
                let place = pass.groups.get_mut(*index as usize).ok_or("a group past the eighth")?;
                let layout = |group: usize| self.groups.get(group).map(|group| group.layout);
                *place = group
                    .map(|group| layout(group).ok_or("a group that there is not"))
                    .transpose()?;
                let entries = place.map_or(&[][..], |layout| &self.group_layouts[layout]);
                let dynamic = entries.iter().filter(|entry| is_dynamic(entry)).count();
                ensure(dynamic == dynamic_offsets.len(), || {
                    format!("{dynamic} dynamic offsets are due")
                })?;
                let most = dynamic_offsets.iter().max().copied().unwrap_or(0);
                let buffers = group
                    .iter()
                    .flat_map(|group| self.groups[*group].resources.iter().flatten());
                let bounded = |resource: &Resource| match resource {
                    Resource::Buffer(buffer) => buffer.offset.checked_add(most.into()).is_some(),
                    _ => true,
                };
                ensure(buffers.into_iter().all(bounded), || "a dynamic offset past 2^64".into())?;
            }
            BindCommand::SetImmediates { offset, data } => {
                let end = u64::from(*offset) + 4 * data.len() as u64;
                let fits = layout.is_some_and(|layout| end <= layout.immediate_size.into());
                ensure(fits && offset.is_multiple_of(4), || {
                    "past the immediates of the pipeline's layout, or odd".into()
                })?;
            }
            BindCommand::SetVertexBuffer { slot, buffer } => {
                ensure(*slot < MAX_VERTEX_BUFFERS && !pass.compute, || {
                    "a vertex buffer past the eighth, or in a compute pass".into()
                })?;
                ensure(is_buffer(buffer) && u32::try_from(buffer.bound()).is_ok(), || {
                    "a buffer that ends before its binding, or one of 4 GiB".into()
                })?;
                pass.vertex_buffers.insert(*slot);
            }
            BindCommand::Draw | BindCommand::Dispatch => {
                ensure(pass.compute == (*command == BindCommand::Dispatch), || {
                    "in a pass of the other kind".into()
                })?;
                let pipeline = &self.pipelines[pass.pipeline.ok_or("no pipeline")?];
                let layout = &self.layouts[pipeline.layout];
                let mut places = layout.groups.iter().zip(&pass.groups);
                ensure(places.all(|(due, set)| due.is_none() || due == set), || {
                    "a group is missing, or of another layout".into()
                })?;
                let mut slots = pipeline.stages.iter().flat_map(|stage| &stage.vertex_buffers);
                ensure(slots.all(|slot| pass.vertex_buffers.contains(slot)), || {
                    "a vertex buffer is missing".into()
                })?;
            }
        }
        Ok(())
    }
}

/// The most bytes of immediates that a case has.
const MAX_IMMEDIATES: u32 = 4096;

/// What is set in a pass.
struct Pass {
    compute: bool,
    pipeline: Option<usize>,
    /// The layouts of the groups.
    groups: [Option<usize>; mslmap::MAX_GROUPS],
    vertex_buffers: BTreeSet<u32>,
}

impl Pass {
    fn new(compute: bool) -> Pass {
        Pass {
            compute,
            pipeline: None,
            groups: Default::default(),
            vertex_buffers: BTreeSet::new(),
        }
    }
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// Whether an entry takes a dynamic offset: WebGPU has none in arrays.
fn is_dynamic(entry: &BindGroupLayoutEntry) -> bool {
    entry.count.is_none() && entry.ty.has_dynamic_offset()
}

fn is_bound_nowhere(entry: &BindGroupLayoutEntry) -> bool {
    let seen = entry.visibility.intersects(ShaderStages::TASK | ShaderStages::MESH);
    seen && matches!(entry.ty, BindingType::AccelerationStructure { .. })
}

/// Whether there are arrays of the type: wgpu-hal's Metal backend makes none of acceleration structures or external textures.
pub fn has_arrays(ty: &BindingType) -> bool {
    !matches!(
        ty,
        BindingType::AccelerationStructure { .. } | BindingType::ExternalTexture
    )
}

/// Whether these may be bound at the entry.
fn fits(entry: &BindGroupLayoutEntry, resources: &[Resource]) -> bool {
    let kind = |resource: &Resource| match (&entry.ty, resource) {
        (BindingType::Buffer { ty, .. }, Resource::Buffer(buffer)) => {
            let sized = *ty == BufferBindingType::Uniform || u32::try_from(buffer.bound()).is_ok();
            is_buffer(buffer) && sized && (entry.count.is_none() || u32::try_from(buffer.offset).is_ok())
        }
        (BindingType::Sampler(_), Resource::Sampler(_))
        | (BindingType::Texture { .. } | BindingType::StorageTexture { .. }, Resource::Texture(_))
        | (BindingType::AccelerationStructure { .. }, Resource::AccelerationStructure(_)) => true,
        (BindingType::ExternalTexture, Resource::ExternalTexture { parameters, .. }) => is_buffer(parameters),
        _ => false,
    };
    let count = entry.count.map_or(1, |count| count.get() as usize);
    let shape = resources.len() == count && (entry.count.is_none() || has_arrays(&entry.ty));
    shape && resources.iter().all(kind)
}

/// Whether the binding lies in its buffer and is not empty.
fn is_buffer(buffer: &BufferBinding) -> bool {
    let end = buffer.offset.checked_add(buffer.bound());
    buffer.bound() > 0 && end.is_some_and(|end| end <= buffer.buffer_size)
}
