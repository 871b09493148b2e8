//! What is said to a person, on standard output and standard error.
//!
//! `println!` panics when nobody reads any more, as behind `| head -1`; that must not cost a campaign its report. And text out of a
//! case file, a shader or a file name may hold escape codes, which must not reach the terminal.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{ErrorKind, Write as _};

use anyhow::Context as _;

/// Writes to standard output, as it is. A reader that has seen enough, such as `head`, is no error.
///
/// # Errors
///
/// It cannot be written, as on a full disk.
pub fn out(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("standard output: cannot write to it")
        }
        _ => Ok(()),
    }
}

/// Standard output, as [`out`] writes to it.
pub struct Stdout;

impl std::io::Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        unless_nobody_reads(std::io::stdout().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        unless_nobody_reads(std::io::stdout().flush(), ())
    }
}

fn unless_nobody_reads<T>(done: std::io::Result<T>, otherwise: T) -> std::io::Result<T> {
    done.or_else(|error| match error.kind() {
        ErrorKind::BrokenPipe => Ok(otherwise),
        kind => Err(std::io::Error::new(
            kind,
            format!("standard output: cannot write to it: {error}"),
        )),
    })
}

/// Writes a line to standard error.
pub fn line(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes the one line of an error to standard error: line breaks in it are written as `\n`.
pub fn error(error: impl Display) {
    line(format_args!("lockstep: {}", one_line(&error.to_string())));
}

/// The text without what a terminal obeys: control characters but for line breaks and tabs, and marks that are not seen or turn the
/// direction of writing, are written as `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |c| !matches!(c, '\n' | '\t') && obeyed(c))
}

/// The same in one line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, obeyed)
}

fn obeyed(c: char) -> bool {
    let hidden = matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() || hidden
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let escape = |c: char| match is_escaped(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escape).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert_eq!(printable("a\n\tb é 😀"), "a\n\tb é 😀");
        assert_eq!(
            printable("\u{1b}[31m\r\u{7}\u{9b}0m\u{202e}"),
            "\\u{1b}[31m\\r\\u{7}\\u{9b}0m\\u{202e}"
        );
        assert_eq!(one_line("a\nb"), "a\\nb");
    }
}
