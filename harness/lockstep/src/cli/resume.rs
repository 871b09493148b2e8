//! `run --resume`: the file from which a campaign that was ended goes on.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run::Args;
use crate::campaign::{Checkpoint, Plan, Rounds};
use crate::report::results::Shards;
use crate::report::{MAX_RESULTS, checked};
use crate::{files, input, say};

/// The version of the file.
const FORMAT: u32 = 1;
/// Its name in the folder of the report. It is there while a campaign runs, and after one that was ended.
const NAME: &str = "checkpoint.json";

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<C> {
    format: u32,
    version: String,
    commit: Option<String>,
    /// Those that decide what is run. The seed is there also where the clock gave it.
    options: Args,
    checkpoint: C,
}

/// Writes a campaign's checkpoints.
pub(super) struct Keeper {
    path: PathBuf,
    commit: Option<String>,
    options: Args,
    /// That it cannot be written is said once.
    failed: bool,
}

impl Keeper {
    pub(super) fn new(out: &Path, commit: Option<String>, args: &Args, plan: &Plan) -> Keeper {
        let mut options = args.clone();
        options.seed = (!args.edges).then_some(plan.seed);
        Keeper {
            path: out.join(NAME),
            commit,
            options,
            failed: false,
        }
    }

    pub(super) fn keep(&mut self, checkpoint: &Checkpoint) {
        let file = File {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            commit: self.commit.clone(),
            options: self.options.clone(),
            checkpoint,
        };
        let text = serde_json::to_string(&file).context("a checkpoint is JSON");
        let written = text.and_then(|text| files::write(&self.path, &text));
        if let Err(error) = written.as_ref().map_err(|error| format!("{error:#}"))
            && !self.failed
        {
            say::error(format_args!("{error}; the campaign goes on, and could not be resumed"));
        }
        self.failed = written.is_err();
    }

    /// Nothing is left to go on with.
    pub(super) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The options that decide what is run of the campaign that ended in `folder`, and its checkpoint.
///
/// # Errors
///
/// There is none, it is of another version or commit, it contradicts itself, or an option is given that it has otherwise. One line that
/// names the file.
pub(super) fn take_up(given: &Args, folder: &Path, commit: Option<&str>) -> anyhow::Result<(Args, Checkpoint)> {
    let path = folder.join(NAME);
    let name = path.display();
    let text = input::text(&path, MAX_RESULTS).with_context(|| {
        format!(
            "{name}: cannot read where the campaign stood; it is there while one runs, and after one that was ended"
        )
    })?;
    let value = checked(&name.to_string(), &text, FORMAT)?;
    let same = [
        ("version", value["version"].as_str(), Some(env!("CARGO_PKG_VERSION"))),
        ("commit", value["commit"].as_str(), commit),
    ];
    for (what, kept, own) in same {
        let (kept, own) = (kept.unwrap_or("none"), own.unwrap_or("none"));
        ensure!(
            kept == own,
            "{name}: of {what} {kept}, and this program is of {own}: its cases would be others; start anew without --resume"
        );
    }
    let asked = serde_json::to_value(given)?;
    for (option, asked) in asked.as_object().into_iter().flatten() {
        if is_given(asked) && value["options"][option] != *asked {
            bail!("--{option} is not what {name} has; leave it out, or start anew without --resume");
        }
    }
    let file: File<Checkpoint> = serde_json::from_value(value)
        .map_err(|error| anyhow!("{name}: not a checkpoint: {}", input::plainly(error)))?;
    file.options.check().map_err(|why| anyhow!("{name}: {why}"))?;
    let (shard, of) = file.options.shard.unwrap_or((0, 1));
    let Checkpoint { rounds, results } = &file.checkpoint;
    ensure!(
        rounds.are_of((shard, of)),
        "{name}: its rounds are not those of shard {shard}/{of}"
    );
    // A file that somebody put together may say one thing of the options and another of what they came to.
    let ran = vec![shard];
    ensure!(
        results.seed == file.options.seed.unwrap_or(0) && results.shards == Shards { of, ran },
        "{name}: its results are of another seed or shard than its options; start anew without --resume"
    );
    let counted: u64 = results.lanes.iter().map(|lane| lane.cases).sum();
    ensure!(
        counted == 0 || *rounds != Rounds::none((shard, of)),
        "{name}: it counts {counted} cases and no round; start anew without --resume"
    );
    Ok((file.options, file.checkpoint))
}

fn is_given(option: &Value) -> bool {
    match option {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}
