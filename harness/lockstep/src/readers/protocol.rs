//! The frames of `reference/PROTOCOL.md`, this side.

use std::io::{self, Read, Write};

use super::{Batch, CallsQuery, DescriptorQuery, StreamQuery};

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

fn put(to: &mut Vec<u8>, word: u32) {
    to.extend_from_slice(&word.to_le_bytes());
}

fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
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

/// Whether the hello that a reader answered, without its version, lists frames of that name.
pub fn hello_lists(json: &[u8], name: &str) -> bool {
    let hello: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
    let lists = |answers: &Vec<serde_json::Value>| answers.iter().any(|answer| answer == name);
    hello["answers"].as_array().is_some_and(lists)
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
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (length, kind) = (word(0), word(4));
    if !(4..=MAX_FRAME).contains(&length) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("a frame of {length} bytes"),
        ));
    }
    let mut payload = Vec::new();
    let due = u64::from(length - 4);
    if from.take(due).read_to_end(&mut payload)? as u64 != due {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((kind, payload)))
}

/// The answers in a frame's payload: a count that must be `due`, then that many `bytes`.
pub fn answers(payload: &[u8], due: usize) -> io::Result<Vec<Vec<u8>>> {
    let nonsense = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let mut rest = payload;
    let word = |rest: &mut &[u8]| -> io::Result<u32> {
        let (four, after) = rest
            .split_at_checked(4)
            .ok_or_else(|| nonsense("a frame that ends early".into()))?;
        *rest = after;
        Ok(u32::from_le_bytes(four.try_into().unwrap_or_default()))
    };
    let count = word(&mut rest)? as usize;
    if count != due {
        return Err(nonsense(format!("{count} answers to {due} questions")));
    }
    let mut list = Vec::with_capacity(count);
    for _ in 0..count {
        let length = word(&mut rest)? as usize;
        let (answer, after) = rest
            .split_at_checked(length)
            .ok_or_else(|| nonsense("an answer past its frame".into()))?;
        list.push(answer.to_vec());
        rest = after;
    }
    if rest.is_empty() {
        Ok(list)
    } else {
        Err(nonsense("a frame longer than its answers".into()))
    }
}
