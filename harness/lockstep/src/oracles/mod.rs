//! Oracles: each says what it catches and what it does not.

pub mod bind;
pub mod fuzz;
pub mod gpu;
pub mod msl;
pub mod slots;
pub mod streams;
pub mod strict;

use crate::ledger::{Hits, Line};

/// How one aspect of one case came out between two readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// One of [`streams::ASPECTS`], [`slots::ASPECTS`] or [`bind::ASPECTS`].
    pub aspect: &'static str,
    /// Both accept alike, both refuse alike, or not.
    pub verdict: Verdict,
}

/// How a case came out between two readers, over as many aspects as the oracle has.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared<const ASPECTS: usize> {
    /// By aspect: comparisons, both accept, both refuse.
    pub counts: [[u64; 3]; ASPECTS],
    /// The outcomes in which the two differ.
    pub parted: Vec<Outcome>,
    /// The lines of the ledger that applied.
    pub ledger: Hits,
}

impl<const ASPECTS: usize> Default for Compared<ASPECTS> {
    fn default() -> Self {
        Compared {
            counts: [[0; 3]; ASPECTS],
            parted: Vec::new(),
            ledger: Hits::default(),
        }
    }
}

impl<const ASPECTS: usize> Compared<ASPECTS> {
    fn count(&mut self, names: &[&'static str; ASPECTS], aspect: usize, verdict: Verdict) {
        let row = &mut self.counts[aspect];
        row[0] += 1;
        match verdict {
            Verdict::BothAccept => row[1] += 1,
            Verdict::BothRefuse => row[2] += 1,
            Verdict::Differ(_) => self.parted.push(Outcome {
                aspect: names[aspect],
                verdict,
            }),
        }
    }

    /// A line of the ledger applies: its difference must be there.
    fn tolerated(&mut self, names: &[&'static str; ASPECTS], aspect: usize, line: Line, there: bool) {
        self.ledger.count(line, there);
        if !there {
            let how = format!("the ledger's `{}` did not occur", line.name());
            self.count(names, aspect, Verdict::Differ(how));
        }
    }
}

/// The place of an aspect among all of them, for reports that list them in order; of one that there is not, the first.
pub fn aspect_order(aspect: &str) -> usize {
    let mut aspects = streams::ASPECTS.iter().chain(&slots::ASPECTS).chain(&bind::ASPECTS);
    aspects.position(|known| *known == aspect).unwrap_or(0)
}

/// See [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Both accept, with the same answer.
    BothAccept,
    /// Both refuse, with the same words: of a stream word, opcode and reason.
    BothRefuse,
    /// They differ: in few words, the same for each case of the same kind, first the subject's answer.
    Differ(String),
}

impl Outcome {
    /// The signature of the finding that it is; none where the two agree.
    pub fn signature(&self, subject: &str, reference: &str) -> Option<String> {
        match &self.verdict {
            Verdict::Differ(how) => Some(format!("{}: {subject} vs {reference}: {how}", self.aspect)),
            Verdict::BothAccept | Verdict::BothRefuse => None,
        }
    }
}

/// Aspects of one case that follow from each other, each from those before it: what Decode has wrong is wrong in the
/// words that Remap rewrites, and where slots differ so do bases.
const CHAINS: [&[&str]; 7] = [
    &["header", "decode", "remap", "reads", "ranges", "read check", "calls"],
    &["descriptor"],
    &["slots", "sizes slot", "immediates slot", "bases", "group slots"],
    &["dynamic offsets"],
    &["version"],
    &["options"],
    &bind::ASPECTS,
];

/// A finding's signature, and one line about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What makes two findings one.
    pub signature: String,
    /// For a person.
    pub summary: String,
}

/// The findings of one case, from its outcomes between the subject and each reference.
///
/// One fault is one finding: of aspects that follow from each other only the first in which two readers part is one,
/// and where a reference parts from the subject exactly as one before it did, that one stands for both.
pub fn findings<'a>(subject: &str, references: impl IntoIterator<Item = (&'a str, &'a [Outcome])>) -> Vec<Found> {
    let mut known: Vec<&Outcome> = Vec::new();
    let mut found = Vec::new();
    for (reference, outcomes) in references {
        for cause in CHAINS.iter().filter_map(|chain| first_of(chain, outcomes)) {
            let (Verdict::Differ(how), false) = (&cause.verdict, known.contains(&cause)) else {
                continue;
            };
            known.push(cause);
            found.extend(cause.signature(subject, reference).map(|signature| Found {
                signature,
                summary: format!("{subject} and {reference} part at {}: {how}", cause.aspect),
            }));
        }
    }
    found
}

/// The first reader or engine that a signature names and that does not take part: as the subject, which is named first of two, or among the
/// others. The name of one who does may hold anything; another one comes out cut where it holds ` vs `, ` on ` or `: ` itself.
pub fn unknown<'a>(signature: &'a str, subjects: &[&str], others: &[&str]) -> Option<&'a str> {
    if let Some(failed) = signature.strip_prefix("reader ") {
        let mut ends = [" failed", " answers nonsense"].iter();
        let name = ends.find_map(|end| failed.strip_suffix(end))?;
        return (!subjects.contains(&name) && !others.contains(&name)).then_some(name);
    }
    let (aspect, mut rest) = signature.split_once(": ")?;
    let ends: &[(&[&str], &str)] = match aspect {
        "msl" | "recorded" => &[],
        "strict" => &[(others, ": ")],
        "gpu" => &[(subjects, " on "), (others, ": ")],
        _ if rest.contains(" vs ") => &[(subjects, " vs "), (others, ": ")],
        // Nobody is named where a reader of layouts or a player of binds panicked.
        _ => &[],
    };
    for (known, end) in ends {
        let behind = known
            .iter()
            .filter_map(|name| rest.strip_prefix(name)?.strip_prefix(end));
        match behind.min_by_key(|behind| behind.len()) {
            Some(behind) => rest = behind,
            None => return rest.split(end).next(),
        }
    }
    None
}

/// The outcome of the chain's first aspect in which the readers part.
fn first_of<'a>(chain: &[&str], outcomes: &'a [Outcome]) -> Option<&'a Outcome> {
    let parts = |outcome: &&Outcome| matches!(outcome.verdict, Verdict::Differ(_));
    let place = |outcome: &Outcome| chain.iter().position(|aspect| *aspect == outcome.aspect);
    let of_chain = outcomes
        .iter()
        .filter(parts)
        .filter_map(|outcome| Some((place(outcome)?, outcome)));
    of_chain.min_by_key(|(place, _)| *place).map(|(_, outcome)| outcome)
}

/// Whether readers part over the stream itself, so that what an engine does with their words follows from that.
pub fn parts_streams(outcomes: &[Outcome]) -> bool {
    first_of(CHAINS[0], outcomes).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::ReaderFailed;
    use crate::readers::ask::NoAnswer;

    /// Each is named by its own signature, and missed where it alone is not known.
    #[test]
    fn who_is_named_in_a_signature_and_not_known() {
        let parted = Outcome {
            aspect: "decode",
            verdict: Verdict::Differ("accept vs bad-enum Draw".into()),
        };
        let replayed = gpu::Judged {
            cell: gpu::Cell::GotThrough,
            what: "accepted Draw and the GPU refuses its range".into(),
            detail: String::new(),
            bytes_compared: 0,
            not_foretold: 0,
        };
        let strictly = strict::Judged {
            cell: strict::Cell::Missed,
            what: "accepted WriteBuffer and the GPU refuses it over memory".into(),
            detail: String::new(),
        };
        let failed = NoAnswer::Failed(ReaderFailed {
            reader: "exec:a b".into(),
            why: "it died".into(),
        });
        let nonsense = NoAnswer::Nonsense {
            reader: "mine: a vs b".into(),
            what: "too short".into(),
        };
        for (signature, subject, other) in [
            (parted.signature("native", "replay-js"), "native", "replay-js"),
            (parted.signature("a vs b: c", "d vs e: f"), "a vs b: c", "d vs e: f"),
            (replayed.signature("mine", "wgpu:noop"), "mine", "wgpu:noop"),
            (replayed.signature("a on b: c", "deno"), "a on b: c", "deno"),
            (strictly.signature("dawn:null"), "", "dawn:null"),
            (Some(failed.signature()), "", "exec:a b"),
            (Some(nonsense.signature()), "mine: a vs b", ""),
            (Some(msl::NO_SHADER.into()), "", ""),
            (Some(msl::PANICKED.into()), "", ""),
            (Some(slots::PANICKED.into()), "", ""),
            (Some(bind::PANICKED.into()), "", ""),
            (Some("further signatures".into()), "", ""),
        ] {
            let signature = signature.expect("a finding");
            assert_eq!(unknown(&signature, &[subject], &[other]), None, "{signature}");
            for (name, missed) in [
                (subject, unknown(&signature, &[], &[other])),
                (other, unknown(&signature, &[subject], &[])),
            ] {
                assert_eq!(missed.is_none(), name.is_empty(), "{signature}");
                assert!(
                    name.starts_with(missed.unwrap_or_default()),
                    "{signature}: {missed:?} for {name}"
                );
            }
        }
        // A name that another begins with, and one that is not known.
        let signature = parted.signature("native", "native: two").expect("a finding");
        assert_eq!(unknown(&signature, &["native"], &["native: two"]), None);
        let signature = "ranges: native vs mine: other words";
        assert_eq!(unknown(signature, &["native"], &["replay-js"]), Some("mine"));
        assert_eq!(
            unknown("gpu: mine on deno: refused", &["native"], &["deno"]),
            Some("mine")
        );
        // As a further reader it is not asked what it was asked as the subject.
        let signature = "ranges: mine vs replay-js: other words";
        assert_eq!(unknown(signature, &["native"], &["mine", "replay-js"]), Some("mine"));
    }
}
