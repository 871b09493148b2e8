//! However a campaign ends, what it found is there, the report is written or printed, and the status is right; and a campaign that was
//! ended goes on to what it would have come to.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lockstep::campaign::{self, Budget, Cast, Checkpoint, Plan, Rounds};
use lockstep::case::LayoutCase;
use lockstep::generators::Lane;
use lockstep::readers::layouts::{LayoutAnswer, LayoutReader};
use lockstep::readers::native::Native;
use lockstep::readers::slot_model::SlotModel;
use lockstep::readers::{Batch, BatchAnswers, ReaderFailed, StreamReader};
use lockstep::report::results::Results;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// The program, in this repository.
fn lockstep() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lockstep"));
    command.env("RUST_BACKTRACE", "0");
    command
}

/// The same in a folder where nothing was brought, so that replay-js is missing.
fn bare(folder: &Path) -> Command {
    in_bare(folder, lockstep())
}

fn in_bare(folder: &Path, mut command: Command) -> Command {
    std::fs::create_dir_all(folder.join("reference")).expect("made");
    std::fs::write(folder.join("reference/wire.md"), "").expect("written");
    command.current_dir(folder).env_remove("CARGO_MANIFEST_DIR");
    command.env("LOCKSTEP_OFFLINE", "1");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn results(out: &Path) -> Results {
    let text = std::fs::read_to_string(out.join("results.json")).expect("results.json");
    serde_json::from_str(&text).expect("results.json as results.rs has it")
}

/// Waits as long as it takes: whatever runs these tests ends one that hangs.
fn until<T>(mut there: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(there) = there() {
            return there;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(sent.expect("kill").success(), "kill {name} {pid}");
}

/// A campaign of hours in `out`, of which a round is finished.
fn running(out: &Path, args: &[&str]) -> Child {
    let mut command = lockstep();
    command
        .args(["run", "--time", "2h", "--seed", "1", "--quiet", "--out"])
        .arg(out)
        .args(args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("it starts");
    until(|| out.join("checkpoint.json").exists().then_some(()));
    child
}

#[test]
fn sigterm_ends_with_the_report_written_and_where_to_go_on() {
    let out = folder();
    let child = running(out.path(), &["--only", "slots", "--workers", "1"]);
    signal("-TERM", child.id());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let ended = results(out.path());
    assert!(ended.interrupted && ended.lanes[0].cases > 0);
    let said = text(&output.stdout);
    assert!(said.contains("no findings in"));
    let go_on = format!("to go on: cargo lockstep run --resume {}", out.path().display());
    assert_eq!(said.lines().last(), Some(go_on.as_str()), "{said}");
    assert!(said.lines().count() < 8, "the verdict and where the report is: {said}");
    assert!(out.path().join("report.html").exists());
    let kept = std::fs::read_to_string(out.path().join("checkpoint.json")).expect("it can go on");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(kept["checkpoint"]["results"]["lanes"][0]["cases"], ended.lanes[0].cases);
}

/// The processes that another one started. They are in groups of their own.
#[cfg(target_os = "linux")]
fn children(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").expect("/proc").flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // Behind the name, which may hold anything but is in brackets: the state, then the parent.
        let fields = stat.rsplit(')').next().unwrap_or_default();
        fields.split_whitespace().nth(1) == Some(&parent.to_string())
    })
    .collect()
}

/// deno is ended, or only held: one finding of that name, with its case, and the campaign goes on with a deno made anew.
#[cfg(target_os = "linux")]
#[rstest::rstest]
#[case::killed("-KILL", "SIGKILL")]
#[case::stopped("-STOP", "30 s")]
fn deno_that_is_gone_is_a_finding_and_the_campaign_goes_on(#[case] how: &str, #[case] why: &str) {
    let out = folder();
    let child = running(out.path(), &["--only", "streams", "--workers", "1"]);
    let before = until(|| children(child.id()).first().copied());
    signal(how, before);
    until(|| out.path().join("findings").exists().then_some(()));
    until(|| children(child.id()).into_iter().find(|pid| *pid != before));
    let compared = || {
        let kept = std::fs::read_to_string(out.path().join("checkpoint.json")).expect("it is whole at any time");
        let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
        kept["checkpoint"]["results"]["comparisons"][0]["compared"]
            .as_u64()
            .expect("a count")
    };
    let then = compared();
    until(|| (compared() > then).then_some(()));
    signal("-TERM", child.id());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let ended = results(out.path());
    let [finding] = &ended.findings[..] else {
        panic!("one: {:?}", ended.findings)
    };
    assert_eq!(
        (finding.signature.as_str(), finding.seen),
        ("reader replay-js failed", 1)
    );
    assert!(finding.summary.contains(why), "{}", finding.summary);
    assert!(Path::new(&finding.file).exists());
    assert_eq!(ended.not_run, [], "it was not left out");
}

/// A shell in which no file can grow, as on a full disk, runs the program.
fn with_full_disk(folder: &Path, args: &str) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("lockstep");
    let script = format!("ulimit -f 0; exec '{}' {args}", program.display());
    let mut shell = in_bare(folder, Command::new("sh"));
    shell.args(["-c", &script]).output().expect("it runs")
}

#[test]
fn on_a_full_disk_findings_and_report_are_printed_and_what_is_missing_is_named() {
    let folder = folder();
    let output = with_full_disk(
        folder.path(),
        "run --only streams --cases 512 --seed 3 --workers 1 --reader exec:false --quiet --out out",
    );
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{stdout}{stderr}");
    for (path, rest) in [
        (
            "out/findings/reader-exec-false-failed-streams-3-0.json",
            "; the case itself:\n{\"format\":1,",
        ),
        ("out/results.json", ""),
        ("out/report.html", ""),
    ] {
        let due = format!("lockstep: cannot write {path}: File too large (os error 27){rest}");
        assert!(stderr.contains(&due), "{due}\nin {stderr}");
    }
    for due in [
        "1 finding in 576 cases",
        "no case file: cannot write out/findings/",
        "rerun  cargo lockstep repro --generated streams:3:0 --reader 'exec:false'",
    ] {
        assert!(stdout.contains(due), "{due}\nin {stdout}");
    }
    assert!(!stdout.contains("report: "), "there is none");
    let there = walkdir::WalkDir::new(folder.path().join("out")).into_iter().flatten();
    let files = there.filter(|entry| entry.file_type().is_file());
    assert_eq!(files.count(), 0, "nothing half-written is left");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_costs_no_report_and_is_said() {
    let folder = folder();
    let out = folder.path().display().to_string();
    let run = [
        "run", "--only", "slots", "--cases", "512", "--seed", "1", "--quiet", "--out", &out,
    ];
    for args in [&run[..], &["report", &out], &["report", &out, "--json"]] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = lockstep().args(args).stdout(full.expect("it is there")).output();
        let output = output.expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let said = text(&output.stderr);
        assert_eq!(
            said,
            "lockstep: standard output: cannot write to it: No space left on device (os error 28)\n"
        );
        assert_eq!(results(folder.path()).findings, []);
        assert!(folder.path().join("report.html").exists());
    }
}

/// Each shape is tried, whatever became of the others; without all of them the campaign is not green.
#[cfg(target_os = "linux")]
#[test]
fn a_shape_that_cannot_be_written_is_named() {
    let folder = folder();
    let mut command = lockstep();
    command.args([
        "run", "--only", "slots", "--cases", "512", "--seed", "1", "--quiet", "--out",
    ]);
    command.arg(folder.path().join("out")).current_dir(folder.path());
    command.args([
        "--junit",
        "/dev/full",
        "--sarif",
        "out/results.json/x",
        "--markdown",
        "summary.md",
    ]);
    let output = command.output().expect("it runs");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("lockstep: cannot write /dev/full: No space left on device"),
        "{stderr}"
    );
    assert!(
        stderr.contains("lockstep: cannot write out/results.json/x: "),
        "{stderr}"
    );
    let summary = std::fs::read_to_string(folder.path().join("summary.md")).expect("the third");
    assert!(summary.starts_with("## lockstep: no findings\n"), "{summary}");
}

/// What must be equal wherever the same cases ran: everything but the clock.
fn without_the_clock(mut results: Results) -> Results {
    (results.started, results.seconds, results.workers) = (0, 0.0, 0);
    results.lanes.iter_mut().for_each(|lane| lane.worker_seconds = 0.0);
    // Of several cases of one finding a campaign keeps the one that a worker came upon first.
    for row in &mut results.findings {
        (row.at, row.file, row.repro, row.summary) = (0.0, String::new(), String::new(), String::new());
    }
    results.findings.sort_by(|a, b| a.signature.cmp(&b.signature));
    results
}

/// Nobody could do anything about kill -9.
#[rstest::rstest]
#[case::whole(&[])]
#[case::a_shard(&["--shard", "1/2"])]
fn a_killed_campaign_goes_on_to_the_same_results(#[case] shard: &[&str]) {
    let (out, whole) = (folder(), folder());
    let args = [
        "run",
        "--cases",
        "20000",
        "--seed",
        "5",
        "--gpu",
        "wgpu:noop",
        "--only",
        "slots",
        "--only",
        "gpu",
    ];
    let args = [&args[..], shard, &["--quiet"]].concat();
    let mut child = lockstep()
        .args(&args)
        .args(["--workers", "1", "--out"])
        .arg(out.path())
        .spawn()
        .expect("it starts");
    until(|| out.path().join("checkpoint.json").exists().then_some(()));
    child.kill().expect("killed");
    child.wait().expect("ended");
    assert!(!out.path().join("results.json").exists(), "it was not at its end");
    let went_on = lockstep()
        .args(["run", "--quiet", "--resume"])
        .arg(out.path())
        .output()
        .expect("it runs");
    assert_eq!(went_on.status.code(), Some(0), "{}", text(&went_on.stderr));
    assert!(!out.path().join("checkpoint.json").exists(), "nothing is left to do");
    lockstep()
        .args(&args)
        .arg("--out")
        .arg(whole.path())
        .output()
        .expect("it runs");
    let [one, other] = [out, whole].map(|folder| without_the_clock(results(folder.path())));
    assert_eq!(one, other);
    assert!(one.lanes.iter().all(|lane| lane.cases > 0) && one.engines[0].replays > 0);
}

/// A reader whose every fifth answer is none of PROTOCOL.md's: a finding each time. With its n-th batch it ends the campaign.
struct Wrong {
    native: Native,
    end: Arc<End>,
}

struct End {
    batches_left: AtomicU64,
    stop: AtomicBool,
}

impl End {
    fn after(batches: u64) -> Arc<End> {
        Arc::new(End {
            batches_left: AtomicU64::new(batches),
            stop: AtomicBool::new(false),
        })
    }
}

impl StreamReader for Wrong {
    fn name(&self) -> &str {
        "wrong"
    }

    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed> {
        if self.end.batches_left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.end.stop.store(true, Ordering::Relaxed);
        }
        self.native.ask(batch)
    }

    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed> {
        let mut answers = self.native.hear()?;
        let every = answers.streams.iter_mut().step_by(5);
        every.for_each(|answer| answer.truncate(1));
        Ok(answers)
    }
}

fn cast(end: &Arc<End>) -> Cast {
    let end = end.clone();
    let wrong = move || Wrong {
        native: Native::default(),
        end: end.clone(),
    };
    Cast {
        outside: false,
        subject: Box::new(|| Box::new(Native::default())),
        references: vec![Box::new(move || Box::new(wrong()))],
        layout_subject: Box::new(|| Box::new(Native::default())),
        layout_references: Vec::new(),
        apple: None,
        bind_subject: Box::new(|| Box::new(lockstep::bind::native::Native::default())),
        engines: Vec::new(),
        not_run: Vec::new(),
    }
}

fn plan(folder: &Path, budget: Budget) -> Plan {
    Plan {
        seed: 11,
        budget,
        workers: 3,
        lanes: vec![Lane::Streams, Lane::Raw],
        shard: (1, 3),
        findings: folder.to_owned(),
    }
}

/// A campaign that ends with its `rounds`-th round and those that the other workers are at; its checkpoint as a file keeps it.
fn part(rounds: u64, from: Option<Checkpoint>, plan: &Plan) -> Checkpoint {
    let end = End::after(rounds);
    let (_, checkpoint) = ended(from, plan, &cast(&end), &end.stop);
    let json = serde_json::to_string(&checkpoint).expect("JSON");
    serde_json::from_str(&json).expect("a checkpoint")
}

/// A campaign's results, and the last checkpoint that is kept.
fn ended(from: Option<Checkpoint>, plan: &Plan, cast: &Cast, stop: &AtomicBool) -> (Results, Checkpoint) {
    let mut kept = None;
    let results = campaign::run_from(from, plan, cast, stop, &mut |_| {}, &mut |checkpoint| {
        kept = Some(checkpoint.clone());
    });
    (results, kept.expect("the last one at least"))
}

const NEVER: u64 = u64::MAX;

/// Ended twice, with rounds finished out of order by three workers: every count, the coverage, and how often each finding was seen.
#[test]
fn a_campaign_in_three_parts_comes_to_what_one_comes_to() {
    let folder = folder();
    // 79 rounds; 26 of them are the shard's.
    let plan = plan(folder.path(), Budget::Cases(40_000));
    let streams = |checkpoint: &Checkpoint| checkpoint.results.lanes[0].cases / 512;
    let first = part(5, None, &plan);
    assert!(
        first.results.interrupted && (5..=8).contains(&streams(&first)),
        "{}",
        streams(&first)
    );
    let second = part(5, Some(first.clone()), &plan);
    assert!((10..=16).contains(&streams(&second)), "{}", streams(&second));
    let third = part(NEVER, Some(second), &plan).results;
    let whole = part(NEVER, None, &plan).results;
    assert!(!whole.findings.is_empty() && whole.repeated_findings > 1000 && !third.interrupted);
    assert_eq!(without_the_clock(third), without_the_clock(whole));
}

/// A subject that takes so long over each layout and each batch of streams, and whose sizes slots are one too high. The campaign is ended
/// as soon as it is asked.
struct Slow {
    native: Native,
    end: Arc<End>,
    takes: Duration,
}

impl Slow {
    fn wait(&self) {
        self.end.stop.store(true, Ordering::Relaxed);
        std::thread::sleep(self.takes);
    }
}

impl StreamReader for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed> {
        self.native.ask(batch)
    }

    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed> {
        self.wait();
        self.native.hear()
    }
}

impl LayoutReader for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
        self.wait();
        let mut answer = LayoutReader::answer(&mut self.native, case);
        for stage in answer.stages.iter_mut().flatten() {
            stage.sizes_slot = stage.sizes_slot.map(|slot| slot + 1);
        }
        answer
    }
}

/// A campaign of one round with a subject as slow as that, in a process as far as the campaign knows.
fn slow(takes: Duration, lane: Lane, from: Option<Checkpoint>, folder: &Path) -> (Results, Checkpoint) {
    let end = End::after(NEVER);
    let subject = {
        let end = end.clone();
        move || Slow {
            native: Native::default(),
            end: end.clone(),
            takes,
        }
    };
    let layout_subject = subject.clone();
    let cast = Cast {
        outside: true,
        subject: Box::new(move || Box::new(subject())),
        layout_subject: Box::new(move || Box::new(layout_subject())),
        layout_references: vec![Box::new(|| Box::new(SlotModel))],
        ..cast(&end)
    };
    let plan = Plan {
        workers: 1,
        lanes: vec![lane],
        shard: (0, 1),
        ..plan(folder, Budget::Cases(512))
    };
    ended(from, &plan, &cast, &end.stop)
}

/// Its 512 layouts would take 10 s; a campaign that is over waits for two.
#[test]
fn a_round_that_is_cut_short_is_in_the_report_and_is_run_again_whole() {
    let folder = folder();
    let at_once = Duration::ZERO;
    let (ended, kept) = slow(Duration::from_millis(20), Lane::Layouts, None, folder.path());
    let cases = ended.lanes[0].cases;
    assert!((1..512).contains(&cases), "{cases}");
    assert_eq!((ended.findings.len(), ended.interrupted), (1, true));
    assert_eq!(
        (ended.comparisons[0].aspect.as_str(), ended.comparisons[0].compared),
        ("slots", 5 * cases)
    );
    assert_eq!((kept.results.lanes[0].cases, kept.results.findings.len()), (0, 0));
    assert_eq!(kept.rounds, Rounds::none((0, 1)));
    let (went_on, _) = slow(at_once, Lane::Layouts, Some(kept), folder.path());
    let (whole, _) = slow(at_once, Lane::Layouts, None, folder.path());
    assert_eq!(whole.lanes[0].cases, 512);
    assert_eq!(without_the_clock(went_on), without_the_clock(whole));
}

/// As a round of streams always is.
#[test]
fn a_whole_round_that_outlasts_the_end_is_finished() {
    let folder = folder();
    let (ended, kept) = slow(Duration::from_secs(3), Lane::Streams, None, folder.path());
    assert_eq!((ended.lanes[0].cases, kept.results.lanes[0].cases), (512, 512));
    assert_eq!(kept.rounds.next(), 1);
}

/// Two hours are the two hours of both parts.
#[test]
fn a_budget_of_time_is_that_of_all_the_parts() {
    let folder = folder();
    let plan = plan(folder.path(), Budget::Time(Duration::from_secs(7200)));
    let mut first = part(1, None, &plan);
    first.results.seconds = 7200.0;
    let end = part(NEVER, Some(first.clone()), &plan);
    assert_eq!(end.rounds, first.rounds, "no time was left");
    assert_eq!(end.results.lanes, first.results.lanes);
    assert!(end.results.seconds >= 7200.0 && !end.results.interrupted);
}

/// What a checkpoint is not of is refused in one line, and before anything runs.
#[test]
fn what_a_checkpoint_is_not_of_is_refused() {
    let folder = folder();
    let out = folder.path().join("out");
    let mut child = bare(folder.path());
    child.args([
        "run", "--time", "2h", "--seed", "5", "--shard", "1/2", "--only", "slots", "--quiet", "--out", "out",
    ]);
    let mut child = child
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts");
    let path = out.join("checkpoint.json");
    until(|| path.exists().then_some(()));
    child.kill().expect("killed");
    child.wait().expect("ended");
    let kept = std::fs::read_to_string(&path).expect("the checkpoint");
    let same = |option: &str| {
        format!("{option} is not what out/checkpoint.json has; leave it out, or start anew without --resume")
    };
    let json = |pointer: &str, value: serde_json::Value| {
        let mut kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
        *kept.pointer_mut(pointer).expect(pointer) = value;
        kept.to_string()
    };
    let rows: [(&[&str], String, String); 17] = [
        (&["--seed", "6"], kept.clone(), same("--seed")),
        (&["--shard", "0/2"], kept.clone(), same("--shard")),
        (&["--cases", "9"], kept.clone(), same("--cases")),
        (&["--only", "gpu"], kept.clone(), same("--only")),
        (&["--reader", "exec:false"], kept.clone(), same("--reader")),
        (
            &[],
            json("/version", "0.0.1".into()),
            "out/checkpoint.json: of version 0.0.1, and this program is of 0.1.0".into(),
        ),
        (
            &[],
            json("/commit", "fa11".into()),
            "out/checkpoint.json: of commit fa11, and this program is of none".into(),
        ),
        (
            &[],
            json("/format", 9.into()),
            "out/checkpoint.json: its format is 9, and this program reads 1".into(),
        ),
        (
            &[],
            json("/options/shard", [5, 1_u64 << 52].into()),
            "out/checkpoint.json: its shard 5/4503599627370496 is not I/N with I from 0 and below N, as in 0/4".into(),
        ),
        (
            &[],
            json("/options/shard", [5, 2].into()),
            "out/checkpoint.json: its shard 5/2 is not I/N with I from 0 and below N, as in 0/4".into(),
        ),
        (
            &[],
            json("/options/cases", 5.into()),
            "out/checkpoint.json: its options have more than one of time, cases and edges".into(),
        ),
        (
            &[],
            json("/checkpoint/rounds/below", 4.into()),
            "out/checkpoint.json: its rounds are not those of shard 1/2".into(),
        ),
        (
            &[],
            json("/checkpoint/rounds/beyond", [1].into()),
            "out/checkpoint.json: its rounds are not those of shard 1/2".into(),
        ),
        (
            &[],
            json("/checkpoint/results/seed", 6.into()),
            "out/checkpoint.json: its results are of another seed or shard than its options; start anew".into(),
        ),
        (
            &[],
            json(
                "/checkpoint/rounds",
                serde_json::json!({ "step": 2, "below": 1, "beyond": [] }),
            ),
            " cases and no round; start anew without --resume".into(),
        ),
        (
            &[],
            json("/checkpoint/results", "none".into()),
            "out/checkpoint.json: not a checkpoint: invalid type: string \"none\", expected an object".into(),
        ),
        (
            &[],
            kept[..kept.len() / 2].to_owned(),
            "out/checkpoint.json: not JSON: EOF while parsing".into(),
        ),
    ];
    for (args, content, due) in rows {
        std::fs::write(&path, content).expect("written");
        let output = bare(folder.path())
            .args(["run", "--quiet", "--resume", "out"])
            .args(args)
            .output();
        let output = output.expect("it runs");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(
            stderr.contains(&due) && stderr.lines().count() == 1,
            "{due}\nin {stderr}"
        );
    }
    let output = bare(folder.path())
        .args(["run", "--resume", "nowhere"])
        .output()
        .expect("it runs");
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("nowhere/checkpoint.json: cannot read where the campaign stood"),
        "{stderr}"
    );
}
