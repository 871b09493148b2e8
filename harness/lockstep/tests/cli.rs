//! The program as a user meets it: exit status, the one clear line, the files that it leaves.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use lockstep::report::results::Results;

fn lockstep() -> Command {
    let mut command = Command::cargo_bin("lockstep").expect("the program");
    command
        .env("RUST_BACKTRACE", "0")
        .timeout(std::time::Duration::from_secs(240));
    command
}

fn run(args: &[&str], out: &Path) -> Output {
    lockstep()
        .arg("run")
        .args(args)
        .arg("--out")
        .arg(out)
        .output()
        .expect("it runs")
}

fn results(out: &Path) -> Results {
    let text = std::fs::read_to_string(out.join("results.json")).expect("results.json");
    serde_json::from_str(&text).expect("results.json as results.rs has it")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What must be equal wherever the same cases ran: everything but the clock, and what deno leaves in new memory now and then
/// (`reference/ENGINES.md`).
fn without_the_clock(mut results: Results) -> Results {
    results.engines.retain(|engine| engine.engine != "deno");
    (results.started, results.seconds, results.command) = (0, 0.0, String::new());
    results.lanes.iter_mut().for_each(|lane| lane.worker_seconds = 0.0);
    results
}

#[test]
fn a_number_of_cases_is_exact_and_the_same_every_time() {
    let [a, b] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let output = run(&["--cases", "1000", "--seed", "5", "--quiet"], a.path());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    run(
        &["--cases", "1000", "--seed", "5", "--quiet", "--workers", "1"],
        b.path(),
    );
    let [first, second] = [a, b].map(|folder| results(folder.path()));
    // Of the smaller lanes as many as their share of 1000 in 512, rounded up.
    let cases: Vec<(&str, u64)> = first
        .lanes
        .iter()
        .map(|lane| (lane.name.as_str(), lane.cases))
        .collect();
    assert_eq!(
        cases,
        [
            ("streams", 1000),
            ("raw", 125),
            ("layouts", 1000),
            ("shaders", 18),
            ("binds", 110),
            ("replays", 250)
        ]
    );
    let second = Results {
        workers: first.workers,
        ..second
    };
    assert_eq!(without_the_clock(first), without_the_clock(second));
}

#[test]
fn shards_together_run_the_whole() {
    let folders = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let args = ["--cases", "3000", "--seed", "9", "--only", "slots", "--quiet"];
    run(&args, folders[0].path());
    run(&[&args[..], &["--shard", "0/2"]].concat(), folders[1].path());
    run(&[&args[..], &["--shard", "1/2"]].concat(), folders[2].path());
    let [whole, one, two] = folders.map(|folder| results(folder.path()));
    for ((whole, one), two) in whole.comparisons.iter().zip(&one.comparisons).zip(&two.comparisons) {
        assert_eq!(whole.compared, one.compared + two.compared, "{}", whole.aspect);
        assert_eq!(whole.both_refuse, one.both_refuse + two.both_refuse, "{}", whole.aspect);
    }
    assert_eq!(whole.msl.translated, one.msl.translated + two.msl.translated);
}

#[test]
fn the_report_is_there_in_three_shapes() {
    let out = tempfile::tempdir().expect("a folder");
    let output = run(&["--cases", "512", "--seed", "1"], out.path());
    let stdout = text(&output.stdout);
    assert!(stdout.contains("no findings in"), "{stdout}");
    assert!(stdout.contains("native with replay-js"), "{stdout}");
    assert_eq!(results(out.path()).not_run, [], "every part took part");
    let html = std::fs::read_to_string(out.path().join("report.html")).expect("report.html");
    assert!(html.starts_with("<!doctype html>") || html.starts_with("<!DOCTYPE html>"));
}

/// Bad use: status 2, and one line that says what is wrong.
#[test]
fn bad_use_is_said_in_one_line() {
    let out = tempfile::tempdir().expect("a folder");
    let rows: [(&[&str], &str); 6] = [
        (
            &["--require-gpu", "--only", "slots", "--only", "streams"],
            "--require-gpu asks for engines, and --only slots --only streams runs none",
        ),
        (
            &["--require-gpu", "--edges"],
            "--require-gpu asks for engines, and --edges runs none",
        ),
        (&["--shard", "2/2"], "I/N with I from 0 and below N"),
        (
            &["--time", "5x"],
            "`5x` is no span of time; give a number and ms, s, m or h, as in 90s",
        ),
        (
            &["--gpu", "wgpu:abacus"],
            "--gpu wgpu:abacus: no such engine; there are ",
        ),
        (&["--only", "everything"], "invalid value 'everything'"),
    ];
    for (args, due) in rows {
        let output = run(args, out.path());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(due), "{args:?}: {}", text(&output.stderr));
    }
}

#[test]
fn a_file_that_is_no_case_is_named_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let stream = r#"{"stream":{"objects":[],"id_map":[[2,1],[1,1]],"blob":"","max_workgroups":0,"window":0}}"#;
    let rows = [
        ("missing.json", None, "cannot read the case"),
        (
            "text.json",
            Some("no case".to_owned()),
            "not a case file: expected ident at line 1 column 2",
        ),
        (
            "old.json",
            Some(format!(r#"{{"format":0,"case":{stream}}}"#)),
            "case format 0, and this program reads 1",
        ),
        (
            "map.json",
            Some(format!(r#"{{"format":1,"case":{stream}}}"#)),
            "id_map: not ascending by guest",
        ),
    ];
    for (name, content, due) in rows {
        let path = folder.path().join(name);
        if let Some(content) = content {
            std::fs::write(&path, content).expect("written");
        }
        let output = lockstep().arg("repro").arg(&path).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{name}");
        let stderr = text(&output.stderr);
        assert!(
            stderr.contains(name) && stderr.contains(due) && stderr.lines().count() == 1,
            "{stderr}"
        );
    }
}

#[test]
fn a_generated_case_is_shown_with_every_answer() {
    let output = lockstep()
        .args(["repro", "--generated", "replays:1:4"])
        .output()
        .expect("it runs");
    let stdout = text(&output.stdout);
    for due in [
        "native",
        "replay-js",
        "decode",
        "remap",
        "ranges",
        "read check",
        "strict check: ",
        "wgpu:noop: ",
    ] {
        assert!(stdout.contains(due), "{due} in {stdout}");
    }
    assert_eq!(output.status.code(), Some(0), "{stdout}");
}

/// Immediates, which wgpu-hal passes four times as long: a difference, and no finding.
#[test]
fn a_bind_is_shown_with_what_the_ledger_explains() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("case.json");
    let case = serde_json::json!({
        "group_layouts": [],
        "layouts": [{ "groups": [], "immediate_size": 4 }],
        "groups": [],
        "pipelines": [{ "layout": 0, "stages": [{ "stage": "compute", "runtime_arrays": [], "vertex_buffers": [] }] }],
        "commands": [
            "begin-compute-pass",
            { "set-pipeline": 0 },
            { "set-immediates": { "offset": 0, "data": [7] } },
            "dispatch"
        ]
    });
    let file = serde_json::json!({ "format": 1, "case": { "bind": case } });
    std::fs::write(&path, file.to_string()).expect("written");
    let output = lockstep().arg("repro").arg(&path).output().expect("it runs");
    let stdout = text(&output.stdout);
    for due in [
        "slot-upstream, known as immediates-length: ",
        "\n~ a difference that the ledger explains, ",
        "\n                          native          wgpu-hal 30.0.2\n",
        "\n   1  SetPipeline #0\n   2  SetImmediates offset=0 [7]\n   3  Dispatch\n",
        "\n      ~ compute buffer 0  bytes 07000000  bytes 07000000",
        "\nno difference that the ledger does not explain\n",
    ] {
        assert!(stdout.contains(due), "{due} in {stdout}");
    }
    assert_eq!(output.status.code(), Some(0), "{stdout}");
}

/// "What did not run is said": a finding about a reader that nobody asked, or that takes a whole recording, is not gone.
#[test]
fn a_finding_about_a_reader_that_was_not_asked_is_not_called_gone() {
    let folder = tempfile::tempdir().expect("a folder");
    let stream = r#"{"stream":{"objects":[],"id_map":[],"blob":"","max_workgroups":0,"window":0}}"#;
    let rows = [
        (
            "header: native vs mine: bad-length vs accept",
            2,
            "is named there was not asked",
        ),
        ("reader mine failed", 2, "is named there was not asked"),
        (
            "recorded: reader native refuses what a program did: header bad-length",
            2,
            "it takes the whole recording: `cargo lockstep run --recorded FOLDER` shows it again\n",
        ),
        ("header: native vs replay-js: bad-length vs accept", 0, ""),
        ("slots: a reader panicked", 0, ""),
        ("bind: a player panicked", 0, ""),
    ];
    // In the place of the crates: they are not asked then, but about binds.
    let subject = format!(
        "exec:'{}' serve native",
        assert_cmd::cargo::cargo_bin!("lockstep").display()
    );
    let in_their_place = [
        (
            "header: native vs replay-js: bad-length vs accept",
            2,
            "`native` that is named there was not asked",
        ),
        ("bind: native vs slot-upstream: other bind", 0, ""),
    ];
    let rows = rows.map(|row| (row, None)).into_iter();
    for ((signature, status, due), subject) in rows.chain(in_their_place.map(|row| (row, Some(&subject)))) {
        let path = folder.path().join("case.json");
        let file = format!(r#"{{"format":1,"signature":"{signature}","case":{stream}}}"#);
        std::fs::write(&path, file).expect("written");
        let mut repro = lockstep();
        repro.arg("repro").arg(&path);
        if let Some(subject) = subject {
            repro.args(["--subject", subject]);
        }
        let output = repro.output().expect("it runs");
        assert_eq!(
            output.status.code(),
            Some(status),
            "{signature}: {}",
            text(&output.stderr)
        );
        assert!(text(&output.stderr).contains(due), "{}", text(&output.stderr));
    }
}

/// What is tried by hand goes with the objects and grants of the case that it was changed from.
#[test]
fn a_stream_alone_takes_another_cases_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    let (case, stream) = (folder.path().join("case.json"), folder.path().join("stream.wire"));
    let table = r#"[{"id":5,"kind":"buffer","body":"{\"size\":4,\"usage\":8}"}]"#;
    let text_of = format!(
        r#"{{"format":1,"case":{{"stream":{{"objects":{table},"id_map":[[7,5]],"blob":"","max_workgroups":0,"window":0}}}}}}"#
    );
    std::fs::write(&case, text_of).expect("written");
    // WriteBuffer #7 of 8 bytes, four past its end.
    let words = [wire::Op::WriteBuffer as u32, 7, 0, 0, 0, 8];
    std::fs::write(&stream, wire::encode_blob(&words, &[0; 8])).expect("written");
    let alone = lockstep().arg("repro").arg(&stream).output().expect("it runs");
    assert_eq!(alone.status.code(), Some(2), "{}", text(&alone.stderr));
    let due = "stream.wire: a stream alone; name by --like the case whose objects and grants go with it\n";
    assert!(text(&alone.stderr).ends_with(due), "{}", text(&alone.stderr));
    let like = lockstep().arg("repro").arg(&stream).arg("--like").arg(&case).output();
    let like = like.expect("it runs");
    let stdout = text(&like.stdout);
    for due in [
        "the guest's ids and the objects that they are granted as:\n  #7=5\n",
        "ranges       out-of-range WriteBuffer at command 0",
        "\nno difference\n",
    ] {
        assert!(stdout.contains(due), "{due} in {stdout}");
    }
    assert_eq!(like.status.code(), Some(0), "{stdout}");
}

/// What the others agree on says nothing about the finding of a reader that is not there.
#[test]
fn the_finding_of_a_reader_that_is_not_there_is_not_filed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("case.json");
    let stream = r#"{"stream":{"objects":[],"id_map":[],"blob":"","max_workgroups":0,"window":0}}"#;
    for (signature, due) in [
        (
            "header: native vs mine: bad-length vs accept",
            "`mine` that is named there was not asked",
        ),
        (
            "recorded: reader native refuses what a program did: header bad-length",
            "it takes the whole recording",
        ),
    ] {
        let file = format!(r#"{{"format":1,"signature":"{signature}","case":{stream}}}"#);
        std::fs::write(&path, file).expect("written");
        let mut add = lockstep();
        let output = add.args(["corpus", "add", "--shows", "it"]).arg(&path).output();
        let output = output.expect("it runs");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("case.json: not filed: ") && said.contains(due), "{said}");
    }
}

/// With `--quiet` as without it: a shader that naga refuses is its writer's fault, unless the case is kept for that.
#[test]
fn a_shader_that_is_none_is_no_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("case.json");
    let shader =
        r#"{"layout":{"groups":[],"system":{"platform":"macos","major":14,"minor":0},"shader":{"wgsl":"fn"}}}"#;
    let kept = r#""signature":"msl: naga refuses the WGSL","#;
    // Loud 1 is a finding; quiet 0 is that it shows.
    for (kept, loud, quiet) in [("", 0, 1), (kept, 1, 0)] {
        std::fs::write(&path, format!(r#"{{"format":1,{kept}"case":{shader}}}"#)).expect("written");
        let status = |args: &[&str]| {
            let output = lockstep().arg("repro").arg(&path).args(args).output().expect("it runs");
            (output.status.code(), text(&output.stderr))
        };
        let (said, said_quietly) = (status(&[]), status(&["--quiet"]));
        assert_eq!(
            (said.0, said_quietly.0),
            (Some(loud), Some(quiet)),
            "{kept}: {said:?}, {said_quietly:?}"
        );
    }
}

/// A repository folder in which nothing was brought, and no way to bring it.
#[test]
fn without_deno_and_without_vulkan_the_rest_runs_and_says_so() {
    let root = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(root.path().join("reference")).expect("made");
    std::fs::write(root.path().join("reference/wire.md"), "").expect("written");
    let out = tempfile::tempdir().expect("a folder");
    let output = lockstep()
        .args(["run", "--cases", "512", "--seed", "1", "--out"])
        .arg(out.path())
        .current_dir(root.path())
        .env_remove("CARGO_MANIFEST_DIR")
        .env("LOCKSTEP_OFFLINE", "1")
        .env("PATH", root.path())
        .env("VK_DRIVER_FILES", root.path().join("none.json"))
        .env("VK_ICD_FILENAMES", root.path().join("none.json"))
        .output()
        .expect("it runs");
    assert_eq!(
        output.status.code(),
        Some(2),
        "a part is missing: {}",
        text(&output.stderr)
    );
    let stderr = text(&output.stderr);
    assert!(stderr.contains("replay-js does not take part: "), "{stderr}");
    let results = results(out.path());
    assert!(
        results.not_run.iter().any(|part| part.what == "replay-js"),
        "{:?}",
        results.not_run
    );
    // Of the layouts' aspects one row a reference.
    let mut aspects: Vec<&str> = results.comparisons.iter().map(|row| row.aspect.as_str()).collect();
    aspects.dedup();
    assert_eq!(
        aspects,
        [
            "slots",
            "bases",
            "sizes slot",
            "immediates slot",
            "group slots",
            "dynamic offsets",
            "version",
            "options",
            "bind"
        ]
    );
    let noop = results
        .engines
        .iter()
        .find(|engine| engine.engine == "wgpu:noop")
        .expect("what can run still runs");
    assert!(noop.replays > 0);
    assert!(
        text(&output.stdout).contains("replay-js"),
        "the report says what did not run"
    );
}

/// wgpu's noop backend is always there, and executes nothing.
#[test]
fn a_gpu_that_is_required_and_not_there_is_a_missing_part() {
    for (required, status) in [(false, 0), (true, 2)] {
        let out = tempfile::tempdir().expect("a folder");
        let args = [
            "run",
            "--only",
            "gpu",
            "--cases",
            "512",
            "--seed",
            "1",
            "--gpu",
            "wgpu:noop",
            "--out",
        ];
        let output = lockstep()
            .args(args)
            .arg(out.path())
            .args(required.then_some("--require-gpu"))
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
        let not_run = results(out.path()).not_run;
        assert_eq!(
            not_run.iter().map(|part| part.what.as_str()).collect::<Vec<_>>(),
            ["a GPU"][..usize::from(required)]
        );
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_the_report_written() {
    use std::process::Stdio;
    let out = tempfile::tempdir().expect("a folder");
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("lockstep"))
        .args(["run", "--time", "10m", "--only", "slots", "--quiet", "--out"])
        .arg(out.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    // Of its first round; as long as it takes.
    while !out.path().join("checkpoint.json").exists() {
        assert_eq!(child.try_wait().expect("its status"), None, "it goes on");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .expect("kill");
    assert!(child.wait().expect("it ends").code().is_some());
    let results = results(out.path());
    assert!(results.interrupted);
    assert!(
        results
            .lanes
            .iter()
            .any(|lane| lane.name == "layouts" && lane.cases > 0),
        "{:?}",
        results.lanes
    );
    assert!(out.path().join("report.html").exists());
}
