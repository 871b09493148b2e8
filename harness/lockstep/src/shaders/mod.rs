//! WGSL of the user: the pipeline layout that a file needs, the Metal slots of every entry point, what Metal would refuse, and what
//! the MSL oracle finds.
//!
//! The layout is the one that WebGPU makes for `layout: "auto"`: a bind group layout entry for each resource that an entry point
//! reaches, visible to the stages that reach it, of the type that the shader declares. [`Scope`] says over which entry points. An
//! override without a value is given 1, so that the shader can be translated at all.

use std::collections::BTreeMap;
use std::path::Path;

use naga::Module;

use crate::case::Stage;
use crate::deep;
use crate::pipeline::{self, PipelineError, Shader};

pub mod derive;
mod entry;
mod report;
pub mod table;
mod words;

use derive::{Needs, PipelineLayout};
use entry::Check;
pub use report::{
    Binding, BufferSizes, Declared, Difference, EntryPointReport, Fault, FaultKind, FileReport, Immediates, SizeField,
    SizeOf, Slot,
};

/// The most entry points of one file that are checked: the work for each grows with their number.
pub const MAX_ENTRY_POINTS: usize = 256;

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
    /// Each entry point by itself, as a compute pipeline with `layout: "auto"` has it. For a render pipeline use `file`: its stages
    /// share a layout, and immediates of one take a slot of the other.
    EntryPoint,
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
    report.declared = declared(&shader.module);
    (report.overrides, report.assumed_overrides) = overrides(&shader.module, &options.overrides);
    let mut overrides = report.overrides.clone();
    overrides.extend(report.assumed_overrides.clone());
    let mut entries = Vec::new();
    for (index, entry) in shader.module.entry_points.iter().enumerate() {
        match Stage::ALL.into_iter().find(|stage| stage.naga() == entry.stage) {
            Some(stage) => entries.push((index, stage)),
            None => report.without_stage.push(entry.name.clone()),
        }
    }
    match check_entry_points(&shader, &entries, overrides, options) {
        Ok(checked) => report.entry_points = checked,
        Err(message) => return FileReport::of_fault(path, FaultKind::TooMuch, message),
    }
    report
}

fn declared(module: &Module) -> Declared {
    let names = module.entry_points.iter().map(|entry| entry.name.clone());
    let overrides = module.overrides.iter();
    let overrides = overrides.filter_map(|(_, declared)| {
        let key = pipeline::key(declared)?;
        Some((key.clone(), declared.name.clone().unwrap_or(key)))
    });
    Declared {
        entry_points: names.collect(),
        overrides: overrides.collect(),
    }
}

/// The error, or the template that the text is instead.
fn fault(error: PipelineError, source: &str) -> Fault {
    if let Some((line, sign)) = template(source) {
        return Fault {
            line: Some(line),
            ..Fault::new(FaultKind::Template, format!("not plain WGSL, a template: `{sign}`"))
        };
    }
    let (kind, diagnostic) = match error {
        PipelineError::Syntax(diagnostic) => (FaultKind::Syntax, diagnostic),
        PipelineError::Invalid(diagnostic) => (FaultKind::Invalid, diagnostic),
        other => return Fault::new(FaultKind::Panic, other.to_string()),
    };
    Fault {
        line: diagnostic.place.map(|(line, _)| line),
        column: diagnostic.place.map(|(_, column)| column),
        report: Some(diagnostic.report),
        ..Fault::new(kind, diagnostic.message)
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

/// Checks the entry points that are asked for, each with its place in the module, under the layout of [`Options::scope`].
///
/// # Errors
///
/// There are too many.
fn check_entry_points(
    shader: &Shader,
    entries: &[(usize, Stage)],
    overrides: BTreeMap<String, f64>,
    options: &Options,
) -> Result<Vec<EntryPointReport>, String> {
    let name = |index: usize| shader.module.entry_points[index].name.as_str();
    let is_asked = |index: usize| options.entry_point.as_deref().is_none_or(|asked| asked == name(index));
    let asked = entries.iter().filter(|(index, _)| is_asked(*index)).count();
    if asked > MAX_ENTRY_POINTS {
        return Err(format!(
            "{asked} entry points; at most {MAX_ENTRY_POINTS} are checked, --entry-point chooses"
        ));
    }
    let check = Check {
        shader,
        overrides,
        options,
    };
    let mut shared = PipelineLayout::default();
    let mut needed = Vec::new();
    for &(index, stage) in entries {
        let needs = Needs::of(&shader.module, shader.info.get_entry_point(index), stage);
        let own_layout = match (&needs, options.scope) {
            (Ok(needs), Scope::File) => shared.join(needs).err(),
            _ => None,
        };
        needed.push((index, stage, needs, own_layout));
    }
    let mut reports = Vec::new();
    for (index, stage, needs, own_layout) in needed.into_iter().filter(|(index, ..)| is_asked(*index)) {
        let mut report = EntryPointReport::new(name(index), stage);
        match needs {
            Err(message) => report.refused = Some(message),
            Ok(needs) if own_layout.is_some() || options.scope == Scope::EntryPoint => {
                check.entry_point(&mut report, &needs, &PipelineLayout::of(&needs));
            }
            Ok(needs) => check.entry_point(&mut report, &needs, &shared),
        }
        report.own_layout = own_layout;
        reports.push(report);
    }
    Ok(reports)
}
