//! Entries by a short name.
#![allow(dead_code)]

use slot_model::{Counts, Extension, Resource, Slots, Table};
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

/// An array of one element.
pub fn array(binding: u32, ty: BindingType, visibility: ShaderStages) -> BindGroupLayoutEntry {
    array_of(1, entry(binding, ty, visibility))
}

/// An array of `length` elements, not 0.
pub fn array_of(length: u32, element: BindGroupLayoutEntry) -> BindGroupLayoutEntry {
    let count = std::num::NonZeroU32::new(length);
    assert!(count.is_some());
    BindGroupLayoutEntry { count, ..element }
}

/// A buffer with a dynamic offset.
pub const fn dynamic(ty: BufferBindingType) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset: true,
        min_binding_size: None,
    }
}

pub const fn extension(immediate_size: u32, vertex_pulling: bool) -> Extension {
    Extension {
        immediate_size,
        vertex_pulling,
    }
}

pub const fn one(table: Table, slot: u32) -> Slots {
    Slots::One { table, slot }
}

pub const fn external(planes: [u32; 3], parameters: u32) -> Slots {
    Slots::External { planes, parameters }
}

pub fn counts(buffers: u32, textures: u32, samplers: u32) -> Counts {
    Counts {
        buffers,
        textures,
        samplers,
    }
}

/// `(group, binding, table, slot)` of each resource; all of them take one slot.
pub fn places(resources: &[Resource]) -> Vec<(u32, u32, Table, u32)> {
    let place = |resource: &Resource| match resource.slots {
        Slots::One { table, slot } => (resource.group, resource.binding, table, slot),
        Slots::External { .. } => panic!("{resource:?} takes more than one slot"),
    };
    resources.iter().map(place).collect()
}
