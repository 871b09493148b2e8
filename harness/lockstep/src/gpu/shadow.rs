//! What every buffer and texture holds after a stream was replayed, in plain Rust.
//!
//! The shadow is made from wire.md and the WebGPU specification and from no replayer, so that an engine that a replay led
//! astray shows: a write that came too late, a copy that went past its range, a bind group that took the wrong offset, an
//! indirect count that was not looked at, a bundle that leaked its state.
//!
//! It models memory, not validation: it is asked only about streams for which the device raised nothing. What it knows:
//!
//! * the order of things: queue writes at once, recorded commands at Submit, nothing after the last one, reads at the end;
//! * buffer and texture copies and texture writes, for formats whose texels stand alone (no compressed, depth, stencil or
//!   multisampled texture), in all mip levels, layers and slices;
//! * load, clear, store and discard of color attachments, and holes;
//! * the kernels of [`super::kernels`], direct and indirect, with bind groups, dynamic offsets and bundles, and for draws
//!   viewport, scissor, index and instance buffers and culling.
//!
//! Everything else makes what it could write *not foretold*, and that spreads through copies and shaders: other shaders,
//! blending, write masks, depth and stencil tests, resolve targets, clear values whose bits are the device's choice, viewports
//! that end within a pixel, vertex indices that leave 32 bits (WebGPU does not say whether they wrap), indirect draws with a first
//! instance or past their buffers. A buffer or a surface that is overwritten from end to end is known again.
//!
//! What it cannot catch: anything in a resource that is not foretold, and a wrong result that leaves every byte right.

mod format;
mod memory;
mod passes;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use wire::{Cmd, Kind, Op, Read};

use self::format::Format;
use self::memory::{Memory, Region, Span};
use self::passes::Player;
use crate::case::Object;

/// Stands in [`Shadow::not_foretold`] for the read window: no object has this id.
pub const WINDOW: u32 = 0;

/// Bytes of a texel of the format that WebGPU calls `format`; none where texels do not stand alone.
pub fn texel_bytes(format: &str) -> Option<usize> {
    Format::named(format).map(|format| format.texel)
}

/// What memory holds after a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shadow {
    /// The buffers that are foretold, by the replayer's id.
    pub buffers: BTreeMap<u32, Vec<u8>>,
    /// The textures that are foretold: mip by mip, layer by layer, rows tightly packed.
    pub textures: BTreeMap<u32, Vec<u8>>,
    /// The read window after all reads, zero where none went. Means nothing when [`WINDOW`] is not foretold.
    pub window: Vec<u8>,
    /// The ids of all other buffers and textures of the table, and [`WINDOW`] where a read took bytes that are not foretold.
    pub not_foretold: BTreeSet<u32>,
}

/// Says what a replay leaves behind.
///
/// `words` and `data` are a stream that Decode accepts, in the replayer's ids; `reads` are its reads in order, and `window` the
/// bytes of the read window. It is assumed that the replay raised no error. Nothing here panics when that does not
/// hold, or takes long: a stream that would is not foretold.
pub fn foretell(objects: &[Object], words: &[u32], data: &[u8], reads: &[Read], window: u32) -> Shadow {
    let (table, memory) = table::read(objects);
    let mut player = Player::new(&table, memory);
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    match wire::decode(words, length) {
        Ok(commands) => play(&mut player, &commands, data),
        Err(_) => player.memory.lost = true,
    }
    report(player.memory, objects, reads, window)
}

/// Writes go to the queue at once; all else waits for its Submit (wire.md section 4, rules 2 to 5).
fn play<'a>(player: &mut Player<'a>, commands: &[Cmd<'a>], data: &[u8]) {
    let mut recorded = Vec::new();
    for &command in commands {
        match command.op {
            Op::WriteBuffer => write_buffer(&mut player.memory, command, data),
            Op::WriteTexture => write_texture(&mut player.memory, command, data),
            Op::ReadBuffer => {}
            Op::Submit => recorded.drain(..).for_each(|command| player.execute(command)),
            _ => recorded.push(command),
        }
    }
}

fn write_buffer(memory: &mut Memory, command: Cmd<'_>, data: &[u8]) {
    let &[id, _, _, start, length] = command.args else {
        return;
    };
    match memory::range(start.into(), length.into()).and_then(|range| data.get(range)) {
        Some(bytes) => memory.write_buffer(id, command.u64_at(1), bytes),
        None => memory.forget(id),
    }
}

fn write_texture(memory: &mut Memory, command: Cmd<'_>, data: &[u8]) {
    let &[
        texture,
        mip,
        x,
        y,
        z,
        _,
        start,
        length,
        _,
        _,
        row,
        rows,
        width,
        height,
        depth,
    ] = command.args
    else {
        return;
    };
    let region = Region {
        texture,
        mip,
        origin: [x, y, z],
        extent: [width, height, depth],
    };
    let given = |stride: u32| (stride != u32::MAX).then_some(stride);
    match memory::range(start.into(), length.into()).and_then(|range| data.get(range)) {
        Some(bytes) => memory.write_texture(region, bytes, command.u64_at(8), given(row), given(rows)),
        None => memory.forget(texture),
    }
}

fn report(mut memory: Memory, objects: &[Object], reads: &[Read], window: u32) -> Shadow {
    let mut shadow = Shadow {
        window: vec![0; window as usize],
        ..Shadow::default()
    };
    for read in reads {
        if perform(&mut memory, read, &mut shadow.window).is_none() {
            shadow.not_foretold.insert(WINDOW);
        }
    }
    for object in objects {
        let known = match object.kind {
            Kind::Buffer => keep(&mut shadow.buffers, object.id, buffer(&mut memory, object.id)),
            Kind::Texture => keep(&mut shadow.textures, object.id, texture(&mut memory, object.id)),
            _ => true,
        };
        if !known {
            shadow.not_foretold.insert(object.id);
        }
    }
    shadow
}

fn perform(memory: &mut Memory, read: &Read, window: &mut [u8]) -> Option<()> {
    let size = u64::from(read.size);
    memory.spend(size)?;
    let bytes = memory.read(Span {
        id: read.id,
        offset: read.offset,
        size,
    })?;
    let to = window.get_mut(memory::range(read.window_offset.into(), size)?)?;
    to.copy_from_slice(bytes);
    (!memory.lost).then_some(())
}

fn buffer(memory: &mut Memory, id: u32) -> Option<Vec<u8>> {
    let lost = memory.lost;
    memory
        .buffers
        .remove(&id)
        .filter(|buffer| buffer.known && !lost)
        .map(|buffer| buffer.bytes)
}

fn texture(memory: &mut Memory, id: u32) -> Option<Vec<u8>> {
    let lost = memory.lost;
    memory
        .textures
        .remove(&id)
        .filter(|texture| texture.is_known() && !lost)
        .map(|texture| texture.bytes)
}

fn keep(kept: &mut BTreeMap<u32, Vec<u8>>, id: u32, bytes: Option<Vec<u8>>) -> bool {
    bytes.map(|bytes| kept.insert(id, bytes)).is_some()
}
