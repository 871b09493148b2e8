//! Section 3: versions and options.

use naga::back::msl::Options;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use rstest::rstest;
use slot_model::{ExpectedOptions, expected_options, language_version, preserve_invariance};

#[rstest]
#[case("macos", &[
    (9, 9, (1, 0)), (10, 10, (1, 0)), (10, 11, (1, 1)), (10, 12, (1, 2)), (10, 13, (2, 0)), (10, 14, (2, 1)),
    (10, 15, (2, 2)), (10, 16, (2, 2)), (11, 0, (2, 3)), (11, 7, (2, 3)), (12, 0, (2, 4)), (13, 0, (3, 0)),
    (14, 0, (3, 1)), (14, 6, (3, 1)), (15, 0, (3, 2)), (25, 9, (3, 2)), (26, 0, (4, 0)), (99, 0, (4, 0)),
])]
#[case("ios", &[
    (8, 4, (1, 0)), (9, 0, (1, 1)), (10, 0, (1, 2)), (11, 0, (2, 0)), (12, 0, (2, 1)), (13, 0, (2, 2)),
    (14, 0, (2, 3)), (15, 0, (2, 4)), (16, 0, (3, 0)), (17, 0, (3, 1)), (17, 9, (3, 1)), (18, 0, (3, 2)),
    (25, 9, (3, 2)), (26, 0, (4, 0)),
])]
#[case("tvos", &[
    (8, 4, (1, 0)), (9, 0, (1, 1)), (10, 0, (1, 2)), (11, 0, (2, 0)), (12, 0, (2, 1)), (13, 0, (2, 2)),
    (14, 0, (2, 3)), (15, 0, (2, 4)), (16, 0, (3, 0)), (17, 0, (3, 1)), (18, 0, (3, 2)), (26, 0, (4, 0)),
])]
#[case("visionos", &[
    (0, 9, (1, 0)), (1, 0, (3, 1)), (1, 3, (3, 1)), (2, 0, (3, 2)), (25, 9, (3, 2)), (26, 0, (4, 0)),
])]
fn language(#[case] platform: &str, #[case] rows: &[(u32, u32, (u8, u8))]) {
    for &(major, minor, expected) in rows {
        let found = language_version(platform, major, minor);
        assert_eq!(found, expected, "{platform} {major}.{minor}");
    }
}

#[rstest]
#[case("macos", (10, 99), (11, 0))]
#[case("ios", (12, 99), (13, 0))]
#[case("tvos", (13, 99), (14, 0))]
#[case("visionos", (0, 99), (1, 0))]
fn invariance(#[case] platform: &str, #[case] last: (u32, u32), #[case] first: (u32, u32)) {
    assert!(!preserve_invariance(platform, last.0, last.1));
    assert!(preserve_invariance(platform, first.0, first.1));
}

#[test]
#[should_panic(expected = "no platform")]
fn a_misspelt_platform_is_no_old_system() {
    language_version("macOS", 26, 0);
}

#[test]
fn options_of_the_page() {
    let base = Options {
        fake_missing_bindings: false,
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Restrict,
            image_load: BoundsCheckPolicy::Restrict,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: true,
        force_loop_bounding: true,
        ..Options::default()
    };
    assert_eq!(ExpectedOptions::of(&base), expected_options());
    assert_ne!(ExpectedOptions::of(&Options::default()), expected_options());
    let other = Options {
        emit_int_div_checks: false,
        ..base
    };
    assert_ne!(ExpectedOptions::of(&other), expected_options());
}
