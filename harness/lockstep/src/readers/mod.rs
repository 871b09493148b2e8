//! Readers: whatever answers a case. One file each; what they say is in [`answer`], how they are asked in [`ask`] and, over a pipe, in
//! [`protocol`].

pub mod answer;
pub mod ask;
pub mod native;
pub mod outside;
pub mod process;
pub mod protocol;
pub mod replay_js;
pub mod serve;
pub mod slot_model;

use std::collections::BTreeMap;
use std::fmt;

use crate::case::{BufferFacts, LayoutCase, Stage, StreamCase, buffer_facts};
use crate::gpu::calls::Row;

/// What a reader of streams is asked: a stream case without the parts that only a device looks at.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamQuery {
    /// The blob, as it is.
    pub blob: Vec<u8>,
    /// Granted ids, (guest, host).
    pub id_map: Vec<(u32, u32)>,
    /// The buffers of the replayer's table.
    pub buffers: Vec<BufferFacts>,
    /// The dispatch bound.
    pub max_workgroups: u32,
    /// The granted read window, in bytes.
    pub window: u32,
}

impl StreamQuery {
    /// What `case` asks.
    pub fn of(case: &StreamCase) -> StreamQuery {
        StreamQuery {
            blob: case.blob.clone(),
            id_map: case.id_map.clone(),
            buffers: buffer_facts(&case.objects),
            max_workgroups: case.max_workgroups,
            window: case.window,
        }
    }
}

/// A creation descriptor that a reader is asked to split and to remap.
#[derive(Clone, Debug, PartialEq)]
pub struct DescriptorQuery {
    /// The descriptor, as it is.
    pub bytes: Vec<u8>,
    /// Granted ids, (guest, host).
    pub id_map: Vec<(u32, u32)>,
}

/// What a replayer is asked: the calls that make an object table, and those of a stream over it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallsQuery {
    /// The table.
    pub rows: Vec<Row>,
    /// The stream in the replayer's ids, as a blob.
    pub blob: Vec<u8>,
}

impl CallsQuery {
    /// What `case` asks; nothing where Remap refuses its stream.
    pub fn of(case: &StreamCase) -> Option<CallsQuery> {
        let mut blob = wire::Blob::parse(&case.blob).ok()?;
        let length = blob.data.len() as u32;
        wire::remap(&mut blob.words, length, |guest| native::granted(&case.id_map, guest)).ok()?;
        Some(CallsQuery {
            rows: case.objects.iter().map(Row::of).collect(),
            blob: wire::encode_blob(&blob.words, blob.data),
        })
    }
}

/// A batch of questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// Streams.
    pub streams: Vec<StreamQuery>,
    /// Descriptors.
    pub descriptors: Vec<DescriptorQuery>,
    /// Streams whose calls are asked for.
    pub calls: Vec<CallsQuery>,
}

impl Batch {
    /// What the cases ask, streams and descriptors in their order, and no calls.
    pub fn of<'a>(cases: impl IntoIterator<Item = &'a StreamCase>) -> Batch {
        let mut batch = Batch::default();
        for case in cases {
            batch.streams.push(StreamQuery::of(case));
            batch
                .descriptors
                .extend(case.descriptors.iter().map(|bytes| DescriptorQuery {
                    bytes: bytes.clone(),
                    id_map: case.id_map.clone(),
                }));
        }
        batch
    }
}

/// The answers to a [`Batch`], each in the canonical bytes of `reference/PROTOCOL.md`, so that two that agree are equal bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BatchAnswers {
    /// One for each stream; none from a reader that does not answer streams.
    pub streams: Vec<Vec<u8>>,
    /// One for each descriptor; none from a reader that does not answer descriptors.
    pub descriptors: Vec<Vec<u8>>,
    /// The calls, one text for each, or nothing at all from a reader that does not replay.
    pub calls: Vec<Vec<u8>>,
}

/// A reader that could not answer: it died, hung or wrote nonsense. That is a finding about the reader, not a crash of ours.
#[derive(Debug, thiserror::Error)]
#[error("{reader} did not answer: {why}")]
pub struct ReaderFailed {
    /// Its name.
    pub reader: String,
    /// What happened.
    pub why: String,
}

/// A reader of streams. Asking and hearing are apart so that a reader in a process of its own works while this one goes on.
pub trait StreamReader: Send {
    /// Its name in reports, such as `replay-js`.
    fn name(&self) -> &str;

    /// Hands it a batch. Every `ask` is followed by one [`StreamReader::hear`].
    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed>;

    /// The answers to the batch that it was last asked.
    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed>;
}

/// Where a binding stands in Metal's tables, and whether the shader may write to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Its slot in the buffer table.
    pub buffer: Option<u32>,
    /// Its slot in the texture table.
    pub texture: Option<u32>,
    /// Its slot in the sampler table.
    pub sampler: Option<u32>,
    /// Whether it is writable.
    pub mutable: bool,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = [
            ("buffer", self.buffer),
            ("texture", self.texture),
            ("sampler", self.sampler),
        ];
        let slots: Vec<String> = tables
            .iter()
            .filter_map(|(table, slot)| slot.map(|slot| format!("{table} {slot}")))
            .collect();
        let mutable = if self.mutable { ", mutable" } else { "" };
        f.pad(&format!("{}{mutable}", slots.join(" ")))
    }
}

/// What a reader of layouts says about one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageSlots {
    /// Where each binding that the stage sees stands, by (group, binding).
    pub slots: BTreeMap<(u32, u32), Place>,
    /// The first buffer, texture and sampler slot of each group; `None` for an absent one.
    pub bases: Vec<Option<[u32; 3]>>,
    /// The slot of `_buffer_sizes`.
    pub sizes_slot: Option<u32>,
}

/// What GroupSlots gives for one group and stage: a place for each entry, and the counts.
pub type GroupSlots = (Vec<Option<u32>>, [u32; 3]);

/// What the MSL options of slots.md section 3 come to, as text, one fact a row, so that a difference reads well.
pub type OptionFacts = Vec<(&'static str, String)>;

/// A reader's whole answer to a layout case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutAnswer {
    /// A stage's slots, or the refusal in words that every reader shares (see [`refusal`]).
    pub stages: Vec<(Stage, Result<StageSlots, String>)>,
    /// GroupSlots of each present group, stage by stage.
    pub group_slots: Vec<(Stage, Vec<GroupSlots>)>,
    /// The MSL version.
    pub language_version: (u8, u8),
    /// Whether the system has `preserveInvariance`.
    pub preserve_invariance: bool,
    /// The options.
    pub options: OptionFacts,
}

/// A reader of layouts.
pub trait LayoutReader: Send {
    /// Its name in reports, such as `slot-model`.
    fn name(&self) -> &str;

    /// Its answer.
    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer;
}

/// The words for a refused layout, the same for every reader.
pub mod refusal {
    /// More than 8 groups.
    pub const TOO_MANY_GROUPS: &str = "too many groups";
    /// The sizes slot is over 255.
    pub const SIZES_SLOT: &str = "_buffer_sizes past slot 255";
    /// A stage without argument tables.
    pub const STAGE: &str = "unsupported stage";

    /// A binding number twice.
    pub fn duplicate(group: u32, binding: u32) -> String {
        format!("duplicate binding g{group}b{binding}")
    }

    /// A binding array, which the seed's constructor has no place for.
    pub fn binding_array(group: u32, binding: u32) -> String {
        format!("binding array g{group}b{binding}")
    }

    /// An external texture, likewise.
    pub fn external_texture(group: u32, binding: u32) -> String {
        format!("external texture g{group}b{binding}")
    }

    /// A slot over 255.
    pub fn slot(table: &str, group: u32, binding: u32) -> String {
        format!("{table} slot of g{group}b{binding} past 255")
    }
}
