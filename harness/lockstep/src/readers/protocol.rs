//! The frames of `reference/PROTOCOL.md`: those of the crate `subject`, and those of streams that a device replays.

use std::io;

pub use subject::protocol::*;
use wire::Kind;

use crate::case::Object;
use crate::gpu::calls::Row;
use crate::gpu::engine::Request;
use crate::gpu::{Outcome, Trouble, TroubleKind};

fn put_table(to: &mut Vec<u8>, objects: &[Object]) {
    put(to, objects.len() as u32);
    for row in objects.iter().map(Row::of) {
        put(to, row.id);
        put(to, row.kind);
        put_bytes(to, &row.descriptor);
    }
}

/// Streams to replay. Requests in a row over one table send it once.
pub fn replays(requests: &[&Request<'_>]) -> Vec<u8> {
    let mut tables: Vec<&[Object]> = Vec::new();
    let mut items = Vec::new();
    for request in requests {
        if tables.last() != Some(&request.objects) {
            tables.push(request.objects);
        }
        put(&mut items, tables.len() as u32 - 1);
        put_bytes(&mut items, &wire::encode_blob(request.words, request.data));
        put(&mut items, request.stop_after.map_or(0, |command| command as u32 + 1));
    }
    frame(REPLAYS, |to| {
        put(to, tables.len() as u32);
        tables.iter().for_each(|objects| put_table(to, objects));
        put(to, requests.len() as u32);
        to.extend(items);
    })
}

/// Reads what came of a replay.
pub fn read_outcome(answer: &[u8]) -> io::Result<Outcome> {
    let mut from = Payload::new(answer);
    let mut outcome = Outcome {
        lost: from.word()? != 0,
        trouble: trouble(&mut from)?,
        ..Outcome::default()
    };
    for (id, kind, bytes) in from.list(held)? {
        match Kind::from_word(kind) {
            Some(Kind::Buffer) => outcome.buffers.insert(id, bytes),
            Some(Kind::Texture) => outcome.textures.insert(id, bytes),
            _ => return Err(nonsense(format!("kind {kind} holds nothing"))),
        };
    }
    from.end().map(|()| outcome)
}

fn trouble(from: &mut Payload<'_>) -> io::Result<Option<Trouble>> {
    let kind = match from.word()? {
        0 => return Ok(None),
        1 => TroubleKind::Validation,
        2 => TroubleKind::WrongKind,
        3 => TroubleKind::Engine,
        other => return Err(nonsense(format!("trouble of kind {other}"))),
    };
    let command = from.word()?.checked_sub(1).map(|command| command as usize);
    let message = String::from_utf8_lossy(from.bytes()?).into_owned();
    Ok(Some(Trouble {
        command,
        row: None,
        kind,
        message,
    }))
}

fn held(from: &mut Payload<'_>) -> io::Result<(u32, u32, Option<Vec<u8>>)> {
    let (id, kind) = (from.word()?, from.word()?);
    let bytes = match from.word()? {
        0 => None,
        _ => Some(from.bytes()?.to_vec()),
    };
    Ok((id, kind, bytes))
}
