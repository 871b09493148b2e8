//! A Vulkan loader and driver, from Debian's packages. Mesa's lavapipe is a full driver on a machine without a GPU.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Environment, Missing, apt};

const WHAT: &str = "a Vulkan driver";
/// With EGL, by which wgpu runs GL.
const PACKAGES: [&str; 3] = ["mesa-vulkan-drivers", "libvulkan1", "libegl1"];

/// Where the loader and the drivers are looked up.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Drivers that the user names (`VK_DRIVER_FILES`, `VK_ICD_FILENAMES`): the loader then looks nowhere else.
    pub named: Vec<PathBuf>,
    /// Folders of driver manifests.
    pub manifests: Vec<PathBuf>,
    /// Folders of libraries.
    pub libraries: Vec<PathBuf>,
}

impl Places {
    /// Those of this machine.
    pub fn here() -> Self {
        let list = |name: &str| -> Vec<PathBuf> {
            let value = env::var_os(name).unwrap_or_default();
            env::split_paths(&value)
                .filter(|path| !path.as_os_str().is_empty())
                .collect()
        };
        let named = list("VK_DRIVER_FILES");
        let named = if named.is_empty() {
            list("VK_ICD_FILENAMES")
        } else {
            named
        };
        Self {
            named,
            manifests: manifest_folders(list),
            libraries: library_folders(list("LD_LIBRARY_PATH")),
        }
    }
}

/// As the loader's manual lists them.
fn manifest_folders(list: impl Fn(&str) -> Vec<PathBuf>) -> Vec<PathBuf> {
    let home = env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let or = |name: &str, otherwise: &[PathBuf]| {
        let folders = list(name);
        if folders.is_empty() {
            otherwise.to_vec()
        } else {
            folders
        }
    };
    let bases = [
        or("XDG_CONFIG_HOME", &[home.join(".config")]),
        or("XDG_CONFIG_DIRS", &["/etc/xdg".into()]),
        vec!["/etc".into(), "/usr/local/etc".into()],
        or("XDG_DATA_HOME", &[home.join(".local/share")]),
        or("XDG_DATA_DIRS", &["/usr/local/share".into(), "/usr/share".into()]),
    ];
    let mut folders: Vec<PathBuf> = bases
        .into_iter()
        .flatten()
        .map(|base| base.join("vulkan/icd.d"))
        .collect();
    folders.extend(list("VK_ADD_DRIVER_FILES"));
    folders
}

/// As the dynamic linker is set up.
fn library_folders(mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
    folders.extend(["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from));
    let settings = fs::read_dir("/etc/ld.so.conf.d").into_iter().flatten().flatten();
    for text in settings.filter_map(|file| fs::read_to_string(file.path()).ok()) {
        folders.extend(
            text.lines()
                .map(str::trim)
                .filter(|line| line.starts_with('/'))
                .map(PathBuf::from),
        );
    }
    folders
}

/// The loader's library.
pub fn loader(environment: &Environment) -> Option<PathBuf> {
    let files = environment
        .vulkan
        .libraries
        .iter()
        .map(|folder| folder.join("libvulkan.so.1"));
    files.into_iter().find(|file| file.is_file())
}

/// The manifests of the drivers that the loader would try.
pub fn drivers(environment: &Environment) -> Vec<PathBuf> {
    let places = &environment.vulkan;
    let named = if places.named.is_empty() {
        &places.manifests
    } else {
        &places.named
    };
    let mut files: Vec<PathBuf> = named.iter().flat_map(|place| manifests(place)).collect();
    files.sort();
    files.dedup();
    files
}

/// A manifest, or those in a folder.
fn manifests(place: &Path) -> Vec<PathBuf> {
    if place.is_file() {
        return vec![place.to_owned()];
    }
    let files = fs::read_dir(place)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    files
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .collect()
}

/// Whether there is a loader and a driver.
pub fn look(environment: &Environment) -> Result<(), Missing> {
    if matches!(environment.os, "macos" | "windows") {
        return Ok(());
    }
    if loader(environment).is_none() {
        return Err(missing(environment, "the loader, libvulkan.so.1, is not installed"));
    }
    if !drivers(environment).is_empty() {
        return Ok(());
    }
    if !environment.vulkan.named.is_empty() {
        let mend = "unset it or let it name a driver's manifest";
        return Err(Missing::new(
            WHAT,
            "VK_DRIVER_FILES or VK_ICD_FILENAMES names no file that exists",
            mend,
        ));
    }
    Err(missing(environment, "no driver's manifest is in any vulkan/icd.d"))
}

/// The same after apt-get has installed both, where it may. Called only while one of them is missing.
pub fn bring(environment: &Environment, say: &mut dyn FnMut(&str)) -> Result<(), Missing> {
    if !environment.vulkan.named.is_empty() || !apt::may_install(environment) {
        return look(environment);
    }
    apt::install(environment, "Vulkan", &PACKAGES, say).map_err(|why| missing(environment, &why))?;
    look(environment)
}

fn missing(environment: &Environment, why: &str) -> Missing {
    let otherwise = "install a Vulkan loader and driver with the system's packages (Mesa's lavapipe needs no GPU)";
    Missing::new(WHAT, why, apt::mend(environment, &PACKAGES, otherwise))
}
