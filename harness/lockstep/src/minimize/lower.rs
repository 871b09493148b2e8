//! Smaller numbers and shorter lists.

use std::ops::Range;

/// The numbers below `value` that are tried for it: 0 and 1, then halfway down and ever less, so that a number comes to the edge from which
/// on a case shows its finding.
pub(super) fn numbers(value: u64) -> impl Iterator<Item = u64> {
    let halves = (1..=64u32).map(move |halvings| value.checked_shr(halvings).unwrap_or(0));
    let towards = halves.take_while(|part| *part > 0).map(move |part| value - part);
    let mut tried = Vec::new();
    [0, 1].into_iter().chain(towards).filter(move |lower| {
        let fresh = *lower < value && !tried.contains(lower);
        tried.push(*lower);
        fresh
    })
}

/// The same of 32 bits.
pub(super) fn words(value: u32) -> impl Iterator<Item = u32> {
    numbers(value.into()).map(|lower| lower as u32)
}

/// The parts of a list of that length that are left out by turns: all of it, its halves, and ever smaller parts down to single items.
pub(super) fn parts(length: usize) -> impl Iterator<Item = Range<usize>> {
    let sizes = std::iter::successors(Some(length), |size| (*size > 1).then_some(size.div_ceil(2)));
    let sizes = sizes.take_while(|size| *size > 0);
    sizes.flat_map(move |size| {
        (0..length)
            .step_by(size)
            .map(move |start| start..length.min(start + size))
    })
}

/// A list without a part.
pub(super) fn without<T: Clone>(list: &[T], part: Range<usize>) -> Vec<T> {
    [&list[..part.start], &list[part.end..]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_to_the_edge() {
        assert_eq!(numbers(0).collect::<Vec<_>>(), [0; 0]);
        assert_eq!(numbers(1).collect::<Vec<_>>(), [0]);
        assert_eq!(numbers(16).collect::<Vec<_>>(), [0, 1, 8, 12, 14, 15]);
        assert_eq!(numbers(u64::MAX).last(), Some(u64::MAX - 1));
    }

    #[test]
    fn parts_are_all_then_halves_then_single_items() {
        assert_eq!(parts(0).collect::<Vec<_>>(), [] as [Range<usize>; 0]);
        assert!(parts(1).eq(std::iter::once(0..1)));
        assert_eq!(parts(3).collect::<Vec<_>>(), [0..3, 0..2, 2..3, 0..1, 1..2, 2..3]);
        assert_eq!(without(&[1, 2, 3], 0..2), [3]);
    }
}
