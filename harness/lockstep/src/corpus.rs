//! The regression corpus: cases whose answer a person wrote down, held against every reader and engine that is there.
//!
//! An answer is put into the words of [`Expect`] and compared field by field; what readers say of each other, and the GPU of
//! CheckRanges, is looked at as in a campaign, whatever a case expects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Context as _;

use crate::bind;
use crate::case::{
    BindCase, BindExpect, Case, CaseFile, EntryExpect, Expect, LayoutCase, LayoutExpect, Stage, StreamCase,
    StreamExpect,
};
use crate::files::{find, slug};
use crate::findings::{case_text, read_case, stream_text, write_case};
use crate::gpu::engine::{self, Engine, EngineId};
use crate::gpu::wgpu_engine::WgpuEngine;
use crate::gpu::{Outcome, TroubleKind};
use crate::msl::arguments::{Access, read};
use crate::msl::safety;
use crate::oracles::gpu::Asked;
use crate::oracles::strict::{self, Said};
use crate::oracles::{self, gpu, msl, streams};
use crate::readers::answer::{DescriptorAnswer, Refused, StreamAnswer};
use crate::readers::ask;
use crate::readers::layouts::{LayoutAnswer, LayoutReader, Refusal, StageSlots, Words};
use crate::readers::native::{self, Native};
use crate::readers::outside::{Introduced, Outside};
use crate::readers::replay_js;
use crate::readers::slot_model::SlotModel;
use crate::readers::slot_upstream::{self, SlotUpstream};
use crate::readers::{CallsQuery, StreamReader};
use crate::recording::{MANIFEST, Recording, is_recording, replay};
use crate::setup::Parts;
use crate::text;

/// The case files among `paths`: a file as it is, a folder's `*.json` in the order of their names, but for those of recordings.
///
/// # Errors
///
/// A path that is not there, or a folder with neither a case nor a recording.
pub fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let found = find(path, "json").context("cannot look for cases")?;
        anyhow::ensure!(!found.is_empty(), "{}: no case in this folder", path.display());
        let in_recording = |file: &PathBuf| file.parent().is_some_and(is_recording);
        files.extend(found.into_iter().filter(|file| !in_recording(file)));
    }
    Ok(files)
}

/// The folders of the recordings among `paths`, in the order of their names.
///
/// # Errors
///
/// A path that is not there.
pub fn recordings(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for path in paths {
        let found = find(path, "json").context("cannot look for recordings")?;
        let manifests = found.into_iter().filter(|file| file.ends_with(MANIFEST));
        folders.extend(manifests.filter_map(|file| file.parent().map(Path::to_owned)));
    }
    Ok(folders)
}

/// Everything that a case is held against.
pub struct Judge {
    /// The subject is the first.
    readers: Vec<Box<dyn StreamReader>>,
    layout_subject: Box<dyn LayoutReader>,
    /// Of a program in the place of `wire` and `mslmap` the frames that it answers.
    frames: Option<Vec<String>>,
    engines: Vec<Box<dyn Engine>>,
    /// What cannot take part, one line each.
    pub missing: Vec<String>,
}

/// What the answers to a case came to.
pub struct Observed {
    /// The subject's answer, with the engines' words and without memory.
    pub expect: Expect,
    engines: Vec<Replay>,
    /// Where readers and engines part, or hurt what always holds.
    pub differences: Vec<String>,
}

/// What an engine did with a stream.
struct Replay {
    engine: String,
    executes: bool,
    /// None when the stream did not come so far.
    outcome: Option<Outcome>,
}

impl Judge {
    /// The readers and engines that are here: replay.js, the best adapter, the noop backend.
    pub fn new(parts: &Parts) -> Judge {
        let mut judge = Judge {
            readers: vec![Box::new(Native::default())],
            layout_subject: Box::new(Native::default()),
            frames: None,
            engines: Vec::new(),
            missing: Vec::new(),
        };
        match &parts.deno {
            Ok(deno) => judge.readers.push(Box::new(replay_js::replay_js(&parts.root, deno))),
            Err(missing) => judge
                .missing
                .push(format!("{} does not take part: {missing}", replay_js::NAME)),
        }
        let available = WgpuEngine::available();
        for executes in [true, false] {
            let found = available.iter().find(|engine| engine.executes == executes);
            let opened = found.context(match &parts.vulkan {
                Err(missing) if executes => missing.to_string(),
                _ => "there is none; `cargo lockstep doctor` says more".to_owned(),
            });
            match opened.and_then(|engine| engine::open(&engine.id)) {
                Ok(engine) => judge.engines.push(engine),
                Err(error) => {
                    let what = if executes { "a GPU" } else { "the noop backend" };
                    judge.missing.push(format!("{what} does not take part: {error:#}"));
                }
            }
        }
        judge
    }

    /// With further readers of streams, and maybe a program in the place of `wire` and `mslmap`.
    pub fn with(mut self, outside: &Introduced) -> Judge {
        if let Some(subject) = &outside.subject {
            self.readers[0] = subject.reader();
            self.layout_subject = Box::new(subject.process());
            self.frames = Some(outside.answers.clone());
        }
        self.readers.extend(outside.readers.iter().map(Outside::reader));
        self
    }

    /// Whether the subject answers a frame of PROTOCOL.md, or cases of a kind, whose frame has the same name. Binds are no frame.
    pub fn answers(&self, what: &str) -> bool {
        let frames = self.frames.as_ref();
        frames.is_none_or(|frames| frames.iter().any(|frame| frame == what))
    }

    /// What is wrong with a case file; nothing when it holds.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is no case file.
    pub fn check_file(&mut self, path: &Path) -> anyhow::Result<Vec<String>> {
        let file = read_case(path)?;
        let mut wrong = self.check(&file);
        wrong.extend(encodings(&file));
        if std::fs::read_to_string(path)? != case_text(&file)? {
            wrong.push("the file is not what it is written back as; `corpus format` writes that".into());
        }
        Ok(wrong)
    }

    /// What is wrong with a recording's replay by the same readers and engines; nothing when it holds.
    pub fn check_recording(&mut self, recording: &Recording) -> Vec<String> {
        let engines: Vec<EngineId> = self.engines.iter().map(|engine| engine.about().clone()).collect();
        let mut wrong = Vec::new();
        let (found, never) = (
            &mut |found: replay::Found| wrong.push(found.summary),
            AtomicBool::new(false),
        );
        let _ = replay::replay(recording, &mut self.readers, &engines, &mut |_, _| (), found, &never);
        wrong
    }

    /// Files a case into the folder `corpus`, under a name made of what it shows; where it says nothing of what it expects, with the
    /// answer that all readers and engines agree on. Gives the new file's path.
    ///
    /// # Errors
    ///
    /// It says nothing of what it shows, there is such a case, somebody is missing, or the case does not hold. `from` is named.
    pub fn add(&mut self, mut file: CaseFile, from: &Path, corpus: &Path) -> anyhow::Result<PathBuf> {
        let from = from.display();
        let name = file.shows.as_deref().map(slug).unwrap_or_default();
        anyhow::ensure!(
            !name.is_empty(),
            "{from}: no `shows` to name the case by; say it by --shows"
        );
        let to = corpus.join(kind(&file.case)).join(name + ".json");
        anyhow::ensure!(!to.exists(), "{}: there is such a case already", to.display());
        let everybody = self.missing.is_empty();
        anyhow::ensure!(everybody, "{from}: not filed: {}", self.missing.join("; "));
        let wrong = if file.expect.is_some() {
            self.check(&file)
        } else {
            let observed = self.observe(&file.case);
            file.expect = Some(observed.expect);
            observed.differences
        };
        anyhow::ensure!(wrong.is_empty(), "{from}: not filed: {}", wrong.join("; "));
        write_case(&to, &file)?;
        Ok(to)
    }

    /// Where the answers to a case are other than it expects, or part from each other.
    pub fn check(&mut self, file: &CaseFile) -> Vec<String> {
        let observed = self.observe(&file.case);
        let mut wrong = observed.differences;
        let engines = &observed.engines;
        match (&file.expect.clone().map(|due| self.answered(due)), &observed.expect) {
            (None, _) => wrong.push("no `expect`: nothing to hold it to".into()),
            (Some(Expect::Stream(due)), Expect::Stream(found)) => compare_stream(due, found, engines, &mut wrong),
            (Some(Expect::Layout(due)), Expect::Layout(found)) => compare_layout(due, found, &mut wrong),
            (Some(Expect::Bind(due)), Expect::Bind(found)) => compare_bind(due, found, &mut wrong),
            _ => wrong.push("`expect` is for a case of the other kind".into()),
        }
        wrong
    }

    /// What is expected, without what a program in the place of the crates is not asked, or does not answer.
    fn answered(&self, mut due: Expect) -> Expect {
        match &mut due {
            Expect::Stream(due) => {
                due.strict = due.strict.take().filter(|_| self.answers("strict"));
                due.descriptors.retain(|_| self.answers("descriptors"));
            }
            Expect::Layout(due) if self.frames.is_some() => due.shader.clear(),
            _ => {}
        }
        due
    }

    /// Runs a case and says what came of it.
    pub fn observe(&mut self, case: &Case) -> Observed {
        match case {
            Case::Stream(case) => self.stream(case),
            Case::Layout(case) => self.layout(case),
            Case::Bind(case) => bind(case),
        }
    }

    fn stream(&mut self, case: &StreamCase) -> Observed {
        let mut observed = Observed {
            expect: Expect::Stream(StreamExpect::default()),
            engines: Vec::new(),
            differences: Vec::new(),
        };
        let calls = CallsQuery::of(case);
        let mut answers = Vec::new();
        for reader in &mut self.readers {
            match ask::case(reader.as_mut(), case, calls.as_ref()) {
                Ok(answer) => answers.push((reader.name().to_owned(), answer)),
                Err(none) => observed.differences.push(none.to_string()),
            }
        }
        // The subject is the first, unless it failed.
        let subject = self.readers[0].name().to_owned();
        let first = answers.split_first().filter(|((name, _), _)| *name == subject);
        let Some(((_, own), references)) = first else {
            return observed;
        };
        for (name, answer) in references {
            let outcomes = streams::compare_case(own, answer);
            let parted = outcomes.iter().filter_map(|outcome| outcome.signature(&subject, name));
            observed.differences.extend(parted);
        }
        let Some(stream) = &own.stream else {
            return observed;
        };
        let asked = Asked::new(case, stream);
        let said = asked.as_ref().and_then(|asked| {
            let said = Said::of_reader(self.readers[0].as_mut(), asked, &case.objects);
            said.unwrap_or_else(|none| {
                observed.differences.push(none.to_string());
                None
            })
        });
        observed.engines = self.replays(
            case,
            stream,
            asked.as_ref().zip(said.as_ref()),
            &mut observed.differences,
        );
        let expect = StreamExpect {
            strict: said.as_ref().map(strict_words),
            ..stream_words(stream, &own.descriptors)
        };
        observed.expect = Expect::Stream(engine_words(expect, &observed.engines, &mut observed.differences));
        observed
    }

    /// Replays on each engine.
    fn replays(
        &mut self,
        case: &StreamCase,
        stream: &StreamAnswer,
        asked: Option<(&Asked<'_>, &Said<'_>)>,
        wrong: &mut Vec<String>,
    ) -> Vec<Replay> {
        let subject = self.readers[0].name();
        let mut replays = Vec::new();
        for engine in &mut self.engines {
            let done = gpu::replay(engine.as_mut(), case, stream);
            if let Some((judged, _)) = &done
                && let Some(signature) = judged.signature(subject, &engine.about().id)
            {
                wrong.push(format!("{signature}: {}", judged.detail));
            }
            if let (Some((asked, said)), Some((_, outcome))) = (asked, &done) {
                let judged = strict::judge_with_probe(said, engine.as_mut(), &asked.request(), outcome);
                let signature = judged.and_then(|judged| judged.signature(&engine.about().id));
                wrong.extend(signature);
            }
            replays.push(Replay {
                engine: engine.about().id.clone(),
                executes: engine.about().executes,
                outcome: done.map(|(_, outcome)| outcome),
            });
        }
        replays
    }

    fn layout(&mut self, case: &LayoutCase) -> Observed {
        let mut observed = Observed {
            expect: Expect::Layout(LayoutExpect::default()),
            engines: Vec::new(),
            differences: Vec::new(),
        };
        let own = match self.layout_subject.try_answer(case) {
            Ok(own) => own,
            Err(none) => {
                observed.differences.push(none.to_string());
                return observed;
            }
        };
        let references: [Box<dyn LayoutReader>; 2] = [Box::new(SlotModel), Box::new(SlotUpstream::locked())];
        for mut reference in references {
            let answer = reference.answer(case);
            let parted = reference.compare(case, &own, &answer).parted;
            let signatures = parted
                .iter()
                .filter_map(|outcome| outcome.signature(self.layout_subject.name(), reference.name()));
            observed.differences.extend(signatures);
        }
        let shader = match self.frames {
            None => shader_words(case, &mut observed.differences),
            // It is the crates' slots that shaders are translated with.
            Some(_) => BTreeMap::new(),
        };
        let slots = slot_words(&own);
        observed.expect = Expect::Layout(LayoutExpect { slots, shader });
        observed
    }
}

/// The name of the folder of cases of its kind, which PROTOCOL.md's frame has too.
pub fn kind(case: &Case) -> &'static str {
    match case {
        Case::Stream(_) => "streams",
        Case::Layout(_) => "layouts",
        Case::Bind(_) => "binds",
    }
}

/// What is lost where a case is decoded and encoded again: the blob's bytes, by its words and by its text.
fn encodings(file: &CaseFile) -> Vec<String> {
    let Case::Stream(case) = &file.case else {
        return Vec::new();
    };
    let mut wrong = Vec::new();
    if let Ok(blob) = wire::Blob::parse(&case.blob) {
        if wire::encode_blob(&blob.words, blob.data) != case.blob {
            wrong.push("the blob is not what its words and data are encoded as".into());
        }
        if text::read(&text::write(&blob)).ok().as_ref() != Some(&case.blob) {
            wrong.push("the blob is not what its text is read back as".into());
        }
    }
    let due = stream_text(&file.case);
    if file.text != due {
        let alike = due.iter().zip(&file.text).take_while(|(a, b)| a == b).count();
        wrong.push(format!(
            "`text` does not say what the blob does, from line {} on",
            alike + 1
        ));
    }
    wrong
}

// Answers in words.

fn stream_words(answer: &StreamAnswer, descriptors: &[DescriptorAnswer]) -> StreamExpect {
    StreamExpect {
        header: answer.blob.err().map(|reason| reason.to_string()),
        decode: answer.decode.as_ref().map(|part| part_words(part, "word")),
        remap: answer.remap.as_ref().map(|part| part_words(part, "word")),
        ranges: answer.ranges.as_ref().map(|part| part_words(part, "command")),
        reads: answer.read_check.as_ref().map(|part| part_words(part, "read")),
        descriptors: descriptors.iter().map(descriptor_words).collect(),
        ..StreamExpect::default()
    }
}

fn strict_words(said: &Said<'_>) -> String {
    match said.refusal {
        Some(strict) => format!("{} at command {}, {}", strict.class(), strict.command, strict.op),
        None => "accept".into(),
    }
}

fn part_words<T>(part: &Result<T, Refused>, place: &str) -> String {
    match part {
        Ok(_) => "accept".into(),
        Err(Refused { at, op, reason }) => {
            let op = op.map(|op| format!(", {op}")).unwrap_or_default();
            format!("{reason} at {place} {at}{op}")
        }
    }
}

fn descriptor_words(answer: &DescriptorAnswer) -> String {
    match (&answer.split, &answer.remap) {
        (Err(reason), _) => reason.to_string(),
        (_, Some(Err((reason, reference)))) => format!("{reason} at reference {reference}"),
        _ => "accept".into(),
    }
}

fn outcome_words(outcome: &Outcome) -> String {
    let Some(trouble) = &outcome.trouble else {
        return "no error".into();
    };
    let what = match trouble.kind {
        TroubleKind::Validation => "validation error",
        TroubleKind::WrongKind => "wrong-kind",
        TroubleKind::Engine => "the engine broke",
    };
    match trouble.command {
        Some(command) => format!("{what} at command {command}"),
        None => format!("{what} in the object table"),
    }
}

/// Adds what the engines say: the first of them for all that execute.
fn engine_words(expect: StreamExpect, replays: &[Replay], wrong: &mut Vec<String>) -> StreamExpect {
    let said = |replay: &Replay| replay.outcome.as_ref().map(outcome_words);
    let engines = replays.first().and_then(said);
    let mut noop = None;
    for other in replays.iter().filter(|replay| said(replay) != engines) {
        if other.executes {
            let [first, words] = [engines.clone(), said(other)].map(|words| optional(&words));
            wrong.push(format!("engines: {} says {words}, the first {first}", other.engine));
        } else {
            noop = said(other);
        }
    }
    StreamExpect {
        engines,
        noop,
        ..expect
    }
}

fn bind(case: &BindCase) -> Observed {
    let (compared, played) = oracles::bind::check(case, &mut bind::native::Native::default());
    let outcomes = compared.parted.iter();
    let parted = outcomes.filter_map(|outcome| outcome.signature(native::NAME, slot_upstream::NAME));
    let bound = played.subject.unwrap_or_default();
    Observed {
        expect: Expect::Bind(BindExpect {
            bound: bound
                .iter()
                .map(|bound| (bound.command, bind::bound_words(bound)))
                .collect(),
        }),
        engines: Vec::new(),
        differences: parted.collect(),
    }
}

fn slot_words(answer: &LayoutAnswer) -> BTreeMap<Stage, BTreeMap<String, String>> {
    let stages = Stage::ALL.into_iter().zip(answer.stages.iter().map(stage_words));
    stages.filter(|(_, words)| !words.is_empty()).collect()
}

fn stage_words(slots: &Result<StageSlots, Refusal>) -> BTreeMap<String, String> {
    let slots = match slots {
        Ok(slots) => slots,
        Err(refusal) => return BTreeMap::from([("refused".to_owned(), refusal.to_string())]),
    };
    let bound = slots.slots.iter();
    let bound = bound.map(|(at, target)| (binding((at.group, at.binding)), Words(target).to_string()));
    let own = |name: &str, slot: Option<u8>| slot.map(|slot| (name.to_owned(), format!("buffer {slot}")));
    let own = [
        own("_buffer_sizes", slots.sizes_slot),
        own("immediates", slots.immediates_slot),
    ];
    bound.chain(own.into_iter().flatten()).collect()
}

fn binding((group, binding): (u32, u32)) -> String {
    format!("g{group}b{binding}")
}

fn shader_words(case: &LayoutCase, wrong: &mut Vec<String>) -> BTreeMap<String, EntryExpect> {
    let reports = msl::entry_points(case).unwrap_or_else(|why| {
        wrong.push(why);
        Vec::new()
    });
    let mut entries = BTreeMap::new();
    for report in reports {
        for problem in &report.checked.problems {
            let (property, detail) = (problem.property, &problem.detail);
            wrong.push(format!("{}: property {property} of the MSL: {detail}", report.name));
        }
        entries.insert(report.name.clone(), entry_words(&report));
    }
    entries
}

fn entry_words(report: &msl::EntryReport) -> EntryExpect {
    let Some(text) = &report.msl else {
        return EntryExpect {
            refused: report.checked.refused.keys().next().cloned(),
            ..EntryExpect::default()
        };
    };
    // A text that cannot be read is a problem of the oracle's already.
    let (reflection, safety) = (read(text).unwrap_or_default(), safety::check(text).unwrap_or_default());
    let arguments = reflection.entry_points.iter().flat_map(|entry| &entry.arguments);
    let arguments = arguments.map(|argument| {
        let writable = if argument.access == Access::ReadOnly {
            ""
        } else {
            ", writable"
        };
        (
            format!("{} {}", argument.table.name(), argument.index),
            format!("{}{writable}", argument.name),
        )
    });
    EntryExpect {
        refused: None,
        arguments: arguments.collect(),
        sizes: report.sizes.iter().copied().map(binding).collect(),
        workgroup: (report.stage == Stage::Compute).then_some(report.workgroup),
        loops: safety.loops,
        subscripts: safety.dynamic_subscripts,
    }
}

// Comparing.

fn differ<T: PartialEq>(what: &str, due: &T, found: &T, words: impl Fn(&T) -> String, wrong: &mut Vec<String>) {
    if due != found {
        wrong.push(format!("{what}: expected {}, is {}", words(due), words(found)));
    }
}

fn optional(words: &Option<String>) -> String {
    words
        .as_ref()
        .map_or_else(|| "nothing".into(), |words| format!("`{words}`"))
}

fn compare_stream(due: &StreamExpect, found: &StreamExpect, replays: &[Replay], wrong: &mut Vec<String>) {
    differ("header", &due.header, &found.header, optional, wrong);
    differ("decode", &due.decode, &found.decode, optional, wrong);
    differ("remap", &due.remap, &found.remap, optional, wrong);
    differ("ranges", &due.ranges, &found.ranges, optional, wrong);
    differ("strict", &due.strict, &found.strict, optional, wrong);
    differ("reads", &due.reads, &found.reads, optional, wrong);
    let list = |words: &Vec<String>| format!("{words:?}");
    differ("descriptors", &due.descriptors, &found.descriptors, list, wrong);
    for replay in replays {
        let said = replay.outcome.as_ref().map(outcome_words);
        let due_here = due.noop.as_ref().filter(|_| !replay.executes).or(due.engines.as_ref());
        differ(&replay.engine, &due_here.cloned(), &said, optional, wrong);
        if replay.executes {
            compare_memory(&replay.engine, due, replay.outcome.as_ref(), wrong);
        }
    }
}

/// A stream that was not replayed left nothing behind, which is other than anything.
fn compare_memory(engine: &str, due: &StreamExpect, outcome: Option<&Outcome>, wrong: &mut Vec<String>) {
    let resources = [
        ("buffer", &due.buffers, outcome.map(|outcome| &outcome.buffers)),
        ("texture", &due.textures, outcome.map(|outcome| &outcome.textures)),
    ];
    for (kind, due, held) in resources {
        for (id, bytes) in due {
            let held = held.and_then(|held| held.get(id)?.as_deref());
            compare_bytes(&format!("{engine}: {kind} #{id}"), bytes, held, wrong);
        }
    }
    if let Some(window) = &due.window {
        let held = outcome.map(|outcome| outcome.window.as_slice());
        compare_bytes(&format!("{engine}: window"), window, held, wrong);
    }
}

fn compare_bytes(what: &str, due: &str, held: Option<&[u8]>, wrong: &mut Vec<String>) {
    let digits: String = due.split_whitespace().collect();
    match (hex::decode(digits), held) {
        (Err(error), _) => wrong.push(format!("{what}: `{due}` is no hex: {error}")),
        (_, None) => wrong.push(format!("{what}: expected {due}, and it cannot be read back")),
        (Ok(due), Some(held)) => differ(what, &due.as_slice(), &held, |bytes| hex_words(bytes), wrong),
    }
}

/// Bytes as the files have them, word by word.
fn hex_words(bytes: &[u8]) -> String {
    bytes.chunks(4).map(hex::encode).collect::<Vec<_>>().join(" ")
}

fn compare_bind(due: &BindExpect, found: &BindExpect, wrong: &mut Vec<String>) {
    let (due, found) = (&due.bound, &found.bound);
    for at in due.keys().chain(found.keys().filter(|at| !due.contains_key(*at))) {
        let words = |stages: &Option<&BTreeMap<Stage, BTreeMap<String, String>>>| format!("{stages:?}");
        differ(&format!("command {at}"), &due.get(at), &found.get(at), words, wrong);
    }
}

fn compare_layout(due: &LayoutExpect, found: &LayoutExpect, wrong: &mut Vec<String>) {
    for stage in Stage::ALL {
        let empty = BTreeMap::new();
        let [due, found] = [due, found].map(|side| side.slots.get(&stage).unwrap_or(&empty));
        for key in due.keys().chain(found.keys().filter(|key| !due.contains_key(*key))) {
            let [due, found] = [due, found].map(|side| side.get(key).cloned());
            differ(&format!("{} {key}", stage.name()), &due, &found, optional, wrong);
        }
    }
    let names = due
        .shader
        .keys()
        .chain(found.shader.keys().filter(|name| !due.shader.contains_key(*name)));
    for name in names {
        let [due, found] = [due, found].map(|side| side.shader.get(name));
        let words = |entry: &Option<&EntryExpect>| {
            let text = entry.map(serde_json::to_string);
            text.map_or_else(
                || "nothing".into(),
                |text| text.unwrap_or_else(|error| error.to_string()),
            )
        };
        differ(&format!("entry point {name}"), &due, &found, words, wrong);
    }
}
