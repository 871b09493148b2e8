//! Blobs (section 1).

use rstest::rstest;
use wire::{Blob, encode_blob};

/// Two words and three bytes of data.
const BYTES: [u8; 27] = [
    b'W', b'I', b'R', b'E', 4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, // header
    40, 0, 0, 0, 0x78, 0x56, 0x34, 0x12, // words
    7, 8, 9, // data
];

#[test]
fn a_blob_is_a_header_words_and_data() {
    let blob = Blob::parse(&BYTES).unwrap();
    assert_eq!((&blob.words[..], blob.data), (&[40, 0x1234_5678][..], &[7, 8, 9][..]));
    assert_eq!(encode_blob(&[40, 0x1234_5678], &[7, 8, 9]), BYTES);
    // Nothing at all is a stream too. Words are not read.
    let empty = encode_blob(&[], &[]);
    assert_eq!(empty, *b"WIRE\x04\0\0\0\0\0\0\0\0\0\0\0");
    assert_eq!(
        Blob::parse(&empty),
        Ok(Blob {
            words: vec![],
            data: &[]
        })
    );
}

fn with(changes: &[(usize, u8)], length: usize) -> Vec<u8> {
    let mut bytes = BYTES.to_vec();
    for &(at, byte) in changes {
        bytes[at] = byte;
    }
    bytes.resize(length, 0);
    bytes
}

#[rstest]
#[case::nothing(&[], 0, "bad-length")]
#[case::short_header(&[], 15, "bad-length")]
#[case::short_before_magic(&[(0, b'w')], 15, "bad-length")]
#[case::magic(&[(0, b'w')], 27, "bad-magic")]
#[case::last_of_magic(&[(3, b'e')], 27, "bad-magic")]
#[case::magic_before_version(&[(0, b'w'), (4, 3)], 27, "bad-magic")]
#[case::magic_before_length(&[(0, b'w')], 26, "bad-magic")]
#[case::older(&[(4, 3)], 27, "bad-version")]
#[case::newer(&[(4, 5)], 27, "bad-version")]
#[case::high_byte_of_version(&[(7, 1)], 27, "bad-version")]
#[case::version_before_length(&[(4, 3)], 26, "bad-version")]
#[case::a_byte_too_few(&[], 26, "bad-length")]
#[case::a_byte_too_many(&[], 28, "bad-length")]
#[case::header_alone(&[], 16, "bad-length")]
#[case::a_word_more(&[(8, 3)], 27, "bad-length")]
#[case::words_times_four_wraps(&[(11, 0x40)], 27, "bad-length")]
#[case::all_counts_huge(
    &[(8, 255), (9, 255), (10, 255), (11, 255), (12, 255), (13, 255), (14, 255), (15, 255)],
    27,
    "bad-length"
)]
fn a_blob_is_refused(#[case] changes: &[(usize, u8)], #[case] length: usize, #[case] reason: &str) {
    let bytes = with(changes, length);
    assert_eq!(
        Blob::parse(&bytes).map_err(|refusal| refusal.reason.name()),
        Err(reason)
    );
}

#[test]
fn the_split_between_words_and_data_follows_the_header() {
    // The same 27 bytes as one word and seven bytes of data.
    let bytes = with(&[(8, 1), (12, 7)], 27);
    let blob = Blob::parse(&bytes).unwrap();
    assert_eq!(
        (&blob.words[..], blob.data),
        (&[40][..], &[0x78, 0x56, 0x34, 0x12, 7, 8, 9][..])
    );
}

#[test]
fn a_refusal_reads_as_one_line() {
    assert_eq!(Blob::parse(&[]).unwrap_err().to_string(), "blob: bad-length");
}
