//! Programs that only some commands need, so that they are none of the [`super::Parts`]: each is one of Debian's packages.

use std::path::PathBuf;

use super::{Environment, Missing, apt};

/// A program, and what brings it.
pub struct Tool {
    name: &'static str,
    /// The programs that will do, in the order in which they are looked for.
    programs: &'static [&'static str],
    packages: &'static [&'static str],
    /// What a user can do where there is no apt-get.
    otherwise: &'static str,
}

/// Chromium, in which the tests of pages run. `reference/chromium.js` looks for the same programs in the same order.
pub const CHROMIUM: Tool = Tool {
    name: "Chromium",
    programs: &["chromium", "chromium-browser", "google-chrome"],
    packages: &["chromium"],
    otherwise: "install Chromium so that `chromium` is on the PATH",
};

/// valgrind, whose callgrind counts instructions.
pub const VALGRIND: Tool = Tool {
    name: "valgrind",
    programs: &["valgrind"],
    packages: &["valgrind"],
    otherwise: "install valgrind so that it is on the PATH",
};

impl Tool {
    /// The program on the search path.
    pub fn look(&self, environment: &Environment) -> Result<PathBuf, Missing> {
        let found = self.programs.iter().find_map(|name| environment.program(name));
        found.ok_or_else(|| self.missing(environment, "it is not on the PATH"))
    }

    /// The same after apt-get has installed it, where it may.
    pub fn bring(&self, environment: &Environment, say: &mut dyn FnMut(&str)) -> Result<PathBuf, Missing> {
        let found = self.look(environment);
        if found.is_ok() || environment.offline || !apt::may_install(environment) {
            return found;
        }
        let _lock = environment
            .lock(say)
            .map_err(|error| self.missing(environment, &format!("{error:#}")))?;
        apt::install(environment, self.name, self.packages, say).map_err(|why| self.missing(environment, &why))?;
        self.look(environment)
    }

    fn missing(&self, environment: &Environment, why: &str) -> Missing {
        Missing::new(self.name, why, apt::mend(environment, self.packages, self.otherwise))
    }
}
