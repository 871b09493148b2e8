//! WGSL of the user: the pipeline layout that a file needs, the Metal slots of every entry point, what Metal would refuse, and what
//! the MSL oracle finds.
//!
//! The layout is the one that WebGPU makes for `layout: "auto"`: a bind group layout entry for each resource that an entry point
//! reaches, visible to the stages that reach it, of the type that the shader declares. [`Scope`] says over which entry points. An
//! override without a value is given 1, so that the shader can be translated at all.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use mslmap::StageLayout;
use naga::Module;
use naga::back::msl::{BindSamplerTarget, BindTarget};
use serde::Serialize;

use crate::case::Stage;
use crate::deep;
use crate::msl::arguments::{Argument, Reflection, read};
use crate::oracles::msl::{Checked, Entry, Settings, Source};
use crate::pipeline::{self, Diagnostic, Msl, PipelineError, Shader};
use crate::say;

pub mod derive;
pub mod table;
mod words;

use derive::{Needs, PipelineLayout};

/// The most entry points of one file that are translated: the work for each grows with their number.
pub const MAX_ENTRY_POINTS: usize = 1000;

/// What files are checked with.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The version of MSL.
    pub language_version: (u8, u8),
    /// Values of overrides, by WebGPU's key. A file is given those that it declares.
    pub overrides: BTreeMap<String, f64>,
    /// The entry points of this name alone; the layout is made over all of them.
    pub entry_point: Option<String>,
    /// What shares a pipeline layout.
    pub scope: Scope,
    /// Keep the MSL.
    pub msl: bool,
}

/// The newest language version (slots.md, section 3), no overrides, every entry point.
impl Default for Options {
    fn default() -> Options {
        Options {
            language_version: (4, 0),
            overrides: BTreeMap::new(),
            entry_point: None,
            scope: Scope::File,
            msl: false,
        }
    }
}

/// What shares a pipeline layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Scope {
    /// All entry points of a file. One whose types do not fit those of the entry points before it has a layout of its own.
    #[default]
    File,
    /// Each entry point by itself. A render pipeline with `layout: "auto"` has these slots too, since a stage sees only its own.
    EntryPoint,
}

/// What a file holds. Serialised as `docs/shaders.md` has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileReport {
    /// The file's name.
    pub path: String,
    /// Why nothing was checked, for a file that is no WGSL that naga takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The given overrides that the file declares, by key.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub overrides: BTreeMap<String, f64>,
    /// The overrides without a value, and the one that they were given.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub assumed_overrides: BTreeMap<String, f64>,
    /// The entry points, in the file's order; none in a file of functions only.
    pub entry_points: Vec<EntryPointReport>,
    /// Entry points of stages that wgpu's Metal backend does not have, not checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_stage: Vec<String>,
}

/// Why a file was not checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What sort of fault.
    pub kind: FaultKind,
    /// What is wrong, in one line.
    pub message: String,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in bytes, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// naga's whole report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
}

/// The sorts of [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The file cannot be read, is too long, or is no UTF-8.
    Unreadable,
    /// The file is a template for a preprocessor.
    Template,
    /// It does not parse.
    Syntax,
    /// naga's validator refuses it.
    Invalid,
    /// It has too many entry points, or takes too long.
    TooMuch,
    /// naga panicked.
    Panic,
}

/// What an entry point needs, and what was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntryPointReport {
    /// Its name.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// The resources that it reaches, by group and binding.
    pub bindings: Vec<Binding>,
    /// The immediates that it reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub immediates: Option<Immediates>,
    /// The place of `_buffer_sizes`, where the layout has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_sizes: Option<BufferSizes>,
    /// The buffer slot of the vertex buffer that its inputs are pulled from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertex_buffer_slot: Option<u32>,
    /// Why it does not share the file's layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_layout: Option<String>,
    /// Why there is no MSL: the layout has no slots, or a step of naga's pipeline refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// What Metal would refuse of the MSL, by its limits of arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub past_limits: Vec<String>,
    /// What the MSL oracle found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
    /// The MSL, when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub msl: Option<String>,
}

/// A resource and its slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Binding {
    /// The bind group.
    pub group: u32,
    /// The binding.
    pub binding: u32,
    /// The variable's name in WGSL.
    pub variable: String,
    /// The binding's type, in WebGPU's words.
    #[serde(rename = "type")]
    pub ty: String,
    /// What the function may do with it: `read-only`, `write-only` or `read-write`.
    pub access: &'static str,
    /// Its slots: one, or four of an external texture; none when the layout has no slots.
    pub slots: Vec<Slot>,
}

/// A place in an argument table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Slot {
    /// `buffer`, `texture` or `sampler`.
    pub table: &'static str,
    /// The index.
    pub slot: u32,
}

/// Immediates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Immediates {
    /// The variable's name in WGSL.
    pub variable: String,
    /// Its bytes.
    pub size: u32,
    /// The buffer slot; none when the layout has no slots.
    pub slot: Option<u8>,
}

/// naga's `_buffer_sizes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BufferSizes {
    /// The buffer slot that is kept for it.
    pub slot: u8,
    /// Whether the entry point takes it.
    pub used: bool,
    /// The fields of its struct, each a u32 with the bytes bound.
    pub fields: Vec<SizeField>,
}

/// A field of `_buffer_sizes`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SizeField {
    /// Its name in MSL.
    pub field: String,
    /// The buffer whose bytes it holds.
    #[serde(flatten)]
    pub of: SizeOf,
}

/// Whose bytes a field of `_buffer_sizes` holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SizeOf {
    /// A binding's.
    Binding {
        /// The bind group.
        group: u32,
        /// The binding.
        binding: u32,
        /// The variable's name in WGSL.
        variable: String,
    },
    /// A vertex buffer's.
    VertexBuffer {
        /// Its buffer slot.
        vertex_buffer_slot: u32,
    },
}

/// Something that the MSL oracle found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The property of slots.md, section 4; 0 for what belongs to none.
    pub property: u8,
    /// What was found, and what was expected.
    pub detail: String,
}

impl FileReport {
    fn new(path: &Path) -> FileReport {
        FileReport {
            path: say::one_line(&path.display().to_string()).into_owned(),
            fault: None,
            overrides: BTreeMap::new(),
            assumed_overrides: BTreeMap::new(),
            entry_points: Vec::new(),
            without_stage: Vec::new(),
        }
    }

    /// The report of a file of which nothing was checked.
    pub fn of_fault(path: &Path, kind: FaultKind, message: String) -> FileReport {
        let fault = Fault {
            kind,
            message,
            line: None,
            column: None,
            report: None,
        };
        FileReport {
            fault: Some(fault),
            ..FileReport::new(path)
        }
    }

    /// The number of problems over all entry points: refused, past a limit, or found by the oracle.
    pub fn problems(&self) -> usize {
        self.entry_points.iter().map(EntryPointReport::problems).sum()
    }
}

impl EntryPointReport {
    fn problems(&self) -> usize {
        usize::from(self.refused.is_some()) + self.past_limits.len() + self.differences.len()
    }
}

/// Checks the text of one file; `path` is only its name.
pub fn check_file(path: &Path, source: &str, options: &Options) -> FileReport {
    let (owned, text, with) = (path.to_owned(), source.to_owned(), options.clone());
    let checked = deep::run(source.len(), move || check_source(&owned, &text, &with));
    checked.unwrap_or_else(|message| FileReport::of_fault(path, FaultKind::TooMuch, message))
}

fn check_source(path: &Path, source: &str, options: &Options) -> FileReport {
    let mut report = FileReport::new(path);
    let shader = match Shader::new(source, &report.path) {
        Ok(shader) => shader,
        Err(error) => {
            report.fault = Some(fault(error, source));
            return report;
        }
    };
    let (overrides, assumed_overrides) = overrides(&shader.module, &options.overrides);
    (report.overrides, report.assumed_overrides) = (overrides, assumed_overrides);
    let mut entries = Vec::new();
    for (index, entry) in shader.module.entry_points.iter().enumerate() {
        match Stage::ALL.into_iter().find(|stage| stage.naga() == entry.stage) {
            Some(stage) => entries.push((index, stage)),
            None => report.without_stage.push(entry.name.clone()),
        }
    }
    match check_entry_points(source, &shader, &entries, &report, options) {
        Ok(checked) => report.entry_points = checked,
        Err(message) => return FileReport::of_fault(path, FaultKind::TooMuch, message),
    }
    report
}

/// The error, or the template that the text is instead.
fn fault(error: PipelineError, source: &str) -> Fault {
    let (kind, diagnostic) = match error {
        PipelineError::Syntax(diagnostic) => (FaultKind::Syntax, diagnostic),
        PipelineError::Invalid(diagnostic) => (FaultKind::Invalid, diagnostic),
        other => {
            let message = other.to_string();
            let (place, report) = (None, String::new());
            (FaultKind::Panic, Diagnostic { message, place, report })
        }
    };
    if let Some((line, sign)) = template(source) {
        return Fault {
            kind: FaultKind::Template,
            message: format!("not plain WGSL, a template: `{sign}`"),
            line: Some(line),
            column: None,
            report: None,
        };
    }
    Fault {
        kind,
        message: diagnostic.message,
        line: diagnostic.place.map(|(line, _)| line),
        column: diagnostic.place.map(|(_, column)| column),
        report: Some(diagnostic.report).filter(|report| !report.is_empty()),
    }
}

/// What makes a text a preprocessor's template: its first line that begins with `#` or with WESL's `import`, or that holds `{{`.
/// Only asked of a text that naga does not take.
fn template(source: &str) -> Option<(u32, String)> {
    let sign = |line: &str| {
        let line = line.trim_start();
        match line.split_whitespace().next()? {
            word if word.starts_with('#') => Some(word.to_owned()),
            "import" => Some("import".to_owned()),
            _ if line.contains("{{") && !line.starts_with("//") => Some("{{".to_owned()),
            _ => None,
        }
    };
    let mut lines = (1..).zip(source.lines());
    lines.find_map(|(number, line)| Some((number, sign(line)?)))
}

/// The given overrides that a module declares, and the value 1 for each of the others that has no default.
fn overrides(module: &Module, given: &BTreeMap<String, f64>) -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
    let (mut taken, mut assumed) = (BTreeMap::new(), BTreeMap::new());
    for (_, declared) in module.overrides.iter() {
        let Some(key) = pipeline::key(declared) else {
            continue;
        };
        match given.get(&key) {
            Some(&value) => drop(taken.insert(key, value)),
            None if declared.init.is_none() => drop(assumed.insert(key, 1.0)),
            None => {}
        }
    }
    (taken, assumed)
}

/// # Errors
///
/// There are too many.
fn check_entry_points(
    source: &str,
    shader: &Shader,
    entries: &[(usize, Stage)],
    report: &FileReport,
    options: &Options,
) -> Result<Vec<EntryPointReport>, String> {
    let is_asked = |name: &str| options.entry_point.as_deref().is_none_or(|asked| asked == name);
    let name = |index: usize| shader.module.entry_points[index].name.as_str();
    let asked = entries.iter().filter(|(index, _)| is_asked(name(*index))).count();
    if asked > MAX_ENTRY_POINTS {
        return Err(format!(
            "{asked} entry points; at most {MAX_ENTRY_POINTS} are checked, --entry-point chooses"
        ));
    }
    let values = report.overrides.iter().chain(&report.assumed_overrides);
    let check = Check {
        shader,
        oracle: Source::new(source)?,
        overrides: values.map(|(key, value)| (key.clone(), *value)).collect(),
        options,
    };
    let mut shared = PipelineLayout::default();
    let mut needs = Vec::new();
    for &(index, stage) in entries {
        let found = Needs::of(&shader.module, shader.info.get_entry_point(index), stage);
        let own = match (&found, options.scope) {
            (Ok(found), Scope::File) => shared.join(found).err(),
            _ => None,
        };
        needs.push((found, own));
    }
    let mut reports = Vec::new();
    for (&(index, stage), (needs, own)) in entries.iter().zip(needs) {
        if !is_asked(name(index)) {
            continue;
        }
        let mut report = EntryPointReport::new(name(index), stage);
        match needs {
            Err(message) => report.refused = Some(message),
            Ok(needs) if own.is_some() || options.scope == Scope::EntryPoint => {
                let mut layout = PipelineLayout::default();
                // The first to join fits.
                layout.join(&needs)?;
                report.own_layout = own;
                check.entry_point(&mut report, &needs, &layout);
            }
            Ok(needs) => check.entry_point(&mut report, &needs, &shared),
        }
        reports.push(report);
    }
    Ok(reports)
}

impl EntryPointReport {
    fn new(name: &str, stage: Stage) -> EntryPointReport {
        EntryPointReport {
            name: name.to_owned(),
            stage,
            bindings: Vec::new(),
            immediates: None,
            buffer_sizes: None,
            vertex_buffer_slot: None,
            own_layout: None,
            refused: None,
            past_limits: Vec::new(),
            differences: Vec::new(),
            msl: None,
        }
    }
}

/// What the entry points of a file are checked with.
struct Check<'a> {
    shader: &'a Shader,
    oracle: Source<'a>,
    overrides: BTreeMap<String, f64>,
    options: &'a Options,
}

impl Check<'_> {
    fn entry_point(&self, report: &mut EntryPointReport, needs: &Needs, layout: &PipelineLayout) {
        let groups = layout.groups();
        let groups: Vec<_> = groups.iter().map(|group| Some(group.as_slice())).collect();
        let stage_layout = StageLayout::extended(&groups, report.stage.naga(), layout.extension());
        report.bindings = bindings(needs, stage_layout.as_ref().ok());
        report.immediates = needs.immediates.as_ref().map(|(variable, size)| Immediates {
            variable: variable.clone(),
            size: *size,
            slot: stage_layout.as_ref().ok().and_then(|layout| layout.immediates_slot),
        });
        let stage_layout = match stage_layout {
            Ok(stage_layout) => stage_layout,
            Err(error) => {
                report.refused = Some(error.to_string());
                return;
            }
        };
        report.buffer_sizes = stage_layout.sizes_slot.map(|slot| BufferSizes {
            slot,
            used: false,
            fields: Vec::new(),
        });
        let settings = Settings {
            groups: &groups,
            version: self.options.language_version,
            overrides: &self.overrides,
        };
        let entry = Entry {
            name: report.name.clone(),
            stage: report.stage,
        };
        let checked = self.oracle.check(&entry, &settings);
        match self.write(report, &stage_layout) {
            Ok(msl) => {
                if self.options.msl {
                    report.msl = Some(msl.text);
                }
            }
            Err(error) => {
                let reasons: Vec<_> = checked.refused.keys().map(String::as_str).collect();
                report.refused = Some(format!("{error} ({})", reasons.join(", ")));
            }
        }
        report.differences.extend(differences(checked));
    }

    /// Writes the MSL and reads back what it holds.
    fn write(&self, report: &mut EntryPointReport, layout: &StageLayout) -> Result<Msl, PipelineError> {
        let resolved = self.shader.resolve(report.stage, &report.name, &self.overrides)?;
        let (mut options, mut pipeline) = layout.options(&report.name);
        options.lang_version = self.options.language_version;
        if report.stage == Stage::Vertex {
            let entry = &resolved.module.entry_points[resolved.index];
            pipeline
                .vertex_buffer_mappings
                .extend(derive::vertex_buffer(&resolved.module, entry));
        }
        let msl = resolved.write(&options, &pipeline)?;
        report.vertex_buffer_slot = pipeline.vertex_buffer_mappings.first().map(|buffer| buffer.id);
        match read(&msl.text) {
            Ok(reflection) => report.read(&reflection, &resolved.module),
            Err(error) => report.differences.push(Difference {
                property: 0,
                detail: format!("the MSL cannot be read: {error}"),
            }),
        }
        Ok(msl)
    }
}

impl EntryPointReport {
    fn read(&mut self, reflection: &Reflection, module: &Module) {
        let arguments: Vec<_> = reflection
            .entry_points
            .iter()
            .flat_map(|entry| &entry.arguments)
            .collect();
        if let Some(sizes) = &mut self.buffer_sizes {
            sizes.used = arguments
                .iter()
                .any(|argument| argument.name.starts_with("_buffer_sizes"));
            sizes.fields = size_fields(reflection, module, self.vertex_buffer_slot);
        }
        self.past_limits = past_limits(&arguments);
    }
}

fn differences(checked: Checked) -> impl Iterator<Item = Difference> {
    checked.problems.into_iter().map(|problem| Difference {
        property: problem.property,
        detail: problem.detail,
    })
}

fn bindings(needs: &Needs, layout: Option<&StageLayout>) -> Vec<Binding> {
    let binding = |resource: &derive::Resource| {
        let target = layout.and_then(|layout| layout.resources.get(&resource.at));
        Binding {
            group: resource.at.group,
            binding: resource.at.binding,
            variable: resource.variable.clone(),
            ty: words::binding_type(&resource.entry),
            access: words::access(&resource.entry),
            slots: target.map(slots).unwrap_or_default(),
        }
    };
    needs.resources.iter().map(binding).collect()
}

/// The slots of a target, textures first.
fn slots(target: &BindTarget) -> Vec<Slot> {
    let slot = |table, slot: u8| Slot {
        table,
        slot: u32::from(slot),
    };
    let external = target.external_texture.as_ref();
    let textures = target
        .texture
        .into_iter()
        .chain(external.iter().flat_map(|external| external.planes));
    let buffers = target
        .buffer
        .into_iter()
        .chain(external.map(|external| external.params));
    let sampler = match target.sampler {
        Some(BindSamplerTarget::Resource(slot)) => Some(slot),
        _ => None,
    };
    let textures = textures.map(|index| slot("texture", index));
    let buffers = buffers.map(|index| slot("buffer", index));
    textures
        .chain(buffers)
        .chain(sampler.map(|index| slot("sampler", index)))
        .collect()
}

/// The fields that naga wrote, in its order: the runtime-sized arrays of the module, then the vertex buffers.
fn size_fields(reflection: &Reflection, module: &Module, vertex_buffer: Option<u32>) -> Vec<SizeField> {
    let globals = module.global_variables.iter().map(|(_, global)| global);
    let sized = globals.filter(|global| module.types[global.ty].inner.needs_host_buffer_byte_size(&module.types));
    let arrays = sized.filter_map(|global| {
        Some(SizeOf::Binding {
            group: global.binding?.group,
            binding: global.binding?.binding,
            variable: global.name.clone().unwrap_or_default(),
        })
    });
    let vertex = vertex_buffer.map(|vertex_buffer_slot| SizeOf::VertexBuffer { vertex_buffer_slot });
    let names = reflection.buffer_sizes.iter().flatten().map(|field| field.name.clone());
    names
        .zip(arrays.chain(vertex))
        .map(|(field, of)| SizeField { field, of })
        .collect()
}

/// The arguments that Metal has no place for, and those that share one.
fn past_limits(arguments: &[&Argument]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut past = Vec::new();
    for argument in arguments {
        let (table, index) = (argument.table, argument.index);
        let at = format!("`{}` at {} {index}", argument.name, table.name());
        if index >= table.limit() {
            past.push(format!("{at}: Metal has {}s 0 to {}", table.name(), table.limit() - 1));
        }
        if !taken.insert((table, index)) {
            past.push(format!("{at}, where another argument is"));
        }
    }
    past
}
