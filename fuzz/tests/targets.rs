//! Every target as a program, over its seeds and its own mutations, so that one that rots fails CI. Built without coverage libFuzzer keeps
//! no seed, and mutates and crosses over a line feed alone, of which the mutator of a case makes a fresh one:
//! `harness/lockstep/tests/fuzz_seeds.rs` mutates the seeds, and `docs/fuzzing.md` says how to fuzz.

use std::path::{Path, PathBuf};
use std::process::Command;

use rstest::rstest;

#[rstest]
#[case(env!("CARGO_BIN_EXE_decode"))]
#[case(env!("CARGO_BIN_EXE_streams"))]
#[case(env!("CARGO_BIN_EXE_remap"))]
#[case(env!("CARGO_BIN_EXE_ranges"))]
#[case(env!("CARGO_BIN_EXE_descriptor"))]
#[case(env!("CARGO_BIN_EXE_replay_js"))]
#[case(env!("CARGO_BIN_EXE_layouts"))]
#[case(env!("CARGO_BIN_EXE_msl"))]
#[case(env!("CARGO_BIN_EXE_bind"))]
#[case(env!("CARGO_BIN_EXE_gpu_noop"))]
#[case(env!("CARGO_BIN_EXE_inspect"))]
fn a_target_runs_over_its_seeds_and_its_mutations(#[case] program: &str) {
    let name = Path::new(program)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .expect("a name");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = folder.join("seeds").join(name).read_dir().expect("the seeds");
    let seeds: Vec<PathBuf> = entries.map(|entry| entry.expect("a seed").path()).collect();
    assert!(!seeds.is_empty(), "{name} has seeds");
    let dictionary = folder.join("dictionaries").join(name).with_extension("dict");
    let run = |command: &mut Command| {
        let artifacts = format!("-artifact_prefix={}/{name}-", env!("CARGO_TARGET_TMPDIR"));
        let output = command.arg(artifacts).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {}\n{said}", output.status);
        said
    };
    let dictionary = format!("-dict={}", dictionary.display());
    let said = run(Command::new(program).arg(dictionary).args(&seeds));
    assert_eq!(said.matches("Executed ").count(), seeds.len(), "{name}\n{said}");
    let said = run(Command::new(program).args(["-seed=1", "-runs=500"]));
    assert!(said.contains("\nDone 500 runs "), "{name}\n{said}");
    let has_mutator = !["decode", "descriptor"].contains(&name);
    assert_eq!(
        said.contains("found LLVMFuzzerCustomMutator"),
        has_mutator,
        "{name}\n{said}"
    );
}
