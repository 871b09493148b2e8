//! Versions by wgpu-hal's own choice: the values are slots.md's, section 3, written out.

use rstest::rstest;
use slot_upstream::Platform::{Ios, MacOs, TvOs, VisionOs};
use slot_upstream::{language_version, preserve_invariance, Platform, System};

#[rstest]
#[case::macos_26(MacOs, 26, 0, (4, 0), true)]
#[case::macos_next(MacOs, 27, 1, (4, 0), true)]
#[case::before_macos_26(MacOs, 25, 9, (3, 2), true)]
#[case::macos_15(MacOs, 15, 0, (3, 2), true)]
#[case::macos_14(MacOs, 14, 7, (3, 1), true)]
#[case::macos_13(MacOs, 13, 0, (3, 0), true)]
#[case::macos_12(MacOs, 12, 0, (2, 4), true)]
#[case::macos_11(MacOs, 11, 0, (2, 3), true)]
#[case::macos_10_16(MacOs, 10, 16, (2, 2), false)]
#[case::macos_10_15(MacOs, 10, 15, (2, 2), false)]
#[case::macos_10_14(MacOs, 10, 14, (2, 1), false)]
#[case::macos_10_13(MacOs, 10, 13, (2, 0), false)]
#[case::macos_10_12(MacOs, 10, 12, (1, 2), false)]
#[case::macos_10_11(MacOs, 10, 11, (1, 1), false)]
#[case::macos_10_10(MacOs, 10, 10, (1, 0), false)]
#[case::ios_26(Ios, 26, 0, (4, 0), true)]
#[case::ios_18(Ios, 18, 5, (3, 2), true)]
#[case::ios_17(Ios, 17, 0, (3, 1), true)]
#[case::ios_16(Ios, 16, 0, (3, 0), true)]
#[case::ios_15(Ios, 15, 0, (2, 4), true)]
#[case::ios_14(Ios, 14, 0, (2, 3), true)]
#[case::ios_13(Ios, 13, 0, (2, 2), true)]
#[case::ios_12(Ios, 12, 0, (2, 1), false)]
#[case::ios_11(Ios, 11, 0, (2, 0), false)]
#[case::ios_10(Ios, 10, 0, (1, 2), false)]
#[case::ios_9(Ios, 9, 0, (1, 1), false)]
#[case::ios_8(Ios, 8, 4, (1, 0), false)]
#[case::tvos_14(TvOs, 14, 0, (2, 3), true)]
#[case::tvos_13(TvOs, 13, 4, (2, 2), false)]
#[case::visionos_26(VisionOs, 26, 0, (4, 0), true)]
#[case::visionos_2(VisionOs, 2, 0, (3, 2), true)]
#[case::visionos_1(VisionOs, 1, 3, (3, 1), true)]
#[case::before_visionos_1(VisionOs, 0, 9, (1, 0), false)]
fn a_system_has_its_language_version(
    #[case] platform: Platform,
    #[case] major: u32,
    #[case] minor: u32,
    #[case] version: (u8, u8),
    #[case] invariance: bool,
) {
    let system = System { platform, major, minor };
    assert_eq!(language_version(system), version);
    assert_eq!(preserve_invariance(system), invariance);
}
