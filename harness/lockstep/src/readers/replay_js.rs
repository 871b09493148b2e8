//! `reference/replay.js` under deno: the reference reader of streams, written from wire.md by somebody who had not read `wire`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{DEADLINE, Process};

/// The reader's name.
pub const NAME: &str = "replay-js";

/// One deno process that serves `replay.js`. `root` is the repository's; `deno` makes the command that runs deno.
pub fn replay_js(root: &Path, deno: impl Fn() -> Command + Send + 'static) -> Process {
    let script: PathBuf = root.join("reference/serve.js");
    Process::new(NAME, DEADLINE, move || {
        let mut command = deno();
        command.arg("run").arg("--quiet").arg("--no-config").arg(&script);
        command
    })
}
