//! What a host checks of reads (section 6).

use rstest::rstest;
use wire::{BufferInfo, Read, check_reads};

fn read(id: u32, offset: u64, size: u32, window_offset: u32) -> Read {
    Read {
        id,
        offset,
        size,
        window_offset,
    }
}

/// Buffer 1 can be read and has 16 bytes, buffer 2 cannot, buffer 3 is huge, and 4 is none.
fn buffer(id: u32) -> Option<BufferInfo> {
    match id {
        1 => Some(BufferInfo {
            size: 16,
            map_read: true,
        }),
        2 => Some(BufferInfo {
            size: 16,
            map_read: false,
        }),
        3 => Some(BufferInfo {
            size: u64::MAX,
            map_read: true,
        }),
        _ => None,
    }
}

#[rstest]
#[case::fits(read(1, 8, 8, 24), Ok(()))]
#[case::not_a_buffer(read(4, 64, 8, 64), Err("not-a-buffer"))]
#[case::no_map_read(read(2, 64, 8, 64), Err("no-map-read"))]
#[case::past_the_buffer(read(1, 8, 12, 64), Err("out-of-range"))]
#[case::past_the_window(read(1, 8, 8, 25), Err("past-window"))]
#[case::fits_by_low_words(read(1, 1 << 32, 4, 0), Err("out-of-range"))]
#[case::largest_offset(read(3, (1 << 53) - 8, 4, 28), Ok(()))]
#[case::sum_past_two_to_64(read(3, u64::MAX, 4, 0), Err("out-of-range"))]
#[case::window_sum_past_two_to_32(read(3, 0, 0xFFFF_FFFC, 8), Err("past-window"))]
fn a_read_keeps_to_its_buffer_and_the_window(#[case] read: Read, #[case] expected: Result<(), &'static str>) {
    let answer = check_reads(&[read], buffer, 32).map_err(|refusal| (refusal.read, refusal.reason.name()));
    assert_eq!(answer, expected.map_err(|reason| (0, reason)));
}

#[test]
fn the_first_read_that_fails_is_named() {
    let (good, past, none) = (read(1, 0, 4, 0), read(1, 16, 4, 0), read(4, 0, 4, 0));
    let first = |reads: &[Read]| check_reads(reads, buffer, 4).map_err(|refusal| refusal.to_string());
    assert_eq!(first(&[good, past, none]), Err("read 1: out-of-range".to_string()));
    assert_eq!(
        first(&[good, good, none, past]),
        Err("read 2: not-a-buffer".to_string())
    );
    assert_eq!(first(&[good, good]), Ok(()));
    assert_eq!(first(&[]), Ok(()));
}

#[test]
fn a_window_may_be_empty_or_huge() {
    let at = |window| check_reads(&[read(1, 0, 4, 0)], buffer, window).map_err(|refusal| refusal.reason.name());
    assert_eq!(at(0), Err("past-window"));
    assert_eq!(at(3), Err("past-window"));
    assert_eq!(at(4), Ok(()));
    assert_eq!(at(u64::MAX), Ok(()));
}
