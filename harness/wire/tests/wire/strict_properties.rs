//! The strict check (section 8) over streams and tables that nothing holds together.

use proptest::collection::vec;
use proptest::prelude::*;
use wire::{
    ArgKind, BufferFacts, Dimension, DynamicBuffer, Format, ObjectTable, Op, TextureFacts, VertexBufferLayout,
    check_ranges, check_strict, commands,
};

/// Ids of a stream are 1 to 8, whatever they name.
const IDS: u32 = 8;

/// Every id names a buffer, a texture, a bind group and a pipeline: the commands say which is meant.
#[derive(Clone, Debug)]
struct Table {
    buffers: Vec<Option<BufferFacts>>,
    textures: Vec<Option<TextureFacts>>,
    groups: Vec<Vec<DynamicBuffer>>,
    pipelines: Vec<Vec<Option<VertexBufferLayout>>>,
}

impl ObjectTable for Table {
    fn buffer(&self, id: u32) -> Option<BufferFacts> {
        *self.buffers.get(id as usize)?
    }

    fn texture(&self, id: u32) -> Option<TextureFacts> {
        *self.textures.get(id as usize)?
    }

    fn bind_group(&self, id: u32) -> Option<&[DynamicBuffer]> {
        self.groups.get(id as usize).map(Vec::as_slice)
    }

    fn is_compute_pipeline(&self, _: u32) -> bool {
        true
    }

    fn render_pipeline(&self, id: u32) -> Option<&[Option<VertexBufferLayout>]> {
        self.pipelines.get(id as usize).map(Vec::as_slice)
    }
}

fn small_or_any() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0..20_u32, 2 => (0..64_u32).prop_map(|n| n * 4), 1 => any::<u32>(), 1 => Just(u32::MAX)]
}

fn bytes() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0..300_u64, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn buffer() -> impl Strategy<Value = BufferFacts> {
    let usage = prop_oneof![Just(0x3FF), any::<u32>()];
    (bytes(), usage).prop_map(|(size, usage)| BufferFacts { size, usage })
}

fn texture() -> impl Strategy<Value = TextureFacts> {
    let dimension = prop_oneof![Just(Dimension::D1), Just(Dimension::D2), Just(Dimension::D3)];
    let format = prop_oneof![
        Just("r32uint"),
        Just("rgba8unorm"),
        Just("bc7-rgba-unorm"),
        Just("astc-12x10-unorm"),
        Just("depth24plus-stencil8"),
        Just("stencil8"),
    ];
    let counts = (small_or_any(), prop_oneof![Just(1), Just(4)]);
    let sizes = [small_or_any(), small_or_any(), small_or_any()];
    (sizes, counts, dimension, format, any::<u32>()).prop_map(|(size, counts, dimension, format, usage)| TextureFacts {
        size,
        mip_level_count: counts.0,
        sample_count: counts.1,
        dimension,
        format: Format::named(format).expect("a format"),
        usage: usage | 3,
    })
}

fn dynamic_buffer() -> impl Strategy<Value = DynamicBuffer> {
    (any::<bool>(), bytes(), bytes(), bytes()).prop_map(|(uniform, buffer_size, offset, size)| DynamicBuffer {
        uniform,
        buffer_size,
        offset,
        size,
    })
}

fn vertex_buffer() -> impl Strategy<Value = Option<VertexBufferLayout>> {
    let layout = (bytes(), any::<bool>(), bytes());
    proptest::option::of(
        layout.prop_map(|(array_stride, per_instance, last_stride)| VertexBufferLayout {
            array_stride,
            per_instance,
            last_stride,
        }),
    )
}

fn table() -> impl Strategy<Value = Table> {
    let ids = IDS as usize;
    let groups = vec(vec(dynamic_buffer(), 0..3), ids);
    let pipelines = vec(vec(vertex_buffer(), 0..40), ids);
    let buffers = vec(proptest::option::weighted(0.9, buffer()), ids);
    let textures = vec(proptest::option::weighted(0.9, texture()), ids);
    (buffers, textures, groups, pipelines).prop_map(|(buffers, textures, groups, pipelines)| Table {
        buffers,
        textures,
        groups,
        pipelines,
    })
}

/// A command that Decode accepts where it may stand, all its lists short.
fn command(op: Op) -> impl Strategy<Value = Vec<u32>> {
    let word = |kind: &ArgKind| match kind {
        ArgKind::Id(_) => (1..=IDS).boxed(),
        ArgKind::OptionalId(_) => (0..=IDS).boxed(),
        ArgKind::Enum(values) => {
            proptest::sample::select(values.values.iter().map(|value| value.0).collect::<Vec<_>>()).boxed()
        }
        ArgKind::F32 | ArgKind::List { .. } | ArgKind::Optional(_) => Just(0).boxed(),
        ArgKind::Bool => (0..2_u32).boxed(),
        ArgKind::U32 | ArgKind::I32 | ArgKind::U64 => small_or_any().boxed(),
    };
    let mut words = vec![Just(op.word()).boxed()];
    for arg in wire::layout(op) {
        words.push(word(&arg.kind));
        if matches!(arg.kind, ArgKind::U64) {
            words.push(prop_oneof![8 => Just(0_u32), 1 => Just(1), 1 => Just((1 << 21) - 1)].boxed());
        }
    }
    words
}

/// A stream of passes and of commands between them; one in which Decode refuses a command ends there.
fn stream() -> impl Strategy<Value = Vec<u32>> {
    let outside = proptest::sample::select(vec![
        Op::WriteBuffer,
        Op::CopyBufferToBuffer,
        Op::CopyTextureToTexture,
        Op::WriteTexture,
    ]);
    let render = proptest::sample::select(vec![
        Op::SetPipeline,
        Op::SetBindGroup,
        Op::SetVertexBuffer,
        Op::SetIndexBuffer,
        Op::Draw,
        Op::DrawIndexed,
        Op::DrawIndirect,
        Op::DrawIndexedIndirect,
        Op::ExecuteBundles,
    ]);
    let compute = proptest::sample::select(vec![Op::SetBindGroup, Op::Dispatch, Op::DispatchIndirect]);
    let many = |begin: Vec<u32>, op: proptest::sample::Select<Op>, end: Vec<u32>| {
        vec(op.prop_flat_map(command), 0..6)
            .prop_map(move |commands| [begin.clone(), commands.concat(), end.clone()].concat())
    };
    let part = prop_oneof![
        2 => many(vec![], outside, vec![]),
        2 => many(vec![20, 0, 0], render, vec![21]),
        1 => many(vec![22], compute, vec![21]),
    ];
    vec(part, 1..5).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4096) })]

    /// "`range`: everything of section 5": what the strict check accepts, CheckRanges accepts. And it never panics.
    #[test]
    fn it_refuses_what_check_ranges_refuses(words in stream(), table in table()) {
        let cmds = || commands(&words, u32::MAX).map_while(Result::ok);
        let strict = check_strict(cmds(), &table);
        let ranges = check_ranges(cmds(), |id| table.buffer(id).map(|buffer| buffer.size), 0);
        if let Err(ranges) = ranges {
            prop_assert!(strict.is_err_and(|strict| strict.command <= ranges.command), "{:?} {:?}", strict, ranges);
        }
        if let Err(strict) = strict {
            let cmd = cmds().nth(strict.command).expect("the command");
            prop_assert_eq!(strict.op, cmd.op);
            prop_assert!((cmd.word + 1..=cmd.word + cmd.args.len()).contains(&strict.word));
        }
    }

    /// The first refusal in command order: what comes after it makes no difference.
    #[test]
    fn it_stops_at_the_first_refusal(words in stream(), table in table()) {
        let cmds: Vec<_> = commands(&words, u32::MAX).map_while(Result::ok).collect();
        if let Err(strict) = check_strict(cmds.iter().copied(), &table) {
            prop_assert_eq!(check_strict(cmds[..strict.command].iter().copied(), &table), Ok(()));
            prop_assert_eq!(check_strict(cmds[..=strict.command].iter().copied(), &table), Err(strict));
        }
    }
}
