//! `lockstep test`: brings the parts, then runs every test and check there is, going on after one that fails.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
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
    run_to(args, &mut std::io::stdout())
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
    let mut say = |line: &str| say_to(out, line);
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
        // What the step writes to standard error comes behind it.
        out.flush()?;
        let start = Instant::now();
        let mut failures = Failures::default();
        let mut hear = |line: &str| {
            failures.hear(line);
            say_to(out, line);
        };
        let outcome = step.run(&environment, &parts, chromium.as_ref().err(), &mut hear);
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

/// Nobody reads: then nobody misses the line.
fn say_to(out: &mut dyn Write, line: &str) {
    let _ = writeln!(out, "{line}");
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
        for (index, line) in row.failures.lines().enumerate() {
            if index == 0 {
                writeln!(out, "\n== {}, once more:", row.step)?;
            }
            writeln!(out, "{line}")?;
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

    /// Runs it; `hear` gets each line that it writes to standard output.
    fn run(
        &self,
        environment: &Environment,
        parts: &Parts,
        no_chromium: Option<&Missing>,
        hear: &mut dyn FnMut(&str),
    ) -> Outcome {
        let deno = || {
            let deno = parts.deno.as_ref().map_err(ToString::to_string)?;
            Ok(deno_in(&parts.root, deno))
        };
        let command = match self.runs {
            Setup => return whole(parts),
            Cargo | CargoWithParts => Ok(cargo_in(&environment.root)),
            Counts => tools::VALGRIND
                .bring(environment, &mut |line| say::line(line))
                .map(|_| cargo_in(&environment.root))
                .map_err(|missing| missing.to_string()),
            CargoWith(program) => is_there(program, environment).map(|()| cargo_in(&environment.root)),
            Deno => deno(),
            DenoWithChromium => no_chromium.map_or_else(deno, |missing| Err(missing.to_string())),
        };
        match command {
            Ok(mut command) => ended(command.args(self.arguments.split(' ')), hear)
                .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}"))),
            Err(why) => Outcome::CouldNotRun(why),
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

fn ended(command: &mut Command, hear: &mut dyn FnMut(&str)) -> anyhow::Result<Outcome> {
    let start = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} does not start", command.get_program().display()))?;
    let lines = child.stdout.take().map(lines_of).context("no standard output")?;
    loop {
        match lines.recv_timeout(Duration::from_secs(1)) {
            Ok(line) => hear(&line),
            Err(RecvTimeoutError::Disconnected) => break,
            // What the child has started may live longer, and keep the pipe open.
            Err(RecvTimeoutError::Timeout) if start.elapsed() >= STEP_LIMIT || child.try_wait()?.is_some() => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    Ok(
        match process::wait(&mut child, STEP_LIMIT.saturating_sub(start.elapsed()))? {
            Some(status) if status.success() => Outcome::Passed,
            Some(status) => Outcome::Failed(status.to_string()),
            None => Outcome::Failed(format!("ended after {} minutes", STEP_LIMIT.as_secs() / 60)),
        },
    )
}

/// The lines of a pipe as they come, without their line breaks.
fn lines_of(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(pipe).split(b'\n').map_while(Result::ok) {
            if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    receive
}
