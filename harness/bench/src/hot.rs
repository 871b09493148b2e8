//! The loops that are measured, each by itself: `throughput` times them, `instructions` counts what they take.

use std::hint::black_box;

use wire::{Cmd, Read, Refusal};

use crate::objects::Anything;
use crate::streams::{BUFFER_SIZE, DATA_LEN, IDS, Stream};

/// Decodes a stream and visits every command: its opcode, place and length go into what is returned.
#[inline(never)]
pub fn decode(words: &[u32]) -> Result<u64, Refusal> {
    let mut seen = 0u64;
    for cmd in wire::commands(words, DATA_LEN) {
        let cmd = cmd?;
        seen = seen.wrapping_add(u64::from(cmd.op.word()) ^ (cmd.word as u64) ^ (cmd.args.len() as u64));
    }
    Ok(seen)
}

/// The most that is asked about one word: a sum of all of them, by the vectors of the processor.
#[inline(never)]
pub fn sum(words: &[u32]) -> u64 {
    words.iter().fold(0, |sum, &word| sum.wrapping_add(u64::from(word)))
}

/// Copies the words.
#[inline(never)]
pub fn copy(to: &mut [u32], words: &[u32]) {
    to.copy_from_slice(words);
}

/// What a host's own ids are, by the guest's: here the same the other way round, so that it can be done again and again.
pub struct Map(Vec<u32>);

impl Map {
    /// For a stream's ids.
    pub fn of(stream: &Stream) -> Self {
        let mut most = IDS;
        let _ = wire::remap(&mut stream.words.clone(), DATA_LEN, |id| {
            most = most.max(id);
            Some(id)
        });
        Map((0..=most).map(|id| if id == 0 { 0 } else { most + 1 - id }).collect())
    }

    fn get(&self, id: u32) -> Option<u32> {
        self.0.get(id as usize).copied()
    }
}

/// Translates a stream in place.
#[inline(never)]
pub fn remap(words: &mut [u32], map: &Map) -> Result<(), Refusal> {
    wire::remap(words, DATA_LEN, |id| map.get(id))
}

/// The same, for the reads too.
#[inline(never)]
pub fn remap_reads(words: &mut [u32], map: &Map) -> Result<Vec<Read>, Refusal> {
    wire::remap_reads(words, DATA_LEN, |id| map.get(id))
}

/// Holds decoded commands against the sizes of buffers, of which there is a table.
#[inline(never)]
pub fn check_ranges(cmds: &[Cmd<'_>], map: &Map) -> bool {
    let size = |id| map.get(id).map(|_| BUFFER_SIZE);
    wire::check_ranges(cmds.iter().copied(), size, 0).is_ok()
}

/// Holds decoded commands to the strict check.
#[inline(never)]
pub fn check_strict(cmds: &[Cmd<'_>], objects: &Anything) -> bool {
    wire::check_strict(cmds.iter().copied(), objects).is_ok()
}

/// A loop with what it needs.
pub type Counted = fn(&Stream);

/// The loops whose instructions are counted, by name: each is run once over the stream, after what it needs is made.
pub const COUNTED: [(&str, Counted); 5] = [
    ("sum", |stream| {
        black_box(sum(&stream.words));
    }),
    ("decode", |stream| {
        black_box(decode(&stream.words)).expect("the stream is accepted");
    }),
    ("remap", |stream| {
        let map = Map::of(stream);
        black_box(remap(&mut stream.words.clone(), &map)).expect("the stream is accepted");
    }),
    ("check_ranges", |stream| {
        let cmds = wire::decode(&stream.words, DATA_LEN).expect("the stream is accepted");
        assert!(check_ranges(&cmds, &Map::of(stream)));
    }),
    ("check_strict", |stream| {
        let cmds = wire::decode(&stream.words, DATA_LEN).expect("the stream is accepted");
        assert!(check_strict(&cmds, &Anything::default()));
    }),
];
