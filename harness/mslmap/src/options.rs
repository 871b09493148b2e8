//! The options that naga's MSL writer is given.

use naga::back::msl::{EntryPointResourceMap, EntryPointResources, Options, PipelineOptions};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};

use crate::stage_layout::StageLayout;

/// The options that every Metal shader starts from, before any binding map.
///
/// Indices, buffer accesses and image loads are restricted to their bounds, but for the index into a binding array;
/// workgroup memory starts as zeros; loops are bounded; a missing binding is an error. All else is naga's default, the
/// language version (1.0) too: the caller sets it, as [`language_version`](crate::language_version) says.
///
/// Source: section 3 of the spec (`load_shader`).
pub fn base_options() -> Options {
    Options {
        per_entry_point_map: EntryPointResourceMap::new(),
        fake_missing_bindings: false,
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            image_load: BoundsCheckPolicy::Restrict,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: true,
        force_loop_bounding: true,
        ..Options::default()
    }
}

impl StageLayout {
    /// The options that make naga write one entry point of this layout's stage, with this layout's slots.
    ///
    /// The first part is [`base_options`] with the layout's map under that name alone; the caller sets its `lang_version`.
    /// The second selects the entry point by stage and name: naga writes no other, and fails as a whole when there is none. It
    /// says whether vertices are pulled; the caller sets what only a render pipeline knows, the `vertex_buffer_mappings` and
    /// `allow_and_force_point_size`.
    ///
    /// A resource that the entry point uses and the layout lacks, or has in another table, is not such a failure: naga then
    /// succeeds but writes no entry point, and `TranslationInfo::entry_point_names` holds the error in its place. When the
    /// sizes slot is missing as well, that is the one error it holds.
    ///
    /// Source: sections 2 and 3 of the spec (`load_shader`).
    pub fn options(&self, entry_point: &str) -> (Options, PipelineOptions) {
        let resources = EntryPointResources {
            resources: self
                .resources
                .iter()
                .map(|(&at, target)| (at, target.clone()))
                .collect(),
            immediates_buffer: self.immediates_slot,
            sizes_buffer: self.sizes_slot,
        };
        let options = Options {
            per_entry_point_map: EntryPointResourceMap::from([(entry_point.to_owned(), resources)]),
            ..base_options()
        };
        let pipeline_options = PipelineOptions {
            entry_point: Some((self.stage, entry_point.to_owned())),
            vertex_pulling_transform: self.vertex_pulling,
            binding_array_length_map: self
                .binding_array_lengths
                .iter()
                .map(|(&at, &count)| (at, count))
                .collect(),
            ..PipelineOptions::default()
        };
        (options, pipeline_options)
    }
}
