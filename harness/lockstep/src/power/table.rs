//! The table for a terminal, and the sums that every report shows.

use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use console::truncate_str;

use super::{Outcome, Power, Row, Set};
use crate::report::figures::count;
use crate::report::results::Shards;
use crate::say::one_line;

/// The spans in which faults are counted, in seconds. The last is what a campaign has.
pub const SPANS: [u32; 3] = [1, 3, 10];

/// What a set of faults came to. Mutants that do not build are none, and are counted apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Sums {
    /// `hand-made faults` or `mutants`.
    pub name: &'static str,
    /// Those that build.
    pub of: usize,
    /// Seconds until each that was found was found, ascending.
    pub times: Vec<f64>,
    /// Those that no campaign can tell, each with a reason that is listed.
    pub listed: usize,
    /// Those that were missed.
    pub missed: usize,
    /// Those that do not apply or do not build, and should.
    pub broken: usize,
    /// Mutants that do not build.
    pub unviable: usize,
}

impl Sums {
    /// Of a set; none where nothing of it was measured.
    pub fn of(power: &Power, set: Set) -> Option<Sums> {
        let rows: Vec<&Row> = power.rows.iter().filter(|row| row.set == set).collect();
        let count = |is: fn(&Outcome) -> bool| rows.iter().filter(|row| is(&row.outcome)).count();
        let unviable = count(|outcome| matches!(outcome, Outcome::Unviable));
        let mut times: Vec<f64> = rows.iter().filter_map(|row| row.seconds()).collect();
        times.sort_by(f64::total_cmp);
        (!rows.is_empty()).then(|| Sums {
            name: match set {
                Set::Faults => "hand-made faults",
                Set::Mutants => "mutants",
            },
            of: rows.len() - unviable,
            times,
            listed: count(|outcome| matches!(outcome, Outcome::Listed { .. })),
            missed: count(|outcome| matches!(outcome, Outcome::Missed)),
            broken: count(|outcome| matches!(outcome, Outcome::Broken { .. })),
            unviable,
        })
    }

    /// Of each set that was measured.
    pub fn all(power: &Power) -> Vec<Sums> {
        let sets = [Set::Faults, Set::Mutants].into_iter();
        sets.filter_map(|set| Sums::of(power, set)).collect()
    }

    /// How many were found within so many seconds of their campaign.
    pub fn within(&self, seconds: u32) -> usize {
        self.times.partition_point(|&time| time <= f64::from(seconds))
    }

    /// The time within which so many tenths of those found were found.
    pub fn tenths(&self, tenths: usize) -> Option<f64> {
        self.times
            .get(self.times.len() * tenths / 10)
            .or(self.times.last())
            .copied()
    }
}

/// A time to a thousandth of a second.
pub fn milliseconds(seconds: f64) -> String {
    format!("{:.0} ms", 1000.0 * seconds)
}

/// An outcome in one piece: `found: ranges: …`.
pub fn said(outcome: &Outcome) -> String {
    match outcome.words() {
        (what, "") => what.to_owned(),
        (what, of_it) => one_line(&format!("{what}: {of_it}")).into_owned(),
    }
}

/// Why these are not all the faults, a sentence each; none where they are.
pub fn partial(power: &Power) -> Vec<String> {
    let Shards { of, ran } = &power.shards;
    let numbers = ran.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    let of_shards = format!("These are of {of} shards {numbers} alone.");
    let named = "These are faults that were named, and not all.".to_owned();
    let interrupted = "It was interrupted: not all were measured.".to_owned();
    [
        power.lacks_shards().then_some(of_shards),
        power.selected.then_some(named),
        power.interrupted.then_some(interrupted),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Of what found a fault so many columns are shown; power.json and the page have it whole.
const FOUND: usize = 72;

/// Every fault of harness/power/faults, the mutants that are not simply found, and the sums. The table is so many columns wide at most.
pub fn text(power: &Power, width: u16) -> String {
    let mut table = Table::new();
    table
        .load_preset(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    table.set_header(["fault", "area", "source", "outcome", "after", "", "made smaller"]);
    for row in power.rows.iter().filter(|row| row.is_shown()) {
        let [cases, time, size] = after(&row.outcome);
        let said = match said(&row.outcome) {
            said if row.seconds().is_some() => truncate_str(&said, FOUND, "…").into_owned(),
            said => said,
        };
        table.add_row([
            row.name.clone(),
            row.area.clone(),
            row.source.clone(),
            said,
            cases,
            time,
            size,
        ]);
    }
    let mut text = String::new();
    if table.row_count() > 0 {
        let _ = writeln!(text, "{table}\n");
    }
    for sums in Sums::all(power) {
        text += &line(&sums);
    }
    for stale in power
        .stale
        .iter()
        .map(|stale| format!("stale: {stale}"))
        .chain(partial(power))
    {
        let _ = writeln!(text, "{stale}");
    }
    text
}

/// How many cases, how long, and how large the smaller case is.
fn after(outcome: &Outcome) -> [String; 3] {
    let Outcome::Found(found) = outcome else {
        return Default::default();
    };
    let cases = format!("{} {}", found.cases, found.lane);
    [
        cases,
        milliseconds(found.seconds),
        found.size.clone().unwrap_or_default(),
    ]
}

fn line(sums: &Sums) -> String {
    let at = |tenths| sums.tenths(tenths).map(milliseconds);
    let times = match (at(5), at(9), at(10)) {
        (Some(half), Some(nine), Some(last)) => {
            format!("; half within {half}, nine in ten within {nine}, the last after {last}")
        }
        _ => String::new(),
    };
    let spans = SPANS
        .map(|seconds| format!("{} within {seconds} s", sums.within(seconds)))
        .join(", ");
    let unviable = match sums.unviable {
        0 => String::new(),
        more => format!("; {} build", count(more as u64, "more does not", "more do not")),
    };
    format!(
        "{} of {} {} found: {spans}{times}; {} listed with a reason, {} missed, {} broken{unviable}\n",
        sums.times.len(),
        sums.of,
        sums.name,
        sums.listed,
        sums.missed,
        sums.broken,
    )
}
