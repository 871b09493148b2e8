//! Creation descriptors (section 7).

use rstest::rstest;
use wire::{append_descriptor, remap_descriptor, split_descriptor};

/// Two references and a body of three bytes.
const BYTES: [u8; 15] = [2, 0, 0, 0, 0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0, b'{', b'}', b' '];

fn references(count: u32) -> Vec<u8> {
    let words = std::iter::once(count).chain(1..=count);
    words.flat_map(u32::to_le_bytes).collect()
}

#[test]
fn a_descriptor_is_a_count_references_and_a_body() {
    let mut bytes = b"before".to_vec();
    append_descriptor(&mut bytes, &[0x1234_5678, 0], b"{} ").unwrap();
    assert_eq!(bytes, [&b"before"[..], &BYTES].concat());
    assert_eq!(split_descriptor(&BYTES), Ok((vec![0x1234_5678, 0], &b"{} "[..])));
    // No reference and no body.
    assert_eq!(split_descriptor(&[0; 4]), Ok((vec![], &[][..])));
    // The body may be any bytes.
    assert_eq!(split_descriptor(&[0, 0, 0, 0, 0xFF]), Ok((vec![], &[0xFF][..])));
}

#[rstest]
#[case::nothing(&[], "truncated")]
#[case::three_bytes(&[0, 0, 0], "truncated")]
#[case::over_the_limit(&[1, 16, 0, 0], "too-many")]
#[case::wraps(&[0, 0, 0, 0x40], "too-many")]
#[case::largest(&[255, 255, 255, 255], "too-many")]
#[case::no_reference(&[1, 0, 0, 0], "truncated")]
#[case::half_a_reference(&[1, 0, 0, 0, 9, 9, 9], "truncated")]
#[case::at_the_limit_and_not_there(&[0, 16, 0, 0, 1, 2, 3, 4], "truncated")]
fn what_split_refuses_remap_refuses_before_it_asks(#[case] bytes: &[u8], #[case] reason: &str) {
    let refusal = split_descriptor(bytes).unwrap_err();
    assert_eq!((refusal.reason.name(), refusal.reference), (reason, None));
    let mut remapped = bytes.to_vec();
    assert_eq!(remap_descriptor(&mut remapped, |_| unreachable!()), Err(refusal));
    assert_eq!(remapped, bytes);
}

#[rstest]
#[case(4095, true)]
#[case(4096, true)]
#[case(4097, false)]
fn references_are_limited(#[case] count: u32, #[case] accepted: bool) {
    let refs: Vec<u32> = (1..=count).collect();
    let mut bytes = vec![42];
    let appended = append_descriptor(&mut bytes, &refs, b"body");
    let split = [&references(count), &b"body"[..]].concat();
    let split = split_descriptor(&split);
    if accepted {
        assert_eq!(appended, Ok(()));
        assert_eq!(bytes, [&[42], &references(count)[..], b"body"].concat());
        assert_eq!(split, Ok((refs, &b"body"[..])));
    } else {
        assert_eq!(
            appended.map_err(|refusal| refusal.to_string()),
            Err("descriptor: too-many".to_string())
        );
        assert_eq!(bytes, [42], "untouched");
        assert_eq!(split.map_err(|refusal| refusal.reason.name()), Err("too-many"));
    }
}

#[test]
fn references_are_rewritten_and_nothing_else() {
    let mut bytes = vec![];
    append_descriptor(&mut bytes, &[5, 0, 6, 5], &[5, 0, 0, 0, 7]).unwrap();
    let mut asked = vec![];
    remap_descriptor(&mut bytes, |reference| {
        asked.push(reference);
        Some(reference + 0x0100_0000)
    })
    .unwrap();
    assert_eq!(asked, [5, 6, 5]);
    let expected = [
        4, 0, 0, 0, 5, 0, 0, 1, 0, 0, 0, 0, 6, 0, 0, 1, 5, 0, 0, 1, 5, 0, 0, 0, 7,
    ];
    assert_eq!(bytes, expected);
}

#[rstest]
#[case::not_granted(None)]
#[case::becomes_zero(Some(0))]
fn a_reference_that_is_not_granted_is_named(#[case] replacement: Option<u32>) {
    let mut bytes = references(5);
    bytes[4..8].fill(0);
    let mut asked = vec![];
    let refusal = remap_descriptor(&mut bytes, |reference| {
        asked.push(reference);
        if reference == 3 { replacement } else { Some(reference) }
    })
    .unwrap_err();
    // 0, 2, 3, 4, 5: the 3 has index 2, the 0 is counted and not asked.
    assert_eq!(asked, [2, 3]);
    assert_eq!((refusal.reason.name(), refusal.reference), ("unknown-id", Some(2)));
    assert_eq!(refusal.to_string(), "descriptor, reference 2: unknown-id");
}
