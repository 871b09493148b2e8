//! Streams as text, both ways: exact text, round trips, every wrong line's message, and the command line.

use std::path::PathBuf;

use assert_cmd::Command;
use lockstep::case::{Case, Origin, StreamCase};
use lockstep::generators::{self, Lane};
use lockstep::text::{disassemble, read, write};
use proptest::prelude::*;
use rstest::rstest;
use wire::{ArgKind, Blob, Op, encode_blob};

fn text_of(words: &[u32], data: &[u8]) -> String {
    let words = words.to_vec();
    write(&Blob { words, data })
}

/// Through text and back, exactly; gives the text, which through a blob and back is itself too.
fn round_trip(blob: &[u8]) -> String {
    let text = write(&Blob::parse(blob).unwrap());
    let back = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(back == blob, "the blob does not come back:\n{text}");
    assert_eq!(write(&Blob::parse(&back).unwrap()), text);
    text
}

/// The words of a text that is accepted.
fn words_of(text: &str) -> Vec<u32> {
    Blob::parse(&read(text).unwrap()).unwrap().words
}

fn f(float: f32) -> u32 {
    float.to_bits()
}

/// Every opcode, and every way in which an argument is written.
fn everything() -> Vec<u32> {
    let left_out = u32::MAX;
    let commands: Vec<Vec<u32>> = vec![
        vec![30, 3, 16, 0, 0, 8],
        vec![33, 9, 0, 1, 0, 0, 1, 8, 40, 0, 0, 16, left_out, 4, 4, 1],
        vec![30, 3, 0, 1, 50, 4],
        vec![30, 3, 0, 0, 2, 4],
        vec![31, 3, 16, 0, 4, 0, 0, 32, 0],
        vec![32, 9, 1, 0, 0, 0, 0, 10, 0, 4, 0, 2, 2, 2, 1, 6],
        vec![22],
        vec![1, 7],
        vec![2, 0, 5, 2, 0, 256],
        vec![2, 1, 0, 0],
        vec![23, 4, 2, 1],
        vec![24, 3, 16, 0],
        vec![34, 3, 8, 0, 64, 4],
        vec![21],
        [
            &[20, 3][..],
            &[20, 21, 2, 1, f(0.2), 0, f(-0.0), f(1.0)],
            &[0, 0, 1, 2, 0, 0, 0, 0],
            &[22, 0, 1, 1, f(f32::MAX), f(f32::MIN_POSITIVE), 1, 0],
            &[1, 23, 2, 1, f(1.0), 0, 1, 2, 7, 1],
        ]
        .concat(),
        vec![1, 8],
        vec![5, 0, 3, 0, 0, 0, 0],
        vec![5, 1, 0, 4, 0, 8, 0],
        vec![6, 4, 1, 16, 0, u32::MAX, 0x1F_FFFF],
        vec![7, 0, 0, f(64.0), f(64.5), f(-1e-45), f(1e20)],
        vec![8, 0, 0, 64, u32::MAX],
        vec![9, f(0.1), f(0.25), 0, f(1.0)],
        vec![10, 255],
        vec![3, 3, 1, 0, 0],
        vec![3, 3, 2, 1, 9],
        vec![4, 6, 1, 0, -1i32 as u32, 0],
        vec![12, 3, 0, 0],
        vec![13, 3, 20, 0],
        vec![11, 2, 30, u32::MAX],
        vec![11, 0],
        vec![21],
        vec![20, 0, 0],
        vec![21],
        vec![20, 0, 1, 23, 0, 0, 0, 1, 0, 0, 0, 0],
        vec![21],
        vec![40],
    ];
    commands.concat()
}

const EVERYTHING: &str = "\
; wire version 4, 214 words, 56 bytes of data
WriteBuffer #3 offset=16 bytes 00010203 04050607  ; at 0
WriteTexture #9 x=1 aspect=all bytesPerRow=16 width=4 height=4
    bytes 08090a0b 0c0d0e0f 10111213 14151617 18191a1b 1c1d1e1f 20212223 24252627  ; at 8
    bytes 28292a2b 2c2d2e2f  ; at 40
data 3031  ; at 48
WriteBuffer #3 offset=4294967296 bytes 32333435  ; at 50
WriteBuffer #3 dataOffset=2 length=4
CopyBufferToBuffer src=#3 srcOffset=16 dst=#4 size=32
CopyTextureToTexture src=#9 mip=1 dst=#10 x=4 z=2 aspect=stencil-only width=2 depthOrArrayLayers=6
BeginComputePass
    SetPipeline #7
    SetBindGroup 0 #5 [0, 256]
    SetBindGroup 1 none
    Dispatch 4 y=2
    DispatchIndirect #3 offset=16
    ReadBuffer #3 offset=8 size=64 windowOffset=4
EndPass
BeginRenderPass
    color #20 resolveTarget=#21 clear store r=0.2 b=-0.0 a=1.0
    color none load discard
    color #22 load store r=3.4028235e38 g=1.1754944e-38 b=1e-45
    depth #23 depthLoadOp=clear depthStoreOp=store depthClear=1.0 stencilLoadOp=load stencilStoreOp=discard stencilClear=7 \
stencilReadOnly=true
    SetPipeline #8
    SetVertexBuffer 0 #3
    SetVertexBuffer 1 none offset=4 size=8
    SetIndexBuffer #4 uint16 offset=16 size=9007199254740991
    SetViewport 0.0 0.0 64.0 64.5 -1e-45 1e20
    SetScissorRect 0 0 64 4294967295
    SetBlendConstant 0.1 0.25 0.0 1.0
    SetStencilReference 255
    Draw 3
    Draw 3 instanceCount=2 firstVertex=1 firstInstance=9
    DrawIndexed 6 baseVertex=-1
    DrawIndirect #3
    DrawIndexedIndirect #3 offset=20
    ExecuteBundles [#30, #4294967295]
    ExecuteBundles
EndPass
BeginRenderPass
EndPass
BeginRenderPass
    depth #23 depthReadOnly=true
EndPass
Submit
data 3637  ; at 54
";

fn counting() -> Vec<u8> {
    (0..56).collect()
}

#[test]
fn every_opcode_as_text() {
    let words = everything();
    let used = wire::decode(&words, 56).unwrap();
    assert!(Op::ALL.into_iter().all(|op| used.iter().any(|cmd| cmd.op == op)));
    assert_eq!(text_of(&words, &counting()), EVERYTHING);
    round_trip(&encode_blob(&words, &counting()));
}

#[test]
fn the_reference_shows_what_is_read() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/TEXT.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> = page
        .split("```lockstep\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() >= 3);
    for block in &blocks {
        let blob = read(block).unwrap_or_else(|error| panic!("{error}\n{block}"));
        let canonical = block.starts_with("; wire version");
        assert!(
            !canonical || &write(&Blob::parse(&blob).unwrap()) == block,
            "{}",
            write(&Blob::parse(&blob).unwrap())
        );
    }
    let shown = blocks.concat();
    assert!(Op::ALL.into_iter().all(|op| shown.contains(op.name())));
}

#[test]
fn the_hand_may_be_free() {
    let by_hand = "\u{feff}// comment\r\n
        WriteBuffer #0x3 16 bytes 0001 0203 04050607 // eight\r\n\
        BeginRenderPass;;\n\tcolor #20, #21 clear store .2 0 -0 1e0\n; between\n\n  depth #23 clear store 1\n\
        SetVertexBuffer slot = 0 buffer=#3 8\n SetBindGroup 0 none [0 256]\nSetBindGroup 0 none offsets=[ 0,256 ]\n\
        Draw 3 1 0 0\n  DrawIndexed 6 baseVertex=-1 4\n ExecuteBundles bundles=[#1]\nEndPass\nSubmit";
    let formal = "WriteBuffer #3 offset=16 bytes 0001020304050607\nBeginRenderPass\n\
        color #20 resolveTarget=#21 loadOp=clear storeOp=store r=0.2 g=0 b=-0.0 a=1\n\
        depth #23 depthLoadOp=clear depthStoreOp=store depthClear=1\nSetVertexBuffer 0 #3 offset=8\n\
        SetBindGroup 0 none [0, 256]\nSetBindGroup 0 none [0, 256]\nDraw 3\n\
        DrawIndexed 6 baseVertex=-1 firstInstance=4\nExecuteBundles [#1]\nEndPass\nSubmit\n";
    assert_eq!(words_of(by_hand), words_of(formal));
    assert_eq!(read(by_hand), read(formal));
    assert_eq!(words_of("words 40 0x28\nSubmit"), [40, 40, 40]);
    assert_eq!(words_of(""), Vec::<u32>::new());
}

fn stream_case(lane: Lane, index: u64) -> Option<StreamCase> {
    let origin = Origin {
        lane: lane.name().into(),
        seed: 11,
        index,
    };
    match generators::case(&origin)?.case {
        Case::Stream(case) => Some(case),
        Case::Layout(_) | Case::Bind(_) => None,
    }
}

#[rstest]
#[case(Lane::Streams, 500)]
#[case(Lane::Replays, 2500)]
#[case(Lane::Raw, 5)]
fn generated_streams_come_back(#[case] lane: Lane, #[case] least_accepted: usize) {
    let mut accepted = 0;
    for index in 0..5000 {
        let Some(case) = stream_case(lane, index) else { continue };
        let Ok(blob) = Blob::parse(&case.blob) else { continue };
        let decoded = wire::decode(&blob.words, blob.data.len() as u32);
        let text = round_trip(&case.blob);
        assert_eq!(decoded.is_ok(), !text.contains("\nrefused "), "{text}");
        accepted += usize::from(decoded.is_ok());
        let columns = disassemble(&blob.words, blob.data.len() as u32, Some(index as usize % 64));
        assert_eq!(decoded.is_ok(), !columns.contains("  refused "), "{columns}");
    }
    assert!(accepted >= least_accepted, "{accepted}");
}

/// Every bit pattern that is a value comes back.
fn argument(kind: ArgKind) -> BoxedStrategy<Vec<u32>> {
    match kind {
        ArgKind::F32 => any::<u32>()
            .prop_filter("finite", |bits| f32::from_bits(*bits).is_finite())
            .prop_map(|bits| vec![bits])
            .boxed(),
        ArgKind::U64 => (any::<u32>(), 0..1u32 << 21)
            .prop_map(|(low, high)| vec![low, high])
            .boxed(),
        ArgKind::Id(_) => (1..=u32::MAX).prop_map(|id| vec![id]).boxed(),
        ArgKind::Enum(of) => prop::sample::select(of.values).prop_map(|value| vec![value.0]).boxed(),
        ArgKind::Bool => (0..2u32).prop_map(|word| vec![word]).boxed(),
        ArgKind::List { item, .. } => {
            let items = prop::collection::vec(arguments(item), 0..4);
            items
                .prop_map(|items| [vec![items.len() as u32], items.concat()].concat())
                .boxed()
        }
        ArgKind::Optional(inner) => prop_oneof![
            Just(vec![0]),
            arguments(inner).prop_map(|words| [vec![1], words].concat())
        ]
        .boxed(),
        ArgKind::OptionalId(_) | ArgKind::U32 | ArgKind::I32 => prop_oneof![Just(0), Just(1), any::<u32>()]
            .prop_map(|word| vec![word])
            .boxed(),
    }
}

fn arguments(args: &'static [wire::Arg]) -> BoxedStrategy<Vec<u32>> {
    let parts: Vec<_> = args.iter().map(|arg| argument(arg.kind)).collect();
    parts.prop_map(|parts| parts.concat()).boxed()
}

fn command() -> impl Strategy<Value = Vec<u32>> {
    prop::sample::select(&Op::ALL[..])
        .prop_flat_map(|op| arguments(wire::layout(op)).prop_map(move |args| [vec![op.word()], args].concat()))
}

/// Lines of what the language is made of, right and wrong.
fn soup() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        4 => prop::sample::select(vec![
            "#7", "none", "0", "1", "4", "-1", "0.5", "1e99", "nan", "0x10", "=", "[", "]", ",", ";", "//", "clear", "store",
            "true", "loadOp", "offset", "bytes", "at", "word", "bad-enum", "wrong-context", "00112233", "é", "#", "99999999999",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,4}",
    ];
    let first = prop_oneof![
        6 => prop::sample::select(&Op::ALL[..]).prop_map(|op| op.name().to_owned()),
        6 => prop::sample::select(vec!["color", "depth", "bytes", "data", "words", "refused"]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ];
    let line =
        (first, prop::collection::vec(token, 0..8)).prop_map(|(first, rest)| format!("{first} {}", rest.join(" ")));
    prop::collection::vec(line, 0..12).prop_map(|lines| lines.join("\n"))
}

fn read_or_refuse(text: &str) {
    match read(text) {
        Ok(blob) => {
            round_trip(&blob);
        }
        Err(error) => {
            let lines = text.lines().count().max(1);
            assert!((1..=lines).contains(&error.line) && error.column >= 1, "{error}");
            assert!(!error.what.contains(['\n', '\r']), "one line: {error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_commands_come_back(
        commands in prop::collection::vec(command(), 0..12),
        data in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        round_trip(&encode_blob(&commands.concat(), &data));
    }

    #[test]
    fn any_words_come_back(
        words in prop::collection::vec(prop_oneof![0..50u32, any::<u32>()], 0..60),
        data in prop::collection::vec(any::<u8>(), 0..100),
        marked in prop::option::of(0..80usize),
    ) {
        disassemble(&words, data.len() as u32, marked);
        round_trip(&encode_blob(&words, &data));
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read_or_refuse(&text);
    }

    #[test]
    fn any_lines_are_read_or_refused(text in soup()) {
        read_or_refuse(&text);
    }

    #[test]
    fn a_damaged_text_is_read_or_refused(at in any::<prop::sample::Index>(), put in "\\PC{0,3}", cut in 0..4usize) {
        let mut text: Vec<char> = EVERYTHING.chars().collect();
        let at = at.index(text.len() - 4);
        text.splice(at..at + cut, put.chars());
        read_or_refuse(&text.into_iter().collect::<String>());
    }
}

#[rstest]
// Lines that are no line of the language.
#[case("Drow 3", "1:1: no command `Drow`; did you mean `Draw`?")]
#[case("  endpass", "1:3: no command `endpass`; did you mean `EndPass`?")]
#[case("x\u{7}", "1:1: no command `x\\u{7}`; they are those of wire.md section 2")]
#[case(&"y".repeat(99), "1:1: no command `yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy…`; they are those of wire.md section 2")]
#[case(
    "color #1 load store",
    "1:1: color stands under no BeginRenderPass; its attachments come right below it"
)]
#[case(
    "BeginRenderPass\nSubmit\ndepth #1",
    "3:1: depth stands under no BeginRenderPass; its attachments come right below it"
)]
#[case(
    "BeginRenderPass\ndepth #1\ncolor #1 load store",
    "3:1: depth is the last attachment, and there is one at most; put colors above it"
)]
#[case(
    "BeginRenderPass #1",
    "1:17: the attachments of BeginRenderPass stand on lines of their own, `color …` and `depth …`"
)]
#[case(
    "bytes 00",
    "1:1: bytes stand after or right below a WriteBuffer or WriteTexture without dataOffset; others are `data`"
)]
// Arguments.
#[case("EndPass 1", "1:9: EndPass takes no arguments, and here is `1`")]
#[case("/**/\nDraw", "1:1: no command `/**/`; they are those of wire.md section 2")]
#[case("\n  Draw ; 3", "2:7: Draw lacks vertexCount here")]
#[case("Draw firstVertex=3", "1:6: Draw lacks vertexCount here")]
#[case(
    "Draw 1 2 3 4 5",
    "1:14: `5` is a number, and Draw takes none here; it is Draw vertexCount [instanceCount] [firstVertex] [firstInstance]"
)]
#[case(
    "Draw 1 #2",
    "1:8: `#2` is an id, and Draw takes none here; it is Draw vertexCount [instanceCount] [firstVertex] [firstInstance]"
)]
#[case(
    "DrawIndirect #1 size=4",
    "1:17: DrawIndirect has no argument `size`; it is DrawIndirect buffer [offset]"
)]
#[case(
    "SetVertexBuffer 0 none size=4 offset=4",
    "1:31: `offset` comes too late; the order is SetVertexBuffer slot buffer [offset] [size]"
)]
#[case("Draw vertexCount=", "1:18: vertexCount must be a number from 0 to 4294967295")]
#[case(
    "Draw 3 instanceCount=-1",
    "1:22: instanceCount must be a number from 0 to 4294967295, not `-1`"
)]
#[case(
    "Draw 4294967296",
    "1:6: vertexCount must be a number from 0 to 4294967295, not `4294967296`"
)]
#[case(
    "Draw é",
    "1:6: `é` is a word, and Draw takes none here; it is Draw vertexCount [instanceCount] [firstVertex] [firstInstance]"
)]
#[case(
    "Draw vertexCount=é é=3",
    "1:18: vertexCount must be a number from 0 to 4294967295, not `é`"
)]
#[case(
    "DrawIndexed 1 baseVertex=2147483648",
    "1:26: baseVertex must be a number from -2147483648 to 2147483647, not `2147483648`"
)]
#[case(
    "DrawIndirect #1 offset=18446744073709551616",
    "1:24: offset must be a number from 0 to 9007199254740991, not `18446744073709551616`"
)]
#[case(
    "SetPipeline #4294967296",
    "1:13: pipeline must be an id such as #7, not `#4294967296`"
)]
#[case("SetPipeline pipeline=7", "1:22: pipeline must be an id such as #7, not `7`")]
#[case(
    "SetVertexBuffer 0 buffer=7",
    "1:26: buffer must be an id such as #7, or none, not `7`"
)]
#[case("SetIndexBuffer #1 uint8", "1:19: format must be uint16 or uint32, not `uint8`")]
#[case(
    "SetViewport 0 0 1e39 1 0 1",
    "1:17: w must be a finite float such as 0.5, or its bits such as 0x3f000000, not `1e39`"
)]
#[case(
    "BeginRenderPass\ndepth #1 depthReadOnly=yes",
    "2:24: depthReadOnly must be true or false, not `yes`"
)]
#[case(
    "BeginRenderPass\ncolor #1 keep store",
    "2:10: loadOp must be load or clear, not `keep`"
)]
#[case("BeginRenderPass\n\tcolor none", "2:12: color lacks loadOp here")]
#[case(
    "CopyTextureToTexture #1 #2 x=1 aspect=depth width=1",
    "1:39: aspect must be all, stencil-only or depth-only, not `depth`"
)]
#[case("SetBindGroup 0 #1 [0", "1:19: no `]` on this line closes the list")]
#[case(
    "SetBindGroup 0 #1 [0 x]",
    "1:22: offset must be a number from 0 to 4294967295, not `x`"
)]
#[case(
    "SetBindGroup 0 #1 offsets=0",
    "1:27: offsets must be a list such as [0, 256], not `0`"
)]
#[case(
    "ExecuteBundles bundles=#1",
    "1:24: bundles must be a list such as [#7, #8], not `#1`"
)]
// Data and words.
#[case(
    "WriteBuffer #1 offset=4\nSubmit",
    "1:24: this write has no data: put `bytes` and hex after it or below it, or name its dataOffset and length"
)]
#[case(
    "WriteBuffer #1 dataOffset=0",
    "1:28: WriteBuffer names only one of its dataOffset and length; name both or neither"
)]
#[case(
    "WriteBuffer #1 dataOffset=0 length=4 bytes 00112233",
    "1:38: a write has `bytes`, or the place of its data as dataOffset and length; drop one of the two"
)]
#[case("WriteBuffer #1 bytes", "1:21: bytes must be followed by hex digits, two a byte")]
#[case("data 00 011", "1:9: `011` is not hex digits, two a byte")]
#[case("data 00 0g", "1:9: `0g` is not hex digits, two a byte")]
#[case("words", "1:6: words must be followed by numbers")]
#[case("words 1 -1", "1:9: a word must be a number from 0 to 4294967295, not `-1`")]
// Streams that are refused, and lines that say so.
#[case(
    "Submit\n Draw 3",
    "2:2: wrong-context: Draw: may stand only in a render pass; mend it, or add the line `refused wrong-context` if it is meant"
)]
#[case(
    "BeginComputePass\nSetPipeline none\nEndPass",
    "2:13: zero-id: SetPipeline: pipeline is 0; it must name an object; mend it, or add the line `refused zero-id` if it is meant"
)]
#[case(
    "CopyBufferToBuffer #1 #2 size=9007199254740992",
    "1:31: unsafe-integer: CopyBufferToBuffer: size is 9007199254740992; it must be at most 2^53 - 1, 9007199254740991; \
     mend it, or add the line `refused unsafe-integer` if it is meant"
)]
#[case(
    "WriteBuffer #1 bytes 001122",
    "1:1: write-size: WriteBuffer: length is 3; it must be a multiple of 4; mend it, or add the line `refused write-size` if it is meant"
)]
#[case(
    "words 1 2\nwords 99",
    "1:7: wrong-context: SetPipeline: may stand only in a render pass or in a compute pass; mend it, or add the line \
     `refused wrong-context` if it is meant"
)]
#[case(
    "Submit\nBeginRenderPass\nDraw 3",
    "2:1: open-pass: BeginRenderPass: no EndPass closes it; mend it, or add the line `refused open-pass` if it is meant"
)]
#[case("Submit\nrefused open-pass", "2:1: nothing refuses this stream; drop the line")]
#[case(
    "EndPass\nrefused open-pass",
    "2:1: the stream is refused otherwise, `refused wrong-context at word 0`: EndPass: may stand only in a render pass or in a compute pass"
)]
#[case(
    "EndPass\nrefused wrong-context at word 1",
    "2:1: the stream is refused otherwise, `refused wrong-context at word 0`: EndPass: may stand only in a render pass or in a compute pass"
)]
#[case(
    "EndPass\nrefused bad-words",
    "2:9: `bad-words` is no reason; a refused line is `refused REASON` or `refused REASON at word N`, with a reason of wire.md section 3"
)]
#[case(
    "EndPass\nrefused",
    "2:8: a refused line is `refused REASON` or `refused REASON at word N`, with a reason of wire.md section 3"
)]
#[case(
    "refused open-pass at word x",
    "1:27: a refused line is `refused REASON` or `refused REASON at word N`, with a reason of wire.md section 3"
)]
#[case(
    "EndPass\nrefused wrong-context\nrefused wrong-context",
    "3:1: a stream is refused once; drop one of the two refused lines"
)]
fn a_wrong_line(#[case] text: &str, #[case] due: &str) {
    assert_eq!(read(text).unwrap_err().to_string(), due);
}

/// Ill-formed streams can be written as commands too, where the text says what refuses them.
#[rstest]
#[case("BeginRenderPass\ncolor #1 loadOp=7 store\nEndPass\nrefused bad-enum at word 4")]
#[case("BeginRenderPass\ncolor #1 load store r=0x7fc00000\nEndPass\nrefused non-finite")]
#[case("BeginRenderPass\ndepth #1 depthReadOnly=2\nEndPass\nrefused bad-flag at word 7")]
#[case("WriteBuffer #1 dataOffset=4 length=4\ndata 00112233\nrefused data-range at word 4")]
#[case("refused unknown-op\nwords 99")]
fn a_refusal_that_is_meant(#[case] text: &str) {
    round_trip(&read(text).unwrap());
}

#[rstest]
#[case::unknown_op(&[40, 99, 1], "\
Submit
refused unknown-op at word 1  ; 99 is no opcode
words 0x00000063  ; 1, refused
words 0x00000001  ; 2
")]
#[case::wrong_context(&[22, 3, 1, 1, 0, 0], "\
BeginComputePass
refused wrong-context at word 1  ; Draw: may stand only in a render pass
words 0x00000003  ; 1, refused
words 0x00000001 0x00000001 0x00000000 0x00000000  ; 2
")]
#[case::truncated(&[31, 1], "\
refused truncated at word 0  ; CopyBufferToBuffer: the words end before its arguments do
words 0x0000001f  ; 0, refused
words 0x00000001  ; 1
")]
#[case::too_many(&[22, 2, 0, 5, 65537], "\
BeginComputePass
refused too-many at word 4  ; SetBindGroup: n is 65537; at most 65536 are taken
; SetBindGroup index=0 bindGroup=#5 n=65537 <- refused
words 0x00000002 0x00000000 0x00000005  ; 1
words 0x00010001  ; 4, refused
")]
#[case::zero_id(&[20, 0, 0, 11, 2, 7, 0, 21], "\
BeginRenderPass
refused zero-id at word 6  ; ExecuteBundles: bundle 1 is 0; it must name an object
; ExecuteBundles n=2 bundle=#7 bundle=none <- refused
words 0x0000000b 0x00000002 0x00000007  ; 3
words 0x00000000  ; 6, refused
words 0x00000015  ; 7
")]
#[case::bad_enum_of_a_color(&[20, 1, 12, 0, 7, 1, 0, 0, 0, 0, 0, 21], "\
refused bad-enum at word 4  ; BeginRenderPass: loadOp of color 0 is 7; it must be load or clear
; BeginRenderPass nColors=1 view=#12 resolveTarget=none loadOp=7 <- refused
words 0x00000014 0x00000001 0x0000000c 0x00000000  ; 0
words 0x00000007  ; 4, refused
words 0x00000001 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000 0x00000015  ; 5
")]
#[case::bad_enum_of_depth(&[20, 0, 1, 23, 3, 0, 0, 0, 0, 0, 0, 0, 21], "\
refused bad-enum at word 4  ; BeginRenderPass: depthLoadOp is 3; it must be load or clear, or 0 for left out
; BeginRenderPass nColors=0 hasDepth=1 view=#23 depthLoadOp=3 <- refused
words 0x00000014 0x00000000 0x00000001 0x00000017  ; 0
words 0x00000003  ; 4, refused
words 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000 0x00000015  ; 5
")]
#[case::bad_enum_of_the_target(&[32, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 4, 1, 1, 1], "\
refused bad-enum at word 12  ; CopyTextureToTexture: aspect of dst is 4; it must be all, stencil-only or depth-only, or 0 for left out
; CopyTextureToTexture src=#1 mip=0 x=0 y=0 z=0 aspect=0 dst=#2 mip=0 x=0 y=0 z=0 aspect=4 <- refused
words 0x00000020 0x00000001 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000 0x00000002  ; 0
words 0x00000000 0x00000000 0x00000000 0x00000000  ; 8
words 0x00000004  ; 12, refused
words 0x00000001 0x00000001 0x00000001  ; 13
")]
#[case::bad_flag(&[20, 0, 2], "\
refused bad-flag at word 2  ; BeginRenderPass: hasDepth is 2; it must be 0 or 1
; BeginRenderPass nColors=0 hasDepth=2 <- refused
words 0x00000014 0x00000000  ; 0
words 0x00000002  ; 2, refused
")]
#[case::non_finite(&[20, 0, 0, 9, 0, 0x7FC0_0000, 0, 0, 21], "\
BeginRenderPass
refused non-finite at word 5  ; SetBlendConstant: g is NaN; it must be finite
; SetBlendConstant r=0.0 g=NaN <- refused
words 0x00000009 0x00000000  ; 3
words 0x7fc00000  ; 5, refused
words 0x00000000 0x00000000 0x00000015  ; 6
")]
#[case::unsafe_integer(&[34, 3, 0, 0x20_0000, 4, 0], "\
refused unsafe-integer at word 2  ; ReadBuffer: offset is 9007199254740992; it must be at most 2^53 - 1, 9007199254740991
; ReadBuffer buffer=#3 offset=9007199254740992 <- refused
words 0x00000022 0x00000003  ; 0
words 0x00000000  ; 2, refused
words 0x00200000 0x00000004 0x00000000  ; 3
")]
#[case::data_range(&[30, 3, 0, 0, 1, 4], "\
refused data-range at word 4  ; WriteBuffer: 4 bytes from 1 end past the data, which has 4
; WriteBuffer buffer=#3 offset=0 dataOffset=1 <- refused
words 0x0000001e 0x00000003 0x00000000 0x00000000  ; 0
words 0x00000001  ; 4, refused
words 0x00000004  ; 5
")]
#[case::write_size(&[30, 3, 0, 0, 1, 3], "\
refused write-size at word 5  ; WriteBuffer: length is 3; it must be a multiple of 4
; WriteBuffer buffer=#3 offset=0 dataOffset=1 length=3 <- refused
words 0x0000001e 0x00000003 0x00000000 0x00000000 0x00000001  ; 0
words 0x00000003  ; 5, refused
")]
#[case::read_alignment(&[34, 3, 4, 1, 4, 0], "\
refused read-alignment at word 2  ; ReadBuffer: offset is 4294967300; it must be a multiple of 8
; ReadBuffer buffer=#3 offset=4294967300 <- refused
words 0x00000022 0x00000003  ; 0
words 0x00000004  ; 2, refused
words 0x00000001 0x00000004 0x00000000  ; 3
")]
#[case::read_size(&[34, 3, 0, 0, 0, 0], "\
refused read-size at word 4  ; ReadBuffer: size is 0; it must be a multiple of 4 and not 0
; ReadBuffer buffer=#3 offset=0 size=0 <- refused
words 0x00000022 0x00000003 0x00000000 0x00000000  ; 0
words 0x00000000  ; 4, refused
words 0x00000000  ; 5
")]
#[case::read_window(&[34, 3, 0, 0, 4, 0x3FF_FFFD], "\
refused read-window at word 5  ; ReadBuffer: 4 bytes from 67108861 end past 64 MiB of read window, 67108864
; ReadBuffer buffer=#3 offset=0 size=4 windowOffset=67108861 <- refused
words 0x00000022 0x00000003 0x00000000 0x00000000 0x00000004  ; 0
words 0x03fffffd  ; 5, refused
")]
#[case::open_pass(&[40, 20, 1, 12, 0, 1, 1, 0, 0, 0, 0, 0, 3, 3, 1, 0, 0], "\
Submit
BeginRenderPass  ; refused
    color #12 load store
    Draw 3
refused open-pass at word 1  ; BeginRenderPass: no EndPass closes it
")]
fn a_refused_stream(#[case] words: &[u32], #[case] due: &str) {
    let data = [1, 2, 3, 4];
    let text = round_trip(&encode_blob(words, &data));
    let header = format!("; wire version 4, {} words, 4 bytes of data\n", words.len());
    assert_eq!(text, format!("{header}{due}data 01020304  ; at 0\n"));
}

#[test]
fn columns() {
    let words = [
        &[20, 1, 12, 0, 1, 1, 0, 0, 0, 0, 0][..],
        &[30, 3, 0, 0, 0, 4, 21, 34, 3, 4, 0, 4, 0],
    ]
    .concat();
    assert_eq!(
        disassemble(&words, 4, Some(4)),
        [
            "    0      0  BeginRenderPass",
            ">          2      color #12 load store    <- word 4 is 1",
            "    1     11      WriteBuffer #3 dataOffset=0 length=4",
            "    2     17  EndPass",
            ">         20  refused read-alignment: ReadBuffer: offset is 4; it must be a multiple of 8",
            "              ReadBuffer buffer=#3 offset=4 <-",
            "          18      0x00000022 34",
            "          19      0x00000003 3",
            "          20      0x00000004 4   <-",
            "          21      0x00000000 0",
            "          22      0x00000004 4",
            "          23      0x00000000 0\n",
        ]
        .join("\n")
    );
}

/// Time and memory are linear: a stream and a text of some megabytes take a moment.
#[test]
fn large_ones() {
    let bundles: Vec<u32> = [20, 0, 0, 11, 65536].into_iter().chain(1..=65536).chain([21]).collect();
    let words = bundles.repeat(16);
    let data = vec![0xA5; 1 << 20];
    round_trip(&encode_blob(&words, &data));
    round_trip(&encode_blob(&[99; 1 << 20], &data));
    assert!(read(&"[ = ".repeat(1 << 20)).is_err());
    assert!(read(&"x".repeat(1 << 22)).is_err());
    assert!(read(&"BeginRenderPass\n".repeat(1 << 17)).is_err());
}

fn lockstep() -> Command {
    let mut command = Command::cargo_bin("lockstep").unwrap();
    command.arg("inspect");
    command
}

fn refused(arg: &std::path::Path, due: &str) {
    let name = arg.display().to_string();
    let output = lockstep().arg(arg).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.replace(&name, "FILE"), format!("lockstep: {due}\n"));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

#[test]
fn files_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let blob = encode_blob(&everything(), &counting());
    std::fs::write(at("a.wire"), &blob).unwrap();
    lockstep()
        .arg(at("a.wire"))
        .assert()
        .success()
        .stdout(EVERYTHING)
        .stderr("");
    std::fs::write(at("a.txt"), EVERYTHING).unwrap();
    lockstep()
        .arg(at("a.txt"))
        .args(["-o".into(), at("b.wire")])
        .assert()
        .success()
        .stdout("")
        .stderr("");
    assert_eq!(std::fs::read(at("b.wire")).unwrap(), blob);
    lockstep()
        .arg("-")
        .write_stdin(blob.clone())
        .assert()
        .success()
        .stdout(EVERYTHING);
    lockstep()
        .arg("-")
        .write_stdin("  SetPipeline #1\nrefused wrong-context")
        .assert()
        .success();
    lockstep()
        .args(["-", "--to-blob", "-"])
        .write_stdin(EVERYTHING)
        .assert()
        .success()
        .stdout(blob);
}

#[test]
fn a_case_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("case.json");
    let blob = encode_blob(&everything(), &counting());
    let stream = StreamCase {
        blob: blob.clone(),
        ..StreamCase::default()
    };
    let case = lockstep::case::CaseFile::of(Case::Stream(stream.clone()));
    lockstep::findings::write_case(&at, &case).unwrap();
    lockstep().arg(&at).assert().success().stdout(EVERYTHING).stderr("");
    lockstep()
        .arg(&at)
        .args(["-o", "-"])
        .assert()
        .success()
        .stdout(blob.clone());
    let short = StreamCase {
        blob: blob[..20].to_vec(),
        ..stream
    };
    let case = lockstep::case::CaseFile {
        case: Case::Stream(short),
        ..case
    };
    lockstep::findings::write_case(&at, &case).unwrap();
    refused(
        &at,
        "FILE: refused as a blob: bad-length: 214 words and 56 bytes of data make 928 bytes, and it has 20",
    );
}

// The operating system's words are in two of the messages.
#[cfg(unix)]
#[test]
fn files_that_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().join("x");
    refused(&at, "FILE: cannot read it: No such file or directory (os error 2)");
    let put = |bytes: &[u8], due: &str| {
        std::fs::write(&at, bytes).unwrap();
        refused(&at, due);
    };
    put(
        b"WIRE",
        "FILE: refused as a blob: bad-length: its header is 16 bytes, and it has 4",
    );
    put(
        b"WIRE\x03\0\0\0\0\0\0\0\0\0\0\0",
        "FILE: refused as a blob: bad-version: its version is 3, and not 4",
    );
    put(
        b"WIRE\x04\0\0\0\x01\0\0\0\x02\0\0\0abc",
        "FILE: refused as a blob: bad-length: 1 words and 2 bytes of data make 22 bytes, and it has 19",
    );
    put(
        b"\x7FELF\xFF\xFE",
        "FILE: not a blob (no WIRE at its start), not a case file and not text (not UTF-8 at byte 4)",
    );
    put(
        b" {\"format\": 1",
        "FILE: not a case file: EOF while parsing an object at line 1 column 13",
    );
    put(
        b"Submit\n  Draw x\n",
        "FILE:2:8: `x` is a word, and Draw takes none here; it is Draw vertexCount [instanceCount] [firstVertex] [firstInstance]",
    );
    std::fs::write(&at, "Submit").unwrap();
    let out = folder.path().join("no/such/folder");
    let output = lockstep().arg(&at).args(["-o".into(), out.clone()]).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    let due = format!(
        "lockstep: {}: cannot write it: No such file or directory (os error 2)\n",
        out.display()
    );
    assert_eq!((error, output.status.code()), (due, Some(2)));
}
