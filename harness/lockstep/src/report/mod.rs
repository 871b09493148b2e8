//! The report: results as data, and the three shapes that they are shown in.

pub mod figures;
pub mod html;
pub mod results;
pub mod terminal;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use results::Results;

/// Writes the results as JSON (`reports/results.schema.json` says how), at once: a reader sees the old file or the new one.
pub fn write_json(results: &Results, path: &Path) -> anyhow::Result<()> {
    let mut json = serde_json::to_string_pretty(results).map_err(|error| cannot_write(path, &error))?;
    json.push('\n');
    write(path, &json)
}

/// Writes the results as one HTML page, at once.
pub fn write_html(results: &Results, path: &Path) -> anyhow::Result<()> {
    write(path, &html::page(results))
}

/// Writes beside the path, then renames; makes the folder where there is none. An error is one line that names the path.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let beside = beside(path);
    make_folder(path)
        .and_then(|()| fs::write(&beside, text))
        .and_then(|()| fs::rename(&beside, path))
        .map_err(|error| {
            let _ = fs::remove_file(&beside);
            cannot_write(path, &error)
        })
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// The path with the process's number behind it, so that two programs that write one report do not share it.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    PathBuf::from(name)
}

fn cannot_write(path: &Path, error: &dyn std::error::Error) -> anyhow::Error {
    anyhow!("cannot write {}: {error}", path.display())
}
