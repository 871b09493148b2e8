//! A blob through Remap under several id maps: one to one, one after the other, there and back, and one that does not grant all.
//!
//! **Catches** a word rewritten that is no id by the table of wire.md section 2 as data, or an id that is not; an id that is asked for
//! twice, out of order or at 0; two maps that do not compose; an id that gets through without a grant, and a refusal of one that has
//! it. **Does not catch** a wrong table, which `replay_js` does.

use wire::{Blob, Cmd, Reason, Refusal};

use super::id_places;

/// A Remap.
pub type Remap = fn(&mut [u32], u32, &mut dyn FnMut(u32) -> Option<u32>) -> Result<(), Refusal>;

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, |words, data_len, f| wire::remap(words, data_len, f))
}

/// A one-to-one map of the ids that are not 0.
fn turn(id: u32) -> u32 {
    id.rotate_left(7)
}

/// Another.
fn multiply(id: u32) -> u32 {
    id.wrapping_mul(0x9E37_79B1)
}

/// The same with another Remap.
pub fn check_with(bytes: &[u8], remap: Remap) -> bool {
    let Ok(Blob { words, data }) = Blob::parse(bytes) else {
        return false;
    };
    let data_len = data.len() as u32;
    let mut accepted: Vec<Cmd<'_>> = Vec::new();
    let refused = wire::commands(&words, data_len).find_map(|cmd| cmd.map(|cmd| accepted.push(cmd)).err());
    let places: Vec<usize> = accepted.iter().flat_map(|cmd| id_places(&words, cmd)).collect();
    let by = |words: &[u32], f: fn(u32) -> u32| {
        let mut rewritten = words.to_vec();
        let mut asked = Vec::new();
        let answer = remap(&mut rewritten, data_len, &mut |id| {
            asked.push(id);
            Some(f(id))
        });
        (answer.err(), rewritten, asked)
    };

    let (answer, turned, asked) = by(&words, turn);
    assert_eq!(answer, refused, "where all is granted, Remap refuses what Decode does");
    let due: Vec<u32> = places.iter().map(|&at| words[at]).collect();
    assert!(
        asked.starts_with(&due),
        "each id is asked for once, in word order: {asked:?}"
    );
    if refused.is_none() {
        assert_eq!(asked.len(), due.len(), "nothing else is asked for");
        let mut expected = words.clone();
        places.iter().for_each(|&at| expected[at] = turn(words[at]));
        assert_eq!(turned, expected, "the ids are rewritten, and nothing else");
        let both = by(&turned, multiply).1;
        assert_eq!(by(&words, |id| multiply(turn(id))).1, both, "two maps compose");
        assert_eq!(by(&turned, |id| id.rotate_right(7)).1, words, "and back");
    }
    partly(&words, data_len, &places, refused, remap);
    true
}

/// Grants some ids alone, and would make others 0.
fn partly(words: &[u32], data_len: u32, places: &[usize], refused: Option<Refusal>, remap: Remap) {
    let grant = |id: u32| match id % 32 {
        29 => None,
        30 => Some(0),
        _ => id.checked_add(32),
    };
    let is_granted = |id: u32| grant(id).is_some_and(|replacement| replacement != 0);
    let mut rewritten = words.to_vec();
    let answer = remap(&mut rewritten, data_len, &mut { grant }).err();
    let first = places.iter().copied().find(|&at| !is_granted(words[at]));
    match (first, answer) {
        (Some(at), answer) => {
            let answer = answer.map(|refusal| (refusal.word, refusal.reason));
            assert_eq!(answer, Some((at, Reason::UnknownId)), "the first id without a grant");
        }
        (None, Some(answer)) => {
            // In the command that Decode refuses, an id without a grant may come first.
            let unknown = answer.reason == Reason::UnknownId && refused.is_some() && !is_granted(words[answer.word]);
            assert!(unknown || Some(answer) == refused, "{answer}");
        }
        (None, None) => {
            assert_eq!(refused, None, "what Decode refuses is refused");
            assert!(places.iter().all(|&at| rewritten[at] == words[at] + 32), "the grants");
        }
    }
}
