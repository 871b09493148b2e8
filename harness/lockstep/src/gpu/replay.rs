//! Makes the calls of a stream on a device (wire.md section 4), as [`super::calls`] gives them.
//!
//! Errors of an encoder's calls surface when it is finished. To say which command the device refused, the encoder's calls are
//! recorded again, ever shorter prefixes of them, and the shortest whose finish raises an error ends with that command. A call that
//! wgpu's Rust types cannot make counts as one that the device refuses: nothing more is recorded into that encoder, and its finish
//! raises the error.

use super::calls::{self, Call, Texels};
use super::objects::{Table, draw};
use super::wgpu_engine::Gpu;
use super::{Trouble, TroubleKind};

/// Kinds were looked at when the calls were listed.
const CHECKED: &str = "kinds are checked before a call";

pub(super) struct Replay<'a> {
    gpu: &'a Gpu,
    table: &'a Table,
    /// Each with the index of its command.
    calls: &'a [(usize, Call)],
    data: &'a [u8],
    /// The call of the last Submit, or the end where every encoder is finished because the stream is probed: what is recorded after
    /// it is never finished, so no error of it surfaces.
    last_finish: usize,
    open: Option<Encoder<'a>>,
}

/// The one open encoder.
struct Encoder<'a> {
    encoder: wgpu::CommandEncoder,
    pass: Pass<'a>,
    /// The call that opened it.
    first: usize,
    /// The first call that wgpu's API refuses, and why.
    refused: Option<(usize, String)>,
}

#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
enum Pass<'a> {
    None,
    Render(wgpu::RenderPass<'a>),
    Compute(wgpu::ComputePass<'a>),
}

/// Replays a stream, up to the command `stop_after` where there is one, and says what went wrong first, in stream order.
pub(super) fn replay(
    gpu: &Gpu,
    table: &Table,
    replay: &calls::Replay,
    data: &[u8],
    stop_after: Option<usize>,
) -> Option<Trouble> {
    let last = stop_after.unwrap_or(usize::MAX);
    let end = replay.calls.partition_point(|&(command, _)| command <= last);
    let calls = &replay.calls[..end];
    let last_finish = match stop_after {
        Some(_) => end,
        None => calls.iter().rposition(|call| call.1 == Call::Submit).unwrap_or(0),
    };
    let mut player = Replay {
        gpu,
        table,
        calls,
        data,
        last_finish,
        open: None,
    };
    let made = (0..end).try_for_each(|at| player.make(at));
    let stop = replay.stop.filter(|stop| stop.command <= last);
    match (made, stop) {
        (Err(trouble), _) => Some(trouble),
        (Ok(()), Some(stop)) => Some(Trouble {
            command: Some(stop.command),
            row: None,
            kind: TroubleKind::WrongKind,
            message: stop.to_string(),
        }),
        (Ok(()), None) if stop_after.is_some() => player.finish(end).err(),
        (Ok(()), None) => None,
    }
}

impl<'a> Replay<'a> {
    fn make(&mut self, at: usize) -> Result<(), Trouble> {
        match &self.calls[at].1 {
            Call::CreateCommandEncoder => {
                self.open = Some(Encoder::new(self.gpu, at));
                Ok(())
            }
            call @ (Call::WriteBuffer(..) | Call::WriteTexture(..)) => {
                self.write(call);
                self.check_queue(at)
            }
            Call::Submit => match self.finish(at)? {
                None => Ok(()),
                Some(commands) => {
                    self.gpu.submit([commands])?;
                    self.check_queue(at)
                }
            },
            call => {
                self.record(at, call);
                Ok(())
            }
        }
    }

    fn record(&mut self, at: usize, call: &Call) {
        let Some(open) = self.open.as_mut().filter(|open| open.refused.is_none()) else {
            return;
        };
        if let Err(message) = open.record(call, self.table) {
            open.refused = Some((at, message));
        }
    }

    fn write(&self, call: &Call) {
        let queue = &self.gpu.queue;
        match call {
            Call::WriteBuffer(buffer, offset, bytes) => {
                let buffer = self.table.buffer(*buffer).expect(CHECKED);
                queue.write_buffer(buffer, *offset, &self.data[bytes.clone()]);
            }
            Call::WriteTexture(to, bytes, layout, size) => {
                let layout = wgpu::TexelCopyBufferLayout {
                    offset: layout.offset,
                    bytes_per_row: layout.bytes_per_row,
                    rows_per_image: layout.rows_per_image,
                };
                queue.write_texture(texels(to, self.table), &self.data[bytes.clone()], layout, *size);
            }
            _ => unreachable!("no write"),
        }
    }

    /// The trouble with call `at`.
    fn trouble(&self, at: usize, (kind, message): (TroubleKind, String)) -> Trouble {
        Trouble {
            command: Some(self.calls[at].0),
            row: None,
            kind,
            message,
        }
    }

    /// An error that a call on the queue raised, unless the encoder that was open then holds an earlier one.
    fn check_queue(&mut self, at: usize) -> Result<(), Trouble> {
        let Some(error) = self.gpu.errors.take() else {
            return Ok(());
        };
        self.finish(at)?;
        Err(self.trouble(at, error))
    }

    /// Finishes the open encoder, if there is one, before call `end`, and if the stream does.
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
            (None, Some((at, message))) => Err(self.trouble(at, (TroubleKind::Validation, message))),
            (Some(error), refused) => Err(self.locate(first, refused.map_or(end, |(at, _)| at), error)),
        }
    }

    /// Which of the calls of one encoder, opened by call `first`, raised `error` when it was finished before call `end`.
    fn locate(&self, first: usize, end: usize, error: (TroubleKind, String)) -> Trouble {
        let of_queue = |call: &Call| matches!(call, Call::WriteBuffer(..) | Call::WriteTexture(..));
        let recorded: Vec<usize> = (first + 1..end).filter(|&at| !of_queue(&self.calls[at].1)).collect();
        // The calls up to `good` raise nothing, those up to `raising` do.
        let (mut good, mut raising, mut error) = (0, recorded.len(), error);
        while raising - good > 1 {
            let middle = good.midpoint(raising);
            match self.prefix_error(&recorded[..middle]) {
                Some(earlier) => (raising, error) = (middle, earlier),
                None => good = middle,
            }
        }
        self.trouble(recorded.get(good).copied().unwrap_or(first), error)
    }

    fn prefix_error(&self, prefix: &[usize]) -> Option<(TroubleKind, String)> {
        let mut open = Encoder::new(self.gpu, 0);
        for &at in prefix {
            // None of these was refused by the API the first time.
            open.record(&self.calls[at].1, self.table).ok();
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

    /// Makes a call that goes into an encoder.
    ///
    /// # Errors
    ///
    /// wgpu's Rust types cannot say it.
    fn record(&mut self, call: &Call, table: &'a Table) -> Result<(), String> {
        match (&mut self.pass, call) {
            (Pass::Render(_) | Pass::Compute(_), Call::EndPass) => self.pass = Pass::None,
            (Pass::Render(pass), call) => return in_render_pass(pass, call, table),
            (Pass::Compute(pass), call) => in_compute_pass(pass, call, table),
            (Pass::None, call) => return self.outside(call, table),
        }
        Ok(())
    }

    fn outside(&mut self, call: &Call, table: &Table) -> Result<(), String> {
        let encoder = &mut self.encoder;
        match call {
            Call::BeginComputePass => {
                let pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                self.pass = Pass::Compute(pass.forget_lifetime());
            }
            Call::BeginRenderPass { colors, depth } => {
                self.pass = Pass::Render(begin_render_pass(encoder, colors, depth.as_ref(), table)?);
            }
            Call::CopyBufferToBuffer { src, dst, size } => {
                let buffer = |id: u32| table.buffer(id).expect(CHECKED);
                encoder.copy_buffer_to_buffer(buffer(src.0), src.1, buffer(dst.0), dst.1, *size);
            }
            Call::CopyTextureToTexture(src, dst, size) => {
                encoder.copy_texture_to_texture(texels(src, table), texels(dst, table), *size);
            }
            _ => unreachable!("no call outside a pass"),
        }
        Ok(())
    }
}

fn in_render_pass<'a>(pass: &mut wgpu::RenderPass<'a>, call: &Call, table: &'a Table) -> Result<(), String> {
    match call {
        &Call::SetViewport([x, y, width, height, min, max]) => pass.set_viewport(x, y, width, height, min, max),
        &Call::SetScissorRect([x, y, width, height]) => pass.set_scissor_rect(x, y, width, height),
        Call::SetBlendConstant(color) => pass.set_blend_constant(*color),
        Call::SetStencilReference(reference) => pass.set_stencil_reference(*reference),
        Call::ExecuteBundles(bundles) => {
            pass.execute_bundles(bundles.iter().map(|&id| table.bundle(id).expect(CHECKED)));
        }
        call => draw(pass, call, table)?,
    }
    Ok(())
}

fn in_compute_pass(pass: &mut wgpu::ComputePass<'_>, call: &Call, table: &Table) {
    match call {
        Call::SetPipeline(pipeline) => pass.set_pipeline(table.compute_pipeline(*pipeline).expect(CHECKED)),
        Call::SetBindGroup { index, group, offsets } => {
            pass.set_bind_group(*index, group.and_then(|id| table.bind_group(id)), offsets);
        }
        &Call::Dispatch([x, y, z]) => pass.dispatch_workgroups(x, y, z),
        Call::DispatchIndirect(buffer, offset) => {
            pass.dispatch_workgroups_indirect(table.buffer(*buffer).expect(CHECKED), *offset);
        }
        _ => unreachable!("no call of a compute pass"),
    }
}

// Render passes.

fn begin_render_pass<'a>(
    encoder: &mut wgpu::CommandEncoder,
    colors: &[Option<calls::Color>],
    depth: Option<&calls::Depth>,
    table: &Table,
) -> Result<wgpu::RenderPass<'a>, String> {
    let view = |id: u32| table.view(id).expect(CHECKED).0;
    let color = |color: &calls::Color| wgpu::RenderPassColorAttachment {
        view: view(color.view),
        depth_slice: None,
        resolve_target: color.resolve_target.map(view),
        ops: wgpu::Operations {
            load: color.load,
            store: color.store,
        },
    };
    let colors: Vec<_> = colors.iter().map(|hole| hole.as_ref().map(color)).collect();
    let descriptor = wgpu::RenderPassDescriptor {
        color_attachments: &colors,
        depth_stencil_attachment: depth.map(|depth| depth_attachment(depth, table)).transpose()?,
        ..Default::default()
    };
    Ok(encoder.begin_render_pass(&descriptor).forget_lifetime())
}

fn depth_attachment<'a>(
    depth: &calls::Depth,
    table: &'a Table,
) -> Result<wgpu::RenderPassDepthStencilAttachment<'a>, String> {
    let (view, format) = table.view(depth.view).expect(CHECKED);
    let depth_ops = operations(format.has_depth_aspect(), &depth.depth);
    let stencil_ops = operations(format.has_stencil_aspect(), &depth.stencil);
    Ok(wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: depth_ops.map_err(|why| format!("depth {why}"))?,
        stencil_ops: stencil_ops.map_err(|why| format!("stencil {why}"))?,
    })
}

/// Holds the ops of one aspect to WebGPU's rule (GPURenderPassDepthStencilAttachment): both are there where the format has the
/// aspect and it is written, else neither. wgpu has no word for any other case.
fn operations<V: Copy>(has: bool, aspect: &calls::Aspect<V>) -> Result<Option<wgpu::Operations<V>>, &'static str> {
    match (has && !aspect.read_only, aspect.load, aspect.store) {
        (false, None, None) => Ok(None),
        (false, ..) if has => Err("ops are given for an aspect that is read only"),
        (false, ..) => Err("ops are given for an aspect that the format lacks"),
        (true, Some(load), Some(store)) => Ok(Some(wgpu::Operations { load, store })),
        (true, ..) => Err("ops are missing for an aspect that is written"),
    }
}

fn texels<'a>(place: &Texels, table: &'a Table) -> wgpu::TexelCopyTextureInfo<'a> {
    wgpu::TexelCopyTextureInfo {
        texture: table.texture(place.texture).expect(CHECKED),
        mip_level: place.mip,
        origin: place.origin,
        aspect: place.aspect.unwrap_or(wgpu::TextureAspect::All),
    }
}
