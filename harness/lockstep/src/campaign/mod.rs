//! The campaign: many cases within a budget, through every reader and engine.
//!
//! Work comes in rounds. A round is a fixed share of every lane, so which cases a campaign runs follows from its seed and its number of
//! rounds alone, whoever runs which; workers take the next round until the budget ends.
//!
//! Here are the plan and what the workers share; a worker is in `worker`, its streams in `streams`, their replays in `replays`, its
//! layouts, shaders and binds in `slots`.

mod checkpoint;
mod counts;
mod replays;
mod slots;
mod streams;
mod worker;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

pub use self::checkpoint::{Checkpoint, Rounds};
use self::counts::Counts;
use crate::bind::BindPlayer;
use crate::findings::Findings;
use crate::generators::{self, Lane};
use crate::oracles::msl;
use crate::readers::StreamReader;
use crate::readers::layouts::LayoutReader;
use crate::report::results::{Comparison, Lane as LaneRow, NotRun, RESULTS_FORMAT, Results, Shards, repeated};

/// Cases of each lane in a round. The shares say what a campaign's time goes into.
const ROUND: [(Lane, u64); 7] = [
    (Lane::Streams, 512),
    (Lane::Raw, 64),
    (Lane::Replays, 128),
    (Lane::Layouts, 512),
    (Lane::Shaders, 9),
    (Lane::Binds, 56),
    // Of a campaign of edges alone.
    (Lane::Edges, 256),
];

/// A part of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Streams through the readers
    Streams,
    /// Layouts through the slot readers, shaders through naga, and what is bound at draws
    Slots,
    /// Streams through the engines
    Gpu,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 3] = [Part::Streams, Part::Slots, Part::Gpu];

    /// Its lanes.
    pub fn lanes(self) -> &'static [Lane] {
        match self {
            Part::Streams => &[Lane::Streams, Lane::Raw],
            Part::Slots => &[Lane::Layouts, Lane::Shaders, Lane::Binds],
            Part::Gpu => &[Lane::Replays],
        }
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Part::Streams => "streams",
            Part::Slots => "slots",
            Part::Gpu => "gpu",
        }
    }
}

/// When a campaign ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// After this long. The rounds that run then are finished, but for layouts that a subject in a process is slow over.
    Time(Duration),
    /// After this many stream and layout cases each, and the share of the other lanes that goes with them, exactly.
    Cases(u64),
    /// After every edge of the table, once. The seed is no part of it.
    Edges,
}

/// What to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Every case follows from it.
    pub seed: u64,
    /// The budget.
    pub budget: Budget,
    /// Threads.
    pub workers: usize,
    /// The lanes; the others are left out.
    pub lanes: Vec<Lane>,
    /// (i, n): of the rounds, those with number i modulo n.
    pub shard: (u64, u64),
    /// Where findings go.
    pub findings: PathBuf,
}

/// Makes a reader or an engine for a worker.
pub type Maker<T> = Box<dyn Fn() -> T + Sync>;

/// Who takes part.
pub struct Cast {
    /// The stream reader under test. The GPU is asked about its answers.
    pub subject: Maker<Box<dyn StreamReader>>,
    /// The subject is a process: its strict check is asked over the protocol, of shaders only what the protocol carries, and binds are left
    /// out.
    pub outside: bool,
    /// The stream readers that it is held against.
    pub references: Vec<Maker<Box<dyn StreamReader>>>,
    /// The layout reader under test.
    pub layout_subject: Maker<Box<dyn LayoutReader>>,
    /// The layout readers that it is held against.
    pub layout_references: Vec<Maker<Box<dyn LayoutReader>>>,
    /// Apple's compiler of MSL, where the machine has one.
    pub apple: Option<msl::apple::Compiler>,
    /// The encoder under test. wgpu-hal's own functions are what it is held against.
    pub bind_subject: Maker<Box<dyn BindPlayer>>,
    /// Ids of the engines to replay on.
    pub engines: Vec<String>,
    /// What could not take part.
    pub not_run: Vec<NotRun>,
}

/// How far a campaign is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Cases so far, by lane.
    pub cases: BTreeMap<&'static str, u64>,
    /// Findings so far.
    pub findings: usize,
    /// The part of the budget that is used, 0 to 1.
    pub done: f64,
    /// Since the start.
    pub elapsed: Duration,
}

/// What the workers share.
struct Shared<'a> {
    plan: &'a Plan,
    cast: &'a Cast,
    stop: &'a AtomicBool,
    started: Instant,
    /// Where it goes on from, but for the findings.
    before: Option<Results>,
    /// The rounds that were finished then.
    finished_before: Rounds,
    next_round: AtomicU64,
    /// Of the rounds that are finished. Whoever holds this may lock `rounds` and `findings`, and nobody the other way round.
    counts: Mutex<Counts>,
    rounds: Mutex<Rounds>,
    findings: Mutex<Findings>,
    not_run: Mutex<Vec<NotRun>>,
    /// Batches in a row over which each reference failed, and last the subject over layouts; [`STRIKES`] for one that is left out from
    /// there on.
    strikes: Vec<AtomicU32>,
    /// When somebody saw first that it is over.
    over_since: OnceLock<Instant>,
}

/// So many failed batches in a row, and a reader is left out.
const STRIKES: u32 = 3;

/// A subject in a process has so long for the layouts of a round once the campaign is over.
const TO_FINISH: Duration = Duration::from_secs(2);

/// What a lock holds, also after a worker panicked: counts and findings are whole between statements, and losing them would be worse.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs a campaign to the end of its budget, or until `stop` is set. `progress` is called a few times a second.
pub fn run(plan: &Plan, cast: &Cast, stop: &AtomicBool, progress: &mut dyn FnMut(&Progress)) -> Results {
    run_from(None, plan, cast, stop, progress, &mut |_| {})
}

/// A checkpoint is taken this often, and the first as soon as a round is finished.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(5);

/// The same, from where a campaign of the same plan was ended; a budget of time is the time of both. `keep` gets a checkpoint every few
/// seconds, and the last one at the end, each of whole rounds: one that is cut short counts in the results alone, and whoever goes on runs
/// it again. A finding is kept once in both.
pub fn run_from(
    from: Option<Checkpoint>,
    plan: &Plan,
    cast: &Cast,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&Progress),
    keep: &mut dyn FnMut(&Checkpoint),
) -> Results {
    let shared = Shared::new(from, plan, cast, stop);
    let mut cut_short = Counts::default();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.workers.max(1))
            .map(|_| scope.spawn(|| worker::work(&shared)))
            .collect();
        let mut kept: Option<Instant> = None;
        while !workers.iter().all(|worker| worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(100));
            progress(&shared.progress());
            if kept.is_none_or(|at| at.elapsed() >= CHECKPOINT_EVERY) && *lock(&shared.rounds) != shared.finished_before
            {
                keep(&shared.checkpoint());
                kept = Some(Instant::now());
            }
        }
        for worker in workers {
            match worker.join() {
                Ok(of_round) => cut_short.merge(of_round),
                Err(_) => shared.did_not_run(NotRun {
                    what: "a worker".into(),
                    why: "it panicked; its message is above".into(),
                    mend: "report it: this is a fault of lockstep".into(),
                }),
            }
        }
    });
    keep(&shared.checkpoint());
    lock(&shared.counts).merge(cut_short);
    lock(&shared.findings).end();
    shared.checkpoint().results
}

impl<'a> Shared<'a> {
    fn new(from: Option<Checkpoint>, plan: &'a Plan, cast: &'a Cast, stop: &'a AtomicBool) -> Shared<'a> {
        let (finished_before, mut before) = match from {
            Some(Checkpoint { rounds, results }) => (rounds, Some(results)),
            None => (Rounds::none(plan.shard), None),
        };
        let mut findings = Findings::new(plan.findings.clone(), Instant::now());
        if let Some(before) = &mut before {
            findings = findings.go_on(std::mem::take(&mut before.findings), before.seconds);
        }
        Shared {
            plan,
            cast,
            stop,
            started: Instant::now(),
            next_round: AtomicU64::new(finished_before.next()),
            counts: Mutex::default(),
            rounds: Mutex::new(finished_before.clone()),
            findings: Mutex::new(findings),
            not_run: Mutex::new(cast.not_run.clone()),
            strikes: (0..=cast.references.len()).map(|_| AtomicU32::new(0)).collect(),
            over_since: OnceLock::new(),
            before,
            finished_before,
        }
    }

    /// Seconds that it ran, those before it went on included.
    fn seconds(&self) -> f64 {
        self.before.as_ref().map_or(0.0, |before| before.seconds) + self.started.elapsed().as_secs_f64()
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether its time is up, or it is stopped.
    fn is_over(&self) -> bool {
        let time_is_up = match self.plan.budget {
            Budget::Time(time) => self.seconds() >= time.as_secs_f64(),
            Budget::Cases(_) | Budget::Edges => false,
        };
        time_is_up || self.stopped()
    }

    /// Whether it has been over for so long that the rounds that run are cut short.
    fn is_late(&self) -> bool {
        self.is_over() && self.over_since.get_or_init(Instant::now).elapsed() >= TO_FINISH
    }

    /// The next round of this shard, unless the campaign is over.
    fn claim(&self) -> Option<u64> {
        if self.is_over() {
            return None;
        }
        let mut claims =
            std::iter::from_fn(|| Some(self.next_round.fetch_add(self.plan.shard.1.max(1), Ordering::Relaxed)));
        let round = claims.find(|round| !self.finished_before.has(*round))?;
        let end = match self.plan.budget {
            Budget::Time(_) => u64::MAX,
            Budget::Cases(cases) => cases.div_ceil(ROUND[0].1),
            Budget::Edges => generators::edges::count().div_ceil(share(Lane::Edges)),
        };
        (round < end).then_some(round)
    }

    /// The indices of a lane's cases in a round.
    fn indices(&self, lane: Lane, round: u64) -> std::ops::Range<u64> {
        if !self.plan.lanes.contains(&lane) {
            return 0..0;
        }
        let share = share(lane);
        let end = match self.plan.budget {
            // As many of a smaller lane as its share of this many.
            Budget::Cases(cases) => (cases.saturating_mul(share)).div_ceil(ROUND[0].1),
            Budget::Time(_) => u64::MAX,
            Budget::Edges => generators::edges::count(),
        };
        (round * share).min(end)..((round + 1) * share).min(end)
    }

    /// A worker finished a round. Counts, rounds and findings change together, so that every checkpoint is of whole rounds.
    fn finish(&self, round: u64, counts: Counts) {
        let mut sums = lock(&self.counts);
        sums.merge(counts);
        lock(&self.rounds).finish(round);
        lock(&self.findings).finish(round);
    }

    /// Said once, however many workers come upon it.
    fn did_not_run(&self, missing: NotRun) {
        let mut not_run = lock(&self.not_run);
        if !not_run.contains(&missing) {
            not_run.push(missing);
        }
    }

    /// Its place among those that are left out when they fail.
    fn layout_subject(&self) -> usize {
        self.cast.references.len()
    }

    fn left_out(&self, reference: usize) -> bool {
        self.strikes[reference].load(Ordering::Relaxed) >= STRIKES
    }

    /// A reference failed over a batch: `strikes` more. The one that reaches the limit reports that it is left out.
    fn strike(&self, reference: usize, name: &str, strikes: u32) {
        let before = self.strikes[reference].fetch_add(strikes, Ordering::Relaxed);
        if before < STRIKES && before + strikes >= STRIKES {
            self.did_not_run(NotRun {
                what: format!("{name}, to the end"),
                why: match strikes {
                    STRIKES => "it fails over any batch".into(),
                    _ => format!("it failed over {STRIKES} batches in a row"),
                },
                mend: "see the finding of its name; the campaign went on without it".into(),
            });
        }
    }

    /// A reference answered a batch.
    fn answered(&self, reference: usize) {
        let forgive = |strikes| (strikes < STRIKES).then_some(0);
        let _ = self.strikes[reference].fetch_update(Ordering::Relaxed, Ordering::Relaxed, forgive);
    }

    fn progress(&self) -> Progress {
        let lanes = lock(&self.counts).lanes.clone();
        let before = self.before.iter().flat_map(|before| &before.lanes);
        let before: BTreeMap<&str, u64> = before.map(|lane| (lane.name.as_str(), lane.cases)).collect();
        let cases = lanes.iter().map(|(lane, row)| (lane.name(), row.0));
        let cases: BTreeMap<_, _> = cases
            .map(|(lane, count)| (lane, count + before.get(lane).unwrap_or(&0)))
            .collect();
        let elapsed = Duration::from_secs_f64(self.seconds());
        let most = cases.values().max().copied().unwrap_or(0);
        let of_shard = |all: u64| most as f64 / all.div_ceil(self.plan.shard.1.max(1)).max(1) as f64;
        let done = match self.plan.budget {
            Budget::Time(time) => elapsed.as_secs_f64() / time.as_secs_f64().max(0.001),
            Budget::Cases(all) => of_shard(all),
            Budget::Edges => of_shard(generators::edges::count()),
        };
        Progress {
            cases,
            findings: lock(&self.findings).len(),
            done: done.min(1.0),
            elapsed,
        }
    }

    /// Where it stands, in whole rounds.
    fn checkpoint(&self) -> Checkpoint {
        let counts = lock(&self.counts);
        let rounds = lock(&self.rounds).clone();
        let mut results = self.results(&counts);
        if let Some(before) = &self.before {
            results = before.clone().then(results);
        }
        Checkpoint { rounds, results }
    }

    /// What was counted since it started or went on, and every finding.
    fn results(&self, counts: &Counts) -> Results {
        let findings = lock(&self.findings).rows();
        let lanes = self.plan.lanes.iter().map(|lane| {
            let (cases, time) = counts.lanes.get(lane).copied().unwrap_or_default();
            LaneRow {
                name: lane.name().into(),
                cases,
                worker_seconds: time.as_secs_f64(),
            }
        });
        let comparisons = counts
            .comparisons
            .iter()
            .map(|((_, aspect, subject, reference), row)| Comparison {
                aspect: (*aspect).into(),
                subject: subject.clone(),
                reference: reference.clone(),
                compared: row[0],
                both_accept: row[1],
                both_refuse: row[2],
            });
        Results {
            format: RESULTS_FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            commit: None,
            shards: Shards {
                of: self.plan.shard.1,
                ran: vec![self.plan.shard.0],
            },
            command: self.plan.command(),
            seed: self.plan.seed,
            started: epoch_seconds().saturating_sub(self.started.elapsed().as_secs()),
            seconds: self.seconds(),
            workers: self.plan.workers,
            interrupted: self.stopped(),
            lanes: lanes.collect(),
            comparisons: comparisons.collect(),
            msl: counts.msl.clone(),
            ledger: counts.ledger.rows(),
            engines: counts.engines.values().cloned().collect(),
            recordings: Vec::new(),
            coverage: counts.coverage.of_lanes(&self.plan.lanes),
            repeated_findings: repeated(&findings),
            findings,
            not_run: lock(&self.not_run).clone(),
            power: None,
            bench: None,
        }
    }
}

/// Seconds since the Unix epoch.
pub(crate) fn epoch_seconds() -> u64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

impl Plan {
    /// The command line that makes the same cases.
    fn command(&self) -> String {
        let seed = self.seed;
        let mut command = "cargo lockstep run".to_owned();
        match self.budget {
            Budget::Time(time) => command += &format!(" --seed {seed} --time {}s", time.as_secs_f64()),
            Budget::Cases(cases) => command += &format!(" --seed {seed} --cases {cases}"),
            Budget::Edges => command += " --edges",
        }
        if self.shard.1 > 1 {
            command += &format!(" --shard {}/{}", self.shard.0, self.shard.1);
        }
        let whole = |part: &&Part| part.lanes().iter().all(|lane| self.lanes.contains(lane));
        let parts: Vec<&Part> = Part::ALL.iter().filter(whole).collect();
        if parts.len() < Part::ALL.len() {
            parts
                .iter()
                .for_each(|part| command += &format!(" --only {}", part.name()));
        }
        command
    }
}

/// Cases of a lane in a round.
fn share(lane: Lane) -> u64 {
    ROUND.iter().find(|known| known.0 == lane).map_or(0, |known| known.1)
}
