//! The implementation under test: the crates `wire` and `mslmap`.

use std::collections::BTreeMap;

use naga::back::msl;
use wire::{Blob, BufferInfo, Cmd, RangeRefusal, Read};

use super::answer::AnswerWriter;
use super::{
    Batch, BatchAnswers, CallsQuery, DescriptorQuery, LayoutAnswer, LayoutReader, OptionFacts, Place, ReaderFailed,
    StageSlots, StreamQuery, StreamReader, refusal,
};
use crate::case::{BufferFacts, LayoutCase, Platform, Stage, System};
use crate::gpu::calls::calls_of_bytes;

/// The reader's name.
pub const NAME: &str = "native";

/// WebGPU's `GPUBufferUsage.MAP_READ`.
const MAP_READ: u32 = 1;

/// The one step of the reader that tests replace to see a wrong one found out: CheckRanges.
pub type CheckRanges = fn(&[Cmd<'_>], &BTreeMap<u32, BufferFacts>, u32) -> Result<(), RangeRefusal>;

/// CheckRanges of `wire`.
pub fn check_ranges(cmds: &[Cmd<'_>], buffers: &BTreeMap<u32, BufferFacts>, bound: u32) -> Result<(), RangeRefusal> {
    wire::check_ranges(
        cmds.iter().copied(),
        |id| buffers.get(&id).map(|buffer| buffer.size),
        bound,
    )
}

/// `wire` and `mslmap`.
pub struct Native {
    name: String,
    check_ranges: CheckRanges,
    heard: BatchAnswers,
}

impl Default for Native {
    fn default() -> Native {
        Native::with_ranges(NAME, check_ranges)
    }
}

impl Native {
    /// A reader that is `native` but for its CheckRanges.
    pub fn with_ranges(name: &str, check_ranges: CheckRanges) -> Native {
        Native {
            name: name.to_owned(),
            check_ranges,
            heard: BatchAnswers::default(),
        }
    }
}

impl StreamReader for Native {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed> {
        self.heard = BatchAnswers {
            streams: batch
                .streams
                .iter()
                .map(|query| answer_stream(query, self.check_ranges))
                .collect(),
            descriptors: batch.descriptors.iter().map(answer_descriptor).collect(),
            calls: batch.calls.iter().map(answer_calls).collect(),
        };
        Ok(())
    }

    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed> {
        Ok(std::mem::take(&mut self.heard))
    }
}

/// Looks an id up in a map that is ascending by guest.
pub fn granted(map: &[(u32, u32)], guest: u32) -> Option<u32> {
    map.binary_search_by_key(&guest, |&(guest, _)| guest)
        .ok()
        .map(|at| map[at].1)
}

fn answer_stream(query: &StreamQuery, check_ranges: CheckRanges) -> Vec<u8> {
    let mut answer = AnswerWriter::default();
    let blob = match Blob::parse(&query.blob) {
        Ok(blob) => blob,
        Err(refused) => {
            answer.word(1);
            answer.word(refused.reason as u32);
            return answer.finish();
        }
    };
    answer.word(0);
    let data_len = blob.data.len() as u32;
    match wire::decode(&blob.words, data_len) {
        Ok(cmds) => {
            answer.word(0);
            answer.words(&cmds.iter().map(|cmd| cmd.word as u32).collect::<Vec<_>>());
        }
        Err(refused) => write_refusal(&mut answer, &refused),
    }
    let mut words = blob.words;
    match wire::remap_reads(&mut words, data_len, |guest| granted(&query.id_map, guest)) {
        Ok(reads) => {
            answer.word(0);
            answer.words(&words);
            write_checks(&mut answer, query, &words, data_len, &reads, check_ranges);
        }
        Err(refused) => write_refusal(&mut answer, &refused),
    }
    answer.finish()
}

fn write_refusal(answer: &mut AnswerWriter, refused: &wire::Refusal) {
    answer.word(1);
    answer.word(refused.word as u32);
    answer.word(refused.op.map_or(0, |op| op as u32));
    answer.word(refused.reason as u32);
}

fn write_checks(
    answer: &mut AnswerWriter,
    query: &StreamQuery,
    words: &[u32],
    data_len: u32,
    reads: &[Read],
    check_ranges: CheckRanges,
) {
    answer.word(reads.len() as u32);
    for read in reads {
        for word in [
            read.id,
            read.offset as u32,
            (read.offset >> 32) as u32,
            read.size,
            read.window_offset,
        ] {
            answer.word(word);
        }
    }
    let buffers: BTreeMap<u32, BufferFacts> = query.buffers.iter().map(|buffer| (buffer.id, *buffer)).collect();
    // Remap accepted these words, and it left counts and opcodes as they were: they decode.
    let cmds = wire::decode(words, data_len).unwrap_or_default();
    match check_ranges(&cmds, &buffers, query.max_workgroups) {
        Ok(()) => answer.word(0),
        Err(refused) => {
            for word in [1, refused.command as u32, refused.op as u32, refused.reason as u32] {
                answer.word(word);
            }
        }
    }
    let facts = |id: u32| {
        buffers.get(&id).map(|buffer| BufferInfo {
            size: buffer.size,
            map_read: buffer.usage & MAP_READ != 0,
        })
    };
    match wire::check_reads(reads, facts, u64::from(query.window)) {
        Ok(()) => answer.word(0),
        Err(refused) => {
            for word in [1, refused.read as u32, refused.reason as u32] {
                answer.word(word);
            }
        }
    }
}

fn answer_descriptor(query: &DescriptorQuery) -> Vec<u8> {
    let mut answer = AnswerWriter::default();
    match wire::split_descriptor(&query.bytes) {
        Ok((refs, body)) => {
            answer.word(0);
            answer.words(&refs);
            answer.bytes(body);
        }
        Err(refused) => {
            answer.word(1);
            answer.word(refused.reason as u32);
            return answer.finish();
        }
    }
    let mut bytes = query.bytes.clone();
    match wire::remap_descriptor(&mut bytes, |guest| granted(&query.id_map, guest)) {
        Ok(()) => {
            answer.word(0);
            answer.bytes(&bytes);
        }
        Err(refused) => {
            for word in [1, refused.reason as u32, refused.reference.unwrap_or(0) as u32] {
                answer.word(word);
            }
        }
    }
    answer.finish()
}

fn answer_calls(query: &CallsQuery) -> Vec<u8> {
    calls_of_bytes(&query.rows, &query.blob).text().into_bytes()
}

impl LayoutReader for Native {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
        let groups: Vec<Option<&[_]>> = case.groups.iter().map(Option::as_deref).collect();
        let stages = Stage::ALL.map(|stage| (stage, stage_slots(&groups, stage)));
        let group_slots = Stage::ALL.map(|stage| {
            let slots = groups.iter().flatten().map(|entries| {
                let (slots, counts) = mslmap::group_slots(entries, stage.naga());
                // An external texture, which takes slots in two tables, is in no layout that `StageLayout::new` accepts.
                let slots = slots
                    .into_iter()
                    .map(|slots| slots.buffer.or(slots.texture).or(slots.sampler))
                    .collect();
                (slots, [counts.buffers, counts.textures, counts.samplers])
            });
            (stage, slots.collect())
        });
        let (platform, os) = system(&case.system);
        LayoutAnswer {
            stages: stages.into(),
            group_slots: group_slots.into(),
            language_version: mslmap::language_version(platform, os),
            preserve_invariance: mslmap::preserve_invariance(platform, os),
            options: option_facts(&mslmap::base_options()),
        }
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

fn stage_slots(groups: &[Option<&[wgpu_types::BindGroupLayoutEntry]>], stage: Stage) -> Result<StageSlots, String> {
    let layout = mslmap::StageLayout::new(groups, stage.naga()).map_err(words)?;
    let slots = layout.resources.iter().map(|(at, target)| {
        let sampler = match target.sampler {
            Some(msl::BindSamplerTarget::Resource(slot)) => Some(u32::from(slot)),
            _ => None,
        };
        let (buffer, texture) = (target.buffer.map(u32::from), target.texture.map(u32::from));
        (
            (at.group, at.binding),
            Place {
                buffer,
                texture,
                sampler,
                mutable: target.mutable,
            },
        )
    });
    let bases = layout
        .group_base
        .iter()
        .map(|base| base.map(|base| [base.buffers, base.textures, base.samplers]));
    Ok(StageSlots {
        slots: slots.collect(),
        bases: bases.collect(),
        sizes_slot: layout.sizes_slot.map(u32::from),
    })
}

fn words(error: mslmap::LayoutError) -> String {
    use mslmap::LayoutError as E;
    match error {
        E::DuplicateBinding { group, binding } => refusal::duplicate(group, binding),
        E::TooManyGroups { .. } => refusal::TOO_MANY_GROUPS.into(),
        E::UnsupportedStage(..) => refusal::STAGE.into(),
        E::SlotTooHigh {
            table, group, binding, ..
        } => refusal::slot(&table.to_string(), group, binding),
        E::SizesSlotTooHigh { .. } => refusal::SIZES_SLOT.into(),
        E::BindingArray { group, binding } => refusal::binding_array(group, binding),
        E::ExternalTexture { group, binding } => refusal::external_texture(group, binding),
    }
}

/// What `options` says, row by row.
pub fn option_facts(options: &msl::Options) -> OptionFacts {
    let checks = options.bounds_check_policies;
    vec![
        ("index bounds checks", format!("{:?}", checks.index)),
        ("buffer bounds checks", format!("{:?}", checks.buffer)),
        ("image load bounds checks", format!("{:?}", checks.image_load)),
        ("binding array bounds checks", format!("{:?}", checks.binding_array)),
        ("fake missing bindings", options.fake_missing_bindings.to_string()),
        (
            "zero-initialised workgroup memory",
            options.zero_initialize_workgroup_memory.to_string(),
        ),
        ("bounded loops", options.force_loop_bounding.to_string()),
        ("bindings of its own", options.per_entry_point_map.len().to_string()),
    ]
}
