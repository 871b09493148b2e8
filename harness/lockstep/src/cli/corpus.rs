//! `lockstep corpus`: the regression cases.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::{BAD, CLEAN, FOUND};
use crate::case::{Case, Expect};
use crate::corpus::{Judge, files};
use crate::coverage::Tally;
use crate::findings::read_case;
use crate::readers::ask;
use crate::readers::native::Native;
use crate::report::results::Grid;
use crate::say;
use crate::setup;

/// `lockstep corpus`'s arguments.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Hold every case to its expected answer, through every reader and engine that is here
    Check {
        /// Case files, or folders that are searched for *.json; all of corpus/ unless said otherwise
        paths: Vec<PathBuf>,
    },
    /// File a case, such as a finding, into corpus/, named by what it shows
    Add {
        /// The case file. Without an `expect` of its own it gets the answer that all readers and engines agree on
        file: PathBuf,
    },
    /// What the cases cover
    Stats,
}

/// Runs the action.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    match &args.action {
        Action::Check { paths } => check(paths, out),
        Action::Add { file } => add(file, out),
        Action::Stats => stats(out),
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

fn check(paths: &[PathBuf], out: &mut dyn Write) -> anyhow::Result<u8> {
    let files = match paths {
        [] => files(&[folder()])?,
        paths => files(paths)?,
    };
    // Bad input is found before anything is run.
    files.iter().try_for_each(|path| read_case(path).map(drop))?;
    let mut judge = judge();
    let mut failed = 0;
    for path in &files {
        let wrong = judge.check_file(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        match wrong.as_slice() {
            [] => writeln!(out, "{name}: ok")?,
            wrong => {
                failed += 1;
                writeln!(out, "{name}: {}", wrong.join("; "))?;
            }
        }
    }
    writeln!(out, "{} passed, {failed} failed", files.len() - failed)?;
    Ok(match (failed, judge.missing.is_empty()) {
        (0, true) => CLEAN,
        (0, false) => BAD,
        _ => FOUND,
    })
}

fn add(path: &Path, out: &mut dyn Write) -> anyhow::Result<u8> {
    // What is no case costs no set-up.
    read_case(path)?;
    let to = judge().add(path, &folder())?;
    writeln!(out, "{}", to.display())?;
    Ok(CLEAN)
}

fn stats(out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut tally = Tally::default();
    let (mut streams, mut layouts, mut sources) = (0, 0, BTreeSet::new());
    let (mut binds, mut entry_points) = (0, 0);
    for path in files(&[folder()])? {
        let file = read_case(&path)?;
        sources.extend(file.source);
        match &file.case {
            Case::Stream(case) => {
                streams += 1;
                let answers = ask::case(&mut Native::default(), case, None)?;
                answers
                    .stream
                    .iter()
                    .for_each(|answer| tally.stream(&case.blob, answer));
            }
            Case::Layout(case) => {
                layouts += 1;
                tally.bindings(case.groups.iter().flatten().flatten());
            }
            Case::Bind(_) => binds += 1,
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
