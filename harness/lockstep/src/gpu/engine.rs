//! Engines: wgpu on each adapter that is there, and its noop backend.
//!
//! wgpu reports errors by calling back, in the thread and during the call that raised them. So the device's one handler of
//! uncaptured errors serves as the error scope of every call: it keeps the first error until somebody takes it. Unlike pushed scopes
//! it costs nothing while nothing goes wrong, and it sees validation, memory and internal errors alike.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SendError, sync_channel};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use wire::Op;

use super::objects::{Cache, Maker, Table};
use super::readback::{self, Staging};
use super::replay::replay;
use super::{Outcome, Trouble, TroubleKind, calls};
use crate::case::Object;
use crate::deep;
use crate::files::slug;

/// How long a device may work on one stream.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a replay may take as a whole. GL has no wait with an end: Mesa's software driver works in the calling thread.
const DEADLINE: Duration = Duration::from_secs(30);
/// What one dispatch may ask for in each dimension (wire.md section 5), and WebGPU's default.
const WORKGROUPS: u32 = 65535;

/// An engine that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineId {
    /// Its name, such as `wgpu:vulkan:llvmpipe`.
    pub id: String,
    /// The driver's own name and version.
    pub driver: String,
    /// Whether it executes what it validates.
    pub executes: bool,
}

/// One stream to replay.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The object table, every reference after what it names.
    pub objects: &'a [Object],
    /// Words that Remap accepted, in the replayer's ids.
    pub words: &'a [u32],
    /// The stream's data.
    pub data: &'a [u8],
    /// A probe: commands after this index are not made, the open pass is ended and the open encoder finished, but not submitted,
    /// also where no Submit follows, so that what the device has to say about the command is known.
    pub stop_after: Option<usize>,
    /// The ReadBuffers to perform, in stream order, one for each of the stream's or none at all (wire.md section 4, rule 5).
    pub reads: &'a [wire::Read],
    /// Bytes of the read window.
    pub window: u32,
}

/// A device of wgpu's, or of its noop backend, that replays streams one after the other.
#[derive(Debug)]
pub struct Engine {
    id: EngineId,
    adapter: wgpu::Adapter,
    /// `None` after a loss that could not be mended; the next replay tries again.
    gpu: Option<Gpu>,
}

/// A device and what is kept for it from case to case.
#[derive(Debug)]
pub(super) struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) errors: Arc<Errors>,
    /// The queue did not finish its work in time.
    hung: Cell<bool>,
    cache: Cache,
    staging: Staging,
}

/// What a device reported and nobody took yet.
#[derive(Debug, Default)]
pub(super) struct Errors {
    first: Mutex<Option<(TroubleKind, String)>>,
    lost: AtomicBool,
}

impl Errors {
    /// The first error since the last call.
    pub(super) fn take(&self) -> Option<(TroubleKind, String)> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn keep(&self, error: &wgpu::Error) {
        let kind = match error {
            wgpu::Error::Validation { .. } => TroubleKind::Validation,
            wgpu::Error::OutOfMemory { .. } | wgpu::Error::Internal { .. } => TroubleKind::Engine,
        };
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert_with(|| (kind, one_line(&error.to_string())));
    }
}

/// wgpu prints a chain of causes as an indented tree under a headline that says nothing.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let causes = lines.filter(|line| !matches!(*line, "Validation Error" | "Caused by:"));
    causes.collect::<Vec<_>>().join(": ")
}

impl Engine {
    /// What can be opened here: every adapter, the fastest kind first, and last the noop backend.
    pub fn available() -> Vec<EngineId> {
        adapters(wgpu::Backends::PRIMARY | wgpu::Backends::SECONDARY | wgpu::Backends::NOOP)
            .into_iter()
            .map(|(id, _)| id)
            .collect()
    }

    /// Opens the engine of that id, or the first whose id begins with it: `wgpu:vulkan` is the best Vulkan adapter, `wgpu` the best
    /// adapter of all.
    ///
    /// # Errors
    ///
    /// No such engine is here (the message names those that are), or it gives no device, or not one that may dispatch the 65535
    /// workgroups of wire.md section 5.
    pub fn open(id: &str) -> anyhow::Result<Engine> {
        silence_guarded_panics();
        let begins = |known: &str| {
            known
                .strip_prefix(id)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        let found = adapters(backends_of(id))
            .into_iter()
            .find(|(known, _)| begins(&known.id));
        let Some((id, adapter)) = found else {
            let here: Vec<_> = Engine::available().into_iter().map(|engine| engine.id).collect();
            bail!("no engine `{id}` here; there is {}", here.join(", "));
        };
        let gpu = Gpu::new(&adapter).with_context(|| format!("engine {}", id.id))?;
        Ok(Engine {
            id,
            adapter,
            gpu: Some(gpu),
        })
    }

    /// Its name.
    pub fn id(&self) -> &str {
        &self.id.id
    }

    /// Its driver's name and version.
    pub fn driver(&self) -> &str {
        &self.id.driver
    }

    /// Whether it executes what it validates. The noop backend does not, and its outcomes hold no memory.
    pub fn executes(&self) -> bool {
        self.id.executes
    }

    /// Replays a stream as wire.md section 4 says, on objects made for it alone.
    ///
    /// Errors of an encoder's calls are raised when it is finished, and are then traced to their command. The trouble in the outcome
    /// is that of the first command in stream order; writes that stand between it and the Submit that raised it were made. The
    /// reads are performed also after a trouble. An outcome has a read window only where there were reads.
    pub fn replay(&mut self, request: &Request<'_>) -> Outcome {
        let gpu = match self.gpu.take().map_or_else(|| Gpu::new(&self.adapter), Ok) {
            Ok(gpu) => gpu,
            Err(error) => {
                return Outcome {
                    lost: true,
                    ..stopped(format!("{error:#}"))
                };
            }
        };
        let (gpu, outcome) = match in_time(gpu, request, self.id.executes) {
            Ok(ended) => ended,
            Err(why) => {
                self.open_anew();
                return Outcome {
                    lost: true,
                    ..stopped(why)
                };
            }
        };
        let lost = outcome.is_err() || gpu.hung.get() || gpu.errors.lost.load(Ordering::Acquire);
        let mut outcome = outcome.unwrap_or_else(stopped);
        if !lost {
            self.gpu = Some(gpu);
            return outcome;
        }
        outcome.lost = true;
        let trouble = outcome
            .trouble
            .get_or_insert_with(|| engine_trouble("no call raised an error"));
        if trouble.kind != TroubleKind::Engine {
            // On a lost device calls fail silently, and then others over what those did not make.
            *trouble = Trouble {
                kind: TroubleKind::Engine,
                message: format!("the device was lost: {}", trouble.message),
                ..*trouble
            };
        }
        self.renew(gpu);
        outcome
    }

    /// Makes a new device in the place of a lost one.
    fn renew(&mut self, lost: Gpu) {
        if lost.hung.get() {
            // Dropping a queue waits for its work, and lavapipe's devices of one instance share the threads that do it.
            std::mem::forget(lost);
            self.open_anew();
        } else {
            quietly(|| catch_unwind(AssertUnwindSafe(|| drop(lost)))).ok();
            self.gpu = Gpu::new(&self.adapter).ok();
        }
    }

    /// Opens adapter and device once more, in an instance of their own: those of before still work.
    fn open_anew(&mut self) {
        let anew = adapters(backends_of(self.id()))
            .into_iter()
            .find(|(id, _)| *id == self.id);
        if let Some((_, adapter)) = anew {
            std::mem::forget(std::mem::replace(&mut self.adapter, adapter));
        }
        self.gpu = Gpu::new(&self.adapter).ok();
    }

    /// Destroys the device under the engine, as a driver that crashes would; the next replay is lost.
    #[doc(hidden)]
    pub fn lose(&self) {
        if let Some(gpu) = &self.gpu {
            gpu.device.destroy();
        }
    }
}

/// What a replay comes to: its outcome, or what wgpu panicked over.
type Replayed = Result<Outcome, String>;

/// Replays in a thread of its own, which is left to itself once it takes too long. Its stack is deep enough for every shader.
///
/// # Errors
///
/// It took too long, or there is no such thread; the device is gone then.
fn in_time(gpu: Gpu, request: &Request<'_>, executes: bool) -> Result<(Gpu, Replayed), String> {
    let work = Work::of(request);
    let (ended, outcome) = sync_channel(1);
    let replay = move || {
        let mut gpu = gpu;
        let run = || catch_unwind(AssertUnwindSafe(|| gpu.replay(&work.request(), executes)));
        let outcome = quietly(run).map_err(|panic| format!("wgpu panicked: {}", panic_text(&*panic)));
        if let Err(SendError(too_late)) = ended.send((gpu, outcome)) {
            // Dropping a device that hung may hang again.
            std::mem::forget(too_late);
        }
    };
    let bodies = request.objects.iter().map(|object| object.body.len());
    let stack = deep::stack(bodies.max().unwrap_or(0));
    let started = thread::Builder::new().stack_size(stack).spawn(replay);
    started.map_err(|error| format!("no thread with {} MiB of stack: {error}", stack >> 20))?;
    outcome
        .recv_timeout(DEADLINE)
        .map_err(|_| format!("the engine did not come back within {} s", DEADLINE.as_secs()))
}

/// A request that a thread owns.
struct Work {
    objects: Vec<Object>,
    words: Vec<u32>,
    data: Vec<u8>,
    stop_after: Option<usize>,
    reads: Vec<wire::Read>,
    window: u32,
}

impl Work {
    fn of(request: &Request<'_>) -> Work {
        Work {
            objects: request.objects.to_vec(),
            words: request.words.to_vec(),
            data: request.data.to_vec(),
            stop_after: request.stop_after,
            reads: request.reads.to_vec(),
            window: request.window,
        }
    }

    fn request(&self) -> Request<'_> {
        Request {
            objects: &self.objects,
            words: &self.words,
            data: &self.data,
            stop_after: self.stop_after,
            reads: &self.reads,
            window: self.window,
        }
    }
}

fn stopped(message: String) -> Outcome {
    Outcome {
        trouble: Some(engine_trouble(&message)),
        ..Outcome::default()
    }
}

fn engine_trouble(message: &str) -> Trouble {
    Trouble {
        command: None,
        kind: TroubleKind::Engine,
        message: message.into(),
    }
}

impl Gpu {
    fn new(adapter: &wgpu::Adapter) -> anyhow::Result<Gpu> {
        let required_limits = wgpu::Limits::default().or_worse_values_from(&adapter.limits());
        let workgroups = required_limits.max_compute_workgroups_per_dimension;
        if workgroups != WORKGROUPS {
            bail!("it dispatches at most {workgroups} workgroups a dimension; streams may ask for {WORKGROUPS}");
        }
        let descriptor = wgpu::DeviceDescriptor {
            required_limits,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
        let errors = Arc::new(Errors::default());
        let kept = Arc::clone(&errors);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| kept.keep(&error)));
        let kept = Arc::clone(&errors);
        device.set_device_lost_callback(move |_, _| kept.lost.store(true, Ordering::Release));
        Ok(Gpu {
            device,
            queue,
            errors,
            hung: Cell::new(false),
            cache: Cache::default(),
            staging: Staging::default(),
        })
    }

    fn replay(&mut self, request: &Request<'_>, executes: bool) -> Outcome {
        let data = u32::try_from(request.data.len()).unwrap_or(u32::MAX);
        let commands = match wire::decode(request.words, data) {
            Ok(commands) => commands,
            Err(refusal) => {
                return stopped(format!("the stream is refused, so nothing was called: {refusal}"));
            }
        };
        // Nothing that an earlier case left behind may be taken for this one's.
        self.errors.take();
        let mut maker = Maker {
            device: &self.device,
            errors: &self.errors,
            cache: &mut self.cache,
            room: 0,
        };
        let table = match maker.table(request.objects) {
            Ok(table) => table,
            Err(trouble) => {
                // Says whether the device is lost.
                self.device.poll(wgpu::PollType::Poll).ok();
                return Outcome {
                    trouble: Some(trouble),
                    ..Outcome::default()
                };
            }
        };
        let calls = calls::replay(&commands, |id| table.kind(id));
        let trouble = replay(self, &table, &calls, request.data, request.stop_after);
        let mut outcome = Outcome {
            trouble,
            ..Outcome::default()
        };
        let settled = self.settle(&table, &mut outcome, executes);
        if let Err(trouble) = settled {
            outcome.trouble.get_or_insert(trouble);
        }
        let reads = commands
            .iter()
            .enumerate()
            .filter(|(_, cmd)| cmd.op == Op::ReadBuffer)
            .map(|(index, _)| index);
        read(request, &table, reads, &mut outcome);
        if !executes || self.hung.get() {
            outcome.window.clear();
        }
        outcome
    }

    /// Waits for the queue and, where it executes anything, takes what buffers and textures hold.
    fn settle(&mut self, table: &Table, outcome: &mut Outcome, executes: bool) -> Result<(), Trouble> {
        if executes {
            let mut staging = std::mem::take(&mut self.staging);
            readback::all(self, &mut staging, table, outcome)?;
            self.staging = staging;
        } else {
            // Writes that no Submit followed are held until the next one.
            self.submit([])?;
            self.wait()?;
        }
        match self.errors.take() {
            None => Ok(()),
            Some((_, why)) => Err(engine_trouble(&format!("reading back: {why}"))),
        }
    }

    /// Submits, once everything before is done: lavapipe waits for that inside the call, with no end where the work has none.
    pub(super) fn submit(&self, commands: impl IntoIterator<Item = wgpu::CommandBuffer>) -> Result<(), Trouble> {
        self.wait()?;
        self.queue.submit(commands);
        Ok(())
    }

    /// Waits for everything submitted so far.
    ///
    /// # Errors
    ///
    /// It takes longer than a stream may take. Every later wait fails at once.
    pub(super) fn wait(&self) -> Result<(), Trouble> {
        let poll = wgpu::PollType::Wait {
            submission_index: None,
            timeout: Some(PATIENCE),
        };
        if !self.hung.get() && self.device.poll(poll).is_ok() {
            return Ok(());
        }
        self.hung.set(true);
        Err(engine_trouble(&format!(
            "the device did not answer within {} s",
            PATIENCE.as_secs()
        )))
    }
}

/// Performs the reads. One that mapAsync would refuse is a validation error at its command.
fn read(request: &Request<'_>, table: &Table, mut commands: impl Iterator<Item = usize>, outcome: &mut Outcome) {
    if request.reads.is_empty() {
        return;
    }
    outcome.window = vec![0; request.window as usize];
    for read in request.reads {
        let command = commands.next();
        match read_range(read, table, outcome.window.len()) {
            Ok((from, to)) => {
                if let Some(Some(bytes)) = outcome.buffers.get(&read.id) {
                    outcome.window[to].copy_from_slice(&bytes[from]);
                }
            }
            Err(why) => {
                let message = format!("read of buffer {}: {why}", read.id);
                let kind = TroubleKind::Validation;
                outcome.trouble.get_or_insert(Trouble { command, kind, message });
            }
        }
    }
}

type Bytes = std::ops::Range<usize>;

/// Where a read's bytes stand in its buffer and in the window.
fn read_range(read: &wire::Read, table: &Table, window: usize) -> Result<(Bytes, Bytes), &'static str> {
    let buffer = table.buffer(read.id).ok_or("no buffer")?;
    if !buffer.usage().contains(wgpu::BufferUsages::MAP_READ) {
        return Err("it lacks MAP_READ");
    }
    let size = read.size as usize;
    let inside = |offset: u64, whole: u64| offset.checked_add(u64::from(read.size)).is_some_and(|end| end <= whole);
    if !inside(read.offset, buffer.size()) {
        return Err("the range ends past the buffer");
    }
    if !inside(u64::from(read.window_offset), window as u64) {
        return Err("the range ends past the window");
    }
    let (from, to) = (read.offset as usize, read.window_offset as usize);
    Ok((from..from + size, to..to + size))
}

// Adapters.

fn instance(backends: wgpu::Backends) -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    // Without it an indirect dispatch runs whatever its stored counts are. The drivers' debug layers stay off: they write to the log,
    // and what they find wgpu ought to have found.
    descriptor.flags = wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL;
    descriptor.backend_options.noop = wgpu::NoopBackendOptions {
        enable: backends.contains(wgpu::Backends::NOOP),
        limits: Some(wgpu::Limits::default()),
        ..Default::default()
    };
    wgpu::Instance::new(descriptor)
}

/// The backends in which an id can be found, so that opening one does not load the drivers of all.
fn backends_of(id: &str) -> wgpu::Backends {
    match id.split(':').nth(1) {
        Some("vulkan") => wgpu::Backends::VULKAN,
        Some("metal") => wgpu::Backends::METAL,
        Some("dx12") => wgpu::Backends::DX12,
        Some("gl") => wgpu::Backends::GL,
        Some("noop") => wgpu::Backends::NOOP,
        _ => wgpu::Backends::PRIMARY | wgpu::Backends::SECONDARY | wgpu::Backends::NOOP,
    }
}

/// Adapters with their ids, best first. Two of the same name are told apart by a number.
fn adapters(backends: wgpu::Backends) -> Vec<(EngineId, wgpu::Adapter)> {
    let mut found = pollster::block_on(instance(backends).enumerate_adapters(backends));
    found.sort_by_key(|adapter| rank(&adapter.get_info()));
    let mut named: Vec<(EngineId, wgpu::Adapter)> = Vec::new();
    for adapter in found {
        let mut id = engine_id(&adapter.get_info());
        let same = |(known, _): &&(EngineId, wgpu::Adapter)| {
            known
                .id
                .strip_prefix(&id.id)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('#'))
        };
        match named.iter().filter(same).count() {
            0 => (),
            others => id.id += &format!("#{}", others + 1),
        }
        named.push((id, adapter));
    }
    named
}

fn rank(info: &wgpu::AdapterInfo) -> (usize, usize) {
    let kinds = [
        wgpu::DeviceType::DiscreteGpu,
        wgpu::DeviceType::IntegratedGpu,
        wgpu::DeviceType::VirtualGpu,
        wgpu::DeviceType::Cpu,
    ];
    let backends = [
        wgpu::Backend::Metal,
        wgpu::Backend::Vulkan,
        wgpu::Backend::Dx12,
        wgpu::Backend::Gl,
    ];
    let kind = kinds
        .iter()
        .position(|&kind| kind == info.device_type)
        .unwrap_or(kinds.len());
    match backends.iter().position(|&backend| backend == info.backend) {
        Some(backend) => (kind, backend),
        // The noop backend is no adapter of this machine.
        None => (usize::MAX, 0),
    }
}

fn engine_id(info: &wgpu::AdapterInfo) -> EngineId {
    let driver = match (info.driver.as_str(), info.driver_info.as_str()) {
        ("", "") => info.name.clone(),
        (driver, "") => driver.into(),
        (driver, version) => format!("{driver} {version}").trim().into(),
    };
    if info.backend == wgpu::Backend::Noop {
        return EngineId {
            id: "wgpu:noop".into(),
            driver: "wgpu's noop backend".into(),
            executes: false,
        };
    }
    EngineId {
        // What stands in parentheses is the driver's version.
        id: format!(
            "wgpu:{}:{}",
            info.backend,
            slug(info.name.split('(').next().unwrap_or_default())
        ),
        driver,
        executes: true,
    }
}

// Panics inside wgpu.

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// A panic that is caught and reported as an outcome prints nothing; all others do as before.
fn silence_guarded_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
}

/// Runs `body`, which catches panics, without their being printed.
pub(super) fn quietly<T>(body: impl FnOnce() -> T) -> T {
    let before = GUARDED.replace(true);
    let result = body();
    GUARDED.set(before);
    result
}

/// What a panic said.
pub(super) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    one_line(text.unwrap_or("no message"))
}
