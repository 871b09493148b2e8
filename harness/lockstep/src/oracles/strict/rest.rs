//! Everything that WebGPU asks of a command beside the classes of wire.md section 8, as far as commands and table tell.
//! Where they do not tell, it does not hold.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use wire::{Cmd, Kind, Op, Rule};

use crate::case::Object;
use crate::gpu::{calls, kernels};

/// The most bytes that a [`kernels::Kernel`] asks of a binding: one u32.
const KERNEL_BYTES: u64 = 4;

/// Whether nothing but memory can be wrong with the command `at`.
pub(super) fn holds(cmds: &[Cmd<'_>], at: usize, objects: &[Object]) -> bool {
    let Some(table) = Table::of(objects) else {
        return false;
    };
    let mut pass = Pass::default();
    cmds[..at].iter().for_each(|cmd| pass.follow(cmd, &table));
    pass.takes(&cmds[at], &table)
}

/// Whether what a refusal of the command `at` is about is set there, where it is a draw: what is not is the device's
/// business (wire.md section 8).
pub(super) fn is_set(cmds: &[Cmd<'_>], at: usize, objects: &[Object], rule: Rule) -> bool {
    let reads = [Rule::IndexReads, Rule::VertexReads, Rule::InstanceReads];
    let Some(table) = Table::of(objects).filter(|_| reads.contains(&rule)) else {
        return true;
    };
    let mut pass = Pass::default();
    cmds[..at].iter().for_each(|cmd| pass.follow(cmd, &table));
    match rule {
        Rule::IndexReads => pass.index,
        _ => pass.pipeline.is_some() && !pass.vertex.is_empty(),
    }
}

/// Whether nothing but memory can be wrong with a render bundle, whose commands are `cmds`.
pub(super) fn bundle_holds(bundle: &Object, cmds: &[Cmd<'_>], objects: &[Object]) -> bool {
    let Some(table) = Table::of(objects) else {
        return false;
    };
    // Section 7 of wire.md, which the replayer holds a row to before the device sees it.
    let kind = |id: u32| table.0.get(&id).map(|row| row.kind);
    let descriptor = calls::check(bundle.kind, bundle.refs.clone(), bundle.body.as_bytes(), kind);
    if bundle.id == 0 || descriptor.is_err() {
        return false;
    }
    let pipelines = objects.iter().filter(|object| object.kind == Kind::RenderPipeline);
    // Formats that no pipeline has may be none, or none that a bundle can have.
    let fitting: BTreeSet<u32> = pipelines
        .filter(|pipeline| fits(bundle, pipeline) == Some(true))
        .map(|pipeline| pipeline.id)
        .collect();
    if fitting.is_empty() {
        return false;
    }
    let mut pass = Pass {
        renders: true,
        ..Pass::default()
    };
    cmds.iter().all(|cmd| {
        let takes = match cmd.op {
            Op::SetPipeline => fitting.contains(&cmd.args[0]),
            _ => pass.takes(cmd, &table),
        };
        pass.follow(cmd, &table);
        takes
    })
}

/// Whether a bundle's descriptor says of its attachments what a pipeline's does, and nothing else.
fn fits(bundle: &Object, pipeline: &Object) -> Option<bool> {
    let Value::Object(bundle) = serde_json::from_str(&bundle.body).ok()? else {
        return None;
    };
    let known = ["colorFormats", "depthStencilFormat", "sampleCount", "words"];
    let plain = bundle.keys().all(|key| known.contains(&&key[..]));
    let pipeline: Value = serde_json::from_str(&pipeline.body).ok()?;
    let targets = pipeline["fragment"]["targets"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let formats = bundle.get("colorFormats")?.as_array()?;
    let depth = bundle.get("depthStencilFormat").unwrap_or(&Value::Null);
    let samples = |count: Option<&Value>| count.map_or(Some(1), Value::as_u64);
    Some(
        plain
            && formats.iter().eq(targets.iter().map(|target| &target["format"]))
            && *depth == pipeline["depthStencil"]["format"]
            && samples(bundle.get("sampleCount")) == samples(pipeline["multisample"].get("count")),
    )
}

/// Whether a bind group lists the buffers that have a dynamic offset in its layout in the order of their bindings.
pub(super) fn lists_in_order(group: &Object, layout: &Object) -> bool {
    let [group, layout] = [group, layout].map(|row| serde_json::from_str::<Value>(&row.body).unwrap_or_default());
    let [entries, due] = [&group, &layout].map(|body| body["entries"].as_array().into_iter().flatten());
    let dynamic: BTreeSet<Option<u64>> = due
        .filter(|entry| entry["buffer"]["hasDynamicOffset"] == true)
        .map(|entry| entry["binding"].as_u64())
        .collect();
    let bindings = entries.map(|entry| entry["binding"].as_u64());
    bindings.filter(|binding| dynamic.contains(binding)).is_sorted()
}

/// What the open pass has set.
#[derive(Default)]
struct Pass {
    renders: bool,
    pipeline: Option<u32>,
    /// Bind groups by index.
    groups: BTreeMap<u32, u32>,
    /// Slots of vertex buffers.
    vertex: BTreeSet<u32>,
    index: bool,
    /// Every bind group so far, those of bundles too.
    used: BTreeSet<u32>,
}

impl Pass {
    /// Whether nothing but memory can be wrong with a command that comes next.
    fn takes(&mut self, cmd: &Cmd<'_>, table: &Table<'_>) -> bool {
        match cmd.op {
            Op::WriteBuffer | Op::WriteTexture | Op::ReadBuffer | Op::CopyBufferToBuffer | Op::CopyTextureToTexture => {
                true
            }
            Op::SetBindGroup if !self.renders => true,
            Op::SetBindGroup | Op::SetVertexBuffer | Op::SetIndexBuffer => {
                self.follow(cmd, table);
                self.only_reads(table)
            }
            Op::Draw | Op::DrawIndirect => self.can_draw(table) == Some(true),
            Op::DrawIndexed | Op::DrawIndexedIndirect => self.index && self.can_draw(table) == Some(true),
            Op::Dispatch => self.can_dispatch(table, None) == Some(true),
            Op::DispatchIndirect => self.can_dispatch(table, Some(cmd.args[0])) == Some(true),
            _ => false,
        }
    }

    fn follow(&mut self, cmd: &Cmd<'_>, table: &Table<'_>) {
        match (cmd.op, cmd.args) {
            (Op::BeginRenderPass | Op::BeginComputePass, _) => {
                *self = Pass {
                    renders: cmd.op == Op::BeginRenderPass,
                    ..Pass::default()
                };
            }
            (Op::SetPipeline, &[pipeline]) => self.pipeline = Some(pipeline),
            (Op::SetBindGroup, &[index, 0, ..]) => drop(self.groups.remove(&index)),
            (Op::SetBindGroup, &[index, group, ..]) => {
                self.groups.insert(index, group);
                self.used.insert(group);
            }
            (Op::SetVertexBuffer, &[slot, 0, ..]) => drop(self.vertex.remove(&slot)),
            (Op::SetVertexBuffer, &[slot, ..]) => drop(self.vertex.insert(slot)),
            (Op::SetIndexBuffer, _) => self.index = true,
            (Op::ExecuteBundles, &[_, ref bundles @ ..]) => {
                let mut used = std::mem::take(&mut self.used);
                let refs = bundles
                    .iter()
                    .filter_map(|bundle| table.row(*bundle, Kind::RenderBundle));
                used.extend(refs.flat_map(|bundle| bundle.refs.iter().copied()));
                *self = Pass {
                    renders: true,
                    used,
                    ..Pass::default()
                };
            }
            _ => {}
        }
    }

    /// Whether the groups of a render pass hold only buffers that are read: nothing then stands in the way of its
    /// attachments, and of vertex, index and indirect buffers.
    fn only_reads(&self, table: &Table<'_>) -> bool {
        let groups = self.used.iter().filter_map(|group| table.row(*group, Kind::BindGroup));
        let bindings = groups.map(|group| table.bindings(group));
        bindings.into_iter().all(|bindings| {
            bindings.is_some_and(|bindings| bindings.iter().all(|binding| binding.is_buffer && !binding.writes))
        })
    }

    fn can_draw(&self, table: &Table<'_>) -> Option<bool> {
        let pipeline = table.row(self.pipeline?, Kind::RenderPipeline)?;
        let body: Value = serde_json::from_str(&pipeline.body).ok()?;
        let buffers = body["vertex"]["buffers"].as_array().map_or(&[][..], Vec::as_slice);
        let mut needed = (0..).zip(buffers).filter(|(_, buffer)| !buffer.is_null());
        let simple = ["strip", "blend"].iter().all(|word| !pipeline.body.contains(word));
        let set = needed.all(|(slot, _)| self.vertex.contains(&slot));
        Some(simple && set && self.only_reads(table) && self.has_groups(pipeline, table)?)
    }

    /// Whether the groups are those of the pipeline's layout and long enough for its kernels.
    fn has_groups(&self, pipeline: &Object, table: &Table<'_>) -> Option<bool> {
        let (&layout, modules) = pipeline.refs.split_first()?;
        let layouts = &table.row(layout, Kind::PipelineLayout)?.refs;
        for (index, layout) in (0..).zip(layouts) {
            let group = table.row(*self.groups.get(&index)?, Kind::BindGroup)?;
            let bindings = table.bindings(group)?;
            let long = bindings.iter().all(|binding| binding.bytes >= KERNEL_BYTES);
            if group.refs.first() != Some(layout) || !long {
                return Some(false);
            }
        }
        let mut modules = modules.iter().filter(|module| **module != 0);
        Some(modules.all(|module| table.is_kernel(*module)))
    }

    /// Also whether no memory is both written and used otherwise.
    fn can_dispatch(&self, table: &Table<'_>, indirect: Option<u32>) -> Option<bool> {
        let pipeline = table.row(self.pipeline?, Kind::ComputePipeline)?;
        let mut uses: Vec<(u32, bool)> = indirect.map(|buffer| (buffer, false)).into_iter().collect();
        for group in self.groups.values() {
            let bindings = table.bindings(table.row(*group, Kind::BindGroup)?)?;
            uses.extend(bindings.iter().map(|binding| (binding.memory, binding.writes)));
        }
        let clash = |(memory, writes): (u32, bool)| writes && uses.iter().filter(|used| used.0 == memory).count() > 1;
        Some(!uses.iter().copied().any(clash) && self.has_groups(pipeline, table)?)
    }
}

/// The rows of a table by id.
struct Table<'a>(BTreeMap<u32, &'a Object>);

/// An entry of a bind group.
struct Binding {
    /// The buffer, texture or sampler.
    memory: u32,
    is_buffer: bool,
    writes: bool,
    /// Bytes of a buffer's binding; of another as many as anyone asks for.
    bytes: u64,
}

impl Table<'_> {
    /// None where a row took the place of another, which the rows between still mean.
    fn of(objects: &[Object]) -> Option<Table<'_>> {
        let rows: BTreeMap<u32, &Object> = objects.iter().map(|object| (object.id, object)).collect();
        (rows.len() == objects.len()).then_some(Table(rows))
    }

    fn row(&self, id: u32, kind: Kind) -> Option<&Object> {
        self.0.get(&id).copied().filter(|row| row.kind == kind)
    }

    fn is_kernel(&self, module: u32) -> bool {
        let module = self.row(module, Kind::ShaderModule);
        module.is_some_and(|module| kernels::is_known(&module.body))
    }

    fn bindings(&self, group: &Object) -> Option<Vec<Binding>> {
        let (&layout, resources) = group.refs.split_first()?;
        let layout: Value = serde_json::from_str(&self.row(layout, Kind::BindGroupLayout)?.body).ok()?;
        let body: Value = serde_json::from_str(&group.body).ok()?;
        let entries = body["entries"].as_array()?.iter().zip(resources);
        let binding = |(entry, &resource): (&Value, &u32)| {
            let due = layout["entries"].as_array()?.iter();
            let due = due.clone().find(|due| due["binding"] == entry["binding"])?;
            let row = self.0.get(&resource)?;
            let is_buffer = row.kind == Kind::Buffer;
            let memory = match row.kind {
                Kind::TextureView => *row.refs.first()?,
                _ => resource,
            };
            let whole = serde_json::from_str::<Value>(&row.body).ok()?["size"].as_u64();
            let offset = entry["offset"].as_u64().unwrap_or(0);
            let rest = whole.unwrap_or(0).saturating_sub(offset);
            Some(Binding {
                memory,
                is_buffer,
                writes: due["buffer"]["type"] == "storage" || !due["storageTexture"].is_null(),
                bytes: match is_buffer {
                    true => entry["size"].as_u64().unwrap_or(rest),
                    false => u64::MAX,
                },
            })
        };
        entries.map(binding).collect()
    }
}
