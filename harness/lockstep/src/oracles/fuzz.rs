//! Oracles for fuzz targets: what must hold for any bytes, without a second process or a GPU.
//!
//! **Catch** a panic, work past the words, Decode and Remap that disagree, a strict check that lets through what CheckRanges refuses, an
//! answer that is none of PROTOCOL.md, `mslmap` against the slot model. **Do not catch** a rule that both Decode and Remap have wrong:
//! the campaign's other readers do.

use arbitrary::Unstructured;
use wire::{Blob, Cmd, ObjectTable};

use super::slots;
use crate::case::StreamCase;
use crate::generators::streams::stream_case;
use crate::generators::{layout, raw};
use crate::readers::ask;
use crate::readers::layouts::LayoutReader;
use crate::readers::native::Native;
use crate::readers::slot_model::SlotModel;
use crate::readers::slot_upstream::SlotUpstream;
use crate::strict::{Facts, check_bundles};

/// Any bytes as a blob, with the table and the grants of a raw case. Panics when something does not hold.
pub fn blob(bytes: &[u8]) {
    let table = raw::raw_case(&mut Unstructured::new(&[]))
        .map(|made| made.case)
        .unwrap_or_default();
    check_stream(&StreamCase {
        blob: bytes.to_vec(),
        ..table
    });
}

/// Any bytes as the stream generator's choices. Panics when something does not hold.
pub fn stream(bytes: &[u8]) {
    if let Ok(made) = stream_case(&mut Unstructured::new(bytes)) {
        check_stream(&made.case);
    }
}

fn check_stream(case: &StreamCase) {
    ask::case(&mut Native::default(), case, None).expect("an answer as PROTOCOL.md has it");
    let Ok(blob) = Blob::parse(&case.blob) else { return };
    // wire.md section 3: "for a function that grants every id a nonzero replacement the two give the same answer".
    let mut words = blob.words.clone();
    let data_len = blob.data.len() as u32;
    let remapped = wire::remap(&mut words, data_len, Some);
    let decoded = wire::decode(&blob.words, data_len);
    assert_eq!(
        remapped.err(),
        decoded.as_ref().err().copied(),
        "Decode and Remap refuse alike"
    );
    assert!(
        decoded.is_err() || words == blob.words,
        "Remap under the identity changes nothing"
    );
    if let Ok(cmds) = decoded {
        check_ranges(&cmds, case);
    }
}

/// wire.md section 8: the class `range` is "everything of section 5".
fn check_ranges(cmds: &[Cmd<'_>], case: &StreamCase) {
    let facts = Facts::of(&case.objects);
    let size = |id| facts.buffer(id).map(|buffer| buffer.size);
    let ranges = wire::check_ranges(cmds.iter().copied(), size, 0).err();
    let strict = wire::check_strict(cmds.iter().copied(), &facts).err();
    if let Some(ranges) = ranges {
        let strict = strict.expect("CheckRanges refuses the stream").command;
        assert!(strict <= ranges.command, "the strict check refuses it there or before");
    }
    // A table of any shape: no more is asked than that nothing panics.
    let _ = check_bundles(&case.objects);
}

/// Any bytes as the layout generator's choices. Panics when `mslmap` parts from the slot model or from wgpu-hal's own function.
pub fn layout(bytes: &[u8]) {
    let Ok(made) = layout::layout_case(&mut Unstructured::new(bytes)) else {
        return;
    };
    let native = LayoutReader::answer(&mut Native::default(), &made.case);
    let model = SlotModel.answer(&made.case);
    assert_eq!(slots::compare(&native, &model).parted, []);
    let mut upstream = SlotUpstream::locked();
    let own = upstream.answer(&made.case);
    assert_eq!(upstream.compare(&made.case, &native, &own).parted, []);
}
