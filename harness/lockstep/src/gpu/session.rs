//! The streams of a recording on wgpu: in order, on one device that has what the program asked for, over objects that last from the first
//! stream to the last (`reference/RECORDING.md`).
//!
//! A [`super::engine::Engine`] makes each stream's objects anew; nothing that one stream leaves in a buffer is there for the next.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

use super::engine::{EngineId, engine_trouble, read_range, unknown};
use super::objects::{Cache, Maker, Table};
use super::replay::replay;
use super::wgpu_engine::{Gpu, adapters, backends_of, one_line};
use super::{Outcome, Trouble, TroubleKind, calls};
use crate::case::{BufferFacts, Object, buffer_facts};
use crate::deep;
use crate::panics::caught;
use crate::recording::{Adapter, Aspect, BufferSide, Copy, Device, Extent, TextureSide};

/// How long a device may work on one stream: what a program's author waited for a GPU, a driver in software takes long for.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long one stream may take as a whole, the first with all objects.
const DEADLINE: Duration = Duration::from_secs(180);
/// A feature that every adapter has and wgpu has no word for.
const CORE: &str = "core-features-and-limits";

/// What is replayed.
#[derive(Clone, Debug, Default)]
pub struct Playlist {
    /// What the program asked of its device.
    pub device: Device,
    /// The object table.
    pub objects: Vec<Object>,
    /// The streams, in order.
    pub steps: Vec<Step>,
}

/// A stream, and what is done after its work.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Words that Remap accepted.
    pub words: Vec<u32>,
    /// The stream's data.
    pub data: Vec<u8>,
    /// A probe, as in [`super::engine::Request`].
    pub stop_after: Option<usize>,
    /// The copies.
    pub copies: Vec<Copy>,
    /// The reads, after the copies.
    pub reads: Vec<wire::Read>,
    /// Bytes of the read window.
    pub window: u32,
}

/// What became of a playlist.
#[derive(Clone, Debug)]
pub struct Played {
    /// The engine.
    pub about: EngineId,
    /// Its adapter, in the words that deno's WebGPU has for it.
    pub adapter: Adapter,
    /// What the program asked for and the adapter lacks.
    pub lacking: Vec<String>,
    /// Why the table is not made; then no stream is replayed.
    pub table: Option<Trouble>,
    /// One for each stream that was replayed. They hold no buffers and textures, and a window only where the engine executes.
    pub steps: Vec<StepPlayed>,
    /// Why it ended before the last stream.
    pub ended: Option<String>,
}

/// What became of a stream.
#[derive(Clone, Debug, Default)]
pub struct StepPlayed {
    /// Its commands and its reads.
    pub outcome: Outcome,
    /// What the device says of its copies.
    pub copies: Option<String>,
}

/// What the thread that plays says.
enum Word {
    Table(Option<Trouble>),
    Step(Box<StepPlayed>),
    Panicked(String),
}

/// Plays the list on the engine of wgpu's that has that id, until `stop` is set: then up to the stream that it is at.
///
/// # Errors
///
/// There is no such engine, or it gives no device.
pub fn play(id: &str, list: &Arc<Playlist>, stop: &AtomicBool) -> anyhow::Result<Played> {
    let found = adapters(backends_of(id)).into_iter().find(|(known, _)| known.id == id);
    let Some((about, adapter)) = found else {
        return Err(unknown(id));
    };
    let (descriptor, lacking) = granted(&adapter, &list.device)?;
    let gpu = Gpu::on(&adapter, &descriptor, PATIENCE).with_context(|| format!("engine {id}"))?;
    let mut played = Played {
        adapter: adapter_words(&adapter.get_info()),
        lacking,
        table: None,
        steps: Vec::new(),
        ended: None,
        about,
    };
    let (say, hear) = channel();
    let (work, executes) = (Arc::clone(list), played.about.executes);
    let longest = list.objects.iter().map(|object| object.body.len()).max();
    let stack = deep::stack(longest.unwrap_or(0));
    let started = thread::Builder::new()
        .stack_size(stack)
        .spawn(move || perform(gpu, &work, executes, &say));
    started.with_context(|| format!("no thread with {} MiB of stack", stack >> 20))?;
    while !stop.load(Ordering::Relaxed) {
        match hear.recv_timeout(DEADLINE) {
            Ok(Word::Table(trouble)) => played.table = trouble,
            Ok(Word::Step(step)) => played.steps.push(*step),
            Ok(Word::Panicked(panic)) => played.ended = Some(format!("wgpu panicked: {}", one_line(&panic))),
            Err(RecvTimeoutError::Disconnected) => return Ok(played),
            Err(RecvTimeoutError::Timeout) => {
                let why = format!("the engine did not come back within {} s", DEADLINE.as_secs());
                played.ended = Some(why);
                return Ok(played);
            }
        }
    }
    Ok(played)
}

/// wgpu's adapter in the words of deno's `GPUAdapterInfo`.
fn adapter_words(info: &wgpu::AdapterInfo) -> Adapter {
    Adapter {
        vendor: info.vendor.to_string(),
        architecture: String::new(),
        device: info.device.to_string(),
        description: info.name.clone(),
    }
}

/// What the program asked for, as far as the adapter has it, and what it lacks.
fn granted(adapter: &wgpu::Adapter, asked: &Device) -> anyhow::Result<(wgpu::DeviceDescriptor<'static>, Vec<String>)> {
    let mut lacking = Vec::new();
    let mut required_features = wgpu::Features::empty();
    for name in asked.required_features.iter().filter(|name| *name != CORE) {
        match name.parse::<wgpu::Features>() {
            Ok(feature) if adapter.features().contains(feature) => required_features |= feature,
            _ => lacking.push(name.clone()),
        }
    }
    // By the names of WebGPU, which are those of their JSON.
    let has = serde_json::to_value(adapter.limits())?;
    let mut limits = serde_json::to_value(wgpu::Limits::default().or_worse_values_from(&adapter.limits()))?;
    for (name, &asked) in &asked.required_limits {
        let (Some(base), Some(has)) = (limits[name].as_u64(), has[name].as_u64()) else {
            lacking.push(name.clone());
            continue;
        };
        let (wanted, best) = match name.starts_with("min") {
            true => (asked.min(base), asked.min(base).max(has)),
            false => (asked.max(base), asked.max(base).min(has)),
        };
        if wanted != best {
            lacking.push(format!("{name} of {asked} (has {has})"));
        }
        limits[name] = best.into();
    }
    let descriptor = wgpu::DeviceDescriptor {
        required_features,
        required_limits: serde_json::from_value(limits)?,
        ..Default::default()
    };
    Ok((descriptor, lacking))
}

/// Plays until a stream breaks the device or nobody listens.
fn perform(gpu: Gpu, list: &Playlist, executes: bool, say: &Sender<Word>) {
    if let Err(panic) = caught(|| play_all(&gpu, list, executes, say)) {
        // Nobody listens any more, or it is heard.
        let _ = say.send(Word::Panicked(panic));
    }
    if !gpu.is_whole() {
        // Dropping a device that hung may hang again.
        std::mem::forget(gpu);
    }
}

fn play_all(gpu: &Gpu, list: &Playlist, executes: bool, say: &Sender<Word>) {
    let mut cache = Cache::default();
    let mut maker = Maker {
        device: &gpu.device,
        errors: &gpu.errors,
        cache: &mut cache,
        room: 0,
    };
    let (table, trouble) = match maker.table(&list.objects) {
        Ok(table) => (Some(table), None),
        Err(trouble) => (None, Some(trouble)),
    };
    let mut heard = say.send(Word::Table(trouble)).is_ok();
    let Some(table) = table else { return };
    let buffers = buffer_facts(&list.objects);
    for step in &list.steps {
        if !heard {
            break;
        }
        let mut played = play_step(gpu, &table, &buffers, step, executes);
        played.outcome.lost = !gpu.is_whole();
        heard = say.send(Word::Step(Box::new(played))).is_ok() && gpu.is_whole();
    }
    if !gpu.is_whole() {
        std::mem::forget(table);
    }
}

fn play_step(gpu: &Gpu, table: &Table, buffers: &[BufferFacts], step: &Step, executes: bool) -> StepPlayed {
    gpu.errors.take();
    let length = u32::try_from(step.data.len()).unwrap_or(u32::MAX);
    let trouble = match wire::decode(&step.words, length) {
        Ok(commands) => {
            let calls = calls::replay(&commands, |id| table.kind(id));
            replay(gpu, table, &calls, &step.data, step.stop_after)
        }
        Err(refusal) => Some(engine_trouble(&format!(
            "the stream is refused, so nothing was called: {refusal}"
        ))),
    };
    let mut played = StepPlayed {
        outcome: Outcome {
            trouble,
            ..Outcome::default()
        },
        copies: copies(gpu, table, &step.copies).err(),
    };
    if executes {
        match reads(gpu, table, buffers, step) {
            Ok(window) => played.outcome.window = window,
            Err(trouble) => drop(played.outcome.trouble.get_or_insert(trouble)),
        }
    }
    played
}

/// Makes the copies with one encoder. Without one, writes that no Submit followed are sent on.
fn copies(gpu: &Gpu, table: &Table, copies: &[Copy]) -> Result<(), String> {
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    for copy in copies {
        encode(&mut encoder, table, copy);
    }
    let commands = encoder.finish();
    let refused = |errors: Option<(TroubleKind, String)>| errors.map_or(Ok(()), |(_, message)| Err(message));
    refused(gpu.errors.take())?;
    gpu.submit([commands]).map_err(|trouble| trouble.message)?;
    gpu.wait().map_err(|trouble| trouble.message)?;
    refused(gpu.errors.take())
}

/// The objects are there and of their kinds: the recording's reader looked.
fn encode(encoder: &mut wgpu::CommandEncoder, table: &Table, copy: &Copy) {
    match copy {
        Copy::ClearBuffer(buffer, offset, size) => {
            let Some(buffer) = table.buffer(buffer.id) else { return };
            encoder.clear_buffer(buffer, *offset, Some(*size));
        }
        Copy::CopyBufferToTexture(from, to, size) => {
            let (Some(from), Some(to)) = (buffer_side(table, from), texture_side(table, to)) else {
                return;
            };
            encoder.copy_buffer_to_texture(from, to, extent(*size));
        }
        Copy::CopyTextureToBuffer(from, to, size) => {
            let (Some(from), Some(to)) = (texture_side(table, from), buffer_side(table, to)) else {
                return;
            };
            encoder.copy_texture_to_buffer(from, to, extent(*size));
        }
    }
}

fn buffer_side<'a>(table: &'a Table, side: &BufferSide) -> Option<wgpu::TexelCopyBufferInfo<'a>> {
    Some(wgpu::TexelCopyBufferInfo {
        buffer: table.buffer(side.buffer.id)?,
        layout: wgpu::TexelCopyBufferLayout {
            offset: side.offset,
            bytes_per_row: side.bytes_per_row,
            rows_per_image: side.rows_per_image,
        },
    })
}

fn texture_side<'a>(table: &'a Table, side: &TextureSide) -> Option<wgpu::TexelCopyTextureInfo<'a>> {
    Some(wgpu::TexelCopyTextureInfo {
        texture: table.texture(side.texture.id)?,
        mip_level: side.mip_level,
        origin: wgpu::Origin3d {
            x: side.origin.x,
            y: side.origin.y,
            z: side.origin.z,
        },
        aspect: match side.aspect {
            Aspect::All => wgpu::TextureAspect::All,
            Aspect::StencilOnly => wgpu::TextureAspect::StencilOnly,
            Aspect::DepthOnly => wgpu::TextureAspect::DepthOnly,
        },
    })
}

fn extent(size: Extent) -> wgpu::Extent3d {
    wgpu::Extent3d {
        width: size.width,
        height: size.height,
        depth_or_array_layers: size.depth_or_array_layers,
    }
}

/// Performs the reads (wire.md section 4, rule 5). Gives the window.
fn reads(gpu: &Gpu, table: &Table, buffers: &[BufferFacts], step: &Step) -> Result<Vec<u8>, Trouble> {
    let mut window = vec![0; step.window as usize];
    for read in &step.reads {
        let refused = |why: String| Trouble {
            command: None,
            row: None,
            kind: TroubleKind::Validation,
            message: format!("read of buffer {}: {why}", read.id),
        };
        let (_, to) = read_range(read, buffers, window.len()).map_err(|why| refused(why.to_owned()))?;
        let buffer = table.buffer(read.id).ok_or_else(|| refused("no buffer".into()))?;
        let range = read.offset..read.offset + u64::from(read.size);
        buffer.map_async(wgpu::MapMode::Read, range.clone(), |_| ());
        gpu.wait()?;
        if let Some((_, why)) = gpu.errors.take() {
            return Err(refused(why));
        }
        let bytes = buffer
            .get_mapped_range(range)
            .map_err(|error| refused(error.to_string()))?;
        window[to].copy_from_slice(&bytes);
        drop(bytes);
        buffer.unmap();
    }
    Ok(window)
}
