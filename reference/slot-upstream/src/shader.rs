// Included by the module of wgpu-hal 30 after `version.rs`: what takes modules of this crate's own naga.

use crate::{Shader, ShaderRequest};
use std::borrow::Cow;

/// What `load_shader` makes of a module as naga validated it: overrides processed, MSL written, sizes listed. The
/// runtime checks are wgpu's default, and workgroup memory is zeroed.
///
/// # Errors
///
/// Upstream's error, as it writes itself: overrides, the entry point, what naga's writer refuses, or the layout.
///
/// # Panics
///
/// As upstream does: where [`layout`] does, and on stages that Metal has not.
pub fn load_shader(
    module: &naga::Module,
    info: &naga::valid::ModuleInfo,
    request: &ShaderRequest<'_>,
) -> Result<Shader, String> {
    let groups: Vec<_> = request
        .groups
        .iter()
        .map(|group| group.map(bind_group_layout))
        .collect();
    let layout = pipeline_layout(&groups, request.immediate_size).map_err(|error| format!("{error:?}"))?;
    let source = hal::NagaShader {
        module: Cow::Owned(module.clone()),
        info: info.clone(),
        debug_source: None,
    };
    let stage = hal::ProgrammableStage {
        module: &metal::ShaderModule {
            source: metal::ShaderModuleSource::Naga(source),
            runtime_checks: externs::wgt::ShaderRuntimeChecks::default(),
        },
        entry_point: request.entry_point,
        constants: request.constants,
        zero_initialize_workgroup_memory: true,
    };
    let device = device(with_system(request.system, Device::msl_version));
    let class = objc2_metal::MTLPrimitiveTopologyClass::Unspecified;
    let load = || device.load_shader(&stage, request.vertex_buffers, &layout, class, request.stage);
    let shader = with_system(request.system, load).map_err(|error| format!("{error:?}"))?;
    let library = &shader.library.0;
    Ok(Shader {
        source: library.source.clone(),
        language_version: device.lang_version(),
        preserve_invariance: library.preserve_invariance,
        runtime_arrays: shader.sized_bindings,
        immutable_buffer_mask: shader.immutable_buffer_mask,
    })
}
