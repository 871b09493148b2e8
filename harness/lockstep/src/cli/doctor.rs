//! `lockstep doctor`: what is installed, which adapters answer, what to do about what is missing.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use serde::Serialize;

use super::{BAD, CLEAN};
use crate::gpu::engine::{self, EngineId};
use crate::setup::{BRING, Environment, Missing, Parts, deno, process, tools, vulkan};

const EXAMPLES: &str = "Examples:
  cargo lockstep doctor           the table
  cargo lockstep doctor --quiet   what is missing alone, each with what brings it
  cargo lockstep doctor --json    the table as JSON

Exit status: 0 all that `run` and `test` need is there, 2 a part is missing.";

/// `lockstep doctor`'s arguments.
#[derive(Debug, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What is missing alone
    #[arg(long)]
    pub quiet: bool,
    /// What changed between releases of wgpu-hal too, line by line, where more than one is built in
    #[arg(long)]
    pub verbose: bool,
    /// One JSON document: rows of name, state (ok, missing, optional) and detail, and what changed between releases of wgpu-hal
    #[arg(long)]
    pub json: bool,
}

/// One line of the table.
#[derive(Serialize)]
struct Row {
    name: String,
    state: State,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    #[serde(rename = "ok")]
    There,
    Missing,
    /// Not there, and `run` and `test` go without it.
    Optional,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::There => "ok",
            Self::Missing => "MISSING",
            Self::Optional => "optional",
        }
    }
}

/// A program that tells its version, whether `run` or `test` needs it, and what brings it.
pub(crate) struct Program {
    /// Its name in the table.
    pub name: &'static str,
    /// The command that tells its version.
    pub command: &'static [&'static str],
    needed: bool,
    /// What brings it.
    pub mend: &'static str,
}

/// What comes with the toolchain or is only nice to have.
pub(crate) const PROGRAMS: [Program; 8] = [
    Program {
        name: "cargo",
        command: &["cargo", "--version"],
        needed: true,
        mend: "install Rust",
    },
    Program {
        name: "rustc",
        command: &["rustc", "--version"],
        needed: true,
        mend: "install Rust",
    },
    Program {
        name: "rustfmt",
        command: &["cargo", "fmt", "--version"],
        needed: true,
        mend: "`rustup component add rustfmt`",
    },
    Program {
        name: "clippy",
        command: &["cargo", "clippy", "--version"],
        needed: true,
        mend: "`rustup component add clippy`",
    },
    Program {
        name: "node",
        command: &["node", "--version"],
        needed: false,
        mend: "install Node.js",
    },
    Program {
        name: "npm",
        command: &["npm", "--version"],
        needed: false,
        mend: "install Node.js with npm",
    },
    Program {
        name: "cargo-nextest",
        command: &["cargo", "nextest", "--version"],
        needed: false,
        mend: "`cargo install --locked cargo-nextest`",
    },
    Program {
        name: "cargo-fuzz",
        command: &["cargo", "fuzz", "--version"],
        needed: false,
        mend: "`cargo install --locked cargo-fuzz`",
    },
];

const LIBRARIES: [&str; 3] = ["wgpu", "wgpu-hal", "naga"];

/// Prints the table. 0 when everything that `run` and `test` need is there, 2 when not.
pub fn run(args: &Args, out: &mut dyn Write) -> anyhow::Result<u8> {
    let environment = Environment::here()?;
    let mut rows: Vec<Row> = PROGRAMS
        .iter()
        .map(|program| program_row(program, &environment))
        .collect();
    rows.extend(part_rows(&environment, &environment.look()));
    rows.extend(library_rows(&environment.root));
    rows.push(upstream_row());
    let changes = changes();
    rows.extend(changes.iter().map(Changes::row));
    rows.extend(engine_rows());

    let missing = rows.iter().filter(|row| row.state == State::Missing).count();
    let status = if missing == 0 { CLEAN } else { BAD };
    if args.json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&serde_json::json!({ "rows": rows, "changes": changes }))?
        )?;
        return Ok(status);
    }
    if args.quiet {
        rows.retain(|row| row.state == State::Missing);
    }
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    for Row { name, state, detail } in &rows {
        writeln!(out, "{name:width$}  {:8}  {detail}", state.word())?;
    }
    if args.quiet {
        return Ok(status);
    }
    for Changes { from, to, answers } in changes.iter().filter(|_| args.verbose) {
        writeln!(out, "\nfrom wgpu-hal {from} to {to}")?;
        for [what, older, newer] in answers {
            writeln!(out, "  {what}: {older} is now {newer}")?;
        }
    }
    if missing == 0 {
        writeln!(out, "\neverything that `run` and `test` need is there")?;
        return Ok(status);
    }
    writeln!(
        out,
        "\n{missing} missing; {BRING} brings deno, Dawn and, as root on Debian, the Vulkan driver"
    )?;
    Ok(status)
}

/// wgpu-hal's own functions, the reference `slot-upstream`.
fn upstream_row() -> Row {
    let versions: Vec<&str> = slot_upstream::UPSTREAMS
        .iter()
        .map(|upstream| upstream.version)
        .collect();
    Row {
        name: "slot-upstream".to_owned(),
        state: State::There,
        detail: format!("the Metal functions of wgpu-hal {}", versions.join(" and ")),
    }
}

/// What changed from one release of wgpu-hal to the next.
#[derive(Serialize)]
struct Changes {
    from: &'static str,
    to: &'static str,
    /// What was asked, the older answer and the newer one.
    answers: Vec<[String; 3]>,
}

impl Changes {
    fn row(&self) -> Row {
        let Changes { from, to, answers } = self;
        let number = answers.len();
        Row {
            name: "wgpu-hal's changes".to_owned(),
            state: State::There,
            detail: format!("{number} answers are others in {to} than in {from}; `doctor --verbose` lists them"),
        }
    }
}

/// Between the releases whose functions are built in: one by default, more with features such as `wgpu-hal-29`.
fn changes() -> Vec<Changes> {
    let pairs = slot_upstream::UPSTREAMS.windows(2);
    let changes = pairs.map(|pair| Changes {
        from: pair[1].version,
        to: pair[0].version,
        answers: slot_upstream::drift::drift(&pair[1], &pair[0])
            .into_iter()
            .map(|row| [row.what, row.older, row.newer])
            .collect(),
    });
    changes.collect()
}

/// The GPU engines that answer.
fn engine_rows() -> Vec<Row> {
    let engines = engine::available();
    let row = |engine: EngineId| {
        let does = if engine.executes { "executes" } else { "validates only" };
        Row {
            name: format!("engine {}", engine.id),
            state: State::There,
            detail: format!("{}, {does}", engine.driver),
        }
    };
    engines.into_iter().map(row).collect()
}

/// The first line that a program says of its version.
pub(crate) fn version(program: &Program, environment: &Environment) -> Option<String> {
    let name = program.command[0];
    let mut command = match env::var_os("CARGO").filter(|_| name == "cargo") {
        Some(cargo) => Command::new(cargo),
        None => Command::new(environment.program(name)?),
    };
    command.args(&program.command[1..]).current_dir(&environment.root);
    let ran = process::run(&mut command, environment.limits.answer)
        .ok()
        .filter(process::Ran::success)?;
    ran.output.lines().next().map(str::to_owned)
}

fn program_row(program: &Program, environment: &Environment) -> Row {
    let (state, detail) = match version(program, environment) {
        Some(version) => (State::There, version),
        None if program.needed => (State::Missing, format!("not installed; {}", program.mend)),
        None => (State::Optional, format!("not installed; {}", program.mend)),
    };
    Row {
        name: program.name.to_owned(),
        state,
        detail,
    }
}

fn part_rows(environment: &Environment, parts: &Parts) -> Vec<Row> {
    let path = |path: &Path| path.strip_prefix(&parts.root).unwrap_or(path).display().to_string();
    let versioned = |package: &str, file: &Path| format!("{} at {}", deno::pinned(&parts.root, package), path(file));
    let drivers: Vec<String> = vulkan::drivers(environment).iter().map(|file| path(file)).collect();
    let vulkan = match vulkan::loader(environment) {
        Some(loader) => format!("{} with {}", path(&loader), drivers.join(", ")),
        None => "not needed on this system".to_owned(),
    };
    let valgrind = tools::VALGRIND.look(environment);
    vec![
        part_row("deno", parts.deno.as_ref().map(|file| versioned("deno", file))),
        part_row("Dawn", parts.dawn.as_ref().map(|file| versioned("webgpu", file))),
        part_row("Vulkan", parts.vulkan.as_ref().map(|()| vulkan)),
        part_row(
            "Chromium",
            tools::CHROMIUM.look(environment).as_ref().map(|file| path(file)),
        ),
        Row {
            // `test` brings it, where it counts instructions.
            state: if valgrind.is_ok() {
                State::There
            } else {
                State::Optional
            },
            ..part_row("valgrind", valgrind.as_ref().map(|file| path(file)))
        },
    ]
}

fn part_row(name: &str, part: Result<String, &Missing>) -> Row {
    let (state, detail) = match part {
        Ok(detail) => (State::There, detail),
        Err(missing) => (State::Missing, format!("{}; {}", missing.why, missing.mend)),
    };
    Row {
        name: name.to_owned(),
        state,
        detail,
    }
}

/// What the workspace pins, which is what is built in. Cargo.lock has older releases too, for the features that compare with them.
fn library_rows(root: &Path) -> Vec<Row> {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    let row = |name: &&str| match pinned(&manifest, name) {
        Some(version) => Row {
            name: (*name).to_owned(),
            state: State::There,
            detail: format!("{version}, pinned in Cargo.toml"),
        },
        None => Row {
            name: (*name).to_owned(),
            state: State::Missing,
            detail: "not pinned in Cargo.toml".to_owned(),
        },
    };
    LIBRARIES.iter().map(row).collect()
}

/// The exact version of a dependency.
fn pinned<'a>(manifest: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("{name} = ");
    let line = manifest.lines().find(|line| line.starts_with(&start))?;
    line.split_once("\"=")?.1.split('"').next()
}
