//! The tables: numbers, names, contexts, layouts.

use wire::{ArgKind, Context, Kind, Op, Reason, decode, decode_bundle, layout};

use crate::samples::{DATA_LEN, SAMPLES, bundle_outcome, opening, outcome};

#[test]
fn opcodes_are_those_of_the_table_and_no_others() {
    let table: Vec<_> = SAMPLES.iter().map(|sample| (sample.op, sample.name)).collect();
    let ours: Vec<_> = Op::ALL.iter().map(|op| (*op as u32, op.name())).collect();
    assert_eq!(ours, table);
    for word in (0..=4096).chain([0x0100_0001, 0x8000_0001, u32::MAX]) {
        let listed = table.iter().find(|(op, _)| *op == word);
        assert_eq!(
            Op::from_word(word).map(|op| op.to_string()),
            listed.map(|(_, name)| name.to_string())
        );
        if listed.is_none() {
            assert_eq!(outcome(&[word], 0), Err((0, 0, "unknown-op")));
            assert_eq!(bundle_outcome(&[word]), Err((0, 0, "unknown-op")));
        }
    }
}

#[test]
fn every_command_is_accepted_where_it_may_stand_and_refused_elsewhere() {
    for sample in SAMPLES {
        let op = Op::from_word(sample.op).unwrap();
        for (letter, context) in "TRCB".chars().zip(Context::ALL) {
            let allowed = sample.contexts.contains(letter);
            assert_eq!(op.allowed_in(context), allowed, "{op} in {letter}");
            let (words, at) = match letter {
                'B' => (sample.stream(letter, sample.args).0, 0),
                _ => sample.stream(letter, sample.args),
            };
            let answer = match letter {
                'B' => bundle_outcome(&words),
                _ => outcome(&words, DATA_LEN),
            };
            let expected = if allowed {
                Ok(())
            } else {
                Err((at, sample.op, "wrong-context"))
            };
            assert_eq!(answer, expected, "{op} in {letter}");
            if allowed {
                let cmds = if letter == 'B' {
                    decode_bundle(&words)
                } else {
                    decode(&words, DATA_LEN)
                };
                let cmd = *cmds.unwrap().iter().find(|cmd| cmd.word == at).unwrap();
                assert_eq!((cmd.op, cmd.args), (op, sample.args));
            }
        }
    }
}

#[test]
fn a_pass_ends_where_its_end_stands() {
    // Submit is accepted again after either kind of pass.
    assert_eq!(outcome(&[20, 0, 0, 21, 22, 21, 40], 0), Ok(()));
    // The second EndPass, and a Begin in a pass.
    assert_eq!(outcome(&[22, 21, 21], 0), Err((2, 21, "wrong-context")));
    assert_eq!(outcome(&[22, 22], 0), Err((1, 22, "wrong-context")));
    assert_eq!(outcome(&[20, 0, 0, 20, 0, 0], 0), Err((3, 20, "wrong-context")));
    assert_eq!(outcome(&[], 0), Ok(()));
    // After the last Submit commands are legal.
    assert_eq!(outcome(&[40, 40, 22, 21], 0), Ok(()));
}

#[test]
fn an_open_pass_names_its_begin() {
    assert_eq!(outcome(&[40, 22], 0), Err((1, 22, "open-pass")));
    assert_eq!(outcome(&[40, 22, 21, 20, 0, 0, 10, 1], 0), Err((3, 20, "open-pass")));
    // Any other refusal comes first, also with a pass open.
    assert_eq!(outcome(&[22, 99], 0), Err((1, 0, "unknown-op")));
    assert_eq!(outcome(&[22, 23, 1, 1], 0), Err((1, 23, "truncated")));
}

#[test]
fn words_of_a_bundle_need_no_begin_and_see_no_data() {
    assert_eq!(
        bundle_outcome(&[1, 1, 2, 0, 2, 0, 5, 0, 3, 0, 0, 0, 0, 3, 3, 1, 0, 0]),
        Ok(())
    );
    assert_eq!(bundle_outcome(&[]), Ok(()));
    assert_eq!(bundle_outcome(&[3, 3, 1, 0, 0, 21]), Err((5, 21, "wrong-context")));
    assert_eq!(bundle_outcome(&[1]), Err((0, 1, "truncated")));
    assert_eq!(bundle_outcome(&[1, 0]), Err((1, 1, "zero-id")));
}

#[test]
fn reasons_are_those_of_the_protocol() {
    let table = [
        (1, "bad-length"),
        (2, "bad-magic"),
        (3, "bad-version"),
        (4, "unknown-op"),
        (5, "wrong-context"),
        (6, "truncated"),
        (7, "too-many"),
        (8, "zero-id"),
        (9, "bad-enum"),
        (10, "bad-flag"),
        (11, "non-finite"),
        (12, "unsafe-integer"),
        (13, "data-range"),
        (15, "write-size"),
        (16, "read-alignment"),
        (17, "read-size"),
        (18, "read-window"),
        (19, "unknown-id"),
        (20, "open-pass"),
        (21, "not-a-buffer"),
        (22, "out-of-range"),
        (23, "too-many-workgroups"),
        (24, "no-map-read"),
        (25, "past-window"),
        (26, "bad-descriptor"),
        (27, "wrong-kind"),
        (28, "threw"),
    ];
    assert_eq!(Reason::ALL.map(|reason| (reason as u32, reason.name())), table);
    assert!(
        [0, 14, 29, u32::MAX]
            .iter()
            .all(|&word| Reason::from_word(word).is_none())
    );
    assert!(
        Reason::ALL
            .iter()
            .all(|&reason| Reason::from_word(reason.word()) == Some(reason))
    );
    assert_eq!(Reason::TooManyWorkgroups.to_string(), "too-many-workgroups");
}

#[test]
fn kinds_are_those_of_section_7() {
    let table = [
        (1, "buffer"),
        (2, "texture"),
        (3, "texture view"),
        (4, "sampler"),
        (5, "shader module"),
        (6, "bind group layout"),
        (7, "pipeline layout"),
        (8, "bind group"),
        (9, "compute pipeline"),
        (10, "render pipeline"),
        (11, "render bundle"),
    ];
    assert_eq!(Kind::ALL.map(|kind| (kind as u32, kind.name())), table);
    assert_eq!(Kind::from_word(0), None);
    assert_eq!(Kind::from_word(12), None);
}

#[test]
fn constants_are_those_of_the_seed() {
    assert_eq!(wire::STREAM_VERSION, 4);
    assert_eq!(wire::MAX_COLOR_ATTACHMENTS, 8);
    assert_eq!(wire::MAX_DYNAMIC_OFFSETS, 65536);
    assert_eq!(wire::MAX_BUNDLES, 65536);
    assert_eq!(wire::DEFAULT_MAX_WORKGROUPS, 65535);
    assert_eq!(wire::MAX_READ_WINDOW, 67_108_864);
    assert_eq!(wire::MAX_REFS, 4096);
    assert_eq!(wire::MAX_SAFE_INTEGER, 9_007_199_254_740_991);
    assert_eq!(wire::LEFT_OUT, 0xFFFF_FFFF);
}

#[test]
fn refusals_read_as_one_line() {
    let unknown = decode(&[99], 0).unwrap_err();
    assert_eq!(unknown.to_string(), "word 0 (no known opcode): unknown-op");
    let zero = decode(&[22, 1, 0], 0).unwrap_err();
    assert_eq!(zero.to_string(), "word 2 (SetPipeline): zero-id");
}

/// One line an opcode, in the notation of section 2's table (a group of words in braces).
fn written(args: &[wire::Arg]) -> String {
    let words = args.iter().map(|arg| match arg.kind {
        ArgKind::Id(_) => format!("{}:id", arg.name),
        ArgKind::OptionalId(_) => format!("{}:id?", arg.name),
        ArgKind::U32 => arg.name.to_string(),
        ArgKind::I32 => format!("{}:i32", arg.name),
        ArgKind::F32 => format!("{}:f32", arg.name),
        ArgKind::U64 => format!("{}:u64", arg.name),
        ArgKind::Enum(enumeration) => format!("{}:{}", arg.name, enumeration.name),
        ArgKind::Bool => format!("{}:bool", arg.name),
        ArgKind::List { limit, item } => format!("{}<={limit} {{{}}}", arg.name, written(item)),
        ArgKind::Optional(inner) => format!("{}:bool {{{}}}", arg.name, written(inner)),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn layouts_read_like_the_specification() {
    let texture = "mip x y z aspect:aspect";
    let table: [(u32, String); 24] = [
        (1, "pipeline:id".into()),
        (2, "index bindGroup:id? n<=65536 {offset}".into()),
        (3, "vertexCount instanceCount firstVertex firstInstance".into()),
        (
            4,
            "indexCount instanceCount firstIndex baseVertex:i32 firstInstance".into(),
        ),
        (5, "slot buffer:id? offset:u64 size:u64".into()),
        (6, "buffer:id format:index-format offset:u64 size:u64".into()),
        (7, "x:f32 y:f32 w:f32 h:f32 minDepth:f32 maxDepth:f32".into()),
        (8, "x y w h".into()),
        (9, "r:f32 g:f32 b:f32 a:f32".into()),
        (10, "ref".into()),
        (11, "n<=65536 {bundle:id}".into()),
        (12, "buffer:id offset:u64".into()),
        (13, "buffer:id offset:u64".into()),
        (
            20,
            "nColors<=8 {view:id? resolveTarget:id? loadOp:load-op storeOp:store-op r:f32 g:f32 b:f32 a:f32} \
             hasDepth:bool {view:id depthLoadOp:optional load-op depthStoreOp:optional store-op depthClear:f32 \
             depthReadOnly:bool stencilLoadOp:optional load-op stencilStoreOp:optional store-op stencilClear \
             stencilReadOnly:bool}"
                .into(),
        ),
        (21, "".into()),
        (22, "".into()),
        (23, "x y z".into()),
        (24, "buffer:id offset:u64".into()),
        (30, "buffer:id offset:u64 dataOffset length".into()),
        (31, "src:id srcOffset:u64 dst:id dstOffset:u64 size:u64".into()),
        (
            32,
            format!("src:id {texture} dst:id {texture} width height depthOrArrayLayers"),
        ),
        (
            33,
            format!(
                "texture:id {texture} dataOffset dataLength layoutOffset:u64 bytesPerRow rowsPerImage width height \
                 depthOrArrayLayers"
            ),
        ),
        (34, "buffer:id offset:u64 size windowOffset".into()),
        (40, "".into()),
    ];
    for ((word, expected), op) in table.into_iter().zip(Op::ALL) {
        assert_eq!((word, expected), (op.word(), written(layout(op))));
    }
}

#[test]
fn enumerations_are_those_of_section_2() {
    assert_eq!(wire::INDEX_FORMAT.values, [(1, "uint16"), (2, "uint32")]);
    assert_eq!(wire::LOAD_OP.values, [(1, "load"), (2, "clear")]);
    assert_eq!(wire::STORE_OP.values, [(1, "store"), (2, "discard")]);
    assert_eq!(wire::OPTIONAL_LOAD_OP.values, [(0, ""), (1, "load"), (2, "clear")]);
    assert_eq!(wire::OPTIONAL_STORE_OP.values, [(0, ""), (1, "store"), (2, "discard")]);
    assert_eq!(
        wire::ASPECT.values,
        [(0, ""), (1, "all"), (2, "stencil-only"), (3, "depth-only")]
    );
}

#[test]
fn numbers_of_a_command_are_read_from_its_words() {
    let words = [
        20,
        0,
        0,
        4,
        3,
        1,
        0,
        0xFFFF_FFFE,
        0,
        12,
        5,
        0x89AB_CDEF,
        0x0012_3456,
        9,
        0,
        0xBF80_0000,
        ONE,
        0,
        21,
    ];
    const ONE: u32 = 0x3F80_0000;
    let cmds = decode(&words, 0).unwrap();
    assert_eq!(cmds[1].i32_at(3), -2);
    assert_eq!(cmds[2].u64_at(1), 0x0012_3456_89AB_CDEF);
    assert_eq!(cmds[3].f32_at(1), -1.0);
    assert_eq!(cmds[3].f32_at(2), 1.0);
    assert_eq!(opening('R'), &words[..3]);
}

/// A walk that is cloned halfway goes on from there, twice.
#[test]
fn a_walk_can_be_cloned() {
    let words = [22, 23, 1, 2, 3, 21, 40];
    let mut walk = wire::commands(&words, 0);
    assert_eq!(
        walk.next().map(|cmd| cmd.map(|cmd| cmd.op)),
        Some(Ok(Op::BeginComputePass))
    );
    let rest = |walk: wire::Commands<'_>| walk.map(|cmd| cmd.map(|cmd| cmd.word)).collect::<Vec<_>>();
    assert_eq!(rest(walk.clone()), [Ok(1), Ok(5), Ok(6)]);
    assert_eq!(rest(walk), [Ok(1), Ok(5), Ok(6)]);
}
