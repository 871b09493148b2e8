//! The lines of the ledger: an engine still does what its line says, and nothing of the like is tolerated beside it.

use lockstep::case::{Object, StreamCase};
use lockstep::gpu::engine;
use lockstep::gpu::ledger::LINES;
use lockstep::oracles::gpu::{Cell, Judged, replay};
use lockstep::readers::ask;
use lockstep::readers::native::Native;
use rstest::rstest;
use wire::{Kind, Op};

/// A buffer of 16 bytes that is copied both ways.
fn case(words: &[u32], data: &[u8]) -> StreamCase {
    let buffer = Object {
        id: 1,
        kind: Kind::Buffer,
        refs: Vec::new(),
        body: r#"{"size":16,"usage":12}"#.into(),
    };
    StreamCase {
        objects: vec![buffer],
        id_map: vec![(1, 1)],
        blob: wire::encode_blob(words, data),
        ..StreamCase::default()
    }
}

fn judge(id: &str, case: &StreamCase) -> Judged {
    let mut engine = engine::open(id).unwrap_or_else(|error| panic!("{error:#}"));
    let answers = ask::case(&mut Native::default(), case, None).expect("native answers");
    let answer = answers.stream.expect("an answer");
    replay(engine.as_mut(), case, &answer)
        .expect("it comes to CheckRanges")
        .0
}

/// Nothing, written at 20 of 16 bytes.
const WRITE_NOTHING: [u32; 6] = [Op::WriteBuffer as u32, 1, 20, 0, 0, 0];

#[test]
fn deno_takes_a_write_of_nothing_past_the_end() {
    let judged = judge("deno", &case(&WRITE_NOTHING, &[]));
    assert_eq!((judged.cell, judged.what.as_str()), (Cell::Tolerated, LINES[0].name));
}

#[rstest]
fn the_others_refuse_it(#[values("wgpu:vulkan", "wgpu:noop", "dawn:null")] id: &str) {
    assert_eq!(judge(id, &case(&WRITE_NOTHING, &[])).cell, Cell::Right);
}

#[test]
fn deno_refuses_four_bytes_there() {
    let words = [Op::WriteBuffer as u32, 1, 20, 0, 0, 4];
    assert_eq!(judge("deno", &case(&words, &[0; 4])).cell, Cell::Right);
}
