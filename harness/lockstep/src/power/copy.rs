//! A copy of the crates that a subject is made of, to which a change is made and which is built.

use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};
use std::process::Output;

use anyhow::{Context as _, bail, ensure};
use walkdir::WalkDir;

use super::Fault;
use crate::setup::cargo_command;

/// The crates of a subject, from the repository's root.
const CRATES: [&str; 3] = ["harness/wire", "harness/mslmap", "harness/subject"];

/// A copy in a folder of its own, which no other process uses at the same time.
///
/// cargo's folder stands beside the copy and is that of no other copy: to cargo the crates of two copies are the same crates, and what it
/// built of the one it would take for the other's.
pub struct Workshop {
    folder: PathBuf,
    target: PathBuf,
    root: PathBuf,
    _lock: File,
}

/// Why there is no faulty program.
#[derive(Debug)]
pub enum NotBuilt {
    /// The patch is for another text.
    Applies(String),
    /// The compiler refuses it.
    Builds(String),
}

impl Workshop {
    /// Copies the crates into a folder, which is made where there is none. What was compiled there before is used again. Waits for another
    /// process that uses the folder.
    ///
    /// # Errors
    ///
    /// The copy cannot be made.
    pub fn new(root: &Path, folder: &Path) -> anyhow::Result<Workshop> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let lock = File::create(folder.join("lock")).and_then(|lock| lock.lock().map(|()| lock));
        let lock = lock.with_context(|| format!("cannot lock {}", folder.display()))?;
        let (target, folder) = (folder.join("target"), folder.join("copy"));
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot make {} anew", folder.display()))?;
        }
        for part in CRATES {
            for entry in WalkDir::new(root.join(part)) {
                let entry = entry?;
                let to = folder.join(entry.path().strip_prefix(root)?);
                let made = match entry.file_type().is_dir() {
                    true => fs::create_dir_all(&to),
                    false => fs::copy(entry.path(), &to).map(drop),
                };
                made.with_context(|| format!("cannot write {}", to.display()))?;
            }
        }
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
        fs::write(folder.join("Cargo.toml"), of_the_copy(&manifest))?;
        Ok(Workshop {
            folder,
            target,
            root: root.to_path_buf(),
            _lock: lock,
        })
    }

    /// The program of the copy as it is.
    ///
    /// # Errors
    ///
    /// It does not build: cargo's first error.
    pub fn build(&self) -> anyhow::Result<PathBuf> {
        let mut command = cargo_command(&self.folder);
        command.args("build --quiet --profile power --offline --message-format short --package subject".split(' '));
        command.arg("--target-dir").arg(&self.target);
        let built = command.output().context("cargo does not start")?;
        if !built.status.success() {
            bail!("{}", first_error(&built));
        }
        let program = format!("subject{}", std::env::consts::EXE_SUFFIX);
        let ours = self.folder.join(&program);
        // The one that is there may still be running; its name is free all the same.
        let _ = fs::remove_file(&ours);
        fs::copy(self.target.join("power").join(&program), &ours).context("cargo built no subject")?;
        Ok(ours)
    }

    /// The program of the copy with the change made to it; afterwards the copy is without it again.
    ///
    /// # Errors
    ///
    /// The patch does not apply, or the program does not build.
    pub fn build_with(&self, fault: &Fault) -> Result<PathBuf, NotBuilt> {
        let changed = self
            .patched(fault)
            .map_err(|error| NotBuilt::Applies(format!("{error:#}")))?;
        let write = |path: &Path, text: &str| {
            let written = fs::write(self.folder.join(path), text);
            written.map_err(|error| NotBuilt::Applies(format!("{}: {error}", path.display())))
        };
        changed.iter().try_for_each(|(path, [_, new])| write(path, new))?;
        let built = self.build().map_err(|error| NotBuilt::Builds(format!("{error:#}")));
        changed.iter().try_for_each(|(path, [old, _])| write(path, old))?;
        built
    }

    /// The files that a patch changes, each with its text before and after.
    ///
    /// # Errors
    ///
    /// It does not apply.
    pub fn patched(&self, fault: &Fault) -> anyhow::Result<Vec<(PathBuf, [String; 2])>> {
        let diffs = split(&fault.patch);
        let changed = diffs.into_iter().map(|diff| {
            let name = diff.lines().next().and_then(|line| line.strip_prefix("--- "));
            let name = name
                .context("a diff without a file's name")?
                .trim_start_matches("a/")
                .trim();
            ensure!(is_of_a_crate(name), "{name}: it is in none of {}", CRATES.join(", "));
            let old = fs::read_to_string(self.root.join(name)).with_context(|| format!("{name}: cannot read it"))?;
            let patch = diffy::Patch::from_str(diff).context("no unified diff")?;
            let new =
                diffy::apply(&old, &patch).with_context(|| format!("{name} is another than the patch was made for"))?;
            Ok((PathBuf::from(name), [old, new]))
        });
        changed.collect()
    }
}

/// Whether a patch's file lies in one of the crates that are copied: a change of any other would not be of the copy.
fn is_of_a_crate(name: &str) -> bool {
    let path = Path::new(name);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    is_plain && CRATES.iter().any(|part| path.starts_with(part))
}

/// The diffs of a patch, one a file.
fn split(patch: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = patch.match_indices("--- ").map(|(at, _)| at).collect();
    starts.retain(|&at| at == 0 || patch[..at].ends_with('\n') && patch[at..].contains("\n+++ "));
    let ends = starts.iter().skip(1).copied().chain([patch.len()]);
    starts
        .iter()
        .zip(ends)
        .map(|(&start, end)| &patch[start..end])
        .collect()
}

/// The workspace's manifest with the copied crates as its only members.
fn of_the_copy(manifest: &str) -> String {
    let members = CRATES.map(|name| format!("{name:?}")).join(", ");
    let line = |line: &str| match line.split_once(" = ") {
        Some((key @ ("members" | "default-members"), _)) => format!("{key} = [{members}]\n"),
        _ => format!("{line}\n"),
    };
    manifest.lines().map(line).collect()
}

fn first_error(built: &Output) -> String {
    let said = String::from_utf8_lossy(&built.stderr);
    let error = said.lines().find(|line| line.contains("error"));
    error.or(said.lines().next()).unwrap_or("cargo says nothing").to_owned()
}
