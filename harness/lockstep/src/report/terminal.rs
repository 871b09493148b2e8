//! The summary at the end of a run, for a terminal.

use console::{Alignment, Style, measure_text_width, pad_str, truncate_str};

use super::figures::{
    Tone, asked, asked_strictly, by_count, by_name, cases, count, open_rules, percent, plain, rate, span, thousands,
    verdict,
};
use super::results::{
    Comparison, EngineRow, FindingRow, Grid, Lane, Msl, NotRun, Open, RecordedRow, RecordingRow, Results,
};
use crate::ledger::LedgerRow;
use crate::oracles::msl::apple::CHECK;

/// Columns that the summary keeps to; a command to copy may be longer.
const WIDTH: usize = 100;
/// Names listed of what no case reached.
const NAMES: usize = 8;
/// Rules listed that a host still has to check.
const RULES: usize = 16;
/// Findings listed; the report on disk has them all.
const FINDINGS: usize = 20;
/// The meaning of the GPU table's cells.
const GPU_MEANING: [(&str, &str); 6] = [
    (
        "sound",
        "accepted; no validation error; where the engine executes, the bytes match",
    ),
    (
        "got through",
        "accepted; error over a covered range, device lost or other bytes: the worst",
    ),
    (
        "left to the device",
        "accepted; an error over something that CheckRanges does not look at",
    ),
    ("over-refused", "refused; the GPU raises nothing: a finding"),
    ("right", "refused; an error at that command"),
    (
        "masked",
        "refused; the GPU refused an earlier command, so nothing is shown",
    ),
];

const STRICT_NOT_ASKED: &str = "not asked: the subject has none";

/// The meaning of the strict check's columns.
const STRICT_MEANING: [(&str, &str); 8] = [
    ("sound", "check_strict accepts; no validation error"),
    (
        "device only",
        "accepts; an error that only a device gives, over states, attachments, usage scopes",
    ),
    ("missed", "accepts; an error over memory: a finding"),
    ("right", "refuses; an error at that command"),
    ("over-refused", "refuses; the GPU raises nothing: a finding"),
    ("ledger", "the two part in a way that the ledger explains"),
    ("not shown", "the GPU refused an earlier command, so nothing is shown"),
    (
        "closed",
        "of what CheckRanges leaves: in streams that check_strict refuses there or before",
    ),
];

/// The summary, ending in a line with the verdict. Coloured when asked, whatever the terminal is.
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

fn comparisons(comparisons: &[Comparison], paint: Paint) -> Vec<String> {
    if comparisons.is_empty() {
        return vec![paint.tone(Tone::Caution, "no two readers were compared")];
    }
    let titles = [
        "aspect",
        "who with whom",
        "compared",
        "both accept",
        "both refuse",
        "differ",
    ];
    let titles = titles.map(|title| paint.faint(title)).to_vec();
    let rows = comparisons.iter().map(|row| {
        vec![
            fit(&row.aspect, 16),
            fit(&format!("{} with {}", row.subject, row.reference), 36),
            thousands(row.compared),
            thousands(row.both_accept),
            thousands(row.both_refuse),
            paint.unwanted(row.differ()),
        ]
    });
    table(std::iter::once(titles).chain(rows), "llrrrr")
}

/// Each line of the ledger: it must have occurred as often as it could.
fn ledger(lines: &[LedgerRow], paint: Paint) -> Vec<String> {
    if lines.iter().all(|line| line.could == 0) {
        return vec![paint.tone(Tone::Caution, "nothing was compared with wgpu-hal's own functions")];
    }
    let titles = ["known divergence", "could occur", "occurred", "did not"]
        .map(str::to_owned)
        .to_vec();
    let rows = lines.iter().map(|line| {
        let missing = line.could - line.occurred.min(line.could);
        vec![
            line.name.clone(),
            thousands(line.could),
            thousands(line.occurred),
            paint.unwanted(missing),
        ]
    });
    table(std::iter::once(titles).chain(rows), "lrrr")
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
    lines.extend(tally("checked", &by_name(&msl.checks)));
    if !msl.checks.contains_key(CHECK) {
        lines.push("Apple's compiler is not on this machine: none of it was compiled".into());
    }
    lines.extend(tally("refused", &by_count(&msl.refused)));
    lines
}

fn gpu(engines: &[EngineRow], paint: Paint) -> Vec<String> {
    if engines.is_empty() {
        return vec![paint.tone(Tone::Caution, "no engine replayed anything")];
    }
    let mut lines: Vec<String> = engines.iter().flat_map(|engine| engine_lines(engine, paint)).collect();
    lines.extend(meaning(&GPU_MEANING, paint));
    lines
}

fn engine_lines(engine: &EngineRow, paint: Paint) -> Vec<String> {
    let mut lines = vec![paint.strong(fit(&engine.engine, WIDTH - 2))];
    lines.extend(
        wrapped("", &plain(&engine.driver), 0)
            .iter()
            .map(|line| paint.faint(line)),
    );
    if engine.replays == 0 {
        lines.push(paint.tone(Tone::Caution, "no stream was replayed"));
    } else {
        lines.extend(wrapped("", &engine_facts(engine), 2));
        lines.extend(two_by_two(engine, paint));
        lines.extend(tally("left to the device", &by_count(&engine.left_to_device)));
        lines.extend(tally("in the ledger", &by_count(&engine.tolerated)));
    }
    lines.push(String::new());
    lines
}

fn engine_facts(engine: &EngineRow) -> String {
    let compared = if engine.executes {
        format!(
            "{} compared with the shadow",
            count(engine.bytes_compared, "byte", "bytes")
        )
    } else {
        "validates only, no bytes to compare".to_owned()
    };
    let mut facts = format!(
        "{}, {}, {compared}",
        count(engine.replays, "stream", "streams"),
        count(engine.commands, "command", "commands"),
    );
    if engine.not_foretold > 0 {
        facts.push_str(&format!(
            ", {} not foretold",
            count(engine.not_foretold, "resource", "resources")
        ));
    }
    if engine.devices_lost > 0 {
        facts.push_str(&format!(", {} lost", count(engine.devices_lost, "device", "devices")));
    }
    if engine.table.lost > 0 {
        facts.push_str(&format!(" ({} over a refused stream)", thousands(engine.table.lost)));
    }
    facts
}

fn two_by_two(engine: &EngineRow, paint: Paint) -> Vec<String> {
    let cells = &engine.table;
    let row = |name: &str, cells: [(String, &str); 3]| {
        let mut row = vec![name.to_owned()];
        row.extend(cells.into_iter().flat_map(|(number, word)| [number, word.to_owned()]));
        row
    };
    let title = |text: &'static str| (String::new(), text);
    let mut titles = row(
        "",
        [
            title("GPU: no error"),
            title("GPU: error there"),
            title("GPU: error elsewhere"),
        ],
    );
    titles.iter_mut().for_each(|title| *title = paint.faint(&*title));
    let accepts = [
        (thousands(cells.sound), "sound"),
        (paint.unwanted(cells.got_through), "got through"),
        (thousands(cells.left_to_device), "left to the device"),
    ];
    let refuses = [
        (paint.unwanted(cells.over_refusal), "over-refused"),
        (thousands(cells.right), "right"),
        (thousands(cells.masked), "masked"),
    ];
    table(
        [
            titles,
            row("CheckRanges accepts", accepts),
            row("CheckRanges refuses", refuses),
        ],
        "lrlrlrl",
    )
}

/// What `check_strict` said against each engine, and what a host still has to check.
fn strict(engines: &[EngineRow], paint: Paint) -> Vec<String> {
    let replayed: Vec<&EngineRow> = engines.iter().filter(|engine| engine.replays > 0).collect();
    if replayed.is_empty() {
        return Vec::new();
    }
    if !asked_strictly(engines) {
        return vec![STRICT_NOT_ASKED.to_owned()];
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
            fit(&engine.engine, 28),
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
    lines.extend(meaning(&STRICT_MEANING, paint));
    let open = open_rules(engines);
    if !open.is_empty() {
        lines.push(String::new());
        lines.extend(still_to_check(&open, paint));
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

/// What the words of a table mean.
fn meaning(words: &[(&str, &str)], paint: Paint) -> Vec<String> {
    let rows = words
        .iter()
        .map(|(name, meaning)| vec![paint.faint(name), paint.faint(meaning)]);
    table(rows, "ll")
}

fn still_to_check(rules: &[(String, Open)], paint: Paint) -> Vec<String> {
    let titles = [
        "what a host still has to check",
        "left by CheckRanges",
        "closed",
        "device only",
    ];
    // A rule that is longer than its column goes on in the next row.
    let rows = |name: &str, open: Open| {
        let counts = [open.left_open, open.closed, open.device_only].map(thousands);
        let mut rows: Vec<Vec<String>> = broken("", &plain(name), 2, 54)
            .into_iter()
            .map(|line| vec![line])
            .collect();
        rows[0].extend(counts);
        rows
    };
    let sum = |rules: &[(String, Open)]| {
        rules.iter().fold(Open::default(), |mut sum, (_, open)| {
            sum.add(*open);
            sum
        })
    };
    let (shown, rest) = rules.split_at(rules.len().min(RULES));
    let mut all = vec![titles.map(|title| paint.faint(title)).to_vec()];
    all.extend(shown.iter().flat_map(|(name, open)| rows(name, *open)));
    if !rest.is_empty() {
        let more = count(rest.len() as u64, "more rule", "more rules");
        all.extend(rows(&more, sum(rest)));
    }
    all.extend(rows("all of it", sum(rules)));
    table(all, "lrrr")
}

fn coverage(grids: &[Grid], paint: Paint) -> Vec<String> {
    if grids.is_empty() {
        return vec![paint.tone(Tone::Caution, "not counted")];
    }
    let rows = grids.iter().map(|grid| {
        let (reached, possible) = (grid.reached() as u64, grid.possible() as u64);
        let of = format!("{} of {}", thousands(reached), thousands(possible));
        vec![fit(&grid.name, 40), of, percent(reached, possible)]
    });
    let mut lines = Vec::new();
    for (line, grid) in table(rows, "lrr").into_iter().zip(grids) {
        lines.push(line);
        lines.extend(missed(grid));
    }
    lines
}

fn missed(grid: &Grid) -> Vec<String> {
    let missed = grid.missed();
    if missed.is_empty() {
        return Vec::new();
    }
    let mut names: Vec<String> = missed
        .iter()
        .take(NAMES)
        .map(|(row, column)| {
            if grid.columns.len() > 1 {
                format!("{row} {column}")
            } else {
                (*row).to_owned()
            }
        })
        .collect();
    if missed.len() > NAMES {
        names.push(format!("and {} more", thousands((missed.len() - NAMES) as u64)));
    }
    wrapped("  not reached:", &plain(&names.join(", ")), 4)
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

/// Names with their counts, the largest first, shortened.
fn tally(title: &str, counts: &[(&str, u64)]) -> Vec<String> {
    if counts.is_empty() {
        return Vec::new();
    }
    let mut names: Vec<String> = counts
        .iter()
        .take(NAMES)
        .map(|(name, count)| format!("{} {}", plain(name), thousands(*count)))
        .collect();
    if counts.len() > NAMES {
        let rest = counts[NAMES..].iter().map(|(_, count)| count).sum();
        names.push(format!("{} more kinds {}", counts.len() - NAMES, thousands(rest)));
    }
    wrapped(&format!("{title}:"), &names.join(", "), 2)
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
