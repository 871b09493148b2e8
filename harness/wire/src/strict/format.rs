//! WebGPU's texture formats, as far as copies and writes look at them.

/// A GPUTextureFormat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    name: &'static str,
    block: [u32; 2],
    texels: Texels,
}

/// What a format's texel blocks hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Texels {
    /// Color, in so many bytes a block.
    Color(u32),
    /// Depth, of which a write into it takes so many bytes a texel; stencil, which takes one.
    DepthStencil { depth: Depth, stencil: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    None,
    /// No copy from a buffer or a write reaches it.
    NotWritable,
    Writable(u32),
}

const fn depth_stencil(depth: Depth, stencil: bool) -> Texels {
    Texels::DepthStencil { depth, stencil }
}

/// The formats of the WebGPU specification by texel block: its width and height, its bytes, the names.
static FORMATS: &[([u32; 2], Texels, &[&str])] = &[
    ([1, 1], Texels::Color(1), &["r8unorm", "r8snorm", "r8uint", "r8sint"]),
    (
        [1, 1],
        Texels::Color(2),
        &[
            "r16unorm", "r16snorm", "r16uint", "r16sint", "r16float", "rg8unorm", "rg8snorm", "rg8uint", "rg8sint",
        ],
    ),
    (
        [1, 1],
        Texels::Color(4),
        &[
            "r32uint",
            "r32sint",
            "r32float",
            "rg16unorm",
            "rg16snorm",
            "rg16uint",
            "rg16sint",
            "rg16float",
            "rgba8unorm",
            "rgba8unorm-srgb",
            "rgba8snorm",
            "rgba8uint",
            "rgba8sint",
            "bgra8unorm",
            "bgra8unorm-srgb",
            "rgb9e5ufloat",
            "rgb10a2uint",
            "rgb10a2unorm",
            "rg11b10ufloat",
        ],
    ),
    (
        [1, 1],
        Texels::Color(8),
        &[
            "rg32uint",
            "rg32sint",
            "rg32float",
            "rgba16unorm",
            "rgba16snorm",
            "rgba16uint",
            "rgba16sint",
            "rgba16float",
        ],
    ),
    ([1, 1], Texels::Color(16), &["rgba32uint", "rgba32sint", "rgba32float"]),
    ([1, 1], depth_stencil(Depth::None, true), &["stencil8"]),
    ([1, 1], depth_stencil(Depth::Writable(2), false), &["depth16unorm"]),
    (
        [1, 1],
        depth_stencil(Depth::NotWritable, false),
        &["depth24plus", "depth32float"],
    ),
    (
        [1, 1],
        depth_stencil(Depth::NotWritable, true),
        &["depth24plus-stencil8", "depth32float-stencil8"],
    ),
    (
        [4, 4],
        Texels::Color(8),
        &[
            "bc1-rgba-unorm",
            "bc1-rgba-unorm-srgb",
            "bc4-r-unorm",
            "bc4-r-snorm",
            "etc2-rgb8unorm",
            "etc2-rgb8unorm-srgb",
            "etc2-rgb8a1unorm",
            "etc2-rgb8a1unorm-srgb",
            "eac-r11unorm",
            "eac-r11snorm",
        ],
    ),
    (
        [4, 4],
        Texels::Color(16),
        &[
            "bc2-rgba-unorm",
            "bc2-rgba-unorm-srgb",
            "bc3-rgba-unorm",
            "bc3-rgba-unorm-srgb",
            "bc5-rg-unorm",
            "bc5-rg-snorm",
            "bc6h-rgb-ufloat",
            "bc6h-rgb-float",
            "bc7-rgba-unorm",
            "bc7-rgba-unorm-srgb",
            "etc2-rgba8unorm",
            "etc2-rgba8unorm-srgb",
            "eac-rg11unorm",
            "eac-rg11snorm",
        ],
    ),
    ([4, 4], Texels::Color(16), &["astc-4x4-unorm", "astc-4x4-unorm-srgb"]),
    ([5, 4], Texels::Color(16), &["astc-5x4-unorm", "astc-5x4-unorm-srgb"]),
    ([5, 5], Texels::Color(16), &["astc-5x5-unorm", "astc-5x5-unorm-srgb"]),
    ([6, 5], Texels::Color(16), &["astc-6x5-unorm", "astc-6x5-unorm-srgb"]),
    ([6, 6], Texels::Color(16), &["astc-6x6-unorm", "astc-6x6-unorm-srgb"]),
    ([8, 5], Texels::Color(16), &["astc-8x5-unorm", "astc-8x5-unorm-srgb"]),
    ([8, 6], Texels::Color(16), &["astc-8x6-unorm", "astc-8x6-unorm-srgb"]),
    ([8, 8], Texels::Color(16), &["astc-8x8-unorm", "astc-8x8-unorm-srgb"]),
    ([10, 5], Texels::Color(16), &["astc-10x5-unorm", "astc-10x5-unorm-srgb"]),
    ([10, 6], Texels::Color(16), &["astc-10x6-unorm", "astc-10x6-unorm-srgb"]),
    ([10, 8], Texels::Color(16), &["astc-10x8-unorm", "astc-10x8-unorm-srgb"]),
    (
        [10, 10],
        Texels::Color(16),
        &["astc-10x10-unorm", "astc-10x10-unorm-srgb"],
    ),
    (
        [12, 10],
        Texels::Color(16),
        &["astc-12x10-unorm", "astc-12x10-unorm-srgb"],
    ),
    (
        [12, 12],
        Texels::Color(16),
        &["astc-12x12-unorm", "astc-12x12-unorm-srgb"],
    ),
];

/// An aspect argument's words (wire.md section 2).
const STENCIL_ONLY: u32 = 2;
const DEPTH_ONLY: u32 = 3;

/// Why no write reaches an aspect of a format.
pub(super) enum NotWritten {
    /// The argument refers to no aspect of the format, or to two.
    NotOne,
    /// It refers to one that no write reaches.
    NotWritable,
}

impl Format {
    /// Every format of the specification without extensions.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS
            .iter()
            .flat_map(|&(block, texels, names)| names.iter().map(move |name| Format { name, block, texels }))
    }

    /// The format that WebGPU calls `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name == name)
    }

    /// WebGPU's name.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Width and height of a texel block, in texels.
    pub fn block(self) -> [u32; 2] {
        self.block
    }

    pub(super) fn is_depth_stencil(self) -> bool {
        matches!(self.texels, Texels::DepthStencil { .. })
    }

    /// Copy-compatible: the same, or the same but for `-srgb`.
    pub(super) fn copies_to(self, other: Self) -> bool {
        let plain = |name: &'static str| name.strip_suffix("-srgb").unwrap_or(name);
        plain(self.name) == plain(other.name)
    }

    /// Whether the aspect argument refers to all aspects of the format.
    pub(super) fn is_all(self, aspect: u32) -> bool {
        match (aspect, self.texels) {
            (STENCIL_ONLY, Texels::DepthStencil { depth, .. }) => depth == Depth::None,
            (DEPTH_ONLY, Texels::DepthStencil { stencil, .. }) => !stencil,
            (STENCIL_ONLY | DEPTH_ONLY, Texels::Color(_)) => false,
            _ => true,
        }
    }

    /// The bytes of a texel block that a write into the aspect takes (the argument's words are in wire.md section 2); `None` where the
    /// aspect is not one of the format's, or no write reaches it.
    pub fn bytes_written(self, aspect: u32) -> Option<u32> {
        self.written(aspect).ok()
    }

    pub(super) fn written(self, aspect: u32) -> Result<u32, NotWritten> {
        let (depth, stencil) = match self.texels {
            Texels::Color(bytes) if aspect != STENCIL_ONLY && aspect != DEPTH_ONLY => return Ok(bytes),
            Texels::Color(_) => return Err(NotWritten::NotOne),
            Texels::DepthStencil { depth, stencil } => (depth, stencil),
        };
        let depth = if aspect == STENCIL_ONLY { Depth::None } else { depth };
        match (depth, stencil && aspect != DEPTH_ONLY) {
            (Depth::Writable(bytes), false) => Ok(bytes),
            (Depth::NotWritable, false) => Err(NotWritten::NotWritable),
            (Depth::None, true) => Ok(1),
            _ => Err(NotWritten::NotOne),
        }
    }
}
