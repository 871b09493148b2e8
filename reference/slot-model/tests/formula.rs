//! The ranks against section 5's sentence, counted out entry by entry on layouts drawn from a fixed sequence.

mod common;

use common::*;
use naga::ShaderStage as Stage;
use slot_model::{Counts, Slot, Table, group, stage};
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

    /// `length` entries of distinct numbers, listed out of order.
    fn group(&mut self, length: usize) -> Vec<BindGroupLayoutEntry> {
        let mut listed: Vec<_> = (0..length as u32)
            .map(|at| entry(at * 3, TYPES[self.below(6)], SEEN_BY[self.below(3)]))
            .collect();
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

/// The number of `slots` of `table` that stand before `(group, binding)`.
fn earlier(slots: &[Slot], table: Table, group: u32, binding: u32) -> u32 {
    let before = |slot: &&Slot| (slot.group, slot.binding) < (group, binding);
    slots.iter().filter(before).filter(|slot| slot.table == table).count() as u32
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
        let model = stage(&borrowed(&layout), Stage::Fragment).expect("within the rule");
        let slots = &model.slots;
        let visible = |one: &&BindGroupLayoutEntry| one.visibility != ShaderStages::NONE;
        let seen = layout.iter().flatten().flatten().filter(visible).count();
        assert_eq!(slots.len(), seen);
        assert!(slots.is_sorted_by_key(|slot| (slot.group, slot.binding)));
        for slot in slots {
            let expected = earlier(slots, slot.table, slot.group, slot.binding);
            assert_eq!(slot.slot, expected);
        }
    }
}

#[test]
fn base_and_place_add_up_to_the_slot() {
    let mut sequence = Sequence(2);
    for _ in 0..3000 {
        let layout = sequence.layout();
        let model = stage(&borrowed(&layout), Stage::Fragment).expect("within the rule");
        for slot in &model.slots {
            let listed = layout[slot.group as usize].as_deref().expect("has a slot");
            let at = listed.iter().position(|one| one.binding == slot.binding);
            let places = group(listed, Stage::Fragment).0;
            let place = places[at.expect("listed")].expect("visible");
            let start = model.bases[slot.group as usize].expect("has a slot");
            assert_eq!(base(start, slot.table) + place, slot.slot);
        }
    }
}

/// More slots than naga's `Slot` holds; a group alone is refused nothing.
#[test]
fn a_group_of_a_thousand_entries() {
    let ids = [Table::Buffer, Table::Texture, Table::Sampler];
    let types = [STORAGE, TEXTURE, SAMPLER];
    let kind = |one: &BindGroupLayoutEntry| types.iter().position(|&ty| ty == one.ty);
    let mut listed = Sequence(3).group(1000);
    listed.retain(|one| kind(one).is_some());
    listed.extend((5000..5300).map(|at| entry(at, STORAGE, ALL)));
    let seen = |one: &&BindGroupLayoutEntry| one.visibility != ShaderStages::NONE;
    let (places, taken) = group(&listed, Stage::Fragment);
    for (one, place) in listed.iter().zip(places) {
        let same = listed.iter().filter(seen).filter(|other| other.ty == one.ty);
        let expected = same.filter(|other| other.binding < one.binding).count() as u32;
        assert_eq!(place, seen(&one).then_some(expected));
    }
    for (table, ty) in ids.into_iter().zip(types) {
        let same = listed.iter().filter(seen).filter(|other| other.ty == ty);
        assert_eq!(base(taken, table), same.count() as u32);
    }
}
