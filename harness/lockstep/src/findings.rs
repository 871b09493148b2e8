//! Findings: kept one a signature, written the moment they are found, so that nothing is lost however the campaign ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;

use crate::case::{CASE_FORMAT, Case, CaseFile, Origin};
use crate::files::{self, slug};
use crate::report::results::FindingRow;
use crate::{input, say};

/// The longest case file that is read. Every question and answer about a case within it fits a frame of PROTOCOL.md.
pub const MAX_CASE_FILE: u64 = 128 << 20;

/// A difference that nothing explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What makes two findings one.
    pub signature: String,
    /// One line for a person.
    pub summary: String,
    /// The case that shows it.
    pub case: Case,
    /// Where the case came from.
    pub origin: Option<Origin>,
}

/// The findings of a campaign.
pub struct Findings {
    folder: PathBuf,
    started: Instant,
    rows: BTreeMap<String, FindingRow>,
}

impl Findings {
    /// Findings that are written into `folder`, which is made when there is one.
    pub fn new(folder: PathBuf, started: Instant) -> Findings {
        Findings {
            folder,
            started,
            rows: BTreeMap::new(),
        }
    }

    /// Keeps a finding. The first of its signature is written; a file that cannot be written is printed instead, whole.
    pub fn add(&mut self, finding: Finding) {
        if let Some(row) = self.rows.get_mut(&finding.signature) {
            row.seen += 1;
            return;
        }
        let at = self.started.elapsed().as_secs_f64();
        let path = self.folder.join(file_name(&finding));
        let file = CaseFile {
            format: CASE_FORMAT,
            shows: Some(finding.summary.clone()),
            signature: Some(finding.signature.clone()),
            source: None,
            origin: finding.origin,
            expect: None,
            case: finding.case,
        };
        if let Err(error) = write_case(&path, &file) {
            // The disk is full or the folder is not ours: what was found goes where it can still be read.
            say::error(format_args!("{error:#}; the case itself:"));
            say::line(serde_json::to_string(&file).unwrap_or_default());
        }
        let file = path.display().to_string();
        let repro = format!("cargo lockstep repro {file}");
        let row = FindingRow {
            signature: finding.signature,
            summary: finding.summary,
            file,
            repro,
            at,
            seen: 1,
        };
        self.rows.insert(row.signature.clone(), row);
    }

    /// Whether a finding of this signature is kept already.
    pub fn knows(&self, signature: &str) -> bool {
        self.rows.contains_key(signature)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows of the report, in the order in which they were found.
    pub fn rows(&self) -> Vec<FindingRow> {
        let mut rows: Vec<FindingRow> = self.rows.values().cloned().collect();
        rows.sort_by(|a, b| a.at.total_cmp(&b.at));
        rows
    }
}

fn file_name(finding: &Finding) -> String {
    let slug = slug(&finding.signature);
    match &finding.origin {
        Some(origin) => format!("{slug}-{}-{}-{}.json", origin.lane, origin.seed, origin.index),
        None => format!("{slug}.json"),
    }
}

/// The text of a case file: of every case there is one.
pub fn case_text(file: &CaseFile) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(file)? + "\n")
}

/// Writes a case file: it is whole, or not there.
///
/// # Errors
///
/// It cannot be written. One line that names the path.
pub fn write_case(path: &Path, file: &CaseFile) -> anyhow::Result<()> {
    files::write(path, &case_text(file)?)
}

/// Reads a case file. The error names the file, and the place in it.
pub fn read_case(path: &Path) -> anyhow::Result<CaseFile> {
    let name = path.display();
    let text = input::text(path, MAX_CASE_FILE).with_context(|| format!("{name}: cannot read the case"))?;
    parse_case(&name.to_string(), text.as_bytes())
}

/// The case file that `text` holds, UTF-8 JSON. The error begins with `name`, and names the place.
pub fn parse_case(name: &str, text: &[u8]) -> anyhow::Result<CaseFile> {
    let file: CaseFile = serde_json::from_slice(text).with_context(|| format!("{name}: not a case file"))?;
    anyhow::ensure!(
        file.format == CASE_FORMAT,
        "{name}: case format {}, and this program reads {CASE_FORMAT}",
        file.format
    );
    file.case.check().map_err(|why| anyhow::anyhow!("{name}: {why}"))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::StreamCase;

    fn finding(signature: &str) -> Finding {
        let case = Case::Stream(StreamCase::default());
        Finding {
            signature: signature.into(),
            summary: "they part".into(),
            case,
            origin: None,
        }
    }

    #[test]
    fn the_first_of_a_signature_is_written_and_the_others_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut findings = Findings::new(folder.path().join("findings"), Instant::now());
        for signature in ["ranges: a vs b", "ranges: a vs b", "decode: a vs b"] {
            findings.add(finding(signature));
        }
        let rows = findings.rows();
        assert_eq!(rows.iter().map(|row| row.seen).collect::<Vec<_>>(), [2, 1]);
        let path = folder.path().join("findings/ranges-a-vs-b.json");
        assert_eq!(rows[0].file, path.display().to_string());
        let kept = read_case(&path).expect("a case file");
        assert_eq!(kept.signature.as_deref(), Some("ranges: a vs b"));
        assert_eq!(kept.case, finding("").case);
    }

    /// As on a full disk: the row of the report is there all the same.
    #[test]
    fn a_finding_that_cannot_be_written_is_still_reported() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut findings = Findings::new(file.path().join("findings"), Instant::now());
        findings.add(finding("ranges: a vs b"));
        assert_eq!(findings.rows().len(), 1);
    }
}
