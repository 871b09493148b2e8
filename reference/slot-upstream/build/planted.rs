//! Copies of wgpu-hal with one rule changed, for tests that must tell them from the right one.

use crate::extract::Package;

/// One rule, and what to write for it instead.
pub struct Rule {
    /// Name of the module and of the file.
    pub name: &'static str,
    /// Text of device.rs, each there exactly once, and what stands for it.
    changes: &'static [(&'static str, &'static str)],
}

/// The rules that are changed.
pub const RULES: &[Rule] = &[
    Rule {
        name: "samplers_with_textures",
        changes: &[
            ("info.counters.samplers as _,", "info.counters.textures as _,"),
            ("info.counters.samplers += 1;", "info.counters.textures += 1;"),
        ],
    },
    Rule {
        name: "groups_in_reverse",
        changes: &[(
            "desc.bind_group_layouts.iter().enumerate()",
            "desc.bind_group_layouts.iter().enumerate().rev()",
        )],
    },
    Rule {
        name: "sizes_slot_first",
        changes: &[
            (
                "// Second, place the described resources",
                "for info in stage_data.iter_mut() {
                    let entries = desc.bind_group_layouts.iter().flatten().flat_map(|bgl| bgl.entries.iter());
                    let mut seen = entries.filter(|entry| entry.visibility.contains(map_naga_stage(info.stage)));
                    let storage = seen.any(|entry| {
                        let wgt::BindingType::Buffer { ty, .. } = entry.ty else { return false };
                        matches!(ty, wgt::BufferBindingType::Storage { .. })
                    });
                    if storage || info.stage == naga::ShaderStage::Vertex {
                        info.sizes_buffer = Some(info.counters.buffers);
                        info.counters.buffers += 1;
                    }
                }",
            ),
            (
                "if info.need_sizes_buffer || info.stage == naga::ShaderStage::Vertex {",
                "if false {",
            ),
        ],
    },
];

/// A copy of the package with the rule changed.
///
/// # Errors
///
/// One line, when a text to change is not there exactly once.
pub fn change(package: &Package, rule: &Rule) -> Result<Package, String> {
    let mut changed = package.clone();
    let file = "src/metal/device.rs";
    let text = changed.files.entry(file).or_default();
    for (from, to) in rule.changes {
        if text.matches(from).count() != 1 {
            return Err(format!(
                "to plant {}, `{from}` must be in {file} of wgpu-hal {} exactly once: correct \
                 reference/slot-upstream/build/planted.rs",
                rule.name, package.version
            ));
        }
        *text = text.replace(from, to);
    }
    Ok(changed)
}
