//! `mslmap` as a reader.

use mslmap::{Extension, LayoutError, StageLayout};
use naga::ShaderStage;
use naga::back::msl::{Options, PipelineOptions};
use wgpu_types::BindGroupLayoutEntry;

use crate::case::{LayoutCase, Platform, Shader, Stage, System};
use crate::layouts::{
    ENTRY_POINT, EntryOptions, LayoutAnswer, OptionFacts, Refusal, ShaderFacts, StageSlots, SystemFacts, is_extended,
};

/// The whole answer to a layout case.
pub fn answer_layout(case: &LayoutCase) -> LayoutAnswer {
    let groups: Vec<Option<&[_]>> = case.groups.iter().map(Option::as_deref).collect();
    let extension = Extension {
        immediate_size: case.immediate_size,
        vertex_pulling: case.vertex_pulling,
    };
    let stages = match is_extended(case) {
        true => StageLayout::all_stages(&groups, extension),
        false => Stage::ALL.map(|stage| StageLayout::new(&groups, stage.naga())),
    };
    let present = || groups.iter().flatten();
    let (platform, version) = system(&case.system);
    let language_version = mslmap::language_version(platform, version);
    LayoutAnswer {
        shader: case
            .shader
            .as_ref()
            .map(|shader| shader_facts(&groups, extension, &stages, shader)),
        stages: stages.map(|stage| stage.map(stage_slots).map_err(refusal)),
        group_slots: Stage::ALL.map(|stage| {
            let slots = present().map(|entries| mslmap::group_slots(entries, stage.naga()));
            Some(slots.collect())
        }),
        dynamic_offsets: Some(present().map(|entries| mslmap::dynamic_offsets(entries)).collect()),
        system: SystemFacts {
            language_version,
            compile_language_version: mslmap::compile_language_version(language_version),
            preserve_invariance: mslmap::preserve_invariance(platform, version),
        },
        options: Some(OptionFacts::of(&mslmap::base_options())),
    }
}

fn shader_facts(
    groups: &[Option<&[BindGroupLayoutEntry]>],
    extension: Extension,
    stages: &[Result<StageLayout, LayoutError>; Stage::ALL.len()],
    shader: &Shader,
) -> ShaderFacts {
    let sorted = |entries: &&[BindGroupLayoutEntry]| {
        let sorted = mslmap::sort_entries(entries);
        sorted.iter().map(|entry| entry.binding).collect()
    };
    let module = naga::front::wgsl::parse_str(&shader.wgsl).ok();
    ShaderFacts {
        order: groups.iter().flatten().map(sorted).collect(),
        ray_generation: StageLayout::extended(groups, ShaderStage::RayGeneration, extension)
            .err()
            .map(refusal),
        runtime_arrays: module.and_then(|module| mslmap::runtime_array_bindings(&module).ok()),
        options: std::array::from_fn(|at| stages[at].as_ref().ok().map(entry_options)),
    }
}

fn entry_options(layout: &StageLayout) -> EntryOptions {
    let (options, pipeline) = layout.options(ENTRY_POINT);
    let resources = options
        .per_entry_point_map
        .get(ENTRY_POINT)
        .cloned()
        .unwrap_or_default();
    EntryOptions {
        selects: options.per_entry_point_map.len() == 1 && selects(&pipeline, layout),
        vertex_pulling: pipeline.vertex_pulling_transform,
        facts: OptionFacts::of(&options),
        stage: StageSlots {
            slots: resources.resources.into_iter().collect(),
            bases: Vec::new(),
            sizes_slot: resources.sizes_buffer,
            immediates_slot: resources.immediates_buffer,
            array_lengths: pipeline.binding_array_length_map.into_iter().collect(),
        },
    }
}

fn selects(pipeline: &PipelineOptions, layout: &StageLayout) -> bool {
    let selected = pipeline.entry_point.as_ref();
    selected.is_some_and(|(stage, name)| *stage == layout.stage && name == ENTRY_POINT)
}

fn stage_slots(layout: StageLayout) -> StageSlots {
    StageSlots {
        slots: layout.resources,
        bases: layout.group_base,
        sizes_slot: layout.sizes_slot,
        immediates_slot: layout.immediates_slot,
        array_lengths: layout.binding_array_lengths,
    }
}

fn refusal(error: LayoutError) -> Refusal {
    use LayoutError as E;
    match error {
        E::DuplicateBinding { group, binding } => Refusal::Duplicate(group, binding),
        E::TooManyGroups { .. } => Refusal::TooManyGroups,
        E::UnsupportedStage(..) => Refusal::Stage,
        E::SlotTooHigh {
            table, group, binding, ..
        } => Refusal::Slot(table, group, binding),
        E::SizesSlotTooHigh { .. } => Refusal::SizesSlot,
        E::BindingArray { group, binding } => Refusal::BindingArray(group, binding),
        E::ExternalTexture { group, binding } => Refusal::ExternalTexture(group, binding),
    }
}

/// A case's system in mslmap's types.
pub fn system(system: &System) -> (mslmap::Platform, mslmap::OsVersion) {
    let platform = match system.platform {
        Platform::MacOs => mslmap::Platform::MacOs,
        Platform::Ios => mslmap::Platform::Ios,
        Platform::TvOs => mslmap::Platform::TvOs,
        Platform::VisionOs => mslmap::Platform::VisionOs,
    };
    (
        platform,
        mslmap::OsVersion {
            major: system.major,
            minor: system.minor,
            patch: 0,
        },
    )
}

impl OptionFacts {
    /// What `options` says.
    pub fn of(options: &Options) -> OptionFacts {
        OptionFacts {
            bounds_checks: options.bounds_check_policies,
            fake_missing_bindings: options.fake_missing_bindings,
            zero_initialize_workgroup_memory: options.zero_initialize_workgroup_memory,
            force_loop_bounding: options.force_loop_bounding,
            entry_points: options.per_entry_point_map.len(),
        }
    }
}
