//! The objects that the ids of generated streams name, and pipeline layouts.

use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages, TextureSampleType,
    TextureViewDimension,
};
use wire::{BufferFacts, Dimension, DynamicBuffer, Format, ObjectTable, TextureFacts, VertexBufferLayout};

use crate::streams::{BUFFER_SIZE, IDS};

/// Every id is everything that a command may take, with all usages; for the strict check.
pub struct Anything(Format);

impl Default for Anything {
    fn default() -> Self {
        Self(Format::named("rgba8unorm").expect("WebGPU has it"))
    }
}

impl ObjectTable for Anything {
    fn buffer(&self, id: u32) -> Option<BufferFacts> {
        (id <= IDS).then_some(BufferFacts {
            size: BUFFER_SIZE,
            usage: u32::MAX,
        })
    }
    fn texture(&self, id: u32) -> Option<TextureFacts> {
        (id <= IDS).then_some(TextureFacts {
            size: [256, 256, 1],
            mip_level_count: 4,
            sample_count: 1,
            dimension: Dimension::D2,
            format: self.0,
            usage: u32::MAX,
        })
    }
    fn bind_group(&self, id: u32) -> Option<&[DynamicBuffer]> {
        (id <= IDS).then_some(&[])
    }
    fn is_compute_pipeline(&self, id: u32) -> bool {
        id <= IDS
    }
    fn render_pipeline(&self, id: u32) -> Option<&[Option<VertexBufferLayout>]> {
        (id <= IDS).then_some(&[])
    }
}

/// The entries of the bind group layouts of a pipeline layout: `groups` of `entries` each, of the kinds and visibilities that a renderer
/// has, in binding order as wgpu-core gives them.
pub fn pipeline_layout(groups: u32, entries: u32) -> Vec<Vec<BindGroupLayoutEntry>> {
    let buffer = |ty| BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let texture = BindingType::Texture {
        sample_type: TextureSampleType::Float { filterable: true },
        view_dimension: TextureViewDimension::D2,
        multisampled: false,
    };
    let kinds = [
        (buffer(BufferBindingType::Uniform), ShaderStages::VERTEX_FRAGMENT),
        (texture, ShaderStages::FRAGMENT),
        (
            BindingType::Sampler(SamplerBindingType::Filtering),
            ShaderStages::FRAGMENT,
        ),
        (
            buffer(BufferBindingType::Storage { read_only: true }),
            ShaderStages::VERTEX,
        ),
        (
            buffer(BufferBindingType::Storage { read_only: false }),
            ShaderStages::COMPUTE,
        ),
    ];
    let entry = |index: u32| {
        let (ty, visibility) = kinds[index as usize % kinds.len()];
        BindGroupLayoutEntry {
            binding: index,
            visibility,
            ty,
            count: None,
        }
    };
    (0..groups).map(|_| (0..entries).map(entry).collect()).collect()
}
