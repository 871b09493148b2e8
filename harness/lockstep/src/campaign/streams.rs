//! A worker's streams: readers in processes of their own work while this thread asks the subject and the engines.

use std::time::{Duration, Instant};

use super::replays::Suspect;
use super::worker::{Generator, Worker};
use super::{STRIKES, lock};
use crate::case::{Case, StreamCase};
use crate::generators::{self, Lane};
use crate::oracles::{self, Found, Outcome, streams};
use crate::readers::answer::{DescriptorAnswer, NotAnAnswer, StreamAnswer};
use crate::readers::ask::{self, NoAnswer};
use crate::readers::{Batch, BatchAnswers, CallsQuery, ReaderFailed, StreamQuery};

/// Of each stream lane, the calls of the cases whose index is a multiple of this are compared too. They cost several times what
/// Decode costs.
const CALLS_SHARE: u64 = 7;

/// Of the lane of replays, which are there for the engines, the references get one in so many,
const REPLAYS_SHARE: u64 = 8;
/// and the calls of one in so many are compared.
const REPLAYS_CALLS_SHARE: u64 = 14 * REPLAYS_SHARE;

/// The search for the case over which a reader fails ends here: a reader that hangs is waited for at each question.
const SEARCH: Duration = Duration::from_secs(60);

/// A stream case of a round.
pub(super) struct Item {
    pub(super) lane: Lane,
    pub(super) index: u64,
    pub(super) case: StreamCase,
    /// What an edge shows.
    name: Option<String>,
    /// Where its calls are compared, what is asked.
    calls: Option<CallsQuery>,
}

impl Item {
    fn new(lane: Lane, index: u64, case: StreamCase) -> Item {
        let share = match lane {
            Lane::Replays => REPLAYS_CALLS_SHARE,
            _ => CALLS_SHARE,
        };
        let calls = if index.is_multiple_of(share) {
            CallsQuery::of(&case)
        } else {
            None
        };
        Item {
            lane,
            index,
            case,
            name: None,
            calls,
        }
    }

    /// Whether the references are asked about it.
    fn is_compared(&self) -> bool {
        self.lane != Lane::Replays || self.index.is_multiple_of(REPLAYS_SHARE)
    }

    /// An edge; the edges are about readers, and their tables are no objects for a replay.
    fn edge(index: u64, case: StreamCase, name: String) -> Item {
        Item {
            lane: Lane::Edges,
            index,
            case,
            name: Some(name),
            calls: None,
        }
    }
}

/// A reader's answers to a round's items. `None` stands for one that is none of PROTOCOL.md's, which is a finding already.
struct Heard {
    streams: Vec<Option<StreamAnswer>>,
    descriptors: Vec<Option<DescriptorAnswer>>,
    /// To the items that were asked for their calls; none from a reader that does not replay.
    calls: Vec<Vec<u8>>,
}

impl Worker<'_> {
    /// A finding over a stream; its summary says also what the case shows.
    pub(super) fn found_over(&self, item: &Item, signature: String, summary: String) {
        let summary = match &item.name {
            Some(name) => format!("{summary}, over {name}"),
            None => summary,
        };
        self.found(
            (item.lane, item.index),
            Case::Stream(item.case.clone()),
            signature,
            summary,
        );
    }

    /// A round's streams. References in processes of their own work on them while this thread asks the subject and the engines.
    pub(super) fn streams(&mut self, round: u64) {
        let mut items = self.items(round);
        items.sort_by_key(|item| !item.is_compared());
        // Where the readers' time goes: to the lane of the first case.
        let Some(lane) = items.first().map(|item| item.lane) else {
            return;
        };
        let since = Instant::now();
        let (compared, alone) = items.split_at(items.partition_point(Item::is_compared));
        let batch = batch_of(compared);
        let asked = self.ask_references(&batch);
        let Some(mut subject) = self.ask_subject(compared, &batch) else {
            return;
        };
        if !alone.is_empty() {
            let Some(rest) = self.ask_subject(alone, &batch_of(alone)) else {
                return;
            };
            subject.streams.extend(rest.streams);
        }
        self.tally(&items, &subject);
        self.counts.time(lane, 0, since);
        let since = Instant::now();
        let suspects = self.replays(&items, &subject.streams);
        self.counts.time(Lane::Replays, 0, since);
        let since = Instant::now();
        let parted = self.hear_references(asked, compared, &subject);
        self.settle(&items, &subject, suspects, &parted);
        self.counts.time(lane, 0, since);
    }

    fn items(&mut self, round: u64) -> Vec<Item> {
        let generators: [(Lane, Generator<StreamCase>); 3] = [
            (Lane::Streams, generators::streams::stream_case),
            (Lane::Raw, generators::raw::raw_case),
            (Lane::Replays, generators::streams::replay_case),
        ];
        let mut items = Vec::new();
        for (lane, generator) in generators {
            self.each(lane, round, generator, |_, index, case| {
                items.push(Item::new(lane, index, case));
            });
        }
        items.extend(self.edges(round));
        items
    }

    /// The edges of a round.
    fn edges(&mut self, round: u64) -> Vec<Item> {
        let since = Instant::now();
        let indices = self.shared.indices(Lane::Edges, round);
        if indices.is_empty() {
            return Vec::new();
        }
        let edges = self.edges.take(indices.clone());
        let items = indices.clone().zip(edges).map(|(index, edge)| {
            self.counts.coverage.edge(edge.family);
            Item::edge(index, edge.case, edge.name)
        });
        let items = items.collect();
        self.counts.time(Lane::Edges, indices.end - indices.start, since);
        items
    }

    /// Hands the batch to each reference; `None` for one that is left out.
    fn ask_references(&mut self, batch: &Batch) -> Vec<Option<Result<(), ReaderFailed>>> {
        let shared = self.shared;
        let references = self.references.iter_mut().enumerate();
        references
            .map(|(at, reference)| (!shared.left_out(at)).then(|| reference.ask(batch)))
            .collect()
    }

    fn ask_subject(&mut self, items: &[Item], batch: &Batch) -> Option<Heard> {
        match ask::batch(self.subject.as_mut(), batch) {
            Ok(answers) => Some(self.take_apart(self.subject.name(), items, answers)),
            Err(failed) => {
                self.reader_failed(None, items, failed);
                None
            }
        }
    }

    /// Says for each item whether a reference parts from the subject over its stream.
    fn hear_references(
        &mut self,
        asked: Vec<Option<Result<(), ReaderFailed>>>,
        items: &[Item],
        subject: &Heard,
    ) -> Vec<bool> {
        let mut references: Vec<(String, Vec<Vec<Outcome>>)> = Vec::new();
        for (at, asked) in asked.into_iter().enumerate() {
            let Some(asked) = asked else { continue };
            match asked.and_then(|()| self.references[at].hear()) {
                Ok(answers) => {
                    self.shared.answered(at);
                    let name = self.references[at].name().to_owned();
                    let heard = self.take_apart(&name, items, answers);
                    references.push((name, outcomes(items, subject, &heard)));
                }
                Err(failed) => self.reader_failed(Some(at), items, failed),
            }
        }
        let items = items.iter().enumerate();
        items.map(|(at, item)| self.compare(item, &references, at)).collect()
    }

    /// What engines showed of the items: a finding, where no reference parts from the subject over the stream; else it follows from that.
    /// References that were not asked about the stream are asked now.
    fn settle(&mut self, items: &[Item], subject: &Heard, suspects: Vec<Suspect>, parted: &[bool]) {
        let mut alone: Vec<usize> = suspects.iter().map(|suspect| suspect.item).collect();
        alone.retain(|at| *at >= parted.len());
        alone.sort_unstable();
        alone.dedup();
        let parted_alone = self.ask_again(items, subject, &alone);
        for Suspect { item, found, .. } in suspects {
            let follows = parted.get(item).copied().unwrap_or(parted_alone.contains(&item));
            if !follows {
                self.found_over(&items[item], found.signature, found.summary);
            }
        }
    }

    /// Asks the references about the streams of some items; those over which one parts from the subject.
    fn ask_again(&mut self, items: &[Item], subject: &Heard, asked: &[usize]) -> Vec<usize> {
        if asked.is_empty() {
            return Vec::new();
        }
        let batch = Batch {
            streams: asked.iter().map(|at| StreamQuery::of(&items[*at].case)).collect(),
            ..Batch::default()
        };
        let mut references = Vec::new();
        for at in 0..self.references.len() {
            if self.shared.left_out(at) {
                continue;
            }
            // One that fails has been reported over a batch of its own, or will be.
            let Ok(answers) = ask::batch(self.references[at].as_mut(), &batch) else {
                continue;
            };
            let answers = answers.streams.iter().map(|bytes| StreamAnswer::parse(bytes).ok());
            let both = asked.iter().map(|at| subject.streams[*at].as_ref()).zip(answers);
            let outcomes = both.map(|(a, b)| a.zip(b).map_or(Vec::new(), |(a, b)| streams::compare(a, &b)));
            references.push((self.references[at].name().to_owned(), outcomes.collect()));
        }
        let asked = asked.iter().enumerate();
        let parted = asked.filter(|(at, item)| self.compare(&items[**item], &references, *at));
        parted.map(|(_, item)| *item).collect()
    }

    fn take_apart(&self, reader: &str, items: &[Item], answers: BatchAnswers) -> Heard {
        let streams = items.iter().zip(&answers.streams);
        let descriptors = owners(items).zip(&answers.descriptors);
        Heard {
            streams: streams
                .map(|(item, bytes)| self.sense(reader, item, StreamAnswer::parse(bytes)))
                .collect(),
            descriptors: descriptors
                .map(|(item, bytes)| self.sense(reader, item, DescriptorAnswer::parse(bytes)))
                .collect(),
            calls: answers.calls,
        }
    }

    pub(super) fn sense<T>(&self, reader: &str, item: &Item, answer: Result<T, NotAnAnswer>) -> Option<T> {
        let nonsense = |what: NotAnAnswer| {
            let (reader, what) = (reader.to_owned(), what.to_string());
            let none = NoAnswer::Nonsense { reader, what };
            self.found_over(item, none.signature(), none.to_string());
        };
        answer.map_err(nonsense).ok()
    }

    /// A reader failed over a batch: a finding, with the case that it fails over. Of one signature only the first finding is kept, so
    /// that only for that one the case is searched for.
    pub(super) fn reader_failed(&mut self, reference: Option<usize>, items: &[Item], failed: ReaderFailed) {
        let reader = failed.reader.clone();
        let failed = NoAnswer::from(failed);
        let signature = failed.signature();
        let known = lock(&self.shared.findings).knows(&signature);
        let always = self.fails(reference, &[]);
        let (range, fails) = match (known, always) {
            (true, _) => (0..1, String::new()),
            (false, true) => (0..1, "over any batch, also one of no cases".into()),
            (false, false) => self.search(reference, items),
        };
        if let Some(at) = reference {
            let strikes = if always { STRIKES } else { 1 };
            self.shared.strike(at, &reader, strikes);
        }
        self.found_over(&items[range.start], signature, format!("{failed}; it fails {fails}"));
    }

    /// Halves the batch as long as the reader fails over a half alone. Gives the items that are left and says what they show.
    fn search(&mut self, reference: Option<usize>, items: &[Item]) -> (std::ops::Range<usize>, String) {
        let until = Instant::now() + SEARCH;
        let mut left = 0..items.len();
        while left.len() > 1 && Instant::now() < until {
            let middle = left.start + left.len() / 2;
            let halves = [left.start..middle, middle..left.end];
            match halves
                .into_iter()
                .find(|half| self.fails(reference, &items[half.clone()]))
            {
                Some(half) => left = half,
                None => break,
            }
        }
        let fails = match left.len() {
            1 => "over this case".to_owned(),
            many => format!("over a batch of {many} cases that begins with this one; a smaller one was not found"),
        };
        (left, fails)
    }

    fn fails(&mut self, reference: Option<usize>, items: &[Item]) -> bool {
        let reader = match reference {
            Some(at) => self.references[at].as_mut(),
            None => self.subject.as_mut(),
        };
        ask::batch(reader, &batch_of(items)).is_err()
    }

    fn tally(&mut self, items: &[Item], subject: &Heard) {
        let coverage = &mut self.counts.coverage;
        for (item, answer) in items.iter().zip(&subject.streams) {
            answer
                .iter()
                .for_each(|answer| coverage.stream(&item.case.blob, answer));
        }
        subject
            .descriptors
            .iter()
            .flatten()
            .for_each(|answer| coverage.descriptor(answer));
    }

    /// Counts and keeps what the references' outcomes show of an item, the one at `at` of their lists. Whether a reference parts from the
    /// subject over its stream.
    fn compare(&mut self, item: &Item, references: &[(String, Vec<Vec<Outcome>>)], at: usize) -> bool {
        let of_item = || {
            references
                .iter()
                .map(|(name, lists)| (name.as_str(), lists[at].as_slice()))
        };
        let subject = self.subject.name();
        for (name, outcomes) in of_item() {
            outcomes
                .iter()
                .for_each(|outcome| self.counts.compared(outcome, subject, name));
        }
        for Found { signature, summary } in oracles::findings(subject, of_item()) {
            self.found_over(item, signature, summary);
        }
        of_item().any(|(_, outcomes)| oracles::parts_streams(outcomes))
    }
}

/// Of each item the outcomes between the subject and a reference.
fn outcomes(items: &[Item], subject: &Heard, heard: &Heard) -> Vec<Vec<Outcome>> {
    let mut lists: Vec<Vec<Outcome>> = vec![Vec::new(); items.len()];
    for (list, (a, b)) in lists.iter_mut().zip(subject.streams.iter().zip(&heard.streams)) {
        if let (Some(a), Some(b)) = (a, b) {
            list.extend(streams::compare(a, b));
        }
    }
    let numbered = || items.iter().enumerate();
    let owners = numbered().flat_map(|(at, item)| std::iter::repeat_n(at, item.case.descriptors.len()));
    for (at, (a, b)) in owners.zip(subject.descriptors.iter().zip(&heard.descriptors)) {
        if let (Some(a), Some(b)) = (a, b) {
            lists[at].push(streams::compare_descriptors(a, b));
        }
    }
    let asked = numbered().filter(|(_, item)| item.calls.is_some());
    for ((at, _), (a, b)) in asked.zip(subject.calls.iter().zip(&heard.calls)) {
        lists[at].push(streams::compare_calls(a, b));
    }
    lists
}

fn batch_of(items: &[Item]) -> Batch {
    Batch {
        calls: items.iter().filter_map(|item| item.calls.clone()).collect(),
        ..Batch::of(items.iter().map(|item| &item.case))
    }
}

/// The item of each descriptor of a batch.
fn owners(items: &[Item]) -> impl Iterator<Item = &Item> {
    items
        .iter()
        .flat_map(|item| std::iter::repeat_n(item, item.case.descriptors.len()))
}
