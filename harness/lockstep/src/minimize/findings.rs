//! The findings of a campaign, made smaller where they lie.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{End, Jury, Limits, Minimized, minimize, size};
use crate::campaign::Cast;
use crate::case::CaseFile;
use crate::findings::{read_case, write_case};
use crate::report::results::{FindingRow, NotRun, Results};

/// So long at most for one finding.
const EACH: Duration = Duration::from_secs(10);

/// Minimises each finding of a campaign, for `limit` at most over all: its file then holds the smallest case, and one beside it,
/// `NAME.original.json`, the case that the campaign found. A reader's failure is left as it is: the campaign has searched for its case, and
/// one that hangs is waited for at each question; so is what takes a whole recording. What was not come to is said among what did not run.
pub fn findings(results: &mut Results, cast: &Cast, limit: Duration, stop: &AtomicBool) {
    let until = Instant::now() + limit;
    let mut jury = Jury::of(cast);
    let (mut left, mut not_written) = (0_usize, Vec::new());
    let left_alone = |row: &FindingRow| {
        ["reader ", "recorded: "]
            .iter()
            .any(|kind| row.signature.starts_with(kind))
    };
    for row in results.findings.iter_mut().filter(|row| !left_alone(row)) {
        let remaining = until.saturating_duration_since(Instant::now());
        let limits = Limits {
            limit: remaining.min(EACH),
            stop,
        };
        match minimize_file(row, &mut jury, &limits) {
            Ok(done) => left += usize::from(matches!(done, Some(End::Stopped | End::Limit))),
            Err(error) => not_written.push(NotRun {
                what: format!("minimising {}", row.file),
                why: format!("{error:#}"),
                mend: format!("make room, then `cargo lockstep minimize {}`", row.file),
            }),
        }
    }
    results.not_run.extend(not_written);
    if left > 0 {
        results.not_run.push(NotRun {
            what: format!("minimising, of {left} findings to the end"),
            why: match stop.load(Ordering::Relaxed) {
                true => "it was ended",
                false => "time was up",
            }
            .into(),
            mend: "`cargo lockstep minimize FILE` goes on".into(),
        });
    }
}

/// `None` where there is nothing to do: the file could not be written when it was found, or the case does not show its finding again.
///
/// # Errors
///
/// The smaller case cannot be written; then the file is as it was found.
fn minimize_file(row: &mut FindingRow, jury: &mut Jury, limits: &Limits<'_>) -> anyhow::Result<Option<End>> {
    let path = PathBuf::from(&row.file);
    let Ok(original) = read_case(&path) else {
        return Ok(None);
    };
    let signature = row.signature.as_str();
    let mut judge = |cases: &[_]| jury.signatures(cases, signature);
    let Some(Minimized { case, end, .. }) = minimize(&original.case, signature, &mut judge, limits, &mut |_| {}) else {
        return Ok(None);
    };
    if case == original.case {
        return Ok(Some(end));
    }
    let smaller = CaseFile {
        // It is no case of a generator's any more.
        origin: None,
        case,
        ..original.clone()
    };
    write_case(&beside(&path), &original)?;
    write_case(&path, &smaller)?;
    row.summary = format!("{}; minimised to {}", row.summary, size(&smaller.case));
    Ok(Some(end))
}

/// Where the case is kept as it was found.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("original.json")
}
