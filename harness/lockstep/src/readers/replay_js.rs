//! `reference/replay.js` under deno: the reference reader of streams, written from wire.md by somebody who had not read `wire`.

use std::path::Path;

use super::process::{DEADLINE, Process};
use crate::setup::deno_command;

/// The reader's name.
pub const NAME: &str = "replay-js";

/// One deno process that serves `replay.js`. `root` is the repository's folder, `deno` the program. It may read and write nothing.
pub fn replay_js(root: &Path, deno: &Path) -> Process {
    let (root, deno) = (root.to_path_buf(), deno.to_path_buf());
    Process::new(NAME, DEADLINE, move || {
        let mut command = deno_command(&root, &deno);
        command
            .args(["run", "--quiet", "--cached-only", "--no-config"])
            .arg(root.join("reference/serve.js"));
        command
    })
}
