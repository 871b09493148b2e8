//! Mutates a stream command by command: counts stay those of their lists, ids those of a table, passes whole.

use std::ops::Range;

use arbitrary::{Result, Unstructured};
use wire::{ArgKind, Blob, Context, Op};

use super::super::table::WORLD;
use crate::generators::faults::leaves;
use crate::generators::loose::{after, command};
use crate::generators::proper::Draft;
use crate::generators::{below, once_in};

/// Words at which a rule turns.
const EDGES: [u32; 16] = [
    0,
    1,
    2,
    3,
    4,
    8,
    64,
    255,
    256,
    65535,
    65536,
    (1 << 21) - 1,
    1 << 21,
    1 << 26,
    1 << 31,
    u32::MAX,
];

/// Commands that most streams have at most: what goes wrong shows with few, and few are fast.
const MANY: usize = 16;

/// A stream, taken apart.
struct Stream<'a> {
    /// Each command's words.
    commands: Vec<&'a [u32]>,
    /// What Decode does not read: the refused command and all after it.
    rest: &'a [u32],
    data: Vec<u8>,
}

/// The blob, mostly cut to [`MANY`] commands, with one thing changed then; none for a blob that is refused whole.
pub fn mutated(bytes: &[u8], u: &mut Unstructured<'_>) -> Option<Vec<u8>> {
    let blob = Blob::parse(bytes).ok()?;
    let mut stream = taken_apart(&blob);
    if !once_in(u, 16).ok()? {
        while stream.commands.len() > MANY {
            let unit = unit(&stream, u).ok()?;
            stream.commands.drain(unit);
        }
    }
    let mut made = Draft::default();
    let changed: Vec<u32>;
    match below(u, 12).ok()? {
        0 => drop(stream.commands.drain(unit(&stream, u).ok()?)),
        1 => {
            let unit = unit(&stream, u).ok()?;
            let copy = stream.commands[unit.clone()].to_vec();
            stream.commands.splice(unit.end..unit.end, copy);
        }
        2 => {
            let unit = unit(&stream, u).ok()?;
            let context = context(&stream.commands[..unit.start]);
            let moved: Vec<&[u32]> = stream.commands.drain(unit).collect();
            let to = place(&stream, u, context).ok()?;
            stream.commands.splice(to..to, moved);
        }
        3..=5 => {
            let at = below(u, stream.commands.len() as u32 + 1).ok()? as usize;
            made.data.clone_from(&stream.data);
            fresh(u, context(&stream.commands[..at]), &mut made).ok()?;
            stream.data.clone_from(&made.data);
            stream.commands.insert(at, &made.words);
        }
        6 => {
            data(&mut stream.data, u).ok()?;
        }
        kind => {
            let at = below(u, stream.commands.len() as u32).ok()? as usize;
            let command = *stream.commands.get(at)?;
            changed = match kind {
                7 => listed(command, u).ok()?,
                _ => field(command, u).ok()?,
            };
            stream.commands[at] = &changed;
        }
    }
    Some(stream.blob())
}

/// Two streams as one, cut between their commands and passes.
pub fn spliced(first: &[u8], second: &[u8], u: &mut Unstructured<'_>) -> Option<Vec<u8>> {
    let (first, second) = (Blob::parse(first).ok()?, Blob::parse(second).ok()?);
    let (mut spliced, tail) = (taken_apart(&first), taken_apart(&second));
    let to = place(&spliced, u, Context::Outside).ok()?;
    spliced.commands.truncate(to);
    spliced
        .commands
        .extend(&tail.commands[place(&tail, u, Context::Outside).ok()?..]);
    spliced.rest = tail.rest;
    // The longer data is the more that writes of both find theirs.
    if tail.data.len() > spliced.data.len() {
        spliced.data = tail.data;
    }
    Some(spliced.blob())
}

fn taken_apart<'a>(blob: &'a Blob<'_>) -> Stream<'a> {
    let cmds = wire::commands(&blob.words, blob.data.len() as u32).map_while(std::result::Result::ok);
    let ends = cmds.map(|cmd| cmd.word..cmd.word + 1 + cmd.args.len());
    let mut end = 0;
    let commands = ends
        .inspect(|command| end = command.end)
        .map(|command| &blob.words[command]);
    Stream {
        commands: commands.collect(),
        rest: &blob.words[end..],
        data: blob.data.to_vec(),
    }
}

impl Stream<'_> {
    fn blob(&self) -> Vec<u8> {
        let words = [self.commands.concat(), self.rest.to_vec()].concat();
        wire::encode_blob(&words, &self.data)
    }
}

fn op(command: &[u32]) -> Option<Op> {
    Op::from_word(*command.first()?)
}

/// Where the command after these stands.
fn context(commands: &[&[u32]]) -> Context {
    let ops = commands.iter().filter_map(|command| op(command));
    ops.fold(Context::Outside, after)
}

/// A command, or the whole pass that it opens or closes.
fn unit(stream: &Stream<'_>, u: &mut Unstructured<'_>) -> Result<Range<usize>> {
    let commands = &stream.commands;
    if commands.is_empty() {
        return Ok(0..0);
    }
    let at = below(u, commands.len() as u32)? as usize;
    let is = |command: &[u32], ops: &[Op]| op(command).is_some_and(|op| ops.contains(&op));
    let begins = [Op::BeginRenderPass, Op::BeginComputePass];
    let (mut start, mut end) = (at, at);
    if is(commands[at], &begins) {
        let closed = commands[at..].iter().position(|command| is(command, &[Op::EndPass]));
        end = closed.map_or(at, |after| at + after);
    } else if is(commands[at], &[Op::EndPass]) {
        start = commands[..at]
            .iter()
            .rposition(|command| is(command, &begins))
            .unwrap_or(at);
    }
    Ok(start..end + 1)
}

/// A place between commands, or at the end, that is in a context.
fn place(stream: &Stream<'_>, u: &mut Unstructured<'_>, wanted: Context) -> Result<usize> {
    let mut here = Context::Outside;
    let mut places = Vec::new();
    for (at, command) in stream.commands.iter().enumerate() {
        places.extend((here == wanted).then_some(at));
        here = op(command).map_or(here, |op| after(here, op));
    }
    places.extend((here == wanted).then_some(stream.commands.len()));
    u.choose(&places).copied()
}

/// A command that may stand in a context; a Begin with its EndPass, so that the pass is whole.
fn fresh(u: &mut Unstructured<'_>, context: Context, draft: &mut Draft) -> Result<()> {
    let may_stand = |op: &&Op| op.allowed_in(context) && **op != Op::EndPass;
    let ops: Vec<Op> = Op::ALL.iter().filter(may_stand).copied().collect();
    let op = *u.choose(&ops)?;
    command(u, &WORLD, op, context, draft)?;
    if after(context, op) != context {
        draft.push(Op::EndPass, &[]);
    }
    Ok(())
}

/// The command with a field at an edge. Counts are left: another count is another command.
fn field(command: &[u32], u: &mut Unstructured<'_>) -> Result<Vec<u32>> {
    let mut changed = command.to_vec();
    let Some(op) = op(command) else { return Ok(changed) };
    let mut fields = leaves(command, 0, op);
    fields.retain(|(_, kind)| !matches!(kind, ArgKind::List { .. } | ArgKind::Optional(_)));
    if fields.is_empty() {
        return Ok(changed);
    }
    let &(at, kind) = u.choose(&fields)?;
    changed[at] = match kind {
        ArgKind::Id(_) | ArgKind::OptionalId(_) if !once_in(u, 8)? => u.choose(&WORLD.objects)?.id,
        ArgKind::F32 => *u.choose(&[0, 0x8000_0000, 0x3F80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7FC0_0000, 1])?,
        _ if once_in(u, 4)? => changed[at].wrapping_add(*u.choose(&[1, 4, u32::MAX, 4u32.wrapping_neg()])?),
        _ => *u.choose(&EDGES)?,
    };
    if kind == ArgKind::U64 {
        changed[at + 1] = if once_in(u, 4)? { *u.choose(&EDGES)? } else { 0 };
    }
    Ok(changed)
}

/// The command with an item of its list dropped or doubled, and its count with it.
fn listed(command: &[u32], u: &mut Unstructured<'_>) -> Result<Vec<u32>> {
    let mut changed = command.to_vec();
    let Some(op) = op(command) else { return Ok(changed) };
    let list = leaves(command, 0, op).into_iter().find_map(|(at, kind)| match kind {
        ArgKind::List { item, .. } => Some((at, item.len())),
        _ => None,
    });
    let Some((at, width)) = list.filter(|&(at, _)| command[at] > 0) else {
        return Ok(changed);
    };
    let first = at + 1 + width * below(u, command[at])? as usize;
    let item = command[first..first + width].to_vec();
    if once_in(u, 2)? {
        changed.splice(first..first + width, []);
        changed[at] -= 1;
    } else {
        changed.splice(first..first, item);
        changed[at] += 1;
    }
    Ok(changed)
}

fn data(data: &mut Vec<u8>, u: &mut Unstructured<'_>) -> Result<()> {
    match below(u, 3)? {
        0 => data.truncate(below(u, data.len() as u32 + 1)? as usize),
        1 => data.resize(data.len() + 1 + below(u, 64)? as usize, 0x5A),
        _ => {
            let at = below(u, data.len() as u32)? as usize;
            let byte = u.arbitrary()?;
            data.iter_mut().skip(at).take(1).for_each(|there| *there = byte);
        }
    }
    Ok(())
}
