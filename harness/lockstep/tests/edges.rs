//! The table of edges: what it says is due is what `wire` answers, and `lockstep run --edges` finds no difference.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use lockstep::campaign::{self, Budget, Cast, Plan};
use lockstep::generators::{Lane, edges};
use lockstep::readers::answer::{DescriptorAnswer, StreamAnswer};
use lockstep::readers::native::Native;
use lockstep::readers::replay_js::replay_js;
use lockstep::readers::{Batch, StreamReader};
use lockstep::setup;

/// The edges in portions, with what a reader answers to each.
fn answers(
    reader: &mut dyn StreamReader,
    mut each: impl FnMut(&edges::Edge, &StreamAnswer, Option<&DescriptorAnswer>),
) {
    let mut all = edges::edges().peekable();
    while all.peek().is_some() {
        let portion: Vec<_> = all.by_ref().take(512).collect();
        let batch = Batch::of(portion.iter().map(|edge| &edge.case));
        reader.ask(&batch).expect("native answers");
        let heard = reader.hear().expect("native answers");
        let mut descriptors = heard.descriptors.iter();
        for (edge, stream) in portion.iter().zip(&heard.streams) {
            let stream = StreamAnswer::parse(stream).expect("an answer");
            let descriptor = edge.case.descriptors.first().and_then(|_| descriptors.next());
            let descriptor = descriptor.map(|bytes| DescriptorAnswer::parse(bytes).expect("an answer"));
            each(edge, &stream, descriptor.as_ref());
        }
    }
}

/// What an answer has in common with what is due; the parts that the table says nothing of are left out of both.
fn known<T: PartialEq + std::fmt::Debug>(part: &str, due: Option<&T>, answer: Option<&T>) -> Option<String> {
    let due = due?;
    (Some(due) != answer).then(|| format!("{part}: due {due:?}, answered {answer:?}"))
}

/// The edges to which a reader answers otherwise than the table says.
fn not_as_due(reader: &mut dyn StreamReader) -> Vec<String> {
    let mut wrong = Vec::new();
    answers(reader, |edge, stream, descriptor| {
        let due = &edge.due;
        let parts = [
            known("header", due.header.as_ref(), Some(&stream.blob)),
            known("decode", due.decode.as_ref(), stream.decode.as_ref()),
            known("remap", due.remap.as_ref(), stream.remap.as_ref()),
            known("ranges", due.ranges.as_ref(), stream.ranges.as_ref()),
            known("read check", due.read_check.as_ref(), stream.read_check.as_ref()),
            known("descriptor", due.descriptor.as_ref(), descriptor),
        ];
        for part in parts.into_iter().flatten() {
            wrong.push(format!("{}: {}: {part:.300}", edge.family, edge.name));
        }
    });
    wrong
}

#[test]
fn what_the_table_says_is_due_is_answered() {
    let wrong = not_as_due(&mut Native::default());
    let shown = &wrong[..wrong.len().min(40)];
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), shown.join("\n"));
}

#[test]
fn the_table_alone_finds_a_wrong_reader() {
    let mut lax = Native::with_ranges("lax", |_, _, _| Ok(()));
    let wrong = not_as_due(&mut lax);
    assert!(wrong.len() > 1000, "{}", wrong.len());
    assert!(wrong.iter().all(|line| line.contains(": ranges: due Err")));
}

#[test]
fn the_table_is_what_it_says() {
    let mut families: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut names = BTreeSet::new();
    let mut reasons = BTreeSet::new();
    let mut twice = Vec::new();
    let mut large = 0;
    for edge in edges::edges() {
        let row = families.entry(edge.family).or_default();
        row.0 += 1;
        // An answer that is due in full: of the stream, of the header or of the descriptor.
        let due = &edge.due;
        row.1 +=
            u64::from(due.decode.is_some() || due.descriptor.is_some() || due.header.is_some_and(|part| part.is_err()));
        large += u64::from(edge.case.blob.len() > 1 << 16);
        reasons.extend(due.header.and_then(Result::err));
        for part in [&due.ranges, &due.read_check].into_iter().flatten() {
            reasons.extend(part.as_ref().err().map(|refused| refused.reason));
        }
        for part in [&due.decode, &due.remap].into_iter().flatten() {
            reasons.extend(part.as_ref().err().map(|refused| refused.reason));
        }
        let name = format!("{}: {}", edge.family, edge.name);
        if !names.insert(name.clone()) {
            twice.push(name);
        }
    }
    for family in &edges::FAMILIES {
        let (cases, due) = families.get(family.name).copied().unwrap_or_default();
        println!("{:24} {cases:>6}, due {due:>6}  {}", family.name, family.shows);
        assert!(cases > 0, "{} has no case", family.name);
    }
    println!("{} in all, {large} of them over 64 KiB", edges::count());
    assert!(twice.is_empty(), "{twice:#?}");
    // Of sections 3, 5, 6 and the header: the reasons from bad-length to past-window, of which 14 is not used.
    assert_eq!(reasons.len(), 24, "{reasons:?}");
    // What follows a cut command, a count that moves the words after it, another split of the same bytes: no reader's word is due.
    let unsaid: u64 = families.values().map(|row| row.0 - row.1).sum();
    assert!(unsaid * 40 < edges::count(), "{unsaid}");
    assert!((20_000..100_000).contains(&edges::count()));
    assert!(large < 500);
}

#[test]
fn an_index_names_an_edge() {
    let mut cursor = edges::Cursor::default();
    let last = edges::count() - 1;
    for index in [0, 1, 20_000, 19_999, last] {
        let taken = cursor.take(index..index + 1);
        assert_eq!(taken.first(), edges::edge(index).as_ref());
    }
    assert_eq!(edges::edge(last + 1), None);
}

#[test]
fn no_reader_differs() {
    let parts = setup::look();
    let deno = parts.deno.expect("deno, which `cargo lockstep test` brings");
    let root = parts.root;
    let cast = Cast {
        outside: false,
        subject: Box::new(|| Box::new(Native::default())),
        references: vec![Box::new(move || Box::new(replay_js(&root, &deno)))],
        layout_subject: Box::new(|| Box::new(Native::default())),
        layout_references: Vec::new(),
        apple: None,
        bind_subject: Box::new(|| Box::new(lockstep::bind::native::Native::default())),
        engines: Vec::new(),
        not_run: Vec::new(),
    };
    let folder = tempfile::tempdir().expect("a folder");
    let plan = Plan {
        seed: 0,
        budget: Budget::Edges,
        workers: 2,
        lanes: vec![Lane::Edges],
        shard: (0, 1),
        findings: folder.path().to_path_buf(),
    };
    let results = campaign::run(&plan, &cast, &AtomicBool::new(false), &mut |_| {});
    assert_eq!(results.findings, []);
    assert_eq!(results.lanes[0].cases, edges::count());
    println!("{} edges in {:.1} s", results.lanes[0].cases, results.seconds);
}
