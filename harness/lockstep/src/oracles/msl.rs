//! The MSL oracle: translates a layout case's shader with the layout's slots and holds what naga wrote against the layout
//! (slots.md, section 4).
//!
//! The expected answer comes from the layout ([`mslmap::StageLayout`]) and from naga's validation (which globals an entry
//! point reaches); the MSL is read by [`crate::msl`] and never asked what it should say.
//!
//! It catches, by the number of the property:
//!
//! 1. a used resource without an argument at its slot, an argument at a slot that no used resource has, two resources of one
//!    table swapped (by name), an argument that may write what the layout has read-only, one that may not write what the
//!    shader writes;
//! 2. two arguments of a table at one index. An index past Metal's own limits is counted ([`PAST_LIMITS`]), no problem;
//! 3. `_buffer_sizes` missing, at another slot, without need, or with other fields than [`mslmap::runtime_array_bindings`] and
//!    the module say;
//! 4. other slots once an unused resource and another entry point are added in front of the shader;
//! 5. a resource that the layout lacks or holds in another table and that naga takes all the same, or refuses by another name;
//! 6. an index, an image load or a loop without its guard ([`crate::msl::safety`]), or other loops than the shader has;
//! 7. a feature newer than the language version that naga writes all the same, one that it refuses though the version has it
//!    (both by `version`'s table), and another version than the one asked for.
//!
//! It does not catch: text that is no MSL for Metal's compiler (nothing here compiles it); the wrong limit in a guard of the
//! right form; a feature that is too new by Apple's tables but not in `version`'s; what depends on immediates, pulled vertices,
//! binding arrays or external textures, whose layouts the constructor refuses ([`Checked::refused`] counts them). Kinds are tables:
//! a uniform buffer where the shader has a storage buffer is not refused by naga, and no problem here. Nor is a shader that
//! declares more access than the layout gives ([`WIDER_ACCESS`]): WebGPU makes no such pipeline, and naga is not asked to
//! refuse it.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use mslmap::StageLayout;
use naga::back::msl::{BindSamplerTarget, BindTarget, EntryPointError};
use naga::valid::{FunctionInfo, GlobalUse, ModuleInfo};
use naga::{AddressSpace, GlobalVariable, Handle, Module, ResourceBinding, TypeInner};
use wgpu_types::BindGroupLayoutEntry;

use crate::case::{LayoutCase, Stage, System};
use crate::deep;
use crate::msl::arguments::{Access, Argument, Reflection, SizeField, Table, read};
use crate::msl::safety;
use crate::readers::native;
use crate::report::results::add_counts;

mod version;

/// The count of arguments whose index Metal has no place for (31 buffers, 128 textures, 16 samplers a stage).
pub const PAST_LIMITS: &str = "past Metal's limits";

/// The count of resources that the shader declares with more access than the layout gives.
pub const WIDER_ACCESS: &str = "more access than the layout gives";

/// What the oracle saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Entry points that naga translated.
    pub translated: u64,
    /// Arguments read back.
    pub arguments: u64,
    /// What was rightly refused, by a short reason.
    pub refused: BTreeMap<String, u64>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The entry point's name in WGSL; empty when the shader as a whole is at fault.
    pub entry_point: String,
    /// The entry point's stage; vertex when the shader as a whole is at fault.
    pub stage: Stage,
    /// The property of slots.md, section 4; 0 when there is nothing to hold against a property: WGSL that naga does not take,
    /// MSL that cannot be read, a panic.
    pub property: u8,
    /// What was found, and what was expected.
    pub detail: String,
}

impl Problem {
    /// The signature of the finding that it is.
    pub fn signature(&self) -> String {
        format!("msl: property {} in a {} shader", self.property, self.stage.name())
    }
}

/// An entry point, checked, with what the check was made on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryReport {
    /// Its name in WGSL.
    pub name: String,
    /// Its stage.
    pub stage: Stage,
    /// What the oracle saw.
    pub checked: Checked,
    /// The MSL; none when the entry point was refused.
    pub msl: Option<String>,
    /// RuntimeArrayBindings of the module that was written, by group and binding.
    pub sizes: Vec<(u32, u32)>,
    /// The workgroup size, overrides resolved.
    pub workgroup: [u32; 3],
}

/// Checks every entry point of a case's shader; a case without one gives nothing.
pub fn check(case: &LayoutCase) -> Checked {
    let mut checked = Checked::default();
    match each_entry(case, |source, entry, settings| source.check(entry, settings)) {
        Ok(entries) => entries.into_iter().for_each(|entry| checked.add(entry)),
        Err(detail) => checked.problems.push(Problem {
            entry_point: String::new(),
            stage: Stage::Vertex,
            property: 0,
            detail,
        }),
    }
    checked
}

/// The same, entry point by entry point.
///
/// # Errors
///
/// The shader as a whole is at fault.
pub fn entry_points(case: &LayoutCase) -> Result<Vec<EntryReport>, String> {
    each_entry(case, |source, entry, settings| source.report(entry, settings))
}

/// Looks at each entry point of a case's shader, on a stack that its text cannot overflow.
fn each_entry<T: Send + 'static>(case: &LayoutCase, look: Look<T>) -> Result<Vec<T>, String> {
    let (owned, length) = (case.clone(), case.shader.as_ref().map_or(0, |shader| shader.wgsl.len()));
    deep::run(length, move || entries_of(&owned, look)).and_then(|entries| entries)
}

type Look<T> = fn(&Source<'_>, &Entry, &Settings<'_>) -> T;

fn entries_of<T>(case: &LayoutCase, look: Look<T>) -> Result<Vec<T>, String> {
    let Some(shader) = &case.shader else {
        return Ok(Vec::new());
    };
    let source = Source::new(&shader.wgsl)?;
    let groups: Vec<_> = case.groups.iter().map(Option::as_deref).collect();
    let settings = Settings {
        groups: &groups,
        version: language_version(&case.system),
        overrides: &shader.overrides,
    };
    let entries = source.entry_points();
    Ok(entries.iter().map(|entry| look(&source, entry, &settings)).collect())
}

/// The language version of a system.
pub(crate) fn language_version(system: &System) -> (u8, u8) {
    let (platform, os) = native::system(system);
    mslmap::language_version(platform, os)
}

impl Checked {
    pub(crate) fn add(&mut self, other: Checked) {
        self.translated += other.translated;
        self.arguments += other.arguments;
        add_counts(&mut self.refused, &other.refused);
        self.problems.extend(other.problems);
    }

    fn refuse(&mut self, reason: impl Into<String>) {
        *self.refused.entry(reason.into()).or_default() += 1;
    }
}

/// What an entry point is translated with.
pub(crate) struct Settings<'a> {
    pub groups: &'a [Option<&'a [BindGroupLayoutEntry]>],
    pub version: (u8, u8),
    pub overrides: &'a BTreeMap<String, f64>,
}

/// An entry point of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub name: String,
    pub stage: Stage,
}

/// A valid WGSL module.
pub(crate) struct Source<'a> {
    wgsl: &'a str,
    pub module: Module,
    pub info: ModuleInfo,
}

impl<'a> Source<'a> {
    /// Parses and validates, with every capability of naga's.
    ///
    /// # Errors
    ///
    /// naga's message, with the place.
    pub fn new(wgsl: &'a str) -> Result<Source<'a>, String> {
        let module = guarded(|| naga::front::wgsl::parse_str(wgsl).map_err(|error| error.emit_to_string(wgsl)))??;
        let mut validator =
            naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all());
        validator.subgroup_stages(naga::valid::ShaderStages::all());
        validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
        let info = guarded(|| validator.validate(&module).map_err(|error| error.emit_to_string(wgsl)))??;
        Ok(Source { wgsl, module, info })
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

    /// Checks one entry point.
    pub fn check(&self, entry: &Entry, settings: &Settings<'_>) -> Checked {
        let mut check = EntryCheck {
            entry,
            checked: Checked::default(),
        };
        match StageLayout::new(settings.groups, entry.stage.naga()) {
            Err(error) => check.checked.refuse(format!("the layout: {}", layout_reason(&error))),
            Ok(layout) => check.run(self, &layout, settings),
        }
        check.checked
    }

    fn report(&self, entry: &Entry, settings: &Settings<'_>) -> EntryReport {
        let resolved = self.resolved(entry, settings.overrides).ok();
        let layout = StageLayout::new(settings.groups, entry.stage.naga()).ok();
        let written = resolved.as_ref().zip(layout);
        let written = written.and_then(|(resolved, layout)| resolved.write(&layout, settings.version).ok()?.ok()?.ok());
        let module = resolved.as_ref().map(|resolved| &resolved.module);
        let sizes = module.and_then(|module| mslmap::runtime_array_bindings(module).ok());
        EntryReport {
            name: entry.name.clone(),
            stage: entry.stage,
            checked: self.check(entry, settings),
            msl: written.map(|msl| msl.text),
            sizes: sizes.iter().flatten().map(|at| (at.group, at.binding)).collect(),
            workgroup: resolved.map_or([0; 3], |found| found.module.entry_points[found.index].workgroup_size),
        }
    }

    /// The module with this entry point alone (where there are others) and its overrides resolved.
    fn resolved(&self, entry: &Entry, overrides: &BTreeMap<String, f64>) -> Result<Resolved, ResolveError> {
        let constants = overrides.iter().map(|(key, &value)| (key.clone(), value)).collect();
        let selected = Some((entry.stage.naga(), entry.name.as_str()));
        let (module, info) = guarded(|| {
            let processed =
                naga::back::pipeline_constants::process_overrides(&self.module, &self.info, selected, &constants);
            processed.map_err(|error| ResolveError::Constant(Box::new(error)))
        })
        .map_err(ResolveError::Panic)??;
        let is_entry = |found: &naga::EntryPoint| found.stage == entry.stage.naga() && found.name == entry.name;
        let index = module
            .entry_points
            .iter()
            .position(is_entry)
            .ok_or(ResolveError::NoEntryPoint)?;
        Ok(Resolved {
            module: module.into_owned(),
            info: info.into_owned(),
            index,
        })
    }
}

/// Why an entry point's overrides were not resolved.
enum ResolveError {
    Panic(String),
    Constant(Box<naga::back::pipeline_constants::PipelineConstantError>),
    NoEntryPoint,
}

/// A module as the writer is given it.
struct Resolved {
    module: Module,
    info: ModuleInfo,
    index: usize,
}

impl Resolved {
    fn uses(&self) -> &FunctionInfo {
        self.info.get_entry_point(self.index)
    }

    /// The globals that the entry point reaches, those that live in the shader alone included.
    fn used(&self) -> impl Iterator<Item = (Handle<GlobalVariable>, &GlobalVariable, GlobalUse)> {
        let uses = self.uses();
        let globals = self.module.global_variables.iter();
        globals
            .map(|(handle, global)| (handle, global, uses[handle]))
            .filter(|(_, _, used)| !used.is_empty())
    }

    fn write(&self, layout: &StageLayout, version: (u8, u8)) -> Result<Written, String> {
        let name = &self.module.entry_points[self.index].name;
        let (mut options, pipeline) = layout.options(name);
        options.lang_version = version;
        guarded(|| {
            let (text, mut info) = naga::back::msl::write_string(&self.module, &self.info, &options, &pipeline)?;
            Ok(info
                .entry_point_names
                .pop()
                .unwrap_or(Ok(String::new()))
                .map(|name| Msl { name, text }))
        })
    }
}

/// What naga's writer answers: an error as a whole, an error for the entry point, or text.
type Written = Result<Result<Msl, EntryPointError>, naga::back::msl::Error>;

/// A translated entry point.
struct Msl {
    /// The function's name.
    name: String,
    text: String,
}

/// A resource that the entry point uses, and where the layout puts it.
struct Resource<'a> {
    binding: ResourceBinding,
    global: &'a GlobalVariable,
    usage: GlobalUse,
    place: Result<Place, &'static str>,
}

/// The slots of a resource.
struct Place {
    slots: Vec<(Table, u32)>,
    mutable: bool,
}

/// The reason under which a resource is refused that the layout lacks for the stage.
const LACKING: &str = "a used resource that the layout lacks";

/// The reason under which a resource is refused that the layout holds in another table.
const OTHER_KIND: &str = "a used resource that the layout holds as another kind";

fn resources<'a>(resolved: &'a Resolved, layout: &StageLayout) -> Vec<Resource<'a>> {
    let bound = resolved
        .used()
        .filter_map(|(_, global, usage)| Some((global.binding?, global, usage)));
    bound
        .map(|(binding, global, usage)| {
            let target = layout.resources.get(&binding).ok_or(LACKING);
            let place = target.and_then(|target| {
                let slots = slots(&resolved.module.types[global.ty].inner, target);
                if slots.is_empty() {
                    Err(OTHER_KIND)
                } else {
                    Ok(Place {
                        slots,
                        mutable: target.mutable,
                    })
                }
            });
            Resource {
                binding,
                global,
                usage,
                place,
            }
        })
        .collect()
}

/// The slots of a target in the tables that a type takes; none when the target has none there.
pub(crate) fn slots(ty: &TypeInner, target: &BindTarget) -> Vec<(Table, u32)> {
    let at = |table, slot: u8| (table, u32::from(slot));
    match ty {
        TypeInner::Image {
            class: naga::ImageClass::External,
            ..
        } => {
            let planes = target.external_texture.iter().flat_map(|external| external.planes);
            let params = target.external_texture.iter().map(|external| external.params);
            planes
                .map(|slot| at(Table::Texture, slot))
                .chain(params.map(|slot| at(Table::Buffer, slot)))
                .collect()
        }
        TypeInner::Image { .. } => target
            .texture
            .map(|slot| at(Table::Texture, slot))
            .into_iter()
            .collect(),
        TypeInner::Sampler { .. } => match target.sampler {
            Some(BindSamplerTarget::Resource(slot)) => vec![at(Table::Sampler, slot)],
            _ => Vec::new(),
        },
        _ => target.buffer.map(|slot| at(Table::Buffer, slot)).into_iter().collect(),
    }
}

/// Whether a type is what `_buffer_sizes` has a field for: a runtime-sized array, a struct that ends in one, or a binding
/// array of either (slots.md, section 3). The count is that of a binding array with a length of its own.
fn runtime_array(module: &Module, ty: Handle<naga::Type>) -> bool {
    let is_runtime = |ty: Handle<naga::Type>| {
        matches!(
            module.types[ty].inner,
            TypeInner::Array {
                size: naga::ArraySize::Dynamic,
                ..
            }
        )
    };
    match &module.types[ty].inner {
        TypeInner::Struct { members, .. } => members.last().is_some_and(|last| is_runtime(last.ty)),
        TypeInner::BindingArray { base, .. } => runtime_array(module, *base),
        _ => is_runtime(ty),
    }
}

/// The check of one entry point.
struct EntryCheck<'a> {
    entry: &'a Entry,
    checked: Checked,
}

impl EntryCheck<'_> {
    fn problem(&mut self, property: u8, detail: impl Into<String>) {
        let Entry { name, stage } = self.entry.clone();
        self.checked.problems.push(Problem {
            entry_point: name,
            stage,
            property,
            detail: detail.into(),
        });
    }

    fn run(&mut self, source: &Source<'_>, layout: &StageLayout, settings: &Settings<'_>) {
        match source.resolved(self.entry, settings.overrides) {
            Err(error) => self.unresolved(&error, source, settings.overrides),
            Ok(resolved) => match resolved.write(layout, settings.version) {
                Err(panic) => self.problem(0, panic),
                Ok(written) => self.written(source, &resolved, layout, settings, written),
            },
        }
    }

    /// Overrides are not resolved: rightly, when the message is true of the case.
    fn unresolved(&mut self, error: &ResolveError, source: &Source<'_>, overrides: &BTreeMap<String, f64>) {
        use naga::back::pipeline_constants::PipelineConstantError as Error;
        let declared = |key: &str| {
            let mut all = source.module.overrides.iter().map(|(_, found)| found);
            all.find(|found| {
                found
                    .id
                    .map_or(found.name.as_deref() == Some(key), |id| key.parse() == Ok(id))
            })
        };
        let is_true = |error: &Error| match error {
            Error::NotFound(key) => declared(key).is_none(),
            Error::MissingValue(key) => {
                declared(key).is_some_and(|found| found.init.is_none()) && !overrides.contains_key(key)
            }
            Error::SrcNeedsToBeFinite => overrides.values().any(|value| !value.is_finite()),
            Error::DstRangeTooSmall => !overrides.is_empty(),
            _ => true,
        };
        match error {
            ResolveError::Constant(error) if is_true(error) => {
                self.checked.refuse(format!("overrides: {}", variant(error)))
            }
            ResolveError::Constant(error) => self.problem(0, format!("overrides refused without cause: {error}")),
            ResolveError::Panic(panic) => self.problem(0, panic.clone()),
            ResolveError::NoEntryPoint => self.problem(0, "the entry point is gone once overrides are resolved"),
        }
    }

    /// Holds naga's answer against what it should be.
    fn written(
        &mut self,
        source: &Source<'_>,
        resolved: &Resolved,
        layout: &StageLayout,
        settings: &Settings<'_>,
        written: Written,
    ) {
        let resources = resources(resolved, layout);
        let needs = version::needs(&resolved.module, resolved.index, resolved.uses());
        match written {
            Err(error) => self.writer_error(&error, &needs, settings.version),
            Ok(Err(error)) => self.entry_point_error(&error, resolved, &resources, layout),
            Ok(Ok(msl)) => {
                self.checked.translated += 1;
                self.wrongly_accepted(&resources, &needs, settings.version, &msl.text);
                if let Some(reflection) = self.text(resolved, layout, &resources, settings.version, &msl) {
                    self.twin(source, layout, settings, &places(&reflection, &msl.name));
                }
            }
        }
    }

    /// naga refuses the module: rightly, when the version lacks what it names, or when MSL has no such thing at all.
    fn writer_error(&mut self, error: &naga::back::msl::Error, needs: &version::Needs, version: (u8, u8)) {
        use naga::back::msl::Error;
        match error {
            Error::UnsupportedAttribute(_)
            | Error::UnsupportedFunction(_)
            | Error::UnsupportedWritableStorageBuffer
            | Error::UnsupportedWritableStorageTexture(_)
            | Error::UnsupportedRWStorageTexture
            | Error::UnsupportedArrayOf(_)
            | Error::UnsupportedRayTracing
            | Error::UnsupportedCooperativeMatrix
            | Error::UnsupportedMeshShader
            | Error::PerVertexNotSupported => match needs.may_refuse(version) {
                Some(need) => self
                    .checked
                    .refuse(format!("needs MSL {}.{}: {}", need.0.0, need.0.1, need.1)),
                None => self.problem(
                    7,
                    format!("refused though MSL {}.{} has it: {error}", version.0, version.1),
                ),
            },
            Error::FeatureNotImplemented(_)
            | Error::UnsupportedBuiltIn(_)
            | Error::CapabilityNotSupported(_)
            | Error::UnsupportedArrayOfType(_)
            | Error::UnsupportedCompose(_)
            | Error::UnsupportedBinaryOp(_)
            | Error::UnsupportedCall(_)
            | Error::UnsupportedBitCast(_) => self.checked.refuse(format!("not in MSL: {}", variant(error))),
            Error::UnimplementedBindTarget(_) => self.problem(1, format!("the layout has no slot: {error}")),
            _ => self.problem(0, format!("naga's writer failed: {error}")),
        }
    }

    /// naga refuses the entry point: rightly, when the layout has no place for what it names.
    fn entry_point_error(
        &mut self,
        error: &EntryPointError,
        resolved: &Resolved,
        resources: &[Resource<'_>],
        layout: &StageLayout,
    ) {
        match error {
            EntryPointError::MissingBindTarget(named) => {
                let cause = resources.iter().find(|resource| resource.binding == *named);
                match cause.and_then(|resource| resource.place.as_ref().err()) {
                    Some(reason) => self.checked.refuse(*reason),
                    None => self.problem(5, format!("{} refused though the layout has it", place_name(*named))),
                }
            }
            // naga reports this in place of the missing binding, when both are missing.
            EntryPointError::MissingSizesBuffer
                if layout.sizes_slot.is_none()
                    && resolved
                        .used()
                        .any(|(_, global, _)| runtime_array(&resolved.module, global.ty)) =>
            {
                self.checked.refuse("_buffer_sizes without a slot");
            }
            EntryPointError::MissingImmediateData
                if resolved
                    .used()
                    .any(|(_, global, _)| global.space == AddressSpace::Immediate) =>
            {
                self.checked.refuse("immediates without a slot");
            }
            _ => self.problem(5, format!("refused without cause: {error}")),
        }
    }

    fn wrongly_accepted(&mut self, resources: &[Resource<'_>], needs: &version::Needs, version: (u8, u8), text: &str) {
        for resource in resources {
            if let Err(reason) = &resource.place {
                self.problem(
                    5,
                    format!("{} accepted, but it is {reason}", place_name(resource.binding)),
                );
            }
        }
        if let Some(((major, minor), what)) = needs.must_refuse(version, text) {
            let (asked, minor_asked) = version;
            self.problem(
                7,
                format!("{what} needs MSL {major}.{minor}, but naga writes it for {asked}.{minor_asked}"),
            );
        }
    }

    /// Reads the text and checks what it says; the reflection, when it can be read.
    fn text(
        &mut self,
        resolved: &Resolved,
        layout: &StageLayout,
        resources: &[Resource<'_>],
        version: (u8, u8),
        msl: &Msl,
    ) -> Option<Reflection> {
        let (reflection, safety) = match (read(&msl.text), safety::check(&msl.text)) {
            (Ok(reflection), Ok(safety)) => (reflection, safety),
            (Err(error), _) | (_, Err(error)) => {
                self.problem(0, format!("the MSL cannot be read: {error}"));
                return None;
            }
        };
        if reflection.language != Some(version) {
            self.problem(
                7,
                format!("asked for MSL {version:?}, written for {:?}", reflection.language),
            );
        }
        self.safety(resolved, &safety);
        let names: Vec<&str> = reflection
            .entry_points
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        if names != [msl.name.as_str()] {
            self.problem(
                1,
                format!("the MSL has the entry points {names:?}, naga says `{}`", msl.name),
            );
            return None;
        }
        let arguments = &reflection.entry_points[0].arguments;
        self.checked.arguments += arguments.len() as u64;
        let (sizes, bound): (Vec<_>, Vec<_>) = arguments.iter().partition(|argument| is_sizes(argument));
        self.bound(resources, &bound);
        self.unique(arguments);
        self.sizes(resolved, layout, &sizes, reflection.buffer_sizes.as_deref());
        Some(reflection)
    }

    /// Property 6.
    fn safety(&mut self, resolved: &Resolved, safety: &safety::Safety) {
        for found in &safety.unguarded {
            self.problem(
                6,
                format!("line {} of the MSL, `{}`: {}", found.line, found.function, found.what),
            );
        }
        let functions = resolved.module.functions.iter().map(|(_, function)| function);
        let entry = &resolved.module.entry_points[resolved.index].function;
        let loops: u64 = functions.chain([entry]).map(|function| loops(&function.body)).sum();
        if safety.loops != loops {
            self.problem(6, format!("{} loops in the MSL, {loops} in the module", safety.loops));
        }
    }

    /// Property 1.
    fn bound(&mut self, resources: &[Resource<'_>], arguments: &[&Argument]) {
        let mut expected = BTreeSet::new();
        for resource in resources {
            let Ok(place) = &resource.place else {
                continue;
            };
            for &(table, index) in &place.slots {
                expected.insert((table, index));
                let found = arguments
                    .iter()
                    .find(|argument| (argument.table, argument.index) == (table, index));
                match found {
                    Some(argument) => self.fits(resource, place, argument),
                    None => {
                        let name = resource.global.name.as_deref().unwrap_or_default();
                        let place = place_name(resource.binding);
                        self.problem(
                            1,
                            format!("{place} `{name}` has no argument at {} {index}", table.name()),
                        );
                    }
                }
            }
        }
        for argument in arguments
            .iter()
            .filter(|argument| !expected.contains(&(argument.table, argument.index)))
        {
            let at = format!("{} {}", argument.table.name(), argument.index);
            self.problem(
                1,
                format!("`{}` at {at} is no resource that the entry point uses", argument.name),
            );
        }
    }

    /// Whether the argument at a resource's slot is the resource, with no more access than it may have.
    fn fits(&mut self, resource: &Resource<'_>, place: &Place, argument: &Argument) {
        let at = format!("{} {}", argument.table.name(), argument.index);
        let name = resource.global.name.as_deref().unwrap_or_default();
        if !is_named_after(&argument.name, name) {
            let place = place_name(resource.binding);
            self.problem(
                1,
                format!("{place} `{name}` should be at {at}, where `{}` is", argument.name),
            );
        }
        if argument.argument_buffer {
            return;
        }
        if argument.access == Access::ReadOnly && resource.usage.contains(GlobalUse::WRITE) {
            self.problem(1, format!("`{}` at {at} is written, but read-only", argument.name));
        }
        if argument.access != Access::ReadOnly && !place.mutable {
            if declares_write(resource.global, argument) {
                self.checked.refuse(WIDER_ACCESS);
            } else {
                self.problem(
                    1,
                    format!(
                        "`{}` at {at} is {:?}, but the layout is not",
                        argument.name, argument.access
                    ),
                );
            }
        }
    }

    /// Property 2.
    fn unique(&mut self, arguments: &[Argument]) {
        let mut names: BTreeMap<(Table, u32), &str> = BTreeMap::new();
        for argument in arguments {
            if let Some(other) = names.insert((argument.table, argument.index), &argument.name) {
                let at = format!("{} {}", argument.table.name(), argument.index);
                self.problem(2, format!("`{other}` and `{}` are both at {at}", argument.name));
            }
            if argument.index >= argument.table.limit() {
                self.checked.refuse(PAST_LIMITS);
            }
        }
    }

    /// Property 3. naga passes the argument along with every resource that holds a runtime-sized array, also where nothing
    /// asks for the length; so it must be there when something asks, and must not when there is no such resource.
    fn sizes(
        &mut self,
        resolved: &Resolved,
        layout: &StageLayout,
        arguments: &[&Argument],
        fields: Option<&[SizeField]>,
    ) {
        let used = resolved
            .used()
            .any(|(_, global, _)| runtime_array(&resolved.module, global.ty));
        match arguments {
            [] if used && asks_for_length(resolved) => self.problem(3, "_buffer_sizes is missing"),
            [] => {}
            [argument] if !used => self.problem(3, format!("_buffer_sizes at buffer {} without need", argument.index)),
            [argument] if layout.sizes_slot.map(u32::from) != Some(argument.index) => {
                let slot = layout.sizes_slot;
                self.problem(
                    3,
                    format!("_buffer_sizes at buffer {}, the layout says {slot:?}", argument.index),
                );
            }
            [_] => {}
            _ => self.problem(3, "more than one _buffer_sizes"),
        }
        let expected = size_fields(&resolved.module);
        let found = fields.unwrap_or_default();
        if found != expected.as_slice() {
            self.problem(
                3,
                format!("_buffer_sizes has the fields {found:?}, expected {expected:?}"),
            );
        }
        let bindings: Vec<_> = runtime_arrays(&resolved.module)
            .map(|(_, global)| global.binding)
            .collect();
        let told = mslmap::runtime_array_bindings(&resolved.module).map(|told| told.into_iter().map(Some).collect());
        if told.as_ref() != Ok(&bindings) {
            self.problem(
                3,
                format!("RuntimeArrayBindings says {told:?}, the module {bindings:?}"),
            );
        }
    }

    /// Property 4: the same entry point, in a module with an unused resource and another entry point in front.
    fn twin(&mut self, source: &Source<'_>, layout: &StageLayout, settings: &Settings<'_>, expected: &[Slotted]) {
        let wgsl = format!("{}\n{TWIN}", source.wgsl);
        let wgsl = if has_directives(source.wgsl) {
            wgsl
        } else {
            format!("{TWIN}\n{}", source.wgsl)
        };
        let twin = Source::new(&wgsl).and_then(|twin| {
            let resolved = twin.resolved(self.entry, settings.overrides);
            let resolved = resolved.map_err(|_| "its overrides are not resolved".to_owned())?;
            let msl = resolved
                .write(layout, settings.version)?
                .map_err(|error| error.to_string())?;
            let msl = msl.map_err(|error| error.to_string())?;
            Ok(places(&read(&msl.text).map_err(|error| error.to_string())?, &msl.name))
        });
        match twin {
            Ok(found) if found == expected => {}
            Ok(found) => self.problem(
                4,
                format!("other slots with other declarations: {found:?}, were {expected:?}"),
            ),
            Err(error) => self.problem(4, format!("refused with other declarations: {error}")),
        }
    }
}

/// What the metamorphic twin of a shader has and the shader has not. The resource holds a runtime-sized array, so that size
/// fields move too.
const TWIN: &str = "@group(0) @binding(65535) var<storage> lockstep_twin: array<vec3<f32>>; \
                    @compute @workgroup_size(1) fn lockstep_other() { _ = arrayLength(&lockstep_twin); }";

/// Whether a source has directives, which only stand at its start.
fn has_directives(wgsl: &str) -> bool {
    let directive = |line: &str| {
        ["enable", "requires", "diagnostic"]
            .iter()
            .any(|word| line.trim_start().starts_with(word))
    };
    wgsl.lines().any(directive)
}

/// An argument without what may change when declarations do.
type Slotted = (Table, u32, bool);

/// Where the arguments are, by table and index, and which may write.
fn places(reflection: &Reflection, function: &str) -> Vec<Slotted> {
    let entry = reflection.entry_points.iter().filter(|entry| entry.name == function);
    let arguments = entry.flat_map(|entry| &entry.arguments);
    let mut places: Vec<_> = arguments
        .map(|argument| (argument.table, argument.index, argument.access != Access::ReadOnly))
        .collect();
    places.sort_unstable();
    places
}

fn is_sizes(argument: &Argument) -> bool {
    argument.ty == "constant _mslBufferSizes&"
}

fn place_name(binding: ResourceBinding) -> String {
    format!("group {} binding {}", binding.group, binding.binding)
}

/// Whether a name in MSL can be naga's for a name in WGSL: the same, with an underscore after a digit or a keyword, or with a
/// number after an underscore. A name that naga spells otherwise (non-ASCII letters, two underscores) can be any.
fn is_named_after(msl: &str, wgsl: &str) -> bool {
    let base = wgsl.trim_end_matches('_');
    let is_plain =
        !base.is_empty() && base.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !base.contains("__");
    !is_plain
        || msl
            .strip_prefix(base)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Whether the shader declares a resource as writable.
fn declares_write(global: &GlobalVariable, argument: &Argument) -> bool {
    match global.space {
        AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE),
        // Of handles, storage textures alone have an access; the argument's type says it as the declaration does.
        AddressSpace::Handle => argument.table == Table::Texture && !argument.ty.contains("access::sample"),
        _ => false,
    }
}

fn runtime_arrays(module: &Module) -> impl Iterator<Item = (Handle<GlobalVariable>, &GlobalVariable)> {
    module
        .global_variables
        .iter()
        .filter(|(_, global)| runtime_array(module, global.ty))
}

/// The fields of `_mslBufferSizes`: one for each global with a runtime-sized array, by naga's number for it. The case's layout
/// has no binding array, so that an array's length is the shader's own, at least 1.
fn size_fields(module: &Module) -> Vec<SizeField> {
    let count = |ty: Handle<naga::Type>| match module.types[ty].inner {
        TypeInner::BindingArray {
            size: naga::ArraySize::Constant(count),
            ..
        } => Some(count.get()),
        TypeInner::BindingArray { .. } => Some(1),
        _ => None,
    };
    let field = |(handle, global): (Handle<GlobalVariable>, &GlobalVariable)| SizeField {
        name: format!("size{}", handle.index()),
        count: count(global.ty),
    };
    runtime_arrays(module).map(field).collect()
}

/// Whether the entry point's own body asks for the length of a runtime-sized array, or indexes one. What functions that it
/// calls ask for is not looked at.
fn asks_for_length(resolved: &Resolved) -> bool {
    let entry = &resolved.module.entry_points[resolved.index].function;
    let uses = resolved.uses();
    let types = &resolved.module.types;
    entry.expressions.iter().any(|(_, expression)| match *expression {
        naga::Expression::ArrayLength(_) => true,
        naga::Expression::Access { base, .. } | naga::Expression::AccessIndex { base, .. } => {
            let pointee = uses[base].ty.inner_with(types).pointer_base_type();
            let inner = pointee.as_ref().map(|pointee| pointee.inner_with(types));
            matches!(
                inner,
                Some(TypeInner::Array {
                    size: naga::ArraySize::Dynamic,
                    ..
                })
            )
        }
        _ => false,
    })
}

/// The loops in a block.
fn loops(block: &naga::Block) -> u64 {
    let of_statement = |statement: &naga::Statement| match statement {
        naga::Statement::Block(block) => loops(block),
        naga::Statement::If { accept, reject, .. } => loops(accept) + loops(reject),
        naga::Statement::Switch { cases, .. } => cases.iter().map(|case| loops(&case.body)).sum(),
        naga::Statement::Loop { body, continuing, .. } => 1 + loops(body) + loops(continuing),
        _ => 0,
    };
    block.iter().map(of_statement).sum()
}

/// The variant of an error, a reason short enough to count by.
fn variant(error: &impl std::fmt::Debug) -> String {
    let text = format!("{error:?}");
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default()
        .to_owned()
}

fn layout_reason(error: &mslmap::LayoutError) -> &'static str {
    use mslmap::LayoutError;
    match error {
        LayoutError::UnsupportedStage(_) => "unsupported stage",
        LayoutError::TooManyGroups { .. } => "too many groups",
        LayoutError::DuplicateBinding { .. } => "duplicate binding",
        LayoutError::BindingArray { .. } => "binding array",
        LayoutError::ExternalTexture { .. } => "external texture",
        LayoutError::SlotTooHigh { .. } => "slot over 255",
        LayoutError::SizesSlotTooHigh { .. } => "sizes slot over 255",
    }
}

/// Runs a part of naga; a panic is an error that says so.
fn guarded<T>(part: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(part)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("naga panicked: {}", text.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use wgpu_types::{BindingType, BufferBindingType, ShaderStages};

    use super::*;
    use crate::case::Shader;

    fn entry(binding: u32, ty: BindingType) -> BindGroupLayoutEntry {
        BindGroupLayoutEntry {
            binding,
            visibility: ShaderStages::all(),
            ty,
            count: None,
        }
    }

    fn buffer(ty: BufferBindingType) -> BindingType {
        BindingType::Buffer {
            ty,
            has_dynamic_offset: false,
            min_binding_size: None,
        }
    }

    const UNIFORM: BufferBindingType = BufferBindingType::Uniform;
    const READ: BufferBindingType = BufferBindingType::Storage { read_only: true };
    const WRITE: BufferBindingType = BufferBindingType::Storage { read_only: false };
    const SAMPLER: BindingType = BindingType::Sampler(wgpu_types::SamplerBindingType::Filtering);

    fn case(
        groups: &[&[BindGroupLayoutEntry]],
        (major, minor): (u32, u32),
        wgsl: &str,
        overrides: &[(&str, f64)],
    ) -> LayoutCase {
        let overrides = overrides.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
        LayoutCase {
            groups: groups.iter().map(|entries| Some(entries.to_vec())).collect(),
            immediate_size: 0,
            vertex_pulling: false,
            system: System {
                platform: crate::case::Platform::MacOs,
                major,
                minor,
            },
            shader: Some(Shader {
                wgsl: wgsl.into(),
                overrides,
            }),
        }
    }

    fn refused(checked: &Checked) -> Vec<(&str, u64)> {
        checked
            .refused
            .iter()
            .map(|(reason, &count)| (reason.as_str(), count))
            .collect()
    }

    fn problems(checked: &Checked) -> Vec<(u8, &str)> {
        checked
            .problems
            .iter()
            .map(|found| (found.property, found.detail.as_str()))
            .collect()
    }

    const SHADER: &str = "
        @id(7) override scale: f32 = 2.0;
        override count: u32;
        @group(0) @binding(0) var<uniform> unused: vec4f;
        @group(0) @binding(1) var<uniform> tint: vec4f;
        @group(0) @binding(2) var linear: sampler;
        @group(1) @binding(5) var<storage, read_write> rows: array<f32>;
        fn value(i: u32) -> f32 { return rows[i] * scale; }
        @fragment fn shade() -> @location(0) vec4f { return tint; }
        @compute @workgroup_size(4) fn fill(@builtin(local_invocation_index) i: u32) {
            for (var n = 0u; n < count; n++) { rows[i + n] = value(n) + tint.x; }
        }";

    fn entries() -> [Vec<BindGroupLayoutEntry>; 2] {
        let first = vec![entry(2, SAMPLER), entry(1, buffer(UNIFORM)), entry(0, buffer(UNIFORM))];
        [first, vec![entry(5, buffer(WRITE))]]
    }

    #[test]
    fn a_fitting_shader_has_no_problem() {
        let [first, second] = entries();
        let checked = check(&case(&[&first, &second], (15, 0), SHADER, &[("count", 3.0)]));
        assert_eq!(problems(&checked), []);
        assert_eq!(refused(&checked), []);
        // tint; tint, rows and _buffer_sizes.
        assert_eq!((checked.translated, checked.arguments), (2, 4));
    }

    #[test]
    fn no_shader_and_bad_input() {
        let mut of_nothing = case(&[], (15, 0), "", &[]);
        of_nothing.shader = None;
        assert_eq!(check(&of_nothing), Checked::default());
        let bad = check(&case(&[], (15, 0), "fn f( {}", &[]));
        assert_eq!(bad.problems.len(), 1);
        assert_eq!(bad.problems[0].property, 0);
        assert!(bad.problems[0].detail.contains("1:7"), "{}", bad.problems[0].detail);
    }

    #[test]
    fn what_the_layout_lacks_is_refused() {
        let [first, second] = entries();
        let lacking = check(&case(&[&first], (15, 0), SHADER, &[("count", 3.0)]));
        assert_eq!(problems(&lacking), []);
        assert_eq!(refused(&lacking), [("_buffer_sizes without a slot", 1)]);
        let other = [entry(1, SAMPLER)];
        let other_kind = check(&case(&[&other, &second], (15, 0), SHADER, &[("count", 3.0)]));
        assert_eq!(problems(&other_kind), []);
        assert_eq!(refused(&other_kind), [(OTHER_KIND, 2)]);
        let without = check(&case(&[&[], &second], (15, 0), SHADER, &[("count", 3.0)]));
        assert_eq!(refused(&without), [(LACKING, 2)]);
        let mut array = entry(0, SAMPLER);
        array.count = std::num::NonZeroU32::new(2);
        let array = check(&case(&[&[array]], (15, 0), SHADER, &[("count", 3.0)]));
        assert_eq!(refused(&array), [("the layout: binding array", 2)]);
    }

    #[test]
    fn overrides_are_refused_for_a_cause() {
        let [first, second] = entries();
        let with = |overrides: &[(&str, f64)]| {
            let checked = check(&case(&[&first, &second], (15, 0), SHADER, overrides));
            assert_eq!(problems(&checked), []);
            checked.refused.into_iter().collect::<Vec<_>>()
        };
        // `shade` uses no override, so that only unknown keys are refused for it.
        assert_eq!(with(&[]), [("overrides: MissingValue".to_owned(), 1)]);
        assert_eq!(
            with(&[("scale", 1.0), ("count", 1.0)]),
            [("overrides: NotFound".to_owned(), 2)]
        );
        assert_eq!(
            with(&[("7", 1.0), ("count", -1.0)]),
            [("overrides: DstRangeTooSmall".to_owned(), 1)]
        );
        assert_eq!(
            with(&[("7", f64::NAN), ("count", 1.0)]),
            [("overrides: SrcNeedsToBeFinite".to_owned(), 1)]
        );
    }

    #[test]
    fn what_the_version_lacks_is_refused() {
        let wgsl = "@vertex fn v(@builtin(vertex_index) i: u32) -> @invariant @builtin(position) vec4f { return vec4f(f32(i)); }
            @fragment fn f(@builtin(primitive_index) i: u32) -> @location(0) vec4f { return vec4f(f32(i)); }
            @compute @workgroup_size(1) fn c() { let bits = reverseBits(u32(mine)); rest(bits); }
            var<private> mine: i32;
            fn rest(i: u32) { mine = i32(i); }";
        let wgsl = &format!("enable primitive_index;\n{wgsl}");
        let old = check(&case(&[], (10, 11), wgsl, &[]));
        assert_eq!(problems(&old), []);
        let expected = [
            ("needs MSL 1.2: bit functions", 1),
            ("needs MSL 2.1: @invariant", 1),
            ("needs MSL 2.3: primitive_index", 1),
        ];
        assert_eq!(refused(&old), expected);
        let new = check(&case(&[], (11, 0), wgsl, &[]));
        assert_eq!((problems(&new), refused(&new), new.translated), (vec![], vec![], 3));
    }

    #[test]
    fn wider_access_and_metals_limits_are_counted() {
        let wgsl = "@group(0) @binding(31) var<storage, read_write> rows: array<u32>;
            @compute @workgroup_size(1) fn c() { rows[0] = 1; }";
        let mut entries: Vec<_> = (0..31).map(|binding| entry(binding, buffer(UNIFORM))).collect();
        entries.push(entry(31, buffer(READ)));
        let checked = check(&case(&[&entries], (15, 0), wgsl, &[]));
        assert_eq!(problems(&checked), []);
        assert_eq!(refused(&checked), [(WIDER_ACCESS, 1), (PAST_LIMITS, 2)]);
    }

    /// The check of a text other than naga's, in place of what naga wrote for the compute entry point of `SHADER`.
    fn problems_of(text: impl Fn(&str) -> String) -> Vec<(u8, String)> {
        let [first, second] = entries();
        let source = Source::new(SHADER).unwrap();
        let overrides = BTreeMap::from([("count".to_owned(), 3.0)]);
        let fill = Entry {
            name: "fill".into(),
            stage: Stage::Compute,
        };
        let layout = StageLayout::new(&[Some(&first), Some(&second)], naga::ShaderStage::Compute).unwrap();
        let resolved = source.resolved(&fill, &overrides).ok().unwrap();
        let mut msl = resolved.write(&layout, (3, 1)).unwrap().unwrap().unwrap();
        let changed = text(&msl.text);
        assert_ne!(changed, msl.text);
        msl.text = changed;
        let mut check = EntryCheck {
            entry: &fill,
            checked: Checked::default(),
        };
        check.text(&resolved, &layout, &resources(&resolved, &layout), (3, 1), &msl);
        check
            .checked
            .problems
            .into_iter()
            .map(|found| (found.property, found.detail))
            .collect()
    }

    #[test]
    fn faults_in_the_text_are_found() {
        let changed = |from: &'static str, to: &'static str| {
            let found = problems_of(|text| text.replace(from, to));
            found
                .into_iter()
                .map(|(property, detail)| format!("{property}: {detail}"))
                .collect::<Vec<_>>()
        };
        let moved = [
            "1: group 0 binding 1 `tint` has no argument at buffer 1",
            "1: `tint` at buffer 7 is no resource that the entry point uses",
        ];
        assert_eq!(changed("[[buffer(1)]]", "[[buffer(7)]]"), moved);
        let swapped = problems_of(|text| {
            text.replace("[[buffer(1)]]", "[[buffer(x)]]")
                .replace("[[buffer(2)]]", "[[buffer(1)]]")
                .replace("(x)]]", "(2)]]")
        });
        let swapped: Vec<_> = swapped
            .iter()
            .map(|(property, detail)| (*property, detail.as_str()))
            .collect();
        let expected = [
            (1, "group 0 binding 1 `tint` should be at buffer 1, where `rows` is"),
            (1, "`rows` at buffer 1 is ReadWrite, but the layout is not"),
            (1, "group 1 binding 5 `rows` should be at buffer 2, where `tint` is"),
            (1, "`tint` at buffer 2 is written, but read-only"),
        ];
        assert_eq!(swapped, expected);
        assert_eq!(
            changed("device type_3& rows", "device type_3 const& rows"),
            ["1: `rows` at buffer 2 is written, but read-only"]
        );
        assert_eq!(
            changed("[[buffer(3)]]", "[[buffer(2)]]"),
            [
                "2: `rows` and `_buffer_sizes` are both at buffer 2",
                "3: _buffer_sizes at buffer 2, the layout says Some(3)"
            ]
        );
        assert_eq!(changed("uint size1;", "uint size1; uint size2;").len(), 1);
        assert_eq!(
            changed("language: metal3.1", "language: metal3.2"),
            ["7: asked for MSL (3, 1), written for Some((3, 2))"]
        );
        let unguarded = changed("metal::min(unsigned(i_1)", "metal::max(unsigned(i_1)");
        assert!(unguarded.iter().all(|found| found.starts_with("6: ")), "{unguarded:?}");
        assert_eq!(
            changed("while(true)", "if(true)"),
            ["6: 0 loops in the MSL, 1 in the module"]
        );
        assert_eq!(
            changed("kernel void", "void"),
            ["1: the MSL has the entry points [], naga says `fill`"]
        );
        assert_eq!(changed("{", "").len(), 1);
    }

    #[test]
    fn generated_shaders_have_no_problem() {
        let mut seen = Checked::default();
        for index in 0..500 {
            let origin = crate::case::Origin {
                lane: "shaders".into(),
                seed: 1,
                index,
            };
            let Some(crate::generators::Made {
                case: crate::case::Case::Layout(case),
                ..
            }) = crate::generators::case(&origin)
            else {
                panic!("no case {index}");
            };
            let checked = check(&case);
            let wgsl = case.shader.map(|shader| shader.wgsl).unwrap_or_default();
            assert_eq!(problems(&checked), [], "case {index}:\n{wgsl}");
            seen.add(checked);
        }
        assert!(seen.translated > 500 && seen.arguments > seen.translated, "{seen:?}");
        assert!(
            seen.refused.contains_key(LACKING) && seen.refused.contains_key(OTHER_KIND),
            "{seen:?}"
        );
    }
}
