//! `mslmap` as a reader.

use mslmap::{Extension, LayoutError, StageLayout};
use naga::back::msl::Options;

use super::Native;
use crate::case::{LayoutCase, Platform, Stage, System};
use crate::readers::layouts::{LayoutAnswer, LayoutReader, OptionFacts, Refusal, StageSlots, SystemFacts, is_extended};

impl LayoutReader for Native {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
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
        LayoutAnswer {
            stages: stages.map(|stage| stage.map(stage_slots).map_err(refusal)),
            group_slots: Stage::ALL.map(|stage| {
                let slots = present().map(|entries| mslmap::group_slots(entries, stage.naga()));
                Some(slots.collect())
            }),
            dynamic_offsets: Some(present().map(|entries| mslmap::dynamic_offsets(entries)).collect()),
            system: SystemFacts {
                language_version: mslmap::language_version(platform, version),
                preserve_invariance: mslmap::preserve_invariance(platform, version),
            },
            options: Some(OptionFacts::of(&mslmap::base_options())),
        }
    }
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
