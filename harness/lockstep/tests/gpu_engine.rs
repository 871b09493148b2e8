//! The engines over small cases made by hand: the machine's best Vulkan adapter (lavapipe where there is no GPU), wgpu's noop backend,
//! Dawn and deno.
//!
//! The values that memory must hold afterwards are written out. What executes nothing gives outcomes of which only the trouble is looked
//! at.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use lockstep::case::Object;
use lockstep::gpu::engine::{self, Engine, Request};
use lockstep::gpu::kernels::Kernel;
use lockstep::gpu::script::ScriptEngine;
use lockstep::gpu::wgpu_engine::WgpuEngine;
use lockstep::gpu::{Outcome, Trouble, TroubleKind};
use rstest::rstest;
use serde_json::{Value, json};
use wire::{Kind, Op, Read};

// WebGPU's usage bits.
const MAP_READ: u32 = 1;
const COPIES: u32 = 4 | 8;
const COPY_DST: u32 = 8;
const INDEX: u32 = 16;
const VERTEX: u32 = 32;
const UNIFORM: u32 = 64;
const STORAGE: u32 = 128;
const INDIRECT: u32 = 256;
/// Copies both ways, texture and storage binding, render attachment.
const TEXTURE: u32 = 31;

// Ids of `objects`.
const A: u32 = 1;
const B: u32 = 2;
const MAPPED: u32 = 3;
const COUNTED: u32 = 4;
const ARGS: u32 = 5;
const COLORS: u32 = 6;
const TARGET: u32 = 7;
const VIEW: u32 = 8;
const LAYERS: u32 = 9;
const COUNT: u32 = 13;
const COUNT_GROUP: u32 = 14;
const INSTANCE: u32 = 17;
const UNIFORM_COLOR: u32 = 21;
const COLOR_GROUP: u32 = 22;
const BUNDLE: u32 = 23;
const DEPTH_VIEW: u32 = 25;
const NOTHING: u32 = 99;

const ENGINES: [&str; 4] = ["wgpu:vulkan", "wgpu:noop", "dawn:null", "deno"];
/// Those that execute what they validate.
const EXECUTE: [&str; 2] = ["wgpu:vulkan", "deno"];

/// Each engine is opened once and used by one test at a time.
fn engine(id: &str) -> MutexGuard<'static, Box<dyn Engine>> {
    static OPENED: [OnceLock<Mutex<Box<dyn Engine>>>; 4] = [const { OnceLock::new() }; 4];
    let open = || Mutex::new(engine::open(id).unwrap_or_else(|error| panic!("{error:#}")));
    let at = ENGINES.iter().position(|known| *known == id).expect("one of them");
    OPENED[at]
        .get_or_init(open)
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

fn object(id: u32, kind: Kind, refs: &[u32], body: &Value) -> Object {
    Object {
        id,
        kind,
        refs: refs.into(),
        body: body.to_string(),
    }
}

fn buffer(id: u32, size: u32, usage: u32) -> Object {
    object(id, Kind::Buffer, &[], &json!({"size": size, "usage": usage}))
}

/// A module, a layout and a render pipeline to one r32uint target with the ids `id`, `id` + 1 and `id` + 2.
fn render(id: u32, kernel: Kernel, groups: &[u32], buffers: &Value) -> [Object; 3] {
    let body = json!({
        "vertex": {"entryPoint": "vs", "buffers": buffers},
        "fragment": {"entryPoint": "fs", "targets": [{"format": "r32uint"}]},
    });
    [
        object(id, Kind::ShaderModule, &[], &json!({"code": kernel.wgsl()})),
        object(id + 1, Kind::PipelineLayout, groups, &json!({})),
        object(id + 2, Kind::RenderPipeline, &[id + 1, id, id], &body),
    ]
}

fn objects() -> Vec<Object> {
    let storage = json!({"entries": [{"binding": 0, "visibility": 4, "buffer": {"type": "storage"}}]});
    let uniform = json!({"entries": [{"binding": 0, "visibility": 2, "buffer": {"hasDynamicOffset": true}}]});
    let instance = json!([{
        "arrayStride": 4, "stepMode": "instance", "attributes": [{"format": "uint32", "offset": 0, "shaderLocation": 0}],
    }]);
    let bundle = json!({"colorFormats": ["r32uint"], "words": [1, 1, 2, 0, 2, 1, 256, 3, 3, 1, 0, 0]});
    let mut objects = vec![
        buffer(A, 64, COPIES),
        buffer(B, 64, COPIES),
        buffer(MAPPED, 64, MAP_READ | COPY_DST),
        buffer(COUNTED, 16, COPIES | STORAGE),
        buffer(ARGS, 64, COPIES | INDIRECT),
        buffer(COLORS, 512, COPIES | UNIFORM | VERTEX | INDEX),
        object(
            TARGET,
            Kind::Texture,
            &[],
            &json!({"size": [4, 4], "format": "r32uint", "usage": TEXTURE}),
        ),
        object(VIEW, Kind::TextureView, &[TARGET], &json!({})),
        object(
            LAYERS,
            Kind::Texture,
            &[],
            &json!({"size": {"width": 3, "height": 2, "depthOrArrayLayers": 2}, "format": "rgba8unorm", "usage": 3, "mipLevelCount": 2}),
        ),
        object(10, Kind::ShaderModule, &[], &json!({"code": Kernel::Count.wgsl()})),
        object(11, Kind::BindGroupLayout, &[], &storage),
        object(12, Kind::PipelineLayout, &[11], &json!({})),
        object(
            COUNT,
            Kind::ComputePipeline,
            &[12, 10],
            &json!({"compute": {"entryPoint": "main"}}),
        ),
        object(
            COUNT_GROUP,
            Kind::BindGroup,
            &[11, COUNTED],
            &json!({"entries": [{"binding": 0}]}),
        ),
    ];
    objects.extend(render(15, Kernel::Instance, &[], &instance));
    objects.push(object(18, Kind::BindGroupLayout, &[], &uniform));
    objects.extend(render(19, Kernel::Uniform, &[18], &json!([])));
    objects.extend([
        object(
            COLOR_GROUP,
            Kind::BindGroup,
            &[18, COLORS],
            &json!({"entries": [{"binding": 0, "size": 4}]}),
        ),
        object(BUNDLE, Kind::RenderBundle, &[UNIFORM_COLOR, COLOR_GROUP], &bundle),
        object(
            24,
            Kind::Texture,
            &[],
            &json!({"size": [4, 4], "format": "depth24plus-stencil8", "usage": 16}),
        ),
        object(DEPTH_VIEW, Kind::TextureView, &[24], &json!({})),
    ]);
    objects
}

// Commands.

fn c(op: Op, args: &[u32]) -> Vec<u32> {
    [&[op.word()], args].concat()
}

/// Writes `words` of the data, from its word `from`, to `offset`.
fn write(id: u32, offset: u32, from: u32, words: u32) -> Vec<u32> {
    c(Op::WriteBuffer, &[id, offset, 0, 4 * from, 4 * words])
}

fn copy(src: u32, src_offset: u32, dst: u32, dst_offset: u32, size: u32) -> Vec<u32> {
    c(
        Op::CopyBufferToBuffer,
        &[src, src_offset, 0, dst, dst_offset, 0, size, 0],
    )
}

fn compute() -> Vec<u32> {
    [
        c(Op::BeginComputePass, &[]),
        c(Op::SetPipeline, &[COUNT]),
        c(Op::SetBindGroup, &[0, COUNT_GROUP, 0]),
    ]
    .concat()
}

fn dispatch(x: u32, y: u32, z: u32) -> Vec<u32> {
    c(Op::Dispatch, &[x, y, z])
}

/// Begins a pass that clears the target to `color`.
fn clear(color: f32) -> Vec<u32> {
    c(Op::BeginRenderPass, &[1, VIEW, 0, 2, 1, color.to_bits(), 0, 0, 0, 0])
}

/// Begins a pass with the depth attachment alone: depth ops and read only flag, then stencil's.
fn depth(d: [u32; 3], s: [u32; 3]) -> Vec<u32> {
    c(
        Op::BeginRenderPass,
        &[0, 1, DEPTH_VIEW, d[0], d[1], 0, d[2], s[0], s[1], 0, s[2]],
    )
}

fn end() -> Vec<u32> {
    c(Op::EndPass, &[])
}

fn submit() -> Vec<u32> {
    c(Op::Submit, &[])
}

/// 1, 2, 3 and so on.
fn data() -> Vec<u8> {
    bytes(&(1..=128).collect::<Vec<u32>>())
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|&word| u32::from_le_bytes(word))
        .collect()
}

/// To replay a whole stream without reads.
fn request<'a>(objects: &'a [Object], words: &'a [u32], data: &'a [u8]) -> Request<'a> {
    Request {
        objects,
        words,
        data,
        stop_after: None,
        reads: &[],
        window: 0,
    }
}

fn replay(id: &str, commands: &[Vec<u32>], stop_after: Option<usize>, reads: &[Read]) -> Outcome {
    let (objects, words, data) = (objects(), commands.concat(), data());
    let mut engine = engine(id);
    engine.replay(&Request {
        stop_after,
        reads,
        window: 32,
        ..request(&objects, &words, &data)
    })
}

/// Replays on every engine without trouble, and gives what they did that execute, who must agree.
fn run(commands: &[Vec<u32>]) -> Outcome {
    for id in ["wgpu:noop", "dawn:null"] {
        assert_eq!(replay(id, commands, None, &[]), Outcome::default(), "{id}");
    }
    let [outcome, other] = EXECUTE.map(|id| replay(id, commands, None, &[]));
    assert_eq!((&outcome.trouble, outcome.lost), (&None, false));
    assert_eq!(outcome, other, "deno");
    outcome
}

fn held(outcome: &Outcome, id: u32) -> Vec<u32> {
    let memory = if id == TARGET {
        &outcome.textures
    } else {
        &outcome.buffers
    };
    words(memory[&id].as_deref().expect("it can be read back"))
}

/// Where and why it stopped.
fn place(outcome: &Outcome) -> Option<(Option<usize>, TroubleKind)> {
    outcome
        .trouble
        .as_ref()
        .map(|Trouble { command, kind, .. }| (*command, *kind))
}

// What is executed.

#[test]
fn writes_and_copies() {
    let texture_row = c(
        Op::WriteTexture,
        &[TARGET, 0, 0, 1, 0, 0, 16, 16, 0, 0, u32::MAX, u32::MAX, 4, 1, 1],
    );
    let outcome = run(&[
        write(A, 0, 0, 4),
        copy(A, 4, B, 8, 8),
        texture_row,
        submit(),
        write(A, 60, 127, 1),
    ]);
    assert_eq!(held(&outcome, A), [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128]);
    assert_eq!(held(&outcome, B), [0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(held(&outcome, TARGET), [0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn a_write_inside_a_pass_comes_before_what_is_recorded() {
    let outcome = run(&[
        write(A, 0, 0, 1),
        copy(A, 0, B, 0, 4),
        compute(),
        write(A, 0, 8, 1),
        end(),
        submit(),
    ]);
    assert_eq!(held(&outcome, B)[0], 9);
}

#[test]
fn texels_come_mip_by_mip_and_layer_by_layer_with_tight_rows() {
    let level = |mip, z, w, h, from: u32, bytes| {
        c(
            Op::WriteTexture,
            &[LAYERS, mip, 0, 0, z, 0, 4 * from, bytes, 0, 0, 4 * w, h, w, h, 1],
        )
    };
    let outcome = run(&[
        level(0, 0, 3, 2, 0, 24),
        level(0, 1, 3, 2, 10, 24),
        level(1, 1, 1, 1, 20, 4),
    ]);
    let held = words(outcome.textures[&LAYERS].as_deref().expect("it can be read back"));
    assert_eq!(held, [1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16, 0, 21]);
}

#[test]
fn copies_between_textures() {
    let row = c(Op::WriteTexture, &[LAYERS, 0, 0, 0, 0, 0, 0, 24, 0, 0, 12, 2, 3, 2, 1]);
    let copy = c(
        Op::CopyTextureToTexture,
        &[LAYERS, 0, 1, 0, 0, 0, LAYERS, 0, 0, 1, 1, 0, 2, 1, 1],
    );
    let outcome = run(&[row, copy, submit()]);
    let held = words(outcome.textures[&LAYERS].as_deref().expect("it can be read back"));
    assert_eq!(held, [1, 2, 3, 4, 5, 6, 0, 0, 0, 2, 3, 0, 0, 0]);
}

#[test]
fn dispatches() {
    let outcome = run(&[
        compute(),
        dispatch(5, 1, 1),
        dispatch(0, 1, 1),
        dispatch(1, 2, 3),
        end(),
        submit(),
    ]);
    assert_eq!(held(&outcome, COUNTED), [8, 1, 1, 1]);
}

#[test]
fn indirect_dispatches_read_their_counts() {
    // Words 3, 1, 1 of the data would be 3, 4, 5: 3 * 4 * 5 invocations over x = 0, 1, 2.
    let indirect = c(Op::DispatchIndirect, &[ARGS, 4, 0]);
    let outcome = run(&[write(ARGS, 4, 2, 3), compute(), indirect, end(), submit()]);
    assert_eq!(held(&outcome, COUNTED), [20, 20, 20, 0]);
}

#[rstest]
#[case::over_the_limit([65536, 1, 1], 0)]
#[case::at_the_limit([65535, 1, 1], 16384)]
fn stored_counts_over_the_limit_do_nothing(#[case] counts: [u32; 3], #[case] first: u32) {
    let (objects, data) = (objects(), bytes(&counts));
    let words = [
        write(ARGS, 0, 0, 3),
        compute(),
        c(Op::DispatchIndirect, &[ARGS, 0, 0]),
        end(),
        submit(),
    ]
    .concat();
    let request = request(&objects, &words, &data);
    let outcome = engine("wgpu:vulkan").replay(&request);
    assert_eq!(outcome.trouble, None);
    assert_eq!(held(&outcome, COUNTED)[0], first);
}

#[test]
fn a_pass_clears() {
    let outcome = run(&[clear(77.0), end(), submit()]);
    assert_eq!(held(&outcome, TARGET), [77; 16]);
}

#[test]
fn draws_an_instance_inside_the_scissor() {
    let outcome = run(&[
        write(COLORS, 0, 0, 8),
        clear(0.0),
        c(Op::SetPipeline, &[INSTANCE]),
        c(Op::SetVertexBuffer, &[0, COLORS, 4, 0, 0, 0]),
        c(Op::SetScissorRect, &[1, 1, 2, 2]),
        c(Op::Draw, &[3, 1, 0, 4]),
        end(),
        submit(),
    ]);
    // One word in, instance 4: the sixth word.
    assert_eq!(held(&outcome, TARGET), [0, 0, 0, 0, 0, 6, 6, 0, 0, 6, 6, 0, 0, 0, 0, 0]);
}

#[test]
fn draws_with_indices_and_a_dynamic_offset() {
    let outcome = run(&[
        write(COLORS, 256, 41, 1),
        // Indices 1, 2 and 3, each a word.
        write(COLORS, 0, 0, 3),
        clear(0.0),
        c(Op::SetPipeline, &[UNIFORM_COLOR]),
        c(Op::SetBindGroup, &[0, COLOR_GROUP, 1, 256]),
        c(Op::SetIndexBuffer, &[COLORS, 2, 0, 0, 12, 0]),
        c(
            Op::SetViewport,
            &[0, 0, 4f32.to_bits(), 4f32.to_bits(), 0, 1f32.to_bits()],
        ),
        c(Op::DrawIndexed, &[3, 1, 0, (-1i32).cast_unsigned(), 0]),
        end(),
        submit(),
    ]);
    assert_eq!(held(&outcome, TARGET), [42; 16]);
}

#[test]
fn draws_indirectly() {
    let args = |data: &[u32]| bytes(data);
    let (objects, data) = (objects(), args(&[3, 1, 0, 0, 9]));
    let words = [
        write(ARGS, 0, 0, 4),
        write(COLORS, 0, 4, 1),
        clear(0.0),
        c(Op::SetPipeline, &[INSTANCE]),
        c(Op::SetVertexBuffer, &[0, COLORS, 0, 0, 0, 0]),
        c(Op::DrawIndirect, &[ARGS, 0, 0]),
        end(),
        submit(),
    ]
    .concat();
    let request = request(&objects, &words, &data);
    let outcome = engine("wgpu:vulkan").replay(&request);
    assert_eq!(outcome.trouble, None);
    assert_eq!(held(&outcome, TARGET), [9; 16]);
}

#[test]
fn executes_bundles() {
    let outcome = run(&[
        write(COLORS, 256, 32, 1),
        clear(0.0),
        c(Op::ExecuteBundles, &[1, BUNDLE]),
        end(),
        submit(),
    ]);
    assert_eq!(held(&outcome, TARGET), [33; 16]);
}

#[test]
fn what_stands_after_the_last_submit_is_never_finished() {
    let outcome = run(&[
        submit(),
        write(A, 0, 0, 1),
        copy(A, 0, B, 0, 4),
        submit(),
        // A broken command here raises nothing either.
        copy(A, 60, B, 0, 8),
        clear(1.0),
        c(Op::SetVertexBuffer, &[0, COLORS, 600, 0, 0, 0]),
        end(),
        write(A, 4, 1, 1),
    ]);
    assert_eq!(held(&outcome, A)[..2], [1, 2]);
    assert_eq!(held(&outcome, B)[..2], [1, 0]);
    assert_eq!(held(&outcome, TARGET), [0; 16]);
}

#[test]
fn memory_that_cannot_be_read_is_none() {
    let outcome = run(&[]);
    assert_eq!(outcome.textures[&24], None);
    assert_eq!(outcome.buffers[&MAPPED], Some(vec![0; 64]));
}

// Reads.

#[test]
fn reads_go_to_the_window_in_stream_order() {
    let read = |offset: u32, size: u32, to: u32| c(Op::ReadBuffer, &[MAPPED, offset, 0, size, to]);
    let commands = [
        read(0, 8, 4),
        write(A, 0, 0, 4),
        copy(A, 0, MAPPED, 8, 16),
        submit(),
        read(16, 4, 0),
        read(8, 4, 8),
    ];
    let reads = [(0, 8, 4), (16, 4, 0), (8, 4, 8)];
    let reads = reads.map(|(offset, size, window_offset)| Read {
        id: MAPPED,
        offset,
        size,
        window_offset,
    });
    for id in EXECUTE {
        let outcome = replay(id, &commands, None, &reads);
        assert_eq!(outcome.trouble, None);
        assert_eq!(words(&outcome.window), [3, 0, 1, 0, 0, 0, 0, 0], "{id}");
    }
    for id in ["wgpu:noop", "dawn:null"] {
        assert_eq!(replay(id, &commands, None, &reads), Outcome::default(), "{id}");
    }
}

#[rstest]
fn a_read_that_cannot_be_mapped_is_an_error(#[values("wgpu:vulkan", "wgpu:noop", "dawn:null", "deno")] id: &str) {
    let commands = [submit(), c(Op::ReadBuffer, &[A, 0, 0, 4, 0])];
    let outcome = replay(
        id,
        &commands,
        None,
        &[Read {
            id: A,
            offset: 0,
            size: 4,
            window_offset: 0,
        }],
    );
    assert_eq!(place(&outcome), Some((Some(1), TroubleKind::Validation)));
}

// What is refused, and at which command.

#[rstest]
#[case::write_past_the_end(&[write(A, 0, 0, 1), write(A, 60, 0, 2), submit()], 1)]
#[case::copy_out_of_range(&[copy(A, 0, B, 0, 4), copy(A, 60, B, 0, 8), copy(A, 0, B, 0, 4), submit()], 1)]
#[case::copy_without_usage(&[copy(A, 0, B, 0, 4), copy(MAPPED, 0, B, 0, 4), submit()], 1)]
#[case::copy_onto_itself(&[copy(A, 0, A, 8, 4), submit()], 0)]
#[case::copy_after_a_pass(&[compute(), dispatch(1, 1, 1), end(), copy(A, 60, B, 0, 8), submit()], 5)]
#[case::second_encoder(&[copy(A, 0, B, 0, 4), submit(), copy(A, 0, B, 0, 4), copy(A, 2, B, 0, 4), submit()], 3)]
#[case::dispatch_over_the_limit(&[compute(), dispatch(1, 1, 1), dispatch(1, 65536, 1), dispatch(1, 1, 1), end(), submit()], 4)]
#[case::indirect_out_of_range(&[compute(), c(Op::DispatchIndirect, &[ARGS, 56, 0]), end(), submit()], 3)]
#[case::no_pipeline(&[c(Op::BeginComputePass, &[]), dispatch(1, 1, 1), end(), submit()], 1)]
#[case::the_first_of_two(&[copy(A, 60, B, 0, 8), compute(), dispatch(65536, 1, 1), end(), submit()], 0)]
#[case::a_copy_before_a_bad_write(&[copy(A, 60, B, 0, 8), write(A, 64, 0, 1), submit()], 0)]
#[case::a_bad_write_before_a_copy(&[copy(A, 0, B, 0, 8), write(A, 64, 0, 1), copy(A, 60, B, 0, 8), submit()], 1)]
#[case::vertex_range(&[clear(0.0), c(Op::SetPipeline, &[INSTANCE]), c(Op::SetVertexBuffer, &[0, COLORS, 508, 0, 8, 0]), end(), submit()], 2)]
#[case::vertex_offset_past_the_end(&[clear(0.0), c(Op::SetVertexBuffer, &[0, COLORS, 516, 0, 0, 0]), end(), submit()], 1)]
#[case::an_error_before_the_api_refuses(&[clear(0.0), c(Op::SetBindGroup, &[4, 0, 0]), c(Op::SetScissorRect, &[0, 0, 5, 4]), c(Op::SetVertexBuffer, &[0, COLORS, 516, 0, 0, 0]), end(), submit()], 1)]
#[case::index_range(&[clear(0.0), c(Op::SetIndexBuffer, &[COLORS, 1, 0, 0, 516, 0]), end(), submit()], 1)]
#[case::instances_past_the_buffer(&[clear(0.0), c(Op::SetPipeline, &[INSTANCE]), c(Op::SetVertexBuffer, &[0, COLORS, 0, 0, 8, 0]), c(Op::Draw, &[3, 1, 0, 1]), c(Op::Draw, &[3, 1, 0, 2]), end(), submit()], 4)]
#[case::first_instance_near_the_end_of_u32(&[clear(0.0), c(Op::SetPipeline, &[INSTANCE]), c(Op::SetVertexBuffer, &[0, COLORS, 0, 0, 0, 0]), c(Op::Draw, &[3, 4, 0, 0xFFFF_FFFE]), end(), submit()], 3)]
#[case::depth_ops_missing(&[depth([0, 0, 0], [2, 1, 0]), end(), submit()], 0)]
#[case::depth_store_missing(&[depth([2, 0, 0], [2, 1, 0]), end(), submit()], 0)]
#[case::stencil_ops_though_read_only(&[depth([2, 1, 0], [1, 1, 1]), end(), submit()], 0)]
#[case::dynamic_offset_past_the_buffer(&[clear(0.0), c(Op::SetPipeline, &[UNIFORM_COLOR]), c(Op::SetBindGroup, &[0, COLOR_GROUP, 1, 512]), c(Op::Draw, &[3, 1, 0, 0]), end(), submit()], 2)]
#[case::texture_out_of_range(&[c(Op::WriteTexture, &[TARGET, 0, 1, 0, 0, 0, 0, 16, 0, 0, 16, 1, 4, 1, 1]), submit()], 0)]
#[case::a_compute_pass_after_the_api_refuses(&[clear(0.0), c(Op::SetVertexBuffer, &[0, COLORS, 516, 0, 0, 0]), end(), compute(), end(), submit()], 1)]
fn a_refused_command_is_named(
    #[case] commands: &[Vec<u32>],
    #[case] command: usize,
    #[values("wgpu:vulkan", "wgpu:noop", "dawn:null", "deno")] id: &str,
) {
    let outcome = replay(id, commands, None, &[]);
    assert_eq!(
        place(&outcome),
        Some((Some(command), TroubleKind::Validation)),
        "{:?}",
        outcome.trouble
    );
    assert!(!outcome.lost);
}

#[rstest]
fn depth_and_stencil_ops_that_webgpu_takes(#[values("wgpu:vulkan", "wgpu:noop", "dawn:null", "deno")] id: &str) {
    let passes = [
        [[2, 1, 0], [2, 1, 0]],
        [[0, 0, 1], [2, 2, 0]],
        [[1, 1, 0], [0, 0, 1]],
        [[0, 0, 1], [0, 0, 1]],
    ];
    let passes = passes.map(|[d, s]| [depth(d, s), end()].concat());
    assert_eq!(replay(id, &[passes.concat(), submit()], None, &[]).trouble, None);
}

#[rstest]
#[case::a_texture_as_a_buffer(&[write(A, 0, 0, 1), submit(), write(TARGET, 0, 0, 1)], 2)]
#[case::nothing(&[write(A, 0, 0, 1), copy(A, 0, NOTHING, 0, 4)], 1)]
#[case::a_render_pipeline_in_a_compute_pass(&[write(A, 0, 0, 1), c(Op::BeginComputePass, &[]), c(Op::SetPipeline, &[INSTANCE]), end()], 2)]
#[case::a_compute_pipeline_in_a_render_pass(&[write(A, 0, 0, 1), clear(0.0), c(Op::SetPipeline, &[COUNT]), end()], 2)]
#[case::the_resolve_target_of_a_hole(&[write(A, 0, 0, 1), c(Op::BeginRenderPass, &[1, 0, A, 1, 1, 0, 0, 0, 0, 0]), end()], 1)]
#[case::a_read_of_a_texture(&[write(A, 0, 0, 1), c(Op::ReadBuffer, &[TARGET, 0, 0, 4, 0])], 1)]
#[case::after_what_the_api_refuses(&[write(A, 0, 0, 1), clear(0.0), c(Op::SetVertexBuffer, &[0, COLORS, 516, 0, 0, 0]), c(Op::SetIndexBuffer, &[VIEW, 1, 0, 0, 0, 0]), end(), submit()], 3)]
fn another_kind_stops_before_the_call(
    #[case] commands: &[Vec<u32>],
    #[case] command: usize,
    #[values("wgpu:vulkan", "wgpu:noop", "dawn:null", "deno")] id: &str,
) {
    let commands = [commands, &[write(A, 4, 1, 1), submit()]].concat();
    let outcome = replay(id, &commands, None, &[]);
    assert_eq!(
        place(&outcome),
        Some((Some(command), TroubleKind::WrongKind)),
        "{:?}",
        outcome.trouble
    );
    if EXECUTE.contains(&id) {
        assert_eq!(
            held(&outcome, A)[..2],
            [1, 0],
            "what was written stays, and nothing more is"
        );
    }
}

#[rstest]
fn a_probe_finishes_what_it_recorded(#[values("wgpu:vulkan", "wgpu:noop", "dawn:null", "deno")] id: &str) {
    let commands = [
        compute(),
        dispatch(1, 1, 1),
        dispatch(65536, 1, 1),
        end(),
        submit(),
        write(A, 64, 0, 1),
    ];
    assert_eq!(replay(id, &commands, Some(3), &[]).trouble, None);
    let refused = Some((Some(4), TroubleKind::Validation));
    assert_eq!(place(&replay(id, &commands, Some(4), &[])), refused);
    assert_eq!(
        place(&replay(id, &commands[..4], Some(4), &[])),
        refused,
        "also where no Submit follows"
    );
    assert_eq!(replay(id, &commands[..4], None, &[]).trouble, None);
}

// The table.

#[rstest]
#[case::no_json(object(50, Kind::Buffer, &[], &json!("x")))]
#[case::usage_of_no_buffer(buffer(50, 4, 1 << 12))]
#[case::usages_that_exclude_each_other(buffer(50, 4, MAP_READ | STORAGE))]
#[case::a_reference_too_many(object(50, Kind::Buffer, &[A], &json!({"size": 4, "usage": 4})))]
#[case::a_view_of_a_buffer(object(50, Kind::TextureView, &[A], &json!({})))]
#[case::wgsl_of_none(object(50, Kind::ShaderModule, &[], &json!({"code": "fn"})))]
#[case::an_entry_of_no_type(object(50, Kind::BindGroupLayout, &[], &json!({"entries": [{"binding": 0, "visibility": 1}]})))]
#[case::a_group_past_its_buffer(object(50, Kind::BindGroup, &[11, COUNTED], &json!({"entries": [{"binding": 0, "size": 20}]})))]
#[case::a_bundle_of_another_command(object(50, Kind::RenderBundle, &[], &json!({"colorFormats": ["r32uint"], "words": [40]})))]
#[case::a_bundle_without_pipeline(object(50, Kind::RenderBundle, &[], &json!({"colorFormats": ["r32uint"], "words": [3, 3, 1, 0, 0]})))]
#[case::a_bundle_past_its_references(object(50, Kind::RenderBundle, &[INSTANCE], &json!({"colorFormats": ["r32uint"], "words": [1, 2]})))]
#[case::a_bundle_of_wrong_kind(object(50, Kind::RenderBundle, &[A], &json!({"colorFormats": ["r32uint"], "words": [1, 1]})))]
fn a_bad_table_makes_no_call(#[case] bad: Object, #[values("wgpu:vulkan", "wgpu:noop", "dawn:null", "deno")] id: &str) {
    let mut objects = objects();
    objects.push(bad);
    let words = submit();
    let request = request(&objects, &words, &[]);
    let mut engine = engine(id);
    let outcome = engine.replay(&request);
    assert_eq!(
        place(&outcome),
        Some((None, TroubleKind::Validation)),
        "{:?}",
        outcome.trouble
    );
    let message = outcome.trouble.map(|trouble| trouble.message).unwrap_or_default();
    // A script engine knows of the device's refusals only that one of the objects was meant.
    assert!(
        message.starts_with("object 50 (") || !id.starts_with("wgpu"),
        "{message}"
    );
    assert!(!outcome.lost);
    let request = Request {
        objects: &objects[..objects.len() - 1],
        ..request
    };
    assert_eq!(engine.replay(&request).trouble, None);
}

/// An engine may keep what it made of a row like it.
#[rstest]
fn a_layout_that_is_none_is_not_taken_for_the_automatic_one(
    #[values("wgpu:vulkan", "wgpu:noop", "dawn:null", "deno")] id: &str,
    #[values(NOTHING, A)] layout: u32,
) {
    let mut engine = engine(id);
    let words = submit();
    let places = [0, layout].map(|layout| {
        let objects = [
            buffer(A, 16, COPIES),
            object(50, Kind::ShaderModule, &[], &json!({"code": Kernel::Count.wgsl()})),
            object(51, Kind::ComputePipeline, &[layout, 50], &json!({"compute": {}})),
        ];
        place(&engine.replay(&request(&objects, &words, &[])))
    });
    assert_eq!(places, [None, Some((None, TroubleKind::Validation))]);
}

// The engine itself.

#[rstest]
fn a_lost_device_is_made_anew(#[values("wgpu:vulkan", "wgpu:noop")] id: &str) {
    let mut engine = WgpuEngine::open(id).unwrap_or_else(|error| panic!("{error:#}"));
    let (objects, data) = (objects(), data());
    let words = [write(A, 0, 0, 1), compute(), dispatch(5, 1, 1), end(), submit()].concat();
    let request = request(&objects, &words, &data);
    let before = engine.replay(&request);
    assert_eq!((before.trouble.as_ref(), before.lost), (None, false));
    engine.lose();
    let lost = engine.replay(&request);
    assert!(lost.lost);
    assert_eq!(lost.trouble.map(|trouble| trouble.kind), Some(TroubleKind::Engine));
    assert_eq!(engine.replay(&request), before);
}

/// Without a device: its process is killed while it works on a batch.
#[rstest]
fn a_process_that_ends_is_started_anew(#[values("dawn:null", "deno")] id: &str) {
    let mut engine = ScriptEngine::open(id).unwrap_or_else(|error| panic!("{error:#}"));
    let (objects, data) = (objects(), data());
    let words = [write(A, 0, 0, 1), submit()].concat();
    let request = request(&objects, &words, &data);
    let before = engine.replay(&request);
    assert_eq!((before.trouble.as_ref(), before.lost), (None, false));
    let batch = [request; 3];
    engine.ask(&batch);
    engine.lose();
    assert_eq!(
        engine.outcomes(&batch),
        [before.clone(), before.clone(), before.clone()]
    );
    // Answers that nobody heard are not taken for those to the next batch.
    engine.ask(&batch);
    engine.ask(&batch[..1]);
    assert_eq!(engine.outcomes(&batch[..1]), [before]);
}

/// deno's own naga walks an expression by recursion, and the process ends over this one.
#[test]
fn the_stream_that_ends_a_process_is_named() {
    let deep = format!("const x = {}1{};", "-(".repeat(60_000), ")".repeat(60_000));
    let mut bad = objects();
    bad.push(object(50, Kind::ShaderModule, &[], &json!({"code": deep})));
    let good = objects();
    let words = submit();
    let request = |objects| request(objects, &words, &[]);
    let outcomes = engine("deno").outcomes(&[request(&good), request(&bad), request(&good)]);
    let lost: Vec<bool> = outcomes.iter().map(|outcome| outcome.lost).collect();
    assert_eq!(lost, [false, true, false]);
    assert_eq!(place(&outcomes[1]), Some((None, TroubleKind::Engine)));
    assert_eq!(outcomes[0], outcomes[2]);
}

/// What an engine makes of a batch is what it makes of each alone.
#[rstest]
fn a_batch_is_its_streams_one_by_one(#[values("wgpu:vulkan", "wgpu:noop", "dawn:null", "deno")] id: &str) {
    let (objects, data) = (objects(), data());
    let mut other = objects.clone();
    other[0] = buffer(A, 32, COPIES);
    let good = [write(A, 0, 0, 4), copy(A, 0, B, 4, 8), submit()].concat();
    let bad = [copy(A, 0, B, 0, 4), copy(A, 28, B, 0, 8), submit(), write(A, 0, 0, 1)].concat();
    let request = |objects, words, stop_after| Request {
        stop_after,
        ..request(objects, words, &data)
    };
    let batch = [
        request(&objects, &good, None),
        request(&objects, &bad, None),
        request(&other, &bad, None),
        request(&other, &good, None),
        request(&other, &bad, Some(1)),
        request(&objects, &good, None),
    ];
    let mut engine = engine(id);
    let together = engine.outcomes(&batch);
    let alone: Vec<Outcome> = batch.iter().map(|request| engine.replay(request)).collect();
    assert_eq!(together, alone);
    let refused = Some((Some(1), TroubleKind::Validation));
    assert_eq!(
        together.iter().map(place).collect::<Vec<_>>(),
        [None, None, refused, None, refused, None]
    );
}

#[test]
fn engines_have_names() {
    let here = engine::available();
    println!("{here:#?}");
    for id in ENGINES {
        let engine = engine(id);
        let about = engine.about();
        assert!(about.id.starts_with(id) && !about.driver.is_empty());
        assert!(here.contains(about), "{about:?}");
        assert_eq!(about.executes, EXECUTE.contains(&id));
    }
    for unknown in ["wgpu:abacus", "dawn:abacus"] {
        let error = engine::open(unknown).map(|_| ()).unwrap_err().to_string();
        let due = format!("no engine `{unknown}` here; there is wgpu:");
        assert!(
            error.starts_with(&due) && error.ends_with(", dawn:null, deno"),
            "{error}"
        );
    }
}

/// Leaves a device working until the process ends, so it is run by itself.
#[test]
fn a_hung_device_is_given_up() {
    let mut engine = WgpuEngine::open(ENGINES[0]).unwrap_or_else(|error| panic!("{error:#}"));
    let objects = objects();
    let replay = |engine: &mut WgpuEngine, groups: u32| {
        let words = [compute(), dispatch(groups, groups, 4), end(), submit()].concat();
        engine.replay(&request(&objects, &words, &[]))
    };
    let outcome = replay(&mut engine, 65535);
    assert_eq!(
        (place(&outcome), outcome.lost),
        (Some((None, TroubleKind::Engine)), true)
    );
    assert_eq!(held(&replay(&mut engine, 4), COUNTED), [16; 4]);
}
