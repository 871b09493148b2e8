//! Remap, RemapReads and the words of bundles (sections 3, 6 and 7).

use wire::{Read, remap, remap_bundle, remap_reads};

use crate::samples::{DATA_LEN, ONE, SAMPLES, parts};

const NAN: u32 = 0x7FC0_0000;

/// What a remap answers, what it asked, and what it left of the words.
struct Outcome {
    answer: Result<(), (usize, u32, &'static str)>,
    asked: Vec<u32>,
    words: Vec<u32>,
}

/// Grants every id but `refused`, as 1000 more.
fn run(words: &[u32], data_len: u32, refused: u32) -> Outcome {
    let (mut words, mut asked) = (words.to_vec(), Vec::new());
    let answer = remap(&mut words, data_len, |id| {
        asked.push(id);
        (id != refused).then(|| id + 1000)
    });
    Outcome {
        answer: answer.map_err(parts),
        asked,
        words,
    }
}

#[test]
fn every_id_is_asked_once_in_word_order_and_replaced() {
    for sample in SAMPLES {
        let context = sample.contexts.chars().next().unwrap();
        let (words, at) = sample.stream(context, sample.args);
        let mut places: Vec<usize> = [sample.ids, sample.optional_ids].concat();
        places.sort_unstable();
        places.retain(|&i| sample.args[i] != 0);
        let asked: Vec<u32> = places.iter().map(|&i| sample.args[i]).collect();
        let mut expected = words.clone();
        places.iter().for_each(|&i| expected[at + 1 + i] += 1000);

        let outcome = run(&words, DATA_LEN, 0);
        assert_eq!(outcome.answer, Ok(()), "{}", sample.name);
        assert_eq!(outcome.asked, asked, "{}", sample.name);
        assert_eq!(outcome.words, expected, "{}", sample.name);
    }
}

#[test]
fn an_id_that_is_not_granted_is_refused_where_it_stands() {
    for sample in SAMPLES {
        let context = sample.contexts.chars().next().unwrap();
        for &i in sample.ids.iter().chain(sample.optional_ids) {
            let (words, at) = sample.stream(context, &sample.with(i, 777));
            let outcome = run(&words, DATA_LEN, 777);
            assert_eq!(
                outcome.answer,
                Err((at + 1 + i, sample.op, "unknown-id")),
                "{} {i}",
                sample.name
            );
            assert_eq!(outcome.asked.last(), Some(&777), "nothing is asked after it");
        }
    }
}

#[test]
fn a_replacement_of_zero_is_no_grant() {
    let mut words = [22, 1, 7, 21];
    assert_eq!(
        remap(&mut words, 0, |_| Some(0)).map_err(parts),
        Err((2, 1, "unknown-id"))
    );
    // Also where the format would take a 0.
    let mut words = [22, 2, 0, 7, 0, 21];
    assert_eq!(
        remap(&mut words, 0, |_| Some(0)).map_err(parts),
        Err((3, 2, "unknown-id"))
    );
}

#[test]
fn an_id_is_asked_also_in_a_command_that_a_later_check_refuses() {
    let outcome = run(&[30, 5, 0, 0, 0, 4], 0, 0);
    assert_eq!(outcome.answer, Err((4, 30, "data-range")));
    assert_eq!(outcome.asked, [5]);
    let outcome = run(&[30, 5, 0, 0, 0, 3], 4, 0);
    assert_eq!((outcome.answer, outcome.asked), (Err((5, 30, "write-size")), vec![5]));
    let outcome = run(&[34, 5, 4, 0, 4, 0], 0, 0);
    assert_eq!(
        (outcome.answer, outcome.asked),
        (Err((2, 34, "read-alignment")), vec![5])
    );
    // Both buffers of a copy, though the size is refused.
    let outcome = run(&[31, 5, 0, 0, 6, 0, 0, 0, u32::MAX], 0, 0);
    assert_eq!(
        (outcome.answer, outcome.asked),
        (Err((7, 31, "unsafe-integer")), vec![5, 6])
    );
}

#[test]
fn an_id_is_asked_at_its_place() {
    // Unknown before what stands after it in the command, and before the checks of the whole.
    assert_eq!(
        run(&[30, 5, 0, u32::MAX, 9, 3], 0, 5).answer,
        Err((1, 30, "unknown-id"))
    );
    assert_eq!(run(&[34, 5, 1, 0, 3, 0], 0, 5).answer, Err((1, 34, "unknown-id")));
    // Not asked when something before it is refused.
    let copy = [31, 5, 0, u32::MAX, 6, 0, 0, 0, 0];
    let outcome = run(&copy, 0, 6);
    assert_eq!(
        (outcome.answer, outcome.asked),
        (Err((2, 31, "unsafe-integer")), vec![5])
    );
    // Nor when the command is refused for its context, its length or its count.
    for (words, answer) in [
        (&[1, 5][..], (0, 1, "wrong-context")),
        (&[30, 5, 0, 0, 0], (0, 30, "truncated")),
        (&[22, 2, 0, 5, 65537], (4, 2, "too-many")),
        (&[22, 2, 0, 5, 1], (1, 2, "truncated")),
        (&[20, 1, 5, 6, 1, 1, 0, 0, 0, 0, 2], (10, 20, "bad-flag")),
        (&[20, 1, 5, 6, 1, 1, 0, 0, 0, 0, 1], (0, 20, "truncated")),
    ] {
        let outcome = run(words, 0, 0);
        assert_eq!((outcome.answer, outcome.asked), (Err(answer), vec![]));
        assert_eq!(outcome.words, words);
    }
}

#[test]
fn ids_of_colors_are_asked_between_the_floats() {
    let colors = |red: u32| {
        [
            &[20, 2][..],
            &[1, 2, 1, 1, 0, 0, 0, red],
            &[3, 4, 1, 1, ONE, 0, 0, 0],
            &[0, 21],
        ]
        .concat()
    };
    assert_eq!(run(&colors(0), 0, 0).asked, [1, 2, 3, 4]);
    let outcome = run(&colors(NAN), 0, 3);
    assert_eq!(
        (outcome.answer, outcome.asked),
        (Err((9, 20, "non-finite")), vec![1, 2])
    );
    let outcome = run(&colors(0), 0, 3);
    assert_eq!(
        (outcome.answer, outcome.asked),
        (Err((10, 20, "unknown-id")), vec![1, 2, 3])
    );
}

#[test]
fn the_resolve_target_of_a_hole_is_asked_too() {
    let words = [20, 1, 0, 8, 1, 1, 0, 0, 0, 0, 0, 21];
    let outcome = run(&words, 0, 0);
    assert_eq!((outcome.answer, outcome.asked), (Ok(()), vec![8]));
    assert_eq!(outcome.words[2..4], [0, 1008]);
    assert_eq!(run(&words, 0, 8).answer, Err((3, 20, "unknown-id")));
}

#[test]
fn words_that_look_like_ids_stay() {
    // Id 5 everywhere an id could be mistaken: offsets, counts, sizes, the opcode of SetVertexBuffer.
    let words = [20, 0, 0, 5, 5, 5, 5, 0, 5, 0, 2, 5, 5, 1, 5, 3, 5, 5, 5, 5, 21];
    let outcome = run(&words, 0, 0);
    assert_eq!((outcome.answer, outcome.asked), (Ok(()), vec![5, 5]));
    let mut expected = words;
    (expected[5], expected[12]) = (1005, 1005);
    assert_eq!(outcome.words, expected);
}

#[test]
fn a_replacement_is_not_asked_again() {
    let mut words = [22, 1, 1, 1, 2, 21];
    remap(&mut words, 0, |id| Some(3 - id)).unwrap();
    assert_eq!(words, [22, 1, 2, 1, 1, 21]);
}

#[test]
fn an_open_pass_is_refused_after_all_ids_are_asked() {
    let outcome = run(&[22, 1, 5], 0, 0);
    assert_eq!((outcome.answer, outcome.asked), (Err((0, 22, "open-pass")), vec![5]));
}

#[test]
fn reads_come_in_order_with_translated_ids() {
    let mut words = [
        &[34, 5, 8, 0x001F_FFFF, 4, 12][..],
        &[22, 34, 6, 0, 0, 8, 0, 21, 40],
        &[34, 5, 16, 0, 0x0400_0000, 0],
    ]
    .concat();
    let reads = remap_reads(&mut words, 0, |id| Some(id * 10)).unwrap();
    let expected = [
        Read {
            id: 50,
            offset: 0x001F_FFFF_0000_0008,
            size: 4,
            window_offset: 12,
        },
        Read {
            id: 60,
            offset: 0,
            size: 8,
            window_offset: 0,
        },
        Read {
            id: 50,
            offset: 16,
            size: 0x0400_0000,
            window_offset: 0,
        },
    ];
    assert_eq!(reads, expected);
    assert_eq!((words[1], words[8], words[16]), (50, 60, 50));
    assert_eq!(remap_reads(&mut [40], 0, Some), Ok(vec![]));
    // A stream that is refused has no reads.
    let refused = remap_reads(&mut [34, 5, 0, 0, 4, 0, 99], 0, Some);
    assert_eq!(refused.map_err(parts), Err((6, 0, "unknown-op")));
    let unknown = remap_reads(&mut [34, 5, 0, 0, 4, 0], 0, |_| None);
    assert_eq!(unknown.map_err(parts), Err((1, 34, "unknown-id")));
}

#[test]
fn ids_of_a_bundle_are_positions_in_its_references() {
    let references = [70, 0, 72];
    let resolve = |words: &mut [u32]| {
        remap_bundle(words, |position| references.get(position as usize - 1).copied()).map_err(parts)
    };
    let mut words = [1, 3, 2, 0, 1, 0, 2, 1, 0, 0, 3, 3, 1, 0, 0];
    assert_eq!(resolve(&mut words), Ok(()));
    assert_eq!(words, [1, 72, 2, 0, 70, 0, 2, 1, 0, 0, 3, 3, 1, 0, 0]);
    // At a reference of 0; one past the references; far past.
    assert_eq!(resolve(&mut [1, 2]), Err((1, 1, "unknown-id")));
    assert_eq!(resolve(&mut [1, 4]), Err((1, 1, "unknown-id")));
    assert_eq!(resolve(&mut [1, u32::MAX]), Err((1, 1, "unknown-id")));
    // 0 is never a position.
    assert_eq!(resolve(&mut [1, 0]), Err((1, 1, "zero-id")));
    assert_eq!(resolve(&mut [30, 1, 0, 0, 0, 0]), Err((0, 30, "wrong-context")));
}
