//! The command line. Exit status: 0 nothing found, 1 findings, 2 bad use, bad input or a missing part.

mod asked;
pub mod bench;
pub mod corpus;
pub mod doctor;
mod evidence;
mod failures;
pub mod inspect;
mod manual;
pub mod minimize;
mod pictures;
pub mod power;
pub mod record;
mod recorded;
pub mod report;
pub mod repro;
mod resume;
pub mod run;
pub mod serve;
mod settings;
pub mod shaders;
mod tables;
pub mod test;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{CommandFactory as _, Parser, Subcommand};

/// Nothing was found.
pub const CLEAN: u8 = 0;
/// Something was found.
pub const FOUND: u8 = 1;
/// Bad use, bad input or a missing part.
pub const BAD: u8 = 2;

const EXAMPLES: &str = "Examples:
  cargo lockstep run                                  the campaign: 60 seconds, then a report
  cargo lockstep repro reports/out/findings/NAME.json a finding again
  cargo lockstep shaders src/shaders                  WGSL of yours
  cargo lockstep doctor                               what is there, what is missing, what brings it
  cargo lockstep run --help                           the options of a command, with examples

Where the command line says nothing, `run` takes what lockstep.toml at the repository's root says; its readers count wherever --reader
is taken. NO_COLOR=1 turns colors off,
LOCKSTEP_OFFLINE=1 lets set-up bring nothing.
Exit status: 0 nothing found, 1 findings, 2 bad use, bad input or a missing part.";

#[derive(Parser)]
#[command(name = "cargo lockstep", version, about = "Runs implementations in lockstep and reports where they part", after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The campaign: generated cases through every reader and engine, for 60 seconds; ends with a report
    Run(Box<run::Args>),
    /// A WebGPU program in JavaScript, recorded as streams while it runs; `run --recorded` replays them
    Record(record::Args),
    /// One case again: every reader's answer side by side, the stream as text with the word marked
    Repro(repro::Args),
    /// The smallest case that shows the same finding
    Minimize(minimize::Args),
    /// Results of a run or of its shards: merged, as page, JSON, JUnit, SARIF, Markdown
    Report(report::Args),
    /// A stream as text, and a text as a stream
    Inspect(inspect::Args),
    /// The regression cases of corpus/
    Corpus(corpus::Args),
    /// WGSL files of yours: layouts derived, slots, the arguments of the MSL that naga writes
    Shaders(shaders::Args),
    /// How fast wire and mslmap are, beside the memory's own speed and their peers
    Bench(bench::Args),
    /// What is installed, which adapters answer, what to do about what is missing
    Doctor(doctor::Args),
    /// A reader of ours for another program to ask, over reference/PROTOCOL.md on standard input and output
    Serve(serve::Args),
    /// What share of faulty implementations a campaign finds: patches modelled on public bugs, and mutants
    Power(power::Args),
    /// Every test, after the same set-up as `run`
    Test(test::Args),
    /// Completions of the command line for a shell
    Completions(manual::CompletionsArgs),
    /// The manual page
    Man(manual::ManArgs),
}

/// Parses the arguments and runs. Never panics over what it is given; every error is one line on standard error.
pub fn main() -> ExitCode {
    start_logging();
    block_file_size_signal();
    let cli = Cli::parse();
    let done = match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Record(args) => record::run(&args),
        Command::Repro(args) => repro::run(&args),
        Command::Minimize(args) => minimize::run(&args, &mut crate::say::Stdout),
        Command::Report(args) => report::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Corpus(args) => corpus::run(&args, &mut crate::say::Stdout),
        Command::Shaders(args) => shaders::run(&args, &mut crate::say::Stdout),
        Command::Bench(args) => bench::run(&args, &mut crate::say::Stdout),
        Command::Doctor(args) => doctor::run(&args, &mut crate::say::Stdout),
        Command::Serve(args) => serve::run(&args),
        Command::Power(args) => power::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Completions(args) => manual::completions(&args, Cli::command(), &mut crate::say::Stdout),
        Command::Man(args) => manual::man(&args, Cli::command(), &mut crate::say::Stdout),
    };
    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            crate::say::error(format_args!("{error:#}"));
            ExitCode::from(BAD)
        }
    }
}

/// A limit of file sizes (`ulimit -f`) is as a full disk: the write fails. The signal that comes before that, SIGXFSZ, would end the program
/// with findings and report unwritten. Every thread and process that is started later takes over that it is blocked.
fn block_file_size_signal() {
    #[cfg(unix)]
    {
        let mut signals = nix::sys::signal::SigSet::empty();
        signals.add(nix::sys::signal::Signal::SIGXFSZ);
        if let Err(error) = signals.thread_block() {
            tracing::warn!("SIGXFSZ is not blocked: {error}");
        }
    }
}

/// Ctrl-C and SIGTERM set what is given, so that what was done so far is written, and `words` say so; a second one ends the program at once.
pub(crate) fn stop_on_signals(words: &'static str) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = stop.clone();
    let handled = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(BAD));
        }
        crate::say::line(words);
    });
    if let Err(error) = handled {
        tracing::warn!("signals are not handled: {error}");
    }
    stop
}

/// wgpu and naga log; only warnings of ours are shown unless `RUST_LOG` asks for more.
fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("off,lockstep=warn"));
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(takes_color(std::io::stderr().is_terminal()))
        // It would say by `eprintln!` that standard error is closed.
        .log_internal_errors(false)
        .try_init();
    debug_assert!(started.is_ok());
}

/// Whether standard output takes color: a terminal, and NO_COLOR not set.
pub(crate) fn color() -> bool {
    takes_color(std::io::stdout().is_terminal())
}

fn takes_color(is_terminal: bool) -> bool {
    is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
