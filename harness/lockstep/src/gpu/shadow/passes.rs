//! Recorded commands, as they take effect when they are submitted.

use std::collections::BTreeMap;

use wire::{Cmd, Op};

use super::memory::{Memory, Place, Rect, Region, Span, load};
use super::table::{Drawing, Paint, Table};
use crate::gpu::kernels::Kernel;

/// The most workgroups in one dimension. An indirect dispatch with more runs nothing.
const MAX_WORKGROUPS: u32 = 65535;

/// Executes commands on a memory.
pub(super) struct Player<'a> {
    table: &'a Table<'a>,
    pub memory: Memory,
    state: State<'a>,
    pass: Pass,
}

/// What a pass or a bundle has set. Both start with nothing set, and executing bundles resets a pass to that.
#[derive(Default)]
struct State<'a> {
    pipeline: u32,
    groups: BTreeMap<u32, Bound<'a>>,
    vertex: BTreeMap<u32, Span>,
    index: Option<Index>,
}

#[derive(Clone, Copy)]
struct Bound<'a> {
    group: u32,
    offsets: &'a [u32],
}

#[derive(Clone, Copy)]
struct Index {
    bytes: usize,
    span: Span,
}

/// A render pass. A compute pass is one without attachments.
#[derive(Default)]
struct Pass {
    /// The attachments, `None` for a hole.
    colors: Vec<Option<Color>>,
    resolved: Vec<Place>,
    width: u32,
    height: u32,
    viewport: Option<[f32; 4]>,
    scissor: Option<[u32; 4]>,
}

#[derive(Clone, Copy)]
struct Color {
    at: Place,
    /// The surface is one that the kernels paint, seen as it is.
    paintable: bool,
    discard: bool,
}

/// A draw of any kind.
#[derive(Clone, Copy)]
struct Call {
    count: u32,
    instances: u32,
    first: u32,
    /// baseVertex of an indexed draw.
    base: Option<i32>,
    first_instance: u32,
    indirect: bool,
}

/// The ids of a bundle's words are positions in its references; those of a stream's are the replayer's.
type Names<'a> = Option<&'a [u32]>;

impl<'a> Player<'a> {
    pub fn new(table: &'a Table<'a>, memory: Memory) -> Self {
        Self {
            table,
            memory,
            state: State::default(),
            pass: Pass::default(),
        }
    }

    /// Executes one command that was recorded.
    pub fn execute(&mut self, command: Cmd<'a>) {
        if self.memory.lost {
            return;
        }
        match (command.op, command.args) {
            (Op::CopyBufferToBuffer, &[src, _, _, dst, ..]) => {
                self.memory
                    .copy_buffer(src, command.u64_at(1), dst, command.u64_at(4), command.u64_at(6));
            }
            (Op::CopyTextureToTexture, args) => self.copy_texture(args),
            (Op::BeginComputePass, _) => (self.state, self.pass) = Default::default(),
            (Op::BeginRenderPass, args) => self.begin(args),
            (Op::EndPass, _) => self.end(),
            (Op::SetViewport, _) => self.pass.viewport = Some([0, 1, 2, 3].map(|i| command.f32_at(i))),
            (Op::SetScissorRect, &[x, y, w, h]) => self.pass.scissor = Some([x, y, w, h]),
            (Op::ExecuteBundles, args) => self.bundles(args),
            (Op::Dispatch, &[x, y, z]) => self.dispatch(Some([x, y, z]), false),
            (Op::DispatchIndirect, &[id, ..]) => {
                self.dispatch(self.memory.words(id, command.u64_at(1)), true);
            }
            _ => self.set_or_draw(command, None),
        }
    }

    fn copy_texture(&mut self, args: &[u32]) {
        let &[src, src_mip, sx, sy, sz, _, dst, dst_mip, dx, dy, dz, _, w, h, d] = args else {
            return;
        };
        let extent = [w, h, d];
        let from = Region {
            texture: src,
            mip: src_mip,
            origin: [sx, sy, sz],
            extent,
        };
        self.memory.copy_texture(
            from,
            Region {
                texture: dst,
                mip: dst_mip,
                origin: [dx, dy, dz],
                extent,
            },
        );
    }

    /// The commands that may stand in a bundle too.
    fn set_or_draw(&mut self, command: Cmd<'a>, names: Names<'a>) {
        let state = &mut self.state;
        match (command.op, command.args) {
            (Op::SetPipeline, &[id]) => state.pipeline = name(id, names),
            (Op::SetBindGroup, [index, group, _, offsets @ ..]) => {
                let bound = Bound {
                    group: name(*group, names),
                    offsets,
                };
                set(&mut state.groups, *index, (*group != 0).then_some(bound));
            }
            (Op::SetVertexBuffer, &[slot, id, ..]) => {
                let span = self.memory.span(name(id, names), command.u64_at(2), command.u64_at(4));
                set(&mut state.vertex, slot, span.filter(|_| id != 0));
            }
            (Op::SetIndexBuffer, &[id, format, ..]) => {
                let span = self.memory.span(name(id, names), command.u64_at(2), command.u64_at(4));
                state.index = span.map(|span| Index {
                    bytes: if format == 1 { 2 } else { 4 },
                    span,
                });
            }
            (Op::Draw, &[count, instances, first, first_instance]) => {
                self.draw(Some(Call {
                    count,
                    instances,
                    first,
                    base: None,
                    first_instance,
                    indirect: false,
                }));
            }
            (Op::DrawIndexed, &[count, instances, first, _, first_instance]) => {
                let base = Some(command.i32_at(3));
                self.draw(Some(Call {
                    count,
                    instances,
                    first,
                    base,
                    first_instance,
                    indirect: false,
                }));
            }
            (Op::DrawIndirect, &[id, ..]) => {
                let words = self.memory.words(name(id, names), command.u64_at(1));
                self.draw(words.map(|[count, instances, first, first_instance]| Call {
                    count,
                    instances,
                    first,
                    base: None,
                    first_instance,
                    indirect: true,
                }));
            }
            (Op::DrawIndexedIndirect, &[id, ..]) => {
                let words = self.memory.words(name(id, names), command.u64_at(1));
                self.draw(words.map(|[count, instances, first, base, first_instance]| {
                    let base = Some(base.cast_signed());
                    Call {
                        count,
                        instances,
                        first,
                        base,
                        first_instance,
                        indirect: true,
                    }
                }));
            }
            _ => {}
        }
    }

    /// Bundles start with nothing set, and so does the pass after them; viewport and scissor are the pass's all along.
    fn bundles(&mut self, args: &[u32]) {
        for id in args.iter().skip(1) {
            self.state = State::default();
            if self.bundle(*id).is_none() {
                self.forget_reachable();
            }
        }
        self.state = State::default();
    }

    fn bundle(&mut self, id: u32) -> Option<()> {
        let bundle = self.table.bundles.get(&id)?;
        // One list may name a long bundle many times.
        self.memory.spend(128 * bundle.words.len() as u64)?;
        let commands = wire::bundle_commands(&bundle.words).flatten();
        commands.for_each(|command| self.set_or_draw(command, Some(bundle.refs)));
        Some(())
    }

    fn begin(&mut self, args: &[u32]) {
        (self.state, self.pass) = Default::default();
        let Some((&count, rest)) = args.split_first() else {
            return;
        };
        for color in rest.chunks_exact(8).take(count as usize) {
            let color = self.begin_color(color);
            self.pass.colors.push(color);
        }
    }

    fn begin_color(&mut self, words: &[u32]) -> Option<Color> {
        let &[id, resolve, load_op, store_op, ref clear @ ..] = words else {
            return None;
        };
        let view = self.table.views.get(&id)?;
        self.pass
            .resolved
            .extend(self.table.views.get(&resolve).map(|view| view.at));
        let surface = self.memory.surface(view.at).filter(|_| view.plain);
        let Some((width, height, format)) = surface else {
            self.memory.forget(view.at.texture);
            return Some(Color {
                at: view.at,
                paintable: false,
                discard: false,
            });
        };
        (self.pass.width, self.pass.height) = (width, height);
        if load_op == 2 {
            let &[r, g, b, a] = clear else { return None };
            self.memory
                .clear(view.at, format.clear_texel([r, g, b, a].map(f32::from_bits)));
        }
        Some(Color {
            at: view.at,
            paintable: format.is_r32uint(),
            discard: store_op == 2,
        })
    }

    /// A discarded attachment reads as zero from here on.
    fn end(&mut self) {
        let pass = std::mem::take(&mut self.pass);
        pass.colors
            .iter()
            .flatten()
            .filter(|color| color.discard)
            .for_each(|color| self.memory.clear(color.at, Some(0)));
        pass.resolved.iter().for_each(|at| self.memory.forget(at.texture));
        self.state = State::default();
    }

    /// Forgets all that a shader of which nothing is known could write here.
    fn forget_reachable(&mut self) {
        // Many draws may each reach many bindings.
        let reach = self.state.groups.len() + self.pass.colors.len();
        let _ = self.memory.spend(256 * reach as u64);
        for color in self.pass.colors.iter().flatten() {
            self.memory.forget_surface(color.at);
        }
        for bound in self.state.groups.values() {
            forget_group(&mut self.memory, self.table, bound.group);
        }
    }

    /// The part of a buffer that stands at a binding of group 0.
    fn bound(&self, binding: u32) -> Option<Span> {
        let bound = self.state.groups.get(&0)?;
        let group = self.table.groups.get(&bound.group)?;
        let layout = self.table.layouts.get(&group.layout)?;
        let entry = group.entries.iter().find(|entry| entry.binding == binding)?;
        let dynamic = match layout.dynamic.iter().position(|&dynamic| dynamic == binding) {
            Some(place) => *bound.offsets.get(place)?,
            None => 0,
        };
        let whole = self.memory.span(entry.resource, entry.offset, 0)?;
        let size = entry.size.unwrap_or(whole.size);
        Some(Span {
            id: entry.resource,
            offset: entry.offset.checked_add(dynamic.into())?,
            size,
        })
    }

    /// What stands at a binding of group 0.
    fn resource(&self, binding: u32) -> Option<u32> {
        let group = self.table.groups.get(&self.state.groups.get(&0)?.group)?;
        group
            .entries
            .iter()
            .find(|entry| entry.binding == binding)
            .map(|entry| entry.resource)
    }

    fn dispatch(&mut self, counts: Option<[u32; 3]>, indirect: bool) {
        match counts {
            Some(counts) if counts.contains(&0) => return,
            Some(counts) if indirect && counts.iter().any(|&count| count > MAX_WORKGROUPS) => {
                return;
            }
            _ => {}
        }
        let kernel = self.table.compute.get(&self.state.pipeline).copied();
        let counts = counts.filter(|counts| counts.iter().all(|&count| count <= MAX_WORKGROUPS));
        if kernel
            .zip(counts)
            .and_then(|(kernel, counts)| self.compute(kernel, counts))
            .is_some()
        {
            return;
        }
        let written = match kernel {
            Some(Kernel::Count | Kernel::Step | Kernel::Store) => self.resource(0),
            Some(Kernel::Xor) => self.resource(1),
            _ => None,
        };
        match written {
            Some(id) => forget_resource(&mut self.memory, self.table, id),
            None => self.forget_reachable(),
        }
    }

    /// Runs a compute kernel. What it reads and cannot be known makes `None`; where it only adds to what it writes, unknown
    /// stays unknown by itself.
    fn compute(&mut self, kernel: Kernel, counts: [u32; 3]) -> Option<()> {
        match kernel {
            Kernel::Count => self.count(counts),
            Kernel::Step => self.step(counts),
            Kernel::Xor => self.xor(counts),
            Kernel::Store => self.store(counts),
            Kernel::Instance | Kernel::Uniform => None,
        }
    }

    /// Invocation x adds 1 at `x % length`, once for each y and z. Counted, not run: there may be 2^48 of them.
    fn count(&mut self, [x, y, z]: [u32; 3]) -> Option<()> {
        let span = self.bound(0)?;
        let length = u32::try_from(span.size / 4).ok().filter(|&length| length > 0)?;
        self.memory.spend(u64::from(length.min(x)) * 4)?;
        let (rounds, rest) = (x / length, x % length);
        self.memory.change(span, |dst, _| {
            for (i, word) in (0..length.min(x)).zip(dst.chunks_exact_mut(4)) {
                let times = rounds + u32::from(i < rest);
                store(word, load(word).wrapping_add(times.wrapping_mul(y).wrapping_mul(z)));
            }
            Some(())
        })
    }

    fn step(&mut self, [x, _, _]: [u32; 3]) -> Option<()> {
        let (span, uniform) = (self.bound(0)?, self.bound(1)?);
        let [add] = self.memory.words(uniform.id, uniform.offset)?;
        let invocations = 4 * u64::from(x);
        self.memory.spend((4 * invocations).min(span.size))?;
        self.memory.change(span, |dst, _| {
            for word in dst.chunks_exact_mut(4).take(invocations as usize) {
                store(word, load(word).wrapping_mul(1_664_525).wrapping_add(add));
            }
            Some(())
        })
    }

    fn xor(&mut self, [x, _, _]: [u32; 3]) -> Option<()> {
        let (from, to) = (self.bound(0)?, self.bound(1)?);
        let invocations = 4 * u64::from(x);
        self.memory.spend((4 * invocations).min(to.size))?;
        self.memory.change(to, |dst, memory| {
            let src = memory.read(from)?.chunks_exact(4);
            for (i, (word, src)) in dst.chunks_exact_mut(4).zip(src).take(invocations as usize).enumerate() {
                store(word, load(src) ^ i as u32);
            }
            Some(())
        })
    }

    fn store(&mut self, [x, y, _]: [u32; 3]) -> Option<()> {
        let view = self.table.views.get(&self.resource(0)?).filter(|view| view.plain)?;
        let (width, height, format) = self.memory.surface(view.at)?;
        let (right, bottom) = (x.min(width), y.min(height));
        self.memory.spend(u64::from(right) * u64::from(bottom) * 4)?;
        format.is_r32uint().then_some(())?;
        self.memory.paint(
            view.at,
            Rect {
                left: 0,
                top: 0,
                right,
                bottom,
            },
            |x, y| x.wrapping_mul(3).wrapping_add(y.wrapping_mul(5)).wrapping_add(7),
        )
    }

    /// `None`: a draw of which not all numbers are known.
    fn draw(&mut self, call: Option<Call>) {
        let Some(drawing) = self.table.render.get(&self.state.pipeline) else {
            return self.forget_reachable();
        };
        let Some(Some(first)) = self.pass.colors.first().copied() else {
            return;
        };
        let area = self.pass.area();
        if matches!(drawing.paint, Paint::Nothing) || area.is_some_and(Rect::is_empty) {
            return;
        }
        match (area, call.and_then(|call| self.color(drawing, call))) {
            (_, Some(None)) => {}
            (Some(area), Some(Some(color))) if first.paintable => self.memory.fill(first.at, area, Some(color.into())),
            _ => self.memory.forget_surface(first.at),
        }
    }

    /// The color that a draw fills its area with: `Some(None)` where it leaves the area alone. Each instance fills all of it, so
    /// the last one's color stays.
    fn color(&mut self, drawing: &Drawing, call: Call) -> Option<Option<u32>> {
        if call.indirect && (call.first_instance != 0 || !drawing.alone) {
            return None;
        }
        if call.instances == 0 || !self.covers(drawing, call)? {
            return Some(None);
        }
        let span = match drawing.paint {
            Paint::Nothing => return Some(None),
            Paint::Uniform => self.bound(0)?,
            Paint::Instance { slot, stride, offset } => {
                let last = u64::from(call.first_instance) + u64::from(call.instances - 1);
                self.state
                    .vertex
                    .get(&slot)?
                    .part(last.checked_mul(stride)?.checked_add(offset)?, 4)?
            }
        };
        self.memory.read(span.part(0, 4)?).map(load).map(Some)
    }

    /// Whether any triangle of an instance covers the area. The corners of a triangle are its vertex indices modulo 3.
    fn covers(&mut self, drawing: &Drawing, call: Call) -> Option<bool> {
        let Some(base) = call.base else {
            // Three indices in a row are all three corners, counter-clockwise.
            let wraps = u64::from(call.first) + u64::from(call.count) > 1 << 32;
            return (!wraps).then_some(call.count >= 3 && drawing.culled != Some(true));
        };
        let Index { bytes: size, span } = self.state.index?;
        let length = u64::from(call.count) * size as u64;
        self.memory.spend(length)?;
        let indices = self
            .memory
            .read(span.part(u64::from(call.first) * size as u64, length)?)?;
        let mut unsure = false;
        for triangle in indices.chunks_exact(3 * size) {
            match winding(triangle, size, base) {
                Some(Some(winding)) if drawing.culled != Some(winding) => return Some(true),
                Some(_) => {}
                None => unsure = true,
            }
        }
        (!unsure).then_some(false)
    }
}

impl Pass {
    /// The texels that a draw may reach, through viewport, scissor and attachment; `None` where the viewport ends within one
    /// of them.
    fn area(&self) -> Option<Rect> {
        let (width, height) = (self.width as f32, self.height as f32);
        let [x, y, w, h] = self.viewport.unwrap_or([0.0, 0.0, width, height]).map(f64::from);
        let inner = self.clip([x.ceil(), y.ceil(), (x + w).floor(), (y + h).floor()]);
        let outer = self.clip([x.floor(), y.floor(), (x + w).ceil(), (y + h).ceil()]);
        (inner == outer).then_some(inner)
    }

    fn clip(&self, [left, top, right, bottom]: [f64; 4]) -> Rect {
        let [x, y, w, h] = self.scissor.unwrap_or([0, 0, self.width, self.height]);
        // `as` saturates, at 0 too.
        let rect = Rect {
            left: x.max(left as u32),
            top: y.max(top as u32),
            right: x.saturating_add(w).min(self.width).min(right as u32),
            bottom: y.saturating_add(h).min(self.height).min(bottom as u32),
        };
        if rect.is_empty() { Rect::default() } else { rect }
    }
}

/// How the corners of a triangle run: `Some(Some(true))` counter-clockwise, `Some(None)` not all three corners, `None` where
/// an index leaves 32 bits, of which WebGPU does not say what becomes.
fn winding(indices: &[u8], size: usize, base: i32) -> Option<Option<bool>> {
    let mut corners = [0; 3];
    for (corner, index) in corners.iter_mut().zip(indices.chunks_exact(size)) {
        let index = index.iter().rev().fold(0, |index, &byte| index << 8 | i64::from(byte));
        *corner = u32::try_from(index + i64::from(base)).ok()? % 3;
    }
    Some(match corners {
        [0, 1, 2] | [1, 2, 0] | [2, 0, 1] => Some(true),
        [0, 2, 1] | [2, 1, 0] | [1, 0, 2] => Some(false),
        _ => None,
    })
}

fn name(id: u32, names: Names<'_>) -> u32 {
    match names {
        None => id,
        Some(names) => id
            .checked_sub(1)
            .and_then(|place| names.get(place as usize))
            .copied()
            .unwrap_or(0),
    }
}

fn set<T>(places: &mut BTreeMap<u32, T>, place: u32, thing: Option<T>) {
    match thing {
        Some(thing) => drop(places.insert(place, thing)),
        None => drop(places.remove(&place)),
    }
}

fn forget_group(memory: &mut Memory, table: &Table<'_>, id: u32) {
    let group = table.groups.get(&id);
    let Some((group, layout)) = group.and_then(|group| Some((group, table.layouts.get(&group.layout)?))) else {
        // A group that was not understood may hold anything.
        memory.lost = true;
        return;
    };
    for entry in &group.entries {
        let _ = memory.spend(64);
        if layout.writable.contains(&entry.binding) {
            forget_resource(memory, table, entry.resource);
        }
    }
}

/// Forgets a buffer, or the texture of a view.
fn forget_resource(memory: &mut Memory, table: &Table<'_>, id: u32) {
    memory.forget(table.views.get(&id).map_or(id, |view| view.at.texture));
}

fn store(bytes: &mut [u8], word: u32) {
    bytes.copy_from_slice(&word.to_le_bytes());
}
