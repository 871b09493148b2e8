//! The manifest of a recording, `recording.json`. `reference/RECORDING.md` says what each member means.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

/// `recording.json`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Manifest {
    /// The version of RECORDING.md.
    pub recording: u32,
    /// The version of the streams.
    pub wire: u32,
    /// What was recorded.
    pub program: Program,
    /// Which adapter recorded; none where the program made no device.
    pub adapter: Option<Adapter>,
    /// What the program asked of its device; none where it made none.
    pub device: Option<Device>,
    /// The object table's file.
    pub objects: String,
    /// Sums.
    pub counts: Counts,
    /// What the streams do not carry, and how often the program did it.
    pub not_carried: BTreeMap<String, u64>,
    /// The streams, in order.
    pub streams: Vec<StreamRow>,
}

/// The recorded program.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The file's name, or a page's.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
}

/// An adapter in the words of its `GPUAdapterInfo`; an engine leaves those empty that it does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Such as `65541`, Mesa's number.
    pub vendor: String,
    /// Such as `ampere`.
    pub architecture: String,
    /// Such as `0`.
    pub device: String,
    /// Such as `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub description: String,
}

impl Adapter {
    fn words(&self) -> [&str; 4] {
        [&self.vendor, &self.architecture, &self.device, &self.description]
    }

    /// Whether the two are one driver, as far as their words tell: those are equal, and not all empty.
    pub fn is(&self, other: Option<&Adapter>) -> bool {
        other == Some(self) && self.words().iter().any(|word| !word.is_empty())
    }

    /// The description, or what there is of the other words.
    pub fn name(&self) -> String {
        if !self.description.is_empty() {
            return self.description.clone();
        }
        let words = self.words().into_iter().filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// What a program asks of its device, in WebGPU's names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Device {
    /// Features.
    pub required_features: Vec<String>,
    /// Limits.
    pub required_limits: BTreeMap<String, u64>,
}

/// Sums over the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Rows of the table.
    pub objects: u64,
    /// Calls of `queue.submit`.
    pub submits: u64,
    /// Commands of all streams.
    pub commands: u64,
    /// Words of all streams.
    pub words: u64,
    /// Bytes of data of all streams.
    pub data: u64,
    /// Bytes of all read windows.
    pub read: u64,
}

/// What the manifest says of a stream.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamRow {
    /// The blob's file.
    pub blob: String,
    /// Bytes of its read window.
    pub window: u32,
    /// The file with what the program saw in the window; none where that has no byte.
    #[serde(default, deserialize_with = "no_null")]
    pub reads: Option<String>,
    /// What is copied after its work.
    #[serde(default)]
    pub copies: Vec<Copy>,
}

/// Of a member that may be missing: null is not missing.
fn no_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

/// A call of a command encoder that version 4 has no command for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, tag = "method", content = "args", rename_all = "camelCase")]
pub enum Copy {
    /// Buffer, offset, size.
    ClearBuffer(Id, u64, u64),
    /// Source, destination, size.
    CopyBufferToTexture(BufferSide, TextureSide, Extent),
    /// Source, destination, size.
    CopyTextureToBuffer(TextureSide, BufferSide, Extent),
}

/// An object of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Id {
    /// Its id.
    #[serde(rename = "@")]
    pub id: u32,
}

/// A `GPUTexelCopyBufferInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct BufferSide {
    /// The buffer.
    pub buffer: Id,
    /// Where the texels begin, in bytes.
    pub offset: u64,
    /// Bytes from row to row.
    #[serde(default, deserialize_with = "no_null")]
    pub bytes_per_row: Option<u32>,
    /// Rows from image to image.
    #[serde(default, deserialize_with = "no_null")]
    pub rows_per_image: Option<u32>,
}

/// A `GPUTexelCopyTextureInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TextureSide {
    /// The texture.
    pub texture: Id,
    /// The mip level.
    pub mip_level: u32,
    /// Where in it.
    pub origin: Origin,
    /// The aspect.
    pub aspect: Aspect,
}

/// A `GPUOrigin3D`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "WebGPU's own names")]
pub struct Origin {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// A `GPUExtent3D`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[expect(missing_docs, reason = "WebGPU's own names")]
pub struct Extent {
    pub width: u32,
    pub height: u32,
    pub depth_or_array_layers: u32,
}

/// A `GPUTextureAspect`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "WebGPU's own names")]
pub enum Aspect {
    All,
    StencilOnly,
    DepthOnly,
}

impl Copy {
    /// The objects that it names, with the kinds that they must be of.
    pub fn objects(&self) -> Vec<(u32, wire::Kind)> {
        use wire::Kind::{Buffer, Texture};
        match self {
            Copy::ClearBuffer(buffer, ..) => vec![(buffer.id, Buffer)],
            Copy::CopyBufferToTexture(buffer, texture, _) | Copy::CopyTextureToBuffer(texture, buffer, _) => {
                vec![(buffer.buffer.id, Buffer), (texture.texture.id, Texture)]
            }
        }
    }
}
