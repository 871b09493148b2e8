//! Any bytes as a creation descriptor (wire.md section 7).
//!
//! **Catches** a panic; Split against a model of the page in wide numbers; a descriptor that Append does not write back byte for byte; a
//! reference rewritten that is 0, one that is not, or the body with them; an id that gets through without a grant. **Does not catch**
//! what is wrong with a body: the campaign's calls do.

use wire::{DescriptorError, Reason};

use super::table;
use crate::case::{Case, StreamCase};

/// A RemapDescriptor.
pub type RemapDescriptor = fn(&mut [u8], &mut dyn FnMut(u32) -> Option<u32>) -> Result<(), DescriptorError>;

/// The case of a descriptor: an empty stream that it comes with.
pub(super) fn case(bytes: &[u8]) -> Option<Case> {
    Some(Case::Stream(StreamCase {
        descriptors: vec![bytes.to_vec()],
        ..table::case(&wire::encode_blob(&[], &[]))
    }))
}

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, |bytes, f| wire::remap_descriptor(bytes, f))
}

/// The same with another RemapDescriptor.
pub fn check_with(bytes: &[u8], remap: RemapDescriptor) -> bool {
    let split = wire::split_descriptor(bytes);
    let refused = |reason| DescriptorError {
        reason,
        reference: None,
    };
    match (model(bytes), &split) {
        (Err(reason), split) => {
            assert_eq!(split.as_ref().err(), Some(&refused(reason)), "Split");
            assert_eq!(remap(&mut bytes.to_vec(), &mut Some), Err(refused(reason)), "Remap");
        }
        (Ok(count), Ok((references, body))) => {
            assert_eq!(references.len(), count, "as many references as the count says");
            let mut back = Vec::new();
            assert_eq!(wire::append_descriptor(&mut back, references, body), Ok(()));
            assert_eq!(back, bytes, "Append writes back what Split gave");
            remaps(bytes, references, body, remap);
        }
        (Ok(_), Err(error)) => panic!("Split refuses a descriptor: {error}"),
    }
    true
}

/// Split's refusal, or the number of references.
fn model(bytes: &[u8]) -> Result<usize, Reason> {
    let Some(count) = bytes.first_chunk().map(|count| u64::from(u32::from_le_bytes(*count))) else {
        return Err(Reason::Truncated);
    };
    match count {
        4097.. => Err(Reason::TooMany),
        count if 4 + 4 * count > bytes.len() as u64 => Err(Reason::Truncated),
        count => Ok(count as usize),
    }
}

fn remaps(bytes: &[u8], references: &[u32], body: &[u8], remap: RemapDescriptor) {
    // Grants what is below 2^31.
    let grant = |id: u32| id.checked_mul(2);
    let mut rewritten = bytes.to_vec();
    let mut asked = Vec::new();
    let answer = remap(&mut rewritten, &mut |id| {
        asked.push(id);
        grant(id)
    });
    let first = references.iter().position(|&id| grant(id).is_none());
    let granted = &references[..first.map_or(references.len(), |first| first + 1)];
    let due: Vec<u32> = granted.iter().copied().filter(|&id| id != 0).collect();
    assert_eq!(asked, due, "each reference that is not 0 is asked for, in order");
    match first {
        None => {
            let doubled: Vec<u32> = references.iter().map(|id| 2 * id).collect();
            assert_eq!(wire::split_descriptor(&rewritten), Ok((doubled, body)));
            assert_eq!(answer, Ok(()));
        }
        reference => {
            let reason = Reason::UnknownId;
            assert_eq!(answer, Err(DescriptorError { reason, reference }));
        }
    }
}
