//! Creation descriptors: references, then a body (wire.md section 7).

use crate::{MAX_REFS, Reason};

/// Bytes of the count, and of each reference.
const WORD: usize = size_of::<u32>();

/// Why a descriptor is refused (wire.md section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("descriptor{}: {reason}", .reference.map_or(String::new(), |index| format!(", reference {index}")))]
pub struct DescriptorError {
    /// `truncated`, `too-many` or `unknown-id`.
    pub reason: Reason,
    /// For `unknown-id`, the index of the reference, from 0; else `None`.
    pub reference: Option<usize>,
}

impl DescriptorError {
    fn new(reason: Reason) -> Self {
        Self {
            reason,
            reference: None,
        }
    }
}

/// Appends a creation descriptor to `dst`: the count of `refs`, each of them, `body` as it is (wire.md section 7).
///
/// # Errors
///
/// `too-many` for more than [`MAX_REFS`] references; then `dst` is as it was.
pub fn append_descriptor(dst: &mut Vec<u8>, refs: &[u32], body: &[u8]) -> Result<(), DescriptorError> {
    let count = u32::try_from(refs.len()).ok().filter(|&count| count <= MAX_REFS);
    let count = count.ok_or(DescriptorError::new(Reason::TooMany))?;
    dst.extend(count.to_le_bytes());
    dst.extend(refs.iter().flat_map(|reference| reference.to_le_bytes()));
    dst.extend(body);
    Ok(())
}

/// Splits a creation descriptor into its references and its body, any bytes, also none (wire.md section 7).
///
/// # Errors
///
/// In this order: `truncated` where there is no whole count, `too-many` for a count over [`MAX_REFS`], `truncated`
/// where there are fewer bytes than the count asks for.
pub fn split_descriptor(bytes: &[u8]) -> Result<(Vec<u32>, &[u8]), DescriptorError> {
    let (references, body) = bytes.split_at(body_start(bytes)?);
    let references = references.as_chunks::<WORD>().0.iter().skip(1);
    Ok((references.map(|&word| u32::from_le_bytes(word)).collect(), body))
}

/// Rewrites, in place, every reference of a creation descriptor through `f` (wire.md section 7).
///
/// `f` gets a reference and gives its replacement, or `None` for one that it does not grant. It is asked once for each
/// reference that is not 0, in order; one that is 0 stays 0.
///
/// # Errors
///
/// As [`split_descriptor`], before `f` is asked anything; `unknown-id`, with the reference's index, for one that `f`
/// does not grant or would replace by 0. Then the bytes are partly rewritten and must be discarded.
pub fn remap_descriptor(bytes: &mut [u8], mut f: impl FnMut(u32) -> Option<u32>) -> Result<(), DescriptorError> {
    let start = body_start(bytes)?;
    let references = bytes[..start].as_chunks_mut::<WORD>().0.iter_mut().skip(1);
    for (index, word) in references.enumerate() {
        let reference = u32::from_le_bytes(*word);
        if reference == 0 {
            continue;
        }
        let replacement = f(reference).filter(|&replacement| replacement != 0);
        let replacement = replacement.ok_or(DescriptorError {
            reason: Reason::UnknownId,
            reference: Some(index),
        })?;
        *word = replacement.to_le_bytes();
    }
    Ok(())
}

/// Where the body starts: past the count and the references, which are all there.
fn body_start(bytes: &[u8]) -> Result<usize, DescriptorError> {
    let truncated = DescriptorError::new(Reason::Truncated);
    let count = u32::from_le_bytes(*bytes.first_chunk().ok_or(truncated)?);
    if count > MAX_REFS {
        return Err(DescriptorError::new(Reason::TooMany));
    }
    let start = WORD + WORD * count as usize;
    if start <= bytes.len() {
        Ok(start)
    } else {
        Err(truncated)
    }
}
