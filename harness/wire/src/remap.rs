//! Remap: ids of the recorder become ids of the replayer (wire.md sections 3, 6 and 7).

use std::cell::Cell;

use crate::decode::{Step, Walk, join};
use crate::{Context, Op, Refusal};

/// One ReadBuffer command: bytes `[offset, offset + size)` of a buffer go to `[window_offset, window_offset + size)`
/// of the read window (wire.md sections 4 and 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// The buffer; after a remap the replayer's id.
    pub id: u32,
    /// Where in the buffer, in bytes; a multiple of 8, at most 2^53 - 1.
    pub offset: u64,
    /// How many bytes; a multiple of 4, never 0.
    pub size: u32,
    /// Where in the read window, in bytes.
    pub window_offset: u32,
}

/// Rewrites, in place, every id of a stream through `f` (wire.md section 3), and checks the stream as
/// [`decode`](crate::decode) does.
///
/// `words` is the stream and `data_len` the length in bytes of its data. `f` gets an id and gives its replacement, or
/// `None` for one that it does not grant. It is asked once for each id that is not 0, in word order, at its place in
/// check 7, so also for ids of a command that a later check refuses.
///
/// # Errors
///
/// What `decode` refuses, and `unknown-id`, naming the id's word, for an id that `f` does not grant or would replace
/// by 0. Then the words are partly rewritten and must be discarded.
pub fn remap(words: &mut [u32], data_len: u32, f: impl FnMut(u32) -> Option<u32>) -> Result<(), Refusal> {
    rewrite(words, data_len, Context::Outside, f, |_| ())
}

/// [`remap`] that also gives the ReadBuffer commands of the stream, in order, with ids translated (wire.md section 6).
///
/// A host holds them against its buffers and its window with [`check_reads`](crate::check_reads) before it replays
/// anything.
///
/// # Errors
///
/// As [`remap`].
pub fn remap_reads(words: &mut [u32], data_len: u32, f: impl FnMut(u32) -> Option<u32>) -> Result<Vec<Read>, Refusal> {
    let mut reads = Vec::new();
    rewrite(words, data_len, Context::Outside, f, |step| reads.extend(read(&step)))?;
    Ok(reads)
}

/// [`remap`] for the words of a render bundle (wire.md section 7), in context B and with no data.
///
/// In a bundle an id is a 1-based position in the references of its descriptor, so `f` looks it up there:
///
/// ```
/// // SetPipeline with the descriptor's second reference.
/// let (references, mut words) = ([40, 41], [1, 2]);
/// let at = |position: u32| references.get(position as usize - 1).copied();
/// wire::remap_bundle(&mut words, at).unwrap();
/// assert_eq!(words, [1, 41]);
/// ```
///
/// `f` is never asked for 0. A reference of 0 is refused like a position past the references.
///
/// # Errors
///
/// As [`decode_bundle`](crate::decode_bundle), and `unknown-id` as [`remap`].
pub fn remap_bundle(words: &mut [u32], f: impl FnMut(u32) -> Option<u32>) -> Result<(), Refusal> {
    rewrite(words, 0, Context::Bundle, f, |_| ())
}

fn rewrite<'a>(
    words: &'a mut [u32],
    data_len: u32,
    context: Context,
    mut f: impl FnMut(u32) -> Option<u32>,
    mut accepted: impl FnMut(Step<'a, Cell<u32>>),
) -> Result<(), Refusal> {
    // A replacement of 0 would turn a named object into none, so it is no grant.
    let mut grant = |word: &Cell<u32>| match f(word.get()) {
        None | Some(0) => false,
        Some(id) => {
            word.set(id);
            true
        }
    };
    let mut walk = Walk::new(Cell::from_mut(words).as_slice_of_cells(), data_len, context);
    while let Some(step) = walk.next(&mut grant) {
        accepted(step?);
    }
    Ok(())
}

fn read(step: &Step<'_, Cell<u32>>) -> Option<Read> {
    let (Op::ReadBuffer, [id, low, high, size, window_offset]) = (step.op, step.args) else {
        return None;
    };
    Some(Read {
        id: id.get(),
        offset: join(low.get(), high.get()),
        size: size.get(),
        window_offset: window_offset.get(),
    })
}
