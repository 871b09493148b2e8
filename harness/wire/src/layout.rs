//! The table of wire.md section 2, as data.

use crate::{Kind, MAX_BUNDLES, MAX_COLOR_ATTACHMENTS, MAX_DYNAMIC_OFFSETS, Op};

/// One argument of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arg {
    /// Its name in wire.md section 2.
    pub name: &'static str,
    /// What its words are.
    pub kind: ArgKind,
}

/// What the words of an argument are (wire.md section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// One word, an id that must not be 0, of an object of one of these kinds (section 4, column "takes").
    Id(&'static [Kind]),
    /// One word, an id that may be 0, meaning none.
    OptionalId(&'static [Kind]),
    /// One word, any number.
    U32,
    /// One word, any number, in two's complement.
    I32,
    /// One word, the bits of a finite float.
    F32,
    /// Two words, low then high, of a number of at most [`MAX_SAFE_INTEGER`](crate::MAX_SAFE_INTEGER).
    U64,
    /// One word, a value of an enumeration.
    Enum(&'static Enumeration),
    /// One word, 0 or 1.
    Bool,
    /// One word, a count of at most `limit`, and then that many times the arguments of `item`.
    List {
        /// The largest count that is accepted.
        limit: u32,
        /// What is repeated.
        item: &'static [Arg],
    },
    /// One word, 0 or 1, and then, where it is 1, the arguments inside.
    Optional(&'static [Arg]),
}

/// The values that an enumeration lists (wire.md section 2).
#[derive(Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// Its name.
    pub name: &'static str,
    /// Each value with its name in WebGPU; `""` is a value that means left out.
    pub values: &'static [(u32, &'static str)],
}

/// The format of an index buffer (wire.md section 2).
pub static INDEX_FORMAT: Enumeration = Enumeration {
    name: "index-format",
    values: &[(1, "uint16"), (2, "uint32")],
};
/// What a pass does with a color before it starts (wire.md section 2).
pub static LOAD_OP: Enumeration = Enumeration {
    name: "load-op",
    values: &[(1, "load"), (2, "clear")],
};
/// What a pass does with a color once it has ended (wire.md section 2).
pub static STORE_OP: Enumeration = Enumeration {
    name: "store-op",
    values: &[(1, "store"), (2, "discard")],
};
/// [`LOAD_OP`] of depth and stencil, which may be left out (wire.md section 2).
pub static OPTIONAL_LOAD_OP: Enumeration = Enumeration {
    name: "optional load-op",
    values: &[(0, ""), (1, "load"), (2, "clear")],
};
/// [`STORE_OP`] of depth and stencil, which may be left out (wire.md section 2).
pub static OPTIONAL_STORE_OP: Enumeration = Enumeration {
    name: "optional store-op",
    values: &[(0, ""), (1, "store"), (2, "discard")],
};
/// The part of a texture that is copied; left out it is all (wire.md section 2).
pub static ASPECT: Enumeration = Enumeration {
    name: "aspect",
    values: &[(0, ""), (1, "all"), (2, "stencil-only"), (3, "depth-only")],
};

const PIPELINE: ArgKind = ArgKind::Id(&[Kind::ComputePipeline, Kind::RenderPipeline]);
const BIND_GROUP: ArgKind = ArgKind::OptionalId(&[Kind::BindGroup]);
const BUFFER: ArgKind = ArgKind::Id(&[Kind::Buffer]);
const OPTIONAL_BUFFER: ArgKind = ArgKind::OptionalId(&[Kind::Buffer]);
const BUNDLE: ArgKind = ArgKind::Id(&[Kind::RenderBundle]);
const TEXTURE: ArgKind = ArgKind::Id(&[Kind::Texture]);
const VIEW: ArgKind = ArgKind::Id(&[Kind::TextureView]);
const OPTIONAL_VIEW: ArgKind = ArgKind::OptionalId(&[Kind::TextureView]);

/// Arguments as the specification's table writes them, `name: kind`.
macro_rules! args {
    ($($name:ident: $kind:expr),*) => {
        const { &[$(Arg { name: stringify!($name), kind: $kind }),*] }
    };
}

/// The arguments of `op`, in order (wire.md section 2), for whoever writes, shows or counts commands.
///
/// The words of a command are its opcode and these. A SetPipeline takes a render pipeline in a render pass and in a
/// bundle, and a compute pipeline in a compute pass; the table names both.
#[rustfmt::skip] // One row an opcode, in the columns of the specification.
pub const fn layout(op: Op) -> &'static [Arg] {
    use ArgKind::{Bool, Enum, F32, I32, List, Optional, U32, U64};
    match op {
        Op::SetPipeline => args![pipeline: PIPELINE],
        Op::SetBindGroup => args![
            index: U32, bindGroup: BIND_GROUP,
            n: List { limit: MAX_DYNAMIC_OFFSETS, item: args![offset: U32] }
        ],
        Op::Draw => args![vertexCount: U32, instanceCount: U32, firstVertex: U32, firstInstance: U32],
        Op::DrawIndexed => args![
            indexCount: U32, instanceCount: U32, firstIndex: U32, baseVertex: I32, firstInstance: U32
        ],
        Op::SetVertexBuffer => args![slot: U32, buffer: OPTIONAL_BUFFER, offset: U64, size: U64],
        Op::SetIndexBuffer => args![buffer: BUFFER, format: Enum(&INDEX_FORMAT), offset: U64, size: U64],
        Op::SetViewport => args![x: F32, y: F32, w: F32, h: F32, minDepth: F32, maxDepth: F32],
        Op::SetScissorRect => args![x: U32, y: U32, w: U32, h: U32],
        Op::SetBlendConstant => args![r: F32, g: F32, b: F32, a: F32],
        Op::SetStencilReference => args![ref: U32],
        Op::ExecuteBundles => args![n: List { limit: MAX_BUNDLES, item: args![bundle: BUNDLE] }],
        Op::DrawIndirect | Op::DrawIndexedIndirect => args![buffer: BUFFER, offset: U64],
        Op::BeginRenderPass => args![
            nColors: List {
                limit: MAX_COLOR_ATTACHMENTS,
                item: args![
                    view: OPTIONAL_VIEW, resolveTarget: OPTIONAL_VIEW,
                    loadOp: Enum(&LOAD_OP), storeOp: Enum(&STORE_OP),
                    r: F32, g: F32, b: F32, a: F32
                ]
            },
            hasDepth: Optional(args![
                view: VIEW,
                depthLoadOp: Enum(&OPTIONAL_LOAD_OP), depthStoreOp: Enum(&OPTIONAL_STORE_OP),
                depthClear: F32, depthReadOnly: Bool,
                stencilLoadOp: Enum(&OPTIONAL_LOAD_OP), stencilStoreOp: Enum(&OPTIONAL_STORE_OP),
                stencilClear: U32, stencilReadOnly: Bool
            ])
        ],
        Op::EndPass | Op::BeginComputePass | Op::Submit => args![],
        Op::Dispatch => args![x: U32, y: U32, z: U32],
        Op::DispatchIndirect => args![buffer: BUFFER, offset: U64],
        Op::WriteBuffer => args![buffer: BUFFER, offset: U64, dataOffset: U32, length: U32],
        Op::CopyBufferToBuffer => args![
            src: BUFFER, srcOffset: U64, dst: BUFFER, dstOffset: U64, size: U64
        ],
        Op::CopyTextureToTexture => args![
            src: TEXTURE, mip: U32, x: U32, y: U32, z: U32, aspect: Enum(&ASPECT),
            dst: TEXTURE, mip: U32, x: U32, y: U32, z: U32, aspect: Enum(&ASPECT),
            width: U32, height: U32, depthOrArrayLayers: U32
        ],
        Op::WriteTexture => args![
            texture: TEXTURE, mip: U32, x: U32, y: U32, z: U32, aspect: Enum(&ASPECT),
            dataOffset: U32, dataLength: U32, layoutOffset: U64, bytesPerRow: U32, rowsPerImage: U32,
            width: U32, height: U32, depthOrArrayLayers: U32
        ],
        Op::ReadBuffer => args![buffer: BUFFER, offset: U64, size: U32, windowOffset: U32],
    }
}
