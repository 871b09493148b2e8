//! WGSL of the user: the layout that each entry point needs, its Metal slots, and what the MSL oracle finds.
//!
//! An entry point's layout is the one that WebGPU makes for `layout: "auto"`: a bind group layout entry for each resource that
//! it reaches, visible to its stage alone, of the type that the shader declares. The file is checked at the newest system and
//! at an old one ([`SYSTEMS`]). An override without a default is given 1, so that the shader can be translated at all.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use mslmap::StageLayout;
use naga::valid::FunctionInfo;
use naga::{AddressSpace, GlobalVariable, Handle, ImageClass, Module, ResourceBinding, StorageAccess, TypeInner};
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, StorageTextureAccess, TextureFormat,
    TextureSampleType, TextureViewDimension,
};

use crate::case::{Platform, Stage, System};
use crate::deep::{self, MAX_WGSL};
use crate::files::find;
use crate::oracles::msl::{Checked, Entry, Settings, Source, language_version, slots};
use crate::{input, say};

/// The macOS versions that a file is checked at: the newest of slots.md, section 3, and the first with Metal.
pub const SYSTEMS: [(u32, u32); 2] = [(26, 0), (10, 11)];

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct FileReport {
    /// The file's name.
    pub path: PathBuf,
    /// Why nothing was checked, for a file that is no WGSL that naga takes.
    pub fault: Option<Fault>,
    /// The entry points, in the file's order; none in a file of functions only.
    pub entry_points: Vec<EntryPointReport>,
}

/// Why a file was not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file is a template for a preprocessor: what stands where.
    Template(String),
    /// naga's message, with its place.
    Invalid(String),
    /// It is too long, or takes too long.
    TooMuch(String),
}

/// What an entry point needs, and what was found.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryPointReport {
    /// Its name.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// The resources that it reaches, by group and binding; one row for each slot.
    pub rows: Vec<Row>,
    /// The buffer slot of `_buffer_sizes`, where the layout has one.
    pub sizes_slot: Option<u8>,
    /// The bindings whose sizes `_buffer_sizes` holds, in order.
    pub sizes: Vec<(u32, u32)>,
    /// Why the layout has no slots, such as a binding array: then nothing was translated.
    pub no_layout: Option<String>,
    /// What the oracle saw, system by system, in the order of [`SYSTEMS`].
    pub checked: Vec<((u32, u32), Checked)>,
}

/// A slot of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The bind group.
    pub group: u32,
    /// The binding.
    pub binding: u32,
    /// The variable's name in WGSL.
    pub name: String,
    /// The binding's type, in WebGPU's words.
    pub ty: String,
    /// The argument table and the index in it; none when the layout has no slots.
    pub slot: Option<(&'static str, u32)>,
}

impl FileReport {
    /// The number of problems over all entry points and systems.
    pub fn problems(&self) -> usize {
        let checked = self.entry_points.iter().flat_map(|entry| &entry.checked);
        checked.map(|(_, checked)| checked.problems.len()).sum()
    }
}

/// Checks the text of one file; `path` is only its name.
pub fn check_file(path: &Path, source: &str) -> FileReport {
    let report = |fault, entry_points| FileReport {
        path: path.to_owned(),
        fault,
        entry_points,
    };
    let (name, text) = (path.to_owned(), source.to_owned());
    let checked = deep::run(source.len(), move || check_source(&name, &text));
    checked.unwrap_or_else(|message| report(Some(Fault::TooMuch(message)), Vec::new()))
}

fn check_source(path: &Path, source: &str) -> FileReport {
    let report = |fault, entry_points| FileReport {
        path: path.to_owned(),
        fault,
        entry_points,
    };
    match Source::new(source) {
        Ok(source) => {
            let entries = source.entry_points();
            report(
                None,
                entries.iter().map(|entry| check_entry_point(&source, entry)).collect(),
            )
        }
        Err(message) => {
            let fault = template(source).map_or(Fault::Invalid(message), Fault::Template);
            report(Some(fault), Vec::new())
        }
    }
}

/// Checks files, and the `*.wgsl` files in folders, and writes a report of each.
///
/// Returns the exit status: 0 when nothing was found, 1 when there are problems, 2 when a file cannot be read or is no plain and
/// valid WGSL; 2 outranks 1.
///
/// # Errors
///
/// A path that does not exist, no WGSL file at all, both before anything is checked; and a report that cannot be written.
pub fn run(paths: &[PathBuf], out: &mut dyn Write) -> anyhow::Result<u8> {
    let found: Vec<_> = paths
        .iter()
        .map(|path| find(path, "wgsl"))
        .collect::<anyhow::Result<_>>()?;
    let files: Vec<PathBuf> = found.into_iter().flatten().collect();
    anyhow::ensure!(!files.is_empty(), "no WGSL file (*.wgsl) found");
    let (mut bad, mut problems) = (false, 0);
    for file in &files {
        match input::text(file, MAX_WGSL as u64) {
            Ok(source) => {
                let report = check_file(file, &source);
                problems += report.problems();
                bad |= report.fault.is_some();
                write!(out, "{}", say::printable(&text(&report)))?;
            }
            Err(error) => {
                writeln!(out, "{}\n  cannot be read: {error}", name_of(file))?;
                bad = true;
            }
        }
    }
    Ok(if bad { 2 } else { u8::from(problems > 0) })
}

/// What makes a text a preprocessor's template: its first line that begins with `#` or with WESL's `import`, or that holds `{{`.
/// Only asked of a text that naga does not take.
fn template(source: &str) -> Option<String> {
    let sign = |line: &str| {
        let line = line.trim_start();
        match line.split_whitespace().next()? {
            word if word.starts_with('#') => Some(word.to_owned()),
            "import" => Some("import".to_owned()),
            _ if line.contains("{{") && !line.starts_with("//") => Some("{{".to_owned()),
            _ => None,
        }
    };
    let mut lines = source.lines().enumerate();
    lines.find_map(|(nth, line)| Some(format!("`{}` in line {}", sign(line)?, nth + 1)))
}

fn check_entry_point(source: &Source<'_>, entry: &Entry) -> EntryPointReport {
    let mut report = EntryPointReport {
        name: entry.name.clone(),
        stage: entry.stage,
        rows: Vec::new(),
        sizes_slot: None,
        sizes: Vec::new(),
        no_layout: None,
        checked: Vec::new(),
    };
    let module = &source.module;
    let is_entry = |found: &naga::EntryPoint| found.stage == entry.stage.naga() && found.name == entry.name;
    let Some(index) = module.entry_points.iter().position(is_entry) else {
        return report;
    };
    let resources = match resources(module, source.info.get_entry_point(index), entry.stage) {
        Ok(resources) => resources,
        Err(message) => {
            report.no_layout = Some(message);
            return report;
        }
    };
    let groups = groups(&resources);
    let groups: Vec<Option<&[BindGroupLayoutEntry]>> = groups.iter().map(|group| Some(group.as_slice())).collect();
    let layout = StageLayout::new(&groups, entry.stage.naga());
    report.rows = rows(module, &resources, layout.as_ref().ok());
    match layout {
        Ok(layout) => {
            report.sizes_slot = layout.sizes_slot;
            let sized = |resource: &&Resource<'_>| {
                module.types[resource.global.ty]
                    .inner
                    .needs_host_buffer_byte_size(&module.types)
            };
            let place = |resource: &Resource<'_>| (resource.at.group, resource.at.binding);
            report.sizes = resources.iter().filter(sized).map(place).collect();
        }
        Err(error) => {
            report.no_layout = Some(error.to_string());
            return report;
        }
    }
    let overrides = missing_overrides(module);
    for (major, minor) in SYSTEMS {
        let system = System {
            platform: Platform::MacOs,
            major,
            minor,
        };
        let version = language_version(&system);
        let settings = Settings {
            groups: &groups,
            version,
            overrides: &overrides,
        };
        report.checked.push(((major, minor), source.check(entry, &settings)));
    }
    report
}

/// The value 1 for each override that has none of its own.
fn missing_overrides(module: &Module) -> BTreeMap<String, f64> {
    let missing = module.overrides.iter().filter(|(_, found)| found.init.is_none());
    let key = |found: &naga::Override| found.id.map(|id| id.to_string()).or_else(|| found.name.clone());
    missing.filter_map(|(_, found)| Some((key(found)?, 1.0))).collect()
}

/// A resource that an entry point reaches.
struct Resource<'a> {
    at: ResourceBinding,
    global: &'a GlobalVariable,
    entry: BindGroupLayoutEntry,
}

/// The resources that an entry point reaches, in the module's order.
///
/// # Errors
///
/// A resource that no bind group layout holds: immediates.
fn resources<'a>(module: &'a Module, uses: &FunctionInfo, stage: Stage) -> Result<Vec<Resource<'a>>, String> {
    let mut found = Vec::new();
    for (handle, global) in module
        .global_variables
        .iter()
        .filter(|(handle, _)| !uses[*handle].is_empty())
    {
        if global.space == AddressSpace::Immediate {
            return Err(format!("immediates (`{}`) have no place in this layout", name(global)));
        }
        let Some(at) = global.binding else {
            continue;
        };
        let (ty, count) = match module.types[global.ty].inner {
            // An array without a length takes it from the layout; one stands for any.
            TypeInner::BindingArray { base, size } => {
                let count = if let naga::ArraySize::Constant(count) = size {
                    count.get()
                } else {
                    1
                };
                (base, std::num::NonZeroU32::new(count))
            }
            _ => (global.ty, None),
        };
        let ty = binding_type(module, global, ty, is_sampled(uses, handle))
            .ok_or_else(|| format!("`{}` is no resource of WebGPU", name(global)))?;
        let entry = BindGroupLayoutEntry {
            binding: at.binding,
            visibility: stage.visibility(),
            ty,
            count,
        };
        found.push(Resource { at, global, entry });
    }
    Ok(found)
}

fn name(global: &GlobalVariable) -> &str {
    global.name.as_deref().unwrap_or("unnamed")
}

/// Whether a texture is used with a sampler: only then is a float texture filterable in WebGPU's default layout.
fn is_sampled(uses: &FunctionInfo, texture: Handle<GlobalVariable>) -> bool {
    uses.sampling_set.iter().any(|pair| pair.image == texture)
}

/// The layout's type of a variable of a type, which is an array's element for a binding array.
fn binding_type(
    module: &Module,
    global: &GlobalVariable,
    ty: Handle<naga::Type>,
    is_sampled: bool,
) -> Option<BindingType> {
    let buffer = |ty| BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    match (global.space, &module.types[ty].inner) {
        (AddressSpace::Uniform, _) => Some(buffer(BufferBindingType::Uniform)),
        (AddressSpace::Storage { access }, _) => Some(buffer(BufferBindingType::Storage {
            read_only: !access.contains(StorageAccess::STORE),
        })),
        (_, TypeInner::Sampler { comparison }) => Some(BindingType::Sampler(if *comparison {
            SamplerBindingType::Comparison
        } else {
            SamplerBindingType::Filtering
        })),
        (_, TypeInner::AccelerationStructure { vertex_return }) => Some(BindingType::AccelerationStructure {
            vertex_return: *vertex_return,
        }),
        (_, TypeInner::Image { dim, arrayed, class }) => image_type(view_dimension(*dim, *arrayed), *class, is_sampled),
        _ => None,
    }
}

fn image_type(view_dimension: TextureViewDimension, class: ImageClass, is_sampled: bool) -> Option<BindingType> {
    let texture = |sample_type, multisampled| {
        Some(BindingType::Texture {
            sample_type,
            view_dimension,
            multisampled,
        })
    };
    match class {
        ImageClass::Sampled { kind, multi } => {
            let sample_type = match kind {
                naga::ScalarKind::Sint => TextureSampleType::Sint,
                naga::ScalarKind::Uint => TextureSampleType::Uint,
                _ => TextureSampleType::Float {
                    filterable: is_sampled && !multi,
                },
            };
            texture(sample_type, multi)
        }
        ImageClass::Depth { multi } => texture(TextureSampleType::Depth, multi),
        ImageClass::Storage { format, access } => {
            let access = storage_access(access);
            Some(BindingType::StorageTexture {
                access,
                format: texture_format(format)?,
                view_dimension,
            })
        }
        ImageClass::External => Some(BindingType::ExternalTexture),
    }
}

fn view_dimension(dim: naga::ImageDimension, arrayed: bool) -> TextureViewDimension {
    match (dim, arrayed) {
        (naga::ImageDimension::D1, _) => TextureViewDimension::D1,
        (naga::ImageDimension::D2, false) => TextureViewDimension::D2,
        (naga::ImageDimension::D2, true) => TextureViewDimension::D2Array,
        (naga::ImageDimension::D3, _) => TextureViewDimension::D3,
        (naga::ImageDimension::Cube, false) => TextureViewDimension::Cube,
        (naga::ImageDimension::Cube, true) => TextureViewDimension::CubeArray,
    }
}

fn storage_access(access: StorageAccess) -> StorageTextureAccess {
    if access.contains(StorageAccess::ATOMIC) {
        StorageTextureAccess::Atomic
    } else if access.contains(StorageAccess::LOAD | StorageAccess::STORE) {
        StorageTextureAccess::ReadWrite
    } else if access.contains(StorageAccess::STORE) {
        StorageTextureAccess::WriteOnly
    } else {
        StorageTextureAccess::ReadOnly
    }
}

/// wgpu's format for naga's: the variants of both have WebGPU's names, and wgpu's reads that name.
fn texture_format(format: naga::StorageFormat) -> Option<TextureFormat> {
    serde_json::from_value(format!("{format:?}").to_lowercase().into()).ok()
}

/// The bind group layouts that hold the resources; a group without one is empty.
fn groups(resources: &[Resource<'_>]) -> Vec<Vec<BindGroupLayoutEntry>> {
    // Capped, so that a group number of four billion makes no list of that length; nine are refused already.
    let count = resources.iter().map(|resource| resource.at.group.min(1000) + 1).max();
    let mut groups = vec![Vec::new(); count.unwrap_or(0) as usize];
    for resource in resources {
        if let Some(group) = groups.get_mut(resource.at.group as usize) {
            group.push(resource.entry);
        }
    }
    groups
}

fn rows(module: &Module, resources: &[Resource<'_>], layout: Option<&StageLayout>) -> Vec<Row> {
    let mut rows = Vec::new();
    for resource in resources {
        let row = |slot| Row {
            group: resource.at.group,
            binding: resource.at.binding,
            name: name(resource.global).to_owned(),
            ty: type_words(&resource.entry),
            slot,
        };
        let target = layout.and_then(|layout| layout.resources.get(&resource.at));
        let ty = &module.types[resource.global.ty].inner;
        let slots = target.map(|target| slots(ty, target)).filter(|slots| !slots.is_empty());
        match slots {
            Some(slots) => rows.extend(slots.into_iter().map(|(table, index)| row(Some((table.name(), index))))),
            None => rows.push(row(None)),
        }
    }
    rows.sort_by_key(|row| (row.group, row.binding));
    rows
}

/// A binding's type, in the words of WebGPU's `GPUBindGroupLayoutEntry`.
fn type_words(entry: &BindGroupLayoutEntry) -> String {
    let words = match entry.ty {
        BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            ..
        } => "uniform".to_owned(),
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: true },
            ..
        } => "read-only-storage".to_owned(),
        BindingType::Buffer {
            ty: BufferBindingType::Storage { read_only: false },
            ..
        } => "storage".to_owned(),
        BindingType::Sampler(SamplerBindingType::Comparison) => "comparison sampler".to_owned(),
        BindingType::Sampler(_) => "filtering sampler".to_owned(),
        BindingType::Texture {
            sample_type,
            view_dimension,
            multisampled,
        } => {
            let sample = match sample_type {
                TextureSampleType::Float { filterable: true } => "float",
                TextureSampleType::Float { filterable: false } => "unfilterable-float",
                TextureSampleType::Depth => "depth",
                TextureSampleType::Sint => "sint",
                TextureSampleType::Uint => "uint",
            };
            let multisampled = if multisampled { " multisampled" } else { "" };
            format!("{sample} texture {}{multisampled}", dimension_word(view_dimension))
        }
        BindingType::StorageTexture {
            access,
            format,
            view_dimension,
        } => {
            let access = match access {
                StorageTextureAccess::WriteOnly => "write-only",
                StorageTextureAccess::ReadOnly => "read-only",
                StorageTextureAccess::ReadWrite => "read-write",
                StorageTextureAccess::Atomic => "atomic",
            };
            let format = format!("{format:?}").to_lowercase();
            format!("{access} storage texture {} {format}", dimension_word(view_dimension))
        }
        BindingType::AccelerationStructure { .. } => "acceleration structure".to_owned(),
        BindingType::ExternalTexture => "external texture".to_owned(),
    };
    match entry.count {
        Some(count) => format!("{words} array of {count}"),
        None => words,
    }
}

fn dimension_word(dimension: TextureViewDimension) -> &'static str {
    match dimension {
        TextureViewDimension::D1 => "1d",
        TextureViewDimension::D2 => "2d",
        TextureViewDimension::D2Array => "2d-array",
        TextureViewDimension::Cube => "cube",
        TextureViewDimension::CubeArray => "cube-array",
        TextureViewDimension::D3 => "3d",
    }
}

/// A file's name, which may hold line breaks, in one line.
fn name_of(path: &Path) -> String {
    say::one_line(&path.display().to_string()).into_owned()
}

/// The report as text, one file after the other.
fn text(report: &FileReport) -> String {
    let mut text = format!("{}\n", name_of(&report.path));
    match &report.fault {
        Some(Fault::Template(what)) => {
            let _ = writeln!(text, "  not plain WGSL, a template: {what}");
        }
        Some(Fault::Invalid(message)) => {
            let _ = writeln!(text, "  not valid WGSL: {}", message.trim_end());
        }
        Some(Fault::TooMuch(message)) => {
            let _ = writeln!(text, "  not checked: {message}");
        }
        None if report.entry_points.is_empty() => text.push_str("  no entry points\n"),
        None => report
            .entry_points
            .iter()
            .for_each(|entry| entry_text(&mut text, entry)),
    }
    text
}

/// Writing to a string does not fail, so its results are let go.
fn entry_text(text: &mut String, entry: &EntryPointReport) {
    let _ = writeln!(text, "  {} {}", entry.stage.name(), entry.name);
    let width = |of: fn(&Row) -> &str| entry.rows.iter().map(|row| of(row).len()).max().unwrap_or(0);
    let (names, types) = (width(|row| &row.name), width(|row| &row.ty));
    for Row {
        group,
        binding,
        name,
        ty,
        slot,
    } in &entry.rows
    {
        let slot = slot.map_or("no slot".to_owned(), |(table, index)| format!("{table} {index}"));
        let _ = writeln!(text, "    {group:>3} {binding:>5}  {name:names$}  {ty:types$}  {slot}");
    }
    if let Some(slot) = entry.sizes_slot {
        let sizes: Vec<String> = entry
            .sizes
            .iter()
            .map(|(group, binding)| format!("{group}/{binding}"))
            .collect();
        let _ = writeln!(text, "    _buffer_sizes  buffer {slot}  [{}]", sizes.join(", "));
    }
    if let Some(message) = &entry.no_layout {
        let _ = writeln!(text, "    not translated: {message}");
    }
    for ((major, minor), checked) in &entry.checked {
        for (reason, count) in &checked.refused {
            let times = if *count == 1 {
                String::new()
            } else {
                format!(" ({count} times)")
            };
            let _ = writeln!(text, "    macOS {major}.{minor}: {reason}{times}");
        }
        for problem in &checked.problems {
            let _ = writeln!(
                text,
                "    macOS {major}.{minor}: PROBLEM {}: {}",
                problem.property, problem.detail
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WGSL: &str = "
        override count: u32;
        @group(0) @binding(4) var shadow: texture_depth_2d_array;
        @group(0) @binding(1) var<uniform> tint: vec4f;
        @group(0) @binding(3) var compare: sampler_comparison;
        @group(0) @binding(0) var image: texture_2d<f32>;
        @group(0) @binding(2) var linear: sampler;
        @group(2) @binding(7) var<storage> rows: array<vec4f>;
        @group(2) @binding(0) var<storage, read_write> totals: array<u32>;
        @group(2) @binding(1) var target_: texture_storage_2d<rgba8unorm, write>;
        @group(2) @binding(2) var ids: texture_multisampled_2d<u32>;
        @fragment fn shade(@location(0) uv: vec2f) -> @location(0) vec4f {
            let light = textureSampleCompare(shadow, compare, uv, 0, 0.5);
            return tint * light * textureSample(image, linear, uv) * rows[0];
        }
        @compute @workgroup_size(8) fn fill(@builtin(global_invocation_id) id: vec3u) {
            totals[id.x] = count + textureLoad(ids, id.xy, 0).x;
            textureStore(target_, id.xy, textureLoad(image, id.xy, 0));
        }";

    fn row(group: u32, binding: u32, name: &str, ty: &str, table: &'static str, index: u32) -> Row {
        Row {
            group,
            binding,
            name: name.into(),
            ty: ty.into(),
            slot: Some((table, index)),
        }
    }

    #[test]
    fn layouts_are_those_of_auto() {
        let report = check_file(Path::new("a.wgsl"), WGSL);
        assert_eq!((&report.fault, report.problems()), (&None, 0), "{}", text(&report));
        let [shade, fill] = &report.entry_points[..] else {
            panic!("{report:?}")
        };
        let of_shade = [
            row(0, 0, "image", "float texture 2d", "texture", 0),
            row(0, 1, "tint", "uniform", "buffer", 0),
            row(0, 2, "linear", "filtering sampler", "sampler", 0),
            row(0, 3, "compare", "comparison sampler", "sampler", 1),
            row(0, 4, "shadow", "depth texture 2d-array", "texture", 1),
            row(2, 7, "rows", "read-only-storage", "buffer", 1),
        ];
        assert_eq!(shade.rows, of_shade);
        assert_eq!((shade.sizes_slot, &shade.sizes), (Some(2), &vec![(2, 7)]));
        let of_fill = [
            row(0, 0, "image", "unfilterable-float texture 2d", "texture", 0),
            row(2, 0, "totals", "storage", "buffer", 0),
            row(
                2,
                1,
                "target_",
                "write-only storage texture 2d rgba8unorm",
                "texture",
                1,
            ),
            row(2, 2, "ids", "uint texture 2d multisampled", "texture", 2),
        ];
        assert_eq!(fill.rows, of_fill);
        assert_eq!((fill.sizes_slot, &fill.sizes), (Some(1), &vec![(2, 0)]));
        assert_eq!(
            fill.checked.iter().map(|(_, checked)| checked.translated).sum::<u64>(),
            2
        );
    }

    #[test]
    fn every_storage_format_has_wgpus() {
        let formats = "r8unorm r8snorm r8uint r8sint r16unorm r16snorm r16uint r16sint r16float rg8unorm rg8snorm rg8uint \
            rg8sint r32uint r32sint r32float rg16unorm rg16snorm rg16uint rg16sint rg16float rgba8unorm rgba8snorm rgba8uint \
            rgba8sint bgra8unorm rgb10a2uint rgb10a2unorm rg11b10ufloat r64uint rg32uint rg32sint rg32float rgba16unorm \
            rgba16snorm rgba16uint rgba16sint rgba16float rgba32uint rgba32sint rgba32float";
        for format in formats.split_whitespace() {
            let wgsl = format!(
                "@group(0) @binding(0) var a: texture_storage_3d<{format}, write>;
                 @compute @workgroup_size(1) fn c() {{ _ = textureDimensions(a); }}"
            );
            let report = check_file(Path::new(format), &wgsl);
            let expected = format!("write-only storage texture 3d {format}");
            let found = report
                .entry_points
                .first()
                .and_then(|entry| entry.rows.first())
                .map(|row| row.ty.as_str());
            assert_eq!(found, Some(expected.as_str()), "{}", text(&report));
        }
    }

    #[test]
    fn what_the_layout_has_no_place_for_is_said() {
        let wgsl = "enable wgpu_binding_array;
            @group(0) @binding(0) var images: binding_array<texture_2d<f32>, 4>;
            @group(9) @binding(0) var<uniform> far: vec4f;
            @group(0) @binding(1) var film: texture_external;
            @fragment fn many() { _ = textureLoad(images[0], vec2i(), 0); }
            @fragment fn nine() { _ = far; }
            @fragment fn films() { _ = textureLoad(film, vec2i()); }";
        let report = check_file(Path::new("a.wgsl"), wgsl);
        let said: Vec<_> = report
            .entry_points
            .iter()
            .map(|entry| entry.no_layout.as_deref().unwrap_or(""))
            .collect();
        let expected = [
            "group 0 binding 0 is a binding array, which this layout has no place for",
            "the pipeline layout has 10 bind groups, but at most 8 are allowed",
            "group 0 binding 1 is an external texture, which this layout has no place for",
        ];
        assert_eq!(said, expected, "{}", text(&report));
        assert_eq!(
            report.entry_points[0].rows[0].ty,
            "unfilterable-float texture 2d array of 4"
        );
        assert_eq!(report.entry_points[0].rows[0].slot, None);
    }

    #[test]
    fn templates_and_bad_shaders() {
        let fault = |source: &str| check_file(Path::new("a.wgsl"), source).fault;
        let template = |what: &str| Some(Fault::Template(what.into()));
        assert_eq!(
            fault("\n  #import bevy::view\nfn f() {}"),
            template("`#import` in line 2")
        );
        assert_eq!(fault("import a::b;"), template("`import` in line 1"));
        assert_eq!(fault("const N = {{ n }};"), template("`{{` in line 1"));
        assert_eq!(fault("// #import\nfn f() {{ }}"), None);
        let Some(Fault::Invalid(message)) = fault("fn f() {\n  return 1 +;\n}") else {
            panic!()
        };
        assert!(message.contains("wgsl:2:13"), "{message}");
    }

    #[test]
    fn statuses() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let run = |paths: &[PathBuf]| {
            let mut out = Vec::new();
            let status = run(paths, &mut out).map_err(|error| error.to_string());
            let hide = |text: &str| text.replace(&folder.path().display().to_string(), "FOLDER");
            status
                .map(|status| (status, hide(&String::from_utf8(out).unwrap())))
                .map_err(|error| hide(&error))
        };
        let bad = |message: &str| Err(message.to_owned());
        assert_eq!(run(&[folder.path().to_owned()]), bad("no WGSL file (*.wgsl) found"));
        assert_eq!(run(&[at("none.wgsl")]), bad("FOLDER/none.wgsl: no such file or folder"));
        std::fs::create_dir(at("deep")).unwrap();
        std::fs::write(at("deep/b.wgsl"), "fn f() {}").unwrap();
        std::fs::write(at("deep/c.txt"), "no shader").unwrap();
        let shader = "@group(0) @binding(3) var<uniform> tint: vec4f; @fragment fn f() { _ = tint.x; }";
        std::fs::write(at("a.wgsl"), shader).unwrap();
        let expected = "FOLDER/a.wgsl\n  fragment f\n      0     3  tint  uniform  buffer 0\n\
                        FOLDER/deep/b.wgsl\n  no entry points\n";
        assert_eq!(run(&[folder.path().to_owned()]), Ok((0, expected.into())));
        std::fs::write(at("a.wgsl"), "#import x").unwrap();
        let template = "FOLDER/a.wgsl\n  not plain WGSL, a template: `#import` in line 1\n";
        assert_eq!(run(&[at("a.wgsl")]), Ok((2, template.into())));
        std::fs::write(at("a.wgsl"), [0xff]).unwrap();
        assert_eq!(run(&[at("a.wgsl")]).map(|(status, _)| status), Ok(2));
    }
}
