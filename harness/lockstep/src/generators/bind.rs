//! Bind cases out of bytes.
//!
//! A few bind group layouts, shared by a few pipeline layouts that mostly have a beginning in common, so that groups may be left
//! standing; two bind groups for most; pipelines of every kind; and passes that set them in any order, change their mind, and set what
//! is missing before a draw. Bytes that have run out read as zero, and zero picks what is smallest.

use std::num::NonZeroU32;

use arbitrary::{Result, Unstructured};
use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

use super::layout::{arrange, chance, entry, number, shuffle};
use super::{Made, below};
use crate::case::{
    BindCase, BindCommand, BindGroup, BufferBinding, Pipeline, PipelineLayout, PipelineStage, Resource, Stage,
    has_arrays,
};

/// The most entries that a pipeline layout has: its buffers, the immediates and the sizes leave room for 8 vertex buffers.
const MOST_ENTRIES: usize = 20;
/// The most elements of an array.
const MOST_ELEMENTS: NonZeroU32 = NonZeroU32::new(4).expect("not 0");

/// How many groups a pipeline layout has.
const GROUP_COUNTS: [usize; 8] = [1, 2, 3, 4, 2, 3, 5, 8];
const IMMEDIATE_SIZES: [u32; 3] = [4, 16, 128];
/// The vertex buffers of a pipeline.
const VERTEX_BUFFERS: [&[u32]; 8] = [
    &[],
    &[0],
    &[0, 1],
    &[2, 0],
    &[7],
    &[],
    &[3, 1, 0],
    &[0, 1, 2, 3, 4, 5, 6, 7],
];
const OFFSETS: [u64; 4] = [0, 256, 512, 1 << 20];
/// What a binding has of its buffer: all of so many bytes after the offset, or the first of them.
const SIZES: [(u64, Option<u64>); 8] = [
    (1024, None),
    (1024, Some(16)),
    (1024, Some(12)),
    (4096, Some(1000)),
    (100, None),
    (1 << 31, Some(1 << 30)),
    (u32::MAX as u64, None),
    (4, Some(4)),
];
/// What a dynamic offset may add to: the buffer goes on behind the binding.
const DYNAMIC: std::ops::RangeInclusive<u32> = 0..=4;

const COMPUTE: &[Stage] = &[Stage::Compute];
const RENDER: [&[Stage]; 3] = [
    &[Stage::Vertex, Stage::Fragment],
    &[Stage::Fragment, Stage::Vertex],
    &[Stage::Vertex],
];
const MESH: [&[Stage]; 3] = [
    &[Stage::Task, Stage::Mesh, Stage::Fragment],
    &[Stage::Mesh, Stage::Fragment],
    &[Stage::Task, Stage::Mesh],
];

/// Passes with everything that they use.
pub fn bind_case(u: &mut Unstructured<'_>) -> Result<Made<BindCase>> {
    let has_mesh = chance(u, 80)?;
    let mut case = BindCase::default();
    for _ in 0..u.int_in_range(1..=4u8)? {
        case.group_layouts.push(group_layout(u, has_mesh)?);
    }
    layouts(u, &mut case)?;
    let mut ids = 1..;
    for layout in 0..case.group_layouts.len() {
        for _ in 0..u.int_in_range(1..=2u8)? {
            let group = bind_group(u, &case.group_layouts[layout], layout, &mut ids)?;
            case.groups.push(group);
        }
    }
    for layout in 0..case.layouts.len() {
        for _ in 0..u.int_in_range(1..=2u8)? {
            let pipeline = pipeline(u, &case, layout, has_mesh)?;
            case.pipelines.push(pipeline);
        }
    }
    for _ in 0..u.int_in_range(1..=2u8)? {
        pass(u, &mut case, &mut ids)?;
    }
    Ok(Made {
        case,
        faults: Vec::new(),
    })
}

fn group_layout(u: &mut Unstructured<'_>, has_mesh: bool) -> Result<Vec<BindGroupLayoutEntry>> {
    let mut entries = Vec::new();
    for _ in 0..u.int_in_range(0..=6u8)? {
        let mut entry = entry(u, true)?;
        if !has_mesh {
            entry.visibility &= ShaderStages::VERTEX | ShaderStages::FRAGMENT | ShaderStages::COMPUTE;
        }
        if has_mesh && matches!(entry.ty, BindingType::AccelerationStructure { .. }) {
            // wgpu-hal panics where a task or mesh stage has one, and may misread one for such a stage.
            entry.visibility = ShaderStages::NONE;
        }
        let count = entry.count.filter(|_| has_arrays(&entry.ty));
        entry.count = count.map(|count| count.min(MOST_ELEMENTS));
        entries.push(entry);
    }
    number(u, &mut entries)?;
    arrange(u, &mut entries)?;
    Ok(entries)
}

/// Up to three pipeline layouts. A later one mostly is the one before with another place, so that some groups stay where they are.
fn layouts(u: &mut Unstructured<'_>, case: &mut BindCase) -> Result<()> {
    for _ in 0..u.int_in_range(1..=3u8)? {
        let mut layout = match case.layouts.last() {
            Some(last) if !chance(u, 64)? => {
                let mut layout = last.clone();
                let place = u.choose_index(layout.groups.len())?;
                layout.groups[place] = place_group(u, case)?;
                if chance(u, 64)? {
                    layout.groups.truncate(place + 1);
                }
                layout
            }
            _ => {
                let mut layout = PipelineLayout::default();
                for _ in 0..*u.choose(&GROUP_COUNTS)? {
                    layout.groups.push(place_group(u, case)?);
                }
                layout
            }
        };
        if chance(u, 64)? {
            layout.immediate_size = *u.choose(&IMMEDIATE_SIZES)?;
        }
        fit(case, &mut layout);
        case.layouts.push(layout);
    }
    Ok(())
}

/// A group layout for a place, or none.
fn place_group(u: &mut Unstructured<'_>, case: &BindCase) -> Result<Option<usize>> {
    match chance(u, 48)? {
        true => Ok(None),
        false => Ok(Some(u.choose_index(case.group_layouts.len())?)),
    }
}

/// Takes groups out until the entries of the others are few enough.
fn fit(case: &BindCase, layout: &mut PipelineLayout) {
    let mut left = MOST_ENTRIES;
    for place in &mut layout.groups {
        let entries = place.map_or(0, |group| case.group_layouts[group].len());
        match left.checked_sub(entries) {
            Some(rest) => left = rest,
            None => *place = None,
        }
    }
}

type Ids = std::ops::RangeFrom<u32>;

fn next(ids: &mut Ids) -> u32 {
    ids.next().unwrap_or_default()
}

fn bind_group(
    u: &mut Unstructured<'_>,
    entries: &[BindGroupLayoutEntry],
    layout: usize,
    ids: &mut Ids,
) -> Result<BindGroup> {
    let mut resources = Vec::with_capacity(entries.len());
    for entry in entries {
        let count = entry.count.map_or(1, |count| count.get());
        let bound = (0..count).map(|_| resource(u, &entry.ty, ids));
        resources.push(bound.collect::<Result<_>>()?);
    }
    Ok(BindGroup { layout, resources })
}

fn resource(u: &mut Unstructured<'_>, ty: &BindingType, ids: &mut Ids) -> Result<Resource> {
    Ok(match ty {
        BindingType::Buffer { .. } => Resource::Buffer(buffer(u, ty.has_dynamic_offset(), ids)?),
        BindingType::Sampler(_) => Resource::Sampler(next(ids)),
        BindingType::Texture { .. } | BindingType::StorageTexture { .. } => Resource::Texture(next(ids)),
        BindingType::AccelerationStructure { .. } => Resource::AccelerationStructure(next(ids)),
        BindingType::ExternalTexture => Resource::ExternalTexture {
            planes: [next(ids), next(ids), next(ids)],
            parameters: buffer(u, false, ids)?,
        },
    })
}

fn buffer(u: &mut Unstructured<'_>, dynamic: bool, ids: &mut Ids) -> Result<BufferBinding> {
    let choice = usize::from(u.arbitrary::<u8>()?);
    let offset = OFFSETS[choice % OFFSETS.len()];
    let (room, size) = SIZES[choice / OFFSETS.len() % SIZES.len()];
    // A dynamic offset may only move a binding that says where it ends.
    let (room, size) = match dynamic {
        true => (room + 256 * u64::from(*DYNAMIC.end()), size.or(Some(room))),
        false => (room, size),
    };
    Ok(BufferBinding {
        id: next(ids),
        buffer_size: offset + room,
        offset,
        size,
    })
}

fn pipeline(u: &mut Unstructured<'_>, case: &BindCase, layout: usize, has_mesh: bool) -> Result<Pipeline> {
    let choice = u.arbitrary::<u8>()?;
    let of = |kinds: [&'static [Stage]; 3]| kinds[usize::from(choice / 4) % kinds.len()];
    let stages = match choice % 4 {
        0 | 1 => of(RENDER),
        2 if has_mesh => of(MESH),
        _ => COMPUTE,
    };
    let mut pipeline = Pipeline {
        layout,
        stages: Vec::new(),
    };
    for &stage in stages {
        let vertex_buffers = match stage {
            Stage::Vertex => u.choose(&VERTEX_BUFFERS)?.to_vec(),
            _ => Vec::new(),
        };
        pipeline.stages.push(PipelineStage {
            stage,
            runtime_arrays: runtime_arrays(u, case, layout)?,
            vertex_buffers,
        });
    }
    Ok(pipeline)
}

/// Some of the layout's storage buffers, in any order, whoever sees them, and seldom one that it lacks: a module may declare them for
/// another entry point.
fn runtime_arrays(u: &mut Unstructured<'_>, case: &BindCase, layout: usize) -> Result<Vec<(u32, u32)>> {
    let mut arrays = Vec::new();
    for (group, place) in (0..).zip(&case.layouts[layout].groups) {
        let entries = place.map_or(&[][..], |group| &case.group_layouts[group]);
        for entry in entries.iter().filter(|entry| mslmap::is_storage_buffer(entry)) {
            if !chance(u, 64)? {
                arrays.push((group, entry.binding));
            }
        }
    }
    if chance(u, 32)? {
        let other = (below(u, 4)?, below(u, 4)?);
        if case.entry(&case.layouts[layout], other).is_none() {
            arrays.push(other);
        }
    }
    shuffle(u, &mut arrays)?;
    Ok(arrays)
}

/// What a pass has set so far.
struct Set {
    compute: bool,
    pipeline: Option<usize>,
    groups: [Option<usize>; mslmap::MAX_GROUPS],
    vertex_buffers: [bool; crate::case::MAX_VERTEX_BUFFERS as usize],
}

/// A pass: some settings and draws in any order, and a draw at its end.
fn pass(u: &mut Unstructured<'_>, case: &mut BindCase, ids: &mut Ids) -> Result<()> {
    let compute = case.pipelines[u.choose_index(case.pipelines.len())?].is_compute();
    case.commands.push(match compute {
        true => BindCommand::BeginComputePass,
        false => BindCommand::BeginRenderPass,
    });
    let mut set = Set {
        compute,
        pipeline: None,
        groups: Default::default(),
        vertex_buffers: Default::default(),
    };
    for _ in 0..u.int_in_range(0..=10u8)? {
        match u.arbitrary::<u8>()? % 8 {
            0 | 1 => set_pipeline(u, case, &mut set)?,
            2 | 3 => {
                let group = u.choose_index(case.groups.len())?;
                let index = below(u, 5)?;
                set_group(u, case, &mut set, index, Some(group))?;
            }
            4 => {
                let index = below(u, 5)?;
                set_group(u, case, &mut set, index, None)?;
            }
            5 => set_immediates(u, case, &set)?,
            6 if !compute => {
                let slot = below(u, crate::case::MAX_VERTEX_BUFFERS)?;
                set_vertex_buffer(u, case, &mut set, slot, ids)?;
            }
            _ => draw(u, case, &mut set, ids)?,
        }
    }
    draw(u, case, &mut set, ids)
}

fn set_pipeline(u: &mut Unstructured<'_>, case: &mut BindCase, set: &mut Set) -> Result<()> {
    let kinds = case.pipelines.iter().enumerate();
    let fitting: Vec<usize> = kinds
        .filter(|(_, pipeline)| pipeline.is_compute() == set.compute)
        .map(|(at, _)| at)
        .collect();
    let pipeline = *u.choose(&fitting)?;
    set.pipeline = Some(pipeline);
    case.commands.push(BindCommand::SetPipeline(pipeline));
    Ok(())
}

fn set_group(
    u: &mut Unstructured<'_>,
    case: &mut BindCase,
    set: &mut Set,
    index: u32,
    group: Option<usize>,
) -> Result<()> {
    let layout = group.map(|group| case.groups[group].layout);
    let entries = layout.map_or(&[][..], |layout| &case.group_layouts[layout]);
    let dynamic = |entry: &&BindGroupLayoutEntry| entry.count.is_none() && entry.ty.has_dynamic_offset();
    let offsets = entries
        .iter()
        .filter(dynamic)
        .map(|_| Ok(256 * u.int_in_range(DYNAMIC)?));
    let dynamic_offsets = offsets.collect::<Result<_>>()?;
    set.groups[index as usize] = layout;
    case.commands.push(BindCommand::SetBindGroup {
        index,
        group,
        dynamic_offsets,
    });
    Ok(())
}

fn set_immediates(u: &mut Unstructured<'_>, case: &mut BindCase, set: &Set) -> Result<()> {
    let Some(pipeline) = set.pipeline else { return Ok(()) };
    let words = case.layouts[case.pipelines[pipeline].layout].immediate_size / 4;
    let first = below(u, words)?;
    let data = (first..words).take(3).map(|_| Ok(u.arbitrary::<u8>()?.into()));
    let data: Vec<u32> = data.collect::<Result<_>>()?;
    if !data.is_empty() {
        case.commands.push(BindCommand::SetImmediates {
            offset: 4 * first,
            data,
        });
    }
    Ok(())
}

fn set_vertex_buffer(
    u: &mut Unstructured<'_>,
    case: &mut BindCase,
    set: &mut Set,
    slot: u32,
    ids: &mut Ids,
) -> Result<()> {
    let buffer = buffer(u, false, ids)?;
    set.vertex_buffers[slot as usize] = true;
    case.commands.push(BindCommand::SetVertexBuffer { slot, buffer });
    Ok(())
}

/// Sets what the pipeline is still without, in any order, and draws.
fn draw(u: &mut Unstructured<'_>, case: &mut BindCase, set: &mut Set, ids: &mut Ids) -> Result<()> {
    if set.pipeline.is_none() {
        set_pipeline(u, case, set)?;
    }
    let pipeline = case.pipelines[set.pipeline.unwrap_or_default()].clone();
    let places = case.layouts[pipeline.layout].groups.clone();
    let mut missing: Vec<(u32, usize)> = (0..)
        .zip(places.iter().zip(set.groups))
        .filter(|(_, (due, is))| due.is_some() && *due != is)
        .filter_map(|(index, (due, _))| Some((index, (*due)?)))
        .collect();
    shuffle(u, &mut missing)?;
    for (index, layout) in missing {
        let groups = case.groups.iter().enumerate();
        let fitting: Vec<usize> = groups
            .filter(|(_, group)| group.layout == layout)
            .map(|(at, _)| at)
            .collect();
        let group = *u.choose(&fitting)?;
        set_group(u, case, set, index, Some(group))?;
    }
    for slot in pipeline.stages.iter().flat_map(|stage| &stage.vertex_buffers) {
        if !set.vertex_buffers[*slot as usize] {
            set_vertex_buffer(u, case, set, *slot, ids)?;
        }
    }
    case.commands.push(match set.compute {
        true => BindCommand::Dispatch,
        false => BindCommand::Draw,
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::generators::{Lane, bytes};

    const CASES: u64 = 2_000;

    fn cases() -> impl Iterator<Item = BindCase> {
        (0..CASES).map(|index| {
            let mut buffer = Vec::new();
            bytes(Lane::Binds, 1, index, &mut buffer);
            bind_case(&mut Unstructured::new(&buffer)).expect("a case").case
        })
    }

    #[test]
    fn every_case_holds_and_every_kind_of_binding_command_and_stage_occurs() {
        let (mut types, mut commands, mut stages) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let name = |text: String| text.split([' ', '(']).next().unwrap_or_default().to_owned();
        for case in cases() {
            assert_eq!(case.check(), Ok(()));
            let entries = case.group_layouts.iter().flatten();
            types.extend(entries.map(|entry| (name(format!("{:?}", entry.ty)), entry.count.is_some())));
            commands.extend(case.commands.iter().map(|command| name(format!("{command:?}"))));
            stages.extend(
                case.pipelines
                    .iter()
                    .flat_map(|pipeline| &pipeline.stages)
                    .map(|at| at.stage),
            );
        }
        // Six types, and four of them in arrays too.
        assert_eq!(types.len(), 10, "{types:?}");
        assert_eq!(commands.len(), 8, "{commands:?}");
        assert_eq!(stages, Stage::ALL.into_iter().collect());
    }

    /// What the oracle wants to see: a pipeline of another layout that finds a group of the one before.
    #[test]
    fn groups_are_left_standing_between_layouts() {
        let mut standing = 0;
        for case in cases() {
            let drawn = |commands: &[BindCommand]| {
                let pipelines = commands.iter().filter_map(|command| match command {
                    BindCommand::SetPipeline(pipeline) => Some(case.pipelines[*pipeline].layout),
                    _ => None,
                });
                pipelines.collect::<BTreeSet<_>>().len() > 1
            };
            let passes = case
                .commands
                .split(|command| matches!(command, BindCommand::BeginRenderPass | BindCommand::BeginComputePass));
            standing += passes.filter(|commands| drawn(commands)).count();
        }
        assert!(standing > 300, "{standing}");
    }

    #[test]
    fn bytes_may_run_out_anywhere() {
        let mut buffer = Vec::new();
        for index in 0..100 {
            bytes(Lane::Binds, 1, index, &mut buffer);
            for len in 0..100 {
                let made = bind_case(&mut Unstructured::new(&buffer[..len])).expect("a case");
                assert_eq!(made.case.check(), Ok(()));
            }
        }
    }
}
