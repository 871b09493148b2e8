//! The file of a layout case with a shader: naga's MSL against the layout's slots, and against the text that wgpu-hal has naga write.
//!
//! **Catches** what [`crate::oracles::msl`] does. WGSL that naga does not take is no input of this target. **Does not catch** what only Metal's
//! compiler says.

use super::layouts::layout_case;
use crate::case::LayoutCase;
use crate::deep;
use crate::oracles::msl::{self, Checked};
use crate::pipeline::Shader;

/// The check of a case with a shader.
pub type Check = fn(&LayoutCase) -> Checked;

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, |case| {
        let mut checked = msl::check(case);
        checked.add(msl::upstream::check(case));
        checked
    })
}

/// The same with another check.
pub fn check_with(bytes: &[u8], check: Check) -> bool {
    let Some(case) = layout_case(bytes) else {
        return false;
    };
    let Some(wgsl) = case.shader.as_ref().map(|shader| shader.wgsl.clone()) else {
        return false;
    };
    if deep::run(wgsl.len(), move || Shader::new(&wgsl, "wgsl").is_err()) != Ok(false) {
        return false;
    }
    assert_eq!(check(&case).problems, []);
    true
}
