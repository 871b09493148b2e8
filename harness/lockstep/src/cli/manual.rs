//! `lockstep man` and `lockstep completions`: what clap knows of the command line, as a manual page and for shells.

use std::io::Write;

use clap::Command;
use clap_complete::Shell;

use super::CLEAN;

/// The name that shells complete and the manual goes by.
const PROGRAM: &str = "lockstep";

const MAN_EXAMPLES: &str = "Examples:
  cargo lockstep man > lockstep.1           the page of the program; `man ./lockstep.1` shows it
  cargo lockstep man run > lockstep-run.1   that of a command

Exit status: 0 written, 2 bad use.";

const SHELL_EXAMPLES: &str = "Examples:
  cargo lockstep completions bash > ~/.local/share/bash-completion/completions/lockstep
  cargo lockstep completions zsh > ~/.zfunc/_lockstep
  cargo lockstep completions fish > ~/.config/fish/completions/lockstep.fish

They complete the program `lockstep`, as `cargo install --locked --path harness/lockstep` puts it on the PATH.
Exit status: 0 written, 2 bad use.";

/// `lockstep man`'s arguments.
#[derive(clap::Args)]
#[command(after_help = MAN_EXAMPLES)]
pub struct ManArgs {
    /// The page of this command; without one that of the program
    command: Option<String>,
}

/// `lockstep completions`'s arguments.
#[derive(clap::Args)]
#[command(after_help = SHELL_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Writes a page in man's own language. The error is of an unknown command, or of writing.
pub fn man(args: &ManArgs, program: Command, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut program = program.name(PROGRAM);
    program.build();
    let page = match &args.command {
        None => program,
        Some(name) => {
            let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
            let unknown = || anyhow::anyhow!("no command `{name}`; there are {}", known.join(", "));
            program.find_subcommand(name).cloned().ok_or_else(unknown)?
        }
    };
    clap_mangen::Man::new(page).render(out)?;
    Ok(CLEAN)
}

/// Writes a shell's completions.
pub fn completions(args: &CompletionsArgs, mut program: Command, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, PROGRAM, &mut script);
    out.write_all(&script)?;
    Ok(CLEAN)
}
