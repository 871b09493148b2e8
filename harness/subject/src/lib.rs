//! `wire` and `mslmap` as a reader, and the protocol of `reference/PROTOCOL.md`: all that a subject of the harness is made of, without
//! the harness. The program serves the reader on standard input and output; it builds in seconds, so that a copy of it with a fault in
//! `wire` or `mslmap` does too.

pub mod answer;
pub mod calls;
pub mod case;
mod layout_answer;
pub mod layouts;
pub mod native;
pub mod protocol;
pub mod questions;
pub mod serve;
pub mod strict;
