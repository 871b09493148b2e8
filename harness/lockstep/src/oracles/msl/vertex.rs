//! The vertex buffers of a pipeline whose vertices are pulled.
//!
//! A layout case names no vertex state, so one is made up that serves every vertex entry point of the module: the locations in
//! ascending order, by turns in a buffer stepped by vertex and in one stepped by instance, each in the format of the input's type
//! (that of the first entry point that takes the location; naga converts for the others).

use std::collections::BTreeMap;

use naga::back::msl::{AttributeMapping, VertexBufferMapping, VertexBufferStepMode};
use naga::{Binding, Module, ScalarKind, ShaderStage, TypeInner};
use naga_types::VertexFormat;

use crate::msl::arguments::FIRST_VERTEX_BUFFER;

/// The buffers, none for a module whose vertex entry points take no input by location.
pub(super) fn buffers(module: &Module) -> Vec<VertexBufferMapping> {
    let mut locations = BTreeMap::new();
    let entry_points = module.entry_points.iter();
    for entry_point in entry_points.filter(|entry_point| entry_point.stage == ShaderStage::Vertex) {
        for (binding, ty) in inputs(module, &entry_point.function) {
            if let &Binding::Location { location, .. } = binding {
                locations.entry(location).or_insert(ty);
            }
        }
    }
    let steps = [VertexBufferStepMode::ByVertex, VertexBufferStepMode::ByInstance];
    let by_turns = (0..).zip(steps).map(|(nth, step_mode)| VertexBufferMapping {
        id: FIRST_VERTEX_BUFFER - nth,
        stride: 0,
        step_mode,
        attributes: Vec::new(),
    });
    let mut buffers: Vec<_> = by_turns.take(locations.len()).collect();
    for (nth, (location, ty)) in locations.into_iter().enumerate() {
        let buffer = &mut buffers[nth % steps.len()];
        let (format, size) = format(ty);
        buffer.attributes.push(AttributeMapping {
            shader_location: location,
            offset: buffer.stride,
            format,
        });
        buffer.stride += size;
    }
    buffers
}

/// The arguments of a function with their types, struct members each.
fn inputs<'a>(module: &'a Module, function: &'a naga::Function) -> Vec<(&'a Binding, &'a TypeInner)> {
    let mut found = Vec::new();
    for argument in &function.arguments {
        let ty = &module.types[argument.ty].inner;
        found.extend(argument.binding.as_ref().map(|binding| (binding, ty)));
        if let TypeInner::Struct { members, .. } = ty {
            let members = members.iter();
            found.extend(members.filter_map(|member| Some((member.binding.as_ref()?, &module.types[member.ty].inner))));
        }
    }
    found
}

/// The format of four bytes a component that fits a type, and its size in bytes.
fn format(ty: &TypeInner) -> (VertexFormat, u32) {
    use VertexFormat as F;
    let formats = match ty.scalar_kind() {
        Some(ScalarKind::Uint) => [F::Uint32, F::Uint32x2, F::Uint32x3, F::Uint32x4],
        Some(ScalarKind::Sint) => [F::Sint32, F::Sint32x2, F::Sint32x3, F::Sint32x4],
        _ => [F::Float32, F::Float32x2, F::Float32x3, F::Float32x4],
    };
    let components = match ty {
        TypeInner::Vector { size, .. } => *size as u32,
        _ => 1,
    };
    (formats[components as usize - 1], 4 * components)
}
