//! What entry points are translated with, and which there are.

use std::collections::BTreeMap;

use mslmap::{Extension, StageLayout};
use naga::Module;
use naga::back::PipelineConstants;
use naga::back::msl::{Options, PipelineOptions, VertexBufferMapping};
use wgpu_types::BindGroupLayoutEntry;

use crate::case::Stage;
use crate::pipeline::{PipelineError, Resolved, Written};

/// What an entry point is translated with.
pub(crate) struct Settings<'a> {
    pub groups: &'a [Option<&'a [BindGroupLayoutEntry]>],
    pub extension: Extension,
    pub version: (u8, u8),
    pub overrides: &'a BTreeMap<String, f64>,
}

impl Settings<'_> {
    /// The overrides as naga takes them.
    pub(super) fn constants(&self) -> PipelineConstants {
        self.overrides
            .iter()
            .map(|(key, &value)| (key.clone(), value))
            .collect()
    }
}

/// An entry point of a shader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub name: String,
    pub stage: Stage,
}

/// The entry points of the stages that Metal has.
pub(super) fn entry_points(module: &Module) -> Vec<Entry> {
    let entries = module.entry_points.iter();
    entries
        .filter_map(|entry| {
            let stage = Stage::ALL.into_iter().find(|stage| stage.naga() == entry.stage)?;
            Some(Entry {
                name: entry.name.clone(),
                stage,
            })
        })
        .collect()
}

/// The options for one entry point, the pipeline's part included.
pub(super) fn options(
    layout: &StageLayout,
    name: &str,
    version: (u8, u8),
    vertex_buffers: &[VertexBufferMapping],
) -> (Options, PipelineOptions) {
    let (mut options, mut pipeline) = layout.options(name);
    options.lang_version = version;
    pipeline.vertex_buffer_mappings = vertex_buffers.to_vec();
    (options, pipeline)
}

/// Writes an entry point.
///
/// # Errors
///
/// naga panicked.
pub(super) fn write(
    resolved: &Resolved<'_>,
    layout: &StageLayout,
    version: (u8, u8),
    vertex_buffers: &[VertexBufferMapping],
) -> Result<Written, PipelineError> {
    let (options, pipeline) = options(layout, &resolved.entry_point().name, version, vertex_buffers);
    resolved.try_write(&options, &pipeline)
}
