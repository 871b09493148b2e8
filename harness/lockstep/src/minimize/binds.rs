//! The steps of bind cases. What nothing refers to any more goes, and the indices of what stands behind it move up.

use wgpu_types::{BindingType, BufferBindingType};

use super::layouts::simpler;
use super::lower::{numbers, parts, without, words};
use super::{Candidates, Step};
use crate::case::{BindCase, BindCommand, BufferBinding, Resource};

pub(super) const STEPS: &[Step<BindCase>] = &[
    drop_commands,
    drop_unused,
    drop_groups,
    drop_entries,
    drop_stages,
    drop_arrays,
    simplify_entries,
    lower_offsets,
    lower_resources,
    lower_immediates,
];

fn with(case: &BindCase, change: impl FnOnce(&mut BindCase)) -> BindCase {
    let mut next = case.clone();
    change(&mut next);
    next
}

fn drop_commands(case: &BindCase) -> Candidates<'_, BindCase> {
    Box::new(parts(case.commands.len()).map(|part| with(case, |next| drop(next.commands.drain(part)))))
}

/// Pipelines, layouts, bind groups and bind group layouts that nothing uses.
fn drop_unused(case: &BindCase) -> Candidates<'_, BindCase> {
    let pipelines = (0..case.pipelines.len()).filter_map(|at| drop_pipeline(case, at));
    let groups = (0..case.groups.len()).filter_map(|at| drop_group(case, at));
    let layouts = (0..case.layouts.len()).filter_map(|at| drop_layout(case, at));
    let group_layouts = (0..case.group_layouts.len()).filter_map(|at| drop_group_layout(case, at));
    Box::new(pipelines.chain(groups).chain(layouts).chain(group_layouts))
}

/// An index after the one that goes moves up.
fn move_up(index: &mut usize, gone: usize) {
    *index -= usize::from(*index > gone);
}

fn drop_pipeline(case: &BindCase, gone: usize) -> Option<BindCase> {
    if case.commands.contains(&BindCommand::SetPipeline(gone)) {
        return None;
    }
    Some(with(case, |next| {
        next.pipelines.remove(gone);
        for command in &mut next.commands {
            if let BindCommand::SetPipeline(pipeline) = command {
                move_up(pipeline, gone);
            }
        }
    }))
}

fn drop_group(case: &BindCase, gone: usize) -> Option<BindCase> {
    let sets =
        |command: &BindCommand| matches!(command, BindCommand::SetBindGroup { group, .. } if *group == Some(gone));
    if case.commands.iter().any(sets) {
        return None;
    }
    Some(with(case, |next| {
        next.groups.remove(gone);
        for command in &mut next.commands {
            if let BindCommand::SetBindGroup { group: Some(group), .. } = command {
                move_up(group, gone);
            }
        }
    }))
}

fn drop_layout(case: &BindCase, gone: usize) -> Option<BindCase> {
    if case.pipelines.iter().any(|pipeline| pipeline.layout == gone) {
        return None;
    }
    Some(with(case, |next| {
        next.layouts.remove(gone);
        let layouts = next.pipelines.iter_mut().map(|pipeline| &mut pipeline.layout);
        layouts.for_each(|layout| move_up(layout, gone));
    }))
}

fn drop_group_layout(case: &BindCase, gone: usize) -> Option<BindCase> {
    let mut used = case.layouts.iter().flat_map(|layout| layout.groups.iter().flatten());
    if used.any(|group| *group == gone) || case.groups.iter().any(|group| group.layout == gone) {
        return None;
    }
    Some(with(case, |next| {
        next.group_layouts.remove(gone);
        let of_layouts = next
            .layouts
            .iter_mut()
            .flat_map(|layout| layout.groups.iter_mut().flatten());
        let of_groups = next.groups.iter_mut().map(|group| &mut group.layout);
        of_layouts.chain(of_groups).for_each(|layout| move_up(layout, gone));
    }))
}

/// Groups of pipeline layouts: the last one, or absent ones in their place.
fn drop_groups(case: &BindCase) -> Candidates<'_, BindCase> {
    let layouts = case.layouts.iter().enumerate();
    Box::new(layouts.flat_map(move |(at, layout)| {
        let last = layout
            .groups
            .split_last()
            .map(|(_, left)| with(case, |next| next.layouts[at].groups = left.to_vec()));
        let there = layout.groups.iter().enumerate().filter(|(_, group)| group.is_some());
        let absent = there.map(move |(group, _)| with(case, |next| next.layouts[at].groups[group] = None));
        last.into_iter().chain(absent)
    }))
}

/// Entries of bind group layouts, with what the groups bind there and its dynamic offsets.
fn drop_entries(case: &BindCase) -> Candidates<'_, BindCase> {
    let layouts = case.group_layouts.iter().enumerate();
    Box::new(layouts.flat_map(move |(layout, entries)| {
        parts(entries.len()).map(move |part| {
            let gone = entries[part.clone()].iter().map(|entry| entry.binding);
            let gone: Vec<u32> = gone.collect();
            with(case, |next| {
                next.group_layouts[layout] = without(entries, part.clone());
                for group in next.groups.iter_mut().filter(|group| group.layout == layout) {
                    group.resources.drain(part.clone());
                }
                drop_dynamic_offsets(case, layout, &gone, &mut next.commands);
            })
        })
    }))
}

/// The dynamic offsets of bindings that went.
fn drop_dynamic_offsets(case: &BindCase, layout: usize, gone: &[u32], commands: &mut [BindCommand]) {
    let entries = case.group_layouts[layout].iter();
    let dynamic = entries.filter(|entry| entry.count.is_none() && entry.ty.has_dynamic_offset());
    let mut bindings: Vec<u32> = dynamic.map(|entry| entry.binding).collect();
    bindings.sort_unstable();
    for command in commands {
        let BindCommand::SetBindGroup {
            group: Some(group),
            dynamic_offsets,
            ..
        } = command
        else {
            continue;
        };
        if case.groups[*group].layout == layout {
            let offsets = bindings.iter().zip(std::mem::take(dynamic_offsets));
            let left = offsets.filter(|(binding, _)| !gone.contains(binding));
            *dynamic_offsets = left.map(|(_, offset)| offset).collect();
        }
    }
}

fn drop_stages(case: &BindCase) -> Candidates<'_, BindCase> {
    let pipelines = case.pipelines.iter().enumerate();
    Box::new(pipelines.flat_map(move |(at, pipeline)| {
        let several = pipeline.stages.len() > 1;
        let stages = (0..pipeline.stages.len()).filter(move |_| several);
        stages.map(move |stage| with(case, |next| drop(next.pipelines[at].stages.remove(stage))))
    }))
}

/// Runtime-sized arrays and vertex buffers of stages.
fn drop_arrays(case: &BindCase) -> Candidates<'_, BindCase> {
    let pipelines = case.pipelines.iter().enumerate();
    Box::new(pipelines.flat_map(move |(pipeline, stages)| {
        let stages = stages.stages.iter().enumerate();
        stages.flat_map(move |(at, stage)| {
            let arrays = parts(stage.runtime_arrays.len()).map(move |part| {
                with(case, |next| {
                    drop(next.pipelines[pipeline].stages[at].runtime_arrays.drain(part))
                })
            });
            let buffers = parts(stage.vertex_buffers.len()).map(move |part| {
                with(case, |next| {
                    drop(next.pipelines[pipeline].stages[at].vertex_buffers.drain(part))
                })
            });
            arrays.chain(buffers)
        })
    }))
}

/// Of entries what leaves their groups' resources as they are.
fn simplify_entries(case: &BindCase) -> Candidates<'_, BindCase> {
    let layouts = case.group_layouts.iter().enumerate();
    Box::new(layouts.flat_map(move |(layout, entries)| {
        entries.iter().enumerate().flat_map(move |(at, entry)| {
            let kept = simpler(entry).filter(|simpler| simpler.count == entry.count);
            kept.map(move |simpler| {
                let lost = entry.ty.has_dynamic_offset() && !simpler.ty.has_dynamic_offset();
                with(case, |next| {
                    next.group_layouts[layout][at] = simpler;
                    if lost {
                        drop_dynamic_offsets(case, layout, &[entry.binding], &mut next.commands);
                    }
                    if is_uniform(&simpler.ty) {
                        to_buffers(next, layout, at);
                    }
                })
            })
        })
    }))
}

fn is_uniform(ty: &BindingType) -> bool {
    let uniform = BufferBindingType::Uniform;
    matches!(ty, BindingType::Buffer { ty, .. } if *ty == uniform)
}

/// What was bound at an entry that became one of buffers: a buffer of the resource's number.
fn to_buffers(case: &mut BindCase, layout: usize, entry: usize) {
    let groups = case.groups.iter_mut().filter(|group| group.layout == layout);
    for resource in groups.flat_map(|group| &mut group.resources[entry]) {
        let id = match resource {
            Resource::Buffer(_) => continue,
            Resource::Sampler(id) | Resource::Texture(id) | Resource::AccelerationStructure(id) => *id,
            Resource::ExternalTexture { planes, .. } => planes[0],
        };
        *resource = Resource::Buffer(BufferBinding {
            id,
            buffer_size: 16,
            offset: 0,
            size: None,
        });
    }
}

/// Dynamic offsets, and the numbers of immediates and vertex buffers.
fn lower_offsets(case: &BindCase) -> Candidates<'_, BindCase> {
    let commands = case.commands.iter().enumerate();
    Box::new(commands.flat_map(move |(at, command)| -> Candidates<'_, BindCase> {
        match command {
            BindCommand::SetBindGroup { dynamic_offsets, .. } => {
                let offsets = dynamic_offsets.iter().enumerate();
                Box::new(offsets.flat_map(move |(offset, value)| {
                    words(*value).map(move |lower| {
                        with(case, |next| {
                            if let BindCommand::SetBindGroup { dynamic_offsets, .. } = &mut next.commands[at] {
                                dynamic_offsets[offset] = lower;
                            }
                        })
                    })
                }))
            }
            BindCommand::SetImmediates { offset, data } => {
                let shorter = parts(data.len()).map(move |part| BindCommand::SetImmediates {
                    offset: *offset,
                    data: without(data, part),
                });
                let lower = words(*offset).map(|offset| BindCommand::SetImmediates {
                    offset,
                    data: data.clone(),
                });
                Box::new(
                    shorter
                        .chain(lower)
                        .map(move |command| with(case, |next| next.commands[at] = command)),
                )
            }
            BindCommand::SetVertexBuffer { slot, buffer } => Box::new(lower_buffer(*buffer).map(move |buffer| {
                with(case, |next| {
                    next.commands[at] = BindCommand::SetVertexBuffer { slot: *slot, buffer };
                })
            })),
            _ => Box::new(std::iter::empty()),
        }
    }))
}

/// Where bindings lie in their buffers.
fn lower_resources(case: &BindCase) -> Candidates<'_, BindCase> {
    let groups = case.groups.iter().enumerate();
    Box::new(groups.flat_map(move |(group, held)| {
        let places = held.resources.iter().enumerate();
        let places = places.flat_map(|(at, list)| {
            list.iter()
                .enumerate()
                .map(move |(index, resource)| (at, index, resource))
        });
        places.flat_map(move |(at, index, resource)| {
            let buffer = match resource {
                Resource::Buffer(buffer) => Some(*buffer),
                _ => None,
            };
            let lower = buffer.into_iter().flat_map(lower_buffer);
            lower.map(move |buffer| {
                with(case, |next| {
                    next.groups[group].resources[at][index] = Resource::Buffer(buffer)
                })
            })
        })
    }))
}

fn lower_buffer(buffer: BufferBinding) -> impl Iterator<Item = BufferBinding> {
    let offsets = numbers(buffer.offset).map(move |offset| BufferBinding { offset, ..buffer });
    let whole = buffer.size.map(|_| BufferBinding { size: None, ..buffer });
    let sizes = buffer.size.into_iter().flat_map(numbers);
    let sizes = sizes.map(move |size| BufferBinding {
        size: Some(size),
        ..buffer
    });
    let buffers = numbers(buffer.buffer_size).map(move |buffer_size| BufferBinding { buffer_size, ..buffer });
    offsets.chain(whole).chain(sizes).chain(buffers)
}

fn lower_immediates(case: &BindCase) -> Candidates<'_, BindCase> {
    let layouts = case.layouts.iter().enumerate();
    Box::new(layouts.flat_map(move |(at, layout)| {
        words(layout.immediate_size).map(move |size| with(case, |next| next.layouts[at].immediate_size = size))
    }))
}
