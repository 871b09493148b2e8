//! Streams that a device takes without complaint: passes that close, draws with what they need, ranges inside their buffers. A GPU
//! error in one, or in one with a known fault, means something.

use arbitrary::{Result, Unstructured};
use wire::{LEFT_OUT, Op};

use super::world::buffer_usage::{COPY_DST, COPY_SRC, INDIRECT, MAP_READ};
use super::world::{Buffer, Compute, DYNAMIC_OFFSETS, DYNAMIC_STEP, Depth, Render, Texture, World};
use super::{below, once_in};

/// Words and data while they are written, in the replayer's ids.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The words.
    pub words: Vec<u32>,
    /// The data.
    pub data: Vec<u8>,
}

impl Draft {
    /// Appends a command.
    pub fn push(&mut self, op: Op, args: &[u32]) {
        self.words.push(op as u32);
        self.words.extend_from_slice(args);
    }
}

/// Bytes of the read window that proper streams ask for at most.
pub const WINDOW: u32 = 256;

/// A proper stream over `world`.
pub fn proper(u: &mut Unstructured<'_>, world: &World) -> Result<Draft> {
    let mut draft = Draft::default();
    if !once_in(u, 8)? {
        prime(u, world, &mut draft)?;
    }
    for _ in 0..1 + below(u, 6)? {
        action(u, world, &mut draft)?;
    }
    if !once_in(u, 8)? {
        draft.push(Op::Submit, &[]);
    }
    Ok(draft)
}

/// Fills the buffers whose contents steer a draw or a dispatch.
fn prime(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    let steering = world.indirect.into_iter().chain(world.index);
    for buffer in steering {
        write(draft, buffer, 0, buffer.size);
        let start = draft.data.len() - buffer.size as usize;
        for at in 0..buffer.size as usize / 4 {
            let word = match buffer.usage & INDIRECT != 0 {
                true => indirect_word(u, at)?,
                false => u32::from(u.int_in_range(0..=5u8)?) | u32::from(u.int_in_range(0..=5u8)?) << 16,
            };
            draft.data[start + 4 * at..][..4].copy_from_slice(&word.to_le_bytes());
        }
    }
    Ok(())
}

/// Word `at` of the indirect arguments. Every fourth and fifth of five is 0, so that arguments at 0, as a dispatch's or a draw's,
/// name no first instance; rarely a count stands at the workgroup limit or one past it, where a dispatch does nothing.
fn indirect_word(u: &mut Unstructured<'_>, at: usize) -> Result<u32> {
    match at % 5 {
        0 if once_in(u, 64)? => u.int_in_range(65535..=65536),
        0 => Ok(3 * below(u, 3)?),
        1 | 2 => below(u, 3),
        _ => Ok(0),
    }
}

pub(super) fn action(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    match below(u, 12)? {
        0..=2 => write_some(u, world, draft),
        3 | 4 => copy_buffers(u, world, draft),
        5 => copy_textures(u, world, draft),
        6 => write_texture(u, world, draft),
        7 => read(u, world, draft),
        8 | 9 => compute_pass(u, world, draft),
        10 => render_pass(u, world, draft),
        _ => {
            draft.push(Op::Submit, &[]);
            Ok(())
        }
    }
}

/// A multiple of `step` in `0..=most`, often one of its ends.
fn place(u: &mut Unstructured<'_>, most: u32, step: u32) -> Result<u32> {
    let last = most / step;
    Ok(step
        * match below(u, 4)? {
            0 => 0,
            1 => last,
            _ => u.int_in_range(0..=last)?,
        })
}

fn write(draft: &mut Draft, buffer: Buffer, offset: u32, length: u32) {
    let at = draft.data.len() as u32;
    draft
        .data
        .extend((0..length).map(|byte| (at + byte).wrapping_mul(0x9E37_79B1).to_le_bytes()[3]));
    draft.push(Op::WriteBuffer, &[buffer.id, offset, 0, at, length]);
}

/// Writes into a buffer that does not steer anything: a wild count or index would make a draw that no model foretells.
fn write_some(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    let free = |buffer: &Buffer| {
        Some(buffer.id) != world.indirect.map(|b| b.id) && Some(buffer.id) != world.index.map(|b| b.id)
    };
    let buffers: Vec<Buffer> = world.buffers_for(COPY_DST).filter(free).collect();
    let buffer = *u.choose(&buffers)?;
    let length = place(u, buffer.size.min(64), 4)?;
    let offset = place(u, buffer.size - length, 4)?;
    write(draft, buffer, offset, length);
    Ok(())
}

fn copy_buffers(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    let sources: Vec<Buffer> = world.buffers_for(COPY_SRC).collect();
    let src = *u.choose(&sources)?;
    let steers = [world.indirect, world.index].map(|buffer| buffer.map(|buffer| buffer.id));
    let fits = |dst: &Buffer| dst.id != src.id && !steers.contains(&Some(dst.id));
    let targets: Vec<Buffer> = world.buffers_for(COPY_DST).filter(fits).collect();
    let dst = *u.choose(&targets)?;
    let size = place(u, src.size.min(dst.size), 4)?;
    let (from, to) = (place(u, src.size - size, 4)?, place(u, dst.size - size, 4)?);
    draft.push(Op::CopyBufferToBuffer, &[src.id, from, 0, dst.id, to, 0, size, 0]);
    Ok(())
}

fn copy_textures(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    let [src, .., dst] = world.textures[..] else {
        return copy_buffers(u, world, draft);
    };
    let (src, dst) = if once_in(u, 2)? { (dst, src) } else { (src, dst) };
    let width = below(u, src.width.min(dst.width) + 1)?;
    let height = below(u, src.height.min(dst.height) + 1)?;
    let (aspect_src, aspect_dst) = (below(u, 2)?, below(u, 2)?);
    let mut args = vec![
        src.id,
        0,
        below(u, src.width - width + 1)?,
        below(u, src.height - height + 1)?,
        0,
        aspect_src,
    ];
    args.extend([
        dst.id,
        0,
        below(u, dst.width - width + 1)?,
        below(u, dst.height - height + 1)?,
        0,
        aspect_dst,
    ]);
    args.extend([width, height, 1]);
    draft.push(Op::CopyTextureToTexture, &args);
    Ok(())
}

fn write_texture(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    let Some(&texture) = world.textures.first() else {
        return write_some(u, world, draft);
    };
    let Texture { id, width, height } = texture;
    let (width, height) = (1 + below(u, width)?, 1 + below(u, height)?);
    let (x, y) = (
        below(u, texture.width - width + 1)?,
        below(u, texture.height - height + 1)?,
    );
    // A stride may be left out where one row, or one image, is written.
    let stride = if height == 1 && once_in(u, 2)? {
        LEFT_OUT
    } else {
        4 * width + 4 * below(u, 4)?
    };
    let rows = if once_in(u, 2)? {
        LEFT_OUT
    } else {
        height + below(u, 3)?
    };
    let skip = 4 * below(u, 3)?;
    let needs = skip + 4 * width + if height > 1 { stride * (height - 1) } else { 0 };
    let length = needs + 4 * below(u, 2)?;
    let at = draft.data.len() as u32;
    draft
        .data
        .extend((0..length).map(|byte| (at ^ byte).wrapping_mul(0x85EB_CA6B).to_le_bytes()[3]));
    draft.push(
        Op::WriteTexture,
        &[
            id,
            0,
            x,
            y,
            0,
            below(u, 2)?,
            at,
            length,
            skip,
            0,
            stride,
            rows,
            width,
            height,
            1,
        ],
    );
    Ok(())
}

fn read(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    let readable: Vec<Buffer> = world.buffers_for(MAP_READ).collect();
    let buffer = *u.choose(&readable)?;
    let offset = place(u, buffer.size - 4, 8)?;
    let size = 4 + place(u, buffer.size - offset - 4, 4)?;
    draft.push(
        Op::ReadBuffer,
        &[buffer.id, offset, 0, size, below(u, WINDOW - size + 1)?],
    );
    Ok(())
}

/// What may stand anywhere, a pass included.
fn queue_call(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    match below(u, 3)? {
        0 => write_some(u, world, draft),
        1 => write_texture(u, world, draft),
        _ => read(u, world, draft),
    }
}

fn dynamic_offset(u: &mut Unstructured<'_>) -> Result<u32> {
    Ok(DYNAMIC_STEP * below(u, DYNAMIC_OFFSETS)?)
}

fn compute_pass(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    draft.push(Op::BeginComputePass, &[]);
    if let Some(&compute) = world.computes.first() {
        bind_compute(u, compute, draft)?;
        for _ in 0..1 + below(u, 3)? {
            dispatch(u, world, draft)?;
            if once_in(u, 4)? {
                queue_call(u, world, draft)?;
            }
            if once_in(u, 4)? {
                bind_compute(u, compute, draft)?;
            }
        }
    }
    draft.push(Op::EndPass, &[]);
    Ok(())
}

pub(super) fn bind_compute(u: &mut Unstructured<'_>, compute: Compute, draft: &mut Draft) -> Result<()> {
    draft.push(Op::SetPipeline, &[compute.pipeline]);
    match compute.dynamic {
        true => draft.push(Op::SetBindGroup, &[0, compute.group, 1, dynamic_offset(u)?]),
        false => draft.push(Op::SetBindGroup, &[0, compute.group, 0]),
    }
    Ok(())
}

fn dispatch(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    match (below(u, 3)?, world.indirect) {
        (0, Some(indirect)) => {
            draft.push(
                Op::DispatchIndirect,
                &[indirect.id, place(u, indirect.size - 12, 4)?, 0],
            );
        }
        _ if once_in(u, 64)? => draft.push(Op::Dispatch, &[65535, 1, 1]),
        _ => draft.push(Op::Dispatch, &[below(u, 9)?, below(u, 3)?, below(u, 3)?]),
    }
    Ok(())
}

fn render_pass(u: &mut Unstructured<'_>, world: &World, draft: &mut Draft) -> Result<()> {
    let (Some((target, view)), Some(&render)) = (world.target, world.renders.first()) else {
        return compute_pass(u, world, draft);
    };
    if once_in(u, 6)? {
        return pass_with_holes(u, view, draft);
    }
    let read_only = begin_render_pass(u, world, view, draft)?;
    let mut bound = false;
    for _ in 0..1 + below(u, 5)? {
        match below(u, 10)? {
            0 => set_viewport(u, target, draft)?,
            1 => set_scissor(u, target, draft)?,
            2 => draft.push(
                Op::SetBlendConstant,
                &[1.0f32.to_bits(), 0, 0.5f32.to_bits(), (-2.5f32).to_bits()],
            ),
            3 => draft.push(Op::SetStencilReference, &[u.arbitrary()?]),
            // A bundle that might write depth or stencil does not fit a pass that only reads it. Bundles leave nothing set.
            4 if !read_only => {
                let bundles = vec![render.bundle; below(u, 3)? as usize];
                draft.push(Op::ExecuteBundles, &[&[bundles.len() as u32], &bundles[..]].concat());
                bound = false;
            }
            5 => queue_call(u, world, draft)?,
            _ => {
                if !bound || once_in(u, 4)? {
                    bind_render(u, world, render, draft)?;
                    bound = true;
                }
                draw(u, world, render, draft)?;
            }
        }
    }
    draft.push(Op::EndPass, &[]);
    Ok(())
}

/// A pass that clears its target, which stands between holes; no pipeline goes with it.
fn pass_with_holes(u: &mut Unstructured<'_>, view: u32, draft: &mut Draft) -> Result<()> {
    let (before, after) = (below(u, 4)?, below(u, 4)?);
    let hole = [0, 0, 1, 1, 0, 0, 0, 0];
    let clear = (below(u, 1000)? as f32).to_bits();
    let mut args = vec![before + 1 + after];
    (0..before).for_each(|_| args.extend(hole));
    args.extend([view, 0, 2, 1, clear, 0, 0, 0]);
    (0..after).for_each(|_| args.extend(hole));
    args.push(0);
    draft.push(Op::BeginRenderPass, &args);
    draft.push(Op::EndPass, &[]);
    Ok(())
}

/// Begins a pass into the target; true where it only reads depth or stencil.
pub(super) fn begin_render_pass(u: &mut Unstructured<'_>, world: &World, view: u32, draft: &mut Draft) -> Result<bool> {
    let store = if once_in(u, 6)? { 2 } else { 1 };
    let clear = (below(u, 1000)? as f32).to_bits();
    let mut args = vec![1, view, 0, 1 + below(u, 2)?, store, clear, 0, 0, 0];
    let mut read_only = false;
    match world.depth {
        None => args.push(0),
        Some(Depth { view, stencil }) => {
            let (depth, stencil) = (aspect(u, true, 0.25f32.to_bits())?, aspect(u, stencil, 7)?);
            read_only = depth[3] == 1 || stencil[3] == 1;
            args.extend([1, view]);
            args.extend(depth);
            args.extend(stencil);
        }
    }
    draft.push(Op::BeginRenderPass, &args);
    Ok(read_only)
}

/// The words of one aspect: load op, store op, clear value, whether it is read only. Ops are there where it is written.
fn aspect(u: &mut Unstructured<'_>, there: bool, clear: u32) -> Result<[u32; 4]> {
    Ok(match (there, below(u, 4)?) {
        (false, _) => [0, 0, 0, 0],
        (true, 0) => [0, 0, 0, 1],
        (true, _) => [1 + below(u, 2)?, 1 + below(u, 2)?, clear, 0],
    })
}

fn bind_render(u: &mut Unstructured<'_>, world: &World, render: Render, draft: &mut Draft) -> Result<()> {
    draft.push(Op::SetPipeline, &[render.pipeline]);
    if let Some(group) = render.group {
        draft.push(Op::SetBindGroup, &[0, group, 1, dynamic_offset(u)?]);
    }
    if let Some(vertex) = render.vertex {
        let size = if once_in(u, 2)? { 0 } else { vertex.size };
        draft.push(Op::SetVertexBuffer, &[0, vertex.id, 0, 0, size, 0]);
    }
    if let Some(corners) = render.corners {
        draft.push(Op::SetVertexBuffer, &[1, corners.id, 0, 0, 0, 0]);
    }
    if let Some(index) = world.index {
        let size = if once_in(u, 2)? { 0 } else { index.size };
        draft.push(Op::SetIndexBuffer, &[index.id, 1 + below(u, 2)?, 0, 0, size, 0]);
    }
    Ok(())
}

/// A draw of whole triangles. Instances stay inside the vertex buffer and indices inside the index buffer, read as uint32.
fn draw(u: &mut Unstructured<'_>, world: &World, render: Render, draft: &mut Draft) -> Result<()> {
    let instances = render.vertex.map_or(8, |vertex| vertex.size / 4);
    let first = below(u, instances + 1)?;
    let count = below(u, (instances - first).min(3) + 1)?;
    match (below(u, 4)?, world.index, world.indirect) {
        (1, Some(index), _) => {
            let indices = index.size / 4;
            let many = below(u, indices + 1)?;
            let args = [many, count, below(u, indices - many + 1)?, below(u, 4)?, first];
            draft.push(Op::DrawIndexed, &args);
        }
        (2, _, Some(indirect)) if indirect.size >= 16 => {
            draft.push(Op::DrawIndirect, &[indirect.id, place(u, indirect.size - 16, 20)?, 0]);
        }
        (3, Some(_), Some(indirect)) if indirect.size >= 20 => {
            draft.push(
                Op::DrawIndexedIndirect,
                &[indirect.id, place(u, indirect.size - 20, 20)?, 0],
            );
        }
        _ => draft.push(Op::Draw, &[below(u, 8)?, count, below(u, 5)?, first]),
    }
    Ok(())
}

fn set_viewport(u: &mut Unstructured<'_>, target: Texture, draft: &mut Draft) -> Result<()> {
    let (width, height) = (1 + below(u, target.width)?, 1 + below(u, target.height)?);
    let (x, y) = (
        below(u, target.width - width + 1)?,
        below(u, target.height - height + 1)?,
    );
    let floats = [x as f32, y as f32, width as f32, height as f32, 0.0, 1.0];
    draft.push(Op::SetViewport, &floats.map(f32::to_bits));
    Ok(())
}

fn set_scissor(u: &mut Unstructured<'_>, target: Texture, draft: &mut Draft) -> Result<()> {
    let (width, height) = (below(u, target.width + 1)?, below(u, target.height + 1)?);
    let (x, y) = (
        below(u, target.width - width + 1)?,
        below(u, target.height - height + 1)?,
    );
    draft.push(Op::SetScissorRect, &[x, y, width, height]);
    Ok(())
}
