//! The faults: patches on disk, and what cargo-mutants makes.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, anyhow, ensure};
use serde::Deserialize;

use super::{Fault, Set};
use crate::setup::cargo_command;
use crate::{files, input};

/// Where the patches are, from the repository's root.
pub const FAULTS: &str = "harness/power/faults";
/// The mutants that change nothing which a campaign could see, each with the reason.
pub const UNCHANGED: &str = "harness/power/unchanged.json";

/// The longest file that is read.
const MAX_FILE: u64 = 1 << 20;

/// The patches, by name.
///
/// # Errors
///
/// One that cannot be read, or whose header lacks a line. It names the file.
pub fn patches(root: &Path) -> anyhow::Result<Vec<Fault>> {
    let mut found = files::find(&root.join(FAULTS), "patch")?;
    found.sort();
    found.iter().map(|path| patch(path)).collect()
}

/// A patch: `Key: value` lines for what it does, its area and its source, then the diff.
fn patch(path: &Path) -> anyhow::Result<Fault> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let text = input::text(path, MAX_FILE).with_context(|| format!("{}: cannot read the patch", path.display()))?;
    let start = text.find("--- ").filter(|&at| at == 0 || text[..at].ends_with('\n'));
    let start = start.with_context(|| format!("{}: there is no diff in it", path.display()))?;
    let (header, diff) = text.split_at(start);
    let field = |key: &str| {
        let line = header
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        let missing = || format!("{}: no line `{key}: …` before the diff", path.display());
        line.map(|value| value.trim().to_owned()).with_context(missing)
    };
    Ok(Fault {
        set: Set::Faults,
        area: field("Area")?,
        source: field("Source")?,
        what: field("Fault")?,
        patch: diff.to_owned(),
        reason: None,
        name,
    })
}

#[derive(Deserialize)]
struct Mutant {
    name: String,
    file: String,
    diff: String,
}

/// What cargo-mutants makes of `wire` and `mslmap`.
///
/// # Errors
///
/// It is not installed, or says something else than it should.
pub fn mutants(root: &Path, reasons: &BTreeMap<String, String>) -> anyhow::Result<Vec<Fault>> {
    let mut command = cargo_command(root);
    command.args("mutants --list --json --diff -p wire -p mslmap".split(' '));
    let said = command.output().context("cargo does not start")?;
    let complaint = String::from_utf8_lossy(&said.stderr);
    let first = complaint
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("it says nothing");
    ensure!(
        said.status.success(),
        "cargo mutants: {first}; `cargo install --locked cargo-mutants@27.1.0` brings it"
    );
    let list: Vec<Mutant> =
        serde_json::from_slice(&said.stdout).context("cargo mutants: not the list that it gives")?;
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let fault = |mutant: Mutant| {
        let plain = plain_name(&mutant);
        let times = seen.entry(plain.clone()).or_default();
        *times += 1;
        let name = match *times {
            1 => plain,
            times => format!("{plain} ({times})"),
        };
        let file = mutant.file.trim_start_matches("harness/").replace("/src/", " ");
        Fault {
            set: Set::Mutants,
            area: file.trim_end_matches(".rs").to_owned(),
            source: "cargo-mutants".into(),
            what: String::new(),
            patch: with_file_names(&mutant.diff, &mutant.file),
            reason: reasons.get(&name).cloned(),
            name,
        }
    };
    Ok(list.into_iter().map(fault).collect())
}

/// The diff with the file's name where cargo-mutants writes the mutant's, which may hold quotes that no patch's header takes.
fn with_file_names(diff: &str, file: &str) -> String {
    let hunks = diff.find("@@").map_or("", |at| &diff[at..]);
    format!("--- {file}\n+++ {file}\n{hunks}")
}

/// A name that stays when lines are added elsewhere: without line and column, which a number of the same changes takes the place of.
fn plain_name(mutant: &Mutant) -> String {
    let change = mutant.name.strip_prefix(&mutant.file).unwrap_or(&mutant.name);
    let change = change.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
    format!("{}:{change}", mutant.file.trim_start_matches("harness/"))
}

/// The reasons of [`UNCHANGED`], by the mutant's name.
///
/// # Errors
///
/// The file cannot be read, or is no object of texts.
pub fn reasons(root: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let path = root.join(UNCHANGED);
    let text = input::text(&path, MAX_FILE).with_context(|| format!("{}: cannot read it", path.display()))?;
    let what = || format!("{}: not an object of names and reasons", path.display());
    serde_json::from_str(&text).map_err(|error| anyhow!("{}: {}", what(), input::plainly(error)))
}
