//! Recordings of programs: made by `lockstep record`, replayed by `lockstep run --recorded`; what of them is refused, and what is found.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use assert_cmd::Command;
use lockstep::recording::Recording;
use lockstep::report::results::{RecordedRow, RecordingRow, Results};
use lockstep::text;
use rstest::rstest;
use tempfile::TempDir;

fn lockstep(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("lockstep").expect("the program");
    command.current_dir(folder).timeout(Duration::from_secs(300));
    command.args(args).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What it prints, both streams.
fn said(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

const PARTICLES: &str = include_str!("recorded/particles.js");

/// A folder with the program `particles.js`, recorded with these arguments of `record`.
fn recorded(args: &[&str]) -> (TempDir, Output) {
    let folder = folder();
    fs::write(folder.path().join("particles.js"), PARTICLES).expect("written");
    let output = lockstep(folder.path(), &[&["record", "particles.js"], args].concat());
    (folder, output)
}

/// Replays `particles.recording` in the folder.
fn replayed(folder: &Path, args: &[&str]) -> (Output, Results) {
    let recording = ["run", "--recorded", "particles.recording", "--quiet", "--out", "out"];
    let output = lockstep(folder, &[&recording, args].concat());
    let results = fs::read_to_string(folder.join("out/results.json")).unwrap_or_else(|_| panic!("{}", said(&output)));
    (output, serde_json::from_str(&results).expect("results.json"))
}

fn engine<'a>(row: &'a RecordingRow, name: &str) -> &'a RecordedRow {
    let named = row.engines.iter().find(|row| row.engine.starts_with(name));
    named.unwrap_or_else(|| panic!("no {name} among {:?}", row.engines))
}

/// The columns are those of docs/recording.md.
#[rstest]
#[case("tfjs.js", [2, 61, 254, 18984, 1576], &[])]
#[case("typegpu.js", [6, 40, 123, 1632, 1536], &[])]
#[case("three.js", [11, 133, 772, 8028, 32768], &[("GPUCommandEncoder.copyTextureToBuffer", 2)])]
#[case("luma.js", [4, 39, 235, 1112, 16384], &[
    ("GPUCommandEncoder.copyTextureToBuffer", 1),
    ("GPURenderPassEncoder.popDebugGroup", 6),
    ("GPURenderPassEncoder.pushDebugGroup", 6),
    // luma.gl's own members; WebGPU has none of these names.
    ("createSampler._isHandleBorrowed", 1),
    ("createSampler.id", 1),
    ("createSampler.type", 1),
])]
fn a_program_from_npm_replays_with_equal_results(
    #[case] program: &str,
    #[case] counts: [u64; 5],
    #[case] not_carried: &[(&str, u64)],
) {
    let folder = folder();
    let path = root().join("reference/programs").join(program).display().to_string();
    let output = lockstep(folder.path(), &["record", &path, "--out", "particles.recording"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the program's JSON alone");
    assert!(!printed.is_null());
    let (output, results) = replayed(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!((&results.findings, &results.not_run), (&Vec::new(), &Vec::new()));
    let [row] = &results.recordings[..] else {
        panic!("{:?}", results.recordings)
    };
    assert_eq!(
        [row.submits, row.commands, row.words, row.data, row.read],
        counts,
        "{program}"
    );
    let due: BTreeMap<String, u64> = not_carried
        .iter()
        .map(|&(name, count)| (name.to_owned(), count))
        .collect();
    assert_eq!((&row.not_carried, row.refused), (&due, 0));
    // The driver that recorded reads the same bytes; Dawn without one validates every call.
    for (name, executes, compared) in [
        ("wgpu:vulkan", true, row.read),
        ("wgpu:noop", false, 0),
        ("deno", true, row.read),
        ("dawn", false, 0),
    ] {
        let replayed = engine(row, name);
        assert_eq!(
            (replayed.streams, replayed.commands),
            (row.streams, row.commands),
            "{name}"
        );
        assert_eq!(
            (&replayed.refused, &replayed.differences),
            (&Vec::new(), &Vec::new()),
            "{name}"
        );
        assert_eq!((&replayed.ended, replayed.executes), (&None, executes), "{name}");
        assert_eq!(
            (replayed.same_driver, replayed.compared),
            (executes, compared),
            "{name}"
        );
    }
    let compared = |aspect: &str| {
        let rows = results.comparisons.iter().filter(|row| row.aspect == aspect);
        rows.map(|row| (row.reference.as_str(), row.both_accept))
            .collect::<Vec<_>>()
    };
    assert_eq!(compared("decode"), [("replay-js", row.streams)]);
    assert_eq!(compared("calls"), [("replay-js", row.streams)]);
}

/// Every command that the page shows, in its order.
#[test]
fn the_commands_of_the_page_do_what_it_says() {
    let folder = folder();
    fs::write(folder.path().join("particles.js"), PARTICLES).expect("written");
    let page = fs::read_to_string(root().join("docs/recording.md")).expect("the page");
    let reader = root().join("reference/examples/reader.py");
    let commands: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("    cargo lockstep "))
        .collect();
    assert_eq!(commands.len(), 8, "{commands:?}");
    for command in commands {
        if command.contains("page.tar") {
            archive(
                &root().join("corpus/recordings/browser"),
                &folder.path().join("page.tar"),
            );
        }
        let quoted = command.split('\'').enumerate();
        let words = quoted.flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.replace("reference/examples/reader.py", &reader.display().to_string())],
        });
        let mut words: Vec<String> = words.collect();
        if words[0] == "run" {
            words.extend(["--out", "out"].map(str::to_owned));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = lockstep(folder.path(), &words);
        assert_eq!(output.status.code(), Some(0), "{command}\n{}", said(&output));
    }
    let frames = Recording::open(&folder.path().join("frames")).expect("a recording");
    assert_eq!(
        (frames.manifest.counts.read, frames.program().as_str()),
        (36, "particles.js --count 9")
    );
}

fn archive(recording: &Path, to: &Path) {
    let mut archive = tar::Builder::new(fs::File::create(to).expect("made"));
    archive.append_dir_all("recording-page", recording).expect("packed");
    archive.finish().expect("packed");
}

#[test]
fn a_program_keeps_its_output_its_status_and_its_packages() {
    let folder = folder();
    let package = folder.path().join("node_modules/places");
    fs::create_dir_all(&package).expect("made");
    let about = r#"{ "name": "places", "version": "1.0.0", "type": "module", "exports": "./index.js" }"#;
    fs::write(package.join("package.json"), about).expect("written");
    fs::write(
        package.join("index.js"),
        "export const places = [\"north\", \"south\"];\n",
    )
    .expect("written");
    let program = "import { places } from \"places\";\nconsole.log(places.join(\" \"), ...Deno.args);\nDeno.exit(7);\n";
    fs::write(folder.path().join("bare.js"), program).expect("written");
    let output = lockstep(folder.path(), &["record", "bare.js", "--", "east", "--out"]);
    assert_eq!(
        (text(&output.stdout), output.status.code()),
        ("north south east --out\n".into(), Some(7)),
        "{}",
        said(&output)
    );
    let line = "bare.js failed with exit status: 7; nothing was recorded\n";
    assert!(text(&output.stderr).ends_with(line), "{}", said(&output));
}

#[test]
fn a_program_without_webgpu_leaves_no_recording_and_the_old_one() {
    let folder = copied();
    fs::write(folder.path().join("particles.js"), "console.log('no GPU');\n").expect("written");
    let output = lockstep(folder.path(), &["record", "particles.js"]);
    assert_eq!(
        (text(&output.stdout), output.status.code()),
        ("no GPU\n".into(), Some(0)),
        "{}",
        said(&output)
    );
    let line = "lockstep: particles.js asked for no WebGPU device; nothing was recorded\n";
    assert!(text(&output.stderr).ends_with(line), "{}", said(&output));
    Recording::open(&folder.path().join("particles.recording")).expect("as it was");
    assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 2);
}

#[test]
fn a_program_that_fails_leaves_what_it_did() {
    let (folder, output) = recorded(&["--", "--fail"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let due = [
        "as it was told",
        "particles.js failed with exit status: 1; particles.recording holds what it did until then",
    ];
    due.iter().for_each(|due| assert!(stderr.contains(due), "{stderr}"));
    let recording = Recording::open(&folder.path().join("particles.recording")).expect("a recording");
    assert_eq!(
        (recording.manifest.counts.submits, recording.manifest.counts.read),
        (1, 0)
    );
}

/// Writes four bytes and submits, over and over.
const ENDLESS: &str = "
const adapter = await navigator.gpu.requestAdapter();
const device = await adapter.requestDevice();
const buffer = device.createBuffer({ size: 4, usage: GPUBufferUsage.COPY_DST });
let frames = 0;
setInterval(() => {
  device.queue.writeBuffer(buffer, 0, new Uint32Array([frames]));
  device.queue.submit([]);
  if (++frames === 3) console.log('three frames');
}, 10);
";

#[test]
#[cfg(unix)]
fn a_program_without_an_end_is_ended_and_kept() {
    let folder = folder();
    fs::write(folder.path().join("endless.js"), ENDLESS).expect("written");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command.current_dir(folder.path()).args(["record", "endless.js"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut line = String::new();
    let said = child.stdout.as_mut().expect("piped");
    BufReader::new(said)
        .read_line(&mut line)
        .expect("what the program prints");
    assert_eq!(line, "three frames\n");
    let id = child.id().to_string();
    let signal = std::process::Command::new("kill")
        .args(["-TERM", &id])
        .status()
        .expect("kill");
    assert!(signal.success());
    let output = child.wait_with_output().expect("it ends");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{stderr}");
    assert!(
        stderr.contains("endless.recording holds what it did until then"),
        "{stderr}"
    );
    let recording = Recording::open(&folder.path().join("endless.recording")).expect("a recording");
    assert!(recording.manifest.counts.submits >= 3);
    // The folder that it was written to at first is gone.
    assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 2);
}

#[test]
fn nothing_but_a_recording_is_replaced() {
    let folder = folder();
    let output = lockstep(folder.path(), &["record", "particles.js"]);
    assert_eq!(
        (text(&output.stderr).as_str(), output.status.code()),
        ("lockstep: particles.js: no such file\n", Some(2))
    );
    fs::write(folder.path().join("particles.js"), PARTICLES).expect("written");
    let output = lockstep(folder.path(), &["record", "particles.js", "--out", "."]);
    let due = "lockstep: .: it holds `particles.js`, which is no part of a recording; give another --out\n";
    assert_eq!((text(&output.stderr).as_str(), output.status.code()), (due, Some(2)));
    assert_eq!(fs::read_dir(folder.path()).expect("there").count(), 1);
}

#[test]
fn a_byte_that_the_program_read_otherwise_is_found() {
    let (folder, output) = recorded(&[]);
    assert_eq!(
        (text(&output.stdout).as_str(), output.status.code()),
        ("100 101 102 103\n", Some(0)),
        "{}",
        said(&output)
    );
    let reads = folder.path().join("particles.recording/00000.read");
    let mut bytes = fs::read(&reads).expect("what it read");
    assert_eq!(bytes[4..8], [101, 0, 0, 0]);
    bytes[5] = 1;
    fs::write(&reads, bytes).expect("written");
    let (output, results) = replayed(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let mut found: Vec<&str> = results.findings.iter().map(|row| row.signature.as_str()).collect();
    found.sort_unstable();
    let wgpu = engine(&results.recordings[0], "wgpu:vulkan").engine.clone();
    let due = [
        "recorded: other bytes on deno".to_owned(),
        format!("recorded: other bytes on {wgpu}"),
    ];
    assert_eq!(found, due);
    let of_wgpu = results
        .findings
        .iter()
        .find(|row| row.signature == due[1])
        .expect("found");
    let place = "from byte 5: 0 and not 1";
    assert!(
        of_wgpu.summary.contains("00000.wire: buffer ") && of_wgpu.summary.ends_with(place),
        "{}",
        of_wgpu.summary
    );
    assert_eq!(of_wgpu.repro, "cargo lockstep run --recorded particles.recording");
}

#[test]
fn a_range_past_a_buffer_is_found_and_goes_no_further() {
    let (folder, _) = recorded(&[]);
    let path = folder.path().join("particles.recording/00000.wire");
    let bytes = fs::read(&path).expect("the blob");
    let stream = text::write(&wire::Blob::parse(&bytes).expect("a blob"));
    let copies: Vec<&str> = stream
        .lines()
        .filter(|line| line.contains("CopyBufferToBuffer"))
        .collect();
    assert!(copies.len() == 1 && copies[0].contains("size=16"), "{stream}");
    let spoiled = stream.replace(copies[0], &copies[0].replace("size=16", "size=20"));
    fs::write(&path, text::read(&spoiled).expect("a stream")).expect("written");
    let (output, results) = replayed(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let [found] = &results.findings[..] else {
        panic!("{:#?}", results.findings)
    };
    assert_eq!(
        found.signature,
        "recorded: reader native refuses what a program did: ranges out-of-range CopyBufferToBuffer"
    );
    let shown = found.evidence.as_ref().expect("its stream and the answers");
    assert!(shown.text.contains("CopyBufferToBuffer"), "{}", shown.text);
    assert_eq!(shown.readers, ["native", "replay-js"]);
    let row = &results.recordings[0];
    assert_eq!((row.refused, engine(row, "wgpu:vulkan").compared), (1, 0));
    let again = lockstep(folder.path(), &["repro", &found.file]);
    assert!(said(&again).contains("CopyBufferToBuffer"), "{}", said(&again));
    let smaller = lockstep(folder.path(), &["minimize", &found.file]);
    let due = "it takes the whole recording: `cargo lockstep run --recorded FOLDER` shows it again\n";
    for output in [again, smaller] {
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        assert!(text(&output.stderr).ends_with(due), "{}", said(&output));
    }
}

/// A recording, and one of streams that the subject refuses, with a reader that takes long for each: what the first came to is kept while the
/// second is played; a signal ends it, and what was found is there.
#[cfg(unix)]
#[test]
fn sigterm_ends_with_what_was_found_and_the_report() {
    let folder = copied();
    let recording = folder.path().join("refused.recording");
    copy_recording(&recording);
    let streams: Vec<String> = (0..2000).map(|index| format!("{index:05}.wire")).collect();
    let unknown = [b"WIRE".as_slice(), &[4, 1, 0, 99].map(u32::to_le_bytes).concat()].concat();
    for file in &streams {
        fs::write(recording.join(file), &unknown).expect("written");
    }
    let manifest = recording.join("recording.json");
    let mut changed: serde_json::Value = serde_json::from_slice(&fs::read(&manifest).expect("there")).expect("JSON");
    let rows = streams
        .iter()
        .map(|file| serde_json::json!({ "blob": file, "window": 0 }));
    changed["streams"] = rows.collect();
    changed["counts"]["words"] = 2000.into();
    changed["counts"]["data"] = 0.into();
    changed["counts"]["read"] = 0.into();
    fs::write(&manifest, changed.to_string()).expect("written");
    let example = fs::read_to_string(root().join("reference/examples/reader.py")).expect("the example");
    let slow = example.replace(
        "def stream(item):\n",
        "def stream(item):\n    import time; time.sleep(0.1)\n",
    );
    assert_ne!(slow, example);
    fs::write(folder.path().join("slow.py"), slow).expect("written");

    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("lockstep"))
        .current_dir(folder.path())
        .args([
            "run",
            "--recorded",
            "particles.recording",
            "--recorded",
            "refused.recording",
        ])
        .args([
            "--quiet",
            "--out",
            "out",
            "--gpu",
            "wgpu:noop",
            "--reader",
            "exec:python3 slow.py",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    while !folder.path().join("out/findings").exists() {
        assert_eq!(child.try_wait().expect("asked"), None, "it ended by itself");
        std::thread::sleep(Duration::from_millis(20));
    }
    let results = || -> Results {
        let results = fs::read(folder.path().join("out/results.json")).expect("results.json");
        serde_json::from_slice(&results).expect("results.json as results.rs has it")
    };
    let kept = results();
    assert!(kept.interrupted && kept.recordings.len() == 1, "{:?}", kept.recordings);
    assert_eq!(kept.lanes[0].cases, kept.recordings[0].streams);
    let killed = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    let results = results();
    let refused = results.lanes[0].cases - kept.lanes[0].cases;
    assert!(
        results.interrupted && (1..2000).contains(&refused),
        "{:?}",
        results.lanes
    );
    let [found] = &results.findings[..] else {
        panic!("{:#?}", results.findings)
    };
    assert_eq!(
        (found.signature.as_str(), found.seen),
        (
            "recorded: reader native refuses what a program did: decode unknown-op",
            refused
        )
    );
    assert!(
        said(&output).contains("interrupted before its end"),
        "{}",
        said(&output)
    );
    assert!(folder.path().join(&found.file).exists() && folder.path().join("out/report.html").exists());
    assert!(!said(&output).contains("--resume"), "{}", said(&output));
}

/// A reader that knows another version of the format parts over each stream; the smallest that shows it is an empty one.
#[test]
fn what_a_stream_shows_alone_is_minimised_and_shown() {
    let folder = copied();
    let example = fs::read_to_string(root().join("reference/examples/reader.py")).expect("the example");
    let faulty = example.replace("version == 4", "version == 5");
    assert_ne!(faulty, example);
    fs::write(folder.path().join("faulty.py"), faulty).expect("written");
    let reader = "exec:python3 faulty.py";
    let (output, results) = replayed(folder.path(), &["--gpu", "wgpu:noop", "--reader", reader]);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let [found] = &results.findings[..] else {
        panic!("{:#?}", results.findings)
    };
    assert_eq!(found.signature, "header: native vs reader.py: accept vs bad-version");
    assert!(
        found.summary.ends_with("; minimised to 0 commands, 0 objects"),
        "{}",
        found.summary
    );
    assert!(
        found.repro.ends_with(&format!(" --reader '{reader}'")),
        "{}",
        found.repro
    );
    let shown = found.evidence.as_ref().expect("its stream and the answers");
    assert_eq!(shown.readers, ["native", "replay-js", "reader.py"]);
    assert_eq!(shown.answers[0].says, ["accept", "accept", "bad-version"]);
}

/// A copy of a recording in a folder of its own.
fn copied() -> TempDir {
    let folder = folder();
    copy_recording(&folder.path().join("particles.recording"));
    folder
}

fn copy_recording(to: &Path) {
    fs::create_dir(to).expect("made");
    for file in fs::read_dir(root().join("corpus/recordings/upload-heavy")).expect("there") {
        let file = file.expect("a file");
        fs::copy(file.path(), to.join(file.file_name())).expect("copied");
    }
}

/// The one line about what stands there.
fn refused(folder: &Path, recording: &str) -> String {
    let output = lockstep(folder, &["run", "--recorded", recording, "--out", "out"]);
    let stderr = text(&output.stderr);
    assert_eq!(
        (output.status.code(), stderr.lines().count()),
        (Some(2), 1),
        "{}",
        said(&output)
    );
    stderr
}

#[rstest]
#[case(
    "recording.json",
    "\"recording\": 1",
    "\"recording\": 2",
    "recording.json: recording: version 2, and this program reads 1; "
)]
#[case(
    "recording.json",
    "\"wire\": 4",
    "\"wire\": 3",
    "recording.json: wire: version 3, and this program reads 4; "
)]
#[case(
    "recording.json",
    "\"wire\": 4",
    "\"wire\": \"4\"",
    "recording.json: wire: invalid type: string \"4\", expected u32"
)]
#[case(
    "recording.json",
    "\"program\"",
    "\"programme\"",
    "recording.json: programme: unknown field `programme`"
)]
#[case(
    "recording.json",
    "\"00003.wire\"",
    "\"../00003.wire\"",
    "streams[3].blob: `../00003.wire` names no file of the folder itself; "
)]
#[case(
    "recording.json",
    "\"00003.wire\"",
    "\"/etc/passwd\"",
    "streams[3].blob: `/etc/passwd` names no file of the folder itself; "
)]
#[case(
    "recording.json",
    "\"00003.wire\"",
    "\"00002.wire\"",
    "streams[3].blob: `00002.wire` is named twice; "
)]
#[case(
    "recording.json",
    "\"00003.wire\"",
    "\"x.wire\"",
    "x.wire: streams[3].blob of recording.json names it; "
)]
#[case(
    "recording.json",
    "\"window\": 16384",
    "\"window\": 67108868",
    "window: 67108868 bytes; a window has at most 67108864; "
)]
#[case(
    "recording.json",
    "\"window\": 16384",
    "\"window\": 16380",
    "reads: 16384 bytes, and the window has 16380; "
)]
#[case(
    "recording.json",
    "\"window\": 16384",
    "\"window\": 0",
    "reads: a file, and the window has no byte; "
)]
#[case(
    "recording.json",
    "\"words\": 1067",
    "\"words\": 1066",
    "counts.words: 1066, and the files hold 1067; "
)]
#[case(
    "recording.json",
    "\"objects\": 31",
    "\"objects\": 30",
    "counts.objects: 30, and the files hold 31; "
)]
#[case(
    "recording.json",
    "\"copyTextureToBuffer\",",
    "\"resolveQuerySet\",",
    "copies[0].method: unknown variant `resolveQuerySet`"
)]
#[case("recording.json", "{", "[", "recording.json: ")]
#[case(
    "objects.json",
    "\"id\": 2,",
    "\"id\": 1,",
    "objects.json: [1].id: an earlier row has the id 1 too; "
)]
#[case(
    "objects.json",
    "\"id\": 1,",
    "\"id\": 0,",
    "objects.json: [0].id: 0 is no object's id; "
)]
#[case(
    "objects.json",
    "\"refs\": []",
    "\"refs\": [9]",
    "objects.json: [0].refs: no earlier row has the id 9; "
)]
#[case("objects.json", "\"sampler\"", "\"sample\"", "objects.json: [0].kind: ")]
fn a_broken_recording_is_refused_in_one_line(
    #[case] file: &str,
    #[case] from: &str,
    #[case] to: &str,
    #[case] due: &str,
) {
    let folder = copied();
    let path = folder.path().join("particles.recording").join(file);
    let whole = fs::read_to_string(&path).expect("there");
    let broken = whole.replacen(from, to, 1);
    assert_ne!(whole, broken);
    fs::write(&path, broken).expect("written");
    let line = refused(folder.path(), "particles.recording");
    assert!(
        line.starts_with("lockstep: particles.recording/") && line.contains(due),
        "{due}\nin {line}"
    );
    assert!(line.contains("record the program again"), "{line}");
}

#[test]
fn what_is_no_recording_is_refused_in_one_line() {
    let folder = copied();
    let recording = folder.path().join("particles.recording");
    let says = |name: &str, due: &str| {
        let line = refused(folder.path(), name);
        assert!(line.contains(due), "{due}\nin {line}");
    };
    says("nowhere", "nowhere: cannot read it: ");
    says(".", "./recording.json: no recording here; ");
    fs::write(folder.path().join("text.tar"), "no archive").expect("written");
    says("text.tar", "text.tar: no archive of a recording; ");
    archive(&recording, &folder.path().join("whole.tar"));
    let whole = fs::read(folder.path().join("whole.tar")).expect("there");
    fs::write(folder.path().join("cut.tar"), &whole[..whole.len() / 2]).expect("written");
    says("cut.tar", "cut.tar: no archive of a recording; ");
    // Sparse: a GiB that nothing is read of.
    let blob = fs::OpenOptions::new().write(true).open(recording.join("00003.wire"));
    blob.and_then(|blob| blob.set_len(1 << 30)).expect("longer");
    let most = "with it the recording's files hold more than 1073741824 bytes, the most that fits";
    says("particles.recording", most);
    #[cfg(unix)]
    {
        fs::remove_file(recording.join("00003.wire")).expect("removed");
        std::os::unix::fs::symlink("/etc/passwd", recording.join("00003.wire")).expect("a link");
        says(
            "particles.recording",
            "00003.wire: streams[3].blob of recording.json names it; ",
        );
        let mut linked = tar::Builder::new(fs::File::create(folder.path().join("linked.tar")).expect("made"));
        linked.follow_symlinks(false);
        linked.append_dir_all("r", &recording).expect("packed");
        linked.finish().expect("packed");
        says("linked.tar", "`r/00003.wire` in it is no plain file");
    }
}
