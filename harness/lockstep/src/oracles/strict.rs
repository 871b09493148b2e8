//! The strict check (wire.md section 8) against engines: its two proofs.
//!
//! **Catches** a command that `check_strict` accepts and an engine refuses over memory, one that it refuses and an engine takes, and a
//! refusal that names a word which is none of the command's arguments.
//!
//! What an engine says is text and never compared, so whether its error is of the classes of section 8 follows from the command and
//! the table. A write, copy or read can only be refused over memory, and so can a SetBindGroup of a compute pass. Of the other commands
//! that the strict check looks at, `rest` says whether everything else holds that WebGPU asks of them: a pipeline is set, the groups
//! are its layouts' own, every vertex buffer is there, no usage conflicts. Where it all holds, an error is over memory; where it does
//! not, or nothing says so, the error is one that only a device gives. The other commands, such as BeginRenderPass, are the device's
//! alone.
//!
//! **Does not catch** a rule that the strict check and every engine lack alike; a rule over memory that it lacks for a draw or dispatch
//! whose state `rest` does not understand (a layout `auto`, a shader that is no [`Kernel`](crate::gpu::kernels::Kernel)); and
//! ReadBuffers that it refuses, which the host performs and no engine sees. Where an engine is laxer or stricter than WebGPU, a line of
//! [`LEDGER`] says so.

mod rest;

use std::rc::Rc;

use wire::{Cmd, ObjectTable, Op, Rule, Strict};

use crate::case::Object;
use crate::gpu::engine::{Engine, Request};
use crate::gpu::{Outcome, TroubleKind};
use crate::report::results::StrictRow;
use crate::strict::Facts;

/// What the strict check says of a stream.
pub struct Said<'a> {
    cmds: Vec<Cmd<'a>>,
    objects: &'a [Object],
    facts: Rc<Facts>,
    /// The first command that it refuses.
    pub refusal: Option<Strict>,
}

impl<'a> Said<'a> {
    /// Asks it about commands in the replayer's ids, under WebGPU's default limits.
    pub fn of(cmds: &[Cmd<'a>], objects: &'a [Object]) -> Said<'a> {
        Said::after(None, cmds, objects)
    }

    /// The same; where the stream before was over an equal table, that table is not read again.
    pub fn after(before: Option<&Said<'_>>, cmds: &[Cmd<'a>], objects: &'a [Object]) -> Said<'a> {
        let said = Said::with(before, cmds, objects, None);
        let refusal = wire::check_strict(cmds.iter().copied(), &*said.facts).err();
        Said { refusal, ..said }
    }

    /// The same by facts of the table that are there already.
    pub fn by(facts: Rc<Facts>, cmds: &[Cmd<'a>], objects: &'a [Object]) -> Said<'a> {
        let refusal = wire::check_strict(cmds.iter().copied(), &*facts).err();
        Said {
            cmds: cmds.to_vec(),
            objects,
            facts,
            refusal,
        }
    }

    /// What another reader's strict check says.
    pub fn with(
        before: Option<&Said<'_>>,
        cmds: &[Cmd<'a>],
        objects: &'a [Object],
        refusal: Option<Strict>,
    ) -> Said<'a> {
        let facts = match before {
            Some(before) if before.objects == objects => Rc::clone(&before.facts),
            _ => Rc::new(Facts::of(objects)),
        };
        Said {
            cmds: cmds.to_vec(),
            objects,
            facts,
            refusal,
        }
    }

    /// Whether a refusal names a command of the stream, by its opcode, and one of its arguments.
    fn is_sound(&self, refusal: Strict) -> bool {
        let of_it = |cmd: &Cmd<'_>| (cmd.word + 1..=cmd.word + cmd.args.len()).contains(&refusal.word);
        let cmd = self.cmds.get(refusal.command);
        cmd.is_some_and(|cmd| cmd.op == refusal.op && of_it(cmd))
    }
}

/// What a replay showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// Accepted; no error.
    Sound,
    /// Accepted; an error that only a device gives.
    DeviceOnly,
    /// Accepted; an error over memory. A finding.
    Missed,
    /// Refused; an error at that command.
    Right,
    /// Refused; no error. A finding.
    OverRefusal,
    /// A line of the ledger says why the two part.
    Ledger,
    /// Nothing is shown: the engine broke or refuses the table, or no engine sees the command.
    NotShown,
}

/// A replay, judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Its place in the table.
    pub cell: Cell,
    /// What happened, the same words for each case of the same kind: a rule, or the finding's signature.
    pub what: String,
    /// What the engine said, or what the strict check did.
    pub detail: String,
}

impl Judged {
    /// The signature of the finding that it is; none where the two agree, or a ledger line says why they do not.
    pub fn signature(&self, engine: &str) -> Option<String> {
        let wrong = matches!(self.cell, Cell::Missed | Cell::OverRefusal);
        wrong.then(|| format!("strict: {engine}: {}", self.what))
    }
}

/// Judges a replay on `engine`, whose commands after `stop_after` were not made.
///
/// `None` where it does not show whether the engine refuses the command that the strict check refuses, since nothing finished that
/// command's encoder: replay with `stop_after` at that command and judge once more.
pub fn judge(said: &Said<'_>, engine: &str, outcome: &Outcome, stop_after: Option<usize>) -> Option<Judged> {
    let trouble = outcome.trouble.as_ref();
    let broken = trouble.is_some_and(|trouble| trouble.kind == TroubleKind::Engine || trouble.command.is_none());
    let message = trouble.map_or("", |trouble| &trouble.message);
    if outcome.lost || broken {
        return Some(judged(Cell::NotShown, "the engine broke or refuses the table", message));
    }
    let refused_at = trouble.and_then(|trouble| trouble.command).unwrap_or(usize::MAX);
    match said.refusal {
        Some(strict) if !said.is_sound(strict) => {
            let what = "a refusal that names no argument of a command of the stream";
            Some(judged(Cell::OverRefusal, what, strict.to_string()))
        }
        Some(strict) if refused_at == strict.command => Some(judged(Cell::Right, strict.rule.words(), message)),
        Some(strict) if refused_at > strict.command => {
            // A replay that stops at an object of another kind leaves what is open unfinished.
            let stopped = trouble.is_some_and(|trouble| trouble.kind == TroubleKind::WrongKind);
            let seen = !stopped && stop_after.is_some_and(|last| last >= strict.command);
            over_refusal(said, engine, strict, seen)
        }
        _ => Some(match said.cmds.get(refused_at) {
            None => judged(Cell::Sound, "sound", ""),
            Some(cmd) => accepted(said, engine, cmd, refused_at, message),
        }),
    }
}

/// [`judge`] of a replay that was made, and of one more where it does not show enough.
pub fn judge_with_probe(
    said: &Said<'_>,
    engine: &mut dyn Engine,
    request: &Request<'_>,
    outcome: &Outcome,
) -> Option<Judged> {
    let id = engine.about().id.clone();
    judge(said, &id, outcome, request.stop_after).or_else(|| {
        let stop_after = said.refusal.map(|refusal| refusal.command);
        let probe = engine.replay(&Request { stop_after, ..*request });
        judge(said, &id, &probe, stop_after)
    })
}

fn judged(cell: Cell, what: impl Into<String>, detail: impl Into<String>) -> Judged {
    Judged {
        cell,
        what: what.into(),
        detail: detail.into(),
    }
}

/// The engine raised nothing at the command that the strict check refuses; `seen` where it would have.
fn over_refusal(said: &Said<'_>, engine: &str, strict: Strict, seen: bool) -> Option<Judged> {
    if strict.op == Op::ReadBuffer {
        return Some(judged(Cell::NotShown, "a host performs the read", ""));
    }
    if !seen {
        return None;
    }
    let what = match ledger(said, engine, &said.cmds[strict.command], Some(strict.rule)) {
        Some(line) => return Some(judged(Cell::Ledger, line.why, strict.to_string())),
        None => format!("refused {} over \"{}\" and the GPU takes it", strict.op, strict.rule),
    };
    Some(judged(Cell::OverRefusal, what, strict.to_string()))
}

/// The engine refused a command that the strict check accepts.
fn accepted(said: &Said<'_>, engine: &str, cmd: &Cmd<'_>, at: usize, message: &str) -> Judged {
    if !rest::holds(&said.cmds, at, said.objects) {
        return judged(Cell::DeviceOnly, device_only(cmd.op), message);
    }
    match ledger(said, engine, cmd, None) {
        Some(line) => judged(Cell::Ledger, line.why, message),
        None => judged(
            Cell::Missed,
            format!("accepted {} and the GPU refuses it over memory", cmd.op),
            message,
        ),
    }
}

fn device_only(op: Op) -> String {
    format!("only a device says: {op}")
}

/// The WebGPU rule by which an engine refused the command `at` of a stream, and whether the strict check closes it: it refuses that
/// command or an earlier one. Where it does not, only a device says.
pub fn rule(said: &Said<'_>, at: usize) -> Option<(String, bool)> {
    match said.refusal {
        Some(strict) if strict.command <= at => Some((strict.rule.words().to_owned(), true)),
        _ => said.cmds.get(at).map(|cmd| (device_only(cmd.op), false)),
    }
}

/// Where an engine is known to part from WebGPU.
pub struct Line {
    /// What the engine's id begins with.
    pub engine: &'static str,
    /// The rules that the engine lacks; none where it refuses what WebGPU takes.
    pub rules: &'static [Rule],
    /// The commands that it is about.
    when: fn(&Cmd<'_>, &Facts) -> bool,
    /// Why, in few words, with the versions that were seen.
    pub why: &'static str,
}

/// The lines: the second table of `reference/ENGINES.md`, which says where their examples are. Each says which versions it was seen with.
pub static LEDGER: [Line; 4] = [
    Line {
        engine: "wgpu:",
        rules: &[Rule::SameSubresource],
        when: |_, _| true,
        why: "wgpu 30.0.2 takes the slices of a 3d texture for subresources: it copies between different slices of one mip level",
    },
    Line {
        engine: "deno",
        rules: &[Rule::SameSubresource],
        when: |_, _| true,
        why: "deno 2.9.6 takes the slices of a 3d texture for subresources, as wgpu does",
    },
    Line {
        engine: "wgpu:",
        rules: &[],
        when: is_empty_section,
        why: "wgpu 30.0.2's API has no empty buffer slice: it cannot set an empty vertex or index buffer",
    },
    Line {
        engine: "deno",
        rules: &[Rule::BufferCopyDst, Rule::WriteOffset, Rule::WriteRange],
        when: |cmd, _| cmd.op == Op::WriteBuffer && cmd.args[4] == 0,
        why: "deno 2.9.6 does not look at a write of 0 bytes (gfx-rs/wgpu #8920, mended in wgpu 30)",
    },
];

/// A vertex or index buffer that is set from its end on.
fn is_empty_section(cmd: &Cmd<'_>, facts: &Facts) -> bool {
    let (buffer, offset) = match cmd.op {
        Op::SetVertexBuffer => (cmd.args[1], cmd.u64_at(2)),
        Op::SetIndexBuffer => (cmd.args[0], cmd.u64_at(2)),
        _ => return false,
    };
    facts.buffer(buffer).is_some_and(|buffer| buffer.size == offset)
}

fn ledger(said: &Said<'_>, engine: &str, cmd: &Cmd<'_>, rule: Option<Rule>) -> Option<&'static Line> {
    let of_rule = |line: &Line| match rule {
        Some(rule) => line.rules.contains(&rule),
        None => line.rules.is_empty(),
    };
    let about = |line: &&Line| engine.starts_with(line.engine) && of_rule(line) && (line.when)(cmd, &said.facts);
    LEDGER.iter().find(about)
}

/// Counts a judged replay; `ranges_accepted` says whether CheckRanges accepts the stream.
pub fn count(row: &mut StrictRow, said: &Said<'_>, judged: &Judged, outcome: &Outcome, ranges_accepted: bool) {
    *match judged.cell {
        Cell::Sound => &mut row.sound,
        Cell::DeviceOnly => &mut row.device_only,
        Cell::Missed => &mut row.missed,
        Cell::Right => &mut row.right,
        Cell::OverRefusal => &mut row.over_refusal,
        Cell::Ledger => &mut row.ledger,
        Cell::NotShown => &mut row.not_shown,
    } += 1;
    // What is an engine's own, or broke it, no host has to check.
    let shown = ranges_accepted && !matches!(judged.cell, Cell::Ledger | Cell::NotShown);
    let refused_at = outcome.trouble.as_ref().and_then(|trouble| trouble.command);
    if let Some((name, closed)) = refused_at.filter(|_| shown).and_then(|at| rule(said, at)) {
        let open = row.open.entry(name).or_default();
        open.left_open += 1;
        *(if closed {
            &mut open.closed
        } else {
            &mut open.device_only
        }) += 1;
    }
}
