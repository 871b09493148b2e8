//! What several runs came to, one after the other.

use serde::Serialize;

use super::figures::{cases, verdict};
use super::results::Results;

/// Runs by the time they started, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct History {
    /// One a run.
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Run {
    /// Seconds since the Unix epoch at its start.
    pub started: u64,
    /// The commit that it ran on; none outside of a repository.
    pub commit: Option<String>,
    /// The seed of its cases.
    pub seed: u64,
    /// Cases of all kinds.
    pub cases: u64,
    /// Cases a second, by kind, in the order of its report; of the kinds that ran.
    pub rates: Vec<(String, f64)>,
    /// Pairs of its coverage that a case reached.
    pub reached: u64,
    /// Pairs of its coverage that can occur.
    pub possible: u64,
    /// Findings, by signature.
    pub findings: u64,
    /// Parts that did not run.
    pub not_run: u64,
    /// Its verdict, such as `no findings`.
    pub verdict: String,
}

impl History {
    /// The history of these runs, in whatever order they come.
    pub fn of(results: &[Results]) -> History {
        let mut runs: Vec<Run> = results.iter().map(Run::of).collect();
        runs.sort_by_key(|run| run.started);
        History { runs }
    }
}

impl Run {
    fn of(results: &Results) -> Run {
        let rate = |cases: u64| cases as f64 / results.seconds;
        let ran = results.lanes.iter().filter(|lane| lane.cases > 0);
        let rates = ran.map(|lane| (lane.name.clone(), rate(lane.cases)));
        let grids = &results.coverage.grids;
        Run {
            started: results.started,
            commit: results.commit.clone(),
            seed: results.seed,
            cases: cases(results),
            rates: rates.filter(|(_, rate)| rate.is_finite()).collect(),
            reached: grids.iter().map(|grid| grid.reached() as u64).sum(),
            possible: grids.iter().map(|grid| grid.possible() as u64).sum(),
            findings: results.findings.len() as u64,
            not_run: results.not_run.len() as u64,
            verdict: verdict(results).headline,
        }
    }
}
