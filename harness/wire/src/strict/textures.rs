//! Copies between textures and writes into them.

use super::format::NotWritten;
use super::{Checked, Checker, Dimension, Format, ObjectTable, Rule, TextureFacts, broken, named, require};
use crate::LEFT_OUT;
use crate::decode::join;
use crate::ranges::ends_by;

/// WebGPU's GPUTextureUsage bits that a command may need.
mod usage {
    pub(super) const COPY_SRC: u32 = 0x1;
    pub(super) const COPY_DST: u32 = 0x2;
}

/// A texture argument: a GPUTexelCopyTextureInfo.
struct Place {
    texture: TextureFacts,
    id: u32,
    mip: u32,
    origin: [u32; 3],
    aspect: u32,
    /// The position of its first argument.
    at: usize,
}

/// How much is copied, and the position of the first of its three arguments.
#[derive(Clone, Copy)]
struct Extent {
    size: [u32; 3],
    at: usize,
}

impl TextureFacts {
    /// Width, height and depth or layers of a mip level, whole texel blocks of it.
    fn physical_size(&self, mip: u32) -> [u64; 3] {
        let [width, height, third] = self.size;
        let half = |length: u32| length.checked_shr(mip).unwrap_or(0).max(1);
        let [block_width, block_height] = self.format.block();
        let blocks = |length: u32, block: u32| u64::from(length.div_ceil(block)) * u64::from(block);
        let (height, third) = match self.dimension {
            Dimension::D1 => (1, 1),
            Dimension::D2 => (half(height), third),
            Dimension::D3 => (half(height), half(third)),
        };
        [
            blocks(half(width), block_width),
            blocks(height, block_height),
            third.into(),
        ]
    }

    fn require(&self, usage: u32, argument: usize, rule: Rule) -> Checked {
        require(self.usage & usage == usage, argument, rule)
    }
}

impl Place {
    /// Validating GPUTexelCopyTextureInfo and validating texture copy range, as WebGPU calls them.
    fn holds(&self, extent: Extent) -> Checked {
        let texture = &self.texture;
        require(self.mip < texture.mip_level_count, self.at + 1, Rule::MipLevel)?;
        let [block_width, block_height] = texture.format.block();
        let (block, whole) = ([block_width, block_height, 1], texture.physical_size(self.mip));
        // Depth, stencil and samples are copied by whole rows and columns, but not by all layers.
        let partly = !texture.format.is_depth_stencil() && texture.sample_count == 1;
        for axis in [0, 1, 2] {
            let (origin, size) = (self.origin[axis], extent.size[axis]);
            let (origin_at, size_at) = (self.at + 2 + axis, extent.at + axis);
            require(origin.is_multiple_of(block[axis]), origin_at, Rule::OriginBlock)?;
            require(size.is_multiple_of(block[axis]), size_at, Rule::ExtentBlock)?;
            let covers = u64::from(size) == whole[axis];
            require(partly || covers || axis == 2, size_at, Rule::WholeSubresource)?;
            let fits = ends_by(origin.into(), size.into(), whole[axis]);
            require(fits, origin_at, Rule::CopyExtent)?;
        }
        Ok(())
    }

    /// Whether a copy from here to `to` would be between subresources of which one is the same. WebGPU counts array layers of a 2d
    /// texture as subresources, and a mip level of a 3d one is one as a whole.
    fn overlaps(&self, to: &Place, layers: u32) -> bool {
        let apart = self.origin[2].abs_diff(to.origin[2]) >= layers;
        self.id == to.id && self.mip == to.mip && !(self.texture.dimension == Dimension::D2 && apart)
    }
}

impl<T: ObjectTable> Checker<'_, T> {
    fn place(&self, args: &[u32; 15], at: usize) -> Result<Place, super::Broken> {
        let texture = named(self.table.texture(args[at]), at)?;
        Ok(Place {
            texture,
            id: args[at],
            mip: args[at + 1],
            origin: [args[at + 2], args[at + 3], args[at + 4]],
            aspect: args[at + 5],
            at,
        })
    }

    pub(super) fn copy_texture_to_texture(&self, args: [u32; 15]) -> Checked {
        let (src, dst) = (self.place(&args, 0)?, self.place(&args, 6)?);
        let extent = Extent {
            size: [args[12], args[13], args[14]],
            at: 12,
        };
        src.texture.require(usage::COPY_SRC, src.at, Rule::TextureCopySrc)?;
        dst.texture.require(usage::COPY_DST, dst.at, Rule::TextureCopyDst)?;
        let formats = src.texture.format.copies_to(dst.texture.format);
        require(formats, dst.at, Rule::Formats)?;
        let samples = src.texture.sample_count == dst.texture.sample_count;
        require(samples, dst.at, Rule::SampleCounts)?;
        for place in [&src, &dst] {
            let all = place.texture.format.is_all(place.aspect);
            require(all, place.at + 5, Rule::AllAspects)?;
        }
        src.holds(extent)?;
        dst.holds(extent)?;
        require(!src.overlaps(&dst, extent.size[2]), dst.at, Rule::SameSubresource)
    }

    pub(super) fn write_texture(&self, args: [u32; 15]) -> Checked {
        let place = self.place(&args, 0)?;
        let extent = Extent {
            size: [args[12], args[13], args[14]],
            at: 12,
        };
        place.texture.require(usage::COPY_DST, 0, Rule::TextureCopyDst)?;
        require(place.texture.sample_count == 1, 0, Rule::OneSample)?;
        let format = place.texture.format;
        let block_bytes = format.written(place.aspect).map_err(|why| match why {
            NotWritten::NotOne => broken(5, Rule::OneAspect),
            NotWritten::NotWritable => broken(5, Rule::WritableAspect),
        })?;
        place.holds(extent)?;
        let data = Data {
            length: args[7],
            offset: join(args[8], args[9]),
            bytes_per_row: (args[10] != LEFT_OUT).then_some(args[10]),
            rows_per_image: (args[11] != LEFT_OUT).then_some(args[11]),
        };
        data.holds(format, block_bytes, extent.size)
    }
}

/// The data of a write: its length and its GPUTexelCopyBufferLayout.
struct Data {
    length: u32,
    offset: u64,
    bytes_per_row: Option<u32>,
    rows_per_image: Option<u32>,
}

impl Data {
    /// Validating linear texture data, as WebGPU calls it, for an extent of whole texel blocks.
    fn holds(&self, format: Format, block_bytes: u32, [width, height, images]: [u32; 3]) -> Checked {
        let [block_width, block_height] = format.block();
        let (columns, rows) = (width / block_width, height / block_height);
        let row_bytes = u64::from(columns) * u64::from(block_bytes);
        let given = self.bytes_per_row.is_some() || (rows <= 1 && images <= 1);
        require(given, 10, Rule::BytesPerRowGiven)?;
        let given = self.rows_per_image.is_some() || images <= 1;
        require(given, 11, Rule::RowsPerImageGiven)?;
        let wide = self.bytes_per_row.is_none_or(|stride| u64::from(stride) >= row_bytes);
        require(wide, 10, Rule::BytesPerRow)?;
        let high = self.rows_per_image.is_none_or(|height| height >= rows);
        require(high, 11, Rule::RowsPerImage)?;
        let end = u128::from(self.offset) + self.required([columns, rows, images], row_bytes);
        require(end <= u128::from(self.length), 7, Rule::DataBytes)
    }

    /// WebGPU's requiredBytesInCopy. A stride that is left out is one that nothing is multiplied by.
    fn required(&self, [_, rows, images]: [u32; 3], row_bytes: u64) -> u128 {
        let Some(images_before_last) = images.checked_sub(1) else {
            return 0;
        };
        let stride = u128::from(self.bytes_per_row.unwrap_or(0));
        let image = stride * u128::from(self.rows_per_image.unwrap_or(0));
        let last_image = match rows.checked_sub(1) {
            Some(rows_before_last) => stride * u128::from(rows_before_last) + u128::from(row_bytes),
            None => 0,
        };
        image * u128::from(images_before_last) + last_image
    }
}
