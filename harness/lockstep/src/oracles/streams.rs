//! Two readers over one stream.
//!
//! **Catches** any difference in what they accept, refuse (word, opcode and reason), rewrite or list: header, Decode, Remap, the reads
//! of RemapReads, CheckRanges, the read check; for descriptors split and remap; and of a fixed share of the streams that Remap accepts
//! any difference in the calls that make the object table and replay the stream: object, method, arguments, order, end.
//!
//! **Does not catch** what both have wrong in the same way; that is why one of them was written from the page alone, and why the GPU is
//! asked too.

use std::fmt::Debug;

use wire::{Op, Reason};

use super::{Outcome, Verdict};
use crate::readers::answer::{DescriptorAnswer, Refused, StreamAnswer};
use crate::readers::ask::CaseAnswers;

/// The parts that are compared, each a row of the report.
pub const ASPECTS: [&str; 8] = [
    "header",
    "decode",
    "remap",
    "reads",
    "ranges",
    "read check",
    "descriptor",
    "calls",
];

/// Compares the subject's answer with a reference's, aspect by aspect. An aspect that neither came to is left out.
pub fn compare(subject: &StreamAnswer, reference: &StreamAnswer) -> Vec<Outcome> {
    let header = |answer: &StreamAnswer| {
        Some(answer.blob.map_err(|reason| Refused {
            at: 0,
            op: None,
            reason,
        }))
    };
    let remap =
        aspect("remap", &subject.remap, &reference.remap).map(|outcome| name_command(outcome, subject, reference));
    let rows = [
        aspect("header", &header(subject), &header(reference)),
        aspect("decode", &subject.decode, &reference.decode),
        remap,
        reads(subject, reference),
        aspect("ranges", &subject.ranges, &reference.ranges),
        aspect("read check", &subject.read_check, &reference.read_check),
    ];
    rows.into_iter().flatten().collect()
}

fn aspect<T: PartialEq + Debug>(
    aspect: &'static str,
    subject: &Option<Result<T, Refused>>,
    reference: &Option<Result<T, Refused>>,
) -> Option<Outcome> {
    let verdict = match (subject, reference) {
        (None, None) => return None,
        (Some(Ok(a)), Some(Ok(b))) if a == b => Verdict::BothAccept,
        (Some(Err(a)), Some(Err(b))) if a == b => Verdict::BothRefuse,
        (Some(a), Some(b)) => Verdict::Differ(parted(a, b)),
        (a, b) => Verdict::Differ(differ(&short(a), &short(b))),
    };
    Some(Outcome { aspect, verdict })
}

/// What both say at the first place at which they part: of the one that came further, that it accepts what stands there. So it is the
/// same words whatever stands behind that place.
fn parted<T>(subject: &Result<T, Refused>, reference: &Result<T, Refused>) -> String {
    let place = |answer: &Result<T, Refused>| match answer {
        Ok(_) => u64::MAX,
        // It is found where the stream ends, though it names the command that opens the pass.
        Err(refused) if refused.reason == Reason::OpenPass => u64::from(u32::MAX) + 1,
        Err(refused) => refused.at.into(),
    };
    let (a, b) = (place(subject), place(reference));
    let words = |answer: &Result<T, Refused>, further: bool| match answer {
        Err(refused) if !further => refusal(refused.op, refused.reason),
        _ => "accept".into(),
    };
    differ(&words(subject, a > b), &words(reference, b > a))
}

/// Where both readers accept and rewrite otherwise: in which command.
fn name_command(outcome: Outcome, subject: &StreamAnswer, reference: &StreamAnswer) -> Outcome {
    let (Some(Ok(starts)), Some(Ok(a)), Some(Ok(b))) = (&subject.decode, &subject.remap, &reference.remap) else {
        return outcome;
    };
    let op = || {
        let differs = a.iter().zip(b).position(|(a, b)| a != b)? as u32;
        let command = starts.partition_point(|start| *start <= differs).checked_sub(1)?;
        Op::from_word(*a.get(starts[command] as usize)?)
    };
    match (a == b, op()) {
        (false, Some(op)) => Outcome {
            verdict: Verdict::Differ(format!("other words in {op}")),
            ..outcome
        },
        _ => outcome,
    }
}

fn reads(subject: &StreamAnswer, reference: &StreamAnswer) -> Option<Outcome> {
    let verdict = match (&subject.reads, &reference.reads) {
        (None, None) => return None,
        (Some(a), Some(b)) if a == b => Verdict::BothAccept,
        // Where Remap differs, one of them has no reads; Remap's row says so.
        (None, _) | (_, None) => return None,
        _ => Verdict::Differ("other reads".into()),
    };
    Some(Outcome {
        aspect: "reads",
        verdict,
    })
}

/// Two short answers; where they are the same words, what differs is a place or the rewritten words.
fn differ(subject: &str, reference: &str) -> String {
    match subject == reference {
        true => format!("both {subject}, elsewhere or otherwise"),
        false => format!("{subject} vs {reference}"),
    }
}

fn short<T>(answer: &Option<Result<T, Refused>>) -> String {
    match answer {
        None => "no answer".into(),
        Some(Ok(_)) => "accept".into(),
        Some(Err(refused)) => refusal(refused.op, refused.reason),
    }
}

/// A refusal without its place.
pub fn refusal(op: Option<Op>, reason: Reason) -> String {
    match op {
        Some(op) => format!("{reason} {op}"),
        None => reason.to_string(),
    }
}

/// Compares two readers' answers to one case, as far as both answer it.
pub fn compare_case(subject: &CaseAnswers, reference: &CaseAnswers) -> Vec<Outcome> {
    let streams = subject.stream.iter().zip(&reference.stream);
    let descriptors = subject.descriptors.iter().zip(&reference.descriptors);
    let calls = subject.calls.iter().zip(&reference.calls);
    let streams = streams.flat_map(|(a, b)| compare(a, b));
    streams
        .chain(descriptors.map(|(a, b)| compare_descriptors(a, b)))
        .chain(calls.map(|(a, b)| compare_calls(a, b)))
        .collect()
}

/// Compares two answers to one descriptor.
pub fn compare_descriptors(subject: &DescriptorAnswer, reference: &DescriptorAnswer) -> Outcome {
    let refuses = |answer: &DescriptorAnswer| answer.split.is_err() || matches!(answer.remap, Some(Err(_)));
    let verdict = match subject == reference {
        true if refuses(subject) => Verdict::BothRefuse,
        true => Verdict::BothAccept,
        false => Verdict::Differ(differ(&short_descriptor(subject), &short_descriptor(reference))),
    };
    Outcome {
        aspect: "descriptor",
        verdict,
    }
}

fn short_descriptor(answer: &DescriptorAnswer) -> String {
    match (&answer.split, &answer.remap) {
        (Err(reason), _) | (_, Some(Err((reason, _)))) => reason.to_string(),
        _ => "accept".into(),
    }
}

/// Compares two traces in the text of PROTOCOL.md. Bodies, ids and numbers are a case's own, so a difference is named by the method
/// of the first line that differs.
pub fn compare_calls(subject: &[u8], reference: &[u8]) -> Outcome {
    let verdict = match first_difference(subject, reference) {
        None if ends_whole(subject) => Verdict::BothAccept,
        None => Verdict::BothRefuse,
        Some((a, b)) => Verdict::Differ(differ(&method(a), &method(b))),
    };
    Outcome {
        aspect: "calls",
        verdict,
    }
}

/// The first line of each that is not the other's, empty where one ends before.
fn first_difference<'a>(a: &'a [u8], b: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    if a == b {
        return None;
    }
    let lines = |text: &'a [u8]| text.split(|&byte| byte == b'\n').chain(std::iter::repeat(&[][..]));
    // They differ somewhere, so that the endless lines of both do not agree for ever.
    lines(a).zip(lines(b)).find(|(a, b)| a != b)
}

/// Whether every object was made and the stream replayed to its end.
fn ends_whole(text: &[u8]) -> bool {
    let lines = text.split(|&byte| byte == b'\n');
    let outcome = |line: &&[u8]| line.starts_with(b"[\"object\"") || line.starts_with(b"[\"stream\"");
    lines
        .filter(outcome)
        .all(|line| line.ends_with(b",\"made\"]") || line.ends_with(b",\"done\"]"))
}

/// A line without what belongs to the case: `draw`, `object wrong-kind`.
fn method(line: &[u8]) -> String {
    let list: Vec<serde_json::Value> = serde_json::from_slice(line).unwrap_or_default();
    let text = |at: usize| list.get(at).and_then(serde_json::Value::as_str);
    match (text(0), text(1), text(2)) {
        (Some("object"), None, Some(outcome)) => format!("object {outcome}"),
        (Some("stream"), Some(outcome), _) => format!("stream {outcome}"),
        (_, Some(method), _) => method.to_owned(),
        _ if line.is_empty() => "nothing".to_owned(),
        _ => "no line of a trace".to_owned(),
    }
}
