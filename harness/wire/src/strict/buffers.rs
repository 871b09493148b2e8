//! Writes, copies and reads of buffers, indirect arguments and dispatches.

use super::{BufferFacts, Checked, Checker, ObjectTable, Rule, broken, named, require};
use crate::decode::join;
use crate::ranges::ends_by;

/// WebGPU's GPUBufferUsage bits that a command may need.
pub(super) mod usage {
    pub(crate) const MAP_READ: u32 = 0x1;
    pub(crate) const COPY_SRC: u32 = 0x4;
    pub(crate) const COPY_DST: u32 = 0x8;
    pub(crate) const INDEX: u32 = 0x10;
    pub(crate) const VERTEX: u32 = 0x20;
    pub(crate) const INDIRECT: u32 = 0x100;
}

impl BufferFacts {
    pub(super) fn require(self, usage: u32, argument: usize, rule: Rule) -> Checked {
        require(self.usage & usage == usage, argument, rule)
    }
}

impl<T: ObjectTable> Checker<'_, T> {
    pub(super) fn write_buffer(&self, [id, low, high, _, length]: [u32; 5]) -> Checked {
        let (buffer, offset) = (named(self.table.buffer(id), 0)?, join(low, high));
        buffer.require(usage::COPY_DST, 0, Rule::BufferCopyDst)?;
        require(offset.is_multiple_of(4), 1, Rule::WriteOffset)?;
        require(ends_by(offset, length.into(), buffer.size), 1, Rule::WriteRange)
    }

    pub(super) fn read_buffer(&self, [id, low, high, size, _]: [u32; 5]) -> Checked {
        let buffer = named(self.table.buffer(id), 0)?;
        buffer.require(usage::MAP_READ, 0, Rule::BufferMapRead)?;
        require(ends_by(join(low, high), size.into(), buffer.size), 1, Rule::MapRange)
    }

    pub(super) fn copy_buffer_to_buffer(&self, args: [u32; 8]) -> Checked {
        let [src_id, src_low, src_high, dst_id, dst_low, dst_high, low, high] = args;
        let (src, dst) = (
            named(self.table.buffer(src_id), 0)?,
            named(self.table.buffer(dst_id), 3)?,
        );
        let (from, to, size) = (join(src_low, src_high), join(dst_low, dst_high), join(low, high));
        require(src_id != dst_id, 3, Rule::SameBuffer)?;
        src.require(usage::COPY_SRC, 0, Rule::BufferCopySrc)?;
        dst.require(usage::COPY_DST, 3, Rule::BufferCopyDst)?;
        require(size.is_multiple_of(4), 6, Rule::CopySize)?;
        require(from.is_multiple_of(4), 1, Rule::CopySourceOffset)?;
        require(to.is_multiple_of(4), 4, Rule::CopyDestinationOffset)?;
        require(ends_by(from, size, src.size), 1, Rule::CopySourceRange)?;
        require(ends_by(to, size, dst.size), 4, Rule::CopyDestinationRange)
    }

    /// An indirect draw or dispatch, whose arguments take `bytes`.
    pub(super) fn indirect(&self, [id, low, high]: [u32; 3], bytes: u64, rule: Rule) -> Checked {
        let (buffer, offset) = (named(self.table.buffer(id), 0)?, join(low, high));
        buffer.require(usage::INDIRECT, 0, Rule::BufferIndirect)?;
        require(offset.is_multiple_of(4), 1, Rule::IndirectOffset)?;
        require(ends_by(offset, bytes, buffer.size), 1, rule)
    }

    pub(super) fn dispatch(&self, counts: [u32; 3]) -> Checked {
        let most = self.limits.max_compute_workgroups_per_dimension;
        match counts.iter().position(|&count| count > most) {
            Some(argument) => Err(broken(argument, Rule::Workgroups)),
            None => Ok(()),
        }
    }
}
