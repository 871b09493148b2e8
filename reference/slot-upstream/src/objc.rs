//! What wgpu-hal's Metal code takes from the crates objc2, objc2-foundation and objc2-metal, as far as the functions
//! that are called here reach it. Objects are plain data, encoders record, the system's version is what
//! [`objc2::with_system`] says.
// Named as upstream names it, and there for some release even where another does not use it.
#![allow(non_snake_case, non_upper_case_globals, dead_code)]

use crate::bind::{BufferSlot, Element, Tables};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ffi::c_void;
use std::ptr::NonNull;

/// The crate objc2.
pub mod objc2 {
    use crate::{Platform, System};
    use std::cell::Cell;

    thread_local! {
        static SYSTEM: Cell<Option<System>> = const { Cell::new(None) };
    }

    /// Calls `ask` as if on this system.
    pub fn with_system<T>(system: System, ask: impl FnOnce() -> T) -> T {
        let before = SYSTEM.replace(Some(system));
        let answer = ask();
        SYSTEM.set(before);
        answer
    }

    /// What the macro `available!` asks: whether the system is one of these platforms, at this version or a later one.
    pub fn is_available(versions: &[(&str, &str)]) -> bool {
        let system = SYSTEM.get().expect("a system is set where versions are asked for");
        let name = match system.platform {
            Platform::MacOs => "macos",
            Platform::Ios => "ios",
            Platform::TvOs => "tvos",
            Platform::VisionOs => "visionos",
        };
        versions
            .iter()
            .filter(|(platform, _)| *platform == name)
            .any(|(_, version)| {
                let (major, minor) = version.split_once('.').expect("a version is major.minor");
                let at_least = (major.parse().expect("a number"), minor.parse().expect("a number"));
                (system.major, system.minor) >= at_least
            })
    }

    macro_rules! available {
        ($($platform:ident = $version:literal),* $(,)?) => {
            $crate::objc::objc2::is_available(&[$((stringify!($platform), stringify!($version))),*])
        };
    }
    pub(crate) use available;

    /// Module `rc`.
    pub mod rc {
        pub use std::rc::Rc as Retained;

        /// Calls `body`.
        pub fn autoreleasepool<T>(body: impl FnOnce(()) -> T) -> T {
            body(())
        }
    }

    /// Module `runtime`.
    pub mod runtime {
        use std::fmt;

        /// A protocol of Metal, and what an object that keeps it is made of here.
        pub trait Protocol {
            /// The object's data.
            type State;
        }

        /// An object that keeps a protocol.
        #[repr(transparent)]
        pub struct ProtocolObject<P: Protocol + ?Sized>(pub P::State);

        impl<P: Protocol + ?Sized> fmt::Debug for ProtocolObject<P> {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("object")
            }
        }
    }
}

/// The crate objc2-foundation.
pub mod objc2_foundation {
    /// Foundation's `NSUInteger`.
    pub type NSUInteger = usize;

    /// A string.
    pub struct NSString(pub String);

    impl NSString {
        /// A copy of a string.
        #[allow(clippy::should_implement_trait)]
        pub fn from_str(text: &str) -> NSString {
            NSString(text.to_string())
        }
    }
}

use objc2::rc::Retained;
use objc2::runtime::{Protocol, ProtocolObject};
use objc2_foundation::{NSString, NSUInteger};

/// Traits that stand for Metal's protocols, each with the data of its objects.
macro_rules! protocols {
    ($($name:ident: $state:ty),* $(,)?) => {
        $(
            #[doc = concat!("The protocol `", stringify!($name), "`.")]
            pub trait $name {}
            impl Protocol for dyn $name {
                type State = $state;
            }
        )*
    };
}

/// A buffer: of the caller, or an argument buffer that upstream makes.
#[derive(Debug)]
pub struct BufferState {
    /// The caller's number of it; none for an argument buffer.
    pub id: Option<u32>,
    /// An argument buffer's contents.
    pub contents: UnsafeCell<Vec<u64>>,
}

impl BufferState {
    /// A buffer of the caller's.
    pub fn of(id: u32) -> BufferState {
        BufferState {
            id: Some(id),
            contents: UnsafeCell::default(),
        }
    }
}

/// What a library is compiled from.
#[derive(Debug, Default)]
pub struct LibraryState {
    /// MSL.
    pub source: String,
    /// Whether with invariance preserved.
    pub preserve_invariance: bool,
}

/// The argument tables of one stage.
pub type Recorded = RefCell<Tables>;

/// An encoder's tables by stage: vertex, fragment, task, mesh.
#[derive(Debug, Default)]
pub struct RenderState {
    /// The vertex stage's.
    pub vertex: Recorded,
    /// The fragment stage's.
    pub fragment: Recorded,
    /// The task stage's, which Metal calls object.
    pub object: Recorded,
    /// The mesh stage's.
    pub mesh: Recorded,
}

/// The crate objc2-metal.
pub mod objc2_metal {
    use super::*;

    protocols! {
        MTLAccelerationStructure: u32,
        MTLAccelerationStructureCommandEncoder: (),
        MTLBlitCommandEncoder: (),
        MTLBuffer: BufferState,
        MTLComputeCommandEncoder: Recorded,
        MTLComputePipelineState: (),
        MTLCounterSampleBuffer: (),
        MTLDepthStencilState: (),
        MTLDevice: (),
        MTLFunction: (),
        MTLLibrary: LibraryState,
        MTLRenderCommandEncoder: RenderState,
        MTLRenderPipelineState: (),
        MTLResource: (),
        MTLSamplerState: u32,
        MTLTexture: u32,
    }

    /// Bits of which only that they are there matters here.
    macro_rules! bits {
        ($($name:ident { $($bit:ident = $value:expr),* $(,)? })*) => {
            $(
                #[doc = concat!("The bits `", stringify!($name), "`.")]
                #[derive(Clone, Copy, Debug)]
                pub struct $name(pub u32);
                #[allow(missing_docs)]
                impl $name {
                    $(pub const $bit: $name = $name($value);)*
                    pub const fn empty() -> $name {
                        $name(0)
                    }
                }
                impl std::ops::BitOr for $name {
                    type Output = $name;
                    fn bitor(self, other: $name) -> $name {
                        $name(self.0 | other.0)
                    }
                }
                impl std::ops::BitOrAssign for $name {
                    fn bitor_assign(&mut self, other: $name) {
                        self.0 |= other.0;
                    }
                }
            )*
        };
    }

    bits! {
        MTLRenderStages { Vertex = 1, Fragment = 2 }
        MTLResourceOptions { HazardTrackingModeUntracked = 1, StorageModeShared = 2 }
        MTLResourceUsage { Read = 1, Write = 2, Sample = 4 }
    }

    /// Settings of which only the type matters here.
    macro_rules! settings {
        ($($name:ident),* $(,)?) => {
            $(
                #[doc = concat!("The setting `", stringify!($name), "`.")]
                #[derive(Clone, Copy, Debug, Default)]
                pub struct $name;
            )*
        };
    }

    settings!(
        MTLCullMode,
        MTLDepthClipMode,
        MTLIndexType,
        MTLTriangleFillMode,
        MTLWinding
    );

    /// A kind of primitive.
    #[derive(Clone, Copy, Debug)]
    #[allow(missing_docs)]
    pub enum MTLPrimitiveType {
        Point,
    }

    /// A version of the Metal shading language.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    #[allow(missing_docs)]
    pub enum MTLLanguageVersion {
        Version1_0,
        Version1_1,
        Version1_2,
        Version2_0,
        Version2_1,
        Version2_2,
        Version2_3,
        Version2_4,
        Version3_0,
        Version3_1,
        Version3_2,
        Version4_0,
    }

    /// A class of primitives.
    #[derive(Clone, Copy, Debug)]
    #[allow(missing_docs)]
    pub enum MTLPrimitiveTopologyClass {
        Unspecified,
        Point,
    }

    /// What Metal's compiler is told.
    #[derive(Clone, Debug, Default)]
    pub struct MTLCompileOptions {
        /// Whether to preserve invariance.
        pub preserve_invariance: Cell<bool>,
    }

    #[allow(missing_docs)]
    impl MTLCompileOptions {
        pub fn new() -> MTLCompileOptions {
            MTLCompileOptions::default()
        }

        pub fn setLanguageVersion(&self, _version: MTLLanguageVersion) {}

        pub fn setPreserveInvariance(&self, preserve: bool) {
            self.preserve_invariance.set(preserve);
        }
    }

    /// A size in three dimensions.
    #[derive(Clone, Copy, Debug)]
    #[allow(missing_docs)]
    pub struct MTLSize {
        pub width: NSUInteger,
        pub height: NSUInteger,
        pub depth: NSUInteger,
    }

    /// What an argument buffer holds of a texture, a sampler or an acceleration structure.
    #[derive(Clone, Copy, Debug)]
    #[repr(transparent)]
    pub struct MTLResourceID(pub u64);
}

use objc2_metal::*;

/// An element of an argument buffer, as its word: the id above, the offset below.
fn word(id: u32, offset: u64) -> u64 {
    u64::from(id) << 32 | offset
}

impl ProtocolObject<dyn MTLDevice> {
    /// Makes an argument buffer of so many bytes.
    pub fn newBufferWithLength_options(
        &self,
        length: NSUInteger,
        _options: MTLResourceOptions,
    ) -> Option<Retained<ProtocolObject<dyn MTLBuffer>>> {
        let contents = UnsafeCell::new(vec![0; length.div_ceil(8)]);
        Some(Retained::new(ProtocolObject(BufferState { id: None, contents })))
    }

    /// Keeps the text, and takes it as it is.
    pub fn newLibraryWithSource_options_error(
        &self,
        source: &NSString,
        options: Option<&MTLCompileOptions>,
    ) -> Result<Retained<ProtocolObject<dyn MTLLibrary>>, Infallible> {
        let preserve_invariance = options.is_some_and(|options| options.preserve_invariance.get());
        let source = source.0.clone();
        Ok(Retained::new(ProtocolObject(LibraryState {
            source,
            preserve_invariance,
        })))
    }
}

impl ProtocolObject<dyn MTLLibrary> {
    /// Any name is there.
    pub fn newFunctionWithName(&self, _name: &NSString) -> Option<Retained<ProtocolObject<dyn MTLFunction>>> {
        Some(Retained::new(ProtocolObject(())))
    }
}

impl ProtocolObject<dyn MTLBuffer> {
    /// Where the contents are.
    pub fn contents(&self) -> NonNull<c_void> {
        // SAFETY: nothing else reads or writes the contents while upstream fills them.
        let contents = unsafe { &mut *self.0.contents.get() };
        NonNull::from(contents.as_mut_slice()).cast()
    }

    /// The address on the GPU: the number of the buffer, above what an offset can be.
    pub fn gpuAddress(&self) -> u64 {
        word(
            self.0
                .id
                .expect("upstream asks for the addresses of the caller's buffers only"),
            0,
        )
    }

    fn slot(&self, offset: NSUInteger) -> BufferSlot {
        match self.0.id {
            Some(id) => BufferSlot::Buffer {
                id,
                offset: offset as u64,
            },
            None => {
                // SAFETY: upstream has filled the contents before it binds the buffer.
                let words = unsafe { &*self.0.contents.get() };
                let element = |word: &u64| Element {
                    id: (word >> 32) as u32,
                    offset: *word as u32,
                };
                BufferSlot::Array(words.iter().map(element).collect())
            }
        }
    }
}

/// Objects that an argument buffer holds by their number.
macro_rules! numbered {
    ($($name:ident),*) => {
        $(
            impl ProtocolObject<dyn $name> {
                /// What an argument buffer holds of it.
                pub fn gpuResourceID(&self) -> MTLResourceID {
                    MTLResourceID(word(self.0, 0))
                }
            }
        )*
    };
}

numbered!(MTLAccelerationStructure, MTLSamplerState, MTLTexture);

fn set<T>(table: &mut BTreeMap<u32, T>, index: NSUInteger, what: Option<T>) {
    match what {
        Some(what) => table.insert(index as u32, what),
        None => table.remove(&(index as u32)),
    };
}

fn set_buffer(
    tables: &Recorded,
    buffer: Option<&ProtocolObject<dyn MTLBuffer>>,
    offset: NSUInteger,
    index: NSUInteger,
) {
    set(
        &mut tables.borrow_mut().buffers,
        index,
        buffer.map(|buffer| buffer.slot(offset)),
    );
}

fn set_bytes(tables: &Recorded, bytes: &[u8], index: NSUInteger) {
    set(
        &mut tables.borrow_mut().buffers,
        index,
        Some(BufferSlot::Bytes(bytes.to_vec())),
    );
}

/// The calls that bind to one stage, under Metal's names of them, and the recorded tables that they write.
macro_rules! binding_calls {
    ($encoder:ident[$($stage:tt)*]: $buffer:ident, $bytes:ident, $texture:ident, $sampler:ident) => {
        #[allow(missing_docs)]
        impl ProtocolObject<dyn $encoder> {
            pub fn $buffer(
                &self,
                buffer: Option<&ProtocolObject<dyn MTLBuffer>>,
                offset: NSUInteger,
                index: NSUInteger,
            ) {
                set_buffer(&self.0 $($stage)*, buffer, offset, index);
            }

            /// # Safety
            ///
            /// There are `length` bytes at `bytes`.
            pub unsafe fn $bytes(&self, bytes: NonNull<c_void>, length: NSUInteger, index: NSUInteger) {
                // SAFETY: as the caller says.
                let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>().as_ptr(), length) };
                set_bytes(&self.0 $($stage)*, bytes, index);
            }

            pub fn $texture(&self, texture: Option<&ProtocolObject<dyn MTLTexture>>, index: NSUInteger) {
                set(&mut (self.0 $($stage)*).borrow_mut().textures, index, texture.map(|texture| texture.0));
            }

            pub fn $sampler(&self, sampler: Option<&ProtocolObject<dyn MTLSamplerState>>, index: NSUInteger) {
                set(&mut (self.0 $($stage)*).borrow_mut().samplers, index, sampler.map(|sampler| sampler.0));
            }
        }
    };
}

binding_calls!(
    MTLRenderCommandEncoder[.vertex]:
    setVertexBuffer_offset_atIndex,
    setVertexBytes_length_atIndex,
    setVertexTexture_atIndex,
    setVertexSamplerState_atIndex
);
binding_calls!(
    MTLRenderCommandEncoder[.fragment]:
    setFragmentBuffer_offset_atIndex,
    setFragmentBytes_length_atIndex,
    setFragmentTexture_atIndex,
    setFragmentSamplerState_atIndex
);
binding_calls!(
    MTLRenderCommandEncoder[.object]:
    setObjectBuffer_offset_atIndex,
    setObjectBytes_length_atIndex,
    setObjectTexture_atIndex,
    setObjectSamplerState_atIndex
);
binding_calls!(
    MTLRenderCommandEncoder[.mesh]:
    setMeshBuffer_offset_atIndex,
    setMeshBytes_length_atIndex,
    setMeshTexture_atIndex,
    setMeshSamplerState_atIndex
);
binding_calls!(
    MTLComputeCommandEncoder[]:
    setBuffer_offset_atIndex,
    setBytes_length_atIndex,
    setTexture_atIndex,
    setSamplerState_atIndex
);

/// The call that binds an acceleration structure to one stage; none to task and mesh stages.
macro_rules! structure_call {
    ($encoder:ident[$($stage:tt)*]: $structure:ident) => {
        #[allow(missing_docs)]
        impl ProtocolObject<dyn $encoder> {
            pub fn $structure(
                &self,
                structure: Option<&ProtocolObject<dyn MTLAccelerationStructure>>,
                index: NSUInteger,
            ) {
                let slot = structure.map(|structure| BufferSlot::AccelerationStructure(structure.0));
                set(&mut (self.0 $($stage)*).borrow_mut().buffers, index, slot);
            }
        }
    };
}

structure_call!(MTLRenderCommandEncoder[.vertex]: setVertexAccelerationStructure_atBufferIndex);
structure_call!(MTLRenderCommandEncoder[.fragment]: setFragmentAccelerationStructure_atBufferIndex);
structure_call!(MTLComputeCommandEncoder[]: setAccelerationStructure_atBufferIndex);

/// What changes no argument table.
#[allow(missing_docs)]
impl ProtocolObject<dyn MTLRenderCommandEncoder> {
    pub fn setRenderPipelineState(&self, _pipeline: &ProtocolObject<dyn MTLRenderPipelineState>) {}
    pub fn setFrontFacingWinding(&self, _winding: MTLWinding) {}
    pub fn setCullMode(&self, _mode: MTLCullMode) {}
    pub fn setTriangleFillMode(&self, _mode: MTLTriangleFillMode) {}
    pub fn setDepthClipMode(&self, _mode: MTLDepthClipMode) {}
    pub fn setDepthStencilState(&self, _state: Option<&ProtocolObject<dyn MTLDepthStencilState>>) {}
    pub fn setDepthBias_slopeScale_clamp(&self, _bias: f32, _slope_scale: f32, _clamp: f32) {}
    pub fn setObjectThreadgroupMemoryLength_atIndex(&self, _length: NSUInteger, _index: NSUInteger) {}
    pub fn useResource_usage_stages(
        &self,
        _resource: &ProtocolObject<dyn MTLResource>,
        _usage: MTLResourceUsage,
        _stages: MTLRenderStages,
    ) {
    }
}

/// What changes no argument table.
#[allow(missing_docs)]
impl ProtocolObject<dyn MTLComputeCommandEncoder> {
    pub fn setComputePipelineState(&self, _pipeline: &ProtocolObject<dyn MTLComputePipelineState>) {}
    pub fn setThreadgroupMemoryLength_atIndex(&self, _length: NSUInteger, _index: NSUInteger) {}
    pub fn useResource_usage(&self, _resource: &ProtocolObject<dyn MTLResource>, _usage: MTLResourceUsage) {}
}
