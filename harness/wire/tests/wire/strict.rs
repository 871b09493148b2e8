//! The strict check (section 8): of each rule the last value that is accepted and the first that is refused.

use rstest::rstest;
use wire::{
    BufferFacts, Class, Cmd, Dimension, DynamicBuffer, Format, Limits, ObjectTable, Op, Rule, TextureFacts,
    VertexBufferLayout, check_strict, check_strict_bundle, decode, decode_bundle,
};

const MAX_SAFE: u64 = 9_007_199_254_740_991;

/// Buffers of 64 bytes: each of one usage, and one of all.
const MAP_READ: u32 = 1;
const COPY_SRC: u32 = 2;
const COPY_DST: u32 = 3;
const INDEX: u32 = 4;
const VERTEX: u32 = 5;
const INDIRECT: u32 = 6;
const ANY: u32 = 7;
const OTHER: u32 = 8;
/// Bind groups: without a dynamic offset; with two, at bindings of 16 bytes from byte 16 on of 1024, uniform and storage.
const PLAIN: u32 = 20;
const DYNAMIC: u32 = 21;
/// Pipelines: compute; render without vertex buffers; slot 0 none, slot 1 a vertex step, slot 2 an instance step.
const COMPUTE: u32 = 30;
const BARE: u32 = 31;
const STEPS: u32 = 32;
/// Textures: see `texture`.
const COLOR: u32 = 40;
const TWIN: u32 = 41;
const SRGB: u32 = 42;
const DEPTH_STENCIL: u32 = 43;
const SAMPLES: u32 = 44;
const VOLUME: u32 = 45;
const LINE: u32 = 46;
const BLOCKS: u32 = 47;
const SRC_ONLY: u32 = 48;
const DST_ONLY: u32 = 49;
const DEPTH16: u32 = 50;
const DEPTH32: u32 = 51;
const STENCIL: u32 = 52;
const OTHER_FORMAT: u32 = 53;
const SAMPLES_TWIN: u32 = 54;

struct Table;

static DYNAMIC_BUFFERS: [DynamicBuffer; 2] = [
    DynamicBuffer {
        uniform: true,
        buffer_size: 1024,
        offset: 16,
        size: 16,
    },
    DynamicBuffer {
        uniform: false,
        buffer_size: 1024,
        offset: 16,
        size: 16,
    },
];

static STEP_BUFFERS: [Option<VertexBufferLayout>; 3] = [
    None,
    Some(VertexBufferLayout {
        array_stride: 8,
        per_instance: false,
        last_stride: 12,
    }),
    Some(VertexBufferLayout {
        array_stride: 16,
        per_instance: true,
        last_stride: 4,
    }),
];

fn texture(format: &str, size: [u32; 3], dimension: Dimension) -> TextureFacts {
    TextureFacts {
        size,
        mip_level_count: 3,
        sample_count: 1,
        dimension,
        format: Format::named(format).expect("a format"),
        usage: 3,
    }
}

impl ObjectTable for Table {
    fn buffer(&self, id: u32) -> Option<BufferFacts> {
        let usage = match id {
            MAP_READ => 0x1,
            COPY_SRC => 0x4,
            COPY_DST => 0x8,
            INDEX => 0x10,
            VERTEX => 0x20,
            INDIRECT => 0x100,
            ANY | OTHER => 0x3FF,
            _ => return None,
        };
        Some(BufferFacts { size: 64, usage })
    }

    fn texture(&self, id: u32) -> Option<TextureFacts> {
        let flat = |format| texture(format, [8, 8, 4], Dimension::D2);
        Some(match id {
            COLOR | TWIN => flat("rgba8unorm"),
            SRGB => flat("rgba8unorm-srgb"),
            DEPTH_STENCIL => flat("depth24plus-stencil8"),
            SAMPLES | SAMPLES_TWIN => TextureFacts {
                sample_count: 4,
                mip_level_count: 1,
                ..texture("rgba8unorm", [8, 8, 1], Dimension::D2)
            },
            VOLUME => texture("rgba8unorm", [8, 8, 4], Dimension::D3),
            LINE => TextureFacts {
                mip_level_count: 1,
                ..texture("rgba8unorm", [8, 1, 1], Dimension::D1)
            },
            BLOCKS => texture("bc1-rgba-unorm", [12, 12, 1], Dimension::D2),
            SRC_ONLY => TextureFacts {
                usage: 1,
                ..flat("rgba8unorm")
            },
            DST_ONLY => TextureFacts {
                usage: 2,
                ..flat("rgba8unorm")
            },
            DEPTH16 => flat("depth16unorm"),
            DEPTH32 => flat("depth32float"),
            STENCIL => flat("stencil8"),
            OTHER_FORMAT => flat("rgba8uint"),
            _ => return None,
        })
    }

    fn bind_group(&self, id: u32) -> Option<&[DynamicBuffer]> {
        match id {
            PLAIN => Some(&[]),
            DYNAMIC => Some(&DYNAMIC_BUFFERS),
            _ => None,
        }
    }

    fn is_compute_pipeline(&self, id: u32) -> bool {
        id == COMPUTE
    }

    fn render_pipeline(&self, id: u32) -> Option<&[Option<VertexBufferLayout>]> {
        match id {
            BARE => Some(&[]),
            STEPS => Some(&STEP_BUFFERS),
            _ => None,
        }
    }
}

/// The command, the word after it that is named, and the rule.
type Answer = Result<(), (usize, usize, Rule)>;

/// What is said of commands after `before`; the word is counted from the refused command's opcode.
fn check_after(before: &[u32], commands: &[u32], after: &[u32]) -> Answer {
    let words = [before, commands, after].concat();
    let cmds = decode(&words, 4096).expect("well formed");
    let starts: Vec<usize> = cmds.iter().map(|cmd| cmd.word).collect();
    check_strict(cmds, &Table).map_err(|strict| (strict.command, strict.word - starts[strict.command], strict.rule))
}

/// Of one command outside a pass.
fn outside(command: &[u32]) -> Answer {
    check_after(&[], command, &[])
}

/// Of commands in a render pass without attachments.
fn rendering(commands: &[u32]) -> Answer {
    check_after(&[20, 0, 0], commands, &[21])
}

/// Of commands in a compute pass.
fn computing(commands: &[u32]) -> Answer {
    check_after(&[22], commands, &[21])
}

fn words(number: u64) -> [u32; 2] {
    [(number % (1 << 32)) as u32, (number >> 32) as u32]
}

fn refused(command: usize, word: usize, rule: Rule) -> Answer {
    Err((command, word, rule))
}

// Buffers.

#[rstest]
#[case::whole(COPY_DST, 0, 64, Ok(()))]
#[case::empty_at_the_end(COPY_DST, 64, 0, Ok(()))]
#[case::a_word_past(COPY_DST, 4, 64, refused(0, 2, Rule::WriteRange))]
#[case::empty_past_the_end(COPY_DST, 68, 0, refused(0, 2, Rule::WriteRange))]
#[case::past_two_to_32(COPY_DST, 1 << 32, 4, refused(0, 2, Rule::WriteRange))]
#[case::the_greatest_offset(COPY_DST, MAX_SAFE - 3, 64, refused(0, 2, Rule::WriteRange))]
#[case::misaligned(COPY_DST, 2, 4, refused(0, 2, Rule::WriteOffset))]
#[case::misaligned_and_past(COPY_DST, 62, 4, refused(0, 2, Rule::WriteOffset))]
#[case::usage(COPY_SRC, 0, 4, refused(0, 1, Rule::BufferCopyDst))]
#[case::usage_comes_first(MAP_READ, 1, 64, refused(0, 1, Rule::BufferCopyDst))]
#[case::no_buffer(COLOR, 0, 4, refused(0, 1, Rule::WrongKind))]
#[case::nothing(99, 0, 4, refused(0, 1, Rule::WrongKind))]
fn writes(#[case] buffer: u32, #[case] offset: u64, #[case] length: u32, #[case] expected: Answer) {
    let [low, high] = words(offset);
    assert_eq!(outside(&[30, buffer, low, high, 0, length]), expected);
}

#[rstest]
#[case::whole(COPY_SRC, 0, COPY_DST, 0, 64, Ok(()))]
#[case::nothing(COPY_SRC, 64, COPY_DST, 64, 0, Ok(()))]
#[case::source_past(COPY_SRC, 4, COPY_DST, 0, 64, refused(0, 2, Rule::CopySourceRange))]
#[case::destination_past(COPY_SRC, 0, COPY_DST, 4, 64, refused(0, 5, Rule::CopyDestinationRange))]
#[case::both_past(COPY_SRC, 4, COPY_DST, 4, 64, refused(0, 2, Rule::CopySourceRange))]
#[case::size_past_two_to_53(COPY_SRC, 8, COPY_DST, 8, MAX_SAFE - 3, refused(0, 2, Rule::CopySourceRange))]
#[case::size(COPY_SRC, 0, COPY_DST, 0, 6, refused(0, 7, Rule::CopySize))]
#[case::source_offset(COPY_SRC, 2, COPY_DST, 0, 4, refused(0, 2, Rule::CopySourceOffset))]
#[case::destination_offset(COPY_SRC, 0, COPY_DST, 3, 4, refused(0, 5, Rule::CopyDestinationOffset))]
#[case::source_usage(COPY_DST, 0, ANY, 0, 4, refused(0, 1, Rule::BufferCopySrc))]
#[case::destination_usage(ANY, 0, COPY_SRC, 0, 4, refused(0, 4, Rule::BufferCopyDst))]
#[case::one_buffer(ANY, 0, ANY, 32, 32, refused(0, 4, Rule::SameBuffer))]
#[case::one_buffer_and_nothing(ANY, 0, ANY, 0, 0, refused(0, 4, Rule::SameBuffer))]
#[case::two_of_all_usages(ANY, 0, OTHER, 0, 64, Ok(()))]
#[case::no_source(PLAIN, 0, ANY, 0, 4, refused(0, 1, Rule::WrongKind))]
#[case::no_destination(ANY, 0, PLAIN, 0, 4, refused(0, 4, Rule::WrongKind))]
fn copies(
    #[case] src: u32,
    #[case] from: u64,
    #[case] dst: u32,
    #[case] to: u64,
    #[case] size: u64,
    #[case] expected: Answer,
) {
    let command = [&[31, src][..], &words(from), &[dst], &words(to), &words(size)].concat();
    assert_eq!(outside(&command), expected);
}

#[rstest]
#[case::whole(MAP_READ, 0, 64, Ok(()))]
#[case::past(MAP_READ, 8, 60, refused(0, 2, Rule::MapRange))]
#[case::usage(COPY_DST, 0, 4, refused(0, 1, Rule::BufferMapRead))]
#[case::no_buffer(COMPUTE, 0, 4, refused(0, 1, Rule::WrongKind))]
fn reads(#[case] buffer: u32, #[case] offset: u64, #[case] size: u32, #[case] expected: Answer) {
    let [low, high] = words(offset);
    // Where in the window it goes is another's business.
    assert_eq!(outside(&[34, buffer, low, high, size, 60 << 20]), expected);
}

#[rstest]
#[case::draw(20, 12, 16, Rule::DrawIndirectRange)]
#[case::draw_indexed(20, 13, 20, Rule::DrawIndexedIndirectRange)]
#[case::dispatch(22, 24, 12, Rule::DispatchIndirectRange)]
fn indirect_arguments(#[case] begin: u32, #[case] op: u32, #[case] bytes: u64, #[case] range: Rule) {
    let check = |buffer: u32, offset: u64| {
        let command = [&[op, buffer][..], &words(offset)].concat();
        if begin == 20 {
            rendering(&command)
        } else {
            computing(&command)
        }
    };
    assert_eq!(check(INDIRECT, 0), Ok(()));
    assert_eq!(check(INDIRECT, 64 - bytes), Ok(()));
    assert_eq!(check(INDIRECT, 68 - bytes), refused(1, 2, range));
    assert_eq!(check(INDIRECT, 1 << 32), refused(1, 2, range));
    assert_eq!(check(INDIRECT, 2), refused(1, 2, Rule::IndirectOffset));
    assert_eq!(check(VERTEX, 0), refused(1, 1, Rule::BufferIndirect));
    assert_eq!(check(STEPS, 0), refused(1, 1, Rule::WrongKind));
}

#[test]
fn dispatches() {
    assert_eq!(computing(&[23, 65535, 65535, 65535]), Ok(()));
    assert_eq!(computing(&[23, 65536, 0, 0]), refused(1, 1, Rule::Workgroups));
    assert_eq!(computing(&[23, 0, 65536, 65536]), refused(1, 2, Rule::Workgroups));
    assert_eq!(computing(&[23, 1, 1, u32::MAX]), refused(1, 3, Rule::Workgroups));
}

// What a pass sets.

#[test]
fn pipelines_are_of_the_pass() {
    assert_eq!(computing(&[1, COMPUTE]), Ok(()));
    assert_eq!(computing(&[1, BARE]), refused(1, 1, Rule::WrongKind));
    assert_eq!(rendering(&[1, BARE]), Ok(()));
    assert_eq!(rendering(&[1, COMPUTE]), refused(1, 1, Rule::WrongKind));
    // The pass before is over.
    let two = [20, 0, 0, 21, 22, 1, COMPUTE, 21, 20, 0, 0, 1, COMPUTE, 21];
    assert_eq!(outside(&two), refused(6, 1, Rule::WrongKind));
}

#[rstest]
#[case::the_last_index(&[2, 3, PLAIN, 0], Ok(()))]
#[case::past_the_last_index(&[2, 4, PLAIN, 0], refused(1, 1, Rule::BindGroupIndex))]
#[case::index_comes_before_the_id(&[2, 4, 99, 0], refused(1, 1, Rule::BindGroupIndex))]
#[case::no_group(&[2, 0, ANY, 0], refused(1, 2, Rule::WrongKind))]
#[case::unset(&[2, 0, 0, 0], Ok(()))]
#[case::unset_with_an_offset(&[2, 0, 0, 1, 0], refused(1, 3, Rule::DynamicOffsetCount))]
#[case::an_offset_for_none(&[2, 0, PLAIN, 1, 0], refused(1, 3, Rule::DynamicOffsetCount))]
#[case::one_of_two(&[2, 0, DYNAMIC, 1, 0], refused(1, 3, Rule::DynamicOffsetCount))]
#[case::two(&[2, 0, DYNAMIC, 2, 0, 0], Ok(()))]
// 16 + 768 + 16 <= 1024 < 16 + 1024 + 16.
#[case::the_last_offsets(&[2, 0, DYNAMIC, 2, 768, 768], Ok(()))]
#[case::uniform_past(&[2, 0, DYNAMIC, 2, 1024, 0], refused(1, 4, Rule::DynamicOffsetRange))]
#[case::storage_past(&[2, 0, DYNAMIC, 2, 0, 1024], refused(1, 5, Rule::DynamicOffsetRange))]
#[case::far_past(&[2, 0, DYNAMIC, 2, 0, 0xFFFF_FF00], refused(1, 5, Rule::DynamicOffsetRange))]
#[case::uniform_misaligned(&[2, 0, DYNAMIC, 2, 128, 0], refused(1, 4, Rule::UniformOffset))]
#[case::storage_misaligned(&[2, 0, DYNAMIC, 2, 0, 4], refused(1, 5, Rule::StorageOffset))]
fn bind_groups(#[case] command: &[u32], #[case] expected: Answer) {
    assert_eq!(rendering(command), expected);
    assert_eq!(computing(command), expected);
}

#[rstest]
#[case::whole(0, VERTEX, 0, 64, Ok(()))]
#[case::the_rest(7, VERTEX, 60, 0, Ok(()))]
#[case::an_empty_rest(0, VERTEX, 64, 0, Ok(()))]
#[case::past(0, VERTEX, 4, 61, refused(1, 3, Rule::VertexBufferRange))]
#[case::no_rest(0, VERTEX, 68, 0, refused(1, 3, Rule::VertexBufferRange))]
#[case::size_past_two_to_32(0, VERTEX, 0, 1 << 32, refused(1, 3, Rule::VertexBufferRange))]
#[case::misaligned(0, VERTEX, 2, 4, refused(1, 3, Rule::VertexBufferOffset))]
#[case::any_size(0, VERTEX, 0, 3, Ok(()))]
#[case::usage(0, INDEX, 0, 0, refused(1, 2, Rule::BufferVertex))]
#[case::slot(8, VERTEX, 0, 0, refused(1, 1, Rule::VertexBufferSlot))]
#[case::slot_comes_before_the_id(8, 99, 0, 0, refused(1, 1, Rule::VertexBufferSlot))]
#[case::unset(7, 0, 0, 0, Ok(()))]
#[case::nothing_is_passed_with_null(7, 0, 3, 5, Ok(()))]
#[case::unset_past_the_last_slot(8, 0, 0, 0, refused(1, 1, Rule::VertexBufferSlot))]
#[case::no_buffer(0, COLOR, 0, 0, refused(1, 2, Rule::WrongKind))]
fn vertex_buffers(
    #[case] slot: u32,
    #[case] buffer: u32,
    #[case] offset: u64,
    #[case] size: u64,
    #[case] expected: Answer,
) {
    let command = [&[5, slot, buffer][..], &words(offset), &words(size)].concat();
    assert_eq!(rendering(&command), expected);
}

#[rstest]
#[case::whole(INDEX, 1, 0, 64, Ok(()))]
#[case::uint16_at_2(INDEX, 1, 2, 0, Ok(()))]
#[case::uint32_at_2(INDEX, 2, 2, 0, refused(1, 3, Rule::IndexBufferOffset))]
#[case::uint16_at_1(INDEX, 1, 1, 0, refused(1, 3, Rule::IndexBufferOffset))]
#[case::past(INDEX, 2, 4, 64, refused(1, 3, Rule::IndexBufferRange))]
#[case::no_rest(INDEX, 2, 68, 0, refused(1, 3, Rule::IndexBufferRange))]
#[case::usage(VERTEX, 2, 0, 0, refused(1, 1, Rule::BufferIndex))]
#[case::no_buffer(COLOR, 2, 0, 0, refused(1, 1, Rule::WrongKind))]
fn index_buffers(
    #[case] buffer: u32,
    #[case] format: u32,
    #[case] offset: u64,
    #[case] size: u64,
    #[case] expected: Answer,
) {
    let command = [&[6, buffer, format][..], &words(offset), &words(size)].concat();
    assert_eq!(rendering(&command), expected);
}

// Direct draws.

/// Sets the pipeline of steps, `vertex` bytes for its vertex step and `instance` bytes for its instance step.
fn steps(vertex: u32, instance: u32) -> Vec<u32> {
    let set = |slot: u32, size: u32| [5, slot, VERTEX, 0, 0, size, 0];
    [&[1, STEPS][..], &set(1, vertex), &set(2, instance)].concat()
}

#[rstest]
// The last of three vertices takes bytes 16 to 28, the last of two instances 16 to 20.
#[case::exactly(28, 20, [3, 2, 0, 0], Ok(()))]
#[case::a_byte_less_for_vertices(27, 20, [3, 2, 0, 0], refused(4, 1, Rule::VertexReads))]
#[case::a_byte_less_for_instances(28, 19, [3, 2, 0, 0], refused(4, 2, Rule::InstanceReads))]
#[case::vertices_come_first(27, 19, [3, 2, 0, 0], refused(4, 1, Rule::VertexReads))]
#[case::first_vertex_counts(28, 20, [2, 2, 1, 0], Ok(()))]
#[case::first_vertex_past(28, 20, [2, 2, 2, 0], refused(4, 1, Rule::VertexReads))]
#[case::first_instance_counts(28, 20, [3, 1, 0, 1], Ok(()))]
#[case::first_instance_past(28, 20, [3, 1, 0, 2], refused(4, 2, Rule::InstanceReads))]
#[case::nothing_is_read(4, 1, [0, 0, 0, 0], Ok(()))]
#[case::a_first_vertex_is_read_of_none(28, 20, [0, 1, 4, 0], refused(4, 1, Rule::VertexReads))]
#[case::no_vertex_but_instances(28, 3, [0, 1, 0, 0], refused(4, 2, Rule::InstanceReads))]
#[case::a_sum_past_two_to_32(64, 64, [u32::MAX, 1, u32::MAX, 0], refused(4, 1, Rule::VertexReads))]
#[case::an_instance_sum_past_two_to_32(64, 64, [1, u32::MAX, 0, 1], refused(4, 2, Rule::InstanceReads))]
fn draws(#[case] vertex: u32, #[case] instance: u32, #[case] draw: [u32; 4], #[case] expected: Answer) {
    let commands = [&steps(vertex, instance)[..], &[3], &draw].concat();
    assert_eq!(rendering(&commands), expected);
}

#[rstest]
// 62 bytes are 31 indices of uint16 and 15 whole ones of uint32.
#[case::exactly(1, [31, 1, 0], Ok(()))]
#[case::one_more(1, [32, 1, 0], refused(5, 1, Rule::IndexReads))]
#[case::first_counts(1, [30, 1, 2], refused(5, 1, Rule::IndexReads))]
#[case::none_past_the_end(1, [0, 1, 32], refused(5, 1, Rule::IndexReads))]
#[case::none_at_the_end(1, [0, 1, 31], Ok(()))]
#[case::uint32(2, [15, 1, 0], Ok(()))]
#[case::half_an_index(2, [16, 1, 0], refused(5, 1, Rule::IndexReads))]
#[case::a_sum_past_two_to_32(2, [u32::MAX, 1, 16], refused(5, 1, Rule::IndexReads))]
#[case::instances(2, [3, 2, 0], refused(5, 2, Rule::InstanceReads))]
fn indexed_draws(#[case] format: u32, #[case] draw: [u32; 3], #[case] expected: Answer) {
    let [count, instances, first] = draw;
    // The vertex step has no room for a single vertex, which an indexed draw does not say that it reads.
    let set = [6, INDEX, format, 0, 0, 62, 0];
    let commands = [&steps(4, 4)[..], &set, &[4, count, instances, first, 7, 0]].concat();
    assert_eq!(rendering(&commands), expected);
}

#[test]
fn what_is_not_set_is_the_devices_business() {
    let draw = [3, 100, 100, 0, 0];
    let indexed = [4, 100, 1, 0, 0, 0];
    let too_much = refused(4, 1, Rule::VertexReads);
    assert_eq!(rendering(&[&steps(8, 64)[..], &draw].concat()), too_much);
    assert_eq!(rendering(&draw), Ok(()));
    assert_eq!(rendering(&indexed), Ok(()));
    assert_eq!(rendering(&[&[1, STEPS][..], &draw, &indexed].concat()), Ok(()));
    // Unset again; another pipeline; bundles, none of them too; another pass.
    let unset = [5, 1, 0, 0, 0, 0, 0, 5, 2, 0, 0, 0, 0, 0];
    assert_eq!(rendering(&[&steps(8, 64)[..], &unset, &draw].concat()), Ok(()));
    assert_eq!(rendering(&[&steps(8, 64)[..], &[1, BARE], &draw].concat()), Ok(()));
    assert_eq!(rendering(&[&steps(8, 64)[..], &[11, 0], &draw].concat()), Ok(()));
    assert_eq!(rendering(&[&steps(8, 64)[..], &[21, 20, 0, 0], &draw].concat()), Ok(()));
}

#[test]
fn a_bundle_is_held_to_the_same_rules() {
    let check = |words: &[u32]| {
        let cmds = decode_bundle(words).expect("well formed");
        check_strict_bundle(cmds, &Table).map_err(|strict| (strict.command, strict.word, strict.rule))
    };
    let draw = [&steps(28, 20)[..], &[3, 3, 2, 0, 0]].concat();
    assert_eq!(check(&draw), Ok(()));
    let more = [&draw[..], &[3, 4, 2, 0, 0]].concat();
    assert_eq!(check(&more), refused(4, 22, Rule::VertexReads));
    assert_eq!(check(&[12, INDIRECT, 52, 0]), refused(0, 2, Rule::DrawIndirectRange));
    assert_eq!(check(&[1, COMPUTE]), refused(0, 1, Rule::WrongKind));
}

// Textures.

/// A copy of `size` from a texture's mip level, x, y, z and aspect to another's.
fn copy_textures(src: [u32; 6], dst: [u32; 6], size: [u32; 3]) -> Answer {
    outside(&[&[32][..], &src, &dst, &size].concat())
}

#[rstest]
#[case::whole([COLOR, 0, 0, 0, 0, 0], [TWIN, 0, 0, 0, 0, 1], [8, 8, 4], Ok(()))]
#[case::srgb([COLOR, 0, 0, 0, 0, 0], [SRGB, 0, 0, 0, 0, 0], [8, 8, 4], Ok(()))]
#[case::a_part([COLOR, 0, 5, 6, 3, 0], [TWIN, 0, 1, 0, 1, 0], [3, 2, 1], Ok(()))]
#[case::nothing_at_the_end([COLOR, 0, 8, 8, 4, 0], [TWIN, 0, 8, 8, 4, 0], [0, 0, 0], Ok(()))]
#[case::x_past([COLOR, 0, 1, 0, 0, 0], [TWIN, 0, 0, 0, 0, 0], [8, 8, 1], refused(0, 3, Rule::CopyExtent))]
#[case::y_past([COLOR, 0, 0, 0, 0, 0], [TWIN, 0, 0, 1, 0, 0], [8, 8, 1], refused(0, 10, Rule::CopyExtent))]
#[case::layers_past([COLOR, 0, 0, 0, 1, 0], [TWIN, 0, 0, 0, 0, 0], [8, 8, 4], refused(0, 5, Rule::CopyExtent))]
#[case::nothing_past_the_end([COLOR, 0, 9, 0, 0, 0], [TWIN, 0, 0, 0, 0, 0], [0, 8, 1], refused(0, 3, Rule::CopyExtent))]
#[case::a_sum_past_two_to_32([COLOR, 0, u32::MAX, 0, 0, 0], [TWIN, 0, 0, 0, 0, 0], [2, 1, 1], refused(0, 3, Rule::CopyExtent))]
#[case::the_last_mip_level([COLOR, 2, 0, 0, 3, 0], [TWIN, 2, 1, 1, 3, 0], [1, 1, 1], Ok(()))]
#[case::a_mip_level_is_smaller([COLOR, 2, 0, 0, 0, 0], [TWIN, 0, 0, 0, 0, 0], [3, 1, 1], refused(0, 3, Rule::CopyExtent))]
#[case::no_mip_level([COLOR, 3, 0, 0, 0, 0], [TWIN, 0, 0, 0, 0, 0], [1, 1, 1], refused(0, 2, Rule::MipLevel))]
#[case::far_from_a_mip_level([TWIN, 0, 0, 0, 0, 0], [COLOR, u32::MAX, 0, 0, 0, 0], [1, 1, 1], refused(0, 8, Rule::MipLevel))]
#[case::a_volume_has_slices([VOLUME, 1, 0, 0, 1, 0], [COLOR, 0, 0, 0, 0, 0], [4, 4, 1], Ok(()))]
#[case::a_mip_level_of_a_volume_has_fewer([VOLUME, 1, 0, 0, 1, 0], [COLOR, 0, 0, 0, 0, 0], [4, 4, 2], refused(0, 5, Rule::CopyExtent))]
#[case::a_line([LINE, 0, 0, 0, 0, 0], [COLOR, 0, 0, 0, 0, 0], [8, 1, 1], Ok(()))]
#[case::a_line_has_one_row([COLOR, 0, 0, 0, 0, 0], [LINE, 0, 0, 0, 0, 0], [8, 2, 1], refused(0, 10, Rule::CopyExtent))]
#[case::formats([COLOR, 0, 0, 0, 0, 0], [OTHER_FORMAT, 0, 0, 0, 0, 0], [8, 8, 1], refused(0, 7, Rule::Formats))]
#[case::samples([COLOR, 0, 0, 0, 0, 0], [SAMPLES, 0, 0, 0, 0, 0], [8, 8, 1], refused(0, 7, Rule::SampleCounts))]
#[case::whole_samples([SAMPLES, 0, 0, 0, 0, 0], [SAMPLES_TWIN, 0, 0, 0, 0, 0], [8, 8, 1], Ok(()))]
#[case::a_part_of_samples([SAMPLES, 0, 0, 0, 0, 0], [SAMPLES_TWIN, 0, 0, 0, 0, 0], [8, 4, 1], refused(0, 14, Rule::WholeSubresource))]
#[case::source_usage([DST_ONLY, 0, 0, 0, 0, 0], [COLOR, 0, 0, 0, 0, 0], [1, 1, 1], refused(0, 1, Rule::TextureCopySrc))]
#[case::destination_usage([COLOR, 0, 0, 0, 0, 0], [SRC_ONLY, 0, 0, 0, 0, 0], [1, 1, 1], refused(0, 7, Rule::TextureCopyDst))]
#[case::one_usage_each([SRC_ONLY, 0, 0, 0, 0, 0], [DST_ONLY, 0, 0, 0, 0, 0], [1, 1, 1], Ok(()))]
#[case::no_texture([ANY, 0, 0, 0, 0, 0], [COLOR, 0, 0, 0, 0, 0], [1, 1, 1], refused(0, 1, Rule::WrongKind))]
#[case::no_destination([COLOR, 0, 0, 0, 0, 0], [ANY, 0, 0, 0, 0, 0], [1, 1, 1], refused(0, 7, Rule::WrongKind))]
#[case::depth_of_color([COLOR, 0, 0, 0, 0, 3], [TWIN, 0, 0, 0, 0, 0], [1, 1, 1], refused(0, 6, Rule::AllAspects))]
#[case::stencil_of_color([COLOR, 0, 0, 0, 0, 0], [TWIN, 0, 0, 0, 0, 2], [1, 1, 1], refused(0, 12, Rule::AllAspects))]
#[case::depth_alone([DEPTH16, 0, 0, 0, 0, 3], [DEPTH16, 0, 0, 0, 2, 1], [8, 8, 2], Ok(()))]
#[case::stencil_alone([STENCIL, 0, 0, 0, 0, 2], [STENCIL, 0, 0, 0, 2, 0], [8, 8, 2], Ok(()))]
#[case::depth_of_both([DEPTH_STENCIL, 0, 0, 0, 0, 3], [DEPTH_STENCIL, 0, 0, 0, 2, 0], [8, 8, 2], refused(0, 6, Rule::AllAspects))]
#[case::both([DEPTH_STENCIL, 1, 0, 0, 0, 1], [DEPTH_STENCIL, 1, 0, 0, 2, 0], [4, 4, 2], Ok(()))]
#[case::a_part_of_depth([DEPTH32, 0, 0, 0, 0, 0], [DEPTH32, 0, 0, 0, 2, 0], [4, 8, 1], refused(0, 13, Rule::WholeSubresource))]
#[case::all_layers_but_one_column([DEPTH32, 0, 1, 0, 0, 0], [DEPTH32, 0, 0, 0, 2, 0], [8, 8, 1], refused(0, 3, Rule::CopyExtent))]
// 12 x 12 at mip level 1 is 6 x 6, which is 8 x 8 in whole blocks.
#[case::blocks([BLOCKS, 1, 4, 4, 0, 0], [BLOCKS, 0, 8, 8, 0, 0], [4, 4, 1], Ok(()))]
#[case::origin_in_a_block([BLOCKS, 0, 2, 0, 0, 0], [BLOCKS, 1, 0, 0, 0, 0], [4, 4, 1], refused(0, 3, Rule::OriginBlock))]
#[case::origin_in_a_row_of_blocks([BLOCKS, 0, 0, 0, 0, 0], [BLOCKS, 1, 0, 6, 0, 0], [4, 4, 1], refused(0, 10, Rule::OriginBlock))]
#[case::half_a_block([BLOCKS, 0, 0, 0, 0, 0], [BLOCKS, 1, 0, 0, 0, 0], [6, 4, 1], refused(0, 13, Rule::ExtentBlock))]
#[case::half_a_row_of_blocks([BLOCKS, 0, 0, 0, 0, 0], [BLOCKS, 1, 0, 0, 0, 0], [4, 6, 1], refused(0, 14, Rule::ExtentBlock))]
#[case::blocks_past([BLOCKS, 1, 8, 0, 0, 0], [BLOCKS, 0, 0, 0, 0, 0], [4, 4, 1], refused(0, 3, Rule::CopyExtent))]
#[case::onto_itself([COLOR, 0, 0, 0, 0, 0], [COLOR, 0, 4, 4, 0, 0], [4, 4, 1], refused(0, 7, Rule::SameSubresource))]
#[case::onto_another_layer([COLOR, 0, 0, 0, 0, 0], [COLOR, 0, 0, 0, 2, 0], [8, 8, 2], Ok(()))]
#[case::onto_a_layer_too_many([COLOR, 0, 0, 0, 0, 0], [COLOR, 0, 0, 0, 1, 0], [8, 8, 2], refused(0, 7, Rule::SameSubresource))]
#[case::down_onto_a_layer_too_many([COLOR, 0, 0, 0, 2, 0], [COLOR, 0, 0, 0, 1, 0], [1, 1, 2], refused(0, 7, Rule::SameSubresource))]
#[case::onto_another_mip_level([COLOR, 0, 0, 0, 0, 0], [COLOR, 1, 0, 0, 0, 0], [4, 4, 4], Ok(()))]
#[case::no_layers_onto_itself([COLOR, 0, 0, 0, 0, 0], [COLOR, 0, 0, 0, 0, 0], [8, 8, 0], Ok(()))]
#[case::no_texels_onto_itself([COLOR, 0, 0, 0, 0, 0], [COLOR, 0, 0, 0, 0, 0], [0, 8, 1], refused(0, 7, Rule::SameSubresource))]
#[case::slices_are_one_subresource([VOLUME, 0, 0, 0, 0, 0], [VOLUME, 0, 0, 0, 2, 0], [8, 8, 2], refused(0, 7, Rule::SameSubresource))]
fn texture_copies(#[case] src: [u32; 6], #[case] dst: [u32; 6], #[case] size: [u32; 3], #[case] expected: Answer) {
    assert_eq!(copy_textures(src, dst, size), expected);
}

const NONE: u32 = u32::MAX;

#[rstest]
// Rows of 16 bytes, of which the last is 8: 2 * 16 + 8 = 40.
#[case::exactly([COLOR, 0, 0, 0, 0, 0], [40, 0, 16, 3], [2, 3, 1], Ok(()))]
#[case::a_byte_less([COLOR, 0, 0, 0, 0, 0], [39, 0, 16, 3], [2, 3, 1], refused(0, 8, Rule::DataBytes))]
#[case::the_offset_counts([COLOR, 0, 0, 0, 0, 0], [41, 1, 16, 3], [2, 3, 1], Ok(()))]
#[case::a_byte_less_behind_it([COLOR, 0, 0, 0, 0, 0], [41, 2, 16, 3], [2, 3, 1], refused(0, 8, Rule::DataBytes))]
// Images of 4 rows: 64 + 40.
#[case::two_images([COLOR, 0, 0, 0, 0, 0], [104, 0, 16, 4], [2, 3, 2], Ok(()))]
#[case::two_images_less_a_byte([COLOR, 0, 0, 0, 0, 0], [103, 0, 16, 4], [2, 3, 2], refused(0, 8, Rule::DataBytes))]
#[case::nothing_needs_nothing([COLOR, 0, 0, 0, 0, 0], [0, 0, NONE, NONE], [0, 0, 0], Ok(()))]
#[case::but_an_offset_inside([COLOR, 0, 0, 0, 0, 0], [0, 1, NONE, NONE], [0, 0, 0], refused(0, 8, Rule::DataBytes))]
#[case::rows_of_nothing_need_their_strides([COLOR, 0, 0, 0, 0, 0], [16, 0, 16, NONE], [0, 2, 1], Ok(()))]
#[case::less_than_that([COLOR, 0, 0, 0, 0, 0], [15, 0, 16, NONE], [0, 2, 1], refused(0, 8, Rule::DataBytes))]
#[case::the_greatest_strides([COLOR, 0, 0, 0, 0, 0], [64, 0, NONE - 1, NONE - 1], [1, 1, 4], refused(0, 8, Rule::DataBytes))]
#[case::one_row_needs_no_stride([COLOR, 0, 0, 0, 0, 0], [8, 0, NONE, NONE], [2, 1, 1], Ok(()))]
#[case::two_rows_do([COLOR, 0, 0, 0, 0, 0], [64, 0, NONE, 3], [2, 2, 1], refused(0, 11, Rule::BytesPerRowGiven))]
#[case::two_images_do([COLOR, 0, 0, 0, 0, 0], [64, 0, NONE, 3], [2, 1, 2], refused(0, 11, Rule::BytesPerRowGiven))]
#[case::two_images_need_a_height([COLOR, 0, 0, 0, 0, 0], [64, 0, 8, NONE], [2, 1, 2], refused(0, 12, Rule::RowsPerImageGiven))]
#[case::a_stride_for_one_row_too([COLOR, 0, 0, 0, 0, 0], [64, 0, 7, NONE], [2, 1, 1], refused(0, 11, Rule::BytesPerRow))]
#[case::a_height_for_one_image_too([COLOR, 0, 0, 0, 0, 0], [64, 0, 8, 1], [2, 2, 1], refused(0, 12, Rule::RowsPerImage))]
#[case::extent([COLOR, 1, 3, 0, 0, 0], [64, 0, 8, NONE], [2, 1, 1], refused(0, 3, Rule::CopyExtent))]
#[case::mip_level([COLOR, 3, 0, 0, 0, 0], [64, 0, 8, NONE], [1, 1, 1], refused(0, 2, Rule::MipLevel))]
#[case::usage([SRC_ONLY, 0, 0, 0, 0, 0], [64, 0, 8, NONE], [1, 1, 1], refused(0, 1, Rule::TextureCopyDst))]
#[case::samples([SAMPLES, 0, 0, 0, 0, 0], [64, 0, 8, NONE], [8, 8, 1], refused(0, 1, Rule::OneSample))]
#[case::no_texture([ANY, 0, 0, 0, 0, 0], [64, 0, 8, NONE], [1, 1, 1], refused(0, 1, Rule::WrongKind))]
// Two rows of 2 blocks, of 8 bytes each: 16 + 16.
#[case::blocks([BLOCKS, 1, 0, 0, 0, 0], [32, 0, 16, 2], [8, 8, 1], Ok(()))]
#[case::blocks_less_a_byte([BLOCKS, 1, 0, 0, 0, 0], [31, 0, 16, 2], [8, 8, 1], refused(0, 8, Rule::DataBytes))]
#[case::half_a_block([BLOCKS, 1, 0, 0, 0, 0], [32, 0, 16, 2], [6, 8, 1], refused(0, 13, Rule::ExtentBlock))]
#[case::depth16([DEPTH16, 2, 0, 0, 0, 0], [8, 0, 4, 2], [2, 2, 1], Ok(()))]
#[case::depth16_named([DEPTH16, 2, 0, 0, 0, 3], [7, 0, 4, 2], [2, 2, 1], refused(0, 8, Rule::DataBytes))]
#[case::stencil8([STENCIL, 2, 0, 0, 0, 1], [4, 0, 2, 2], [2, 2, 1], Ok(()))]
#[case::stencil_of_both([DEPTH_STENCIL, 2, 0, 0, 0, 2], [4, 0, 2, 2], [2, 2, 1], Ok(()))]
#[case::depth_of_both([DEPTH_STENCIL, 2, 0, 0, 0, 3], [64, 0, 8, 2], [2, 2, 1], refused(0, 6, Rule::WritableAspect))]
#[case::both([DEPTH_STENCIL, 2, 0, 0, 0, 0], [64, 0, 8, 2], [2, 2, 1], refused(0, 6, Rule::OneAspect))]
#[case::depth32([DEPTH32, 2, 0, 0, 0, 0], [64, 0, 8, 2], [2, 2, 1], refused(0, 6, Rule::WritableAspect))]
#[case::depth_of_stencil([STENCIL, 2, 0, 0, 0, 3], [64, 0, 8, 2], [2, 2, 1], refused(0, 6, Rule::OneAspect))]
#[case::stencil_of_depth([DEPTH16, 2, 0, 0, 0, 2], [64, 0, 8, 2], [2, 2, 1], refused(0, 6, Rule::OneAspect))]
#[case::stencil_of_color([COLOR, 0, 0, 0, 0, 2], [64, 0, 8, 2], [2, 2, 1], refused(0, 6, Rule::OneAspect))]
#[case::a_part_of_stencil([STENCIL, 2, 0, 0, 0, 0], [64, 0, 8, 2], [1, 2, 1], refused(0, 13, Rule::WholeSubresource))]
fn texture_writes(#[case] place: [u32; 6], #[case] data: [u32; 4], #[case] size: [u32; 3], #[case] expected: Answer) {
    let [length, offset, bytes_per_row, rows_per_image] = data;
    let data = [0, length, offset, 0, bytes_per_row, rows_per_image];
    assert_eq!(outside(&[&[33][..], &place, &data, &size].concat()), expected);
}

// The whole.

#[test]
fn the_first_refused_command_is_named_by_index_word_and_class() {
    // Submit, a write that fits, a write that is misaligned, another that is past the end.
    let words = [
        40, 30, COPY_DST, 0, 0, 0, 4, 30, COPY_DST, 2, 0, 0, 4, 30, COPY_DST, 64, 0, 0, 4,
    ];
    let refusal = check_strict(decode(&words, 4).expect("well formed"), &Table).expect_err("misaligned");
    assert_eq!((refusal.command, refusal.op, refusal.word), (2, Op::WriteBuffer, 9));
    assert_eq!((refusal.rule, refusal.class()), (Rule::WriteOffset, Class::Alignment));
    assert_eq!(
        refusal.to_string(),
        "command 2 (WriteBuffer), word 9: alignment: writeBuffer: bufferOffset is a multiple of 4"
    );
}

#[test]
fn a_command_that_no_decoder_gives_is_refused() {
    for op in Op::ALL {
        let takes_words = !wire::layout(op).is_empty();
        let looked_at = !matches!(
            op,
            Op::BeginRenderPass
                | Op::ExecuteBundles
                | Op::SetViewport
                | Op::SetScissorRect
                | Op::SetBlendConstant
                | Op::SetStencilReference
        );
        let cmd = Cmd { word: 0, op, args: &[] };
        let refusal = check_strict([cmd], &Table).map_err(|strict| strict.rule);
        let expected = if takes_words && looked_at {
            Err(Rule::Malformed)
        } else {
            Ok(())
        };
        assert_eq!(refusal, expected, "{op}");
    }
}

#[test]
fn limits_are_the_hosts_to_give() {
    struct Wide;
    impl ObjectTable for Wide {
        fn buffer(&self, id: u32) -> Option<BufferFacts> {
            Table.buffer(id)
        }
        fn texture(&self, _: u32) -> Option<TextureFacts> {
            None
        }
        fn bind_group(&self, id: u32) -> Option<&[DynamicBuffer]> {
            (id == DYNAMIC).then_some(&DYNAMIC_BUFFERS)
        }
        fn is_compute_pipeline(&self, _: u32) -> bool {
            false
        }
        fn render_pipeline(&self, _: u32) -> Option<&[Option<VertexBufferLayout>]> {
            None
        }
        fn limits(&self) -> Limits {
            Limits {
                max_bind_groups: 5,
                max_vertex_buffers: u32::MAX,
                max_compute_workgroups_per_dimension: 7,
                min_uniform_buffer_offset_alignment: 32,
                min_storage_buffer_offset_alignment: 64,
            }
        }
    }
    let check = |commands: &[u32]| {
        let words = [&[20, 0, 0][..], commands, &[21]].concat();
        check_strict(decode(&words, 0).expect("well formed"), &Wide).map_err(|strict| strict.rule)
    };
    assert_eq!(check(&[2, 4, DYNAMIC, 2, 32, 64]), Ok(()));
    assert_eq!(check(&[2, 5, DYNAMIC, 2, 32, 64]), Err(Rule::BindGroupIndex));
    assert_eq!(check(&[2, 4, DYNAMIC, 2, 16, 64]), Err(Rule::UniformOffset));
    assert_eq!(check(&[2, 4, DYNAMIC, 2, 32, 32]), Err(Rule::StorageOffset));
    // "A higher number means these."
    assert_eq!(check(&[5, 31, VERTEX, 0, 0, 0, 0]), Ok(()));
    assert_eq!(check(&[5, 32, VERTEX, 0, 0, 0, 0]), Err(Rule::VertexBufferSlot));
    let words = [22, 23, 7, 7, 8, 21];
    let dispatch = check_strict(decode(&words, 0).expect("well formed"), &Wide);
    assert_eq!(dispatch.map_err(|strict| strict.word), Err(4));
}

#[test]
fn formats_go_by_webgpus_names() {
    let known = |name: &str| Format::named(name).map(|format| (format.name().to_owned(), format.block()));
    assert_eq!(known("r32uint"), Some(("r32uint".into(), [1, 1])));
    assert_eq!(
        known("astc-12x10-unorm-srgb"),
        Some(("astc-12x10-unorm-srgb".into(), [12, 10]))
    );
    assert_eq!(known("R32Uint"), None);
    assert_eq!(known("nv12"), None);
}

#[test]
fn every_class_has_a_rule_and_every_rule_its_own_words() {
    for class in Class::ALL {
        assert!(Rule::ALL.iter().any(|rule| rule.class() == class), "{class}");
    }
    for rule in Rule::ALL {
        let same = Rule::ALL.iter().filter(|other| other.words() == rule.words()).count();
        assert_eq!(same, 1, "{rule}");
    }
}
