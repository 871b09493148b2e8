//! Language versions: every row of the table, and the system just below each, on every platform.

use mslmap::{OsVersion, Platform, compile_language_version, language_version, preserve_invariance};
use rstest::rstest;

const NEWEST: u32 = u32::MAX;

fn os(major: u32, minor: u32) -> OsVersion {
    OsVersion { major, minor, patch: 0 }
}

/// A system's major and minor version, and the language version that it compiles.
type Answer = (u32, u32, (u8, u8));

const MACOS: &[Answer] = &[
    (NEWEST, NEWEST, (4, 0)),
    (26, 1, (4, 0)),
    (26, 0, (4, 0)),
    (25, NEWEST, (3, 2)),
    (15, 0, (3, 2)),
    (14, NEWEST, (3, 1)),
    (14, 0, (3, 1)),
    (13, NEWEST, (3, 0)),
    (13, 0, (3, 0)),
    (12, NEWEST, (2, 4)),
    (12, 0, (2, 4)),
    (11, NEWEST, (2, 3)),
    (11, 0, (2, 3)),
    (10, NEWEST, (2, 2)),
    (10, 16, (2, 2)),
    (10, 15, (2, 2)),
    (10, 14, (2, 1)),
    (10, 13, (2, 0)),
    (10, 12, (1, 2)),
    (10, 11, (1, 1)),
    (10, 10, (1, 0)),
    (9, NEWEST, (1, 0)),
    (0, 0, (1, 0)),
];

const IOS_AND_TVOS: &[Answer] = &[
    (NEWEST, NEWEST, (4, 0)),
    (26, 0, (4, 0)),
    (25, NEWEST, (3, 2)),
    (18, 0, (3, 2)),
    (17, NEWEST, (3, 1)),
    (17, 0, (3, 1)),
    (16, NEWEST, (3, 0)),
    (16, 0, (3, 0)),
    (15, NEWEST, (2, 4)),
    (15, 0, (2, 4)),
    (14, NEWEST, (2, 3)),
    (14, 0, (2, 3)),
    (13, NEWEST, (2, 2)),
    (13, 0, (2, 2)),
    (12, NEWEST, (2, 1)),
    (12, 0, (2, 1)),
    (11, NEWEST, (2, 0)),
    (11, 0, (2, 0)),
    (10, NEWEST, (1, 2)),
    (10, 0, (1, 2)),
    (9, NEWEST, (1, 1)),
    (9, 0, (1, 1)),
    (8, NEWEST, (1, 0)),
    (0, 0, (1, 0)),
];

const VISIONOS: &[Answer] = &[
    (NEWEST, NEWEST, (4, 0)),
    (26, 0, (4, 0)),
    (25, NEWEST, (3, 2)),
    (2, 0, (3, 2)),
    (1, NEWEST, (3, 1)),
    (1, 0, (3, 1)),
    (0, NEWEST, (1, 0)),
    (0, 0, (1, 0)),
];

#[rstest]
#[case(Platform::MacOs, MACOS)]
#[case(Platform::Ios, IOS_AND_TVOS)]
#[case(Platform::TvOs, IOS_AND_TVOS)]
#[case(Platform::VisionOs, VISIONOS)]
fn the_newest_version_that_a_system_compiles(#[case] platform: Platform, #[case] answers: &[Answer]) {
    for &(major, minor, version) in answers {
        for patch in [0, 7, NEWEST] {
            let found = language_version(platform, OsVersion { major, minor, patch });
            assert_eq!(found, version, "{platform:?} {major}.{minor}.{patch}");
        }
    }
}

#[rstest]
#[case((1, 0), 0x10000)]
#[case((1, 1), 0x10001)]
#[case((2, 4), 0x20004)]
#[case((3, 2), 0x30002)]
#[case((4, 0), 0x40000)]
#[case((255, 255), 0xff_00ff)]
fn the_compilers_version(#[case] version: (u8, u8), #[case] value: u64) {
    assert_eq!(compile_language_version(version), value);
}

#[rstest]
#[case(Platform::MacOs, os(11, 0), os(10, NEWEST))]
#[case(Platform::Ios, os(13, 0), os(12, NEWEST))]
#[case(Platform::TvOs, os(14, 0), os(13, NEWEST))]
#[case(Platform::VisionOs, os(1, 0), os(0, NEWEST))]
fn invariance_is_kept_from_a_version_on(
    #[case] platform: Platform,
    #[case] first: OsVersion,
    #[case] before: OsVersion,
) {
    assert!(preserve_invariance(platform, first));
    assert!(preserve_invariance(platform, os(NEWEST, NEWEST)));
    assert!(!preserve_invariance(platform, before));
    assert!(!preserve_invariance(platform, os(0, 0)));
}
