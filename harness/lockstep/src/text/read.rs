//! Text to a stream.

use wire::{Arg, ArgKind, Op, Reason};

use super::form::{Form, attachments, data_words, form, is_data};
use super::rule::rule;
use super::value::{Fault, Spot, Token, class, end_of, fault, must_be, number, shown, takes, tokens, word, words_of};

/// The first words of lines that are no commands.
const KEYWORDS: [&str; 6] = ["color", "depth", "bytes", "data", "words", "refused"];

/// Why a text is no stream, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {what}")]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong and how to mend it, in one line.
    pub what: String,
}

/// The blob of a stream written as text (`reference/TEXT.md`): the inverse of [`write()`](super::write()), which also takes what a person
/// writes. Time and memory are linear in the text.
///
/// # Errors
///
/// The first line that is not of the language. Then, where Decode (wire.md section 3) refuses the stream and no `refused` line
/// foretells just that, the place that the refused word comes from; and a `refused` line that foretells something else.
pub fn read(text: &str) -> Result<Vec<u8>, TextError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    stream(text).map_err(|fault| located(text, fault))
}

/// Columns are counted only here, once for a text.
fn located(text: &str, fault: Fault) -> TextError {
    let line = text.lines().nth(fault.at.line).unwrap_or_default();
    let column = line
        .char_indices()
        .take_while(|(byte, _)| *byte < fault.at.byte)
        .count();
    TextError {
        line: fault.at.line + 1,
        column: column + 1,
        what: fault.what,
    }
}

/// What the lines below may still add to.
enum Open {
    Nothing,
    /// A BeginRenderPass: the word of its count of colors, and whether it has its depth attachment.
    Pass {
        count: usize,
        depth: bool,
    },
    /// A write that does not say where its data is: the word of its length, and where its line ends.
    Write {
        length: usize,
        end: Spot,
    },
}

/// The `refused` line.
struct Foretold {
    at: Spot,
    reason: Reason,
    word: Option<u64>,
}

struct Reader {
    words: Vec<u32>,
    /// Where each word comes from.
    spots: Vec<Spot>,
    data: Vec<u8>,
    open: Open,
    foretold: Option<Foretold>,
}

fn stream(text: &str) -> Result<Vec<u8>, Fault> {
    let mut reader = Reader {
        words: Vec::new(),
        spots: Vec::new(),
        data: Vec::new(),
        open: Open::Nothing,
        foretold: None,
    };
    for (number, line) in text.lines().enumerate() {
        if let Some((first, rest)) = tokens(line, number).split_first() {
            reader.line(*first, rest)?;
        }
    }
    reader.close()?;
    reader.judge()?;
    Ok(wire::encode_blob(&reader.words, &reader.data))
}

impl Reader {
    fn line(&mut self, first: Token<'_>, rest: &[Token<'_>]) -> Result<(), Fault> {
        match first.text {
            "color" | "depth" => return self.attachment(first, rest),
            "bytes" => return self.bytes_below(first, rest),
            _ => self.close()?,
        }
        match first.text {
            "data" => self.hex(first, rest),
            "words" => self.raw(first, rest),
            "refused" => self.foretell(first, rest),
            _ => match Op::ALL.into_iter().find(|op| op.name() == first.text) {
                Some(Op::BeginRenderPass) => self.begin_render_pass(first, rest),
                Some(op) => self.command(op, first, rest),
                None => fault(first.at, unknown_command(first.text)),
            },
        }
    }

    fn push(&mut self, word: u32, from: Spot) {
        self.words.push(word);
        self.spots.push(from);
    }

    /// Ends the command above: no line may add to it any more.
    fn close(&mut self) -> Result<(), Fault> {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Pass { count, depth: false } => self.push(0, self.spots[count]),
            Open::Write { length, end } if self.words[length] == 0 => {
                let what = "this write has no data: put `bytes` and hex after it or below it, or name its dataOffset and length";
                return fault(end, what.into());
            }
            _ => {}
        }
        Ok(())
    }

    fn begin_render_pass(&mut self, first: Token<'_>, rest: &[Token<'_>]) -> Result<(), Fault> {
        if let Some(token) = rest.first() {
            let what = "the attachments of BeginRenderPass stand on lines of their own, `color …` and `depth …`";
            return fault(token.at, what.into());
        }
        self.push(Op::BeginRenderPass.word(), first.at);
        self.open = Open::Pass {
            count: self.words.len(),
            depth: false,
        };
        self.push(0, first.at);
        Ok(())
    }

    fn attachment(&mut self, first: Token<'_>, rest: &[Token<'_>]) -> Result<(), Fault> {
        let (color, depth) = attachments();
        let is_depth = first.text == "depth";
        let Open::Pass {
            count,
            depth: had_depth,
        } = self.open
        else {
            let what = format!(
                "{} stands under no BeginRenderPass; its attachments come right below it",
                first.text
            );
            return fault(first.at, what);
        };
        if had_depth {
            let what = "depth is the last attachment, and there is one at most; put colors above it";
            return fault(first.at, what.into());
        }
        if is_depth {
            self.push(1, first.at);
            self.open = Open::Pass { count, depth: true };
        } else {
            self.words[count] = self.words[count].saturating_add(1);
        }
        let args = if is_depth { depth } else { color };
        self.arguments(Op::BeginRenderPass, args, first, rest).map(|_| ())
    }

    fn command(&mut self, op: Op, first: Token<'_>, rest: &[Token<'_>]) -> Result<(), Fault> {
        let start = self.words.len();
        self.push(op.word(), first.at);
        let Some((offset, length)) = data_words(op) else {
            return self.arguments(op, wire::layout(op), first, rest).map(|_| ());
        };
        let bytes = rest.iter().position(|token| token.text == "bytes");
        let (rest, bytes) = rest.split_at(bytes.unwrap_or(rest.len()));
        let lacking = self.arguments(op, wire::layout(op), first, rest)?;
        let end = end_of(first, rest);
        match (lacking, bytes.split_first()) {
            (0, None) => Ok(()),
            (1, None) => fault(
                end,
                format!("{op} names only one of its dataOffset and length; name both or neither"),
            ),
            (0 | 1, Some((keyword, _))) => {
                let what =
                    "a write has `bytes`, or the place of its data as dataOffset and length; drop one of the two";
                fault(keyword.at, what.into())
            }
            (_, bytes) => {
                self.words[start + 1 + offset] = self.data.len() as u32;
                let length = start + 1 + length;
                self.open = Open::Write { length, end };
                bytes.map_or(Ok(()), |(keyword, hex)| self.bytes_below(*keyword, hex))
            }
        }
    }

    /// The arguments of a command or an attachment, in their order. A name skips to its argument, and a value without a name to the
    /// next argument of its class; what is skipped is left out. Gives how many of a write's two data arguments are left out.
    fn arguments(
        &mut self,
        op: Op,
        mut args: &'static [Arg],
        first: Token<'_>,
        mut tokens: &[Token<'_>],
    ) -> Result<usize, Fault> {
        let (all, end) = (args, end_of(first, tokens));
        let mut lacking = 0;
        while let Some((token, after)) = tokens.split_first() {
            let named = after.first().is_some_and(|next| next.text == "=");
            let fits = |arg: &Arg| match named {
                true => spelled(arg) == token.text,
                false => takes(arg.kind) == class(token.text),
            };
            let Some(position) = args.iter().position(fits) else {
                return fault(token.at, misplaced(first.text, op, all, *token, named));
            };
            lacking += self.leave_out(op, &args[..position], first, token.at)?;
            let value = if named { &after[1..] } else { tokens };
            tokens = self.value(&args[position], value, end)?;
            args = &args[position + 1..];
        }
        Ok(lacking + self.leave_out(op, args, first, end)?)
    }

    /// The values of arguments that a line says nothing about. Gives how many of them say where a write's data is.
    fn leave_out(&mut self, op: Op, args: &[Arg], first: Token<'_>, at: Spot) -> Result<usize, Fault> {
        let mut lacking = 0;
        for arg in args {
            match (form(op, arg.name), arg.kind) {
                (Form::Unless(number), ArgKind::U64) => {
                    self.push(number as u32, first.at);
                    self.push((number >> 32) as u32, first.at);
                }
                (Form::Unless(number), _) => self.push(number as u32, first.at),
                (_, ArgKind::List { .. }) => self.push(0, first.at),
                _ if data_words(op).is_some() && is_data(arg.name) => {
                    lacking += 1;
                    self.push(0, first.at);
                }
                _ => return fault(at, format!("{} lacks {} here", first.text, arg.name)),
            }
        }
        Ok(lacking)
    }

    /// The value that `tokens` start with, for `arg`. Gives the tokens after it.
    fn value<'t, 'a>(&mut self, arg: &Arg, tokens: &'a [Token<'t>], end: Spot) -> Result<&'a [Token<'t>], Fault> {
        let Some((token, after)) = tokens.split_first() else {
            return fault(end, format!("{} must be {}", spelled(arg), must_be(arg.kind)));
        };
        if let (ArgKind::List { item, .. }, "[") = (arg.kind, token.text) {
            return self.list(&item[0], *token, after);
        }
        self.one(arg, *token)?;
        Ok(after)
    }

    fn one(&mut self, arg: &Arg, token: Token<'_>) -> Result<(), Fault> {
        let Some((word, high)) = words_of(arg.kind, token.text) else {
            let what = format!(
                "{} must be {}, not {}",
                spelled(arg),
                must_be(arg.kind),
                shown(token.text)
            );
            return fault(token.at, what);
        };
        self.push(word, token.at);
        if let Some(high) = high {
            self.push(high, token.at);
        }
        Ok(())
    }

    /// The items up to `]`, and before them how many they are. Gives the tokens after the `]`.
    fn list<'t, 'a>(&mut self, item: &Arg, open: Token<'_>, tokens: &'a [Token<'t>]) -> Result<&'a [Token<'t>], Fault> {
        let Some(length) = tokens.iter().position(|token| token.text == "]") else {
            return fault(open.at, "no `]` on this line closes the list".into());
        };
        self.push(length as u32, open.at);
        for token in &tokens[..length] {
            self.one(item, *token)?;
        }
        Ok(&tokens[length + 1..])
    }

    /// The bytes of the write above, or of the write that they end the line of.
    fn bytes_below(&mut self, keyword: Token<'_>, hex: &[Token<'_>]) -> Result<(), Fault> {
        let Open::Write { length, .. } = self.open else {
            let what =
                "bytes stand after or right below a WriteBuffer or WriteTexture without dataOffset; others are `data`";
            return fault(keyword.at, what.into());
        };
        let before = self.data.len();
        self.hex(keyword, hex)?;
        let more = self.data.len() - before;
        self.words[length] = self.words[length].saturating_add(more as u32);
        Ok(())
    }

    fn hex(&mut self, keyword: Token<'_>, hex: &[Token<'_>]) -> Result<(), Fault> {
        if hex.is_empty() {
            return fault(
                keyword.end(),
                format!("{} must be followed by hex digits, two a byte", keyword.text),
            );
        }
        for token in hex {
            match hex::decode(token.text) {
                Ok(bytes) => self.data.extend(bytes),
                Err(_) => return fault(token.at, format!("{} is not hex digits, two a byte", shown(token.text))),
            }
        }
        Ok(())
    }

    /// Words as they are, for what no command says.
    fn raw(&mut self, keyword: Token<'_>, rest: &[Token<'_>]) -> Result<(), Fault> {
        if rest.is_empty() {
            return fault(keyword.end(), "words must be followed by numbers".into());
        }
        for token in rest {
            let Some(word) = word(token.text) else {
                let what = format!("a word must be {}, not {}", must_be(ArgKind::U32), shown(token.text));
                return fault(token.at, what);
            };
            self.push(word, token.at);
        }
        Ok(())
    }

    fn foretell(&mut self, first: Token<'_>, rest: &[Token<'_>]) -> Result<(), Fault> {
        const SHAPE: &str =
            "a refused line is `refused REASON` or `refused REASON at word N`, with a reason of wire.md section 3";
        if self.foretold.is_some() {
            return fault(
                first.at,
                "a stream is refused once; drop one of the two refused lines".into(),
            );
        }
        let texts: Vec<&str> = rest.iter().map(|token| token.text).collect();
        let (reason, word) = match texts[..] {
            [reason] => (reason, None),
            [reason, "at", "word", word] => match number(word) {
                Some(word) => (reason, Some(word)),
                None => return fault(rest[3].at, SHAPE.into()),
            },
            _ => return fault(end_of(first, rest), SHAPE.into()),
        };
        let Some(reason) = Reason::ALL.into_iter().find(|known| known.name() == reason) else {
            return fault(rest[0].at, format!("{} is no reason; {SHAPE}", shown(reason)));
        };
        let at = first.at;
        self.foretold = Some(Foretold { at, reason, word });
        Ok(())
    }

    /// Holds the stream against Decode, and against the refused line.
    fn judge(&self) -> Result<(), Fault> {
        let (Ok(data_len), Ok(_)) = (u32::try_from(self.data.len()), u32::try_from(self.words.len())) else {
            return fault(
                Spot::default(),
                "a blob holds at most 2^32 - 1 words and data bytes".into(),
            );
        };
        let refusal = wire::commands(&self.words, data_len).find_map(Result::err);
        match (refusal, &self.foretold) {
            (None, None) => Ok(()),
            (None, Some(line)) => fault(line.at, "nothing refuses this stream; drop the line".into()),
            (Some(refusal), Some(line))
                if line.reason == refusal.reason && line.word.is_none_or(|word| word == refusal.word as u64) =>
            {
                Ok(())
            }
            (Some(refusal), line) => {
                let (reason, word) = (refusal.reason, refusal.word);
                let why = rule(&self.words, data_len, &refusal);
                match line {
                    None => fault(
                        self.spots[word],
                        format!("{reason}: {why}; mend it, or add the line `refused {reason}` if it is meant"),
                    ),
                    Some(line) => fault(
                        line.at,
                        format!("the stream is refused otherwise, `refused {reason} at word {word}`: {why}"),
                    ),
                }
            }
        }
    }
}

/// What an argument is called in the text. A list is called by its items; wire.md names its count.
fn spelled(arg: &Arg) -> String {
    match arg.kind {
        ArgKind::List { item, .. } => format!("{}s", item[0].name),
        _ => arg.name.to_owned(),
    }
}

/// Why `token` stands where it cannot.
fn misplaced(line: &str, op: Op, args: &'static [Arg], token: Token<'_>, named: bool) -> String {
    let text = shown(token.text);
    if args.is_empty() {
        return format!("{line} takes no arguments, and here is {text}");
    }
    let usage: Vec<String> = args.iter().map(|arg| usage_of(op, arg)).collect();
    let usage = usage.join(" ");
    match named {
        true if args.iter().any(|arg| spelled(arg) == token.text) => {
            format!("{text} comes too late; the order is {line} {usage}")
        }
        true => format!("{line} has no argument {text}; it is {line} {usage}"),
        false => format!(
            "{text} is {}, and {line} takes none here; it is {line} {usage}",
            class(token.text)
        ),
    }
}

fn usage_of(op: Op, arg: &Arg) -> String {
    let name = spelled(arg);
    let may_lack = matches!(form(op, arg.name), Form::Unless(_)) || matches!(arg.kind, ArgKind::List { .. });
    if may_lack { format!("[{name}]") } else { name }
}

fn unknown_command(text: &str) -> String {
    let names = Op::ALL.into_iter().map(Op::name).chain(KEYWORDS);
    let near = names.map(|name| (distance(text, name), name)).min();
    match near {
        Some((distance, name)) if 3 * distance <= name.len() => {
            format!("no command {}; did you mean `{name}`?", shown(text))
        }
        _ => format!("no command {}; they are those of wire.md section 2", shown(text)),
    }
}

/// How many letters to put in, take out or replace to make one of the other, whatever their case. A long text is far from all.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 32;
    if a.len() > LONGEST {
        return LONGEST;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, c) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, d) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(!c.eq_ignore_ascii_case(&d));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
