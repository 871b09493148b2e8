//! The command line as people expect it: help that teaches, the manual and completions, defaults from a file, JSON.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use lockstep::report::results::Results;
use serde_json::Value;

fn lockstep(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("lockstep").expect("the program");
    command.args(args).timeout(std::time::Duration::from_secs(240));
    command.output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The names of the commands, from the help.
fn commands() -> Vec<String> {
    let help = text(&lockstep(&["--help"]).stdout);
    let list = help
        .split("Commands:\n")
        .nth(1)
        .and_then(|rest| rest.split("\n\n").next());
    let names = list
        .expect("a list")
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn the_help_of_every_command_has_examples_and_the_exit_status() {
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let help = lockstep(&[&command, "--help"]);
        assert_eq!(help.status.code(), Some(0), "{command}");
        let help = text(&help.stdout);
        assert!(
            help.contains(&format!("Examples:\n  cargo lockstep {command}")) || command == "serve",
            "{help}"
        );
        assert!(help.contains("Examples:") && help.contains("Exit status:"), "{help}");
    }
}

#[test]
fn the_manual_has_a_page_of_each_command() {
    let page = lockstep(&["man"]);
    let page = (page.status.code(), text(&page.stdout));
    assert!(page.0 == Some(0) && page.1.contains(".TH lockstep 1"), "{page:?}");
    for command in commands() {
        let page = text(&lockstep(&["man", &command]).stdout);
        assert!(page.contains(&format!(".TH lockstep-{command} 1")), "{page}");
        let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        assert!(
            headings.contains(&"EXAMPLES") && headings.ends_with(&["EXIT STATUS"]),
            "{headings:?}"
        );
        assert!(!headings.contains(&"EXTRA"), "{headings:?}");
    }
    let page = text(&lockstep(&["man", "inspect"]).stdout);
    assert!(
        page.contains("\n.SH EXAMPLES\n.nf\n  cargo lockstep inspect "),
        "{page}"
    );
    assert!(page.contains("\n.SH EXIT STATUS\n0 "), "{page}");
    let wrong = lockstep(&["man", "walk"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text(&wrong.stderr).starts_with("lockstep: no command `walk`; there are run, "),
        "{wrong:?}"
    );
}

#[test]
fn shells_complete_the_commands_and_their_options() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = lockstep(&["completions", shell]);
        assert_eq!(script.status.code(), Some(0), "{shell}");
        let script = text(&script.stdout);
        assert!(
            script.contains("lockstep") && script.contains("doctor") && script.contains("require-gpu"),
            "{shell}"
        );
    }
}

/// Two streams of one lane, into a folder.
fn run(folder: &Path, file: &str, args: &[&str]) -> Output {
    let path = folder.join("defaults.toml");
    std::fs::write(&path, file).expect("the file");
    let config = path.display().to_string();
    let common = [
        "run", "--config", &config, "--only", "streams", "--seed", "3", "--cases", "2",
    ];
    lockstep(&[&common, args].concat())
}

#[test]
fn a_file_holds_defaults_and_the_command_line_wins() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = "[run]\nquiet = true\nworkers = 2\nout = \"from-file\"\ntime = \"2h\"\ngpu = [\"nowhere\"]\nrequire-gpu = true\n";
    // What has no use beside `--cases` and `--only streams` is no error.
    let output = run(folder.path(), file, &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stderr), "");
    let results = |out: &str| -> Results {
        let text = std::fs::read_to_string(folder.path().join(out).join("results.json")).expect("results");
        serde_json::from_str(&text).expect("results")
    };
    let from_file = results("from-file");
    assert_eq!((from_file.workers, from_file.lanes[0].cases), (2, 2));
    let out = folder.path().join("given").display().to_string();
    let output = run(folder.path(), file, &["--workers", "1", "--out", &out]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(results("given").workers, 1);
}

#[test]
fn a_wrong_file_is_named_with_its_line_and_what_may_stand_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(folder.path(), "[run]\nquiet = true\nwrokers = 2\n", &[]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(
        error.contains("defaults.toml:3: run.wrokers: unknown field `wrokers`, expected one of `time`, `workers`"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
    let output = lockstep(&["run", "--config", "no/such/file.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).starts_with("lockstep: no/such/file.toml: cannot read it: "),
        "{output:?}"
    );
}

#[test]
fn rows_of_benches_that_are_no_regular_expression_are_bad_use() {
    let output = lockstep(&["bench", "("]);
    assert_eq!(output.status.code(), Some(2));
    let error = text(&output.stderr);
    assert!(
        error.starts_with("lockstep: ROWS: \"(\" is no regular expression"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn the_results_are_json_on_standard_output_when_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = run(
        folder.path(),
        "",
        &["--json", "--quiet", "--out", &folder.path().display().to_string()],
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(text(&output.stderr), "");
    let printed: Results = serde_json::from_slice(&output.stdout).expect("results");
    let written = std::fs::read(folder.path().join("results.json")).expect("results.json");
    assert_eq!(printed, serde_json::from_slice(&written).expect("results"));
}

#[test]
fn the_corpus_speaks_json_and_quiet_and_its_statistics_begin_short() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = folder.path().join("bad.json");
    std::fs::write(&bad, "[]").expect("written");
    let (path, name) = (folder.path().display().to_string(), bad.display().to_string());
    let check = |args: &[&str]| {
        let output = lockstep(&[&["corpus", "check", &path], args].concat());
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        text(&output.stdout)
    };
    let shown: Value = serde_json::from_str(&check(&["--json"])).expect("JSON");
    assert_eq!((&shown["passed"], &shown["failed"]), (&0.into(), &1.into()));
    assert_eq!(shown["cases"][0]["case"], name.as_str());
    let wrong = shown["cases"][0]["wrong"][0].as_str().expect("words");
    assert!(wrong.contains("bad.json: not a case file: "), "{wrong}");
    assert_eq!(check(&["--quiet"]).lines().count(), 2);
    let [short, all] =
        [&["corpus", "stats"][..], &["corpus", "stats", "--all"]].map(|args| text(&lockstep(args).stdout));
    assert_eq!(
        short.lines().last(),
        Some("`cargo lockstep corpus stats --all` names the pairs that no case reaches")
    );
    assert!(short.lines().count() < 12 && all.lines().count() > 20, "{short}{all}");
}

#[test]
fn the_doctor_speaks_json_and_says_what_is_missing_alone() {
    let output = lockstep(&["doctor", "--json"]);
    let table: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = table["rows"].as_array().expect("rows");
    let deno = rows.iter().find(|row| row["name"] == "deno").expect("a row");
    assert_eq!(deno["state"], "ok", "{deno}");
    assert!(rows.iter().all(|row| row["detail"].is_string()));
    let quiet = lockstep(&["doctor", "--quiet"]);
    let missing = rows.iter().filter(|row| row["state"] == "missing").count();
    assert_eq!(text(&quiet.stdout).lines().count(), missing);
    assert_eq!(quiet.status.code(), Some(if missing == 0 { 0 } else { 2 }));
}

/// As each repro command of a report: what it prints is for programs.
#[test]
fn a_case_is_shown_as_json() {
    let output = lockstep(&["repro", "--generated", "layouts:7:3", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(shown["findings"], Value::Array(vec![]));
    assert_eq!(shown["asked"][0], "slot-model");
    assert!(
        shown["text"].as_str().expect("text").contains("vertex stage"),
        "{shown}"
    );
}
