//! Makes the calls of a stream (wire.md section 4).
//!
//! Errors of an encoder's calls surface when it is finished. To say which command the device refused, the encoder's commands are
//! recorded again, ever shorter prefixes of them, and the shortest whose finish raises an error ends with that command. A call that
//! wgpu's Rust types cannot make counts as one that the device refuses: nothing more is recorded into that encoder, and its finish
//! raises the error.

use wire::{Cmd, Kind, Op};

use super::engine::Gpu;
use super::objects::{Table, draw};
use super::{Trouble, TroubleKind};

/// Objects were looked at by [`wrong_kind`] before any call is made with them.
const CHECKED: &str = "kinds are checked before a call";

pub(super) struct Replay<'a> {
    gpu: &'a Gpu,
    table: &'a Table,
    commands: &'a [Cmd<'a>],
    data: &'a [u8],
    /// The last Submit, or the end where every encoder is finished because the stream is probed: what is recorded after it is
    /// never finished, so no error of it surfaces.
    last_finish: usize,
    /// Whether the pass that was begun last is a compute pass, in the stream if not in the encoder.
    computes: bool,
    open: Option<Encoder<'a>>,
}

/// The one open encoder.
struct Encoder<'a> {
    encoder: wgpu::CommandEncoder,
    pass: Pass<'a>,
    /// The command that opened it.
    first: usize,
    /// The first command that wgpu's API refuses.
    refused: Option<Trouble>,
}

#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
enum Pass<'a> {
    None,
    Render(wgpu::RenderPass<'a>),
    Compute(wgpu::ComputePass<'a>),
}

impl<'a> Replay<'a> {
    pub(super) fn new(gpu: &'a Gpu, table: &'a Table, commands: &'a [Cmd<'a>], data: &'a [u8]) -> Self {
        let last_finish = commands.iter().rposition(|cmd| cmd.op == Op::Submit).unwrap_or(0);
        Replay {
            gpu,
            table,
            commands,
            data,
            last_finish,
            computes: false,
            open: None,
        }
    }

    /// Replays the stream and says what went wrong first, in stream order.
    pub(super) fn run(mut self, stop_after: Option<usize>) -> Option<Trouble> {
        let end = stop_after.map_or(self.commands.len(), |last| {
            self.commands.len().min(last.saturating_add(1))
        });
        if stop_after.is_some() {
            self.last_finish = end;
        }
        for index in 0..end {
            if let Err(trouble) = self.command(index) {
                return Some(trouble);
            }
        }
        if stop_after.is_some() {
            self.finish(end).err()
        } else {
            None
        }
    }

    fn command(&mut self, index: usize) -> Result<(), Trouble> {
        let cmd = &self.commands[index];
        match cmd.op {
            Op::BeginComputePass => self.computes = true,
            Op::BeginRenderPass => self.computes = false,
            _ => (),
        }
        if let Some(message) = wrong_kind(cmd, self.computes, self.table) {
            return Err(Trouble {
                command: Some(index),
                kind: TroubleKind::WrongKind,
                message,
            });
        }
        match cmd.op {
            Op::ReadBuffer => Ok(()),
            Op::WriteBuffer | Op::WriteTexture => {
                self.write(cmd);
                self.check_queue(index)
            }
            Op::Submit => match self.finish(index)? {
                None => Ok(()),
                Some(commands) => {
                    self.gpu.submit([commands])?;
                    self.check_queue(index)
                }
            },
            _ => {
                self.record(index);
                Ok(())
            }
        }
    }

    fn record(&mut self, index: usize) {
        let open = self.open.get_or_insert_with(|| Encoder::new(self.gpu, index));
        if open.refused.is_some() {
            return;
        }
        if let Err(message) = open.record(&self.commands[index], self.table) {
            open.refused = Some(Trouble {
                command: Some(index),
                kind: TroubleKind::Validation,
                message,
            });
        }
    }

    fn write(&self, cmd: &Cmd<'_>) {
        let a = cmd.args;
        let data = |offset: u32, length: u32| &self.data[offset as usize..][..length as usize];
        if cmd.op == Op::WriteBuffer {
            let buffer = self.table.buffer(a[0]).expect(CHECKED);
            self.gpu.queue.write_buffer(buffer, cmd.u64_at(1), data(a[3], a[4]));
            return;
        }
        let given = |stride: u32| (stride != u32::MAX).then_some(stride);
        let layout = wgpu::TexelCopyBufferLayout {
            offset: cmd.u64_at(8),
            bytes_per_row: given(a[10]),
            rows_per_image: given(a[11]),
        };
        let size = wgpu::Extent3d {
            width: a[12],
            height: a[13],
            depth_or_array_layers: a[14],
        };
        self.gpu
            .queue
            .write_texture(texels(&a[..6], self.table), data(a[6], a[7]), layout, size);
    }

    /// An error that a call on the queue raised, unless the encoder that was open then holds an earlier one.
    fn check_queue(&mut self, index: usize) -> Result<(), Trouble> {
        let Some((kind, message)) = self.gpu.errors.take() else {
            return Ok(());
        };
        self.finish(index)?;
        Err(Trouble {
            command: Some(index),
            kind,
            message,
        })
    }

    /// Finishes the open encoder, if there is one, before command `end`, and if the stream does.
    fn finish(&mut self, end: usize) -> Result<Option<wgpu::CommandBuffer>, Trouble> {
        let Some(Encoder {
            encoder,
            pass,
            first,
            refused,
        }) = self.open.take_if(|open| open.first < self.last_finish)
        else {
            return Ok(None);
        };
        drop(pass);
        let commands = encoder.finish();
        match (self.gpu.errors.take(), refused) {
            (None, None) => Ok(Some(commands)),
            (None, Some(refused)) => Err(refused),
            (Some(error), refused) => Err(self.locate(first, refused.and_then(|r| r.command).unwrap_or(end), error)),
        }
    }

    /// Which of the commands `first..end` of one encoder raised `error` when it was finished.
    fn locate(&self, first: usize, end: usize, error: (TroubleKind, String)) -> Trouble {
        let of_queue = |op: Op| matches!(op, Op::WriteBuffer | Op::WriteTexture | Op::ReadBuffer);
        let recorded: Vec<usize> = (first..end)
            .filter(|&index| !of_queue(self.commands[index].op))
            .collect();
        // The commands up to `good` raise nothing, those up to `raising` do.
        let (mut good, mut raising, mut error) = (0, recorded.len(), error);
        while raising - good > 1 {
            let middle = good.midpoint(raising);
            match self.prefix_error(&recorded[..middle]) {
                Some(earlier) => (raising, error) = (middle, earlier),
                None => good = middle,
            }
        }
        let (kind, message) = error;
        Trouble {
            command: Some(recorded.get(good).copied().unwrap_or(first)),
            kind,
            message,
        }
    }

    fn prefix_error(&self, prefix: &[usize]) -> Option<(TroubleKind, String)> {
        let mut open = Encoder::new(self.gpu, 0);
        for &index in prefix {
            // None of these was refused by the API the first time.
            open.record(&self.commands[index], self.table).ok();
        }
        let Encoder { encoder, pass, .. } = open;
        drop(pass);
        drop(encoder.finish());
        self.gpu.errors.take()
    }
}

impl<'a> Encoder<'a> {
    fn new(gpu: &Gpu, first: usize) -> Self {
        let encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        Encoder {
            encoder,
            pass: Pass::None,
            first,
            refused: None,
        }
    }

    /// Makes the call of a command that goes into an encoder.
    ///
    /// # Errors
    ///
    /// wgpu's Rust types cannot say it.
    fn record(&mut self, cmd: &Cmd<'_>, table: &'a Table) -> Result<(), String> {
        match &mut self.pass {
            Pass::Render(_) | Pass::Compute(_) if cmd.op == Op::EndPass => self.pass = Pass::None,
            Pass::Render(pass) => return in_render_pass(pass, cmd, table),
            Pass::Compute(pass) => in_compute_pass(pass, cmd, table),
            Pass::None => return self.outside(cmd, table),
        }
        Ok(())
    }

    fn outside(&mut self, cmd: &Cmd<'_>, table: &Table) -> Result<(), String> {
        let a = cmd.args;
        let encoder = &mut self.encoder;
        match cmd.op {
            Op::BeginComputePass => {
                let pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                self.pass = Pass::Compute(pass.forget_lifetime());
            }
            Op::BeginRenderPass => self.pass = Pass::Render(begin_render_pass(encoder, a, table)?),
            Op::CopyBufferToBuffer => {
                let buffer = |i: usize| table.buffer(a[i]).expect(CHECKED);
                encoder.copy_buffer_to_buffer(buffer(0), cmd.u64_at(1), buffer(3), cmd.u64_at(4), cmd.u64_at(6));
            }
            Op::CopyTextureToTexture => {
                let size = wgpu::Extent3d {
                    width: a[12],
                    height: a[13],
                    depth_or_array_layers: a[14],
                };
                encoder.copy_texture_to_texture(texels(&a[..6], table), texels(&a[6..12], table), size);
            }
            _ => unreachable!("no command outside a pass"),
        }
        Ok(())
    }
}

fn in_render_pass<'a>(pass: &mut wgpu::RenderPass<'a>, cmd: &Cmd<'_>, table: &'a Table) -> Result<(), String> {
    let a = cmd.args;
    let f = |i: usize| cmd.f32_at(i);
    match cmd.op {
        Op::SetViewport => pass.set_viewport(f(0), f(1), f(2), f(3), f(4), f(5)),
        Op::SetScissorRect => pass.set_scissor_rect(a[0], a[1], a[2], a[3]),
        Op::SetBlendConstant => pass.set_blend_constant(color(a)),
        Op::SetStencilReference => pass.set_stencil_reference(a[0]),
        Op::ExecuteBundles => pass.execute_bundles(a[1..].iter().map(|&id| table.bundle(id).expect(CHECKED))),
        _ => draw(pass, cmd, table)?,
    }
    Ok(())
}

fn in_compute_pass(pass: &mut wgpu::ComputePass<'_>, cmd: &Cmd<'_>, table: &Table) {
    let a = cmd.args;
    match cmd.op {
        Op::SetPipeline => pass.set_pipeline(table.compute_pipeline(a[0]).expect(CHECKED)),
        Op::SetBindGroup => pass.set_bind_group(a[0], table.bind_group(a[1]), &a[3..]),
        Op::Dispatch => pass.dispatch_workgroups(a[0], a[1], a[2]),
        Op::DispatchIndirect => pass.dispatch_workgroups_indirect(table.buffer(a[0]).expect(CHECKED), cmd.u64_at(1)),
        _ => unreachable!("no command of a compute pass"),
    }
}

/// The first of the command's ids, in word order, that names nothing or an object of another kind (wire.md section 4, rule 6).
fn wrong_kind(cmd: &Cmd<'_>, computes: bool, table: &Table) -> Option<String> {
    let pipeline = if computes {
        Kind::ComputePipeline
    } else {
        Kind::RenderPipeline
    };
    let wrong = |i: usize, kind: Kind| {
        let id = cmd.args[i];
        let found = table.kind(id);
        // An id of 0 was refused before where it may not stand.
        (id != 0 && found != Some(kind)).then(|| {
            let found = found.map_or("nothing", Kind::name);
            format!(
                "wrong-kind: id {id} in word {} takes a {} and names {found}",
                cmd.word + 1 + i,
                kind.name()
            )
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

// Render passes.

/// Begins the render pass of a BeginRenderPass with the arguments `a`.
fn begin_render_pass<'a>(
    encoder: &mut wgpu::CommandEncoder,
    a: &[u32],
    table: &Table,
) -> Result<wgpu::RenderPass<'a>, String> {
    let (colors, rest) = a[1..].split_at(8 * a[0] as usize);
    let colors: Vec<_> = colors
        .as_chunks()
        .0
        .iter()
        .map(|color| color_attachment(color, table))
        .collect();
    let depth = rest[1..]
        .first_chunk()
        .map(|depth| depth_attachment(depth, table))
        .transpose()?;
    let descriptor = wgpu::RenderPassDescriptor {
        color_attachments: &colors,
        depth_stencil_attachment: depth,
        ..Default::default()
    };
    Ok(encoder.begin_render_pass(&descriptor).forget_lifetime())
}

fn color_attachment<'a>(a: &[u32; 8], table: &'a Table) -> Option<wgpu::RenderPassColorAttachment<'a>> {
    let &[view, resolve_target, load, store, ..] = a;
    // A view of 0 is a hole.
    let (view, _) = table.view(view)?;
    Some(wgpu::RenderPassColorAttachment {
        view,
        depth_slice: None,
        resolve_target: table.view(resolve_target).map(|(view, _)| view),
        ops: wgpu::Operations {
            load: load_op(load, color(&a[4..])),
            store: store_op(store),
        },
    })
}

fn depth_attachment<'a>(a: &[u32; 9], table: &'a Table) -> Result<wgpu::RenderPassDepthStencilAttachment<'a>, String> {
    let &[
        view,
        load,
        store,
        clear,
        read_only,
        stencil_load,
        stencil_store,
        stencil_clear,
        stencil_read_only,
    ] = a;
    let (view, format) = table.view(view).expect(CHECKED);
    let depth = aspect_ops(format.has_depth_aspect(), read_only == 1, load, store);
    let stencil = aspect_ops(
        format.has_stencil_aspect(),
        stencil_read_only == 1,
        stencil_load,
        stencil_store,
    );
    let clear = f32::from_bits(clear);
    Ok(wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: operations(depth.map_err(|why| format!("depth {why}"))?, clear),
        stencil_ops: operations(stencil.map_err(|why| format!("stencil {why}"))?, stencil_clear),
    })
}

/// Holds the ops of one aspect to WebGPU's rule (GPURenderPassDepthStencilAttachment): both are there where the format has the
/// aspect and it is written, else neither. wgpu has no word for any other case.
fn aspect_ops(has: bool, read_only: bool, load: u32, store: u32) -> Result<Option<(u32, u32)>, &'static str> {
    match (has && !read_only, load, store) {
        (false, 0, 0) => Ok(None),
        (false, ..) if has => Err("ops are given for an aspect that is read only"),
        (false, ..) => Err("ops are given for an aspect that the format lacks"),
        (true, 0, _) | (true, _, 0) => Err("ops are missing for an aspect that is written"),
        (true, load, store) => Ok(Some((load, store))),
    }
}

fn operations<V>(ops: Option<(u32, u32)>, clear: V) -> Option<wgpu::Operations<V>> {
    ops.map(|(load, store)| wgpu::Operations {
        load: load_op(load, clear),
        store: store_op(store),
    })
}

fn load_op<V>(op: u32, clear: V) -> wgpu::LoadOp<V> {
    if op == 1 {
        wgpu::LoadOp::Load
    } else {
        wgpu::LoadOp::Clear(clear)
    }
}

fn store_op(op: u32) -> wgpu::StoreOp {
    if op == 1 {
        wgpu::StoreOp::Store
    } else {
        wgpu::StoreOp::Discard
    }
}

/// The color whose four floats `words` begins with.
fn color(words: &[u32]) -> wgpu::Color {
    let part = |i: usize| f64::from(f32::from_bits(words[i]));
    wgpu::Color {
        r: part(0),
        g: part(1),
        b: part(2),
        a: part(3),
    }
}

/// The place in a texture that the six words texture, mip, x, y, z, aspect name.
fn texels<'a>(words: &[u32], table: &'a Table) -> wgpu::TexelCopyTextureInfo<'a> {
    wgpu::TexelCopyTextureInfo {
        texture: table.texture(words[0]).expect(CHECKED),
        mip_level: words[1],
        origin: wgpu::Origin3d {
            x: words[2],
            y: words[3],
            z: words[4],
        },
        aspect: match words[5] {
            2 => wgpu::TextureAspect::StencilOnly,
            3 => wgpu::TextureAspect::DepthOnly,
            _ => wgpu::TextureAspect::All,
        },
    }
}
