//! Files: named by a text, found by their ending, written as a whole.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

/// A text as a part of a file name: lower case, and a hyphen for all that is neither letter nor digit.
pub fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        match c.is_ascii_alphanumeric() {
            true => slug.push(c.to_ascii_lowercase()),
            false if !slug.ends_with('-') => slug.push('-'),
            false => {}
        }
    }
    slug.truncate(100);
    slug.trim_matches('-').to_owned()
}

/// A file as it is, whatever its name; of a folder the files below it whose names end in `.ending`, by name.
///
/// # Errors
///
/// The path is not there, or a folder cannot be read; it is named.
pub fn find(path: &Path, ending: &str) -> anyhow::Result<Vec<PathBuf>> {
    anyhow::ensure!(path.exists(), "{}: no such file or folder", path.display());
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(path).sort_by_file_name() {
        let entry = match entry {
            Ok(entry) => entry,
            // Whoever reads it says why it cannot be read, and goes on with the others.
            Err(error) => {
                files.extend(error.path().map(Path::to_owned));
                continue;
            }
        };
        // What is named itself may be a pipe; one that is come upon would be waited for.
        let is_asked = match entry.depth() {
            0 => !entry.path().is_dir(),
            _ => entry.path().is_file() && entry.path().extension().is_some_and(|end| end == ending),
        };
        if is_asked {
            files.push(entry.into_path());
        }
    }
    Ok(files)
}

/// Writes beside the path, then renames, so that a reader sees the old file or the new one; makes the folder where there is none. What is
/// no file, as `/dev/stdout`, is written to.
///
/// # Errors
///
/// It cannot be written. One line that names the path.
pub fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return fs::write(path, text).map_err(|error| anyhow!("cannot write {}: {error}", path.display()));
    }
    let beside = beside(path);
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    made.and_then(|()| fs::write(&beside, text))
        .and_then(|()| fs::rename(&beside, path))
        .map_err(|error| {
            let _ = fs::remove_file(&beside);
            anyhow!("cannot write {}: {error}", path.display())
        })
}

/// The path with the process's number behind it, so that two programs that write one file do not share it.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    PathBuf::from(name)
}
