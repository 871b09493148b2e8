//! Checks 3 to 10 of wire.md section 3, quickly: whether they hold, without saying which does not.
//!
//! What is asked of each word of a command is worked out from `layout.rs` when this is compiled, and with it straight code for
//! each opcode, so that nothing is looked up at run time and the processor can begin with the next command before it is done
//! with this one.

use crate::arguments::check_transfer;
use crate::layout::{ArgKind, layout};
use crate::word::Word;
use crate::{MAX_SAFE_INTEGER, Op};

/// The most words of a command, its list not counted, that something is asked of.
const MOST: usize = 6;

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

/// The arguments of an opcode: so many words and then, where they are `counted`, as many numbers as the last of them says.
pub(crate) struct Shape {
    pub(crate) op: Op,
    length: usize,
    counted: bool,
    /// What is asked of which argument; the first `asked` of them.
    asks: [(usize, Ask); MOST],
    asked: usize,
}

impl Shape {
    /// `None` for arguments of another shape.
    pub(crate) const fn of(op: Op) -> Option<Self> {
        let mut shape = Shape {
            op,
            length: 0,
            counted: false,
            asks: [(0, Ask::Id); MOST],
            asked: 0,
        };
        let mut args = layout(op);
        while let [arg, rest @ ..] = args {
            shape = match arg.kind {
                ArgKind::Id(_) => shape.ask(Ask::Id),
                ArgKind::OptionalId(_) => shape.ask(Ask::OptionalId),
                ArgKind::U32 | ArgKind::I32 => shape.pass(),
                ArgKind::F32 => shape.ask(Ask::Finite),
                ArgKind::U64 => shape.pass().ask(Ask::SafeHigh),
                // The values of each are consecutive.
                ArgKind::Enum(of) => shape.ask(Ask::Within(of.values[0].0, of.values[of.values.len() - 1].0)),
                ArgKind::List { limit, item } if matches!(item[0].kind, ArgKind::U32) => {
                    shape.counted = true;
                    shape.ask(Ask::Within(0, limit))
                }
                ArgKind::List { .. } | ArgKind::Bool | ArgKind::Optional(_) => return None,
            };
            args = rest;
        }
        Some(shape)
    }

    const fn ask(mut self, ask: Ask) -> Self {
        self.asks[self.asked] = (self.length, ask);
        self.asked += 1;
        self.pass()
    }

    const fn pass(mut self) -> Self {
        self.length += 1;
        self
    }

    /// How many of the `rest` of the words are arguments, where they are there and well formed, whatever the ids name.
    #[inline(always)]
    pub(crate) fn fits<W: Word>(&self, rest: &[W], data_len: u32) -> Option<usize> {
        let (words, more) = rest.split_at_checked(self.length)?;
        // Of all high words together: the greatest is all ones, so that they are past it just where one of them is.
        let mut high = 0;
        for &(at, ask) in &self.asks[..self.asked] {
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
                return None;
            }
        }
        if u64::from(high) > MAX_SAFE_INTEGER >> 32 || check_transfer(self.op, words, data_len).is_err() {
            return None;
        }
        let counted = if self.counted {
            words[self.length - 1].get() as usize
        } else {
            0
        };
        (counted <= more.len()).then_some(self.length + counted)
    }

    /// Which arguments are ids, in word order.
    #[inline(always)]
    pub(crate) fn ids(&self) -> impl Iterator<Item = usize> {
        let ids = self.asks[..self.asked].iter();
        ids.filter(|(_, ask)| matches!(ask, Ask::Id | Ask::OptionalId))
            .map(|&(at, _)| at)
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

    /// Every value that some ask or transfer turns on, and some between.
    fn word() -> impl Strategy<Value = u32> {
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
        prop_oneof![8 => 0..5u32, 4 => select(&EDGES[..]), 1 => any::<u32>()]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4096) })]

        /// The quick answer is the careful one.
        #[test]
        fn what_fits_is_what_the_checks_take(words in vec(word(), 0..20), data_len in word()) {
            for op in Op::ALL {
                let Some(shape) = Shape::of(op) else { continue };
                let careful = check(op, &words, data_len, &mut |_| true).ok();
                prop_assert_eq!(shape.fits(&words, data_len), careful, "{}", op);
            }
        }
    }

    #[test]
    fn two_opcodes_have_no_shape() {
        let without: Vec<Op> = Op::ALL.into_iter().filter(|&op| Shape::of(op).is_none()).collect();
        assert_eq!(without, [Op::ExecuteBundles, Op::BeginRenderPass]);
    }
}
