//! Reads a recording's folder, or a tar archive of one. A recording may come from anybody, so nothing outside the folder is read, no file
//! twice, and each only as far as it may be long; an archive is read in memory and never unpacked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use wire::{Blob, Kind, MAX_READ_WINDOW, STREAM_VERSION};

use super::manifest::{Manifest, StreamRow};
use super::{MANIFEST, RECORDING_VERSION, Recording, Stream};
use crate::case::{Case, Object, StreamCase};

/// The longest manifest and the longest table.
const MAX_JSON: u64 = 128 << 20;
/// The longest archive, and the most that the files of a folder hold together. It is held in memory.
const MAX_RECORDING: u64 = 1 << 30;
/// What mends nearly everything.
const MEND: &str = "record the program again (reference/RECORDING.md says what the folder holds)";

/// Reads it. See [`Recording::open`].
pub(super) fn recording(folder: &Path) -> anyhow::Result<Recording> {
    let mut files = Files::of(folder)?;
    let manifest = manifest(&mut files)?;
    let objects = objects(&mut files, &manifest)?;
    let kinds: BTreeMap<u32, Kind> = objects.iter().map(|object| (object.id, object.kind)).collect();
    let rows = manifest.streams.iter().enumerate();
    let streams = rows.map(|(index, row)| stream(&mut files, index, row, &kinds));
    let recording = Recording {
        folder: folder.to_owned(),
        streams: streams.collect::<anyhow::Result<_>>()?,
        manifest,
        objects,
    };
    counts(&files, &recording)?;
    Ok(recording)
}

/// The folder's files.
struct Files {
    /// The folder, or the archive.
    folder: PathBuf,
    /// An archive's files.
    archived: Option<BTreeMap<String, Vec<u8>>>,
    /// Those that were read.
    read: BTreeSet<String>,
    /// So many bytes more may be read from the folder.
    left: u64,
}

impl Files {
    fn of(folder: &Path) -> anyhow::Result<Files> {
        let shown = folder.display();
        let kind = folder.metadata().with_context(|| format!("{shown}: cannot read it"))?;
        ensure!(
            kind.is_dir() || kind.is_file(),
            "{shown}: give the folder of a recording, or a tar archive of one"
        );
        let archived = kind.is_file().then(|| archived(folder)).transpose();
        Ok(Files {
            folder: folder.to_owned(),
            archived: archived.with_context(|| format!("{shown}: no archive of a recording; {MEND}"))?,
            read: BTreeSet::new(),
            left: MAX_RECORDING,
        })
    }

    /// A file's path as the user knows it.
    fn name(&self, file: &str) -> String {
        self.folder.join(file).display().to_string()
    }

    /// What is wrong with a member of a file.
    fn wrong(&self, file: &str, member: &str, what: impl std::fmt::Display) -> anyhow::Error {
        anyhow::anyhow!("{}: {member}: {what}; {MEND}", self.name(file))
    }

    /// The bytes of the file that a member of the manifest names, at most `limit` of them.
    fn named(&mut self, member: &str, file: &str, limit: u64) -> anyhow::Result<Vec<u8>> {
        if !is_file_name(file) {
            return Err(self.wrong(MANIFEST, member, format!("`{file}` names no file of the folder itself")));
        }
        if !self.read.insert(file.to_owned()) {
            return Err(self.wrong(MANIFEST, member, format!("`{file}` is named twice")));
        }
        self.bytes(file, limit)
            .with_context(|| format!("{}: {member} of {MANIFEST} names it; {MEND}", self.name(file)))
    }

    fn bytes(&mut self, file: &str, limit: u64) -> anyhow::Result<Vec<u8>> {
        if let Some(files) = &self.archived {
            let bytes = files.get(file).context("the archive has no such file")?;
            fits(bytes.len() as u64, limit)?;
            return Ok(bytes.clone());
        }
        let path = self.folder.join(file);
        // A link may lead out of the folder, and a pipe would be waited for.
        let metadata = path.symlink_metadata().context("cannot read it")?;
        ensure!(metadata.is_file(), "it is no plain file");
        let length = metadata.len();
        fits(length, limit)?;
        ensure!(
            length <= self.left,
            "with it the recording's files hold more than {MAX_RECORDING} bytes, the most that fits"
        );
        self.left -= length;
        let mut bytes = Vec::new();
        let opened = File::open(&path).context("cannot read it")?;
        // It may have grown since.
        opened.take(length).read_to_end(&mut bytes).context("cannot read it")?;
        Ok(bytes)
    }

    /// A file of JSON. The error names file and member.
    fn json<T: DeserializeOwned>(&self, file: &str, bytes: &[u8]) -> anyhow::Result<T> {
        let mut text = serde_json::Deserializer::from_slice(bytes);
        let read = serde_path_to_error::deserialize(&mut text);
        let value = read.map_err(|error| match error.path().to_string() {
            path if path == "." => anyhow::anyhow!("{}: {}; {MEND}", self.name(file), error.inner()),
            path => self.wrong(file, &path, error.inner()),
        })?;
        let ended = text.end();
        ended.map_err(|error| anyhow::anyhow!("{}: {error}; {MEND}", self.name(file)))?;
        Ok(value)
    }
}

fn fits(length: u64, limit: u64) -> anyhow::Result<()> {
    ensure!(length <= limit, "it holds more than {limit} bytes, the most that fits");
    Ok(())
}

/// The plain files of a tar archive, which stand in one folder or in none.
fn archived(path: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    fits(path.metadata()?.len(), MAX_RECORDING)?;
    let mut archive = tar::Archive::new(File::open(path)?);
    let (mut files, mut folder) = (BTreeMap::new(), None);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = String::from_utf8(entry.path_bytes().into_owned()).context("a name in it is no UTF-8")?;
        let kind = entry.header().entry_type();
        if kind.is_dir() {
            continue;
        }
        ensure!(kind.is_file(), "`{name}` in it is no plain file");
        let name = name.strip_prefix("./").unwrap_or(&name);
        let (in_folder, file) = name
            .rsplit_once('/')
            .map_or(("", name), |(folder, file)| (folder, file));
        let absolute_or_up = name.starts_with('/') || name.split('/').any(|part| part == "..");
        ensure!(!absolute_or_up, "`{name}` in it leads out of it");
        ensure!(
            folder.get_or_insert(in_folder.to_owned()) == in_folder,
            "`{name}` in it stands in another folder than the files before it"
        );
        let mut bytes = Vec::new();
        // The header may say anything of the size.
        entry.read_to_end(&mut bytes)?;
        ensure!(bytes.len() as u64 == entry.size(), "it ends in the midst of `{name}`");
        ensure!(
            files.insert(file.to_owned(), bytes).is_none(),
            "`{file}` is in it twice"
        );
    }
    Ok(files)
}

/// A name in the folder itself: what leads elsewhere has other characters, or begins with a dot.
fn is_file_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.len() <= 100 && name.starts_with(plain) && name.chars().all(|c| plain(c) || c == '-' || c == '.')
}

fn manifest(files: &mut Files) -> anyhow::Result<Manifest> {
    /// Another version has other members.
    #[derive(Deserialize)]
    struct Versions {
        recording: u32,
        wire: u32,
    }
    files.read.insert(MANIFEST.to_owned());
    let bytes = files
        .bytes(MANIFEST, MAX_JSON)
        .with_context(|| format!("{}: no recording here; {MEND}", files.name(MANIFEST)))?;
    let Versions { recording, wire } = files.json(MANIFEST, &bytes)?;
    for (member, is, due) in [
        ("recording", recording, RECORDING_VERSION),
        ("wire", wire, STREAM_VERSION),
    ] {
        if is != due {
            return Err(files.wrong(MANIFEST, member, format!("version {is}, and this program reads {due}")));
        }
    }
    let manifest: Manifest = files.json(MANIFEST, &bytes)?;
    if manifest.device.is_none() && !manifest.streams.is_empty() {
        return Err(files.wrong(MANIFEST, "device", "null, and there are streams"));
    }
    Ok(manifest)
}

fn objects(files: &mut Files, manifest: &Manifest) -> anyhow::Result<Vec<Object>> {
    let file = &manifest.objects;
    let bytes = files.named("objects", file, MAX_JSON)?;
    let objects: Vec<Object> = files.json(file, &bytes)?;
    let mut ids = BTreeSet::from([0]);
    for (index, Object { id, refs, body, .. }) in objects.iter().enumerate() {
        let member = |name: &str| format!("[{index}].{name}");
        if let Some(unknown) = refs.iter().find(|id| !ids.contains(id)) {
            return Err(files.wrong(file, &member("refs"), format!("no earlier row has the id {unknown}")));
        }
        if *id == 0 {
            return Err(files.wrong(file, &member("id"), "0 is no object's id"));
        }
        if !ids.insert(*id) {
            return Err(files.wrong(file, &member("id"), format!("an earlier row has the id {id} too")));
        }
        let object = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(body);
        object.map_err(|error| files.wrong(file, &member("body"), format!("no JSON object: {error}")))?;
    }
    // What every case keeps to.
    let case = Case::Stream(StreamCase {
        objects,
        ..StreamCase::default()
    });
    case.check().map_err(|why| files.wrong(file, "body", why))?;
    match case {
        Case::Stream(StreamCase { objects, .. }) => Ok(objects),
        Case::Layout(_) | Case::Bind(_) => bail!("a stream case is one"),
    }
}

fn stream(files: &mut Files, index: usize, row: &StreamRow, kinds: &BTreeMap<u32, Kind>) -> anyhow::Result<Stream> {
    let member = |name: &str| format!("streams[{index}].{name}");
    let blob = files.named(&member("blob"), &row.blob, MAX_RECORDING)?;
    if row.window > MAX_READ_WINDOW {
        let what = format!("{} bytes; a window has at most {MAX_READ_WINDOW}", row.window);
        return Err(files.wrong(MANIFEST, &member("window"), what));
    }
    let reads = match &row.reads {
        Some(_) if row.window == 0 => {
            return Err(files.wrong(MANIFEST, &member("reads"), "a file, and the window has no byte"));
        }
        Some(file) => files.named(&member("reads"), file, u64::from(MAX_READ_WINDOW))?,
        None => Vec::new(),
    };
    if reads.len() != row.window as usize {
        let what = format!("{} bytes, and the window has {}", reads.len(), row.window);
        return Err(files.wrong(MANIFEST, &member("reads"), what));
    }
    for (at, copy) in row.copies.iter().enumerate() {
        for (id, kind) in copy.objects() {
            if kinds.get(&id) != Some(&kind) {
                let what = format!("no {} {id} in the table", kind.name());
                return Err(files.wrong(MANIFEST, &member(&format!("copies[{at}]")), what));
            }
        }
    }
    Ok(Stream {
        file: row.blob.clone(),
        blob,
        window: row.window,
        reads,
        copies: row.copies.clone(),
    })
}

/// Holds the sums to what was read. Blobs that are refused have no words to count, and commands are Decode's to tell.
fn counts(files: &Files, recording: &Recording) -> anyhow::Result<()> {
    let Recording {
        manifest,
        objects,
        streams,
        ..
    } = recording;
    let blobs = streams.iter().map(|stream| Blob::parse(&stream.blob).ok());
    let sums = blobs.collect::<Option<Vec<_>>>().map(|blobs| {
        let words = blobs.iter().map(|blob| blob.words.len() as u64).sum();
        let data = blobs.iter().map(|blob| blob.data.len() as u64).sum();
        (words, data)
    });
    let counts = &manifest.counts;
    let (words, data) = sums.unwrap_or((counts.words, counts.data));
    let read = streams.iter().map(|stream| stream.reads.len() as u64).sum();
    for (member, said, is) in [
        ("counts.objects", counts.objects, objects.len() as u64),
        ("counts.words", counts.words, words),
        ("counts.data", counts.data, data),
        ("counts.read", counts.read, read),
    ] {
        if said != is {
            return Err(files.wrong(MANIFEST, member, format!("{said}, and the files hold {is}")));
        }
    }
    Ok(())
}
