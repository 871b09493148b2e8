//! Streams as text, for a person who looks at one or writes one; `reference/TEXT.md` gives the language.
//!
//! [`write()`] and [`read()`] are each other's inverse over every stream, accepted or refused: a refused one is written as commands up to
//! the refused one, then a `refused` line, then raw words. [`disassemble`] writes the same commands in columns, for `lockstep repro`.

mod columns;
mod form;
mod read;
mod rule;
mod value;

pub use columns::disassemble;
pub use read::{TextError, read};

use std::fmt::Write as _;
use std::ops::Range;

use wire::{Arg, ArgKind, Blob, Cmd, Op, Refusal};

use form::{Form, attachments, data_words, form};

/// Bytes of a `bytes` or `data` line.
const LINE_BYTES: usize = 32;
/// A write of at most so many bytes has them on its own line.
const INLINE_BYTES: usize = 16;
/// Words of a `words` line.
const LINE_WORDS: usize = 8;
/// The indentation of what is in a pass, and of the bytes under a write.
const STEP: usize = 4;

/// A stream as text, in the one form that [`read()`] makes the same stream of again.
///
/// Each data byte stands once: under the first write that takes it, where writes take the data in order, else in a `data` line.
/// Of a stream that Decode refuses (wire.md section 3) the commands before the refused one are written, then what is wrong with
/// it, then all words from its opcode as numbers. Time and memory are linear in the stream.
pub fn write(blob: &Blob<'_>) -> String {
    let data_len = blob.data.len() as u32;
    let mut writer = Writer {
        text: String::new(),
        data: blob.data,
        shown: 0,
        indent: 0,
    };
    let (words, bytes) = (blob.words.len(), blob.data.len());
    let _ = writeln!(
        writer.text,
        "; wire version {}, {words} words, {bytes} bytes of data",
        wire::STREAM_VERSION
    );
    let refusal = wire::commands(&blob.words, data_len).find_map(Result::err);
    let mut end = 0;
    for cmd in wire::commands(&blob.words, data_len).map_while(Result::ok) {
        writer.command(&cmd, refusal.is_some_and(|refusal| refusal.word == cmd.word));
        end = cmd.word + 1 + cmd.args.len();
    }
    writer.indent = 0;
    if let Some(refusal) = refusal {
        writer.refused(&blob.words, end, &refusal);
    }
    writer.data_lines("data", bytes);
    writer.text
}

struct Writer<'a> {
    text: String,
    data: &'a [u8],
    /// How many of the data bytes stand in the text.
    shown: usize,
    indent: usize,
}

impl Writer<'_> {
    fn command(&mut self, cmd: &Cmd<'_>, marked: bool) {
        if cmd.op == Op::EndPass {
            self.indent = 0;
        }
        let bytes = self.own_bytes(cmd);
        if let Some(bytes) = &bytes {
            self.data_lines("data", bytes.start);
        }
        for (word, line) in lines(cmd, bytes.is_some()) {
            // Only open-pass names a command that was read.
            let mark = if marked && word == 0 { "  ; refused" } else { "" };
            let _ = writeln!(self.text, "{:1$}{line}{mark}", "", self.indent);
        }
        if let Some(bytes) = bytes {
            self.bytes(bytes);
        }
        if matches!(cmd.op, Op::BeginRenderPass | Op::BeginComputePass) {
            self.indent = STEP;
        }
    }

    /// The bytes of a write that no line shows yet. A write of none has none, wherever it points.
    fn own_bytes(&self, cmd: &Cmd<'_>) -> Option<Range<usize>> {
        let (offset, length) = data_words(cmd.op)?;
        let (start, length) = (cmd.args[offset] as usize, cmd.args[length] as usize);
        (length > 0 && start >= self.shown).then_some(start..start + length)
    }

    /// The bytes of the write that was just written.
    fn bytes(&mut self, bytes: Range<usize>) {
        if bytes.len() <= INLINE_BYTES {
            self.text.pop();
            self.text.push(' ');
            self.data_line("bytes", bytes.end);
        } else {
            self.indent += STEP;
            self.data_lines("bytes", bytes.end);
            self.indent -= STEP;
        }
    }

    fn data_lines(&mut self, keyword: &str, end: usize) {
        while self.shown < end {
            let _ = write!(self.text, "{:1$}", "", self.indent);
            self.data_line(keyword, end.min(self.shown + LINE_BYTES));
        }
    }

    fn data_line(&mut self, keyword: &str, end: usize) {
        self.text.push_str(keyword);
        for four in self.data[self.shown..end].chunks(4) {
            let _ = write!(self.text, " {}", hex::encode(four));
        }
        let _ = writeln!(self.text, "  ; at {}", self.shown);
        self.shown = end;
    }

    /// What is refused and why, and the words from `end`, where reading stopped; the refused word begins a line.
    fn refused(&mut self, words: &[u32], end: usize, refusal: &Refusal) {
        let Refusal { word, reason, .. } = *refusal;
        let why = rule::rule(words, self.data.len() as u32, refusal);
        let _ = writeln!(self.text, "refused {reason} at word {word}  ; {why}");
        let split = word.max(end);
        if let Some(read) = rule::read_up_to(words, self.data.len() as u32, refusal) {
            let _ = writeln!(self.text, "; {read} <- refused");
        }
        self.word_lines(words, end..split);
        if split < words.len() {
            let _ = writeln!(self.text, "words {:#010x}  ; {split}, refused", words[split]);
            self.word_lines(words, split + 1..words.len());
        }
    }

    fn word_lines(&mut self, words: &[u32], range: Range<usize>) {
        for (line, chunk) in words[range.clone()].chunks(LINE_WORDS).enumerate() {
            self.text.push_str("words");
            for word in chunk {
                let _ = write!(self.text, " {word:#010x}");
            }
            let _ = writeln!(self.text, "  ; {}", range.start + LINE_WORDS * line);
        }
    }
}

/// A command's lines, each with its first word, counted from the opcode. `bytes_follow`: where its data is need not be said.
fn lines(cmd: &Cmd<'_>, bytes_follow: bool) -> Vec<(usize, String)> {
    let mut first = cmd.op.name().to_owned();
    if cmd.op == Op::BeginRenderPass {
        return pass_lines(cmd, first);
    }
    arguments(&mut first, cmd.op, wire::layout(cmd.op), cmd.args, bytes_follow);
    vec![(0, first)]
}

fn pass_lines(cmd: &Cmd<'_>, first: String) -> Vec<(usize, String)> {
    let (color, depth) = attachments();
    let (colors, rest) = cmd.args[1..].split_at(cmd.args[0] as usize * color.len());
    let mut lines = vec![(0, first)];
    let mut attachment = |name: &str, args, words, at| {
        let mut line = format!("{:STEP$}{name}", "");
        arguments(&mut line, cmd.op, args, words, false);
        lines.push((at, line));
    };
    for (index, words) in colors.chunks(color.len()).enumerate() {
        attachment("color", color, words, 2 + index * color.len());
    }
    if rest[0] == 1 {
        attachment("depth", depth, &rest[1..], 3 + colors.len());
    }
    lines
}

fn arguments(line: &mut String, op: Op, args: &[Arg], mut words: &[u32], bytes_follow: bool) {
    for arg in args {
        let (own, rest) = words.split_at(width(arg.kind, words));
        words = rest;
        if bytes_follow && form::is_data(arg.name) || form::is_default(op, arg, own) {
            continue;
        }
        line.push(' ');
        if form(op, arg.name) != Form::Bare {
            line.push_str(arg.name);
            line.push('=');
        }
        match arg.kind {
            ArgKind::List { item, .. } => list(line, item[0].kind, &own[1..]),
            kind => one_value(line, kind, own),
        }
    }
}

/// How many of `words` belong to an argument that starts there. The items of a list are a word each, except for attachments,
/// which stand on lines of their own.
fn width(kind: ArgKind, words: &[u32]) -> usize {
    match kind {
        ArgKind::U64 => 2,
        ArgKind::List { .. } => 1 + words[0] as usize,
        _ => 1,
    }
}

/// An argument as the text has it, well formed or not; the items of a list and the attachments are not in it.
fn one_value(line: &mut String, kind: ArgKind, words: &[u32]) {
    let word = words[0];
    let _ = match kind {
        ArgKind::Id(_) | ArgKind::OptionalId(_) if word == 0 => write!(line, "none"),
        ArgKind::Id(_) | ArgKind::OptionalId(_) => write!(line, "#{word}"),
        ArgKind::I32 => write!(line, "{}", word.cast_signed()),
        // Debug gives the fewest digits that read back as the same float, and an exponent where zeros would be many.
        ArgKind::F32 => write!(line, "{:?}", f32::from_bits(word)),
        ArgKind::U64 => write!(line, "{}", form::join(words)),
        ArgKind::Bool if word <= 1 => write!(line, "{}", word == 1),
        ArgKind::Enum(enumeration) => match enumeration.values.iter().find(|value| value.0 == word) {
            Some((_, name)) if !name.is_empty() => write!(line, "{name}"),
            _ => write!(line, "{word}"),
        },
        ArgKind::U32 | ArgKind::Bool | ArgKind::List { .. } | ArgKind::Optional(_) => write!(line, "{word}"),
    };
}

fn list(line: &mut String, item: ArgKind, words: &[u32]) {
    line.push('[');
    for (index, word) in words.iter().enumerate() {
        line.push_str(if index > 0 { ", " } else { "" });
        one_value(line, item, &[*word]);
    }
    line.push(']');
}
