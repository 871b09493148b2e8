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
//! 4. other slots in the twin of the module, and another layout by the twin of the layout (`twin` says what the two are);
//! 5. a resource that the layout lacks or holds in another table and that naga takes all the same, or refuses by another name;
//! 6. an index, an image load or a loop without its guard ([`crate::msl::safety`]), or other loops than the shader has;
//! 7. a feature newer than the language version that naga writes all the same, one that it refuses though the version has it
//!    (both by `version`'s table), and another version than the one asked for.
//!
//! Property 4 is checked once a shader, over all of its translated entry points; the others of each entry point. [`Check`] is what a
//! report counts.
//!
//! It does not catch: text that is no MSL for Metal's compiler ([`apple`] asks that, where it is); the wrong limit in a guard of the
//! right form; an index into an array's field of `_buffer_sizes`, which naga leaves as it is where it restricts the index into the
//! array itself; a feature that is too new by Apple's tables but not in `version`'s; whether the elements of a binding array may be
//! written; what depends on a vertex state other than the one that `vertex` makes up. Kinds are tables: a uniform buffer where the
//! shader has a storage buffer is not refused by naga, and no problem here. Nor is a shader that declares more access than the layout
//! gives ([`WIDER_ACCESS`]): WebGPU makes no such pipeline, and naga is not asked to refuse it.

use std::collections::BTreeMap;

use mslmap::{Extension, LayoutError, STAGES, StageLayout};
use naga::back::PipelineConstants;
use naga::back::msl::VertexBufferMapping;

use crate::case::{LayoutCase, Stage, System};
use crate::deep;
use crate::msl::arguments::{Argument, Reflection};
use crate::msl::safety::Safety;
use crate::pipeline::{Msl, PipelineError, ResolveError, Resolved, Shader, Written};
use crate::readers::native;
use crate::report::results::Msl as Counts;

pub mod apple;
mod guards;
mod refusals;
mod resources;
mod settings;
mod sizes;
mod twin;
pub mod upstream;
mod version;
mod vertex;

pub use sizes::runtime_array_bindings;

pub(crate) use settings::{Entry, Settings};

use resources::{Resource, resources};
use settings::{entry_points as entries_of, write};
use twin::{Translated, places};

/// The count of arguments whose index Metal has no place for: 31 buffers, vertex buffers among them, 128 textures, 16 samplers a
/// stage.
pub const PAST_LIMITS: &str = "past Metal's limits";

/// The count of resources that the shader declares with more access than the layout gives.
pub const WIDER_ACCESS: &str = "more access than the layout gives";

/// The reason under which an access to `binding_array<Struct>` without a length is refused: naga 30.0.2 restricts the index of such
/// an array of buffers, asks for the length of an array in the struct's place, and fails ("module should not have validated").
pub const UNSIZED_BUFFERS: &str = "an array of buffers without a length, which naga 30.0.2 cannot restrict";

/// The signature of a panic, naga's or the oracle's.
pub const PANICKED: &str = "msl: a panic";

/// The signature of a shader that naga does not take: a finding of the generators alone.
pub const NO_SHADER: &str = "msl: naga refuses the WGSL";

/// The reason under which a resource is refused that the layout lacks for the stage.
const LACKING: &str = "a used resource that the layout lacks";

/// The reason under which a resource is refused that the layout holds in another table.
const OTHER_KIND: &str = "a used resource that the layout holds as another kind";

/// What is checked of a translation, by property. Nothing but [`Check::Upstream`] is checked on a share: each is checked of every entry point for which it
/// means anything; of a refused one only the refusal, and other values only where there are overrides that take them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Property 1.
    Resources,
    /// Property 2.
    Indices,
    /// Property 3.
    Sizes,
    /// Property 4: other declarations in another order, and another entry point in the same text.
    OtherDeclarations,
    /// Property 4: other values for overrides.
    OtherValues,
    /// Property 4, once a case: the layout listed in another order, with bindings that no stage sees.
    OtherListing,
    /// Property 5.
    Refusals,
    /// Property 6.
    Guards,
    /// Property 7.
    Version,
    /// The text that wgpu-hal's own `load_shader` gives ([`upstream`]), of every 32nd case.
    Upstream,
}

impl Check {
    const ALL: [Check; 10] = [
        Check::Resources,
        Check::Indices,
        Check::Sizes,
        Check::OtherDeclarations,
        Check::OtherValues,
        Check::OtherListing,
        Check::Refusals,
        Check::Guards,
        Check::Version,
        Check::Upstream,
    ];

    /// Its name in reports, which begins with the property's place in slots.md.
    pub fn name(self) -> &'static str {
        match self {
            Check::Resources => "§4.1 resources at their slots",
            Check::Indices => "§4.2 no index twice",
            Check::Sizes => "§4.3 _buffer_sizes",
            Check::OtherDeclarations => "§4.4 other declarations",
            Check::OtherValues => "§4.4 other override values",
            Check::OtherListing => "§4.4 layout listed otherwise",
            Check::Refusals => "§4.5 refusals",
            Check::Guards => "§4.6 guards",
            Check::Version => "§4.7 language version",
            Check::Upstream => "the text of wgpu-hal",
        }
    }
}

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
    /// How often each check was made, in the order of [`Check::ALL`].
    checks: [u64; Check::ALL.len()],
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The entry point's name in WGSL; empty when the shader or the layout as a whole is at fault.
    pub entry_point: String,
    /// The entry point's stage; vertex when the shader as a whole is at fault.
    pub stage: Stage,
    /// The property of slots.md, section 4; 0 when there is nothing to hold against a property: WGSL that naga does not take,
    /// MSL that cannot be read, a panic; 8 for another text than wgpu-hal's.
    pub property: u8,
    /// What was found, and what was expected.
    pub detail: String,
}

impl Problem {
    /// The signature of the finding that it is.
    pub fn signature(&self) -> String {
        match self.property {
            8 => "msl: another text than wgpu-hal's".into(),
            0 if self.entry_point.is_empty() => NO_SHADER.into(),
            property => format!("msl: property {property}"),
        }
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
    over_source(case, |checker, _| {
        let entries = entries_of(&checker.shader.module);
        checker.check(&entries)
    })
    .map(Option::unwrap_or_default)
    .unwrap_or_else(|detail| {
        let mut checked = Checked::default();
        checked.problems.push(Problem {
            entry_point: String::new(),
            stage: Stage::Vertex,
            property: 0,
            detail,
        });
        checked
    })
}

/// The same, entry point by entry point.
///
/// # Errors
///
/// The shader as a whole is at fault.
pub fn entry_points(case: &LayoutCase) -> Result<Vec<EntryReport>, String> {
    let reports = over_source(case, |checker, _| {
        let entries = entries_of(&checker.shader.module);
        entries.iter().map(|entry| checker.report(entry)).collect()
    });
    Ok(reports?.unwrap_or_default())
}

/// Looks at a case's shader, if it has one, on a stack that its text cannot overflow.
fn over_source<T: Send + 'static>(
    case: &LayoutCase,
    look: fn(&Checker<'_>, &LayoutCase) -> T,
) -> Result<Option<T>, String> {
    let Some(shader) = &case.shader else {
        return Ok(None);
    };
    let (length, case) = (shader.wgsl.len(), case.clone());
    let looked = deep::run(length, move || {
        let given = case.shader.clone().unwrap_or_default();
        let shader = Shader::new(&given.wgsl, "wgsl").map_err(PipelineError::report)?;
        let groups: Vec<_> = case.groups.iter().map(Option::as_deref).collect();
        let extension = Extension {
            immediate_size: case.immediate_size,
            vertex_pulling: case.vertex_pulling,
        };
        let settings = Settings {
            groups: &groups,
            extension,
            version: language_version(&case.system),
            overrides: &given.overrides,
        };
        Ok::<_, String>(look(&Checker::new(&shader, &settings), &case))
    });
    looked?.map(Some)
}

/// The language version of a system.
pub(crate) fn language_version(system: &System) -> (u8, u8) {
    let (platform, os) = native::system(system);
    mslmap::language_version(platform, os)
}

impl Checked {
    /// The counts for a report.
    pub fn counts(&self) -> Counts {
        let checks = Check::ALL.iter().zip(self.checks).filter(|(_, count)| *count > 0);
        Counts {
            translated: self.translated,
            arguments: self.arguments,
            refused: self.refused.clone(),
            checks: checks.map(|(check, count)| (check.name().to_owned(), count)).collect(),
        }
    }

    /// Adds what another check of the same case saw.
    pub fn add(&mut self, other: Checked) {
        self.problems.extend(other.problems);
        self.checks
            .iter_mut()
            .zip(other.checks)
            .for_each(|(sum, count)| *sum += count);
    }

    /// How often a check was made.
    pub fn made(&self, check: Check) -> u64 {
        self.checks[check as usize]
    }

    fn count(&mut self, check: Check) {
        self.checks[check as usize] += 1;
    }

    fn refuse(&mut self, reason: impl Into<String>) {
        *self.refused.entry(reason.into()).or_default() += 1;
    }
}

/// Checks one entry point of a shader.
pub(crate) fn check_entry_point(shader: &Shader, entry: &Entry, settings: &Settings<'_>) -> Checked {
    Checker::new(shader, settings).check(std::slice::from_ref(entry))
}

/// A shader and what its entry points are translated with.
struct Checker<'a> {
    shader: &'a Shader,
    settings: &'a Settings<'a>,
    constants: PipelineConstants,
    /// By stage, in the order of [`Stage::ALL`].
    layouts: [Result<StageLayout, LayoutError>; STAGES.len()],
    /// Of every vertex entry point; none where vertices are not pulled.
    vertex_buffers: Vec<VertexBufferMapping>,
}

impl<'a> Checker<'a> {
    fn new(shader: &'a Shader, settings: &'a Settings<'a>) -> Checker<'a> {
        let pulls = settings.extension.vertex_pulling;
        Checker {
            shader,
            settings,
            constants: settings.constants(),
            layouts: StageLayout::all_stages(settings.groups, settings.extension),
            vertex_buffers: if pulls {
                vertex::buffers(&shader.module)
            } else {
                Vec::new()
            },
        }
    }

    /// All properties of some entry points.
    fn check(&self, entries: &[Entry]) -> Checked {
        let mut checked = Checked::default();
        let mut translated = Vec::new();
        for entry in entries {
            let mut check = EntryCheck {
                entry,
                checked: &mut checked,
            };
            if let Some(places) = check.run(self) {
                translated.push(Translated { entry, places });
            }
        }
        self.twin(&translated, &mut checked);
        checked
    }

    fn layout(&self, stage: Stage) -> &Result<StageLayout, LayoutError> {
        &self.layouts[stage as usize]
    }

    fn resolved(&self, entry: &Entry) -> Result<Resolved<'_>, ResolveError> {
        self.shader.process(entry.stage, &entry.name, &self.constants)
    }

    /// The vertex buffers that an entry point of the stage reads.
    fn pulled(&self, stage: Stage) -> &[VertexBufferMapping] {
        if stage == Stage::Vertex {
            &self.vertex_buffers
        } else {
            &[]
        }
    }

    fn report(&self, entry: &Entry) -> EntryReport {
        let resolved = self.resolved(entry).ok();
        let layout = self.layout(entry.stage).as_ref().ok();
        let written = resolved.as_ref().zip(layout).and_then(|(resolved, layout)| {
            let written = write(resolved, layout, self.settings.version, self.pulled(entry.stage));
            written.ok()?.ok()?.ok()
        });
        let module = resolved.as_ref().map(|resolved| &resolved.module);
        let sizes = module.and_then(|module| mslmap::runtime_array_bindings(module).ok());
        EntryReport {
            name: entry.name.clone(),
            stage: entry.stage,
            checked: self.check(std::slice::from_ref(entry)),
            msl: written.map(|msl| msl.text),
            sizes: sizes.iter().flatten().map(|at| (at.group, at.binding)).collect(),
            workgroup: resolved.map_or([0; 3], |found| found.entry_point().workgroup_size),
        }
    }
}

/// The check of one entry point; the properties stand in modules of their own.
struct EntryCheck<'a> {
    entry: &'a Entry,
    checked: &'a mut Checked,
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

    /// All properties but 4; where the arguments are, when naga translated the entry point and its MSL can be read.
    fn run(&mut self, checker: &Checker<'_>) -> Option<Vec<twin::Slotted>> {
        let layout = match checker.layout(self.entry.stage) {
            Ok(layout) => layout,
            Err(error) => {
                self.checked
                    .refuse(format!("the layout: {}", refusals::layout_reason(error)));
                return None;
            }
        };
        let resolved = match checker.resolved(self.entry) {
            Ok(resolved) => resolved,
            Err(error) => {
                self.unresolved(&error, &checker.shader.module, checker.settings.overrides);
                return None;
            }
        };
        match write(
            &resolved,
            layout,
            checker.settings.version,
            checker.pulled(self.entry.stage),
        ) {
            Ok(written) => self.written(&resolved, layout, checker, written),
            Err(panic) => {
                self.problem(0, panic.to_string());
                None
            }
        }
    }

    /// Holds naga's answer against what it should be.
    fn written(
        &mut self,
        resolved: &Resolved<'_>,
        layout: &StageLayout,
        checker: &Checker<'_>,
        written: Written,
    ) -> Option<Vec<twin::Slotted>> {
        let version = checker.settings.version;
        let resources = resources(resolved, layout);
        let needs = version::needs(&resolved.module, resolved.index, resolved.uses());
        self.checked.count(Check::Refusals);
        self.checked.count(Check::Version);
        match written {
            Err(error) => self.writer_error(&error, resolved, &needs, version),
            Ok(Err(error)) => self.entry_point_error(&error, resolved, &resources, layout),
            Ok(Ok(msl)) => {
                self.checked.translated += 1;
                self.wrongly_accepted(&resources, &needs, version, &msl.text);
                return self.text(resolved, layout, checker, &resources, &msl);
            }
        }
        None
    }

    /// Reads the text and checks what it says.
    fn text(
        &mut self,
        resolved: &Resolved<'_>,
        layout: &StageLayout,
        checker: &Checker<'_>,
        resources: &[Resource<'_>],
        msl: &Msl,
    ) -> Option<Vec<twin::Slotted>> {
        let (reflection, safety) = match crate::msl::read(&msl.text) {
            Ok(read) => read,
            Err(error) => {
                self.problem(0, format!("the MSL cannot be read: {error}"));
                return None;
            }
        };
        self.version(&reflection, checker.settings.version);
        self.safety(resolved, &safety);
        let [entry_point] = reflection.entry_points.as_slice() else {
            self.entry_points(&reflection, msl);
            return None;
        };
        if entry_point.name != msl.function {
            self.entry_points(&reflection, msl);
            return None;
        }
        let arguments = &entry_point.arguments;
        self.checked.arguments += arguments.len() as u64;
        for check in [Check::Resources, Check::Indices, Check::Sizes] {
            self.checked.count(check);
        }
        let (sizes, bound): (Vec<_>, Vec<_>) = arguments.iter().partition(|argument| is_sizes(argument));
        let pulled = checker.pulled(self.entry.stage);
        self.bound(resources, pulled, &bound);
        self.unique(arguments);
        self.sizes(resolved, layout, !pulled.is_empty(), &sizes);
        let fields = reflection.buffer_sizes.as_deref();
        self.size_fields(&resolved.module, layout, pulled, fields);
        Some(places(entry_point))
    }

    fn version(&mut self, reflection: &Reflection, asked: (u8, u8)) {
        if reflection.language != Some(asked) {
            let found = reflection.language;
            self.problem(7, format!("asked for MSL {asked:?}, written for {found:?}"));
        }
    }

    fn safety(&mut self, resolved: &Resolved<'_>, safety: &Safety) {
        self.checked.count(Check::Guards);
        self.guards(resolved, safety);
    }

    fn entry_points(&mut self, reflection: &Reflection, msl: &Msl) {
        let names: Vec<&str> = reflection
            .entry_points
            .iter()
            .map(|entry| entry.name.as_str())
            .collect();
        self.problem(
            1,
            format!("the MSL has the entry points {names:?}, naga says `{}`", msl.function),
        );
    }
}

fn is_sizes(argument: &Argument) -> bool {
    argument.ty == "constant _mslBufferSizes&"
}

#[cfg(test)]
mod tests;
