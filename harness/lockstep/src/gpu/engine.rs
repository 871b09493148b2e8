//! What an engine is: it replays streams on a device and says what came of each. wgpu drives every adapter that is there and its noop
//! backend ([`super::wgpu_engine`]); replay.js drives deno's `navigator.gpu` and Dawn ([`super::script`]).

use wire::Op;

use super::script::ScriptEngine;
use super::wgpu_engine::WgpuEngine;
use super::{Outcome, Trouble, TroubleKind};
use crate::case::{BufferFacts, Object, buffer_facts};

/// An engine that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineId {
    /// Its name, such as `wgpu:vulkan:llvmpipe`.
    pub id: String,
    /// The driver's own name and version.
    pub driver: String,
    /// Whether it executes what it validates.
    pub executes: bool,
}

impl EngineId {
    /// Whether `name` is this id or begins it: `wgpu`, `wgpu:vulkan`.
    pub(super) fn is_of(&self, name: &str) -> bool {
        let rest = self.id.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }
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

/// A device that replays streams one after the other, each as wire.md section 4 says.
///
/// Errors of an encoder's calls are raised when it is finished, and are then traced to their command. The trouble in an outcome is that of
/// the first command in stream order; what stands between it and the call that raised it was made. The reads are performed also after a
/// trouble. An outcome has a read window only where there were reads.
pub trait Engine: Send {
    /// Which one it is.
    fn about(&self) -> &EngineId;

    /// Hands it a batch, so that an engine in a process of its own works while this thread goes on.
    fn ask(&mut self, _batch: &[Request<'_>]) {}

    /// The outcomes of a batch, in its order: that of the last [`Engine::ask`], or one that it was not asked yet. Where the device was lost
    /// or did not come back, the outcome of the stream that did it says so, and the streams after it were replayed on a new one.
    fn outcomes(&mut self, batch: &[Request<'_>]) -> Vec<Outcome>;

    /// One stream's outcome.
    fn replay(&mut self, request: &Request<'_>) -> Outcome {
        let outcomes = self.outcomes(std::slice::from_ref(request));
        outcomes.into_iter().next().unwrap_or_default()
    }
}

/// Every engine that can be opened here: each adapter, the fastest kind first, wgpu's noop backend, then Dawn and deno.
pub fn available() -> Vec<EngineId> {
    [WgpuEngine::available(), ScriptEngine::available()].concat()
}

/// Opens the engine of that id, or the first whose id begins with it: `wgpu:vulkan` is the best Vulkan adapter, `wgpu` the best adapter
/// of all, `dawn` Dawn on the platform's own backend or, where that takes no driver, on its null backend.
///
/// # Errors
///
/// No such engine is here (the message names those that are), or it gives no device, or not one that may dispatch the 65535 workgroups of
/// wire.md section 5.
pub fn open(id: &str) -> anyhow::Result<Box<dyn Engine>> {
    match id.split(':').next() {
        Some("deno" | "dawn") => Ok(Box::new(ScriptEngine::open(id)?)),
        _ => Ok(Box::new(WgpuEngine::open(id)?)),
    }
}

/// No engine has that name. The error names those that there are.
pub(super) fn unknown(id: &str) -> anyhow::Error {
    let here: Vec<_> = available().into_iter().map(|engine| engine.id).collect();
    anyhow::anyhow!("no engine `{id}` here; there is {}", here.join(", "))
}

/// An outcome of which only a trouble of the engine's own is known.
pub(super) fn broken(message: &str, lost: bool) -> Outcome {
    Outcome {
        trouble: Some(engine_trouble(message)),
        lost,
        ..Outcome::default()
    }
}

/// A trouble of the engine's own.
pub(super) fn engine_trouble(message: &str) -> Trouble {
    Trouble {
        command: None,
        row: None,
        kind: TroubleKind::Engine,
        message: message.into(),
    }
}

/// Performs the reads of a stream on what its buffers were read back to hold, as a host does after the replay (wire.md section 4, rule 5).
/// One that mapAsync would refuse is a validation error at its command.
pub(super) fn perform_reads(request: &Request<'_>, executes: bool, outcome: &mut Outcome) {
    if request.reads.is_empty() {
        return;
    }
    let length = u32::try_from(request.data.len()).unwrap_or(u32::MAX);
    let commands = wire::decode(request.words, length).unwrap_or_default();
    let mut commands = (0..).zip(&commands).filter(|(_, command)| command.op == Op::ReadBuffer);
    let buffers = buffer_facts(request.objects);
    // Where nothing was read back there is nothing to read.
    let held = executes && !outcome.buffers.is_empty();
    let window = request.window as usize;
    outcome.window = vec![0; if held { window } else { 0 }];
    for read in request.reads {
        let command = commands.next().map(|(index, _)| index);
        match read_range(read, &buffers, window) {
            Ok((from, to)) => {
                if let Some(Some(bytes)) = outcome.buffers.get(&read.id) {
                    outcome.window[to].copy_from_slice(&bytes[from]);
                }
            }
            Err(why) => {
                let message = format!("read of buffer {}: {why}", read.id);
                let kind = TroubleKind::Validation;
                outcome.trouble.get_or_insert(Trouble {
                    command,
                    row: None,
                    kind,
                    message,
                });
            }
        }
    }
}

pub(super) type Bytes = std::ops::Range<usize>;

/// Where a read's bytes stand in its buffer and in the window.
pub(super) fn read_range(
    read: &wire::Read,
    buffers: &[BufferFacts],
    window: usize,
) -> Result<(Bytes, Bytes), &'static str> {
    const MAP_READ: u32 = 1;
    let buffer = buffers.iter().find(|buffer| buffer.id == read.id).ok_or("no buffer")?;
    if buffer.usage & MAP_READ == 0 {
        return Err("it lacks MAP_READ");
    }
    let size = read.size as usize;
    let inside = |offset: u64, whole: u64| offset.checked_add(u64::from(read.size)).is_some_and(|end| end <= whole);
    if !inside(read.offset, buffer.size) {
        return Err("the range ends past the buffer");
    }
    if !inside(u64::from(read.window_offset), window as u64) {
        return Err("the range ends past the window");
    }
    let (from, to) = (read.offset as usize, read.window_offset as usize);
    Ok((from..from + size, to..to + size))
}
