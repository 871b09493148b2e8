//! Shards' results merged, every sum written out; and the shapes that a merged report has.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use lockstep::files;
use lockstep::ledger::LedgerRow;
use lockstep::power::{self, Outcome, POWER_FORMAT, Power, Row, Set};
use lockstep::report::merge::merge;
use lockstep::report::results::{
    Comparison, Coverage, EngineRow, FindingRow, GpuTable, Grid, Lane, Msl, NotRun, Open, RESULTS_FORMAT, Results,
    Shards, StrictRow,
};
use lockstep::report::{junit, markdown, read_json, sarif, write_json};

fn counts(list: &[(&str, u64)]) -> BTreeMap<String, u64> {
    list.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
}

fn grid(name: &str, rows: &[&str], columns: &[&str], cells: &[&[Option<u64>]]) -> Grid {
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect();
    Grid {
        name: name.into(),
        rows: names(rows),
        columns: names(columns),
        cells: cells.iter().map(|row| row.to_vec()).collect(),
    }
}

fn finding(signature: &str, file: &str, at: f64, seen: u64) -> FindingRow {
    FindingRow {
        signature: signature.into(),
        summary: format!("{signature}, in words"),
        file: file.into(),
        not_written: None,
        repro: format!("cargo lockstep repro {file} --reader 'exec:mine'"),
        at,
        seen,
        evidence: None,
    }
}

fn not_run(what: &str) -> NotRun {
    NotRun {
        what: what.into(),
        why: "it is not there".into(),
        mend: "bring it".into(),
    }
}

fn comparison(aspect: &str, reference: &str, counts: [u64; 3]) -> Comparison {
    Comparison {
        aspect: aspect.into(),
        subject: "native".into(),
        reference: reference.into(),
        compared: counts[0],
        both_accept: counts[1],
        both_refuse: counts[2],
    }
}

/// An engine's row whose every count is another: `n`, `n + 1`, and so on.
fn engine(name: &str, n: u64) -> EngineRow {
    EngineRow {
        engine: name.into(),
        driver: "of the machine".into(),
        executes: true,
        replays: n,
        commands: n + 1,
        bytes_compared: n + 2,
        not_foretold: n + 3,
        devices_lost: n + 4,
        table: GpuTable {
            sound: n + 5,
            got_through: n + 6,
            left_to_device: n + 7,
            right: n + 8,
            over_refusal: n + 9,
            masked: n + 10,
            lost: n + 11,
            tolerated: n + 12,
        },
        tolerated: counts(&[("both", n + 13), (&format!("only {n}"), 1)]),
        left_to_device: counts(&[("usage", n + 14)]),
        strict: StrictRow {
            sound: n + 15,
            device_only: n + 16,
            missed: n + 17,
            right: n + 18,
            over_refusal: n + 19,
            ledger: n + 20,
            not_shown: n + 21,
            open: BTreeMap::from([(
                "rule".to_owned(),
                Open {
                    left_open: n + 22,
                    closed: n + 23,
                    device_only: n + 24,
                },
            )]),
        },
    }
}

/// Shard `i` of 2.
fn shard(i: u64) -> Results {
    let second = i == 1;
    let pick = |first: u64, other: u64| if second { other } else { first };
    Results {
        format: RESULTS_FORMAT,
        version: "0.1.0".into(),
        commit: Some("0123456789abcdef0123456789abcdef01234567".into()),
        shards: Shards { of: 2, ran: vec![i] },
        command: format!("cargo lockstep run --seed 7 --time 60s --shard {i}/2 --only gpu"),
        seed: 7,
        started: pick(1_000, 990),
        seconds: if second { 61.5 } else { 60.0 },
        workers: 2,
        interrupted: second,
        recordings: Vec::new(),
        bench: None,
        lanes: vec![Lane {
            name: "streams".into(),
            cases: pick(1_000, 230),
            worker_seconds: if second { 0.5 } else { 1.25 },
        }],
        comparisons: match second {
            false => vec![
                comparison("ranges", "replay-js", [40, 30, 10]),
                comparison("bind", "wgpu-hal", [5, 5, 0]),
            ],
            true => vec![
                comparison("decode", "replay-js", [9, 4, 4]),
                comparison("ranges", "replay-js", [2, 1, 1]),
            ],
        },
        ledger: vec![LedgerRow {
            name: "slot-truncated".into(),
            reason: "wraps".into(),
            could: pick(3, 4),
            occurred: pick(3, 2),
        }],
        msl: Msl {
            translated: pick(10, 1),
            arguments: pick(20, 2),
            refused: counts(&[("missing-binding", pick(3, 4))]),
            checks: counts(&[(if second { "two" } else { "one" }, 5)]),
        },
        engines: match second {
            false => vec![engine("wgpu:noop", 100)],
            true => vec![engine("dawn", 7), engine("wgpu:noop", 1_000)],
        },
        coverage: Coverage {
            grids: match second {
                false => vec![grid("fault", &["cut", "near"], &["cases"], &[&[Some(2)], &[Some(0)]])],
                true => vec![
                    grid("fault", &["near", "new"], &["cases"], &[&[Some(5)], &[Some(1)]]),
                    grid(
                        "op by stage",
                        &["a", "b"],
                        &["x", "y"],
                        &[&[None, Some(0)], &[Some(3), Some(4)]],
                    ),
                ],
            },
        },
        repeated_findings: pick(4, 1),
        findings: match second {
            false => vec![finding("decode: a", "out/findings/a.json", 9.0, 5)],
            true => vec![
                finding("decode: a", "out/findings/a-too.json", 3.0, 1),
                finding("ranges: b", r"C:\out\findings\b.json", 20.0, 2),
            ],
        },
        power: None,
        not_run: match second {
            false => vec![not_run("dawn")],
            true => vec![not_run("dawn"), not_run("a GPU")],
        },
    }
}

fn both() -> Vec<(String, Results)> {
    vec![("one.json".into(), shard(0)), ("two.json".into(), shard(1))]
}

#[test]
fn every_count_is_added() {
    let whole = merge(both()).expect("one campaign");
    assert_eq!(whole.command, "cargo lockstep run --seed 7 --time 60s --only gpu");
    assert_eq!(whole.shards, Shards { of: 2, ran: vec![0, 1] });
    assert_eq!(
        (whole.seed, whole.started, whole.workers, whole.interrupted),
        (7, 990, 4, true)
    );
    assert_eq!(whole.seconds, 61.5, "they ran side by side");
    assert_eq!((whole.lanes[0].cases, whole.lanes[0].worker_seconds), (1_230, 1.75));
    assert_eq!(
        whole.comparisons,
        [
            comparison("decode", "replay-js", [9, 4, 4]),
            comparison("ranges", "replay-js", [42, 31, 11]),
            comparison("bind", "wgpu-hal", [5, 5, 0]),
        ]
    );
    assert_eq!((whole.ledger[0].could, whole.ledger[0].occurred), (7, 5));
    assert_eq!((whole.msl.translated, whole.msl.arguments), (11, 22));
    assert_eq!(whole.msl.refused, counts(&[("missing-binding", 7)]));
    assert_eq!(whole.msl.checks, counts(&[("one", 5), ("two", 5)]));
    assert_eq!(whole.not_run, [not_run("dawn"), not_run("a GPU")]);
}

#[test]
fn engines_are_added_by_name_and_driver() {
    let whole = merge(both()).expect("one campaign");
    let noop = EngineRow {
        replays: 1_100,
        commands: 1_102,
        bytes_compared: 1_104,
        not_foretold: 1_106,
        devices_lost: 1_108,
        table: GpuTable {
            sound: 1_110,
            got_through: 1_112,
            left_to_device: 1_114,
            right: 1_116,
            over_refusal: 1_118,
            masked: 1_120,
            lost: 1_122,
            tolerated: 1_124,
        },
        tolerated: counts(&[("both", 1_126), ("only 100", 1), ("only 1000", 1)]),
        left_to_device: counts(&[("usage", 1_128)]),
        strict: StrictRow {
            sound: 1_130,
            device_only: 1_132,
            missed: 1_134,
            right: 1_136,
            over_refusal: 1_138,
            ledger: 1_140,
            not_shown: 1_142,
            open: BTreeMap::from([(
                "rule".to_owned(),
                Open {
                    left_open: 1_144,
                    closed: 1_146,
                    device_only: 1_148,
                },
            )]),
        },
        ..engine("wgpu:noop", 0)
    };
    assert_eq!(whole.engines, [engine("dawn", 7), noop]);
    let mut parts = both();
    parts[1].1.engines[1].driver = "another".into();
    let whole = merge(parts).expect("one campaign");
    let drivers: Vec<_> = whole
        .engines
        .iter()
        .map(|row| (row.driver.as_str(), row.replays))
        .collect();
    assert_eq!(
        drivers,
        [("of the machine", 7), ("another", 1_000), ("of the machine", 100)]
    );
}

#[test]
fn coverage_is_united_by_the_names_of_rows_and_columns() {
    let whole = merge(both()).expect("one campaign");
    assert_eq!(
        whole.coverage.grids,
        [
            grid(
                "fault",
                &["cut", "near", "new"],
                &["cases"],
                &[&[Some(2)], &[Some(5)], &[Some(1)]]
            ),
            grid(
                "op by stage",
                &["a", "b"],
                &["x", "y"],
                &[&[None, Some(0)], &[Some(3), Some(4)]]
            ),
        ]
    );
    // What cannot occur in one and cannot in the other cannot occur; what can in one can.
    let mut parts = both();
    let more = grid(
        "op by stage",
        &["b", "a"],
        &["y", "z"],
        &[&[Some(10), Some(1)], &[None, Some(0)]],
    );
    parts[0].1.coverage.grids = vec![more];
    parts.swap(0, 1);
    let whole = merge(parts).expect("one campaign");
    assert_eq!(
        whole.coverage.grids[1],
        grid(
            "op by stage",
            &["a", "b"],
            &["x", "y", "z"],
            &[&[None, Some(0), Some(0)], &[Some(3), Some(14), Some(1)]]
        )
    );
}

#[test]
fn findings_are_united_by_signature() {
    let whole = merge(both()).expect("one campaign");
    let rows: Vec<_> = whole
        .findings
        .iter()
        .map(|row| (row.signature.as_str(), row.seen, row.at))
        .collect();
    assert_eq!(rows, [("decode: a", 6, 3.0), ("ranges: b", 2, 20.0)]);
    assert_eq!(whole.findings[0].file, "out/findings/a-too.json", "the one found first");
    assert_eq!(whole.repeated_findings, 6);
    let mut parts = both();
    parts[1].1.findings[0].not_written = Some("full".into());
    let whole = merge(parts).expect("one campaign");
    assert_eq!(whole.findings[0].file, "out/findings/a.json", "the one that is there");
}

#[test]
fn of_many_missing_shards_sixteen_are_named() {
    let mut first = shard(0);
    first.shards.of = 18;
    first.command = first.command.replace("0/2", "0/18");
    let whole = merge(vec![("one.json".into(), first)]).expect("a part");
    let missing = whole.not_run.iter().map(|row| row.what.as_str());
    let missing: Vec<&str> = missing.filter(|what| what.contains("shard")).collect();
    assert_eq!(
        (missing.len(), missing[0], missing[15]),
        (17, "shard 1/18", "shard 16/18")
    );
    assert_eq!(missing[16], "1 further shard of 18");
}

#[test]
fn a_missing_shard_is_said_until_it_is_there() {
    let half = merge(vec![("two.json".into(), shard(1))]).expect("a part");
    let missing = half.not_run.last().expect("a row");
    assert_eq!(missing.what, "shard 0/2");
    assert_eq!(
        missing.mend,
        "give its results.json too; `cargo lockstep run --seed 7 --time 60s --only gpu --shard 0/2` makes it"
    );
    let whole = merge(vec![("half.json".into(), half), ("one.json".into(), shard(0))]).expect("both");
    assert_eq!(whole.not_run, [not_run("dawn"), not_run("a GPU")]);
    assert_eq!(whole.lanes[0].cases, 1_230);
    assert_eq!(whole.command, "cargo lockstep run --seed 7 --time 60s --only gpu");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let other = |change: &dyn Fn(&mut Results)| {
        let mut parts = both();
        change(&mut parts[1].1);
        merge(parts).expect_err("refused").to_string()
    };
    let of = "two.json: not of one campaign with one.json: its";
    let rows: [(String, String); 6] = [
        (
            other(&|part| part.seed = 8),
            format!("{of} seed is `8`, and there it is `7`"),
        ),
        (
            other(&|part| part.commit = None),
            format!("{of} commit is `none`, and there it is `0123456789abcdef0123456789abcdef01234567`"),
        ),
        (
            other(&|part| part.version = "0.2.0".into()),
            format!("{of} version is `0.2.0`, and there it is `0.1.0`"),
        ),
        (
            other(&|part| part.command = "cargo lockstep run --seed 7 --time 90s --shard 1/2 --only gpu".into()),
            format!(
                "{of} command is `cargo lockstep run --seed 7 --time 90s --only gpu`, and there it is \
                 `cargo lockstep run --seed 7 --time 60s --only gpu`"
            ),
        ),
        (
            other(&|part| {
                part.shards.of = 3;
                part.command = part.command.replace("1/2", "1/3");
            }),
            format!("{of} number of shards is `3`, and there it is `2`"),
        ),
        (
            other(&|part| *part = shard(0)),
            "two.json: shard 0/2 is there twice".to_owned(),
        ),
    ];
    for (said, due) in rows {
        assert_eq!(said, due);
    }
}

#[test]
fn junit_has_a_row_for_all_that_ran_and_did_not() {
    let whole = merge(both()).expect("one campaign");
    let xml = junit::xml(&whole, |row| row.what == "a GPU");
    for due in [
        r#"<testsuites name="lockstep" tests="8" skipped="1" failures="3" errors="1" time="61.500">"#,
        r#"<testsuite name="comparisons" tests="3" skipped="0" errors="0" failures="1">"#,
        r#"<testcase name="decode: native with replay-js" classname="lockstep.comparisons">
            <failure message="1 answer differs of 9"/>"#,
        r#"<testcase name="ranges: native with replay-js" classname="lockstep.comparisons"/>"#,
        r#"<testcase name="streams: 1,230 cases" classname="lockstep.lanes" time="1.750"/>"#,
        r#"<testcase name="dawn runs" classname="lockstep.parts">
            <error message="it is not there; bring it"/>"#,
        r#"<skipped message="it is not there; bring it"/>"#,
        r#"<failure message="decode: a, in words">cargo lockstep repro out/findings/a-too.json --reader"#,
        "seen 6 times</failure>",
    ] {
        assert!(xml.contains(due), "{due}\nin {xml}");
    }
    let parsed = quick_junit::Report::deserialize_from_str(&xml).expect("JUnit");
    assert_eq!((parsed.tests, parsed.failures, parsed.errors), (8, 3, 1));
}

#[test]
fn sarif_has_a_result_a_finding() {
    let mut whole = merge(both()).expect("one campaign");
    let log: serde_json::Value = serde_json::from_str(&sarif::json(&whole)).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "decode");
    assert_eq!(run["tool"]["driver"]["rules"][1]["id"], "ranges");
    assert_eq!(run["results"].as_array().map(Vec::len), Some(2));
    let result = &run["results"][1];
    assert_eq!(
        (&result["ruleId"], &result["level"]),
        (&"ranges".into(), &"error".into())
    );
    assert_eq!(result["partialFingerprints"]["signature/v1"], "ranges: b");
    assert_eq!(result["properties"]["seen"], 2);
    let said = "ranges: b, in words\ncargo lockstep repro C:\\out\\findings\\b.json --reader 'exec:mine'";
    assert_eq!(result["message"]["text"], said);
    let place = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(place, "C%3A/out/findings/b.json");
    whole.findings[1].file = "/a b/c.json".into();
    assert!(sarif::json(&whole).contains(r#""uri": "file:///a%20b/c.json""#));
    let said = &run["invocations"][0];
    assert_eq!(said["executionSuccessful"], false);
    assert_eq!(
        said["toolExecutionNotifications"][0]["message"]["text"],
        "dawn did not run: it is not there; bring it"
    );
}

#[test]
fn markdown_begins_with_the_verdict_and_nothing_in_it_is_markup() {
    let mut whole = merge(both()).expect("one campaign");
    whole.findings[1].signature = "ranges: `<b>|x`".into();
    let text = markdown::text(&whole);
    let due = "\
## lockstep: 2 findings

1,230 cases, 61.5 s, seed 7, commit 0123456789ab, seen again 6 times, interrupted before its end, 2 parts did not run

| finding | seen | again |
| --- | ---: | --- |
| `decode: a` | 6 | `cargo lockstep repro out/findings/a-too.json --reader 'exec:mine'` |
| `` ranges: `<b>\\|x` `` | 2 | `cargo lockstep repro C:\\out\\findings\\b.json --reader 'exec:mine'` |

Did not run:

- `dawn`: `it is not there`; `bring it`
- `a GPU`: `it is not there`; `bring it`

<details><summary>What ran</summary>

| lane | cases | a second |
| --- | ---: | ---: |
| `streams` | 1,230 | 20.0 |

`cargo lockstep run --seed 7 --time 60s --only gpu`

</details>
";
    assert_eq!(text, due);
    whole.findings = vec![whole.findings[0].clone(); 23];
    assert!(markdown::text(&whole).contains("\nand 3 more findings\n"));
}

fn report(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lockstep"));
    command
        .arg("report")
        .args(args)
        .current_dir(folder)
        .env("RUST_BACKTRACE", "0");
    command.output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A shard's folder as it comes from another machine: results.json, and findings/ beside it.
fn write_shard(folder: &Path, results: &Results, cases: &[&str]) {
    write_json(results, &folder.join("results.json")).expect("written");
    for name in cases {
        let case = r#"{"stream":{"objects":[],"id_map":[],"blob":"","max_workgroups":0,"window":0}}"#;
        let text = format!(r#"{{"format":1,"shows":"{name}","case":{case}}}"#);
        files::write(&folder.join("findings").join(name), &text).expect("written");
    }
}

#[test]
fn cases_come_along_so_that_the_merged_report_s_commands_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    write_shard(&at("one"), &shard(0), &["a.json"]);
    // b.json did not come along.
    write_shard(&at("two"), &shard(1), &["a-too.json", "a-too.original.json"]);
    let args = [
        "one",
        "two/results.json",
        "--out",
        "whole",
        "--junit",
        "made/junit.xml",
        "--html",
        "page.html",
    ];
    let output = report(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("2 findings in 1,230 cases"),
        "{}",
        text(&output.stdout)
    );
    let whole = read_json(&at("whole/results.json")).expect("results");
    let [a, b] = &whole.findings[..] else { panic!("two") };
    assert_eq!(a.file, "whole/findings/a-too.json");
    assert_eq!(
        a.repro,
        "cargo lockstep repro whole/findings/a-too.json --reader 'exec:mine'"
    );
    assert!(at("whole/findings/a-too.json").is_file() && at("whole/findings/a-too.original.json").is_file());
    assert_eq!(b.not_written.as_deref(), Some("two/findings/b.json is not there"));
    assert_eq!((a.seen, b.seen, whole.lanes[0].cases), (6, 2, 1_230));
    for name in ["whole/report.html", "made/junit.xml", "page.html"] {
        assert!(at(name).is_file(), "{name}");
    }
    // Onto itself: nothing is lost.
    let again = report(folder.path(), &["whole", "--out", "whole", "--json"]);
    assert_eq!(
        serde_json::from_slice::<Results>(&again.stdout).expect("JSON").findings[0].file,
        a.file
    );
    assert!(at("whole/findings/a-too.json").metadata().expect("there").len() > 50);
}

#[test]
fn a_missing_shard_ends_with_status_2() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut clean = shard(0);
    (clean.findings, clean.not_run) = (Vec::new(), Vec::new());
    write_shard(&folder.path().join("one"), &clean, &[]);
    let output = report(folder.path(), &["one"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("shard 1/2"), "{}", text(&output.stdout));
    (clean.shards.ran, clean.command) = (vec![1], clean.command.replace("0/2", "1/2"));
    clean.not_run = vec![not_run("a GPU")];
    write_shard(&folder.path().join("two"), &clean, &[]);
    assert_eq!(report(folder.path(), &["one", "two"]).status.code(), Some(0));
    assert_eq!(
        report(folder.path(), &["one", "two", "--require-gpu"]).status.code(),
        Some(2)
    );
}

/// What is no results file is one line that names it.
#[test]
fn bad_results_are_said_in_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let good = serde_json::to_string(&shard(0)).expect("JSON");
    let rows = [
        ("none.json", None, "none.json: cannot read the results: No such file"),
        (
            "text.json",
            Some("no results".to_owned()),
            "text.json: not JSON: expected ident at line 1",
        ),
        (
            "old.json",
            Some(good.replace(r#""format":3"#, r#""format":2"#)),
            "old.json: its format is 2, and this program reads 3",
        ),
        (
            "large.json",
            Some(good.replace(r#""cases":1000"#, r#""cases":18446744073709551615"#)),
            "large.json: 18446744073709551615 is no count of anything",
        ),
        (
            "part.json",
            Some(good.replace(r#""workers":2,"#, "")),
            "part.json: not results of a run: missing field `workers`",
        ),
        (
            "detection.json",
            Some(good.replace(r#""power":null"#, r#""power":{"format":1}"#)),
            "detection.json: its detection power is of format 1, and this program reads 2",
        ),
    ];
    for (name, content, due) in rows {
        if let Some(content) = content {
            std::fs::write(folder.path().join(name), content).expect("written");
        }
        let output = report(folder.path(), &[name]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(said.contains(due) && said.lines().count() == 1, "{said}");
    }
}

/// Shard `i` of two, in which one fault is missed.
fn power(i: u64) -> Power {
    let row = |name: &str, set| Row {
        name: format!("{name}-{i}"),
        set,
        area: "ranges".into(),
        source: "gfx-rs/wgpu #9073".into(),
        what: "sums wrap".into(),
        change: "cbf29ce484222325".into(),
        outcome: Outcome::Missed,
    };
    Power {
        format: POWER_FORMAT,
        version: "0.1.0".into(),
        commits: vec!["0123456789abcdef".into()],
        shards: Shards { of: 2, ran: vec![i] },
        seed: 1,
        seconds_each: Some(10.0),
        cases_each: None,
        interrupted: i == 1,
        selected: false,
        rows: vec![row("wrap", Set::Faults), row("mutant", Set::Mutants)],
        stale: vec![format!("stale-{i}"), "no such mutant".into()],
    }
}

#[test]
fn shards_of_detection_power_are_put_together() {
    let parts = [1, 0, 1].map(|i| (format!("part-{i}"), power(i)));
    let whole = power::merge(parts.to_vec()).expect("one measuring");
    let names: Vec<&str> = whole.rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["wrap-0", "wrap-1", "mutant-0", "mutant-1"]);
    assert_eq!(whole.shards, Shards { of: 2, ran: vec![0, 1] });
    assert!(whole.interrupted, "one of them was");
    assert_eq!(whole.stale, ["stale-1", "no such mutant", "stale-0"]);
    let mut cut_short = power(1);
    cut_short.rows.pop();
    let parts = [power(0), cut_short].map(|part| ("part".to_owned(), part));
    let whole = power::merge(parts.to_vec()).expect("a shard that was ended before its mutants");
    assert_eq!(whole.rows.len(), 3);
    let mut doubled = power(1);
    doubled.rows.push(power(0).rows.remove(0));
    let parts = [power(0), doubled].map(|part| ("part".to_owned(), part));
    let error = power::merge(parts.to_vec())
        .expect_err("a fault is measured by one shard")
        .to_string();
    assert_eq!(error, "part: `wrap-0` is there and in another shard");
}

#[test]
fn detection_power_of_another_measuring_is_refused() {
    let change = |change: fn(&mut Power)| {
        let mut other = power(1);
        change(&mut other);
        other
    };
    let rows = [
        (
            change(|it| it.commits[0] = "fedc".into()),
            "its commit is `fedc`, and there it is `0123456789abcdef`",
        ),
        (
            change(|it| it.version = "9".into()),
            "its version is `9`, and there it is `0.1.0`",
        ),
        (change(|it| it.seed = 2), "its seed is `2`, and there it is `1`"),
        (
            change(|it| it.seconds_each = Some(1.0)),
            "its budget is `1 s`, and there it is `10 s`",
        ),
        (
            change(|it| it.shards.of = 3),
            "its number of shards is `3`, and there it is `2`",
        ),
        (
            change(|it| {
                it.rows.pop();
                it.interrupted = false;
            }),
            "its set of faults is `faults`, and there it is `faults and mutants`",
        ),
    ];
    for (other, due) in rows {
        let parts = vec![("one".to_owned(), power(0)), ("two".to_owned(), other)];
        let error = power::merge(parts).expect_err(due).to_string();
        assert_eq!(error, format!("two: not measured together with one: {due}"));
    }
    let twice = vec![
        ("one".to_owned(), power(0)),
        ("two".to_owned(), change(|it| it.shards.ran = vec![0])),
    ];
    assert_eq!(
        power::merge(twice).expect_err("twice").to_string(),
        "two: shard 0/2 is there twice"
    );
}

#[test]
fn detection_power_that_contradicts_itself_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let change = |change: fn(&mut Power)| {
        let mut power = power(0);
        change(&mut power);
        power
    };
    let shards = "shards.ran is not in order, each once and below shards.of";
    let rows = [
        (change(|it| it.shards.ran = vec![0, 0]), shards),
        (change(|it| it.shards.ran = vec![2]), shards),
        (change(|it| it.shards.of = 0), shards),
        (
            change(|it| it.rows.push(it.rows[0].clone())),
            "a name stands in two rows",
        ),
        (
            change(|it| it.cases_each = Some(1)),
            "seconds_each and cases_each are both set",
        ),
    ];
    for (power, due) in rows {
        write_power(folder.path(), &power);
        let error = power::read(&folder.path().join("power.json"))
            .expect_err(due)
            .to_string();
        assert!(error.ends_with(&format!("it contradicts itself: {due}")), "{error}");
    }
}

fn write_power(folder: &Path, power: &Power) {
    files::write(&folder.join("power.json"), &serde_json::to_string(power).expect("JSON")).expect("written");
}

#[test]
fn power_merges_folders_and_the_report_takes_what_lies_beside_the_results() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for (name, i) in [("one", 0), ("two", 1)] {
        write_power(&at(name), &power(i));
        write_shard(&at(name), &shard(i), &[]);
    }
    let merge = |args: &[&str]| {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("lockstep"));
        let command = command.args(["power", "--merge"]).args(args).current_dir(folder.path());
        command.output().expect("it runs")
    };
    let part = merge(&["one"]);
    assert_eq!(part.status.code(), Some(2), "a shard is missing");
    assert!(
        text(&part.stdout).contains("of 2 shards 0 alone"),
        "{}",
        text(&part.stdout)
    );
    let whole = merge(&["one", "two/power.json", "--out", "whole"]);
    assert_eq!(whole.status.code(), Some(2), "one was interrupted");
    assert!(
        text(&whole.stdout).contains("0 of 2 hand-made faults found"),
        "{}",
        text(&whole.stdout)
    );
    let written = power::read(&at("whole/power.json"))
        .expect("it is read")
        .expect("it is there");
    assert_eq!(written.shards.ran, [0, 1]);
    let none = merge(&["three"]);
    assert!(
        text(&none.stderr).contains("three: no such file"),
        "{}",
        text(&none.stderr)
    );

    let output = report(folder.path(), &["one", "two", "--out", "all", "--markdown", "all.md"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(
        read_json(&at("all/results.json")).expect("results").power,
        Some(written)
    );
    let page = std::fs::read_to_string(at("all/report.html")).expect("a page");
    assert!(page.contains("0 of 2 hand-made faults found"));
    let summary = std::fs::read_to_string(at("all.md")).expect("a summary");
    assert!(summary.contains("| 2 hand-made faults | 0 |"), "{summary}");
    // The results that were merged carry it on.
    assert_eq!(
        report(folder.path(), &["all", "--markdown", "again.md"]).status.code(),
        Some(1)
    );
    assert_eq!(std::fs::read_to_string(at("again.md")).expect("a summary"), summary);

    // Beside none of the results: that of --out is.
    for name in ["one", "two"] {
        std::fs::remove_file(at(name).join("power.json")).expect("removed");
    }
    report(folder.path(), &["one", "two", "--out", "whole"]);
    assert_eq!(
        read_json(&at("whole/results.json")).expect("results").power,
        read_json(&at("all/results.json")).expect("results").power
    );

    write_power(&at("one"), &power(0));
    let other = Power {
        commits: vec!["fedc".into()],
        ..power(1)
    };
    write_power(&at("two"), &other);
    let output = report(folder.path(), &["one", "two"]);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(
        said.contains("the detection power of two/results.json: not measured together with the detection power of one/results.json: its commit"),
        "{said}"
    );
}
