//! One entry point: its slots, its MSL, and what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};

use mslmap::StageLayout;
use naga::Module;
use naga::back::msl::{BindSamplerTarget, BindTarget};

use super::derive::{self, Needs, PipelineLayout};
use super::report::{Binding, BufferSizes, Difference, EntryPointReport, Immediates, SizeField, SizeOf, Slot};
use super::{Options, words};
use crate::case::Stage;
use crate::msl::arguments::{Argument, Reflection, read};
use crate::oracles::msl::{self, Checked, Entry, Settings};
use crate::pipeline::{Msl, PipelineError, Shader};

/// What the entry points of a file are checked with.
pub(super) struct Check<'a> {
    pub shader: &'a Shader,
    pub overrides: BTreeMap<String, f64>,
    pub options: &'a Options,
}

impl Check<'_> {
    /// Lays out and translates an entry point, and writes into its report what comes of it.
    pub fn entry_point(&self, report: &mut EntryPointReport, needs: &Needs, layout: &PipelineLayout) {
        let groups = layout.groups();
        let groups: Vec<_> = groups.iter().map(|group| Some(group.as_slice())).collect();
        let stage_layout = StageLayout::extended(&groups, report.stage.naga(), layout.extension());
        report.bindings = bindings(needs, stage_layout.as_ref().ok());
        report.immediates = immediates(needs, layout, stage_layout.as_ref().ok());
        let stage_layout = match stage_layout {
            Ok(stage_layout) => stage_layout,
            Err(error) => {
                report.refused = Some(error.to_string());
                return;
            }
        };
        report.buffer_sizes = stage_layout.sizes_slot.map(|slot| BufferSizes {
            slot,
            used: false,
            fields: Vec::new(),
        });
        let settings = Settings {
            groups: &groups,
            extension: layout.extension(),
            version: self.options.language_version,
            overrides: &self.overrides,
        };
        let entry = Entry {
            name: report.name.clone(),
            stage: report.stage,
        };
        let checked = msl::check_entry_point(self.shader, &entry, &settings);
        let reasons: Vec<_> = checked.refused.keys().map(String::as_str).collect();
        match self.write(report, &stage_layout) {
            // The oracle says which version has it.
            Err(error @ PipelineError::Writer(_)) if !reasons.is_empty() => {
                report.refused = Some(format!("{error} ({})", reasons.join(", ")));
            }
            Err(error) => report.refused = Some(error.to_string()),
            Ok(msl) => {
                let is_checked = checked.translated > 0 || !checked.problems.is_empty();
                report.unchecked = (!is_checked).then(|| reasons.join(", "));
                report.msl = Some(msl.text).filter(|_| self.options.msl);
            }
        }
        report.differences.extend(differences(checked));
    }

    /// Writes the MSL and reads back what it holds.
    fn write(&self, report: &mut EntryPointReport, layout: &StageLayout) -> Result<Msl, PipelineError> {
        let resolved = self.shader.resolve(report.stage, &report.name, &self.overrides)?;
        let (mut options, mut pipeline) = layout.options(&report.name);
        options.lang_version = self.options.language_version;
        if report.stage == Stage::Vertex {
            let entry = resolved.entry_point();
            pipeline
                .vertex_buffer_mappings
                .extend(derive::vertex_buffer(&resolved.module, entry));
        }
        let msl = resolved.write(&options, &pipeline)?;
        report.vertex_buffer_slot = pipeline.vertex_buffer_mappings.first().map(|buffer| buffer.id);
        match read(&msl.text) {
            Ok(reflection) => report.read(&reflection, &resolved.module),
            Err(error) => report.differences.push(Difference {
                property: 0,
                detail: format!("the MSL cannot be read: {error}"),
            }),
        }
        Ok(msl)
    }
}

impl EntryPointReport {
    fn read(&mut self, reflection: &Reflection, module: &Module) {
        let arguments: Vec<_> = reflection
            .entry_points
            .iter()
            .flat_map(|entry| &entry.arguments)
            .collect();
        if let Some(sizes) = &mut self.buffer_sizes {
            sizes.used = arguments
                .iter()
                .any(|argument| argument.name.starts_with("_buffer_sizes"));
            sizes.fields = size_fields(reflection, module, self.vertex_buffer_slot);
        }
        self.past_limits = past_limits(&arguments);
    }
}

fn differences(checked: Checked) -> impl Iterator<Item = Difference> {
    checked.problems.into_iter().map(|problem| Difference {
        property: problem.property,
        detail: problem.detail,
    })
}

fn bindings(needs: &Needs, layout: Option<&StageLayout>) -> Vec<Binding> {
    let binding = |resource: &derive::Resource| {
        let target = layout.and_then(|layout| layout.resources.get(&resource.at));
        Binding {
            group: resource.at.group,
            binding: resource.at.binding,
            variable: resource.variable.clone(),
            ty: words::binding_type(&resource.entry),
            access: words::access(&resource.entry),
            slots: target
                .map(|target| slots(target, resource.entry.count.is_some()))
                .unwrap_or_default(),
        }
    };
    needs.resources.iter().map(binding).collect()
}

/// The immediates that the entry point reaches, or for which the layout keeps a slot all the same.
fn immediates(needs: &Needs, layout: &PipelineLayout, stage_layout: Option<&StageLayout>) -> Option<Immediates> {
    let slot = stage_layout.and_then(|layout| layout.immediates_slot);
    let of = |variable: Option<String>, size| Immediates {
        used: variable.is_some(),
        variable,
        size,
        slot,
    };
    match &needs.immediates {
        Some((variable, size)) => Some(of(Some(variable.clone()), *size)),
        None => slot.map(|_| of(None, layout.extension().immediate_size)),
    }
}

/// The slots of a target, textures first.
fn slots(target: &BindTarget, is_array: bool) -> Vec<Slot> {
    let slot = |table, slot: u8, part| Slot {
        table,
        slot: u32::from(slot),
        part,
    };
    if let Some(external) = &target.external_texture {
        let planes = external.planes.into_iter().zip(["plane 0", "plane 1", "plane 2"]);
        let planes = planes.map(|(index, part)| slot("texture", index, Some(part)));
        return planes
            .chain([slot("buffer", external.params, Some("parameters"))])
            .collect();
    }
    let sampler = match target.sampler {
        Some(BindSamplerTarget::Resource(slot)) => Some(slot),
        _ => None,
    };
    let texture = target.texture.map(|index| slot("texture", index, None));
    let buffer = target
        .buffer
        .map(|index| slot("buffer", index, is_array.then_some("argument buffer")));
    let sampler = sampler.map(|index| slot("sampler", index, None));
    [texture, buffer, sampler].into_iter().flatten().collect()
}

/// The fields that naga wrote, in its order: the runtime-sized arrays of the module, then the vertex buffers.
fn size_fields(reflection: &Reflection, module: &Module, vertex_buffer: Option<u32>) -> Vec<SizeField> {
    let globals = module.global_variables.iter().map(|(_, global)| global);
    let sized = globals.filter(|global| module.types[global.ty].inner.needs_host_buffer_byte_size(&module.types));
    let arrays = sized.filter_map(|global| {
        Some(SizeOf::Binding {
            group: global.binding?.group,
            binding: global.binding?.binding,
            variable: global.name.clone().unwrap_or_default(),
        })
    });
    let vertex = vertex_buffer.map(|vertex_buffer_slot| SizeOf::VertexBuffer { vertex_buffer_slot });
    let names = reflection.buffer_sizes.iter().flatten().map(|field| field.name.clone());
    names
        .zip(arrays.chain(vertex))
        .map(|(field, of)| SizeField { field, of })
        .collect()
}

/// The arguments that Metal has no place for, and those that share one.
fn past_limits(arguments: &[&Argument]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut past = Vec::new();
    for argument in arguments {
        let (table, index) = (argument.table, argument.index);
        let at = format!("`{}` at {} {index}", argument.name, table.name());
        if index >= table.limit() {
            past.push(format!("{at}: Metal has {}s 0 to {}", table.name(), table.limit() - 1));
        }
        if !taken.insert((table, index)) {
            past.push(format!("{at}, where another argument is"));
        }
    }
    past
}
