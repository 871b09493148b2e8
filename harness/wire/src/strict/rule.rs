//! The rules of the strict check: their classes and their words (wire.md section 8).

use std::fmt;

/// What a rule is about, as wire.md section 8 groups them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// A range of a buffer.
    Range,
    /// An offset or a size that must be a multiple of something.
    Alignment,
    /// A usage that a buffer or a texture lacks.
    Usage,
    /// Both ends of a copy are the same memory.
    Overlap,
    /// The part of a texture that a copy or a write names.
    TextureExtent,
    /// How the bytes of a texture write lie in the stream's data.
    DataLayout,
    /// A limit of the device.
    Limit,
}

impl Class {
    /// Every class, in the order of wire.md section 8.
    pub const ALL: [Self; 7] = [
        Self::Range,
        Self::Alignment,
        Self::Usage,
        Self::Overlap,
        Self::TextureExtent,
        Self::DataLayout,
        Self::Limit,
    ];

    /// The name as wire.md section 8 writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Class::Range => "range",
            Class::Alignment => "alignment",
            Class::Usage => "usage",
            Class::Overlap => "overlap",
            Class::TextureExtent => "texture-extent",
            Class::DataLayout => "data-layout",
            Class::Limit => "limit",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Declares the rules, each with its class and its words, from one table.
macro_rules! rules {
    ($( $rule:ident: $class:ident, $words:literal; )+) => {
        /// A rule of WebGPU's that a command breaks (wire.md section 8).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $( #[doc = $words] $rule, )+
        }

        impl Rule {
            /// Every rule, class by class.
            pub const ALL: &'static [Self] = &[$(Self::$rule),+];

            /// Its class.
            pub const fn class(self) -> Class {
                match self {
                    $( Rule::$rule => Class::$class, )+
                }
            }

            /// The method and what it asks, in the words of the WebGPU specification.
            pub const fn words(self) -> &'static str {
                match self {
                    $( Rule::$rule => $words, )+
                }
            }
        }
    };
}

rules! {
    WrongKind: Range, "an id names an object of the kind that its argument takes";
    Malformed: Range, "a command has the arguments of its opcode";
    WriteRange: Range, "writeBuffer: bufferOffset + size <= buffer.size";
    CopySourceRange: Range, "copyBufferToBuffer: sourceOffset + size <= source.size";
    CopyDestinationRange: Range, "copyBufferToBuffer: destinationOffset + size <= destination.size";
    DispatchIndirectRange: Range, "dispatchWorkgroupsIndirect: indirectOffset + 12 <= indirectBuffer.size";
    DrawIndirectRange: Range, "drawIndirect: indirectOffset + 16 <= indirectBuffer.size";
    DrawIndexedIndirectRange: Range, "drawIndexedIndirect: indirectOffset + 20 <= indirectBuffer.size";
    VertexBufferRange: Range, "setVertexBuffer: offset + size <= buffer.size";
    IndexBufferRange: Range, "setIndexBuffer: offset + size <= buffer.size";
    DynamicOffsetRange: Range, "setBindGroup: binding.offset + dynamic offset + binding.size <= buffer.size";
    VertexReads: Range, "draw: (firstVertex + vertexCount - 1) * arrayStride + lastStride <= vertex buffer size";
    InstanceReads: Range, "draw: (firstInstance + instanceCount - 1) * arrayStride + lastStride <= vertex buffer size";
    IndexReads: Range, "drawIndexed: firstIndex + indexCount <= index buffer size / index size";
    MapRange: Range, "mapAsync: offset + size <= buffer.size";

    WriteOffset: Alignment, "writeBuffer: bufferOffset is a multiple of 4";
    CopySourceOffset: Alignment, "copyBufferToBuffer: sourceOffset is a multiple of 4";
    CopyDestinationOffset: Alignment, "copyBufferToBuffer: destinationOffset is a multiple of 4";
    CopySize: Alignment, "copyBufferToBuffer: size is a multiple of 4";
    IndirectOffset: Alignment, "indirectOffset is a multiple of 4";
    VertexBufferOffset: Alignment, "setVertexBuffer: offset is a multiple of 4";
    IndexBufferOffset: Alignment, "setIndexBuffer: offset is a multiple of the index size";
    UniformOffset: Alignment, "setBindGroup: dynamic offset is a multiple of minUniformBufferOffsetAlignment";
    StorageOffset: Alignment, "setBindGroup: dynamic offset is a multiple of minStorageBufferOffsetAlignment";
    OriginBlock: Alignment, "origin.x and origin.y are multiples of the texel block";
    ExtentBlock: Alignment, "copySize.width and copySize.height are multiples of the texel block";

    BufferCopySrc: Usage, "buffer.usage contains COPY_SRC";
    BufferCopyDst: Usage, "buffer.usage contains COPY_DST";
    BufferVertex: Usage, "buffer.usage contains VERTEX";
    BufferIndex: Usage, "buffer.usage contains INDEX";
    BufferIndirect: Usage, "buffer.usage contains INDIRECT";
    BufferMapRead: Usage, "buffer.usage contains MAP_READ";
    TextureCopySrc: Usage, "texture.usage contains COPY_SRC";
    TextureCopyDst: Usage, "texture.usage contains COPY_DST";

    SameBuffer: Overlap, "copyBufferToBuffer: source is not destination";
    SameSubresource: Overlap, "copyTextureToTexture: the subresources of source and destination are disjoint";

    MipLevel: TextureExtent, "mipLevel < texture.mipLevelCount";
    CopyExtent: TextureExtent, "origin + copySize <= the subresource's size";
    WholeSubresource: TextureExtent, "copySize is the subresource's size where depth-stencil or multisampled";
    Formats: TextureExtent, "copyTextureToTexture: the formats are copy-compatible";
    SampleCounts: TextureExtent, "copyTextureToTexture: the sample counts are equal";
    AllAspects: TextureExtent, "copyTextureToTexture: aspect refers to all aspects of the format";
    OneSample: TextureExtent, "writeTexture: texture.sampleCount is 1";
    OneAspect: TextureExtent, "writeTexture: aspect refers to one aspect of the format";
    WritableAspect: TextureExtent, "writeTexture: the format's aspect may be written";

    BytesPerRowGiven: DataLayout, "writeTexture: bytesPerRow is given where more than one row is written";
    RowsPerImageGiven: DataLayout, "writeTexture: rowsPerImage is given where more than one image is written";
    BytesPerRow: DataLayout, "writeTexture: bytesPerRow >= the bytes of a row";
    RowsPerImage: DataLayout, "writeTexture: rowsPerImage >= the rows of an image";
    DataBytes: DataLayout, "writeTexture: layout.offset + the bytes required <= the data's size";

    BindGroupIndex: Limit, "setBindGroup: index < maxBindGroups";
    DynamicOffsetCount: Limit, "setBindGroup: as many dynamic offsets as the layout has dynamic buffers";
    VertexBufferSlot: Limit, "setVertexBuffer: slot < maxVertexBuffers";
    Workgroups: Limit, "dispatchWorkgroups: each count <= maxComputeWorkgroupsPerDimension";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.words())
    }
}
