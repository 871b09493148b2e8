//! Every target as a program, over its seeds and some thousand mutations of them, so that one that rots fails CI. The programs are built
//! as the rest is, without coverage, so this finds little: `docs/fuzzing.md` says how to fuzz.

use std::path::Path;
use std::process::Command;

use rstest::rstest;

#[rstest]
#[case(env!("CARGO_BIN_EXE_decode"), 50_000)]
#[case(env!("CARGO_BIN_EXE_streams"), 10_000)]
#[case(env!("CARGO_BIN_EXE_remap"), 20_000)]
#[case(env!("CARGO_BIN_EXE_ranges"), 20_000)]
#[case(env!("CARGO_BIN_EXE_descriptor"), 50_000)]
#[case(env!("CARGO_BIN_EXE_replay_js"), 10_000)]
#[case(env!("CARGO_BIN_EXE_layouts"), 10_000)]
#[case(env!("CARGO_BIN_EXE_msl"), 500)]
#[case(env!("CARGO_BIN_EXE_bind"), 5_000)]
#[case(env!("CARGO_BIN_EXE_gpu_noop"), 2_000)]
#[case(env!("CARGO_BIN_EXE_inspect"), 10_000)]
fn a_target_runs_over_its_seeds(#[case] program: &str, #[case] runs: u32) {
    let name = Path::new(program)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .expect("a name");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = tempfile::tempdir().expect("a folder");
    let output = Command::new(program)
        .args([format!("-runs={runs}"), "-seed=1".into(), "-max_len=16384".into()])
        // Without coverage no seed is new.
        .arg("-keep_seed=1")
        .arg(format!(
            "-dict={}",
            folder.join("dictionaries").join(name).with_extension("dict").display()
        ))
        .arg(format!("-artifact_prefix={}/{name}-", env!("CARGO_TARGET_TMPDIR")))
        .args([corpus.path(), &folder.join("seeds").join(name)])
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{said}", output.status);
    let done: Option<u32> = said
        .rsplit_once("Done ")
        .and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    assert!(done >= Some(runs), "{name} did not make its runs\n{said}");
}
