//! Apple's own compiler, where it is: whether MSL is MSL.
//!
//! It catches what the reader of arguments cannot: a text that does not compile at the language version that it was written for. It
//! needs Xcode's tools, and so a Mac; a compiler is slow, so a campaign gives it a sample.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Problem, entry_points, language_version};
use crate::case::{LayoutCase, Platform};

/// The name under which a report counts compiled texts among the checks; it is missing where there is no compiler.
pub const CHECK: &str = "Apple's compiler";

/// Apple's compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    xcrun: PathBuf,
}

/// The signature of the finding that a text is which the compiler refuses.
pub fn signature(problem: &Problem) -> String {
    format!("msl: Apple's compiler refuses a {} shader", problem.stage.name())
}

/// The compiler of this machine, if `xcrun --find metal` knows one.
pub fn find() -> Option<Compiler> {
    with(Path::new("xcrun"))
}

fn with(xcrun: &Path) -> Option<Compiler> {
    let found = Command::new(xcrun).args(["--find", "metal"]).output();
    found.is_ok_and(|output| output.status.success()).then(|| Compiler {
        xcrun: xcrun.to_owned(),
    })
}

impl Compiler {
    /// Compiles the MSL of each entry point that naga translates for a case: how many were compiled, and which do not.
    pub fn check(&self, case: &LayoutCase) -> (u64, Vec<Problem>) {
        let version = language_version(&case.system);
        let (mut compiled, mut problems) = (0, Vec::new());
        // A shader that is at fault as a whole is the oracle's to report.
        for report in entry_points(case).unwrap_or_default() {
            let Some(text) = report.msl else {
                continue;
            };
            compiled += 1;
            if let Err(detail) = self.compile(&text, case.system.platform, version) {
                problems.push(Problem {
                    entry_point: report.name,
                    stage: report.stage,
                    property: 0,
                    detail,
                });
            }
        }
        (compiled, problems)
    }

    /// Compiles one text.
    ///
    /// # Errors
    ///
    /// The compiler's first error, or why it could not be asked.
    fn compile(&self, text: &str, platform: Platform, version: (u8, u8)) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| format!("no folder for the MSL: {error}"))?;
        let source = folder.path().join("shader.metal");
        std::fs::write(&source, text).map_err(|error| format!("{}: {error}", source.display()))?;
        let output = self.command(platform, version, &source).output();
        let output = output.map_err(|error| format!("{}: {error}", self.xcrun.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let first = said
            .lines()
            .find(|line| line.contains("error:"))
            .or(said.lines().next());
        Err(format!(
            "Apple's compiler: {}",
            first.unwrap_or("it failed and says nothing")
        ))
    }

    /// The command line: the platform's SDK, and the language version as `metal` names it, before 3.0 by platform.
    fn command(&self, platform: Platform, (major, minor): (u8, u8), source: &Path) -> Command {
        let (sdk, family) = match platform {
            Platform::MacOs => ("macosx", "macos-"),
            Platform::Ios => ("iphoneos", "ios-"),
            Platform::TvOs => ("appletvos", "ios-"),
            Platform::VisionOs => ("xros", "ios-"),
        };
        let family = if major < 3 { family } else { "" };
        let mut command = Command::new(&self.xcrun);
        command.args(["-sdk", sdk, "metal"]);
        command.arg(format!("-std={family}metal{major}.{minor}"));
        command
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(source.with_extension("air"));
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(platform: Platform, version: (u8, u8)) -> Vec<String> {
        let compiler = Compiler { xcrun: "xcrun".into() };
        let command = compiler.command(platform, version, Path::new("a.metal"));
        let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
        words.collect()
    }

    #[test]
    fn command_lines() {
        let of = |sdk: &str, std: &str| ["-sdk", sdk, "metal", std, "-c", "a.metal", "-o", "a.air"].map(str::to_owned);
        assert_eq!(words(Platform::MacOs, (3, 1)), of("macosx", "-std=metal3.1"));
        assert_eq!(words(Platform::MacOs, (2, 4)), of("macosx", "-std=macos-metal2.4"));
        assert_eq!(words(Platform::Ios, (2, 0)), of("iphoneos", "-std=ios-metal2.0"));
        assert_eq!(words(Platform::TvOs, (3, 2)), of("appletvos", "-std=metal3.2"));
        assert_eq!(words(Platform::VisionOs, (4, 0)), of("xros", "-std=metal4.0"));
    }

    #[test]
    fn none_is_found_where_there_is_no_xcrun() {
        assert_eq!(with(Path::new("no such program")), None);
    }

    /// A stand-in for `xcrun` that knows `metal` and refuses any text with `wrong` in it.
    #[cfg(unix)]
    #[test]
    fn a_text_that_does_not_compile_is_a_problem() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let xcrun = folder.path().join("xcrun");
        let script = "#!/bin/sh\n[ \"$1\" = --find ] && exit 0\n\
            [ \"$1 $2 $3 $4\" = '-sdk macosx metal -std=metal3.1' ] || { echo 'error: bad use' >&2; exit 1; }\n\
            if grep -q wrong \"$6\"; then echo 'shader.metal:1:1: error: wrong' >&2; exit 1; fi\n";
        std::fs::write(&xcrun, script).expect("a script");
        std::fs::set_permissions(&xcrun, std::fs::Permissions::from_mode(0o755)).expect("permissions");
        let compiler = with(&xcrun).expect("the stand-in");
        let case = |name: &str| LayoutCase {
            groups: Vec::new(),
            immediate_size: 0,
            vertex_pulling: false,
            system: crate::case::System {
                platform: Platform::MacOs,
                major: 14,
                minor: 0,
            },
            shader: Some(crate::case::Shader {
                wgsl: format!("@compute @workgroup_size(1) fn {name}() {{}}"),
                ..Default::default()
            }),
        };
        assert_eq!(compiler.check(&case("right")), (1, Vec::new()));
        let (compiled, problems) = compiler.check(&case("wrong"));
        let details: Vec<_> = problems.iter().map(|found| found.detail.as_str()).collect();
        assert_eq!(
            (compiled, details),
            (1, vec!["Apple's compiler: shader.metal:1:1: error: wrong"])
        );
    }
}
