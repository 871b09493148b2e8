//! Entries of bind group layouts, in few words.
#![allow(dead_code, missing_docs)]

use naga::ResourceBinding;
use std::num::NonZeroU32;
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages, StorageTextureAccess,
    TextureFormat, TextureSampleType, TextureViewDimension,
};

pub const SAMPLER: BindingType = BindingType::Sampler(SamplerBindingType::Filtering);

pub const SAMPLED: BindingType = BindingType::Texture {
    sample_type: TextureSampleType::Float { filterable: true },
    view_dimension: TextureViewDimension::D2,
    multisampled: false,
};

pub fn entry(binding: u32, visibility: ShaderStages, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    }
}

pub fn array(binding: u32, visibility: ShaderStages, ty: BindingType, count: u32) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: NonZeroU32::new(count),
    }
}

pub fn uniform(has_dynamic_offset: bool) -> BindingType {
    BindingType::Buffer {
        ty: BufferBindingType::Uniform,
        has_dynamic_offset,
        min_binding_size: None,
    }
}

pub fn storage(read_only: bool) -> BindingType {
    let ty = BufferBindingType::Storage { read_only };
    BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

pub fn storage_texture(access: StorageTextureAccess) -> BindingType {
    BindingType::StorageTexture {
        access,
        format: TextureFormat::R32Uint,
        view_dimension: TextureViewDimension::D2,
    }
}

pub fn binding(group: u32, binding: u32) -> ResourceBinding {
    ResourceBinding { group, binding }
}
