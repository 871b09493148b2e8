//! valgrind, whose callgrind counts instructions, from Debian's packages.

use std::path::PathBuf;

use super::{Environment, Missing, apt};

const PACKAGES: [&str; 1] = ["valgrind"];

/// The program, after apt-get has installed it where it may.
pub fn bring(environment: &Environment, say: &mut dyn FnMut(&str)) -> Result<PathBuf, Missing> {
    let look = || environment.program("valgrind");
    let mut why = "it is not installed".to_owned();
    if look().is_none() && !environment.offline && apt::may_install(environment) {
        why = apt::install(environment, "valgrind", &PACKAGES, say).err().unwrap_or(why);
    }
    let mend = apt::mend(environment, &PACKAGES, "install it with the system's packages");
    look().ok_or_else(|| Missing::new("valgrind", why, mend))
}
