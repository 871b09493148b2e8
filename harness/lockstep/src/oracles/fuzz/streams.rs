//! A blob over the table of [`table`]: the reader's whole answer, as `lockstep serve` gives it, held against the pages; then the strict check and
//! the calls of a replay.
//!
//! **Catches** a panic; an answer that is none of PROTOCOL.md; an accepted argument that is not well formed by the table of wire.md
//! section 2 as data, and a refused one that is; ranges and reads against the models of `ranges`; ids that the map does not grant; a
//! strict check that lets through what CheckRanges refuses. **Does not catch** a check that comes too late, which `replay_js` does, nor
//! what a device thinks, which `gpu_noop` and the campaign do.

use wire::{ArgKind, Blob, Cmd, Op, Reason};

use super::{id_places, ranges, table};
use crate::case::StreamCase;
use crate::generators::faults::leaves;
use crate::readers::answer::{Refused, StreamAnswer};
use crate::readers::native::Native;
use crate::readers::{CallsQuery, StreamReader, ask};

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, &mut Native::default())
}

/// The same with another reader.
pub fn check_with(bytes: &[u8], reader: &mut dyn StreamReader) -> bool {
    let Ok(Blob { words, data }) = Blob::parse(bytes) else {
        return false;
    };
    let case = table::case(bytes);
    let calls = CallsQuery::of(&case);
    let answers = ask::case(reader, &case, calls.as_ref()).expect("an answer as PROTOCOL.md has it");
    let answer = answers.stream.expect("an answer to a stream");
    let decode = answer.decode.as_ref().expect("a blob that is not refused is decoded");
    let starts = match decode {
        Ok(starts) => starts.as_slice(),
        Err(refused) => {
            is_true(&words, refused);
            return true;
        }
    };
    let cmds: Vec<Cmd<'_>> = commands(&words, starts);
    cmds.iter().for_each(|cmd| is_well_formed(&words, cmd, data.len()));
    if let Some(Ok(remapped)) = &answer.remap {
        let cmds = commands(remapped, starts);
        let mut ids = cmds.iter().flat_map(|cmd| id_places(remapped, cmd));
        let is_granted = |at: usize| table::OBJECTS.iter().any(|object| object.id == remapped[at]);
        assert!(ids.all(is_granted), "an id that the map does not grant");
        check_ranges(&cmds, &case, &answer);
    }
    true
}

/// The commands that begin at `starts`.
fn commands<'a>(words: &'a [u32], starts: &[u32]) -> Vec<Cmd<'a>> {
    let ends = starts.iter().skip(1).map(|&end| end as usize).chain([words.len()]);
    let places = starts.iter().map(|&start| start as usize).zip(ends);
    let command = |(word, end): (usize, usize)| Cmd {
        word,
        op: Op::from_word(words[word]).expect("an accepted opcode"),
        args: &words[word + 1..end],
    };
    places.map(command).collect()
}

/// What the check 7 of wire.md section 3 has against the argument at `at`.
fn fault(words: &[u32], at: usize, kind: ArgKind) -> Option<Reason> {
    let word = words[at];
    let (wrong, reason) = match kind {
        ArgKind::Id(_) => (word == 0, Reason::ZeroId),
        ArgKind::F32 => (!f32::from_bits(word).is_finite(), Reason::NonFinite),
        ArgKind::U64 => (words[at + 1] >> 21 != 0, Reason::UnsafeInteger),
        ArgKind::Enum(values) => (values.values.iter().all(|value| value.0 != word), Reason::BadEnum),
        ArgKind::Bool | ArgKind::Optional(_) => (word > 1, Reason::BadFlag),
        ArgKind::List { limit, .. } => (word > limit, Reason::TooMany),
        ArgKind::OptionalId(_) | ArgKind::U32 | ArgKind::I32 => return None,
    };
    wrong.then_some(reason)
}

/// An accepted command keeps to the checks 4 and 7 to 10.
fn is_well_formed(words: &[u32], cmd: &Cmd<'_>, data: usize) {
    for (at, kind) in leaves(words, cmd.word, cmd.op) {
        assert_eq!(fault(words, at, kind), None, "{} accepted, word {at}", cmd.op);
    }
    let sum = |a: usize, b: usize| u64::from(cmd.args[a]) + u64::from(cmd.args[b]);
    let holds = match cmd.op {
        Op::WriteBuffer => sum(3, 4) <= data as u64 && cmd.args[4].is_multiple_of(4),
        Op::WriteTexture => sum(6, 7) <= data as u64,
        Op::ReadBuffer => {
            let (offset, size) = (cmd.args[1], cmd.args[3]);
            offset.is_multiple_of(8) && size.is_multiple_of(4) && size != 0 && sum(3, 4) <= 64 << 20
        }
        _ => true,
    };
    assert!(holds, "{} accepted at word {}: {:?}", cmd.op, cmd.word, cmd.args);
}

/// The refused word has what the reason says.
fn is_true(words: &[u32], refused: &Refused) {
    let at = refused.at as usize;
    let word = *words.get(at).expect("a refusal names a word of the stream");
    let holds = match refused.reason {
        Reason::UnknownOp => Op::from_word(word).is_none(),
        Reason::WrongContext | Reason::Truncated | Reason::OpenPass => Op::from_word(word) == refused.op,
        Reason::TooMany => word > 8,
        Reason::ZeroId => word == 0,
        Reason::BadEnum => word != 1,
        Reason::BadFlag => word > 1,
        Reason::NonFinite => !f32::from_bits(word).is_finite(),
        Reason::UnsafeInteger => words[at + 1] >> 21 != 0,
        Reason::WriteSize => !word.is_multiple_of(4),
        Reason::ReadAlignment => !word.is_multiple_of(8),
        Reason::ReadSize => word == 0 || !word.is_multiple_of(4),
        Reason::DataRange | Reason::ReadWindow => true,
        _ => false,
    };
    assert!(holds, "refused with {} at word {at}, which is {word}", refused.reason);
}

fn check_ranges(cmds: &[Cmd<'_>], case: &StreamCase, answer: &StreamAnswer) {
    let mut size = |id: u32| {
        table::BUFFERS
            .iter()
            .find(|buffer| buffer.id == id)
            .map(|buffer| buffer.size)
    };
    let model = ranges::model(cmds, &mut size, case.max_workgroups).err();
    let found = answer.ranges.expect("an accepted stream's ranges").err();
    let words = |refused: Refused| (refused.at as usize, refused.op, refused.reason);
    let due = model.map(|refusal| (refusal.command, Some(refusal.op), refusal.reason));
    assert_eq!(found.map(words), due, "CheckRanges");
    // wire.md section 8: the class `range` is "everything of section 5".
    let strict = wire::check_strict(cmds.iter().copied(), &*table::FACTS).err();
    if let Some(ranges) = model {
        let strict = strict.expect("CheckRanges refuses the stream").command;
        assert!(strict <= ranges.command, "the strict check refuses it there or before");
    }
}
