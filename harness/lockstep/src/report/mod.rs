//! The report: results as data, and the shapes that they are shown in.

pub mod bench;
pub mod figures;
pub mod history;
pub mod html;
pub mod junit;
pub mod markdown;
pub mod merge;
pub mod results;
pub mod sarif;
pub mod terminal;

use std::path::Path;

use anyhow::{Context as _, anyhow, ensure};
use serde_json::Value;

use crate::power::POWER_FORMAT;
use crate::{files, input};
use history::History;
use results::{RESULTS_FORMAT, Results};

/// The longest file of results that is read, in bytes.
pub const MAX_RESULTS: u64 = 256 << 20;

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

/// Writes the results as one HTML page, with what runs before it came to, at once.
///
/// # Errors
///
/// It cannot be written. One line that names the path.
pub fn write_html(results: &Results, history: &History, path: &Path) -> anyhow::Result<()> {
    files::write(path, &html::page(results, history))
}

/// Reads what [`write_json`] wrote.
///
/// # Errors
///
/// It cannot be read, is of another format or is none. One line that names the file, and the place in it.
pub fn read_json(path: &Path) -> anyhow::Result<Results> {
    let name = path.display().to_string();
    let text = input::text(path, MAX_RESULTS).with_context(|| format!("{name}: cannot read the results"))?;
    let value = checked(&name, &text, RESULTS_FORMAT)?;
    let power = &value["power"]["format"];
    ensure!(
        power.is_null() || *power == POWER_FORMAT,
        "{name}: its detection power is of format {power}, and this program reads {POWER_FORMAT}"
    );
    serde_json::from_str(&text).map_err(|error| anyhow!("{name}: not results of a run: {}", input::plainly(error)))
}

/// A file of ours as JSON: its `format` is the one that is read, and no number in it but a seed is so large that sums of it could leave 64
/// bits. The error begins with `name`.
pub(crate) fn checked(name: &str, text: &str, format: u32) -> anyhow::Result<Value> {
    let value: Value = serde_json::from_str(text).with_context(|| format!("{name}: not JSON"))?;
    let own = &value["format"];
    ensure!(
        *own == format,
        "{name}: its format is {own}, and this program reads {format}"
    );
    if let Some(number) = beyond(&value) {
        anyhow::bail!("{name}: {number} is no count of anything");
    }
    Ok(value)
}

/// A number below 0 or past 2^53 in it, at which whole numbers of other programs end.
fn beyond(value: &Value) -> Option<&Value> {
    match value {
        Value::Number(number) => (!(0.0..=9_007_199_254_740_992.0).contains(&number.as_f64()?)).then_some(value),
        Value::Array(items) => items.iter().find_map(beyond),
        Value::Object(fields) => fields
            .iter()
            .find_map(|(key, item)| if key == "seed" { None } else { beyond(item) }),
        _ => None,
    }
}
