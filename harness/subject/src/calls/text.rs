//! A trace in the canonical text of `reference/PROTOCOL.md`: a JSON array a line, so that two that agree are equal bytes.

use std::fmt::{self, Display, Write as _};
use std::ops::Range;

use serde_json::{Map, Value};
use wgpu_types::{Extent3d, IndexFormat, LoadOp, StoreOp, TextureAspect};
use wire::{MAX_SAFE_INTEGER, Reason, Refusal};

use super::stream::{Call, Color, DataLayout, Depth, Replay, Section, Stop, Texels};
use super::{Creation, NotReplayed, RowRefused, RowTrace, Trace};

/// Writing to a String cannot fail.
macro_rules! put {
    ($text:expr, $($format:tt)*) => {
        let _ = write!($text, $($format)*);
    };
}

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
            Err(NotReplayed::Blob(reason)) => {
                put!(text, "[\"stream\",\"{reason}\"]\n");
            }
            Err(NotReplayed::Words(refusal)) => {
                put!(text, "[\"stream\",{}]\n", RefusedWords(refusal));
            }
        }
        text
    }
}

/// Reason, word and opcode.
struct RefusedWords<'a>(&'a Refusal);

impl Display for RefusedWords<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { word, op, reason } = self.0;
        write!(to, "\"{reason}\",{word},{}", op.map_or(0, |op| op.word()))
    }
}

/// Reason, command and word.
struct Stopped<'a>(&'a Stop);

impl Display for Stopped<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "\"{}\",{},{}", Reason::WrongKind, self.0.command, self.0.word)
    }
}

fn row_lines(text: &mut String, row: &RowTrace, bundle_encoders: &mut u32) {
    if let Some(creation) = &row.creation {
        creation_lines(text, creation, row.refused.is_some(), bundle_encoders);
    }
    put!(text, "[\"object\",{},", row.id);
    match &row.refused {
        None => text.push_str("\"made\""),
        Some(RowRefused::Reason(reason)) => {
            put!(text, "\"{reason}\"");
        }
        Some(RowRefused::Reference(index)) => {
            put!(text, "\"{}\",{index}", Reason::WrongKind);
        }
        Some(RowRefused::Words(refusal)) => {
            put!(text, "{}", RefusedWords(refusal));
        }
        Some(RowRefused::Stop(stop)) => {
            put!(text, "{}", Stopped(stop));
        }
    }
    text.push_str("]\n");
}

fn creation_lines(text: &mut String, creation: &Creation, stopped: bool, bundle_encoders: &mut u32) {
    match creation.texture {
        None => text.push_str("[\"device\""),
        Some(id) => {
            put!(text, "[{id}");
        }
    }
    put!(text, ",\"{}\",", creation.method);
    write_value(text, &creation.descriptor);
    text.push_str("]\n");
    if creation.method == "createRenderBundleEncoder" {
        *bundle_encoders += 1;
        let encoder = format!("bundleEncoder{bundle_encoders}");
        for call in &creation.calls {
            call_line(text, call, &encoder);
        }
        if !stopped {
            put!(text, "[\"{encoder}\",\"finish\"]\n");
        }
    }
}

fn stream_lines(text: &mut String, replay: &Replay) {
    let (mut encoders, mut render_passes, mut compute_passes, mut submits) = (0, 0, 0, 0);
    let (mut encoder, mut pass) = (String::new(), String::new());
    for (_, call) in &replay.calls {
        match call {
            Call::CreateCommandEncoder => {
                encoders += 1;
                encoder = format!("encoder{encoders}");
                text.push_str("[\"device\",\"createCommandEncoder\"]\n");
            }
            Call::WriteBuffer(..) | Call::WriteTexture(..) => call_line(text, call, "queue"),
            Call::Submit => {
                submits += 1;
                put!(text, "[\"{encoder}\",\"finish\"]\n");
                put!(text, "[\"queue\",\"submit\",[{{\"@\":\"commands{submits}\"}}]]\n");
            }
            Call::BeginRenderPass { .. } => {
                call_line(text, call, &encoder);
                render_passes += 1;
                pass = format!("renderPass{render_passes}");
            }
            Call::BeginComputePass => {
                call_line(text, call, &encoder);
                compute_passes += 1;
                pass = format!("computePass{compute_passes}");
            }
            Call::CopyBufferToBuffer { .. } | Call::CopyTextureToTexture(..) => call_line(text, call, &encoder),
            _ => call_line(text, call, &pass),
        }
    }
    match &replay.stop {
        None => text.push_str("[\"stream\",\"done\"]\n"),
        Some(stop) => {
            put!(text, "[\"stream\",{}]\n", Stopped(stop));
        }
    }
}

/// The line of a call on `receiver`: the method and the arguments, in the shapes of section 4's table.
fn call_line(text: &mut String, call: &Call, receiver: &str) {
    put!(text, "[\"{receiver}\",");
    match call {
        Call::SetPipeline(pipeline) => {
            put!(text, "\"setPipeline\",{}", Id(*pipeline));
        }
        Call::SetBindGroup { index, group, offsets } => {
            put!(
                text,
                "\"setBindGroup\",{index},{},[{}]",
                OrNull(group.map(Id)),
                Commas(offsets)
            );
        }
        Call::Draw(counts) => {
            put!(text, "\"draw\",{}", Commas(counts));
        }
        Call::DrawIndexed {
            counts,
            base_vertex,
            first_instance,
        } => {
            put!(
                text,
                "\"drawIndexed\",{},{base_vertex},{first_instance}",
                Commas(counts)
            );
        }
        Call::SetVertexBuffer(slot, part) => {
            put!(text, "\"setVertexBuffer\",{slot},{}", OrNull(part.map(Part)));
        }
        Call::SetIndexBuffer(Section { buffer, offset, size }, format) => {
            let format = match format {
                IndexFormat::Uint16 => "uint16",
                IndexFormat::Uint32 => "uint32",
            };
            put!(
                text,
                "\"setIndexBuffer\",{},\"{format}\",{offset}{}",
                Id(*buffer),
                AfterComma(*size)
            );
        }
        Call::SetViewport(floats) => {
            put!(text, "\"setViewport\",{}", Commas(&floats.map(Float::of)));
        }
        Call::SetScissorRect(numbers) => {
            put!(text, "\"setScissorRect\",{}", Commas(numbers));
        }
        Call::SetBlendConstant(color) => {
            put!(text, "\"setBlendConstant\",{}", ColorValue(color));
        }
        Call::SetStencilReference(reference) => {
            put!(text, "\"setStencilReference\",{reference}");
        }
        Call::ExecuteBundles(bundles) => {
            let bundles: Vec<Id> = bundles.iter().map(|&id| Id(id)).collect();
            put!(text, "\"executeBundles\",[{}]", Commas(&bundles));
        }
        Call::DrawIndirect(buffer, offset) => {
            put!(text, "\"drawIndirect\",{},{offset}", Id(*buffer));
        }
        Call::DrawIndexedIndirect(buffer, offset) => {
            put!(text, "\"drawIndexedIndirect\",{},{offset}", Id(*buffer));
        }
        Call::BeginRenderPass { colors, depth } => begin_render_pass(text, colors, depth.as_ref()),
        Call::EndPass => text.push_str("\"end\""),
        Call::BeginComputePass => text.push_str("\"beginComputePass\""),
        Call::Dispatch(counts) => {
            put!(text, "\"dispatchWorkgroups\",{}", Commas(counts));
        }
        Call::DispatchIndirect(buffer, offset) => {
            put!(text, "\"dispatchWorkgroupsIndirect\",{},{offset}", Id(*buffer));
        }
        Call::WriteBuffer(buffer, offset, bytes) => {
            put!(text, "\"writeBuffer\",{},{offset},{}", Id(*buffer), Data(bytes));
        }
        Call::CopyBufferToBuffer { src, dst, size } => {
            put!(
                text,
                "\"copyBufferToBuffer\",{},{},{},{},{size}",
                Id(src.0),
                src.1,
                Id(dst.0),
                dst.1
            );
        }
        Call::CopyTextureToTexture(src, dst, size) => {
            put!(text, "\"copyTextureToTexture\",{src},{dst},{}", Extent(size));
        }
        Call::WriteTexture(to, bytes, layout, size) => {
            put!(text, "\"writeTexture\",{to},{},{layout},{}", Data(bytes), Extent(size));
        }
        Call::CreateCommandEncoder | Call::Submit => unreachable!("a call that has its own lines"),
    }
    text.push_str("]\n");
}

// Arguments. Members stand in the order of their names.

/// An object of the table.
struct Id(u32);

impl Display for Id {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{{\"@\":{}}}", self.0)
    }
}

struct OrNull<T>(Option<T>);

impl<T: Display> Display for OrNull<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(to),
            None => to.write_str("null"),
        }
    }
}

/// A trailing argument that may be left out.
struct AfterComma(Option<u64>);

impl Display for AfterComma {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(value) => write!(to, ",{value}"),
            None => Ok(()),
        }
    }
}

/// Values with commas between them.
struct Commas<'a, T>(&'a [T]);

impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(to, "{comma}{value}")?;
        }
        Ok(())
    }
}

/// A buffer, an offset and a size.
struct Part(Section);

impl Display for Part {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Section { buffer, offset, size } = self.0;
        write!(to, "{},{offset}{}", Id(buffer), AfterComma(size))
    }
}

/// Bytes of the data.
struct Data<'a>(&'a Range<usize>);

impl Display for Data<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{{\"data\":[{},{}]}}", self.0.start, self.0.len())
    }
}

struct Extent<'a>(&'a Extent3d);

impl Display for Extent<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Extent3d {
            width,
            height,
            depth_or_array_layers: layers,
        } = self.0;
        write!(
            to,
            "{{\"depthOrArrayLayers\":{layers},\"height\":{height},\"width\":{width}}}"
        )
    }
}

impl Display for Texels {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wgpu_types::Origin3d { x, y, z } = self.origin;
        to.write_str("{")?;
        match self.aspect {
            None => Ok(()),
            Some(TextureAspect::StencilOnly) => to.write_str("\"aspect\":\"stencil-only\","),
            Some(TextureAspect::DepthOnly) => to.write_str("\"aspect\":\"depth-only\","),
            Some(_) => to.write_str("\"aspect\":\"all\","),
        }?;
        write!(
            to,
            "\"mipLevel\":{},\"origin\":{{\"x\":{x},\"y\":{y},\"z\":{z}}}",
            self.mip
        )?;
        write!(to, ",\"texture\":{}}}", Id(self.texture))
    }
}

impl Display for DataLayout {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("{")?;
        if let Some(stride) = self.bytes_per_row {
            write!(to, "\"bytesPerRow\":{stride},")?;
        }
        write!(to, "\"offset\":{}", self.offset)?;
        if let Some(stride) = self.rows_per_image {
            write!(to, ",\"rowsPerImage\":{stride}")?;
        }
        to.write_str("}")
    }
}

struct ColorValue<'a>(&'a wgpu_types::Color);

impl Display for ColorValue<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [r, g, b, a] = [self.0.r, self.0.g, self.0.b, self.0.a].map(Float);
        write!(to, "{{\"a\":{a},\"b\":{b},\"g\":{g},\"r\":{r}}}")
    }
}

fn begin_render_pass(text: &mut String, colors: &[Option<Color>], depth: Option<&Depth>) {
    let colors: Vec<_> = colors.iter().map(|color| OrNull(color.as_ref())).collect();
    put!(text, "\"beginRenderPass\",{{\"colorAttachments\":[{}]", Commas(&colors));
    if let Some(depth) = depth {
        put!(text, ",\"depthStencilAttachment\":{depth}");
    }
    text.push('}');
}

impl Display for Color {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("{")?;
        if let LoadOp::Clear(color) = &self.load {
            write!(to, "\"clearValue\":{},", ColorValue(color))?;
        }
        write!(to, "\"loadOp\":\"{}\"", load_op(&self.load))?;
        if let Some(target) = self.resolve_target {
            write!(to, ",\"resolveTarget\":{}", Id(target))?;
        }
        write!(
            to,
            ",\"storeOp\":\"{}\",\"view\":{}}}",
            store_op(self.store),
            Id(self.view)
        )
    }
}

impl Display for Depth {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Depth { view, depth, stencil } = self;
        to.write_str("{")?;
        if let Some(LoadOp::Clear(clear)) = depth.load {
            write!(to, "\"depthClearValue\":{},", Float::of(clear))?;
        }
        aspect_ops(
            to,
            "depth",
            depth.load.as_ref().map(load_op),
            depth.read_only,
            depth.store,
        )?;
        if let Some(LoadOp::Clear(clear)) = stencil.load {
            write!(to, "\"stencilClearValue\":{clear},")?;
        }
        let load = stencil.load.as_ref().map(load_op);
        aspect_ops(to, "stencil", load, stencil.read_only, stencil.store)?;
        write!(to, "\"view\":{}}}", Id(*view))
    }
}

/// The members of one aspect but for its clear value, each with a comma after it.
fn aspect_ops(
    to: &mut fmt::Formatter<'_>,
    aspect: &str,
    load: Option<&str>,
    read_only: bool,
    store: Option<StoreOp>,
) -> fmt::Result {
    if let Some(load) = load {
        write!(to, "\"{aspect}LoadOp\":\"{load}\",")?;
    }
    write!(to, "\"{aspect}ReadOnly\":{read_only},")?;
    if let Some(store) = store {
        write!(to, "\"{aspect}StoreOp\":\"{}\",", store_op(store))?;
    }
    Ok(())
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

/// A whole number in decimal; any other, and -0, as the bits of a double.
struct Float(f64);

impl Float {
    /// A double holds every float exactly.
    fn of(float: f32) -> Float {
        Float(f64::from(float))
    }
}

impl Display for Float {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.0;
        let whole = number.fract() == 0.0 && number.abs() <= MAX_SAFE_INTEGER as f64;
        let negative_zero = number == 0.0 && number.is_sign_negative();
        match whole && !negative_zero {
            true => write!(to, "{}", number as i64),
            false => write!(to, "{{\"f64\":\"{:016x}\"}}", number.to_bits()),
        }
    }
}

// The body of a descriptor.

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => {
            put!(text, "{}", Float(number.as_f64().unwrap_or(f64::NAN)));
        }
        Value::String(string) => write_string(text, string),
        Value::Array(list) => write_list(text, '[', list, ']', write_value),
        Value::Object(members) if members.keys().all(|name| name.is_ascii()) => {
            write_list(text, '{', members, '}', write_member);
        }
        Value::Object(members) => write_list(text, '{', by_utf16(members), '}', write_member),
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

fn write_member(text: &mut String, (name, value): (&String, &Value)) {
    write_string(text, name);
    text.push(':');
    write_value(text, value);
}

/// The members in the order of their names in UTF-16, which is JavaScript's. For ASCII it is the map's own.
fn by_utf16(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut list: Vec<_> = members.iter().collect();
    list.sort_unstable_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
    list
}

fn write_string(text: &mut String, string: &str) {
    if string
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'))
    {
        text.push('"');
        text.push_str(string);
        text.push('"');
    } else {
        // A string has a JSON form whatever it holds.
        text.push_str(&serde_json::to_string(string).unwrap_or_default());
    }
}
