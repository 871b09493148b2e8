//! valgrind, whose callgrind counts instructions: Debian's package. Only `lockstep test` and `lockstep bench --instructions` need it, so it
//! is none of the [`super::Parts`].

use std::path::PathBuf;

use super::{Environment, Missing, apt};

const PACKAGES: [&str; 1] = ["valgrind"];

/// The program on the search path.
pub fn look(environment: &Environment) -> Result<PathBuf, Missing> {
    let found = environment.program("valgrind");
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
    apt::install(environment, "valgrind", &PACKAGES, say).map_err(|why| missing(environment, &why))?;
    look(environment)
}

fn missing(environment: &Environment, why: &str) -> Missing {
    let otherwise = "install valgrind so that it is on the PATH";
    Missing::new("valgrind", why, apt::mend(environment, &PACKAGES, otherwise))
}
