//! Section 3: what a system's version gives.

/// A system's version, major then minor.
type Version = (u32, u32);

/// An MSL version and the first macOS, iOS (also tvOS) and visionOS that take it.
type Row = ((u8, u8), Version, Version, Option<Version>);

/// Section 3's table, in the page's order.
const ROWS: [Row; 11] = [
    ((4, 0), (26, 0), (26, 0), Some((26, 0))),
    ((3, 2), (15, 0), (18, 0), Some((2, 0))),
    ((3, 1), (14, 0), (17, 0), Some((1, 0))),
    ((3, 0), (13, 0), (16, 0), None),
    ((2, 4), (12, 0), (15, 0), None),
    ((2, 3), (11, 0), (14, 0), None),
    ((2, 2), (10, 15), (13, 0), None),
    ((2, 1), (10, 14), (12, 0), None),
    ((2, 0), (10, 13), (11, 0), None),
    ((1, 2), (10, 12), (10, 0), None),
    ((1, 1), (10, 11), (9, 0), None),
];

/// Section 3's `LanguageVersion`: the newest MSL version that the system's compiler takes, 1.0 where the system is
/// older than every row.
///
/// # Panics
///
/// If `platform` is none of `"macos"`, `"ios"`, `"tvos"`, `"visionos"`.
pub fn language_version(platform: &str, major: u32, minor: u32) -> (u8, u8) {
    ROWS.into_iter()
        .filter(|&row| first_system(row, platform).is_some_and(|first| first <= (major, minor)))
        .map(|(language, ..)| language)
        .max()
        .unwrap_or((1, 0))
}

/// Section 3's `PreserveInvariance`: whether the system's compiler has that option.
///
/// # Panics
///
/// If `platform` is none of `"macos"`, `"ios"`, `"tvos"`, `"visionos"`.
pub fn preserve_invariance(platform: &str, major: u32, minor: u32) -> bool {
    let first = match platform {
        "macos" => (11, 0),
        "ios" => (13, 0),
        "tvos" => (14, 0),
        "visionos" => (1, 0),
        _ => unknown(platform),
    };
    (major, minor) >= first
}

fn first_system((_, macos, ios, visionos): Row, platform: &str) -> Option<Version> {
    match platform {
        "macos" => Some(macos),
        "ios" | "tvos" => Some(ios),
        "visionos" => visionos,
        _ => unknown(platform),
    }
}

fn unknown(platform: &str) -> ! {
    panic!("{platform:?} is no platform of slots.md, section 3")
}
