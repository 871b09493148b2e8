//! Makes cases out of bytes: those of a campaign's seed and index, or those of a fuzzer.
//!
//! A generator reads every choice from an [`Unstructured`], so one generator serves both lanes and bytes that a fuzzer found good
//! stay good. What is kept of a case is always the case itself (see [`crate::case`]).

pub mod bind;
pub mod edges;
pub mod faults;
pub mod layout;
pub mod loose;
pub mod memory;
pub mod proper;
pub mod raw;
pub mod rows;
pub mod streams;
pub mod wgsl;
pub mod world;

use arbitrary::Unstructured;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::case::{Case, Origin};

/// A kind of case. Each lane counts its cases from 0; lane, seed and index make the same case on any machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// Streams for the readers: proper ones and loose ones, with faults of every kind.
    Streams,
    /// Streams as a fuzzer would throw them: damaged blobs and random words.
    Raw,
    /// Streams for the GPU: proper ones, with the faults that a reader's Decode lets through.
    Replays,
    /// Layouts for the slot readers.
    Layouts,
    /// Layouts with a shader, for naga.
    Shaders,
    /// Streams for the readers: the table of [`edges`], whatever the seed.
    Edges,
    /// Passes, for what is bound at each draw.
    Binds,
}

impl Lane {
    /// All of them.
    pub const ALL: [Lane; 7] = [
        Lane::Streams,
        Lane::Raw,
        Lane::Replays,
        Lane::Layouts,
        Lane::Shaders,
        Lane::Edges,
        Lane::Binds,
    ];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Lane::Streams => "streams",
            Lane::Raw => "raw",
            Lane::Replays => "replays",
            Lane::Layouts => "layouts",
            Lane::Shaders => "shaders",
            Lane::Edges => "edges",
            Lane::Binds => "binds",
        }
    }

    /// Bytes that a generator is given. Layouts are mostly small; every 256th may use many more.
    fn bytes(self, index: u64) -> usize {
        match self {
            Lane::Layouts if index % 256 == 255 => 1 << 16,
            Lane::Layouts => 1024,
            Lane::Streams | Lane::Raw | Lane::Shaders => 4096,
            Lane::Replays => 2048,
            Lane::Edges => 0,
            Lane::Binds => 1024,
        }
    }
}

/// Streams in a row over one world in the lane of replays: a device that executes nothing makes its objects once for all of them.
pub const STREAMS_PER_WORLD: u64 = 16;
/// Bytes that a world of that lane is made of, more than any world takes.
const WORLD_BYTES: usize = 512;

/// A case, and the names of the faults that were put into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Made<T> {
    /// The case.
    pub case: T,
    /// The faults, in the order in which they were put in.
    pub faults: Vec<&'static str>,
}

/// The bytes of (lane, seed, index), into a buffer that is used again: ChaCha8, keyed by the three. In the lane of replays the first
/// `WORLD_BYTES` are those of the first stream over the same world.
pub fn bytes(lane: Lane, seed: u64, index: u64, into: &mut Vec<u8>) {
    into.resize(lane.bytes(index), 0);
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&index.to_le_bytes());
    key[16] = lane as u8;
    ChaCha8Rng::from_seed(key).fill_bytes(into);
    if lane == Lane::Replays {
        let first = index - index % STREAMS_PER_WORLD;
        key[8..16].copy_from_slice(&first.to_le_bytes());
        ChaCha8Rng::from_seed(key).fill_bytes(&mut into[..WORLD_BYTES]);
    }
}

/// The case of an origin. Refuses a lane that there is not, and an index past the table of edges.
pub fn case(origin: &Origin) -> Option<Made<Case>> {
    let lane = Lane::ALL.into_iter().find(|lane| lane.name() == origin.lane)?;
    let mut buffer = Vec::new();
    bytes(lane, origin.seed, origin.index, &mut buffer);
    let u = &mut Unstructured::new(&buffer);
    let made = match lane {
        Lane::Streams => streams::stream_case(u).map(|made| made.map(Case::Stream)),
        Lane::Raw => raw::raw_case(u).map(|made| made.map(Case::Stream)),
        Lane::Replays => streams::replay_case(u).map(|made| made.map(Case::Stream)),
        Lane::Layouts => layout::layout_case(u).map(|made| made.map(Case::Layout)),
        Lane::Shaders => wgsl::shader_case(u).map(|made| made.map(Case::Layout)),
        Lane::Binds => bind::bind_case(u).map(|made| made.map(Case::Bind)),
        Lane::Edges => {
            return edges::edge(origin.index).map(|edge| Made {
                case: Case::Stream(edge.case),
                faults: vec![edge.family],
            });
        }
    };
    made.ok()
}

impl<T> Made<T> {
    /// The same faults in another wrapping.
    pub fn map<U>(self, wrap: impl FnOnce(T) -> U) -> Made<U> {
        Made {
            case: wrap(self.case),
            faults: self.faults,
        }
    }
}

/// True once in `times`.
pub(crate) fn once_in(u: &mut Unstructured<'_>, times: u8) -> arbitrary::Result<bool> {
    Ok(u.int_in_range(0..=times - 1)? == times - 1)
}

/// A number from 0 up to, not with, `end`; 0 when that is 0.
pub(crate) fn below(u: &mut Unstructured<'_>, end: u32) -> arbitrary::Result<u32> {
    if end == 0 { Ok(0) } else { u.int_in_range(0..=end - 1) }
}
