//! The tables of a case, as `lockstep repro` shows them: its objects, or the entries of its layout.

use std::fmt::Write as _;

use wgpu_types::{BindGroupLayoutEntry, BindingType};

use crate::case::{BufferFacts, Object, Stage, buffer_facts};
use crate::coverage::binding_name;

/// WebGPU's `GPUBufferUsage`, from bit 0.
const USAGES: [&str; 10] = [
    "map-read",
    "map-write",
    "copy-src",
    "copy-dst",
    "index",
    "vertex",
    "uniform",
    "storage",
    "indirect",
    "query-resolve",
];

/// A body is shown up to here.
const BODY: usize = 100;

/// The replayer's objects: a buffer with its size and usage, another with what it refers to and the beginning of its body.
pub(super) fn objects(objects: &[Object], text: &mut String) {
    for object in objects {
        let refs: String = object.refs.iter().map(|id| format!("#{id} ")).collect();
        let what = match buffer_facts(std::slice::from_ref(object)).first() {
            Some(BufferFacts { usage, size, .. }) => format!("{size} bytes, {}", usages(*usage)),
            None => format!("{refs}{}", beginning(&object.body)),
        };
        let line = format!("object #{:<5} {:<18} {what}", object.id, object.kind.name());
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if !objects.is_empty() {
        text.push('\n');
    }
}

/// The names of the bits, and the number of those without a name.
fn usages(usage: u32) -> String {
    let named = USAGES.iter().enumerate().filter(|(bit, _)| usage >> bit & 1 == 1);
    let mut words: Vec<String> = named.map(|(_, name)| (*name).to_owned()).collect();
    let others = usage >> USAGES.len() << USAGES.len();
    if others != 0 || usage == 0 {
        words.push(format!("usage {others:#x}"));
    }
    words.join(" ")
}

fn beginning(body: &str) -> String {
    let line = body.replace('\n', " ");
    match line.char_indices().nth(BODY) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

/// The entries of a pipeline layout, in their groups' order.
pub(super) fn entries(groups: &[Option<Vec<BindGroupLayoutEntry>>], text: &mut String) {
    for (at, group) in groups.iter().enumerate() {
        let Some(entries) = group else {
            let _ = writeln!(text, "group {at} is absent");
            continue;
        };
        for entry in entries {
            let _ = writeln!(text, "{:<7} {}", format!("g{at}b{}", entry.binding), words(entry));
        }
    }
    if !groups.is_empty() {
        text.push('\n');
    }
}

/// `uniform buffer, dynamic offset, of 3 elements; vertex compute`.
fn words(entry: &BindGroupLayoutEntry) -> String {
    let mut words = binding_name(&entry.ty).to_owned();
    if let BindingType::Buffer {
        has_dynamic_offset,
        min_binding_size,
        ..
    } = entry.ty
    {
        words += if has_dynamic_offset { ", dynamic offset" } else { "" };
        words += &min_binding_size.map_or(String::new(), |size| format!(", at least {size} bytes"));
    }
    words += &entry
        .count
        .map_or(String::new(), |count| format!(", an array of {count}"));
    let seen = Stage::ALL
        .into_iter()
        .filter(|stage| entry.visibility.contains(stage.visibility()));
    let seen: Vec<&str> = seen.map(Stage::name).collect();
    match seen.is_empty() {
        true => words + "; seen by no stage",
        false => words + "; " + &seen.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usages_have_webgpu_s_names() {
        assert_eq!(usages(0x1 | 0x8 | 0x100), "map-read copy-dst indirect");
        assert_eq!(usages(0x400), "usage 0x400");
        assert_eq!(usages(0), "usage 0x0");
    }

    #[test]
    fn objects_are_shown_with_what_matters_of_them() {
        let object = |id, kind, refs: &[u32], body: &str| Object {
            id,
            kind,
            refs: refs.to_vec(),
            body: body.into(),
        };
        let table = [
            object(1, wire::Kind::Buffer, &[], "{\"size\":16,\"usage\":12}"),
            object(2, wire::Kind::TextureView, &[7], "{}"),
        ];
        let mut text = String::new();
        objects(&table, &mut text);
        let lines: Vec<&str> = text.lines().collect();
        let due = [
            "object #1     buffer             16 bytes, copy-src copy-dst",
            "object #2     texture view       #7 {}",
            "",
        ];
        assert_eq!(lines, due);
    }
}
