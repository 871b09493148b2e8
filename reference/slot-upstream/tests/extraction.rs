//! What the build says when a release of wgpu-hal no longer fits: the item, the file, the package, and how to mend it.

#[allow(dead_code, missing_docs)]
#[path = "../build/extract.rs"]
mod extract;
#[allow(dead_code, missing_docs)]
#[path = "../build/planted.rs"]
mod planted;

use extract::Package;
use rstest::rstest;

/// A wgpu-hal in a few lines: all that is wanted, and nothing else.
fn package() -> Package {
    let files = [
        ("src/lib.rs", "pub type Label = u8; \
            pub struct BindGroupDescriptor; pub struct BindGroupEntry; pub struct BufferBinding; \
            pub struct ExternalTextureBinding; pub struct PipelineLayoutDescriptor(Label); pub struct TextureBinding; \
            pub struct NagaShader; pub struct ProgrammableStage;"),
        ("src/auxil/mod.rs", "pub use wgpu_naga_bridge::map_naga_stage;"),
        ("src/metal/mod.rs", "pub struct Unreached; #[cfg(metal)] struct CommandState { count: u32 } \
            pub struct AccelerationStructure; pub struct BindGroup; pub struct BindGroupLayout; \
            pub struct BindGroupLayoutInfo; pub struct Buffer; pub struct ComputePipeline; pub struct PipelineLayout; \
            pub struct PipelineStageInfo; pub struct RenderPipeline; pub struct Sampler; pub struct Temp; \
            pub struct ShaderModule; pub struct ShaderModuleSource; \
            pub struct TextureView;"),
        ("src/metal/adapter.rs", "use objc2_metal::{MTLLanguageVersion, MTLUnreached}; \
            impl super::CapabilitiesQuery { fn new() { let msl_version = newest(); } } \
            fn newest() -> MTLLanguageVersion {} "),
        ("src/metal/command.rs", "impl crate::CommandEncoder for super::CommandEncoder { \
            fn set_bind_group(&self) { self.update_bind_group_state(); } fn set_immediates() {} fn draw() {} \
            fn set_render_pipeline() {} fn set_compute_pipeline() {} fn set_vertex_buffer() {} } \
            impl super::CommandEncoder { fn update_bind_group_state(&self) {} fn unreached() {} } \
            impl super::CommandState { fn reset(&mut self) {} fn make_sizes_buffer_update(&self) {} } \
            impl Default for super::CommandState { fn default() -> Self { Self { count: 0 } } }"),
        ("src/metal/conv.rs", "fn map_visible() -> crate::Label { 0 } fn unreached() {}"),
        ("src/metal/device.rs", "use crate::auxil::map_naga_stage; use super::conv; \
            impl crate::Device for super::Device { \
            fn create_pipeline_layout() { map_naga_stage(); debug_assert!(crate::Label::MAX > 0); } \
            fn create_bind_group() { conv::map_visible(); } \
            fn create_render_pipeline() { let mapping = naga::back::msl::VertexBufferMapping { id: 30 - i, stride: 4 }; } } \
            impl super::Device { fn load_shader(&self) { \
            let options = naga::back::msl::Options { lang_version: (1, 2), more: 3 }; \
            if available!(macos = 11.0) { options.setPreserveInvariance(true); } } }"),
    ];
    Package {
        version: "31.0.0".to_string(),
        files: files.into_iter().map(|(file, text)| (file, text.to_string())).collect(),
    }
}

fn without(file: &'static str, from: &str, to: &str) -> Package {
    let mut package = package();
    let text = package.files.get_mut(file).expect("a file of the package");
    assert!(text.contains(from), "{file} has {from}");
    *text = text.replace(from, to);
    package
}

#[test]
fn what_is_reached_is_taken_and_nothing_else() {
    let text = extract::extract(&package(), "crate::v31").unwrap();
    for taken in [
        "pub type Label = u8;",
        "pub struct CommandState {\n        pub count: u32,\n    }",
        "pub(crate) use crate::v31::externs::wgpu_naga_bridge::map_naga_stage as map_naga_stage;",
        "pub(crate) use crate::v31::hal::auxil::map_naga_stage as map_naga_stage;",
        "pub(crate) use crate::v31::externs::objc2_metal::MTLLanguageVersion as MTLLanguageVersion;",
        "pub use crate::v31::stand_ins::metal::Device;",
        "pub fn newest() -> MTLLanguageVersion",
        "pub fn map_visible() -> crate::v31::hal::Label",
        "debug_assert!(crate ::v31::hal::Label::MAX > 0);",
        "pub fn update_bind_group_state(&self)",
        "pub fn load_shader(&self)",
        "impl Default for super::CommandState",
        "pub fn lang_version(&self) -> (u8, u8) {\n                (1, 2)",
        "pub fn preserve_invariance() -> bool {\n                available!(macos = 11.0)",
        "pub fn vertex_buffer_id(&self, i: usize) -> u32 {\n                30 - i",
    ] {
        assert!(text.contains(taken), "no `{taken}` in\n{text}");
    }
    for left in ["nreached", "fn draw", "fn create_render_pipeline", "cfg"] {
        assert!(!text.contains(left), "`{left}` in\n{text}");
    }
}

#[rstest]
#[case::a_method(
    without("src/metal/device.rs", "fn create_pipeline_layout", "fn make_pipeline_layout"),
    "no method `create_pipeline_layout` of `Device` in src/metal/device.rs of wgpu-hal 31.0.0: \
     look where it went in that release and correct the lists at the top of reference/slot-upstream/build/extract.rs"
)]
#[case::a_method_of_another_type(
    without(
        "src/metal/command.rs",
        "impl super::CommandState { fn reset",
        "impl super::PassState { fn reset"
    ),
    "no method `reset` of `CommandState` in src/metal/command.rs of wgpu-hal 31.0.0: "
)]
#[case::a_type(
    without("src/metal/mod.rs", "pub struct Temp;", ""),
    "no type `Temp` in src/metal/mod.rs of wgpu-hal 31.0.0: "
)]
#[case::a_variable(
    without("src/metal/adapter.rs", "let msl_version", "let version"),
    "in `CapabilitiesQuery::new` no `let msl_version` in src/metal/adapter.rs of wgpu-hal 31.0.0: "
)]
#[case::a_field(
    without("src/metal/device.rs", "lang_version: (1, 2)", "version: (1, 2)"),
    "in `Device::load_shader` no field `lang_version` of a `Options` in src/metal/device.rs of wgpu-hal 31.0.0: "
)]
#[case::a_condition(
    without("src/metal/device.rs", "setPreserveInvariance", "setInvariance"),
    "in `Device::load_shader` no `if` around a call of `setPreserveInvariance` in src/metal/device.rs of wgpu-hal 31.0.0: "
)]
#[case::a_path_to_nothing(
    without("src/metal/conv.rs", "crate::Label", "crate::Words"),
    "`crate::Words` leads to nothing that is known, as used in src/metal/conv.rs of wgpu-hal 31.0.0: "
)]
#[case::a_file_of_something_else(
    without("src/metal/conv.rs", "fn map_visible()", "fn map_visible("),
    "src/metal/conv.rs of wgpu-hal 31.0.0 does not parse as Rust: "
)]
fn what_is_missing_is_named(#[case] package: Package, #[case] message: &str) {
    let error = extract::extract(&package, "crate::v31").unwrap_err();
    assert!(error.starts_with(message), "{error}");
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn a_rule_that_cannot_be_changed_is_named() {
    let error = planted::change(&package(), &planted::RULES[1]).unwrap_err();
    assert_eq!(
        error,
        "to plant groups_in_reverse, `desc.bind_group_layouts.iter().enumerate()` must be in src/metal/device.rs of \
         wgpu-hal 31.0.0 exactly once: correct reference/slot-upstream/build/planted.rs"
    );
}
