//! Faults, each in the layout under something that an entry point reaches.

use arbitrary::{Result, Unstructured};
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, TextureSampleType,
    TextureViewDimension as View,
};

use super::tables::IMMEDIATE;
use super::{FAULTS, Kind, Source, chance};
use crate::case::LayoutCase;
use crate::generators::layout::table;

/// Puts in a fault in about 15 of 100 cases, where an entry point reaches a binding, and names it.
pub(super) fn faults(u: &mut Unstructured<'_>, source: &Source, case: &mut LayoutCase) -> Result<Vec<&'static str>> {
    if !chance(u, 42)? {
        return Ok(Vec::new());
    }
    let is_immediate = |kind: &Kind| matches!(kind, Kind::Memory { space: IMMEDIATE, .. });
    let immediates = source
        .variables
        .iter()
        .position(|variable| is_immediate(&variable.kind));
    let reached_by_any = |index: usize| source.entry_points.iter().any(|(_, reaches)| reaches >> index & 1 == 1);
    if immediates.is_some_and(reached_by_any) && chance(u, 128)? {
        case.immediate_size = 0;
        return Ok(vec!["no-immediates"]);
    }
    let groups = &mut case.groups;
    let mut reached = Vec::new();
    for &(stage, reaches) in &source.entry_points {
        let variables = source
            .variables
            .iter()
            .enumerate()
            .filter(|(index, _)| reaches >> index & 1 == 1);
        reached.extend(variables.filter_map(|(_, variable)| Some((stage, variable.at?))));
    }
    if reached.is_empty() {
        return Ok(Vec::new());
    }
    let (stage, (group, binding)) = *u.choose(&reached)?;
    let entries = groups[group].as_mut().expect("a variable's group has entries");
    let place = entries
        .iter()
        .position(|entry| entry.binding == binding)
        .expect("a variable has an entry");
    let fault = *u.choose(&FAULTS[..3])?;
    match fault {
        "missing-binding" => {
            entries.remove(place);
            if entries.is_empty() && chance(u, 128)? {
                groups[group] = None;
            }
        }
        "other-kind" => entries[place] = other_kind(u, entries[place])?,
        _ => entries[place].visibility.remove(stage.visibility()),
    }
    Ok(vec![fault])
}

/// An entry of another table. An array lies in that of the buffers, whatever it holds.
fn other_kind(u: &mut Unstructured<'_>, entry: BindGroupLayoutEntry) -> Result<BindGroupLayoutEntry> {
    let buffer = BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only: true },
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let sampler = BindingType::Sampler(SamplerBindingType::NonFiltering);
    let texture = BindingType::Texture {
        sample_type: TextureSampleType::Uint,
        view_dimension: View::D2,
        multisampled: false,
    };
    let held = if entry.count.is_some() {
        table(&buffer)
    } else {
        table(&entry.ty)
    };
    let others: Vec<_> = [buffer, sampler, texture]
        .into_iter()
        .filter(|other| table(other) != held)
        .collect();
    Ok(BindGroupLayoutEntry {
        ty: *u.choose(&others)?,
        count: None,
        ..entry
    })
}
