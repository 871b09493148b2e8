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
}

impl Token<'_> {
    /// Whether it is a name or a keyword.
    pub fn is_word(&self) -> bool {
        self.text.starts_with(starts_word)
    }
}

/// The operators that are one token. `>>` and `]]` are none, since they also end two template lists or two subscripts.
const PAIRS: [&str; 8] = ["::", "->", "==", "!=", "<=", ">=", "&&", "||"];

/// Splits a text. Comments and preprocessor lines are left out; no text is refused.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = blank(rest).unwrap_or_else(|| {
            let length = token(rest);
            found.push(Token {
                text: &rest[..length],
                at,
                line,
            });
            length
        });
        line += rest[..length].matches('\n').count() as u32;
        at += length;
    }
    found
}

/// The length of what stands at the start of `rest` and is no token; none where a token stands there.
fn blank(rest: &str) -> Option<usize> {
    let to = |end: &str, from: usize| {
        rest[from..]
            .find(end)
            .map_or(rest.len(), |place| from + place + end.len())
    };
    if rest.starts_with("//") || rest.starts_with('#') {
        Some(to("\n", 1))
    } else if rest.starts_with("/*") {
        Some(to("*/", 2))
    } else {
        rest.chars().next().filter(|c| c.is_whitespace()).map(char::len_utf8)
    }
}

/// The length of the token at the start of `rest`, which is not empty.
fn token(rest: &str) -> usize {
    if rest.starts_with(starts_word) {
        return rest.find(|c: char| !continues_word(c)).unwrap_or(rest.len());
    }
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        return number(rest);
    }
    if PAIRS.iter().any(|pair| rest.starts_with(pair)) {
        return 2;
    }
    rest.chars().next().map_or(0, char::len_utf8)
}

/// The length of a number: digits, letters, points, and a sign after the exponent of a decimal one.
fn number(rest: &str) -> usize {
    let decimal = !rest.starts_with("0x");
    let mut before = ' ';
    rest.find(|c: char| {
        let sign = matches!(c, '+' | '-') && decimal && matches!(before, 'e' | 'E');
        before = c;
        !(continues_word(c) || c == '.' || sign)
    })
    .unwrap_or(rest.len())
}

fn starts_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn continues_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
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
