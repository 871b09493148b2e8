//! The file of a bind case: what stands in Metal's argument tables at each draw, by `mslmap`'s numbers and by wgpu-hal's functions.
//!
//! **Catches** and **does not catch** what [`oracles::bind`] says. A case that wgpu-hal panics over is not taken: one in which a task or
//! mesh stage has an acceleration structure, or may be given another stage's.

use wgpu_types::{BindGroupLayoutEntry, BindingType, ShaderStages};

use super::case;
use crate::bind::{BindPlayer, native};
use crate::case::{BindCase, Case};
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
    if is_past_upstream(&case) {
        return false;
    }
    let compared = oracles::bind::check(&case, subject).0;
    assert_eq!(compared.parted, [], "wgpu-hal");
    true
}

/// The campaign's generator makes none of these either.
fn is_past_upstream(case: &BindCase) -> bool {
    let mesh = |entry: &BindGroupLayoutEntry| entry.visibility.intersects(ShaderStages::TASK | ShaderStages::MESH);
    let structure = |entry: &BindGroupLayoutEntry| {
        matches!(entry.ty, BindingType::AccelerationStructure { .. }) && !entry.visibility.is_empty()
    };
    let entries = || case.group_layouts.iter().flatten();
    entries().any(mesh) && entries().any(structure)
}
