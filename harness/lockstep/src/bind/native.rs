//! A Metal encoder that takes every number from `mslmap`, as slots.md section 2 says: `StageLayout` for bases, the sizes slot, the
//! immediates slot and the lengths of arrays, `group_slots` for places, `dynamic_offsets` for offsets.
//!
//! It keeps what WebGPU says is set, and at a draw fills the tables anew, so that it has no order of calls that could be wrong. It was
//! written from the pages and not from wgpu-hal.

use std::collections::BTreeMap;

use mslmap::{Counts, Extension, StageLayout};
use slot_upstream::bind::{Bound, BufferSlot, Element, Tables};
use wgpu_types::BindGroupLayoutEntry;

use super::{BindPlayer, Reads};
use crate::case::{BindCase, BindCommand, BindGroup, BufferBinding, Pipeline, PipelineStage, Resource, Stage};

/// Slots of Metal's buffer table. Vertex buffers stand at its end, the first in the last slot (slots.md section 2).
const BUFFER_SLOTS: u32 = 31;

/// Where the numbers come from. A test puts a fault in here.
#[derive(Clone, Copy)]
pub struct Numbers {
    /// Where a group starts.
    pub base: fn(&StageLayout, usize) -> Option<Counts>,
    /// Each entry's dynamic offset.
    pub dynamic_offsets: fn(&[BindGroupLayoutEntry]) -> Vec<Option<u32>>,
}

/// The player.
pub struct Native {
    name: &'static str,
    numbers: Numbers,
}

impl Default for Native {
    fn default() -> Native {
        let base = |layout: &StageLayout, group: usize| layout.group_base[group];
        let dynamic_offsets = mslmap::dynamic_offsets;
        Native::with_numbers(crate::readers::native::NAME, Numbers { base, dynamic_offsets })
    }
}

impl Native {
    /// One with other numbers.
    pub fn with_numbers(name: &'static str, numbers: Numbers) -> Native {
        Native { name, numbers }
    }
}

impl BindPlayer for Native {
    fn name(&self) -> &str {
        self.name
    }

    fn play(&mut self, case: &BindCase, reads: Reads) -> Result<Vec<Bound>, String> {
        let layouts = (0..case.layouts.len()).map(|at| stage_layouts(case, at));
        let play = Play {
            case,
            numbers: self.numbers,
            reads,
            layouts: layouts.collect::<Result<_, String>>()?,
        };
        let mut pass = Pass::default();
        let mut bound = Vec::new();
        for (at, command) in case.commands.iter().enumerate() {
            if matches!(command, BindCommand::Draw | BindCommand::Dispatch) {
                let stages = play.draw(&mut pass);
                bound.push(Bound { command: at, stages });
            } else {
                pass.set(case, command);
            }
        }
        Ok(bound)
    }
}

fn stage_layouts(case: &BindCase, layout: usize) -> Result<[StageLayout; Stage::ALL.len()], String> {
    let layout = &case.layouts[layout];
    let group = |group: usize| case.group_layouts[group].as_slice();
    let groups: Vec<_> = layout.groups.iter().map(|at| at.map(group)).collect();
    let extension = Extension {
        immediate_size: layout.immediate_size,
        vertex_pulling: true,
    };
    let [vertex, fragment, compute, task, mesh] = StageLayout::all_stages(&groups, extension);
    let all = || Ok([vertex?, fragment?, compute?, task?, mesh?]);
    all().map_err(|error: mslmap::LayoutError| error.to_string())
}

/// What is set in a pass.
#[derive(Default)]
struct Pass<'a> {
    compute: bool,
    pipeline: Option<&'a Pipeline>,
    groups: [Option<SetGroup<'a>>; mslmap::MAX_GROUPS],
    immediates: Vec<u32>,
    vertex_buffers: BTreeMap<u32, &'a BufferBinding>,
    /// Bytes of what was bound in the pass, by group, binding and element.
    sizes: BTreeMap<(u32, u32, u32), u32>,
}

#[derive(Clone, Copy)]
struct SetGroup<'a> {
    group: &'a BindGroup,
    dynamic_offsets: &'a [u32],
}

impl<'a> Pass<'a> {
    fn set(&mut self, case: &'a BindCase, command: &'a BindCommand) {
        match command {
            BindCommand::BeginRenderPass => *self = Pass::default(),
            BindCommand::BeginComputePass => {
                *self = Pass {
                    compute: true,
                    ..Pass::default()
                }
            }
            BindCommand::SetPipeline(at) => {
                let pipeline = &case.pipelines[*at];
                if self.pipeline.is_none_or(|before| before.layout != pipeline.layout) {
                    self.immediates = vec![0; case.layouts[pipeline.layout].immediate_size as usize / 4];
                }
                self.pipeline = Some(pipeline);
            }
            BindCommand::SetBindGroup {
                index,
                group,
                dynamic_offsets,
            } => {
                self.groups[*index as usize] = group.map(|group| SetGroup {
                    group: &case.groups[group],
                    dynamic_offsets,
                });
            }
            BindCommand::SetImmediates { offset, data } => {
                let words = self.immediates.iter_mut().skip(*offset as usize / 4);
                words.zip(data).for_each(|(word, new)| *word = *new);
            }
            BindCommand::SetVertexBuffer { slot, buffer } => drop(self.vertex_buffers.insert(*slot, buffer)),
            BindCommand::Draw | BindCommand::Dispatch => {}
        }
    }
}

/// What a stage is given of a group, each table's in the order of its places.
#[derive(Default)]
struct Given<'a> {
    buffers: Vec<Option<GivenBuffer<'a>>>,
    textures: Vec<u32>,
    samplers: Vec<u32>,
}

#[derive(Clone)]
struct GivenBuffer<'a> {
    held: BufferSlot,
    /// The binding number of a storage buffer or an array of them, and the resources, whose sizes shaders may ask for.
    sized: Option<(u32, &'a [Resource])>,
}

struct Play<'a> {
    case: &'a BindCase,
    numbers: Numbers,
    reads: Reads,
    layouts: Vec<[StageLayout; Stage::ALL.len()]>,
}

impl<'a> Play<'a> {
    /// The tables of the pipeline's stages.
    fn draw(&self, pass: &mut Pass<'a>) -> [Tables; Stage::ALL.len()] {
        let mut tables: [Tables; Stage::ALL.len()] = Default::default();
        let Some(pipeline) = pass.pipeline else { return tables };
        let layouts = &self.layouts[pipeline.layout];
        let groups = &self.case.layouts[pipeline.layout].groups;
        for (index, (place, set)) in groups.iter().zip(pass.groups).enumerate() {
            let (Some(_), Some(set)) = (place, set) else { continue };
            for (at, given) in self.given(set, pass.compute) {
                let sized = given.buffers.iter().flatten().filter_map(|buffer| buffer.sized);
                sized.for_each(|(binding, resources)| record_sizes(index as u32, binding, resources, &mut pass.sizes));
                let used = pipeline.stages.iter().any(|stage| stage.stage == Stage::ALL[at]);
                if let (true, Some(base)) = (used, (self.numbers.base)(&layouts[at], index)) {
                    put(given, base, &mut tables[at]);
                }
            }
        }
        for stage in &pipeline.stages {
            let at = stage.stage as usize;
            put_own(stage, &layouts[at], pass, &mut tables[at]);
        }
        tables
    }

    /// What each stage of the pass is given of a group, by its place in [`Stage::ALL`].
    fn given(&self, set: SetGroup<'a>, compute: bool) -> Vec<(usize, Given<'a>)> {
        let of_pass = |stage: Stage| (stage == Stage::Compute) == compute;
        let stages = Stage::ALL.into_iter().enumerate();
        match self.reads {
            Reads::AsStored => stages
                .filter(|(_, stage)| of_pass(*stage))
                .map(|(at, stage)| (at, self.given_to(stage, set)))
                .collect(),
            Reads::AsWgpuHal30 => {
                let given = misread(Stage::ALL.map(|stage| self.given_to(stage, set)));
                let given = stages.zip(given).filter(|((_, stage), _)| of_pass(*stage));
                given.map(|((at, _), given)| (at, given)).collect()
            }
        }
    }

    fn given_to(&self, stage: Stage, set: SetGroup<'a>) -> Given<'a> {
        let entries = &self.case.group_layouts[set.group.layout];
        let (slots, counts) = mslmap::group_slots(entries, stage.naga());
        let offsets = (self.numbers.dynamic_offsets)(entries);
        let mut given = Given {
            buffers: (0..counts.buffers).map(|_| None).collect(),
            textures: vec![0; counts.textures as usize],
            samplers: vec![0; counts.samplers as usize],
        };
        for (at, entry) in entries.iter().enumerate() {
            let resources = &set.group.resources[at];
            if let Some(place) = slots[at].buffer {
                let moved = offsets[at].map_or(0, |index| set.dynamic_offsets[index as usize]);
                given.buffers[place as usize] = Some(GivenBuffer {
                    held: held(entry, resources, moved.into()),
                    sized: mslmap::is_storage_buffer(entry).then_some((entry.binding, resources.as_slice())),
                });
            }
            match (slots[at].texture, slots[at].sampler, resources.first()) {
                (Some(place), _, Some(Resource::Texture(id))) => given.textures[place as usize] = *id,
                (Some(place), _, Some(Resource::ExternalTexture { planes, .. })) => {
                    given.textures[place as usize..][..planes.len()].copy_from_slice(planes);
                }
                (_, Some(place), Some(Resource::Sampler(id))) => given.samplers[place as usize] = *id,
                _ => {}
            }
        }
        given
    }
}

/// What the buffer table holds of an entry.
fn held(entry: &BindGroupLayoutEntry, resources: &[Resource], moved: u64) -> BufferSlot {
    let buffer = |buffer: &BufferBinding| BufferSlot::Buffer {
        id: buffer.id,
        offset: buffer.offset + moved,
    };
    match resources {
        [Resource::Buffer(one)] if entry.count.is_none() => buffer(one),
        [Resource::ExternalTexture { parameters, .. }] => buffer(parameters),
        [Resource::AccelerationStructure(id)] if entry.count.is_none() => BufferSlot::AccelerationStructure(*id),
        elements => BufferSlot::Array(elements.iter().map(element).collect()),
    }
}

fn element(resource: &Resource) -> Element {
    match resource {
        Resource::Buffer(buffer) => Element {
            id: buffer.id,
            offset: buffer.offset as u32,
        },
        Resource::Sampler(id) | Resource::Texture(id) | Resource::AccelerationStructure(id) => {
            Element { id: *id, offset: 0 }
        }
        // WebGPU has no arrays of them.
        Resource::ExternalTexture { planes, .. } => Element {
            id: planes[0],
            offset: 0,
        },
    }
}

fn record_sizes(group: u32, binding: u32, resources: &[Resource], sizes: &mut BTreeMap<(u32, u32, u32), u32>) {
    for (element, resource) in (0..).zip(resources) {
        if let Resource::Buffer(buffer) = resource {
            sizes.insert((group, binding, element), buffer.bound() as u32);
        }
    }
}

/// The i-th of each table goes to the base and i.
fn put(given: Given<'_>, base: Counts, tables: &mut Tables) {
    let buffers = (base.buffers..).zip(given.buffers);
    let buffers = buffers.filter_map(|(slot, buffer)| Some((slot, buffer?.held)));
    tables.buffers.extend(buffers);
    tables.textures.extend((base.textures..).zip(given.textures));
    tables.samplers.extend((base.samplers..).zip(given.samplers));
}

/// What is no group's: immediates, vertex buffers, `_buffer_sizes`.
fn put_own(stage: &PipelineStage, layout: &StageLayout, pass: &Pass<'_>, tables: &mut Tables) {
    if let Some(slot) = layout.immediates_slot {
        tables.buffers.insert(slot.into(), bytes(&pass.immediates));
    }
    let mut sizes = Vec::new();
    for &(group, binding) in &stage.runtime_arrays {
        let at = naga::ResourceBinding { group, binding };
        let elements = layout.binding_array_lengths.get(&at).copied().unwrap_or(1);
        let size = |element| pass.sizes.get(&(group, binding, element)).copied().unwrap_or(0);
        sizes.extend((0..elements).map(size));
    }
    for slot in &stage.vertex_buffers {
        let buffer = pass.vertex_buffers.get(slot).copied();
        sizes.push(buffer.map_or(0, |buffer| buffer.bound() as u32));
        if let Some(buffer) = buffer {
            let held = BufferSlot::Buffer {
                id: buffer.id,
                offset: buffer.offset,
            };
            tables.buffers.insert(BUFFER_SLOTS - 1 - slot, held);
        }
    }
    if let (Some(slot), false) = (layout.sizes_slot, sizes.is_empty()) {
        tables.buffers.insert(slot.into(), bytes(&sizes));
    }
}

fn bytes(words: &[u32]) -> BufferSlot {
    BufferSlot::Bytes(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// What each stage gets that looks for its part where wgpu-hal 30.0.2 does.
fn misread(mut given: [Given<'_>; Stage::ALL.len()]) -> [Given<'_>; Stage::ALL.len()] {
    reread(given.each_mut().map(|given| &mut given.buffers));
    reread(given.each_mut().map(|given| &mut given.textures));
    reread(given.each_mut().map(|given| &mut given.samplers));
    given
}

fn reread<T: Clone>(parts: [&mut Vec<T>; Stage::ALL.len()]) {
    let stored: Vec<T> = parts.iter().flat_map(|part| part.iter().cloned()).collect();
    let [vertex, fragment, _, task, mesh] = parts.each_ref().map(|part| part.len());
    let after_mesh = vertex + task + mesh;
    let starts = [0, after_mesh, after_mesh + fragment, 0, task];
    for (part, start) in parts.into_iter().zip(starts) {
        *part = stored[start..][..part.len()].to_vec();
    }
}
