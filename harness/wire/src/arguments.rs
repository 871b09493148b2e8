//! Checks 3 to 10 of wire.md section 3: the arguments of one command.
//!
//! The numbers in this file are positions of arguments, counted from the word after the opcode. They are written out
//! once more, as data, in `layout.rs`; a test holds the two against each other.

use std::ops::{Range, RangeInclusive};

use crate::reader::Word;
use crate::{MAX_BUNDLES, MAX_COLOR_ATTACHMENTS, MAX_DYNAMIC_OFFSETS, MAX_READ_WINDOW};
use crate::{Op, Reason};

/// Words of one color attachment.
const COLOR_WORDS: usize = 8;
/// Words of the depth attachment.
const DEPTH_WORDS: usize = 9;
/// A u64 of 2^53 or more has a high word of at least this.
const UNSAFE_HIGH: u32 = 1 << 21;

/// A refusal within one command.
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    /// The argument it names; `None` where it names the opcode.
    pub(crate) argument: Option<usize>,
}

const TRUNCATED: Fault = Fault {
    reason: Reason::Truncated,
    argument: None,
};

#[cold]
fn fault(argument: usize, reason: Reason) -> Fault {
    Fault {
        reason,
        argument: Some(argument),
    }
}

#[inline]
fn require(holds: bool, argument: usize, reason: Reason) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(fault(argument, reason)) }
}

/// Checks 3 to 6: how many of the `rest` of the words are arguments of `op`.
///
/// On success that many are there. Every count is held to its limit before anything is computed from it, so no
/// sum here can wrap, whatever the count word says.
#[inline]
pub(crate) fn length<W: Word>(op: Op, rest: &[W]) -> Result<usize, Fault> {
    let length = match op {
        Op::EndPass | Op::BeginComputePass | Op::Submit => 0,
        Op::SetPipeline | Op::SetStencilReference => 1,
        Op::DrawIndirect | Op::DrawIndexedIndirect | Op::Dispatch | Op::DispatchIndirect => 3,
        Op::Draw | Op::SetScissorRect | Op::SetBlendConstant => 4,
        Op::DrawIndexed | Op::WriteBuffer | Op::ReadBuffer => 5,
        Op::SetVertexBuffer | Op::SetIndexBuffer | Op::SetViewport => 6,
        Op::CopyBufferToBuffer => 8,
        Op::CopyTextureToTexture | Op::WriteTexture => 15,
        Op::SetBindGroup => 3 + count(rest, 2, MAX_DYNAMIC_OFFSETS)?,
        Op::ExecuteBundles => 1 + count(rest, 0, MAX_BUNDLES)?,
        Op::BeginRenderPass => return render_pass_length(rest),
    };
    if length <= rest.len() {
        Ok(length)
    } else {
        Err(TRUNCATED)
    }
}

/// Checks 3 and 4: the count at `position`, which is at most `limit`.
#[inline]
fn count<W: Word>(rest: &[W], position: usize, limit: u32) -> Result<usize, Fault> {
    let count = rest.get(position).ok_or(TRUNCATED)?.get();
    require(count <= limit, position, Reason::TooMany)?;
    Ok(count as usize)
}

fn render_pass_length<W: Word>(rest: &[W]) -> Result<usize, Fault> {
    let flag = 1 + COLOR_WORDS * count(rest, 0, MAX_COLOR_ATTACHMENTS)?;
    let length = match rest.get(flag).ok_or(TRUNCATED)?.get() {
        0 => flag + 1,
        1 => flag + 1 + DEPTH_WORDS,
        _ => return Err(fault(flag, Reason::BadFlag)),
    };
    if length <= rest.len() {
        Ok(length)
    } else {
        Err(TRUNCATED)
    }
}

/// The arguments of one command, all of them, and what is asked about each nonzero id.
struct Arguments<'a, W, G> {
    words: &'a [W],
    grant: &'a mut G,
}

/// Check 7: every argument, in word order. `grant` is asked about each nonzero id, with its word; where it says no
/// the command is refused there.
#[inline]
pub(crate) fn check_form<W, G>(op: Op, words: &[W], grant: &mut G) -> Result<(), Fault>
where
    W: Word,
    G: FnMut(&W) -> bool,
{
    let mut a = Arguments { words, grant };
    match op {
        Op::SetPipeline => a.id(0),
        Op::SetBindGroup => a.optional_id(1),
        Op::SetVertexBuffer => {
            a.optional_id(1)?;
            a.safe_integer(2)?;
            a.safe_integer(4)
        }
        Op::SetIndexBuffer => {
            a.id(0)?;
            a.one_of(1, 1..=2)?;
            a.safe_integer(2)?;
            a.safe_integer(4)
        }
        Op::SetViewport => a.finite(0..6),
        Op::SetBlendConstant => a.finite(0..4),
        Op::ExecuteBundles => (1..words.len()).try_for_each(|i| a.id(i)),
        Op::BeginRenderPass => a.attachments(),
        Op::DrawIndirect | Op::DrawIndexedIndirect | Op::DispatchIndirect | Op::WriteBuffer | Op::ReadBuffer => {
            a.id(0)?;
            a.safe_integer(1)
        }
        Op::CopyBufferToBuffer => {
            a.id(0)?;
            a.safe_integer(1)?;
            a.id(3)?;
            a.safe_integer(4)?;
            a.safe_integer(6)
        }
        Op::CopyTextureToTexture => {
            a.id(0)?;
            a.one_of(5, 0..=3)?;
            a.id(6)?;
            a.one_of(11, 0..=3)
        }
        Op::WriteTexture => {
            a.id(0)?;
            a.one_of(5, 0..=3)?;
            a.safe_integer(8)
        }
        Op::Draw
        | Op::DrawIndexed
        | Op::SetScissorRect
        | Op::SetStencilReference
        | Op::EndPass
        | Op::BeginComputePass
        | Op::Dispatch
        | Op::Submit => Ok(()),
    }
}

impl<W, G> Arguments<'_, W, G>
where
    W: Word,
    G: FnMut(&W) -> bool,
{
    #[inline]
    fn id(&mut self, i: usize) -> Result<(), Fault> {
        require(self.words[i].get() != 0, i, Reason::ZeroId)?;
        self.optional_id(i)
    }

    #[inline]
    fn optional_id(&mut self, i: usize) -> Result<(), Fault> {
        let word = &self.words[i];
        require(word.get() == 0 || (self.grant)(word), i, Reason::UnknownId)
    }

    #[inline]
    fn one_of(&self, i: usize, values: RangeInclusive<u32>) -> Result<(), Fault> {
        require(values.contains(&self.words[i].get()), i, Reason::BadEnum)
    }

    #[inline]
    fn flag(&self, i: usize) -> Result<(), Fault> {
        require(self.words[i].get() <= 1, i, Reason::BadFlag)
    }

    #[inline]
    fn finite(&self, mut floats: Range<usize>) -> Result<(), Fault> {
        floats.try_for_each(|i| {
            let float = f32::from_bits(self.words[i].get());
            require(float.is_finite(), i, Reason::NonFinite)
        })
    }

    /// The u64 whose low word is argument `i`.
    #[inline]
    fn safe_integer(&self, i: usize) -> Result<(), Fault> {
        let high = self.words[i + 1].get();
        require(high < UNSAFE_HIGH, i, Reason::UnsafeInteger)
    }

    /// The colors and the depth attachment of BeginRenderPass.
    fn attachments(&mut self) -> Result<(), Fault> {
        let colors = self.words[0].get() as usize;
        // `length` has seen the flag, so these words are the depth attachment or there are none.
        let depth = 1 + COLOR_WORDS * colors + 1;
        (0..colors).try_for_each(|color| self.color(1 + COLOR_WORDS * color))?;
        if depth < self.words.len() {
            self.depth(depth)
        } else {
            Ok(())
        }
    }

    /// A hole (a view of 0) is checked like any other: its seven other words may not be nonsense either.
    fn color(&mut self, at: usize) -> Result<(), Fault> {
        self.optional_id(at)?;
        self.optional_id(at + 1)?;
        self.one_of(at + 2, 1..=2)?;
        self.one_of(at + 3, 1..=2)?;
        self.finite(at + 4..at + 8)
    }

    fn depth(&mut self, at: usize) -> Result<(), Fault> {
        self.id(at)?;
        self.one_of(at + 1, 0..=2)?;
        self.one_of(at + 2, 0..=2)?;
        self.finite(at + 3..at + 4)?;
        self.flag(at + 4)?;
        self.one_of(at + 5, 0..=2)?;
        self.one_of(at + 6, 0..=2)?;
        self.flag(at + 8)
    }
}

/// Checks 8 to 10: what the arguments of the three transfers say together.
#[inline]
pub(crate) fn check_transfer<W: Word>(op: Op, words: &[W], data_len: u32) -> Result<(), Fault> {
    match op {
        Op::WriteBuffer => {
            inside(words, 3, 4, data_len, Reason::DataRange)?;
            require(words[4].get().is_multiple_of(4), 4, Reason::WriteSize)
        }
        Op::WriteTexture => inside(words, 6, 7, data_len, Reason::DataRange),
        Op::ReadBuffer => {
            let size = words[3].get();
            // The high word counts in steps of 2^32, so the low one decides.
            require(words[1].get().is_multiple_of(8), 1, Reason::ReadAlignment)?;
            require(size != 0 && size.is_multiple_of(4), 3, Reason::ReadSize)?;
            inside(words, 4, 3, MAX_READ_WINDOW, Reason::ReadWindow)
        }
        _ => Ok(()),
    }
}

/// Whether the range that starts at argument `offset` and has the length of argument `length` ends by `limit`; the
/// refusal names the offset. The sum of two u32 is taken in 64 bits.
#[inline]
fn inside<W: Word>(words: &[W], offset: usize, length: usize, limit: u32, reason: Reason) -> Result<(), Fault> {
    let end = u64::from(words[offset].get()) + u64::from(words[length].get());
    require(end <= u64::from(limit), offset, reason)
}
