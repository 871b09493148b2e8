//! What the strict check asks of a case's object table (wire.md section 8).

use std::collections::HashMap;

use serde::Deserialize;
use wire::{BufferFacts, Dimension, DynamicBuffer, Format, Kind, Limits, Strict, TextureFacts, VertexBufferLayout};

use crate::calls::Row;
use crate::case::Object;

/// The facts of an object table, by the replayer's ids. Of two rows of one id the later one counts. A row whose body is
/// not what its kind takes has none.
#[derive(Clone, Debug, Default)]
pub struct Facts(HashMap<u32, Fact>, Limits);

#[derive(Clone, Debug)]
enum Fact {
    Buffer(BufferFacts),
    Texture(TextureFacts),
    Layout(Vec<DynamicEntry>),
    Group(Vec<DynamicBuffer>),
    Compute,
    Render(Vec<Option<VertexBufferLayout>>),
}

/// A binding with a dynamic offset, in a bind group layout.
#[derive(Clone, Copy, Debug)]
struct DynamicEntry {
    binding: u32,
    uniform: bool,
}

impl wire::ObjectTable for Facts {
    fn limits(&self) -> Limits {
        self.1
    }

    fn buffer(&self, id: u32) -> Option<BufferFacts> {
        match self.0.get(&id)? {
            Fact::Buffer(facts) => Some(*facts),
            _ => None,
        }
    }

    fn texture(&self, id: u32) -> Option<TextureFacts> {
        match self.0.get(&id)? {
            Fact::Texture(facts) => Some(*facts),
            _ => None,
        }
    }

    fn bind_group(&self, id: u32) -> Option<&[DynamicBuffer]> {
        match self.0.get(&id)? {
            Fact::Group(bindings) => Some(bindings),
            _ => None,
        }
    }

    fn is_compute_pipeline(&self, id: u32) -> bool {
        matches!(self.0.get(&id), Some(Fact::Compute))
    }

    fn render_pipeline(&self, id: u32) -> Option<&[Option<VertexBufferLayout>]> {
        match self.0.get(&id)? {
            Fact::Render(buffers) => Some(buffers),
            _ => None,
        }
    }
}

impl Facts {
    /// The facts of a whole table, on a device with WebGPU's default limits.
    pub fn of(objects: &[Object]) -> Facts {
        Facts::under(Limits::default(), objects)
    }

    /// The same on a device with other limits.
    pub fn under(limits: Limits, objects: &[Object]) -> Facts {
        let mut facts = Facts(HashMap::new(), limits);
        objects.iter().for_each(|object| facts.add(object));
        facts
    }

    /// [`Facts::of`] a table, and the strict check of its render bundles, each over the rows before it.
    ///
    /// # Errors
    ///
    /// The second is the id of the first bundle that is refused, and why; the command and the word are in its own
    /// words. A bundle whose words are refused by their decoding is not looked at.
    pub fn with_bundles(objects: &[Object]) -> (Facts, Result<(), (u32, Strict)>) {
        let (mut facts, mut bundles) = (Facts::default(), Ok(()));
        for object in objects {
            bundles = bundles.and(facts.add_checked(object));
        }
        (facts, bundles)
    }

    /// The same of rows as they travel. A row that is no descriptor, of no kind, or whose body is no text, has no
    /// facts.
    pub fn of_rows(rows: &[Row]) -> (Facts, Result<(), (u32, Strict)>) {
        let (mut facts, mut bundles) = (Facts::default(), Ok(()));
        for row in rows {
            match row.object() {
                Some(object) => bundles = bundles.and(facts.add_checked(&object)),
                None => drop(facts.0.remove(&row.id)),
            }
        }
        (facts, bundles)
    }

    /// Adds a row; a bundle is checked over those before it.
    fn add_checked(&mut self, object: &Object) -> Result<(), (u32, Strict)> {
        let words = bundle_words(object).unwrap_or_default();
        let commands = wire::bundle_commands(&words).map_while(Result::ok);
        let checked = wire::check_strict_bundle(commands, self).map_err(|strict| (object.id, strict));
        self.add(object);
        checked
    }

    fn add(&mut self, object: &Object) {
        match self.fact(object) {
            Some(fact) => drop(self.0.insert(object.id, fact)),
            None => drop(self.0.remove(&object.id)),
        }
    }

    fn fact(&self, object: &Object) -> Option<Fact> {
        Some(match object.kind {
            Kind::Buffer => Fact::Buffer(buffer(object)?),
            Kind::Texture => Fact::Texture(texture(object)?),
            Kind::BindGroupLayout => Fact::Layout(layout(object)?),
            Kind::BindGroup => Fact::Group(self.group(object)?),
            Kind::ComputePipeline => Fact::Compute,
            Kind::RenderPipeline => Fact::Render(vertex_buffers(object)?),
            Kind::TextureView | Kind::Sampler | Kind::ShaderModule | Kind::PipelineLayout | Kind::RenderBundle => {
                return None;
            }
        })
    }

    fn group(&self, object: &Object) -> Option<Vec<DynamicBuffer>> {
        let (layout, resources) = object.refs.split_first()?;
        let Fact::Layout(dynamic) = self.0.get(layout)? else {
            return None;
        };
        if dynamic.is_empty() {
            return Some(Vec::new());
        }
        let entries = parse::<Entries<GroupEntry>>(object)?.entries;
        let bound = |entry: &DynamicEntry| {
            let at = entries.iter().position(|bound| bound.binding == entry.binding)?;
            let Fact::Buffer(buffer) = self.0.get(resources.get(at)?)? else {
                return None;
            };
            let GroupEntry { offset, size, .. } = entries[at];
            Some(DynamicBuffer {
                uniform: entry.uniform,
                buffer_size: buffer.size,
                offset,
                size: size.unwrap_or(buffer.size.saturating_sub(offset)),
            })
        };
        dynamic.iter().map(bound).collect()
    }
}

/// The words of a render bundle, with the ids that its references name in place of their positions; none of another
/// object, nor where their decoding refuses them.
pub fn bundle_words(object: &Object) -> Option<Vec<u32>> {
    if object.kind != Kind::RenderBundle {
        return None;
    }
    let BundleBody { mut words } = parse(object)?;
    let at = |position: u32| object.refs.get(position as usize - 1).copied();
    wire::remap_bundle(&mut words, at).ok()?;
    Some(words)
}

fn parse<'a, T: Deserialize<'a>>(object: &'a Object) -> Option<T> {
    serde_json::from_str(&object.body).ok()
}

// WebGPU's dictionaries, as far as the facts go.

#[derive(Deserialize)]
struct BufferBody {
    size: u64,
    usage: u32,
}

fn buffer(object: &Object) -> Option<BufferFacts> {
    let BufferBody { size, usage } = parse(object)?;
    Some(BufferFacts { size, usage })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextureBody {
    size: Extent,
    format: String,
    usage: u32,
    #[serde(default = "one")]
    mip_level_count: u32,
    #[serde(default = "one")]
    sample_count: u32,
    #[serde(default)]
    dimension: DimensionName,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Extent {
    List(Vec<u32>),
    #[serde(rename_all = "camelCase")]
    Dict {
        width: u32,
        #[serde(default = "one")]
        height: u32,
        #[serde(default = "one")]
        depth_or_array_layers: u32,
    },
}

#[derive(Clone, Copy, Default, Deserialize)]
enum DimensionName {
    #[serde(rename = "1d")]
    D1,
    #[default]
    #[serde(rename = "2d")]
    D2,
    #[serde(rename = "3d")]
    D3,
}

fn one() -> u32 {
    1
}

fn texture(object: &Object) -> Option<TextureFacts> {
    let body: TextureBody = parse(object)?;
    let size = match body.size {
        Extent::Dict {
            width,
            height,
            depth_or_array_layers,
        } => [width, height, depth_or_array_layers],
        Extent::List(list) => match list[..] {
            [width] => [width, 1, 1],
            [width, height] => [width, height, 1],
            [width, height, third] => [width, height, third],
            _ => return None,
        },
    };
    Some(TextureFacts {
        size,
        mip_level_count: body.mip_level_count,
        sample_count: body.sample_count,
        dimension: match body.dimension {
            DimensionName::D1 => Dimension::D1,
            DimensionName::D2 => Dimension::D2,
            DimensionName::D3 => Dimension::D3,
        },
        format: Format::named(&body.format)?,
        usage: body.usage,
    })
}

#[derive(Deserialize)]
struct Entries<T> {
    entries: Vec<T>,
}

#[derive(Deserialize)]
struct LayoutEntry {
    binding: u32,
    buffer: Option<BufferLayout>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferLayout {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    has_dynamic_offset: bool,
}

/// The entries with a dynamic offset, ascending by binding number.
fn layout(object: &Object) -> Option<Vec<DynamicEntry>> {
    let entries = parse::<Entries<LayoutEntry>>(object)?.entries;
    let dynamic = |entry: LayoutEntry| {
        let buffer = entry.buffer.filter(|buffer| buffer.has_dynamic_offset)?;
        Some(DynamicEntry {
            binding: entry.binding,
            uniform: buffer.kind.is_none_or(|kind| kind == "uniform"),
        })
    };
    let mut list: Vec<DynamicEntry> = entries.into_iter().filter_map(dynamic).collect();
    list.sort_by_key(|entry| entry.binding);
    Some(list)
}

#[derive(Deserialize)]
struct GroupEntry {
    binding: u32,
    #[serde(default)]
    offset: u64,
    size: Option<u64>,
}

#[derive(Deserialize)]
struct RenderBody {
    vertex: Vertex,
}

#[derive(Deserialize)]
struct Vertex {
    #[serde(default)]
    buffers: Vec<Option<VertexBuffer>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VertexBuffer {
    array_stride: u64,
    #[serde(default)]
    step_mode: wgpu_types::VertexStepMode,
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
struct Attribute {
    format: wgpu_types::VertexFormat,
    offset: u64,
}

fn vertex_buffers(object: &Object) -> Option<Vec<Option<VertexBufferLayout>>> {
    let buffers = parse::<RenderBody>(object)?.vertex.buffers;
    let layout = |buffer: VertexBuffer| VertexBufferLayout {
        array_stride: buffer.array_stride,
        per_instance: buffer.step_mode == wgpu_types::VertexStepMode::Instance,
        last_stride: buffer.attributes.iter().map(Attribute::end).max().unwrap_or(0),
    };
    Some(buffers.into_iter().map(|buffer| buffer.map(layout)).collect())
}

impl Attribute {
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.format.size())
    }
}

#[derive(Deserialize)]
struct BundleBody {
    words: Vec<u32>,
}
