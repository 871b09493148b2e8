//! Which MSL version an entry point needs (slots.md, section 4, property 7).
//!
//! The rows are those features of naga 30.0.2 that have a first version in Apple's Metal Shading Language specification and
//! that its writer knows to be newer than MSL 1.0.

use naga::valid::FunctionInfo;
use naga::{AddressSpace, Binding, BuiltIn, ImageClass, Interpolation, Module, ShaderStage, StorageAccess, TypeInner};

/// A version, and what needs it.
pub(super) type Need = ((u8, u8), &'static str);

/// What an entry point and the module around it need.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Needed by the entry point's interface or by the module as a whole: always written.
    interface: Vec<Need>,
    /// Needed by an expression of the module, which is not written when nothing uses its value.
    expressions: Vec<Need>,
}

/// Functions of MSL that only stand in a text when it needs a version.
const FUNCTIONS: [((u8, u8), &str); 6] = [
    ((1, 2), "metal::reverse_bits("),
    ((1, 2), "metal::extract_bits("),
    ((1, 2), "metal::insert_bits("),
    ((2, 3), "simdgroup_load("),
    ((2, 3), "simdgroup_multiply_accumulate("),
    ((2, 4), "metal::raytracing::"),
];

impl Needs {
    /// What the version lacks and naga may refuse for: the newest.
    pub fn may_refuse(&self, version: (u8, u8)) -> Option<Need> {
        let needs = self.interface.iter().chain(&self.expressions);
        needs.copied().filter(|need| need.0 > version).max()
    }

    /// What the version lacks and naga must have refused for: the newest, by the interface and by the text written.
    pub fn must_refuse(&self, version: (u8, u8), text: &str) -> Option<Need> {
        let written = FUNCTIONS.iter().filter(|(_, function)| text.contains(function));
        self.interface
            .iter()
            .chain(written)
            .copied()
            .filter(|need| need.0 > version)
            .max()
    }
}

/// Collects what an entry point needs.
pub(super) fn needs(module: &Module, entry: usize, uses: &FunctionInfo) -> Needs {
    let mut needs = Needs::default();
    if module.uses_mesh_shaders() {
        needs.interface.push(((3, 0), "mesh shaders"));
    }
    if module.special_types.ray_desc.is_some() || module.special_types.ray_intersection.is_some() {
        needs.interface.push(((2, 4), "ray queries"));
    }
    let entry = &module.entry_points[entry];
    for binding in bindings(module, &entry.function) {
        needs.interface.extend(binding_needs(binding, entry.stage));
    }
    for (handle, global) in module.global_variables.iter() {
        if !uses[handle].is_empty() {
            needs.interface.extend(global_need(module, global, entry.stage));
        }
    }
    let functions = module
        .functions
        .iter()
        .map(|(_, function)| function)
        .chain([&entry.function]);
    needs
        .expressions
        .extend(
            functions
                .flat_map(|function| function.expressions.iter())
                .filter_map(|(_, expression)| {
                    use naga::{Expression as E, MathFunction as M};
                    match expression {
                        E::Math {
                            fun: M::ReverseBits | M::ExtractBits | M::InsertBits,
                            ..
                        } => Some(((1, 2), "bit functions")),
                        E::RayQueryGetIntersection { .. } | E::RayQueryProceedResult => Some(((2, 4), "ray queries")),
                        E::CooperativeLoad { .. } | E::CooperativeMultiplyAdd { .. } => {
                            Some(((2, 3), "cooperative matrices"))
                        }
                        _ => None,
                    }
                }),
        );
    needs
}

/// The bindings of a function's arguments and result, struct members each.
fn bindings<'a>(module: &'a Module, function: &'a naga::Function) -> Vec<(bool, &'a Binding)> {
    let arguments = function
        .arguments
        .iter()
        .map(|argument| (true, argument.ty, &argument.binding));
    let results = function.result.iter().map(|result| (false, result.ty, &result.binding));
    let mut found = Vec::new();
    for (is_input, ty, binding) in arguments.chain(results) {
        found.extend(binding.as_ref().map(|binding| (is_input, binding)));
        if let TypeInner::Struct { members, .. } = &module.types[ty].inner {
            found.extend(
                members
                    .iter()
                    .filter_map(|member| Some((is_input, member.binding.as_ref()?))),
            );
        }
    }
    found
}

fn binding_needs((is_input, binding): (bool, &Binding), stage: ShaderStage) -> Option<Need> {
    match *binding {
        Binding::BuiltIn(BuiltIn::Position { invariant: true }) => Some(((2, 1), "@invariant")),
        Binding::BuiltIn(BuiltIn::InstanceIndex | BuiltIn::BaseInstance) => Some(((1, 2), "instance_index")),
        Binding::BuiltIn(BuiltIn::PrimitiveIndex) => Some(((2, 3), "primitive_index")),
        Binding::BuiltIn(BuiltIn::ViewIndex) => Some(((2, 2), "view_index")),
        Binding::BuiltIn(BuiltIn::Barycentric { .. }) => Some(((2, 3), "barycentric")),
        Binding::Location { blend_src: Some(_), .. } if !is_input && stage == ShaderStage::Fragment => {
            Some(((1, 2), "blend_src"))
        }
        Binding::Location {
            interpolation: Some(Interpolation::PerVertex),
            ..
        } if is_input => Some(((4, 0), "per-vertex input")),
        _ => None,
    }
}

fn global_need(module: &Module, global: &naga::GlobalVariable, stage: ShaderStage) -> Option<Need> {
    let storage = |class: ImageClass| {
        if let ImageClass::Storage { access, .. } = class {
            Some(access)
        } else {
            None
        }
    };
    match (global.space, &module.types[global.ty].inner) {
        (AddressSpace::Storage { access }, _) => (access.contains(StorageAccess::STORE)
            && stage == ShaderStage::Fragment)
            .then_some(((1, 2), "writable storage buffers in a fragment shader")),
        (AddressSpace::Handle, TypeInner::Image { class, .. }) => {
            let access = storage(*class)?;
            let outside_compute = matches!(stage, ShaderStage::Vertex | ShaderStage::Fragment);
            let needs = access.contains(StorageAccess::STORE) && outside_compute
                || access.contains(StorageAccess::LOAD | StorageAccess::STORE);
            needs.then_some(((1, 2), "writable storage textures"))
        }
        (AddressSpace::Handle, TypeInner::BindingArray { base, .. }) => match module.types[*base].inner {
            TypeInner::Image { class, .. } => match storage(class) {
                Some(access) if access != StorageAccess::LOAD && access != StorageAccess::STORE => {
                    Some(((3, 0), "arrays of read-write textures"))
                }
                _ => Some(((2, 0), "arrays of textures")),
            },
            TypeInner::Sampler { .. } => Some(((2, 0), "arrays of samplers")),
            _ => None,
        },
        _ => None,
    }
}
