//! Streams as a fuzzer throws them: words of no meaning, or of some, and blobs with bits turned over.

use arbitrary::{Result, Unstructured};
use wire::Op;

use super::streams::damage;
use super::{Made, below, once_in};
use crate::case::{Object, StreamCase};

/// A raw case. Its table is two buffers, and ids 1 and 2 are granted as themselves.
pub fn raw_case(u: &mut Unstructured<'_>) -> Result<Made<StreamCase>> {
    let buffer = |id, body: &str| Object {
        id,
        kind: wire::Kind::Buffer,
        refs: vec![],
        body: body.into(),
    };
    let objects = vec![
        buffer(1, r#"{"size":64,"usage":9}"#),
        buffer(2, r#"{"size":20,"usage":268}"#),
    ];
    let mut words = Vec::new();
    for _ in 0..below(u, 60)? {
        words.push(word(u)?);
    }
    let mut blob = wire::encode_blob(&words, &[7; 16]);
    let mut faults = vec!["random-words"];
    if once_in(u, 4)? {
        damage(u, &mut blob)?;
        faults.push("damaged-blob");
    }
    let case = StreamCase {
        objects,
        id_map: vec![(1, 1), (2, 2)],
        blob,
        window: 64,
        ..StreamCase::default()
    };
    Ok(Made { case, faults })
}

/// A word that is likelier than chance to mean something: an opcode, a small number, a float.
fn word(u: &mut Unstructured<'_>) -> Result<u32> {
    match below(u, 8)? {
        0..=2 => Ok(*u.choose(&Op::ALL)? as u32),
        3..=5 => below(u, 5),
        6 => Ok(1.0f32.to_bits()),
        _ => u.arbitrary(),
    }
}
