//! Short ways to write entries, slots and shaders.

use std::num::NonZeroU32;

use mslmap::{Counts, EntrySlots};
use naga::ResourceBinding;
use naga::back::msl::{BindExternalTextureTarget, BindSamplerTarget, BindTarget};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages, StorageTextureAccess,
    TextureFormat, TextureSampleType, TextureViewDimension,
};

pub const UNIFORM: BindingType = buffer(BufferBindingType::Uniform);
pub const STORAGE: BindingType = buffer(BufferBindingType::Storage { read_only: false });
pub const READ_ONLY: BindingType = buffer(BufferBindingType::Storage { read_only: true });
pub const ACCELERATION: BindingType = BindingType::AccelerationStructure { vertex_return: false };
pub const SAMPLER: BindingType = BindingType::Sampler(SamplerBindingType::Filtering);
pub const COMPARISON: BindingType = BindingType::Sampler(SamplerBindingType::Comparison);
pub const EXTERNAL: BindingType = BindingType::ExternalTexture;
pub const TEXTURE: BindingType = BindingType::Texture {
    sample_type: TextureSampleType::Float { filterable: true },
    view_dimension: TextureViewDimension::D2,
    multisampled: false,
};

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

/// An entry that every stage sees.
pub const fn entry(binding: u32, ty: BindingType) -> BindGroupLayoutEntry {
    seen_by(ShaderStages::all(), binding, ty)
}

pub const fn seen_by(visibility: ShaderStages, binding: u32, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility,
        ty,
        count: None,
    }
}

pub fn array(binding: u32, ty: BindingType, count: u32) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        count: NonZeroU32::new(count),
        ..entry(binding, ty)
    }
}

/// Entries of one type, bindings 0 to `count` - 1.
pub fn many(count: u32, ty: BindingType) -> Vec<BindGroupLayoutEntry> {
    (0..count).map(|binding| entry(binding, ty)).collect()
}

pub const fn at(group: u32, binding: u32) -> ResourceBinding {
    ResourceBinding { group, binding }
}

pub const fn counts(buffers: u32, textures: u32, samplers: u32) -> Counts {
    Counts {
        buffers,
        textures,
        samplers,
    }
}

/// The slots of an entry that the stage does not see.
pub const UNSEEN: EntrySlots = EntrySlots {
    buffer: None,
    texture: None,
    sampler: None,
};

pub const fn in_buffers(slot: u32) -> EntrySlots {
    EntrySlots {
        buffer: Some(slot),
        ..UNSEEN
    }
}

pub const fn in_textures(slot: u32) -> EntrySlots {
    EntrySlots {
        texture: Some(slot),
        ..UNSEEN
    }
}

pub const fn in_samplers(slot: u32) -> EntrySlots {
    EntrySlots {
        sampler: Some(slot),
        ..UNSEEN
    }
}

pub fn buffer_slot(slot: u8, mutable: bool) -> BindTarget {
    BindTarget {
        buffer: Some(slot),
        mutable,
        ..BindTarget::default()
    }
}

pub fn texture_slot(slot: u8, mutable: bool) -> BindTarget {
    BindTarget {
        texture: Some(slot),
        mutable,
        ..BindTarget::default()
    }
}

pub fn sampler_slot(slot: u8) -> BindTarget {
    BindTarget {
        sampler: Some(BindSamplerTarget::Resource(slot)),
        ..BindTarget::default()
    }
}

pub fn external_texture_slots(planes: [u8; 3], params: u8) -> BindTarget {
    BindTarget {
        external_texture: Some(BindExternalTextureTarget { planes, params }),
        ..BindTarget::default()
    }
}

/// A shader, parsed and validated.
pub fn shader(wgsl: &str) -> (naga::Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(wgsl).unwrap_or_else(|e| panic!("{}", e.emit_to_string(wgsl)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .expect("a valid shader");
    (module, info)
}
