//! Each error of naga's pipeline (slots.md, section 4), with what it says.

use std::collections::BTreeMap;

use lockstep::case::Stage;
use lockstep::pipeline::{PipelineError, Shader};
use mslmap::StageLayout;
use naga::back::msl::EntryPointError;
use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

const SHADER: &str = "
    @id(7) override scale: f32 = 2.0;
    override count: u32;
    override depth: i32 = 0;
    override fast: bool = false;
    @group(0) @binding(1) var<uniform> tint: vec4f;
    @fragment fn shade() -> @location(0) vec4f { return tint; }
    @compute @workgroup_size(count) fn fill() { if fast { _ = scale * f32(depth); } }";

/// What goes wrong when an entry point of a text is resolved with these overrides and written for MSL 4.0 with this layout.
fn run(
    wgsl: &str,
    (stage, name): (Stage, &str),
    overrides: &[(&str, f64)],
    groups: &[Option<&[BindGroupLayoutEntry]>],
    version: (u8, u8),
) -> Result<String, PipelineError> {
    let overrides: BTreeMap<_, _> = overrides.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
    let shader = Shader::new(wgsl, "a.wgsl")?;
    let resolved = shader.resolve(stage, name, &overrides)?;
    let layout = StageLayout::new(groups, stage.naga()).expect("a layout");
    let (mut options, pipeline) = layout.options(name);
    options.lang_version = version;
    Ok(resolved.write(&options, &pipeline)?.text)
}

/// The error for the compute entry point of `SHADER`.
fn fill(overrides: &[(&str, f64)]) -> PipelineError {
    run(SHADER, (Stage::Compute, "fill"), overrides, &[], (4, 0)).expect_err("refused")
}

fn said(error: &PipelineError) -> String {
    error.to_string()
}

#[test]
fn what_is_right_is_written() {
    let text = run(
        SHADER,
        (Stage::Compute, "fill"),
        &[("count", 8.0), ("7", 1.5)],
        &[],
        (3, 1),
    )
    .expect("written");
    assert!(text.starts_with("// language: metal3.1\n"), "{text}");
    assert!(text.contains("kernel void fill("), "{text}");
}

#[test]
fn wgsl_syntax() {
    let error = Shader::new("fn f() {\n  return 1 +;\n}", "dir/a.wgsl").expect_err("no WGSL");
    assert_eq!(said(&error), "2:13: expected expression, found \";\"");
    let PipelineError::Syntax(diagnostic) = error else {
        panic!("{error:?}")
    };
    assert_eq!(diagnostic.place, Some((2, 13)));
    assert!(diagnostic.report.contains("dir/a.wgsl:2:13"), "{}", diagnostic.report);
    let unknown = Shader::new("fn f() -> u32 { return g(); }", "a.wgsl").expect_err("no such function");
    assert!(
        matches!(&unknown, PipelineError::Syntax(found) if found.place == Some((1, 24))),
        "{unknown:?}"
    );
}

#[test]
fn wgsl_validation() {
    let error = Shader::new("\n@compute @workgroup_size(0) fn f() {}", "a.wgsl").expect_err("not valid");
    let PipelineError::Invalid(diagnostic) = &error else {
        panic!("{error:?}")
    };
    let due = "Entry point f at Compute is invalid: Workgroup size is out of range";
    assert_eq!(diagnostic.message, due);
    let error = Shader::new("\nfn f() -> u32 {}", "a.wgsl").expect_err("not valid");
    assert!(
        matches!(&error, PipelineError::Invalid(found) if found.place == Some((2, 1))),
        "{error:?}"
    );
}

#[test]
fn an_unknown_override_key() {
    let unknown = |key: &str| PipelineError::UnknownOverride { key: key.into() };
    assert_eq!(fill(&[("count", 1.0), ("nope", 1.0)]), unknown("nope"));
    // One with an id goes by that.
    assert_eq!(fill(&[("count", 1.0), ("scale", 1.0)]), unknown("scale"));
    assert_eq!(said(&unknown("nope")), "the shader has no override `nope`");
}

#[test]
fn a_missing_override_value() {
    let error = fill(&[]);
    assert_eq!(error, PipelineError::MissingOverride { key: "count".into() });
    assert_eq!(said(&error), "override `count` has no default and was given no value");
    // An entry point that does not reach it needs none; what it lacks is a slot.
    let shade = run(SHADER, (Stage::Fragment, "shade"), &[], &[], (4, 0)).expect_err("no slot");
    assert!(matches!(shade, PipelineError::Layout(_)), "{shade:?}");
}

#[test]
fn an_override_that_is_not_finite() {
    for (value, text) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
        for key in ["count", "7", "depth"] {
            let given = [("count", 1.0), (key, value)];
            let error = fill(&given);
            let due = PipelineError::OverrideNotFinite {
                key: key.into(),
                value: text.into(),
            };
            assert_eq!(error, due);
        }
    }
    let error = fill(&[("count", f64::NAN)]);
    assert_eq!(said(&error), "override `count` is NaN, which is not finite");
    // A bool is true of any number but 0 and NaN.
    let written = run(
        SHADER,
        (Stage::Compute, "fill"),
        &[("count", 1.0), ("fast", f64::NAN)],
        &[],
        (4, 0),
    );
    assert!(written.is_ok(), "{written:?}");
}

#[test]
fn an_override_that_is_out_of_range() {
    let rows = [
        ("count", -1.0, "u32"),
        ("count", 4294967296.0, "u32"),
        ("depth", 2147483648.0, "i32"),
        ("depth", -2147483649.0, "i32"),
        ("7", 1e39, "f32"),
        ("7", -1e39, "f32"),
    ];
    for (key, value, ty) in rows {
        let error = fill(&[("count", 1.0), (key, value)]);
        let due = PipelineError::OverrideOutOfRange {
            key: key.into(),
            value: value.to_string(),
            ty: ty.into(),
        };
        assert_eq!(error, due);
    }
    assert_eq!(
        said(&fill(&[("count", -1.0)])),
        "override `count` is -1, which is out of the range of u32"
    );
    let half = "enable f16; override h: f16; @compute @workgroup_size(1) fn main() { _ = h; }";
    for (value, fits) in [(65519.0, true), (65520.0, false), (-65520.0, false)] {
        let written = run(half, (Stage::Compute, "main"), &[("h", value)], &[], (4, 0));
        assert_eq!(written.is_ok(), fits, "{value}: {written:?}");
    }
    // Integers are cut to whole numbers first.
    let whole = "override u: u32; override i: i32; @compute @workgroup_size(1) fn main() { _ = u + u32(i); }";
    for (u, i, fits) in [
        (4294967295.9, -2147483648.9, true),
        (-0.9, 2147483647.9, true),
        (4294967296.0, 0.0, false),
        (0.0, -2147483649.0, false),
    ] {
        let written = run(whole, (Stage::Compute, "main"), &[("u", u), ("i", i)], &[], (4, 0));
        assert_eq!(written.is_ok(), fits, "{u} {i}: {written:?}");
    }
}

#[test]
fn overrides_that_fit_and_make_no_valid_shader() {
    let error = fill(&[("count", 0.0)]);
    assert_eq!(
        said(&error),
        "not valid with these overrides: workgroup_size override isn't strictly positive"
    );
    let array =
        "override n: u32 = 4; var<workgroup> a: array<u32, n>; @compute @workgroup_size(1) fn main() { a[0] = 1; }";
    let error = run(array, (Stage::Compute, "main"), &[("n", 0.0)], &[], (4, 0)).expect_err("no array");
    assert!(
        matches!(error, PipelineError::Overridden(_) | PipelineError::Writer(_)),
        "{error:?}"
    );
}

#[test]
fn an_unknown_entry_point() {
    for (stage, name) in [(Stage::Compute, "nope"), (Stage::Vertex, "fill"), (Stage::Compute, "")] {
        let error = run(SHADER, (stage, name), &[("count", 1.0)], &[], (4, 0)).expect_err("no such entry point");
        assert_eq!(
            error,
            PipelineError::UnknownEntryPoint {
                stage,
                name: name.into()
            }
        );
    }
    let error = run(SHADER, (Stage::Vertex, "fill"), &[], &[], (4, 0)).expect_err("no such entry point");
    assert_eq!(said(&error), "the shader has no vertex entry point `fill`");
}

#[test]
fn what_the_layout_has_no_slot_for() {
    let shade =
        |groups: &[Option<&[BindGroupLayoutEntry]>]| run(SHADER, (Stage::Fragment, "shade"), &[], groups, (4, 0));
    let error = shade(&[]).expect_err("no slot");
    let binding = naga::ResourceBinding { group: 0, binding: 1 };
    assert_eq!(
        error,
        PipelineError::Layout(EntryPointError::MissingBindTarget(binding))
    );
    assert_eq!(
        said(&error),
        "refused for the layout: it has no slot for group 0 binding 1"
    );
    let tint = BindGroupLayoutEntry {
        binding: 1,
        visibility: ShaderStages::FRAGMENT,
        ty: BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: None,
        },
        count: None,
    };
    assert!(shade(&[Some(&[tint])]).expect("written").contains("[[buffer(0)]]"));
    let rows =
        "@group(0) @binding(0) var<storage> rows: array<u32>; @compute @workgroup_size(1) fn f() { _ = rows[0]; }";
    let error = run(rows, (Stage::Compute, "f"), &[], &[], (4, 0)).expect_err("no slot");
    assert_eq!(
        said(&error),
        "refused for the layout: mapping for sizes buffer is missing"
    );
    let push = "var<immediate> push: u32; @compute @workgroup_size(1) fn f() { _ = push; }";
    let error = run(push, (Stage::Compute, "f"), &[], &[], (4, 0)).expect_err("no slot");
    assert_eq!(
        said(&error),
        "refused for the layout: mapping for immediates is missing"
    );
}

#[test]
fn what_the_writer_refuses() {
    let wgsl = "@vertex fn v() -> @invariant @builtin(position) vec4f { return vec4f(); }";
    let error = run(wgsl, (Stage::Vertex, "v"), &[], &[], (2, 0)).expect_err("too old");
    assert_eq!(
        said(&error),
        "refused by naga's MSL writer: attribute 'invariant' is not supported for target MSL version"
    );
    let text = run(wgsl, (Stage::Vertex, "v"), &[], &[], (2, 1)).expect("written");
    assert!(text.starts_with("// language: metal2.1\n"), "never raised: {text}");
}
