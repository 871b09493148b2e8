//! Every target as a program, over its seeds, so that one that rots fails CI. Built without coverage libFuzzer mutates nothing:
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
fn a_target_runs_over_its_seeds(#[case] program: &str) {
    let name = Path::new(program)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .expect("a name");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = folder.join("seeds").join(name).read_dir().expect("the seeds");
    let seeds: Vec<PathBuf> = entries.map(|entry| entry.expect("a seed").path()).collect();
    assert!(!seeds.is_empty(), "{name} has seeds");
    let dictionary = folder.join("dictionaries").join(name).with_extension("dict");
    let output = Command::new(program)
        .arg(format!("-dict={}", dictionary.display()))
        .arg(format!("-artifact_prefix={}/{name}-", env!("CARGO_TARGET_TMPDIR")))
        .args(&seeds)
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{said}", output.status);
    assert_eq!(said.matches("Executed ").count(), seeds.len(), "{name}\n{said}");
}
