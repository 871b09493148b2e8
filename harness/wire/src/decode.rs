//! Decode: the commands of a stream, in order (wire.md section 3).

use std::iter::FusedIterator;

use crate::arguments::check;
use crate::quick::Shape;
use crate::word::Word;
use crate::{Context, Op, Reason};

/// One decoded command. `args` aliases the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cmd<'a> {
    /// Index of the opcode word in the stream.
    pub word: usize,
    /// The opcode.
    pub op: Op,
    /// The words after the opcode, as many as the command has ([`layout`](crate::layout) says what they are).
    pub args: &'a [u32],
}

impl Cmd<'_> {
    /// The u64 whose low word is `args[i]` and whose high word is `args[i + 1]` (wire.md section 2).
    ///
    /// # Panics
    ///
    /// Where the command has no such words, as an index into `args` does.
    #[inline]
    pub fn u64_at(&self, i: usize) -> u64 {
        join(self.args[i], self.args[i + 1])
    }

    /// The float whose bits are `args[i]` (wire.md section 2).
    ///
    /// # Panics
    ///
    /// Where the command has no such word, as an index into `args` does.
    #[inline]
    pub fn f32_at(&self, i: usize) -> f32 {
        f32::from_bits(self.args[i])
    }

    /// `args[i]` in two's complement (wire.md section 2).
    ///
    /// # Panics
    ///
    /// Where the command has no such word, as an index into `args` does.
    #[inline]
    pub fn i32_at(&self, i: usize) -> i32 {
        self.args[i].cast_signed()
    }
}

/// The u64 of its two words.
#[inline]
pub(crate) fn join(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Why Decode or Remap refuses a stream, and where (wire.md section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("word {word} ({}): {reason}", .op.map_or("no known opcode", Op::name))]
pub struct Refusal {
    /// Index, in the stream's words, of the word that the refusal is about.
    pub word: usize,
    /// The opcode of the command that is refused; `None` for an unknown one.
    pub op: Option<Op>,
    /// The first check that failed.
    pub reason: Reason,
}

/// One step through a stream: an accepted command.
pub(crate) struct Step<'a, W> {
    pub(crate) word: usize,
    pub(crate) op: Op,
    pub(crate) args: &'a [W],
}

/// The way through a stream, shared by Decode and Remap.
#[derive(Debug)]
pub(crate) struct Walk<'a, W> {
    /// The words not yet taken.
    rest: &'a [W],
    /// The number of all words.
    length: usize,
    data_len: u32,
    context: Context,
    /// The Begin command of the open pass: its word and opcode.
    open: Option<(usize, Op)>,
}

impl<W> Clone for Walk<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Walk<'_, W> {}

impl<'a, W: Word> Walk<'a, W> {
    pub(crate) fn new(words: &'a [W], data_len: u32, context: Context) -> Self {
        Self {
            rest: words,
            length: words.len(),
            data_len,
            context,
            open: None,
        }
    }

    /// The next command, `None` after the last one or after a refusal. `grant` is asked about each nonzero id.
    #[inline(always)]
    pub(crate) fn next<G>(&mut self, grant: &mut G) -> Option<Result<Step<'a, W>, Refusal>>
    where
        G: FnMut(&W) -> bool,
    {
        if let Some(step) = self.quick(grant) {
            return Some(step);
        }
        // By value, so that a walk needs no memory of its own as long as it is quick.
        let (walk, step) = self.careful(grant);
        *self = walk;
        step
    }

    /// The next command, where nothing of it but an id is refused; else `None`, and nothing taken.
    ///
    /// The opcode is found by halves, the frequent ones first: of a `match` the compiler makes a jump through a table,
    /// which takes fewer instructions, and processors foresee it far worse.
    #[inline(always)]
    fn quick<G>(&mut self, grant: &mut G) -> Option<Result<Step<'a, W>, Refusal>>
    where
        G: FnMut(&W) -> bool,
    {
        let opcode = self.rest.first()?.get();
        macro_rules! one_of {
            ($($op:ident),+) => {
                $(if opcode == Op::$op.word() {
                    self.take::<{ Op::$op.word() }, G>(grant)
                } else)+ {
                    None
                }
            };
        }
        if opcode < Op::SetVertexBuffer.word() {
            if opcode < Op::Draw.word() {
                one_of!(SetBindGroup, SetPipeline)
            } else {
                one_of!(DrawIndexed, Draw)
            }
        } else if opcode >= Op::WriteBuffer.word() {
            if opcode < Op::CopyTextureToTexture.word() {
                one_of!(WriteBuffer, CopyBufferToBuffer)
            } else if opcode < Op::ReadBuffer.word() {
                one_of!(CopyTextureToTexture, WriteTexture)
            } else {
                one_of!(ReadBuffer, Submit)
            }
        } else if opcode < Op::EndPass.word() {
            if opcode < Op::SetScissorRect.word() {
                one_of!(SetVertexBuffer, SetIndexBuffer, SetViewport)
            } else if opcode < Op::ExecuteBundles.word() {
                one_of!(SetScissorRect, SetBlendConstant, SetStencilReference)
            } else {
                one_of!(ExecuteBundles, BeginRenderPass, DrawIndirect, DrawIndexedIndirect)
            }
        } else if opcode < Op::Dispatch.word() {
            one_of!(EndPass, BeginComputePass)
        } else {
            one_of!(Dispatch, DispatchIndirect)
        }
    }

    /// [`quick`](Self::quick) for the opcode `OP`, the first of the words.
    #[inline(always)]
    fn take<const OP: u32, G>(&mut self, grant: &mut G) -> Option<Result<Step<'a, W>, Refusal>>
    where
        G: FnMut(&W) -> bool,
    {
        let shape = const { &Shape::of(Op::from_word(OP).unwrap()) };
        if !shape.op.allowed_in(self.context) {
            return None;
        }
        let (_, rest) = self.rest.split_first()?;
        let (args, rest) = rest.split_at(shape.fits(rest, self.data_len)?);
        let word = self.word();
        if let Err(at) = shape.grant(args, grant) {
            self.stop();
            return Some(Err(Refusal {
                word: word + 1 + at,
                op: Some(shape.op),
                reason: Reason::UnknownId,
            }));
        }
        self.rest = rest;
        self.follow(word, shape.op);
        Some(Ok(Step {
            word,
            op: shape.op,
            args,
        }))
    }

    /// The index of the next word.
    #[inline]
    fn word(&self) -> usize {
        // It does not wrap.
        self.length.wrapping_sub(self.rest.len())
    }

    /// Gives up what is left.
    fn stop(&mut self) {
        self.rest = &[];
        self.open = None;
    }

    /// [`next`](Self::next), with every check by itself and in its order.
    #[cold]
    #[inline(never)]
    fn careful<G>(mut self, grant: &mut G) -> (Self, Option<Result<Step<'a, W>, Refusal>>)
    where
        G: FnMut(&W) -> bool,
    {
        let Some((opcode, rest)) = self.rest.split_first() else {
            let refusal = self.end();
            return (self, refusal.map(Err));
        };
        let step = self.command(opcode.get(), rest, grant);
        if step.is_err() {
            self.stop();
        }
        (self, Some(step))
    }

    fn command<G>(&mut self, opcode: u32, rest: &'a [W], grant: &mut G) -> Result<Step<'a, W>, Refusal>
    where
        G: FnMut(&W) -> bool,
    {
        let word = self.word();
        let refuse = |op, reason| Refusal { word, op, reason };
        let op = Op::from_word(opcode).ok_or(refuse(None, Reason::UnknownOp))?;
        if !op.allowed_in(self.context) {
            return Err(refuse(Some(op), Reason::WrongContext));
        }
        let length = check(op, rest, self.data_len, grant).map_err(|fault| Refusal {
            word: fault.argument.map_or(word, |argument| word + 1 + argument),
            op: Some(op),
            reason: fault.reason,
        })?;
        let (args, rest) = rest.split_at(length);
        self.rest = rest;
        self.follow(word, op);
        Ok(Step { word, op, args })
    }

    /// Where the next command stands.
    #[inline(always)]
    fn follow(&mut self, word: usize, op: Op) {
        let (context, open) = match op {
            Op::BeginRenderPass => (Context::Render, Some((word, op))),
            Op::BeginComputePass => (Context::Compute, Some((word, op))),
            Op::EndPass => (Context::Outside, None),
            _ => return,
        };
        self.context = context;
        self.open = open;
    }

    /// The refusal of a pass that nothing closed; given once.
    fn end(&mut self) -> Option<Refusal> {
        let (word, op) = self.open.take()?;
        Some(Refusal {
            word,
            op: Some(op),
            reason: Reason::OpenPass,
        })
    }
}

/// The commands of a stream, one after the other, without allocating. Made by [`commands`] and [`bundle_commands`].
///
/// After a refusal there is nothing more: the iterator is fused. What it gives before a refusal is part of a stream
/// that is refused, and a host makes no call for it.
#[derive(Clone, Debug)]
pub struct Commands<'a>(Walk<'a, u32>);

impl<'a> Iterator for Commands<'a> {
    type Item = Result<Cmd<'a>, Refusal>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next(&mut |_: &u32| true).map(|step| step.map(Cmd::from))
    }
}

impl<'a> From<Step<'a, u32>> for Cmd<'a> {
    #[inline]
    fn from(Step { word, op, args }: Step<'a, u32>) -> Self {
        Self { word, op, args }
    }
}

impl FusedIterator for Commands<'_> {}

/// Reads a stream command by command (wire.md section 3).
///
/// `words` is the stream and `data_len` the length in bytes of the data that goes with it. Gives each command in
/// order, and as last item the refusal where there is one; the same as [`decode`], without a vector.
pub fn commands(words: &[u32], data_len: u32) -> Commands<'_> {
    Commands(Walk::new(words, data_len, Context::Outside))
}

/// Decodes a stream (wire.md section 3).
///
/// `words` is the stream and `data_len` the length in bytes of the data that goes with it. Gives all its commands in
/// order; their `args` alias `words`.
///
/// # Errors
///
/// The first check of section 3 that fails, with one of the reasons from `unknown-op` to `read-window`, or
/// `open-pass`; never `unknown-id`.
pub fn decode(words: &[u32], data_len: u32) -> Result<Vec<Cmd<'_>>, Refusal> {
    commands(words, data_len).collect()
}

/// Reads the words of a render bundle command by command (wire.md section 7), in context B and with no data.
///
/// An id in them is a 1-based position in the references of the bundle's descriptor; this does not know how many
/// there are. [`remap_bundle`](crate::remap_bundle) does.
pub fn bundle_commands(words: &[u32]) -> Commands<'_> {
    Commands(Walk::new(words, 0, Context::Bundle))
}

/// Decodes the words of a render bundle (wire.md section 7), in context B and with no data.
///
/// # Errors
///
/// As [`decode`]; anything but ops 1 to 6, 12 and 13 is `wrong-context`, and `open-pass` cannot be.
pub fn decode_bundle(words: &[u32]) -> Result<Vec<Cmd<'_>>, Refusal> {
    bundle_commands(words).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Walk;
    use crate::word::Word;
    use crate::{Context, Op};

    /// A word that counts how often it is looked at.
    struct Counted<'a> {
        word: u32,
        looks: &'a Cell<usize>,
    }

    impl Word for Counted<'_> {
        fn get(&self) -> u32 {
            self.looks.set(self.looks.get() + 1);
            self.word
        }
    }

    /// How often a walk looks at the words.
    fn looks(words: &[u32], context: Context) -> usize {
        let looks = Cell::new(0);
        let counted: Vec<_> = words.iter().map(|&word| Counted { word, looks: &looks }).collect();
        let mut walk = Walk::new(&counted, 16, context);
        while walk.next(&mut |_| true).is_some() {}
        looks.get()
    }

    /// wire.md section 3: "its time and memory are linear in the words". A word is looked at thrice at most: as a count
    /// or a data range it is asked about once more than for being well formed.
    #[test]
    fn the_work_is_linear_in_the_words() {
        let set_bind_group = [Op::SetBindGroup as u32, 0, 1, 2, 0, 256];
        let draw = [Op::Draw as u32, 3, 1, 0, 0];
        let pass = [
            &[Op::BeginComputePass as u32][..],
            &set_bind_group.repeat(1000),
            &[Op::EndPass as u32],
        ]
        .concat();
        let render_pass = [
            &[Op::BeginRenderPass as u32, 0, 0][..],
            &[Op::ExecuteBundles as u32, 3, 7, 7, 7].repeat(1000),
            &[Op::EndPass as u32],
        ]
        .concat();
        let write = [Op::WriteBuffer as u32, 1, 0, 0, 0, 16].repeat(1000);
        let bundle = [&set_bind_group[..], &draw].concat().repeat(1000);
        // A count that the words do not bear out costs nothing: the words after it are not looked at.
        let broken = [&pass[..6001], &[Op::SetBindGroup as u32, 0, 1, 65536], &[7; 60000]].concat();
        for (words, context) in [
            (pass, Context::Outside),
            (render_pass, Context::Outside),
            (write, Context::Outside),
            (bundle, Context::Bundle),
            (broken, Context::Outside),
        ] {
            let looks = looks(&words, context);
            assert!(looks <= 3 * words.len(), "{looks} looks at {} words", words.len());
        }
    }

    #[test]
    fn what_comes_after_a_refusal_is_not_looked_at() {
        let words = [&[Op::Submit as u32, 99][..], &[Op::Submit as u32; 1000]].concat();
        // Twice at the word that is refused: quickly, then with care.
        assert_eq!(looks(&words, Context::Outside), 3);
    }

    /// Nothing but speed would tell otherwise.
    #[test]
    fn every_opcode_is_taken_quickly() {
        for op in Op::ALL {
            let context = Context::ALL
                .into_iter()
                .find(|&context| op.allowed_in(context))
                .unwrap();
            // Every argument 1, or 8 where the whole of a command says more.
            let taken = [1, 8].into_iter().any(|word| {
                let words = [&[op.word()][..], &[word; 20]].concat();
                matches!(Walk::new(&words, 16, context).quick(&mut |_| true), Some(Ok(_)))
            });
            assert!(taken, "{op}");
        }
    }
}
