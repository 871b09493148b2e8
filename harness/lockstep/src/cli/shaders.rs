//! `lockstep shaders`: WGSL files of the user.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use serde::Serialize;

use super::{BAD, CLEAN, FOUND, color};
use crate::case::{Platform, System};
use crate::deep::MAX_WGSL;
use crate::files::find;
use crate::oracles::msl::language_version;
use crate::shaders::table::{self, counted};
use crate::shaders::{EntryPointReport, FaultKind, FileReport, Options, Scope, check_file};
use crate::{input, say};

const EXAMPLES: &str = "Examples:
  cargo lockstep shaders src/shaders                          every *.wgsl below a folder
  cargo lockstep shaders 'src/**/*.wgsl' --system ios:17.0    a glob, at the MSL of iOS 17
  cargo lockstep shaders a.wgsl --override tile=16 --json     as JSON (docs/shaders.md)
  cargo lockstep shaders a.wgsl --msl --entry-point main      the MSL of an entry point

Exit status:
  0  no problem
  1  a problem: MSL other than the layout says, or what naga's writer or Metal would refuse
  2  bad use, or a file that cannot be read or is no valid WGSL; 2 outranks 1";

/// The versions of MSL (slots.md, section 3).
const VERSIONS: [(u8, u8); 12] = [
    (1, 0),
    (1, 1),
    (1, 2),
    (2, 0),
    (2, 1),
    (2, 2),
    (2, 3),
    (2, 4),
    (3, 0),
    (3, 1),
    (3, 2),
    (4, 0),
];

/// `lockstep shaders`'s arguments.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, globs, or folders that are searched for *.wgsl; - is standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// The version of MSL to write, such as 3.1; the newest by default
    #[arg(long, value_name = "VERSION", value_parser = version, conflicts_with = "system")]
    language_version: Option<(u8, u8)>,
    /// The newest MSL of a system, such as macos:15.0; also ios, tvos, visionos
    #[arg(long, value_name = "SYSTEM", value_parser = system)]
    system: Option<System>,
    /// A value for an override, by its @id, else its name; may be given more than once
    #[arg(long = "override", value_name = "KEY=VALUE", value_parser = key_and_value)]
    overrides: Vec<(String, f64)>,
    /// What shares a pipeline layout
    #[arg(long, value_name = "SCOPE", default_value = "file")]
    layout: Scope,
    /// The entry points of this name alone; the layout is made over all of them
    #[arg(long, value_name = "NAME")]
    entry_point: Option<String>,
    /// The MSL of each entry point too, with the table in comments; with --json as a field
    #[arg(long)]
    msl: bool,
    /// One JSON document, as docs/shaders.md has it
    #[arg(long)]
    json: bool,
}

fn version(text: &str) -> Result<(u8, u8), String> {
    let named = VERSIONS
        .into_iter()
        .find(|(major, minor)| text == format!("{major}.{minor}"));
    named.ok_or_else(|| {
        let all = VERSIONS.map(|(major, minor)| format!("{major}.{minor}"));
        format!("the versions of MSL are {}", all.join(", "))
    })
}

fn system(text: &str) -> Result<System, String> {
    let platforms = [Platform::MacOs, Platform::Ios, Platform::TvOs, Platform::VisionOs];
    let parsed = text.split_once(':').and_then(|(platform, version)| {
        let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
        Some(System {
            platform: platforms.into_iter().find(|known| known.name() == platform)?,
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    });
    let expected = || "expected PLATFORM:MAJOR.MINOR, such as macos:15.0; the platforms are macos, ios, tvos, visionos";
    parsed.ok_or_else(|| expected().to_owned())
}

fn key_and_value(text: &str) -> Result<(String, f64), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    let value = match value {
        "true" => 1.0,
        "false" => 0.0,
        number => number
            .parse()
            .map_err(|_| format!("`{number}` is neither a number nor true or false"))?,
    };
    Ok((key.to_owned(), value))
}

/// What `--json` writes.
#[derive(Serialize)]
struct Document<'a> {
    /// The version of this form.
    format: u32,
    /// The version of MSL.
    language_version: String,
    files: &'a [FileReport],
    summary: Summary,
}

/// What the last line says.
#[derive(Clone, Copy, Default, Serialize)]
struct Summary {
    files: usize,
    entry_points: usize,
    problems: usize,
    /// The files of which nothing was checked.
    faults: usize,
}

impl Summary {
    fn add(&mut self, report: &FileReport) {
        self.files += 1;
        self.entry_points += report.entry_points.len();
        self.problems += report.problems();
        self.faults += usize::from(report.fault.is_some());
    }

    fn status(&self) -> u8 {
        match self {
            Summary { faults: 1.., .. } => BAD,
            Summary { problems: 1.., .. } => FOUND,
            _ => CLEAN,
        }
    }

    /// `at` is the version of MSL.
    fn line(&self, at: &str) -> String {
        let problems = match self.problems {
            0 => "no problem".to_owned(),
            count => counted(count, "problem"),
        };
        let faults = match self.faults {
            0 => String::new(),
            count => format!(", {} not checked", counted(count, "file")),
        };
        let (files, entry_points) = (counted(self.files, "file"), counted(self.entry_points, "entry point"));
        format!("{files}, {entry_points} at {at}: {problems}{faults}")
    }
}

/// Checks the files and writes a report of each as it is made, and a last line; or one JSON document at the end. Where an override or
/// entry point is asked for, nothing is written before all files are read.
///
/// # Errors
///
/// A path that does not exist, no WGSL file at all, both before anything is checked; a report that cannot be written; and before
/// any report an override or entry point that no file has.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    let options = options(args);
    let mut reports = Vec::new();
    let mut summary = Summary::default();
    let mut names = Names::default();
    let asks = !options.overrides.is_empty() || options.entry_point.is_some();
    let mut held = String::new();
    for file in files(&args.paths)? {
        let report = check(&file, &options);
        summary.add(&report);
        names.add(&report);
        let text = match (args.json, args.msl) {
            (true, _) => String::new(),
            (false, true) => msl(&report),
            (false, false) => table::text(&report, color()),
        };
        match asks {
            true => held += &text,
            false => write!(out, "{text}")?,
        }
        reports.extend(args.json.then_some(report));
    }
    // A file that was not checked may have had the name.
    if summary.faults == 0 {
        names.hold(&options)?;
    }
    write!(out, "{held}")?;
    let at = at(args, &options);
    match (args.json, args.msl) {
        (true, _) => {
            let (major, minor) = options.language_version;
            let document = Document {
                format: 1,
                language_version: format!("{major}.{minor}"),
                files: &reports,
                summary,
            };
            writeln!(out, "{}", serde_json::to_string_pretty(&document)?)?;
        }
        (false, true) => writeln!(out, "// {}", summary.line(&at))?,
        (false, false) => writeln!(out, "{}", summary.line(&at))?,
    }
    Ok(summary.status())
}

/// The version of MSL in words, and the system that it follows from.
fn at(args: &Args, options: &Options) -> String {
    let (major, minor) = options.language_version;
    let system = args.system.as_ref().map(|system| {
        let System { platform, major, minor } = system;
        format!(" ({} {major}.{minor})", platform.name())
    });
    format!("MSL {major}.{minor}{}", system.unwrap_or_default())
}

fn options(args: &Args) -> Options {
    let version = args.language_version.or(args.system.as_ref().map(language_version));
    Options {
        language_version: version.unwrap_or(Options::default().language_version),
        overrides: args.overrides.iter().cloned().collect(),
        entry_point: args.entry_point.clone(),
        scope: args.layout,
        msl: args.msl,
    }
}

/// The most names that are listed.
const LISTED: usize = 16;

/// What the files declare.
#[derive(Default)]
struct Names {
    entry_points: BTreeSet<String>,
    /// By key, which is the `@id` or else the name; and the name.
    overrides: BTreeSet<(String, String)>,
}

impl Names {
    fn add(&mut self, report: &FileReport) {
        self.entry_points.extend(report.declared.entry_points.iter().cloned());
        self.overrides.extend(report.declared.overrides.iter().cloned());
    }

    /// # Errors
    ///
    /// A name that no file has.
    fn hold(&self, options: &Options) -> anyhow::Result<()> {
        for (asked, value) in &options.overrides {
            if self.overrides.iter().any(|(key, _)| key == asked) {
                continue;
            }
            if let Some((key, name)) = self.overrides.iter().find(|(_, name)| name == asked) {
                bail!("override `{name}` has @id({key}): --override {key}={value}");
            }
            let there = self.overrides.iter().map(|(key, _)| key.as_str());
            bail!("no override `{asked}`; there are {}", listed(there));
        }
        match &options.entry_point {
            Some(name) if !self.entry_points.contains(name) => {
                let there = self.entry_points.iter().map(String::as_str);
                bail!("no entry point `{name}`; there are {}", listed(there))
            }
            _ => Ok(()),
        }
    }
}

fn listed<'a>(mut names: impl Iterator<Item = &'a str>) -> String {
    let mut shown: Vec<String> = names.by_ref().take(LISTED).map(str::to_owned).collect();
    match (shown.is_empty(), names.count()) {
        (true, _) => return "none".into(),
        (false, 0) => {}
        (false, more) => shown.push(format!("and {more} more")),
    }
    shown.join(", ")
}

/// The files that the arguments name, in their order.
fn files(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        let pattern = path
            .to_str()
            .filter(|text| text.contains(['*', '?', '[']) && !path.exists());
        match pattern {
            _ if is_standard_input(path) => files.push(path.clone()),
            Some(pattern) => {
                let matches = glob::glob(pattern).with_context(|| format!("{pattern}: no glob"))?;
                // A folder that cannot be read is reported as a file that cannot.
                let matches: Vec<PathBuf> = matches
                    .map(|found| found.unwrap_or_else(|error| error.path().to_owned()))
                    .filter(|found| !is_special(found))
                    .collect();
                ensure!(!matches.is_empty(), "{pattern}: no file matches");
                for found in matches {
                    match found.is_dir() {
                        true => files.extend(find(&found, "wgsl")?),
                        false => files.push(found),
                    }
                }
            }
            None => files.extend(find(path, "wgsl")?),
        }
    }
    ensure!(!files.is_empty(), "no WGSL file (*.wgsl) found");
    Ok(files)
}

/// Whether it is there and neither a file nor a folder: a pipe would be waited for.
fn is_special(path: &Path) -> bool {
    path.exists() && !path.is_file() && !path.is_dir()
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn check(file: &Path, options: &Options) -> FileReport {
    let limit = MAX_WGSL as u64;
    let (name, text) = match is_standard_input(file) {
        true => (Path::new("<stdin>"), input::text_from(io::stdin().lock(), limit)),
        false => (file, input::text(file, limit)),
    };
    match text {
        Ok(source) => check_file(name, &source, options),
        Err(error) => FileReport::of_fault(name, FaultKind::Unreadable, format!("cannot be read: {error}")),
    }
}

/// The MSL of each entry point, and everything else in comments, so that Metal's compiler takes it.
fn msl(report: &FileReport) -> String {
    let comments = |text: String| text.lines().map(|line| format!("// {line}\n")).collect::<String>();
    let without_entry_points = FileReport {
        entry_points: Vec::new(),
        ..report.clone()
    };
    if report.entry_points.is_empty() {
        return comments(table::text(&without_entry_points, false));
    }
    let entry = |entry: &EntryPointReport| {
        let alone = FileReport {
            entry_points: vec![entry.clone()],
            ..without_entry_points.clone()
        };
        let msl = entry.msl.as_deref().map(say::printable).unwrap_or_default();
        format!("{}{msl}", comments(table::text(&alone, false)))
    };
    report.entry_points.iter().map(entry).collect()
}
