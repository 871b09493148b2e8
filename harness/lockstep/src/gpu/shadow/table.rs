//! The object table, read as far as the shadow needs it (wire.md section 7).
//!
//! What is not understood is left out, or its `plain` is false: a command that uses it then makes what it could write
//! unknown.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;
use wire::Kind;

use super::format::Format;
use super::memory::{Memory, Place, Shape};
use crate::case::Object;
use crate::gpu::kernels::Kernel;

/// Everything of the table that is no memory.
#[derive(Default)]
pub(super) struct Table<'a> {
    pub views: BTreeMap<u32, View>,
    pub layouts: BTreeMap<u32, Layout>,
    pub groups: BTreeMap<u32, Group>,
    pub compute: BTreeMap<u32, Kernel>,
    pub render: BTreeMap<u32, Drawing>,
    pub bundles: BTreeMap<u32, Bundle<'a>>,
    modules: BTreeMap<u32, Kernel>,
}

/// A texture view.
pub(super) struct View {
    /// Its first surface.
    pub at: Place,
    /// It shows that surface as it is: the texture's own format, all aspects, no 3D texture.
    pub plain: bool,
}

/// A bind group layout.
pub(super) struct Layout {
    /// Bindings with a dynamic offset, ascending, which is the order of the offsets.
    pub dynamic: Vec<u32>,
    /// Bindings that a shader may write.
    pub writable: Vec<u32>,
}

/// A bind group.
pub(super) struct Group {
    pub layout: u32,
    pub entries: Vec<Entry>,
}

/// An entry of a bind group.
#[derive(Deserialize)]
pub(super) struct Entry {
    pub binding: u32,
    #[serde(skip)]
    pub resource: u32,
    #[serde(default)]
    pub offset: u64,
    pub size: Option<u64>,
}

/// A render bundle whose words decode. Their ids are positions in `refs`, from 1.
pub(super) struct Bundle<'a> {
    pub words: Vec<u32>,
    pub refs: &'a [u32],
}

/// A render pipeline that the shadow knows.
pub(super) struct Drawing {
    pub paint: Paint,
    /// Which triangles are culled: `Some(true)` those whose corners run counter-clockwise.
    pub culled: Option<bool>,
    /// It takes no vertex buffer but the one that its paint comes from. A device may leave out an indirect draw that passes a
    /// vertex buffer, be it one that no shader looks at.
    pub alone: bool,
}

/// What a render pipeline does to the first color attachment. No kernel does anything to another.
#[derive(Clone, Copy)]
pub(super) enum Paint {
    /// Nothing.
    Nothing,
    /// The u32 at `stride * instance + offset` of a vertex buffer.
    Instance { slot: u32, stride: u64, offset: u64 },
    /// The u32 of a uniform.
    Uniform,
}

/// Reads the table.
pub(super) fn read(objects: &[Object]) -> (Table<'_>, Memory) {
    let (mut table, mut memory) = (Table::default(), Memory::new());
    for object in objects {
        // None: not understood, and so left out.
        let _ = table.add(object, &mut memory);
    }
    (table, memory)
}

impl<'a> Table<'a> {
    fn add(&mut self, object: &'a Object, memory: &mut Memory) -> Option<()> {
        let id = object.id;
        match object.kind {
            Kind::Buffer => memory.add_buffer(id, parse::<BufferBody>(object)?.size),
            Kind::Texture => memory.add_texture(id, &parse::<TextureBody<'_>>(object)?.shape()),
            Kind::TextureView => drop(self.views.insert(id, view(object, memory)?)),
            Kind::ShaderModule => drop(self.modules.insert(id, kernel(object)?)),
            Kind::BindGroupLayout => drop(self.layouts.insert(id, layout(object)?)),
            Kind::BindGroup => drop(self.groups.insert(id, group(object)?)),
            Kind::ComputePipeline => drop(self.compute.insert(id, self.compute(object)?)),
            Kind::RenderPipeline => drop(self.render.insert(id, self.drawing(object)?)),
            Kind::RenderBundle => drop(self.bundles.insert(id, bundle(object)?)),
            Kind::Sampler | Kind::PipelineLayout => {}
        }
        Some(())
    }

    fn compute(&self, object: &Object) -> Option<Kernel> {
        let body: ComputeBody<'_> = parse(object)?;
        self.stage(*object.refs.get(1)?, &body.compute, "main")
    }

    /// The kernel of a stage, where it is a known one, started as its text wants.
    fn stage(&self, module: u32, stage: &Stage<'_>, entry: &str) -> Option<Kernel> {
        let usual = stage.entry_point.is_none_or(|name| name == entry) && stage.constants.is_empty();
        self.modules.get(&module).copied().filter(|_| usual)
    }

    fn drawing(&self, object: &Object) -> Option<Drawing> {
        let body: RenderBody<'_> = parse(object)?;
        let &[_, vertex, fragment] = object.refs.as_slice() else {
            return None;
        };
        let kernel = self.stage(vertex, &body.vertex, "vs").filter(|_| body.is_plain())?;
        let fragment = body
            .fragment
            .as_ref()
            .filter(|_| fragment != 0)
            .map(|stage| (fragment, stage));
        let paint = match fragment {
            None => Paint::Nothing,
            Some((module, stage)) if self.stage(module, stage, "fs") == Some(kernel) => {
                stage.paint(&body.vertex, kernel)?
            }
            Some(_) => return None,
        };
        let buffers = body.vertex.buffers.iter().flatten().count();
        let alone = buffers == usize::from(matches!(paint, Paint::Instance { .. }));
        Some(Drawing {
            paint,
            culled: body.primitive.culled()?,
            alone,
        })
    }
}

fn parse<'a, T: Deserialize<'a>>(object: &'a Object) -> Option<T> {
    serde_json::from_str(&object.body).ok()
}

fn kernel(object: &Object) -> Option<Kernel> {
    static TEXTS: LazyLock<Vec<(String, Kernel)>> =
        LazyLock::new(|| Kernel::ALL.into_iter().map(|kernel| (kernel.wgsl(), kernel)).collect());
    let body: ModuleBody = parse(object)?;
    TEXTS
        .iter()
        .find(|(text, _)| *text == body.code)
        .map(|&(_, kernel)| kernel)
}

fn view(object: &Object, memory: &Memory) -> Option<View> {
    let &[texture] = object.refs.as_slice() else {
        return None;
    };
    let body: Option<ViewBody<'_>> = parse(object);
    let shown = memory.textures.get(&texture);
    let plain = body.as_ref().zip(shown).is_some_and(|(body, texture)| {
        let same = body.format.is_none_or(|name| Format::named(name) == texture.format);
        let flat = body.dimension.is_none_or(|dimension| dimension != "3d") && !texture.volume;
        same && flat && body.aspect.is_none_or(|aspect| aspect == "all")
    });
    let (mip, layer) = body.map_or((0, 0), |body| (body.base_mip_level, body.base_array_layer));
    Some(View {
        at: Place { texture, mip, layer },
        plain,
    })
}

fn layout(object: &Object) -> Option<Layout> {
    let mut entries = parse::<LayoutBody<'_>>(object)?.entries;
    entries.sort_by_key(|entry| entry.binding);
    let dynamic = entries
        .iter()
        .filter(|entry| entry.is_dynamic())
        .map(|entry| entry.binding)
        .collect();
    let writable = entries
        .iter()
        .filter(|entry| entry.is_writable())
        .map(|entry| entry.binding)
        .collect();
    Some(Layout { dynamic, writable })
}

fn group(object: &Object) -> Option<Group> {
    let (&layout, resources) = object.refs.split_first()?;
    let mut entries = parse::<GroupBody>(object)
        .filter(|body| body.entries.len() == resources.len())?
        .entries;
    entries
        .iter_mut()
        .zip(resources)
        .for_each(|(entry, &resource)| entry.resource = resource);
    Some(Group { layout, entries })
}

fn bundle(object: &Object) -> Option<Bundle<'_>> {
    let words = parse::<BundleBody>(object)?.words;
    let sound = wire::bundle_commands(&words).all(|command| command.is_ok());
    sound.then_some(Bundle {
        words,
        refs: &object.refs,
    })
}

#[derive(Deserialize)]
struct BufferBody {
    size: u64,
}

#[derive(Deserialize)]
struct ModuleBody {
    code: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextureBody<'a> {
    size: Extent,
    format: &'a str,
    #[serde(default = "one")]
    mip_level_count: u32,
    #[serde(default = "one")]
    sample_count: u32,
    dimension: Option<&'a str>,
}

/// A GPUExtent3D: members by name or, as the derived reader also takes it, in order.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extent {
    width: u32,
    #[serde(default = "one")]
    height: u32,
    #[serde(default = "one")]
    depth_or_array_layers: u32,
}

fn one() -> u32 {
    1
}

impl TextureBody<'_> {
    fn shape(&self) -> Shape {
        Shape {
            format: Format::named(self.format).filter(|_| self.sample_count == 1),
            width: self.size.width,
            height: self.size.height,
            layers: self.size.depth_or_array_layers,
            mips: self.mip_level_count,
            volume: self.dimension == Some("3d"),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ViewBody<'a> {
    format: Option<&'a str>,
    dimension: Option<&'a str>,
    aspect: Option<&'a str>,
    #[serde(default)]
    base_mip_level: u32,
    #[serde(default)]
    base_array_layer: u32,
}

#[derive(Deserialize)]
struct LayoutBody<'a> {
    #[serde(borrow)]
    entries: Vec<LayoutEntry<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LayoutEntry<'a> {
    binding: u32,
    #[serde(borrow)]
    buffer: Option<BufferLayout<'a>>,
    storage_texture: Option<StorageLayout<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferLayout<'a> {
    #[serde(rename = "type")]
    kind: Option<&'a str>,
    #[serde(default)]
    has_dynamic_offset: bool,
}

#[derive(Deserialize)]
struct StorageLayout<'a> {
    access: Option<&'a str>,
}

impl LayoutEntry<'_> {
    fn is_dynamic(&self) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.has_dynamic_offset)
    }

    fn is_writable(&self) -> bool {
        let texture = |texture: &StorageLayout<'_>| texture.access != Some("read-only");
        self.buffer
            .as_ref()
            .is_some_and(|buffer| buffer.kind == Some("storage"))
            || self.storage_texture.as_ref().is_some_and(texture)
    }
}

#[derive(Deserialize)]
struct GroupBody {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct BundleBody {
    words: Vec<u32>,
}

#[derive(Deserialize)]
struct ComputeBody<'a> {
    #[serde(borrow)]
    compute: Stage<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RenderBody<'a> {
    #[serde(borrow)]
    vertex: Stage<'a>,
    #[serde(borrow, default)]
    primitive: Primitive<'a>,
    #[serde(borrow)]
    depth_stencil: Option<DepthStencil<'a>>,
    #[serde(default)]
    multisample: Multisample,
    #[serde(borrow)]
    fragment: Option<Stage<'a>>,
}

/// A compute, vertex or fragment stage.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stage<'a> {
    entry_point: Option<&'a str>,
    #[serde(default)]
    constants: BTreeMap<String, IgnoredAny>,
    #[serde(borrow, default)]
    buffers: Vec<Option<VertexBuffer<'a>>>,
    #[serde(borrow, default)]
    targets: Vec<Option<Target<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VertexBuffer<'a> {
    array_stride: u64,
    step_mode: Option<&'a str>,
    #[serde(borrow)]
    attributes: Vec<Attribute<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attribute<'a> {
    format: &'a str,
    offset: u64,
    shader_location: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target<'a> {
    format: &'a str,
    blend: Option<IgnoredAny>,
    write_mask: Option<u32>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Primitive<'a> {
    topology: Option<&'a str>,
    front_face: Option<&'a str>,
    cull_mode: Option<&'a str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DepthStencil<'a> {
    depth_compare: Option<&'a str>,
    #[serde(borrow)]
    stencil_front: Option<StencilFace<'a>>,
    #[serde(borrow)]
    stencil_back: Option<StencilFace<'a>>,
}

#[derive(Deserialize)]
struct StencilFace<'a> {
    compare: Option<&'a str>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Multisample {
    count: Option<u32>,
    mask: Option<u32>,
    alpha_to_coverage_enabled: Option<bool>,
}

impl RenderBody<'_> {
    /// Whether every fragment of a triangle reaches the targets as the shader gave it.
    fn is_plain(&self) -> bool {
        let (list, samples) = (self.primitive.topology, &self.multisample);
        let always = |compare: Option<&str>| compare.is_none_or(|compare| compare == "always");
        let tested = self.depth_stencil.as_ref().is_some_and(|depth| {
            let faces = [&depth.stencil_front, &depth.stencil_back];
            !always(depth.depth_compare) || faces.into_iter().flatten().any(|face| !always(face.compare))
        });
        list.is_none_or(|topology| topology == "triangle-list")
            && !tested
            && samples.count.is_none_or(|count| count == 1)
            && samples.mask.is_none_or(|mask| mask == u32::MAX)
            && samples.alpha_to_coverage_enabled != Some(true)
    }
}

impl Primitive<'_> {
    /// Which triangles are culled: `Some(Some(true))` those whose corners run counter-clockwise.
    fn culled(&self) -> Option<Option<bool>> {
        let front = match self.front_face {
            None | Some("ccw") => true,
            Some("cw") => false,
            Some(_) => return None,
        };
        match self.cull_mode {
            None | Some("none") => Some(None),
            Some("front") => Some(Some(front)),
            Some("back") => Some(Some(!front)),
            Some(_) => None,
        }
    }
}

impl Stage<'_> {
    /// What a fragment stage of a known kernel does. The kernels write location 0 alone.
    fn paint(&self, vertex: &Stage<'_>, kernel: Kernel) -> Option<Paint> {
        let (first, others) = self.targets.split_first()?;
        if others.iter().flatten().any(|target| target.write_mask != Some(0)) {
            return None;
        }
        let Some(first) = first else {
            return Some(Paint::Nothing);
        };
        let whole =
            first.format == "r32uint" && first.blend.is_none() && first.write_mask.is_none_or(|mask| mask == 15);
        match kernel {
            _ if !whole => None,
            Kernel::Instance => vertex.instance_paint(),
            Kernel::Uniform => Some(Paint::Uniform),
            _ => None,
        }
    }

    /// Where the attribute at location 0 of a vertex stage comes from.
    fn instance_paint(&self) -> Option<Paint> {
        let buffers = (0..)
            .zip(&self.buffers)
            .filter_map(|(slot, buffer)| Some((slot, buffer.as_ref()?)));
        let mut all = buffers.flat_map(|(slot, buffer)| buffer.attributes.iter().map(move |it| (slot, buffer, it)));
        let (slot, buffer, attribute) = all.find(|(_, _, attribute)| attribute.shader_location == 0)?;
        let plain = buffer.step_mode == Some("instance") && attribute.format == "uint32";
        plain.then_some(Paint::Instance {
            slot,
            stride: buffer.array_stride,
            offset: attribute.offset,
        })
    }
}
