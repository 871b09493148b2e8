//! Readers: whatever answers a case. One file each; what they say is in [`answer`] and [`layouts`], how they are asked in [`ask`] and, over a pipe, in
//! [`protocol`]. The reader of `wire` and `mslmap` is a crate of its own, `subject`, which builds without this one.

pub mod ask;
pub mod layouts;
pub mod outside;
pub mod process;
pub mod protocol;
pub mod replay_js;
pub mod slot_model;
pub mod slot_upstream;

pub use subject::questions::{
    Batch, BatchAnswers, CallsQuery, DescriptorQuery, ReaderFailed, StreamQuery, StreamReader,
};
pub use subject::{answer, native, serve};
