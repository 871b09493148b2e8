//! What a bind is played with, and what comes of it: plain data, the same for every release of wgpu-hal.
//!
//! Resources, groups, layouts and pipelines go by numbers of the caller's choice.

use naga::{ResourceBinding, ShaderStage};
use std::collections::BTreeMap;
use wgpu_types::BindGroupLayoutEntry;

/// Everything that a sequence of commands uses, and the commands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Pipeline layouts.
    pub layouts: Vec<PipelineLayout>,
    /// Bind groups.
    pub groups: Vec<BindGroup>,
    /// Pipelines.
    pub pipelines: Vec<Pipeline>,
    /// What is recorded, in order.
    pub commands: Vec<Command>,
}

/// A pipeline layout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PipelineLayout {
    /// The layout of each group, sorted by binding; at most 8.
    pub groups: Vec<Option<Vec<BindGroupLayoutEntry>>>,
    /// Bytes of immediates.
    pub immediate_size: u32,
}

/// A bind group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BindGroup {
    /// Its layout, sorted by binding.
    pub layout: Vec<BindGroupLayoutEntry>,
    /// What is bound at each entry of the layout: one resource, or those of an array.
    pub resources: Vec<Vec<Resource>>,
}

/// A resource of a bind group, by the caller's number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Part of a buffer.
    Buffer(BufferBinding),
    /// A sampler.
    Sampler(u32),
    /// A view of a texture.
    Texture(u32),
    /// An acceleration structure.
    AccelerationStructure(u32),
    /// An external texture: its planes, and the buffer of its parameters.
    ExternalTexture {
        /// The planes' texture views.
        planes: [u32; 3],
        /// The parameters.
        parameters: BufferBinding,
    },
}

/// Part of a buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferBinding {
    /// The buffer.
    pub id: u32,
    /// Size of the whole buffer.
    pub buffer_size: u64,
    /// Where the binding starts. In an array of buffers, less than 2^32.
    pub offset: u64,
    /// How long it is; none: to the end of the buffer. Never 0, as WebGPU has it.
    pub size: Option<u64>,
}

/// A pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// Its layout, by index.
    pub layout: usize,
    /// Its stages: compute alone, or others.
    pub stages: Vec<PipelineStage>,
}

/// What a bind depends on of a pipeline's stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineStage {
    /// Which.
    pub stage: ShaderStage,
    /// The globals with a runtime-sized array, in the order of their declaration (`RuntimeArrayBindings` of slots.md),
    /// each with 0; of an array of such buffers every element, with its index.
    pub runtime_arrays: Vec<(ResourceBinding, u32)>,
    /// Slots of the vertex buffers, in the order of the pipeline's vertex state; of the vertex stage.
    pub vertex_buffers: Vec<u32>,
}

/// A command. What wgpu-core does before (which groups it binds again when a pipeline changes) is the caller's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Starts a render pass: nothing is bound.
    BeginRenderPass,
    /// Starts a compute pass: nothing is bound.
    BeginComputePass,
    /// Sets a pipeline of the pass's kind.
    SetPipeline(usize),
    /// Binds a group.
    SetBindGroup {
        /// The pipeline layout that it is bound by.
        layout: usize,
        /// Which of the layout's groups.
        index: u32,
        /// The group, whose layout is equal to that one.
        group: usize,
        /// One for each dynamic buffer of the group.
        dynamic_offsets: Vec<u32>,
    },
    /// Sets immediates.
    SetImmediates {
        /// The pipeline layout that they are set by.
        layout: usize,
        /// In bytes, a multiple of 4.
        offset: u32,
        /// The words.
        data: Vec<u32>,
    },
    /// Binds a vertex buffer.
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

/// What stands in Metal's argument tables at a draw or dispatch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bound {
    /// Index of the command.
    pub command: usize,
    /// By stage, in the order of [`crate::STAGES`]; those of the other kind of pass are empty.
    pub stages: [Tables; 5],
}

/// The argument tables of one stage, by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// The buffer table, `_buffer_sizes` and immediates among it.
    pub buffers: BTreeMap<u32, BufferSlot>,
    /// The texture table.
    pub textures: BTreeMap<u32, u32>,
    /// The sampler table.
    pub samplers: BTreeMap<u32, u32>,
}

/// What stands in a slot of the buffer table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferSlot {
    /// A buffer from an offset on.
    Buffer {
        /// The buffer.
        id: u32,
        /// In bytes.
        offset: u64,
    },
    /// An argument buffer.
    Array(Vec<Element>),
    /// An acceleration structure.
    AccelerationStructure(u32),
    /// Bytes that were given by value: `_buffer_sizes`, immediates.
    Bytes(Vec<u8>),
}

/// An element of an argument buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// The resource.
    pub id: u32,
    /// Of a buffer, in bytes; of others 0.
    pub offset: u32,
}
