//! wgpu-hal's own bind functions over a bind case, as `reference/slot-upstream` builds them.
//!
//! Between WebGPU's commands and wgpu-hal's stands wgpu-core, which is not asked but followed here (its `command/pass.rs` and
//! `command/bind.rs`): a pipeline goes on at once, a pipeline of another layout sets the immediates to 0, and before a draw come the
//! groups that were set since the last one, or whose place may have moved. Left standing are those before the first that changed. In one
//! thing wgpu-core 30.0.2 is not followed: where a layout only lacks a group that the one before had, it leaves the groups after it in
//! their old slots (`update_expectations`); here they are bound anew.

use slot_upstream::bind::{self as hal, Bound, Scene};

use crate::case::{BindCase, BindCommand, BindGroup, BufferBinding, Pipeline, Resource};
use crate::panics::caught;

/// What stands in the tables at each draw and dispatch.
///
/// # Errors
///
/// The message of a panic of wgpu-hal's.
pub fn play(upstream: &slot_upstream::Upstream, case: &BindCase) -> Result<Vec<Bound>, String> {
    let (scene, draws) = scene(case);
    let mut bound = caught(|| (upstream.play)(&scene))?;
    for (bound, command) in bound.iter_mut().zip(draws) {
        bound.command = command;
    }
    Ok(bound)
}

/// The case as wgpu-hal is given it, and the commands that are draws and dispatches.
fn scene(case: &BindCase) -> (Scene, Vec<usize>) {
    let mut recorder = Recorder {
        case,
        commands: Vec::new(),
        layout: None,
        groups: Default::default(),
        rebind_from: 0,
    };
    let mut draws = Vec::new();
    for (at, command) in case.commands.iter().enumerate() {
        recorder.record(command);
        if matches!(command, BindCommand::Draw | BindCommand::Dispatch) {
            draws.push(at);
        }
    }
    // wgpu-core hands entries over in binding order.
    let group = |group: usize| mslmap::sort_entries(&case.group_layouts[group]);
    let layouts = case.layouts.iter().map(|layout| hal::PipelineLayout {
        groups: layout.groups.iter().map(|at| at.map(group)).collect(),
        immediate_size: layout.immediate_size,
    });
    let scene = Scene {
        layouts: layouts.collect(),
        groups: case.groups.iter().map(|group| bind_group(case, group)).collect(),
        pipelines: case.pipelines.iter().map(|at| pipeline(case, at)).collect(),
        commands: recorder.commands,
    };
    (scene, draws)
}

/// What wgpu-core keeps of a pass.
struct Recorder<'a> {
    case: &'a BindCase,
    commands: Vec<hal::Command>,
    layout: Option<usize>,
    groups: [Option<(usize, &'a [u32])>; slot_upstream::MAX_BIND_GROUPS],
    /// The first group that is to be bound before the next draw.
    rebind_from: usize,
}

impl<'a> Recorder<'a> {
    fn record(&mut self, command: &'a BindCommand) {
        let recorded = match command {
            BindCommand::BeginRenderPass | BindCommand::BeginComputePass => {
                (self.layout, self.groups, self.rebind_from) = (None, Default::default(), 0);
                match command {
                    BindCommand::BeginRenderPass => hal::Command::BeginRenderPass,
                    _ => hal::Command::BeginComputePass,
                }
            }
            BindCommand::SetPipeline(at) => {
                self.commands.push(hal::Command::SetPipeline(*at));
                return self.change_layout(self.case.pipelines[*at].layout);
            }
            BindCommand::SetBindGroup {
                index,
                group,
                dynamic_offsets,
            } => {
                let index = *index as usize;
                self.groups[index] = group.map(|group| (group, dynamic_offsets.as_slice()));
                self.rebind_from = self.rebind_from.min(index);
                return;
            }
            BindCommand::SetImmediates { offset, data } => {
                let Some(layout) = self.layout else { return };
                hal::Command::SetImmediates {
                    layout,
                    offset: *offset,
                    data: data.clone(),
                }
            }
            BindCommand::SetVertexBuffer { slot, buffer } => hal::Command::SetVertexBuffer {
                slot: *slot,
                buffer: buffer_binding(buffer),
            },
            BindCommand::Draw | BindCommand::Dispatch => {
                self.bind_groups();
                match command {
                    BindCommand::Draw => hal::Command::Draw,
                    _ => hal::Command::Dispatch,
                }
            }
        };
        self.commands.push(recorded);
    }

    fn change_layout(&mut self, to: usize) {
        let before = self.layout.replace(to);
        if before == Some(to) {
            return;
        }
        let new = &self.case.layouts[to];
        let first = before.map_or(0, |before| {
            let old = &self.case.layouts[before];
            let group = |layout: &crate::case::PipelineLayout, at: usize| layout.groups.get(at).copied().flatten();
            match old.immediate_size == new.immediate_size {
                true => (0..self.groups.len())
                    .find(|&at| group(old, at) != group(new, at))
                    .unwrap_or(self.groups.len()),
                false => 0,
            }
        });
        self.rebind_from = self.rebind_from.min(first);
        if new.immediate_size > 0 {
            self.commands.push(hal::Command::SetImmediates {
                layout: to,
                offset: 0,
                data: vec![0; new.immediate_size as usize / 4],
            });
        }
    }

    fn bind_groups(&mut self) {
        let Some(layout) = self.layout else { return };
        let due = &self.case.layouts[layout].groups;
        for (index, (due, set)) in due.iter().zip(self.groups).enumerate().skip(self.rebind_from) {
            if let Some((group, dynamic_offsets)) = set
                && *due == Some(self.case.groups[group].layout)
            {
                self.commands.push(hal::Command::SetBindGroup {
                    layout,
                    index: index as u32,
                    group,
                    dynamic_offsets: dynamic_offsets.to_vec(),
                });
            }
        }
        self.rebind_from = self.groups.len();
    }
}

fn bind_group(case: &BindCase, group: &BindGroup) -> hal::BindGroup {
    let entries = case.group_layouts[group.layout].iter().zip(&group.resources);
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(|(entry, _)| entry.binding);
    let resources = |resources: &Vec<Resource>| resources.iter().map(resource).collect();
    hal::BindGroup {
        layout: entries.iter().map(|(entry, _)| **entry).collect(),
        resources: entries.iter().map(|(_, bound)| resources(bound)).collect(),
    }
}

fn resource(resource: &Resource) -> hal::Resource {
    match resource {
        Resource::Buffer(buffer) => hal::Resource::Buffer(buffer_binding(buffer)),
        Resource::Sampler(id) => hal::Resource::Sampler(*id),
        Resource::Texture(id) => hal::Resource::Texture(*id),
        Resource::AccelerationStructure(id) => hal::Resource::AccelerationStructure(*id),
        Resource::ExternalTexture { planes, parameters } => hal::Resource::ExternalTexture {
            planes: *planes,
            parameters: buffer_binding(parameters),
        },
    }
}

fn buffer_binding(buffer: &BufferBinding) -> hal::BufferBinding {
    let BufferBinding {
        id,
        buffer_size,
        offset,
        size,
    } = *buffer;
    hal::BufferBinding {
        id,
        buffer_size,
        offset,
        size,
    }
}

fn pipeline(case: &BindCase, pipeline: &Pipeline) -> hal::Pipeline {
    let layout = &case.layouts[pipeline.layout];
    let elements = |(group, binding)| {
        let count = case.entry(layout, (group, binding)).and_then(|entry| entry.count);
        let at = naga::ResourceBinding { group, binding };
        (0..count.map_or(1, |count| count.get())).map(move |element| (at, element))
    };
    let stages = pipeline.stages.iter().map(|stage| hal::PipelineStage {
        stage: stage.stage.naga(),
        runtime_arrays: stage.runtime_arrays.iter().copied().flat_map(elements).collect(),
        vertex_buffers: stage.vertex_buffers.clone(),
    });
    hal::Pipeline {
        layout: pipeline.layout,
        stages: stages.collect(),
    }
}
