//! Opcodes, and where each may stand (wire.md section 2).

use crate::word_enum::word_enum;

word_enum! {
    /// A command's opcode, its first word (wire.md section 2).
    ///
    /// The comments give the arguments, a word each unless they say otherwise; [`layout`](crate::layout) gives them as data.
    pub enum Op {
        /// pipeline
        SetPipeline = 1, "SetPipeline";
        /// index, bind group (0: unbind), n, offsets\[n\]
        SetBindGroup = 2, "SetBindGroup";
        /// vertexCount, instanceCount, firstVertex, firstInstance
        Draw = 3, "Draw";
        /// indexCount, instanceCount, firstIndex, baseVertex (i32), firstInstance
        DrawIndexed = 4, "DrawIndexed";
        /// slot, buffer (0: unset), offset (u64), size (u64; 0: the rest of the buffer)
        SetVertexBuffer = 5, "SetVertexBuffer";
        /// buffer, format, offset (u64), size (u64; 0: the rest of the buffer)
        SetIndexBuffer = 6, "SetIndexBuffer";
        /// x, y, w, h, minDepth, maxDepth (f32)
        SetViewport = 7, "SetViewport";
        /// x, y, w, h
        SetScissorRect = 8, "SetScissorRect";
        /// r, g, b, a (f32)
        SetBlendConstant = 9, "SetBlendConstant";
        /// reference
        SetStencilReference = 10, "SetStencilReference";
        /// n, bundles\[n\]
        ExecuteBundles = 11, "ExecuteBundles";
        /// buffer, offset (u64)
        DrawIndirect = 12, "DrawIndirect";
        /// buffer, offset (u64)
        DrawIndexedIndirect = 13, "DrawIndexedIndirect";
        /// nColors, 8 words per color, hasDepth, 9 depth words where it is 1
        BeginRenderPass = 20, "BeginRenderPass";
        /// no arguments; closes the open pass, of either kind
        EndPass = 21, "EndPass";
        /// no arguments
        BeginComputePass = 22, "BeginComputePass";
        /// x, y, z, in workgroups
        Dispatch = 23, "Dispatch";
        /// buffer, offset (u64)
        DispatchIndirect = 24, "DispatchIndirect";
        /// buffer, offset (u64), dataOffset, length, in bytes
        WriteBuffer = 30, "WriteBuffer";
        /// src, srcOffset (u64), dst, dstOffset (u64), size (u64), in bytes
        CopyBufferToBuffer = 31, "CopyBufferToBuffer";
        /// twice texture, mip, x, y, z, aspect (source, destination), then width, height, depthOrArrayLayers
        CopyTextureToTexture = 32, "CopyTextureToTexture";
        /// texture, mip, x, y, z, aspect, dataOffset, dataLength, layoutOffset (u64), bytesPerRow, rowsPerImage,
        /// width, height, depthOrArrayLayers
        WriteTexture = 33, "WriteTexture";
        /// buffer, offset (u64), size, windowOffset, in bytes
        ReadBuffer = 34, "ReadBuffer";
        /// no arguments
        Submit = 40, "Submit";
    }
}

/// Where a command stands: what decides whether it may (wire.md section 2, column "where").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// T: outside any pass.
    Outside,
    /// R: inside a render pass.
    Render,
    /// C: inside a compute pass.
    Compute,
    /// B: in the words of a render bundle (section 7). No Begin opens it and no EndPass closes it.
    Bundle,
}

impl Context {
    /// Every context, in the order of the specification: T, R, C, B.
    pub const ALL: [Self; 4] = [Self::Outside, Self::Render, Self::Compute, Self::Bundle];
}

impl Op {
    /// Whether a command with this opcode may stand in `context` (wire.md section 2, column "where").
    pub const fn allowed_in(self, context: Context) -> bool {
        use Context::{Bundle, Compute, Outside, Render};
        match self {
            Op::SetPipeline | Op::SetBindGroup => matches!(context, Render | Compute | Bundle),
            Op::Draw
            | Op::DrawIndexed
            | Op::SetVertexBuffer
            | Op::SetIndexBuffer
            | Op::DrawIndirect
            | Op::DrawIndexedIndirect => matches!(context, Render | Bundle),
            Op::SetViewport
            | Op::SetScissorRect
            | Op::SetBlendConstant
            | Op::SetStencilReference
            | Op::ExecuteBundles => matches!(context, Render),
            Op::Dispatch | Op::DispatchIndirect => matches!(context, Compute),
            Op::EndPass => matches!(context, Render | Compute),
            Op::WriteBuffer | Op::WriteTexture | Op::ReadBuffer => {
                matches!(context, Outside | Render | Compute)
            }
            Op::BeginRenderPass
            | Op::BeginComputePass
            | Op::CopyBufferToBuffer
            | Op::CopyTextureToTexture
            | Op::Submit => matches!(context, Outside),
        }
    }
}
