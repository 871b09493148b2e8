//! A reader that is wrong on purpose is found out, by the comparison and by the GPU, each alone.
//!
//! The wrong reader is the native one, but that it lets DispatchIndirect begin where only 8 of its 12 bytes are left. Another one
//! replays baseVertex unsigned, and five have one fault each in a copy of the ranges check. A wgpu-hal with one rule changed is found out
//! too.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use lockstep::campaign::{self, Budget, Cast, Plan};
use lockstep::case::{BufferFacts, LayoutCase};
use lockstep::generators::Lane;
use lockstep::gpu::wgpu_engine::WgpuEngine;
use lockstep::oracles::slots::SlotsCompared;
use lockstep::readers::layouts::{LayoutAnswer, LayoutReader};
use lockstep::readers::native::{CheckRanges, Native};
use lockstep::readers::replay_js::replay_js;
use lockstep::readers::slot_upstream::SlotUpstream;
use lockstep::readers::{Batch, BatchAnswers, ReaderFailed, StreamReader};
use lockstep::report::results::Results;
use lockstep::setup;
use rstest::rstest;
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
        outside: false,
        references: Vec::new(),
        layout_subject: Box::new(|| Box::new(Native::default())),
        layout_references: Vec::new(),
        apple: None,
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

/// The machine's best adapter and the noop backend.
fn engines() -> Vec<String> {
    let available = WgpuEngine::available();
    let gpu = available
        .iter()
        .find(|engine| engine.executes)
        .expect("a GPU adapter; `cargo lockstep doctor` says more");
    vec![gpu.id.clone(), "wgpu:noop".into()]
}

/// Whether it is in the place of the crates or not.
#[rstest]
fn the_gpu_finds_it_alone(#[values(false, true)] outside: bool) {
    let mut cast = wrong_reader();
    cast.outside = outside;
    cast.engines = engines();
    cast.engines.truncate(1);
    let gpu = cast.engines[0].clone();
    let results = campaign_of(4096, cast, &[Lane::Replays]);
    let due = format!("gpu: eight-bytes on {gpu}: accepted DispatchIndirect and the GPU refuses its range");
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
        let due = "slots: native vs slot-upstream: other slots";
        assert!(found.contains(&due), "{name}: {found:?}");
    }
    let mut cast = wrong_reader();
    cast.layout_references = vec![Box::new(|| Box::new(SlotUpstream::locked()))];
    let results = campaign_of(512, cast, &[Lane::Layouts]);
    assert_eq!(signatures(&results), [""; 0], "the right one is not");
}

/// wgpu-hal's functions, but that each MSL version from 2.1 on is a minor version lower.
struct VersionTooLow(SlotUpstream);

impl LayoutReader for VersionTooLow {
    fn name(&self) -> &str {
        "too-low"
    }

    fn answer(&mut self, case: &LayoutCase) -> LayoutAnswer {
        let mut answer = self.0.answer(case);
        let system = &mut answer.system;
        if let (major @ 2.., minor @ 1..) = system.language_version {
            system.language_version = (major, minor - 1);
            system.compile_language_version -= 1;
        }
        answer
    }

    fn compare(&self, case: &LayoutCase, subject: &LayoutAnswer, own: &LayoutAnswer) -> SlotsCompared {
        self.0.compare(case, subject, own)
    }
}

/// Whatever versions the cases have.
#[test]
fn one_fault_in_the_versions_is_one_finding() {
    let mut cast = wrong_reader();
    cast.layout_references = vec![Box::new(|| Box::new(VersionTooLow(SlotUpstream::locked())))];
    let results = campaign_of(512, cast, &[Lane::Layouts]);
    let due = "version: native vs too-low: other LanguageVersion";
    assert_eq!(signatures(&results), [due]);
    assert!(results.findings[0].seen > 100, "{:?}", results.findings);
}

/// What is wrong in a copy of the ranges check.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// DrawIndirect reads 12 bytes, not 16.
    TwelveForSixteen,
    /// A range that ends where its buffer does is refused: `size <= end` for `size < end`.
    LessOrEqual,
    /// offset + length is taken modulo 2^32.
    SumOf32Bits,
    /// A copy's destination is not looked at.
    DestinationUnchecked,
    /// DrawIndexedIndirect reads 16 bytes, as DrawIndirect does, not 20.
    IndexedAsSixteen,
}

/// wire.md section 5, with one fault.
fn faulty(
    fault: Fault,
    cmds: &[Cmd<'_>],
    buffers: &BTreeMap<u32, BufferFacts>,
    bound: u32,
) -> Result<(), RangeRefusal> {
    let most = if bound == 0 { 65535 } else { bound };
    let range = |id: u32, offset: u64, length: u64| {
        let Some(buffer) = buffers.get(&id) else {
            return Err(Reason::NotABuffer);
        };
        let end = match fault {
            Fault::SumOf32Bits => u64::from((offset as u32).wrapping_add(length as u32)),
            _ => offset + length,
        };
        let outside = match fault {
            Fault::LessOrEqual => buffer.size <= end,
            _ => buffer.size < end,
        };
        if outside { Err(Reason::OutOfRange) } else { Ok(()) }
    };
    let check = |cmd: &Cmd<'_>| match cmd.op {
        Op::WriteBuffer => range(cmd.args[0], cmd.u64_at(1), u64::from(cmd.args[4])),
        Op::CopyBufferToBuffer => {
            range(cmd.args[0], cmd.u64_at(1), cmd.u64_at(6))?;
            if fault == Fault::DestinationUnchecked {
                return Ok(());
            }
            range(cmd.args[3], cmd.u64_at(4), cmd.u64_at(6))
        }
        Op::DispatchIndirect => range(cmd.args[0], cmd.u64_at(1), 12),
        Op::DrawIndirect if fault == Fault::TwelveForSixteen => range(cmd.args[0], cmd.u64_at(1), 12),
        Op::DrawIndexedIndirect if fault != Fault::IndexedAsSixteen => range(cmd.args[0], cmd.u64_at(1), 20),
        Op::DrawIndirect | Op::DrawIndexedIndirect => range(cmd.args[0], cmd.u64_at(1), 16),
        Op::Dispatch if cmd.args.iter().any(|&count| count > most) => Err(Reason::TooManyWorkgroups),
        _ => Ok(()),
    };
    for (command, cmd) in cmds.iter().enumerate() {
        let op = cmd.op;
        check(cmd).map_err(|reason| RangeRefusal { command, op, reason })?;
    }
    Ok(())
}

fn check_with(fault: Fault) -> CheckRanges {
    match fault {
        Fault::TwelveForSixteen => |cmds, buffers, bound| faulty(Fault::TwelveForSixteen, cmds, buffers, bound),
        Fault::LessOrEqual => |cmds, buffers, bound| faulty(Fault::LessOrEqual, cmds, buffers, bound),
        Fault::SumOf32Bits => |cmds, buffers, bound| faulty(Fault::SumOf32Bits, cmds, buffers, bound),
        Fault::DestinationUnchecked => |cmds, buffers, bound| faulty(Fault::DestinationUnchecked, cmds, buffers, bound),
        Fault::IndexedAsSixteen => |cmds, buffers, bound| faulty(Fault::IndexedAsSixteen, cmds, buffers, bound),
    }
}

/// The comparison is switched off: there are no references.
#[rstest]
#[case::twelve_for_sixteen(Fault::TwelveForSixteen, &["accepted DrawIndirect and the GPU refuses its range"])]
#[case::less_or_equal(Fault::LessOrEqual, &[
    "refused out-of-range WriteBuffer and the GPU takes it",
    "refused out-of-range CopyBufferToBuffer and the GPU takes it",
    "refused out-of-range DispatchIndirect and the GPU takes it",
    "refused out-of-range DrawIndirect and the GPU takes it",
    "refused out-of-range DrawIndexedIndirect and the GPU takes it",
])]
#[case::sum_of_32_bits(Fault::SumOf32Bits, &[
    "accepted WriteBuffer and the GPU refuses its range",
    "accepted CopyBufferToBuffer and the GPU refuses its range",
    "accepted DispatchIndirect and the GPU refuses its range",
    "accepted DrawIndirect and the GPU refuses its range",
    "accepted DrawIndexedIndirect and the GPU refuses its range",
])]
#[case::destination_unchecked(Fault::DestinationUnchecked, &["accepted CopyBufferToBuffer and the GPU refuses its range"])]
#[case::indexed_as_sixteen(Fault::IndexedAsSixteen, &["accepted DrawIndexedIndirect and the GPU refuses its range"])]
fn the_gpu_finds_a_fault_of_the_ranges_check_alone(#[case] fault: Fault, #[case] due: &[&str]) {
    let mut cast = wrong_reader();
    cast.subject = Box::new(move || Box::new(Native::with_ranges("faulty", check_with(fault))));
    cast.engines = engines();
    let engines = cast.engines.clone();
    let results = campaign_of(65536, cast, &[Lane::Replays]);
    let found = signatures(&results);
    // The noop backend gets every case, the adapter one in eight.
    let on = |engine: &str| -> Vec<String> {
        due.iter()
            .map(|what| format!("gpu: faulty on {engine}: {what}"))
            .collect()
    };
    let (adapter, noop) = (on(&engines[0]), on(&engines[1]));
    assert!(noop.iter().all(|due| found.contains(&due.as_str())), "{found:?}");
    assert!(adapter.iter().any(|due| found.contains(&due.as_str())), "{found:?}");
    let is_the_fault = |found: &&str| adapter.iter().chain(&noop).any(|due| due == *found);
    assert!(found.iter().all(is_the_fault), "and nothing else: {found:?}");
}
