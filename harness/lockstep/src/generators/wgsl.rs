//! Layout cases with a shader, out of bytes.
//!
//! The layout comes first, and the shader's variables are declared from its entries, so that the two fit; a fault then spoils
//! the layout under a variable that an entry point reaches. What shaders are made of stands in tables of WGSL text, in which
//! `$` and a letter marks what is filled in (see `fill`).

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::Range;

use arbitrary::{Result, Unstructured};
use naga::valid::Capabilities;
use wgpu_types::{
    BindGroupLayoutEntry, BindingType, BufferBindingType, SamplerBindingType, ShaderStages, StorageTextureAccess,
    TextureFormat, TextureSampleType, TextureViewDimension as View,
};

use super::Made;
use super::layout::{Group, arrange, chance, shuffle, system, table};
use crate::case::{LayoutCase, Shader, Stage};

/// The faults that [`shader_case`] puts in: the layout lacks what an entry point reaches, holds it in another table, or hides it
/// from that entry point's stage.
pub const FAULTS: [&str; 3] = ["missing-binding", "other-kind", "invisible"];

/// What naga's validator must be told to allow for the shaders made here.
pub const CAPABILITIES: Capabilities = Capabilities::CUBE_ARRAY_TEXTURES
    .union(Capabilities::MULTISAMPLED_SHADING)
    .union(Capabilities::PRIMITIVE_INDEX)
    .union(Capabilities::RAY_QUERY)
    .union(Capabilities::TEXTURE_ATOMIC);

/// A layout, a shader for it and a system, and the faults that were put in. Names in the WGSL mean nothing. On a system that is
/// too old for a feature a case without fault is refused too.
pub fn shader_case(u: &mut Unstructured<'_>) -> Result<Made<LayoutCase>> {
    let system = system(u, 200)?;
    let mut source = Source::default();
    let mut groups = source.groups(u)?;
    source.overrides(u)?;
    source.locals(u)?;
    source.helpers(u)?;
    source.entry_points(u)?;
    let faults = faults(u, &source, &mut groups)?;
    let overrides = source.constants.clone();
    let shader = Some(Shader {
        wgsl: source.text(u)?,
        overrides,
    });
    let case = LayoutCase {
        groups,
        immediate_size: 0,
        vertex_pulling: false,
        system,
        shader,
    };
    Ok(Made { case, faults })
}

// ---------------------------------------------------------------------------------------------------------------------
// Tables
// ---------------------------------------------------------------------------------------------------------------------

/// A type that a variable in memory has, and what can be done with it. In the texts `$v` is the variable, `$i` and `$j` are
/// indices, `$x` is a value, all `u32`.
struct Shape {
    ty: &'static str,
    /// The structs that the type names.
    structs: &'static [&'static str],
    /// At least the bytes that a binding must have.
    size: u64,
    /// Where it can lie: [`UNIFORM`] and so on.
    spaces: u8,
    /// Expressions of type `u32`.
    reads: &'static [&'static str],
    /// Statements, for a variable that can be written.
    writes: &'static [&'static str],
}

const UNIFORM: u8 = 1;
const STORAGE: u8 = 2;
const READ_WRITE: u8 = 4;
const WORKGROUP: u8 = 8;
const PRIVATE: u8 = 16;
const ANY_STORAGE: u8 = STORAGE | READ_WRITE;
const LOCAL: u8 = WORKGROUP | PRIVATE;

const PARAMS: &str = "struct Params {
    scale: vec3<f32>,
    count: u32,
    basis: mat3x3<f32>,
    weights: array<vec4<f32>, 4>,
}";
const ITEM: &str = "struct Item {
    key: u32,
    value: vec2<u32>,
    slots: array<u32, 3>,
}";
const TAIL: &str = "struct Tail {
    head: u32,
    items: array<u32>,
}";
const LIST: &str = "struct List {
    bounds: vec4<f32>,
    count: u32,
    items: array<Item>,
}";
const COUNTERS: &str = "struct Counters {
    total: atomic<i32>,
    each: array<atomic<u32>>,
}";

#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    Shape {
        ty: "u32", structs: &[], size: 4, spaces: UNIFORM | ANY_STORAGE | LOCAL,
        reads: &["$v"],
        writes: &["$v = $x;", "$v += $x;"],
    },
    Shape {
        ty: "array<u32>", structs: &[], size: 4, spaces: ANY_STORAGE,
        reads: &["$v[$i]", "arrayLength(&$v)", "$v[arrayLength(&$v) - 1u]"],
        writes: &["$v[$i] = $x;", "$v[$i] = arrayLength(&$v);"],
    },
    Shape {
        ty: "vec4<f32>", structs: &[], size: 16, spaces: UNIFORM | ANY_STORAGE | LOCAL,
        reads: &["u32($v.x)", "u32($v[$i])"],
        writes: &["$v = vec4<f32>(f32($x));", "$v[$i] = f32($x);"],
    },
    Shape {
        ty: "mat4x4<f32>", structs: &[], size: 64, spaces: UNIFORM | ANY_STORAGE,
        reads: &["u32($v[$i].y)", "u32($v[$i][$j])"],
        writes: &["$v[$i] = vec4<f32>(f32($x));"],
    },
    Shape {
        ty: "array<vec4<u32>, 8>", structs: &[], size: 128, spaces: UNIFORM | ANY_STORAGE | LOCAL,
        reads: &["$v[$i].z", "$v[$i][$j]"],
        writes: &["$v[$i].x = $x;", "$v[$i][$j] = $x;"],
    },
    Shape {
        ty: "array<u32, 16>", structs: &[], size: 64, spaces: ANY_STORAGE | LOCAL,
        reads: &["$v[$i]", "$v[3]"],
        writes: &["$v[$i] = $x;"],
    },
    Shape {
        ty: "Params", structs: &[PARAMS], size: 128, spaces: UNIFORM | ANY_STORAGE | LOCAL,
        reads: &["$v.count", "u32($v.scale[$i])", "u32($v.weights[$i].w)", "u32($v.basis[$i].x)"],
        writes: &["$v.count = $x;", "$v.weights[$i].x = f32($x);", "$v.scale.y = f32($x);"],
    },
    Shape {
        ty: "array<vec3<f32>>", structs: &[], size: 16, spaces: ANY_STORAGE,
        reads: &["u32($v[$i].x)", "u32($v[$i][$j])", "arrayLength(&$v)"],
        writes: &["$v[$i].y = f32($x);", "$v[$i] = vec3<f32>(f32($x));"],
    },
    Shape {
        ty: "array<Item>", structs: &[ITEM], size: 32, spaces: ANY_STORAGE,
        reads: &["$v[$i].key", "$v[$i].slots[$j]", "arrayLength(&$v)"],
        writes: &["$v[$i].value = vec2<u32>($x);", "$v[$i].slots[$j] = $x;", "$v[$i] = $v[$j];"],
    },
    Shape {
        ty: "array<array<u32, 4>>", structs: &[], size: 16, spaces: ANY_STORAGE,
        reads: &["$v[$i][$j]", "arrayLength(&$v)"],
        writes: &["$v[$i][$j] = $x;"],
    },
    Shape {
        ty: "Tail", structs: &[TAIL], size: 8, spaces: ANY_STORAGE,
        reads: &["$v.head", "$v.items[$i]", "arrayLength(&$v.items)"],
        writes: &["$v.head = $x;", "$v.items[$i] = $x;"],
    },
    Shape {
        ty: "List", structs: &[ITEM, LIST], size: 64, spaces: ANY_STORAGE,
        reads: &["$v.count", "$v.items[$i].slots[$j]", "arrayLength(&$v.items)", "u32($v.bounds[$i])"],
        writes: &["$v.items[$i].key = $x;", "$v.bounds[$i] = f32($x);"],
    },
    Shape {
        ty: "atomic<u32>", structs: &[], size: 4, spaces: READ_WRITE | WORKGROUP,
        reads: &["atomicLoad(&$v)", "atomicAdd(&$v, $x)", "atomicCompareExchangeWeak(&$v, $x, 1u).old_value"],
        writes: &["atomicStore(&$v, $x);", "atomicMax(&$v, $x);"],
    },
    Shape {
        ty: "array<atomic<u32>>", structs: &[], size: 4, spaces: READ_WRITE,
        reads: &["atomicLoad(&$v[$i])", "atomicOr(&$v[$i], $x)", "arrayLength(&$v)"],
        writes: &["atomicStore(&$v[$i], $x);", "atomicSub(&$v[$i], $x);"],
    },
    Shape {
        ty: "array<atomic<u32>, 4>", structs: &[], size: 16, spaces: READ_WRITE | WORKGROUP,
        reads: &["atomicExchange(&$v[$i], $x)", "atomicLoad(&$v[$i])"],
        writes: &["atomicXor(&$v[$i], $x);"],
    },
    Shape {
        ty: "Counters", structs: &[COUNTERS], size: 8, spaces: READ_WRITE,
        reads: &["u32(atomicLoad(&$v.total))", "atomicMin(&$v.each[$i], $x)", "arrayLength(&$v.each)"],
        writes: &["atomicAdd(&$v.total, 1i);", "atomicStore(&$v.each[$i], $x);"],
    },
];

/// An array whose length is an override. It may have one element, so that no index into it is constant.
static OVERRIDE_SIZED: Shape = Shape {
    ty: "array<u32, $n>",
    structs: &[],
    size: 0,
    spaces: WORKGROUP,
    reads: &["$v[$i + acc]"],
    writes: &["$v[$i + acc] = $x;"],
};

/// A dimension of textures: its WGSL name, the coordinates of a sample and of a texel (`$i` is a `u32`), the array layer, and
/// how a `u32` is got from what `textureDimensions` gives.
struct Dimension {
    view: View,
    name: &'static str,
    sample: &'static str,
    texel: &'static str,
    layer: &'static str,
    first: &'static str,
}

/// The first four are those of storage textures, the last four those of depth textures.
#[rustfmt::skip]
const DIMENSIONS: [Dimension; 6] = [
    Dimension { view: View::D1, name: "1d", sample: "f32($i)", texel: "$i", layer: "", first: "" },
    Dimension { view: View::D3, name: "3d", sample: "vec3<f32>(f32($i))", texel: "vec3<u32>($i)", layer: "", first: ".x" },
    Dimension { view: View::D2, name: "2d", sample: "vec2<f32>(f32($i))", texel: "vec2<u32>($i)", layer: "", first: ".x" },
    Dimension { view: View::D2Array, name: "2d_array", sample: "vec2<f32>(f32($i))", texel: "vec2<u32>($i)", layer: ", $j", first: ".x" },
    Dimension { view: View::Cube, name: "cube", sample: "vec3<f32>(f32($i))", texel: "", layer: "", first: ".x" },
    Dimension { view: View::CubeArray, name: "cube_array", sample: "vec3<f32>(f32($i))", texel: "", layer: ", $j", first: ".x" },
];
const STORAGE_DIMENSIONS: Range<usize> = 0..4;
const DEPTH_DIMENSIONS: Range<usize> = 2..6;

fn dimension(view: View) -> &'static Dimension {
    DIMENSIONS
        .iter()
        .find(|dimension| dimension.view == view)
        .expect("every dimension is listed")
}

const FILTERABLE: TextureSampleType = TextureSampleType::Float { filterable: true };
const UNFILTERABLE: TextureSampleType = TextureSampleType::Float { filterable: false };
const SAMPLE_TYPES: [TextureSampleType; 8] = [
    FILTERABLE,
    FILTERABLE,
    FILTERABLE,
    TextureSampleType::Depth,
    TextureSampleType::Depth,
    UNFILTERABLE,
    TextureSampleType::Sint,
    TextureSampleType::Uint,
];
const MULTISAMPLED_TYPES: [TextureSampleType; 4] = [
    UNFILTERABLE,
    TextureSampleType::Depth,
    TextureSampleType::Sint,
    TextureSampleType::Uint,
];

/// What a read of a texture needs of it, and what it gives.
#[derive(Clone, Copy)]
struct Read {
    text: &'static str,
    fits: fn(&Look) -> bool,
    sampler: Sampling,
    gives: Gives,
    /// Whether it takes its level from the neighbouring invocations, as only fragments in uniform control flow can.
    implicit: bool,
}

/// A sampled texture, as far as it matters for what can be done with it.
struct Look {
    sample_type: TextureSampleType,
    multisampled: bool,
    dimension: &'static Dimension,
}

impl Look {
    fn float(&self) -> bool {
        matches!(self.sample_type, TextureSampleType::Float { .. }) && !self.multisampled
    }

    fn depth(&self) -> bool {
        self.sample_type == TextureSampleType::Depth && !self.multisampled
    }

    fn integer(&self) -> bool {
        !matches!(
            self.sample_type,
            TextureSampleType::Float { .. } | TextureSampleType::Depth
        )
    }

    fn arrayed(&self) -> bool {
        !self.dimension.layer.is_empty()
    }

    fn loadable(&self) -> bool {
        !self.dimension.texel.is_empty()
    }

    /// Whether a read can be done with this kind of sampler.
    fn takes(&self, read: &Read, ty: SamplerBindingType) -> bool {
        match ty {
            SamplerBindingType::Filtering => read.sampler == Sampling::Plain && self.sample_type == FILTERABLE,
            SamplerBindingType::NonFiltering => read.sampler == Sampling::Plain,
            SamplerBindingType::Comparison => read.sampler == Sampling::Comparison,
        }
    }

    /// A `u32` out of a read, by the names of the texture and the sampler.
    fn number(&self, read: &Read, names: &[&str]) -> String {
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

    fn is_1d(&self) -> bool {
        self.dimension.name == "1d"
    }

    fn gatherable(&self) -> bool {
        !self.multisampled && !matches!(self.dimension.name, "1d" | "3d")
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Sampling {
    No,
    Plain,
    Comparison,
}

#[derive(Clone, Copy, PartialEq)]
enum Gives {
    /// A `u32`.
    Number,
    /// A texel: a vector, but a scalar from a depth texture.
    Texel,
    /// A vector always.
    Vector,
}

const fn query(text: &'static str, fits: fn(&Look) -> bool) -> Read {
    Read {
        text,
        fits,
        sampler: Sampling::No,
        gives: Gives::Number,
        implicit: false,
    }
}

const fn load(text: &'static str, fits: fn(&Look) -> bool) -> Read {
    Read {
        gives: Gives::Texel,
        ..query(text, fits)
    }
}

const fn sample(text: &'static str, fits: fn(&Look) -> bool) -> Read {
    Read {
        sampler: Sampling::Plain,
        ..load(text, fits)
    }
}

const fn compare(text: &'static str, fits: fn(&Look) -> bool) -> Read {
    Read {
        sampler: Sampling::Comparison,
        ..load(text, fits)
    }
}

const fn implicit(read: Read) -> Read {
    Read { implicit: true, ..read }
}

const fn vector(read: Read) -> Read {
    Read {
        gives: Gives::Vector,
        ..read
    }
}

/// In the texts `$v` is the texture, `$s` the sampler, `$c` the coordinates of a sample, `$u` those of a texel, `$l` the layer
/// and `$d` the access to a number. The last argument of `textureLoad` is a level, or the sample of a multisampled texture.
#[rustfmt::skip]
const READS: &[Read] = &[
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
struct Texel {
    format: TextureFormat,
    name: &'static str,
    scalar: &'static str,
}

/// How many of the first formats have atomics, and how many WebGPU lets a shader read and write at once.
const ATOMIC_TEXELS: usize = 2;
const READ_WRITE_TEXELS: usize = 3;

#[rustfmt::skip]
const TEXELS: [Texel; 10] = [
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

fn texel(format: TextureFormat) -> &'static Texel {
    TEXELS
        .iter()
        .find(|texel| texel.format == format)
        .expect("layouts are made of these formats")
}

const VERTEX: ShaderStages = ShaderStages::VERTEX;
const FRAGMENT: ShaderStages = ShaderStages::FRAGMENT;
const COMPUTE: ShaderStages = ShaderStages::COMPUTE;
const GRAPHICS: ShaderStages = ShaderStages::VERTEX_FRAGMENT;
const FRAGMENT_COMPUTE: ShaderStages = FRAGMENT.union(COMPUTE);
const ANY_STAGE: ShaderStages = GRAPHICS.union(COMPUTE);

/// Who sees a binding: mostly everyone, so that textures find samplers.
#[rustfmt::skip]
const VISIBILITIES: [ShaderStages; 16] = [
    ANY_STAGE, ANY_STAGE, ANY_STAGE, ANY_STAGE, ANY_STAGE, ANY_STAGE,
    FRAGMENT_COMPUTE, FRAGMENT_COMPUTE, GRAPHICS, GRAPHICS, VERTEX.union(COMPUTE),
    VERTEX, FRAGMENT, FRAGMENT, COMPUTE, ShaderStages::NONE,
];

/// The stages that a helper function serves.
const HELPER_STAGES: [ShaderStages; 6] = [ANY_STAGE, FRAGMENT_COMPUTE, GRAPHICS, FRAGMENT, COMPUTE, VERTEX];

/// A statement around others (`$b`), with counters that `$n` numbers, and an index that it adds. The first is the body alone.
struct Form {
    text: &'static str,
    index: Option<&'static str>,
}

const FORMS: [Form; 11] = [
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
const INDICES: [&str; 4] = ["i", "acc", "i + 1u", "1u"];

/// The arguments of an entry point and how it begins: with an `i`.
type Opening = (&'static str, &'static str);

const VERTEX_OPENINGS: [Opening; 4] = [
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
];
const FRAGMENT_OPENINGS: [Opening; 3] = [
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
const COMPUTE_OPENINGS: [Opening; 3] = [
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
const VARYINGS: &str = "struct Varyings {
    @builtin(position) position: vec4<f32>,
    @location(0) @interpolate(flat) value: u32,
}";

const RAY_QUERY: &str = "var query$n: ray_query;
rayQueryInitialize(&query$n, $v, RayDesc(0u, 255u, 0.1, 100.0, vec3<f32>(f32($i)), vec3<f32>(1.0)));
rayQueryProceed(&query$n);
acc += rayQueryGetCommittedIntersection(&query$n).kind;";

/// Names that Metal keeps to itself and WGSL does not.
const METAL_WORDS: [&str; 8] = [
    "device",
    "constant",
    "kernel",
    "half",
    "threadgroup",
    "uint",
    "float4",
    "metal",
];

// ---------------------------------------------------------------------------------------------------------------------
// The module
// ---------------------------------------------------------------------------------------------------------------------

/// A variable of the module.
struct Variable {
    name: String,
    declaration: String,
    kind: Kind,
    /// The stages whose functions may use it.
    stages: ShaderStages,
    /// Its group and binding.
    at: Option<(usize, u32)>,
    /// Another variable at the same group and binding, declared before it; no entry point may reach both.
    twin: Option<usize>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// In one of the spaces.
    Memory {
        shape: &'static Shape,
        space: u8,
    },
    Handle(BindingType),
}

struct Override {
    name: String,
    /// How a `u32` is got from it.
    read: &'static str,
    /// Whether it is a small positive `u32`.
    is_size: bool,
}

/// A function, and what it reaches: a bit for each variable.
struct Function {
    name: String,
    stages: ShaderStages,
    reaches: u64,
    /// Whether it must be called in uniform control flow.
    uniform: bool,
}

/// The module while it is made.
#[derive(Default)]
struct Source {
    variables: Vec<Variable>,
    overrides: Vec<Override>,
    constants: BTreeMap<String, f64>,
    helpers: Vec<Function>,
    entry_points: Vec<(Stage, u64)>,
    enables: Vec<&'static str>,
    structs: Vec<&'static str>,
    /// The declarations of overrides, and the functions.
    override_texts: Vec<String>,
    function_texts: Vec<String>,
}

/// Something that a body makes use of, by its index in the module.
#[derive(Clone, Copy)]
enum Use {
    Variable(usize),
    Helper(usize),
    Override(usize),
    Barrier,
}

/// A statement, what it reaches, and whether it must stand in uniform control flow.
struct Statement {
    text: String,
    reaches: u64,
    uniform: bool,
    /// A function of its own that it calls, numbered by `$f`.
    function: Option<String>,
}

impl Statement {
    fn new(text: String, reaches: u64) -> Statement {
        Statement {
            text,
            reaches,
            uniform: false,
            function: None,
        }
    }
}

/// The statements of a function, and what holds for them all.
#[derive(Default)]
struct Body {
    lines: String,
    reaches: u64,
    uniform: bool,
    /// Functions for this one alone.
    functions: Vec<String>,
    counters: u32,
}

impl Body {
    /// Adds a form with the statement in it.
    fn put(&mut self, form: &str, statement: &str) {
        self.counters += 1;
        for line in form.lines() {
            match line.strip_suffix("$b") {
                Some(indent) => statement.lines().for_each(|line| self.line(indent, line)),
                None => self.line("", line),
            }
        }
    }

    fn line(&mut self, indent: &str, line: &str) {
        for part in ["    ", indent, line, "\n"] {
            self.lines.push_str(part);
        }
    }
}

/// Adds what the module wants once.
fn want(wanted: &mut Vec<&'static str>, text: &'static str) {
    if !wanted.contains(&text) {
        wanted.push(text);
    }
}

impl Source {
    /// The layout, and the variables for most of its entries.
    fn groups(&mut self, u: &mut Unstructured<'_>) -> Result<Vec<Group>> {
        let mut groups = Vec::new();
        for group in 0..u.int_in_range(1..=4)? {
            let len = match u.arbitrary::<u8>()? {
                0..24 => {
                    groups.push(None);
                    continue;
                }
                24..40 => 0,
                byte => 1 + usize::from(byte) % 6,
            };
            let (first, step) = *u.choose(&[(0, 1), (0, 1), (0, 1), (3, 1), (0, 7), (995, 1)])?;
            let mut entries = Vec::new();
            for index in 0..len {
                let binding = (first + step * index as u32).min(994 + index as u32);
                entries.push(self.entry(u, group, binding)?);
            }
            arrange(u, &mut entries)?;
            groups.push(Some(entries));
        }
        Ok(groups)
    }

    /// One entry, and mostly the variable for it.
    fn entry(&mut self, u: &mut Unstructured<'_>, group: usize, binding: u32) -> Result<BindGroupLayoutEntry> {
        let (ty, kind) = resource(u)?;
        let mut visibility = *u.choose(&VISIBILITIES)?;
        if writable(&ty) {
            visibility.remove(VERTEX);
        }
        if !chance(u, 24)? {
            let at = Some((group, binding));
            let twin = Some(self.variables.len());
            self.declare(u, kind, visibility, at, None)?;
            if let Kind::Memory { shape, space } = kind
                && chance(u, 12)?
            {
                // The entry's least size, which was made for the first, must do.
                let mut shapes = shapes(space);
                shapes.retain(|other| other.size <= shape.size);
                let kind = Kind::Memory {
                    shape: *u.choose(&shapes)?,
                    space,
                };
                self.declare(u, kind, visibility, at, twin)?;
            }
        }
        Ok(BindGroupLayoutEntry {
            binding,
            visibility,
            ty,
            count: None,
        })
    }

    /// Adds a bound variable.
    fn declare(
        &mut self,
        u: &mut Unstructured<'_>,
        kind: Kind,
        stages: ShaderStages,
        at: Option<(usize, u32)>,
        twin: Option<usize>,
    ) -> Result<()> {
        let name = self.name(u, &kind)?;
        if let Kind::Memory { shape, .. } = kind {
            shape.structs.iter().for_each(|text| want(&mut self.structs, text));
        }
        if matches!(kind, Kind::Handle(BindingType::AccelerationStructure { .. })) {
            want(&mut self.enables, "wgpu_ray_query");
        }
        let place = at.map(|(group, binding)| format!("@group({group}) @binding({binding}) "));
        let (place, space, ty) = (place.unwrap_or_default(), address_space(&kind), type_name(&kind));
        let size = self.size().map(|constant| constant.name.as_str());
        let declaration = fill(&format!("{place}var{space} {name}: {ty};"), |_| size);
        self.variables.push(Variable {
            name,
            declaration,
            kind,
            stages,
            at,
            twin,
        });
        Ok(())
    }

    /// A name for the next variable.
    fn name(&self, u: &mut Unstructured<'_>, kind: &Kind) -> Result<String> {
        let index = self.variables.len();
        Ok(match METAL_WORDS.get(index) {
            Some(word) if chance(u, 12)? => word.to_string(),
            _ => format!("{}{index}", prefix(kind)),
        })
    }

    /// The first override that can be a size.
    fn size(&self) -> Option<&Override> {
        self.overrides.iter().find(|constant| constant.is_size)
    }

    /// Up to four overrides, and constants for those that need one and for part of the others.
    fn overrides(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        for index in 0..u.int_in_range(0..=4u8)? {
            let name = format!("{}{index}", *u.choose(&["size", "option", "half"])?);
            let base = self.size().filter(|base| base.name.ends_with('0'));
            let (ty, default, read, byte) = match (u.arbitrary::<u8>()? % 8, base) {
                (0..4, _) => ("u32", "4u".to_string(), "$v", u.int_in_range(1..=8u8)?),
                (4, _) => ("f32", "0.5".to_string(), "u32($v * 8.0)", u.arbitrary()?),
                (5, _) => ("i32", "-3i".to_string(), "u32($v + 300i)", u.arbitrary()?),
                (6, Some(base)) => ("u32", format!("{} * 2u", base.name), "$v * 3u", 6),
                _ => (
                    "bool",
                    "true".to_string(),
                    "select(1u, 2u, $v)",
                    u.int_in_range(0..=1u8)?,
                ),
            };
            let value = if ty == "f32" {
                f64::from(byte) / 4.0
            } else {
                f64::from(byte)
            };
            let (required, given, with_id) = (chance(u, 48)?, chance(u, 128)?, chance(u, 96)?);
            let id = 7 * u32::from(index) + 1;
            if required || given {
                self.constants
                    .insert(if with_id { id.to_string() } else { name.clone() }, value);
            }
            let attribute = if with_id { format!("@id({id}) ") } else { String::new() };
            let default = if required {
                String::new()
            } else {
                format!(" = {default}")
            };
            self.override_texts
                .push(format!("{attribute}override {name}: {ty}{default};"));
            self.overrides.push(Override {
                name,
                read,
                is_size: ty == "u32",
            });
        }
        Ok(())
    }

    /// Workgroup and private variables.
    fn locals(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        for _ in 0..*u.choose(&[0, 0, 1, 2])? {
            let spaces = [(WORKGROUP, COMPUTE), (WORKGROUP, COMPUTE), (PRIVATE, ANY_STAGE)];
            let (space, stages) = *u.choose(&spaces)?;
            let sized = space == WORKGROUP && self.size().is_some() && chance(u, 128)?;
            let shape = if sized {
                &OVERRIDE_SIZED
            } else {
                *u.choose(&shapes(space))?
            };
            self.declare(u, Kind::Memory { shape, space }, stages, None, None)?;
        }
        Ok(())
    }

    /// Functions that reach variables and call earlier ones.
    fn helpers(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        for index in 0..*u.choose(&[0, 1, 1, 2, 2, 3])? {
            let stages = *u.choose(&HELPER_STAGES)?;
            let name = format!("helper{index}");
            let Body {
                lines,
                reaches,
                uniform,
                functions,
                ..
            } = self.body(u, stages)?;
            self.function_texts.extend(functions);
            self.function_texts.push(format!(
                "fn {name}(i: u32) -> u32 {{\n    var acc = i;\n{lines}    return acc;\n}}"
            ));
            self.helpers.push(Function {
                name,
                stages,
                reaches,
                uniform,
            });
        }
        Ok(())
    }

    fn entry_points(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let varyings = chance(u, 100)?;
        for index in 0..u.int_in_range(1..=5)? {
            let stage = Stage::ALL[u.int_in_range(0..=2)?];
            let name = match index {
                0 if chance(u, 32)? => "main".to_string(),
                _ => format!("{}_{index}", stage.name()),
            };
            let mut body = self.body(u, stage.visibility())?;
            self.put_twins(u, stage.visibility(), &mut body)?;
            self.function_texts.append(&mut body.functions);
            let text = match stage {
                Stage::Vertex => self.vertex(u, &name, &body.lines, varyings)?,
                Stage::Fragment => self.fragment(u, &name, &body.lines, varyings)?,
                _ => self.compute(u, &name, &body.lines)?,
            };
            self.function_texts.push(text);
            self.entry_points.push((stage, body.reaches));
        }
        Ok(())
    }

    fn vertex(&mut self, u: &mut Unstructured<'_>, name: &str, lines: &str, varyings: bool) -> Result<String> {
        let (arguments, start) = *u.choose(&VERTEX_OPENINGS)?;
        let (result, value) = if varyings {
            want(&mut self.structs, VARYINGS);
            ("Varyings", "Varyings(vec4<f32>(f32(acc)), acc)")
        } else if chance(u, 32)? {
            ("@invariant @builtin(position) vec4<f32>", "vec4<f32>(f32(acc))")
        } else {
            ("@builtin(position) vec4<f32>", "vec4<f32>(f32(acc))")
        };
        Ok(format!(
            "@vertex\nfn {name}({arguments}) -> {result} {{\n    {start}\n{lines}    return {value};\n}}"
        ))
    }

    fn fragment(&mut self, u: &mut Unstructured<'_>, name: &str, lines: &str, varyings: bool) -> Result<String> {
        let (arguments, start) = if varyings && !chance(u, 64)? {
            want(&mut self.structs, VARYINGS);
            (
                "inputs: Varyings",
                "let i = inputs.value;\n    var acc = u32(inputs.position.x);",
            )
        } else {
            let opening = if chance(u, 16)? { 2 } else { u.int_in_range(0..=1)? };
            FRAGMENT_OPENINGS[opening]
        };
        if arguments.contains("primitive_index") {
            want(&mut self.enables, "primitive_index");
        }
        let discard = if chance(u, 32)? {
            "    if (acc == 77u) {\n        discard;\n    }\n"
        } else {
            ""
        };
        let (result, value) = if chance(u, 24)? {
            ("", "")
        } else {
            (" -> @location(0) vec4<f32>", " vec4<f32>(f32(acc))")
        };
        Ok(format!(
            "@fragment\nfn {name}({arguments}){result} {{\n    {start}\n{lines}{discard}    return{value};\n}}"
        ))
    }

    fn compute(&mut self, u: &mut Unstructured<'_>, name: &str, lines: &str) -> Result<String> {
        let (arguments, start) = *u.choose(&COMPUTE_OPENINGS)?;
        // An override is at most 16, so that no workgroup has more invocations than 256.
        let mut size = vec!["4", "2", "1"];
        size.truncate(u.int_in_range(1..=3)?);
        let sizes: Vec<_> = self.overrides.iter().filter(|constant| constant.is_size).collect();
        if !sizes.is_empty() && chance(u, 160)? {
            let place = u.choose_index(size.len())?;
            size[place] = &u.choose(&sizes)?.name;
        }
        let size = size.join(", ");
        Ok(format!(
            "@compute @workgroup_size({size})\nfn {name}({arguments}) {{\n    {start}\n{lines}}}"
        ))
    }

    /// The statements of a function for the given stages.
    fn body(&self, u: &mut Unstructured<'_>, stages: ShaderStages) -> Result<Body> {
        let mut body = Body::default();
        let density = *u.choose(&[128, 128, 64, 255])?;
        let mut uses = Vec::new();
        for (index, variable) in self.variables.iter().enumerate() {
            let usable = variable.stages.contains(stages) && variable.twin.is_none();
            if usable && chance(u, density)? {
                uses.push(Use::Variable(index));
            }
        }
        for (index, helper) in self.helpers.iter().enumerate() {
            if helper.stages.contains(stages) && chance(u, 96)? {
                uses.push(Use::Helper(index));
            }
        }
        for index in 0..self.overrides.len() {
            if chance(u, 64)? {
                uses.push(Use::Override(index));
            }
        }
        if stages == COMPUTE && chance(u, 48)? {
            uses.push(Use::Barrier);
        }
        shuffle(u, &mut uses)?;
        for one in uses {
            self.put(u, stages, one, &mut body)?;
        }
        Ok(body)
    }

    /// Adds uses of variables that share their binding with one that the entry point does not reach.
    fn put_twins(&self, u: &mut Unstructured<'_>, stages: ShaderStages, body: &mut Body) -> Result<()> {
        for (index, variable) in self.variables.iter().enumerate() {
            let Some(twin) = variable.twin else { continue };
            if variable.stages.contains(stages) && body.reaches >> twin & 1 == 0 {
                self.put(u, stages, Use::Variable(index), body)?;
            }
        }
        Ok(())
    }

    /// Adds one statement to a body, inside a branch or a loop where it may be.
    fn put(&self, u: &mut Unstructured<'_>, stages: ShaderStages, one: Use, body: &mut Body) -> Result<()> {
        let Some(statement) = self.statement(u, stages, one)? else {
            return Ok(());
        };
        let form = if statement.uniform || chance(u, 112)? {
            &FORMS[0]
        } else {
            u.choose(&FORMS)?
        };
        let sizes = self.overrides.iter().filter(|constant| constant.is_size);
        let mut indices: Vec<String> = INDICES.map(str::to_string).into();
        indices.extend(sizes.map(|constant| format!("i + {}", constant.name)));
        indices.extend(
            form.index
                .map(|index| vec![index.to_string(); indices.len()])
                .unwrap_or_default(),
        );
        let (index, other) = (u.choose(&indices)?, u.choose(&indices)?);
        let text = fill(&statement.text, |key| match key {
            'i' => Some(index),
            'j' | 'x' => Some(other),
            _ => None,
        });
        let number = body.counters.to_string();
        let function = (self.function_texts.len() + body.functions.len()).to_string();
        let numbered = |text: &str| {
            fill(text, |key| match key {
                'n' => Some(number.as_str()),
                'f' => Some(function.as_str()),
                _ => None,
            })
        };
        body.functions.extend(statement.function.as_deref().map(numbered));
        body.put(&numbered(form.text), &numbered(&text));
        body.reaches |= statement.reaches;
        body.uniform |= statement.uniform;
        Ok(())
    }

    /// A statement that makes use of something, if it can be used alone.
    fn statement(&self, u: &mut Unstructured<'_>, stages: ShaderStages, one: Use) -> Result<Option<Statement>> {
        Ok(Some(match one {
            Use::Variable(index) => return self.use_variable(u, stages, index),
            Use::Helper(index) => {
                let Function {
                    name, reaches, uniform, ..
                } = &self.helpers[index];
                let call = Statement::new(format!("acc += {name}($i);"), *reaches);
                Statement {
                    uniform: *uniform,
                    ..call
                }
            }
            Use::Override(index) => {
                let Override { name, read, .. } = &self.overrides[index];
                Statement::new(format!("acc += {};", fill(read, |_| Some(name))), 0)
            }
            Use::Barrier => {
                let text = *u.choose(&["workgroupBarrier();", "storageBarrier();"])?;
                Statement {
                    uniform: true,
                    ..Statement::new(text.to_string(), 0)
                }
            }
        }))
    }

    fn use_variable(&self, u: &mut Unstructured<'_>, stages: ShaderStages, index: usize) -> Result<Option<Statement>> {
        let Variable { name, kind, .. } = &self.variables[index];
        let text = match *kind {
            Kind::Memory { shape, space } => access(u, shape, space)?,
            Kind::Handle(BindingType::Texture {
                sample_type,
                view_dimension,
                multisampled,
            }) => {
                let dimension = dimension(view_dimension);
                let look = Look {
                    sample_type,
                    multisampled,
                    dimension,
                };
                return self.read(u, stages, index, &look).map(Some);
            }
            Kind::Handle(BindingType::StorageTexture {
                access,
                format,
                view_dimension,
            }) => storage_access(u, access, texel(format), dimension(view_dimension))?,
            Kind::Handle(BindingType::AccelerationStructure { .. }) => RAY_QUERY.to_string(),
            // A sampler is used with a texture.
            Kind::Handle(_) => return Ok(None),
        };
        let text = fill(&text, |key| (key == 'v').then_some(name.as_str()));
        Ok(Some(Statement::new(text, 1 << index)))
    }

    /// A statement that reads a sampled texture in one of the ways that its type, the stages and the samplers at hand allow:
    /// at times in a function that is given the handles.
    fn read(&self, u: &mut Unstructured<'_>, stages: ShaderStages, texture: usize, look: &Look) -> Result<Statement> {
        let possible = |read: &&Read| {
            let sampled = read.sampler == Sampling::No || !self.samplers(stages, read, look).is_empty();
            (read.fits)(look) && sampled && (!read.implicit || stages == FRAGMENT)
        };
        let mut reads: Vec<_> = READS.iter().filter(possible).collect();
        // Samplers would be rare if they had to win against every query.
        if reads.iter().any(|read| read.sampler != Sampling::No) && chance(u, 160)? {
            reads.retain(|read| read.sampler != Sampling::No);
        }
        if reads.iter().any(|read| read.implicit) && chance(u, 96)? {
            reads.retain(|read| read.implicit);
        }
        let read = *u.choose(&reads)?;
        let mut handles = vec![texture];
        if read.sampler != Sampling::No {
            handles.push(*u.choose(&self.samplers(stages, read, look))?);
        }
        let reaches = handles.iter().map(|index| 1 << index).sum();
        let handles: Vec<&Variable> = handles.iter().map(|&index| &self.variables[index]).collect();
        let mut statement = Statement {
            uniform: read.implicit,
            ..Statement::new(String::new(), reaches)
        };
        if chance(u, 24)? {
            let zipped = handles.iter().zip(["t", "s"]);
            let parameters: String = zipped
                .map(|(handle, name)| format!("{name}: {}, ", type_name(&handle.kind)))
                .collect();
            let arguments: String = handles.iter().map(|handle| format!("{}, ", handle.name)).collect();
            let number = fill(&look.number(read, &["t", "s"]), |key| match key {
                'i' => Some("i"),
                'j' => Some("j"),
                _ => None,
            });
            statement.text = format!("acc += read$f({arguments}$i, $j);");
            statement.function = Some(format!(
                "fn read$f({parameters}i: u32, j: u32) -> u32 {{\n    return {number};\n}}"
            ));
        } else {
            let names: Vec<&str> = handles.iter().map(|handle| handle.name.as_str()).collect();
            statement.text = format!("acc += {};", look.number(read, &names));
        }
        Ok(statement)
    }

    /// The samplers for a read that functions for the given stages may use.
    fn samplers(&self, stages: ShaderStages, read: &Read, look: &Look) -> Vec<usize> {
        let fits = |variable: &Variable| match variable.kind {
            Kind::Handle(BindingType::Sampler(ty)) => look.takes(read, ty) && variable.stages.contains(stages),
            _ => false,
        };
        let variables = self.variables.iter().enumerate();
        variables
            .filter(|(_, variable)| fits(variable))
            .map(|(index, _)| index)
            .collect()
    }

    /// The whole text: in the usual order, with the variables in any, or at times all of it in any order.
    fn text(mut self, u: &mut Unstructured<'_>) -> Result<String> {
        let mut globals: Vec<String> = self
            .variables
            .into_iter()
            .map(|variable| variable.declaration)
            .collect();
        shuffle(u, &mut globals)?;
        let mut items = self.override_texts;
        items.push(globals.join("\n"));
        items.append(&mut self.function_texts);
        if chance(u, 48)? {
            let globals = items
                .iter()
                .position(|item| item.starts_with("@group"))
                .map(|at| items.remove(at));
            items.extend(globals.iter().flat_map(|text| text.lines()).map(str::to_string));
            shuffle(u, &mut items)?;
        }
        let enables = self.enables.iter().map(|name| format!("enable {name};"));
        let structs = self.structs.iter().map(|text| text.to_string());
        let texts: Vec<String> = enables
            .chain(structs)
            .chain(items)
            .filter(|text| !text.is_empty())
            .collect();
        Ok(texts.join("\n\n") + "\n")
    }
}

/// A binding type that WebGPU has, and what a variable for it is.
fn resource(u: &mut Unstructured<'_>) -> Result<(BindingType, Kind)> {
    let ty = match u.arbitrary::<u8>()? {
        0..40 => return buffer(u, BufferBindingType::Uniform),
        40..76 => return buffer(u, BufferBindingType::Storage { read_only: true }),
        76..116 => return buffer(u, BufferBindingType::Storage { read_only: false }),
        116..138 => BindingType::Sampler(SamplerBindingType::Filtering),
        138..152 => BindingType::Sampler(SamplerBindingType::NonFiltering),
        152..166 => BindingType::Sampler(SamplerBindingType::Comparison),
        166..226 => texture(u)?,
        226..253 => storage_texture(u)?,
        253.. => BindingType::AccelerationStructure { vertex_return: false },
    };
    Ok((ty, Kind::Handle(ty)))
}

fn buffer(u: &mut Unstructured<'_>, ty: BufferBindingType) -> Result<(BindingType, Kind)> {
    let any = BindingType::Buffer {
        ty,
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let shape = *u.choose(&shapes(space(&any)))?;
    let detail = u.arbitrary::<u8>()?;
    let min_binding_size = match detail % 4 {
        0 | 1 => None,
        2 => NonZeroU64::new(shape.size),
        _ => NonZeroU64::new(shape.size + 240),
    };
    let ty = BindingType::Buffer {
        ty,
        has_dynamic_offset: detail > 200,
        min_binding_size,
    };
    Ok((
        ty,
        Kind::Memory {
            shape,
            space: space(&ty),
        },
    ))
}

fn texture(u: &mut Unstructured<'_>) -> Result<BindingType> {
    let multisampled = chance(u, 40)?;
    if multisampled {
        let sample_type = *u.choose(&MULTISAMPLED_TYPES)?;
        return Ok(BindingType::Texture {
            sample_type,
            view_dimension: View::D2,
            multisampled,
        });
    }
    let sample_type = *u.choose(&SAMPLE_TYPES)?;
    let dimensions = match sample_type {
        TextureSampleType::Depth => &DIMENSIONS[DEPTH_DIMENSIONS],
        _ => &DIMENSIONS[..],
    };
    let view_dimension = u.choose(dimensions)?.view;
    Ok(BindingType::Texture {
        sample_type,
        view_dimension,
        multisampled,
    })
}

fn storage_texture(u: &mut Unstructured<'_>) -> Result<BindingType> {
    let access = *u.choose(&[
        StorageTextureAccess::WriteOnly,
        StorageTextureAccess::ReadOnly,
        StorageTextureAccess::ReadWrite,
        StorageTextureAccess::Atomic,
    ])?;
    let formats = match access {
        StorageTextureAccess::Atomic => &TEXELS[..ATOMIC_TEXELS],
        StorageTextureAccess::ReadWrite => &TEXELS[..READ_WRITE_TEXELS],
        _ => &TEXELS[..],
    };
    let format = u.choose(formats)?.format;
    Ok(BindingType::StorageTexture {
        access,
        format,
        view_dimension: u.choose(&DIMENSIONS[STORAGE_DIMENSIONS])?.view,
    })
}

/// Whether a shader can write to it.
fn writable(ty: &BindingType) -> bool {
    match ty {
        BindingType::Buffer { ty, .. } => *ty == BufferBindingType::Storage { read_only: false },
        BindingType::StorageTexture { access, .. } => *access != StorageTextureAccess::ReadOnly,
        _ => false,
    }
}

/// The space of a buffer's variable.
fn space(ty: &BindingType) -> u8 {
    match ty {
        BindingType::Buffer {
            ty: BufferBindingType::Uniform,
            ..
        } => UNIFORM,
        _ if writable(ty) => READ_WRITE,
        _ => STORAGE,
    }
}

/// The shapes that a variable in a space can have.
fn shapes(space: u8) -> Vec<&'static Shape> {
    SHAPES.iter().filter(|shape| shape.spaces & space != 0).collect()
}

/// A statement that reads or writes a variable in memory.
fn access(u: &mut Unstructured<'_>, shape: &Shape, space: u8) -> Result<String> {
    let writes = if space & (UNIFORM | STORAGE) == 0 {
        shape.writes
    } else {
        &[]
    };
    let chosen = u.choose_index(shape.reads.len() + writes.len())?;
    Ok(match shape.reads.get(chosen) {
        Some(read) => format!("acc += {read};"),
        None => writes[chosen - shape.reads.len()].to_string(),
    })
}

/// A statement that reads, writes or queries a storage texture, as far as its access allows.
fn storage_access(
    u: &mut Unstructured<'_>,
    access: StorageTextureAccess,
    texel: &Texel,
    dimension: &Dimension,
) -> Result<String> {
    let Dimension {
        texel: at,
        layer,
        first,
        ..
    } = dimension;
    let scalar = texel.scalar;
    let query = format!("acc += textureDimensions($v){first};");
    let read = format!("acc += u32(textureLoad($v, {at}{layer}).x);");
    let write = format!("textureStore($v, {at}{layer}, vec4<{scalar}>({scalar}($x)));");
    let atomic = format!("textureAtomicMax($v, {at}{layer}, {scalar}($x));");
    let mut possible = match access {
        StorageTextureAccess::ReadOnly => vec![read, query],
        StorageTextureAccess::WriteOnly => vec![write, query],
        StorageTextureAccess::ReadWrite => vec![read, write, query],
        StorageTextureAccess::Atomic => vec![atomic, query],
    };
    let chosen = u.choose_index(possible.len())?;
    Ok(possible.swap_remove(chosen))
}

/// The text with each `$` and letter replaced, where there is something for the letter.
fn fill<'t>(text: &str, value: impl Fn(char) -> Option<&'t str>) -> String {
    let mut parts = text.split('$');
    let mut filled = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let mut rest = part.chars();
        match rest.next().and_then(&value) {
            Some(value) => filled.extend([value, rest.as_str()]),
            None => filled.extend(["$", part]),
        }
    }
    filled
}

/// How variables of a kind are named.
fn prefix(kind: &Kind) -> &'static str {
    match kind {
        Kind::Memory {
            space: UNIFORM | STORAGE,
            ..
        } => "input",
        Kind::Memory { .. } => "data",
        Kind::Handle(BindingType::Sampler(_)) => "samp",
        Kind::Handle(BindingType::StorageTexture { .. }) => "image",
        Kind::Handle(BindingType::AccelerationStructure { .. }) => "scene",
        Kind::Handle(_) => "tex",
    }
}

/// The address space of a variable, as its declaration names it.
fn address_space(kind: &Kind) -> &'static str {
    match kind {
        Kind::Memory { space: UNIFORM, .. } => "<uniform>",
        Kind::Memory { space: STORAGE, .. } => "<storage>",
        Kind::Memory { space: READ_WRITE, .. } => "<storage, read_write>",
        Kind::Memory { space: WORKGROUP, .. } => "<workgroup>",
        Kind::Memory { .. } => "<private>",
        Kind::Handle(_) => "",
    }
}

/// The type of a handle's variable, or the shape's.
fn type_name(kind: &Kind) -> String {
    let ty = match kind {
        Kind::Memory { shape, .. } => return shape.ty.to_string(),
        Kind::Handle(ty) => ty,
    };
    match *ty {
        BindingType::Texture {
            sample_type,
            view_dimension,
            multisampled,
        } => {
            let (depth, scalar) = match sample_type {
                TextureSampleType::Depth => ("depth_", ""),
                TextureSampleType::Float { .. } => ("", "<f32>"),
                TextureSampleType::Sint => ("", "<i32>"),
                TextureSampleType::Uint => ("", "<u32>"),
            };
            let multisampled = if multisampled { "multisampled_" } else { "" };
            format!(
                "texture_{depth}{multisampled}{}{scalar}",
                dimension(view_dimension).name
            )
        }
        BindingType::StorageTexture {
            access,
            format,
            view_dimension,
        } => {
            let access = match access {
                StorageTextureAccess::WriteOnly => "write",
                StorageTextureAccess::ReadOnly => "read",
                StorageTextureAccess::ReadWrite => "read_write",
                StorageTextureAccess::Atomic => "atomic",
            };
            format!(
                "texture_storage_{}<{}, {access}>",
                dimension(view_dimension).name,
                texel(format).name
            )
        }
        BindingType::Sampler(SamplerBindingType::Comparison) => "sampler_comparison".to_string(),
        BindingType::Sampler(_) => "sampler".to_string(),
        _ => "acceleration_structure".to_string(),
    }
}

/// Puts in a fault in about 15 of 100 cases, where an entry point reaches a binding, and names it.
fn faults(u: &mut Unstructured<'_>, source: &Source, groups: &mut [Group]) -> Result<Vec<&'static str>> {
    if !chance(u, 42)? {
        return Ok(Vec::new());
    }
    let mut reached = Vec::new();
    for &(stage, reaches) in &source.entry_points {
        let variables = source
            .variables
            .iter()
            .enumerate()
            .filter(|(index, _)| reaches >> index & 1 == 1);
        reached.extend(variables.filter_map(|(_, variable)| Some((stage, variable.at?))));
    }
    if reached.is_empty() {
        return Ok(Vec::new());
    }
    let (stage, (group, binding)) = *u.choose(&reached)?;
    let entries = groups[group].as_mut().expect("a variable's group has entries");
    let place = entries
        .iter()
        .position(|entry| entry.binding == binding)
        .expect("a variable has an entry");
    let fault = *u.choose(&FAULTS)?;
    match fault {
        "missing-binding" => {
            entries.remove(place);
            if entries.is_empty() && chance(u, 128)? {
                groups[group] = None;
            }
        }
        "other-kind" => entries[place].ty = other_kind(u, &entries[place].ty)?,
        _ => entries[place].visibility.remove(stage.visibility()),
    }
    Ok(vec![fault])
}

/// A binding type of another table.
fn other_kind(u: &mut Unstructured<'_>, ty: &BindingType) -> Result<BindingType> {
    let buffer = BindingType::Buffer {
        ty: BufferBindingType::Storage { read_only: true },
        has_dynamic_offset: false,
        min_binding_size: None,
    };
    let sampler = BindingType::Sampler(SamplerBindingType::NonFiltering);
    let texture = BindingType::Texture {
        sample_type: TextureSampleType::Uint,
        view_dimension: View::D2,
        multisampled: false,
    };
    let others: Vec<_> = [buffer, sampler, texture]
        .into_iter()
        .filter(|other| table(other) != table(ty))
        .collect();
    Ok(*u.choose(&others)?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::generators::Lane;
    use naga::valid::{ModuleInfo, ValidationFlags, Validator};

    use super::*;

    const CASES: u64 = 2_000;

    /// The bytes that a campaign would feed case `index`.
    fn bytes(index: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        crate::generators::bytes(Lane::Shaders, 1, index, &mut bytes);
        bytes
    }

    fn case(index: u64) -> Made<LayoutCase> {
        shader_case(&mut Unstructured::new(&bytes(index))).unwrap()
    }

    fn shader(case: &LayoutCase) -> &Shader {
        case.shader.as_ref().unwrap()
    }

    fn validate(module: &naga::Module) -> Result<ModuleInfo, String> {
        let mut validator = Validator::new(ValidationFlags::all(), CAPABILITIES);
        validator
            .validate(module)
            .map_err(|error| format!("{:?}", error.into_inner()))
    }

    /// The module before and after its overrides are given.
    fn modules(case: &LayoutCase) -> (naga::Module, naga::Module, ModuleInfo) {
        let Shader { wgsl, overrides } = shader(case);
        let module =
            naga::front::wgsl::parse_str(wgsl).unwrap_or_else(|error| panic!("{}\n{wgsl}", error.emit_to_string(wgsl)));
        let info = validate(&module).unwrap_or_else(|error| panic!("{error}\n{wgsl}"));
        let constants = overrides.iter().map(|(key, value)| (key.clone(), *value)).collect();
        let (processed, info) = naga::back::pipeline_constants::process_overrides(&module, &info, None, &constants)
            .unwrap_or_else(|error| panic!("{error:?}\n{overrides:?}\n{wgsl}"));
        (module.clone(), processed.into_owned(), info.into_owned())
    }

    /// What the layout holds against the shader: a fault for each entry point's binding that does not fit.
    fn misfits(case: &LayoutCase, module: &naga::Module, info: &ModuleInfo) -> BTreeSet<&'static str> {
        let mut misfits = BTreeSet::new();
        for (index, entry_point) in module.entry_points.iter().enumerate() {
            let stage = Stage::ALL
                .into_iter()
                .find(|stage| stage.naga() == entry_point.stage)
                .unwrap();
            for (handle, variable) in module.global_variables.iter() {
                let Some(at) = variable
                    .binding
                    .filter(|_| !info.get_entry_point(index)[handle].is_empty())
                else {
                    continue;
                };
                let group = case.groups.get(at.group as usize).and_then(Option::as_ref);
                match group.and_then(|group| group.iter().find(|entry| entry.binding == at.binding)) {
                    None => _ = misfits.insert("missing-binding"),
                    Some(entry) if !entry.visibility.contains(stage.visibility()) => _ = misfits.insert("invisible"),
                    Some(entry) if !same_kind(&entry.ty, variable, module) => _ = misfits.insert("other-kind"),
                    Some(_) => {}
                }
            }
        }
        misfits
    }

    fn same_kind(ty: &BindingType, variable: &naga::GlobalVariable, module: &naga::Module) -> bool {
        let inner = &module.types[variable.ty].inner;
        match ty {
            BindingType::Buffer {
                ty: BufferBindingType::Uniform,
                ..
            } => variable.space == naga::AddressSpace::Uniform,
            BindingType::Buffer {
                ty: BufferBindingType::Storage { read_only },
                ..
            } => match variable.space {
                naga::AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE) != *read_only,
                _ => false,
            },
            BindingType::Sampler(ty) => {
                let comparison = *ty == SamplerBindingType::Comparison;
                *inner == naga::TypeInner::Sampler { comparison }
            }
            BindingType::AccelerationStructure { .. } => {
                matches!(inner, naga::TypeInner::AccelerationStructure { .. })
            }
            _ => matches!(inner, naga::TypeInner::Image { .. }),
        }
    }

    #[test]
    fn every_shader_is_valid_and_only_faults_make_it_misfit() {
        let mut faults = BTreeSet::new();
        let mut faulty = 0;
        for index in 0..CASES {
            let Made { case, faults: named } = case(index);
            let (_, module, info) = modules(&case);
            assert_eq!(
                misfits(&case, &module, &info),
                named.iter().copied().collect(),
                "{case:?}"
            );
            faulty += named.len();
            faults.extend(named);
        }
        assert_eq!(faults, FAULTS.into_iter().collect());
        assert!((200..400).contains(&faulty), "{faulty}");
    }

    /// What wgpu's own validation, on its backend without a GPU, holds against a pipeline of each entry point.
    struct Judge {
        device: wgpu::Device,
        /// For a fragment shader, which no pipeline can have alone.
        vertex: wgpu::ShaderModule,
    }

    impl Judge {
        fn new() -> Judge {
            let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
                backends: wgpu::Backends::NOOP,
                backend_options: wgpu::BackendOptions {
                    noop: wgpu::NoopBackendOptions::enabled(),
                    ..Default::default()
                },
                ..wgpu::InstanceDescriptor::new_without_display_handle()
            });
            let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
            let (device, _queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
                required_features: wgpu::Features::TEXTURE_ATOMIC
                    | wgpu::Features::PRIMITIVE_INDEX
                    | wgpu::Features::EXPERIMENTAL_RAY_QUERY,
                required_limits: adapter.limits(),
                // SAFETY: nothing runs on this backend.
                experimental_features: unsafe { wgpu::ExperimentalFeatures::enabled() },
                ..Default::default()
            }))
            .unwrap();
            let text = format!("{VARYINGS}\n@vertex fn main() -> Varyings {{ return Varyings(vec4<f32>(0.0), 0u); }}");
            let vertex = device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: None,
                source: wgpu::ShaderSource::Wgsl(text.into()),
            });
            Judge { device, vertex }
        }

        /// The first error, if any.
        fn judge(&self, case: &LayoutCase, module: &naga::Module) -> Option<String> {
            let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
            self.create(case, module);
            pollster::block_on(scope.pop()).map(|error| error.to_string())
        }

        fn create(&self, case: &LayoutCase, module: &naga::Module) {
            let Shader { wgsl, overrides } = shader(case);
            let source = wgpu::ShaderSource::Wgsl(wgsl.into());
            let text = self
                .device
                .create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
            let layouts: Vec<_> = case.groups.iter().map(|group| self.bind_group_layout(group)).collect();
            let layouts: Vec<_> = layouts.iter().map(Option::as_ref).collect();
            let layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: None,
                bind_group_layouts: &layouts,
                immediate_size: 0,
            });
            let constants: Vec<_> = overrides.iter().map(|(key, value)| (key.as_str(), *value)).collect();
            let constants = wgpu::PipelineCompilationOptions {
                constants: &constants,
                ..Default::default()
            };
            for entry_point in &module.entry_points {
                let name = &entry_point.name;
                match entry_point.stage {
                    naga::ShaderStage::Compute => self.compute(&layout, &text, name, constants.clone()),
                    stage => self.render(&layout, &text, name, constants.clone(), stage),
                }
            }
        }

        fn bind_group_layout(&self, group: &Group) -> Option<wgpu::BindGroupLayout> {
            let entries = group.as_ref()?;
            Some(
                self.device
                    .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries }),
            )
        }

        fn compute(
            &self,
            layout: &wgpu::PipelineLayout,
            module: &wgpu::ShaderModule,
            name: &str,
            compilation_options: wgpu::PipelineCompilationOptions<'_>,
        ) {
            let _ = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: Some(layout),
                module,
                entry_point: Some(name),
                compilation_options,
                cache: None,
            });
        }

        fn render(
            &self,
            layout: &wgpu::PipelineLayout,
            module: &wgpu::ShaderModule,
            name: &str,
            compilation_options: wgpu::PipelineCompilationOptions<'_>,
            stage: naga::ShaderStage,
        ) {
            let is_vertex = stage == naga::ShaderStage::Vertex;
            let attributes = wgpu::vertex_attr_array![0 => Uint32, 1 => Float32x4];
            let buffer = wgpu::VertexBufferLayout {
                array_stride: 20,
                step_mode: wgpu::VertexStepMode::Vertex,
                attributes: &attributes,
            };
            let vertex = wgpu::VertexState {
                module: if is_vertex { module } else { &self.vertex },
                entry_point: is_vertex.then_some(name),
                compilation_options: if is_vertex {
                    compilation_options.clone()
                } else {
                    Default::default()
                },
                buffers: &[Some(buffer)],
            };
            let target = wgpu::ColorTargetState {
                format: TextureFormat::Rgba8Unorm,
                blend: None,
                write_mask: wgpu::ColorWrites::empty(),
            };
            let targets = [Some(target)];
            let fragment = wgpu::FragmentState {
                module,
                entry_point: Some(name),
                compilation_options,
                targets: &targets,
            };
            let depth = wgpu::DepthStencilState {
                format: TextureFormat::Depth32Float,
                depth_write_enabled: Some(false),
                depth_compare: Some(wgpu::CompareFunction::Always),
                stencil: Default::default(),
                bias: Default::default(),
            };
            let _ = self.device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: None,
                layout: Some(layout),
                vertex,
                primitive: Default::default(),
                depth_stencil: Some(depth),
                multisample: Default::default(),
                fragment: (!is_vertex).then_some(fragment),
                multiview_mask: None,
                cache: None,
            });
        }
    }

    #[test]
    fn wgpu_takes_the_cases_without_a_fault_and_no_other() {
        let judge = Judge::new();
        for index in 0..CASES {
            let Made { case, faults } = case(index);
            let module = naga::front::wgsl::parse_str(&shader(&case).wgsl).unwrap();
            let error = judge.judge(&case, &module);
            assert_eq!(
                error.is_some(),
                !faults.is_empty(),
                "{index} {faults:?} {error:?} {case:?}"
            );
        }
    }

    #[test]
    fn every_text_is_used() {
        let all: Vec<String> = (0..CASES).map(|index| shader(&case(index).case).wgsl.clone()).collect();
        let all = all.join("\n");
        let loops = ["for (", "while (", "loop {", "switch (", "break if"];
        let others = [
            "discard;",
            "workgroupBarrier",
            "@invariant",
            "enable primitive_index",
            "fn main(",
            "@id(1)",
        ];
        for text in METAL_WORDS
            .iter()
            .map(|word| format!(" {word}: "))
            .chain(loops.into_iter().chain(others).map(str::to_string))
        {
            assert!(all.contains(&text), "{text}");
        }
        for read in READS {
            let name = read.text.split('(').next().unwrap();
            assert!(all.contains(name), "{name}");
        }
        for shape in SHAPES {
            assert!(all.contains(&format!(": {};", shape.ty)), "{}", shape.ty);
        }
    }

    #[test]
    fn the_same_bytes_make_the_same_case() {
        for index in 0..100 {
            assert_eq!(case(index), case(index));
        }
    }

    #[test]
    fn bytes_may_run_out_anywhere() {
        for index in 0..40 {
            let bytes = bytes(index);
            for len in 0..200 {
                let made = shader_case(&mut Unstructured::new(&bytes[..len])).unwrap();
                modules(&made.case);
            }
        }
    }

    /// A case is cheap: counted in the bytes that it reads, since a clock would judge the machine.
    #[test]
    fn a_case_reads_few_bytes() {
        let read = |index| {
            let bytes = bytes(index);
            let mut u = Unstructured::new(&bytes);
            shader_case(&mut u).unwrap();
            bytes.len() - u.len()
        };
        let read: usize = (0..CASES).map(read).sum();
        assert!(read as u64 / CASES < 400, "{} bytes a case", read as u64 / CASES);
    }
}
