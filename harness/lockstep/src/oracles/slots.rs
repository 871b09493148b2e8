//! Two readers over one layout.
//!
//! **Catches** any difference in slots, mutability, bases, sizes slot, immediates slot, array lengths, refusals, dynamic offsets, MSL
//! version, preserveInvariance and the options that every shader starts from, for each of the five stages; and in GroupSlots, for those
//! stages that both readers answer it for: the slot model answers one stage a case.
//!
//! **Does not catch** what both read wrongly in slots.md, nor what naga makes of the options ([`super::msl`] looks at that), nor what is
//! bound at a draw ([`super::bind`] does).
//!
//! Against wgpu-hal's own function ([`compare_upstream`]) the lines of the ledger hold: where one applies, exactly its difference must be
//! there, and no difference at all is a finding too.

use mslmap::Kind;
use naga::back::msl::{BindSamplerTarget, BindTarget};

use super::Compared;
use super::Verdict::{self, BothAccept, BothRefuse, Differ};
use crate::case::{LayoutCase, Stage};
use crate::ledger::Line;
use crate::readers::layouts::{LayoutAnswer, OptionFacts, Refusal, StageSlots, SystemFacts};

/// The signature of a panic of one of the two.
pub const PANICKED: &str = "slots: a reader panicked";

/// The parts that are compared, each a row of the report.
pub const ASPECTS: [&str; 8] = [
    "slots",
    "bases",
    "sizes slot",
    "immediates slot",
    "group slots",
    "dynamic offsets",
    "version",
    "options",
];

const SLOTS: usize = 0;
const BASES: usize = 1;
const SIZES: usize = 2;
const IMMEDIATES: usize = 3;
const GROUP_SLOTS: usize = 4;
const DYNAMIC_OFFSETS: usize = 5;
const VERSION: usize = 6;
const OPTIONS: usize = 7;

/// How a case came out between two readers, by the aspects of [`ASPECTS`].
pub type SlotsCompared = Compared<{ ASPECTS.len() }>;

fn count(compared: &mut SlotsCompared, aspect: usize, verdict: Verdict) {
    compared.count(&ASPECTS, aspect, verdict);
}

/// Whatever the stage: what is wrong is wrong in most of them.
fn same(compared: &mut SlotsCompared, aspect: usize, same: bool) {
    count(compared, aspect, differ(same, || format!("other {}", ASPECTS[aspect])));
}

fn tolerate(compared: &mut SlotsCompared, line: Line, there: bool, aspect: usize) {
    compared.tolerated(&ASPECTS, aspect, line, there);
}

/// Compares the subject's answer with a reference's.
pub fn compare(subject: &LayoutAnswer, reference: &LayoutAnswer) -> SlotsCompared {
    let mut compared = SlotsCompared::default();
    for (a, b) in subject.stages.iter().zip(&reference.stages) {
        match (a, b) {
            (Ok(a), Ok(b)) => {
                compare_stage(a, b, &mut compared);
                same(&mut compared, SIZES, a.sizes_slot == b.sizes_slot);
            }
            (a, b) => compare_refusals(a, b, &mut compared),
        }
    }
    compare_rest(subject, reference, &mut compared);
    compared
}

fn compare_stage(a: &StageSlots, b: &StageSlots, compared: &mut SlotsCompared) {
    let slots = a.slots == b.slots && a.array_lengths == b.array_lengths;
    same(compared, SLOTS, slots);
    same(compared, BASES, a.bases == b.bases);
    same(compared, IMMEDIATES, a.immediates_slot == b.immediates_slot);
}

fn compare_refusals(a: &Result<StageSlots, Refusal>, b: &Result<StageSlots, Refusal>, compared: &mut SlotsCompared) {
    let verdict = match (a, b) {
        (Err(a), Err(b)) if a == b => BothRefuse,
        (a, b) => {
            let kind = |answer: &Result<_, Refusal>| answer.as_ref().err().map_or("accept", |refusal| refusal.kind());
            Differ(format!("{} vs {}", kind(a), kind(b)))
        }
    };
    count(compared, SLOTS, verdict);
}

fn compare_rest(subject: &LayoutAnswer, reference: &LayoutAnswer, compared: &mut SlotsCompared) {
    // GroupSlots and DynamicOffsets refuse nothing, so they have an answer also for a layout that the constructor refuses; there it is
    // nobody's business.
    for at in 0..Stage::ALL.len() {
        let both = (&subject.group_slots[at], &reference.group_slots[at]);
        if let (true, (Some(a), Some(b))) = (subject.stages[at].is_ok(), both) {
            same(compared, GROUP_SLOTS, a == b);
        }
    }
    let accepted = subject.stages.iter().any(Result::is_ok);
    if let (true, Some(a), Some(b)) = (accepted, &subject.dynamic_offsets, &reference.dynamic_offsets) {
        count(
            compared,
            DYNAMIC_OFFSETS,
            differ(a == b, || "in the order of a group's".into()),
        );
    }
    count(compared, VERSION, compare_systems(subject.system, reference.system));
    if let (Some(a), Some(b)) = (subject.options, reference.options) {
        count(compared, OPTIONS, compare_options(a, b));
    }
    if let (Some(a), Some(b)) = (&subject.shader, &reference.shader) {
        count(compared, OPTIONS, differ(a == b, || "for an entry point".into()));
    }
}

/// By name, for the values are a case's own.
fn compare_systems(a: SystemFacts, b: SystemFacts) -> Verdict {
    let SystemFacts {
        language_version,
        compile_language_version,
        preserve_invariance,
    } = b;
    first_other([
        ("LanguageVersion", a.language_version == language_version),
        (
            "CompileLanguageVersion",
            a.compile_language_version == compile_language_version,
        ),
        ("PreserveInvariance", a.preserve_invariance == preserve_invariance),
    ])
}

fn compare_options(a: OptionFacts, b: OptionFacts) -> Verdict {
    let OptionFacts {
        bounds_checks,
        fake_missing_bindings,
        zero_initialize_workgroup_memory: zeros,
        force_loop_bounding,
        entry_points,
    } = b;
    first_other([
        ("bounds checks", a.bounds_checks == bounds_checks),
        (
            "fake_missing_bindings",
            a.fake_missing_bindings == fake_missing_bindings,
        ),
        (
            "zero-initialised workgroup memory",
            a.zero_initialize_workgroup_memory == zeros,
        ),
        ("loop bounds", a.force_loop_bounding == force_loop_bounding),
        ("map", a.entry_points == entry_points),
    ])
}

/// The first property that is not the same, by its name.
fn first_other<const N: usize>(properties: [(&str, bool); N]) -> Verdict {
    let other = properties.into_iter().find(|(_, same)| !same);
    other.map_or(BothAccept, |(name, _)| Differ(format!("other {name}")))
}

fn differ(same: bool, how: impl FnOnce() -> String) -> Verdict {
    if same { BothAccept } else { Differ(how()) }
}

/// Compares the subject's answer with that of wgpu-hal's own function, which checks nothing and always pulls vertices.
pub fn compare_upstream(case: &LayoutCase, subject: &LayoutAnswer, upstream: &LayoutAnswer) -> SlotsCompared {
    let mut compared = SlotsCompared::default();
    for (at, stage) in Stage::ALL.into_iter().enumerate() {
        match (&subject.stages[at], &upstream.stages[at]) {
            (Ok(a), Ok(b)) => {
                compare_stage(a, b, &mut compared);
                if stage == Stage::Vertex && !case.vertex_pulling && a.sizes_slot.is_none() {
                    let there = b.sizes_slot == Some(buffers_taken(a, subject, at) as u8);
                    tolerate(&mut compared, Line::VertexSizesSlot, there, SIZES);
                } else {
                    same(&mut compared, SIZES, a.sizes_slot == b.sizes_slot);
                }
            }
            (Err(refusal), b) => match tolerated(*refusal, case, subject, b, at) {
                Some((line, there)) => tolerate(&mut compared, line, there, SLOTS),
                None => compare_refusals(&Err(*refusal), b, &mut compared),
            },
            (a, b) => compare_refusals(a, b, &mut compared),
        }
    }
    compare_rest(subject, upstream, &mut compared);
    compared
}

/// The ledger's line for a refusal that upstream does not share, and whether upstream does what the line says.
fn tolerated(
    refusal: Refusal,
    case: &LayoutCase,
    subject: &LayoutAnswer,
    upstream: &Result<StageSlots, Refusal>,
    stage: usize,
) -> Option<(Line, bool)> {
    let answer = upstream.as_ref().ok();
    Some(match refusal {
        // It ignores an absent group past the eighth.
        Refusal::TooManyGroups => {
            let present = case.groups.iter().skip(mslmap::MAX_GROUPS).any(Option::is_some);
            (Line::TooManyGroups, present == (*upstream == Err(Refusal::Panic)))
        }
        Refusal::Duplicate(..) => (Line::DuplicateBinding, answer.is_some()),
        Refusal::BindingArray(..) | Refusal::ExternalTexture(..) => (Line::BeyondThePlainRule, answer.is_some()),
        Refusal::Slot(table, group, binding) => {
            let truncated =
                answer.is_some_and(|answer| is_truncated(table, (group, binding), case, subject, answer, stage));
            (Line::SlotTruncated, truncated)
        }
        // The first over 255 is 256.
        Refusal::SizesSlot => (
            Line::SizesSlotTruncated,
            answer.is_some_and(|answer| answer.sizes_slot == Some(0)),
        ),
        Refusal::Stage | Refusal::OutOfMemory | Refusal::Panic => return None,
    })
}

/// Whether upstream gives the binding the first slot that it takes in the table, modulo 256. Upstream's bases are not truncated.
fn is_truncated(
    table: Kind,
    at: (u32, u32),
    case: &LayoutCase,
    subject: &LayoutAnswer,
    upstream: &StageSlots,
    stage: usize,
) -> bool {
    let (group, binding) = at;
    let find = || {
        let base = (*upstream.bases.get(group as usize)?)?.in_table(table)?;
        let present = case.groups.get(..group as usize)?.iter().flatten().count();
        let entries = case.groups.get(group as usize)?.as_ref()?;
        let index = entries.iter().position(|entry| entry.binding == binding)?;
        let place = subject.group_slots[stage].as_ref()?.get(present)?.0.get(index)?;
        let place = match table {
            Kind::Buffer => place.buffer,
            Kind::Texture => place.texture,
            Kind::Sampler | Kind::None => place.sampler,
        }?;
        let target = upstream.slots.get(&naga::ResourceBinding { group, binding })?;
        Some(slot_in(target, table)? == base.checked_add(place)? as u8)
    };
    find().unwrap_or(false)
}

/// The first slot that a target has in a table.
fn slot_in(target: &BindTarget, table: Kind) -> Option<u8> {
    let external = target.external_texture.as_ref();
    match (table, &target.sampler) {
        (Kind::Buffer, _) => target.buffer.or(external.map(|texture| texture.params)),
        (Kind::Texture, _) => target.texture.or(external.map(|texture| texture.planes[0])),
        (_, Some(BindSamplerTarget::Resource(slot))) => Some(*slot),
        _ => None,
    }
}

/// The buffer slots that all bindings of an accepted layout take in a stage.
fn buffers_taken(slots: &StageSlots, subject: &LayoutAnswer, stage: usize) -> u32 {
    let counts = subject.group_slots[stage].as_ref().and_then(|groups| groups.last());
    let last = slots.bases.iter().rev().find_map(|base| *base);
    match (last, counts) {
        // A faulty subject's counts may be anything.
        (Some(base), Some((_, counts))) => base.buffers.saturating_add(counts.buffers),
        _ => u32::from(slots.immediates_slot.is_some()),
    }
}
