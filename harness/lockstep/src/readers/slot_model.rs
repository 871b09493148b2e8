//! The slot model of slots.md section 5: the reference reader of layouts, written from the page in another shape than `mslmap`.

use mslmap::{EntrySlots, Kind};
use naga::ResourceBinding;
use naga::back::msl::{BindExternalTextureTarget, BindSamplerTarget, BindTarget};
use slot_model::{Counts, Extension, Model, Refused, Slots, Table};

use super::layouts::{
    EntryOptions, GroupSlots, LayoutAnswer, LayoutReader, OptionFacts, Refusal, ShaderFacts, StageSlots, SystemFacts,
    is_extended,
};
use crate::case::{LayoutCase, Shader, Stage};
use crate::oracles::msl::runtime_array_bindings;

/// Its name in reports.
pub const NAME: &str = "slot-model";

/// `reference/slot-model`.
pub struct SlotModel;

impl LayoutReader for SlotModel {
    fn name(&self) -> &str {
        NAME
    }

    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
        let groups: Vec<Option<&[_]>> = case.groups.iter().map(Option::as_deref).collect();
        let extension = Extension {
            immediate_size: case.immediate_size,
            vertex_pulling: case.vertex_pulling,
        };
        let stages = match is_extended(case) {
            true => slot_model::stages(&groups, extension),
            false => Stage::ALL.map(|stage| slot_model::stage(&groups, stage.naga())),
        };
        let present = || groups.iter().flatten();
        let (platform, major, minor) = (case.system.platform.name(), case.system.major, case.system.minor);
        let language_version = slot_model::language_version(platform, major, minor);
        let stages = stages.map(|stage| stage.map(stage_slots).map_err(refusal));
        LayoutAnswer {
            shader: case.shader.as_ref().map(|shader| shader_facts(case, &stages, shader)),
            stages,
            group_slots: Stage::ALL.map(|stage| {
                let asked = stage == asked_stage(case);
                asked.then(|| present().map(|entries| group_slots(entries, stage)).collect())
            }),
            dynamic_offsets: Some(present().map(|entries| slot_model::dynamic_offsets(entries)).collect()),
            system: SystemFacts {
                language_version,
                compile_language_version: 0x10000 * u64::from(language_version.0) + u64::from(language_version.1),
                preserve_invariance: slot_model::preserve_invariance(platform, major, minor),
            },
            options: Some(expected_options()),
        }
    }
}

/// The numbers are those of the page's formulas; what is around them is written apart from `mslmap` too.
fn shader_facts(case: &LayoutCase, stages: &[Result<StageSlots, Refusal>; 5], shader: &Shader) -> ShaderFacts {
    let order = case.groups.iter().flatten().map(|entries| {
        let mut numbers: Vec<u32> = entries.iter().map(|entry| entry.binding).collect();
        numbers.sort_unstable();
        numbers
    });
    let module = naga::front::wgsl::parse_str(&shader.wgsl).ok();
    let options = |stage: &StageSlots| EntryOptions {
        stage: StageSlots {
            bases: Vec::new(),
            ..stage.clone()
        },
        vertex_pulling: case.vertex_pulling,
        selects: true,
        facts: OptionFacts {
            entry_points: 1,
            ..expected_options()
        },
    };
    ShaderFacts {
        order: order.collect(),
        ray_generation: Some(Refusal::Stage),
        runtime_arrays: module.and_then(|module| runtime_array_bindings(&module)),
        options: std::array::from_fn(|at| stages[at].as_ref().ok().map(options)),
    }
}

fn expected_options() -> OptionFacts {
    let expected = slot_model::expected_options();
    OptionFacts {
        bounds_checks: expected.bounds_check_policies,
        fake_missing_bindings: expected.fake_missing_bindings,
        zero_initialize_workgroup_memory: expected.zero_initialize_workgroup_memory,
        force_loop_bounding: expected.force_loop_bounding,
        entry_points: 0,
    }
}

/// The model refuses slots over 255, so that none is cut here.
fn stage_slots(model: Model) -> StageSlots {
    let slots = model.resources.iter().map(|resource| {
        let at = ResourceBinding {
            group: resource.group,
            binding: resource.binding,
        };
        (at, target(resource.slots, resource.mutable))
    });
    StageSlots {
        slots: slots.collect(),
        bases: model.bases.iter().map(|base| base.map(counts)).collect(),
        sizes_slot: model.sizes_slot.map(|slot| slot as u8),
        immediates_slot: model.immediates_slot.map(|slot| slot as u8),
        array_lengths: model.array_lengths.into_iter().collect(),
    }
}

fn target(slots: Slots, mutable: bool) -> BindTarget {
    let mut target = BindTarget {
        mutable,
        ..BindTarget::default()
    };
    match slots {
        Slots::One { table, slot } => match table {
            Table::Buffer => target.buffer = Some(slot as u8),
            Table::Texture => target.texture = Some(slot as u8),
            Table::Sampler => target.sampler = Some(BindSamplerTarget::Resource(slot as u8)),
        },
        Slots::External { planes, parameters } => {
            target.external_texture = Some(BindExternalTextureTarget {
                planes: planes.map(|slot| slot as u8),
                params: parameters as u8,
            });
        }
    }
    target
}

/// The stage that GroupSlots is answered for: another from case to case, since all five would cost as much as the slots.
fn asked_stage(case: &LayoutCase) -> Stage {
    let entries = case.groups.iter().flatten().map(Vec::len).sum::<usize>();
    Stage::ALL[(entries + case.groups.len()) % Stage::ALL.len()]
}

fn group_slots(entries: &[wgpu_types::BindGroupLayoutEntry], stage: Stage) -> GroupSlots {
    let (places, taken) = slot_model::group(entries, stage.naga());
    let places = places.iter().map(|slots| {
        let first = |table| slots.and_then(|slots| slots.first(table));
        EntrySlots {
            buffer: first(Table::Buffer),
            texture: first(Table::Texture),
            sampler: first(Table::Sampler),
        }
    });
    (places.collect(), counts(taken))
}

fn counts(counts: Counts) -> mslmap::Counts {
    mslmap::Counts {
        buffers: counts.buffers,
        textures: counts.textures,
        samplers: counts.samplers,
    }
}

fn refusal(refused: Refused) -> Refusal {
    use Refused as R;
    match refused {
        R::DuplicateBinding { group, binding } => Refusal::Duplicate(group, binding),
        R::TooManyGroups => Refusal::TooManyGroups,
        R::UnsupportedStage => Refusal::Stage,
        R::SlotTooHigh { table, group, binding } => Refusal::Slot(kind(table), group, binding),
        R::SizesSlotTooHigh => Refusal::SizesSlot,
        R::BindingArray { group, binding } => Refusal::BindingArray(group, binding),
        R::ExternalTexture { group, binding } => Refusal::ExternalTexture(group, binding),
    }
}

fn kind(table: Table) -> Kind {
    match table {
        Table::Buffer => Kind::Buffer,
        Table::Texture => Kind::Texture,
        Table::Sampler => Kind::Sampler,
    }
}
