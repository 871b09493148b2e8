//! `lockstep corpus`: the regression cases.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::Context as _;

use super::asked::{self, Given};
use super::{BAD, CLEAN, FOUND};
use crate::case::{Case, CaseFile, Expect};
use crate::corpus::{Judge, files, kind, recordings};
use crate::coverage::Tally;
use crate::findings::{read_case, write_case};
use crate::input;
use crate::minimize::{Limits, minimize};
use crate::oracles::fuzz::{TARGETS, Target};
use crate::readers::ask;
use crate::readers::native::Native;
use crate::recording::Recording;
use crate::report::figures::count;
use crate::report::results::Grid;
use crate::say;
use crate::setup;

const EXAMPLES: &str = "Examples:
  cargo lockstep corpus check                              every case
  cargo lockstep corpus check corpus/streams               those of a folder
  cargo lockstep corpus check --subject exec:./a-port      a program in the place of wire and mslmap
  cargo lockstep corpus add reports/out/findings/NAME.json a finding becomes a case
  cargo lockstep corpus check --quiet                      only those that are not as expected
  cargo lockstep corpus stats                              what the cases cover, in a few lines

corpus/README.md says what a case file holds.
Exit status: 0 all as expected, 1 a case is not, 2 bad use, bad input or a missing part.";

/// `lockstep corpus`'s arguments.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Hold every case to its expected answer, through every reader and engine that is here, and those that are given
    Check {
        /// Case files, or folders that are searched for *.json and recordings; all of corpus/ unless said otherwise
        paths: Vec<PathBuf>,
        /// Name the cases that are not as expected alone
        #[arg(long)]
        quiet: bool,
        /// One JSON document: each case with what is wrong with it
        #[arg(long, conflicts_with = "quiet")]
        json: bool,
        #[command(flatten)]
        given: Given,
    },
    /// File a case, a finding or what a fuzz target crashed over into corpus/, named by what it shows. A finding that is still there is
    /// minimised, into FILE.min.json, and not filed
    Add {
        /// The case file, or with --target the bytes. Without an `expect` of its own it gets the answer that all readers and engines
        /// agree on
        file: PathBuf,
        /// What the case shows, in a sentence; the file's own unless said otherwise
        #[arg(long, value_name = "TEXT")]
        shows: Option<String>,
        /// Where the fault was reported
        #[arg(long, value_name = "TEXT")]
        source: Option<String>,
        /// The fuzz target that the bytes are of, instead of a case file
        #[arg(long, value_name = "NAME", value_parser = target)]
        target: Option<Target>,
        #[command(flatten)]
        given: Given,
    },
    /// Write case files anew, as `check` asks for: streams as text beside their blobs
    Format {
        /// Case files, or folders; all of corpus/ unless said otherwise
        paths: Vec<PathBuf>,
    },
    /// What the cases cover
    Stats {
        /// Name what no case reaches too
        #[arg(long)]
        all: bool,
    },
}

/// The fuzz target of that name.
fn target(name: &str) -> Result<Target, String> {
    let found = TARGETS.iter().find(|target| target.name == name).copied();
    found.ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        format!("the targets are {}", names.join(", "))
    })
}

/// Runs the action.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    match &args.action {
        Action::Check {
            paths,
            quiet,
            json,
            given,
        } => check(paths, (*quiet, *json), given, out),
        Action::Add {
            file,
            shows,
            source,
            target,
            given,
        } => {
            let mut case = match target {
                Some(target) => crash(*target, file)?,
                None => read_case(file)?,
            };
            case.shows = shows.clone().or(case.shows);
            case.source = source.clone().or(case.source);
            add(case, file, given, out)
        }
        Action::Format { paths } => format(paths),
        Action::Stats { all } => stats(*all, out),
    }
}

/// The folder of the corpus.
fn folder() -> PathBuf {
    setup::look().root.join("corpus")
}

fn judge() -> Judge {
    let judge = Judge::new(&setup::bring(&mut |line| say::line(line)));
    for missing in &judge.missing {
        say::error(missing);
    }
    judge
}

fn named(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    match paths {
        [] => files(&[folder()]),
        paths => files(paths),
    }
}

/// Checks every file, whatever is wrong with one of them.
fn check(paths: &[PathBuf], (quiet, json): (bool, bool), given: &Given, out: &mut dyn Write) -> anyhow::Result<u8> {
    let all = [folder()];
    let (files, recordings) = (named(paths)?, recordings(if paths.is_empty() { &all } else { paths })?);
    let outside = given.introduce()?;
    let judge_of_all = || judge().with(&outside);
    let (mut failed, mut unreadable, mut left_out) = (0, 0, 0);
    let (mut judge, mut rows) = (None, Vec::new());
    for path in files.iter().chain(&recordings) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        // A file that is none costs no set-up.
        let checked = match path.is_dir() {
            true => Recording::open(path).map(|recording| {
                let judge = judge.get_or_insert_with(judge_of_all);
                judge.answers("streams").then(|| judge.check_recording(&recording))
            }),
            false => read_case(path).and_then(|file| {
                let judge = judge.get_or_insert_with(judge_of_all);
                let is_asked = judge.answers(kind(&file.case));
                is_asked.then(|| judge.check_file(path)).transpose()
            }),
        };
        let wrong = match checked {
            Ok(Some(wrong)) => wrong,
            Ok(None) => {
                left_out += 1;
                continue;
            }
            Err(error) => {
                unreadable += 1;
                vec![format!("{error:#}")]
            }
        };
        failed += usize::from(!wrong.is_empty());
        match wrong.as_slice() {
            _ if json => rows.push(serde_json::json!({ "case": path.display().to_string(), "wrong": wrong })),
            [] if quiet => {}
            [] => writeln!(out, "{name}: ok")?,
            wrong => writeln!(out, "{name}: {}", say::one_line(&wrong.join("; ")))?,
        }
    }
    let passed = files.len() + recordings.len() - failed - left_out;
    if left_out > 0 {
        let cases = count(left_out as u64, "case of another kind is", "cases of other kinds are");
        say::line(format_args!(
            "lockstep: the subject answers {}; {cases} left out",
            outside.answers.join(", ")
        ));
        anyhow::ensure!(passed + failed > 0, "the subject answers none of these cases");
    }
    match json {
        false => writeln!(out, "{passed} passed, {failed} failed")?,
        true => {
            let all = serde_json::json!({ "passed": passed, "failed": failed, "left_out": left_out, "cases": rows });
            writeln!(out, "{}", serde_json::to_string_pretty(&all)?)?;
        }
    }
    let missing = judge.is_some_and(|judge| !judge.missing.is_empty());
    Ok(match (unreadable, failed) {
        (0, 0) if !missing => CLEAN,
        (0, 0) => BAD,
        (0, _) => FOUND,
        _ => BAD,
    })
}

fn format(paths: &[PathBuf]) -> anyhow::Result<u8> {
    for path in named(paths)? {
        write_case(&path, &read_case(&path)?)?;
    }
    Ok(CLEAN)
}

/// The longest input of a fuzz target that is read; libFuzzer's own are far shorter.
const MAX_CRASH: u64 = 16 << 20;

/// What a fuzz target crashed over, as a case.
fn crash(target: Target, path: &Path) -> anyhow::Result<CaseFile> {
    let bytes = input::bytes(path, MAX_CRASH).with_context(|| format!("{}: cannot read it", path.display()))?;
    let case = (target.case)(&bytes);
    let case =
        case.with_context(|| format!("{}: it is no input of the fuzz target {}", path.display(), target.name))?;
    case.check()
        .map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
    Ok(CaseFile::of(case))
}

/// So long at most a case is minimised before it is filed.
const MINIMIZING: Duration = Duration::from_secs(10);

fn add(file: CaseFile, from: &Path, given: &Given, out: &mut dyn Write) -> anyhow::Result<u8> {
    let shows = file.shows.as_deref().unwrap_or_default();
    anyhow::ensure!(
        !shows.is_empty(),
        "{}: no `shows` to name the case by; say it by --shows",
        from.display()
    );
    let mut judge = judge();
    // An expectation is of the case as it stands.
    let smaller = match file.expect {
        None => smaller(&file, from, given)?,
        Some(_) => None,
    };
    let Some(smaller) = smaller else {
        let to = judge.add(file, from, &folder())?;
        writeln!(out, "{}", to.display())?;
        return Ok(CLEAN);
    };
    // The answers part, and which is right no program knows.
    let beside = from.with_extension("min.json");
    write_case(&beside, &smaller)?;
    anyhow::bail!(
        "{}: not filed: it still shows `{}`; {} is the smallest case that does: write its `expect` and add that, or mend the fault first",
        from.display(),
        smaller.signature.unwrap_or_default(),
        beside.display()
    )
}

/// The smallest case that shows the same finding, where it shows one.
///
/// # Errors
///
/// Somebody whom the file's finding names is not there, or it takes the whole recording: what the others agree on says nothing about it.
fn smaller(file: &CaseFile, from: &Path, given: &Given) -> anyhow::Result<Option<CaseFile>> {
    let mut jury = asked::jury(&setup::look(), &given.introduce()?, &file.case, None);
    let own = file.signature.as_deref();
    if let Some(why) = own.and_then(|own| asked::why_not_shown(own, &jury)) {
        anyhow::bail!("{}: not filed: {why}", from.display());
    }
    let shown = jury.all(&file.case);
    let own = file.signature.clone().filter(|signature| shown.contains(signature));
    let Some(signature) = own.or_else(|| shown.into_iter().next()) else {
        return Ok(None);
    };
    let limits = Limits {
        limit: MINIMIZING,
        stop: &AtomicBool::new(false),
    };
    let mut judge = |cases: &[Case]| jury.signatures(cases, &signature);
    let smallest = minimize(&file.case, &signature, &mut judge, &limits, &mut |_| {});
    Ok(smallest.map(|smallest| CaseFile {
        signature: Some(signature),
        origin: None,
        case: smallest.case,
        ..file.clone()
    }))
}

fn stats(all: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut tally = Tally::default();
    let (mut streams, mut layouts, mut sources) = (0, 0, BTreeSet::new());
    let folder = folder();
    let (mut binds, mut entry_points) = (0, 0);
    for path in files(std::slice::from_ref(&folder))? {
        let file = read_case(&path)?;
        sources.extend(file.source);
        match &file.case {
            Case::Stream(case) => {
                streams += 1;
                let answers = ask::case(&mut Native::default(), case, None)?;
                answers.descriptors.iter().for_each(|answer| tally.descriptor(answer));
                answers
                    .stream
                    .iter()
                    .for_each(|answer| tally.stream(&case.blob, answer));
            }
            Case::Layout(case) => {
                layouts += 1;
                tally.bindings(case.groups.iter().flatten().flatten());
            }
            Case::Bind(case) => {
                binds += 1;
                tally.bound(case);
            }
        }
        if let Some(Expect::Layout(expect)) = &file.expect {
            entry_points += expect.shader.len();
        }
    }
    writeln!(
        out,
        "{streams} streams, {layouts} layouts with {entry_points} entry points, {binds} binds, {} sources",
        sources.len()
    )?;
    let coverage = tally.coverage();
    let grids = |names: &[&str]| {
        let named = coverage.grids.iter().filter(|grid| names.contains(&grid.name.as_str()));
        named.cloned().collect::<Vec<_>>()
    };
    covered("opcodes", &grids(&["opcode by context"]), false, out)?;
    covered(
        "reasons",
        &grids(&["opcode by reason", "blob", "read check"]),
        true,
        out,
    )?;
    covered("binding types", &grids(&["binding type by stage"]), false, out)?;
    let tables = [
        ("pairs of opcode and reason", "opcode by reason"),
        ("binding types by stage, of layouts", "binding type by stage"),
        ("binding types by stage, of binds", "binding type bound by stage"),
    ];
    for (what, name) in tables {
        pairs(what, &grids(&[name]), all, out)?;
    }
    let status = traps(&folder, out)?;
    if !all {
        writeln!(
            out,
            "`cargo lockstep corpus stats --all` names the pairs that no case reaches"
        )?;
    }
    Ok(status)
}

/// One line: how many of a table's pairs a case reached; with `all` row by row those that none did.
fn pairs(what: &str, grids: &[Grid], all: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    for grid in grids {
        writeln!(out, "{what}: {} of {}", grid.reached(), grid.possible())?;
        if !all {
            continue;
        }
        let mut rows: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (row, column) in grid.missed() {
            rows.entry(row).or_default().push(column);
        }
        for (row, columns) in rows {
            writeln!(out, "    {row} without {}", columns.join(", "))?;
        }
    }
    Ok(())
}

/// The known traps, of the table in the folder's README: how many have a case that is there, and which do not.
fn traps(folder: &Path, out: &mut dyn Write) -> anyhow::Result<u8> {
    let readme =
        std::fs::read_to_string(folder.join("README.md")).context("README.md of the corpus: cannot read it")?;
    let (mut all, mut without) = (0, Vec::new());
    for row in readme.lines() {
        let mut cells = row.split('|').skip(1).map(str::trim);
        let Some(number) = cells.next().filter(|cell| cell.parse::<u32>().is_ok()) else {
            continue;
        };
        all += 1;
        let links = row.split("](").skip(1).filter_map(|link| link.split(')').next());
        if !links.into_iter().any(|link| folder.join(link).exists()) {
            without.push(number);
        }
    }
    let missed = match without.is_empty() {
        true => String::new(),
        false => format!("; without {}", without.join(", ")),
    };
    writeln!(out, "known traps: {} of {all}{missed}", all - without.len())?;
    Ok(CLEAN)
}

/// One line: how many of the rows (or columns) of `grids` a case reached, and the names of the others.
fn covered(what: &str, grids: &[Grid], columns: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let (mut reached, mut all) = (BTreeSet::new(), BTreeSet::new());
    for grid in grids {
        for (row, cells) in grid.rows.iter().zip(&grid.cells) {
            for (column, cell) in grid.columns.iter().zip(cells) {
                let name = if columns { column } else { row };
                let Some(count) = cell else { continue };
                all.insert(name);
                if *count > 0 {
                    reached.insert(name);
                }
            }
        }
    }
    let missed: Vec<&str> = all.difference(&reached).map(|name| name.as_str()).collect();
    let without = match missed.is_empty() {
        true => String::new(),
        false => format!("; without {}", missed.join(", ")),
    };
    writeln!(out, "{what}: {} of {}{without}", reached.len(), all.len())?;
    Ok(())
}
