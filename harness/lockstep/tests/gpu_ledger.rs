//! The lines of the ledger: an engine still does what its line says, and nothing of the like is tolerated beside it.

use lockstep::case::{Object, StreamCase};
use lockstep::gpu::engine::{self, Engine};
use lockstep::gpu::kernels::Kernel;
use lockstep::gpu::ledger::LINES;
use lockstep::oracles::gpu::{Cell, Judged, replay};
use lockstep::readers::ask;
use lockstep::readers::native::Native;
use rstest::rstest;
use wire::{Kind, Op};

fn object(id: u32, kind: Kind, refs: &[u32], body: &str) -> Object {
    Object {
        id,
        kind,
        refs: refs.into(),
        body: body.into(),
    }
}

/// A buffer of 16 bytes that is copied both ways.
fn case(words: &[u32], data: &[u8]) -> StreamCase {
    case_over(
        vec![object(1, Kind::Buffer, &[], r#"{"size":16,"usage":12}"#)],
        words,
        data,
    )
}

fn case_over(objects: Vec<Object>, words: &[u32], data: &[u8]) -> StreamCase {
    StreamCase {
        id_map: objects.iter().map(|object| (object.id, object.id)).collect(),
        objects,
        blob: wire::encode_blob(words, data),
        ..StreamCase::default()
    }
}

fn open(id: &str) -> Box<dyn Engine> {
    engine::open(id).unwrap_or_else(|error| panic!("{error:#}"))
}

fn judge(engine: &mut dyn Engine, case: &StreamCase) -> Judged {
    let answers = ask::case(&mut Native::default(), case, None).expect("native answers");
    let answer = answers.stream.expect("an answer");
    replay(engine, case, &answer).expect("it comes to CheckRanges").0
}

/// Nothing, written at 20 of 16 bytes.
const WRITE_NOTHING: [u32; 6] = [Op::WriteBuffer as u32, 1, 20, 0, 0, 0];

#[test]
fn deno_takes_a_write_of_nothing_past_the_end() {
    let judged = judge(open("deno").as_mut(), &case(&WRITE_NOTHING, &[]));
    assert_eq!((judged.cell, judged.what.as_str()), (Cell::Tolerated, LINES[0].name));
}

#[rstest]
fn the_others_refuse_it(#[values("wgpu:vulkan", "wgpu:noop", "dawn:null")] id: &str) {
    assert_eq!(judge(open(id).as_mut(), &case(&WRITE_NOTHING, &[])).cell, Cell::Right);
}

#[test]
fn deno_refuses_four_bytes_there() {
    let words = [Op::WriteBuffer as u32, 1, 20, 0, 0, 4];
    assert_eq!(judge(open("deno").as_mut(), &case(&words, &[0; 4])).cell, Cell::Right);
}

/// What a new buffer holds depends on the memory that it is given, so streams that fill theirs go before.
#[test]
fn deno_does_not_zero_what_a_dynamic_offset_reaches() {
    let layout = r#"{"entries":[{"binding":0,"visibility":4,"buffer":{"type":"storage"}},{"binding":1,"visibility":4,"buffer":{"type":"uniform","hasDynamicOffset":true}}]}"#;
    let objects = vec![
        object(1, Kind::Buffer, &[], r#"{"size":16,"usage":140}"#),
        object(2, Kind::Buffer, &[], r#"{"size":516,"usage":76}"#),
        object(3, Kind::BindGroupLayout, &[], layout),
        object(
            4,
            Kind::BindGroup,
            &[3, 1, 2],
            r#"{"entries":[{"binding":0},{"binding":1,"offset":0,"size":4}]}"#,
        ),
        object(5, Kind::ShaderModule, &[], &Kernel::Step.module_body()),
        object(6, Kind::PipelineLayout, &[3], "{}"),
        object(
            7,
            Kind::ComputePipeline,
            &[6, 5],
            r#"{"compute":{"entryPoint":"main"}}"#,
        ),
    ];
    let fill = [Op::WriteBuffer as u32, 2, 0, 0, 0, 516, Op::Submit as u32];
    let pass = [
        &[Op::BeginComputePass as u32, Op::SetPipeline as u32, 7][..],
        &[Op::SetBindGroup as u32, 0, 4, 1, 256, Op::Dispatch as u32, 1, 1, 1],
        &[Op::EndPass as u32, Op::Submit as u32],
    ];
    let fill = case_over(objects.clone(), &fill, &[0xA5; 516]);
    let step = case_over(objects, &pass.concat(), &[]);
    let shows = |engine: &mut dyn Engine| {
        (0..100).any(|_| {
            assert_eq!(judge(engine, &fill).cell, Cell::Sound);
            let judged = judge(engine, &step);
            assert!(judged.cell == Cell::Sound || judged.what == LINES[1].name, "{judged:?}");
            judged.cell == Cell::Tolerated
        })
    };
    assert!(shows(open("deno").as_mut()), "deno zeroes it now: the line goes");
    assert!(!shows(open("wgpu:vulkan").as_mut()));
}

/// The texture is of zeros, and is to be cleared to 5.
#[rstest]
#[case::gl_behind_a_hole("wgpu:gl", 0, (Cell::Tolerated, LINES[2].name))]
#[case::gl_alone("wgpu:gl", 4, (Cell::Sound, "no error"))]
#[case::vulkan_behind_a_hole("wgpu:vulkan", 0, (Cell::Sound, "no error"))]
fn gl_clears_another_attachment_behind_a_hole(#[case] engine: &str, #[case] first: u32, #[case] due: (Cell, &str)) {
    let texture = r#"{"size":[4,4,1],"format":"r32uint","usage":17}"#;
    let objects = vec![
        object(1, Kind::Texture, &[], texture),
        object(2, Kind::TextureView, &[1], "{}"),
        object(3, Kind::Texture, &[], texture),
        object(4, Kind::TextureView, &[3], "{}"),
    ];
    let clear = |view: u32| [view, 0, 2, 1, 5.0_f32.to_bits(), 0, 0, 0];
    let words = [
        &[Op::BeginRenderPass as u32, 2][..],
        &clear(first),
        &clear(2),
        &[0, Op::EndPass as u32, Op::Submit as u32],
    ];
    let judged = judge(open(engine).as_mut(), &case_over(objects, &words.concat(), &[]));
    assert_eq!((judged.cell, judged.what.as_str()), due, "{judged:?}");
}

/// From byte 8 on the indices 0, 1, 2 cover the texel with 0; those from the start, 0 three times, leave it at 1.
fn indexed(op: Op, offset: u32, in_bundle: bool) -> StreamCase {
    let draws = |[pipeline, vertex, index, args]: [u32; 4]| {
        let draw: &[u32] = match op {
            Op::DrawIndexed => &[Op::DrawIndexed as u32, 3, 1, 0, 0, 0],
            _ => &[Op::DrawIndexedIndirect as u32, args, 0, 0],
        };
        [
            &[Op::SetPipeline as u32, pipeline][..],
            &[Op::SetVertexBuffer as u32, 0, vertex, 0, 0, 0, 0],
            &[Op::SetIndexBuffer as u32, index, 1, offset, 0, 0, 0],
            draw,
        ]
        .concat()
    };
    let bundle = format!(r#"{{"colorFormats":["r32uint"],"words":{:?}}}"#, draws([1, 2, 3, 4]));
    let pipeline = r#"{"vertex":{"buffers":[{"arrayStride":4,"stepMode":"instance","attributes":[{"format":"uint32","offset":0,"shaderLocation":0}]}]},"fragment":{"targets":[{"format":"r32uint"}]}}"#;
    let objects = vec![
        object(1, Kind::Buffer, &[], r#"{"size":20,"usage":264}"#),
        object(2, Kind::Buffer, &[], r#"{"size":16,"usage":24}"#),
        object(3, Kind::Texture, &[], r#"{"size":[1],"format":"r32uint","usage":17}"#),
        object(4, Kind::TextureView, &[3], "{}"),
        object(5, Kind::Buffer, &[], r#"{"size":4,"usage":32}"#),
        object(6, Kind::ShaderModule, &[], &Kernel::Instance.module_body()),
        object(7, Kind::RenderPipeline, &[0, 6, 6], pipeline),
        object(8, Kind::RenderBundle, &[7, 5, 2, 1], &bundle),
    ];
    let drawn = match in_bundle {
        true => vec![Op::ExecuteBundles as u32, 1, 8],
        false => draws([7, 5, 2, 1]),
    };
    let words = [
        &[Op::WriteBuffer as u32, 1, 0, 0, 0, 20][..],
        &[Op::WriteBuffer as u32, 2, 0, 0, 20, 16],
        &[Op::BeginRenderPass as u32, 1, 4, 0, 2, 1, 1.0_f32.to_bits(), 0, 0, 0, 0],
        &drawn,
        &[Op::EndPass as u32, Op::Submit as u32],
    ];
    let args = [3_u32, 1, 0, 0, 0].map(u32::to_le_bytes).concat();
    let indices = [0_u16, 0, 0, 0, 0, 1, 2, 0].map(u16::to_le_bytes).concat();
    case_over(objects, &words.concat(), &[args, indices].concat())
}

#[rstest]
#[case::past_an_offset(Op::DrawIndexedIndirect, 8, false, true)]
#[case::past_an_offset_in_a_bundle(Op::DrawIndexedIndirect, 8, true, true)]
#[case::from_the_start(Op::DrawIndexedIndirect, 0, false, false)]
#[case::directly(Op::DrawIndexed, 8, false, false)]
fn an_indexed_indirect_draw_reads_indices_from_the_start(
    #[values("wgpu:gl", "wgpu:vulkan", "deno")] id: &str,
    #[case] op: Op,
    #[case] offset: u32,
    #[case] in_bundle: bool,
    #[case] shows: bool,
) {
    let mut engine = open(id);
    // On Vulkan it is Mesa's, which mended it after 22.3; deno does not say what it runs on.
    let mended = id != "wgpu:gl" && !open("wgpu:vulkan").about().driver.contains("Mesa 22.");
    let due = match shows && !mended {
        true => (Cell::Tolerated, LINES[3].name),
        false => (Cell::Sound, "no error"),
    };
    let judged = judge(engine.as_mut(), &indexed(op, offset, in_bundle));
    assert_eq!((judged.cell, judged.what.as_str()), due, "{judged:?}");
}

/// 7 is written to slice 1 of a texture, and copied to slice 1 of another, which was never written.
#[rstest]
#[case::deno_of_3d("deno", "3d", (Cell::Tolerated, LINES[4].name))]
#[case::deno_of_2d("deno", "2d", (Cell::Sound, "no error"))]
#[case::vulkan_of_3d("wgpu:vulkan", "3d", (Cell::Sound, "no error"))]
fn deno_zeroes_a_3d_texture_after_a_copy_to_a_later_slice(
    #[case] engine: &str,
    #[case] dimension: &str,
    #[case] due: (Cell, &str),
) {
    let texture = format!(r#"{{"size":[2,1,2],"format":"r32uint","dimension":"{dimension}","usage":3}}"#);
    let objects = vec![
        object(1, Kind::Texture, &[], &texture),
        object(2, Kind::Texture, &[], &texture),
    ];
    let words = [
        &[Op::WriteTexture as u32, 1, 0, 0, 0, 1, 1, 0, 8, 0, 0, 8, 1, 2, 1, 1][..],
        &[
            Op::CopyTextureToTexture as u32,
            1,
            0,
            0,
            0,
            1,
            1,
            2,
            0,
            0,
            0,
            1,
            1,
            2,
            1,
            1,
        ],
        &[Op::Submit as u32],
    ];
    let data = [7_u32, 7].map(u32::to_le_bytes).concat();
    let judged = judge(open(engine).as_mut(), &case_over(objects, &words.concat(), &data));
    assert_eq!((judged.cell, judged.what.as_str()), due, "{judged:?}");
}
