//! Cases of streams and of layouts: what a reader is asked about.

mod layout;
mod stream;

pub use layout::{LayoutCase, Platform, Shader, Stage, System};
pub use stream::{BufferFacts, Object, StreamCase, buffer_facts};
