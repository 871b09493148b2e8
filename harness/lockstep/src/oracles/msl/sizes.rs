//! Property 3: where `_buffer_sizes` is, and what it holds.

use mslmap::StageLayout;
use naga::back::msl::VertexBufferMapping;
use naga::{GlobalVariable, Handle, Module, TypeInner};

use super::EntryCheck;
use crate::msl::arguments::{Argument, SizeField};
use crate::pipeline::Resolved;

impl EntryCheck<'_> {
    /// naga passes the argument along with every resource that holds a runtime-sized array, also where nothing asks for the
    /// length, and to every function that pulls vertices; so it must be there when something asks, and must not when there is no
    /// such resource.
    pub fn sizes(&mut self, resolved: &Resolved<'_>, layout: &StageLayout, pulled: bool, arguments: &[&Argument]) {
        let used = pulled || uses_runtime_array(resolved);
        match arguments {
            [] if pulled || used && asks_for_length(resolved) => self.problem(3, "_buffer_sizes is missing"),
            [] => {}
            [argument] if !used => self.problem(3, format!("_buffer_sizes at buffer {} without need", argument.index)),
            [argument] if layout.sizes_slot.map(u32::from) != Some(argument.index) => {
                let (index, slot) = (argument.index, layout.sizes_slot);
                self.problem(3, format!("_buffer_sizes at buffer {index}, the layout says {slot:?}"));
            }
            [_] => {}
            _ => self.problem(3, "more than one _buffer_sizes"),
        }
    }

    /// The fields of `_mslBufferSizes`, which follow from the module and the vertex buffers, whatever the entry point uses.
    pub fn size_fields(
        &mut self,
        module: &Module,
        layout: &StageLayout,
        vertex_buffers: &[VertexBufferMapping],
        fields: Option<&[SizeField]>,
    ) {
        let of_arrays = runtime_arrays(module).map(|(handle, global)| SizeField {
            name: format!("size{}", handle.index()),
            count: array_count(module, layout, global),
        });
        let of_vertex_buffers = vertex_buffers.iter().map(|buffer| SizeField {
            name: format!("buffer_size{}", buffer.id),
            count: None,
        });
        let expected: Vec<_> = of_arrays.chain(of_vertex_buffers).collect();
        let found = fields.unwrap_or_default();
        if found != expected {
            let detail = format!("_buffer_sizes has the fields {found:?}, expected {expected:?}");
            self.problem(3, detail);
        }
        let bindings: Vec<_> = runtime_arrays(module).map(|(_, global)| global.binding).collect();
        let told = mslmap::runtime_array_bindings(module).map(|told| told.into_iter().map(Some).collect());
        if told.as_ref() != Ok(&bindings) {
            let detail = format!("RuntimeArrayBindings says {told:?}, the module {bindings:?}");
            self.problem(3, detail);
        }
    }
}

/// The bindings that RuntimeArrayBindings is due to give; none where one of them has no binding.
pub fn runtime_array_bindings(module: &Module) -> Option<Vec<naga::ResourceBinding>> {
    runtime_arrays(module).map(|(_, global)| global.binding).collect()
}

/// Whether the entry point reaches a global with a runtime-sized array.
pub(super) fn uses_runtime_array(resolved: &Resolved<'_>) -> bool {
    let mut used = resolved.used();
    used.any(|(_, global, _)| is_runtime_array(&resolved.module, global.ty))
}

fn runtime_arrays(module: &Module) -> impl Iterator<Item = (Handle<GlobalVariable>, &GlobalVariable)> {
    let globals = module.global_variables.iter();
    globals.filter(|(_, global)| is_runtime_array(module, global.ty))
}

/// Whether a type is what `_buffer_sizes` has a field for: a runtime-sized array, a struct that ends in one, or a binding
/// array of either (slots.md, section 3).
fn is_runtime_array(module: &Module, ty: Handle<naga::Type>) -> bool {
    let is_runtime = |ty: Handle<naga::Type>| {
        matches!(
            module.types[ty].inner,
            TypeInner::Array {
                size: naga::ArraySize::Dynamic,
                ..
            }
        )
    };
    match &module.types[ty].inner {
        TypeInner::Struct { members, .. } => members.last().is_some_and(|last| is_runtime(last.ty)),
        TypeInner::BindingArray { base, .. } => is_runtime_array(module, *base),
        _ => is_runtime(ty),
    }
}

/// The length of a binding array's field: the shader's own or the layout's, whichever is more, and at least 1.
fn array_count(module: &Module, layout: &StageLayout, global: &GlobalVariable) -> Option<u32> {
    let TypeInner::BindingArray { size, .. } = module.types[global.ty].inner else {
        return None;
    };
    let of_shader = match size {
        naga::ArraySize::Constant(count) => count.get(),
        _ => 0,
    };
    let of_layout = global.binding.and_then(|at| layout.binding_array_lengths.get(&at));
    Some(of_shader.max(of_layout.copied().unwrap_or(0)).max(1))
}

/// Whether the entry point's own body asks for the length of a runtime-sized array, or indexes one. What functions that it
/// calls ask for is not looked at.
fn asks_for_length(resolved: &Resolved<'_>) -> bool {
    let (uses, types) = (resolved.uses(), &resolved.module.types);
    let mut expressions = resolved.entry_point().function.expressions.iter();
    expressions.any(|(_, expression)| match *expression {
        naga::Expression::ArrayLength(_) => true,
        naga::Expression::Access { base, .. } | naga::Expression::AccessIndex { base, .. } => {
            let pointee = uses[base].ty.inner_with(types).pointer_base_type();
            let inner = pointee.as_ref().map(|pointee| pointee.inner_with(types));
            matches!(
                inner,
                Some(TypeInner::Array {
                    size: naga::ArraySize::Dynamic,
                    ..
                })
            )
        }
        _ => false,
    })
}
