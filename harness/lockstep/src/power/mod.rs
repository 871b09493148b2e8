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
pub mod table;

pub use copy::{NotBuilt, Workshop};
pub use hunt::{Hunt, References};

use std::path::Path;

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};

use crate::input;

/// The version of `power.json`.
pub const POWER_FORMAT: u32 = 1;

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
            outcome,
        }
    }

    /// Whether a table shows it by itself: every hand-made fault, and the mutants that are not simply found.
    pub fn is_listed(&self) -> bool {
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
    /// The seed of every campaign.
    pub seed: u64,
    /// The seconds that each campaign had at most; none where it had a number of cases.
    pub seconds_each: Option<f64>,
    /// The cases that each campaign had at most, as `run --cases` counts them; none where it had a time.
    pub cases_each: Option<u64>,
    /// Whether Ctrl-C ended it before every fault was measured.
    pub interrupted: bool,
    /// Each fault, in their order.
    pub rows: Vec<Row>,
    /// What `harness/power/unchanged.json` says and is not so: an entry that was found, or that is no mutant any more.
    pub stale: Vec<String>,
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
    let name = path.display();
    let text = input::text(path, MAX_FILE).with_context(|| format!("{name}: cannot read it"))?;
    let power: Power =
        serde_json::from_str(&text).with_context(|| format!("{name}: not the results of `lockstep power`"))?;
    ensure!(
        power.format == POWER_FORMAT,
        "{name}: version {}, and this program reads {POWER_FORMAT}",
        power.format
    );
    Ok(Some(power))
}
