//! What stands in Metal's argument tables at each draw and dispatch: by `mslmap`'s numbers, and by wgpu-hal's own bind functions.
//!
//! **Catches** a slot, base, dynamic offset, sizes slot or immediates slot by which a draw would find another resource than wgpu-hal
//! gives it or nothing at all, and a field of `_buffer_sizes` of another size or place; whatever order groups and pipelines are set in.
//!
//! **Does not catch** what a draw cannot see: slots past those of its pipeline's layout, where a pass may have left something. Nor that
//! a shader's arguments are where the tables have them: [`super::msl`] holds the arguments of emitted MSL to the same `StageLayout` for
//! every generated shader, so that what stands in a slot is what the argument of that slot is given. Nor a fault of wgpu-core's, which
//! [`crate::bind::upstream`] follows by hand. Nor a field of `_buffer_sizes` whose binding the stage does not see, which nothing reads and
//! which wgpu-hal writes now so and now so.
//!
//! The ledger's lines on the bind hold: where one applies, exactly its difference must be there.

use std::collections::BTreeMap;

use wgpu_types::{BindingType, ShaderStages};

use super::Compared;
use super::Verdict::{self, BothAccept, Differ};
use crate::bind::{BindPlayer, Bound, BufferSlot, Reads, Tables, upstream};
use crate::case::{BindCase, BindCommand, Pipeline, PipelineStage, Resource, Stage};
use crate::ledger::Line;
use crate::msl::arguments::FIRST_VERTEX_BUFFER;

/// The signature of a panic of one of the two.
pub const PANICKED: &str = "bind: a player panicked";

/// The parts that are compared, each a row of the report.
pub const ASPECTS: [&str; 1] = ["bind"];

/// How a case came out: stages of draws and dispatches.
pub type BindCompared = Compared<{ ASPECTS.len() }>;

/// A slot at a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The draw or dispatch, by its command.
    pub draw: usize,
    /// The stage.
    pub stage: Stage,
    /// `buffer`, `texture` or `sampler`.
    pub table: &'static str,
    /// The index in the table.
    pub slot: u32,
}

/// What both say of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The subject's tables, or its refusal of a layout.
    pub subject: Result<Vec<Bound>, String>,
    /// wgpu-hal's, or the message of its panic.
    pub upstream: Result<Vec<Bound>, String>,
    /// The slots in which they differ and no line of the ledger says why.
    pub places: Vec<Place>,
}

/// Plays a case by the subject and by wgpu-hal, and compares them draw by draw and stage by stage.
pub fn check(case: &BindCase, subject: &mut dyn BindPlayer) -> (BindCompared, Played) {
    let mut played = Played {
        places: Vec::new(),
        subject: subject.play(case, Reads::AsStored),
        upstream: upstream::play(&slot_upstream::UPSTREAMS[0], case),
    };
    let misread = sees_task_or_mesh(case).then(|| misread(case, subject));
    let mut compared = BindCompared::default();
    match (&played.subject, &played.upstream, misread.transpose()) {
        (Ok(a), Ok(b), Ok(misread)) if a.len() == b.len() => {
            for (draw, (a, b)) in a.iter().zip(b).enumerate() {
                let misread = misread.as_ref().and_then(|draws| draws.get(draw));
                compare_draw(case, [a, b], misread, &mut compared, &mut played.places);
                find_gaps(case, a, &mut compared);
            }
        }
        (a, b, _) => {
            let words = |played: &Result<Vec<Bound>, String>| match played {
                Ok(_) => "plays",
                Err(_) => "refuses",
            };
            count(&mut compared, Differ(format!("{} vs {}", words(a), words(b))));
        }
    }
    (compared, played)
}

fn sees_task_or_mesh(case: &BindCase) -> bool {
    let mut entries = case.group_layouts.iter().flatten();
    entries.any(|entry| entry.visibility.intersects(ShaderStages::TASK | ShaderStages::MESH))
}

/// What a draw would find as wgpu-hal reads its groups, and the stages that would find a resource of another entry.
type Misread = (Bound, [bool; Stage::ALL.len()]);

/// Each draw's. Two entries may be given one resource, and not one size; so it is told by a case in which each is given one of its own.
fn misread(case: &BindCase, subject: &mut dyn BindPlayer) -> Result<Vec<Misread>, String> {
    let mut apart = case.clone();
    let resources = apart.groups.iter_mut().flat_map(|group| group.resources.iter_mut());
    resources.flatten().zip((0..).step_by(4)).for_each(rename);
    let right = subject.play(&apart, Reads::AsStored)?;
    let wrong = subject.play(&apart, Reads::AsWgpuHal30)?;
    let stages = right
        .iter()
        .zip(&wrong)
        .map(|(right, wrong)| std::array::from_fn(|stage| !same_resources(&right.stages[stage], &wrong.stages[stage])));
    Ok(subject
        .play(case, Reads::AsWgpuHal30)?
        .into_iter()
        .zip(stages)
        .collect())
}

/// Gives a resource up to four ids, from `id` on.
fn rename((resource, id): (&mut Resource, u32)) {
    match resource {
        Resource::Buffer(buffer) => buffer.id = id,
        Resource::Sampler(other) | Resource::Texture(other) | Resource::AccelerationStructure(other) => *other = id,
        Resource::ExternalTexture { planes, parameters } => {
            *planes = [id, id + 1, id + 2];
            parameters.id = id + 3;
        }
    }
}

fn compare_draw(
    case: &BindCase,
    [subject, upstream]: [&Bound; 2],
    misread: Option<&Misread>,
    compared: &mut BindCompared,
    places: &mut Vec<Place>,
) {
    let draw = subject.command;
    let Some(pipeline) = pipeline_of(case, draw) else {
        return;
    };
    let immediates = case.layouts[pipeline.layout].immediate_size > 0;
    for stage in &pipeline.stages {
        let at = stage.stage as usize;
        let place = |table, slot| Place {
            draw,
            stage: stage.stage,
            table,
            slot,
        };
        let [subject, upstream] = [subject, upstream].map(|bound| &bound.stages[at]);
        let misread = misread
            .filter(|(_, stages)| stages[at])
            .map(|(bound, _)| &bound.stages[at]);
        if immediates {
            let longer = four_times_as_long(subject.buffers.get(&IMMEDIATES), upstream.buffers.get(&IMMEDIATES));
            tolerate(compared, Line::ImmediatesLength, longer);
            places.extend((!longer).then(|| place("buffer", IMMEDIATES)));
        }
        let judged = Judged {
            immediates,
            sizes: misread.is_none().then(|| judged_sizes(case, pipeline, stage)),
        };
        let differences = judged.differences(misread.unwrap_or(subject), upstream);
        places.extend(differences.iter().map(|&(_, table, slot)| place(table, slot)));
        if misread.is_some() {
            tolerate(compared, Line::TaskMeshMisread, differences.is_empty());
        } else {
            let words = |(kind, ..): &Difference| Differ((*kind).to_owned());
            count(compared, differences.first().map_or(BothAccept, words));
        }
    }
}

/// The pipeline of a draw.
fn pipeline_of(case: &BindCase, draw: usize) -> Option<&Pipeline> {
    case.commands[..draw].iter().rev().find_map(|command| match command {
        BindCommand::SetPipeline(pipeline) => Some(&case.pipelines[*pipeline]),
        _ => None,
    })
}

/// The first slot that the stage is due and that the subject leaves empty, in a word for its table. In each table the slots of a layout follow
/// one another from 0 (slots.md, sections 1 and 2), and a case sets every group and vertex buffer that a draw needs.
fn first_gap(case: &BindCase, pipeline: &Pipeline, stage: &PipelineStage, subject: &Tables) -> Option<&'static str> {
    let layout = &case.layouts[pipeline.layout];
    let groups = layout.groups.iter().flatten();
    let entries = groups.flat_map(|&group| &case.group_layouts[group]);
    let (mut buffers, mut textures, mut samplers) = (u32::from(layout.immediate_size > 0), 0, 0);
    let mut has_sizes = stage.stage == Stage::Vertex;
    for entry in entries.filter(|entry| entry.visibility.contains(stage.stage.visibility())) {
        has_sizes |= mslmap::is_storage_buffer(entry);
        match (entry.count, entry.ty) {
            (None, BindingType::ExternalTexture) => (buffers, textures) = (buffers + 1, textures + 3),
            (None, BindingType::Texture { .. } | BindingType::StorageTexture { .. }) => textures += 1,
            (None, BindingType::Sampler(_)) => samplers += 1,
            _ => buffers += 1,
        }
    }
    let asks_for_sizes = !(stage.runtime_arrays.is_empty() && stage.vertex_buffers.is_empty());
    buffers += u32::from(has_sizes && asks_for_sizes);
    let has_all = |table: &BTreeMap<u32, u32>, due: u32| table.range(..due).count() == due as usize;
    let mut pulled = stage.vertex_buffers.iter().map(|slot| FIRST_VERTEX_BUFFER - slot);
    let has_buffers = subject.buffers.range(..buffers).count() == buffers as usize
        && pulled.all(|slot| subject.buffers.contains_key(&slot));
    [
        (has_buffers, "an empty buffer slot"),
        (has_all(&subject.textures, textures), "an empty texture slot"),
        (has_all(&subject.samplers, samplers), "an empty sampler slot"),
    ]
    .into_iter()
    .find_map(|(has_all, words)| (!has_all).then_some(words))
}

/// What a stage is due and the subject leaves empty at a draw. What upstream has beside the subject's does not show that: it may stand there
/// from before.
fn find_gaps(case: &BindCase, subject: &Bound, compared: &mut BindCompared) {
    let Some(pipeline) = pipeline_of(case, subject.command) else {
        return;
    };
    for stage in &pipeline.stages {
        if let Some(what) = first_gap(case, pipeline, stage, &subject.stages[stage.stage as usize]) {
            count(compared, Differ(what.to_owned()));
        }
    }
}

/// Whether two tables hold the same, whatever the bytes that are given by value.
fn same_resources(a: &Tables, b: &Tables) -> bool {
    let resources = |tables: &Tables| {
        let held = tables.buffers.clone().into_iter();
        held.filter(|(_, held)| !matches!(held, BufferSlot::Bytes(_)))
            .collect::<Vec<_>>()
    };
    a == b || (a.textures == b.textures && a.samplers == b.samplers && resources(a) == resources(b))
}

/// The fields of a stage's `_buffer_sizes` that it can read: of each, whether it sees the binding.
fn judged_sizes(case: &BindCase, pipeline: &Pipeline, stage: &PipelineStage) -> Vec<bool> {
    let layout = &case.layouts[pipeline.layout];
    let arrays = stage.runtime_arrays.iter().flat_map(|at| {
        let entry = case.entry(layout, *at);
        let seen = entry.is_some_and(|entry| entry.visibility.contains(stage.stage.visibility()));
        let elements = entry.and_then(|entry| entry.count).map_or(1, |count| count.get());
        std::iter::repeat_n(seen, elements as usize)
    });
    arrays.chain(stage.vertex_buffers.iter().map(|_| true)).collect()
}

/// The slot of the immediates, where there are some.
const IMMEDIATES: u32 = 0;

/// The ledger's `immediates-length`.
fn four_times_as_long(subject: Option<&BufferSlot>, upstream: Option<&BufferSlot>) -> bool {
    let (Some(BufferSlot::Bytes(a)), Some(BufferSlot::Bytes(b))) = (subject, upstream) else {
        return false;
    };
    b.len() == 4 * a.len() && b.starts_with(a)
}

/// A slot that differs: the kind of what the subject has there in words, the table, and the slot.
type Difference = (&'static str, &'static str, u32);

/// The slots of `a` in which `b` has something else.
fn missing(a: &BTreeMap<u32, u32>, b: &BTreeMap<u32, u32>) -> impl Iterator<Item = u32> {
    a.iter()
        .filter(|(slot, id)| b.get(slot) != Some(id))
        .map(|(&slot, _)| slot)
}

/// What is compared of a stage's tables beside the resources.
struct Judged {
    /// Whether there are immediates, which are looked at apart.
    immediates: bool,
    /// The fields of `_buffer_sizes`; none where it is not looked at.
    sizes: Option<Vec<bool>>,
}

impl Judged {
    /// What the subject has and upstream has not.
    fn differences(&self, subject: &Tables, upstream: &Tables) -> Vec<Difference> {
        let buffers = subject.buffers.iter().filter_map(|(&slot, held)| {
            let other = upstream.buffers.get(&slot);
            let kind = match held {
                BufferSlot::Bytes(_) if self.immediates && slot == IMMEDIATES => return None,
                BufferSlot::Bytes(bytes) if self.same_sizes(bytes, other) => return None,
                BufferSlot::Bytes(_) => "_buffer_sizes",
                held if other == Some(held) => return None,
                BufferSlot::Buffer { .. } => "a buffer",
                BufferSlot::Array(_) => "an array",
                BufferSlot::AccelerationStructure(_) => "an acceleration structure",
            };
            Some((kind, "buffer", slot))
        });
        let textures = missing(&subject.textures, &upstream.textures).map(|slot| ("a texture", "texture", slot));
        let samplers = missing(&subject.samplers, &upstream.samplers).map(|slot| ("a sampler", "sampler", slot));
        buffers.chain(textures).chain(samplers).collect()
    }

    fn same_sizes(&self, subject: &[u8], upstream: Option<&BufferSlot>) -> bool {
        let Some(judged) = &self.sizes else { return true };
        let Some(BufferSlot::Bytes(upstream)) = upstream else {
            return false;
        };
        let words = subject.chunks(4).zip(upstream.chunks(4)).zip(judged);
        subject.len() == upstream.len() && words.into_iter().all(|((a, b), judged)| a == b || !judged)
    }
}

fn count(compared: &mut BindCompared, verdict: Verdict) {
    compared.count(&ASPECTS, 0, verdict);
}

fn tolerate(compared: &mut BindCompared, line: Line, there: bool) {
    compared.tolerated(&ASPECTS, 0, line, there);
}
