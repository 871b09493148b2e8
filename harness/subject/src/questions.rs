//! What readers are asked, and the trait of those that answer streams.

use crate::calls::Row;
use crate::case::{BufferFacts, StreamCase, buffer_facts};
use crate::native;

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
    /// Streams of which the strict check is asked, in the replayer's ids.
    pub strict: Vec<CallsQuery>,
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
    /// One for each stream of which the strict check was asked, or nothing at all from a reader without one.
    pub strict: Vec<Vec<u8>>,
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
