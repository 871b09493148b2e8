//! Entries by a short name.
#![allow(dead_code)]

use slot_model::{Counts, Slot, Table};
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages, StorageTextureAccess,
    TextureFormat, TextureSampleType, TextureViewDimension,
};

pub const ALL: ShaderStages = ShaderStages::all();

pub const UNIFORM: BindingType = buffer(BufferBindingType::Uniform);
pub const STORAGE: BindingType = buffer(BufferBindingType::Storage { read_only: false });
pub const READ_ONLY: BindingType = buffer(BufferBindingType::Storage { read_only: true });
pub const ACCELERATION: BindingType = BindingType::AccelerationStructure { vertex_return: false };
pub const SAMPLER: BindingType = BindingType::Sampler(SamplerBindingType::Filtering);
pub const COMPARISON: BindingType = BindingType::Sampler(SamplerBindingType::Comparison);
pub const TEXTURE: BindingType = BindingType::Texture {
    sample_type: TextureSampleType::Float { filterable: true },
    view_dimension: TextureViewDimension::D2,
    multisampled: false,
};
pub const EXTERNAL: BindingType = BindingType::ExternalTexture;

const fn buffer(ty: BufferBindingType) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

pub const fn storage_texture(access: StorageTextureAccess) -> BindingType {
    BindingType::StorageTexture {
        access,
        format: TextureFormat::R32Uint,
        view_dimension: TextureViewDimension::D2,
    }
}

pub fn entry(binding: u32, ty: BindingType, visibility: ShaderStages) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    }
}

/// Entries 0, 1, .. that every stage sees.
pub fn entries(types: &[BindingType]) -> Vec<BindGroupLayoutEntry> {
    (0..).zip(types).map(|(at, &ty)| entry(at, ty, ALL)).collect()
}

pub fn array(binding: u32, ty: BindingType, visibility: ShaderStages) -> BindGroupLayoutEntry {
    let count = std::num::NonZeroU32::new(1);
    BindGroupLayoutEntry {
        count,
        ..entry(binding, ty, visibility)
    }
}

pub fn counts(buffers: u32, textures: u32, samplers: u32) -> Counts {
    Counts {
        buffers,
        textures,
        samplers,
    }
}

/// `(group, binding, table, slot)` of each slot.
pub fn places(slots: &[Slot]) -> Vec<(u32, u32, Table, u32)> {
    slots
        .iter()
        .map(|slot| (slot.group, slot.binding, slot.table, slot.slot))
        .collect()
}
