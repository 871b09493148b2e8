//! Whoever takes part, asked for the signatures of cases as a campaign has them.

use std::collections::BTreeSet;

use crate::bind::BindPlayer;
use crate::campaign::Cast;
use crate::case::{BindCase, Case, LayoutCase, Object, StreamCase};
use crate::gpu::engine::{self, Engine, Request};
use crate::oracles::gpu::Asked;
use crate::oracles::strict::{self, Said};
use crate::oracles::{self, Found, bind, msl, slots, streams};
use crate::panics::caught;
use crate::readers::answer::StreamAnswer;
use crate::readers::ask::{self, CaseAnswers, NoAnswer};
use crate::readers::layouts::LayoutReader;
use crate::readers::{StreamReader, slot_upstream};

/// The readers, engines and oracles of a cast.
pub struct Jury {
    subject: Box<dyn StreamReader>,
    references: Vec<Box<dyn StreamReader>>,
    layout_subject: Box<dyn LayoutReader>,
    layout_references: Vec<Box<dyn LayoutReader>>,
    bind_subject: Box<dyn BindPlayer>,
    apple: Option<msl::apple::Compiler>,
    /// Whether the subject is a process, whose strict check is asked over the protocol.
    outside: bool,
    /// By id; opened when a signature names them.
    engines: Vec<(String, Option<Box<dyn Engine>>)>,
}

/// What is asked about: everything, or as much as shows whether a case has one signature.
#[derive(Clone, Copy)]
struct Sought<'a>(Option<&'a str>);

impl Sought<'_> {
    fn begins(self, beginning: &str) -> bool {
        self.0.is_none_or(|signature| signature.starts_with(beginning))
    }

    fn names(self, name: &str) -> bool {
        self.0.is_none_or(|signature| signature.contains(name))
    }
}

impl Jury {
    /// Of a campaign's cast.
    pub fn of(cast: &Cast) -> Jury {
        Jury {
            subject: (cast.subject)(),
            references: cast.references.iter().map(|make| make()).collect(),
            layout_subject: (cast.layout_subject)(),
            layout_references: cast.layout_references.iter().map(|make| make()).collect(),
            bind_subject: (cast.bind_subject)(),
            apple: cast.apple.clone(),
            outside: cast.outside,
            engines: cast.engines.iter().map(|id| (id.clone(), None)).collect(),
        }
    }

    /// Whom a signature names and who does not take part.
    pub fn lacks<'a>(&self, signature: &'a str) -> Option<&'a str> {
        let references = self.references.iter().map(|reference| reference.name());
        let layouts = self.layout_references.iter().map(|reference| reference.name());
        let engines = self.engines.iter().map(|(id, _)| id.as_str());
        let of_binds = signature.starts_with("bind: ");
        let subjects = match of_binds {
            true => vec![self.bind_subject.name()],
            false => vec![self.subject.name(), self.layout_subject.name()],
        };
        let others: Vec<&str> = references
            .chain(layouts)
            .chain(engines)
            .chain([slot_upstream::NAME])
            .collect();
        oracles::unknown(signature, &subjects, &others)
    }

    /// Every signature that a case has.
    pub fn all(&mut self, case: &Case) -> BTreeSet<String> {
        self.judge(std::slice::from_ref(case), Sought(None))
            .pop()
            .unwrap_or_default()
    }

    /// Whether a case has that signature.
    pub fn shows(&mut self, case: &Case, sought: &str) -> bool {
        let signatures = self.signatures(std::slice::from_ref(case), sought);
        signatures.iter().any(|all| all.contains(sought))
    }

    /// The signatures of cases, as far as it takes to know which of them have the one that is sought: engines are asked where it is theirs, and
    /// only those that it names.
    pub fn signatures(&mut self, cases: &[Case], sought: &str) -> Vec<BTreeSet<String>> {
        self.judge(cases, Sought(Some(sought)))
    }

    fn judge(&mut self, cases: &[Case], sought: Sought<'_>) -> Vec<BTreeSet<String>> {
        let mut lists = vec![BTreeSet::new(); cases.len()];
        let mut streams = Vec::new();
        for (at, case) in cases.iter().enumerate() {
            match case {
                Case::Stream(case) => streams.push((at, case)),
                Case::Layout(case) => lists[at] = self.layout(case, sought),
                Case::Bind(case) => lists[at] = self.bind(case),
            }
        }
        // Panics are answers here, a thousand times the same one: they are not printed.
        if caught(|| self.streams(&streams, sought, &mut lists)).is_err() {
            lists.iter_mut().for_each(BTreeSet::clear);
        }
        lists
    }

    fn streams(&mut self, cases: &[(usize, &StreamCase)], sought: Sought<'_>, lists: &mut [BTreeSet<String>]) {
        if cases.is_empty() {
            return;
        }
        let asked: Vec<&StreamCase> = cases.iter().map(|(_, case)| *case).collect();
        let calls = sought.begins("calls:");
        let subject = ask::cases(self.subject.as_mut(), &asked, calls);
        let references = self.references.iter_mut();
        let references: Vec<(String, Vec<Result<CaseAnswers, NoAnswer>>)> = references
            .map(|reference| {
                let name = reference.name().to_owned();
                (name, ask::cases(reference.as_mut(), &asked, calls))
            })
            .collect();
        let mut alike = Vec::new();
        for (number, (at, case)) in cases.iter().enumerate() {
            let answers = references
                .iter()
                .map(|(name, answers)| (name.as_str(), &answers[number]));
            let failed = answers.clone().map(|(_, answer)| answer).chain([&subject[number]]);
            lists[*at].extend(
                failed
                    .filter_map(|answer| answer.as_ref().err())
                    .map(NoAnswer::signature),
            );
            let Ok(own) = &subject[number] else { continue };
            let outcomes: Vec<(&str, Vec<oracles::Outcome>)> = answers
                .filter_map(|(name, answer)| Some((name, streams::compare_case(own, answer.as_ref().ok()?))))
                .collect();
            let parted = outcomes.iter().map(|(name, outcomes)| (*name, outcomes.as_slice()));
            let found = oracles::findings(self.subject.name(), parted);
            lists[*at].extend(found.into_iter().map(|Found { signature, .. }| signature));
            let follows = outcomes.iter().any(|(_, outcomes)| oracles::parts_streams(outcomes));
            if let (false, Some(stream)) = (follows, &own.stream) {
                alike.push((*at, *case, stream));
            }
        }
        if ["gpu:", "strict:", "reader "].iter().any(|kind| sought.begins(kind)) {
            self.replays(&alike, sought, lists);
        }
    }

    fn replays(
        &mut self,
        cases: &[(usize, &StreamCase, &StreamAnswer)],
        sought: Sought<'_>,
        lists: &mut [BTreeSet<String>],
    ) {
        let mut asked = Vec::new();
        for (at, case, answer) in cases {
            let Some(of_case) = Asked::new(case, answer) else {
                continue;
            };
            let said = self.said(&of_case, &case.objects, sought, &mut lists[*at]);
            asked.push((*at, of_case, said));
        }
        for (id, engine) in self.engines.iter_mut().filter(|(id, _)| sought.names(id)) {
            if engine.is_none() {
                *engine = engine::open(id).ok();
            }
            let Some(engine) = engine else { continue };
            let requests: Vec<Request<'_>> = asked.iter().map(|(_, asked, _)| asked.request()).collect();
            let outcomes = engine.outcomes(&requests);
            let mut unclear = Vec::new();
            for ((at, asked, said), outcome) in asked.iter().zip(&outcomes) {
                let about = engine.about();
                let ranges = asked.judge(about, outcome).signature(self.subject.name(), &about.id);
                let request = asked.request();
                match (ranges, said) {
                    (Some(signature), _) => drop(lists[*at].insert(signature)),
                    (None, Some(said)) => match strict::judge(said, &about.id, outcome, request.stop_after) {
                        Some(judged) => lists[*at].extend(judged.signature(&about.id)),
                        None => unclear.push((*at, said, request)),
                    },
                    (None, None) => {}
                }
            }
            if sought.begins("strict:") {
                probe(engine.as_mut(), &unclear, lists);
            }
        }
    }

    /// What the subject's strict check says of a case; none of a subject in a process that has no strict check. One that fails over it is a
    /// finding of the case.
    fn said<'a>(
        &mut self,
        asked: &Asked<'a>,
        objects: &'a [Object],
        sought: Sought<'_>,
        list: &mut BTreeSet<String>,
    ) -> Option<Said<'a>> {
        if !self.outside {
            return Some(Said::of(asked.cmds(), objects));
        }
        if !sought.begins("strict:") && !sought.begins("reader ") {
            return None;
        }
        Said::of_reader(self.subject.as_mut(), asked, objects).unwrap_or_else(|none| {
            list.insert(none.signature());
            None
        })
    }

    fn layout(&mut self, case: &LayoutCase, sought: Sought<'_>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        match caught(|| self.slots(case)) {
            Ok(slots) => found.extend(slots),
            Err(_) => drop(found.insert(slots::PANICKED.to_owned())),
        }
        if sought.begins("msl:") && case.shader.is_some() {
            match caught(|| self.msl(case, sought)) {
                Ok(msl) => found.extend(msl),
                Err(_) => drop(found.insert(msl::PANICKED.to_owned())),
            }
        }
        found
    }

    fn slots(&mut self, case: &LayoutCase) -> Vec<String> {
        let answer = match self.layout_subject.try_answer(case) {
            Ok(answer) => answer,
            Err(none) => return vec![none.signature()],
        };
        let compared = self.layout_references.iter_mut().map(|reference| {
            let own = reference.answer(case);
            reference.compare(case, &answer, &own).parted
        });
        let compared: Vec<Vec<oracles::Outcome>> = compared.collect();
        let names = self.layout_references.iter().map(|reference| reference.name());
        let found = oracles::findings(
            self.layout_subject.name(),
            names.zip(compared.iter().map(Vec::as_slice)),
        );
        found.into_iter().map(|found| found.signature).collect()
    }

    fn msl(&self, case: &LayoutCase, sought: Sought<'_>) -> Vec<String> {
        let mut problems = msl::check(case).problems;
        if sought.names("wgpu-hal") {
            problems.extend(msl::upstream::check(case).problems);
        }
        let own = problems.iter().map(msl::Problem::signature);
        let apple = self.apple.as_ref().filter(|_| sought.names("Apple"));
        let apple = apple.map_or(Vec::new(), |apple| apple.check(case).1);
        own.chain(apple.iter().map(msl::apple::signature)).collect()
    }

    fn bind(&mut self, case: &BindCase) -> BTreeSet<String> {
        let subject = &mut self.bind_subject;
        let Ok((compared, _)) = caught(|| bind::check(case, subject.as_mut())) else {
            return BTreeSet::from([bind::PANICKED.to_owned()]);
        };
        let parted = [(slot_upstream::NAME, compared.parted.as_slice())];
        let found = oracles::findings(self.bind_subject.name(), parted);
        found.into_iter().map(|found| found.signature).collect()
    }
}

/// Replays the cases over which an engine did not show enough up to and with the command that the strict check refuses.
fn probe(engine: &mut dyn Engine, unclear: &[(usize, &Said<'_>, Request<'_>)], lists: &mut [BTreeSet<String>]) {
    let stop_after = |said: &Said<'_>| said.refusal.map(|refusal| refusal.command);
    let probes = unclear.iter().map(|(_, said, request)| Request {
        stop_after: stop_after(said),
        ..*request
    });
    let outcomes = engine.outcomes(&probes.collect::<Vec<_>>());
    let id = engine.about().id.clone();
    for ((at, said, _), outcome) in unclear.iter().zip(&outcomes) {
        let judged = strict::judge(said, &id, outcome, stop_after(said));
        lists[*at].extend(judged.and_then(|judged| judged.signature(&id)));
    }
}
