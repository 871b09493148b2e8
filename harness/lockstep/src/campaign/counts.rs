//! What a campaign counts.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::coverage::Tally;
use crate::generators::Lane;
use crate::ledger::Hits;
use crate::oracles::{Outcome, Verdict, aspect_order};
use crate::report::results::{EngineRow, Msl};

/// What was counted, by one worker in a round or by all so far.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) lanes: BTreeMap<Lane, (u64, Duration)>,
    pub(super) comparisons: BTreeMap<(usize, &'static str, String, String), [u64; 3]>,
    pub(super) ledger: Hits,
    pub(super) msl: Msl,
    pub(super) engines: BTreeMap<String, EngineRow>,
    pub(super) coverage: Tally,
}

impl Counts {
    pub(super) fn merge(&mut self, other: Counts) {
        for (lane, (cases, time)) in other.lanes {
            let row = self.lanes.entry(lane).or_default();
            (row.0, row.1) = (row.0 + cases, row.1 + time);
        }
        for (key, counts) in other.comparisons {
            let row = self.comparisons.entry(key).or_default();
            row.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        self.ledger.add(&other.ledger);
        self.msl.add(&other.msl);
        for (id, row) in other.engines {
            match self.engines.get_mut(&id) {
                Some(sum) => sum.add(&row),
                None => drop(self.engines.insert(id, row)),
            }
        }
        self.coverage.merge(other.coverage);
    }

    pub(super) fn time(&mut self, lane: Lane, cases: u64, since: Instant) {
        let row = self.lanes.entry(lane).or_default();
        (row.0, row.1) = (row.0 + cases, row.1 + since.elapsed());
    }

    pub(super) fn compared(&mut self, outcome: &Outcome, subject: &str, reference: &str) {
        let accepts = u64::from(outcome.verdict == Verdict::BothAccept);
        let refuses = u64::from(outcome.verdict == Verdict::BothRefuse);
        self.add(outcome.aspect, subject, reference, [1, accepts, refuses]);
    }

    /// Comparisons of one aspect: how many, both accept, both refuse.
    pub(super) fn add(&mut self, aspect: &'static str, subject: &str, reference: &str, more: [u64; 3]) {
        let key = (aspect_order(aspect), aspect, subject.to_owned(), reference.to_owned());
        let row = self.comparisons.entry(key).or_default();
        row.iter_mut().zip(more).for_each(|(sum, count)| *sum += count);
    }
}
