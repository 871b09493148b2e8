//! Faults: each aims at one rule of wire.md, or at one of a device's, at a place that the bytes choose.

use arbitrary::{Result, Unstructured};
use wire::{Arg, ArgKind, Context, Kind, LEFT_OUT, MAX_SAFE_INTEGER, Op};

use super::loose::{after, command};
use super::proper::Draft;
use super::world::World;
use super::{below, once_in};

/// A stream on its way to become a case, its ids the guest's.
pub struct Work {
    /// Words and data.
    pub draft: Draft,
    /// Granted ids, ascending by guest.
    pub id_map: Vec<(u32, u32)>,
    /// The table, in the guest's ids.
    pub world: World,
    /// The dispatch bound.
    pub max_workgroups: u32,
    /// The read window.
    pub window: u32,
}

/// One fault.
pub struct Fault {
    /// Its name in the coverage report.
    pub name: &'static str,
    /// Puts it in; false when the stream has no place for it.
    pub put: fn(&mut Work, &mut Unstructured<'_>) -> Result<bool>,
}

const fn fault(name: &'static str, put: fn(&mut Work, &mut Unstructured<'_>) -> Result<bool>) -> Fault {
    Fault { name, put }
}

/// Faults that Decode or Remap refuses.
pub static MALFORMED: [Fault; 17] = [
    fault("unknown-op", unknown_op),
    fault("wrong-context", wrong_context),
    fault("cut", cut),
    fault("cut-in-command", cut_in_command),
    fault("too-many", too_many),
    fault("zero-id", |work, u| {
        spoil(work, u, |kind| matches!(kind, ArgKind::Id(_)), |_| Ok(vec![0]))
    }),
    fault("bad-enum", |work, u| {
        spoil(work, u, |kind| matches!(kind, ArgKind::Enum(_)), bad_enum)
    }),
    fault("bad-flag", |work, u| {
        spoil(
            work,
            u,
            |kind| matches!(kind, ArgKind::Bool | ArgKind::Optional(_)),
            bad_flag,
        )
    }),
    fault("non-finite", |work, u| {
        spoil(work, u, |kind| matches!(kind, ArgKind::F32), non_finite)
    }),
    fault("unsafe-integer", |work, u| {
        spoil(work, u, |kind| matches!(kind, ArgKind::U64), unsafe_integer)
    }),
    fault("data-range", data_range),
    fault("write-size", write_size),
    fault("read-alignment", read_alignment),
    fault("read-size", read_size),
    fault("read-window", |work, u| {
        set_read(work, u, |u| Ok((4, *u.choose(&[(64 << 20) - 3, u32::MAX, 64 << 20])?)))
    }),
    fault("open-pass", open_pass),
    fault("unknown-id", unknown_id),
];

/// Faults that CheckRanges or the read check refuses.
pub static OUT_OF_RANGE: [Fault; 10] = [
    fault("write-past-end", |work, u| past_end(work, u, Op::WriteBuffer)),
    fault("copy-past-end", |work, u| past_end(work, u, Op::CopyBufferToBuffer)),
    fault("dispatch-indirect-past-end", |work, u| {
        past_end(work, u, Op::DispatchIndirect)
    }),
    fault("draw-indirect-past-end", |work, u| past_end(work, u, Op::DrawIndirect)),
    fault("draw-indexed-indirect-past-end", |work, u| {
        past_end(work, u, Op::DrawIndexedIndirect)
    }),
    fault("not-a-buffer", not_a_buffer),
    fault("too-many-workgroups", too_many_workgroups),
    fault("no-map-read", no_map_read),
    fault("read-past-end", |work, u| past_end(work, u, Op::ReadBuffer)),
    fault("past-window", |work, u| {
        work.window = 4 * below(u, 8)?;
        Ok(true)
    }),
];

/// Faults that the strict check of wire.md section 8 refuses, most of the time, and section 5 leaves to the device: some for each class.
pub static STRICT: [Fault; 17] = [
    fault("vertex-buffer-range", |work, u| {
        set_section(work, u, Op::SetVertexBuffer, 1, 2)
    }),
    fault("index-buffer-range", |work, u| {
        set_section(work, u, Op::SetIndexBuffer, 0, 2)
    }),
    fault("draw-past-end", |work, u| {
        let arg = below(u, 4)? as usize;
        set_arg(work, u, Op::Draw, arg, if arg < 2 { many } else { edge })
    }),
    fault("draw-indexed-past-end", |work, u| {
        let arg = *u.choose(&[0, 1, 2, 4])?;
        set_arg(work, u, Op::DrawIndexed, arg, if arg < 2 { many } else { edge })
    }),
    fault("dynamic-offset", set_dynamic_offset),
    fault("dynamic-offset-count", dynamic_offset_count),
    fault("misaligned", misaligned),
    fault("wrong-usage", wrong_usage),
    fault("copy-onto-itself", copy_onto_itself),
    fault("copy-texture-onto-itself", copy_texture_onto_itself),
    fault("texture-copy", |work, u| {
        insert_texture_call(work, u, Op::CopyTextureToTexture)
    }),
    fault("texture-write", |work, u| {
        insert_texture_call(work, u, Op::WriteTexture)
    }),
    fault("texture-extent-of-copy", |work, u| {
        let arg = 1 + below(u, 14)? as usize;
        match arg {
            6 => Ok(false),
            _ => set_arg(work, u, Op::CopyTextureToTexture, arg, texture_word(arg, 12)),
        }
    }),
    fault("texture-extent-of-write", |work, u| {
        let arg = *u.choose(&[1, 2, 3, 4, 5, 12, 13, 14])?;
        set_arg(work, u, Op::WriteTexture, arg, texture_word(arg, 12))
    }),
    fault("data-layout", data_layout),
    fault("group-index-past-limit", |work, u| {
        set_arg(work, u, Op::SetBindGroup, 0, |u| Ok(*u.choose(&[4, 8, 256])?))
    }),
    fault("vertex-slot-past-limit", |work, u| {
        set_arg(work, u, Op::SetVertexBuffer, 0, |u| {
            Ok(*u.choose(&[8, 9, 31, 32, u32::MAX])?)
        })
    }),
];

/// Faults that only a device refuses.
pub static LEFT_TO_DEVICE: [Fault; 4] = [
    fault("no-pipeline", no_pipeline),
    fault("wrong-kind", wrong_kind),
    fault("freed-id", freed_id),
    fault("viewport-depth", |work, u| {
        set_arg(work, u, Op::SetViewport, 4, |_| Ok(1.5f32.to_bits()))
    }),
];

/// A command's first word and opcode. Decode gives them for a stream without a fault so far; for another the commands before the
/// fault are given.
fn commands(draft: &Draft) -> Vec<(usize, Op)> {
    let list = wire::commands(&draft.words, draft.data.len() as u32);
    list.map_while(std::result::Result::ok)
        .map(|cmd| (cmd.word, cmd.op))
        .collect()
}

/// The word of each argument of the command at `start`, those in lists too.
pub(crate) fn leaves(words: &[u32], start: usize, op: Op) -> Vec<(usize, ArgKind)> {
    fn walk(words: &[u32], at: &mut usize, args: &[Arg], into: &mut Vec<(usize, ArgKind)>) {
        for arg in args {
            let here = *at;
            let word = words.get(here).copied().unwrap_or(0);
            into.push((here, arg.kind));
            *at += 1;
            match arg.kind {
                ArgKind::U64 => *at += 1,
                ArgKind::List { limit, item } => (0..word.min(limit)).for_each(|_| walk(words, at, item, into)),
                ArgKind::Optional(inner) if word == 1 => walk(words, at, inner, into),
                _ => {}
            }
        }
    }
    let mut into = Vec::new();
    walk(words, &mut (start + 1), wire::layout(op), &mut into);
    into
}

/// The start of one of the stream's commands of `op`.
fn find(work: &Work, u: &mut Unstructured<'_>, op: Op) -> Result<Option<usize>> {
    let starts: Vec<usize> = commands(&work.draft)
        .iter()
        .filter(|cmd| cmd.1 == op)
        .map(|cmd| cmd.0)
        .collect();
    if starts.is_empty() {
        Ok(None)
    } else {
        u.choose(&starts).copied().map(Some)
    }
}

/// Replaces an argument that `fits`; opcodes that are rare in the stream are as likely as frequent ones.
fn spoil(
    work: &mut Work,
    u: &mut Unstructured<'_>,
    fits: fn(&ArgKind) -> bool,
    bad: fn(&mut Unstructured<'_>) -> Result<Vec<u32>>,
) -> Result<bool> {
    let commands = commands(&work.draft);
    let mut found: Vec<(Op, usize)> = Vec::new();
    for (start, op) in commands {
        let leaves = leaves(&work.draft.words, start, op);
        found.extend(leaves.into_iter().filter(|leaf| fits(&leaf.1)).map(|leaf| (op, leaf.0)));
    }
    if found.is_empty() {
        return Ok(false);
    }
    let op = {
        let mut ops: Vec<Op> = found.iter().map(|leaf| leaf.0).collect();
        ops.sort_unstable();
        ops.dedup();
        *u.choose(&ops)?
    };
    found.retain(|leaf| leaf.0 == op);
    let at = u.choose(&found)?.1;
    for (word, bad) in work.draft.words[at..].iter_mut().zip(bad(u)?) {
        *word = bad;
    }
    Ok(true)
}

fn set_arg(
    work: &mut Work,
    u: &mut Unstructured<'_>,
    op: Op,
    arg: usize,
    value: fn(&mut Unstructured<'_>) -> Result<u32>,
) -> Result<bool> {
    let Some(start) = find(work, u, op)? else {
        return Ok(false);
    };
    work.draft.words[start + 1 + arg] = value(u)?;
    Ok(true)
}

fn unknown_op(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    const UNKNOWN: [u32; 12] = [0, 14, 15, 19, 25, 29, 35, 39, 41, 0x100, 0x0100_0000, u32::MAX];
    let mut starts: Vec<usize> = commands(&work.draft).iter().map(|cmd| cmd.0).collect();
    starts.push(work.draft.words.len());
    let at = *u.choose(&starts)?;
    work.draft.words.insert(at, *u.choose(&UNKNOWN)?);
    Ok(true)
}

/// Where a command may be put in, and the context there.
fn places(draft: &Draft) -> Vec<(usize, Context)> {
    let mut places = vec![(0, Context::Outside)];
    let mut context = Context::Outside;
    let commands = commands(draft);
    for (index, &(_, op)) in commands.iter().enumerate() {
        context = after(context, op);
        let next = commands.get(index + 1).map_or(draft.words.len(), |cmd| cmd.0);
        places.push((next, context));
    }
    places
}

/// Inserts a command where it may not stand, whole or not: the place is what it is refused for.
fn wrong_context(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let (at, context) = *u.choose(&places(&work.draft))?;
    let wrong: Vec<Op> = Op::ALL.into_iter().filter(|op| !op.allowed_in(context)).collect();
    let op = *u.choose(&wrong)?;
    let mut inserted = Draft {
        words: Vec::new(),
        data: work.draft.data.clone(),
    };
    command(u, &work.world, op, context, &mut inserted)?;
    work.draft.words.splice(at..at, inserted.words);
    Ok(true)
}

fn cut(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let length = below(u, work.draft.words.len() as u32)?;
    work.draft.words.truncate(length as usize);
    Ok(true)
}

/// Cuts inside a command that has arguments.
fn cut_in_command(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let commands = commands(&work.draft);
    if commands.is_empty() {
        return Ok(false);
    }
    let index = below(u, commands.len() as u32)? as usize;
    let start = commands[index].0;
    let end = commands.get(index + 1).map_or(work.draft.words.len(), |cmd| cmd.0);
    work.draft
        .words
        .truncate(start + 1 + below(u, (end - start).saturating_sub(1) as u32)? as usize);
    Ok(end - start > 1)
}

fn too_many(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let is_list = |leaf: &(usize, ArgKind)| matches!(leaf.1, ArgKind::List { .. });
    let lists: Vec<(usize, ArgKind)> = commands(&work.draft)
        .into_iter()
        .flat_map(|(start, op)| leaves(&work.draft.words, start, op))
        .filter(is_list)
        .collect();
    if lists.is_empty() {
        return Ok(false);
    }
    let &(at, ArgKind::List { limit, .. }) = u.choose(&lists)? else {
        return Ok(false);
    };
    work.draft.words[at] = *u.choose(&[limit, limit + 1, limit + 2, 0x2000_0001, 0x4000_0000, u32::MAX])?;
    Ok(true)
}

fn bad_enum(u: &mut Unstructured<'_>) -> Result<Vec<u32>> {
    Ok(vec![*u.choose(&[4, 0, 3, 5, 0x8000_0001, u32::MAX])?])
}

fn bad_flag(u: &mut Unstructured<'_>) -> Result<Vec<u32>> {
    Ok(vec![*u.choose(&[2, 3, 0x100, u32::MAX])?])
}

fn non_finite(u: &mut Unstructured<'_>) -> Result<Vec<u32>> {
    Ok(vec![*u.choose(&[
        0x7F80_0000,
        0xFF80_0000,
        0x7FC0_0000,
        0x7F80_0001,
        0xFFFF_FFFF,
    ])?])
}

fn unsafe_integer(u: &mut Unstructured<'_>) -> Result<Vec<u32>> {
    let value = *u.choose(&[MAX_SAFE_INTEGER + 1, MAX_SAFE_INTEGER + 2, 1 << 54, 1 << 63, u64::MAX])?;
    Ok(vec![value as u32, (value >> 32) as u32])
}

/// A command that points into the data, and the places of its offset and length.
fn find_data(work: &Work, u: &mut Unstructured<'_>) -> Result<Option<(usize, usize)>> {
    let (op, offset) = if once_in(u, 2)? {
        (Op::WriteTexture, 7)
    } else {
        (Op::WriteBuffer, 4)
    };
    Ok(find(work, u, op)?.map(|start| (start + offset, start + offset + 1)))
}

fn data_range(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some((offset, length)) = find_data(work, u)? else {
        return Ok(false);
    };
    let data = work.draft.data.len() as u32;
    let words = &mut work.draft.words;
    match below(u, 4)? {
        0 => words[offset] = (data - words[length].min(data)) + 4 - 3 * below(u, 2)?,
        1 => words[offset] = u32::MAX - below(u, 8)?,
        2 => words[length] = !3,
        _ => (words[offset], words[length]) = (data + 1, 0),
    }
    Ok(true)
}

fn write_size(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::WriteBuffer)? else {
        return Ok(false);
    };
    let length = &mut work.draft.words[start + 5];
    *length = length.saturating_sub(4) + 1 + below(u, 3)?;
    Ok(true)
}

/// Gives a ReadBuffer another size and window offset.
fn set_read(
    work: &mut Work,
    u: &mut Unstructured<'_>,
    value: fn(&mut Unstructured<'_>) -> Result<(u32, u32)>,
) -> Result<bool> {
    let Some(start) = find(work, u, Op::ReadBuffer)? else {
        return Ok(false);
    };
    (work.draft.words[start + 4], work.draft.words[start + 5]) = value(u)?;
    Ok(true)
}

fn read_alignment(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::ReadBuffer)? else {
        return Ok(false);
    };
    work.draft.words[start + 2] += 1 + below(u, 7)?;
    Ok(true)
}

fn read_size(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::ReadBuffer)? else {
        return Ok(false);
    };
    work.draft.words[start + 4] = *u.choose(&[0, 1, 2, 6, u32::MAX])?;
    Ok(true)
}

fn open_pass(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let ends: Vec<usize> = commands(&work.draft)
        .iter()
        .filter(|cmd| cmd.1 == Op::EndPass)
        .map(|cmd| cmd.0)
        .collect();
    let Some(&last) = ends.last() else { return Ok(false) };
    // Without its end, what may only stand outside is refused first; so now and then everything after goes too.
    match once_in(u, 2)? {
        true => work.draft.words.truncate(last),
        false => drop(work.draft.words.remove(last)),
    }
    Ok(true)
}

fn id_leaves(work: &Work) -> Vec<usize> {
    let is_id = |leaf: &(usize, ArgKind)| matches!(leaf.1, ArgKind::Id(_) | ArgKind::OptionalId(_));
    commands(&work.draft)
        .into_iter()
        .flat_map(|(start, op)| leaves(&work.draft.words, start, op))
        .filter(is_id)
        .map(|leaf| leaf.0)
        .filter(|&at| work.draft.words[at] != 0)
        .collect()
}

fn unknown_id(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let places = id_leaves(work);
    if places.is_empty() {
        return Ok(false);
    }
    let at = *u.choose(&places)?;
    let id = work.draft.words[at];
    match (below(u, 3)?, work.id_map.iter().position(|entry| entry.0 == id)) {
        (0, Some(entry)) => work.id_map[entry].1 = 0,
        (1, Some(entry)) => drop(work.id_map.remove(entry)),
        _ => {
            let mut stranger: u32 = u.arbitrary::<u32>()?.max(1);
            while work.id_map.iter().any(|entry| entry.0 == stranger) {
                stranger = stranger.wrapping_add(1).max(1);
            }
            work.draft.words[at] = stranger;
        }
    }
    Ok(true)
}

/// Bytes that a command's range has after its offset, and where its buffer and offset stand after the opcode. A copy's end is chosen.
fn range_of(u: &mut Unstructured<'_>, op: Op, args: &[u32]) -> Result<(u64, usize, usize)> {
    Ok(match op {
        Op::DispatchIndirect => (12, 0, 1),
        Op::DrawIndirect => (16, 0, 1),
        Op::DrawIndexedIndirect => (20, 0, 1),
        Op::WriteBuffer => (u64::from(args[4]), 0, 1),
        Op::ReadBuffer => (u64::from(args[3]), 0, 1),
        _ => {
            let size = u64::from(args[6]) | u64::from(args[7]) << 32;
            if once_in(u, 2)? { (size, 0, 1) } else { (size, 3, 4) }
        }
    })
}

/// Moves the range of a command of `op` so that it ends a step past its buffer, or near 2^32 or 2^53.
fn past_end(work: &mut Work, u: &mut Unstructured<'_>, op: Op) -> Result<bool> {
    let Some(start) = find(work, u, op)? else {
        return Ok(false);
    };
    let args = &mut work.draft.words[start + 1..];
    let (needs, id_at, offset_at) = range_of(u, op, args)?;
    let Some(buffer) = work.world.buffers.iter().find(|buffer| buffer.id == args[id_at]) else {
        return Ok(false);
    };
    let step = if op == Op::ReadBuffer { 8 } else { 4 };
    let fit = u64::from(buffer.size).saturating_sub(needs);
    let offset = match below(u, 8)? {
        0 => (1 << 32) - step,
        1 => MAX_SAFE_INTEGER - 7,
        2 => 1 << 32,
        3 => u64::from(buffer.size) + step,
        _ => fit + step,
    } / step
        * step;
    (args[offset_at], args[offset_at + 1]) = (offset as u32, (offset >> 32) as u32);
    Ok(true)
}

/// The guest's id of an object that is no buffer, where the table has one.
fn no_buffer(work: &Work, u: &mut Unstructured<'_>) -> Result<Option<u32>> {
    let objects = work.world.objects.iter();
    let others: Vec<u32> = objects
        .filter(|object| object.kind != Kind::Buffer)
        .map(|object| object.id)
        .collect();
    if others.is_empty() {
        Ok(None)
    } else {
        u.choose(&others).copied().map(Some)
    }
}

fn not_a_buffer(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    const CHECKED: [(Op, usize); 6] = [
        (Op::WriteBuffer, 0),
        (Op::CopyBufferToBuffer, 0),
        (Op::CopyBufferToBuffer, 3),
        (Op::DispatchIndirect, 0),
        (Op::DrawIndirect, 0),
        (Op::DrawIndexedIndirect, 0),
    ];
    let (op, arg) = *u.choose(&CHECKED)?;
    let (Some(start), Some(id)) = (find(work, u, op)?, no_buffer(work, u)?) else {
        return Ok(false);
    };
    work.draft.words[start + 1 + arg] = id;
    Ok(true)
}

fn too_many_workgroups(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::Dispatch)? else {
        return Ok(false);
    };
    let bound = if work.max_workgroups == 0 {
        wire::DEFAULT_MAX_WORKGROUPS
    } else {
        work.max_workgroups
    };
    let axis = below(u, 3)? as usize;
    work.draft.words[start + 1 + axis] = *u.choose(&[bound.saturating_add(1), u32::MAX])?;
    Ok(true)
}

fn no_map_read(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::ReadBuffer)? else {
        return Ok(false);
    };
    let other = if once_in(u, 2)? { no_buffer(work, u)? } else { None };
    work.draft.words[start + 1] = match other {
        Some(id) => id,
        None => u.choose(&work.world.buffers)?.id,
    };
    Ok(true)
}

fn misaligned(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    const OFFSETS: [(Op, usize); 9] = [
        (Op::WriteBuffer, 1),
        (Op::CopyBufferToBuffer, 1),
        (Op::CopyBufferToBuffer, 4),
        (Op::CopyBufferToBuffer, 6),
        (Op::DispatchIndirect, 1),
        (Op::DrawIndirect, 1),
        (Op::DrawIndexedIndirect, 1),
        (Op::SetVertexBuffer, 2),
        (Op::SetIndexBuffer, 2),
    ];
    let (op, arg) = *u.choose(&OFFSETS)?;
    let Some(start) = find(work, u, op)? else {
        return Ok(false);
    };
    let offset = &mut work.draft.words[start + 1 + arg];
    // An index buffer from a multiple of 2 on is right for uint16, and wgpu 30.0.2 panics over it.
    let step = if op == Op::SetIndexBuffer { 1 } else { 2 };
    // Downwards where that is possible, so that the range stays inside.
    *offset = if *offset >= 4 { *offset - step } else { *offset + step };
    Ok(true)
}

fn copy_onto_itself(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::CopyBufferToBuffer)? else {
        return Ok(false);
    };
    let args = &mut work.draft.words[start + 1..];
    (args[3], args[4]) = (args[0], args[1]);
    Ok(true)
}

/// A count of vertices, indices or instances. A draw without a vertex buffer takes any, and a software driver draws them all.
fn many(u: &mut Unstructured<'_>) -> Result<u32> {
    below(u, 200)
}

/// A first element or a place: small, or where a sum passes 2^32.
fn edge(u: &mut Unstructured<'_>) -> Result<u32> {
    match below(u, 2)? {
        0 => below(u, 64),
        _ => Ok(*u.choose(&[1 << 16, 1 << 30, 1 << 31, u32::MAX - 1, u32::MAX])?),
    }
}

/// Moves what a command sets of a vertex or index buffer: to its end, about it, far past it, or to a size that it has not.
fn set_section(work: &mut Work, u: &mut Unstructured<'_>, op: Op, id: usize, offset: usize) -> Result<bool> {
    let Some(start) = find(work, u, op)? else {
        return Ok(false);
    };
    let args = &mut work.draft.words[start + 1..];
    let buffer = work.world.buffers.iter().find(|buffer| buffer.id == args[id]);
    let size = buffer.map_or(64, |buffer| buffer.size);
    let about = |u: &mut Unstructured<'_>| Ok(4 * below(u, size / 4 + 2)?);
    match below(u, 4)? {
        0 => args[offset] = size,
        1 => args[offset] = about(u)?,
        2 => args[offset + 2] = about(u)?,
        _ => args[offset + 1] = 1,
    }
    Ok(true)
}

/// Gives a dynamic offset another value.
fn set_dynamic_offset(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let with_offset = |&(start, op): &(usize, Op)| op == Op::SetBindGroup && work.draft.words[start + 3] > 0;
    let starts: Vec<usize> = commands(&work.draft)
        .iter()
        .filter(|cmd| with_offset(cmd))
        .map(|cmd| cmd.0)
        .collect();
    if starts.is_empty() {
        return Ok(false);
    }
    let at = *u.choose(&starts)? + 4;
    work.draft.words[at] = *u.choose(&[4, 128, 256, 512, 768, 1 << 31, u32::MAX, u32::MAX - 255])?;
    Ok(true)
}

/// Gives a SetBindGroup a dynamic offset more, or takes one away.
fn dynamic_offset_count(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::SetBindGroup)? else {
        return Ok(false);
    };
    let (count, words) = (start + 3, &mut work.draft.words);
    if words[count] > 0 && once_in(u, 2)? {
        words[count] -= 1;
        words.remove(count + 1);
    } else {
        words[count] += 1;
        words.insert(count + 1, 0);
    }
    Ok(true)
}

/// Has a command take another buffer or texture, which may lack the usage that it needs.
fn wrong_usage(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    const NEEDED: [(Op, usize, Kind); 12] = [
        (Op::WriteBuffer, 0, Kind::Buffer),
        (Op::CopyBufferToBuffer, 0, Kind::Buffer),
        (Op::CopyBufferToBuffer, 3, Kind::Buffer),
        (Op::SetVertexBuffer, 1, Kind::Buffer),
        (Op::SetIndexBuffer, 0, Kind::Buffer),
        (Op::DrawIndirect, 0, Kind::Buffer),
        (Op::DrawIndexedIndirect, 0, Kind::Buffer),
        (Op::DispatchIndirect, 0, Kind::Buffer),
        (Op::ReadBuffer, 0, Kind::Buffer),
        (Op::CopyTextureToTexture, 0, Kind::Texture),
        (Op::CopyTextureToTexture, 6, Kind::Texture),
        (Op::WriteTexture, 0, Kind::Texture),
    ];
    let (op, arg, kind) = *u.choose(&NEEDED)?;
    let others = work.world.ids(&[kind]);
    let Some(start) = find(work, u, op)?.filter(|_| !others.is_empty()) else {
        return Ok(false);
    };
    work.draft.words[start + 1 + arg] = *u.choose(&others)?;
    Ok(true)
}

fn copy_texture_onto_itself(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::CopyTextureToTexture)? else {
        return Ok(false);
    };
    let args = &mut work.draft.words[start + 1..];
    // The mip level, the origin and the aspect with it now and then.
    let many = if once_in(u, 2)? { 6 } else { 1 };
    args.copy_within(0..many, 6);
    Ok(true)
}

/// Another word for an argument of a texture copy or write whose extent begins at `extent`.
fn texture_word(arg: usize, extent: usize) -> fn(&mut Unstructured<'_>) -> Result<u32> {
    match arg % 6 {
        5 if arg < extent => |u| below(u, 4),
        _ => |u| match below(u, 4)? {
            0 => edge(u),
            _ => below(u, 6),
        },
    }
}

/// Gives a WriteTexture fewer bytes, or another offset or stride.
fn data_layout(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::WriteTexture)? else {
        return Ok(false);
    };
    let (arg, args) = (*u.choose(&[7, 8, 10, 11])?, &mut work.draft.words[start + 1..]);
    args[arg] = match (arg, below(u, 3)?) {
        (7, _) => below(u, args[7] + 1)?,
        (_, 0) => *u.choose(&[0, 1, 4, LEFT_OUT, LEFT_OUT - 1, 1 << 31])?,
        _ => 4 * below(u, 16)?,
    };
    Ok(true)
}

/// Inserts a copy between textures or a write into one, of any format and dimension that the table has, with small numbers: the device
/// takes some.
fn insert_texture_call(work: &mut Work, u: &mut Unstructured<'_>, op: Op) -> Result<bool> {
    let textures = work.world.ids(&[Kind::Texture]);
    if textures.is_empty() {
        return Ok(false);
    }
    let places: Vec<usize> = places(&work.draft)
        .iter()
        .filter(|place| op.allowed_in(place.1))
        .map(|place| place.0)
        .collect();
    let mut call = vec![op as u32];
    place_texture(&textures, u, &mut call)?;
    if op == Op::CopyTextureToTexture {
        match once_in(u, 4)? {
            true => call.extend_from_within(1..7),
            false => place_texture(&textures, u, &mut call)?,
        }
    } else {
        let rows = 1 + below(u, 12)?;
        let (at, length) = (work.draft.data.len() as u32, 64 * rows);
        work.draft.data.extend((0..length).map(|byte| byte as u8));
        let (stride, height) = (*u.choose(&[32, 64, 128, LEFT_OUT])?, *u.choose(&[1, 4, 8, LEFT_OUT])?);
        call.extend([at, length, 4 * below(u, 3)?, 0, stride, height]);
    }
    call.extend([*u.choose(&[1, 2, 4, 8])?, *u.choose(&[1, 2, 4, 8])?, below(u, 4)?]);
    let at = *u.choose(&places)?;
    work.draft.words.splice(at..at, call);
    Ok(true)
}

/// A texture, a mip level, an origin and an aspect, mostly the first, at 0 and all.
fn place_texture(textures: &[u32], u: &mut Unstructured<'_>, call: &mut Vec<u32>) -> Result<()> {
    let small = |u: &mut Unstructured<'_>| if once_in(u, 4)? { below(u, 4) } else { Ok(0) };
    call.push(*u.choose(textures)?);
    for _ in 0..5 {
        call.push(small(u)?);
    }
    Ok(())
}

fn no_pipeline(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let Some(start) = find(work, u, Op::SetPipeline)? else {
        return Ok(false);
    };
    work.draft.words.drain(start..start + 2);
    Ok(true)
}

fn wrong_kind(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let places = id_leaves(work);
    if places.is_empty() {
        return Ok(false);
    }
    let at = *u.choose(&places)?;
    work.draft.words[at] = u.choose(&work.world.objects)?.id;
    Ok(true)
}

/// Grants an id of the replayer's that its table does not hold: one between those that it holds, one past them, or the greatest.
fn freed_id(work: &mut Work, u: &mut Unstructured<'_>) -> Result<bool> {
    let places = id_leaves(work);
    if places.is_empty() {
        return Ok(false);
    }
    let id = work.draft.words[*u.choose(&places)?];
    let held = |host: u32| work.id_map.iter().any(|entry| entry.1 == host);
    let mut free: Vec<u32> = (1..).filter(|&host| !held(host)).take(3).collect();
    free.push(u32::MAX);
    let gone = *u.choose(&free)?;
    match work.id_map.iter_mut().find(|entry| entry.0 == id) {
        Some(entry) => entry.1 = gone,
        None => return Ok(false),
    }
    Ok(true)
}
