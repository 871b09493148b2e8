//! Files that somebody else made: never read without an end, and what is wrong with them said with its place.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The text of a file.
///
/// # Errors
///
/// It cannot be read, holds more than `limit` bytes, or is no UTF-8; the last names the line.
pub fn text(path: &Path, limit: u64) -> io::Result<String> {
    text_from(File::open(path)?, limit)
}

/// The bytes of a file.
///
/// # Errors
///
/// It cannot be read, or holds more than `limit` bytes.
pub fn bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    bytes_from(File::open(path)?, limit)
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

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
