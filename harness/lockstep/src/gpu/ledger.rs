//! Differences between CheckRanges or the shadow and an engine that are the engine's own, each with the rule of WebGPU that it breaks.
//!
//! `reference/ENGINES.md` lists them for a reader, together with those that show in no comparison and with those of the strict check
//! ([`crate::oracles::strict::LEDGER`]). A line tolerates a difference and does not ask for it, unlike those of [`crate::ledger`];
//! `tests/gpu_ledger.rs` replays an example, so that a line whose engine was mended is found out.

use serde::Deserialize;
use wire::{Cmd, Kind, Op};

use crate::case::{Object, buffer_facts};

/// How an engine and the harness part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The engine takes what CheckRanges refuses.
    Takes,
    /// It refuses a range that CheckRanges accepts.
    Refuses,
    /// It holds other bytes than the shadow.
    OtherBytes,
}

/// A difference.
#[derive(Clone, Copy, Debug)]
pub struct Difference<'a> {
    /// What kind it is.
    pub how: How,
    /// The command that it is about, where it is about one.
    pub at: Option<&'a Cmd<'a>>,
    /// The stream.
    pub commands: &'a [Cmd<'a>],
    /// The object table.
    pub objects: &'a [Object],
}

/// A tolerated difference.
pub struct Line {
    /// What happens; reports count it by that.
    pub name: &'static str,
    /// The engines: what their ids begin with.
    pub engines: &'static [&'static str],
    /// The versions that were seen to do it.
    pub versions: &'static str,
    /// The rule of WebGPU that they break.
    pub rule: &'static str,
    /// What kind of difference it is.
    pub how: How,
    /// Whether a difference of that kind is it.
    applies: fn(&Difference<'_>) -> bool,
}

/// All of them.
pub const LINES: [Line; 5] = [
    Line {
        name: "a write of 0 bytes past the buffer's end is taken",
        engines: &["deno"],
        versions: "deno 2.9.6 (gfx-rs/wgpu#8920; wgpu 30 refuses it)",
        rule: "GPUQueue.writeBuffer: bufferOffset + contentsSize <= buffer.size",
        how: How::Takes,
        applies: writes_nothing_past_the_end,
    },
    Line {
        name: "memory that a dynamic offset reaches is not zeroed",
        engines: &["deno"],
        versions: "deno 2.9.6 (wgpu 30 zeroes the whole buffer of such a binding)",
        rule: "a buffer's content is zero until it is written (GPUDevice.createBuffer)",
        how: How::OtherBytes,
        applies: sets_a_dynamic_offset,
    },
    Line {
        name: "a clear behind a hole goes to an attachment before it",
        engines: &["wgpu:gl"],
        versions: "wgpu 30.0.2 on GL: `begin_render_pass` of wgpu-hal's gles/command.rs counts the attachments to clear without the holes",
        rule: "GPURenderPassColorAttachment.loadOp: \"clear\" loads clearValue for this attachment",
        how: How::OtherBytes,
        applies: clears_behind_a_hole,
    },
    Line {
        name: "an indexed indirect draw reads its index buffer from the start",
        engines: &["wgpu:gl", "wgpu:vulkan:llvmpipe", "deno"],
        versions: "wgpu 30.0.2 on GL: `draw_indexed_indirect` of wgpu-hal's gles/command.rs leaves the offset out (gpuweb/gpuweb#4490); \
                   Mesa 22.3.6's lavapipe, and deno on it: `handle_draw_indirect` of lvp_execute.c does, and later Mesa does not",
        rule: "setIndexBuffer: offset is where the index data begins in the buffer",
        how: How::OtherBytes,
        applies: draws_past_an_index_offset,
    },
    Line {
        name: "memory of a 3d texture is not zeroed for a copy that begins past its first slice",
        engines: &["deno"],
        versions: "deno 2.9.6 (its wgpu-core takes the slice for an array layer, of which a 3d texture has one; wgpu 30 does not)",
        rule: "a texture's content is zero until it is written (GPUDevice.createTexture)",
        how: How::OtherBytes,
        applies: copies_a_later_slice,
    },
];

fn writes_nothing_past_the_end(difference: &Difference<'_>) -> bool {
    let Some(cmd) = difference
        .at
        .filter(|cmd| cmd.op == Op::WriteBuffer && cmd.args[4] == 0)
    else {
        return false;
    };
    let buffers = buffer_facts(difference.objects);
    let size = buffers
        .iter()
        .find(|buffer| buffer.id == cmd.args[0])
        .map(|buffer| buffer.size);
    size.is_some_and(|size| cmd.u64_at(1) > size)
}

fn sets_a_dynamic_offset(difference: &Difference<'_>) -> bool {
    let sets = |cmd: &Cmd<'_>| cmd.op == Op::SetBindGroup && cmd.args[3..].iter().any(|&offset| offset > 0);
    stream_or_bundle(difference, |commands| commands.iter().any(sets))
}

fn clears_behind_a_hole(difference: &Difference<'_>) -> bool {
    const CLEAR: u32 = 2;
    let mut passes = difference.commands.iter().filter(|cmd| cmd.op == Op::BeginRenderPass);
    passes.any(|pass| {
        let colors = pass.args[1..].chunks_exact(8).take(pass.args[0] as usize);
        colors
            .skip_while(|color| color[0] != 0)
            .any(|color| color[0] != 0 && color[2] == CLEAR)
    })
}

fn copies_a_later_slice(difference: &Difference<'_>) -> bool {
    let is_3d = |id: u32| {
        let texture = difference.objects.iter().rfind(|object| object.id == id);
        let body = texture.and_then(|texture| serde_json::from_str::<serde_json::Value>(&texture.body).ok());
        body.is_some_and(|body| body["dimension"] == "3d")
    };
    // Of each side the texture and its origin's z.
    let later = |cmd: &Cmd<'_>| {
        [0, 6]
            .iter()
            .any(|&side| cmd.args[side + 4] > 0 && is_3d(cmd.args[side]))
    };
    let mut copies = difference
        .commands
        .iter()
        .filter(|cmd| cmd.op == Op::CopyTextureToTexture);
    copies.any(later)
}

fn draws_past_an_index_offset(difference: &Difference<'_>) -> bool {
    stream_or_bundle(difference, |commands| {
        let mut offset = 0;
        commands.iter().any(|cmd| {
            match cmd.op {
                Op::SetIndexBuffer => offset = cmd.u64_at(2),
                // Nothing is set any more.
                Op::BeginRenderPass | Op::ExecuteBundles => offset = 0,
                _ => {}
            }
            cmd.op == Op::DrawIndexedIndirect && offset > 0
        })
    })
}

/// Whether something holds for the commands of the stream or of a bundle that it executes.
fn stream_or_bundle(difference: &Difference<'_>, holds: impl Fn(&[Cmd<'_>]) -> bool) -> bool {
    let executed = |bundle: &&Object| {
        let executes = |cmd: &Cmd<'_>| cmd.op == Op::ExecuteBundles && cmd.args[1..].contains(&bundle.id);
        bundle.kind == Kind::RenderBundle && difference.commands.iter().any(executes)
    };
    let of_bundle = |bundle: &Object| {
        let words = bundle_words(bundle)?;
        wire::decode_bundle(&words).ok().map(|commands| holds(&commands))
    };
    holds(difference.commands)
        || difference
            .objects
            .iter()
            .filter(executed)
            .filter_map(of_bundle)
            .any(|held| held)
}

fn bundle_words(bundle: &Object) -> Option<Vec<u32>> {
    #[derive(Deserialize)]
    struct Body {
        words: Vec<u32>,
    }
    serde_json::from_str::<Body>(&bundle.body).ok().map(|body| body.words)
}

/// The line that explains a difference of an engine.
pub fn line(engine: &str, difference: &Difference<'_>) -> Option<&'static Line> {
    let of_it = |line: &&Line| {
        line.how == difference.how
            && line.engines.iter().any(|name| engine.starts_with(name))
            && (line.applies)(difference)
    };
    LINES.iter().find(of_it)
}
