//! CheckRanges: what Decode does not know, the sizes of buffers (wire.md section 5).

use crate::decode::join;
use crate::{Cmd, DEFAULT_MAX_WORKGROUPS, Op, Reason};

/// Why [`check_ranges`] refuses a stream, and where (wire.md section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("command {command} ({op}): {reason}")]
pub struct RangeRefusal {
    /// The command's index, from 0, every command counted.
    pub command: usize,
    /// Its opcode.
    pub op: Op,
    /// `not-a-buffer`, `out-of-range` or `too-many-workgroups`.
    pub reason: Reason,
}

/// Whether every write, copy, indirect command and dispatch keeps to its buffers and to the bound (wire.md section 5).
///
/// `cmds` are the commands of a stream that [`decode`](crate::decode) or [`remap`](crate::remap) accepted, in the
/// replayer's ids. `size` gives the size in bytes of the buffer that an id names, and `None` for an id that is no
/// buffer; it is asked in command order, for a copy the source first and the destination only once the source is in
/// range. `max_workgroups` is the bound on each dimension of a Dispatch; 0 means [`DEFAULT_MAX_WORKGROUPS`].
///
/// # Errors
///
/// The first refusal in command order: `not-a-buffer`, `out-of-range` or `too-many-workgroups`. A command that no
/// decoder gives, with too few or too many arguments, is refused as `truncated`.
pub fn check_ranges<'a>(
    cmds: impl IntoIterator<Item = Cmd<'a>>,
    mut size: impl FnMut(u32) -> Option<u64>,
    max_workgroups: u32,
) -> Result<(), RangeRefusal> {
    let bound = match max_workgroups {
        0 => DEFAULT_MAX_WORKGROUPS,
        bound => bound,
    };
    for (command, cmd) in cmds.into_iter().enumerate() {
        check(cmd, &mut size, bound).map_err(|reason| RangeRefusal {
            command,
            op: cmd.op,
            reason,
        })?;
    }
    Ok(())
}

fn check(cmd: Cmd<'_>, mut size: impl FnMut(u32) -> Option<u64>, bound: u32) -> Result<(), Reason> {
    let mut inside = |id, offset, length| match size(id) {
        None => Err(Reason::NotABuffer),
        Some(size) if ends_by(offset, length, size) => Ok(()),
        Some(_) => Err(Reason::OutOfRange),
    };
    match (cmd.op, cmd.args) {
        (Op::WriteBuffer, &[buffer, low, high, _, length]) => inside(buffer, join(low, high), u64::from(length)),
        (Op::CopyBufferToBuffer, &[src, src_low, src_high, dst, dst_low, dst_high, low, high]) => {
            let size = join(low, high);
            inside(src, join(src_low, src_high), size)?;
            inside(dst, join(dst_low, dst_high), size)
        }
        (Op::DispatchIndirect, &[buffer, low, high]) => inside(buffer, join(low, high), 12),
        (Op::DrawIndirect, &[buffer, low, high]) => inside(buffer, join(low, high), 16),
        (Op::DrawIndexedIndirect, &[buffer, low, high]) => inside(buffer, join(low, high), 20),
        (Op::Dispatch, groups @ [_, _, _]) if groups.iter().all(|&n| n <= bound) => Ok(()),
        (Op::Dispatch, [_, _, _]) => Err(Reason::TooManyWorkgroups),
        (
            Op::WriteBuffer
            | Op::CopyBufferToBuffer
            | Op::DispatchIndirect
            | Op::DrawIndirect
            | Op::DrawIndexedIndirect
            | Op::Dispatch,
            _,
        ) => Err(Reason::Truncated),
        _ => Ok(()),
    }
}

/// Whether `offset + length <= size`, exactly: a sum that does not fit 64 bits is larger than any size.
pub(crate) fn ends_by(offset: u64, length: u64, size: u64) -> bool {
    offset.checked_add(length).is_some_and(|end| end <= size)
}
