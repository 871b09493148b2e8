//! What `lockstep bench` measured, as bars: each function beside the others on the same input.

use serde_json::{Value, json};

use crate::report::bench::{Bench, BenchRow, Spread};
use crate::report::figures::{count, thousands};

/// What the page shows of it: a group of bars an input.
pub fn view(bench: &Bench) -> Value {
    let groups = bench.rows.chunk_by(|a, b| (&a.on, a.bytes) == (&b.on, b.bytes));
    let ratios = bench
        .rows
        .iter()
        .flat_map(|row| &row.beside)
        .filter_map(|ratio| ratio.met());
    let goals: Vec<bool> = bench.rows.iter().filter_map(BenchRow::met).chain(ratios).collect();
    json!({
        "quick": bench.quick,
        "not_run": bench.not_run,
        "goals": goals.len(),
        "met": goals.iter().filter(|met| **met).count(),
        "groups": groups.map(group).collect::<Vec<_>>(),
    })
}

fn group(rows: &[BenchRow]) -> Value {
    // Where the input is bytes their speed is compared; else how many are done in a second.
    let speed = |row: &BenchRow| row.gb_per_second.unwrap_or(1.0 / row.ns.mid);
    let fastest = rows.iter().map(speed).fold(0.0, f64::max);
    let first = &rows[0];
    let name = match first.bytes {
        Some(bytes) => format!("{}, {}", first.on, size(bytes)),
        None => first.on.clone(),
    };
    let bar = |row: &BenchRow| {
        json!({
            "what": row.what,
            "unit": row.unit,
            "ns": figure(row.ns.mid),
            "spread": spread(&row.ns),
            "gb": row.gb_per_second.map(figure),
            "length": if fastest > 0.0 { (speed(row) / fastest * 100.0).clamp(0.5, 100.0) } else { 0.5 },
            "goals": goals(row),
            "measured": !row.beside.is_empty() || row.at_most_ns.is_some(),
        })
    };
    let bytes = first.bytes.map(|bytes| count(bytes, "byte", "bytes"));
    let units = count(first.units, &first.unit, &format!("{}s", first.unit));
    json!({
        "name": name,
        "facts": bytes.into_iter().chain([units]).collect::<Vec<_>>(),
        "bars": rows.iter().map(bar).collect::<Vec<_>>(),
    })
}

/// Each ratio, and what has a goal as (words, whether it is met; null without a goal).
fn goals(row: &BenchRow) -> Vec<(String, Option<bool>)> {
    let time = row
        .at_most_ns
        .map(|goal| (format!("at most {} ns", figure(goal)), row.met()));
    let ratios = row.beside.iter().map(|ratio| {
        let goal = ratio
            .at_least
            .map_or(String::new(), |goal| format!(", goal {}", figure(goal)));
        let words = format!(
            "{} × {} ({}){goal}",
            figure(ratio.times.mid),
            ratio.to,
            spread(&ratio.times)
        );
        (words, ratio.met())
    });
    time.into_iter().chain(ratios).collect()
}

fn spread(spread: &Spread) -> String {
    format!("{}–{}", figure(spread.low), figure(spread.high))
}

/// Three digits or so.
fn figure(number: f64) -> String {
    match number {
        ..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => thousands(number.round() as u64),
    }
}

/// A length of bytes: `64 KiB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
