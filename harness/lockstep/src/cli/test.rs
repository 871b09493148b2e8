//! `lockstep test`: brings the parts, then runs every test and check there is, going on after one that fails.

use std::fmt;
use std::io::{self, BufRead, BufReader, IsTerminal, PipeReader, Write};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::doctor::{self, PROGRAMS};
use super::failures::Failures;
use super::{BAD, CLEAN, FOUND};
use crate::say;
use crate::setup::{Environment, Missing, Parts, cargo_command, deno_command, process, tools};

const EXAMPLES: &str = "Examples:
  cargo lockstep test                  everything; minutes
  cargo lockstep test --list           the steps
  cargo lockstep test --only clippy    one of them
  cargo lockstep test --only setup     brings deno, Dawn and a Vulkan driver, and does nothing else

Exit status: 0 all passed, 1 a step failed, 2 a part is missing and nothing else failed.";

/// What the command line says.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Run only this step; may be given again
    #[arg(long, value_name = "STEP")]
    pub only: Vec<String>,
    /// List the steps and run none
    #[arg(long)]
    pub list: bool,
}

/// A step: what is run, and where.
struct Step {
    name: &'static str,
    runs: Runs,
    arguments: &'static str,
}

enum Runs {
    /// Nothing but set-up: it fails where a part is missing.
    Setup,
    /// cargo, at the repository's root.
    Cargo,
    /// cargo with a program of doctor's table.
    CargoWith(&'static str),
    /// cargo, for tests that look for the parts that set-up brings.
    CargoWithParts,
    /// deno, in `reference/`.
    Deno,
    /// The same, with Chromium.
    DenoWithChromium,
    /// cargo with valgrind, which is brought; of the one system that the counts are of.
    Counts,
}

use Runs::{Cargo, CargoWith, CargoWithParts, Counts, Deno, DenoWithChromium, Setup};

// One profile and all of the workspace everywhere, so that no step builds again what another has built. deno's task
// names the permissions that the reference's tests get.
const STEPS: [Step; 11] = [
    step("setup", Setup, ""),
    step("fmt", CargoWith("rustfmt"), "fmt --all --check"),
    step(
        "clippy",
        CargoWith("clippy"),
        "clippy --workspace --all-targets --release --locked -- -D warnings",
    ),
    step(
        "test",
        CargoWithParts,
        "test --workspace --release --locked --no-fail-fast",
    ),
    step("doc", Cargo, "doc --workspace --no-deps --release --locked"),
    step("deno-check", Deno, "check --cached-only"),
    step("deno-lint", Deno, "lint"),
    step("deno-fmt", Deno, "fmt --check"),
    step("deno-test", Deno, "task test"),
    step("browser", DenoWithChromium, "task browser"),
    step("instructions", Counts, "lockstep bench --instructions"),
];

/// Whether `harness/bench/instructions.toml` is of this system.
const COUNTS: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

const fn step(name: &'static str, runs: Runs, arguments: &'static str) -> Step {
    Step { name, runs, arguments }
}

/// A step that hangs ends here, so that the table is printed all the same.
const STEP_LIMIT: Duration = Duration::from_secs(45 * 60);

/// How a step went.
#[derive(Debug)]
enum Outcome {
    Passed,
    Failed(String),
    /// Something that it needs is missing: a failure too, so that nothing is left out in silence.
    CouldNotRun(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => write!(formatter, "passed"),
            Self::Failed(why) => write!(formatter, "FAILED: {why}"),
            Self::CouldNotRun(why) => write!(formatter, "COULD NOT RUN: {why}"),
        }
    }
}

/// Runs the steps. 0 when all passed, 1 when one failed, 2 when the only failures are of missing parts.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    run_to(args, &mut say::Stdout)
}

/// The same, with what is said beside the steps' own output going to `out`.
pub fn run_to(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    let steps = chosen(&args.only)?;
    if args.list {
        for step in &steps {
            writeln!(out, "{:10}  {}", step.name, step.command())?;
        }
        return Ok(CLEAN);
    }
    let environment = Environment::here()?;
    let mut say = |line: &str| {
        // Nobody reads: then nobody misses the line.
        let _ = writeln!(out, "{line}");
    };
    let parts = if steps
        .iter()
        .any(|step| matches!(step.runs, Setup | CargoWithParts | Deno | DenoWithChromium))
    {
        environment.bring(&mut say)
    } else {
        environment.look()
    };
    let chromium = if steps.iter().any(|step| matches!(step.runs, DenoWithChromium)) {
        tools::CHROMIUM.bring(&environment, &mut say)
    } else {
        tools::CHROMIUM.look(&environment)
    };

    let mut table = Vec::new();
    for step in steps {
        writeln!(out, "\n== {}: {}", step.name, step.command())?;
        // The step's own output goes to the same place.
        out.flush()?;
        let start = Instant::now();
        let (outcome, failures) = step.run(&environment, &parts, chromium.as_ref().err());
        let time = start.elapsed().as_secs_f64();
        writeln!(out, "== {}: {outcome}, {time:.1} s", step.name)?;
        table.push(Row {
            step: step.name,
            outcome,
            time,
            failures,
        });
    }
    summary(&table, out)
}

fn chosen(only: &[String]) -> anyhow::Result<Vec<&'static Step>> {
    let names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("there is no step `{unknown}`; the steps are {}", names.join(", "));
    }
    Ok(STEPS
        .iter()
        .filter(|step| match only.is_empty() {
            true => COUNTS || !matches!(step.runs, Counts),
            false => only.iter().any(|name| name == step.name),
        })
        .collect())
}

/// A step that was run.
struct Row {
    step: &'static str,
    outcome: Outcome,
    /// In seconds.
    time: f64,
    failures: Failures,
}

fn summary(table: &[Row], out: &mut dyn Write) -> anyhow::Result<u8> {
    for row in table {
        if !matches!(row.outcome, Outcome::Passed) && !row.failures.lines().is_empty() {
            writeln!(
                out,
                "\n== {}, once more:\n{}",
                row.step,
                row.failures.lines().join("\n")
            )?;
        }
    }
    writeln!(out)?;
    for Row {
        step, outcome, time, ..
    } in table
    {
        writeln!(out, "{step:10}  {time:7.1} s  {outcome}")?;
    }
    let passed = table
        .iter()
        .filter(|row| matches!(row.outcome, Outcome::Passed))
        .count();
    // A line of its own, which CI reads.
    writeln!(out, "\n{passed} passed, {} failed", table.len() - passed)?;
    let failed = table.iter().any(|row| matches!(row.outcome, Outcome::Failed(_)));
    Ok(match passed == table.len() {
        true => CLEAN,
        false if failed => FOUND,
        false => BAD,
    })
}

impl Step {
    fn command(&self) -> String {
        match self.runs {
            Setup => "deno, Dawn and a Vulkan driver".to_owned(),
            Cargo | CargoWith(_) | CargoWithParts | Counts => format!("cargo {}", self.arguments),
            Deno | DenoWithChromium => format!("deno {} (in reference/)", self.arguments),
        }
    }

    /// Runs it. Gives what it said of failures too.
    fn run(&self, environment: &Environment, parts: &Parts, no_chromium: Option<&Missing>) -> (Outcome, Failures) {
        let deno = || {
            let deno = parts.deno.as_ref().map_err(ToString::to_string)?;
            Ok(deno_in(&parts.root, deno))
        };
        let command = match self.runs {
            Setup => return (whole(parts), Failures::default()),
            Cargo | CargoWithParts => Ok(cargo_in(&environment.root)),
            Counts => tools::VALGRIND
                .bring(environment, &mut |line| say::line(line))
                .map(|_| cargo_in(&environment.root))
                .map_err(|missing| missing.to_string()),
            CargoWith(program) => is_there(program, environment).map(|()| cargo_in(&environment.root)),
            Deno => deno(),
            DenoWithChromium => no_chromium.map_or_else(deno, |missing| Err(missing.to_string())),
        };
        let nothing_said = |outcome| (outcome, Failures::default());
        match command {
            Ok(mut command) => {
                command.args(self.arguments.split(' '));
                ended(command).unwrap_or_else(|error| nothing_said(Outcome::Failed(format!("{error:#}"))))
            }
            Err(why) => nothing_said(Outcome::CouldNotRun(why)),
        }
    }
}

fn is_there(name: &str, environment: &Environment) -> Result<(), String> {
    let program = PROGRAMS.iter().find(|program| program.name == name);
    match program.filter(|program| doctor::version(program, environment).is_none()) {
        None => Ok(()),
        Some(missing) => Err(format!("{name} is not installed; {} brings it", missing.mend)),
    }
}

fn cargo_in(root: &Path) -> Command {
    let mut command = cargo_command(root);
    command.env("RUSTDOCFLAGS", "-Dwarnings");
    command
}

fn whole(parts: &Parts) -> Outcome {
    let missing: Vec<String> = parts.missing().iter().map(|part| part.what.clone()).collect();
    if missing.is_empty() {
        Outcome::Passed
    } else {
        Outcome::CouldNotRun(format!("{} missing", missing.join(", ")))
    }
}

fn deno_in(root: &Path, deno: &Path) -> Command {
    let mut command = deno_command(root, deno);
    command.current_dir(root.join("reference"));
    command
}

/// Runs it to its end, or ends it at the limit.
fn ended(mut command: Command) -> anyhow::Result<(Outcome, Failures)> {
    // One pipe, so that the lines stay in their order.
    let (pipe, end) = io::pipe().context("no pipe")?;
    if io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command
        .stdout(end.try_clone().context("no pipe")?)
        .stderr(end)
        .spawn()
        .with_context(|| format!("{} does not start", command.get_program().display()))?;
    // It holds the pipe open.
    drop(command);
    let failures = Arc::new(Mutex::new(Failures::default()));
    let heard = hear(pipe, failures.clone());
    let status = process::wait(&mut child, STEP_LIMIT)?;
    // What the child has started may live longer, and hold the pipe open too.
    let _ = heard.recv_timeout(Duration::from_secs(5));
    let failures = std::mem::take(&mut *failures.lock().unwrap_or_else(PoisonError::into_inner));
    let outcome = match status {
        Some(status) if status.success() => Outcome::Passed,
        Some(status) => Outcome::Failed(status.to_string()),
        None => Outcome::Failed(format!("ended after {} minutes", STEP_LIMIT.as_secs() / 60)),
    };
    Ok((outcome, failures))
}

/// Shows what comes through a pipe, and keeps what it says of failures. What is given is closed at the pipe's end.
fn hear(pipe: PipeReader, failures: Arc<Mutex<Failures>>) -> Receiver<()> {
    let (open, closed) = mpsc::channel();
    thread::spawn(move || {
        for mut line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&line);
            let text = console::strip_ansi_codes(&text);
            failures.lock().unwrap_or_else(PoisonError::into_inner).hear(&text);
            line.push(b'\n');
            let _ = say::out(&line);
        }
        drop(open);
    });
    closed
}
