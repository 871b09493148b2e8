//! Oracles for fuzz targets: what must hold for any input, without a second process or a driver. `docs/fuzzing.md` is the table of the
//! targets; `fuzz/` is their glue.
//!
//! One file a target, with what it catches and what it does not. `check` takes the target's input and panics when something does not
//! hold. It gives whether the input was one of the target's, such as a blob that is not refused whole: others are not worth keeping.
//! `check_with` is the same over an implementation that is handed in, by which `tests/fuzz_seeds.rs` plants faults.
//!
//! An input is the case itself: a blob, a descriptor, a text, or the JSON file of a case. So a crash file is a case to look at
//! ([`Target::case`]), and a seed stays what it is when a generator changes.

pub mod bind;
pub mod decode;
pub mod descriptor;
pub mod gpu_noop;
pub mod inspect;
pub mod layouts;
pub mod msl;
pub mod mutate;
pub mod ranges;
pub mod remap;
pub mod replay_js;
pub mod streams;
pub mod table;

use wire::{ArgKind, Cmd};

use crate::case::{Case, StreamCase};
use crate::findings::parse_case;
use crate::generators::faults::leaves;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name: that of its program, of its folder in `fuzz/seeds` and of its dictionary.
    pub name: &'static str,
    /// Holds an input to the oracle: panics when something does not hold, gives whether the input was one of the target's.
    pub check: fn(&[u8]) -> bool,
    /// The case that an input is, for `lockstep repro` and the corpus; none for an input that is not one of the target's.
    pub case: fn(&[u8]) -> Option<Case>,
}

/// Every target.
pub const TARGETS: [Target; 11] = [
    target("decode", decode::check, stream),
    target("streams", streams::check, stream),
    target("remap", remap::check, stream),
    target("ranges", ranges::check, stream),
    target("descriptor", descriptor::check, descriptor::case),
    target("replay_js", replay_js::check, stream),
    target("layouts", layouts::check, case),
    target("msl", msl::check, case),
    target("bind", bind::check, case),
    target("gpu_noop", gpu_noop::check, case),
    target("inspect", inspect::check, inspect::case),
];

const fn target(name: &'static str, check: fn(&[u8]) -> bool, case: fn(&[u8]) -> Option<Case>) -> Target {
    Target { name, check, case }
}

/// The case of a blob, over the table that such targets have.
fn stream(blob: &[u8]) -> Option<Case> {
    Some(Case::Stream(table::case(blob)))
}

/// The case in a case file's text.
fn case(text: &[u8]) -> Option<Case> {
    parse_case("input", text).ok().map(|file| file.case)
}

/// The stream case in a case file's text.
fn stream_case(text: &[u8]) -> Option<StreamCase> {
    match case(text)? {
        Case::Stream(case) => Some(case),
        Case::Layout(_) | Case::Bind(_) => None,
    }
}

/// The positions of the ids that are not 0 in a command of `words`, by the table of wire.md section 2 as data.
fn id_places<'a>(words: &'a [u32], cmd: &Cmd<'_>) -> impl Iterator<Item = usize> + use<'a> {
    let leaves = leaves(words, cmd.word, cmd.op).into_iter();
    let ids = leaves.filter(|(_, kind)| matches!(kind, ArgKind::Id(_) | ArgKind::OptionalId(_)));
    ids.map(|(at, _)| at).filter(|&at| words[at] != 0)
}
