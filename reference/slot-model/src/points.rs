//! Points `(group, binding)` and the count of those before a point.

use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages, StorageTextureAccess};

/// A Metal argument table (section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// Uniform and storage buffers, and acceleration structures.
    Buffer,
    /// Textures and storage textures.
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

/// A binding as one number that sorts as `(group, binding)` does.
pub(crate) fn point(group: u32, binding: u32) -> u64 {
    u64::from(group) << 32 | u64::from(binding)
}

/// The table of section 1's rule, or `None` where the rule has no place: a binding array or an external texture.
pub(crate) fn table(entry: &BindGroupLayoutEntry) -> Option<Table> {
    match entry.ty {
        _ if entry.count.is_some() => None,
        BindingType::ExternalTexture => None,
        BindingType::Buffer { .. } | BindingType::AccelerationStructure { .. } => Some(Table::Buffer),
        BindingType::Texture { .. } | BindingType::StorageTexture { .. } => Some(Table::Texture),
        BindingType::Sampler(_) => Some(Table::Sampler),
    }
}

/// Column "mutable" of section 1's table.
pub(crate) fn mutable(entry: &BindGroupLayoutEntry) -> bool {
    match entry.ty {
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only },
            ..
        } => !read_only,
        BindingType::StorageTexture { access, .. } => access != StorageTextureAccess::ReadOnly,
        _ => false,
    }
}

/// Section 1's `IsStorageBuffer`.
pub(crate) fn is_storage_buffer(entry: &BindGroupLayoutEntry) -> bool {
    let BindingType::Buffer { ty, .. } = entry.ty else {
        return false;
    };
    ty != BufferBindingType::Uniform
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

/// The visible points of each table, in ascending order.
#[derive(Default)]
pub(crate) struct Points {
    buffer: Vec<u64>,
    texture: Vec<u64>,
    sampler: Vec<u64>,
}

impl Points {
    /// Takes the points in any order.
    pub(crate) fn new(visible: impl Iterator<Item = (Table, u64)>) -> Self {
        let mut points = Self::default();
        for (table, point) in visible {
            points.of_mut(table).push(point);
        }
        for table in [Table::Buffer, Table::Texture, Table::Sampler] {
            points.of_mut(table).sort_unstable();
        }
        points
    }

    /// The formula: how many points of `table` lie before `point`.
    pub(crate) fn before(&self, table: Table, point: u64) -> u32 {
        as_count(self.of(table).partition_point(|&other| other < point))
    }

    /// The formula in every table.
    pub(crate) fn counts_before(&self, point: u64) -> Counts {
        Counts {
            buffers: self.before(Table::Buffer, point),
            textures: self.before(Table::Texture, point),
            samplers: self.before(Table::Sampler, point),
        }
    }

    /// All points of every table.
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

fn as_count(number: usize) -> u32 {
    u32::try_from(number).expect("a layout has fewer than 2^32 entries")
}
