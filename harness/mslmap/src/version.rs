//! Which version of the Metal Shading Language a system compiles.

/// The Apple operating system that a Metal device runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Platform {
    /// macOS.
    MacOs,
    /// iOS, and iPadOS with it.
    Ios,
    /// tvOS.
    TvOs,
    /// visionOS.
    VisionOs,
}

/// An operating system version, as `NSProcessInfo.operatingSystemVersion` reports it. The patch number decides nothing here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OsVersion {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
    /// The patch version.
    pub patch: u32,
}

/// A system's major and minor version, which compare in that order.
type Since = (u32, u32);

/// The first systems whose compiler takes a language version.
struct Row {
    macos: Since,
    ios_tvos: Since,
    visionos: Since,
    msl: (u8, u8),
}

/// The oldest version, which every system takes.
const OLDEST: (u8, u8) = (1, 0);

/// The first visionOS there was, which takes every language version up to 3.1.
const VISIONOS_1: Since = (1, 0);

/// The table of section 3 of the spec, newest first.
#[rustfmt::skip]
const ROWS: [Row; 11] = [
    Row { macos: (26, 0), ios_tvos: (26, 0), visionos: (26, 0), msl: (4, 0) },
    Row { macos: (15, 0), ios_tvos: (18, 0), visionos: (2, 0), msl: (3, 2) },
    Row { macos: (14, 0), ios_tvos: (17, 0), visionos: VISIONOS_1, msl: (3, 1) },
    Row { macos: (13, 0), ios_tvos: (16, 0), visionos: VISIONOS_1, msl: (3, 0) },
    Row { macos: (12, 0), ios_tvos: (15, 0), visionos: VISIONOS_1, msl: (2, 4) },
    Row { macos: (11, 0), ios_tvos: (14, 0), visionos: VISIONOS_1, msl: (2, 3) },
    Row { macos: (10, 15), ios_tvos: (13, 0), visionos: VISIONOS_1, msl: (2, 2) },
    Row { macos: (10, 14), ios_tvos: (12, 0), visionos: VISIONOS_1, msl: (2, 1) },
    Row { macos: (10, 13), ios_tvos: (11, 0), visionos: VISIONOS_1, msl: (2, 0) },
    Row { macos: (10, 12), ios_tvos: (10, 0), visionos: VISIONOS_1, msl: (1, 2) },
    Row { macos: (10, 11), ios_tvos: (9, 0), visionos: VISIONOS_1, msl: (1, 1) },
];

impl Row {
    fn since(&self, platform: Platform) -> Since {
        match platform {
            Platform::MacOs => self.macos,
            Platform::Ios | Platform::TvOs => self.ios_tvos,
            Platform::VisionOs => self.visionos,
        }
    }
}

/// The newest language version, major and minor, that the Metal compiler of a system takes; 1.0 for a system older than the
/// whole table.
///
/// Shaders are written for it ([`Options::lang_version`](naga::back::msl::Options::lang_version)) and compiled at it
/// ([`compile_language_version`]): naga refuses a feature that needs a newer one instead of raising it.
///
/// Source: section 3 of the spec (`PrivateCapabilities::new`, `msl_version`).
pub fn language_version(platform: Platform, os: OsVersion) -> (u8, u8) {
    ROWS.iter()
        .find(|row| is_at_least(os, row.since(platform)))
        .map_or(OLDEST, |row| row.msl)
}

/// The `MTLLanguageVersion` value of a language version, for `MTLCompileOptions.languageVersion`: the major version in the
/// high 16 bits of 32 and the minor in the low ones, so that 2.4 is 0x20004. Source: section 3 of the spec.
pub fn compile_language_version(version: (u8, u8)) -> u64 {
    u64::from(version.0) << 16 | u64::from(version.1)
}

/// Whether wgpu-hal sets `MTLCompileOptions.preserveInvariance` on a system, which makes `@invariant` outputs come out the
/// same in every pipeline.
///
/// Source: section 3 of the spec (`load_shader`, whose tvOS version differs from its iOS version).
pub fn preserve_invariance(platform: Platform, os: OsVersion) -> bool {
    let since = match platform {
        Platform::MacOs => (11, 0),
        Platform::Ios => (13, 0),
        Platform::TvOs => (14, 0),
        Platform::VisionOs => VISIONOS_1,
    };
    is_at_least(os, since)
}

fn is_at_least(os: OsVersion, since: Since) -> bool {
    (os.major, os.minor) >= since
}
