//! The oracles of the fuzz targets: each holds for each of its seeds, and each finds a fault that is planted.

use std::fs;
use std::path::{Path, PathBuf};

use arbitrary::Unstructured;
use lockstep::bind::{self, BindPlayer, Bound, Reads};
use lockstep::case::{BindCase, Case, LayoutCase, Stage};
use lockstep::generators::{self, layout, wgsl};
use lockstep::oracles::fuzz::{self, TARGETS, Target, mutate};
use lockstep::oracles::msl::{Checked, Problem};
use lockstep::panics::caught;
use lockstep::readers::layouts::{LayoutAnswer, LayoutReader};
use lockstep::readers::native::Native;
use lockstep::text;
use rstest::rstest;
use serde_json::json;
use wire::{Blob, Op, Reason};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The seeds of a target, each with its name.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(folder().join("seeds").join(target)).expect("a folder of seeds");
    let files = files.map(|file| file.expect("a seed").path());
    let mut seeds: Vec<_> = files
        .map(|file| (file.display().to_string(), fs::read(&file).expect("a seed")))
        .collect();
    seeds.sort();
    seeds
}

fn target(name: &str) -> Target {
    *TARGETS.iter().find(|target| target.name == name).expect("a target")
}

#[test]
fn each_seed_is_an_input_and_holds() {
    for target in TARGETS {
        let seeds = seeds(target.name);
        assert!(seeds.len() >= 5, "{} has seeds", target.name);
        for (file, seed) in seeds {
            assert_eq!(caught(|| (target.check)(&seed)), Ok(true), "{file}");
        }
    }
}

/// So that a crash file can be looked at, minimised and kept.
#[rstest]
#[case("streams", "an-open-pass")]
#[case("descriptor", "two-references")]
#[case("layouts", "a-group-after-an-empty-one-follows-the-group-before-it.json")]
#[case("inspect", "an-open-pass")]
fn an_input_is_a_case(#[case] name: &str, #[case] seed: &str) {
    let bytes = fs::read(folder().join("seeds").join(name).join(seed)).expect("the seed");
    let case = (target(name).case)(&bytes).expect("a case");
    match (name, case) {
        ("descriptor", Case::Stream(case)) => assert_eq!(case.descriptors, [bytes]),
        ("streams" | "inspect", Case::Stream(case)) => assert_eq!(case.blob, bytes),
        ("layouts", Case::Layout(case)) => assert_eq!(case.groups.len(), 3),
        (_, other) => panic!("{other:?}"),
    }
}

#[test]
fn every_target_has_a_program_a_dictionary_and_a_row_in_the_documentation() {
    let manifest = fs::read_to_string(folder().join("Cargo.toml")).expect("the manifest");
    let page = fs::read_to_string(folder().join("../docs/fuzzing.md")).expect("the page");
    assert_eq!(manifest.matches("[[bin]]").count(), TARGETS.len());
    for Target { name, .. } in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
        assert!(page.contains(&format!("\n| `{name}` |")), "{name}");
        let dictionary = folder().join("dictionaries").join(name).with_extension("dict");
        assert!(dictionary.is_file(), "{}", dictionary.display());
    }
}

/// wire.md section 2: a blob's dictionary has every opcode, as a little-endian word.
#[test]
fn the_dictionaries_have_every_opcode() {
    let [blobs, texts] = ["decode", "inspect"]
        .map(|name| fs::read_to_string(folder().join(format!("dictionaries/{name}.dict"))).expect("a dictionary"));
    for op in Op::ALL {
        let word = format!("{op}=\"\\x{:02x}\\x00\\x00\\x00\"", op as u32);
        assert!(blobs.contains(&word), "{word}");
        assert!(texts.contains(&format!("\"{op}\"")), "{op}");
    }
}

// Planted faults.

/// CheckRanges that takes everything.
fn takes_all() -> Native {
    Native::with_ranges("takes-all", |_, _, _| Ok(()))
}

/// The sizes slot of the vertex stage is one too high.
struct SizesSlotLate(Native);

impl LayoutReader for SizesSlotLate {
    fn name(&self) -> &str {
        "sizes-slot-late"
    }

    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
        let mut answer = LayoutReader::answer(&mut self.0, case);
        for stage in answer.stages.iter_mut().flatten() {
            stage.sizes_slot = stage.sizes_slot.map(|slot| slot + 1);
        }
        answer
    }
}

/// Binds nothing in the first buffer slot of compute shaders.
struct FirstBufferForgotten(bind::native::Native);

impl BindPlayer for FirstBufferForgotten {
    fn name(&self) -> &str {
        "first-buffer-forgotten"
    }

    fn play(&mut self, case: &BindCase, reads: Reads) -> Result<Vec<Bound>, String> {
        let mut played = self.0.play(case, reads)?;
        for bound in &mut played {
            bound.stages[Stage::Compute as usize].buffers.remove(&0);
        }
        Ok(played)
    }
}

fn with_a_problem(_: &LayoutCase) -> Checked {
    let problem = Problem {
        entry_point: "main".into(),
        stage: Stage::Compute,
        property: 1,
        detail: "another slot".into(),
    };
    let mut checked = Checked::default();
    checked.problems.push(problem);
    checked
}

#[rstest]
#[case::loses_the_last_command("decode", |seed: &[u8]| fuzz::decode::check_with(seed, |words, data_len| {
    let mut cmds = wire::decode(words, data_len)?;
    cmds.pop();
    Ok(cmds)
}))]
#[case::rewrites_the_last_word_too("remap", |seed: &[u8]| fuzz::remap::check_with(seed, |words, data_len, f| {
    wire::remap(words, data_len, f)?;
    words.last_mut().into_iter().for_each(|word| *word ^= 1);
    Ok(())
}))]
#[case::a_byte_past_the_end("ranges", |seed: &[u8]| fuzz::ranges::check_with(seed, |cmds, size, bound| {
    wire::check_ranges(cmds.iter().copied(), |id| size(id).map(|size| size.saturating_add(1)), bound)
}))]
#[case::sums_that_wrap("ranges", |seed: &[u8]| fuzz::ranges::check_with(seed, |cmds, size, bound| {
    let wraps = |cmd: &wire::Cmd<'_>| cmd.op == Op::DispatchIndirect && cmd.u64_at(1).checked_add(12).is_none();
    let kept: Vec<_> = cmds.iter().copied().filter(|cmd| !wraps(cmd)).collect();
    wire::check_ranges(kept, size, bound)
}))]
#[case::rewrites_0_too("descriptor", |seed: &[u8]| fuzz::descriptor::check_with(seed, |bytes, f| {
    wire::remap_descriptor(bytes, &mut *f)?;
    bytes.chunks_exact_mut(4).skip(1).filter(|word| **word == [0; 4]).for_each(|word| word[0] = 1);
    Ok(())
}))]
#[case::takes_every_range("streams", |seed: &[u8]| fuzz::streams::check_with(seed, &mut takes_all()))]
#[case::takes_every_range("replay_js", |seed: &[u8]| fuzz::replay_js::check_with(seed, &mut takes_all()))]
#[case::takes_every_range("gpu_noop", |seed: &[u8]| fuzz::gpu_noop::check_with(seed, &mut takes_all()))]
#[case::the_sizes_slot_late("layouts", |seed: &[u8]| fuzz::layouts::check_with(seed, &mut SizesSlotLate(Native::default())))]
#[case::an_empty_slot("bind", |seed: &[u8]| fuzz::bind::check_with(seed, &mut FirstBufferForgotten(Default::default())))]
// What makes a problem of naga's text is planted in the tests of `oracles::msl`.
#[case::a_problem("msl", |seed: &[u8]| fuzz::msl::check_with(seed, with_a_problem))]
#[case::other_bytes("inspect", |seed: &[u8]| fuzz::inspect::check_with(seed, |said| {
    let mut blob = text::read(said)?;
    blob.last_mut().into_iter().for_each(|byte| *byte ^= 1);
    Ok(blob)
}))]
fn a_planted_fault_is_found(#[case] name: &str, #[case] faulty: fn(&[u8]) -> bool) {
    let found = seeds(name)
        .iter()
        .filter(|(_, seed)| caught(|| faulty(seed)).is_err())
        .count();
    assert!(found > 0, "no seed of {name} shows the fault");
}

// Mutators.

/// What a mutator made of an input; none where it fell back on libFuzzer.
fn mutated(
    input: &[u8],
    mutate: impl Fn(&mut [u8], usize, usize, u32, mutate::Bytes) -> usize,
    seed: u32,
) -> Option<Vec<u8>> {
    let mut buffer = input.to_vec();
    buffer.resize(1 << 16, 0);
    let size = mutate(&mut buffer, input.len(), 1 << 16, seed, |_, _, _| usize::MAX);
    buffer.truncate(size);
    (size != usize::MAX).then_some(buffer)
}

fn fresh_layout(u: &mut Unstructured<'_>) -> arbitrary::Result<Case> {
    Ok(layout::layout_case(u)?.map(Case::Layout).case)
}

/// What makes the fresh cases of a target.
fn fresh(target: &str) -> fn(&mut Unstructured<'_>) -> arbitrary::Result<Case> {
    match target {
        "msl" => |u| Ok(wgsl::shader_case(u)?.map(Case::Layout).case),
        "bind" => |u| Ok(generators::bind::bind_case(u)?.map(Case::Bind).case),
        "gpu_noop" => |u| Ok(generators::streams::replay_case(u)?.map(Case::Stream).case),
        other => panic!("{other} is mutated otherwise"),
    }
}

#[test]
fn a_mutated_stream_keeps_its_commands_and_passes_whole() {
    let mut made = 0;
    for (file, input) in seeds("streams") {
        let refused = |bytes: &[u8]| {
            let blob = Blob::parse(bytes).expect("a blob");
            wire::decode(&blob.words, blob.data.len() as u32)
                .err()
                .map(|refusal| refusal.reason)
        };
        if refused(&input).is_some() {
            continue;
        }
        for seed in 0..2000 {
            let Some(bytes) = mutated(&input, mutate::blob, seed) else {
                continue;
            };
            assert_eq!(
                mutated(&input, mutate::blob, seed).as_ref(),
                Some(&bytes),
                "the same again"
            );
            made += 1;
            assert_ne!(bytes, input, "something is changed");
            let broken = [
                Reason::UnknownOp,
                Reason::WrongContext,
                Reason::Truncated,
                Reason::OpenPass,
            ];
            let found = refused(&bytes);
            assert!(
                found.is_none_or(|reason| !broken.contains(&reason)),
                "{file}, {seed}: {found:?}"
            );
        }
    }
    // One in 16 is left to libFuzzer.
    assert!(made > 14_000, "{made}");
}

#[test]
fn two_streams_are_spliced_between_their_passes() {
    let streams: Vec<Vec<u8>> = seeds("streams").into_iter().map(|(_, seed)| seed).collect();
    let longest = |bytes: &[u8]| Blob::parse(bytes).map_or(0, |blob| blob.words.len());
    let first = streams.iter().max_by_key(|bytes| longest(bytes)).expect("a seed");
    for second in &streams {
        for seed in 0..200 {
            let mut out = [0; 4096];
            let size = mutate::splice(first, second, &mut out, seed);
            let blob = Blob::parse(&out[..size]).expect("a blob");
            let refused = wire::decode(&blob.words, blob.data.len() as u32).err();
            let own = Blob::parse(second).map(|own| {
                wire::decode(&own.words, own.data.len() as u32)
                    .err()
                    .map(|refused| refused.reason)
            });
            assert!(
                refused.is_none_or(|refused| Ok(Some(refused.reason)) == own),
                "{refused:?}"
            );
        }
    }
}

#[test]
fn a_mutated_case_is_a_case() {
    let mutate = |data: &mut [u8], size, most, seed, bytes| mutate::case(data, size, most, seed, bytes, fresh_layout);
    let (mut made, mut cases) = (0, 0);
    for (_, input) in seeds("layouts") {
        for seed in 0..100 {
            let Some(bytes) = mutated(&input, mutate, seed) else {
                continue;
            };
            assert_eq!(mutated(&input, mutate, seed).as_ref(), Some(&bytes), "the same again");
            made += 1;
            cases += u32::from((target("layouts").case)(&bytes).is_some());
        }
    }
    assert!(made > 1000 && cases > made / 2, "{cases} of {made}");
}

/// Without its file being read: so the two must say the same. Most have few entries, and some many.
#[test]
fn a_mutated_layout_is_handed_over_as_its_file_has_it() {
    let (mut made, mut few) = (0, 0);
    for (_, input) in seeds("layouts") {
        for seed in 0..1000 {
            let Some(bytes) = mutated(&input, mutate::layout, seed) else {
                continue;
            };
            let case = mutate::handed_over(&bytes).expect("a layout case");
            let entries = case.groups.iter().flatten().map(Vec::len).sum::<usize>();
            assert_eq!((target("layouts").case)(&bytes), Some(Case::Layout(case)));
            assert_eq!(
                mutated(&input, mutate::layout, seed).as_ref(),
                Some(&bytes),
                "the same again"
            );
            made += 1;
            few += u32::from(entries <= 6);
        }
    }
    assert!(made > 10_000 && few < made && few > made * 9 / 10, "{few} of {made}");
}

/// A bit changed, as the number says.
fn one_bit(bytes: &mut [u8], number: u32) {
    let at = (number.wrapping_mul(0x9E37_79B9) >> 3) as usize % bytes.len().max(1);
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << (number % 8);
    }
}

/// What stands in for libFuzzer's own mutation, where a mutator leaves it to that.
fn bytes(data: &mut [u8], size: usize, _: usize) -> usize {
    let sum = data[..size]
        .iter()
        .fold(0, |sum: u32, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    one_bit(&mut data[..size], sum);
    size
}

/// wgpu-hal may give a task or mesh stage that sees anything the acceleration structure, and panics.
#[rstest]
#[case::seen_by_the_task_stage("TASK", false)]
#[case::seen_by_none("VERTEX", true)]
fn a_bind_that_wgpu_hal_panics_over_is_not_taken(#[case] visibility: &str, #[case] taken: bool) {
    let buffer = json!({"Buffer": {"ty": "Uniform", "has_dynamic_offset": false, "min_binding_size": null}});
    let entries = json!([
        {"binding": 0, "visibility": "VERTEX", "ty": {"AccelerationStructure": {"vertex_return": false}}, "count": null},
        {"binding": 1, "visibility": visibility, "ty": buffer, "count": null},
    ]);
    let case = json!({"group_layouts": [entries], "groups": [], "layouts": [], "pipelines": [], "commands": []});
    let file = json!({"format": 1, "case": {"bind": case}}).to_string();
    assert_eq!(fuzz::bind::check(file.as_bytes()), taken);
}

/// What CI runs in the place of a fuzzer: mutations of mutations of each seed, the same every time, from the seed again where one is no
/// input of the target. So many in a hundred at least are inputs.
#[rstest]
#[case("decode", 2_000, 99)]
#[case("streams", 500, 99)]
#[case("remap", 1_000, 99)]
#[case("ranges", 1_000, 99)]
#[case("descriptor", 2_000, 99)]
#[case("replay_js", 300, 99)]
#[case("layouts", 200, 90)]
#[case("msl", 20, 50)]
#[case("bind", 100, 15)]
#[case("gpu_noop", 50, 70)]
#[case("inspect", 300, 99)]
fn mutations_of_each_seed_hold(#[case] name: &str, #[case] mutations: u32, #[case] percent: u32) {
    let target = target(name);
    let (mut buffer, mut taken) = (vec![0; 1 << 16], 0);
    for (file, input) in seeds(name) {
        let mut size = 0;
        for seed in 0..mutations {
            if size == 0 {
                size = input.len();
                buffer[..size].copy_from_slice(&input);
            }
            let most = buffer.len();
            match name {
                "decode" | "descriptor" => one_bit(&mut buffer[..size], seed),
                "layouts" => size = mutate::layout(&mut buffer, size, most, seed, bytes),
                "msl" | "bind" | "gpu_noop" => {
                    size = mutate::case(&mut buffer, size, most, seed, bytes, fresh(name));
                }
                _ => size = mutate::blob(&mut buffer, size, most, seed, bytes),
            }
            match caught(|| (target.check)(&buffer[..size])) {
                Ok(true) => taken += 1,
                Ok(false) => size = 0,
                Err(panic) => panic!(
                    "{file}, mutation {seed}: {panic}\n{}",
                    String::from_utf8_lossy(&buffer[..size])
                ),
            }
        }
    }
    let made = mutations * seeds(name).len() as u32;
    assert!(taken >= made * percent / 100, "{name} took {taken} of {made}");
}
