//! The engine that is wgpu, on each adapter that is there and on its noop backend.
//!
//! wgpu reports errors by calling back, in the thread and during the call that raised them. So the device's one handler of
//! uncaptured errors serves as the error scope of every call: it keeps the first error until somebody takes it. Unlike pushed scopes
//! it costs nothing while nothing goes wrong, and it sees validation, memory and internal errors alike.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SendError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};

use super::engine::{Engine, EngineId, Request, broken, engine_trouble, perform_reads, unknown};
use super::objects::{Cache, Maker, Table};
use super::readback::{self, Staging};
use super::replay::replay;
use super::{Outcome, Trouble, TroubleKind, calls};
use crate::case::Object;
use crate::deep;
use crate::files::slug;
use crate::panics::caught;

/// How long a device may work on one stream.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a replay may take as a whole. GL has no wait with an end: Mesa's software driver works in the calling thread.
const DEADLINE: Duration = Duration::from_secs(30);
/// The longest body of WGSL that any stack takes.
const SHALLOW: usize = 1 << 10;
/// What one dispatch may ask for in each dimension (wire.md section 5), and WebGPU's default.
const WORKGROUPS: u32 = 65535;

/// A device of wgpu's, or of its noop backend, that replays streams one after the other.
#[derive(Debug)]
pub struct WgpuEngine {
    about: EngineId,
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
    /// How long it may work on one stream.
    patience: Duration,
    /// The queue did not finish its work in time.
    hung: Cell<bool>,
    cache: Cache,
    staging: Staging,
    /// The table of the last case, where nothing is executed.
    last: Option<(Vec<Object>, Table)>,
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
pub(super) fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let causes = lines.filter(|line| !matches!(*line, "Validation Error" | "Caused by:"));
    causes.collect::<Vec<_>>().join(": ")
}

impl WgpuEngine {
    /// What can be opened here: every adapter, the fastest kind first, and last the noop backend.
    pub fn available() -> Vec<EngineId> {
        adapters(wgpu::Backends::PRIMARY | wgpu::Backends::SECONDARY | wgpu::Backends::NOOP)
            .into_iter()
            .map(|(id, _)| id)
            .collect()
    }

    /// Opens the engine of that id, or the first whose id begins with it.
    ///
    /// # Errors
    ///
    /// Those of [`super::engine::open`].
    pub fn open(id: &str) -> anyhow::Result<WgpuEngine> {
        let found = adapters(backends_of(id)).into_iter().find(|(known, _)| known.is_of(id));
        let Some((about, adapter)) = found else {
            return Err(unknown(id));
        };
        let gpu = Gpu::new(&adapter).with_context(|| format!("engine {}", about.id))?;
        Ok(WgpuEngine {
            about,
            adapter,
            gpu: Some(gpu),
        })
    }

    /// Replays as many of the requests as the device lives through, at least one.
    fn replay_some(&mut self, requests: &[Request<'_>], outcomes: &mut Vec<Outcome>) {
        let gpu = match self.gpu.take().map_or_else(|| Gpu::new(&self.adapter), Ok) {
            Ok(gpu) => gpu,
            Err(error) => return outcomes.push(broken(&format!("{error:#}"), true)),
        };
        let before = outcomes.len();
        let mut keep = |outcome: Replayed| outcomes.push(outcome.unwrap_or_else(|why| broken(&why, true)));
        let executes = self.about.executes;
        let ended = match self.needs_no_thread(requests) {
            true => Ok(replay_each(gpu, requests, executes, |outcome| {
                keep(outcome);
                true
            })),
            false => in_time(gpu, requests, executes, &mut keep),
        };
        match ended {
            Ok(gpu) if gpu.is_whole() && outcomes.last().is_none_or(|outcome| !outcome.lost) => self.gpu = Some(gpu),
            Ok(gpu) => {
                outcomes.last_mut().into_iter().for_each(lose);
                self.renew(gpu);
            }
            Err(why) => {
                // It may also hang over giving the device back.
                if outcomes.len() - before < requests.len() {
                    outcomes.push(broken(&why, true));
                }
                self.open_anew();
            }
        }
        for (request, outcome) in requests.iter().zip(&mut outcomes[before..]) {
            perform_reads(request, executes, outcome);
        }
    }

    /// No driver that could hang, no shader that needs a deep stack.
    fn needs_no_thread(&self, requests: &[Request<'_>]) -> bool {
        !self.about.executes && longest_body(requests) <= SHALLOW
    }

    /// Makes a new device in the place of a lost one.
    fn renew(&mut self, lost: Gpu) {
        if lost.hung.get() {
            // Dropping a queue waits for its work, and lavapipe's devices of one instance share the threads that do it.
            std::mem::forget(lost);
            self.open_anew();
        } else {
            caught(|| drop(lost)).ok();
            self.gpu = Gpu::new(&self.adapter).ok();
        }
    }

    /// Opens adapter and device once more, in an instance of their own: those of before still work.
    fn open_anew(&mut self) {
        let anew = adapters(backends_of(&self.about.id))
            .into_iter()
            .find(|(id, _)| *id == self.about);
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

impl Engine for WgpuEngine {
    fn about(&self) -> &EngineId {
        &self.about
    }

    fn outcomes(&mut self, batch: &[Request<'_>]) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(batch.len());
        while let Some(rest) = batch.get(outcomes.len()..).filter(|rest| !rest.is_empty()) {
            self.replay_some(rest, &mut outcomes);
        }
        outcomes
    }
}

/// Marks the outcome over which a device was lost.
fn lose(outcome: &mut Outcome) {
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
}

/// What a replay comes to: its outcome, or what wgpu panicked over.
type Replayed = Result<Outcome, String>;

/// Replays one request after the other until one breaks the device or nobody wants the next.
fn replay_each(mut gpu: Gpu, requests: &[Request<'_>], executes: bool, mut give: impl FnMut(Replayed) -> bool) -> Gpu {
    for request in requests {
        let outcome = caught(|| gpu.replay(request, executes));
        let outcome = outcome.map_err(|panic| format!("wgpu panicked: {}", one_line(&panic)));
        let panicked = outcome.is_err();
        if !give(outcome) || panicked || !gpu.is_whole() {
            break;
        }
    }
    gpu
}

/// What the thread of [`in_time`] says.
enum Word {
    Replayed(Replayed),
    Ended(Box<Gpu>),
}

/// Replays in a thread of its own, which is left to itself once one replay takes too long. Its stack is deep enough for every shader.
///
/// # Errors
///
/// The replay after those that were kept took too long, or there is no such thread; the device is gone then.
fn in_time(gpu: Gpu, requests: &[Request<'_>], executes: bool, keep: &mut dyn FnMut(Replayed)) -> Result<Gpu, String> {
    let work: Vec<Work> = requests.iter().map(Work::of).collect();
    let (say, hear) = channel();
    let replay = move || {
        let requests: Vec<Request<'_>> = work.iter().map(Work::request).collect();
        let gpu = replay_each(gpu, &requests, executes, |outcome| {
            say.send(Word::Replayed(outcome)).is_ok()
        });
        if let Err(SendError(too_late)) = say.send(Word::Ended(Box::new(gpu))) {
            // Dropping a device that hung may hang again.
            std::mem::forget(too_late);
        }
    };
    let stack = deep::stack(longest_body(requests));
    let started = thread::Builder::new().stack_size(stack).spawn(replay);
    started.map_err(|error| format!("no thread with {} MiB of stack: {error}", stack >> 20))?;
    loop {
        match hear.recv_timeout(DEADLINE) {
            Ok(Word::Replayed(outcome)) => keep(outcome),
            Ok(Word::Ended(gpu)) => return Ok(*gpu),
            Err(_) => return Err(format!("the engine did not come back within {} s", DEADLINE.as_secs())),
        }
    }
}

fn longest_body(requests: &[Request<'_>]) -> usize {
    let bodies = requests.iter().flat_map(|request| request.objects);
    bodies.map(|object| object.body.len()).max().unwrap_or(0)
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

impl Gpu {
    fn new(adapter: &wgpu::Adapter) -> anyhow::Result<Gpu> {
        let required_limits = wgpu::Limits::default().or_worse_values_from(&adapter.limits());
        let workgroups = required_limits.max_compute_workgroups_per_dimension;
        if workgroups != WORKGROUPS {
            bail!("it dispatches at most {workgroups} workgroups a dimension; streams may ask for {WORKGROUPS}");
        }
        let descriptor = wgpu::DeviceDescriptor {
            // For streams over compressed textures.
            required_features: adapter.features() & wgpu::Features::TEXTURE_COMPRESSION_BC,
            required_limits,
            ..Default::default()
        };
        Gpu::on(adapter, &descriptor, PATIENCE)
    }

    /// A device as it is asked for, which may work so long on one stream.
    pub(super) fn on(
        adapter: &wgpu::Adapter,
        descriptor: &wgpu::DeviceDescriptor<'_>,
        patience: Duration,
    ) -> anyhow::Result<Gpu> {
        let (device, queue) = pollster::block_on(adapter.request_device(descriptor))?;
        let errors = Arc::new(Errors::default());
        let kept = Arc::clone(&errors);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| kept.keep(&error)));
        let kept = Arc::clone(&errors);
        device.set_device_lost_callback(move |_, _| kept.lost.store(true, Ordering::Release));
        Ok(Gpu {
            device,
            queue,
            errors,
            patience,
            hung: Cell::new(false),
            cache: Cache::default(),
            staging: Staging::default(),
            last: None,
        })
    }

    /// Whether it can go on.
    pub(super) fn is_whole(&self) -> bool {
        !self.hung.get() && !self.errors.lost.load(Ordering::Acquire)
    }

    fn replay(&mut self, request: &Request<'_>, executes: bool) -> Outcome {
        let data = u32::try_from(request.data.len()).unwrap_or(u32::MAX);
        let commands = match wire::decode(request.words, data) {
            Ok(commands) => commands,
            Err(refusal) => {
                let why = format!("the stream is refused, so nothing was called: {refusal}");
                return broken(&why, false);
            }
        };
        // Nothing that an earlier case left behind may be taken for this one's.
        self.errors.take();
        let table = match self.table(request.objects) {
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
        if let Err(trouble) = self.settle(&table, &mut outcome, executes) {
            outcome.trouble.get_or_insert(trouble);
        }
        if !executes {
            self.last = Some((request.objects.to_vec(), table));
        }
        outcome
    }

    /// The objects of a case. Where nothing is executed they hold nothing, and serve the next case too if its table is the same.
    fn table(&mut self, objects: &[Object]) -> Result<Table, Trouble> {
        if let Some((_, table)) = self.last.take().filter(|(last, _)| last == objects) {
            return Ok(table);
        }
        let mut maker = Maker {
            device: &self.device,
            errors: &self.errors,
            cache: &mut self.cache,
            room: 0,
        };
        maker.table(objects)
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
            timeout: Some(self.patience),
        };
        if !self.hung.get() && self.device.poll(poll).is_ok() {
            return Ok(());
        }
        self.hung.set(true);
        Err(engine_trouble(&format!(
            "the device did not answer within {} s",
            self.patience.as_secs()
        )))
    }
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
pub(super) fn backends_of(id: &str) -> wgpu::Backends {
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
pub(super) fn adapters(backends: wgpu::Backends) -> Vec<(EngineId, wgpu::Adapter)> {
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
