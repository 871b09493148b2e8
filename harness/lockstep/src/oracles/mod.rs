//! Oracles: each says what it catches and what it does not.

pub mod bind;
pub mod fuzz;
pub mod gpu;
pub mod msl;
pub mod slots;
pub mod streams;
pub mod strict;

/// How one aspect of one case came out between two readers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// One of [`streams::ASPECTS`], [`slots::ASPECTS`] or [`bind::ASPECTS`].
    pub aspect: &'static str,
    /// Both accept alike, both refuse alike, or not.
    pub verdict: Verdict,
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
