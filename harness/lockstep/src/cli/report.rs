//! `lockstep report`, and what `lockstep run` ends with.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};

use super::run::NO_GPU;
use super::{BAD, CLEAN, FOUND, color};
use crate::power::{self, Power};
use crate::report::history::History;
use crate::report::results::{FindingRow, NotRun, Results};
use crate::report::{junit, markdown, merge, read_json, sarif, terminal, write_html, write_json};
use crate::{files, input, say};

const EXAMPLES: &str = "Examples:
  cargo lockstep report reports/out                              the summary of a run again
  cargo lockstep report shard-0 shard-1 shard-2 --out whole      three machines' results as one report
  cargo lockstep report reports/out --history monday tuesday --out week
  cargo lockstep report whole --markdown summary.md --sarif lockstep.sarif

Exit status: 0 nothing found, 1 findings, 2 bad input, a missing shard or a missing part.";

/// `lockstep report`'s arguments.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Results of a run, or of each shard of one: results.json, or the folder in which it is. The power.json beside it is taken too, or where
    /// there is none the one in --out
    #[arg(required = true, value_name = "RESULTS")]
    results: Vec<PathBuf>,
    /// Write results.json, report.html and findings/ here
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Results of earlier runs, for the history on the page
    #[arg(long, value_name = "RESULTS", num_args = 1..)]
    history: Vec<PathBuf>,
    /// Write the page here
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print the results as JSON instead of the summary
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    formats: Formats,
    /// End with status 2 where no engine executed what it validates
    #[arg(long)]
    require_gpu: bool,
}

/// Further shapes of the report. `run` takes them too.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct Formats {
    /// Write the results as JUnit's XML here
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the results as SARIF here, for code scanning
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Write a summary in Markdown here, for a pull request
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl Formats {
    fn write(&self, results: &Results, require_gpu: bool) -> Vec<anyhow::Result<()>> {
        let junit = |path| files::write(path, &junit::xml(results, |row| is_excused(row, require_gpu)));
        let sarif = |path| files::write(path, &sarif::json(results));
        let markdown = |path| files::write(path, &markdown::text(results));
        [
            self.junit.as_deref().map(junit),
            self.sarif.as_deref().map(sarif),
            self.markdown.as_deref().map(markdown),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Merges the results and shows them.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let parts = args.results.iter().map(|path| with_power(part(path)?));
    let parts: anyhow::Result<Vec<_>> = parts.collect();
    let past: anyhow::Result<Vec<_>> = args.history.iter().map(|path| Ok(part(path)?.1)).collect();
    let past = past?;
    let mut results = merge::merge(parts?)?;
    if let Some(out) = &args.out {
        if results.power.is_none() {
            results.power = power_in(out)?;
        }
        results.findings.iter_mut().for_each(|row| bring(row, out));
    }
    let shown = match args.json {
        true => serde_json::to_string_pretty(&results)? + "\n",
        false => terminal::summary(&results, color()),
    };
    let shown = say::out(shown.as_bytes());
    let history = History::of(&past.into_iter().chain([results.clone()]).collect::<Vec<_>>());
    let page = args.html.as_deref().map(|path| write_html(&results, &history, path));
    let written = write(&results, &history, args.out.as_deref(), &args.formats, args.require_gpu);
    let written = all_written([shown].into_iter().chain(page)) && written;
    Ok(status(&results, written, args.require_gpu))
}

/// Writes the report into the folder and what else was asked for, each whatever became of the others. What cannot be written is said with
/// its path; then false.
pub(super) fn write(
    results: &Results,
    history: &History,
    out: Option<&Path>,
    formats: &Formats,
    require_gpu: bool,
) -> bool {
    let mut tried = Vec::new();
    if let Some(out) = out {
        tried.push(write_json(results, &out.join("results.json")));
        tried.push(write_html(results, history, &out.join("report.html")));
    }
    tried.extend(formats.write(results, require_gpu));
    all_written(tried)
}

pub(super) fn all_written(tried: impl IntoIterator<Item = anyhow::Result<()>>) -> bool {
    let failed = tried.into_iter().filter_map(Result::err);
    failed.map(|error| say::error(format_args!("{error:#}"))).count() == 0
}

/// The exit status that results come to. No case is no green campaign, and a report that is not there is none either.
pub(super) fn status(results: &Results, written: bool, require_gpu: bool) -> u8 {
    let ran_all = results.not_run.iter().all(|row| is_excused(row, require_gpu));
    let ran_any = results.lanes.iter().any(|lane| lane.cases > 0);
    match results.findings.is_empty() {
        false => FOUND,
        true if ran_all && ran_any && written => CLEAN,
        true => BAD,
    }
}

/// Whether the status is good without it.
fn is_excused(missing: &NotRun, require_gpu: bool) -> bool {
    missing.what == NO_GPU && !require_gpu
}

/// A file of results, whose cases are named where they lie: in `findings/` beside it.
fn part(path: &Path) -> anyhow::Result<(String, Results)> {
    let path = match path.is_dir() {
        true => path.join("results.json"),
        false => path.to_owned(),
    };
    let mut results = read_json(&path)?;
    let folder = path.parent().unwrap_or(Path::new("")).join("findings");
    for row in results.findings.iter_mut().filter(|row| row.not_written.is_none()) {
        let case = folder.join(name(row));
        match case.is_file() {
            true => move_to(row, &case),
            false => row.not_written = Some(format!("{} is not there", case.display())),
        }
    }
    Ok((path.display().to_string(), results))
}

/// With the power.json beside it, which may be newer than the campaign.
fn with_power((name, mut results): (String, Results)) -> anyhow::Result<(String, Results)> {
    let folder = Path::new(&name).parent().unwrap_or(Path::new(""));
    results.power = power_in(folder)?.or(results.power);
    Ok((name, results))
}

fn power_in(folder: &Path) -> anyhow::Result<Option<Power>> {
    power::read(&folder.join(power::NAME)).map_err(|error| anyhow!("{error:#}; move it away"))
}

/// Copies a finding's case into `out/findings/`, with the original where it was minimised.
fn bring(row: &mut FindingRow, out: &Path) {
    if row.not_written.is_some() {
        return;
    }
    let from = PathBuf::from(&row.file);
    let to = out.join("findings").join(name(row));
    match copy(&from, &to) {
        Ok(()) => move_to(row, &to),
        Err(error) => {
            say::error(format_args!("{error:#}"));
            row.not_written = Some(format!("{error:#}"));
        }
    }
    let original = from.with_extension("original.json");
    if original.is_file()
        && let Err(error) = copy(&original, &to.with_extension("original.json"))
    {
        say::error(format_args!("{error:#}"));
    }
}

/// Both may be one file.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    let text = input::text(from, crate::findings::MAX_CASE_FILE);
    files::write(to, &text.with_context(|| format!("cannot read {}", from.display()))?)
}

fn move_to(row: &mut FindingRow, path: &Path) {
    let path = path.display().to_string();
    if !row.file.is_empty() {
        row.repro = row.repro.replace(&row.file, &path);
    }
    row.file = path;
}

/// The file's name, also of a path of another system.
fn name(row: &FindingRow) -> &str {
    row.file.rsplit(['/', '\\']).next().unwrap_or_default()
}
