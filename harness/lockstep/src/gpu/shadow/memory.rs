//! What buffers and textures hold, and which of it is known.

use std::collections::BTreeMap;
use std::mem::take;
use std::ops::Range;

use super::format::Format;

/// Bytes that one stream may touch, all commands together. A stream that wants more is not foretold: a shadow is asked
/// about thousands of streams a second and must never hold one of them up.
const FUEL: u64 = 1 << 28;
/// Bytes of all buffers and textures together; what does not fit is not foretold.
const ROOM: u64 = 1 << 30;
/// More mip levels than any texture has.
const MAX_MIPS: u32 = 32;

/// The memory of the device.
pub(super) struct Memory {
    pub buffers: BTreeMap<u32, Buffer>,
    pub textures: BTreeMap<u32, Texture>,
    /// Nothing is known any more.
    pub lost: bool,
    fuel: u64,
    room: u64,
}

/// A buffer. The default one is unknown.
#[derive(Default)]
pub(super) struct Buffer {
    pub bytes: Vec<u8>,
    pub known: bool,
}

/// A part of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub id: u32,
    pub offset: u64,
    pub size: u64,
}

impl Span {
    /// A part of it.
    pub fn part(self, offset: u64, size: u64) -> Option<Self> {
        let inside = offset.checked_add(size)? <= self.size;
        inside.then_some(Self {
            id: self.id,
            offset: self.offset.checked_add(offset)?,
            size,
        })
    }
}

/// A texture. One without surfaces is never known.
#[derive(Default)]
pub(super) struct Texture {
    pub format: Option<Format>,
    /// A 3D texture.
    pub volume: bool,
    pub bytes: Vec<u8>,
    /// Mip by mip, layer by layer (of a 3D texture: slice by slice).
    pub surfaces: Vec<Surface>,
    /// Where the surfaces of each mip level begin, and where those of the last one end.
    mips: Vec<usize>,
}

/// One layer of one mip level; known or not as a whole.
pub(super) struct Surface {
    start: usize,
    pub width: u32,
    pub height: u32,
    pub known: bool,
}

/// Which surface of which texture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub texture: u32,
    pub mip: u32,
    pub layer: u32,
}

/// Texels of a surface, `left..right` and `top..bottom`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rect {
    pub left: u32,
    pub top: u32,
    pub right: u32,
    pub bottom: u32,
}

/// What a texture's descriptor says of its memory.
pub(super) struct Shape {
    pub format: Option<Format>,
    pub width: u32,
    pub height: u32,
    pub layers: u32,
    pub mips: u32,
    /// A 3D texture, whose slices are halved with each mip level.
    pub volume: bool,
}

/// Texels of one mip level, over several layers.
#[derive(Clone, Copy)]
pub(super) struct Region {
    pub texture: u32,
    pub mip: u32,
    pub origin: [u32; 3],
    pub extent: [u32; 3],
}

/// Bytes that hold texels, and where the rows and layers lie in them.
struct Source<'a> {
    bytes: &'a [u8],
    offset: u64,
    row: u64,
    layer: u64,
}

impl Memory {
    pub fn new() -> Self {
        let (buffers, textures) = (BTreeMap::new(), BTreeMap::new());
        Self {
            buffers,
            textures,
            lost: false,
            fuel: FUEL,
            room: ROOM,
        }
    }

    /// A new buffer, all zero.
    pub fn add_buffer(&mut self, id: u32, size: u64) {
        let buffer = match self.take_room(size) {
            Some(size) => Buffer {
                bytes: vec![0; size],
                known: true,
            },
            None => Buffer::default(),
        };
        self.buffers.insert(id, buffer);
    }

    /// A new texture, all zero.
    pub fn add_texture(&mut self, id: u32, shape: &Shape) {
        let room = shape.room().and_then(|size| self.take_room(size));
        self.textures
            .insert(id, room.and_then(|_| Texture::new(shape)).unwrap_or_default());
    }

    fn take_room(&mut self, size: u64) -> Option<usize> {
        self.room = self.room.checked_sub(size)?;
        usize::try_from(size).ok()
    }

    /// Pays for `bytes`. Without means everything is lost.
    pub fn spend(&mut self, bytes: u64) -> Option<()> {
        let left = self.fuel.checked_sub(bytes);
        self.lost |= left.is_none();
        self.fuel = left?;
        Some(())
    }

    /// Says that a buffer or a texture may hold anything.
    pub fn forget(&mut self, id: u32) {
        if let Some(buffer) = self.buffers.get_mut(&id) {
            buffer.known = false;
        }
        if let Some(texture) = self.textures.get_mut(&id) {
            let surfaces = &mut texture.surfaces;
            surfaces.iter_mut().for_each(|surface| surface.known = false);
            // Lost or not, the texture is forgotten.
            let cost = surfaces.len() as u64;
            let _ = self.spend(cost);
        }
    }

    /// A part of a buffer; of size 0, all from `offset` on.
    pub fn span(&self, id: u32, offset: u64, size: u64) -> Option<Span> {
        let rest = (self.buffers.get(&id)?.bytes.len() as u64).checked_sub(offset)?;
        Some(Span {
            id,
            offset,
            size: if size == 0 { rest } else { size },
        })
    }

    /// Known bytes of a buffer.
    pub fn read(&self, span: Span) -> Option<&[u8]> {
        let buffer = self.buffers.get(&span.id).filter(|buffer| buffer.known)?;
        buffer.bytes.get(range(span.offset, span.size)?)
    }

    /// Known words of a buffer.
    pub fn words<const N: usize>(&self, id: u32, offset: u64) -> Option<[u32; N]> {
        let bytes = self.read(Span {
            id,
            offset,
            size: 4 * N as u64,
        })?;
        let mut words = [0; N];
        words
            .iter_mut()
            .zip(bytes.chunks_exact(4))
            .for_each(|(word, bytes)| *word = load(bytes));
        Some(words)
    }

    /// Changes bytes of a buffer in place; `None` where `change` gave up.
    ///
    /// While a buffer is being changed its place is empty, so whoever reads it too finds it unknown. WebGPU forbids that
    /// anyway.
    pub fn change(&mut self, span: Span, change: impl FnOnce(&mut [u8], &mut Self) -> Option<()>) -> Option<()> {
        let mut buffer = take(self.buffers.get_mut(&span.id)?);
        let bytes = range(span.offset, span.size).and_then(|range| buffer.bytes.get_mut(range));
        let done = bytes.and_then(|bytes| change(bytes, self));
        *self.buffers.get_mut(&span.id)? = buffer;
        done
    }

    /// Overwrites bytes of a buffer. One that is overwritten from end to end is known again.
    pub fn write_buffer(&mut self, id: u32, offset: u64, bytes: &[u8]) {
        let span = Span {
            id,
            offset,
            size: bytes.len() as u64,
        };
        self.overwrite(span, |to, _| {
            to.copy_from_slice(bytes);
            Some(())
        });
    }

    /// Copies between two buffers.
    pub fn copy_buffer(&mut self, src: u32, src_offset: u64, dst: u32, dst_offset: u64, size: u64) {
        if size == 0 {
            return;
        }
        let from = Span {
            id: src,
            offset: src_offset,
            size,
        };
        self.overwrite(
            Span {
                id: dst,
                offset: dst_offset,
                size,
            },
            |to, memory| {
                to.copy_from_slice(memory.read(from)?);
                Some(())
            },
        );
    }

    fn overwrite(&mut self, span: Span, fill: impl FnOnce(&mut [u8], &mut Self) -> Option<()>) {
        let done = self.spend(span.size).and_then(|()| self.change(span, fill));
        let Some(buffer) = self.buffers.get_mut(&span.id) else {
            return;
        };
        let whole = span.offset == 0 && span.size == buffer.bytes.len() as u64;
        buffer.known = done.is_some() && (buffer.known || whole);
    }

    /// Fills texels of a surface; `None` stands for a texel that cannot be foretold.
    pub fn fill(&mut self, at: Place, rect: Rect, texel: Option<u128>) {
        // A texel counts as four bytes: that is about what its time is.
        let paid = self.spend(rect.area().saturating_mul(4));
        let Some(texture) = self.textures.get_mut(&at.texture) else {
            return;
        };
        if paid.and_then(|()| texture.fill(at, rect, texel)).is_none() {
            texture.forget(at);
        }
    }

    /// Fills a whole surface.
    pub fn clear(&mut self, at: Place, texel: Option<u128>) {
        let Some((right, bottom, _)) = self.surface(at) else {
            return;
        };
        self.fill(
            at,
            Rect {
                left: 0,
                top: 0,
                right,
                bottom,
            },
            texel,
        );
    }

    /// Puts a u32 in each texel of a rectangle. `color` gets the column and the row.
    pub fn paint(&mut self, at: Place, rect: Rect, color: impl Fn(u32, u32) -> u32) -> Option<()> {
        let texture = self.textures.get_mut(&at.texture)?;
        let index = texture.index(at.mip, at.layer)?;
        let surface = &mut texture.surfaces[index];
        surface.known |= surface.whole() == rect;
        for y in rect.top..rect.bottom {
            let row = surface.row(rect.left, y, rect.right.saturating_sub(rect.left), 4)?;
            let texels = texture.bytes.get_mut(row)?.chunks_exact_mut(4);
            texels
                .zip(rect.left..)
                .for_each(|(texel, x)| texel.copy_from_slice(&color(x, y).to_le_bytes()));
        }
        Some(())
    }

    /// The size of a surface, and its texture's format.
    pub fn surface(&self, at: Place) -> Option<(u32, u32, Format)> {
        let texture = self.textures.get(&at.texture)?;
        let surface = texture.surfaces.get(texture.index(at.mip, at.layer)?)?;
        Some((surface.width, surface.height, texture.format?))
    }

    /// Says that a surface may hold anything.
    pub fn forget_surface(&mut self, at: Place) {
        if let Some(texture) = self.textures.get_mut(&at.texture) {
            texture.forget(at);
        }
    }

    /// Writes texels from bytes that lie as `offset`, `row` (bytes) and `rows` (rows a layer) say; a stride left out
    /// is that of texels without gaps.
    pub fn write_texture(&mut self, to: Region, bytes: &[u8], offset: u64, row: Option<u32>, rows: Option<u32>) {
        let Some(texture) = self.textures.get(&to.texture) else {
            return;
        };
        let Some(format) = texture.format.filter(|_| !to.is_empty()) else {
            return;
        };
        let row = row.map_or(to.row_bytes(format), u64::from);
        let layer = row.saturating_mul(u64::from(rows.unwrap_or(to.extent[1])));
        self.put(
            to,
            &Source {
                bytes,
                offset,
                row,
                layer,
            },
        );
    }

    fn put(&mut self, to: Region, source: &Source<'_>) {
        let Some(texture) = self.textures.get_mut(&to.texture) else {
            return;
        };
        let Some(format) = texture.format else { return };
        let size = to.extent[1..]
            .iter()
            .fold(to.row_bytes(format), |size, &n| size.saturating_mul(u64::from(n)));
        if texture.put(to, format, source).is_none() || self.spend(size).is_none() {
            self.forget(to.texture);
        }
    }

    /// Copies texels between two textures, or between two surfaces of one.
    pub fn copy_texture(&mut self, from: Region, to: Region) {
        if from.is_empty() {
            return;
        }
        for layer in 0..from.extent[2] {
            let slices = from.slice(layer).zip(to.slice(layer));
            if slices.and_then(|(from, to)| self.copy_slice(from, to)).is_none() {
                return self.forget(to.texture);
            }
        }
    }

    fn copy_slice(&mut self, from: Region, to: Region) -> Option<()> {
        let (src, dst) = (self.textures.get(&from.texture)?, self.textures.get(&to.texture)?);
        let format = src.format?;
        if !format.copies_to(dst.format?) {
            return None;
        }
        let layers = (src.index(from.mip, from.origin[2]), dst.index(to.mip, to.origin[2]));
        layers.0.zip(layers.1)?;
        match src.get(from, format) {
            Some(bytes) => {
                let row = from.row_bytes(format);
                self.put(
                    to,
                    &Source {
                        bytes: &bytes,
                        offset: 0,
                        row,
                        layer: 0,
                    },
                );
            }
            None => self.forget_surface(Place {
                texture: to.texture,
                mip: to.mip,
                layer: to.origin[2],
            }),
        }
        (!self.lost).then_some(())
    }
}

impl Shape {
    /// Bytes of the whole texture, and some for each of its surfaces.
    fn room(&self) -> Option<u64> {
        let texel = self.format?.texel as u64;
        (0..self.mips.min(MAX_MIPS)).try_fold(0u64, |sum, mip| {
            let [width, height, layers] = self.at(mip).map(u64::from);
            let layer = width.checked_mul(height)?.checked_mul(texel)?.checked_add(64)?;
            sum.checked_add(layer.checked_mul(layers)?)
        })
    }

    /// Width, height and layers of a mip level.
    fn at(&self, mip: u32) -> [u32; 3] {
        let halved = |size: u32| size.checked_shr(mip).unwrap_or(0).max(1);
        let layers = if self.volume { halved(self.layers) } else { self.layers };
        [halved(self.width), halved(self.height), layers]
    }
}

impl Texture {
    fn new(shape: &Shape) -> Option<Self> {
        let texel = shape.format?.texel;
        let (mut surfaces, mut mips, mut start) = (Vec::new(), vec![0], 0);
        for mip in 0..shape.mips.min(MAX_MIPS) {
            let [width, height, layers] = shape.at(mip);
            for _ in 0..layers {
                surfaces.push(Surface {
                    start,
                    width,
                    height,
                    known: true,
                });
                start += width as usize * height as usize * texel;
            }
            mips.push(surfaces.len());
        }
        Some(Self {
            format: shape.format,
            volume: shape.volume,
            bytes: vec![0; start],
            surfaces,
            mips,
        })
    }

    /// Whether every byte is known.
    pub fn is_known(&self) -> bool {
        !self.surfaces.is_empty() && self.surfaces.iter().all(|surface| surface.known)
    }

    fn index(&self, mip: u32, layer: u32) -> Option<usize> {
        let mip = mip as usize;
        let (first, end) = (*self.mips.get(mip)?, *self.mips.get(mip.checked_add(1)?)?);
        first.checked_add(layer as usize).filter(|&index| index < end)
    }

    fn forget(&mut self, at: Place) {
        if let Some(index) = self.index(at.mip, at.layer) {
            self.surfaces[index].known = false;
        }
    }

    fn fill(&mut self, at: Place, rect: Rect, texel: Option<u128>) -> Option<()> {
        let (size, bytes) = (self.format?.texel, texel?.to_le_bytes());
        let index = self.index(at.mip, at.layer)?;
        let surface = &mut self.surfaces[index];
        surface.known |= surface.whole() == rect;
        for y in rect.top..rect.bottom {
            let row = surface.row(rect.left, y, rect.right.saturating_sub(rect.left), size)?;
            self.bytes
                .get_mut(row)?
                .chunks_exact_mut(size)
                .for_each(|texel| texel.copy_from_slice(&bytes[..size]));
        }
        Some(())
    }

    fn put(&mut self, to: Region, format: Format, source: &Source<'_>) -> Option<()> {
        for layer in 0..to.extent[2] {
            let index = self.index(to.mip, to.origin[2].checked_add(layer)?)?;
            let (surface, rect) = (&mut self.surfaces[index], to.rect()?);
            for y in 0..to.extent[1] {
                let skip = u64::from(layer)
                    .checked_mul(source.layer)?
                    .checked_add(u64::from(y).checked_mul(source.row)?)?;
                let bytes = range(source.offset.checked_add(skip)?, to.row_bytes(format))?;
                let row = surface.row(rect.left, rect.top + y, to.extent[0], format.texel)?;
                self.bytes.get_mut(row)?.copy_from_slice(source.bytes.get(bytes)?);
            }
            surface.known |= surface.whole() == rect;
        }
        Some(())
    }

    /// The texels of one slice without gaps, where they are known.
    fn get(&self, from: Region, format: Format) -> Option<Vec<u8>> {
        let surface = &self.surfaces[self.index(from.mip, from.origin[2])?];
        let rect = from.rect().filter(|_| surface.known)?;
        let mut bytes = Vec::new();
        for y in rect.top..rect.bottom {
            bytes.extend(
                self.bytes
                    .get(surface.row(rect.left, y, from.extent[0], format.texel)?)?,
            );
        }
        Some(bytes)
    }
}

impl Surface {
    fn whole(&self) -> Rect {
        Rect {
            left: 0,
            top: 0,
            right: self.width,
            bottom: self.height,
        }
    }

    /// Where `width` texels of a row lie; `None` where they pass the surface.
    fn row(&self, left: u32, y: u32, width: u32, texel: usize) -> Option<Range<usize>> {
        if y >= self.height || u64::from(left) + u64::from(width) > u64::from(self.width) {
            return None;
        }
        let first = y as usize * self.width as usize + left as usize;
        let start = self.start + first * texel;
        Some(start..start + width as usize * texel)
    }
}

impl Rect {
    pub fn is_empty(self) -> bool {
        self.left >= self.right || self.top >= self.bottom
    }

    fn area(self) -> u64 {
        if self.is_empty() {
            0
        } else {
            u64::from(self.right - self.left) * u64::from(self.bottom - self.top)
        }
    }
}

impl Region {
    fn is_empty(self) -> bool {
        self.extent.contains(&0)
    }

    fn row_bytes(self, format: Format) -> u64 {
        u64::from(self.extent[0]) * format.texel as u64
    }

    fn rect(self) -> Option<Rect> {
        let ([left, top, _], [width, height, _]) = (self.origin, self.extent);
        Some(Rect {
            left,
            top,
            right: left.checked_add(width)?,
            bottom: top.checked_add(height)?,
        })
    }

    /// One of its layers.
    fn slice(self, layer: u32) -> Option<Self> {
        let ([x, y, z], [width, height, _]) = (self.origin, self.extent);
        Some(Self {
            origin: [x, y, z.checked_add(layer)?],
            extent: [width, height, 1],
            ..self
        })
    }
}

/// The u32 that lies in four bytes.
pub(super) fn load(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

/// `offset..offset + size`, where that fits.
pub(super) fn range(offset: u64, size: u64) -> Option<Range<usize>> {
    let end = offset.checked_add(size)?;
    Some(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}
