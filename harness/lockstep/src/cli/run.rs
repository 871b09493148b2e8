//! `lockstep run`.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use serde::{Deserialize, Serialize};

use super::report::{self, Formats};
use super::resume::{self, Keeper};
use super::settings::{self, Settings};
use super::{color, evidence, recorded, stop_on_signals};
use crate::bind;
use crate::campaign::{self, Budget, Cast, Maker, Part, Plan, Progress, epoch_seconds};
use crate::generators::Lane;
use crate::gpu::engine::{self, EngineId};
use crate::minimize;
use crate::oracles::msl;
use crate::power;
use crate::readers::native::Native;
use crate::readers::outside::{Outside, Readers};
use crate::readers::slot_model::SlotModel;
use crate::readers::slot_upstream::SlotUpstream;
use crate::readers::{StreamReader, replay_js};
use crate::report::history::History;
use crate::report::results::{FindingRow, NotRun, Results};
use crate::report::{figures, terminal};
use crate::say;
use crate::setup::{self, Missing, Parts};

const EXAMPLES: &str = "Examples:
  cargo lockstep run                          60 seconds, with a seed that the clock gives
  cargo lockstep run --cases 10000 --seed 7   exactly these cases, on any machine
  cargo lockstep run --only gpu --time 5m     replays alone
  cargo lockstep run --edges                  every edge of the format, through the readers of streams
  cargo lockstep run --shard 0/4              the first of four machines' parts; `cargo lockstep report` merges them
  cargo lockstep run --resume reports/out     the campaign that was ended there goes on
  cargo lockstep run --reader 'exec:python3 reference/examples/reader.py'
  cargo lockstep run --recorded particles.recording
  cargo lockstep run --subject exec:./a-port-of-wire --until-finding
  cargo lockstep run --quiet --json > results.json

A file lockstep.toml at the repository's root, or --config FILE, holds defaults; the command line wins:
  [run]
  time = \"5m\"
  workers = 4
  gpu = [\"wgpu:noop\"]
  require-gpu = false
  reader = [\"exec:python3 reference/examples/reader.py\"]
  out = \"reports/out\"
  quiet = false

Exit status: 0 nothing found, 1 findings, 2 bad use, bad input or a missing part.";

/// `lockstep run`'s arguments. Those that are kept in a checkpoint decide what is run.
#[derive(clap::Args, Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// How long to run: 90s, 5m, 2h; without it 60s
    #[arg(long, value_parser = duration, conflicts_with = "cases")]
    time: Option<Duration>,
    /// Run exactly this many stream cases and layout cases, with their share of the other kinds
    #[arg(long)]
    cases: Option<u64>,
    /// Instead of random cases every edge of the format once: each field, length, count and context where a rule turns
    #[arg(long, conflicts_with_all = ["time", "cases", "seed", "only", "gpu"])]
    pub(super) edges: bool,
    /// Instead of random cases this recording of a program, a folder or a tar archive; may be given several times
    #[arg(long, value_name = "RECORDING", conflicts_with_all = ["time", "cases", "edges", "seed", "only", "shard", "workers", "subject", "until_finding", "resume"])]
    #[serde(skip)]
    recorded: Vec<PathBuf>,
    /// Every case follows from it; without it the clock gives one, and the report names it
    #[arg(long)]
    pub(super) seed: Option<u64>,
    /// Threads; one for each core unless said otherwise
    #[arg(long, value_parser = workers)]
    #[serde(skip)]
    workers: Option<usize>,
    /// Only this part of the job; may be given several times
    #[arg(long, value_enum)]
    only: Vec<Part>,
    /// Part I of N of the campaign, I from 0; `cargo lockstep report` merges the parts' results
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(super) shard: Option<(u64, u64)>,
    #[command(flatten)]
    #[serde(rename = "reader")]
    readers: Readers,
    /// The subject, as exec:COMMAND, in the place of `wire` and `mslmap`: a program that speaks reference/PROTOCOL.md
    #[arg(long, value_name = "exec:COMMAND", value_parser = Outside::parse)]
    subject: Option<Outside>,
    /// Replay on this engine; may be given several times. `cargo lockstep doctor` lists them
    #[arg(long, value_name = "ENGINE")]
    gpu: Vec<String>,
    /// End once something is found
    #[arg(long)]
    until_finding: bool,
    /// End with status 2 where no engine executes what it validates
    #[arg(long)]
    #[serde(skip)]
    require_gpu: bool,
    /// Where results.json, report.html and findings/ go
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip)]
    out: Option<PathBuf>,
    #[command(flatten)]
    #[serde(skip)]
    formats: Formats,
    /// Go on with the campaign that was ended in this folder, by a signal or by whatever happened to the machine. The options that decide
    /// what is run are the ones that it was started with: the commands of its --reader and --subject stand in checkpoint.json, and are run.
    /// Take up only what you trust
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip)]
    resume: Option<PathBuf>,
    /// Say nothing while it runs, and then the findings and the verdict alone
    #[arg(long)]
    #[serde(skip)]
    quiet: bool,
    /// The results as JSON on standard output, in place of the summary (reports/results.schema.json)
    #[arg(long)]
    #[serde(skip)]
    json: bool,
    /// Defaults from this file instead of lockstep.toml at the repository's root
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,
}

/// Without `--time`.
const TIME: Duration = Duration::from_secs(60);

impl Args {
    /// With what the file says where the command line says nothing. What has no use beside the options given is left out.
    fn or(&self, file: settings::Run) -> Args {
        let mut args = self.clone();
        if args.cases.is_none() && !args.edges {
            args.time = args.time.or(file.time);
        }
        if without_engines(&args).is_none() {
            args.require_gpu |= file.require_gpu;
            if args.gpu.is_empty() {
                args.gpu = file.gpu;
            }
        }
        args.workers = args.workers.or(file.workers);
        args.readers = args.readers.or(file.reader);
        args.out = args.out.or(file.out);
        args.quiet |= file.quiet;
        args
    }
}

/// A span of time, as in 90s.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let scale = match unit {
        "ms" => Some(0.001),
        "s" | "" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let seconds = scale.and_then(|scale: f64| Some(number.parse::<f64>().ok()? * scale));
    let span = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    span.ok_or_else(|| format!("`{text}` is no span of time; give a number and ms, s, m or h, as in 90s"))
}

/// Each worker has a process of deno's and devices of its own; more than this is a slip of the finger that takes the machine down.
const MAX_WORKERS: usize = 1024;

/// A number of threads.
pub(super) fn workers(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MAX_WORKERS).contains(number));
    number.ok_or_else(|| format!("a number from 1 to {MAX_WORKERS}"))
}

pub(super) fn shard(text: &str) -> Result<(u64, u64), String> {
    let parts = text
        .split_once('/')
        .and_then(|(i, n)| Some((i.parse::<u32>().ok()?, n.parse::<u32>().ok()?)));
    match parts {
        // In 32 bits, so that no number of a round or a case passes 64.
        Some((i, n)) if i < n => Ok((i.into(), n.into())),
        _ => Err("I/N with I from 0 and below N, as in 0/4".into()),
    }
}

impl Args {
    /// What the command line checks of the options of a checkpoint, which may say anything.
    ///
    /// # Errors
    ///
    /// It would not take them: in one line, why.
    pub(super) fn check(&self) -> Result<(), String> {
        let budgets = [self.time.is_some(), self.cases.is_some(), self.edges];
        if budgets.into_iter().filter(|given| *given).count() > 1 {
            return Err("its options have more than one of time, cases and edges".into());
        }
        match self.shard.map(|(i, n)| format!("{i}/{n}")) {
            Some(text) => shard(&text)
                .map(drop)
                .map_err(|why| format!("its shard {text} is not {why}")),
            None => Ok(()),
        }
    }

    /// These of a checkpoint in `folder`, with those given that decide nothing of what is run.
    fn shown_as(self, given: &Args, folder: &std::path::Path) -> Args {
        Args {
            workers: given.workers,
            require_gpu: given.require_gpu,
            out: given.out.clone().or_else(|| Some(folder.to_owned())),
            formats: given.formats.clone(),
            quiet: given.quiet,
            json: given.json,
            ..self
        }
    }
}

/// Runs the campaign and writes its report.
pub fn run(given: &Args) -> anyhow::Result<u8> {
    let commit = commit();
    let (args, from) = match &given.resume {
        Some(folder) => {
            let (kept, from) = resume::take_up(given, folder, commit.as_deref())?;
            (kept.shown_as(given, folder), Some(from))
        }
        None => (given.or(Settings::load(given.config.as_deref())?.run), None),
    };
    let args = &args;
    if let Some(option) = without_engines(args).filter(|_| args.require_gpu) {
        anyhow::bail!("--require-gpu asks for engines, and {option} runs none");
    }
    let quiet = args.quiet;
    let recordings = recorded::open(&args.recorded)?;
    let outside = args.readers.introduce(args.subject.as_ref())?;
    let parts = setup::bring(&mut |line| {
        if !quiet {
            say::line(line);
        }
    });
    let out = args.out.clone().unwrap_or_else(|| parts.root.join("reports/out"));
    std::fs::create_dir_all(&out).with_context(|| format!("{}: cannot make the folder", out.display()))?;
    // Before a campaign of hours, not after it.
    tempfile::tempfile_in(&out).with_context(|| format!("{}: cannot write a file there", out.display()))?;
    if !recordings.is_empty() {
        let cast = recorded_cast(args, &parts, &outside.readers)?;
        say_missing(&cast.not_run);
        let stop = stop_on_signals("lockstep: ending; the report follows. Once more ends at once.");
        let replayed = recorded::replay(&recordings, &cast, &out, quiet, &stop);
        let mut results = Results { commit, ..replayed };
        minimise(&mut results, &cast, quiet, &stop);
        name_readers(&mut results, &outside.readers);
        evidence::gather(&mut results, &parts, &outside);
        return Ok(finish(&results, &out, args).1);
    }
    let mut plan = plan(args, &out);
    let mut cast = cast(args, &parts, &plan)?;
    if let Some(subject) = &outside.subject {
        take_the_place(subject, &outside.answers, &mut plan, &mut cast)?;
    }
    cast.references.extend(outside.readers.iter().cloned().map(maker));
    say_missing(&cast.not_run);
    let stop = stop_on_signals("lockstep: ending; the report follows. Once more ends at once.");
    let mut show = Show::new(quiet);
    let over = AtomicBool::new(false);
    let mut keeper = Keeper::new(&out, commit.clone(), args, &plan);
    if from.is_none() {
        // What an earlier campaign left there is not this one's.
        keeper.remove();
    }
    let (progress, keep) = (
        &mut |progress: &Progress| {
            show.progress(progress);
            if stop.load(Ordering::Relaxed) || args.until_finding && progress.findings > 0 {
                over.store(true, Ordering::Relaxed);
            }
        },
        &mut |checkpoint: &_| keeper.keep(checkpoint),
    );
    let ended = campaign::run_from(from, &plan, &cast, &over, progress, keep);
    show.end();
    let mut results = Results { commit, ..ended };
    // A campaign that found what it was to run for ended by itself.
    results.interrupted = stop.load(Ordering::Relaxed);
    minimise(&mut results, &cast, quiet, &stop);
    name_readers(&mut results, &outside.readers);
    name_subject(&mut results, args);
    match power::read(&out.join(power::NAME)) {
        Ok(power) => results.power = power,
        Err(error) => say::error(format_args!("{error:#}; the report is without it")),
    }
    results.bench = super::bench::last(&parts.root);
    evidence::gather(&mut results, &parts, &outside);
    let (written, status) = finish(&results, &out, args);
    if written && !results.interrupted {
        keeper.remove();
    }
    Ok(status)
}

/// The commit that stands in the repository, with `-dirty` behind it where files differ from it.
pub(super) fn commit() -> Option<String> {
    let root = setup::repository_root().ok()?;
    let mut git = std::process::Command::new("git");
    git.current_dir(root).env("GIT_OPTIONAL_LOCKS", "0");
    let arguments = ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"];
    let output = git
        .args(arguments)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// So long at most a campaign's findings are minimised.
const MINIMIZING: Duration = Duration::from_secs(30);

fn minimise(results: &mut Results, cast: &Cast, quiet: bool, stop: &AtomicBool) {
    if !quiet && !results.findings.is_empty() {
        say::line("minimising the findings, for half a minute at most");
    }
    minimize::findings(results, cast, MINIMIZING, stop);
}

fn say_missing(not_run: &[NotRun]) {
    for NotRun { what, why, mend } in not_run {
        say::error(format_args!("{what} does not take part: {why}; {mend}"));
    }
}

/// The option by which no stream is replayed on an engine.
fn without_engines(args: &Args) -> Option<String> {
    let only = args.only.iter().map(|part| format!("--only {}", part.name()));
    match args.only.contains(&Part::Gpu) {
        _ if args.edges => Some("--edges".into()),
        true => None,
        false => only.reduce(|all, one| format!("{all} {one}")),
    }
}

fn plan(args: &Args, out: &std::path::Path) -> Plan {
    let only: &[Part] = if args.only.is_empty() { &Part::ALL } else { &args.only };
    let parts = Part::ALL.into_iter().filter(|part| only.contains(part));
    let (seed, budget, lanes) = match args.edges {
        true => (0, Budget::Edges, vec![Lane::Edges]),
        false => (
            args.seed.unwrap_or_else(epoch_seconds),
            args.cases
                .map_or(Budget::Time(args.time.unwrap_or(TIME)), Budget::Cases),
            parts.flat_map(Part::lanes).copied().collect(),
        ),
    };
    Plan {
        seed,
        budget,
        workers: args
            .workers
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        lanes,
        shard: args.shard.unwrap_or((0, 1)),
        findings: out.join("findings"),
    }
}

fn cast(args: &Args, parts: &Parts, plan: &Plan) -> anyhow::Result<Cast> {
    let mut cast = readers(parts);
    cast.apple = cast.apple.filter(|_| plan.lanes.contains(&Lane::Shaders));
    check_engines(args, &plan.lanes)?;
    if plan.lanes.contains(&Lane::Replays) {
        cast.engines = engines(args, parts, &mut cast.not_run)?;
    }
    Ok(cast)
}

/// The readers that are here, without an engine.
pub(super) fn readers(parts: &Parts) -> Cast {
    let mut cast = Cast {
        subject: Box::new(|| Box::new(Native::default())),
        outside: false,
        references: Vec::new(),
        layout_subject: Box::new(|| Box::new(Native::default())),
        layout_references: vec![
            Box::new(|| Box::new(SlotModel)),
            Box::new(|| Box::new(SlotUpstream::locked())),
        ],
        apple: msl::apple::find(),
        bind_subject: Box::new(|| Box::new(bind::native::Native::default())),
        engines: Vec::new(),
        not_run: Vec::new(),
    };
    match &parts.deno {
        Ok(deno) => {
            let (root, deno) = (parts.root.clone(), deno.clone());
            cast.references.push(Box::new(move || {
                Box::new(replay_js::replay_js(&root, &deno)) as Box<dyn StreamReader>
            }));
        }
        Err(missing) => cast.not_run.push(not_run(replay_js::NAME, missing)),
    }
    cast
}

/// Who replays recordings: the same readers and engines.
fn recorded_cast(args: &Args, parts: &Parts, outside: &[Outside]) -> anyhow::Result<Cast> {
    check_engines(args, &[Lane::Replays])?;
    let mut cast = readers(parts);
    cast.references.extend(outside.iter().cloned().map(maker));
    cast.engines = engines(args, parts, &mut cast.not_run)?;
    Ok(cast)
}

pub(super) fn maker(outside: Outside) -> Maker<Box<dyn StreamReader>> {
    Box::new(move || outside.reader())
}

/// The command lines of the report bring the readers back that the campaign was given.
fn name_readers(results: &mut Results, outside: &[Outside]) {
    for reader in outside {
        let option = format!(" {}", reader.option());
        results.command += &option;
        let of_it = |finding: &&mut FindingRow| finding.signature.contains(&reader.name);
        let findings = results.findings.iter_mut().filter(of_it);
        findings.for_each(|finding| finding.repro += &option);
    }
}

/// Puts an outside subject in the place of `wire` and `mslmap`, in the lanes that it answers.
fn take_the_place(subject: &Outside, answers: &[String], plan: &mut Plan, cast: &mut Cast) -> anyhow::Result<()> {
    let can = |what: &str| answers.iter().any(|answer| answer == what);
    plan.lanes.retain(|lane| match lane {
        Lane::Streams | Lane::Raw | Lane::Replays | Lane::Edges => can("streams"),
        Lane::Layouts | Lane::Shaders => can("layouts"),
        Lane::Binds => false,
    });
    let lanes: Vec<&str> = plan.lanes.iter().map(|lane| lane.name()).collect();
    anyhow::ensure!(
        !lanes.is_empty(),
        "{}: it answers nothing of what is to run",
        subject.subject_option()
    );
    let strict = if can("strict") { "with" } else { "without" };
    say::line(format_args!(
        "lockstep: the subject answers {}, {strict} the strict check; what else there is does not run",
        lanes.join(", ")
    ));
    put_in_place(subject, cast);
    Ok(())
}

/// The cast with an outside subject.
pub(super) fn put_in_place(subject: &Outside, cast: &mut Cast) {
    let (streams, layouts) = (subject.clone(), subject.clone());
    cast.subject = Box::new(move || streams.reader());
    cast.layout_subject = Box::new(move || Box::new(layouts.process()));
    cast.outside = true;
}

/// The command lines of the report bring the subject back.
fn name_subject(results: &mut Results, args: &Args) {
    if let Some(subject) = &args.subject {
        let option = format!(" {}", subject.subject_option());
        results.command += &option;
        results.findings.iter_mut().for_each(|finding| finding.repro += &option);
    }
}

pub(super) fn not_run(what: &str, missing: &Missing) -> NotRun {
    NotRun {
        what: what.into(),
        why: missing.why.clone(),
        mend: missing.mend.clone(),
    }
}

/// Refuses `--gpu` of an engine that is not there, and of any where nothing is replayed.
fn check_engines(args: &Args, lanes: &[Lane]) -> anyhow::Result<()> {
    let Some(first) = args.gpu.first() else { return Ok(()) };
    anyhow::ensure!(
        lanes.contains(&Lane::Replays),
        "--gpu {first}: nothing is replayed without --only gpu"
    );
    let available = engine::available();
    let unknown = args
        .gpu
        .iter()
        .find(|id| available.iter().all(|engine| engine.id != **id));
    if let Some(id) = unknown {
        let there: Vec<&str> = available.iter().map(|engine| engine.id.as_str()).collect();
        anyhow::bail!("--gpu {id}: no such engine; there are {}", there.join(", "));
    }
    Ok(())
}

/// The engines that were asked for, or one of each kind: the best adapter, the noop backend, Dawn and deno.
fn engines(args: &Args, parts: &Parts, missing: &mut Vec<NotRun>) -> anyhow::Result<Vec<String>> {
    let available = engine::available();
    let chosen: Vec<&EngineId> = match args.gpu.is_empty() {
        false => available
            .iter()
            .filter(|engine| args.gpu.contains(&engine.id))
            .collect(),
        true => one_of_each(&available, parts, missing),
    };
    if !chosen.iter().any(|engine| engine.executes) {
        missing.extend(nothing_executes(args, parts));
    }
    Ok(chosen.into_iter().map(|engine| engine.id.clone()).collect())
}

/// What did not run where no engine executes anything.
pub(super) const NO_GPU: &str = "a GPU";

/// The best adapter, the noop backend, Dawn and deno.
fn one_of_each<'a>(available: &'a [EngineId], parts: &Parts, missing: &mut Vec<NotRun>) -> Vec<&'a EngineId> {
    let first = |name: &str| {
        available
            .iter()
            .find(|engine| engine.id.split(':').next() == Some(name))
    };
    let adapter = first("wgpu").filter(|engine| engine.executes);
    let noop = available.iter().find(|engine| engine.id == "wgpu:noop");
    let (dawn, deno) = (first("dawn"), first("deno"));
    if dawn.is_none() {
        missing.push(silent("dawn", parts.dawn.as_ref().err()));
    }
    // Without an adapter deno has none either.
    if deno.is_none() && adapter.is_some() {
        missing.push(silent("deno", parts.deno.as_ref().err()));
    }
    [adapter, noop, dawn, deno].into_iter().flatten().collect()
}

/// An engine that is not there, or does not answer though its part is there.
fn silent(engine: &str, part: Option<&Missing>) -> NotRun {
    match part {
        Some(part) => not_run(engine, part),
        None => NotRun {
            what: engine.into(),
            why: "`reference/gpu.js` gives no device of its".into(),
            mend: "run `cargo lockstep doctor`".into(),
        },
    }
}

/// What is not covered where no engine executes anything. Whoever chose such engines knows, unless they require one that does.
fn nothing_executes(args: &Args, parts: &Parts) -> Option<NotRun> {
    if !args.gpu.is_empty() && !args.require_gpu {
        return None;
    }
    Some(match &parts.vulkan {
        Err(vulkan) if args.gpu.is_empty() => not_run(NO_GPU, vulkan),
        _ => NotRun {
            what: NO_GPU.into(),
            why: "no engine executes anything, so that no bytes are compared with the shadow and no draw or dispatch is run".into(),
            mend: "run `cargo lockstep doctor`".into(),
        },
    })
}

/// Prints the summary, or the results as JSON, and writes the report. Whether all of it is written, and the exit status.
fn finish(results: &Results, out: &std::path::Path, args: &Args) -> (bool, u8) {
    // The summary first: it is the one that a full disk cannot take away.
    let shown = match (args.json, args.quiet) {
        (true, _) => serde_json::to_string_pretty(results).unwrap_or_default() + "\n",
        (false, true) => terminal::brief(results, color()),
        (false, false) => terminal::summary(results, color()),
    };
    let shown = say::out(shown.as_bytes());
    let written = report::write(results, &History::default(), Some(out), &args.formats, args.require_gpu);
    let mut place = format!("report: {}", out.join("report.html").display());
    if results.interrupted && args.recorded.is_empty() {
        place += &format!("\nto go on: cargo lockstep run --resume {}", out.display());
    }
    let placed = match args.json {
        _ if !written => shown,
        false => shown.and_then(|()| say::out((place + "\n").as_bytes())),
        true if args.quiet => shown,
        true => shown.map(|()| say::line(place)),
    };
    let said = report::all_written([placed]);
    (written, report::status(results, written && said, args.require_gpu))
}

/// Cases of all kinds a second.
fn rate(progress: &Progress) -> Option<String> {
    let rate = figures::rate(progress.cases.values().sum(), progress.elapsed.as_secs_f64())?;
    Some(format!("{rate} a second"))
}

/// The time that the rest of the budget takes at the rate so far; none at the start, when nothing is known.
fn left(progress: &Progress) -> Option<String> {
    let seconds = progress.elapsed.as_secs_f64() * (1.0 - progress.done) / progress.done;
    let words = || match seconds.ceil() {
        seconds if seconds < 120.0 => format!("{seconds} s left"),
        seconds => format!("{} left", figures::span(seconds)),
    };
    (progress.done > 0.01).then(words)
}

/// Progress: a bar on a terminal, a line every few seconds elsewhere.
struct Show {
    bar: Option<ProgressBar>,
    quiet: bool,
    last: Instant,
}

const LINES_EVERY: Duration = Duration::from_secs(10);

impl Show {
    fn new(quiet: bool) -> Show {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {msg}");
            ProgressBar::new(1000).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Show {
            bar,
            quiet,
            last: Instant::now(),
        }
    }

    fn progress(&mut self, progress: &Progress) {
        let words = || {
            let cases = progress.cases.iter().map(|(lane, count)| format!("{lane} {count}"));
            let cases: Vec<String> = cases.collect();
            let rest = [rate(progress), left(progress)].into_iter().flatten();
            let words = rest.chain(cases).chain([format!("findings {}", progress.findings)]);
            words.collect::<Vec<_>>().join("  ")
        };
        if let Some(bar) = &self.bar {
            bar.set_position((progress.done * 1000.0) as u64);
            bar.set_message(words());
        } else if !self.quiet && self.last.elapsed() >= LINES_EVERY {
            self.last = Instant::now();
            say::line(format_args!("{:>4.0} s  {}", progress.elapsed.as_secs_f64(), words()));
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
