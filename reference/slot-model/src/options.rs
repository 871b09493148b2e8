//! Section 3: the options that every shader starts from.

use naga::back::msl::Options;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};

/// The facts that section 3 states of `BaseOptions`, and so of `StageLayout::options`, in naga's own types.
///
/// The language version is the caller's and the map is the layout's; neither is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedOptions {
    /// Restrict on index, buffer and image load, Unchecked on binding arrays.
    pub bounds_check_policies: BoundsCheckPolicies,
    /// False: a missing binding is refused.
    pub fake_missing_bindings: bool,
    /// True.
    pub zero_initialize_workgroup_memory: bool,
    /// True.
    pub force_loop_bounding: bool,
    /// Whether every field that section 3 does not name is naga's default.
    pub others_default: bool,
}

impl ExpectedOptions {
    /// The same facts of options that were built elsewhere, to compare with [`expected_options`] by `==`.
    ///
    /// It names every field of naga's, so that a new one stops the build here instead of going unchecked.
    pub fn of(options: &Options) -> Self {
        let Options {
            lang_version: _,
            per_entry_point_map: _,
            inline_samplers,
            spirv_cross_compatibility,
            fake_missing_bindings,
            bounds_check_policies,
            zero_initialize_workgroup_memory,
            force_loop_bounding,
            task_dispatch_limits,
            mesh_shader_primitive_indices_clamp,
            emit_int_div_checks,
            ray_query_initialization_tracking,
        } = options;
        let naga = Options::default();
        Self {
            bounds_check_policies: *bounds_check_policies,
            fake_missing_bindings: *fake_missing_bindings,
            zero_initialize_workgroup_memory: *zero_initialize_workgroup_memory,
            force_loop_bounding: *force_loop_bounding,
            others_default: *inline_samplers == naga.inline_samplers
                && *spirv_cross_compatibility == naga.spirv_cross_compatibility
                && *task_dispatch_limits == naga.task_dispatch_limits
                && *mesh_shader_primitive_indices_clamp == naga.mesh_shader_primitive_indices_clamp
                && *emit_int_div_checks == naga.emit_int_div_checks
                && *ray_query_initialization_tracking == naga.ray_query_initialization_tracking,
        }
    }
}

/// Section 3's `BaseOptions`, as far as they do not depend on a layout or a system.
pub fn expected_options() -> ExpectedOptions {
    ExpectedOptions {
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            image_load: BoundsCheckPolicy::Restrict,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        fake_missing_bindings: false,
        zero_initialize_workgroup_memory: true,
        force_loop_bounding: true,
        others_default: true,
    }
}
