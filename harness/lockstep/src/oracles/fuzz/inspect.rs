//! Streams as text (`reference/TEXT.md`): a blob to text and back, or a text to a blob, to text and back.
//!
//! **Catches** a panic; a blob that does not come back byte for byte; a text in form that does not come back letter for letter; a text
//! that is refused at a place that it does not have. **Does not catch** a text that says something else than it reads like, as long as
//! it says it both ways.

use wire::Blob;

use super::table;
use crate::case::Case;
use crate::text::{self, TextError};

/// A reader of texts.
pub type Read = fn(&str) -> Result<Vec<u8>, TextError>;

/// The case of an input: of a blob, or of the blob that a text says.
pub(super) fn case(bytes: &[u8]) -> Option<Case> {
    let blob = match Blob::parse(bytes) {
        Ok(_) => bytes.to_vec(),
        Err(_) => text::read(std::str::from_utf8(bytes).ok()?).ok()?,
    };
    Some(Case::Stream(table::case(&blob)))
}

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, text::read)
}

/// The same with another reader.
pub fn check_with(bytes: &[u8], read: Read) -> bool {
    if Blob::parse(bytes).is_ok() {
        there_and_back(bytes, read);
        return true;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    match read(text) {
        Ok(blob) => there_and_back(&blob, read),
        Err(error) => {
            let line = text.lines().nth(error.line.saturating_sub(1)).unwrap_or_default();
            let columns = line.chars().count() + 1;
            assert!((1..=columns).contains(&error.column), "{error}: there is no such place");
        }
    }
    true
}

fn there_and_back(bytes: &[u8], read: Read) {
    let blob = Blob::parse(bytes).expect("a text says a blob");
    let text = text::write(&blob);
    let back = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(back, bytes, "the stream comes back\n{text}");
    // What says the same blob is written the same.
    let again = Blob::parse(&back).map(|blob| text::write(&blob));
    assert_eq!(again, Ok(text), "the text comes back");
}
