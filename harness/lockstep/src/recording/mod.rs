//! Recordings of WebGPU programs: the folders of `reference/RECORDING.md` and archives of them, read strictly, and [`replay`], which plays one back.

mod manifest;
mod read;
pub mod replay;
mod script;

use std::path::{Path, PathBuf};

pub use manifest::{
    Adapter, Aspect, BufferSide, Copy, Counts, Device, Extent, Id, Manifest, Origin, Program, TextureSide,
};

use crate::case::{Object, StreamCase};

/// The version of RECORDING.md that this program reads.
pub const RECORDING_VERSION: u32 = 1;
/// The manifest's file.
pub const MANIFEST: &str = "recording.json";

/// A recording, whole.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Its folder or archive, as it was named.
    pub folder: PathBuf,
    /// What its manifest says.
    pub manifest: Manifest,
    /// The object table, ids used once and none of them 0.
    pub objects: Vec<Object>,
    /// The streams, in order.
    pub streams: Vec<Stream>,
}

/// A stream of a recording.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The blob's file.
    pub file: String,
    /// The blob, also a broken one: that is for readers to say.
    pub blob: Vec<u8>,
    /// Bytes of its read window.
    pub window: u32,
    /// What the program itself saw in the window; so many bytes.
    pub reads: Vec<u8>,
    /// What is copied after its work.
    pub copies: Vec<Copy>,
}

impl Recording {
    /// Reads a recording, a folder or a tar archive of one, and no file that is not in it. Takes memory in proportion to the files.
    ///
    /// # Errors
    ///
    /// What is not as RECORDING.md says, in one line: file, member, what is wrong, how to mend it. Whether the blobs are streams is not
    /// asked here.
    pub fn open(folder: &Path) -> anyhow::Result<Recording> {
        read::recording(folder)
    }

    /// The stream of that index as a stream case, with the whole table and every id granted as itself.
    ///
    /// # Panics
    ///
    /// There is no such stream.
    pub fn case(&self, index: usize) -> StreamCase {
        let stream = &self.streams[index];
        let mut id_map: Vec<(u32, u32)> = self.objects.iter().map(|object| (object.id, object.id)).collect();
        id_map.sort_unstable();
        StreamCase {
            objects: self.objects.clone(),
            id_map,
            descriptors: Vec::new(),
            blob: stream.blob.clone(),
            max_workgroups: 0,
            window: stream.window,
        }
    }

    /// The program and its arguments, in one line.
    pub fn program(&self) -> String {
        let Program { name, args } = &self.manifest.program;
        let words = std::iter::once(name).chain(args);
        words.cloned().collect::<Vec<_>>().join(" ")
    }
}

/// Whether a folder holds a recording's manifest.
pub fn is_recording(folder: &Path) -> bool {
    folder.join(MANIFEST).is_file()
}

/// The stream case of a blob that lies in a recording's folder; `None` of a file that does not.
///
/// # Errors
///
/// Those of [`Recording::open`], and the manifest does not list the blob.
pub fn case_of(blob: &Path) -> Option<anyhow::Result<StreamCase>> {
    let folder = match blob.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => return None,
    };
    if blob.extension().is_none_or(|end| end != "wire") || !is_recording(folder) {
        return None;
    }
    Some(Recording::open(folder).and_then(|recording| {
        let name = blob.file_name().unwrap_or_default().to_string_lossy();
        let index = recording.streams.iter().position(|stream| *stream.file == *name);
        let index = index.ok_or_else(|| {
            let manifest = folder.join(MANIFEST);
            anyhow::anyhow!("{}: streams: no `{name}` among them", manifest.display())
        })?;
        Ok(recording.case(index))
    }))
}
