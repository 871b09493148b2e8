//! Any bytes as a blob and as a descriptor: `reference/replay.js`, the very file, in QuickJS in this process, against `wire`.
//!
//! The coverage of the Rust side steers the fuzzer, so that what makes a difference there is put to both readers.
//!
//! **Catches** any difference in word, opcode and reason of Decode, Remap, CheckRanges and the read check, in rewritten words and in reads,
//! over the table of [`table`]; in Split and RemapDescriptor likewise. **Does not catch** what both have wrong, nor calls: the campaign
//! compares them under deno.

use std::cell::RefCell;

use rquickjs::{CatchResultExt as _, Context, Ctx, Function, Module, Persistent, Runtime, TypedArray};
use serde_json::json;
use wire::Reason;

use super::table;
use crate::readers::answer::{AnswerWriter, StreamAnswer};
use crate::readers::native::{Native, granted};
use crate::readers::{StreamReader, ask};

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, &mut Native::default())
}

/// The same with another reader in `wire`'s place.
pub fn check_with(bytes: &[u8], reader: &mut dyn StreamReader) -> bool {
    let batch = crate::readers::Batch::of([&table::case(bytes)]);
    let own = ask::batch(reader, &batch).expect("an answer").streams.swap_remove(0);
    QUICKJS.with_borrow(|quickjs| {
        let other = quickjs.answer("stream", bytes).0;
        if own != other {
            let [own, other] = [own, other].map(|answer| StreamAnswer::parse(&answer));
            assert_eq!(own, other, "replay.js");
            panic!("answers that differ and say the same");
        }
        assert_eq!(
            descriptor(bytes),
            quickjs.answer("descriptor", bytes),
            "replay.js, a descriptor"
        );
    });
    true
}

/// What `replay_js.js` says of a descriptor, from `wire`: the answer and the bytes, rewritten where nothing is refused.
fn descriptor(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let mut answer = AnswerWriter::default();
    let mut rewritten = bytes.to_vec();
    match wire::split_descriptor(bytes) {
        Err(refused) => {
            answer.word(1);
            answer.word(refused.reason as u32);
        }
        Ok((references, body)) => {
            answer.word(0);
            answer.words(&references);
            answer.word(body.len() as u32);
            match wire::remap_descriptor(&mut rewritten, |guest| granted(&table::ID_MAP, guest)) {
                Ok(()) => answer.word(0),
                Err(refused) => {
                    answer.word(1);
                    answer.word(refused.reason as u32);
                    answer.word(refused.reference.unwrap_or(0) as u32);
                }
            }
        }
    }
    (answer.finish(), rewritten)
}

thread_local! {
    static QUICKJS: RefCell<QuickJs> = RefCell::new(QuickJs::new());
}

/// `replay.js` and `replay_js.js`, loaded.
struct QuickJs {
    answer: Persistent<Function<'static>>,
    context: Context,
}

impl QuickJs {
    fn new() -> QuickJs {
        let runtime = Runtime::new().expect("memory for QuickJS");
        let context = Context::full(&runtime).expect("memory for QuickJS");
        let answer = context.with(|ctx| {
            let loaded = load(&ctx).catch(&ctx);
            loaded.unwrap_or_else(|error| panic!("replay.js does not load in QuickJS: {error}"))
        });
        QuickJs { answer, context }
    }

    /// The answer and what became of the bytes. The machine is little-endian, as PROTOCOL.md is.
    fn answer(&self, kind: &str, bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        self.context.with(|ctx| {
            let ask = || {
                let bytes = TypedArray::<u8>::new_copy(ctx.clone(), bytes)?;
                let answer: TypedArray<'_, u32> = self.answer.clone().restore(&ctx)?.call((kind, bytes.clone()))?;
                let held = |bytes: Option<&[u8]>| bytes.unwrap_or_default().to_vec();
                // SAFETY: no JavaScript runs while the bytes are copied.
                Ok(unsafe { (held(answer.as_bytes()), held(bytes.as_bytes())) })
            };
            ask()
                .catch(&ctx)
                .unwrap_or_else(|error| panic!("replay.js throws: {error}"))
        })
    }
}

fn load(ctx: &Ctx<'_>) -> rquickjs::Result<Persistent<Function<'static>>> {
    let buffers: Vec<_> = table::BUFFERS
        .iter()
        .map(|buffer| json!({"id": buffer.id, "usage": buffer.usage, "size": buffer.size}))
        .collect();
    let host = json!({"ids": *table::ID_MAP, "buffers": buffers, "bound": 0, "window": table::WINDOW});
    let reasons: serde_json::Map<_, _> = Reason::ALL
        .iter()
        .map(|reason| (reason.to_string(), json!(*reason as u32)))
        .collect();
    for (name, value) in [("host", host), ("REASONS", json!(reasons))] {
        ctx.globals().set(name, ctx.json_parse(value.to_string())?)?;
    }
    // QuickJS has none, and only the bodies of object tables, which are not asked about here, are read by it.
    ctx.eval::<(), _>("globalThis.TextDecoder = class {}")?;
    let reference = include_str!("../../../../../reference/replay.js");
    Module::declare(ctx.clone(), "replay.js", reference)?;
    Module::evaluate(ctx.clone(), "replay_js.js", include_str!("replay_js.js"))?.finish::<()>()?;
    let answer: Function<'_> = ctx.globals().get("answer")?;
    Ok(Persistent::save(ctx, answer))
}
