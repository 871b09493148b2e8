//! The steps of layout cases.

use std::num::NonZeroU32;
use std::ops::Range;

use wgpu_types::{BindGroupLayoutEntry, BindingType, BufferBindingType, ShaderStages};

use super::lower::{parts, without, words};
use super::{Candidates, Step};
use crate::case::{LayoutCase, Platform, Shader, System};

pub(super) const STEPS: &[Step<LayoutCase>] = &[
    drop_shader,
    drop_groups,
    drop_entries,
    cut_wgsl,
    drop_overrides,
    simplify_entries,
    simplify_rest,
];

fn with(case: &LayoutCase, change: impl FnOnce(&mut LayoutCase)) -> LayoutCase {
    let mut next = case.clone();
    change(&mut next);
    next
}

fn drop_shader(case: &LayoutCase) -> Candidates<'_, LayoutCase> {
    Box::new(case.shader.iter().map(|_| with(case, |next| next.shader = None)))
}

/// Groups, which moves up those behind them, and what is in them.
fn drop_groups(case: &LayoutCase) -> Candidates<'_, LayoutCase> {
    let dropped = parts(case.groups.len()).map(|part| with(case, |next| drop(next.groups.drain(part))));
    let there = case.groups.iter().enumerate().filter(|(_, group)| group.is_some());
    let absent = there.map(|(at, _)| with(case, |next| next.groups[at] = None));
    Box::new(dropped.chain(absent))
}

/// Each group with its place.
fn groups(case: &LayoutCase) -> impl Iterator<Item = (usize, &Vec<BindGroupLayoutEntry>)> {
    let numbered = case.groups.iter().enumerate();
    numbered.filter_map(|(at, group)| Some((at, group.as_ref()?)))
}

fn drop_entries(case: &LayoutCase) -> Candidates<'_, LayoutCase> {
    Box::new(groups(case).flat_map(move |(at, entries)| {
        parts(entries.len()).map(move |part| with(case, |next| next.groups[at] = Some(without(entries, part))))
    }))
}

fn simplify_entries(case: &LayoutCase) -> Candidates<'_, LayoutCase> {
    Box::new(groups(case).flat_map(move |(group, entries)| {
        let numbered = entries.iter().enumerate();
        numbered.flat_map(move |(at, entry)| {
            simpler(entry).map(move |simpler| {
                let mut entries = entries.clone();
                entries[at] = simpler;
                with(case, |next| next.groups[group] = Some(entries))
            })
        })
    }))
}

/// An entry of a lower number, that fewer stages see, of fewer elements, of less of a type.
pub(super) fn simpler(entry: &BindGroupLayoutEntry) -> impl Iterator<Item = BindGroupLayoutEntry> {
    let entry = *entry;
    let numbers = words(entry.binding).map(move |binding| BindGroupLayoutEntry { binding, ..entry });
    let stages = entry.visibility.iter().map(move |stage| BindGroupLayoutEntry {
        visibility: entry.visibility - stage,
        ..entry
    });
    let several = entry.visibility.bits().count_ones() > 1;
    let alone = several.then_some(BindGroupLayoutEntry {
        visibility: ShaderStages::COMPUTE,
        ..entry
    });
    let counts = entry.count.into_iter().flat_map(|count| words(count.get()));
    let counts = counts.map(move |count| BindGroupLayoutEntry {
        // 0 stands for no array.
        count: NonZeroU32::new(count),
        ..entry
    });
    let types = simpler_type(entry.ty).map(move |ty| BindGroupLayoutEntry { ty, ..entry });
    alone
        .into_iter()
        .chain(stages)
        .chain(counts)
        .chain(types)
        .chain(numbers)
}

/// A plain uniform buffer is the simplest.
fn simpler_type(ty: BindingType) -> impl Iterator<Item = BindingType> {
    let buffer = |ty, has_dynamic_offset| BindingType::Buffer {
        ty,
        has_dynamic_offset,
        min_binding_size: None,
    };
    let plain = buffer(BufferBindingType::Uniform, false);
    let own = match ty {
        BindingType::Buffer {
            ty, has_dynamic_offset, ..
        } => [Some(buffer(ty, false)), Some(buffer(ty, has_dynamic_offset))],
        _ => [None, None],
    };
    let is_plain = ty == plain;
    // Each is tried only where it is not what the entry has: a step goes one way.
    let rank = move |candidate: &BindingType| *candidate != ty && !is_plain;
    std::iter::once(plain).chain(own.into_iter().flatten()).filter(rank)
}

fn simplify_rest(case: &LayoutCase) -> Candidates<'_, LayoutCase> {
    let sizes = words(case.immediate_size).map(|size| with(case, |next| next.immediate_size = size));
    let pulls = case
        .vertex_pulling
        .then(|| with(case, |next| next.vertex_pulling = false));
    let newest = System {
        platform: Platform::MacOs,
        major: 26,
        minor: 0,
    };
    let newest = (case.system != newest).then(|| with(case, |next| next.system = newest));
    Box::new(sizes.chain(pulls).chain(newest))
}

fn drop_overrides(case: &LayoutCase) -> Candidates<'_, LayoutCase> {
    let overrides = case.shader.iter().flat_map(|shader| shader.overrides.keys());
    Box::new(overrides.map(move |key| with_shader(case, |shader| shader.overrides.retain(|known, _| known != key))))
}

fn with_shader(case: &LayoutCase, change: impl FnOnce(&mut Shader)) -> LayoutCase {
    with(case, |next| {
        if let Some(shader) = &mut next.shader {
            change(shader);
        }
    })
}

/// Declarations and statements of the shader, the outer ones first, and runs of them.
fn cut_wgsl(case: &LayoutCase) -> Candidates<'_, LayoutCase> {
    let wgsl = case.shader.as_ref().map_or("", |shader| shader.wgsl.as_str());
    let pieces = pieces(wgsl);
    let depths = pieces
        .iter()
        .map(|piece| piece.depth)
        .max()
        .map_or(0, |deepest| deepest + 1);
    Box::new((0..depths).flat_map(move |depth| {
        let level: Vec<Range<usize>> = pieces
            .iter()
            .filter(|piece| piece.depth == depth)
            .map(|piece| piece.range.clone())
            .collect();
        parts(level.len()).map(move |part| {
            let mut text = wgsl.to_owned();
            for piece in level[part].iter().rev() {
                text.replace_range(piece.clone(), "");
            }
            with_shader(case, |shader| shader.wgsl = text)
        })
    }))
}

/// A declaration or a statement, with the block that ends it.
#[derive(Debug, PartialEq)]
struct Piece {
    range: Range<usize>,
    depth: usize,
}

/// The pieces of WGSL that end in `;` or `}`. Comments are text like any other: a piece that is torn makes no shader, and is not taken.
fn pieces(wgsl: &str) -> Vec<Piece> {
    let (mut pieces, mut starts, mut parentheses) = (Vec::new(), vec![0], 0_usize);
    for (at, character) in wgsl.char_indices() {
        match character {
            '(' => parentheses += 1,
            ')' => parentheses = parentheses.saturating_sub(1),
            '{' => starts.push(at + 1),
            '}' if starts.len() > 1 => drop(starts.pop()),
            ';' if parentheses == 0 => {}
            _ => continue,
        }
        let depth = starts.len() - 1;
        if matches!(character, ';' | '}') {
            pieces.push(Piece {
                range: starts[depth]..at + 1,
                depth,
            });
            starts[depth] = at + 1;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wgsl_falls_into_declarations_and_statements() {
        let wgsl = "var a: u32; fn f() { for (var i = 0; i < 1; i++) { x(); } y(); }";
        let found = pieces(wgsl);
        let texts: Vec<(usize, &str)> = found
            .iter()
            .map(|piece| (piece.depth, &wgsl[piece.range.clone()]))
            .collect();
        assert_eq!(
            texts,
            [
                (0, "var a: u32;"),
                (2, " x();"),
                (1, " for (var i = 0; i < 1; i++) { x(); }"),
                (1, " y();"),
                (0, " fn f() { for (var i = 0; i < 1; i++) { x(); } y(); }"),
            ]
        );
    }
}
