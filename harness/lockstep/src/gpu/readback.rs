//! Takes what every buffer and texture holds, with one submit, one wait and one staging buffer for all of them.

use super::objects::{Handle, Table};
use super::wgpu_engine::Gpu;
use super::{Outcome, Trouble};

/// How much is read back at once, unless one object alone is larger.
const BATCH: u64 = 64 << 20;

/// The buffer that everything is copied into, kept from case to case.
#[derive(Debug, Default)]
pub(super) struct Staging(Option<wgpu::Buffer>);

impl Staging {
    fn of_size(&mut self, device: &wgpu::Device, size: u64) -> wgpu::Buffer {
        if let Some(buffer) = self.0.take_if(|buffer| buffer.size() >= size) {
            self.0 = Some(buffer.clone());
            return buffer;
        }
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: size.next_power_of_two().max(1 << 16),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.0 = Some(buffer.clone());
        buffer
    }
}

/// One mip level of a texture in the staging buffer.
struct Level {
    /// Where its rows begin.
    at: u64,
    size: wgpu::Extent3d,
    row: u64,
    padded_row: u64,
    /// Rows of all layers together.
    rows: u64,
}

/// Something that is copied into the staging buffer.
enum Copy<'a> {
    Buffer(u32, &'a wgpu::Buffer, u64),
    Texture(u32, &'a wgpu::Texture, Vec<Level>),
}

/// Fills in the outcome's buffers and textures.
///
/// # Errors
///
/// The device did not finish its work in time.
pub(super) fn all(gpu: &Gpu, staging: &mut Staging, table: &Table, outcome: &mut Outcome) -> Result<(), Trouble> {
    let mut mapped = Vec::new();
    let mut batch = Batch::default();
    for (id, handle) in table.memory() {
        match handle {
            Handle::Buffer(buffer) if !reads_whole(buffer) => drop(outcome.buffers.insert(id, None)),
            Handle::Buffer(buffer) if buffer.size() == 0 => drop(outcome.buffers.insert(id, Some(Vec::new()))),
            Handle::Buffer(buffer) if buffer.usage().contains(wgpu::BufferUsages::MAP_READ) => {
                mapped.push((id, buffer))
            }
            Handle::Buffer(buffer) => batch.buffer(id, buffer),
            Handle::Texture(texture) if !batch.texture(id, texture) => drop(outcome.textures.insert(id, None)),
            _ => (),
        }
        if batch.size >= BATCH {
            std::mem::take(&mut batch).run(gpu, staging, &[], outcome)?;
        }
    }
    batch.run(gpu, staging, &mapped, outcome)
}

/// Whether the host can see all of a buffer: copies and mapped ranges are multiples of 4 bytes.
fn reads_whole(buffer: &wgpu::Buffer) -> bool {
    let seen = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_SRC;
    buffer.usage().intersects(seen) && buffer.size().is_multiple_of(4)
}

#[derive(Default)]
struct Batch<'a> {
    copies: Vec<Copy<'a>>,
    size: u64,
}

impl<'a> Batch<'a> {
    fn buffer(&mut self, id: u32, buffer: &'a wgpu::Buffer) {
        let at = self.place(buffer.size());
        self.copies.push(Copy::Buffer(id, buffer, at));
    }

    /// Where the next `size` bytes go. Texture copies need whole blocks, the largest of which has 16 bytes.
    fn place(&mut self, size: u64) -> u64 {
        let at = self.size;
        self.size += size.next_multiple_of(16);
        at
    }

    /// Takes a texture on, if it can be copied into a buffer.
    fn texture(&mut self, id: u32, texture: &'a wgpu::Texture) -> bool {
        let format = texture.format();
        let copied = texture.usage().contains(wgpu::TextureUsages::COPY_SRC);
        let (Some(block), true, 1) = (format.block_copy_size(None), copied, texture.sample_count()) else {
            return false;
        };
        if format.is_depth_stencil_format() {
            return false;
        }
        let levels = 0..texture.mip_level_count();
        let levels = levels.map(|mip| self.level(texture, mip, u64::from(block))).collect();
        self.copies.push(Copy::Texture(id, texture, levels));
        true
    }

    fn level(&mut self, texture: &wgpu::Texture, mip: u32, block: u64) -> Level {
        let size = texture
            .size()
            .mip_level_size(mip, texture.dimension())
            .physical_size(texture.format());
        let (width, height) = texture.format().block_dimensions();
        let row = u64::from(size.width / width) * block;
        let padded_row = row.next_multiple_of(u64::from(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT));
        let rows = u64::from(size.height / height) * u64::from(size.depth_or_array_layers);
        Level {
            at: self.place(padded_row * rows),
            size,
            row,
            padded_row,
            rows,
        }
    }

    fn run(
        self,
        gpu: &Gpu,
        staging: &mut Staging,
        mapped: &[(u32, &wgpu::Buffer)],
        outcome: &mut Outcome,
    ) -> Result<(), Trouble> {
        let to = staging.of_size(&gpu.device, self.size);
        if self.copies.is_empty() {
            // Writes that no Submit followed still have to reach the buffers that are mapped.
            gpu.submit([])?;
        } else {
            gpu.submit([self.record(&gpu.device, &to)])?;
            to.map_async(wgpu::MapMode::Read, ..self.size, |_| ());
        }
        for (_, buffer) in mapped {
            buffer.map_async(wgpu::MapMode::Read, .., |_| ());
        }
        gpu.wait()?;
        for (id, buffer) in mapped {
            let bytes = buffer.get_mapped_range(..).ok().map(|bytes| bytes.to_vec());
            outcome.buffers.insert(*id, bytes);
        }
        if !self.copies.is_empty() {
            self.take(&to, outcome);
            to.unmap();
        }
        Ok(())
    }

    fn record(&self, device: &wgpu::Device, to: &wgpu::Buffer) -> wgpu::CommandBuffer {
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        for copy in &self.copies {
            match copy {
                Copy::Buffer(_, buffer, at) => encoder.copy_buffer_to_buffer(buffer, 0, to, *at, buffer.size()),
                Copy::Texture(_, texture, levels) => {
                    for (mip, level) in levels.iter().enumerate() {
                        copy_level(&mut encoder, texture, mip as u32, level, to);
                    }
                }
            }
        }
        encoder.finish()
    }

    fn take(&self, to: &wgpu::Buffer, outcome: &mut Outcome) {
        let bytes = to.get_mapped_range(..self.size).ok();
        let bytes = bytes.as_deref();
        for copy in &self.copies {
            match copy {
                Copy::Buffer(id, buffer, at) => {
                    let held = bytes.map(|bytes| part(bytes, *at, buffer.size()).to_vec());
                    outcome.buffers.insert(*id, held);
                }
                Copy::Texture(id, _, levels) => {
                    outcome.textures.insert(*id, bytes.map(|bytes| texels(bytes, levels)));
                }
            }
        }
    }
}

fn part(bytes: &[u8], at: u64, size: u64) -> &[u8] {
    &bytes[at as usize..(at + size) as usize]
}

fn texels(bytes: &[u8], levels: &[Level]) -> Vec<u8> {
    let mut held = Vec::with_capacity(levels.iter().map(|level| level.row * level.rows).sum::<u64>() as usize);
    for level in levels {
        for row in 0..level.rows {
            held.extend_from_slice(part(bytes, level.at + row * level.padded_row, level.row));
        }
    }
    held
}

fn copy_level(
    encoder: &mut wgpu::CommandEncoder,
    texture: &wgpu::Texture,
    mip_level: u32,
    level: &Level,
    to: &wgpu::Buffer,
) {
    let from = wgpu::TexelCopyTextureInfo {
        texture,
        mip_level,
        origin: wgpu::Origin3d::ZERO,
        aspect: wgpu::TextureAspect::All,
    };
    let rows = level.rows / u64::from(level.size.depth_or_array_layers);
    let layout = wgpu::TexelCopyBufferLayout {
        offset: level.at,
        bytes_per_row: Some(level.padded_row as u32),
        rows_per_image: Some(rows as u32),
    };
    encoder.copy_texture_to_buffer(from, wgpu::TexelCopyBufferInfo { buffer: to, layout }, level.size);
}
