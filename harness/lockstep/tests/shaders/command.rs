//! `lockstep shaders` as a user meets it: what it prints, and the exit status.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

const UNIFORM: &str = "@group(0) @binding(3) var<uniform> tint: vec4f;\n\
                       @fragment fn f() -> @location(0) vec4f { return tint; }\n";
const TWO: &str = "override n: u32;\n\
                   @group(0) @binding(0) var<storage, read_write> rows: array<u32>;\n\
                   @compute @workgroup_size(n) fn fill(@builtin(local_invocation_index) i: u32) { rows[i] = 1; }\n\
                   @compute @workgroup_size(1) fn none() {}\n";

fn lockstep(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("lockstep").expect("the program");
    command
        .current_dir(folder)
        .arg("shaders")
        .args(args)
        .env_remove("NO_COLOR");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Status, standard output and standard error of a run in a folder with these files.
fn run_in(files: &[(&str, &str)], args: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, contents) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, contents).expect("written");
    }
    let Output { status, stdout, stderr } = lockstep(folder.path(), args).output().expect("it runs");
    (status.code().expect("it ends"), text(&stdout), text(&stderr))
}

#[test]
fn a_table_for_each_entry_point_and_a_verdict() {
    let files = [
        ("deep/b.wgsl", TWO),
        ("a.wgsl", UNIFORM),
        ("c.txt", "no shader"),
        ("d.wgsl", "fn f() {}"),
    ];
    let (status, out, err) = run_in(&files, &["."]);
    let due = "\
./a.wgsl: 1 entry point
  fragment f
    group  binding  variable  type     access     table   slot
        0        3  tint      uniform  read-only  buffer     0
./d.wgsl: no entry points
./deep/b.wgsl: 2 entry points
  override `n` has no value: 1 is taken; --override n=VALUE gives one
  compute fill
    group  binding  variable       type              access      table   slot
        0        0  rows           storage           read-write  buffer     0
                    _buffer_sizes  sizes of buffers  read-only   buffer     1
    _buffer_sizes: size0 of `rows` (0/0)
  compute none
    group  binding  variable       type                        access     table   slot
                    _buffer_sizes  sizes of buffers, not used  read-only  buffer     1
3 files, 3 entry points at MSL 4.0: no problem
";
    assert_eq!((status, out.as_str(), err.as_str()), (0, due, ""));
}

#[test]
fn a_bad_shader_is_shown_with_naga_s_own_words_and_the_others_go_on() {
    let files = [
        ("a.wgsl", UNIFORM),
        ("bad.wgsl", "fn f() {\n  return 1 +;\n}\n"),
        ("c.wgsl", "#import x\n"),
    ];
    let (status, out, err) = run_in(&files, &["bad.wgsl", "c.wgsl", "a.wgsl"]);
    let start = "\
bad.wgsl:2:13: expected expression, found \";\"
  error: expected expression, found \";\"
    ┌─ bad.wgsl:2:13
";
    assert!(out.starts_with(start), "{out}");
    let end = "\
c.wgsl:1: not plain WGSL, a template: `#import`
a.wgsl: 1 entry point
  fragment f
    group  binding  variable  type     access     table   slot
        0        3  tint      uniform  read-only  buffer     0
3 files, 1 entry point at MSL 4.0: no problem, 2 files not checked
";
    assert!(out.ends_with(end), "{out}");
    assert_eq!((status, err.as_str()), (2, ""));
}

#[test]
fn problems_are_status_1() {
    let invariant = "@vertex fn v() -> @invariant @builtin(position) vec4f { return vec4f(); }";
    let (status, out, _) = run_in(&[("v.wgsl", invariant)], &["v.wgsl", "--language-version", "2.0"]);
    assert_eq!(status, 1, "{out}");
    assert!(
        out.contains("\n    PROBLEM refused by naga's MSL writer: attribute 'invariant'"),
        "{out}"
    );
    assert!(
        out.ends_with("\n1 file, 1 entry point at MSL 2.0: 1 problem\n"),
        "{out}"
    );
    for (system, due, at) in [
        ("macos:10.13", 1, "MSL 2.0 (macos 10.13)"),
        ("macos:10.14", 0, "MSL 2.1 (macos 10.14)"),
        ("ios:11", 1, "MSL 2.0 (ios 11.0)"),
        ("visionos:1.0", 0, "MSL 3.1 (visionos 1.0)"),
    ] {
        let (status, out, err) = run_in(&[("v.wgsl", invariant)], &["v.wgsl", "--system", system]);
        assert_eq!(status, due, "{system}: {out}{err}");
        assert!(out.contains(&format!("\n1 file, 1 entry point at {at}: ")), "{out}");
    }
}

#[test]
fn json() {
    let files = [("a.wgsl", TWO), ("bad.wgsl", "fn f() {\n  return 1 +;\n}\n")];
    let (status, out, _) = run_in(
        &files,
        &[
            "a.wgsl",
            "bad.wgsl",
            "--json",
            "--override",
            "n=4",
            "--system",
            "macos:15.0",
        ],
    );
    assert_eq!(status, 2);
    let mut found: Value = serde_json::from_str(&out).expect("one document");
    let report = found["files"][1]["fault"]["report"].take();
    assert!(report.as_str().expect("naga's").contains("bad.wgsl:2:13"), "{report}");
    let due = json!({
        "format": 1,
        "language_version": "3.2",
        "files": [
            {
                "path": "a.wgsl",
                "overrides": { "n": 4.0 },
                "entry_points": [
                    {
                        "name": "fill",
                        "stage": "compute",
                        "bindings": [
                            {
                                "group": 0, "binding": 0, "variable": "rows", "type": "storage", "access": "read-write",
                                "slots": [{ "table": "buffer", "slot": 0 }]
                            }
                        ],
                        "buffer_sizes": {
                            "slot": 1, "used": true,
                            "fields": [{ "field": "size0", "group": 0, "binding": 0, "variable": "rows" }]
                        }
                    },
                    {
                        "name": "none",
                        "stage": "compute",
                        "bindings": [],
                        "buffer_sizes": { "slot": 1, "used": false, "fields": [] }
                    }
                ]
            },
            {
                "path": "bad.wgsl",
                "fault": {
                    "kind": "syntax", "message": "expected expression, found \";\"", "line": 2, "column": 13, "report": null
                },
                "entry_points": []
            }
        ],
        "summary": { "files": 2, "entry_points": 2, "problems": 0, "faults": 1 }
    });
    assert_eq!(found, due);
    let (_, out, _) = run_in(&files[..1], &["a.wgsl", "--json", "--msl", "--entry-point", "fill"]);
    let found: Value = serde_json::from_str(&out).expect("one document");
    let msl = found["files"][0]["entry_points"][0]["msl"].as_str().expect("the MSL");
    assert!(msl.starts_with("// language: metal4.0\n"), "{msl}");
}

#[test]
fn msl_of_an_entry_point() {
    let (status, out, _) = run_in(
        &[("a.wgsl", TWO)],
        &["a.wgsl", "--msl", "--entry-point", "fill", "--language-version", "3.1"],
    );
    assert_eq!(status, 0);
    assert!(out.starts_with("// a.wgsl: 1 entry point\n"), "{out}");
    assert!(
        out.contains("\n// language: metal3.1\n") && out.contains("kernel void fill("),
        "{out}"
    );
    assert!(!out.contains("none("), "{out}");
    assert!(
        out.ends_with("\n// 1 file, 1 entry point at MSL 3.1: no problem\n"),
        "{out}"
    );
    // What is refused is a comment too.
    let (status, out, _) = run_in(&[("a.wgsl", TWO)], &["a.wgsl", "--msl", "--override", "n=0"]);
    assert_eq!(status, 1);
    assert!(
        out.contains("//     PROBLEM not valid with these overrides: workgroup_size"),
        "{out}"
    );
}

#[test]
fn globs_folders_and_standard_input() {
    let files = [
        ("x/a.wgsl", UNIFORM),
        ("x/y/b.wgsl", UNIFORM),
        ("x/y/c.txt", UNIFORM),
        ("[z].wgsl", UNIFORM),
    ];
    let heads = |args: &[&str]| {
        let (status, out, err) = run_in(&files, args);
        assert_eq!(status, 0, "{err}");
        let heads = out.lines().filter_map(|line| line.strip_suffix(": 1 entry point"));
        heads.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(heads(&["x/**/*.wgsl"]), ["x/a.wgsl", "x/y/b.wgsl"]);
    assert_eq!(heads(&["x/?.wgsl"]), ["x/a.wgsl"]);
    assert_eq!(heads(&["x"]), ["x/a.wgsl", "x/y/b.wgsl"]);
    assert_eq!(heads(&["x/y/c.txt"]), ["x/y/c.txt"]);
    assert_eq!(heads(&["[z].wgsl"]), ["[z].wgsl"]);
    let folder = tempfile::tempdir().expect("a folder");
    let output = lockstep(folder.path(), &["-"])
        .write_stdin(UNIFORM)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        text(&output.stdout).starts_with("<stdin>: 1 entry point\n"),
        "{}",
        text(&output.stdout)
    );
    let output = lockstep(folder.path(), &["-"])
        .write_stdin("fn f(")
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stdout).starts_with("<stdin>:1:6: "),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn bad_use_is_one_line() {
    let with_id = "@id(7) override scale: f32; @compute @workgroup_size(1) fn f() { _ = scale; }";
    let files = [("a.wgsl", TWO), ("id.wgsl", with_id), ("empty/b.txt", "")];
    let rows: [(&[&str], &str); 9] = [
        (&["none.wgsl"], "none.wgsl: no such file or folder"),
        (&["*.glsl"], "*.glsl: no file matches"),
        (&["empty"], "no WGSL file (*.wgsl) found"),
        (&["a.wgsl", "--override", "m=1"], "no override `m`; there are n\n"),
        (
            &["id.wgsl", "--override", "scale=2"],
            "override `scale` has @id(7): --override 7=2\n",
        ),
        (
            &["a.wgsl", "--entry-point", "main"],
            "no entry point `main`; there are fill, none\n",
        ),
        (
            &["a.wgsl", "--language-version", "5.0"],
            "the versions of MSL are 1.0, 1.1,",
        ),
        (
            &["a.wgsl", "--system", "linux:6.1"],
            "expected PLATFORM:MAJOR.MINOR, such as macos:15.0",
        ),
        (
            &["a.wgsl", "--override", "n=four"],
            "`four` is neither a number nor true or false",
        ),
    ];
    for (args, due) in rows {
        let (status, out, err) = run_in(&files, args);
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains(due), "{args:?}: {err}");
    }
}

#[test]
fn unreadable_files_are_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).expect("written");
    write("binary.wgsl", b"\x7fELF\n\xff\xfe\0\0");
    write("long.wgsl", &vec![b' '; 10 << 20]);
    write(
        "minified.wgsl",
        format!("fn f() {{ {} }} fn g( {{", "_ = 1; ".repeat(10_000)).as_bytes(),
    );
    let output = lockstep(folder.path(), &["."]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(2));
    let due = "\
./binary.wgsl: cannot be read: line 2 is not valid UTF-8
./long.wgsl: cannot be read: it holds more than 2097152 bytes, the most that is read
./minified.wgsl:1:70019: expected identifier";
    let out = text(&output.stdout);
    assert!(out.starts_with(due), "{out}");
    assert!(out.len() < 1000, "{} bytes", out.len());
}

/// A name and a text that hold escape codes.
#[cfg(unix)]
#[test]
fn what_a_terminal_obeys_is_escaped() {
    let files = [("a\n\u{1b}[31m.wgsl", "fn f() { \u{1b}[31m }")];
    let (status, out, _) = run_in(&files, &["."]);
    assert_eq!(status, 2);
    assert!(out.starts_with("./a\\n\\u{1b}[31m.wgsl:1:10: "), "{out}");
    assert!(!out.contains('\u{1b}'), "{out}");
}
