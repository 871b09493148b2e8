//! Checks 3 to 10 of wire.md section 3: the arguments of one command, by the table in `layout.rs`.

use crate::decode::join;
use crate::layout::{Arg, ArgKind, layout};
use crate::word::Word;
use crate::{MAX_READ_WINDOW, MAX_SAFE_INTEGER};
use crate::{Op, Reason};

/// A refusal within one command.
pub(crate) struct Fault {
    pub(crate) reason: Reason,
    /// The argument it names, counted from the word after the opcode; `None` where it names the opcode.
    pub(crate) argument: Option<usize>,
}

const TRUNCATED: Fault = Fault {
    reason: Reason::Truncated,
    argument: None,
};

fn require(holds: bool, argument: usize, reason: Reason) -> Result<(), Fault> {
    let argument = Some(argument);
    if holds { Ok(()) } else { Err(Fault { reason, argument }) }
}

/// How many of the `rest` of the words are arguments of `op`, where every check holds.
///
/// `grant` is asked about each nonzero id, with its word; where it says no the command is refused there.
pub(crate) fn check<W, G>(op: Op, rest: &[W], data_len: u32, grant: &mut G) -> Result<usize, Fault>
where
    W: Word,
    G: FnMut(&W) -> bool,
{
    let length = length(layout(op), rest)?;
    let words = &rest[..length];
    Arguments { words, at: 0, grant }.check(layout(op))?;
    check_transfer(op, words, data_len)?;
    Ok(length)
}

/// Checks 3 to 6: how many of the words are `args`, which are there.
///
/// Every count is held to its limit before anything is computed from it, so no sum here can wrap, whatever the words say.
fn length<W: Word>(args: &[Arg], rest: &[W]) -> Result<usize, Fault> {
    let mut length = 0;
    for arg in args {
        let at = length;
        let word = || rest.get(at).map(Word::get).ok_or(TRUNCATED);
        length += width(arg);
        match arg.kind {
            ArgKind::List { limit, item } => {
                let count = word()?;
                require(count <= limit, at, Reason::TooMany)?;
                length += count as usize * item.iter().map(width).sum::<usize>();
            }
            ArgKind::Optional(inner) => {
                let flag = word()?;
                require(flag <= 1, at, Reason::BadFlag)?;
                length += flag as usize * inner.iter().map(width).sum::<usize>();
            }
            _ => {}
        }
    }
    if length <= rest.len() {
        Ok(length)
    } else {
        Err(TRUNCATED)
    }
}

/// The words of an argument; of a list its count, of what may be left out its flag.
const fn width(arg: &Arg) -> usize {
    match arg.kind {
        ArgKind::U64 => 2,
        _ => 1,
    }
}

/// The arguments of one command, all of them, the next one, and what is asked about each nonzero id.
struct Arguments<'a, W, G> {
    words: &'a [W],
    at: usize,
    grant: &'a mut G,
}

impl<W, G> Arguments<'_, W, G>
where
    W: Word,
    G: FnMut(&W) -> bool,
{
    /// Check 7: every argument, in word order.
    fn check(&mut self, args: &[Arg]) -> Result<(), Fault> {
        for arg in args {
            let (at, word) = (self.at, &self.words[self.at]);
            self.at += width(arg);
            match arg.kind {
                ArgKind::Id(_) => {
                    require(word.get() != 0, at, Reason::ZeroId)?;
                    require((self.grant)(word), at, Reason::UnknownId)?;
                }
                ArgKind::OptionalId(_) => require(word.get() == 0 || (self.grant)(word), at, Reason::UnknownId)?,
                ArgKind::U32 | ArgKind::I32 => {}
                ArgKind::F32 => require(f32::from_bits(word.get()).is_finite(), at, Reason::NonFinite)?,
                ArgKind::U64 => {
                    let number = join(word.get(), self.words[at + 1].get());
                    require(number <= MAX_SAFE_INTEGER, at, Reason::UnsafeInteger)?;
                }
                ArgKind::Enum(of) => {
                    let listed = of.values.iter().any(|&(value, _)| value == word.get());
                    require(listed, at, Reason::BadEnum)?;
                }
                ArgKind::Bool => require(word.get() <= 1, at, Reason::BadFlag)?,
                ArgKind::List { item, .. } => (0..word.get()).try_for_each(|_| self.check(item))?,
                ArgKind::Optional(inner) => (0..word.get()).try_for_each(|_| self.check(inner))?,
            }
        }
        Ok(())
    }
}

/// Checks 8 to 10: what the arguments of the three transfers say together, by their positions.
#[inline(always)]
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
#[inline(always)]
fn inside<W: Word>(words: &[W], offset: usize, length: usize, limit: u32, reason: Reason) -> Result<(), Fault> {
    let end = u64::from(words[offset].get()) + u64::from(words[length].get());
    require(end <= u64::from(limit), offset, reason)
}
