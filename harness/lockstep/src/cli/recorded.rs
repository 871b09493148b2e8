//! `lockstep run --recorded`: recordings of programs, replayed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::campaign::{Cast, epoch_seconds};
use crate::findings::{Finding, Findings};
use crate::gpu::engine::{self, EngineId};
use crate::oracles::{Outcome, Verdict};
use crate::readers::StreamReader;
use crate::recording::Recording;
use crate::recording::replay::{self, Found};
use crate::report::figures::{count as count_of, plain};
use crate::report::results::{Comparison, Coverage, FindingRow, Lane, Msl, RESULTS_FORMAT, Results, Shards, repeated};
use crate::report::write_json;
use crate::say;

/// The recordings in these folders.
///
/// # Errors
///
/// The first that is none.
pub(super) fn open(folders: &[PathBuf]) -> anyhow::Result<Vec<Recording>> {
    folders.iter().map(|folder| Recording::open(folder)).collect()
}

/// Replays them one after the other, until `stop` is set. What is found is kept as it comes, and in `results.json` what was played, so that
/// a second signal, which ends the program at once, loses no recording before the one at which it stands.
pub(super) fn replay(recordings: &[Recording], cast: &Cast, out: &Path, quiet: bool, stop: &AtomicBool) -> Results {
    let started = Instant::now();
    let mut readers: Vec<Box<dyn StreamReader>> = vec![(cast.subject)()];
    readers.extend(cast.references.iter().map(|reference| reference()));
    let engines = engine::available().into_iter();
    let engines: Vec<EngineId> = engines.filter(|engine| cast.engines.contains(&engine.id)).collect();
    let subject = readers[0].name().to_owned();
    let all = command(recordings);
    let mut results = empty(&all);
    results.not_run.clone_from(&cast.not_run);
    let mut comparisons = Vec::new();
    let mut findings = Findings::new(out.join("findings"), started);
    let mut rows: Vec<FindingRow> = Vec::new();
    for recording in recordings {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let folder = recording.folder.display();
        if !quiet {
            let streams = count_of(recording.streams.len() as u64, "stream", "streams");
            say::line(plain(&format!("{folder}: {streams} of {}", recording.program())));
        }
        let mut compared = |outcome: &Outcome, reference: &str| count(&mut comparisons, outcome, &subject, reference);
        let again = command(std::slice::from_ref(recording));
        let mut found = |found: Found| keep(found, recording, &again, started, &mut findings, &mut rows);
        let replayed = replay::replay(recording, &mut readers, &engines, &mut compared, &mut found, stop);
        results.lanes[0].cases += replayed.asked;
        results.recordings.push(replayed.row);
        results.seconds = started.elapsed().as_secs_f64();
        results.lanes[0].worker_seconds = results.seconds;
        results.comparisons.clone_from(&comparisons);
        findings.end();
        results.findings = findings.rows();
        // A stream alone does not show what takes the whole recording.
        let whole = results
            .findings
            .iter_mut()
            .filter(|row| row.signature.starts_with("recorded: "));
        whole.for_each(|row| row.repro.clone_from(&all));
        results.findings.extend(rows.iter().cloned());
        results.repeated_findings = repeated(&results.findings);
        results.interrupted = true;
        if results.recordings.len() < recordings.len()
            && let Err(error) = write_json(&results, &out.join("results.json"))
        {
            say::error(format_args!("{error:#}"));
        }
    }
    results.interrupted = stop.load(Ordering::Relaxed);
    results
}

/// A finding that one stream shows is a case file; of another the recording itself is what shows it.
fn keep(
    found: Found,
    recording: &Recording,
    again: &str,
    started: Instant,
    findings: &mut Findings,
    rows: &mut Vec<FindingRow>,
) {
    let Found {
        signature,
        summary,
        stream,
    } = found;
    let file = recording.folder.display().to_string();
    if let Some(stream) = stream {
        let case = crate::case::Case::Stream(recording.case(stream));
        return findings.add(
            0,
            Finding {
                signature,
                summary,
                case,
                origin: None,
            },
        );
    }
    if let Some(row) = rows
        .iter_mut()
        .find(|row| row.signature == signature && row.file == file)
    {
        row.seen += 1;
        return;
    }
    rows.push(FindingRow {
        signature,
        summary,
        file,
        not_written: None,
        repro: again.to_owned(),
        at: started.elapsed().as_secs_f64(),
        seen: 1,
        evidence: None,
    });
}

fn count(comparisons: &mut Vec<Comparison>, outcome: &Outcome, subject: &str, reference: &str) {
    let same = |row: &Comparison| row.aspect == outcome.aspect && row.reference == reference;
    let at = comparisons.iter().position(same).unwrap_or_else(|| {
        comparisons.push(Comparison {
            aspect: outcome.aspect.into(),
            subject: subject.into(),
            reference: reference.into(),
            compared: 0,
            both_accept: 0,
            both_refuse: 0,
        });
        comparisons.len() - 1
    });
    let row = &mut comparisons[at];
    row.compared += 1;
    row.both_accept += u64::from(outcome.verdict == Verdict::BothAccept);
    row.both_refuse += u64::from(outcome.verdict == Verdict::BothRefuse);
}

fn command(recordings: &[Recording]) -> String {
    let mut command = "cargo lockstep run".to_owned();
    for recording in recordings {
        command += &format!(" --recorded {}", recording.folder.display());
    }
    command
}

/// Results with none of a campaign's parts.
fn empty(command: &str) -> Results {
    Results {
        format: RESULTS_FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        commit: None,
        shards: Shards { of: 1, ran: vec![0] },
        command: command.into(),
        seed: 0,
        started: epoch_seconds(),
        seconds: 0.0,
        workers: 1,
        interrupted: false,
        lanes: vec![Lane {
            name: "recorded streams".into(),
            cases: 0,
            worker_seconds: 0.0,
        }],
        comparisons: Vec::new(),
        ledger: Vec::new(),
        msl: Msl::default(),
        engines: Vec::new(),
        recordings: Vec::new(),
        coverage: Coverage::default(),
        findings: Vec::new(),
        repeated_findings: 0,
        not_run: Vec::new(),
        power: None,
        bench: None,
    }
}
