//! What `lockstep bench` measured, as data: `reports/out/bench.json` is this (`bench` of `reports/results.schema.json`), and the terminal's
//! table and the page's bars are made of it.

use serde::{Deserialize, Serialize};

use super::results::NotRun;

/// The version of the JSON file.
pub const BENCH_FORMAT: u32 = 1;

/// Everything that one run of the benches measured, on one machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bench {
    /// [`BENCH_FORMAT`].
    pub format: u32,
    /// Whether each row was measured for a short time only, so that its figures are rough.
    pub quick: bool,
    /// One a function and input, grouped by `on` and `bytes`.
    pub rows: Vec<BenchRow>,
    /// What could not be measured, and what to do about it.
    pub not_run: Vec<NotRun>,
}

/// One function on one input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    /// What was timed, such as `decode`, `remap` or `rkyv`.
    pub what: String,
    /// On what: `render`, `compute`, `upload`, `recorded` or `refused` streams, `descriptors`, `layouts`.
    pub on: String,
    /// The length of the input in bytes; none of layouts, which are no bytes.
    pub bytes: Option<u64>,
    /// What is counted: `command`, `descriptor` or `layout`.
    pub unit: String,
    /// How many of them the input has.
    pub units: u64,
    /// Nanoseconds for each.
    pub ns: Spread,
    /// Gigabytes (10^9) of input in a second; none without `bytes`.
    pub gb_per_second: Option<f64>,
    /// Its speed beside others' on the same input, in the same run.
    pub beside: Vec<Ratio>,
    /// The goal for `ns.mid`, where it has one.
    pub at_most_ns: Option<f64>,
}

/// A figure with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Spread {
    pub low: f64,
    pub mid: f64,
    pub high: f64,
}

/// How many times as fast as another function a row is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The other row's `what`.
    pub to: String,
    /// The other's time over this row's: 2 is twice as fast. Its ends are those of both rows' intervals at their furthest.
    pub times: Spread,
    /// The goal for `times.mid`, where it has one.
    pub at_least: Option<f64>,
}

impl Ratio {
    /// Whether the goal is met; none without one.
    pub fn met(&self) -> Option<bool> {
        self.at_least.map(|goal| self.times.mid >= goal)
    }
}

impl BenchRow {
    /// Whether the goal for the time is met; none without one.
    pub fn met(&self) -> Option<bool> {
        self.at_most_ns.map(|goal| self.ns.mid <= goal)
    }
}
