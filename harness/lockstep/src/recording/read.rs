//! Reads a recording's folder. A recording may come from anybody, so nothing outside the folder is read, no file twice, and each only
//! as far as it may be long.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use wire::{Blob, Kind, MAX_READ_WINDOW, STREAM_VERSION};

use super::manifest::{Manifest, StreamRow};
use super::{MANIFEST, RECORDING_VERSION, Recording, Stream};
use crate::case::{Case, Object, StreamCase};

/// The longest manifest and the longest table.
const MAX_JSON: u64 = 128 << 20;
/// The longest blob.
const MAX_BLOB: u64 = 1 << 30;
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
    /// As it was named.
    shown: PathBuf,
    /// Without links.
    folder: PathBuf,
    /// Those that were read.
    read: BTreeSet<String>,
}

impl Files {
    fn of(folder: &Path) -> anyhow::Result<Files> {
        let shown = folder.display();
        let real = folder.canonicalize().with_context(|| {
            format!("{shown}: cannot read the recording; give the folder that `cargo lockstep record` wrote")
        })?;
        ensure!(
            real.is_dir(),
            "{shown}: no folder; a recording is a folder with a {MANIFEST}"
        );
        Ok(Files {
            shown: folder.to_owned(),
            folder: real,
            read: BTreeSet::new(),
        })
    }

    /// A file's path as the user knows it.
    fn name(&self, file: &str) -> String {
        self.shown.join(file).display().to_string()
    }

    /// What is wrong with a member of a file.
    fn wrong(&self, file: &str, member: &str, what: impl std::fmt::Display) -> anyhow::Error {
        anyhow::anyhow!("{}: {member}: {what}; {MEND}", self.name(file))
    }

    /// The bytes of the file that a member of the manifest names, at most `limit` of them.
    fn named(&mut self, member: &str, file: &str, limit: u64) -> anyhow::Result<Vec<u8>> {
        let mut parts = Path::new(file).components();
        let plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None) if name == file);
        if !plain {
            return Err(self.wrong(MANIFEST, member, format!("`{file}` names no file of the folder itself")));
        }
        if !self.read.insert(file.to_owned()) {
            return Err(self.wrong(MANIFEST, member, format!("`{file}` is named twice")));
        }
        self.bytes(file, limit)
            .with_context(|| format!("{}: {member} of {MANIFEST} names it; {MEND}", self.name(file)))
    }

    fn bytes(&self, file: &str, limit: u64) -> anyhow::Result<Vec<u8>> {
        let path = self.folder.join(file).canonicalize().context("cannot read it")?;
        ensure!(path.starts_with(&self.folder), "it is a link out of the folder");
        // A pipe would be waited for.
        ensure!(path.is_file(), "it is no file");
        let mut bytes = Vec::new();
        let opened = File::open(&path).context("cannot read it")?;
        opened.take(limit + 1).read_to_end(&mut bytes).context("cannot read it")?;
        ensure!(
            bytes.len() as u64 <= limit,
            "it holds more than {limit} bytes, the most that fits"
        );
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
    let mut ids = BTreeSet::new();
    for (index, Object { id, .. }) in objects.iter().enumerate() {
        let member = format!("[{index}].id");
        if *id == 0 {
            return Err(files.wrong(file, &member, "0 is no object's id"));
        }
        if !ids.insert(*id) {
            return Err(files.wrong(file, &member, format!("{id} is another object's too")));
        }
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
    let blob = files.named(&member("blob"), &row.blob, MAX_BLOB)?;
    if row.window > MAX_READ_WINDOW {
        let what = format!("{} bytes; a window has at most {MAX_READ_WINDOW}", row.window);
        return Err(files.wrong(MANIFEST, &member("window"), what));
    }
    let reads = match &row.reads {
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
    let Recording { manifest, objects, streams, .. } = recording;
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
