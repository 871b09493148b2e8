//! Every `cargo lockstep …` in README.md and docs/ runs, in a copy of the repository, and ends with the status that it is said to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lockstep::files;

/// A command as the pages have it, what is run (`=` for the command itself), and its exit status. What takes long is run over less, and
/// what needs a reader with a fault is given one.
const COMMANDS: &[(&str, &str, i32)] = &[
    ("--help", "=", 0),
    ("run --help", "=", 0),
    ("doctor", "=", 0),
    ("test", "test --list", 0),
    ("man", "=", 0),
    ("completions bash", "=", 0),
    ("run", "run --time 5s --seed 1 --quiet", 0),
    ("run --edges", "=", 0),
    (
        "run --edges --reader 'exec:python3 reference/examples/reader.py'",
        "=",
        0,
    ),
    (
        "run --only streams --time 5m --reader 'exec:python3 reference/examples/reader.py'",
        "run --only streams --time 1s --seed 1 --reader 'exec:python3 reference/examples/reader.py'",
        0,
    ),
    (
        "run --only streams --cases 20000 --seed 1 --quiet",
        "run --only streams --cases 200 --seed 1 --quiet",
        0,
    ),
    ("run --cases 10000 --seed 7", "run --cases 100 --seed 7", 0),
    // A port with a fault, which is found.
    (
        "run --subject exec:./a-port-of-wire --until-finding",
        "run --subject 'exec:python3 faulty.py' --until-finding --time 60s --seed 1",
        1,
    ),
    (
        "run --subject 'exec:python3 reference/examples/reader.py' --cases 2000",
        "run --subject 'exec:python3 reference/examples/reader.py' --cases 200 --seed 1",
        0,
    ),
    ("repro --generated replays:7:12", "=", 0),
    (
        "repro reports/out/findings/NAME.json",
        "repro reports/out/findings/NAME.json --reader 'exec:python3 faulty.py'",
        1,
    ),
    (
        "repro reports/out/findings/NAME.json --reader 'exec:python3 reference/examples/reader.py'",
        "repro reports/out/findings/NAME.json --reader 'exec:python3 faulty.py'",
        1,
    ),
    (
        "minimize reports/out/findings/NAME.json",
        "minimize reports/out/findings/NAME.json --reader 'exec:python3 faulty.py'",
        0,
    ),
    ("inspect reports/out/findings/NAME.json > stream.txt", "=", 0),
    ("inspect stream.txt --to-blob stream.wire", "=", 0),
    ("inspect STREAM", "=", 0),
    ("inspect TEXT --to-blob STREAM", "=", 0),
    (
        "repro stream.wire --like reports/out/findings/NAME.json",
        "repro stream.wire --like reports/out/findings/NAME.json --reader 'exec:python3 faulty.py'",
        1,
    ),
    // The fault is mended.
    (
        "corpus add reports/out/findings/NAME.min.json",
        "corpus add reports/out/findings/NAME.min.json --reader 'exec:python3 reference/examples/reader.py'",
        0,
    ),
    ("corpus check", "corpus check corpus/layouts", 0),
    (
        "corpus check --reader 'exec:python3 reference/examples/reader.py'",
        "=",
        0,
    ),
    (
        "corpus check --subject 'exec:python3 reference/examples/reader.py'",
        "=",
        0,
    ),
    ("shaders path/to/shaders", "=", 0),
    ("shaders src/shaders", "=", 0),
    ("serve native", "serve native < /dev/null", 0),
    (
        "run --time 3h --seed 20260131 --shard 0/4 --out shard-0",
        "run --only streams --cases 1024 --seed 20260131 --shard 0/2 --out shard-0",
        0,
    ),
    (
        "run --time 3h --seed 20260131 --shard 1/4 --out shard-1",
        "run --only streams --cases 1024 --seed 20260131 --shard 1/2 --out shard-1",
        0,
    ),
    (
        "report shard-0 shard-1 shard-2 shard-3 --out whole",
        "report shard-0 shard-1 --out whole",
        0,
    ),
    (
        "report whole --history monday tuesday --out whole",
        "report whole --history shard-0 shard-1 --out whole",
        0,
    ),
    // Two of the many faults.
    (
        "power --shard 0/2 --out power-0",
        "power range-rest-wraps data-sum-in-32-bits --shard 0/2 --out power-0",
        0,
    ),
    (
        "power --shard 1/2 --out power-1",
        "power range-rest-wraps data-sum-in-32-bits --shard 1/2 --out power-1",
        0,
    ),
    ("power --merge power-0 power-1 --out whole", "=", 0),
    ("report reports/out --out reports/out", "=", 0),
    // That campaign came to its end: there is nothing to go on with.
    ("run --resume shard-0", "=", 2),
    ("repro", "repro --help", 0),
    // Some rows of the many.
    ("bench", "bench '^descriptors'", 0),
    ("bench --quick", "bench --quick '^layout'", 0),
    ("bench '^render/decode'", "bench --quick '^descriptors/split'", 0),
    // A step of `lockstep test` of its own.
    ("bench --instructions", "bench --help", 0),
    // One fault of the many: it is built, and found.
    ("power", "power range-rest-wraps", 0),
    (
        "power --only faults --time 10s",
        "power range-rest-wraps --only faults --time 10s --out power-timed",
        0,
    ),
    ("record PROGRAM.js", "=", 0),
    ("run --recorded PROGRAM.recording", "=", 0),
    (
        "corpus add FILE --target TARGET --shows WORDS",
        "corpus add fuzz/seeds/decode/a-header-cut-short --target decode --shows 'a header cut short, as fuzzed'",
        0,
    ),
    ("inspect", "inspect --help", 0),
    (
        "minimize FILE",
        "minimize reports/out/findings/NAME.json --reader 'exec:python3 faulty.py'",
        0,
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a page: whole lines of code, and then what stands in text between backticks.
fn commands(page: &str) -> Vec<String> {
    const NAME: &str = "cargo lockstep";
    let lines = page.lines().map(str::trim).filter_map(|line| line.strip_prefix(NAME));
    // Code between backticks may go on in the next line.
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let spans = words
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect::<Vec<_>>();
    let spans = spans.iter().filter_map(|span| span.strip_prefix(NAME));
    let all = lines
        .chain(spans)
        .filter(|rest| rest.starts_with(' ') && !rest.contains(" cargo lockstep"));
    all.map(|rest| rest.trim().to_owned()).collect()
}

fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    // The recordings' page is a story of its own, which tests/recorded.rs runs.
    let pages = docs.filter(|path| path.extension().is_some_and(|end| end == "md") && !path.ends_with("recording.md"));
    pages.chain([root().join("README.md")]).collect()
}

/// A copy of what the commands work on. Set-up's parts are the real ones.
fn repository() -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    let tree = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(tree.status.success(), "git says which files are the repository's");
    for file in String::from_utf8(tree.stdout).unwrap().split_terminator('\0') {
        let to = copy.path().join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root().join(file), to).unwrap();
    }
    std::os::unix::fs::symlink(
        root().canonicalize().unwrap().join(".lockstep"),
        copy.path().join(".lockstep"),
    )
    .unwrap();
    copy
}

/// A shell's command line with the program in place of `cargo lockstep`.
fn lockstep(line: &str, folder: &Path) -> Output {
    let program = env!("CARGO_BIN_EXE_lockstep");
    let mut command = Command::new("sh");
    // The repository is the folder that it runs in, not this test's package.
    command
        .arg("-c")
        .arg(format!("'{program}' {line}"))
        .current_dir(folder)
        .env_remove("CARGO_MANIFEST_DIR");
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

/// What the pages take to be there: a finding, a stream, a text, and shaders.
fn furnish(folder: &Path) {
    let reader = fs::read_to_string(folder.join("reference/examples/reader.py")).unwrap();
    let faulty = reader.replace(
        "c[4] + c[5] <= size, \"data-range\"), (5",
        "c[4] + c[5] <= size + 9, \"data-range\"), (5",
    );
    assert_ne!(faulty, reader, "the fault is in");
    files::write(&folder.join("faulty.py"), &faulty).unwrap();
    let found = lockstep("run --edges --quiet --reader 'exec:python3 faulty.py'", folder);
    assert_eq!(found.status.code(), Some(1), "{}", said(&found));
    let findings = folder.join("reports/out/findings");
    let mut kept: Vec<_> = fs::read_dir(&findings)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    kept.retain(|path| !path.to_string_lossy().contains("original"));
    kept.sort();
    fs::copy(&kept[0], findings.join("NAME.json")).unwrap();
    let text = lockstep("inspect reports/out/findings/NAME.json", folder);
    files::write(&folder.join("TEXT"), &said(&text)).unwrap();
    for command in [
        "inspect TEXT --to-blob STREAM",
        "minimize reports/out/findings/NAME.json --reader 'exec:python3 faulty.py'",
    ] {
        let output = lockstep(command, folder);
        assert_eq!(output.status.code(), Some(0), "{command}: {}", said(&output));
    }
    let program = root().join("harness/lockstep/tests/recorded/particles.js");
    fs::copy(program, folder.join("PROGRAM.js")).unwrap();
    let wgsl = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n\
                @compute @workgroup_size(1) fn main() { out[0] = 1u; }\n";
    for shaders in ["src/shaders", "path/to/shaders"] {
        files::write(&folder.join(shaders).join("a.wgsl"), wgsl).unwrap();
    }
}

#[test]
fn every_command_of_the_pages_runs() {
    let copy = repository();
    furnish(copy.path());
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for page in pages() {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        for command in commands(&fs::read_to_string(&page).unwrap()) {
            let Some((_, run, status)) = COMMANDS.iter().find(|known| known.0 == command) else {
                wrong.push(format!("{name}: `cargo lockstep {command}` has no line in COMMANDS"));
                continue;
            };
            if !seen.insert(command.clone()) {
                continue;
            }
            let run = if *run == "=" { &command } else { *run };
            // In the repository itself, of which all else is built: the copy would have to build all that is measured, and in this target
            // folder it would leave crates of the same names that are not these.
            let folder = match run.starts_with("bench ") {
                true => root(),
                false => copy.path().to_path_buf(),
            };
            let output = lockstep(run, &folder);
            if output.status.code() != Some(*status) {
                wrong.push(format!(
                    "{name}: `{run}` ended with {:?}: {}",
                    output.status.code(),
                    said(&output)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let unused: Vec<&str> = COMMANDS
        .iter()
        .map(|known| known.0)
        .filter(|known| !seen.contains(*known))
        .collect();
    assert_eq!(unused, [""; 0], "on no page any more");
}

#[test]
fn commands_are_found_in_lines_of_code_and_between_backticks() {
    let page = "Run\n\n    cargo lockstep run --edges\n\nor `cargo lockstep\nrepro FILE`, as `run` and\n```sh\ncargo lockstep doctor\n```\n";
    assert_eq!(commands(page), ["run --edges", "doctor", "repro FILE"]);
}

#[test]
fn the_page_of_speed_has_the_instructions_that_are_kept() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect("read");
    let page = read("docs/performance.md");
    let kept: BTreeMap<String, BTreeMap<String, f64>> =
        toml::from_str(&read("harness/bench/instructions.toml")).expect("a table a loop");
    let loops = [
        ("the sum of the words", "sum"),
        ("decode, every check, every command visited", "decode"),
        ("remap", "remap"),
        ("check_ranges", "check_ranges"),
        ("check_strict", "check_strict"),
    ];
    for (words, name) in loops {
        let [render, compute, upload] = ["render", "compute", "upload"].map(|streams| kept[name][streams]);
        let row = format!("| {words} | {render:.1} | {compute:.1} | {upload:.1} |");
        assert!(page.contains(&row), "docs/performance.md is to have: {row}");
    }
}
