//! The results as one HTML page that needs nothing else.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{Environment, Output, State, UndefinedBehavior, Value};
use serde_json::json;

use super::figures::{Tone, by_count, cases, count, date, open_rules, percent, plain, rate, span, thousands, verdict};
use super::results::{EngineRow, Grid, Results};

const TEMPLATE: &str = include_str!("../../../../reports/report.html.jinja");
/// The template's name. Its end is what turns escaping on.
const NAME: &str = "report.html";

/// The page. Every text in it is escaped.
///
/// # Panics
///
/// Not by its input: the template takes any results.
pub fn page(results: &Results) -> String {
    environment()
        .get_template(NAME)
        .and_then(|template| template.render(view(results)))
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
fn view(results: &Results) -> Value {
    let verdict = verdict(results);
    let tone = match verdict.tone {
        Tone::Good => "good",
        Tone::Caution => "caution",
        Tone::Bad => "bad",
    };
    let left_to_device = results.engines.iter().map(|engine| by_count(&engine.left_to_device));
    Value::from(Serde(json!({
        "r": results,
        "tone": tone,
        "headline": capital(&verdict.headline),
        "beside": verdict.beside,
        "cases": cases(results),
        "again": again(&results.command),
        "started": date(results.started),
        "tiles": tiles(results),
        "rates": rates(results),
        "differ": results.comparisons.iter().map(|row| row.differ()).collect::<Vec<_>>(),
        "msl_refused": by_count(&results.msl.refused),
        "open": open_rules(&results.engines),
        "left_to_device": left_to_device.collect::<Vec<_>>(),
        "grids": results.coverage.grids.iter().map(grid).collect::<Vec<_>>(),
    })))
}

/// What the run's command makes when it is run again.
fn again(command: &str) -> &'static str {
    match command.contains(" --time ") {
        true => "The same cases in the same order, as many as fit in the time; `--cases N --seed S` makes exactly N:",
        false => "This makes the same cases on any machine:",
    }
}

/// The key numbers: (name, number, what is beside it).
fn tiles(results: &Results) -> Vec<(&str, String, String)> {
    let engines = |number: fn(&EngineRow) -> u64| results.engines.iter().map(number).sum::<u64>();
    let compared = results.comparisons.iter().map(|row| row.compared).sum();
    let differ: u64 = results.comparisons.iter().map(|row| row.differ()).sum();
    let (reached, possible) = results.coverage.grids.iter().fold((0, 0), |(reached, possible), grid| {
        (reached + grid.reached(), possible + grid.possible())
    });
    let rate = rate(cases(results), results.seconds).map_or(String::new(), |rate| format!("{rate} a second"));
    vec![
        ("cases", thousands(cases(results)), rate),
        (
            "answers compared",
            thousands(compared),
            format!("{} differ", thousands(differ)),
        ),
        (
            "MSL arguments checked",
            thousands(results.msl.arguments),
            format!("in {}", count(results.msl.translated, "entry point", "entry points")),
        ),
        (
            "streams replayed",
            thousands(engines(|engine| engine.replays)),
            format!("on {}", count(results.engines.len() as u64, "engine", "engines")),
        ),
        (
            "bytes compared",
            thousands(engines(|engine| engine.bytes_compared)),
            "with the shadow model".to_owned(),
        ),
        (
            "coverage",
            if possible == 0 {
                "–".to_owned()
            } else {
                percent(reached as u64, possible as u64)
            },
            format!("{} of {}", thousands(reached as u64), thousands(possible as u64)),
        ),
    ]
}

fn rates(results: &Results) -> Vec<Option<String>> {
    results
        .lanes
        .iter()
        .map(|lane| rate(lane.cases, results.seconds))
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
