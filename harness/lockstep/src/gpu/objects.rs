//! Makes an object table out of its JSON bodies (wire.md section 7).
//!
//! The bodies are WebGPU's dictionaries with WebGPU's names and the defaults of its IDL; members that a dictionary does not have
//! are ignored, as WebGPU ignores them. Where wgpu's Rust types cannot say what a dictionary says, the table is refused here with
//! what WebGPU would say.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wgpu::util::RenderEncoder;
use wire::{Kind, Reason};

use super::calls::{Call, Descriptor, RowRefused, Section, bundle_calls};
use super::wgpu_engine::{Errors, one_line};
use super::{Trouble, TroubleKind, calls};
use crate::case::Object;
use crate::panics::caught;

/// How many objects a cache holds before it is emptied. Generated cases use a few dozen.
const CACHED: usize = 1024;

/// [`calls::check`] and [`calls::replay`] looked at them.
const CHECKED: &str = "kinds are checked before a call";

/// Bytes that a table may take, all buffers and textures together. A software driver takes them from the machine's own memory,
/// and the read-back holds them once more.
const ROOM: u64 = 1 << 30;
/// What an object takes beside that, so that a table of a million samplers has an end too.
const OBJECT: u64 = 1 << 12;

/// A wgpu object. Clones are handles to the same one.
#[derive(Clone, Debug)]
pub(super) enum Handle {
    Buffer(wgpu::Buffer),
    Texture(wgpu::Texture),
    /// With the format that it is looked at through.
    View(wgpu::TextureView, wgpu::TextureFormat),
    Sampler(wgpu::Sampler),
    Module(wgpu::ShaderModule),
    BindGroupLayout(wgpu::BindGroupLayout),
    PipelineLayout(wgpu::PipelineLayout),
    BindGroup(wgpu::BindGroup),
    Compute(wgpu::ComputePipeline),
    Render(wgpu::RenderPipeline),
    Bundle(wgpu::RenderBundle),
}

impl Handle {
    fn kind(&self) -> Kind {
        match self {
            Handle::Buffer(_) => Kind::Buffer,
            Handle::Texture(_) => Kind::Texture,
            Handle::View(..) => Kind::TextureView,
            Handle::Sampler(_) => Kind::Sampler,
            Handle::Module(_) => Kind::ShaderModule,
            Handle::BindGroupLayout(_) => Kind::BindGroupLayout,
            Handle::PipelineLayout(_) => Kind::PipelineLayout,
            Handle::BindGroup(_) => Kind::BindGroup,
            Handle::Compute(_) => Kind::ComputePipeline,
            Handle::Render(_) => Kind::RenderPipeline,
            Handle::Bundle(_) => Kind::RenderBundle,
        }
    }
}

/// An object and, where it came through the cache, its serial number there: the same content has the same number.
#[derive(Clone, Debug)]
struct Made {
    handle: Handle,
    serial: u64,
}

/// The objects of one case, by the replayer's id. A later object of the same id takes the place of an earlier one.
#[derive(Debug, Default)]
pub(super) struct Table(HashMap<u32, Made>);

/// Gets the object of one kind that an id names.
macro_rules! getters {
    ($($name:ident: $variant:ident -> $type:ident;)+) => {
        impl Table {
            $(pub(super) fn $name(&self, id: u32) -> Option<&wgpu::$type> {
                match &self.0.get(&id)?.handle {
                    Handle::$variant(object) => Some(object),
                    _ => None,
                }
            })+
        }
    };
}

getters! {
    buffer: Buffer -> Buffer;
    texture: Texture -> Texture;
    module: Module -> ShaderModule;
    bind_group_layout: BindGroupLayout -> BindGroupLayout;
    pipeline_layout: PipelineLayout -> PipelineLayout;
    bind_group: BindGroup -> BindGroup;
    compute_pipeline: Compute -> ComputePipeline;
    render_pipeline: Render -> RenderPipeline;
    bundle: Bundle -> RenderBundle;
}

impl Table {
    pub(super) fn view(&self, id: u32) -> Option<(&wgpu::TextureView, wgpu::TextureFormat)> {
        match &self.0.get(&id)?.handle {
            Handle::View(view, format) => Some((view, *format)),
            _ => None,
        }
    }

    pub(super) fn kind(&self, id: u32) -> Option<Kind> {
        self.0.get(&id).map(|made| made.handle.kind())
    }

    /// The buffers and textures, in no order.
    pub(super) fn memory(&self) -> impl Iterator<Item = (u32, &Handle)> {
        self.0.iter().map(|(id, made)| (*id, &made.handle))
    }

    fn serial(&self, id: u32) -> u64 {
        self.0.get(&id).map_or(0, |made| made.serial)
    }
}

/// Objects that are costly to make and hold no state: kept from case to case by content.
#[derive(Debug, Default)]
pub(super) struct Cache {
    made: HashMap<Vec<u8>, Made>,
    /// The last serial number given; none is given twice, so a key never means something else later.
    serial: u64,
}

impl Cache {
    fn keeps(kind: Kind) -> bool {
        matches!(
            kind,
            Kind::Sampler
                | Kind::ShaderModule
                | Kind::BindGroupLayout
                | Kind::PipelineLayout
                | Kind::ComputePipeline
                | Kind::RenderPipeline
        )
    }

    /// `None` for a row that names what is never kept, or nothing that is there: it is refused, and is no other row's likeness.
    fn key(object: &Object, table: &Table) -> Option<Vec<u8>> {
        let mut key = Vec::with_capacity(8 * (1 + object.refs.len()) + object.body.len());
        key.extend(object.kind.word().to_le_bytes());
        // With the count first, references cannot be taken for the start of a body.
        key.extend((object.refs.len() as u32).to_le_bytes());
        for &id in &object.refs {
            let serial = table.serial(id);
            if (id == 0) != (serial == 0) {
                return None;
            }
            key.extend(serial.to_le_bytes());
        }
        key.extend(object.body.as_bytes());
        Some(key)
    }

    fn keep(&mut self, key: Vec<u8>, handle: Handle) -> Made {
        if self.made.len() >= CACHED {
            self.made.clear();
        }
        self.serial += 1;
        let made = Made {
            handle,
            serial: self.serial,
        };
        self.made.insert(key, made.clone());
        made
    }
}

/// Why an object is not made.
enum Refused {
    /// What wire.md section 7 refuses.
    Row(RowRefused),
    /// What the device says, or would say if wgpu's types could ask it.
    Device(TroubleKind, String),
}

impl From<RowRefused> for Refused {
    fn from(refused: RowRefused) -> Self {
        Refused::Row(refused)
    }
}

/// A member of another type than its dictionary's: WebGPU throws.
impl From<serde_json::Error> for Refused {
    fn from(error: serde_json::Error) -> Self {
        Refused::Device(TroubleKind::Validation, error.to_string())
    }
}

type Making = Result<Handle, Refused>;

fn invalid<T>(why: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Device(TroubleKind::Validation, why.into()))
}

/// Makes the objects of a case in their order.
pub(super) struct Maker<'a> {
    pub(super) device: &'a wgpu::Device,
    pub(super) errors: &'a Errors,
    pub(super) cache: &'a mut Cache,
    /// What is left of [`ROOM`].
    pub(super) room: u64,
}

impl Maker<'_> {
    /// Makes a table.
    ///
    /// # Errors
    ///
    /// The first object that is a bad descriptor (wire.md section 7) or that the device refuses, named in the message.
    pub(super) fn table(&mut self, objects: &[Object]) -> Result<Table, Trouble> {
        let mut table = Table::default();
        self.room = ROOM;
        for object in objects {
            let made = self.object(object, &table).map_err(|refused| {
                let (kind, why) = match refused {
                    Refused::Row(why) => (TroubleKind::Validation, why.to_string()),
                    Refused::Device(kind, why) => (kind, why),
                };
                let message = format!("object {} ({}): {why}", object.id, object.kind.name());
                Trouble {
                    command: None,
                    row: Some(object.id),
                    kind,
                    message,
                }
            })?;
            table.0.insert(object.id, made);
        }
        Ok(table)
    }

    fn object(&mut self, object: &Object, table: &Table) -> Result<Made, Refused> {
        if object.id == 0 {
            return Err(Refused::Row(RowRefused::Reason(Reason::ZeroId)));
        }
        self.take_room(bytes_of(object).saturating_add(OBJECT))?;
        if !Cache::keeps(object.kind) {
            let handle = self.make(object, table)?;
            return Ok(Made { handle, serial: 0 });
        }
        let key = Cache::key(object, table);
        if let Some(made) = key.as_ref().and_then(|key| self.cache.made.get(key)) {
            return Ok(made.clone());
        }
        let handle = self.make(object, table)?;
        Ok(match key {
            Some(key) => self.cache.keep(key, handle),
            None => Made { handle, serial: 0 },
        })
    }

    fn take_room(&mut self, bytes: u64) -> Result<(), Refused> {
        let left = self.room.checked_sub(bytes).ok_or_else(|| {
            let why = format!("out of memory: an object table may take {} MiB", ROOM >> 20);
            Refused::Device(TroubleKind::Engine, why)
        });
        self.room = left?;
        Ok(())
    }

    fn make(&self, object: &Object, table: &Table) -> Making {
        let body = object.body.as_bytes();
        let from = calls::check(object.kind, object.refs.clone(), body, |id| table.kind(id))?;
        let handle = match object.kind {
            Kind::Buffer => self.buffer(from),
            Kind::Texture => self.texture(from),
            Kind::TextureView => view(table, from),
            Kind::Sampler => self.sampler(from),
            Kind::ShaderModule => self.module(from),
            Kind::BindGroupLayout => self.bind_group_layout(from),
            Kind::PipelineLayout => self.pipeline_layout(table, &from),
            Kind::BindGroup => self.bind_group(table, from),
            Kind::ComputePipeline => self.compute_pipeline(table, from),
            Kind::RenderPipeline => self.render_pipeline(table, from),
            Kind::RenderBundle => self.bundle(table, from),
        }?;
        match self.errors.take() {
            None => Ok(handle),
            Some((kind, why)) => Err(Refused::Device(kind, why)),
        }
    }
}

/// Whether an object table takes more than [`ROOM`].
pub(super) fn is_too_large(objects: &[Object]) -> bool {
    let bytes = |object: &Object| bytes_of(object).saturating_add(OBJECT);
    objects.iter().map(bytes).fold(0, u64::saturating_add) > ROOM
}

/// The memory of a buffer or a texture, about. What is past the device's own limits takes none here: it says so better.
fn bytes_of(object: &Object) -> u64 {
    match object.kind {
        Kind::Buffer => serde_json::from_str(&object.body).map_or(0, |body: BufferBody| body.bytes()),
        Kind::Texture => serde_json::from_str(&object.body).map_or(0, |body: TextureBody| body.bytes()),
        _ => 0,
    }
}

fn json<T: DeserializeOwned>(body: Map<String, Value>) -> Result<T, Refused> {
    Ok(serde_json::from_value(Value::Object(body))?)
}

// Buffers, textures, views and samplers.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferBody {
    size: u64,
    usage: u32,
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

impl Extent {
    fn size(&self) -> Result<wgpu::Extent3d, Refused> {
        let (width, height, depth_or_array_layers) = match *self {
            Extent::Dict {
                width,
                height,
                depth_or_array_layers,
            } => (width, height, depth_or_array_layers),
            Extent::List(ref list) => match list[..] {
                [w] => (w, 1, 1),
                [w, h] => (w, h, 1),
                [w, h, d] => (w, h, d),
                _ => return invalid("size takes one to three numbers"),
            },
        };
        Ok(wgpu::Extent3d {
            width,
            height,
            depth_or_array_layers,
        })
    }
}

fn one() -> u32 {
    1
}

fn all_bits() -> u32 {
    u32::MAX
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextureBody {
    size: Extent,
    format: wgpu::TextureFormat,
    usage: u32,
    #[serde(default = "one")]
    mip_level_count: u32,
    #[serde(default = "one")]
    sample_count: u32,
    #[serde(default = "two_d")]
    dimension: wgpu::TextureDimension,
    #[serde(default)]
    view_formats: Vec<wgpu::TextureFormat>,
}

impl BufferBody {
    fn bytes(&self) -> u64 {
        Some(self.size)
            .filter(|&size| size <= wgpu::Limits::default().max_buffer_size)
            .unwrap_or(0)
    }
}

impl TextureBody {
    fn bytes(&self) -> u64 {
        let Ok(size) = self.size.size() else { return 0 };
        let counts = [size.width, size.height, size.depth_or_array_layers, self.sample_count];
        if counts
            .iter()
            .any(|&count| count > wgpu::Limits::default().max_texture_dimension_2d)
        {
            return 0;
        }
        // At most 2^52 of them.
        let texels: u64 = counts.iter().map(|&count| u64::from(count)).product();
        let (width, height) = self.format.block_dimensions();
        let block = self.format.block_copy_size(None).unwrap_or(8);
        let first = (texels / u64::from(width * height)).saturating_mul(block.into());
        // All smaller mip levels together are at most as large as the first.
        if self.mip_level_count > 1 {
            first.saturating_mul(2)
        } else {
            first
        }
    }
}

fn two_d() -> wgpu::TextureDimension {
    wgpu::TextureDimension::D2
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ViewBody {
    format: Option<wgpu::TextureFormat>,
    dimension: Option<wgpu::TextureViewDimension>,
    #[serde(default)]
    usage: u32,
    #[serde(default)]
    aspect: wgpu::TextureAspect,
    #[serde(default)]
    base_mip_level: u32,
    mip_level_count: Option<u32>,
    #[serde(default)]
    base_array_layer: u32,
    array_layer_count: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SamplerBody {
    address_mode_u: wgpu::AddressMode,
    address_mode_v: wgpu::AddressMode,
    address_mode_w: wgpu::AddressMode,
    mag_filter: wgpu::FilterMode,
    min_filter: wgpu::FilterMode,
    mipmap_filter: wgpu::MipmapFilterMode,
    lod_min_clamp: f32,
    lod_max_clamp: f32,
    compare: Option<wgpu::CompareFunction>,
    max_anisotropy: u16,
}

impl Default for SamplerBody {
    fn default() -> Self {
        let clamp = wgpu::AddressMode::ClampToEdge;
        SamplerBody {
            address_mode_u: clamp,
            address_mode_v: clamp,
            address_mode_w: clamp,
            mag_filter: wgpu::FilterMode::Nearest,
            min_filter: wgpu::FilterMode::Nearest,
            mipmap_filter: wgpu::MipmapFilterMode::Nearest,
            lod_min_clamp: 0.0,
            lod_max_clamp: 32.0,
            compare: None,
            max_anisotropy: 1,
        }
    }
}

/// WebGPU's usage bits; wgpu has bits of its own past them, which no dictionary can mean.
const BUFFER_USAGE: u32 = 0x3FF;
/// WebGPU's usage bits, transient attachments included.
const TEXTURE_USAGE: u32 = 0x3F;

fn texture_usage(bits: u32) -> Result<wgpu::TextureUsages, Refused> {
    match wgpu::TextureUsages::from_bits(bits) {
        Some(usage) if bits & !TEXTURE_USAGE == 0 => Ok(usage),
        _ => invalid(format!("usage {bits:#x} has bits that WebGPU does not know")),
    }
}

fn view(table: &Table, from: Descriptor) -> Making {
    let texture = table.texture(from.refs[0]).expect(CHECKED);
    let body: ViewBody = json(from.body)?;
    let usage = texture_usage(body.usage)?;
    let view = texture.create_view(&wgpu::TextureViewDescriptor {
        label: None,
        format: body.format,
        dimension: body.dimension,
        usage: (!usage.is_empty()).then_some(usage),
        aspect: body.aspect,
        base_mip_level: body.base_mip_level,
        mip_level_count: body.mip_level_count,
        base_array_layer: body.base_array_layer,
        array_layer_count: body.array_layer_count,
    });
    Ok(Handle::View(view, body.format.unwrap_or(texture.format())))
}

impl Maker<'_> {
    fn buffer(&self, from: Descriptor) -> Making {
        let body: BufferBody = json(from.body)?;
        let usage = match wgpu::BufferUsages::from_bits(body.usage) {
            Some(usage) if body.usage & !BUFFER_USAGE == 0 => usage,
            _ => {
                return invalid(format!("usage {:#x} has bits that WebGPU does not know", body.usage));
            }
        };
        let descriptor = wgpu::BufferDescriptor {
            label: None,
            size: body.size,
            usage,
            mapped_at_creation: false,
        };
        Ok(Handle::Buffer(self.device.create_buffer(&descriptor)))
    }

    fn texture(&self, from: Descriptor) -> Making {
        let body: TextureBody = json(from.body)?;
        Ok(Handle::Texture(self.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: body.size.size()?,
            mip_level_count: body.mip_level_count,
            sample_count: body.sample_count,
            dimension: body.dimension,
            format: body.format,
            usage: texture_usage(body.usage)?,
            view_formats: &body.view_formats,
        })))
    }

    fn sampler(&self, from: Descriptor) -> Making {
        let body: SamplerBody = json(from.body)?;
        Ok(Handle::Sampler(self.device.create_sampler(&wgpu::SamplerDescriptor {
            label: None,
            address_mode_u: body.address_mode_u,
            address_mode_v: body.address_mode_v,
            address_mode_w: body.address_mode_w,
            mag_filter: body.mag_filter,
            min_filter: body.min_filter,
            mipmap_filter: body.mipmap_filter,
            lod_min_clamp: body.lod_min_clamp,
            lod_max_clamp: body.lod_max_clamp,
            compare: body.compare,
            anisotropy_clamp: body.max_anisotropy,
            border_color: None,
        })))
    }
}

// Shader modules, layouts and bind groups.

#[derive(Deserialize)]
struct ModuleBody {
    code: String,
}

#[derive(Deserialize)]
struct Entries<T> {
    entries: Vec<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LayoutEntry {
    binding: u32,
    visibility: u32,
    buffer: Option<BufferLayout>,
    sampler: Option<SamplerLayout>,
    texture: Option<TextureLayout>,
    storage_texture: Option<StorageTextureLayout>,
    external_texture: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BufferLayout {
    #[serde(default, rename = "type")]
    kind: BufferKind,
    #[serde(default)]
    has_dynamic_offset: bool,
    #[serde(default)]
    min_binding_size: u64,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BufferKind {
    #[default]
    Uniform,
    Storage,
    ReadOnlyStorage,
}

#[derive(Deserialize)]
struct SamplerLayout {
    #[serde(default, rename = "type")]
    kind: SamplerKind,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SamplerKind {
    #[default]
    Filtering,
    NonFiltering,
    Comparison,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextureLayout {
    #[serde(default)]
    sample_type: SampleType,
    #[serde(default)]
    view_dimension: wgpu::TextureViewDimension,
    #[serde(default)]
    multisampled: bool,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SampleType {
    #[default]
    Float,
    UnfilterableFloat,
    Depth,
    Sint,
    Uint,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StorageTextureLayout {
    #[serde(default = "write_only")]
    access: wgpu::StorageTextureAccess,
    format: wgpu::TextureFormat,
    #[serde(default)]
    view_dimension: wgpu::TextureViewDimension,
}

fn write_only() -> wgpu::StorageTextureAccess {
    wgpu::StorageTextureAccess::WriteOnly
}

impl BufferLayout {
    fn binding(&self) -> wgpu::BindingType {
        let ty = match self.kind {
            BufferKind::Uniform => wgpu::BufferBindingType::Uniform,
            BufferKind::Storage => wgpu::BufferBindingType::Storage { read_only: false },
            BufferKind::ReadOnlyStorage => wgpu::BufferBindingType::Storage { read_only: true },
        };
        let min_binding_size = wgpu::BufferSize::new(self.min_binding_size);
        wgpu::BindingType::Buffer {
            ty,
            has_dynamic_offset: self.has_dynamic_offset,
            min_binding_size,
        }
    }
}

impl SamplerLayout {
    fn binding(&self) -> wgpu::BindingType {
        wgpu::BindingType::Sampler(match self.kind {
            SamplerKind::Filtering => wgpu::SamplerBindingType::Filtering,
            SamplerKind::NonFiltering => wgpu::SamplerBindingType::NonFiltering,
            SamplerKind::Comparison => wgpu::SamplerBindingType::Comparison,
        })
    }
}

impl TextureLayout {
    fn binding(&self) -> wgpu::BindingType {
        let sample_type = match self.sample_type {
            SampleType::Float => wgpu::TextureSampleType::Float { filterable: true },
            SampleType::UnfilterableFloat => wgpu::TextureSampleType::Float { filterable: false },
            SampleType::Depth => wgpu::TextureSampleType::Depth,
            SampleType::Sint => wgpu::TextureSampleType::Sint,
            SampleType::Uint => wgpu::TextureSampleType::Uint,
        };
        let view_dimension = self.view_dimension;
        wgpu::BindingType::Texture {
            sample_type,
            view_dimension,
            multisampled: self.multisampled,
        }
    }
}

impl StorageTextureLayout {
    fn binding(&self) -> wgpu::BindingType {
        let StorageTextureLayout {
            access,
            format,
            view_dimension,
        } = *self;
        wgpu::BindingType::StorageTexture {
            access,
            format,
            view_dimension,
        }
    }
}

impl LayoutEntry {
    fn entry(&self) -> Result<wgpu::BindGroupLayoutEntry, Refused> {
        let bindings = [
            self.buffer.as_ref().map(BufferLayout::binding),
            self.sampler.as_ref().map(SamplerLayout::binding),
            self.texture.as_ref().map(TextureLayout::binding),
            self.storage_texture.as_ref().map(StorageTextureLayout::binding),
            self.external_texture
                .as_ref()
                .map(|_| wgpu::BindingType::ExternalTexture),
        ];
        let mut bindings = bindings.into_iter().flatten();
        let (Some(ty), None) = (bindings.next(), bindings.next()) else {
            return invalid(format!("binding {} is not of exactly one type", self.binding));
        };
        let visibility = match wgpu::ShaderStages::from_bits(self.visibility) {
            Some(stages)
                if wgpu::ShaderStages::VERTEX_FRAGMENT
                    .union(wgpu::ShaderStages::COMPUTE)
                    .contains(stages) =>
            {
                stages
            }
            _ => {
                return invalid(format!(
                    "visibility {:#x} has bits that WebGPU does not know",
                    self.visibility
                ));
            }
        };
        Ok(wgpu::BindGroupLayoutEntry {
            binding: self.binding,
            visibility,
            ty,
            count: None,
        })
    }
}

#[derive(Deserialize)]
struct GroupEntry {
    binding: u32,
    #[serde(default)]
    offset: u64,
    size: Option<u64>,
}

impl GroupEntry {
    fn entry<'a>(&self, table: &'a Table, id: u32) -> Result<wgpu::BindGroupEntry<'a>, Refused> {
        let resource = match table.0.get(&id).map(|made| &made.handle) {
            Some(Handle::Buffer(buffer)) => {
                let size = self
                    .size
                    .map(|size| wgpu::BufferSize::new(size).ok_or(size))
                    .transpose();
                let size = size.or_else(|_| invalid(format!("binding {} has a size of 0", self.binding)))?;
                wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset: self.offset,
                    size,
                })
            }
            Some(Handle::Sampler(sampler)) => wgpu::BindingResource::Sampler(sampler),
            Some(Handle::View(view, _)) => wgpu::BindingResource::TextureView(view),
            _ => unreachable!("{CHECKED}"),
        };
        Ok(wgpu::BindGroupEntry {
            binding: self.binding,
            resource,
        })
    }
}

impl Maker<'_> {
    fn module(&self, from: Descriptor) -> Making {
        let body: ModuleBody = json(from.body)?;
        let source = wgpu::ShaderSource::Wgsl(body.code.into());
        let descriptor = wgpu::ShaderModuleDescriptor { label: None, source };
        Ok(Handle::Module(self.device.create_shader_module(descriptor)))
    }

    fn bind_group_layout(&self, from: Descriptor) -> Making {
        let body: Entries<LayoutEntry> = json(from.body)?;
        let entries = body
            .entries
            .iter()
            .map(LayoutEntry::entry)
            .collect::<Result<Vec<_>, _>>()?;
        let descriptor = wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &entries,
        };
        Ok(Handle::BindGroupLayout(
            self.device.create_bind_group_layout(&descriptor),
        ))
    }

    fn pipeline_layout(&self, table: &Table, from: &Descriptor) -> Making {
        // A reference of 0 is an empty place.
        let layouts: Vec<_> = from.refs.iter().map(|&id| table.bind_group_layout(id)).collect();
        let descriptor = wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &layouts,
            immediate_size: 0,
        };
        Ok(Handle::PipelineLayout(self.device.create_pipeline_layout(&descriptor)))
    }

    fn bind_group(&self, table: &Table, from: Descriptor) -> Making {
        let body: Entries<GroupEntry> = json(from.body)?;
        let entries = body.entries.iter().zip(&from.refs[1..]);
        let entries = entries.map(|(entry, &id)| entry.entry(table, id));
        let entries = entries.collect::<Result<Vec<_>, _>>()?;
        let descriptor = wgpu::BindGroupDescriptor {
            label: None,
            layout: table.bind_group_layout(from.refs[0]).expect(CHECKED),
            entries: &entries,
        };
        Ok(Handle::BindGroup(self.device.create_bind_group(&descriptor)))
    }
}

// Pipelines.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stage {
    entry_point: Option<String>,
    #[serde(default)]
    constants: BTreeMap<String, f64>,
}

impl Stage {
    fn constants(&self) -> Vec<(&str, f64)> {
        self.constants
            .iter()
            .map(|(key, value)| (key.as_str(), *value))
            .collect()
    }
}

fn options<'a>(constants: &'a [(&'a str, f64)]) -> wgpu::PipelineCompilationOptions<'a> {
    wgpu::PipelineCompilationOptions {
        constants,
        ..Default::default()
    }
}

#[derive(Deserialize)]
struct ComputeBody {
    compute: Stage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RenderBody {
    vertex: VertexStage,
    #[serde(default)]
    primitive: Primitive,
    depth_stencil: Option<DepthStencil>,
    #[serde(default)]
    multisample: Multisample,
    fragment: Option<FragmentStage>,
}

#[derive(Deserialize)]
struct VertexStage {
    #[serde(flatten)]
    stage: Stage,
    #[serde(default)]
    buffers: Vec<Option<VertexBuffer>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VertexBuffer {
    array_stride: u64,
    #[serde(default)]
    step_mode: wgpu::VertexStepMode,
    attributes: Vec<Attribute>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attribute {
    format: wgpu::VertexFormat,
    offset: u64,
    shader_location: u32,
}

#[derive(Deserialize)]
struct FragmentStage {
    #[serde(flatten)]
    stage: Stage,
    targets: Vec<Option<ColorTarget>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ColorTarget {
    format: wgpu::TextureFormat,
    blend: Option<Blend>,
    #[serde(default = "all_colors")]
    write_mask: u32,
}

fn all_colors() -> u32 {
    wgpu::ColorWrites::ALL.bits()
}

#[derive(Deserialize)]
struct Blend {
    color: BlendComponent,
    alpha: BlendComponent,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BlendComponent {
    #[serde(default)]
    operation: wgpu::BlendOperation,
    #[serde(default = "blend_one")]
    src_factor: wgpu::BlendFactor,
    #[serde(default = "blend_zero")]
    dst_factor: wgpu::BlendFactor,
}

fn blend_one() -> wgpu::BlendFactor {
    wgpu::BlendFactor::One
}

fn blend_zero() -> wgpu::BlendFactor {
    wgpu::BlendFactor::Zero
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Primitive {
    topology: wgpu::PrimitiveTopology,
    strip_index_format: Option<wgpu::IndexFormat>,
    front_face: wgpu::FrontFace,
    cull_mode: CullMode,
    unclipped_depth: bool,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CullMode {
    #[default]
    None,
    Front,
    Back,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DepthStencil {
    format: wgpu::TextureFormat,
    depth_write_enabled: Option<bool>,
    depth_compare: Option<wgpu::CompareFunction>,
    #[serde(default)]
    stencil_front: StencilFace,
    #[serde(default)]
    stencil_back: StencilFace,
    #[serde(default = "all_bits")]
    stencil_read_mask: u32,
    #[serde(default = "all_bits")]
    stencil_write_mask: u32,
    #[serde(default)]
    depth_bias: i32,
    #[serde(default)]
    depth_bias_slope_scale: f32,
    #[serde(default)]
    depth_bias_clamp: f32,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct StencilFace {
    compare: wgpu::CompareFunction,
    fail_op: wgpu::StencilOperation,
    depth_fail_op: wgpu::StencilOperation,
    pass_op: wgpu::StencilOperation,
}

impl Default for StencilFace {
    fn default() -> Self {
        let keep = wgpu::StencilOperation::Keep;
        StencilFace {
            compare: wgpu::CompareFunction::Always,
            fail_op: keep,
            depth_fail_op: keep,
            pass_op: keep,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Multisample {
    count: u32,
    mask: u32,
    alpha_to_coverage_enabled: bool,
}

impl Default for Multisample {
    fn default() -> Self {
        Multisample {
            count: 1,
            mask: u32::MAX,
            alpha_to_coverage_enabled: false,
        }
    }
}

impl Primitive {
    fn state(&self) -> wgpu::PrimitiveState {
        let cull_mode = match self.cull_mode {
            CullMode::None => None,
            CullMode::Front => Some(wgpu::Face::Front),
            CullMode::Back => Some(wgpu::Face::Back),
        };
        wgpu::PrimitiveState {
            topology: self.topology,
            strip_index_format: self.strip_index_format,
            front_face: self.front_face,
            cull_mode,
            unclipped_depth: self.unclipped_depth,
            ..Default::default()
        }
    }
}

impl StencilFace {
    fn state(self) -> wgpu::StencilFaceState {
        let StencilFace {
            compare,
            fail_op,
            depth_fail_op,
            pass_op,
        } = self;
        wgpu::StencilFaceState {
            compare,
            fail_op,
            depth_fail_op,
            pass_op,
        }
    }
}

impl DepthStencil {
    fn state(&self) -> wgpu::DepthStencilState {
        wgpu::DepthStencilState {
            format: self.format,
            depth_write_enabled: self.depth_write_enabled,
            depth_compare: self.depth_compare,
            stencil: wgpu::StencilState {
                front: self.stencil_front.state(),
                back: self.stencil_back.state(),
                read_mask: self.stencil_read_mask,
                write_mask: self.stencil_write_mask,
            },
            bias: wgpu::DepthBiasState {
                constant: self.depth_bias,
                slope_scale: self.depth_bias_slope_scale,
                clamp: self.depth_bias_clamp,
            },
        }
    }
}

impl Multisample {
    fn state(&self) -> wgpu::MultisampleState {
        wgpu::MultisampleState {
            count: self.count,
            mask: u64::from(self.mask),
            alpha_to_coverage_enabled: self.alpha_to_coverage_enabled,
        }
    }
}

impl BlendComponent {
    fn state(&self) -> wgpu::BlendComponent {
        let BlendComponent {
            operation,
            src_factor,
            dst_factor,
        } = *self;
        wgpu::BlendComponent {
            src_factor,
            dst_factor,
            operation,
        }
    }
}

impl ColorTarget {
    fn state(&self) -> Result<wgpu::ColorTargetState, Refused> {
        let Some(write_mask) = wgpu::ColorWrites::from_bits(self.write_mask) else {
            return invalid(format!(
                "writeMask {:#x} has bits that WebGPU does not know",
                self.write_mask
            ));
        };
        let blend = self.blend.as_ref();
        let blend = blend.map(|blend| wgpu::BlendState {
            color: blend.color.state(),
            alpha: blend.alpha.state(),
        });
        Ok(wgpu::ColorTargetState {
            format: self.format,
            blend,
            write_mask,
        })
    }
}

impl VertexBuffer {
    fn attributes(&self) -> Vec<wgpu::VertexAttribute> {
        let attribute = |a: &Attribute| wgpu::VertexAttribute {
            format: a.format,
            offset: a.offset,
            shader_location: a.shader_location,
        };
        self.attributes.iter().map(attribute).collect()
    }
}

impl Maker<'_> {
    fn compute_pipeline(&self, table: &Table, from: Descriptor) -> Making {
        let (layout, module) = (from.refs[0], from.refs[1]);
        let body: ComputeBody = json(from.body)?;
        let constants = body.compute.constants();
        Ok(Handle::Compute(self.device.create_compute_pipeline(
            &wgpu::ComputePipelineDescriptor {
                label: None,
                // Without a layout it is WebGPU's `"auto"`.
                layout: table.pipeline_layout(layout),
                module: table.module(module).expect(CHECKED),
                entry_point: body.compute.entry_point.as_deref(),
                compilation_options: options(&constants),
                cache: None,
            },
        )))
    }

    fn render_pipeline(&self, table: &Table, from: Descriptor) -> Making {
        let (layout, vertex, fragment) = (from.refs[0], from.refs[1], from.refs[2]);
        let body: RenderBody = json(from.body)?;
        let attributes: Vec<_> = body
            .vertex
            .buffers
            .iter()
            .map(|b| b.as_ref().map(VertexBuffer::attributes))
            .collect();
        let buffers = body.vertex.buffers.iter().zip(&attributes);
        let buffers: Vec<_> = buffers
            .map(|(buffer, attributes)| vertex_layout(buffer.as_ref()?, attributes.as_ref()?))
            .collect();
        let vertex_constants = body.vertex.stage.constants();
        let fragment_constants = body
            .fragment
            .as_ref()
            .map(|stage| stage.stage.constants())
            .unwrap_or_default();
        let targets = body.fragment.iter().flat_map(|stage| &stage.targets);
        let targets: Vec<_> = targets
            .map(|target| target.as_ref().map(ColorTarget::state).transpose())
            .collect::<Result<_, _>>()?;
        let fragment_state = body.fragment.as_ref().map(|stage| wgpu::FragmentState {
            module: table.module(fragment).expect(CHECKED),
            entry_point: stage.stage.entry_point.as_deref(),
            compilation_options: options(&fragment_constants),
            targets: &targets,
        });
        Ok(Handle::Render(self.device.create_render_pipeline(
            &wgpu::RenderPipelineDescriptor {
                label: None,
                layout: table.pipeline_layout(layout),
                vertex: wgpu::VertexState {
                    module: table.module(vertex).expect(CHECKED),
                    entry_point: body.vertex.stage.entry_point.as_deref(),
                    compilation_options: options(&vertex_constants),
                    buffers: &buffers,
                },
                primitive: body.primitive.state(),
                depth_stencil: body.depth_stencil.as_ref().map(DepthStencil::state),
                multisample: body.multisample.state(),
                fragment: fragment_state,
                multiview_mask: None,
                cache: None,
            },
        )))
    }
}

fn vertex_layout<'a>(
    buffer: &VertexBuffer,
    attributes: &'a [wgpu::VertexAttribute],
) -> Option<wgpu::VertexBufferLayout<'a>> {
    let VertexBuffer {
        array_stride,
        step_mode,
        ..
    } = *buffer;
    Some(wgpu::VertexBufferLayout {
        array_stride,
        step_mode,
        attributes,
    })
}

// Render bundles.

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BundleBody {
    color_formats: Vec<Option<wgpu::TextureFormat>>,
    depth_stencil_format: Option<wgpu::TextureFormat>,
    #[serde(default = "one")]
    sample_count: u32,
    #[serde(default)]
    depth_read_only: bool,
    #[serde(default)]
    stencil_read_only: bool,
}

impl Maker<'_> {
    fn bundle(&self, table: &Table, from: Descriptor) -> Making {
        let replay = bundle_calls(&from, |id| table.kind(id))?;
        if let Some(stop) = replay.stop {
            return Err(Refused::Row(RowRefused::Stop(stop)));
        }
        let body: BundleBody = json(from.body)?;
        let mut encoder = self
            .device
            .create_render_bundle_encoder(&wgpu::RenderBundleEncoderDescriptor {
                label: None,
                color_formats: &body.color_formats,
                depth_stencil: body.depth_stencil_format.map(|format| wgpu::RenderBundleDepthStencil {
                    format,
                    depth_read_only: body.depth_read_only,
                    stencil_read_only: body.stencil_read_only,
                }),
                sample_count: body.sample_count,
                multiview: None,
            });
        // Every call on an encoder that was refused panics.
        if let Some((kind, why)) = self.errors.take() {
            return Err(Refused::Device(kind, why));
        }
        for (_, call) in &replay.calls {
            draw(&mut encoder, call, table).or_else(invalid)?;
        }
        // `finish` panics over what any other call of wgpu reports as a validation error.
        let finish = || encoder.finish(&wgpu::RenderBundleDescriptor { label: None });
        caught(finish)
            .map(Handle::Bundle)
            .or_else(|panic| invalid(one_line(&panic)))
    }
}

// What render passes and bundles have in common.

/// Makes one of the calls that may stand in a bundle too: those of ops 1 to 6, 12 and 13.
///
/// # Errors
///
/// A buffer range that wgpu's Rust types cannot say: past the buffer's end, where WebGPU refuses too, or empty, where it does not.
pub(super) fn draw<'a>(to: &mut impl RenderEncoder<'a>, call: &Call, table: &'a Table) -> Result<(), String> {
    let buffer = |id: u32| table.buffer(id).expect(CHECKED);
    match call {
        Call::SetPipeline(pipeline) => to.set_pipeline(table.render_pipeline(*pipeline).expect(CHECKED)),
        Call::SetBindGroup { index, group, offsets } => {
            to.set_bind_group(*index, group.and_then(|id| table.bind_group(id)), offsets);
        }
        &Call::Draw([vertices, instances, first_vertex, first_instance]) => {
            to.draw(range(first_vertex, vertices), range(first_instance, instances));
        }
        &Call::DrawIndexed {
            counts: [indices, instances, first_index],
            base_vertex,
            first_instance,
        } => {
            let instances = range(first_instance, instances);
            to.draw_indexed(range(first_index, indices), base_vertex, instances);
        }
        Call::SetVertexBuffer(slot, None) => to.set_vertex_buffer(*slot, None),
        Call::SetVertexBuffer(slot, Some(part)) => to.set_vertex_buffer(*slot, Some(slice(buffer(part.buffer), part)?)),
        Call::SetIndexBuffer(part, format) => to.set_index_buffer(slice(buffer(part.buffer), part)?, *format),
        &Call::DrawIndirect(id, offset) => to.draw_indirect(buffer(id), offset),
        &Call::DrawIndexedIndirect(id, offset) => to.draw_indexed_indirect(buffer(id), offset),
        _ => unreachable!("no call of a bundle"),
    }
    Ok(())
}

/// wgpu takes first and count as a range and takes it apart again by subtracting; wrapping keeps the count also where the end is
/// past 2^32.
fn range(first: u32, count: u32) -> std::ops::Range<u32> {
    first..first.wrapping_add(count)
}

fn slice<'a>(buffer: &'a wgpu::Buffer, part: &Section) -> Result<wgpu::BufferSlice<'a>, String> {
    let Section { offset, size, .. } = *part;
    let rest = buffer.size().checked_sub(offset);
    match rest
        .filter(|&rest| size.is_none_or(|size| size <= rest))
        .map(|rest| size.unwrap_or(rest))
    {
        None => Err(format!(
            "the range from {offset} ends past the buffer's {} bytes (wgpu's API refuses the slice itself)",
            buffer.size()
        )),
        Some(0) => Err(format!(
            "the range from {offset} is empty (wgpu's API takes no empty slice; WebGPU does)"
        )),
        Some(size) => Ok(buffer.slice(offset..offset + size)),
    }
}
