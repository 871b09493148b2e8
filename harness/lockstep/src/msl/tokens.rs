//! MSL text as tokens.

/// One token, and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// A word, a number, one of [`PAIRS`], or one other character.
    pub text: &'a str,
    /// The byte where it begins.
    pub at: usize,
    /// Its line, from 1.
    pub line: u32,
    /// For an opening bracket that is closed: how many tokens further on its other half stands. 0 for every other token.
    pub closes_after: u32,
}

impl Token<'_> {
    /// Whether it is a name or a keyword.
    pub fn is_word(&self) -> bool {
        self.text.as_bytes().first().copied().is_some_and(starts_word)
    }
}

/// The operators that are one token. `>>` and `]]` are none, since they also end two template lists or two subscripts.
const PAIRS: [&[u8; 2]; 8] = [b"::", b"->", b"==", b"!=", b"<=", b">=", b"&&", b"||"];

/// Splits a text. Comments and preprocessor lines are left out; no text is refused. Where a bracket is closed by the wrong one,
/// those around it count as never closed.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    // naga writes some four bytes for a token.
    let mut found: Vec<Token<'_>> = Vec::with_capacity(text.len() / 4);
    let mut open: Vec<(usize, u8)> = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(&first) = text.as_bytes().get(at) {
        let rest = &text.as_bytes()[at..];
        if let Some(length) = blank(rest) {
            line += rest[..length].iter().filter(|&&byte| byte == b'\n').count() as u32;
            at += length;
            continue;
        }
        let length = token(rest);
        match first {
            b'(' => open.push((found.len(), b')')),
            b'[' => open.push((found.len(), b']')),
            b'{' => open.push((found.len(), b'}')),
            b')' | b']' | b'}' => match open.pop() {
                Some((opening, wanted)) if wanted == first => {
                    found[opening].closes_after = (found.len() - opening) as u32;
                }
                _ => open.clear(),
            },
            _ => {}
        }
        found.push(Token {
            text: &text[at..at + length],
            at,
            line,
            closes_after: 0,
        });
        at += length;
    }
    found
}

/// The length of what stands at the start of `rest` and is no token; none where a token stands there.
fn blank(rest: &[u8]) -> Option<usize> {
    let line = || {
        rest.iter()
            .position(|&byte| byte == b'\n')
            .map_or(rest.len(), |end| end + 1)
    };
    match rest {
        [b'#', ..] | [b'/', b'/', ..] => Some(line()),
        [b'/', b'*', within @ ..] => Some(
            within
                .windows(2)
                .position(|two| two == b"*/")
                .map_or(rest.len(), |end| end + 4),
        ),
        [first, ..] if first.is_ascii_whitespace() => Some(
            rest.iter()
                .position(|byte| !byte.is_ascii_whitespace())
                .unwrap_or(rest.len()),
        ),
        _ => None,
    }
}

/// The length of the token at the start of `rest`, which is not empty.
fn token(rest: &[u8]) -> usize {
    let first = rest[0];
    if starts_word(first) {
        return rest
            .iter()
            .position(|&byte| !continues_word(byte))
            .unwrap_or(rest.len());
    }
    if first.is_ascii_digit() {
        return number(rest);
    }
    if PAIRS.iter().any(|pair| rest.starts_with(*pair)) {
        return 2;
    }
    // One character, which may have more bytes.
    let further = rest[1..].iter().take_while(|&&byte| byte & 0xC0 == 0x80);
    1 + further.count()
}

/// The length of a number: digits, letters, points, and a sign after the exponent of a decimal one.
fn number(rest: &[u8]) -> usize {
    let decimal = !rest.starts_with(b"0x");
    let mut before = b' ';
    rest.iter()
        .position(|&byte| {
            let sign = matches!(byte, b'+' | b'-') && decimal && matches!(before, b'e' | b'E');
            before = byte;
            !(continues_word(byte) || byte == b'.' || sign)
        })
        .unwrap_or(rest.len())
}

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn continues_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::tokens;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_numbers_and_operators() {
        assert_eq!(
            texts("a.b->c[[d]] 1e-5-2u"),
            ["a", ".", "b", "->", "c", "[", "[", "d", "]", "]", "1e-5", "-", "2u"]
        );
        assert_eq!(texts("x<metal::y>>=3"), ["x", "<", "metal", "::", "y", ">", ">=", "3"]);
        assert_eq!(texts("0x1e-5 .5"), ["0x1e", "-", "5", ".", "5"]);
    }

    #[test]
    fn comments_and_preprocessor_lines_are_no_tokens_and_lines_count_on() {
        let text = "// one\n#include <a>\n/* three\nfour */ x\r\ny";
        let places: Vec<_> = tokens(text).iter().map(|token| (token.text, token.line)).collect();
        assert_eq!(places, [("x", 4), ("y", 5)]);
    }

    #[test]
    fn any_text_is_read() {
        assert_eq!(texts("é\"/*"), ["é", "\""]);
        assert_eq!(texts("//"), Vec::<&str>::new());
        assert_eq!(texts("/"), ["/"]);
    }
}
