//! `lockstep repro`: one case again, every reader's answer side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::asked::{self, Given};
use super::inspect::stream_in;
use super::pictures::{self, Held};
use super::tables;
use super::{CLEAN, FOUND};
use crate::bind::{self, Bound};
use crate::case::{BindCase, Case, CaseFile, LayoutCase, Object, Origin, Stage, StreamCase};
use crate::findings::{MAX_CASE_FILE, read_case};
use crate::generators;
use crate::gpu::{Outcome, engine};
use crate::input;
use crate::ledger::{Hits, Line};
use crate::minimize::Jury;
use crate::oracles::bind::Place;
use crate::oracles::gpu::{Asked, Cell, Judged};
use crate::oracles::strict::{self, Said};
use crate::oracles::{self, msl, streams};
use crate::readers::answer::{Refused, StreamAnswer};
use crate::readers::ask::{self, CaseAnswers, NoAnswer};
use crate::readers::layouts::{LayoutReader, Refusal, StageSlots, Words};
use crate::readers::native::{self, Native};
use crate::readers::outside::Outside;
use crate::readers::slot_model::SlotModel;
use crate::readers::slot_upstream::{self, SlotUpstream};
use crate::readers::{CallsQuery, StreamReader, replay_js};
use crate::recording;
use crate::report::figures::count;
use crate::say;
use crate::setup;
use crate::text::disassemble;

const HELP: &str = "Examples:
  cargo lockstep repro reports/out/findings/NAME.json
  cargo lockstep repro particles.recording/00002.wire
  cargo lockstep repro stream.wire --like reports/out/findings/NAME.json
  cargo lockstep repro --generated replays:7:12
  cargo lockstep repro case.json --json | jq .findings

Exit status: 0 no difference, 1 a finding, 2 bad use, bad input, or a finding that takes the whole recording
or names who was not asked. With --quiet turned round, as a reducer wants it: 0 the case still shows its finding, 1 it does not.";

/// `lockstep repro`'s arguments.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// A case file, such as a finding's; a stream in a recording's folder; with --like any stream
    #[arg(required_unless_present = "generated", value_name = "FILE")]
    file: Option<PathBuf>,
    /// The case whose objects, grants and finding go with a stream that is changed by hand
    #[arg(long, value_name = "CASE", conflicts_with = "generated")]
    like: Option<PathBuf>,
    /// Instead of a file: the case that a campaign made, as LANE:SEED:INDEX, such as replays:7:12. The lanes are streams,
    /// raw, replays, layouts, shaders, edges and binds
    #[arg(long, value_name = "LANE:SEED:INDEX", value_parser = origin, conflicts_with = "file")]
    generated: Option<Origin>,
    /// Say nothing; the status is 0 when the case still shows its finding and 1 when it does not, as a reducer wants it
    #[arg(long)]
    quiet: bool,
    /// One JSON document: `shows`, `findings` by signature, `asked` (readers and engines) and the `text`
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    #[command(flatten)]
    given: Given,
}

/// Who is asked first: `wire` and `mslmap`, or a program in their place.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a>(pub(super) Option<&'a Outside>);

impl<'a> Subject<'a> {
    fn name(self) -> &'a str {
        self.0.map_or(native::NAME, |outside| &outside.name)
    }

    fn streams(self) -> Box<dyn StreamReader> {
        self.0.map_or_else(|| Box::new(Native::default()) as _, Outside::reader)
    }

    fn layouts(self) -> Box<dyn LayoutReader> {
        self.0.map_or_else(
            || Box::new(Native::default()) as _,
            |outside| Box::new(outside.process()) as _,
        )
    }

    /// What its strict check says; nothing where it has none.
    fn said<'b>(self, asked: &Asked<'b>, objects: &'b [Object]) -> Result<Option<Said<'b>>, NoAnswer> {
        Said::of_reader(self.streams().as_mut(), asked, objects)
    }
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

/// What a case looks like when it is run again. What is a finding the jury says.
#[derive(Default)]
pub(super) struct Shown {
    pub(super) text: String,
    /// Whether a line of the ledger applied.
    in_ledger: bool,
    /// The readers and engines that took part.
    asked: Vec<String>,
}

/// Runs the case again and shows it.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let file = load(args)?;
    let outside = args.given.introduce()?;
    let parts = setup::look();
    let kept_for = file.signature.as_deref();
    if args.quiet {
        let mut jury = asked::jury(&parts, &outside, &file.case, kept_for);
        let still = match kept_for {
            Some(signature) => jury.shows(&file.case, signature),
            None => !findings(&mut jury, &file).is_empty(),
        };
        if let (false, Some(why)) = (
            still,
            kept_for.and_then(|signature| asked::why_not_shown(signature, &jury)),
        ) {
            anyhow::bail!("{why}");
        }
        return Ok(if still { 0 } else { 1 });
    }
    let subject = Subject(outside.subject.as_ref());
    let shown = match &file.case {
        Case::Stream(case) => show_stream(case, subject, (&parts, &outside.readers), picture_place(args, &parts)?),
        Case::Layout(case) => show_layout(case, subject),
        Case::Bind(case) => show_bind(case),
    };
    let mut jury = asked::jury(&parts, &outside, &file.case, None);
    let findings = findings(&mut jury, &file);
    let not_shown = kept_for.and_then(|signature| asked::why_not_shown(signature, &jury));
    let text = match args.json {
        true => format!("{:#}\n", json(&file, &shown, &findings)),
        false => say::printable(&page(file.shows.as_deref(), &shown, &findings, not_shown.is_none())).into_owned(),
    };
    say::out(text.as_bytes())?;
    if let Some(why) = not_shown {
        anyhow::bail!("{why}");
    }
    Ok(if findings.is_empty() { CLEAN } else { FOUND })
}

/// What the case shows. A shader that is none is its writer's fault, unless the case is kept for that.
fn findings(jury: &mut Jury, file: &CaseFile) -> BTreeSet<String> {
    let mut findings = jury.all(&file.case);
    findings.retain(|signature| signature != msl::NO_SHADER || file.signature.as_deref() == Some(msl::NO_SHADER));
    findings
}

fn json(file: &CaseFile, shown: &Shown, findings: &BTreeSet<String>) -> serde_json::Value {
    serde_json::json!({
        "shows": file.shows,
        "findings": findings,
        "asked": shown.asked,
        "text": shown.text,
    })
}

/// The folder and the beginning of the names of a case's pictures: they stand beside its file, or in the reports' folder.
fn picture_place(args: &Args, parts: &setup::Parts) -> anyhow::Result<(PathBuf, String)> {
    let stem = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    // A recording's folder holds nothing else.
    let in_recording = |file: &&PathBuf| file.extension().is_some_and(|end| end == "wire");
    if let Some(file) = args.file.as_ref().filter(|file| !in_recording(file)) {
        let folder = file.parent().map(PathBuf::from).unwrap_or_default();
        return Ok((folder, stem(file)));
    }
    let folder = parts.root.join("reports/out");
    std::fs::create_dir_all(&folder)?;
    let stem = match (&args.generated, &args.file) {
        (Some(Origin { lane, seed, index }), _) => format!("{lane}-{seed}-{index}"),
        (None, Some(file)) => {
            let recording = file.parent().and_then(Path::file_name).unwrap_or_default();
            format!("{}-{}", recording.to_string_lossy(), stem(file))
        }
        (None, None) => "case".into(),
    };
    Ok((folder, stem))
}

/// All that is shown.
fn page(shows: Option<&str>, shown: &Shown, findings: &BTreeSet<String>, are_all_asked: bool) -> String {
    let kept_for = shows.map_or(String::new(), |shows| format!("kept for: {}\n\n", say::one_line(shows)));
    let mut page = kept_for + &shown.text;
    for signature in findings {
        let _ = writeln!(page, "finding: {}", say::one_line(signature));
    }
    if findings.is_empty() {
        page += match (are_all_asked, shown.in_ledger) {
            (false, _) => "no difference among those who were asked\n",
            (true, true) => "no difference that the ledger does not explain\n",
            (true, false) => "no difference\n",
        };
    }
    page
}

fn load(args: &Args) -> anyhow::Result<CaseFile> {
    let Some(origin) = &args.generated else {
        let file = args.file.as_deref().unwrap_or(Path::new(""));
        if let Some(like) = &args.like {
            return with_stream(read_case(like)?, like, file);
        }
        return match recording::case_of(file) {
            None if file.extension().is_some_and(|end| end == "wire") => anyhow::bail!(
                "{}: a stream alone; name by --like the case whose objects and grants go with it",
                file.display()
            ),
            None => read_case(file),
            Some(case) => Ok(CaseFile {
                shows: Some("a stream of a recording".into()),
                ..CaseFile::of(Case::Stream(case?))
            }),
        };
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
        shows: Some(shows),
        origin: Some(origin.clone()),
        ..CaseFile::of(made.case)
    })
}

/// A case with another stream.
fn with_stream(like: CaseFile, name: &Path, stream: &Path) -> anyhow::Result<CaseFile> {
    let Case::Stream(case) = like.case else {
        anyhow::bail!("{}: --like takes the case of a stream", name.display());
    };
    let bytes = input::bytes(stream, MAX_CASE_FILE).with_context(|| format!("{}: cannot read it", stream.display()))?;
    let blob = stream_in(&stream.display().to_string(), bytes)?;
    Ok(CaseFile {
        shows: Some(format!(
            "the stream {} with all else of {}",
            stream.display(),
            name.display()
        )),
        signature: like.signature,
        ..CaseFile::of(Case::Stream(StreamCase { blob, ..case }))
    })
}

fn no_such_case(origin: &Origin, lanes: &[&str]) -> anyhow::Error {
    match origin.lane == generators::Lane::Edges.name() {
        true => anyhow::anyhow!("no edge {}; there are {}", origin.index, generators::edges::count()),
        false => anyhow::anyhow!("no lane `{}`; there are {}", origin.lane, lanes.join(", ")),
    }
}

/// The readers that are there; the subject is the first.
pub(super) fn readers(
    subject: Subject<'_>,
    parts: &setup::Parts,
    outside: &[Outside],
    text: &mut String,
) -> Vec<Box<dyn StreamReader>> {
    let mut readers = vec![subject.streams()];
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

fn show_stream(
    case: &StreamCase,
    subject: Subject<'_>,
    (parts, outside): (&setup::Parts, &[Outside]),
    pictures: (PathBuf, String),
) -> Shown {
    let mut shown = Shown::default();
    let calls = CallsQuery::of(case);
    let mut answers: Vec<(String, CaseAnswers)> = Vec::new();
    for mut reader in readers(subject, parts, outside, &mut shown.text) {
        shown.asked.push(reader.name().to_owned());
        match ask::case(reader.as_mut(), case, calls.as_ref()) {
            Ok(answer) => answers.push((reader.name().to_owned(), answer)),
            Err(none) => {
                let _ = writeln!(shown.text, "{none}");
            }
        }
    }
    // The subject is the first, unless it failed.
    let first = answers.split_first().filter(|((name, _), _)| name == subject.name());
    let Some(((_, own), references)) = first else {
        return shown;
    };
    let Some(stream) = &own.stream else { return shown };
    tables::objects(&case.objects, &mut shown.text);
    let all = answers.iter().filter_map(|(_, answer)| answer.stream.as_ref());
    show_words(case, all, &mut shown.text);
    side_by_side(&answers, &mut shown.text);
    for (name, answer) in references {
        show_calls((subject.name(), own), (name, answer), &mut shown.text);
    }
    if let Some(asked) = Asked::new(case, stream) {
        let said = subject.said(&asked, &case.objects);
        let words = match &said {
            Ok(said) => said
                .as_ref()
                .map(|said| said.refusal.map_or("accept".to_owned(), |strict| strict.to_string())),
            Err(none) => Some(none.to_string()),
        };
        if let Some(words) = words {
            let _ = writeln!(shown.text, "strict check: {words}\n");
        }
        let said = said.unwrap_or_default();
        show_engines(case, (&asked, said.as_ref()), &pictures, &mut shown);
    }
    shown
}

/// The subject's calls and a reference's around the first that differs.
fn show_calls((subject, own): (&str, &CaseAnswers), (reference, answer): (&str, &CaseAnswers), shown: &mut String) {
    const BEFORE: usize = 4;
    const AFTER: usize = 3;
    let (Some(mine), true) = (&own.calls, answer.stream.is_some()) else {
        return;
    };
    let Some(theirs) = &answer.calls else {
        let _ = writeln!(shown, "{reference} does not say which calls it makes\n");
        return;
    };
    let [mine, theirs] = [mine, theirs].map(|bytes| String::from_utf8_lossy(bytes));
    if mine == theirs {
        let lines = count(mine.lines().count() as u64, "line", "lines");
        let _ = writeln!(shown, "calls: {subject} and {reference} make the same, {lines}\n");
        return;
    }
    let alike = mine.lines().zip(theirs.lines()).take_while(|(a, b)| a == b).count();
    let _ = writeln!(shown, "calls: {subject} and {reference} differ after line {alike}");
    for line in mine.lines().take(alike).skip(alike.saturating_sub(BEFORE)) {
        let _ = writeln!(shown, "            {line}");
    }
    for (name, trace) in [(subject, &mine), (reference, &theirs)] {
        for line in trace.lines().skip(alike).take(AFTER) {
            let _ = writeln!(shown, "{name:<11} {line}");
        }
    }
    shown.push('\n');
}

/// The stream as text, with the word marked that the first of the readers to refuse one refused: the subject, or where it accepts what it
/// should not, a reference.
pub(super) fn show_words<'a>(
    case: &StreamCase,
    answers: impl IntoIterator<Item = &'a StreamAnswer>,
    text: &mut String,
) {
    let blob = match wire::Blob::parse(&case.blob) {
        Ok(blob) => blob,
        Err(refused) => {
            let _ = writeln!(
                text,
                "{}, refused as a blob: {}\n",
                count(case.blob.len() as u64, "byte", "bytes"),
                refused.reason
            );
            return;
        }
    };
    let _ = writeln!(
        text,
        "{}, {} of data, in the guest's ids",
        count(blob.words.len() as u64, "word", "words"),
        count(blob.data.len() as u64, "byte", "bytes")
    );
    text.push_str(&granted(&case.id_map));
    let _ = writeln!(text, "   #   word  command");
    let word = answers.into_iter().find_map(refused_word);
    text.push_str(&disassemble(&blob.words, blob.data.len() as u32, word));
    text.push('\n');
}

/// The word that a reader refused; of a refused range the opcode's.
fn refused_word(answer: &StreamAnswer) -> Option<usize> {
    let refused =
        |part: &Option<Result<Vec<u32>, Refused>>| part.as_ref().and_then(|part| part.as_ref().err()).copied();
    let word = refused(&answer.decode).or(refused(&answer.remap));
    let of_command = |refused: Refused| {
        let starts = answer.decode.as_ref()?.as_ref().ok()?;
        starts.get(refused.at as usize).map(|&start| start as usize)
    };
    let ranges = answer.ranges.and_then(Result::err).and_then(of_command);
    word.map(|refused| refused.at as usize).or(ranges)
}

/// Which of the replayer's ids each of the guest's stands for, some to a line.
fn granted(id_map: &[(u32, u32)]) -> String {
    const IN_A_LINE: usize = 12;
    if id_map.iter().all(|(guest, host)| guest == host) {
        return String::new();
    }
    let lines = id_map.chunks(IN_A_LINE).map(|line| {
        let pairs = line.iter().map(|(guest, host)| format!("#{guest}={host}"));
        format!("  {}\n", pairs.collect::<Vec<_>>().join(" "))
    });
    format!(
        "the guest's ids and the objects that they are granted as:\n{}",
        lines.collect::<String>()
    )
}

fn side_by_side(answers: &[(String, CaseAnswers)], text: &mut String) {
    let streams: Vec<(&str, Vec<(&str, String)>)> = answers
        .iter()
        .filter_map(|(name, answer)| Some((name.as_str(), stream_words(answer.stream.as_ref()?))))
        .collect();
    row(text, "", streams.iter().map(|(name, _)| *name));
    let parts = streams.first().map_or(&[][..], |(_, parts)| parts);
    for (at, (part, _)) in parts.iter().enumerate() {
        row(text, part, streams.iter().map(|(_, parts)| parts[at].1.as_str()));
    }
    text.push('\n');
}

fn row<'a>(text: &mut String, name: &str, cells: impl Iterator<Item = &'a str>) {
    const WIDTH: usize = 38;
    let _ = write!(text, "{name:<11}");
    for cell in cells {
        let _ = write!(text, "  {cell:<WIDTH$}");
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
}

/// An answer, part by part.
pub(super) fn stream_words(answer: &StreamAnswer) -> Vec<(&'static str, String)> {
    let header = answer.blob.map_err(|reason| reason.to_string());
    let header = header.map_or_else(|reason| reason, |()| "accept".into());
    let number = |length: usize, noun: &str| count(length as u64, noun, &format!("{noun}s"));
    let commands = |starts: &Vec<u32>| number(starts.len(), "command");
    let rewritten = |words: &Vec<u32>| format!("{}, #{:08x}", number(words.len(), "word"), fingerprint(words));
    let reads = answer.reads.as_ref().map(|reads| number(reads.len(), "read"));
    let nothing = |(): &()| String::new();
    let parts = [
        ("header", Some(header)),
        ("decode", part_words(&answer.decode, "word", commands)),
        ("remap", part_words(&answer.remap, "word", rewritten)),
        ("reads", reads),
        ("ranges", part_words(&answer.ranges, "command", nothing)),
        ("read check", part_words(&answer.read_check, "read", nothing)),
    ];
    parts
        .into_iter()
        .map(|(name, words)| (name, words.unwrap_or_else(|| "-".into())))
        .collect()
}

fn part_words<T>(part: &Option<Result<T, Refused>>, place: &str, words: impl Fn(&T) -> String) -> Option<String> {
    Some(match part.as_ref()? {
        Ok(accepted) => format!("accept {}", words(accepted)).trim_end().to_owned(),
        Err(refused) => {
            let refusal = streams::refusal(refused.op, refused.reason);
            format!("{refusal} at {place} {}", refused.at)
        }
    })
}

/// So that two rewritten streams can be told apart in a table: FNV-1a over the words.
fn fingerprint(words: &[u32]) -> u32 {
    words
        .iter()
        .fold(0x811C_9DC5, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193))
}

fn show_engines(
    case: &StreamCase,
    (asked, said): (&Asked<'_>, Option<&Said<'_>>),
    pictures: &(PathBuf, String),
    shown: &mut Shown,
) {
    let mut outcomes: Vec<(String, Outcome)> = Vec::new();
    for about in engine::available() {
        let mut engine = match engine::open(&about.id) {
            Ok(engine) => engine,
            Err(error) => {
                let _ = writeln!(shown.text, "{}: {error:#}", about.id);
                continue;
            }
        };
        let outcome = engine.replay(&asked.request());
        let ranges = asked.judge(&about, &outcome);
        show_judged(&about.id, &ranges, shown);
        let judged = said.and_then(|said| strict::judge_with_probe(said, engine.as_mut(), &asked.request(), &outcome));
        show_strictly(&about.id, judged.as_ref(), &mut shown.text);
        outcomes.push((about.id, outcome));
    }
    show_pictures(case, asked, &outcomes, pictures, &mut shown.text);
    shown.text.push('\n');
}

fn show_judged(id: &str, judged: &Judged, shown: &mut Shown) {
    shown.asked.push(id.to_owned());
    let meaning = match judged.cell {
        Cell::Sound => "sound",
        Cell::GotThrough => "A REFUSED RANGE GETS THROUGH",
        Cell::LeftToDevice => "left to the device",
        Cell::Right => "refused, and the GPU refuses it too",
        Cell::OverRefusal => "OVER-REFUSAL",
        Cell::Lost => "A REFUSED STREAM LOSES THE DEVICE",
        Cell::Tolerated => "the engine's own, and in the ledger",
        Cell::Masked => "refused, and nothing is shown: an earlier error, or the host's own bound",
    };
    let _ = writeln!(shown.text, "{id}: {meaning}: {}", judged.what);
    if !judged.detail.is_empty() {
        let _ = writeln!(shown.text, "    {}", judged.detail.replace('\n', "\n    "));
    }
}

/// Where the strict check and an engine part.
fn show_strictly(id: &str, judged: Option<&strict::Judged>, text: &mut String) {
    if let Some(judged) = judged.filter(|judged| judged.signature(id).is_some()) {
        let _ = writeln!(text, "{id}: THE STRICT CHECK IS WRONG: {}", judged.what);
        let _ = writeln!(text, "    {}", judged.detail.replace('\n', "\n    "));
    }
}

fn show_pictures(
    case: &StreamCase,
    asked: &Asked<'_>,
    outcomes: &[(String, Outcome)],
    (folder, stem): &(PathBuf, String),
    text: &mut String,
) {
    let attachments = asked.color_attachments();
    if attachments.is_empty() {
        return;
    }
    let shadow = asked.shadow().textures.iter();
    let shadow: Held = shadow.map(|(&id, bytes)| (id, Some(bytes.clone()))).collect();
    let engines = outcomes.iter().map(|(id, outcome)| (id.as_str(), &outcome.textures));
    let holders: Vec<(&str, &Held)> = engines.chain([("shadow", &shadow)]).collect();
    match pictures::write(&case.objects, &attachments, &holders, folder, stem) {
        Ok(paths) => {
            let lines = paths.iter().map(|path| format!("picture {}\n", path.display()));
            text.extend(lines);
        }
        Err(error) => text.push_str(&format!("{error:#}\n")),
    }
}

pub(super) fn show_layout(case: &LayoutCase, subject: Subject<'_>) -> Shown {
    let mut shown = Shown::default();
    let own = subject.layouts().answer(case);
    let references: [Box<dyn LayoutReader>; 2] = [Box::new(SlotModel), Box::new(SlotUpstream::locked())];
    let mut answers = vec![(subject.name().to_owned(), own)];
    for mut reference in references {
        let own = reference.answer(case);
        let compared = reference.compare(case, &answers[0].1, &own);
        shown.asked.push(reference.name().to_owned());
        show_ledger(reference.name(), &compared.ledger, &mut shown);
        answers.push((reference.name().to_owned(), own));
    }
    tables::entries(&case.groups, &mut shown.text);
    for (at, stage) in Stage::ALL.into_iter().enumerate() {
        let _ = writeln!(shown.text, "{} stage", stage.name());
        let stages = answers.iter().map(|(name, answer)| (name.as_str(), &answer.stages[at]));
        show_stage(&stages.collect::<Vec<_>>(), &mut shown.text);
    }
    shown.text.push('\n');
    if let Some(shader) = &case.shader {
        let _ = writeln!(shown.text, "{}", shader.wgsl);
        let mut checked = msl::check(case);
        checked.add(msl::upstream::check(case));
        let _ = writeln!(
            shown.text,
            "{} translated, {}",
            count(checked.translated, "entry point", "entry points"),
            count(checked.arguments, "argument", "arguments")
        );
        for (reason, count) in &checked.refused {
            let _ = writeln!(shown.text, "refused as it should be, {count}: {reason}");
        }
        for problem in checked.problems {
            let _ = match problem.signature() == msl::NO_SHADER {
                true => writeln!(shown.text, "refused by naga: {}", problem.detail),
                false => writeln!(shown.text, "entry point {}: {}", problem.entry_point, problem.detail),
            };
        }
        for problem in msl::apple::find().map_or(Vec::new(), |apple| apple.check(case).1) {
            let _ = writeln!(shown.text, "entry point {}: {}", problem.entry_point, problem.detail);
        }
    }
    shown
}

/// The lines of the ledger that applied.
fn show_ledger(reference: &str, hits: &Hits, shown: &mut Shown) {
    for line in Line::ALL.into_iter().filter(|line| hits.of(*line)[0] > 0) {
        shown.in_ledger = true;
        let _ = writeln!(shown.text, "{reference}, known as {}: {}\n", line.name(), line.reason());
    }
}

/// The commands, and after each draw what stands in the slots of its pipeline's layout.
pub(super) fn show_bind(case: &BindCase) -> Shown {
    let mut shown = Shown::default();
    let (compared, played) = oracles::bind::check(case, &mut bind::native::Native::default());
    shown.asked.push(slot_upstream::NAME.to_owned());
    show_ledger(slot_upstream::NAME, &compared.ledger, &mut shown);
    let names = [(native::NAME, &played.subject), (slot_upstream::NAME, &played.upstream)];
    for (name, refused) in names
        .iter()
        .filter_map(|(name, played)| Some((name, played.as_ref().err()?)))
    {
        let _ = writeln!(shown.text, "{name}: {refused}");
    }
    let [subject, upstream] = names.map(|(_, played)| played.as_deref().unwrap_or_default());
    show_commands(case, &bound_rows(subject, upstream, &played.places), &mut shown.text);
    shown
}

const BIND_LEGEND: &str = "\
After each draw: what stands in the slots of its pipeline's layout. `buffer 4 at 256` is buffer 4 from byte 256 on.
> a finding
~ a difference that the ledger explains, or in sizes that no shader of the stage reads
";

/// The rows of each draw, by its command: the mark and the slot, what the subject has there, and what wgpu-hal has. What wgpu-hal
/// has left in other slots is not shown.
fn bound_rows(subject: &[Bound], upstream: &[Bound], found: &[Place]) -> BTreeMap<usize, Vec<[String; 3]>> {
    let mut draws: BTreeMap<usize, Vec<[String; 3]>> = BTreeMap::new();
    for (subject, upstream) in subject.iter().zip(upstream) {
        let draw = subject.command;
        for (at, stage) in Stage::ALL.into_iter().enumerate() {
            let upstream = bind::words(&upstream.stages[at]);
            for (table, slot, held) in bind::rows(&subject.stages[at]) {
                let other = upstream.get(&format!("{table} {slot}")).map_or("-", String::as_str);
                let place = Place {
                    draw,
                    stage,
                    table,
                    slot,
                };
                let mark = match found.contains(&place) {
                    true => '>',
                    false if held == other => ' ',
                    false => '~',
                };
                let name = format!("{mark} {} {table} {slot}", stage.name());
                draws.entry(draw).or_default().push([name, held, other.to_owned()]);
            }
        }
    }
    draws
}

/// The commands, and behind each draw its rows.
fn show_commands(case: &BindCase, draws: &BTreeMap<usize, Vec<[String; 3]>>, text: &mut String) {
    /// A cell of more is not lined up.
    const WIDEST: usize = 48;
    let version = SlotUpstream::locked().0.version;
    let header = ["".into(), native::NAME.to_owned(), format!("wgpu-hal {version}")];
    let rows = || std::iter::once(&header).chain(draws.values().flatten());
    let [first, second] = [0, 1].map(|cell| rows().map(|row| row[cell].len()).max().unwrap_or(0).min(WIDEST));
    let line =
        |[name, subject, upstream]: &[String; 3]| format!("      {name:first$}  {subject:second$}  {upstream}\n");
    text.push_str(BIND_LEGEND);
    text.push_str(&line(&header));
    for (at, command) in case.commands.iter().enumerate() {
        let _ = writeln!(text, "{at:>4}  {command}");
        text.extend(draws.get(&at).into_iter().flatten().map(line));
    }
    text.push('\n');
}

/// One stage's slots, a column a reader; a row in which the readers part is marked.
fn show_stage(answers: &[(&str, &Result<StageSlots, Refusal>)], text: &mut String) {
    let names = answers
        .iter()
        .map(|(name, _)| format!(" {name:<28}"))
        .collect::<String>();
    let _ = writeln!(text, "{}", format!("  binding       {names}").trim_end());
    let each = |cell: &dyn Fn(&StageSlots) -> Option<String>| -> Vec<String> {
        let answers = answers.iter().map(|(_, answer)| match answer {
            Ok(slots) => cell(slots).unwrap_or("-".into()),
            Err(refusal) => refusal.to_string(),
        });
        answers.collect()
    };
    let taken = answers.iter().filter_map(|(_, answer)| answer.as_ref().ok());
    let bindings: BTreeSet<_> = taken.flat_map(|slots| slots.slots.keys()).collect();
    for at in bindings {
        let cells = each(&|slots| slots.slots.get(at).map(|target| Words(target).to_string()));
        slot_row(&format!("g{}b{}", at.group, at.binding), &cells, text);
    }
    let buffer = |slot: Option<u8>| slot.map(|slot| format!("buffer {slot}"));
    slot_row("immediates", &each(&|slots| buffer(slots.immediates_slot)), text);
    slot_row("_buffer_sizes", &each(&|slots| buffer(slots.sizes_slot)), text);
}

/// A row of [`show_stage`].
fn slot_row(name: &str, cells: &[String], text: &mut String) {
    let mark = if cells.iter().all(|cell| *cell == cells[0]) {
        ' '
    } else {
        '>'
    };
    let cells: String = cells.iter().map(|cell| format!(" {cell:<28}")).collect();
    let _ = writeln!(text, "{}", format!("{mark} {name:<14}{cells}").trim_end());
}
