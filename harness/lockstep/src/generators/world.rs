//! Object tables whose objects fit each other: buffers and textures with the usages that their part asks for, the known kernels
//! with pipelines and bind groups, render targets, a bundle. Others stand beside them that no proper stream uses, so that there is every
//! kind of object and of reference.

use arbitrary::{Result, Unstructured};
use wire::{Kind, Op};

use super::{below, once_in};
use crate::case::Object;
use crate::gpu::kernels::Kernel;

/// WebGPU's `GPUBufferUsage`.
pub mod buffer_usage {
    /// `MAP_READ`
    pub const MAP_READ: u32 = 0x1;
    /// `COPY_SRC`
    pub const COPY_SRC: u32 = 0x4;
    /// `COPY_DST`
    pub const COPY_DST: u32 = 0x8;
    /// `INDEX`
    pub const INDEX: u32 = 0x10;
    /// `VERTEX`
    pub const VERTEX: u32 = 0x20;
    /// `UNIFORM`
    pub const UNIFORM: u32 = 0x40;
    /// `STORAGE`
    pub const STORAGE: u32 = 0x80;
    /// `INDIRECT`
    pub const INDIRECT: u32 = 0x100;
}

/// WebGPU's `GPUTextureUsage`.
mod texture_usage {
    pub const COPIES: u32 = 0x3;
    pub const TEXTURE_BINDING: u32 = 0x4;
    pub const STORAGE_BINDING: u32 = 0x8;
    pub const RENDER_ATTACHMENT: u32 = 0x10;
}

/// Bytes between two dynamic offsets: WebGPU's default `minUniformBufferOffsetAlignment`.
pub const DYNAMIC_STEP: u32 = 256;
/// Offsets that the uniform buffer has room for.
pub const DYNAMIC_OFFSETS: u32 = 2;

/// Vertices that a direct draw of a proper stream reads at most: 7 from the fourth on.
pub const VERTICES: u32 = 11;

/// A buffer of the table.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Its id.
    pub id: u32,
    /// Bytes, a multiple of 4.
    pub size: u32,
    /// WebGPU's bits.
    pub usage: u32,
}

/// A texture of the table, of format r32uint and one mip level.
#[derive(Clone, Copy, Debug)]
pub struct Texture {
    /// Its id.
    pub id: u32,
    /// Texels.
    pub width: u32,
    /// Texels.
    pub height: u32,
}

/// A compute kernel, ready to dispatch.
#[derive(Clone, Copy, Debug)]
pub struct Compute {
    /// The pipeline's id.
    pub pipeline: u32,
    /// The bind group's id.
    pub group: u32,
    /// Whether the group takes a dynamic offset.
    pub dynamic: bool,
}

/// A render kernel, ready to draw.
#[derive(Clone, Copy, Debug)]
pub struct Render {
    /// The pipeline's id.
    pub pipeline: u32,
    /// The bind group's id, which takes one dynamic offset.
    pub group: Option<u32>,
    /// The vertex buffer of one u32 an instance.
    pub vertex: Option<Buffer>,
    /// The vertex buffer of one u32 a vertex, in slot 1, which no shader looks at.
    pub corners: Option<Buffer>,
    /// A bundle that draws with it.
    pub bundle: u32,
}

/// The depth target.
#[derive(Clone, Copy, Debug)]
pub struct Depth {
    /// Its view.
    pub view: u32,
    /// Whether it has stencil too.
    pub stencil: bool,
}

impl Depth {
    fn format(self) -> &'static str {
        if self.stencil {
            "depth24plus-stencil8"
        } else {
            "depth32float"
        }
    }
}

/// What a table holds, by the replayer's ids.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// The table.
    pub objects: Vec<Object>,
    /// Its buffers.
    pub buffers: Vec<Buffer>,
    /// Textures that copies may use.
    pub textures: Vec<Texture>,
    /// Compute kernels.
    pub computes: Vec<Compute>,
    /// Render kernels. All of a world's draw into the same kind of pass.
    pub renders: Vec<Render>,
    /// The color target: its size and the id of its view.
    pub target: Option<(Texture, u32)>,
    /// The depth target.
    pub depth: Option<Depth>,
    /// The buffer of indirect arguments.
    pub indirect: Option<Buffer>,
    /// The index buffer.
    pub index: Option<Buffer>,
    next: u32,
}

impl World {
    /// Buffers that have all bits of `usage`.
    pub fn buffers_for(&self, usage: u32) -> impl Iterator<Item = Buffer> + Clone + '_ {
        self.buffers
            .iter()
            .copied()
            .filter(move |buffer| buffer.usage & usage == usage)
    }

    /// The ids of a kind.
    pub fn ids(&self, kinds: &[Kind]) -> Vec<u32> {
        self.objects
            .iter()
            .filter(|object| kinds.contains(&object.kind))
            .map(|object| object.id)
            .collect()
    }

    pub(super) fn add(&mut self, kind: Kind, refs: &[u32], body: impl Into<String>) -> u32 {
        // Holes: an id that names nothing stands between ids that name something.
        self.next += if self.objects.len() % 5 == 4 { 2 } else { 1 };
        self.objects.push(Object {
            id: self.next,
            kind,
            refs: refs.to_vec(),
            body: body.into(),
        });
        self.next
    }

    pub(super) fn buffer(&mut self, size: u32, usage: u32) -> Buffer {
        let id = self.add(Kind::Buffer, &[], format!(r#"{{"size":{size},"usage":{usage}}}"#));
        let buffer = Buffer { id, size, usage };
        self.buffers.push(buffer);
        buffer
    }

    fn texture(&mut self, format: &str, width: u32, height: u32, usage: u32) -> Texture {
        let body = format!(r#"{{"size":[{width},{height},1],"format":"{format}","usage":{usage}}}"#);
        Texture {
            id: self.add(Kind::Texture, &[], body),
            width,
            height,
        }
    }

    fn view(&mut self, texture: Texture) -> u32 {
        self.add(Kind::TextureView, &[texture.id], "{}")
    }

    fn module(&mut self, kernel: Kernel) -> u32 {
        self.add(Kind::ShaderModule, &[], kernel.module_body())
    }
}

/// A world. Every one has buffers to copy; most compute, most render.
pub fn world(u: &mut Unstructured<'_>) -> Result<World> {
    use buffer_usage::{COPY_DST, COPY_SRC, INDEX, INDIRECT, MAP_READ, STORAGE, UNIFORM};
    const COPIES: u32 = COPY_SRC | COPY_DST;
    let mut world = World {
        next: below(u, 4)?,
        ..World::default()
    };
    let storage = world.buffer(16 + 4 * below(u, 60)?, STORAGE | COPIES);
    let other = world.buffer(16 + 4 * below(u, 60)?, STORAGE | COPIES);
    world.buffer(8 + 8 * below(u, 16)?, MAP_READ | COPY_DST);
    let uniform = world.buffer(DYNAMIC_STEP * DYNAMIC_OFFSETS + 4 * below(u, 4)?, UNIFORM | COPIES);
    world.indirect = Some(world.buffer(12 + 4 * below(u, 12)?, INDIRECT | COPIES));
    if !once_in(u, 4)? {
        let kernel = *u.choose(&[Kernel::Count, Kernel::Step, Kernel::Xor, Kernel::Store])?;
        compute(&mut world, kernel, [storage, other, uniform]);
    }
    if !once_in(u, 3)? {
        world.index = Some(world.buffer(12 + 4 * below(u, 12)?, INDEX | COPIES));
        render_targets(&mut world, u)?;
        let kernel = *u.choose(&[Kernel::Instance, Kernel::Uniform])?;
        render(&mut world, u, kernel, uniform)?;
    }
    bystanders(&mut world, u, uniform)?;
    Ok(world)
}

fn compute(world: &mut World, kernel: Kernel, [storage, other, uniform]: [Buffer; 3]) {
    let (layout, group) = match kernel {
        Kernel::Step => (
            r#"{"entries":[{"binding":0,"visibility":4,"buffer":{"type":"storage"}},{"binding":1,"visibility":4,"buffer":{"type":"uniform","hasDynamicOffset":true}}]}"#,
            r#"{"entries":[{"binding":0,"offset":0},{"binding":1,"offset":0,"size":4}]}"#,
        ),
        Kernel::Xor => (
            r#"{"entries":[{"binding":0,"visibility":4,"buffer":{"type":"read-only-storage"}},{"binding":1,"visibility":4,"buffer":{"type":"storage"}}]}"#,
            r#"{"entries":[{"binding":0,"offset":0},{"binding":1,"offset":0}]}"#,
        ),
        Kernel::Store => (
            r#"{"entries":[{"binding":0,"visibility":4,"storageTexture":{"access":"write-only","format":"r32uint"}}]}"#,
            r#"{"entries":[{"binding":0}]}"#,
        ),
        _ => (
            r#"{"entries":[{"binding":0,"visibility":4,"buffer":{"type":"storage"}}]}"#,
            r#"{"entries":[{"binding":0,"offset":0,"size":16}]}"#,
        ),
    };
    let layout = world.add(Kind::BindGroupLayout, &[], layout);
    let bound = match kernel {
        Kernel::Step => vec![storage.id, uniform.id],
        Kernel::Xor => vec![other.id, storage.id],
        Kernel::Store => {
            let usage = texture_usage::STORAGE_BINDING | texture_usage::COPIES;
            let texture = world.texture("r32uint", 8, 4, usage);
            world.textures.push(texture);
            vec![world.view(texture)]
        }
        _ => vec![storage.id],
    };
    let refs: Vec<u32> = std::iter::once(layout).chain(bound).collect();
    let group = world.add(Kind::BindGroup, &refs, group);
    let module = world.module(kernel);
    let pipeline_layout = world.add(Kind::PipelineLayout, &[layout], "{}");
    let pipeline = world.add(
        Kind::ComputePipeline,
        &[pipeline_layout, module],
        r#"{"compute":{"entryPoint":"main"}}"#,
    );
    world.computes.push(Compute {
        pipeline,
        group,
        dynamic: kernel == Kernel::Step,
    });
}

fn render_targets(world: &mut World, u: &mut Unstructured<'_>) -> Result<()> {
    use texture_usage::{COPIES, RENDER_ATTACHMENT, TEXTURE_BINDING};
    let (width, height) = (4 + below(u, 13)?, 4 + below(u, 13)?);
    let target = world.texture("r32uint", width, height, RENDER_ATTACHMENT | COPIES | TEXTURE_BINDING);
    let view = world.view(target);
    world.target = Some((target, view));
    world.textures.push(target);
    let other = world.texture("r32uint", 4 + below(u, 5)?, 4 + below(u, 5)?, COPIES);
    world.textures.push(other);
    if once_in(u, 3)? {
        let mut depth = Depth {
            view: 0,
            stencil: once_in(u, 2)?,
        };
        let texture = world.texture(depth.format(), width, height, RENDER_ATTACHMENT);
        depth.view = world.view(texture);
        world.depth = Some(depth);
    }
    Ok(())
}

fn render(world: &mut World, u: &mut Unstructured<'_>, kernel: Kernel, uniform: Buffer) -> Result<()> {
    use buffer_usage::{COPY_DST, COPY_SRC, VERTEX};
    let instance = kernel == Kernel::Instance;
    let layouts = if instance {
        vec![]
    } else {
        let entry = r#"{"entries":[{"binding":0,"visibility":2,"buffer":{"type":"uniform","hasDynamicOffset":true}}]}"#;
        vec![world.add(Kind::BindGroupLayout, &[], entry)]
    };
    let group = layouts.first().map(|&layout| {
        let entries = r#"{"entries":[{"binding":0,"offset":0,"size":4}]}"#;
        world.add(Kind::BindGroup, &[layout, uniform.id], entries)
    });
    let vertex = match instance {
        true => Some(world.buffer(4 + 4 * below(u, 12)?, VERTEX | COPY_SRC | COPY_DST)),
        false => None,
    };
    let corners = match instance && once_in(u, 2)? {
        true => Some(world.buffer(4 * VERTICES + 4 * below(u, 8)?, VERTEX | COPY_SRC | COPY_DST)),
        false => None,
    };
    let module = world.module(kernel);
    let pipeline_layout = world.add(Kind::PipelineLayout, &layouts, "{}");
    let pipeline = world.add(
        Kind::RenderPipeline,
        &[pipeline_layout, module, module],
        pipeline_body(instance, corners.is_some(), world.depth),
    );
    let bundle = bundle(world, u, pipeline, group, [vertex, corners])?;
    world.renders.push(Render {
        pipeline,
        group,
        vertex,
        corners,
        bundle,
    });
    Ok(())
}

fn pipeline_body(instance: bool, corners: bool, depth: Option<Depth>) -> String {
    let buffers = match (instance, corners) {
        (false, _) => String::new(),
        (true, false) => vertex_buffer("instance", [4, 4], 0),
        (true, true) => format!(
            "{},{}",
            vertex_buffer("instance", [4, 4], 0),
            vertex_buffer("vertex", [4, 4], 1)
        ),
    };
    pipeline_of(&buffers, depth)
}

/// A vertex buffer of one u32 an element: its stride, where the attribute ends and its location.
fn vertex_buffer(step_mode: &str, [stride, end]: [u32; 2], location: u32) -> String {
    let offset = end - 4;
    format!(
        r#"{{"arrayStride":{stride},"stepMode":"{step_mode}","attributes":[{{"format":"uint32","offset":{offset},"shaderLocation":{location}}}]}}"#
    )
}

fn pipeline_of(buffers: &str, depth: Option<Depth>) -> String {
    let state = |depth: Depth| {
        let format = depth.format();
        format!(r#","depthStencil":{{"format":"{format}","depthWriteEnabled":false,"depthCompare":"always"}}"#)
    };
    let depth = depth.map(state).unwrap_or_default();
    format!(
        r#"{{"vertex":{{"entryPoint":"vs","buffers":[{buffers}]}},"primitive":{{"topology":"triangle-list"}}{depth},"fragment":{{"entryPoint":"fs","targets":[{{"format":"r32uint"}}]}}}}"#
    )
}

/// A render pipeline into the world's targets with two vertex buffers: of each the bytes between two elements and of the last one. The
/// first goes by instances, the second, which no shader looks at, by vertices.
pub(super) fn instance_pipeline(world: &mut World, [instances, vertices]: [[u32; 2]; 2]) -> u32 {
    let module = world.module(Kernel::Instance);
    let layout = world.add(Kind::PipelineLayout, &[], "{}");
    let buffers = [
        vertex_buffer("instance", instances, 0),
        vertex_buffer("vertex", vertices, 1),
    ];
    let body = pipeline_of(&buffers.join(","), world.depth);
    world.add(Kind::RenderPipeline, &[layout, module, module], body)
}

/// A bundle that draws triangles of the first instance, with indices and indirectly where the world has what that takes. Its ids are
/// positions in its references, from 1.
fn bundle(
    world: &mut World,
    u: &mut Unstructured<'_>,
    pipeline: u32,
    group: Option<u32>,
    vertex: [Option<Buffer>; 2],
) -> Result<u32> {
    let mut refs = vec![pipeline];
    let mut words = vec![Op::SetPipeline as u32, 1];
    let mut position = |id: u32| {
        refs.push(id);
        refs.len() as u32
    };
    if let Some(group) = group {
        words.extend([Op::SetBindGroup as u32, 0, position(group), 1, DYNAMIC_STEP]);
    }
    for (slot, vertex) in (0..).zip(vertex) {
        let Some(vertex) = vertex else { continue };
        words.extend([Op::SetVertexBuffer as u32, slot, position(vertex.id), 0, 0, 0, 0]);
    }
    words.extend([Op::Draw as u32, 3, 1, 0, 0]);
    if let Some(index) = world.index.filter(|_| below(u, 2) == Ok(1)) {
        let size = if once_in(u, 2)? { 0 } else { 12 };
        words.extend([
            Op::SetIndexBuffer as u32,
            position(index.id),
            1 + below(u, 2)?,
            0,
            0,
            size,
            0,
        ]);
        words.extend([Op::DrawIndexed as u32, 3, 1, 0, below(u, 4)?, 0]);
    }
    if let Some(indirect) = world
        .indirect
        .filter(|buffer| buffer.size >= 16 && below(u, 3) == Ok(0))
    {
        words.extend([Op::DrawIndirect as u32, position(indirect.id), 0, 0]);
    }
    let body = bundle_body(world.depth, &words);
    Ok(world.add(Kind::RenderBundle, &refs, body))
}

pub(super) fn bundle_body(depth: Option<Depth>, words: &[u32]) -> String {
    let member = |depth: Depth| format!(r#","depthStencilFormat":"{}""#, depth.format());
    let depth = depth.map(member).unwrap_or_default();
    format!(r#"{{"colorFormats":["r32uint"]{depth},"words":{words:?}}}"#)
}

/// Objects that proper streams leave alone. All of them can be made.
fn bystanders(world: &mut World, u: &mut Unstructured<'_>, uniform: Buffer) -> Result<()> {
    if once_in(u, 4)? {
        sampled(world, u, uniform)?;
    }
    if once_in(u, 4)? {
        attachments(world, u)?;
    }
    if once_in(u, 4)? {
        copies(world, u)?;
    }
    if once_in(u, 4)? {
        pipelines(world);
    }
    if let (true, Some(&render)) = (once_in(u, 4)?, world.renders.first()) {
        unused_bundle(world, u, render);
    }
    Ok(())
}

/// A sampler, and a bind group of it, a view where there is one, and a buffer.
fn sampled(world: &mut World, u: &mut Unstructured<'_>, uniform: Buffer) -> Result<()> {
    const SAMPLERS: [&str; 3] = [
        "{}",
        r#"{"magFilter":"linear","addressModeU":"mirror-repeat","lodMinClamp":0.1,"lodMaxClamp":4.5}"#,
        r#"{"compare":"less-equal"}"#,
    ];
    let body = *u.choose(&SAMPLERS)?;
    let kind = if body.contains("compare") {
        "comparison"
    } else {
        "filtering"
    };
    let sampler = world.add(Kind::Sampler, &[], body);
    let mut bound = vec![(sampler, format!(r#""sampler":{{"type":"{kind}"}}"#), "")];
    if let Some((_, view)) = world.target {
        bound.push((view, r#""texture":{"sampleType":"uint"}"#.to_owned(), ""));
    }
    bound.push((
        uniform.id,
        r#""buffer":{}"#.to_owned(),
        *u.choose(&["", r#","offset":256"#, r#","size":16"#])?,
    ));
    let list = |entry: &dyn Fn(usize) -> String| (0..bound.len()).map(entry).collect::<Vec<_>>().join(",");
    // Every second number, so that the entries are not the bindings' own row.
    let layouts = list(&|i| format!(r#"{{"binding":{},"visibility":6,{}}}"#, 2 * i, bound[i].1));
    let entries = list(&|i| format!(r#"{{"binding":{}{}}}"#, 2 * i, bound[i].2));
    let layout = world.add(Kind::BindGroupLayout, &[], format!(r#"{{"entries":[{layouts}]}}"#));
    let refs: Vec<u32> = std::iter::once(layout)
        .chain(bound.iter().map(|entry| entry.0))
        .collect();
    world.add(Kind::BindGroup, &refs, format!(r#"{{"entries":[{entries}]}}"#));
    // An empty place before it.
    world.add(Kind::PipelineLayout, &[0, layout], "{}");
    Ok(())
}

/// Views of a multisampled texture, of one that it can resolve to, and of a depth and stencil format.
fn attachments(world: &mut World, u: &mut Unstructured<'_>) -> Result<()> {
    let usage = texture_usage::RENDER_ATTACHMENT;
    let samples =
        format!(r#"{{"size":{{"width":8,"height":8}},"format":"rgba8unorm","usage":{usage},"sampleCount":4}}"#);
    let many = world.add(Kind::Texture, &[], samples);
    world.add(Kind::TextureView, &[many], r#"{"dimension":"2d"}"#);
    let format = *u.choose(&["depth24plus-stencil8", "stencil8", "depth16unorm"])?;
    for format in ["rgba8unorm", format] {
        let texture = world.texture(format, 8, 8, usage);
        world.view(texture);
    }
    Ok(())
}

/// Textures to copy between, of every dimension, with layers, mip levels and aspects.
fn copies(world: &mut World, u: &mut Unstructured<'_>) -> Result<()> {
    const TEXTURES: [&str; 10] = [
        r#""size":[8,8,3],"mipLevelCount":3,"format":"r32uint""#,
        r#""size":[8,4,4],"mipLevelCount":2,"format":"r32uint","dimension":"3d""#,
        r#""size":[16],"format":"r32uint","dimension":"1d""#,
        r#""size":[8,8],"format":"rgba8unorm""#,
        r#""size":[8,8,2],"format":"rgba8unorm-srgb""#,
        r#""size":[4,4],"format":"rgba16float""#,
        r#""size":[8,8,2],"format":"depth24plus-stencil8""#,
        r#""size":[4,4],"format":"depth16unorm""#,
        r#""size":[4,4],"mipLevelCount":2,"format":"stencil8""#,
        r#""size":[4,4],"format":"depth32float""#,
    ];
    for _ in 0..3 {
        let (texture, usage) = (*u.choose(&TEXTURES)?, texture_usage::COPIES);
        world.add(Kind::Texture, &[], format!(r#"{{{texture},"usage":{usage}}}"#));
    }
    Ok(())
}

/// A compute pipeline with layout auto, and a render pipeline without a fragment stage.
fn pipelines(world: &mut World) {
    let module = world.module(Kernel::Count);
    let compute = r#"{"compute":{"constants":{}}}"#;
    world.add(Kind::ComputePipeline, &[0, module], compute);
    let module = world.module(Kernel::Uniform);
    let depth = r#""depthStencil":{"format":"depth16unorm","depthWriteEnabled":true,"depthCompare":"less","depthBiasClamp":-0.5}"#;
    world.add(
        Kind::RenderPipeline,
        &[0, module, 0],
        format!(r#"{{"vertex":{{"entryPoint":"vs"}},{depth}}}"#),
    );
}

/// A bundle that unsets and sets things in every way that a bundle may.
fn unused_bundle(world: &mut World, u: &mut Unstructured<'_>, render: Render) {
    let (Some(index), Some(indirect)) = (world.index, world.indirect) else {
        return;
    };
    let offset = 4 * u.int_in_range(0..=1u32).unwrap_or(0);
    let words = [
        &[Op::SetPipeline as u32, 3][..],
        &[Op::SetBindGroup as u32, 1, 0, 0],
        &[Op::SetVertexBuffer as u32, 3, 0, 0, 0, 0, 0],
        &[Op::SetIndexBuffer as u32, 4, 2, offset, 0, 0, 0],
        &[Op::SetIndexBuffer as u32, 4, 1, 0, 0, 8, 0],
    ]
    .concat();
    // The second reference is to nothing and not named.
    let refs = [indirect.id, 0, render.pipeline, index.id];
    let body = bundle_body(world.depth, &words);
    world.add(Kind::RenderBundle, &refs, body);
}
