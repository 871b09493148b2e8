//! What changed from wgpu-hal 29.0.4 to 30.0.2: the whole table, written out.

use slot_upstream::drift::drift;
use slot_upstream::{v29, v30, UPSTREAMS};

#[test]
fn both_releases_are_there_newest_first() {
    let versions: Vec<_> = UPSTREAMS.iter().map(|upstream| upstream.version).collect();
    assert_eq!(versions, ["30.0.2", "29.0.4"]);
}

#[test]
fn a_release_does_not_drift_from_itself() {
    assert_eq!(drift(&v29::UPSTREAM, &v29::UPSTREAM), []);
    assert_eq!(drift(&v30::UPSTREAM, &v30::UPSTREAM), []);
}

#[test]
fn the_drift_from_29_to_30() {
    let found = drift(&v29::UPSTREAM, &v30::UPSTREAM);
    let found: Vec<_> = found.iter().map(|row| (&*row.what, &*row.older, &*row.newer)).collect();
    assert_eq!(
        found,
        [
            ("MacOs 26.0: language version", "(3, 2)", "(4, 0)"),
            ("MacOs 27.0: language version", "(3, 2)", "(4, 0)"),
            ("Ios 26.0: language version", "(3, 2)", "(4, 0)"),
            ("Ios 27.0: language version", "(3, 2)", "(4, 0)"),
            ("TvOs 26.0: language version", "(3, 2)", "(4, 0)"),
            ("TvOs 27.0: language version", "(3, 2)", "(4, 0)"),
            ("VisionOs 26.0: language version", "(3, 2)", "(4, 0)"),
            ("VisionOs 27.0: language version", "(3, 2)", "(4, 0)"),
            (
                "layout of an array of storage buffers: length of group 0 binding 0",
                "none",
                "2"
            ),
            ("layout of 32 buffers", "refuses it: OutOfMemory", "takes it"),
            ("layout of 129 textures", "refuses it: OutOfMemory", "takes it"),
            ("layout of 17 samplers", "refuses it: OutOfMemory", "takes it"),
            (
                "bind of plain resources for a draw: Vertex, buffer 14",
                "Buffer { id: 91, offset: 4 }",
                "none"
            ),
            (
                "bind of plain resources for a draw: Vertex, buffer 15",
                "Buffer { id: 90, offset: 4 }",
                "none"
            ),
            (
                "bind of plain resources for a draw: Vertex, buffer 29",
                "none",
                "Buffer { id: 91, offset: 4 }"
            ),
            (
                "bind of plain resources for a draw: Vertex, buffer 30",
                "none",
                "Buffer { id: 90, offset: 4 }"
            ),
            (
                "bind of an array of storage buffers",
                "panics: internal error: entered unreachable code",
                "takes it"
            ),
        ]
    );
}
