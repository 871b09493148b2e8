//! A file's report as text: a line for the file, a table for each entry point, then what is to be said of it.

use comfy_table::{CellAlignment, Table, presets};
use console::Style;

use super::{EntryPointReport, Fault, FileReport, SizeField, SizeOf};
use crate::say;

/// The longest report of naga's that is shown: it repeats the line, and a line may be the whole file.
const SHOWN: usize = 2000;

/// What a line is, for its colour.
enum Line {
    Head(String),
    Plain(String),
    Problem(String),
}

/// The text, in colour or plain; nothing in it is obeyed by a terminal but the colours.
pub fn text(report: &FileReport, color: bool) -> String {
    let style = |line| match line {
        Line::Head(text) => (Style::new().bold(), text),
        Line::Plain(text) => (Style::new(), text),
        Line::Problem(text) => (Style::new().red(), text),
    };
    let lines = lines(report).into_iter().map(style);
    let lines = lines.map(|(style, text)| format!("{}\n", style.force_styling(color).apply_to(say::printable(&text))));
    lines.collect()
}

fn lines(report: &FileReport) -> Vec<Line> {
    let FileReport { path, entry_points, .. } = report;
    if let Some(fault) = &report.fault {
        return fault_lines(path, fault);
    }
    let count = match entry_points.len() {
        0 => "no entry points".to_owned(),
        count => counted(count, "entry point"),
    };
    let mut lines = vec![Line::Head(format!("{path}: {count}"))];
    for (key, value) in &report.assumed_overrides {
        let text = format!("  override `{key}` has no value: {value} is taken; --override {key}=VALUE gives one");
        lines.push(Line::Plain(text));
    }
    for name in &report.without_stage {
        let text = format!("  `{name}` is not checked: wgpu's Metal backend does not have its stage");
        lines.push(Line::Plain(text));
    }
    entry_points.iter().for_each(|entry| entry_lines(&mut lines, entry));
    lines
}

/// As compilers have it, so that editors find the place.
fn fault_lines(path: &str, fault: &Fault) -> Vec<Line> {
    let numbers = [fault.line, fault.column].into_iter().flatten();
    let place: String = numbers.map(|number| format!(":{number}")).collect();
    let mut lines = vec![Line::Problem(format!(
        "{path}{place}: {}",
        say::one_line(&fault.message)
    ))];
    let report = fault.report.iter().filter(|report| report.len() <= SHOWN);
    lines.extend(
        report
            .flat_map(|report| report.trim_end().lines())
            .map(|line| Line::Plain(format!("  {line}"))),
    );
    lines
}

fn entry_lines(lines: &mut Vec<Line>, entry: &EntryPointReport) {
    lines.push(Line::Plain(format!("  {} {}", entry.stage.name(), entry.name)));
    if let Some(why) = &entry.own_layout {
        lines.push(Line::Plain(format!("    has a layout of its own: {why}")));
    }
    let table = table(entry);
    lines.extend(
        table
            .lines()
            .map(|line| Line::Plain(format!("    {}", line.trim_end()))),
    );
    if let Some(sizes) = entry.buffer_sizes.as_ref().filter(|sizes| !sizes.fields.is_empty()) {
        let fields: Vec<_> = sizes.fields.iter().map(size_words).collect();
        lines.push(Line::Plain(format!("    _buffer_sizes: {}", fields.join(", "))));
    }
    if let Some(why) = &entry.refused {
        lines.push(Line::Problem(format!("    PROBLEM {}", say::one_line(why))));
    }
    if let Some(why) = &entry.unchecked {
        lines.push(Line::Plain(format!(
            "    not held against slots.md section 4: {}",
            say::one_line(why)
        )));
    }
    for past in &entry.past_limits {
        lines.push(Line::Problem(format!("    PROBLEM Metal refuses {past}")));
    }
    for found in &entry.differences {
        let detail = say::one_line(&found.detail);
        lines.push(Line::Problem(format!(
            "    PROBLEM property {}: {detail}",
            found.property
        )));
    }
}

/// A row for each slot that the entry point's function has an argument for, or that is kept for one; no text where there is none.
fn table(entry: &EntryPointReport) -> String {
    let mut rows = Vec::new();
    for binding in &entry.bindings {
        let place = [binding.group.to_string(), binding.binding.to_string()];
        let words = [binding.variable.clone(), binding.ty.clone(), binding.access.to_owned()];
        let row = |table: &str, slot: String| [&place[..], &words[..], &[table.to_owned(), slot]].concat();
        match binding.slots.is_empty() {
            true => rows.push(row("none", String::new())),
            false => rows.extend(binding.slots.iter().map(|at| {
                let part = at.part.map_or(String::new(), |part| format!(" ({part})"));
                row(&format!("{}{part}", at.table), at.slot.to_string())
            })),
        }
    }
    let beside = |variable: &str, ty: String, slot: Option<u32>| {
        let (table, slot) = slot.map_or(("none", String::new()), |slot| ("buffer", slot.to_string()));
        ["", "", variable, &ty, "read-only", table, &slot]
            .map(str::to_owned)
            .to_vec()
    };
    if let Some(immediates) = &entry.immediates {
        let unused = if immediates.used { "" } else { ", not used" };
        let ty = format!("immediates of {} bytes{unused}", immediates.size);
        let variable = immediates.variable.as_deref().unwrap_or_default();
        rows.push(beside(variable, ty, immediates.slot.map(u32::from)));
    }
    if let Some(sizes) = &entry.buffer_sizes {
        let ty = if sizes.used {
            "sizes of buffers"
        } else {
            "sizes of buffers, not used"
        };
        rows.push(beside("_buffer_sizes", ty.to_owned(), Some(sizes.slot.into())));
    }
    if entry.vertex_buffer_slot.is_some() {
        rows.push(beside("", "vertex buffer".to_owned(), entry.vertex_buffer_slot));
    }
    if rows.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).add_rows(rows);
    table.set_header(["group", "binding", "variable", "type", "access", "table", "slot"]);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
        if [0, 1, 6].contains(&column.index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

fn size_words(size: &SizeField) -> String {
    match &size.of {
        SizeOf::Binding {
            group,
            binding,
            variable,
        } => {
            format!("{} of `{variable}` ({group}/{binding})", size.field)
        }
        SizeOf::VertexBuffer { vertex_buffer_slot } => format!("{} of vertex buffer {vertex_buffer_slot}", size.field),
    }
}

/// A number with its noun.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
