//! What the text of wgpu-hal 29 takes from other crates, and the types of that major version as this crate's own.

pub use ::naga_29 as naga;
pub use ::std as alloc;
pub use ::wgpu_naga_bridge_29 as wgpu_naga_bridge;
pub use ::wgpu_types_29 as wgt;
pub use core;
pub use std;

pub use crate::objc::{objc2, objc2_foundation, objc2_metal};
use ::naga as newer;
use std::sync::Arc;

/// The crate hashbrown.
pub mod hashbrown {
    pub use std::collections::HashMap;
}

/// What wgpu-hal keeps of a global with a runtime-sized array. It knows of none in an array of buffers.
pub type SizedBinding = naga::ResourceBinding;

/// Lengths of arrays of storage buffers, of a pipeline layout: wgpu-hal 29 keeps none.
macro_rules! binding_array_lengths {
    ($layout:expr) => {
        Default::default()
    };
}
pub(crate) use binding_array_lengths;

/// Version of the wgpu-hal package.
pub const VERSION: &str = env!("WGPU_HAL_29");

pub fn sized_binding(binding: newer::ResourceBinding, _index: u32) -> SizedBinding {
    naga::ResourceBinding {
        group: binding.group,
        binding: binding.binding,
    }
}

/// The entries in the older types, which write themselves in the same way.
///
/// # Panics
///
/// When an entry says what wgpu-types 29 has no word for.
pub fn entries(entries: &[wgpu_types::BindGroupLayoutEntry]) -> Arc<[wgt::BindGroupLayoutEntry]> {
    let value = serde_json::to_value(entries).expect("entries are data");
    let entries: Vec<_> = serde_json::from_value(value).expect("wgpu-types 29 has the same words");
    entries.into()
}

pub fn resources(resources: naga::back::msl::BindingMap) -> newer::back::msl::BindingMap {
    let binding = |of: naga::ResourceBinding| newer::ResourceBinding {
        group: of.group,
        binding: of.binding,
    };
    resources
        .into_iter()
        .map(|(of, place)| (binding(of), target(place)))
        .collect()
}

fn target(target: naga::back::msl::BindTarget) -> newer::back::msl::BindTarget {
    use naga::back::msl::BindSamplerTarget as Older;
    use newer::back::msl::{BindExternalTextureTarget, BindSamplerTarget, BindTarget};
    BindTarget {
        buffer: target.buffer,
        texture: target.texture,
        sampler: target.sampler.map(|sampler| match sampler {
            Older::Resource(slot) => BindSamplerTarget::Resource(slot),
            Older::Inline(index) => BindSamplerTarget::Inline(index),
        }),
        external_texture: target.external_texture.map(|of| BindExternalTextureTarget {
            planes: of.planes,
            params: of.params,
        }),
        mutable: target.mutable,
    }
}

pub fn stage(stage: newer::ShaderStage) -> naga::ShaderStage {
    match stage {
        newer::ShaderStage::Vertex => naga::ShaderStage::Vertex,
        newer::ShaderStage::Fragment => naga::ShaderStage::Fragment,
        newer::ShaderStage::Compute => naga::ShaderStage::Compute,
        newer::ShaderStage::Task => naga::ShaderStage::Task,
        newer::ShaderStage::Mesh => naga::ShaderStage::Mesh,
        other => unimplemented!("wgpu-hal's Metal backend has no stage {other:?}"),
    }
}
