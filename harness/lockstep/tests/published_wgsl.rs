//! The WGSL that published crates ship, through `lockstep shaders`: a layout for each entry point, and no problem at the newest
//! and at an old version of MSL. One test a file.
//!
//! `published/Cargo.toml` names the crates and their versions; cargo fetches them, and nothing of theirs is built or kept here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package};
use libtest_mimic::{Arguments, Failed, Trial};
use lockstep::shaders::{FaultKind, Options, check_file};

/// The crates, by name and version: those of `published/Cargo.toml`, and of what they depend on those that have WGSL too.
const CRATES: [(&str, &str); 8] = [
    ("cryoglyph", "0.1.0"),
    ("egui-wgpu", "0.37.0"),
    ("iced_wgpu", "0.14.0"),
    ("vello_shaders", "0.11.0"),
    ("vello_sparse_shaders", "0.0.4"),
    ("wgpu", "30.0.2"),
    ("wgpu-core", "30.0.2"),
    ("wgpu-hal", "30.0.2"),
];

/// Why a file is not checked by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfit {
    /// vello's preprocessor makes WGSL of it; the test does so too, see [`preprocess`].
    Template,
    /// It names what another file declares; see [`JOINED`].
    Part,
}

use Unfit::{Part, Template};

/// The files that are not checked by themselves. One that is fine by itself may not stand here.
const UNFIT: [(&str, Unfit); 27] = [
    ("iced_wgpu/src/shader/image.wgsl", Part),
    ("iced_wgpu/src/shader/quad/gradient.wgsl", Part),
    ("iced_wgpu/src/shader/quad/solid.wgsl", Part),
    ("iced_wgpu/src/shader/triangle/gradient.wgsl", Part),
    ("iced_wgpu/src/shader/triangle/solid.wgsl", Part),
    ("vello_shaders/shader/backdrop.wgsl", Template),
    ("vello_shaders/shader/backdrop_dyn.wgsl", Template),
    ("vello_shaders/shader/bbox_clear.wgsl", Template),
    ("vello_shaders/shader/binning.wgsl", Template),
    ("vello_shaders/shader/clip_leaf.wgsl", Template),
    ("vello_shaders/shader/clip_reduce.wgsl", Template),
    ("vello_shaders/shader/coarse.wgsl", Template),
    ("vello_shaders/shader/draw_leaf.wgsl", Template),
    ("vello_shaders/shader/draw_reduce.wgsl", Template),
    ("vello_shaders/shader/fine.wgsl", Template),
    ("vello_shaders/shader/flatten.wgsl", Template),
    ("vello_shaders/shader/path_count.wgsl", Template),
    ("vello_shaders/shader/path_count_setup.wgsl", Template),
    ("vello_shaders/shader/path_tiling.wgsl", Template),
    ("vello_shaders/shader/path_tiling_setup.wgsl", Template),
    ("vello_shaders/shader/pathtag_reduce.wgsl", Template),
    ("vello_shaders/shader/pathtag_reduce2.wgsl", Template),
    ("vello_shaders/shader/pathtag_scan.wgsl", Template),
    ("vello_shaders/shader/pathtag_scan1.wgsl", Template),
    ("vello_shaders/shader/tile_alloc.wgsl", Template),
    ("vello_shaders/shader/shared/util.wgsl", Part),
    (
        "wgpu-core/src/timestamp_normalization/timestamp_normalization.wgsl",
        Part,
    ),
];

/// The shaders that a crate joins from several files, by the folder and the files, as its code has them.
const JOINED: [(&str, &str, &[&str]); 6] = [
    ("iced_wgpu", "src/shader", &["vertex", "image"]),
    ("iced_wgpu", "src/shader", &["color", "quad", "vertex", "quad/solid"]),
    (
        "iced_wgpu",
        "src/shader",
        &["quad", "vertex", "quad/gradient", "color", "color/linear_rgb"],
    ),
    ("iced_wgpu", "src/shader", &["triangle", "triangle/solid", "color"]),
    (
        "iced_wgpu",
        "src/shader",
        &["triangle", "triangle/gradient", "color", "color/linear_rgb"],
    ),
    (
        "wgpu-core",
        "src/timestamp_normalization",
        &["common", "timestamp_normalization"],
    ),
];

/// The names that vello's preprocessor is given, each set for one variant of the shaders (`shader/permutations` of the crate).
const DEFINED: [&[&str]; 4] = [&[], &["small"], &["msaa", "msaa8"], &["msaa", "msaa16"]];

fn main() {
    let arguments = Arguments::from_args();
    let tests = match metadata() {
        Ok(metadata) => tests(&metadata),
        Err(message) => vec![Trial::test("fetch", || Err(message.into()))],
    };
    libtest_mimic::run(&arguments, tests).exit();
}

/// Has cargo fetch the crates.
fn metadata() -> Result<Metadata, String> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/published/Cargo.toml");
    let metadata = MetadataCommand::new()
        .manifest_path(manifest)
        .other_options(["--locked".to_owned()])
        .exec();
    metadata.map_err(|error| {
        // cargo's own error is a line among others, the first after what cargo_metadata says of it.
        let text = error.to_string();
        let said = text
            .lines()
            .find_map(|line| line.rsplit_once("error: "))
            .map_or(text.as_str(), |(_, said)| said);
        format!("the published crates cannot be fetched: {said}")
    })
}

fn tests(metadata: &Metadata) -> Vec<Trial> {
    let mut names = BTreeSet::new();
    let mut tests = Vec::new();
    for (name, version) in CRATES {
        let package = metadata.packages.iter().find(|package| is(package, name, version));
        let files = package.map(files).unwrap_or_default();
        if files.is_empty() {
            let message = format!("no WGSL found for {name} {version}");
            tests.push(Trial::test(name, || Err(message.into())));
        }
        for (_, folder, parts) in JOINED.iter().filter(|(joined, ..)| *joined == name) {
            let folder = package.map(|package| package.manifest_path.with_file_name(folder));
            let folder = PathBuf::from(folder.unwrap_or_default());
            tests.push(Trial::test(format!("{name}: {}", parts.join(" + ")), move || {
                check_joined(&folder, parts)
            }));
        }
        for (file, path) in files {
            let file = format!("{name}/{file}");
            names.insert(file.clone());
            let unfit = UNFIT.iter().find(|(unfit, _)| *unfit == file).map(|(_, why)| *why);
            tests.push(Trial::test(file, move || check(&path, unfit)));
        }
    }
    tests.push(Trial::test("the list of unfit files", move || listed(&names)));
    tests
}

fn is(package: &Package, name: &str, version: &str) -> bool {
    package.name.as_str() == name && package.version.to_string() == version
}

/// The WGSL files of a package: their paths in it, with slashes, and on disk.
fn files(package: &Package) -> Vec<(String, PathBuf)> {
    let Some(folder) = package.manifest_path.parent() else {
        return Vec::new();
    };
    let found = walkdir::WalkDir::new(folder)
        .sort_by_file_name()
        .into_iter()
        .flatten()
        .map(|entry| entry.into_path());
    let wgsl = found.filter(|path| path.extension().is_some_and(|extension| extension == "wgsl"));
    let name = |path: &Path| {
        let inside = path.strip_prefix(folder).unwrap_or(path);
        inside
            .iter()
            .map(|part| part.to_string_lossy())
            .collect::<Vec<_>>()
            .join("/")
    };
    wgsl.map(|path| (name(&path), path)).collect()
}

fn check(path: &Path, unfit: Option<Unfit>) -> Result<(), Failed> {
    let source = read(path)?;
    let fault = check_file(path, &source, &Options::default()).fault;
    match (fault.map(|fault| fault.kind), unfit) {
        (None, None) => no_problem(path, &source),
        (None, Some(why)) => Err(format!("listed as {why:?}, but it is WGSL by itself").into()),
        (Some(FaultKind::Template), Some(Template)) => {
            let folder = path.with_file_name("shared");
            let sources = DEFINED.iter().map(|defined| preprocess(&source, &folder, defined));
            sources.into_iter().try_for_each(|source| no_problem(path, &source?))
        }
        (Some(FaultKind::Syntax | FaultKind::Invalid), Some(Part)) => Ok(()),
        (Some(fault), listed) => Err(format!("listed as {listed:?}, found {fault:?}").into()),
    }
}

fn read(path: &Path) -> Result<String, Failed> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn check_joined(folder: &Path, parts: &[&str]) -> Result<(), Failed> {
    let texts = parts.iter().map(|part| read(&folder.join(part).with_extension("wgsl")));
    let source = texts.collect::<Result<Vec<_>, _>>()?.join("\n");
    no_problem(&folder.join(parts.join("+")), &source)
}

/// What vello's preprocessor makes of a template (`src/compile/preprocess.rs` of the crate) with some names defined: `#import NAME`
/// is the file of that name in `shared`, and `#ifdef` and its kin keep or drop lines.
fn preprocess(source: &str, shared: &Path, defined: &[&str]) -> Result<String, Failed> {
    let mut keeps: Vec<bool> = Vec::new();
    let mut text = String::new();
    for line in source.lines() {
        let mut words = line.split_whitespace();
        match (words.next().unwrap_or_default(), words.next().unwrap_or_default()) {
            ("#ifdef", name) => keeps.push(defined.contains(&name)),
            ("#ifndef", name) => keeps.push(!defined.contains(&name)),
            ("#else", _) => keeps.last_mut().into_iter().for_each(|keep| *keep = !*keep),
            ("#endif", _) => drop(keeps.pop()),
            _ if keeps.contains(&false) => {}
            ("#import", name) => {
                text += &preprocess(&read(&shared.join(name).with_extension("wgsl"))?, shared, defined)?;
            }
            _ => text = text + line + "\n",
        }
    }
    Ok(text)
}

/// The newest MSL, and that of the first macOS with Metal.
const VERSIONS: [(u8, u8); 2] = [(4, 0), (1, 1)];

/// That every entry point is translated without a problem, or refused by the writer for what an old version lacks.
fn no_problem(path: &Path, source: &str) -> Result<(), Failed> {
    for language_version in VERSIONS {
        let options = Options {
            language_version,
            ..Options::default()
        };
        let report = check_file(path, source, &options);
        if let Some(fault) = &report.fault {
            return Err(format!("{fault:?}").into());
        }
        for entry in &report.entry_points {
            let too_old =
                |why: &str| language_version != VERSIONS[0] && why.starts_with("refused by naga's MSL writer");
            let is_laid_out = entry.bindings.iter().all(|binding| !binding.slots.is_empty());
            let is_written = entry.refused.as_deref().is_none_or(too_old);
            if !is_laid_out || !is_written || !entry.past_limits.is_empty() || !entry.differences.is_empty() {
                return Err(format!("at MSL {language_version:?}: {entry:?}").into());
            }
        }
    }
    Ok(())
}

/// That there is enough to call this a test, and that every listed file is there.
fn listed(names: &BTreeSet<String>) -> Result<(), Failed> {
    let unknown: Vec<_> = UNFIT
        .iter()
        .map(|(file, _)| *file)
        .filter(|file| !names.contains(*file))
        .collect();
    if !unknown.is_empty() {
        return Err(format!("listed, but no such file: {unknown:?}").into());
    }
    let plain = names.len() - UNFIT.len();
    if plain < 15 {
        return Err(format!("{plain} files of plain WGSL are too few").into());
    }
    Ok(())
}
