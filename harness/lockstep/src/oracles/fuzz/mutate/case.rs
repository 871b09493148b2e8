//! Mutates the JSON of a case as a tree: an item of a list dropped, doubled, moved or taken from another case, a number at an edge, a
//! value in the place of another of the same name. What is then no case any more is not kept by the target.

use arbitrary::{Result, Unstructured};
use serde_json::{Value, json};

use super::{blob, choices};
use crate::case::{Case, CaseFile};
use crate::generators::{below, once_in};

/// Numbers at which a rule turns.
pub(super) const EDGES: [u32; 12] = [0, 1, 2, 4, 7, 8, 31, 255, 256, 1000, 65535, u32::MAX];

/// Bytes that a generator is given for a case that is made anew.
pub(super) const FRESH: usize = 4096;

/// The case's file with one to three things changed, or a fresh one. None for what is no JSON.
pub fn mutated(
    bytes: &[u8],
    u: &mut Unstructured<'_>,
    fresh: fn(&mut Unstructured<'_>) -> Result<Case>,
) -> Option<Vec<u8>> {
    let mut file: Value = match serde_json::from_slice(bytes) {
        Ok(Value::Object(mut file)) if !once_in(u, 16).ok()? => {
            // What else stands there is said of the case as it was.
            file.retain(|name, _| ["format", "case"].contains(&name.as_str()));
            file.into()
        }
        _ => {
            let choices: [u8; FRESH] = choices(u.arbitrary().ok()?);
            let case = fresh(&mut Unstructured::new(&choices)).ok()?;
            return serde_json::to_vec(&CaseFile::of(case)).ok();
        }
    };
    let case = file.get_mut("case")?;
    for _ in 0..1 + below(u, 3).ok()? {
        // Not every place that it comes to has something to change.
        for _ in 0..4 {
            if change(case, u).ok()? {
                break;
            }
        }
    }
    serde_json::to_vec(&file).ok()
}

/// Walks down to one place and changes what is there. Gives whether there was something to change.
fn change(at: &mut Value, u: &mut Unstructured<'_>) -> Result<bool> {
    match at {
        Value::Array(list) if list.is_empty() || once_in(u, 3)? => return items(list, u),
        Value::Array(list) => {
            let item = below(u, list.len() as u32)? as usize;
            return change(&mut list[item], u);
        }
        Value::Object(members) if !members.is_empty() => {
            let member = below(u, members.len() as u32)? as usize;
            let member = members.iter_mut().nth(member);
            return member.map_or(Ok(false), |(name, value)| named(name, value, u));
        }
        Value::Number(_) => *at = json!(*u.choose(&EDGES)?),
        Value::Bool(flag) => *flag = !*flag,
        Value::Null if once_in(u, 2)? => *at = json!([]),
        Value::Null => *at = json!(*u.choose(&EDGES)?),
        Value::String(_) | Value::Object(_) => return Ok(false),
    }
    Ok(true)
}

/// Members whose texts mean something by themselves.
fn named(name: &str, value: &mut Value, u: &mut Unstructured<'_>) -> Result<bool> {
    let Value::String(text) = value else {
        return change(value, u);
    };
    match name {
        "blob" => {
            let stream = hex::decode(&*text).ok();
            let Some(mutated) = stream.and_then(|stream| blob::mutated(&stream, u)) else {
                return Ok(false);
            };
            *text = hex::encode(mutated);
        }
        "visibility" => {
            const STAGES: [&str; 5] = ["VERTEX", "FRAGMENT", "COMPUTE", "TASK", "MESH"];
            let seen = STAGES.map(|stage| once_in(u, 2).is_ok_and(|seen| seen).then_some(stage));
            *text = seen.into_iter().flatten().collect::<Vec<_>>().join(" | ");
        }
        "platform" => *text = (*u.choose(&["macos", "ios", "tvos", "visionos"])?).to_owned(),
        "wgsl" => return lines(text, u),
        _ => return Ok(false),
    }
    Ok(true)
}

/// A list with an item dropped, doubled, or in another's place.
fn items(list: &mut Vec<Value>, u: &mut Unstructured<'_>) -> Result<bool> {
    if list.is_empty() {
        list.push(json!([]));
        return Ok(true);
    }
    let [a, b] = [
        below(u, list.len() as u32)? as usize,
        below(u, list.len() as u32)? as usize,
    ];
    match below(u, 4)? {
        0 => drop(list.remove(a)),
        1 => list.insert(b, list[a].clone()),
        _ if a == b => return Ok(false),
        2 => list.swap(a, b),
        _ => list[b] = list[a].clone(),
    }
    Ok(true)
}

/// A line of WGSL dropped, doubled or moved.
fn lines(wgsl: &mut String, u: &mut Unstructured<'_>) -> Result<bool> {
    let mut lines: Vec<&str> = wgsl.lines().collect();
    if lines.is_empty() {
        return Ok(false);
    }
    let [a, b] = [
        below(u, lines.len() as u32)? as usize,
        below(u, lines.len() as u32)? as usize,
    ];
    match below(u, 3)? {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a]),
        _ => lines.swap(a, b),
    }
    *wgsl = lines.join("\n");
    Ok(true)
}
