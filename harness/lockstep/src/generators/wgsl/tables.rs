//! What shaders are made of: tables of WGSL text, in which `$` and a letter marks what is filled in (see [`fill`](super::fill)).

use std::ops::Range;

use wgpu_types::{SamplerBindingType, ShaderStages, TextureFormat, TextureSampleType, TextureViewDimension as View};

use super::fill;

/// A type that a variable in memory has, and what can be done with it. In the texts `$v` is the variable, `$i` and `$j` are
/// indices, `$x` is a value, all `u32`.
pub(super) struct Shape {
    pub ty: &'static str,
    /// The structs that the type names.
    pub structs: &'static [&'static str],
    /// At least the bytes that a binding must have.
    pub size: u64,
    /// Where it can lie: [`UNIFORM`] and so on.
    pub spaces: u8,
    /// Expressions of type `u32`.
    pub reads: &'static [&'static str],
    /// Statements that read through a pointer; `$n` is a number of their own.
    pub walks: &'static [&'static str],
    /// Statements, for a variable that can be written.
    pub writes: &'static [&'static str],
}

pub(super) const UNIFORM: u8 = 1;
pub(super) const STORAGE: u8 = 2;
pub(super) const READ_WRITE: u8 = 4;
pub(super) const WORKGROUP: u8 = 8;
pub(super) const PRIVATE: u8 = 16;
pub(super) const IMMEDIATE: u8 = 32;
pub(super) const ANY_STORAGE: u8 = STORAGE | READ_WRITE;
pub(super) const LOCAL: u8 = WORKGROUP | PRIVATE;

pub(super) const PARAMS: &str = "struct Params {
    scale: vec3<f32>,
    count: u32,
    basis: mat3x3<f32>,
    weights: array<vec4<f32>, 4>,
}";
pub(super) const IMMEDIATES: &str = "struct Immediates {
    offset: vec2<u32>,
    steps: u32,
    scale: vec4<f32>,
}";
pub(super) const ITEM: &str = "struct Item {
    key: u32,
    value: vec2<u32>,
    slots: array<u32, 3>,
}";
pub(super) const TAIL: &str = "struct Tail {
    head: u32,
    items: array<u32>,
}";
pub(super) const LIST: &str = "struct List {
    bounds: vec4<f32>,
    count: u32,
    items: array<Item>,
}";
pub(super) const COUNTERS: &str = "struct Counters {
    total: atomic<i32>,
    each: array<atomic<u32>>,
}";

#[rustfmt::skip]
pub(super) const SHAPES: &[Shape] = &[
    Shape {
        ty: "u32", structs: &[], size: 4, spaces: UNIFORM | ANY_STORAGE | LOCAL | IMMEDIATE,
        reads: &["$v"],
        walks: &[],
        writes: &["$v = $x;", "$v += $x;"],
    },
    Shape {
        ty: "array<u32>", structs: &[], size: 4, spaces: ANY_STORAGE,
        reads: &["$v[$i]", "arrayLength(&$v)", "$v[arrayLength(&$v) - 1u]"],
        walks: &["let p$n = &$v[$i];\nacc += *p$n;"],
        writes: &["$v[$i] = $x;", "$v[$i] = arrayLength(&$v);"],
    },
    Shape {
        ty: "vec4<f32>", structs: &[], size: 16, spaces: UNIFORM | ANY_STORAGE | LOCAL | IMMEDIATE,
        reads: &["u32($v.x)", "u32($v[$i])"],
        walks: &[],
        writes: &["$v = vec4<f32>(f32($x));", "$v[$i] = f32($x);"],
    },
    Shape {
        ty: "mat4x4<f32>", structs: &[], size: 64, spaces: UNIFORM | ANY_STORAGE | IMMEDIATE,
        reads: &["u32($v[$i].y)", "u32($v[$i][$j])"],
        walks: &[],
        writes: &["$v[$i] = vec4<f32>(f32($x));"],
    },
    Shape {
        ty: "array<vec4<u32>, 8>", structs: &[], size: 128, spaces: UNIFORM | ANY_STORAGE | LOCAL,
        reads: &["$v[$i].z", "$v[$i][$j]"],
        walks: &["let p$n = &$v;\nacc += (*p$n)[$i][$j];"],
        writes: &["$v[$i].x = $x;", "$v[$i][$j] = $x;"],
    },
    Shape {
        ty: "array<u32, 16>", structs: &[], size: 64, spaces: ANY_STORAGE | LOCAL,
        reads: &["$v[$i]", "$v[3]"],
        walks: &["let p$n = &$v;\nacc += p$n[$i];"],
        writes: &["$v[$i] = $x;"],
    },
    Shape {
        ty: "Params", structs: &[PARAMS], size: 128, spaces: UNIFORM | ANY_STORAGE | LOCAL,
        reads: &["$v.count", "u32($v.scale[$i])", "u32($v.weights[$i].w)", "u32($v.basis[$i].x)"],
        walks: &["let p$n = &$v.weights;\nacc += u32((*p$n)[$i].y);"],
        writes: &["$v.count = $x;", "$v.weights[$i].x = f32($x);", "$v.scale.y = f32($x);"],
    },
    Shape {
        ty: "array<vec3<f32>>", structs: &[], size: 16, spaces: ANY_STORAGE,
        reads: &["u32($v[$i].x)", "u32($v[$i][$j])", "arrayLength(&$v)"],
        walks: &[],
        writes: &["$v[$i].y = f32($x);", "$v[$i] = vec3<f32>(f32($x));"],
    },
    Shape {
        ty: "array<Item>", structs: &[ITEM], size: 32, spaces: ANY_STORAGE,
        reads: &["$v[$i].key", "$v[$i].slots[$j]", "arrayLength(&$v)"],
        walks: &["let p$n = &$v[$i].slots;\nacc += p$n[$j];"],
        writes: &["$v[$i].value = vec2<u32>($x);", "$v[$i].slots[$j] = $x;", "$v[$i] = $v[$j];"],
    },
    Shape {
        ty: "array<array<u32, 4>>", structs: &[], size: 16, spaces: ANY_STORAGE,
        reads: &["$v[$i][$j]", "arrayLength(&$v)"],
        walks: &[],
        writes: &["$v[$i][$j] = $x;"],
    },
    Shape {
        ty: "Tail", structs: &[TAIL], size: 8, spaces: ANY_STORAGE,
        reads: &["$v.head", "$v.items[$i]", "arrayLength(&$v.items)"],
        walks: &[],
        writes: &["$v.head = $x;", "$v.items[$i] = $x;"],
    },
    Shape {
        ty: "List", structs: &[ITEM, LIST], size: 64, spaces: ANY_STORAGE,
        reads: &["$v.count", "$v.items[$i].slots[$j]", "arrayLength(&$v.items)", "u32($v.bounds[$i])"],
        walks: &["let p$n = &$v.items;\nacc += (*p$n)[$i].slots[$j] + arrayLength(p$n);"],
        writes: &["$v.items[$i].key = $x;", "$v.bounds[$i] = f32($x);"],
    },
    Shape {
        ty: "atomic<u32>", structs: &[], size: 4, spaces: READ_WRITE | WORKGROUP,
        reads: &["atomicLoad(&$v)", "atomicAdd(&$v, $x)", "atomicCompareExchangeWeak(&$v, $x, 1u).old_value"],
        walks: &[],
        writes: &["atomicStore(&$v, $x);", "atomicMax(&$v, $x);"],
    },
    Shape {
        ty: "array<atomic<u32>>", structs: &[], size: 4, spaces: READ_WRITE,
        reads: &["atomicLoad(&$v[$i])", "atomicOr(&$v[$i], $x)", "arrayLength(&$v)"],
        walks: &["let p$n = &$v[$i];\nacc += atomicLoad(p$n);"],
        writes: &["atomicStore(&$v[$i], $x);", "atomicSub(&$v[$i], $x);"],
    },
    Shape {
        ty: "array<atomic<u32>, 4>", structs: &[], size: 16, spaces: READ_WRITE | WORKGROUP,
        reads: &["atomicExchange(&$v[$i], $x)", "atomicLoad(&$v[$i])"],
        walks: &[],
        writes: &["atomicXor(&$v[$i], $x);"],
    },
    Shape {
        ty: "Counters", structs: &[COUNTERS], size: 8, spaces: READ_WRITE,
        reads: &["u32(atomicLoad(&$v.total))", "atomicMin(&$v.each[$i], $x)", "arrayLength(&$v.each)"],
        walks: &[],
        writes: &["atomicAdd(&$v.total, 1i);", "atomicStore(&$v.each[$i], $x);"],
    },
    Shape {
        ty: "array<array<vec4<u32>, 2>, 3>", structs: &[], size: 96, spaces: UNIFORM | ANY_STORAGE | LOCAL,
        reads: &["$v[$i][$j].y", "$v[$i][$j][$i]"],
        walks: &["let p$n = &$v[$i];\nacc += (*p$n)[$j].z;"],
        writes: &["$v[$i][$j].x = $x;", "$v[$i] = $v[$j];"],
    },
    Shape {
        ty: "Immediates", structs: &[IMMEDIATES], size: 32, spaces: IMMEDIATE,
        reads: &["$v.steps", "u32($v.scale[$i])", "$v.offset.y"],
        walks: &["let p$n = &$v.scale;\nacc += u32((*p$n)[$j]);"],
        writes: &[],
    },
];

/// An array whose length is an override. It may have one element, so that no index into it is constant.
pub(super) static OVERRIDE_SIZED: Shape = Shape {
    ty: "array<u32, $n>",
    structs: &[],
    size: 0,
    spaces: WORKGROUP,
    reads: &["$v[$i + acc]"],
    walks: &[],
    writes: &["$v[$i + acc] = $x;"],
};

/// A dimension of textures: its WGSL name, the coordinates of a sample and of a texel (`$i` is a `u32`), the array layer, and
/// how a `u32` is got from what `textureDimensions` gives.
pub(super) struct Dimension {
    pub view: View,
    pub name: &'static str,
    pub sample: &'static str,
    pub texel: &'static str,
    pub layer: &'static str,
    pub first: &'static str,
}

/// The first four are those of storage textures, the last four those of depth textures.
#[rustfmt::skip]
pub(super) const DIMENSIONS: [Dimension; 6] = [
    Dimension { view: View::D1, name: "1d", sample: "f32($i)", texel: "$i", layer: "", first: "" },
    Dimension { view: View::D3, name: "3d", sample: "vec3<f32>(f32($i))", texel: "vec3<u32>($i)", layer: "", first: ".x" },
    Dimension { view: View::D2, name: "2d", sample: "vec2<f32>(f32($i))", texel: "vec2<u32>($i)", layer: "", first: ".x" },
    Dimension { view: View::D2Array, name: "2d_array", sample: "vec2<f32>(f32($i))", texel: "vec2<u32>($i)", layer: ", $j", first: ".x" },
    Dimension { view: View::Cube, name: "cube", sample: "vec3<f32>(f32($i))", texel: "", layer: "", first: ".x" },
    Dimension { view: View::CubeArray, name: "cube_array", sample: "vec3<f32>(f32($i))", texel: "", layer: ", $j", first: ".x" },
];
pub(super) const STORAGE_DIMENSIONS: Range<usize> = 0..4;
pub(super) const DEPTH_DIMENSIONS: Range<usize> = 2..6;

pub(super) fn dimension(view: View) -> &'static Dimension {
    DIMENSIONS
        .iter()
        .find(|dimension| dimension.view == view)
        .expect("every dimension is listed")
}

pub(super) const FILTERABLE: TextureSampleType = TextureSampleType::Float { filterable: true };
pub(super) const UNFILTERABLE: TextureSampleType = TextureSampleType::Float { filterable: false };
pub(super) const SAMPLE_TYPES: [TextureSampleType; 8] = [
    FILTERABLE,
    FILTERABLE,
    FILTERABLE,
    TextureSampleType::Depth,
    TextureSampleType::Depth,
    UNFILTERABLE,
    TextureSampleType::Sint,
    TextureSampleType::Uint,
];
pub(super) const MULTISAMPLED_TYPES: [TextureSampleType; 4] = [
    UNFILTERABLE,
    TextureSampleType::Depth,
    TextureSampleType::Sint,
    TextureSampleType::Uint,
];

/// What a read of a texture needs of it, and what it gives.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub text: &'static str,
    pub fits: fn(&Look) -> bool,
    pub sampler: Sampling,
    pub gives: Gives,
    /// Whether it takes its level from the neighbouring invocations, as only fragments in uniform control flow can.
    pub implicit: bool,
}

/// A sampled texture, as far as it matters for what can be done with it.
pub(super) struct Look {
    pub sample_type: TextureSampleType,
    pub multisampled: bool,
    pub dimension: &'static Dimension,
}

impl Look {
    pub fn float(&self) -> bool {
        matches!(self.sample_type, TextureSampleType::Float { .. }) && !self.multisampled
    }

    pub fn depth(&self) -> bool {
        self.sample_type == TextureSampleType::Depth && !self.multisampled
    }

    pub fn integer(&self) -> bool {
        !matches!(
            self.sample_type,
            TextureSampleType::Float { .. } | TextureSampleType::Depth
        )
    }

    pub fn arrayed(&self) -> bool {
        !self.dimension.layer.is_empty()
    }

    pub fn loadable(&self) -> bool {
        !self.dimension.texel.is_empty()
    }

    /// Whether a read can be done with this kind of sampler.
    pub fn takes(&self, read: &Read, ty: SamplerBindingType) -> bool {
        match ty {
            SamplerBindingType::Filtering => read.sampler == Sampling::Plain && self.sample_type == FILTERABLE,
            SamplerBindingType::NonFiltering => read.sampler == Sampling::Plain,
            SamplerBindingType::Comparison => read.sampler == Sampling::Comparison,
        }
    }

    /// A `u32` out of a read, by the names of the texture and the sampler.
    pub fn number(&self, read: &Read, names: &[&str]) -> String {
        let text = fill(read.text, |key| match key {
            'v' => names.first().copied(),
            's' => names.get(1).copied(),
            'c' => Some(self.dimension.sample),
            'u' => Some(self.dimension.texel),
            'l' => Some(self.dimension.layer),
            'd' => Some(self.dimension.first),
            _ => None,
        });
        match (read.gives, self.sample_type) {
            (Gives::Number, _) => text,
            (Gives::Texel, TextureSampleType::Depth) => format!("u32({text})"),
            (_, TextureSampleType::Uint) => format!("{text}.x"),
            _ => format!("u32({text}.x)"),
        }
    }

    pub fn is_1d(&self) -> bool {
        self.dimension.name == "1d"
    }

    pub fn gatherable(&self) -> bool {
        !self.multisampled && !matches!(self.dimension.name, "1d" | "3d")
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sampling {
    No,
    Plain,
    Comparison,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Gives {
    /// A `u32`.
    Number,
    /// A texel: a vector, but a scalar from a depth texture.
    Texel,
    /// A vector always.
    Vector,
}

pub(super) const fn query(text: &'static str, fits: fn(&Look) -> bool) -> Read {
    Read {
        text,
        fits,
        sampler: Sampling::No,
        gives: Gives::Number,
        implicit: false,
    }
}

pub(super) const fn load(text: &'static str, fits: fn(&Look) -> bool) -> Read {
    Read {
        gives: Gives::Texel,
        ..query(text, fits)
    }
}

pub(super) const fn sample(text: &'static str, fits: fn(&Look) -> bool) -> Read {
    Read {
        sampler: Sampling::Plain,
        ..load(text, fits)
    }
}

pub(super) const fn compare(text: &'static str, fits: fn(&Look) -> bool) -> Read {
    Read {
        sampler: Sampling::Comparison,
        ..load(text, fits)
    }
}

pub(super) const fn implicit(read: Read) -> Read {
    Read { implicit: true, ..read }
}

pub(super) const fn vector(read: Read) -> Read {
    Read {
        gives: Gives::Vector,
        ..read
    }
}

/// In the texts `$v` is the texture, `$s` the sampler, `$c` the coordinates of a sample, `$u` those of a texel, `$l` the layer
/// and `$d` the access to a number. The last argument of `textureLoad` is a level, or the sample of a multisampled texture.
#[rustfmt::skip]
pub(super) const READS: &[Read] = &[
    query("textureDimensions($v)$d", |_| true),
    query("textureDimensions($v, $j)$d", |look| !look.multisampled),
    query("textureNumLevels($v)", |look| !look.multisampled),
    query("textureNumSamples($v)", |look| look.multisampled),
    query("textureNumLayers($v)", Look::arrayed),
    load("textureLoad($v, $u$l, $j)", Look::loadable),
    implicit(sample("textureSample($v, $s, $c$l)", |look| look.float() || look.depth())),
    implicit(sample("textureSampleBias($v, $s, $c$l, 0.5)", |look| look.float() && !look.is_1d())),
    sample("textureSampleLevel($v, $s, $c$l, f32($j))", |look| look.float() && !look.is_1d()),
    sample("textureSampleLevel($v, $s, $c$l, $j)", Look::depth),
    sample("textureSampleGrad($v, $s, $c$l, $c, $c)", |look| look.float() && !look.is_1d()),
    sample("textureSampleBaseClampToEdge($v, $s, $c)", |look| look.float() && look.dimension.name == "2d"),
    vector(sample("textureGather(1, $v, $s, $c$l)", |look| look.gatherable() && (look.float() || look.integer()))),
    vector(sample("textureGather($v, $s, $c$l)", Look::depth)),
    implicit(compare("textureSampleCompare($v, $s, $c$l, 0.5)", Look::depth)),
    compare("textureSampleCompareLevel($v, $s, $c$l, 0.5)", Look::depth),
    vector(compare("textureGatherCompare($v, $s, $c$l, 0.25)", Look::depth)),
];

/// A storage texel format, its WGSL name and its scalar type.
pub(super) struct Texel {
    pub format: TextureFormat,
    pub name: &'static str,
    pub scalar: &'static str,
}

/// How many of the first formats have atomics, and how many WebGPU lets a shader read and write at once.
pub(super) const ATOMIC_TEXELS: usize = 2;
pub(super) const READ_WRITE_TEXELS: usize = 3;

#[rustfmt::skip]
pub(super) const TEXELS: [Texel; 10] = [
    Texel { format: TextureFormat::R32Uint, name: "r32uint", scalar: "u32" },
    Texel { format: TextureFormat::R32Sint, name: "r32sint", scalar: "i32" },
    Texel { format: TextureFormat::R32Float, name: "r32float", scalar: "f32" },
    Texel { format: TextureFormat::Rgba8Unorm, name: "rgba8unorm", scalar: "f32" },
    Texel { format: TextureFormat::Rgba8Snorm, name: "rgba8snorm", scalar: "f32" },
    Texel { format: TextureFormat::Rgba8Uint, name: "rgba8uint", scalar: "u32" },
    Texel { format: TextureFormat::Rgba16Sint, name: "rgba16sint", scalar: "i32" },
    Texel { format: TextureFormat::Rgba16Float, name: "rgba16float", scalar: "f32" },
    Texel { format: TextureFormat::Rg32Uint, name: "rg32uint", scalar: "u32" },
    Texel { format: TextureFormat::Rgba32Float, name: "rgba32float", scalar: "f32" },
];

pub(super) fn texel(format: TextureFormat) -> &'static Texel {
    TEXELS
        .iter()
        .find(|texel| texel.format == format)
        .expect("layouts are made of these formats")
}

pub(super) const VERTEX: ShaderStages = ShaderStages::VERTEX;
pub(super) const FRAGMENT: ShaderStages = ShaderStages::FRAGMENT;
pub(super) const COMPUTE: ShaderStages = ShaderStages::COMPUTE;
pub(super) const GRAPHICS: ShaderStages = ShaderStages::VERTEX_FRAGMENT;
pub(super) const FRAGMENT_COMPUTE: ShaderStages = FRAGMENT.union(COMPUTE);
pub(super) const ANY_STAGE: ShaderStages = GRAPHICS.union(COMPUTE);
pub(super) const MESH_STAGES: ShaderStages = ShaderStages::TASK.union(ShaderStages::MESH);

/// Who sees a binding: mostly everyone, so that textures find samplers.
#[rustfmt::skip]
pub(super) const VISIBILITIES: [ShaderStages; 16] = [
    ANY_STAGE, ANY_STAGE, ANY_STAGE, ANY_STAGE, ANY_STAGE, ANY_STAGE,
    FRAGMENT_COMPUTE, FRAGMENT_COMPUTE, GRAPHICS, GRAPHICS, VERTEX.union(COMPUTE),
    VERTEX, FRAGMENT, FRAGMENT, COMPUTE, ShaderStages::NONE,
];

/// The stages that a helper function serves.
pub(super) const HELPER_STAGES: [ShaderStages; 6] = [ANY_STAGE, FRAGMENT_COMPUTE, GRAPHICS, FRAGMENT, COMPUTE, VERTEX];

/// A statement around others (`$b`), with counters that `$n` numbers, and an index that it adds. The first is the body alone.
pub(super) struct Form {
    pub text: &'static str,
    pub index: Option<&'static str>,
}

pub(super) const FORMS: [Form; 11] = [
    Form {
        text: "$b",
        index: None,
    },
    Form {
        text: "if (acc < 40u) {\n    $b\n}",
        index: None,
    },
    Form {
        text: "if (i > 3u) {\n    acc += 1u;\n} else {\n    $b\n}",
        index: None,
    },
    Form {
        text: "for (var k$n = 0u; k$n < 4u; k$n++) {\n    $b\n}",
        index: Some("k$n"),
    },
    Form {
        text: "for (var k$n = i; k$n < 16u; k$n += 3u) {\n    if (k$n == acc) {\n        continue;\n    }\n    $b\n}",
        index: Some("k$n"),
    },
    Form {
        text: "var k$n = acc;\nwhile (k$n < 9u) {\n    $b\n    k$n += 2u;\n}",
        index: Some("k$n"),
    },
    Form {
        text: "for (var k$n = 0u; k$n < 3u; k$n++) {\n    for (var m$n = k$n; m$n < 5u; m$n++) {\n        $b\n    }\n}",
        index: Some("k$n + m$n"),
    },
    Form {
        text: "var k$n = i;\nwhile (k$n > 1u) {\n    for (var m$n = 0u; m$n < k$n; m$n++) {\n        $b\n    }\n    k$n /= 2u;\n}",
        index: Some("m$n"),
    },
    Form {
        text: "var k$n = 0u;\nloop {\n    $b\n    continuing {\n        k$n++;\n        break if (k$n > 5u);\n    }\n}",
        index: Some("k$n"),
    },
    // The only exit stands in the guarded branch (known trap 11).
    Form {
        text: "var k$n = 0u;\nloop {\n    if (k$n > acc) {\n        $b\n        break;\n    }\n    k$n += 3u;\n}",
        index: Some("k$n"),
    },
    Form {
        text: "switch (acc % 3u) {\n    case 0u, 2u: {\n        $b\n    }\n    default: {}\n}",
        index: None,
    },
];

/// Indices and values that every function has at hand.
pub(super) const INDICES: [&str; 4] = ["i", "acc", "i + 1u", "1u"];

/// The arguments of an entry point and how it begins: with an `i`.
pub(super) type Opening = (&'static str, &'static str);

pub(super) const VERTEX_OPENINGS: [Opening; 5] = [
    ("@builtin(vertex_index) i: u32", "var acc = i;"),
    (
        "@builtin(vertex_index) i: u32, @builtin(instance_index) instance: u32",
        "var acc = instance;",
    ),
    (
        "@location(0) i: u32, @location(1) corner: vec4<f32>",
        "var acc = u32(corner.y);",
    ),
    ("@builtin(instance_index) i: u32", "var acc = i;"),
    (
        "inputs: Attributes",
        "let i = inputs.key;\n    var acc = inputs.vertex + u32(inputs.bounds.y) + u32(inputs.lengths.z);",
    ),
];
/// The locations have gaps, and one of them has another type than in the third opening.
pub(super) const ATTRIBUTES: &str = "struct Attributes {
    @location(0) key: u32,
    @location(1) corner: vec2<f32>,
    @location(3) lengths: vec3<f32>,
    @builtin(vertex_index) vertex: u32,
    @location(6) bounds: vec2<i32>,
}";
pub(super) const FRAGMENT_OPENINGS: [Opening; 3] = [
    (
        "@builtin(position) at: vec4<f32>",
        "let i = u32(at.x);\n    var acc = u32(at.y);",
    ),
    (
        "@builtin(front_facing) front: bool, @builtin(position) at: vec4<f32>",
        "let i = select(u32(at.x), 1u, front);\n    var acc = i;",
    ),
    ("@builtin(primitive_index) i: u32", "var acc = i;"),
];
pub(super) const COMPUTE_OPENINGS: [Opening; 3] = [
    (
        "@builtin(global_invocation_id) id: vec3<u32>",
        "let i = id.x;\n    var acc = id.y;",
    ),
    (
        "@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) group: vec3<u32>",
        "var acc = group.x;",
    ),
    ("@builtin(local_invocation_index) i: u32", "var acc = 0u;"),
];

/// What a vertex shader hands to a fragment shader, in the modules where it hands anything.
pub(super) const VARYINGS: &str = "struct Varyings {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) value: u32,
}";

pub(super) const RAY_QUERY: &str = "var query$n: ray_query;
rayQueryInitialize(&query$n, $v, RayDesc(0u, 255u, 0.1, 100.0, vec3<f32>(f32($i)), vec3<f32>(1.0)));
rayQueryProceed(&query$n);
acc += rayQueryGetCommittedIntersection(&query$n).kind;";

/// What the task and mesh stages hand on.
pub(super) const MESH_STRUCTS: &str = "struct Payload {
    value: u32,
    rows: array<vec4<f32>, 2>,
}

struct MeshVertex {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) value: u32,
}

struct MeshPrimitive {
    @builtin(triangle_indices) indices: vec3<u32>,
}

struct MeshOutput {
    @builtin(vertices) vertices: array<MeshVertex, 3>,
    @builtin(primitives) primitives: array<MeshPrimitive, 1>,
    @builtin(vertex_count) vertex_count: u32,
    @builtin(primitive_count) primitive_count: u32,
}";
pub(super) const MESH_VARIABLES: &str = "var<task_payload> payload: Payload;
var<workgroup> mesh_output: MeshOutput;";
/// `$m` is the name and `$b` the body.
pub(super) const TASK: &str = "@task
@payload(payload)
@workgroup_size(2)
fn $m(@builtin(local_invocation_index) i: u32) -> @builtin(mesh_task_size) vec3<u32> {
    var acc = i;
$b    payload.value = acc;
    return vec3<u32>(1u, 1u, acc % 4u);
}";
pub(super) const MESH: &str = "@mesh(mesh_output)
@payload(payload)
@workgroup_size(1)
fn $m(@builtin(local_invocation_index) i: u32) {
    var acc = payload.value;
$b    mesh_output.vertex_count = 3u;
    mesh_output.primitive_count = 1u;
    mesh_output.vertices[i % 3u].position = vec4<f32>(f32(acc));
    mesh_output.primitives[0].indices = vec3<u32>(0u, 1u, 2u);
}";

/// Reads of an external texture, the last one with a sampler `$s`.
pub(super) const EXTERNAL_READS: [&str; 3] = [
    "acc += textureDimensions($v).x;",
    "acc += u32(textureLoad($v, vec2<u32>($i, $j)).x);",
    "acc += u32(textureSampleBaseClampToEdge($v, $s, vec2<f32>(f32($i))).y);",
];

/// An array in a function, reached by an index and through a pointer.
pub(super) const LOCAL_ARRAY: &str = "var local$n = array<u32, 4>(acc, 1u, 2u, 3u);
local$n[$i] = $x;
let p$n = &local$n;
acc += (*p$n)[$j];";

/// Names that Metal keeps to itself and WGSL does not.
pub(super) const METAL_WORDS: [&str; 8] = [
    "device",
    "constant",
    "kernel",
    "half",
    "threadgroup",
    "uint",
    "float4",
    "metal",
];
