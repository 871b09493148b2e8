//! Commands with two faults, which pin the order of section 3's checks.

use rstest::rstest;

use crate::samples::{ONE, outcome};

/// Four floats.
const RED: [u32; 4] = [ONE, 0, 0, ONE];
const NAN: u32 = 0x7FC0_0000;

#[rstest]
// 2 before 3, 4 and 7.
#[case::context_before_truncated(&[1], (0, 1, "wrong-context"))]
#[case::context_before_too_many(&[11, 70000], (0, 11, "wrong-context"))]
#[case::context_before_zero_id(&[22, 31, 0, 0, 0, 0, 0, 0, 0, 0], (1, 31, "wrong-context"))]
// 3 before 4, 4 before 5, 5 before 7.
#[case::truncated_before_the_count(&[22, 2, 0, 9], (1, 2, "truncated"))]
#[case::count_before_truncated(&[22, 2, 0, 9, 65537], (4, 2, "too-many"))]
#[case::no_count(&[20], (0, 20, "truncated"))]
#[case::truncated_before_zero_id(&[20, 0, 0, 11, 2, 0], (3, 11, "truncated"))]
#[case::zero_id_once_all_are_there(&[20, 0, 0, 11, 2, 0, 1], (5, 11, "zero-id"))]
#[case::truncated_before_zero_id_without_count(&[20, 0, 0, 12, 0, 0], (3, 12, "truncated"))]
#[case::truncated_before_unsafe(&[31, 1, 0, u32::MAX, 2, 0, 0, 0], (0, 31, "truncated"))]
#[case::count_before_zero_id(&[20, 0, 0, 11, 65537, 0], (4, 11, "too-many"))]
// An opcode where an argument is missing is an argument.
#[case::swallows_the_next_opcode(&[20, 0, 0, 1, 21], (0, 20, "open-pass"))]
// First command first.
#[case::first_command_first(&[40, 30, 0, 0, 0, 0, 0, 99], (2, 30, "zero-id"))]
#[case::unknown_op_after_accepted(&[40, 40, 0, 21], (2, 0, "unknown-op"))]
// 7, word order.
#[case::zero_id_before_enum(&[20, 0, 0, 6, 0, 9, 0, 0, 0, 0], (4, 6, "zero-id"))]
#[case::enum_before_unsafe(&[20, 0, 0, 6, 1, 9, 0, u32::MAX, 0, 0], (5, 6, "bad-enum"))]
#[case::offset_before_size(&[20, 0, 0, 6, 1, 2, 5, u32::MAX, 0, u32::MAX], (6, 6, "unsafe-integer"))]
#[case::size_alone(&[20, 0, 0, 6, 1, 2, 5, 0, 0, u32::MAX], (8, 6, "unsafe-integer"))]
#[case::first_float(&[20, 0, 0, 9, 0, NAN, NAN, 0], (5, 9, "non-finite"))]
#[case::src_offset_before_dst(&[31, 1, 0, u32::MAX, 0, 0, 0, 0, 0], (2, 31, "unsafe-integer"))]
#[case::dst_before_size(&[31, 1, 0, 0, 0, 0, 0, 0, u32::MAX], (4, 31, "zero-id"))]
#[case::src_aspect_before_dst(&[32, 1, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 4, 1, 1, 1], (6, 32, "bad-enum"))]
#[case::dst_before_its_aspect(&[32, 1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 4, 1, 1, 1], (7, 32, "zero-id"))]
// 7 before 8, 8 before 9.
#[case::unsafe_before_data_range(&[30, 1, 0, u32::MAX, 99, 3], (2, 30, "unsafe-integer"))]
#[case::zero_id_before_data_range(&[30, 0, 0, 0, 99, 3], (1, 30, "zero-id"))]
#[case::data_range_before_write_size(&[30, 1, 0, 0, 99, 3], (4, 30, "data-range"))]
#[case::later_unsafe_before_data_range(
    &[33, 1, 0, 0, 0, 0, 0, 99, 3, 0, u32::MAX, 0, 0, 1, 1, 1],
    (9, 33, "unsafe-integer")
)]
// 7 before 10, and 10 in its order.
#[case::unsafe_before_alignment(&[34, 1, 1, u32::MAX, 3, u32::MAX], (2, 34, "unsafe-integer"))]
#[case::alignment_before_size(&[34, 1, 1, 0, 3, u32::MAX], (2, 34, "read-alignment"))]
#[case::size_before_window(&[34, 1, 0, 0, 3, u32::MAX], (4, 34, "read-size"))]
#[case::window_last(&[34, 1, 0, 0, 4, u32::MAX], (5, 34, "read-window"))]
fn the_first_check_that_fails_is_the_refusal(#[case] words: &[u32], #[case] expected: (usize, u32, &'static str)) {
    assert_eq!(outcome(words, 4), Err(expected));
}

fn color(view: u32, resolve: u32, load: u32, store: u32, rgba: [u32; 4]) -> Vec<u32> {
    [&[view, resolve, load, store], &rgba[..]].concat()
}

const DEPTH: [u32; 9] = [5, 2, 1, ONE, 0, 0, 0, 0, 0];

fn depth_with(position: usize, word: u32, later: &[(usize, u32)]) -> Vec<u32> {
    let mut depth = DEPTH.to_vec();
    for &(position, word) in later {
        depth[position] = word;
    }
    depth[position] = word;
    depth
}

fn pass(colors: &[Vec<u32>], flag: &[u32], depth: &[u32]) -> Vec<u32> {
    [&[20, colors.len() as u32], &colors.concat()[..], flag, depth, &[21]].concat()
}

#[test]
fn the_depth_flag_comes_before_the_colors() {
    let bad = color(1, 2, 9, 9, [NAN; 4]);
    // Opcode 0, count 1, color 2 to 9, flag 10, depth 11 to 19.
    assert_eq!(
        outcome(&pass(std::slice::from_ref(&bad), &[2], &[]), 0),
        Err((10, 20, "bad-flag"))
    );
    assert_eq!(
        outcome(&pass(std::slice::from_ref(&bad), &[u32::MAX], &DEPTH), 0),
        Err((10, 20, "bad-flag"))
    );
    let whole = pass(&[bad], &[1], &DEPTH);
    assert_eq!(outcome(&whole[..10], 0), Err((0, 20, "truncated")), "no flag");
    assert_eq!(outcome(&whole[..19], 0), Err((0, 20, "truncated")), "eight depth words");
    assert_eq!(outcome(&whole[..20], 0), Err((4, 20, "bad-enum")), "nine depth words");
}

#[test]
fn attachments_are_checked_in_word_order() {
    let good = color(1, 2, 1, 1, RED);
    let answer = |colors: &[Vec<u32>], depth: &[u32]| outcome(&pass(colors, &[1], depth), 0);
    assert_eq!(answer(&[good.clone(), good.clone()], &DEPTH), Ok(()));
    assert_eq!(answer(&[color(1, 2, 3, 0, [NAN; 4])], &DEPTH), Err((4, 20, "bad-enum")));
    assert_eq!(answer(&[color(1, 2, 2, 0, [NAN; 4])], &DEPTH), Err((5, 20, "bad-enum")));
    assert_eq!(
        answer(&[color(1, 2, 2, 2, [0, NAN, NAN, 0])], &DEPTH),
        Err((7, 20, "non-finite"))
    );
    // The first color's last float before the second color, before depth.
    let (first, second) = (color(1, 2, 2, 2, [0, 0, 0, NAN]), color(1, 2, 0, 1, RED));
    assert_eq!(
        answer(&[first, second.clone()], &depth_with(0, 0, &[])),
        Err((9, 20, "non-finite"))
    );
    assert_eq!(
        answer(&[good.clone(), second], &depth_with(0, 0, &[])),
        Err((12, 20, "bad-enum"))
    );
    // Each depth word before the next. With two colors it starts at word 2 + 16 + 1 = 19.
    let faults = [
        (0, 0, "zero-id"),
        (1, 3, "bad-enum"),
        (2, 3, "bad-enum"),
        (3, NAN, "non-finite"),
        (4, 2, "bad-flag"),
        (5, 3, "bad-enum"),
        (6, 3, "bad-enum"),
        (8, 2, "bad-flag"),
    ];
    for (index, &(position, word, reason)) in faults.iter().enumerate() {
        let later: Vec<_> = faults[index..]
            .iter()
            .map(|&(position, word, _)| (position, word))
            .collect();
        let depth = depth_with(position, word, &later);
        assert_eq!(
            answer(&[good.clone(), good.clone()], &depth),
            Err((19 + position, 20, reason))
        );
    }
}

#[test]
fn a_hole_is_read_like_a_color() {
    let answer = |hole: Vec<u32>| outcome(&pass(&[hole], &[0], &[]), 0);
    assert_eq!(answer(color(0, 0, 1, 1, RED)), Ok(()));
    assert_eq!(answer(color(0, 2, 1, 1, RED)), Ok(()));
    assert_eq!(answer(color(0, 0, 0, 1, RED)), Err((4, 20, "bad-enum")));
    assert_eq!(answer(color(0, 0, 1, 0, RED)), Err((5, 20, "bad-enum")));
    assert_eq!(answer(color(0, 0, 1, 1, [0, 0, 0, NAN])), Err((9, 20, "non-finite")));
    // All zero, as an encoder may leave it, is not accepted.
    assert_eq!(answer(vec![0; 8]), Err((4, 20, "bad-enum")));
}
