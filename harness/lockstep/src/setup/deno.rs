//! deno and Dawn, from npm. Both packages ship their binaries inside, so no script of theirs is run.
//!
//! `reference/package.json` and its lock file pin them. npm installs into a folder beside `.lockstep/npm` that takes its
//! place only when npm is done, so that half an install is never taken for a whole one; the copies of the two files in
//! it say which versions it holds.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::{BRING, Environment, Missing, process};

const PIN_FILES: [&str; 2] = ["package.json", "package-lock.json"];

/// Operating system, processor, deno's package for them, Dawn's folder for them.
const PLATFORMS: [(&str, &str, &str, &str); 6] = [
    ("linux", "x86_64", "linux-x64-glibc", "linux-x64"),
    ("linux", "aarch64", "linux-arm64-glibc", "linux-arm64"),
    ("macos", "x86_64", "darwin-x64", "darwin-universal"),
    ("macos", "aarch64", "darwin-arm64", "darwin-universal"),
    ("windows", "x86_64", "win32-x64", "win32-x64"),
    ("windows", "aarch64", "win32-arm64", "win32-arm64"),
];

const NPM_ARGUMENTS: [&str; 10] = [
    "ci",
    "--ignore-scripts",
    "--include=optional",
    "--no-audit",
    "--no-fund",
    "--no-progress",
    // The lock file names no addresses: the registry is the one that the user's npm is set to.
    "--omit-lockfile-registry-resolved=true",
    "--fetch-timeout=30000",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
];

type Found = (Result<PathBuf, Missing>, Result<PathBuf, Missing>);

/// The version that `reference/package.json` pins for a package, or `?`.
pub fn pinned(root: &Path, package: &str) -> String {
    let version = || {
        let text = fs::read(root.join("reference").join("package.json")).ok()?;
        let json: serde_json::Value = serde_json::from_slice(&text).ok()?;
        json["dependencies"][package].as_str().map(str::to_owned)
    };
    version().unwrap_or_else(|| "?".to_owned())
}

/// deno and Dawn as they are now.
pub fn look(environment: &Environment) -> Found {
    let mend = if environment.offline {
        format!("unset LOCKSTEP_OFFLINE and run {BRING}")
    } else {
        format!("run {BRING}, which brings it")
    };
    find(environment, &mend)
}

/// deno and Dawn after npm has installed both. Called only while one of them is missing.
pub fn bring(environment: &Environment, say: &mut dyn FnMut(&str)) -> Found {
    let names = format!("{} and {}", deno_name(environment), dawn_name(environment));
    let Some(npm) = environment.program("npm") else {
        let deno = pinned(&environment.root, "deno");
        let mend = format!("install Node.js with npm (or put deno {deno} on the PATH) and run {BRING}");
        return because(find(environment, ""), "npm is not on the PATH", &mend);
    };
    say(&format!("{names}: installing from npm into .lockstep/npm"));
    let start = Instant::now();
    match install(environment, &npm) {
        Ok(()) => say(&format!("{names}: installed in {:.1} s", start.elapsed().as_secs_f64())),
        Err(error) => {
            let mend = format!("check the network and npm, then run {BRING}");
            return because(find(environment, ""), &format!("{error:#}"), &mend);
        }
    }
    find(
        environment,
        &format!("report it with the output of `cargo lockstep doctor`, or remove .lockstep and run {BRING}"),
    )
}

fn deno_name(environment: &Environment) -> String {
    format!("deno {}", pinned(&environment.root, "deno"))
}

fn dawn_name(environment: &Environment) -> String {
    format!("Dawn {}", pinned(&environment.root, "webgpu"))
}

/// The same parts, those that are missing with another reason.
fn because((deno, dawn): Found, why: &str, mend: &str) -> Found {
    let other = |missing: Missing| Missing::new(missing.what, why, mend);
    (deno.map_err(other), dawn.map_err(other))
}

fn find(environment: &Environment, mend: &str) -> Found {
    let deno = find_deno(environment).or_else(|why| deno_on_path(environment).ok_or(why));
    let deno = deno.map_err(|why| Missing::new(deno_name(environment), why, mend));
    let dawn = find_dawn(environment).map_err(|why| Missing::new(dawn_name(environment), why, mend));
    (deno, dawn)
}

fn find_deno(environment: &Environment) -> Result<PathBuf, String> {
    let modules = installed(environment)?;
    let program = if environment.os == "windows" {
        "deno.exe"
    } else {
        "deno"
    };
    let deno = modules.join("@deno").join(platform(environment)?.0).join(program);
    if !deno.is_file() {
        return Err("npm brought none for this platform".to_owned());
    }
    answers_with(&deno, &pinned(&environment.root, "deno"), environment.limits.answer)?;
    Ok(deno)
}

fn find_dawn(environment: &Environment) -> Result<PathBuf, String> {
    let webgpu = installed(environment)?.join("webgpu");
    let library = webgpu.join("dist").join(platform(environment)?.1).join("dawn.node");
    if !library.is_file() {
        return Err("npm brought none for this platform".to_owned());
    }
    let module = webgpu.join("index.js");
    if module.is_file() {
        Ok(module)
    } else {
        Err("package `webgpu` holds no index.js".to_owned())
    }
}

/// Someone who has the very version on the path needs no npm for it.
fn deno_on_path(environment: &Environment) -> Option<PathBuf> {
    let deno = environment.program("deno")?;
    answers_with(&deno, &pinned(&environment.root, "deno"), environment.limits.answer).ok()?;
    Some(deno)
}

/// The installed packages' folder, if it holds what the lock file says today.
fn installed(environment: &Environment) -> Result<PathBuf, String> {
    let folder = environment.folder().join("npm");
    if !folder.is_dir() {
        return Err("it is not installed yet".to_owned());
    }
    let reference = environment.root.join("reference");
    for file in PIN_FILES {
        let pins = fs::read(reference.join(file)).map_err(|error| format!("cannot read reference/{file}: {error}"))?;
        if !fs::read(folder.join(file)).is_ok_and(|installed| installed == pins) {
            return Err(format!("what is installed is not what reference/{file} says"));
        }
    }
    Ok(folder.join("node_modules"))
}

fn platform(environment: &Environment) -> Result<(&'static str, &'static str), String> {
    let row = PLATFORMS
        .iter()
        .find(|row| (row.0, row.1) == (environment.os, environment.arch));
    let row = row.ok_or_else(|| format!("npm has none for {} on {}", environment.os, environment.arch))?;
    Ok((row.2, row.3))
}

/// Whether the program answers `--version` with that version.
fn answers_with(deno: &Path, version: &str, limit: Duration) -> Result<(), String> {
    let mut command = Command::new(deno);
    command
        .arg("--version")
        .env("NO_COLOR", "1")
        .env("DENO_NO_UPDATE_CHECK", "1");
    let ran =
        process::run(&mut command, limit).map_err(|error| format!("{} does not start: {error}", deno.display()))?;
    let first = ran.output.lines().next().unwrap_or("nothing");
    match (ran.status, first.split_whitespace().nth(1)) {
        (Some(status), Some(said)) if status.success() && said == version => Ok(()),
        (Some(_), _) => Err(format!("{} answers `--version` with: {first}", deno.display())),
        (None, _) => Err(format!(
            "{} did not answer `--version` in {} s",
            deno.display(),
            limit.as_secs_f32()
        )),
    }
}

/// npm installs beside, then the folder takes its place. The caller holds the lock.
fn install(environment: &Environment, npm: &Path) -> anyhow::Result<()> {
    let folder = environment.folder();
    remove_leftovers(&folder);
    let beside = tempfile::Builder::new()
        .prefix("npm.")
        .tempdir_in(&folder)
        .context("cannot make a folder")?;
    for file in PIN_FILES {
        let from = environment.root.join("reference").join(file);
        fs::copy(&from, beside.path().join(file)).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    run_npm(environment, npm, beside.path())?;
    let (beside, place) = (beside.keep(), folder.join("npm"));
    if place.exists() {
        // Away first, since a folder does not replace a folder that holds something.
        let old = tempfile::Builder::new().prefix("npm.").tempdir_in(&folder)?;
        fs::rename(&place, old.path().join("npm")).context("cannot move the old .lockstep/npm away")?;
    }
    fs::rename(&beside, &place).context("cannot move the install to .lockstep/npm")
}

fn run_npm(environment: &Environment, npm: &Path, folder: &Path) -> anyhow::Result<()> {
    let limit = environment.limits.npm;
    let ran = process::run(Command::new(npm).args(NPM_ARGUMENTS).current_dir(folder), limit);
    let ran = ran.with_context(|| format!("{} does not start", npm.display()))?;
    let log = environment.folder().join("npm.log");
    fs::write(&log, &ran.output).with_context(|| format!("cannot write {}", log.display()))?;
    if ran.status.is_none() {
        bail!(
            "npm was ended after {} s (its words are in .lockstep/npm.log)",
            limit.as_secs_f32()
        );
    }
    if !ran.success() {
        bail!(
            "npm failed: {} (all of it is in .lockstep/npm.log)",
            npm_reason(&ran.output)
        );
    }
    if !folder.join("node_modules").is_dir() {
        bail!("npm installed nothing (its words are in .lockstep/npm.log)");
    }
    Ok(())
}

/// The line of npm's output that says most.
fn npm_reason(output: &str) -> String {
    let lines = output
        .lines()
        .filter_map(|line| line.strip_prefix("npm error").or(line.strip_prefix("npm ERR!")));
    let words = ["code ", "syscall ", "errno ", "path "];
    let telling = lines
        .map(str::trim)
        .find(|line| !line.is_empty() && !words.iter().any(|word| line.starts_with(word)));
    telling
        .or(output.lines().last())
        .unwrap_or("it said nothing")
        .to_owned()
}

/// What an interrupted install left behind. Whoever holds the lock knows that nobody works there any more.
fn remove_leftovers(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("npm.")) {
        if entry.path().is_dir() {
            // One that stays is only lost space.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
