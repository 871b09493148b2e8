//! What the text of wgpu-hal 30 takes from other crates, and the types of that major version as this crate's own,
//! which are the same.

pub use ::naga;
pub use ::std as alloc;
pub use ::wgpu_types as wgt;
pub use core;
pub use std;
pub use wgpu_naga_bridge;

pub use crate::objc::{objc2, objc2_foundation, objc2_metal};

/// The crate hashbrown.
pub mod hashbrown {
    pub use std::collections::HashMap;
}

/// What wgpu-hal keeps of a global with a runtime-sized array.
pub type SizedBinding = (naga::ResourceBinding, u32);

/// Lengths of arrays of storage buffers, of a pipeline layout.
macro_rules! binding_array_lengths {
    ($layout:expr) => {
        $layout.binding_array_length_map.into_iter().collect()
    };
}
pub(crate) use binding_array_lengths;

/// Version of the wgpu-hal package.
pub const VERSION: &str = env!("WGPU_HAL_30");

pub fn sized_binding(binding: naga::ResourceBinding, index: u32) -> SizedBinding {
    (binding, index)
}

pub fn entries(entries: &[wgt::BindGroupLayoutEntry]) -> std::sync::Arc<[wgt::BindGroupLayoutEntry]> {
    entries.into()
}

pub fn resources(resources: naga::back::msl::BindingMap) -> naga::back::msl::BindingMap {
    resources
}

pub fn stage(stage: naga::ShaderStage) -> naga::ShaderStage {
    stage
}
