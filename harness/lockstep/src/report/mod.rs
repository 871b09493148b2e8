//! The report: results as data, and the three shapes that they are shown in.

pub mod figures;
pub mod html;
pub mod results;
pub mod terminal;

use std::path::Path;

use anyhow::anyhow;

use crate::files;
use results::Results;

/// Writes the results as JSON (`reports/results.schema.json` says how), at once: a reader sees the old file or the new one.
///
/// # Errors
///
/// It cannot be written. One line that names the path.
pub fn write_json(results: &Results, path: &Path) -> anyhow::Result<()> {
    let json = serde_json::to_string_pretty(results);
    let json = json.map_err(|error| anyhow!("cannot write {}: {error}", path.display()))?;
    files::write(path, &(json + "\n"))
}

/// Writes the results as one HTML page, at once.
///
/// # Errors
///
/// It cannot be written. One line that names the path.
pub fn write_html(results: &Results, path: &Path) -> anyhow::Result<()> {
    files::write(path, &html::page(results))
}
