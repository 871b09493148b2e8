//! Layouts, slots, and what Metal would refuse, written out.

use std::path::Path;

use lockstep::case::Stage;
use lockstep::shaders::table::text;
use lockstep::shaders::{
    Binding, BufferSizes, EntryPointReport, FaultKind, FileReport, Immediates, Options, Scope, SizeField, SizeOf, Slot,
    check_file,
};

pub fn check(wgsl: &str, options: &Options) -> FileReport {
    check_file(Path::new("a.wgsl"), wgsl, options)
}

/// The entry points of a shader that has no problem.
fn clean(wgsl: &str, options: &Options) -> Vec<EntryPointReport> {
    let report = check(wgsl, options);
    assert_eq!(
        (&report.fault, report.problems()),
        (&None, 0),
        "{}",
        text(&report, false)
    );
    report.entry_points
}

fn binding(
    group: u32,
    binding: u32,
    variable: &str,
    ty: &str,
    access: &'static str,
    slots: &[(&'static str, u32)],
) -> Binding {
    Binding {
        group,
        binding,
        variable: variable.into(),
        ty: ty.into(),
        access,
        slots: slots
            .iter()
            .map(|&(table, slot)| Slot {
                table,
                slot,
                part: None,
            })
            .collect(),
    }
}

fn size_of(field: &str, group: u32, binding: u32, variable: &str) -> SizeField {
    let of = SizeOf::Binding {
        group,
        binding,
        variable: variable.into(),
    };
    SizeField {
        field: field.into(),
        of,
    }
}

const WGSL: &str = "
    override count: u32;
    @group(0) @binding(4) var shadow: texture_depth_2d_array;
    @group(0) @binding(1) var<uniform> tint: vec4f;
    @group(0) @binding(3) var compare: sampler_comparison;
    @group(0) @binding(0) var image: texture_2d<f32>;
    @group(0) @binding(2) var linear: sampler;
    @group(2) @binding(7) var<storage> rows: array<vec4f>;
    @group(2) @binding(0) var<storage, read_write> totals: array<u32>;
    @group(2) @binding(1) var target_: texture_storage_2d<rgba8unorm, write>;
    @group(2) @binding(2) var ids: texture_multisampled_2d<u32>;
    @fragment fn shade(@location(0) uv: vec2f) -> @location(0) vec4f {
        let light = textureSampleCompare(shadow, compare, uv, 0, 0.5);
        return tint * light * textureSample(image, linear, uv) * rows[0];
    }
    @compute @workgroup_size(8) fn fill(@builtin(global_invocation_id) id: vec3u) {
        totals[id.x] = count + textureLoad(ids, id.xy, 0).x;
        textureStore(target_, id.xy, textureLoad(image, id.xy, 0));
    }";

#[test]
fn layouts_are_those_of_auto() {
    let entries = clean(
        WGSL,
        &Options {
            scope: Scope::EntryPoint,
            ..Options::default()
        },
    );
    let [shade, fill] = &entries[..] else {
        panic!("{entries:?}")
    };
    let of_shade = [
        binding(0, 0, "image", "float texture 2d", "read-only", &[("texture", 0)]),
        binding(0, 1, "tint", "uniform", "read-only", &[("buffer", 0)]),
        binding(0, 2, "linear", "filtering sampler", "read-only", &[("sampler", 0)]),
        binding(0, 3, "compare", "comparison sampler", "read-only", &[("sampler", 1)]),
        binding(0, 4, "shadow", "depth texture 2d-array", "read-only", &[("texture", 1)]),
        binding(2, 7, "rows", "read-only-storage", "read-only", &[("buffer", 1)]),
    ];
    assert_eq!(shade.bindings, of_shade);
    // naga drops what `shade` does not reach, so that `rows` is global 5 of those left.
    let sizes = BufferSizes {
        slot: 2,
        used: true,
        fields: vec![size_of("size5", 2, 7, "rows")],
    };
    assert_eq!(shade.buffer_sizes, Some(sizes));
    let of_fill = [
        binding(
            0,
            0,
            "image",
            "unfilterable-float texture 2d",
            "read-only",
            &[("texture", 0)],
        ),
        binding(2, 0, "totals", "storage", "read-write", &[("buffer", 0)]),
        binding(
            2,
            1,
            "target_",
            "write-only storage texture 2d rgba8unorm",
            "write-only",
            &[("texture", 1)],
        ),
        binding(
            2,
            2,
            "ids",
            "uint texture 2d multisampled",
            "read-only",
            &[("texture", 2)],
        ),
    ];
    assert_eq!(fill.bindings, of_fill);
    let sizes = BufferSizes {
        slot: 1,
        used: true,
        fields: vec![size_of("size1", 2, 0, "totals")],
    };
    assert_eq!(fill.buffer_sizes, Some(sizes));
}

/// Two vertex entry points share a layout: each is numbered over what either sees. The fragment stage sees none of it.
#[test]
fn a_file_has_one_layout() {
    let wgsl = "@group(0) @binding(0) var<uniform> a: vec4f;
        @group(0) @binding(1) var<uniform> b: vec4f;
        @group(1) @binding(0) var<uniform> c: vec4f;
        @vertex fn first() -> @builtin(position) vec4f { return a; }
        @vertex fn second() -> @builtin(position) vec4f { return b; }
        @fragment fn shade() -> @location(0) vec4f { return c; }";
    let slots = |scope| {
        let entries = clean(
            wgsl,
            &Options {
                scope,
                ..Options::default()
            },
        );
        let slots = entries
            .iter()
            .flat_map(|entry| &entry.bindings)
            .map(|binding| binding.slots[0].slot);
        slots.collect::<Vec<_>>()
    };
    assert_eq!(slots(Scope::File), [0, 1, 0]);
    assert_eq!(slots(Scope::EntryPoint), [0, 0, 0]);
}

/// As WebGPU unites them: a texture that one entry point samples and another loads is filterable for both; a uniform and a storage
/// buffer at one place are of no one layout.
#[test]
fn entry_points_that_do_not_fit_one_layout() {
    let wgsl = "@group(0) @binding(0) var image: texture_2d<f32>;
        @group(0) @binding(1) var linear: sampler;
        @group(0) @binding(2) var<uniform> a: vec4f;
        @group(0) @binding(2) var<storage> b: vec4f;
        @fragment fn samples() -> @location(0) vec4f { return textureSample(image, linear, vec2f()) + a; }
        @fragment fn loads() -> @location(0) vec4f { return textureLoad(image, vec2u(), 0) + a; }
        @fragment fn other() -> @location(0) vec4f { return b; }";
    let entries = clean(wgsl, &Options::default());
    let own: Vec<_> = entries.iter().map(|entry| entry.own_layout.as_deref()).collect();
    let why = "group 0 binding 2 is a read-only-storage here, and a uniform before";
    assert_eq!(own, [None, None, Some(why)]);
    assert_eq!(
        entries[2].bindings,
        [binding(0, 2, "b", "read-only-storage", "read-only", &[("buffer", 0)])]
    );
}

#[test]
fn immediates_take_buffer_0_of_every_stage() {
    let wgsl = "var<immediate> push: vec3f;
        @group(0) @binding(0) var<uniform> tint: vec4f;
        @vertex fn v() -> @builtin(position) vec4f { return tint; }
        @fragment fn f() -> @location(0) vec4f { return vec4f(push, 1) + tint; }";
    let entries = clean(
        wgsl,
        &Options {
            msl: true,
            ..Options::default()
        },
    );
    let tint = binding(0, 0, "tint", "uniform", "read-only", &[("buffer", 1)]);
    for (entry, immediates) in entries
        .iter()
        .zip([(None, 12, Some(0), false), (Some("push"), 12, Some(0), true)])
    {
        assert_eq!(entry.bindings, std::slice::from_ref(&tint), "{}", entry.name);
        let (variable, size, slot, used) = immediates;
        let due = Immediates {
            variable: variable.map(str::to_owned),
            size,
            slot,
            used,
        };
        assert_eq!(entry.immediates, Some(due));
        assert!(
            entry.msl.as_ref().expect("written").contains("tint [[buffer(1)]]"),
            "{entry:?}"
        );
    }
    assert!(entries[1].msl.as_ref().expect("written").contains("push [[buffer(0)]]"));
}

#[test]
fn arrays_and_external_textures() {
    let wgsl = "enable wgpu_binding_array;
        @group(0) @binding(0) var images: binding_array<texture_2d<f32>, 4>;
        @group(0) @binding(1) var film: texture_external;
        @group(0) @binding(2) var image: texture_2d<f32>;
        @group(0) @binding(3) var<uniform> tint: vec4f;
        @fragment fn many() -> @location(0) vec4f {
            return textureLoad(images[1], vec2u(), 0) + textureLoad(film, vec2u()) + textureLoad(image, vec2u(), 0) + tint;
        }";
    let entries = clean(
        wgsl,
        &Options {
            msl: true,
            ..Options::default()
        },
    );
    let external = [("texture", 0), ("texture", 1), ("texture", 2), ("buffer", 1)];
    let mut due = [
        binding(
            0,
            0,
            "images",
            "binding array of 4, unfilterable-float texture 2d",
            "read-only",
            &[("buffer", 0)],
        ),
        binding(0, 1, "film", "external texture", "read-only", &external),
        binding(
            0,
            2,
            "image",
            "unfilterable-float texture 2d",
            "read-only",
            &[("texture", 3)],
        ),
        binding(0, 3, "tint", "uniform", "read-only", &[("buffer", 2)]),
    ];
    due[0].slots[0].part = Some("argument buffer");
    let parts = ["plane 0", "plane 1", "plane 2", "parameters"];
    let film = due[1].slots.iter_mut().zip(parts);
    film.for_each(|(slot, part)| slot.part = Some(part));
    assert_eq!(entries[0].bindings, due);
    let said = text(&check(wgsl, &Options::default()), false);
    assert!(
        said.contains("buffer (argument buffer)") && said.contains("texture (plane 2)"),
        "{said}"
    );
    let msl = entries[0].msl.as_deref().expect("written");
    for argument in [
        "images [[buffer(0)]]",
        "[[texture(2)]]",
        "image [[texture(3)]]",
        "tint [[buffer(2)]]",
    ] {
        assert!(msl.contains(argument), "{argument}: {msl}");
    }
}

/// wgpu-hal pulls vertices out of buffers from slot 30 downwards, and keeps the sizes slot of a vertex stage always.
#[test]
fn vertex_inputs_are_pulled() {
    let wgsl = "struct In { @location(3) id: u32, @location(0) place: vec3f }
        @group(0) @binding(0) var<storage> rows: array<vec4f>;
        @vertex fn v(in: In, @location(1) uv: vec2f) -> @builtin(position) vec4f {
            return rows[in.id] + in.place.xyzx + uv.xyxy;
        }
        @vertex fn none() -> @builtin(position) vec4f { return vec4f(); }";
    let entries = clean(
        wgsl,
        &Options {
            scope: Scope::EntryPoint,
            msl: true,
            ..Options::default()
        },
    );
    let [v, none] = &entries[..] else { panic!("{entries:?}") };
    let of = SizeOf::VertexBuffer { vertex_buffer_slot: 30 };
    let vertex = SizeField {
        field: "buffer_size30".into(),
        of,
    };
    let sizes = BufferSizes {
        slot: 1,
        used: true,
        fields: vec![size_of("size0", 0, 0, "rows"), vertex],
    };
    assert_eq!((v.vertex_buffer_slot, &v.buffer_sizes), (Some(30), &Some(sizes)));
    // A number, three and two of 4 bytes.
    assert!(v.msl.as_ref().expect("written").contains("uchar data[24]"), "{v:?}");
    let unused = BufferSizes {
        slot: 0,
        used: false,
        fields: Vec::new(),
    };
    assert_eq!((none.vertex_buffer_slot, &none.buffer_sizes), (None, &Some(unused)));
}

/// Metal has mesh stages, and none for ray tracing pipelines.
#[test]
fn other_stages() {
    let wgsl = "enable wgpu_mesh_shader;
        struct Vertex { @builtin(position) position: vec4f }
        struct Primitive { @builtin(triangle_indices) indices: vec3u }
        struct Output {
            @builtin(vertices) vertices: array<Vertex, 3>,
            @builtin(primitives) primitives: array<Primitive, 1>,
            @builtin(vertex_count) vertex_count: u32,
            @builtin(primitive_count) primitive_count: u32,
        }
        var<workgroup> output: Output;
        @group(0) @binding(0) var<uniform> tint: vec4f;
        @mesh(output) @workgroup_size(1) fn m() { output.vertices[0].position = tint; }";
    let entries = clean(wgsl, &Options::default());
    assert_eq!(entries[0].stage, Stage::Mesh);
    let tint = binding(0, 0, "tint", "uniform", "read-only", &[("buffer", 0)]);
    assert_eq!(entries[0].bindings, [tint]);
    let wgsl = "enable wgpu_ray_tracing_pipeline; @ray_generation fn rays() {} @compute @workgroup_size(1) fn c() {}";
    let report = check(wgsl, &Options::default());
    assert_eq!(report.without_stage, ["rays"]);
    assert_eq!((report.entry_points.len(), report.problems()), (1, 0));
    assert!(text(&report, false).contains("`rays` is not checked: wgpu's Metal backend does not have its stage"));
}

#[test]
fn every_storage_format_has_wgpus() {
    let formats = "r8unorm r8snorm r8uint r8sint r16unorm r16snorm r16uint r16sint r16float rg8unorm rg8snorm rg8uint \
        rg8sint r32uint r32sint r32float rg16unorm rg16snorm rg16uint rg16sint rg16float rgba8unorm rgba8snorm rgba8uint \
        rgba8sint bgra8unorm rgb10a2uint rgb10a2unorm rg11b10ufloat r64uint rg32uint rg32sint rg32float rgba16unorm \
        rgba16snorm rgba16uint rgba16sint rgba16float rgba32uint rgba32sint rgba32float";
    for format in formats.split_whitespace() {
        let wgsl = format!(
            "@group(0) @binding(0) var a: texture_storage_3d<{format}, write>;
             @compute @workgroup_size(1) fn c() {{ _ = textureDimensions(a); }}"
        );
        let report = check(&wgsl, &Options::default());
        let found = report.entry_points.first().and_then(|entry| entry.bindings.first());
        let expected = format!("write-only storage texture 3d {format}");
        assert_eq!(
            found.map(|row| row.ty.as_str()),
            Some(expected.as_str()),
            "{}",
            text(&report, false)
        );
    }
}

/// `count` uniform buffers, each used.
fn uniforms(count: u32) -> String {
    let variables: String = (0..count)
        .map(|n| format!("@group(0) @binding({n}) var<uniform> u{n}: vec4f;\n"))
        .collect();
    let sum: Vec<_> = (0..count).map(|n| format!("u{n}")).collect();
    format!(
        "{variables}@fragment fn f() -> @location(0) vec4f {{ return {}; }}",
        sum.join(" + ")
    )
}

#[test]
fn metals_limits() {
    assert_eq!(check(&uniforms(31), &Options::default()).problems(), 0);
    let report = check(&uniforms(33), &Options::default());
    let due = [
        "`u31_` at buffer 31: Metal has buffers 0 to 30",
        "`u32_` at buffer 32: Metal has buffers 0 to 30",
    ];
    // naga puts an underscore after a name that ends in a digit.
    assert_eq!(report.entry_points[0].past_limits, due);
    assert_eq!(report.problems(), 2);
    let samplers: String = (0..17)
        .map(|n| format!("@group(0) @binding({n}) var s{n}: sampler;\n"))
        .collect();
    let uses: String = (0..17)
        .map(|n| format!("_ = textureSampleLevel(t, s{n}, vec2f(), 0);\n"))
        .collect();
    let wgsl = format!("{samplers}@group(1) @binding(0) var t: texture_2d<f32>; @fragment fn f() {{ {uses} }}");
    let report = check(&wgsl, &Options::default());
    assert_eq!(
        report.entry_points[0].past_limits,
        ["`s16_` at sampler 16: Metal has samplers 0 to 15"]
    );
    let slots = check(&uniforms(257), &Options::default());
    let refused = slots.entry_points[0].refused.as_deref().expect("refused");
    assert!(refused.contains("binding 256") && refused.contains("255"), "{refused}");
    assert_eq!(slots.entry_points[0].bindings[0].slots, []);
    let far = "@group(9) @binding(0) var<uniform> far: vec4f; @fragment fn f() { _ = far; }";
    let refused = check(far, &Options::default()).entry_points.remove(0).refused;
    assert_eq!(
        refused.as_deref(),
        Some("the pipeline layout has 10 bind groups, but at most 8 are allowed")
    );
}

/// A vertex stage with 31 buffers has none left for its vertices.
#[test]
fn a_vertex_buffer_and_a_binding_at_one_slot() {
    let wgsl = uniforms(31).replace(
        "@fragment fn f() -> @location(0)",
        "@vertex fn f(@location(0) p: vec4f) -> @builtin(position)",
    );
    let report = check(&wgsl, &Options::default());
    let past = &report.entry_points[0].past_limits;
    assert!(
        past.iter()
            .any(|text| text.ends_with("at buffer 30, where another argument is")),
        "{past:?}"
    );
}

#[test]
fn an_old_language_version_refuses() {
    let wgsl = "@vertex fn v() -> @invariant @builtin(position) vec4f { return vec4f(); }";
    let old = check(
        wgsl,
        &Options {
            language_version: (2, 0),
            ..Options::default()
        },
    );
    let due = "refused by naga's MSL writer: attribute 'invariant' is not supported for target MSL version \
               (needs MSL 2.1: @invariant)";
    assert_eq!(old.entry_points[0].refused.as_deref(), Some(due));
    assert_eq!(
        check(
            wgsl,
            &Options {
                language_version: (2, 1),
                ..Options::default()
            }
        )
        .problems(),
        0
    );
}

#[test]
fn overrides_are_given_or_assumed() {
    let wgsl = "override count: u32; @id(3) override size: u32; @compute @workgroup_size(count, size) fn f() {}";
    let given = |pairs: &[(&str, f64)]| Options {
        overrides: pairs.iter().map(|&(key, value)| (key.to_owned(), value)).collect(),
        ..Options::default()
    };
    let report = check(wgsl, &given(&[("3", 4.0), ("elsewhere", 1.0)]));
    assert_eq!(report.problems(), 0);
    assert_eq!(
        report.overrides.into_iter().collect::<Vec<_>>(),
        [("3".to_owned(), 4.0)]
    );
    assert_eq!(
        report.assumed_overrides.into_iter().collect::<Vec<_>>(),
        [("count".to_owned(), 1.0)]
    );
    let wrong = check(wgsl, &given(&[("count", -1.0)]));
    let refused = wrong.entry_points[0].refused.as_deref().expect("refused");
    assert!(
        refused.starts_with("override `count` is -1, which is out of the range of u32"),
        "{refused}"
    );
}

#[test]
fn templates_and_bad_shaders() {
    let fault = |source: &str| {
        let fault = check(source, &Options::default()).fault?;
        Some((fault.kind, fault.line, fault.column, fault.message))
    };
    let template = |line, sign: &str| {
        let message = format!("not plain WGSL, a template: `{sign}`");
        Some((FaultKind::Template, Some(line), None, message))
    };
    assert_eq!(fault("\n  #import bevy::view\nfn f() {}"), template(2, "#import"));
    assert_eq!(fault("import a::b;"), template(1, "import"));
    assert_eq!(fault("const N = {{ n }};"), template(1, "{{"));
    assert_eq!(fault("// #import\nfn f() {{ }}"), None);
    let syntax = (
        FaultKind::Syntax,
        Some(2),
        Some(13),
        "expected expression, found \";\"".to_owned(),
    );
    assert_eq!(fault("fn f() {\n  return 1 +;\n}"), Some(syntax));
    let (kind, ..) = fault("@compute @workgroup_size(0) fn f() {}").expect("not valid");
    assert_eq!(kind, FaultKind::Invalid);
}

#[test]
fn one_entry_point_is_chosen() {
    let options = Options {
        entry_point: Some("fill".into()),
        ..Options::default()
    };
    let entries = clean(WGSL, &options);
    let names: Vec<_> = entries.iter().map(|entry| (entry.stage, entry.name.as_str())).collect();
    assert_eq!(names, [(Stage::Compute, "fill")]);
}
