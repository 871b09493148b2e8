//! `lockstep bench`: how fast `wire` and `mslmap` are, beside the memory's own speed and their peers; and how many instructions the hot
//! loops take.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail, ensure};
use comfy_table::{CellAlignment, Table, presets};
use serde::Deserialize;

use super::run::not_run;
use super::{BAD, CLEAN, FOUND};
use crate::files;
use crate::report::bench::{BENCH_FORMAT, Bench, BenchRow, Ratio, Spread};
use crate::say;
use crate::setup::{self, Environment, cargo_command, tools};

const EXAMPLES: &str = "Examples:
  cargo lockstep bench                  the whole table; minutes, on a quiet machine
  cargo lockstep bench --quick          rough figures
  cargo lockstep bench '^render/decode' the rows whose INPUT/FUNCTION/SIZE this regular expression finds
  cargo lockstep bench --instructions   the instructions of the hot loops, held to harness/bench/instructions.toml

Exit status: 0 measured, 1 a loop takes more instructions than it may, 2 bad use or a missing part.";

/// What the command line says.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Measure only the rows whose INPUT/FUNCTION/SIZE this regular expression finds, and write nothing
    #[arg(value_name = "ROWS", conflicts_with = "instructions")]
    only: Option<String>,
    /// Measure each row only as long as a rough figure takes
    #[arg(long)]
    quick: bool,
    /// Print the figures as JSON, as they are written to reports/out/bench.json
    #[arg(long)]
    json: bool,
    /// Count the instructions of the hot loops with valgrind instead, and fail where one takes 5 % more than
    /// harness/bench/instructions.toml says
    #[arg(long, conflicts_with_all = ["quick", "json"])]
    instructions: bool,
    /// Write what was counted into harness/bench/instructions.toml
    #[arg(long, requires = "instructions")]
    write: bool,
}

/// Measures, prints and writes; or counts. Goals are shown and do not change the exit status: they are about a quiet machine.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    let environment = Environment::here()?;
    if args.instructions {
        return instructions(&environment, args.write, out);
    }
    let bench = measure(&environment, args)?;
    let json = serde_json::to_string_pretty(&bench)? + "\n";
    if args.json {
        out.write_all(json.as_bytes())?;
    } else {
        writeln!(out, "{}", table(&bench))?;
    }
    // Some rows alone would take the place of all.
    if args.only.is_none() {
        let path = file(&environment.root);
        files::write(&path, &json)?;
        say::line(format_args!("written to {}", path.display()));
    }
    for row in &bench.not_run {
        say::error(format_args!("{} was not measured: {}; {}", row.what, row.why, row.mend));
    }
    Ok(if bench.not_run.is_empty() { CLEAN } else { BAD })
}

fn file(root: &Path) -> PathBuf {
    root.join("reports").join("out").join("bench.json")
}

/// What was measured last, for the report of a campaign; none where nothing was, or by a program of another version.
pub fn last(root: &Path) -> Option<Bench> {
    let bench: Bench = serde_json::from_slice(&fs::read(file(root)).ok()?).ok()?;
    (bench.format == BENCH_FORMAT).then_some(bench)
}

/// Kinds of input, in the order in which they are shown.
const ORDER: [&str; 6] = ["render", "compute", "upload", "recorded", "refused", "descriptors"];

/// What a row is held against on the same input, in the order in which rows are shown: by how many times it is to be as fast, at
/// which nominal sizes.
struct Yardstick {
    what: &'static str,
    to: &'static str,
    at_least: Option<f64>,
    sizes: &'static [&'static str],
}

const fn yardstick(
    what: &'static str,
    to: &'static str,
    at_least: Option<f64>,
    sizes: &'static [&'static str],
) -> Yardstick {
    Yardstick {
        what,
        to,
        at_least,
        sizes,
    }
}

const SMALL: &[&str] = &["65536", "1048576"];

const YARDSTICKS: [Yardstick; 17] = [
    yardstick("copy", "sum", None, &[]),
    yardstick("decode", "sum", Some(0.5), SMALL),
    yardstick("decode", "rkyv", Some(1.5), SMALL),
    yardstick("decode", "serde+postcard", Some(8.0), SMALL),
    yardstick("decode to a vector", "sum", None, &[]),
    yardstick("remap", "copy", Some(0.5), &["16777216"]),
    yardstick("remap_reads", "copy", None, &[]),
    yardstick("check_ranges", "sum", None, &[]),
    yardstick("check_strict", "sum", None, &[]),
    yardstick("rkyv", "decode", None, &[]),
    yardstick("serde+postcard", "decode", None, &[]),
    yardstick("serde+bincode", "decode", None, &[]),
    yardstick("flatbuffers", "decode", None, &[]),
    yardstick("replay.js", "decode", None, &[]),
    yardstick("StageLayout, all stages", "create_pipeline_layout", Some(2.0), &["1"]),
    yardstick("StageLayout, one stage", "create_pipeline_layout", None, &[]),
    yardstick("options", "create_pipeline_layout", None, &[]),
];

/// The goal of CheckRanges, in nanoseconds a command.
const RANGES_AT_MOST: f64 = 2.0;

/// Criterion's `benchmark.json`, as much of it as is read.
#[derive(Deserialize)]
struct Measured {
    group_id: String,
    function_id: String,
    /// The nominal size.
    value_str: Option<String>,
    throughput: Throughput,
}

#[derive(Clone, Copy, Deserialize)]
enum Throughput {
    Elements(u64),
    ElementsAndBytes { elements: u64, bytes: u64 },
}

/// Criterion's `estimates.json`, as much of it as is read. The median is less disturbed by whatever else runs than the mean.
#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    point_estimate: f64,
    confidence_interval: Interval,
}

#[derive(Deserialize)]
struct Interval {
    lower_bound: f64,
    upper_bound: f64,
}

fn measure(environment: &Environment, args: &Args) -> anyhow::Result<Bench> {
    if let Some(only) = &args.only {
        regex::Regex::new(only).with_context(|| format!("ROWS: {only:?} is no regular expression"))?;
    }
    let parts = setup::bring(&mut |line| say::line(line));
    let home = target(&environment.root)?.join("lockstep-bench");
    // Rows of an earlier run would be taken for this one's.
    if home.exists() {
        fs::remove_dir_all(&home).with_context(|| format!("cannot empty {}", home.display()))?;
    }
    let mut cargo = cargo_command(&environment.root);
    cargo
        // Of the workspace, so that what its tests have built is not built again with fewer features.
        .args(["bench", "--locked", "--workspace", "--bench", "throughput", "--"])
        .args(args.quick.then_some("--quick"))
        .args(&args.only)
        .env("CRITERION_HOME", &home)
        .stdout(Stdio::from(std::io::stderr()));
    if let Ok(deno) = &parts.deno {
        cargo.env("LOCKSTEP_DENO", deno);
    }
    let status = cargo.status().context("cargo does not start")?;
    ensure!(status.success(), "the benches ended with {status}");
    let deno = parts.deno.as_ref().err().map(|missing| not_run("replay.js", missing));
    let rows = rows(&home)?;
    let like = args.only.as_ref();
    ensure!(
        !rows.is_empty(),
        "nothing was measured{}",
        like.map_or(String::new(), |only| format!(
            ": no row's INPUT/FUNCTION/SIZE is like {only:?}"
        ))
    );
    Ok(Bench {
        format: BENCH_FORMAT,
        quick: args.quick,
        rows,
        not_run: deno.into_iter().collect(),
    })
}

/// cargo's target folder.
fn target(root: &Path) -> anyhow::Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .current_dir(root)
        .no_deps()
        .exec()?;
    Ok(metadata.target_directory.into_std_path_buf())
}

/// The rows that criterion wrote below a folder, those of one input together.
fn rows(home: &Path) -> anyhow::Result<Vec<BenchRow>> {
    let mut measured: Vec<(Measured, Spread)> = Vec::new();
    // criterion makes none where it measures nothing.
    if !home.exists() {
        return Ok(Vec::new());
    }
    for path in files::find(home, "json")? {
        if path.ends_with("new/benchmark.json") {
            let of: Measured = read(&path)?;
            let Estimates { median } = read(&path.with_file_name("estimates.json"))?;
            let units = elements(&of) as f64;
            let ns = Spread {
                low: median.confidence_interval.lower_bound / units,
                mid: median.point_estimate / units,
                high: median.confidence_interval.upper_bound / units,
            };
            measured.push((of, ns));
        }
    }
    measured.sort_by_cached_key(|(of, _)| {
        let nominal = nominal(of).parse::<u64>().unwrap_or(0);
        let kind = ORDER.iter().position(|kind| *kind == of.group_id);
        let what = YARDSTICKS.iter().position(|yardstick| yardstick.what == of.function_id);
        // What the others are held against has none itself, and comes first.
        (kind.unwrap_or(ORDER.len()), of.group_id.clone(), nominal, what)
    });
    let speeds: BTreeMap<(&str, &str, &str), Spread> = measured
        .iter()
        .map(|(of, ns)| ((&of.group_id[..], nominal(of), &of.function_id[..]), *ns))
        .collect();
    Ok(measured.iter().map(|(of, ns)| row(of, *ns, &speeds)).collect())
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> anyhow::Result<T> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is not as criterion writes it", path.display()))
}

fn elements(of: &Measured) -> u64 {
    match of.throughput {
        Throughput::Elements(elements) | Throughput::ElementsAndBytes { elements, .. } => elements,
    }
}

/// The nominal size; 1 of layouts.
fn nominal(of: &Measured) -> &str {
    of.value_str.as_deref().unwrap_or("1")
}

fn row(of: &Measured, ns: Spread, speeds: &BTreeMap<(&str, &str, &str), Spread>) -> BenchRow {
    let units = elements(of);
    let bytes = match of.throughput {
        Throughput::Elements(_) => None,
        Throughput::ElementsAndBytes { bytes, .. } => Some(bytes),
    };
    let beside = YARDSTICKS.iter().filter(|yardstick| yardstick.what == of.function_id);
    let beside = beside.filter_map(|yardstick| {
        let other = speeds.get(&(&of.group_id[..], nominal(of), yardstick.to))?;
        Some(Ratio {
            to: yardstick.to.into(),
            times: Spread {
                low: other.low / ns.high,
                mid: other.mid / ns.mid,
                high: other.high / ns.low,
            },
            // A refused stream is no subject of a goal.
            at_least: yardstick
                .at_least
                .filter(|_| yardstick.sizes.contains(&nominal(of)) && of.group_id != "refused"),
        })
    });
    let unit = match &of.group_id[..] {
        "descriptors" => "descriptor",
        group if ORDER.contains(&group) => "command",
        _ => "layout",
    };
    BenchRow {
        what: of.function_id.clone(),
        on: of.group_id.clone(),
        bytes,
        unit: unit.into(),
        units,
        ns,
        gb_per_second: bytes.map(|bytes| bytes as f64 / (ns.mid * units as f64)),
        beside: beside.collect(),
        at_most_ns: (of.function_id == "check_ranges").then_some(RANGES_AT_MOST),
    }
}

/// The figures as a table: a ratio with its interval, and of a goal whether it is met.
fn table(bench: &Bench) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["on", "size", "what", "ns each", "GB/s", "times as fast as", "goal"]);
    for row in &bench.rows {
        let goal = |goal: String, met: Option<bool>| match met {
            Some(true) => format!("{goal}: met"),
            Some(false) => format!("{goal}: NOT MET"),
            None => String::new(),
        };
        let mut beside: Vec<(String, String)> = row
            .beside
            .iter()
            .map(|Ratio { to, times, .. }| format!("{to} {:.2} ({:.2} to {:.2})", times.mid, times.low, times.high))
            .zip(
                row.beside
                    .iter()
                    .map(|ratio| goal(format!(">= {}", ratio.at_least.unwrap_or(0.0)), ratio.met())),
            )
            .collect();
        let time = goal(format!("<= {} ns", row.at_most_ns.unwrap_or(0.0)), row.met());
        if beside.is_empty() {
            beside.push((String::new(), time));
        } else if !time.is_empty() {
            beside[0].1 = time;
        }
        let (ratios, goals): (Vec<_>, Vec<_>) = beside.into_iter().unzip();
        table.add_row([
            row.on.clone(),
            row.bytes.map_or(String::new(), |bytes| format!("{} KiB", bytes >> 10)),
            row.what.clone(),
            format!("{:.2}", row.ns.mid),
            row.gb_per_second.map_or(String::new(), |speed| format!("{speed:.2}")),
            ratios.join("\n"),
            goals.join("\n"),
        ]);
    }
    for column in [1, 3, 4] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// Instructions for each command, by loop and kind of stream: `harness/bench/instructions.toml`.
type Counts = BTreeMap<String, BTreeMap<String, f64>>;

/// A loop that takes more than this many times what the table says has grown.
const GROWN: f64 = 1.05;
const LOOPS: [&str; 5] = ["sum", "decode", "remap", "check_ranges", "check_strict"];
const KINDS: [&str; 3] = ["render", "compute", "upload"];

fn instructions(environment: &Environment, write: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let valgrind = tools::VALGRIND
        .bring(environment, &mut |line| say::line(line))
        .map_err(|missing| anyhow!("{missing}"))?;
    let built = cargo_command(&environment.root)
        .args([
            "build",
            "--release",
            "--locked",
            "--quiet",
            "-p",
            "lockstep-bench",
            "--bin",
            "lockstep-bench",
        ])
        .status()
        .context("cargo does not start")?;
    ensure!(built.success(), "the counted loops do not build");
    let program = target(&environment.root)?.join("release").join("lockstep-bench");
    let path = environment.root.join("harness/bench/instructions.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let due: Counts = toml::from_str(&text).with_context(|| format!("{} is no table of counts", path.display()))?;
    let mut counted = Counts::new();
    let mut grown = 0;
    for name in LOOPS {
        for kind in KINDS {
            let count = count(&valgrind, &program, name, kind)?;
            let due = due.get(name).and_then(|row| row.get(kind)).copied();
            let verdict = match due {
                Some(due) if count > due * GROWN => "GROWN by more than 5 %",
                Some(_) => "",
                None => "NOT in the table",
            };
            grown += usize::from(!verdict.is_empty());
            let due = due.map_or("-".into(), |due| format!("{due:.1}"));
            writeln!(
                out,
                "{name:13} {kind:8} {count:7.1} instructions a command, {due:>6} in the table  {verdict}"
            )?;
            let count = (count * 10.0).round() / 10.0;
            counted.entry(name.into()).or_default().insert(kind.into(), count);
        }
    }
    if write {
        let head: String = text
            .lines()
            .take_while(|line| line.starts_with('#'))
            .map(|line| format!("{line}\n"))
            .collect();
        files::write(&path, &format!("{head}\n{}", toml::to_string(&counted)?))?;
        return Ok(CLEAN);
    }
    if grown > 0 {
        say::error("if a loop is to take more, `cargo lockstep bench --instructions --write` puts that into the table");
    }
    Ok(if grown == 0 { CLEAN } else { FOUND })
}

/// What callgrind counts in one loop, for each command of the stream.
fn count(valgrind: &Path, program: &Path, name: &str, kind: &str) -> anyhow::Result<f64> {
    let ran = Command::new(valgrind)
        .args([
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--collect-atstart=no",
        ])
        .arg(format!("--toggle-collect=lockstep_bench::hot::{name}*"))
        .arg(program)
        .args([name, kind])
        .output()
        .context("valgrind does not start")?;
    let said = String::from_utf8_lossy(&ran.stderr);
    let collected = said
        .lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse::<f64>().ok());
    let commands = String::from_utf8_lossy(&ran.stdout).trim().parse::<f64>().ok();
    match (collected, commands) {
        (Some(collected), Some(commands)) if ran.status.success() && collected > 0.0 => Ok(collected / commands),
        _ => bail!(
            "valgrind counts nothing in {name}: {}",
            said.lines().last().unwrap_or("it said nothing")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What criterion writes of a function that takes `ns` nanoseconds, give or take a tenth, for 10 commands of 40 bytes.
    fn write_row(home: &Path, what: &str, ns: f64) {
        let folder = home.join("render").join(what).join("65536").join("new");
        fs::create_dir_all(&folder).unwrap();
        let benchmark = serde_json::json!({
            "group_id": "render", "function_id": what, "value_str": "65536",
            "throughput": { "ElementsAndBytes": { "elements": 10, "bytes": 400 } },
        });
        let median = serde_json::json!({
            "point_estimate": ns, "confidence_interval": { "lower_bound": 0.9 * ns, "upper_bound": 1.1 * ns },
        });
        fs::write(folder.join("benchmark.json"), benchmark.to_string()).unwrap();
        fs::write(
            folder.join("estimates.json"),
            serde_json::json!({ "median": median }).to_string(),
        )
        .unwrap();
    }

    #[test]
    fn rows_are_what_criterion_measured_beside_their_yardsticks() {
        let home = tempfile::tempdir().unwrap();
        write_row(home.path(), "decode", 20.0);
        write_row(home.path(), "sum", 8.0);
        write_row(home.path(), "rkyv", 40.0);
        let rows = rows(home.path()).unwrap();
        let names: Vec<_> = rows.iter().map(|row| &row.what[..]).collect();
        assert_eq!(names, ["sum", "decode", "rkyv"]);
        let decode = &rows[1];
        assert_eq!(
            (decode.units, decode.bytes, &decode.unit[..]),
            (10, Some(400), "command")
        );
        assert_eq!((decode.ns.low, decode.ns.mid, decode.ns.high), (1.8, 2.0, 2.2));
        assert_eq!(decode.gb_per_second, Some(20.0));
        let beside: Vec<_> = decode
            .beside
            .iter()
            .map(|ratio| (&ratio.to[..], ratio.times.mid, ratio.met()))
            .collect();
        // Half of the sum's speed is the goal, and one and a half of rkyv's.
        assert_eq!(beside, [("sum", 0.4, Some(false)), ("rkyv", 2.0, Some(true))]);
    }

    #[test]
    fn nothing_measured_is_no_row() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(rows(&home.path().join("none")).unwrap(), []);
    }
}
