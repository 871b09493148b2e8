//! Which bindings have a size in `_buffer_sizes`.

use mslmap::{StageLayout, runtime_array_bindings};
use naga::ShaderStage;
use naga::back::msl::write_string;
use rstest::rstest;

use crate::shorthand::*;

#[rstest]
#[case::array("var<storage> v: array<u32>;", 1)]
#[case::array_of_structs("struct S { a: u32, b: u32 } @group(0) @binding(0) var<storage> v: array<S>;", 1)]
#[case::struct_ending_in_one("struct S { a: u32, b: array<vec4f> } @group(0) @binding(0) var<storage> v: S;", 1)]
#[case::struct_without(
    "struct S { a: u32, b: array<vec4f, 3> } @group(0) @binding(0) var<storage> v: S;",
    0
)]
#[case::fixed_array("var<storage> v: array<u32, 4>;", 0)]
#[case::scalar("var<storage> v: u32;", 0)]
#[case::uniform("var<uniform> v: vec4f;", 0)]
#[case::texture("var v: texture_2d<f32>;", 0)]
fn a_variable_counts_by_its_type(#[case] declaration: &str, #[case] count: usize) {
    let wgsl = match declaration.contains("@group") {
        true => declaration.to_owned(),
        false => format!("@group(0) @binding(0) {declaration}"),
    };
    let found = runtime_array_bindings(&shader(&wgsl).0).expect("bindings");
    assert_eq!(found, vec![at(0, 0); count]);
}

#[rstest]
#[case::of_arrays("binding_array<array<u32>, 4>", 1)]
#[case::of_structs("binding_array<Open, 4>", 1)]
#[case::unbounded("binding_array<Open>", 1)]
#[case::of_closed_structs("binding_array<Closed, 4>", 0)]
fn a_binding_array_counts_once(#[case] ty: &str, #[case] count: usize) {
    let wgsl = format!(
        "enable wgpu_binding_array;
         struct Open {{ a: u32, b: array<u32> }}
         struct Closed {{ a: u32 }}
         @group(2) @binding(9) var<storage> v: {ty};"
    );
    let module = naga::front::wgsl::parse_str(&wgsl).expect("WGSL");
    assert_eq!(
        runtime_array_bindings(&module).expect("bindings"),
        vec![at(2, 9); count]
    );
}

#[test]
fn a_binding_array_of_textures_does_not_count() {
    let wgsl = "enable wgpu_binding_array; @group(0) @binding(0) var v: binding_array<texture_2d<f32>>;";
    assert_eq!(
        runtime_array_bindings(&naga::front::wgsl::parse_str(wgsl).expect("WGSL")),
        Ok(vec![])
    );
}

#[test]
fn an_override_sized_array_does_not_count() {
    let (module, _) = shader(
        "override n: u32 = 4;
         var<workgroup> cells: array<u32, n>;
         @group(0) @binding(0) var<storage, read_write> out: array<u32>;
         @compute @workgroup_size(1) fn main() { out[0] = cells[1]; }",
    );
    assert_eq!(runtime_array_bindings(&module), Ok(vec![at(0, 0)]));
}

const DECLARATIONS: &str = "
    struct Tail { a: u32, rest: array<u32> }
    @group(3) @binding(7) var<storage> last: array<u32>;
    @group(0) @binding(1) var<uniform> plain: vec4f;
    var<private> scratch: u32;
    @group(1) @binding(2) var<storage> tail: Tail;
    @group(0) @binding(0) var<storage, read_write> first: array<u32>;
    @compute @workgroup_size(1) fn main() { first[0] = arrayLength(&first); }
";

#[test]
fn bindings_are_in_declaration_order_used_or_not() {
    let (module, _) = shader(DECLARATIONS);
    assert_eq!(runtime_array_bindings(&module), Ok(vec![at(3, 7), at(1, 2), at(0, 0)]));
}

#[test]
fn naga_writes_a_field_for_each() {
    let (module, info) = shader(DECLARATIONS);
    let layout = StageLayout::new(&[Some(&[entry(0, STORAGE)])], ShaderStage::Compute).expect("a layout");
    let (options, pipeline) = layout.options("main");
    let (msl, _) = write_string(&module, &info, &options, &pipeline).expect("MSL");
    let fields = "struct _mslBufferSizes {\n    uint size0;\n    uint size3;\n    uint size4;\n};";
    assert!(msl.contains(fields), "{msl}");
}

#[test]
fn no_variables_have_no_bindings() {
    assert_eq!(runtime_array_bindings(&naga::Module::default()), Ok(vec![]));
}

#[test]
fn the_first_variable_without_a_binding_is_named() {
    let (mut module, _) = shader(DECLARATIONS);
    for (_, global) in module.global_variables.iter_mut() {
        if global.name.as_deref() != Some("last") {
            global.binding = None;
        }
    }
    let error = runtime_array_bindings(&module).expect_err("an error");
    assert_eq!(error.global, "tail");
    assert_eq!(
        error.to_string(),
        "global variable tail holds a runtime-sized array but has no binding"
    );

    for (_, global) in module.global_variables.iter_mut() {
        global.name = None;
    }
    assert_eq!(runtime_array_bindings(&module).expect_err("an error").global, "#3");
}

#[test]
fn a_variable_of_another_type_needs_no_binding() {
    let (mut module, _) = shader(DECLARATIONS);
    for (_, global) in module.global_variables.iter_mut() {
        if global.name.as_deref() == Some("plain") {
            global.binding = None;
        }
    }
    assert_eq!(runtime_array_bindings(&module).map(|found| found.len()), Ok(3));
}
