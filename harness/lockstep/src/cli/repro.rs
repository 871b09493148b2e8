//! `lockstep repro`: one case again, every reader's answer side by side.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::{CLEAN, FOUND};
use crate::campaign::ask_guarded;
use crate::case::{Case, CaseFile, LayoutCase, Origin, StreamCase};
use crate::findings::read_case;
use crate::generators;
use crate::gpu::engine::Engine;
use crate::oracles::gpu::{self, Cell, Replayed};
use crate::oracles::streams::Verdict;
use crate::oracles::{msl, slots, streams};
use crate::readers::answer::{DescriptorAnswer, NotAnAnswer, Refused, StreamAnswer};
use crate::readers::native::Native;
use crate::readers::outside::{Outside, Readers};
use crate::readers::slot_model::SlotModel;
use crate::readers::{
    Batch, BatchAnswers, CallsQuery, DescriptorQuery, LayoutAnswer, LayoutReader, Place, StreamQuery, StreamReader,
    replay_js,
};
use crate::say;
use crate::setup;
use crate::text::disassemble;

/// `lockstep repro`'s arguments.
#[derive(clap::Args)]
pub struct Args {
    /// A case file, such as a finding's
    #[arg(required_unless_present = "generated")]
    file: Option<PathBuf>,
    /// Instead of a file: the case that a campaign made, as LANE:SEED:INDEX, such as replays:7:12
    #[arg(long, value_name = "LANE:SEED:INDEX", value_parser = origin, conflicts_with = "file")]
    generated: Option<Origin>,
    /// Say nothing; the status is 0 when the case still shows its finding and 1 when it does not, as a reducer wants it
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    readers: Readers,
}

fn origin(text: &str) -> Result<Origin, String> {
    let mut parts = text.split(':');
    let numbers = (
        parts.next(),
        parts.next().map(str::parse),
        parts.next().map(str::parse),
        parts.next(),
    );
    match numbers {
        (Some(lane), Some(Ok(seed)), Some(Ok(index)), None) => Ok(Origin {
            lane: lane.into(),
            seed,
            index,
        }),
        _ => Err("LANE:SEED:INDEX, as in replays:7:12".into()),
    }
}

/// What a case shows when it is run again.
struct Shown {
    text: String,
    /// Signatures of the differences; without one the case shows nothing.
    signatures: Vec<String>,
}

/// Runs the case again and shows it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let file = load(args)?;
    let outside = args.readers.introduce()?;
    let parts = setup::look();
    let shown = match &file.case {
        Case::Stream(case) => show_stream(case, &parts, &outside),
        Case::Layout(case) => show_layout(case),
    };
    if args.quiet {
        let still = match &file.signature {
            Some(signature) => shown.signatures.contains(signature),
            None => !shown.signatures.is_empty(),
        };
        return Ok(if still { 0 } else { 1 });
    }
    say::out(&say::printable(&page(file.shows.as_deref(), &shown)));
    Ok(if shown.signatures.is_empty() { CLEAN } else { FOUND })
}

/// All that is shown.
fn page(shows: Option<&str>, shown: &Shown) -> String {
    let kept_for = shows.map_or(String::new(), |shows| format!("kept for: {}\n\n", say::one_line(shows)));
    let mut page = kept_for + &shown.text;
    for signature in &shown.signatures {
        let _ = writeln!(page, "finding: {}", say::one_line(signature));
    }
    if shown.signatures.is_empty() {
        page += "no difference\n";
    }
    page
}

fn load(args: &Args) -> anyhow::Result<CaseFile> {
    let Some(origin) = &args.generated else {
        return read_case(args.file.as_deref().unwrap_or(std::path::Path::new("")));
    };
    let lanes: Vec<&str> = generators::Lane::ALL.iter().map(|lane| lane.name()).collect();
    let made = generators::case(origin).ok_or_else(|| no_such_case(origin, &lanes))?;
    let is_edge = origin.lane == generators::Lane::Edges.name();
    let edge = is_edge.then(|| generators::edges::edge(origin.index)).flatten();
    let shows = match (edge, made.faults.is_empty()) {
        (Some(edge), _) => format!("{}: {}", edge.family, edge.name),
        (None, true) => "a generated case without a fault".to_owned(),
        (None, false) => format!("a generated case with {}", made.faults.join(", ")),
    };
    Ok(CaseFile {
        format: crate::case::CASE_FORMAT,
        shows: Some(shows),
        source: None,
        signature: None,
        origin: Some(origin.clone()),
        expect: None,
        case: made.case,
    })
}

fn no_such_case(origin: &Origin, lanes: &[&str]) -> anyhow::Error {
    match origin.lane == generators::Lane::Edges.name() {
        true => anyhow::anyhow!("no edge {}; there are {}", origin.index, generators::edges::count()),
        false => anyhow::anyhow!("no lane `{}`; there are {}", origin.lane, lanes.join(", ")),
    }
}

/// The readers that are there; native is the first.
fn readers(parts: &setup::Parts, outside: &[Outside], text: &mut String) -> Vec<Box<dyn StreamReader>> {
    let mut readers: Vec<Box<dyn StreamReader>> = vec![Box::new(Native::default())];
    match &parts.deno {
        Ok(deno) => {
            readers.push(Box::new(replay_js::replay_js(&parts.root, deno)));
        }
        Err(missing) => {
            let _ = writeln!(
                text,
                "{} does not take part: {}; {}\n",
                replay_js::NAME,
                missing.why,
                missing.mend
            );
        }
    }
    readers.extend(outside.iter().map(Outside::reader));
    readers
}

/// A reader's answers to one stream, none where it does not answer streams, and to its descriptors.
type Answers = (Option<StreamAnswer>, Vec<DescriptorAnswer>);

fn parse(heard: &BatchAnswers) -> Result<Answers, NotAnAnswer> {
    let stream = heard.streams.first().map(|bytes| StreamAnswer::parse(bytes));
    let descriptors = heard.descriptors.iter().map(|bytes| DescriptorAnswer::parse(bytes));
    Ok((stream.transpose()?, descriptors.collect::<Result<_, _>>()?))
}

fn show_stream(case: &StreamCase, parts: &setup::Parts, outside: &[Outside]) -> Shown {
    let mut shown = Shown {
        text: String::new(),
        signatures: Vec::new(),
    };
    let mut readers = readers(parts, outside, &mut shown.text);
    let batch = Batch {
        streams: vec![StreamQuery::of(case)],
        descriptors: case
            .descriptors
            .iter()
            .map(|bytes| DescriptorQuery {
                bytes: bytes.clone(),
                id_map: case.id_map.clone(),
            })
            .collect(),
        calls: CallsQuery::of(case).into_iter().collect(),
    };
    let mut answers = Vec::new();
    let mut descriptors = Vec::new();
    let mut traces = Vec::new();
    for reader in &mut readers {
        match ask_guarded(reader.as_mut(), &batch) {
            Ok(heard) => match parse(&heard) {
                Ok((stream, split)) => {
                    if let Some(stream) = stream {
                        answers.push((reader.name().to_owned(), stream));
                        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
                        traces.push(heard.calls.first().map(text));
                    }
                    descriptors.push((reader.name().to_owned(), split));
                }
                Err(error) => {
                    let _ = writeln!(shown.text, "{}: {error}", reader.name());
                    shown
                        .signatures
                        .push(format!("reader {} answers nonsense", reader.name()));
                }
            },
            Err(failed) => {
                let _ = writeln!(shown.text, "{failed}");
                shown.signatures.push(format!("reader {} failed", failed.reader));
            }
        }
    }
    let Some((_, subject)) = answers.first().cloned() else {
        return shown;
    };
    show_words(case, &subject, &mut shown.text);
    side_by_side(&answers, &mut shown.text);
    for (reference, answer) in &answers[1..] {
        for outcome in streams::compare(&subject, answer) {
            if let Verdict::Differ(how) = outcome.verdict {
                shown
                    .signatures
                    .push(format!("{}: native vs {reference}: {how}", outcome.aspect));
            }
        }
    }
    for (reference, other) in descriptors.iter().skip(1) {
        for (a, b) in descriptors[0].1.iter().zip(other) {
            if let Verdict::Differ(how) = streams::compare_descriptors(a, b).verdict {
                shown
                    .signatures
                    .push(format!("descriptor: native vs {reference}: {how}"));
            }
        }
    }
    if let Some(Some(mine)) = traces.first() {
        for ((reference, _), theirs) in answers.iter().zip(&traces).skip(1) {
            show_calls(mine, reference, theirs.as_deref(), &mut shown);
        }
    }
    show_engines(case, &subject, &mut shown);
    shown
}

/// The subject's calls and a reference's around the first that differs.
fn show_calls(mine: &str, reference: &str, theirs: Option<&str>, shown: &mut Shown) {
    const BEFORE: usize = 4;
    const AFTER: usize = 3;
    let Some(theirs) = theirs else {
        let _ = writeln!(shown.text, "{reference} does not say which calls it makes\n");
        return;
    };
    let Verdict::Differ(how) = streams::compare_calls(mine.as_bytes(), theirs.as_bytes()).verdict else {
        let _ = writeln!(
            shown.text,
            "calls: native and {reference} make the same, {} lines\n",
            mine.lines().count()
        );
        return;
    };
    let alike = mine.lines().zip(theirs.lines()).take_while(|(a, b)| a == b).count();
    let _ = writeln!(shown.text, "calls: native and {reference} differ after line {alike}");
    for line in mine.lines().take(alike).skip(alike.saturating_sub(BEFORE)) {
        let _ = writeln!(shown.text, "            {line}");
    }
    for (name, trace) in [("native", mine), (reference, theirs)] {
        for line in trace.lines().skip(alike).take(AFTER) {
            let _ = writeln!(shown.text, "{name:<11} {line}");
        }
    }
    shown.text.push('\n');
    shown.signatures.push(format!("calls: native vs {reference}: {how}"));
}

/// The stream as text, with the word that the subject refused marked.
fn show_words(case: &StreamCase, subject: &StreamAnswer, text: &mut String) {
    let blob = match wire::Blob::parse(&case.blob) {
        Ok(blob) => blob,
        Err(refused) => {
            let _ = writeln!(
                text,
                "{} bytes, refused as a blob: {}\n",
                case.blob.len(),
                refused.reason
            );
            return;
        }
    };
    let _ = writeln!(
        text,
        "{} words, {} bytes of data, in the guest's ids",
        blob.words.len(),
        blob.data.len()
    );
    let _ = writeln!(text, "   #   word  command");
    let refused =
        |part: &Option<Result<Vec<u32>, Refused>>| part.as_ref().and_then(|part| part.as_ref().err()).copied();
    let word = refused(&subject.decode)
        .or(refused(&subject.remap))
        .map(|refused| refused.at as usize);
    let of_command = |refused: Refused| {
        let starts = subject.decode.as_ref()?.as_ref().ok()?;
        starts.get(refused.at as usize).map(|&start| start as usize)
    };
    let ranges = subject.ranges.and_then(Result::err).and_then(of_command);
    text.push_str(&disassemble(&blob.words, blob.data.len() as u32, word.or(ranges)));
    text.push('\n');
}

fn side_by_side(answers: &[(String, StreamAnswer)], text: &mut String) {
    const WIDTH: usize = 38;
    let row = |text: &mut String, name: &str, cells: Vec<String>| {
        let _ = write!(text, "{name:<11}");
        for cell in &cells {
            let _ = write!(text, "  {cell:<WIDTH$}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    };
    row(text, "", answers.iter().map(|answer| answer.0.clone()).collect());
    type Part = fn(&StreamAnswer) -> Option<String>;
    let parts: [(&str, Part); 6] = [
        ("header", |answer| {
            Some(
                answer
                    .blob
                    .map_or_else(|reason| reason.to_string(), |()| "accept".into()),
            )
        }),
        ("decode", |answer| {
            answer
                .decode
                .as_ref()
                .map(|part| part_words(part, "word", |starts| format!("{} commands", starts.len())))
        }),
        ("remap", |answer| {
            answer.remap.as_ref().map(|part| {
                part_words(part, "word", |words| {
                    format!("{} words, #{:08x}", words.len(), fingerprint(words))
                })
            })
        }),
        ("reads", |answer| {
            answer.reads.as_ref().map(|reads| format!("{} reads", reads.len()))
        }),
        ("ranges", |answer| {
            answer
                .ranges
                .as_ref()
                .map(|part| part_words(part, "command", |()| String::new()))
        }),
        ("read check", |answer| {
            answer
                .read_check
                .as_ref()
                .map(|part| part_words(part, "read", |()| String::new()))
        }),
    ];
    for (name, part) in parts {
        row(
            text,
            name,
            answers
                .iter()
                .map(|answer| part(&answer.1).unwrap_or_else(|| "-".into()))
                .collect(),
        );
    }
    text.push('\n');
}

fn part_words<T>(part: &Result<T, Refused>, place: &str, words: impl Fn(&T) -> String) -> String {
    match part {
        Ok(accepted) => format!("accept {}", words(accepted)).trim_end().to_owned(),
        Err(refused) => format!(
            "{} at {place} {}",
            streams::refusal(refused.op, refused.reason),
            refused.at
        ),
    }
}

/// So that two rewritten streams can be told apart in a table: FNV-1a over the words.
fn fingerprint(words: &[u32]) -> u32 {
    words
        .iter()
        .fold(0x811C_9DC5, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193))
}

fn show_engines(case: &StreamCase, subject: &StreamAnswer, shown: &mut Shown) {
    let (Some(Ok(words)), Ok(blob)) = (&subject.remap, wire::Blob::parse(&case.blob)) else {
        return;
    };
    let replayed = Replayed {
        objects: &case.objects,
        words,
        data: blob.data,
        max_workgroups: case.max_workgroups,
        window: case.window,
        answer: subject,
    };
    for id in Engine::available() {
        let mut engine = match Engine::open(&id.id) {
            Ok(engine) => engine,
            Err(error) => {
                let _ = writeln!(shown.text, "{}: {error:#}", id.id);
                continue;
            }
        };
        let Some(judged) = gpu::replay(&mut engine, &replayed) else {
            continue;
        };
        let meaning = match judged.cell {
            Cell::Sound => "sound",
            Cell::GotThrough => "A REFUSED RANGE GETS THROUGH",
            Cell::LeftToDevice => "left to the device",
            Cell::Right => "refused, and the GPU refuses it too",
            Cell::OverRefusal => "OVER-REFUSAL",
            Cell::Masked => "refused, and nothing is shown: an earlier error, or the host's own bound",
        };
        let _ = writeln!(shown.text, "{}: {meaning}: {}", id.id, judged.what);
        if !judged.detail.is_empty() {
            let _ = writeln!(shown.text, "    {}", judged.detail.replace('\n', "\n    "));
        }
        if matches!(judged.cell, Cell::GotThrough | Cell::OverRefusal) {
            shown
                .signatures
                .push(format!("gpu: native on {}: {}", id.id, judged.what));
        }
    }
    shown.text.push('\n');
}

fn show_layout(case: &LayoutCase) -> Shown {
    let mut shown = Shown {
        text: String::new(),
        signatures: Vec::new(),
    };
    let native = LayoutReader::answer(&mut Native::default(), case);
    let model = SlotModel.answer(case);
    show_slots(&native, &model, &mut shown.text);
    for outcome in slots::compare(&native, &model) {
        if let Verdict::Differ(how) = outcome.verdict {
            shown
                .signatures
                .push(format!("{}: native vs slot-model: {how}", outcome.aspect));
        }
    }
    if let Some(shader) = &case.shader {
        let _ = writeln!(shown.text, "{}", shader.wgsl);
        let checked = msl::check(case);
        let _ = writeln!(
            shown.text,
            "{} entry points translated, {} arguments",
            checked.translated, checked.arguments
        );
        for (reason, count) in &checked.refused {
            let _ = writeln!(shown.text, "refused as it should be, {count}: {reason}");
        }
        for problem in checked.problems {
            let _ = writeln!(shown.text, "entry point {}: {}", problem.entry_point, problem.detail);
            shown.signatures.push(format!(
                "msl: property {} in a {} shader",
                problem.property,
                problem.stage.name()
            ));
        }
    }
    shown
}

fn show_slots(native: &LayoutAnswer, model: &LayoutAnswer, text: &mut String) {
    for ((stage, a), (_, b)) in native.stages.iter().zip(&model.stages) {
        let _ = writeln!(text, "{} stage", stage.name());
        match (a, b) {
            (Ok(a), Ok(b)) => {
                let _ = writeln!(
                    text,
                    "  binding        native                                slot-model"
                );
                let bindings: std::collections::BTreeSet<_> = a.slots.keys().chain(b.slots.keys()).collect();
                for at in bindings {
                    let name = format!("g{}b{}", at.0, at.1);
                    let [a, b] = [a, b].map(|slots| slots.slots.get(at).map_or("-".into(), place));
                    let mark = if a == b { ' ' } else { '>' };
                    let _ = writeln!(text, "{mark} {name:<14} {a:<37} {b}");
                }
                let size = |slot: Option<u32>| slot.map_or("-".into(), |slot| format!("buffer {slot}"));
                let [a, b] = [a, b].map(|slots| size(slots.sizes_slot));
                let _ = writeln!(text, "  _buffer_sizes  {a:<37} {b}");
            }
            (a, b) => {
                let words = |answer: &Result<_, String>| answer.as_ref().err().cloned().unwrap_or("accept".into());
                let _ = writeln!(text, "  native: {}\n  slot-model: {}", words(a), words(b));
            }
        }
    }
    text.push('\n');
}

/// A place in words.
pub(crate) fn place(place: &Place) -> String {
    let tables = [
        ("buffer", place.buffer),
        ("texture", place.texture),
        ("sampler", place.sampler),
    ];
    let slots: Vec<String> = tables
        .iter()
        .filter_map(|(table, slot)| slot.map(|slot| format!("{table} {slot}")))
        .collect();
    format!("{}{}", slots.join(" "), if place.mutable { ", mutable" } else { "" })
}
