//! Mutates a layout case: a group or an entry dropped, doubled, moved or put in, something of an entry, of the extension or of the system.
//!
//! Reading the file again would cost more than the oracle, and half of the coverage would be the reader's. So what was made last is handed
//! over as it is, to the target and to the next mutation of it.

use std::cell::RefCell;

use arbitrary::{Result, Unstructured};
use wgpu_types::{BindGroupLayoutEntry, ShaderStages};

use super::super::layouts::layout_case;
use super::case::{EDGES, FRESH};
use super::choices;
use crate::case::{Case, CaseFile, LayoutCase};
use crate::generators::layout::{self, Group};
use crate::generators::{below, once_in};

thread_local! {
    static LAST: RefCell<Option<(Vec<u8>, LayoutCase)>> = const { RefCell::new(None) };
}

/// The layout case in a case file's text; that of the file that was made last without reading it.
pub fn handed_over(text: &[u8]) -> Option<LayoutCase> {
    let last = LAST.with_borrow(|last| {
        let (made, case) = last.as_ref()?;
        (made == text).then(|| case.clone())
    });
    last.or_else(|| layout_case(text))
}

/// Entries of all groups together that most cases have at most: what goes wrong shows with few, and few are fast.
const FEW: usize = 6;

/// The case's file with one to three things changed, or a fresh one.
pub fn mutated(bytes: &[u8], u: &mut Unstructured<'_>) -> Option<Vec<u8>> {
    let mut case = match handed_over(bytes) {
        Some(case) if !once_in(u, 16).ok()? => case,
        _ => {
            let choices: [u8; FRESH] = choices(u.arbitrary().ok()?);
            layout::layout_case(&mut Unstructured::new(&choices)).ok()?.case
        }
    };
    for _ in 0..1 + below(u, 3).ok()? {
        change(&mut case, u).ok()?;
    }
    if !once_in(u, 16).ok()? {
        cut(&mut case.groups, u).ok()?;
    }
    let file = CaseFile::of(Case::Layout(case));
    let made = serde_json::to_vec(&file).ok()?;
    if let Case::Layout(case) = file.case {
        LAST.set(Some((made.clone(), case)));
    }
    Some(made)
}

fn change(case: &mut LayoutCase, u: &mut Unstructured<'_>) -> Result<()> {
    match below(u, 8)? {
        0 => case.system = layout::system(u, 0)?,
        1 => match once_in(u, 2)? {
            true => case.vertex_pulling = !case.vertex_pulling,
            false => case.immediate_size = *u.choose(&EDGES)?,
        },
        2 => items(&mut case.groups, u, |_| Ok(Some(Vec::new())))?,
        _ => {
            let at = below(u, case.groups.len() as u32)? as usize;
            if let Some(group) = case.groups.get_mut(at) {
                change_group(group, u)?;
            }
        }
    }
    Ok(())
}

fn change_group(group: &mut Group, u: &mut Unstructured<'_>) -> Result<()> {
    let Some(entries) = group else {
        *group = Some(Vec::new());
        return Ok(());
    };
    if once_in(u, 16)? {
        *group = None;
    } else if entries.is_empty() || once_in(u, 3)? {
        items(entries, u, |u| layout::entry(u, true))?;
    } else {
        let at = below(u, entries.len() as u32)? as usize;
        change_entry(&mut entries[at], u)?;
    }
    Ok(())
}

fn change_entry(entry: &mut BindGroupLayoutEntry, u: &mut Unstructured<'_>) -> Result<()> {
    match below(u, 4)? {
        0 => entry.binding = *u.choose(&EDGES)?,
        1 => entry.binding = below(u, 8)?,
        2 => entry.visibility = ShaderStages::from_bits_retain(below(u, 32)?),
        _ => {
            let other = layout::entry(u, true)?;
            (entry.ty, entry.count) = (other.ty, other.count);
        }
    }
    Ok(())
}

/// Drops entries until there are few.
fn cut(groups: &mut [Group], u: &mut Unstructured<'_>) -> Result<()> {
    let entries = groups.iter().flatten().map(Vec::len).sum::<usize>();
    for left in (FEW + 1..=entries).rev() {
        let mut at = below(u, left as u32)? as usize;
        for group in groups.iter_mut().flatten() {
            if at < group.len() {
                group.remove(at);
                break;
            }
            at -= group.len();
        }
    }
    Ok(())
}

/// A list with an item dropped, doubled, moved, in another's place or put in.
fn items<T: Clone>(
    list: &mut Vec<T>,
    u: &mut Unstructured<'_>,
    fresh: impl FnOnce(&mut Unstructured<'_>) -> Result<T>,
) -> Result<()> {
    let [a, b] = [
        below(u, list.len() as u32)? as usize,
        below(u, list.len() as u32)? as usize,
    ];
    match below(u, 6)? {
        _ if list.is_empty() => list.push(fresh(u)?),
        0 | 1 => drop(list.remove(a)),
        2 => list.insert(b, list[a].clone()),
        3 => list.swap(a, b),
        4 => list[b] = list[a].clone(),
        _ => list.insert(b, fresh(u)?),
    }
    Ok(())
}
