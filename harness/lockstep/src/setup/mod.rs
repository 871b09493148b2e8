//! Brings what a run needs and the clone does not hold: the pinned deno and Dawn from npm into `.lockstep/` at the
//! repository's root, and a Vulkan driver from the system's packages. Nothing here fails as a whole: what cannot be
//! brought is a [`Missing`] that says in one line what, why and what to do, and the caller goes on without it.
//!
//! Everything that is read of the machine stands in [`Environment`], so that the tests can make machines of their own.

mod apt;
pub mod deno;
pub mod process;
pub mod tools;
pub mod vulkan;

use std::env;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

/// What only brings the parts and does nothing else.
pub const BRING: &str = "`cargo lockstep test --only setup`";

/// The parts, each there or missing.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The repository's root.
    pub root: PathBuf,
    /// The deno program, of the pinned version.
    pub deno: Result<PathBuf, Missing>,
    /// Dawn: the module that a program under node or deno imports.
    pub dawn: Result<PathBuf, Missing>,
    /// A Vulkan loader and at least one driver. Always there on macOS and Windows, which use Metal and DX12.
    pub vulkan: Result<(), Missing>,
}

impl Parts {
    /// What is missing, in the order of the fields.
    pub fn missing(&self) -> Vec<&Missing> {
        let parts = [
            self.deno.as_ref().err(),
            self.dawn.as_ref().err(),
            self.vulkan.as_ref().err(),
        ];
        parts.into_iter().flatten().collect()
    }
}

/// A part that is not there. Displayed, it is one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} is missing: {why}; {mend}")]
pub struct Missing {
    /// The part, with its version.
    pub what: String,
    /// Why it is not there.
    pub why: String,
    /// What to do about it.
    pub mend: String,
}

impl Missing {
    /// Each argument in one line.
    pub fn new(what: impl fmt::Display, why: impl fmt::Display, mend: impl fmt::Display) -> Self {
        let line = |text: &dyn fmt::Display| text.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        Self {
            what: line(&what),
            why: line(&why),
            mend: line(&mend),
        }
    }
}

/// How long set-up waits for others.
#[derive(Debug, Clone)]
pub struct Limits {
    /// For a program to say its version.
    pub answer: Duration,
    /// For npm to install everything.
    pub npm: Duration,
    /// For each call of apt-get.
    pub apt: Duration,
    /// For another lockstep that is installing.
    pub lock: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(10),
            npm: Duration::from_secs(300),
            apt: Duration::from_secs(300),
            lock: Duration::from_secs(600),
        }
    }
}

/// What set-up knows of the machine.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The repository's root.
    pub root: PathBuf,
    /// The operating system, as [`std::env::consts::OS`] names it.
    pub os: &'static str,
    /// The processor, as [`std::env::consts::ARCH`] names it.
    pub arch: &'static str,
    /// Bring nothing.
    pub offline: bool,
    /// Whether system packages may be installed.
    pub privileged: bool,
    /// Folders in which programs are looked up.
    pub path: Vec<PathBuf>,
    /// Where Vulkan's loader and drivers are looked up.
    pub vulkan: vulkan::Places,
    /// How long to wait.
    pub limits: Limits,
}

impl Environment {
    /// This machine. `LOCKSTEP_OFFLINE=1` makes it one that brings nothing.
    pub fn here() -> anyhow::Result<Self> {
        Ok(Self {
            root: repository_root()?,
            os: env::consts::OS,
            arch: env::consts::ARCH,
            offline: env::var_os("LOCKSTEP_OFFLINE").is_some_and(|value| !value.is_empty() && value != "0"),
            privileged: is_root(),
            path: env::var_os("PATH")
                .map(|path| env::split_paths(&path).collect())
                .unwrap_or_default(),
            vulkan: vulkan::Places::here(),
            limits: Limits::default(),
        })
    }

    /// The project's own folder, which git ignores.
    pub fn folder(&self) -> PathBuf {
        self.root.join(".lockstep")
    }

    /// The program of that name on the search path.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let endings: &[&str] = if self.os == "windows" { &[".exe", ".cmd"] } else { &[""] };
        let names = self
            .path
            .iter()
            .flat_map(|folder| endings.iter().map(move |end| folder.join(format!("{name}{end}"))));
        names.into_iter().find(|file| file.is_file())
    }

    /// The parts as they are now.
    pub fn look(&self) -> Parts {
        let (deno, dawn) = deno::look(self);
        Parts {
            root: self.root.clone(),
            deno,
            dawn,
            vulkan: vulkan::look(self),
        }
    }

    /// The parts, after bringing what is missing. Says each step, and at the end each part that is still missing, in one
    /// line.
    pub fn bring(&self, say: &mut dyn FnMut(&str)) -> Parts {
        let mut parts = self.look();
        if !parts.missing().is_empty() && !self.offline {
            parts = self.bring_missing(parts, say);
        }
        for missing in parts.missing() {
            say(&missing.to_string());
        }
        parts
    }

    fn bring_missing(&self, parts: Parts, say: &mut dyn FnMut(&str)) -> Parts {
        let _lock = match self.lock(say) {
            Ok(lock) => lock,
            Err(error) => {
                say(&format!("set-up brings nothing: {error:#}"));
                return parts;
            }
        };
        // Another lockstep may have brought them while this one waited.
        let mut parts = self.look();
        if parts.deno.is_err() || parts.dawn.is_err() {
            (parts.deno, parts.dawn) = deno::bring(self, say);
        }
        if parts.vulkan.is_err() {
            parts.vulkan = vulkan::bring(self, say);
        }
        parts
    }

    /// One lockstep at a time installs; the system lets go of the lock when its holder ends, however it ends.
    fn lock(&self, say: &mut dyn FnMut(&str)) -> anyhow::Result<File> {
        let path = self.folder().join("lock");
        fs::create_dir_all(self.folder()).with_context(|| format!("cannot make {}", self.folder().display()))?;
        let file = File::options().create(true).append(true).open(&path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        let start = Instant::now();
        let mut said = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                // A file system without locks: the install is renamed into place as a whole all the same.
                Err(TryLockError::Error(_)) => return Ok(file),
                Err(TryLockError::WouldBlock) => {}
            }
            if start.elapsed() > self.limits.lock {
                anyhow::bail!(
                    "another lockstep has held {} for {} s",
                    path.display(),
                    self.limits.lock.as_secs()
                );
            }
            if !said {
                say("another lockstep is setting up; waiting for it");
                said = true;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Brings what is missing on this machine. Says each step, and at the end each part that is still missing, in one line.
pub fn bring(say: &mut dyn FnMut(&str)) -> Parts {
    match Environment::here() {
        Ok(environment) => environment.bring(say),
        Err(error) => {
            say(&format!("{error:#}"));
            nowhere(&error)
        }
    }
}

/// The parts as they are on this machine; brings nothing.
pub fn look() -> Parts {
    match Environment::here() {
        Ok(environment) => environment.look(),
        Err(error) => nowhere(&error),
    }
}

fn nowhere(error: &anyhow::Error) -> Parts {
    let missing = |what: &str| Missing::new(what, format!("{error:#}"), "run lockstep inside its repository");
    Parts {
        root: PathBuf::from("."),
        deno: Err(missing("deno")),
        dawn: Err(missing("Dawn")),
        vulkan: Err(missing("a Vulkan driver")),
    }
}

/// The root of the repository that holds this program's references: of the package that cargo runs, else of the current
/// folder, else of the source that this program was built from.
pub fn repository_root() -> anyhow::Result<PathBuf> {
    let starts = [
        env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from),
        env::current_dir().ok(),
        Some(PathBuf::from(env!("CARGO_MANIFEST_DIR"))),
    ];
    let root = starts.iter().flatten().find_map(|start| root_above(start));
    root.context("no folder here or above holds reference/wire.md")
}

/// The nearest folder at or above `start` that holds `reference/wire.md`.
pub fn root_above(start: &Path) -> Option<PathBuf> {
    let root = start
        .ancestors()
        .find(|folder| folder.join("reference").join("wire.md").is_file());
    root.map(Path::to_owned)
}

/// A command of the cargo that runs this program, or of the one on the search path, in `folder`.
pub fn cargo_command(folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder);
    command
}

/// A command of this deno that keeps its cache in the `.lockstep/` below `root`, asks nothing and looks for no newer version. Remote
/// imports are the subcommand's affair: give it `--cached-only`, and `run` and `test` no `--allow-net`.
pub fn deno_command(root: &Path, deno: &Path) -> Command {
    let folder = root.join(".lockstep");
    let mut command = Command::new(deno);
    command.env("DENO_DIR", folder.join("deno"));
    command
        .env("DENO_NO_PROMPT", "1")
        .env("DENO_NO_UPDATE_CHECK", "1")
        .env("NO_COLOR", "1");
    // reference/package.json is npm's list of parts, not the reference's imports.
    command.env("DENO_NO_PACKAGE_JSON", "1");
    // deno ends its errors with a stack of "<unknown>" where this is set.
    command.env_remove("RUST_BACKTRACE");
    // Mesa complains on standard error where it is not set.
    if env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", &folder);
    }
    command
}

#[cfg(target_os = "linux")]
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[cfg(not(target_os = "linux"))]
fn is_root() -> bool {
    false
}
