//! One accepted command of every opcode, and what each of its words is, from the table of section 2.

use wire::{Refusal, bundle_commands, commands, decode, decode_bundle, remap};

/// The bits of 1.0.
pub const ONE: u32 = 0x3F80_0000;
/// The bytes of data that the samples are decoded with.
pub const DATA_LEN: u32 = 16;

/// Positions count the words after the opcode, from 0.
pub struct Sample {
    pub op: u32,
    pub name: &'static str,
    /// T, R, C and B of the column "where".
    pub contexts: &'static str,
    pub args: &'static [u32],
    /// `id`
    pub ids: &'static [usize],
    /// `id?`
    pub optional_ids: &'static [usize],
    /// Enumerations: position, least and greatest value (all between are listed too).
    pub enums: &'static [(usize, u32, u32)],
    pub flags: &'static [usize],
    pub floats: &'static [usize],
    /// Low words.
    pub u64s: &'static [usize],
    /// Words under checks 3 to 6 and 8 to 10.
    pub special: &'static [usize],
}

const NONE: Sample = Sample {
    op: 0,
    name: "",
    contexts: "",
    args: &[],
    ids: &[],
    optional_ids: &[],
    enums: &[],
    flags: &[],
    floats: &[],
    u64s: &[],
    special: &[],
};

#[rustfmt::skip] // One opcode a paragraph, as in the table.
pub const SAMPLES: &[Sample] = &[
    Sample { op: 1, name: "SetPipeline", contexts: "RCB", args: &[11], ids: &[0], ..NONE },
    Sample { op: 2, name: "SetBindGroup", contexts: "RCB", args: &[0, 12, 2, 256, 512],
        optional_ids: &[1], special: &[2], ..NONE },
    Sample { op: 3, name: "Draw", contexts: "RB", args: &[3, 1, 0, 0], ..NONE },
    Sample { op: 4, name: "DrawIndexed", contexts: "RB", args: &[3, 1, 0, 0xFFFF_FFFF, 0], ..NONE },
    Sample { op: 5, name: "SetVertexBuffer", contexts: "RB", args: &[0, 13, 0, 0, 64, 0],
        optional_ids: &[1], u64s: &[2, 4], ..NONE },
    Sample { op: 6, name: "SetIndexBuffer", contexts: "RB", args: &[13, 1, 0, 0, 64, 0],
        ids: &[0], enums: &[(1, 1, 2)], u64s: &[2, 4], ..NONE },
    Sample { op: 7, name: "SetViewport", contexts: "R", args: &[0, 0, ONE, ONE, 0, ONE],
        floats: &[0, 1, 2, 3, 4, 5], ..NONE },
    Sample { op: 8, name: "SetScissorRect", contexts: "R", args: &[0, 0, 1, 1], ..NONE },
    Sample { op: 9, name: "SetBlendConstant", contexts: "R", args: &[ONE, ONE, ONE, ONE],
        floats: &[0, 1, 2, 3], ..NONE },
    Sample { op: 10, name: "SetStencilReference", contexts: "R", args: &[255], ..NONE },
    Sample { op: 11, name: "ExecuteBundles", contexts: "R", args: &[3, 14, 15, 14],
        ids: &[1, 2, 3], special: &[0], ..NONE },
    Sample { op: 12, name: "DrawIndirect", contexts: "RB", args: &[13, 4, 0], ids: &[0], u64s: &[1], ..NONE },
    Sample { op: 13, name: "DrawIndexedIndirect", contexts: "RB", args: &[13, 4, 0], ids: &[0], u64s: &[1], ..NONE },
    Sample { op: 20, name: "BeginRenderPass", contexts: "T",
        args: &[
            2,
            21, 22, 2, 1, 0, ONE, 0, ONE,
            0, 23, 1, 2, ONE, 0, ONE, 0,
            1,
            24, 2, 1, ONE, 0, 1, 2, 7, 1,
        ],
        ids: &[18], optional_ids: &[1, 2, 9, 10],
        enums: &[(3, 1, 2), (4, 1, 2), (11, 1, 2), (12, 1, 2), (19, 0, 2), (20, 0, 2), (23, 0, 2), (24, 0, 2)],
        flags: &[22, 26], floats: &[5, 6, 7, 8, 13, 14, 15, 16, 21], special: &[0, 17], ..NONE },
    Sample { op: 21, name: "EndPass", contexts: "RC", ..NONE },
    Sample { op: 22, name: "BeginComputePass", contexts: "T", ..NONE },
    Sample { op: 23, name: "Dispatch", contexts: "C", args: &[1, 2, 3], ..NONE },
    Sample { op: 24, name: "DispatchIndirect", contexts: "C", args: &[13, 4, 0], ids: &[0], u64s: &[1], ..NONE },
    Sample { op: 30, name: "WriteBuffer", contexts: "TRC", args: &[13, 8, 0, 4, 8],
        ids: &[0], u64s: &[1], special: &[3, 4], ..NONE },
    Sample { op: 31, name: "CopyBufferToBuffer", contexts: "T", args: &[13, 0, 0, 16, 8, 0, 4, 0],
        ids: &[0, 3], u64s: &[1, 4, 6], ..NONE },
    Sample { op: 32, name: "CopyTextureToTexture", contexts: "T",
        args: &[17, 0, 1, 2, 3, 0, 18, 1, 4, 5, 6, 1, 8, 8, 1],
        ids: &[0, 6], enums: &[(5, 0, 3), (11, 0, 3)], ..NONE },
    Sample { op: 33, name: "WriteTexture", contexts: "TRC",
        args: &[17, 0, 1, 2, 3, 2, 4, 12, 0, 0, 0xFFFF_FFFF, 0xFFFF_FFFF, 1, 1, 1],
        ids: &[0], enums: &[(5, 0, 3)], u64s: &[8], special: &[6, 7], ..NONE },
    Sample { op: 34, name: "ReadBuffer", contexts: "TRC", args: &[13, 8, 0, 4, 0],
        ids: &[0], u64s: &[1], special: &[1, 3, 4], ..NONE },
    Sample { op: 40, name: "Submit", contexts: "T", ..NONE },
];

/// What opens a context.
pub fn opening(context: char) -> &'static [u32] {
    match context {
        'R' => &[20, 0, 0],
        'C' => &[22],
        _ => &[],
    }
}

impl Sample {
    /// A stream with this command in `context`, and the index of its opcode.
    pub fn stream(&self, context: char, args: &[u32]) -> (Vec<u32>, usize) {
        let open = opening(context);
        let mut words = [open, &[self.op], args].concat();
        let in_pass = matches!(context, 'R' | 'C') || matches!(self.op, 20 | 22);
        if in_pass && self.op != 21 {
            words.push(21);
        }
        (words, open.len())
    }

    /// This command with other arguments, where it may first stand: accepted, or the refusal with its word counted
    /// from the opcode.
    pub fn outcome(&self, args: &[u32]) -> Result<(), (usize, u32, &'static str)> {
        let context = self.contexts.chars().next().unwrap();
        let (words, at) = self.stream(context, args);
        outcome(&words, DATA_LEN).map_err(|(word, op, reason)| (word - at, op, reason))
    }

    /// This command's arguments with one of them replaced.
    pub fn with(&self, position: usize, word: u32) -> Vec<u32> {
        let mut args = self.args.to_vec();
        args[position] = word;
        args
    }
}

/// Word, opcode (0 for none) and reason, as PROTOCOL.md carries them.
pub fn parts(refusal: Refusal) -> (usize, u32, &'static str) {
    let op = refusal.op.map_or(0, |op| op.word());
    (refusal.word, op, refusal.reason.name())
}

/// The one answer that decode, the iterator and a remap that changes nothing give to a stream.
pub fn outcome(words: &[u32], data_len: u32) -> Result<(), (usize, u32, &'static str)> {
    let decoded = decode(words, data_len);
    let mut items = commands(words, data_len);
    let iterated: Result<Vec<_>, _> = items.by_ref().collect();
    assert_eq!(iterated, decoded);
    assert!(items.next().is_none(), "fused");

    let mut remapped = words.to_vec();
    let answer = remap(&mut remapped, data_len, Some);
    assert_eq!(remapped, words);
    assert_eq!(answer, decoded.as_ref().map(|_| ()).map_err(|refusal| *refusal));
    decoded.map(|_| ()).map_err(parts)
}

/// [`outcome`] for the words of a bundle.
pub fn bundle_outcome(words: &[u32]) -> Result<(), (usize, u32, &'static str)> {
    let decoded = decode_bundle(words);
    let iterated: Result<Vec<_>, _> = bundle_commands(words).collect();
    assert_eq!(iterated, decoded);
    let mut remapped = words.to_vec();
    let answer = wire::remap_bundle(&mut remapped, Some);
    assert_eq!(remapped, words);
    assert_eq!(answer, decoded.as_ref().map(|_| ()).map_err(|refusal| *refusal));
    decoded.map(|_| ()).map_err(parts)
}
