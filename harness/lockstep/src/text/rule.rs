//! The rules of wire.md section 3 in words, for the stream that breaks one.

use std::fmt::Write as _;

use wire::{Arg, ArgKind, Context, MAX_READ_WINDOW, MAX_SAFE_INTEGER, Op, Reason, Refusal};

use super::form::{choices, data_words, join, or};
use super::one_value;

/// What is wrong with the word that `refusal` is about and what the rule is, for a refusal of Decode over these very words.
pub(super) fn rule(words: &[u32], data_len: u32, refusal: &Refusal) -> String {
    let word = words.get(refusal.word).copied().unwrap_or(0);
    let Some(op) = refusal.op else {
        return format!("{word} is no opcode");
    };
    let broken = match refusal.reason {
        Reason::WrongContext => format!("may stand only {}", places(op)),
        Reason::Truncated => "the words end before its arguments do".to_owned(),
        Reason::OpenPass => "no EndPass closes it".to_owned(),
        reason => argument_rule(words, data_len, op, refusal.word, reason),
    };
    format!("{op}: {broken}")
}

fn places(op: Op) -> String {
    let places = [
        (Context::Outside, "outside a pass"),
        (Context::Render, "in a render pass"),
        (Context::Compute, "in a compute pass"),
    ];
    let open: Vec<&str> = places
        .into_iter()
        .filter(|place| op.allowed_in(place.0))
        .map(|place| place.1)
        .collect();
    or(&open)
}

/// The command that is refused, up to the refused word, for a refusal that names an argument.
pub(super) fn read_up_to(words: &[u32], data_len: u32, refusal: &Refusal) -> Option<String> {
    let op = refusal.op?;
    let start = opcode_before(words, data_len, refusal.word);
    let target = refusal.word.checked_sub(start + 1)?;
    let mut search = Search::new(&words[start + 1..], target);
    search.find(wire::layout(op))?;
    Some(format!("{op}{}", search.read))
}

fn argument_rule(words: &[u32], data_len: u32, op: Op, at: usize, reason: Reason) -> String {
    let start = opcode_before(words, data_len, at);
    let args = words.get(start + 1..).unwrap_or_default();
    let target = at.saturating_sub(start + 1);
    let Some((arg, name)) = Search::new(args, target).find(wire::layout(op)) else {
        return reason.to_string();
    };
    let name = match op {
        Op::CopyTextureToTexture if arg.name == "aspect" => aspect_of(target),
        _ => name,
    };
    let word = words[at];
    let arg_word = |index: usize| args.get(index).copied().unwrap_or(0);
    match reason {
        Reason::TooMany => format!("{name} is {word}; at most {} are taken", limit(arg)),
        Reason::ZeroId => format!("{name} is 0; it must name an object"),
        Reason::BadEnum => format!("{name} is {word}; it must be {}", listed(arg)),
        Reason::BadFlag => format!("{name} is {word}; it must be 0 or 1"),
        Reason::NonFinite => format!("{name} is {}; it must be finite", f32::from_bits(word)),
        Reason::UnsafeInteger => {
            let number = join(&words[at..words.len().min(at + 2)]);
            format!("{name} is {number}; it must be at most 2^53 - 1, {MAX_SAFE_INTEGER}")
        }
        Reason::DataRange => {
            let length = data_words(op).map_or(0, |(_, length)| arg_word(length));
            format!("{length} bytes from {word} end past the data, which has {data_len}")
        }
        Reason::WriteSize => format!("length is {word}; it must be a multiple of 4"),
        Reason::ReadAlignment => {
            let number = join(&words[at..words.len().min(at + 2)]);
            format!("offset is {number}; it must be a multiple of 8")
        }
        Reason::ReadSize => format!("size is {word}; it must be a multiple of 4 and not 0"),
        Reason::ReadWindow => format!(
            "{} bytes from {word} end past 64 MiB of read window, {MAX_READ_WINDOW}",
            arg_word(3)
        ),
        other => other.to_string(),
    }
}

/// The opcode word of the command that word `at`, an argument, belongs to: the end of what is read before it.
fn opcode_before(words: &[u32], data_len: u32, at: usize) -> usize {
    wire::commands(words, data_len)
        .map_while(Result::ok)
        .map(|cmd| cmd.word + 1 + cmd.args.len())
        .take_while(|&end| end <= at)
        .last()
        .unwrap_or(0)
}

/// The way through a command's arguments to the one that starts at word `target`.
struct Search<'w> {
    words: &'w [u32],
    at: usize,
    target: usize,
    /// The arguments up to that one, each with a blank before it.
    read: String,
}

impl<'w> Search<'w> {
    fn new(words: &'w [u32], target: usize) -> Self {
        Self {
            words,
            at: 0,
            target,
            read: String::new(),
        }
    }

    /// The argument, and what to call it.
    fn find(&mut self, args: &'static [Arg]) -> Option<(&'static Arg, String)> {
        for arg in args {
            let (here, width) = (self.at, if arg.kind == ArgKind::U64 { 2 } else { 1 });
            let own = self.words.get(here..here + width)?;
            self.at += width;
            let _ = write!(self.read, " {}=", arg.name);
            one_value(&mut self.read, arg.kind, own);
            if here == self.target {
                return Some((arg, arg.name.to_owned()));
            }
            let inside = match arg.kind {
                ArgKind::List { item, .. } => self.find_item(item, own[0]),
                ArgKind::Optional(inner) if own[0] == 1 => self.find_depth(inner),
                _ => None,
            };
            if inside.is_some() {
                return inside;
            }
        }
        None
    }

    fn find_item(&mut self, item: &'static [Arg], count: u32) -> Option<(&'static Arg, String)> {
        for index in 0..count {
            if self.at > self.target {
                return None;
            }
            if let Some((arg, name)) = self.find(item) {
                return Some((arg, member(item, &name, index)));
            }
        }
        None
    }

    /// Only the view's name does not say that it is of the depth attachment.
    fn find_depth(&mut self, depth: &'static [Arg]) -> Option<(&'static Arg, String)> {
        let (arg, name) = self.find(depth)?;
        Some((arg, if name == "view" { "view of depth".into() } else { name }))
    }
}

/// `bundle 2`, or `loadOp of color 2` where an item is several words.
fn member(item: &[Arg], name: &str, index: u32) -> String {
    match item.len() {
        1 => format!("{name} {index}"),
        _ => format!("{name} of color {index}"),
    }
}

/// Both ends of a texture copy have an aspect.
fn aspect_of(argument: usize) -> String {
    format!("aspect of {}", if argument < 6 { "src" } else { "dst" })
}

fn limit(arg: &Arg) -> u32 {
    match arg.kind {
        ArgKind::List { limit, .. } => limit,
        _ => 0,
    }
}

fn listed(arg: &Arg) -> String {
    let ArgKind::Enum(enumeration) = arg.kind else {
        return String::new();
    };
    let zero = enumeration.values.iter().any(|value| value.1.is_empty());
    let names = choices(enumeration.values);
    if zero {
        format!("{names}, or 0 for left out")
    } else {
        names
    }
}
