//! The calls of wire.md sections 4 and 7: exact traces, written out from the page; where a replay stops; what a guest can reach; and
//! that both replayers agree, call by call.

use std::collections::{BTreeMap, BTreeSet};

use lockstep::case::{Case, Object, Origin, StreamCase};
use lockstep::generators;
use lockstep::gpu::calls::{Row, calls, calls_of_bytes};
use lockstep::oracles::Verdict;
use lockstep::oracles::streams::compare_calls;
use lockstep::readers::native::{Native, granted};
use lockstep::readers::replay_js::replay_js;
use lockstep::readers::{Batch, CallsQuery, StreamReader};
use lockstep::setup;
use proptest::prelude::*;
use rstest::rstest;
use wire::{Kind, Op};

// A table with an object of each kind. Ids are the kinds' numbers, but for what there is twice.
const BUFFER: u32 = 1;
const TEXTURE: u32 = 2;
const VIEW: u32 = 3;
const SAMPLER: u32 = 4;
const MODULE: u32 = 5;
const LAYOUT: u32 = 6;
const GROUP: u32 = 8;
const COMPUTE: u32 = 9;
const RENDER: u32 = 10;
const BUNDLE: u32 = 11;
const VIEW_2: u32 = 12;
const BUFFER_2: u32 = 13;
const TEXTURE_2: u32 = 14;
const NOTHING: u32 = 99;

fn object(id: u32, kind: Kind, refs: &[u32], body: &str) -> Object {
    Object {
        id,
        kind,
        refs: refs.into(),
        body: body.into(),
    }
}

fn table() -> Vec<Object> {
    let buffer = r#"{"size":16,"usage":8}"#;
    let texture = r#"{"size":[4,4],"format":"rgba8unorm","usage":16}"#;
    vec![
        object(BUFFER, Kind::Buffer, &[], buffer),
        object(TEXTURE, Kind::Texture, &[], texture),
        object(VIEW, Kind::TextureView, &[TEXTURE], "{}"),
        object(SAMPLER, Kind::Sampler, &[], "{}"),
        object(MODULE, Kind::ShaderModule, &[], r#"{"code":""}"#),
        object(LAYOUT, Kind::BindGroupLayout, &[], r#"{"entries":[]}"#),
        object(7, Kind::PipelineLayout, &[LAYOUT], "{}"),
        object(GROUP, Kind::BindGroup, &[LAYOUT], r#"{"entries":[]}"#),
        object(COMPUTE, Kind::ComputePipeline, &[0, MODULE], r#"{"compute":{}}"#),
        object(RENDER, Kind::RenderPipeline, &[0, MODULE, 0], r#"{"vertex":{}}"#),
        object(BUNDLE, Kind::RenderBundle, &[], r#"{"colorFormats":[],"words":[]}"#),
        object(VIEW_2, Kind::TextureView, &[TEXTURE], "{}"),
        object(BUFFER_2, Kind::Buffer, &[], buffer),
        object(TEXTURE_2, Kind::Texture, &[], texture),
    ]
}

fn c(op: Op, args: &[u32]) -> Vec<u32> {
    [&[op.word()], args].concat()
}

fn begin() -> Vec<u32> {
    c(Op::BeginRenderPass, &[0, 0])
}

fn end() -> Vec<u32> {
    c(Op::EndPass, &[])
}

fn submit() -> Vec<u32> {
    c(Op::Submit, &[])
}

fn copy() -> Vec<u32> {
    c(Op::CopyBufferToBuffer, &[BUFFER, 0, 0, BUFFER_2, 0, 0, 4, 0])
}

const DATA: [u8; 64] = [7; 64];

/// The lines of a stream over the table; those of the table are left out.
fn lines(commands: &[Vec<u32>]) -> Vec<String> {
    let text = calls(&table(), &commands.concat(), &DATA).text();
    let lines = text.lines().map(str::to_owned).collect::<Vec<_>>();
    let made = lines.iter().rposition(|line| line.starts_with("[\"object\""));
    lines[made.map_or(0, |at| at + 1)..].to_vec()
}

/// The lines of a command in a render pass.
fn in_render_pass(command: &[u32]) -> Vec<String> {
    let lines = lines(&[begin(), command.to_vec(), end()]);
    assert_eq!(
        lines[..2],
        [ENCODER, r#"["encoder1","beginRenderPass",{"colorAttachments":[]}]"#]
    );
    let (rest, last) = lines[2..].split_at(lines.len() - 4);
    assert_eq!(last, [r#"["renderPass1","end"]"#, DONE]);
    rest.to_vec()
}

const ENCODER: &str = r#"["device","createCommandEncoder"]"#;
const DONE: &str = r#"["stream","done"]"#;
const BITS_OF_HALF: u32 = 0x3F00_0000;
const SAFE: [u32; 2] = [u32::MAX, 0x1F_FFFF];

#[rstest]
#[case::set_pipeline(c(Op::SetPipeline, &[RENDER]), r#"["renderPass1","setPipeline",{"@":10}]"#)]
#[case::set_bind_group(c(Op::SetBindGroup, &[3, GROUP, 2, 256, u32::MAX]), r#"["renderPass1","setBindGroup",3,{"@":8},[256,4294967295]]"#)]
#[case::no_bind_group(c(Op::SetBindGroup, &[1, 0, 0]), r#"["renderPass1","setBindGroup",1,null,[]]"#)]
#[case::draw(c(Op::Draw, &[1, 2, 3, u32::MAX]), r#"["renderPass1","draw",1,2,3,4294967295]"#)]
#[case::draw_nothing(c(Op::Draw, &[0, 0, 0, 0]), r#"["renderPass1","draw",0,0,0,0]"#)]
#[case::draw_indexed(c(Op::DrawIndexed, &[1, 2, 3, 4, 5]), r#"["renderPass1","drawIndexed",1,2,3,4,5]"#)]
#[case::negative_base_vertex(c(Op::DrawIndexed, &[1, 2, 3, u32::MAX, 5]), r#"["renderPass1","drawIndexed",1,2,3,-1,5]"#)]
#[case::least_base_vertex(c(Op::DrawIndexed, &[1, 2, 3, 1 << 31, 5]), r#"["renderPass1","drawIndexed",1,2,3,-2147483648,5]"#)]
#[case::set_vertex_buffer(c(Op::SetVertexBuffer, &[2, BUFFER, SAFE[0], SAFE[1], 0, 1]), r#"["renderPass1","setVertexBuffer",2,{"@":1},9007199254740991,4294967296]"#)]
#[case::vertex_buffer_of_size_0(c(Op::SetVertexBuffer, &[2, BUFFER, 8, 0, 0, 0]), r#"["renderPass1","setVertexBuffer",2,{"@":1},8]"#)]
#[case::no_vertex_buffer(c(Op::SetVertexBuffer, &[2, 0, 8, 0, 4, 0]), r#"["renderPass1","setVertexBuffer",2,null]"#)]
#[case::set_index_buffer(c(Op::SetIndexBuffer, &[BUFFER, 1, 8, 0, 4, 0]), r#"["renderPass1","setIndexBuffer",{"@":1},"uint16",8,4]"#)]
#[case::index_buffer_of_size_0(c(Op::SetIndexBuffer, &[BUFFER_2, 2, 0, 0, 0, 0]), r#"["renderPass1","setIndexBuffer",{"@":13},"uint32",0]"#)]
#[case::set_viewport(c(Op::SetViewport, &[0, 1 << 31, BITS_OF_HALF, 1, 0xFF7F_FFFF, 0x3F80_0000]), r#"["renderPass1","setViewport",0,{"f64":"8000000000000000"},{"f64":"3fe0000000000000"},{"f64":"36a0000000000000"},{"f64":"c7efffffe0000000"},1]"#)]
#[case::set_scissor_rect(c(Op::SetScissorRect, &[1, 2, 3, u32::MAX]), r#"["renderPass1","setScissorRect",1,2,3,4294967295]"#)]
#[case::set_blend_constant(c(Op::SetBlendConstant, &[BITS_OF_HALF, 1 << 31, 0x8000_0001, 0xC000_0000]), r#"["renderPass1","setBlendConstant",{"a":-2,"b":{"f64":"b6a0000000000000"},"g":{"f64":"8000000000000000"},"r":{"f64":"3fe0000000000000"}}]"#)]
#[case::set_stencil_reference(c(Op::SetStencilReference, &[u32::MAX]), r#"["renderPass1","setStencilReference",4294967295]"#)]
#[case::execute_bundles(c(Op::ExecuteBundles, &[2, BUNDLE, BUNDLE]), r#"["renderPass1","executeBundles",[{"@":11},{"@":11}]]"#)]
#[case::execute_no_bundles(c(Op::ExecuteBundles, &[0]), r#"["renderPass1","executeBundles",[]]"#)]
#[case::draw_indirect(c(Op::DrawIndirect, &[BUFFER, 4, 0]), r#"["renderPass1","drawIndirect",{"@":1},4]"#)]
#[case::draw_indexed_indirect(c(Op::DrawIndexedIndirect, &[BUFFER_2, SAFE[0], SAFE[1]]), r#"["renderPass1","drawIndexedIndirect",{"@":13},9007199254740991]"#)]
#[case::write_buffer(c(Op::WriteBuffer, &[BUFFER, 16, 0, 4, 8]), r#"["queue","writeBuffer",{"@":1},16,{"data":[4,8]}]"#)]
#[case::write_nothing_at_the_end(c(Op::WriteBuffer, &[BUFFER, 0, 0, 64, 0]), r#"["queue","writeBuffer",{"@":1},0,{"data":[64,0]}]"#)]
fn in_a_render_pass(#[case] command: Vec<u32>, #[case] line: &str) {
    assert_eq!(in_render_pass(&command), [line]);
}

#[rstest]
#[case::set_pipeline(c(Op::SetPipeline, &[COMPUTE]), r#"["computePass1","setPipeline",{"@":9}]"#)]
#[case::set_bind_group(c(Op::SetBindGroup, &[0, GROUP, 1, 0]), r#"["computePass1","setBindGroup",0,{"@":8},[0]]"#)]
#[case::dispatch(c(Op::Dispatch, &[1, 0, u32::MAX]), r#"["computePass1","dispatchWorkgroups",1,0,4294967295]"#)]
#[case::dispatch_indirect(c(Op::DispatchIndirect, &[BUFFER, 12, 0]), r#"["computePass1","dispatchWorkgroupsIndirect",{"@":1},12]"#)]
fn in_a_compute_pass(#[case] command: Vec<u32>, #[case] line: &str) {
    let begin = c(Op::BeginComputePass, &[]);
    let begun = r#"["encoder1","beginComputePass"]"#;
    let ended = r#"["computePass1","end"]"#;
    assert_eq!(lines(&[begin, command, end()]), [ENCODER, begun, line, ended, DONE]);
}

#[test]
fn copies() {
    let textures = c(
        Op::CopyTextureToTexture,
        &[TEXTURE, 1, 2, 3, 4, 0, TEXTURE_2, 5, 6, 7, 8, 1, 9, 10, 11],
    );
    let buffers = c(
        Op::CopyBufferToBuffer,
        &[BUFFER, 4, 0, BUFFER_2, 8, 0, SAFE[0], SAFE[1]],
    );
    assert_eq!(
        lines(&[textures, buffers]),
        [
            ENCODER,
            r#"["encoder1","copyTextureToTexture",{"mipLevel":1,"origin":{"x":2,"y":3,"z":4},"texture":{"@":2}},{"aspect":"all","mipLevel":5,"origin":{"x":6,"y":7,"z":8},"texture":{"@":14}},{"depthOrArrayLayers":11,"height":10,"width":9}]"#,
            r#"["encoder1","copyBufferToBuffer",{"@":1},4,{"@":13},8,9007199254740991]"#,
            DONE,
        ]
    );
}

#[rstest]
#[case::strides([256, 8], r#"{"bytesPerRow":256,"offset":1099511627776,"rowsPerImage":8}"#)]
#[case::strides_of_0([0, 0], r#"{"bytesPerRow":0,"offset":1099511627776,"rowsPerImage":0}"#)]
#[case::no_bytes_per_row([u32::MAX, 8], r#"{"offset":1099511627776,"rowsPerImage":8}"#)]
#[case::no_rows_per_image([0, u32::MAX], r#"{"bytesPerRow":0,"offset":1099511627776}"#)]
#[case::no_strides([u32::MAX, u32::MAX], r#"{"offset":1099511627776}"#)]
fn texture_writes(
    #[case] strides: [u32; 2],
    #[case] layout: &str,
    #[values((0, ""), (1, r#""aspect":"all","#), (2, r#""aspect":"stencil-only","#), (3, r#""aspect":"depth-only","#))]
    aspect: (u32, &str),
) {
    let (number, name) = aspect;
    let write = c(
        Op::WriteTexture,
        &[
            TEXTURE, 1, 2, 3, 4, number, 60, 4, 0, 256, strides[0], strides[1], 0, 1, 6,
        ],
    );
    let to = format!(r#"{{{name}"mipLevel":1,"origin":{{"x":2,"y":3,"z":4}},"texture":{{"@":2}}}}"#);
    let size = r#"{"depthOrArrayLayers":6,"height":1,"width":0}"#;
    let line = format!(r#"["queue","writeTexture",{to},{{"data":[60,4]}},{layout},{size}]"#);
    assert_eq!(lines(&[write]), [line.as_str(), DONE]);
}

/// The dictionary that beginRenderPass gets.
fn pass(args: &[u32]) -> String {
    let lines = lines(&[c(Op::BeginRenderPass, args), end()]);
    let call = lines[1]
        .strip_prefix(r#"["encoder1","beginRenderPass","#)
        .expect("the call");
    call.strip_suffix("]").expect("its end").to_owned()
}

#[test]
fn color_attachments() {
    let floats = [BITS_OF_HALF, 0, 0x3F80_0000, 1 << 31];
    let color = |head: [u32; 4]| [head, floats].concat();
    let colors = [
        color([VIEW, 0, 2, 1]),
        color([0, 0, 1, 1]),
        color([VIEW, VIEW_2, 1, 2]),
        color([0, VIEW_2, 2, 2]),
        color([VIEW_2, VIEW, 2, 2]),
    ];
    let clear = r#""clearValue":{"a":{"f64":"8000000000000000"},"b":1,"g":0,"r":{"f64":"3fe0000000000000"}}"#;
    let cleared = format!(r#"{{{clear},"loadOp":"clear","storeOp":"store","view":{{"@":3}}}}"#);
    let loaded = r#"{"loadOp":"load","resolveTarget":{"@":12},"storeOp":"discard","view":{"@":3}}"#;
    let resolved =
        format!(r#"{{{clear},"loadOp":"clear","resolveTarget":{{"@":3}},"storeOp":"discard","view":{{"@":12}}}}"#);
    let expected = format!(r#"{{"colorAttachments":[{cleared},null,{loaded},null,{resolved}]}}"#);
    assert_eq!(pass(&[vec![5], colors.concat(), vec![0]].concat()), expected);
}

/// Every combination of load op, store op and read only flag, of depth and of stencil.
#[test]
fn depth_attachments() {
    let aspect = |name: &str, [load, store, read_only]: [u32; 3], clear: &str| {
        let load_op = ["", "load", "clear"][load as usize];
        let store_op = ["", "store", "discard"][store as usize];
        let mut members = BTreeMap::from([(format!("{name}ReadOnly"), (read_only == 1).to_string())]);
        if load == 2 {
            members.insert(format!("{name}ClearValue"), clear.to_owned());
        }
        if load != 0 {
            members.insert(format!("{name}LoadOp"), format!("{load_op:?}"));
        }
        if store != 0 {
            members.insert(format!("{name}StoreOp"), format!("{store_op:?}"));
        }
        members
    };
    let combinations: Vec<[u32; 3]> = (0..18).map(|i| [i % 3, i / 3 % 3, i / 9]).collect();
    for &depth in &combinations {
        for &stencil in &combinations {
            let mut members = aspect("depth", depth, r#"{"f64":"3fe0000000000000"}"#);
            members.extend(aspect("stencil", stencil, "7"));
            members.insert("view".into(), r#"{"@":3}"#.into());
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("\"{name}\":{value}"))
                .collect();
            let [dl, ds, dr] = depth;
            let [sl, ss, sr] = stencil;
            assert_eq!(
                pass(&[0, 1, VIEW, dl, ds, BITS_OF_HALF, dr, sl, ss, 7, sr]),
                format!(
                    r#"{{"colorAttachments":[],"depthStencilAttachment":{{{}}}}}"#,
                    members.join(",")
                )
            );
        }
    }
}

/// Section 4, rules 2 to 5.
#[test]
fn one_encoder_from_the_first_command_that_needs_it_to_its_submit() {
    let write = || c(Op::WriteBuffer, &[BUFFER, 0, 0, 0, 4]);
    let read = c(Op::ReadBuffer, &[BUFFER, 0, 0, 4, 0]);
    let copied = |encoder: u32| format!(r#"["encoder{encoder}","copyBufferToBuffer",{{"@":1}},0,{{"@":13}},0,4]"#);
    let written = r#"["queue","writeBuffer",{"@":1},0,{"data":[0,4]}]"#.to_owned();
    let owned = |line: &str| line.to_owned();
    let finished = |n: u32| {
        [
            format!(r#"["encoder{n}","finish"]"#),
            format!(r#"["queue","submit",[{{"@":"commands{n}"}}]]"#),
        ]
    };
    let [finish_1, submit_1] = finished(1);
    let [finish_2, submit_2] = finished(2);
    assert_eq!(
        lines(&[
            submit(),
            copy(),
            begin(),
            write(),
            read,
            end(),
            copy(),
            submit(),
            submit(),
            write(),
            begin(),
            end(),
            submit(),
            // Never finished.
            copy(),
            begin(),
            write(),
            end(),
        ]),
        [
            owned(ENCODER),
            copied(1),
            owned(r#"["encoder1","beginRenderPass",{"colorAttachments":[]}]"#),
            written.clone(),
            owned(r#"["renderPass1","end"]"#),
            copied(1),
            finish_1,
            submit_1,
            written.clone(),
            owned(ENCODER),
            owned(r#"["encoder2","beginRenderPass",{"colorAttachments":[]}]"#),
            owned(r#"["renderPass2","end"]"#),
            finish_2,
            submit_2,
            owned(ENCODER),
            copied(3),
            owned(r#"["encoder3","beginRenderPass",{"colorAttachments":[]}]"#),
            written,
            owned(r#"["renderPass3","end"]"#),
            owned(DONE),
        ]
    );
}

#[test]
fn a_stream_that_is_refused_makes_no_call() {
    let write = c(Op::WriteBuffer, &[BUFFER, 0, 0, 0, 4]);
    assert_eq!(lines(&[write, vec![99]]), [r#"["stream","unknown-op",6,0]"#]);
    assert_eq!(lines(&[submit(), begin()]), [r#"["stream","open-pass",1,20]"#]);
    assert_eq!(calls_of_bytes(&[], b"WIRE").text(), "[\"stream\",\"bad-length\"]\n");
}

/// Rule 6, for every argument that is an id: none that names nothing or an object of another kind lets its command make its call.
#[rstest]
#[case(Op::SetPipeline, &[RENDER], &[0])]
#[case(Op::SetBindGroup, &[0, GROUP, 0], &[1])]
#[case(Op::SetVertexBuffer, &[0, BUFFER, 0, 0, 0, 0], &[1])]
#[case(Op::SetIndexBuffer, &[BUFFER, 1, 0, 0, 0, 0], &[0])]
#[case(Op::ExecuteBundles, &[3, BUNDLE, BUNDLE, BUNDLE], &[1, 2, 3])]
#[case(Op::DrawIndirect, &[BUFFER, 0, 0], &[0])]
#[case(Op::DrawIndexedIndirect, &[BUFFER, 0, 0], &[0])]
#[case(Op::DispatchIndirect, &[BUFFER, 0, 0], &[0])]
#[case(Op::WriteBuffer, &[BUFFER, 0, 0, 0, 0], &[0])]
#[case(Op::CopyBufferToBuffer, &[BUFFER, 0, 0, BUFFER_2, 0, 0, 4, 0], &[0, 3])]
#[case(Op::CopyTextureToTexture, &[TEXTURE, 0, 0, 0, 0, 0, TEXTURE_2, 0, 0, 0, 0, 0, 1, 1, 1], &[0, 6])]
#[case(Op::WriteTexture, &[TEXTURE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1], &[0])]
#[case(Op::ReadBuffer, &[BUFFER, 0, 0, 4, 0], &[0])]
#[case(
    Op::BeginRenderPass,
    &[2, VIEW, VIEW_2, 2, 1, 0, 0, 0, 0, 0, VIEW_2, 1, 1, 0, 0, 0, 0, 1, VIEW, 0, 0, 0, 0, 0, 0, 0, 0],
    &[1, 2, 10, 18]
)]
fn another_kind_stops_before_the_call(#[case] op: Op, #[case] args: &[u32], #[case] ids: &[usize]) {
    let before = match op {
        _ if op.allowed_in(wire::Context::Outside) => vec![],
        _ if op.allowed_in(wire::Context::Render) => begin(),
        _ => c(Op::BeginComputePass, &[]),
    };
    let after = if before.is_empty() && op != Op::BeginRenderPass {
        vec![]
    } else {
        end()
    };
    let command = usize::from(!before.is_empty());
    let stream = |args: &[u32]| [before.clone(), c(op, args), after.clone(), copy(), submit()];
    assert_eq!(lines(&stream(args)).last().map(String::as_str), Some(DONE));
    for &at in ids {
        let strangers = table().into_iter().map(|object| object.id).chain([NOTHING, u32::MAX]);
        for id in strangers.filter(|&id| kind_of(id) != kind_of(args[at])) {
            let mut args = args.to_vec();
            args[at] = id;
            let lines = lines(&stream(&args));
            let stop = format!(r#"["stream","wrong-kind",{command},{}]"#, before.len() + 1 + at);
            assert_eq!(lines.last(), Some(&stop), "{op} {args:?}");
            assert_eq!(lines.len(), 1 + 2 * command, "and nothing after the calls before it");
        }
    }
}

fn kind_of(id: u32) -> Option<Kind> {
    table()
        .into_iter()
        .find(|object| object.id == id)
        .map(|object| object.kind)
}

#[test]
fn pipelines_go_by_their_pass_and_the_first_argument_is_named() {
    let compute = || c(Op::BeginComputePass, &[]);
    let pipeline = |id: u32| c(Op::SetPipeline, &[id]);
    let last = |commands: &[Vec<u32>]| lines(commands).pop();
    let stop = |command: u32, word: u32| Some(format!(r#"["stream","wrong-kind",{command},{word}]"#));
    assert_eq!(last(&[begin(), pipeline(COMPUTE), end()]), stop(1, 4));
    assert_eq!(last(&[compute(), pipeline(RENDER), end()]), stop(1, 2));
    let passes = [
        begin(),
        pipeline(RENDER),
        end(),
        compute(),
        pipeline(COMPUTE),
        end(),
        begin(),
        pipeline(RENDER),
        end(),
    ];
    assert_eq!(last(&passes).as_deref(), Some(DONE));
    let both = c(Op::CopyBufferToBuffer, &[TEXTURE, 0, 0, NOTHING, 0, 0, 4, 0]);
    assert_eq!(last(&[submit(), both]), stop(1, 2));
}

// The object table.

/// The lines of one more row of the table.
fn row(kind: Kind, refs: &[u32], body: &str) -> Vec<String> {
    let mut objects = table();
    objects.push(object(20, kind, refs, body));
    let text = calls(&objects, &[], &[]).text();
    let before = calls(&objects[..objects.len() - 1], &[], &[]).text();
    let before = before.strip_suffix("[\"stream\",\"done\"]\n").expect("its end");
    let lines = text.strip_prefix(before).expect("the same before").lines();
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    assert_eq!(lines.pop().as_deref(), Some(DONE));
    lines
}

const MADE: &str = r#"["object",20,"made"]"#;

#[rstest]
#[case::buffer(Kind::Buffer, &[], r#"{"usage":128,"size":1099511627776}"#, r#"["device","createBuffer",{"size":1099511627776,"usage":128}]"#)]
#[case::texture(Kind::Texture, &[], r#"{"size":{"width":4},"format":"r8unorm","usage":16,"viewFormats":[]}"#, r#"["device","createTexture",{"format":"r8unorm","size":{"width":4},"usage":16,"viewFormats":[]}]"#)]
#[case::view(Kind::TextureView, &[TEXTURE_2], r#"{"baseMipLevel":1}"#, r#"[14,"createView",{"baseMipLevel":1}]"#)]
#[case::sampler(Kind::Sampler, &[], r#"{"lodMaxClamp":4.5,"lodMinClamp":-0.0,"magFilter":"linear"}"#, r#"["device","createSampler",{"lodMaxClamp":{"f64":"4012000000000000"},"lodMinClamp":{"f64":"8000000000000000"},"magFilter":"linear"}]"#)]
#[case::module(Kind::ShaderModule, &[], "{\"code\":\"// \\u00e9\\n\\\"\"}", "[\"device\",\"createShaderModule\",{\"code\":\"// é\\n\\\"\"}]")]
#[case::bind_group_layout(Kind::BindGroupLayout, &[], r#"{"entries":[{"visibility":4,"binding":0,"buffer":{}}]}"#, r#"["device","createBindGroupLayout",{"entries":[{"binding":0,"buffer":{},"visibility":4}]}]"#)]
#[case::pipeline_layout(Kind::PipelineLayout, &[LAYOUT, 0], "{}", r#"["device","createPipelineLayout",{"bindGroupLayouts":[{"@":6},null]}]"#)]
#[case::bind_group(Kind::BindGroup, &[LAYOUT, BUFFER, BUFFER, VIEW, SAMPLER], r#"{"label":"x","entries":[{"binding":0,"offset":4,"size":8},{"binding":1},{"binding":5,"offset":1},{"binding":6}]}"#, r#"["device","createBindGroup",{"entries":[{"binding":0,"resource":{"buffer":{"@":1},"offset":4,"size":8}},{"binding":1,"resource":{"buffer":{"@":1}}},{"binding":5,"resource":{"@":3}},{"binding":6,"resource":{"@":4}}],"label":"x","layout":{"@":6}}]"#)]
#[case::compute_pipeline(Kind::ComputePipeline, &[7, MODULE], r#"{"compute":{"entryPoint":"main","constants":{"a":1.5}}}"#, r#"["device","createComputePipeline",{"compute":{"constants":{"a":{"f64":"3ff8000000000000"}},"entryPoint":"main","module":{"@":5}},"layout":{"@":7}}]"#)]
#[case::compute_pipeline_auto(Kind::ComputePipeline, &[0, MODULE], r#"{"compute":{}}"#, r#"["device","createComputePipeline",{"compute":{"module":{"@":5}},"layout":"auto"}]"#)]
#[case::render_pipeline(Kind::RenderPipeline, &[7, MODULE, MODULE], r#"{"vertex":{"buffers":[null]},"fragment":{"targets":[]},"primitive":{}}"#, r#"["device","createRenderPipeline",{"fragment":{"module":{"@":5},"targets":[]},"layout":{"@":7},"primitive":{},"vertex":{"buffers":[null],"module":{"@":5}}}]"#)]
#[case::render_pipeline_without_fragment(Kind::RenderPipeline, &[0, MODULE, 0], r#"{"vertex":{}}"#, r#"["device","createRenderPipeline",{"layout":"auto","vertex":{"module":{"@":5}}}]"#)]
fn objects_are_made_by_one_call(#[case] kind: Kind, #[case] refs: &[u32], #[case] body: &str, #[case] line: &str) {
    assert_eq!(row(kind, refs, body), [line, MADE]);
}

#[test]
fn bundles() {
    let words = [
        c(Op::SetPipeline, &[1]),
        c(Op::SetBindGroup, &[0, 2, 1, 256]),
        c(Op::SetBindGroup, &[0, 0, 0]),
        c(Op::SetVertexBuffer, &[0, 3, 4, 0, 0, 0]),
        c(Op::SetVertexBuffer, &[1, 0, 0, 0, 0, 0]),
        c(Op::SetIndexBuffer, &[3, 2, 0, 0, 8, 0]),
        c(Op::Draw, &[1, 2, 3, 4]),
        c(Op::DrawIndexed, &[1, 2, 3, u32::MAX, 5]),
        c(Op::DrawIndirect, &[3, 0, 0]),
        c(Op::DrawIndexedIndirect, &[3, 4, 0]),
    ];
    let body = format!(
        r#"{{"words":{:?},"colorFormats":["r8unorm",null],"sampleCount":4}}"#,
        words.concat()
    );
    // The fourth reference is not named, so that it may be 0, and the fifth nothing.
    assert_eq!(
        row(Kind::RenderBundle, &[RENDER, GROUP, BUFFER, 0, NOTHING], &body),
        [
            r#"["device","createRenderBundleEncoder",{"colorFormats":["r8unorm",null],"sampleCount":4}]"#,
            // The table's own bundle had the first.
            r#"["bundleEncoder2","setPipeline",{"@":10}]"#,
            r#"["bundleEncoder2","setBindGroup",0,{"@":8},[256]]"#,
            r#"["bundleEncoder2","setBindGroup",0,null,[]]"#,
            r#"["bundleEncoder2","setVertexBuffer",0,{"@":1},4]"#,
            r#"["bundleEncoder2","setVertexBuffer",1,null]"#,
            r#"["bundleEncoder2","setIndexBuffer",{"@":1},"uint32",0,8]"#,
            r#"["bundleEncoder2","draw",1,2,3,4]"#,
            r#"["bundleEncoder2","drawIndexed",1,2,3,-1,5]"#,
            r#"["bundleEncoder2","drawIndirect",{"@":1},0]"#,
            r#"["bundleEncoder2","drawIndexedIndirect",{"@":1},4]"#,
            r#"["bundleEncoder2","finish"]"#,
            MADE,
        ]
    );
}

#[rstest]
#[case::past_the_references(&[RENDER], "[1,2]", r#"["object",20,"unknown-id",1,1]"#)]
#[case::a_reference_of_0(&[0], "[1,1]", r#"["object",20,"unknown-id",1,1]"#)]
#[case::the_greatest_position(&[RENDER], "[1,4294967295]", r#"["object",20,"unknown-id",1,1]"#)]
#[case::an_id_of_0(&[RENDER], "[1,0]", r#"["object",20,"zero-id",1,1]"#)]
#[case::a_command_of_passes_only(&[RENDER], "[1,1,10,3]", r#"["object",20,"wrong-context",2,10]"#)]
#[case::a_submit(&[], "[40]", r#"["object",20,"wrong-context",0,40]"#)]
#[case::no_command(&[], "[99]", r#"["object",20,"unknown-op",0,0]"#)]
#[case::cut(&[], "[3,1]", r#"["object",20,"truncated",0,3]"#)]
#[case::a_negative_word(&[], "[-1]", r#"["object",20,"bad-descriptor"]"#)]
#[case::a_wide_word(&[], "[4294967296]", r#"["object",20,"bad-descriptor"]"#)]
#[case::half_a_word(&[], "[0.5]", r#"["object",20,"bad-descriptor"]"#)]
#[case::no_words(&[], "7", r#"["object",20,"bad-descriptor"]"#)]
fn refused_bundles_make_no_call(#[case] refs: &[u32], #[case] words: &str, #[case] line: &str) {
    let body = format!(r#"{{"colorFormats":[],"words":{words}}}"#);
    assert_eq!(row(Kind::RenderBundle, refs, &body), [line]);
}

#[test]
fn a_bundle_stops_at_another_kind() {
    let body = r#"{"colorFormats":[],"words":[3,1,2,3,4,1,1,3,1,2,3,4]}"#;
    let calls = [
        r#"["device","createRenderBundleEncoder",{"colorFormats":[]}]"#,
        r#"["bundleEncoder2","draw",1,2,3,4]"#,
        r#"["object",20,"wrong-kind",1,6]"#,
    ];
    for id in [COMPUTE, BUFFER, NOTHING, u32::MAX] {
        assert_eq!(row(Kind::RenderBundle, &[id], body), calls);
    }
}

#[rstest]
#[case(Kind::Buffer, &[], "")]
#[case(Kind::Buffer, &[], r#"{"size":4}"#)]
#[case(Kind::Buffer, &[], r#"{"size":"4","usage":8}"#)]
#[case(Kind::Buffer, &[], r#"{"size":4,"usage":8,"mappedAtCreation":false}"#)]
#[case(Kind::Buffer, &[BUFFER], r#"{"size":4,"usage":8}"#)]
#[case(Kind::Texture, &[], r#"{"size":4,"format":"r8unorm","usage":1}"#)]
#[case(Kind::TextureView, &[], "{}")]
#[case(Kind::TextureView, &[0], "{}")]
#[case(Kind::TextureView, &[TEXTURE, TEXTURE], "{}")]
#[case(Kind::Sampler, &[], "[]")]
#[case(Kind::Sampler, &[], "{} {}")]
#[case(Kind::Sampler, &[], "\u{feff}{}")]
#[case(Kind::Sampler, &[], r#"{"label":"\ud800"}"#)]
#[case(Kind::Sampler, &[], r#"{"lodMaxClamp":1e999}"#)]
#[case(Kind::ShaderModule, &[], "{}")]
#[case(Kind::BindGroupLayout, &[], r#"{"entries":{}}"#)]
#[case(Kind::PipelineLayout, &[], r#"{"bindGroupLayouts":[]}"#)]
#[case(Kind::BindGroup, &[], r#"{"entries":[]}"#)]
#[case(Kind::BindGroup, &[0], r#"{"entries":[]}"#)]
#[case(Kind::BindGroup, &[LAYOUT, BUFFER], r#"{"entries":[]}"#)]
#[case(Kind::BindGroup, &[LAYOUT, 0], r#"{"entries":[{"binding":0}]}"#)]
#[case(Kind::BindGroup, &[LAYOUT, BUFFER], r#"{"entries":[{}]}"#)]
#[case(Kind::BindGroup, &[LAYOUT, BUFFER], r#"{"entries":[{"binding":0,"resource":1}]}"#)]
#[case(Kind::ComputePipeline, &[0, 0], r#"{"compute":{}}"#)]
#[case(Kind::ComputePipeline, &[MODULE], r#"{"compute":{}}"#)]
#[case(Kind::ComputePipeline, &[0, MODULE], r#"{"compute":{"module":1}}"#)]
#[case(Kind::ComputePipeline, &[0, MODULE], r#"{"compute":{},"layout":"auto"}"#)]
#[case(Kind::RenderPipeline, &[0, MODULE, MODULE], r#"{"vertex":{}}"#)]
#[case(Kind::RenderPipeline, &[0, MODULE, 0], r#"{"vertex":{},"fragment":{}}"#)]
#[case(Kind::RenderPipeline, &[0, MODULE, MODULE], r#"{"vertex":{},"fragment":null}"#)]
#[case(Kind::RenderBundle, &[], r#"{"words":[]}"#)]
fn bad_descriptors(#[case] kind: Kind, #[case] refs: &[u32], #[case] body: &str) {
    assert_eq!(row(kind, refs, body), [r#"["object",20,"bad-descriptor"]"#]);
}

#[rstest]
#[case(Kind::TextureView, &[BUFFER], "{}", 0)]
#[case(Kind::TextureView, &[NOTHING], "{}", 0)]
#[case(Kind::TextureView, &[20], "{}", 0)]
#[case(Kind::TextureView, &[u32::MAX], "{}", 0)]
#[case(Kind::PipelineLayout, &[0, LAYOUT, MODULE, NOTHING], "{}", 2)]
#[case(Kind::BindGroup, &[LAYOUT, BUFFER, MODULE], r#"{"entries":[{"binding":0},{"binding":1}]}"#, 2)]
#[case(Kind::ComputePipeline, &[LAYOUT, NOTHING], r#"{"compute":{}}"#, 0)]
#[case(Kind::RenderPipeline, &[0, MODULE, BUFFER], r#"{"vertex":{},"fragment":{}}"#, 2)]
fn references_of_another_kind(#[case] kind: Kind, #[case] refs: &[u32], #[case] body: &str, #[case] index: usize) {
    assert_eq!(
        row(kind, refs, body),
        [format!(r#"["object",20,"wrong-kind",{index}]"#)]
    );
}

/// A buffer of id 1 and then `again` with the same id: what a view of the texture 2 and a write to 1 find.
#[test]
fn a_row_takes_the_place_of_an_earlier_one_of_its_id_also_when_it_is_refused() {
    let write = c(Op::WriteBuffer, &[BUFFER, 0, 0, 0, 4]);
    let last = |again: Object| {
        let mut objects = table();
        objects.push(again);
        let text = calls(&objects, &write, &DATA).text();
        text.lines().map(str::to_owned).next_back()
    };
    let buffer = r#"{"size":4,"usage":8}"#;
    let stop = Some(r#"["stream","wrong-kind",0,1]"#);
    assert_eq!(last(object(BUFFER, Kind::Buffer, &[], buffer)).as_deref(), Some(DONE));
    assert_eq!(last(object(BUFFER, Kind::Sampler, &[], "{}")).as_deref(), stop);
    assert_eq!(last(object(BUFFER, Kind::Buffer, &[], "?")).as_deref(), stop);
    assert_eq!(last(object(0, Kind::Buffer, &[], buffer)).as_deref(), Some(DONE));
    // Its own references reach the one before it.
    let mut objects = table();
    objects.push(object(TEXTURE, Kind::TextureView, &[TEXTURE], "{}"));
    let text = calls(&objects, &[], &[]).text();
    assert!(
        text.contains("[2,\"createView\",{}]\n[\"object\",2,\"made\"]\n"),
        "{text}"
    );
}

// What a guest can reach.

fn generated(lane: &str, seed: u64, index: u64) -> Option<StreamCase> {
    let origin = Origin {
        lane: lane.into(),
        seed,
        index,
    };
    match generators::case(&origin)?.case {
        Case::Stream(case) => Some(case),
        Case::Layout(_) | Case::Bind(_) => None,
    }
}

/// Every `{"@": id}` in a line.
fn ids(value: &serde_json::Value, into: &mut BTreeSet<u32>) {
    match value {
        serde_json::Value::Array(list) => list.iter().for_each(|value| ids(value, into)),
        serde_json::Value::Object(members) => {
            into.extend(members.get("@").and_then(serde_json::Value::as_u64).map(|id| id as u32));
            members.values().for_each(|value| ids(value, into));
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever a guest sends, the calls of its stream name no object but those that its map gives, each one of the table; and the
    /// calls that make the table's objects name none but what the rows refer to.
    #[test]
    fn a_guest_reaches_only_what_the_map_grants(
        raw in any::<bool>(),
        seed in any::<u64>(),
        keep in any::<u64>(),
        hosts in proptest::collection::vec(prop_oneof![0..40u32, Just(u32::MAX), any::<u32>()], 0..6),
    ) {
        let Some(mut case) = generated(if raw { "raw" } else { "streams" }, seed, 0) else {
            return Ok(());
        };
        // Some grants are withdrawn, others lead elsewhere.
        let mut at = 0..;
        case.id_map.retain(|_| keep >> (at.next().unwrap_or(0) % 64) & 7 != 0);
        for (entry, host) in case.id_map.iter_mut().rev().zip(hosts) {
            entry.1 = host;
        }
        let Some(query) = CallsQuery::of(&case) else { return Ok(()) };
        let text = calls_of_bytes(&query.rows, &query.blob).text();
        let (mut reached, mut rows) = (BTreeSet::new(), BTreeSet::new());
        let outcomes = text.lines().filter(|line| line.starts_with("[\"object\"")).count();
        prop_assert_eq!(outcomes, case.objects.len());
        let last = text.lines().collect::<Vec<_>>().iter().rposition(|line| line.starts_with("[\"object\""));
        for (index, line) in text.lines().enumerate() {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let of_row = last.is_some_and(|last| index <= last);
            ids(&line, if of_row { &mut rows } else { &mut reached });
        }
        let image: BTreeSet<u32> = case.id_map.iter().map(|entry| entry.1).filter(|&host| host != 0).collect();
        prop_assert!(reached.is_subset(&image), "{:?} of {:?}", reached, image);
        let held: BTreeSet<u32> = case.objects.iter().map(|object| object.id).collect();
        prop_assert!(reached.is_subset(&held), "{:?} of {:?}", reached, held);
        let referred: BTreeSet<u32> = case.objects.iter().flat_map(|object| object.refs.iter().copied()).collect();
        prop_assert!(rows.is_subset(&referred), "{:?} of {:?}", rows, referred);
    }

    /// And what the guest's own descriptors name after their remapping is in the image too.
    #[test]
    fn a_descriptor_reaches_only_what_the_map_grants(seed in any::<u64>()) {
        let Some(case) = generated("streams", seed, 0) else { return Ok(()) };
        for descriptor in &case.descriptors {
            let mut bytes = descriptor.clone();
            if wire::remap_descriptor(&mut bytes, |guest| granted(&case.id_map, guest)).is_err() {
                continue;
            }
            let (refs, _) = wire::split_descriptor(&bytes).expect("it was whole");
            for id in refs.into_iter().filter(|&id| id != 0) {
                prop_assert!(case.id_map.iter().any(|entry| entry.1 == id), "{}", id);
            }
        }
    }
}

// The two replayers.

fn readers() -> [Box<dyn StreamReader>; 2] {
    let parts = setup::look();
    let deno = parts.deno.expect("deno, which `cargo lockstep test` brings");
    [Box::new(Native::default()), Box::new(replay_js(&parts.root, &deno))]
}

/// Asks both and holds their traces against each other; how many were looked at.
fn agree(queries: Vec<CallsQuery>) -> usize {
    let batch = Batch {
        calls: queries,
        ..Batch::default()
    };
    let [native, replay_js] = readers().map(|mut reader| {
        reader.ask(&batch).expect("asked");
        reader.hear().expect("heard").calls
    });
    assert_eq!(native.len(), batch.calls.len());
    assert_eq!(replay_js.len(), batch.calls.len());
    for (a, b) in native.iter().zip(&replay_js) {
        if a != b {
            assert_eq!(String::from_utf8_lossy(a), String::from_utf8_lossy(b));
        }
    }
    native.len()
}

#[test]
fn both_replayers_make_the_same_calls() {
    let of = |lane: &str, count: u64| {
        let cases = (0..count).filter_map(|index| generated(lane, 20, index));
        cases.filter_map(|case| CallsQuery::of(&case)).collect::<Vec<_>>()
    };
    let compared = agree([of("streams", 8000), of("replays", 1000), of("raw", 1000)].concat());
    assert!(compared >= 5000, "{compared}");
}

/// What no generator says: bytes that are no case.
#[test]
fn both_replayers_agree_over_odd_rows() {
    let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
    let bodies: Vec<Vec<u8>> = [
        r#"{"b":1,"a":2,"é":3,"😀":4,"":5,"":6,"10":7,"9":8,"__proto__":{"x":1}}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"a":[0,-0,-0.0,0.1,1e-7,123456789012345678901234567890,9007199254740993,-9007199254740993,5e-324,2e-324]}"#,
        r#"{"a":[1.7976931348623157e308,2.2250738585072011e-308,8.41e21,7.2057594037927933e16,1e23,0e999,-1e-999]}"#,
        r#"{"a":1e309}"#,
        r#"{"a":-1e400}"#,
        r#"{"a":"\ud83d\ude00 \u0000\u001f\u007f\u2028\/\b\f\n\r\t\"\\"}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"\udc00":1}"#,
        r#"{"a":"\udc00\ud800"}"#,
        r#"{"a":01}"#,
        r#"{"a":+1}"#,
        r#"{"a":.5}"#,
        r#"{"a":1.}"#,
        r#"{"a":NaN}"#,
        r#"{"a":1,}"#,
        r#"{'a':1}"#,
        "{\"a\":\"\t\"}",
        "{\"a\":\"\n\"}",
        "\u{feff}{}",
        " \t\r\n{} \t\r\n",
        "{}\u{a0}",
        "{}{}",
        "{",
        "",
        "null",
        "true",
        "\"{}\"",
        "[{}]",
        r#"{"a":null,"b":true,"c":false,"d":{},"e":[]}"#,
        r#"{"@":5,"undefined":true}"#,
    ]
    .map(|body| body.as_bytes().to_vec())
    .into_iter()
    .chain([126, 127, 128, 5000].map(|levels| deep(levels).into_bytes()))
    .chain([
        b"{\"a\":\"\xff\"}".to_vec(),
        b"{\"a\":\"\xed\xa0\x80\"}".to_vec(),
        b"\xef\xbb\xbf{}".to_vec(),
    ])
    .collect();
    let sampler = |body: &Vec<u8>| [&[0; 4], body.as_slice()].concat();
    let mut descriptors: Vec<(u32, Vec<u8>)> = bodies.iter().map(|body| (4, sampler(body))).collect();
    for kind in [0, 12, u32::MAX] {
        descriptors.push((kind, sampler(&b"{}".to_vec())));
    }
    for bytes in [
        &[][..],
        &[1],
        &[1, 0, 0, 0],
        &[1, 0, 0, 0, 1, 0, 0],
        &[1, 16, 0, 0],
        &[255; 8],
        &[0; 3],
    ] {
        descriptors.push((4, bytes.to_vec()));
    }
    descriptors.extend((1..=11).map(|kind| (kind, [&[1, 0, 0, 0, 2, 0, 0, 0], &b"{}"[..]].concat())));
    let words = [
        "[1.0,1e0]",
        "[1,-0]",
        "[true]",
        "[null]",
        "[[1]]",
        "[4294967295.5]",
        "[\"1\"]",
        "{}",
        "[]",
    ];
    descriptors.extend(words.map(|words| {
        let body = format!(r#"{{"colorFormats":[],"words":{words}}}"#);
        (11, [&[1, 0, 0, 0, 10, 0, 0, 0], body.as_bytes()].concat())
    }));
    let rows: Vec<Row> = table().iter().map(Row::of).collect();
    let queries = descriptors.into_iter().enumerate().map(|(index, (kind, descriptor))| {
        let mut rows = rows.clone();
        let id = [20, 0, BUFFER, u32::MAX][index % 4];
        rows.push(Row { id, kind, descriptor });
        CallsQuery {
            rows,
            blob: wire::encode_blob(&[c(Op::WriteBuffer, &[BUFFER, 0, 0, 0, 0]), submit()].concat(), &[]),
        }
    });
    let mut queries: Vec<CallsQuery> = queries.collect();
    for blob in [
        vec![],
        vec![0; 16],
        wire::encode_blob(&[99], &[]),
        wire::encode_blob(&[22], &[1]),
    ] {
        queries.push(CallsQuery { rows: vec![], blob });
    }
    agree(queries);
}

#[test]
fn a_difference_is_named_by_its_method() {
    let a = b"[\"renderPass1\",\"draw\",1,2,3,4]\n[\"stream\",\"done\"]\n";
    let verdict = |b: &[u8]| compare_calls(a, b).verdict;
    assert_eq!(verdict(a), Verdict::BothAccept);
    let other = b"[\"renderPass1\",\"draw\",1,2,3,5]\n[\"stream\",\"done\"]\n";
    assert_eq!(
        verdict(other),
        Verdict::Differ("both draw, elsewhere or otherwise".into())
    );
    let stopped = b"[\"stream\",\"wrong-kind\",0,1]\n";
    assert_eq!(verdict(stopped), Verdict::Differ("draw vs stream wrong-kind".into()));
    assert_eq!(
        verdict(&a[..a.len() - 18]),
        Verdict::Differ("stream done vs nothing".into())
    );
    assert_eq!(compare_calls(stopped, stopped).verdict, Verdict::BothRefuse);
    assert_eq!(
        verdict(b"nonsense"),
        Verdict::Differ("draw vs no line of a trace".into())
    );
}
