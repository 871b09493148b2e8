//! Layout cases.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wgpu_types::BindGroupLayoutEntry;

/// A pipeline layout, the system that it is laid out for and, in part of the cases, a shader that uses it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutCase {
    /// The bind group layouts, in the order in which the caller listed their entries; `null` is an absent group.
    pub groups: Vec<Option<Vec<BindGroupLayoutEntry>>>,
    /// Bytes of immediates, WebGPU's `immediateSize`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub immediate_size: u32,
    /// Whether vertex buffers are pulled, as wgpu-hal's Metal backend always does. With it, immediates, arrays and external textures a
    /// layout goes past slots.md section 1.
    #[serde(default, skip_serializing_if = "is_default")]
    pub vertex_pulling: bool,
    /// The system whose Metal compiler is asked for its language version.
    pub system: System,
    /// The shader, for a case that is translated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shader: Option<Shader>,
}

/// Left out of files: what section 1 of slots.md has.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// WGSL, and the overrides that it is translated with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shader {
    /// The source.
    pub wgsl: String,
    /// Pipeline constants, by the key of WebGPU's `GPUProgrammableStage.constants`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, f64>,
}

/// An Apple system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Its platform.
    pub platform: Platform,
    /// As in `NSProcessInfo.operatingSystemVersion`.
    pub major: u32,
    /// As in `NSProcessInfo.operatingSystemVersion`.
    pub minor: u32,
}

/// The platforms that slots.md section 3 tells apart, in files by their names in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// macOS.
    MacOs,
    /// iOS, and iPadOS with it.
    Ios,
    /// tvOS.
    TvOs,
    /// visionOS.
    VisionOs,
}

impl Platform {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Platform::MacOs => "macos",
            Platform::Ios => "ios",
            Platform::TvOs => "tvos",
            Platform::VisionOs => "visionos",
        }
    }
}

/// The stages that Metal has argument tables for, in the order in which answers list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Vertex.
    Vertex,
    /// Fragment.
    Fragment,
    /// Compute.
    Compute,
    /// Task.
    Task,
    /// Mesh.
    Mesh,
}

impl Stage {
    /// All five.
    pub const ALL: [Stage; 5] = [Stage::Vertex, Stage::Fragment, Stage::Compute, Stage::Task, Stage::Mesh];

    /// naga's name for it.
    pub fn naga(self) -> naga::ShaderStage {
        match self {
            Stage::Vertex => naga::ShaderStage::Vertex,
            Stage::Fragment => naga::ShaderStage::Fragment,
            Stage::Compute => naga::ShaderStage::Compute,
            Stage::Task => naga::ShaderStage::Task,
            Stage::Mesh => naga::ShaderStage::Mesh,
        }
    }

    /// wgpu's name for it.
    pub fn visibility(self) -> wgpu_types::ShaderStages {
        match self {
            Stage::Vertex => wgpu_types::ShaderStages::VERTEX,
            Stage::Fragment => wgpu_types::ShaderStages::FRAGMENT,
            Stage::Compute => wgpu_types::ShaderStages::COMPUTE,
            Stage::Task => wgpu_types::ShaderStages::TASK,
            Stage::Mesh => wgpu_types::ShaderStages::MESH,
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
            Stage::Compute => "compute",
            Stage::Task => "task",
            Stage::Mesh => "mesh",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_read_by_their_names_and_no_others() {
        for platform in [Platform::MacOs, Platform::Ios, Platform::TvOs, Platform::VisionOs] {
            assert_eq!(
                serde_json::to_value(platform).expect("a text"),
                platform.name(),
                "{platform:?}"
            );
        }
        let error = serde_json::from_str::<Platform>("\"plan9\"").expect_err("no platform");
        assert!(error.to_string().contains("`macos`, `ios`, `tvos`"), "{error}");
    }
}
