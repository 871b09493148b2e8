//! From where a campaign that was ended goes on.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::report::results::Results;

/// A campaign after some of its rounds. The rest of them, added to it, comes to what all of them in one go come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The rounds.
    pub rounds: Rounds,
    /// What they came to.
    pub results: Results,
}

/// The rounds of a shard that are finished. Workers finish them out of order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rounds {
    /// From one round of the shard to the next: the number of shards.
    step: u64,
    /// Every round of the shard below this one is finished,
    below: u64,
    /// and of the others these.
    beyond: BTreeSet<u64>,
}

impl Rounds {
    /// None of the rounds of shard (i, n).
    pub fn none((first, step): (u64, u64)) -> Rounds {
        Rounds {
            step: step.max(1),
            below: first,
            beyond: BTreeSet::new(),
        }
    }

    /// Whether they can be rounds of shard (i, n): a file may say anything.
    pub fn are_of(&self, (first, step): (u64, u64)) -> bool {
        let of_shard = |round: &u64| *round < 1 << 53 && *round >= first && (round - first).is_multiple_of(step.max(1));
        self.step == step.max(1)
            && of_shard(&self.below)
            && self.beyond.iter().all(|round| of_shard(round) && *round > self.below)
    }

    /// The first round that is not finished.
    pub fn next(&self) -> u64 {
        self.below
    }

    /// Whether a round of the shard is finished.
    pub fn has(&self, round: u64) -> bool {
        round < self.below || self.beyond.contains(&round)
    }

    /// A round is finished.
    pub fn finish(&mut self, round: u64) {
        self.beyond.insert(round);
        while self.beyond.remove(&self.below) {
            self.below += self.step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_finish_out_of_order() {
        let mut rounds = Rounds::none((1, 3));
        for round in [4, 10, 1] {
            rounds.finish(round);
        }
        assert_eq!(rounds.next(), 7, "1 and 4 are finished");
        assert_eq!(
            [1, 4, 7, 10, 13].map(|round| rounds.has(round)),
            [true, true, false, true, false]
        );
        assert!(rounds.are_of((1, 3)) && !rounds.are_of((0, 3)) && !rounds.are_of((1, 2)));
        let twice = Rounds {
            beyond: BTreeSet::from([7]),
            ..rounds.clone()
        };
        assert!(!twice.are_of((1, 3)), "7 is the first that is not finished");
        rounds.finish(7);
        assert_eq!(rounds, Rounds::none((13, 3)));
    }
}
