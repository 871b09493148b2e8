//! What the cases of a report's findings show, gathered when the campaign has ended.

use std::path::Path;

use super::repro::{Subject, readers, show_bind, show_layout, show_words, stream_words};
use super::tables;
use crate::case::{Case, StreamCase};
use crate::findings::read_case;
use crate::readers::outside::Introduced;
use crate::readers::{StreamReader, ask};
use crate::report::figures::count;
use crate::report::results::{Answers, Evidence, Results};
use crate::setup::Parts;

/// So many findings of a report show their case. The command of each shows it too.
const SHOWN: usize = 20;
/// So many lines of a case's text are shown, of a longer one those around the first that is marked.
const LINES: usize = 200;

/// Adds to the first findings what their cases show.
pub fn gather(results: &mut Results, parts: &Parts, outside: &Introduced) {
    if results.findings.is_empty() {
        return;
    }
    let subject = Subject(outside.subject.as_ref());
    let mut readers = readers(subject, parts, &outside.readers, &mut String::new());
    for finding in results.findings.iter_mut().take(SHOWN) {
        finding.evidence = evidence(Path::new(&finding.file), subject, &mut readers);
    }
}

/// None of a case that was not written. A reader that fails over a case is not asked again: it may take its deadline each time.
fn evidence(file: &Path, subject: Subject<'_>, readers: &mut Vec<Box<dyn StreamReader>>) -> Option<Evidence> {
    let file = read_case(file).ok()?;
    let mut evidence = match file.case {
        Case::Stream(case) => of_stream(&case, readers),
        Case::Layout(case) => Evidence {
            text: show_layout(&case, subject).text,
            ..Evidence::default()
        },
        Case::Bind(case) => Evidence {
            text: show_bind(&case).text,
            ..Evidence::default()
        },
    };
    evidence.text = around_the_mark(evidence.text.trim_end());
    Some(evidence)
}

fn of_stream(case: &StreamCase, readers: &mut Vec<Box<dyn StreamReader>>) -> Evidence {
    let mut shown = Evidence::default();
    let mut answers = Vec::new();
    readers.retain_mut(|reader| {
        let asked = ask::case(reader.as_mut(), case, None);
        let answers_at_all = asked.is_ok();
        if let Some(answer) = asked.ok().and_then(|answers| answers.stream) {
            add(&mut shown, reader.name(), stream_words(&answer));
            answers.push(answer);
        }
        answers_at_all
    });
    if !answers.is_empty() {
        show_words(case, &answers, &mut shown.text);
    }
    tables::objects(&case.objects, &mut shown.objects);
    shown.objects = around_the_mark(shown.objects.trim_end());
    shown
}

/// Adds a reader's column.
fn add(shown: &mut Evidence, reader: &str, parts: Vec<(&'static str, String)>) {
    shown.readers.push(reader.to_owned());
    for (at, (part, says)) in parts.into_iter().enumerate() {
        if shown.answers.len() <= at {
            shown.answers.push(Answers {
                part: part.to_owned(),
                says: Vec::new(),
            });
        }
        shown.answers[at].says.push(says);
    }
}

fn around_the_mark(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= LINES {
        return text.to_owned();
    }
    let mark = lines.iter().position(|line| line.starts_with('>')).unwrap_or(0);
    let start = mark.saturating_sub(LINES / 2).min(lines.len() - LINES);
    let rest = lines.len() - start - LINES;
    let left_out =
        |number: usize| (number > 0).then(|| format!("… {} left out", count(number as u64, "line", "lines")));
    let shown = lines[start..start + LINES].iter().map(|line| (*line).to_owned());
    let lines: Vec<String> = left_out(start).into_iter().chain(shown).chain(left_out(rest)).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Object;

    #[test]
    fn a_stream_is_shown_with_its_objects() {
        let case = StreamCase {
            objects: vec![Object {
                id: 1,
                kind: wire::Kind::Buffer,
                refs: Vec::new(),
                body: r#"{"size":16,"usage":4}"#.into(),
            }],
            ..StreamCase::default()
        };
        let shown = of_stream(&case, &mut Vec::new());
        assert_eq!(shown.objects, "object #1     buffer             16 bytes, copy-src");
    }

    #[test]
    fn of_a_long_text_what_is_around_the_mark_is_shown() {
        let text = |marked: usize| {
            let line = |at: usize| format!("{}{at}", if at == marked { '>' } else { ' ' });
            (0..1000).map(line).collect::<Vec<_>>().join("\n")
        };
        let shown = around_the_mark(&text(500));
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!((lines[0], lines[1]), ("… 400 lines left out", " 400"));
        assert_eq!(
            (lines[101], lines[200], lines[201]),
            (">500", " 599", "… 400 lines left out")
        );
        assert!(around_the_mark(&text(999)).ends_with("\n>999"));
        assert_eq!(around_the_mark("> a\nb"), "> a\nb");
    }
}
