//! Two readers over one layout.
//!
//! **Catches** any difference in slots, mutability, bases, sizes slot, refusals, GroupSlots, MSL version, preserveInvariance and the
//! options that every shader starts from, for each of the five stages.
//!
//! **Does not catch** what both read wrongly in slots.md, nor what naga makes of the options ([`super::msl`] looks at that), nor what is
//! bound at a draw.

use super::Outcome;
use super::Verdict::{BothAccept, BothRefuse, Differ};
use crate::case::Stage;
use crate::readers::{LayoutAnswer, StageSlots};

/// The parts that are compared, each a row of the report.
pub const ASPECTS: [&str; 6] = ["slots", "bases", "sizes slot", "group slots", "version", "options"];

/// Compares the subject's answer with a reference's: an outcome for each aspect, and for each stage where it is a stage's.
pub fn compare(subject: &LayoutAnswer, reference: &LayoutAnswer) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(24);
    for ((stage, a), (_, b)) in subject.stages.iter().zip(&reference.stages) {
        compare_stage(*stage, a, b, &mut outcomes);
    }
    // GroupSlots refuses nothing, so it has an answer also for a layout that the constructor refuses; there it is nobody's business.
    let accepted = |stage: Stage| {
        subject
            .stages
            .iter()
            .any(|(other, answer)| *other == stage && answer.is_ok())
    };
    for ((stage, a), (_, b)) in subject.group_slots.iter().zip(&reference.group_slots) {
        if accepted(*stage) {
            outcomes.push(outcome("group slots", *stage, a == b));
        }
    }
    let version = |answer: &LayoutAnswer| (answer.language_version, answer.preserve_invariance);
    let verdict = match version(subject) == version(reference) {
        true => BothAccept,
        false => Differ(format!("{:?} vs {:?}", version(subject), version(reference))),
    };
    outcomes.push(Outcome {
        aspect: "version",
        verdict,
    });
    let option = subject.options.iter().zip(&reference.options).find(|(a, b)| a != b);
    let verdict = option.map_or(BothAccept, |(a, b)| Differ(format!("{}: {} vs {}", a.0, a.1, b.1)));
    outcomes.push(Outcome {
        aspect: "options",
        verdict,
    });
    outcomes
}

fn outcome(aspect: &'static str, stage: Stage, same: bool) -> Outcome {
    let verdict = if same {
        BothAccept
    } else {
        Differ(format!("in the {} stage", stage.name()))
    };
    Outcome { aspect, verdict }
}

fn compare_stage(
    stage: Stage,
    subject: &Result<StageSlots, String>,
    reference: &Result<StageSlots, String>,
    outcomes: &mut Vec<Outcome>,
) {
    match (subject, reference) {
        (Ok(a), Ok(b)) => {
            outcomes.push(outcome("slots", stage, a.slots == b.slots));
            outcomes.push(outcome("bases", stage, a.bases == b.bases));
            outcomes.push(outcome("sizes slot", stage, a.sizes_slot == b.sizes_slot));
        }
        (Err(a), Err(b)) if a == b => outcomes.push(Outcome {
            aspect: "slots",
            verdict: BothRefuse,
        }),
        (a, b) => {
            let kind = |answer: &Result<StageSlots, String>| match answer {
                Ok(_) => "accept".to_owned(),
                // Without the numbers, so that every case of this kind reads alike.
                Err(words) => words.split(" g").next().unwrap_or_default().to_owned(),
            };
            let words = format!("{} vs {} in the {} stage", kind(a), kind(b), stage.name());
            outcomes.push(Outcome {
                aspect: "slots",
                verdict: Differ(words),
            });
        }
    }
}
