//! Engines that replay with replay.js: `reference/gpu.js` in a process of deno's, on its own `navigator.gpu` or on Dawn.
//!
//! The process is asked over the frame `replays` of `reference/PROTOCOL.md`. One that dies or does not come back in time is killed and
//! started anew, and the streams of its batch are replayed one by one, so that the one over which it fails is known.

use std::path::Path;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;

use super::Outcome;
use super::engine::{Engine, EngineId, Request, broken, perform_reads, unknown};
use super::objects::is_too_large;
use crate::case::Object;
use crate::readers::ReaderFailed;
use crate::readers::process::Process;
use crate::readers::protocol::{self, Hello, REPLAYS};
use crate::setup::{self, Parts, deno_command};
use wire::Kind;

/// How long a process may take over one frame.
const DEADLINE: Duration = Duration::from_secs(20);
/// The streams of one frame at most.
const FRAME: usize = 256;
/// Bytes of one frame, about, after which no further stream goes into it.
const FRAME_BYTES: usize = 32 << 20;
/// The pipelines that a process makes, about, before one anew takes its place.
const PIPELINES: usize = 4096;

/// An engine in a process of its own.
pub struct ScriptEngine {
    about: EngineId,
    process: Process,
    asked: Option<Asked>,
    /// Pipelines in the tables that the process was given.
    pipelines: usize,
}

/// A frame on its way.
struct Asked {
    /// So many requests of the batch it covers. Those that are not sent have their outcome already.
    known: Vec<Option<Outcome>>,
    sent: Result<(), ReaderFailed>,
}

impl Asked {
    fn sent(&self) -> usize {
        self.known.iter().filter(|outcome| outcome.is_none()).count()
    }
}

/// The parts, looked up once.
fn parts() -> &'static Parts {
    static PARTS: OnceLock<Parts> = OnceLock::new();
    PARTS.get_or_init(setup::look)
}

/// What `reference/gpu.js` is told: `deno`, or `dawn` with a backend or none.
fn process(root: &Path, deno: &Path, dawn: Option<&Path>, backend: Option<&str>, quiet: bool) -> Process {
    let (root, deno) = (root.to_path_buf(), deno.to_path_buf());
    let dawn = dawn.map(Path::to_path_buf);
    let backend = backend.map(str::to_owned);
    let name = if dawn.is_some() { "dawn" } else { "deno" };
    Process::new(name, DEADLINE, move || {
        let mut command = deno_command(&root, &deno);
        command.args(["run", "--quiet", "--cached-only", "--no-config"]);
        if dawn.is_some() {
            // It is a native library.
            command.args(["--allow-ffi", "--allow-read"]);
        }
        command.arg(root.join("reference/gpu.js")).arg(name);
        command.args(&dawn).args(&backend);
        // Dawn writes there of each driver that it does not take, and of limits that it lowers.
        if quiet || dawn.is_some() {
            command.stderr(Stdio::null());
        }
        command
    })
}

fn of_hello(hello: Hello) -> EngineId {
    EngineId {
        id: hello.name,
        driver: hello.driver,
        executes: hello.executes,
    }
}

impl ScriptEngine {
    /// What can be opened here: Dawn on the platform's own backend, where that takes the driver, and on its null backend, then deno.
    /// Each is asked once in the life of this program.
    pub fn available() -> Vec<EngineId> {
        static FOUND: OnceLock<Vec<EngineId>> = OnceLock::new();
        FOUND.get_or_init(find).clone()
    }

    /// Opens the engine of that id, or the first whose id begins with it.
    ///
    /// # Errors
    ///
    /// It is not there, or does not answer.
    pub fn open(id: &str) -> anyhow::Result<ScriptEngine> {
        let found = ScriptEngine::available().into_iter().find(|known| known.is_of(id));
        let Some(about) = found else { return Err(unknown(id)) };
        let Parts { root, deno, dawn, .. } = parts();
        let deno = deno.as_ref().map_err(Clone::clone)?;
        let mut process = match about.id.strip_prefix("dawn:") {
            None => process(root, deno, None, None, false),
            Some(backend) => {
                let dawn = dawn.as_ref().map_err(Clone::clone)?;
                process(root, deno, Some(dawn), Some(backend), false)
            }
        };
        process.hello()?;
        Ok(ScriptEngine {
            about,
            process,
            asked: None,
            pipelines: 0,
        })
    }

    /// Ends a process that has made many pipelines, between two batches: deno's WebGPU gives no pipeline's memory back before.
    fn renew(&mut self) {
        if self.pipelines > PIPELINES {
            self.process.close();
            self.pipelines = 0;
        }
    }

    /// Ends the process under the engine, as one that crashes would.
    #[doc(hidden)]
    pub fn lose(&mut self) {
        self.process.close();
    }

    /// Sends the first requests of a batch.
    fn send(&mut self, batch: &[Request<'_>]) -> Asked {
        let mut known = Vec::new();
        let mut send = Vec::new();
        let mut bytes = 0;
        for request in batch.iter().take(FRAME) {
            let outcome = not_sent(request, send.last().copied());
            if outcome.is_none() {
                send.push(request);
            }
            known.push(outcome);
            bytes += 4 * request.words.len() + request.data.len();
            bytes += request.objects.iter().map(|object| object.body.len()).sum::<usize>();
            if bytes > FRAME_BYTES {
                break;
            }
        }
        let tables = send.chunk_by(|one, next| one.objects == next.objects);
        let objects = tables.flat_map(|requests| requests[0].objects);
        self.pipelines += objects.filter(is_pipeline).count();
        let sent = match send.is_empty() {
            true => Ok(()),
            false => self.process.question(protocol::replays(&send)),
        };
        Asked { known, sent }
    }

    /// The outcomes of the requests that a frame covers.
    fn hear(&mut self, requests: &[Request<'_>], asked: Asked) -> Vec<Outcome> {
        let due = asked.sent();
        let heard = match asked.sent {
            _ if due == 0 => Ok(Vec::new()),
            Err(failed) => Err(failed),
            Ok(()) => self.answers(due),
        };
        match heard {
            Ok(heard) => {
                let mut heard = heard.into_iter();
                let outcomes = asked.known.into_iter().map(|known| known.or_else(|| heard.next()));
                outcomes.map(Option::unwrap_or_default).collect()
            }
            Err(failed) => {
                self.process.close();
                match requests {
                    [_] => vec![broken(&failed.why, true)],
                    many => many.iter().map(|request| self.alone(request)).collect(),
                }
            }
        }
    }

    fn alone(&mut self, request: &Request<'_>) -> Outcome {
        let requests = std::slice::from_ref(request);
        let asked = self.send(requests);
        self.hear(requests, asked).pop().unwrap_or_default()
    }

    fn answers(&mut self, due: usize) -> Result<Vec<Outcome>, ReaderFailed> {
        let answers = self.process.answers(REPLAYS, due)?;
        let outcomes: std::io::Result<Vec<_>> = answers.iter().map(|answer| protocol::read_outcome(answer)).collect();
        outcomes.map_err(|error| ReaderFailed {
            reader: self.about.id.clone(),
            why: error.to_string(),
        })
    }
}

fn is_pipeline(object: &&Object) -> bool {
    matches!(object.kind, Kind::ComputePipeline | Kind::RenderPipeline)
}

/// The outcome of a request that is not sent: the process would end over it, or take the machine's memory. `last` is the request before it.
fn not_sent(request: &Request<'_>, last: Option<&Request<'_>>) -> Option<Outcome> {
    let length = u32::try_from(request.data.len()).unwrap_or(u32::MAX);
    if let Err(refusal) = wire::decode(request.words, length) {
        let why = format!("the stream is refused, so nothing was called: {refusal}");
        return Some(broken(&why, false));
    }
    let known = last.is_some_and(|last| last.objects == request.objects);
    (!known && is_too_large(request.objects)).then(|| broken("the object table takes too much memory", false))
}

fn find() -> Vec<EngineId> {
    let Parts { root, deno, dawn, .. } = parts();
    let Ok(deno) = deno else { return Vec::new() };
    let mut found = Vec::new();
    if let Ok(dawn) = dawn {
        let mut platform = process(root, deno, Some(dawn), None, true);
        if let Ok(hello) = platform.hello() {
            found.push(of_hello(hello));
        }
        if found.iter().any(|engine| engine.executes) {
            found.push(EngineId {
                id: "dawn:null".into(),
                driver: "Dawn on null-backend".into(),
                executes: false,
            });
        }
    }
    found.extend(process(root, deno, None, None, true).hello().ok().map(of_hello));
    found
}

impl Engine for ScriptEngine {
    fn about(&self) -> &EngineId {
        &self.about
    }

    fn ask(&mut self, batch: &[Request<'_>]) {
        if self.asked.take().is_some() {
            // Nobody heard the last batch. Its answers must not be taken for this one's.
            self.process.close();
        }
        self.renew();
        self.asked = Some(self.send(batch));
    }

    fn outcomes(&mut self, batch: &[Request<'_>]) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(batch.len());
        while let Some(rest) = batch.get(outcomes.len()..).filter(|rest| !rest.is_empty()) {
            let asked = self.asked.take().unwrap_or_else(|| self.send(rest));
            let covered = &rest[..asked.known.len().min(rest.len())];
            let heard = self.hear(covered, asked);
            outcomes.extend(heard);
        }
        for (request, outcome) in batch.iter().zip(&mut outcomes) {
            perform_reads(request, self.about.executes, outcome);
        }
        outcomes
    }
}
