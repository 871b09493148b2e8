//! Object tables whose objects fit each other: buffers and textures with the usages that their part asks for, the known kernels
//! with pipelines and bind groups, render targets, a bundle.

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
    /// A bundle that draws with it.
    pub bundle: u32,
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
    /// The id of the depth target's view.
    pub depth: Option<u32>,
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

    fn add(&mut self, kind: Kind, refs: &[u32], body: impl Into<String>) -> u32 {
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

    fn buffer(&mut self, size: u32, usage: u32) -> Buffer {
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
        let depth = world.texture("depth32float", width, height, RENDER_ATTACHMENT);
        world.depth = Some(world.view(depth));
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
    let module = world.module(kernel);
    let pipeline_layout = world.add(Kind::PipelineLayout, &layouts, "{}");
    let depth = world.depth.is_some();
    let pipeline = world.add(
        Kind::RenderPipeline,
        &[pipeline_layout, module, module],
        pipeline_body(instance, depth),
    );
    let bundle = bundle(world, pipeline, group, vertex, depth);
    world.renders.push(Render {
        pipeline,
        group,
        vertex,
        bundle,
    });
    Ok(())
}

fn pipeline_body(instance: bool, depth: bool) -> String {
    let buffers = match instance {
        true => {
            r#","buffers":[{"arrayStride":4,"stepMode":"instance","attributes":[{"format":"uint32","offset":0,"shaderLocation":0}]}]"#
        }
        false => "",
    };
    let depth = match depth {
        true => r#","depthStencil":{"format":"depth32float","depthWriteEnabled":false,"depthCompare":"always"}"#,
        false => "",
    };
    format!(
        r#"{{"vertex":{{"entryPoint":"vs"{buffers}}},"primitive":{{"topology":"triangle-list"}}{depth},"fragment":{{"entryPoint":"fs","targets":[{{"format":"r32uint"}}]}}}}"#
    )
}

/// A bundle that draws one triangle of one instance. Its ids are positions in its references, from 1.
fn bundle(world: &mut World, pipeline: u32, group: Option<u32>, vertex: Option<Buffer>, depth: bool) -> u32 {
    let mut words = vec![Op::SetPipeline as u32, 1];
    let mut refs = vec![pipeline];
    if let Some(group) = group {
        refs.push(group);
        words.extend([Op::SetBindGroup as u32, 0, 2, 1, DYNAMIC_STEP]);
    }
    if let Some(vertex) = vertex {
        refs.push(vertex.id);
        words.extend([Op::SetVertexBuffer as u32, 0, 2, 0, 0, 0, 0]);
    }
    words.extend([Op::Draw as u32, 3, 1, 0, 0]);
    let depth = if depth {
        r#","depthStencilFormat":"depth32float""#
    } else {
        ""
    };
    world.add(
        Kind::RenderBundle,
        &refs,
        format!(r#"{{"colorFormats":["r32uint"]{depth},"words":{words:?}}}"#),
    )
}
