//! A stream on disk and between processes (wire.md section 1).

use crate::{Reason, STREAM_VERSION};

const MAGIC: [u8; 4] = *b"WIRE";
/// Bytes before the words.
const HEADER: usize = 16;

/// A stream taken from a blob; nothing of it is decoded yet (wire.md section 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob<'a> {
    /// The words.
    pub words: Vec<u32>,
    /// The data bytes, aliasing the blob; at most 2^32 - 1 of them.
    pub data: &'a [u8],
}

/// Why a blob is refused (wire.md section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("blob: {reason}")]
pub struct BlobError {
    /// `bad-length`, `bad-magic` or `bad-version`.
    pub reason: Reason,
}

impl Blob<'_> {
    /// Takes a blob apart; reads no word (wire.md section 1).
    ///
    /// # Errors
    ///
    /// In this order: `bad-length` where it is shorter than its header, `bad-magic`, `bad-version`, `bad-length` where
    /// it is not exactly as long as its header says.
    pub fn parse(bytes: &[u8]) -> Result<Blob<'_>, BlobError> {
        let refuse = |reason| BlobError { reason };
        let (header, rest) = bytes.split_first_chunk::<HEADER>().ok_or(refuse(Reason::BadLength))?;
        let field = |at: usize| [header[at], header[at + 1], header[at + 2], header[at + 3]];
        if field(0) != MAGIC {
            return Err(refuse(Reason::BadMagic));
        }
        if u32::from_le_bytes(field(4)) != STREAM_VERSION {
            return Err(refuse(Reason::BadVersion));
        }
        let words = 4 * u64::from(u32::from_le_bytes(field(8)));
        let data = u64::from(u32::from_le_bytes(field(12)));
        if rest.len() as u64 != words + data {
            return Err(refuse(Reason::BadLength));
        }
        // Both parts are in memory, so their lengths fit a usize.
        let (words, data) = rest.split_at(words as usize);
        let words = words.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word));
        Ok(Blob {
            words: words.collect(),
            data,
        })
    }
}

/// Writes a stream as a blob (wire.md section 1), which [`Blob::parse`] takes apart again.
///
/// # Panics
///
/// For more than 2^32 - 1 words or data bytes, which the header cannot say.
pub fn encode_blob(words: &[u32], data: &[u8]) -> Vec<u8> {
    let length = |n: usize| u32::try_from(n).expect("a blob holds at most 2^32 - 1 words and data bytes");
    let header = [STREAM_VERSION, length(words.len()), length(data.len())];
    let mut bytes = Vec::with_capacity(HEADER + size_of_val(words) + data.len());
    bytes.extend(MAGIC);
    bytes.extend(header.iter().chain(words).flat_map(|word| word.to_le_bytes()));
    bytes.extend(data);
    bytes
}
