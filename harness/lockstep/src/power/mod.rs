//! Detection power: what share of faulty implementations a campaign finds, how fast, and which it misses.
//!
//! A faulty implementation is a copy of `wire`, `mslmap` and `subject` with one change, built and served over `reference/PROTOCOL.md`. The
//! campaign is that of `run`, with it in the place of the subject: it meets the references and wgpu's noop backend, and never the crates
//! without the change. The changes are the patches of `harness/power/faults`, modelled on public bugs, and the mutants of cargo-mutants.
//!
//! **Does not measure** what only an engine that executes finds: that would be a fault of what engine and shadow are told, which comes from
//! the same words. Nor binds and the MSL of shaders: the protocol does not carry them, and whose numbers they use is asked of layouts.

mod copy;
pub mod faults;
mod hunt;
mod merge;
pub mod table;

pub use copy::{NotBuilt, Workshop};
pub use hunt::{Hunt, References};
pub use merge::merge;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, anyhow, ensure};
use serde::{Deserialize, Serialize};

use crate::input;
use crate::report::checked;
use crate::report::results::Shards;

/// The file's name in the folder of the report.
pub const NAME: &str = "power.json";
/// The version of `power.json`.
pub const POWER_FORMAT: u32 = 2;

/// Where the changes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Set {
    /// The patches of harness/power/faults, modelled on public bugs
    Faults,
    /// The mutants that cargo-mutants makes of `wire` and `mslmap`
    Mutants,
}

/// One change to a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its name: the patch's, or the mutant's file and change.
    pub name: String,
    /// Where it comes from.
    pub set: Set,
    /// The part that it is in, such as `ranges`.
    pub area: String,
    /// The public bug that it is modelled on.
    pub source: String,
    /// What it does, in a line.
    pub what: String,
    /// A unified diff, its files named from the repository's root.
    pub patch: String,
    /// Why no campaign can find it; of mutants alone.
    pub reason: Option<String>,
}

impl Fault {
    /// What a result goes by beside the name: FNV-1a over the patch, in hexadecimal digits. A name may stay while what it stands for
    /// changes.
    pub fn change(&self) -> String {
        let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        format!("{:016x}", self.patch.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
    }
}

/// What came of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// The campaign found it.
    Found(Found),
    /// It did not, and no reason is listed.
    Missed,
    /// It did not, and could not: the reason is listed in `harness/power/unchanged.json`.
    Listed {
        /// The reason.
        why: String,
    },
    /// A mutant that does not build is none.
    Unviable,
    /// A patch that does not apply or does not build.
    Broken {
        /// Why, in a line.
        why: String,
    },
}

impl Outcome {
    /// It in words, alike wherever it is shown: what came of it, and what is to be said of that, if anything.
    pub fn words(&self) -> (&'static str, &str) {
        match self {
            Outcome::Found(found) => ("found", &found.signature),
            Outcome::Missed => ("missed", ""),
            Outcome::Listed { why } => ("listed", why),
            Outcome::Unviable => ("does not build", ""),
            Outcome::Broken { why } => ("broken", why),
        }
    }
}

/// What found it, and how fast.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The first finding.
    pub signature: String,
    /// The lane whose case shows it; none where no case was kept.
    pub lane: String,
    /// How many cases of the lane were made up to that one, and with it.
    pub cases: u64,
    /// Seconds since the campaign's start.
    pub seconds: f64,
    /// How large the case is, made smaller: `2 commands, 1 object`; none where that was not asked for, or the case alone does not show it.
    pub size: Option<String>,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// [`Fault::name`].
    pub name: String,
    /// [`Fault::set`].
    pub set: Set,
    /// [`Fault::area`].
    pub area: String,
    /// [`Fault::source`].
    pub source: String,
    /// [`Fault::what`].
    pub what: String,
    /// [`Fault::change`].
    pub change: String,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

impl Row {
    /// The row of a fault.
    pub fn of(fault: &Fault, outcome: Outcome) -> Row {
        Row {
            name: fault.name.clone(),
            set: fault.set,
            area: fault.area.clone(),
            source: fault.source.clone(),
            what: fault.what.clone(),
            change: fault.change(),
            outcome,
        }
    }

    /// Whether a table shows it by itself: every hand-made fault, and the mutants that are not simply found.
    pub fn is_shown(&self) -> bool {
        self.set == Set::Faults || !matches!(self.outcome, Outcome::Found(_) | Outcome::Unviable)
    }

    /// Seconds until it was found.
    pub fn seconds(&self) -> Option<f64> {
        match &self.outcome {
            Outcome::Found(found) => Some(found.seconds),
            _ => None,
        }
    }

    /// Whether it stands against the campaign, or against the list of faults.
    pub fn is_bad(&self) -> bool {
        matches!(self.outcome, Outcome::Missed | Outcome::Broken { .. })
    }
}

/// `power.json`: `reports/power.schema.json` is its shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Power {
    /// [`POWER_FORMAT`].
    pub format: u32,
    /// The program's version.
    pub version: String,
    /// The commits at which the rows were measured: several where `--resume` went on at another. None outside of a repository.
    pub commits: Vec<String>,
    /// The parts of the faults that these rows are of.
    pub shards: Shards,
    /// The seed of every campaign.
    pub seed: u64,
    /// The seconds that each campaign had at most; none where it had a number of cases.
    pub seconds_each: Option<f64>,
    /// The cases that each campaign had at most, as `run --cases` counts them; none where it had a time.
    pub cases_each: Option<u64>,
    /// Whether Ctrl-C ended it before every fault was measured; of merged shards, one of them.
    pub interrupted: bool,
    /// Whether faults were named, and others are not among the rows.
    #[serde(default)]
    pub selected: bool,
    /// Each fault, in their order.
    pub rows: Vec<Row>,
    /// What `harness/power/unchanged.json` says and is not so: an entry that was found, or that is no mutant any more.
    pub stale: Vec<String>,
}

impl Power {
    /// Whether it lacks a shard.
    pub fn lacks_shards(&self) -> bool {
        (self.shards.ran.len() as u64) < self.shards.of
    }
}

/// The longest `power.json` that is read.
const MAX_FILE: u64 = 64 << 20;

/// Reads a `power.json`; nothing where there is none.
///
/// # Errors
///
/// It cannot be read, is none, or is of another version. One line that names the path.
pub fn read(path: &Path) -> anyhow::Result<Option<Power>> {
    if !path.exists() {
        return Ok(None);
    }
    let name = path.display().to_string();
    let text = input::text(path, MAX_FILE).with_context(|| format!("{name}: cannot read it"))?;
    checked(&name, &text, POWER_FORMAT)?;
    let power: Power = serde_json::from_str(&text)
        .map_err(|error| anyhow!("{name}: not the results of `lockstep power`: {}", input::plainly(error)))?;
    let Shards { of, ran } = &power.shards;
    let are_shards = ran.is_sorted_by(|one, next| one < next) && ran.iter().all(|shard| shard < of);
    let names: BTreeSet<_> = power.rows.iter().map(|row| &row.name).collect();
    for (holds, what) in [
        (are_shards, "shards.ran is not in order, each once and below shards.of"),
        (names.len() == power.rows.len(), "a name stands in two rows"),
        (
            power.seconds_each.is_none() || power.cases_each.is_none(),
            "seconds_each and cases_each are both set",
        ),
    ] {
        ensure!(holds, "{name}: it contradicts itself: {what}");
    }
    Ok(Some(power))
}
