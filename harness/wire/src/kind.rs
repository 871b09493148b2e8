//! Kinds of objects (wire.md section 7).

use crate::word_enum::word_enum;

word_enum! {
    /// The kind of object that a creation descriptor makes (wire.md section 7).
    ///
    /// [`layout`](crate::layout) says which kinds an id argument takes.
    pub enum Kind {
        /// A buffer; no references.
        Buffer = 1, "buffer";
        /// A texture; no references.
        Texture = 2, "texture";
        /// A texture view; references its texture.
        TextureView = 3, "texture view";
        /// A sampler; no references.
        Sampler = 4, "sampler";
        /// A shader module; no references.
        ShaderModule = 5, "shader module";
        /// A bind group layout; no references.
        BindGroupLayout = 6, "bind group layout";
        /// A pipeline layout; one reference per group, 0 for an empty place.
        PipelineLayout = 7, "pipeline layout";
        /// A bind group; references its layout, then one object per entry.
        BindGroup = 8, "bind group";
        /// A compute pipeline; references its layout (0 for auto) and its module.
        ComputePipeline = 9, "compute pipeline";
        /// A render pipeline; references its layout (0 for auto), vertex module and fragment module (0 for none).
        RenderPipeline = 10, "render pipeline";
        /// A render bundle; references whatever its words name.
        RenderBundle = 11, "render bundle";
    }
}
