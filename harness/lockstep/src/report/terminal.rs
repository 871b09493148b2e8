//! The summary at the end of a run, for a terminal.

use console::{Alignment, Style, measure_text_width, pad_str, truncate_str};

use super::figures::{
    Tone, answered_strictly, asked, cases, count, open_rules, percent, plain, rate, span, thousands, verdict,
};
use super::results::{
    Comparison, EngineRow, FindingRow, Grid, Lane, Msl, NotRun, Open, RecordedRow, RecordingRow, Results,
};
use crate::ledger::LedgerRow;
use crate::oracles::msl::apple::CHECK;

/// Columns that the summary keeps to; a command to copy may be longer.
const WIDTH: usize = 100;
/// Lines listed of what an engine makes of a recording otherwise.
const NAMES: usize = 8;
/// Findings listed; the report on disk has them all.
const FINDINGS: usize = 20;

const STRICT_NOT_ANSWERED: &str = "not answered: the subject has none, or failed each time";

/// The summary, ending in a line with the verdict: what a person wants to know at the end of a run; the page has all of it. Coloured when
/// asked, whatever the terminal is.
pub fn summary(results: &Results, color: bool) -> String {
    let paint = Paint(color);
    let mut out = vec![head(results, paint)];
    section(&mut out, paint, "Cases", lanes(results, paint));
    // A part that was not asked for is not printed as empty.
    let part = |asked: bool, lines: Vec<String>| if asked { lines } else { Vec::new() };
    let any = !results.lanes.is_empty();
    let compared = part(any, comparisons(&results.comparisons, paint));
    section(&mut out, paint, "Comparisons", compared);
    let slots = part(asked(results, &["layouts", "binds"]), ledger(&results.ledger, paint));
    section(&mut out, paint, "Ledger", slots);
    let shaders = part(asked(results, &["shaders"]), msl(results, paint));
    section(&mut out, paint, "MSL", shaders);
    let replays = part(asked(results, &["replays"]), gpu(&results.engines, paint));
    section(&mut out, paint, "GPU", replays);
    section(&mut out, paint, "Strict check", strict(&results.engines, paint));
    let covered = part(
        any && results.recordings.is_empty(),
        coverage(&results.coverage.grids, paint),
    );
    section(&mut out, paint, "Coverage", covered);
    for row in &results.recordings {
        section(
            &mut out,
            paint,
            &format!("Recording {}", plain(&row.folder)),
            recording(row, paint),
        );
    }
    section(&mut out, paint, "Not run", not_run(&results.not_run, paint));
    section(&mut out, paint, "Findings", findings(&results.findings, paint));
    out.push(String::new());
    out.extend(last_lines(results, paint));
    out.push(String::new());
    out.join("\n")
}

/// What is left of it with `--quiet`: what did not run, the findings, and the verdict.
pub fn brief(results: &Results, color: bool) -> String {
    let paint = Paint(color);
    let mut out = Vec::new();
    section(&mut out, paint, "Not run", not_run(&results.not_run, paint));
    section(&mut out, paint, "Findings", findings(&results.findings, paint));
    if !out.is_empty() {
        out.push(String::new());
    }
    out.extend(last_lines(results, paint));
    out.push(String::new());
    out.join("\n").trim_start().to_owned()
}

/// Whether to colour.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn with(self, style: Style, text: impl AsRef<str>) -> String {
        style.force_styling(self.0).apply_to(text.as_ref()).to_string()
    }

    fn strong(self, text: impl AsRef<str>) -> String {
        self.with(Style::new().bold(), text)
    }

    fn faint(self, text: impl AsRef<str>) -> String {
        self.with(Style::new().dim(), text)
    }

    fn tone(self, tone: Tone, text: impl AsRef<str>) -> String {
        let style = match tone {
            Tone::Good => Style::new().green(),
            Tone::Caution => Style::new().yellow(),
            Tone::Bad => Style::new().red().bold(),
        };
        self.with(style, text)
    }

    /// A count that should be 0.
    fn unwanted(self, number: u64) -> String {
        let text = thousands(number);
        if number > 0 { self.tone(Tone::Bad, text) } else { text }
    }
}

fn section(out: &mut Vec<String>, paint: Paint, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    out.push(String::new());
    out.push(paint.strong(title));
    out.extend(
        lines
            .into_iter()
            .map(|line| if line.is_empty() { line } else { format!("  {line}") }),
    );
}

fn head(results: &Results, paint: Paint) -> String {
    let version = paint.strong(format!("lockstep {}", plain(&results.version)));
    if !results.recordings.is_empty() {
        let recordings = count(results.recordings.len() as u64, "recording", "recordings");
        return format!("{version}, {recordings}, {}", span(results.seconds));
    }
    format!(
        "{version}, seed {}, {}, {}",
        results.seed,
        count(results.workers as u64, "worker", "workers"),
        span(results.seconds),
    )
}

/// What a reader has to know beside the verdict, and the verdict.
fn last_lines(results: &Results, paint: Paint) -> Vec<String> {
    let verdict = verdict(results);
    let mut lines = Vec::new();
    if !verdict.beside.is_empty() {
        lines.push(verdict.beside.join("; "));
    }
    let cases = cases(results);
    let of = if cases > 0 {
        format!(" in {}", count(cases, "case", "cases"))
    } else {
        String::new()
    };
    lines.push(paint.tone(verdict.tone, verdict.headline) + &of);
    lines
}

fn lanes(results: &Results, paint: Paint) -> Vec<String> {
    if results.lanes.is_empty() {
        return vec![paint.tone(Tone::Caution, "no kind of case was asked for")];
    }
    table(
        results.lanes.iter().map(|lane| lane_row(lane, results.seconds, paint)),
        "lrrr",
    )
}

fn lane_row(lane: &Lane, seconds: f64, paint: Paint) -> Vec<String> {
    let name = fit(&lane.name, 24);
    if lane.cases == 0 {
        return vec![name, "0".to_owned(), paint.tone(Tone::Caution, "no case ran")];
    }
    let rate = rate(lane.cases, seconds).map_or(String::new(), |rate| format!("{rate} a second"));
    vec![
        name,
        thousands(lane.cases),
        rate,
        format!("{} of workers' time", span(lane.worker_seconds)),
    ]
}

/// Who was held against whom, and over what they part.
fn comparisons(comparisons: &[Comparison], paint: Paint) -> Vec<String> {
    if comparisons.is_empty() {
        return vec![paint.tone(Tone::Caution, "no two readers were compared")];
    }
    let mut pairs: Vec<(String, u64, Vec<String>)> = Vec::new();
    for row in comparisons {
        let who = format!("{} with {}", row.subject, row.reference);
        let at = pairs.iter().position(|(pair, ..)| *pair == who).unwrap_or_else(|| {
            pairs.push((who, 0, Vec::new()));
            pairs.len() - 1
        });
        let (_, compared, differ) = &mut pairs[at];
        *compared += row.compared;
        if row.differ() > 0 {
            differ.push(format!("{} {}", row.aspect, thousands(row.differ())));
        }
    }
    let rows = pairs.into_iter().map(|(who, compared, differ)| {
        let differ = match differ.is_empty() {
            true => "none differs".to_owned(),
            false => {
                let more = if differ.len() > 2 { ", …" } else { "" };
                let first = differ.into_iter().take(2).collect::<Vec<_>>().join(", ");
                paint.tone(Tone::Bad, fit(&format!("differ: {first}{more}"), 36))
            }
        };
        let compared = count(compared, "answer", "answers");
        vec![fit(&who, 36), compared, differ]
    });
    table(rows, "lrl")
}

/// How often the ledger's divergences occurred, and which did not where they should have.
fn ledger(lines: &[LedgerRow], paint: Paint) -> Vec<String> {
    if lines.iter().all(|line| line.could == 0) {
        return vec![paint.tone(Tone::Caution, "nothing was compared with wgpu-hal's own functions")];
    }
    let sum = |number: fn(&LedgerRow) -> u64| thousands(lines.iter().map(number).sum());
    let there = lines.iter().filter(|line| line.could > 0).count() as u64;
    let mut words = vec![format!(
        "{} from wgpu-hal's functions occurred {} of the {} times that they could",
        count(there, "known divergence", "known divergences"),
        sum(|line| line.occurred.min(line.could)),
        sum(|line| line.could),
    )];
    let missing = |line: &LedgerRow| {
        let times = count(line.could - line.occurred.min(line.could), "time", "times");
        paint.tone(Tone::Bad, format!("{} did not, {times}", plain(&line.name)))
    };
    words.extend(lines.iter().filter(|line| line.occurred < line.could).map(missing));
    words
}

fn msl(results: &Results, paint: Paint) -> Vec<String> {
    let msl = &results.msl;
    if *msl == Msl::default() {
        return vec![paint.tone(Tone::Caution, "no entry point was translated")];
    }
    let refused = msl.refused.values().sum();
    let facts = format!(
        "{} translated, {} held against their slots, {} refused as they should be",
        count(msl.translated, "entry point", "entry points"),
        count(msl.arguments, "argument", "arguments"),
        thousands(refused),
    );
    let mut lines = wrapped("", &facts, 2);
    if !msl.checks.contains_key(CHECK) {
        lines.push("Apple's compiler is not on this machine: none of it was compiled".into());
    }
    lines
}

/// What CheckRanges said against what each engine did; the page says what the words mean.
fn gpu(engines: &[EngineRow], paint: Paint) -> Vec<String> {
    if engines.is_empty() {
        return vec![paint.tone(Tone::Caution, "no engine replayed anything")];
    }
    let titles = [
        "",
        "sound",
        "through",
        "to the device",
        "right",
        "over-refused",
        "masked",
        "ledger",
    ];
    let row = |engine: &EngineRow| {
        let name = fit(&engine.engine, 24);
        if engine.replays == 0 {
            return vec![name, paint.tone(Tone::Caution, "none")];
        }
        let cells = &engine.table;
        vec![
            name,
            thousands(cells.sound),
            paint.unwanted(cells.got_through),
            thousands(cells.left_to_device),
            thousands(cells.right),
            paint.unwanted(cells.over_refusal),
            thousands(cells.masked),
            thousands(cells.tolerated),
        ]
    };
    let titles = titles.map(|title| paint.faint(title)).to_vec();
    let mut lines = table(std::iter::once(titles).chain(engines.iter().map(row)), "lrrrrrrr");
    let compared = engines.iter().map(|engine| engine.bytes_compared).sum();
    lines.push(format!("{} compared with the shadow", count(compared, "byte", "bytes")));
    for engine in engines.iter().filter(|engine| engine.devices_lost > 0) {
        let lost = count(engine.devices_lost, "device", "devices");
        lines.push(format!("{lost} lost on {}", fit(&engine.engine, 48)));
    }
    lines
}

/// What `check_strict` said against each engine, and how much of what CheckRanges leaves open it closes.
fn strict(engines: &[EngineRow], paint: Paint) -> Vec<String> {
    let replayed: Vec<&EngineRow> = engines.iter().filter(|engine| engine.replays > 0).collect();
    if replayed.is_empty() {
        return Vec::new();
    }
    if !answered_strictly(engines) {
        return vec![STRICT_NOT_ANSWERED.to_owned()];
    }
    let titles = [
        "",
        "sound",
        "device only",
        "missed",
        "right",
        "over-refused",
        "ledger",
        "not shown",
    ];
    let row = |engine: &&EngineRow| {
        let row = &engine.strict;
        vec![
            fit(&engine.engine, 24),
            thousands(row.sound),
            thousands(row.device_only),
            paint.unwanted(row.missed),
            thousands(row.right),
            paint.unwanted(row.over_refusal),
            thousands(row.ledger),
            thousands(row.not_shown),
        ]
    };
    let titles = titles.map(|title| paint.faint(title)).to_vec();
    let mut lines = table(std::iter::once(titles).chain(replayed.iter().map(row)), "lrrrrrrr");
    let mut all = Open::default();
    open_rules(engines).iter().for_each(|(_, open)| all.add(*open));
    if all.left_open > 0 {
        let left = count(all.left_open, "refusal", "refusals");
        let [closed, device_only] = [all.closed, all.device_only].map(thousands);
        lines.push(format!(
            "of {left} that CheckRanges leaves open it closes {closed}, and {device_only} only a device says"
        ));
    }
    lines
}

/// What was recorded, as `lockstep record` ends with it.
pub fn recorded(row: &RecordingRow) -> String {
    let mut out = Vec::new();
    let title = format!("Recording {}", plain(&row.folder));
    section(&mut out, Paint(false), &title, what_was_recorded(row));
    out[1..].join("\n")
}

fn recording(row: &RecordingRow, paint: Paint) -> Vec<String> {
    let mut lines = what_was_recorded(row);
    lines.push(String::new());
    let titles = [
        "engine",
        "streams",
        "commands",
        "refused",
        "bytes compared",
        "differ",
        "driver",
    ];
    let titles = titles.map(|title| paint.faint(title)).to_vec();
    // What is no fault is not painted as one.
    let faults = |lines: &[String], count: bool| match count {
        true => paint.unwanted(lines.len() as u64),
        false => thousands(lines.len() as u64),
    };
    let engines = row.engines.iter().map(|engine| {
        let compared = match engine.executes {
            true => [
                thousands(engine.compared),
                faults(&engine.differences, row.differences_count(engine)),
            ],
            false => ["-".to_owned(), "-".to_owned()],
        };
        let [compared, differ] = compared;
        vec![
            fit(&engine.engine, 28),
            thousands(engine.streams),
            thousands(engine.commands),
            faults(&engine.refused, row.refusals_count(engine)),
            compared,
            differ,
            driver(engine).to_owned(),
        ]
    });
    lines.extend(table(std::iter::once(titles).chain(engines), "lrrrrrl"));
    for engine in &row.engines {
        let name = plain(&engine.engine);
        if let Some(why) = &engine.ended {
            lines.extend(wrapped(
                &paint.tone(Tone::Bad, format!("{name} ended early:")),
                &plain(why),
                2,
            ));
        }
        if !engine.lacking.is_empty() {
            lines.extend(wrapped(
                &format!("{name} lacks:"),
                &plain(&engine.lacking.join(", ")),
                2,
            ));
        }
        for (what, said) in [("refuses:", &engine.refused), ("differs:", &engine.differences)] {
            said.iter().take(NAMES).for_each(|line| {
                lines.extend(wrapped(&format!("{name} {what}"), &plain(line), 2));
            });
            if said.len() > NAMES {
                lines.push(format!("  and {} more", thousands((said.len() - NAMES) as u64)));
            }
        }
    }
    lines
}

fn driver(engine: &RecordedRow) -> &'static str {
    match (engine.executes, engine.same_driver) {
        (false, _) => "none: it validates only",
        (true, true) => "the one that recorded",
        (true, false) => "another: it may round otherwise",
    }
}

fn what_was_recorded(row: &RecordingRow) -> Vec<String> {
    let not_carried = match row.not_carried_in_words() {
        none if none.is_empty() => "nothing".to_owned(),
        words => words.join(", "),
    };
    let mut rows = vec![
        ("program", plain(&row.program)),
        ("adapter", plain(&row.adapter)),
        ("submits", thousands(row.submits)),
        ("streams", thousands(row.streams)),
        ("commands", thousands(row.commands)),
        ("words", thousands(row.words)),
        ("data", count(row.data, "byte", "bytes")),
        ("read back", count(row.read, "byte", "bytes")),
        ("not in the streams", plain(&not_carried)),
    ];
    for (name, number) in [("refused", row.refused), ("refused strictly", row.strictly_refused)] {
        if number > 0 {
            rows.push((name, count(number, "stream", "streams")));
        }
    }
    let rows = rows.into_iter().flat_map(|(name, value)| {
        let mut lines = broken("", &value, 0, 68).into_iter();
        let first = vec![name.to_owned(), lines.next().unwrap_or_default()];
        std::iter::once(first).chain(lines.map(|line| vec![String::new(), line]))
    });
    table(rows, "ll")
}

/// How much is reached of all tables together, and which are not reached whole.
fn coverage(grids: &[Grid], paint: Paint) -> Vec<String> {
    if grids.is_empty() {
        return vec![paint.tone(Tone::Caution, "not counted")];
    }
    let counts = |grid: &Grid| (grid.reached() as u64, grid.possible() as u64);
    let (reached, possible) = grids
        .iter()
        .map(counts)
        .fold((0, 0), |(all, of), (reached, possible)| (all + reached, of + possible));
    let all = format!(
        "{} of {} reached, {}",
        thousands(reached),
        thousands(possible),
        percent(reached, possible)
    );
    let partly = grids.iter().map(|grid| (&grid.name, counts(grid)));
    let partly = partly.filter(|(_, (reached, possible))| reached < possible);
    let partly = partly.map(|(name, (reached, possible))| format!("{} {}", plain(name), percent(reached, possible)));
    let partly: Vec<String> = partly.collect();
    match partly.is_empty() {
        true => vec![all],
        false => wrapped(&format!("{all};"), &format!("not whole: {}", partly.join(", ")), 2),
    }
}

fn not_run(parts: &[NotRun], paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for part in parts {
        let what = paint.tone(Tone::Caution, format!("{}:", plain(&part.what)));
        lines.extend(wrapped(&what, &plain(&part.why), 2));
        lines.push(format!("  mend: {}", plain(&part.mend)));
    }
    lines
}

fn findings(findings: &[FindingRow], paint: Paint) -> Vec<String> {
    let mut lines: Vec<String> = findings
        .iter()
        .take(FINDINGS)
        .flat_map(|row| finding(row, paint))
        .collect();
    if findings.len() > FINDINGS {
        lines.push(format!(
            "and {} more, all of them in the report",
            thousands((findings.len() - FINDINGS) as u64)
        ));
    }
    lines
}

fn finding(row: &FindingRow, paint: Paint) -> Vec<String> {
    let mut lines = wrapped("", &plain(&row.signature), 2);
    lines[0] = paint.tone(Tone::Bad, &lines[0]);
    lines.extend(wrapped(" ", &plain(&row.summary), 2));
    lines.push(format!(
        "  seen {}, first after {}",
        count(row.seen, "time", "times"),
        span(row.at)
    ));
    match &row.not_written {
        Some(why) => lines.extend(wrapped("  no case file:", &plain(why), 4)),
        None => lines.push(format!("  file   {}", plain(&row.file))),
    }
    lines.push(format!("  rerun  {}", plain(&row.repro)));
    lines
}

/// Untrusted text in at most so many columns.
fn fit(text: &str, columns: usize) -> String {
    truncate_str(&plain(text), columns, "…").into_owned()
}

/// Rows with their columns aligned, `l` or `r`, two columns apart.
fn table(rows: impl IntoIterator<Item = Vec<String>>, aligned: &str) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| measure_text_width(cell))
            .max()
    };
    let columns: Vec<(usize, Alignment)> = aligned
        .chars()
        .enumerate()
        .map(|(i, side)| {
            (
                width(i).unwrap_or(0),
                if side == 'r' { Alignment::Right } else { Alignment::Left },
            )
        })
        .collect();
    rows.iter().map(|row| aligned_row(row, &columns)).collect()
}

fn aligned_row(row: &[String], columns: &[(usize, Alignment)]) -> String {
    let cells = row
        .iter()
        .zip(columns)
        .map(|(cell, &(width, side))| pad_str(cell, width, side, None));
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
}

/// A title and words behind it, broken between words at the width; lines after the first are indented.
fn wrapped(title: &str, words: &str, indent: usize) -> Vec<String> {
    broken(title, words, indent, WIDTH - 2)
}

/// The same, at so many columns.
fn broken(title: &str, words: &str, indent: usize, columns: usize) -> Vec<String> {
    let mut lines = vec![title.to_owned()];
    for word in words.split(' ').filter(|word| !word.is_empty()) {
        let line = lines.last_mut().expect("starts with one line");
        let used = measure_text_width(line);
        if used == 0 {
            line.push_str(word);
        } else if used + 1 + measure_text_width(word) <= columns {
            line.push_str(&format!(" {word}"));
        } else {
            lines.push(format!("{:indent$}{word}", ""));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_break_between_words_and_keep_to_the_width() {
        let lines = wrapped("title:", &"word ".repeat(60), 4);
        assert!(
            lines.len() > 1 && lines.iter().all(|line| line.len() <= WIDTH - 2),
            "{lines:?}"
        );
        assert!(lines[1].starts_with("    word"));
    }
}
