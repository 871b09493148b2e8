//! wgpu-hal's own `create_pipeline_layout` and its choice by version (slots.md, section 5), as `reference/slot-upstream` builds them.

use std::borrow::Cow;

use slot_upstream::{Platform as UpstreamPlatform, System as UpstreamSystem, UPSTREAMS, Upstream};
use wgpu_types::BindGroupLayoutEntry;

use super::layouts::{LayoutAnswer, LayoutReader, Refusal, StageSlots, SystemFacts};
use crate::case::{LayoutCase, Platform, System};
use crate::oracles::slots::{self, SlotsCompared};
use crate::panics::caught;

/// Its name in reports.
pub const NAME: &str = "slot-upstream";

/// One release's functions.
pub struct SlotUpstream(pub Upstream);

impl SlotUpstream {
    /// The release that Cargo.lock has.
    pub fn locked() -> SlotUpstream {
        SlotUpstream(UPSTREAMS[0])
    }
}

impl LayoutReader for SlotUpstream {
    fn name(&self) -> &str {
        NAME
    }

    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
        let system = upstream_system(&case.system);
        let language_version = (self.0.language_version)(system);
        let (major, minor) = language_version;
        LayoutAnswer {
            stages: self.stages(case),
            group_slots: [const { None }; 5],
            dynamic_offsets: None,
            system: SystemFacts {
                language_version,
                compile_language_version: 0x10000 * u64::from(major) + u64::from(minor),
                preserve_invariance: (self.0.preserve_invariance)(system),
            },
            options: None,
            shader: None,
        }
    }

    fn compare(&self, case: &LayoutCase, subject: &LayoutAnswer, own: &LayoutAnswer) -> SlotsCompared {
        slots::compare_upstream(case, subject, own)
    }
}

impl SlotUpstream {
    fn stages(&self, case: &LayoutCase) -> [Result<StageSlots, Refusal>; 5] {
        // wgpu-core hands entries over in binding order.
        let sorted = case.groups.iter().map(|group| group.as_deref().map(in_binding_order));
        let sorted: Vec<Option<Cow<'_, [BindGroupLayoutEntry]>>> = sorted.collect();
        let groups: Vec<Option<&[_]>> = sorted.iter().map(Option::as_deref).collect();
        let layout = match caught(|| (self.0.layout)(&groups, case.immediate_size)) {
            Ok(Ok(layout)) => layout,
            Ok(Err(_)) => return [const { Err(Refusal::OutOfMemory) }; 5],
            Err(_) => return [const { Err(Refusal::Panic) }; 5],
        };
        layout.stages.map(|stage| {
            let bases = stage.bases.iter().take(groups.len());
            Ok(StageSlots {
                slots: stage.resources.into_iter().collect(),
                bases: bases.map(|base| base.map(counts)).collect(),
                sizes_slot: stage.sizes_slot,
                immediates_slot: stage.immediates_slot,
                array_lengths: layout.binding_array_lengths.clone(),
            })
        })
    }
}

fn in_binding_order(entries: &[BindGroupLayoutEntry]) -> Cow<'_, [BindGroupLayoutEntry]> {
    match entries.is_sorted_by_key(|entry| entry.binding) {
        true => Cow::Borrowed(entries),
        false => Cow::Owned(mslmap::sort_entries(entries)),
    }
}

fn counts(counts: slot_upstream::Counts) -> mslmap::Counts {
    mslmap::Counts {
        buffers: counts.buffers,
        textures: counts.textures,
        samplers: counts.samplers,
    }
}

/// A case's system in its types.
pub fn upstream_system(system: &System) -> UpstreamSystem {
    UpstreamSystem {
        platform: match system.platform {
            Platform::MacOs => UpstreamPlatform::MacOs,
            Platform::Ios => UpstreamPlatform::Ios,
            Platform::TvOs => UpstreamPlatform::TvOs,
            Platform::VisionOs => UpstreamPlatform::VisionOs,
        },
        major: system.major,
        minor: system.minor,
    }
}
