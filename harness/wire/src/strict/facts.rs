//! What the strict check has to know of the objects of a table (wire.md section 8).

use super::Format;

/// What the ids of a stream name. A host implements it over its own objects.
///
/// The check asks in command order, and about the same id as often as it is named, so that an answer should cost little. `None` is
/// an id that names nothing, or an object of another kind.
pub trait ObjectTable {
    /// The buffer that `id` names.
    fn buffer(&self, id: u32) -> Option<BufferFacts>;
    /// The texture that `id` names.
    fn texture(&self, id: u32) -> Option<TextureFacts>;
    /// The bindings with a dynamic offset of the bind group that `id` names, ascending by binding number: the order of the offsets.
    fn bind_group(&self, id: u32) -> Option<&[DynamicBuffer]>;
    /// Whether `id` names a compute pipeline.
    fn is_compute_pipeline(&self, id: u32) -> bool;
    /// `vertex.buffers` of the render pipeline that `id` names, by slot.
    fn render_pipeline(&self, id: u32) -> Option<&[Option<VertexBufferLayout>]>;
    /// The limits of the device; WebGPU's defaults where it is not asked for others.
    fn limits(&self) -> Limits {
        Limits::default()
    }
}

/// A buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferFacts {
    /// Bytes.
    pub size: u64,
    /// WebGPU's GPUBufferUsage bits.
    pub usage: u32,
}

/// A texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureFacts {
    /// Width, height and depthOrArrayLayers of mip level 0, in texels.
    pub size: [u32; 3],
    /// `mipLevelCount`
    pub mip_level_count: u32,
    /// `sampleCount`
    pub sample_count: u32,
    /// `dimension`
    pub dimension: Dimension,
    /// `format`
    pub format: Format,
    /// WebGPU's GPUTextureUsage bits.
    pub usage: u32,
}

/// WebGPU's GPUTextureDimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// `1d`
    D1,
    /// `2d`: the third number of a size counts array layers.
    D2,
    /// `3d`
    D3,
}

/// A buffer in a bind group, at a binding with a dynamic offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DynamicBuffer {
    /// Whether the layout's buffer type is `uniform`, and not one of the storage types.
    pub uniform: bool,
    /// The whole buffer's size in bytes.
    pub buffer_size: u64,
    /// The binding's offset into it.
    pub offset: u64,
    /// The binding's size; where the bind group left it out, the rest of the buffer.
    pub size: u64,
}

/// One of a render pipeline's vertex buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VertexBufferLayout {
    /// `arrayStride`
    pub array_stride: u64,
    /// `stepMode` is `instance`, and not `vertex`.
    pub per_instance: bool,
    /// The greatest `offset` + bytes of the format of its attributes; 0 without one.
    pub last_stride: u64,
}

/// The limits that the check asks for, in WebGPU's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `maxBindGroups`
    pub max_bind_groups: u32,
    /// `maxVertexBuffers`. The check knows [`Limits::MAX_VERTEX_BUFFERS`] slots; a higher number means these.
    pub max_vertex_buffers: u32,
    /// `maxComputeWorkgroupsPerDimension`
    pub max_compute_workgroups_per_dimension: u32,
    /// `minUniformBufferOffsetAlignment`
    pub min_uniform_buffer_offset_alignment: u32,
    /// `minStorageBufferOffsetAlignment`
    pub min_storage_buffer_offset_alignment: u32,
}

impl Limits {
    /// The most vertex buffers that the check keeps apart. No implementation of WebGPU has more than 16.
    pub const MAX_VERTEX_BUFFERS: usize = 32;
}

impl Default for Limits {
    /// WebGPU's default limits.
    fn default() -> Self {
        Limits {
            max_bind_groups: 4,
            max_vertex_buffers: 8,
            max_compute_workgroups_per_dimension: 65535,
            min_uniform_buffer_offset_alignment: 256,
            min_storage_buffer_offset_alignment: 256,
        }
    }
}
