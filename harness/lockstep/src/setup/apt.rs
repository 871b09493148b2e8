//! Debian's packages, installed by apt-get where this program may.

use std::process::Command;
use std::time::Instant;

use super::{Environment, process};

const OPTIONS: [&str; 8] = [
    "-o",
    "DPkg::Lock::Timeout=60",
    "-o",
    "Acquire::Retries=1",
    "-o",
    "Acquire::http::Timeout=20",
    "-o",
    "Acquire::https::Timeout=20",
];

/// Whether this is a Linux with apt-get, and this program may install packages there.
pub fn may_install(environment: &Environment) -> bool {
    environment.os == "linux" && environment.privileged && environment.program("apt-get").is_some()
}

/// What a user can do to get the packages; `otherwise` where there is no apt-get.
pub fn mend(environment: &Environment, packages: &[&str], otherwise: &str) -> String {
    let packages = packages.join(" ");
    match (environment.program("apt-get").is_some(), environment.privileged) {
        (true, true) => format!("run `apt-get update` and `apt-get install {packages}`"),
        (true, false) => format!("run `sudo apt-get install {packages}`"),
        (false, _) => otherwise.to_owned(),
    }
}

/// Installs the packages and says so; `part` is what they bring. An error is one line.
pub fn install(
    environment: &Environment,
    part: &str,
    packages: &[&str],
    say: &mut dyn FnMut(&str),
) -> Result<(), String> {
    say(&format!("{part}: installing {} with apt-get", packages.join(" and ")));
    let start = Instant::now();
    let install = |first: &[&'static str]| {
        let arguments = [&["install", "--yes", "--no-install-recommends"], first, packages].concat();
        run(environment, &arguments)
    };
    // Downloads apart from installing, so that only the part that waits for a network is ever ended half-way. The lists are
    // fetched only where they do not know the packages, or know packages that are gone.
    if install(&["--download-only"]).is_err() {
        run(environment, &["update"])?;
        install(&["--download-only"])?;
    }
    install(&["--no-download"])?;
    say(&format!("{part}: installed in {:.1} s", start.elapsed().as_secs_f64()));
    Ok(())
}

fn run(environment: &Environment, arguments: &[&str]) -> Result<(), String> {
    let apt = environment.program("apt-get").ok_or("apt-get is gone")?;
    let mut command = Command::new(apt);
    command
        .args(OPTIONS)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive");
    let limit = environment.limits.apt;
    let ran = process::run(&mut command, limit).map_err(|error| format!("apt-get does not start: {error}"))?;
    if ran.success() {
        return Ok(());
    }
    let error = ran.output.lines().find(|line| line.starts_with("E:"));
    let said = error.or(ran.output.lines().last()).unwrap_or("it said nothing");
    match ran.status {
        None => Err(format!(
            "`apt-get {}` was ended after {} s: {said}",
            arguments[0],
            limit.as_secs_f32()
        )),
        Some(_) => Err(format!("`apt-get {}` failed: {said}", arguments[0])),
    }
}
