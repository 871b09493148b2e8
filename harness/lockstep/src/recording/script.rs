//! `reference/replay_recording.js` in a process of deno's: a recording on deno's own WebGPU or on Dawn.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Deserialize;

use super::Adapter;
use crate::setup::{self, deno_command, process};

/// How long a whole recording may take.
const DEADLINE: Duration = Duration::from_secs(300);

/// The line of JSON that it ends with.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Played {
    pub(super) adapter: Adapter,
    pub(super) lacking: Vec<String>,
    pub(super) streams: u64,
    pub(super) commands: u64,
    pub(super) compared: u64,
    /// Each begins with `object N`, or with the stream's file and a colon.
    pub(super) refused: Vec<String>,
    pub(super) differences: Vec<String>,
}

/// Replays the recording in `folder` on the engine of that id, such as `dawn:null`.
///
/// # Errors
///
/// deno is missing, or the process ended without its line: what it said last, or that it was ended at the deadline.
pub(super) fn play(engine: &str, folder: &Path) -> anyhow::Result<Played> {
    let parts = setup::look();
    let deno = parts.deno.as_ref().map_err(Clone::clone)?;
    let mut command = deno_command(&parts.root, deno);
    command.args(["run", "--quiet", "--cached-only", "--no-config", "--allow-read"]);
    let name = match engine {
        "dawn:null" => "dawn-null",
        _ if engine.starts_with("dawn") => "dawn",
        _ => "deno",
    };
    if name != "deno" {
        // It is a native library.
        command.arg("--allow-ffi");
    }
    let script = parts.root.join("reference/replay_recording.js");
    command.arg(script).arg(folder).arg(name);
    let ran = process::run(&mut command, DEADLINE).context("deno does not start")?;
    let line = ran.output.lines().rfind(|line| line.starts_with("{\"engine\":"));
    match (line, ran.status) {
        (Some(line), Some(_)) => serde_json::from_str(line).context("its last line is none of replay_recording.js"),
        (_, None) => bail!("it was ended after {} s", DEADLINE.as_secs()),
        (None, Some(status)) => {
            let said = ran.output.lines().rfind(|line| !line.trim().is_empty());
            bail!("it ended with {status}: {}", said.unwrap_or("it said nothing"))
        }
    }
}
