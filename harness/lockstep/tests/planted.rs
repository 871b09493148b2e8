//! A reader that is wrong on purpose is found out, by the comparison and by the GPU, each alone.
//!
//! The wrong reader is the native one, but that it lets DispatchIndirect begin where only 8 of its 12 bytes are left. Another one
//! replays baseVertex unsigned. A wgpu-hal with one rule changed is found out too.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use lockstep::campaign::{self, Budget, Cast, Plan};
use lockstep::case::BufferFacts;
use lockstep::generators::Lane;
use lockstep::gpu::engine::Engine;
use lockstep::readers::native::Native;
use lockstep::readers::replay_js::replay_js;
use lockstep::readers::slot_upstream::SlotUpstream;
use lockstep::readers::{Batch, BatchAnswers, ReaderFailed, StreamReader};
use lockstep::report::results::Results;
use lockstep::setup;
use slot_upstream::planted::RULES;
use wire::{Cmd, Op, RangeRefusal, Reason};

/// wire.md section 5 with 8 in place of 12: "DispatchIndirect: offset + 12 <= size".
fn eight_bytes(cmds: &[Cmd<'_>], buffers: &BTreeMap<u32, BufferFacts>, bound: u32) -> Result<(), RangeRefusal> {
    for (command, cmd) in cmds.iter().enumerate() {
        let one = std::slice::from_ref(cmd);
        let checked = lockstep::readers::native::check_ranges(one, buffers, bound);
        let enough = |size: u64| cmd.u64_at(1).checked_add(8).is_some_and(|end| end <= size);
        let passes =
            cmd.op == Op::DispatchIndirect && buffers.get(&cmd.args[0]).is_some_and(|buffer| enough(buffer.size));
        match checked {
            Err(refused) if !(passes && refused.reason == Reason::OutOfRange) => {
                return Err(RangeRefusal { command, ..refused });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Some two seconds of cases on two cores, always the same ones.
fn campaign(cast: Cast, lanes: &[Lane]) -> Results {
    campaign_of(16384, cast, lanes)
}

fn campaign_of(cases: u64, cast: Cast, lanes: &[Lane]) -> Results {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = Plan {
        seed: 1,
        budget: Budget::Cases(cases),
        workers: 2,
        lanes: lanes.to_vec(),
        shard: (0, 1),
        findings: folder.path().to_path_buf(),
    };
    campaign::run(&plan, &cast, &AtomicBool::new(false), &mut |_| {})
}

fn wrong_reader() -> Cast {
    Cast {
        subject: Box::new(|| Box::new(Native::with_ranges("eight-bytes", eight_bytes))),
        references: Vec::new(),
        layout_subject: Box::new(|| Box::new(Native::default())),
        layout_references: Vec::new(),
        bind_subject: Box::new(|| Box::new(lockstep::bind::native::Native::default())),
        engines: Vec::new(),
        not_run: Vec::new(),
    }
}

fn signatures(results: &Results) -> Vec<&str> {
    results
        .findings
        .iter()
        .map(|finding| finding.signature.as_str())
        .collect()
}

#[test]
fn the_comparison_finds_it() {
    let parts = setup::look();
    let deno = parts.deno.expect("deno, which `cargo lockstep test` brings");
    let mut cast = wrong_reader();
    cast.references
        .push(Box::new(move || Box::new(replay_js(&parts.root, &deno))));
    let results = campaign(cast, &[Lane::Streams]);
    let found = signatures(&results);
    assert!(
        found.contains(&"ranges: eight-bytes vs replay-js: accept vs out-of-range DispatchIndirect"),
        "{found:?}"
    );
    let is_the_fault = |signature: &&str| signature.starts_with("ranges:") && signature.contains("DispatchIndirect");
    assert!(
        found.iter().all(is_the_fault),
        "the readers agree on all the rest: {found:?}"
    );
}

/// The native reader, but for two baseVertices below 0.
struct Unsigned(Native);

impl StreamReader for Unsigned {
    fn name(&self) -> &str {
        "unsigned"
    }

    fn ask(&mut self, batch: &Batch) -> Result<(), ReaderFailed> {
        self.0.ask(batch)
    }

    fn hear(&mut self) -> Result<BatchAnswers, ReaderFailed> {
        let mut answers = self.0.hear()?;
        for calls in &mut answers.calls {
            let text = String::from_utf8_lossy(calls);
            let text = text
                .replace(",-1,", ",4294967295,")
                .replace(",-2147483648,", ",2147483648,");
            *calls = text.into_bytes();
        }
        Ok(answers)
    }
}

#[test]
fn the_calls_show_it() {
    let parts = setup::look();
    let deno = parts.deno.expect("deno, which `cargo lockstep test` brings");
    let mut cast = wrong_reader();
    cast.subject = Box::new(|| Box::new(Unsigned(Native::default())));
    cast.references
        .push(Box::new(move || Box::new(replay_js(&parts.root, &deno))));
    let results = campaign(cast, &[Lane::Streams]);
    let due = "calls: unsigned vs replay-js: both drawIndexed, elsewhere or otherwise";
    assert_eq!(signatures(&results), [due], "and nothing else");
}

#[test]
fn the_gpu_finds_it_alone() {
    let available = Engine::available();
    let gpu = available
        .iter()
        .find(|engine| engine.executes)
        .expect("a GPU adapter; `cargo lockstep doctor` says more");
    let mut cast = wrong_reader();
    cast.engines = vec![gpu.id.clone()];
    let results = campaign(cast, &[Lane::Replays]);
    let due = format!(
        "gpu: eight-bytes on {}: accepted DispatchIndirect and the GPU refuses its range",
        gpu.id
    );
    assert_eq!(signatures(&results), [due.as_str()], "and nothing else");
}

/// wgpu-hal with samplers counted with textures, its groups in reverse, or the sizes slot first. 512 layouts take a hundredth of a second.
#[test]
fn a_changed_wgpu_hal_is_told_apart() {
    for (name, upstream) in RULES {
        let mut cast = wrong_reader();
        cast.layout_references = vec![Box::new(move || Box::new(SlotUpstream(upstream)))];
        let results = campaign_of(512, cast, &[Lane::Layouts]);
        let found = signatures(&results);
        let due = "slots: native vs slot-upstream: in the fragment stage";
        assert!(found.contains(&due), "{name}: {found:?}");
    }
    let mut cast = wrong_reader();
    cast.layout_references = vec![Box::new(|| Box::new(SlotUpstream::locked()))];
    let results = campaign_of(512, cast, &[Lane::Layouts]);
    assert_eq!(signatures(&results), [""; 0], "the right one is not");
}
