//! The ranks against section 5's sentence, counted out entry by entry on layouts drawn from a fixed sequence.

mod common;

use common::*;
use naga::ShaderStage as Stage;
use slot_model::{Counts, Model, Resource, STAGES, Slots, Table, extended_stage, group, stage, stages};
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

const TYPES: [BindingType; 6] = [UNIFORM, STORAGE, ACCELERATION, TEXTURE, SAMPLER, COMPARISON];
const SEEN_BY: [ShaderStages; 3] = [ShaderStages::NONE, ShaderStages::FRAGMENT, ALL];

/// A linear congruential sequence (Knuth's MMIX constants).
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, limit: usize) -> usize {
        let next = self.0.wrapping_mul(6364136223846793005);
        self.0 = next.wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }

    /// An entry: one of ten an array, one of ten an external texture.
    fn entry(&mut self, binding: u32) -> BindGroupLayoutEntry {
        let drawn = entry(binding, TYPES[self.below(6)], SEEN_BY[self.below(3)]);
        match self.below(10) {
            0 => array_of(2, drawn),
            1 => BindGroupLayoutEntry { ty: EXTERNAL, ..drawn },
            _ => drawn,
        }
    }

    /// `length` entries of distinct numbers, listed out of order.
    fn group(&mut self, length: usize) -> Vec<BindGroupLayoutEntry> {
        let mut listed: Vec<_> = (0..length as u32).map(|at| self.entry(at * 3)).collect();
        (1..length).for_each(|at| listed.swap(at, self.below(at + 1)));
        listed
    }

    fn layout(&mut self) -> Vec<Option<Vec<BindGroupLayoutEntry>>> {
        (0..self.below(9))
            .map(|_| (self.below(5) > 0).then(|| self.below(12)))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|length| length.map(|length| self.group(length)))
            .collect()
    }
}

fn borrowed(layout: &[Option<Vec<BindGroupLayoutEntry>>]) -> Vec<Option<&[BindGroupLayoutEntry]>> {
    layout.iter().map(Option::as_deref).collect()
}

/// The fragment stage of a layout with immediates.
fn fragment(layout: &[Option<Vec<BindGroupLayoutEntry>>]) -> Model {
    extended_stage(&borrowed(layout), Stage::Fragment, extension(4, false)).expect("within the rule")
}

/// Each slot of each resource, with its table.
fn taken(resource: &Resource) -> Vec<(Table, u32)> {
    match resource.slots {
        Slots::One { table, slot } => vec![(table, slot)],
        Slots::External { planes, parameters } => {
            let planes = planes.map(|plane| (Table::Texture, plane));
            [&planes[..], &[(Table::Buffer, parameters)]].concat()
        }
    }
}

fn base(counts: Counts, table: Table) -> u32 {
    match table {
        Table::Buffer => counts.buffers,
        Table::Texture => counts.textures,
        Table::Sampler => counts.samplers,
    }
}

#[test]
fn a_slot_is_the_number_of_earlier_visible_slots() {
    let mut sequence = Sequence(1);
    for _ in 0..3000 {
        let layout = sequence.layout();
        let model = fragment(&layout);
        let resources = &model.resources;
        let visible = |one: &&BindGroupLayoutEntry| one.visibility != ShaderStages::NONE;
        let seen = layout.iter().flatten().flatten().filter(visible).count();
        assert_eq!(resources.len(), seen);
        assert!(resources.is_sorted_by_key(|resource| (resource.group, resource.binding)));
        // The immediates'.
        let mut earlier = vec![(Table::Buffer, 0)];
        for (table, slot) in resources.iter().flat_map(taken) {
            let same = earlier.iter().filter(|(other, _)| *other == table);
            assert_eq!(slot, same.count() as u32);
            earlier.push((table, slot));
        }
    }
}

#[test]
fn base_and_place_add_up_to_the_slot() {
    let mut sequence = Sequence(2);
    for _ in 0..3000 {
        let layout = sequence.layout();
        let model = fragment(&layout);
        for resource in &model.resources {
            let listed = layout[resource.group as usize].as_deref().expect("has a slot");
            let at = listed.iter().position(|one| one.binding == resource.binding);
            let places = group(listed, Stage::Fragment).0;
            let place = places[at.expect("listed")].expect("visible");
            let start = model.bases[resource.group as usize].expect("has a slot");
            for table in [Table::Buffer, Table::Texture, Table::Sampler] {
                let sum = place.first(table).map(|place| base(start, table) + place);
                assert_eq!(sum, resource.slots.first(table));
            }
        }
    }
}

#[test]
fn every_way_to_ask_answers_the_same() {
    let mut sequence = Sequence(4);
    let mut within_section_1 = 0;
    for _ in 0..3000 {
        let layout = sequence.layout();
        let groups = borrowed(&layout);
        for (of, answer) in STAGES.into_iter().zip(stages(&groups, extension(0, false))) {
            assert_eq!(extended_stage(&groups, of, extension(0, false)), answer);
            if let Ok(model) = stage(&groups, of) {
                assert_eq!(Ok(model), answer);
                within_section_1 += 1;
            }
        }
    }
    assert!(within_section_1 > 1000, "{within_section_1}");
}

/// More slots than naga's `Slot` holds; a group alone is refused nothing.
#[test]
fn a_group_of_a_thousand_entries() {
    let ids = [Table::Buffer, Table::Texture, Table::Sampler];
    let types = [STORAGE, TEXTURE, SAMPLER];
    let mut listed = Sequence(3).group(1000);
    listed.retain(|one| one.count.is_none() && types.contains(&one.ty));
    listed.extend((5000..5300).map(|at| entry(at, STORAGE, ALL)));
    let seen = |one: &&BindGroupLayoutEntry| one.visibility != ShaderStages::NONE;
    let (places, taken) = group(&listed, Stage::Fragment);
    for (one, place) in listed.iter().zip(places) {
        let same = listed.iter().filter(seen).filter(|other| other.ty == one.ty);
        let expected = same.filter(|other| other.binding < one.binding).count() as u32;
        let table = ids[types.iter().position(|&ty| ty == one.ty).expect("retained")];
        assert_eq!(place, seen(&one).then_some(common::one(table, expected)));
    }
    for (table, ty) in ids.into_iter().zip(types) {
        let same = listed.iter().filter(seen).filter(|other| other.ty == ty);
        assert_eq!(base(taken, table), same.count() as u32);
    }
}
