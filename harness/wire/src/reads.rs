//! What a host checks about each ReadBuffer before it replays anything (wire.md section 6).

use crate::ranges::ends_by;
use crate::{Read, Reason};

/// What [`check_reads`] has to know of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferInfo {
    /// Its size in bytes.
    pub size: u64,
    /// Whether its usage contains MAP_READ.
    pub map_read: bool,
}

/// Why [`check_reads`] refuses a stream, and for which read (wire.md section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read {read}: {reason}")]
pub struct ReadRefusal {
    /// The read's index, from 0, in the reads that [`remap_reads`](crate::remap_reads) gave.
    pub read: usize,
    /// `not-a-buffer`, `no-map-read`, `out-of-range` or `past-window`.
    pub reason: Reason,
}

/// Whether every read keeps to a mappable buffer and to the window (wire.md section 6).
///
/// `reads` are those that [`remap_reads`](crate::remap_reads) gave. `buffer` tells of the buffer that a replayer's id
/// names, and `None` for an id that is no buffer. `window` is the length in bytes of the read window that the stream
/// was granted.
///
/// # Errors
///
/// The first read that fails, with the first of these that it fails: `not-a-buffer`, `no-map-read`, `out-of-range`,
/// `past-window`. It refuses the whole stream.
pub fn check_reads(
    reads: &[Read],
    mut buffer: impl FnMut(u32) -> Option<BufferInfo>,
    window: u64,
) -> Result<(), ReadRefusal> {
    for (index, read) in reads.iter().enumerate() {
        check(read, buffer(read.id), window).map_err(|reason| ReadRefusal { read: index, reason })?;
    }
    Ok(())
}

fn check(read: &Read, buffer: Option<BufferInfo>, window: u64) -> Result<(), Reason> {
    let buffer = buffer.ok_or(Reason::NotABuffer)?;
    let size = u64::from(read.size);
    if !buffer.map_read {
        Err(Reason::NoMapRead)
    } else if !ends_by(read.offset, size, buffer.size) {
        Err(Reason::OutOfRange)
    } else if !ends_by(u64::from(read.window_offset), size, window) {
        Err(Reason::PastWindow)
    } else {
        Ok(())
    }
}
