//! Bindings: their types, and how WGSL declares and uses a variable for them.

use std::num::NonZeroU64;

use arbitrary::{Result, Unstructured};
use wgpu_types::{
    BindingType, BufferBindingType, SamplerBindingType, StorageTextureAccess, TextureSampleType,
    TextureViewDimension as View,
};

use super::tables::{
    ATOMIC_TEXELS, DEPTH_DIMENSIONS, DIMENSIONS, Dimension, IMMEDIATE, MULTISAMPLED_TYPES, READ_WRITE,
    READ_WRITE_TEXELS, SAMPLE_TYPES, SHAPES, STORAGE, STORAGE_DIMENSIONS, Shape, TEXELS, Texel, UNIFORM, WORKGROUP,
    dimension, texel,
};
use super::{Kind, chance};

/// A binding type that WebGPU has, and what a variable for it is.
pub(super) fn resource(u: &mut Unstructured<'_>) -> Result<(BindingType, Kind)> {
    let ty = match u.arbitrary::<u8>()? {
        0..40 => return buffer(u, BufferBindingType::Uniform),
        40..76 => return buffer(u, BufferBindingType::Storage { read_only: true }),
        76..116 => return buffer(u, BufferBindingType::Storage { read_only: false }),
        116..138 => BindingType::Sampler(SamplerBindingType::Filtering),
        138..152 => BindingType::Sampler(SamplerBindingType::NonFiltering),
        152..166 => BindingType::Sampler(SamplerBindingType::Comparison),
        166..220 => texture(u)?,
        220..228 => BindingType::ExternalTexture,
        228..253 => storage_texture(u)?,
        253.. => BindingType::AccelerationStructure { vertex_return: false },
    };
    Ok((ty, Kind::Handle(ty)))
}

pub(super) fn buffer(u: &mut Unstructured<'_>, ty: BufferBindingType) -> Result<(BindingType, Kind)> {
    let any = BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let shape = *u.choose(&shapes(space(&any)))?;
    let detail = u.arbitrary::<u8>()?;
    let min_binding_size = match detail % 4 {
        0 | 1 => None,
        2 => NonZeroU64::new(shape.size),
        _ => NonZeroU64::new(shape.size + 240),
    };
    let ty = BindingType::Buffer {
        ty,
        has_dynamic_offset: detail > 200,
        min_binding_size,
    };
    Ok((
        ty,
        Kind::Memory {
            shape,
            space: space(&ty),
        },
    ))
}

pub(super) fn texture(u: &mut Unstructured<'_>) -> Result<BindingType> {
    let multisampled = chance(u, 40)?;
    if multisampled {
        let sample_type = *u.choose(&MULTISAMPLED_TYPES)?;
        return Ok(BindingType::Texture {
            sample_type,
            view_dimension: View::D2,
            multisampled,
        });
    }
    let sample_type = *u.choose(&SAMPLE_TYPES)?;
    let dimensions = match sample_type {
        TextureSampleType::Depth => &DIMENSIONS[DEPTH_DIMENSIONS],
        _ => &DIMENSIONS[..],
    };
    let view_dimension = u.choose(dimensions)?.view;
    Ok(BindingType::Texture {
        sample_type,
        view_dimension,
        multisampled,
    })
}

pub(super) fn storage_texture(u: &mut Unstructured<'_>) -> Result<BindingType> {
    let access = *u.choose(&[
        StorageTextureAccess::WriteOnly,
        StorageTextureAccess::ReadOnly,
        StorageTextureAccess::ReadWrite,
        StorageTextureAccess::Atomic,
    ])?;
    let formats = match access {
        StorageTextureAccess::Atomic => &TEXELS[..ATOMIC_TEXELS],
        StorageTextureAccess::ReadWrite => &TEXELS[..READ_WRITE_TEXELS],
        _ => &TEXELS[..],
    };
    let format = u.choose(formats)?.format;
    Ok(BindingType::StorageTexture {
        access,
        format,
        view_dimension: u.choose(&DIMENSIONS[STORAGE_DIMENSIONS])?.view,
    })
}

/// Whether a shader can write to it.
pub(super) fn writable(ty: &BindingType) -> bool {
    match ty {
        BindingType::Buffer { ty, .. } => *ty == BufferBindingType::Storage { read_only: false },
        BindingType::StorageTexture { access, .. } => *access != StorageTextureAccess::ReadOnly,
        _ => false,
    }
}

/// The space of a buffer's variable.
pub(super) fn space(ty: &BindingType) -> u8 {
    match ty {
        BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            ..
        } => UNIFORM,
        _ if writable(ty) => READ_WRITE,
        _ => STORAGE,
    }
}

/// The shapes that a variable in a space can have.
pub(super) fn shapes(space: u8) -> Vec<&'static Shape> {
    SHAPES.iter().filter(|shape| shape.spaces & space != 0).collect()
}

/// A statement that reads or writes a variable in memory.
pub(super) fn access(u: &mut Unstructured<'_>, shape: &Shape, space: u8) -> Result<String> {
    let writes = if space & (UNIFORM | STORAGE | IMMEDIATE) == 0 {
        shape.writes
    } else {
        &[]
    };
    let statements: Vec<&str> = shape.walks.iter().chain(writes).copied().collect();
    let chosen = u.choose_index(shape.reads.len() + statements.len())?;
    Ok(match shape.reads.get(chosen) {
        Some(read) => format!("acc += {read};"),
        None => statements[chosen - shape.reads.len()].to_string(),
    })
}

/// A statement that reads, writes or queries a storage texture, as far as its access allows.
pub(super) fn storage_access(
    u: &mut Unstructured<'_>,
    access: StorageTextureAccess,
    texel: &Texel,
    dimension: &Dimension,
) -> Result<String> {
    let Dimension {
        texel: at,
        layer,
        first,
        ..
    } = dimension;
    let scalar = texel.scalar;
    let query = format!("acc += textureDimensions($v){first};");
    let read = format!("acc += u32(textureLoad($v, {at}{layer}).x);");
    let write = format!("textureStore($v, {at}{layer}, vec4<{scalar}>({scalar}($x)));");
    let atomic = format!("textureAtomicMax($v, {at}{layer}, {scalar}($x));");
    let mut possible = match access {
        StorageTextureAccess::ReadOnly => vec![read, query],
        StorageTextureAccess::WriteOnly => vec![write, query],
        StorageTextureAccess::ReadWrite => vec![read, write, query],
        StorageTextureAccess::Atomic => vec![atomic, query],
    };
    let chosen = u.choose_index(possible.len())?;
    Ok(possible.swap_remove(chosen))
}

/// The text with each `$` and letter replaced, where there is something for the letter.
pub(super) fn fill<'t>(text: &str, value: impl Fn(char) -> Option<&'t str>) -> String {
    let mut parts = text.split('$');
    let mut filled = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let mut rest = part.chars();
        match rest.next().and_then(&value) {
            Some(value) => filled.extend([value, rest.as_str()]),
            None => filled.extend(["$", part]),
        }
    }
    filled
}

/// How variables of a kind are named.
pub(super) fn prefix(kind: &Kind) -> &'static str {
    match kind {
        Kind::Memory {
            space: UNIFORM | STORAGE,
            ..
        } => "input",
        Kind::Memory { space: IMMEDIATE, .. } => "immediate",
        Kind::Memory { .. } => "data",
        Kind::Handle(BindingType::Sampler(_)) => "samp",
        Kind::Handle(BindingType::StorageTexture { .. }) => "image",
        Kind::Handle(BindingType::AccelerationStructure { .. }) => "scene",
        Kind::Handle(BindingType::ExternalTexture) => "film",
        Kind::Handle(_) => "tex",
    }
}

/// The address space of a variable, as its declaration names it.
pub(super) fn address_space(kind: &Kind) -> &'static str {
    match kind {
        Kind::Memory { space: UNIFORM, .. } => "<uniform>",
        Kind::Memory { space: STORAGE, .. } => "<storage>",
        Kind::Memory { space: READ_WRITE, .. } => "<storage, read_write>",
        Kind::Memory { space: WORKGROUP, .. } => "<workgroup>",
        Kind::Memory { space: IMMEDIATE, .. } => "<immediate>",
        Kind::Memory { .. } => "<private>",
        Kind::Handle(_) => "",
    }
}

/// The type of a handle's variable, or the shape's.
pub(super) fn type_name(kind: &Kind) -> String {
    let ty = match kind {
        Kind::Memory { shape, .. } => return shape.ty.to_string(),
        Kind::Handle(ty) => ty,
    };
    match *ty {
        BindingType::Texture {
            sample_type,
            view_dimension,
            multisampled,
        } => {
            let (depth, scalar) = match sample_type {
                TextureSampleType::Depth => ("depth_", ""),
                TextureSampleType::Float { .. } => ("", "<f32>"),
                TextureSampleType::Sint => ("", "<i32>"),
                TextureSampleType::Uint => ("", "<u32>"),
            };
            let multisampled = if multisampled { "multisampled_" } else { "" };
            format!(
                "texture_{depth}{multisampled}{}{scalar}",
                dimension(view_dimension).name
            )
        }
        BindingType::StorageTexture {
            access,
            format,
            view_dimension,
        } => {
            let access = match access {
                StorageTextureAccess::WriteOnly => "write",
                StorageTextureAccess::ReadOnly => "read",
                StorageTextureAccess::ReadWrite => "read_write",
                StorageTextureAccess::Atomic => "atomic",
            };
            format!(
                "texture_storage_{}<{}, {access}>",
                dimension(view_dimension).name,
                texel(format).name
            )
        }
        BindingType::Sampler(SamplerBindingType::Comparison) => "sampler_comparison".to_string(),
        BindingType::Sampler(_) => "sampler".to_string(),
        BindingType::ExternalTexture => "texture_external".to_string(),
        _ => "acceleration_structure".to_string(),
    }
}

/// Turns a resource into the element of a binding array, where naga has arrays of it: of buffers, those of structs.
pub(super) fn element(u: &mut Unstructured<'_>, ty: BindingType, kind: Kind) -> Result<Option<(BindingType, Kind)>> {
    match (ty, kind) {
        (BindingType::Buffer { .. }, _) => {
            // A group with an array has no uniform buffer and no dynamic offset in it.
            let space = if writable(&ty) { READ_WRITE } else { STORAGE };
            let mut shapes = shapes(space);
            shapes.retain(|shape| !shape.structs.is_empty() && !shape.ty.starts_with("array"));
            let shape = *u.choose(&shapes)?;
            Ok(Some((plain_storage(space), Kind::Memory { shape, space })))
        }
        // An external texture has a uniform buffer too; a sampler stands in its place.
        (BindingType::ExternalTexture, _) => {
            let sampler = BindingType::Sampler(SamplerBindingType::Filtering);
            Ok(Some((sampler, Kind::Handle(sampler))))
        }
        (BindingType::AccelerationStructure { .. }, _) => Ok(None),
        handle => Ok(Some(handle)),
    }
}

/// A storage buffer without more.
pub(super) fn plain_storage(space: u8) -> BindingType {
    BindingType::Buffer {
        ty: BufferBindingType::Storage {
            read_only: space == STORAGE,
        },
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}
