//! Which bindings' sizes naga's `_buffer_sizes` argument holds.

use naga::{GlobalVariable, Handle, Module, ResourceBinding};

/// A global variable that holds a runtime-sized array but has no binding, so that no buffer can give its size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("global variable {global} holds a runtime-sized array but has no binding")]
pub struct RuntimeArrayError {
    /// The variable's name; for a variable without one, its index in the module's arena after a `#`.
    pub global: String,
}

/// The bindings of the global variables that hold a runtime-sized array, in the arena order of the module's global
/// variables, whether an entry point uses them or not.
///
/// Such a variable's type is a runtime-sized array, a struct whose last member is one, or a binding array of either, which
/// counts once. An array whose size is an override is not runtime-sized. naga's `_buffer_sizes` has one u32 for each (an
/// array of them for a binding array), in this order and whichever entry point it writes, so the module must be the very one
/// that the writer is given, after overrides. Each u32 is to hold the byte size of what is bound there.
///
/// # Errors
///
/// The first such variable that has no binding. A module that naga's validator accepts has none.
///
/// Source: section 3 of the spec (`load_shader`'s `sized_bindings`, naga's `_mslBufferSizes`).
pub fn runtime_array_bindings(module: &Module) -> Result<Vec<ResourceBinding>, RuntimeArrayError> {
    module
        .global_variables
        .iter()
        // The predicate is the writer's own: the two lists cannot come apart.
        .filter(|(_, global)| module.types[global.ty].inner.needs_host_buffer_byte_size(&module.types))
        .map(|(handle, global)| {
            global.binding.ok_or_else(|| RuntimeArrayError {
                global: name_of(handle, global),
            })
        })
        .collect()
}

fn name_of(handle: Handle<GlobalVariable>, global: &GlobalVariable) -> String {
    global.name.clone().unwrap_or_else(|| format!("#{}", handle.index()))
}
