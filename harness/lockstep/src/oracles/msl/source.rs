//! WGSL through naga, as its own pipeline goes: parse, lower, validate, resolve overrides, write.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mslmap::{Extension, StageLayout};
use naga::back::PipelineConstants;
use naga::back::msl::{EntryPointError, Options, PipelineOptions, VertexBufferMapping};
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::valid::{FunctionInfo, GlobalUse, ModuleInfo};
use naga::{GlobalVariable, Handle, Module};
use wgpu_types::BindGroupLayoutEntry;

use crate::case::Stage;

/// What an entry point is translated with.
pub(crate) struct Settings<'a> {
    pub groups: &'a [Option<&'a [BindGroupLayoutEntry]>],
    pub extension: Extension,
    pub version: (u8, u8),
    pub overrides: &'a BTreeMap<String, f64>,
}

impl Settings<'_> {
    /// The overrides as naga takes them.
    pub(super) fn constants(&self) -> PipelineConstants {
        self.overrides
            .iter()
            .map(|(key, &value)| (key.clone(), value))
            .collect()
    }
}

/// An entry point of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub name: String,
    pub stage: Stage,
}

impl Entry {
    fn is(&self, found: &naga::EntryPoint) -> bool {
        found.stage == self.stage.naga() && found.name == self.name
    }
}

/// A valid WGSL module.
pub(crate) struct Source {
    pub module: Module,
    pub info: ModuleInfo,
}

impl Source {
    /// Parses and validates, with every capability of naga's.
    ///
    /// # Errors
    ///
    /// naga's message, with the place.
    pub fn new(wgsl: &str) -> Result<Source, String> {
        let module = guarded(|| naga::front::wgsl::parse_str(wgsl).map_err(|error| error.emit_to_string(wgsl)))??;
        let info = validate(&module, |error| error.emit_to_string(wgsl))?;
        Ok(Source { module, info })
    }

    /// The entry points of the stages that Metal has.
    pub fn entry_points(&self) -> Vec<Entry> {
        let entries = self.module.entry_points.iter();
        entries
            .filter_map(|entry| {
                let stage = Stage::ALL.into_iter().find(|stage| stage.naga() == entry.stage)?;
                Some(Entry {
                    name: entry.name.clone(),
                    stage,
                })
            })
            .collect()
    }

    /// The module with this entry point alone (where there are others) and its overrides resolved.
    pub(super) fn resolved(&self, entry: &Entry, overrides: &PipelineConstants) -> Result<Resolved<'_>, ResolveError> {
        let selected = Some((entry.stage.naga(), entry.name.as_str()));
        let (module, info) = guarded(|| {
            let resolved = process_overrides(&self.module, &self.info, selected, overrides);
            resolved.map_err(|error| ResolveError::Constant(Box::new(error)))
        })
        .map_err(ResolveError::Panic)??;
        let index = module.entry_points.iter().position(|found| entry.is(found));
        Ok(Resolved {
            index: index.ok_or(ResolveError::NoEntryPoint)?,
            module,
            info,
        })
    }
}

/// Validates a module, with every capability of naga's.
pub(super) fn validate(
    module: &Module,
    words: impl FnOnce(naga::WithSpan<naga::valid::ValidationError>) -> String,
) -> Result<ModuleInfo, String> {
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
    validator.subgroup_stages(naga::valid::ShaderStages::all());
    validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
    guarded(|| validator.validate(module).map_err(words))?
}

/// Why an entry point's overrides were not resolved.
pub(super) enum ResolveError {
    Panic(String),
    Constant(Box<PipelineConstantError>),
    NoEntryPoint,
}

/// A module as the writer is given it.
pub(super) struct Resolved<'a> {
    pub module: std::borrow::Cow<'a, Module>,
    pub info: std::borrow::Cow<'a, ModuleInfo>,
    /// The entry point's place in it.
    pub index: usize,
}

impl Resolved<'_> {
    pub fn entry_point(&self) -> &naga::EntryPoint {
        &self.module.entry_points[self.index]
    }

    pub fn uses(&self) -> &FunctionInfo {
        self.info.get_entry_point(self.index)
    }

    /// The globals that the entry point reaches, those that live in the shader alone included.
    pub fn used(&self) -> impl Iterator<Item = (Handle<GlobalVariable>, &GlobalVariable, GlobalUse)> {
        let uses = self.uses();
        let globals = self.module.global_variables.iter();
        globals
            .map(|(handle, global)| (handle, global, uses[handle]))
            .filter(|(_, _, used)| !used.is_empty())
    }

    /// # Errors
    ///
    /// naga panicked.
    pub fn write(
        &self,
        layout: &StageLayout,
        version: (u8, u8),
        vertex_buffers: &[VertexBufferMapping],
    ) -> Result<Written, String> {
        let (options, pipeline) = options(layout, &self.entry_point().name, version, vertex_buffers);
        guarded(|| {
            let (text, mut info) = naga::back::msl::write_string(&self.module, &self.info, &options, &pipeline)?;
            let name = info.entry_point_names.pop().unwrap_or(Ok(String::new()));
            Ok(name.map(|name| Msl { name, text }))
        })
    }
}

/// The options for one entry point, the pipeline's part included.
pub(super) fn options(
    layout: &StageLayout,
    name: &str,
    version: (u8, u8),
    vertex_buffers: &[VertexBufferMapping],
) -> (Options, PipelineOptions) {
    let (mut options, mut pipeline) = layout.options(name);
    options.lang_version = version;
    pipeline.vertex_buffer_mappings = vertex_buffers.to_vec();
    (options, pipeline)
}

/// What naga's writer answers: an error as a whole, an error for the entry point, or text.
pub(super) type Written = Result<Result<Msl, EntryPointError>, naga::back::msl::Error>;

/// A translated entry point.
pub(super) struct Msl {
    /// The function's name.
    pub name: String,
    pub text: String,
}

/// Runs a part of naga; a panic is an error that says so.
pub(super) fn guarded<T>(part: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(part)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("naga panicked: {}", text.unwrap_or_default())
    })
}
