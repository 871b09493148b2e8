//! `lockstep record`: a WebGPU program in JavaScript, recorded while it runs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;

use super::{BAD, stop_on_signals};
use crate::recording::{MANIFEST, Recording, is_recording, replay};
use crate::report::terminal;
use crate::say;
use crate::setup::{self, deno_command};

const EXAMPLES: &str = "Examples:
  cargo lockstep record particles.js                            into particles.recording
  cargo lockstep record particles.js --out frames -- --count 9  with arguments of the program's own
  cargo lockstep run --recorded particles.recording             and replayed on every engine

The program is a module for deno; it runs unmodified, with all permissions, and to its end or Ctrl-C. Its own output is passed on; what lockstep says
goes to standard error. docs/recording.md says more.

A program that gets no WebGPU device leaves no recording.
Exit status: the program's own; 2 bad use, bad input or a missing part.";

/// `lockstep record`'s arguments.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The program
    program: PathBuf,
    /// The folder for the recording; beside you and with the program's name unless said otherwise. A recording there is replaced
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// What the program finds in its own arguments
    #[arg(last = true)]
    args: Vec<OsString>,
}

/// Records the program.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let program = &args.program;
    ensure!(program.is_file(), "{}: no such file", program.display());
    let out = args.out.clone().unwrap_or_else(|| beside(program));
    is_free(&out)?;
    let parts = setup::bring(&mut |line| say::line(line));
    let deno = parts.deno.as_ref().map_err(Clone::clone)?;
    // Beside the place that it takes at the end, so that it takes it as a whole.
    let parent = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).with_context(|| format!("{}: cannot make the folder", parent.display()))?;
    let beside = tempfile::Builder::new().prefix(".recording.").tempdir_in(parent);
    let beside = beside.with_context(|| format!("{}: cannot write a recording there", parent.display()))?;
    // That folder is its owner's alone; this one is made by the program's process, as any folder of the user's.
    let new = beside.path().join(NEW);
    let mut command = deno_command(&parts.root, deno);
    // The program's own package.json and colors.
    command.env_remove("DENO_NO_PACKAGE_JSON").env_remove("NO_COLOR");
    command.envs(std::env::var_os("NO_COLOR").map(|value| ("NO_COLOR", value)));
    command.args(["run", "--quiet", "--allow-all", "--node-modules-dir=manual"]);
    command
        .arg(parts.root.join("reference/record_program.js"))
        .arg("--quiet");
    command.arg(program).arg(&new).args(&args.args);
    let status = ended(&mut command).with_context(|| format!("{} does not start", deno.display()))?;
    let failed = (!status.success()).then(|| format!("{} failed with {status}", program.display()));
    if !is_recording(&new) {
        bail!(
            "{}; nothing was recorded",
            failed.unwrap_or_else(|| format!("{} ended", program.display()))
        );
    }
    // One that cannot be read is kept all the same; it is said below.
    if Recording::open(&new).is_ok_and(|recording| recording.manifest.device.is_none()) {
        let why = failed.unwrap_or_else(|| format!("{} asked for no WebGPU device", program.display()));
        say::error(format_args!("{why}; nothing was recorded"));
        return Ok(code(status));
    }
    place(beside, &out)?;
    let recording = Recording::open(&out)?;
    say::line(say::printable(&terminal::recorded(&replay::row(&recording))));
    if let Some(failed) = failed {
        say::error(format_args!("{failed}; {} holds what it did until then", out.display()));
    }
    Ok(code(status))
}

/// Runs the program to its end, or to the user's: a program that draws frame by frame has no other.
fn ended(command: &mut Command) -> std::io::Result<ExitStatus> {
    let stop = stop_on_signals("lockstep: the program is being ended; its recording follows. Once more ends at once.");
    let mut child = command.spawn()?;
    let mut told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if stop.load(Ordering::Relaxed) && !told {
            told = true;
            // Ctrl-C reached it too, another signal did not. One that is gone by now needs none.
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        }
        std::thread::sleep(LOOK);
    }
}

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The name of a program's recording, in the folder where the user is.
fn beside(program: &Path) -> PathBuf {
    let mut name = program.file_stem().unwrap_or_default().to_owned();
    name.push(".recording");
    PathBuf::from(name)
}

/// Whether a recording may be written there: nothing is lost but another recording.
fn is_free(out: &Path) -> anyhow::Result<()> {
    let shown = out.display();
    let entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => bail!("{shown}: cannot put a recording there: {error}; give another --out"),
    };
    for entry in entries {
        let name = entry
            .with_context(|| format!("{shown}: cannot read the folder"))?
            .file_name();
        let name = name.to_string_lossy();
        let ours = name.ends_with(".wire") || name.ends_with(".read") || [MANIFEST, "objects.json"].contains(&&*name);
        ensure!(
            ours,
            "{shown}: it holds `{name}`, which is no part of a recording; give another --out"
        );
    }
    Ok(())
}

/// The new recording's folder, until it has its place.
const NEW: &str = "recording";

/// Puts the new recording in the place of the old one.
fn place(beside: TempDir, out: &Path) -> anyhow::Result<()> {
    let new = beside.path().join(NEW);
    // What was there is a recording, or empty: it was looked at.
    let removed = if out.exists() { fs::remove_dir_all(out) } else { Ok(()) };
    let placed = removed.and_then(|()| fs::rename(&new, out));
    placed.with_context(|| {
        let (shown, kept) = (out.display(), beside.keep().join(NEW));
        format!("{shown}: cannot put the recording there; it is {}", kept.display())
    })
}

/// The program's status. One that a signal ended has none.
fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(BAD)
}
