//! Faults of object tables: each aims at one rule of wire.md section 7. What they leave is the replayer's table, with rows that make no
//! object.

use arbitrary::{Result, Unstructured};
use wire::Kind;

use super::below;
use crate::case::Object;

/// One fault.
pub struct RowFault {
    /// Its name in the coverage report.
    pub name: &'static str,
    put: fn(&mut Vec<Object>, &mut Unstructured<'_>) -> Result<bool>,
}

const fn fault(name: &'static str, put: fn(&mut Vec<Object>, &mut Unstructured<'_>) -> Result<bool>) -> RowFault {
    RowFault { name, put }
}

/// All of them.
pub static ROWS: [RowFault; 10] = [
    fault("row-one-reference-more", |rows, u| {
        let id = u.choose(rows)?.id;
        one(rows, u)?.refs.push(id);
        Ok(true)
    }),
    fault("row-one-reference-less", |rows, u| {
        Ok(one(rows, u)?.refs.pop().is_some())
    }),
    fault("row-reference-of-0", |rows, u| set_reference(rows, u, |_, _| Ok(0))),
    fault("row-reference-to-another", |rows, u| {
        set_reference(rows, u, |rows, u| Ok(u.choose(rows)?.id))
    }),
    fault("row-reference-to-nothing", |rows, u| {
        set_reference(
            rows,
            u,
            |rows, u| Ok(*u.choose(&[u32::MAX, rows.len() as u32 * 2 + 9])?),
        )
    }),
    fault("row-body", |rows, u| {
        let body = &mut one(rows, u)?.body;
        let most = below(u, body.len() as u32)? as usize;
        let at = (0..=most).rev().find(|&at| body.is_char_boundary(at)).unwrap_or(0);
        match below(u, 3)? {
            0 => body.truncate(at),
            1 => body.insert_str(at, u.choose(&[" ", "[", "{", "0", "-", "1e999", "\"", ","])?),
            _ => *body = (*u.choose(&["", "[]", "null", "{}", "{\"size\":\"4\",\"usage\":8}"])?).to_owned(),
        }
        Ok(true)
    }),
    fault("row-kind", |rows, u| {
        one(rows, u)?.kind = *u.choose(&Kind::ALL)?;
        Ok(true)
    }),
    fault("row-id-again", |rows, u| {
        let id = match below(u, 8)? {
            0 => 0,
            _ => u.choose(rows)?.id,
        };
        let again = Object {
            id,
            ..u.choose(rows)?.clone()
        };
        let at = below(u, rows.len() as u32 + 1)? as usize;
        rows.insert(at, again);
        Ok(true)
    }),
    fault("row-order", |rows, u| {
        let (a, b) = (below(u, rows.len() as u32)?, below(u, rows.len() as u32)?);
        rows.swap(a as usize, b as usize);
        Ok(a != b)
    }),
    fault("row-bundle-words", |rows, u| bundle_words(rows, u)),
];

/// Puts one fault in, most often where it belongs; its name, unless the table has no place for it.
pub fn break_table(rows: &mut Vec<Object>, u: &mut Unstructured<'_>) -> Result<Option<&'static str>> {
    let fault = &ROWS[below(u, ROWS.len() as u32)? as usize];
    Ok((fault.put)(rows, u)?.then_some(fault.name))
}

fn one<'a>(rows: &'a mut [Object], u: &mut Unstructured<'_>) -> Result<&'a mut Object> {
    let at = below(u, rows.len() as u32)? as usize;
    rows.get_mut(at).ok_or(arbitrary::Error::EmptyChoose)
}

/// Gives a reference of a row that has any another value.
fn set_reference(
    rows: &mut [Object],
    u: &mut Unstructured<'_>,
    value: fn(&[Object], &mut Unstructured<'_>) -> Result<u32>,
) -> Result<bool> {
    let value = value(rows, u)?;
    let mut referring: Vec<&mut Object> = rows.iter_mut().filter(|row| !row.refs.is_empty()).collect();
    let Some(last) = referring.len().checked_sub(1) else {
        return Ok(false);
    };
    let refs = &mut referring[below(u, last as u32 + 1)? as usize].refs;
    let at = below(u, refs.len() as u32)? as usize;
    refs[at] = value;
    Ok(true)
}

/// Changes a word of a bundle, inserts one or takes one out.
fn bundle_words(rows: &mut [Object], u: &mut Unstructured<'_>) -> Result<bool> {
    const MARK: &str = "\"words\":[";
    let bundles = rows.iter_mut().filter(|row| row.kind == Kind::RenderBundle);
    let mut bundles: Vec<&mut Object> = bundles.filter(|row| row.body.contains(MARK)).collect();
    let Some(last) = bundles.len().checked_sub(1) else {
        return Ok(false);
    };
    let body = &mut bundles[below(u, last as u32 + 1)? as usize].body;
    let Some((before, rest)) = body.split_once(MARK) else {
        return Ok(false);
    };
    let Some((words, after)) = rest.split_once(']') else {
        return Ok(false);
    };
    let mut words: Vec<String> = words.split(',').map(|word| word.trim().to_owned()).collect();
    let at = below(u, words.len() as u32)? as usize;
    let word: u32 = *u.choose(&[0, 1, 2, 3, 4, 9, 21, 40, 4096, u32::MAX])?;
    match below(u, 3)? {
        0 => words.insert(at, word.to_string()),
        1 => drop(words.remove(at)),
        _ => words[at] = word.to_string(),
    }
    *body = format!("{before}{MARK}{}]{after}", words.join(","));
    Ok(true)
}
