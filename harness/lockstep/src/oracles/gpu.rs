//! CheckRanges against a GPU, both ways: the table of [`GpuTable`].
//!
//! **Catches** a range that CheckRanges accepts and the device refuses (a refused range gets through), one that it refuses and the
//! device takes (over-refusal), and bytes that differ from what the shadow foretells.
//!
//! **Does not catch** what device, shadow and CheckRanges have wrong alike; what the shadow cannot foretell; and ranges that section 5
//! of wire.md leaves to the device, which are counted by rule. Whether an error is over a range of section 5 is decided here, in wide
//! integers and from section 5's table: the words of engines differ and are only shown.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use wire::{Cmd, Op, Reason};

use crate::case::{Object, StreamCase, buffer_facts};
use crate::gpu::calls::Row;
use crate::gpu::engine::{Engine, EngineId, Request};
use crate::gpu::ledger::{self, Difference, How};
use crate::gpu::shadow::{Shadow, foretell};
use crate::gpu::{Outcome, Trouble, TroubleKind};
use crate::readers::CallsQuery;
use crate::readers::answer::{Refused, StreamAnswer};
use crate::report::results::{EngineRow, GpuTable};

/// What a replay showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Accepted; no error, and the bytes match.
    Sound,
    /// Accepted; an error over a range of section 5, a lost device or other bytes.
    GotThrough,
    /// Accepted; another error.
    LeftToDevice,
    /// Refused; an error at that command.
    Right,
    /// Refused; no error.
    OverRefusal,
    /// Refused; an earlier error hides it.
    Masked,
    /// Refused; the device was lost over what was replayed.
    Lost,
    /// A line of the ledger explains it.
    Tolerated,
}

/// A replay, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Its place in the table.
    pub cell: Cell,
    /// What happened, the same words for each case of the same kind: the finding's signature, the rule left to the device or the
    /// ledger's line.
    pub what: String,
    /// What happened, in this case's own words.
    pub detail: String,
    /// Bytes compared.
    pub bytes_compared: u64,
    /// Resources not compared.
    pub not_foretold: u64,
}

impl Judged {
    /// The signature of the finding that it is; none where CheckRanges was right, or nothing is shown.
    pub fn signature(&self, subject: &str, engine: &str) -> Option<String> {
        let wrong = matches!(self.cell, Cell::GotThrough | Cell::OverRefusal | Cell::Lost);
        wrong.then(|| format!("gpu: {subject} on {engine}: {}", self.what))
    }
}

/// A case as the engines are asked about it: in the words that the subject rewrote.
pub struct Asked<'a> {
    objects: &'a [Object],
    bound: u32,
    ranges: Result<(), Refused>,
    words: &'a [u32],
    data: &'a [u8],
    reads: &'a [wire::Read],
    window: u32,
    commands: Vec<Cmd<'a>>,
    /// Made when the first engine that executes is judged.
    shadow: OnceCell<Shadow>,
}

impl<'a> Asked<'a> {
    /// `None` when the subject's answer did not come to CheckRanges.
    pub fn new(case: &'a StreamCase, answer: &'a StreamAnswer) -> Option<Asked<'a>> {
        let words = answer.remap.as_ref()?.as_ref().ok()?;
        let data = wire::Blob::parse(&case.blob).ok()?.data;
        let reads = match answer.read_check {
            Some(Ok(())) => answer.reads.as_deref().unwrap_or_default(),
            _ => &[],
        };
        Some(Asked {
            objects: &case.objects,
            bound: case.max_workgroups,
            ranges: answer.ranges?,
            words,
            data,
            reads,
            // No read reaches further (wire.md section 3, check 10), so a granted window of 4 GiB is not made and not compared.
            window: case.window.min(wire::MAX_READ_WINDOW),
            commands: wire::decode(words, data.len() as u32).ok()?,
            shadow: OnceCell::new(),
        })
    }

    /// What an engine is asked: to replay the stream, or a stream that CheckRanges refuses up to and with the refused command.
    pub fn request(&self) -> Request<'_> {
        Request {
            objects: self.objects,
            words: self.words,
            data: self.data,
            stop_after: self.ranges.err().map(|refused| refused.at as usize),
            reads: self.reads,
            window: self.window,
        }
    }

    /// The stream over its table, for a reader that is asked about it in the replayer's ids.
    pub fn query(&self, objects: &[Object]) -> CallsQuery {
        CallsQuery {
            rows: objects.iter().map(Row::of).collect(),
            blob: wire::encode_blob(self.words, self.data),
        }
    }

    /// The commands, in the replayer's ids.
    pub fn cmds(&self) -> &[Cmd<'a>] {
        &self.commands
    }

    /// How many commands it has.
    pub fn commands(&self) -> u64 {
        self.commands.len() as u64
    }

    /// The textures that its render passes have for color attachments, by the replayer's ids.
    pub fn color_attachments(&self) -> Vec<u32> {
        let passes = self.commands.iter().filter(|cmd| cmd.op == Op::BeginRenderPass);
        let views = passes.flat_map(|cmd| (0..cmd.args[0] as usize).map(|color| cmd.args[1 + 8 * color]));
        let texture = |id: u32| {
            self.objects
                .iter()
                .rfind(|object| object.id == id)?
                .refs
                .first()
                .copied()
        };
        let textures: BTreeSet<u32> = views.filter_map(texture).collect();
        textures.into_iter().collect()
    }

    /// What memory must hold afterwards.
    pub fn shadow(&self) -> &Shadow {
        self.shadow
            .get_or_init(|| foretell(self.objects, self.words, self.data, self.reads, self.window))
    }

    /// Judges what an engine did.
    pub fn judge(&self, engine: &EngineId, outcome: &Outcome) -> Judged {
        let judged = match self.ranges {
            Err(refused) => judge_refused(&self.commands, refused, self.bound, outcome),
            Ok(()) => judge_accepted(&self.commands, self.objects, self.bound, outcome),
        };
        let judged = match judged.cell {
            Cell::Sound if engine.executes => compare_bytes(self, outcome, judged),
            _ => judged,
        };
        self.tolerate(engine, outcome, judged)
    }

    /// Takes a difference that the ledger explains out of the table.
    fn tolerate(&self, engine: &EngineId, outcome: &Outcome, judged: Judged) -> Judged {
        let how = match (judged.cell, &outcome.trouble) {
            (Cell::OverRefusal, _) => How::Takes,
            (Cell::GotThrough, Some(_)) => How::Refuses,
            (Cell::GotThrough, None) => How::OtherBytes,
            _ => return judged,
        };
        let at = match (self.ranges, &outcome.trouble) {
            (Err(refused), _) => Some(refused.at as usize),
            (Ok(()), Some(trouble)) => trouble.command,
            (Ok(()), None) => None,
        };
        let difference = Difference {
            how,
            at: at.and_then(|at| self.commands.get(at)),
            commands: &self.commands,
            objects: self.objects,
        };
        match ledger::line(&engine.id, &difference) {
            Some(line) if !outcome.lost => Judged {
                cell: Cell::Tolerated,
                what: line.name.into(),
                ..judged
            },
            _ => judged,
        }
    }
}

/// Replays a case on `engine` in the words that the subject rewrote, and judges; also what the engine did. `None` when the subject's
/// `answer` did not come to CheckRanges.
pub fn replay(engine: &mut dyn Engine, case: &StreamCase, answer: &StreamAnswer) -> Option<(Judged, Outcome)> {
    let asked = Asked::new(case, answer)?;
    let outcome = engine.replay(&asked.request());
    Some((asked.judge(engine.about(), &outcome), outcome))
}

fn judged(cell: Cell, what: impl Into<String>, detail: impl Into<String>) -> Judged {
    Judged {
        cell,
        what: what.into(),
        detail: detail.into(),
        bytes_compared: 0,
        not_foretold: 0,
    }
}

fn judge_refused(cmds: &[Cmd<'_>], refused: Refused, bound: u32, outcome: &Outcome) -> Judged {
    let at = refused.at as usize;
    let Some(cmd) = cmds.get(at) else {
        return judged(
            Cell::OverRefusal,
            "refused a command that is not there",
            format!("command {at}"),
        );
    };
    if outcome.lost {
        let message = outcome.trouble.as_ref().map_or("", |trouble| &trouble.message);
        return judged(
            Cell::Lost,
            format!("the device was lost over a refused {}", cmd.op),
            message,
        );
    }
    match &outcome.trouble {
        Some(trouble) if trouble.command == Some(at) => judged(Cell::Right, "right", trouble.message.clone()),
        Some(trouble) => judged(Cell::Masked, "masked", trouble.message.clone()),
        // The device's own limit is the default bound; what a lower one refuses, the device has no reason to.
        None if refused.reason == Reason::TooManyWorkgroups && bound != 0 && bound < wire::DEFAULT_MAX_WORKGROUPS => {
            judged(
                Cell::Masked,
                "the host's own bound",
                format!("a dispatch bound of {bound}"),
            )
        }
        None => judged(
            Cell::OverRefusal,
            format!("refused {} {} and the GPU takes it", refused.reason, cmd.op),
            format!(
                "command {at} was refused with {}, and the device raised nothing",
                refused.reason
            ),
        ),
    }
}

fn judge_accepted(cmds: &[Cmd<'_>], objects: &[Object], bound: u32, outcome: &Outcome) -> Judged {
    if outcome.lost {
        let message = outcome.trouble.as_ref().map_or("", |trouble| &trouble.message);
        return judged(Cell::GotThrough, "the device was lost", message);
    }
    let Some(Trouble {
        command, kind, message, ..
    }) = &outcome.trouble
    else {
        return judged(Cell::Sound, "no error", "");
    };
    let Some(cmd) = command.and_then(|at| cmds.get(at)) else {
        let what = format!("the object table: {}", rule(message));
        return judged(Cell::LeftToDevice, what, message.clone());
    };
    match kind {
        TroubleKind::Engine => judged(
            Cell::GotThrough,
            format!("the engine broke at {}", cmd.op),
            message.clone(),
        ),
        _ if !in_range(cmd, objects, bound) => {
            let what = format!("accepted {} and the GPU refuses its range", cmd.op);
            judged(Cell::GotThrough, what, message.clone())
        }
        TroubleKind::WrongKind => judged(Cell::LeftToDevice, format!("{}: wrong kind", cmd.op), message.clone()),
        TroubleKind::Validation => judged(
            Cell::LeftToDevice,
            format!("{}: {}", cmd.op, rule(message)),
            message.clone(),
        ),
    }
}

/// Whether the command keeps to the table of wire.md section 5 under the host's dispatch bound, which may be above the device's limit.
/// Written here once more, in 128 bits, since it decides whether the subject was wrong.
fn in_range(cmd: &Cmd<'_>, objects: &[Object], bound: u32) -> bool {
    let bound = if bound == 0 {
        wire::DEFAULT_MAX_WORKGROUPS
    } else {
        bound
    };
    let facts = buffer_facts(objects);
    let fits = |id: u32, offset: u64, length: u64| {
        let buffer = facts.iter().find(|buffer| buffer.id == id);
        buffer.is_some_and(|buffer| u128::from(offset) + u128::from(length) <= u128::from(buffer.size))
    };
    match cmd.op {
        Op::WriteBuffer => fits(cmd.args[0], cmd.u64_at(1), u64::from(cmd.args[4])),
        Op::CopyBufferToBuffer => {
            let size = cmd.u64_at(6);
            fits(cmd.args[0], cmd.u64_at(1), size) && fits(cmd.args[3], cmd.u64_at(4), size)
        }
        Op::DispatchIndirect => fits(cmd.args[0], cmd.u64_at(1), 12),
        Op::DrawIndirect => fits(cmd.args[0], cmd.u64_at(1), 16),
        Op::DrawIndexedIndirect => fits(cmd.args[0], cmd.u64_at(1), 20),
        Op::Dispatch => cmd.args.iter().all(|&count| count <= bound),
        _ => true,
    }
}

/// What an engine's message is about, for the count of what is left to the device. For show: nothing is decided by it.
fn rule(message: &str) -> &'static str {
    const RULES: [(&str, &str); 16] = [
        ("same buffer", "copy onto itself"),
        ("source and destination", "copy onto itself"),
        ("align", "alignment"),
        ("multiple of", "alignment"),
        ("usage", "usage"),
        ("no pipeline", "no pipeline set"),
        ("must be set", "something not set"),
        ("not set", "something not set"),
        ("missing", "something not set"),
        ("incompatible", "attachments that do not fit"),
        ("attachment", "attachments that do not fit"),
        ("viewport", "viewport"),
        ("max_bind_groups", "group index limit"),
        ("bind group", "bind group"),
        ("overrun", "a range that CheckRanges does not cover"),
        ("out of range", "a range that CheckRanges does not cover"),
    ];
    let message = message.to_lowercase();
    RULES
        .iter()
        .find(|rule| message.contains(rule.0))
        .map_or("other", |rule| rule.1)
}

fn compare_bytes(asked: &Asked<'_>, outcome: &Outcome, sound: Judged) -> Judged {
    let (reads, shadow) = (asked.reads, asked.shadow());
    let mut judged = Judged {
        not_foretold: shadow.not_foretold.len() as u64,
        ..sound
    };
    let resources = [
        ("buffer", &outcome.buffers, &shadow.buffers),
        ("texture", &outcome.textures, &shadow.textures),
    ];
    for (kind, held, foretold) in resources {
        if let Some(other) = compare_resources(kind, held, foretold, &shadow.not_foretold, &mut judged.bytes_compared) {
            return Judged {
                cell: Cell::GotThrough,
                what: format!("other bytes in a {kind}"),
                detail: other,
                ..judged
            };
        }
    }
    if !reads.is_empty() && reads.iter().all(|read| !shadow.not_foretold.contains(&read.id)) {
        judged.bytes_compared += outcome.window.len() as u64;
        if let Some(at) = first_difference(&outcome.window, &shadow.window) {
            let what = "other bytes in the read window".into();
            let detail = format!("first at byte {at}");
            return Judged {
                cell: Cell::GotThrough,
                what,
                detail,
                ..judged
            };
        }
    }
    judged
}

fn compare_resources(
    kind: &str,
    held: &BTreeMap<u32, Option<Vec<u8>>>,
    foretold: &BTreeMap<u32, Vec<u8>>,
    not_foretold: &BTreeSet<u32>,
    compared: &mut u64,
) -> Option<String> {
    for (id, bytes) in held {
        let (Some(bytes), Some(expected)) = (bytes, foretold.get(id)) else {
            continue;
        };
        if not_foretold.contains(id) {
            continue;
        }
        *compared += bytes.len() as u64;
        if let Some(at) = first_difference(bytes, expected) {
            let [held, due] = [bytes, expected].map(|bytes| bytes.get(at).map_or("nothing".into(), u8::to_string));
            return Some(format!(
                "{kind} #{id}, first at byte {at}: the device holds {held}, due is {due}"
            ));
        }
    }
    None
}

fn first_difference(a: &[u8], b: &[u8]) -> Option<usize> {
    let differs = a.iter().zip(b).position(|(a, b)| a != b);
    differs.or((a.len() != b.len()).then_some(a.len().min(b.len())))
}

/// Counts a replay of so many commands.
pub fn count(row: &mut EngineRow, commands: u64, judged: &Judged, outcome: &Outcome) {
    row.replays += 1;
    row.commands += commands;
    row.devices_lost += u64::from(outcome.lost);
    row.bytes_compared += judged.bytes_compared;
    row.not_foretold += judged.not_foretold;
    let GpuTable {
        sound,
        got_through,
        left_to_device,
        right,
        over_refusal,
        masked,
        lost,
        tolerated,
    } = &mut row.table;
    *match judged.cell {
        Cell::Sound => sound,
        Cell::GotThrough => got_through,
        Cell::LeftToDevice => left_to_device,
        Cell::Right => right,
        Cell::OverRefusal => over_refusal,
        Cell::Masked => masked,
        Cell::Lost => lost,
        Cell::Tolerated => tolerated,
    } += 1;
    if judged.cell == Cell::Tolerated {
        *row.tolerated.entry(judged.what.clone()).or_default() += 1;
    }
    if judged.cell == Cell::LeftToDevice {
        *row.left_to_device.entry(judged.what.clone()).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_device_is_counted() {
        let mut row = EngineRow::default();
        let lost = Outcome {
            lost: true,
            ..Outcome::default()
        };
        count(&mut row, 3, &judge_accepted(&[], &[], 0, &lost), &lost);
        count(
            &mut row,
            3,
            &judge_accepted(&[], &[], 0, &Outcome::default()),
            &Outcome::default(),
        );
        assert_eq!((row.replays, row.commands, row.devices_lost), (2, 6, 1));
        assert_eq!((row.table.got_through, row.table.sound), (1, 1));
    }
}
