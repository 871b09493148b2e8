use wgpu_types::{BindingType, BufferBindingType, ShaderStages};

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
    let wgsl = "@vertex fn v(@builtin(vertex_index) i: u32) -> @invariant @builtin(position) vec4f { return vec4f(f32(i)); }
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
    let source = Source::new(SHADER).unwrap();
    let overrides = BTreeMap::from([("count".to_owned(), 3.0)]);
    let settings = Settings {
        groups: &[Some(&first), Some(&second)],
        extension: Extension::default(),
        version: (3, 1),
        overrides: &overrides,
    };
    let checker = Checker::new(&source, &settings);
    let fill = Entry {
        name: "fill".into(),
        stage: Stage::Compute,
    };
    let layout = checker.layout(Stage::Compute).as_ref().unwrap();
    let resolved = source.resolved(&fill, &checker.constants).ok().unwrap();
    let mut msl = resolved.write(layout, (3, 1), &[]).unwrap().unwrap().unwrap();
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
