//! Every word of every command: what it may be, and what it is refused for (section 3, checks 3 to 10).

use rstest::rstest;

use crate::samples::{DATA_LEN, ONE, SAMPLES, Sample, outcome};

/// Words that try the edges of every check.
const WORDS: [u32; 10] = [0, 1, 2, 3, 4, 5, 0x001F_FFFF, 0x0020_0000, 0x7FFF_FFFF, 0xFFFF_FFFF];

fn each(mut check: impl FnMut(&Sample)) {
    SAMPLES.iter().for_each(&mut check);
}

#[test]
fn an_id_is_not_zero_and_an_optional_one_may_be() {
    each(|sample| {
        for &i in sample.ids {
            assert_eq!(sample.outcome(&sample.with(i, 0)), Err((1 + i, sample.op, "zero-id")));
        }
        for &i in sample.optional_ids {
            assert_eq!(sample.outcome(&sample.with(i, 0)), Ok(()));
        }
        for &i in sample.ids.iter().chain(sample.optional_ids) {
            assert_eq!(sample.outcome(&sample.with(i, u32::MAX)), Ok(()));
        }
    });
}

#[test]
fn an_enumeration_has_a_listed_value() {
    each(|sample| {
        for &(i, least, greatest) in sample.enums {
            for word in WORDS {
                let listed = least <= word && word <= greatest;
                let expected = if listed {
                    Ok(())
                } else {
                    Err((1 + i, sample.op, "bad-enum"))
                };
                assert_eq!(
                    sample.outcome(&sample.with(i, word)),
                    expected,
                    "{} {i} {word}",
                    sample.name
                );
            }
        }
    });
}

#[test]
fn a_bool_is_zero_or_one() {
    each(|sample| {
        for &i in sample.flags {
            for word in WORDS {
                let expected = if word < 2 {
                    Ok(())
                } else {
                    Err((1 + i, sample.op, "bad-flag"))
                };
                assert_eq!(
                    sample.outcome(&sample.with(i, word)),
                    expected,
                    "{} {i} {word}",
                    sample.name
                );
            }
        }
    });
}

#[test]
fn a_float_is_finite() {
    // 0, -0, the least subnormal, 1, the greatest finite and its negative.
    let finite = [0, 0x8000_0000, 1, ONE, 0x7F7F_FFFF, 0xFF7F_FFFF];
    // Both infinities, a quiet, a signalling and a negative NaN.
    let other = [0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0x7F80_0001, 0xFFFF_FFFF];
    each(|sample| {
        for &i in sample.floats {
            for word in finite {
                assert_eq!(
                    sample.outcome(&sample.with(i, word)),
                    Ok(()),
                    "{} {i} {word:x}",
                    sample.name
                );
            }
            for word in other {
                let expected = Err((1 + i, sample.op, "non-finite"));
                assert_eq!(
                    sample.outcome(&sample.with(i, word)),
                    expected,
                    "{} {i} {word:x}",
                    sample.name
                );
            }
        }
    });
}

#[test]
fn a_u64_is_a_safe_integer() {
    each(|sample| {
        for &i in sample.u64s {
            let answer = |low, high| {
                let mut args = sample.with(i, low);
                args[i + 1] = high;
                sample.outcome(&args)
            };
            let refused = Err((1 + i, sample.op, "unsafe-integer"));
            // 2^53 - 8 is a multiple of 8, as ReadBuffer wants it.
            assert_eq!(answer(0xFFFF_FFF8, 0x001F_FFFF), Ok(()), "{} {i}", sample.name);
            if sample.name != "ReadBuffer" {
                assert_eq!(
                    answer(0xFFFF_FFFF, 0x001F_FFFF),
                    Ok(()),
                    "2^53 - 1, {} {i}",
                    sample.name
                );
            }
            assert_eq!(answer(0, 0x0020_0000), refused, "2^53, {} {i}", sample.name);
            assert_eq!(answer(1, 0x0020_0000), refused, "2^53 + 1, {} {i}", sample.name);
            assert_eq!(
                answer(0xFFFF_FFFF, 0xFFFF_FFFF),
                refused,
                "2^64 - 1, {} {i}",
                sample.name
            );
            assert_eq!(answer(0, 0x8000_0000), refused, "2^63, {} {i}", sample.name);
        }
    });
}

#[test]
fn every_other_word_may_be_anything() {
    each(|sample| {
        for i in 0..sample.args.len() {
            let u64_words = sample.u64s.iter().flat_map(|&low| [low, low + 1]);
            let mut named = u64_words
                .chain(sample.ids.iter().copied())
                .chain(sample.optional_ids.iter().copied())
                .chain(sample.enums.iter().map(|&(i, _, _)| i))
                .chain(sample.flags.iter().copied())
                .chain(sample.floats.iter().copied())
                .chain(sample.special.iter().copied());
            if named.any(|named| named == i) {
                continue;
            }
            for word in WORDS {
                assert_eq!(
                    sample.outcome(&sample.with(i, word)),
                    Ok(()),
                    "{} {i} {word}",
                    sample.name
                );
            }
        }
    });
}

#[test]
fn a_command_that_ends_early_is_truncated_at_its_opcode() {
    each(|sample| {
        let context = sample.contexts.chars().next().unwrap();
        let (words, at) = sample.stream(context, sample.args);
        for length in 0..sample.args.len() {
            let answer = outcome(&words[..at + 1 + length], DATA_LEN);
            assert_eq!(answer, Err((at, sample.op, "truncated")), "{} {length}", sample.name);
        }
    });
}

/// A command with a count, which stands `position` words after the opcode and is followed by `each` words an item.
#[rstest]
#[case::offsets(&[22], &[2, 0, 9], 65536, 1, &[], 2)]
#[case::bundles(&[20, 0, 0], &[11], 65536, 1, &[], 11)]
#[case::colors(&[], &[20], 8, 8, &[0], 20)]
fn a_count_is_accepted_up_to_its_limit(
    #[case] open: &[u32],
    #[case] head: &[u32],
    #[case] limit: u32,
    #[case] each: usize,
    #[case] tail: &[u32],
    #[case] op: u32,
) {
    let stream = |count: u32| {
        let items = vec![1; each * count as usize];
        let mut words = [open, head, &[count], &items, tail].concat();
        // A float of bits 1 is finite, an id of 1 is not 0, an operation of 1 is listed.
        words.push(21);
        words
    };
    let (opcode, count) = (open.len(), open.len() + head.len());
    assert_eq!(outcome(&stream(limit - 1), 0), Ok(()));
    assert_eq!(outcome(&stream(limit), 0), Ok(()));
    assert_eq!(outcome(&stream(limit + 1), 0), Err((count, op, "too-many")));
    // At the limit and not all there: the words are missed. Over it: the count is refused first.
    assert_eq!(outcome(&stream(limit)[..count + 1], 0), Err((opcode, op, "truncated")));
    assert_eq!(
        outcome(&stream(limit + 1)[..count + 1], 0),
        Err((count, op, "too-many"))
    );
    // Counts whose products and sums wrap in 32 bits.
    for huge in [
        0x2000_0000,
        0x4000_0000,
        0x8000_0000,
        0xFFFF_FFFC,
        0xFFFF_FFFE,
        0xFFFF_FFFF,
    ] {
        let words = [open, head, &[huge]].concat();
        assert_eq!(outcome(&words, 0), Err((count, op, "too-many")), "{huge:x}");
    }
    // None at all is accepted.
    assert_eq!(outcome(&stream(0), 0), Ok(()));
}

#[rstest]
#[case::exact_fit(4, 12, 16, Ok(()))]
#[case::one_past(4, 16, 16, Err(("data-range", 3)))]
#[case::offset_one_past(5, 12, 16, Err(("data-range", 3)))]
#[case::empty_at_the_end(16, 0, 16, Ok(()))]
#[case::empty_past_the_end(17, 0, 16, Err(("data-range", 3)))]
#[case::empty_of_nothing(0, 0, 0, Ok(()))]
#[case::no_data(0, 4, 0, Err(("data-range", 3)))]
#[case::wraps_to_zero(0xFFFF_FFFC, 4, 16, Err(("data-range", 3)))]
#[case::wraps_to_the_end(0xFFFF_FFFC, 20, 16, Err(("data-range", 3)))]
#[case::both_huge(0xFFFF_FFFF, 0xFFFF_FFFF, 0xFFFF_FFFF, Err(("data-range", 3)))]
#[case::all_of_huge_data(3, 0xFFFF_FFFC, 0xFFFF_FFFF, Ok(()))]
#[case::past_huge_data(4, 0xFFFF_FFFC, 0xFFFF_FFFF, Err(("data-range", 3)))]
#[case::odd_length(0, 3, 16, Err(("write-size", 4)))]
#[case::length_of_two(0, 2, 16, Err(("write-size", 4)))]
#[case::odd_length_out_of_range(14, 3, 16, Err(("data-range", 3)))]
#[case::odd_offset(1, 4, 16, Ok(()))]
fn a_buffer_write_keeps_to_the_data(
    #[case] offset: u32,
    #[case] length: u32,
    #[case] data_len: u32,
    #[case] expected: Result<(), (&'static str, usize)>,
) {
    let answer = outcome(&[30, 7, 0, 0, offset, length], data_len);
    assert_eq!(
        answer,
        expected.map_err(|(reason, argument)| (1 + argument, 30, reason))
    );
    // A texture write keeps to it too, and may be of any length.
    let answer = outcome(&[33, 7, 0, 0, 0, 0, 0, offset, length, 0, 0, 0, 0, 1, 1, 1], data_len);
    let expected = match expected {
        Err(("data-range", _)) => Err((7, 33, "data-range")),
        _ => Ok(()),
    };
    assert_eq!(answer, expected);
}

#[rstest]
#[case::least(0, 4, 0, Ok(()))]
#[case::offset_of_four(4, 4, 0, Err((2, "read-alignment")))]
#[case::offset_of_one(1, 4, 0, Err((2, "read-alignment")))]
#[case::offset_of_eight(8, 4, 0, Ok(()))]
#[case::size_of_zero(8, 0, 0, Err((4, "read-size")))]
#[case::size_of_two(8, 2, 0, Err((4, "read-size")))]
#[case::size_of_seven(8, 7, 0, Err((4, "read-size")))]
#[case::whole_window(0, 0x0400_0000, 0, Ok(()))]
#[case::more_than_the_window(0, 0x0400_0004, 0, Err((5, "read-window")))]
#[case::end_of_window(0, 4, 0x03FF_FFFC, Ok(()))]
#[case::one_past_the_window(0, 4, 0x03FF_FFFD, Err((5, "read-window")))]
#[case::odd_window_offset(0, 4, 1, Ok(()))]
#[case::wraps(0, 8, 0xFFFF_FFF8, Err((5, "read-window")))]
#[case::both_huge(0, 0xFFFF_FFFC, 0xFFFF_FFFF, Err((5, "read-window")))]
fn a_read_is_aligned_and_keeps_to_the_largest_window(
    #[case] offset: u32,
    #[case] size: u32,
    #[case] window_offset: u32,
    #[case] expected: Result<(), (usize, &'static str)>,
) {
    let expected = expected.map_err(|(word, reason)| (word, 34, reason));
    assert_eq!(outcome(&[34, 7, offset, 0, size, window_offset], 0), expected);
    assert_eq!(outcome(&[34, 7, offset, 0x001F_FFFF, size, window_offset], 0), expected);
}
