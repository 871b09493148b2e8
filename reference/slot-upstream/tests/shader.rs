//! Shaders by wgpu-hal's own `load_shader`: its options, its list of runtime-sized arrays, its compiler options.

mod common;

use common::*;
use naga::back::PipelineConstants;
use naga::ShaderStage;
use slot_upstream::{load_shader, Platform, Shader, ShaderRequest, System};
use wgpu_types::{BindGroupLayoutEntry, ShaderStages};

const WGSL: &str = "
    override width: u32 = 4u;
    struct Tail { count: u32, items: array<u32> }
    @group(0) @binding(2) var<storage, read_write> unused: array<vec4f>;
    @group(0) @binding(3) var<uniform> scale: u32;
    @group(0) @binding(1) var<storage, read> source: Tail;
    @group(0) @binding(0) var<storage, read_write> sink: array<u32>;
    @compute @workgroup_size(width) fn main(@builtin(global_invocation_id) at: vec3u) {
        for (var i = 0u; i < arrayLength(&source.items); i++) {
            sink[at.x] += source.items[i] * scale;
        }
    }
";

fn load(entries: &[BindGroupLayoutEntry], entry_point: &str, system: System) -> Result<Shader, String> {
    let module = naga::front::wgsl::parse_str(WGSL).unwrap();
    let mut validator =
        naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::empty());
    let info = validator.validate(&module).unwrap();
    let request = ShaderRequest {
        stage: ShaderStage::Compute,
        entry_point,
        constants: &PipelineConstants::from([("width".to_string(), 8.0)]),
        vertex_buffers: &[],
        groups: &[Some(entries)],
        immediate_size: 0,
        system,
    };
    load_shader(&module, &info, &request)
}

fn entries() -> [BindGroupLayoutEntry; 4] {
    let stages = ShaderStages::COMPUTE;
    [
        entry(0, stages, storage(false)),
        entry(1, stages, storage(true)),
        entry(2, stages, storage(false)),
        entry(3, stages, uniform(false)),
    ]
}

const MACOS_13: System = System {
    platform: Platform::MacOs,
    major: 13,
    minor: 0,
};

#[test]
fn a_shader_is_compiled_as_wgpu_compiles_it() {
    let shader = load(&entries(), "main", MACOS_13).unwrap();
    assert_eq!(shader.language_version, (3, 0));
    assert!(shader.preserve_invariance);
    assert!(
        shader.source.starts_with("// language: metal3.0\n"),
        "{}",
        shader.source
    );
    for argument in [
        "[[buffer(0)]]",
        "[[buffer(1)]]",
        "[[buffer(3)]]",
        "_buffer_sizes [[buffer(4)]]",
    ] {
        assert!(shader.source.contains(argument), "no {argument} in {}", shader.source);
    }
    assert!(!shader.source.contains("[[buffer(2)]]"), "{}", shader.source);
    // In the order of declaration. What the entry point does not reach went when the overrides were processed.
    assert_eq!(shader.runtime_arrays, [(binding(0, 1), 0), (binding(0, 0), 0)]);
    // The source and the scale.
    assert_eq!(shader.immutable_buffer_mask, 0b1010);
}

#[test]
fn an_older_system_has_an_older_language() {
    let shader = load(
        &entries(),
        "main",
        System {
            platform: Platform::MacOs,
            major: 10,
            minor: 15,
        },
    )
    .unwrap();
    assert_eq!((shader.language_version, shader.preserve_invariance), ((2, 2), false));
    assert!(
        shader.source.starts_with("// language: metal2.2\n"),
        "{}",
        shader.source
    );
}

#[test]
fn what_upstream_refuses_is_its_own_error() {
    let lacking = load(&entries()[..3], "main", MACOS_13).unwrap_err();
    let missing = "mapping of ResourceBinding { group: 0, binding: 3 } is missing";
    assert_eq!(lacking, format!("Linkage(ShaderStages(COMPUTE), \"{missing}\")"));
    let unknown = load(&entries(), "other", MACOS_13).unwrap_err();
    assert!(
        unknown.contains("EntryPointNotFound(Compute, \\\"other\\\")"),
        "{unknown}"
    );
}
