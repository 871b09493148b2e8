//! A trace in the canonical text of `reference/PROTOCOL.md`: a JSON array a line, so that two that agree are equal bytes.

use std::fmt::Write as _;
use std::ops::Range;

use serde_json::{Map, Value, json};
use wgpu::{Extent3d, IndexFormat, LoadOp, StoreOp, TextureAspect};
use wire::{MAX_SAFE_INTEGER, Reason, Refusal};

use super::objects::reference;
use super::stream::{Call, Color, DataLayout, Depth, Replay, Section, Stop, Texels};
use super::{Creation, NotReplayed, RowRefused, RowTrace, Trace};

impl Trace {
    /// The text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut bundle_encoders = 0;
        for row in &self.rows {
            row_lines(&mut text, row, &mut bundle_encoders);
        }
        match &self.stream {
            Ok(replay) => stream_lines(&mut text, replay),
            Err(NotReplayed::Blob(reason)) => line(&mut text, &json!(["stream", reason.name()])),
            Err(NotReplayed::Words(refusal)) => line(&mut text, &refused_words(&[json!("stream")], refusal)),
        }
        text
    }
}

fn line(text: &mut String, value: &Value) {
    write(text, value);
    text.push('\n');
}

fn row_lines(text: &mut String, row: &RowTrace, bundle_encoders: &mut u32) {
    if let Some(creation) = &row.creation {
        creation_lines(text, creation, row.refused.is_some(), bundle_encoders);
    }
    let outcome = match &row.refused {
        None => json!(["object", row.id, "made"]),
        Some(RowRefused::Reason(reason)) => json!(["object", row.id, reason.name()]),
        Some(RowRefused::Reference(index)) => json!(["object", row.id, Reason::WrongKind.name(), index]),
        Some(RowRefused::Words(refusal)) => refused_words(&[json!("object"), json!(row.id)], refusal),
        Some(RowRefused::Stop(stop)) => stopped(&[json!("object"), json!(row.id)], stop),
    };
    line(text, &outcome);
}

fn refused_words(what: &[Value], refusal: &Refusal) -> Value {
    let op = refusal.op.map_or(0, |op| op.word());
    let why = [json!(refusal.reason.name()), json!(refusal.word), json!(op)];
    [what, &why].concat().into()
}

fn stopped(what: &[Value], stop: &Stop) -> Value {
    let why = [json!(Reason::WrongKind.name()), json!(stop.command), json!(stop.word)];
    [what, &why].concat().into()
}

fn creation_lines(text: &mut String, creation: &Creation, stopped: bool, bundle_encoders: &mut u32) {
    let by = creation.texture.map_or(json!("device"), Value::from);
    line(text, &json!([by, creation.method, creation.descriptor]));
    if creation.method == "createRenderBundleEncoder" {
        *bundle_encoders += 1;
        let encoder = format!("bundleEncoder{bundle_encoders}");
        for call in &creation.calls {
            call_line(text, call, &encoder);
        }
        if !stopped {
            line(text, &json!([encoder, "finish"]));
        }
    }
}

fn stream_lines(text: &mut String, replay: &Replay) {
    let (mut encoders, mut render_passes, mut compute_passes, mut submits) = (0, 0, 0, 0);
    let mut pass = String::new();
    for (_, call) in &replay.calls {
        match call {
            Call::CreateCommandEncoder => {
                encoders += 1;
                line(text, &json!(["device", "createCommandEncoder"]));
            }
            Call::WriteBuffer(..) | Call::WriteTexture(..) => call_line(text, call, "queue"),
            Call::Submit => {
                submits += 1;
                line(text, &json!([format!("encoder{encoders}"), "finish"]));
                line(text, &json!(["queue", "submit", [{"@": format!("commands{submits}")}]]));
            }
            Call::BeginRenderPass { .. } | Call::BeginComputePass => {
                call_line(text, call, &format!("encoder{encoders}"));
                let (kind, count) = match call {
                    Call::BeginComputePass => ("computePass", &mut compute_passes),
                    _ => ("renderPass", &mut render_passes),
                };
                *count += 1;
                pass = format!("{kind}{count}");
            }
            Call::CopyBufferToBuffer { .. } | Call::CopyTextureToTexture(..) => {
                call_line(text, call, &format!("encoder{encoders}"));
            }
            _ => call_line(text, call, &pass),
        }
    }
    let end = match &replay.stop {
        None => json!(["stream", "done"]),
        Some(stop) => stopped(&[json!("stream")], stop),
    };
    line(text, &end);
}

/// The line of a call on `receiver`.
fn call_line(text: &mut String, call: &Call, receiver: &str) {
    let (method, arguments) = method(call);
    let mut whole = vec![json!(receiver), json!(method)];
    whole.extend(arguments);
    line(text, &Value::Array(whole));
}

/// The method and the arguments of a call, in the shapes of section 4's table.
fn method(call: &Call) -> (&'static str, Vec<Value>) {
    let id = |id: &u32| reference(*id);
    let ids = |list: &[u32]| Value::Array(list.iter().map(id).collect());
    match call {
        Call::SetPipeline(pipeline) => ("setPipeline", vec![id(pipeline)]),
        Call::SetBindGroup { index, group, offsets } => {
            let group = group.as_ref().map_or(Value::Null, id);
            ("setBindGroup", vec![json!(index), group, json!(offsets)])
        }
        Call::Draw(counts) => ("draw", numbers(counts)),
        Call::DrawIndexed {
            counts,
            base_vertex,
            first_instance,
        } => {
            let mut arguments = numbers(counts);
            arguments.extend([json!(base_vertex), json!(first_instance)]);
            ("drawIndexed", arguments)
        }
        Call::SetVertexBuffer(slot, None) => ("setVertexBuffer", vec![json!(slot), Value::Null]),
        Call::SetVertexBuffer(slot, Some(part)) => {
            let mut arguments = vec![json!(slot), id(&part.buffer)];
            arguments.extend(rest(part));
            ("setVertexBuffer", arguments)
        }
        Call::SetIndexBuffer(part, format) => {
            let format = match format {
                IndexFormat::Uint16 => "uint16",
                IndexFormat::Uint32 => "uint32",
            };
            let mut arguments = vec![id(&part.buffer), json!(format)];
            arguments.extend(rest(part));
            ("setIndexBuffer", arguments)
        }
        Call::SetViewport(floats) => (
            "setViewport",
            floats.iter().map(|&float| json!(f64::from(float))).collect(),
        ),
        Call::SetScissorRect(numbers_) => ("setScissorRect", numbers(numbers_)),
        Call::SetBlendConstant(color) => ("setBlendConstant", vec![color_value(color)]),
        Call::SetStencilReference(reference) => ("setStencilReference", vec![json!(reference)]),
        Call::ExecuteBundles(bundles) => ("executeBundles", vec![ids(bundles)]),
        Call::DrawIndirect(buffer, offset) => ("drawIndirect", vec![id(buffer), json!(offset)]),
        Call::DrawIndexedIndirect(buffer, offset) => ("drawIndexedIndirect", vec![id(buffer), json!(offset)]),
        Call::BeginRenderPass { colors, depth } => {
            let colors: Vec<Value> = colors
                .iter()
                .map(|color| color.as_ref().map_or(Value::Null, attachment))
                .collect();
            let members = [
                ("colorAttachments", Some(Value::Array(colors))),
                ("depthStencilAttachment", depth.as_ref().map(depth_attachment)),
            ];
            ("beginRenderPass", vec![dictionary(members)])
        }
        Call::EndPass => ("end", vec![]),
        Call::BeginComputePass => ("beginComputePass", vec![]),
        Call::Dispatch(counts) => ("dispatchWorkgroups", numbers(counts)),
        Call::DispatchIndirect(buffer, offset) => ("dispatchWorkgroupsIndirect", vec![id(buffer), json!(offset)]),
        Call::WriteBuffer(buffer, offset, bytes) => ("writeBuffer", vec![id(buffer), json!(offset), data(bytes)]),
        Call::CopyBufferToBuffer { src, dst, size } => {
            let arguments = vec![id(&src.0), json!(src.1), id(&dst.0), json!(dst.1), json!(size)];
            ("copyBufferToBuffer", arguments)
        }
        Call::CopyTextureToTexture(src, dst, size) => {
            ("copyTextureToTexture", vec![texels(src), texels(dst), extent(size)])
        }
        Call::WriteTexture(to, bytes, layout, size) => {
            let arguments = vec![texels(to), data(bytes), data_layout(layout), extent(size)];
            ("writeTexture", arguments)
        }
        Call::CreateCommandEncoder | Call::Submit => unreachable!("a call that has its own lines"),
    }
}

fn numbers(list: &[u32]) -> Vec<Value> {
    list.iter().map(|&number| json!(number)).collect()
}

/// The offset, and the size where there is one.
fn rest(part: &Section) -> impl Iterator<Item = Value> {
    std::iter::once(part.offset).chain(part.size).map(Value::from)
}

/// The members that are there.
fn dictionary<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let there = members
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(there.collect())
}

fn color_value(color: &wgpu::Color) -> Value {
    json!({"r": color.r, "g": color.g, "b": color.b, "a": color.a})
}

fn attachment(color: &Color) -> Value {
    dictionary([
        ("view", Some(reference(color.view))),
        ("resolveTarget", color.resolve_target.map(reference)),
        ("clearValue", clear_value(&color.load).map(color_value)),
        ("loadOp", Some(json!(load_op(&color.load)))),
        ("storeOp", Some(json!(store_op(color.store)))),
    ])
}

fn depth_attachment(depth: &Depth) -> Value {
    let Depth { view, depth, stencil } = depth;
    dictionary([
        ("view", Some(reference(*view))),
        (
            "depthClearValue",
            depth
                .load
                .as_ref()
                .and_then(clear_value)
                .map(|&clear| json!(f64::from(clear))),
        ),
        ("depthLoadOp", depth.load.as_ref().map(|op| json!(load_op(op)))),
        ("depthStoreOp", depth.store.map(|op| json!(store_op(op)))),
        ("depthReadOnly", Some(json!(depth.read_only))),
        (
            "stencilClearValue",
            stencil.load.as_ref().and_then(clear_value).map(|&clear| json!(clear)),
        ),
        ("stencilLoadOp", stencil.load.as_ref().map(|op| json!(load_op(op)))),
        ("stencilStoreOp", stencil.store.map(|op| json!(store_op(op)))),
        ("stencilReadOnly", Some(json!(stencil.read_only))),
    ])
}

fn clear_value<V>(op: &LoadOp<V>) -> Option<&V> {
    match op {
        LoadOp::Clear(value) => Some(value),
        _ => None,
    }
}

fn load_op<V>(op: &LoadOp<V>) -> &'static str {
    match op {
        LoadOp::Clear(_) => "clear",
        _ => "load",
    }
}

fn store_op(op: StoreOp) -> &'static str {
    match op {
        StoreOp::Store => "store",
        StoreOp::Discard => "discard",
    }
}

fn texels(place: &Texels) -> Value {
    let aspect = place.aspect.map(|aspect| match aspect {
        TextureAspect::StencilOnly => "stencil-only",
        TextureAspect::DepthOnly => "depth-only",
        _ => "all",
    });
    let origin = place.origin;
    dictionary([
        ("texture", Some(reference(place.texture))),
        ("mipLevel", Some(json!(place.mip))),
        ("origin", Some(json!({"x": origin.x, "y": origin.y, "z": origin.z}))),
        ("aspect", aspect.map(Value::from)),
    ])
}

fn extent(size: &Extent3d) -> Value {
    json!({"width": size.width, "height": size.height, "depthOrArrayLayers": size.depth_or_array_layers})
}

fn data(bytes: &Range<usize>) -> Value {
    json!({"data": [bytes.start, bytes.len()]})
}

fn data_layout(layout: &DataLayout) -> Value {
    dictionary([
        ("offset", Some(json!(layout.offset))),
        ("bytesPerRow", layout.bytes_per_row.map(Value::from)),
        ("rowsPerImage", layout.rows_per_image.map(Value::from)),
    ])
}

// The canonical form of any value.

fn write(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => write_number(text, number.as_f64().unwrap_or(f64::NAN)),
        Value::String(string) => write_string(text, string),
        Value::Array(list) => write_list(text, '[', list, ']', write),
        Value::Object(members) => write_list(text, '{', sorted(members), '}', |text, (name, value)| {
            write_string(text, name);
            text.push(':');
            write(text, value);
        }),
    }
}

fn write_list<T>(
    text: &mut String,
    open: char,
    list: impl IntoIterator<Item = T>,
    close: char,
    one: impl Fn(&mut String, T),
) {
    text.push(open);
    for (index, item) in list.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        one(text, item);
    }
    text.push(close);
}

/// The members by name, in the order of UTF-16, which is JavaScript's.
fn sorted(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut list: Vec<_> = members.iter().collect();
    list.sort_unstable_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
    list
}

/// A whole number in decimal; any other, and -0, as the bits of a double.
fn write_number(text: &mut String, number: f64) {
    let whole = number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64;
    let negative_zero = number == 0.0 && number.is_sign_negative();
    // Writing to a String cannot fail.
    let _ = match whole && !negative_zero {
        true => write!(text, "{}", number as i64),
        false => write!(text, "{{\"f64\":\"{:016x}\"}}", number.to_bits()),
    };
}

fn write_string(text: &mut String, string: &str) {
    // A string has a JSON form whatever it holds.
    text.push_str(&serde_json::to_string(string).unwrap_or_default());
}
