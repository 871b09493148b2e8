//! The results as a few lines of Markdown, for a pull request or a job's summary.

use super::figures::{cases, count, plain, rate, span, thousands, verdict};
use super::results::{FindingRow, Results};
use crate::power::Power;
use crate::power::table::{SPANS, Sums, partial, said};

/// So many findings have a row; the others are counted.
const FINDINGS: usize = 20;

/// The text: the verdict, then what was found with the command that shows it again, what did not run, and what ran.
pub fn text(results: &Results) -> String {
    let said = verdict(results);
    let mut out = format!("## lockstep: {}\n\n", said.headline);
    let mut facts = vec![
        count(cases(results), "case", "cases"),
        span(results.seconds),
        format!("seed {}", results.seed),
    ];
    facts.extend(
        results
            .commit
            .iter()
            .map(|commit| format!("commit {}", commit.get(..12).unwrap_or(commit))),
    );
    facts.extend(said.beside);
    out += &format!("{}\n", plain(&facts.join(", ")));
    if !results.findings.is_empty() {
        out += "\n| finding | seen | again |\n| --- | ---: | --- |\n";
        results
            .findings
            .iter()
            .take(FINDINGS)
            .for_each(|row| out += &finding(row));
        let more = results.findings.len().saturating_sub(FINDINGS) as u64;
        if more > 0 {
            out += &format!("\nand {}\n", count(more, "more finding", "more findings"));
        }
    }
    if !results.not_run.is_empty() {
        out += "\nDid not run:\n\n";
        for row in &results.not_run {
            out += &format!("- {}: {}; {}\n", code(&row.what), code(&row.why), code(&row.mend));
        }
    }
    if let Some(power) = &results.power {
        out += &detection(power);
    }
    out += "\n<details><summary>What ran</summary>\n\n| lane | cases | a second |\n| --- | ---: | ---: |\n";
    for lane in &results.lanes {
        let rate = rate(lane.cases, results.seconds).unwrap_or_else(|| "–".into());
        out += &format!("| {} | {} | {rate} |\n", code(&lane.name), thousands(lane.cases));
    }
    out + &format!("\n{}\n\n</details>\n", code(&results.command))
}

/// What share of planted faults is found, how soon, and what stands against the campaign.
fn detection(power: &Power) -> String {
    let spans = SPANS.map(|seconds| format!("within {seconds} s |")).join(" ");
    let mut out = format!(
        "\n| planted | found | {spans} missed | broken | change nothing |\n| --- | ---: {}|\n",
        "| ---: ".repeat(6)
    );
    for sums in Sums::all(power) {
        let within = SPANS.map(|seconds| format!("{} |", sums.within(seconds))).join(" ");
        out += &format!(
            "| {} {} | {} | {within} {} | {} | {} |\n",
            sums.of,
            sums.name,
            sums.times.len(),
            sums.missed,
            sums.broken,
            sums.listed
        );
    }
    let bad = power.rows.iter().filter(|row| row.is_bad());
    let bad = bad.map(|row| format!("{}: {}", row.name, said(&row.outcome)));
    let stale = power.stale.iter().map(|stale| format!("stale: {stale}"));
    let bad: Vec<String> = bad.chain(stale).map(|bad| format!("- {}\n", code(&bad))).collect();
    for sentence in partial(power) {
        out += &format!("\n{sentence}\n");
    }
    if !bad.is_empty() {
        out += "\n";
    }
    out + &bad.concat()
}

fn finding(row: &FindingRow) -> String {
    format!(
        "| {} | {} | {} |\n",
        code(&row.signature),
        thousands(row.seen),
        code(&row.repro)
    )
}

/// Text as code in one line, so that nothing in it is markup: between more backticks than stand in a row in it. A bar would end a table's
/// cell even there.
fn code(text: &str) -> String {
    let text = plain(text).replace('|', "\\|");
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    match longest {
        0 => format!("`{text}`"),
        _ => format!("{fence} {text} {fence}"),
    }
}
