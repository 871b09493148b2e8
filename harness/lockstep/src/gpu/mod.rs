//! Replays streams on real devices and says what they should have done.

pub mod engine;
pub mod kernels;
pub mod ledger;
mod objects;
mod readback;
mod replay;
pub mod script;
pub mod session;
pub mod shadow;
pub mod wgpu_engine;

use std::collections::BTreeMap;

pub use subject::calls;

/// What an engine did with one stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The first command in stream order that went wrong, if one did. Commands after it may have been made too: errors of an encoder's
    /// calls show when it is finished.
    pub trouble: Option<Trouble>,
    /// The device was lost or did not answer in time; the engine has already made a new one.
    pub lost: bool,
    /// What every buffer holds afterwards, by the replayer's id; `None` where it cannot be read back. Empty on an engine that
    /// executes nothing.
    pub buffers: BTreeMap<u32, Option<Vec<u8>>>,
    /// What every texture holds, mip level by mip level, layer by layer, rows tightly packed; `None` as above.
    pub textures: BTreeMap<u32, Option<Vec<u8>>>,
    /// The read window, after the ReadBuffers were performed in stream order (wire.md section 4, rule 5). Empty when the read check
    /// refused them or the engine executes nothing.
    pub window: Vec<u8>,
}

/// What went wrong in a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The command's index, every command counted from 0; `None` when the object table itself was refused.
    pub command: Option<usize>,
    /// The id of the row of the object table that was refused; none where the engine does not say.
    pub row: Option<u32>,
    /// What it was.
    pub kind: TroubleKind,
    /// The engine's own words. Never compared: each engine has its own.
    pub message: String,
}

/// Whose trouble it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// A validation error of the device.
    Validation,
    /// The replayer's own stop over an id of another kind (wire.md section 4, rule 6).
    WrongKind,
    /// Out of memory, or an internal error of the engine.
    Engine,
}
