//! Differences between CheckRanges and an engine that are the engine's own, each by the rule of WebGPU that it breaks.
//!
//! `docs/ledger.md` lists them for a reader; `tests/gpu_ledger.rs` replays an example of each, so that a line whose engine was mended is
//! found out.

use wire::Cmd;

use crate::case::{BufferFacts, Object, buffer_facts};

/// A tolerated difference.
pub struct Line {
    /// What happens, by which reports count it.
    pub name: &'static str,
    /// The engines: their ids, or what these begin with.
    pub engines: &'static [&'static str],
    /// The versions that were seen to do it.
    pub versions: &'static str,
    /// The rule of WebGPU.
    pub rule: &'static str,
    /// Why the engine does it.
    pub reason: &'static str,
    /// The engine takes what CheckRanges refuses; else it refuses what CheckRanges accepts.
    pub takes: bool,
    /// Whether it is about this command over these buffers.
    pub applies: fn(&Cmd<'_>, &[BufferFacts]) -> bool,
}

/// All of them.
pub const LINES: [Line; 0] = [];

/// The line that explains why an engine takes, or does not take, a command.
pub fn line(engine: &str, takes: bool, cmd: &Cmd<'_>, objects: &[Object]) -> Option<&'static Line> {
    let named = |line: &&Line| line.takes == takes && line.engines.iter().any(|name| engine.starts_with(name));
    let mut lines = LINES.iter().filter(named).peekable();
    lines.peek()?;
    let buffers = buffer_facts(objects);
    lines.find(|line| (line.applies)(cmd, &buffers))
}
