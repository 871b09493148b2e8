//! Writes wgpu-hal's own functions into `OUT_DIR`, one file for each copy that the features ask for.

mod extract;
mod planted;

use cargo_metadata::{CargoOpt, Metadata, MetadataCommand};
use extract::{Package, MODULES};
use std::env;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    match write_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error=slot-upstream: {message}");
            ExitCode::FAILURE
        }
    }
}

fn write_all() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build");
    let majors: Vec<u64> = [30, 29]
        .into_iter()
        .filter(|major| is_on(&format!("WGPU_HAL_{major}")))
        .collect();
    let metadata = metadata(&majors)?;
    println!("cargo::rerun-if-changed={}", metadata.workspace_root.join("Cargo.lock"));
    for major in majors {
        let package = package(&metadata, major)?;
        println!("cargo::rustc-env=WGPU_HAL_{major}={}", package.version);
        write(&package, &format!("v{major}"), &format!("crate::v{major}"))?;
        if major == 30 && is_on("PLANTED") {
            for rule in planted::RULES {
                write(
                    &planted::change(&package, rule)?,
                    rule.name,
                    &format!("crate::planted::{}", rule.name),
                )?;
            }
        }
    }
    Ok(())
}

fn is_on(feature: &str) -> bool {
    env::var_os(format!("CARGO_FEATURE_{feature}")).is_some()
}

/// What Cargo.lock names, and where it is on this disk. Offline first: what this very build needs is there already,
/// but other members of the workspace may need packages that are not.
fn metadata(majors: &[u64]) -> Result<Metadata, String> {
    let variable = |name| env::var(name).map_err(|_| format!("cargo gives a build script no {name}"));
    let mut command = MetadataCommand::new();
    command.manifest_path(Path::new(&variable("CARGO_MANIFEST_DIR")?).join("Cargo.toml"));
    command.features(CargoOpt::SomeFeatures(
        majors.iter().map(|major| format!("wgpu-hal-{major}")).collect(),
    ));
    let platform = [
        "--locked".to_string(),
        "--filter-platform".to_string(),
        variable("TARGET")?,
    ];
    let offline = [&platform[..], &["--offline".to_string()]].concat();
    let found = command
        .other_options(offline)
        .exec()
        .or_else(|_| command.other_options(platform).exec());
    found.map_err(|error| {
        let why = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        format!("`cargo metadata --locked` must tell where wgpu-hal is (try `cargo fetch`): {why}")
    })
}

/// The text of the locked wgpu-hal of one major version.
fn package(metadata: &Metadata, major: u64) -> Result<Package, String> {
    let found = metadata
        .packages
        .iter()
        .find(|package| *package.name == "wgpu-hal" && package.version.major == major);
    let found = found.ok_or_else(|| format!("Cargo.lock names no wgpu-hal {major}: see the root Cargo.toml"))?;
    let folder = found.manifest_path.parent().ok_or("a manifest has a folder")?;
    let mut package = Package {
        version: found.version.to_string(),
        files: Default::default(),
    };
    for (_, file) in MODULES {
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("wgpu-hal {} has no readable {file} ({path}: {error})", found.version))?;
        package.files.insert(file, text);
        println!("cargo::rerun-if-changed={path}");
    }
    Ok(package)
}

fn write(package: &Package, name: &str, base: &str) -> Result<(), String> {
    let path = Path::new(&env::var_os("OUT_DIR").unwrap_or_default()).join(format!("{name}.rs"));
    std::fs::write(&path, extract::extract(package, base)?).map_err(|error| format!("{}: {error}", path.display()))
}
