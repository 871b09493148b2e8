//! The frames of `reference/PROTOCOL.md`: both sides of them, for `lockstep` asks and, as `lockstep serve`, is asked.

use std::io::{self, Read, Write};

use serde::{Deserialize, Serialize};

use crate::calls::Row;
use crate::case::{BufferFacts, LayoutCase};
use crate::questions::{Batch, CallsQuery, DescriptorQuery, StreamQuery};

/// The version that this program speaks.
pub const VERSION: u32 = 1;
/// The longest frame, in bytes after its length.
pub const MAX_FRAME: u32 = 1 << 28;
/// The frame type of the first frame, both ways.
pub const HELLO: u32 = 1;
/// The frame type of stream questions and answers.
pub const STREAMS: u32 = 2;
/// The frame type of descriptor questions and answers.
pub const DESCRIPTORS: u32 = 3;
/// The frame type of questions about calls and their answers.
pub const CALLS: u32 = 4;
/// The frame type of streams to replay on a device, and of what came of them.
pub const REPLAYS: u32 = 5;
/// The frame type of questions about the strict check and its answers.
pub const STRICT: u32 = 6;
/// The frame type of layouts and the answers to them.
pub const LAYOUTS: u32 = 7;
/// What a hello can say that a reader answers.
pub const ANSWERS: [&str; 6] = ["streams", "descriptors", "calls", "replays", "strict", "layouts"];

/// Appends a number.
pub fn put(to: &mut Vec<u8>, word: u32) {
    to.extend_from_slice(&word.to_le_bytes());
}

/// Appends a length and that many bytes.
pub fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    put(to, bytes.len() as u32);
    to.extend_from_slice(bytes);
}

fn put_map(to: &mut Vec<u8>, map: &[(u32, u32)]) {
    put(to, map.len() as u32);
    for &(guest, host) in map {
        put(to, guest);
        put(to, host);
    }
}

fn put_stream(to: &mut Vec<u8>, query: &StreamQuery) {
    put_bytes(to, &query.blob);
    put_map(to, &query.id_map);
    put(to, query.buffers.len() as u32);
    for buffer in &query.buffers {
        put(to, buffer.id);
        put(to, buffer.usage);
        put(to, buffer.size as u32);
        put(to, (buffer.size >> 32) as u32);
    }
    put(to, query.max_workgroups);
    put(to, query.window);
}

fn put_descriptor(to: &mut Vec<u8>, query: &DescriptorQuery) {
    put_bytes(to, &query.bytes);
    put_map(to, &query.id_map);
}

fn put_calls(to: &mut Vec<u8>, query: &CallsQuery) {
    put(to, query.rows.len() as u32);
    for row in &query.rows {
        put(to, row.id);
        put(to, row.kind);
        put_bytes(to, &row.descriptor);
    }
    put_bytes(to, &query.blob);
}

/// A frame of `kind` whose payload `fill` appends.
pub fn frame(kind: u32, fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    put(&mut bytes, kind);
    fill(&mut bytes);
    let length = (bytes.len() - 4) as u32;
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// The hello.
pub fn hello() -> Vec<u8> {
    frame(HELLO, |to| put(to, VERSION))
}

/// What a reader says of itself in its hello.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Its name in reports.
    pub name: String,
    /// The frame types that it answers, by name. One that this program does not know is as good as not there.
    pub answers: Vec<String>,
    /// Of one that answers replays, the driver of its device in the driver's own words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub driver: String,
    /// Of one that answers replays, whether its device executes what it validates.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executes: bool,
}

impl Hello {
    /// Whether it says that it answers `what`.
    pub fn answers(&self, what: &str) -> bool {
        self.answers.iter().any(|known| known == what)
    }

    /// The frame.
    pub fn frame(&self) -> Vec<u8> {
        frame(HELLO, |to| {
            put(to, VERSION);
            to.extend(serde_json::to_vec(self).unwrap_or_default());
        })
    }

    /// Reads the payload of a hello's answer. The error says what is wrong with it, in one line.
    pub fn parse(payload: &[u8]) -> Result<Hello, String> {
        let Some((version, json)) = payload.split_first_chunk::<4>() else {
            return Err("a hello without a version".into());
        };
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(format!("it speaks version {version} of the protocol, not {VERSION}"));
        }
        let hello: Hello =
            serde_json::from_slice(json).map_err(|error| format!("its hello is not that of PROTOCOL.md: {error}"))?;
        if hello.name.trim().is_empty() || hello.name.len() > 100 || hello.name.contains(char::is_control) {
            return Err("its hello has a name that is empty, over 100 bytes or not one line".into());
        }
        match ANSWERS.iter().any(|what| hello.answers(what)) {
            true => Ok(hello),
            false => Err(format!(
                "its hello says that it answers none of: {}",
                ANSWERS.join(", ")
            )),
        }
    }
}

/// The streams of a batch.
pub fn streams(batch: &Batch) -> Vec<u8> {
    frame(STREAMS, |to| {
        put(to, batch.streams.len() as u32);
        batch.streams.iter().for_each(|query| put_stream(to, query));
    })
}

/// The descriptors of a batch.
pub fn descriptors(batch: &Batch) -> Vec<u8> {
    frame(DESCRIPTORS, |to| {
        put(to, batch.descriptors.len() as u32);
        batch.descriptors.iter().for_each(|query| put_descriptor(to, query));
    })
}

/// The questions about calls of a batch.
pub fn calls(batch: &Batch) -> Vec<u8> {
    frame(CALLS, |to| {
        put(to, batch.calls.len() as u32);
        batch.calls.iter().for_each(|query| put_calls(to, query));
    })
}

/// The questions about the strict check of a batch.
pub fn strict(batch: &Batch) -> Vec<u8> {
    frame(STRICT, |to| {
        put(to, batch.strict.len() as u32);
        batch.strict.iter().for_each(|query| put_calls(to, query));
    })
}

/// One layout.
pub fn layout(case: &LayoutCase) -> Vec<u8> {
    frame(LAYOUTS, |to| {
        put(to, 1);
        // A case is always text.
        put_bytes(to, &serde_json::to_vec(case).unwrap_or_default());
    })
}

/// Writes a frame.
pub fn write_frame(to: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    to.write_all(frame)?;
    to.flush()
}

/// Reads a frame: its type and payload. `None` at the end of the stream between two frames. Refuses, as `InvalidData`, a frame that
/// is too long or too short.
pub fn read_frame(from: &mut impl Read) -> io::Result<Option<(u32, Vec<u8>)>> {
    let mut head = Vec::new();
    from.take(8).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    let Ok(head) = <[u8; 8]>::try_from(head) else {
        return Err(cut());
    };
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (length, kind) = (word(0), word(4));
    if !(4..=MAX_FRAME).contains(&length) {
        return Err(nonsense(format!("a frame whose length is {length}")));
    }
    let mut payload = Vec::new();
    let due = u64::from(length - 4);
    if from.take(due).read_to_end(&mut payload)? as u64 != due {
        return Err(cut());
    }
    Ok(Some((kind, payload)))
}

fn cut() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the end inside a frame")
}

/// What is not in order in a payload.
pub fn nonsense(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// A payload that is taken apart from its front.
pub struct Payload<'a>(&'a [u8]);

impl<'a> Payload<'a> {
    /// A payload, or an answer of numbers and bytes.
    pub fn new(bytes: &'a [u8]) -> Payload<'a> {
        Payload(bytes)
    }

    fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (front, rest) = self.0.split_at_checked(count).ok_or_else(|| {
            let left = self.0.len();
            nonsense(format!("{left} bytes left of the frame where {count} are due"))
        })?;
        self.0 = rest;
        Ok(front)
    }

    /// The next number.
    pub fn word(&mut self) -> io::Result<u32> {
        let four = self.take(4)?;
        Ok(u32::from_le_bytes(four.try_into().unwrap_or_default()))
    }

    /// A length and that many bytes.
    pub fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let count = self.word()? as usize;
        self.take(count)
    }

    /// A count and that many of what `one` reads.
    pub fn list<T>(&mut self, one: impl Fn(&mut Self) -> io::Result<T>) -> io::Result<Vec<T>> {
        (0..self.word()?).map(|_| one(self)).collect()
    }

    /// A list of rows that each begin with an id, ascending by it, as the native reader looks them up.
    fn by_id<T>(&mut self, one: impl Fn(&mut Self) -> io::Result<T>, id: impl Fn(&T) -> u32) -> io::Result<Vec<T>> {
        let mut rows = self.list(one)?;
        rows.sort_by_key(&id);
        match rows.windows(2).find(|pair| id(&pair[0]) == id(&pair[1])) {
            Some(pair) => Err(nonsense(format!("id {} is listed twice", id(&pair[0])))),
            None => Ok(rows),
        }
    }

    fn map(&mut self) -> io::Result<Vec<(u32, u32)>> {
        self.by_id(|from| Ok((from.word()?, from.word()?)), |pair| pair.0)
    }

    fn buffer(&mut self) -> io::Result<BufferFacts> {
        Ok(BufferFacts {
            id: self.word()?,
            usage: self.word()?,
            size: u64::from(self.word()?) | u64::from(self.word()?) << 32,
        })
    }

    fn stream(&mut self) -> io::Result<StreamQuery> {
        Ok(StreamQuery {
            blob: self.bytes()?.to_vec(),
            id_map: self.map()?,
            buffers: self.by_id(Self::buffer, |buffer| buffer.id)?,
            max_workgroups: self.word()?,
            window: self.word()?,
        })
    }

    fn descriptor(&mut self) -> io::Result<DescriptorQuery> {
        Ok(DescriptorQuery {
            bytes: self.bytes()?.to_vec(),
            id_map: self.map()?,
        })
    }

    fn row(&mut self) -> io::Result<Row> {
        Ok(Row {
            id: self.word()?,
            kind: self.word()?,
            descriptor: self.bytes()?.to_vec(),
        })
    }

    fn calls(&mut self) -> io::Result<CallsQuery> {
        Ok(CallsQuery {
            rows: self.list(Self::row)?,
            blob: self.bytes()?.to_vec(),
        })
    }

    fn layout(&mut self) -> io::Result<LayoutCase> {
        serde_json::from_slice(self.bytes()?).map_err(|error| nonsense(format!("no layout: {error}")))
    }

    /// Refuses what is left over.
    pub fn end(&self) -> io::Result<()> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(nonsense(format!("{left} bytes left over at the end of the frame"))),
        }
    }
}

/// The version in a hello's question.
pub fn read_version(payload: &[u8]) -> io::Result<u32> {
    let mut from = Payload(payload);
    let version = from.word()?;
    from.end().map(|()| version)
}

/// The streams in a question's payload.
pub fn read_streams(payload: &[u8]) -> io::Result<Vec<StreamQuery>> {
    let mut from = Payload(payload);
    let list = from.list(Payload::stream)?;
    from.end().map(|()| list)
}

/// The descriptors in a question's payload.
pub fn read_descriptors(payload: &[u8]) -> io::Result<Vec<DescriptorQuery>> {
    let mut from = Payload(payload);
    let list = from.list(Payload::descriptor)?;
    from.end().map(|()| list)
}

/// The questions about calls, or about the strict check, in a question's payload.
pub fn read_calls(payload: &[u8]) -> io::Result<Vec<CallsQuery>> {
    let mut from = Payload(payload);
    let list = from.list(Payload::calls)?;
    from.end().map(|()| list)
}

/// The layouts in a question's payload.
pub fn read_layouts(payload: &[u8]) -> io::Result<Vec<LayoutCase>> {
    let mut from = Payload(payload);
    let list = from.list(Payload::layout)?;
    from.end().map(|()| list)
}

/// The frame of `kind` that holds these answers.
pub fn answer(kind: u32, answers: &[Vec<u8>]) -> Vec<u8> {
    frame(kind, |to| {
        put(to, answers.len() as u32);
        answers.iter().for_each(|answer| put_bytes(to, answer));
    })
}

/// The answers in a frame's payload: a count that must be `due`, then that many `bytes`.
pub fn answers(payload: &[u8], due: usize) -> io::Result<Vec<Vec<u8>>> {
    let mut from = Payload(payload);
    let count = from.word()?;
    if count as usize != due {
        return Err(nonsense(format!("{count} answers to {due} questions")));
    }
    let list: io::Result<Vec<_>> = (0..count).map(|_| Ok(from.bytes()?.to_vec())).collect();
    let list = list?;
    from.end().map(|()| list)
}
