//! The oracle of recordings: a recording through every reader and engine.
//!
//! **Catches** a stream that the subject refuses though a program did it, two readers that part over a stream or over the calls of its
//! replay, a range or a rule of memory over which CheckRanges or the strict check parts from wgpu, an object or a stream that an engine
//! refuses though another took it from the program, and bytes that a replay reads and the program did not, where the engine drives
//! what recorded.
//!
//! **Does not catch** what the recorder left out (the manifest names it), what no read of the program shows, other bytes on another
//! driver (they are shown: drivers round differently), and, on Dawn and deno, which command is refused: `repro` of the finding's case
//! says that. What depends on what earlier streams left in memory, such as a count of an indirect draw, shows in the recording alone.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wire::{Blob, Op};

use super::{Adapter, Device, Recording, Stream, script};
use crate::gpu::Trouble;
use crate::gpu::engine::EngineId;
use crate::gpu::session::{self, Playlist, Step, StepPlayed};
use crate::oracles::gpu::{Asked, Cell};
use crate::oracles::strict::{self, Said};
use crate::oracles::{self, Outcome, streams};
use crate::readers::answer::{Refused, StreamAnswer};
use crate::readers::ask::{self, CaseAnswers};
use crate::readers::{CallsQuery, StreamReader};
use crate::report::results::{RecordedRow, RecordingRow};
use crate::strict::Facts;

/// What a recording came to.
#[derive(Debug, Default)]
pub struct Replayed {
    /// Its row of the report.
    pub row: RecordingRow,
    /// The streams that readers were asked about: all, unless it was stopped.
    pub asked: u64,
}

/// Something that is wrong with a recording's replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The same words for each difference of the same kind.
    pub signature: String,
    /// One line for a person: the stream's file, and what is wrong there.
    pub summary: String,
    /// The index of the stream that shows it alone; none where it takes the recording.
    pub stream: Option<usize>,
}

/// Replays a recording. The first of `readers` is the subject; each comparison of another with it goes to `compared`, with that reader's
/// name, and what is wrong to `found`, as it comes. Once `stop` is set, no further stream is begun, and what was played is judged.
pub fn replay(
    recording: &Recording,
    readers: &mut [Box<dyn StreamReader>],
    engines: &[EngineId],
    compared: &mut dyn FnMut(&Outcome, &str),
    found: &mut dyn FnMut(Found),
    stop: &AtomicBool,
) -> Replayed {
    let mut replaying = Replaying {
        recording,
        subject: readers.first().map_or("nobody", |reader| reader.name()).to_owned(),
        row: row(recording),
        found,
        stop,
    };
    let answers = replaying.ask(readers, compared);
    let list = Arc::new(playlist(recording, &answers));
    let mut rows = Vec::new();
    let mut sessions = Vec::new();
    for engine in engines {
        if replaying.is_stopped() {
            break;
        }
        match engine.id.starts_with("wgpu:") {
            true => sessions.push(replaying.session(engine, &list)),
            false => rows.push(replaying.script(engine)),
        }
    }
    replaying.judge(&answers, &list, &mut sessions);
    for row in sessions.into_iter().map(|session| session.row).chain(rows) {
        replaying.engine_shows(row);
    }
    Replayed {
        row: replaying.row,
        asked: answers.len() as u64,
    }
}

/// What the manifest says, with no engine yet.
pub fn row(recording: &Recording) -> RecordingRow {
    let manifest = &recording.manifest;
    let counts = &manifest.counts;
    RecordingRow {
        folder: recording.folder.display().to_string(),
        program: recording.program(),
        adapter: manifest
            .adapter
            .as_ref()
            .map_or_else(String::new, |adapter| adapter.name()),
        streams: recording.streams.len() as u64,
        submits: counts.submits,
        commands: counts.commands,
        words: counts.words,
        data: counts.data,
        read: counts.read,
        not_carried: manifest.not_carried.clone(),
        ..RecordingRow::default()
    }
}

/// The first refusal of an answer, in words.
fn refusal(answer: &StreamAnswer) -> Option<String> {
    if let Err(reason) = answer.blob {
        return Some(format!("header {reason}"));
    }
    let unit = |part: &Option<Result<(), Refused>>| part.and_then(Result::err);
    let parts = [
        (
            "decode",
            answer.decode.as_ref().and_then(|part| part.as_ref().err()).copied(),
        ),
        (
            "remap",
            answer.remap.as_ref().and_then(|part| part.as_ref().err()).copied(),
        ),
        ("ranges", unit(&answer.ranges)),
        ("read check", unit(&answer.read_check)),
    ];
    let refused = parts.into_iter().find_map(|(part, refused)| Some((part, refused?)));
    refused.map(|(part, refused)| format!("{part} {}", streams::refusal(refused.op, refused.reason)))
}

/// The streams up to the first that the subject refuses; of one that CheckRanges refuses, the commands up to the refused one. What comes
/// after it would run over memory that is not the program's.
fn playlist(recording: &Recording, answers: &[Option<StreamAnswer>]) -> Playlist {
    let mut steps = Vec::new();
    for (stream, answer) in recording.streams.iter().zip(answers) {
        let Some(answer) = answer else { break };
        steps.extend(step(stream, answer));
        if refusal(answer).is_some() {
            break;
        }
    }
    Playlist {
        device: recording.manifest.device.clone().unwrap_or_default(),
        objects: recording.objects.clone(),
        steps,
    }
}

fn step(stream: &Stream, answer: &StreamAnswer) -> Option<Step> {
    let words = answer.remap.as_ref()?.as_ref().ok()?;
    let refused = answer.ranges?.err();
    let accepted = answer.read_check == Some(Ok(())) && refused.is_none();
    Some(Step {
        words: words.clone(),
        data: Blob::parse(&stream.blob).ok()?.data.to_vec(),
        stop_after: refused.map(|refused| refused.at as usize),
        copies: stream.copies.clone(),
        reads: if accepted { answer.reads.clone()? } else { Vec::new() },
        window: stream.window,
    })
}

/// The limits of the strict check, as the program asked for them.
fn limits(device: &Device) -> wire::Limits {
    let base = wire::Limits::default();
    let asked = |name: &str, base: u32| {
        let asked = device
            .required_limits
            .get(name)
            .map(|&value| u32::try_from(value).unwrap_or(u32::MAX));
        match (asked, name.starts_with("min")) {
            (None, _) => base,
            (Some(value), true) => value.min(base),
            (Some(value), false) => value.max(base),
        }
    };
    wire::Limits {
        max_bind_groups: asked("maxBindGroups", base.max_bind_groups),
        max_vertex_buffers: asked("maxVertexBuffers", base.max_vertex_buffers),
        max_compute_workgroups_per_dimension: asked(
            "maxComputeWorkgroupsPerDimension",
            base.max_compute_workgroups_per_dimension,
        ),
        min_uniform_buffer_offset_alignment: asked(
            "minUniformBufferOffsetAlignment",
            base.min_uniform_buffer_offset_alignment,
        ),
        min_storage_buffer_offset_alignment: asked(
            "minStorageBufferOffsetAlignment",
            base.min_storage_buffer_offset_alignment,
        ),
    }
}

/// A replay on wgpu.
struct Session {
    row: RecordedRow,
    /// What became of its streams, as far as it came.
    steps: Vec<StepPlayed>,
}

struct Replaying<'a> {
    recording: &'a Recording,
    /// The subject's name.
    subject: String,
    row: RecordingRow,
    found: &'a mut dyn FnMut(Found),
    stop: &'a AtomicBool,
}

impl Replaying<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Something that the stream of that index shows alone.
    fn stream_shows(&mut self, index: usize, signature: String, what: &str) {
        (self.found)(Found {
            signature,
            summary: format!("{}: {}: {what}", self.row.folder, self.recording.streams[index].file),
            stream: Some(index),
        });
    }

    /// Something that takes the recording.
    fn recording_shows(&mut self, signature: String, what: &str) {
        (self.found)(Found {
            signature,
            summary: format!("{}: {what}", self.row.folder),
            stream: None,
        });
    }

    /// Asks every reader about every stream, until it is stopped. Gives the subject's answers; none where it has none, which is a finding
    /// already.
    fn ask(
        &mut self,
        readers: &mut [Box<dyn StreamReader>],
        compared: &mut dyn FnMut(&Outcome, &str),
    ) -> Vec<Option<StreamAnswer>> {
        let stop = self.stop;
        let streams = (0..self.recording.streams.len()).take_while(|_| !stop.load(Ordering::Relaxed));
        streams.map(|index| self.ask_about(index, readers, compared)).collect()
    }

    fn ask_about(
        &mut self,
        index: usize,
        readers: &mut [Box<dyn StreamReader>],
        compared: &mut dyn FnMut(&Outcome, &str),
    ) -> Option<StreamAnswer> {
        let case = self.recording.case(index);
        let calls = CallsQuery::of(&case);
        let mut answers: Vec<(String, CaseAnswers)> = Vec::new();
        for reader in readers {
            match ask::case(reader.as_mut(), &case, calls.as_ref()) {
                Ok(answer) => answers.push((reader.name().to_owned(), answer)),
                Err(none) if answers.is_empty() => {
                    self.stream_shows(index, none.signature(), &none.to_string());
                    return None;
                }
                Err(none) => self.stream_shows(index, none.signature(), &none.to_string()),
            }
        }
        let ((subject, mine), references) = answers.split_first()?;
        let mut parted = Vec::new();
        for (name, theirs) in references {
            let outcomes = streams::compare_case(mine, theirs);
            outcomes.iter().for_each(|outcome| compared(outcome, name));
            parted.push((name.as_str(), outcomes));
        }
        let parted = parted.iter().map(|(name, outcomes)| (*name, outcomes.as_slice()));
        for found in oracles::findings(subject, parted) {
            self.stream_shows(index, found.signature.clone(), &found.signature);
        }
        if let Some(refusal) = mine.stream.as_ref().and_then(refusal) {
            self.row.refused += 1;
            let signature = format!("recorded: reader {subject} refuses what a program did: {refusal}");
            self.stream_shows(index, signature, &format!("{subject} refuses it: {refusal}"));
        }
        mine.stream.clone()
    }

    // On engines.

    fn is_of(&self, adapter: &Adapter) -> bool {
        adapter.is(self.recording.manifest.adapter.as_ref())
    }

    fn session(&self, engine: &EngineId, list: &Arc<Playlist>) -> Session {
        let mut row = engine_row(engine);
        let steps = match session::play(&engine.id, list, self.stop) {
            Err(error) => {
                row.ended = Some(format!("{error:#}"));
                Vec::new()
            }
            Ok(played) => {
                row.same_driver = self.is_of(&played.adapter);
                row.lacking = played.lacking;
                row.ended = played.ended;
                row.refused.extend(played.table.map(|trouble| trouble.message));
                played.steps
            }
        };
        row.streams = steps.len() as u64;
        Session { row, steps }
    }

    fn script(&self, engine: &EngineId) -> RecordedRow {
        let row = engine_row(engine);
        match script::play(&engine.id, &self.recording.folder) {
            Err(error) => RecordedRow {
                ended: Some(format!("{error:#}")),
                ..row
            },
            Ok(played) => RecordedRow {
                same_driver: self.is_of(&played.adapter),
                lacking: played.lacking,
                streams: played.streams,
                commands: played.commands,
                compared: played.compared,
                refused: played.refused,
                differences: played.differences,
                ..row
            },
        }
    }

    /// Judges what wgpu did, stream by stream, as a campaign does, but for the shadow, which knows nothing of earlier streams.
    fn judge(&mut self, answers: &[Option<StreamAnswer>], list: &Playlist, sessions: &mut [Session]) {
        let device = self.recording.manifest.device.as_ref();
        let limits = device.map_or_else(wire::Limits::default, limits);
        let facts = Rc::new(Facts::under(limits, &self.recording.objects));
        let played = sessions.iter().map(|session| session.steps.len()).max().unwrap_or(0);
        for (index, answer) in answers.iter().enumerate() {
            if self.is_stopped() && index >= played {
                break;
            }
            let case = self.recording.case(index);
            let asked = answer.as_ref().and_then(|answer| Asked::new(&case, answer));
            let Some(asked) = asked else { continue };
            let said = Said::by(Rc::clone(&facts), asked.cmds(), &case.objects);
            self.row.strictly_refused += u64::from(said.refusal.is_some());
            for Session { row, steps } in &mut *sessions {
                let (Some(played), Some(step)) = (steps.get(index), list.steps.get(index)) else {
                    continue;
                };
                row.commands += asked.commands();
                self.judge_stream(row, index, &asked, &said, played);
                if row.executes && played.outcome.trouble.is_none() {
                    self.compare(row, index, step, &played.outcome.window);
                }
            }
        }
    }

    fn judge_stream(
        &mut self,
        row: &mut RecordedRow,
        index: usize,
        asked: &Asked<'_>,
        said: &Said<'_>,
        played: &StepPlayed,
    ) {
        let file = &self.recording.streams[index].file;
        // So that no bytes are held to the shadow's.
        let validates = EngineId {
            id: row.engine.clone(),
            ..EngineId::default()
        };
        let judged = asked.judge(&validates, &played.outcome);
        // Where a Submit follows, every encoder before it was finished.
        let submits = asked.cmds().iter().rposition(|cmd| cmd.op == Op::Submit);
        let seen = asked.request().stop_after.or(submits);
        let strictly = strict::judge(said, &row.engine, &played.outcome, seen);
        let in_ledger = strictly
            .as_ref()
            .is_some_and(|judged| judged.cell == strict::Cell::Ledger);
        if let (Cell::LeftToDevice, Some(trouble), false) = (judged.cell, &played.outcome.trouble, in_ledger) {
            row.refused.push(format!("{file}: {}", at(trouble, asked)));
        }
        if let Some(why) = &played.copies {
            row.refused.push(format!("{file}: copies: {why}"));
        }
        if let Some(signature) = judged.signature(&self.subject, &row.engine) {
            self.stream_shows(index, signature, &format!("{}: {}", judged.what, judged.detail));
        }
        let strictly = strictly.and_then(|judged| Some((judged.signature(&row.engine)?, judged.detail)));
        if let Some((signature, detail)) = strictly {
            self.stream_shows(index, signature, &detail);
        }
    }

    /// Holds what was read back to what the program read.
    fn compare(&self, row: &mut RecordedRow, index: usize, step: &Step, window: &[u8]) {
        let stream = &self.recording.streams[index];
        for read in &step.reads {
            let range = read.window_offset as usize..(read.window_offset + read.size) as usize;
            let (Some(here), Some(there)) = (window.get(range.clone()), stream.reads.get(range)) else {
                continue;
            };
            row.compared += u64::from(read.size);
            if let Some(at) = here.iter().zip(there).position(|(a, b)| a != b) {
                row.differences.push(format!(
                    "{}: buffer {} differs from what the program read, from byte {}: {} and not {}",
                    stream.file,
                    read.id,
                    read.offset + at as u64,
                    here[at],
                    there[at],
                ));
            }
        }
    }

    /// What an engine's row comes to.
    fn engine_shows(&mut self, row: RecordedRow) {
        let engine = &row.engine;
        // A signal also ends the process of an engine.
        let sound = self.row.refused == 0 && !self.is_stopped();
        if let Some(why) = row.ended.as_ref().filter(|_| sound) {
            self.recording_shows(format!("recorded: the replay on {engine} ends early"), why);
        }
        let due = self.row.refusals_count(&row);
        for line in row.refused.iter().filter(|_| due) {
            let signature = format!("recorded: refused on {engine}");
            let file = line.split(':').next().unwrap_or_default();
            match self.recording.streams.iter().position(|stream| stream.file == file) {
                Some(index) => {
                    let what = line.split_once(": ").map_or(line.as_str(), |(_, what)| what);
                    self.stream_shows(index, signature, what);
                }
                None => self.recording_shows(signature, line),
            }
        }
        let due = self.row.differences_count(&row);
        for line in row.differences.iter().filter(|_| due) {
            self.recording_shows(format!("recorded: other bytes on {engine}"), line);
        }
        self.row.engines.push(row);
    }
}

fn engine_row(engine: &EngineId) -> RecordedRow {
    RecordedRow {
        engine: engine.id.clone(),
        driver: engine.driver.clone(),
        executes: engine.executes,
        ..RecordedRow::default()
    }
}

/// A trouble with its command.
fn at(trouble: &Trouble, asked: &Asked<'_>) -> String {
    let cmd = trouble.command.and_then(|at| Some((at, asked.cmds().get(at)?)));
    cmd.map_or_else(
        || trouble.message.clone(),
        |(at, cmd)| format!("command {at}, {}: {}", cmd.op, trouble.message),
    )
}
