//! Well-formed streams that nothing else holds together: any command where it may stand, any argument of its kind, drawn from the
//! table of wire.md section 2. They reach what a proper stream never says: eight attachments with holes, wide counts, odd floats.

use arbitrary::{Result, Unstructured};
use wire::{Arg, ArgKind, Context, Kind, LEFT_OUT, MAX_SAFE_INTEGER, Op};

use super::proper::Draft;
use super::world::World;
use super::{below, once_in};

/// Words at which some rule, here or in a device, turns.
const EDGES: [u32; 8] = [0, 1, 2, 4, 65535, 65536, 1 << 31, u32::MAX];

/// A loose stream over `world`.
pub fn loose(u: &mut Unstructured<'_>, world: &World) -> Result<Draft> {
    let mut draft = Draft {
        words: Vec::new(),
        data: vec![0x5A; below(u, 64)? as usize],
    };
    let mut context = Context::Outside;
    for _ in 0..3 + below(u, 16)? {
        let mut op = choose_op(u, context)?;
        // A replay stops at an id of another kind, so that most commands are those that the world has objects for.
        for _ in 0..4 {
            if has_objects(world, op, context) || once_in(u, 8)? {
                break;
            }
            op = choose_op(u, context)?;
        }
        command(u, world, op, context, &mut draft)?;
        context = after(context, op);
    }
    if context != Context::Outside {
        draft.push(Op::EndPass, &[]);
    }
    Ok(draft)
}

/// The context after `op`, read in `context`.
pub fn after(context: Context, op: Op) -> Context {
    match op {
        Op::BeginRenderPass => Context::Render,
        Op::BeginComputePass => Context::Compute,
        Op::EndPass => Context::Outside,
        _ => context,
    }
}

fn choose_op(u: &mut Unstructured<'_>, context: Context) -> Result<Op> {
    let allowed = Op::ALL.into_iter().filter(|op| op.allowed_in(context));
    let at = below(u, allowed.clone().count() as u32)?;
    Ok(allowed.clone().nth(at as usize).unwrap_or(Op::Submit))
}

/// Appends a well-formed command of `op`.
pub fn command(u: &mut Unstructured<'_>, world: &World, op: Op, context: Context, draft: &mut Draft) -> Result<()> {
    let start = draft.words.len();
    draft.words.push(op as u32);
    for arg in wire::layout(op) {
        argument(u, world, arg, context, &mut draft.words)?;
    }
    mend(u, world, op, start, draft)
}

fn argument(u: &mut Unstructured<'_>, world: &World, arg: &Arg, context: Context, words: &mut Vec<u32>) -> Result<()> {
    match arg.kind {
        ArgKind::Id(kinds) => words.push(id(u, world, kinds, context)?),
        ArgKind::OptionalId(kinds) => {
            let none = once_in(u, 4)? || (wanted(world, kinds, context).is_empty() && !once_in(u, 8)?);
            words.push(if none { 0 } else { id(u, world, kinds, context)? });
        }
        ArgKind::U32 => words.push(word(u)?),
        ArgKind::I32 => words.push(match below(u, 3)? {
            0 => word(u)?,
            // Below 0 as well, the least number too.
            1 => u.choose(&[-1, i32::MIN, -3, i32::MIN + 1])?.cast_unsigned(),
            _ => below(u, 4)?,
        }),
        ArgKind::F32 => words.push(float(u)?),
        ArgKind::U64 => {
            let value = long(u)?;
            words.extend([value as u32, (value >> 32) as u32]);
        }
        ArgKind::Enum(values) => words.push(u.choose(values.values)?.0),
        ArgKind::Bool => words.push(below(u, 2)?),
        ArgKind::List { limit, item } => {
            let count = count(u, limit)?;
            words.push(count);
            for _ in 0..count {
                for arg in item {
                    argument(u, world, arg, context, words)?;
                }
            }
        }
        ArgKind::Optional(inner) => {
            let there = below(u, 2)?;
            words.push(there);
            if there == 1 {
                for arg in inner {
                    argument(u, world, arg, context, words)?;
                }
            }
        }
    }
    Ok(())
}

/// Whether the world holds what the command must name; lists and what is optional aside.
fn has_objects(world: &World, op: Op, context: Context) -> bool {
    wire::layout(op).iter().all(|arg| match arg.kind {
        ArgKind::Id(kinds) => !wanted(world, kinds, context).is_empty(),
        _ => true,
    })
}

/// The ids that an argument of these kinds takes.
fn wanted(world: &World, kinds: &[Kind], context: Context) -> Vec<u32> {
    match (kinds, context) {
        ([Kind::ComputePipeline, Kind::RenderPipeline], Context::Compute) => world.ids(&[Kind::ComputePipeline]),
        ([Kind::ComputePipeline, Kind::RenderPipeline], _) => world.ids(&[Kind::RenderPipeline]),
        _ => world.ids(kinds),
    }
}

fn id(u: &mut Unstructured<'_>, world: &World, kinds: &[Kind], context: Context) -> Result<u32> {
    let wanted = wanted(world, kinds, context);
    if wanted.is_empty() || once_in(u, 32)? {
        return Ok(u.choose(&world.objects)?.id);
    }
    Ok(*u.choose(&wanted)?)
}

fn word(u: &mut Unstructured<'_>) -> Result<u32> {
    match below(u, 4)? {
        0 => Ok(*u.choose(&EDGES)?),
        1 => Ok(4 * below(u, 32)?),
        _ => below(u, 16),
    }
}

/// A finite float: small, an edge, or any bits whose exponent is not all ones.
fn float(u: &mut Unstructured<'_>) -> Result<u32> {
    const EDGES: [u32; 6] = [0, 0x8000_0000, 1, 0x7F7F_FFFF, 0xFF7F_FFFF, 0x0080_0000];
    Ok(match below(u, 4)? {
        0 => *u.choose(&EDGES)?,
        1 => u.arbitrary::<u32>()? & !0x0080_0000,
        _ => (below(u, 64)? as f32 / 4.0).to_bits(),
    })
}

fn long(u: &mut Unstructured<'_>) -> Result<u64> {
    const EDGES: [u64; 5] = [MAX_SAFE_INTEGER, MAX_SAFE_INTEGER - 7, 1 << 32, (1 << 32) - 4, 1 << 31];
    match below(u, 8)? {
        0 => Ok(*u.choose(&EDGES)?),
        1 => Ok(u64::from(word(u)?)),
        2 => Ok(0),
        _ => Ok(4 * u64::from(below(u, 32)?)),
    }
}

fn count(u: &mut Unstructured<'_>, limit: u32) -> Result<u32> {
    match below(u, 64)? {
        0 => Ok(limit.min(300)),
        1..=8 => below(u, limit.min(9) + 1),
        _ => below(u, 4),
    }
}

/// Puts right what the arguments' kinds do not say: data ranges, lengths, reads, and in most commands offsets that fit their buffer.
fn mend(u: &mut Unstructured<'_>, world: &World, op: Op, start: usize, draft: &mut Draft) -> Result<()> {
    let length = draft.data.len() as u32;
    let args = &mut draft.words[start + 1..];
    match op {
        Op::WriteBuffer => {
            args[4] = 4 * below(u, length / 4 + 1)?;
            args[3] = below(u, length - args[4] + 1)?;
        }
        Op::WriteTexture => {
            args[7] = below(u, length + 1)?;
            args[6] = below(u, length - args[7] + 1)?;
            for stride in &mut args[10..12] {
                if once_in(u, 4)? {
                    *stride = LEFT_OUT;
                }
            }
        }
        Op::ReadBuffer => {
            args[1] &= !7;
            args[3] = 4 + 4 * below(u, 16)?;
            args[4] = 4 * below(u, 64)?;
        }
        _ => {}
    }
    if once_in(u, 8)? {
        return Ok(());
    }
    fit(u, world, op, args)
}

/// Lets the range of a command that CheckRanges looks at end inside its buffer, often exactly at its end.
fn fit(u: &mut Unstructured<'_>, world: &World, op: Op, args: &mut [u32]) -> Result<()> {
    let size = |id: u32| {
        world
            .buffers
            .iter()
            .find(|buffer| buffer.id == id)
            .map_or(0, |buffer| buffer.size)
    };
    let mut set = |args: &mut [u32], at: usize, most: u32| -> Result<()> {
        args[at] = if once_in(u, 2)? { most } else { below(u, most + 1)? };
        args[at + 1] = 0;
        Ok(())
    };
    match op {
        Op::DispatchIndirect => set(args, 1, size(args[0]).saturating_sub(12)),
        Op::DrawIndirect => set(args, 1, size(args[0]).saturating_sub(16)),
        Op::DrawIndexedIndirect => set(args, 1, size(args[0]).saturating_sub(20)),
        Op::WriteBuffer => {
            args[4] = args[4].min(size(args[0]) & !3);
            set(args, 1, size(args[0]) - args[4])
        }
        Op::CopyBufferToBuffer => {
            let (src, dst) = (size(args[0]), size(args[3]));
            args[6] = args[6].min(src.min(dst));
            args[7] = 0;
            set(args, 1, src - args[6])?;
            set(args, 4, dst - args[6])
        }
        Op::ReadBuffer => {
            let room = size(args[0]).saturating_sub(args[3]);
            set(args, 1, room)?;
            args[1] &= !7;
            Ok(())
        }
        Op::Dispatch => {
            for count in args {
                *count = (*count).min(65535);
            }
            Ok(())
        }
        _ => Ok(()),
    }
}
