//! The file of a bind case: what stands in Metal's argument tables at each draw, by `mslmap`'s numbers and by wgpu-hal's functions.
//!
//! **Catches** and **does not catch** what [`oracles::bind`] says.

use super::case;
use crate::bind::{BindPlayer, native};
use crate::case::Case;
use crate::oracles;

/// See the module.
pub fn check(bytes: &[u8]) -> bool {
    check_with(bytes, &mut native::Native::default())
}

/// The same with another subject.
pub fn check_with(bytes: &[u8], subject: &mut dyn BindPlayer) -> bool {
    let Some(Case::Bind(case)) = case(bytes) else {
        return false;
    };
    let compared = oracles::bind::check(&case, subject).0;
    assert_eq!(compared.parted, [], "wgpu-hal");
    true
}
