//! The file of a layout case, three ways: `mslmap`, the slot model and wgpu-hal's own function.
//!
//! **Catches** what [`slots`] does. **Does not catch** what all three read wrongly, nor what naga makes of the slots: `msl` does.

use super::case;
use super::mutate::handed_over;
use crate::case::{Case, LayoutCase};
use crate::oracles::slots;
use crate::readers::layouts::LayoutReader;
use crate::readers::native::Native;
use crate::readers::slot_model::SlotModel;
use crate::readers::slot_upstream::SlotUpstream;

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, &mut Native::default())
}

/// The layout case in a case file's text.
pub(super) fn layout_case(text: &[u8]) -> Option<LayoutCase> {
    match case(text)? {
        Case::Layout(case) => Some(case),
        Case::Stream(_) | Case::Bind(_) => None,
    }
}

/// The same with another subject.
pub fn check_with(bytes: &[u8], subject: &mut dyn LayoutReader) -> bool {
    let Some(case) = handed_over(bytes) else {
        return false;
    };
    let answer = subject.answer(&case);
    let model = SlotModel.answer(&case);
    assert_eq!(slots::compare(&answer, &model).parted, [], "the slot model");
    let mut upstream = SlotUpstream::locked();
    let own = upstream.answer(&case);
    assert_eq!(upstream.compare(&case, &answer, &own).parted, [], "wgpu-hal");
    true
}
