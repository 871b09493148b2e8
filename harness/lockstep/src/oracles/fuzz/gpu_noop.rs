//! The file of a stream case, replayed on wgpu's noop backend, which validates all and executes nothing.
//!
//! **Catches** a range that CheckRanges lets through and wgpu refuses, or the other way round; what the two proofs of the strict check
//! ([`strict`]) catch; a panic of the shadow. **Does not catch** wrong bytes, since nothing is executed, nor a device that is
//! lost to an overflow in wgpu: cargo-fuzz builds it with overflow checks, and its `draw_indexed` panics over a range that wraps around
//! 32 bits. The campaign reports both; any other lost device is a fault here too.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use super::stream_case;
use crate::gpu::Outcome;
use crate::gpu::engine::{Engine, EngineId};
use crate::gpu::wgpu_engine::WgpuEngine;
use crate::oracles::gpu::Asked;
use crate::oracles::strict::{self, Said};
use crate::readers::native::Native;
use crate::readers::{StreamReader, ask};

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, &mut Native::default())
}

thread_local! {
    /// Not dropped: at the thread's end wgpu may look into thread locals of its own that are gone by then, and its panic would be
    /// libFuzzer's last word.
    static ENGINE: ManuallyDrop<RefCell<WgpuEngine>> = ManuallyDrop::new(RefCell::new(noop()));
}

fn noop() -> WgpuEngine {
    WgpuEngine::open("wgpu:noop").expect("wgpu's noop backend needs nothing of the machine")
}

/// The same with another reader.
pub fn check_with(bytes: &[u8], subject: &mut dyn StreamReader) -> bool {
    let Some(case) = stream_case(bytes) else {
        return false;
    };
    let answers = ask::case(subject, &case, None).expect("an answer as PROTOCOL.md has it");
    let Some(asked) = answers.stream.as_ref().and_then(|answer| Asked::new(&case, answer)) else {
        return false;
    };
    let said = Said::of(asked.cmds(), &case.objects);
    // No more is asked of it than that nothing panics.
    let _ = asked.shadow();
    let (about, found): (EngineId, [Option<String>; 2]) = ENGINE.with(|engine| {
        let engine = &mut *engine.borrow_mut();
        let about = engine.about().clone();
        let outcome = engine.replay(&asked.request());
        if outcome.lost && overflowed(&outcome) {
            return (about, [None, None]);
        }
        let judged = asked.judge(&about, &outcome);
        let ranges = judged
            .signature("native", &about.id)
            .map(|signature| format!("{signature}: {}", judged.detail));
        let strictly = strict::judge_with_probe(&said, engine, &asked.request(), &outcome);
        let strictly = strictly.and_then(|judged| judged.signature(&about.id));
        (about, [ranges, strictly])
    });
    assert_eq!(found, [None, None], "{}", about.id);
    true
}

/// Whether wgpu panicked over a sum or a difference, as only a build with overflow checks does.
fn overflowed(outcome: &Outcome) -> bool {
    let message = outcome.trouble.as_ref().map_or("", |trouble| &trouble.message);
    message.contains("attempt to ") && message.contains("with overflow")
}
