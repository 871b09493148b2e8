//! What `lockstep power` measured: of the faults that were planted, how many the campaign found, and how soon.

use serde_json::{Value, json};

use crate::power::table::{SPANS, Sums, milliseconds, partial};
use crate::power::{Outcome, Power, Row};
use crate::report::figures::{count, percent};

/// What the page shows of it: the sums of each set, every hand-made fault and what else stands against the campaign, the worst first, and
/// what is listed with a reason.
pub fn view(power: &Power) -> Value {
    let (listed, mut shown): (Vec<&Row>, Vec<&Row>) = power
        .rows
        .iter()
        .filter(|row| row.is_shown())
        .partition(|row| matches!(row.outcome, Outcome::Listed { .. }));
    shown.sort_by_key(|row| !row.is_bad());
    json!({
        "partial": partial(power),
        "commits": power.commits,
        "stale": power.stale,
        "sets": Sums::all(power).iter().map(sums).collect::<Vec<_>>(),
        "rows": shown.into_iter().map(row).collect::<Vec<_>>(),
        "listed": listed.into_iter().map(row).collect::<Vec<_>>(),
    })
}

fn sums(sums: &Sums) -> Value {
    let found = sums.times.len();
    let share = |number: usize| 100.0 * number as f64 / sums.of.max(1) as f64;
    let spans = SPANS.map(|seconds| (seconds, sums.within(seconds), share(sums.within(seconds))));
    json!({
        "name": sums.name,
        "found": found,
        "of": sums.of,
        "percent": percent(found as u64, sums.of as u64),
        "spans": spans,
        "half": sums.tenths(5).map(milliseconds),
        "last": sums.tenths(10).map(milliseconds),
        "listed": sums.listed,
        "missed": sums.missed,
        "broken": sums.broken,
        "unviable": sums.unviable,
    })
}

fn row(row: &Row) -> Value {
    let (outcome, words) = row.outcome.words();
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
    json!({ "row": row, "outcome": outcome, "words": words, "after": after, "bad": row.is_bad() })
}
