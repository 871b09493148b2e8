//! Hostile input and bad circumstances: one clear line and status 2, and nothing that ends the program.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use lockstep::case::Object;
use lockstep::gpu::TroubleKind;
use lockstep::gpu::engine::{self, Request};
use lockstep::shaders::{Options, check_file};

/// The program, in a folder where nothing was brought.
fn lockstep(folder: &Path) -> Command {
    std::fs::create_dir_all(folder.join("reference")).expect("made");
    std::fs::write(folder.join("reference/wire.md"), "").expect("written");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lockstep"));
    command.current_dir(folder).env_remove("CARGO_MANIFEST_DIR");
    command.env("LOCKSTEP_OFFLINE", "1").env("RUST_BACKTRACE", "0");
    command
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A pipe that nobody reads.
fn unread() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

#[test]
fn nobody_on_standard_error_costs_no_report() {
    let folder = folder();
    let args = ["run", "--cases", "512", "--only", "slots", "--out", "out"];
    let mut run = lockstep(folder.path());
    let status = run.args(args).stderr(unread()).stdout(unread()).status();
    // 2, since deno is missing here; that is also what is said first.
    assert_eq!(status.expect("it runs").code(), Some(2));
    assert!(folder.path().join("out/results.json").exists());
    assert!(folder.path().join("out/report.html").exists());
}

#[test]
fn nobody_on_standard_output_is_no_panic() {
    let folder = folder();
    let mut repro = lockstep(folder.path());
    let status = repro
        .args(["repro", "--generated", "layouts:1:1"])
        .stdout(unread())
        .status();
    assert_eq!(status.expect("it runs").code(), Some(0));
}

#[test]
fn absurd_numbers_are_refused_before_anything_runs() {
    let folder = folder();
    let rows: [(&[&str], &str); 4] = [
        (&["--workers", "0"], "a number from 1 to 1024"),
        (&["--workers", "100000"], "a number from 1 to 1024"),
        (&["--shard", "4294967296/4294967297"], "I/N with I from 0 and below N"),
        (&["--time", "99999999999999999999h"], "invalid value"),
    ];
    for (args, due) in rows {
        let output = lockstep(folder.path()).arg("run").args(args).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(due), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn a_campaign_without_a_case_is_not_green() {
    let folder = folder();
    // In this repository, where no part is missing.
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lockstep"));
    command.args(["run", "--cases", "0", "--only", "slots", "--quiet", "--out"]);
    let output = command.arg(folder.path()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
}

/// Said before a campaign of hours, not after it.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_file_is_refused_at_once() {
    let folder = folder();
    let args = ["run", "--cases", "512", "--only", "slots", "--quiet", "--out", "/proc"];
    let output = lockstep(folder.path()).args(args).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stdout, b"", "nothing ran");
    assert!(
        stderr(&output).contains("/proc: cannot write a file there"),
        "{}",
        stderr(&output)
    );
}

/// A pipe in a folder is not waited for.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_is_refused() {
    let folder = folder();
    let pipe = |name: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let made = Command::new("mkfifo").arg(path).status().expect("mkfifo");
        assert!(made.success());
    };
    for name in ["results.json", "checkpoint.json", "power.json", "lockstep.toml"] {
        pipe(&format!("out/{name}"));
    }
    let rows: [&[&str]; 6] = [
        &["inspect", "out/results.json"],
        &["report", "out"],
        &["run", "--resume", "out"],
        &["run", "--config", "out/lockstep.toml"],
        &["power", "--merge", "out"],
        &["repro", "out/results.json"],
    ];
    for args in rows {
        let output = lockstep(folder.path()).args(args).output().expect("it runs");
        let said = stderr(&output);
        assert_eq!(
            (output.status.code(), said.lines().count()),
            (Some(2), 1),
            "{args:?}: {said}"
        );
        assert!(
            said.contains("it is no file; give one, or /dev/stdin"),
            "{args:?}: {said}"
        );
    }
    // What a shell has for `<(...)` and for what is piped in is read.
    let mut repro = lockstep(folder.path());
    repro
        .args(["repro", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut repro = repro.spawn().expect("it starts");
    let mut stdin = repro.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, b"[]").expect("written");
    drop(stdin);
    let output = repro.wait_with_output().expect("it ends");
    assert!(
        stderr(&output).contains("/dev/stdin: not a case file"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn bad_files_are_one_line_with_the_place() {
    let folder = folder();
    std::fs::write(folder.path().join("bytes.json"), b"{\"format\":1,\n\"shows\":\"\xFF\"}").expect("written");
    std::fs::write(
        folder.path().join("escape.json"),
        r#"{"format":1,"case":{"\u001b[31m\nred":1}}"#,
    )
    .expect("written");
    let shader = "x".repeat((2 << 20) + 1);
    let system = r#"{"platform":"macos","major":14,"minor":0}"#;
    let long = format!(
        r#"{{"format":1,"case":{{"layout":{{"groups":[],"system":{system},"shader":{{"wgsl":"{shader}"}}}}}}}}"#
    );
    std::fs::write(folder.path().join("long.json"), long).expect("written");
    let mut rows = vec![
        (
            "bytes.json",
            "bytes.json: cannot read the case: line 2 is not valid UTF-8",
        ),
        (
            "escape.json",
            r"unknown variant `\u{1b}[31m\nred`, expected one of `stream`, `layout`, `bind` at line 1 column",
        ),
        (
            "long.json",
            "long.json: the shader has 2097153 bytes; at most 2097152 are read",
        ),
    ];
    if cfg!(unix) {
        rows.push((
            "/dev/zero",
            "/dev/zero: cannot read the case: it holds more than 134217728 bytes",
        ));
    }
    for (name, due) in rows {
        let output = lockstep(folder.path()).args(["repro", name]).output().expect("it runs");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(due) && said.lines().count() == 1, "{said}");
    }
}

/// What stands in a case file or a file's name does not reach the terminal as a command.
#[test]
fn escape_codes_are_shown_and_not_obeyed() {
    let folder = folder();
    let case = r#"{"format":1,"shows":"\u001b]0;title\u0007\nfinding: none","case":{"layout":{"groups":[],
        "system":{"platform":"macos","major":4294967295,"minor":4294967295}}}}"#;
    std::fs::write(folder.path().join("case.json"), case).expect("written");
    let output = lockstep(folder.path())
        .args(["repro", "case.json"])
        .output()
        .expect("it runs");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(
        said.starts_with("kept for: \\u{1b}]0;title\\u{7}\\nfinding: none\n"),
        "{said}"
    );
    if cfg!(unix) {
        std::fs::write(folder.path().join("a\n\u{1b}[31m.wgsl"), "fn f() {}").expect("written");
        let output = lockstep(folder.path())
            .args(["shaders", "."])
            .output()
            .expect("it runs");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "./a\\n\\u{1b}[31m.wgsl: no entry points\n1 file, 0 entry points at MSL 4.0: no problem\n"
        );
    }
}

/// One level of naga's recursion for each sign: some ten thousand overflow a usual stack, and the program ends.
fn deep_shader() -> String {
    format!(
        "@compute @workgroup_size(1) fn main() {{ let x = {}1; }}",
        "- ".repeat(50_000)
    )
}

#[test]
fn a_deep_shader_does_not_overflow_the_stack() {
    let report = check_file(Path::new("deep.wgsl"), &deep_shader(), &Options::default());
    assert_eq!(report.fault, None);
    assert_eq!(report.problems(), 0);
}

fn object(id: u32, kind: wire::Kind, body: String) -> Object {
    let refs = Vec::new();
    Object { id, kind, refs, body }
}

fn replay(objects: &[Object]) -> Option<(TroubleKind, String)> {
    let mut engine = engine::open("wgpu:noop").expect("always there");
    let request = Request {
        objects,
        words: &[],
        data: &[],
        stop_after: None,
        reads: &[],
        window: 0,
    };
    let trouble = engine.replay(&request).trouble;
    trouble.map(|trouble| (trouble.kind, trouble.message))
}

#[test]
fn an_engine_takes_a_deep_shader() {
    let body = serde_json::json!({ "code": deep_shader() }).to_string();
    assert_eq!(replay(&[object(1, wire::Kind::ShaderModule, body)]), None);
}

/// A software driver takes them from the machine's own memory, as much as there is.
#[test]
fn an_object_table_takes_a_gigabyte_at_most() {
    let why = |id: u32, kind: &str| format!("object {id} ({kind}): out of memory: an object table may take 1024 MiB");
    let buffers = (1..=5).map(|id| object(id, wire::Kind::Buffer, r#"{"size":268435456,"usage":12}"#.into()));
    let buffers: Vec<Object> = buffers.collect();
    // Four of 256 MiB are more than it, by what each object takes beside its bytes.
    assert_eq!(replay(&buffers), Some((TroubleKind::Engine, why(4, "buffer"))));
    assert_eq!(replay(&buffers[..3]), None);
    let texture = r#"{"size":[8192,8192,5],"format":"rgba8unorm","usage":4}"#;
    let texture = object(1, wire::Kind::Texture, texture.into());
    assert_eq!(replay(&[texture]), Some((TroubleKind::Engine, why(1, "texture"))));
    // What no device makes is for the device to say.
    let (kind, message) = replay(&[object(
        1,
        wire::Kind::Buffer,
        r#"{"size":9007199254740992,"usage":12}"#.into(),
    )])
    .expect("refused");
    assert_eq!(kind, TroubleKind::Validation, "{message}");
}

/// On a terminal Ctrl-C goes to the references too.
#[cfg(unix)]
#[test]
fn ctrl_c_for_the_whole_group_is_no_finding() {
    use std::os::unix::process::CommandExt as _;
    let folder = folder();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lockstep"));
    let args = ["run", "--time", "10m", "--only", "streams", "--quiet", "--out"];
    command
        .args(args)
        .arg(folder.path())
        .stdout(Stdio::null())
        .process_group(0);
    let mut child = command.spawn().expect("it starts");
    // Of its first round; as long as it takes.
    while !folder.path().join("checkpoint.json").exists() {
        assert_eq!(child.try_wait().expect("its status"), None, "it goes on");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let group = format!("-{}", child.id());
    Command::new("kill")
        .args(["-INT", "--", &group])
        .status()
        .expect("kill");
    child.wait().expect("it ends");
    assert!(folder.path().join("results.json").exists());
    assert!(!folder.path().join("findings").exists(), "no reader failed");
}
