//! The streams are what they say, so that what is timed is not a refusal at the first word.

use lockstep_bench::hot;
use lockstep_bench::objects::{Anything, pipeline_layout};
use lockstep_bench::streams::{DATA_LEN, Stream, generated, recorded};
use mslmap::{Extension, StageLayout};

fn streams() -> Vec<Stream> {
    let mut streams: Vec<Stream> = ["render", "compute", "upload"]
        .map(|kind| generated(kind, 64 << 10))
        .into();
    streams.extend(recorded(64 << 10));
    streams
}

#[test]
fn streams_are_accepted_and_as_long_as_asked() {
    for stream in streams() {
        let cmds = wire::decode(&stream.words, DATA_LEN).unwrap_or_else(|refusal| panic!("{}: {refusal}", stream.kind));
        assert_eq!(cmds.len(), stream.commands, "{}", stream.kind);
        let bytes = 4 * stream.words.len();
        assert!((64 << 10..128 << 10).contains(&bytes), "{}: {bytes}", stream.kind);
        assert!(hot::check_ranges(&cmds, &hot::Map::of(&stream)), "{}", stream.kind);
    }
}

#[test]
fn generated_streams_pass_the_strict_check() {
    for kind in ["render", "compute", "upload"] {
        let stream = generated(kind, 64 << 10);
        assert!(
            hot::check_strict(&wire::decode(&stream.words, DATA_LEN).unwrap(), &Anything::default()),
            "{kind}"
        );
    }
}

#[test]
fn a_refused_stream_is_refused_at_its_last_command() {
    let stream = generated("refused", 64 << 10);
    let refusal = wire::decode(&stream.words, DATA_LEN).unwrap_err();
    assert_eq!(
        (refusal.word, refusal.reason),
        (stream.words.len() - 1, wire::Reason::WriteSize)
    );
}

/// The goal is about the same answer.
#[test]
fn upstream_gives_the_same_slots() {
    let layout = pipeline_layout(4, 16);
    let groups: Vec<_> = layout.iter().map(|entries| Some(&entries[..])).collect();
    let extension = Extension {
        immediate_size: 0,
        vertex_pulling: true,
    };
    let upstream = slot_upstream::layout(&groups, 0).unwrap();
    for (ours, theirs) in StageLayout::all_stages(&groups, extension)
        .into_iter()
        .zip(&upstream.stages)
    {
        let ours = ours.unwrap();
        assert_eq!(
            ours.resources
                .iter()
                .map(|(at, target)| (*at, target.clone()))
                .collect::<Vec<_>>(),
            theirs
                .resources
                .iter()
                .map(|(at, target)| (*at, target.clone()))
                .collect::<Vec<_>>()
        );
        assert_eq!(ours.sizes_slot, theirs.sizes_slot);
    }
}
