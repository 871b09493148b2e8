//! What wgpu-hal's own `load_shader` makes of a shader, against what the layout's options make of it.
//!
//! **Catches** an option, a language version, a mutability or a list of runtime-sized arrays that is not wgpu-hal's, wherever it shows in
//! the MSL: the two texts must be equal byte for byte.
//!
//! **Does not catch** what changes no text. Task and mesh shaders are left out, since wgpu-hal gives their limits of the device to naga,
//! and the layout knows none; so are layouts that do not pull vertices, which wgpu-hal always does.

use slot_upstream::{Shader, ShaderRequest, load_shader};

use super::settings::{entry_points, write};
use super::{Check, Checked, Checker, Entry, EntryCheck, over_source};
use crate::case::{LayoutCase, Stage, System};
use crate::panics::caught;
use crate::readers::{native, slot_upstream::upstream_system};

/// Holds each entry point of a case's shader against wgpu-hal's own. A case without one, or without vertex pulling, gives nothing.
pub fn check(case: &LayoutCase) -> Checked {
    if !case.vertex_pulling {
        return Checked::default();
    }
    let checked = over_source(case, |checker, case| {
        let mut checked = Checked::default();
        for entry in entry_points(&checker.shader.module) {
            let mut check = EntryCheck {
                entry: &entry,
                checked: &mut checked,
            };
            check.like_upstream(checker, &case.system);
        }
        checked
    });
    // A shader that is at fault as a whole is the other checks' finding.
    checked.ok().flatten().unwrap_or_default()
}

impl EntryCheck<'_> {
    fn like_upstream(&mut self, checker: &Checker<'_>, system: &System) {
        let stages = [Stage::Vertex, Stage::Fragment, Stage::Compute];
        let Some(layout) = checker
            .layout(self.entry.stage)
            .as_ref()
            .ok()
            .filter(|_| stages.contains(&self.entry.stage))
        else {
            return;
        };
        let ours = checker.resolved(self.entry).ok().and_then(|resolved| {
            let written = write(
                &resolved,
                layout,
                checker.settings.version,
                checker.pulled(self.entry.stage),
            );
            let text = written.ok()?.ok()?.ok()?.text;
            let arrays = mslmap::runtime_array_bindings(&resolved.module).ok()?;
            Some((text, arrays))
        });
        let theirs = upstream(checker, self.entry, system);
        self.checked.count(Check::Upstream);
        match (ours, theirs) {
            (None, Err(_)) => {}
            (Some((text, arrays)), Ok(shader)) => self.compare(&text, &arrays, &shader, system),
            (Some(_), Err(why)) => self.problem(8, format!("wgpu-hal refuses it: {why}")),
            (None, Ok(_)) => self.problem(8, "wgpu-hal translates it"),
        }
    }

    fn compare(&mut self, text: &str, arrays: &[naga::ResourceBinding], shader: &Shader, system: &System) {
        if let Some((ours, theirs)) = text
            .lines()
            .zip(shader.source.lines())
            .find(|(ours, theirs)| ours != theirs)
        {
            self.problem(8, format!("`{}` is `{}` by wgpu-hal", ours.trim(), theirs.trim()));
        } else if text.len() != shader.source.len() {
            self.problem(8, "one text goes on where the other ends");
        }
        // Of an array of buffers wgpu-hal lists every element.
        let first = shader.runtime_arrays.iter().filter(|(_, element)| *element == 0);
        let theirs: Vec<_> = first.map(|(at, _)| *at).collect();
        if arrays != theirs {
            self.problem(8, format!("{arrays:?} are runtime-sized, by wgpu-hal {theirs:?}"));
        }
        let (platform, version) = native::system(system);
        let ours = (
            mslmap::language_version(platform, version),
            mslmap::preserve_invariance(platform, version),
        );
        if ours != (shader.language_version, shader.preserve_invariance) {
            let theirs = (shader.language_version, shader.preserve_invariance);
            self.problem(8, format!("version and invariance {ours:?} are {theirs:?} by wgpu-hal"));
        }
    }
}

fn upstream(checker: &Checker<'_>, entry: &Entry, system: &System) -> Result<Shader, String> {
    // wgpu-core hands entries over in binding order.
    let sorted: Vec<_> = checker
        .settings
        .groups
        .iter()
        .map(|group| group.map(mslmap::sort_entries))
        .collect();
    let groups: Vec<_> = sorted.iter().map(Option::as_deref).collect();
    let request = ShaderRequest {
        stage: entry.stage.naga(),
        entry_point: &entry.name,
        constants: &checker.constants,
        vertex_buffers: checker.pulled(entry.stage),
        groups: &groups,
        immediate_size: checker.settings.extension.immediate_size,
        system: upstream_system(system),
    };
    caught(|| load_shader(&checker.shader.module, &checker.shader.info, &request)).unwrap_or_else(Err)
}
