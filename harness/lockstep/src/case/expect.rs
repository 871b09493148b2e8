//! What a corpus case must come to, as a person wrote it down from the specification. One value is compared with the same value made
//! of the answers, field by field, so whatever is written here is either held to or refused by the file's reader.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Stage;

/// The expected answer to a case of any kind.
#[expect(clippy::large_enum_variant, reason = "there is one a file")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Expect {
    /// To a stream case.
    Stream(StreamExpect),
    /// To a layout case.
    Layout(LayoutExpect),
    /// To a bind case.
    Bind(BindExpect),
}

/// The expected answer to a stream case. A part that is left out is one that the stream does not come to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamExpect {
    /// The blob's refusal; left out for a blob that is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Decode: `accept`, or a refusal such as `unsafe-integer at word 2, WriteBuffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decode: Option<String>,
    /// Remap, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remap: Option<String>,
    /// CheckRanges, such as `out-of-range at command 1, WriteBuffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranges: Option<String>,
    /// The strict check (wire.md section 8), whatever CheckRanges says: `accept`, or the rule's class and the command, such as `usage at
    /// command 1, WriteBuffer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<String>,
    /// The read check, such as `out-of-range at read 0`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<String>,
    /// The descriptors, one after the other: `accept`, or the refusal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub descriptors: Vec<String>,
    /// What every engine says: `no error`, `validation error at command 3`, `wrong-kind at command 3`, or `validation error in the
    /// object table`. A stream that CheckRanges refuses is replayed up to the command that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engines: Option<String>,
    /// What the noop backend says, where that is something else: it compiles no shader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noop: Option<String>,
    /// The whole of what these buffers hold afterwards, in hex, on every engine that executes; blanks are for the eye.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub buffers: BTreeMap<u32, String>,
    /// The same for textures: mip by mip, layer by layer, rows tightly packed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub textures: BTreeMap<u32, String>,
    /// The read window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
}

/// The expected answer to a layout case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutExpect {
    /// By stage and binding, such as `g0b3`: `buffer 1, mutable`; also `_buffer_sizes`, or `refused` alone with the refusal. A stage
    /// that is left out is accepted and has no slots.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub slots: BTreeMap<Stage, BTreeMap<String, String>>,
    /// The shader's entry points, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shader: BTreeMap<String, EntryExpect>,
}

/// The expected answer to a bind case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindExpect {
    /// By command, a draw or dispatch, and stage of its pipeline: what stands in each slot that the pipeline's layout has, such as
    /// `buffer 0`: `buffer 10 at 256`, or `bytes 64000000` of `_buffer_sizes`.
    pub bound: BTreeMap<usize, BTreeMap<Stage, BTreeMap<String, String>>>,
}

/// What an entry point comes to in MSL. None of the properties of slots.md section 4 may be hurt, whatever is written here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryExpect {
    /// Why it is not translated; then there is nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// By place, such as `buffer 0`: the argument's name, and `, writable` where the function may write.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, String>,
    /// The bindings that `_buffer_sizes` has a field for, in order, such as `g0b1`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// A compute function's workgroup size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workgroup: Option<[u32; 3]>,
    /// Its loops, each with its bound.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub loops: u64,
    /// Its subscripts that have to be restricted, and are: by an index that is not constant, or of a runtime-sized array.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub subscripts: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
