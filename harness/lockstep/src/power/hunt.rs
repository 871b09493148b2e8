//! A campaign against one faulty program.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{Found, Outcome};
use crate::bind;
use crate::campaign::{self, Budget, Cast, Plan};
use crate::case::{Case, CaseFile};
use crate::findings::{read_case, write_case};
use crate::generators::Lane;
use crate::minimize::{Jury, Limits, minimize, size};
use crate::readers::process::Process;
use crate::readers::slot_model::SlotModel;
use crate::readers::slot_upstream::SlotUpstream;
use crate::readers::{Batch, BatchAnswers, ReaderFailed, StreamReader, replay_js};

/// The name of a faulty program in signatures.
pub const NAME: &str = "faulty";

/// The lanes that the protocol carries.
const LANES: [Lane; 5] = [Lane::Streams, Lane::Raw, Lane::Replays, Lane::Layouts, Lane::Shaders];

/// A program with a fault may well hang; one without is late only on a machine with much other work.
const DEADLINE: Duration = Duration::from_secs(10);

/// The stream readers that faulty programs are held against, kept from one campaign to the next.
#[derive(Clone)]
pub struct References {
    root: PathBuf,
    deno: PathBuf,
    idle: Arc<Mutex<Vec<Process>>>,
}

impl References {
    /// `replay.js` under deno.
    pub fn new(root: &Path, deno: &Path) -> References {
        References {
            root: root.to_path_buf(),
            deno: deno.to_path_buf(),
            idle: Arc::default(),
        }
    }

    fn lend(&self) -> Lent {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Lent {
            process: Some(idle.unwrap_or_else(|| replay_js::replay_js(&self.root, &self.deno))),
            idle: self.idle.clone(),
        }
    }
}

/// A reader that is idle again once the campaign lets go of it.
struct Lent {
    /// Always there until it is dropped.
    process: Option<Process>,
    idle: Arc<Mutex<Vec<Process>>>,
}

impl Lent {
    fn of(&mut self) -> Result<&mut Process, ReaderFailed> {
        self.process.as_mut().ok_or_else(|| ReaderFailed {
            reader: replay_js::NAME.into(),
            why: "it is idle".into(),
        })
    }
}

impl StreamReader for Lent {
    fn name(&self) -> &str {
        replay_js::NAME
    }

    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed> {
        self.of()?.ask(batch)
    }

    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed> {
        self.of()?.hear()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(self.process.take());
    }
}

/// What every campaign is given.
#[derive(Clone)]
pub struct Hunt {
    /// The readers.
    pub references: References,
    /// The engine for the strict check, and for what passes a reader: one that validates at once.
    pub engine: String,
    /// The seed.
    pub seed: u64,
    /// The most that one campaign takes: time, or a number of cases, which is the same on a machine with other work.
    pub budget: Budget,
    /// How long at most the first finding's case is made smaller; not at all where there is none.
    pub minimize: Option<Duration>,
    /// Where findings go, in a folder that is made anew for each.
    pub findings: PathBuf,
}

impl Hunt {
    /// Runs the campaign against a program until it finds something, its time is up, or `stop` is set. Where the random cases show
    /// nothing, the edges are tried too.
    pub fn run(&self, program: &Path, stop: &AtomicBool) -> Outcome {
        let random = self.campaign(program, self.budget, &LANES, stop);
        let found = random.or_else(|| self.campaign(program, Budget::Edges, &[Lane::Edges], stop));
        found.map_or(Outcome::Missed, Outcome::Found)
    }

    fn campaign(&self, program: &Path, budget: Budget, lanes: &[Lane], stop: &AtomicBool) -> Option<Found> {
        // What was there is of another program.
        let _ = std::fs::remove_dir_all(&self.findings);
        let plan = Plan {
            seed: self.seed,
            budget,
            workers: 1,
            lanes: lanes.to_vec(),
            shard: (0, 1),
            findings: self.findings.clone(),
        };
        let over = AtomicBool::new(stop.load(Ordering::Relaxed));
        let cast = self.cast(program);
        let results = campaign::run(&plan, &cast, &over, &mut |progress| {
            if progress.findings > 0 || stop.load(Ordering::Relaxed) {
                over.store(true, Ordering::Relaxed);
            }
        });
        let first = results.findings.first()?;
        let kept = read_case(Path::new(&first.file)).ok();
        let origin = kept.as_ref().and_then(|kept| kept.origin.as_ref());
        Some(Found {
            signature: first.signature.clone(),
            lane: origin.map_or_else(String::new, |origin| origin.lane.clone()),
            cases: origin.map_or(0, |origin| origin.index + 1),
            seconds: first.at,
            size: kept
                .zip(self.minimize)
                .and_then(|(kept, limit)| smaller(kept, &first.file, &cast, limit, stop)),
        })
    }

    fn cast(&self, program: &Path) -> Cast {
        let faulty = |program: &Path| {
            let program = program.to_path_buf();
            Process::new(NAME, DEADLINE, move || {
                let mut command = Command::new(&program);
                // A panic is an answer here; nobody reads its words.
                command.stderr(std::process::Stdio::null());
                command
            })
        };
        let (streams, layouts) = (program.to_path_buf(), program.to_path_buf());
        let references = self.references.clone();
        Cast {
            subject: Box::new(move || Box::new(faulty(&streams))),
            outside: true,
            references: vec![Box::new(move || Box::new(references.lend()))],
            layout_subject: Box::new(move || Box::new(faulty(&layouts))),
            layout_references: vec![
                Box::new(|| Box::new(SlotModel)),
                Box::new(|| Box::new(SlotUpstream::locked())),
            ],
            apple: None,
            bind_subject: Box::new(|| Box::new(bind::native::Native::default())),
            engines: vec![self.engine.clone()],
            not_run: Vec::new(),
        }
    }
}

/// Makes the case of a finding smaller, in its file, and says how large it is then; nothing where it does not show its finding again.
fn smaller(kept: CaseFile, file: &str, cast: &Cast, limit: Duration, stop: &AtomicBool) -> Option<String> {
    let signature = kept.signature.clone()?;
    let mut jury = Jury::of(cast);
    let mut judge = |cases: &[Case]| jury.signatures(cases, &signature);
    let case = minimize(&kept.case, &signature, &mut judge, &Limits { limit, stop }, &mut |_| {})?.case;
    let size = size(&case);
    let smaller = CaseFile {
        // It is no case of a generator's any more.
        origin: None,
        case,
        ..kept
    };
    write_case(Path::new(file), &smaller).ok().map(|()| size)
}
