//! Points `(group, binding)`, what takes slots at them, and the count of the slots before a point.

use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages, StorageTextureAccess};

/// A Metal argument table (sections 1 and 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Uniform and storage buffers, acceleration structures, binding arrays of any type, and an external texture's
    /// parameters.
    Buffer,
    /// Textures and storage textures, and an external texture's planes.
    Texture,
    /// Samplers and comparison samplers.
    Sampler,
}

/// A number of slots in each table: where a group starts, or what it takes (section 1, `GroupBase` and `GroupSlots`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Slots of the buffer table.
    pub buffers: u32,
    /// Slots of the texture table.
    pub textures: u32,
    /// Slots of the sampler table.
    pub samplers: u32,
}

/// The slots of one binding: which field of `naga::back::msl::BindTarget` they stand in, and their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slots {
    /// One slot of one table, in `BindTarget`'s field of that table. A binding array's table is the buffer table.
    One {
        /// The table.
        table: Table,
        /// The slot.
        slot: u32,
    },
    /// An external texture's, in `BindTarget.external_texture` alone.
    External {
        /// Three slots in a row of the texture table.
        planes: [u32; 3],
        /// One slot of the buffer table.
        parameters: u32,
    },
}

impl Slots {
    /// The first of the binding's slots in `table`, `None` where it takes none there.
    pub fn first(self, table: Table) -> Option<u32> {
        match (self, table) {
            (Slots::One { table: its, slot }, _) => (its == table).then_some(slot),
            (Slots::External { planes, .. }, Table::Texture) => Some(planes[0]),
            (Slots::External { parameters, .. }, Table::Buffer) => Some(parameters),
            (Slots::External { .. }, Table::Sampler) => None,
        }
    }
}

/// The point of the immediates, before every binding's.
pub(crate) const IMMEDIATES: u64 = 0;

/// A binding as one number that sorts as `(group, binding)` does, after [`IMMEDIATES`].
pub(crate) fn point(group: u32, binding: u32) -> u64 {
    u64::from(group + 1) << 32 | u64::from(binding)
}

/// The table of a binding that takes one slot; `None` for an external texture, which takes three textures and a buffer.
pub(crate) fn table(entry: &BindGroupLayoutEntry) -> Option<Table> {
    match entry.ty {
        _ if entry.count.is_some() => Some(Table::Buffer),
        BindingType::ExternalTexture => None,
        BindingType::Buffer { .. } | BindingType::AccelerationStructure { .. } => Some(Table::Buffer),
        BindingType::Texture { .. } | BindingType::StorageTexture { .. } => Some(Table::Texture),
        BindingType::Sampler(_) => Some(Table::Sampler),
    }
}

/// Column "mutable" of section 1's table; false of section 2's binding arrays and external textures.
pub(crate) fn mutable(entry: &BindGroupLayoutEntry) -> bool {
    match entry.ty {
        _ if entry.count.is_some() => false,
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only },
            ..
        } => !read_only,
        BindingType::StorageTexture { access, .. } => access != StorageTextureAccess::ReadOnly,
        _ => false,
    }
}

/// Section 1's `IsStorageBuffer`: of an array of storage buffers too.
pub(crate) fn is_storage_buffer(entry: &BindGroupLayoutEntry) -> bool {
    let BindingType::Buffer { ty, .. } = entry.ty else {
        return false;
    };
    ty != BufferBindingType::Uniform
}

/// Whether the entry takes a dynamic offset (section 2): a dynamic buffer that is no array.
pub(crate) fn takes_dynamic_offset(entry: &BindGroupLayoutEntry) -> bool {
    let BindingType::Buffer { has_dynamic_offset, .. } = entry.ty else {
        return false;
    };
    has_dynamic_offset && entry.count.is_none()
}

/// The visibility bit of a stage, `None` for a stage that the rule does not have.
pub(crate) fn visibility(stage: naga::ShaderStage) -> Option<ShaderStages> {
    match stage {
        naga::ShaderStage::Vertex => Some(ShaderStages::VERTEX),
        naga::ShaderStage::Fragment => Some(ShaderStages::FRAGMENT),
        naga::ShaderStage::Compute => Some(ShaderStages::COMPUTE),
        naga::ShaderStage::Task => Some(ShaderStages::TASK),
        naga::ShaderStage::Mesh => Some(ShaderStages::MESH),
        _ => None,
    }
}

/// The points of each table's slots, in ascending order; a point stands in a table as often as it takes slots there.
#[derive(Default)]
pub(crate) struct Points {
    buffer: Vec<u64>,
    texture: Vec<u64>,
    sampler: Vec<u64>,
}

impl Points {
    /// The points of the immediates, if there are any, and of the visible entries, in any order.
    pub(crate) fn new<'a>(immediates: bool, visible: impl Iterator<Item = (u64, &'a BindGroupLayoutEntry)>) -> Self {
        let mut points = Self::default();
        points.buffer.extend(immediates.then_some(IMMEDIATES));
        for (point, entry) in visible {
            match table(entry) {
                Some(table) => points.of_mut(table).push(point),
                None => {
                    points.texture.extend([point; 3]);
                    points.buffer.push(point);
                }
            }
        }
        for table in [Table::Buffer, Table::Texture, Table::Sampler] {
            points.of_mut(table).sort_unstable();
        }
        points
    }

    /// The formula: how many slots of `table` lie before `point`.
    pub(crate) fn before(&self, table: Table, point: u64) -> u32 {
        before(self.of(table), point)
    }

    /// The formula in every table.
    pub(crate) fn counts_before(&self, point: u64) -> Counts {
        Counts {
            buffers: self.before(Table::Buffer, point),
            textures: self.before(Table::Texture, point),
            samplers: self.before(Table::Sampler, point),
        }
    }

    /// The formula for each slot of the entry that stands at `point`.
    pub(crate) fn slots(&self, point: u64, entry: &BindGroupLayoutEntry) -> Slots {
        let Some(table) = table(entry) else {
            let first = self.before(Table::Texture, point);
            return Slots::External {
                planes: [first, first + 1, first + 2],
                parameters: self.before(Table::Buffer, point),
            };
        };
        Slots::One {
            table,
            slot: self.before(table, point),
        }
    }

    /// All slots of every table.
    pub(crate) fn totals(&self) -> Counts {
        Counts {
            buffers: as_count(self.buffer.len()),
            textures: as_count(self.texture.len()),
            samplers: as_count(self.sampler.len()),
        }
    }

    fn of(&self, table: Table) -> &[u64] {
        match table {
            Table::Buffer => &self.buffer,
            Table::Texture => &self.texture,
            Table::Sampler => &self.sampler,
        }
    }

    fn of_mut(&mut self, table: Table) -> &mut Vec<u64> {
        match table {
            Table::Buffer => &mut self.buffer,
            Table::Texture => &mut self.texture,
            Table::Sampler => &mut self.sampler,
        }
    }
}

/// How many of `sorted` are less than `limit`.
pub(crate) fn before<T: Ord>(sorted: &[T], limit: T) -> u32 {
    as_count(sorted.partition_point(|other| *other < limit))
}

fn as_count(number: usize) -> u32 {
    u32::try_from(number).expect("a layout has fewer than 2^32 slots")
}
