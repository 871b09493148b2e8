//! The options, and what naga writes under them.

use mslmap::{StageLayout, base_options};
use naga::ShaderStage;
use naga::back::msl::{EntryPointError, Error, Options, PipelineOptions, write_string};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use rstest::rstest;
use wgpu_types::{BindGroupLayoutEntry, ShaderStages};

use crate::shorthand::*;

const SHADER: &str = "
    struct Lights { count: u32, at: array<vec4f> }
    @group(0) @binding(0) var<uniform> scale: vec4f;
    @group(0) @binding(1) var colour: texture_2d<f32>;
    @group(0) @binding(2) var blend_by: sampler;
    @group(1) @binding(0) var<storage> lights: Lights;
    @group(1) @binding(1) var<storage, read_write> hits: array<u32>;

    @vertex fn place(@location(0) p: vec4f) -> @builtin(position) vec4f { return p * scale; }
    @fragment fn shade(@builtin(position) p: vec4f) -> @location(0) vec4f {
        let l = lights.at[u32(p.x)];
        return textureSample(colour, blend_by, p.xy) * l * scale;
    }
    @compute @workgroup_size(1) fn count() { hits[0] = arrayLength(&lights.at); }
";

fn layout(stage: ShaderStage) -> StageLayout {
    let first = [entry(2, SAMPLER), entry(1, TEXTURE), entry(0, UNIFORM)];
    let second = [entry(0, READ_ONLY), entry(1, STORAGE)];
    StageLayout::new(&[Some(&first), Some(&second)], stage).expect("a layout")
}

/// What naga writes for one entry point, and the names it gives.
fn written(
    wgsl: &str,
    (mut options, pipeline): (Options, PipelineOptions),
) -> Result<(String, Vec<Result<String, EntryPointError>>), Error> {
    options.lang_version = (2, 4);
    let (module, info) = shader(wgsl);
    let (msl, translation) = write_string(&module, &info, &options, &pipeline)?;
    Ok((msl, translation.entry_point_names))
}

#[test]
fn base_options_are_the_specs() {
    // Every field, so that one that naga adds is looked at here.
    let expected = Options {
        lang_version: (1, 0),
        per_entry_point_map: Default::default(),
        inline_samplers: vec![],
        spirv_cross_compatibility: false,
        fake_missing_bindings: false,
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            image_load: BoundsCheckPolicy::Restrict,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: true,
        force_loop_bounding: true,
        task_dispatch_limits: None,
        mesh_shader_primitive_indices_clamp: true,
        emit_int_div_checks: true,
        ray_query_initialization_tracking: true,
    };
    assert_eq!(base_options(), expected);
}

#[test]
fn a_layouts_options_are_the_base_and_its_map_under_one_name() {
    let layout = layout(ShaderStage::Fragment);
    let (mut options, pipeline) = layout.options("shade");
    let map = std::mem::take(&mut options.per_entry_point_map);
    assert_eq!(options, base_options());
    assert_eq!(map.keys().collect::<Vec<_>>(), ["shade"]);
    let resources: Vec<_> = map["shade"].resources.iter().collect();
    assert_eq!(resources, layout.resources.iter().collect::<Vec<_>>());
    assert_eq!(map["shade"].sizes_buffer, Some(3));
    assert_eq!(map["shade"].immediates_buffer, None);
    assert_eq!(pipeline.entry_point, Some((ShaderStage::Fragment, "shade".to_owned())));
    assert!(!pipeline.allow_and_force_point_size);
    assert!(!pipeline.vertex_pulling_transform);
    assert!(pipeline.vertex_buffer_mappings.is_empty());
    assert!(pipeline.binding_array_length_map.is_empty());
}

#[rstest]
#[case(ShaderStage::Vertex, "place", &["scale [[buffer(0)]]"])]
#[case(ShaderStage::Fragment, "shade",
    &["scale [[buffer(0)]]", "colour [[texture(0)]]", "blend_by [[sampler(0)]]", "lights [[buffer(1)]]",
      "_buffer_sizes [[buffer(3)]]"])]
#[case(ShaderStage::Compute, "count", &["lights [[buffer(1)]]", "hits [[buffer(2)]]", "_buffer_sizes [[buffer(3)]]"])]
fn naga_writes_the_entry_point_alone_with_the_layouts_slots(
    #[case] stage: ShaderStage,
    #[case] name: &str,
    #[case] arguments: &[&str],
) {
    let (msl, names) = written(SHADER, layout(stage).options(name)).expect("MSL");
    assert_eq!(names.len(), 1);
    for (declaration, of) in [
        ("vertex placeOutput place(", "place"),
        ("fragment shadeOutput shade(", "shade"),
        ("kernel void count(", "count"),
    ] {
        assert_eq!(msl.contains(declaration), of == name, "{msl}");
    }
    for argument in arguments {
        assert!(msl.contains(argument), "{argument} in\n{msl}");
    }
    let slots = ["[[buffer(", "[[texture(", "[[sampler("].map(|table| msl.matches(table).count());
    assert_eq!(slots.iter().sum::<usize>(), arguments.len(), "{msl}");
}

#[test]
fn naga_restricts_and_bounds_as_the_base_options_say() {
    let wgsl = "
        @group(0) @binding(0) var<storage, read_write> cells: array<u32>;
        @group(0) @binding(1) var image: texture_2d<f32>;
        var<workgroup> shared_cells: array<u32, 4>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) at: vec3u) {
            var i = at.x;
            loop { if i == 0u { break; } shared_cells[i] = 1u; i -= 1u; }
            cells[at.y] = shared_cells[i] + u32(textureLoad(image, at.xy, 0).x);
        }";
    let entries = [entry(0, STORAGE), entry(1, TEXTURE)];
    let layout = StageLayout::new(&[Some(&entries)], ShaderStage::Compute).expect("a layout");
    let (msl, _) = written(wgsl, layout.options("main")).expect("MSL");
    for sign in ["metal::min(unsigned(", "loop_bound", "shared_cells = {}", "get_width("] {
        assert!(msl.contains(sign), "{sign} in\n{msl}");
    }
}

#[rstest]
#[case::absent(vec![entry(0, STORAGE)], EntryPointError::MissingBindTarget(at(0, 1)))]
#[case::unseen(vec![entry(0, STORAGE), seen_by(ShaderStages::VERTEX, 1, STORAGE)],
    EntryPointError::MissingBindTarget(at(0, 1)))]
#[case::another_table(vec![entry(0, STORAGE), entry(1, TEXTURE)], EntryPointError::MissingBindTarget(at(0, 1)))]
#[case::no_sizes(vec![entry(1, UNIFORM)], EntryPointError::MissingSizesBuffer)]
// naga names the sizes slot when it misses both.
#[case::absent_and_no_sizes(vec![], EntryPointError::MissingSizesBuffer)]
fn a_resource_that_the_layout_lacks_is_refused(
    #[case] entries: Vec<BindGroupLayoutEntry>,
    #[case] refusal: EntryPointError,
) {
    let wgsl = "@group(0) @binding(1) var<storage, read_write> cells: array<u32>;
        @compute @workgroup_size(1) fn main() { cells[0] = arrayLength(&cells); }";
    let layout = StageLayout::new(&[Some(&entries)], ShaderStage::Compute).expect("a layout");
    let (msl, names) = written(wgsl, layout.options("main")).expect("a translation");
    assert_eq!(names, [Err(refusal)]);
    assert!(!msl.contains("kernel"), "{msl}");
}

#[rstest]
#[case::no_such_name(ShaderStage::Compute, "shade")]
#[case::another_stage(ShaderStage::Vertex, "count")]
fn an_entry_point_that_the_module_lacks_is_refused(#[case] stage: ShaderStage, #[case] name: &str) {
    let result = written(SHADER, layout(stage).options(name));
    assert!(
        matches!(result, Err(Error::EntryPointNotFound(s, ref n)) if s == stage && n == name),
        "{result:?}"
    );
}

#[test]
fn one_module_serves_two_layouts() {
    let wgsl = "@group(0) @binding(5) var image: texture_2d<f32>;
        @group(0) @binding(6) var<storage, read_write> out: vec4f;
        @compute @workgroup_size(1) fn main() { out = textureLoad(image, vec2(0), 0); }";
    let used = [entry(5, TEXTURE), entry(6, STORAGE)];
    let after_three = [many(3, TEXTURE), used.to_vec()].concat();
    for (entries, slot) in [
        (&used[..], "image [[texture(0)]]"),
        (&after_three, "image [[texture(3)]]"),
    ] {
        let layout = StageLayout::new(&[Some(entries)], ShaderStage::Compute).expect("a layout");
        let (msl, _) = written(wgsl, layout.options("main")).expect("MSL");
        assert!(msl.contains(slot), "{slot} in\n{msl}");
    }
}
