//! Set-up on machines made for the test: a repository in a temporary folder, npm, deno and apt-get as shell scripts. No
//! test touches the network or this machine's packages.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use lockstep::cli::{doctor, test};
use lockstep::setup::{Environment, Limits, Parts, tools, vulkan};
use rstest::rstest;

const DENO: &str = "node_modules/@deno/linux-x64-glibc/deno";
const DAWN: &str = "node_modules/webgpu/dist/linux-x64/dawn.node";

/// An npm that installs what the pins ask for, and counts its calls.
const GOOD_NPM: &str = r#"
echo "$*" >> "$(dirname "$0")/npm-calls"
version=$(sed -n 's/.*"deno": "\([^"]*\)".*/\1/p' package.json)
mkdir -p node_modules/@deno/linux-x64-glibc node_modules/webgpu/dist/linux-x64
printf '#!/bin/sh\necho "deno %s (stable)"\n' "$version" > node_modules/@deno/linux-x64-glibc/deno
chmod +x node_modules/@deno/linux-x64-glibc/deno
touch node_modules/webgpu/dist/linux-x64/dawn.node node_modules/webgpu/index.js
"#;

/// An apt-get that installs into the machine's folder, and notes its calls.
const GOOD_APT: &str = r#"
here="$(dirname "$0")"
echo "$*" >> "$here/apt-calls"
case "$*" in
*update) touch "$here/lists" ;;
*download-only*) [ -e "$here/lists" ] || { echo "E: Unable to locate package libvulkan1"; exit 100; } ;;
*no-download*chromium) touch "$here/chromium" ;;
*no-download*) mkdir -p "$here/../lib" "$here/../icd.d"; touch "$here/../lib/libvulkan.so.1" "$here/../icd.d/lvp.json" ;;
esac
"#;

/// A machine in a temporary folder.
struct Machine {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Machine {
    /// Linux with Vulkan, with no program at all on its path.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["bin", "lib", "icd.d", "root/reference"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("lib/libvulkan.so.1"), "").unwrap();
        fs::write(at("icd.d/lvp.json"), "{}").unwrap();
        let environment = Environment {
            root: at("root"),
            os: "linux",
            arch: "x86_64",
            offline: false,
            privileged: false,
            path: vec![at("bin")],
            vulkan: vulkan::Places {
                named: vec![],
                manifests: vec![at("icd.d")],
                libraries: vec![at("lib")],
            },
            limits: Limits {
                answer: Duration::from_secs(20),
                npm: Duration::from_secs(20),
                apt: Duration::from_secs(20),
                lock: Duration::from_secs(30),
            },
        };
        let machine = Self { folder, environment };
        machine.pin("1.2.3");
        machine
    }

    fn with(self, name: &str, script: &str) -> Self {
        write_script(&self.folder.path().join("bin").join(name), script);
        self
    }

    fn without_vulkan(self) -> Self {
        fs::remove_dir_all(self.folder.path().join("lib")).unwrap();
        fs::remove_dir_all(self.folder.path().join("icd.d")).unwrap();
        self
    }

    fn pin(&self, version: &str) {
        let reference = self.environment.root.join("reference");
        let pins = format!("{{\"dependencies\": {{\n\"deno\": \"{version}\",\n\"webgpu\": \"0.1.0\"\n}}}}");
        fs::write(reference.join("package.json"), pins).unwrap();
        fs::write(
            reference.join("package-lock.json"),
            format!("{{\"lock\": \"{version}\"}}"),
        )
        .unwrap();
    }

    fn installed(&self) -> PathBuf {
        self.environment.folder().join("npm")
    }

    fn bring(&self) -> (Parts, Vec<String>) {
        let mut said = Vec::new();
        let parts = self.environment.bring(&mut |line| said.push(line.to_owned()));
        assert!(
            said.iter().all(|line| !line.contains('\n')),
            "more than a line: {said:?}"
        );
        (parts, said)
    }

    /// The arguments of each call that a program noted.
    fn calls(&self, program: &str) -> Vec<String> {
        let notes = fs::read_to_string(self.folder.path().join("bin").join(format!("{program}-calls")));
        notes.unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Folders of installs that did not become `.lockstep/npm`.
    fn leftovers(&self) -> usize {
        let entries = fs::read_dir(self.environment.folder()).unwrap().flatten();
        entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with("npm.") && entry.path().is_dir())
            .count()
    }
}

/// Another process writes the program: had this one it open, a fork in another test's thread would keep it open, and to
/// start a program that is open for writing is an error.
fn write_script(path: &Path, script: &str) {
    let text = path.with_extension("text");
    fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
    let copy = Command::new("install")
        .arg("-m755")
        .arg(&text)
        .arg(path)
        .status()
        .unwrap();
    assert!(copy.success());
}

fn why(parts: &Parts) -> String {
    parts.deno.as_ref().unwrap_err().to_string()
}

#[test]
fn brings_deno_and_dawn_once() {
    let machine = Machine::new().with("npm", GOOD_NPM);
    let (parts, said) = machine.bring();
    assert_eq!(parts.deno, Ok(machine.installed().join(DENO)));
    assert_eq!(parts.dawn, Ok(machine.installed().join("node_modules/webgpu/index.js")));
    assert_eq!(parts.vulkan, Ok(()));
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(machine.leftovers(), 0);

    let (again, said) = machine.bring();
    assert!(again.missing().is_empty());
    assert!(said.is_empty(), "{said:?}");
    let calls = machine.calls("npm");
    assert_eq!(calls.len(), 1);
    assert!(
        calls[0].starts_with("ci ") && calls[0].contains("--ignore-scripts"),
        "{calls:?}"
    );
}

#[test]
fn looking_brings_nothing() {
    let machine = Machine::new().with("npm", GOOD_NPM);
    let parts = machine.environment.look();
    assert_eq!(parts.missing().len(), 2);
    assert!(why(&parts).contains("cargo lockstep"), "{}", why(&parts));
    assert!(machine.calls("npm").is_empty());
    assert!(!machine.environment.folder().exists());
}

#[test]
fn offline_brings_nothing_and_says_so() {
    let mut machine = Machine::new()
        .with("npm", GOOD_NPM)
        .with("apt-get", GOOD_APT)
        .without_vulkan();
    machine.environment.offline = true;
    machine.environment.privileged = true;
    let (parts, said) = machine.bring();
    assert_eq!(parts.missing().len(), 3);
    assert_eq!(said.len(), 3);
    assert!(said[0].contains("unset LOCKSTEP_OFFLINE"), "{said:?}");
    assert!(machine.calls("npm").is_empty() && machine.calls("apt").is_empty());
}

#[rstest]
#[case::no_npm(None, "npm is not on the PATH; install Node.js")]
#[case::fails(
    Some("echo npm error code EAI_AGAIN; echo npm error no such host; exit 1"),
    "npm failed: no such host"
)]
#[case::fails_in_silence(Some("exit 1"), "npm failed: it said nothing")]
#[case::installs_nothing(Some("exit 0"), "npm installed nothing")]
#[case::installs_half(Some("mkdir -p node_modules/deno; echo npm error cut; exit 1"), "npm failed: cut")]
#[case::other_platform(Some("mkdir -p node_modules/deno"), "brought none for this platform")]
#[case::wrong_version(
    Some(
        "d=node_modules/@deno/linux-x64-glibc; mkdir -p $d; printf '#!/bin/sh\necho deno 9.9.9' >$d/deno; chmod +x $d/deno"
    ),
    "answers `--version` with: deno 9.9.9"
)]
#[case::cannot_run(
    Some("d=node_modules/@deno/linux-x64-glibc; mkdir -p $d; touch $d/deno"),
    "does not start"
)]
fn a_failing_install_is_one_clear_line_each(#[case] npm: Option<&str>, #[case] expected: &str) {
    let machine = Machine::new();
    let machine = match npm {
        Some(script) => machine.with("npm", script),
        None => machine,
    };
    let (parts, said) = machine.bring();
    assert!(why(&parts).starts_with("deno 1.2.3 is missing: "), "{}", why(&parts));
    assert!(why(&parts).contains(expected), "{}", why(&parts));
    assert!(
        parts
            .dawn
            .as_ref()
            .unwrap_err()
            .to_string()
            .starts_with("Dawn 0.1.0 is missing: ")
    );
    assert_eq!(
        said.iter().filter(|line| line.contains("is missing: ")).count(),
        2,
        "{said:?}"
    );
    assert_eq!(machine.leftovers(), 0);
}

#[test]
fn an_npm_that_hangs_is_ended() {
    let mut machine = Machine::new().with("npm", "sleep 30");
    machine.environment.limits.npm = Duration::from_millis(200);
    let start = Instant::now();
    let (parts, _) = machine.bring();
    assert!(start.elapsed() < Duration::from_secs(10));
    assert!(why(&parts).contains("npm was ended after 0.2 s"), "{}", why(&parts));
}

#[test]
fn a_deno_that_hangs_is_reported() {
    let mut machine = Machine::new().with("npm", GOOD_NPM);
    machine.bring();
    write_script(&machine.installed().join(DENO), "sleep 30");
    machine.environment.limits.answer = Duration::from_millis(200);
    assert!(why(&machine.environment.look()).contains("did not answer `--version` in 0.2 s"));
}

#[test]
fn an_interrupted_install_is_not_taken_for_a_whole_one() {
    let machine = Machine::new().with("npm", GOOD_NPM);
    // What a lockstep that was killed leaves: all files there, the folder not in its place.
    let beside = machine.environment.folder().join("npm.abc123");
    fs::create_dir_all(beside.join("node_modules")).unwrap();
    fs::copy(
        machine.environment.root.join("reference/package.json"),
        beside.join("package.json"),
    )
    .unwrap();
    assert_eq!(machine.environment.look().missing().len(), 2);
    assert!(machine.bring().0.missing().is_empty());
    assert_eq!(machine.leftovers(), 0);
}

#[test]
fn a_stale_install_is_replaced() {
    let machine = Machine::new().with("npm", GOOD_NPM);
    machine.bring();
    machine.pin("1.2.4");
    assert!(why(&machine.environment.look()).contains("is not what reference/package.json says"));
    assert!(machine.bring().0.missing().is_empty());
    let version = Command::new(machine.installed().join(DENO)).output().unwrap();
    assert_eq!(version.stdout, b"deno 1.2.4 (stable)\n");
    assert_eq!(machine.leftovers(), 0);
}

#[test]
fn a_failing_update_leaves_the_old_install() {
    let machine = Machine::new().with("npm", GOOD_NPM);
    machine.bring();
    machine.pin("1.2.4");
    let machine = machine.with("npm", "exit 1");
    assert!(why(&machine.bring().0).contains("npm failed"));
    machine.pin("1.2.3");
    assert!(machine.environment.look().missing().is_empty());
}

#[rstest]
#[case(DENO)]
#[case(DAWN)]
fn a_damaged_install_is_mended(#[case] file: &str) {
    let machine = Machine::new().with("npm", GOOD_NPM);
    machine.bring();
    fs::remove_file(machine.installed().join(file)).unwrap();
    assert_eq!(machine.environment.look().missing().len(), 1);
    assert!(machine.bring().0.missing().is_empty());
}

#[test]
fn concurrent_runs_install_once() {
    let machine = Arc::new(Machine::new().with("npm", &format!("sleep 0.3\n{GOOD_NPM}")));
    let start = Arc::new(Barrier::new(4));
    let runs: Vec<_> = (0..4)
        .map(|_| {
            let (machine, start) = (Arc::clone(&machine), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                machine.bring().0.missing().is_empty()
            })
        })
        .collect();
    assert!(runs.into_iter().all(|run| run.join().unwrap()));
    assert_eq!(machine.calls("npm").len(), 1);
}

#[test]
fn a_lock_that_is_never_let_go_is_one_line() {
    let mut machine = Machine::new().with("npm", GOOD_NPM);
    machine.environment.limits.lock = Duration::from_millis(100);
    fs::create_dir_all(machine.environment.folder()).unwrap();
    let lock = fs::File::create(machine.environment.folder().join("lock")).unwrap();
    lock.lock().unwrap();
    let (parts, said) = machine.bring();
    assert_eq!(parts.missing().len(), 2);
    assert!(said[1].contains("another lockstep has held"), "{said:?}");
}

#[test]
fn a_deno_of_the_very_version_on_the_path_will_do() {
    let machine = Machine::new().with("deno", "echo deno 1.2.3 '(stable)'");
    let (parts, _) = machine.bring();
    assert_eq!(parts.deno, Ok(machine.folder.path().join("bin/deno")));
    assert!(parts.dawn.is_err());
    let machine = machine.with("deno", "echo deno 1.2.4 '(stable)'");
    assert!(machine.environment.look().deno.is_err());
}

#[test]
fn root_gets_vulkan_from_apt() {
    let mut machine = Machine::new()
        .with("npm", GOOD_NPM)
        .with("apt-get", GOOD_APT)
        .without_vulkan();
    machine.environment.privileged = true;
    let (parts, said) = machine.bring();
    assert_eq!(parts.vulkan, Ok(()), "{said:?}");
    let words: Vec<String> = machine
        .calls("apt")
        .iter()
        .map(|call| call.split(' ').next_back().unwrap().into())
        .collect();
    assert_eq!(words, ["libegl1", "update", "libegl1", "libegl1"]);
}

#[test]
fn apt_does_not_update_when_it_knows_the_packages() {
    let mut machine = Machine::new().with("apt-get", GOOD_APT).without_vulkan();
    machine.environment.privileged = true;
    fs::write(machine.folder.path().join("bin/lists"), "").unwrap();
    assert_eq!(machine.bring().0.vulkan, Ok(()));
    assert!(!machine.calls("apt").iter().any(|call| call.ends_with("update")));
}

#[rstest]
#[case::not_root(
    false,
    Some(GOOD_APT),
    "run `sudo apt-get install mesa-vulkan-drivers libvulkan1 libegl1`"
)]
#[case::no_apt(true, None, "install a Vulkan loader and driver with the system's packages")]
#[case::apt_fails(true, Some("echo E: no network; exit 100"), "`apt-get update` failed: E: no network")]
fn without_vulkan_one_line_says_what_to_do(#[case] root: bool, #[case] apt: Option<&str>, #[case] expected: &str) {
    let mut machine = Machine::new().with("npm", GOOD_NPM).without_vulkan();
    machine.environment.privileged = root;
    if let Some(script) = apt {
        machine = machine.with("apt-get", script);
    }
    let (parts, said) = machine.bring();
    assert!(parts.deno.is_ok());
    assert!(said.last().unwrap().contains(expected), "{said:?}");
    if !root {
        assert!(machine.calls("apt").is_empty());
    }
}

#[test]
fn an_apt_that_hangs_is_ended() {
    let mut machine = Machine::new().with("apt-get", "sleep 30").without_vulkan();
    machine.environment.privileged = true;
    machine.environment.limits.apt = Duration::from_millis(200);
    let vulkan = machine.bring().0.vulkan.unwrap_err();
    assert!(vulkan.why.contains("was ended after 0.2 s"), "{vulkan}");
}

#[test]
fn a_named_driver_is_the_only_one() {
    let mut machine = Machine::new();
    machine.environment.vulkan.named = vec![machine.folder.path().join("nowhere.json")];
    let missing = machine.environment.look().vulkan.unwrap_err();
    assert!(missing.why.contains("VK_DRIVER_FILES"), "{missing}");
    machine.environment.vulkan.named = vec![machine.folder.path().join("icd.d/lvp.json")];
    assert_eq!(machine.environment.look().vulkan, Ok(()));
}

#[rstest]
#[case("macos", true)]
#[case("windows", true)]
#[case("freebsd", false)]
fn metal_and_dx12_need_no_vulkan(#[case] os: &'static str, #[case] there: bool) {
    let mut machine = Machine::new().without_vulkan();
    machine.environment.os = os;
    assert_eq!(machine.environment.look().vulkan.is_ok(), there);
}

#[test]
fn root_gets_chromium_from_apt_and_once() {
    let mut machine = Machine::new().with("apt-get", GOOD_APT);
    machine.environment.privileged = true;
    let program = machine.folder.path().join("bin/chromium");
    assert!(!machine.environment.bring(&mut |_| ()).missing().is_empty());
    assert!(!program.exists(), "only the tests of pages need it");
    for _ in 0..2 {
        assert_eq!(
            tools::CHROMIUM.bring(&machine.environment, &mut |_| ()),
            Ok(program.clone())
        );
    }
    assert_eq!(machine.calls("apt").len(), 4, "download, update, download, install");
}

#[rstest]
#[case::not_root(false, false, Some(GOOD_APT), "run `sudo apt-get install chromium`")]
#[case::offline(true, true, Some(GOOD_APT), "run `apt-get update` and `apt-get install chromium`")]
#[case::no_apt(true, false, None, "install Chromium so that `chromium` is on the PATH")]
#[case::apt_fails(
    true,
    false,
    Some("echo E: no network; exit 100"),
    "`apt-get update` failed: E: no network; run"
)]
fn without_chromium_one_line_says_what_to_do(
    #[case] root: bool,
    #[case] offline: bool,
    #[case] apt: Option<&str>,
    #[case] expected: &str,
) {
    let mut machine = Machine::new();
    machine.environment.privileged = root;
    machine.environment.offline = offline;
    if let Some(script) = apt {
        machine = machine.with("apt-get", script);
    }
    let line = tools::CHROMIUM
        .bring(&machine.environment, &mut |_| ())
        .unwrap_err()
        .to_string();
    assert!(line.starts_with("Chromium is missing: "), "{line}");
    assert!(line.contains(expected) && !line.contains('\n'), "{line}");
}

#[rstest]
#[case("chromium-browser")]
#[case("google-chrome")]
fn a_chromium_of_another_name_will_do(#[case] name: &str) {
    let machine = Machine::new().with(name, "");
    assert_eq!(
        tools::CHROMIUM.look(&machine.environment),
        Ok(machine.folder.path().join("bin").join(name))
    );
}

#[test]
fn a_platform_that_npm_does_not_know_is_named() {
    let mut machine = Machine::new().with("npm", GOOD_NPM);
    machine.environment.arch = "riscv64";
    assert!(why(&machine.bring().0).contains("npm has none for linux on riscv64"));
}

#[test]
fn the_lock_file_names_no_address() {
    let root = lockstep::setup::repository_root().unwrap();
    let lock = fs::read_to_string(root.join("reference/package-lock.json")).unwrap();
    assert!(!lock.contains("resolved") && !lock.contains("://"));
    assert!(lock.contains("node_modules/@deno/linux-x64-glibc"));
}

#[test]
fn the_root_is_found_from_below_and_not_from_beside() {
    let machine = Machine::new();
    let root = &machine.environment.root;
    fs::write(root.join("reference/wire.md"), "").unwrap();
    assert_eq!(
        lockstep::setup::root_above(&root.join("reference")).as_ref(),
        Some(root)
    );
    assert_eq!(lockstep::setup::root_above(machine.folder.path()), None);
}

#[test]
fn doctor_prints_a_row_for_each_part() {
    let mut out = Vec::new();
    let status = doctor::run(&doctor::Args::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    for name in [
        "rustc",
        "npm",
        "deno",
        "Dawn",
        "Vulkan",
        "Chromium",
        "valgrind",
        "cargo-fuzz",
        "wgpu-hal",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name} in {text}");
    }
    let release = slot_upstream::UPSTREAMS[0].version;
    // The tests have two releases built in.
    let changed = |text: &str| text.matches(" is now ").count();
    assert_eq!(
        (text.matches("`doctor --verbose` lists them").count(), changed(&text)),
        (1, 0),
        "{text}"
    );
    let mut out = Vec::new();
    let verbose = doctor::Args {
        verbose: true,
        ..doctor::Args::default()
    };
    doctor::run(&verbose, &mut out).unwrap();
    assert!(changed(&String::from_utf8(out).unwrap()) > 10);
    for name in ["wgpu-hal", "naga"] {
        let row = text.lines().find(|line| line.split_whitespace().next() == Some(name));
        assert!(
            row.is_some_and(|row| row.contains(&format!(" {release}, pinned"))),
            "{name} in {text}"
        );
    }
    // The program and the engine.
    assert_eq!(
        text.lines().filter(|line| line.starts_with("deno ")).count(),
        1,
        "{text}"
    );
    assert_eq!(status == 2, text.contains("MISSING"), "{text}");
}

#[test]
fn test_lists_its_steps_and_knows_no_other() {
    let mut out = Vec::new();
    assert_eq!(
        test::run_to(
            &test::Args {
                list: true,
                only: vec![]
            },
            &mut out
        )
        .unwrap(),
        0
    );
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 11);
    let unknown = test::Args {
        list: false,
        only: vec!["tset".into()],
    };
    let error = test::run_to(&unknown, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("`tset`") && error.contains("deno-test"), "{error}");
}

#[test]
fn deno_keeps_to_the_projects_folder_and_asks_nothing() {
    let command = lockstep::setup::deno_command(Path::new("/r"), Path::new("/r/deno"));
    let value = |name: &str| {
        let mut set = command.get_envs().filter(|(key, _)| *key == name);
        set.next()
            .and_then(|(_, value)| value)
            .map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(value("DENO_DIR").as_deref(), Some("/r/.lockstep/deno"));
    assert_eq!(value("DENO_NO_PROMPT").as_deref(), Some("1"));
    assert_eq!(value("DENO_NO_UPDATE_CHECK").as_deref(), Some("1"));
}
