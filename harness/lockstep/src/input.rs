//! Files that somebody else made: never read without an end, and what is wrong with them said with its place.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The text of a file.
///
/// # Errors
///
/// It cannot be read, holds more than `limit` bytes, or is no UTF-8; the last names the line.
pub fn text(path: &Path, limit: u64) -> io::Result<String> {
    text_from(open(path)?, limit)
}

/// The bytes of a file.
///
/// # Errors
///
/// It cannot be read, or holds more than `limit` bytes.
pub fn bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    bytes_from(open(path)?, limit)
}

/// A pipe with a name in a folder would be waited for until somebody writes to it. What `/dev` and `/proc` have is meant: `/dev/stdin`, and
/// what a shell makes of `<(...)`.
fn open(path: &Path) -> io::Result<File> {
    let there = path.metadata()?;
    let is_meant = there.is_file() || there.is_dir() || path.starts_with("/dev") || path.starts_with("/proc");
    match is_meant {
        true => File::open(path),
        false => Err(wrong(
            "it is no file; give one, or /dev/stdin for what is written to a pipe".into(),
        )),
    }
}

fn bytes_from(from: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more tells a longer file, a device without an end too.
    from.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(wrong(format!(
            "it holds more than {limit} bytes, the most that is read"
        )));
    }
    Ok(bytes)
}

/// The text of what is open already, as standard input is.
///
/// # Errors
///
/// Those of [`text`].
pub fn text_from(from: impl Read, limit: u64) -> io::Result<String> {
    let bytes = bytes_from(from, limit)?;
    String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        wrong(format!("line {line} is not valid UTF-8"))
    })
}

/// What serde says of a value, without the names of our types, which nobody sees in a file: `expected struct Results` is `expected an
/// object`.
pub fn plainly(error: impl Display) -> String {
    const KINDS: [(&str, &str); 5] = [
        ("internally tagged enum ", "an object"),
        ("struct variant ", "an object"),
        ("tuple struct ", "a list"),
        ("struct ", "an object"),
        ("enum ", "one of its names"),
    ];
    let error = error.to_string();
    let Some((before, expected)) = error.split_once("expected ") else {
        return error;
    };
    let kind = KINDS
        .iter()
        .find_map(|(kind, plain)| Some((Some(*plain), expected.strip_prefix(kind)?)));
    let (plain, rest) = kind.unwrap_or((None, expected));
    let (name, rest) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
    let plain = plain.or(match name {
        "u8" | "u16" | "u32" | "u64" | "usize" => Some("a whole number"),
        "f32" | "f64" => Some("a number"),
        _ => None,
    });
    plain.map_or(error.clone(), |plain| format!("{before}expected {plain}{rest}"))
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_not_said() {
        let rows = [
            (
                "invalid type: sequence, expected struct Results at line 1 column 1",
                "invalid type: sequence, expected an object at line 1 column 1",
            ),
            (
                "invalid type: integer `1`, expected internally tagged enum Outcome",
                "invalid type: integer `1`, expected an object",
            ),
            (
                "invalid value: integer `-1`, expected u64 at line 2 column 3",
                "invalid value: integer `-1`, expected a whole number at line 2 column 3",
            ),
            (
                "unknown field `tiem`, expected one of `time`, `workers`",
                "unknown field `tiem`, expected one of `time`, `workers`",
            ),
            (
                "missing field `rows` at line 1 column 2",
                "missing field `rows` at line 1 column 2",
            ),
        ];
        for (said, due) in rows {
            assert_eq!(plainly(said), due);
        }
    }
}
