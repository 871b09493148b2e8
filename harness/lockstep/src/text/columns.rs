//! A stream's commands in columns, as `lockstep repro` shows them.

use std::fmt::Write as _;

use wire::{Cmd, Op, Refusal};

use super::{STEP, lines, rule};

/// A stream's commands, passes indented: command index, word index, and the command as [`write()`](super::write()) has it, but with the
/// place of a write's data in place of the bytes. The line of the `marked` word is marked. What comes after a refused command is
/// left out but for a few words, since nobody read it.
pub fn disassemble(words: &[u32], data_len: u32, marked: Option<usize>) -> String {
    let mut text = String::new();
    let mut indent = 0;
    let mut end = 0;
    for (index, cmd) in wire::commands(words, data_len).map_while(Result::ok).enumerate() {
        if cmd.op == Op::EndPass {
            indent = 0;
        }
        command(&mut text, index, &cmd, indent, marked);
        if matches!(cmd.op, Op::BeginRenderPass | Op::BeginComputePass) {
            indent = STEP;
        }
        end = cmd.word + 1 + cmd.args.len();
    }
    if let Some(refusal) = wire::commands(words, data_len).find_map(Result::err) {
        let Refusal { word, reason, .. } = refusal;
        let why = rule::rule(words, data_len, &refusal);
        let _ = writeln!(text, "> {word:>10}  refused {reason}: {why}");
        if let Some(read) = rule::read_up_to(words, data_len, &refusal) {
            let _ = writeln!(text, "{:>14}{read} <-", "");
        }
        unread(&mut text, words, end, word);
    }
    text
}

fn command(text: &mut String, index: usize, cmd: &Cmd<'_>, indent: usize, marked: Option<usize>) {
    let lines = lines(cmd, false);
    let ends = lines.iter().skip(1).map(|line| line.0).chain([1 + cmd.args.len()]);
    for ((start, line), end) in lines.iter().zip(ends) {
        let number = if *start == 0 { index.to_string() } else { String::new() };
        let marked = marked.and_then(|word| word.checked_sub(cmd.word));
        let marked = marked.filter(|word| (*start..end).contains(word));
        let mark = if marked.is_some() { '>' } else { ' ' };
        let _ = write!(text, "{mark}{number:>4} {:>6}  {:indent$}{line}", cmd.word + start, "");
        if let Some(word) = marked {
            let value = if word == 0 { cmd.op.word() } else { cmd.args[word - 1] };
            let _ = write!(text, "    <- word {} is {value}", cmd.word + word);
        }
        text.push('\n');
    }
}

/// The words from where reading stopped: a few of them, as numbers.
fn unread(text: &mut String, words: &[u32], end: usize, refused: usize) {
    const SHOWN: usize = 24;
    let rest = words.get(end..).unwrap_or_default();
    for (offset, word) in rest.iter().take(SHOWN).enumerate() {
        let at = end + offset;
        let mark = if at == refused { "   <-" } else { "" };
        let _ = writeln!(text, "  {at:>10}      {word:#010x} {word}{mark}");
    }
    if rest.len() > SHOWN {
        let _ = writeln!(text, "              and {} words more", rest.len() - SHOWN);
    }
}
