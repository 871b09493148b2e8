//! The table, for a terminal.

use std::fmt::Write as _;

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};

use super::{Outcome, Power, Row, Set};
use crate::say::one_line;

/// Every fault of harness/power/faults, the mutants that are not simply found, and the sums.
pub fn text(power: &Power) -> String {
    let mut table = Table::new();
    table
        .load_preset(NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["fault", "area", "source", "found by", "after", "", "made smaller"]);
    for row in power.rows.iter().filter(|row| row.is_listed()) {
        let [by, cases, time, size] = outcome(&row.outcome);
        table.add_row([
            row.name.clone(),
            row.area.clone(),
            row.source.clone(),
            one_line(&by).into_owned(),
            cases,
            time,
            size,
        ]);
    }
    let mut text = String::new();
    if table.row_count() > 0 {
        let _ = writeln!(text, "{table}\n");
    }
    for set in [Set::Faults, Set::Mutants] {
        text += &sums(power, set);
    }
    for stale in &power.stale {
        let _ = writeln!(text, "stale: {stale}");
    }
    text
}

fn outcome(outcome: &Outcome) -> [String; 4] {
    let only = |words: String| [words, String::new(), String::new(), String::new()];
    match outcome {
        Outcome::Found(found) => [
            found.signature.clone(),
            format!("{} {}", found.cases, found.lane),
            format!("{:.0} ms", 1000.0 * found.seconds),
            found.size.clone().unwrap_or_default(),
        ],
        Outcome::Missed => only("MISSED".into()),
        Outcome::Listed { why } => only(format!("listed: {why}")),
        Outcome::Unviable => only("does not build".into()),
        Outcome::Broken { why } => only(format!("BROKEN: {why}")),
    }
}

fn sums(power: &Power, set: Set) -> String {
    let rows: Vec<&Row> = power.rows.iter().filter(|row| row.set == set).collect();
    if rows.is_empty() {
        return String::new();
    }
    let count = |is: fn(&Outcome) -> bool| rows.iter().filter(|row| is(&row.outcome)).count();
    let found = count(|outcome| matches!(outcome, Outcome::Found(_)));
    let unviable = count(|outcome| matches!(outcome, Outcome::Unviable));
    let mut times: Vec<f64> = rows.iter().filter_map(|row| row.seconds()).collect();
    times.sort_by(f64::total_cmp);
    let at = |part: usize| {
        times
            .get(times.len() * part / 10)
            .or(times.last())
            .copied()
            .unwrap_or_default()
    };
    let name = match set {
        Set::Faults => "hand-made faults",
        Set::Mutants => "viable mutants",
    };
    format!(
        "{found} of {} {name} found, half within {:.0} ms, nine in ten within {:.0} ms, the last after {:.0} ms; {} listed, {} missed, {} broken{}\n",
        rows.len() - unviable,
        1000.0 * at(5),
        1000.0 * at(9),
        1000.0 * times.last().copied().unwrap_or_default(),
        count(|outcome| matches!(outcome, Outcome::Listed { .. })),
        count(|outcome| matches!(outcome, Outcome::Missed)),
        count(|outcome| matches!(outcome, Outcome::Broken { .. })),
        if unviable > 0 {
            format!("; {unviable} more do not build")
        } else {
            String::new()
        },
    )
}
