//! The slot model of slots.md section 5: the reference reader of layouts, written from the page in another shape than `mslmap`.

use super::native::option_facts;
use super::{LayoutAnswer, LayoutReader, Place, StageSlots, refusal};
use crate::case::{LayoutCase, Stage};

/// `reference/slot-model`.
pub struct SlotModel;

impl LayoutReader for SlotModel {
    fn name(&self) -> &str {
        "slot-model"
    }

    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
        let groups: Vec<Option<&[_]>> = case.groups.iter().map(Option::as_deref).collect();
        let group_slots = Stage::ALL.map(|stage| {
            let slots = groups.iter().flatten().map(|entries| {
                let (slots, counts) = slot_model::group(entries, stage.naga());
                let slots = slots.into_iter().map(|slots| slots.and_then(only)).collect();
                (slots, [counts.buffers, counts.textures, counts.samplers])
            });
            (stage, slots.collect())
        });
        let (platform, major, minor) = (case.system.platform.name(), case.system.major, case.system.minor);
        LayoutAnswer {
            stages: Stage::ALL.map(|stage| (stage, stage_slots(&groups, stage))).into(),
            group_slots: group_slots.into(),
            language_version: slot_model::language_version(platform, major, minor),
            preserve_invariance: slot_model::preserve_invariance(platform, major, minor),
            options: option_facts(&expected_options()),
        }
    }
}

/// The model's facts about the options, in naga's type, so that both readers' are put into words by the same function.
fn expected_options() -> naga::back::msl::Options {
    let expected = slot_model::expected_options();
    naga::back::msl::Options {
        bounds_check_policies: expected.bounds_check_policies,
        fake_missing_bindings: expected.fake_missing_bindings,
        zero_initialize_workgroup_memory: expected.zero_initialize_workgroup_memory,
        force_loop_bounding: expected.force_loop_bounding,
        ..Default::default()
    }
}

fn stage_slots(groups: &[Option<&[wgpu_types::BindGroupLayoutEntry]>], stage: Stage) -> Result<StageSlots, String> {
    let model = slot_model::stage(groups, stage.naga()).map_err(words)?;
    let slots = model.resources.iter().map(|resource| {
        let at = |table| resource.slots.first(table);
        let place = Place {
            buffer: at(slot_model::Table::Buffer),
            texture: at(slot_model::Table::Texture),
            sampler: at(slot_model::Table::Sampler),
            mutable: resource.mutable,
        };
        ((resource.group, resource.binding), place)
    });
    let bases = model
        .bases
        .iter()
        .map(|base| base.map(|base| [base.buffers, base.textures, base.samplers]));
    Ok(StageSlots {
        slots: slots.collect(),
        bases: bases.collect(),
        sizes_slot: model.sizes_slot,
    })
}

/// The slot of a binding that has one.
fn only(slots: slot_model::Slots) -> Option<u32> {
    match slots {
        slot_model::Slots::One { slot, .. } => Some(slot),
        slot_model::Slots::External { .. } => None,
    }
}

fn words(refused: slot_model::Refused) -> String {
    use slot_model::Refused as R;
    match refused {
        R::DuplicateBinding { group, binding } => refusal::duplicate(group, binding),
        R::TooManyGroups => refusal::TOO_MANY_GROUPS.into(),
        R::UnsupportedStage => refusal::STAGE.into(),
        R::SlotTooHigh { table, group, binding } => refusal::slot(table_name(table), group, binding),
        R::SizesSlotTooHigh => refusal::SIZES_SLOT.into(),
        R::BindingArray { group, binding } => refusal::binding_array(group, binding),
        R::ExternalTexture { group, binding } => refusal::external_texture(group, binding),
    }
}

fn table_name(table: slot_model::Table) -> &'static str {
    match table {
        slot_model::Table::Buffer => "buffer",
        slot_model::Table::Texture => "texture",
        slot_model::Table::Sampler => "sampler",
    }
}
