//! The report's three shapes, of results that fill every field and of results that fill none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lockstep::ledger::LedgerRow;
use lockstep::power::table::{self, Sums};
use lockstep::power::{Found, Outcome, POWER_FORMAT, Power, Row, Set};
use lockstep::report::bench::{BENCH_FORMAT, Bench, BenchRow, Ratio, Spread};
use lockstep::report::history::History;
use lockstep::report::results::{
    Answers, Comparison, Coverage, EngineRow, Evidence, FindingRow, GpuTable, Grid, Lane, Msl, NotRun, Open,
    RESULTS_FORMAT, Results, Shards, StrictRow,
};
use lockstep::report::{figures, html, markdown, terminal, write_html, write_json};
use lockstep::setup;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn lane(name: &str, cases: u64, worker_seconds: f64) -> Lane {
    Lane {
        name: name.into(),
        cases,
        worker_seconds,
    }
}

fn comparison(aspect: &str, reference: &str, compared: u64, both_accept: u64, both_refuse: u64) -> Comparison {
    let (aspect, reference) = (aspect.into(), reference.into());
    Comparison {
        aspect,
        subject: "native".into(),
        reference,
        compared,
        both_accept,
        both_refuse,
    }
}

fn counts(list: &[(&str, u64)]) -> BTreeMap<String, u64> {
    list.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
}

/// Every opcode with the reasons of a decoder, its counts out of a formula.
fn opcode_by_reason() -> Grid {
    let reasons = &wire::Reason::ALL[3..22];
    let cells = (0..wire::Op::ALL.len()).map(|row| (0..reasons.len()).map(|column| cell(row, column)).collect());
    Grid {
        name: "opcode by reason".into(),
        rows: wire::Op::ALL.iter().map(|op| op.name().to_owned()).collect(),
        columns: reasons.iter().map(|reason| reason.name().to_owned()).collect(),
        cells: cells.collect(),
    }
}

fn cell(row: usize, column: usize) -> Option<u64> {
    match (row * 7 + column * 5) % 11 {
        0..=4 => None,
        5 if row.is_multiple_of(5) => Some(0),
        rest => Some(1 << (rest * 2 + row % 3 + column % 2 - 9)),
    }
}

fn binding_by_stage() -> Grid {
    let names = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect();
    Grid {
        name: "binding type by stage".into(),
        rows: names(&[
            "uniform buffer",
            "storage buffer",
            "sampler",
            "sampled texture",
            "storage texture",
        ]),
        columns: names(&["vertex", "fragment", "compute"]),
        cells: vec![
            vec![Some(20_101), Some(19_877), Some(22_343)],
            vec![None, Some(7_001), Some(30_555)],
            vec![Some(1), Some(9_404), Some(9_120)],
            vec![Some(0), Some(11_872), Some(8_004)],
            vec![None, Some(3), Some(6_789)],
        ],
    }
}

fn faults() -> Grid {
    Grid {
        name: "fault".into(),
        rows: vec!["one-past-the-end".into(), "cut-stream".into(), "near-2^53".into()],
        columns: vec!["cases".into()],
        cells: vec![vec![Some(8_123)], vec![Some(4_321)], vec![Some(0)]],
    }
}

fn vulkan() -> EngineRow {
    EngineRow {
        engine: "wgpu:vulkan:llvmpipe".into(),
        driver: "llvmpipe (LLVM 15.0.6, 256 bits), Mesa 22.3.6".into(),
        executes: true,
        replays: 9_310,
        commands: 141_729,
        bytes_compared: 1_234_567_890,
        not_foretold: 17,
        devices_lost: 1,
        table: GpuTable {
            sound: 6_021,
            got_through: 1,
            left_to_device: 1_733,
            right: 1_204,
            over_refusal: 2,
            masked: 326,
            lost: 1,
            tolerated: 22,
        },
        tolerated: counts(&[("a write of 0 bytes past the buffer's end is taken", 22)]),
        left_to_device: counts(&[
            ("buffer usage", 611),
            ("copy alignment", 402),
            ("vertex buffer range", 288),
            ("bind group", 201),
            ("texture extent", 97),
            ("index buffer range", 61),
            ("usage scope", 40),
            ("attachment format", 21),
            ("viewport", 9),
            ("scissor", 3),
        ]),
        strict: StrictRow {
            sound: 5_903,
            device_only: 118,
            missed: 1,
            right: 3_187,
            over_refusal: 0,
            ledger: 23,
            not_shown: 77,
            open: open_rules(),
        },
    }
}

/// Two rules that the strict check closes and one that it does not, and more than the page shows unfolded.
fn open_rules() -> BTreeMap<String, Open> {
    let open = |left_open, closed| Open {
        left_open,
        closed,
        device_only: left_open - closed,
    };
    let mut rules: BTreeMap<String, Open> = (1..=15).map(|i| (format!("rule {i}"), open(i, i))).collect();
    rules.insert("copyBufferToBuffer: source is not destination".into(), open(611, 611));
    rules.insert(
        "draw: (firstInstance + instanceCount - 1) * arrayStride + lastStride <= vertex buffer size".into(),
        open(288, 288),
    );
    rules.insert("only a device says: BeginRenderPass".into(), open(118, 0));
    rules
}

fn noop() -> EngineRow {
    let (engine, driver) = ("wgpu:noop".into(), "validates, executes nothing".into());
    EngineRow {
        engine,
        driver,
        ..EngineRow::default()
    }
}

fn findings() -> Vec<FindingRow> {
    vec![
        FindingRow {
            signature: "gpu/wgpu:vulkan:llvmpipe/got-through/CopyBufferToBuffer/out-of-range".into(),
            summary: "CheckRanges accepts word 14, CopyBufferToBuffer; the GPU refuses it: \
                      copy of 64..72 of a buffer of 68 bytes"
                .into(),
            file: ".lockstep/findings/3f9c2a1b.case".into(),
            not_written: None,
            repro: "lockstep repro .lockstep/findings/3f9c2a1b.case".into(),
            at: 12.34,
            seen: 4_211,
            evidence: Some(evidence()),
        },
        FindingRow {
            signature: "decode/native/exec:./reader/<script>alert('x')</script>/\u{1b}[31m\u{202e}".into(),
            summary: "native refuses with bad-enum, the adapter with \"<b>none</b>\" & a new line\nhere".into(),
            file: ".lockstep/findings/77aa01ce.case".into(),
            not_written: Some(
                "cannot write .lockstep/findings/77aa01ce.case: No space left on device (os error 28)".into(),
            ),
            repro: "lockstep repro --reader 'exec:./reader' .lockstep/findings/77aa01ce.case".into(),
            at: 48.0,
            seen: 1,
            evidence: None,
        },
    ]
}

/// A stream with its marked word, and readers that part in one row of two.
fn evidence() -> Evidence {
    let says = |part: &str, says: [&str; 2]| Answers {
        part: part.into(),
        says: says.map(str::to_owned).to_vec(),
    };
    Evidence {
        text: "   #   word  command\n>   0      0  WriteBuffer\n           4  0x00000001 1   <-\n\n   1     10  <b>Submit</b>".into(),
        objects: "object #1     buffer             16 bytes, copy-dst\nobject #2     sampler            {\"<i>\":1}".into(),
        readers: vec!["native".into(), "exec:<i>".into()],
        answers: vec![
            says("header", ["accept", "accept"]),
            says("decode", ["data-range WriteBuffer at word 4", "accept 2 commands"]),
        ],
    }
}

fn sample() -> Results {
    Results {
        format: RESULTS_FORMAT,
        version: "0.1.0".into(),
        commit: Some("0123456789abcdef0123456789abcdef01234567".into()),
        shards: Shards { of: 4, ran: vec![0] },
        command: "lockstep run --seed 7 --time 60s".into(),
        seed: 7,
        started: 1_709_210_096,
        seconds: 60.25,
        workers: 2,
        interrupted: true,
        lanes: vec![
            lane("streams", 1_283_441, 52.1),
            lane("raw", 2_100_007, 14.9),
            lane("replays", 9_310, 41.7),
            lane("layouts", 71_255, 11.8),
            lane("shaders", 0, 0.0),
        ],
        comparisons: vec![
            comparison("decode", "replay-js", 3_383_448, 700_104, 2_683_341),
            comparison("ranges", "replay-js", 700_104, 500_010, 200_094),
            comparison(
                "decode",
                "exec:go run ./cmd/reader --format 4 --strict",
                1_000,
                400,
                599,
            ),
            comparison("slots", "slot-model", 71_255, 71_001, 254),
        ],
        ledger: vec![LedgerRow {
            name: "slot-truncated".into(),
            reason: "upstream wraps slots at 256".into(),
            could: 1_204,
            occurred: 1_204,
        }],
        msl: Msl {
            checks: BTreeMap::from([("§4.3 _buffer_sizes".into(), 39)]),
            translated: 18_456,
            arguments: 65_432,
            refused: counts(&[("missing-binding", 321), ("unsupported-in-version", 45)]),
        },
        engines: vec![vulkan(), noop()],
        recordings: vec![],
        coverage: Coverage {
            grids: vec![opcode_by_reason(), binding_by_stage(), faults()],
        },
        findings: findings(),
        repeated_findings: 4_210,
        not_run: vec![NotRun {
            what: "dawn".into(),
            why: "npm package webgpu is not installed".into(),
            mend: "lockstep doctor --install dawn".into(),
        }],
        power: None,
        bench: Some(bench()),
    }
}

fn bench() -> Bench {
    Bench {
        format: BENCH_FORMAT,
        quick: false,
        rows: vec![BenchRow {
            what: "decode".into(),
            on: "render".into(),
            bytes: Some(65536),
            unit: "command".into(),
            units: 3000,
            ns: Spread {
                low: 1.25,
                mid: 1.5,
                high: 1.75,
            },
            gb_per_second: Some(14.5),
            beside: vec![Ratio {
                to: "sum".into(),
                times: Spread {
                    low: 0.5,
                    mid: 0.625,
                    high: 0.75,
                },
                at_least: Some(0.5),
            }],
            at_most_ns: None,
        }],
        not_run: vec![],
    }
}

fn empty() -> Results {
    Results {
        format: RESULTS_FORMAT,
        version: "0.1.0".into(),
        commit: None,
        shards: Shards { of: 1, ran: vec![0] },
        command: String::new(),
        seed: 0,
        started: 0,
        seconds: 0.0,
        workers: 0,
        interrupted: false,
        lanes: vec![],
        comparisons: vec![],
        ledger: vec![],
        msl: Msl::default(),
        engines: vec![],
        recordings: vec![],
        coverage: Coverage::default(),
        findings: vec![],
        repeated_findings: 0,
        not_run: vec![],
        power: None,
        bench: None,
    }
}

/// A run that found nothing and left nothing out.
fn clean() -> Results {
    let mut results = sample();
    results.interrupted = false;
    results.findings.clear();
    results.not_run.clear();
    results.repeated_findings = 0;
    results.engines[0].table = GpuTable {
        got_through: 0,
        over_refusal: 0,
        lost: 0,
        ..vulkan().table
    };
    results.engines[0].strict.missed = 0;
    results
        .comparisons
        .iter_mut()
        .for_each(|row| row.both_refuse = row.compared - row.both_accept);
    results
}

fn page_of(results: &Results) -> String {
    html::page(results, &History::default())
}

#[test]
fn the_summary_of_a_full_run() {
    insta::assert_snapshot!(terminal::summary(&sample(), false));
}

#[test]
fn the_summary_of_an_empty_run() {
    insta::assert_snapshot!(terminal::summary(&empty(), false));
}

/// A subject in the place of the crates may have none.
#[test]
fn a_strict_check_that_was_not_asked_has_no_table() {
    let mut results = sample();
    let engines = results.engines.iter_mut();
    engines.for_each(|engine| engine.strict = StrictRow::default());
    let (summary, page) = (terminal::summary(&results, false), page_of(&results));
    let due = "\nStrict check\n  not answered: the subject has none, or failed each time\n\n";
    assert!(summary.contains(due) && !summary.contains("check_strict"), "{summary}");
    assert!(page.contains("The strict check was not answered: the subject has none, or failed each time."));
    assert!(!page.contains("check_strict against each engine"));
}

#[test]
fn the_summary_keeps_to_its_width_and_ends_in_the_verdict() {
    let mut wide = sample();
    let reader = "exec:go run ./cmd/reader --format 4 --strict";
    for aspect in ["immediates slot", "dynamic offsets", "group slots"] {
        wide.comparisons.push(comparison(aspect, reader, 51_200, 0, 0));
    }
    let summary = terminal::summary(&wide, false);
    for line in summary.lines() {
        assert!(console::measure_text_width(line) <= 100, "{line}");
    }
    assert!(
        summary.ends_with(
            "
2 findings in 3,464,013 cases
"
        ),
        "{summary}"
    );
    let clean = terminal::summary(&clean(), false);
    assert!(clean.ends_with("\nno findings in 3,464,013 cases\n"), "{clean}");
}

#[test]
fn colour_is_only_there_when_asked_and_changes_no_text() {
    let (plain, coloured) = (terminal::summary(&sample(), false), terminal::summary(&sample(), true));
    assert!(!plain.contains('\u{1b}'));
    assert!(coloured.contains('\u{1b}'));
    assert_eq!(console::strip_ansi_codes(&coloured), plain);
}

#[test]
fn a_long_list_of_findings_is_shortened_in_the_terminal_only() {
    let mut results = sample();
    let one = results.findings[0].clone();
    results.findings = (0..25)
        .map(|i| FindingRow {
            signature: format!("finding-number-{i}"),
            ..one.clone()
        })
        .collect();
    let summary = terminal::summary(&results, false);
    assert!(summary.contains("and 5 more"), "{summary}");
    assert!(!summary.contains("finding-number-20"), "{summary}");
    assert!(page_of(&results).contains("finding-number-24"));
}

/// Only then is it the reason: one that was ended before its first round has no case either.
#[test]
fn a_shard_that_had_no_round_is_said() {
    let none = |ran: Vec<u64>, interrupted| {
        let shards = Shards { of: 4, ran };
        let results = Results {
            shards,
            interrupted,
            ..empty()
        };
        figures::verdict(&results).beside
    };
    assert_eq!(
        none(vec![3], false),
        ["a campaign this short has no round for this shard"]
    );
    assert_eq!(none(vec![3], true), ["interrupted before its end"]);
    assert_eq!(none(vec![0, 1], false), [""; 0]);
}

/// Every whole number below a JSON value, but for two that the page shows in another shape.
fn numbers(value: &Value, key: &str, out: &mut Vec<u64>) {
    match value {
        Value::Number(number) if !matches!(key, "started" | "at") => out.extend(number.as_u64()),
        Value::Array(items) => items.iter().for_each(|item| numbers(item, key, out)),
        Value::Object(fields) => fields.iter().for_each(|(key, item)| numbers(item, key, out)),
        _ => {}
    }
}

#[test]
fn the_page_holds_every_number() {
    let page = page_of(&sample());
    let shown: Vec<&str> = page.split(|c: char| !c.is_ascii_digit() && c != ',').collect();
    let mut all = Vec::new();
    numbers(&serde_json::to_value(sample()).unwrap(), "", &mut all);
    assert!(all.len() > 300);
    for number in all {
        let text = figures::thousands(number);
        assert!(shown.contains(&text.as_str()), "{text} is missing");
    }
    for text in [
        "60.2 s",
        "12.3 s",
        "2024-02-29 12:34 UTC",
        "57,494 a second",
        "lockstep run --seed 7",
    ] {
        assert!(page.contains(text), "{text} is missing");
    }
}

/// A run that a time ended is not made again exactly.
#[test]
fn the_page_says_what_its_command_makes() {
    let page = page_of(&sample());
    assert!(page.contains("as many as fit in the time; `--cases N --seed S` makes exactly N:"));
    let page = page_of(&Results {
        command: "lockstep run --seed 7 --cases 100".into(),
        ..sample()
    });
    assert!(page.contains("<p>This makes the same cases on any machine:</p>"));
}

#[test]
fn the_page_escapes_what_it_is_given() {
    let page = page_of(&sample());
    assert!(!page.contains("<script>alert") && !page.contains("<b>none</b>") && !page.contains("<b>Submit</b>"));
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(page.contains("&lt;script&gt;alert"));
    assert!(page.contains("&lt;b&gt;none&lt;&#x2f;b&gt;"));
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert!(page.contains("\\u{202e}") && page.contains("new line\\nhere"));
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = page_of(&sample());
    for outside in ["http:", "https:", "src=", "@import", "url(", "<link", "<img", "<iframe"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn the_page_is_well_formed_and_its_tables_say_what_they_are() {
    let with_history = html::page(&sample(), &history());
    for page in [page_of(&sample()), page_of(&clean()), page_of(&empty()), with_history] {
        for tag in [
            "table", "caption", "tr", "td", "th", "div", "section", "article", "details", "ul", "li", "p", "b", "dl",
            "pre", "svg", "mark", "button", "h2", "h3",
        ] {
            let opened = page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        assert_eq!(page.matches("<table").count(), page.matches("<caption").count());
        assert_eq!(page.matches("<th ").count(), page.matches("<th scope=").count());
        assert!(!page.contains("<th>"), "every header says what it heads");
    }
}

#[test]
fn the_page_tells_unreached_from_impossible() {
    let page = page_of(&Results {
        coverage: Coverage {
            grids: vec![binding_by_stage()],
        },
        ..sample()
    });
    assert_eq!(page.matches("<td class=\"never\">").count(), 2);
    assert_eq!(page.matches("<td class=\"missed\">0</td>").count(), 1);
    assert!(page.contains("<li>sampled texture, vertex</li>"));
}

#[test]
fn the_verdict_follows_the_results() {
    assert!(page_of(&sample()).contains("<h1>2 findings</h1>"));
    assert!(page_of(&clean()).contains("<h1>No findings</h1>"));
    assert!(!page_of(&clean()).contains("class=\"tag bad\""));
    assert!(page_of(&empty()).contains("<h1>No case ran, so nothing is shown</h1>"));
}

#[test]
fn a_finding_shows_its_case_with_the_word_marked_and_the_answers_side_by_side() {
    let page = page_of(&sample());
    for shown in [
        "<mark>&gt;   0      0  WriteBuffer</mark><mark>           4  0x00000001 1   &lt;-</mark><span></span>",
        "<span>   1     10  &lt;b&gt;Submit&lt;&#x2f;b&gt;</span>",
        "<code><span>object #1     buffer             16 bytes, copy-dst</span><span>object #2     sampler            {&quot;&lt;i&gt;&quot;:1}</span></code>",
        "<th scope=\"col\">exec:&lt;i&gt;</th>",
        "<tr><th scope=\"row\">header</th><td><code>accept</code></td>",
        "<tr class=\"differ\"><th scope=\"row\">decode<span class=\"hidden\"> (they differ)</span></th>",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
}

#[test]
fn what_was_not_asked_for_is_not_shown_as_empty() {
    let results = Results {
        lanes: vec![lane("streams", 5, 1.0)],
        engines: vec![],
        bench: None,
        ..sample()
    };
    let page = page_of(&results);
    for part in ["gpu", "ledger", "msl", "throughput", "history"] {
        assert!(!page.contains(&format!("id=\"{part}\"")), "{part}");
        assert!(!page.contains(&format!("#{part}\"")), "{part}");
    }
    let summary = terminal::summary(&results, false);
    for part in ["\nGPU\n", "\nLedger\n", "\nMSL\n", "\nStrict check\n"] {
        assert!(!summary.contains(part), "{part:?}");
    }
    // What was asked for and came to nothing is said.
    let asked = Results {
        lanes: vec![lane("replays", 5, 1.0), lane("shaders", 0, 0.0)],
        msl: Msl::default(),
        ..results
    };
    let said = ["No engine replayed anything.", "No entry point was translated."];
    assert!(said.iter().all(|said| page_of(&asked).contains(said)));
    let said = ["no engine replayed anything", "no entry point was translated"];
    assert!(said.iter().all(|said| terminal::summary(&asked, false).contains(said)));
}

/// Two runs, given the newer first.
fn history() -> History {
    let older = Results {
        started: 1_709_123_696,
        commit: Some("0123456789abcdef-dirty".into()),
        findings: vec![],
        lanes: vec![lane("streams", 120_500, 1.0), lane("shaders", 0, 0.0)],
        ..sample()
    };
    History::of(&[sample(), older])
}

#[test]
fn a_history_has_the_figures_of_each_run() {
    let history = history();
    let [older, newer] = history.runs.as_slice() else {
        panic!("two runs")
    };
    assert_eq!((older.cases, older.findings, older.not_run), (120_500, 0, 1));
    assert_eq!(older.rates, [("streams".to_owned(), 2000.0)]);
    assert_eq!(older.verdict, "no findings");
    assert_eq!((newer.started, newer.seed, newer.findings), (1_709_210_096, 7, 2));
    assert_eq!(newer.verdict, "2 findings");
    assert_eq!((newer.reached, newer.possible), (older.reached, older.possible));
    assert!(newer.reached > 0 && newer.reached < newer.possible);
}

#[test]
fn the_page_draws_a_history_of_several_runs() {
    let page = html::page(&sample(), &history());
    for shown in [
        "aria-label=\"findings: from 0 to 2, at last 2\"",
        "points=\"6.0,58.0 274.0,6.0 \"",
        "<title>2024-02-28 12:34 UTC: 2,000</title>",
        "<code>012345678-dirty</code>",
        "<td>no findings</td>",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    assert!(!html::page(&sample(), &History::of(&[sample()])).contains("id=\"history\""));
}

#[test]
fn the_page_has_a_bar_a_function_and_says_which_goals_are_met() {
    let page = page_of(&sample());
    assert!(page.contains("<b>1 of 1 goal</b> met."), "the goal");
    assert!(page.contains("0.62 × sum (0.50–0.75), goal 0.50 <span class=\"tag good\">met</span>"));
    assert!(page.contains("<rect class=\"ours\" width=\"100.0\""));
}

/// `reference/browser/report_page.js` says what is held to what.
#[test]
fn the_page_holds_in_a_browser() {
    let folder = tempfile::tempdir().unwrap();
    let pages = [
        ("full.html", html::page(&with_power(), &history())),
        ("clean.html", page_of(&clean())),
        ("empty.html", page_of(&empty())),
    ];
    let deno = setup::look().deno.unwrap_or_else(|missing| panic!("{missing}"));
    let mut command = setup::deno_command(&root(), &deno);
    command.args(["run", "--allow-all", "browser/report_page.js"]);
    for (name, page) in pages {
        let path = folder.path().join(name);
        std::fs::write(&path, page).unwrap();
        command.arg(path);
    }
    let output = command.current_dir(root().join("reference")).output().unwrap();
    let said = |bytes| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{}{}",
        said(&output.stdout),
        said(&output.stderr)
    );
}

fn planted(name: &str, set: Set, outcome: Outcome) -> Row {
    Row {
        name: name.into(),
        set,
        area: "ranges".into(),
        source: "gfx-rs/wgpu #9073".into(),
        what: "sums wrap".into(),
        change: "cbf29ce484222325".into(),
        outcome,
    }
}

fn found(seconds: f64, size: Option<&str>) -> Outcome {
    Outcome::Found(Found {
        signature: "ranges: <subject>".into(),
        lane: "streams".into(),
        cases: 1_234,
        seconds,
        size: size.map(str::to_owned),
    })
}

/// One of each outcome, and found ones on both sides of each span.
fn power() -> Power {
    let why = || "true is naga's default".to_owned();
    Power {
        format: POWER_FORMAT,
        version: "0.1.0".into(),
        commits: vec!["0123456789abcdef".into()],
        shards: Shards { of: 1, ran: vec![0] },
        seed: 7,
        seconds_each: Some(10.0),
        cases_each: None,
        interrupted: false,
        selected: false,
        rows: vec![
            planted("wrap", Set::Faults, found(0.25, Some("1 command"))),
            planted("late", Set::Faults, found(2.5, None)),
            planted("early", Set::Faults, Outcome::Missed),
            planted(
                "gone",
                Set::Faults,
                Outcome::Broken {
                    why: "no such line".into(),
                },
            ),
            planted("+ with -", Set::Mutants, found(9.0, None)),
            planted("delete field a", Set::Mutants, Outcome::Listed { why: why() }),
            planted("delete field b", Set::Mutants, Outcome::Unviable),
        ],
        stale: vec!["delete field c: there is no such mutant".into()],
    }
}

fn with_power() -> Results {
    Results {
        power: Some(power()),
        ..sample()
    }
}

#[test]
fn the_page_says_what_share_of_planted_faults_is_found_and_how_soon() {
    let page = page_of(&with_power());
    for shown in [
        "<h3 id=\"power-1\">2 of 4 hand-made faults found, 50 %</h3>",
        "<h3 id=\"power-2\">1 of 2 mutants found, 50 %</h3>",
        "<th scope=\"row\">1 s</th>",
        "<li>half within <b>2500 ms</b></li>",
        "<li><b>1</b> missed <span class=\"tag bad\">a hole</span></li>",
        "<li><b>1</b> broken <span class=\"tag bad\">not measured</span></li>",
        "<li><b>1</b> listed with a reason</li>",
        "<li><b>1</b> more do not build, and are none</li>",
        "<li>stale: delete field c: there is no such mutant</li>",
        "Measured at <code>0123456789abcdef</code>.",
        "<td>found: <code>ranges: &lt;subject&gt;</code></td><td>1,234 cases of streams, 250 ms, 1 command when minimised</td>",
        "<td class=\"bad\">missed</td>",
        "<td class=\"bad\">broken: <code>no such line</code></td>",
        "<li><code>delete field a</code>: true is naga&#x27;s default</li>",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let place = |name: &str| page.find(&format!("<tr><th scope=\"row\">{name}</th>"));
    assert!(place("early") < place("wrap"), "what is missed stands first");
    assert!(
        !page.contains("<th scope=\"row\">+ with -</th>"),
        "a mutant that is found is only counted"
    );
    assert!(!page.contains("class=\"none\">These are"), "all of it");
    assert!(!page_of(&sample()).contains("id=\"power\""));
    let part = Power {
        shards: Shards { of: 4, ran: vec![0, 2] },
        interrupted: true,
        ..power()
    };
    let page = page_of(&Results {
        power: Some(part),
        ..sample()
    });
    assert!(page.contains("These are of 4 shards 0, 2 alone.") && page.contains("not all were measured"));
}

#[test]
fn that_not_all_faults_were_measured_is_said_everywhere() {
    let part = Power {
        shards: Shards { of: 4, ran: vec![2] },
        interrupted: true,
        selected: true,
        ..power()
    };
    let terminal = table::text(&part, 160);
    let results = Results {
        power: Some(part),
        ..sample()
    };
    let (page, markdown) = (page_of(&results), markdown::text(&results));
    for sentence in [
        "These are of 4 shards 2 alone.",
        "These are faults that were named, and not all.",
        "It was interrupted: not all were measured.",
    ] {
        assert!(terminal.lines().any(|line| line == sentence), "{terminal}");
        assert!(markdown.lines().any(|line| line == sentence), "{markdown}");
        assert!(
            page.contains(&format!("<p class=\"none\">{sentence}</p>")),
            "{sentence}"
        );
    }
    assert!(table::partial(&power()).is_empty());
}

#[test]
fn sums_of_planted_faults_count_within_spans() {
    let [faults, mutants] = &Sums::all(&power())[..] else {
        panic!("two sets")
    };
    assert_eq!([1, 3, 10].map(|seconds| faults.within(seconds)), [1, 2, 2]);
    assert_eq!([1, 3, 10].map(|seconds| mutants.within(seconds)), [0, 0, 1]);
    assert_eq!((faults.of, faults.missed, faults.broken, faults.listed), (4, 1, 1, 0));
    assert_eq!((mutants.of, mutants.unviable, mutants.listed), (2, 1, 1));
    assert_eq!(
        (faults.tenths(5), faults.tenths(10), mutants.tenths(9)),
        (Some(2.5), Some(2.5), Some(9.0))
    );
}

#[test]
fn markdown_and_the_terminal_have_the_same_sums_and_the_same_words() {
    let text = markdown::text(&with_power());
    for line in [
        "| planted | found | within 1 s | within 3 s | within 10 s | missed | broken | change nothing |",
        "| 4 hand-made faults | 2 | 1 | 2 | 2 | 1 | 1 | 0 |",
        "| 2 mutants | 1 | 0 | 0 | 1 | 0 | 0 | 1 |",
        "- `early: missed`",
        "- `gone: broken: no such line`",
        "- `stale: delete field c: there is no such mutant`",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}: {text}");
    }
    assert!(!markdown::text(&sample()).contains("planted"));
    let mut power = power();
    if let Outcome::Found(found) = &mut power.rows[0].outcome {
        found.signature = "ranges: faulty vs replay-js: ".repeat(10);
    }
    let text = table::text(&power, 160);
    assert!(
        text.contains("found: ranges: faulty vs replay-js: ") && text.contains('…'),
        "{text}"
    );
    let rows = text.lines().take_while(|line| !line.is_empty());
    rows.for_each(|row| assert!(console::measure_text_width(row) <= 160, "{row}"));
    for shown in [
        "2 of 4 hand-made faults found: 1 within 1 s, 2 within 3 s, 2 within 10 s; half within 2500 ms, nine in ten within 2500 ms, \
         the last after 2500 ms; 0 listed with a reason, 1 missed, 1 broken\n",
        "1 of 2 mutants found: 0 within 1 s, 0 within 3 s, 1 within 10 s; half within 9000 ms, nine in ten within 9000 ms, \
         the last after 9000 ms; 1 listed with a reason, 0 missed, 0 broken; 1 more does not build\n",
        "listed: true is naga's default",
        "broken: no such line",
        "stale: delete field c: there is no such mutant\n",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
}

#[test]
fn numbers_at_their_ends_are_shown() {
    let results = Results {
        seed: u64::MAX,
        seconds: f64::NAN,
        lanes: vec![lane("raw", u64::MAX, 1e9)],
        ..sample()
    };
    let page = page_of(&results);
    assert!(page.contains("18446744073709551615") && page.contains("18,446,744,073,709,551,615"));
    assert!(page.contains("277,777 h 46 min"));
    assert!(terminal::summary(&results, false).contains("seed 18446744073709551615"));
}

#[test]
fn json_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made/here/results.json");
    for results in [sample(), empty()] {
        write_json(&results, &path).unwrap();
        let back: Results = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(back, results);
    }
    write_html(&sample(), &History::default(), &path.with_extension("html")).unwrap();
    assert_eq!(
        names(path.parent().unwrap()),
        ["results.html", "results.json"],
        "nothing half-written is left"
    );
}

fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_path_that_cannot_be_written_is_named_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let (file, taken) = (folder.path().join("file"), folder.path().join("taken"));
    std::fs::write(&file, "").unwrap();
    std::fs::create_dir(&taken).unwrap();
    for path in [file.join("results.json"), taken] {
        for error in [
            write_json(&sample(), &path).unwrap_err(),
            write_html(&sample(), &History::default(), &path).unwrap_err(),
        ] {
            let text = format!("{error:#}");
            assert!(
                text.starts_with(&format!("cannot write {}: ", path.display())),
                "{text}"
            );
            assert_eq!(text.lines().count(), 1);
        }
    }
    assert_eq!(names(folder.path()), ["file", "taken"], "nothing half-written is left");
}

#[test]
fn the_schema_describes_what_is_written() {
    let text = std::fs::read(root().join("reports/results.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&text).unwrap();
    for results in [sample(), empty(), with_power()] {
        fits(&serde_json::to_value(results).unwrap(), &schema, &schema, "results");
    }
}

#[test]
fn the_schema_describes_the_detection_power_that_is_written() {
    let text = std::fs::read(root().join("reports/power.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&text).unwrap();
    let of_cases = Power {
        seconds_each: None,
        cases_each: Some(65536),
        ..power()
    };
    for power in [power(), of_cases] {
        fits(&serde_json::to_value(power).unwrap(), &schema, &schema, "power");
    }
}

/// As much of JSON Schema as ours uses. An object's properties are all required, as the case may be by what one of them is, and are the
/// keys that there are; of an object without any the schema says no more.
fn fits(value: &Value, schema: &Value, root: &Value, at: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root
            .pointer(&reference[1..])
            .unwrap_or_else(|| panic!("{at}: no {reference}"));
        return fits(value, target, root, at);
    }
    if let Some(expected) = schema.get("const") {
        return assert_eq!(value, expected, "{at}");
    }
    if let Some(options) = schema["enum"].as_array() {
        return assert!(options.contains(value), "{at}: {value} is none of {options:?}");
    }
    assert!(is_of(value, &schema["type"]), "{at}: {value} is no {}", schema["type"]);
    if let (Some(number), Some(least)) = (value.as_f64(), schema["minimum"].as_f64()) {
        assert!(number >= least, "{at}: {number} is below {least}");
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| fits(item, &schema["items"], root, at)),
        Value::Object(fields) => {
            let properties = schema["properties"].as_object();
            if let Some(properties) = properties {
                let due = required(value, schema);
                assert!(fields.keys().eq(&due), "{at}: {value} has not the keys {due:?}");
                let closed = schema["additionalProperties"] == false;
                assert!(closed, "{at}: more than the properties");
                let depends = schema["allOf"].is_array();
                assert!(
                    depends || properties.keys().eq(&due),
                    "{at}: a property that is not required"
                );
            }
            let rest = &schema["additionalProperties"];
            for (key, item) in fields {
                match properties.map_or(rest, |properties| &properties[key]) {
                    Value::Null => {}
                    of_it => fits(item, of_it, root, &format!("{at}.{key}")),
                }
            }
        }
        _ => {}
    }
}

fn is_of(value: &Value, types: &Value) -> bool {
    let is = |name: &str| match name {
        "integer" => value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    };
    match types {
        Value::Array(types) => types.iter().filter_map(Value::as_str).any(is),
        _ => types.as_str().is_some_and(is),
    }
}

/// The keys that an object must have, with those that `allOf` adds where its `if` is so.
fn required(value: &Value, schema: &Value) -> BTreeSet<String> {
    let names = |list: &Value| {
        let list = list["required"].as_array().expect("a list of what is required");
        list.iter()
            .map(|name| name.as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    let holds = |rule: &&Value| {
        let conditions = rule["if"]["properties"].as_object().expect("conditions");
        conditions.iter().all(|(key, is)| match &is["enum"] {
            Value::Array(options) => options.contains(&value[key]),
            _ => value[key] == is["const"],
        })
    };
    let rules = schema["allOf"].as_array().map_or(&[][..], Vec::as_slice);
    let more = rules.iter().filter(holds).flat_map(|rule| names(&rule["then"]));
    names(schema).into_iter().chain(more).collect()
}
