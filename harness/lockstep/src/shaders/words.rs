//! Bindings in the words of WebGPU's `GPUBindGroupLayoutEntry`, and accesses in Metal's.

use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, StorageTextureAccess, TextureSampleType,
    TextureViewDimension,
};

/// A binding's type.
pub fn binding_type(entry: &BindGroupLayoutEntry) -> String {
    let words = match entry.ty {
        BindingType::Buffer { ty, .. } => match ty {
            BufferBindingType::Uniform => "uniform".to_owned(),
            BufferBindingType::Storage { read_only: true } => "read-only-storage".to_owned(),
            BufferBindingType::Storage { read_only: false } => "storage".to_owned(),
        },
        BindingType::Sampler(SamplerBindingType::Comparison) => "comparison sampler".to_owned(),
        BindingType::Sampler(_) => "filtering sampler".to_owned(),
        BindingType::Texture {
            sample_type,
            view_dimension,
            multisampled,
        } => {
            let sample = match sample_type {
                TextureSampleType::Float { filterable: true } => "float",
                TextureSampleType::Float { filterable: false } => "unfilterable-float",
                TextureSampleType::Depth => "depth",
                TextureSampleType::Sint => "sint",
                TextureSampleType::Uint => "uint",
            };
            let multisampled = if multisampled { " multisampled" } else { "" };
            format!("{sample} texture {}{multisampled}", dimension(view_dimension))
        }
        BindingType::StorageTexture {
            access,
            format,
            view_dimension,
        } => {
            let access = match access {
                StorageTextureAccess::WriteOnly => "write-only",
                StorageTextureAccess::ReadOnly => "read-only",
                StorageTextureAccess::ReadWrite => "read-write",
                StorageTextureAccess::Atomic => "atomic",
            };
            let format = format!("{format:?}").to_lowercase();
            format!("{access} storage texture {} {format}", dimension(view_dimension))
        }
        BindingType::AccelerationStructure { .. } => "acceleration structure".to_owned(),
        BindingType::ExternalTexture => "external texture".to_owned(),
    };
    match entry.count {
        Some(count) => format!("binding array of {count}, {words}"),
        None => words,
    }
}

/// A binding's type with its article.
pub fn with_article(entry: &BindGroupLayoutEntry) -> String {
    let words = binding_type(entry);
    // A uniform, a uint texture; an unfilterable-float, an external texture.
    let is_vowel = words.starts_with(['a', 'e', 'i', 'o']) || words.starts_with("un") && !words.starts_with("uni");
    let article = if is_vowel { "an" } else { "a" };
    format!("{article} {words}")
}

fn dimension(dimension: TextureViewDimension) -> &'static str {
    match dimension {
        TextureViewDimension::D1 => "1d",
        TextureViewDimension::D2 => "2d",
        TextureViewDimension::D2Array => "2d-array",
        TextureViewDimension::Cube => "cube",
        TextureViewDimension::CubeArray => "cube-array",
        TextureViewDimension::D3 => "3d",
    }
}

/// What a function may do with a binding's arguments: `read-only`, `write-only` or `read-write`. Of an array the argument is the
/// argument buffer, which is only read.
pub fn access(entry: &BindGroupLayoutEntry) -> &'static str {
    match entry.ty {
        _ if entry.count.is_some() => "read-only",
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: false },
            ..
        } => "read-write",
        BindingType::StorageTexture { access, .. } => match access {
            StorageTextureAccess::WriteOnly => "write-only",
            StorageTextureAccess::ReadOnly => "read-only",
            StorageTextureAccess::ReadWrite | StorageTextureAccess::Atomic => "read-write",
        },
        _ => "read-only",
    }
}
