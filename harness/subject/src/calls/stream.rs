//! Section 4 of wire.md: from commands to calls.

use std::ops::Range;

use wgpu_types::{Extent3d, IndexFormat, LoadOp, Origin3d, StoreOp, TextureAspect};
use wire::{Cmd, Kind, LEFT_OUT, Op};

/// A call of section 4's table, on the queue, the open encoder or the open pass. Objects are the replayer's ids; `None` is what the
/// call leaves out, and an object that it passes as null.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// `device.createCommandEncoder()`, where rule 2 says.
    CreateCommandEncoder,
    /// Op 1: a render pipeline in a render pass and in a bundle, a compute pipeline in a compute pass.
    SetPipeline(u32),
    /// Op 2.
    SetBindGroup {
        /// The index.
        index: u32,
        /// The bind group, none for null.
        group: Option<u32>,
        /// The dynamic offsets.
        offsets: Vec<u32>,
    },
    /// Op 3: vertices, instances, the first of each.
    Draw([u32; 4]),
    /// Op 4.
    DrawIndexed {
        /// Indices, instances and the first index.
        counts: [u32; 3],
        /// What is added to each index.
        base_vertex: i32,
        /// The first instance.
        first_instance: u32,
    },
    /// Op 5: the slot and the buffer, none for null.
    SetVertexBuffer(u32, Option<Section>),
    /// Op 6.
    SetIndexBuffer(Section, IndexFormat),
    /// Op 7: x, y, width, height, least and greatest depth.
    SetViewport([f32; 6]),
    /// Op 8: x, y, width, height.
    SetScissorRect([u32; 4]),
    /// Op 9.
    SetBlendConstant(wgpu_types::Color),
    /// Op 10.
    SetStencilReference(u32),
    /// Op 11.
    ExecuteBundles(Vec<u32>),
    /// Op 12: the buffer and the offset.
    DrawIndirect(u32, u64),
    /// Op 13: the buffer and the offset.
    DrawIndexedIndirect(u32, u64),
    /// Op 20.
    BeginRenderPass {
        /// The color attachments, none for a hole.
        colors: Vec<Option<Color>>,
        /// The depth attachment.
        depth: Option<Depth>,
    },
    /// Op 21.
    EndPass,
    /// Op 22.
    BeginComputePass,
    /// Op 23: x, y and z.
    Dispatch([u32; 3]),
    /// Op 24: the buffer and the offset.
    DispatchIndirect(u32, u64),
    /// Op 30: the buffer, the offset and the bytes of the stream's data.
    WriteBuffer(u32, u64, Range<usize>),
    /// Op 31.
    CopyBufferToBuffer {
        /// The source and the offset in it.
        src: (u32, u64),
        /// The destination and the offset in it.
        dst: (u32, u64),
        /// Bytes.
        size: u64,
    },
    /// Op 32: from, to, how much.
    CopyTextureToTexture(Texels, Texels, Extent3d),
    /// Op 33: to, the bytes of the stream's data, their layout, how much.
    WriteTexture(Texels, Range<usize>, DataLayout, Extent3d),
    /// Op 40, with an encoder open: `encoder.finish()` and `queue.submit([commands])`.
    Submit,
}

/// A buffer from an offset on, to its end where no size is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// The buffer.
    pub buffer: u32,
    /// The offset.
    pub offset: u64,
    /// The size, left out when the stream says 0.
    pub size: Option<u64>,
}

/// A color attachment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    /// The view.
    pub view: u32,
    /// The resolve target.
    pub resolve_target: Option<u32>,
    /// The load op, and with `clear` the value.
    pub load: LoadOp<wgpu_types::Color>,
    /// The store op.
    pub store: StoreOp,
}

/// A depth and stencil attachment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// The view.
    pub view: u32,
    /// What becomes of depth.
    pub depth: Aspect<f32>,
    /// What becomes of stencil.
    pub stencil: Aspect<u32>,
}

/// What a pass does with one aspect of its depth and stencil attachment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aspect<V> {
    /// The load op, and with `clear` the value.
    pub load: Option<LoadOp<V>>,
    /// The store op.
    pub store: Option<StoreOp>,
    /// Whether it is read only.
    pub read_only: bool,
}

/// A place in a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texels {
    /// The texture.
    pub texture: u32,
    /// The mip level.
    pub mip: u32,
    /// Where in it.
    pub origin: Origin3d,
    /// The aspect.
    pub aspect: Option<TextureAspect>,
}

/// Where texels stand in the bytes that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// The offset.
    pub offset: u64,
    /// Bytes from row to row.
    pub bytes_per_row: Option<u32>,
    /// Rows from image to image.
    pub rows_per_image: Option<u32>,
}

/// A replay: its calls, each with the index of its command, and where it stopped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// Command and call.
    pub calls: Vec<(usize, Call)>,
    /// The stop of rule 6.
    pub stop: Option<Stop>,
}

/// An id that names nothing, or an object of another kind than its argument takes (rule 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wrong-kind: id {id} in word {word} takes a {} and names {}", .takes.name(), .names.map_or("nothing", Kind::name))]
pub struct Stop {
    /// The command's index.
    pub command: usize,
    /// The argument's word.
    pub word: usize,
    /// The id.
    pub id: u32,
    /// What the argument takes.
    pub takes: Kind,
    /// What the id names.
    pub names: Option<Kind>,
}

/// The calls of a stream that Decode accepts, or of a bundle's words, whose pass is the bundle encoder. `kind` says what an id names.
pub fn replay(commands: &[Cmd<'_>], kind: impl Fn(u32) -> Option<Kind>) -> Replay {
    let mut replay = Replay::default();
    // A bundle takes what a render pass takes.
    let mut pipeline = Kind::RenderPipeline;
    let mut open = false;
    for (command, cmd) in commands.iter().enumerate() {
        match cmd.op {
            Op::BeginRenderPass => pipeline = Kind::RenderPipeline,
            Op::BeginComputePass => pipeline = Kind::ComputePipeline,
            _ => {}
        }
        if let Some(stop) = wrong_kind(command, cmd, pipeline, &kind) {
            replay.stop = Some(stop);
            break;
        }
        if opens_encoder(cmd.op) && !open {
            open = true;
            replay.calls.push((command, Call::CreateCommandEncoder));
        }
        match cmd.op {
            // A host performs it (rule 5).
            Op::ReadBuffer => continue,
            Op::Submit if !open => continue,
            Op::Submit => open = false,
            _ => {}
        }
        replay.calls.push((command, call(cmd)));
    }
    replay
}

fn opens_encoder(op: Op) -> bool {
    matches!(
        op,
        Op::BeginRenderPass | Op::BeginComputePass | Op::CopyBufferToBuffer | Op::CopyTextureToTexture
    )
}

/// The first of the command's ids, in word order, that names nothing or an object of another kind.
fn wrong_kind(command: usize, cmd: &Cmd<'_>, pipeline: Kind, kind: impl Fn(u32) -> Option<Kind>) -> Option<Stop> {
    let wrong = |i: usize, takes: Kind| {
        let id = cmd.args[i];
        let names = if id == 0 { None } else { kind(id) };
        // An id of 0 was refused before where it may not stand.
        (id != 0 && names != Some(takes)).then_some(Stop {
            command,
            word: cmd.word + 1 + i,
            id,
            takes,
            names,
        })
    };
    match cmd.op {
        Op::SetPipeline => wrong(0, pipeline),
        Op::SetBindGroup => wrong(1, Kind::BindGroup),
        Op::SetVertexBuffer => wrong(1, Kind::Buffer),
        Op::SetIndexBuffer
        | Op::DrawIndirect
        | Op::DrawIndexedIndirect
        | Op::DispatchIndirect
        | Op::WriteBuffer
        | Op::ReadBuffer => wrong(0, Kind::Buffer),
        Op::CopyBufferToBuffer => wrong(0, Kind::Buffer).or_else(|| wrong(3, Kind::Buffer)),
        Op::CopyTextureToTexture => wrong(0, Kind::Texture).or_else(|| wrong(6, Kind::Texture)),
        Op::WriteTexture => wrong(0, Kind::Texture),
        Op::ExecuteBundles => (1..cmd.args.len()).find_map(|i| wrong(i, Kind::RenderBundle)),
        Op::BeginRenderPass => {
            let colors = cmd.args[0] as usize;
            let depth = 2 + 8 * colors;
            let views = (0..colors).flat_map(|color| [1 + 8 * color, 2 + 8 * color]);
            let views = views.chain((depth < cmd.args.len()).then_some(depth));
            views.into_iter().find_map(|i| wrong(i, Kind::TextureView))
        }
        _ => None,
    }
}

/// The call of a command whose ids name what they should.
fn call(cmd: &Cmd<'_>) -> Call {
    let a = cmd.args;
    let wide = |i: usize| cmd.u64_at(i);
    match cmd.op {
        Op::SetPipeline => Call::SetPipeline(a[0]),
        Op::SetBindGroup => Call::SetBindGroup {
            index: a[0],
            group: some_id(a[1]),
            offsets: a[3..].into(),
        },
        Op::Draw => Call::Draw([a[0], a[1], a[2], a[3]]),
        Op::DrawIndexed => Call::DrawIndexed {
            counts: [a[0], a[1], a[2]],
            base_vertex: cmd.i32_at(3),
            first_instance: a[4],
        },
        Op::SetVertexBuffer => Call::SetVertexBuffer(a[0], some_id(a[1]).map(|id| section(id, wide(2), wide(4)))),
        Op::SetIndexBuffer => Call::SetIndexBuffer(section(a[0], wide(2), wide(4)), index_format(a[1])),
        Op::SetViewport => Call::SetViewport([0, 1, 2, 3, 4, 5].map(|i| cmd.f32_at(i))),
        Op::SetScissorRect => Call::SetScissorRect([a[0], a[1], a[2], a[3]]),
        Op::SetBlendConstant => Call::SetBlendConstant(color_value(a)),
        Op::SetStencilReference => Call::SetStencilReference(a[0]),
        Op::ExecuteBundles => Call::ExecuteBundles(a[1..].into()),
        Op::DrawIndirect => Call::DrawIndirect(a[0], wide(1)),
        Op::DrawIndexedIndirect => Call::DrawIndexedIndirect(a[0], wide(1)),
        Op::BeginRenderPass => begin_render_pass(a),
        Op::EndPass => Call::EndPass,
        Op::BeginComputePass => Call::BeginComputePass,
        Op::Dispatch => Call::Dispatch([a[0], a[1], a[2]]),
        Op::DispatchIndirect => Call::DispatchIndirect(a[0], wide(1)),
        Op::WriteBuffer => Call::WriteBuffer(a[0], wide(1), bytes(a[3], a[4])),
        Op::CopyBufferToBuffer => Call::CopyBufferToBuffer {
            src: (a[0], wide(1)),
            dst: (a[3], wide(4)),
            size: wide(6),
        },
        Op::CopyTextureToTexture => Call::CopyTextureToTexture(texels(a), texels(&a[6..]), extent(&a[12..])),
        Op::WriteTexture => Call::WriteTexture(
            texels(a),
            bytes(a[6], a[7]),
            layout(wide(8), a[10], a[11]),
            extent(&a[12..]),
        ),
        Op::ReadBuffer => unreachable!("a ReadBuffer makes no call"),
        Op::Submit => Call::Submit,
    }
}

fn some_id(id: u32) -> Option<u32> {
    (id != 0).then_some(id)
}

fn section(buffer: u32, offset: u64, size: u64) -> Section {
    Section {
        buffer,
        offset,
        size: (size != 0).then_some(size),
    }
}

fn index_format(word: u32) -> IndexFormat {
    if word == 1 {
        IndexFormat::Uint16
    } else {
        IndexFormat::Uint32
    }
}

/// The color whose four floats `a` begins with; an f64 holds each exactly.
fn color_value(a: &[u32]) -> wgpu_types::Color {
    let part = |i: usize| f64::from(f32::from_bits(a[i]));
    wgpu_types::Color {
        r: part(0),
        g: part(1),
        b: part(2),
        a: part(3),
    }
}

fn begin_render_pass(a: &[u32]) -> Call {
    let (colors, depth) = a[1..].split_at(8 * a[0] as usize);
    Call::BeginRenderPass {
        colors: colors.as_chunks().0.iter().map(color).collect(),
        // The first word says whether there is one.
        depth: depth[1..].first_chunk().map(depth_attachment),
    }
}

/// A color attachment, none for a hole.
fn color(a: &[u32; 8]) -> Option<Color> {
    let &[view, resolve_target, load, store, ..] = a;
    Some(Color {
        view: some_id(view)?,
        resolve_target: some_id(resolve_target),
        load: load_op(load, color_value(&a[4..]))?,
        store: store_op(store)?,
    })
}

fn depth_attachment(a: &[u32; 9]) -> Depth {
    Depth {
        view: a[0],
        depth: Aspect {
            load: load_op(a[1], f32::from_bits(a[3])),
            store: store_op(a[2]),
            read_only: a[4] == 1,
        },
        stencil: Aspect {
            load: load_op(a[5], a[7]),
            store: store_op(a[6]),
            read_only: a[8] == 1,
        },
    }
}

fn load_op<V>(word: u32, clear: V) -> Option<LoadOp<V>> {
    match word {
        1 => Some(LoadOp::Load),
        2 => Some(LoadOp::Clear(clear)),
        _ => None,
    }
}

fn store_op(word: u32) -> Option<StoreOp> {
    match word {
        1 => Some(StoreOp::Store),
        2 => Some(StoreOp::Discard),
        _ => None,
    }
}

/// The place that the words texture, mip, x, y, z, aspect name.
fn texels(a: &[u32]) -> Texels {
    Texels {
        texture: a[0],
        mip: a[1],
        origin: Origin3d {
            x: a[2],
            y: a[3],
            z: a[4],
        },
        aspect: match a[5] {
            1 => Some(TextureAspect::All),
            2 => Some(TextureAspect::StencilOnly),
            3 => Some(TextureAspect::DepthOnly),
            _ => None,
        },
    }
}

fn layout(offset: u64, bytes_per_row: u32, rows_per_image: u32) -> DataLayout {
    let given = |stride: u32| (stride != LEFT_OUT).then_some(stride);
    DataLayout {
        offset,
        bytes_per_row: given(bytes_per_row),
        rows_per_image: given(rows_per_image),
    }
}

fn extent(a: &[u32]) -> Extent3d {
    Extent3d {
        width: a[0],
        height: a[1],
        depth_or_array_layers: a[2],
    }
}

fn bytes(offset: u32, length: u32) -> Range<usize> {
    offset as usize..offset as usize + length as usize
}
