//! The history as lines: each figure that changes from run to run is a small drawing of its own.

use serde_json::{Value, json};

use crate::report::figures::{date, percent, thousands};
use crate::report::history::{History, Run};

/// The drawing's size, in its own units, and the room around the line.
const WIDTH: f64 = 280.0;
const HEIGHT: f64 = 64.0;
const ROOM: f64 = 6.0;

/// What the page shows of the history; null of fewer than two runs, which are none.
pub fn view(history: &History) -> Value {
    if history.runs.len() < 2 {
        return Value::Null;
    }
    json!({ "lines": lines(&history.runs), "runs": history.runs.iter().rev().map(row).collect::<Vec<_>>() })
}

fn row(run: &Run) -> Value {
    json!({
        "run": run,
        "date": date(run.started),
        "commit": run.commit.as_deref().map(short),
        "coverage": percent(run.reached, run.possible),
    })
}

/// A commit's name as git shortens it, with what stands behind it.
fn short(commit: &str) -> String {
    let (name, rest) = commit
        .split_once('-')
        .map_or((commit, ""), |(name, _)| (name, "-dirty"));
    name.chars().take(9).collect::<String>() + rest
}

/// Findings, coverage, and the rate of each kind of case that the last run had.
fn lines(runs: &[Run]) -> Vec<Value> {
    let whole = |number: f64| thousands(number.round() as u64);
    let coverage = |run: &Run| (run.possible > 0).then(|| 100.0 * run.reached as f64 / run.possible as f64);
    let mut lines = vec![
        line("findings", runs, |run| Some(run.findings as f64), whole),
        line("coverage", runs, coverage, |share| format!("{} %", share.floor())),
    ];
    let last = runs.last().map_or(&[][..], |run| &run.rates);
    for (lane, _) in last {
        let rate = |run: &Run| run.rates.iter().find(|(name, _)| name == lane).map(|(_, rate)| *rate);
        lines.push(line(&format!("{lane} a second"), runs, rate, whole));
    }
    lines
}

/// A figure of each run, from 0 to its greatest. A run without it has no point.
fn line(name: &str, runs: &[Run], of: impl Fn(&Run) -> Option<f64>, words: impl Fn(f64) -> String) -> Value {
    let known: Vec<(usize, f64)> = (0..).zip(runs).filter_map(|(at, run)| Some((at, of(run)?))).collect();
    let most = known.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let least = known.iter().map(|(_, value)| *value).fold(most, f64::min);
    let across = (WIDTH - 2.0 * ROOM) / (runs.len() - 1) as f64;
    let up = |value: f64| {
        if most > 0.0 {
            value / most * (HEIGHT - 2.0 * ROOM)
        } else {
            0.0
        }
    };
    let place = |&(at, value): &(usize, f64)| {
        let (x, y) = (ROOM + at as f64 * across, HEIGHT - ROOM - up(value));
        json!({ "x": format!("{x:.1}"), "y": format!("{y:.1}"), "says": format!("{}: {}", date(runs[at].started), words(value)) })
    };
    json!({
        "name": name,
        "last": known.last().map(|(_, value)| words(*value)),
        "least": words(least),
        "most": words(most),
        "points": known.iter().map(place).collect::<Vec<_>>(),
        "width": WIDTH,
        "height": HEIGHT,
        "floor": HEIGHT - ROOM,
    })
}
