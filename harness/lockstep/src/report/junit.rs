//! The results as JUnit's XML, for a CI server's table of tests.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::figures::{count, plain};
use super::results::{Comparison, FindingRow, Lane, NotRun, Results};

/// The XML: a suite of the lanes, one of what was compared (a row fails where answers differ), one of the parts that did not run (an error
/// each; what `is_excused` is skipped), and one of the findings (a failure each, with the command that shows it again).
///
/// # Panics
///
/// Not by its input: text that XML cannot hold is written as `\u{1b}`.
pub fn xml(results: &Results, is_excused: impl Fn(&NotRun) -> bool) -> String {
    let mut report = Report::new("lockstep");
    report.set_time(seconds(results.seconds));
    let parts = results.not_run.iter().map(|row| part(row, is_excused(row)));
    let suites = [
        ("lanes", results.lanes.iter().map(lane).collect::<Vec<_>>()),
        ("comparisons", results.comparisons.iter().map(comparison).collect()),
        ("parts", parts.collect()),
        ("findings", results.findings.iter().map(finding).collect()),
    ];
    for (name, cases) in suites {
        let mut suite = TestSuite::new(name);
        suite.add_test_cases(cases);
        report.add_test_suite(suite);
    }
    report.to_string().expect("a text takes any bytes")
}

/// A number of a file's that may be anything.
fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default()
}

fn test(class: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(plain(name), status);
    case.set_classname(format!("lockstep.{class}"));
    case
}

fn failed(kind: NonSuccessKind, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_message(plain(message));
    status
}

fn lane(lane: &Lane) -> TestCase {
    let name = format!("{}: {}", lane.name, count(lane.cases, "case", "cases"));
    let mut case = test("lanes", &name, TestCaseStatus::success());
    case.set_time(seconds(lane.worker_seconds));
    case
}

fn comparison(row: &Comparison) -> TestCase {
    let name = format!("{}: {} with {}", row.aspect, row.subject, row.reference);
    let status = match row.differ() {
        0 => TestCaseStatus::success(),
        differ => failed(
            NonSuccessKind::Failure,
            &format!(
                "{} of {}",
                count(differ, "answer differs", "answers differ"),
                row.compared
            ),
        ),
    };
    test("comparisons", &name, status)
}

fn part(row: &NotRun, is_excused: bool) -> TestCase {
    let message = format!("{}; {}", row.why, row.mend);
    let status = match is_excused {
        true => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(plain(&message));
            status
        }
        false => failed(NonSuccessKind::Error, &message),
    };
    test("parts", &format!("{} runs", row.what), status)
}

fn finding(row: &FindingRow) -> TestCase {
    let mut status = failed(NonSuccessKind::Failure, &row.summary);
    let seen = count(row.seen, "time", "times");
    let place = match &row.not_written {
        Some(why) => format!("no case file: {why}"),
        None => format!("case {}", row.file),
    };
    let lines = [row.repro.clone(), place, format!("seen {seen}")].map(|line| plain(&line));
    status.set_description(lines.join("\n"));
    test("findings", &row.signature, status)
}
