//! Readers in processes of their own: the example of `reference/examples`, `lockstep serve native`, and readers that fail in every way
//! there is, each of which becomes one finding while the campaign goes on.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use lockstep::campaign::{self, Budget, Cast, Plan};
use lockstep::case::{Case, Origin, StreamCase};
use lockstep::findings::read_case;
use lockstep::generators::{self, Lane};
use lockstep::readers::native::Native;
use lockstep::readers::process::Process;
use lockstep::readers::slot_model::SlotModel;
use lockstep::readers::{Batch, StreamQuery, StreamReader};
use lockstep::report::results::Results;
use rstest::rstest;
use tempfile::TempDir;

const LOCKSTEP: &str = env!("CARGO_BIN_EXE_lockstep");
/// Three rounds.
const CASES: u64 = 1536;
const SEED: u64 = 3;
/// Long for an answer, and a tenth of it still is; short for a test that waits for none.
const DEADLINE: Duration = Duration::from_secs(10);

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Python 3, by its name.
fn python() -> &'static str {
    let there = |name: &&str| {
        let asked = Command::new(name).arg("--version").stdout(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    ["python3", "python"]
        .into_iter()
        .find(there)
        .expect("Python 3 is not on this machine (no `python3`), and the readers of this test are written in it")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A campaign over streams with the reader of `tests/readers/bad.py` that is bad in this way, and a good one beside it.
struct Tried {
    results: Results,
    took: Duration,
    processes: Vec<u32>,
    findings: TempDir,
}

fn campaign(way: &str, detail: &str, workers: usize) -> Tried {
    let (pids, findings) = (folder(), folder());
    let bad = bad_reader(way, detail, pids.path());
    let good_reader = || -> Box<dyn StreamReader> { Box::new(good_reader()) };
    let cast = Cast {
        references: vec![Box::new(move || Box::new(bad())), Box::new(good_reader)],
        ..native()
    };
    let plan = Plan {
        seed: SEED,
        budget: Budget::Cases(CASES),
        workers,
        lanes: vec![Lane::Streams],
        shard: (0, 1),
        findings: findings.path().to_path_buf(),
    };
    run(&cast, &plan, pids, findings)
}

/// A campaign over layouts with a subject that is bad in this way.
fn campaign_of_layouts(way: &str, budget: Budget) -> Tried {
    let (pids, findings) = (folder(), folder());
    let bad = bad_reader(way, "", pids.path());
    let cast = Cast {
        outside: true,
        layout_subject: Box::new(move || Box::new(bad())),
        layout_references: vec![Box::new(|| Box::new(SlotModel))],
        ..native()
    };
    let plan = Plan {
        seed: SEED,
        budget,
        workers: 1,
        lanes: vec![Lane::Layouts],
        shard: (0, 1),
        findings: findings.path().to_path_buf(),
    };
    run(&cast, &plan, pids, findings)
}

/// The reader of `tests/readers/bad.py` that is bad in this way.
fn bad_reader(way: &str, detail: &str, pids: &Path) -> impl Fn() -> Process + Sync + 'static {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers/bad.py");
    let bad: Vec<String> = vec![
        script.display().to_string(),
        way.into(),
        detail.into(),
        pids.display().to_string(),
        LOCKSTEP.into(),
        "serve".into(),
        "native".into(),
    ];
    let python = python();
    move || {
        let bad = bad.clone();
        Process::new("bad", DEADLINE, move || {
            let mut command = Command::new(python);
            command.args(&bad).stderr(Stdio::null());
            command
        })
    }
}

/// A cast of `native` alone.
fn native() -> Cast {
    Cast {
        outside: false,
        subject: Box::new(|| Box::new(Native::default())),
        references: Vec::new(),
        layout_subject: Box::new(|| Box::new(Native::default())),
        layout_references: Vec::new(),
        apple: None,
        bind_subject: Box::new(|| Box::new(lockstep::bind::native::Native::default())),
        engines: Vec::new(),
        not_run: Vec::new(),
    }
}

fn run(cast: &Cast, plan: &Plan, pids: TempDir, findings: TempDir) -> Tried {
    let since = Instant::now();
    let results = campaign::run(plan, cast, &AtomicBool::new(false), &mut |_| {});
    let names = std::fs::read_dir(pids.path()).expect("the folder").flatten();
    Tried {
        results,
        took: since.elapsed(),
        processes: names
            .map(|entry| entry.file_name().to_string_lossy().parse().expect("a process id"))
            .collect(),
        findings,
    }
}

fn good_reader() -> Process {
    Process::new("good", DEADLINE * 6, || {
        let mut command = Command::new(LOCKSTEP);
        command.args(["serve", "native"]);
        command
    })
}

impl Tried {
    fn signatures(&self) -> Vec<&str> {
        let rows = self.results.findings.iter();
        rows.map(|finding| finding.signature.as_str()).collect()
    }

    fn compared(&self, aspect: &str, reference: &str) -> u64 {
        let row = |row: &&lockstep::report::results::Comparison| row.aspect == aspect && row.reference == reference;
        self.results.comparisons.iter().find(row).map_or(0, |row| row.compared)
    }

    /// Whatever became of the bad reader: the good one was held against everything, the finding's case is kept, and nobody is left.
    fn goes_on(&self) {
        assert_eq!(self.compared("header", "good"), self.results.lanes[0].cases);
        assert!(self.compared("descriptor", "good") > 100);
        for finding in &self.results.findings {
            let file = read_case(Path::new(&finding.file)).expect("the finding's case file");
            assert_eq!(file.signature.as_deref(), Some(finding.signature.as_str()));
        }
        let files = std::fs::read_dir(self.findings.path()).map_or(0, Iterator::count);
        assert_eq!(files, self.results.findings.len());
        let alive: Vec<&u32> = self.processes.iter().filter(|id| is_alive(**id)).collect();
        assert_eq!(alive, [&0u32; 0], "processes that are left behind");
    }

    fn left_out(&self) -> bool {
        match self.results.not_run.as_slice() {
            [] => false,
            [one] if one.what == "bad, to the end" => true,
            more => panic!("{more:?}"),
        }
    }
}

/// Whether a process runs. One that has ended and that nobody has waited for does not.
#[cfg(unix)]
fn is_alive(id: u32) -> bool {
    let asked = Command::new("ps").args(["-o", "stat=", "-p", &id.to_string()]).output();
    let state = String::from_utf8(asked.expect("ps").stdout).expect("text");
    !matches!(state.trim().chars().next(), None | Some('Z'))
}

#[cfg(not(unix))]
fn is_alive(_: u32) -> bool {
    false
}

/// A stream of the campaign's second round that no other is like.
fn one_case() -> (u64, StreamCase) {
    let at = |index| {
        let origin = Origin {
            lane: "streams".into(),
            seed: SEED,
            index,
        };
        match generators::case(&origin).expect("the lane").case {
            Case::Stream(case) => (index, case),
            Case::Layout(_) | Case::Bind(_) => panic!("no stream"),
        }
    };
    (700..)
        .map(at)
        .find(|made| made.1.blob.len() > 200)
        .expect("a long stream")
}

#[rstest]
#[case::dies_at_the_start("dies at the start", "ended (it ended with status 5)")]
#[case::hangs_at_the_start("hangs at the start", "nothing came within 10 s")]
#[case::another_version("another version", "it speaks version 2 of the protocol, not 1")]
#[case::no_version("no version", "a hello without a version")]
#[case::no_json("no JSON", "its hello is not that of PROTOCOL.md: EOF while parsing")]
#[case::another_json("another JSON", "its hello is not that of PROTOCOL.md: ")]
#[case::no_name("no name", "its hello has a name that is empty")]
#[case::answers_nothing("answers nothing", "it answers none of: streams, descriptors")]
#[case::hangs("hangs", "nothing came within 10 s")]
#[case::half_a_frame("half a frame", "the end inside a frame (it ended with status 0)")]
#[case::nonsense_length("nonsense length", "a frame whose length is 4294967295")]
#[case::a_line_of_text("a line of text", "a frame whose length is 543518319")]
#[case::wrong_type("wrong type", "a frame of type 9 where 2 was due")]
#[case::wrong_count("wrong count", "answers to ")]
fn one_that_always_fails(#[case] way: &str, #[case] why: &str) {
    let tried = campaign(way, "", 1);
    assert_eq!(tried.signatures(), ["reader bad failed"]);
    let summary = &tried.results.findings[0].summary;
    assert!(summary.starts_with("bad did not answer: "), "{summary}");
    assert!(summary.contains(why), "{summary}");
    assert!(
        summary.ends_with("; it fails over any batch, also one of no cases"),
        "{summary}"
    );
    assert_eq!(tried.results.findings[0].seen, 1, "and it is not asked again");
    assert!(tried.left_out());
    assert!(tried.took < 3 * DEADLINE, "{:?}", tried.took);
    assert_eq!(tried.compared("header", "bad"), 0);
    tried.goes_on();
}

#[rstest]
#[case::dies("dies over a case", "ended (it ended with status 3); it fails over this case")]
#[case::hangs("hangs over a case", "nothing came within 10 s; it fails over this case")]
fn one_that_fails_over_a_case(#[case] way: &str, #[case] why: &str) {
    let (index, case) = one_case();
    let blob: String = case.blob.iter().map(|byte| format!("{byte:02x}")).collect();
    let tried = campaign(way, &blob, 1);
    assert_eq!(tried.signatures(), ["reader bad failed"]);
    let finding = &tried.results.findings[0];
    assert!(finding.summary.ends_with(why), "{}", finding.summary);
    let file = read_case(Path::new(&finding.file)).expect("the case file");
    assert_eq!(file.origin.map(|origin| origin.index), Some(index));
    assert_eq!(file.case, Case::Stream(case));
    assert!(!tried.left_out());
    // It answers the batches before and after, and none of its answers is taken for that to another.
    assert_eq!(tried.compared("header", "bad"), tried.results.lanes[0].cases - 512);
    tried.goes_on();
}

#[test]
fn one_that_writes_unasked() {
    let tried = campaign("unasked", "", 1);
    assert_eq!(tried.signatures(), ["reader bad failed"]);
    let summary = &tried.results.findings[0].summary;
    assert!(summary.contains("it wrote to its standard output unasked"), "{summary}");
    tried.goes_on();
}

#[test]
fn one_whose_answers_are_none() {
    let tried = campaign("not an answer", "", 1);
    assert_eq!(tried.signatures(), ["reader bad answers nonsense"]);
    let summary = &tried.results.findings[0].summary;
    assert_eq!(
        summary,
        "bad: the answer is not one of PROTOCOL.md: a part that is neither accepted nor refused at byte 4"
    );
    assert!(!tried.left_out());
    tried.goes_on();
}

#[test]
fn one_that_is_wrong() {
    let tried = campaign("wrong", "", 2);
    let due = "ranges: native vs bad: out-of-range DispatchIndirect vs not-a-buffer DispatchIndirect";
    assert!(tried.signatures().contains(&due), "{:?}", tried.signatures());
    tried.goes_on();
}

#[rstest]
#[case("streams alone", true)]
#[case("descriptors alone", false)]
fn it_is_asked_what_its_hello_lists(#[case] way: &str, #[case] streams: bool) {
    let tried = campaign(way, "", 2);
    assert_eq!(tried.signatures(), [""; 0]);
    assert_eq!(tried.compared("header", "bad") > 0, streams);
    assert_eq!(tried.compared("descriptor", "bad") > 0, !streams);
    assert!(!tried.left_out());
    tried.goes_on();
}

#[test]
fn answers_that_nobody_heard_are_not_those_to_the_next_batch() {
    let batch = |case: &StreamCase| Batch {
        streams: vec![StreamQuery::of(case)],
        descriptors: Vec::new(),
        ..Batch::default()
    };
    let (_, long) = one_case();
    let short = StreamCase {
        blob: vec![1, 2, 3],
        ..long.clone()
    };
    let mut reader = good_reader();
    reader.ask(&batch(&long)).expect("it is there");
    reader.ask(&batch(&short)).expect("it is there");
    let heard = reader.hear().expect("an answer");
    assert_eq!(
        heard.streams,
        [numbers(&[1, 1])],
        "bad-length, which is the answer to the second"
    );
    assert!(reader.hear().is_err(), "and no other is due");
}

#[test]
fn two_workers_leave_it_out_together() {
    let tried = campaign("dies at the start", "", 2);
    assert_eq!(tried.signatures(), ["reader bad failed"]);
    assert!(tried.left_out());
    tried.goes_on();
}

#[test]
fn a_subject_whose_layout_answers_are_none() {
    let tried = campaign_of_layouts("no layout answer", Budget::Cases(CASES));
    assert_eq!(tried.signatures(), ["reader bad answers nonsense"]);
    let finding = &tried.results.findings[0];
    assert!(
        finding
            .summary
            .starts_with("bad: the answer is not one of PROTOCOL.md: "),
        "{}",
        finding.summary
    );
    assert_eq!(finding.seen, CASES, "each is a finding for that item alone");
    assert_eq!(
        tried.processes.len(),
        2,
        "it and the good one under it: it was not killed"
    );
    assert_eq!(tried.results.not_run, []);
}

#[test]
fn a_subject_that_dies_over_layouts_is_left_out() {
    let tried = campaign_of_layouts("dies over layouts", Budget::Cases(CASES));
    assert_eq!(tried.signatures(), ["reader bad failed"]);
    assert_eq!(tried.results.findings[0].seen, 3);
    assert_eq!(tried.results.lanes[0].cases, 3, "it is asked no more");
    let missing: Vec<&str> = tried.results.not_run.iter().map(|one| one.what.as_str()).collect();
    assert_eq!(missing, ["bad over layouts, to the end"]);
}

/// Its round of 512 layouts would take 102 s.
#[test]
fn a_subject_that_is_slow_over_layouts_ends_with_the_budget() {
    let tried = campaign_of_layouts("slow over layouts", Budget::Time(Duration::from_secs(1)));
    assert_eq!(tried.signatures(), [""; 0]);
    let cases = tried.results.lanes[0].cases;
    assert!((1..100).contains(&cases), "{cases}");
    assert_eq!(
        tried.compared("slots", "slot-model"),
        5 * cases,
        "what it answered is counted"
    );
}

// The command line.

fn lockstep(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(LOCKSTEP)
        .args(args)
        .current_dir(root())
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("lockstep");
    // It may have ended before it read everything.
    let _ = child.stdin.take().expect("a pipe").write_all(input);
    child.wait_with_output().expect("its output")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_example_and_native_over_the_protocol_agree_with_native() {
    let out = folder();
    let example = format!("exec:{} reference/examples/reader.py", python());
    let served = format!("exec:'{LOCKSTEP}' serve native");
    let out_path = out.path().display().to_string();
    let args = ["run", "--cases", "2048", "--only", "streams", "--seed", "1"];
    let readers = ["--reader", &example, "--reader", &served, "--out", &out_path];
    let output = lockstep(&[&args[..], &readers].concat(), b"");
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    for reader in ["reader.py", "exec:native", "replay-js"] {
        assert!(said.contains(&format!("native with {reader}")), "{said}");
    }
    assert!(said.contains("no findings in"), "{said}");
    let results = std::fs::read_to_string(out.path().join("results.json")).expect("results.json");
    let results: Results = serde_json::from_str(&results).expect("results");
    let option = format!(" --reader '{example}' --reader '");
    assert!(results.command.contains(&option), "{}", results.command);
    for row in &results.comparisons {
        assert_eq!(row.both_accept + row.both_refuse, row.compared, "{row:?}");
        // Of calls a share is compared.
        let due = if row.aspect == "calls" { 100 } else { 500 };
        assert!(row.compared > due, "{row:?}");
    }
}

/// One that says the name of a reader here, beside a reader that says the same, and that has no strict check.
#[test]
fn a_subject_goes_by_the_name_that_it_says() {
    let (out, pids) = (folder(), folder());
    let bad = format!("{} harness/lockstep/tests/readers/bad.py", python());
    let subject = format!(
        "exec:{bad} wrong '' '{}' '{LOCKSTEP}' serve native",
        pids.path().display()
    );
    let reader = format!("exec:'{LOCKSTEP}' serve native");
    let out_path = out.path().display().to_string();
    let args = [
        "run", "--cases", "1536", "--seed", "3", "--only", "streams", "--only", "gpu",
    ];
    let who = ["--subject", &subject, "--reader", &reader, "--gpu", "wgpu:noop"];
    let output = lockstep(&[&args[..], &who, &["--out", &out_path]].concat(), b"");
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("not answered: the subject has none, or failed each time"),
        "{said}"
    );
    let results = std::fs::read_to_string(out.path().join("results.json")).expect("results.json");
    let results: Results = serde_json::from_str(&results).expect("results");
    let comparisons = results.comparisons.iter();
    let pairs: BTreeSet<_> = comparisons
        .map(|row| (row.subject.as_str(), row.reference.as_str()))
        .collect();
    let due = [("exec:native", "native (2)"), ("exec:native", "replay-js")];
    assert_eq!(pairs, BTreeSet::from(due));
    let signature = "ranges: exec:native vs replay-js: not-a-buffer DispatchIndirect vs out-of-range DispatchIndirect";
    let finding = results.findings.iter().find(|finding| finding.signature == signature);
    let finding = finding.unwrap_or_else(|| panic!("{said}"));
    let shown = lockstep(&["repro", &finding.file, "--subject", &subject], b"");
    let said = text(&shown.stdout);
    assert!(said.contains(&format!("finding: {signature}\n")), "{said}");
    assert_eq!(shown.status.code(), Some(1));
}

#[test]
fn a_subject_that_says_no_hello_is_bad_use() {
    let output = lockstep(&["run", "--cases", "512", "--subject", "exec:false"], b"");
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.starts_with("lockstep: exec:false did not answer: "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// Of layouts only a subject is asked.
#[test]
fn a_reader_that_could_be_asked_nothing_is_bad_use() {
    let folder = folder();
    let example = std::fs::read_to_string(root().join("reference/examples/reader.py")).expect("the example");
    let other = example.replace(r#"["streams", "descriptors"]"#, r#"["layouts", "strict"]"#);
    assert_ne!(other, example);
    std::fs::write(folder.path().join("other.py"), other).expect("written");
    let reader = format!("exec:{} {}", python(), folder.path().join("other.py").display());
    let output = lockstep(&["run", "--cases", "512", "--reader", &reader], b"");
    let said = text(&output.stderr);
    let due = "it answers layouts, strict, and a further reader is asked streams, descriptors, calls alone\n";
    assert!(
        said.starts_with("lockstep: --reader 'exec:") && said.ends_with(due),
        "{said}"
    );
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1));
}

#[test]
fn repro_takes_a_reader_too() {
    let (python, bad, pids) = (python(), "harness/lockstep/tests/readers/bad.py", folder());
    let repro = |way: &str| {
        let pids = pids.path().display();
        let reader = format!("exec:{python} {bad} '{way}' '' '{pids}' '{LOCKSTEP}' serve native");
        let output = lockstep(&["repro", "--generated", "streams:1:3", "--reader", &reader], b"");
        (output.status.code(), text(&output.stdout))
    };
    let (status, said) = repro("good");
    assert!(said.contains("exec:native"), "{said}");
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = repro("not an answer");
    assert!(said.contains("finding: reader exec:native answers nonsense"), "{said}");
    assert_eq!(status, Some(1));
    let (status, said) = repro("descriptors alone");
    assert_eq!(status, Some(0), "{said}");
}

/// The example, which has no strict check, takes 8 bytes for the 12 that a DispatchIndirect reads. Where nothing was brought no reference
/// parts first, so that it is the GPU that shows it: to the campaign, and to whoever asks again.
#[test]
fn a_finding_of_the_gpu_about_a_subject_without_a_strict_check_is_shown_again() {
    let folder = folder();
    let example = std::fs::read_to_string(root().join("reference/examples/reader.py")).expect("the example");
    let faulty = example.replace("24: ([1], lambda c: 12)", "24: ([1], lambda c: 8)");
    assert_ne!(faulty, example, "the fault is planted");
    std::fs::write(folder.path().join("faulty.py"), faulty).expect("written");
    std::fs::create_dir(folder.path().join("reference")).expect("made");
    std::fs::write(folder.path().join("reference/wire.md"), "").expect("written");
    let subject = format!("exec:{} faulty.py", python());
    let status = |args: &str| {
        let mut command = Command::new(LOCKSTEP);
        command.args(args.split(' ')).args(["--subject", &subject]);
        command.current_dir(folder.path()).env_remove("CARGO_MANIFEST_DIR");
        let output = command.env("LOCKSTEP_OFFLINE", "1").output().expect("its output");
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        (output.status.code(), said)
    };
    let (found, said) =
        status("run --only gpu --gpu wgpu:noop --cases 40000 --seed 1 --until-finding --quiet --out out");
    assert_eq!(found, Some(1), "{said}");
    let results = std::fs::read_to_string(folder.path().join("out/results.json")).expect("results.json");
    let results: Results = serde_json::from_str(&results).expect("results");
    let finding = &results.findings[0];
    let due = "gpu: reader.py on wgpu:noop: accepted DispatchIndirect and the GPU refuses its range";
    assert_eq!(finding.signature, due);
    assert!(finding.summary.contains("minimised to "), "{}", finding.summary);
    let (shown, said) = status(&format!("repro {}", finding.file));
    assert!(
        shown == Some(1) && said.contains(&format!("\nfinding: {due}\n")),
        "{said}"
    );
    assert_eq!(
        status(&format!("repro --quiet {}", finding.file)),
        (Some(0), String::new())
    );
    let (minimised, said) = status(&format!("minimize {}", finding.file));
    assert_eq!(minimised, Some(0), "{said}");
}

/// A MiB on standard error, of which the last 64 KiB are shown, once.
#[test]
fn of_a_reader_that_fails_the_end_of_its_standard_error_is_shown() {
    let script = "import sys; sys.stderr.write('x' * 1048576 + 'the end')";
    let reader = format!("exec:{} -c \"{script}\"", python());
    let output = lockstep(&["repro", "--generated", "streams:1:3", "--reader", &reader], b"");
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert_eq!(said.matches("wrote to standard error:\n").count(), 1, "{said}");
    assert_eq!(
        said.matches('x').count(),
        (64 << 10) - "the end".len() + reader.matches('x').count(),
        "{said}"
    );
    assert!(said.contains("xthe end\n"), "{said}");
}

#[test]
fn a_command_that_cannot_be_started_is_bad_use() {
    let out = folder();
    let out_path = out.path().display().to_string();
    let run = |reader: &str| lockstep(&["run", "--cases", "512", "--reader", reader, "--out", &out_path], b"");
    let output = run("exec:no-such-program --x");
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    let due = "lockstep: --reader 'exec:no-such-program --x': cannot start `no-such-program`: ";
    assert!(said.starts_with(due), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let repro = [
        "repro",
        "--generated",
        "streams:1:1",
        "--reader",
        "exec:no-such-program --x",
    ];
    assert_eq!(text(&lockstep(&repro, b"").stderr), said);
    for (reader, due) in [
        ("python3 reader.py", "a reader is given as exec:COMMAND"),
        ("exec:", "there is no command after exec:"),
        ("exec:a 'b", "a ' quote that nothing closes"),
    ] {
        let output = run(reader);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(due), "{}", text(&output.stderr));
    }
    assert!(!out.path().join("results.json").exists());
}

// `lockstep serve native`.

fn numbers(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn frame(words: &[u32]) -> Vec<u8> {
    [numbers(&[4 * words.len() as u32]), numbers(words)].concat()
}

/// The blob of a lone Submit, as `bytes`.
const SUBMIT: [u32; 6] = [20, u32::from_le_bytes(*b"WIRE"), 4, 1, 0, 40];

#[test]
fn it_serves() {
    let item = [&SUBMIT[..], &[0, 0, 0, 0]].concat();
    let streams = frame(&[&[2, 1], &item[..]].concat());
    let descriptors = frame(&[3, 1, 8, 1, 5, 2, 6, 60, 5, 50]);
    let output = lockstep(&["serve", "native"], &[frame(&[1, 1]), streams, descriptors].concat());
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let hello = br#"{"name":"native","answers":["streams","descriptors","calls","strict","layouts"]}"#;
    let due = [
        numbers(&[8 + hello.len() as u32, 1, 1]),
        hello.to_vec(),
        frame(&[2, 1, 40, 0, 0, 1, 0, 0, 1, 40, 0, 0, 0]),
        frame(&[3, 1, 32, 0, 1, 5, 0, 0, 8, 1, 50]),
    ];
    assert_eq!(output.stdout, due.concat());
}

/// What comes after the hello, of one frame.
fn answer(request: Vec<u8>) -> Vec<u8> {
    let output = lockstep(&["serve", "native"], &[frame(&[1, 1]), request].concat());
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let hello = u32::from_le_bytes(output.stdout[..4].try_into().expect("a length"));
    output.stdout[4 + hello as usize..].to_vec()
}

#[test]
fn it_serves_the_strict_check() {
    // A lone Submit; a WriteBuffer of nothing into an id 5 that there is not. Both over an empty table.
    let write = [40, u32::from_le_bytes(*b"WIRE"), 4, 6, 0, 30, 5, 0, 0, 0, 0];
    let request = frame(&[&[6, 2, 0], &SUBMIT[..], &[0], &write].concat());
    // Of both no bundle is refused. Accepted; refused at command 0, word 1, opcode 30, over rule 1.
    assert_eq!(answer(request), frame(&[6, 2, 8, 0, 0, 24, 0, 1, 0, 1, 30, 1]));
}

#[test]
fn it_serves_layouts() {
    let case = br#"{"groups":[null],"system":{"platform":"macos","major":14,"minor":0}}"#;
    let length = case.len() as u32;
    let request = [numbers(&[12 + length, 7, 1, length]), case.to_vec()].concat();
    // Of each stage: no slots, the base of an absent group, no sizes slot, no immediates, no arrays.
    let stages = [0, 0, 1, 0, 0, 0, 0].repeat(5);
    // GroupSlots of each stage and the dynamic offsets of no group.
    let groups = [1, 0].repeat(6);
    // MSL 3.1, preserveInvariance; Restrict but for binding arrays, nothing made up, zeros, bounded loops, no map; no shader.
    let rest = [3, 1, 0x30001, 0, 1, 1, 0, 0, 0, 2, 0, 1, 1, 0, 0];
    let due = [&stages[..], &groups, &rest].concat();
    let bytes = 4 * due.len() as u32;
    assert_eq!(answer(request), frame(&[&[7, 1, bytes][..], &due].concat()));
}

#[test]
fn a_version_that_it_does_not_speak_ends_it() {
    let output = lockstep(&["serve", "native"], &[frame(&[1, 9]), frame(&[2, 0])].concat());
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    assert_eq!(output.stdout[4..12], numbers(&[1, 1]));
    let output = lockstep(&["serve", "native"], b"");
    assert_eq!((output.status.code(), output.stdout), (Some(0), Vec::new()));
}

#[test]
fn a_malformed_request_is_one_line_and_status_2() {
    let hello = frame(&[1, 1]);
    let after = |rest: Vec<u8>| [hello.clone(), rest].concat();
    let stream = |rest: &[u32]| after(frame(&[&[2, 1], &SUBMIT[..], rest].concat()));
    let rows: [(&str, Vec<u8>); 13] = [
        ("the first frame is not hello", frame(&[2, 0])),
        ("a second hello", after(hello.clone())),
        ("unknown type 9", after(frame(&[9]))),
        ("whose length is 3", after(vec![3, 0, 0, 0, 1, 1, 1, 1])),
        ("whose length is 268435457", after(numbers(&[(1 << 28) + 1, 2]))),
        ("the end inside a frame", after(vec![8])),
        ("the end inside a frame", after(frame(&[2, 0])[..10].to_vec())),
        ("0 bytes left of the frame where 4 are due", after(frame(&[2, 7]))),
        (
            "bytes left of the frame where 4294967295 are due",
            after(frame(&[3, 1, u32::MAX])),
        ),
        ("4 bytes left over", stream(&[0, 0, 0, 0, 0])),
        ("4 bytes left over", frame(&[1, 1, 0])),
        ("id 7 is listed twice", stream(&[2, 7, 1, 7, 2, 0, 0, 0])),
        ("id 7 is listed twice", stream(&[0, 2, 7, 1, 1, 0, 7, 1, 1, 0, 0, 0])),
    ];
    for (due, input) in rows {
        let output = lockstep(&["serve", "native"], &input);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{due}");
        assert!(said.starts_with("lockstep: malformed request: "), "{said}");
        assert!(said.contains(due) && said.lines().count() == 1, "{said}: {due}");
    }
}

/// `corpus check` with further options, in the repository.
fn corpus_check(args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(LOCKSTEP);
    let output = command
        .args(["corpus", "check"])
        .args(args)
        .current_dir(root())
        .output();
    let Output { status, stdout, stderr } = output.expect("it runs");
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (status.code(), stdout, stderr)
}

#[test]
fn the_filed_cases_hold_a_reader_beside_the_crates_and_a_subject_in_their_place() {
    let folder = folder();
    let example = std::fs::read_to_string(root().join("reference/examples/reader.py")).expect("the example");
    let faulty = example.replace("version == 4", "version == 5");
    assert_ne!(faulty, example);
    std::fs::write(folder.path().join("faulty.py"), faulty).expect("written");
    let faulty = format!("exec:{} {}", python(), folder.path().join("faulty.py").display());
    let example = format!("exec:{} reference/examples/reader.py", python());
    let native = format!("exec:{LOCKSTEP} serve native");
    let stream = "corpus/streams/a-read-of-4-bytes-at-8-is-fine.json";
    let bind = "corpus/binds/immediates-and-a-uniform-buffer-stand-in-two-slots.json";
    for (args, status, due) in [
        (&[stream, "--reader", &example][..], 0, "1 passed, 0 failed\n"),
        (
            &[stream, "--reader", &faulty],
            1,
            "header: native vs reader.py: accept vs bad-version",
        ),
        (&[stream, "--subject", &example], 0, "1 passed, 0 failed\n"),
        (
            &[stream, "--subject", &faulty],
            1,
            "header: expected nothing, is `bad-version`",
        ),
        (
            &[stream, "corpus/layouts", "--subject", &native],
            0,
            " passed, 0 failed\n",
        ),
    ] {
        let (code, stdout, stderr) = corpus_check(args);
        assert_eq!((code, stderr.as_str()), (Some(status), ""), "{args:?}: {stdout}");
        assert!(stdout.contains(due), "{args:?}: {stdout}");
    }
    let (code, stdout, stderr) = corpus_check(&[stream, bind, "--subject", &example]);
    assert_eq!(
        (code, stderr.as_str()),
        (
            Some(0),
            "lockstep: the subject answers streams, descriptors; 1 case of another kind is left out\n"
        )
    );
    assert!(stdout.ends_with("1 passed, 0 failed\n"), "{stdout}");
    let (_, stdout, _) = corpus_check(&[stream, bind, "--json", "--subject", &example]);
    let shown: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((&shown["passed"], &shown["left_out"]), (&1.into(), &1.into()));
    let (code, _, stderr) = corpus_check(&[bind, "--subject", &native]);
    assert_eq!(code, Some(2), "an empty comparison is not a green one");
    assert!(
        stderr.ends_with("lockstep: the subject answers none of these cases\n"),
        "{stderr}"
    );
    let (code, _, stderr) = corpus_check(&[stream, "--subject", "exec:./no-such-port"]);
    assert_eq!((code, stderr.lines().count()), (Some(2), 1), "{stderr}");
}

/// Of lockstep.toml, wherever `--reader` is taken; the command line wins.
#[test]
fn the_readers_of_the_file_are_asked_about_one_case_too() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("reference")).expect("made");
    std::fs::write(folder.path().join("reference/wire.md"), "").expect("written");
    std::fs::write(
        folder.path().join("lockstep.toml"),
        "[run]\nreader = [\"exec:false\"]\n",
    )
    .expect("written");
    let repro = |args: &[&str]| {
        let mut command = Command::new(LOCKSTEP);
        command
            .args(["repro", "--generated", "streams:1:0", "--json"])
            .args(args);
        command.current_dir(folder.path()).env_remove("CARGO_MANIFEST_DIR");
        let output = command.output().expect("it runs");
        let shown: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        shown["findings"].clone()
    };
    assert_eq!(repro(&[]), serde_json::json!(["reader exec:false failed"]));
    let native = format!("exec:{LOCKSTEP} serve native");
    assert_eq!(repro(&["--reader", &native]), serde_json::json!([]));
}
