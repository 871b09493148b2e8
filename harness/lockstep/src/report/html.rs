//! The results as one HTML page that needs nothing else.

mod past;
mod power;
mod throughput;

use std::cmp::Reverse;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Output, State, UndefinedBehavior, Value};
use serde_json::json;

use super::figures::{
    Tone, answered_strictly, asked, by_count, cases, count, date, open_rules, percent, plain, rate, span, thousands,
    verdict,
};
use super::history::History;
use super::results::{EngineRow, Evidence, FindingRow, Grid, Lane, RecordingRow, Results};

const TEMPLATE: &str = include_str!("../../../../reports/report.html.jinja");
const STYLE: &str = include_str!("../../../../reports/report.css");
/// What the copy buttons do. The page's own rule names its hash, so that no other script runs in it.
const SCRIPT: &str = include_str!("../../../../reports/report.js");
/// The template's name. Its end is what turns escaping on.
const NAME: &str = "report.html";

/// The page of a run, and what the runs before it came to; a history of fewer than two runs is not shown. Every text in it is escaped.
///
/// # Panics
///
/// Not by its input: the template takes any results.
pub fn page(results: &Results, history: &History) -> String {
    environment()
        .get_template(NAME)
        .and_then(|template| template.render(view(results, history)))
        .expect("the template takes any results")
}

fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    env.set_syntax(syntax.expect("the usual delimiters"));
    env.set_formatter(shown_plainly);
    env.add_filter("thousands", thousands);
    env.add_filter("span", |seconds: Option<f64>| seconds.map_or("–".to_owned(), span));
    env.add_filter("counted", |number: u64, one: String, many: String| {
        count(number, &one, &many)
    });
    env.add_global("style", Value::from_safe_string(STYLE.trim().into()));
    env.add_global("script", Value::from_safe_string(SCRIPT.trim().into()));
    env.add_template(NAME, TEMPLATE).expect("the template is well formed");
    env
}

/// Spells out what would not show as it is written, then escapes. What a macro wrote went through here already, piece by piece.
fn shown_plainly(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    let text = value
        .as_str()
        .filter(|_| !value.is_safe())
        .map(|text| Value::from(plain(text)));
    minijinja::escape_formatter(out, state, text.as_ref().unwrap_or(value))
}

/// The results, and what is worked out from them.
fn view(results: &Results, history: &History) -> Value {
    let verdict = verdict(results);
    let tone = match verdict.tone {
        Tone::Good => "good",
        Tone::Caution => "caution",
        Tone::Bad => "bad",
    };
    let (replayed, idle): (Vec<_>, Vec<_>) = results.engines.iter().partition(|engine| engine.replays > 0);
    let grids = &results.coverage.grids;
    // A table of one column is a list: its names are long, and there are many.
    let (lists, mut tables): (Vec<&Grid>, Vec<&Grid>) = grids.iter().partition(|grid| grid.columns.len() == 1);
    // The widest has a row of the page to itself, and smaller ones stand side by side.
    tables.sort_by_key(|grid| (grid.rows.len() == 1, Reverse(grid.columns.len())));
    Value::from(Serde(json!({
        "r": results,
        "tone": tone,
        "headline": capital(&verdict.headline),
        "beside": verdict.beside,
        "cases": cases(results),
        "again": again(results),
        "started": date(results.started),
        "tiles": tiles(results),
        "lanes": lanes(results),
        "differ": results.comparisons.iter().map(|row| row.differ()).collect::<Vec<_>>(),
        "findings": results.findings.iter().map(finding).collect::<Vec<_>>(),
        "msl_refused": by_count(&results.msl.refused),
        "open": open_rules(&results.engines),
        "recordings": results.recordings.iter().map(recording).collect::<Vec<_>>(),
        "engines": replayed.into_iter().map(engine).collect::<Vec<_>>(),
        "idle": idle,
        "asked": {
            "gpu": asked(results, &["replays"]),
            "strict": answered_strictly(&results.engines),
            "slots": asked(results, &["layouts", "binds"]),
            "shaders": asked(results, &["shaders"]),
        },
        "grids": tables.into_iter().map(grid).collect::<Vec<_>>(),
        "lists": lists.into_iter().map(grid).collect::<Vec<_>>(),
        "bench": results.bench.as_ref().map(throughput::view),
        "power": results.power.as_ref().map(power::view),
        "past": past::view(history),
    })))
}

/// An engine, with what it refused by rule, the most frequent first.
fn engine(engine: &EngineRow) -> serde_json::Value {
    json!({ "row": engine, "left_to_device": by_count(&engine.left_to_device) })
}

/// A recording, and of each engine whether what it refuses and what differs on it are faults.
fn recording(row: &RecordingRow) -> serde_json::Value {
    let engines = row.engines.iter();
    let engines = engines.map(|engine| (engine, row.refusals_count(engine), row.differences_count(engine)));
    json!({ "row": row, "not_carried": row.not_carried_in_words(), "engines": engines.collect::<Vec<_>>() })
}

/// A finding, with its evidence line by line.
fn finding(finding: &FindingRow) -> serde_json::Value {
    json!({ "row": finding, "evidence": finding.evidence.as_ref().map(evidence) })
}

/// The case's lines as (whether it is marked, text), its objects, and the parts whose answers differ as (part, answers, whether they differ).
fn evidence(evidence: &Evidence) -> serde_json::Value {
    let lines = evidence.text.lines();
    let lines = lines.map(|line| (line.starts_with('>') || line.ends_with("<-"), line));
    let answers = evidence.answers.iter().map(|row| {
        let differ = row.says.windows(2).any(|pair| pair[0] != pair[1]);
        (&row.part, &row.says, differ)
    });
    json!({
        "lines": lines.collect::<Vec<_>>(),
        "objects": evidence.objects.lines().collect::<Vec<_>>(),
        "readers": evidence.readers,
        "answers": answers.collect::<Vec<_>>(),
    })
}

/// Each kind of case, its rate, and the length of its bar in percent of the fastest.
fn lanes(results: &Results) -> Vec<(&Lane, Option<String>, f64)> {
    let most = results.lanes.iter().map(|lane| lane.cases).max().unwrap_or(0).max(1);
    let share = |cases: u64| 100.0 * cases as f64 / most as f64;
    let rows = results.lanes.iter();
    rows.map(|lane| (lane, rate(lane.cases, results.seconds), share(lane.cases)))
        .collect()
}

/// What the run's command makes when it is run again.
fn again(results: &Results) -> &'static str {
    match results.command.contains(" --time ") {
        _ if !results.recordings.is_empty() => "This replays the same recordings:",
        true => "The same cases in the same order, as many as fit in the time; `--cases N --seed S` makes exactly N:",
        false => "This makes the same cases on any machine:",
    }
}

/// The key numbers of what was asked for: (name, number, what is beside it).
fn tiles(results: &Results) -> Vec<(&str, String, String)> {
    let engines = |number: fn(&EngineRow) -> u64| results.engines.iter().map(number).sum::<u64>();
    let compared = results.comparisons.iter().map(|row| row.compared).sum();
    let differ: u64 = results.comparisons.iter().map(|row| row.differ()).sum();
    let (reached, possible) = results.coverage.grids.iter().fold((0, 0), |(reached, possible), grid| {
        (reached + grid.reached() as u64, possible + grid.possible() as u64)
    });
    let (gpu, shaders) = (asked(results, &["replays"]), asked(results, &["shaders"]));
    let rate = rate(cases(results), results.seconds).map_or(String::new(), |rate| format!("{rate} a second"));
    let replayed = count(results.engines.len() as u64, "engine", "engines");
    let translated = count(results.msl.translated, "entry point", "entry points");
    let number = |name, number, beside| (name, thousands(number), beside);
    let tiles = [
        (true, number("cases", cases(results), rate)),
        (
            compared > 0,
            number("answers compared", compared, format!("{} differ", thousands(differ))),
        ),
        (
            shaders,
            number(
                "MSL arguments checked",
                results.msl.arguments,
                format!("in {translated}"),
            ),
        ),
        (
            gpu,
            number(
                "streams replayed",
                engines(|engine| engine.replays),
                format!("on {replayed}"),
            ),
        ),
        (
            gpu,
            number(
                "bytes compared",
                engines(|engine| engine.bytes_compared),
                "with the shadow model".into(),
            ),
        ),
        (
            possible > 0,
            (
                "coverage",
                percent(reached, possible),
                format!("{} of {}", thousands(reached), thousands(possible)),
            ),
        ),
    ];
    tiles
        .into_iter()
        .filter(|(shown, _)| *shown)
        .map(|(_, tile)| tile)
        .collect()
}

/// A grid with its cells' looks.
fn grid(grid: &Grid) -> serde_json::Value {
    let (reached, possible) = (grid.reached() as u64, grid.possible() as u64);
    let most = grid.cells.iter().flatten().flatten().copied().max().unwrap_or(0);
    let looks = |cells: &Vec<Option<u64>>| cells.iter().map(|&cell| (look(cell, most), cell)).collect::<Vec<_>>();
    let rows = grid
        .rows
        .iter()
        .zip(&grid.cells)
        .map(|(name, cells)| (name, looks(cells)));
    let (of_rows, of_columns) = grid.name.split_once(" by ").unwrap_or((&grid.name, ""));
    json!({
        "name": capital(&grid.name),
        "of_rows": of_rows,
        "of_columns": of_columns,
        "columns": grid.columns,
        "rows": rows.collect::<Vec<_>>(),
        "reached": reached,
        "possible": possible,
        "percent": percent(reached, possible),
        "missed": grid.missed(),
    })
}

/// A cell's class: `never` where the pair cannot occur, `missed` where it can and did not, else `h1` to `h5`, by the
/// logarithm of its count.
fn look(cell: Option<u64>, most: u64) -> &'static str {
    let Some(count) = cell else { return "never" };
    if count == 0 {
        return "missed";
    }
    let share = if most > 1 {
        (count as f64).ln() / (most as f64).ln()
    } else {
        0.5
    };
    ["h1", "h2", "h3", "h4", "h5"][((share * 5.0) as usize).min(4)]
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
