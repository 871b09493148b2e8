//! What `lockstep power` measured: of the faults that were planted, how many the campaign found, and how soon.

use serde_json::{Value, json};

use crate::power::{Outcome, Power, Row, Set};
use crate::report::figures::{count, percent};

/// What the page shows of it: the sums of each set, every hand-made fault, and of the mutants those that are not simply found.
pub fn view(power: &Power) -> Value {
    let sets = [(Set::Faults, "hand-made faults"), (Set::Mutants, "mutants")];
    json!({
        "interrupted": power.interrupted,
        "stale": power.stale,
        "sets": sets.into_iter().filter_map(|(set, name)| sums(power, set, name)).collect::<Vec<_>>(),
        "rows": power.rows.iter().filter(|row| row.is_listed()).map(row).collect::<Vec<_>>(),
    })
}

/// Of the faults of a set that build; none of a set that was not measured.
fn sums(power: &Power, set: Set, name: &str) -> Option<Value> {
    let built = |row: &&Row| row.set == set && !matches!(row.outcome, Outcome::Unviable);
    let rows: Vec<&Row> = power.rows.iter().filter(built).collect();
    let mut times: Vec<f64> = rows.iter().filter_map(|row| row.seconds()).collect();
    times.sort_by(f64::total_cmp);
    let missed = rows.iter().filter(|row| row.is_bad()).count();
    (!rows.is_empty()).then(|| {
        json!({
            "name": name,
            "found": times.len(),
            "of": rows.len(),
            "percent": percent(times.len() as u64, rows.len() as u64),
            "missed": missed,
            "half": times.get(times.len() / 2).copied().map(milliseconds),
            "last": times.last().copied().map(milliseconds),
        })
    })
}

fn row(row: &Row) -> Value {
    let (verdict, words) = match &row.outcome {
        Outcome::Found(found) => ("found", found.signature.clone()),
        Outcome::Missed => ("missed", String::new()),
        Outcome::Listed { why } => ("listed", why.clone()),
        Outcome::Unviable => ("does not build", String::new()),
        Outcome::Broken { why } => ("broken", why.clone()),
    };
    let after = match &row.outcome {
        Outcome::Found(found) => {
            let cases = count(found.cases, "case", "cases");
            let size = found
                .size
                .as_ref()
                .map_or(String::new(), |size| format!(", {size} when minimised"));
            format!("{cases} of {}, {}{size}", found.lane, milliseconds(found.seconds))
        }
        _ => String::new(),
    };
    json!({ "row": row, "verdict": verdict, "words": words, "after": after, "bad": row.is_bad() })
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.0} ms", 1000.0 * seconds)
}
