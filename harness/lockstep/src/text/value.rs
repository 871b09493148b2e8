//! What a line of text is made of, and the words that one value stands for.

use wire::{ArgKind, MAX_SAFE_INTEGER};

use super::form::choices;

/// A place in the text: lines from 0, and bytes into one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spot {
    pub(super) line: usize,
    pub(super) byte: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Token<'t> {
    pub(super) text: &'t str,
    pub(super) at: Spot,
}

pub(super) struct Fault {
    pub(super) at: Spot,
    pub(super) what: String,
}

pub(super) fn fault<T>(at: Spot, what: String) -> Result<T, Fault> {
    Err(Fault { at, what })
}

/// The tokens of a line up to its comment: `[`, `]` and `=`, and what stands between those, blanks and commas.
pub(super) fn tokens(line: &str, number: usize) -> Vec<Token<'_>> {
    let comment = [line.find(';'), line.find("//")].into_iter().flatten().min();
    let code = &line[..comment.unwrap_or(line.len())];
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut push = |from: usize, to: usize| {
        if from < to {
            let at = Spot {
                line: number,
                byte: from,
            };
            tokens.push(Token {
                text: &code[from..to],
                at,
            });
        }
    };
    for (at, c) in code.char_indices() {
        if c.is_whitespace() || matches!(c, ',' | '[' | ']' | '=') {
            push(start, at);
            start = at + c.len_utf8();
            if matches!(c, '[' | ']' | '=') {
                push(at, start);
            }
        }
    }
    push(start, code.len());
    tokens
}

/// A token as a message has it: on one line and not too long.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let cut = text.char_indices().nth(MOST);
    let (text, more) = cut.map_or((text, ""), |(at, _)| (&text[..at], "…"));
    format!("`{}{more}`", text.escape_debug())
}

impl Token<'_> {
    pub(super) fn end(&self) -> Spot {
        Spot {
            byte: self.at.byte + self.text.len(),
            ..self.at
        }
    }
}

/// Where a line ends of which `first` is the first token and `rest` the others.
pub(super) fn end_of(first: Token<'_>, rest: &[Token<'_>]) -> Spot {
    rest.last().unwrap_or(&first).end()
}

/// What the token says it is; [`takes`] says the same of an argument.
pub(super) fn class(text: &str) -> &'static str {
    match text {
        "[" => "a list",
        "none" => "an id",
        "true" | "false" => "a bool",
        _ if text.starts_with('#') => "an id",
        _ if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) => "a number",
        _ => "a word",
    }
}

/// The class of the values that an argument takes without its name.
pub(super) fn takes(kind: ArgKind) -> &'static str {
    match kind {
        ArgKind::Id(_) | ArgKind::OptionalId(_) => "an id",
        ArgKind::U32 | ArgKind::I32 | ArgKind::F32 | ArgKind::U64 => "a number",
        ArgKind::Bool => "a bool",
        ArgKind::Enum(_) => "a word",
        ArgKind::List { .. } => "a list",
        ArgKind::Optional(_) => "lines of its own",
    }
}

/// The word, or for a u64 the two, that a value stands for. Any number that fits the words is taken, also where Decode refuses it:
/// an enumeration and a bool as a number, a float as its bits. `None` for what is no value of the kind at all.
pub(super) fn words_of(kind: ArgKind, text: &str) -> Option<(u32, Option<u32>)> {
    let one = match kind {
        ArgKind::U64 => {
            let number = number(text)?;
            return Some((number as u32, Some((number >> 32) as u32)));
        }
        ArgKind::Id(_) | ArgKind::OptionalId(_) if text == "none" => Some(0),
        ArgKind::Id(_) | ArgKind::OptionalId(_) => word(text.strip_prefix('#')?),
        ArgKind::U32 => word(text),
        ArgKind::I32 => text.parse().ok().map(i32::cast_unsigned),
        ArgKind::F32 => float(text),
        ArgKind::Bool => match text {
            "true" => Some(1),
            "false" => Some(0),
            _ => word(text),
        },
        ArgKind::Enum(enumeration) => {
            let named = enumeration.values.iter().find(|value| value.1 == text);
            named.map(|value| value.0).or_else(|| word(text))
        }
        ArgKind::List { .. } | ArgKind::Optional(_) => None,
    };
    one.map(|word| (word, None))
}

/// What a value of the kind looks like, as a sentence has it.
pub(super) fn must_be(kind: ArgKind) -> String {
    match kind {
        ArgKind::Id(_) => "an id such as #7".into(),
        ArgKind::OptionalId(_) => "an id such as #7, or none".into(),
        ArgKind::U32 => format!("a number from 0 to {}", u32::MAX),
        ArgKind::I32 => format!("a number from {} to {}", i32::MIN, i32::MAX),
        ArgKind::U64 => format!("a number from 0 to {MAX_SAFE_INTEGER}"),
        ArgKind::F32 => "a finite float such as 0.5, or its bits such as 0x3f000000".into(),
        ArgKind::Bool => "true or false".into(),
        ArgKind::Enum(enumeration) => choices(enumeration.values),
        ArgKind::List { item, .. } => match takes(item[0].kind) {
            "an id" => "a list such as [#7, #8]".into(),
            _ => "a list such as [0, 256]".into(),
        },
        ArgKind::Optional(_) => takes(kind).into(),
    }
}

/// A number without a sign, decimal or `0x` and hexadecimal.
pub(super) fn number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    // from_str_radix takes a sign, which no canonical text has.
    let unsigned = digits.starts_with(|c: char| c.is_ascii_hexdigit());
    unsigned.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// A number that fits a word.
pub(super) fn word(text: &str) -> Option<u32> {
    number(text)?.try_into().ok()
}

/// The bits of a float: the nearest one to a decimal, or `0x` and the bits themselves. What rounds to infinity is none.
fn float(text: &str) -> Option<u32> {
    if text.starts_with("0x") {
        return word(text);
    }
    let float: f32 = text.parse().ok()?;
    float.is_finite().then(|| float.to_bits())
}
