//! The implementation under test: the crates `wire` and `mslmap`.

use std::collections::BTreeMap;

use wire::{Blob, BufferInfo, Cmd, RangeRefusal, Read, Strict};

use crate::answer::AnswerWriter;
use crate::calls::{Row, calls_of_bytes};
use crate::case::BufferFacts;
use crate::questions::{Batch, BatchAnswers, CallsQuery, DescriptorQuery, ReaderFailed, StreamQuery, StreamReader};
use crate::strict::Facts;

mod layouts;

pub use layouts::{answer_layout, system};

/// The reader's name.
pub const NAME: &str = "native";

/// WebGPU's `GPUBufferUsage.MAP_READ`.
const MAP_READ: u32 = 1;

/// The one step of the reader that tests replace to see a wrong one found out: CheckRanges.
pub type CheckRanges = fn(&[Cmd<'_>], &BTreeMap<u32, BufferFacts>, u32) -> Result<(), RangeRefusal>;

/// CheckRanges of `wire`.
pub fn check_ranges(cmds: &[Cmd<'_>], buffers: &BTreeMap<u32, BufferFacts>, bound: u32) -> Result<(), RangeRefusal> {
    wire::check_ranges(
        cmds.iter().copied(),
        |id| buffers.get(&id).map(|buffer| buffer.size),
        bound,
    )
}

/// `wire` and `mslmap`.
pub struct Native {
    name: String,
    check_ranges: CheckRanges,
    heard: BatchAnswers,
}

impl Default for Native {
    fn default() -> Native {
        Native::with_ranges(NAME, check_ranges)
    }
}

impl Native {
    /// A reader that is `native` but for its CheckRanges.
    pub fn with_ranges(name: &str, check_ranges: CheckRanges) -> Native {
        Native {
            name: name.to_owned(),
            check_ranges,
            heard: BatchAnswers::default(),
        }
    }
}

impl StreamReader for Native {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed> {
        self.heard = BatchAnswers {
            streams: batch
                .streams
                .iter()
                .map(|query| answer_stream(query, self.check_ranges))
                .collect(),
            descriptors: batch.descriptors.iter().map(answer_descriptor).collect(),
            calls: batch.calls.iter().map(answer_calls).collect(),
            strict: answer_strict(&batch.strict),
        };
        Ok(())
    }

    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed> {
        Ok(std::mem::take(&mut self.heard))
    }
}

/// Looks an id up in a map that is ascending by guest.
pub fn granted(map: &[(u32, u32)], guest: u32) -> Option<u32> {
    map.binary_search_by_key(&guest, |&(guest, _)| guest)
        .ok()
        .map(|at| map[at].1)
}

fn answer_stream(query: &StreamQuery, check_ranges: CheckRanges) -> Vec<u8> {
    let mut answer = AnswerWriter::default();
    let blob = match Blob::parse(&query.blob) {
        Ok(blob) => blob,
        Err(refused) => {
            answer.word(1);
            answer.word(refused.reason as u32);
            return answer.finish();
        }
    };
    answer.word(0);
    let data_len = blob.data.len() as u32;
    match wire::decode(&blob.words, data_len) {
        Ok(cmds) => {
            answer.word(0);
            answer.words(&cmds.iter().map(|cmd| cmd.word as u32).collect::<Vec<_>>());
        }
        Err(refused) => write_refusal(&mut answer, &refused),
    }
    // The fresh copy comes by way of EncodeBlob, so that what it writes is held to what Blob::parse reads.
    let copy = wire::encode_blob(&blob.words, blob.data);
    let mut words = Blob::parse(&copy).map(|blob| blob.words).unwrap_or_default();
    let grant = |guest| granted(&query.id_map, guest);
    match wire::remap(&mut words, data_len, grant) {
        Ok(()) => {
            answer.word(0);
            answer.words(&words);
            // RemapReads is Remap, and gives the reads.
            let mut again = blob.words;
            let reads = wire::remap_reads(&mut again, data_len, grant).unwrap_or_default();
            write_checks(&mut answer, query, &words, data_len, &reads, check_ranges);
        }
        Err(refused) => write_refusal(&mut answer, &refused),
    }
    answer.finish()
}

fn write_refusal(answer: &mut AnswerWriter, refused: &wire::Refusal) {
    answer.word(1);
    answer.word(refused.word as u32);
    answer.word(refused.op.map_or(0, |op| op as u32));
    answer.word(refused.reason as u32);
}

fn write_checks(
    answer: &mut AnswerWriter,
    query: &StreamQuery,
    words: &[u32],
    data_len: u32,
    reads: &[Read],
    check_ranges: CheckRanges,
) {
    answer.word(reads.len() as u32);
    for read in reads {
        for word in [
            read.id,
            read.offset as u32,
            (read.offset >> 32) as u32,
            read.size,
            read.window_offset,
        ] {
            answer.word(word);
        }
    }
    let buffers: BTreeMap<u32, BufferFacts> = query.buffers.iter().map(|buffer| (buffer.id, *buffer)).collect();
    // Remap accepted these words, and it left counts and opcodes as they were: they decode.
    let cmds = wire::decode(words, data_len).unwrap_or_default();
    match check_ranges(&cmds, &buffers, query.max_workgroups) {
        Ok(()) => answer.word(0),
        Err(refused) => {
            for word in [1, refused.command as u32, refused.op as u32, refused.reason as u32] {
                answer.word(word);
            }
        }
    }
    let facts = |id: u32| {
        buffers.get(&id).map(|buffer| BufferInfo {
            size: buffer.size,
            map_read: buffer.usage & MAP_READ != 0,
        })
    };
    match wire::check_reads(reads, facts, u64::from(query.window)) {
        Ok(()) => answer.word(0),
        Err(refused) => {
            for word in [1, refused.read as u32, refused.reason as u32] {
                answer.word(word);
            }
        }
    }
}

fn answer_descriptor(query: &DescriptorQuery) -> Vec<u8> {
    let mut answer = AnswerWriter::default();
    let mut bytes = Vec::new();
    match wire::split_descriptor(&query.bytes) {
        Ok((refs, body)) => {
            answer.word(0);
            answer.words(&refs);
            answer.bytes(body);
            // What is put together again is what was taken apart: Remap is asked about that. It is never refused, of so
            // many references.
            let _ = wire::append_descriptor(&mut bytes, &refs, body);
        }
        Err(refused) => {
            answer.word(1);
            answer.word(refused.reason as u32);
            return answer.finish();
        }
    }
    match wire::remap_descriptor(&mut bytes, |guest| granted(&query.id_map, guest)) {
        Ok(()) => {
            answer.word(0);
            answer.bytes(&bytes);
        }
        Err(refused) => {
            for word in [1, refused.reason as u32, refused.reference.unwrap_or(0) as u32] {
                answer.word(word);
            }
        }
    }
    answer.finish()
}

fn answer_calls(query: &CallsQuery) -> Vec<u8> {
    calls_of_bytes(&query.rows, &query.blob).text().into_bytes()
}

/// What the strict check knows of a table: its facts, and whether it refuses one of its bundles.
type StrictTable = (Facts, Result<(), (u32, Strict)>);

/// CheckStrict's answers. Questions in a row over one table have it read once.
fn answer_strict(queries: &[CallsQuery]) -> Vec<Vec<u8>> {
    let mut known: Option<(&[Row], StrictTable)> = None;
    let answers = queries.iter().map(|query| {
        let table = match known.take() {
            Some((rows, table)) if rows == query.rows => table,
            _ => Facts::of_rows(&query.rows),
        };
        let answer = strict_answer(&query.blob, &table);
        known = Some((&query.rows, table));
        answer
    });
    answers.collect()
}

fn strict_answer(blob: &[u8], (facts, bundles): &StrictTable) -> Vec<u8> {
    let mut answer = AnswerWriter::default();
    match bundles {
        Ok(()) => answer.word(0),
        Err((id, refused)) => {
            [1, *id].into_iter().for_each(|word| answer.word(word));
            put_strict(&mut answer, *refused);
        }
    }
    let blob = Blob::parse(blob).ok();
    let commands = blob
        .iter()
        .flat_map(|blob| wire::commands(&blob.words, blob.data.len() as u32));
    match wire::check_strict(commands.map_while(Result::ok), facts) {
        Ok(()) => answer.word(0),
        Err(refused) => {
            answer.word(1);
            put_strict(&mut answer, refused);
        }
    }
    answer.finish()
}

fn put_strict(answer: &mut AnswerWriter, refused: Strict) {
    let rule = 1 + refused.rule as u32;
    for word in [refused.command as u32, refused.word as u32, refused.op.word(), rule] {
        answer.word(word);
    }
}
