//! Findings: kept one a signature, written the moment they are found, so that nothing is lost however the campaign ends.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context as _;

use crate::case::{CASE_FORMAT, Case, CaseFile, Origin};
use crate::files::{self, slug};
use crate::report::results::FindingRow;
use crate::{input, say, text};

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

/// So many signatures are kept apart, so that a reader whose every answer is another fault does not fill memory and disk. From there on a
/// new one counts as [`FURTHER`].
const MAX_SIGNATURES: usize = 10_000;
/// The signature of what is beyond.
const FURTHER: &str = "further signatures";

/// The findings of a campaign.
pub struct Findings {
    folder: PathBuf,
    started: Instant,
    /// Seconds before `started`, of a campaign that goes on.
    before: f64,
    /// `seen` counts rounds that are finished.
    rows: BTreeMap<String, FindingRow>,
    /// How often each was seen in each round that is not.
    unfinished: BTreeMap<u64, BTreeMap<String, u64>>,
}

impl Findings {
    /// Findings that are written into `folder`, which is made when there is one.
    pub fn new(folder: PathBuf, started: Instant) -> Findings {
        Findings {
            folder,
            started,
            before: 0.0,
            rows: BTreeMap::new(),
            unfinished: BTreeMap::new(),
        }
    }

    /// The same, with the findings of so many seconds before.
    pub fn go_on(self, rows: Vec<FindingRow>, before: f64) -> Findings {
        let rows = rows.into_iter().map(|row| (row.signature.clone(), row)).collect();
        Findings { before, rows, ..self }
    }

    /// Keeps a finding of a round. The first of its signature is written; a file that cannot be written is printed instead, whole.
    pub fn add(&mut self, round: u64, mut finding: Finding) {
        if self.rows.len() >= MAX_SIGNATURES && !self.knows(&finding.signature) {
            finding.signature = FURTHER.into();
        }
        let seen = self.unfinished.entry(round).or_default();
        *seen.entry(finding.signature.clone()).or_default() += 1;
        if self.knows(&finding.signature) {
            return;
        }
        let at = self.before + self.started.elapsed().as_secs_f64();
        let path = self.folder.join(file_name(&finding));
        let file = CaseFile {
            shows: Some(finding.summary.clone()),
            signature: Some(finding.signature.clone()),
            origin: finding.origin,
            ..CaseFile::of(finding.case)
        };
        let not_written = write_case(&path, &file).err().map(|error| format!("{error:#}"));
        let path = path.display().to_string();
        let repro = match (&not_written, &file.origin) {
            (Some(_), Some(Origin { lane, seed, index })) => {
                format!("cargo lockstep repro --generated {lane}:{seed}:{index}")
            }
            _ => format!("cargo lockstep repro {path}"),
        };
        if let Some(error) = &not_written {
            // The disk is full or the folder is not ours: what was found goes where it can still be read.
            say::error(format_args!("{error}; the case itself:"));
            say::line(serde_json::to_string(&file).unwrap_or_default());
        }
        let row = FindingRow {
            signature: finding.signature,
            summary: finding.summary,
            file: path,
            not_written,
            repro,
            at,
            seen: 0,
            evidence: None,
        };
        self.rows.insert(row.signature.clone(), row);
    }

    /// A round is finished: what was seen in it counts.
    pub fn finish(&mut self, round: u64) {
        for (signature, seen) in self.unfinished.remove(&round).unwrap_or_default() {
            self.rows.entry(signature).and_modify(|row| row.seen += seen);
        }
    }

    /// Whether a finding of this signature is kept already.
    pub fn knows(&self, signature: &str) -> bool {
        self.rows.contains_key(signature)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// No round goes on: what was seen in one that was cut short counts too.
    pub fn end(&mut self) {
        let rounds: Vec<u64> = self.unfinished.keys().copied().collect();
        rounds.into_iter().for_each(|round| self.finish(round));
    }

    /// The rows of the report, of the rounds that are finished, in the order in which they were found.
    pub fn rows(&self) -> Vec<FindingRow> {
        let rows = self.rows.values().filter(|row| row.seen > 0);
        let mut rows: Vec<FindingRow> = rows.cloned().collect();
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

/// The text of a case file: of every case there is one. A stream stands there as text too, whatever `file` has for it.
pub fn case_text(file: &CaseFile) -> anyhow::Result<String> {
    let file = CaseFile {
        text: stream_text(&file.case),
        ..file.clone()
    };
    Ok(serde_json::to_string_pretty(&file)? + "\n")
}

/// A stream as the lines of text that say its blob; none of a blob that is refused whole, and of a case of another kind.
pub fn stream_text(case: &Case) -> Vec<String> {
    let Case::Stream(case) = case else { return Vec::new() };
    let blob = wire::Blob::parse(&case.blob).ok();
    let text = blob.map_or(String::new(), |blob| text::write(&blob));
    text.lines().map(str::to_owned).collect()
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
    let file: CaseFile = serde_json::from_slice(text)
        .map_err(|error| anyhow::anyhow!("{name}: not a case file: {}", input::plainly(error)))?;
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
        for (round, signature) in [(0, "ranges: a vs b"), (1, "ranges: a vs b"), (1, "decode: a vs b")] {
            findings.add(round, finding(signature));
        }
        let seen = |findings: &Findings| findings.rows().iter().map(|row| row.seen).collect::<Vec<_>>();
        assert_eq!(seen(&findings), [0_u64; 0], "no round is finished");
        findings.finish(0);
        assert_eq!(seen(&findings), [1]);
        findings.end();
        assert_eq!(seen(&findings), [2, 1]);
        let rows = findings.rows();
        assert_eq!(
            (&rows[0].not_written, rows[0].repro.ends_with("ranges-a-vs-b.json")),
            (&None, true)
        );
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
        let origin = Some(Origin {
            lane: "raw".into(),
            seed: 3,
            index: 5,
        });
        findings.add(
            0,
            Finding {
                origin,
                ..finding("ranges: a vs b")
            },
        );
        findings.end();
        let row = &findings.rows()[0];
        let why = row.not_written.as_deref().expect("it says why");
        assert!(why.starts_with(&format!("cannot write {}: ", row.file)), "{why}");
        assert_eq!(row.repro, "cargo lockstep repro --generated raw:3:5");
    }

    /// A reader whose every answer is another fault fills neither memory nor disk.
    #[test]
    fn signatures_beyond_ten_thousand_are_counted_as_one() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let mut findings = Findings::new(file.path().join("findings"), Instant::now());
        let row = |signature: String| FindingRow {
            summary: String::new(),
            file: String::new(),
            not_written: None,
            repro: String::new(),
            at: 0.0,
            seen: 1,
            evidence: None,
            signature,
        };
        findings = findings.go_on((0..10_000).map(|i| row(i.to_string())).collect(), 7.0);
        for signature in ["new", "newer", "5"] {
            findings.add(0, finding(signature));
        }
        findings.end();
        let rows = findings.rows();
        assert_eq!(rows.len(), 10_001);
        let seen = |signature: &str| rows.iter().find(|row| row.signature == signature).map(|row| row.seen);
        assert_eq!(
            [seen("new"), seen("5"), seen("further signatures")],
            [None, Some(2), Some(2)]
        );
        assert!(rows[10_000].at >= 7.0, "found after those before");
    }
}
