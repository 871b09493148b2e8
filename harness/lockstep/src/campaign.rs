//! The campaign: many cases within a budget, through every reader and engine.
//!
//! Work comes in rounds. A round is a fixed share of every lane, so which cases a campaign runs follows from its seed and its number of
//! rounds alone, whoever runs which; workers take the next round until the budget ends.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use arbitrary::Unstructured;
use clap::ValueEnum;

use crate::case::{Case, LayoutCase, Origin, StreamCase};
use crate::coverage::Tally;
use crate::findings::{Finding, Findings};
use crate::generators::{self, Lane, Made};
use crate::gpu::engine::Engine;
use crate::oracles::{Outcome, Verdict, gpu, msl, slots, streams};
use crate::readers::answer::{DescriptorAnswer, NotAnAnswer, StreamAnswer};
use crate::readers::ask::{self, NoAnswer};
use crate::readers::{Batch, BatchAnswers, CallsQuery, LayoutReader, ReaderFailed, StreamReader};
use crate::report::results::{Comparison, EngineRow, Lane as LaneRow, Msl, NotRun, RESULTS_FORMAT, Results};

/// Cases of each lane in a round. The shares say what a campaign's time goes into.
const ROUND: [(Lane, u64); 6] = [
    (Lane::Streams, 512),
    (Lane::Raw, 64),
    (Lane::Replays, 24),
    (Lane::Layouts, 512),
    (Lane::Shaders, 8),
    // Of a campaign of edges alone.
    (Lane::Edges, 256),
];

/// A part of the job.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Streams through the readers
    Streams,
    /// Layouts through the slot readers, shaders through naga
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
            Part::Slots => &[Lane::Layouts, Lane::Shaders],
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

/// Of each stream lane, the calls of the cases whose index is a multiple of this are compared too. They cost several times what
/// Decode costs.
const CALLS_SHARE: u64 = 7;

/// When a campaign ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// After this long; the rounds that run then are finished.
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
    /// The stream readers that it is held against.
    pub references: Vec<Maker<Box<dyn StreamReader>>>,
    /// The layout reader under test.
    pub layout_subject: Maker<Box<dyn LayoutReader>>,
    /// The layout readers that it is held against.
    pub layout_references: Vec<Maker<Box<dyn LayoutReader>>>,
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

/// What was counted, by one worker in a round or by all so far.
#[derive(Default)]
struct Counts {
    lanes: BTreeMap<Lane, (u64, Duration)>,
    comparisons: BTreeMap<(usize, &'static str, String, String), [u64; 3]>,
    msl: Msl,
    engines: BTreeMap<String, EngineRow>,
    coverage: Tally,
}

impl Counts {
    fn merge(&mut self, other: Counts) {
        for (lane, (cases, time)) in other.lanes {
            let row = self.lanes.entry(lane).or_default();
            (row.0, row.1) = (row.0 + cases, row.1 + time);
        }
        for (key, counts) in other.comparisons {
            let row = self.comparisons.entry(key).or_default();
            row.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        self.msl.add(&other.msl);
        for (id, row) in other.engines {
            match self.engines.get_mut(&id) {
                Some(sum) => sum.add(&row),
                None => drop(self.engines.insert(id, row)),
            }
        }
        self.coverage.merge(other.coverage);
    }

    fn time(&mut self, lane: Lane, cases: u64, since: Instant) {
        let row = self.lanes.entry(lane).or_default();
        (row.0, row.1) = (row.0 + cases, row.1 + since.elapsed());
    }

    fn compared(&mut self, outcome: &Outcome, subject: &str, reference: &str) {
        let mut aspects = streams::ASPECTS.iter().chain(&slots::ASPECTS);
        let order = aspects.position(|known| *known == outcome.aspect).unwrap_or(0);
        let key = (order, outcome.aspect, subject.to_owned(), reference.to_owned());
        let row = self.comparisons.entry(key).or_default();
        row[0] += 1;
        row[1] += u64::from(outcome.verdict == Verdict::BothAccept);
        row[2] += u64::from(outcome.verdict == Verdict::BothRefuse);
    }
}

/// What the workers share.
struct Shared<'a> {
    plan: &'a Plan,
    cast: &'a Cast,
    stop: &'a AtomicBool,
    started: Instant,
    next_round: AtomicU64,
    counts: Mutex<Counts>,
    findings: Mutex<Findings>,
    not_run: Mutex<Vec<NotRun>>,
    /// Batches in a row over which each reference failed; [`STRIKES`] for one that is left out from there on.
    strikes: Vec<AtomicU32>,
}

/// So many failed batches in a row, and a reader is left out.
const STRIKES: u32 = 3;
/// The search for the case over which a reader fails ends here: a reader that hangs is waited for at each question.
const SEARCH: Duration = Duration::from_secs(60);

/// What a lock holds, also after a worker panicked: counts and findings are whole between statements, and losing them would be worse.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs a campaign to the end of its budget, or until `stop` is set. `progress` is called a few times a second.
pub fn run(plan: &Plan, cast: &Cast, stop: &AtomicBool, progress: &mut dyn FnMut(&Progress)) -> Results {
    let started = Instant::now();
    let shared = Shared {
        plan,
        cast,
        stop,
        started,
        next_round: AtomicU64::new(plan.shard.0),
        counts: Mutex::default(),
        findings: Mutex::new(Findings::new(plan.findings.clone(), started)),
        not_run: Mutex::new(cast.not_run.clone()),
        strikes: cast.references.iter().map(|_| AtomicU32::new(0)).collect(),
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.workers.max(1))
            .map(|_| scope.spawn(|| work(&shared)))
            .collect();
        while !workers.iter().all(|worker| worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(100));
            progress(&shared.progress());
        }
        for worker in workers {
            if worker.join().is_err() {
                lock(&shared.not_run).push(NotRun {
                    what: "a worker".into(),
                    why: "it panicked; its message is above".into(),
                    mend: "report it: this is a fault of lockstep".into(),
                });
            }
        }
    });
    shared.results()
}

impl Shared<'_> {
    /// The next round of this shard, unless the campaign is over.
    fn claim(&self) -> Option<u64> {
        let over = match self.plan.budget {
            Budget::Time(time) => self.started.elapsed() >= time,
            Budget::Cases(_) | Budget::Edges => false,
        };
        if over || self.stop.load(Ordering::Relaxed) {
            return None;
        }
        let round = self.next_round.fetch_add(self.plan.shard.1.max(1), Ordering::Relaxed);
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

    fn left_out(&self, reference: usize) -> bool {
        self.strikes[reference].load(Ordering::Relaxed) >= STRIKES
    }

    /// A reference failed over a batch: `strikes` more. The one that reaches the limit reports that it is left out.
    fn strike(&self, reference: usize, name: &str, strikes: u32) {
        let before = self.strikes[reference].fetch_add(strikes, Ordering::Relaxed);
        if before < STRIKES && before + strikes >= STRIKES {
            lock(&self.not_run).push(NotRun {
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
        let cases: BTreeMap<_, _> = lanes.iter().map(|(lane, row)| (lane.name(), row.0)).collect();
        let elapsed = self.started.elapsed();
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

    fn results(&self) -> Results {
        let counts = lock(&self.counts);
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
            command: self.plan.command(),
            seed: self.plan.seed,
            started: epoch_seconds().saturating_sub(self.started.elapsed().as_secs()),
            seconds: self.started.elapsed().as_secs_f64(),
            workers: self.plan.workers,
            interrupted: self.stop.load(Ordering::Relaxed),
            lanes: lanes.collect(),
            comparisons: comparisons.collect(),
            msl: counts.msl.clone(),
            engines: counts.engines.values().cloned().collect(),
            coverage: counts.coverage.of_lanes(&self.plan.lanes),
            repeated_findings: findings.iter().map(|row| row.seen - 1).sum(),
            findings,
            not_run: lock(&self.not_run).clone(),
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

/// A stream case of a round.
struct Item {
    lane: Lane,
    index: u64,
    case: StreamCase,
    /// What an edge shows.
    name: Option<String>,
    /// Where its calls are compared, what is asked.
    calls: Option<CallsQuery>,
}

impl Item {
    fn new(lane: Lane, index: u64, case: StreamCase) -> Item {
        let calls = if index.is_multiple_of(CALLS_SHARE) {
            CallsQuery::of(&case)
        } else {
            None
        };
        Item {
            lane,
            index,
            case,
            name: None,
            calls,
        }
    }

    /// An edge; the edges are about readers, and their tables are no objects for a replay.
    fn edge(index: u64, case: StreamCase, name: String) -> Item {
        Item {
            lane: Lane::Edges,
            index,
            case,
            name: Some(name),
            calls: None,
        }
    }
}

/// A reader's answers to a round's items. `None` stands for one that is none of PROTOCOL.md's, which is a finding already.
struct Heard {
    streams: Vec<Option<StreamAnswer>>,
    descriptors: Vec<Option<DescriptorAnswer>>,
    /// To the items that were asked for their calls; none from a reader that does not replay.
    calls: Vec<Vec<u8>>,
}

/// Makes a case out of bytes.
type Generator<T> = fn(&mut Unstructured<'_>) -> arbitrary::Result<Made<T>>;

/// Cases of a lane in a round.
fn share(lane: Lane) -> u64 {
    ROUND.iter().find(|known| known.0 == lane).map_or(0, |known| known.1)
}

/// One thread's readers and engines.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    subject: Box<dyn StreamReader>,
    references: Vec<Box<dyn StreamReader>>,
    layout_subject: Box<dyn LayoutReader>,
    layout_references: Vec<Box<dyn LayoutReader>>,
    engines: Vec<Engine>,
    counts: Counts,
    bytes: Vec<u8>,
    edges: generators::edges::Cursor,
}

fn work(shared: &Shared<'_>) {
    let cast = shared.cast;
    let mut worker = Worker {
        shared,
        subject: (cast.subject)(),
        references: cast.references.iter().map(|make| make()).collect(),
        layout_subject: (cast.layout_subject)(),
        layout_references: cast.layout_references.iter().map(|make| make()).collect(),
        engines: open_engines(shared),
        counts: Counts::default(),
        bytes: Vec::new(),
        edges: generators::edges::Cursor::default(),
    };
    while let Some(round) = shared.claim() {
        worker.streams(round);
        worker.each(
            Lane::Layouts,
            round,
            generators::layout::layout_case,
            |worker, index, case| {
                worker.layout(index, &case);
            },
        );
        worker.each(
            Lane::Shaders,
            round,
            generators::wgsl::shader_case,
            |worker, index, case| {
                worker.shader(index, &case);
            },
        );
        lock(&shared.counts).merge(std::mem::take(&mut worker.counts));
    }
}

fn open_engines(shared: &Shared<'_>) -> Vec<Engine> {
    if !shared.plan.lanes.contains(&Lane::Replays) {
        return Vec::new();
    }
    let mut engines = Vec::new();
    for id in &shared.cast.engines {
        match Engine::open(id) {
            Ok(engine) => engines.push(engine),
            Err(error) => {
                let mend = "run `cargo lockstep doctor`".to_owned();
                let missing = NotRun {
                    what: id.clone(),
                    why: format!("{error:#}"),
                    mend,
                };
                let mut not_run = lock(&shared.not_run);
                if !not_run.contains(&missing) {
                    not_run.push(missing);
                }
            }
        }
    }
    engines
}

impl Worker<'_> {
    fn origin(&self, lane: Lane, index: u64) -> Origin {
        Origin {
            lane: lane.name().into(),
            seed: self.shared.plan.seed,
            index,
        }
    }

    fn found(&self, (lane, index): (Lane, u64), case: Case, signature: String, summary: String) {
        lock(&self.shared.findings).add(Finding {
            signature,
            summary,
            case,
            origin: Some(self.origin(lane, index)),
        });
    }

    /// A finding over a stream; its summary says also what the case shows.
    fn found_over(&self, item: &Item, signature: String, summary: String) {
        let summary = match &item.name {
            Some(name) => format!("{summary}, over {name}"),
            None => summary,
        };
        self.found(
            (item.lane, item.index),
            Case::Stream(item.case.clone()),
            signature,
            summary,
        );
    }

    /// Makes a lane's cases of a round and gives each to `body`, with its index.
    fn each<T>(&mut self, lane: Lane, round: u64, generator: Generator<T>, mut body: impl FnMut(&mut Self, u64, T)) {
        let since = Instant::now();
        let indices = self.shared.indices(lane, round);
        for index in indices.clone() {
            generators::bytes(lane, self.shared.plan.seed, index, &mut self.bytes);
            if let Ok(made) = generator(&mut Unstructured::new(&self.bytes)) {
                self.counts.coverage.faults(&made.faults);
                body(self, index, made.case);
            }
        }
        self.counts.time(lane, indices.end - indices.start, since);
    }

    /// A round's streams. References in processes of their own work on them while this thread asks the subject and the engines.
    fn streams(&mut self, round: u64) {
        let items = self.items(round);
        // Where the readers' time goes: to the lane of the first case.
        let Some(lane) = items.first().map(|item| item.lane) else {
            return;
        };
        let since = Instant::now();
        let batch = batch_of(&items);
        let asked = self.ask_references(&batch);
        let subject = self.ask_subject(&items, &batch);
        if let Some(subject) = &subject {
            self.tally(&items, subject);
        }
        self.counts.time(lane, 0, since);
        let Some(subject) = subject else { return };
        let since = Instant::now();
        for (item, answer) in items.iter().zip(&subject.streams) {
            if let (Lane::Replays, Some(answer)) = (item.lane, answer) {
                self.replay(item, answer);
            }
        }
        self.counts.time(Lane::Replays, 0, since);
        let since = Instant::now();
        self.hear_references(asked, &items, &subject);
        self.counts.time(lane, 0, since);
    }

    fn items(&mut self, round: u64) -> Vec<Item> {
        let generators: [(Lane, Generator<StreamCase>); 3] = [
            (Lane::Streams, generators::streams::stream_case),
            (Lane::Raw, generators::raw::raw_case),
            (Lane::Replays, generators::streams::replay_case),
        ];
        let mut items = Vec::new();
        for (lane, generator) in generators {
            self.each(lane, round, generator, |_, index, case| {
                items.push(Item::new(lane, index, case));
            });
        }
        items.extend(self.edges(round));
        items
    }

    /// The edges of a round.
    fn edges(&mut self, round: u64) -> Vec<Item> {
        let since = Instant::now();
        let indices = self.shared.indices(Lane::Edges, round);
        if indices.is_empty() {
            return Vec::new();
        }
        let edges = self.edges.take(indices.clone());
        let items = indices.clone().zip(edges).map(|(index, edge)| {
            self.counts.coverage.edge(edge.family);
            Item::edge(index, edge.case, edge.name)
        });
        let items = items.collect();
        self.counts.time(Lane::Edges, indices.end - indices.start, since);
        items
    }

    /// Hands the batch to each reference; `None` for one that is left out.
    fn ask_references(&mut self, batch: &Batch) -> Vec<Option<Result<(), ReaderFailed>>> {
        let shared = self.shared;
        let references = self.references.iter_mut().enumerate();
        references
            .map(|(at, reference)| (!shared.left_out(at)).then(|| reference.ask(batch)))
            .collect()
    }

    fn ask_subject(&mut self, items: &[Item], batch: &Batch) -> Option<Heard> {
        match ask::batch(self.subject.as_mut(), batch) {
            Ok(answers) => Some(self.take_apart(self.subject.name(), items, answers)),
            Err(failed) => {
                self.reader_failed(None, items, failed);
                None
            }
        }
    }

    fn hear_references(&mut self, asked: Vec<Option<Result<(), ReaderFailed>>>, items: &[Item], subject: &Heard) {
        for (at, asked) in asked.into_iter().enumerate() {
            let Some(asked) = asked else { continue };
            match asked.and_then(|()| self.references[at].hear()) {
                Ok(answers) => {
                    self.shared.answered(at);
                    let heard = self.take_apart(self.references[at].name(), items, answers);
                    self.compare(at, items, subject, &heard);
                }
                Err(failed) => self.reader_failed(Some(at), items, failed),
            }
        }
    }

    fn take_apart(&self, reader: &str, items: &[Item], answers: BatchAnswers) -> Heard {
        let streams = items.iter().zip(&answers.streams);
        let descriptors = owners(items).zip(&answers.descriptors);
        Heard {
            streams: streams
                .map(|(item, bytes)| self.sense(reader, item, StreamAnswer::parse(bytes)))
                .collect(),
            descriptors: descriptors
                .map(|(item, bytes)| self.sense(reader, item, DescriptorAnswer::parse(bytes)))
                .collect(),
            calls: answers.calls,
        }
    }

    fn sense<T>(&self, reader: &str, item: &Item, answer: Result<T, NotAnAnswer>) -> Option<T> {
        let nonsense = |what| {
            let reader = reader.to_owned();
            let none = NoAnswer::Nonsense { reader, what };
            self.found_over(item, none.signature(), none.to_string());
        };
        answer.map_err(nonsense).ok()
    }

    /// A reader failed over a batch: a finding, with the case that it fails over. Of one signature only the first finding is kept, so
    /// that only for that one the case is searched for.
    fn reader_failed(&mut self, reference: Option<usize>, items: &[Item], failed: ReaderFailed) {
        let reader = failed.reader.clone();
        let failed = NoAnswer::from(failed);
        let signature = failed.signature();
        let known = lock(&self.shared.findings).knows(&signature);
        let always = self.fails(reference, &[]);
        let (range, fails) = match (known, always) {
            (true, _) => (0..1, String::new()),
            (false, true) => (0..1, "over any batch, also one of no cases".into()),
            (false, false) => self.search(reference, items),
        };
        if let Some(at) = reference {
            let strikes = if always { STRIKES } else { 1 };
            self.shared.strike(at, &reader, strikes);
        }
        self.found_over(&items[range.start], signature, format!("{failed}; it fails {fails}"));
    }

    /// Halves the batch as long as the reader fails over a half alone. Gives the items that are left and says what they show.
    fn search(&mut self, reference: Option<usize>, items: &[Item]) -> (std::ops::Range<usize>, String) {
        let until = Instant::now() + SEARCH;
        let mut left = 0..items.len();
        while left.len() > 1 && Instant::now() < until {
            let middle = left.start + left.len() / 2;
            let halves = [left.start..middle, middle..left.end];
            match halves
                .into_iter()
                .find(|half| self.fails(reference, &items[half.clone()]))
            {
                Some(half) => left = half,
                None => break,
            }
        }
        let fails = match left.len() {
            1 => "over this case".to_owned(),
            many => format!("over a batch of {many} cases that begins with this one; a smaller one was not found"),
        };
        (left, fails)
    }

    fn fails(&mut self, reference: Option<usize>, items: &[Item]) -> bool {
        let reader = match reference {
            Some(at) => self.references[at].as_mut(),
            None => self.subject.as_mut(),
        };
        ask::batch(reader, &batch_of(items)).is_err()
    }

    fn tally(&mut self, items: &[Item], subject: &Heard) {
        let coverage = &mut self.counts.coverage;
        for (item, answer) in items.iter().zip(&subject.streams) {
            answer
                .iter()
                .for_each(|answer| coverage.stream(&item.case.blob, answer));
        }
        subject
            .descriptors
            .iter()
            .flatten()
            .for_each(|answer| coverage.descriptor(answer));
    }

    fn compare(&mut self, reference: usize, items: &[Item], subject: &Heard, heard: &Heard) {
        let reference = self.references[reference].name().to_owned();
        for ((item, a), b) in items.iter().zip(&subject.streams).zip(&heard.streams) {
            if let (Some(a), Some(b)) = (a, b) {
                for outcome in streams::compare(a, b) {
                    self.compared(&reference, item, &outcome);
                }
            }
        }
        for ((item, a), b) in owners(items).zip(&subject.descriptors).zip(&heard.descriptors) {
            if let (Some(a), Some(b)) = (a, b) {
                self.compared(&reference, item, &streams::compare_descriptors(a, b));
            }
        }
        let asked = items.iter().filter(|item| item.calls.is_some());
        for ((item, a), b) in asked.zip(&subject.calls).zip(&heard.calls) {
            self.compared(&reference, item, &streams::compare_calls(a, b));
        }
    }

    fn compared(&mut self, reference: &str, item: &Item, outcome: &Outcome) {
        let subject = self.subject.name();
        self.counts.compared(outcome, subject, reference);
        if let Some((signature, summary)) = parted(outcome, subject, reference) {
            self.found_over(item, signature, summary);
        }
    }

    fn replay(&mut self, item: &Item, answer: &StreamAnswer) {
        let decoded = answer.decode.as_ref().and_then(|part| part.as_ref().ok());
        let commands = decoded.map_or(0, |list| list.len() as u64);
        let subject = self.subject.name();
        for at in 0..self.engines.len() {
            let engine = &mut self.engines[at];
            let Some((judged, outcome)) = gpu::replay(engine, &item.case, answer) else {
                continue;
            };
            let id = engine.id();
            let row = self.counts.engines.entry(id.to_owned());
            let row = row.or_insert_with(|| EngineRow {
                engine: id.to_owned(),
                driver: engine.driver().to_owned(),
                executes: engine.executes(),
                ..EngineRow::default()
            });
            gpu::count(row, commands, &judged, &outcome);
            if let Some(signature) = judged.signature(subject, id) {
                let summary = format!("{subject} against {id}: {}: {}", judged.what, judged.detail);
                self.found_over(item, signature, summary);
            }
        }
    }

    fn layout(&mut self, index: u64, case: &LayoutCase) {
        let compared = catch_unwind(AssertUnwindSafe(|| self.compare_layout(index, case)));
        if compared.is_err() {
            let signature = "slots: a reader panicked".to_owned();
            self.found(
                (Lane::Layouts, index),
                Case::Layout(case.clone()),
                signature.clone(),
                signature,
            );
        }
    }

    fn compare_layout(&mut self, index: u64, case: &LayoutCase) {
        let answer = self.layout_subject.answer(case);
        if answer.stages.iter().any(|stage| stage.1.is_ok()) {
            self.counts.coverage.bindings(case.groups.iter().flatten().flatten());
        }
        let subject = self.layout_subject.name();
        for at in 0..self.layout_references.len() {
            let reference = self.layout_references[at].answer(case);
            let name = self.layout_references[at].name();
            for outcome in slots::compare(&answer, &reference) {
                self.counts.compared(&outcome, subject, name);
                if let Some((signature, summary)) = parted(&outcome, subject, name) {
                    self.found((Lane::Layouts, index), Case::Layout(case.clone()), signature, summary);
                }
            }
        }
    }

    fn shader(&mut self, index: u64, case: &LayoutCase) {
        let found = |signature, summary| {
            self.found((Lane::Shaders, index), Case::Layout(case.clone()), signature, summary);
        };
        // A panic, naga's or the oracle's, is a finding, and the campaign goes on.
        let Ok(checked) = catch_unwind(AssertUnwindSafe(|| msl::check(case))) else {
            found(
                "msl: a panic".into(),
                "naga or the oracle panicked; its message is above".into(),
            );
            return;
        };
        for problem in &checked.problems {
            let summary = format!("entry point {}: {}", problem.entry_point, problem.detail);
            found(problem.signature(), summary);
        }
        self.counts.msl.add(&Msl {
            translated: checked.translated,
            arguments: checked.arguments,
            refused: checked.refused,
        });
    }
}

/// The signature and the summary of an outcome in which two readers part.
fn parted(outcome: &Outcome, subject: &str, reference: &str) -> Option<(String, String)> {
    let Verdict::Differ(how) = &outcome.verdict else {
        return None;
    };
    let summary = format!("{subject} and {reference} part at {}: {how}", outcome.aspect);
    Some((outcome.signature(subject, reference)?, summary))
}

fn batch_of(items: &[Item]) -> Batch {
    Batch {
        calls: items.iter().filter_map(|item| item.calls.clone()).collect(),
        ..Batch::of(items.iter().map(|item| &item.case))
    }
}

/// The item of each descriptor of a batch.
fn owners(items: &[Item]) -> impl Iterator<Item = &Item> {
    items
        .iter()
        .flat_map(|item| std::iter::repeat_n(item, item.case.descriptors.len()))
}
