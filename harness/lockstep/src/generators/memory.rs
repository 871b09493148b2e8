//! Commands at the edges of the rules of wire.md section 8: each as it may be, but for a number that may be one step
//! past what a rule takes. A share of the lane of replays ends with one, so that the strict check meets each of its
//! rules often, from both sides.
//!
//! The objects that the rules are about stand in the table of every stream of the lane: see [`Ground`].

use arbitrary::{Result, Unstructured};
use wire::{ArgKind, Format, Kind, LEFT_OUT, Op};

use super::faults::leaves;
use super::proper::{Draft, begin_render_pass, bind_compute};
use super::world::buffer_usage::{COPY_DST, COPY_SRC, INDEX, INDIRECT, STORAGE, UNIFORM, VERTEX};
use super::world::{Buffer, DYNAMIC_STEP, World, bundle_body, instance_pipeline};
use super::{below, once_in};

/// What the rules are about and no proper stream uses.
#[derive(Clone, Debug)]
pub struct Ground {
    /// In twos that a copy may go between, as far as their usages let it.
    textures: Vec<[Texture; 2]>,
    group: Group,
    draws: Option<Draws>,
}

/// A texture of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Texture {
    id: u32,
    size: [u32; 3],
    mips: u32,
    samples: u32,
    dimension: &'static str,
    format: &'static str,
}

/// A bind group whose two bindings have dynamic offsets.
#[derive(Clone, Copy, Debug)]
struct Group {
    id: u32,
    /// Of each binding, in the order of their numbers, the bytes of its buffer that are behind it.
    behind: [u32; 2],
}

/// A render pipeline with vertex buffers of both step modes, whose last element takes fewer bytes than the others.
#[derive(Clone, Copy, Debug)]
struct Draws {
    pipeline: u32,
    vertex: Buffer,
}

/// Bytes between two elements of the pipeline's vertex buffers, and of the last one; the first has step mode
/// `instance`.
pub(super) const STRIDES: [[u32; 2]; 2] = [[8, 4], [12, 8]];

/// One of two textures: size, mip levels, samples, dimension and format.
type Twin = ([u32; 3], u32, u32, &'static str, &'static str);
const LAYERS: [Twin; 2] = [([8, 8, 3], 3, 1, "2d", "r32uint"); 2];
const SLICES: [Twin; 2] = [([8, 4, 4], 3, 1, "3d", "rgba8unorm"); 2];
/// The second mip level is 4 by 6 texels, and two blocks high.
const BLOCKS: [Twin; 2] = [([8, 12, 2], 3, 1, "2d", "bc1-rgba-unorm"); 2];
const ASPECTS: [Twin; 2] = [([8, 8, 2], 1, 1, "2d", "depth24plus-stencil8"); 2];
const OTHERS: [[Twin; 2]; 8] = [
    [([16, 1, 1], 1, 1, "1d", "r32uint"); 2],
    [
        ([8, 6, 1], 1, 1, "2d", "rgba8unorm"),
        ([8, 6, 1], 1, 1, "2d", "rgba8unorm-srgb"),
    ],
    [([4, 4, 1], 1, 1, "2d", "rgba16float"); 2],
    [([4, 4, 2], 1, 1, "2d", "depth16unorm"); 2],
    [([4, 4, 1], 2, 1, "2d", "stencil8"); 2],
    [([4, 4, 1], 1, 1, "2d", "depth32float"); 2],
    [([4, 4, 1], 1, 4, "2d", "rgba8unorm"); 2],
    [
        ([4, 4, 1], 1, 4, "2d", "rgba8unorm"),
        ([4, 4, 1], 1, 1, "2d", "rgba8unorm"),
    ],
];

/// Adds what the rules are about to a world.
pub fn ground(world: &mut World, u: &mut Unstructured<'_>) -> Result<Ground> {
    let mut twins = vec![*u.choose(&OTHERS)?];
    for (twin, in_12) in [(LAYERS, 9), (SLICES, 9), (ASPECTS, 6), (BLOCKS, 4)] {
        if below(u, 12)? < in_12 {
            twins.push(twin);
        }
    }
    let mut textures = Vec::new();
    for [first, second] in twins {
        // The second may lack a usage.
        let usage = *u.choose(&[3, 3, 1, 2, 4])?;
        textures.push([texture(world, first, 3), texture(world, second, usage)]);
    }
    Ok(Ground {
        textures,
        group: group(world, u)?,
        draws: draws(world, u)?,
    })
}

fn texture(world: &mut World, twin: Twin, usage: u32) -> Texture {
    let (size, mips, samples, dimension, format) = twin;
    // WebGPU asks it of a multisampled texture.
    let usage = if samples > 1 { usage | 0x10 } else { usage };
    let body = format!(
        r#"{{"size":{size:?},"mipLevelCount":{mips},"sampleCount":{samples},"dimension":"{dimension}","format":"{format}","usage":{usage}}}"#
    );
    Texture {
        id: world.add(Kind::Texture, &[], body),
        size,
        mips,
        samples,
        dimension,
        format,
    }
}

/// Its bindings begin behind the start of their buffer, which may end with a binding and its greatest offset, or a step
/// before.
fn group(world: &mut World, u: &mut Unstructured<'_>) -> Result<Group> {
    let layout = r#"{"entries":[{"binding":3,"visibility":4,"buffer":{"hasDynamicOffset":true}},{"binding":1,"visibility":4,"buffer":{"type":"storage","hasDynamicOffset":true}}]}"#;
    let layout = world.add(Kind::BindGroupLayout, &[], layout);
    let buffer = world.buffer(4 * DYNAMIC_STEP, UNIFORM | STORAGE | COPY_SRC | COPY_DST);
    let part = |u: &mut Unstructured<'_>| {
        let offset = DYNAMIC_STEP * below(u, 3)?;
        let size = *u.choose(&[DYNAMIC_STEP, DYNAMIC_STEP - 4, DYNAMIC_STEP + 4, 16])?;
        Ok((offset, size))
    };
    let [(offset, size), (storage_offset, storage_size)] = [part(u)?, part(u)?];
    let body = format!(
        r#"{{"entries":[{{"binding":3,"offset":{offset},"size":{size}}},{{"binding":1,"offset":{storage_offset},"size":{storage_size}}}]}}"#
    );
    Ok(Group {
        id: world.add(Kind::BindGroup, &[layout, buffer.id, buffer.id], body),
        behind: [buffer.size - storage_offset - storage_size, buffer.size - offset - size],
    })
}

fn draws(world: &mut World, u: &mut Unstructured<'_>) -> Result<Option<Draws>> {
    if world.target.is_none() {
        return Ok(None);
    }
    let vertex = world.buffer(24 + 4 * below(u, 24)?, VERTEX | COPY_SRC | COPY_DST);
    let pipeline = instance_pipeline(world, STRIDES);
    Ok(Some(Draws { pipeline, vertex }))
}

/// A command at an edge of one rule or two.
pub struct Edge {
    /// Its name in the coverage report.
    pub name: &'static str,
    put: fn(&mut Place<'_, '_, '_>) -> Result<bool>,
}

/// Where a command is put.
struct Place<'a, 'u, 'b> {
    u: &'a mut Unstructured<'u>,
    world: &'b World,
    ground: &'b Ground,
    draft: &'b mut Draft,
    /// In a bundle there is no pass to begin.
    in_bundle: bool,
}

impl Place<'_, '_, '_> {
    /// Begins a render pass; false where the world has no target.
    fn begin_render(&mut self) -> Result<bool> {
        let Some((_, view)) = self.world.target else {
            return Ok(false);
        };
        if !self.in_bundle {
            begin_render_pass(self.u, self.world, view, self.draft)?;
        }
        Ok(true)
    }

    /// Begins a compute pass with a pipeline; false where the world has none.
    fn begin_compute(&mut self) -> Result<bool> {
        let Some(&compute) = self.world.computes.first() else {
            return Ok(false);
        };
        self.draft.push(Op::BeginComputePass, &[]);
        bind_compute(self.u, compute, self.draft)?;
        Ok(true)
    }

    fn end_pass(&mut self) {
        if !self.in_bundle {
            self.draft.push(Op::EndPass, &[]);
        }
    }
}

const fn edge(name: &'static str, put: fn(&mut Place<'_, '_, '_>) -> Result<bool>) -> Edge {
    Edge { name, put }
}

/// All of them.
pub static EDGES: [Edge; 25] = [
    edge("edge-write", write_buffer),
    edge("edge-copy", copy_buffers),
    edge("edge-copy-alignment", copy_misaligned),
    edge("edge-dispatch", dispatch),
    edge("edge-dispatch-indirect", |place| {
        indirect(place, Op::DispatchIndirect, 12)
    }),
    edge("edge-draw-indirect", |place| indirect(place, Op::DrawIndirect, 16)),
    edge("edge-draw-indexed-indirect", |place| {
        indirect(place, Op::DrawIndexedIndirect, 20)
    }),
    edge("edge-group", bind_group),
    edge("edge-dynamic-offset", dynamic_offset),
    edge("edge-vertex-buffer", vertex_buffer),
    edge("edge-index-buffer", index_buffer),
    edge("edge-draw-vertices", draw_vertices),
    edge("edge-draw-instances", draw_instances),
    edge("edge-draw-indices", draw_indices),
    edge("edge-copy-texture", |place| copy_textures(place, &[], &[])),
    edge("edge-copy-mip", |place| copy_textures(place, &[1, 7], &[1])),
    edge("edge-copy-origin", |place| {
        copy_textures(place, &[2, 3, 4, 8, 9, 10], &[1, 4, LESS])
    }),
    edge("edge-copy-size", |place| {
        copy_textures(place, &[12, 13, 14], &[1, 4, LESS])
    }),
    edge("edge-write-texture", |place| write_texture(place, &[], &[])),
    edge("edge-write-mip", |place| write_texture(place, &[1], &[1])),
    edge("edge-write-origin", |place| {
        write_texture(place, &[2, 3, 4], &[1, 4, LESS])
    }),
    edge("edge-write-size", |place| {
        write_texture(place, &[12, 13, 14], &[1, 4, LESS])
    }),
    edge("edge-write-length", |place| write_texture(place, &[7], &[LESS])),
    edge("edge-write-offset", |place| write_texture(place, &[8], &[1, 4])),
    edge("edge-write-strides", |place| {
        write_texture(place, &[10, 11], &[LESS, 1, 4])
    }),
];

/// A step of -1.
const LESS: u32 = u32::MAX;

/// Appends a command at an edge that the world has objects for; its name.
pub fn at_edge(
    u: &mut Unstructured<'_>,
    world: &World,
    ground: &Ground,
    draft: &mut Draft,
) -> Result<Option<&'static str>> {
    let mut place = Place {
        u,
        world,
        ground,
        draft,
        in_bundle: false,
    };
    for _ in 0..4 {
        let edge = &EDGES[below(place.u, EDGES.len() as u32)? as usize];
        if (edge.put)(&mut place)? {
            return Ok(Some(edge.name));
        }
    }
    Ok(None)
}

/// What bundles may hold.
const IN_BUNDLES: [fn(&mut Place<'_, '_, '_>) -> Result<bool>; 5] =
    [vertex_buffer, index_buffer, draw_vertices, draw_instances, draw_indices];

/// The name of [`bundle_at_edge`] in the coverage report.
pub const BUNDLE: &str = "edge-bundle";

/// Adds a bundle of commands of which the last is at an edge, where the world has targets.
pub fn bundle_at_edge(u: &mut Unstructured<'_>, world: &mut World, ground: &Ground) -> Result<Option<&'static str>> {
    let (mut draft, put) = (Draft::default(), *u.choose(&IN_BUNDLES)?);
    let made = put(&mut Place {
        u,
        world,
        ground,
        draft: &mut draft,
        in_bundle: true,
    })?;
    if !made {
        return Ok(None);
    }
    let commands: Vec<(usize, Op)> = wire::bundle_commands(&draft.words)
        .flatten()
        .map(|cmd| (cmd.word, cmd.op))
        .collect();
    let mut refs = Vec::new();
    for (at, kind) in commands.iter().flat_map(|&(start, op)| leaves(&draft.words, start, op)) {
        if matches!(kind, ArgKind::Id(_) | ArgKind::OptionalId(_)) && draft.words[at] != 0 {
            refs.push((at, draft.words[at]));
        }
    }
    for (position, (at, _)) in (1..).zip(&refs) {
        draft.words[*at] = position;
    }
    let refs: Vec<u32> = refs.into_iter().map(|(_, id)| id).collect();
    let body = bundle_body(world.depth, &draft.words);
    world.add(Kind::RenderBundle, &refs, body);
    Ok(Some(BUNDLE))
}

/// A multiple of `step`: the last one up to `most`, the ones beside it, or any up to it.
fn near(u: &mut Unstructured<'_>, most: u32, step: u32) -> Result<u32> {
    let last = most / step;
    Ok(step
        * match below(u, 4)? {
            0 => last,
            1 => last + 1,
            2 => last.saturating_sub(1),
            _ => below(u, last + 1)?,
        })
}

/// The same, and now and then no multiple.
fn near_or_askew(u: &mut Unstructured<'_>, most: u32, step: u32) -> Result<u32> {
    let askew = if once_in(u, 6)? { 1 + below(u, step - 1)? } else { 0 };
    Ok(near(u, most, step)?.saturating_sub(askew))
}

/// A buffer of `usage`, or now and then another.
fn buffer(place: &mut Place<'_, '_, '_>, usage: u32) -> Result<Buffer> {
    let usage = if once_in(place.u, 6)? { 0 } else { usage };
    let buffers: Vec<Buffer> = place.world.buffers_for(usage).collect();
    place.u.choose(&buffers).copied()
}

fn write_buffer(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    let buffer = buffer(place, COPY_DST)?;
    let length = 4 * below(place.u, 3)?;
    let offset = near_or_askew(place.u, buffer.size - length.min(buffer.size), 4)?;
    let at = place.draft.data.len() as u32;
    place.draft.data.extend([7; 8]);
    place.draft.push(Op::WriteBuffer, &[buffer.id, offset, 0, at, length]);
    Ok(true)
}

fn copy_buffers(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    let (src, dst) = (buffer(place, COPY_SRC)?, buffer(place, COPY_DST)?);
    let u = &mut *place.u;
    let size = 4 * below(u, src.size.min(dst.size) / 4 + 1)?;
    let (from, to) = (near(u, src.size - size, 4)?, near(u, dst.size - size, 4)?);
    let args = [src.id, from, 0, dst.id, to, 0, size, 0];
    place.draft.push(Op::CopyBufferToBuffer, &args);
    Ok(true)
}

/// A copy that is in range, of which one number may be no multiple of 4.
fn copy_misaligned(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    let (src, dst) = (buffer(place, COPY_SRC)?, buffer(place, COPY_DST)?);
    let u = &mut *place.u;
    let mut args = [src.id, 4, 0, dst.id, 4, 0, 4, 0];
    args[*u.choose(&[1, 4, 6])?] = 4 - below(u, 4)?;
    place.draft.push(Op::CopyBufferToBuffer, &args);
    Ok(true)
}

/// The other two are 0, so that the device has nothing to do.
fn dispatch(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    if !place.begin_compute()? {
        return Ok(false);
    }
    let mut counts = [0; 3];
    counts[below(place.u, 3)? as usize] = near(place.u, wire::DEFAULT_MAX_WORKGROUPS, 1)?;
    place.draft.push(Op::Dispatch, &counts);
    place.end_pass();
    Ok(true)
}

fn indirect(place: &mut Place<'_, '_, '_>, op: Op, bytes: u32) -> Result<bool> {
    let begun = match op {
        Op::DispatchIndirect => place.begin_compute()?,
        _ => begin_draws(place)?.is_some(),
    };
    if !begun {
        return Ok(false);
    }
    let buffer = buffer(place, INDIRECT)?;
    let offset = near_or_askew(place.u, buffer.size.saturating_sub(bytes), 4)?;
    place.draft.push(op, &[buffer.id, offset, 0]);
    place.end_pass();
    Ok(true)
}

fn bind_group(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    let u = &mut *place.u;
    let (index, count) = (near(u, 3, 1)?, near(u, 2, 1)?);
    let args = [&[index, place.ground.group.id, count][..], &[0; 3][..count as usize]].concat();
    place.draft.push(Op::BeginComputePass, &[]);
    place.draft.push(Op::SetBindGroup, &args);
    place.end_pass();
    Ok(true)
}

fn dynamic_offset(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    let Group { id, behind } = place.ground.group;
    let mut args = [0, id, 2, 0, 0];
    for (offset, behind) in args[3..].iter_mut().zip(behind) {
        let askew = if once_in(place.u, 6)? {
            *place.u.choose(&[4, 32, 64, 128])?
        } else {
            0
        };
        *offset = near(place.u, behind, DYNAMIC_STEP)? + askew;
    }
    place.draft.push(Op::BeginComputePass, &[]);
    place.draft.push(Op::SetBindGroup, &args);
    place.end_pass();
    Ok(true)
}

fn vertex_buffer(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    if !place.begin_render()? {
        return Ok(false);
    }
    let buffer = buffer(place, VERTEX)?;
    let slot = if once_in(place.u, 4)? { near(place.u, 7, 1)? } else { 0 };
    let offset = near_or_askew(place.u, buffer.size, 4)?;
    let size = near(place.u, buffer.size.saturating_sub(offset), 4)?;
    place
        .draft
        .push(Op::SetVertexBuffer, &[slot, buffer.id, offset, 0, size, 0]);
    place.end_pass();
    Ok(true)
}

fn index_buffer(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    if !place.begin_render()? {
        return Ok(false);
    }
    let buffer = buffer(place, INDEX)?;
    let u = &mut *place.u;
    let format = 1 + below(u, 2)?;
    // A uint16 index buffer from a multiple of 2 on is right, and wgpu 30.0.2 panics over it.
    let askew: &[u32] = if format == 1 {
        &[0, 0, 0, 1, 3]
    } else {
        &[0, 0, 0, 1, 2]
    };
    let offset = near(u, buffer.size, 4)?.saturating_sub(*u.choose(askew)?);
    let size = near(u, buffer.size.saturating_sub(offset), 4)?;
    place
        .draft
        .push(Op::SetIndexBuffer, &[buffer.id, format, offset, 0, size, 0]);
    place.end_pass();
    Ok(true)
}

/// A pass with the pipeline and its vertex buffers, each from anywhere to anywhere; the bytes that are set for each.
fn begin_draws(place: &mut Place<'_, '_, '_>) -> Result<Option<[u32; 2]>> {
    let Some(draws) = place.ground.draws else {
        return Ok(None);
    };
    if !place.begin_render()? {
        return Ok(None);
    }
    place.draft.push(Op::SetPipeline, &[draws.pipeline]);
    let mut bytes = [0; 2];
    for (slot, bytes) in (0..).zip(&mut bytes) {
        let (offset, size) = section(place.u, draws.vertex)?;
        *bytes = if size == 0 { draws.vertex.size - offset } else { size };
        let args = [slot, draws.vertex.id, offset, 0, size, 0];
        place.draft.push(Op::SetVertexBuffer, &args);
    }
    Ok(Some(bytes))
}

/// An offset and a size in a buffer, the size 0 for its rest; never nothing, which wgpu's API cannot set.
fn section(u: &mut Unstructured<'_>, buffer: Buffer) -> Result<(u32, u32)> {
    let offset = 4 * below(u, buffer.size / 4)?;
    let rest = (buffer.size - offset) / 4;
    let size = if once_in(u, 2)? { 0 } else { 4 * (1 + below(u, rest)?) };
    Ok((offset, size))
}

/// Elements of the vertex buffer in a slot that so many bytes hold.
fn elements(slot: usize, bytes: [u32; 2]) -> u32 {
    let [stride, last] = STRIDES[slot];
    bytes[slot].checked_sub(last).map_or(0, |rest| rest / stride + 1)
}

fn draw_vertices(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    let Some(bytes) = begin_draws(place)? else {
        return Ok(false);
    };
    let [first, count] = ends_near(place.u, elements(1, bytes))?;
    end_draws(place, Op::Draw, &[count, elements(0, bytes).min(1), first, 0])
}

fn draw_instances(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    let Some(bytes) = begin_draws(place)? else {
        return Ok(false);
    };
    let [first, count] = ends_near(place.u, elements(0, bytes))?;
    end_draws(place, Op::Draw, &[elements(1, bytes).min(3), count, 0, first])
}

fn draw_indices(place: &mut Place<'_, '_, '_>) -> Result<bool> {
    let Some(index) = place.world.index else {
        return Ok(false);
    };
    let Some(bytes) = begin_draws(place)? else {
        return Ok(false);
    };
    let format = 1 + below(place.u, 2)?;
    let (offset, size) = section(place.u, index)?;
    let args = [index.id, format, offset, 0, size, 0];
    place.draft.push(Op::SetIndexBuffer, &args);
    let held = if size == 0 { index.size - offset } else { size };
    let [first, count] = ends_near(place.u, held / if format == 1 { 2 } else { 4 })?;
    end_draws(place, Op::DrawIndexed, &[count, elements(0, bytes).min(1), first, 0, 0])
}

/// Draws and ends the pass; now and then nothing is set any more, after bundles or in a pass of its own.
fn end_draws(place: &mut Place<'_, '_, '_>, op: Op, args: &[u32]) -> Result<bool> {
    if !place.in_bundle && once_in(place.u, 8)? {
        match once_in(place.u, 2)? {
            true => place.draft.push(Op::ExecuteBundles, &[0]),
            false => {
                place.end_pass();
                place.begin_render()?;
            }
        }
    }
    place.draft.push(op, args);
    place.end_pass();
    Ok(true)
}

/// A first element and a count that end about `most`, or there by a sum that passes 2^32.
fn ends_near(u: &mut Unstructured<'_>, most: u32) -> Result<[u32; 2]> {
    if once_in(u, 6)? {
        let before = 1 + below(u, 3)?;
        return Ok([before.wrapping_neg(), before + below(u, most + 1)?]);
    }
    let end = near(u, most, 1)?;
    let first = if once_in(u, 4)? { end } else { below(u, end + 1)? };
    Ok([first, end - first])
}

// Textures.

impl Texture {
    fn is_depth_stencil(&self) -> bool {
        self.format.contains("depth") || self.format.contains("stencil")
    }

    fn block(&self) -> [u32; 3] {
        let [width, height] = Format::named(self.format).map_or([1, 1], Format::block);
        [width, height, 1]
    }

    /// The size of a mip level, in whole texel blocks.
    fn level(&self, mip: u32) -> [u32; 3] {
        let [width, height, third] = self.size;
        let half = |length: u32| (length >> mip).max(1);
        let third = if self.dimension == "3d" { half(third) } else { third };
        let [block_width, block_height, _] = self.block();
        [
            half(width).next_multiple_of(block_width),
            half(height).next_multiple_of(block_height),
            third,
        ]
    }
}

/// A part of a texture.
struct Part {
    mip: u32,
    origin: [u32; 3],
    size: [u32; 3],
    aspect: u32,
}

impl Part {
    fn args(&self, texture: Texture) -> [u32; 6] {
        let [x, y, z] = self.origin;
        [texture.id, self.mip, x, y, z, self.aspect]
    }
}

/// A part that ends with its level, or before. What must be copied as a whole mostly is.
fn part(u: &mut Unstructured<'_>, texture: Texture) -> Result<Part> {
    let mip = below(u, texture.mips)?;
    let (level, block) = (texture.level(mip), texture.block());
    let whole = (texture.is_depth_stencil() || texture.samples > 1) && !once_in(u, 6)?;
    let (mut origin, mut size) = ([0; 3], level);
    for axis in if whole { 2..3 } else { 0..3 } {
        let step = block[axis];
        if once_in(u, 2)? {
            origin[axis] = step * below(u, level[axis] / step)?;
        }
        size[axis] -= origin[axis];
        if once_in(u, 3)? {
            size[axis] = step * below(u, size[axis] / step + 1)?;
        }
    }
    let aspect = aspect(u, texture)?;
    Ok(Part {
        mip,
        origin,
        size,
        aspect,
    })
}

fn aspect(u: &mut Unstructured<'_>, texture: Texture) -> Result<u32> {
    match texture.is_depth_stencil() || once_in(u, 12)? {
        true => below(u, 4),
        false => below(u, 2),
    }
}

/// Moves one of the arguments by one of the steps.
fn step(u: &mut Unstructured<'_>, args: &mut [u32], positions: &[usize], by: &[u32]) -> Result<()> {
    if !positions.is_empty() {
        let at = *u.choose(positions)?;
        args[at] = args[at].wrapping_add(*u.choose(by)?);
    }
    Ok(())
}

fn copy_textures(place: &mut Place<'_, '_, '_>, positions: &[usize], by: &[u32]) -> Result<bool> {
    let u = &mut *place.u;
    let [first, second] = *u.choose(&place.ground.textures)?;
    let (src, dst) = match below(u, 8)? {
        0 => (first, u.choose(&place.ground.textures)?[0]),
        1 | 2 => (first, first),
        3 => (second, first),
        _ => (first, second),
    };
    let from = part(u, src)?;
    let to = part_for(u, dst, src, &from)?;
    let mut args = [&from.args(src)[..], &to.args(dst), &from.size].concat();
    step(u, &mut args, positions, by)?;
    place.draft.push(Op::CopyTextureToTexture, &args);
    Ok(true)
}

/// Where a copy of `from` fits in, mostly; within one texture just behind it, or overlapping it.
fn part_for(u: &mut Unstructured<'_>, texture: Texture, of: Texture, from: &Part) -> Result<Part> {
    let mip = match once_in(u, 6)? {
        true => below(u, texture.mips)?,
        false => from.mip.min(texture.mips - 1),
    };
    let (level, block) = (texture.level(mip), texture.block());
    let mut origin = [0; 3];
    for axis in 0..3 {
        let room = level[axis].saturating_sub(from.size[axis]);
        origin[axis] = block[axis] * below(u, room / block[axis] + 1)?;
    }
    if texture == of && !once_in(u, 4)? {
        origin[2] = from.origin[2] + near(u, from.size[2], 1)?;
    }
    let (size, aspect) = (from.size, aspect(u, texture)?);
    Ok(Part {
        mip,
        origin,
        size,
        aspect,
    })
}

/// A write of just the bytes that it needs, or a few more. A stride may be left out, also where it is needed.
fn write_texture(place: &mut Place<'_, '_, '_>, positions: &[usize], by: &[u32]) -> Result<bool> {
    let u = &mut *place.u;
    let [first, second] = *u.choose(&place.ground.textures)?;
    let texture = if once_in(u, 4)? { second } else { first };
    let part = part(u, texture)?;
    let [width, height, images] = part.size;
    let ([block_width, block_height, _], format) = (texture.block(), Format::named(texture.format));
    let block_bytes = format.and_then(|format| format.bytes_written(part.aspect)).unwrap_or(4);
    let (row, rows) = (width / block_width * block_bytes, height / block_height);
    let (stride, image) = (row + 4 * below(u, 3)?, rows + below(u, 3)?);
    let last_image = if rows == 0 { 0 } else { stride * (rows - 1) + row };
    let needs = if images == 0 {
        0
    } else {
        stride * image * (images - 1) + last_image
    };
    let skip = 4 * below(u, 3)?;
    let length = skip + needs + if once_in(u, 3)? { below(u, 8)? } else { 0 };
    let at = place.draft.data.len() as u32;
    place.draft.data.extend((0..length).map(|byte| byte as u8));
    let mut given = |stride: u32| Ok(if once_in(u, 6)? { LEFT_OUT } else { stride });
    let (stride, image) = (given(stride)?, given(image)?);
    let data = [at, length, skip, 0, stride, image];
    let mut args = [&part.args(texture)[..], &data, &part.size].concat();
    step(u, &mut args, positions, by)?;
    args[7] = args[7].min(length);
    place.draft.push(Op::WriteTexture, &args);
    Ok(true)
}
