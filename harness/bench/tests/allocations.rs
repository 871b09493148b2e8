//! Decode as an iterator, Remap and CheckRanges allocate nothing.

use allocation_counter::measure;
use lockstep_bench::hot::{self, Map};
use lockstep_bench::streams::{DATA_LEN, generated};

#[test]
fn the_three_allocate_nothing() {
    for kind in ["render", "compute", "upload", "refused"] {
        let mut stream = generated(kind, 64 << 10);
        let map = Map::of(&stream);
        let cmds: Vec<_> = wire::commands(&stream.words, DATA_LEN).map_while(Result::ok).collect();
        assert!(cmds.len() >= stream.commands - 1, "{kind}");
        assert_eq!(
            measure(|| assert!(hot::check_ranges(&cmds, &map))).count_total,
            0,
            "{kind}"
        );

        let accepted = kind != "refused";
        let decode = measure(|| assert_eq!(hot::decode(&stream.words).is_ok(), accepted));
        assert_eq!(decode.count_total, 0, "{kind}");
        let remap = measure(|| assert_eq!(hot::remap(&mut stream.words, &map).is_ok(), accepted));
        assert_eq!(remap.count_total, 0, "{kind}");
    }
}

/// A count that says nothing of its subject would be 0 too.
#[test]
fn an_allocation_is_counted() {
    let words = generated("compute", 4 << 10).words;
    assert!(measure(|| assert!(wire::decode(&words, DATA_LEN).is_ok())).count_total > 0);
}
