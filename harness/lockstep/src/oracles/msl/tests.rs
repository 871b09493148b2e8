use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

use super::*;
use crate::case::Shader;

fn entry(binding: u32, ty: BindingType) -> BindGroupLayoutEntry {
    BindGroupLayoutEntry {
        binding,
        visibility: ShaderStages::all(),
        ty,
        count: None,
    }
}

fn buffer(ty: BufferBindingType) -> BindingType {
    BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    }
}

const UNIFORM: BufferBindingType = BufferBindingType::Uniform;
const READ: BufferBindingType = BufferBindingType::Storage { read_only: true };
const WRITE: BufferBindingType = BufferBindingType::Storage { read_only: false };
const SAMPLER: BindingType = BindingType::Sampler(wgpu_types::SamplerBindingType::Filtering);

fn case(
    groups: &[&[BindGroupLayoutEntry]],
    (major, minor): (u32, u32),
    wgsl: &str,
    overrides: &[(&str, f64)],
) -> LayoutCase {
    let overrides = overrides.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
    LayoutCase {
        groups: groups.iter().map(|entries| Some(entries.to_vec())).collect(),
        immediate_size: 0,
        vertex_pulling: false,
        system: System {
            platform: crate::case::Platform::MacOs,
            major,
            minor,
        },
        shader: Some(Shader {
            wgsl: wgsl.into(),
            overrides,
        }),
    }
}

fn refused(checked: &Checked) -> Vec<(&str, u64)> {
    checked
        .refused
        .iter()
        .map(|(reason, &count)| (reason.as_str(), count))
        .collect()
}

fn problems(checked: &Checked) -> Vec<(u8, &str)> {
    checked
        .problems
        .iter()
        .map(|found| (found.property, found.detail.as_str()))
        .collect()
}

const SHADER: &str = "
    @id(7) override scale: f32 = 2.0;
    override count: u32;
    @group(0) @binding(0) var<uniform> unused: vec4f;
    @group(0) @binding(1) var<uniform> tint: vec4f;
    @group(0) @binding(2) var linear: sampler;
    @group(1) @binding(5) var<storage, read_write> rows: array<f32>;
    fn value(i: u32) -> f32 { return rows[i] * scale; }
    @fragment fn shade() -> @location(0) vec4f { return tint; }
    @compute @workgroup_size(4) fn fill(@builtin(local_invocation_index) i: u32) {
        for (var n = 0u; n < count; n++) { rows[i + n] = value(n) + tint.x; }
    }";

fn entries() -> [Vec<BindGroupLayoutEntry>; 2] {
    let first = vec![entry(2, SAMPLER), entry(1, buffer(UNIFORM)), entry(0, buffer(UNIFORM))];
    [first, vec![entry(5, buffer(WRITE))]]
}

#[test]
fn a_fitting_shader_has_no_problem() {
    let [first, second] = entries();
    let checked = check(&case(&[&first, &second], (15, 0), SHADER, &[("count", 3.0)]));
    assert_eq!(problems(&checked), []);
    assert_eq!(refused(&checked), []);
    // tint; tint, rows and _buffer_sizes.
    assert_eq!((checked.translated, checked.arguments), (2, 4));
}

#[test]
fn no_shader_and_bad_input() {
    let mut of_nothing = case(&[], (15, 0), "", &[]);
    of_nothing.shader = None;
    assert_eq!(check(&of_nothing), Checked::default());
    let bad = check(&case(&[], (15, 0), "fn f( {}", &[]));
    assert_eq!(bad.problems.len(), 1);
    assert_eq!(bad.problems[0].property, 0);
    assert!(bad.problems[0].detail.contains("1:7"), "{}", bad.problems[0].detail);
}

#[test]
fn what_the_layout_lacks_is_refused() {
    let [first, second] = entries();
    let lacking = check(&case(&[&first], (15, 0), SHADER, &[("count", 3.0)]));
    assert_eq!(problems(&lacking), []);
    assert_eq!(refused(&lacking), [("_buffer_sizes without a slot", 1)]);
    let other = [entry(1, SAMPLER)];
    let other_kind = check(&case(&[&other, &second], (15, 0), SHADER, &[("count", 3.0)]));
    assert_eq!(problems(&other_kind), []);
    assert_eq!(refused(&other_kind), [(OTHER_KIND, 2)]);
    let without = check(&case(&[&[], &second], (15, 0), SHADER, &[("count", 3.0)]));
    assert_eq!(refused(&without), [(LACKING, 2)]);
}

#[test]
fn overrides_are_refused_for_a_cause() {
    let [first, second] = entries();
    let with = |overrides: &[(&str, f64)]| {
        let checked = check(&case(&[&first, &second], (15, 0), SHADER, overrides));
        assert_eq!(problems(&checked), []);
        checked.refused.into_iter().collect::<Vec<_>>()
    };
    // `shade` uses no override, so that only unknown keys are refused for it.
    assert_eq!(with(&[]), [("overrides: MissingValue".to_owned(), 1)]);
    assert_eq!(
        with(&[("scale", 1.0), ("count", 1.0)]),
        [("overrides: NotFound".to_owned(), 2)]
    );
    assert_eq!(
        with(&[("7", 1.0), ("count", -1.0)]),
        [("overrides: DstRangeTooSmall".to_owned(), 1)]
    );
    assert_eq!(
        with(&[("7", f64::NAN), ("count", 1.0)]),
        [("overrides: SrcNeedsToBeFinite".to_owned(), 1)]
    );
}

#[test]
fn what_the_version_lacks_is_refused() {
    let wgsl =
        "@vertex fn v(@builtin(vertex_index) i: u32) -> @invariant @builtin(position) vec4f { return vec4f(f32(i)); }
        @fragment fn f(@builtin(primitive_index) i: u32) -> @location(0) vec4f { return vec4f(f32(i)); }
        @compute @workgroup_size(1) fn c() { let bits = reverseBits(u32(mine)); rest(bits); }
        var<private> mine: i32;
        fn rest(i: u32) { mine = i32(i); }";
    let wgsl = &format!("enable primitive_index;\n{wgsl}");
    let old = check(&case(&[], (10, 11), wgsl, &[]));
    assert_eq!(problems(&old), []);
    let expected = [
        ("needs MSL 1.2: bit functions", 1),
        ("needs MSL 2.1: @invariant", 1),
        ("needs MSL 2.3: primitive_index", 1),
    ];
    assert_eq!(refused(&old), expected);
    let new = check(&case(&[], (11, 0), wgsl, &[]));
    assert_eq!((problems(&new), refused(&new), new.translated), (vec![], vec![], 3));
}

#[test]
fn wider_access_and_metals_limits_are_counted() {
    let wgsl = "@group(0) @binding(31) var<storage, read_write> rows: array<u32>;
        @compute @workgroup_size(1) fn c() { rows[0] = 1; }";
    let mut entries: Vec<_> = (0..31).map(|binding| entry(binding, buffer(UNIFORM))).collect();
    entries.push(entry(31, buffer(READ)));
    let checked = check(&case(&[&entries], (15, 0), wgsl, &[]));
    assert_eq!(problems(&checked), []);
    assert_eq!(refused(&checked), [(WIDER_ACCESS, 1), (PAST_LIMITS, 2)]);
}

/// The check of a text other than naga's, in place of what naga wrote for the compute entry point of `SHADER`.
fn problems_of(text: impl Fn(&str) -> String) -> Vec<(u8, String)> {
    let [first, second] = entries();
    let shader = crate::pipeline::Shader::new(SHADER, "wgsl").unwrap();
    let overrides = BTreeMap::from([("count".to_owned(), 3.0)]);
    let settings = Settings {
        groups: &[Some(&first), Some(&second)],
        extension: Extension::default(),
        version: (3, 1),
        overrides: &overrides,
    };
    let checker = Checker::new(&shader, &settings);
    let fill = Entry {
        name: "fill".into(),
        stage: Stage::Compute,
    };
    let layout = checker.layout(Stage::Compute).as_ref().unwrap();
    let resolved = checker.resolved(&fill).unwrap();
    let mut msl = write(&resolved, layout, (3, 1), &[]).unwrap().unwrap().unwrap();
    let changed = text(&msl.text);
    assert_ne!(changed, msl.text);
    msl.text = changed;
    let mut checked = Checked::default();
    let mut check = EntryCheck {
        entry: &fill,
        checked: &mut checked,
    };
    check.text(&resolved, layout, &checker, &resources(&resolved, layout), &msl);
    let problems = checked.problems.into_iter();
    problems.map(|found| (found.property, found.detail)).collect()
}

#[test]
fn faults_in_the_text_are_found() {
    let changed = |from: &'static str, to: &'static str| {
        let found = problems_of(|text| text.replace(from, to));
        found
            .into_iter()
            .map(|(property, detail)| format!("{property}: {detail}"))
            .collect::<Vec<_>>()
    };
    let moved = [
        "1: group 0 binding 1 `tint` has no argument at buffer 1",
        "1: `tint` at buffer 7 is no resource that the entry point uses",
    ];
    assert_eq!(changed("[[buffer(1)]]", "[[buffer(7)]]"), moved);
    let swapped = problems_of(|text| {
        text.replace("[[buffer(1)]]", "[[buffer(x)]]")
            .replace("[[buffer(2)]]", "[[buffer(1)]]")
            .replace("(x)]]", "(2)]]")
    });
    let swapped: Vec<_> = swapped
        .iter()
        .map(|(property, detail)| (*property, detail.as_str()))
        .collect();
    let expected = [
        (1, "group 0 binding 1 `tint` should be at buffer 1, where `rows` is"),
        (1, "`rows` at buffer 1 is ReadWrite, but the layout is not"),
        (1, "group 1 binding 5 `rows` should be at buffer 2, where `tint` is"),
        (1, "`tint` at buffer 2 is written, but read-only"),
    ];
    assert_eq!(swapped, expected);
    assert_eq!(
        changed("device type_3& rows", "device type_3 const& rows"),
        ["1: `rows` at buffer 2 is written, but read-only"]
    );
    assert_eq!(
        changed("[[buffer(3)]]", "[[buffer(2)]]"),
        [
            "2: `rows` and `_buffer_sizes` are both at buffer 2",
            "3: _buffer_sizes at buffer 2, the layout says Some(3)"
        ]
    );
    assert_eq!(changed("uint size1;", "uint size1; uint size2;").len(), 1);
    assert_eq!(
        changed("language: metal3.1", "language: metal3.2"),
        ["7: asked for MSL (3, 1), written for Some((3, 2))"]
    );
    let unguarded = changed("metal::min(unsigned(i_1)", "metal::max(unsigned(i_1)");
    assert!(unguarded.iter().all(|found| found.starts_with("6: ")), "{unguarded:?}");
    assert_eq!(
        changed("while(true)", "if(true)"),
        ["6: 0 loops in the MSL, 1 in the module"]
    );
    assert_eq!(
        changed("kernel void", "void"),
        ["1: the MSL has the entry points [], naga says `fill`"]
    );
    assert_eq!(changed("{", "").len(), 1);
}

#[test]
fn generated_shaders_have_no_problem() {
    let mut seen = Counts::default();
    for index in 0..500 {
        let origin = crate::case::Origin {
            lane: "shaders".into(),
            seed: 1,
            index,
        };
        let Some(crate::generators::Made {
            case: crate::case::Case::Layout(case),
            ..
        }) = crate::generators::case(&origin)
        else {
            panic!("no case {index}");
        };
        let checked = check(&case);
        let wgsl = case.shader.map(|shader| shader.wgsl).unwrap_or_default();
        assert_eq!(problems(&checked), [], "case {index}:\n{wgsl}");
        seen.add(&checked.counts());
    }
    assert!(seen.translated > 500 && seen.arguments > seen.translated, "{seen:?}");
    assert!(
        seen.refused.contains_key(LACKING) && seen.refused.contains_key(OTHER_KIND),
        "{seen:?}"
    );
}

/// What slots.md section 2 lays out beyond section 1, all in one shader.
const EXTENDED: &str = "
    enable wgpu_binding_array;
    struct Row { first: u32, rest: array<u32> }
    struct Corner { @location(0) at: vec4f, @location(4) id: u32 }
    var<immediate> pushed: vec4f;
    @group(0) @binding(0) var<uniform> tint: vec4f;
    @group(0) @binding(1) var images: binding_array<texture_2d<f32>>;
    @group(0) @binding(2) var film: texture_external;
    @group(1) @binding(0) var<storage, read_write> rows: binding_array<Row, 2>;
    @fragment fn shade(@builtin(position) at: vec4f) -> @location(0) vec4f {
        let i = u32(at.x);
        rows[i % 2].rest[i] = u32(textureLoad(images[i % 3], vec2u(i), 0).x);
        return pushed + tint + textureLoad(film, vec2u(i));
    }
    @vertex fn pull(corner: Corner) -> @builtin(position) vec4f { return corner.at * f32(corner.id) + pushed; }";

fn extended(immediate_size: u32, vertex_pulling: bool) -> LayoutCase {
    let count = std::num::NonZeroU32::new;
    let float = wgpu_types::TextureSampleType::Float { filterable: true };
    let image = BindingType::Texture {
        sample_type: float,
        view_dimension: wgpu_types::TextureViewDimension::D2,
        multisampled: false,
    };
    let first = [
        entry(0, buffer(UNIFORM)),
        BindGroupLayoutEntry {
            count: count(3),
            ..entry(1, image)
        },
        entry(2, BindingType::ExternalTexture),
    ];
    let second = [BindGroupLayoutEntry {
        count: count(2),
        ..entry(0, buffer(WRITE))
    }];
    LayoutCase {
        immediate_size,
        vertex_pulling,
        ..case(&[&first, &second], (15, 0), EXTENDED, &[])
    }
}

/// The arguments of an entry point, by table, index and name, and the fields of `_buffer_sizes`.
fn arguments_of(case: &LayoutCase, name: &str) -> (Vec<String>, Vec<(String, Option<u32>)>) {
    let reports = entry_points(case).unwrap();
    let report = reports.iter().find(|report| report.name == name).unwrap();
    let read = crate::msl::arguments::read(report.msl.as_ref().unwrap()).unwrap();
    let found = |argument: &Argument| format!("{} {} {}", argument.table.name(), argument.index, argument.name);
    let mut arguments: Vec<_> = read.entry_points[0].arguments.iter().map(found).collect();
    arguments.sort();
    let sizes = read.buffer_sizes.unwrap_or_default().into_iter();
    (arguments, sizes.map(|field| (field.name, field.count)).collect())
}

#[test]
fn section_2_of_the_page() {
    let case = extended(16, true);
    let checked = check(&case);
    assert_eq!((problems(&checked), refused(&checked)), (vec![], vec![]));
    let (shade, sizes) = arguments_of(&case, "shade");
    // Immediates, the uniform, the array, the film's parameters, the other array, its lengths.
    let expected = [
        "buffer 0 pushed",
        "buffer 1 tint",
        "buffer 2 images",
        "buffer 3 film_params",
        "buffer 4 rows",
        "buffer 5 _buffer_sizes",
        "texture 0 film_plane0_",
        "texture 1 film_plane1_",
        "texture 2 film_plane2_",
    ];
    assert_eq!(shade, expected);
    // The vertex buffers are the vertex stage's alone.
    let lengths: Vec<_> = sizes.iter().map(|(_, length)| *length).collect();
    assert_eq!(lengths, [Some(2)]);
    let (pull, sizes) = arguments_of(&case, "pull");
    let expected = [
        "buffer 0 pushed",
        "buffer 29 vb_29_in",
        "buffer 30 vb_30_in",
        "buffer 5 _buffer_sizes",
    ];
    assert_eq!(pull, expected);
    let of_vertex_buffers = [("buffer_size30".to_owned(), None), ("buffer_size29".to_owned(), None)];
    assert_eq!(sizes, of_vertex_buffers);
    let (without, sizes) = arguments_of(&extended(16, false), "pull");
    assert_eq!((without, sizes), (vec!["buffer 0 pushed".to_owned()], vec![]));
    let lacking = check(&extended(0, true));
    assert_eq!(problems(&lacking), []);
    assert_eq!(refused(&lacking), [("immediates without a slot", 2)]);
}

/// A fault of naga's, and no more than that: with a length of its own the same array is written.
#[test]
fn naga_has_no_arrays_of_buffers_without_a_length() {
    let wgsl = |length: &str, body: &str| {
        format!(
            "enable wgpu_binding_array;
            struct Row {{ first: u32, rest: array<u32> }}
            @group(0) @binding(0) var<storage, read_write> rows: binding_array<Row{length}>;
            fn unused() {{ rows[1].first = 2; }}
            @compute @workgroup_size(1) fn c() {{ {body} }}"
        )
    };
    let array = BindGroupLayoutEntry {
        count: std::num::NonZeroU32::new(2),
        ..entry(0, buffer(WRITE))
    };
    // naga writes the other function too.
    for body in ["rows[1].first = 1;", ""] {
        let without = check(&case(&[&[array]], (15, 0), &wgsl("", body), &[]));
        assert_eq!(
            (problems(&without), refused(&without)),
            (vec![], vec![(UNSIZED_BUFFERS, 1)])
        );
        let with = check(&case(&[&[array]], (15, 0), &wgsl(", 2", body), &[]));
        assert_eq!((problems(&with), with.translated), (vec![], 1));
    }
}

#[test]
fn vertex_buffers_that_meet_the_layout_are_past_metals_limits() {
    let mut case = extended(16, true);
    // Buffers 0 to 4 are taken, and the storage buffers that follow take 5 to 30: 29 and 30 are both used twice.
    let many = (1..27).map(|binding| entry(binding, buffer(READ)));
    case.groups[1].as_mut().unwrap().extend(many);
    let shader = case.shader.as_mut().unwrap();
    shader.wgsl += "@group(1) @binding(25) var<storage> last: array<u32>;
        @vertex fn meets(@location(0) at: vec4f) -> @builtin(position) vec4f { return at * f32(last[0]); }";
    let checked = check(&case);
    assert_eq!(problems(&checked), []);
    // `_buffer_sizes` at 31 of three entry points, and buffer 29.
    assert_eq!(refused(&checked), [(PAST_LIMITS, 4)]);
}

/// The twin is no text, so nothing that a shader declares stands in its way.
#[test]
fn a_shader_may_declare_the_names_of_types() {
    let wgsl = "alias f32 = i32;
        struct vec3 { a: f32 }
        @group(0) @binding(1) var<storage, read_write> array_: array<vec3>;
        fn lockstep_twin(a: f32) -> f32 { return a; }
        @compute @workgroup_size(1) fn lockstep_other() { array_[1].a = lockstep_twin(2); }
        @compute @workgroup_size(1) fn lockstep_other_() { array_[0].a = 1; }";
    let entries = [entry(1, buffer(WRITE)), entry(0, buffer(WRITE))];
    let checked = check(&case(&[&entries], (15, 0), wgsl, &[]));
    assert_eq!((problems(&checked), checked.translated), (vec![], 2));
    assert_eq!(checked.made(Check::OtherDeclarations), 2);
    assert_eq!(
        (checked.made(Check::OtherListing), checked.made(Check::OtherValues)),
        (1, 0)
    );
}

#[test]
fn every_property_is_counted() {
    let [first, second] = entries();
    let checked = check(&case(&[&first, &second], (15, 0), SHADER, &[("count", 3.0)]));
    let counts = checked.counts().checks;
    let counts: Vec<_> = counts.iter().map(|(name, &count)| (name.as_str(), count)).collect();
    let expected = [
        ("§4.1 resources at their slots", 2),
        ("§4.2 no index twice", 2),
        ("§4.3 _buffer_sizes", 2),
        ("§4.4 layout listed otherwise", 1),
        ("§4.4 other declarations", 2),
        ("§4.4 other override values", 2),
        ("§4.5 refusals", 2),
        ("§4.6 guards", 2),
        ("§4.7 language version", 2),
    ];
    assert_eq!(counts, expected);
}

/// What the check says when naga is given one layout and its answer is held against another.
fn held_against(given: &[&[BindGroupLayoutEntry]], held: &[&[BindGroupLayoutEntry]]) -> Vec<(u8, String)> {
    let shader = crate::pipeline::Shader::new(SHADER, "wgsl").unwrap();
    let overrides = BTreeMap::from([("count".to_owned(), 3.0)]);
    let groups = |entries: &[&[BindGroupLayoutEntry]]| -> Vec<_> {
        entries.iter().map(|entries| Some(entries.to_vec())).collect()
    };
    let (given, held) = (groups(given), groups(held));
    let settings = |groups| Settings {
        groups,
        extension: Extension::default(),
        version: (3, 1),
        overrides: &overrides,
    };
    let given: Vec<_> = given.iter().map(Option::as_deref).collect();
    let held: Vec<_> = held.iter().map(Option::as_deref).collect();
    let (given, held) = (settings(given.as_slice()), settings(held.as_slice()));
    let (given, held) = (Checker::new(&shader, &given), Checker::new(&shader, &held));
    let fill = Entry {
        name: "fill".into(),
        stage: Stage::Compute,
    };
    let layout = |checker: &Checker<'_>| checker.layout(Stage::Compute).clone().unwrap();
    let resolved = given.resolved(&fill).unwrap();
    let written = write(&resolved, &layout(&given), (3, 1), &[]).unwrap();
    let mut checked = Checked::default();
    let mut check = EntryCheck {
        entry: &fill,
        checked: &mut checked,
    };
    if let Some(places) = check.written(&resolved, &layout(&held), &held, written) {
        let translated = [Translated { entry: &fill, places }];
        held.twin(&translated, &mut checked);
    }
    let problems = checked.problems.into_iter();
    problems.map(|found| (found.property, found.detail)).collect()
}

#[test]
fn faults_in_the_options_are_found() {
    let [first, second] = entries();
    let (first, second) = (first.as_slice(), second.as_slice());
    let found = |given: &[&[BindGroupLayoutEntry]], held: &[&[BindGroupLayoutEntry]]| -> Vec<String> {
        let found = held_against(given, held).into_iter();
        found
            .map(|(property, detail)| format!("{property}: {detail}"))
            .collect()
    };
    assert_eq!(found(&[first, second], &[first, second]), [""; 0]);
    // The layout lacks `tint`, and naga takes it all the same; or it has it, and naga refuses it.
    let without = [entry(2, SAMPLER), entry(0, buffer(UNIFORM))];
    let lacks = found(&[first, second], &[&without, second]);
    assert_eq!(
        lacks[0],
        "5: group 0 binding 1 accepted, but it is a used resource that the layout lacks"
    );
    let refused = found(&[&without, second], &[first, second]);
    assert_eq!(refused, ["5: group 0 binding 1 refused though the layout has it"]);
    // One uniform buffer fewer before the others: the twin, which is given the other layout, has everything elsewhere.
    let shifted = [entry(2, SAMPLER), entry(1, buffer(UNIFORM))];
    let moved = found(&[&shifted, second], &[first, second]);
    assert_eq!(
        moved[0],
        "1: group 0 binding 1 `tint` should be at buffer 1, where `rows` is"
    );
    assert!(
        moved
            .last()
            .unwrap()
            .starts_with("4: other slots with other declarations: "),
        "{moved:?}"
    );
}

#[test]
fn a_feature_that_naga_should_have_refused_is_found() {
    let wgsl = "@vertex fn v() -> @invariant @builtin(position) vec4f { return vec4f(); }";
    let shader = crate::pipeline::Shader::new(wgsl, "wgsl").unwrap();
    let entry = entries_of(&shader.module).remove(0);
    let overrides = BTreeMap::new();
    let settings = Settings {
        groups: &[],
        extension: Extension::default(),
        version: (2, 0),
        overrides: &overrides,
    };
    let checker = Checker::new(&shader, &settings);
    let layout = checker.layout(Stage::Vertex).as_ref().unwrap();
    let resolved = checker.resolved(&entry).unwrap();
    let written = write(&resolved, layout, (2, 1), &[]).unwrap();
    let mut checked = Checked::default();
    let mut check = EntryCheck {
        entry: &entry,
        checked: &mut checked,
    };
    check.written(&resolved, layout, &checker, written);
    let expected = [
        (7, "@invariant needs MSL 2.1, but naga writes it for 2.0"),
        (7, "asked for MSL (2, 0), written for Some((2, 1))"),
    ];
    assert_eq!(problems(&checked), expected);
}

/// What may not move is told apart from what does: a twin whose added binding is seen has other slots.
#[test]
fn a_layout_that_depends_on_its_listing_is_found() {
    let [first, second] = entries();
    let shader = crate::pipeline::Shader::new("fn unused() {}", "wgsl").unwrap();
    let overrides = BTreeMap::new();
    let groups = [Some(first.as_slice()), Some(second.as_slice())];
    let settings = Settings {
        groups: &groups,
        extension: Extension::default(),
        version: (3, 1),
        overrides: &overrides,
    };
    let mut checker = Checker::new(&shader, &settings);
    let other = [Some(second.as_slice()), Some(first.as_slice())];
    checker.layouts = StageLayout::all_stages(&other, Extension::default());
    let mut checked = Checked::default();
    checker.twin(&[], &mut checked);
    let properties: Vec<_> = checked
        .problems
        .iter()
        .map(|found| (found.property, found.stage))
        .collect();
    assert_eq!(properties, Stage::ALL.map(|stage| (4, stage)));
}
