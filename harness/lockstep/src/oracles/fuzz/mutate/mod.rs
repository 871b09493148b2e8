//! Mutators that keep the structure of an input. Each is given libFuzzer's own mutation of bytes to fall back on, which it does now and
//! then, and wherever the input is not what it takes apart.
//!
//! The same input, seed and sizes give the same mutation, as libFuzzer asks.

mod blob;
mod case;
mod layout;

pub use layout::handed_over;

use arbitrary::Unstructured;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::case::Case;
use crate::generators::below;

/// libFuzzer's mutation of bytes: the buffer, the input's size in it, the most that it may grow to; gives the new size.
pub type Bytes = fn(&mut [u8], usize, usize) -> usize;

/// One time in so many the bytes are mutated.
const BYTES_SHARE: u32 = 16;

/// Bytes that a mutation chooses by.
const CHOICES: usize = 512;

/// Mutates a blob: a command, a pass, a field, a list's item, the data.
pub fn blob(data: &mut [u8], size: usize, max_size: usize, seed: u32, bytes: Bytes) -> usize {
    mutate(data, size, max_size, seed, bytes, blob::mutated)
}

/// Mutates the file of a case, or puts another that `fresh` makes in its place.
pub fn case(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    bytes: Bytes,
    fresh: fn(&mut Unstructured<'_>) -> arbitrary::Result<Case>,
) -> usize {
    mutate(data, size, max_size, seed, bytes, |input, u| {
        case::mutated(input, u, fresh)
    })
}

/// Mutates the file of a layout case. The case itself is then what [`handed_over`] gives for it.
pub fn layout(data: &mut [u8], size: usize, max_size: usize, seed: u32, bytes: Bytes) -> usize {
    mutate(data, size, max_size, seed, bytes, layout::mutated)
}

/// Two blobs as one: the first of one's commands and passes, then the last of the other's. Gives the size in `out`.
pub fn splice(first: &[u8], second: &[u8], out: &mut [u8], seed: u32) -> usize {
    let choices: [u8; CHOICES] = choices(seed);
    let spliced = blob::spliced(first, second, &mut Unstructured::new(&choices));
    let spliced = spliced.filter(|spliced| spliced.len() <= out.len());
    let Some(spliced) = spliced else { return 0 };
    out[..spliced.len()].copy_from_slice(&spliced);
    spliced.len()
}

/// So many bytes out of a seed, for a mutation to choose by.
fn choices<const N: usize>(seed: u32) -> [u8; N] {
    let mut choices = [0; N];
    ChaCha8Rng::seed_from_u64(seed.into()).fill_bytes(&mut choices);
    choices
}

fn mutate(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    bytes: Bytes,
    mutated: impl Fn(&[u8], &mut Unstructured<'_>) -> Option<Vec<u8>>,
) -> usize {
    let choices: [u8; CHOICES] = choices(seed);
    let u = &mut Unstructured::new(&choices);
    let structured = below(u, BYTES_SHARE) != Ok(0);
    let input = &data[..size];
    // Not every input has a place for every change.
    let tries = if structured { 4 } else { 0 };
    let mutated = (0..tries).find_map(|_| mutated(input, u).filter(|mutated| mutated != input));
    match mutated.filter(|mutated| mutated.len() <= max_size) {
        Some(mutated) => {
            data[..mutated.len()].copy_from_slice(&mutated);
            mutated.len()
        }
        None => bytes(data, size, max_size),
    }
}
