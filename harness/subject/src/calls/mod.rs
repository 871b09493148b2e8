//! The calls that a replay makes, as data: what wire.md says of commands (section 4) and of object tables (section 7).
//!
//! One walk over a stream gives its calls; lockstep's engine makes the same ones on a device of wgpu's. So the trace is of the code
//! that replays, and only what stands between a call here and wgpu's Rust types is not in it.

mod objects;
mod stream;
mod text;

use std::collections::BTreeMap;

use wire::{Blob, Kind, Reason, Refusal};

pub use self::objects::{Creation, Descriptor, RowRefused, bundle_calls, check, creation};
pub use self::stream::{Aspect, Call, Color, DataLayout, Depth, Replay, Section, Stop, Texels, replay};
use crate::case::Object;

/// A row of an object table, as it travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The replayer's id.
    pub id: u32,
    /// The number of its kind, also of one that there is not.
    pub kind: u32,
    /// A creation descriptor of section 7, also a broken one.
    pub descriptor: Vec<u8>,
}

impl Row {
    /// The row of a case's object.
    pub fn of(object: &Object) -> Row {
        // Written here, because `wire::append_descriptor` refuses some that a case may hold.
        let mut descriptor = (object.refs.len() as u32).to_le_bytes().to_vec();
        descriptor.extend(object.refs.iter().flat_map(|id| id.to_le_bytes()));
        descriptor.extend(object.body.as_bytes());
        Row {
            id: object.id,
            kind: object.kind.word(),
            descriptor,
        }
    }
}

impl Row {
    /// The object that the row describes; none where section 7 refuses its descriptor or its kind, or its body is no UTF-8.
    pub fn object(&self) -> Option<Object> {
        let (refs, body) = wire::split_descriptor(&self.descriptor).ok()?;
        Some(Object {
            id: self.id,
            kind: Kind::from_word(self.kind)?,
            refs,
            body: String::from_utf8(body.to_vec()).ok()?,
        })
    }
}

/// What making the objects of a table and replaying a stream over them comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// One for each row.
    pub rows: Vec<RowTrace>,
    /// The stream's calls and its end, or why nothing of it is replayed.
    pub stream: Result<Replay, NotReplayed>,
}

/// What became of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowTrace {
    /// Its id.
    pub id: u32,
    /// The call that makes its object; none where it is refused before that.
    pub creation: Option<Creation>,
    /// Why its object is not made. A bundle may be refused over its words, after some calls.
    pub refused: Option<RowRefused>,
}

/// Why a stream is not replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotReplayed {
    /// Section 1 refuses the blob.
    Blob(Reason),
    /// Decode refuses the words (section 4, rule 1).
    Words(Refusal),
}

/// The calls of a stream over a table, all in the replayer's ids.
pub fn calls(objects: &[Object], words: &[u32], data: &[u8]) -> Trace {
    let rows: Vec<Row> = objects.iter().map(Row::of).collect();
    let mut kinds = BTreeMap::new();
    Trace {
        rows: make(&rows, &mut kinds),
        stream: replayed(words, data, &kinds),
    }
}

/// [`calls`] of rows and a blob, which may be broken.
pub fn calls_of_bytes(rows: &[Row], blob: &[u8]) -> Trace {
    let mut kinds = BTreeMap::new();
    Trace {
        rows: make(rows, &mut kinds),
        stream: Blob::parse(blob)
            .map_err(|refused| NotReplayed::Blob(refused.reason))
            .and_then(|blob| replayed(&blob.words, blob.data, &kinds)),
    }
}

fn replayed(words: &[u32], data: &[u8], kinds: &BTreeMap<u32, Kind>) -> Result<Replay, NotReplayed> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let commands = wire::decode(words, length).map_err(NotReplayed::Words)?;
    Ok(replay(&commands, |id| kinds.get(&id).copied()))
}

/// Makes the rows in their order; `kinds` gets the objects that are there afterwards.
fn make(rows: &[Row], kinds: &mut BTreeMap<u32, Kind>) -> Vec<RowTrace> {
    let mut made = Vec::with_capacity(rows.len());
    for row in rows {
        let trace = objects::make(row, |id| kinds.get(&id).copied());
        // A later row of an id takes its place, also when it makes nothing.
        kinds.remove(&row.id);
        if let (None, Some(kind)) = (&trace.refused, Kind::from_word(row.kind)) {
            kinds.insert(row.id, kind);
        }
        made.push(trace);
    }
    made
}
