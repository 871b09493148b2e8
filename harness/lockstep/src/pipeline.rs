//! naga's pipeline, as slots.md section 4 lays it out: parse and lower, validate, process overrides, write MSL. Each way to fail is
//! an error of its own, and a panic of naga's is one too.
//!
//! A user is told a [`PipelineError`]. The MSL oracle goes the same way and judges naga's own errors, which `Shader::process` and
//! `Resolved::try_write` give it.
//!
//! naga's recursion follows the text: whoever gives it a text of others does so inside [`crate::deep::run`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;

use naga::back::PipelineConstants;
use naga::back::msl::{EntryPointError, Options, PipelineOptions};
use naga::back::pipeline_constants::{PipelineConstantError, process_overrides};
use naga::common::wgsl::TryToWgsl as _;
use naga::valid::{
    Capabilities, FunctionInfo, GlobalUse, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationError,
    ValidationFlags, Validator,
};
use naga::{EntryPoint, GlobalVariable, Handle, Module, Override, Scalar, ScalarKind, SourceLocation, WithSpan};

use crate::case::Stage;
use crate::panics::caught;

/// Why a shader, or an entry point of it, comes to no MSL.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PipelineError {
    /// The text is no WGSL: it does not parse, or names and types do not fit.
    #[error("{0}")]
    Syntax(Diagnostic),
    /// It is WGSL that naga's validator refuses.
    #[error("{0}")]
    Invalid(Diagnostic),
    /// The module has no entry point of that name and stage.
    #[error("the shader has no {} entry point `{name}`", stage.name())]
    UnknownEntryPoint {
        /// The stage that was asked for.
        stage: Stage,
        /// The name that was asked for.
        name: String,
    },
    /// A value was given for an override that the module does not declare, or for one with an `@id` by its name.
    #[error("the shader has no override `{key}`")]
    UnknownOverride {
        /// The key that was given.
        key: String,
    },
    /// An override that the entry point needs has neither a default nor a value.
    #[error("override `{key}` has no default and was given no value")]
    MissingOverride {
        /// Its `@id`, else its name.
        key: String,
    },
    /// A number's value is NaN or infinite.
    #[error("override `{key}` is {value}, which is not finite")]
    OverrideNotFinite {
        /// Its `@id`, else its name.
        key: String,
        /// The value, as text.
        value: String,
    },
    /// A number's value is finite and its type cannot hold it.
    #[error("override `{key}` is {value}, which is out of the range of {ty}")]
    OverrideOutOfRange {
        /// Its `@id`, else its name.
        key: String,
        /// The value, as text.
        value: String,
        /// The override's type in WGSL.
        ty: String,
    },
    /// Each value fits, and what the shader makes of them does not: a workgroup size of 0, an index past an array, an overflow.
    #[error("not valid with these overrides: {0}")]
    Overridden(String),
    /// The layout has no place for what the entry point uses.
    #[error("refused for the layout: {}", layout_words(.0))]
    Layout(EntryPointError),
    /// The writer refuses: the language version lacks what the shader needs, or MSL has no such thing.
    #[error("refused by naga's MSL writer: {0}")]
    Writer(String),
    /// naga panicked.
    #[error("naga panicked: {0}")]
    Panic(String),
}

/// An error in a text, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// naga's message, one line for each cause.
    pub message: String,
    /// Line and column, from 1; columns count bytes. None where naga names no place.
    pub place: Option<(u32, u32)>,
    /// naga's whole report: message, place and the lines of the text.
    pub report: String,
}

impl PipelineError {
    /// All there is to say: naga's report with the lines of the text, where it has one.
    pub(crate) fn report(self) -> String {
        match self {
            PipelineError::Syntax(diagnostic) | PipelineError::Invalid(diagnostic) => diagnostic.report,
            other => other.to_string(),
        }
    }
}

impl Display for Diagnostic {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.place {
            Some((line, column)) => write!(formatter, "{line}:{column}: {}", self.message),
            None => formatter.write_str(&self.message),
        }
    }
}

/// Why a module has no form for one entry point.
#[derive(Debug)]
pub(crate) enum ResolveError {
    /// naga panicked.
    Panic(String),
    /// naga does not take the overrides.
    Constant(Box<PipelineConstantError>),
    /// What naga gives lacks the entry point.
    NoEntryPoint,
}

/// What naga's writer answers: an error as a whole, an error for the entry point, or text.
pub(crate) type Written = Result<Result<Msl, EntryPointError>, naga::back::msl::Error>;

/// A valid module.
#[derive(Debug)]
pub struct Shader {
    /// As naga's front end lowers it.
    pub module: Module,
    /// What validation found out.
    pub info: ModuleInfo,
}

/// A module as the writer is given it: overrides resolved and, where there were overrides or other entry points, without what the
/// entry point does not reach.
#[derive(Debug)]
pub struct Resolved<'a> {
    /// The module.
    pub module: Cow<'a, Module>,
    /// What validation found out about it.
    pub info: Cow<'a, ModuleInfo>,
    /// The entry point's place in the module.
    pub index: usize,
}

/// The MSL of one entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Msl {
    /// The function's name, which is naga's to choose.
    pub function: String,
    /// The text.
    pub text: String,
}

impl Shader {
    /// Parses, lowers and validates WGSL, with every capability that naga knows. `path` is named in the reports.
    ///
    /// # Errors
    ///
    /// [`PipelineError::Syntax`], [`PipelineError::Invalid`], [`PipelineError::Panic`].
    pub fn new(wgsl: &str, path: &str) -> Result<Shader, PipelineError> {
        let module = guarded(|| {
            naga::front::wgsl::parse_str(wgsl).map_err(|error| {
                let report = error.emit_to_string_with_path(wgsl, path);
                PipelineError::Syntax(diagnostic(error.message().to_owned(), error.location(wgsl), report))
            })
        })??;
        let info = validate(&module)?.map_err(|error| {
            let report = error.emit_to_string_with_path(wgsl, path);
            PipelineError::Invalid(diagnostic(causes(error.as_inner()), error.location(wgsl), report))
        })?;
        Ok(Shader { module, info })
    }

    /// The module for one entry point, with a value for every override. `overrides` has values by `@id`, or by name for an
    /// override without one, as WebGPU's `GPUProgrammableStage.constants`.
    ///
    /// # Errors
    ///
    /// [`PipelineError::UnknownEntryPoint`], then [`PipelineError::UnknownOverride`], then what is wrong with the first override, in the
    /// module's order, that the entry point needs; then [`PipelineError::Overridden`]. And [`PipelineError::Panic`].
    pub fn resolve(
        &self,
        stage: Stage,
        name: &str,
        overrides: &BTreeMap<String, f64>,
    ) -> Result<Resolved<'_>, PipelineError> {
        let unknown = || PipelineError::UnknownEntryPoint {
            stage,
            name: name.to_owned(),
        };
        position(&self.module, stage, name).ok_or_else(unknown)?;
        let constants = overrides.iter().map(|(key, &value)| (key.clone(), value)).collect();
        self.process(stage, name, &constants).map_err(|error| match error {
            ResolveError::Panic(panic) => PipelineError::Panic(panic),
            ResolveError::Constant(error) => self.override_error(&error, overrides),
            ResolveError::NoEntryPoint => unknown(),
        })
    }

    /// [`Shader::resolve`] of an entry point that is there, with naga's own error.
    pub(crate) fn process(
        &self,
        stage: Stage,
        name: &str,
        constants: &PipelineConstants,
    ) -> Result<Resolved<'_>, ResolveError> {
        let selected = Some((stage.naga(), name));
        let (module, info) = caught(|| {
            process_overrides(&self.module, &self.info, selected, constants)
                .map_err(|error| ResolveError::Constant(Box::new(error)))
        })
        .map_err(ResolveError::Panic)??;
        let index = position(&module, stage, name).ok_or(ResolveError::NoEntryPoint)?;
        Ok(Resolved { module, info, index })
    }

    /// naga says neither which override does not fit nor its type.
    fn override_error(&self, error: &PipelineConstantError, given: &BTreeMap<String, f64>) -> PipelineError {
        let unnamed = || PipelineError::Overridden(causes(error));
        match error {
            PipelineConstantError::NotFound(key) => PipelineError::UnknownOverride { key: key.clone() },
            PipelineConstantError::MissingValue(key) => PipelineError::MissingOverride { key: key.clone() },
            PipelineConstantError::SrcNeedsToBeFinite => {
                self.misfit(given, |_, value| !value.is_finite())
                    .map_or_else(unnamed, |(key, value, _)| PipelineError::OverrideNotFinite {
                        key,
                        value,
                    })
            }
            PipelineConstantError::DstRangeTooSmall => self
                .misfit(given, |scalar, value| !holds(scalar, value))
                .map_or_else(unnamed, |(key, value, ty)| PipelineError::OverrideOutOfRange {
                    key,
                    value,
                    ty,
                }),
            PipelineConstantError::ValidationError(error) => PipelineError::Overridden(causes(error.as_inner())),
            _ => unnamed(),
        }
    }

    /// The first override of a number whose value is wrong: its key, the value, its type.
    fn misfit(
        &self,
        given: &BTreeMap<String, f64>,
        is_wrong: fn(Scalar, f64) -> bool,
    ) -> Option<(String, String, String)> {
        self.module.overrides.iter().find_map(|(_, declared)| {
            let key = key(declared)?;
            let value = *given.get(&key)?;
            let scalar = self.module.types[declared.ty].inner.scalar()?;
            let wrong = scalar.kind != ScalarKind::Bool && is_wrong(scalar, value);
            wrong.then(|| (key, value.to_string(), scalar.to_wgsl_for_diagnostics()))
        })
    }
}

impl Resolved<'_> {
    /// The entry point.
    pub(crate) fn entry_point(&self) -> &EntryPoint {
        &self.module.entry_points[self.index]
    }

    /// What validation found out about it.
    pub(crate) fn uses(&self) -> &FunctionInfo {
        self.info.get_entry_point(self.index)
    }

    /// The globals that it reaches, those that live in the shader alone included.
    pub(crate) fn used(&self) -> impl Iterator<Item = (Handle<GlobalVariable>, &GlobalVariable, GlobalUse)> {
        let uses = self.uses();
        let globals = self.module.global_variables.iter();
        globals
            .map(|(handle, global)| (handle, global, uses[handle]))
            .filter(|(_, _, used)| !used.is_empty())
    }

    /// Writes the entry point that `pipeline` selects, which is this one.
    ///
    /// # Errors
    ///
    /// [`PipelineError::Layout`], [`PipelineError::Writer`], [`PipelineError::Panic`].
    pub fn write(&self, options: &Options, pipeline: &PipelineOptions) -> Result<Msl, PipelineError> {
        match self.try_write(options, pipeline)? {
            Ok(Ok(msl)) => Ok(msl),
            Ok(Err(error)) => Err(PipelineError::Layout(error)),
            Err(error) => Err(PipelineError::Writer(causes(&error))),
        }
    }

    /// [`Resolved::write`] with naga's own errors.
    ///
    /// # Errors
    ///
    /// [`PipelineError::Panic`] alone.
    pub(crate) fn try_write(&self, options: &Options, pipeline: &PipelineOptions) -> Result<Written, PipelineError> {
        let written = guarded(|| naga::back::msl::write_string(&self.module, &self.info, options, pipeline))?;
        Ok(written.map(|(text, mut info)| {
            // An entry point that is not there is an error as a whole.
            let function = info.entry_point_names.pop().unwrap_or(Ok(String::new()));
            function.map(|function| Msl { function, text })
        }))
    }
}

/// Validates a module, with every capability that naga knows.
///
/// # Errors
///
/// [`PipelineError::Panic`] alone.
pub(crate) fn validate(module: &Module) -> Result<Result<ModuleInfo, Box<WithSpan<ValidationError>>>, PipelineError> {
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::all());
    validator.subgroup_stages(ShaderStages::all());
    validator.subgroup_operations(SubgroupOperationSet::all());
    guarded(|| validator.validate(module).map_err(Box::new))
}

/// The key of an override in WebGPU's `GPUProgrammableStage.constants`: its `@id`, else its name.
pub fn key(declared: &Override) -> Option<String> {
    declared.id.map(|id| id.to_string()).or_else(|| declared.name.clone())
}

fn position(module: &Module, stage: Stage, name: &str) -> Option<usize> {
    let mut entries = module.entry_points.iter();
    entries.position(|entry| entry.stage == stage.naga() && entry.name == name)
}

/// Whether a type of numbers holds a finite value, as WebIDL converts it: integers are cut to whole numbers first.
fn holds(scalar: Scalar, value: f64) -> bool {
    let bits = i32::from(scalar.width) * 8;
    let whole = value.trunc();
    match (scalar.kind, scalar.width) {
        (ScalarKind::Sint, _) => whole >= -f64::powi(2.0, bits - 1) && whole < f64::powi(2.0, bits - 1),
        (ScalarKind::Uint, _) => whole >= 0.0 && whole < f64::powi(2.0, bits),
        (ScalarKind::Float, 4) => (value as f32).is_finite(),
        // What rounds to the largest, 65504, is below the middle between it and the next, 65536.
        (ScalarKind::Float, 2) => value.abs() < 65520.0,
        _ => true,
    }
}

fn diagnostic(message: String, place: Option<SourceLocation>, report: String) -> Diagnostic {
    let place = place.map(|place| (place.line_number, place.line_position));
    Diagnostic { message, place, report }
}

/// An error with what caused it.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn layout_words(error: &EntryPointError) -> String {
    match error {
        EntryPointError::MissingBindTarget(at) => {
            format!("it has no slot for group {} binding {}", at.group, at.binding)
        }
        _ => error.to_string(),
    }
}

/// Runs a part of naga; a panic is an error that says so.
pub(crate) fn guarded<T>(part: impl FnOnce() -> T) -> Result<T, PipelineError> {
    caught(part).map_err(PipelineError::Panic)
}
