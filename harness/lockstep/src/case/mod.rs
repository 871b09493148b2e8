//! Cases: one input each, self-contained and replayable, and the file that keeps one.
//!
//! A stored case is the case itself, never the random bytes that a generator turned into it: the next change to the generator
//! would make those bytes mean something else.

mod bind;
mod expect;

pub use bind::{
    BindCase, BindCommand, BindGroup, BufferBinding, MAX_VERTEX_BUFFERS, Pipeline, PipelineLayout, PipelineStage,
    Resource, has_arrays,
};
pub use expect::{BindExpect, EntryExpect, Expect, LayoutExpect, StreamExpect};
pub use subject::case::{BufferFacts, LayoutCase, Object, Platform, Shader, Stage, StreamCase, System, buffer_facts};

use serde::{Deserialize, Serialize};

use crate::deep::MAX_WGSL;

/// The version of the case file that this program writes and the only one that it reads.
pub const CASE_FORMAT: u32 = 1;

/// One input of any kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Case {
    /// A command stream with everything that its replay needs.
    Stream(StreamCase),
    /// A pipeline layout, with or without a shader for it.
    Layout(LayoutCase),
    /// Passes, for what is bound at each draw.
    Bind(BindCase),
}

impl Case {
    /// What a reader of cases relies on and the file's shape does not say. The error names the part.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Case::Stream(case) => {
                if let Some(long) = case.objects.iter().find(|object| object.body.len() > MAX_WGSL) {
                    return Err(too_long(&format!("the body of object {}", long.id), long.body.len()));
                }
                if !case.id_map.is_sorted_by(|a, b| a.0 < b.0) {
                    return Err("id_map: not ascending by guest, or a guest twice".into());
                }
                // A table may be as broken as it likes: wire.md section 7 says what becomes of every row.
                Ok(())
            }
            Case::Layout(LayoutCase {
                shader: Some(shader), ..
            }) if shader.wgsl.len() > MAX_WGSL => Err(too_long("the shader", shader.wgsl.len())),
            Case::Layout(_) => Ok(()),
            Case::Bind(case) => case.check(),
        }
    }
}

fn too_long(what: &str, length: usize) -> String {
    format!("{what} has {length} bytes; at most {MAX_WGSL} are read")
}

/// Where a generated case came from: the same three make the same case on any machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The generator's lane, such as `streams`.
    pub lane: String,
    /// The campaign's seed.
    pub seed: u64,
    /// The case's index in the lane.
    pub index: u64,
}

/// A case on disk: JSON, with what it was found to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseFile {
    /// [`CASE_FORMAT`].
    pub format: u32,
    /// What the case shows, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shows: Option<String>,
    /// Where the fault was reported, for a case of the corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The finding's signature, where the case was written for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Where the case came from, where a generator made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// What the case must come to, for a case of the corpus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// The case.
    pub case: Case,
    /// A stream's blob as text (`reference/TEXT.md`), line by line, for a person; the blob is what counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub text: Vec<String>,
}

impl CaseFile {
    /// A case alone.
    pub fn of(case: Case) -> CaseFile {
        CaseFile {
            format: CASE_FORMAT,
            shows: None,
            source: None,
            signature: None,
            origin: None,
            expect: None,
            case,
            text: Vec::new(),
        }
    }
}
