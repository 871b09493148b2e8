//! Streams as text, for a person who looks at a case.

use std::fmt::Write as _;

use wire::{Arg, ArgKind, Cmd, Op};

/// A stream's commands, a line each, passes indented: command index, word index, name, arguments. A refused word is marked, and what
/// comes after the command that it is in is left out, since nobody read it.
pub fn disassemble(words: &[u32], data_len: u32, marked: Option<usize>) -> String {
    let mut text = String::new();
    let mut indent = 0;
    let mut end = 0;
    for (index, cmd) in wire::commands(words, data_len).map_while(Result::ok).enumerate() {
        if cmd.op == Op::EndPass {
            indent = 0;
        }
        line(&mut text, index, &cmd, indent, marked);
        if matches!(cmd.op, Op::BeginRenderPass | Op::BeginComputePass) {
            indent = 4;
        }
        end = cmd.word + 1 + cmd.args.len();
    }
    if let Some(refused) = wire::commands(words, data_len).find_map(Result::err) {
        if refused.word < end {
            let _ = writeln!(text, "      ^ {} at word {}", refused.reason, refused.word);
        } else {
            unread(&mut text, words, end, &refused);
        }
    }
    text
}

fn line(text: &mut String, index: usize, cmd: &Cmd<'_>, indent: usize, marked: Option<usize>) {
    let inside = cmd.word..cmd.word + 1 + cmd.args.len();
    let mark = if marked.is_some_and(|word| inside.contains(&word)) {
        '>'
    } else {
        ' '
    };
    let _ = write!(
        text,
        "{mark}{index:>4} {:>6}  {:indent$}{}",
        cmd.word,
        "",
        cmd.op.name()
    );
    let mut at = 0;
    arguments(text, wire::layout(cmd.op), cmd.args, &mut at);
    if let Some(word) = marked.filter(|word| inside.contains(word)) {
        let _ = write!(
            text,
            "    <- word {word} is {}",
            [cmd.op as u32]
                .iter()
                .chain(cmd.args)
                .nth(word - cmd.word)
                .unwrap_or(&0)
        );
    }
    text.push('\n');
}

fn arguments(text: &mut String, args: &[Arg], words: &[u32], at: &mut usize) {
    for arg in args {
        let Some(&word) = words.get(*at) else { return };
        *at += 1;
        let name = arg.name;
        let _ = match arg.kind {
            ArgKind::Id(_) | ArgKind::OptionalId(_) if word == 0 => write!(text, " {name} none"),
            ArgKind::Id(_) | ArgKind::OptionalId(_) => write!(text, " {name} #{word}"),
            ArgKind::U32 => write!(text, " {name} {word}"),
            ArgKind::I32 => write!(text, " {name} {}", word as i32),
            ArgKind::F32 => write!(text, " {name} {:?}", f32::from_bits(word)),
            ArgKind::Bool => write!(text, " {name} {}", word == 1),
            ArgKind::Enum(values) => {
                let known = values
                    .values
                    .iter()
                    .find(|value| value.0 == word)
                    .map_or("?", |value| value.1);
                if known.is_empty() {
                    Ok(())
                } else {
                    write!(text, " {name} {known}")
                }
            }
            ArgKind::U64 => {
                let high = words.get(*at).copied().unwrap_or(0);
                *at += 1;
                write!(text, " {name} {}", u64::from(word) | u64::from(high) << 32)
            }
            ArgKind::List { item, .. } => {
                text.push_str(" [");
                for index in 0..word {
                    if index > 0 {
                        text.push(',');
                    }
                    arguments(text, item, words, at);
                }
                write!(text, " ]")
            }
            ArgKind::Optional(inner) => {
                if word == 1 {
                    text.push_str(" {");
                    arguments(text, inner, words, at);
                    text.push_str(" }");
                }
                Ok(())
            }
        };
    }
}

/// The words from where reading stopped: a few of them, as numbers.
fn unread(text: &mut String, words: &[u32], end: usize, refused: &wire::Refusal) {
    const SHOWN: usize = 24;
    let name = refused.op.map_or("unknown opcode", Op::name);
    let _ = writeln!(
        text,
        "> {:>10}  {name} refused: {} at word {}",
        end, refused.reason, refused.word
    );
    let rest = words.get(end..).unwrap_or_default();
    for (offset, word) in rest.iter().take(SHOWN).enumerate() {
        let at = end + offset;
        let mark = if at == refused.word { "   <-" } else { "" };
        let _ = writeln!(text, "  {at:>10}      {word:#010x} {word}{mark}");
    }
    if rest.len() > SHOWN {
        let _ = writeln!(text, "              and {} words more", rest.len() - SHOWN);
    }
}
