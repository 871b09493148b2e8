//! How each argument is written: what the writer and the reader of text share beyond `wire::layout`.

use wire::{Arg, ArgKind, LEFT_OUT, Op};

/// How an argument is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Always, its value alone.
    Bare,
    /// Always, with its name.
    Named,
    /// With its name, and not at all where it has this value.
    Unless(u64),
}

/// How the argument `name` of `op` is written. Values that may be left out are WebGPU's defaults; what WebGPU asks for has none,
/// but for offsets, which are 0.
pub(super) fn form(op: Op, name: &str) -> Form {
    match (op, name) {
        (_, "instanceCount" | "height" | "depthOrArrayLayers") | (Op::Dispatch, "y" | "z") => Form::Unless(1),
        (_, "bytesPerRow" | "rowsPerImage") => Form::Unless(LEFT_OUT as u64),
        (_, "firstVertex" | "firstIndex" | "baseVertex" | "firstInstance")
        | (_, "offset" | "srcOffset" | "dstOffset" | "layoutOffset" | "windowOffset")
        | (Op::SetVertexBuffer | Op::SetIndexBuffer, "size")
        | (Op::CopyTextureToTexture | Op::WriteTexture, "mip" | "x" | "y" | "z" | "aspect")
        | (Op::BeginRenderPass, "resolveTarget" | "r" | "g" | "b" | "a")
        | (_, "depthLoadOp" | "depthStoreOp" | "depthClear" | "depthReadOnly")
        | (_, "stencilLoadOp" | "stencilStoreOp" | "stencilClear" | "stencilReadOnly") => Form::Unless(0),
        (_, "src" | "dst" | "size" | "width" | "dataOffset" | "length" | "dataLength") => Form::Named,
        _ => Form::Bare,
    }
}

/// Whether the words of an argument are what it is when it is left out; a list is empty then.
pub(super) fn is_default(op: Op, arg: &Arg, words: &[u32]) -> bool {
    match arg.kind {
        ArgKind::List { .. } => words[0] == 0,
        _ => form(op, arg.name) == Form::Unless(join(words)),
    }
}

/// The number of one or two words, low then high.
pub(super) fn join(words: &[u32]) -> u64 {
    words.iter().rev().fold(0, |high, &word| high << 32 | u64::from(word))
}

/// The places, among the arguments, of where a write's data starts and how long it is.
pub(super) fn data_words(op: Op) -> Option<(usize, usize)> {
    match op {
        Op::WriteBuffer => Some((3, 4)),
        Op::WriteTexture => Some((6, 7)),
        _ => None,
    }
}

/// Whether an argument is one of those two.
pub(super) fn is_data(name: &str) -> bool {
    matches!(name, "dataOffset" | "length" | "dataLength")
}

/// The arguments of a color attachment and of the depth attachment.
pub(super) fn attachments() -> (&'static [Arg], &'static [Arg]) {
    let [colors, depth] = wire::layout(Op::BeginRenderPass) else {
        unreachable!("BeginRenderPass has two arguments")
    };
    match (colors.kind, depth.kind) {
        (ArgKind::List { item, .. }, ArgKind::Optional(depth)) => (item, depth),
        _ => unreachable!("a list of colors and an optional depth attachment"),
    }
}

/// The values of an enumeration as a sentence has them: `load or clear`.
pub(super) fn choices(values: &[(u32, &'static str)]) -> String {
    let names: Vec<&str> = values
        .iter()
        .map(|value| value.1)
        .filter(|name| !name.is_empty())
        .collect();
    or(&names)
}

/// `a, b or c`.
pub(super) fn or(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
