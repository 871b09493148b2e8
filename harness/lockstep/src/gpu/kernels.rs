//! The shaders that generated streams run. Their results are exact and depend on no order between invocations, so that
//! [`super::shadow`] can say in plain Rust what a device must hold afterwards. A shader is known by its very text.

/// A shader that the shadow knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Compute, workgroup size 1. g0b0: storage, `array<atomic<u32>>`. Adds 1 to `dst[id.x % length]`.
    Count,
    /// Compute, workgroup size 4. g0b0: storage, `array<u32>`; g0b1: uniform u32 with dynamic offset.
    /// `dst[id.x] = dst[id.x] * 1664525 + add` for `id.x < length`, `id.y == 0 && id.z == 0`, wrapping.
    Step,
    /// Compute, workgroup size 4. g0b0: read-only storage, `array<u32>`; g0b1: storage, `array<u32>`.
    /// `dst[id.x] = src[id.x] ^ id.x` for `id.x` below both lengths, `id.y == 0 && id.z == 0`.
    Xor,
    /// Compute, workgroup size 1. g0b0: write-only storage texture r32uint. Stores `id.x * 3 + id.y * 5 + 7` at `id.xy` where that
    /// is inside the texture and `id.z == 0`.
    Store,
    /// Render to one r32uint target. Vertex buffer 0: one u32 an instance (stride 4). A vertex stands at corner `vertex_index % 3` of
    /// a triangle that covers the whole viewport, so a triangle of three different corners fills it; any other has no area. The
    /// colour is the instance's u32.
    Instance,
    /// Render to one r32uint target. g0b0: uniform u32 with dynamic offset, the colour. The same triangle.
    Uniform,
}

const TRIANGLE: &str = "var<private> corners: array<vec2<f32>, 3> = array<vec2<f32>, 3>(vec2(-1.0, -1.0), vec2(3.0, -1.0), vec2(-1.0, 3.0));\n";

/// Does nothing, with the entry points of each of them: what minimised streams run.
pub const NOTHING: &str = "@compute @workgroup_size(1) fn main() {}
@vertex fn vs() -> @builtin(position) vec4<f32> { return vec4<f32>(); }
@fragment fn fs() -> @location(0) vec4<u32> { return vec4<u32>(); }
";

/// Whether the body of a shader module's descriptor holds one of these shaders, none of which asks more than 4 bytes of a binding.
pub fn is_known(module_body: &str) -> bool {
    let nothing = serde_json::json!({ "code": NOTHING }).to_string();
    module_body == nothing || Kernel::ALL.iter().any(|kernel| module_body == kernel.module_body())
}

impl Kernel {
    /// All of them.
    pub const ALL: [Kernel; 6] = [
        Kernel::Count,
        Kernel::Step,
        Kernel::Xor,
        Kernel::Store,
        Kernel::Instance,
        Kernel::Uniform,
    ];

    /// The source. Compute entry points are called `main`, render ones `vs` and `fs`.
    pub fn wgsl(self) -> String {
        let (before, body) = match self {
            Kernel::Count => (
                "",
                "@group(0) @binding(0) var<storage, read_write> dst: array<atomic<u32>>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    atomicAdd(&dst[id.x % arrayLength(&dst)], 1u);
}
",
            ),
            Kernel::Step => (
                "",
                "@group(0) @binding(0) var<storage, read_write> dst: array<u32>;
@group(0) @binding(1) var<uniform> add: u32;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&dst) && id.y == 0u && id.z == 0u) { dst[id.x] = dst[id.x] * 1664525u + add; }
}
",
            ),
            Kernel::Xor => (
                "",
                "@group(0) @binding(0) var<storage, read> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&src) && id.x < arrayLength(&dst) && id.y == 0u && id.z == 0u) { dst[id.x] = src[id.x] ^ id.x; }
}
",
            ),
            Kernel::Store => (
                "",
                "@group(0) @binding(0) var dst: texture_storage_2d<r32uint, write>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let size = textureDimensions(dst);
    if (id.x < size.x && id.y < size.y && id.z == 0u) {
        textureStore(dst, vec2<i32>(id.xy), vec4<u32>(id.x * 3u + id.y * 5u + 7u, 0u, 0u, 0u));
    }
}
",
            ),
            Kernel::Instance => (
                TRIANGLE,
                "struct Out { @builtin(position) at: vec4<f32>, @location(0) @interpolate(flat) color: u32 }
@vertex fn vs(@builtin(vertex_index) v: u32, @location(0) color: u32) -> Out {
    return Out(vec4(corners[v % 3u], 0.5, 1.0), color);
}
@fragment fn fs(in: Out) -> @location(0) vec4<u32> { return vec4(in.color, 0u, 0u, 0u); }
",
            ),
            Kernel::Uniform => (
                TRIANGLE,
                "@group(0) @binding(0) var<uniform> color: u32;
@vertex fn vs(@builtin(vertex_index) v: u32) -> @builtin(position) vec4<f32> {
    return vec4(corners[v % 3u], 0.5, 1.0);
}
@fragment fn fs() -> @location(0) vec4<u32> { return vec4(color, 0u, 0u, 0u); }
",
            ),
        };
        format!("{before}{body}")
    }

    /// The body of a shader module's descriptor that holds it.
    pub fn module_body(self) -> String {
        serde_json::json!({ "code": self.wgsl() }).to_string()
    }
}
