//! CheckRanges (section 5).

use rstest::rstest;
use wire::{Cmd, Op, check_ranges, decode};

/// The one buffer there is.
const BUFFER: u32 = 7;
const MAX_SAFE: u64 = 9_007_199_254_740_991;

type Answer = Result<(), (usize, &'static str, &'static str)>;

fn check(words: &[u32], size: impl FnMut(u32) -> Option<u64>, bound: u32) -> Answer {
    let cmds = decode(words, u32::MAX).unwrap();
    check_ranges(cmds, size, bound).map_err(|refusal| (refusal.command, refusal.op.name(), refusal.reason.name()))
}

fn of_size(size: u64) -> impl FnMut(u32) -> Option<u64> {
    move |id| (id == BUFFER).then_some(size)
}

fn low_high(number: u64) -> [u32; 2] {
    [(number % (1 << 32)) as u32, (number >> 32) as u32]
}

#[rstest]
#[case::exact_fit(12, 4, 16, true)]
#[case::one_past(16, 4, 16, false)]
#[case::one_byte_past(13, 4, 16, false)]
#[case::empty_at_size(16, 0, 16, true)]
#[case::empty_past_size(17, 0, 16, false)]
#[case::empty_buffer(0, 0, 0, true)]
#[case::longest(0, 0xFFFF_FFFC, 0xFFFF_FFFC, true)]
#[case::low_words_alone_would_fit((1 << 32) + 4, 4, 16, false)]
#[case::last_offset(MAX_SAFE, 4, MAX_SAFE + 4, true)]
#[case::past_two_to_53_by_one(MAX_SAFE, 4, MAX_SAFE + 3, false)]
#[case::largest_size(MAX_SAFE, 0xFFFF_FFFC, u64::MAX, true)]
fn a_write_keeps_to_its_buffer(#[case] offset: u64, #[case] length: u32, #[case] size: u64, #[case] fits: bool) {
    let [low, high] = low_high(offset);
    let expected = if fits {
        Ok(())
    } else {
        Err((1, "WriteBuffer", "out-of-range"))
    };
    // Where the data lies is no part of it.
    assert_eq!(
        check(&[40, 30, BUFFER, low, high, 0, length], of_size(size), 0),
        expected
    );
    assert_eq!(
        check(&[40, 30, BUFFER, low, high, 3, length], of_size(size), 0),
        expected
    );
}

#[rstest]
#[case::dispatch(&[22], 24, "DispatchIndirect", 12)]
#[case::draw(&[20, 0, 0], 12, "DrawIndirect", 16)]
#[case::draw_indexed(&[20, 0, 0], 13, "DrawIndexedIndirect", 20)]
fn indirect_arguments_lie_in_their_buffer(
    #[case] begin: &[u32],
    #[case] op: u32,
    #[case] name: &'static str,
    #[case] length: u64,
) {
    for offset in [0, 4, 5, 0xFFFF_FFFF, 0x1_0000_0000, MAX_SAFE - 1, MAX_SAFE] {
        let [low, high] = low_high(offset);
        let words = [begin, &[op, BUFFER, low, high, 21]].concat();
        let past = Err((1, name, "out-of-range"));
        assert_eq!(check(&words, of_size(offset + length), 0), Ok(()), "{name} {offset}");
        assert_eq!(check(&words, of_size(offset + length - 1), 0), past, "{name} {offset}");
        assert_eq!(check(&words, of_size(0), 0), past, "{name} {offset}");
        assert_eq!(
            check(&words, |_| None, 0),
            Err((1, name, "not-a-buffer")),
            "{name} {offset}"
        );
    }
}

fn copy(src: u32, src_offset: u64, dst: u32, dst_offset: u64, size: u64) -> Vec<u32> {
    let (src_offset, dst_offset, size) = (low_high(src_offset), low_high(dst_offset), low_high(size));
    [&[31, src], &src_offset[..], &[dst], &dst_offset[..], &size[..]].concat()
}

#[rstest]
#[case::fits(&copy(1, 4, 2, 8, 8), Ok(()), &[1, 2])]
#[case::same_buffer(&copy(1, 0, 1, 4, 8), Ok(()), &[1, 1])]
#[case::source_past(&copy(1, 5, 2, 0, 8), Err("out-of-range"), &[1])]
#[case::destination_past(&copy(1, 4, 2, 9, 8), Err("out-of-range"), &[1, 2])]
#[case::both_past(&copy(1, 5, 2, 9, 8), Err("out-of-range"), &[1])]
#[case::source_is_none(&copy(3, 0, 2, 9, 8), Err("not-a-buffer"), &[3])]
#[case::destination_is_none(&copy(1, 0, 3, 0, 8), Err("not-a-buffer"), &[1, 3])]
#[case::source_past_before_destination_none(&copy(1, 5, 3, 0, 8), Err("out-of-range"), &[1])]
#[case::empty_at_both_ends(&copy(1, 12, 2, 16, 0), Ok(()), &[1, 2])]
#[case::empty_past_source(&copy(1, 13, 2, 16, 0), Err("out-of-range"), &[1])]
#[case::empty_past_destination(&copy(1, 12, 2, 17, 0), Err("out-of-range"), &[1, 2])]
#[case::sum_past_two_to_53(&copy(1, MAX_SAFE, 2, 0, MAX_SAFE), Err("out-of-range"), &[1])]
fn a_copy_asks_its_destination_after_its_source(
    #[case] words: &[u32],
    #[case] expected: Result<(), &'static str>,
    #[case] asks: &[u32],
) {
    let mut asked = Vec::new();
    let sizes = |id| {
        asked.push(id);
        [None, Some(12), Some(16), None][id as usize]
    };
    assert_eq!(
        check(words, sizes, 0),
        expected.map_err(|reason| (0, "CopyBufferToBuffer", reason))
    );
    assert_eq!(asked, asks);
}

#[test]
fn sums_past_two_to_53_are_exact() {
    // 2^53 - 1 twice is 2^54 - 2; a float would round it up to 2^54.
    let words = copy(BUFFER, MAX_SAFE, BUFFER, MAX_SAFE, MAX_SAFE);
    assert_eq!(check(&words, of_size((1 << 54) - 2), 0), Ok(()));
    assert_eq!(
        check(&words, of_size((1 << 54) - 3), 0),
        Err((0, "CopyBufferToBuffer", "out-of-range"))
    );
    assert_eq!(check(&words, of_size(u64::MAX), 0), Ok(()));
}

#[test]
fn a_sum_past_two_to_64_does_not_wrap() {
    // No decoder gives such an offset, but a caller may.
    let args = [BUFFER, u32::MAX, u32::MAX, 0, 4];
    let cmd = Cmd {
        word: 0,
        op: Op::WriteBuffer,
        args: &args,
    };
    let refusal = check_ranges([cmd], of_size(u64::MAX), 0).unwrap_err();
    assert_eq!(refusal.reason.name(), "out-of-range");
}

#[rstest]
#[case(0, 65535, true)]
#[case(0, 65536, false)]
#[case(65535, 65536, false)]
#[case(65536, 65536, true)]
#[case(1, 1, true)]
#[case(1, 2, false)]
#[case(1, 0, true)]
#[case(u32::MAX, u32::MAX, true)]
#[case(u32::MAX - 1, u32::MAX, false)]
fn a_dispatch_keeps_to_the_bound(#[case] bound: u32, #[case] groups: u32, #[case] fits: bool) {
    let expected = if fits {
        Ok(())
    } else {
        Err((1, "Dispatch", "too-many-workgroups"))
    };
    for [x, y, z] in [[groups, 1, 1], [1, groups, 1], [1, 1, groups], [groups; 3]] {
        assert_eq!(check(&[22, 23, x, y, z, 21], |_| None, bound), expected, "{x} {y} {z}");
    }
}

#[test]
fn the_first_command_that_fails_is_named_with_every_command_counted() {
    let words = [
        &[40][..],
        &[22, 23, 1, 1, 1, 21, 40],
        &[30, BUFFER, 0, 0, 0, 4],
        &[30, BUFFER, 1, 0, 0, 4],
        &[30, 9, 0, 0, 0, 4],
    ]
    .concat();
    // Submit 0, Begin 1, Dispatch 2, End 3, Submit 4, and after it the writes 5, 6 and 7.
    assert_eq!(check(&words, of_size(4), 0), Err((6, "WriteBuffer", "out-of-range")));
    assert_eq!(check(&words, of_size(5), 0), Err((7, "WriteBuffer", "not-a-buffer")));
    assert_eq!(check(&words, of_size(0), 0), Err((5, "WriteBuffer", "out-of-range")));
}

#[test]
fn other_commands_are_the_devices_business() {
    let words = [
        &[34, 9, 0, 0, 4, 0][..],
        &[33, 9, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 1, 1, 1],
        &[20, 0, 0, 5, 0, 9, 0, 0, 4, 0, 6, 9, 1, 0, 0, 4, 0, 3, 9, 9, 9, 9, 21],
    ]
    .concat();
    let mut asked = 0;
    let sizes = |_| {
        asked += 1;
        None
    };
    assert_eq!(check(&words, sizes, 1), Ok(()));
    assert_eq!(asked, 0);
}

#[test]
fn a_command_that_no_decoder_gives_is_refused_without_a_panic() {
    let ranged = [
        Op::WriteBuffer,
        Op::CopyBufferToBuffer,
        Op::DispatchIndirect,
        Op::DrawIndirect,
        Op::DrawIndexedIndirect,
        Op::Dispatch,
    ];
    for op in ranged {
        for args in [&[][..], &[BUFFER; 9]] {
            let refusal = check_ranges([Cmd { word: 0, op, args }], |_| Some(u64::MAX), 0).unwrap_err();
            assert_eq!((refusal.op, refusal.reason.name()), (op, "truncated"));
        }
    }
}

#[test]
fn a_refusal_reads_as_one_line() {
    let cmds = decode(&[22, 23, 9, 9, 9, 21], 0).unwrap();
    let refusal = check_ranges(cmds, |_| None, 8).unwrap_err();
    assert_eq!(refusal.to_string(), "command 1 (Dispatch): too-many-workgroups");
}
