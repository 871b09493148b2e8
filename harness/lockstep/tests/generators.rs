//! Cases follow from lane, seed and index alone, and are what their lane promises.

use lockstep::case::{Case, Origin, StreamCase};
use lockstep::generators::{self, Lane};
use lockstep::gpu::engine::{self, Request};

fn case(lane: Lane, seed: u64, index: u64) -> generators::Made<Case> {
    let origin = Origin {
        lane: lane.name().into(),
        seed,
        index,
    };
    generators::case(&origin).unwrap_or_else(|| panic!("no case {lane:?} {seed} {index}"))
}

/// The lanes that follow from a seed; the edges are a table, and `tests/edges.rs` holds them.
fn random_lanes() -> impl Iterator<Item = Lane> {
    Lane::ALL.into_iter().filter(|lane| *lane != Lane::Edges)
}

/// FNV-1a over the JSON of a lane's first cases.
fn fingerprint(lane: Lane) -> u64 {
    let text = |index| serde_json::to_string(&case(lane, 7, index).case).expect("JSON");
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    (0..200)
        .flat_map(|index| text(index).into_bytes())
        .fold(0xCBF2_9CE4_8422_2325, hash)
}

/// "The same seed gives the same cases on another machine": these figures stand here so that another machine can differ from them.
/// A change to a generator changes them, and so does one to the order in which it reads its bytes; then they are written anew.
#[test]
fn the_same_seed_gives_the_same_cases_anywhere() {
    let figures: Vec<String> = random_lanes()
        .map(|lane| format!("{} {:016x}", lane.name(), fingerprint(lane)))
        .collect();
    insta::assert_snapshot!(figures.join("\n"));
}

#[test]
fn other_seeds_and_indices_give_other_cases() {
    for lane in random_lanes() {
        assert_ne!(case(lane, 1, 0).case, case(lane, 2, 0).case, "{}", lane.name());
        assert_ne!(case(lane, 1, 0).case, case(lane, 1, 1).case, "{}", lane.name());
    }
}

/// A replay case is one that Remap accepts and that so comes to a device; its faults are a range's or a device's.
#[test]
fn every_replay_case_comes_to_the_device() {
    for index in 0..4000 {
        let made = case(Lane::Replays, 3, index);
        let Case::Stream(stream) = made.case else {
            panic!("a stream")
        };
        host_words(&stream);
    }
}

/// Valid by construction first, so that a GPU error means something.
#[test]
fn a_replay_case_without_a_fault_raises_nothing() {
    let mut noop = engine::open("wgpu:noop").expect("the noop backend is always there");
    let mut replayed = 0;
    for index in 0..4000 {
        let made = case(Lane::Replays, 11, index);
        let Case::Stream(stream) = made.case else {
            panic!("a stream")
        };
        if !made.faults.is_empty() {
            continue;
        }
        let (words, data) = host_words(&stream);
        let (objects, window) = (&stream.objects, stream.window);
        let request = Request {
            objects,
            words: &words,
            data: &data,
            stop_after: None,
            reads: &[],
            window,
        };
        assert_eq!(noop.replay(&request).trouble, None, "replays:11:{index}");
        replayed += 1;
    }
    assert!(replayed > 1500, "{replayed} without a fault");
}

/// The stream's words in the replayer's ids, and its data.
fn host_words(stream: &StreamCase) -> (Vec<u32>, Vec<u8>) {
    let mut blob = wire::Blob::parse(&stream.blob).expect("a whole blob");
    let granted = |guest| {
        let at = stream.id_map.binary_search_by_key(&guest, |entry| entry.0).ok()?;
        Some(stream.id_map[at].1)
    };
    let remapped = wire::remap(&mut blob.words, blob.data.len() as u32, granted);
    assert_eq!(remapped, Ok(()));
    (blob.words, blob.data.to_vec())
}

#[test]
fn cases_without_a_fault_are_common_and_every_case_survives_its_file() {
    for lane in random_lanes() {
        let made: Vec<_> = (0..400).map(|index| case(lane, 5, index)).collect();
        let clean = made.iter().filter(|made| made.faults.is_empty()).count();
        assert!(
            lane == Lane::Raw || clean >= 100,
            "{}: {clean} of 400 without a fault",
            lane.name()
        );
        for made in made {
            assert_eq!(made.case.check(), Ok(()));
            let text = serde_json::to_string(&made.case).expect("JSON");
            assert_eq!(serde_json::from_str::<Case>(&text).expect("the same case"), made.case);
        }
    }
}

#[test]
fn no_bytes_at_all_still_make_a_case() {
    let empty = || arbitrary::Unstructured::new(&[]);
    assert!(generators::streams::stream_case(&mut empty()).is_ok());
    assert!(generators::streams::replay_case(&mut empty()).is_ok());
    assert!(generators::raw::raw_case(&mut empty()).is_ok());
    assert!(generators::layout::layout_case(&mut empty()).is_ok());
    assert!(generators::bind::bind_case(&mut empty()).is_ok());
    assert!(generators::wgsl::shader_case(&mut empty()).is_ok());
}
