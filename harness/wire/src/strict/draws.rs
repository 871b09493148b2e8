//! What a pass sets, and what direct draws read of it.

use super::buffers::usage;
use super::{BufferFacts, Checked, Checker, DynamicBuffer, Limits, ObjectTable, Rule, VertexBufferLayout};
use super::{broken, named, require};
use crate::decode::join;
use crate::ranges::ends_by;

const SLOTS: usize = Limits::MAX_VERTEX_BUFFERS;
/// The index format's word for uint16 (wire.md section 2).
const UINT16: u32 = 1;

/// What a render pass or a bundle has set. What is not set, where a draw needs it, is the device's business.
#[derive(Default)]
pub(super) struct Bound<'t> {
    /// The pipeline's vertex buffers; none without a pipeline.
    layouts: &'t [Option<VertexBufferLayout>],
    /// The bytes set for each slot.
    vertex: [Option<u64>; SLOTS],
    /// The indices that the index buffer holds.
    indices: Option<u64>,
}

/// Whether a first and a count of elements, of which the last takes `last` bytes and each other `stride`, end by `size` bytes.
fn reads_end_by([first, count]: [u32; 2], layout: VertexBufferLayout, size: u64) -> bool {
    let elements = u128::from(first) + u128::from(count);
    let before_last = elements.saturating_sub(1) * u128::from(layout.array_stride);
    elements == 0 || before_last + u128::from(layout.last_stride) <= u128::from(size)
}

impl Bound<'_> {
    pub(super) fn draw(&self, [vertices, instances, first_vertex, first_instance]: [u32; 4]) -> Checked {
        self.elements(Some([first_vertex, vertices]), [first_instance, instances])
    }

    /// Which vertices it reads stands in the index buffer, so that only indices and instances are looked at.
    pub(super) fn draw_indexed(&self, [count, instances, first, _, first_instance]: [u32; 5]) -> Checked {
        if let Some(indices) = self.indices {
            require(ends_by(first.into(), count.into(), indices), 0, Rule::IndexReads)?;
        }
        self.elements(None, [first_instance, instances])
    }

    /// Vertices and instances are each the first one and how many.
    fn elements(&self, vertices: Option<[u32; 2]>, instances: [u32; 2]) -> Checked {
        for (layout, size) in self.layouts.iter().zip(self.vertex) {
            let (Some(layout), Some(size)) = (*layout, size) else {
                continue;
            };
            if layout.per_instance {
                require(reads_end_by(instances, layout, size), 1, Rule::InstanceReads)?;
            } else if let Some(vertices) = vertices {
                require(reads_end_by(vertices, layout, size), 0, Rule::VertexReads)?;
            }
        }
        Ok(())
    }
}

/// The bytes of a buffer from an offset on that a size leaves, where 0 is the rest; `None` where they end past the buffer.
fn section(buffer: BufferFacts, offset: u64, size: u64) -> Option<u64> {
    let rest = buffer.size.checked_sub(offset)?;
    match size {
        0 => Some(rest),
        size => (size <= rest).then_some(size),
    }
}

impl<T: ObjectTable> Checker<'_, T> {
    pub(super) fn set_pipeline(&mut self, [pipeline]: [u32; 1]) -> Checked {
        if self.rendering {
            self.bound.layouts = named(self.table.render_pipeline(pipeline), 0)?;
            return Ok(());
        }
        require(self.table.is_compute_pipeline(pipeline), 0, Rule::WrongKind)
    }

    pub(super) fn set_bind_group(&self, args: &[u32]) -> Checked {
        let &[index, group, _, ref offsets @ ..] = args else {
            return Err(broken(0, Rule::Malformed));
        };
        require(index < self.limits.max_bind_groups, 0, Rule::BindGroupIndex)?;
        let bindings = match group {
            0 => &[],
            group => named(self.table.bind_group(group), 1)?,
        };
        require(bindings.len() == offsets.len(), 2, Rule::DynamicOffsetCount)?;
        for (argument, (binding, &offset)) in (3..).zip(bindings.iter().zip(offsets)) {
            self.dynamic_offset(binding, offset, argument)?;
        }
        Ok(())
    }

    fn dynamic_offset(&self, binding: &DynamicBuffer, offset: u32, argument: usize) -> Checked {
        let (alignment, rule) = match binding.uniform {
            true => (self.limits.min_uniform_buffer_offset_alignment, Rule::UniformOffset),
            false => (self.limits.min_storage_buffer_offset_alignment, Rule::StorageOffset),
        };
        require(offset.is_multiple_of(alignment), argument, rule)?;
        let end = u128::from(binding.offset) + u128::from(offset) + u128::from(binding.size);
        require(
            end <= u128::from(binding.buffer_size),
            argument,
            Rule::DynamicOffsetRange,
        )
    }

    pub(super) fn set_vertex_buffer(&mut self, args: [u32; 6]) -> Checked {
        let [slot, id, low, high, size_low, size_high] = args;
        require(slot < self.limits.max_vertex_buffers, 0, Rule::VertexBufferSlot)?;
        let size = match id {
            0 => None,
            id => {
                let (buffer, offset) = (named(self.table.buffer(id), 1)?, join(low, high));
                buffer.require(usage::VERTEX, 1, Rule::BufferVertex)?;
                require(offset.is_multiple_of(4), 2, Rule::VertexBufferOffset)?;
                let size = section(buffer, offset, join(size_low, size_high));
                require(size.is_some(), 2, Rule::VertexBufferRange)?;
                size
            }
        };
        let bound = self.bound.vertex.get_mut(slot as usize);
        require(bound.is_some(), 0, Rule::VertexBufferSlot)?;
        bound.into_iter().for_each(|bound| *bound = size);
        Ok(())
    }

    pub(super) fn set_index_buffer(&mut self, args: [u32; 6]) -> Checked {
        let [id, format, low, high, size_low, size_high] = args;
        let (buffer, offset) = (named(self.table.buffer(id), 0)?, join(low, high));
        let index_size = if format == UINT16 { 2 } else { 4 };
        buffer.require(usage::INDEX, 0, Rule::BufferIndex)?;
        require(offset.is_multiple_of(index_size), 2, Rule::IndexBufferOffset)?;
        let size = section(buffer, offset, join(size_low, size_high));
        require(size.is_some(), 2, Rule::IndexBufferRange)?;
        self.bound.indices = size.map(|size| size / index_size);
        Ok(())
    }
}
