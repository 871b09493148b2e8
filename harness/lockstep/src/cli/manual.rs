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
    let after = page.get_after_help().map(ToString::to_string).unwrap_or_default();
    // What stands behind the options in the help has sections of its own in a manual.
    clap_mangen::Man::new(page.after_help(None::<&str>)).render(out)?;
    out.write_all(sections(&after).as_bytes())?;
    Ok(CLEAN)
}

/// The words behind the help as man's sections: `Examples:`, what follows them, and `Exit status:`.
fn sections(after: &str) -> String {
    let (rest, status) = after.split_once("Exit status:").unwrap_or((after, ""));
    let examples = rest.strip_prefix("Examples:\n").unwrap_or(rest);
    let (examples, notes) = examples.split_once("\n\n").unwrap_or((examples, ""));
    let section = |name: &str, text: &str, filled: bool| match text.trim() {
        "" => String::new(),
        text if filled => format!(".SH {name}\n{}\n", roff(text)),
        _ => format!(".SH {name}\n.nf\n{}\n.fi\n", roff(text.trim_end())),
    };
    section("EXAMPLES", examples, false) + &section("NOTES", notes, false) + &section("EXIT STATUS", status, true)
}

/// A text in which man sees no command of its own.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let lines = escaped.lines().map(|line| match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Writes a shell's completions.
pub fn completions(args: &CompletionsArgs, mut program: Command, out: &mut dyn Write) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, PROGRAM, &mut script);
    out.write_all(&script)?;
    Ok(CLEAN)
}
