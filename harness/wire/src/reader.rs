//! The one place where words are taken from a stream.

use std::cell::Cell;

/// A word of a stream: plain where it is only read, a cell where Remap rewrites it.
pub(crate) trait Word {
    fn get(&self) -> u32;
}

impl Word for u32 {
    #[inline]
    fn get(&self) -> u32 {
        *self
    }
}

impl Word for Cell<u32> {
    #[inline]
    fn get(&self) -> u32 {
        Cell::get(self)
    }
}

/// Words not yet taken, together with the index of the first of them.
///
/// Position and remaining length change only together, in `take`, so neither can be wrong about the other.
#[derive(Debug)]
pub(crate) struct Reader<'a, W> {
    at: usize,
    rest: &'a [W],
}

impl<W> Clone for Reader<'_, W> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, W> Reader<'a, W> {
    pub(crate) fn new(words: &'a [W]) -> Self {
        Self { at: 0, rest: words }
    }

    /// The index, in the stream, of the next word.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The words not yet taken.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [W] {
        self.rest
    }

    /// The next `count` words, or `None`, and nothing taken, where fewer are left.
    #[inline]
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [W]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        self.at += count;
        Some(taken)
    }

    /// Gives up what is left.
    #[inline]
    pub(crate) fn stop(&mut self) {
        self.rest = &[];
    }
}

impl<W: Word> Reader<'_, W> {
    /// The next word, or `None` at the end.
    #[inline]
    pub(crate) fn word(&mut self) -> Option<u32> {
        self.take(1).map(|taken| taken[0].get())
    }
}
