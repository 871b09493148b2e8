//! Property 4: what moves no slot.
//!
//! The twin of a module has its global variables in reverse, after one more that is a runtime-sized array, so that fields of
//! `_buffer_sizes` move too; its entry points in reverse, after one more that uses that variable; other values for its overrides,
//! where naga takes them; and all of its entry points written into one text. It is written with the twin of the layout: each group
//! listed backwards, with bindings added that no stage sees. Every argument must be where it was.
//!
//! The twin is made of the module, not of its WGSL: no name of the user's can clash with it, and it costs no second parse. What
//! naga makes of functions, structs and constants in another order is not tried.

use mslmap::{LayoutError, STAGES, StageLayout};
use naga::back::PipelineConstants;
use naga::back::msl::{BindTarget, EntryPointResources};
use naga::back::pipeline_constants::process_overrides;
use naga::compact::{KeepUnused, compact};
use naga::valid::ModuleInfo;
use naga::{
    AddressSpace, Arena, ArraySize, EntryPoint, Expression, Function, GlobalVariable, Handle, Literal, Module,
    ResourceBinding, Scalar, ShaderStage, Span, StorageAccess, Type, TypeInner,
};
use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

use super::settings::options;
use super::{Check, Checked, Checker, Entry, Problem, Settings};
use crate::case::Stage;
use crate::msl::arguments::{self, Access, Table};
use crate::pipeline::{Shader, guarded, validate};

/// An argument without what may change when declarations do: where it is, and whether it may be written.
pub(super) type Slotted = (Table, u32, bool);

/// A translated entry point, and where its arguments are.
pub(super) struct Translated<'a> {
    pub entry: &'a Entry,
    pub places: Vec<Slotted>,
}

/// Where the arguments are, in the order of the tables.
pub(super) fn places(entry: &arguments::EntryPoint) -> Vec<Slotted> {
    let arguments = entry.arguments.iter();
    let mut places: Vec<_> = arguments
        .map(|argument| (argument.table, argument.index, argument.access != Access::ReadOnly))
        .collect();
    places.sort_unstable();
    places
}

impl Checker<'_> {
    /// Holds the layout against its twin, and what was translated against the module's.
    pub fn twin(&self, translated: &[Translated<'_>], checked: &mut Checked) {
        let layouts = self.twin_layouts(checked);
        if translated.is_empty() {
            return;
        }
        let twin = match Twin::new(self.shader, self.settings, translated) {
            Ok(twin) => twin,
            Err(error) => return moved(checked, translated[0].entry, format!("no twin of the module: {error}")),
        };
        let found = self.write_twin(&twin, &layouts, translated);
        for (Translated { entry, places }, found) in translated.iter().zip(found) {
            checked.count(Check::OtherDeclarations);
            if twin.has_other_values {
                checked.count(Check::OtherValues);
            }
            match found {
                Ok(found) if found == *places => {}
                Ok(found) => {
                    let detail = format!("other slots with other declarations: {found:?}, were {places:?}");
                    moved(checked, entry, detail);
                }
                Err(error) => moved(checked, entry, format!("refused with other declarations: {error}")),
            }
        }
    }

    /// The layout listed otherwise, which must be the same.
    fn twin_layouts(&self, checked: &mut Checked) -> [Result<StageLayout, LayoutError>; STAGES.len()] {
        let groups = twin_groups(self.settings.groups);
        let groups: Vec<_> = groups.iter().map(Option::as_deref).collect();
        let twins = StageLayout::all_stages(&groups, self.settings.extension);
        checked.count(Check::OtherListing);
        for ((stage, layout), twin) in Stage::ALL.into_iter().zip(&self.layouts).zip(&twins) {
            if placed(layout) != placed(twin) {
                checked.problems.push(Problem {
                    entry_point: String::new(),
                    stage,
                    property: 4,
                    detail: format!("the layout listed otherwise gives {twin:?}, was {layout:?}"),
                });
            }
        }
        twins
    }

    /// Where the arguments are in the twin, for each translated entry point: all of them written at once or, where naga refuses
    /// the text as a whole for what another entry point has, one by one.
    fn write_twin(
        &self,
        twin: &Twin,
        layouts: &[Result<StageLayout, LayoutError>],
        translated: &[Translated<'_>],
    ) -> Vec<Result<Vec<Slotted>, String>> {
        let entries = translated.iter().map(|one| one.entry);
        let with_layout: Vec<_> = entries
            .filter_map(|entry| Some((entry, layouts[entry.stage as usize].as_ref().ok()?)))
            .collect();
        self.write_entries(twin, &with_layout, true).unwrap_or_else(|_| {
            let alone = with_layout.iter().map(|one| {
                let found = self.write_entries(twin, &[*one], false);
                found.and_then(|mut found| found.pop().unwrap_or_else(|| Err("it is gone".into())))
            });
            alone.collect()
        })
    }

    fn write_entries(
        &self,
        twin: &Twin,
        entries: &[(&Entry, &StageLayout)],
        with_others: bool,
    ) -> Result<Vec<Result<Vec<Slotted>, String>>, String> {
        let Some(&(first, layout)) = entries.first() else {
            return Ok(Vec::new());
        };
        let (mut written, mut pipeline) = options(layout, &first.name, self.settings.version, &self.vertex_buffers);
        for (entry, layout) in entries {
            let resources = EntryPointResources {
                resources: layout
                    .resources
                    .iter()
                    .map(|(&at, target)| (at, target.clone()))
                    .collect(),
                immediates_buffer: layout.immediates_slot,
                sizes_buffer: layout.sizes_slot,
            };
            written.per_entry_point_map.insert(entry.name.clone(), resources);
        }
        if with_others {
            pipeline.entry_point = None;
            written.per_entry_point_map.insert(twin.added.clone(), of_added());
        }
        let (text, info) = guarded(|| naga::back::msl::write_string(&twin.module, &twin.info, &written, &pipeline))
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())?;
        let reflection = arguments::read(&text).map_err(|error| error.to_string())?;
        let named = |entry: &Entry| {
            let is_it = |found: &EntryPoint| found.stage == entry.stage.naga() && found.name == entry.name;
            let at = if with_others {
                twin.module.entry_points.iter().position(is_it)?
            } else {
                0
            };
            info.entry_point_names.get(at)
        };
        let find = |entry: &Entry| {
            let name = named(entry)
                .ok_or("it is gone")?
                .as_ref()
                .map_err(|error| error.to_string())?;
            let mut all = reflection.entry_points.iter();
            Ok(places(
                all.find(|found| found.name == *name).ok_or("it is not in the text")?,
            ))
        };
        Ok(entries.iter().map(|(entry, _)| find(entry)).collect())
    }
}

fn moved(checked: &mut Checked, entry: &Entry, detail: String) {
    checked.problems.push(Problem {
        entry_point: entry.name.clone(),
        stage: entry.stage,
        property: 4,
        detail,
    });
}

/// What must be alike in a layout and its twin. The twin has more bindings, but none that a stage sees.
fn placed(layout: &Result<StageLayout, LayoutError>) -> Result<impl PartialEq, &LayoutError> {
    let layout = layout.as_ref()?;
    Ok((
        &layout.resources,
        &layout.group_base,
        layout.immediates_slot,
        layout.sizes_slot,
    ))
}

/// Every group listed backwards, after up to two bindings that no stage sees: a storage buffer before the first number or at it,
/// and an external texture after the last.
fn twin_groups(groups: &[Option<&[BindGroupLayoutEntry]>]) -> Vec<Option<Vec<BindGroupLayoutEntry>>> {
    let storage = BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only: false },
        has_dynamic_offset: true,
        min_binding_size: None,
    };
    let twin = |entries: &[BindGroupLayoutEntry]| {
        let numbers = || entries.iter().map(|entry| entry.binding);
        let before = numbers().min().map_or(Some(0), |first| first.checked_sub(1));
        let after = numbers().max().map_or(Some(1), |last| last.checked_add(1));
        let invisible = [(before, storage), (after, BindingType::ExternalTexture)];
        let invisible = invisible.into_iter().filter_map(|(binding, ty)| {
            Some(BindGroupLayoutEntry {
                binding: binding?,
                visibility: ShaderStages::NONE,
                ty,
                count: None,
            })
        });
        invisible.chain(entries.iter().rev().copied()).collect()
    };
    groups.iter().map(|entries| entries.map(twin)).collect()
}

/// A module's twin, with its overrides resolved.
struct Twin {
    module: Module,
    info: ModuleInfo,
    /// The name of the entry point that was added.
    added: String,
    /// Whether the overrides have other values; not where there are none, or where naga does not take the other ones.
    has_other_values: bool,
}

impl Twin {
    fn new(shader: &Shader, settings: &Settings<'_>, translated: &[Translated<'_>]) -> Result<Twin, String> {
        let mut module = shader.module.clone();
        let added = reorder(&mut module);
        // An entry point that was refused may want a value that is not there, or a newer version.
        let is_translated = |found: &EntryPoint| translated.iter().any(|one| one.entry.name == found.name);
        module
            .entry_points
            .retain(|found| found.name == added || is_translated(found));
        if module.overrides.is_empty() {
            compact(&mut module, KeepUnused::No);
            let info = validate(&module)
                .map_err(|error| error.to_string())?
                .map_err(|error| error.as_inner().to_string())?;
            let has_other_values = false;
            return Ok(Twin {
                module,
                info,
                added,
                has_other_values,
            });
        }
        // The information is that of the shader, which naga does not look at where there are overrides: it makes it anew.
        let resolve = |values: &PipelineConstants| {
            let (module, info) =
                guarded(|| process_overrides(&module, &shader.info, None, values).map_err(|error| error.to_string()))
                    .map_err(|error| error.to_string())??;
            Ok::<_, String>((module.into_owned(), info.into_owned()))
        };
        let given = settings.constants();
        let other = resolve(&other_values(&shader.module, &given));
        let has_other_values = other.is_ok();
        let (module, info) = other.or_else(|_| resolve(&given))?;
        Ok(Twin {
            module,
            info,
            added,
            has_other_values,
        })
    }
}

/// Reverses the global variables and the entry points, and adds one of each in front. The name of the entry point is given.
fn reorder(module: &mut Module) -> String {
    let old = std::mem::replace(&mut module.global_variables, Arena::new());
    let extra = runtime_array(module);
    let extra = module.global_variables.append(extra, Span::UNDEFINED);
    let mut moved = vec![extra; old.len()];
    for (handle, global) in old.iter().rev() {
        moved[handle.index()] = module.global_variables.append(global.clone(), old.get_span(handle));
    }
    let follow = |handle: &mut Handle<GlobalVariable>| *handle = moved[handle.index()];
    for (_, function) in module.functions.iter_mut() {
        global_variables(function).for_each(follow);
    }
    for entry_point in &mut module.entry_points {
        global_variables(&mut entry_point.function).for_each(follow);
        entry_point.task_payload.iter_mut().for_each(follow);
        entry_point.incoming_ray_payload.iter_mut().for_each(follow);
        entry_point
            .mesh_info
            .iter_mut()
            .for_each(|info| follow(&mut info.output_variable));
    }
    let mut name = "lockstep_other".to_owned();
    while module.entry_points.iter().any(|found| found.name == name) {
        name.push('_');
    }
    module.entry_points.push(asks_for_length(name.clone(), extra));
    module.entry_points.reverse();
    name
}

fn global_variables(function: &mut Function) -> impl Iterator<Item = &mut Handle<GlobalVariable>> {
    function
        .expressions
        .iter_mut()
        .filter_map(|(_, expression)| match expression {
            Expression::GlobalVariable(handle) => Some(handle),
            _ => None,
        })
}

/// Where the variable that is added is bound; no layout of the twin need have it, since only the entry point that is added uses it.
const ADDED: ResourceBinding = ResourceBinding {
    group: 0,
    binding: u32::MAX,
};

/// The slots of the entry point that is added.
fn of_added() -> EntryPointResources {
    let target = BindTarget {
        buffer: Some(0),
        ..BindTarget::default()
    };
    EntryPointResources {
        resources: [(ADDED, target)].into(),
        immediates_buffer: None,
        sizes_buffer: Some(1),
    }
}

/// `var<storage> lockstep_twin: array<u32>`.
fn runtime_array(module: &mut Module) -> GlobalVariable {
    let mut add = |inner| module.types.insert(Type { name: None, inner }, Span::UNDEFINED);
    let base = add(TypeInner::Scalar(Scalar::U32));
    let ty = add(TypeInner::Array {
        base,
        size: ArraySize::Dynamic,
        stride: 4,
    });
    GlobalVariable {
        name: Some("lockstep_twin".to_owned()),
        space: AddressSpace::Storage {
            access: StorageAccess::LOAD,
        },
        binding: Some(ADDED),
        ty,
        init: None,
        memory_decorations: naga::MemoryDecorations::empty(),
    }
}

/// A compute entry point with `_ = arrayLength(&variable);`.
fn asks_for_length(name: String, variable: Handle<GlobalVariable>) -> EntryPoint {
    let mut function = Function::default();
    let array = function
        .expressions
        .append(Expression::GlobalVariable(variable), Span::UNDEFINED);
    let before = function.expressions.len();
    let length = function
        .expressions
        .append(Expression::ArrayLength(array), Span::UNDEFINED);
    let emitted = function.expressions.range_from(before);
    function.body.push(naga::Statement::Emit(emitted), Span::UNDEFINED);
    function.named_expressions.insert(length, "phony".to_owned());
    EntryPoint {
        name,
        stage: ShaderStage::Compute,
        early_depth_test: None,
        workgroup_size: [1; 3],
        workgroup_size_overrides: None,
        function,
        mesh_info: None,
        task_payload: None,
        incoming_ray_payload: None,
    }
}

/// A value for each override that has one, given or its default: the other truth value, or one more.
fn other_values(module: &Module, given: &PipelineConstants) -> PipelineConstants {
    let other = |found: &naga::Override| {
        let key = found.id.map_or_else(|| found.name.clone(), |id| Some(id.to_string()))?;
        let default = || match module.global_expressions[found.init?] {
            Expression::Literal(literal) => number(literal),
            _ => None,
        };
        let value = given.get(&key).copied().or_else(default)?;
        let is_bool = matches!(module.types[found.ty].inner, TypeInner::Scalar(Scalar::BOOL));
        Some((key, if is_bool { f64::from(value == 0.0) } else { value + 1.0 }))
    };
    module.overrides.iter().filter_map(|(_, found)| other(found)).collect()
}

fn number(literal: Literal) -> Option<f64> {
    match literal {
        Literal::Bool(value) => Some(value.into()),
        Literal::U32(value) => Some(value.into()),
        Literal::I32(value) => Some(value.into()),
        Literal::F32(value) => Some(value.into()),
        _ => None,
    }
}
