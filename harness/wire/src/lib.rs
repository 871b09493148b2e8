#![forbid(unsafe_code)]
//! A reader of the batched WebGPU command stream, version 4, that a guest recorded and nobody trusts.
//!
//! A stream is a sequence of u32 words and a sequence of data bytes; objects are ids, indices of a table that the
//! replayer holds. `reference/wire.md` is the specification, and the sections named here are its sections. In the
//! order in which a host uses them:
//!
//! 1. [`Blob::parse`] takes a stream out of a blob (section 1).
//! 2. [`remap_reads`] checks it and translates its ids (section 3). [`decode`] and [`commands`] give its commands.
//! 3. [`check_ranges`] holds them against the sizes of buffers (section 5), [`check_reads`] the reads against buffers
//!    and window (section 6).
//! 4. [`check_strict`], where it wants to know more before it replays, against all that WebGPU would refuse over memory
//!    (section 8).
//!
//! [`split_descriptor`] and [`remap_descriptor`] do the same for the objects that the guest creates, and
//! [`remap_bundle`] for the words in a render bundle (section 7). [`layout`] is the table of opcodes as data.
//!
//! ```
//! // BeginComputePass, SetPipeline 7, Dispatch 4 1 1, EndPass, Submit, from a guest that calls our object 70 its 7.
//! let mut words = [22, 1, 7, 23, 4, 1, 1, 21, 40];
//! wire::remap(&mut words, 0, |id| (id == 7).then_some(70)).unwrap();
//! let cmds = wire::decode(&words, 0).unwrap();
//! assert_eq!((cmds[1].op, cmds[1].args), (wire::Op::SetPipeline, &[70][..]));
//! wire::check_ranges(cmds, |_| None, wire::DEFAULT_MAX_WORKGROUPS).unwrap();
//! ```
//!
//! Whatever words or bytes a stream, a blob or a descriptor holds, nothing here panics, and time and memory are linear
//! in them. What can panic over a mistake of the caller's says so.

mod arguments;
mod blob;
mod decode;
mod descriptor;
mod kind;
mod layout;
mod op;
mod quick;
mod ranges;

mod reads;
mod reason;
mod remap;
mod strict;
mod word;
mod word_enum;

pub use blob::{Blob, BlobError, encode_blob};
pub use decode::{Cmd, Commands, Refusal, bundle_commands, commands, decode, decode_bundle};
pub use descriptor::{DescriptorError, append_descriptor, remap_descriptor, split_descriptor};
pub use kind::Kind;
pub use layout::{
    ASPECT, Arg, ArgKind, Enumeration, INDEX_FORMAT, LOAD_OP, OPTIONAL_LOAD_OP, OPTIONAL_STORE_OP, STORE_OP, layout,
};
pub use op::{Context, Op};
pub use ranges::{RangeRefusal, check_ranges};
pub use reads::{BufferInfo, ReadRefusal, check_reads};
pub use reason::Reason;
pub use remap::{Read, remap, remap_bundle, remap_reads};
pub use strict::{
    BufferFacts, Class, Dimension, DynamicBuffer, Format, Limits, ObjectTable, Rule, Strict, TextureFacts,
    VertexBufferLayout, check_strict, check_strict_bundle,
};

/// The version of the format, in a blob's header (section 1).
pub const STREAM_VERSION: u32 = 4;
/// The most color attachments that a BeginRenderPass may have (section 3, check 4).
pub const MAX_COLOR_ATTACHMENTS: u32 = 8;
/// The most dynamic offsets that a SetBindGroup may have (section 3, check 4).
pub const MAX_DYNAMIC_OFFSETS: u32 = 1 << 16;
/// The most bundles that an ExecuteBundles may have (section 3, check 4).
pub const MAX_BUNDLES: u32 = 1 << 16;
/// The dispatch bound, in workgroups per dimension, of a device that was not asked for another (section 5).
pub const DEFAULT_MAX_WORKGROUPS: u32 = 65535;
/// The most bytes of read window that a ReadBuffer may reach, 64 MiB (section 3, check 10). A host grants fewer.
pub const MAX_READ_WINDOW: u32 = 64 << 20;
/// The most references of one descriptor (section 7).
pub const MAX_REFS: u32 = 4096;
/// The largest u64 that a stream may carry, 2^53 - 1 (section 3, check 7).
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// A `bytesPerRow` or `rowsPerImage` that is left out (section 2).
pub const LEFT_OUT: u32 = u32::MAX;

/// The host of `docs/host.md`, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/host.md")]
struct HostPage;
