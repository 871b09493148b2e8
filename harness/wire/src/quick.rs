//! Checks 3 to 10 of wire.md section 3, quickly: whether they hold, without saying which does not.
//!
//! What is asked of each word of a command is worked out from `layout.rs` when this is compiled, and with it straight
//! code for each opcode, so that nothing is looked up at run time and the processor can begin with the next command
//! before it is done with this one.

use crate::arguments::check_transfer;
use crate::layout::{Arg, ArgKind, layout};
use crate::word::Word;
use crate::{MAX_SAFE_INTEGER, Op};

/// What a word must be.
#[derive(Clone, Copy)]
enum Ask {
    Id,
    OptionalId,
    /// The high word of a u64.
    SafeHigh,
    Finite,
    /// From the first to the second.
    Within(u32, u32),
}

/// The most words of a group that something is asked of: those of a color or depth attachment.
const MOST: usize = 8;

/// Words that follow each other, as many always.
#[derive(Clone, Copy)]
struct Group {
    length: usize,
    /// What is asked of which word; the first `asked` of them.
    asks: [(usize, Ask); MOST],
    asked: usize,
}

impl Group {
    const NOTHING: Self = Group {
        length: 0,
        asks: [(0, Ask::Id); MOST],
        asked: 0,
    };

    const fn ask(mut self, ask: Ask) -> Self {
        self.asks[self.asked] = (self.length, ask);
        self.asked += 1;
        self.pass()
    }

    const fn pass(mut self) -> Self {
        self.length += 1;
        self
    }

    /// This, its last word being a number, of at most `limit`, of `item`s that follow.
    const fn repeat(self, limit: u32, item: &'static [Arg]) -> Part {
        let (part, rest) = Part::of(item);
        assert!(part.item.is_none() && rest.is_empty());
        Part {
            group: self.ask(Ask::Within(0, limit)),
            item: Some(part.group),
        }
    }

    #[inline(always)]
    fn asks(&self) -> &[(usize, Ask)] {
        &self.asks[..self.asked]
    }

    /// Whether its `words` are well formed, whatever the ids name.
    #[inline(always)]
    fn fits<W: Word>(&self, words: &[W]) -> bool {
        // Of all high words together: the greatest is all ones, so that they are past it just where one of them is.
        let mut high = 0;
        for &(at, ask) in self.asks() {
            let word = words[at].get();
            let fits = match ask {
                Ask::Id => word != 0,
                Ask::OptionalId => true,
                Ask::SafeHigh => {
                    high |= word;
                    true
                }
                Ask::Finite => f32::from_bits(word).is_finite(),
                Ask::Within(least, most) => (least..=most).contains(&word),
            };
            if !fits {
                return false;
            }
        }
        u64::from(high) <= MAX_SAFE_INTEGER >> 32
    }

    /// Asks `grant` about each id that is not 0, in word order, where the group starts at the argument `start`. Gives
    /// the first argument to which it says no.
    #[inline(always)]
    fn grant<W: Word>(&self, args: &[W], start: usize, grant: &mut impl FnMut(&W) -> bool) -> Result<(), usize> {
        for &(at, ask) in self.asks() {
            let word = &args[start + at];
            if matches!(ask, Ask::Id | Ask::OptionalId) && word.get() != 0 && !grant(word) {
                return Err(start + at);
            }
        }
        Ok(())
    }
}

/// A group, and the one that follows it as often as its last word says, where it is a count or a flag.
#[derive(Clone, Copy)]
struct Part {
    group: Group,
    item: Option<Group>,
}

impl Part {
    /// The first part of `args`, and what comes after it.
    const fn of(mut args: &'static [Arg]) -> (Self, &'static [Arg]) {
        let mut group = Group::NOTHING;
        while let [arg, rest @ ..] = args {
            args = rest;
            group = match arg.kind {
                ArgKind::Id(_) => group.ask(Ask::Id),
                ArgKind::OptionalId(_) => group.ask(Ask::OptionalId),
                ArgKind::U32 | ArgKind::I32 => group.pass(),
                ArgKind::F32 => group.ask(Ask::Finite),
                ArgKind::U64 => group.pass().ask(Ask::SafeHigh),
                // The values of each are consecutive.
                ArgKind::Enum(of) => group.ask(Ask::Within(of.values[0].0, of.values[of.values.len() - 1].0)),
                ArgKind::Bool => group.ask(Ask::Within(0, 1)),
                ArgKind::List { limit, item } => return (group.repeat(limit, item), rest),
                ArgKind::Optional(item) => return (group.repeat(1, item), rest),
            };
        }
        (Part { group, item: None }, args)
    }
}

/// The arguments of an opcode.
pub(crate) struct Shape {
    pub(crate) op: Op,
    parts: [Part; 2],
}

impl Shape {
    pub(crate) const fn of(op: Op) -> Self {
        let (first, rest) = Part::of(layout(op));
        let (second, rest) = Part::of(rest);
        assert!(rest.is_empty());
        Shape {
            op,
            parts: [first, second],
        }
    }

    /// How many of the `words` are arguments, where they are there and well formed, whatever the ids name.
    #[inline(always)]
    pub(crate) fn fits<W: Word>(&self, words: &[W], data_len: u32) -> Option<usize> {
        let mut rest = words;
        for Part { group, item } in &self.parts {
            let (own, more) = rest.split_at_checked(group.length)?;
            if !group.fits(own) {
                return None;
            }
            rest = more;
            if let Some(item) = item {
                let (items, more) = rest.split_at_checked(own[group.length - 1].get() as usize * item.length)?;
                if !items.chunks_exact(item.length).all(|words| item.fits(words)) {
                    return None;
                }
                rest = more;
            }
        }
        check_transfer(self.op, words, data_len).ok()?;
        Some(words.len() - rest.len())
    }

    /// Asks `grant` about each id that is not 0, in word order; gives the first argument to which it says no.
    #[inline(always)]
    pub(crate) fn grant<W: Word>(&self, args: &[W], grant: &mut impl FnMut(&W) -> bool) -> Result<(), usize> {
        let mut at = 0;
        for Part { group, item } in &self.parts {
            group.grant(args, at, grant)?;
            at += group.length;
            if let Some(item) = item {
                let end = at + args[at - 1].get() as usize * item.length;
                while at < end {
                    item.grant(args, at, grant)?;
                    at += item.length;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::Shape;
    use crate::Op;
    use crate::arguments::check;

    /// Every value that some ask or transfer turns on.
    const EDGES: [u32; 16] = [
        0,
        1,
        2,
        3,
        4,
        8,
        16,
        65536,
        65537,
        (1 << 21) - 1,
        1 << 21,
        (64 << 20) - 4,
        64 << 20,
        0x7F7F_FFFF,
        0x7F80_0000,
        u32::MAX,
    ];

    /// The edges, and some between.
    fn word() -> impl Strategy<Value = u32> {
        prop_oneof![8 => 0..5u32, 4 => select(&EDGES[..]), 1 => any::<u32>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4096) })]

        /// The quick answer is the careful one.
        #[test]
        fn what_fits_is_what_the_checks_take(words in vec(word(), 0..20), data_len in word()) {
            for op in Op::ALL {
                let careful = check(op, &words, data_len, &mut |_| true).ok();
                prop_assert_eq!(Shape::of(op).fits(&words, data_len), careful, "{}", op);
            }
        }
    }

    /// Random words are hardly ever a BeginRenderPass up to the end.
    #[test]
    fn a_spoilt_word_fits_just_where_the_checks_take_it() {
        for op in Op::ALL {
            let shape = Shape::of(op);
            // Every argument 1, or 8 where the whole of a command says more.
            let mut commands = [[1; 20], [8; 20]].into_iter();
            let command = commands.find(|words| shape.fits(words, 16).is_some());
            let command = command.expect("one of them is well formed");
            for (at, value) in (0..command.len()).flat_map(|at| EDGES.map(|value| (at, value))) {
                let mut words = command;
                words[at] = value;
                let careful = check(op, &words, 16, &mut |_| true).ok();
                assert_eq!(shape.fits(&words, 16), careful, "{op}, argument {at} = {value}");
            }
        }
    }
}
