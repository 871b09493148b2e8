//! The finding of a planted fault, minimised: at most 3 commands and 2 objects, or 2 bindings. And that it comes to the same end whatever
//! happens on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use lockstep::bind::{BindPlayer, Bound, Reads};
use lockstep::campaign::{Cast, Maker};
use lockstep::case::{
    BindCase, BindCommand, BufferFacts, Case, CaseFile, LayoutCase, Object, Origin, Platform, Shader, StreamCase,
    System,
};
use lockstep::findings::{read_case, write_case};
use lockstep::generators::{self, Lane};
use lockstep::minimize::{End, Jury, Limits, Minimized, minimize, size};
use lockstep::readers::native::{Native, check_ranges};
use lockstep::readers::slot_upstream::SlotUpstream;
use lockstep::readers::{Batch, BatchAnswers, ReaderFailed, StreamReader};
use rstest::rstest;
use slot_upstream::planted::RULES;
use wire::{Blob, Cmd, Op, RangeRefusal, Reason};

/// No wrong reader, and `native` once more to hold it against.
fn cast() -> Cast {
    Cast {
        outside: false,
        subject: Box::new(|| Box::new(Native::default())),
        references: vec![Box::new(|| Box::new(Native::with_ranges("right", check_ranges)))],
        layout_subject: Box::new(|| Box::new(Native::default())),
        layout_references: Vec::new(),
        apple: None,
        bind_subject: Box::new(|| Box::new(lockstep::bind::native::Native::default())),
        engines: Vec::new(),
        not_run: Vec::new(),
    }
}

/// The first case of a lane that shows a finding whose signature begins like that.
fn find(jury: &mut Jury, lane: Lane, sought: &str) -> (Case, String) {
    for index in 0..20_000 {
        let lane = lane.name().into();
        let Some(made) = generators::case(&Origin { lane, seed: 1, index }) else {
            continue;
        };
        let shown = jury.signatures(std::slice::from_ref(&made.case), sought).remove(0);
        if let Some(signature) = shown.into_iter().find(|signature| signature.starts_with(sought)) {
            return (made.case, signature);
        }
    }
    panic!("no case of the lane shows it");
}

fn limits(stop: &AtomicBool) -> Limits<'_> {
    let limit = Duration::from_secs(600);
    Limits { limit, stop }
}

fn minimized(jury: &mut Jury, case: &Case, signature: &str) -> Minimized {
    let mut judge = |cases: &[Case]| jury.signatures(cases, signature);
    let stop = AtomicBool::new(false);
    minimize(case, signature, &mut judge, &limits(&stop), &mut |_| {}).expect("it shows its finding")
}

/// A wrong reader's finding is minimised to the bound, keeps its signature, and comes to the same end a second time.
fn holds_to_the_bound(cast: &Cast, lane: Lane, sought: &str) {
    holds_to(cast, lane, sought, (3, 2));
}

fn holds_to(cast: &Cast, lane: Lane, sought: &str, (commands, objects): (usize, usize)) {
    let mut jury = Jury::of(cast);
    let (case, signature) = find(&mut jury, lane, sought);
    comes_down_to(&mut jury, &case, &signature, (commands, objects));
}

fn comes_down_to(jury: &mut Jury, case: &Case, signature: &str, (commands, objects): (usize, usize)) {
    let smallest = minimized(jury, case, signature);
    assert_eq!(smallest.end, End::Smallest);
    assert!(jury.all(&smallest.case).contains(signature), "{signature}");
    let within = match &smallest.case {
        Case::Stream(case) => {
            let words = Blob::parse(&case.blob).map_or(Vec::new(), |blob| blob.words);
            let accepted = wire::commands(&words, u32::MAX).filter(Result::is_ok).count();
            accepted <= commands && case.objects.len() <= objects
        }
        Case::Layout(case) => case.groups.iter().flatten().flatten().count() <= 2,
        Case::Bind(case) => case.group_layouts.iter().flatten().count() <= 2,
    };
    assert!(
        within,
        "{signature}: {} from {}: {:#?}",
        size(&smallest.case),
        size(case),
        smallest.case
    );
    assert_eq!(minimized(jury, case, signature), smallest, "{signature}");
}

/// The right reader over a question or with an answer that is spoiled.
struct Spoiled {
    native: Native,
    question: fn(&mut Batch),
    answers: fn(&mut BatchAnswers),
}

impl StreamReader for Spoiled {
    fn name(&self) -> &str {
        "wrong"
    }

    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed> {
        let mut batch = batch.clone();
        (self.question)(&mut batch);
        self.native.ask(&batch)
    }

    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed> {
        let mut answers = self.native.hear()?;
        (self.answers)(&mut answers);
        Ok(answers)
    }
}

fn spoiled(question: fn(&mut Batch), answers: fn(&mut BatchAnswers)) -> Maker<Box<dyn StreamReader>> {
    Box::new(move || {
        Box::new(Spoiled {
            native: Native::default(),
            question,
            answers,
        })
    })
}

/// Changes the words of every stream that is asked about.
fn change_words(batch: &mut Batch, change: fn(&mut Vec<u32>, u32)) {
    for query in &mut batch.streams {
        let Ok(mut blob) = Blob::parse(&query.blob) else {
            continue;
        };
        change(&mut blob.words, blob.data.len() as u32);
        query.blob = wire::encode_blob(&blob.words, blob.data);
    }
}

/// An index format of any value is taken: wire.md section 2 has 1 and 2.
fn any_index_format(batch: &mut Batch) {
    change_words(batch, |words, data| {
        while let Some(Err(refused)) = wire::commands(words, data).find(Result::is_err) {
            let fits = refused.op == Some(Op::SetIndexBuffer) && refused.reason == Reason::BadEnum;
            match words.get_mut(refused.word).filter(|format| fits && **format != 1) {
                Some(format) => *format = 1,
                None => break,
            }
        }
    });
}

/// A pass that is still open at the end is closed without a word.
fn any_open_pass(batch: &mut Batch) {
    change_words(batch, |words, data| {
        let open = |refused: &wire::Refusal| refused.reason == Reason::OpenPass;
        if wire::decode(words, data).is_err_and(|refused| open(&refused)) {
            words.push(Op::EndPass as u32);
        }
    });
}

/// The last granted id is not found: a search that ends one early.
fn last_grant_forgotten(batch: &mut Batch) {
    for query in &mut batch.streams {
        query.id_map.pop();
    }
}

/// Another id is given for the greatest that is granted.
fn last_grant_is_another(batch: &mut Batch) {
    for query in &mut batch.streams {
        query.id_map.iter_mut().last().into_iter().for_each(|last| last.1 ^= 1);
    }
}

fn window_is_doubled(batch: &mut Batch) {
    batch
        .streams
        .iter_mut()
        .for_each(|query| query.window = query.window.saturating_mul(2));
}

fn descriptors_without_their_last_byte(batch: &mut Batch) {
    for query in &mut batch.descriptors {
        query.bytes.pop();
    }
}

fn vertices_from_4_billion(answers: &mut BatchAnswers) {
    for calls in &mut answers.calls {
        let text = String::from_utf8_lossy(calls).replace(",-1,", ",4294967295,");
        *calls = text.into_bytes();
    }
}

#[rstest]
#[case::open_pass(any_open_pass, "decode: wrong vs right: accept vs open-pass")]
#[case::lookup(last_grant_forgotten, "remap: wrong vs right: unknown-id")]
#[case::other_id(last_grant_is_another, "remap: wrong vs right: other words in")]
#[case::window(window_is_doubled, "read check: wrong vs right: accept vs past-window")]
#[case::descriptor(descriptors_without_their_last_byte, "descriptor: wrong vs right")]
fn a_reader_that_hears_wrongly(#[case] question: fn(&mut Batch), #[case] sought: &str) {
    let cast = Cast {
        subject: spoiled(question, |_| {}),
        ..cast()
    };
    holds_to_the_bound(&cast, Lane::Streams, sought);
}

/// SetIndexBuffer (6) of format 3 in a render pass (20, 21) behind a compute pass (22) and between Submits (40).
#[test]
fn a_reader_that_takes_any_index_format() {
    let cast = Cast {
        subject: spoiled(any_index_format, |_| {}),
        ..cast()
    };
    let words = [22, 21, 40, 20, 0, 0, 6, 9, 3, 8, 0, 64, 0, 6, 9, 1, 0, 0, 0, 0, 21, 40];
    let objects = (1..9).map(|id| Object {
        id,
        kind: wire::Kind::Buffer,
        refs: Vec::new(),
        body: "{\"size\":256,\"usage\":16}".into(),
    });
    let case = Case::Stream(StreamCase {
        objects: objects.collect(),
        id_map: (1..10).map(|id| (id, id)).collect(),
        blob: wire::encode_blob(&words, &[1, 2, 3]),
        ..StreamCase::default()
    });
    let signature = "decode: wrong vs right: accept vs bad-enum SetIndexBuffer";
    comes_down_to(&mut Jury::of(&cast), &case, signature, (3, 0));
}

#[test]
fn a_reader_that_calls_wrongly() {
    let cast = Cast {
        subject: spoiled(|_| {}, vertices_from_4_billion),
        ..cast()
    };
    holds_to_the_bound(&cast, Lane::Streams, "calls: wrong vs right: both drawIndexed");
}

/// What is wrong in a copy of the ranges check: 12 bytes of DrawIndirect's 16, a sum of 32 bits, a range that may not reach the end.
fn ranges(fault: u8, cmds: &[Cmd<'_>], buffers: &BTreeMap<u32, BufferFacts>) -> Result<(), RangeRefusal> {
    for (command, cmd) in cmds.iter().enumerate() {
        let (id, length) = match cmd.op {
            Op::DrawIndirect => (cmd.args[0], if fault == 0 { 12 } else { 16 }),
            Op::WriteBuffer => (cmd.args[0], u64::from(cmd.args[4])),
            _ => match check_ranges(std::slice::from_ref(cmd), buffers, 0) {
                Err(refused) => return Err(RangeRefusal { command, ..refused }),
                Ok(()) => continue,
            },
        };
        let end = match fault {
            1 => u64::from((cmd.u64_at(1) as u32).wrapping_add(length as u32)),
            _ => cmd.u64_at(1) + length,
        };
        let reason = match buffers.get(&id) {
            None => Reason::NotABuffer,
            Some(buffer) if end > buffer.size || (fault == 2 && end == buffer.size) => Reason::OutOfRange,
            Some(_) => continue,
        };
        return Err(RangeRefusal {
            command,
            op: cmd.op,
            reason,
        });
    }
    Ok(())
}

fn wrong_ranges(fault: u8) -> Maker<Box<dyn StreamReader>> {
    Box::new(move || {
        Box::new(Native::with_ranges(
            "wrong",
            match fault {
                0 => |cmds, buffers, _| ranges(0, cmds, buffers),
                1 => |cmds, buffers, _| ranges(1, cmds, buffers),
                _ => |cmds, buffers, _| ranges(2, cmds, buffers),
            },
        ))
    })
}

#[rstest]
#[case(0, "ranges: wrong vs right: accept vs out-of-range DrawIndirect")]
#[case(1, "ranges: wrong vs right: accept vs out-of-range WriteBuffer")]
#[case(2, "ranges: wrong vs right: out-of-range WriteBuffer vs accept")]
fn a_reader_of_wrong_ranges(#[case] fault: u8, #[case] sought: &str) {
    let cast = Cast {
        subject: wrong_ranges(fault),
        ..cast()
    };
    holds_to_the_bound(&cast, Lane::Streams, sought);
}

/// Without a reader to hold it against: what a device says is enough. It says so of a draw where the pass has an attachment, which are two
/// objects more, and where a Submit finishes the encoder.
#[rstest]
#[case(0, "gpu: wrong on wgpu:noop: accepted DrawIndirect and the GPU refuses its range", (4, 3))]
#[case(2, "gpu: wrong on wgpu:noop: refused out-of-range WriteBuffer and the GPU takes it", (3, 2))]
fn a_device_says_that_ranges_are_wrong(#[case] fault: u8, #[case] sought: &str, #[case] bound: (usize, usize)) {
    let cast = Cast {
        subject: wrong_ranges(fault),
        references: Vec::new(),
        engines: vec!["wgpu:noop".into()],
        ..cast()
    };
    holds_to(&cast, Lane::Replays, sought, bound);
}

#[test]
fn a_changed_wgpu_hal() {
    for (_, upstream) in RULES {
        let cast = Cast {
            layout_references: vec![Box::new(move || Box::new(SlotUpstream(upstream)))],
            ..cast()
        };
        holds_to_the_bound(&cast, Lane::Layouts, "slots: native vs slot-upstream: other slots");
    }
}

/// The right encoder over a case that is spoiled before, or with its answer spoiled after.
struct Encoder {
    before: fn(&mut BindCase),
    after: fn(&mut Bound),
}

impl BindPlayer for Encoder {
    fn name(&self) -> &str {
        "wrong"
    }

    fn play(&mut self, case: &BindCase, reads: Reads) -> Result<Vec<Bound>, String> {
        let mut case = case.clone();
        (self.before)(&mut case);
        let mut bound = lockstep::bind::native::Native::default().play(&case, reads)?;
        bound.iter_mut().for_each(self.after);
        Ok(bound)
    }
}

fn no_dynamic_offsets(case: &mut BindCase) {
    for command in &mut case.commands {
        if let BindCommand::SetBindGroup { dynamic_offsets, .. } = command {
            dynamic_offsets.fill(0);
        }
    }
}

fn arrays_in_reverse(case: &mut BindCase) {
    let stages = case.pipelines.iter_mut().flat_map(|pipeline| &mut pipeline.stages);
    stages.for_each(|stage| stage.runtime_arrays.reverse());
}

fn no_texture(bound: &mut Bound) {
    bound.stages.iter_mut().for_each(|tables| tables.textures.clear());
}

fn as_it_is<T>(_: &mut T) {}

#[rstest]
#[case(no_dynamic_offsets, as_it_is, "bind: wrong vs slot-upstream: a buffer")]
#[case(arrays_in_reverse, as_it_is, "bind: wrong vs slot-upstream: _buffer_sizes")]
#[case(as_it_is, no_texture, "bind: wrong vs slot-upstream: an empty texture slot")]
fn a_wrong_encoder(#[case] before: fn(&mut BindCase), #[case] after: fn(&mut Bound), #[case] sought: &str) {
    let cast = Cast {
        bind_subject: Box::new(move || Box::new(Encoder { before, after })),
        ..cast()
    };
    holds_to_the_bound(&cast, Lane::Binds, sought);
}

/// A shader is cut to what its finding needs: here a function that is called and samples, whoever finds that.
#[test]
fn a_shader_is_cut_by_declarations_and_statements() {
    let wgsl = "@group(0) @binding(0) var<uniform> size: vec4<f32>;
@group(0) @binding(1) var<storage, read_write> data: array<f32>;
fn unused(x: f32) -> f32 { return x * 2.0; }
@compute @workgroup_size(64)
fn other() { data[0] = 1.0; }
@compute @workgroup_size(1)
fn main() {
    let x = unused(size.x);
    for (var i = 0; i < 4; i++) { data[i] = x; }
    data[7] = f32(arrayLength(&data));
}
";
    let case = Case::Layout(LayoutCase {
        groups: vec![None],
        immediate_size: 0,
        vertex_pulling: true,
        system: System {
            platform: Platform::Ios,
            major: 17,
            minor: 0,
        },
        shader: Some(Shader {
            wgsl: wgsl.into(),
            overrides: BTreeMap::from([("7".into(), 1.0)]),
        }),
    });
    let mut judge = |cases: &[Case]| -> Vec<BTreeSet<String>> {
        let shows = |case: &Case| {
            let Case::Layout(LayoutCase {
                shader: Some(shader), ..
            }) = case
            else {
                return false;
            };
            shader.wgsl.contains("arrayLength") && naga::front::wgsl::parse_str(&shader.wgsl).is_ok()
        };
        let signatures = cases.iter().map(|case| shows(case).then(|| "it".to_owned()));
        signatures.map(|signature| signature.into_iter().collect()).collect()
    };
    let stop = AtomicBool::new(false);
    let smallest = minimize(&case, "it", &mut judge, &limits(&stop), &mut |_| {}).expect("it shows");
    let Case::Layout(smallest) = smallest.case else {
        panic!("a layout")
    };
    let shader = smallest.shader.expect("a shader");
    let left: Vec<&str> = shader.wgsl.lines().filter(|line| !line.trim().is_empty()).collect();
    assert_eq!(
        left,
        [
            "@group(0) @binding(1) var<storage, read_write> data: array<f32>;",
            "@compute @workgroup_size(1)",
            "fn main() {",
            "    data[7] = f32(arrayLength(&data));",
            "}",
        ]
    );
    assert!(shader.overrides.is_empty() && smallest.groups.is_empty() && !smallest.vertex_pulling);
}

// What ends the work early, and how it goes on.

fn found() -> (Jury, Case, String) {
    let cast = Cast {
        subject: wrong_ranges(0),
        ..cast()
    };
    let mut jury = Jury::of(&cast);
    let (case, signature) = find(&mut jury, Lane::Streams, "ranges:");
    (jury, case, signature)
}

#[test]
fn a_limit_ends_it_and_whoever_goes_on_from_there_comes_to_an_end() {
    let (mut jury, case, signature) = found();
    let whole = minimized(&mut jury, &case, &signature);
    let stop = AtomicBool::new(false);
    let none = Limits {
        limit: Duration::ZERO,
        stop: &stop,
    };
    let mut judge = |cases: &[Case]| jury.signatures(cases, &signature);
    let ended = minimize(&case, &signature, &mut judge, &none, &mut |_| {}).expect("it shows");
    assert_eq!((ended.end, &ended.case), (End::Limit, &case));
    // Stopped at its third step, then resumed from what was kept.
    let (mut kept, mut steps) = (case.clone(), 0);
    let mut keep = |smaller: &Case| {
        kept = smaller.clone();
        steps += 1;
        stop.store(steps == 3, std::sync::atomic::Ordering::Relaxed);
    };
    let stopped = minimize(&case, &signature, &mut judge, &limits(&stop), &mut keep).expect("it shows");
    assert_eq!((stopped.end, &stopped.case), (End::Stopped, &kept));
    assert_ne!(kept, case);
    let resumed = minimized(&mut jury, &kept, &signature);
    assert_eq!((resumed.end, size(&resumed.case)), (End::Smallest, size(&whole.case)));
}

#[test]
fn a_case_that_does_not_show_it_is_none() {
    let (mut jury, case, _) = found();
    let stop = AtomicBool::new(false);
    let mut judge = |cases: &[Case]| jury.signatures(cases, "calls: a vs b");
    assert_eq!(
        minimize(&case, "calls: a vs b", &mut judge, &limits(&stop), &mut |_| {}),
        None
    );
}

// The command.

/// Its status and the lines that it prints.
fn lockstep(arguments: &[&str]) -> (Option<i32>, Vec<String>) {
    let output = assert_cmd::Command::cargo_bin("lockstep")
        .expect("the program")
        .arg("minimize")
        .args(arguments)
        .output()
        .expect("an end");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.code(), text.lines().map(str::to_owned).collect())
}

/// A case of the generators without a finding.
fn plain() -> Case {
    let lane = Lane::Layouts.name().into();
    let origin = Origin {
        lane,
        seed: 1,
        index: 0,
    };
    generators::case(&origin).expect("a case").case
}

fn file(folder: &Path, signature: Option<&str>) -> PathBuf {
    let path = folder.join("case.json");
    let file = CaseFile {
        signature: signature.map(str::to_owned),
        ..CaseFile::of(plain())
    };
    write_case(&path, &file).expect("a file");
    path
}

#[test]
fn what_cannot_be_minimised_is_said_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let nowhere = folder.path().join("none.json").display().to_string();
    let broken = folder.path().join("broken.json");
    std::fs::write(&broken, "{\"format\": 1, \"case\": 7}").expect("a file");
    let broken = broken.display().to_string();
    let plain = file(folder.path(), None).display().to_string();
    let other = "slots: native vs slot-model: other slots";
    for (arguments, due) in [
        (&[nowhere.as_str()][..], "cannot read the case"),
        (&[broken.as_str()], "not a case file"),
        (&[plain.as_str()], "the case shows no finding"),
        (
            &[plain.as_str(), "--signature", other],
            "the case does not show `slots: native vs slot-model",
        ),
        (
            &[plain.as_str(), "--signature", "slots: native vs mine: other slots"],
            "`mine` that is named there was not asked; a reader is added by --reader 'exec:COMMAND'",
        ),
        (&[plain.as_str(), "--limit", "soon"], "invalid value 'soon'"),
    ] {
        let (status, lines) = lockstep(arguments);
        assert_eq!(status, Some(2), "{lines:?}");
        assert!(lines[0].contains(due), "{lines:?}");
        assert!(due.starts_with("invalid") || lines.len() == 1, "{lines:?}");
    }
}

/// A shader that naga refuses is a finding whoever answers.
#[test]
fn the_smallest_case_is_written_beside_the_file_and_is_gone_on_from() {
    let folder = tempfile::tempdir().expect("a folder");
    let Case::Layout(mut case) = plain() else {
        panic!("a layout")
    };
    case.shader = Some(Shader {
        wgsl: "fn a() {}\nfn b() { nothing(); }\n".into(),
        ..Shader::default()
    });
    let path = folder.path().join("case.json");
    let signature = Some("msl: naga refuses the WGSL".to_owned());
    let original = CaseFile {
        signature,
        ..CaseFile::of(Case::Layout(case))
    };
    write_case(&path, &original).expect("a file");
    let (from, to) = (path.display().to_string(), folder.path().join("case.min.json"));
    let (status, lines) = lockstep(&[&from]);
    assert_eq!(status, Some(0), "{lines:?}");
    assert!(lines[0].contains("case.min.json: 0 bindings"), "{lines:?}");
    let smallest = read_case(&to).expect("a case");
    let Case::Layout(left) = &smallest.case else {
        panic!("a layout")
    };
    let wgsl = left.shader.as_ref().map(|shader| shader.wgsl.trim());
    assert_eq!(
        (wgsl, smallest.signature.as_deref()),
        (Some("fn b() { nothing(); }"), original.signature.as_deref())
    );
    assert_eq!(
        read_case(&path).expect("a case").case,
        original.case,
        "the file itself stays as it is"
    );
    let (status, lines) = lockstep(&[&from]);
    assert_eq!(
        (status, read_case(&to).expect("a case")),
        (Some(0), smallest),
        "{lines:?}"
    );
    // Where it cannot be written, nothing is searched for.
    let below = path.join("below.json").display().to_string();
    let (status, lines) = lockstep(&[&from, "--out", &below]);
    let due = format!("lockstep: cannot write {below}: ");
    assert!(
        status == Some(2) && lines.len() == 1 && lines[0].starts_with(&due),
        "{lines:?}"
    );
    // A file of another finding is not written over.
    std::fs::write(
        &to,
        std::fs::read_to_string(&to)
            .expect("a text")
            .replace("naga refuses", "another"),
    )
    .expect("a file");
    let (status, lines) = lockstep(&[&from]);
    assert!(
        status == Some(2) && lines.len() == 1 && lines[0].contains("another finding"),
        "{lines:?}"
    );
}
