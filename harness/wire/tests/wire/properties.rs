//! What holds for every stream, tried on streams made from the table of layouts, on broken ones and on noise.
//!
//! The second reader here goes by [`layout`] and nothing else, slowly; the crate's own matcher must agree with it.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use wire::{
    Arg, ArgKind, Blob, Context, Op, Reason, Refusal, append_descriptor, check_ranges, commands, decode, decode_bundle,
    encode_blob, layout, remap, remap_bundle, remap_descriptor, remap_reads, split_descriptor,
};

const DATA_LEN: u32 = 64;

type Command = (Op, Vec<u32>);

/// Words of one argument that check 7 accepts.
fn argument(arg: &Arg) -> BoxedStrategy<Vec<u32>> {
    match arg.kind {
        ArgKind::Id(_) => prop_oneof![1..20u32, 1..=u32::MAX].prop_map(|id| vec![id]).boxed(),
        ArgKind::OptionalId(_) => prop_oneof![0..20u32, any::<u32>()].prop_map(|id| vec![id]).boxed(),
        ArgKind::U32 | ArgKind::I32 => prop_oneof![0..64u32, any::<u32>()].prop_map(|word| vec![word]).boxed(),
        ArgKind::F32 => {
            let finite = proptest::num::f32::NORMAL | proptest::num::f32::SUBNORMAL | proptest::num::f32::ZERO;
            finite.prop_map(|float| vec![float.to_bits()]).boxed()
        }
        ArgKind::U64 => (any::<u32>(), 0..1u32 << 21)
            .prop_map(|(low, high)| vec![low, high])
            .boxed(),
        ArgKind::Enum(enumeration) => select(enumeration.values).prop_map(|(word, _)| vec![word]).boxed(),
        ArgKind::Bool => (0..2u32).prop_map(|word| vec![word]).boxed(),
        ArgKind::List { item, .. } => {
            let items = vec(arguments(item), 0..4);
            items
                .prop_map(|items| [vec![items.len() as u32], items.concat()].concat())
                .boxed()
        }
        ArgKind::Optional(inner) => {
            let there = arguments(inner).prop_map(|words| [vec![1], words].concat());
            prop_oneof![Just(vec![0]), there].boxed()
        }
    }
}

fn arguments(args: &[Arg]) -> BoxedStrategy<Vec<u32>> {
    let start = Just(Vec::new()).boxed();
    args.iter().fold(start, |before, arg| {
        (before, argument(arg)).prop_map(|(a, b)| [a, b].concat()).boxed()
    })
}

/// A command of one of `ops` that all checks accept.
fn command(ops: Vec<Op>) -> impl Strategy<Value = Command> {
    select(ops).prop_flat_map(|op| arguments(layout(op)).prop_map(move |args| (op, repaired(op, args))))
}

/// Makes the arguments of a transfer fit checks 8 to 10.
fn repaired(op: Op, mut args: Vec<u32>) -> Vec<u32> {
    match op {
        Op::WriteBuffer => {
            args[3] %= DATA_LEN + 1;
            args[4] = args[4] % (DATA_LEN - args[3] + 1) / 4 * 4;
        }
        Op::WriteTexture => {
            args[6] %= DATA_LEN + 1;
            args[7] %= DATA_LEN - args[6] + 1;
        }
        Op::ReadBuffer => {
            args[1] = args[1] / 8 * 8;
            args[3] = (args[3] % 1024 + 1) * 4;
            args[4] %= (64 << 20) - args[3] + 1;
        }
        _ => {}
    }
    args
}

fn inside(context: Context) -> Vec<Op> {
    let within =
        |op: &Op| op.allowed_in(context) && !matches!(op, Op::EndPass | Op::BeginRenderPass | Op::BeginComputePass);
    Op::ALL.into_iter().filter(within).collect()
}

fn pass(begin: Op, context: Context) -> impl Strategy<Value = Vec<Command>> {
    let middle = vec(command(inside(context)), 0..12);
    (command(vec![begin]), middle).prop_map(|(begin, middle)| {
        let end = (Op::EndPass, vec![]);
        std::iter::once(begin).chain(middle).chain([end]).collect()
    })
}

fn stream() -> impl Strategy<Value = Vec<Command>> {
    let part = prop_oneof![
        2 => command(inside(Context::Outside)).prop_map(|command| vec![command]),
        1 => pass(Op::BeginRenderPass, Context::Render),
        1 => pass(Op::BeginComputePass, Context::Compute),
    ];
    vec(part, 0..8).prop_map(|parts| parts.concat())
}

fn encode(commands: &[Command]) -> Vec<u32> {
    commands
        .iter()
        .flat_map(|(op, args)| [&[op.word()], &args[..]].concat())
        .collect()
}

/// Words that are often near something.
fn word() -> impl Strategy<Value = u32> {
    let edges = vec![
        0x001F_FFFF,
        0x0020_0000,
        0x7F80_0000,
        65536,
        65537,
        0x03FF_FFFC,
        0x0400_0000,
        u32::MAX,
    ];
    prop_oneof![4 => 0..50u32, 1 => select(edges), 1 => any::<u32>()]
}

/// An accepted stream with some words replaced, removed or put in.
fn broken() -> impl Strategy<Value = Vec<u32>> {
    let edits = vec((any::<Index>(), 0..4u32, word()), 0..3);
    (stream(), edits).prop_map(|(commands, edits)| {
        let mut words = encode(&commands);
        for (place, what, word) in edits {
            let at = place.index(words.len() + 1);
            match what {
                0 => words.insert(at, word),
                1 if at < words.len() => drop(words.remove(at)),
                _ if at < words.len() => words[at] = word,
                _ => words.push(word),
            }
        }
        words
    })
}

fn any_words() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![3 => broken(), 1 => vec(word(), 0..64), 1 => vec(any::<u32>(), 0..16)]
}

// The second reader.

type Fault = (usize, Reason);

/// Words that arguments take at least: a list its count, an optional part its flag.
fn least(args: &[Arg]) -> usize {
    args.iter()
        .map(|arg| if arg.kind == ArgKind::U64 { 2 } else { 1 })
        .sum()
}

/// Checks 3 to 6 of the command that `words` begins with; the number of its words.
fn counted(op: Op, words: &[u32]) -> Result<usize, Fault> {
    let args = layout(op);
    let is_list = |arg: &Arg| matches!(arg.kind, ArgKind::List { .. });
    let upto = args.iter().position(is_list).map_or(args.len(), |list| list + 1);
    let mut length = 1 + least(&args[..upto]);
    let have = |length: usize| {
        if length <= words.len() {
            Ok(())
        } else {
            Err((0, Reason::Truncated))
        }
    };
    have(length)?;
    if let Some(Arg {
        kind: ArgKind::List { limit, item },
        ..
    }) = args[..upto].last()
    {
        let count = words[length - 1];
        if count > *limit {
            return Err((length - 1, Reason::TooMany));
        }
        length += count as usize * least(item) + least(&args[upto..]);
        have(length)?;
    }
    if let Some(Arg {
        kind: ArgKind::Optional(inner),
        ..
    }) = args.last()
    {
        match words[length - 1] {
            0 => {}
            1 => length += least(inner),
            _ => return Err((length - 1, Reason::BadFlag)),
        }
        have(length)?;
    }
    Ok(length)
}

/// Each argument with the word it starts at, lists and optional parts spread out.
fn spread(args: &'static [Arg], words: &[u32], at: &mut usize, out: &mut Vec<(usize, Arg)>) {
    for arg in args {
        let first = words[*at];
        out.push((*at, *arg));
        *at += if arg.kind == ArgKind::U64 { 2 } else { 1 };
        match arg.kind {
            ArgKind::List { item, .. } => (0..first).for_each(|_| spread(item, words, at, out)),
            ArgKind::Optional(inner) if first == 1 => spread(inner, words, at, out),
            _ => {}
        }
    }
}

fn well_formed(words: &[u32], at: usize, arg: Arg) -> Result<(), Reason> {
    let word = words[at];
    let (holds, reason) = match arg.kind {
        ArgKind::Id(_) => (word != 0, Reason::ZeroId),
        ArgKind::Enum(enumeration) => (
            enumeration.values.iter().any(|(value, _)| *value == word),
            Reason::BadEnum,
        ),
        ArgKind::Bool => (word == 0 || word == 1, Reason::BadFlag),
        ArgKind::F32 => (word >> 23 & 255 != 255, Reason::NonFinite),
        ArgKind::U64 => {
            let number = u128::from(word) + (u128::from(words[at + 1]) << 32);
            (number < 1 << 53, Reason::UnsafeInteger)
        }
        _ => return Ok(()),
    };
    if holds { Ok(()) } else { Err(reason) }
}

/// Checks 8 to 10, by the names of arguments.
fn transfer(op: Op, words: &[u32], args: &[(usize, Arg)], data_len: u32) -> Result<(), Fault> {
    let at = |name: &str| args.iter().find(|(_, arg)| arg.name == name).unwrap().0;
    let value = |name: &str| u128::from(words[at(name)]);
    let need = |holds: bool, name: &str, reason| {
        if holds { Ok(()) } else { Err((at(name), reason)) }
    };
    let data = |length| {
        need(
            value("dataOffset") + value(length) <= data_len.into(),
            "dataOffset",
            Reason::DataRange,
        )
    };
    match op {
        Op::WriteBuffer => {
            data("length")?;
            need(value("length") % 4 == 0, "length", Reason::WriteSize)
        }
        Op::WriteTexture => data("dataLength"),
        Op::ReadBuffer => {
            need(value("offset") % 8 == 0, "offset", Reason::ReadAlignment)?;
            need(value("size") != 0 && value("size") % 4 == 0, "size", Reason::ReadSize)?;
            need(
                value("windowOffset") + value("size") <= 64 << 20,
                "windowOffset",
                Reason::ReadWindow,
            )
        }
        _ => Ok(()),
    }
}

#[derive(Debug, Default)]
struct Slow {
    commands: Vec<(usize, Op, Vec<u32>)>,
    /// Nonzero ids in the order in which they are looked at.
    ids: Vec<u32>,
}

fn slow_command(words: &[u32], op: Op, data_len: u32, ids: &mut Vec<u32>) -> Result<usize, Fault> {
    let length = counted(op, words)?;
    let mut args = Vec::new();
    spread(layout(op), words, &mut 1, &mut args);
    for &(at, arg) in &args {
        well_formed(words, at, arg).map_err(|reason| (at, reason))?;
        if matches!(arg.kind, ArgKind::Id(_) | ArgKind::OptionalId(_)) && words[at] != 0 {
            ids.push(words[at]);
        }
    }
    transfer(op, words, &args, data_len)?;
    Ok(length)
}

fn slow(words: &[u32], data_len: u32, mut context: Context) -> (Slow, Result<(), Refusal>) {
    let mut slow = Slow::default();
    let (mut at, mut begin) = (0, None);
    while at < words.len() {
        let refuse = |word, op, reason| Err(Refusal { word, op, reason });
        let Some(op) = Op::ALL.into_iter().find(|op| op.word() == words[at]) else {
            return (slow, refuse(at, None, Reason::UnknownOp));
        };
        if !op.allowed_in(context) {
            return (slow, refuse(at, Some(op), Reason::WrongContext));
        }
        let length = match slow_command(&words[at..], op, data_len, &mut slow.ids) {
            Ok(length) => length,
            Err((word, reason)) => return (slow, refuse(at + word, Some(op), reason)),
        };
        (context, begin) = match op {
            Op::BeginRenderPass => (Context::Render, Some((at, op))),
            Op::BeginComputePass => (Context::Compute, Some((at, op))),
            Op::EndPass => (Context::Outside, None),
            _ => (context, begin),
        };
        slow.commands.push((at, op, words[at + 1..at + length].to_vec()));
        at += length;
    }
    let end = match begin {
        None => Ok(()),
        Some((word, op)) => Err(Refusal {
            word,
            op: Some(op),
            reason: Reason::OpenPass,
        }),
    };
    (slow, end)
}

type Decoded = Result<Vec<(usize, Op, Vec<u32>)>, Refusal>;

fn owned(cmds: Result<Vec<wire::Cmd<'_>>, Refusal>) -> Decoded {
    cmds.map(|cmds| cmds.iter().map(|cmd| (cmd.word, cmd.op, cmd.args.to_vec())).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) })]

    #[test]
    fn what_is_encoded_is_decoded(commands in stream()) {
        let words = encode(&commands);
        let decoded: Vec<Command> =
            decode(&words, DATA_LEN).unwrap().iter().map(|cmd| (cmd.op, cmd.args.to_vec())).collect();
        prop_assert_eq!(decoded, commands);
    }

    #[test]
    fn the_reader_agrees_with_the_table(words in any_words(), data_len in prop_oneof![Just(DATA_LEN), any::<u32>()]) {
        let (slow, end) = slow(&words, data_len, Context::Outside);
        let expected = end.map(|()| slow.commands.clone());
        prop_assert_eq!(owned(decode(&words, data_len)), expected);
        // The iterator gives everything before a refusal, too.
        let before: Vec<_> = commands(&words, data_len).map_while(Result::ok).map(|cmd| cmd.word).collect();
        prop_assert_eq!(before, slow.commands.iter().map(|(word, _, _)| *word).collect::<Vec<_>>());
    }

    #[test]
    fn the_bundle_reader_agrees_with_the_table(
        commands in vec(command(inside(Context::Bundle)), 0..12),
        edit in proptest::option::of((any::<Index>(), word())),
    ) {
        let mut words = encode(&commands);
        prop_assert!(decode_bundle(&words).is_ok());
        if let Some((at, word)) = edit && !words.is_empty() {
            let at = at.index(words.len());
            words[at] = word;
        }
        let (slow, end) = slow(&words, 0, Context::Bundle);
        prop_assert_eq!(owned(decode_bundle(&words)), end.map(|()| slow.commands));
        let mut asked = vec![];
        let answer = remap_bundle(&mut words, |id| { asked.push(id); Some(id) });
        prop_assert_eq!(answer, end);
        prop_assert_eq!(asked, slow.ids);
    }

    #[test]
    fn remap_asks_each_id_once_in_order_and_agrees_with_decode(words in any_words()) {
        let (slow, end) = slow(&words, DATA_LEN, Context::Outside);
        let (mut remapped, mut asked) = (words.clone(), vec![]);
        let answer = remap(&mut remapped, DATA_LEN, |id| { asked.push(id); Some(id) });
        prop_assert_eq!(answer, end);
        prop_assert_eq!(&remapped, &words);
        prop_assert_eq!(asked, slow.ids);
        prop_assert_eq!(answer, decode(&words, DATA_LEN).map(|_| ()));
        prop_assert_eq!(remap_reads(&mut remapped, DATA_LEN, Some).map(|_| ()), answer);
    }

    #[test]
    fn remap_there_and_back_changes_nothing(words in any_words(), key in 1..=u32::MAX) {
        // Not a grant for every id: `key` itself would become 0.
        let swap = |id: u32| (id != key).then_some(id ^ key);
        let mut remapped = words.clone();
        if remap(&mut remapped, DATA_LEN, swap).is_ok() {
            let lengths = |words| owned(decode(words, DATA_LEN)).unwrap().iter().map(|(word, op, _)| (*word, *op)).collect::<Vec<_>>();
            prop_assert_eq!(lengths(&remapped), lengths(&words));
            prop_assert_eq!(remap(&mut remapped, DATA_LEN, swap), Ok(()));
            prop_assert_eq!(remapped, words);
        }
    }

    #[test]
    fn remap_under_f_then_g_is_remap_under_g_after_f(commands in stream(), f in 0..1000u32, g in 0..1000u32) {
        // Two maps with holes: neither grants an id that its number divides.
        let map = |key: u32, id: u32| (!id.is_multiple_of(key + 2)).then(|| id.wrapping_add(key).max(1));
        let words = encode(&commands);
        let (mut apart, mut at_once) = (words.clone(), words);
        let first = remap(&mut apart, DATA_LEN, |id| map(f, id));
        let both = remap(&mut at_once, DATA_LEN, |id| map(f, id).and_then(|id| map(g, id)));
        match first.and_then(|()| remap(&mut apart, DATA_LEN, |id| map(g, id))) {
            Ok(()) => prop_assert_eq!((both, at_once), (Ok(()), apart)),
            // The two may stop at different ids, since f is through before g begins; they stop for the same reason.
            Err(refusal) => {
                prop_assert_eq!(refusal.reason, Reason::UnknownId);
                prop_assert_eq!(both.map_err(|refusal| refusal.reason), Err(Reason::UnknownId));
            }
        }
    }

    #[test]
    fn the_first_id_that_is_not_granted_is_refused(commands in stream(), which in any::<Index>()) {
        let mut words = encode(&commands);
        let (slow, _) = slow(&words, DATA_LEN, Context::Outside);
        prop_assume!(!slow.ids.is_empty());
        let (last, mut asked) = (which.index(slow.ids.len()), 0);
        let refusal = remap(&mut words, DATA_LEN, |id| {
            asked += 1;
            (asked <= last).then_some(id)
        });
        prop_assert_eq!(refusal.map_err(|refusal| refusal.reason), Err(Reason::UnknownId));
        prop_assert_eq!(asked, last + 1);
    }

    #[test]
    fn a_prefix_is_accepted_truncated_or_open(commands in stream(), length in any::<Index>()) {
        let words = encode(&commands);
        let length = length.index(words.len() + 1);
        if let Err(refusal) = decode(&words[..length], DATA_LEN) {
            prop_assert!(matches!(refusal.reason, Reason::Truncated | Reason::OpenPass), "{}", refusal);
        }
    }

    #[test]
    fn commands_cover_the_words_without_gaps(words in any_words()) {
        let mut next = 0;
        for cmd in commands(&words, DATA_LEN).map_while(Result::ok) {
            prop_assert_eq!(cmd.word, next);
            next += 1 + cmd.args.len();
            prop_assert_eq!(cmd.args, &words[cmd.word + 1..next]);
        }
        match decode(&words, DATA_LEN) {
            Ok(_) => prop_assert_eq!(next, words.len()),
            Err(refusal) => prop_assert!(refusal.word < words.len()),
        }
    }

    #[test]
    fn ranges_are_those_of_exact_sums(commands in stream(), size in prop_oneof![0..64u64, any::<u64>()], bound in 0..70000u32) {
        let words = encode(&commands);
        let expected = commands.iter().position(|(op, args)| {
            let number = |low: usize| u128::from(args[low]) + (u128::from(args[low + 1]) << 32);
            let past = |offset: u128, length: u128| offset + length > u128::from(size);
            match op {
                Op::WriteBuffer => past(number(1), args[4].into()),
                Op::CopyBufferToBuffer => past(number(1), number(6)) || past(number(4), number(6)),
                Op::DispatchIndirect => past(number(1), 12),
                Op::DrawIndirect => past(number(1), 16),
                Op::DrawIndexedIndirect => past(number(1), 20),
                Op::Dispatch => args.iter().any(|&n| n > if bound == 0 { 65535 } else { bound }),
                _ => false,
            }
        });
        let answer = check_ranges(decode(&words, DATA_LEN).unwrap(), |_| Some(size), bound);
        prop_assert_eq!(answer.err().map(|refusal| refusal.command), expected);
    }

    #[test]
    fn a_blob_comes_back(words in vec(any::<u32>(), 0..64), data in vec(any::<u8>(), 0..64)) {
        let bytes = encode_blob(&words, &data);
        prop_assert_eq!(Blob::parse(&bytes), Ok(Blob { words, data: &data }));
        for length in 0..bytes.len() {
            prop_assert_eq!(Blob::parse(&bytes[..length]).map_err(|refusal| refusal.reason), Err(Reason::BadLength));
        }
    }

    #[test]
    fn a_descriptor_is_remapped_reference_by_reference(refs in vec(0..50u32, 0..64), body in vec(any::<u8>(), 0..64), key in 2..50u32) {
        let mut bytes = vec![];
        append_descriptor(&mut bytes, &refs, &body).unwrap();
        let hole = refs.iter().position(|&id| id != 0 && id.is_multiple_of(key));
        match remap_descriptor(&mut bytes, |id| (!id.is_multiple_of(key)).then_some(id + 100)) {
            Ok(()) => {
                prop_assert_eq!(hole, None);
                let due: Vec<u32> = refs.iter().map(|&id| if id == 0 { 0 } else { id + 100 }).collect();
                prop_assert_eq!(split_descriptor(&bytes), Ok((due, &body[..])));
            }
            Err(refused) => prop_assert_eq!((refused.reason, refused.reference), (Reason::UnknownId, hole)),
        }
    }

    #[test]
    fn a_descriptor_comes_back(refs in vec(any::<u32>(), 0..64), body in vec(any::<u8>(), 0..64)) {
        let mut bytes = vec![];
        append_descriptor(&mut bytes, &refs, &body).unwrap();
        prop_assert_eq!(split_descriptor(&bytes), Ok((refs.clone(), &body[..])));
        let (mut remapped, mut asked) = (bytes.clone(), vec![]);
        prop_assert_eq!(remap_descriptor(&mut remapped, |id| { asked.push(id); Some(id) }), Ok(()));
        prop_assert_eq!(remapped, bytes);
        prop_assert_eq!(asked, refs.into_iter().filter(|id| *id != 0).collect::<Vec<_>>());
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..64), header in any::<bool>()) {
        let bytes = if header { [&b"WIRE\x04\0\0\0"[..], &bytes].concat() } else { bytes };
        let _ = Blob::parse(&bytes);
        let split = split_descriptor(&bytes).map(|_| ());
        prop_assert_eq!(remap_descriptor(&mut bytes.clone(), Some), split);
    }
}

/// A Submit, an opcode that is none, a Submit.
#[test]
fn nothing_comes_after_a_refusal() {
    let mut commands = commands(&[40, 99, 40], DATA_LEN);
    assert_eq!(
        commands.next().map(|first| first.map(|cmd| cmd.op)),
        Some(Ok(Op::Submit))
    );
    let refused = commands
        .next()
        .and_then(Result::err)
        .map(|refusal| (refusal.word, refusal.reason));
    assert_eq!(refused, Some((1, Reason::UnknownOp)));
    assert_eq!(commands.next(), None);
    assert_eq!(commands.next(), None);
}
