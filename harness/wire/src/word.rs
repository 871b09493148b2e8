//! A word of a stream, for Decode and for Remap.

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
