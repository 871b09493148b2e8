//! The strict check (wire.md section 8) against engines: its two proofs.
//!
//! **Catches** a command that `check_strict` accepts and an engine refuses over memory, one that it refuses and an
//! engine takes, and a refusal that names a word which its rule is not about, or that is over what an earlier pass or a
//! bundle left set.
//!
//! What an engine says is text and never compared, so whether its error is of the classes of section 8 follows from the
//! command and the table. A write, copy or read can only be refused over memory, and so can a SetBindGroup of a compute
//! pass. Of the other commands that the strict check looks at, `rest` says whether everything else holds that WebGPU
//! asks of them: a pipeline is set, the groups are its layouts' own, every vertex buffer is there, no usage conflicts.
//! Where it all holds, an error is over memory; where it does not, or nothing says so, the error is one that only a
//! device gives. The other commands, such as BeginRenderPass, are the device's alone.
//!
//! The render bundles of a table are held to it in the same way: the engine must make those that it accepts, and refuse
//! the row of the first that it refuses.
//!
//! **Does not catch** a rule that the strict check and every engine lack alike; a rule over memory that it lacks for a
//! draw or dispatch whose state `rest` does not understand (a layout `auto`, a shader that is no
//! [`Kernel`](crate::gpu::kernels::Kernel)); ReadBuffers that it refuses, which the host performs and no engine sees;
//! and bundles on an engine that does not say which row it refuses (deno, Dawn). Where an engine is laxer or stricter
//! than WebGPU, a line of [`LEDGER`] says so.

mod rest;

use std::rc::Rc;

use wire::{Cmd, Dimension, Kind, ObjectTable, Op, Rule, Strict};

use crate::case::Object;
use crate::gpu::engine::{Engine, Request};
use crate::gpu::{Outcome, Trouble, TroubleKind};
use crate::oracles::gpu::Asked;
use crate::readers::StreamReader;
use crate::readers::answer::StrictAnswer;
use crate::readers::ask::{self, NoAnswer};
use crate::report::results::StrictRow;
use crate::strict::{Facts, bundle_words};

/// What the strict check says of a stream.
pub struct Said<'a> {
    cmds: Vec<Cmd<'a>>,
    objects: &'a [Object],
    facts: Rc<Facts>,
    /// The first render bundle that it refuses, by id.
    bundle: Option<(u32, Strict)>,
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
        let (facts, bundle) = match before {
            Some(before) if before.objects == objects => (Rc::clone(&before.facts), before.bundle),
            _ => {
                let (facts, bundles) = Facts::with_bundles(objects);
                (Rc::new(facts), bundles.err())
            }
        };
        Said {
            bundle,
            ..Said::by(facts, cmds, objects)
        }
    }

    /// The same by facts of the table that are there already.
    pub fn by(facts: Rc<Facts>, cmds: &[Cmd<'a>], objects: &'a [Object]) -> Said<'a> {
        let refusal = wire::check_strict(cmds.iter().copied(), &*facts).err();
        Said {
            cmds: cmds.to_vec(),
            objects,
            facts,
            bundle: None,
            refusal,
        }
    }

    /// Asks a reader's about the words that it rewrote. None from a reader that has no strict check.
    ///
    /// # Errors
    ///
    /// It fails over it, or answers nonsense.
    pub fn of_reader(
        reader: &mut dyn StreamReader,
        asked: &Asked<'a>,
        objects: &'a [Object],
    ) -> Result<Option<Said<'a>>, NoAnswer> {
        match ask::strict(reader, vec![asked.query(objects)])?.into_iter().next() {
            None => Ok(None),
            Some(Ok(answer)) => Ok(Some(Said::with(None, asked.cmds(), objects, answer))),
            Some(Err(what)) => Err(NoAnswer::Nonsense {
                reader: reader.name().to_owned(),
                what: what.to_string(),
            }),
        }
    }

    /// What another reader's strict check says.
    pub fn with(before: Option<&Said<'_>>, cmds: &[Cmd<'a>], objects: &'a [Object], answer: StrictAnswer) -> Said<'a> {
        let facts = match before {
            Some(before) if before.objects == objects => Rc::clone(&before.facts),
            _ => Rc::new(Facts::of(objects)),
        };
        Said {
            cmds: cmds.to_vec(),
            objects,
            facts,
            bundle: answer.bundle,
            refusal: answer.stream,
        }
    }
}

/// Whether a refusal names a command, by its opcode, and an argument of it that wire.md section 8 names with the rule.
fn is_sound(refusal: Strict, cmd: &Cmd<'_>) -> bool {
    let argument = refusal.word.checked_sub(cmd.word + 1);
    let is_due = |at: usize| at < cmd.args.len() && may_name(refusal.rule, cmd.op, at);
    cmd.op == refusal.op && argument.is_some_and(is_due)
}

/// The tables of wire.md section 8: whether a command of the opcode is refused over the rule, by its argument `at`, counted
/// from 0.
fn may_name(rule: Rule, op: Op, at: usize) -> bool {
    use Op::*;
    use Rule::*;
    let due: &[usize] = match (op, rule) {
        (SetBindGroup, UniformOffset | StorageOffset | DynamicOffsetRange) => return at >= 3,
        (SetBindGroup, BindGroupIndex) => &[0],
        (SetBindGroup, WrongKind) => &[1],
        (SetBindGroup, DynamicOffsetCount) => &[2],
        (SetVertexBuffer, VertexBufferSlot) => &[0],
        (SetVertexBuffer, WrongKind | BufferVertex) => &[1],
        (SetVertexBuffer, VertexBufferOffset | VertexBufferRange) => &[2],
        (SetIndexBuffer, BufferIndex) => &[0],
        (SetIndexBuffer, IndexBufferOffset | IndexBufferRange) => &[2],
        (Draw, VertexReads) | (DrawIndexed, IndexReads) => &[0],
        (Draw | DrawIndexed, InstanceReads) => &[1],
        (DrawIndirect | DrawIndexedIndirect | DispatchIndirect, BufferIndirect) => &[0],
        (DrawIndirect | DrawIndexedIndirect | DispatchIndirect, IndirectOffset)
        | (DrawIndirect, DrawIndirectRange)
        | (DrawIndexedIndirect, DrawIndexedIndirectRange)
        | (DispatchIndirect, DispatchIndirectRange) => &[1],
        (Dispatch, Workgroups) => &[0, 1, 2],
        (WriteBuffer, BufferCopyDst) | (ReadBuffer, BufferMapRead) => &[0],
        (WriteBuffer, WriteOffset | WriteRange) | (ReadBuffer, MapRange) => &[1],
        (CopyBufferToBuffer, WrongKind) => &[0, 3],
        (CopyBufferToBuffer, BufferCopySrc) => &[0],
        (CopyBufferToBuffer, CopySourceOffset | CopySourceRange) => &[1],
        (CopyBufferToBuffer, SameBuffer | BufferCopyDst) => &[3],
        (CopyBufferToBuffer, CopyDestinationOffset | CopyDestinationRange) => &[4],
        (CopyBufferToBuffer, CopySize) => &[6],
        (CopyTextureToTexture, WrongKind) => &[0, 6],
        (CopyTextureToTexture, TextureCopySrc) => &[0],
        (CopyTextureToTexture, MipLevel) => &[1, 7],
        (CopyTextureToTexture, OriginBlock | CopyExtent) => &[2, 3, 4, 8, 9, 10],
        (CopyTextureToTexture, AllAspects) => &[5, 11],
        (CopyTextureToTexture, TextureCopyDst | Formats | SampleCounts | SameSubresource) => &[6],
        (WriteTexture, TextureCopyDst | OneSample) => &[0],
        (WriteTexture, MipLevel) => &[1],
        (WriteTexture, OriginBlock | CopyExtent) => &[2, 3, 4],
        (WriteTexture, OneAspect | WritableAspect) => &[5],
        (WriteTexture, DataBytes) => &[7],
        (WriteTexture, BytesPerRowGiven | BytesPerRow) => &[10],
        (WriteTexture, RowsPerImageGiven | RowsPerImage) => &[11],
        (CopyTextureToTexture | WriteTexture, ExtentBlock | WholeSubresource) => &[12, 13, 14],
        (
            SetPipeline | SetIndexBuffer | DrawIndirect | DrawIndexedIndirect | DispatchIndirect | WriteBuffer
            | WriteTexture | ReadBuffer,
            WrongKind,
        ) => &[0],
        // Also Malformed: what was decoded has the arguments of its opcode.
        _ => &[],
    };
    due.contains(&at)
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
/// `None` where it does not show whether the engine refuses the command that the strict check refuses, since nothing
/// finished that command's encoder: replay with `stop_after` at that command and judge once more.
pub fn judge(said: &Said<'_>, engine: &str, outcome: &Outcome, stop_after: Option<usize>) -> Option<Judged> {
    let trouble = outcome.trouble.as_ref();
    let message = trouble.map_or("", |trouble| &trouble.message);
    if outcome.lost || trouble.is_some_and(|trouble| trouble.kind == TroubleKind::Engine) {
        return Some(judged(Cell::NotShown, NOTHING_SHOWN, message));
    }
    let refused = trouble.filter(|trouble| trouble.command.is_none());
    if let Some(bundle) = said.bundle {
        return Some(refused_bundle(said, engine, bundle, refused));
    }
    if let Some(trouble) = refused {
        return Some(refused_row(said, engine, trouble));
    }
    let refused_at = trouble.and_then(|trouble| trouble.command).unwrap_or(usize::MAX);
    match said.refusal {
        Some(strict) if !said.cmds.get(strict.command).is_some_and(|cmd| is_sound(strict, cmd)) => {
            Some(judged(Cell::OverRefusal, NAMES_NOTHING, strict.to_string()))
        }
        Some(strict) if !rest::is_set(&said.cmds, strict.command, said.objects, strict.rule) => {
            Some(judged(Cell::OverRefusal, NOT_SET, strict.to_string()))
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

const NOTHING_SHOWN: &str = "the engine broke or refuses the table";
const NAMES_NOTHING: &str = "a refusal that names no argument that its rule is about";

const NOT_SET: &str = "a refusal of a draw over what is not set";

/// The words of each bundle of an id, in the replayer's ids: the last one counts, and those before it are made as well.
fn bundles_of(said: &Said<'_>, id: u32) -> Vec<Vec<u32>> {
    let rows = said.objects.iter().filter(|object| object.id == id);
    rows.filter_map(bundle_words).collect()
}

fn bundle_cmds(words: &[u32]) -> Vec<Cmd<'_>> {
    wire::bundle_commands(words).map_while(Result::ok).collect()
}

/// The strict check refuses the bundle `id`; the engine refused `refused`, a row of the table, or made them all.
fn refused_bundle(said: &Said<'_>, engine: &str, (id, strict): (u32, Strict), refused: Option<&Trouble>) -> Judged {
    let bundles = bundles_of(said, id);
    let names_it = |cmds: &Vec<Cmd<'_>>| cmds.get(strict.command).is_some_and(|cmd| is_sound(strict, cmd));
    let Some(cmds) = bundles.iter().map(|words| bundle_cmds(words)).find(names_it) else {
        return judged(Cell::OverRefusal, NAMES_NOTHING, strict.to_string());
    };
    if !rest::is_set(&cmds, strict.command, said.objects, strict.rule) {
        return judged(Cell::OverRefusal, NOT_SET, strict.to_string());
    }
    match refused {
        Some(trouble) if trouble.row == Some(id) => judged(Cell::Right, strict.rule.words(), &*trouble.message),
        Some(trouble) => judged(Cell::NotShown, NOTHING_SHOWN, &*trouble.message),
        None => match ledger(said, engine, &cmds[strict.command], Some(strict.rule), true) {
            Some(line) => judged(Cell::Ledger, line.why, strict.to_string()),
            None => {
                let what = format!("refused a bundle over \"{}\" and the GPU takes it", strict.rule);
                judged(Cell::OverRefusal, what, strict.to_string())
            }
        },
    }
}

/// The strict check accepts every bundle; the engine refused a row of the table.
fn refused_row(said: &Said<'_>, engine: &str, refused: &Trouble) -> Judged {
    let row = said.objects.iter().rfind(|object| Some(object.id) == refused.row);
    let bundle = row.and_then(|row| Some((row, bundle_words(row)?)));
    let message = &*refused.message;
    let Some((bundle, words)) = bundle else {
        return judged(Cell::NotShown, NOTHING_SHOWN, message);
    };
    let cmds = bundle_cmds(&words);
    if cmds.is_empty() {
        return judged(Cell::NotShown, NOTHING_SHOWN, message);
    }
    if !rest::bundle_holds(bundle, &cmds, said.objects) {
        return judged(Cell::DeviceOnly, "only a device says: a bundle", message);
    }
    match cmds.iter().find_map(|cmd| ledger(said, engine, cmd, None, true)) {
        Some(line) => judged(Cell::Ledger, line.why, message),
        None => judged(
            Cell::Missed,
            "accepted a bundle and the GPU refuses it over memory",
            message,
        ),
    }
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
    let what = match ledger(said, engine, &said.cmds[strict.command], Some(strict.rule), false) {
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
    match ledger(said, engine, cmd, None, false) {
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

/// The WebGPU rule by which an engine refused the command `at` of a stream, and whether the strict check closes it: it
/// refuses that command or an earlier one. Where it does not, only a device says.
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
    /// It is about commands of bundles alone.
    bundles: bool,
    /// The commands that it is about.
    when: fn(&Cmd<'_>, &Said<'_>) -> bool,
    /// Why, in few words, with the versions that were seen.
    pub why: &'static str,
}

const DENO_OFFSETS: &str = "deno 2.9.6 takes dynamic offsets in the order of the bind group's entries; WebGPU, wgpu 30 and Dawn in that of the bindings";

/// The lines: the second table of `reference/ENGINES.md`, which says where their examples are. Each says which versions
/// it was seen with.
pub static LEDGER: [Line; 8] = [
    Line {
        engine: "wgpu:",
        rules: &[Rule::SameSubresource],
        bundles: false,
        when: is_between_slices,
        why: "wgpu 30.0.2 takes the slices of a 3d texture for subresources: it copies between different slices of one mip level",
    },
    Line {
        engine: "deno",
        rules: &[Rule::SameSubresource],
        bundles: false,
        when: is_between_slices,
        why: "deno 2.9.6 takes the slices of a 3d texture for subresources, as wgpu does",
    },
    Line {
        engine: "wgpu:",
        rules: &[],
        bundles: false,
        when: is_empty_section,
        why: "wgpu 30.0.2's API has no empty buffer slice: it cannot set an empty vertex or index buffer",
    },
    Line {
        engine: "wgpu:gl",
        rules: &[],
        bundles: false,
        when: is_write_of_depth_or_stencil,
        why: "wgpu 30.0.2 has no copies between buffers and depth or stencil on GL (DownlevelFlags::DEPTH_TEXTURE_AND_BUFFER_COPIES)",
    },
    Line {
        engine: "deno",
        rules: &[Rule::DynamicOffsetRange],
        bundles: false,
        when: has_unordered_offsets,
        why: DENO_OFFSETS,
    },
    Line {
        engine: "deno",
        rules: &[],
        bundles: false,
        when: has_unordered_offsets,
        why: DENO_OFFSETS,
    },
    Line {
        engine: "deno",
        rules: &[Rule::BufferCopyDst, Rule::WriteOffset, Rule::WriteRange],
        bundles: false,
        when: |cmd, _| cmd.op == Op::WriteBuffer && cmd.args[4] == 0,
        why: "deno 2.9.6 does not look at a write of 0 bytes (gfx-rs/wgpu #8920, mended in wgpu 30)",
    },
    Line {
        engine: "wgpu:",
        rules: &[
            Rule::IndirectOffset,
            Rule::DrawIndirectRange,
            Rule::DrawIndexedIndirectRange,
        ],
        bundles: true,
        when: |_, _| true,
        why: "wgpu 30.0.2 does not look at the offset of an indirect draw in a bundle",
    },
];

/// A copy within one mip level of a 3d texture from another slice on, overlapping or not; or of no slice within a 1d
/// one.
fn is_between_slices(cmd: &Cmd<'_>, said: &Said<'_>) -> bool {
    let &[src, src_mip, _, _, src_z, _, dst, dst_mip, _, _, dst_z, _, _, _, depth] = cmd.args else {
        return false;
    };
    let counted = match said.facts.texture(src).map(|texture| texture.dimension) {
        Some(Dimension::D3) => 1,
        Some(Dimension::D1) => depth,
        _ => return false,
    };
    (src, src_mip) == (dst, dst_mip) && src_z.abs_diff(dst_z) >= counted
}

/// A vertex or index buffer that is set from its end on.
fn is_empty_section(cmd: &Cmd<'_>, said: &Said<'_>) -> bool {
    let (buffer, offset) = match cmd.op {
        Op::SetVertexBuffer => (cmd.args[1], cmd.u64_at(2)),
        Op::SetIndexBuffer => (cmd.args[0], cmd.u64_at(2)),
        _ => return false,
    };
    let buffer = said.facts.buffer(buffer);
    buffer.is_some_and(|buffer| buffer.size == offset)
}

/// A bind group that does not list its buffers with a dynamic offset in the order of their bindings.
fn has_unordered_offsets(cmd: &Cmd<'_>, said: &Said<'_>) -> bool {
    let row = |id, kind| said.objects.iter().rfind(|row| row.id == id && row.kind == kind);
    let rows = || {
        let group = row(cmd.args[1], Kind::BindGroup)?;
        Some((group, row(*group.refs.first()?, Kind::BindGroupLayout)?))
    };
    cmd.op == Op::SetBindGroup && rows().is_some_and(|(group, layout)| !rest::lists_in_order(group, layout))
}

fn is_write_of_depth_or_stencil(cmd: &Cmd<'_>, said: &Said<'_>) -> bool {
    let format = match cmd.op {
        Op::WriteTexture => said.facts.texture(cmd.args[0]).map(|texture| texture.format.name()),
        _ => None,
    };
    format.is_some_and(|name| name.contains("depth") || name.contains("stencil"))
}

/// The line about a command of the stream, or of a bundle.
fn ledger(said: &Said<'_>, engine: &str, cmd: &Cmd<'_>, rule: Option<Rule>, in_bundle: bool) -> Option<&'static Line> {
    let of_rule = |line: &Line| match rule {
        Some(rule) => line.rules.contains(&rule),
        None => line.rules.is_empty(),
    };
    let about = |line: &&Line| {
        engine.starts_with(line.engine) && of_rule(line) && (in_bundle || !line.bundles) && (line.when)(cmd, said)
    };
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
