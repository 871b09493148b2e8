//! The words of a blob as commands, held by CheckRanges and the read check against buffers of sizes at the edges, and by a model in 128
//! bits that is written from wire.md sections 5 and 6.
//!
//! The commands need not be ones that Decode accepts: sums must be exact for any u64.
//!
//! **Catches** a sum that wraps, a bound that is off by one, a refusal of the wrong command or with another reason, a buffer that is
//! asked for out of turn. **Does not catch** what the page and a device disagree about: the campaign's engines do.

use wire::{Blob, BufferInfo, Cmd, Op, RangeRefusal, Read, ReadRefusal, Reason};

/// A CheckRanges.
pub type CheckRanges = fn(&[Cmd<'_>], &mut dyn FnMut(u32) -> Option<u64>, u32) -> Result<(), RangeRefusal>;

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, |cmds, size, bound| {
        wire::check_ranges(cmds.iter().copied(), size, bound)
    })
}

/// The sizes of buffers, by an id's last digits; none is no buffer.
const SIZES: [Option<u64>; 16] = [
    None,
    Some(64),
    Some(20),
    Some(16),
    Some(12),
    Some(0),
    Some(4),
    Some(256),
    Some(65535),
    Some(u32::MAX as u64),
    Some(1 << 32),
    Some(wire::MAX_SAFE_INTEGER),
    Some(wire::MAX_SAFE_INTEGER + 1),
    Some(u64::MAX - 3),
    Some(u64::MAX),
    Some(768),
];

/// The same with another CheckRanges.
pub fn check_with(bytes: &[u8], check_ranges: CheckRanges) -> bool {
    let Ok(Blob { words, .. }) = Blob::parse(bytes) else {
        return false;
    };
    let cmds = commands(&words);
    for (shift, bound) in [(0, 0), (5, 1), (11, 65535), (14, u32::MAX)] {
        let size = |id: u32| SIZES[id.wrapping_add(shift) as usize % SIZES.len()];
        let (mut asked, mut due) = (Vec::new(), Vec::new());
        let noted = |id, into: &mut Vec<u32>| {
            into.push(id);
            size(id)
        };
        let answer = check_ranges(&cmds, &mut |id| noted(id, &mut asked), bound);
        let model = model(&cmds, &mut |id| noted(id, &mut due), bound);
        assert_eq!(answer, model, "CheckRanges, bound {bound}, sizes from {shift} on");
        assert_eq!(asked, due, "the buffers that CheckRanges asks for");
        reads(&cmds, size, bound);
    }
    true
}

/// What CheckRanges and the read check look at, wherever it stands in the words.
fn commands(words: &[u32]) -> Vec<Cmd<'_>> {
    let mut cmds = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let op = Op::from_word(words[at]);
        let length = op.and_then(|op| match op {
            Op::Dispatch | Op::DispatchIndirect | Op::DrawIndirect | Op::DrawIndexedIndirect => Some(3),
            Op::WriteBuffer | Op::ReadBuffer => Some(5),
            Op::CopyBufferToBuffer => Some(8),
            _ => None,
        });
        let args = length.and_then(|length| words[at + 1..].get(..length));
        let (word, length) = (at, args.map_or(0, <[u32]>::len));
        cmds.extend(op.zip(args).map(|(op, args)| Cmd { word, op, args }));
        at += 1 + length;
    }
    cmds
}

fn wide(args: &[u32], low: usize) -> u128 {
    u128::from(args[low]) + (u128::from(args[low + 1]) << 32)
}

/// Section 5 of wire.md, in 128 bits.
pub(super) fn model(
    cmds: &[Cmd<'_>],
    size: &mut dyn FnMut(u32) -> Option<u64>,
    bound: u32,
) -> Result<(), RangeRefusal> {
    let bound = if bound == 0 { 65535 } else { bound };
    for (command, cmd) in cmds.iter().enumerate() {
        let args = cmd.args;
        // The ranges of the command, in order: its buffer, where it begins and how long it is.
        let ranges: Vec<(u32, u128, u128)> = match cmd.op {
            Op::WriteBuffer => vec![(args[0], wide(args, 1), args[4].into())],
            Op::CopyBufferToBuffer => vec![
                (args[0], wide(args, 1), wide(args, 6)),
                (args[3], wide(args, 4), wide(args, 6)),
            ],
            Op::DispatchIndirect => vec![(args[0], wide(args, 1), 12)],
            Op::DrawIndirect => vec![(args[0], wide(args, 1), 16)],
            Op::DrawIndexedIndirect => vec![(args[0], wide(args, 1), 20)],
            _ => vec![],
        };
        let out = ranges.into_iter().find_map(|(id, offset, length)| match size(id) {
            None => Some(Reason::NotABuffer),
            Some(size) => (offset + length > size.into()).then_some(Reason::OutOfRange),
        });
        let over = cmd.op == Op::Dispatch && args.iter().any(|&count| count > bound);
        let op = cmd.op;
        if let Some(reason) = out.or(over.then_some(Reason::TooManyWorkgroups)) {
            return Err(RangeRefusal { command, op, reason });
        }
    }
    Ok(())
}

/// The read check against section 6 of wire.md in 128 bits; a buffer of an odd number may not be read.
fn reads(cmds: &[Cmd<'_>], size: impl Fn(u32) -> Option<u64>, window: u32) {
    let reads: Vec<Read> = cmds
        .iter()
        .filter(|cmd| cmd.op == Op::ReadBuffer)
        .map(|cmd| Read {
            id: cmd.args[0],
            offset: wide(cmd.args, 1) as u64,
            size: cmd.args[3],
            window_offset: cmd.args[4],
        })
        .collect();
    let info = |id: u32| {
        Some(BufferInfo {
            size: size(id)?,
            map_read: id.is_multiple_of(2),
        })
    };
    let answer = wire::check_reads(&reads, info, window.into()).err();
    let refusal = reads.iter().enumerate().find_map(|(read, asked)| {
        let length = u128::from(asked.size);
        let reason = match info(asked.id) {
            None => Reason::NotABuffer,
            Some(buffer) if !buffer.map_read => Reason::NoMapRead,
            Some(buffer) if u128::from(asked.offset) + length > buffer.size.into() => Reason::OutOfRange,
            Some(_) if u128::from(asked.window_offset) + length > window.into() => Reason::PastWindow,
            Some(_) => return None,
        };
        Some(ReadRefusal { read, reason })
    });
    assert_eq!(answer, refusal, "the read check, window {window}");
}
