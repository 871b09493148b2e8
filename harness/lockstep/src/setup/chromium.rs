//! Chromium, in which the tests of pages run: Debian's package. Only `lockstep test` needs it, so it is none of the
//! [`super::Parts`].

use std::path::PathBuf;

use super::{Environment, Missing, apt};

const PACKAGES: [&str; 1] = ["chromium"];

/// The names that `reference/chromium.js` looks for, in that order.
const PROGRAMS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The program on the search path.
pub fn look(environment: &Environment) -> Result<PathBuf, Missing> {
    let found = PROGRAMS.iter().find_map(|name| environment.program(name));
    found.ok_or_else(|| missing(environment, "it is not on the PATH"))
}

/// The same after apt-get has installed it, where it may.
pub fn bring(environment: &Environment, say: &mut dyn FnMut(&str)) -> Result<PathBuf, Missing> {
    let found = look(environment);
    if found.is_ok() || environment.offline || !apt::may_install(environment) {
        return found;
    }
    let _lock = environment
        .lock(say)
        .map_err(|error| missing(environment, &format!("{error:#}")))?;
    apt::install(environment, "Chromium", &PACKAGES, say).map_err(|why| missing(environment, &why))?;
    look(environment)
}

fn missing(environment: &Environment, why: &str) -> Missing {
    let otherwise = "install Chromium so that `chromium` is on the PATH";
    Missing::new("Chromium", why, apt::mend(environment, &PACKAGES, otherwise))
}
